//! Kernels as text, for people: `EVOXC_DUMP=uops`.
//!
//! ```text
//! buffers: b0 f32, b1 f32 written
//! loops: r0 < 8, r1 < p0
//! v0 = max(r2 < 64: b0[r0 * 64 + r2])
//! b1[r0 * 64 + r1] = exp(b0[r0 * 64 + r1] - v0)
//! ```

use super::{in_order, roots};
use crate::kernel::Kernel;
use crate::uop::{Alu, LibFn, Op, UOp};
use evoxc_core::DType;
use evoxc_ir::{Binary, Direction, SortOrder};
use half::{bf16, f16};
use std::fmt::{self, Write};

/// Expressions longer than this have a line of their own.
const LINE: usize = 100;

/// How tightly the parts of an expression hold together.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Tight {
    Choice,
    Bits,
    Compare,
    Sum,
    Product,
    Whole,
}
use Tight::*;

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut p =
            Printer { k: self, text: vec![(String::new(), Whole); self.uops.len()], lines: String::new(), named: 0 };
        let order = in_order(&self.uops, roots(self));
        let mut uses = vec![0u32; self.uops.len()];
        order.iter().flat_map(|&u| self.uops.src(u)).for_each(|s| uses[s.index()] += 1);
        for u in order {
            p.node(u, uses[u.index()] > 1);
        }
        f.write_str("buffers: ")?;
        for (n, b) in self.buffers.iter().enumerate() {
            write!(f, "{}b{n} {}{}", comma(n), b.dtype, if b.written { " written" } else { "" })?;
            let shares: Vec<String> = b.shares.iter().map(|s| format!(" or in place of b{s}")).collect();
            f.write_str(&shares.concat())?;
        }
        for (n, s) in self.scratch.iter().enumerate() {
            let head = if n == 0 { "\nscratch: " } else { ", " };
            write!(f, "{head}s{n} {}[{}]", s.dtype, p.text[s.len.index()].0)?;
        }
        f.write_str("\nloops: ")?;
        for (n, &l) in self.loops.iter().enumerate() {
            write!(f, "{}{}", comma(n), p.range(l))?;
        }
        writeln!(f)?;
        f.write_str(&p.lines)
    }
}

fn comma(n: usize) -> &'static str {
    if n == 0 { "" } else { ", " }
}

struct Printer<'a> {
    k: &'a Kernel,
    /// By node, what stands for it.
    text: Vec<(String, Tight)>,
    lines: String,
    named: usize,
}

