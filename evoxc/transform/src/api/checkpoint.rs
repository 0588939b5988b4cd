//! `checkpoint`: reverse mode computes the function again instead of storing what it needs of it.

use super::function::{Part, captures, function};
use super::{Traced, Via, callable, flatten, rebuild};
use crate::regions;
use evoxc_core::Tree;
use evoxc_trace::{GraphFn, Sym, emitter};

/// See [`checkpoint`].
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint<F>(F);

/// The same function, of which reverse mode stores nothing but the arguments (and what it captures): when its derivative
/// is needed, it is computed again. Within the body of a `scan` that trades the memory of every step's intermediate
/// values for the time of a second forward pass. What the function prints is printed once.
///
/// The graph holds a `call` with the flag `remat`, so a saved graph still recomputes.
///
/// ```
/// use evoxc::prelude::*;
/// let layer = checkpoint(|x: Sym, w: Sym| (x * w).tanh().sin());
/// let loss = |x: Sym, w: Sym| layer.call((x, w)).sum(..);
/// let args = || (Tensor::from([1f32, 2.0]), Tensor::from([0.5f32, 0.0]));
/// let plain = evaluate(grad(|x: Sym, w: Sym| (x * w).tanh().sin().sum(..)), args(), &Interp)?;
/// assert_eq!(evaluate(grad(loss), args(), &Interp)?.to_vec::<f32>()?, plain.to_vec::<f32>()?);
/// # Ok::<(), evoxc::Error>(())
/// ```
pub fn checkpoint<F>(f: F) -> Checkpoint<F> {
    Checkpoint(f)
}
callable!(Checkpoint);

impl<F, A, Mark> GraphFn<A, Via<Mark>> for Checkpoint<F>
where
    F: GraphFn<A, Mark>,
    A: Tree<Sym>,
{
    type Out = F::Out;
    fn apply(&self, args: A) -> F::Out {
        let (x, types, def) = flatten(args);
        let Some(types) = types else { emitter::abort() };
        let traced = Traced::new::<F, A, Mark>("checkpoint", &self.0, &types, &def);
        let outputs = traced.outputs.clone();
        let out = traced.write(outputs.leaf_count(), |region, _| {
            let captured = captures(&[region], &types);
            let name = function("checkpoint", region, &[Part::Own(x.len()), Part::Captured(&captured)], &[])?;
            let operands: Vec<Sym> = x.iter().chain(&captured).copied().collect();
            Ok(regions::emit(regions::call(name, true), &operands, vec![])?.to_vec())
        });
        rebuild("checkpoint", &outputs, out)
    }
}
