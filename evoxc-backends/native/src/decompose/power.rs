//! Powers of floats: 2 to the y log2 x, with the logarithm in more digits than the dtype has, and the signs and edge cases
//! of IEEE 754's `pow`.

use super::emit::Emit;
use super::exp;
use super::log;
use crate::uop::UOp;
use evoxc_core::DType;

/// `a` to the `b`.
pub(super) fn power(e: &mut Emit, a: UOp, b: UOp) -> UOp {
    if let Some(result) = of_known(e, a, b) {
        return result;
    }
    let size = e.abs(a);
    let value = if e.dtype(a) == DType::F32 { single(e, size, b) } else { double(e, size, b) };
    signed(e, a, b, size, value)
}

/// Of exponents for which there is a shorter way, as exact.
fn of_known(e: &mut Emit, a: UOp, b: UOp) -> Option<UOp> {
    let bits = e.known(b)?;
    let exponent = if e.dtype(b) == DType::F32 { f32::from_bits(bits as u32).into() } else { f64::from_bits(bits) };
    let one = e.f(a, 1.0);
    Some(match exponent {
        0.0 => one,
        1.0 => a,
        2.0 => e.mul(a, a),
        3.0 => {
            let square = e.mul(a, a);
            e.mul(square, a)
        }
        4.0 => {
            let square = e.mul(a, a);
            e.mul(square, square)
        }
        -1.0 => e.div(one, a),
        0.5 | -0.5 => {
            // Of -0 it is as of 0, and -inf has one.
            let (zero, lowest, highest) = (e.f(a, 0.0), e.f(a, f64::NEG_INFINITY), e.f(a, f64::INFINITY));
            let root = e.sqrt(a);
            let root = e.add(root, zero);
            let is_lowest = e.eq(a, lowest);
            let root = e.select(is_lowest, highest, root);
            if exponent > 0.0 { root } else { e.div(one, root) }
        }
        _ => return None,
    })
}

/// Of a positive base, in `f64`, which has the digits that the product needs.
fn single(e: &mut Emit, a: UOp, b: UOp) -> UOp {
    /// log2(1 + f) / s in s² for s = f / (2 + f).
    #[rustfmt::skip]
    const LOG: &[f64] = &[0.34074902870539026, 0.41167174378004434, 0.5770836003465598, 0.9617966732664661,
                          2.88539008179014];
    /// 2^r for |r| up to 1/2.
    #[rustfmt::skip]
    const EXP: &[f64] = &[0.00015345806782943015, 0.0013399931931743479, 0.009618489037187814, 0.055503287782082564,
                          0.24022646889229085, 0.6931472057345528, 1.0000000005542977];
    let (x, y) = (e.cast(a, DType::F64), e.cast(b, DType::F64));
    let (k, f) = log::normal(e, x);
    let two = e.f(x, 2.0);
    let sum = e.add(f, two);
    let s = e.div(f, sum);
    let z = e.mul(s, s);
    let p = e.horner(z, LOG);
    let l = e.fma(s, p, k);
    let (zero, infinity, lowest) = (e.f(x, 0.0), e.f(x, f64::INFINITY), e.f(x, f64::NEG_INFINITY));
    let finite = e.lt(x, infinity);
    let l = e.select(finite, l, x);
    let is_zero = e.eq(x, zero);
    let l = e.select(is_zero, lowest, l);
    let t = e.mul(y, l);
    // Beyond every f32, and so that the power of 2 has an exponent.
    let t = exp::bounded(e, t, [-200.0, 200.0]);
    let (n, power) = exp::split(e, t, 1.0, 0.0);
    let r = e.sub(t, n);
    let p = e.horner(r, EXP);
    let value = e.mul(p, power);
    e.cast(value, DType::F32)
}

/// A sum of two floats as a pair, the rounded sum and what it lost, where the first is the larger.
fn sum(e: &mut Emit, a: UOp, b: UOp) -> (UOp, UOp) {
    let high = e.add(a, b);
    let rest = e.sub(a, high);
    (high, e.add(rest, b))
}
/// A product of two floats as a pair.
fn product(e: &mut Emit, a: UOp, b: UOp) -> (UOp, UOp) {
    let high = e.mul(a, b);
    let minus = e.neg(high);
    (high, e.fma(a, b, minus))
}
/// A product of two pairs.
fn pair_product(e: &mut Emit, a: (UOp, UOp), b: (UOp, UOp)) -> (UOp, UOp) {
    let (high, low) = product(e, a.0, b.0);
    let low = e.fma(a.0, b.1, low);
    (high, e.fma(a.1, b.0, low))
}

