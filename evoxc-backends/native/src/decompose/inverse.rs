//! Inverse trigonometric functions.

use super::emit::Emit;
use crate::uop::UOp;
use evoxc_core::DType;

/// What depends on the dtype.
struct Table {
    /// π / 4 as a float and what that leaves.
    quarter: [f64; 2],
    /// Above it, sums of two numbers may overflow.
    large: f64,
    /// Below it, numbers are multiplied by the next one.
    small: f64,
    up: f64,
    /// (atan t / t - 1) / t² in t² for |t| up to tan(π / 8).
    atan: &'static [f64],
    /// (asin x / x - 1) / x² in x² for |x| up to 1/2.
    asin: &'static [f64],
}

static SINGLE: Table = Table {
    quarter: [0.7853981852531433, -2.1855694143368964e-08],
    large: 4e37,
    small: 1e-30,
    up: 16777216.0,
    atan: &[-0.0608733743, 0.105982654, -0.142442971, 0.199985251, -0.333333164],
    asin: &[0.0421583876, 0.0241847429, 0.0454691537, 0.0749530941, 0.166667521],
};
static DOUBLE: Table = Table {
    quarter: [std::f64::consts::FRAC_PI_4, 3.061616997868383e-17],
    large: 2e307,
    small: 1e-290,
    up: 9007199254740992.0,
    #[rustfmt::skip]
    atan: &[-0.01786752513171865, 0.038028500834557985, -0.050378924261203745, 0.058475774213024585,
            -0.06663061395685134, 0.07692056480738255, -0.09090897548859182, 0.11111110776237888, -0.14285714280053152,
            0.19999999999952178, -0.3333333333333319],
    #[rustfmt::skip]
    asin: &[0.032626630111441506, -0.020995679893174458, 0.021704900114539835, 0.003707529674759076,
            0.010779933169998404, 0.011398974066074144, 0.013980812279350517, 0.017351612777050114,
            0.022372214939818513, 0.030381942709740706, 0.04464285717456309, 0.07499999999970865, 0.1666666666666676],
};
fn table(dtype: DType) -> &'static Table {
    if dtype == DType::F32 { &SINGLE } else { &DOUBLE }
}

/// The angle of (x, y), both not negative and not both infinite, turned from that of a first octant: the angle of
/// (larger, smaller), of which those above π/8 are taken from π/4 and those with y > x from π/2. `flip` takes it from π.
fn angle(e: &mut Emit, y: UOp, x: UOp, flip: Option<UOp>) -> UOp {
    let t = table(e.dtype(x));
    let steep = e.lt(x, y);
    let (large, small) = (e.select(steep, y, x), e.select(steep, x, y));
    let eighth = e.f(x, 0.414_213_562_373_095_05);
    let limit = e.mul(large, eighth);
    let middle = e.lt(limit, small);
    let (difference, total) = (e.sub(small, large), e.add(small, large));
    let (n, d) = (e.select(middle, difference, small), e.select(middle, total, large));
    let q = e.div(n, d);
    let z = e.mul(q, q);
    let p = e.horner(z, t.atan);
    let cube = e.mul(z, q);
    let tail = e.mul(cube, p);
    // The angle is m π/4 ± (q + tail).
    let [high, low] = t.quarter;
    let (zero, two, four) = (e.f(x, 0.0), e.f(x, 2.0), e.f(x, 4.0));
    let one = e.f(x, 1.0);
    let quarters = e.select(middle, one, zero);
    let mut turns = e.sub(two, quarters);
    turns = e.select(steep, turns, quarters);
    let (minus_q, minus_tail) = (e.neg(q), e.neg(tail));
    let (mut q, mut tail) = (e.select(steep, minus_q, q), e.select(steep, minus_tail, tail));
    if let Some(flip) = flip {
        let flipped = e.sub(four, turns);
        turns = e.select(flip, flipped, turns);
        let (minus_q, minus_tail) = (e.neg(q), e.neg(tail));
        q = e.select(flip, minus_q, q);
        tail = e.select(flip, minus_tail, tail);
    }
    let (high, low) = (e.f(x, high), e.f(x, low));
    let rest = e.fma(turns, low, tail);
    let rest = e.add(rest, q);
    e.fma(turns, high, rest)
}

