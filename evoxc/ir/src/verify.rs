//! The verifier: what every pass and backend may rely on.
//!
//! A module that passes has at least one function; every value is defined once and before its uses, within its region;
//! the types are those that [`infer`](crate::infer) gives; calls reach functions of the module and never come back;
//! regions and calls together nest at most [`MAX_REGION_DEPTH`] deep; and every symbol of a function stands in its
//! arguments' types, those of the entry so that its inputs tell their values. The rules of a call have signatures that
//! fit its callee's (`verify/rules.rs`). It never panics, whatever the module, and recurses into regions only.

use crate::infer::{check_shape, same};
use crate::{Func, FuncRef, MAX_REGION_DEPTH, Module, Op, Prim, Region, RegionType, TensorType, Value, infer};
use evoxc_core::{Dim, IrError, Loc, OpError, Result};
use rustc_hash::{FxHashMap, FxHashSet};

mod rules;
#[cfg(test)]
pub(crate) mod tests;

impl Module {
    /// Checks every rule of the IR.
    ///
    /// ```
    /// use evoxc::ir::Module;
    /// let m = Module::parse("func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  %y = evoxc.not(%x) : tensor<2xf32>\n  return %y\n}")?;
    /// let e = m.verify().unwrap_err().to_string();
    /// assert!(e.contains("function @f: not: x must be bool or an integer dtype, got f32"), "{e}");
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`IrError`]: the first broken rule, with the function and the op's index in print order.
    pub fn verify(&self) -> Result<()> {
        let mut functions = FxHashMap::default();
        for (i, f) in self.funcs.iter().enumerate() {
            if functions.insert(f.name.as_str(), i).is_some() {
                return Err(error(f, None, OpError::new("func", "two functions have this name").remedy("rename one")));
            }
            check_header(f)?;
        }
        if self.funcs.is_empty() {
            let op = OpError::new("module", "it has no function, so there is nothing to run");
            return Err(IrError { function: String::new(), index: None, op }.into());
        }
        let (mut calls, mut depth) = (vec![], vec![]);
        for (i, f) in self.funcs.iter().enumerate() {
            let mut v = Verifier {
                module: self,
                functions: &functions,
                f,
                scope: vec![Scope::Undefined; f.values.len()],
                symbols: symbols(f, i == 0)?,
                sound: FxHashSet::default(),
                index: 0,
                deepest: 0,
                calls: vec![],
            };
            let mut defined = vec![];
            v.region(&f.body, 0, &mut defined, "return")?;
            calls.push(v.calls);
            depth.push(v.deepest);
        }
        self.check_calls(&calls, depth)
    }

    /// No function reaches itself, and the deepest way through calls and regions is within the limit.
    /// `depth` holds how deep the regions of each function nest.
    fn check_calls(&self, calls: &[Vec<Call>], mut depth: Vec<usize>) -> Result<()> {
        // Functions whose callees are all done, again and again; what never gets done is on a cycle or calls one.
        let mut waits: Vec<usize> = calls.iter().map(Vec::len).collect();
        let mut callers: Vec<Vec<(usize, &Call)>> = vec![vec![]; calls.len()];
        for (f, list) in calls.iter().enumerate() {
            for c in list {
                callers[c.callee].push((f, c));
            }
        }
        let mut ready: Vec<usize> = (0..calls.len()).filter(|&f| waits[f] == 0).collect();
        while let Some(done) = ready.pop() {
            for &(f, c) in &callers[done] {
                depth[f] = depth[f].max(c.depth + 1 + depth[done]);
                if depth[f] > MAX_REGION_DEPTH {
                    let message = format!("calls and regions nest deeper than {MAX_REGION_DEPTH}");
                    return Err(error(&self.funcs[f], Some(c.index), OpError::new("call", message).at(c.loc)));
                }
                waits[f] -= 1;
                if waits[f] == 0 {
                    ready.push(f);
                }
            }
        }
        // Following calls to functions that wait must come to one a second time.
        let Some(mut at) = (0..calls.len()).find(|&f| waits[f] > 0) else { return Ok(()) };
        let mut seen = vec![false; calls.len()];
        loop {
            let Some(c) = calls[at].iter().find(|c| waits[c.callee] > 0) else { return Ok(()) };
            if std::mem::replace(&mut seen[at], true) {
                let message = format!("@{} calls itself, through @{}", self.funcs[at].name, self.funcs[c.callee].name);
                let op = OpError::new("call", message).remedy("recursion has no graph: use `while_loop` or `scan`");
                return Err(error(&self.funcs[at], Some(c.index), op.at(c.loc)));
            }
            at = c.callee;
        }
    }
}

