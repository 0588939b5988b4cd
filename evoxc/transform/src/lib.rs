//! Transforms: functions on graph functions that give graph functions.
//!
//! This crate owns derivatives (jvp, and linearise + transpose for reverse mode), vmap, and `batch_functions`. A
//! transform traces the function that it is given into a region that stands nowhere, walks its ops, and writes others
//! into the trace of the caller. What it writes are ordinary ops: nothing below learns the words grad or vmap. It never
//! executes anything.
//!
//! One rule an op, in three exhaustive matches: `jvp::rules` (every differentiable op), `transpose::rules` (every linear
//! op), `vmap::rules` (every op). Tangents and cotangents that are zero are absent (`None`), so no arithmetic on zeros
//! is written.

mod api;
mod batch_functions;
mod depend;
mod jvp;
mod linear;
mod matrices;
mod places;
mod regions;
mod taps;
mod transpose;
mod vmap;

pub use api::Via;
pub use api::checkpoint::{Checkpoint, checkpoint};
pub use api::custom::{CustomJvp, CustomVjp, custom_jvp, custom_vjp};
pub use api::grad::{Grad, Grad2, GradAll, ValueAndGrad, ValueAndGrad2, ValueAndGradAll, grad, value_and_grad};
pub use api::jacobian::{Hessian, Hvp, JacFwd, JacRev, hessian, hvp, jacfwd, jacrev};
pub use api::products::{Jvp, Vjp, jvp, vjp};
pub use api::vmap::{Vmap, vmap};
pub use batch_functions::{
    Alignment, Bands, BatchFunctions, BatchReport, BatchedGraph, SwitchOps, batch_functions, batch_functions_of,
};

use evoxc_core::{DType, OpError};
use evoxc_ir::{Prim, TensorType};
use evoxc_trace::{Sym, emitter};

/// Do values of this dtype have tangents?
fn differentiable(d: DType) -> bool {
    d.is_float() || d.is_complex()
}

/// What an op without a rule says.
fn no_rule(prim: &Prim, why: &str, remedy: &str) -> OpError {
    OpError::new(prim.name(), format!("it has no rule: {why}")).remedy(remedy)
}

/// A constant zero of this type.
#[track_caller]
fn zeros(ty: &TensorType) -> Sym {
    evoxc_trace::zeros(ty.dtype, &ty.shape)
}

/// The tangent, or a zero like the primal in its place.
#[track_caller]
fn instantiate(t: Option<Sym>, like: Sym) -> Sym {
    match (t, emitter::type_of(like)) {
        (Some(t), _) => t,
        (None, Some(ty)) => zeros(&ty),
        (None, None) => emitter::poison(),
    }
}
