//! Comparisons: methods that give a boolean `Sym`, and the message for the operators outside of a defn.

use crate::operand::together;
use crate::{Operand, Sym, builder};
use evoxc_ir::{Direction, Prim, SortOrder};
use std::marker::PhantomData;

/// Emits an element-wise comparison of two operands, broadcast together.
#[track_caller]
pub(crate) fn compare(direction: Direction, l: impl Operand, r: impl Operand) -> Sym {
    match together("compare", l, r) {
        Some((a, b)) => builder::emit(Prim::Compare { direction, order: SortOrder::Ieee }, &[a, b]),
        None => Sym::POISON,
    }
}

// `&self`, so that on a `&Sym` they win over `PartialOrd`'s methods of the same name.
macro_rules! methods {
    ($($(#[$d:meta])* $f:ident $D:ident;)*) => { impl Sym { $(
        $(#[$d])*
        #[track_caller]
        #[allow(clippy::should_implement_trait)]
        pub fn $f(&self, r: impl Operand) -> Sym { compare(Direction::$D, *self, r) }
    )* } };
}
methods! {
    /// `self < r`, element-wise, a bool; false where either is NaN.
    lt Lt;
    /// `self <= r`, element-wise, a bool; false where either is NaN.
    le Le;
    /// `self > r`, element-wise, a bool; false where either is NaN.
    gt Gt;
    /// `self >= r`, element-wise, a bool; false where either is NaN.
    ge Ge;
    /// `self == r`, element-wise, a bool; false where either is NaN.
    eq Eq;
    /// `self != r`, element-wise, a bool; true where either is NaN.
    ne Ne;
}

/// Carries the message for comparison operators on a `Sym` outside of a defn.
#[diagnostic::on_unimplemented(
    message = "symbolic tensors are compared with `.lt() .le() .gt() .ge() .eq() .ne()` outside a `#[defn]`",
    label = "`<`, `==` … on a `Sym` give a symbolic boolean only inside `#[defn]`",
    note = "inside a macro call such as `println!(\"{{}}\", a < b)` the operators are the plain Rust ones too"
)]
pub trait OutsideDefn {}
/// The bound sits on a wrapper: rustc shows the message only when the failing type differs from the operator's `Self`.
pub struct Comparison<R>(PhantomData<R>);
/// Uninhabited.
pub enum NeverA {}
/// Uninhabited.
pub enum NeverB {}
// Two impls on unnameable types keep `Comparison<_>: OutsideDefn` undecided until the right side is known, which lets
// the message appear.
#[diagnostic::do_not_recommend]
impl OutsideDefn for Comparison<NeverA> {}
#[diagnostic::do_not_recommend]
impl OutsideDefn for Comparison<NeverB> {}
impl<R> PartialEq<R> for Sym
where
    Comparison<R>: OutsideDefn,
{
    fn eq(&self, _: &R) -> bool {
        false
    }
}
impl<R> PartialOrd<R> for Sym
where
    Comparison<R>: OutsideDefn,
{
    fn partial_cmp(&self, _: &R) -> Option<std::cmp::Ordering> {
        None
    }
}
