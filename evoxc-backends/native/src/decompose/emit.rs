//! Writing machine ops into an arena: one method an op, constants by value, and the folding of ops on constants, so that
//! decompositions need no special cases for known operands.

use super::Precision;
use crate::uop::{Alu, Arena, LibFn, Op, Ty, UOp, alu, cast};
use evoxc_core::{DType, OpError};

/// Where a kernel is rewritten to.
pub(super) struct Emit {
    pub(super) arena: Arena,
    pub(super) fast: bool,
}

macro_rules! ops {
    ($($name:ident($($x:ident),*) = $op:ident;)*) => {
        $(pub(super) fn $name(&mut self, $($x: UOp),*) -> UOp { self.alu(Alu::$op, &[$($x),*]) })*
    };
}

impl Emit {
    pub(super) fn new(precision: Precision) -> Emit {
        Emit { arena: Arena::new(), fast: precision == Precision::Fast }
    }
    pub(super) fn dtype(&self, x: UOp) -> DType {
        self.arena.ty(x).dtype
    }
    /// The bits of a constant.
    pub(super) fn known(&self, x: UOp) -> Option<u64> {
        self.arena.as_const(x)
    }
    /// A float of the dtype of `x`: `f32` or `f64`.
    pub(super) fn f(&mut self, x: UOp, value: f64) -> UOp {
        let dtype = self.dtype(x);
        self.float(dtype, value)
    }
    pub(super) fn float(&mut self, dtype: DType, value: f64) -> UOp {
        self.arena.constant(dtype, cast(DType::F64, dtype, value.to_bits()))
    }
    /// An integer (or bool, or the bits of a float) of the dtype of `x`, cut to its width.
    pub(super) fn i(&mut self, x: UOp, value: i64) -> UOp {
        let dtype = self.dtype(x);
        self.int(dtype, value)
    }
    pub(super) fn int(&mut self, dtype: DType, value: i64) -> UOp {
        let width = 8 * dtype.size() as u32;
        self.arena.constant(dtype, value as u64 & (!0 >> (64 - width)))
    }

    /// The op, or its value where that is known.
    pub(super) fn alu(&mut self, op: Alu, src: &[UOp]) -> UOp {
        let bits = |i: usize| src.get(i).map_or(Some(0), |&u| self.known(u));
        match (op, bits(0)) {
            (Alu::Select, Some(c)) => return src[if c != 0 { 1 } else { 2 }],
            (_, Some(a)) => {
                if let (Some(b), Some(c)) = (bits(1), bits(2)) {
                    let from = self.dtype(src[src.len() - 1]);
                    let to = if op.is_comparison() { DType::BOOL } else { from };
                    return self.arena.constant(to, alu(op, from, [a, b, c]));
                }
            }
            _ => {}
        }
        match (op, src) {
            (Alu::Select, &[_, a, b]) if a == b => return a,
            (Alu::And | Alu::Or, &[a, b]) if self.dtype(a) == DType::BOOL => {
                for (x, other) in [(a, b), (b, a)] {
                    if let Some(bits) = self.known(x) {
                        return if (bits != 0) == (op == Alu::And) { other } else { x };
                    }
                }
            }
            _ => {}
        }
        self.arena.alu(op, src)
    }
    ops! {
        add(a, b) = Add;
        sub(a, b) = Sub;
        mul(a, b) = Mul;
        div(a, b) = Div;
        int_div(a, b) = IntDiv;
        int_rem(a, b) = IntRem;
        mul_high(a, b) = MulHigh;
        min(a, b) = Min;
        max(a, b) = Max;
        and(a, b) = And;
        or(a, b) = Or;
        xor(a, b) = Xor;
        not(a) = Not;
        shl(a, n) = Shl;
        shr(a, n) = Shr;
        sar(a, n) = Sar;
        neg(a) = Neg;
        abs(a) = Abs;
        sqrt(a) = Sqrt;
        floor(a) = Floor;
        ceil(a) = Ceil;
        round_even(a) = RoundEven;
        trunc(a) = Trunc;
        fma(a, b, c) = Fma;
        eq(a, b) = Eq;
        ne(a, b) = Ne;
        lt(a, b) = Lt;
        le(a, b) = Le;
        select(c, a, b) = Select;
    }
    pub(super) fn and_bits(&mut self, a: UOp, mask: i64) -> UOp {
        let mask = self.i(a, mask);
        self.and(a, mask)
    }
    pub(super) fn shr_by(&mut self, a: UOp, n: u32) -> UOp {
        let n = self.i(a, n.into());
        self.shr(a, n)
    }
    pub(super) fn sar_by(&mut self, a: UOp, n: u32) -> UOp {
        let n = self.i(a, n.into());
        self.sar(a, n)
    }
    pub(super) fn shl_by(&mut self, a: UOp, n: u32) -> UOp {
        let n = self.i(a, n.into());
        self.shl(a, n)
    }

