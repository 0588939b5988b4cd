//! `vmap`: a function of one row, for all rows.

use super::{Traced, Via, callable, flatten, rebuild};
use crate::vmap::parts::{move_axis, spread};
use crate::vmap::{Mapped, Vmap as Walk};
use evoxc_core::{Dim, OpError, Tree, TreeDef};
use evoxc_ir::TensorType;
use evoxc_trace::{GraphFn, Sym, emitter};

/// See [`vmap`].
#[derive(Clone, Debug)]
pub struct Vmap<F> {
    f: F,
    in_axes: Option<Vec<Option<i64>>>,
    out_axes: Option<Vec<Option<i64>>>,
}

/// Maps a function over axis 0 of every argument, and stacks its results along axis 0: the same values as a loop, by ops
/// that work on all rows. What does not depend on a mapped argument is computed once, and is not repeated where an op
/// takes it as it is. The number of rows may be a symbol, and may be 0.
///
/// All but sums of products (dot, convolution) and factorisations give the bits that a loop gives; for these a backend
/// may add in another order when there are more rows. Random numbers of mapped keys are those of each key. `print`
/// prints once: the values of all rows as one tensor (or the one value that all rows share).
///
/// # Errors
/// When traced, a [`TransformError`](evoxc_core::TransformError): no argument is mapped, mapped axes differ in size or
/// do not exist.
///
/// ```
/// use evoxc::prelude::*;
/// let dots = vmap(|x: Sym, y: Sym| (x * y).sum(..)).in_axes([Some(0), None]);
/// let args = (Tensor::from([[1f32, 2.0], [3.0, 4.0]]), Tensor::from([1f32, 10.0]));
/// assert_eq!(evaluate(dots, args, &Interp)?.to_vec::<f32>()?, [21.0, 43.0]);
/// # Ok::<(), evoxc::Error>(())
/// ```
pub fn vmap<F>(f: F) -> Vmap<F> {
    Vmap { f, in_axes: None, out_axes: None }
}

impl<F> Vmap<F> {
    /// The mapped axis of each argument (of all its leaves; negative ones count from the end), or `None` for one that
    /// every row shares. One entry an argument, or the only one for a function of one tree.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let columns = vmap(|x: Sym| x.sum(0)).in_axes([Some(-1)]);
    /// let y = evaluate(columns, Tensor::from([[1f32, 2.0], [3.0, 4.0]]), &Interp)?;
    /// assert_eq!(y.to_vec::<f32>()?, [4.0, 6.0]);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    pub fn in_axes(mut self, axes: impl IntoIterator<Item = Option<i64>>) -> Self {
        self.in_axes = Some(axes.into_iter().collect());
        self
    }
    /// Where the rows go in each result (in all its leaves; a tuple is the list of results; negative ones count from the
    /// end of the result with its rows), or `None` for one that is the same for every row.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let f = vmap(|x: Sym, w: Sym| (x * w, w + 1.0)).in_axes([Some(0), None]).out_axes([Some(-1), None]);
    /// let g = trace(f, (spec(F32, [8, 3]), spec(F32, [3])))?;
    /// assert_eq!(g.output_specs(), [spec(F32, [3, 8]), spec(F32, [3])]);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    pub fn out_axes(mut self, axes: impl IntoIterator<Item = Option<i64>>) -> Self {
        self.out_axes = Some(axes.into_iter().collect());
        self
    }
}
callable!(Vmap);

impl<F, A, Mark> GraphFn<A, Via<Mark>> for Vmap<F>
where
    F: GraphFn<A, Mark>,
    A: Tree<Sym>,
{
    type Out = F::Out;
    fn apply(&self, args: A) -> F::Out {
        let (x, types, def) = flatten(args);
        let Some(types) = types else { emitter::abort() };
        let (rows, size, axes) = match rows(&types, &def, self.in_axes.as_deref()) {
            Ok(r) => r,
            Err(e) => {
                emitter::refuse("vmap", e.at(emitter::call_site()));
                emitter::abort()
            }
        };
        let traced = Traced::new::<F, A, Mark>("vmap", &self.f, &rows, &def);
        let outputs = traced.outputs.clone();
        let out = traced.write(outputs.leaf_count(), |region, traced| {
            let places = per_leaf("out_axes", "result", &traced.outputs, self.out_axes.as_deref())?;
            let mut walk = Walk::new(size);
            for ((&v, &x), &axis) in region.args.iter().zip(&x).zip(&axes) {
                let m = axis
                    .map_or(Mapped { sym: x, batched: false }, |a| Mapped { sym: move_axis(x, a, 0), batched: true });
                walk.define(v, m);
            }
            walk.region(region)?;
            let results = region.results.iter().zip(places).zip(traced.outputs.paths());
            results.map(|((&v, place), path)| result(walk.get(v), place, size, &path)).collect()
        });
        rebuild("vmap", &outputs, out)
    }
}

