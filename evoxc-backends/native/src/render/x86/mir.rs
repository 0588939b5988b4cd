//! Instructions of the machine before registers are chosen: one [`Mi`] is one instruction, or a short fixed sequence, on
//! virtual registers of two classes.

use iced_x86::Code;

/// A virtual register.
pub type V = u32;
/// No register.
pub const NONE: V = u32::MAX;

/// An address: `base + index * scale + disp`.
#[derive(Clone, Copy, Debug)]
pub struct Mem {
    pub base: V,
    pub index: V,
    pub scale: u8,
    pub disp: i32,
}

impl Mem {
    pub const NONE: Mem = Mem { base: NONE, index: NONE, scale: 1, disp: 0 };
    pub fn at(base: V, disp: i32) -> Mem {
        Mem { base, index: NONE, scale: 1, disp }
    }
    pub fn is_some(&self) -> bool {
        self.base != NONE
    }
}

/// Integer arithmetic of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum G {
    Add,
    Sub,
    And,
    Or,
    Xor,
    Imul,
}

/// Shifts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    Shl,
    Shr,
    Sar,
}

/// What a comparison of integers asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cc {
    E,
    Ne,
    /// Signed less, and so on.
    L,
    Le,
    G,
    Ge,
    /// Unsigned less, and so on.
    B,
    Be,
    A,
    Ae,
}

impl Cc {
    /// What holds where this one does not.
    pub fn inverse(self) -> Cc {
        match self {
            Cc::E => Cc::Ne,
            Cc::Ne => Cc::E,
            Cc::L => Cc::Ge,
            Cc::Le => Cc::G,
            Cc::G => Cc::Le,
            Cc::Ge => Cc::L,
            Cc::B => Cc::Ae,
            Cc::Be => Cc::A,
            Cc::A => Cc::Be,
            Cc::Ae => Cc::B,
        }
    }
    /// Its number in the encodings of jcc, setcc, cmovcc.
    pub fn number(self) -> u8 {
        match self {
            Cc::E => 4,
            Cc::Ne => 5,
            Cc::L => 12,
            Cc::Ge => 13,
            Cc::Le => 14,
            Cc::G => 15,
            Cc::B => 2,
            Cc::Ae => 3,
            Cc::Be => 6,
            Cc::A => 7,
        }
    }
}

/// What an [`Mi`] does. `d` is what it writes, `s` what it reads; "rm" may be memory: `mem` where `s` there is [`NONE`].
/// `w` is the width in bytes of what it reads or writes in memory, or of an integer operation. Codes have registers of the
/// classes that the virtual registers have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Nothing.
    Dead,
    /// `d = code(rm s1)`.
    X2(Code),
    /// `d = code(s0)`, without memory.
    R2(Code),
    /// `d = code(s0, rm s1)`.
    X3(Code),
    /// `d = code(s0, rm s1, s2)`: blends.
    X4(Code),
    /// `d = code(s0, rm s1)`, where the code writes a mask register: its bits as lanes of 32 bits, all ones or none.
    XMask(Code),
    /// `code(s0, rm s1)`, where the code writes a mask register, for the next instruction alone.
    XTest(Code),
    /// `d = s2 ? s1 : s0` of lanes of 32 bits of 512; rm `s1`. The mask is that of [`Op::XTest`] where `s2` is [`NONE`].
    XBlend,
    /// `d = s0 * s1 + s2`, one of them rm: the codes of the forms 132, 213, 231. Memory is `s1`, or `s2` if that is `NONE`.
    Fma([Code; 3]),
    /// `d = code(mem)`, and nothing else.
    Load(Code),
    /// `mem = code(s0)`.
    Store(Code),
    /// `d = s0`.
    Mov,
    /// `d` = the value of the constant register of number `imm`.
    Const,
    /// `d = s0 op s1`, or `op imm` where `s1` is `NONE`.
    G3(G),
    /// `d = s0 shift s1`, or `shift imm`.
    GShift(Shift),
    /// `d = -s0`.
    GNeg,
    /// `d = !s0`.
    GNot,
    /// `d = s0 cc s1`, as 0 or 1; `imm` where `s1` is `NONE`.
    GCmp(Cc),
    /// `d = s0 cc s1 ? s0 : s1`.
    GPick(Cc),
    /// `d = s0 != 0 ? s1 : s2`.
    GSelect,
    /// `d` = does a lane of the mask `s0` hold, as 0 or 1.
    GAny,
    /// `d = s0 / s1` or what it leaves: signed? remainder?
    GDiv(bool, bool),
    /// `d` = high half of the product: signed?
    GMulHigh(bool),
    /// `d = gather(code) of mem.base + s0 * scale where s2 holds, else s1`; `s2` is destroyed.
    XGather(Code),
    /// Lane by lane: `d = memory[s0]` where `s1` holds (all lanes if `NONE`), else `s2`. The number of a [`Lanewise`].
    LaneGather(u32),
    /// Lane by lane: `memory[s0] = s2` where `s1` holds.
    LaneScatter(u32),
    /// `d = function(s0, s1)`; `imm` is the number of the function; over `w` bytes in elements of 4 or 8.
    Call(u8),
    /// The start of a loop: `d` is its variable, `s0` where it starts, `s1` where it ends.
    Loop,
    /// The end of a loop: `s0` is its variable, `s1` where it ends, `imm` the step.
    EndLoop,
    /// Skips to its end unless `s0`, or a lane of it, or one of [`Op::XTest`] where it is [`NONE`].
    If,
    /// The end of an [`Op::If`].
    EndIf,
}

