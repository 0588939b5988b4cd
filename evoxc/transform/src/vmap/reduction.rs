//! Reductions and running combinations for all rows.

use super::parts::up;
use super::{Rows, Site};
use evoxc_core::OpError;
use evoxc_ir::{CumOp, Prim, Reducer};

pub(super) fn reduce(site: &Site, op: Reducer, axes: &[usize]) -> Result<Rows, OpError> {
    site.write(Prim::Reduce { op, axes: up(axes) }, &[site.rows(0)])
}

pub(super) fn argmax(site: &Site, axis: usize) -> Result<Rows, OpError> {
    site.write(Prim::Argmax { axis: axis + 1 }, &[site.rows(0)])
}

pub(super) fn argmin(site: &Site, axis: usize) -> Result<Rows, OpError> {
    site.write(Prim::Argmin { axis: axis + 1 }, &[site.rows(0)])
}

pub(super) fn cumulative(site: &Site, op: CumOp, axis: usize, reverse: bool) -> Result<Rows, OpError> {
    site.write(Prim::Cumulative { op, axis: axis + 1, reverse }, &[site.rows(0)])
}
