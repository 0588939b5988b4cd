//! Registers of the machine for virtual ones: a linear scan over live intervals.
//!
//! Every virtual register has one place for its whole life: a register, a slot of the frame, or, for constants, nowhere
//! at all: they are read from memory that comes with the code. Positions are twice the number of an instruction where it
//! reads, one more where it writes.

use super::mir::*;
use super::select::ARGUMENTS;

/// Where a virtual register lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loc {
    /// Nowhere: it is not used.
    Nowhere,
    /// A register of its class, by number.
    Reg(u8),
    /// Memory, by its offset in the frame.
    Slot(u32),
    /// A constant that is read where it is needed.
    Constant,
}

/// Registers that no value lives in: integers have rax, rdx and the stack pointer, always; vectors have up to three, from
/// the last one down, as many as instructions need whose operands are in memory.
pub const RAX: u8 = 0;
pub const RDX: u8 = 2;
pub const XLAST: u8 = 15;
const G_ALL: u32 = 0xffff & !(1 << RAX | 1 << RDX | 1 << 4);
/// Vector registers that vectors of 64 bytes alone have: the instructions on others name 16.
const X_HIGH: u32 = 0xffff_0000;
/// Those that a called function leaves as they are.
pub const G_SAVED: u32 = 1 << 3 | 1 << 5 | 0xf000;
/// Where arguments are on entry; the third is moved at once, for its register is one of the two.
pub const ARGUMENT_REGS: [u8; ARGUMENTS as usize] = [7, 6, 9, 1, 8];

/// The result.
pub struct Assignment {
    pub loc: Vec<Loc>,
    /// Constants in registers, and before which instruction they get there, in order.
    pub constants: Vec<(u32, V)>,
    /// Bytes of slots.
    pub frame: u32,
    /// Callee-saved registers that are used.
    pub saved: u32,
    /// Of calls under conditions, in order: their instruction, and the registers that they are to leave as they are, of
    /// integers and of vectors.
    pub rare: Vec<(u32, [u32; 2])>,
}

struct Region {
    start: u32,
    end: u32,
    parent: u32,
    depth: u32,
    is_loop: bool,
}

/// The instructions that call functions. Those under a condition run rarely: they keep the registers that others need, so
/// that nothing else goes to memory for them.
#[derive(Default)]
struct Calls {
    often: Vec<u32>,
    rare: Vec<u32>,
}

/// An interval.
#[derive(Clone, Copy)]
struct Live {
    start: u32,
    end: u32,
    weight: f32,
    /// The region of the first write, or for a constant the least one around all reads.
    region: u32,
    /// A register that would be good.
    hint: V,
    seen: bool,
}

const ROOT: u32 = 0;

/// Finds loops and conditions.
fn regions(m: &Mir) -> Vec<Region> {
    let mut all = vec![Region { start: 0, end: m.code.len() as u32, parent: ROOT, depth: 0, is_loop: false }];
    let mut open = vec![ROOT];
    for (k, mi) in m.code.iter().enumerate() {
        match mi.op {
            Op::Loop | Op::If => {
                let parent = open.last().copied().unwrap_or(ROOT);
                let is_loop = mi.op == Op::Loop;
                let depth = all[parent as usize].depth + u32::from(is_loop);
                open.push(all.len() as u32);
                all.push(Region { start: k as u32, end: 0, parent, depth, is_loop });
            }
            Op::EndLoop | Op::EndIf => {
                let r = open.pop().unwrap_or(ROOT);
                all[r as usize].end = k as u32;
            }
            _ => {}
        }
    }
    all
}

/// Those reads of an instruction that need a register, or can be memory: each slot of `s`.
fn is_rm(mi: &Mi, slot: usize) -> bool {
    match mi.op {
        Op::X3(_) | Op::XMask(_) | Op::XTest(_) if mi.commutes => true,
        Op::X2(_) | Op::X3(_) | Op::X4(_) | Op::XMask(_) | Op::XTest(_) | Op::XBlend => slot == 1,
        Op::Fma(_) => true,
        _ => false,
    }
}

