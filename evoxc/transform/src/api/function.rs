//! Traced functions as functions of the module: what they capture becomes their last arguments, in one order for a
//! function and its rules.

use crate::{regions, zeros};
use evoxc_core::{BOOL, Dim, OpError, spec};
use evoxc_ir::{FuncRef, Op, Region, TensorType, Value};
use evoxc_trace::{Sym, emitter};
use rustc_hash::{FxHashMap, FxHashSet};

/// What these regions use from around them, each once: values, and symbols of extents that stand in none of the types of
/// `args`, for which there is a value of that extent.
pub(super) fn captures(list: &[&Region], args: &[TensorType]) -> Vec<Sym> {
    let mut seen = FxHashSet::default();
    let used = list.iter().flat_map(|r| emitter::captures(r)).filter(|v| seen.insert(*v));
    let values: Vec<Value> = used.collect();
    let mut known = FxHashSet::default();
    symbols(args.iter().chain(&emitter::types(&values)), &mut |s| {
        known.insert(s);
    });
    let mut out: Vec<Sym> = values.into_iter().map(emitter::sym).collect();
    let mut missing = |s: Dim| {
        if known.insert(s) {
            out.push(zeros(&spec(BOOL, [s])));
        }
    };
    list.iter().for_each(|r| region_symbols(r, &mut missing));
    out
}

fn symbols<'a>(types: impl Iterator<Item = &'a TensorType>, found: &mut dyn FnMut(Dim)) {
    let mut all = vec![];
    types.flat_map(|t| t.shape.iter()).for_each(|d| d.symbols(&mut all));
    all.into_iter().for_each(found);
}

fn region_symbols(r: &Region, found: &mut dyn FnMut(Dim)) {
    let each = |op: &Op, found: &mut dyn FnMut(Dim)| {
        symbols(emitter::types(&op.results).iter(), found);
        let mut all = vec![];
        op.prim.clone().map_dims(&mut |d| {
            d.symbols(&mut all);
            d
        });
        all.into_iter().for_each(&mut *found);
        op.regions.iter().for_each(|r| region_symbols(r, found));
    };
    r.ops.iter().for_each(|op| each(op, found));
}

/// A part of the arguments of a function.
pub(super) enum Part<'a> {
    /// The region's own next arguments, so many.
    Own(usize),
    /// Values that it uses from around it.
    Captured(&'a [Sym]),
}

/// Makes a region a function whose arguments are these parts; its results are those of the region, and then `more`.
pub(super) fn function(name: &str, r: &Region, parts: &[Part], more: &[Sym]) -> Result<FuncRef, OpError> {
    let mut from: Vec<Value> = vec![];
    let mut own = r.args.iter().copied();
    for part in parts {
        match part {
            Part::Own(n) => from.extend(own.by_ref().take(*n)),
            Part::Captured(syms) => from.extend(syms.iter().filter_map(|&s| emitter::value(s))),
        }
    }
    let more: Vec<Value> = more.iter().filter_map(|&s| emitter::value(s)).collect();
    let region = regions::region(name, &emitter::types(&from), |args| {
        let mut env = FxHashMap::default();
        regions::bind(&mut env, &from, args);
        let mut out = regions::replay(r, &mut env)?;
        out.extend(more.iter().map(|v| emitter::sym(env.get(v).copied().unwrap_or(*v))));
        Ok(out)
    })?;
    Ok(emitter::outline(name, region).0)
}
