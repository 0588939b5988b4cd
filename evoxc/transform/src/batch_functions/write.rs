//! Writes a plan into the open trace.

use super::exact::{Exact, exact};
use super::literals;
use super::plan::{Class, Form, Plan, Row, Slot, Step, Variant};
use super::pool::{Base, Operand, Part, Pool, Source};
use super::program::{Node, Programs};
use crate::vmap::{Mapped, Rows, Site, Vmap, batched, rules};
use crate::{differentiable, regions};
use evoxc_core::{Dim, OpError, Shape, TensorSpec};
use evoxc_ir::{GatherDims, Literal, Op, Prim, TensorType, Value};
use evoxc_trace::{Sym, emitter};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Writes the merged program; the inputs have their rows on axis 0. Gives the outputs, and which have rows.
///
/// # Errors
/// Of an op, its type rule or its vmap rule.
pub(super) fn write(plan: &Plan, programs: &Programs, inputs: &[Sym], mapped: &[bool]) -> Result<Vec<Mapped>, OpError> {
    let side = |wanted: bool| inputs.iter().zip(mapped).filter(move |(_, m)| **m == wanted).map(|(s, _)| *s);
    let mut w = Writer {
        plan,
        programs,
        blocks: side(true).collect(),
        ones: side(false).collect(),
        pools: vec![],
        literals: FxHashMap::default(),
        read: FxHashMap::default(),
        masks: FxHashMap::default(),
        fixed: FxHashMap::default(),
        imported: FxHashMap::default(),
    };
    programs.list.iter().for_each(|p| emitter::remarks(p.module));
    for step in &plan.steps {
        match step {
            Step::Pool(p) => {
                let pool = w.pool(&plan.pools[*p as usize]);
                w.pools.push(pool);
            }
            Step::Class(c) => w.class(c)?,
        }
    }
    Ok(plan.outputs.iter().map(|o| w.operand(o)).collect())
}

struct Writer<'a, 'p> {
    plan: &'p Plan<'a>,
    programs: &'p Programs<'a>,
    blocks: Vec<Sym>,
    ones: Vec<Sym>,
    pools: Vec<Sym>,
    literals: FxHashMap<u32, Sym>,
    /// Operands that were read before, with the number of rows that they were repeated for (0 for none).
    read: FxHashMap<(Operand, u32), Sym>,
    /// Predicates of switches, by the rows that they select and the shape that they have.
    masks: FxHashMap<(Vec<u32>, u32, Shape), Sym>,
    /// Operands of switches, cut off from differentiation.
    fixed: FxHashMap<Value, Sym>,
    /// The functions of each program's module, once they are in the trace.
    imported: FxHashMap<u32, emitter::Imported>,
}

/// A shape with rows.
fn with_rows(rows: u32, shape: &[Dim]) -> Shape {
    std::iter::once(Dim::constant(i64::from(rows))).chain(shape.iter().copied()).collect()
}

/// As one row.
fn as_row(x: Sym) -> Sym {
    let Some(ty) = emitter::type_of(x) else { return x };
    emitter::emit(Prim::Reshape { shape: with_rows(1, &ty.shape) }, &[x])
}

fn concatenated(parts: &[Sym]) -> Sym {
    match parts {
        [one] => *one,
        _ => emitter::emit(Prim::Concatenate { axis: 0 }, parts),
    }
}

/// Rows `from..from + n`.
fn slice(x: Sym, ty: &TensorType, from: u32, n: u32) -> Sym {
    let (from, to) = (i64::from(from), i64::from(from) + i64::from(n));
    let start = std::iter::once(Dim::constant(from)).chain(ty.shape.iter().map(|_| Dim::constant(0))).collect();
    let limit = std::iter::once(Dim::constant(to)).chain(ty.shape.iter().copied()).collect();
    emitter::emit(Prim::Slice { start, limit, stride: vec![1; ty.rank() + 1] }, &[x])
}

/// These rows.
fn gather(x: Sym, rows: &[u32]) -> Sym {
    let Some(ty) = emitter::type_of(x) else { return x };
    let dims = GatherDims {
        offset: (1..ty.rank()).collect(),
        collapsed: vec![0],
        operand_batching: vec![],
        indices_batching: vec![],
        start_map: vec![0],
        index_vector: 1,
    };
    let sizes = std::iter::once(Dim::constant(1)).chain(ty.shape.iter().skip(1).copied()).collect();
    emitter::emit(Prim::Gather { dims, sizes, sorted: false }, &[x, literals::indices(rows)])
}

