//! Logarithms: the argument is 2^k (1 + f) with 1 + f between the roots of 1/2 and 2.

use super::emit::Emit;
use crate::uop::UOp;
use evoxc_core::DType;

/// What depends on the dtype.
struct Table {
    mantissa: u32,
    bias: i64,
    /// The bits of the root of 1/2.
    root: i64,
    /// The power of 2 of which the last place is 1, as bits and as a number.
    unit_bits: i64,
    unit: f64,
    least_normal: f64,
    /// By which subnormals become normal, and its logarithm.
    scale: f64,
    scale_log: f64,
    /// log 2 and 1 / log 2 in two parts.
    log2: [f64; 2],
    inverse: [f64; 2],
    /// Where `log1p` is its argument.
    tiny: f64,
}

static SINGLE: Table = Table {
    mantissa: 23,
    bias: 127,
    root: 0x3f35_04f3,
    unit_bits: 0x4b00_0000,
    unit: 8388608.0,
    least_normal: 1.1754943508222875e-38,
    scale: 8388608.0,
    scale_log: 23.0,
    log2: [0.6931471824645996, -1.9046542121259336e-09],
    inverse: [1.4426950216293335, 1.9259629911266175e-08],
    tiny: 1.0 / 33554432.0,
};
static DOUBLE: Table = Table {
    mantissa: 52,
    bias: 1023,
    root: 0x3fe6_a09e_667f_3bcd,
    unit_bits: 0x4330_0000_0000_0000,
    unit: 4503599627370496.0,
    least_normal: f64::MIN_POSITIVE,
    scale: 4503599627370496.0,
    scale_log: 52.0,
    log2: [std::f64::consts::LN_2, 2.3190468138462996e-17],
    inverse: [std::f64::consts::LOG2_E, 2.0355273740931033e-17],
    tiny: 1.0 / 18014398509481984.0,
};
fn table(dtype: DType) -> &'static Table {
    if dtype == DType::F32 { &SINGLE } else { &DOUBLE }
}

/// (log(1 + f) - f + f²/2) / f³ in f.
#[rustfmt::skip]
const SINGLE_TAIL: &[f64] = &[-0.0764319077, 0.127678052, -0.131599307, 0.142009825, -0.166233301, 0.200012609,
                              -0.250008225, 0.333333313, -0.5];
/// (2 artanh(s) / s - 2) / s² in s², for s = f / (2 + f).
#[rustfmt::skip]
const DOUBLE_TAIL: &[f64] = &[0.13237207379509755, 0.13251894548978077, 0.1538699934916477, 0.1818177813684407,
                              0.22222222609347075, 0.28571428569398544, 0.4000000000000495, 0.6666666666666666];

/// (k, f) of a positive normal number; k is less `down`.
fn reduced(e: &mut Emit, x: UOp, down: UOp) -> (UOp, UOp) {
    let (dtype, t) = (e.dtype(x), table(e.dtype(x)));
    let bits = e.bits(x, Emit::of_bits(dtype));
    // Integers of the root of 1/2 taken off have the exponent that is wanted. It becomes a float by being put into the
    // mantissa of one whose last place is 1.
    let offset = e.i(bits, (t.bias << t.mantissa) - t.root);
    let moved = e.add(bits, offset);
    let exponent = e.shr_by(moved, t.mantissa);
    let unit = e.i(bits, t.unit_bits);
    let k = e.or(exponent, unit);
    let k = e.bits(k, dtype);
    let k = e.sub(k, down);
    let power = e.and_bits(moved, !((1 << t.mantissa) - 1));
    let one = e.i(bits, t.bias << t.mantissa);
    let power = e.sub(power, one);
    let m = e.sub(bits, power);
    let (m, one) = (e.bits(m, dtype), e.f(x, 1.0));
    (k, e.sub(m, one))
}
/// (k, f) of a positive normal number.
pub(super) fn normal(e: &mut Emit, x: UOp) -> (UOp, UOp) {
    let t = table(e.dtype(x));
    let down = e.f(x, t.unit + t.bias as f64);
    reduced(e, x, down)
}
/// As [`reduced`], of subnormal numbers too.
pub(super) fn reduced_any(e: &mut Emit, x: UOp) -> (UOp, UOp) {
    let t = table(e.dtype(x));
    let (least, scale) = (e.f(x, t.least_normal), e.f(x, t.scale));
    let subnormal = e.lt(x, least);
    let scaled = e.mul(x, scale);
    let x = e.select(subnormal, scaled, x);
    let bias = t.unit + t.bias as f64;
    let (with, without) = (e.f(x, bias + t.scale_log), e.f(x, bias));
    let down = e.select(subnormal, with, without);
    reduced(e, x, down)
}

