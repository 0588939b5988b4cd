//! Tangents of sliding windows.

use super::{Mode, Site};
use crate::{no_rule, taps, zeros};
use evoxc_core::{OpError, Shape, spec};
use evoxc_ir::{Prim, Reducer, SelectOp, Window};
use evoxc_trace::{Sym, emitter, full};

/// By the combiner. That of a maximum is the tangent of the element that the window selects, as in JAX.
pub(super) fn reduce_window(site: &Site, op: Reducer, window: &Window) -> Result<Option<Sym>, OpError> {
    let Some(t) = site.t[0] else { return Ok(None) };
    let select = match op {
        Reducer::Sum => return Ok(Some(site.same(&[t]))),
        Reducer::Max => SelectOp::Max,
        Reducer::Min => SelectOp::Min,
        Reducer::Prod if window_sees_nothing(site) => return Ok(None),
        Reducer::Prod => return Ok(Some(taps::product(site.x[0], t, window, &site.y[0].shape()))),
        Reducer::And | Reducer::Or => return Ok(None),
    };
    if site.x[0].dtype().is_complex() {
        return Err(no_rule(&site.op.prim, "which complex element it selects has no kernel", "pool real numbers"));
    }
    if window_sees_nothing(site) {
        return Ok(None);
    }
    Ok(Some(choose(site, site.x[0], t, window, &site.y[0].shape(), select)))
}

/// Has x no elements?
fn window_sees_nothing(site: &Site) -> bool {
    site.x[0].shape().iter().any(|d| *d == 0)
}

/// The tangents of selected elements. To be transposed it is written as a reduction of pairs, whose transpose is
/// `select_and_scatter`; that knows no dilation.
fn choose(site: &Site, x: Sym, t: Sym, window: &Window, places: &Shape, select: SelectOp) -> Sym {
    let dilated = window.base_dilation.iter().chain(&window.window_dilation).any(|&d| d != 1);
    if site.mode == Mode::Fused || dilated {
        return taps::selected(x, t, window, places, select);
    }
    let scalar = spec(x.dtype(), Shape::scalar());
    let args = emitter::open_region(&vec![scalar.clone(); 4]);
    let [a, s, b, u] = args[..] else { return emitter::poison() };
    let (first, worst) = match select {
        SelectOp::Max => (a.ge(b), f64::NEG_INFINITY),
        SelectOp::Min => (a.le(b), f64::INFINITY),
    };
    let body = emitter::close_region("reduce_window", &[first.select(a, b), first.select(s, u)]);
    let operands = [x, t, full(x.dtype(), [], worst), zeros(&scalar)];
    let pairs = body.and_then(|body| {
        let prim = Prim::ReduceWindowBody { window: window.clone() };
        emitter::emit_regions(prim, &operands, vec![body])
    });
    pairs.and_then(|p| p.get(1).copied()).unwrap_or_else(emitter::poison)
}

/// Linear in the source; what is selected does not change.
pub(super) fn select_and_scatter(site: &Site) -> Option<Sym> {
    site.t[1].map(|t| site.same(&[site.x[0], t]))
}
