//! The walk over a module: ops that StableHLO has are copied, the others written anew in their place.
//!
//! Functions are written before those that call them. The walk recurses into regions only, which nest at most
//! `MAX_REGION_DEPTH` deep.

use super::rules::{Rule, rule};
use super::{ExpandOptions, refused, scan};
use evoxc_core::{Dyn, Loc, OpError, Result, TreeDef};
use evoxc_ir::{Func, FuncRef, Module, Op, Prim, Region, TensorType, Value};
use evoxc_trace::{Sym, emitter};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::RefCell;

/// `first`: what StableHLO has, but for something, has not got it yet.
pub(super) fn expand(module: &Module, options: &ExpandOptions, first: bool) -> Result<Module> {
    let Some(main) = module.main() else { return Ok(module.clone()) };
    let order = callees(module, main)?;
    let refusal: RefCell<Option<OpError>> = RefCell::new(None);
    let write = |args: Dyn<Sym>| -> Dyn<Sym> {
        match functions(main, &order, (options, first), args.leaves()) {
            Ok(results) => TreeDef::leaves_tuple(results.len()).unflatten(results).unwrap_or_else(|_| Dyn::of(())),
            Err(e) => {
                emitter::refuse("expand", e.clone());
                *refusal.borrow_mut() = Some(e);
                emitter::abort()
            }
        }
    };
    let inputs = main.inputs();
    let tree = TreeDef::leaves_tuple(inputs.len());
    let nowhere = nowhere();
    let graph = match emitter::trace_leaves::<_, Dyn<Sym>, _>(write, inputs, tree) {
        Ok(graph) => graph,
        Err(e) => return Err(refusal.into_inner().map_or(e, refused)),
    };
    let mut out = graph.module().clone();
    let mut regions: Vec<&mut Region> = out.funcs.iter_mut().map(|f| &mut f.body).collect();
    while let Some(r) = regions.pop() {
        for op in &mut r.ops {
            op.loc = op.loc.filter(|&l| l != nowhere);
            regions.extend(&mut op.regions);
        }
    }
    out.name = module.name.clone();
    out.statics = module.statics.clone();
    out.notes = module.notes.clone();
    if let Some(f) = out.funcs.first_mut() {
        // Not where another function has taken the name.
        let taken = order.iter().any(|f| f.name == main.name);
        f.name = if taken { f.name.clone() } else { main.name.clone() };
    }
    Ok(out)
}

/// Where what stands for ops without a location is written; taken off at the end.
fn nowhere() -> Loc {
    Loc::new("", 0, 0)
}

/// The functions that `main` reaches through calls, each after those that it calls.
fn callees<'a>(module: &'a Module, main: &'a Func) -> Result<Vec<&'a Func>> {
    let by_name: FxHashMap<&str, &Func> = module.funcs.iter().map(|f| (f.name.as_str(), f)).collect();
    let mut out = vec![];
    // Whether all that a function calls is on the list already.
    let mut state: FxHashMap<&str, bool> = FxHashMap::default();
    let mut open: Vec<(&Func, bool)> = vec![(main, false)];
    while let Some((f, done)) = open.pop() {
        if done {
            state.insert(&f.name, true);
            if !std::ptr::eq(f, main) {
                out.push(f);
            }
            continue;
        }
        match state.get(f.name.as_str()) {
            Some(true) => continue,
            Some(false) => {
                let e = OpError::new("call", format!("@{} calls itself", f.name));
                return Err(refused(e.remedy("recursion has no graph: use `while_loop` or `scan`")));
            }
            None => {}
        }
        state.insert(&f.name, false);
        open.push((f, true));
        let mut regions = vec![&f.body];
        while let Some(r) = regions.pop() {
            for op in &r.ops {
                if let Prim::Call { callee, .. } = &op.prim {
                    let unknown = || refused(OpError::new("call", format!("there is no function @{}", callee.0)));
                    let next = by_name.get(callee.0.as_str()).copied().ok_or_else(unknown)?;
                    if state.get(next.name.as_str()) != Some(&true) {
                        open.push((next, false));
                    }
                }
                regions.extend(&op.regions);
            }
        }
    }
    Ok(out)
}

/// Writes all functions into the innermost trace, and the results of the entry.
fn functions(main: &Func, order: &[&Func], how: (&ExpandOptions, bool), args: &[Sym]) -> Result<Vec<Sym>, OpError> {
    let (options, first) = how;
    let mut names: FxHashMap<String, FuncRef> = FxHashMap::default();
    for f in order {
        let args = emitter::open_region(&f.inputs());
        let mut walk = Walk {
            func: f,
            options,
            first,
            names: &names,
            env: FxHashMap::default(),
            imported: Default::default(),
            nowhere: nowhere(),
        };
        let results = walk.body(&args)?;
        let region = emitter::close_region("call", &results).ok_or_else(poisoned)?;
        let (name, _) = emitter::outline(&f.name, region);
        names.insert(f.name.clone(), name);
    }
    let mut walk = Walk {
        func: main,
        options,
        first,
        names: &names,
        env: FxHashMap::default(),
        imported: Default::default(),
        nowhere: nowhere(),
    };
    walk.body(args)
}

pub(super) fn poisoned() -> OpError {
    OpError::new("", "a value could not be written in StableHLO's ops; another error says why")
}

