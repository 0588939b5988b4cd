//! Decimal text to the half-width floats, rounded once.
//!
//! The nearest `f64` is nearest to the half-width float too, unless it lies in the very middle of two of them, where
//! the decimal may lie on either side of it: only then the digits are compared.

use std::cmp::Ordering;

/// The `f16` nearest to a decimal, ties to even.
pub(crate) fn f16(text: &str) -> Option<half::f16> {
    let x: f64 = text.parse().ok()?;
    let y = evoxc_core::f16_from_f64(x);
    let toward = |bits: u16| f64::from(half::f16::from_bits(bits));
    Some(half::f16::from_bits(settle(text, x, y.to_bits(), 0x7C00, 2f64.powi(16), toward)))
}

/// The `bf16` nearest to a decimal, ties to even.
pub(crate) fn bf16(text: &str) -> Option<half::bf16> {
    let x: f64 = text.parse().ok()?;
    let y = evoxc_core::bf16_from_f64(x);
    let toward = |bits: u16| f64::from(half::bf16::from_bits(bits));
    Some(half::bf16::from_bits(settle(text, x, y.to_bits(), 0x7F80, 2f64.powi(128), toward)))
}

/// The right one of `y`, the bits of the float nearest to `x`, and its neighbours. `infinity` are the bits of infinity,
/// `above` is the number that would follow the largest.
fn settle(text: &str, x: f64, y: u16, infinity: u16, above: f64, value: impl Fn(u16) -> f64) -> u16 {
    let (sign, y) = (y & 0x8000, y & 0x7FFF);
    let size = x.abs();
    if y > infinity || !size.is_finite() {
        return sign | y;
    }
    let value = |bits: u16| if bits == infinity { above } else { value(bits) };
    let other = match value(y).total_cmp(&size) {
        Ordering::Equal => return sign | y,
        Ordering::Less if y < infinity => y + 1,
        Ordering::Greater => y - 1,
        Ordering::Less => return sign | y,
    };
    // Exact, as both are multiples of the smaller one's last place.
    if (value(y) - size).abs() != (value(other) - size).abs() {
        return sign | y;
    }
    sign | match compare(text.trim_start_matches('-'), size) {
        Ordering::Equal => y,
        Ordering::Less => y.min(other),
        Ordering::Greater => y.max(other),
    }
}

/// Compares a decimal with a float, digit by digit.
fn compare(text: &str, x: f64) -> Ordering {
    // No float has more than 767 significant digits.
    let exact = format!("{x:.800e}");
    let ((a, p), (b, q)) = (digits(text), digits(&exact));
    let (a, b) = (a.trim_end_matches('0'), b.trim_end_matches('0'));
    match (a.is_empty(), b.is_empty()) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Less,
        (false, true) => return Ordering::Greater,
        (false, false) => {}
    }
    p.cmp(&q).then_with(|| a.cmp(b))
}

/// The significant digits of a decimal, and the power of ten of the first.
fn digits(text: &str) -> (String, i64) {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i64 = exponent.parse().unwrap_or_default();
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{part}");
    let significant = all.trim_start_matches('0');
    let zeros = all.len() - significant.len();
    let first = exponent.saturating_add(whole.len() as i64 - 1).saturating_sub(zeros as i64);
    (significant.to_string(), first)
}
