//! Convolutions. Expectations are those of jax.lax.conv_general_dilated on the ramps, unless said otherwise.

use super::{ramp, same, t};
use crate::kernels::convolution::{Groups, convolution};
use evoxc_core::{C128, DType, Dim, F64, I32, Tensor};
use evoxc_ir::{ConvLayout, Flag, Padding, Window};

const NONE: Groups = Groups { feature: 1, batch: 1 };

fn window(size: &[i64], stride: &[i64], padding: &[(i64, i64)]) -> Window {
    let mut w = Window::new(size.iter().map(|&n| Dim::constant(n)).collect());
    w.stride = stride.into();
    let pad = |&(low, high): &(i64, i64)| Padding { low: Dim::constant(low), high: Dim::constant(high) };
    w.padding = padding.iter().map(pad).collect();
    w
}
/// Batch, features, spatial; features out, features in, spatial; batch, features, spatial.
fn channels_first(spatial: usize) -> ConvLayout {
    let s: Vec<usize> = (2..2 + spatial).collect();
    ConvLayout {
        lhs: vec![0, 1],
        lhs_spatial: s.clone(),
        rhs: vec![0, 1],
        rhs_spatial: s.clone(),
        out: vec![0, 1],
        out_spatial: s,
    }
}
fn conv(x: &[usize], k: &[usize], w: &Window, layout: &ConvLayout, groups: Groups, out: &[usize]) -> Tensor {
    let (x, k) = (ramp(x, 0), ramp(k, 3));
    let r = convolution(&x, &k, w, layout, groups, F64, out).unwrap();
    // Complex numbers take another matrix product, integers no product of matrices at all.
    for dtype in [C128, I32, DType::BF16] {
        let as_dtype = |x: &Tensor| x.cast(dtype).unwrap();
        let other = convolution(&as_dtype(&x), &as_dtype(&k), w, layout, groups, dtype, out).unwrap();
        same(&other, &as_dtype(&r));
    }
    r
}

#[test]
fn strides_padding_layouts() {
    let r = conv(
        &[2, 2, 4, 5],
        &[3, 2, 2, 3],
        &window(&[2, 3], &[1, 1], &[(0, 0); 2]),
        &channels_first(2),
        NONE,
        &[2, 3, 3, 3],
    );
    let want = [
        16.0, -53.0, 65.0, 23.0, -13.0, -16.0, 8.0, 16.0, -53.0, -1.0, 45.0, -41.0, -13.0, -11.0, -20.0, -47.0, -1.0,
        45.0, -51.0, 33.0, 29.0, 17.0, -20.0, 9.0, 63.0, -51.0, 33.0, -16.0, 69.0, -66.0, -53.0, 65.0, -15.0, -13.0,
        -16.0, 69.0, -20.0, -18.0, 83.0, 45.0, -41.0, -6.0, -11.0, -20.0, -18.0, 9.0, -28.0, -10.0, 33.0, 29.0, -19.0,
        -20.0, 9.0, -28.0,
    ];
    same(&r, &t(&[2, 3, 3, 3], want));
    // NHWC, HWIO, NHWC
    let layout = ConvLayout {
        lhs: vec![0, 3],
        lhs_spatial: vec![1, 2],
        rhs: vec![3, 2],
        rhs_spatial: vec![0, 1],
        out: vec![0, 3],
        out_spatial: vec![1, 2],
    };
    let w = window(&[3, 2], &[2, 1], &[(1, 2), (0, 1)]);
    let r = conv(&[1, 5, 4, 2], &[3, 2, 2, 3], &w, &layout, NONE, &[1, 3, 4, 3]);
    let want = [
        -6.0, -33.0, 28.0, 8.0, 6.0, -51.0, 0.0, -21.0, 2.0, 25.0, -15.0, 11.0, 24.0, -50.0, -14.0, 7.0, -35.0, 0.0,
        -21.0, 46.0, 36.0, -34.0, 24.0, 5.0, -23.0, 8.0, 6.0, 10.0, 0.0, -21.0, 21.0, 14.0, 18.0, 0.0, -11.0, -11.0,
    ];
    same(&r, &t(&[1, 3, 4, 3], want));
}

#[test]
fn dilations_negative_padding_reversal() {
    let mut w = window(&[3], &[1], &[(2, 1)]);
    (w.base_dilation, w.window_dilation) = (vec![2], vec![2]);
    let r = conv(&[1, 1, 5], &[2, 1, 3], &w, &channels_first(1), NONE, &[1, 2, 8]);
    let want = [-23.0, 0.0, 18.0, 0.0, -9.0, 0.0, 30.0, 0.0, -20.0, 0.0, 23.0, 0.0, -14.0, 0.0, 26.0, 0.0];
    same(&r, &t(&[1, 2, 8], want));
    let w = window(&[2], &[1], &[(-1, -2)]);
    let r = conv(&[1, 1, 6], &[1, 1, 2], &w, &channels_first(1), NONE, &[1, 1, 2]);
    same(&r, &t(&[1, 1, 2], [-14., 29.]));
    // jax.lax.conv_general_dilated with the kernel flipped.
    let mut w = window(&[3], &[1], &[(0, 0)]);
    w.reversal = vec![Flag(true)];
    let r = conv(&[1, 1, 5], &[1, 1, 3], &w, &channels_first(1), NONE, &[1, 1, 3]);
    same(&r, &t(&[1, 1, 3], [9., -18., 21.]));
}

