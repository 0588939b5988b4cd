//! A schedule as a table: a line for each step, with the memory that it moves and what it computes.

use super::{Block, Item, KernelItem, MatmulItem, Routine, Schedule};
use evoxc_core::Dim;
use evoxc_ir::{MAX_REGION_DEPTH, Value};

/// A step of a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// How many loops and conditions it is inside of.
    pub depth: usize,
    /// `kernel`, `matmul`, `library`, or the control op.
    pub kind: String,
    /// What it computes: the ops of a kernel, the op of a library step.
    pub label: String,
    /// The extents of its loops, of a kernel or product.
    pub loops: String,
    /// Bytes read, each buffer once.
    pub read: Dim,
    /// Bytes written.
    pub written: Dim,
    /// Ops on floats.
    pub flops: Dim,
    /// Why what it writes is memory.
    pub why: String,
}

impl Schedule {
    /// A row for each step that does something: views do not. Bodies of loops follow their loop, counted once.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// use evoxc_native::schedule::schedule;
    /// let graph = trace(|x: Sym| x.softmax(1), spec(F32, (dim("B"), 1024)))?;
    /// let rows = schedule(graph.module()).unwrap().rows();
    /// assert_eq!(rows.len(), 1);
    /// assert_eq!((rows[0].kind.as_str(), rows[0].read), ("kernel", dim("B") * 4096));
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = vec![];
        self.routines.iter().for_each(|r| walk(r, &r.body, 0, &mut rows));
        rows
    }
}

// Regions nest at most `MAX_REGION_DEPTH` deep.
fn walk(r: &Routine, block: &Block, depth: usize, rows: &mut Vec<Row>) {
    if depth > MAX_REGION_DEPTH {
        return;
    }
    let bytes = |list: &[Value]| {
        let size =
            |v: &Value| r.types.get(v.index()).map_or(Dim::constant(0), |t| t.shape.size() * t.dtype.size() as i64);
        list.iter().map(size).fold(Dim::constant(0), |a, b| a + b)
    };
    let none = Dim::constant(0);
    for item in &block.items {
        let row = match item {
            Item::View { .. } => continue,
            Item::Kernel(k) => of_kernel(r, k, depth),
            Item::Matmul(m) => of_matmul(m, depth, bytes(&[m.lhs, m.rhs]), bytes(&[m.out])),
            Item::Library(l) => Row {
                depth,
                kind: "library".into(),
                label: l.op.prim.name(),
                loops: String::new(),
                read: bytes(&l.op.operands) + bytes(&l.captures),
                written: bytes(&l.op.results),
                flops: none,
                why: l.reason.into(),
            },
            Item::Control { op, .. } | Item::Call { op, .. } => Row {
                depth,
                kind: op.prim.name(),
                label: String::new(),
                loops: String::new(),
                read: none,
                written: none,
                flops: none,
                why: String::new(),
            },
        };
        rows.push(row);
        if let Item::Control { blocks, .. } = item {
            blocks.iter().for_each(|b| walk(r, b, depth + 1, rows));
        }
    }
}

fn of_kernel(r: &Routine, k: &KernelItem, depth: usize) -> Row {
    let (read, written) = k.bytes(&r.types);
    let mut why: Vec<&str> = k.reasons.iter().map(String::as_str).filter(|w| !w.is_empty()).collect();
    why.dedup();
    let (kind, label, flops) = ("kernel".into(), k.label.clone(), k.flops());
    Row { depth, kind, label, loops: k.loops(), read, written, flops, why: why.join("; ") }
}

fn of_matmul(m: &MatmulItem, depth: usize, read: Dim, written: Dim) -> Row {
    let [b, rows, n, k] = m.extents;
    let loops = format!("{b} x {rows} x {n}, inside {k}");
    Row {
        depth,
        kind: "matmul".into(),
        label: "dot".into(),
        loops,
        read,
        written,
        flops: b * rows * n * k * 2,
        why: String::new(),
    }
}
