//! Element-wise primitives as methods.

use crate::{Sym, builder};
use evoxc_ir::{Prim, Unary};

macro_rules! unary {
    ($($(#[$d:meta])* $f:ident $U:ident;)*) => { impl Sym { $(
        $(#[$d])*
        #[track_caller]
        pub fn $f(self) -> Sym { builder::emit(Prim::Unary(Unary::$U), &[self]) }
    )* } };
}
unary! {
    /// eˣ.
    exp Exp;
    /// tanh x.
    tanh Tanh;
}
