//! A schedule for people: its kernels with their loops, the memory that they move, what they compute, and why each buffer
//! exists.

use super::{Block, Item, KernelItem, Part, Routine, Schedule};
use crate::kernel::Kernel;
use crate::uop::{Alu, AxisKind, Op, UOp};
use evoxc_core::Dim;
use evoxc_ir::{TensorType, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::fmt;

/// How many steps of each kind a schedule has, those of all blocks and routines together.
///
/// ```
/// use evoxc::prelude::*;
/// use evoxc_native::schedule::schedule;
/// let graph = trace(|x: Sym| (x.exp() + 1.0).sum(..), spec(F32, [2, 3]))?;
/// let counters = schedule(graph.module()).unwrap().counters();
/// assert_eq!((counters.kernels, counters.library), (1, 0));
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Kernels.
    pub kernels: usize,
    /// Products of matrices.
    pub matmuls: usize,
    /// Ops that a library runs.
    pub library: usize,
    /// Values under another shape, which move no data.
    pub views: usize,
    /// Conditions and loops.
    pub controls: usize,
    /// Calls that were not inlined.
    pub calls: usize,
}

impl Schedule {
    /// How many steps of each kind there are.
    pub fn counters(&self) -> Counters {
        let mut c = Counters::default();
        self.routines.iter().for_each(|r| count(&r.body, &mut c));
        c
    }
}

fn count(block: &Block, c: &mut Counters) {
    for item in &block.items {
        match item {
            Item::Kernel(_) => c.kernels += 1,
            Item::Matmul(_) => c.matmuls += 1,
            Item::Library(_) => c.library += 1,
            Item::View { .. } => c.views += 1,
            Item::Control { blocks, .. } => {
                c.controls += 1;
                blocks.iter().for_each(|b| count(b, c));
            }
            Item::Call { .. } => c.calls += 1,
        }
    }
}

impl KernelItem {
    /// Bytes that it reads and writes, each buffer counted once; `types` are those of the routine.
    pub fn bytes(&self, types: &[TensorType]) -> (Dim, Dim) {
        let mut all = (Dim::constant(0), Dim::constant(0));
        for (v, decl) in self.buffers.iter().zip(&self.kernel.buffers) {
            let bytes = types.get(v.index()).map_or(Dim::constant(0), bytes);
            if decl.written {
                all.1 = all.1 + bytes;
            } else {
                all.0 = all.0 + bytes;
            }
        }
        all
    }
    /// Ops on floats, those of reductions included.
    pub fn flops(&self) -> Dim {
        if let Some(r) = &self.repeat {
            let once = |parts: &[Part]| parts.iter().fold(Dim::constant(0), |n, p| n + p.item.flops());
            // That of a while loop is of one iteration.
            return (once(&r.cond) + once(&r.body)) * self.length().unwrap_or(Dim::constant(1));
        }
        let arena = &self.kernel.uops;
        let mut by_ranges: FxHashMap<SmallVec<[UOp; 4]>, i64> = FxHashMap::default();
        for (u, node) in arena.iter() {
            let float = node.ty.dtype.is_float() && node.ty.lanes > 0 && !node.ty.pointer;
            let (over, is_op): (SmallVec<[UOp; 4]>, bool) = match node.op {
                Op::Unary(_) | Op::Binary(_) | Op::Alu(_) | Op::Call(_) => {
                    (arena.ranges(u).into(), float && node.op != Op::Alu(Alu::Select))
                }
                Op::Reduce(_) => (arena.ranges(node.src[0]).into(), float),
                _ => (SmallVec::new(), false),
            };
            if is_op {
                *by_ranges.entry(over).or_default() += 1;
            }
        }
        let mut total = Dim::constant(0);
        for (ranges, n) in by_ranges {
            let times = ranges.iter().fold(Dim::constant(n), |t, &r| t * self.extent(r));
            total = total + times;
        }
        total
    }
    /// The extents of its loops, and of those inside them: `4096, inside 1024, 1024`.
    pub fn loops(&self) -> String {
        if let Some(r) = &self.repeat {
            let inner: Vec<String> = r.cond.iter().chain(&r.body).map(|p| format!("({})", p.item.loops())).collect();
            let times = self.length().map_or_else(|| "as long as it holds".into(), |n| n.to_string());
            return format!("{times}, inside {}", inner.join(", "));
        }
        let list = |ranges: &[UOp], between: &str| {
            ranges.iter().map(|&u| self.extent(u).to_string()).collect::<Vec<_>>().join(between)
        };
        let outer = if self.kernel.loops.is_empty() { "once".into() } else { list(&self.kernel.loops, " x ") };
        let inner = reduce_ranges(&self.kernel);
        if inner.is_empty() { outer } else { format!("{outer}, inside {}", list(&inner, ", ")) }
    }
    /// How often the loop runs that it is.
    fn length(&self) -> Option<Dim> {
        let length = self.repeat.as_ref()?.length?;
        length.known.map(Dim::constant).or_else(|| self.params.first().copied())
    }
    /// The extent of a range.
    fn extent(&self, range: UOp) -> Dim {
        self.kernel.uops.src(range).first().map_or(Dim::constant(1), |&n| self.dim(n))
    }
    fn dim(&self, u: UOp) -> Dim {
        let arena = &self.kernel.uops;
        let two = |f: &dyn Fn(Dim, Dim) -> Dim| match *arena.src(u) {
            [x, y] => f(self.dim(x), self.dim(y)),
            _ => Dim::constant(1),
        };
        match arena.op(u) {
            Op::Const(v) => Dim::constant(v as i64),
            Op::Param(n) => self.params.get(n as usize).copied().unwrap_or(Dim::constant(1)),
            Op::Alu(Alu::Add) => two(&|x, y| x + y),
            Op::Alu(Alu::Sub) => two(&|x, y| x - y),
            Op::Alu(Alu::Mul) => two(&|x, y| x * y),
            Op::Alu(Alu::Min) => two(&|x, y| x.min(y)),
            Op::Alu(Alu::Max) => two(&|x, y| x.max(y)),
            Op::IndexDiv => two(&|x, y| x / y),
            _ => Dim::constant(1),
        }
    }
}

