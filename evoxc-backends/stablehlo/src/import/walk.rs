//! The walk over functions, regions and ops: values of the text to values of the graph.

use super::fault::{Done, Fault, Source};
use super::item::{Frame, Item, Known, leaves};
use super::options::{CheckSite, ImportOptions, ParallelSite};
use super::table::{Rule, rule};
use super::{extents, known};
use crate::syntax::ast::{Func, Module, Op, Region, Value};
use evoxc_core::{DType, Dim, Loc, Shape, TensorSpec, Unsupported};
use evoxc_ir::{FuncRef, MAX_REGION_DEPTH, Prim};
use evoxc_trace::{Sym, emitter};
use rustc_hash::{FxHashMap, FxHashSet};

/// Ops that inlined calls may add in all: calls of calls multiply.
const MAX_INLINED: usize = 1 << 17;

/// A function of more ops does more than compute an extent.
const MAX_SHAPE_OPS: usize = 64;

/// Regions and inlined calls nest at most this deep.
pub(super) const MAX_DEPTH: usize = MAX_REGION_DEPTH - 10;

/// What a test program asks of a runner, and the values for it.
#[derive(Default)]
pub(super) struct Records {
    pub checks: Vec<CheckSite>,
    pub parallel: Vec<ParallelSite>,
    /// Outputs beside the function's own.
    pub outputs: Vec<Sym>,
    /// Inputs beside the function's own, and how many are taken.
    pub inputs: Vec<Sym>,
    pub taken: usize,
    /// Probed values by their id, in order.
    pub probes: FxHashMap<String, Vec<Sym>>,
    /// Constants that became part of an op, as the start of a named reduction does.
    pub absorbed: Vec<Sym>,
    /// The coefficients of reflectors that `geqrf` gave, by function and value, and the orthogonal matrices that they
    /// stand for.
    pub reflectors: Vec<(String, Value, Sym)>,
    /// The probes of the loop that is walked.
    pub looped: Option<Looped>,
}

/// Probes inside a loop: what they see is part of the loop's state.
pub(super) struct Looped {
    /// The number of open regions inside the loop's body.
    pub regions: usize,
    /// The number of the iteration.
    pub counter: Sym,
    /// For each probe its id, and the values that it has seen, along a first axis.
    pub seen: Vec<(String, Sym)>,
}

/// An import under way; one trace is open.
pub(super) struct Importer<'m, 'a> {
    pub module: &'m Module<'a>,
    pub source: &'m Source<'m>,
    pub options: &'m ImportOptions,
    pub index: &'m FxHashMap<&'m str, usize>,
    pub outlined: FxHashMap<usize, FuncRef>,
    pub frames: Vec<Frame<'m, 'a>>,
    /// Regions and inlined calls that are open.
    pub depth: usize,
    /// Open regions of the graph.
    pub regions: usize,
    pub inlined: usize,
    /// How many of the function's own outputs come before those of the records.
    pub results: usize,
    pub arguments: usize,
    /// Symbols that became extents.
    pub used: FxHashSet<Dim>,
    pub records: Records,
}

