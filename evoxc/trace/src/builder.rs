//! The builder: a stack of traces per thread, each growing one function op by op.
//!
//! A [`Sym`] is an id into the trace on this thread that made it. Errors are collected, not thrown: what fails gives a
//! poisoned `Sym`, and follow-on errors are suppressed.

use crate::{Sym, prune};
use evoxc_core::{Loc, OpError, TensorSpec, TransformError};
use evoxc_ir::{
    Func, Literal, MAX_REGION_DEPTH, Name, Op, Prim, Region, RegionType, TensorType, Value, ValueInfo, infer,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::panic::Location;

/// Errors collected before a trace is given up: enough to see the pattern.
const MAX_ERRORS: usize = 50;

/// What is wrong with a `Sym` of a trace that is closed.
const FOREIGN: &str =
    "not a value of this trace: it belongs to a trace that has ended; pass values between graphs as inputs and outputs";

/// What is wrong with a `Sym` of a region that is closed.
const ENDED: &str =
    "it was made inside a branch, a loop body or a transformed function, which has ended; give it back as a result";

/// The payload of the unwind that ends a trace which cannot go on; caught by `trace`, unknown to the panic hook.
pub(crate) struct Abort;

/// One function under construction.
pub(crate) struct Trace {
    pub id: u32,
    /// Where `trace` was called.
    pub entry: Loc,
    pub func: Func,
    /// The regions that are open, innermost last, each with its id; the first is the function's body.
    open: Vec<(u32, Region)>,
    /// The region that each value belongs to.
    region_of: Vec<u32>,
    next_region: u32,
    pub errors: Vec<OpError>,
    pub statics: Vec<(String, String)>,
    pub notes: Vec<String>,
    /// Values of enclosing traces used here, each an extra argument.
    pub captures: Vec<(Sym, Value)>,
    captured: FxHashMap<(u32, u32), Value>,
    /// The constants of one repeated value.
    splats: FxHashMap<Value, Literal>,
    /// Functions that `call` ops refer to.
    pub callees: Vec<Func>,
    /// Where they stand, by name.
    index: FxHashMap<String, usize>,
    /// For each name that was asked for, how many functions have got one like it.
    named: FxHashMap<String, usize>,
    /// Are there values that stand nowhere, left over by transforms?
    pub leftovers: bool,
    /// What transforms refused.
    pub refused: Vec<TransformError>,
}

thread_local! {
    static TRACES: RefCell<Vec<Trace>> = const { RefCell::new(Vec::new()) };
    static NEXT_ID: Cell<u32> = const { Cell::new(0) };
    static PINNED: Cell<Option<Loc>> = const { Cell::new(None) };
}

/// Pops the trace it stands for when dropped, so that a panic in the user's function leaves no builder behind.
pub(crate) struct Guard {
    depth: usize,
}

impl Guard {
    /// Opens a trace.
    #[track_caller]
    pub fn open() -> Guard {
        let entry = Loc::caller(Location::caller());
        crate::emitter::forget_call_site();
        // Ids of one thread never repeat, so a stale `Sym` is recognised; `Sym`s do not cross threads.
        let id = NEXT_ID.replace(NEXT_ID.get().wrapping_add(1));
        TRACES.with_borrow_mut(|t| {
            t.push(Trace {
                id,
                entry,
                func: Func::new("main"),
                open: vec![(0, Region::default())],
                region_of: vec![],
                next_region: 1,
                errors: vec![],
                statics: vec![],
                notes: vec![],
                captures: vec![],
                captured: FxHashMap::default(),
                splats: FxHashMap::default(),
                callees: vec![],
                index: FxHashMap::default(),
                named: FxHashMap::default(),
                leftovers: false,
                refused: vec![],
            });
            Guard { depth: t.len() }
        })
    }
    /// Takes the finished trace.
    pub fn finish(self) -> Option<Trace> {
        TRACES.with_borrow_mut(|t| if t.len() == self.depth { t.pop() } else { None })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        TRACES.with_borrow_mut(|t| t.truncate(self.depth - 1));
    }
}

/// Runs `f` on the innermost trace of this thread.
///
/// # Panics
/// Without one: there is nobody whom an error could be returned to.
#[track_caller]
pub(crate) fn with<R>(f: impl FnOnce(&mut Trace) -> R) -> R {
    let found = TRACES.with_borrow_mut(|t| t.last_mut().map(f));
    match found {
        Some(r) => r,
        None => panic!(
            "no graph is being traced on this thread: symbolic operations belong inside a function given to `trace`"
        ),
    }
}

/// Is a trace open on this thread?
pub(crate) fn is_tracing() -> bool {
    TRACES.with_borrow(|t| !t.is_empty())
}

/// Ends the trace: for questions that a poisoned value cannot answer.
pub(crate) fn abort() -> ! {
    if cfg!(panic = "abort") {
        with(|t| t.errors.iter().for_each(|e| eprintln!("{}", e.render())));
    }
    std::panic::resume_unwind(Box::new(Abort))
}

impl Trace {
    fn sym(&self, v: Value) -> Sym {
        Sym::new(v.0, self.id)
    }
    /// A new value of the innermost open region.
    fn value(&mut self, ty: TensorType, name: Option<Name>) -> Value {
        self.region_of.push(self.open.last().map_or(0, |r| r.0));
        self.func.value(ty, name)
    }
    /// A value of a region that is built elsewhere and closed already: no `Sym` may name it.
    pub fn inner_value(&mut self, ty: TensorType, name: Option<Name>) -> Value {
        self.region_of.push(u32::MAX);
        self.func.value(ty, name)
    }
    /// An argument of the function itself, whatever region is open.
    pub fn argument(&mut self, ty: TensorType, name: Option<Name>) -> Value {
        self.region_of.push(0);
        let v = self.func.value(ty, name);
        self.open[0].1.args.push(v);
        v
    }
    /// Records an error. What an op says of a foreign value is more than that there is one at that place.
    pub fn error(&mut self, e: OpError) {
        if e.message.contains("is not a value of this trace")
            && let Some(known) = self.errors.iter_mut().find(|k| k.loc == e.loc && k.message == FOREIGN)
        {
            *known = e;
            return;
        }
        if self.errors.contains(&e) {
            return;
        }
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(e);
        } else if self.errors.len() == MAX_ERRORS {
            self.errors.push(OpError::new("trace", format!("more than {MAX_ERRORS} errors; the rest is left out")));
        }
    }
    /// Records a static value, once.
    pub fn record_static(&mut self, name: &str, value: String) {
        let entry = (name.to_string(), value);
        if !self.statics.contains(&entry) {
            self.statics.push(entry);
        }
    }
    /// Appends an op whose types are known.
    pub fn push(
        &mut self,
        prim: Prim,
        operands: SmallVec<[Value; 3]>,
        types: &[TensorType],
        regions: Vec<Region>,
        loc: Option<Loc>,
    ) -> SmallVec<[Value; 1]> {
        let results: SmallVec<[Value; 1]> = types.iter().map(|t| self.value(t.clone(), None)).collect();
        if let (Prim::Constant { value }, Some(&v)) = (&prim, results.first())
            && value.tensor().rank() == 0
        {
            self.splats.insert(v, value.clone());
        }
        if let Some((_, region)) = self.open.last_mut() {
            region.ops.push(Op { prim, operands, results: results.clone(), regions, loc });
        }
        results
    }
    /// Ends the outermost region with these results.
    pub fn close(&mut self, results: Vec<Value>) -> Func {
        let mut func = std::mem::take(&mut self.func);
        func.body = self.open.swap_remove(0).1;
        func.body.results = results;
        if self.leftovers {
            func = renumber(&func.values, func.body)
        }
        func.name = "main".into();
        func
    }
    /// The literal of a constant that repeats one value.
    pub fn splat(&self, s: Sym) -> Option<&Literal> {
        if s.trace == self.id { self.splats.get(&Value(s.id)) } else { None }
    }
    /// The number of ops of the innermost open region.
    pub fn position(&self) -> usize {
        self.open.last().map_or(0, |r| r.1.ops.len())
    }
    /// Appends ops of a closed region to the innermost open one.
    pub fn adopt(&mut self, ops: Vec<Op>) {
        if let Some((id, region)) = self.open.last_mut() {
            for r in ops.iter().flat_map(|op| &op.results) {
                self.region_of[r.index()] = *id;
            }
            region.ops.extend(ops);
        }
    }
    /// Removes dead ops since `mark`; see `emitter::prune`.
    pub fn prune(&mut self, mark: usize, mut live: FxHashSet<Value>) {
        let Some((_, region)) = self.open.last_mut() else { return };
        let tail = region.ops.split_off(mark.min(region.ops.len()));
        region.ops.extend(prune::prune(tail, &mut live, &self.callees));
        self.leftovers = true;
    }
    /// Removes ops whose results are all in `values` and used nowhere; see `emitter::remove_unused`.
    pub fn remove_unused(&mut self, mut values: FxHashSet<Value>, live: &FxHashSet<Value>) {
        let Some((_, region)) = self.open.last_mut() else { return };
        fn used(r: &Region, values: &mut FxHashSet<Value>) {
            for op in &r.ops {
                op.operands.iter().for_each(|v| _ = values.remove(v));
                op.regions.iter().for_each(|r| used(r, values));
            }
            r.results.iter().for_each(|v| _ = values.remove(v));
        }
        used(region, &mut values);
        values.retain(|v| !live.contains(v));
        let before = region.ops.len();
        region.ops.retain(|op| op.results.is_empty() || !op.results.iter().all(|v| values.contains(v)));
        self.leftovers |= region.ops.len() != before;
    }
    /// A closed region as a function: its arguments, then what it uses from around it, which is returned.
    pub fn outline(&mut self, mut region: Region) -> (Func, Vec<Value>) {
        self.leftovers = true;
        let mut inside: FxHashSet<Value> = region.args.iter().copied().collect();
        let mut captures = vec![];
        free(&region, &mut inside, &mut captures);
        region.args.extend(&captures);
        (renumber(&self.func.values, region), captures)
    }
    /// Adds a function that `call` ops refer to.
    pub fn add_callee(&mut self, f: Func) {
        self.index.insert(f.name.clone(), self.callees.len());
        self.callees.push(f);
    }
    /// A function that `call` ops refer to.
    pub fn callee(&self, name: &str) -> Option<&Func> {
        self.callees.get(*self.index.get(name)?)
    }
    /// A name that no function of the module has: this one, or with a number after it.
    pub fn unique(&mut self, name: &str) -> String {
        let mut n = self.named.get(name).copied().unwrap_or_default();
        loop {
            let unique = if n == 0 { name.to_string() } else { format!("{name}_{n}") };
            n += 1;
            if unique != "main" && !self.named.contains_key(&unique) {
                self.named.insert(name.to_string(), n);
                self.named.entry(unique.clone()).or_insert(1);
                return unique;
            }
        }
    }
    /// Records what a transform refuses, once.
    pub fn refuse(&mut self, transform: &str, op: OpError) {
        let e = TransformError { transform: transform.into(), op };
        if self.refused.len() < MAX_ERRORS && !self.refused.contains(&e) {
            self.refused.push(e);
        }
    }
    fn visible(&self, v: u32) -> bool {
        self.region_of.get(v as usize).is_some_and(|r| self.open.iter().rev().any(|(id, _)| id == r))
    }
}

