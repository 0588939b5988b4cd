//! Extents as numbers that a caller can compute.

use crate::kernel::Kernel;
use crate::lir::Size;
use crate::uop::{Alu, Op, UOp};
use rustc_hash::FxHashMap;

pub(super) fn constant(v: i64) -> Size {
    Size::Const(v)
}
pub(super) fn add(a: Size, b: Size) -> Size {
    match (a, b) {
        (Size::Const(x), Size::Const(y)) => Size::Const(x.saturating_add(y)),
        (Size::Const(0), x) | (x, Size::Const(0)) => x,
        (a, b) => Size::Add(Box::new(a), Box::new(b)),
    }
}
pub(super) fn mul(a: Size, b: Size) -> Size {
    match (a, b) {
        (Size::Const(x), Size::Const(y)) => Size::Const(x.saturating_mul(y)),
        (Size::Const(1), x) | (x, Size::Const(1)) => x,
        (a, b) => Size::Mul(Box::new(a), Box::new(b)),
    }
}
pub(super) fn div(a: Size, b: Size) -> Size {
    match (a, b) {
        (Size::Const(x), Size::Const(y)) if y > 0 => Size::Const(x.div_euclid(y)),
        (x, Size::Const(1)) => x,
        (a, b) => Size::Div(Box::new(a), Box::new(b)),
    }
}
pub(super) fn min(a: Size, b: Size) -> Size {
    match (a, b) {
        (Size::Const(x), Size::Const(y)) => Size::Const(x.min(y)),
        (a, b) => Size::Min(Box::new(a), Box::new(b)),
    }
}
pub(super) fn max(a: Size, b: Size) -> Size {
    match (a, b) {
        (Size::Const(x), Size::Const(y)) => Size::Const(x.max(y)),
        (a, b) => Size::Max(Box::new(a), Box::new(b)),
    }
}

/// An expression of numbers and parameters; nothing for one of ranges or memory.
pub(super) fn size(kernel: &Kernel, root: UOp) -> Option<Size> {
    let arena = &kernel.uops;
    let mut known: FxHashMap<UOp, Size> = FxHashMap::default();
    let mut todo = vec![root];
    while let Some(&u) = todo.last() {
        if known.contains_key(&u) {
            todo.pop();
            continue;
        }
        let node = arena.get(u);
        let before = todo.len();
        todo.extend(node.src.iter().copied().filter(|s| !known.contains_key(s)));
        if todo.len() > before {
            continue;
        }
        let of = |k: usize| node.src.get(k).and_then(|s| known.get(s)).cloned();
        let v = match node.op {
            Op::Const(bits) => constant(bits as i64),
            Op::Param(n) => Size::Param(n),
            Op::Alu(Alu::Add) => add(of(0)?, of(1)?),
            Op::Alu(Alu::Sub) => add(of(0)?, mul(constant(-1), of(1)?)),
            Op::Alu(Alu::Neg) => mul(constant(-1), of(0)?),
            Op::Alu(Alu::Mul) => mul(of(0)?, of(1)?),
            Op::Alu(Alu::Min) => min(of(0)?, of(1)?),
            Op::Alu(Alu::Max) => max(of(0)?, of(1)?),
            Op::IndexDiv => div(of(0)?, of(1)?),
            Op::IndexMod => {
                let (a, b) = (of(0)?, of(1)?);
                add(a.clone(), mul(constant(-1), mul(div(a, b.clone()), b)))
            }
            _ => return None,
        };
        known.insert(u, v);
        todo.pop();
    }
    known.remove(&root)
}
