//! Kernels become loops: order, tiles, lanes, accumulators, and what is hoisted out of what.

mod affine;
mod analysis;
mod build;
mod columns;
mod emit;
mod grid;
mod known;
mod loops;
mod nest;
mod reduce;
mod repeat;
mod size;
#[cfg(test)]
mod tests;

pub use repeat::repeat;

use crate::kernel::Kernel;
use crate::lir::Lir;
use crate::render::Target;
use crate::uop::{Arena, Op, UOp};
use evoxc_core::OpError;

/// How far to go: what a search varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Lanes of vectors: 1 keeps everything scalar. More than the target has counts as what it has.
    pub lanes: u8,
    /// Vectors side by side in the innermost loop; half as many where they have 16 lanes.
    pub unroll: u8,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape { lanes: 16, unroll: 4 }
    }
}

/// The shapes that a search tries, the default first.
pub fn candidates(kernel: &Kernel) -> Vec<Shape> {
    let _ = kernel;
    let mut all = vec![Shape::default()];
    for lanes in [16, 8, 4, 1] {
        for unroll in [1, 2, 4, 8] {
            let s = Shape { lanes, unroll };
            if !all.contains(&s) && (lanes > 1 || unroll == 1) {
                all.push(s);
            }
        }
    }
    all
}

/// Loops and registers for a kernel that has been through [`decompose`](crate::decompose::decompose).
///
/// The same kernel gives the same bits for every shape, and for every division of its outermost loop.
///
/// # Errors
/// [`OpError`] for a kernel that breaks the form, which is a fault of the compiler.
pub fn linearise(kernel: &Kernel, target: &Target, shape: Shape) -> Result<Lir, OpError> {
    let arena = &kernel.uops;
    let an = analysis::Analysis::new(kernel)?;
    let mut sums = affine::Sums::new(kernel);
    let mut loops = kernel.loops.clone();
    innermost(kernel, &mut sums, &mut loops);
    let fuse = target.alu;
    let opened = |u: UOp| match reduce::contraction(kernel, u) {
        Some(_) => fuse(crate::uop::Alu::Fma, arena.ty(u).dtype),
        None => false,
    };
    // Reductions whose partial results differ in number have loops of their own.
    let lone = |u: UOp| match arena.op(u) {
        Op::Reduce(op) => reduce::ordered(op, arena.ty(u).dtype) && arena.ty(u).dtype.size() == 8,
        _ => false,
    };
    let mut scratch = Vec::with_capacity(kernel.scratch.len());
    for s in &kernel.scratch {
        let len = size::size(kernel, s.len).ok_or_else(|| analysis::broken("a size of scratch memory is no number"))?;
        scratch.push((s.dtype, len));
    }
    let mut nest = nest::Nest::new(kernel, &an, &mut sums, &loops, &lone, &opened)?;
    let mut planned = emit::Emit::new(kernel, &an, &mut sums, &nest, Vec::new(), *target, shape);
    planned.choose();
    planned.tile();
    let shared = planned.sharing(&loops);
    if let Some(range) = shared {
        loops.retain(|&r| r != range);
        loops.insert(loops.len() - 1, range);
        nest = nest::Nest::new(kernel, &an, &mut sums, &loops, &lone, &opened)?;
    }
    let mut e = emit::Emit::new(kernel, &an, &mut sums, &nest, scratch, *target, shape);
    e.choose();
    e.tile();
    let (extent, grain) = e.whole_kernel()?;
    let scratch = std::mem::take(&mut e.scratch);
    let (regs, body) = e.b.finish();
    Ok(Lir {
        buffers: kernel.buffers.iter().map(|b| b.dtype).collect(),
        scratch,
        params: kernel.params,
        extent,
        grain,
        regs,
        body,
    })
}

/// Puts the loop whose elements the stores have side by side last.
fn innermost(kernel: &Kernel, sums: &mut affine::Sums, loops: &mut Vec<UOp>) {
    let arena: &Arena = &kernel.uops;
    let mut best = None;
    for (k, &range) in loops.iter().enumerate() {
        let mut count = 0;
        for &s in &kernel.stores {
            if let Some(&index) = arena.src(s).get(1) {
                sums.make(kernel, index);
                count += usize::from(sums.step(arena, index, range) == affine::Step::Const(1));
            }
        }
        if count > 0 && best.is_none_or(|(c, _)| count >= c) {
            best = Some((count, k));
        }
    }
    if let Some((_, k)) = best {
        let r = loops.remove(k);
        loops.push(r);
    }
}