/// Adds the values that a region uses and that are not made in it, each once, in order of use.
pub(crate) fn free(region: &Region, inside: &mut FxHashSet<Value>, out: &mut Vec<Value>) {
    let mut seen: FxHashSet<Value> = out.iter().copied().collect();
    fn walk(r: &Region, inside: &mut FxHashSet<Value>, seen: &mut FxHashSet<Value>, out: &mut Vec<Value>) {
        inside.extend(r.args.iter().copied());
        for op in &r.ops {
            out.extend(op.operands.iter().filter(|v| !inside.contains(v) && seen.insert(**v)));
            op.regions.iter().for_each(|r| walk(r, inside, seen, out));
            inside.extend(op.results.iter().copied());
        }
        out.extend(r.results.iter().filter(|v| !inside.contains(v) && seen.insert(**v)));
    }
    walk(region, inside, &mut seen, out);
}

/// A function of a region without captures, its values numbered anew in order.
fn renumber(values: &[ValueInfo], mut body: Region) -> Func {
    fn define(v: &mut Value, old: &[ValueInfo], f: &mut Func, map: &mut FxHashMap<Value, Value>) {
        let info = &old[v.index()];
        let new = f.value(info.ty.clone(), info.name.clone());
        map.insert(*v, new);
        *v = new;
    }
    fn walk(r: &mut Region, old: &[ValueInfo], f: &mut Func, map: &mut FxHashMap<Value, Value>) {
        r.args.iter_mut().for_each(|v| define(v, old, f, map));
        for op in &mut r.ops {
            op.operands.iter_mut().for_each(|v| *v = map.get(v).copied().unwrap_or(*v));
            op.regions.iter_mut().for_each(|r| walk(r, old, f, map));
            op.results.iter_mut().for_each(|v| define(v, old, f, map));
        }
        r.results.iter_mut().for_each(|v| *v = map.get(v).copied().unwrap_or(*v));
    }
    let mut func = Func::new("");
    walk(&mut body, values, &mut func, &mut FxHashMap::default());
    func.body = body;
    func
}

