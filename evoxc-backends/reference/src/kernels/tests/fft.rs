//! Fourier transforms. Expectations are those of numpy.fft.

use super::{near, t};
use crate::kernels::fft::fft;
use evoxc_core::{C128, DType, F32, F64, Tensor};
use evoxc_ir::FftKind;
use num_complex::Complex;

fn complex(shape: &[usize], v: &[(f64, f64)]) -> Tensor {
    t(shape, v.iter().map(|&(re, im)| Complex::new(re, im)))
}
#[track_caller]
fn check(x: &Tensor, kind: FftKind, length: &[usize], shape: &[usize], want: &[(f64, f64)]) {
    let parts: Vec<f64> = want.iter().flat_map(|&(re, im)| [re, im]).collect();
    for (real, tolerance) in [(F64, 1e-13), (F32, 1e-5)] {
        let dtype = match (x.dtype().is_complex(), real) {
            (true, F32) => DType::C64,
            (true, _) => C128,
            (false, d) => d,
        };
        let r = fft(&x.cast(dtype).unwrap(), kind, length).unwrap();
        assert_eq!(r.shape(), shape);
        let r = r.cast(C128).unwrap();
        let got: Vec<f64> = r.as_slice::<Complex<f64>>().unwrap().iter().flat_map(|c| [c.re, c.im]).collect();
        near(&got, &parts, tolerance);
    }
}

#[test]
fn one_axis() {
    let a = t(&[5], [1., 2., 4., 7., 11.]);
    let want = [
        (25., 0.),
        (-3.881966011250106, 10.322864403533801),
        (-6.118033988749894, 2.436897721746798),
        (-6.118033988749894, -2.436897721746798),
        (-3.881966011250106, -10.322864403533801),
    ];
    check(&a, FftKind::Rfft, &[5], &[3], &want[..3]);
    check(&a.cast(C128).unwrap(), FftKind::Fft, &[5], &[5], &want);
    check(&t(&[4], [1., 2., 4., 7.]), FftKind::Rfft, &[4], &[3], &[(14., 0.), (-3., 5.), (-4., 0.)]);
    let want = [
        (1., 1.3333333333333333),
        (0.8660254037844386, 0.41068360252295905),
        (-0.8660254037844386, -0.7440169358562924),
    ];
    check(&complex(&[3], &[(1., 1.), (2., 0.), (0., 3.)]), FftKind::Ifft, &[3], &[3], &want);
}

// The imaginary parts of the points that a real signal makes real are ignored.
#[test]
fn real_inverse() {
    let h = complex(&[3], &[(1., 5.), (2., -1.), (3., 7.)]);
    check(&h, FftKind::Irfft, &[4], &[4], &[(2., 0.), (0., 0.), (0., 0.), (-1., 0.)]);
    let want = [2.2, -1.7889828976508424, 2.821679144293398, -2.9744655487934404, 0.7417693021508843];
    check(&h, FftKind::Irfft, &[5], &[5], &want.map(|re| (re, 0.)));
    check(&complex(&[1], &[(1., 5.)]), FftKind::Irfft, &[1], &[1], &[(1., 0.)]);
}

#[test]
fn several_axes() {
    let m = t(&[2, 2, 3], (0..12).map(|i| f64::from(i * i)));
    let want = [
        (55., 0.),
        (-14., 10.392304845413264),
        (-45., 0.),
        (9., -5.196152422706631),
        (451., 0.),
        (-50., 31.176914536239792),
        (-153., 0.),
        (9., -5.196152422706634),
    ];
    check(&m, FftKind::Rfft, &[2, 3], &[2, 2, 2], &want);
    let back: Vec<(f64, f64)> = (0..12).map(|i| (f64::from(i * i), 0.)).collect();
    check(&complex(&[2, 2, 2], &want), FftKind::Irfft, &[2, 3], &[2, 2, 3], &back);
    let want = [
        (506., 0.),
        (-64., 41.569219381653056),
        (-64., -41.569219381653056),
        (-198., 0.),
        (18., -10.392304845413264),
        (18., 10.392304845413264),
        (-396., 0.),
        (36., -20.784609690826528),
        (36., 20.784609690826528),
        (108., 0.),
        (0., 0.),
        (0., 0.),
    ];
    check(&m.cast(C128).unwrap(), FftKind::Fft, &[2, 2, 3], &[2, 2, 3], &want);
    check(&complex(&[2, 2, 3], &want), FftKind::Ifft, &[2, 2, 3], &[2, 2, 3], &back);
}

// The definition: transforms of a constant, of no points, of NaN.
#[test]
fn edges() {
    for n in [2usize, 7, 97, 128] {
        let mut want = vec![(0., 0.); n / 2 + 1];
        want[0] = (n as f64, 0.);
        check(&Tensor::ones(F64, [n]), FftKind::Rfft, &[n], &[n / 2 + 1], &want);
    }
    check(&Tensor::zeros(C128, [2, 0]), FftKind::Fft, &[0], &[2, 0], &[]);
    check(&Tensor::zeros(F64, [0]), FftKind::Rfft, &[0], &[1], &[(0., 0.)]);
    check(&Tensor::zeros(C128, [1]), FftKind::Irfft, &[0], &[0], &[]);
    check(&Tensor::zeros(C128, [0, 3]), FftKind::Ifft, &[0, 3], &[0, 3], &[]);
    let r = fft(&t(&[3], [f32::NAN, 1., 2.]), FftKind::Rfft, &[3]).unwrap();
    assert!(r.as_slice::<Complex<f32>>().unwrap()[0].re.is_nan());
    assert!(fft(&Tensor::zeros(F32, [3]), FftKind::Fft, &[3]).is_err());
    assert!(fft(&Tensor::zeros(F32, [3]), FftKind::Rfft, &[4]).is_err());
    assert!(fft(&Tensor::zeros(DType::F16, [3]), FftKind::Rfft, &[3]).is_err());
}
