//! The nodes of a region as items, in an order that respects what they read and write.

use super::build::{Built, build};
use super::expand::Known;
use super::facts::Facts;
use super::group::Group;
use super::{Item, KernelItem};
use crate::kernel::Kernel;
use crate::uop::Op as UOpKind;
use evoxc_core::OpError;
use evoxc_ir::{Op, Value};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An item in the making.
pub(super) enum Work {
    Group(Box<Group>),
    Item(Item),
}

pub(super) struct Node {
    pub(super) work: Work,
    /// The place of its last op.
    pub(super) place: usize,
    /// Nodes that come before.
    pub(super) after: Vec<usize>,
}

/// The items, each after those whose results it reads.
pub(super) fn ordered(nodes: Vec<Node>, ops: &[Cow<'_, Op>], facts: &Facts) -> Result<Vec<Item>, OpError> {
    let mut before: Vec<Vec<usize>> = vec![vec![]; nodes.len()];
    let mut waits = vec![0usize; nodes.len()];
    for (n, node) in nodes.iter().enumerate() {
        for &a in &node.after {
            before[a].push(n);
            waits[n] += 1;
        }
    }
    let mut ready: BinaryHeap<Reverse<(usize, usize)>> =
        (0..nodes.len()).filter(|&n| waits[n] == 0).map(|n| Reverse((nodes[n].place, n))).collect();
    let mut works: Vec<Option<Node>> = nodes.into_iter().map(Some).collect();
    let mut items = Vec::with_capacity(works.len());
    while let Some(Reverse((_, n))) = ready.pop() {
        let Some(node) = works[n].take() else { continue };
        items.push(match node.work {
            Work::Item(item) => item,
            Work::Group(g) => kernel(*g, ops, facts)?,
        });
        for &b in &before[n] {
            waits[b] -= 1;
            if waits[b] == 0
                && let Some(next) = &works[b]
            {
                ready.push(Reverse((next.place, b)));
            }
        }
    }
    if works.iter().any(Option::is_some) {
        return Err(OpError::new("schedule", "kernels need each other's results, a fault of the compiler"));
    }
    Ok(items)
}

fn kernel(mut g: Group, ops: &[Cow<'_, Op>], facts: &Facts) -> Result<Item, OpError> {
    let mut names: Vec<String> = vec![];
    let mut loc = None;
    for step in &g.steps {
        if let Some(op) = ops.get(step.op) {
            let name = op.prim.name();
            if loc.is_none() {
                loc = op.loc;
            }
            if !names.contains(&name) && names.len() < 12 {
                names.push(name);
            }
        }
    }
    names.reverse();
    let reasons: Vec<(Value, String)> =
        g.outputs.iter_mut().map(|o| (o.value, std::mem::take(&mut o.reason))).collect();
    let Built { mut kernel, buffers, params } = build(g, ops, facts)?;
    share(&mut kernel, &buffers, facts);
    if names.is_empty() {
        names.push("copy".into());
    }
    let reason = |v: &Value| reasons.iter().find(|(o, _)| o == v).map(|(_, r)| r.clone()).unwrap_or_default();
    let reasons = buffers.iter().map(reason).collect();
    Ok(Item::Kernel(Box::new(KernelItem {
        kernel,
        buffers,
        params,
        label: names.join(", "),
        reasons,
        loc,
        repeat: None,
    })))
}

/// Says which buffers may be the memory that is written: those read only at the element that is written then. Of several
/// stores the order is not known, so only what is written alone may share.
fn share(kernel: &mut Kernel, buffers: &[Value], facts: &Facts) {
    let [store] = kernel.stores[..] else { return };
    let (UOpKind::Store, &[pointer, at, _]) = (kernel.uops.op(store), kernel.uops.src(store)) else { return };
    let UOpKind::Buffer(out) = kernel.uops.op(pointer) else { return };
    let Some(&to) = buffers.get(out as usize) else { return };
    let mut fits: Vec<bool> = buffers
        .iter()
        .map(|&v| {
            v != to
                && facts.ty(v).dtype.size() == facts.ty(to).dtype.size()
                && facts.ty(v).shape.size() == facts.ty(to).shape.size()
        })
        .collect();
    for (_, node) in kernel.uops.iter() {
        if node.op == UOpKind::Load
            && let UOpKind::Buffer(n) = kernel.uops.op(node.src[0])
            && node.src[1] != at
            && let Some(f) = fits.get_mut(n as usize)
        {
            *f = false;
        }
    }
    let shares = (0..).zip(&fits).filter(|(_, f)| **f).map(|(n, _)| n).collect();
    if let Some(decl) = kernel.buffers.get_mut(out as usize) {
        decl.shares = shares;
    }
}
