//! Reductions whose named combiner StableHLO's consumers lack, with a body instead.

use super::complex::extreme;
use super::parts::{emit_regions, region};
use super::rules::Syms;
use evoxc_core::{DType, OpError, spec};
use evoxc_ir::{Prim, ScatterDims, SelectOp, Window};
use evoxc_trace::{Sym, full};
use num_complex::Complex;

/// The body that chooses the larger (smaller) of two scalars.
fn choice(largest: bool, d: DType) -> Result<evoxc_ir::Region, OpError> {
    let t = spec(d, []);
    region(&[t.clone(), t], |args| match args {
        [a, b] => Ok(vec![extreme(largest, *a, *b)]),
        _ => Err(OpError::new("", "the body takes two values")),
    })
}

/// The largest (smallest) complex numbers along axes or in windows.
pub(super) fn complex_extremes(prim: &Prim, largest: bool, x: Sym) -> Result<Syms, OpError> {
    let d = x.dtype();
    let least = if largest { f64::NEG_INFINITY } else { f64::INFINITY };
    let init = full(d, [], Complex::new(least, least));
    let body = choice(largest, d)?;
    let prim = match prim {
        Prim::Reduce { axes, .. } => Prim::ReduceBody { axes: axes.clone() },
        Prim::ReduceWindow { window, .. } => Prim::ReduceWindowBody { window: window.clone() },
        p => return Err(OpError::new(p.name(), "it reduces nothing")),
    };
    emit_regions(prim, &[x, init], vec![body])
}

/// A scatter that keeps the larger (smaller) complex number.
pub(super) fn complex_scatter(
    largest: bool,
    dims: ScatterDims,
    sorted: bool,
    unique: bool,
    [x, indices, updates]: [Sym; 3],
) -> Result<Syms, OpError> {
    let body = choice(largest, x.dtype())?;
    emit_regions(Prim::ScatterBody { dims, sorted, unique }, &[x, indices, updates], vec![body])
}

/// The gradient of pooling. Of a window the first largest (smallest) element is selected, NaN before any number; halves
/// are summed in f32 and rounded once.
pub(super) fn pool(select: SelectOp, window: &Window, x: Sym, source: Sym) -> Result<Syms, OpError> {
    use evoxc_core::{BF16, F16, F32};
    let d = x.dtype();
    let wide = if matches!(d, F16 | BF16) { F32 } else { d };
    let scalar = spec(wide, []);
    let pair = [scalar.clone(), scalar];
    let two = || OpError::new("", "the body takes two values");
    let select = region(&pair, |args| {
        let [chosen, other] = <[Sym; 2]>::try_from(args).map_err(|_| two())?;
        let stays = match (wide.is_complex(), select) {
            // The one that wins is the same whichever is asked for where neither is NaN.
            (true, SelectOp::Max) => super::complex::at_least(chosen, other),
            (true, SelectOp::Min) => super::complex::at_most(chosen, other),
            (false, SelectOp::Max) => chosen.ge(other),
            (false, SelectOp::Min) => chosen.le(other),
        };
        let float = wide.is_float() || wide.is_complex();
        Ok(vec![if float { chosen.ne(chosen) | stays } else { stays }])
    })?;
    let add = region(&pair, |args| match args {
        [a, b] => Ok(vec![*a + *b]),
        _ => Err(two()),
    })?;
    let zero = full(wide, [], false);
    let prim = Prim::SelectAndScatterBody { window: window.clone() };
    let y = emit_regions(prim, &[x.cast(wide), source.cast(wide), zero], vec![select, add])?;
    Ok(y.into_iter().map(|y| y.cast(d)).collect())
}
