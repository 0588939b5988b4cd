//! Control flow at run time: cond, switch, loops, scan, map.

use crate::{Sym, builder};
use evoxc_core::{Dim, DimLike, I8, I16, I32, Shape, Tree, TreeDef, TreeError, U8, U16, spec};
use evoxc_ir::{Prim, Region, TensorType};

/// The tree of a region's results and the region.
struct Traced {
    region: Option<Region>,
    def: TreeDef,
    types: Vec<Option<TensorType>>,
}

/// Runs `f` in a new region and closes it over the leaves of what it gives.
#[track_caller]
fn region<T: Tree<Sym>>(op: &str, args: &[TensorType], f: impl FnOnce(Vec<Sym>) -> T) -> Traced {
    let syms = builder::open_region(args);
    let (leaves, def) = TreeDef::flatten(f(syms));
    let mut types = Vec::with_capacity(leaves.len());
    for s in &leaves {
        types.push(s.ty());
    }
    Traced { region: builder::close_region(op, &leaves), def, types }
}

/// A tree of poisoned values.
fn poisoned<T: Tree<Sym>>(def: &TreeDef) -> T {
    rebuild(def, vec![Sym::POISON; def.leaf_count()])
}

/// A tree from leaves that match its structure; the structure comes from a tree of the same type.
#[track_caller]
fn rebuild<T: Tree<Sym>>(def: &TreeDef, leaves: Vec<Sym>) -> T {
    match def.unflatten(leaves) {
        Ok(t) => t,
        Err(e) => {
            builder::fail("tree", &[], e.to_string(), None);
            builder::abort()
        }
    }
}

/// Records the first difference between what a body should give and what it gives.
#[track_caller]
fn same(op: &str, what: &str, want: (&TreeDef, &[Option<TensorType>]), got: &Traced, remedy: &str) -> bool {
    if let Some(TreeError { path, expected, got }) = want.0.difference(&got.def) {
        let at = if path.is_empty() { String::new() } else { format!(" at {path}") };
        builder::fail(op, &[], format!("{what}{at}: expected {expected}, got {got}"), Some(remedy.into()));
        return false;
    }
    for (i, (a, b)) in want.1.iter().zip(&got.types).enumerate() {
        let (Some(a), Some(b)) = (a, b) else { return false };
        if a != b {
            let path = want.0.paths().get(i).filter(|p| !p.is_empty()).map(|p| format!(" at {p}")).unwrap_or_default();
            builder::fail(op, &[], format!("{what}{path}: expected {a}, got {b}"), Some(remedy.into()));
            return false;
        }
    }
    true
}

#[track_caller]
fn emit_tree<T: Tree<Sym>>(prim: Prim, operands: &[Sym], regions: Option<Vec<Region>>, def: &TreeDef) -> T {
    // No closures: ops emitted inside one would be said to be here.
    let results = match regions {
        Some(r) => builder::emit_regions(prim, operands, r),
        None => None,
    };
    match results {
        Some(results) => rebuild(def, results.to_vec()),
        None => poisoned(def),
    }
}

/// Runs one of two branches: `a` where the scalar bool `pred` is true, else `b`. Both give trees of one structure and
/// equal types. Closures capture outer `Sym`s freely.
///
/// ```
/// use evoxc::prelude::*;
/// let g = trace(|x: Sym| cond(x.gt(0.0), || x, || -x), spec(F32, [])).unwrap();
/// assert!(g.to_string().contains("evoxc.cond"));
/// ```
#[track_caller]
pub fn cond<T: Tree<Sym>>(pred: Sym, a: impl FnOnce() -> T, b: impl FnOnce() -> T) -> T {
    let a = region("cond", &[], |_| a());
    let b = region("cond", &[], |_| b());
    let ok = same(
        "cond",
        "the branches differ",
        (&a.def, &a.types),
        &b,
        "both branches give the same types; `.cast(..)` or `.broadcast_to(..)` one of them",
    );
    let regions = if ok { a.region.zip(b.region).map(|(a, b)| vec![a, b]) } else { None };
    emit_tree(Prim::Cond {}, &[pred], regions, &a.def)
}

