//! The form that a kernel must have, by stage.

use super::{in_order, roots};
use crate::kernel::Kernel;
use crate::uop::{Alu, AxisKind, LibFn, Node, Op, Ty, UOp};
use evoxc_core::{DType, OpError};
use evoxc_ir::Unary;
use rustc_hash::FxHashMap;

/// How far a kernel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// As the scheduler makes it: with ops of the IR.
    Scheduled,
    /// As `decompose` leaves it: machine ops alone.
    Decomposed,
}

/// Checks that a kernel has the form that the stage allows.
///
/// # Errors
/// [`OpError`] with the first node that breaks it, which is a fault of the compiler and none of the user's.
pub fn verify(kernel: &Kernel, stage: Stage) -> Result<(), OpError> {
    let mut v = Verifier { k: kernel, stage, sizes: vec![false; kernel.uops.len()], ranges: FxHashMap::default() };
    for u in in_order(&kernel.uops, roots(kernel)) {
        v.sizes[u.index()] = v.is_size(u);
        v.node(u).map_err(|what| v.error(u, what))?;
    }
    v.kernel()
}

struct Verifier<'a> {
    k: &'a Kernel,
    stage: Stage,
    /// By node: does the value depend on numbers and parameters alone?
    sizes: Vec<bool>,
    /// By number: the range.
    ranges: FxHashMap<u32, UOp>,
}

type Check = Result<(), &'static str>;

fn check(holds: bool, otherwise: &'static str) -> Check {
    if holds { Ok(()) } else { Err(otherwise) }
}

