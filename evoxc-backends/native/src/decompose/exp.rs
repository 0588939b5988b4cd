//! Exponential functions and what is made of them: exp, exp2, expm1, tanh, logistic, sinh, cosh.
//!
//! The argument is reduced by adding a number so large that the sum is an integer in its last place: it is there both
//! as a float (subtract again) and as bits, which shifted into the exponent are the power of 2 without any conversion.
//! `exp` and `exp2` reduce by an even power and scale twice by its half: no result or factor leaves its range too early,
//! and subnormal results are rounded once.

use super::emit::Emit;
use crate::uop::UOp;
use evoxc_core::DType;

/// What depends on the dtype. Polynomials from the highest degree down.
struct Table {
    /// 1.5 times the least power of 2 of which the last place is 1.
    shifter: f64,
    bias: f64,
    mantissa: u32,
    /// The least and greatest arguments of `exp` that give neither 0 nor infinity, and a bit more; the same of `exp2`.
    exp_range: [f64; 2],
    exp2_range: [f64; 2],
    /// Half the greatest exponent of 2.
    half_range: f64,
    /// Where `expm1` of -x is -1 and `tanh` is 1, and a bit more.
    one: f64,
    /// e^r for |r| up to log 2, and 2^r for |r| up to 1.
    exp: &'static [f64],
    exp2: &'static [f64],
    /// ((e^r - 1) / r - 1) / r for |r| up to log 2 / 2.
    expm1: &'static [f64],
    /// ((e^2r - 1) / 2r - 1) / r for |r| up to log 2 / 4.
    expm1_twice: &'static [f64],
    /// (sinh x / x - 1) / x² in x² for |x| up to 1.
    sinh: &'static [f64],
    /// Where `expm1` is its argument.
    tiny: f64,
}

static SINGLE: Table = Table {
    shifter: 12582912.0,
    bias: 127.0,
    mantissa: 23,
    exp_range: [-104.0, 89.0],
    exp2_range: [-151.0, 129.0],
    half_range: 64.0,
    one: 20.0,
    #[rustfmt::skip]
    exp: &[0.000196360561, 0.00141061808, 0.00833593402, 0.0416611657, 0.166666165, 0.500000358, 1.0, 1.0],
    #[rustfmt::skip]
    exp2: &[1.41389201e-05, 0.000156350463, 0.00133571366, 0.00961699709, 0.0555027872, 0.240226641, 0.693147361, 1.0],
    #[rustfmt::skip]
    expm1: &[0.00138378609, 0.00836708769, 0.0416677482, 0.16666539, 0.49999997],
    #[rustfmt::skip]
    expm1_twice: &[0.0442811549, 0.133873403, 0.333341986, 0.666661561, 0.99999994],
    sinh: &[2.78221319e-06, 0.000198428956, 0.00833331048, 0.166666672],
    tiny: 1.0 / 16777216.0,
};

static DOUBLE: Table = Table {
    shifter: 6755399441055744.0,
    bias: 1023.0,
    mantissa: 52,
    exp_range: [-745.5, 710.0],
    exp2_range: [-1076.0, 1025.0],
    half_range: 512.0,
    one: 40.0,
    #[rustfmt::skip]
    exp: &[1.1745511418746713e-11, 1.620409179788979e-10, 2.0873300283012266e-09, 2.505101669128827e-08,
           2.755733751641482e-07, 2.755732335201327e-06, 2.4801587255450914e-05, 0.0001984126983314802,
           0.001388888888894186, 0.008333333333340999, 0.041666666666666456, 0.1666666666666664, 0.5, 1.0, 1.0],
    #[rustfmt::skip]
    exp2: &[6.077873232299137e-14, 1.3738761487649808e-12, 2.5701945477757218e-11, 4.4455919675724015e-10,
            7.054882256116029e-09, 1.0178084448941167e-07, 1.3215486963244435e-06, 1.525273381630771e-05,
            0.00015403530392895385, 0.0013333558146386754, 0.009618129107629046, 0.055504108664822166,
            0.2402265069591007, std::f64::consts::LN_2, 1.0],
    #[rustfmt::skip]
    expm1: &[2.0902824492794234e-09, 2.5109010435459727e-08, 2.755728572320078e-07, 2.755724445887551e-06,
             2.480158733371354e-05, 0.00019841269885689455, 0.0013888888888874988, 0.008333333333321834,
             0.041666666666666685, 0.16666666666666677, 0.5],
    #[rustfmt::skip]
    expm1_twice: &[4.280898456124259e-06, 2.571162668591076e-05, 0.000141093302902788, 0.000705465458147213,
                   0.003174603178715333, 0.012698412726841251, 0.04444444444439996, 0.13333333333314934,
                   0.3333333333333335, 0.6666666666666671, 1.0],
    #[rustfmt::skip]
    sinh: &[7.776588182872883e-13, 1.605665947488249e-10, 2.5052130995870036e-08, 2.7557319106768e-06,
            0.00019841269841593394, 0.008333333333332912, 0.16666666666666669],
    tiny: 1.0 / 9007199254740992.0,
};

