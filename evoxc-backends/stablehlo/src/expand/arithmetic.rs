//! Integer arithmetic, and arithmetic on the bits of floats.

use super::parts::{emit, integer, sign_bit, unsigned};
use evoxc_core::{DType, I16, I32, I64, U16, U32, U64};
use evoxc_ir::{Binary, Prim};
use evoxc_trace::Sym;

/// The float next to `a` in the direction of `b`: its bits, which order like the numbers, counted up or down.
pub(super) fn nextafter(a: Sym, b: Sym) -> Sym {
    let (d, u) = (a.dtype(), unsigned(a.dtype()));
    let (x, y) = (a.bitcast(u), b.bitcast(u));
    let sign = x.full_like(integer(sign_bit(d), u));
    let one = x.ones_like();
    let away = b.gt(a) & (x & sign).eq(0) | b.lt(a) & (x & sign).ne(0);
    let step = away.select(x + one, x - one);
    let from_zero = (y & sign) | one;
    let next = a.eq(0.0).select(from_zero, step).bitcast(d);
    let next = a.eq(b).select(b, next);
    (a.ne(a) | b.ne(b)).select(f64::NAN, next)
}

/// The high half of the double-width product.
pub(super) fn mulhi(a: Sym, b: Sym) -> Sym {
    let d = a.dtype();
    let wide = match (d.size(), d.is_unsigned()) {
        (1, false) => I16,
        (2, false) => I32,
        (4, false) => I64,
        (1, true) => U16,
        (2, true) => U32,
        (4, true) => U64,
        (_, false) => return signed_mulhi(a, b),
        (_, true) => return mulhi_u64(a, b),
    };
    // Converting to the narrower type drops the upper bits, which are the sign's.
    let product = a.cast(wide) * b.cast(wide);
    shift(product, d.size() as u64 * 8, wide.is_unsigned()).cast(d)
}

fn shift(x: Sym, by: u64, logical: bool) -> Sym {
    let op = if logical { Binary::ShiftRightLogical } else { Binary::ShiftRightArithmetic };
    emit(Prim::Binary(op), &[x, x.full_like(by)])
}

/// By halves of 32 bits; no partial sum overflows (D. Knuth, "The Art of Computer Programming", vol. 2, 4.3.1,
/// algorithm M).
fn mulhi_u64(a: Sym, b: Sym) -> Sym {
    let low = |x: Sym| x & x.full_like(0xFFFF_FFFFu64);
    let high = |x: Sym| shift(x, 32, true);
    let (al, ah, bl, bh) = (low(a), high(a), low(b), high(b));
    let middle = ah * bl + high(al * bl);
    let other = al * bh + low(middle);
    ah * bh + high(middle) + high(other)
}

/// The product of the bits as unsigned numbers counts a negative factor 2⁶⁴ too high, which the other factor is then
/// taken off for.
fn signed_mulhi(a: Sym, b: Sym) -> Sym {
    let as_unsigned = |x: Sym| x.bitcast(U64);
    let (x, y) = (as_unsigned(a), as_unsigned(b));
    let excess = a.lt(0).select(y, 0) + b.lt(0).select(x, 0);
    (mulhi_u64(x, y) - excess).bitcast(DType::I64)
}
