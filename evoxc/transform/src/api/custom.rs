//! `custom_jvp` and `custom_vjp`: functions with derivative rules of their own, which the graph keeps.

use super::function::{Part, captures, function};
use super::{Traced, Via, argument, flatten, rebuild};
use crate::regions;
use evoxc_core::{Loc, OpError, Tree, TreeDef};
use evoxc_ir::{Prim, Region, TensorType};
use evoxc_trace::{GraphFn, Sym, emitter};
use std::cell::Cell;

thread_local! {
    /// How many rules are being traced, each within another.
    static RULES: Cell<usize> = const { Cell::new(0) };
}

/// Rules within rules, beyond which a rule is taken to apply the function that it belongs to.
const MAX_RULES: usize = 20;

/// Traces a rule.
fn trace_rule<F, A, M>(
    transform: &str,
    rule: &F,
    types: &[TensorType],
    inputs: &TreeDef,
    loc: Option<Loc>,
) -> (Option<Region>, TreeDef)
where
    A: Tree<Sym>,
    F: GraphFn<A, M>,
{
    struct Depth(usize);
    impl Drop for Depth {
        fn drop(&mut self) {
            RULES.set(self.0);
        }
    }
    let depth = Depth(RULES.replace(RULES.get() + 1));
    if depth.0 >= MAX_RULES {
        let e = OpError::new("rule", "it applies, directly or by others, the function that it is a rule of")
            .remedy("in the rule, call the function that is wrapped instead");
        emitter::refuse(transform, e.at(loc));
        emitter::abort();
    }
    emitter::trace_region::<F, A, M>(rule, types, inputs, loc)
}

/// See [`custom_jvp`].
#[derive(Clone, Copy, Debug)]
pub struct CustomJvp<F, R> {
    f: F,
    rule: R,
}
/// See [`custom_vjp`].
#[derive(Clone, Copy, Debug)]
pub struct CustomVjp<F, W, B> {
    f: F,
    forward: W,
    backward: B,
}

/// `f` with a rule for derivatives in place of what its ops say: `(primals, tangents) -> (out, out_tangent)`, like
/// [`jvp`](crate::jvp) of `f`, and linear in the tangents. Both modes use it. Integer and boolean arguments have zeros
/// as tangents, and the tangents of such results are ignored.
///
/// The graph holds a `call` that carries the rule, so a saved graph still differentiates by it.
///
/// # Errors
/// When traced, a [`TransformError`](evoxc_core::TransformError): the rule gives other types than `f`. When
/// differentiated: with respect to a value that `f` or the rule captures, of which the rule says nothing; pass it as an
/// argument.
///
/// ```
/// use evoxc::prelude::*;
/// // log(1 + eˣ), whose derivative is computed without overflow.
/// let softplus = custom_jvp(|x: Sym| x.exp().log1p(), |x: Sym, t: Sym| (x.exp().log1p(), t * x.logistic()));
/// assert_eq!(evaluate(grad(&softplus), Tensor::from(100f32), &Interp)?.item::<f32>()?, 1.0);
/// # Ok::<(), evoxc::Error>(())
/// ```
pub fn custom_jvp<F, R>(f: F, rule: R) -> CustomJvp<F, R> {
    CustomJvp { f, rule }
}

/// `f` with a rule for reverse mode in place of what its ops say: `forward` takes the arguments and gives
/// `(out, residuals)`, `backward` takes `(residuals, cotangent)` and gives the cotangents of the arguments (the tree of
/// the argument list; anything of their type for integer and boolean ones). Forward mode has no rule then.
///
/// The graph holds a `call` that carries the rules, so a saved graph still differentiates by them.
///
/// # Errors
/// When traced, a [`TransformError`](evoxc_core::TransformError): the rules' types do not fit those of `f`. When
/// differentiated: in forward mode, or with respect to a value that `f` or a rule captures; pass it as an argument.
///
/// ```
/// use evoxc::prelude::*;
/// // The identity, whose gradient is clipped.
/// let clip = custom_vjp(|x: Sym| x, |x: Sym| (x, ()), |_: (), ct: Sym| ct.clip(-1.0, 1.0));
/// let slope = grad(|x: Sym| clip.call(x) * 5.0);
/// assert_eq!(evaluate(slope, Tensor::from(2f32), &Interp)?.item::<f32>()?, 1.0);
/// # Ok::<(), evoxc::Error>(())
/// ```
pub fn custom_vjp<F, W, B>(f: F, forward: W, backward: B) -> CustomVjp<F, W, B> {
    CustomVjp { f, forward, backward }
}

