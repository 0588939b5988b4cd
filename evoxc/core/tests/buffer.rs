//! Buffers and scalars: bytes in and out, what fits which dtype.

use evoxc_core::{BOOL, Buffer, C64, DType, F16, F32, F64, I8, I32, Scalar, U8, U64};
use half::f16;
use num_complex::Complex;

#[test]
fn bytes_come_back() {
    for d in DType::ALL {
        let bytes: Vec<u8> =
            if d == BOOL { vec![0, 1, 1] } else { (0..3 * d.size()).map(|i| (i as u8).wrapping_mul(7)).collect() };
        let b = Buffer::from_le_bytes(d, &bytes).unwrap();
        assert_eq!((b.dtype(), b.len(), b.is_empty()), (d, 3, false));
        #[cfg(target_endian = "little")]
        assert_eq!(b.bytes(), bytes);
        if d.size() > 1 {
            assert!(Buffer::from_le_bytes(d, &bytes[1..]).is_none(), "{d}");
        }
        assert!(Buffer::from_le_bytes(d, &[]).unwrap().is_empty());
    }
    assert!(Buffer::from_le_bytes(BOOL, &[2]).is_none());
}

#[test]
fn zeros_and_splats() {
    for d in DType::ALL {
        let z = Buffer::zeros(d, 3);
        assert_eq!((z.dtype(), z.len()), (d, 3));
        assert_eq!(Buffer::zeros(d, 1).splat(3).bytes(), z.bytes());
        assert!(Buffer::zeros(d, 0).splat(3).is_empty());
    }
}

#[test]
fn scalars_fit_or_do_not() {
    let fits = |s: Scalar, d| s.buffer(d).is_some();
    assert!(fits(Scalar::from(127), I8) && !fits(Scalar::from(128), I8) && fits(Scalar::from(-128), I8));
    assert!(fits(Scalar::from(u64::MAX), U64) && !fits(Scalar::from(-1), U64) && !fits(Scalar::from(256), U8));
    assert!(!fits(Scalar::from(1.0), I32) && fits(Scalar::from(1), F32) && fits(Scalar::from(1.0), C64));
    assert!(fits(Scalar::from(true), BOOL) && fits(Scalar::from(1), BOOL) && !fits(Scalar::from(2), BOOL));
    assert!(!fits(Scalar::from(1.0), BOOL) && fits(Scalar::from(true), F64) && fits(Scalar::from(true), I8));
    assert!(!fits(Scalar::from(Complex::new(1.0, 0.0)), F64) && fits(Scalar::from(Complex::new(1.0f32, 0.0)), C64));
    for d in DType::ALL {
        assert_eq!(Scalar::from(1).buffer(d).map(|b| (b.dtype(), b.len())), Some((d, 1)));
    }
}

#[test]
fn scalars_round_once() {
    // 1 + 2^-11 + 2^-52 is above the tie between 1 and the next f16.
    let x = 1.0 + 2f64.powi(-11) + 2f64.powi(-52);
    let b = Scalar::from(x).buffer(F16).unwrap();
    assert_eq!(b.bytes(), f16::from_bits(0x3c01).to_ne_bytes());
    // 2^54 + 2^30 + 1 is above the tie between two f32; an f64 on the way would lose the 1.
    let b = Scalar::from((1i64 << 54) + (1 << 30) + 1).buffer(F32).unwrap();
    assert_eq!(b.bytes(), ((1u64 << 54) as f32 + 2f32.powi(31)).to_ne_bytes());
    assert_eq!(Scalar::from(f64::NAN).to_string(), "NaN");
    assert_eq!(Scalar::from(2).to_string(), "2");
    assert_eq!(Scalar::from(2.0).to_string(), "2.0");
}
