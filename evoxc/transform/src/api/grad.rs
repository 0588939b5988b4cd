//! Gradients of scalar functions.

use super::{Traced, Via, argument, callable, flatten, rebuild};
use crate::linear::linearize;
use crate::transpose::Transpose;
use crate::{differentiable, zeros};
use evoxc_core::{ArgAt, OpError, Tree, TreeDef};
use evoxc_ir::{Region, TensorType};
use evoxc_trace::{GraphFn, Sym, emitter};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// See [`grad`].
#[derive(Clone, Copy, Debug)]
pub struct Grad<F, const N: usize = 0>(F);
/// See [`Grad::wrt2`].
#[derive(Clone, Copy, Debug)]
pub struct Grad2<F, const N: usize, const M: usize>(F);
/// See [`Grad::wrt_all`].
#[derive(Clone, Copy, Debug)]
pub struct GradAll<F>(F);
/// See [`ValueAndGrad::wrt_all`].
#[derive(Clone, Copy, Debug)]
pub struct ValueAndGradAll<F>(F);
/// See [`value_and_grad`].
#[derive(Clone, Copy, Debug)]
pub struct ValueAndGrad<F, const N: usize = 0>(F);
/// See [`ValueAndGrad::wrt2`].
#[derive(Clone, Copy, Debug)]
pub struct ValueAndGrad2<F, const N: usize, const M: usize>(F);

/// The gradient of a function that gives one real scalar, with respect to its first argument: a tree gives a tree of the
/// same structure, shapes and dtypes. Reverse mode, by linearisation and transposition (Frostig et al., "Decomposing
/// reverse-mode automatic differentiation", 2021).
///
/// # Errors
/// When traced, a [`TransformError`](evoxc_core::TransformError): the function gives something else than one real
/// scalar, the argument has a leaf that is not floating-point, an op has no derivative rule, a `while_loop` lies on the
/// way (use `fori_loop` or `scan`).
///
/// ```
/// use evoxc::prelude::*;
/// let slope = evaluate(grad(|x: Sym| (x * x).sum(..)), Tensor::from([1f32, 2.0]), &Interp)?;
/// assert_eq!(slope.to_vec::<f32>()?, [2.0, 4.0]);
/// # Ok::<(), evoxc::Error>(())
/// ```
pub fn grad<F>(f: F) -> Grad<F> {
    Grad(f)
}

/// The value of a function that gives one real scalar, and its gradient: see [`grad`].
///
/// ```
/// use evoxc::prelude::*;
/// let (y, slope) = evaluate(value_and_grad(|x: Sym| x * x), Tensor::from(3f32), &Interp)?;
/// assert_eq!((y.item::<f32>()?, slope.item::<f32>()?), (9.0, 6.0));
/// # Ok::<(), evoxc::Error>(())
/// ```
pub fn value_and_grad<F>(f: F) -> ValueAndGrad<F> {
    ValueAndGrad(f)
}

macro_rules! choices {
    ($One:ident $Two:ident $All:ident) => {
        impl<F> $One<F> {
            /// Differentiates argument `N`, counted from 0, instead of the first.
            ///
            /// ```
            /// use evoxc::prelude::*;
            /// let f = |x: Sym, y: Sym| x * y;
            /// let args = (Tensor::from(2f32), Tensor::from(5f32));
            /// assert_eq!(evaluate(grad(f).wrt::<1>(), args, &Interp)?.item::<f32>()?, 2.0);
            /// # Ok::<(), evoxc::Error>(())
            /// ```
            pub fn wrt<const N: usize>(self) -> $One<F, N> {
                $One(self.0)
            }
            /// Differentiates arguments `N` and `M` at once; gives a pair.
            ///
            /// ```
            /// use evoxc::prelude::*;
            /// let f = |x: Sym, y: Sym| x * y;
            /// let args = (Tensor::from(2f32), Tensor::from(5f32));
            /// let (dx, dy) = evaluate(grad(f).wrt2::<0, 1>(), args, &Interp)?;
            /// assert_eq!((dx.item::<f32>()?, dy.item::<f32>()?), (5.0, 2.0));
            /// # Ok::<(), evoxc::Error>(())
            /// ```
            pub fn wrt2<const N: usize, const M: usize>(self) -> $Two<F, N, M> {
                $Two(self.0)
            }
            /// Differentiates all arguments at once; gives an argument list.
            ///
            /// ```
            /// use evoxc::prelude::*;
            /// let f = |x: Sym, y: Sym, z: Sym| x * y * z;
            /// let args = (Tensor::from(2f32), Tensor::from(5f32), Tensor::from(7f32));
            /// let (dx, dy, dz) = evaluate(grad(f).wrt_all(), args, &Interp)?;
            /// assert_eq!([dx.item::<f32>()?, dy.item::<f32>()?, dz.item::<f32>()?], [35.0, 14.0, 10.0]);
            /// # Ok::<(), evoxc::Error>(())
            /// ```
            pub fn wrt_all(self) -> $All<F> {
                $All(self.0)
            }
        }
    };
}
choices!(Grad Grad2 GradAll);
choices!(ValueAndGrad ValueAndGrad2 ValueAndGradAll);
callable!(GradAll);
callable!(ValueAndGradAll);
callable!(Grad<const N>);
callable!(Grad2<const N, const M>);
callable!(ValueAndGrad<const N>);
callable!(ValueAndGrad2<const N, const M>);