/// A branch of [`switch`].
///
/// ```
/// use evoxc::{Branch, prelude::*};
/// fn by_kind(kind: Sym, x: Sym) -> Sym {
///     let branches: Vec<Branch<Sym>> = vec![branch(|| x), branch(|| -x), branch(|| x * x)];
///     switch(kind, branches)
/// }
/// let y = evaluate(by_kind, (Tensor::from(2i32), Tensor::from(3f32)), &Interp)?;
/// assert_eq!(y.item::<f32>()?, 9.0);
/// # Ok::<(), evoxc::Error>(())
/// ```
pub type Branch<'a, T> = Box<dyn FnOnce() -> T + 'a>;

/// Boxes a closure as a branch of [`switch`].
///
/// ```
/// use evoxc::prelude::*;
/// let f = |i: Sym, x: Sym| switch(i, [branch(|| x), branch(|| -x)]);
/// let y = evaluate(f, (Tensor::from(1i32), Tensor::from(2f32)), &Interp)?;
/// assert_eq!(y.item::<f32>()?, -2.0);
/// # Ok::<(), evoxc::Error>(())
/// ```
pub fn branch<'a, T>(f: impl FnOnce() -> T + 'a) -> Branch<'a, T> {
    Box::new(f)
}

/// Runs the branch that the scalar integer `index` names; out of range, the last. At least one branch.
///
/// ```
/// use evoxc::prelude::*;
/// let f = |i: Sym, x: Sym| switch(i, (1..=3).map(|k| branch(move || x * k)));
/// let y = evaluate(f, (Tensor::from(9i32), Tensor::from(2f32)), &Interp)?;
/// assert_eq!(y.item::<f32>()?, 6.0); // out of range: the last
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn switch<'a, T: Tree<Sym> + 'a>(index: Sym, branches: impl IntoIterator<Item = Branch<'a, T>>) -> T {
    let mut traced: Vec<Traced> = vec![];
    for f in branches {
        traced.push(region("switch", &[], |_| f()));
    }
    let Some(first) = traced.first() else {
        builder::fail("switch", &[index], "there are no branches", None);
        builder::abort()
    };
    let def = first.def.clone();
    let types = first.types.clone();
    let count = traced.len();
    let ok = traced
        .iter()
        .skip(1)
        .all(|b| same("switch", "the branches differ", (&def, &types), b, "all branches give the same types"));
    let regions = if ok { traced.into_iter().map(|t| t.region).collect() } else { None };
    emit_tree(Prim::Switch {}, &[branch_number(index, count)], regions, &def)
}

/// The index as an i32. One of a wider dtype is first brought into range: its low bits alone might name a branch.
#[track_caller]
fn branch_number(index: Sym, count: usize) -> Sym {
    let Some(t) = index.ty().filter(|t| t.dtype.is_int() && t.dtype != I32) else { return index };
    let narrow = matches!(t.dtype, I8 | I16 | U8 | U16);
    let last = i32::try_from(count).unwrap_or(i32::MAX) - 1;
    let index = if narrow { index } else { (index.ge(0) & index.lt(last)).select(index, last) };
    builder::emit(Prim::Convert { dtype: I32 }, &[index])
}

#[track_caller]
fn known(leaves: &[Sym]) -> Vec<TensorType> {
    let mut types = Vec::with_capacity(leaves.len());
    // No closure: it would be where a foreign value is said to be.
    for s in leaves {
        match s.ty() {
            Some(t) => types.push(t),
            None => builder::abort(),
        }
    }
    types
}

/// Repeats `body` while `condition` gives true; the state is a tree of one structure and fixed types.
///
/// ```
/// use evoxc::prelude::*;
/// let sqrt = |x: Sym| while_loop((x, x * 0.0), |(y, prev)| (y - prev).abs().gt(1e-6), |(y, _)| (0.5 * (y + x / y), y)).0;
/// assert!(trace(sqrt, spec(F32, [])).unwrap().to_string().contains("while_loop"));
/// ```
#[track_caller]
pub fn while_loop<C: Tree<Sym>>(init: C, condition: impl FnOnce(C) -> Sym, body: impl FnOnce(C) -> C) -> C {
    let (leaves, def) = TreeDef::flatten(init);
    let types = known(&leaves);
    let c = region("while_loop", &types, |s| condition(rebuild(&def, s)));
    let b = region("while_loop", &types, |s| body(rebuild(&def, s)));
    let want: Vec<_> = types.iter().cloned().map(Some).collect();
    let ok = same(
        "while_loop",
        "the body changes the type of the state",
        (&def, &want),
        &b,
        "the state keeps its types over all iterations; `.cast(..)` in the body or start with the final type",
    );
    let regions = if ok { c.region.zip(b.region).map(|(c, b)| vec![c, b]) } else { None };
    emit_tree(Prim::WhileLoop {}, &leaves, regions, &def)
}

