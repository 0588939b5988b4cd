//! Ops that run regions or functions.

use crate::collective;
use crate::kernels::{indexing, movement, reduce, sort, window};
use crate::plan::{Block, Step};
use crate::run::{Fault, Frame, Tensors};
use crate::symbols::Symbols;
use evoxc_core::{Buffer, OpError, Result, Tensor};
use evoxc_ir::Prim;
use smallvec::smallvec;
use std::cell::RefCell;

/// Runs an op with regions, or a call.
pub(crate) fn run<'p>(frame: &mut Frame<'p>, step: &'p Step, operands: Tensors) -> Result<Tensors, Fault> {
    match &step.prim {
        Prim::Cond {} => cond(frame, step, operands),
        Prim::Switch {} => switch(frame, step, operands),
        Prim::WhileLoop {} => while_loop(frame, step, operands),
        Prim::Scan { carry, length, reverse } => scan(frame, step, operands, *carry, *length, *reverse),
        Prim::Call { .. } => call(frame, step, operands),
        _ => bodied(frame, step, operands),
    }
}

// One function an op, so that nested regions take only the stack that their own op needs.

fn cond<'p>(frame: &mut Frame<'p>, step: &'p Step, operands: Tensors) -> Result<Tensors, Fault> {
    let taken = if truth(&operands)? { 0 } else { 1 };
    drop(operands);
    Ok(frame.block(region(step, taken)?, [])?)
}

fn switch<'p>(frame: &mut Frame<'p>, step: &'p Step, operands: Tensors) -> Result<Tensors, Fault> {
    let index = operands.first().and_then(|t| t.item::<i32>().ok()).ok_or_else(bad_operand)?;
    let last = step.blocks.len().saturating_sub(1);
    let taken = usize::try_from(index).map_or(last, |i| i.min(last));
    Ok(frame.block(region(step, taken)?, [])?)
}

fn while_loop<'p>(frame: &mut Frame<'p>, step: &'p Step, mut state: Tensors) -> Result<Tensors, Fault> {
    let (cond, body) = (region(step, 0)?, region(step, 1)?);
    while truth(&frame.block(cond, state.iter().cloned())?)? {
        state = frame.block(body, state)?;
    }
    Ok(state)
}

/// Kernels whose combiner or order is a region on scalars.
fn bodied<'p>(frame: &mut Frame<'p>, step: &'p Step, operands: Tensors) -> Result<Tensors, Fault> {
    let body = region(step, 0)?;
    let (symbols, process) = (frame.symbols, frame.process);
    let shape = |i: usize| step.types.get(i).map(|t| symbols.extents(t)).transpose().map(Option::unwrap_or_default);
    // Two bodies of one op share the frame; they never run at the same time.
    let frame = RefCell::new(frame);
    let mut run = |args: &[Tensor]| run_body(*frame.borrow_mut(), body, args);
    match &step.prim {
        Prim::ReduceBody { axes } => {
            let (xs, inits) = operands.split_at(operands.len() / 2);
            Ok(reduce::reduce_body(xs, inits, axes, &shape(0)?, &mut run)?.into())
        }
        Prim::ScatterBody { dims, sorted: _, unique: _ } => {
            let n = (operands.len().saturating_sub(1)) / 2;
            let mut xs = operands.into_vec();
            let updates = xs.split_off((n + 1).min(xs.len()));
            let indices = xs.pop().ok_or_else(|| OpError::new("", "an operand is missing"))?;
            Ok(indexing::scatter_body(xs, &indices, &updates, dims, &mut run)?.into())
        }
        Prim::SortBody { axis, stable } => Ok(sort::sort_body(&operands, *axis, *stable, &mut run)?.into()),
        Prim::ReduceWindowBody { window } => {
            let (xs, inits) = operands.split_at(operands.len() / 2);
            Ok(window::reduce_window_body(xs, inits, &*symbols.window(window)?, &shape(0)?, &mut run)?.into())
        }
        Prim::SelectAndScatterBody { window } => {
            let [x, source, init] = operands.as_slice() else {
                return Err(OpError::new("", "it takes 3 operands").into());
            };
            let (scatter, window) = (region(step, 1)?, symbols.window(window)?);
            let mut combine = |args: &[Tensor]| run_body(*frame.borrow_mut(), scatter, args);
            Ok(smallvec![window::select_and_scatter_body(x, source, init, &window, &mut run, &mut combine)?])
        }
        Prim::AllReduceBody { .. } | Prim::ReduceScatterBody { .. } => {
            let body = |args: &[Tensor]| run_body(*frame.borrow_mut(), body, args);
            collective::run(process, step, operands, Some(&body))
        }
        p => Err(OpError::new(p.name(), "this op has no region to run").into()),
    }
}

/// Runs a region on scalars, for kernels with bodies.
fn run_body<'p>(frame: &mut Frame<'p>, body: &'p Block, args: &[Tensor]) -> Result<Vec<Tensor>> {
    frame.block(body, args.iter().cloned()).map(|t| t.into_vec())
}

fn region(step: &Step, i: usize) -> Result<&Block, OpError> {
    step.blocks.get(i).ok_or_else(|| OpError::new("", "a region is missing"))
}

fn bad_operand() -> OpError {
    OpError::new("", "the operand that decides is not a scalar of its type")
}

fn truth(t: &[Tensor]) -> Result<bool, OpError> {
    t.first().and_then(|t| t.item::<bool>().ok()).ok_or_else(bad_operand)
}

fn scan<'p>(
    frame: &mut Frame<'p>,
    step: &'p Step,
    mut carry: Tensors,
    carried: usize,
    length: evoxc_core::Dim,
    reverse: bool,
) -> Result<Tensors, Fault> {
    let n = frame.symbols.size(length)?;
    let body = region(step, 0)?;
    let xs: Tensors = carry.drain(carried.min(carry.len())..).collect();
    if xs.iter().any(|x| x.shape().first() != Some(&n)) {
        return Err(OpError::new("", format!("an operand does not have {n} entries")).into());
    }
    let mut ys: Tensors = smallvec![];
    for t in step.types.get(carried..).unwrap_or_default() {
        let extents = frame.symbols.extents(t)?;
        let buffer = Buffer::zeros(t.ty.dtype, extents.iter().product());
        ys.extend(Tensor::from_parts(buffer, &extents));
    }
    for k in 0..n {
        let i = if reverse { n - 1 - k } else { k };
        for x in &xs {
            carry.push(movement::entry(x, i)?);
        }
        let mut results = frame.block(body, carry)?;
        for (y, part) in ys.iter_mut().zip(results.drain(carried.min(results.len())..)) {
            movement::set_entry(y, i, &part)?;
        }
        carry = results;
    }
    carry.extend(ys);
    Ok(carry)
}

fn call<'p>(frame: &mut Frame<'p>, step: &'p Step, operands: Tensors) -> Result<Tensors, Fault> {
    let found = step.callee.and_then(|(i, same)| Some((frame.plan.routines.get(i)?, same)));
    let (routine, same) = found.ok_or_else(|| OpError::new("", "the function is missing"))?;
    if same {
        return Ok(Frame::new(frame.plan, routine, frame.symbols, frame.process, frame.depth).run(operands)?);
    }
    let symbols = Symbols::bind(frame.plan, &routine.inputs, &operands, Some(frame.symbols))?;
    Ok(Frame::new(frame.plan, routine, &symbols, frame.process, frame.depth).run(operands)?)
}
