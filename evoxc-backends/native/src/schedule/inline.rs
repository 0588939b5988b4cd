//! Calls of functions that are small or called once become their ops, so that kernels reach across them.

use evoxc_core::Dim;
use evoxc_ir::{Func, Module, Op, Prim, Region, TensorType, Value};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Functions of at most so many ops are inlined wherever they are called.
const SMALL: usize = 200;
/// A function grows to so many ops at most.
const MOST: usize = 50_000;

/// The functions of a module by name, calls inlined.
pub(super) fn inlined(module: &Module) -> FxHashMap<&str, Cow<'_, Func>> {
    let by_name: FxHashMap<&str, &Func> = module.funcs.iter().map(|f| (f.name.as_str(), f)).collect();
    let mut calls: FxHashMap<&str, usize> = FxHashMap::default();
    let mut callees: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
    for f in &module.funcs {
        let mut all = vec![];
        each_call(&f.body, &mut |callee| all.push(callee));
        all.iter().for_each(|c| *calls.entry(c).or_default() += 1);
        callees.insert(&f.name, all);
    }
    let mut done: FxHashMap<&str, Cow<'_, Func>> = FxHashMap::default();
    let mut sizes: FxHashMap<&str, usize> = FxHashMap::default();
    // Those that a function calls come before it.
    let mut todo: Vec<(&str, bool)> = module.main().map(|m| (m.name.as_str(), false)).into_iter().collect();
    let mut open: Vec<&str> = vec![];
    while let Some((name, ready)) = todo.pop() {
        let Some(&func) = by_name.get(name) else { continue };
        if !ready {
            if done.contains_key(name) || open.contains(&name) {
                continue;
            }
            open.push(name);
            todo.push((name, true));
            todo.extend(callees.get(name).into_iter().flatten().map(|c| (*c, false)));
            continue;
        }
        open.pop();
        let mut i =
            Inliner { done: &done, calls: &calls, sizes: &sizes, func: Cow::Borrowed(func), size: size(&func.body) };
        if callees.get(name).is_some_and(|c| c.iter().any(|c| i.wanted(c))) {
            let body = i.region(&func.body, &mut FxHashMap::default());
            i.func.to_mut().body = body;
        }
        let (func, n) = (i.func, i.size);
        sizes.insert(name, n);
        done.insert(name, func);
    }
    done
}

/// The number of ops, those of regions included. Regions nest at most [`evoxc_ir::MAX_REGION_DEPTH`] deep.
fn size(region: &Region) -> usize {
    region.ops.iter().map(|op| 1 + op.regions.iter().map(size).sum::<usize>()).sum()
}

fn each_call<'m>(region: &'m Region, f: &mut dyn FnMut(&'m str)) {
    for op in &region.ops {
        if let Prim::Call { callee, .. } = &op.prim {
            f(&callee.0);
        }
        op.regions.iter().for_each(|r| each_call(r, f));
    }
}

struct Inliner<'a, 'm> {
    done: &'a FxHashMap<&'m str, Cow<'m, Func>>,
    calls: &'a FxHashMap<&'m str, usize>,
    sizes: &'a FxHashMap<&'m str, usize>,
    func: Cow<'m, Func>,
    size: usize,
}

impl Inliner<'_, '_> {
    fn wanted(&self, callee: &str) -> bool {
        let (n, times) = (self.sizes.get(callee), self.calls.get(callee));
        n.is_some_and(|&n| (n <= SMALL || times == Some(&1)) && n + self.size <= MOST)
    }

    /// A region with calls inlined, and values replaced.
    fn region(&mut self, r: &Region, map: &mut FxHashMap<Value, Value>) -> Region {
        let mut ops = Vec::with_capacity(r.ops.len());
        for op in &r.ops {
            let mut op = op.clone();
            op.operands.iter_mut().for_each(|v| *v = map.get(v).copied().unwrap_or(*v));
            let regions: Vec<Region> = op.regions.iter().map(|r| self.region(r, map)).collect();
            op.regions = regions;
            if !self.inline(&op, map, &mut ops) {
                ops.push(op);
            }
        }
        let results = r.results.iter().map(|v| map.get(v).copied().unwrap_or(*v)).collect();
        Region { args: r.args.clone(), ops, results }
    }

