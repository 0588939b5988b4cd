//! Sets of ranges, each held once, so that the set of every node costs four bytes.

use super::UOp;
use rustc_hash::FxHashMap;

/// A set of an arena.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct SetId(u32);

impl SetId {
    /// The set without members.
    pub(super) const EMPTY: SetId = SetId(0);
}

/// The sets of one arena. Members are in the order of their index.
#[derive(Clone, Debug, Default)]
pub(super) struct Sets {
    /// By id, after the empty one.
    sets: Vec<Box<[UOp]>>,
    ids: FxHashMap<Box<[UOp]>, SetId>,
    unions: FxHashMap<(SetId, SetId), SetId>,
}

impl Sets {
    /// The members.
    pub(super) fn members(&self, id: SetId) -> &[UOp] {
        match id {
            SetId::EMPTY => &[],
            SetId(n) => &self.sets[n as usize - 1],
        }
    }
    /// Members of either.
    pub(super) fn union(&mut self, a: SetId, b: SetId) -> SetId {
        if a == b || b == SetId::EMPTY {
            return a;
        }
        if a == SetId::EMPTY {
            return b;
        }
        let key = if a.0 < b.0 { (a, b) } else { (b, a) };
        if let Some(&id) = self.unions.get(&key) {
            return id;
        }
        let mut all: Vec<UOp> = self.members(a).iter().chain(self.members(b)).copied().collect();
        all.sort_unstable();
        all.dedup();
        let id = self.id(all);
        self.unions.insert(key, id);
        id
    }
    /// A set with one member more.
    pub(super) fn with(&mut self, set: SetId, member: UOp) -> SetId {
        let one = self.id(vec![member]);
        self.union(set, one)
    }
    /// The members that `gone` has not.
    pub(super) fn without(&mut self, set: SetId, gone: &[UOp]) -> SetId {
        let members = self.members(set);
        let left: Vec<UOp> = members.iter().copied().filter(|m| !gone.contains(m)).collect();
        if left.len() == members.len() { set } else { self.id(left) }
    }
    fn id(&mut self, sorted: Vec<UOp>) -> SetId {
        if sorted.is_empty() {
            return SetId::EMPTY;
        }
        let members = sorted.into_boxed_slice();
        if let Some(&id) = self.ids.get(&members) {
            return id;
        }
        self.sets.push(members.clone());
        let id = SetId(self.sets.len() as u32);
        self.ids.insert(members, id);
        id
    }
}
