//! Dead code: ops of a region without effect whose results nothing uses.

use super::{Block, Graph};
use crate::Value;
use rustc_hash::FxHashSet;

/// Ends a region: keeps the ops that have an effect or that its results need, and notes what it captures.
pub(super) fn close(graph: &Graph, args: Vec<Value>, ops: Vec<usize>, results: Vec<Value>) -> Block {
    let mut used: FxHashSet<Value> = results.iter().copied().collect();
    let mut kept = Vec::with_capacity(ops.len());
    for id in ops.into_iter().rev() {
        let node = &graph.nodes[id];
        if node.effect || node.results.iter().any(|v| used.contains(v)) {
            node.results.iter().for_each(|v| {
                used.remove(v);
            });
            used.extend(&node.operands);
            used.extend(node.regions.iter().flat_map(|b| &b.captures));
            kept.push(id);
        }
    }
    kept.reverse();
    args.iter().for_each(|v| {
        used.remove(v);
    });
    let mut captures: Vec<Value> = used.into_iter().collect();
    captures.sort_unstable();
    Block { args, ops: kept, results, captures }
}