impl<'a, 'p> Writer<'a, 'p> {
    fn block(&self, b: u32) -> Sym {
        self.blocks.get(b as usize).copied().unwrap_or_else(emitter::poison)
    }
    fn one(&self, v: u32) -> Sym {
        self.ones.get(v as usize).copied().unwrap_or_else(emitter::poison)
    }
    fn literal(&mut self, l: u32) -> Sym {
        let value = self.programs.literals[l as usize];
        *self.literals.entry(l).or_insert_with(|| emitter::emit(Prim::Constant { value: value.clone() }, &[]))
    }
    fn stack(&self, list: &[u32]) -> Sym {
        let list: Vec<&Literal> = list.iter().map(|&l| self.programs.literals[l as usize]).collect();
        literals::stack(&list)
    }
    fn node(&self, row: &Row) -> &'p Node<'a> {
        &self.programs.list[row.program as usize].nodes[row.node as usize]
    }

    fn pool(&mut self, pool: &Pool) -> Sym {
        let (mut parts, mut waiting) = (vec![], vec![]);
        for part in &pool.parts {
            if let Part::Literal(l) = part {
                waiting.push(*l);
                continue;
            }
            if !waiting.is_empty() {
                parts.push(self.stack(&std::mem::take(&mut waiting)));
            }
            match part {
                Part::One(v) => parts.push(as_row(self.one(*v))),
                Part::Block(b) => parts.push(self.block(*b)),
                Part::Literal(_) => {}
            }
        }
        if !waiting.is_empty() {
            parts.push(self.stack(&waiting));
        }
        concatenated(&parts)
    }

    /// The value and the type of one row of what has rows.
    fn base(&self, base: Base) -> (Sym, Option<TensorType>) {
        let sym = match base {
            Base::Block(b) => self.block(b),
            Base::Pool(p) => self.pools.get(p as usize).copied().unwrap_or_else(emitter::poison),
        };
        let row = |t: TensorType| TensorSpec { shape: t.shape.iter().skip(1).copied().collect(), ..t };
        (sym, emitter::type_of(sym).map(row))
    }

    fn operand(&mut self, o: &Operand) -> Mapped {
        let rows = |sym| Mapped { sym, batched: true };
        let none = |sym| Mapped { sym, batched: false };
        match o {
            Operand::One(v) => return none(self.one(*v)),
            Operand::Literal(l) => return none(self.literal(*l)),
            Operand::Whole(base) => return rows(self.base(*base).0),
            Operand::Pick(..) | Operand::Stack(_) | Operand::Slice(..) | Operand::Gather(..) => {}
        }
        let key = (o.clone(), 0);
        let batched = !matches!(o, Operand::Pick(..));
        if let Some(&sym) = self.read.get(&key) {
            return Mapped { sym, batched };
        }
        let sym = match o {
            Operand::Pick(b, r) => match self.base(Base::Block(*b)) {
                (x, Some(ty)) => {
                    let one = slice(x, &ty, *r, 1);
                    emitter::emit(Prim::Reshape { shape: ty.shape }, &[one])
                }
                (x, None) => x,
            },
            Operand::Slice(base, from, n) => match self.base(*base) {
                (x, Some(ty)) => slice(x, &ty, *from, *n),
                (x, None) => x,
            },
            Operand::Gather(base, list) => gather(self.base(*base).0, list),
            Operand::Stack(list) => self.stack(list),
            Operand::One(_) | Operand::Literal(_) | Operand::Whole(_) => emitter::poison(),
        };
        self.read.insert(key, sym);
        Mapped { sym, batched }
    }

    /// An operand for so many rows, repeated where it has none.
    fn repeated(&mut self, o: &Operand, n: u32) -> Mapped {
        let m = self.operand(o);
        if m.batched {
            return m;
        }
        let key = (o.clone(), n);
        if let Some(&sym) = self.read.get(&key) {
            return Mapped { sym, batched: true };
        }
        let sym = match o {
            Operand::Literal(l) => match self.programs.literals[*l as usize] {
                Literal::Splat(t, shape) => {
                    emitter::emit(Prim::Constant { value: Literal::Splat(t.clone(), with_rows(n, shape)) }, &[])
                }
                Literal::Dense(t) if t.rank() == 0 => {
                    emitter::emit(Prim::Constant { value: Literal::Splat(t.clone(), with_rows(n, &[])) }, &[])
                }
                Literal::Dense(_) => batched(m, Dim::constant(i64::from(n))).to_owned(),
            },
            _ => batched(m, Dim::constant(i64::from(n))),
        };
        self.read.insert(key, sym);
        Mapped { sym, batched: true }
    }

