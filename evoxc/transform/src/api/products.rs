//! `jvp` and `vjp`: products of the Jacobian with tangents and cotangents.

use super::grad::pull;
use super::{Traced, Via, callable, flatten, rebuild};
use crate::jvp::{Jvp as Walk, Mode};
use crate::{differentiable, zeros};
use evoxc_core::{OpError, Tree};
use evoxc_ir::TensorType;
use evoxc_trace::{GraphFn, Sym, emitter};

/// See [`jvp`].
#[derive(Clone, Copy, Debug)]
pub struct Jvp<F>(F);
/// See [`vjp`].
#[derive(Clone, Copy, Debug)]
pub struct Vjp<F>(F);

/// Forward mode: `(primals, tangents) -> (out, out_tangent)`, where `primals` and `tangents` are the argument lists of
/// `f`. The tangent of an integer or boolean input is ignored, that of such an output is zero, of its own dtype.
///
/// # Errors
/// When traced, a [`TransformError`](evoxc_core::TransformError): primals and tangents differ in type, or an op has no
/// derivative rule.
///
/// ```
/// use evoxc::prelude::*;
/// let args = (Tensor::from(3f32), Tensor::from(1f32));
/// let (y, t) = evaluate(jvp(|x: Sym| x * x), args, &Interp)?;
/// assert_eq!((y.item::<f32>()?, t.item::<f32>()?), (9.0, 6.0));
/// # Ok::<(), evoxc::Error>(())
/// ```
pub fn jvp<F>(f: F) -> Jvp<F> {
    Jvp(f)
}

/// Reverse mode: `(args, cotangent) -> cotangents`, where `args` is the argument list of `f` and `cotangent` has the type
/// of its result. Integer and boolean inputs get zeros of their own dtype.
///
/// # Errors
/// When traced, a [`TransformError`](evoxc_core::TransformError): the cotangent has another type than the result, an op
/// has no derivative rule, or a `while_loop` lies on the way (use `fori_loop` or `scan`).
///
/// ```
/// use evoxc::prelude::*;
/// let args = (Tensor::from([1f32, 2.0]), Tensor::from([1f32, 10.0]));
/// let ct = evaluate(vjp(|x: Sym| x * x), args, &Interp)?;
/// assert_eq!(ct.to_vec::<f32>()?, [2.0, 40.0]);
/// # Ok::<(), evoxc::Error>(())
/// ```
pub fn vjp<F>(f: F) -> Vjp<F> {
    Vjp(f)
}
callable!(Jvp);
callable!(Vjp);

impl<F, P, Mark> GraphFn<(P, P), Via<Mark>> for Jvp<F>
where
    F: GraphFn<P, Mark>,
    P: Tree<Sym>,
{
    type Out = (F::Out, F::Out);
    fn apply(&self, (primals, tangents): (P, P)) -> Self::Out {
        let (x, types, def) = flatten(primals);
        let (t, tangent_types, tangent_def) = flatten(tangents);
        let (Some(types), Some(tangent_types)) = (types, tangent_types) else { emitter::abort() };
        let traced = Traced::new::<F, P, Mark>("jvp", &self.0, &types, &def);
        let outputs = traced.outputs.clone();
        let n = outputs.leaf_count();
        let mut all = traced.write(2 * n, |region, _| {
            if let Some(d) = def.difference(&tangent_def) {
                return Err(OpError::new("tangents", format!("they have another structure than the primals: {d}")));
            }
            same("tangent", "primal", &tangent_types, &types, &def.paths())?;
            let mut walk = Walk::new(Mode::Fused);
            for ((&v, (&x, &t)), ty) in region.args.iter().zip(x.iter().zip(&t)).zip(&types) {
                walk.define(v, x, differentiable(ty.dtype).then_some(t));
            }
            walk.region(region)?;
            let values = walk.primals(&region.results);
            let ts =
                region.results.iter().map(|v| walk.tangent.get(v).copied().unwrap_or_else(|| zeros(&emitter::ty(*v))));
            let ts: Vec<Sym> = ts.collect();
            Ok(values.into_iter().chain(ts).collect())
        });
        let t = all.split_off(n.min(all.len()));
        (rebuild("jvp", &outputs, all), rebuild("jvp", &outputs, t))
    }
}

impl<F, A, O, Mark> GraphFn<(A, O), Via<Mark>> for Vjp<F>
where
    F: GraphFn<A, Mark, Out = O>,
    A: Tree<Sym>,
    O: Tree<Sym>,
{
    type Out = A;
    fn apply(&self, (args, cotangent): (A, O)) -> A {
        let (x, types, def) = flatten(args);
        let (ct, ct_types, ct_def) = flatten(cotangent);
        let (Some(types), Some(ct_types)) = (types, ct_types) else { emitter::abort() };
        let traced = Traced::new::<F, A, Mark>("vjp", &self.0, &types, &def);
        let grads = traced.write(types.len(), |region, traced| {
            if let Some(d) = traced.outputs.difference(&ct_def) {
                return Err(OpError::new("cotangent", format!("it has another structure than the result: {d}")));
            }
            same("cotangent", "result", &ct_types, &traced.output_types(), &ct_def.paths())?;
            let active: Vec<bool> = types.iter().map(|t| differentiable(t.dtype)).collect();
            let pulled = pull(region, &x, &active, |_| ct.iter().copied().map(Some).collect())?;
            let Some((_, grads)) = pulled else { return Ok(vec![]) };
            Ok(grads.iter().zip(&types).map(|(g, t)| g.unwrap_or_else(|| zeros(t))).collect())
        });
        rebuild("vjp", &def, grads)
    }
}

/// Checks that types agree, leaf by leaf.
pub(crate) fn same(a: &str, b: &str, got: &[TensorType], want: &[TensorType], paths: &[String]) -> Result<(), OpError> {
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        if g.dtype != w.dtype || g.shape != w.shape {
            let at = paths.get(i).filter(|p| !p.is_empty()).map(|p| format!(" at {p}")).unwrap_or_default();
            return Err(OpError::new(a, format!("the {a}{at} is {g}, its {b} is {w}")).remedy("give it the same type"));
        }
    }
    Ok(())
}
