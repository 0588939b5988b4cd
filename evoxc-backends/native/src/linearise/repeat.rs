//! A loop around kernels: their instructions one after the other, with what they carry in registers, or in memory of the
//! loop's own. Every value is what the kernels alone would compute.

use super::analysis::broken;
use crate::lir::{Inst, Lir, Memory, Reg, Size, Stride};
use crate::render::Target;
use crate::schedule::{Part, Repeat, Slot};
use crate::uop::{Alu, Ty};
use evoxc_core::{DType, OpError};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Where a value of the loop's own is.
#[derive(Clone, Copy)]
enum Home {
    Register(Reg),
    Scratch(u32),
}

/// What a buffer of a kernel is while the loop is written.
#[derive(Clone, Copy)]
enum Place {
    Register(Reg),
    /// Memory, from that element on.
    Memory(Memory, Option<Reg>),
}

/// The kernel of a loop over kernels, which are given in their last form. `dtypes` are those of its buffers.
///
/// # Errors
/// [`OpError`] for kernels that are no part of such a loop, which is a fault of the compiler.
pub fn repeat(
    r: &Repeat,
    dtypes: Vec<DType>,
    cond: &[std::sync::Arc<Lir>],
    body: &[std::sync::Arc<Lir>],
    target: &Target,
) -> Result<Lir, OpError> {
    let params = u32::from(r.length.is_some_and(|l| l.known.is_none()));
    let lir = Lir {
        buffers: dtypes,
        scratch: vec![],
        params,
        extent: Size::Const(1),
        grain: Size::Const(1),
        regs: vec![],
        body: vec![],
    };
    let mut w = Writer { lir, homes: vec![], bases: FxHashMap::default(), lanes: target.lanes };
    w.homes(r, &[(&r.cond, cond), (&r.body, body)]);
    let zero = w.index(0);
    for s in &r.states {
        let to = w.home(s.own)?;
        w.copy((Place::Memory(Memory::Buffer(s.init), None), to), r.own[s.own as usize]);
    }
    match r.length {
        Some(length) => {
            let to = match length.known {
                Some(n) => w.index(n),
                None => {
                    let dst = w.reg(Ty::INDEX);
                    w.push(Inst::Param { dst, number: 0 });
                    dst
                }
            };
            let var = w.reg(Ty::INDEX);
            w.push(Inst::For { var, from: zero, to, step: 1 });
            let entry = if length.reverse {
                let one = w.index(1);
                let last = w.alu(Alu::Sub, &[to, one]);
                w.alu(Alu::Sub, &[last, var])
            } else {
                var
            };
            w.iteration(r, body, Some(entry))?;
            w.push(Inst::EndFor);
        }
        None => {
            // The loop ends where its end becomes 0.
            let (most, end) = (w.index(i64::MAX), w.reg(Ty::INDEX));
            for first in [true, false] {
                if !first {
                    let var = w.reg(Ty::INDEX);
                    w.push(Inst::For { var, from: zero, to: end, step: 1 });
                    w.iteration(r, body, None)?;
                }
                for (p, lir) in r.cond.iter().zip(cond) {
                    w.part(p, lir)?;
                }
                let truth = w.place(r.truth.ok_or_else(|| broken("a loop without a condition"))?)?;
                let truth = w.read(truth, DType::BOOL);
                let to = w.alu(Alu::Select, &[truth, most, zero]);
                w.push(Inst::Copy { dst: end, src: to });
            }
            w.push(Inst::EndFor);
        }
    }
    for s in &r.states {
        let from = w.home(s.own)?;
        w.copy((from, Place::Memory(Memory::Buffer(s.result), None)), r.own[s.own as usize]);
    }
    Ok(w.lir)
}

struct Writer {
    lir: Lir,
    homes: Vec<Home>,
    /// The first element of an entry of this iteration: of the buffer and so many elements.
    bases: FxHashMap<(u32, i64), Reg>,
    lanes: u8,
}