fn table(dtype: DType) -> &'static Table {
    if dtype == DType::F32 { &SINGLE } else { &DOUBLE }
}

/// A multiple of a constant taken off exactly, in two parts: `x - n * c`.
fn less(e: &mut Emit, x: UOp, n: UOp, c: [f64; 2]) -> UOp {
    let mut r = x;
    for part in c {
        let part = e.f(x, -part);
        r = e.fma(n, part, r);
    }
    r
}
/// log 2 times `factor`, a power of 2, as a float of the dtype and what that leaves.
fn log2_parts(dtype: DType, factor: f64) -> [f64; 2] {
    let parts = if dtype == DType::F32 {
        [f64::from(std::f32::consts::LN_2), -1.9046542121259336e-9]
    } else {
        [std::f64::consts::LN_2, 2.3190468138462996e-17]
    };
    parts.map(|p| p * factor)
}

/// The integer nearest to `x * scale`: as a float, and as 2 to its power less `down`.
pub(super) fn split(e: &mut Emit, x: UOp, scale: f64, down: f64) -> (UOp, UOp) {
    let (dtype, t) = (e.dtype(x), table(e.dtype(x)));
    let (shifter, scale) = (e.f(x, t.shifter + t.bias - down), e.f(x, scale));
    let shifted = e.fma(x, scale, shifter);
    let bits = e.bits(shifted, Emit::of_bits(dtype));
    let power = e.shl_by(bits, t.mantissa);
    (e.sub(shifted, shifter), e.bits(power, dtype))
}

/// `x` between two bounds; NaN stays.
pub(super) fn bounded(e: &mut Emit, x: UOp, [least, most]: [f64; 2]) -> UOp {
    let (least, most) = (e.f(x, least), e.f(x, most));
    let x = e.min(most, x);
    e.max(least, x)
}

/// e^x.
pub(super) fn exp(e: &mut Emit, x: UOp) -> UOp {
    let (dtype, t) = (e.dtype(x), table(e.dtype(x)));
    let x = bounded(e, x, t.exp_range);
    let (n, s) = split(e, x, 0.5 / std::f64::consts::LN_2, 0.0);
    let r = less(e, x, n, log2_parts(dtype, 2.0));
    let p = e.horner(r, t.exp);
    let scaled = e.mul(p, s);
    e.mul(scaled, s)
}
/// e^x over 2 to the `down`, for arguments of one sign, whose powers of 2 then all have an exponent.
fn exp_over(e: &mut Emit, x: UOp, down: f64) -> UOp {
    let (dtype, t) = (e.dtype(x), table(e.dtype(x)));
    let (n, s) = split(e, x, 1.0 / std::f64::consts::LN_2, down);
    let r = less(e, x, n, log2_parts(dtype, 1.0));
    let q = e.horner(r, t.expm1);
    let (square, one) = (e.mul(r, r), e.f(x, 1.0));
    let m = e.fma(square, q, r);
    let p = e.add(m, one);
    e.mul(p, s)
}

/// 2^x.
pub(super) fn exp2(e: &mut Emit, x: UOp) -> UOp {
    let x = bounded(e, x, table(e.dtype(x)).exp2_range);
    let (r, s) = exp2_rest(e, x);
    exp2_of(e, r, s)
}
/// 2 to the sum of `x`, of size 1100 at most, and a small number.
pub(super) fn exp2_pair(e: &mut Emit, x: UOp, low: UOp) -> UOp {
    let (r, s) = exp2_rest(e, x);
    let r = e.add(r, low);
    exp2_of(e, r, s)
}
/// (r, s) so that 2^x is 2^r s².
fn exp2_rest(e: &mut Emit, x: UOp) -> (UOp, UOp) {
    let (n, s) = split(e, x, 0.5, 0.0);
    let minus_two = e.f(x, -2.0);
    (e.fma(n, minus_two, x), s)
}
fn exp2_of(e: &mut Emit, r: UOp, s: UOp) -> UOp {
    let p = e.horner(r, table(e.dtype(r)).exp2);
    let scaled = e.mul(p, s);
    e.mul(scaled, s)
}

