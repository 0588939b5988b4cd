//! The assembler: instructions with machine registers become bytes, constants follow the code, and jumps are patched.

use super::mir::Constant;
use iced_x86::{Code, Encoder, Instruction, OpKind, Register};
use rustc_hash::FxHashMap;

/// An operand.
#[derive(Clone, Copy, Debug)]
pub enum Arg {
    R(Register),
    M(Place),
    I(i64),
}

/// Memory.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    At {
        base: Register,
        index: Register,
        scale: u8,
        disp: i32,
    },
    /// A constant, by number.
    Pool(u32),
    /// The address of a function, by number.
    Function(u32),
}

/// Code as it grows.
pub struct Asm {
    encoder: Encoder,
    pub len: usize,
    /// Where displacements wait for the place of a constant: their position, the end of their instruction, what they name.
    waiting: Vec<(usize, usize, Place)>,
    pool: Vec<([u8; 64], u8)>,
    known: FxHashMap<(Constant, u8), u32>,
    patches: Vec<(usize, i32)>,
    fault: Option<String>,
    /// Every instruction, to compare with what a decoder says.
    #[cfg(test)]
    listing: Vec<(usize, Instruction)>,
}

/// The finished bytes: code, the table of functions, constants.
pub struct Bytes {
    pub bytes: Vec<u8>,
    /// Where instructions end.
    pub code: usize,
    /// Where the addresses of functions go, 8 bytes each.
    pub functions: usize,
}

impl Asm {
    pub fn new() -> Asm {
        Asm {
            encoder: Encoder::new(64),
            len: 0,
            waiting: vec![],
            pool: vec![],
            known: FxHashMap::default(),
            patches: vec![],
            fault: None,
            #[cfg(test)]
            listing: vec![],
        }
    }

    /// One instruction.
    pub fn ins(&mut self, code: Code, args: &[Arg]) {
        self.masked(code, args, Register::None);
    }

    /// One under a mask register.
    pub fn masked(&mut self, code: Code, args: &[Arg], mask: Register) {
        let mut i = Instruction::default();
        i.set_code(code);
        i.set_op_mask(mask);
        let mut waits = None;
        for (n, arg) in args.iter().enumerate() {
            let n = n as u32;
            match *arg {
                Arg::R(r) => {
                    i.set_op_kind(n, OpKind::Register);
                    i.set_op_register(n, r);
                }
                Arg::M(place) => {
                    i.set_op_kind(n, OpKind::Memory);
                    match place {
                        Place::At { base, index, scale, disp } => {
                            i.set_memory_base(base);
                            i.set_memory_index(index);
                            i.set_memory_index_scale(scale.into());
                            i.set_memory_displacement64(disp as i64 as u64);
                            i.set_memory_displ_size(if disp == 0 { 0 } else { 1 });
                        }
                        Place::Pool(_) | Place::Function(_) => {
                            i.set_memory_base(Register::RIP);
                            i.set_memory_displacement64(self.len as u64 + 0x100);
                            i.set_memory_displ_size(8);
                            waits = Some(place);
                        }
                    }
                }
                Arg::I(v) => {
                    let kind = match code {
                        Code::Add_rm64_imm8
                        | Code::Sub_rm64_imm8
                        | Code::And_rm64_imm8
                        | Code::Or_rm64_imm8
                        | Code::Xor_rm64_imm8
                        | Code::Cmp_rm64_imm8
                        | Code::Imul_r64_rm64_imm8 => OpKind::Immediate8to64,
                        Code::Add_rm32_imm8
                        | Code::Sub_rm32_imm8
                        | Code::And_rm32_imm8
                        | Code::Or_rm32_imm8
                        | Code::Xor_rm32_imm8
                        | Code::Cmp_rm32_imm8
                        | Code::Imul_r32_rm32_imm8 => OpKind::Immediate8to32,
                        Code::Add_rm64_imm32
                        | Code::Sub_rm64_imm32
                        | Code::And_rm64_imm32
                        | Code::Or_rm64_imm32
                        | Code::Xor_rm64_imm32
                        | Code::Cmp_rm64_imm32
                        | Code::Mov_rm64_imm32
                        | Code::Imul_r64_rm64_imm32 => OpKind::Immediate32to64,
                        Code::Add_rm32_imm32
                        | Code::Sub_rm32_imm32
                        | Code::And_rm32_imm32
                        | Code::Or_rm32_imm32
                        | Code::Xor_rm32_imm32
                        | Code::Cmp_rm32_imm32
                        | Code::Imul_r32_rm32_imm32
                        | Code::Mov_r32_imm32 => OpKind::Immediate32,
                        Code::Mov_r64_imm64 => OpKind::Immediate64,
                        _ => OpKind::Immediate8,
                    };
                    i.set_op_kind(n, kind);
                    match kind {
                        OpKind::Immediate8to64 => i.set_immediate8to64(v),
                        OpKind::Immediate8to32 => i.set_immediate8to32(v as i32),
                        OpKind::Immediate32to64 => i.set_immediate32to64(v),
                        OpKind::Immediate32 => i.set_immediate32(v as u32),
                        OpKind::Immediate64 => i.set_immediate64(v as u64),
                        _ => i.set_immediate8(v as u8),
                    }
                }
            }
        }
        match self.encoder.encode(&i, self.len as u64) {
            Ok(n) => {
                #[cfg(test)]
                self.listing.push((self.len, i));
                if let Some(place) = waits {
                    let at = self.len + self.encoder.get_constant_offsets().displacement_offset();
                    self.waiting.push((at, self.len + n, place));
                }
                self.len += n;
            }
            Err(e) => {
                self.fault.get_or_insert_with(|| format!("{code:?} {args:?}: {e}"));
            }
        }
    }

