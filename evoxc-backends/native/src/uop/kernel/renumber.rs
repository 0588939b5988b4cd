//! Kernels numbered by first appearance, so that those that do the same are equal.

use super::{in_order, roots};
use crate::kernel::{BufferDecl, Kernel, ScratchDecl};
use crate::uop::{Arena, Op, UOp};
use smallvec::SmallVec;

/// What the numbers of a kernel were before: entry n is the old number of what is n now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbering {
    /// Of buffers.
    pub buffers: Vec<u32>,
    /// Of scratch memories.
    pub scratch: Vec<u32>,
    /// Of parameters.
    pub params: Vec<u32>,
    /// Of ranges.
    pub ranges: Vec<u32>,
}

/// The same kernel without what it does not use, its ranges, parameters, buffers and scratch memories numbered as they
/// first appear: in the loops, outermost first, then in the stores. A buffer that does not appear is gone.
///
/// ```
/// use evoxc_native::{kernel::{BufferDecl, Kernel}, uop::{Op, Ty, renumber}};
/// use evoxc_core::DType;
/// let mut k = Kernel::default();
/// k.buffers = vec![BufferDecl { dtype: DType::F32, written: true, shares: vec![] }; 3];
/// let zero = k.uops.index(0);
/// let value = k.uops.constant(DType::F32, 0);
/// let memory = k.uops.node(Op::Buffer(2), Ty::memory(DType::F32), &[]);
/// k.stores = vec![k.uops.node(Op::Store, Ty::VOID, &[memory, zero, value])];
/// let (k, numbers) = renumber(&k);
/// assert_eq!((k.buffers.len(), numbers.buffers), (1, vec![2]));
/// ```
pub fn renumber(kernel: &Kernel) -> (Kernel, Numbering) {
    let old = &kernel.uops;
    let mut numbers = Numbering::default();
    let mut known = [const { Vec::new() }; 4];
    let mut uops = Arena::new();
    let mut new: Vec<Option<UOp>> = vec![None; old.len()];
    // Scratch memories' sizes last: those of ones that appear nowhere are not needed, but cost nothing.
    for u in in_order(old, roots(kernel)) {
        let node = old.get(u);
        let op = match node.op {
            Op::Buffer(n) => Op::Buffer(renumbered(&mut known[0], &mut numbers.buffers, n)),
            Op::Scratch(n) => Op::Scratch(renumbered(&mut known[1], &mut numbers.scratch, n)),
            Op::Param(n) => Op::Param(renumbered(&mut known[2], &mut numbers.params, n)),
            Op::Range(n, kind) => Op::Range(renumbered(&mut known[3], &mut numbers.ranges, n), kind),
            op => op,
        };
        let src: SmallVec<[UOp; 4]> = node.src.iter().map(|s| new[s.index()].unwrap_or(*s)).collect();
        new[u.index()] = Some(uops.node(op, node.ty, &src));
    }
    let get = |u: &UOp| new[u.index()].unwrap_or(*u);
    let buffers = numbers.buffers.iter().filter_map(|&n| kernel.buffers.get(n as usize));
    let buffers = buffers.map(|b| BufferDecl {
        shares: b.shares.iter().filter_map(|s| known[0].get(*s as usize).copied().flatten()).collect(),
        ..b.clone()
    });
    let scratch = numbers.scratch.iter().filter_map(|&n| kernel.scratch.get(n as usize));
    let scratch = scratch.map(|s| ScratchDecl { dtype: s.dtype, len: get(&s.len) });
    let out = Kernel {
        stores: kernel.stores.iter().map(get).collect(),
        loops: kernel.loops.iter().map(get).collect(),
        buffers: buffers.collect(),
        scratch: scratch.collect(),
        params: numbers.params.len() as u32,
        uops,
    };
    (out, numbers)
}

/// The new number of `old`, which is the next one if it has none yet.
pub(crate) fn renumbered(known: &mut Vec<Option<u32>>, olds: &mut Vec<u32>, old: u32) -> u32 {
    let at = old as usize;
    if known.len() <= at {
        known.resize(at + 1, None);
    }
    *known[at].get_or_insert_with(|| {
        olds.push(old);
        olds.len() as u32 - 1
    })
}
