//! `vmap`: a function of one row, for all rows.

use super::{Traced, Via, callable, flatten, rebuild};
use crate::vmap::{Mapped, Vmap as Walk, batched};
use evoxc_core::{Dim, OpError, Tree, TreeDef};
use evoxc_ir::{Prim, TensorType};
use evoxc_trace::{GraphFn, Sym, emitter};

/// See [`vmap`].
#[derive(Clone, Debug)]
pub struct Vmap<F> {
    f: F,
    in_axes: Option<Vec<Option<i64>>>,
    out_axes: Option<Vec<Option<i64>>>,
}

/// Maps a function over axis 0 of every argument, and stacks its results along axis 0: the same values as a loop, by ops
/// that work on all rows. What does not depend on a mapped argument is computed once.
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
    /// every row shares.
    pub fn in_axes(mut self, axes: impl IntoIterator<Item = Option<i64>>) -> Self {
        self.in_axes = Some(axes.into_iter().collect());
        self
    }
    /// Where the rows go in each result (in all its leaves; a tuple is the list of results), or `None` for one that is the
    /// same for every row.
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
            let ranks = traced.output_types();
            region
                .results
                .iter()
                .zip(places)
                .zip(ranks)
                .map(|((&v, place), ty)| {
                    let m = walk.get(v);
                    match place {
                        Some(a) => Ok(move_axis(batched(m, size), 0, axis(a, ty.rank() + 1, "out_axes", &ty)?)),
                        None if m.batched => {
                            Err(OpError::new("out_axes", "it is `None` for a result that differs from row to row")
                                .remedy("give its axis: `Some(0)`"))
                        }
                        None => Ok(m.sym),
                    }
                })
                .collect()
        });
        rebuild("vmap", &outputs, out)
    }
}

/// Moves an axis.
#[track_caller]
fn move_axis(x: Sym, from: usize, to: usize) -> Sym {
    if from == to {
        return x;
    }
    let rank = emitter::type_of(x).map_or(0, |t| t.rank());
    let mut perm: Vec<usize> = (0..rank).filter(|&a| a != from).collect();
    perm.insert(to.min(perm.len()), from);
    emitter::emit(Prim::Transpose { perm }, &[x])
}

fn axis(a: i64, rank: usize, what: &str, ty: &TensorType) -> Result<usize, OpError> {
    let n = if a < 0 { a + rank as i64 } else { a };
    usize::try_from(n)
        .ok()
        .filter(|&n| n < rank)
        .ok_or_else(|| OpError::new(what, format!("axis {a} is out of range for {ty}")))
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
    if axes.len() != parts.len() {
        let n = parts.len();
        return Err(OpError::new(option, format!("it has {} entries, but there are {n} {what}s", axes.len()))
            .remedy(format!("give one `Option` a {what}")));
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
    let mut size: Option<(Dim, usize)> = None;
    let (mut out, mut at) = (vec![], vec![]);
    for (i, (t, a)) in types.iter().zip(axes).enumerate() {
        let mut ty = t.clone();
        let a = match a {
            None => None,
            Some(a) => {
                let a = axis(a, t.rank(), "in_axes", t)?;
                let n = t.shape[a];
                let (want, first) = *size.get_or_insert((n, i));
                if n != want {
                    let message = format!("the mapped axes differ: {want} of {}, {n} of {t}", types[first]);
                    return Err(OpError::new("in_axes", message));
                }
                ty.shape = t.shape.iter().enumerate().filter(|(k, _)| *k != a).map(|(_, d)| *d).collect();
                Some(a)
            }
        };
        out.push(ty);
        at.push(a);
    }
    match size {
        Some((n, _)) => Ok((out, n, at)),
        None => Err(OpError::new("in_axes", "no argument is mapped, so the number of rows is unknown")
            .remedy("map at least one: `Some(0)`")),
    }
}