/// `.call` and the impl for references, for a transform of several functions.
macro_rules! callable_many {
    ($T:ident<$($F:ident),*>) => {
        impl<$($F),*> $T<$($F),*> {
            /// Applies it inside a trace: within a `#[defn]` or a closure that is traced.
            #[track_caller]
            pub fn call<A, Mark>(&self, args: A) -> <Self as GraphFn<A, Mark>>::Out
            where
                Self: GraphFn<A, Mark>,
            {
                evoxc_trace::emitter::called_here();
                self.apply(args)
            }
        }
        impl<$($F,)* A, Mark> GraphFn<A, Via<Mark>> for &$T<$($F),*>
        where
            $T<$($F),*>: GraphFn<A, Via<Mark>>,
        {
            type Out = <$T<$($F),*> as GraphFn<A, Via<Mark>>>::Out;
            fn apply(&self, args: A) -> Self::Out {
                (**self).apply(args)
            }
        }
    };
}
callable_many!(CustomJvp<F, R>);
callable_many!(CustomVjp<F, W, B>);

impl<F, R, A, M, N> GraphFn<A, Via<(M, N)>> for CustomJvp<F, R>
where
    F: GraphFn<A, M>,
    R: GraphFn<(A, A), N, Out = (F::Out, F::Out)>,
    A: Tree<Sym>,
{
    type Out = F::Out;
    fn apply(&self, args: A) -> F::Out {
        let (x, types, def) = flatten(args);
        let Some(types) = types else { emitter::abort() };
        let traced = Traced::new::<F, A, M>("custom_jvp", &self.f, &types, &def);
        let outputs = traced.outputs.clone();
        let pair = pair::<A, A>("custom_jvp", &def, &def);
        let twice = [types.clone(), types.clone()].concat();
        let (rule, rule_outputs) = trace_rule::<R, (A, A), N>("custom_jvp", &self.rule, &twice, &pair, traced.loc);
        let out = traced.write(outputs.leaf_count(), |region, traced| {
            let Some(rule) = &rule else { return Ok(vec![]) };
            let results = traced.output_types();
            structure("rule", &rule_outputs, &[&outputs, &outputs])?;
            same("rule", &emitter::types(&rule.results), &[results.clone(), results].concat())?;
            let captured = captures(&[region, rule], &types);
            let (n, c) = (Part::Own(x.len()), Part::Captured(&captured));
            let callee = function("custom", region, &[n, c], &[])?;
            let parts = [Part::Own(x.len()), Part::Captured(&captured), Part::Own(x.len())];
            let jvp = Some(function("custom_jvp", rule, &parts, &[])?);
            let captures = (!captured.is_empty()).then_some(captured.len());
            let prim = Prim::Call { callee, jvp, forward: None, vjp: None, batch: None, captures, remat: false };
            Ok(regions::emit(prim, &[x, captured].concat(), vec![])?.to_vec())
        });
        rebuild("custom_jvp", &outputs, out)
    }
}