/// Of a positive base, with the logarithm as a pair of `f64` (T. J. Dekker, "A floating-point technique for extending the
/// available precision", 1971, with fused products).
fn double(e: &mut Emit, a: UOp, b: UOp) -> UOp {
    /// (2 artanh(s) / s - 2 - 2/3 s²) / s⁴ in s².
    #[rustfmt::skip]
    const LOG: &[f64] = &[0.13197885242339727, 0.13256654869607323, 0.15386764105111625, 0.18181784225193098,
                          0.22222222521482182, 0.2857142857009122, 0.4000000000000227];
    let (k, f) = log::reduced_any(e, a);
    let two = e.f(a, 2.0);
    // s = f / (2 + f) as a pair.
    let divisor = sum(e, two, f);
    let s = e.div(f, divisor.0);
    let minus = e.neg(s);
    let left = e.fma(minus, divisor.0, f);
    let left = e.fma(minus, divisor.1, left);
    let s = (s, e.div(left, divisor.0));
    let z = pair_product(e, s, s);
    // 2 + z (2/3 + z p)
    let p = e.horner(z.0, LOG);
    let q = e.mul(z.0, p);
    let (third, third_low) = (e.f(a, 2.0 / 3.0), e.f(a, 3.700743415417188e-17));
    let inner = sum(e, third, q);
    let inner = (inner.0, e.add(inner.1, third_low));
    let w = pair_product(e, z, inner);
    let v = sum(e, two, w.0);
    let v = (v.0, e.add(v.1, w.1));
    let l = pair_product(e, s, v);
    let inverse = (e.f(a, std::f64::consts::LOG2_E), e.f(a, 2.0355273740931033e-17));
    let m = pair_product(e, l, inverse);
    let log = sum(e, k, m.0);
    let log = (log.0, e.add(log.1, m.1));
    let (zero, infinity, lowest) = (e.f(a, 0.0), e.f(a, f64::INFINITY), e.f(a, f64::NEG_INFINITY));
    let finite = e.lt(a, infinity);
    let high = e.select(finite, log.0, a);
    let is_zero = e.eq(a, zero);
    let high = e.select(is_zero, lowest, high);
    // y times it: what is beyond every f64 has no low part.
    let (t, low) = product(e, b, high);
    let low = e.fma(b, log.1, low);
    let (size, most) = (e.abs(t), e.f(a, 1100.0));
    let has_low = e.lt(size, most);
    let low = e.select(has_low, low, zero);
    let t = exp::bounded(e, t, [-1100.0, 1100.0]);
    exp::exp2_pair(e, t, low)
}

/// `value`, which is that of |a|, with the sign and the edge cases of `a`.
fn signed(e: &mut Emit, a: UOp, b: UOp, size: UOp, value: UOp) -> UOp {
    let (zero, half, one, nan) = (e.f(a, 0.0), e.f(a, 0.5), e.f(a, 1.0), e.f(a, f64::NAN));
    // Infinite exponents are even integers.
    let whole = e.floor(b);
    let is_whole = e.eq(whole, b);
    let half_b = e.mul(b, half);
    let half_whole = e.floor(half_b);
    let not_even = e.ne(half_whole, half_b);
    let odd = e.and(is_whole, not_even);
    // A base of size 1 gives 1 for every exponent that is a number, and every base for 0.
    let unit = e.eq(size, one);
    let to_zero = e.eq(b, zero);
    let exponent_is_number = e.eq(b, b);
    let unit = e.and(unit, exponent_is_number);
    let is_one = e.or(unit, to_zero);
    let value = e.select(is_one, one, value);
    // Negative numbers have no powers but whole ones.
    let lowest = e.f(a, f64::NEG_INFINITY);
    let (negative, finite) = (e.lt(a, zero), e.lt(lowest, a));
    let number = e.and(negative, finite);
    let not_whole = e.not(is_whole);
    let none = e.and(number, not_whole);
    let value = e.select(none, nan, value);
    let ints = Emit::of_bits(e.dtype(a));
    let (sign, no_sign) = (e.sign_bit(a), e.int(ints, 0));
    let sign = e.select(odd, sign, no_sign);
    let bits = e.bits(value, ints);
    let bits = e.xor(bits, sign);
    let value = e.bits(bits, e.dtype(a));
    // 1 to the NaN is 1, and NaN to the 0.
    let is_plus_one = e.eq(a, one);
    let always_one = e.or(is_plus_one, to_zero);
    e.select(always_one, one, value)
}