impl<'m, 'a> Importer<'m, 'a> {
    /// A program that is wrong at an op.
    pub fn error(&self, op: &Op, message: impl Into<String>) -> Box<Fault> {
        Box::new(Fault::Error(self.source.error(op.at, None, &op.name, message, None)))
    }
    /// What evoxc leaves out, at an op.
    pub fn unsupported(
        &self,
        op: &Op,
        kind: Unsupported,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Box<Fault> {
        Box::new(Fault::Error(self.source.error(op.at, Some(kind), &op.name, message, Some(remedy.into()))))
    }
    /// An error that the trace has recorded.
    pub fn recorded(&self, op: &Op) -> Box<Fault> {
        Box::new(Fault::Recorded(op.at, op.name.to_string()))
    }

    /// The function that is walked.
    fn frame(&mut self, op: &Op) -> Done<&mut Frame<'m, 'a>> {
        match self.frames.len().checked_sub(1) {
            Some(last) => Ok(&mut self.frames[last]),
            None => Err(self.error(op, "it stands outside of a function")),
        }
    }
    /// What a value is.
    pub fn item(&self, op: &Op, v: Value) -> Done<&Item> {
        let item = self.frames.last().and_then(|f| f.values.get(v.0 as usize)).unwrap_or(&Item::Unset);
        match item {
            Item::Unset => Err(self.error(op, format!("%{} is not defined here", self.name(v)))),
            item => Ok(item),
        }
    }
    /// The name of a value in the text.
    fn name(&self, v: Value) -> &str {
        let info = self.frames.last().and_then(|f| f.func.values.get(v.0 as usize));
        info.map_or("?", |i| &i.name)
    }
    /// A tensor.
    pub fn sym(&self, op: &Op, v: Value) -> Done<Sym> {
        match self.item(op, v)? {
            Item::Tensor(s, _) => Ok(*s),
            Item::Unset | Item::Token | Item::Tuple(_) => {
                Err(self.error(op, format!("%{} is no tensor", self.name(v))))
            }
        }
    }
    /// The elements of a small tensor, as far as they are known.
    pub fn known(&self, v: Value) -> Option<Known> {
        match self.frames.last()?.values.get(v.0 as usize)? {
            Item::Tensor(_, known) => known.clone(),
            Item::Unset | Item::Token | Item::Tuple(_) => None,
        }
    }
    /// The op that defines a value, of those that [`known::is_step`] names.
    pub fn defined(&self, v: Value) -> Option<&'m Op<'a>> {
        self.frames.last()?.defined.get(&v.0).copied()
    }
    /// All operands that are tensors; tokens are left out.
    pub fn tensors(&self, op: &Op) -> Done<Vec<Sym>> {
        let mut out = Vec::with_capacity(op.operands.len());
        for &v in &op.operands {
            match self.item(op, v)? {
                Item::Token => {}
                _ => out.push(self.sym(op, v)?),
            }
        }
        Ok(out)
    }
    /// Exactly `N` operands, all tensors.
    pub fn operands<const N: usize>(&self, op: &Op) -> Done<[Sym; N]> {
        let all = self.tensors(op)?;
        let n = all.len();
        all.try_into().map_err(|_| self.error(op, format!("it takes {N} operands, got {n}")))
    }
    /// The type of a value of the graph.
    pub fn ty(&self, op: &Op, s: Sym) -> Done<TensorSpec> {
        emitter::type_of(s).ok_or_else(|| self.recorded(op))
    }
    pub fn shape(&self, op: &Op, s: Sym) -> Done<Shape> {
        Ok(self.ty(op, s)?.shape)
    }
    pub fn dtype(&self, op: &Op, s: Sym) -> Done<DType> {
        Ok(self.ty(op, s)?.dtype)
    }
    /// The value, unless an error of it is recorded.
    pub fn sound(&self, op: &Op, s: Sym) -> Done<Sym> {
        self.ty(op, s).map(|_| s)
    }

    /// Appends an op of one result.
    pub fn emit(&self, op: &Op, prim: Prim, operands: &[Sym]) -> Done<Sym> {
        self.equalise(op, &prim, operands)?;
        self.sound(op, emitter::emit(prim, operands))
    }
    /// Appends an op with regions.
    pub fn emit_regions(
        &self,
        op: &Op,
        prim: Prim,
        operands: &[Sym],
        regions: Vec<evoxc_ir::Region>,
    ) -> Done<Vec<Sym>> {
        self.equalise(op, &prim, operands)?;
        match emitter::emit_regions(prim, operands, regions) {
            Some(results) => Ok(results.to_vec()),
            None => Err(self.recorded(op)),
        }
    }
    /// Asks for the equations that an op needs.
    fn equalise(&self, op: &Op, prim: &Prim, operands: &[Sym]) -> Done<()> {
        let mut types = Vec::with_capacity(operands.len());
        let mut symbolic = false;
        for &s in operands {
            let t = self.ty(op, s)?;
            symbolic |= !t.shape.is_static();
            types.push(t);
        }
        let target = match prim {
            Prim::Reshape { shape } | Prim::BroadcastInDim { shape, .. } => !shape.is_static(),
            _ => false,
        };
        if !symbolic && !target {
            return Ok(());
        }
        extents::equal(prim, &types).into_iter().try_for_each(|(a, b)| self.unify(op, a, b))
    }
    /// Asks that two extents are the same.
    pub fn unify(&self, op: &Op, a: Dim, b: Dim) -> Done<()> {
        if a == b || (a.is_const() && b.is_const()) {
            return Ok(());
        }
        Err(Box::new(Fault::Equal(a, b, op.at, op.name.to_string())))
    }
    /// Asks that two shapes are the same, where they have the same rank.
    pub fn unify_shapes(&self, op: &Op, a: &[Dim], b: &[Dim]) -> Done<()> {
        if a.len() != b.len() {
            return Ok(());
        }
        a.iter().zip(b).try_for_each(|(&a, &b)| self.unify(op, a, b))
    }

    /// The place of an op: its own, else that in the text.
    fn place(&self, op: &Op) -> Loc {
        match &op.loc {
            Some(l) => Loc::new(&l.file, l.line, l.column),
            None => {
                let (line, column) = self.source.place(op.at);
                let file = self.options.file.as_deref().unwrap_or("<stablehlo>");
                Loc::new(file, u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
            }
        }
    }

    /// Walks the ops of a region whose arguments are bound; gives what its terminator gives.
    pub fn body(&mut self, region: &'m Region<'a>, owner: &Op) -> Done<Vec<Item>> {
        let Some((last, ops)) = region.ops.split_last() else {
            return Err(self.error(owner, "a region is empty: it ends in `return`"));
        };
        if !matches!(&*last.name, "stablehlo.return" | "func.return" | "return" | "chlo.return" | "mhlo.return") {
            return Err(self.error(last, "a region ends in `return`, not in this op"));
        }
        for op in ops {
            self.op(op)?;
        }
        last.operands.iter().map(|&v| self.item(last, v).cloned()).collect()
    }

    /// Walks one op and binds its results.
    fn op(&mut self, op: &'m Op<'a>) -> Done<()> {
        let _at = emitter::at(Some(self.place(op)));
        if self.frames.len() > 1 {
            self.inlined += 1;
            if self.inlined > MAX_INLINED {
                let m = format!("calls whose shapes depend on their arguments would be copied into {MAX_INLINED} ops");
                return Err(self.unsupported(op, Unsupported::Op, m, "give the functions static types"));
            }
        }
        self.supported(op)?;
        let items = match rule(&op.name) {
            Some(Rule::Unary(u)) => {
                let [x] = self.operands(op)?;
                vec![self.emit(op, Prim::Unary(u), &[x])?.into()]
            }
            Some(Rule::Binary(b)) => {
                let [x, y] = self.operands(op)?;
                let [x, y] = self.lifted(op, [x, y])?;
                vec![self.emit(op, Prim::Binary(b), &[x, y])?.into()]
            }
            Some(Rule::Broadcast(b)) => {
                let both = super::rules::chlo::together(self, op)?;
                vec![self.emit(op, Prim::Binary(b), &both)?.into()]
            }
            Some(Rule::Apply(f)) => f(self, op)?,
            Some(Rule::Refuse(kind, why, remedy)) => return Err(self.unsupported(op, kind, why, remedy)),
            None => {
                let m = "it is no op of StableHLO or CHLO that this import knows";
                let remedy = match op.name.split_once('.') {
                    Some(("sdy", _)) => {
                        "export one device's part of the program, or lower shardings to collectives before"
                    }
                    _ => "lower it to StableHLO before",
                };
                return Err(self.unsupported(op, Unsupported::Op, m, remedy));
            }
        };
        if let ([result], true) = (op.results.as_slice(), known::is_step(&op.name)) {
            self.frame(op)?.defined.insert(result.0, op);
        }
        self.bind(op, items)
    }

    /// Binds the results of an op, which must have the types that the text declares.
    fn bind(&mut self, op: &'m Op<'a>, items: Vec<Item>) -> Done<()> {
        if items.len() != op.results.len() {
            return Err(self.error(op, format!("it gives {} results, not {}", items.len(), op.results.len())));
        }
        for (i, (&v, mut item)) in op.results.iter().zip(items).enumerate() {
            if let Item::Tensor(s, found) = &mut item {
                let actual = self.ty(op, *s)?;
                if self.frames.last().is_none_or(|f| f.lift.is_none()) {
                    self.agrees(op, v, &actual)?;
                }
                if found.is_none() && i == 0 {
                    *found = known::evaluate(self, op, &actual);
                }
                let name = self.name(v);
                if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && !name.contains('#') {
                    emitter::set_name(*s, name);
                }
            }
            self.define(op, v, item)?;
        }
        Ok(())
    }
    /// Binds a value.
    pub fn define(&mut self, op: &Op, v: Value, item: Item) -> Done<()> {
        match self.frame(op)?.values.get_mut(v.0 as usize) {
            Some(slot) => {
                *slot = item;
                Ok(())
            }
            None => Err(self.error(op, "it defines a value that the function does not have")),
        }
    }

    /// Walks a region with these arguments into one of the graph.
    ///
    /// `args` are the types of the graph's region; `bind` makes the region's items of its values.
    pub fn region(
        &mut self,
        op: &Op,
        region: &'m Region<'a>,
        args: &[TensorSpec],
        bind: impl FnOnce(&mut Self, &[Sym]) -> Option<Vec<Item>>,
    ) -> Done<(Vec<Item>, evoxc_ir::Region)> {
        self.enter(op)?;
        let syms = emitter::open_region(args);
        self.regions += 1;
        let items = bind(self, &syms).unwrap_or_default();
        if items.len() != region.args.len() {
            let m = format!("a region takes {} arguments, not {}", items.len(), region.args.len());
            return Err(self.error(op, m));
        }
        for (&v, item) in region.args.iter().zip(items) {
            if let Item::Tensor(s, _) = &item {
                let actual = self.ty(op, *s)?;
                self.agrees(op, v, &actual)?;
            }
            self.define(op, v, item)?;
        }
        let results = self.body(region, op)?;
        let mut given = leaves(&results);
        given.append(&mut self.probed(op)?);
        self.drop_absorbed(&given);
        let closed = emitter::close_region(&op.name, &given).ok_or_else(|| self.recorded(op))?;
        self.regions -= 1;
        self.depth -= 1;
        Ok((results, closed))
    }
    /// One deeper.
    fn enter(&mut self, op: &Op) -> Done<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let m = format!("regions and calls nest deeper than {MAX_DEPTH}");
            return Err(self.unsupported(op, Unsupported::Op, m, "nest fewer loops, branches and calls"));
        }
        Ok(())
    }