impl Writer {
    fn reg(&mut self, ty: Ty) -> Reg {
        self.lir.regs.push(ty);
        Reg(self.lir.regs.len() as u32 - 1)
    }
    fn push(&mut self, inst: Inst) {
        self.lir.body.push(inst);
    }
    fn constant(&mut self, ty: Ty, bits: u64) -> Reg {
        let dst = self.reg(ty);
        self.push(Inst::Const { dst, bits });
        dst
    }
    fn index(&mut self, v: i64) -> Reg {
        self.constant(Ty::INDEX, v as u64)
    }
    fn alu(&mut self, op: Alu, src: &[Reg]) -> Reg {
        let ty = src.last().map_or(Ty::INDEX, |r| self.lir.regs[r.0 as usize]);
        let dst = self.reg(ty);
        self.push(Inst::Alu { dst, op, src: SmallVec::from_slice(src) });
        dst
    }

    /// Decides where values are: those of one element in registers, where kernels read and write nothing but that element.
    fn homes(&mut self, r: &Repeat, parts: &[(&Vec<Part>, &[std::sync::Arc<Lir>])]) {
        let mut plain: Vec<bool> = r.own.iter().map(|(_, n)| *n == 1).collect();
        for (part, lir) in parts.iter().flat_map(|(p, l)| p.iter().zip(l.iter())) {
            if part.at.iter().any(|s| matches!(s, Slot::Own(n) if plain[*n as usize])) {
                mark_plain(part, lir, &mut plain);
            }
        }
        for (&(dtype, n), plain) in r.own.iter().zip(plain) {
            let home = if plain {
                let ty = Ty::scalar(dtype);
                let (zero, dst) = (self.constant(ty, 0), self.reg(ty));
                self.push(Inst::Copy { dst, src: zero });
                Home::Register(dst)
            } else {
                self.lir.scratch.push((dtype, Size::Const(n)));
                Home::Scratch(self.lir.scratch.len() as u32 - 1)
            };
            self.homes.push(home);
        }
    }
    fn home(&self, own: u32) -> Result<Place, OpError> {
        match self.homes.get(own as usize) {
            Some(Home::Register(r)) => Ok(Place::Register(*r)),
            Some(Home::Scratch(n)) => Ok(Place::Memory(Memory::Scratch(*n), None)),
            None => Err(broken("a loop has no such memory")),
        }
    }
    fn place(&self, slot: Slot) -> Result<Place, OpError> {
        Ok(match slot {
            Slot::Buffer(n) => Place::Memory(Memory::Buffer(n), None),
            Slot::Entry(n, of) => Place::Memory(Memory::Buffer(n), self.bases.get(&(n, of)).copied()),
            Slot::Own(n) => self.home(n)?,
        })
    }
    /// The first element at a place.
    fn read(&mut self, at: Place, dtype: DType) -> Reg {
        match at {
            Place::Register(r) => r,
            Place::Memory(from, base) => {
                let index = base.unwrap_or_else(|| self.index(0));
                let dst = self.reg(Ty::scalar(dtype));
                self.push(Inst::Load { dst, from, index, offset: 0, stride: Stride::One });
                dst
            }
        }
    }
    /// Copies elements.
    fn copy(&mut self, (from, to): (Place, Place), (dtype, n): (DType, i64)) {
        let (source, target) = match (from, to) {
            (_, Place::Register(dst)) => {
                let src = self.read(from, dtype);
                self.push(Inst::Copy { dst, src });
                return;
            }
            (Place::Register(src), Place::Memory(to, base)) => {
                let index = base.unwrap_or_else(|| self.index(0));
                self.push(Inst::Store { to, index, offset: 0, stride: Stride::One, src });
                return;
            }
            (Place::Memory(from, base), Place::Memory(to, other)) => ((from, base), (to, other)),
        };
        let most = match dtype {
            DType::F32 | DType::I32 | DType::U32 => self.lanes.min(8),
            DType::F64 | DType::I64 | DType::U64 => self.lanes.min(8) / 2,
            _ => 1,
        };
        let mut at = 0;
        for lanes in [if most >= 4 { most } else { 1 }, 1] {
            let end = at + (n - at) / i64::from(lanes) * i64::from(lanes);
            if at >= end {
                continue;
            }
            let (first, last) = (self.index(at), self.index(end));
            let var = self.reg(Ty::INDEX);
            self.push(Inst::For { var, from: first, to: last, step: i64::from(lanes) });
            let mut index = |base: Option<Reg>| base.map_or(var, |b| self.alu(Alu::Add, &[var, b]));
            let (i, k) = (index(source.1), index(target.1));
            let dst = self.reg(Ty { lanes, ..Ty::scalar(dtype) });
            self.push(Inst::Load { dst, from: source.0, index: i, offset: 0, stride: Stride::One });
            self.push(Inst::Store { to: target.0, index: k, offset: 0, stride: Stride::One, src: dst });
            self.push(Inst::EndFor);
            at = end;
        }
    }