/// Where the instruction ends of the outermost loop around the current one that began after `def`.
fn outermost(all: &[Region], stack: &[u32], def: u32) -> Option<u32> {
    stack.iter().map(|r| &all[*r as usize]).find(|r| r.is_loop && r.start >= def).map(|r| r.end)
}

fn liveness(m: &Mir) -> (Vec<Live>, Calls) {
    let all = regions(m);
    let empty = Live { start: 0, end: 0, weight: 0.0, region: ROOT, hint: NONE, seen: false };
    let mut live = vec![empty; m.regs.len()];
    for l in live.iter_mut().take(ARGUMENTS as usize) {
        l.seen = true;
    }
    let mut calls = Calls::default();
    let mut stack: Vec<u32> = vec![ROOT];
    let mut next = 1u32;
    for (k, mi) in m.code.iter().enumerate() {
        let k = k as u32;
        if mi.op == Op::Dead {
            continue;
        }
        let here = stack.last().copied().unwrap_or(ROOT);
        let freq = [1.0f32, 8.0, 64.0, 512.0, 4096.0][all[here as usize].depth.min(4) as usize];
        if let Op::Call(_) = mi.op {
            let rare = here != ROOT && !all[here as usize].is_loop;
            if rare { &mut calls.rare } else { &mut calls.often }.push(k);
        }
        let late = if mi.reads_late() { 2 } else { 0 };
        let operands = [mi.s[0], mi.s[1], mi.s[2], mi.mem.base, mi.mem.index];
        for (slot, v) in operands.into_iter().enumerate() {
            if v == NONE {
                continue;
            }
            let constant = m.regs[v as usize].constant;
            if let (Op::Loop | Op::EndLoop, Some(Constant::Splat(bits, _))) = (mi.op, constant)
                && i32::try_from(bits as i64).is_ok()
            {
                continue;
            }
            let l = &mut live[v as usize];
            if constant.is_some() {
                if !l.seen {
                    *l = Live { start: k, end: k, region: here, seen: true, ..empty };
                }
                // The least region around both.
                let (mut a, mut b) = (l.region, here);
                while a != b {
                    if all[a as usize].start >= all[b as usize].start && a != ROOT {
                        a = all[a as usize].parent;
                    } else {
                        b = all[b as usize].parent;
                    }
                }
                l.region = a;
                // Where memory will do, a constant there costs little.
                l.weight += if is_rm(mi, slot) { freq * 0.25 } else { freq * 0.9 };
                // Until it is known better.
                let last = outermost(&all, &stack, 0).unwrap_or(k);
                l.end = l.end.max(last);
                if let Some(r) = stack.get(1)
                    && l.start == k
                {
                    l.start = all[*r as usize].start;
                }
                continue;
            }
            let def = l.start / 2;
            let last = match outermost(&all, &stack, def) {
                Some(end) => end * 2 + 1,
                None => k * 2 + late,
            };
            l.end = l.end.max(last);
            l.weight += freq;
            // Read after the loop that wrote it: nothing else may take its place there.
            let mut r = l.region;
            while r != ROOT && all[r as usize].end < k {
                l.start = l.start.min(all[r as usize].start * 2);
                r = all[r as usize].parent;
            }
        }
        match mi.op {
            Op::EndLoop | Op::EndIf => {
                stack.pop();
            }
            _ => {}
        }
        if mi.d != NONE {
            let l = &mut live[mi.d as usize];
            if l.seen {
                let last = outermost(&all, &stack, l.start / 2).map_or(k * 2 + 1, |end| end * 2 + 1);
                l.end = l.end.max(last);
            } else {
                l.seen = true;
                l.start = k * 2 + 1;
                l.end = k * 2 + 1;
                l.region = here;
                l.hint = match mi.op {
                    Op::Fma(_) => mi.s[2],
                    Op::XGather(_) | Op::GSelect => mi.s[1],
                    Op::X2(_) => mi.s[1],
                    _ => mi.s[0],
                };
                if l.hint != NONE && m.regs[l.hint as usize].class != m.regs[mi.d as usize].class {
                    l.hint = NONE;
                }
            }
            l.weight += freq;
        }
        if let Op::Loop | Op::If = mi.op {
            stack.push(next);
            next += 1;
        }
    }
    // Where constants come from: before the least loop around their reads.
    for (v, l) in live.iter_mut().enumerate() {
        if m.regs[v].constant.is_none() || !l.seen {
            continue;
        }
        let mut r = l.region;
        while r != ROOT && !all[r as usize].is_loop {
            r = all[r as usize].parent;
        }
        if r != ROOT {
            (l.start, l.end) = (all[r as usize].start, all[r as usize].end);
        }
        (l.start, l.end) = (l.start * 2, l.end * 2 + 1);
    }
    (live, calls)
}