    /// Removes the constants that became part of an op, unless others use them. The region is about to be closed with
    /// these results.
    pub fn drop_absorbed(&mut self, results: &[Sym]) {
        if !self.records.absorbed.is_empty() {
            emitter::remove_unused(&self.records.absorbed, results);
        }
    }
    /// Calls a function of the module.
    pub fn call(&mut self, op: &'m Op<'a>, name: &str, args: Vec<Item>) -> Done<Vec<Item>> {
        let Some(&i) = self.index.get(name) else {
            return Err(self.error(op, format!("the module has no function @{name}")));
        };
        let Some(func) = self.module.funcs.get(i) else { return Err(self.error(op, "no such function")) };
        if self.computes_shapes(func, &args) {
            return self.inlined(op, func, args);
        }
        let Some(f) = self.outlined.get(&i).cloned() else { return self.inlined(op, func, args) };
        let prim =
            Prim::Call { callee: f, jvp: None, forward: None, vjp: None, batch: None, captures: None, remat: false };
        let results = self.emit_regions(op, prim, &leaves(&args), vec![])?;
        let mut results = results.into_iter();
        let like: Vec<Item> = func.results.iter().map(Item::like).collect();
        let items: Option<Vec<Item>> = like.iter().map(|i| i.rebuild(&mut results)).collect();
        items.ok_or_else(|| self.error(op, format!("@{name} gives other results")))
    }
    /// Is this a call of a short function that computes extents of extents, as exporters write divisions of them? Where it
    /// is copied into its caller, its results are known there. What is copied stays well below the limits.
    fn computes_shapes(&self, func: &Func, args: &[Item]) -> bool {
        let symbol = |i: &Item| match i {
            Item::Tensor(_, Some(known)) => Some(known.iter().any(|d| !d.is_const())),
            Item::Tensor(_, None) | Item::Unset | Item::Token | Item::Tuple(_) => None,
        };
        let Some(symbols) = args.iter().map(symbol).collect::<Option<Vec<bool>>>() else { return false };
        let short = func.body.as_ref().is_some_and(|b| b.ops.len() <= MAX_SHAPE_OPS);
        short && self.inlined < MAX_INLINED / 2 && self.depth < MAX_DEPTH / 2 && symbols.contains(&true)
    }
    /// Copies a function into its caller.
    fn inlined(&mut self, op: &'m Op<'a>, func: &'m Func<'a>, args: Vec<Item>) -> Done<Vec<Item>> {
        let Some(body) = &func.body else {
            let m = format!("@{} is declared, but the module does not hold its body", func.name);
            return Err(self.unsupported(op, Unsupported::Op, m, "link the module that defines it"));
        };
        if self.frames.iter().any(|f| std::ptr::eq(f.func, func)) {
            return Err(self.error(op, format!("@{} calls itself", func.name)));
        }
        if body.args.len() != args.len() {
            let m = format!("@{} takes {} arguments, got {}", func.name, body.args.len(), args.len());
            return Err(self.error(op, m));
        }
        self.enter(op)?;
        self.frames.push(Frame::new(func));
        for (&v, item) in body.args.iter().zip(args) {
            if let Item::Tensor(s, _) = &item {
                let actual = self.ty(op, *s)?;
                self.agrees(op, v, &actual)?;
            }
            self.define(op, v, item)?;
        }
        let results = self.body(body, op)?;
        self.frames.pop();
        self.depth -= 1;
        Ok(results)
    }
    /// Makes a function of static types one of the graph's module; those that it calls are there already.
    pub fn outline(&mut self, i: usize, func: &'m Func<'a>, body: &'m Region<'a>, stand: &Op) -> Done<()> {
        let mut types = vec![];
        for &v in &body.args {
            self.argument_types(stand, func, v, &mut types)?;
        }
        self.frames.push(Frame::new(func));
        let like: Option<Vec<Item>> =
            body.args.iter().map(|v| func.values.get(v.0 as usize).map(|i| Item::like(&i.ty))).collect();
        let (_, region) = self.region(stand, body, &types, |_, syms| {
            let mut syms = syms.iter().copied();
            like?.iter().map(|i| i.rebuild(&mut syms)).collect()
        })?;
        self.frames.pop();
        for (&v, s) in body.args.iter().zip(&region.args) {
            if let Some(info) = func.values.get(v.0 as usize)
                && types.len() == body.args.len()
            {
                emitter::set_name(emitter::sym(*s), &info.name);
            }
        }
        let (name, captures) = emitter::outline(&func.name, region);
        if !captures.is_empty() {
            return Err(self.error(stand, format!("@{} uses values of another function", func.name)));
        }
        self.outlined.insert(i, name);
        Ok(())
    }
}
