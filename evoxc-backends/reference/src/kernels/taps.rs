//! Which elements of an axis every place of a sliding window covers.

use evoxc_core::{Dim, OpError};
use evoxc_ir::Window;

/// A tap that falls on padding or between dilated elements.
pub(crate) const HOLE: usize = usize::MAX;

/// The taps of a window along one axis, worked out as they are asked for: a table would grow with the product of window
/// and places.
pub(crate) struct Taps {
    pub(crate) size: usize,
    /// The extent of the input, and the number of places.
    n: usize,
    places: usize,
    low: i128,
    stride: i128,
    base: i128,
    dilation: i128,
    reversed: bool,
}

impl Taps {
    /// The element under tap `k` at place `o`, or [`HOLE`].
    pub(crate) fn get(&self, o: usize, k: usize) -> usize {
        let k = if self.reversed { self.size - 1 - k } else { k };
        let at = o as i128 * self.stride + k as i128 * self.dilation - self.low;
        let i = if self.base == 1 { at } else { at / self.base };
        let inside = at >= 0 && i < self.n as i128 && (self.base == 1 || at % self.base == 0);
        if inside { i as usize } else { HOLE }
    }
    /// The elements under the window at place `o`, [`HOLE`] where there is none.
    pub(crate) fn at(&self, o: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.size).map(move |k| self.get(o, k))
    }
    /// The elements under the window at place `o`, without holes; in time that the input bounds, not the window.
    pub(crate) fn elements(&self, o: usize) -> impl Iterator<Item = usize> + '_ {
        let from = self.low - o as i128 * self.stride;
        let last = (self.n as i128 - 1) * self.base + from;
        let size = self.size as i128;
        let first = ((from + self.dilation - 1).div_euclid(self.dilation)).clamp(0, size);
        let end = (last.div_euclid(self.dilation) + 1).clamp(first, size);
        let (first, end) = if self.reversed { (size - end, size - first) } else { (first, end) };
        (first as usize..end as usize).map(move |k| self.get(o, k)).filter(|&i| i != HOLE)
    }
    /// Does the window cover exactly element o at place o of n?
    pub(crate) fn is_identity(&self, n: usize) -> bool {
        let in_step = n <= 1 || self.stride == self.base;
        self.size == 1 && self.places == n && (n == 0 || (self.low == 0 && in_step))
    }
}

/// The taps of every axis of a window of constant extents, over an input of extents `input` with `out` places.
pub(crate) fn taps(op: &str, window: &Window, input: &[usize], out: &[usize]) -> Result<Vec<Taps>, OpError> {
    let known =
        |d: &Dim| d.as_i64().ok_or_else(|| OpError::new(op, format!("the extent {d} of its window is not known")));
    let mut all = Vec::with_capacity(input.len());
    for (d, (&n, &places)) in input.iter().zip(out).enumerate() {
        let (Some(size), Some(&stride), Some(pad), Some(&base), Some(&dilation)) = (
            window.size.get(d),
            window.stride.get(d),
            window.padding.get(d),
            window.base_dilation.get(d),
            window.window_dilation.get(d),
        ) else {
            return Err(OpError::new(op, format!("its window has fewer than {} axes", input.len())));
        };
        let (size, low) = (known(size)?, known(&pad.low)?);
        let size = usize::try_from(size).map_err(|_| OpError::new(op, format!("its window has size {size}")))?;
        let reversed = window.reversal.get(d).is_some_and(|r| r.0);
        all.push(Taps {
            size,
            n,
            places,
            low: low.into(),
            stride: stride.into(),
            base: i128::from(base).max(1),
            dilation: i128::from(dilation).max(1),
            reversed,
        });
    }
    Ok(all)
}

/// The offset of the element under taps `at` (one an axis), or `None` for a hole.
pub(crate) fn element(taps: &[Taps], place: &[usize], at: &[usize], strides: &[usize]) -> Option<usize> {
    let mut offset = 0;
    for (((t, &o), &k), s) in taps.iter().zip(place).zip(at).zip(strides) {
        let i = t.get(o, k);
        if i == HOLE {
            return None;
        }
        offset += i * s;
    }
    Some(offset)
}
