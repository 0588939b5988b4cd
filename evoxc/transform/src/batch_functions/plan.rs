//! The merged program before it is written: classes of ops in the order of their heights, as data whose cost can be
//! asked for.
//!
//! A class computes one op for rows: of every program that has an op at its position, one. Its value is a *block*, a
//! tensor with as many rows, which consumers read as it is, or a part of it, or rows of several blocks put together in a
//! *pool*. Rows that no program has are not computed. What is the same for every program that has it is computed once,
//! without rows: a *one*. All of this is found by hashing, level by level, in time linear in the number of ops.

use super::options::Alignment;
use super::pool::{Base, Operand, Pool, Pools, Source};
use super::program::{Definition, Node, Program, Programs};
use evoxc_core::F64;
use evoxc_ir::{Literal, Op, Prim, TensorType};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A value with rows.
pub(super) struct Block {
    pub rows: u32,
    /// The type of one row.
    pub ty: TensorType,
}

/// How a class is computed.
pub(super) enum Form<'a> {
    /// Once, for all programs that have it; the results are ones.
    One,
    /// For all rows together.
    Rows,
    /// Every op for all rows, of which row `i` selects number `which[i]`. The operands of the class are those that are
    /// no constants.
    Switch { variants: Vec<Variant<'a>>, which: Vec<u32> },
    /// Once a row.
    Each,
}

/// One op of a switch.
pub(super) struct Variant<'a> {
    pub op: &'a Op,
    pub slots: SmallVec<[Slot; 2]>,
}

impl Variant<'_> {
    /// Can its derivative be NaN although zero goes in, so that rows which select another op must be kept from it?
    pub fn may_spoil(&self, programs: &Programs) -> bool {
        let factor = |s: &Slot| match s {
            Slot::Moving => false,
            Slot::Constant(Operand::Literal(l)) => finite(programs.literals[*l as usize]),
            Slot::Constant(Operand::Stack(list)) => list.iter().all(|&l| finite(programs.literals[l as usize])),
            Slot::Constant(_) => false,
        };
        match self.op.prim {
            // Nothing is multiplied by zero, or only what is finite.
            Prim::Compare { .. } => false,
            Prim::Unary(u) => {
                use evoxc_ir::Unary::*;
                !matches!(u, Neg | Real | Imag | Conj | Sign | Floor | Ceil | Trunc | RoundEven | RoundAway)
            }
            Prim::Binary(evoxc_ir::Binary::Mul) => !self.slots.iter().any(factor),
            Prim::Binary(b) => {
                use evoxc_ir::Binary::*;
                !matches!(b, Add | Sub | Complex)
            }
            // No other op is in a switch.
            _ => true,
        }
    }
}

/// Are all elements finite? Not asked of complex numbers.
fn finite(l: &Literal) -> bool {
    let t = l.tensor();
    let numbers = if t.dtype().is_float() { t.cast(F64).and_then(|t| t.to_vec::<f64>()).ok() } else { None };
    numbers.is_some_and(|v| v.into_iter().all(f64::is_finite))
}

/// An operand of one op of a switch.
pub(super) enum Slot {
    /// The next operand of the class.
    Moving,
    /// Constants; those of rows that do not select the op are any.
    Constant(Operand),
}

/// What is computed for one row of a class.
pub(super) struct Row {
    pub program: u32,
    /// The node of that program.
    pub node: u32,
    pub sources: SmallVec<[Source; 3]>,
}

/// A class.
pub(super) struct Class<'a> {
    pub form: Form<'a>,
    /// At least one; the first stands for all where it does not matter.
    pub rows: Vec<Row>,
    /// One for each operand, unless the form is `Each`.
    pub operands: SmallVec<[Operand; 3]>,
    /// The numbers of the first result among the ones or the blocks.
    pub first: u32,
}

/// What is done, in order.
pub(super) enum Step<'a> {
    Pool(u32),
    Class(Class<'a>),
}

