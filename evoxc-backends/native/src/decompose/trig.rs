//! Sine, cosine, tangent.
//!
//! The argument is reduced by a multiple of π in three parts: the first difference is exact, the others are of
//! products that are not rounded. Beyond some ten thousand turns the multiple would have too many digits: such arguments
//! are a gated library call.

use super::emit::Emit;
use crate::uop::{LibFn, UOp};
use evoxc_core::DType;
use evoxc_ir::Unary;

/// What depends on the dtype.
struct Table {
    /// 1.5 times the least power of 2 of which the last place is 1.
    shifter: f64,
    /// π in three parts, cut and not rounded.
    pi: [f64; 3],
    /// The reduction is good below.
    limit: f64,
    /// (sin r / r - 1) / r² in r² for |r| up to π / 2 and a bit; best at the end, where
    /// roundings add up most. That of `f32` was chosen among its neighbours for the least error with roundings.
    sin: &'static [f64],
    /// (tan r / r - 1) / r² in r² for |r| up to π / 4 and a bit.
    tan: &'static [f64],
}

static SINGLE: Table = Table {
    shifter: 12582912.0,
    pi: [3.141592502593994, 1.5099578831723193e-07, 1.078060505991553e-14],
    limit: 131072.0,
    sin: &[2.59554668e-06, -0.000198044683, 0.00833297707, -0.166666538],
    tan: &[0.00960069522, 0.00275889668, 0.0246533006, 0.0533493571, 0.133395389, 0.333331287],
};
static DOUBLE: Table = Table {
    shifter: 6755399441055744.0,
    pi: [std::f64::consts::PI, 1.224646799147353e-16, 2.1657133478438278e-32],
    limit: 1e9,
    #[rustfmt::skip]
    sin: &[2.7214138902090098e-15, -7.64301894845391e-13, 1.605894099013436e-10, -2.5052106904255375e-08,
           2.7557319211568385e-06, -0.00019841269841212476, 0.008333333333333207, -0.16666666666666666],
    #[rustfmt::skip]
    tan: &[2.1844456307634232e-05, -4.8982336166199796e-05, 9.710674823189918e-05, -3.476930349712061e-05,
           0.0001425132272231855, 0.00021945228460277296, 0.0005960652570827118, 0.0014545182177538014,
           0.0035923288789542858, 0.008863214714909492, 0.02186948992753079, 0.053968253913270196,
           0.1333333333344287, 0.3333333333333257],
};
fn table(dtype: DType) -> &'static Table {
    if dtype == DType::F32 { &SINGLE } else { &DOUBLE }
}

/// `x - n * π * factor`, for a factor that is a power of 2.
fn less(e: &mut Emit, x: UOp, n: UOp, factor: f64) -> UOp {
    let mut r = x;
    for part in table(e.dtype(x)).pi {
        let part = e.f(x, -part * factor);
        r = e.fma(n, part, r);
    }
    r
}

/// sin r, turned where the last bit of the integer that `shifted` holds is set.
fn turned_sine(e: &mut Emit, r: UOp, shifted: UOp) -> UOp {
    let (dtype, t) = (e.dtype(r), table(e.dtype(r)));
    let ints = Emit::of_bits(dtype);
    let z = e.mul(r, r);
    let p = e.horner(z, t.sin);
    let cube = e.mul(z, r);
    let y = e.fma(cube, p, r);
    let (bits, parity) = (e.bits(y, ints), e.bits(shifted, ints));
    let sign = e.shl_by(parity, 8 * dtype.size() as u32 - 1);
    let y = e.xor(bits, sign);
    e.bits(y, dtype)
}

/// `otherwise`, but for arguments that are too large for the reduction.
fn gated(e: &mut Emit, op: Unary, x: UOp, otherwise: UOp) -> UOp {
    let dtype = e.dtype(x);
    let (size, limit) = (e.abs(x), e.f(x, table(dtype).limit));
    let large = e.lt(limit, size);
    e.call(LibFn::Unary(op, dtype == DType::F32), &[x, large, otherwise])
}

/// Sine: x = nπ + r, and each π turns the sign.
pub(super) fn sin(e: &mut Emit, x: UOp) -> UOp {
    let (shifter, inverse) = (e.f(x, table(e.dtype(x)).shifter), e.f(x, std::f64::consts::FRAC_1_PI));
    let shifted = e.fma(x, inverse, shifter);
    let n = e.sub(shifted, shifter);
    let r = less(e, x, n, 1.0);
    let y = turned_sine(e, r, shifted);
    // The sum has lost the sign of -0.
    let zero = e.f(x, 0.0);
    let is_zero = e.eq(x, zero);
    let y = e.select(is_zero, x, y);
    gated(e, Unary::Sin, x, y)
}

/// Cosine: x = (n + 1/2)π + r, and the sine of r is turned by n + 1.
pub(super) fn cos(e: &mut Emit, x: UOp) -> UOp {
    let (shifter, inverse) = (e.f(x, table(e.dtype(x)).shifter + 1.0), e.f(x, std::f64::consts::FRAC_1_PI));
    let (half, minus_half) = (e.f(x, 0.5), e.f(x, -0.5));
    let turns = e.fma(x, inverse, minus_half);
    let shifted = e.add(turns, shifter);
    let n = e.sub(shifted, shifter);
    let n = e.add(n, half);
    let r = less(e, x, n, 1.0);
    let y = turned_sine(e, r, shifted);
    gated(e, Unary::Cos, x, y)
}

/// Tangent: x = nπ/2 + r; where n is odd it is -1 / tan r. What the reduction loses counts, for the tangent grows faster
/// than its argument.
pub(super) fn tan(e: &mut Emit, x: UOp) -> UOp {
    let (dtype, t) = (e.dtype(x), table(e.dtype(x)));
    let (shifter, inverse) = (e.f(x, t.shifter), e.f(x, std::f64::consts::FRAC_2_PI));
    let shifted = e.fma(x, inverse, shifter);
    let n = e.sub(shifted, shifter);
    let [first, second, third] = t.pi.map(|part| e.f(x, -0.5 * part));
    let near = e.fma(n, first, x);
    let r = e.fma(n, second, near);
    let left = e.sub(near, r);
    let low = e.fma(n, second, left);
    // The difference is exact but where the rest is small; there nothing was lost that counts.
    let (size, quarter, zero) = (e.abs(r), e.f(x, 0.25), e.f(x, 0.0));
    let small = e.lt(size, quarter);
    let low = e.select(small, zero, low);
    let low = e.fma(n, third, low);
    let z = e.mul(r, r);
    let p = e.horner(z, t.tan);
    let cube = e.mul(z, r);
    let tail = e.fma(cube, p, low);
    let y = e.add(r, tail);
    let back = e.sub(r, y);
    let lost = e.add(back, tail);
    let bits = e.bits(shifted, Emit::of_bits(dtype));
    let odd = e.and_bits(bits, 1);
    let even = e.i(odd, 0);
    let odd = e.ne(odd, even);
    let minus = e.f(x, -1.0);
    // One step of Newton's method, for the quotient and for what the sum lost.
    let (inverse, one) = (e.div(minus, y), e.f(x, 1.0));
    let error = e.fma(inverse, y, one);
    let error = e.fma(inverse, lost, error);
    let inverse = e.fma(inverse, error, inverse);
    let y = e.select(odd, inverse, y);
    // The sums have lost the sign of -0.
    let is_zero = e.eq(x, zero);
    let y = e.select(is_zero, x, y);
    gated(e, Unary::Tan, x, y)
}