/// How a lane-wise gather or scatter goes.
#[derive(Clone, Copy, Debug)]
pub struct Lanewise {
    /// Lanes.
    pub lanes: u8,
    /// Bytes of an element in memory.
    pub size: u8,
    /// Bytes of a lane in registers.
    pub lane: u8,
    /// Bytes of a lane of the index.
    pub index: u8,
    /// The code that loads an element into an integer register, or stores one.
    pub code: Code,
    /// Elements are bools.
    pub truth: bool,
}

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub struct Mi {
    pub op: Op,
    pub w: u8,
    /// Are `s0` and `s1` exchangeable?
    pub commutes: bool,
    pub d: V,
    pub s: [V; 3],
    pub mem: Mem,
    /// An immediate, as the op says; of vectors an 8-bit one where it is not negative.
    pub imm: i32,
}

impl Mi {
    pub fn new(op: Op, w: u8) -> Mi {
        Mi { op, w, commutes: false, d: NONE, s: [NONE; 3], mem: Mem::NONE, imm: -1 }
    }
    /// The registers that it reads.
    pub fn reads(&self) -> impl Iterator<Item = V> + use<> {
        let [a, b, c] = self.s;
        [a, b, c, self.mem.base, self.mem.index].into_iter().filter(|v| *v != NONE)
    }
    /// Must it stay, whether its result is used or not?
    pub fn has_effect(&self) -> bool {
        match self.op {
            Op::XTest(_) | Op::Store(_) | Op::LaneScatter(_) | Op::Loop | Op::EndLoop | Op::If | Op::EndIf => true,
            Op::Dead | Op::X2(_) | Op::R2(_) | Op::X3(_) | Op::X4(_) | Op::Fma(_) | Op::Load(_) | Op::Mov => false,
            Op::XMask(_) | Op::XBlend => false,
            Op::Const | Op::G3(_) | Op::GShift(_) | Op::GNeg | Op::GNot | Op::GCmp(_) | Op::GPick(_) => false,
            Op::GAny
            | Op::GSelect
            | Op::GDiv(..)
            | Op::GMulHigh(_)
            | Op::XGather(_)
            | Op::LaneGather(_)
            | Op::Call(_) => false,
        }
    }
    /// Is memory ordered by it: may a load not be moved across?
    pub fn is_barrier(&self) -> bool {
        let writes = matches!(self.op, Op::Store(_) | Op::LaneScatter(_) | Op::Call(_));
        writes || matches!(self.op, Op::Loop | Op::EndLoop | Op::If | Op::EndIf)
    }
    /// Are its sources read after its result is written?
    pub fn reads_late(&self) -> bool {
        matches!(self.op, Op::XGather(_) | Op::LaneGather(_) | Op::LaneScatter(_))
    }
}

/// The class of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Integers.
    G,
    /// Vectors and floats.
    X,
}

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Constant {
    /// The same bits in elements of 4 or 8 bytes; an integer where the class says so.
    Splat(u64, u8),
    /// 64 bytes, by number; narrower vectors have the first of them.
    Table(u32),
}

/// What is known of a virtual register.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    pub class: Class,
    /// Bytes: 4 or 8 of integers, 16, 32 or 64 of vectors.
    pub width: u8,
    /// Is it written by one instruction alone?
    pub single: bool,
    pub constant: Option<Constant>,
}

/// A function.
#[derive(Default)]
pub struct Mir {
    pub code: Vec<Mi>,
    pub regs: Vec<Info>,
    /// How often each register is read.
    pub uses: Vec<u32>,
    /// Tables of 64 bytes.
    pub tables: Vec<[u8; 64]>,
    /// Descriptions of lane-wise accesses.
    pub lanewise: Vec<Lanewise>,
    /// How many functions it calls.
    pub functions: usize,
}

impl Mir {
    /// A new register.
    pub fn fresh(&mut self, class: Class, width: u8) -> V {
        self.regs.push(Info { class, width, single: true, constant: None });
        self.uses.push(0);
        (self.regs.len() - 1) as V
    }
    /// Appends an instruction.
    pub fn push(&mut self, mi: Mi) {
        for v in mi.reads() {
            self.uses[v as usize] += 1;
        }
        self.code.push(mi);
    }
    /// A constant in a register of its own.
    pub fn constant(&mut self, class: Class, width: u8, c: Constant) -> V {
        let v = self.fresh(class, width);
        self.regs[v as usize].constant = Some(c);
        v
    }
}
