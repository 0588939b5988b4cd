//! Quantiles over axes, by sorting.

use super::checks::float;
use super::parts::{convert, count, cut, filled, kept, reshape};
use crate::axes::many;
use crate::operand::lift;
use crate::{Sym, builder};
use evoxc_core::{Dim, F64, I64, IntoAxes, Shape, spec};
use evoxc_ir::{Prim, SortKeys};

impl Sym {
    /// The middle element over axes, or the mean of the middle two; NaN if there is one. Real floats.
    #[track_caller]
    pub fn median(self, axes: impl IntoAxes) -> Sym {
        self.quantile_of("median", 0.5, axes)
    }
    /// The quantile `q` (from 0 to 1) over axes, linear between elements as NumPy's default; NaN if there is one. Real
    /// floats.
    ///
    /// # Errors
    /// `q` out of [0, 1]; no elements.
    #[track_caller]
    pub fn quantile(self, q: f64, axes: impl IntoAxes) -> Sym {
        self.quantile_of("quantile", q, axes)
    }
    #[track_caller]
    fn quantile_of(self, op: &str, q: f64, axes: impl IntoAxes) -> Sym {
        let Some(t) = float(op, self) else { return Sym::POISON };
        let Some((axes, keep)) = many(op, self, axes) else { return Sym::POISON };
        if !(0.0..=1.0).contains(&q) {
            return builder::fail(op, &[self], format!("{q} is not a quantile"), Some("q is from 0 to 1".into()));
        }
        let n = count(&t.shape, &axes);
        if n == 0 {
            return builder::fail(op, &[self], "there are no elements", None);
        }
        // The reduced axes as one, at the end, in order.
        let others: Vec<usize> = (0..t.rank()).filter(|i| !axes.contains(i)).collect();
        let perm: Vec<usize> = others.iter().chain(&axes).copied().collect();
        let in_order = perm.iter().enumerate().all(|(i, &p)| i == p);
        let x = if in_order { self } else { builder::emit(Prim::Transpose { perm }, &[self]) };
        let rest: Shape = others.iter().map(|&i| t.shape[i]).collect();
        let mut rows = rest.clone();
        rows.push(n);
        let last = rest.rank();
        let x = reshape(x, rows);
        let x = builder::emit(Prim::Sort { axis: last, keys: SortKeys(vec![false]), stable: false }, &[x]);
        // NaN is sorted last, so the last element tells.
        let largest = reshape(cut(x, last, n - 1, n), rest.clone());
        let at = match n.get() {
            Some(n) => known_position(x, last, n, q, &rest),
            None => position(op, x, last, n, q, &rest),
        };
        kept(largest.is_nan().select(f64::NAN, at), &t.shape, &axes, keep)
    }
}

/// The sorted elements at `q`, of a known number.
#[track_caller]
fn known_position(x: Sym, axis: usize, n: usize, q: f64, rest: &Shape) -> Sym {
    let position = q * (n - 1) as f64;
    let (low, weight) = (position.floor() as usize, position.fract());
    let lower = reshape(cut(x, axis, low, low + 1), rest.clone());
    if weight == 0.0 {
        return lower;
    }
    let upper = reshape(cut(x, axis, low + 1, low + 2), rest.clone());
    lower * (1.0 - weight) + upper * weight
}

/// The sorted elements at `q`, of a number known when the program runs.
#[track_caller]
fn position(op: &str, x: Sym, axis: usize, n: Dim, q: f64, rest: &Shape) -> Sym {
    let Some(t) = x.ty() else { return Sym::POISON };
    let position = lift(op, n - 1, &spec(F64, []), false) * q;
    let floor = position.floor();
    let weight = convert(position - floor, t.dtype);
    let index = convert(floor, I64);
    let zero = filled(op, 0, I64, &Shape::scalar());
    let mut sizes = t.shape.to_vec();
    if let Some(s) = sizes.get_mut(axis) {
        *s = Dim::constant(1);
    }
    let mut taken = [Sym::POISON; 2];
    for (out, start) in taken.iter_mut().zip([index, index + 1]) {
        let mut operands = vec![x];
        operands.extend((0..t.rank()).map(|i| if i == axis { start } else { zero }));
        // Past the end it is clamped to the last element, whose weight is then 0.
        *out = reshape(builder::emit(Prim::DynamicSlice { sizes: sizes.clone() }, &operands), rest.clone());
    }
    let [lower, upper] = taken;
    weight.eq(0).select(lower, lower * (1.0 - weight) + upper * weight)
}
