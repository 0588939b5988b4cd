//! How the rows of an operand are put together from where they are.

use rustc_hash::FxHashMap;

/// Where a value of one program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    /// A value without rows.
    One(u32),
    /// A literal.
    Literal(u32),
    /// A row of a block.
    Row(u32, u32),
}

/// What has rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Base {
    Block(u32),
    Pool(u32),
}

/// The rows of an operand.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operand {
    /// The same value for all, without rows.
    One(u32),
    Literal(u32),
    /// One row for all, without rows.
    Pick(u32, u32),
    /// A literal each.
    Stack(Vec<u32>),
    /// All rows, in order.
    Whole(Base),
    /// Rows from this one on.
    Slice(Base, u32, u32),
    /// These rows.
    Gather(Base, Vec<u32>),
}

/// What a pool is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    One(u32),
    Literal(u32),
    Block(u32),
}

/// Values of one type, one after the other.
pub(super) struct Pool {
    pub parts: Vec<Part>,
    pub rows: u32,
}

/// The pools of a level. Operands that share a part share the pool, so that each part is copied once.
#[derive(Default)]
pub(super) struct Pools {
    parts: Vec<Part>,
    numbers: FxHashMap<Part, u32>,
    /// Union-find over parts.
    parents: Vec<u32>,
    /// The pool of each part, and its first row there.
    places: Vec<(u32, u32)>,
}

fn part(s: Source) -> Part {
    match s {
        Source::One(v) => Part::One(v),
        Source::Literal(l) => Part::Literal(l),
        Source::Row(b, _) => Part::Block(b),
    }
}

impl Pools {
    /// Takes note of an operand; do its rows come from several parts, so that it needs a pool?
    pub fn note(&mut self, rows: impl Iterator<Item = Source> + Clone) -> bool {
        let Some(first) = rows.clone().next().map(part) else { return false };
        let literals = rows.clone().all(|s| matches!(s, Source::Literal(_)));
        if literals || rows.clone().all(|s| part(s) == first) {
            return false;
        }
        let root = self.number(first);
        let mut last = first;
        for p in rows.map(part) {
            if p != last {
                let n = self.number(p);
                self.join(root, n);
                last = p;
            }
        }
        true
    }
    fn number(&mut self, p: Part) -> u32 {
        let next = self.parts.len() as u32;
        let n = *self.numbers.entry(p).or_insert(next);
        if n == next {
            self.parts.push(p);
            self.parents.push(n);
        }
        n
    }
    fn root(&mut self, mut n: u32) -> u32 {
        while self.parents[n as usize] != n {
            let above = self.parents[n as usize];
            self.parents[n as usize] = self.parents[above as usize];
            n = above;
        }
        n
    }
    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        // The one that came first stands for both.
        self.parents[a.max(b) as usize] = a.min(b);
    }
    /// Makes the pools, numbered from `first`.
    pub fn finish(&mut self, first: u32, rows: impl Fn(u32) -> u32) -> Vec<Pool> {
        let mut out: Vec<Pool> = vec![];
        let mut of_root: FxHashMap<u32, u32> = FxHashMap::default();
        for n in 0..self.parts.len() as u32 {
            let root = self.root(n);
            let pool = *of_root.entry(root).or_insert_with(|| {
                out.push(Pool { parts: vec![], rows: 0 });
                out.len() as u32 - 1
            });
            let part = self.parts[n as usize];
            let p = &mut out[pool as usize];
            self.places.push((first + pool, p.rows));
            p.rows += match part {
                Part::One(_) | Part::Literal(_) => 1,
                Part::Block(b) => rows(b),
            };
            p.parts.push(part);
        }
        out
    }
    /// How an operand is read, of which `note` has been taken; `size` gives the number of rows of a block or pool.
    pub fn operand(&self, rows: impl Iterator<Item = Source> + Clone, size: impl Fn(Base) -> u32) -> Operand {
        let mut all = rows.clone();
        let Some(first) = all.next() else { return Operand::Stack(vec![]) };
        let (mut same, mut one_part, mut literals) = (true, true, matches!(first, Source::Literal(_)));
        let mut n = 1;
        for s in all {
            same &= s == first;
            one_part &= part(s) == part(first);
            literals &= matches!(s, Source::Literal(_));
            n += 1;
        }
        match first {
            Source::One(v) if same => return Operand::One(v),
            Source::Literal(l) if same => return Operand::Literal(l),
            Source::Row(b, r) if same && n > 1 => return Operand::Pick(b, r),
            Source::One(_) | Source::Literal(_) | Source::Row(..) => {}
        }
        if literals {
            let number = |s| if let Source::Literal(l) = s { Some(l) } else { None };
            return Operand::Stack(rows.filter_map(number).collect());
        }
        let row = |s| match s {
            Source::One(_) | Source::Literal(_) => 0,
            Source::Row(_, r) => r,
        };
        if let (Source::Row(b, _), true) = (first, one_part) {
            return reading(Base::Block(b), rows.map(row).collect(), size);
        }
        let place = |s| self.numbers.get(&part(s)).and_then(|&n| self.places.get(n as usize)).copied();
        let Some((pool, _)) = place(first) else { return Operand::Stack(vec![]) };
        let rows = rows.map(|s| place(s).map_or(0, |p| p.1) + row(s)).collect();
        reading(Base::Pool(pool), rows, size)
    }
}

fn reading(base: Base, rows: Vec<u32>, size: impl Fn(Base) -> u32) -> Operand {
    let first = rows.first().copied().unwrap_or(0);
    let n = rows.len() as u32;
    if !rows.iter().zip(first..).all(|(&r, i)| r == i) {
        return Operand::Gather(base, rows);
    }
    if n == size(base) { Operand::Whole(base) } else { Operand::Slice(base, first, n) }
}
