//! Arithmetic operators of `Sym`.
//!
//! Each is one generic impl with the `Sym` on the left, so that the output type is known before a literal's. On the
//! left of a `Sym` only `f64`, `i64` and `bool` stand: a second float or integer type would leave `(1.0 - x).square()`
//! without a type.

use crate::operand::together;
use crate::{Operand, Sym, builder};
use evoxc_ir::{Binary, Prim, Unary};
use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign, Mul, MulAssign,
    Neg, Not, Rem, RemAssign, Shl, ShlAssign, Shr, ShrAssign, Sub, SubAssign,
};

/// Emits an element-wise op of two operands, broadcast together.
#[track_caller]
pub(crate) fn binary(op: Binary, l: impl Operand, r: impl Operand) -> Sym {
    match together(op.name(), l, r) {
        Some((a, b)) => builder::emit(Prim::Binary(op), &[a, b]),
        None => Sym::POISON,
    }
}

/// `>>` keeps the sign of signed integers.
#[track_caller]
fn shift_right(l: impl Operand, r: impl Operand) -> Sym {
    match together("shift_right", l, r) {
        Some((a, b)) => {
            let unsigned = builder::with_type(a, |t| t.dtype.is_unsigned()).unwrap_or(false);
            let op = if unsigned { Binary::ShiftRightLogical } else { Binary::ShiftRightArithmetic };
            builder::emit(Prim::Binary(op), &[a, b])
        }
        None => Sym::POISON,
    }
}

macro_rules! operators {
    ($($tr:ident $f:ident $tra:ident $fa:ident $e:expr;)*) => { $(
        impl<R: Operand> $tr<R> for Sym {
            type Output = Sym;
            #[track_caller]
            fn $f(self, r: R) -> Sym { $e(self, r.operand()) }
        }
        impl<R: Operand> $tr<R> for &Sym {
            type Output = Sym;
            #[track_caller]
            fn $f(self, r: R) -> Sym { $e(*self, r.operand()) }
        }
        impl<R: Operand> $tra<R> for Sym {
            #[track_caller]
            fn $fa(&mut self, r: R) { *self = $e(*self, r.operand()) }
        }
    )* };
}
macro_rules! bin {
    ($op:ident) => {{
        #[track_caller]
        fn go(l: Sym, r: crate::Opnd) -> Sym {
            binary(Binary::$op, l, r)
        }
        go
    }};
}
#[track_caller]
fn shr(l: Sym, r: crate::Opnd) -> Sym {
    shift_right(l, r)
}
operators! {
    Add add AddAssign add_assign bin!(Add);
    Sub sub SubAssign sub_assign bin!(Sub);
    Mul mul MulAssign mul_assign bin!(Mul);
    Div div DivAssign div_assign bin!(Div);
    Rem rem RemAssign rem_assign bin!(Rem);
    BitAnd bitand BitAndAssign bitand_assign bin!(And);
    BitOr bitor BitOrAssign bitor_assign bin!(Or);
    BitXor bitxor BitXorAssign bitxor_assign bin!(Xor);
    Shl shl ShlAssign shl_assign bin!(ShiftLeft);
    Shr shr ShrAssign shr_assign shr;
}

macro_rules! left {
    ($t:ty: $($tr:ident $f:ident $op:ident),*) => { $(
        impl $tr<Sym> for $t {
            type Output = Sym;
            #[track_caller]
            fn $f(self, r: Sym) -> Sym { binary(Binary::$op, self, r) }
        }
        impl $tr<&Sym> for $t {
            type Output = Sym;
            #[track_caller]
            fn $f(self, r: &Sym) -> Sym { binary(Binary::$op, self, r) }
        }
    )* };
}
left!(f64: Add add Add, Sub sub Sub, Mul mul Mul, Div div Div, Rem rem Rem);
left!(i64: Add add Add, Sub sub Sub, Mul mul Mul, Div div Div, Rem rem Rem, BitAnd bitand And, BitOr bitor Or, BitXor bitxor Xor);
left!(bool: BitAnd bitand And, BitOr bitor Or, BitXor bitxor Xor);

macro_rules! prefix {
    ($($tr:ident $f:ident $op:ident),*) => { $(
        impl $tr for Sym {
            type Output = Sym;
            #[track_caller]
            fn $f(self) -> Sym { builder::emit(Prim::Unary(Unary::$op), &[self]) }
        }
        impl $tr for &Sym {
            type Output = Sym;
            #[track_caller]
            fn $f(self) -> Sym { builder::emit(Prim::Unary(Unary::$op), &[*self]) }
        }
    )* };
}
prefix!(Neg neg Neg, Not not Not);
