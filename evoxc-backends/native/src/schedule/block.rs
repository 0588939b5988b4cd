//! A region as items: its ops from the last to the first, so that whoever uses a value has been seen before the value.
//!
//! A value becomes memory where something that is no kernel needs it, or where computing it again would cost more than
//! keeping it; else it is computed inside of the kernels that use it.

use super::cost::{self, Choice};
use super::expand::{Known, expand, sources};
use super::facts::{Facts, captures, has_effect, needed};
use super::fusible::fusible;
use super::group::{At, Group, Output, elements};
use super::guards::guards;
use super::items::{Node, Work, ordered};
use super::matmul::{Plan, matmul, transposed};
use super::routine::Routines;
use super::split::in_parts;
use super::{Block, Item, LibraryItem, MatmulItem};
use crate::uop::{Op as UOpKind, UOp};
use evoxc_core::{Dim, OpError, Shape};
use evoxc_ir::{Literal, Op, Prim, Region, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::borrow::Cow;

/// What is made of one function.
pub(super) struct Maker<'a, 'm> {
    pub(super) facts: Facts,
    /// Constants that are needed in memory.
    pub(super) constants: Vec<Op>,
    /// All constants of known size.
    known: FxHashMap<Value, Op>,
    kept: FxHashSet<Value>,
    funcs: &'a mut Routines<'m>,
    /// Is every value kept?
    apart: bool,
}

/// Who uses a value.
#[derive(Default)]
struct Uses {
    /// Why it must be in memory.
    memory: Option<&'static str>,
    /// Kernels that compute with elements of it.
    groups: SmallVec<[(usize, At); 2]>,
    /// Nodes that read it from memory.
    readers: SmallVec<[usize; 2]>,
}

/// One region at work.
struct Pass<'r, 'a, 'm, 'x> {
    maker: &'x mut Maker<'a, 'm>,
    ops: Vec<Cow<'r, Op>>,
    /// Why an op is none of a kernel's.
    reasons: Vec<Option<&'static str>>,
    /// The place of the op that gives a value.
    here: FxHashMap<Value, usize>,
    uses: FxHashMap<Value, Uses>,
    nodes: Vec<Node>,
    /// The node made last that has an effect: the one before it in the program is still to come.
    effect: Option<usize>,
    /// Kernels by the shape that they go over.
    over: FxHashMap<Shape, Vec<usize>>,
    /// Values of regions around this one that are read from memory.
    outer: Vec<Value>,
    seen_outer: FxHashSet<Value>,
}

impl<'a, 'm> Maker<'a, 'm> {
    pub(super) fn new(facts: Facts, funcs: &'a mut Routines<'m>, apart: bool) -> Maker<'a, 'm> {
        Maker { facts, constants: vec![], known: FxHashMap::default(), kept: FxHashSet::default(), funcs, apart }
    }
    /// The ops of a region that are needed; operands of dots are in an order that strides can express.
    fn prepared<'r>(&mut self, region: &'r Region) -> Vec<Cow<'r, Op>> {
        let ops = needed(region);
        if !ops.iter().any(|op| matches!(op.prim, Prim::Dot { .. } | Prim::Reduce { .. })) {
            return ops.into_iter().map(Cow::Borrowed).collect();
        }
        let def: FxHashMap<Value, &Op> = ops.iter().flat_map(|op| op.results.iter().map(|&v| (v, *op))).collect();
        let mut all = Vec::with_capacity(ops.len());
        for &op in &ops {
            if !self.apart
                && let Some(parts) = in_parts(op, &mut self.facts)
            {
                all.extend(parts.into_iter().map(Cow::Owned));
                continue;
            }
            let plan = match fusible(op, &self.facts) {
                Err(_) => matmul(op, &self.facts, &|v| def.get(&v).copied()),
                Ok(()) => None,
            };
            let mut dot = Cow::Borrowed(op);
            if let Some(Plan::Transpose(copies)) = plan {
                for (which, perm) in copies {
                    let from = dot.operands[which];
                    let (prim, ty) = transposed(&dot, which, &perm, &self.facts.ty(from).clone());
                    let to = self.facts.value(ty);
                    dot.to_mut().prim = prim;
                    dot.to_mut().operands[which] = to;
                    all.push(Cow::Owned(Op {
                        prim: Prim::Transpose { perm },
                        operands: [from].into_iter().collect(),
                        results: [to].into_iter().collect(),
                        regions: vec![],
                        loc: op.loc,
                    }));
                }
            }
            all.push(dot);
        }
        all
    }
    /// The items of a region, and the values of regions around it that they read from memory. Regions nest at most
    /// [`evoxc_ir::MAX_REGION_DEPTH`] deep.
    pub(super) fn block(&mut self, region: &Region) -> Result<(Block, Vec<Value>), OpError> {
        let ops = self.prepared(region);
        let mut here = FxHashMap::with_capacity_and_hasher(ops.len(), Default::default());
        let mut reasons = Vec::with_capacity(ops.len());
        for (place, op) in ops.iter().enumerate() {
            let is_fusible = fusible(op, &self.facts);
            self.facts.learn(op, is_fusible.is_ok());
            reasons.push(is_fusible.err());
            if let Prim::Constant { value } = &op.prim
                && (matches!(value, Literal::Dense(_)) || value.ty().shape.is_static())
            {
                self.known.extend(op.results.iter().map(|&v| (v, op.clone().into_owned())));
            } else {
                here.extend(op.results.iter().map(|&v| (v, place)));
            }
        }
        let mut pass = Pass {
            maker: self,
            ops,
            reasons,
            here,
            uses: FxHashMap::default(),
            nodes: vec![],
            effect: None,
            over: FxHashMap::default(),
            outer: vec![],
            seen_outer: FxHashSet::default(),
        };
        for &v in &region.results {
            pass.need(v, None, "a result");
        }
        for place in (0..pass.ops.len()).rev() {
            pass.op(place)?;
        }
        let Pass { maker, ops, nodes, outer, .. } = pass;
        let items = ordered(nodes, &ops, &maker.facts)?;
        let guards = guards(region, &self.facts);
        Ok((Block { args: region.args.clone(), guards, items, results: region.results.clone() }, outer))
    }
}

