//! What sliding windows see, one axis at a time: their elements along an axis of its own, and the element that a window
//! of a maximum selects.
//!
//! Windows are boxes, so that a maximum over one is that of the maxima of its lines, axis by axis from the last; of
//! equal elements the first in row-major order is found.

use evoxc_core::{Dim, I32, Scalar};
use evoxc_ir::{Prim, Reducer, SelectOp, Window};
use evoxc_trace::{Sym, emitter, iota};

/// The extent of `n` elements with gaps between them.
fn dilated(n: Dim, dilation: i64) -> Dim {
    if dilation == 1 { n } else { ((n - 1) * dilation + 1).max(0) }
}

/// The window of the transposed sum: over cotangents of `places` windows it gives those of `shape` elements.
pub(crate) fn transposed(w: &Window, shape: &[Dim], places: &[Dim]) -> Window {
    let padding = (0..shape.len()).map(|a| {
        let low = dilated(w.size[a], w.window_dilation[a]) - 1 - w.padding[a].low;
        let base = (shape[a] - 1) * w.base_dilation[a] + 1;
        evoxc_ir::Padding { low, high: base + w.padding[a].low - dilated(places[a], w.stride[a]) }
    });
    Window {
        size: w.size.clone(),
        stride: w.base_dilation.clone(),
        padding: padding.collect(),
        base_dilation: w.stride.clone(),
        window_dilation: w.window_dilation.clone(),
        reversal: w.reversal.clone(),
    }
}

/// One axis of a window.
struct Taps {
    axis: usize,
    /// The elements of the axis.
    n: Dim,
    size: Dim,
    places: Dim,
    stride: i64,
    low: Dim,
    base: i64,
    dilation: i64,
    /// Can a tap lie in the padding, or between dilated elements?
    gaps: bool,
    /// Can a whole window?
    empty: bool,
}

impl Taps {
    /// The axes on which the window does something, last first.
    fn of(w: &Window, shape: &[Dim], places: &[Dim]) -> Vec<Taps> {
        let axis = |axis: usize| {
            let (size, p, n) = (w.size[axis], w.padding[axis], shape[axis]);
            let (base, dilation) = (w.base_dilation[axis], w.window_dilation[axis]);
            let cut = |d: Dim| d.upper_bound().is_some_and(|v| v <= 0);
            let gaps = base != 1 || !cut(p.low) || !cut(p.high);
            let short = |d: Dim| (size - d).lower_bound().is_some_and(|v| v > 0);
            let empty = gaps && (base != 1 || dilation != 1 || !short(p.low) || !short(p.high));
            let (stride, places, low) = (w.stride[axis], places[axis], p.low);
            Taps { axis, n, size, places, stride, low, base, dilation, gaps, empty }
        };
        let idle = |t: &Taps| t.size == 1 && t.stride == 1 && t.low == 0 && t.places == t.n && t.base == 1;
        (0..shape.len()).rev().map(axis).filter(|t| !idle(t)).collect()
    }
    /// Positions in the dilated base of places and taps, which have one shape.
    fn positions(&self, place: Sym, tap: Sym) -> Sym {
        let scaled = |x: Sym, by: i64| if by == 1 { x } else { x * by };
        let p = scaled(place, self.stride) + scaled(tap, self.dilation);
        if self.low == 0 { p } else { p - self.low }
    }
    /// Is there an element at these positions?
    fn inside(&self, position: Sym) -> Sym {
        let within = position.ge(0) & position.lt(dilated(self.n, self.base));
        if self.base == 1 { within } else { within & (position % self.base).eq(0) }
    }
    /// The elements at these positions.
    fn elements(&self, position: Sym) -> Sym {
        if self.base == 1 { position } else { position / self.base }
    }
    /// Positions `[places, taps]`.
    fn grid(&self) -> Sym {
        let shape = [self.places, self.size];
        self.positions(iota(I32, shape, 0), iota(I32, shape, 1))
    }
    /// The elements of x that the windows see: the axis becomes two, places and taps. `fill` where there is none.
    fn spread(&self, x: Sym, grid: Sym, inside: Option<Sym>, fill: impl Into<Scalar>) -> Sym {
        let seen = self.roomy(x).take(self.elements(grid), self.axis);
        match inside {
            Some(m) => {
                let shape = seen.shape();
                let m = emitter::emit(Prim::BroadcastInDim { shape, dims: vec![self.axis, self.axis + 1] }, &[m]);
                m.select(seen, Fill(fill.into()))
            }
            None => seen,
        }
    }
    /// x, with an element more on an axis that may turn out to have none, which windows over padding cannot read.
    fn roomy(&self, x: Sym) -> Sym {
        if !self.gaps || self.n.lower_bound().is_some_and(|n| n > 0) {
            return x;
        }
        let low = vec![Dim::constant(0); x.rank()];
        let mut high = low.clone();
        high[self.axis] = Dim::constant(1);
        let interior = vec![0; low.len()];
        emitter::emit(Prim::Pad { low, high, interior }, &[x, evoxc_trace::zeros(x.dtype(), [])])
    }
    fn mask(&self, grid: Sym) -> Option<Sym> {
        self.gaps.then(|| self.inside(grid))
    }
    fn reduce(&self, op: Reducer, x: Sym) -> Sym {
        emitter::emit(Prim::Reduce { op, axes: vec![self.axis + 1] }, &[x])
    }
    /// A vector of one value a place, repeated to the shape of `like`.
    fn along(&self, v: Sym, like: Sym) -> Sym {
        emitter::emit(Prim::BroadcastInDim { shape: like.shape(), dims: vec![self.axis] }, &[v])
    }
}

