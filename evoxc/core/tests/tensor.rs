//! Tensors: storage shared with ndarray and between clones, casts, sizes, text.

use evoxc_core::{
    BF16, BOOL, Buffer, C64, C128, DType, Device, DeviceError, Element, Error, F16, F32, F64, I8, I32, I64, Tensor,
    TensorError, U8, U64, dim,
};
use half::{bf16, f16};
use ndarray::{Array, Array2, ArrayD, Axis, Slice, arr0};
use num_complex::Complex;

fn pointer(t: &Tensor) -> *const u8 {
    t.buffer().bytes().as_ptr()
}

#[test]
fn ndarray_in_without_a_copy() {
    let a = Array2::from_shape_vec((2, 3), vec![1f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let p = a.as_ptr().cast::<u8>();
    let t = Tensor::from(a);
    assert_eq!((pointer(&t), t.shape()), (p, [2, 3].as_slice()));
    let v = vec![1i64, 2];
    let p = v.as_ptr().cast::<u8>();
    assert_eq!(pointer(&Tensor::from_vec(v, [2]).unwrap()), p);
    assert_eq!(Tensor::from(arr0(3u8)).item::<u8>().unwrap(), 3);
}

#[test]
fn ndarray_in_any_order() {
    // Source: the logical order of the array, whatever its memory.
    let a = Array::from_shape_vec((2, 3), vec![0, 1, 2, 3, 4, 5]).unwrap();
    let t = |a: Array2<i32>| Tensor::from(a).to_vec::<i32>().unwrap();
    assert_eq!(t(a.clone().reversed_axes()), [0, 3, 1, 4, 2, 5]);
    let mut flipped = a.clone();
    flipped.invert_axis(Axis(1));
    assert_eq!(t(flipped), [2, 1, 0, 5, 4, 3]);
    let part = |axis: usize, range: Slice| {
        let mut part = a.clone();
        part.slice_axis_inplace(Axis(axis), range);
        t(part)
    };
    assert_eq!(part(0, Slice::from(1..)), [3, 4, 5]);
    assert_eq!(part(0, Slice::from(..1)), [0, 1, 2]);
    assert_eq!(part(1, Slice::from(1..)), [1, 2, 4, 5]);
    assert_eq!(part(0, Slice::from(2..)), [0i32; 0]);
}

#[test]
fn ndarray_out_without_a_copy() {
    let t = Tensor::from([[1f64, 2.0], [3.0, 4.0]]);
    let view = t.view::<f64>().unwrap();
    assert_eq!(view.as_ptr().cast::<u8>(), pointer(&t));
    assert_eq!(view[[1, 0]], 3.0);
    let p = pointer(&t);
    let a: ArrayD<f64> = t.into_ndarray().unwrap();
    assert_eq!((a.as_ptr().cast::<u8>(), a.shape()), (p, [2, 2].as_slice()));
    let t = Tensor::from([1u8, 2]);
    let other = t.clone();
    let a: ArrayD<u8> = t.into_ndarray().unwrap();
    // Shared storage is copied, so that the clone keeps its data.
    assert_ne!(a.as_ptr(), pointer(&other));
    assert_eq!(other.to_vec::<u8>().unwrap(), [1, 2]);
    assert!(matches!(other.view::<i8>(), Err(Error::Tensor(TensorError::DType { .. }))));
    assert!(matches!(other.clone().into_ndarray::<i8>(), Err(Error::Tensor(TensorError::DType { .. }))));
    let empty = Tensor::zeros(F32, [2, 0, 3]);
    assert_eq!(empty.view::<f32>().unwrap().shape(), [2, 0, 3]);
}

#[test]
fn clones_share_and_owners_write() {
    let mut t = Tensor::from([1f32, 2.0]);
    let p = pointer(&t);
    assert!(t.buffer_mut().is_some());
    let clone = t.clone();
    assert_eq!(pointer(&clone), p);
    assert!(t.buffer_mut().is_none());
    assert_eq!(pointer(&t.reshape([2, 1]).unwrap()), p);
    assert_eq!(pointer(&t.cast(F32).unwrap()), p);
    assert_eq!(pointer(&t.to(Device::cpu()).unwrap()), p);
    drop(clone);
    assert_eq!(t.into_buffer().bytes().as_ptr(), p);
}

#[test]
fn other_devices_need_a_runtime() {
    let e = Tensor::from(1f32).to(Device::cuda(0));
    assert!(matches!(e, Err(Error::Device(DeviceError::Unavailable { .. }))));
}

fn cast<A: Element, B: Element>(v: &[A]) -> Vec<B> {
    Tensor::from_vec(v.to_vec(), [v.len()]).unwrap().cast(B::DTYPE).unwrap().to_vec::<B>().unwrap()
}

#[test]
fn casts_follow_rust() {
    // Source: the Rust reference on `as`: truncation, saturation, NaN to 0; integers wrap.
    let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 300.0, -300.0, 2.9, -2.9, -0.0];
    assert_eq!(cast::<f32, i8>(&odd), [0, 127, -128, 127, -128, 2, -2, 0]);
    assert_eq!(cast::<f32, u8>(&odd), [0, 255, 0, 255, 0, 2, 0, 0]);
    assert_eq!(cast::<f64, i64>(&[9.3e18, -9.3e18]), [i64::MAX, i64::MIN]);
    assert_eq!(cast::<f64, u64>(&[1.9e19, -1.0]), [u64::MAX, 0]);
    assert_eq!(cast::<i32, i8>(&[300, -300, 127]), [44, -44, 127]);
    assert_eq!(cast::<i64, u64>(&[-1]), [u64::MAX]);
    assert_eq!(cast::<u64, i64>(&[u64::MAX]), [-1]);
    assert_eq!(cast::<f32, bool>(&odd), [true, true, true, true, true, true, true, false]);
    assert_eq!(cast::<bool, f32>(&[true, false]), [1.0, 0.0]);
    assert_eq!(cast::<bool, i8>(&[true, false]), [1, 0]);
    let c = [Complex::new(1.5f32, 2.0), Complex::new(0.0, 1.0)];
    assert_eq!(cast::<_, f64>(&c), [1.5, 0.0]);
    assert_eq!(cast::<_, i32>(&c), [1, 0]);
    assert_eq!(cast::<_, bool>(&c), [true, true]);
    assert_eq!(cast::<i32, Complex<f64>>(&[3]), [Complex::new(3.0, 0.0)]);
    // 2^24 + 1 is a tie between two f32, the even one is below. 1 + 2^-24 + 2^-53 is above a tie.
    assert_eq!(cast::<i32, f32>(&[16_777_217]), [16_777_216.0]);
    assert_eq!(cast::<i64, f32>(&[(1 << 54) + (1 << 30) + 1]), [((1u64 << 54) + (1 << 31)) as f32]);
    assert!(cast::<f64, f32>(&[f64::NAN])[0].is_nan());
    for d in DType::ALL {
        let t = Tensor::ones(F64, [2]).cast(d).unwrap();
        assert!((t.dtype(), t.shape()) == (d, &[2]) && t.bit_eq(&Tensor::ones(d, [2])), "{d}");
    }
}

#[test]
fn half_types_round_once() {
    // Source: NumPy 2 for f16. For bf16 and the cases marked *, IEEE 754 rounding of the exact value: ml_dtypes and
    // hardware go through f32 there and round twice.
    let p = |n: i32| 2f64.powi(n);
    let f16_cases = [
        (2049.0, 0x6800),
        (2051.0, 0x6802),
        (65519.0, 0x7bff),
        (65520.0, 0x7c00),
        (p(-25), 0x0000),
        (p(-25) * 1.0001, 0x0001),
        (1.0 + p(-11), 0x3c00),
        (1.0 + p(-11) + p(-30), 0x3c01),
        (1.0 + p(-11) + p(-52), 0x3c01),       // *
        (1.0 + 3.0 * p(-11) - p(-52), 0x3c01), // *
        (0.1, 0x2e66),
        (-0.0, 0x8000),
        (f64::NEG_INFINITY, 0xfc00),
        (1e300, 0x7c00),
        (1e-300, 0x0000),
    ];
    for (x, bits) in f16_cases {
        assert_eq!(cast::<f64, f16>(&[x])[0].to_bits(), bits, "{x:e}");
    }
    let bf16_cases = [
        (1.0 + p(-8), 0x3f80),
        (1.0 + p(-8) + p(-40), 0x3f81), // *
        (1.0 + 3.0 * p(-8), 0x3f82),
        (1.0 + 3.0 * p(-8) - p(-52), 0x3f81), // *
        (65520.0, 0x4780),
        (0.1, 0x3dcd),
        (f64::from(f32::MAX), 0x7f80),
        (1e300, 0x7f80),
        (-1e-300, 0x8000),
    ];
    for (x, bits) in bf16_cases {
        assert_eq!(cast::<f64, bf16>(&[x])[0].to_bits(), bits, "{x:e}");
    }
    assert!(cast::<f64, f16>(&[f64::NAN])[0].is_nan() && cast::<f64, bf16>(&[f64::NAN])[0].is_nan());
    assert_eq!(cast::<i64, f16>(&[2049, 2051, 65519, 65520]).map_bits(), [0x6800, 0x6802, 0x7bff, 0x7c00]);
    assert_eq!(cast::<i64, f16>(&[i64::MIN]).map_bits(), [0xfc00]);
    // 2^60 + 2^52 is a tie between two bf16; one more is above it, which an f64 cannot say.
    let tie = (1i64 << 60) + (1 << 52);
    let bits: Vec<u16> = cast::<i64, bf16>(&[tie, tie + 1, -tie - 1, 257]).iter().map(|x| x.to_bits()).collect();
    assert_eq!(bits, [0x5d80, 0x5d81, 0xdd81, 0x4380]);
    // f32 to half is exact in f64 on the way.
    assert_eq!(cast::<f32, f16>(&[1.0 + 2f32.powi(-11)]).map_bits(), [0x3c00]);
}

trait Bits {
    fn map_bits(self) -> Vec<u16>;
}
impl Bits for Vec<f16> {
    fn map_bits(self) -> Vec<u16> {
        self.into_iter().map(f16::to_bits).collect()
    }
}

#[test]
fn sizes_that_cannot_be_are_errors() {
    let shape = |r: Result<Tensor, Error>| matches!(r, Err(Error::Tensor(TensorError::Shape { .. })));
    assert!(shape(Tensor::try_full(F32, [1usize << 62, 8], 0)));
    assert!(shape(Tensor::try_full(F32, [1usize << 41], 0)));
    assert!(shape(Tensor::try_full(F32, [i64::MAX, i64::MAX], 0)));
    // A zero among absurd extents does not make them sound: strides would overflow.
    assert!(shape(Tensor::try_full(F32, [0, i64::MAX, i64::MAX], 0)));
    assert!(shape(Tensor::try_full(F32, [-1i64], 0)));
    assert!(shape(Tensor::try_full(F32, (dim("B"), 2), 0)));
    assert!(shape(Tensor::try_full(F32, (dim("B") / 0, 2), 0)));
    assert!(shape(Tensor::from_vec(vec![1f32], [dim("B")])));
    assert!(shape(Tensor::from(1f32).reshape([-1i64])));
    let size = |r: Result<Tensor, Error>| matches!(r, Err(Error::Tensor(TensorError::Size { .. })));
    assert!(size(Tensor::from_vec(vec![1f32; 3], [2])));
    assert!(size(Tensor::from_vec(vec![1f32; 3], [0])));
    assert!(size(Tensor::from([1f32, 2.0]).reshape([3])));
    assert!(Tensor::from_parts(Buffer::from(vec![1f32; 3]), &[2]).is_none());
    assert!(Tensor::from_parts(Buffer::from(vec![0f32; 0]), &[usize::MAX, 0, usize::MAX]).is_none());
    let value = |r: Result<Tensor, Error>| matches!(r, Err(Error::Tensor(TensorError::Value { .. })));
    assert!(value(Tensor::try_full(I8, [2], 300)));
    assert!(value(Tensor::try_full(I32, [2], 2.5)));
    assert!(value(Tensor::try_full(BOOL, [2], 2)));
    assert!(value(Tensor::try_full(F32, [2], Complex::new(1.0, 1.0))));
}

#[test]
fn full_of_every_dtype() {
    for d in DType::ALL {
        let (zero, one) = (Tensor::zeros(d, [2, 2]), Tensor::ones(d, [2, 2]));
        assert!(zero.buffer().bytes().iter().all(|b| *b == 0));
        assert_eq!((zero.dtype(), zero.len(), one.cast(F64).unwrap().to_vec::<f64>().unwrap()), (d, 4, vec![1.0; 4]));
    }
    assert_eq!(Tensor::full(F64, [1], -0.0).item::<f64>().unwrap().to_bits(), (-0.0f64).to_bits());
    assert_eq!(Tensor::full(U64, [], u64::MAX).item::<u64>().unwrap(), u64::MAX);
    assert!(matches!(Tensor::ones(F32, [2]).item::<f32>(), Err(Error::Tensor(TensorError::NotAScalar(_)))));
    assert!(matches!(Tensor::zeros(F32, [0]).item::<f32>(), Err(Error::Tensor(TensorError::NotAScalar(_)))));
    assert_eq!(Tensor::ones(F32, [1, 1]).item::<f32>().unwrap(), 1.0);
}

#[test]
fn text_of_tensors() {
    assert_eq!(Tensor::from(2f32).to_string(), "tensor<f32> 2");
    assert_eq!(Tensor::from([[1i32, 2], [3, 4]]).to_string(), "tensor<2x2xi32> [[1, 2], [3, 4]]");
    let c = [Complex::new(1.5f32, -0.0), Complex::new(-0.0, 2.0), Complex::new(0.0, -2.0)];
    assert_eq!(Tensor::from(c).to_string(), "tensor<3xc64> [1.5-0i, -0+2i, 0-2i]");
    assert_eq!(Tensor::zeros(U8, [0, 2]).to_string(), "tensor<0x2xu8> []");
    assert_eq!(Tensor::from([f32::NAN, f32::INFINITY]).to_string(), "tensor<2xf32> [NaN, inf]");
    let long = Tensor::from((0..100i64).collect::<Vec<_>>());
    assert_eq!(long.to_string(), "tensor<100xi64> [0, 1, 2, ..., 97, 98, 99]");
    assert_eq!(Tensor::zeros(C64, [1]).to_string(), "tensor<1xc64> [0+0i]");
    let deep = Tensor::zeros(I64, vec![1usize; 40]);
    assert!(format!("{deep:?}").ends_with(&format!("{}0{}", "[".repeat(40), "]".repeat(40))));
}

#[test]
fn bits_decide_equality() {
    let t = Tensor::from([f32::NAN, -0.0]);
    assert!(t.bit_eq(&Tensor::from([f32::NAN, -0.0])));
    assert!(!t.bit_eq(&Tensor::from([f32::NAN, 0.0])));
    assert!(!t.bit_eq(&t.reshape([1, 2]).unwrap()));
    assert!(!Tensor::zeros(F16, [2]).bit_eq(&Tensor::zeros(BF16, [2])));
    assert_eq!(Tensor::zeros(C128, [2]).spec().to_string(), "tensor<2xc128>");
}