impl Pass<'_, '_, '_, '_> {
    /// `v` must be in memory, for `node` to read.
    fn need(&mut self, v: Value, node: Option<usize>, why: &'static str) {
        if let Some(op) = self.maker.known.get(&v) {
            if self.maker.kept.insert(v) {
                self.maker.constants.push(op.clone());
            }
        } else if self.here.contains_key(&v) {
            let uses = self.uses.entry(v).or_default();
            uses.memory.get_or_insert(why);
            uses.readers.extend(node);
        } else if self.seen_outer.insert(v) {
            self.outer.push(v);
        }
    }

    fn node(&mut self, work: Work, place: usize, effect: bool) -> usize {
        self.nodes.push(Node { work, place, after: vec![] });
        let node = self.nodes.len() - 1;
        // Effects keep their order. Kernels that are made later must see it too, as they see who reads what.
        if effect && let Some(later) = self.effect.replace(node) {
            self.nodes[later].after.push(node);
        }
        node
    }

    /// The readers of a value come after the node that writes it.
    fn written(&mut self, by: usize, readers: &[usize]) {
        for &r in readers {
            if r != by {
                self.nodes[r].after.push(by);
            }
        }
    }

    fn group(&mut self, node: usize) -> Option<&mut Group> {
        match &mut self.nodes[node].work {
            Work::Group(g) => Some(g),
            Work::Item(_) => None,
        }
    }

    fn op(&mut self, place: usize) -> Result<(), OpError> {
        let op = self.ops[place].clone();
        let op: &Op = &op;
        if let Prim::Constant { .. } = op.prim
            && op.results.iter().all(|v| self.maker.known.contains_key(v))
        {
            return Ok(());
        }
        match &op.prim {
            Prim::OptimizationBarrier {} => {
                for (&from, &to) in op.operands.iter().zip(&op.results) {
                    if let Some(uses) = self.uses.remove(&to) {
                        self.view(place, from, to, uses, "a barrier");
                    }
                }
                Ok(())
            }
            Prim::Reshape { .. } | Prim::StopGradient {} => {
                let (Some(&from), Some(&to)) = (op.operands.first(), op.results.first()) else { return Ok(()) };
                let Some(mut uses) = self.uses.remove(&to) else { return Ok(()) };
                let computed = self.here.get(&from).is_some_and(|&p| self.reasons[p].is_none());
                let splat = self.maker.facts.splat_of(from);
                if (uses.memory.is_some() || !computed) && !splat {
                    let why = uses.memory.unwrap_or("seen under another shape");
                    // Kernels may compute what is viewed themselves.
                    let groups = if computed { std::mem::take(&mut uses.groups) } else { SmallVec::new() };
                    self.view(place, from, to, uses, why);
                    for (g, at) in groups {
                        self.expand(g, place, at)?;
                    }
                    return Ok(());
                }
                self.kernel(place, to, uses)
            }
            _ if self.reasons[place].is_none() => {
                let Some(&v) = op.results.first() else { return Ok(()) };
                match self.uses.remove(&v) {
                    Some(uses) => self.kernel(place, v, uses),
                    None => Ok(()),
                }
            }
            Prim::Cond {} | Prim::Switch {} | Prim::WhileLoop {} | Prim::Scan { .. } => {
                let mut blocks = vec![];
                let mut read = vec![];
                for r in &op.regions {
                    let (block, outer) = self.maker.block(r)?;
                    blocks.push(block);
                    read.extend(outer);
                }
                let op = Op { regions: vec![], ..op.clone() };
                self.item(place, Item::Control { op: Box::new(op), blocks }, &read);
                Ok(())
            }
            Prim::Call { callee, .. } => {
                let routine = self.maker.funcs.number(&callee.0)?;
                self.item(place, Item::Call { op: Box::new(op.clone()), routine }, &[]);
                Ok(())
            }
            Prim::Dot { .. } => {
                let def = |v: Value| self.here.get(&v).map(|&p| &*self.ops[p]);
                match matmul(op, &self.maker.facts, &def) {
                    Some(Plan::Matmul(m)) => self.matmul(place, *m),
                    _ => self.library(place, op),
                }
                Ok(())
            }
            _ => {
                self.library(place, op);
                Ok(())
            }
        }
    }

