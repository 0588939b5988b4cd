//! Steps that the reference execution of ops runs: what no kernel expresses.
//!
//! Such a step is a function of one op, compiled when the plan is. Its operands are copied out of the plan's memory, and
//! its results into it.

use super::build::{Builder, Fault};
use super::extent::Amount;
use super::run::Run;
use super::steps::Place;
use crate::schedule::LibraryItem;
use evoxc_core::{Buffer, BufferElement, DType, OpError, Result, RunError, Tensor, with_buffer, with_dtype};
use evoxc_ir::{Func, Literal, Module, Op, Prim, Region, Value};
use evoxc_reference::Plan;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// An op, ready to run.
pub(crate) struct LibraryStep {
    plan: Plan,
    /// What it is, for people.
    pub name: String,
    pub loc: Option<evoxc_core::Loc>,
    args: Vec<Typed>,
    results: Vec<Typed>,
}

/// A value at a place.
struct Typed {
    place: Place,
    dtype: DType,
    shape: SmallVec<[Amount; 4]>,
    elements: Amount,
}

impl LibraryStep {
    pub(super) fn new(b: &mut Builder<'_>, item: &LibraryItem) -> Result<LibraryStep, Fault> {
        let mut func = Func::new("step");
        let mut map: FxHashMap<Value, Value> = FxHashMap::default();
        let mut args = vec![];
        for &v in item.op.operands.iter().chain(&item.captures) {
            if map.contains_key(&v) {
                continue;
            }
            let new = func.value(b.ty(v).clone(), None);
            map.insert(v, new);
            // What is known stays known: the reference prepares for it.
            if let Some(t) = b.constant_of(v)
                && t.shape().len() == b.ty(v).rank()
                && t.shape().iter().zip(b.ty(v).shape.iter()).all(|(&n, d)| d.get() == Some(n))
            {
                let prim = Prim::Constant { value: Literal::Dense(t.clone()) };
                func.body.ops.push(Op {
                    prim,
                    operands: SmallVec::new(),
                    results: [new].into(),
                    regions: vec![],
                    loc: None,
                });
                continue;
            }
            func.body.args.push(new);
            args.push(typed(b, v)?);
        }
        let op = renumber(b, &mut func, &mut map, &item.op);
        func.body.results = op.results.to_vec();
        let calls = calls(&op);
        func.body.ops.push(op);
        let mut module = Module { funcs: vec![func], ..Module::default() };
        if calls {
            module.funcs.extend(b.module().funcs.iter().cloned());
        }
        let results = item.op.results.iter().map(|&v| typed(b, v)).collect::<Result<_, OpError>>()?;
        Ok(LibraryStep { plan: Plan::new(&module)?, name: item.op.prim.name(), loc: item.op.loc, args, results })
    }

    /// Runs it.
    pub(super) fn run(&self, run: &Run<'_, '_>) -> Result<()> {
        let extents = &run.frame.extents;
        let mut args = Vec::with_capacity(self.args.len());
        for a in &self.args {
            let shape: SmallVec<[usize; 4]> = a.shape.iter().map(|d| d.size(extents)).collect();
            // SAFETY: the plan has put a value of this type at the place.
            let buffer = unsafe { read(run.frame.places[a.place as usize], a.dtype, a.elements.size(extents)) };
            let t = buffer.and_then(|b| Tensor::from_parts(b, &shape));
            args.push(t.ok_or_else(|| fault(&self.name, "there is not enough memory for an operand"))?);
        }
        let symbols = run.routine.extents.symbols();
        let mut value = |d| symbols.iter().position(|&s| s == d).map(|i| run.frame.symbols[i]);
        let out = self.plan.run_at(run.process, &mut value, args)?;
        for (r, t) in self.results.iter().zip(&out) {
            let bytes = t.buffer().bytes();
            if t.dtype() != r.dtype || t.len() != r.elements.size(extents) {
                return Err(fault(&self.name, "its result is not of its type; report this"));
            }
            // SAFETY: the place is memory for so many elements of this dtype, which nothing else uses now.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), run.frame.places[r.place as usize], bytes.len()) };
        }
        Ok(())
    }
}

fn fault(op: &str, message: &str) -> evoxc_core::Error {
    RunError::Op(Box::new(OpError::new(op, message))).into()
}

fn typed(b: &mut Builder<'_>, v: Value) -> Result<Typed, OpError> {
    let ty = b.ty(v);
    let shape = b.extents.shape(ty).into();
    Ok(Typed { place: b.at(v)?, dtype: ty.dtype, shape, elements: b.extents.elements(ty) })
}

/// A copy of elements; `None` where there is not enough memory.
///
/// # Safety
/// `from` points to `n` elements of the dtype.
unsafe fn read(from: *const u8, dtype: DType, n: usize) -> Option<Buffer> {
    let mut buffer = reserve(dtype, n)?;
    with_buffer!(&mut buffer, v => {
        // SAFETY: there is room for `n` elements, and `from` points to as many.
        unsafe {
            std::ptr::copy_nonoverlapping(from, v.as_mut_ptr().cast::<u8>(), n * dtype.size());
            v.set_len(n);
        }
    });
    Some(buffer)
}

/// An empty buffer with room for `n` elements; `None` where there is not enough memory.
pub(super) fn reserve(dtype: DType, n: usize) -> Option<Buffer> {
    with_dtype!(dtype, T => {
        let mut v: Vec<T> = Vec::new();
        v.try_reserve_exact(n).ok()?;
        Some(T::wrap(v))
    })
}

/// The op on the values of `func`.
fn renumber(b: &Builder<'_>, func: &mut Func, map: &mut FxHashMap<Value, Value>, op: &Op) -> Op {
    let operands = op.operands.iter().map(|v| map.get(v).copied().unwrap_or(*v)).collect();
    let regions = op.regions.iter().map(|r| region(b, func, map, r)).collect();
    let results = op.results.iter().map(|&v| fresh(b, func, map, v)).collect();
    Op { prim: op.prim.clone(), operands, results, regions, loc: op.loc }
}

/// Regions nest no deeper than verified modules do.
fn region(b: &Builder<'_>, func: &mut Func, map: &mut FxHashMap<Value, Value>, r: &Region) -> Region {
    let args = r.args.iter().map(|&v| fresh(b, func, map, v)).collect();
    let ops = r.ops.iter().map(|op| renumber(b, func, map, op)).collect();
    let results = r.results.iter().map(|v| map.get(v).copied().unwrap_or(*v)).collect();
    Region { args, ops, results }
}

fn fresh(b: &Builder<'_>, func: &mut Func, map: &mut FxHashMap<Value, Value>, v: Value) -> Value {
    let new = func.value(b.ty(v).clone(), None);
    map.insert(v, new);
    new
}

fn calls(op: &Op) -> bool {
    op.regions.iter().flat_map(|r| &r.ops).any(|o| matches!(o.prim, Prim::Call { .. }) || calls(o))
}