    /// Puts the ops of the function that an op calls in its place, if that is worth it.
    fn inline(&mut self, op: &Op, map: &mut FxHashMap<Value, Value>, ops: &mut Vec<Op>) -> bool {
        let Prim::Call { callee, .. } = &op.prim else { return false };
        if !self.wanted(&callee.0) {
            return false;
        }
        let Some(callee) = self.done.get(callee.0.as_str()) else { return false };
        let Some(symbols) = self.symbols(callee, op) else { return false };
        let mut dim = |d: Dim| d.substitute(&mut |s| symbols.get(&s).copied());
        let mut values: FxHashMap<Value, Value> =
            callee.body.args.iter().copied().zip(op.operands.iter().copied()).collect();
        let mut copied = Copied { callee, values: &mut values, func: self.func.to_mut(), dim: &mut dim };
        copied.ops(&callee.body.ops, ops);
        self.size += self.sizes.get(callee.name.as_str()).copied().unwrap_or(0);
        for (result, inner) in op.results.iter().zip(&callee.body.results) {
            map.insert(*result, values.get(inner).copied().unwrap_or(*inner));
        }
        true
    }

    /// What the symbols of the callee are at this call, if its types then are those of the call.
    fn symbols(&self, callee: &Func, op: &Op) -> Option<FxHashMap<Dim, Dim>> {
        let mut symbols = FxHashMap::default();
        for (&inner, &outer) in callee.body.args.iter().zip(&op.operands) {
            for (&d, &to) in callee.ty(inner).shape.iter().zip(self.func.ty(outer).shape.iter()) {
                if d.symbol_name().is_some() {
                    symbols.entry(d).or_insert(to);
                }
            }
        }
        let same = |inner: &TensorType, outer: &TensorType| {
            let dim = |d: &Dim| d.substitute(&mut |s| symbols.get(&s).copied());
            inner.dtype == outer.dtype && inner.shape.iter().map(dim).eq(outer.shape.iter().copied())
        };
        let args = callee.body.args.iter().zip(&op.operands).all(|(i, o)| same(callee.ty(*i), self.func.ty(*o)));
        let results = callee.body.results.iter().zip(&op.results).all(|(i, o)| same(callee.ty(*i), self.func.ty(*o)));
        let mut all = vec![];
        callee.body.args.iter().for_each(|v| callee.ty(*v).shape.iter().for_each(|d| d.symbols(&mut all)));
        (args && results && all.iter().all(|s| symbols.contains_key(s))).then_some(symbols)
    }
}

/// The copy of a function's ops in another.
struct Copied<'a> {
    callee: &'a Func,
    values: &'a mut FxHashMap<Value, Value>,
    func: &'a mut Func,
    dim: &'a mut dyn FnMut(Dim) -> Dim,
}

impl Copied<'_> {
    fn value(&mut self, v: Value) -> Value {
        if let Some(&known) = self.values.get(&v) {
            return known;
        }
        let info = &self.callee.values[v.index()];
        let mut ty = info.ty.clone();
        ty.shape.dims_mut().iter_mut().for_each(|d| *d = (self.dim)(*d));
        let new = self.func.value(ty, info.name.clone());
        self.values.insert(v, new);
        new
    }
    fn ops(&mut self, from: &[Op], to: &mut Vec<Op>) {
        for op in from {
            let mut prim = op.prim.clone();
            prim.map_dims(self.dim);
            let operands = op.operands.iter().map(|&v| self.value(v)).collect();
            let regions = op.regions.iter().map(|r| self.region(r)).collect();
            let results = op.results.iter().map(|&v| self.value(v)).collect();
            to.push(Op { prim, operands, results, regions, loc: op.loc });
        }
    }
    fn region(&mut self, r: &Region) -> Region {
        let args = r.args.iter().map(|&v| self.value(v)).collect();
        let mut ops = Vec::with_capacity(r.ops.len());
        self.ops(&r.ops, &mut ops);
        Region { args, ops, results: r.results.iter().map(|&v| self.value(v)).collect() }
    }
}