    /// A product of matrices.
    fn matmul(&mut self, place: usize, m: MatmulItem) {
        let (lhs, rhs, out) = (m.lhs, m.rhs, m.out);
        let node = self.node(Work::Item(Item::Matmul(Box::new(m))), place, false);
        if let Some(uses) = self.uses.remove(&out) {
            self.written(node, &uses.readers);
            for (g, _) in uses.groups {
                self.written(node, &[g]);
            }
        }
        for v in [lhs, rhs] {
            self.need(v, Some(node), "an operand of a product of matrices");
        }
    }

    /// An op that no kernel expresses.
    fn library(&mut self, place: usize, op: &Op) {
        let captures = captures(op);
        let reason = self.reasons[place].unwrap_or("no kernel expresses it");
        let read = captures.clone();
        self.item(place, Item::Library(Box::new(LibraryItem { op: op.clone(), captures, reason })), &read);
    }

    /// The value under another shape.
    fn view(&mut self, place: usize, from: Value, to: Value, uses: Uses, why: &'static str) {
        let node = self.node(Work::Item(Item::View { from, to }), place, false);
        self.written(node, &uses.readers);
        for (g, _) in uses.groups {
            self.written(node, &[g]);
        }
        self.need(from, Some(node), why);
    }

    /// An item that is no kernel; it reads its operands and what else is named from memory.
    fn item(&mut self, place: usize, item: Item, read: &[Value]) {
        let op = &*self.ops[place];
        let (effect, results, operands) = (has_effect(op), op.results.clone(), op.operands.clone());
        let node = self.node(Work::Item(item), place, effect);
        for v in &results {
            if let Some(uses) = self.uses.remove(v) {
                self.written(node, &uses.readers);
                for (g, _) in uses.groups {
                    self.written(node, &[g]);
                }
            }
        }
        for &v in operands.iter().chain(read) {
            self.need(v, Some(node), "an operand of a step that is no kernel");
        }
    }