impl Printer<'_> {
    fn range(&self, r: UOp) -> String {
        let size = self.k.uops.src(r).first().map_or("?", |s| &self.text[s.index()].0);
        format!("{} < {size}", self.text[r.index()].0)
    }
    /// Source `n`, in brackets if it is less tight.
    fn src(&self, u: UOp, n: usize, tight: Tight) -> String {
        match self.k.uops.src(u).get(n).map(|s| &self.text[s.index()]) {
            Some((text, of)) if *of >= tight => text.clone(),
            Some((text, _)) => format!("({text})"),
            None => "?".into(),
        }
    }
    fn call(&self, u: UOp, name: impl fmt::Display) -> (String, Tight) {
        let src: Vec<String> = (0..self.k.uops.src(u).len()).map(|n| self.src(u, n, Choice)).collect();
        (format!("{name}({})", src.join(", ")), Whole)
    }
    fn infix(&self, u: UOp, op: &str, tight: Tight) -> (String, Tight) {
        let right = match tight {
            Sum => Product,
            Compare => Sum,
            _ => Whole,
        };
        let left = if tight == Compare { Sum } else { tight };
        // `x - 5` rather than `x + -5`.
        if let (Sum, "+", Some(&y)) = (tight, op, self.k.uops.src(u).get(1))
            && let (Op::Const(_), Some(number)) = (self.k.uops.op(y), self.text[y.index()].0.strip_prefix('-'))
        {
            return (format!("{} - {number}", self.src(u, 0, left)), tight);
        }
        (format!("{} {op} {}", self.src(u, 0, left), self.src(u, 1, right)), tight)
    }
    /// `x & y & z`; other ops of bits, and comparisons, stand in brackets.
    fn bits(&self, u: UOp, op: &str) -> (String, Tight) {
        let a = &self.k.uops;
        let alike = a.src(u).first().is_some_and(|&x| a.op(x) == a.op(u));
        let left = self.src(u, 0, if alike { Bits } else { Sum });
        (format!("{left} {op} {}", self.src(u, 1, Sum)), Bits)
    }
    /// What is done only where source `n` holds, if there is one.
    fn gated(&self, u: UOp, text: String, n: usize) -> (String, Tight) {
        match self.k.uops.src(u).len() > n {
            true => (format!("{} ? {text} : {}", self.src(u, n, Bits), self.src(u, n + 1, Bits)), Choice),
            false => (text, Whole),
        }
    }
    fn ranges(&self, u: UOp) -> String {
        let all: Vec<String> = self.k.uops.src(u).iter().skip(1).map(|&r| self.range(r)).collect();
        all.join(", ")
    }
    fn node(&mut self, u: UOp, shared: bool) {
        let node = self.k.uops.get(u);
        let dtype = node.ty.dtype;
        let (text, tight) = match node.op {
            Op::Const(bits) => (number(dtype, bits), Whole),
            Op::Param(n) => (format!("p{n}"), Whole),
            Op::Buffer(n) => (format!("b{n}"), Whole),
            Op::Scratch(n) => (format!("s{n}"), Whole),
            Op::Range(n, _) => (format!("r{n}"), Whole),
            Op::Unary(op) => self.call(u, op.name()),
            Op::Binary(Binary::Add) | Op::Alu(Alu::Add) => self.infix(u, "+", Sum),
            Op::Binary(Binary::Sub) | Op::Alu(Alu::Sub) => self.infix(u, "-", Sum),
            Op::Binary(Binary::Mul) | Op::Alu(Alu::Mul) => self.infix(u, "*", Product),
            Op::Binary(Binary::Div) | Op::Alu(Alu::Div | Alu::IntDiv) | Op::IndexDiv => self.infix(u, "/", Product),
            Op::IndexMod => self.infix(u, "%", Product),
            Op::Binary(Binary::And) | Op::Alu(Alu::And) => self.bits(u, "&"),
            Op::Binary(Binary::Or) | Op::Alu(Alu::Or) => self.bits(u, "|"),
            Op::Binary(Binary::Xor) | Op::Alu(Alu::Xor) => self.bits(u, "^"),
            Op::Binary(op) => self.call(u, op.name()),
            Op::Compare(direction, SortOrder::Ieee) => self.infix(u, sign(direction), Compare),
            Op::Compare(direction, SortOrder::Total) => self.call(u, format!("total_{}", direction.word())),
            Op::Alu(Alu::Lt) => self.infix(u, "<", Compare),
            Op::Alu(Alu::Le) => self.infix(u, "<=", Compare),
            Op::Alu(Alu::Eq) => self.infix(u, "==", Compare),
            Op::Alu(Alu::Ne) => self.infix(u, "!=", Compare),
            Op::Alu(Alu::Select) => {
                let [c, x, y] = [0, 1, 2].map(|n| self.src(u, n, Bits));
                (format!("{c} ? {x} : {y}"), Choice)
            }
            Op::Alu(op) => self.call(u, format!("{op:?}").to_lowercase()),
            Op::Convert => self.call(u, format!("convert_{dtype}")),
            Op::Cast => self.call(u, dtype),
            Op::Bitcast => self.call(u, format!("bits_{dtype}")),
            Op::ReducePrecision(e, m) => self.call(u, format!("reduce_precision_e{e}m{m}")),
            Op::Call(f) => {
                let (name, arity, single) = match f {
                    LibFn::Unary(op, single) => (op.name(), 1, single),
                    LibFn::Binary(op, single) => (op.name(), 2, single),
                };
                let arguments: Vec<String> = (0..arity).map(|n| self.src(u, n, Choice)).collect();
                let call = format!("lib_{name}{}({})", if single { "_f32" } else { "" }, arguments.join(", "));
                self.gated(u, call, arity)
            }
            Op::Load => {
                let load = format!("{}[{}]", self.src(u, 0, Whole), self.src(u, 1, Choice));
                self.gated(u, load, 2)
            }
            Op::Store => {
                let gate = if node.src.len() > 3 { format!("if {}: ", self.src(u, 3, Choice)) } else { String::new() };
                let [memory, index, value] = [(0, Whole), (1, Choice), (2, Choice)].map(|(n, t)| self.src(u, n, t));
                let store = format!("{gate}{memory}[{index}] = {value}");
                if self.k.stores.contains(&u) {
                    let _ = writeln!(self.lines, "{store}");
                }
                (store, Choice)
            }
            Op::Reduce(reducer) => {
                (format!("{}({}: {})", reducer.word(), self.ranges(u), self.src(u, 0, Choice)), Whole)
            }
            Op::End => (format!("for {}: {}", self.ranges(u), self.src(u, 0, Choice)), Choice),
            Op::After => {
                let ends: Vec<String> = (1..node.src.len()).map(|n| self.src(u, n, Whole)).collect();
                (format!("{}@{}", self.src(u, 0, Whole), ends.join("@")), Whole)
            }
        };
        let own_line = match node.op {
            Op::Reduce(_) | Op::End => true,
            Op::Store | Op::After => false,
            Op::Range(..) => false,
            // Short enough to be read twice.
            Op::Load if text.len() < LINE / 4 => false,
            _ => !node.src.is_empty() && (text.len() > LINE || shared),
        };
        self.text[u.index()] = if own_line {
            let name = format!("v{}", self.named);
            self.named += 1;
            let _ = writeln!(self.lines, "{name} = {text}");
            (name, Whole)
        } else {
            (text, tight)
        };
    }
}

fn sign(d: Direction) -> &'static str {
    match d {
        Direction::Lt => "<",
        Direction::Le => "<=",
        Direction::Gt => ">",
        Direction::Ge => ">=",
        Direction::Eq => "==",
        Direction::Ne => "!=",
    }
}

fn number(d: DType, bits: u64) -> String {
    match d {
        DType::BOOL => (bits != 0).to_string(),
        DType::I8 => (bits as i8).to_string(),
        DType::I16 => (bits as i16).to_string(),
        DType::I32 => (bits as i32).to_string(),
        DType::I64 => (bits as i64).to_string(),
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => bits.to_string(),
        DType::F16 => format!("{:?}", f16::from_bits(bits as u16).to_f32()),
        DType::BF16 => format!("{:?}", bf16::from_bits(bits as u16).to_f32()),
        DType::F32 => format!("{:?}", f32::from_bits(bits as u32)),
        DType::F64 => format!("{:?}", f64::from_bits(bits)),
        DType::C64 | DType::C128 => format!("{bits:#x}"),
    }
}
