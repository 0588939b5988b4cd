//! Which loops there are, and what stands in each.
//!
//! A block is the body of a loop, or what is outside of all. A node stands in the block of the deepest range that it depends
//! on, so that nothing is computed more often than it changes. Reductions and fills over the same ranges that do not need
//! each other share their loops; what a range's loop computes is computed again in another loop over the same range.

use super::affine::Sums;
use super::analysis::{Analysis, broken, pointer};
use crate::kernel::Kernel;
use crate::uop::{Op, UOp};
use evoxc_core::OpError;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The number of a block.
pub(super) type BlockId = usize;

/// No block.
const NOWHERE: BlockId = usize::MAX;

/// What stands in a block, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// A node.
    Node(UOp),
    /// The loops of reductions and fills.
    Loop(BlockId),
}

/// The body of a loop.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub parent: Option<BlockId>,
    /// What the loop counts; nothing for what is outside of all loops.
    pub range: Option<UOp>,
    pub items: Vec<Item>,
    /// The loop over outputs, or the next of the ranges that are closed together; after the items.
    pub inner: Option<BlockId>,
    /// Stores to buffers, after all else; or the stores of `closers`.
    pub stores: Vec<UOp>,
    /// The reductions and fills that this is the innermost loop of.
    pub closers: Vec<UOp>,
}

/// Pending: a child block with the stage of its results.
struct Child {
    stage: u32,
    block: BlockId,
}

/// All blocks; number 0 is outside of all loops.
pub(super) struct Nest {
    pub blocks: Vec<Block>,
    /// The innermost block of the loops over outputs.
    pub innermost: BlockId,
    /// Loads that nothing needs but products that are added up: they may be done where the product is.
    pub factors: FxHashSet<UOp>,
}

struct Maker<'a> {
    kernel: &'a Kernel,
    an: &'a Analysis,
    sums: &'a mut Sums,
    blocks: Vec<Block>,
    children: Vec<Vec<Child>>,
    /// By node, the block that it was first marked in, or [`NOWHERE`].
    first: Vec<BlockId>,
    /// What is marked in other blocks too.
    again: FxHashSet<(UOp, BlockId)>,
    factors: FxHashSet<UOp>,
    groups: FxHashMap<(BlockId, SmallVec<[UOp; 2]>, u32, bool), BlockId>,
    todo: Vec<(UOp, BlockId)>,
}

impl Nest {
    /// The blocks of a kernel. `opened` are the products whose factors are wanted, and not they themselves.
    pub fn new(
        kernel: &Kernel,
        an: &Analysis,
        sums: &mut Sums,
        loops: &[UOp],
        lone: &dyn Fn(UOp) -> bool,
        opened: &dyn Fn(UOp) -> bool,
    ) -> Result<Nest, OpError> {
        let mut m = Maker {
            kernel,
            an,
            sums,
            blocks: vec![Block::default()],
            children: vec![Vec::new()],
            first: vec![NOWHERE; kernel.uops.len()],
            again: FxHashSet::default(),
            factors: FxHashSet::default(),
            groups: FxHashMap::default(),
            todo: Vec::new(),
        };
        let mut innermost = 0;
        for &range in loops {
            let next = m.block(innermost, range)?;
            m.blocks[innermost].inner = Some(next);
            innermost = next;
        }
        for &store in &kernel.stores {
            let home = m.home(store, innermost)?;
            m.blocks[home].stores.push(store);
            m.operands(store, home)?;
            m.drain(lone, opened)?;
        }
        let Maker { mut blocks, mut children, factors, first, again, .. } = m;
        // In the order of the nodes, so that next to nothing is left to sort.
        for ((u, node), home) in kernel.uops.iter().zip(first) {
            if home != NOWHERE && !matches!(node.op, Op::Reduce(_) | Op::End) {
                blocks[home].items.push(Item::Node(u));
            }
        }
        for (u, home) in again {
            if !matches!(kernel.uops.op(u), Op::Reduce(_) | Op::End) {
                blocks[home].items.push(Item::Node(u));
            }
        }
        for (b, block) in blocks.iter_mut().enumerate() {
            // Whatever needs a loop comes after it, and has a greater stage, or the same if it is no loop.
            block.items.extend(children[b].iter().map(|c| Item::Loop(c.block)));
            let stages: FxHashMap<BlockId, u32> = children[b].drain(..).map(|c| (c.block, c.stage)).collect();
            block.items.sort_unstable_by_key(|i| match *i {
                Item::Loop(c) => (stages.get(&c).copied().unwrap_or(0), false, c),
                Item::Node(u) => (an.stage[u.index()], true, u.index()),
            });
        }
        Ok(Nest { blocks, innermost, factors })
    }
    /// A block and all around it, from within.
    pub fn around(&self, b: BlockId) -> impl Iterator<Item = BlockId> {
        std::iter::successors(Some(b), |&b| self.blocks[b].parent)
    }
}