    fn raw(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.encoder.write_u8(*b);
        }
        self.len += bytes.len();
    }

    /// A conditional jump forwards; [`Asm::land`] says where to.
    pub fn jump_if(&mut self, condition: u8) -> usize {
        self.raw(&[0x0f, 0x80 | condition, 0, 0, 0, 0]);
        self.len
    }
    /// Here the jump ends.
    pub fn land(&mut self, jump: usize) {
        self.patches.push((jump, self.len as i32 - jump as i32));
    }
    /// A conditional jump backwards.
    pub fn jump_back_if(&mut self, condition: u8, target: usize) {
        let short = target as i64 - (self.len as i64 + 2);
        if short >= -128 {
            self.raw(&[0x70 | condition, short as u8]);
        } else {
            let long = (target as i64 - (self.len as i64 + 6)) as i32;
            let b = long.to_le_bytes();
            self.raw(&[0x0f, 0x80 | condition, b[0], b[1], b[2], b[3]]);
        }
    }
    /// No operations, up to a multiple of 16.
    pub fn align(&mut self) {
        const NOPS: [&[u8]; 9] = [
            &[0x90],
            &[0x66, 0x90],
            &[0x0f, 0x1f, 0x00],
            &[0x0f, 0x1f, 0x40, 0x00],
            &[0x0f, 0x1f, 0x44, 0x00, 0x00],
            &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
            &[0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
            &[0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
            &[0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
        ];
        let mut gap = self.len.wrapping_neg() & 15;
        while gap > 0 {
            let n = gap.min(9);
            self.raw(NOPS[n - 1]);
            gap -= n;
        }
    }

    /// A constant of so many bytes in memory.
    pub fn constant(&mut self, c: Constant, tables: &[[u8; 64]], width: u8) -> Place {
        let pool = &mut self.pool;
        let number = *self.known.entry((c, width)).or_insert_with(|| {
            let mut bytes = [0u8; 64];
            match c {
                Constant::Splat(bits, 4) => {
                    for four in bytes.chunks_exact_mut(4) {
                        four.copy_from_slice(&(bits as u32).to_le_bytes());
                    }
                }
                Constant::Splat(bits, _) => {
                    for eight in bytes.chunks_exact_mut(8) {
                        eight.copy_from_slice(&bits.to_le_bytes());
                    }
                }
                Constant::Table(n) => bytes = tables.get(n as usize).copied().unwrap_or(bytes),
            }
            pool.push((bytes, width));
            (pool.len() - 1) as u32
        });
        Place::Pool(number)
    }

    /// Places constants and patches. The code starts at a multiple of 64.
    pub fn finish(mut self, functions: usize) -> Result<Bytes, String> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let mut bytes = self.encoder.take_buffer();
        let code = bytes.len();
        for (at, by) in &self.patches {
            bytes[at - 4..*at].copy_from_slice(&by.to_le_bytes());
        }
        let mut places = vec![0usize; self.pool.len()];
        let align = match self.pool.iter().map(|p| p.1).max() {
            Some(64) => 64,
            Some(16..) => 32,
            _ => 8,
        };
        bytes.resize(bytes.len().next_multiple_of(align), 0xcc);
        for width in [64u8, 32, 16, 8] {
            for (place, (value, _)) in places.iter_mut().zip(&self.pool).filter(|(_, (_, w))| *w == width) {
                *place = bytes.len();
                bytes.extend_from_slice(&value[..width as usize]);
            }
        }
        let table = bytes.len();
        bytes.resize(table + functions * 8, 0);
        for width in [4u8, 2, 1] {
            for (place, (value, _)) in places.iter_mut().zip(&self.pool).filter(|(_, (_, w))| *w == width) {
                *place = bytes.len();
                bytes.extend_from_slice(&value[..width as usize]);
            }
        }
        for (at, end, what) in self.waiting.drain(..) {
            let target = match what {
                Place::Pool(n) => places[n as usize],
                Place::Function(n) => table + n as usize * 8,
                Place::At { .. } => continue,
            };
            bytes[at..at + 4].copy_from_slice(&((target as i64 - end as i64) as i32).to_le_bytes());
        }
        #[cfg(test)]
        super::tests::decoded(&self.listing, &bytes, code)?;
        Ok(Bytes { bytes, code, functions: table })
    }
}