/// Runs `body(i, carry)` for i = 0 … n-1, with `i` a scalar i32. The trip count is static (an integer or a `Dim`), so
/// the loop differentiates in reverse mode.
///
/// ```
/// use evoxc::prelude::*;
/// let power = |x: Sym| fori_loop(3, x.ones_like(), |_, y| y * x);
/// assert_eq!(evaluate(power, Tensor::from(2f32), &Interp)?.item::<f32>()?, 8.0);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn fori_loop<C: Tree<Sym>>(n: impl DimLike, init: C, body: impl FnOnce(Sym, C) -> C) -> C {
    let n = n.to_dim();
    if n.as_i64().is_some_and(|n| n < 0) {
        builder::fail("fori_loop", &[], format!("the number of steps is {n}, below 0"), None);
        builder::abort()
    }
    let shape: Shape = [n].into_iter().collect();
    let index = builder::emit(Prim::Iota { dtype: I32, shape, axis: 0 }, &[]);
    scan_over("fori_loop", n, false, init, index, |c, i| (body(i, c), ())).0
}

/// Folds `f(carry, x) -> (carry, y)` over the leading axis of the tree `xs`; gives the last carry and the stacked `ys`.
///
/// ```
/// use evoxc::prelude::*;
/// let running = |xs: Sym| scan(xs.at(0) * 0.0, xs, |sum, x| (sum + x, sum + x));
/// let (sum, sums) = evaluate(running, Tensor::from([1f32, 2.0, 3.0]), &Interp)?;
/// assert_eq!((sum.item::<f32>()?, sums.to_vec::<f32>()?), (6.0, vec![1.0, 3.0, 6.0]));
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn scan<C: Tree<Sym>, X: Tree<Sym>, Y: Tree<Sym>>(init: C, xs: X, f: impl FnOnce(C, X) -> (C, Y)) -> (C, Y) {
    directed("scan", false, init, xs, f)
}

/// [`scan`] from the last element to the first; `ys` keep the positions of their `x`.
///
/// ```
/// use evoxc::{prelude::*, scan_reverse};
/// let rest = |xs: Sym| scan_reverse(xs.at(0) * 0.0, xs, |sum, x| (sum + x, sum + x)).1;
/// assert_eq!(evaluate(rest, Tensor::from([1f32, 2.0, 3.0]), &Interp)?.to_vec::<f32>()?, [6.0, 5.0, 3.0]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn scan_reverse<C: Tree<Sym>, X: Tree<Sym>, Y: Tree<Sym>>(
    init: C,
    xs: X,
    f: impl FnOnce(C, X) -> (C, Y),
) -> (C, Y) {
    directed("scan", true, init, xs, f)
}

/// [`scan`] without `xs`: `n` steps of `f(carry) -> (carry, y)`.
///
/// ```
/// use evoxc::{prelude::*, scan_n};
/// let powers = |x: Sym| scan_n(3, x, |y| (y * x, y)).1;
/// assert_eq!(evaluate(powers, Tensor::from(2f32), &Interp)?.to_vec::<f32>()?, [2.0, 4.0, 8.0]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn scan_n<C: Tree<Sym>, Y: Tree<Sym>>(n: impl DimLike, init: C, f: impl FnOnce(C) -> (C, Y)) -> (C, Y) {
    scan_over("scan", n.to_dim(), false, init, (), |c, ()| f(c))
}

/// `f` of every element of the leading axis of the tree `xs`, stacked.
///
/// ```
/// use evoxc::prelude::*;
/// let norms = |rows: Sym| map(rows, |row: Sym| (row * row).sum(0).sqrt());
/// let y = evaluate(norms, Tensor::from([[3f32, 4.0], [6.0, 8.0]]), &Interp)?;
/// assert_eq!(y.to_vec::<f32>()?, [5.0, 10.0]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn map<X: Tree<Sym>, Y: Tree<Sym>>(xs: X, f: impl FnOnce(X) -> Y) -> Y {
    directed("map", false, (), xs, |(), x| ((), f(x))).1
}

