//! What the transforms write graphs with: the open trace of this thread, op by op.
//!
//! A transform traces the function that it is given into a region, closes the region without using it, and walks its
//! ops, writing others in their place. All of that happens in one trace, so captured values need no care. Not for
//! programs: those use the methods of [`Sym`].

use crate::builder::{self, Pin};
use crate::{Graph, GraphFn, Sym, inline, trace_fn};
use evoxc_core::{Dim, Loc, OpError, Result, Tensor, Tree, TreeDef};
use evoxc_ir::{Func, FuncRef, Module, Op, Prim, Region, TensorType, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cell::Cell;

thread_local! {
    static CALL_SITE: Cell<Option<Loc>> = const { Cell::new(None) };
}

/// A value for which there is none: an error of it has been recorded.
pub fn poison() -> Sym {
    Sym::POISON
}

/// Emits an op of one result, which is poisoned (and the error recorded) when a type rule is broken.
#[track_caller]
pub fn emit(prim: Prim, operands: &[Sym]) -> Sym {
    builder::emit(prim, operands)
}

/// Emits an op with regions; `None` (and the error recorded) when a type rule is broken.
#[track_caller]
pub fn emit_regions(prim: Prim, operands: &[Sym], regions: Vec<Region>) -> Option<SmallVec<[Sym; 1]>> {
    builder::emit_regions(prim, operands, regions)
}

/// Opens a region with arguments of these types; what is emitted goes into it until [`close_region`].
#[track_caller]
pub fn open_region(args: &[TensorType]) -> Vec<Sym> {
    builder::open_region(args)
}

/// Closes the innermost region with these results; `None` when one of them is poisoned.
#[track_caller]
pub fn close_region(op: &str, results: &[Sym]) -> Option<Region> {
    builder::close_region(op, results)
}

/// The value that a `Sym` is in the innermost trace; `None` when it is poisoned.
#[track_caller]
pub fn value(s: Sym) -> Option<Value> {
    builder::resolve_all("transform", &[s], builder::here()).and_then(|v| v.first().copied())
}

/// The `Sym` of a value of the innermost trace.
pub fn sym(v: Value) -> Sym {
    builder::with(|t| Sym::new(v.0, t.id))
}

/// Gives a `Sym` the name of a value that it stands for, unless it has one.
pub fn name(s: Sym, of: Value) {
    let name = builder::with(|t| t.func.values[of.index()].name.clone());
    if let Some(name) = name {
        builder::set_name(s, &name);
    }
}

/// Gives a value a name, unless it has one.
pub fn set_name(s: Sym, name: &str) {
    builder::set_name(s, name);
}

/// The type of a value of the innermost trace, whatever region it is in.
pub fn ty(v: Value) -> TensorType {
    builder::with(|t| t.func.ty(v).clone())
}

/// The types of values, see [`ty`].
pub fn types(vs: &[Value]) -> Vec<TensorType> {
    builder::with(|t| vs.iter().map(|&v| t.func.ty(v).clone()).collect())
}

/// The type of a `Sym`; `None` when it is poisoned.
pub fn type_of(s: Sym) -> Option<TensorType> {
    builder::type_of(s)
}

/// The one value that a constant of the innermost trace repeats, a scalar tensor; `None` for any other value.
pub fn splat(s: Sym) -> Option<Tensor> {
    builder::with(|t| t.splat(s).map(|l| l.tensor().clone()))
}

/// Gives ops this location until the guard is dropped. Not to be held while the user's code runs.
#[must_use = "the location holds until this is dropped"]
pub fn at(loc: Option<Loc>) -> Pin {
    builder::pin_at(loc)
}

/// Remembers where `.call` of a transform was written, for [`call_site`].
#[track_caller]
pub fn called_here() {
    CALL_SITE.set(builder::here());
}

/// Forgets what [`called_here`] remembered: another trace begins.
pub(crate) fn forget_call_site() {
    CALL_SITE.set(None);
}

/// Where the transform that is applied was called: what [`called_here`] remembered, else where `trace` was called.
pub fn call_site() -> Option<Loc> {
    CALL_SITE.take().or_else(|| builder::with(|t| Some(t.entry)))
}

/// Traces a graph function into a region of the innermost trace with arguments of these types, and closes it. The
/// region stands nowhere: its ops are to be walked. `None` when one of its results is poisoned. `called` is where the
/// transform was called.
pub fn trace_region<F, A, M>(
    f: &F,
    args: &[TensorType],
    inputs: &TreeDef,
    called: Option<Loc>,
) -> (Option<Region>, TreeDef)
where
    A: Tree<Sym>,
    F: GraphFn<A, M>,
{
    let loc = builder::with(|t| t.entry);
    let args = builder::open_region(args);
    let out = match inputs.unflatten::<Sym, A>(args) {
        Ok(args) => {
            // A transform of a transform is called where the outer one is.
            CALL_SITE.set(called);
            let out = f.apply(args);
            CALL_SITE.set(None);
            out
        }
        Err(e) => {
            builder::with(|t| t.error(OpError::new("transform", e.to_string()).at(Some(loc))));
            builder::abort()
        }
    };
    let _at = at(Some(loc));
    let (leaves, outputs) = TreeDef::flatten(out);
    let region = builder::close_region("return", &leaves);
    builder::with(|t| t.leftovers = true);
    (region, outputs)
}

/// The position after the last op of the innermost open region, for [`prune`].
pub fn mark() -> usize {
    builder::with(|t| t.position())
}

/// Appends ops of a closed region to the innermost open one. Their results can be used from here on.
pub fn adopt(ops: Vec<Op>) {
    builder::with(|t| t.adopt(ops));
}

/// Removes the ops since `mark` that no later op and none of `live` needs, except those with effects.
pub fn prune(mark: usize, live: &[Sym]) {
    builder::with(|t| {
        let id = t.id;
        let live: FxHashSet<Value> = live.iter().filter(|s| s.trace == id).map(|s| Value(s.id)).collect();
        t.prune(mark, live);
    });
}

/// Removes the ops that make these values from the innermost open region, those that neither its other ops nor `live`
/// use. They are made without regions of their own, constants for instance.
pub fn remove_unused(values: &[Sym], live: &[Sym]) {
    builder::with(|t| {
        let id = t.id;
        let of =
            |all: &[Sym]| -> FxHashSet<Value> { all.iter().filter(|s| s.trace == id).map(|s| Value(s.id)).collect() };
        t.remove_unused(of(values), &of(live));
    });
}

/// Appends a copy of an op of a closed region, its operands (and what its regions use) replaced as `env` says; the
/// results are added to `env`. Values that `env` does not name stand for themselves.
///
/// # Errors
/// The type rule that is broken, when the new operands have other types.
pub fn replay(op: &Op, env: &mut FxHashMap<Value, Value>) -> Result<(), OpError> {
    inline::replay(op, env)
}

/// Appends the body of a function of this trace, on these arguments.
///
/// # Errors
/// The type rule that is broken.
pub fn inline_function(f: &Func, args: &[Sym]) -> Result<Vec<Sym>, OpError> {
    let loc = builder::here();
    match builder::resolve_all("call", args, loc) {
        Some(values) => inline::function(f, &values),
        None => Ok(vec![Sym::POISON; f.body.results.len()]),
    }
}

/// A function that `call` ops of this trace name.
pub fn function(name: &FuncRef) -> Option<Func> {
    builder::with(|t| t.callee(&name.0).cloned())
}

/// A copy of a function, and of those that it calls, with another extent in the place of a symbol.
pub fn specialize(name: &FuncRef, symbol: Dim, extent: Dim) -> Option<FuncRef> {
    inline::specialize(name, symbol, extent)
}

/// Makes a closed region a function of its own, called something like `name`: its arguments are those of the region,
/// then the values that it uses from around it, which are returned.
pub fn outline(name: &str, region: Region) -> (FuncRef, Vec<Sym>) {
    builder::with(|t| {
        let (func, captures) = t.outline(region);
        let unique = t.unique(name);
        t.add_callee(Func { name: unique.clone(), ..func });
        let id = t.id;
        (FuncRef(unique), captures.into_iter().map(|v| Sym::new(v.0, id)).collect())
    })
}

/// Records what a transform refuses: `trace` gives it as its [`TransformError`](evoxc_core::TransformError). Gives a
/// poisoned value.
pub fn refuse(transform: &str, e: OpError) -> Sym {
    builder::with(|t| t.refuse(transform, e));
    Sym::POISON
}

/// Ends the trace: for what has no value that could be given back. An error must have been recorded.
pub fn abort() -> ! {
    builder::abort()
}

/// The values that a region uses and that are not made in it, each once, in order of use.
pub fn captures(region: &Region) -> Vec<Value> {
    let mut out = vec![];
    builder::free(region, &mut FxHashSet::default(), &mut out);
    out
}

/// `trace` with inputs of these types whose tree is known at run time.
///
/// # Errors
/// Those of [`trace`](crate::trace()).
#[track_caller]
pub fn trace_leaves<F, I, M>(f: F, inputs: Vec<TensorType>, tree: TreeDef) -> Result<Graph<I, F::Out>>
where
    I: Tree<Sym>,
    F: GraphFn<I, M>,
{
    trace_fn::trace_leaves(f, inputs, tree)
}

/// The trees of a graph's inputs and outputs.
pub fn trees<I, O>(graph: &Graph<I, O>) -> (&TreeDef, &TreeDef) {
    (&graph.inner.inputs, &graph.inner.outputs)
}

/// The names under which the functions of another module are in this trace.
#[derive(Clone, Debug, Default)]
pub struct Imported(FxHashMap<String, String>);

/// Copies a module's static values and notes into this trace, those that it does not have yet.
pub fn remarks(module: &Module) {
    inline::remarks(module);
}

/// Copies the functions that a module's entry calls into this trace, and its static values and notes.
pub fn import(module: &Module) -> Imported {
    inline::remarks(module);
    Imported(inline::adopt(module, &[]))
}

/// Appends a copy of an op of a function of an [imported](import) module, like [`replay`]: `env` names every value that
/// the op uses.
///
/// # Errors
/// None at present; reserved for types that do not fit.
pub fn replay_from(f: &Func, from: &Imported, op: &Op, env: &mut FxHashMap<Value, Value>) -> Result<(), OpError> {
    inline::replay_from(f, &from.0, op, env)
}

/// Says that there are values which stand nowhere, such as those of a region that was closed to be walked.
pub fn left_over() {
    builder::with(|t| t.leftovers = true);
}