    /// One iteration; `entry` is its number, of a scan.
    fn iteration(&mut self, r: &Repeat, body: &[std::sync::Arc<Lir>], entry: Option<Reg>) -> Result<(), OpError> {
        self.bases.clear();
        if let Some(entry) = entry {
            let all = r.body.iter().flat_map(|p| &p.at).chain(r.states.iter().map(|s| &s.next));
            let all: Vec<Slot> = all.chain(r.copies.iter().flat_map(|(a, b)| [a, b])).copied().collect();
            for slot in all {
                if let Slot::Entry(n, of) = slot
                    && !self.bases.contains_key(&(n, of))
                {
                    let base = if of == 1 {
                        entry
                    } else {
                        let elements = self.index(of);
                        self.alu(Alu::Mul, &[entry, elements])
                    };
                    self.bases.insert((n, of), base);
                }
            }
        }
        for (p, lir) in r.body.iter().zip(body) {
            self.part(p, lir)?;
        }
        for &(from, to) in &r.copies {
            let Slot::Entry(buffer, n) = to else { return Err(broken("a result of an iteration is no entry")) };
            let dtype = self.lir.buffers.get(buffer as usize).copied().unwrap_or(DType::F32);
            self.copy((self.place(from)?, self.place(to)?), (dtype, n));
        }
        // Values that are carried to where others were: all are read before any is written.
        let mut moves = vec![];
        for s in &r.states {
            let size = r.own[s.own as usize];
            let (from, to) = (self.place(s.next)?, self.home(s.own)?);
            if s.next == Slot::Own(s.own) {
                continue;
            }
            if r.states.iter().any(|other| s.next == Slot::Own(other.own)) {
                let between = match self.homes[s.own as usize] {
                    Home::Register(_) => {
                        let dst = self.reg(Ty::scalar(size.0));
                        Place::Register(dst)
                    }
                    Home::Scratch(_) => {
                        self.lir.scratch.push((size.0, Size::Const(size.1)));
                        Place::Memory(Memory::Scratch(self.lir.scratch.len() as u32 - 1), None)
                    }
                };
                self.copy((from, between), size);
                moves.push((between, to, size));
            } else {
                moves.push((from, to, size));
            }
        }
        for (from, to, size) in moves {
            self.copy((from, to), size);
        }
        self.bases.clear();
        Ok(())
    }