/// A scalar that is an operand as it is.
struct Fill(Scalar);
impl evoxc_trace::Operand for Fill {
    fn operand(self) -> evoxc_trace::Opnd {
        evoxc_trace::Opnd::Scalar(self.0)
    }
}

/// Of every window over x (real floats), the element of t at the place of the first largest (smallest) of x, NaN before
/// any number; 0 where a window sees none. Linear in t.
pub(crate) fn selected(x: Sym, t: Sym, w: &Window, places: &[Dim], select: SelectOp) -> Sym {
    let (reducer, fill) = match select {
        SelectOp::Max => (Reducer::Max, f64::NEG_INFINITY),
        SelectOp::Min => (Reducer::Min, f64::INFINITY),
    };
    let (mut x, mut t) = (x, t);
    for taps in Taps::of(w, &x.shape(), places) {
        let grid = taps.grid();
        let inside = taps.mask(grid);
        let seen = taps.spread(x, grid, inside, fill);
        let axis = taps.axis + 1;
        let arg = |x: Sym| match select {
            SelectOp::Max => emitter::emit(Prim::Argmax { axis }, &[x]),
            SelectOp::Min => emitter::emit(Prim::Argmin { axis }, &[x]),
        };
        x = taps.reduce(reducer, seen);
        let mut tap = arg(seen);
        let place = iota(I32, tap.shape(), taps.axis);
        if let Some(inside) = inside {
            // Among infinities the padding may have come first: then the window's first element is as large.
            let first = taps.along(emitter::emit(Prim::Argmax { axis: 1 }, &[inside]), tap);
            tap = taps.inside(taps.positions(place, tap)).select(tap, first);
        }
        t = taps.roomy(t).take_along_axis(taps.elements(taps.positions(place, tap)), taps.axis);
        if let Some(inside) = inside.filter(|_| taps.empty) {
            let any = emitter::emit(Prim::Reduce { op: Reducer::Or, axes: vec![1] }, &[inside]);
            t = taps.along(any, t).select(t, 0);
        }
    }
    t
}

/// The tangent of the products over windows, of the tangent t of x: each element's times the product of the others.
pub(crate) fn product(x: Sym, t: Sym, w: &Window, places: &[Dim]) -> Sym {
    let (mut x, mut t) = (x, t);
    for taps in Taps::of(w, &x.shape(), places) {
        let grid = taps.grid();
        let inside = taps.mask(grid);
        let seen = taps.spread(x, grid, inside, 1);
        let others = before(seen, taps.axis + 1, false) * before(seen, taps.axis + 1, true);
        t = taps.reduce(Reducer::Sum, taps.spread(t, grid, inside, 0) * others);
        x = taps.reduce(Reducer::Prod, seen);
    }
    t
}

/// The product of the elements before each one, or after it if `reverse`.
fn before(x: Sym, axis: usize, reverse: bool) -> Sym {
    let mut low = vec![Dim::constant(0); x.rank()];
    let mut high = low.clone();
    low[axis] = Dim::constant(if reverse { -1 } else { 1 });
    high[axis] = -low[axis];
    let interior = vec![0; low.len()];
    let shifted = emitter::emit(Prim::Pad { low, high, interior }, &[x, evoxc_trace::ones(x.dtype(), [])]);
    emitter::emit(Prim::Cumulative { op: evoxc_ir::CumOp::Prod, axis, reverse }, &[shifted])
}
