//! Rewriting of DAGs by rules, to a fixpoint, without recursion and in time near-linear in the graph.

use super::memo::Memo;
use super::{Arena, Rules, UOp};
use smallvec::SmallVec;

/// How often what a rule made may be rewritten again before it is left as it is: no set of rules runs forever.
const GENERATIONS: u32 = 256;

/// The roots with all that they are made of rewritten, until no rule applies: sources before what uses them, so that a rule
/// sees sources that no rule applies to any more.
pub fn rewrite<C>(arena: &mut Arena, roots: &[UOp], rules: &Rules<C>, context: &mut C) -> Vec<UOp> {
    Rewriter::new(arena, rules, context).bottom_up(roots)
}

/// As [`rewrite`], but nodes before their sources: a rule sees the graph as it was below the node.
pub fn rewrite_top_down<C>(arena: &mut Arena, roots: &[UOp], rules: &Rules<C>, context: &mut C) -> Vec<UOp> {
    Rewriter::new(arena, rules, context).top_down(roots)
}

/// One rewriting. What a node became is remembered for all roots that are given to the same one.
pub struct Rewriter<'a, C: 'static> {
    arena: &'a mut Arena,
    rules: &'a Rules<C>,
    context: &'a mut C,
    done: Memo,
    /// How many steps were taken, each of constant time but for the rules' own.
    pub steps: u64,
    /// How many rules were applied.
    pub applied: u64,
}

enum Step {
    /// Rewrite a node.
    Enter(UOp),
    /// Its sources are rewritten.
    Rebuild(UOp),
    /// What it was rebuilt as (the second) became the third, which is rewritten.
    Link(UOp, UOp, UOp),
    /// Top-down: the rules made the second of the first, and the sources of that are rewritten.
    Finish(UOp, UOp),
}

impl<'a, C> Rewriter<'a, C> {
    /// Nothing rewritten yet.
    pub fn new(arena: &'a mut Arena, rules: &'a Rules<C>, context: &'a mut C) -> Rewriter<'a, C> {
        let done = Memo::whole(arena.len());
        Rewriter { arena, rules, context, done, steps: 0, applied: 0 }
    }
    /// As [`rewrite`].
    pub fn bottom_up(&mut self, roots: &[UOp]) -> Vec<UOp> {
        // Sources have lower numbers than what uses them, so that most nodes are done in the order of their numbers; what
        // rules make is entered where it is made.
        let end = roots.iter().map(|u| u.index() + 1).max().unwrap_or(0);
        let mut needed = vec![false; end];
        roots.iter().for_each(|u| needed[u.index()] = true);
        for (u, node) in self.arena.iter().rev().skip(self.arena.len() - end) {
            if needed[u.index()] {
                node.src.iter().for_each(|s| needed[s.index()] = true);
            }
        }
        let mut todo: Vec<(Step, u32)> = vec![];
        for (at, needed) in needed.into_iter().enumerate() {
            let u = UOp::from_index(at as u32);
            if needed && self.done.mark(u) {
                self.steps += 1;
                self.rebuild(u, 0, &mut todo);
                self.enter_all(&mut todo);
            }
        }
        self.results(roots)
    }
    /// Steps until none is left.
    fn enter_all(&mut self, todo: &mut Vec<(Step, u32)>) {
        while let Some((step, generation)) = todo.pop() {
            self.steps += 1;
            match step {
                Step::Enter(u) => {
                    // Until it is done it stands for itself: a rule that makes a node of itself ends there.
                    if self.done.mark(u) {
                        todo.push((Step::Rebuild(u), generation));
                        let src = &self.arena.get(u).src;
                        todo.extend(src.iter().rev().map(|&s| (Step::Enter(s), generation)));
                    }
                }
                Step::Rebuild(u) => self.rebuild(u, generation, todo),
                Step::Link(u, rebuilt, new) => {
                    let last = self.done.get(new).unwrap_or(new);
                    self.done.insert(u, last);
                    self.done.insert(rebuilt, last);
                }
                Step::Finish(..) => {}
            }
        }
    }
    /// A node whose sources are rewritten, by the first rule that applies.
    fn rebuild(&mut self, u: UOp, generation: u32, todo: &mut Vec<(Step, u32)>) {
        let rebuilt = self.rebuilt(u);
        if rebuilt != u
            && let Some(known) = self.done.get(rebuilt)
        {
            self.done.insert(u, known);
            return;
        }
        let new = match generation {
            GENERATIONS.. => None,
            _ => self.rules.apply(self.arena, self.context, rebuilt),
        };
        self.done.insert(rebuilt, rebuilt);
        match new {
            Some(new) => {
                self.applied += 1;
                todo.push((Step::Link(u, rebuilt, new), generation));
                todo.push((Step::Enter(new), generation + 1));
            }
            None => self.done.insert(u, rebuilt),
        }
    }
    /// As [`rewrite_top_down`].
    pub fn top_down(&mut self, roots: &[UOp]) -> Vec<UOp> {
        let mut todo: Vec<(Step, u32)> = roots.iter().rev().map(|&u| (Step::Enter(u), 0)).collect();
        while let Some((step, mut generation)) = todo.pop() {
            self.steps += 1;
            match step {
                Step::Enter(u) => {
                    if self.done.mark(u) {
                        let mut new = u;
                        while generation < GENERATIONS
                            && let Some(next) = self.rules.apply(self.arena, self.context, new)
                        {
                            self.applied += 1;
                            self.steps += 1;
                            generation += 1;
                            new = next;
                        }
                        todo.push((Step::Finish(u, new), generation));
                        let src = &self.arena.get(new).src;
                        todo.extend(src.iter().rev().map(|&s| (Step::Enter(s), generation)));
                    }
                }
                Step::Finish(u, new) => {
                    let last = self.rebuilt(new);
                    self.done.insert(u, last);
                }
                Step::Rebuild(..) | Step::Link(..) => {}
            }
        }
        self.results(roots)
    }
    fn rebuilt(&mut self, u: UOp) -> UOp {
        let node = self.arena.get(u);
        let now = |s: &UOp| self.done.get(*s).unwrap_or(*s);
        if node.src.iter().all(|s| now(s) == *s) {
            return u;
        }
        let (op, ty) = (node.op, node.ty);
        let src: SmallVec<[UOp; 4]> = node.src.iter().map(now).collect();
        self.arena.node(op, ty, &src)
    }
    fn results(&self, roots: &[UOp]) -> Vec<UOp> {
        roots.iter().map(|u| self.done.get(*u).unwrap_or(*u)).collect()
    }
}