/// e^x - 1, as 2 (s/2 (e^r - 1) + (s/2 - 1/2)) with s the power of 2, so that the greatest one stays finite.
pub(super) fn expm1(e: &mut Emit, x: UOp) -> UOp {
    let (dtype, t) = (e.dtype(x), table(e.dtype(x)));
    let y = bounded(e, x, [-t.one, t.exp_range[1]]);
    let (n, s) = split(e, y, 1.0 / std::f64::consts::LN_2, 1.0);
    let r = less(e, y, n, log2_parts(dtype, 1.0));
    let q = e.horner(r, t.expm1);
    let (square, half, two) = (e.mul(r, r), e.f(x, 0.5), e.f(x, 2.0));
    let m = e.fma(square, q, r);
    let rest = e.sub(s, half);
    let sum = e.fma(s, m, rest);
    let sum = e.mul(sum, two);
    let (size, tiny) = (e.abs(x), e.f(x, t.tiny));
    let is_tiny = e.lt(size, tiny);
    e.select(is_tiny, x, sum)
}

/// -|x|.
fn minus_size(e: &mut Emit, x: UOp) -> UOp {
    let dtype = e.dtype(x);
    let ints = Emit::of_bits(dtype);
    let (bits, sign) = (e.bits(x, ints), e.int(ints, i64::MIN >> (64 - 8 * dtype.size())));
    let bits = e.or(bits, sign);
    e.bits(bits, dtype)
}

/// (e^2x - 1) / (e^2x + 1) of -|x|, as n / (1 + n) with n half the numerator: s (e^2r - 1)/2 + (s - 1)/2.
pub(super) fn tanh(e: &mut Emit, x: UOp) -> UOp {
    let (dtype, t) = (e.dtype(x), table(e.dtype(x)));
    let (size, least) = (minus_size(e, x), e.f(x, -t.one));
    let y = e.max(least, size);
    let (n, s) = split(e, y, 2.0 / std::f64::consts::LN_2, 0.0);
    let r = less(e, y, n, log2_parts(dtype, 0.5));
    let q = e.horner(r, t.expm1_twice);
    let (square, half, minus_half, one, minus_one) =
        (e.mul(r, r), e.f(x, 0.5), e.f(x, -0.5), e.f(x, 1.0), e.f(x, -1.0));
    let m = e.fma(square, q, r);
    let rest = e.fma(s, half, minus_half);
    let numerator = e.fma(s, m, rest);
    let denominator = e.sub(minus_one, numerator);
    let y = e.div(numerator, denominator);
    // What the sum and the quotient lost, y (1 + n) + n, divided by the sum, of which the inverse is 1 + y.
    let minus = e.neg(y);
    let back = e.sub(minus, numerator);
    let lost = e.fma(minus, numerator, back);
    let inverse = e.add(y, one);
    let y = e.fma(lost, inverse, y);
    e.with_sign(y, x)
}

/// Of y = e^-|x| it is y / (1 + y) or 1 less that. The quotient enters as y - y (y / (1 + y)), where its error counts little.
pub(super) fn logistic(e: &mut Emit, x: UOp) -> UOp {
    let t = table(e.dtype(x));
    let (size, least) = (minus_size(e, x), e.f(x, t.exp_range[0]));
    let bounded = e.max(least, size);
    let scaled = exp_over(e, bounded, -t.half_range);
    let (scale, one, zero) = (e.f(x, 2f64.powf(-t.half_range)), e.f(x, 1.0), e.f(x, 0.0));
    let power = e.mul(scaled, scale);
    let denominator = e.add(power, one);
    let quotient = e.div(power, denominator);
    let minus = e.neg(quotient);
    let below = e.fma(minus, power, power);
    let above = e.sub(one, below);
    let negative = e.lt(x, zero);
    e.select(negative, below, above)
}

/// e^|x| / 2 for cosh and sinh, which are finite where e^x is not any more.
fn half_exp(e: &mut Emit, x: UOp) -> UOp {
    let (size, t) = (e.abs(x), table(e.dtype(x)));
    let most = e.f(x, t.exp_range[1] + 1.0);
    let size = e.min(most, size);
    let scaled = exp_over(e, size, t.half_range);
    let scale = e.f(x, 2f64.powf(t.half_range - 1.0));
    e.mul(scaled, scale)
}

/// e^|x|/2 + 1/4 / (e^|x|/2).
pub(super) fn cosh(e: &mut Emit, x: UOp) -> UOp {
    let (h, quarter) = (half_exp(e, x), e.f(x, 0.25));
    let inverse = e.div(quarter, h);
    e.add(h, inverse)
}

/// e^|x|/2 - 1/4 / (e^|x|/2) with the sign of `x`, or below 1 a polynomial.
pub(super) fn sinh(e: &mut Emit, x: UOp) -> UOp {
    let (h, quarter, one) = (half_exp(e, x), e.f(x, 0.25), e.f(x, 1.0));
    let inverse = e.div(quarter, h);
    let large = e.sub(h, inverse);
    let large = e.with_sign(large, x);
    let square = e.mul(x, x);
    let q = e.horner(square, table(e.dtype(x)).sinh);
    let cube = e.mul(square, x);
    let small = e.fma(cube, q, x);
    let size = e.abs(x);
    let is_small = e.lt(size, one);
    e.select(is_small, small, large)
}