/// A result with its rows where `out_axes` says.
#[track_caller]
pub(crate) fn result(m: Mapped, place: Option<i64>, size: Dim, path: &str) -> Result<Sym, OpError> {
    let Some(ty) = emitter::type_of(m.sym) else { return Ok(m.sym) };
    let whose = || named("result", path);
    match place {
        Some(a) if m.batched => Ok(move_axis(m.sym, 0, axis(a, ty.rank(), "out_axes", &ty, &whose())?)),
        Some(a) => {
            let a = axis(a, ty.rank() + 1, "out_axes", &ty, &whose())?;
            let mut shape = ty.shape.to_vec();
            shape.insert(a, size);
            let dims = (0..shape.len()).filter(|&d| d != a).collect();
            Ok(spread(m.sym, shape.into_iter().collect(), dims))
        }
        None if m.batched => {
            let message = format!("it is `None` for {}, which differs from row to row", whose());
            Err(OpError::new("out_axes", message).remedy("say where its rows go: `Some(0)`"))
        }
        None => Ok(m.sym),
    }
}

/// How messages call a leaf.
pub(crate) fn named(what: &str, path: &str) -> String {
    if path.is_empty() { format!("the {what}") } else { format!("{what} {path}") }
}

pub(crate) fn axis(a: i64, rank: usize, option: &str, ty: &TensorType, whose: &str) -> Result<usize, OpError> {
    let n = if a < 0 { a + rank as i64 } else { a };
    usize::try_from(n).ok().filter(|&n| n < rank).ok_or_else(|| {
        let remedy = match (option, rank) {
            ("in_axes", 0) => "a scalar has no rows: pass it as an argument of its own, with `None`".to_string(),
            ("in_axes", _) => format!("axes are -{rank} to {}; `None` for what every row shares", rank - 1),
            _ => format!("with its rows it has rank {rank}: axes are -{rank} to {}", rank.saturating_sub(1)),
        };
        OpError::new(option, format!("axis {a} is out of range for {whose}, a {ty}")).remedy(remedy)
    })
}

/// One axis a leaf, from one a child of the tree.
pub(crate) fn per_leaf(
    option: &str,
    what: &str,
    def: &TreeDef,
    axes: Option<&[Option<i64>]>,
) -> Result<Vec<Option<i64>>, OpError> {
    let parts = def.arguments();
    let Some(axes) = axes else { return Ok(vec![Some(0); def.leaf_count()]) };
    let n = parts.len();
    if axes.len() != n {
        let (are, s) = if n == 1 { ("is", "") } else { ("are", "s") };
        let entries = if axes.len() == 1 { "entry" } else { "entries" };
        return Err(OpError::new(option, format!("it has {} {entries}, but there {are} {n} {what}{s}", axes.len()))
            .remedy(format!("give one `Option` for each {what}: `Some(axis)`, or `None`")));
    }
    Ok(parts.iter().zip(axes).flat_map(|(p, a)| std::iter::repeat_n(*a, p.leaf_count())).collect())
}

/// The types of one row, the number of rows, and the mapped axis of each leaf.
fn rows(
    types: &[TensorType],
    def: &TreeDef,
    in_axes: Option<&[Option<i64>]>,
) -> Result<(Vec<TensorType>, Dim, Vec<Option<usize>>), OpError> {
    let axes = per_leaf("in_axes", "argument", def, in_axes)?;
    let paths = def.paths();
    let name = |i: usize| named("argument", paths.get(i).map_or("", String::as_str));
    let mut size: Option<(Dim, String)> = None;
    let (mut out, mut at) = (vec![], vec![]);
    for (i, (t, a)) in types.iter().zip(axes).enumerate() {
        let mut ty = t.clone();
        let a = a.map(|a| axis(a, t.rank(), "in_axes", t, &name(i))).transpose()?;
        if let Some(a) = a {
            let n = t.shape[a];
            let here = || format!("{n} along axis {a} of {}, a {t}", name(i));
            let (want, first) = size.get_or_insert_with(|| (n, here()));
            if n != *want {
                let message = format!("the numbers of rows differ: {first}; {}", here());
                return Err(
                    OpError::new("in_axes", message).remedy("map axes of one size; `None` for what every row shares")
                );
            }
            ty.shape = t.shape.iter().enumerate().filter(|(k, _)| *k != a).map(|(_, d)| *d).collect();
        }
        out.push(ty);
        at.push(a);
    }
    match size {
        Some((n, _)) => Ok((out, n, at)),
        None => Err(OpError::new("in_axes", "no argument is mapped, so the number of rows is unknown")
            .remedy("map at least one: `Some(0)`")),
    }
}