    /// `x` as another dtype, numerically.
    pub(super) fn cast(&mut self, x: UOp, to: DType) -> UOp {
        let from = self.dtype(x);
        if from == to {
            return x;
        }
        match self.known(x) {
            Some(bits) => self.arena.constant(to, cast(from, to, bits)),
            None => self.arena.node(Op::Cast, Ty::scalar(to), &[x]),
        }
    }
    /// The bits of `x` under another dtype of the same size.
    pub(super) fn bits(&mut self, x: UOp, to: DType) -> UOp {
        if self.dtype(x) == to {
            return x;
        }
        match self.arena.op(x) {
            Op::Const(bits) => self.arena.constant(to, bits),
            Op::Bitcast if self.dtype(self.arena.src(x)[0]) == to => self.arena.src(x)[0],
            _ => self.arena.node(Op::Bitcast, Ty::scalar(to), &[x]),
        }
    }
    /// The dtype that arithmetic on `dtype` is done in.
    pub(super) fn wide(dtype: DType) -> DType {
        match dtype {
            DType::I8 | DType::I16 => DType::I32,
            DType::U8 | DType::U16 => DType::U32,
            DType::F16 | DType::BF16 => DType::F32,
            DType::BOOL | DType::I32 | DType::I64 | DType::U32 | DType::U64 => dtype,
            DType::F32 | DType::F64 | DType::C64 | DType::C128 => dtype,
        }
    }
    /// `x` in the dtype that arithmetic is done in. Fast arithmetic forgets that a half was rounded.
    pub(super) fn widen(&mut self, x: UOp) -> UOp {
        let dtype = self.dtype(x);
        let wide = Self::wide(dtype);
        if self.fast && dtype != wide && wide == DType::F32 && self.arena.op(x) == Op::Cast {
            let from = self.arena.src(x)[0];
            if self.dtype(from) == wide {
                return from;
            }
        }
        self.cast(x, wide)
    }
    /// `convert` of the IR.
    pub(super) fn convert(&mut self, x: UOp, to: DType) -> Result<UOp, OpError> {
        let from = self.dtype(x);
        if from.is_complex() || to.is_complex() {
            return Err(none("convert", from));
        }
        match from == to {
            true => Ok(x),
            false if to.is_float() || from.is_float() => {
                // As `widen`: a half that was never stored may keep its digits.
                let x = if self.fast { self.widen(x) } else { x };
                Ok(self.cast(x, to))
            }
            false => Ok(self.cast(x, to)),
        }
    }
    /// `select` of any dtype.
    pub(super) fn select_narrow(&mut self, c: UOp, a: UOp, b: UOp) -> UOp {
        let dtype = self.dtype(a);
        if self.fast && matches!(dtype, DType::F16 | DType::BF16) {
            let (a, b) = (self.widen(a), self.widen(b));
            let chosen = self.select(c, a, b);
            return self.cast(chosen, dtype);
        }
        self.select(c, a, b)
    }

    /// `a` with the sign of `sign`, where that of `a` is plus.
    pub(super) fn with_sign(&mut self, a: UOp, sign: UOp) -> UOp {
        let dtype = self.dtype(a);
        let s = self.sign_bit(sign);
        let a = self.bits(a, Self::of_bits(dtype));
        let r = self.or(a, s);
        self.bits(r, dtype)
    }
    /// The sign bit of a float alone, in an integer.
    pub(super) fn sign_bit(&mut self, x: UOp) -> UOp {
        let ints = Self::of_bits(self.dtype(x));
        let bits = self.bits(x, ints);
        self.and_bits(bits, if ints == DType::I64 { i64::MIN } else { i32::MIN.into() })
    }
    /// The signed integers of the size of a float.
    pub(super) fn of_bits(dtype: DType) -> DType {
        match dtype.size() {
            1 => DType::I8,
            2 => DType::I16,
            4 => DType::I32,
            _ => DType::I64,
        }
    }
    /// A function of the library, on `f32` or `f64`.
    pub(super) fn call(&mut self, function: LibFn, src: &[UOp]) -> UOp {
        let ty = self.arena.ty(src[0]);
        self.arena.node(Op::Call(function), ty, src)
    }
    /// The polynomial with coefficients from the highest degree down.
    pub(super) fn horner(&mut self, x: UOp, coefficients: &[f64]) -> UOp {
        let mut it = coefficients.iter();
        let mut acc = self.f(x, it.next().copied().unwrap_or(0.0));
        for &c in it {
            let c = self.f(x, c);
            acc = self.fma(acc, x, c);
        }
        acc
    }
}

/// There is no such op on that dtype in a kernel.
pub(super) fn none(op: &str, dtype: DType) -> OpError {
    OpError::new(op, format!("kernels have none on {dtype}")).remedy("the scheduler leaves it to a library step")
}
