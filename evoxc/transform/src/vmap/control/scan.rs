//! `scan` for all rows: the steps stay on axis 0 of what is scanned and stacked, the rows come second.

use super::{body, define, get, marks};
use crate::regions;
use crate::vmap::Vmap;
use crate::vmap::parts::move_axis;
use evoxc_core::OpError;
use evoxc_ir::{Op, Prim};

pub(super) fn scan(walk: &mut Vmap, op: &Op) -> Result<(), OpError> {
    let (Prim::Scan { carry, .. }, [r]) = (&op.prim, op.regions.as_slice()) else {
        return Err(OpError::new("", "it has one region"));
    };
    let (results, _) = marks(walk, op);
    let mut args: Vec<bool> = results.iter().take(*carry).copied().collect();
    args.extend(op.operands.iter().skip(*carry).map(|v| walk.batched.contains(v)));
    let region = body(walk, r, &args, &results)?;
    let mut x = get(walk, &op.operands, &args);
    for (x, _) in x.iter_mut().zip(&args).skip(*carry).filter(|(_, a)| **a) {
        *x = move_axis(*x, 0, 1);
    }
    let mut y = regions::emit(op.prim.clone(), &x, vec![region])?;
    for (y, _) in y.iter_mut().zip(&results).skip(*carry).filter(|(_, b)| **b) {
        *y = move_axis(*y, 1, 0);
    }
    define(walk, &op.results, &y, &results);
    Ok(())
}