struct Scan {
    free: [u32; 2],
    /// The register that holds each.
    holds: [[V; 32]; 2],
    least: [u32; 2],
}

impl Scan {
    /// The registers whose values outlive a call, once all values are known that begin before it: of integers those alone
    /// that a called function may change.
    fn held(&self, live: &[Live], call: u32) -> [u32; 2] {
        let mut all = [0u32; 2];
        for (class, all) in all.iter_mut().enumerate() {
            for (r, &v) in self.holds[class].iter().enumerate() {
                let taken = v != NONE && self.free[class] & (1 << r) == 0;
                if taken && live[v as usize].end > call * 2 {
                    *all |= 1 << r;
                }
            }
        }
        [all[0] & !G_SAVED, all[1]]
    }
}

/// Places for all.
pub fn assign(m: &Mir) -> Assignment {
    let (live, calls) = liveness(m);
    let mut order: Vec<u32> = (0..live.len() as u32).filter(|v| live[*v as usize].seen).collect();
    order.sort_by_key(|v| live[*v as usize].start);
    // Without registers for operands in memory; then with as many as that needed.
    let mut kept = 0u8;
    loop {
        let assignment = scan(m, &live, &calls, &order, X_HIGH | 0xffff >> kept);
        let most = m.code.iter().map(|mi| needed(m, &assignment.loc, mi)).max().unwrap_or(0);
        if most <= kept || kept == 3 {
            return assignment;
        }
        kept = most;
    }
}

/// Can the value of `v`, which is in memory, come to the register of the result, as no other operand is there?
pub fn fits_target(loc: &[Loc], mi: &Mi, slot: usize) -> bool {
    let Loc::Reg(d) = loc[mi.d as usize] else { return false };
    (0..3).all(|i| i == slot || mi.s[i] == NONE || loc[mi.s[i] as usize] != Loc::Reg(d))
}

/// The instruction with operands that may be exchanged so that the one in memory stands where memory can.
pub fn ordered(loc: &[Loc], mi: &Mi) -> Mi {
    let mut mi = *mi;
    let [a, b, _] = mi.s;
    if (matches!(mi.op, Op::Fma(_)) || mi.commutes && matches!(mi.op, Op::X3(_) | Op::XMask(_) | Op::XTest(_)))
        && b != NONE
        && !matches!(loc[a as usize], Loc::Reg(_))
        && matches!(loc[b as usize], Loc::Reg(_))
    {
        mi.s.swap(0, 1);
    }
    mi
}