    fn class(&mut self, c: &Class<'a>) -> Result<(), OpError> {
        let Some(first) = c.rows.first() else { return Ok(()) };
        let op = self.node(first).op;
        let _at = emitter::at(op.loc);
        let results = match &c.form {
            Form::One => {
                let out = self.alone(first, first)?;
                self.ones.extend(out);
                return Ok(());
            }
            Form::Each => self.each(c)?,
            // What has no rule for these rows is computed once a row.
            Form::Rows if self.node(first).structured => self.walk(c, first).or_else(|_| self.each(c))?,
            Form::Rows => self.rows(c, op, &c.operands.iter().collect::<Vec<_>>()).or_else(|_| self.each(c))?,
            Form::Switch { variants, which } => self.switch(c, variants, which)?,
        };
        self.blocks.extend(results);
        Ok(())
    }

    /// The types of the results for one row.
    fn types(&self, c: &Class<'a>) -> SmallVec<[TensorType; 1]> {
        let blocks = self.plan.blocks.iter().skip(c.first as usize);
        let n = c.rows.first().map_or(0, |r| self.node(r).op.results.len());
        blocks.take(n).map(|b| b.ty.clone()).collect()
    }

    /// An op for all rows of a class.
    fn rows(&mut self, c: &Class<'a>, op: &Op, operands: &[&Operand]) -> Result<Rows, OpError> {
        let (all, n) = (exact(&op.prim) == Exact::AllRows, c.rows.len() as u32);
        let x: SmallVec<[Mapped; 3]> =
            operands.iter().map(|o| if all { self.repeated(o, n) } else { self.operand(o) }).collect();
        self.on(c, op, &x)
    }

    /// An op on what its operands are.
    fn on(&self, c: &Class<'a>, op: &Op, x: &[Mapped]) -> Result<Rows, OpError> {
        let y = self.types(c);
        rules::rule(&Site { prim: &op.prim, x, y: &y, size: Dim::constant(c.rows.len() as i64) })
    }

    /// An operand of op `i` of a switch. Rows that select another op have a cotangent of zero, which the derivative of
    /// this one could turn into NaN (zero times infinity); it is kept from what they are computed of.
    fn shielded(&mut self, m: Mapped, which: &[u32], i: u32) -> Mapped {
        let Some(ty) = emitter::type_of(m.sym).filter(|t| differentiable(t.dtype)) else { return m };
        let Some(value) = emitter::value(m.sym) else { return m };
        let mask = self.mask(which, i, &ty.shape);
        let fixed = *self.fixed.entry(value).or_insert_with(|| m.sym.stop_gradient());
        Mapped { sym: emitter::emit(Prim::Select {}, &[mask, m.sym, fixed]), ..m }
    }