fn bytes(ty: &TensorType) -> Dim {
    ty.shape.size() * ty.dtype.size() as i64
}

/// A number of bytes or ops, with a prefix and its unit.
#[derive(Clone, Copy, Debug)]
pub struct Amount(pub Dim, pub &'static str);

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = self.1;
        match self.0.as_i64() {
            None => write!(f, "{} {unit}", self.0),
            Some(n) if n < 10_000 => write!(f, "{n} {unit}"),
            Some(n) if n < 10_000_000 => write!(f, "{:.1} k{unit}", n as f64 / 1e3),
            Some(n) if n < 10_000_000_000 => write!(f, "{:.1} M{unit}", n as f64 / 1e6),
            Some(n) => write!(f, "{:.1} G{unit}", n as f64 / 1e9),
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for r in &self.routines {
            writeln!(f, "@{}", r.name)?;
            for c in &r.constants {
                for v in &c.results {
                    writeln!(f, "  constant {}", Typed(r, *v))?;
                }
            }
            show(f, r, &r.body, 1)?;
        }
        let c = self.counters();
        let mut parts = vec![];
        for (n, one, many) in [
            (c.kernels, "kernel", "kernels"),
            (c.matmuls, "product of matrices", "products of matrices"),
            (c.library, "library step", "library steps"),
            (c.views, "view", "views"),
            (c.controls, "control step", "control steps"),
            (c.calls, "call", "calls"),
        ] {
            if n > 0 {
                parts.push(format!("{n} {}", if n == 1 { one } else { many }));
            }
        }
        writeln!(f, "{}", if parts.is_empty() { "nothing to do".to_string() } else { parts.join(", ") })
    }
}

struct Typed<'a>(&'a Routine, Value);

impl fmt::Display for Typed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.1.0)?;
        self.0.types.get(self.1.index()).map_or(Ok(()), |t| write!(f, ": {t}"))
    }
}

fn list(values: &[Value]) -> String {
    values.iter().map(|v| format!("%{}", v.0)).collect::<Vec<_>>().join(", ")
}

// Regions nest at most `MAX_REGION_DEPTH` deep.
fn show(f: &mut fmt::Formatter<'_>, r: &Routine, block: &Block, depth: usize) -> fmt::Result {
    let pad = "  ".repeat(depth);
    for item in &block.items {
        match item {
            Item::Kernel(k) => kernel(f, r, k, &pad)?,
            Item::Library(l) => {
                let (name, results) = (l.op.prim.name(), list(&l.op.results));
                writeln!(f, "{pad}library {name}: {} -> {results} ({})", list(&l.op.operands), l.reason)?;
            }
            Item::Matmul(m) => {
                let [b, rows, n, k] = m.extents;
                writeln!(f, "{pad}matmul {}: %{}, %{}", Typed(r, m.out), m.lhs.0, m.rhs.0)?;
                writeln!(f, "{pad}  {b} x ({rows} x {k}) ({k} x {n}), {}", Amount(b * rows * n * k * 2, "flop"))?;
            }
            Item::View { from, to } => writeln!(f, "{pad}view {} of %{}", Typed(r, *to), from.0)?,
            Item::Call { op, routine } => {
                writeln!(f, "{pad}call routine {routine}: {} -> {}", list(&op.operands), list(&op.results))?;
            }
            Item::Control { op, blocks } => {
                writeln!(f, "{pad}{}: {} -> {}", op.prim.name(), list(&op.operands), list(&op.results))?;
                for b in blocks {
                    writeln!(f, "{pad}  block({})", list(&b.args))?;
                    show(f, r, b, depth + 2)?;
                    writeln!(f, "{pad}    yield {}", list(&b.results))?;
                }
            }
        }
    }
    if depth == 1 {
        writeln!(f, "{pad}return {}", list(&block.results))?;
    }
    Ok(())
}

fn kernel(f: &mut fmt::Formatter<'_>, r: &Routine, k: &KernelItem, pad: &str) -> fmt::Result {
    writeln!(f, "{pad}kernel {}", k.label)?;
    let loops = k.loops();
    let (read, written) = k.bytes(&r.types);
    let (read, written, flops) = (Amount(read, "B"), Amount(written, "B"), Amount(k.flops(), "flop"));
    writeln!(f, "{pad}  loops {loops}; reads {read}, writes {written}, {flops}")?;
    for s in &k.kernel.scratch {
        writeln!(f, "{pad}  a row of {} x {}", k.dim(s.len), s.dtype)?;
    }
    for ((v, decl), why) in k.buffers.iter().zip(&k.kernel.buffers).zip(&k.reasons) {
        if decl.written {
            writeln!(f, "{pad}  writes {}: {why}", Typed(r, *v))?;
        } else {
            writeln!(f, "{pad}  reads {}", Typed(r, *v))?;
        }
    }
    Ok(())
}

/// The ranges of reductions and fills.
fn reduce_ranges(k: &Kernel) -> Vec<UOp> {
    k.uops.iter().filter(|(_, n)| matches!(n.op, Op::Range(_, AxisKind::Reduce))).map(|(u, _)| u).collect()
}