    /// A value that a kernel can compute.
    fn kernel(&mut self, place: usize, v: Value, uses: Uses) -> Result<(), OpError> {
        let Uses { memory, groups, mut readers } = uses;
        let reason = match memory {
            Some(why) => why.to_string(),
            None => match self.choose(v, place, &groups)? {
                Choice::Fuse(rows) => {
                    for (g, at) in groups {
                        if rows.iter().all(|(n, row)| *n != g || row.fill == at) {
                            self.expand(g, place, at)?;
                        }
                    }
                    for (n, row) in rows {
                        if let Some(g) = self.group(n) {
                            cost::nest(g, row.fill);
                            g.rows.push(row);
                        }
                    }
                    return Ok(());
                }
                Choice::Keep(why) => why,
            },
        };
        // In the kernel that goes over its elements anyway, else in one of its own.
        let mut home = None;
        let mut row = None;
        let apart = self.maker.apart;
        for &(g, at) in groups.iter().filter(|_| !apart) {
            let others = groups.iter().map(|(o, _)| *o).chain(readers.iter().copied()).filter(|&o| o != g);
            let others: SmallVec<[usize; 4]> = others.collect();
            if readers.contains(&g) || !self.covers(g, at, v)? || self.reaches(g, &others) {
                continue;
            }
            // A kernel never reads what it writes: its other uses are of a row that it keeps.
            let mine: SmallVec<[At; 4]> = groups.iter().filter(|(o, _)| *o == g).map(|(_, at)| *at).collect();
            let Work::Group(group) = &self.nodes[g].work else { continue };
            row = if mine.len() > 1 { cost::as_row(group, v, &mine, &self.maker.facts) } else { None };
            if mine.len() == 1 || row.is_some() {
                home = Some((g, at));
                break;
            }
        }
        if home.is_none()
            && !self.maker.apart
            && let Some(part) = self.equal_parts(place)
        {
            readers.extend(groups.iter().map(|(g, _)| *g));
            return self.parts(place, v, &part, &readers, reason);
        }
        let (home, at) = match home {
            Some(h) => h,
            None => self.home(v, place, &groups, &readers)?,
        };
        readers.extend(groups.iter().map(|(g, _)| *g).filter(|&g| g != home));
        self.written(home, &readers);
        if let Some(g) = self.group(home) {
            g.outputs.push(Output { value: v, from: v, offset: None, at, reason });
        }
        self.nodes[home].place = self.nodes[home].place.max(place);
        let reduces = super::expand::depths(&self.ops[place].prim) > 0;
        let fill = row.as_ref().map_or(at, |r| r.fill);
        if let Some(g) = self.group(home) {
            if reduces || row.is_some() {
                cost::nest(g, fill);
            }
            g.rows.extend(row);
        }
        self.expand(home, place, fill)
    }

    /// A kernel over the elements of a value: one that goes over as many and reads the same, or a new one.
    fn home(
        &mut self,
        v: Value,
        place: usize,
        groups: &[(usize, At)],
        readers: &[usize],
    ) -> Result<(usize, At), OpError> {
        let shape = self.maker.facts.ty(v).shape.clone();
        let users: SmallVec<[usize; 4]> = groups.iter().map(|(g, _)| *g).chain(readers.iter().copied()).collect();
        let size = elements(&shape);
        let like: SmallVec<[usize; 4]> =
            self.over.get(&shape).map(|all| all.iter().rev().take(4).copied().collect()).unwrap_or_default();
        let like = if self.maker.apart { SmallVec::new() } else { like };
        for n in like {
            let facts = &self.maker.facts;
            let Work::Group(g) = &self.nodes[n].work else { continue };
            let worth = |l: &Value| elements(&facts.ty(*l).shape) * 2.0 >= size;
            let shared =
                g.outputs.iter().any(|o| facts.leaves(o.value).iter().any(|l| worth(l) && facts.leaves(v).contains(l)));
            if (shared || size <= 4096.0) && g.outputs.len() < 8 && !users.contains(&n) && !self.reaches(n, &users) {
                let Some(g) = self.group(n) else { continue };
                let index = g.index.clone();
                return Ok((n, g.at(index, None)));
            }
        }
        let mut g = Group::over(&shape)?;
        let index = g.index.clone();
        let at = g.at(index, None);
        let n = self.node(Work::Group(Box::new(g)), place, false);
        self.over.entry(shape).or_default().push(n);
        Ok((n, at))
    }

    /// Computes an element of a value in a kernel.
    fn expand(&mut self, node: usize, place: usize, at: At) -> Result<(), OpError> {
        let op = &*self.ops[place];
        let facts = &self.maker.facts;
        let Work::Group(g) = &mut self.nodes[node].work else { return Ok(()) };
        if !g.stepped.insert((place, at)) {
            return Ok(());
        }
        let step = expand(g, op, place, at, facts)?;
        let from: SmallVec<[(Value, At); 4]> = sources(op).into_iter().zip(step.from.iter().copied()).collect();
        g.step(step);
        for (v, at) in from {
            self.use_in(node, v, at);
        }
        Ok(())
    }

    /// A kernel uses an element of a value.
    fn use_in(&mut self, node: usize, v: Value, at: At) {
        if self.maker.facts.splat_of(v) {
            return;
        }
        let computed = self.here.get(&v).is_some_and(|&p| self.reasons[p].is_none());
        if !computed {
            self.need(v, Some(node), "read by kernels");
        } else if self.group(node).is_some_and(|g| g.used.insert((v, at))) {
            self.uses.entry(v).or_default().groups.push((node, at));
        }
    }

