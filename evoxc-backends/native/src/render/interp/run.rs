//! Runs the steps of a program, on memory that it is given.

use super::decode::{Apart, Place, Places, Program, Step};
use super::lanes::Slots;
use crate::lir::Memory;
use crate::render::library::Entry;
use crate::uop::{alu, cast};
use smallvec::{SmallVec, smallvec};

/// What [`Code::run`](crate::render::Code::run) is given.
#[derive(Clone, Copy)]
pub(super) struct Arguments {
    pub buffers: *const *mut u8,
    pub params: *const i64,
    pub scratch: *const *mut u8,
    pub begin: i64,
    pub end: i64,
}

impl Arguments {
    /// The address of an element.
    ///
    /// # Safety
    /// As [`run`], and the element is one that the kernel may touch.
    unsafe fn element(self, memory: Memory, index: i64, size: u8) -> *mut u8 {
        let (table, number) = match memory {
            Memory::Buffer(n) => (self.buffers, n),
            Memory::Scratch(n) => (self.scratch, n),
        };
        // SAFETY: the verifier has checked the number against the LIR, for whose memory there are pointers.
        let base = unsafe { *table.add(number as usize) };
        base.wrapping_offset((index as isize).wrapping_mul(isize::from(i16::from(size))))
    }
}

/// The bits of an element of that size, zero-extended.
///
/// # Safety
/// It may be read.
unsafe fn read(at: *const u8, size: u8) -> u64 {
    // SAFETY: the caller's; nothing is asked of the alignment.
    unsafe {
        match size {
            1 => u64::from(at.read()),
            2 => u64::from(at.cast::<u16>().read_unaligned()),
            4 => u64::from(at.cast::<u32>().read_unaligned()),
            _ => at.cast::<u64>().read_unaligned(),
        }
    }
}

/// # Safety
/// It may be written.
unsafe fn write(at: *mut u8, size: u8, bits: u64) {
    // SAFETY: the caller's; nothing is asked of the alignment.
    unsafe {
        match size {
            1 => at.write(bits as u8),
            2 => at.cast::<u16>().write_unaligned(bits as u16),
            4 => at.cast::<u32>().write_unaligned(bits as u32),
            _ => at.cast::<u64>().write_unaligned(bits),
        }
    }
}