/// A merged program.
#[derive(Default)]
pub(super) struct Plan<'a> {
    /// The mapped inputs, then the results of classes.
    pub blocks: Vec<Block>,
    /// The other inputs, then the results of classes that are computed once.
    pub ones: Vec<TensorType>,
    pub pools: Vec<Pool>,
    pub steps: Vec<Step<'a>>,
    pub outputs: Vec<Operand>,
    pub operand_muxes: usize,
}

/// Ops of one position while a level is worked through.
#[derive(Default)]
struct Position {
    /// The class of each occurrence, by its number in the level.
    classes: SmallVec<[u32; 1]>,
    /// The program that came last, and how many such ops it has so far.
    last: Option<u32>,
    count: usize,
}

/// The ops of a class, as (program, node).
type Members = SmallVec<[(u32, u32); 8]>;

impl<'a> Plan<'a> {
    /// Merges programs in bands; `mapped` says which inputs have a row for each program.
    pub fn new(programs: &Programs<'a>, mapped: &[bool], bands: &[Vec<u32>], alignment: Alignment) -> Plan<'a> {
        let mut plan = Plan::default();
        let rows = programs.list.len() as u32;
        let inputs: Vec<Result<u32, u32>> = programs
            .inputs()
            .into_iter()
            .zip(mapped)
            .map(|(ty, &mapped)| {
                if mapped {
                    plan.blocks.push(Block { rows, ty });
                    Ok(plan.blocks.len() as u32 - 1)
                } else {
                    plan.ones.push(ty);
                    Err(plan.ones.len() as u32 - 1)
                }
            })
            .collect();
        let results = programs.list.iter().map(|p| vec![Source::One(u32::MAX); p.results]).collect();
        let mut merger = Merger { programs, inputs, results, plan, alignment };
        bands.iter().for_each(|band| merger.band(band));
        merger.outputs();
        merger.plan
    }
}

struct Merger<'a, 'p> {
    programs: &'p Programs<'a>,
    /// The block of each mapped input, the one of every other.
    inputs: Vec<Result<u32, u32>>,
    /// Where each result of each program is.
    results: Vec<Vec<Source>>,
    plan: Plan<'a>,
    alignment: Alignment,
}

impl<'a> Merger<'a, '_> {
    fn source(&self, p: u32, v: evoxc_ir::Value) -> Source {
        let program = &self.programs.list[p as usize];
        match program.definitions[v.index()] {
            Some(Definition::Input(i)) => match self.inputs[i as usize] {
                Ok(block) => Source::Row(block, p),
                Err(one) => Source::One(one),
            },
            Some(Definition::Literal(l)) => Source::Literal(l),
            Some(Definition::Result(r)) => self.results[p as usize][r as usize],
            // A value that is not live is not asked for.
            None => Source::One(u32::MAX),
        }
    }

    /// Merges the programs of a band.
    fn band(&mut self, band: &[u32]) {
        let programs = self.programs;
        let mut levels: Vec<Vec<(u32, u32)>> = vec![];
        for &p in band {
            for (n, node) in programs.list[p as usize].nodes.iter().enumerate() {
                let h = node.height as usize;
                if levels.len() <= h {
                    levels.resize_with(h + 1, Vec::new);
                }
                levels[h].push((p, n as u32));
            }
        }
        for level in levels {
            self.level(&level);
        }
    }

    fn node(&self, (p, n): (u32, u32)) -> (&Program<'a>, &Node<'a>) {
        let p = &self.programs.list[p as usize];
        (p, &p.nodes[n as usize])
    }