/// How many vector registers an instruction needs for operands in memory, and for a result that goes there.
fn needed(m: &Mir, loc: &[Loc], mi: &Mi) -> u8 {
    let out = |v: V| v != NONE && m.regs[v as usize].class == Class::X && !matches!(loc[v as usize], Loc::Reg(_));
    let n = |v: V| u8::from(out(v));
    let mi = &ordered(loc, mi);
    let [a, b, c] = mi.s;
    match mi.op {
        Op::X2(_) | Op::Load(_) | Op::Const => n(mi.d),
        Op::R2(_) | Op::Mov => n(a).max(n(mi.d)),
        // Memory comes to the result, and the other operand is memory.
        Op::X3(_) if mi.commutes && b == NONE => n(mi.d),
        Op::X3(_) | Op::XMask(_) if out(a) && fits_target(loc, mi, 0) => 0,
        Op::X3(_) | Op::XMask(_) => n(a).max(n(mi.d)),
        Op::X4(_) | Op::XBlend if out(a) && fits_target(loc, mi, 0) => n(c),
        Op::X4(_) | Op::XBlend => (n(a) + n(c)).max(n(mi.d)),
        Op::Fma(_) => {
            let is_d = |v: V| v != NONE && !out(v) && loc[v as usize] == loc[mi.d as usize];
            if is_d(c) {
                n(a)
            } else if is_d(a) || is_d(b) {
                let other = if is_d(a) { b } else { a };
                if b == NONE || c != NONE && !out(c) { n(c) } else { n(other) }
            } else {
                n(mi.d) + n(a)
            }
        }
        Op::XGather(_) => n(mi.d) + n(a) + n(c),
        Op::Store(_) | Op::GAny | Op::If | Op::XTest(_) => n(a),
        Op::LaneGather(_) | Op::LaneScatter(_) | Op::Call(_) => n(a).max(n(b)).max(n(c)).max(n(mi.d)),
        Op::Dead | Op::G3(_) | Op::GShift(_) | Op::GNeg | Op::GNot | Op::GCmp(_) | Op::GPick(_) | Op::GSelect => 0,
        Op::GDiv(..) | Op::GMulHigh(_) | Op::Loop | Op::EndLoop | Op::EndIf => 0,
    }
}