type At<A, const N: usize> = <A as ArgAt<N>>::Arg;

impl<F, A, Mark, const N: usize> GraphFn<A, Via<Mark>> for Grad<F, N>
where
    F: GraphFn<A, Mark>,
    A: Tree<Sym> + ArgAt<N>,
    At<A, N>: Tree<Sym>,
{
    type Out = At<A, N>;
    fn apply(&self, args: A) -> At<A, N> {
        let (_, mut parts) = gradient("grad", &self.0, args, &[N], false);
        part("grad", &mut parts)
    }
}

impl<F, A, Mark, const N: usize, const M: usize> GraphFn<A, Via<Mark>> for Grad2<F, N, M>
where
    F: GraphFn<A, Mark>,
    A: Tree<Sym> + ArgAt<N> + ArgAt<M>,
    At<A, N>: Tree<Sym>,
    At<A, M>: Tree<Sym>,
{
    type Out = (At<A, N>, At<A, M>);
    fn apply(&self, args: A) -> Self::Out {
        let (_, mut parts) = gradient("grad", &self.0, args, &[N, M], false);
        (part("grad", &mut parts), part("grad", &mut parts))
    }
}

impl<F, A, Mark, const N: usize> GraphFn<A, Via<Mark>> for ValueAndGrad<F, N>
where
    F: GraphFn<A, Mark>,
    A: Tree<Sym> + ArgAt<N>,
    At<A, N>: Tree<Sym>,
{
    type Out = (F::Out, At<A, N>);
    fn apply(&self, args: A) -> Self::Out {
        let (value, mut parts) = gradient("value_and_grad", &self.0, args, &[N], true);
        (value, part("value_and_grad", &mut parts))
    }
}

impl<F, A, Mark, const N: usize, const M: usize> GraphFn<A, Via<Mark>> for ValueAndGrad2<F, N, M>
where
    F: GraphFn<A, Mark>,
    A: Tree<Sym> + ArgAt<N> + ArgAt<M>,
    At<A, N>: Tree<Sym>,
    At<A, M>: Tree<Sym>,
{
    type Out = (F::Out, (At<A, N>, At<A, M>));
    fn apply(&self, args: A) -> Self::Out {
        let (value, mut parts) = gradient("value_and_grad", &self.0, args, &[N, M], true);
        (value, (part("value_and_grad", &mut parts), part("value_and_grad", &mut parts)))
    }
}

impl<F, A, Mark> GraphFn<A, Via<Mark>> for GradAll<F>
where
    F: GraphFn<A, Mark>,
    A: Tree<Sym>,
{
    type Out = A;
    fn apply(&self, args: A) -> A {
        all("grad", &self.0, args, false).1
    }
}

impl<F, A, Mark> GraphFn<A, Via<Mark>> for ValueAndGradAll<F>
where
    F: GraphFn<A, Mark>,
    A: Tree<Sym>,
{
    type Out = (F::Out, A);
    fn apply(&self, args: A) -> Self::Out {
        all("value_and_grad", &self.0, args, true)
    }
}