impl Verifier<'_> {
    fn error(&self, u: UOp, what: &str) -> OpError {
        let a = &self.k.uops;
        let node = a.get(u);
        let op = format!("{:?}", node.op);
        OpError::new(op, format!("{what} (node {} of a kernel, {:?}, of type {})", u.index(), self.stage, node.ty))
            .operands(node.src.iter().map(|&s| a.ty(s)))
            .remedy("this is a fault of the compiler: please report it, with the output of EVOXC_DUMP=uops")
    }
    /// Is it known when the kernel is called?
    fn is_size(&self, u: UOp) -> bool {
        let node = self.k.uops.get(u);
        let op = matches!(node.op, Op::Const(_) | Op::Param(_) | Op::Alu(_) | Op::IndexDiv | Op::IndexMod | Op::Cast);
        op && node.src.iter().all(|s| self.sizes[s.index()])
    }
    fn node(&mut self, u: UOp) -> Check {
        let a = &self.k.uops;
        let Node { op, ty, src } = a.get(u).clone();
        check(ty == Ty::VOID || ty.lanes == 1, "vectors come with linearisation")?;
        let of: Vec<Ty> = src.iter().map(|&s| a.ty(s)).collect();
        let leaf = || check(of.is_empty(), "a leaf has no sources");
        let value = check(!ty.pointer && ty != Ty::VOID, "the type is no value's");
        match op {
            Op::Const(bits) => {
                leaf()?;
                value?;
                check(
                    ty.dtype.bits() >= 64 || bits >> ty.dtype.bits() == 0,
                    "the number has more bits than its dtype",
                )?;
                check(ty.dtype != DType::BOOL || bits < 2, "a bool is 0 or 1")
            }
            Op::Param(n) => {
                leaf()?;
                check(ty == Ty::INDEX, "parameters are i64")?;
                check(n < self.k.params, "the kernel has no such parameter")
            }
            Op::Buffer(n) => {
                leaf()?;
                let decl = self.k.buffers.get(n as usize).map(|b| Ty::memory(b.dtype));
                check(decl == Some(ty), "the kernel has no buffer of that number and dtype")
            }
            Op::Scratch(n) => {
                leaf()?;
                let decl = self.k.scratch.get(n as usize).map(|b| Ty::memory(b.dtype));
                check(decl == Some(ty), "the kernel has no scratch memory of that number and dtype")
            }
            Op::Range(n, _) => {
                check(of == [Ty::INDEX] && ty == Ty::INDEX, "a range is an i64 with one i64 as its size")?;
                check(self.sizes[src[0].index()], "a range's size depends on numbers and parameters alone")?;
                check(*self.ranges.entry(n).or_insert(u) == u, "two ranges have one number")
            }
            Op::Unary(op) => {
                self.of_ir()?;
                value?;
                check(of.len() == 1, "it takes one operand")?;
                let to = match op {
                    Unary::IsFinite => DType::BOOL,
                    Unary::Abs | Unary::Real | Unary::Imag => of[0].dtype.real(),
                    _ => of[0].dtype,
                };
                check(of[0].with(to) == ty, "the type does not follow from the operand's")
            }
            Op::Binary(op) => {
                self.of_ir()?;
                value?;
                check(of.len() == 2 && of[0] == of[1], "it takes two operands of one type")?;
                check(op == evoxc_ir::Binary::Complex || of[0] == ty, "the type is that of the operands")
            }
            Op::Compare(..) => {
                self.of_ir()?;
                check(of.len() == 2 && of[0] == of[1], "it takes two operands of one type")?;
                check(ty == Ty::scalar(DType::BOOL), "a comparison is a bool")
            }
            Op::Convert => {
                self.of_ir()?;
                value?;
                check(of.len() == 1 && !of[0].pointer, "it takes one value")
            }
            Op::ReducePrecision(..) => {
                self.of_ir()?;
                check(of == [ty] && ty.dtype.is_float(), "it takes and gives one float")
            }
            Op::Alu(op) => {
                value?;
                alu(op, ty, &of)
            }
            Op::Cast => {
                value?;
                check(of.len() == 1 && !of[0].pointer && of[0] != Ty::VOID, "it takes one value")?;
                check(!of[0].dtype.is_complex() && !ty.dtype.is_complex(), "complex numbers are not cast")
            }
            Op::Bitcast => {
                value?;
                check(of.len() == 1 && !of[0].pointer, "it takes one value")?;
                check(of[0].dtype.size() == ty.dtype.size(), "both dtypes have one size")
            }
            Op::IndexDiv | Op::IndexMod => {
                check(ty == Ty::INDEX && of == [Ty::INDEX, Ty::INDEX], "indices are i64")?;
                check(a.bounds(src[1]).max > 0, "the divisor is positive")
            }
            Op::Call(f) => {
                let (arity, single) = match f {
                    LibFn::Unary(_, single) => (1, single),
                    LibFn::Binary(_, single) => (2, single),
                };
                let on = Ty::scalar(if single { DType::F32 } else { DType::F64 });
                let (arguments, gate) = of.split_at(arity.min(of.len()));
                check(ty == on && arguments.iter().all(|&t| t == on), "it is on f64, or on f32 if single")?;
                check(arguments.len() == arity, "it takes another number of arguments")?;
                let gated = gate == [Ty::scalar(DType::BOOL), ty];
                check(gate.is_empty() || gated, "a gate is a bool, with a value of the type")
            }
            Op::Load => {
                value?;
                self.memory(&src, &of)?;
                check(of[0].dtype == ty.dtype, "the type is that of the memory's elements")?;
                check(self.buffer(src[0]).is_none_or(|n| !self.k.buffers[n].written), "a written buffer is not read")?;
                match of.len() {
                    2 => Ok(()),
                    4 => check(
                        of[2] == Ty::scalar(DType::BOOL) && of[3] == ty,
                        "a gate is a bool, with a value of the type",
                    ),
                    _ => Err("it takes a pointer and an index, or a gate and another value too"),
                }
            }
            Op::Store => {
                check(ty == Ty::VOID, "it has no value")?;
                self.memory(&src, &of)?;
                check(of.len() == 3 || of.len() == 4, "it takes a pointer, an index, a value, or a gate too")?;
                check(of[2] == Ty::scalar(of[0].dtype), "the value is of the memory's dtype")?;
                check(of.get(3).is_none_or(|&t| t == Ty::scalar(DType::BOOL)), "a gate is a bool")?;
                check(
                    self.buffer(src[0]).is_none_or(|n| self.k.buffers[n].written),
                    "only a written buffer is stored to",
                )
            }
            Op::Reduce(_) => {
                value?;
                check(of.first() == Some(&ty), "the type is that of the value")?;
                self.closes(&src)
            }
            Op::End => {
                check(ty == Ty::VOID, "it has no value")?;
                check(src.first().is_some_and(|&s| matches!(a.op(s), Op::Store)), "it closes a store")?;
                self.closes(&src)
            }
            Op::After => {
                check(ty.pointer && of.first() == Some(&ty), "it is the pointer")?;
                let ends = src.get(1..).unwrap_or_default();
                let stores = |&s: &UOp| matches!(a.op(s), Op::End | Op::Store);
                check(!ends.is_empty() && ends.iter().all(stores), "it waits for stores")
            }
        }
    }
    fn of_ir(&self) -> Check {
        check(self.stage == Stage::Scheduled, "ops of the IR are gone after decomposition")
    }
    fn memory(&self, src: &[UOp], of: &[Ty]) -> Check {
        let memory = || matches!(self.k.uops.op(src[0]), Op::Buffer(_) | Op::Scratch(_) | Op::After);
        check(of.len() >= 2 && of[0].pointer && memory(), "it is on memory")?;
        check(of[1] == Ty::INDEX, "an index is an i64")
    }
    /// The buffer that a pointer is, if it is none of scratch memory.
    fn buffer(&self, mut pointer: UOp) -> Option<usize> {
        while self.k.uops.op(pointer) == Op::After {
            pointer = *self.k.uops.src(pointer).first()?;
        }
        match self.k.uops.op(pointer) {
            Op::Buffer(n) => Some(n as usize),
            _ => None,
        }
    }
    fn closes(&self, src: &[UOp]) -> Check {
        let ranges = src.get(1..).unwrap_or_default();
        let reduce = |&r: &UOp| matches!(self.k.uops.op(r), Op::Range(_, AxisKind::Reduce));
        check(!ranges.is_empty() && ranges.iter().all(reduce), "it names ranges of kind reduce")
    }
    fn kernel(&self) -> Result<(), OpError> {
        let a = &self.k.uops;
        let fault = |u: UOp, holds: bool, what: &str| if holds { Ok(()) } else { Err(self.error(u, what)) };
        for &l in &self.k.loops {
            fault(l, matches!(a.op(l), Op::Range(_, AxisKind::Loop)), "a kernel's loops are ranges of kind loop")?;
        }
        for &s in &self.k.stores {
            fault(s, a.op(s) == Op::Store, "a kernel's stores are stores")?;
            let buffer = a.src(s).first().and_then(|&p| self.buffer(p));
            fault(s, buffer.is_some(), "what a kernel stores is in buffers")?;
            fault(
                s,
                a.ranges(s).iter().all(|r| self.k.loops.contains(r)),
                "a range is no loop, and nothing closes it",
            )?;
        }
        for s in &self.k.scratch {
            fault(s.len, self.sizes[s.len.index()] && a.ty(s.len) == Ty::INDEX, "the size of scratch memory is known")?;
        }
        Ok(())
    }
}