/// What became of a `Sym` on its way to being an operand.
pub(crate) enum Resolved {
    /// A value of the innermost trace.
    Value(Value),
    /// It stands for an error that is already recorded.
    Poisoned,
    /// It belongs to no trace that is open here.
    Foreign(&'static str),
}

/// Resolves a `Sym` in the innermost trace; one of an enclosing trace becomes an extra input.
fn resolve(traces: &mut [Trace], s: Sym) -> Resolved {
    let Some((here, outer)) = traces.split_last_mut() else { return Resolved::Foreign("no trace is open") };
    if s.is_poison() {
        return Resolved::Poisoned;
    }
    if s.trace == here.id {
        return if here.visible(s.id) { Resolved::Value(Value(s.id)) } else { Resolved::Foreign(ENDED) };
    }
    if let Some(&v) = here.captured.get(&(s.trace, s.id)) {
        return Resolved::Value(v);
    }
    let Some(owner) = outer.iter().find(|t| t.id == s.trace) else {
        return Resolved::Foreign(
            "it belongs to a trace that has ended; pass values between graphs as inputs and outputs",
        );
    };
    if !owner.visible(s.id) {
        return Resolved::Foreign(ENDED);
    }
    let info = owner.func.values[s.id as usize].clone();
    let v = here.argument(info.ty, info.name);
    here.captures.push((s, v));
    here.captured.insert((s.trace, s.id), v);
    Resolved::Value(v)
}

/// Resolves operands; `None` (with the error recorded) when one is poisoned or foreign.
#[track_caller]
pub(crate) fn resolve_all(op: &str, operands: &[Sym], loc: Option<Loc>) -> Option<SmallVec<[Value; 3]>> {
    with(|_| ()); // panics where the user is, if there is no trace
    TRACES.with_borrow_mut(|traces| {
        let mut out = SmallVec::with_capacity(operands.len());
        let mut poisoned = false;
        for (i, &s) in operands.iter().enumerate() {
            match resolve(traces, s) {
                Resolved::Value(v) => out.push(v),
                Resolved::Poisoned => poisoned = true,
                Resolved::Foreign(why) => {
                    poisoned = true;
                    let e = OpError::new(op, format!("operand {i} is not a value of this trace: {why}")).at(loc);
                    if let Some(t) = traces.last_mut() {
                        t.error(e);
                    }
                }
            }
        }
        (!poisoned).then_some(out)
    })
}

/// The location that ops get: the pinned one, else the caller's.
#[track_caller]
pub(crate) fn here() -> Option<Loc> {
    // No closure here: it would be the caller.
    match PINNED.get() {
        Some(l) => Some(l),
        None => Some(Loc::caller(Location::caller())),
    }
}

/// Gives all ops the location of the caller until the guard is dropped: for composites whose ops are emitted inside
/// closures, which `#[track_caller]` does not see through. Must not be held while the user's code runs.
#[track_caller]
pub(crate) fn pin() -> Pin {
    Pin { before: PINNED.replace(here()) }
}

/// Gives all ops this location until the guard is dropped; without one, the location that they have anyway.
pub(crate) fn pin_at(loc: Option<Loc>) -> Pin {
    let before = PINNED.get();
    PINNED.set(loc.or(before));
    Pin { before }
}

/// See [`pin`].
pub struct Pin {
    before: Option<Loc>,
}

impl Drop for Pin {
    fn drop(&mut self) {
        PINNED.set(self.before);
    }
}

/// Emits an op; `None` (with the error recorded) when an operand is poisoned or a rule is broken.
#[track_caller]
pub(crate) fn emit_regions(prim: Prim, operands: &[Sym], regions: Vec<Region>) -> Option<SmallVec<[Sym; 1]>> {
    let loc = here();
    let values = resolve_all(prim.name_parts().0, operands, loc)?;
    with(|t| {
        let inferred = {
            let func = &t.func;
            let types: SmallVec<[&TensorType; 4]> = values.iter().map(|&v| func.ty(v)).collect();
            let of = |vs: &[Value]| vs.iter().map(|&v| func.ty(v).clone()).collect();
            let mut region_types: SmallVec<[RegionType; 2]> =
                regions.iter().map(|r| RegionType { args: of(&r.args), results: of(&r.results) }).collect();
            if let Prim::Call { callee, .. } = &prim
                && let Some(f) = t.callee(&callee.0)
            {
                region_types.push(RegionType { args: f.inputs(), results: f.outputs() });
            }
            infer(&prim, &types, &region_types)
        };
        match inferred {
            Ok(types) => {
                let results = t.push(prim, values, &types, regions, loc);
                Some(results.iter().map(|&v| t.sym(v)).collect())
            }
            Err(e) => {
                t.error(e.at(loc));
                None
            }
        }
    })
}

/// Emits an op of one result, which is poisoned on error.
#[track_caller]
pub(crate) fn emit(prim: Prim, operands: &[Sym]) -> Sym {
    emit_regions(prim, operands, vec![]).and_then(|r| r.first().copied()).unwrap_or(Sym::POISON)
}

/// Emits an op of `N` results, all poisoned on error.
#[track_caller]
pub(crate) fn emit_many<const N: usize>(prim: Prim, operands: &[Sym]) -> [Sym; N] {
    emit_regions(prim, operands, vec![])
        .and_then(|r| <[Sym; N]>::try_from(r.as_slice()).ok())
        .unwrap_or([Sym::POISON; N])
}

/// For functions of your own that check what they are given: records an error of `op` at the caller, with the operands'
/// types, and gives a value that stands for the missing one. The trace goes on, and ends with all its errors.
///
/// ```
/// use evoxc::prelude::*;
/// #[track_caller]
/// fn halves(x: Sym) -> (Sym, Sym) {
///     match x.dim(0).get() {
///         Some(n) if n % 2 == 0 => (x.slice(s![..n / 2]), x.slice(s![n / 2..])),
///         _ => {
///             let no = evoxc::fail("halves", &[x], "the first extent is not even", Some("pad it by one".into()));
///             (no, no)
///         }
///     }
/// }
/// let e = trace(|x: Sym| halves(x), spec(F32, [3])).unwrap_err();
/// assert!(e.to_string().contains("halves: the first extent is not even (tensor<3xf32>); pad it by one"));
/// ```
#[track_caller]
pub fn fail(op: &str, operands: &[Sym], message: impl Into<String>, remedy: Option<String>) -> Sym {
    let types: Vec<String> = operands.iter().filter_map(|&s| type_of(s)).map(|t| t.to_string()).collect();
    if operands.iter().any(|s| s.is_poison()) {
        return Sym::POISON;
    }
    fail_beside(op, types, message.into(), remedy)
}

/// [`fail`] beside operands of these types.
#[track_caller]
pub(crate) fn fail_beside(op: &str, operands: Vec<String>, message: String, remedy: Option<String>) -> Sym {
    let loc = here();
    with(|t| t.error(OpError { op: op.into(), operands, message, remedy, loc }));
    Sym::POISON
}

/// Opens a region with arguments of these types.
#[track_caller]
pub(crate) fn open_region(args: &[TensorType]) -> Vec<Sym> {
    let too_deep = with(|t| {
        let id = t.next_region;
        t.next_region += 1;
        t.open.push((id, Region::default()));
        let syms: Vec<Value> = args.iter().map(|a| t.value(a.clone(), None)).collect();
        if let Some((_, r)) = t.open.last_mut() {
            r.args = syms.clone();
        }
        let out: Vec<Sym> = syms.into_iter().map(|v| t.sym(v)).collect();
        (t.open.len() > MAX_REGION_DEPTH, out)
    });
    if too_deep.0 {
        let e = OpError::new("region", format!("control flow nests deeper than {MAX_REGION_DEPTH}"))
            .remedy("nest fewer loops and branches; in reverse mode each counts twice, and every transform as one more")
            .at(here());
        with(|t| t.error(e));
        abort();
    }
    too_deep.1
}

/// Closes the innermost region with these results; `None` when one of them is an error.
#[track_caller]
pub(crate) fn close_region(op: &str, results: &[Sym]) -> Option<Region> {
    let values = resolve_all(op, results, here());
    with(|t| {
        let mut region =
            if t.open.len() > 1 { t.open.pop().map(|r| r.1).unwrap_or_default() } else { Region::default() };
        region.results = values?.to_vec();
        Some(region)
    })
}

/// The type of a live `Sym`: of this trace or an enclosing one.
pub(crate) fn type_of(s: Sym) -> Option<TensorSpec> {
    if s.is_poison() {
        return None;
    }
    TRACES.with_borrow(|t| {
        let t = t.iter().rev().find(|t| t.id == s.trace)?;
        t.func.values.get(s.id as usize).map(|v| v.ty.clone())
    })
}

/// Runs `f` on the type of a `Sym` without cloning it; of one that belongs to no open trace, records that.
#[track_caller]
pub(crate) fn with_type<R>(s: Sym, f: impl FnOnce(&TensorSpec) -> R) -> Option<R> {
    if s.is_poison() {
        return None;
    }
    let found = TRACES.with_borrow(|t| {
        let t = t.iter().rev().find(|t| t.id == s.trace)?;
        t.func.values.get(s.id as usize).map(|v| f(&v.ty))
    });
    if found.is_none() {
        fail("operand", &[], FOREIGN, None);
    }
    found
}

/// Names a value of the innermost trace, unless it has a name.
pub(crate) fn set_name(s: Sym, name: &str) {
    if s.is_poison() || !is_tracing() {
        return;
    }
    with(|t| {
        if t.id == s.trace
            && let Some(info) = t.func.values.get_mut(s.id as usize)
            && info.name.is_none()
        {
            info.name = Some(name.into());
        }
    });
}

/// Records a static value of the program.
pub(crate) fn record_static_value(name: &str, value: String) {
    if is_tracing() {
        with(|t| t.record_static(name, value));
    }
}