fn scan(m: &Mir, live: &[Live], calls: &Calls, order: &[u32], xs: u32) -> Assignment {
    let mut loc = vec![Loc::Nowhere; live.len()];
    let mut s = Scan { free: [G_ALL, xs], holds: [[NONE; 32]; 2], least: [0; 2] };
    let mut saved = 0u32;
    let mut out: Vec<V> = vec![];
    let mut call = 0usize;
    let mut rare = Vec::with_capacity(calls.rare.len());
    for &v in order {
        let l = live[v as usize];
        if v < ARGUMENTS && m.uses[v as usize] == 0 {
            continue;
        }
        while let Some(&c) = calls.rare.get(rare.len()).filter(|c| *c * 2 < l.start) {
            rare.push((c, s.held(live, c)));
        }
        let class = m.regs[v as usize].class as usize;
        // Those that have ended.
        if s.least[class] < l.start {
            let mut busy = !s.free[class] & if class == 0 { G_ALL } else { xs };
            let mut least = u32::MAX;
            while busy != 0 {
                let r = busy.trailing_zeros() as usize;
                busy &= busy - 1;
                let end = live[s.holds[class][r] as usize].end;
                if end < l.start {
                    s.free[class] |= 1 << r;
                } else {
                    least = least.min(end);
                }
            }
            s.least[class] = least;
        }
        while calls.often.get(call).is_some_and(|c| c * 2 < l.start) {
            call += 1;
        }
        let crosses = calls.often.get(call).is_some_and(|c| c * 2 < l.end);
        let allowed = match (crosses, class) {
            (false, 0) => G_ALL,
            (false, _) if m.regs[v as usize].width == 64 => xs,
            (false, _) => xs & !X_HIGH,
            (true, 0) => G_SAVED,
            (true, _) => 0,
        };
        let place = |s: &mut Scan, loc: &mut Vec<Loc>, r: u8| {
            s.free[class] &= !(1 << r);
            s.holds[class][r as usize] = v;
            s.least[class] = s.least[class].min(l.end);
            loc[v as usize] = Loc::Reg(r);
        };
        // Arguments stay where they are given, but over a call, which keeps none of those registers.
        if v < ARGUMENTS && !crosses {
            let r = ARGUMENT_REGS[v as usize];
            place(&mut s, &mut loc, r);
            continue;
        }
        let free = s.free[class] & allowed;
        if free != 0 {
            let hinted = match l.hint {
                NONE => None,
                h => match loc[h as usize] {
                    Loc::Reg(r) if free & (1 << r) != 0 => Some(r),
                    _ => None,
                },
            };
            // Registers that need no saving come first, and those that others cannot have.
            let cheap = if class == 0 { free & !G_SAVED } else { free & X_HIGH };
            let r = hinted.unwrap_or(if cheap != 0 { cheap } else { free }.trailing_zeros() as u8);
            place(&mut s, &mut loc, r);
            continue;
        }
        // The one that is read least for its length goes to memory.
        let cost = |v: V| {
            let l = &live[v as usize];
            l.weight / (l.end - l.start + 4) as f32
        };
        let (mut worst, mut lowest) = (None, cost(v));
        let mut busy = allowed;
        while busy != 0 {
            let r = busy.trailing_zeros() as u8;
            busy &= busy - 1;
            let c = cost(s.holds[class][r as usize]);
            if c < lowest {
                (worst, lowest) = (Some(r), c);
            }
        }
        match worst {
            Some(r) => {
                let w = s.holds[class][r as usize];
                loc[w as usize] = Loc::Slot(0);
                out.push(w);
                place(&mut s, &mut loc, r);
            }
            None => {
                loc[v as usize] = Loc::Slot(0);
                out.push(v);
            }
        }
    }
    while let Some(&c) = calls.rare.get(rare.len()) {
        rare.push((c, s.held(live, c)));
    }
    let mut slots: Vec<V> = vec![];
    for v in out {
        if m.regs[v as usize].constant.is_some() {
            loc[v as usize] = Loc::Constant;
        } else {
            slots.push(v);
        }
    }
    let frame = frame(m, live, &mut loc, slots);
    let mut constants = vec![];
    for (v, info) in m.regs.iter().enumerate() {
        match (info.constant, loc[v]) {
            (Some(_), Loc::Reg(_)) => constants.push((live[v].start / 2, v as V)),
            (Some(_), Loc::Nowhere) => loc[v] = Loc::Constant,
            _ => {}
        }
        if let (Class::G, Loc::Reg(r)) = (info.class, loc[v]) {
            saved |= G_SAVED & (1 << r);
        }
    }
    constants.sort_unstable();
    Assignment { loc, constants, frame, saved, rare }
}

/// Slots, shared by those that do not live at the same time.
fn frame(m: &Mir, live: &[Live], loc: &mut [Loc], mut slots: Vec<V>) -> u32 {
    slots.sort_unstable_by_key(|v| (live[*v as usize].start, *v));
    let mut frame = 0u32;
    for width in [64u8, 32, 16, 8] {
        let mut busy: std::collections::BinaryHeap<std::cmp::Reverse<(u32, u32)>> = Default::default();
        for v in &slots {
            let info = &m.regs[*v as usize];
            let w = if info.width < 8 { 8 } else { info.width };
            if w != width {
                continue;
            }
            let l = &live[*v as usize];
            let at = match busy.peek() {
                Some(std::cmp::Reverse((end, at))) if *end < l.start => {
                    let at = *at;
                    busy.pop();
                    at
                }
                _ => {
                    frame += u32::from(width);
                    frame - u32::from(width)
                }
            };
            busy.push(std::cmp::Reverse((l.end, at)));
            loc[*v as usize] = Loc::Slot(at);
        }
    }
    frame
}