/// The types of machine ops.
fn alu(op: Alu, ty: Ty, of: &[Ty]) -> Check {
    check(of.len() == op.arity(), "it takes another number of operands")?;
    if op == Alu::Select {
        check(of[0] == Ty::scalar(DType::BOOL), "a condition is a bool")?;
        return check(of[1] == ty && of[2] == ty, "both values are of the type");
    }
    let d = of[0].dtype;
    check(of.iter().all(|&t| t == of[0]) && !of[0].pointer, "the operands are of one type")?;
    let to = if op.is_comparison() { Ty::scalar(DType::BOOL) } else { of[0] };
    check(ty == to, "the type does not follow from the operands'")?;
    check(d.bits() >= 32 && !d.is_complex() || d.is_bool(), "machine ops are on 32 and 64 bits, and bools")?;
    let on = match op {
        Alu::Eq | Alu::Ne => true,
        Alu::And | Alu::Or | Alu::Xor | Alu::Not => !d.is_float(),
        Alu::IntDiv | Alu::IntRem | Alu::MulHigh | Alu::Shl | Alu::Shr | Alu::Sar => d.is_int(),
        Alu::Div | Alu::Sqrt | Alu::Floor | Alu::Ceil | Alu::RoundEven | Alu::Trunc | Alu::Fma => d.is_float(),
        Alu::Add | Alu::Sub | Alu::Mul | Alu::Min | Alu::Max | Alu::Neg | Alu::Abs | Alu::Lt | Alu::Le => !d.is_bool(),
        Alu::Select => true,
    };
    check(on, "the op is not one of this dtype")
}
