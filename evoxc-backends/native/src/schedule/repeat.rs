//! Loops whose body is small become one kernel: its kernels one after the other, with a loop around them. What no kernel
//! expresses, what is worth more than one thread, and what has no known size stays a loop that the plan runs.

use super::{Block, Carried, Item, KernelItem, Length, Part, Repeat, Routine, Schedule, Slot};
use crate::kernel::{BufferDecl, Kernel};
use evoxc_core::{DType, Dim};
use evoxc_ir::{Op, Prim, TensorType, Value};
use rustc_hash::FxHashMap;

/// Ops of one iteration, at most: more are worth threads.
const FLOPS: i64 = 1 << 16;
/// Bytes that one kernel of it reads and writes, and that the loop keeps, at most: they stay in the nearest caches.
const BYTES: i64 = 1 << 17;
const OWN: i64 = 1 << 15;
/// Kernels of one loop, at most: code is not to be long.
const PARTS: usize = 32;

/// Makes kernels of the loops that are small enough.
pub fn join_loops(schedule: &mut Schedule) {
    for r in &mut schedule.routines {
        let mut body = std::mem::take(&mut r.body);
        join(r, &mut body);
        r.body = body;
    }
}

// Regions nest at most `MAX_REGION_DEPTH` deep.
fn join(r: &Routine, block: &mut Block) {
    if !block.items.iter().any(|i| matches!(i, Item::Control { .. })) {
        return;
    }
    let items = std::mem::take(&mut block.items);
    for mut item in items {
        if let Item::Control { op, blocks } = &mut item {
            blocks.iter_mut().for_each(|b| join(r, b));
            if let Some((kernel, views)) = kernel(&r.types, op, blocks) {
                block.items.push(Item::Kernel(Box::new(kernel)));
                block.items.extend(views);
                continue;
            }
        }
        block.items.push(item);
    }
}

/// A loop in the making.
struct Join<'a> {
    types: &'a [TensorType],
    /// What a value is the same memory as.
    same: FxHashMap<Value, Value>,
    slots: FxHashMap<Value, Slot>,
    own: Vec<(DType, i64)>,
    buffers: Vec<(Value, bool)>,
}

impl Join<'_> {
    fn root(&self, mut v: Value) -> Value {
        while let Some(&next) = self.same.get(&v) {
            v = next;
        }
        v
    }
    /// Dtype and number of elements, where that is known and a machine has the dtype. A kernel over no elements is left to
    /// the plan, which does not run it: here, what it reads once for all elements would be read.
    fn size(&self, v: Value) -> Option<(DType, i64)> {
        let ty = self.types.get(v.index())?;
        let n = ty.shape.size().as_i64().filter(|&n| n > 0)?;
        (!ty.dtype.is_complex()).then_some((ty.dtype, n))
    }
    /// Memory of the loop's own for a value.
    fn keep(&mut self, v: Value) -> Option<u32> {
        let n = self.own.len() as u32;
        self.own.push(self.size(v)?);
        self.slots.insert(v, Slot::Own(n));
        Some(n)
    }
    /// The number of a value of outside among the buffers.
    fn outside(&mut self, v: Value, written: bool) -> u32 {
        let at = self.buffers.iter().position(|b| *b == (v, written)).unwrap_or_else(|| {
            self.buffers.push((v, written));
            self.buffers.len() - 1
        });
        at as u32
    }
    fn slot(&mut self, v: Value) -> Slot {
        let root = self.root(v);
        match self.slots.get(&root) {
            Some(&s) => s,
            None => Slot::Buffer(self.outside(root, false)),
        }
    }
    fn parts(&mut self, block: &Block) -> Vec<Part> {
        let mut parts = vec![];
        for item in &block.items {
            if let Item::Kernel(k) = item {
                let at = k.buffers.iter().map(|&v| self.slot(v)).collect();
                parts.push(Part { item: KernelItem::clone(k), at });
            }
        }
        parts
    }
}

/// Is a block small, and made of kernels alone? Counts its ops and kernels.
fn small(types: &[TensorType], block: &Block, flops: &mut i64, parts: &mut usize) -> bool {
    block.items.iter().all(|item| match item {
        Item::View { .. } => true,
        Item::Kernel(k) => {
            let (read, written) = k.bytes(types);
            *parts += kernels_in(k);
            *flops = flops.saturating_add(k.flops().as_i64().unwrap_or(i64::MAX));
            let bytes = (read + written).as_i64().is_some_and(|n| n <= BYTES);
            bytes && k.params.is_empty() && *flops <= FLOPS && *parts <= PARTS
        }
        Item::Library(_) | Item::Matmul(_) | Item::Control { .. } | Item::Call { .. } => false,
    })
}

/// A kernel and, if it is a loop, those inside of it at any depth.
fn kernels_in(k: &KernelItem) -> usize {
    let inside = k.repeat.iter().flat_map(|r| r.cond.iter().chain(&r.body));
    1 + inside.map(|p| kernels_in(&p.item)).sum::<usize>()
}

