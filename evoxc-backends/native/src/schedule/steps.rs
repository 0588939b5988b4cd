//! The items of a region: one for each op that something needs, in the order of the program.

use super::routine::Routines;
use super::{Block, Item, LibraryItem};
use evoxc_core::OpError;
use evoxc_ir::{Literal, Op, Prim, Region, TensorType, Value};
use rustc_hash::FxHashSet;

/// What is made of one function.
pub(super) struct Steps<'a, 'm> {
    /// The type of every value.
    pub(super) types: Vec<TensorType>,
    /// Constants of all its regions.
    pub(super) constants: Vec<Op>,
    /// The functions that it calls.
    pub(super) funcs: &'a mut Routines<'m>,
}

impl Steps<'_, '_> {
    /// The items of a region. Regions nest at most [`evoxc_ir::MAX_REGION_DEPTH`] deep.
    pub(super) fn block(&mut self, region: &Region) -> Result<Block, OpError> {
        let mut items = Vec::with_capacity(region.ops.len());
        for op in needed(region) {
            self.item(op, &mut items)?;
        }
        Ok(Block { args: region.args.clone(), items, results: region.results.clone() })
    }

    fn item(&mut self, op: &Op, items: &mut Vec<Item>) -> Result<(), OpError> {
        match &op.prim {
            // A splat of symbolic shape has no size before it runs.
            Prim::Constant { value } if matches!(value, Literal::Dense(_)) || value.ty().shape.is_static() => {
                self.constants.push(op.clone());
            }
            Prim::Reshape { .. } | Prim::StopGradient {} | Prim::OptimizationBarrier {} => {
                items.extend(op.operands.iter().zip(&op.results).map(|(&from, &to)| Item::View { from, to }));
            }
            Prim::Cond {} | Prim::Switch {} | Prim::WhileLoop {} | Prim::Scan { .. } => {
                let blocks = op.regions.iter().map(|r| self.block(r)).collect::<Result<_, _>>()?;
                items.push(Item::Control { op: Box::new(Op { regions: vec![], ..op.clone() }), blocks });
            }
            Prim::Call { callee, .. } => {
                let routine = self.funcs.number(&callee.0)?;
                items.push(Item::Call { op: Box::new(op.clone()), routine });
            }
            _ => items.push(Item::Library(Box::new(LibraryItem {
                op: op.clone(),
                captures: captures(op),
                reason: "no kernel expresses it yet",
            }))),
        }
        Ok(())
    }
}

/// The ops of a region that have an effect, or whose results something needs.
pub(super) fn needed(region: &Region) -> Vec<&Op> {
    let mut used: FxHashSet<Value> = region.results.iter().copied().collect();
    let mut kept = Vec::with_capacity(region.ops.len());
    for op in region.ops.iter().rev() {
        if has_effect(op) || op.results.iter().any(|v| used.contains(v)) {
            used.extend(&op.operands);
            used.extend(captures(op));
            kept.push(op);
        }
    }
    kept.reverse();
    kept
}

/// An op that stays though nothing uses it: one with an effect, or around one, or a call, which may have one inside.
fn has_effect(op: &Op) -> bool {
    let call = matches!(op.prim, Prim::Call { .. });
    call || op.prim.has_effect() || op.regions.iter().any(|r| r.ops.iter().any(has_effect))
}

/// The values of regions around an op that its own regions read, each once, in the order in which they are met.
pub(super) fn captures(op: &Op) -> Vec<Value> {
    if op.regions.is_empty() {
        return vec![];
    }
    let mut c = Captures::default();
    op.regions.iter().for_each(|r| c.region(r));
    let Captures { inside, read } = c;
    let mut once = FxHashSet::default();
    read.into_iter().filter(|v| !inside.contains(v) && once.insert(*v)).collect()
}

#[derive(Default)]
struct Captures {
    inside: FxHashSet<Value>,
    read: Vec<Value>,
}

impl Captures {
    fn region(&mut self, region: &Region) {
        self.inside.extend(&region.args);
        for op in &region.ops {
            self.read.extend(&op.operands);
            op.regions.iter().for_each(|r| self.region(r));
            self.inside.extend(&op.results);
        }
        self.read.extend(&region.results);
    }
}
