//! A LIR in the form that is run: numbers of slots for registers, functions for ops, targets for jumps.

use super::lanes::{self, LaneFn, Slots};
use crate::lir::{Inst, Lir, Memory, Reg, Stride};
use crate::render::library::{self, Entry};
use crate::uop::{Alu, Ty};
use evoxc_core::DType;

/// A program over slots, each of which holds the bits of one lane, zero-extended.
pub(super) struct Program {
    pub steps: Vec<Step>,
    /// How many slots there are.
    pub slots: usize,
}

/// How far apart lanes are in memory.
#[derive(Clone, Copy)]
pub(super) enum Apart {
    Const(i64),
    Slot(u32),
}

/// Where the elements of a load or store are.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub memory: Memory,
    /// Bytes of an element.
    pub size: u8,
    pub lanes: u8,
    /// The slot of the index.
    pub index: u32,
    pub offset: i64,
    pub apart: Apart,
}

/// Where the elements of a gather or scatter are.
#[derive(Clone, Copy)]
pub(super) struct Places {
    pub memory: Memory,
    pub size: u8,
    pub lanes: u8,
    /// The first slot of the indices.
    pub indices: u32,
    /// Are they `i32`?
    pub narrow: bool,
    /// The first slot of the gates.
    pub gate: Option<u32>,
}

/// One step; numbers of slots are those of the first lane.
pub(super) enum Step {
    Set {
        dst: u32,
        lanes: u8,
        bits: u64,
    },
    Param {
        dst: u32,
        number: u32,
    },
    Begin {
        dst: u32,
    },
    End {
        dst: u32,
    },
    Lanes {
        dst: u32,
        lanes: u8,
    },
    Alu {
        function: LaneFn,
        slots: Slots,
    },
    /// The ops without a function of their own.
    AnyAlu {
        op: Alu,
        dtype: DType,
        slots: Slots,
    },
    AnyCast {
        from: DType,
        to: DType,
        slots: Slots,
    },
    Move {
        dst: u32,
        src: u32,
        lanes: u8,
    },
    Splat {
        dst: u32,
        src: u32,
        lanes: u8,
    },
    Load {
        dst: u32,
        place: Place,
    },
    Store {
        src: u32,
        place: Place,
    },
    Gather {
        dst: u32,
        otherwise: u32,
        places: Places,
    },
    Scatter {
        src: u32,
        places: Places,
    },
    Call {
        entry: Entry,
        slots: Slots,
    },
    /// To the step after `Next` unless `from < to`.
    For {
        var: u32,
        from: u32,
        to: u32,
        exit: u32,
    },
    /// Back to the step after `For` while there is more to do.
    Next {
        var: u32,
        to: u32,
        step: i64,
        body: u32,
    },
    Unless {
        condition: u32,
        target: u32,
    },
}

impl Program {
    /// Of a LIR that has been verified.
    pub fn new(lir: &Lir) -> Program {
        let mut next = 0;
        let slot_of: Vec<u32> = lir
            .regs
            .iter()
            .map(|ty| {
                let slot = next;
                next += u32::from(ty.lanes);
                slot
            })
            .collect();
        // What is after all of them is for the lanes of `Across`.
        let mut decode = Decoder { lir, slot_of, spare: next, steps: Vec::with_capacity(lir.body.len()), open: vec![] };
        lir.body.iter().for_each(|inst| decode.inst(inst));
        Program { steps: decode.steps, slots: next as usize + 16 }
    }
}

struct Decoder<'a> {
    lir: &'a Lir,
    slot_of: Vec<u32>,
    spare: u32,
    steps: Vec<Step>,
    /// The steps that opened loops and conditions, with the steps of the loops.
    open: Vec<(u32, i64)>,
}