    /// Merges ops of one height: none of them needs another.
    fn level(&mut self, ops: &[(u32, u32)]) {
        let mut positions: FxHashMap<(u32, u32), Position> = FxHashMap::default();
        let mut classes: Vec<Members> = vec![];
        for &(p, n) in ops {
            let node = self.node((p, n)).1;
            let place = match self.alignment {
                Alignment::Occurrence => 0,
                Alignment::Variant | Alignment::Auto => node.skeleton,
            };
            let position = positions.entry((place, node.kind)).or_default();
            if position.last != Some(p) {
                (position.last, position.count) = (Some(p), 0);
            }
            match position.classes.get(position.count) {
                Some(&c) => classes[c as usize].push((p, n)),
                None => {
                    position.classes.push(classes.len() as u32);
                    classes.push(SmallVec::from_slice(&[(p, n)]));
                }
            }
            position.count += 1;
        }
        let mut pools = Pools::default();
        let drafts: Vec<Draft<'a>> = classes.iter().map(|members| self.draft(members)).collect();
        for draft in drafts.iter().filter(|d| !matches!(d.form, Form::Each)) {
            for i in 0..draft.rows.first().map_or(0, |r| r.sources.len()) {
                let several = pools.note(draft.rows.iter().map(|r| r.sources[i]));
                self.plan.operand_muxes += usize::from(several);
            }
        }
        self.add_pools(&mut pools);
        for (draft, members) in drafts.into_iter().zip(&classes) {
            self.class(draft, members, &pools);
        }
    }

    /// The rows of a class, equal ones once where that saves half of the work, and its form.
    fn draft(&self, members: &Members) -> Draft<'a> {
        let mut ops: Vec<&'a Op> = vec![];
        let mut numbers: FxHashMap<(&'a Prim, SmallVec<[bool; 3]>), u32> = FxHashMap::default();
        let mut all: Vec<(Row, u32)> = Vec::with_capacity(members.len());
        for &(p, n) in members {
            let node = self.node((p, n)).1;
            let sources: SmallVec<[Source; 3]> = node.uses.iter().map(|&v| self.source(p, v)).collect();
            let number = *numbers.entry((&node.op.prim, sources.iter().map(constant).collect())).or_insert_with(|| {
                ops.push(node.op);
                ops.len() as u32 - 1
            });
            all.push((Row { program: p, node: n, sources }, number));
        }
        // All nodes of a class are of one kind.
        let (structured, each) =
            members.first().map_or((false, false), |&m| (self.node(m).1.structured, self.node(m).1.each));
        let mut distinct: FxHashMap<(&[Source], u32), u32> = FxHashMap::default();
        let places: Vec<u32> = all
            .iter()
            .map(|(row, n)| {
                let next = distinct.len() as u32;
                // Callees of one meaning may have different names.
                let n = if structured { 0 } else { *n };
                *distinct.entry((&row.sources, n)).or_insert(next)
            })
            .collect();
        let count = distinct.len();
        let keep = if count * 2 <= all.len() { places } else { (0..all.len() as u32).collect() };
        let (mut rows, mut which) = (Vec::with_capacity(count), vec![]);
        for ((row, n), &place) in all.into_iter().zip(&keep) {
            if place as usize == rows.len() {
                rows.push(row);
                which.push(n);
            }
        }
        let free = |s: &Source| matches!(s, Source::One(_) | Source::Literal(_));
        let form = if rows.len() == 1 && rows.iter().all(|r| r.sources.iter().all(free)) {
            Form::One
        } else if each {
            Form::Each
        } else if ops.len() > 1 && rows.len() > 1 && !structured {
            let variants = variants(&ops, &rows, &which);
            rows.iter_mut().for_each(|r| r.sources.retain(|s| !constant(s)));
            Form::Switch { variants, which }
        } else {
            Form::Rows
        };
        Draft { form, rows, places: keep }
    }

    fn add_pools(&mut self, pools: &mut Pools) {
        let first = self.plan.pools.len() as u32;
        let blocks = &self.plan.blocks;
        let made = pools.finish(first, |b| blocks[b as usize].rows);
        for pool in made {
            self.plan.steps.push(Step::Pool(self.plan.pools.len() as u32));
            self.plan.pools.push(pool);
        }
    }