/// A walk over one function.
pub(super) struct Walk<'a> {
    pub func: &'a Func,
    options: &'a ExpandOptions,
    first: bool,
    /// The names of the functions that are written already.
    names: &'a FxHashMap<String, FuncRef>,
    /// What stands for each value.
    env: FxHashMap<Value, Value>,
    imported: emitter::Imported,
    nowhere: Loc,
}

impl Walk<'_> {
    /// The results of the function on these arguments.
    fn body(&mut self, args: &[Sym]) -> Result<Vec<Sym>, OpError> {
        let body = &self.func.body;
        self.enter(&body.args, args);
        self.ops(&body.ops)?;
        Ok(self.all(&body.results))
    }
    /// Says what stands for values, and names it like them.
    pub fn enter(&mut self, values: &[Value], syms: &[Sym]) {
        for (&v, &s) in values.iter().zip(syms) {
            if let Some(name) = self.func.values.get(v.index()).and_then(|i| i.name.as_deref()) {
                emitter::set_name(s, name);
            }
            if let Some(s) = emitter::value(s) {
                self.env.insert(v, s);
            }
        }
    }
    /// What stands for a value.
    pub fn get(&self, v: Value) -> Sym {
        self.env.get(&v).map_or_else(emitter::poison, |&v| emitter::sym(v))
    }
    pub fn all(&self, vs: &[Value]) -> Vec<Sym> {
        vs.iter().map(|&v| self.get(v)).collect()
    }
    pub fn types(&self, vs: &[Value]) -> Vec<TensorType> {
        vs.iter().map(|&v| self.func.ty(v).clone()).collect()
    }
    pub fn ops(&mut self, ops: &[Op]) -> Result<(), OpError> {
        ops.iter().try_for_each(|op| {
            let _at = emitter::at(op.loc.or(Some(self.nowhere)));
            self.op(op).map_err(|e| self.describe(e, op))
        })
    }
    /// A region with the same arguments, rewritten.
    fn region(&mut self, r: &Region) -> Result<Region, OpError> {
        let args = emitter::open_region(&self.types(&r.args));
        self.enter(&r.args, &args);
        self.ops(&r.ops)?;
        emitter::close_region("region", &self.all(&r.results)).ok_or_else(poisoned)
    }
    fn op(&mut self, op: &Op) -> Result<(), OpError> {
        let types: SmallVec<[TensorType; 3]> = op.operands.iter().map(|&v| self.func.ty(v).clone()).collect();
        let results = match rule(&op.prim, &types, self.options) {
            Rule::Has => return self.copy(op),
            Rule::Finish(_) | Rule::Around(_) if !self.first => return self.copy(op),
            Rule::Write(f) | Rule::Around(f) => f(&self.all(&op.operands))?,
            Rule::Finish(f) => {
                let x = self.all(&op.operands);
                let y = emitter::emit_regions(op.prim.clone(), &x, vec![]).ok_or_else(poisoned)?;
                f(&x, &y)?
            }
            Rule::Identity => {
                for (&r, &x) in op.results.iter().zip(&op.operands) {
                    self.env.extend(emitter::value(self.get(x)).map(|x| (r, x)));
                }
                return Ok(());
            }
            Rule::Drop => return Ok(()),
            Rule::Scan => scan::scan(self, op)?,
            Rule::Refuse(e) => return Err(e),
        };
        self.define(op, &results)
    }
    /// Says what stands for the results of an op.
    fn define(&mut self, op: &Op, results: &[Sym]) -> Result<(), OpError> {
        for (&v, &s) in op.results.iter().zip(results) {
            let (want, got) = (self.func.ty(v), emitter::type_of(s).ok_or_else(poisoned)?);
            if (want.dtype, &want.shape) != (got.dtype, &got.shape) {
                return Err(OpError::new("", format!("its form in StableHLO's ops gives a {got}, not a {want}")));
            }
        }
        self.enter(&op.results, results);
        Ok(())
    }
    /// The op itself, its regions rewritten.
    fn copy(&mut self, op: &Op) -> Result<(), OpError> {
        let prim = match &op.prim {
            Prim::Call { callee, .. } => {
                let callee =
                    self.names.get(&callee.0).ok_or_else(|| OpError::new("call", "its function is missing"))?;
                let (jvp, forward, vjp, batch, captures) = (None, None, None, None, None);
                Prim::Call { callee: callee.clone(), jvp, forward, vjp, batch, captures, remat: false }
            }
            _ if op.regions.is_empty() => {
                return emitter::replay_from(self.func, &self.imported, op, &mut self.env);
            }
            p => p.clone(),
        };
        let regions = op.regions.iter().map(|r| self.region(r)).collect::<Result<Vec<_>, _>>()?;
        let results = emitter::emit_regions(prim, &self.all(&op.operands), regions).ok_or_else(poisoned)?;
        self.define(op, &results)
    }
    /// The error with the op's name, operands and place, where it does not say them itself.
    fn describe(&self, mut e: OpError, op: &Op) -> OpError {
        if e.op.is_empty() {
            e.op = op.prim.name();
        }
        if e.operands.is_empty() {
            e = e.operands(self.types(&op.operands));
        }
        if e.loc.is_none() { e.at(op.loc) } else { e }
    }
}