    /// The instructions of a kernel, on the registers and memory of the loop.
    fn part(&mut self, part: &Part, lir: &Lir) -> Result<(), OpError> {
        let Size::Const(extent) = lir.extent else { return Err(broken("a kernel of a loop has no known size")) };
        let first = self.lir.regs.len() as u32;
        self.lir.regs.extend_from_slice(&lir.regs);
        let scratch = self.lir.scratch.len() as u32;
        self.lir.scratch.extend(lir.scratch.iter().cloned());
        let places: Vec<Place> = part.at.iter().map(|&s| self.place(s)).collect::<Result<_, _>>()?;
        let once = single(lir);
        for (n, inst) in lir.body.iter().enumerate() {
            let mut inst = inst.clone();
            inst.for_each_reg_mut(|r| r.0 += first);
            let place = |m: Memory| match m {
                Memory::Buffer(b) => {
                    places.get(b as usize).copied().ok_or_else(|| broken("a kernel has no such buffer"))
                }
                Memory::Scratch(s) => Ok(Place::Memory(Memory::Scratch(s + scratch), None)),
            };
            let inst = match inst {
                Inst::Begin { dst } => Inst::Const { dst, bits: 0 },
                Inst::End { dst } => Inst::Const { dst, bits: extent as u64 },
                Inst::For { var, .. } if once.is_some_and(|(start, _)| start == n) => Inst::Const { dst: var, bits: 0 },
                Inst::EndFor if once.is_some_and(|(_, end)| end == n) => continue,
                Inst::Param { .. } => return Err(broken("a kernel of a loop has a parameter")),
                Inst::Load { dst, from, index, offset, stride } => match place(from)? {
                    Place::Register(src) => Inst::Copy { dst, src },
                    Place::Memory(from, base) => {
                        let index = base.map_or(index, |b| self.alu(Alu::Add, &[b, index]));
                        Inst::Load { dst, from, index, offset, stride }
                    }
                },
                Inst::Store { to, index, offset, stride, src } => match place(to)? {
                    Place::Register(dst) => Inst::Copy { dst, src },
                    Place::Memory(to, base) => {
                        let index = base.map_or(index, |b| self.alu(Alu::Add, &[b, index]));
                        Inst::Store { to, index, offset, stride, src }
                    }
                },
                Inst::Gather { dst, from, index, gate } => match place(from)? {
                    Place::Memory(from, base) => {
                        let index = self.moved(index, base);
                        Inst::Gather { dst, from, index, gate }
                    }
                    Place::Register(_) => return Err(broken("a register has no elements")),
                },
                Inst::Scatter { to, index, src, gate } => match place(to)? {
                    Place::Memory(to, base) => {
                        let index = self.moved(index, base);
                        Inst::Scatter { to, index, src, gate }
                    }
                    Place::Register(_) => return Err(broken("a register has no elements")),
                },
                inst => inst,
            };
            self.push(inst);
        }
        Ok(())
    }
    /// Indices of lanes from that element on.
    fn moved(&mut self, index: Reg, base: Option<Reg>) -> Reg {
        let Some(base) = base else { return index };
        let ty = self.lir.regs[index.0 as usize];
        let cast = |w: &mut Writer, src: Reg, dtype: DType| {
            let dst = w.reg(w.lir.regs[src.0 as usize].with(dtype));
            w.push(Inst::Cast { dst, src });
            dst
        };
        let index = if ty.dtype == DType::I64 { index } else { cast(self, index, DType::I64) };
        let base = if ty.lanes == 1 {
            base
        } else {
            let dst = self.reg(Ty { lanes: ty.lanes, ..Ty::INDEX });
            self.push(Inst::Splat { dst, src: base });
            dst
        };
        self.alu(Alu::Add, &[index, base])
    }
}

/// Where the loop over the iterations of a kernel begins and ends, if it has one iteration.
fn single(lir: &Lir) -> Option<(usize, usize)> {
    if lir.extent != Size::Const(1) {
        return None;
    }
    let (mut begin, mut end) = (None, None);
    let mut depth = 0usize;
    let mut start = None;
    for (n, inst) in lir.body.iter().enumerate() {
        match inst {
            Inst::Begin { dst } => begin = Some(*dst),
            Inst::End { dst } => end = Some(*dst),
            Inst::For { from, to, .. } => {
                if depth == 0 && start.is_none() && Some(*from) == begin && Some(*to) == end {
                    start = Some(n);
                }
                depth += 1;
            }
            Inst::If { .. } => depth += 1,
            Inst::EndFor | Inst::EndIf => {
                depth = depth.saturating_sub(1);
                if depth == 0
                    && let Some(start) = start
                {
                    return Some((start, n));
                }
            }
            _ => {}
        }
    }
    None
}

/// Clears the mark of memory of which a kernel reads or writes more than the first element, one at a time.
fn mark_plain(part: &Part, lir: &Lir, plain: &mut [bool]) {
    let mut zero = vec![false; lir.regs.len()];
    let once = single(lir);
    for (n, inst) in lir.body.iter().enumerate() {
        let (memory, is_plain) = match inst {
            Inst::Const { dst, bits: 0 } => {
                zero[dst.0 as usize] = true;
                continue;
            }
            Inst::Begin { dst } if once.is_some() => {
                zero[dst.0 as usize] = true;
                continue;
            }
            Inst::For { var, .. } if once.is_some_and(|(start, _)| start == n) => {
                zero[var.0 as usize] = true;
                continue;
            }
            Inst::Load { dst, from, index, offset, .. } => {
                (*from, zero[index.0 as usize] && *offset == 0 && lir.regs[dst.0 as usize].lanes == 1)
            }
            Inst::Store { to, index, offset, src, .. } => {
                (*to, zero[index.0 as usize] && *offset == 0 && lir.regs[src.0 as usize].lanes == 1)
            }
            Inst::Gather { from, .. } => (*from, false),
            Inst::Scatter { to, .. } => (*to, false),
            _ => continue,
        };
        if let (Memory::Buffer(b), false) = (memory, is_plain)
            && let Some(Slot::Own(n)) = part.at.get(b as usize)
        {
            plain[*n as usize] = false;
        }
    }
}
