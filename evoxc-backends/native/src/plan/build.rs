//! From a schedule to a plan: values get places, items become steps. `flow` is control flow.

mod flow;

use super::extent::{Amount, Binder, Extents};
use super::fence::Edge;
use super::library::LibraryStep;
use super::lifetimes::{self, Lifetimes};
use super::matmul::{MatmulStep, Room};
use super::memory::Cells;
use super::place::{NONE, Places};
use super::steps::*;
use super::update::UpdateStep;
use crate::lir::{Lir, Size};
use crate::pool::SharedPool;
use crate::schedule::{self, Item, KernelItem, Schedule};
use evoxc_core::{BackendError, Error, OpError, Tensor};
use evoxc_ir::{Literal, Module, Op, Prim, TensorType, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// Gives the kernels of a schedule their code; equal ones the same.
pub trait Kernels {
    /// The number of the kernel's code, and its last form.
    ///
    /// # Errors
    /// What a stage of the compiler reports.
    fn number(&mut self, item: &KernelItem) -> evoxc_core::Result<(u32, Arc<Lir>)>;
}

/// Why there is no plan.
pub(super) enum Fault {
    /// Something that the plan itself cannot do.
    Op(OpError),
    /// What another stage reports.
    Error(Error),
}
impl std::convert::From<OpError> for Fault {
    fn from(e: OpError) -> Fault {
        Fault::Op(e)
    }
}
impl std::convert::From<Error> for Fault {
    fn from(e: Error) -> Fault {
        Fault::Error(e)
    }
}
impl Fault {
    fn error(self) -> Error {
        match self {
            Fault::Op(op) => BackendError { backend: crate::NAME.into(), op }.into(),
            Fault::Error(e) => e,
        }
    }
}

/// Constants that repeat one element are built ahead up to this many bytes, and so many of all in a routine; larger ones are
/// filled in when they run: a small file does not take much memory by being loaded.
const SPLAT_BYTES: usize = 1 << 20;
const SPLATS_BYTES: usize = 1 << 24;

impl Plan {
    /// The plan of a schedule of `module`, with code for its kernels from `kernels`. It still needs that code: see
    /// [`Plan::kernels`].
    pub(crate) fn build(
        module: &Module,
        schedule: &Arc<Schedule>,
        kernels: &mut dyn Kernels,
        pool: SharedPool,
        edge: Option<Edge>,
    ) -> evoxc_core::Result<Plan> {
        let mut routines = Vec::with_capacity(schedule.routines.len());
        let mut items = 0;
        // Types of arguments of every routine, which calls need before it is built.
        for r in &schedule.routines {
            let mut b = Builder {
                module,
                routine: r,
                kernels,
                guards: vec![],
                extents: Extents::default(),
                life: Lifetimes::of(&r.body, r.types.len()),
                places: Places::new(edge.is_some()),
                place: vec![NONE; r.types.len()],
                slot: vec![NONE; r.types.len()],
                constant: vec![NONE; r.types.len()],
                constants: vec![],
                splats: 0,
                scratch: vec![],
                products: vec![],
                blocks: 0,
                items,
            };
            routines.push(b.routine().map_err(Fault::error)?);
            items = b.items;
        }
        let shelf = Arc::new(Cells::new());
        Ok(Plan { routines, kernels: vec![], pool, schedule: schedule.clone(), shelf, edge })
    }
}

pub(super) struct Builder<'a> {
    module: &'a Module,
    routine: &'a schedule::Routine,
    kernels: &'a mut dyn Kernels,
    guards: Vec<Guard>,
    pub(super) extents: Extents,
    life: Lifetimes,
    places: Places,
    /// The place of every root.
    place: Vec<u32>,
    /// The slot that a root has to give back.
    slot: Vec<u32>,
    /// The constant behind a root.
    constant: Vec<u32>,
    constants: Vec<Tensor>,
    /// Bytes of constants that repeat one element so far.
    splats: usize,
    scratch: Vec<(u32, SmallVec<[Amount; 4]>)>,
    products: Vec<Room>,
    blocks: u32,
    /// Kernel items so far.
    items: u32,
}

/// The roots whose slot becomes free after each item of a block; the last entry are those that its results need.
struct Expiry(Vec<SmallVec<[u32; 2]>>);