impl Maker<'_> {
    fn block(&mut self, parent: BlockId, range: UOp) -> Result<BlockId, OpError> {
        let b = self.blocks.len();
        self.blocks.push(Block { parent: Some(parent), range: Some(range), ..Block::default() });
        self.children.push(Vec::new());
        let extent = self.kernel.uops.src(range)[0];
        self.need(extent, parent)?;
        Ok(b)
    }
    /// The block that a node stands in, seen from one that needs it.
    fn home(&self, u: UOp, from: BlockId) -> Result<BlockId, OpError> {
        let wanted = self.kernel.uops.ranges(u);
        if wanted.is_empty() {
            return Ok(0);
        }
        let mut at = from;
        loop {
            let block = &self.blocks[at];
            match (block.range, block.parent) {
                (Some(r), _) if wanted.binary_search(&r).is_ok() => return Ok(at),
                (_, Some(parent)) => at = parent,
                (_, None) => return Err(broken(format!("{u:?} depends on a range that no loop is over"))),
            }
        }
    }
    fn need(&mut self, u: UOp, from: BlockId) -> Result<(), OpError> {
        let home = self.home(u, from)?;
        if !self.factors.is_empty() {
            self.factors.remove(&u);
        }
        let first = &mut self.first[u.index()];
        let new = match *first {
            NOWHERE => {
                *first = home;
                true
            }
            b => b != home && self.again.insert((u, home)),
        };
        if new {
            self.todo.push((u, home));
        }
        Ok(())
    }
    fn index(&mut self, u: UOp, from: BlockId) -> Result<(), OpError> {
        self.sums.make(self.kernel, u);
        let atoms: SmallVec<[UOp; 4]> = self.sums.get(u).terms.iter().flat_map(|t| t.atoms.iter().copied()).collect();
        for a in atoms {
            if !matches!(self.kernel.uops.op(a), Op::Range(..)) {
                self.need(a, from)?;
            }
        }
        Ok(())
    }
    /// What a node needs is needed where it stands.
    fn operands(&mut self, u: UOp, at: BlockId) -> Result<(), OpError> {
        let kernel = self.kernel;
        let src = kernel.uops.src(u);
        match kernel.uops.op(u) {
            Op::Load | Op::Store => {
                let mut after = SmallVec::<[UOp; 2]>::new();
                pointer(kernel, src[0], |p| after.push(p))?;
                for p in after {
                    for &e in &kernel.uops.src(p)[1..] {
                        self.need(e, at)?;
                    }
                }
                self.index(src[1], at)?;
                for &s in &src[2..] {
                    self.need(s, at)?;
                }
            }
            Op::Range(..) => {}
            _ => {
                for &s in src {
                    self.need(s, at)?;
                }
            }
        }
        Ok(())
    }
    fn drain(&mut self, lone: &dyn Fn(UOp) -> bool, opened: &dyn Fn(UOp) -> bool) -> Result<(), OpError> {
        while let Some((u, home)) = self.todo.pop() {
            let kernel = self.kernel;
            match kernel.uops.op(u) {
                Op::Reduce(_) | Op::End => {
                    let ranges = SmallVec::from_slice(&kernel.uops.src(u)[1..]);
                    let leaf = self.group(u, home, ranges, lone(u))?;
                    let of = kernel.uops.src(u)[0];
                    self.blocks[leaf].closers.push(u);
                    match kernel.uops.op(of) {
                        Op::Store => self.operands(of, leaf)?,
                        _ if opened(u) => {
                            for &s in kernel.uops.src(of) {
                                let home = self.home(s, leaf)?;
                                let known = self.factors.contains(&s);
                                // A factor is one in all loops: what another loop needs as a value is none.
                                let new = self.first[s.index()] == NOWHERE;
                                self.need(s, leaf)?;
                                if (known || new) && home == leaf && kernel.uops.op(s) == Op::Load {
                                    self.factors.insert(s);
                                }
                            }
                        }
                        _ => self.need(of, leaf)?,
                    }
                }
                _ => self.operands(u, home)?,
            }
        }
        Ok(())
    }
    /// The innermost loop over the ranges, for a result of that stage.
    fn group(&mut self, u: UOp, home: BlockId, ranges: SmallVec<[UOp; 2]>, lone: bool) -> Result<BlockId, OpError> {
        let stage = self.an.stage[u.index()];
        let key = (home, ranges, stage, lone);
        if let Some(&leaf) = self.groups.get(&key) {
            return Ok(leaf);
        }
        let mut at = home;
        for (k, &r) in key.1.iter().enumerate() {
            let b = self.block(at, r)?;
            if k == 0 {
                self.children[home].push(Child { stage, block: b });
            } else {
                self.blocks[at].inner = Some(b);
            }
            at = b;
        }
        if at == home {
            return Err(broken(format!("{u:?} is over no range")));
        }
        self.groups.insert(key, at);
        Ok(at)
    }
}
