//! Putting nodes in the place of others.

use crate::uop::memo::Memo;
use crate::uop::{Arena, UOp};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The node with every node that the map has replaced by what it has for it. What is put in is not searched again, and so
/// `{i: j, j: i}` swaps two ranges. Every occurrence is replaced, also where a `Reduce` or an `End` names a range.
///
/// Costs time in the number of nodes that come after the first replaced one, not in the size of the arena.
///
/// ```
/// use evoxc_native::uop::{Alu, Arena, AxisKind, Op, Ty, substitute};
/// let mut a = Arena::new();
/// let size = a.index(12);
/// let i = a.node(Op::Range(0, AxisKind::Loop), Ty::INDEX, &[size]);
/// let j = a.node(Op::Range(1, AxisKind::Loop), Ty::INDEX, &[size]);
/// let x = a.alu(Alu::Mul, &[i, size]);
/// let y = substitute(&mut a, x, &[(i, j)].into_iter().collect());
/// assert_eq!(y, a.alu(Alu::Mul, &[j, size]));
/// ```
pub fn substitute(arena: &mut Arena, root: UOp, map: &FxHashMap<UOp, UOp>) -> UOp {
    substitute_all(arena, &[root], map)[0]
}

/// As [`substitute`], for several at once: what they share is done once.
pub fn substitute_all(arena: &mut Arena, roots: &[UOp], map: &FxHashMap<UOp, UOp>) -> Vec<UOp> {
    // Nodes made before all that is replaced do not use it.
    let first = map.keys().map(|u| u.index()).min().unwrap_or(usize::MAX);
    let order = reachable(arena, roots, first);
    let mut done = Memo::new(order.first().map_or(0, |u| u.index()), order.last().map_or(0, |u| u.index() + 1));
    for u in order {
        let new = map.get(&u).copied().unwrap_or_else(|| {
            let node = arena.get(u);
            let (op, ty) = (node.op, node.ty);
            let src: SmallVec<[UOp; 4]> = node.src.iter().map(|s| done.get(*s).unwrap_or(*s)).collect();
            if src.as_slice() == node.src.as_slice() { u } else { arena.node(op, ty, &src) }
        });
        done.insert(u, new);
    }
    roots.iter().map(|u| done.get(*u).unwrap_or(*u)).collect()
}

/// The nodes that roots are made of, but for those whose index is below `first`, sources before what uses them.
pub(crate) fn reachable(arena: &Arena, roots: &[UOp], first: usize) -> Vec<UOp> {
    let end = roots.iter().map(|u| u.index() + 1).max().unwrap_or(0);
    let mut seen = Memo::new(first, end);
    let mut found: Vec<UOp> = roots.iter().copied().filter(|&u| u.index() >= first && seen.mark(u)).collect();
    let mut at = 0;
    while let Some(&u) = found.get(at) {
        found.extend(arena.src(u).iter().copied().filter(|&s| s.index() >= first && seen.mark(s)));
        at += 1;
    }
    found.sort_unstable();
    found
}
