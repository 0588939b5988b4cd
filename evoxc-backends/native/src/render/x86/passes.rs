//! Passes over [`Mir`] before registers are chosen, each linear: what is not used goes, loads move into their users,
//! copies into what makes the value.

use super::mir::*;

/// Drops what nothing reads.
pub fn sweep(m: &mut Mir) {
    for k in (0..m.code.len()).rev() {
        let mi = m.code[k];
        if mi.has_effect() || mi.op == Op::Dead || mi.d != NONE && m.uses[mi.d as usize] != 0 {
            continue;
        }
        for v in mi.reads() {
            m.uses[v as usize] -= 1;
        }
        m.code[k].op = Op::Dead;
        m.code[k].d = NONE;
        // What a comparison was for.
        if mi.op == Op::XBlend && mi.s[2] == NONE && k > 0 {
            for v in m.code[k - 1].reads() {
                m.uses[v as usize] -= 1;
            }
            m.code[k - 1].op = Op::Dead;
        }
    }
}

/// What is known of where a register was written and read, so far.
#[derive(Clone, Copy)]
struct Seen {
    /// The instruction that wrote it last.
    def: u32,
    /// The number of stores and of ends of blocks before that.
    epoch: u32,
    /// The instruction that mentioned it last.
    last: u32,
    /// The number of blocks that had begun or ended before `def`.
    block: u32,
}

/// Single-use loads become operands; `t = …; acc = t` becomes `acc = …`.
pub fn fold(m: &mut Mir) {
    let none = Seen { def: u32::MAX, epoch: 0, last: 0, block: 0 };
    let mut seen = vec![none; m.regs.len()];
    let (mut epoch, mut block) = (1u32, 1u32);
    for k in 0..m.code.len() {
        let mut mi = m.code[k];
        if mi.op == Op::Dead {
            continue;
        }
        if !mi.mem.is_some() {
            match mi.op {
                Op::X2(_) => try_load(m, &seen, &mut mi, 1, epoch),
                Op::X3(_) | Op::X4(_) | Op::XMask(_) | Op::XTest(_) | Op::XBlend => {
                    let [a, b, _] = mi.s;
                    if mi.commutes && loadable(m, &seen, &mi, a, epoch) && !loadable(m, &seen, &mi, b, epoch) {
                        mi.s.swap(0, 1);
                    }
                    try_load(m, &seen, &mut mi, 1, epoch);
                }
                Op::Fma(_) => {
                    if loadable(m, &seen, &mi, mi.s[0], epoch) && !loadable(m, &seen, &mi, mi.s[1], epoch) {
                        mi.s.swap(0, 1);
                    }
                    let constant = |v: V| m.regs[v as usize].constant.is_some();
                    let (factor, sum) = (constant(mi.s[0]) || constant(mi.s[1]), constant(mi.s[2]));
                    // One operand is memory, and a constant may become that.
                    if !sum {
                        try_load(m, &seen, &mut mi, 1, epoch);
                    }
                    if !mi.mem.is_some() && !factor {
                        try_load(m, &seen, &mut mi, 2, epoch);
                    }
                }
                _ => {}
            }
        }
        if mi.op == Op::Mov && !m.regs[mi.d as usize].single {
            let (d, t) = (mi.d as usize, mi.s[0] as usize);
            let (made, target) = (seen[t], seen[d]);
            let ok = m.regs[t].single
                && m.uses[t] == 1
                && m.regs[t].constant.is_none()
                && m.regs[t].width == m.regs[d].width
                && made.def != u32::MAX
                && made.block == block
                && (target.def == u32::MAX || target.last <= made.def);
            if ok {
                let maker = &mut m.code[made.def as usize];
                if !maker.reads_late() && maker.op != Op::Dead && maker.d == t as V {
                    maker.d = d as V;
                    m.uses[t] = 0;
                    m.code[k].op = Op::Dead;
                    seen[d] = Seen { def: made.def, epoch: made.epoch, last: k as u32, block };
                    continue;
                }
            }
        }
        m.code[k] = mi;
        if mi.is_barrier() {
            epoch += 1;
            if !matches!(mi.op, Op::Store(_) | Op::LaneScatter(_) | Op::Call(_)) {
                block += 1;
            }
        }
        for v in mi.reads() {
            seen[v as usize].last = k as u32;
        }
        if mi.d != NONE {
            // An address must not be read after one of its registers changed.
            if !m.regs[mi.d as usize].single && m.regs[mi.d as usize].class == Class::G {
                epoch += 1;
            }
            seen[mi.d as usize] = Seen { def: k as u32, epoch, last: k as u32, block };
        }
    }
}

/// Can the load that made `v` be done here instead?
fn loadable(m: &Mir, seen: &[Seen], mi: &Mi, v: V, epoch: u32) -> bool {
    if v == NONE || m.uses[v as usize] != 1 {
        return false;
    }
    let s = seen[v as usize];
    if s.def == u32::MAX || s.epoch != epoch || !m.regs[v as usize].single {
        return false;
    }
    let load = &m.code[s.def as usize];
    matches!(load.op, Op::Load(_)) && load.d == v && load.w == mi.w
}

fn try_load(m: &mut Mir, seen: &[Seen], mi: &mut Mi, slot: usize, epoch: u32) {
    let v = mi.s[slot];
    if !loadable(m, seen, mi, v, epoch) {
        return;
    }
    let load = &mut m.code[seen[v as usize].def as usize];
    mi.mem = load.mem;
    mi.s[slot] = NONE;
    load.op = Op::Dead;
    load.d = NONE;
    m.uses[v as usize] = 0;
}
