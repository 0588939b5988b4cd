//! Control flow as steps: where the values of its blocks are, and what is carried from one iteration to the next.

use super::super::lifetimes;
use super::super::place::NONE;
use super::super::steps::*;
use super::{Builder, Fault};
use crate::schedule::{self, Item};
use evoxc_core::{Dim, OpError};
use evoxc_ir::{Op, Prim, Value};
use smallvec::SmallVec;

impl<'a> Builder<'a> {
    /// Is the value made by an item of block `number`, and has no place yet?
    fn free_to_place(&self, root: usize, number: u32) -> bool {
        self.life.home[root] == number && self.life.made[root] != lifetimes::NONE && self.place[root] == NONE
    }

    /// A result of a block goes to `to`: made there, or copied at the end.
    fn result(&mut self, v: Value, number: u32, to: Place) -> Option<(Value, Place)> {
        let root = self.life.root(v);
        if self.free_to_place(root, number) {
            self.place[root] = to;
            return None;
        }
        Some((v, to))
    }

    fn copies(&mut self, list: Vec<(Value, Place)>) -> Result<Vec<Copy>, OpError> {
        let one = |(v, to)| Ok(Copy { from: self.at(v)?, to, bytes: self.bytes(v) });
        list.into_iter().map(one).collect()
    }

    pub(super) fn choose(&mut self, op: &'a Op, blocks: &'a [schedule::Block]) -> Result<Step, Fault> {
        let by = self.at(op.operands[0])?;
        let truth = matches!(op.prim, Prim::Cond {});
        let mut branches = Vec::with_capacity(blocks.len());
        for b in blocks {
            let number = self.blocks;
            let mut late = vec![];
            for (&v, &to) in b.results.iter().zip(&op.results) {
                let to = self.at(to)?;
                late.extend(self.result(v, number, to));
            }
            let block = self.block(b)?;
            branches.push((block, self.copies(late)?));
        }
        Ok(Step::Choose(Box::new(Choose { by, truth, branches })))
    }

    /// What a loop carries that changes: `args` are the places that its blocks find it at. `number` is that of the body,
    /// which is still to be built.
    fn carry(
        &mut self,
        op: &Op,
        body: &schedule::Block,
        carried: usize,
        number: u32,
        given: &mut SmallVec<[u32; 3]>,
    ) -> Result<(Carry, Vec<(usize, Value)>), OpError> {
        let mut carry = Carry::default();
        // States whose next value is known once the body is built.
        let mut late = vec![];
        let moves: Vec<usize> =
            (0..carried).filter(|&j| self.life.root(body.args[j]) == body.args[j].index()).collect();
        for &j in &moves {
            let arg = self.places.place(Source::Moving);
            self.place[body.args[j].index()] = arg;
        }
        for &j in &moves {
            let (v, root) = (body.results[j], self.life.root(body.results[j]));
            let (arg, result) = (self.at(body.args[j])?, self.at(op.results[j])?);
            let bytes = self.bytes(v);
            let other = moves.iter().any(|&k| body.args[k].index() == root);
            let next = if other {
                let second = Some(self.temporary(bytes, "loop", given));
                carry.pairs.push(Pair { to: self.places.place(Source::Moving), first: result, second });
                Next::Copied(self.place[root], carry.pairs.len() as u32 - 1)
            } else {
                if self.free_to_place(root, number) {
                    let to = self.places.place(Source::Moving);
                    self.place[root] = to;
                    let second = match self.in_place(body, j, root) {
                        true => None,
                        false => Some(self.temporary(bytes, "loop", given)),
                    };
                    carry.pairs.push(Pair { to, first: result, second });
                }
                late.push((carry.states.len(), v));
                Next::At(0)
            };
            carry.states.push(State { arg, init: self.at(op.operands[j])?, result, next, bytes });
        }
        Ok((carry, late))
    }