impl<F, W, B, A, S, M, N, P> GraphFn<A, Via<(M, N, P, S)>> for CustomVjp<F, W, B>
where
    F: GraphFn<A, M>,
    W: GraphFn<A, N, Out = (F::Out, S)>,
    B: GraphFn<(S, F::Out), P, Out = A>,
    A: Tree<Sym>,
    S: Tree<Sym>,
{
    type Out = F::Out;
    fn apply(&self, args: A) -> F::Out {
        let (x, types, def) = flatten(args);
        let Some(types) = types else { emitter::abort() };
        let traced = Traced::new::<F, A, M>("custom_vjp", &self.f, &types, &def);
        let outputs = traced.outputs.clone();
        let (forward, forward_outputs) = trace_rule::<W, A, N>("custom_vjp", &self.forward, &types, &def, traced.loc);
        let Some(forward) = forward else {
            let poison = vec![emitter::poison(); outputs.leaf_count()];
            return rebuild("custom_vjp", &outputs, poison);
        };
        let ((_, out_def), (kept, kept_def)) = (argument(&forward_outputs, 0), argument(&forward_outputs, 1));
        let found = emitter::types(&forward.results);
        // The cotangents have the types of the results, the residuals come before them.
        let split = found.len() - kept.len().min(found.len());
        let inputs = [&found[split..], &found[..split]].concat();
        let pair = pair::<S, F::Out>("custom_vjp", &kept_def, &out_def);
        let (backward, backward_outputs) =
            trace_rule::<B, (S, F::Out), P>("custom_vjp", &self.backward, &inputs, &pair, traced.loc);
        let out = traced.write(outputs.leaf_count(), |region, traced| {
            let Some(backward) = &backward else { return Ok(vec![]) };
            structure("forward", &out_def, &[&outputs])?;
            same("forward", &found[..split], &traced.output_types())?;
            structure("backward", &backward_outputs, &[&def])?;
            same("backward", &emitter::types(&backward.results), &types)?;
            Ok(with_rules(region, &forward, backward, &x, &types, kept.len())?.to_vec())
        });
        rebuild("custom_vjp", &outputs, out)
    }
}

/// A call that carries `forward` and `backward`; what `backward` captures goes to it by way of the residuals.
fn with_rules(
    f: &Region,
    forward: &Region,
    backward: &Region,
    x: &[Sym],
    types: &[TensorType],
    residuals: usize,
) -> Result<Vec<Sym>, OpError> {
    let captured = captures(&[f, forward, backward], types);
    let last = captures(&[backward], &emitter::types(&backward.args));
    let all = || Part::Captured(&captured);
    let callee = function("custom", f, &[Part::Own(x.len()), all()], &[])?;
    let forward = Some(function("custom_forward", forward, &[Part::Own(x.len()), all()], &last)?);
    let parts = [Part::Own(residuals), Part::Captured(&last), Part::Own(backward.args.len() - residuals)];
    let vjp = Some(function("custom_vjp", backward, &parts, &[])?);
    let captures = (!captured.is_empty()).then_some(captured.len());
    let prim = Prim::Call { callee, jvp: None, forward, vjp, batch: None, captures, remat: false };
    Ok(regions::emit(prim, &[x, &captured].concat(), vec![])?.to_vec())
}

/// The structure of a pair of trees.
fn pair<A: Tree<Sym>, B: Tree<Sym>>(transform: &str, a: &TreeDef, b: &TreeDef) -> TreeDef {
    let leaves = |d: &TreeDef| vec![emitter::poison(); d.leaf_count()];
    let trees: (A, B) = (rebuild(transform, a, leaves(a)), rebuild(transform, b, leaves(b)));
    TreeDef::flatten(trees).1
}

/// A rule must give these trees.
fn structure(rule: &str, got: &TreeDef, want: &[&TreeDef]) -> Result<(), OpError> {
    let parts = if want.len() == 1 { vec![got.clone()] } else { got.arguments() };
    let found = parts.iter().zip(want).find_map(|(g, w)| w.difference(g));
    match found {
        Some(d) => Err(OpError::new(rule, format!("it gives another structure than the function: {d}"))),
        None => Ok(()),
    }
}

/// A rule must give these types.
fn same(rule: &str, got: &[TensorType], want: &[TensorType]) -> Result<(), OpError> {
    let differ = |(g, w): &(&TensorType, &TensorType)| g.dtype != w.dtype || g.shape != w.shape;
    match got.iter().zip(want).enumerate().find(|(_, p)| differ(p)) {
        Some((i, (g, w))) => Err(OpError::new(rule, format!("value {i} that it gives is {g}, it must be {w}"))
            .remedy("tangents and cotangents have the types of their values; `.cast(..)` or `.broadcast_to(..)` it")),
        None => Ok(()),
    }
}