impl<'a> Builder<'a> {
    fn routine(&mut self) -> Result<Routine, Fault> {
        let r = self.routine;
        let inputs: Vec<TensorType> = r.body.args.iter().map(|&v| self.ty(v).clone()).collect();
        let binder = Binder::new(inputs, &mut self.extents);
        let mut first = vec![];
        for op in &r.constants {
            self.constant(op, &mut first)?;
        }
        for (i, &v) in r.body.args.iter().enumerate() {
            let place = self.places.place(Source::Argument(i as u32));
            self.place[v.index()] = place;
        }
        let results = self.outputs();
        let mut body = self.block(&r.body)?;
        body.steps.splice(0..0, first);
        Ok(Routine {
            extents: std::mem::take(&mut self.extents),
            binder,
            sources: std::mem::take(&mut self.places.sources),
            slots: std::mem::take(&mut self.places.slots),
            constants: std::mem::take(&mut self.constants),
            body,
            guards: std::mem::take(&mut self.guards),
            results,
            scratch: std::mem::take(&mut self.scratch),
            products: std::mem::take(&mut self.products),
            frames: Cells::new(),
        })
    }

    pub(super) fn ty(&self, v: Value) -> &'a TensorType {
        &self.routine.types[v.index()]
    }
    fn info(&self, op: &Op) -> Info {
        info(op, &self.routine.types)
    }
    fn bytes(&mut self, v: Value) -> Amount {
        let ty = self.ty(v);
        self.extents.bytes(ty)
    }
    /// Where a value is, once it has been given a place.
    pub(super) fn at(&self, v: Value) -> Result<Place, OpError> {
        match self.place[self.life.root(v)] {
            NONE => Err(OpError::new("plan", "a value is read before it is made")
                .remedy("report this: it is a fault of the compiler")),
            p => Ok(p),
        }
    }
    pub(super) fn module(&self) -> &'a Module {
        self.module
    }
    /// The constant that a value is.
    pub(super) fn constant_of(&self, v: Value) -> Option<&Tensor> {
        self.constants.get(self.constant[self.life.root(v)] as usize)
    }

    fn constant(&mut self, op: &Op, first: &mut Vec<Step>) -> Result<(), OpError> {
        let (Prim::Constant { value }, &[v]) = (&op.prim, op.results.as_slice()) else {
            return Err(OpError::new(op.prim.name(), "it is no constant").at(op.loc));
        };
        let built = match value {
            Literal::Dense(t) => Some(t.clone()),
            Literal::Splat(t, shape) => shape.to_static().and_then(|extents| {
                let n = extents.iter().try_fold(1usize, |a, &n| a.checked_mul(n))?;
                let bytes = n.checked_mul(t.dtype().size())?;
                if bytes > SPLAT_BYTES.min(SPLATS_BYTES - self.splats) {
                    return None;
                }
                self.splats += bytes;
                Tensor::from_parts(t.buffer().splat(n), &extents)
            }),
        };
        match built {
            Some(t) => {
                let n = self.constants.len() as u32;
                self.constants.push(t);
                self.constant[v.index()] = n;
                let place = self.places.place(Source::Constant(n));
                self.place[v.index()] = place;
            }
            None => {
                // For the whole run: it may be needed anywhere.
                let bytes = self.bytes(v);
                let slot = self.places.take(bytes, || Info { op: "constant".into(), operands: vec![], loc: op.loc });
                let place = self.places.place(Source::Slot(slot));
                self.place[v.index()] = place;
                first.push(fill(value.tensor(), place, bytes));
            }
        }
        Ok(())
    }

    /// What the results of the routine are; those that a step makes get their place.
    fn outputs(&mut self) -> Vec<Output> {
        let body = &self.routine.body;
        let mut known: FxHashMap<usize, u32> = FxHashMap::default();
        let mut out = Vec::with_capacity(body.results.len());
        let ops = self.module.func(&self.routine.name).into_iter().flat_map(|f| &f.body.ops);
        let made: FxHashMap<Value, &Op> = ops.flat_map(|op| op.results.iter().map(move |&v| (v, op))).collect();
        for (k, &v) in body.results.iter().enumerate() {
            let root = self.life.root(v);
            let argument = body.args.iter().position(|a| a.index() == root);
            let from = match (self.constant[root], argument, known.get(&root)) {
                (_, Some(i), _) => From::Argument(i as u32),
                (_, _, Some(&k)) => From::Same(k),
                (NONE, None, None) if self.place[root] == NONE => {
                    let place = self.places.place(Source::Result(k as u32));
                    self.place[root] = place;
                    From::Own(place)
                }
                // A constant that is filled in: copied where it is a result.
                (NONE, None, None) => From::Own(self.place[root]),
                (c, None, None) => From::Constant(c),
            };
            known.entry(root).or_insert(k as u32);
            let ty = self.ty(v);
            let (shape, elements, bytes) = (self.extents.shape(ty), self.extents.elements(ty), self.extents.bytes(ty));
            let maker = made.get(&v).or_else(|| made.get(&Value(root as u32)));
            let info = maker.map(|op| self.info(op)).unwrap_or_default();
            out.push(Output { dtype: ty.dtype, shape, elements, bytes, from, donor: None, info });
        }
        self.donors(&mut out);
        out
    }

    /// Which argument's memory each result may take: one of its size that is not needed any more when it is made.
    fn donors(&mut self, outputs: &mut [Output]) {
        let body = &self.routine.body;
        let mut free: FxHashMap<(evoxc_core::DType, Amount), Vec<u32>> = FxHashMap::default();
        for (i, &v) in body.args.iter().enumerate() {
            let ty = self.ty(v);
            let bytes = self.extents.bytes(ty);
            free.entry((ty.dtype, bytes)).or_default().push(i as u32);
        }
        for (k, out) in outputs.iter_mut().enumerate() {
            let From::Own(place) = out.from else { continue };
            if self.places.sources[place as usize] != Source::Result(k as u32) {
                continue;
            }
            let root = self.life.root(body.results[k]);
            let made = self.life.made[root];
            let Some(list) = free.get_mut(&(out.dtype, out.bytes)) else { continue };
            let shared = body.items.get(made as usize).map(|item| self.shares(item, root)).unwrap_or_default();
            let last = |i: u32| self.life.last[body.args[i as usize].index()];
            let arg = |i: u32| body.args[i as usize].index();
            // In place first, so that memory is touched once.
            let found = list
                .iter()
                .position(|&i| last(i) == made && shared.contains(&arg(i)))
                .or_else(|| list.iter().position(|&i| last(i) < made));
            if let Some(n) = found {
                out.donor = Some(list.swap_remove(n));
            }
        }
    }

    /// The roots that the item may overwrite with what it stores to `root`.
    fn shares(&self, item: &Item, root: usize) -> SmallVec<[usize; 4]> {
        let item = match item {
            Item::Kernel(k) => k,
            Item::Library(l) => return self.updated(&l.op).into_iter().collect(),
            Item::Matmul(_) | Item::View { .. } | Item::Control { .. } | Item::Call { .. } => return SmallVec::new(),
        };
        let decls = &item.kernel.buffers;
        let roots: SmallVec<[usize; 8]> = item.buffers.iter().map(|&v| self.life.root(v)).collect();
        let Some(to) = (0..roots.len()).find(|&b| roots[b] == root && decls[b].written) else { return SmallVec::new() };
        let shared = |b: usize| decls[to].shares.contains(&(b as u32));
        // Another view of the same memory must allow it too.
        let whole = |r: usize| (0..roots.len()).all(|b| roots[b] != r || shared(b));
        decls[to]
            .shares
            .iter()
            .filter_map(|&b| roots.get(b as usize).copied())
            .filter(|&r| r != root && whole(r))
            .collect()
    }

    /// The root that an update of a part may be written onto: its operand's, which nothing else that it reads is in.
    fn updated(&self, op: &Op) -> Option<usize> {
        let (Prim::DynamicUpdateSlice {}, [x, rest @ ..]) = (&op.prim, &op.operands[..]) else { return None };
        let root = self.life.root(*x);
        rest.iter().all(|&v| self.life.root(v) != root).then_some(root)
    }

    fn block(&mut self, block: &'a schedule::Block) -> Result<Block, Fault> {
        let number = self.blocks;
        self.blocks += 1;
        let mut expiry = Expiry(vec![SmallVec::new(); block.items.len() + 1]);
        let mut out = Block { guards: self.guards(&block.guards), steps: Vec::with_capacity(block.items.len()) };
        for (i, item) in block.items.iter().enumerate() {
            self.item(item, i as u32, number, &mut expiry, &mut out.steps)?;
            for root in std::mem::take(&mut expiry.0[i]) {
                self.expire(root as usize);
            }
        }
        for root in expiry.0.pop().unwrap_or_default() {
            self.expire(root as usize);
        }
        Ok(out)
    }

    fn expire(&mut self, root: usize) {
        let slot = std::mem::replace(&mut self.slot[root], NONE);
        if slot != NONE {
            self.places.give(slot);
        }
    }

    fn guards(&mut self, list: &[schedule::Guard]) -> Range<u32> {
        let start = self.guards.len() as u32;
        for g in list {
            let extent = self.extents.amount(g.extent);
            let info = self.info(&g.op);
            self.guards.push(Guard { extent, least: g.least, most: g.most, info });
        }
        start..self.guards.len() as u32
    }

    /// Places for the results of an item that have none yet.
    fn results(&mut self, item: &Item, i: u32, number: u32, expiry: &mut Expiry) {
        let mut list: SmallVec<[Value; 4]> = SmallVec::new();
        lifetimes::for_results(item, &mut |v| list.push(v));
        let mut overwritten: SmallVec<[usize; 4]> = SmallVec::new();
        for v in list {
            let root = self.life.root(v);
            if self.place[root] != NONE {
                continue;
            }
            let bytes = self.bytes(v);
            let mut slot = NONE;
            let reuse = self.shares(item, root).into_iter().find(|&r| {
                let dies = self.life.home[r] == number && self.life.last[r] == i;
                dies && self.slot[r] != NONE && !overwritten.contains(&r)
            });
            if let Some(r) = reuse
                && self.extents.bytes(&self.routine.types[r]) == bytes
            {
                overwritten.push(r);
                slot = std::mem::replace(&mut self.slot[r], NONE);
            }
            if slot == NONE {
                let types = &self.routine.types;
                slot = self.places.take(bytes, || item_info(item, types));
            }
            self.slot[root] = slot;
            let place = self.places.place(Source::Slot(slot));
            self.place[root] = place;
            let last = self.life.last[root] as usize;
            expiry.0[last].push(root as u32);
        }
    }

    fn item(
        &mut self,
        item: &'a Item,
        i: u32,
        number: u32,
        expiry: &mut Expiry,
        steps: &mut Vec<Step>,
    ) -> Result<(), Fault> {
        if let Item::View { .. } = item {
            return Ok(());
        }
        self.results(item, i, number, expiry);
        steps.push(match item {
            Item::Kernel(k) => Step::Kernel(self.kernel(k)?),
            Item::Library(l) => match (&l.op.prim, l.op.results.as_slice()) {
                (Prim::Constant { value }, &[v]) => fill(value.tensor(), self.at(v)?, self.bytes(v)),
                (Prim::DynamicUpdateSlice {}, _) => Step::Update(Box::new(UpdateStep::new(self, &l.op)?)),
                _ => Step::Library(Box::new(LibraryStep::new(self, l)?)),
            },
            Item::Matmul(m) => {
                let mut temporary: SmallVec<[u32; 3]> = SmallVec::new();
                let step = MatmulStep::new(self, m, &mut temporary)?;
                temporary.into_iter().for_each(|s| self.places.give(s));
                self.products.push(step.room());
                Step::Matmul(Box::new(step))
            }
            Item::View { .. } => return Ok(()),
            Item::Control { op, blocks } => match &op.prim {
                Prim::Cond {} | Prim::Switch {} => self.choose(op, blocks)?,
                Prim::WhileLoop {} => self.while_loop(op, blocks)?,
                Prim::Scan { carry, length, reverse } => self.scan(op, blocks, *carry, *length, *reverse)?,
                p => return Err(OpError::new(p.name(), "it is no control flow").at(op.loc).into()),
            },
            Item::Call { op, routine } => Step::Call(Box::new(self.call(op, *routine)?)),
        });
        Ok(())
    }

    fn kernel(&mut self, item: &KernelItem) -> Result<KernelStep, Fault> {
        let (kernel, lir) = self.kernels.number(item)?;
        let buffers = item.buffers.iter().map(|&v| self.at(v)).collect::<Result<_, _>>()?;
        let params: SmallVec<[Amount; 4]> = item.params.iter().map(|&d| self.extents.amount(d)).collect();
        let known: Option<SmallVec<[i64; 4]>> =
            params.iter().map(|p| if let Amount::Const(v) = p { Some(*v) } else { None }).collect();
        let fixed = match (&lir.extent, &lir.grain) {
            (Size::Const(n), Size::Const(g)) => Some((*n, *g)),
            (n, g) => known.map(|p| (n.value(&p), g.value(&p))),
        };
        if !lir.scratch.is_empty() {
            self.scratch.push((kernel, params.clone()));
        }
        self.items += 1;
        Ok(KernelStep { kernel, buffers, params, fixed, item: self.items - 1 })
    }

    /// A place with a slot that is needed during one step only.
    pub(super) fn temporary(&mut self, bytes: Amount, op: &'static str, given: &mut SmallVec<[u32; 3]>) -> Place {
        let slot = self.places.take(bytes, || Info { op: op.into(), ..Info::default() });
        given.push(slot);
        self.places.place(Source::Slot(slot))
    }
}

fn fill(element: &Tensor, to: Place, bytes: Amount) -> Step {
    Step::Fill(FillStep { to, element: element.buffer().bytes().into(), bytes })
}

/// An op, for messages.
fn info(op: &Op, types: &[TensorType]) -> Info {
    let operands = op.operands.iter().filter_map(|v| types.get(v.index())).map(TensorType::to_string).collect();
    Info { op: op.prim.name(), operands, loc: op.loc }
}

/// The op behind an item, for messages.
fn item_info(item: &Item, types: &[TensorType]) -> Info {
    match item {
        Item::Kernel(k) => Info { op: k.label.clone(), operands: vec![], loc: k.loc },
        Item::Matmul(m) => Info { op: "dot".into(), operands: vec![], loc: m.loc },
        Item::Library(l) => info(&l.op, types),
        Item::Control { op, .. } | Item::Call { op, .. } => info(op, types),
        Item::View { .. } => Info::default(),
    }
}
