//! What nodes became, for one pass over an arena.

use super::UOp;
use rustc_hash::FxHashMap;

/// Arenas up to this many nodes have a table with a place for each.
const SMALL: usize = 4096;
const NONE: u32 = u32::MAX;

/// From nodes to nodes.
pub(super) enum Memo {
    /// By index, from the first one that may be asked for.
    Table(usize, Vec<u32>),
    Map(FxHashMap<UOp, UOp>),
}

impl Memo {
    /// For nodes from `first` to below `end`, and others that are made meanwhile.
    pub(super) fn new(first: usize, end: usize) -> Memo {
        let span = end.saturating_sub(first);
        if span <= SMALL { Memo::Table(first, vec![NONE; span]) } else { Memo::Map(FxHashMap::default()) }
    }
    /// For all nodes of an arena, of which most are asked for.
    pub(super) fn whole(len: usize) -> Memo {
        Memo::Table(0, vec![NONE; len])
    }
    pub(super) fn get(&self, u: UOp) -> Option<UOp> {
        match self {
            Memo::Table(first, table) => {
                let n = *table.get(u.index().checked_sub(*first)?)?;
                (n != NONE).then(|| UOp::from_index(n))
            }
            Memo::Map(map) => map.get(&u).copied(),
        }
    }
    /// A node below the first is not remembered: it is as it was.
    pub(super) fn insert(&mut self, u: UOp, new: UOp) {
        match self {
            Memo::Table(first, table) => {
                let Some(at) = u.index().checked_sub(*first) else { return };
                if at >= table.len() {
                    table.resize((at + 1).max(table.len() * 2), NONE);
                }
                table[at] = new.index() as u32;
            }
            Memo::Map(map) => {
                map.insert(u, new);
            }
        }
    }
    /// Marks the node; was it not marked before?
    pub(super) fn mark(&mut self, u: UOp) -> bool {
        let new = self.get(u).is_none();
        if new {
            self.insert(u, u);
        }
        new
    }
}
