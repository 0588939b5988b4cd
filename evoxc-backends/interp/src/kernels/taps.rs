//! Which elements of an axis every place of a sliding window covers.

use evoxc_core::{Dim, OpError};
use evoxc_ir::Window;

/// A tap that falls on padding or between dilated elements.
pub(crate) const HOLE: usize = usize::MAX;

/// The taps of a window along one axis: for every place of the window, as many as the window is large.
pub(crate) struct Taps {
    pub(crate) size: usize,
    table: Vec<usize>,
}

impl Taps {
    /// The elements under the window at place `o`, [`HOLE`] where there is none.
    pub(crate) fn at(&self, o: usize) -> &[usize] {
        self.table.get(o * self.size..(o + 1) * self.size).unwrap_or_default()
    }
    /// Does the window cover exactly element o at place o of n?
    pub(crate) fn is_identity(&self, n: usize) -> bool {
        self.size == 1 && self.table.len() == n && self.table.iter().enumerate().all(|(i, &t)| i == t)
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
        let tap = |o: usize, k: usize| {
            let k = if reversed { size - 1 - k } else { k };
            let at = o as i128 * i128::from(stride) + k as i128 * i128::from(dilation) - i128::from(low);
            let base = i128::from(base).max(1);
            let inside = at >= 0 && at % base == 0 && at / base < n as i128;
            if inside { (at / base) as usize } else { HOLE }
        };
        let table = (0..places).flat_map(|o| (0..size).map(move |k| (o, k))).map(|(o, k)| tap(o, k)).collect();
        all.push(Taps { size, table });
    }
    Ok(all)
}

/// The offset of the element under taps `at` (one an axis), or `None` for a hole.
pub(crate) fn element(taps: &[Taps], place: &[usize], at: &[usize], strides: &[usize]) -> Option<usize> {
    let mut offset = 0;
    for (((t, &o), &k), s) in taps.iter().zip(place).zip(at).zip(strides) {
        let i = *t.at(o).get(k)?;
        if i == HOLE {
            return None;
        }
        offset += i * s;
    }
    Some(offset)
}