#[track_caller]
fn directed<C: Tree<Sym>, X: Tree<Sym>, Y: Tree<Sym>>(
    op: &str,
    reverse: bool,
    init: C,
    xs: X,
    f: impl FnOnce(C, X) -> (C, Y),
) -> (C, Y) {
    let (leaves, def) = TreeDef::flatten(xs);
    let types = known(&leaves);
    let Some(length) = types.first().map(|t| t.shape.first().copied()) else {
        builder::fail(
            op,
            &[],
            "xs has no leaves, so the number of steps is unknown",
            Some("use `scan_n(n, init, f)` or `fori_loop`".into()),
        );
        builder::abort()
    };
    let Some(length) = length else {
        builder::fail(op, &leaves, "xs needs a leading axis", None);
        builder::abort()
    };
    scan_over(op, length, reverse, init, rebuild(&def, leaves), f)
}

#[track_caller]
fn scan_over<C: Tree<Sym>, X: Tree<Sym>, Y: Tree<Sym>>(
    op: &str,
    length: Dim,
    reverse: bool,
    init: C,
    xs: X,
    f: impl FnOnce(C, X) -> (C, Y),
) -> (C, Y) {
    let (carry, carry_def) = TreeDef::flatten(init);
    let (xs, x_def) = TreeDef::flatten(xs);
    let (carry_types, xs_types) = (known(&carry), known(&xs));
    if let Some(bad) = xs_types.iter().find(|t| t.shape.first() != Some(&length)) {
        builder::fail(op, &[], format!("the leading axes of xs differ: {length}, and that of {bad}"), None);
        builder::abort()
    }
    let mut args = carry_types.clone();
    args.extend(xs_types.iter().map(|t| spec(t.dtype, &t.shape[1..])));
    let mut y_def = TreeDef::default();
    let body = region(op, &args, |mut s| {
        let x = rebuild(&x_def, s.split_off(carry.len()));
        let (c, y) = f(rebuild(&carry_def, s), x);
        let (c, c_def) = TreeDef::flatten(c);
        let (y, d) = TreeDef::flatten(y);
        y_def = d;
        (evoxc_dyn(c_def, c), y)
    });
    let n = carry.len();
    let c_def = body.def.arguments().into_iter().next().unwrap_or_default();
    let got = Traced { region: None, def: c_def, types: body.types.iter().take(n).cloned().collect() };
    let want: Vec<_> = carry_types.into_iter().map(Some).collect();
    let ok = same(
        op,
        "the body changes the type of the carry",
        (&carry_def, &want),
        &got,
        "the carry keeps its types over all steps; `.cast(..)` in the body or start with the final type",
    );
    let regions = if ok { body.region.map(|r| vec![r]) } else { None };
    let operands: Vec<Sym> = carry.into_iter().chain(xs).collect();
    let results = match regions {
        Some(r) => builder::emit_regions(Prim::Scan { carry: n, length, reverse }, &operands, r),
        None => None,
    };
    match results {
        Some(r) => {
            let (c, y) = r.split_at(n.min(r.len()));
            (rebuild(&carry_def, c.to_vec()), rebuild(&y_def, y.to_vec()))
        }
        None => (poisoned(&carry_def), poisoned(&y_def)),
    }
}

/// A tree of a structure known at run time.
fn evoxc_dyn(def: TreeDef, leaves: Vec<Sym>) -> evoxc_core::Dyn<Sym> {
    def.unflatten(leaves).unwrap_or_else(|_| evoxc_core::Dyn::of(()))
}

/// The tree, unchanged; no optimisation moves work across it.
///
/// ```
/// use evoxc::{optimization_barrier, prelude::*};
/// let graph = trace(|x: Sym| -optimization_barrier(-x), spec(F32, [2]))?;
/// assert_eq!(graph.simplify().ops().len(), 3); // without the barrier, none
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn optimization_barrier<T: Tree<Sym>>(tree: T) -> T {
    let (leaves, def) = TreeDef::flatten(tree);
    emit_tree(Prim::OptimizationBarrier {}, &leaves, Some(vec![]), &def)
}

impl Sym {
    /// Prints `label` and the value each time the program runs, in program order. Gives the value itself.
    #[track_caller]
    pub fn print(self, label: &str) -> Sym {
        let _ = builder::emit_regions(Prim::Print { label: label.into() }, &[self], vec![]);
        self
    }
}
