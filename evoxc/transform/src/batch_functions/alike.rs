//! When two ops with regions, or two calls, do the same: equal ops on equally numbered values, in regions and callees
//! alike. What they use from around them is numbered in the order of use, so that it may differ.

use evoxc_ir::{Func, FuncRef, Module, Op, Prim, Region, Value};
use rustc_hash::FxHashMap;

/// Numbers of ops with regions, by what they do.
#[derive(Default)]
pub(super) struct Alike<'a> {
    prims: FxHashMap<&'a Prim, u32>,
    types: FxHashMap<&'a evoxc_ir::TensorType, u32>,
    texts: FxHashMap<Vec<u32>, u32>,
    /// The numbers of functions, by the addresses of their modules.
    functions: FxHashMap<(usize, &'a str), u32>,
}

/// Values in the order of their first use or definition.
type Seen = FxHashMap<Value, u32>;

fn next<K: std::hash::Hash + Eq>(map: &mut FxHashMap<K, u32>, k: K) -> u32 {
    let n = map.len() as u32;
    *map.entry(k).or_insert(n)
}

/// Before a call, which has no number among the ops: those that are alike may name functions differently.
const CALL: u32 = u32::MAX;
/// For a rule that a call does not have.
const NONE: u32 = u32::MAX - 1;

impl<'a> Alike<'a> {
    /// The number of an op.
    pub fn op(&mut self, module: &'a Module, func: &'a Func, op: &'a Op) -> u32 {
        let mut text = vec![];
        self.write(module, func, op, &mut Seen::default(), &mut text);
        next(&mut self.texts, text)
    }
    fn write(&mut self, module: &'a Module, func: &'a Func, op: &'a Op, seen: &mut Seen, out: &mut Vec<u32>) {
        match &op.prim {
            Prim::Call { callee, jvp, forward, vjp, batch, captures, remat } => {
                out.extend([CALL, u32::from(*remat), captures.map_or(NONE, |c| c as u32)]);
                for f in [Some(callee), jvp.as_ref(), forward.as_ref(), vjp.as_ref(), batch.as_ref()] {
                    let n = f.map_or(NONE, |f| self.function(module, f));
                    out.push(n);
                }
            }
            prim => out.push(next(&mut self.prims, prim)),
        }
        self.values(func, &op.operands, seen, out);
        for r in &op.regions {
            self.region(module, func, r, seen, out);
        }
        self.values(func, &op.results, seen, out);
    }
    fn region(&mut self, module: &'a Module, func: &'a Func, r: &'a Region, seen: &mut Seen, out: &mut Vec<u32>) {
        self.values(func, &r.args, seen, out);
        out.push(r.ops.len() as u32);
        for op in &r.ops {
            self.write(module, func, op, seen, out);
            out.push(op.regions.len() as u32);
        }
        self.values(func, &r.results, seen, out);
    }
    fn values(&mut self, func: &'a Func, list: &[Value], seen: &mut Seen, out: &mut Vec<u32>) {
        out.push(list.len() as u32);
        for &v in list {
            let ty = next(&mut self.types, func.ty(v));
            out.extend([next(seen, v), ty]);
        }
    }
    /// The number of a function of a module; calls nest to a limited depth and never in a circle.
    fn function(&mut self, module: &'a Module, name: &'a FuncRef) -> u32 {
        let key = (std::ptr::from_ref(module) as usize, name.0.as_str());
        if let Some(&n) = self.functions.get(&key) {
            return n;
        }
        let mut text = vec![];
        if let Some(f) = module.func(&name.0) {
            self.region(module, f, &f.body, &mut Seen::default(), &mut text);
        }
        let n = next(&mut self.texts, text);
        self.functions.insert(key, n);
        n
    }
}
