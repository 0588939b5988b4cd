//! Which values are the same memory, where each is made, and when it is needed for the last time.

use crate::schedule::{Block, Item};
use evoxc_ir::{Op, Prim, Value};

/// No block, or no item.
pub(super) const NONE: u32 = u32::MAX;

/// What is known of the values of a routine; all but `root` is kept for roots alone.
pub(super) struct Lifetimes {
    parent: Vec<u32>,
    /// The number of the block that makes it, in the order in which blocks are met.
    pub home: Vec<u32>,
    /// The item of that block that makes it; [`NONE`] for an argument.
    pub made: Vec<u32>,
    /// The item of that block that needs it last; the number of items if it is a result.
    pub last: Vec<u32>,
    /// The blocks around the current item: the block's number and the item.
    stack: Vec<(u32, u32)>,
    level: Vec<u32>,
    blocks: u32,
}

impl Lifetimes {
    /// Of a routine with so many values.
    pub fn of(body: &Block, values: usize) -> Lifetimes {
        let none = vec![NONE; values];
        let mut l = Lifetimes {
            parent: (0..values as u32).collect(),
            home: none.clone(),
            made: none,
            last: vec![0; values],
            stack: vec![],
            level: vec![],
            blocks: 0,
        };
        l.roots(body);
        l.block(body);
        l
    }

    /// The value whose memory this one is.
    pub fn root(&self, v: Value) -> usize {
        let mut i = v.index();
        while self.parent[i] as usize != i {
            i = self.parent[i] as usize;
        }
        i
    }

    fn alias(&mut self, v: Value, of: Value) {
        let root = self.root(of) as u32;
        let own = self.root(v);
        self.parent[own] = root;
        self.parent[v.index()] = root;
    }

    fn roots(&mut self, block: &Block) {
        for item in &block.items {
            match item {
                Item::View { from, to } => self.alias(*to, *from),
                Item::Control { op, blocks } => {
                    blocks.iter().for_each(|b| self.roots(b));
                    self.invariant(op, blocks);
                }
                Item::Kernel(_) | Item::Library(_) | Item::Matmul(_) | Item::Call { .. } => {}
            }
        }
    }

    /// What a loop carries but never changes is the same memory all along.
    fn invariant(&mut self, op: &Op, blocks: &[Block]) {
        let (carried, body) = match &op.prim {
            Prim::WhileLoop {} => (op.operands.len(), blocks.get(1)),
            Prim::Scan { carry, .. } => (*carry, blocks.first()),
            _ => return,
        };
        let Some(body) = body else { return };
        for j in 0..carried {
            let (arg, init) = (body.args[j], op.operands[j]);
            if self.root(body.results[j]) != self.root(arg) {
                continue;
            }
            self.alias(arg, init);
            self.alias(op.results[j], init);
            if let Prim::WhileLoop {} = op.prim {
                self.alias(blocks[0].args[j], init);
            }
        }
    }

    fn make(&mut self, v: Value, item: u32) {
        if self.parent[v.index()] as usize == v.index() {
            let number = self.stack.last().map_or(0, |s| s.0);
            self.home[v.index()] = number;
            self.made[v.index()] = item;
            self.last[v.index()] = if item == NONE { 0 } else { item };
        }
    }

    fn needs(&mut self, v: Value) {
        let root = self.root(v);
        let home = self.home[root];
        // Constants have no home.
        if home != NONE {
            let at = self.stack[self.level[home as usize] as usize].1;
            self.last[root] = self.last[root].max(at);
        }
    }

    fn block(&mut self, block: &Block) {
        let number = self.blocks;
        self.blocks += 1;
        self.level.push(self.stack.len() as u32);
        self.stack.push((number, 0));
        for &v in &block.args {
            self.make(v, NONE);
        }
        for (i, item) in block.items.iter().enumerate() {
            if let Some(top) = self.stack.last_mut() {
                top.1 = i as u32;
            }
            for_operands(item, &mut |v| self.needs(v));
            for_results(item, &mut |v| self.make(v, i as u32));
            if let Item::Control { blocks, .. } = item {
                blocks.iter().for_each(|b| self.block(b));
            }
        }
        if let Some(top) = self.stack.last_mut() {
            top.1 = block.items.len() as u32;
        }
        for &v in &block.results {
            self.needs(v);
        }
        self.stack.pop();
    }
}

/// What an item reads, but for what the blocks inside of it do.
pub(super) fn for_operands(item: &Item, f: &mut dyn FnMut(Value)) {
    match item {
        Item::Kernel(k) => {
            k.buffers.iter().zip(&k.kernel.buffers).filter(|(_, d)| !d.written).for_each(|(&v, _)| f(v));
        }
        Item::Library(l) => l.op.operands.iter().chain(&l.captures).for_each(|&v| f(v)),
        Item::Matmul(m) => [m.lhs, m.rhs].into_iter().for_each(f),
        Item::View { from, .. } => f(*from),
        Item::Control { op, .. } | Item::Call { op, .. } => op.operands.iter().for_each(|&v| f(v)),
    }
}

/// What an item makes.
pub(super) fn for_results(item: &Item, f: &mut dyn FnMut(Value)) {
    match item {
        Item::Kernel(k) => {
            k.buffers.iter().zip(&k.kernel.buffers).filter(|(_, d)| d.written).for_each(|(&v, _)| f(v));
        }
        Item::Library(l) => l.op.results.iter().for_each(|&v| f(v)),
        Item::Matmul(m) => f(m.out),
        Item::View { to, .. } => f(*to),
        Item::Control { op, .. } | Item::Call { op, .. } => op.results.iter().for_each(|&v| f(v)),
    }
}