#[test]
fn groups() {
    let w = window(&[2], &[1], &[(0, 0)]);
    let two = Groups { feature: 2, batch: 1 };
    let r = conv(&[1, 4, 3], &[4, 2, 2], &w, &channels_first(1), two, &[1, 4, 2]);
    same(&r, &t(&[1, 4, 2], [22.0, -4.0, -37.0, -5.0, 4.0, 28.0, 7.0, -21.0]));
    let depthwise = Groups { feature: 3, batch: 1 };
    let r = conv(&[1, 3, 4], &[3, 1, 2], &w, &channels_first(1), depthwise, &[1, 3, 3]);
    same(&r, &t(&[1, 3, 3], [20.0, -14.0, 29.0, 10.0, -15.0, 4.0, -16.0, 12.0, -4.0]));
    // NCH, OIH, HNC
    let layout = ConvLayout { out: vec![1, 2], out_spatial: vec![0], ..channels_first(1) };
    let r = conv(&[4, 2, 3], &[4, 2, 2], &w, &layout, Groups { feature: 1, batch: 2 }, &[2, 2, 4]);
    let want = [22.0, -37.0, 16.0, -7.0, -2.0, 1.0, 28.0, -21.0, -4.0, -5.0, -37.0, 20.0, -6.0, -11.0, -25.0, 6.0];
    same(&r, &t(&[2, 2, 4], want));
    let (x, k) = (ramp(&[1, 4, 3], 0), ramp(&[4, 2, 2], 0));
    assert!(convolution(&x, &k, &w, &channels_first(1), NONE, F64, &[1, 4, 2]).is_err());
    assert!(convolution(&x, &k, &w, &channels_first(1), Groups { feature: 0, batch: 1 }, F64, &[1, 4, 2]).is_err());
}

#[test]
fn edges() {
    let w = window(&[3], &[1], &[(0, 0)]);
    let r = conv(&[1, 1, 2], &[1, 1, 3], &w, &channels_first(1), NONE, &[1, 1, 0]);
    same(&r, &Tensor::zeros(F64, [1, 1, 0]));
    let r = conv(&[2, 3], &[2, 3], &window(&[], &[], &[]), &channels_first(0), NONE, &[2, 2]);
    same(&r, &t(&[2, 2], [18., 23., -8., -11.]));
    // The definition: a sum of no features is 0; no images give none.
    let r = conv(&[1, 0, 3], &[2, 0, 3], &w, &channels_first(1), NONE, &[1, 2, 1]);
    same(&r, &Tensor::zeros(F64, [1, 2, 1]));
    let r = conv(&[0, 1, 3], &[2, 1, 3], &w, &channels_first(1), NONE, &[0, 2, 1]);
    same(&r, &Tensor::zeros(F64, [0, 2, 1]));
    // preferred_element_type = i32
    let (x, k) = (t(&[1, 1, 3], [100i8, 100, 1]), t(&[1, 1, 2], [1i8, 2]));
    let w = window(&[2], &[1], &[(0, 0)]);
    let r = convolution(&x, &k, &w, &channels_first(1), NONE, I32, &[1, 1, 2]).unwrap();
    same(&r, &t(&[1, 1, 2], [300, 102]));
}

// The definition, where the matrix of patches does not fit into one block.
#[test]
fn many_places() {
    let n = 3 << 17;
    let x = t(&[1, 4, n], (0..4 * n).map(|i| (i % 3) as f32));
    let k = Tensor::ones(DType::F32, [1, 4, 3]);
    let w = window(&[3], &[1], &[(1, 1)]);
    let r = convolution(&x, &k, &w, &channels_first(1), NONE, DType::F32, &[1, 1, n]).unwrap();
    let v = r.to_vec::<f32>().unwrap();
    // Three neighbours sum to 0 + 1 + 2 in each of four features; n is a multiple of 3.
    assert!(v[1..n - 1].iter().all(|&x| x == 12.));
    assert_eq!((v[0], v[n - 1]), (4., 12.));
}

// A kernel as long as the input: the taps come block by block, never all at once.
#[test]
fn long_kernels() {
    let n = 3000;
    let (x, k) = (t(&[1, 1, n], vec![1f64; n]), t(&[1, 1, n], vec![1f64; n]));
    let w = window(&[n as i64], &[1], &[(n as i64 - 1, 0)]);
    let r = convolution(&x, &k, &w, &channels_first(1), NONE, F64, &[1, 1, n]).unwrap();
    same(&r, &t(&[1, 1, n], (1..=n).map(|i| i as f64)));
}