/// May the kernel that makes `next` write it on top of `arg`, which nothing needs any more then?
fn on_top(j: &Join<'_>, body: &Block, arg: Value, next: Value) -> bool {
    let kernels: Vec<&KernelItem> =
        body.items.iter().filter_map(|i| if let Item::Kernel(k) = i { Some(&**k) } else { None }).collect();
    let is = |v: Value, of: Value| j.root(v) == of;
    let writes = |k: &KernelItem| k.buffers.iter().zip(&k.kernel.buffers).position(|(&v, d)| d.written && is(v, next));
    let Some((at, to)) = kernels.iter().enumerate().find_map(|(n, k)| Some((n, writes(k)?))) else { return false };
    let (k, decls) = (kernels[at], &kernels[at].kernel.buffers);
    let read = (0..decls.len()).filter(|&b| is(k.buffers[b], arg));
    let allowed = read.clone().all(|b| decls[to].shares.contains(&(b as u32)));
    let later = kernels[at + 1..].iter().any(|k| k.buffers.iter().any(|&v| is(v, arg)));
    let others = body.results.iter().any(|&v| is(v, arg));
    let once = body.results.iter().filter(|&&v| is(v, next)).count() == 1;
    allowed && !later && !others && once
}

/// The kernel that a loop is, and views of what it carries and does not change.
fn kernel(types: &[TensorType], op: &Op, blocks: &[Block]) -> Option<(KernelItem, Vec<Item>)> {
    let (carried, body, cond, length) = match (&op.prim, blocks) {
        (Prim::WhileLoop {}, [cond, body]) => (op.operands.len(), body, Some(cond), None),
        (Prim::Scan { carry, length, reverse }, [body]) => {
            (*carry, body, None, Some((*length, Length { known: length.as_i64(), reverse: *reverse })))
        }
        _ => return None,
    };
    let (mut flops, mut count) = (0, 0);
    // What symbolic extents can get wrong is looked at by the plan.
    if !blocks.iter().all(|b| b.guards.is_empty() && small(types, b, &mut flops, &mut count)) {
        return None;
    }
    let mut j = Join { types, same: FxHashMap::default(), slots: FxHashMap::default(), own: vec![], buffers: vec![] };
    for item in blocks.iter().flat_map(|b| &b.items) {
        if let Item::View { from, to } = item {
            j.same.insert(*to, *from);
        }
    }
    let mut views = vec![];
    let mut moving = vec![];
    for n in 0..carried {
        let (arg, init) = (body.args[n], op.operands[n]);
        if j.root(body.results[n]) == arg {
            views.push(Item::View { from: init, to: op.results[n] });
            j.same.insert(arg, init);
        } else {
            moving.push(n);
        }
        if let Some(cond) = cond {
            j.same.insert(cond.args[n], arg);
        }
    }
    for &n in &moving {
        j.keep(body.args[n])?;
    }
    for (&arg, &x) in body.args.iter().zip(&op.operands).skip(carried) {
        let (_, n) = j.size(arg)?;
        let buffer = j.outside(x, false);
        j.slots.insert(arg, Slot::Entry(buffer, n));
    }
    for block in blocks {
        for item in &block.items {
            let Item::Kernel(k) = item else { continue };
            for (&v, decl) in k.buffers.iter().zip(&k.kernel.buffers) {
                let root = j.root(v);
                if decl.written && !j.slots.contains_key(&root) {
                    let state = moving.iter().find(|&&n| j.root(body.results[n]) == root).map(|&n| body.args[n]);
                    match state.filter(|&arg| on_top(&j, body, arg, root)).and_then(|arg| j.slots.get(&arg).copied()) {
                        Some(slot) => drop(j.slots.insert(root, slot)),
                        None => drop(j.keep(root)?),
                    }
                }
            }
        }
    }
    let bytes: i64 = j.own.iter().fold(0, |n, (d, e)| n.saturating_add(e.saturating_mul(d.size() as i64)));
    if bytes > OWN {
        return None;
    }
    let condition = cond.map(|c| j.parts(c)).unwrap_or_default();
    let truth = cond.and_then(|c| c.results.first()).map(|&v| j.slot(v));
    let parts = j.parts(body);
    let mut states = vec![];
    for &n in &moving {
        let Some(&Slot::Own(own)) = j.slots.get(&body.args[n]) else { return None };
        let (init, result) = (j.outside(op.operands[n], false), j.outside(op.results[n], true));
        states.push(Carried { own, init, result, next: j.slot(body.results[n]) });
    }
    let mut copies = vec![];
    for (&v, &y) in body.results.iter().zip(&op.results).skip(carried) {
        let (_, n) = j.size(v)?;
        let to = Slot::Entry(j.outside(y, true), n);
        copies.push((j.slot(v), to));
    }
    let mut label: Vec<&str> = parts.iter().map(|p| p.item.label.as_str()).collect();
    label.dedup();
    let label = format!("{}: {}", op.prim.name(), label.join("; "));
    let decl = |&(v, written): &(Value, bool)| {
        let dtype = types.get(v.index()).map_or(DType::F32, |t| t.dtype);
        BufferDecl { dtype, written, shares: vec![] }
    };
    let kernel = Kernel { buffers: j.buffers.iter().map(decl).collect(), ..Kernel::default() };
    let why = |b: &(Value, bool)| if b.1 { "a result of the loop".into() } else { String::new() };
    let params: Vec<Dim> = length.iter().filter(|(_, l)| l.known.is_none()).map(|(d, _)| *d).collect();
    let repeat =
        Repeat { length: length.map(|(_, l)| l), cond: condition, truth, body: parts, own: j.own, states, copies };
    let item = KernelItem {
        kernel,
        buffers: j.buffers.iter().map(|b| b.0).collect(),
        params,
        label,
        reasons: j.buffers.iter().map(why).collect(),
        loc: op.loc,
        repeat: Some(Box::new(repeat)),
    };
    Some((item, views))
}