/// Runs a program.
///
/// # Safety
/// As [`Code::run`](crate::render::Code::run) says, of the verified LIR that the program is of.
pub(super) unsafe fn run(program: &Program, arguments: Arguments) {
    let mut slots: SmallVec<[u64; 128]> = smallvec![0; program.slots];
    let r = &mut slots[..];
    let mut next = 0;
    while let Some(step) = program.steps.get(next) {
        next += 1;
        match *step {
            Step::Set { dst, lanes, bits } => fill(r, dst, lanes, bits),
            // SAFETY: the verifier has checked the number against the LIR's, and there are as many.
            Step::Param { dst, number } => r[dst as usize] = unsafe { *arguments.params.add(number as usize) } as u64,
            Step::Begin { dst } => r[dst as usize] = arguments.begin as u64,
            Step::End { dst } => r[dst as usize] = arguments.end as u64,
            Step::Lanes { dst, lanes } => (0..usize::from(lanes)).for_each(|i| r[dst as usize + i] = i as u64),
            Step::Alu { function, slots } => function(r, slots),
            Step::AnyAlu { op, dtype, slots } => each(r, slots, |src| alu(op, dtype, src)),
            Step::AnyCast { from, to, slots } => each(r, slots, |[x, _, _]| cast(from, to, x)),
            Step::Move { dst, src, lanes } => {
                r.copy_within(src as usize..src as usize + usize::from(lanes), dst as usize);
            }
            Step::Splat { dst, src, lanes } => fill(r, dst, lanes, r[src as usize]),
            Step::Load { dst, place } => {
                let (mut index, apart) = first(r, place);
                for i in 0..usize::from(place.lanes) {
                    // SAFETY: the kernel loads this element, and the caller promises that it is there.
                    r[dst as usize + i] =
                        unsafe { read(arguments.element(place.memory, index, place.size), place.size) };
                    index = index.wrapping_add(apart);
                }
            }
            Step::Store { src, place } => {
                let (mut index, apart) = first(r, place);
                for i in 0..usize::from(place.lanes) {
                    // SAFETY: the kernel stores this element, and the caller promises that it is there.
                    unsafe {
                        write(arguments.element(place.memory, index, place.size), place.size, r[src as usize + i]);
                    }
                    index = index.wrapping_add(apart);
                }
            }
            Step::Gather { dst, otherwise, places } => {
                for i in 0..usize::from(places.lanes) {
                    r[dst as usize + i] = match at(r, places, i) {
                        // SAFETY: the gate holds: the kernel loads this element, and the caller promises that it is there.
                        Some(index) => unsafe {
                            read(arguments.element(places.memory, index, places.size), places.size)
                        },
                        None => r[otherwise as usize + i],
                    };
                }
            }
            Step::Scatter { src, places } => {
                for i in 0..usize::from(places.lanes) {
                    if let Some(index) = at(r, places, i) {
                        // SAFETY: the gate holds: the kernel stores this element, and the caller promises that it is there.
                        unsafe {
                            let element = arguments.element(places.memory, index, places.size);
                            write(element, places.size, r[src as usize + i]);
                        }
                    }
                }
            }
            Step::Call { entry, slots } => each(r, slots, |src| call(entry, src)),
            Step::For { var, from, to, exit } => {
                r[var as usize] = r[from as usize];
                if r[from as usize] as i64 >= r[to as usize] as i64 {
                    next = exit as usize;
                }
            }
            Step::Next { var, to, step, body } => {
                let value = (r[var as usize] as i64).wrapping_add(step);
                r[var as usize] = value as u64;
                if value < r[to as usize] as i64 {
                    next = body as usize;
                }
            }
            Step::Unless { condition, target } => {
                if r[condition as usize] == 0 {
                    next = target as usize;
                }
            }
        }
    }
}

fn fill(r: &mut [u64], dst: u32, lanes: u8, bits: u64) {
    r[dst as usize..dst as usize + usize::from(lanes)].fill(bits);
}

fn each(r: &mut [u64], s: Slots, f: impl Fn([u64; 3]) -> u64) {
    for i in 0..usize::from(s.lanes) {
        r[s.dst as usize + i] = f(s.src.map(|slot| r.get(slot as usize + i).copied().unwrap_or(0)));
    }
}

/// The index of the first lane, and how far the next are.
fn first(r: &[u64], place: Place) -> (i64, i64) {
    let apart = match place.apart {
        Apart::Const(n) => n,
        Apart::Slot(s) => r[s as usize] as i64,
    };
    ((r[place.index as usize] as i64).wrapping_add(place.offset), apart)
}

/// The index of a lane of a gather or scatter, where its gate holds.
fn at(r: &[u64], places: Places, lane: usize) -> Option<i64> {
    if places.gate.is_some_and(|gate| r[gate as usize + lane] == 0) {
        return None;
    }
    let index = r[places.indices as usize + lane];
    Some(if places.narrow { i64::from(index as i32) } else { index as i64 })
}

fn call(entry: Entry, [a, b, _]: [u64; 3]) -> u64 {
    let single = |x: u64| f32::from_bits(x as u32);
    match entry {
        Entry::Single(f) => f(single(a)).to_bits().into(),
        Entry::Double(f) => f(f64::from_bits(a)).to_bits(),
        Entry::Single2(f) => f(single(a), single(b)).to_bits().into(),
        Entry::Double2(f) => f(f64::from_bits(a), f64::from_bits(b)).to_bits(),
    }
}
