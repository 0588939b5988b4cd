//! Sliding windows for all rows: windows of one row.

use super::parts::front;
use super::{Rows, Site};
use evoxc_core::{Dim, OpError};
use evoxc_ir::{Flag, Padding, Prim, Reducer, SelectOp, Window};

pub(super) fn reduce_window(site: &Site, op: Reducer, window: &Window) -> Result<Rows, OpError> {
    site.write(Prim::ReduceWindow { op, window: of_rows(window) }, &[site.rows(0)])
}

pub(super) fn select_and_scatter(site: &Site, select: SelectOp, window: &Window) -> Result<Rows, OpError> {
    site.write(Prim::SelectAndScatter { select, window: of_rows(window) }, &[site.rows(0), site.rows(1)])
}

/// The window on all rows.
pub(super) fn of_rows(w: &Window) -> Window {
    let none = Padding { low: Dim::constant(0), high: Dim::constant(0) };
    Window {
        size: front(Dim::constant(1), &w.size),
        stride: front(1, &w.stride),
        padding: front(none, &w.padding),
        base_dilation: front(1, &w.base_dilation),
        window_dilation: front(1, &w.window_dilation),
        reversal: front(Flag(false), &w.reversal),
    }
}
