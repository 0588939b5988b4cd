//! Axes as written to axes as counted from 0.

use crate::{Sym, builder};
use evoxc_core::{Axes, IntoAxes};

/// `axis` from 0, if it is in range; negative ones count from the end.
pub(crate) fn normalize(axis: i64, rank: usize) -> Option<usize> {
    let r = i64::try_from(rank).ok()?;
    usize::try_from(if axis < 0 { axis.checked_add(r)? } else { axis }).ok().filter(|&a| a < rank)
}

/// One axis of `x`, or a recorded error.
#[track_caller]
pub(crate) fn one(op: &str, x: Sym, axis: i64) -> Option<usize> {
    let rank = builder::with_type(x, |t| t.rank())?;
    let a = normalize(axis, rank);
    if a.is_none() {
        builder::fail(op, &[x], format!("axis {axis} is out of range for rank {rank}"), None);
    }
    a
}

/// Distinct axes of `x` and whether they are kept, or a recorded error.
#[track_caller]
pub(crate) fn many(op: &str, x: Sym, axes: impl IntoAxes) -> Option<(Vec<usize>, bool)> {
    let Axes { axes, keep } = axes.into_axes();
    let rank = builder::with_type(x, |t| t.rank())?;
    let Some(list) = axes else { return Some(((0..rank).collect(), keep)) };
    let mut out = Vec::with_capacity(list.len());
    for a in list {
        let n = one(op, x, a)?;
        if out.contains(&n) {
            builder::fail(op, &[x], format!("axis {n} is named twice"), None);
            return None;
        }
        out.push(n);
    }
    Some((out, keep))
}