impl Decoder<'_> {
    fn slot(&self, r: Reg) -> u32 {
        self.slot_of[r.0 as usize]
    }
    fn ty(&self, r: Reg) -> Ty {
        self.lir.regs[r.0 as usize]
    }
    fn slots(&self, dst: Reg, src: &[Reg]) -> Slots {
        let at = |n: usize| src.get(n).map_or(0, |r| self.slot(*r));
        Slots { dst: self.slot(dst), src: [at(0), at(1), at(2)], lanes: self.ty(dst).lanes }
    }
    fn place(&self, memory: Memory, value: Reg, index: Reg, offset: i64, stride: Stride) -> Place {
        let ty = self.ty(value);
        let apart = match stride {
            Stride::One => Apart::Const(1),
            Stride::Const(n) => Apart::Const(n),
            Stride::Reg(r) => Apart::Slot(self.slot(r)),
        };
        Place { memory, size: ty.dtype.size() as u8, lanes: ty.lanes, index: self.slot(index), offset, apart }
    }
    fn places(&self, memory: Memory, value: Reg, index: Reg, gate: Option<Reg>) -> Places {
        let ty = self.ty(value);
        Places {
            memory,
            size: ty.dtype.size() as u8,
            lanes: ty.lanes,
            indices: self.slot(index),
            narrow: self.ty(index).dtype == DType::I32,
            gate: gate.map(|g| self.slot(g)),
        }
    }

    fn alu(&mut self, op: Alu, dtype: DType, slots: Slots) {
        self.steps.push(match lanes::alu_fn(op, dtype) {
            Some(function) => Step::Alu { function, slots },
            None => Step::AnyAlu { op, dtype, slots },
        });
    }

    fn inst(&mut self, inst: &Inst) {
        let here = self.steps.len() as u32;
        let step = match inst {
            Inst::Const { dst, bits } => Step::Set { dst: self.slot(*dst), lanes: self.ty(*dst).lanes, bits: *bits },
            Inst::Param { dst, number } => Step::Param { dst: self.slot(*dst), number: *number },
            Inst::Begin { dst } => Step::Begin { dst: self.slot(*dst) },
            Inst::End { dst } => Step::End { dst: self.slot(*dst) },
            Inst::Lanes { dst } => Step::Lanes { dst: self.slot(*dst), lanes: self.ty(*dst).lanes },
            Inst::Alu { dst, op, src } => {
                let dtype = src.last().map_or(DType::BOOL, |r| self.ty(*r).dtype);
                return self.alu(*op, dtype, self.slots(*dst, src));
            }
            Inst::Cast { dst, src } => {
                let (from, to, slots) = (self.ty(*src).dtype, self.ty(*dst).dtype, self.slots(*dst, &[*src]));
                match lanes::cast_fn(from, to) {
                    Some(function) => Step::Alu { function, slots },
                    None => Step::AnyCast { from, to, slots },
                }
            }
            Inst::Bitcast { dst, src } | Inst::Copy { dst, src } => {
                Step::Move { dst: self.slot(*dst), src: self.slot(*src), lanes: self.ty(*dst).lanes }
            }
            Inst::Splat { dst, src } => {
                Step::Splat { dst: self.slot(*dst), src: self.slot(*src), lanes: self.ty(*dst).lanes }
            }
            Inst::Extract { dst, src, lane } => {
                let lanes = self.ty(*dst).lanes;
                Step::Move { dst: self.slot(*dst), src: self.slot(*src) + u32::from(*lane), lanes }
            }
            Inst::Across { dst, op, src } => {
                let (ty, spare) = (self.ty(*src), self.spare);
                self.steps.push(Step::Move { dst: spare, src: self.slot(*src), lanes: ty.lanes });
                let mut half = ty.lanes / 2;
                while half > 0 {
                    let high = spare + u32::from(half);
                    self.alu(*op, ty.dtype, Slots { dst: spare, src: [spare, high, 0], lanes: half });
                    half /= 2;
                }
                Step::Move { dst: self.slot(*dst), src: spare, lanes: 1 }
            }
            Inst::Load { dst, from, index, offset, stride } => {
                Step::Load { dst: self.slot(*dst), place: self.place(*from, *dst, *index, *offset, *stride) }
            }
            Inst::Store { to, index, offset, stride, src } => {
                Step::Store { src: self.slot(*src), place: self.place(*to, *src, *index, *offset, *stride) }
            }
            Inst::Gather { dst, from, index, gate } => Step::Gather {
                dst: self.slot(*dst),
                otherwise: gate.map_or(0, |(_, otherwise)| self.slot(otherwise)),
                places: self.places(*from, *dst, *index, gate.map(|(gate, _)| gate)),
            },
            Inst::Scatter { to, index, src, gate } => {
                Step::Scatter { src: self.slot(*src), places: self.places(*to, *src, *index, *gate) }
            }
            Inst::Call { dst, function, src } => match library::entry(*function) {
                Some(entry) => Step::Call { entry, slots: self.slots(*dst, src) },
                // The verifier refuses a call of what is not there.
                None => return,
            },
            Inst::For { var, from, to, step } => {
                self.open.push((here, *step));
                Step::For { var: self.slot(*var), from: self.slot(*from), to: self.slot(*to), exit: 0 }
            }
            Inst::EndFor => {
                let Some((start, step)) = self.open.pop() else { return };
                let Some(Step::For { var, to, exit, .. }) = self.steps.get_mut(start as usize) else { return };
                *exit = here + 1;
                Step::Next { var: *var, to: *to, step, body: start + 1 }
            }
            Inst::If { condition } => {
                self.open.push((here, 0));
                Step::Unless { condition: self.slot(*condition), target: 0 }
            }
            Inst::EndIf => {
                if let Some(Step::Unless { target, .. }) =
                    self.open.pop().and_then(|(start, _)| self.steps.get_mut(start as usize))
                {
                    *target = here;
                }
                return;
            }
        };
        self.steps.push(step);
    }
}
