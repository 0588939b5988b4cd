//! Integers of a range.

use super::key::Key;
use super::parameter::fits;
use crate::operand::{lift, splat};
use crate::ops::{convert, cut, known, reshape};
use crate::{Operand, Opnd, Sym, builder};
use evoxc_core::{DType, Dim, I32, IntoShape, Scalar, Shape, U32, U64, spec};
use evoxc_ir::Algorithm;

/// Integers from `low` up to, but without, `high`. Bounds are Rust integers, extents, or `Sym`s of that dtype that
/// broadcast to the result; where both are known, `high` may be one more than the dtype's largest number. Where a `Sym` makes
/// `low` not below `high`, the result is `low`.
///
/// - threefry: `jax.random.randint`, two draws reduced modulo the range (8 and 16 bits are drawn as 32). Its bias grows
///   with the range: above 2¹⁶ (2³² for 64 bits) only one of the draws counts, and some values of a range of size r are
///   likelier than others by up to r/2³² (r/2⁶⁴).
/// - splitmix64, philox: the high half of the product of a draw, twice as wide as the dtype, and the range (Lemire, "Fast
///   random integer generation in an interval", 2019, without its rejection): the bias is below r/2⁶⁴ (r/2¹²⁸).
///
/// ```
/// use evoxc::prelude::*;
/// let dice = evaluate(|k: Sym| random::randint(k, I32, [100], 1, 7), random::key(42), &Interp)?;
/// assert!(dice.to_vec::<i32>()?.iter().all(|d| (1..=6).contains(d)));
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// A dtype that is no integer; known bounds with `low` not below `high`, or out of the dtype's range.
#[track_caller]
pub fn randint(key: Sym, dtype: DType, shape: impl IntoShape, low: impl Operand, high: impl Operand) -> Sym {
    let _at = builder::pin();
    let op = "randint";
    let Some(key) = Key::of(op, key) else { return Sym::POISON };
    if !dtype.is_int() {
        let remedy = "draw I32 and `.cast(..)` it, or use `random::uniform`".to_string();
        return builder::fail(op, &[], format!("needs an integer dtype, got {dtype}"), Some(remedy));
    }
    let draw = Draw { key: &key, dtype: if dtype.size() < 4 { I32 } else { dtype }, shape: &shape.into_shape() };
    let (low, high) = (low.operand(), high.operand());
    let x = match (integer(low), integer(high)) {
        (Some(low), Some(high)) => draw.known(dtype, low, high),
        _ => draw.unknown(dtype, low, high),
    };
    convert(x, dtype)
}

fn integer(x: Opnd) -> Option<i128> {
    match x {
        Opnd::Scalar(Scalar::Int(i)) => Some(i),
        Opnd::Dim(d) => d.as_i64().map(i128::from),
        Opnd::Scalar(_) | Opnd::Sym(_) => None,
    }
}

/// The least and the largest number of an integer dtype.
pub(super) fn range(dtype: DType) -> (i128, i128) {
    let bits = 8 * dtype.size() as u32;
    if dtype.is_unsigned() { (0, (1 << bits) - 1) } else { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) }
}

/// The number of values of a range; of all values of the dtype, which no `Sym` of it holds, `All`.
#[derive(Clone, Copy)]
enum Span {
    All,
    Known(u64),
    Sym(Sym),
}

/// A draw of integers of 32 or 64 bits.
struct Draw<'a> {
    key: &'a Key,
    dtype: DType,
    shape: &'a Shape,
}

