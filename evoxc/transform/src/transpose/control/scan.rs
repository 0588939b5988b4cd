//! The transpose of `scan`: the steps in the opposite order, carrying the cotangents of the carries and, summed up, of
//! what the body captured; it reads the cotangents of the stacked results and stacks those of what was scanned.

use super::{captured, inner, known};
use crate::jvp::sum;
use crate::transpose::Transpose;
use crate::{depend, regions, zeros};
use evoxc_core::{Dim, OpError};
use evoxc_ir::{Op, Prim, TensorType, Value};
use evoxc_trace::{Sym, emitter};
use rustc_hash::FxHashSet;

pub(super) fn scan(
    walk: &mut Transpose,
    op: &Op,
    ct: &[Option<Sym>],
    carry: usize,
    length: Dim,
    reverse: bool,
) -> Result<(), OpError> {
    let [body] = op.regions.as_slice() else { return Err(OpError::new("", "it has one region")) };
    let (carry_args, x_args) = body.args.split_at(carry.min(body.args.len()));
    let (init, xs) = op.operands.split_at(carry_args.len());
    let (next, ys) = body.results.split_at(carry_args.len());
    let (carry_ct, y_ct) = ct.split_at(carry_args.len());
    let captured = captured(walk, op);

    // What gets a cotangent at all: grown until a step adds no carry.
    let mut live: Vec<bool> = carry_ct.iter().map(Option::is_some).collect();
    let reached = loop {
        let results = next.iter().zip(&live).filter(|(_, l)| **l).map(|(v, _)| *v);
        let stacked = ys.iter().zip(y_ct).filter(|(_, c)| c.is_some()).map(|(v, _)| *v);
        let mut set: FxHashSet<Value> = results.chain(stacked).collect();
        depend::needed(body, &mut set);
        let grown: Vec<bool> = live.iter().zip(carry_args).map(|(l, a)| *l || set.contains(a)).collect();
        if grown == live {
            break set;
        }
        live = grown;
    };
    let pick = |i: &usize| live[*i];
    let carries: Vec<usize> = (0..carry_args.len()).filter(pick).collect();
    let sums: Vec<Value> = captured.iter().copied().filter(|v| reached.contains(v)).collect();
    let stacked: Vec<usize> = (0..ys.len()).filter(|&i| y_ct[i].is_some()).collect();
    let (linear, fixed): (Vec<usize>, Vec<usize>) = (0..xs.len()).partition(|&i| walk.linear.contains(&xs[i]));
    let wanted: Vec<usize> = linear.iter().copied().filter(|&i| reached.contains(&x_args[i])).collect();

    let types = |vs: Vec<Value>| -> Vec<TensorType> { emitter::types(&vs) };
    let lists = [
        types(carries.iter().map(|&i| carry_args[i]).collect()),
        types(sums.clone()),
        types(fixed.iter().map(|&i| x_args[i]).collect()),
        types(stacked.iter().map(|&i| ys[i]).collect()),
    ];
    let region = regions::region("body", &lists.concat(), |args| {
        let (carry_ct, rest) = args.split_at(carries.len());
        let (so_far, rest) = rest.split_at(sums.len());
        let (x, y_ct) = rest.split_at(fixed.len());
        let x: Vec<(Value, Sym)> = fixed.iter().map(|&i| x_args[i]).zip(x.iter().copied()).collect();
        let cts = carries.iter().map(|&i| next[i]).zip(carry_ct.iter().copied());
        let cts: Vec<_> = cts.chain(stacked.iter().map(|&i| ys[i]).zip(y_ct.iter().copied())).collect();
        let inputs = carry_args.iter().chain(linear.iter().map(|&i| &x_args[i])).chain(&captured).copied();
        let back = inner(walk, body, inputs, &x, &cts)?;
        let of = |v: Value| back.of(v).unwrap_or_else(|| zeros(&emitter::ty(v)));
        let mut out: Vec<Sym> = carries.iter().map(|&i| of(carry_args[i])).collect();
        out.extend(sums.iter().zip(so_far).filter_map(|(&v, &s)| sum(Some(s), back.of(v))));
        out.extend(wanted.iter().map(|&i| of(x_args[i])));
        Ok(out)
    })?;
    let zero = |v: Value| zeros(&emitter::ty(v));
    let mut operands: Vec<Sym> = carries.iter().map(|&i| carry_ct[i].unwrap_or_else(|| zero(carry_args[i]))).collect();
    operands.extend(sums.iter().map(|&v| zero(v)));
    for &i in &fixed {
        operands.push(known(walk, xs[i])?);
    }
    operands.extend(stacked.iter().filter_map(|&i| y_ct[i]));
    let prim = Prim::Scan { carry: carries.len() + sums.len(), length, reverse: !reverse };
    let results = regions::emit(prim, &operands, vec![region])?;
    let inputs = carries.iter().map(|&i| init[i]).chain(sums).chain(wanted.iter().map(|&i| xs[i]));
    for (v, &c) in inputs.zip(&results) {
        walk.add(v, c);
    }
    Ok(())
}