    /// The shape of the parts that an op puts one after the other, if all have the same.
    fn equal_parts(&self, place: usize) -> Option<Shape> {
        let op = &*self.ops[place];
        let facts = &self.maker.facts;
        let (first, rest) = op.operands.split_first()?;
        let shape = &facts.ty(*first).shape;
        let same = (1..64).contains(&rest.len()) && rest.iter().all(|&v| facts.ty(v).shape == *shape);
        (matches!(op.prim, Prim::Concatenate { .. }) && same).then(|| shape.clone())
    }

    /// A kernel over the elements of equal parts, that writes each of them where it belongs.
    fn parts(&mut self, place: usize, v: Value, part: &Shape, readers: &[usize], why: String) -> Result<(), OpError> {
        let op = self.ops[place].clone();
        let Prim::Concatenate { axis } = op.prim else { return Ok(()) };
        let mut g = Group::over(part)?;
        let index = g.index.clone();
        let at = g.at(index, None);
        let n = part.get(axis).copied().unwrap_or(Dim::constant(0));
        for (k, &from) in op.operands.iter().enumerate() {
            let offset = Some((axis, n * k as i64));
            g.outputs.push(Output { value: v, from, offset, at, reason: why.clone() });
        }
        let node = self.node(Work::Group(Box::new(g)), place, false);
        self.written(node, readers);
        for &from in &op.operands {
            self.use_in(node, from, at);
        }
        Ok(())
    }

    /// Is a value better computed where it is used, or kept?
    fn choose(&mut self, v: Value, place: usize, groups: &[(usize, At)]) -> Result<Choice, OpError> {
        if self.maker.apart {
            return Ok(Choice::Keep("every value is kept".into()));
        }
        let op = &*self.ops[place];
        let mut all: SmallVec<[(&Group, usize, At); 4]> = SmallVec::new();
        for &(g, at) in groups {
            if let Work::Group(group) = &self.nodes[g].work {
                all.push((group, g, at));
            }
        }
        let choice = cost::choose(op, v, &self.maker.facts, &all);
        drop(all);
        if matches!(choice, Choice::Fuse(_)) && super::expand::depths(&self.ops[place].prim) > 0 {
            for &(g, at) in groups {
                if let Some(group) = self.group(g) {
                    cost::nest(group, at);
                }
            }
        }
        Ok(choice)
    }

    /// Does a kernel go over every element of `v` once, at that context? Loops inside of those over its elements may be
    /// more, if they run at all.
    fn covers(&mut self, node: usize, at: At, v: Value) -> Result<bool, OpError> {
        let shape = self.maker.facts.ty(v).shape.clone();
        let Work::Group(g) = &mut self.nodes[node].work else { return Ok(false) };
        let context = g.context(at);
        if context.gate.is_some() {
            return Ok(false);
        }
        let mut ranges: SmallVec<[_; 4]> = SmallVec::new();
        for (&i, &n) in context.index.iter().zip(shape.iter()) {
            let extent = g.extent(n)?;
            match g.arena.op(i) {
                UOpKind::Range(..)
                    if g.is_loop(i) && g.arena.src(i).first() == Some(&extent) && !ranges.contains(&i) =>
                {
                    ranges.push(i)
                }
                UOpKind::Const(0) if n.as_i64() == Some(1) => {}
                _ => return Ok(false),
            }
        }
        let inner: SmallVec<[UOp; 4]> =
            g.index.iter().copied().filter(|&u| g.is_loop(u) && !ranges.contains(&u)).collect();
        if inner.is_empty() {
            return Ok(true);
        }
        let some = inner.iter().all(|&r| g.arena.src(r).first().is_some_and(|&n| g.arena.bounds(n).min >= 1));
        // Loops are in the order of what most stores have side by side.
        let whole = g.outputs.iter().filter(|o| g.ranges_of(o.at).len() == inner.len() + ranges.len()).count();
        Ok(!ranges.is_empty() && some && cost::hoisted(g, &ranges) && g.outputs.len() < 2 * whole)
    }

    /// Does a node need what one of others writes? Says yes where that would take long to find out.
    fn reaches(&self, from: usize, others: &[usize]) -> bool {
        if others.is_empty() {
            return false;
        }
        let mut seen: SmallVec<[usize; 32]> = SmallVec::new();
        let mut todo: SmallVec<[usize; 32]> = SmallVec::new();
        todo.push(from);
        while let Some(n) = todo.pop() {
            for &next in &self.nodes[n].after {
                if others.contains(&next) {
                    return true;
                }
                if !seen.contains(&next) {
                    if seen.len() >= 32 {
                        return true;
                    }
                    seen.push(next);
                    todo.push(next);
                }
            }
        }
        false
    }
}