/// log(1 + f) - f.
fn tail(e: &mut Emit, f: UOp) -> UOp {
    let square = e.mul(f, f);
    if e.dtype(f) == DType::F32 {
        let p = e.horner(f, SINGLE_TAIL);
        return e.mul(square, p);
    }
    let (two, half) = (e.f(f, 2.0), e.f(f, 0.5));
    let sum = e.add(f, two);
    let s = e.div(f, sum);
    let z = e.mul(s, s);
    let p = e.horner(z, DOUBLE_TAIL);
    let half_square = e.mul(square, half);
    let inner = e.fma(z, p, half_square);
    let product = e.mul(s, inner);
    e.sub(product, half_square)
}

/// What the logarithm of `x` is at the ends of its range: -inf at 0, NaN below, infinite and NaN as `x`.
fn ends(e: &mut Emit, x: UOp, value: UOp) -> UOp {
    let (zero, infinity, lowest, nan) =
        (e.f(x, 0.0), e.f(x, f64::INFINITY), e.f(x, f64::NEG_INFINITY), e.f(x, f64::NAN));
    let finite = e.lt(x, infinity);
    let value = e.select(finite, value, x);
    let is_zero = e.eq(x, zero);
    let value = e.select(is_zero, lowest, value);
    let negative = e.lt(x, zero);
    e.select(negative, nan, value)
}

/// k log 2 + f + rest.
fn whole(e: &mut Emit, k: UOp, f: UOp, rest: UOp) -> UOp {
    let [high, low] = table(e.dtype(f)).log2.map(|c| e.f(f, c));
    let rest = e.fma(k, low, rest);
    let sum = e.add(f, rest);
    e.fma(k, high, sum)
}

/// Natural logarithm.
pub(super) fn log(e: &mut Emit, x: UOp) -> UOp {
    let (k, f) = reduced_any(e, x);
    let rest = tail(e, f);
    let value = whole(e, k, f, rest);
    ends(e, x, value)
}

/// Logarithm to base 2.
pub(super) fn log2(e: &mut Emit, x: UOp) -> UOp {
    let (k, f) = reduced_any(e, x);
    let rest = tail(e, f);
    let [high, low] = table(e.dtype(f)).inverse.map(|c| e.f(f, c));
    let small = e.mul(f, low);
    let small = e.fma(rest, high, small);
    let small = e.fma(f, high, small);
    let value = e.add(k, small);
    ends(e, x, value)
}

/// log(1 + x): of the rounded sum, and what the rounding lost.
pub(super) fn log1p(e: &mut Emit, x: UOp) -> UOp {
    let (dtype, t) = (e.dtype(x), table(e.dtype(x)));
    let one = e.f(x, 1.0);
    let sum = e.add(x, one);
    let down = e.f(x, t.unit + t.bias as f64);
    let (k, f) = reduced(e, sum, down);
    // Exact, whichever of 1 and x is the larger.
    let x_part = e.sub(sum, one);
    let one_part = e.sub(sum, x_part);
    let (lost_of_x, lost_of_one) = (e.sub(x, x_part), e.sub(one, one_part));
    let lost = e.add(lost_of_x, lost_of_one);
    // 2^-k as bits; where k is so large that it has none, nothing was lost that counts.
    let most = e.f(x, t.bias as f64 - 1.0);
    let least = e.min(most, k);
    let shifter = e.f(x, t.unit + t.bias as f64);
    let shifted = e.sub(shifter, least);
    let ints = Emit::of_bits(dtype);
    let bits = e.bits(shifted, ints);
    let power = e.shl_by(bits, t.mantissa);
    let power = e.bits(power, dtype);
    let lost = e.mul(lost, power);
    // log(1 + f + lost) = log(1 + f) + lost / (1 + f), of which two terms are enough.
    let minus = e.neg(lost);
    let lost = e.fma(minus, f, lost);
    let rest = tail(e, f);
    let rest = e.add(rest, lost);
    let value = whole(e, k, f, rest);
    let value = ends(e, sum, value);
    let (size, tiny) = (e.abs(x), e.f(x, t.tiny));
    let is_tiny = e.lt(size, tiny);
    e.select(is_tiny, x, value)
}
