//! Training as graphs: the loss, and steps of optimisers over any tree of parameters.
//!
//! ```
//! use evoxc::prelude::*;
//! use evoxc_hf::train::Optimizer;
//! let sgd = Optimizer::sgd(0.1);
//! let step = {
//!     let sgd = sgd.clone();
//!     move |w: Sym, state: evoxc_hf::train::State<Sym>| {
//!         let (loss, g) = value_and_grad(|w: Sym| (w * w).sum(..)).call(w);
//!         let (w, state) = sgd.update(w, g, state);
//!         (w, state, loss)
//!     }
//! };
//! let w = Tensor::from([1f32, -2.0]);
//! let state = sgd.init(&w)?;
//! let (w, _, loss) = evaluate(step, (w, state), &Interp)?;
//! assert_eq!((w.to_vec::<f32>()?, loss.item::<f32>()?), (vec![0.8, -1.6], 5.0)); // w - 0.1 · 2w
//! # Ok::<(), evoxc::Error>(())
//! ```

use crate::{Config, Params, Result, forward};
use evoxc::prelude::*;
use evoxc::{DimLike, TreeDef};

/// The mean cross-entropy of each next token, as a graph function: `(params, input_ids) -> loss`, for i32 `[B, T]` ids.
///
/// # Errors
/// As [`forward`].
pub fn loss(
    config: &Config,
    sequence: impl DimLike,
) -> Result<impl Fn(Params<Sym>, Sym) -> Sym + Clone + Send + Sync + 'static> {
    let forward = forward(config, sequence)?;
    Ok(move |params: Params<Sym>, ids: Sym| {
        let logits = forward(params, ids).slice(s![.., ..-1, ..]);
        logits.cross_entropy(ids.slice(s![.., 1..]), CrossEntropy::default())
    })
}

/// One step of training, as a graph function: `(params, state, input_ids) -> (params, state, loss)`. Moved in, the
/// parameters and the state are updated in place.
///
/// # Errors
/// As [`forward`].
pub fn step(
    config: &Config,
    sequence: impl DimLike,
    optimizer: Optimizer,
) -> Result<impl Fn(Params<Sym>, State<Sym>, Sym) -> (Params<Sym>, State<Sym>, Sym) + Clone + Send + Sync + 'static> {
    let loss = loss(config, sequence)?;
    Ok(move |params: Params<Sym>, state: State<Sym>, ids: Sym| {
        let (l, g) = value_and_grad(loss.clone()).call((params.clone(), ids));
        let (params, state) = optimizer.update(params, g, state);
        (params, state, l)
    })
}

/// What an optimiser remembers: a number of steps, and running moments of each parameter in the tree's order.
#[derive(Tree, Clone, Debug)]
pub struct State<T> {
    /// i32 `[]`: the steps made.
    pub steps: T,
    /// The running mean of the gradients; none without momentum.
    pub mean: Vec<T>,
    /// The running mean of their squares, for Adam.
    pub square: Vec<T>,
}

/// A rule that changes parameters by their gradients, with PyTorch's formulas and defaults.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Optimizer {
    /// The rule.
    pub rule: Rule,
    /// The learning rate.
    pub rate: f64,
}

/// The rules.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Rule {
    /// Gradient descent; `momentum` 0 is the plain one.
    Sgd {
        /// How much of the last change is made again.
        momentum: f64,
    },
    /// Adam (Kingma and Ba, 2015); with decay AdamW (Loshchilov and Hutter, 2019).
    Adam {
        /// How much of the running mean is kept.
        beta1: f64,
        /// How much of the running mean of squares is kept.
        beta2: f64,
        /// What is added to the root of it.
        eps: f64,
        /// Parameters shrink by rate · decay a step.
        decay: f64,
    },
}

