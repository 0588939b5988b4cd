//! Whole kernels: their numbering, what makes two of them equal, the forms that they must have, and their text.

mod key;
mod print;
mod renumber;
#[cfg(test)]
mod tests;
mod verify;

pub use key::{Key, key};
pub(crate) use renumber::renumbered;
pub use renumber::{Numbering, renumber};
pub use verify::{Stage, verify};

use super::{Arena, UOp};

/// The nodes that roots are made of, sources before what uses them, in an order that depends on the roots alone: the first
/// root's first, and of each node the first source's first. Without recursion.
fn in_order(arena: &Arena, roots: impl Iterator<Item = UOp>) -> Vec<UOp> {
    let mut seen = vec![false; arena.len()];
    let mut order = vec![];
    let mut todo: Vec<(UOp, usize)> = vec![];
    for root in roots {
        if std::mem::replace(&mut seen[root.index()], true) {
            continue;
        }
        todo.push((root, 0));
        while let Some((u, at)) = todo.last_mut() {
            match arena.src(*u).get(*at) {
                Some(&s) => {
                    *at += 1;
                    if !std::mem::replace(&mut seen[s.index()], true) {
                        todo.push((s, 0));
                    }
                }
                None => {
                    order.push(*u);
                    todo.pop();
                }
            }
        }
    }
    order
}

/// The roots of a kernel: what is made and run.
fn roots(kernel: &crate::kernel::Kernel) -> impl Iterator<Item = UOp> {
    let scratch = kernel.scratch.iter().map(|s| s.len);
    kernel.loops.iter().copied().chain(kernel.stores.iter().copied()).chain(scratch)
}

/// Simplifies all values of a kernel that has been decomposed: see [`simplify_values`](super::simplify_values).
pub fn simplify_kernel(kernel: &mut crate::kernel::Kernel) {
    let all: Vec<UOp> = roots(kernel).collect();
    let new = super::simplify_values(&mut kernel.uops, &all);
    let (loops, rest) = new.split_at(kernel.loops.len());
    let (stores, sizes) = rest.split_at(kernel.stores.len());
    (kernel.loops, kernel.stores) = (loops.to_vec(), stores.to_vec());
    kernel.scratch.iter_mut().zip(sizes).for_each(|(s, &len)| s.len = len);
}
