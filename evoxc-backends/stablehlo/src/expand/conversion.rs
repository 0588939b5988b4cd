//! Conversions between dtypes, and the dtype that contractions sum in.

use super::ExpandOptions;
use super::parts::emit;
use super::rules::Rule;
use evoxc_core::{BF16, BOOL, DType, F16, F32, I8, I16, I32, I64, Scalar, U8, U16, U32};
use evoxc_ir::{AxisPair, Prim};
use evoxc_trace::Sym;
use smallvec::smallvec;

fn one<'a>(f: impl Fn(Sym) -> Sym + 'a) -> Rule<'a> {
    Rule::Write(Box::new(move |x| Ok(x.iter().map(|&x| f(x)).collect())))
}

/// Complex to real drops the imaginary part first; floats to integers saturate where the consumer's `convert` does not.
pub(super) fn convert<'a>(from: DType, to: DType, options: &ExpandOptions) -> Rule<'a> {
    let saturate = options.saturate && to.is_int();
    match (from.is_complex(), to.is_complex()) {
        (true, false) if to == BOOL => one(|x| x.real().ne(0.0) | x.imag().ne(0.0)),
        (true, false) => one(move |x| {
            let x = x.real();
            if saturate { saturated(x, x.cast(to)) } else { x.cast(to) }
        }),
        (false, false) if saturate && from.is_float() => {
            Rule::Finish(Box::new(|x, y| Ok(x.iter().zip(y).map(|(&x, &y)| saturated(x, y)).collect())))
        }
        _ => Rule::Has,
    }
}

/// `whole`, the integer part of x, where it is in range; the nearest end of the range beyond it, 0 for NaN.
fn saturated(x: Sym, whole: Sym) -> Sym {
    let to = whole.dtype();
    let x = if matches!(x.dtype(), F16 | BF16) { x.cast(F32) } else { x };
    let (low, high) = ends(to);
    let (floor, ceiling) = (low_float(to), high_float(to));
    let beyond = x.ge(ceiling).select(full(x, to, high), x.le(floor).select(full(x, to, low), 0));
    (x.gt(floor) & x.lt(ceiling)).select(whole, beyond)
}

fn full(like: Sym, d: DType, v: Scalar) -> Sym {
    evoxc_trace::full(d, like.shape(), v)
}

/// The ends of the range of integers.
fn ends(d: DType) -> (Scalar, Scalar) {
    match d {
        I8 => (i8::MIN.into(), i8::MAX.into()),
        I16 => (i16::MIN.into(), i16::MAX.into()),
        I32 => (i32::MIN.into(), i32::MAX.into()),
        I64 => (i64::MIN.into(), i64::MAX.into()),
        U8 => (0u8.into(), u8::MAX.into()),
        U16 => (0u16.into(), u16::MAX.into()),
        U32 => (0u32.into(), u32::MAX.into()),
        _ => (0u64.into(), u64::MAX.into()),
    }
}

/// At or below this, the lower end; floats between it and the end itself truncate to the end.
fn low_float(d: DType) -> f64 {
    if d.is_unsigned() { 0.0 } else { -(2f64.powi(d.size() as i32 * 8 - 1)) }
}

/// At or above this, the upper end.
fn high_float(d: DType) -> f64 {
    2f64.powi(d.size() as i32 * 8 - i32::from(!d.is_unsigned()))
}

/// The dtype that products are summed in, and whether StableHLO says it through the type of the result alone.
fn sums(d: DType, accumulate: Option<DType>) -> (DType, bool) {
    let wide = accumulate.unwrap_or(d.accumulator());
    (wide, matches!((d, wide), (F16 | BF16, F32) | (I8 | U8, I32)))
}

/// Halves are summed in f32 and rounded once, which the type of the result says; for other wider sums the operands are
/// converted first.
pub(super) fn dot<'a>(d: DType, batch: &'a AxisPair, contract: &'a AxisPair, accumulate: Option<DType>) -> Rule<'a> {
    let with = move |accumulate| Prim::Dot { batch: batch.clone(), contract: contract.clone(), accumulate };
    contraction(d, accumulate, with)
}

pub(super) fn convolution<'a>(prim: &'a Prim, d: DType, accumulate: Option<DType>) -> Rule<'a> {
    let with = move |wide| {
        let mut p = prim.clone();
        if let Prim::Convolution { accumulate, .. } = &mut p {
            *accumulate = wide;
        }
        p
    };
    contraction(d, accumulate, with)
}

fn contraction<'a>(d: DType, accumulate: Option<DType>, with: impl Fn(Option<DType>) -> Prim + 'a) -> Rule<'a> {
    let (wide, said) = sums(d, accumulate);
    if wide == d || (said && accumulate.is_some()) {
        return Rule::Has;
    }
    let result = accumulate.unwrap_or(d);
    Rule::Write(Box::new(move |x| {
        let y = match said {
            true => emit(with(Some(wide)), x),
            false => emit(with(None), &x.iter().map(|x| x.cast(wide)).collect::<Vec<_>>()),
        };
        Ok(smallvec![y.cast(result)])
    }))
}