impl Draw<'_> {
    #[track_caller]
    fn known(&self, narrow: DType, low: i128, high: i128) -> Sym {
        let op = "randint";
        let (least, most) = range(narrow);
        if low >= high {
            let m = format!("there is no integer from {low} up to, but without, {high}");
            return builder::fail(op, &[], m, Some("`low` must be below `high`, which is left out".into()));
        }
        if low < least || high - 1 > most {
            let m = format!("{low} up to {high} is not within {narrow}, {least} to {most}");
            return builder::fail(op, &[], m, Some("narrow the range, or draw a wider dtype".into()));
        }
        let span = match u64::try_from(high - low) {
            Ok(span) if high - low < 1 << self.bits() => Span::Known(span),
            _ => Span::All,
        };
        let offset = convert(self.offset(span), self.dtype);
        if low == 0 { offset } else { offset + splat(op, Scalar::Int(low), self.dtype, Shape::scalar()) }
    }
    #[track_caller]
    fn unknown(&self, narrow: DType, low: Opnd, high: Opnd) -> Sym {
        let full = self.key.drawn(self.shape);
        let (Some(low), Some(high)) = (self.bound("low", low, narrow, &full), self.bound("high", high, narrow, &full))
        else {
            return Sym::POISON;
        };
        let empty = high.le(low);
        let span = empty.select(1, convert(high - low, self.unsigned()));
        convert(self.offset(Span::Sym(span)), self.dtype) + low
    }
    #[track_caller]
    fn bound(&self, name: &str, x: Opnd, narrow: DType, full: &Shape) -> Option<Sym> {
        let op = "randint";
        let s = lift(op, x, &spec(narrow, full), false);
        let t = known(op, s)?;
        if t.dtype != narrow {
            let m = format!("`{name}` is {}, the draw {narrow}", t.dtype);
            builder::fail(op, &[s], m, Some(format!("`.cast({narrow:?})` it")));
            return None;
        }
        fits(op, name, s, &t.shape, full)?;
        Some(convert(s, self.dtype))
    }
    fn bits(&self) -> u32 {
        8 * self.dtype.size() as u32
    }
    fn unsigned(&self) -> DType {
        if self.bits() == 32 { U32 } else { U64 }
    }
    /// Integers from 0 up to the span, of an unsigned dtype.
    #[track_caller]
    fn offset(&self, span: Span) -> Sym {
        match self.key.algorithm {
            Algorithm::Threefry2x32 => self.remainder(span),
            Algorithm::SplitMix64 | Algorithm::Philox4x32 => self.product(span),
        }
    }
    /// JAX's way: (high·2ⁿ + low) mod span, with 2ⁿ mod span worked out in n bits, where it becomes 0 for large spans.
    #[track_caller]
    fn remainder(&self, span: Span) -> Sym {
        let unsigned = self.unsigned();
        let [k1, k2] = self.key.split();
        let low = k2.bits(unsigned, self.shape);
        let root = 1u64 << (self.bits() / 2);
        match span {
            Span::All => low,
            Span::Known(span) => {
                let m = root % span;
                let squared = if self.bits() == 32 { (m * m) & 0xFFFF_FFFF } else { m.wrapping_mul(m) };
                match squared % span {
                    0 => low % span,
                    m => ((k1.bits(unsigned, self.shape) % span) * m + low % span) % span,
                }
            }
            Span::Sym(span) => {
                let m = splat("randint", root.into(), unsigned, Shape::scalar()) % span;
                let m = (m * m) % span;
                ((k1.bits(unsigned, self.shape) % span) * m + low % span) % span
            }
        }
    }
    /// The high half of draw·span, of a draw twice as wide.
    #[track_caller]
    fn product(&self, span: Span) -> Sym {
        if self.bits() == 32 {
            return match span {
                Span::All => self.key.bits(U32, self.shape),
                Span::Known(span) => self.key.bits(U64, self.shape).mulhi(span),
                Span::Sym(span) => self.key.bits(U64, self.shape).mulhi(convert(span, U64)),
            };
        }
        let span: Opnd = match span {
            Span::All => return self.key.bits(U64, self.shape),
            Span::Known(span) => span.operand(),
            Span::Sym(span) => span.operand(),
        };
        let pair: Shape = [Dim::constant(2)].into_iter().chain(self.shape.iter().copied()).collect();
        let (words, axis, full) = (self.key.bits(U64, &pair), self.key.batch.rank(), self.key.drawn(self.shape));
        let [high, low] = [0i64, 1].map(|i| reshape(cut(words, axis, i, i + 1), full.clone()));
        let middle = high * span;
        let carry = (middle + low.mulhi(span)).lt(middle);
        high.mulhi(span) + convert(carry, U64)
    }
}