    /// May a loop compute the next value of `j`, whose root is `root`, on top of the value before?
    fn in_place(&self, body: &schedule::Block, j: usize, root: usize) -> bool {
        let made = self.life.made[root];
        let arg = body.args[j].index();
        let once = body.results.iter().filter(|&&v| self.life.root(v) == root).count() == 1;
        match body.items.get(made as usize) {
            Some(item) => once && self.life.last[arg] == made && self.shares(item, root).contains(&arg),
            None => false,
        }
    }

    fn settle(&self, carry: &mut Carry, late: Vec<(usize, Value)>) -> Result<(), OpError> {
        for (s, v) in late {
            carry.states[s].next = Next::At(self.at(v)?);
        }
        Ok(())
    }

    pub(super) fn while_loop(&mut self, op: &'a Op, blocks: &'a [schedule::Block]) -> Result<Step, Fault> {
        let [cond, body] = blocks else {
            return Err(OpError::new("while_loop", "a region is missing").at(op.loc).into());
        };
        let mut given = SmallVec::new();
        // The condition is built first, as blocks are numbered in their order; it and the body find the state at one place.
        let number = self.blocks + count(cond);
        let (mut carry, late) = self.carry(op, body, op.operands.len(), number, &mut given)?;
        for (&c, &b) in cond.args.iter().zip(&body.args) {
            if self.life.root(c) == c.index() {
                self.place[c.index()] = self.at(b)?;
            }
        }
        let built = self.block(cond)?;
        let truth = self.at(cond.results[0])?;
        let body = self.block(body)?;
        self.settle(&mut carry, late)?;
        given.into_iter().for_each(|s| self.places.give(s));
        Ok(Step::While(Box::new(While { cond: built, truth, body, carry })))
    }

    pub(super) fn scan(
        &mut self,
        op: &'a Op,
        blocks: &'a [schedule::Block],
        carried: usize,
        length: Dim,
        reverse: bool,
    ) -> Result<Step, Fault> {
        let [body] = blocks else { return Err(OpError::new("scan", "a region is missing").at(op.loc).into()) };
        let number = self.blocks;
        let mut given = SmallVec::new();
        let mut entries = vec![];
        for (&arg, &x) in body.args.iter().zip(&op.operands).skip(carried) {
            let to = self.places.place(Source::Moving);
            self.place[arg.index()] = to;
            entries.push(Copy { from: self.at(x)?, to, bytes: self.bytes(arg) });
        }
        // Results of iterations are made where they stay; those that are also carried need no memory of their own then.
        let mut late_ys = vec![];
        for (&v, &y) in body.results.iter().zip(&op.results).skip(carried) {
            let root = self.life.root(v);
            let whole = self.at(y)?;
            if self.free_to_place(root, number) {
                let to = self.places.place(Source::Moving);
                self.place[root] = to;
                entries.push(Copy { from: whole, to, bytes: self.bytes(v) });
            } else {
                late_ys.push((v, whole));
            }
        }
        let (mut carry, late) = self.carry(op, body, carried, number, &mut given)?;
        let built = self.block(body)?;
        self.settle(&mut carry, late)?;
        let copies = self.copies(late_ys)?;
        given.into_iter().for_each(|s| self.places.give(s));
        let length = self.extents.amount(length);
        Ok(Step::Scan(Box::new(Scan { length, reverse, body: built, carry, entries, copies })))
    }

    pub(super) fn call(&mut self, op: &Op, routine: usize) -> Result<Call, OpError> {
        let args = op.operands.iter().map(|&v| self.at(v)).collect::<Result<_, _>>()?;
        let results = op.results.iter().map(|&v| self.at(v)).collect::<Result<_, _>>()?;
        let mut shapes = vec![];
        for &v in &op.operands {
            let ty = self.ty(v);
            shapes.extend(self.extents.shape(ty));
        }
        Ok(Call { routine: routine as u32, args, shapes, results, loc: op.loc })
    }
}

/// Blocks within a block, and itself.
fn count(block: &schedule::Block) -> u32 {
    let inner = |i: &Item| if let Item::Control { blocks, .. } = i { blocks.iter().map(count).sum() } else { 0 };
    1 + block.items.iter().map(inner).sum::<u32>()
}
