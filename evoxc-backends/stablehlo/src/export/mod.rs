//! Modules as StableHLO text.
//!
//! This folder owns the text of every primitive, in the form in which the StableHLO project prints its ops: pretty
//! where there is a pretty form, else generic. It does not rewrite programs: primitives that StableHLO does not have
//! are expanded first, by `expand`. The text depends on the module and the options alone.

mod alone;
mod bounds;
mod captures;
mod collective;
mod complex;
mod constant;
mod contraction;
mod control;
mod convert;
mod dims;
mod elementwise;
mod function;
mod indexing;
mod linalg;
mod number;
mod op;
mod reduction;
mod scatter;
mod shape;
#[cfg(test)]
mod tests;
mod text;
mod writer;

use crate::expand::{ExpandOptions, expand};
use evoxc_core::{BackendError, OpError, Result};
use evoxc_ir::Module;
use evoxc_trace::Graph;

/// How [`export_module`] writes.
///
/// ```
/// use evoxc::prelude::*;
/// use evoxc::stablehlo::{ExportOptions, export_module};
/// let graph = trace(|x: Sym| x.erf(), spec(F32, [2]))?;
/// let options = ExportOptions { chlo: true, name: Some("gauss".into()), ..ExportOptions::default() };
/// let text = export_module(graph.module(), &options)?;
/// assert!(text.starts_with("module @gauss {"));
/// assert!(text.contains("chlo.erf %arg0 : tensor<2xf32> -> tensor<2xf32>"));
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportOptions {
    /// The module's name; by default the graph's.
    pub name: Option<String>,
    /// Writes ops of CHLO (`chlo.erf`, `chlo.asin`, `chlo.top_k` …) where StableHLO has none and CHLO has one, instead
    /// of their expansions.
    pub chlo: bool,
    /// Writes where the user wrote each op: `loc("src/model.rs":6:7)`.
    pub locations: bool,
    /// Pairs of an input and an output of the entry function that may share storage (`tf.aliasing_output`).
    pub aliasing: Vec<(usize, usize)>,
    /// Spells out what StableHLO leaves to the compiler and XLA does as evoxc does, but others may not: integer
    /// division by 0, shifts by more than the width, floats out of the range of an integer.
    pub strict: bool,
    /// Writes out Cholesky factors, triangular solves, Fourier transforms, gradients of pooling, stable sorts, and exact
    /// atan2, log1p and expm1 too, which StableHLO has but some compilers (IREE) lack; and the bounds of gathers and
    /// scatters, which those do not look at.
    pub lean: bool,
    /// Keeps what is worked out from constants alone from being folded where the folding of compilers' readers of
    /// StableHLO is at fault, by barriers: a maximum of NaN and a number is the number there, an integer division by 0
    /// ends the process, and what is gathered along a last axis comes out in another order.
    pub unfolded: bool,
    /// Leaves `print`s out. StableHLO has no effects, so that without this they are errors.
    pub drop_prints: bool,
    /// The program will run alone, as the only partition of the only replica: collectives give what the process
    /// brings, and those that need other processes are errors.
    pub alone: bool,
    /// Bodies of reductions, windows, scatters and sorts that use tensors from around them are errors: StableHLO has them,
    /// compilers do not. Scalars are passed in as operands, and constants written again inside, in any case.
    pub closed: bool,
}

/// The StableHLO text of a graph, with the default options: `module @main { func.func public @main(…) … }`.
///
/// ```
/// use evoxc::prelude::*;
/// let graph = trace(|x: Sym, w: Sym| x.dot(w).tanh().sum(1), (spec(F32, [4, 8]), spec(F32, [8, 4])))?;
/// let text = evoxc::stablehlo::export(&graph)?;
/// assert!(text.contains("stablehlo.tanh %0 : tensor<4x4xf32>"));
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// [`evoxc_core::BackendError`] naming the op that StableHLO cannot say, and what to do.
pub fn export<I, O>(graph: &Graph<I, O>) -> Result<String> {
    let n = graph.captures();
    if n > 0 {
        let op = OpError::new("export", format!("the graph captures {n} value(s) of an enclosing trace"))
            .remedy("pass the values as inputs");
        return Err(refused(op));
    }
    export_module(graph.module(), &ExportOptions::default())
}

/// The StableHLO text of a module.
///
/// Extents that are not constant are `?`; ops that compute with them take their values from the inputs. The entry
/// function is called `main`, whatever its name; functions that it does not reach are left out, and so are the rules
/// of calls.
///
/// ```
/// use evoxc::prelude::*;
/// use evoxc::stablehlo::{ExportOptions, export_module};
/// let graph = trace(|x: Sym| x + 1.0, spec(F32, (dim("B"), 4)))?;
/// let text = export_module(graph.module(), &ExportOptions::default())?;
/// assert!(text.contains("func.func public @main(%arg0: tensor<?x4xf32>) -> tensor<?x4xf32>"));
/// assert!(text.contains("stablehlo.get_dimension_size"));
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// [`evoxc_core::IrError`] of a module that breaks a rule; [`evoxc_core::BackendError`] naming the op that StableHLO
/// cannot say, its operands, and what to do.
pub fn export_module(module: &Module, options: &ExportOptions) -> Result<String> {
    module.verify()?;
    let expansion = ExpandOptions {
        chlo: options.chlo,
        drop_prints: options.drop_prints,
        saturate: options.strict,
        lean: options.lean,
    };
    let module = expand(module, &expansion)?;
    function::module(&module, options).map_err(refused)
}

fn refused(op: OpError) -> evoxc_core::Error {
    BackendError { backend: "stablehlo".into(), op }.into()
}

/// What goes wrong with one op.
type Outcome<T = ()> = std::result::Result<T, OpError>;