    /// Every op for all rows, and of these the one that each row selects.
    fn switch(&mut self, c: &Class<'a>, variants: &[Variant<'a>], which: &[u32]) -> Result<Rows, OpError> {
        let mut lists: Vec<Vec<&Operand>> = vec![];
        for v in variants {
            let mut moving = c.operands.iter();
            let mut list = vec![];
            for s in &v.slots {
                list.extend(match s {
                    Slot::Moving => moving.next(),
                    Slot::Constant(o) => Some(o),
                });
            }
            lists.push(list);
        }
        let free = |o: &&Operand| matches!(o, Operand::One(_) | Operand::Literal(_) | Operand::Pick(..));
        if lists.iter().flatten().all(free) {
            // They differ in the op alone.
            let mut each: Vec<Sym> = vec![];
            for (v, list) in variants.iter().zip(&lists) {
                let x: SmallVec<[Sym; 3]> = list.iter().map(|o| self.operand(o).sym).collect();
                each.push(as_row(emitter::emit(v.op.prim.clone(), &x)));
            }
            return Ok(SmallVec::from_slice(&[gather(concatenated(&each), which)]));
        }
        let mut out: Option<Rows> = None;
        for (i, (v, list)) in variants.iter().zip(&lists).enumerate() {
            let (n, spoils) = (c.rows.len() as u32, v.may_spoil(self.programs));
            let mut x: SmallVec<[Mapped; 3]> = SmallVec::new();
            for (o, s) in list.iter().zip(&v.slots) {
                let m = self.repeated(o, n);
                x.push(if spoils && matches!(s, Slot::Moving) { self.shielded(m, which, i as u32) } else { m });
            }
            let new = self.on(c, v.op, &x)?;
            out = Some(match out {
                None => new,
                Some(old) => {
                    let choose = |w: &mut Self, (a, b): (Sym, Sym)| {
                        let Some(ty) = emitter::type_of(a) else { return a };
                        let mask = w.mask(which, i as u32, &ty.shape);
                        emitter::emit(Prim::Select {}, &[mask, a, b])
                    };
                    new.into_iter().zip(old).map(|pair| choose(self, pair)).collect()
                }
            });
        }
        Ok(out.unwrap_or_default())
    }

    fn mask(&mut self, which: &[u32], n: u32, shape: &Shape) -> Sym {
        let key = (which.to_vec(), n, shape.clone());
        if let Some(&m) = self.masks.get(&key) {
            return m;
        }
        let m = literals::mask(which, n, shape);
        self.masks.insert(key, m);
        m
    }

    /// The op of one row, without rows: that of `first`, which is alike, on the values of `row`. So the functions that it
    /// calls come once, not once for each program.
    fn alone(&mut self, first: &Row, row: &Row) -> Result<Rows, OpError> {
        let node = self.node(first);
        let mut env: FxHashMap<Value, Value> = FxHashMap::default();
        for (&v, &s) in node.uses.iter().zip(&row.sources) {
            let sym = match s {
                Source::One(v) => self.one(v),
                Source::Literal(l) => self.literal(l),
                Source::Row(b, r) => self.operand(&Operand::Pick(b, r)).sym,
            };
            if let Some(value) = emitter::value(sym) {
                env.insert(v, value);
            }
        }
        let program = &self.programs.list[first.program as usize];
        let imported = self.imported.entry(first.program).or_insert_with(|| emitter::import(program.module));
        emitter::replay_from(program.func, imported, node.op, &mut env)?;
        Ok(node.op.results.iter().map(|v| env.get(v).map_or_else(emitter::poison, |&v| emitter::sym(v))).collect())
    }

    /// An op with regions, or a call, for all rows.
    fn walk(&mut self, c: &Class<'a>, first: &Row) -> Result<Rows, OpError> {
        let (node, n) = (self.node(first), Dim::constant(c.rows.len() as i64));
        let program = &self.programs.list[first.program as usize];
        let types: Vec<TensorType> = node.uses.iter().map(|&v| program.func.ty(v).clone()).collect();
        let x: Vec<Mapped> = c.operands.iter().map(|o| self.operand(o)).collect();
        let imported = self.imported.entry(first.program).or_insert_with(|| emitter::import(program.module));
        // As a region that stands nowhere, of which the walk writes a copy for all rows.
        let region = regions::region("row", &types, |args| {
            let mut env: FxHashMap<Value, Value> = FxHashMap::default();
            regions::bind(&mut env, &node.uses, args);
            emitter::replay_from(program.func, imported, node.op, &mut env)?;
            Ok(node.op.results.iter().map(|v| env.get(v).map_or_else(emitter::poison, |&v| emitter::sym(v))).collect())
        })?;
        emitter::left_over();
        let mut walk = Vmap::new(n);
        region.args.iter().zip(x).for_each(|(&v, m)| walk.define(v, m));
        walk.region(&region)?;
        Ok(region.results.iter().map(|&v| batched(walk.get(v), n)).collect())
    }

    /// The op of every row for itself, put together.
    fn each(&mut self, c: &Class<'a>) -> Result<Rows, OpError> {
        let Some(first) = c.rows.first() else { return Ok(Rows::new()) };
        let mut columns: SmallVec<[Vec<Sym>; 1]> = SmallVec::new();
        for row in &c.rows {
            let out = self.alone(first, row)?;
            columns.resize_with(out.len(), Vec::new);
            columns.iter_mut().zip(out).for_each(|(c, x)| c.push(as_row(x)));
        }
        Ok(columns.iter().map(|c| concatenated(c)).collect())
    }
}
