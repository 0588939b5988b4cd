//! `scan` as a `while_loop` that counts: each step reads one entry of what is scanned and writes one of what is stacked.

use super::parts::{emit, region};
use super::rules::Syms;
use super::walk::{Walk, poisoned};
use evoxc_core::{Dim, I32, OpError, Shape, spec};
use evoxc_ir::{Op, Prim, TensorType};
use evoxc_trace::{Sym, emitter, full};

/// Scalar indices of an entry of the leading axis.
fn starts(i: Sym, rank: usize, operands: &mut Vec<Sym>) {
    operands.push(i);
    let zero = i.zeros_like();
    operands.extend((1..rank).map(|_| zero));
}

/// Entry `i` of the leading axis.
fn entry(x: Sym, i: Sym) -> Sym {
    let shape = x.shape();
    let mut sizes: Vec<Dim> = shape.to_vec();
    if let Some(first) = sizes.first_mut() {
        *first = Dim::constant(1);
    }
    let mut operands = vec![x];
    starts(i, shape.rank(), &mut operands);
    let one = emit(Prim::DynamicSlice { sizes }, &operands);
    emit(Prim::Reshape { shape: shape.iter().skip(1).copied().collect() }, &[one])
}

/// `stack` with entry `i` replaced.
fn with_entry(stack: Sym, i: Sym, x: Sym) -> Sym {
    let shape: Shape = std::iter::once(Dim::constant(1)).chain(x.shape().iter().copied()).collect();
    let rank = shape.rank();
    let mut operands = vec![stack, emit(Prim::Reshape { shape }, &[x])];
    starts(i, rank, &mut operands);
    emit(Prim::DynamicUpdateSlice {}, &operands)
}

pub(super) fn scan(walk: &mut Walk, op: &Op) -> Result<Syms, OpError> {
    let (Prim::Scan { carry, length, reverse }, [body]) = (&op.prim, op.regions.as_slice()) else {
        return Err(OpError::new("scan", "it has one region"));
    };
    let operands = walk.all(&op.operands);
    let (init, xs) = operands.split_at((*carry).min(operands.len()));
    let stacked: Vec<TensorType> = walk.types(op.results.get(*carry..).unwrap_or_default());
    let ys: Vec<Sym> = stacked.iter().map(|t| full(t.dtype, &t.shape, false)).collect();
    if length.as_i64() == Some(0) {
        return Ok(init.iter().chain(&ys).copied().collect());
    }
    let n = match length.as_i64() {
        Some(n) => match i32::try_from(n) {
            Ok(n) => full(I32, [], n),
            Err(_) => return Err(OpError::new("scan", format!("its {n} steps exceed an i32"))),
        },
        None => emit(Prim::DimSize { extent: *length, dtype: I32 }, &[]),
    };
    let mut state = vec![full(I32, [], 0)];
    state.extend(init);
    state.extend(&ys);
    let mut types = vec![spec(I32, [])];
    types.extend(walk.types(op.operands.get(..*carry).unwrap_or_default()));
    types.extend(stacked);
    let missing = || OpError::new("scan", "the loop has a counter");
    let until = region(&types, |args| Ok(vec![args.first().ok_or_else(missing)?.lt(n)]))?;
    let step = region(&types, |args| {
        let (&count, rest) = args.split_first().ok_or_else(missing)?;
        let (carried, stacks) = rest.split_at((*carry).min(rest.len()));
        let i = if *reverse { n - 1 - count } else { count };
        let mut inputs = carried.to_vec();
        inputs.extend(xs.iter().map(|&x| entry(x, i)));
        walk.enter(&body.args, &inputs);
        walk.ops(&body.ops)?;
        let results = walk.all(&body.results);
        let (next, parts) = results.split_at((*carry).min(results.len()));
        let mut out = vec![count + 1];
        out.extend(next);
        out.extend(stacks.iter().zip(parts).map(|(&s, &y)| with_entry(s, i, y)));
        Ok(out)
    })?;
    let y = emitter::emit_regions(Prim::WhileLoop {}, &state, vec![until, step]).ok_or_else(poisoned)?;
    Ok(y.into_iter().skip(1).collect())
}