impl Optimizer {
    /// Gradient descent.
    pub fn sgd(rate: f64) -> Optimizer {
        Optimizer { rule: Rule::Sgd { momentum: 0.0 }, rate }
    }
    /// Gradient descent with momentum.
    pub fn momentum(rate: f64, momentum: f64) -> Optimizer {
        Optimizer { rule: Rule::Sgd { momentum }, rate }
    }
    /// Adam with betas of 0.9 and 0.999, and 1e-8.
    pub fn adam(rate: f64) -> Optimizer {
        Optimizer::adamw(rate, 0.0)
    }
    /// AdamW: Adam, and parameters that decay by themselves.
    pub fn adamw(rate: f64, decay: f64) -> Optimizer {
        Optimizer { rule: Rule::Adam { beta1: 0.9, beta2: 0.999, eps: 1e-8, decay }, rate }
    }
    /// Which moments there are.
    fn moments(&self) -> (bool, bool) {
        match self.rule {
            Rule::Sgd { momentum } => (momentum != 0.0, false),
            Rule::Adam { .. } => (true, true),
        }
    }
    /// The state before the first step, for parameters of any tree.
    ///
    /// # Errors
    /// There is not enough memory for it.
    pub fn init<P: Tree<Tensor> + Clone>(&self, params: &P) -> Result<State<Tensor>> {
        let (mean, square) = self.moments();
        let all = Dyn::of(params.clone());
        let zeros = |on: bool| -> evoxc::Result<Vec<Tensor>> {
            let zero = |t: &Tensor| Tensor::try_full(wide(t.dtype()), t.shape(), 0);
            all.leaves().iter().filter(|_| on).map(zero).collect()
        };
        Ok(State { steps: Tensor::from(0i32), mean: zeros(mean)?, square: zeros(square)? })
    }
    /// The specs of that state.
    pub fn specs<P: Tree<TensorSpec> + Clone>(&self, params: &P) -> State<TensorSpec> {
        let (mean, square) = self.moments();
        let all = Dyn::of(params.clone());
        let like = |on: bool| -> Vec<TensorSpec> {
            all.leaves().iter().filter(|_| on).map(|s| spec(wide(s.dtype), s.shape.clone())).collect()
        };
        State { steps: spec(I32, []), mean: like(mean), square: like(square) }
    }
    /// The parameters and the state after a step, inside a graph. Changes are computed in f32 (f64 for f64): changes
    /// smaller than a half's last place are lost in parameters that are halves.
    ///
    /// A state that this rule does not have for these parameters is an error of the trace.
    #[track_caller]
    pub fn update<P: Tree<Sym> + Clone>(&self, params: P, gradients: P, state: State<Sym>) -> (P, State<Sym>) {
        let (leaves, def) = TreeDef::flatten(params.clone());
        let (gradients, _) = TreeDef::flatten(gradients);
        let (mean, square) = self.moments();
        let expected = |on: bool| if on { leaves.len() } else { 0 };
        if gradients.len() != leaves.len()
            || state.mean.len() != expected(mean)
            || state.square.len() != expected(square)
        {
            let remedy = "make it with `init` (or `specs`) of the same optimiser and parameters".to_string();
            let message = "the state is not this optimiser's for these parameters";
            evoxc::fail("Optimizer::update", &leaves, message, Some(remedy));
            return (params, state);
        }
        let mut next = State { steps: state.steps + 1, mean: vec![], square: vec![] };
        let count = next.steps.cast(F32);
        let mut out = vec![];
        for (i, (p, g)) in leaves.iter().zip(&gradients).enumerate() {
            let dtype = p.dtype();
            let (wide_p, g) = (p.cast(wide(dtype)), g.cast(wide(dtype)));
            let changed = match self.rule {
                Rule::Sgd { momentum: 0.0 } => wide_p - self.rate * g,
                Rule::Sgd { momentum } => {
                    let m = momentum * state.mean[i] + g;
                    next.mean.push(m);
                    wide_p - self.rate * m
                }
                Rule::Adam { beta1, beta2, eps, decay } => {
                    let m = beta1 * state.mean[i] + (1.0 - beta1) * g;
                    let v = beta2 * state.square[i] + (1.0 - beta2) * g * g;
                    next.mean.push(m);
                    next.square.push(v);
                    // Both means begin at 0, which these divisors make up for.
                    // 1 - beta^count, without the loss of digits near 0.
                    let of = |beta: f64| (-(count * beta.ln()).expm1()).cast(wide(dtype));
                    let kept = if decay == 0.0 { wide_p } else { wide_p * (1.0 - self.rate * decay) };
                    kept - self.rate * (m / of(beta1)) / ((v / of(beta2)).sqrt() + eps)
                }
            };
            out.push(changed.cast(dtype));
        }
        // The structure is the one that the leaves came from.
        (def.unflatten(out).unwrap_or(params), next)
    }
}

/// The dtype that sums are kept in.
fn wide(d: DType) -> DType {
    if d == F64 { F64 } else { F32 }
}
