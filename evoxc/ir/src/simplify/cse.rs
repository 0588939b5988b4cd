//! Equal ops: the same primitive and attributes on the same operands, with regions that are equal up to the numbering
//! of the values inside. An op inside a region may be replaced by one outside, never the other way round.

use super::{Block, Graph, Node};
use crate::{Literal, Prim, Value};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// The ops that are visible, by their hashes.
#[derive(Default)]
pub(super) struct Known {
    ops: FxHashMap<u64, SmallVec<[usize; 1]>>,
    /// The hashes in the order in which they came, to take them back when a region ends.
    added: Vec<u64>,
    scopes: Vec<usize>,
}

impl Known {
    pub(super) fn enter(&mut self) {
        self.scopes.push(self.added.len());
    }
    pub(super) fn leave(&mut self) {
        let start = self.scopes.pop().unwrap_or(0);
        for key in self.added.drain(start..) {
            if let Some(list) = self.ops.get_mut(&key) {
                list.pop();
            }
        }
    }
    pub(super) fn add(&mut self, key: u64, id: usize) {
        self.ops.entry(key).or_default().push(id);
        self.added.push(key);
    }
}

/// The hash under which equal ops are found.
pub(super) fn hash(graph: &Graph, node: &Node) -> u64 {
    let mut h = FxHasher::default();
    hash_node(graph, node, &mut FxHashMap::default(), &mut h);
    h.finish()
}

/// Large constants are told apart by their ends; equality reads the rest.
const HASHED_BYTES: usize = 256;

fn hash_node(graph: &Graph, node: &Node, inner: &mut FxHashMap<Value, u32>, h: &mut FxHasher) {
    match &node.prim {
        Prim::Constant { value } => {
            std::mem::discriminant(value).hash(h);
            if let Literal::Splat(_, shape) = value {
                shape.hash(h);
            }
            let t = value.tensor();
            (t.dtype(), t.shape()).hash(h);
            let bytes = t.buffer().bytes();
            let n = bytes.len().min(HASHED_BYTES);
            (bytes.get(..n), bytes.get(bytes.len() - n..)).hash(h);
        }
        prim => prim.hash(h),
    }
    hash_values(&node.operands, inner, h);
    for block in &node.regions {
        hash_block(graph, block, inner, h);
    }
}

fn hash_block(graph: &Graph, block: &Block, inner: &mut FxHashMap<Value, u32>, h: &mut FxHasher) {
    define(&block.args, inner);
    (block.args.len(), block.ops.len()).hash(h);
    for &id in &block.ops {
        let node = &graph.nodes[id];
        hash_node(graph, node, inner, h);
        define(&node.results, inner);
    }
    hash_values(&block.results, inner, h);
}

fn define(values: &[Value], inner: &mut FxHashMap<Value, u32>) {
    for &v in values {
        inner.insert(v, inner.len() as u32);
    }
}

fn hash_values(values: &[Value], inner: &FxHashMap<Value, u32>, h: &mut FxHasher) {
    for v in values {
        match inner.get(v) {
            Some(n) => (true, *n).hash(h),
            None => (false, v.0).hash(h),
        }
    }
}

/// A visible op that is equal to `node`, whose results are to take the place of the old values `results`.
pub(super) fn find(graph: &Graph, key: u64, node: &Node, results: &[Value]) -> Option<usize> {
    let candidates = graph.known.ops.get(&key)?;
    candidates.iter().copied().find(|&id| {
        let other = &graph.nodes[id];
        let types = results.iter().zip(&other.results).all(|(a, b)| graph.old.ty(*a) == graph.ty(*b));
        results.len() == other.results.len() && types && equal(graph, node, other, &mut FxHashMap::default())
    })
}

fn equal(graph: &Graph, a: &Node, b: &Node, inner: &mut FxHashMap<Value, Value>) -> bool {
    a.prim == b.prim
        && equal_values(&a.operands, &b.operands, inner)
        && a.regions.len() == b.regions.len()
        && a.regions.iter().zip(&b.regions).all(|(x, y)| equal_blocks(graph, x, y, inner))
}

fn equal_blocks(graph: &Graph, a: &Block, b: &Block, inner: &mut FxHashMap<Value, Value>) -> bool {
    if !pair(graph, &a.args, &b.args, inner) || a.ops.len() != b.ops.len() {
        return false;
    }
    for (&x, &y) in a.ops.iter().zip(&b.ops) {
        let (x, y) = (&graph.nodes[x], &graph.nodes[y]);
        if !equal(graph, x, y, inner) || !pair(graph, &x.results, &y.results, inner) {
            return false;
        }
    }
    equal_values(&a.results, &b.results, inner)
}

/// Values that correspond, defined inside the regions that are compared.
fn pair(graph: &Graph, a: &[Value], b: &[Value], inner: &mut FxHashMap<Value, Value>) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(&x, &y)| {
            inner.insert(x, y);
            graph.ty(x) == graph.ty(y)
        })
}

fn equal_values(a: &[Value], b: &[Value], inner: &FxHashMap<Value, Value>) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| inner.get(x).unwrap_or(x) == y)
}
