//! Rounding to the half-width floats, once. The conversions of `half` go by way of `f32` on some machines, which rounds
//! twice.

use half::{bf16, f16};

/// Rounds to odd: what lies between two numbers becomes the one with the odd significand, so that rounding once more, to
/// fewer bits, gives what rounding the exact value once would (Boldo and Melquiond, When double rounding is odd, 2005).
/// `beyond` tells whether the magnitude of `y`, the nearest `f32`, exceeds that of the exact value.
fn odd(y: f32, exact: bool, beyond: bool) -> f32 {
    if exact || !y.is_finite() {
        return y;
    }
    f32::from_bits((y.to_bits() - u32::from(beyond)) | 1)
}

fn odd_from_f64(x: f64) -> f32 {
    let y = x as f32;
    odd(y, f64::from(y) == x, f64::from(y).abs() > x.abs())
}

fn odd_from_int(i: i128) -> f32 {
    let y = i as f32;
    let back = y as i128;
    odd(y, back == i, back.unsigned_abs() > i.unsigned_abs())
}

/// The `f16` nearest to `x`, ties to even.
///
/// ```
/// use evoxc_core::f16_from_f64;
/// // Just above the middle of 1 and the next f16, by less than an f32 can tell.
/// assert_eq!(f16_from_f64(1.0 + 2f64.powi(-11) + 2f64.powi(-40)).to_f64(), 1.0 + 2f64.powi(-10));
/// ```
pub fn f16_from_f64(x: f64) -> f16 {
    f16::from_f32(odd_from_f64(x))
}
/// The `bf16` nearest to `x`, ties to even.
pub fn bf16_from_f64(x: f64) -> bf16 {
    bf16::from_f32(odd_from_f64(x))
}
/// The `f16` nearest to `i`, ties to even.
pub fn f16_from_int(i: i128) -> f16 {
    f16::from_f32(odd_from_int(i))
}
/// The `bf16` nearest to `i`, ties to even.
pub fn bf16_from_int(i: i128) -> bf16 {
    bf16::from_f32(odd_from_int(i))
}

#[cfg(test)]
mod tests {
    use super::*;

    // The nearest by search over all finite numbers of the type would be slow; the neighbours of the result must not be
    // nearer, and of two that are equally near the even one is right.
    #[test]
    fn results_are_the_nearest() {
        let mut state = 1u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let x = f64::from_bits((state >> 12) | 0x3ff0_0000_0000_0000) * 2f64.powi((state >> 58) as i32 % 10 - 5);
            let y = f16_from_f64(x);
            let (a, b) = (f16::from_bits(y.to_bits() - 1).to_f64(), f16::from_bits(y.to_bits() + 1).to_f64());
            let d = (y.to_f64() - x).abs();
            assert!(d <= (a - x).abs() && d <= (b - x).abs(), "{x}");
            let y = bf16_from_f64(x);
            let (a, b) = (bf16::from_bits(y.to_bits() - 1).to_f64(), bf16::from_bits(y.to_bits() + 1).to_f64());
            let d = (y.to_f64() - x).abs();
            assert!(d <= (a - x).abs() && d <= (b - x).abs(), "{x}");
        }
    }

    #[test]
    fn integers_beyond_f64_round_once() {
        // 2^62 + 2^54 is the middle of two bf16; one more is nearer to the upper, which is even's neighbour.
        let middle = (1i128 << 62) + (1i128 << 54);
        assert_eq!(bf16_from_int(middle).to_f64(), 2f64.powi(62));
        assert_eq!(bf16_from_int(middle + 1).to_f64(), 2f64.powi(62) + 2f64.powi(55));
        assert_eq!(f16_from_int(-70000).to_f64(), f64::NEG_INFINITY);
    }

    #[test]
    fn edges() {
        assert!(f16_from_f64(f64::NAN).is_nan());
        assert_eq!(f16_from_f64(-0.0).to_bits(), 0x8000);
        assert_eq!(f16_from_f64(65519.999).to_f64(), 65504.0);
        assert_eq!(f16_from_f64(65520.0).to_f64(), f64::INFINITY);
        assert_eq!(bf16_from_f64(f64::MAX).to_f64(), f64::INFINITY);
        assert_eq!(f16_from_f64(2f64.powi(-25)).to_bits(), 0);
        assert_eq!(f16_from_f64(2f64.powi(-25) * 1.000_000_1).to_bits(), 1);
    }
}