/// The value of `f` (poisoned unless `value`) and its gradients with respect to all arguments.
fn all<F, A, Mark>(transform: &'static str, f: &F, args: A, value: bool) -> (F::Out, A)
where
    F: GraphFn<A, Mark>,
    A: Tree<Sym>,
{
    let (leaves, def) = TreeDef::flatten(args);
    let wanted: Vec<usize> = (0..def.arguments().len()).collect();
    let (value, parts) = gradient(transform, f, rebuild::<A>(transform, &def, leaves), &wanted, value);
    let grads = parts.into_iter().rev().flat_map(|(_, leaves)| leaves).collect();
    (value, rebuild(transform, &def, grads))
}

/// Gradients by argument, in the order in which [`part`] takes them, last first.
pub(crate) type Parts = Vec<(TreeDef, Vec<Sym>)>;

fn part<T: Tree<Sym>>(transform: &str, parts: &mut Parts) -> T {
    let (def, leaves) = parts.pop().unwrap_or_default();
    rebuild(transform, &def, leaves)
}

/// The value of `f` and its gradients with respect to these arguments. Without `value` the value is poisoned, and ops that
/// nothing else needs are not written.
pub(crate) fn gradient<F, A, Mark>(
    transform: &'static str,
    f: &F,
    args: A,
    wanted: &[usize],
    value: bool,
) -> (F::Out, Parts)
where
    F: GraphFn<A, Mark>,
    A: Tree<Sym>,
{
    let (leaves, types, def) = flatten(args);
    let Some(types) = types else { emitter::abort() };
    exist(transform, &def, wanted);
    let traced = Traced::new::<F, A, Mark>(transform, f, &types, &def);
    let outputs = traced.outputs.clone();
    let choice: Vec<(std::ops::Range<usize>, TreeDef)> = wanted.iter().map(|&n| argument(&def, n)).collect();
    let n = outputs.leaf_count();
    let total = n + choice.iter().map(|(r, _)| r.len()).sum::<usize>();
    let mut all = traced.write(total, |region, traced| {
        check(&traced.output_types(), &types, &choice, &def)?;
        let active: Vec<bool> = (0..types.len()).map(|i| choice.iter().any(|(r, _)| r.contains(&i))).collect();
        pull(region, &leaves, &active, |types| {
            types.iter().map(|t| Some(evoxc_trace::ones(t.dtype, &t.shape))).collect()
        })
        .map(|r| {
            r.map(|(values, grads)| {
                let of = |i: usize| grads[i].unwrap_or_else(|| zeros(&types[i]));
                let values = values.into_iter().map(|v| if value { v } else { emitter::poison() });
                values.chain(choice.iter().flat_map(|(r, _)| r.clone().map(of))).collect()
            })
            .unwrap_or_default()
        })
    });
    let mut rest = all.split_off(n.min(all.len()));
    let mut parts: Parts = choice
        .into_iter()
        .map(|(r, own)| {
            let after = rest.split_off(r.len().min(rest.len()));
            (own, std::mem::replace(&mut rest, after))
        })
        .collect();
    parts.reverse();
    (rebuild(transform, &outputs, all), parts)
}

/// The values of a region, and the cotangents of its arguments (only of `active` ones, absent where zero) for the
/// cotangents of its results that `seed` makes of their types. `None` when something is poisoned.
///
/// # Errors
/// An op without a rule.
pub(crate) fn pull(
    region: &Region,
    args: &[Sym],
    active: &[bool],
    seed: impl FnOnce(&[TensorType]) -> Vec<Option<Sym>>,
) -> Result<Option<(Vec<Sym>, Vec<Option<Sym>>)>, OpError> {
    let Some(lin) = linearize(region, args, active)? else { return Ok(None) };
    let seeds = seed(&emitter::types(&region.results));
    let cts: Vec<_> = lin.tangents.iter().zip(seeds).filter_map(|(t, ct)| Some(((*t)?, ct?))).collect();
    let inputs = lin.linear.args.clone();
    let mut back = Transpose::new(inputs.iter().copied(), FxHashMap::default());
    back.region(&lin.linear, &cts)?;
    let mut of = inputs.iter().map(|&v| back.of(v));
    let grads = active.iter().map(|a| if *a { of.next().flatten() } else { None }).collect();
    Ok(Some((lin.primals, grads)))
}

/// Ends the trace unless these arguments exist: of a function whose tree is known at run time they need not.
pub(crate) fn exist(transform: &str, def: &TreeDef, wanted: &[usize]) {
    let n = def.arguments().len();
    if let Some(w) = wanted.iter().find(|w| **w >= n) {
        let s = if n == 1 { "" } else { "s" };
        let e = OpError::new("argument", format!("there is no argument {w}: the function has {n} argument{s}"))
            .remedy("arguments are counted from 0: `.wrt::<N>()`");
        emitter::refuse(transform, e.at(emitter::call_site()));
        emitter::abort()
    }
}

fn check(
    outputs: &[TensorType],
    inputs: &[TensorType],
    wanted: &[(Range<usize>, TreeDef)],
    def: &TreeDef,
) -> Result<(), OpError> {
    let remedy = "reduce it to one number: `.sum(..)`, `.mean(..)`; for several outputs use `vjp` or `jacrev`";
    match outputs {
        [t] if t.shape.is_empty() && t.dtype.is_float() => {}
        [t] => {
            let remedy = match t.dtype {
                _ if !t.shape.is_empty() => remedy,
                d if d.is_complex() => {
                    "take a real number of it: `.real()`, `.abs()`; for holomorphic functions use `vjp`"
                }
                _ => "integers have no derivative: compute the result in floating point",
            };
            return Err(
                OpError::new("result", format!("the function must give one real scalar, it gives {t}")).remedy(remedy)
            );
        }
        list => {
            let e = OpError::new(
                "result",
                format!("the function must give one real scalar, it gives {} values", list.len()),
            );
            return Err(e.remedy(remedy));
        }
    }
    let paths = def.paths();
    for i in wanted.iter().flat_map(|(r, _)| r.clone()) {
        if let Some(t) = inputs.get(i)
            && !differentiable(t.dtype)
        {
            let at = paths.get(i).filter(|p| !p.is_empty()).map(|p| format!(" at {p}")).unwrap_or_default();
            return Err(OpError::new("argument", format!("the input{at} is {t}, which has no gradient"))
                .remedy("differentiate floating-point arguments (`.wrt::<N>()`); pass integers as another argument"));
        }
    }
    Ok(())
}
