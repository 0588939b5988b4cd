//! Rewrites what StableHLO cannot say into what it can: graphs in, graphs out.
//!
//! This module owns one form in StableHLO's primitives of every primitive that StableHLO lacks. The exhaustive match is in
//! `rules`; the forms are ordinary formulas, written with the methods of `Sym` like any program. It knows no text: the
//! exporter takes what is left. Formulas come from the literature, named where they stand.
//!
//! Types, names, locations, calls and static values stay as they are. Symbolic extents stay symbolic; the few forms that
//! need a number (factorisations) refuse a symbol and name the remedy.

mod arithmetic;
mod complex;
mod conversion;
mod cumulative;
mod elementary;
mod error_function;
mod extremes;
mod fourier;
mod gamma;
mod library;
mod linalg;
mod ordering;
mod parts;
mod pooling;
mod random;
mod reductions;
mod rules;
mod scan;
mod walk;

use evoxc_core::{BackendError, Error, OpError, Result};
use evoxc_ir::{Module, Region};
use rules::{Rule, rule};

/// What a consumer of StableHLO text takes besides StableHLO.
///
/// ```
/// use evoxc_stablehlo::expand::ExpandOptions;
/// let options = ExpandOptions { chlo: true, ..ExpandOptions::default() };
/// assert!(!options.drop_prints);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct ExpandOptions {
    /// It takes CHLO: erf, erfc, erf_inv, lgamma, digamma, asin to atanh, sinh, cosh, conj, nextafter and top_k stay.
    pub chlo: bool,
    /// `print` is left out; without this it is an error, since StableHLO has no effects.
    pub drop_prints: bool,
    /// Its `convert` of floats to integers does not saturate, so that bounds and NaN are written out. XLA's does.
    pub saturate: bool,
    /// It lacks what StableHLO has: Cholesky factors, triangular solves, Fourier transforms, gradients of pooling,
    /// sorts that are stable, and cube roots, powers of negative numbers, atan2, log1p, expm1 and moduli that are exact,
    /// which are written out too. So does IREE.
    pub lean: bool,
}

/// The module with every op replaced that StableHLO cannot say.
///
/// The results are those of the module itself: bit for bit where they are integers or moved data, within the tolerances
/// of backends where they are floats. Functions that only the rules of a call name are left out: no derivative is taken
/// of the result.
///
/// # Errors
/// [`Error::Backend`] that names the op and the remedy: of `print` unless [`ExpandOptions::drop_prints`], and of
/// factorisations of symbolic extents. The errors of a trace where a rule of the IR is broken.
///
/// ```
/// use evoxc::prelude::*;
/// use evoxc_stablehlo::expand::{ExpandOptions, expand};
/// let graph = trace(|x: Sym| x.atan(), spec(F32, [2]))?;
/// let expanded = expand(graph.module(), &ExpandOptions::default())?;
/// assert!(expanded.to_string().contains("evoxc.atan2"));
/// # Ok::<(), evoxc::Error>(())
/// ```
pub fn expand(module: &Module, options: &ExpandOptions) -> Result<Module> {
    let mut out = walk::expand(module, options, true)?;
    // The forms use what a lean consumer lacks, whose forms do not.
    if options.lean && !unsayable(&out, options).is_empty() {
        out = walk::expand(&out, options, false)?;
    }
    Ok(out)
}

/// The names of the ops that [`expand`] would replace, each once, in order of use: none in what it gives.
///
/// ```
/// use evoxc::prelude::*;
/// use evoxc_stablehlo::expand::{ExpandOptions, unsayable};
/// let graph = trace(|x: Sym| x.exp().atan(), spec(F32, [2]))?;
/// assert_eq!(unsayable(graph.module(), &ExpandOptions::default()), ["atan"]);
/// # Ok::<(), evoxc::Error>(())
/// ```
pub fn unsayable(module: &Module, options: &ExpandOptions) -> Vec<String> {
    let mut out: Vec<String> = vec![];
    for f in &module.funcs {
        let mut regions: Vec<&Region> = vec![&f.body];
        while let Some(r) = regions.pop() {
            for op in &r.ops {
                let types: Vec<_> = op.operands.iter().map(|&v| f.ty(v).clone()).collect();
                let name = op.prim.name();
                match rule(&op.prim, &types, options) {
                    Rule::Has | Rule::Finish(_) | Rule::Around(_) => {}
                    Rule::Write(_) | Rule::Identity | Rule::Drop | Rule::Scan | Rule::Refuse(_) => {
                        if !out.contains(&name) {
                            out.push(name);
                        }
                    }
                }
                regions.extend(&op.regions);
            }
        }
    }
    out
}

/// An error of this module.
fn refused(op: OpError) -> Error {
    Error::Backend(Box::new(BackendError { backend: "stablehlo".into(), op }))
}