    fn class(&mut self, draft: Draft<'a>, members: &Members, pools: &Pools) {
        let Draft { form, rows, places } = draft;
        let Some(&(p, n)) = members.first() else { return };
        let (program, node) = self.node((p, n));
        let types: SmallVec<[TensorType; 1]> = node.op.results.iter().map(|&v| program.func.ty(v).clone()).collect();
        let operands = match form {
            Form::Each => SmallVec::new(),
            Form::One | Form::Rows | Form::Switch { .. } => {
                let n = rows.first().map_or(0, |r| r.sources.len());
                (0..n).map(|i| self.operand(rows.iter().map(|r| r.sources[i]), pools)).collect()
            }
        };
        let one = matches!(form, Form::One);
        let first = if one { self.plan.ones.len() } else { self.plan.blocks.len() } as u32;
        for ty in types {
            if one {
                self.plan.ones.push(ty);
            } else {
                self.plan.blocks.push(Block { rows: rows.len() as u32, ty });
            }
        }
        for (&(p, n), &place) in members.iter().zip(&places) {
            let node = &self.programs.list[p as usize].nodes[n as usize];
            for i in 0..node.op.results.len() as u32 {
                let source = if one { Source::One(first + i) } else { Source::Row(first + i, place) };
                self.results[p as usize][(node.first + i) as usize] = source;
            }
        }
        self.plan.steps.push(Step::Class(Class { form, rows, operands, first }));
    }

    fn operand(&self, rows: impl Iterator<Item = Source> + Clone, pools: &Pools) -> Operand {
        pools.operand(rows, |base| match base {
            Base::Block(b) => self.plan.blocks[b as usize].rows,
            Base::Pool(p) => self.plan.pools[p as usize].rows,
        })
    }

    fn outputs(&mut self) {
        let n = self.programs.list.first().map_or(0, |p| p.func.body.results.len());
        let sources: Vec<Vec<Source>> = (0..n)
            .map(|i| {
                let of = |(p, program): (usize, &Program)| self.source(p as u32, program.func.body.results[i]);
                self.programs.list.iter().enumerate().map(of).collect()
            })
            .collect();
        let mut pools = Pools::default();
        for s in &sources {
            pools.note(s.iter().copied());
        }
        self.add_pools(&mut pools);
        self.plan.outputs = sources.iter().map(|s| self.operand(s.iter().copied(), &pools)).collect();
    }
}

/// A class whose operands are still sources.
struct Draft<'a> {
    form: Form<'a>,
    rows: Vec<Row>,
    /// The row of each member.
    places: Vec<u32>,
}

fn constant(s: &Source) -> bool {
    matches!(s, Source::Literal(_))
}

/// The ops of a switch, with the constants of their rows.
fn variants<'a>(ops: &[&'a Op], rows: &[Row], which: &[u32]) -> Vec<Variant<'a>> {
    let of = |(n, &op): (usize, &&'a Op)| {
        let own = |r: usize| which.get(r) == Some(&(n as u32));
        let first = (0..rows.len()).find(|&r| own(r)).unwrap_or(0);
        let slot = |i: usize| {
            let literal = |r: usize| match rows.get(r).and_then(|r| r.sources.get(i)) {
                Some(Source::Literal(l)) => Some(*l),
                _ => None,
            };
            let Some(any) = literal(first) else { return Slot::Moving };
            let list: Vec<u32> =
                (0..rows.len()).map(|r| if own(r) { literal(r).unwrap_or(any) } else { any }).collect();
            let same = list.iter().all(|&l| l == any);
            Slot::Constant(if same { Operand::Literal(any) } else { Operand::Stack(list) })
        };
        Variant { op, slots: (0..rows.get(first).map_or(0, |r| r.sources.len())).map(slot).collect() }
    };
    ops.iter().enumerate().map(of).collect()
}