/// Inverse tangent.
pub(super) fn atan(e: &mut Emit, x: UOp) -> UOp {
    let (size, one) = (e.abs(x), e.f(x, 1.0));
    let a = angle(e, size, one, None);
    e.with_sign(a, x)
}

/// The angle of (x, y), with the signs of zeros.
pub(super) fn atan2(e: &mut Emit, y: UOp, x: UOp) -> UOp {
    let t = table(e.dtype(x));
    let ints = Emit::of_bits(e.dtype(x));
    let (ay, ax) = (e.abs(y), e.abs(x));
    let most = e.max(ay, ax);
    let (large, quarter, one, zero, infinity) =
        (e.f(x, t.large), e.f(x, 0.25), e.f(x, 1.0), e.f(x, 0.0), e.f(x, f64::INFINITY));
    let is_large = e.lt(large, most);
    // Subnormal numbers have too few digits.
    let (least, up) = (e.f(x, t.small), e.f(x, t.up));
    let is_small = e.lt(most, least);
    let scale = e.select(is_small, up, one);
    let scale = e.select(is_large, quarter, scale);
    let (sy, sx) = (e.mul(ay, scale), e.mul(ax, scale));
    // Both infinite are as both equal, and both 0 as (1, 0).
    let (y_infinite, x_infinite) = (e.eq(ay, infinity), e.eq(ax, infinity));
    let both = e.and(y_infinite, x_infinite);
    let (sy, sx) = (e.select(both, one, sy), e.select(both, one, sx));
    let neither = e.eq(most, zero);
    let sx = e.select(neither, one, sx);
    let bits = e.bits(x, ints);
    let no = e.i(bits, 0);
    let flip = e.lt(bits, no);
    let a = angle(e, sy, sx, Some(flip));
    let a = e.with_sign(a, y);
    let (y_nan, x_nan, nan) = (e.ne(y, y), e.ne(x, x), e.f(x, f64::NAN));
    let any = e.or(y_nan, x_nan);
    e.select(any, nan, a)
}

/// What asin and acos share: is |x| at most 1/2, and with t that or the root of (1 - |x|) / 2, t and asin(t) - t.
fn half_angle(e: &mut Emit, x: UOp) -> (UOp, UOp, UOp) {
    let (size, half) = (e.abs(x), e.f(x, 0.5));
    let minus_half = e.f(x, -0.5);
    let small = e.le(size, half);
    let square = e.mul(x, x);
    let other = e.fma(size, minus_half, half);
    let z = e.select(small, square, other);
    let root = e.sqrt(z);
    let t = e.select(small, size, root);
    let p = e.horner(z, table(e.dtype(x)).asin);
    let cube = e.mul(z, t);
    (small, t, e.mul(cube, p))
}

/// Inverse sine: NaN beyond 1.
pub(super) fn asin(e: &mut Emit, x: UOp) -> UOp {
    let [high, low] = table(e.dtype(x)).quarter.map(|c| e.f(x, 2.0 * c));
    let (small, t, tail) = half_angle(e, x);
    let direct = e.add(t, tail);
    // π/2 - 2 (t + tail)
    let minus_two = e.f(x, -2.0);
    let rest = e.fma(tail, minus_two, low);
    let rest = e.fma(t, minus_two, rest);
    let far = e.add(high, rest);
    let value = e.select(small, direct, far);
    e.with_sign(value, x)
}

/// Inverse cosine: NaN beyond 1.
pub(super) fn acos(e: &mut Emit, x: UOp) -> UOp {
    let [high, low] = table(e.dtype(x)).quarter.map(|c| e.f(x, c));
    let (small, t, tail) = half_angle(e, x);
    let zero = e.f(x, 0.0);
    let negative = e.lt(x, zero);
    // π/2 ∓ (t + tail), 2 (t + tail), or π - 2 (t + tail)
    let (one, minus_one, two, minus_two, four) = (e.f(x, 1.0), e.f(x, -1.0), e.f(x, 2.0), e.f(x, -2.0), e.f(x, 4.0));
    let (near, beyond) = (e.select(negative, one, minus_one), e.select(negative, minus_two, two));
    let factor = e.select(small, near, beyond);
    let turns = e.select(negative, four, zero);
    let turns = e.select(small, two, turns);
    let rest = e.mul(turns, low);
    let rest = e.fma(tail, factor, rest);
    let rest = e.fma(t, factor, rest);
    e.fma(turns, high, rest)
}