/// A call op: whom, and where.
struct Call {
    callee: usize,
    /// The depth of regions around it.
    depth: usize,
    index: usize,
    loc: Option<Loc>,
}

#[derive(Clone, Copy, PartialEq)]
enum Scope {
    Undefined,
    Visible,
    /// Its region has ended.
    Gone,
}

fn error(f: &Func, index: Option<usize>, op: OpError) -> evoxc_core::Error {
    IrError { function: f.name.clone(), index, op }.into()
}

/// What calls of the function rely on before its body is checked: that its arguments and results are in the table.
fn check_header(f: &Func) -> Result<()> {
    if f.values.len() > u32::MAX as usize {
        return Err(error(f, None, OpError::new("func", "it has too many values")));
    }
    match f.body.args.iter().chain(&f.body.results).find(|v| v.index() >= f.values.len()) {
        Some(v) => Err(error(f, None, OpError::new("func", unknown(*v)))),
        None => Ok(()),
    }
}

fn unknown(v: Value) -> String {
    format!("value {} is not in the function's table of values", v.0)
}

/// The symbols that a function may use: those of its arguments' types. Those of the entry must be told by its inputs:
/// an extent is linear in the symbol, once the symbols found before are known.
fn symbols(f: &Func, entry: bool) -> Result<FxHashSet<Dim>> {
    let types = f.body.args.iter().filter_map(|v| f.values.get(v.index()));
    let mut extents: Vec<Dim> = types.flat_map(|v| v.ty.shape.iter().copied()).filter(|d| !d.is_const()).collect();
    extents.retain({
        let mut seen = FxHashSet::default();
        move |&d| seen.insert(d)
    });
    let mut all = vec![];
    extents.iter().for_each(|d| d.symbols(&mut all));
    let all: FxHashSet<Dim> = all.into_iter().collect();
    if !entry {
        return Ok(all);
    }
    let mut known = FxHashSet::default();
    let mut left = extents;
    loop {
        let before = known.len();
        left.retain(|d| {
            let rest = d.substitute(&mut |s| known.contains(&s).then_some(Dim::constant(1)));
            // One value that the expression takes is enough to see whether it can be solved.
            let one = rest.evaluate(&mut |_| Some(1)).ok();
            match one.and_then(|v| rest.solve(v)) {
                Some((symbol, _)) => {
                    known.insert(symbol);
                    false
                }
                None => !rest.is_const(),
            }
        });
        if known.len() == all.len() {
            return Ok(all);
        }
        if known.len() == before {
            break;
        }
    }
    let mut lost: Vec<String> = all.iter().filter(|s| !known.contains(s)).map(Dim::to_string).collect();
    lost.sort();
    let op = OpError::new("func", format!("no input tells the value of the extent {}", lost.join(", ")))
        .operands(f.body.args.iter().filter_map(|v| f.values.get(v.index())).map(|v| &v.ty))
        .remedy("give some input an axis of exactly that extent");
    Err(error(f, None, op))
}

struct Verifier<'m> {
    module: &'m Module,
    functions: &'m FxHashMap<&'m str, usize>,
    f: &'m Func,
    scope: Vec<Scope>,
    symbols: FxHashSet<Dim>,
    /// Symbolic extents that have been checked.
    sound: FxHashSet<Dim>,
    /// The next op's number in print order.
    index: usize,
    /// How deep its regions nest.
    deepest: usize,
    calls: Vec<Call>,
}

/// What stands around an error: the op's number, name and location.
struct At<'a> {
    index: Option<usize>,
    op: &'a str,
    loc: Option<Loc>,
}

impl<'m> Verifier<'m> {
    #[cold]
    fn fail<T>(&self, at: &At, message: String) -> Result<T> {
        Err(error(self.f, at.index, OpError::new(at.op, message).at(at.loc)))
    }
    fn ty(&self, v: Value) -> Option<&'m TensorType> {
        self.f.values.get(v.index()).map(|i| &i.ty)
    }
    fn name(&self, v: Value) -> String {
        match self.f.values.get(v.index()).and_then(|i| i.name.as_deref()) {
            Some(n) => format!("%{n}"),
            None => format!("value {}", v.0),
        }
    }

    fn define(&mut self, values: &[Value], at: &At, defined: &mut Vec<Value>) -> Result<()> {
        for &v in values {
            let (Some(ty), Some(scope)) = (self.ty(v), self.scope.get_mut(v.index())) else {
                return self.fail(at, unknown(v));
            };
            if *scope != Scope::Undefined {
                return self.fail(at, format!("{} is defined twice", self.name(v)));
            }
            *scope = Scope::Visible;
            defined.push(v);
            if let Err(m) = check_shape(&ty.shape) {
                return self.fail(at, format!("{} cannot have type {ty}: {m}", self.name(v)));
            }
            self.check_dims(&ty.shape, at)?;
        }
        Ok(())
    }
    fn check_uses(&self, values: &[Value], at: &At) -> Result<()> {
        for &v in values {
            match self.scope.get(v.index()) {
                Some(Scope::Visible) => {}
                Some(Scope::Undefined) => {
                    return self.fail(at, format!("{} is used before it is defined", self.name(v)));
                }
                Some(Scope::Gone) => {
                    let remedy = "give it as a result of the region";
                    let op = OpError::new(at.op, format!("{} is out of scope: its region has ended", self.name(v)));
                    return Err(error(self.f, at.index, op.remedy(remedy).at(at.loc)));
                }
                None => return self.fail(at, unknown(v)),
            }
        }
        Ok(())
    }
    /// The symbols must be the function's.
    fn check_dims(&mut self, dims: &[Dim], at: &At) -> Result<()> {
        for &d in dims {
            if d.is_const() || !self.sound.insert(d) {
                continue;
            }
            let mut symbols = vec![];
            d.symbols(&mut symbols);
            if let Some(s) = symbols.iter().find(|s| !self.symbols.contains(s)) {
                let message = format!("the extent {d} needs {s}, which no argument of the function has");
                let op = OpError::new(at.op, message).remedy(format!("pass a value with an axis of extent {s}"));
                return Err(error(self.f, at.index, op.at(at.loc)));
            }
        }
        Ok(())
    }

    /// Checks a region; `end` is what its last line is called. What it defines is gone afterwards.
    fn region(&mut self, r: &'m Region, depth: usize, defined: &mut Vec<Value>, end: &str) -> Result<()> {
        let start = defined.len();
        self.deepest = self.deepest.max(depth);
        let at = At { index: None, op: if depth == 0 { "func" } else { "region" }, loc: None };
        self.define(&r.args, &at, defined)?;
        for op in &r.ops {
            self.op(op, depth, defined)?;
        }
        self.check_uses(&r.results, &At { index: None, op: end, loc: None })?;
        for v in defined.drain(start..) {
            if let Some(s) = self.scope.get_mut(v.index()) {
                *s = Scope::Gone;
            }
        }
        Ok(())
    }

    fn op(&mut self, op: &'m Op, depth: usize, defined: &mut Vec<Value>) -> Result<()> {
        let index = self.index;
        self.index += 1;
        let (stem, kind) = op.prim.name_parts();
        let long;
        let name = if kind.is_empty() {
            stem
        } else {
            long = format!("{stem}{kind}");
            &long
        };
        let at = At { index: Some(index), op: name, loc: op.loc };
        self.check_uses(&op.operands, &at)?;
        self.check_attributes(&op.prim, &at)?;
        if !op.regions.is_empty() && depth >= MAX_REGION_DEPTH {
            return self.fail(&at, format!("regions nest deeper than {MAX_REGION_DEPTH}"));
        }
        let mut signatures = vec![];
        for r in &op.regions {
            self.region(r, depth + 1, defined, "yield").map_err(|e| attribute_to(e, &at))?;
            signatures.push(self.signature(r));
        }
        if let Prim::Call { callee, .. } = &op.prim {
            if !op.regions.is_empty() {
                return self.fail(&at, "a call has no regions".into());
            }
            let target = self.function(callee, &at)?;
            for rule in op.prim.functions().into_iter().skip(1) {
                self.function(rule, &at)?;
            }
            if let Err(m) = rules::check(&op.prim, |f| self.module.funcs.get(*self.functions.get(f.0.as_str())?)) {
                return self.fail(&at, m);
            }
            self.calls.push(Call { callee: target, depth, index, loc: op.loc });
            if let Some(f) = self.module.funcs.get(target) {
                signatures = vec![RegionType { args: f.inputs(), results: f.outputs() }];
            }
        }
        let operands: smallvec::SmallVec<[&TensorType; 4]> = op.operands.iter().filter_map(|&v| self.ty(v)).collect();
        let types = infer(&op.prim, &operands, &signatures).map_err(|e| error(self.f, Some(index), e.at(op.loc)))?;
        if types.len() != op.results.len() {
            return self.fail(&at, format!("it gives {} results, {} are named", types.len(), op.results.len()));
        }
        for (i, (&v, want)) in op.results.iter().zip(&types).enumerate() {
            if let Some(got) = self.ty(v)
                && !same(got, want)
            {
                return self.fail(&at, format!("result {i} has type {want}, it is declared as {got}"));
            }
        }
        self.define(&op.results, &at, defined)
    }

    /// The signature of a region that has been checked.
    fn signature(&self, r: &Region) -> RegionType {
        let types = |list: &[Value]| list.iter().filter_map(|&v| self.ty(v)).cloned().collect();
        RegionType { args: types(&r.args), results: types(&r.results) }
    }
    fn function(&self, f: &FuncRef, at: &At) -> Result<usize> {
        match self.functions.get(f.0.as_str()) {
            Some(&i) => Ok(i),
            None => self.fail(at, format!("there is no function @{} in the module", f.0)),
        }
    }
    fn check_attributes(&mut self, prim: &Prim, at: &At) -> Result<()> {
        let mut dims = vec![];
        if may_hold_dims(prim) {
            prim.clone().map_dims(&mut |d| {
                dims.push(d);
                d
            });
        }
        self.check_dims(&dims, at)
    }
}

/// The cheap part of the question whether an op's attributes hold extents: element-wise ops are most of a program.
fn may_hold_dims(prim: &Prim) -> bool {
    !matches!(prim, Prim::Unary(_) | Prim::Binary(_) | Prim::Compare { .. } | Prim::Select {} | Prim::Dot { .. })
}

/// An error of a region itself, not of an op inside, stands at the op that has the region.
fn attribute_to(e: evoxc_core::Error, at: &At) -> evoxc_core::Error {
    match e {
        evoxc_core::Error::Ir(mut e) if e.index.is_none() => {
            e.index = at.index;
            e.op = OpError { op: at.op.into(), message: format!("{}: {}", e.op.op, e.op.message), ..e.op }.at(at.loc);
            e.into()
        }
        other => other,
    }
}
