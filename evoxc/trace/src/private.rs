//! What `#[defn]`, `#[derive(Tree)]` and `s!` expand to. Not for use by hand; no part of the public API.

pub use crate::name::{named, named_param};
pub use crate::private_static::{RecordDebug, RecordNothing, RecordTree, RecordTreeRef, Static};
pub use crate::{Operand, Sym};
pub use evoxc_core::{
    ArgAt, Dim, DimLike, Flatten, Leaf, Result, SliceItem, Slices, StaticValue, Tree, TreeKind, Unflatten,
};

use crate::compare::compare;
use evoxc_ir::Direction;
use std::marker::PhantomData;

/// What may be the condition of an `if` or `while`, or an operand of `&&` and `||`: `bool` only.
#[diagnostic::on_unimplemented(
    message = "a condition (`if`, `while`, a match guard, `&&`, `||`) must be a static `bool`, found `{Self}`",
    label = "not a static `bool`",
    note = "the value of a `Sym` is unknown while the graph is built: choose at run time with `cond(c, || a, || b)` (one branch runs), `c.select(a, b)` (element-wise) or `while_loop(..)`; combine symbolic booleans with `&` and `|`"
)]
pub trait StaticBool {
    /// The value.
    fn get(self) -> bool;
}
impl StaticBool for bool {
    #[inline(always)]
    fn get(self) -> bool {
        self
    }
}
/// The identity on `bool`.
#[inline(always)]
pub fn static_bool<B: StaticBool>(b: B) -> bool {
    b.get()
}

/// What may be matched against literals.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be matched against literals inside `#[defn]`",
    label = "not a number, `bool`, `char` or `str`",
    note = "the value of a `Sym` is unknown while the graph is built: choose at run time with `switch(index, [..])`, `cond(c, || a, || b)` or `c.select(a, b)`"
)]
pub trait StaticMatch {
    /// The type matched on.
    type Out: ?Sized;
    /// The value.
    fn get(&self) -> &Self::Out;
}
macro_rules! matchable {
    ($($t:ty)*) => { $(impl StaticMatch for $t {
        type Out = $t;
        #[inline(always)]
        fn get(&self) -> &$t { self }
    })* };
}
matchable!(bool char str i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64);
impl<'b, T: StaticMatch + ?Sized> StaticMatch for &'b T {
    type Out = &'b T;
    #[inline(always)]
    fn get(&self) -> &&'b T {
        self
    }
}
macro_rules! matchable_tuples {
    ($($($t:ident)+;)*) => { $(impl<$($t: StaticMatch),+> StaticMatch for ($($t,)+) {
        type Out = Self;
        #[inline(always)]
        fn get(&self) -> &Self { self }
    })* };
}
matchable_tuples! { A; A B; A B C; A B C D; }
impl<T: StaticMatch> StaticMatch for Option<T> {
    type Out = Self;
    #[inline(always)]
    fn get(&self) -> &Self {
        self
    }
}

/// Tells `Sym` from all other types, so that the type of a comparison is known before that of a literal in it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be compared inside `#[defn]`",
    label = "neither a `Sym` nor a comparable static value"
)]
pub trait Kind {
    /// The result with this on the left.
    type Left<R: Kind + ?Sized>;
    /// The result with this on the right and a static value on the left.
    type Right;
}
impl<T: PartialEq + ?Sized> Kind for T {
    type Left<R: Kind + ?Sized> = R::Right;
    type Right = bool;
}
impl Kind for Sym {
    type Left<R: Kind + ?Sized> = Sym;
    type Right = Sym;
}
impl Kind for &Sym {
    type Left<R: Kind + ?Sized> = Sym;
    type Right = Sym;
}

macro_rules! comparisons {
    ($($f:ident $T:ident $P:ident $msg:literal $note:literal;)*) => { $(
        #[doc = concat!("The operator of `", stringify!($f), "` on static values and on symbols.")]
        #[diagnostic::on_unimplemented(message = $msg, label = "cannot be compared with `{R}`", note = $note)]
        pub trait $T<R: ?Sized, O> {
            #[doc = "The comparison."]
            #[track_caller]
            fn $f(&self, r: &R) -> O;
        }
        impl<L: $P<R> + ?Sized, R: ?Sized> $T<R, bool> for L {
            #[inline(always)]
            fn $f(&self, r: &R) -> bool { $P::$f(self, r) }
        }
        impl<R: Operand + Copy> $T<R, Sym> for Sym {
            #[track_caller]
            fn $f(&self, r: &R) -> Sym { compare(Direction::$T, *self, *r) }
        }
        impl<R: Operand + Copy> $T<R, Sym> for &Sym {
            #[track_caller]
            fn $f(&self, r: &R) -> Sym { compare(Direction::$T, **self, *r) }
        }
        comparisons!(@ $T $f: i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64 bool Dim);
        #[doc = "The comparison of any two values inside a defn."]
        #[inline(always)]
        #[track_caller]
        pub fn $f<L, R>(l: &L, r: &R) -> L::Left<R>
        where
            L: Kind + $T<R, L::Left<R>> + ?Sized,
            R: Kind + ?Sized,
        {
            $T::$f(l, r)
        }
    )* };
    (@ $T:ident $f:ident: $($t:ty)*) => { $(
        impl $T<Sym, Sym> for $t {
            #[track_caller]
            fn $f(&self, r: &Sym) -> Sym { compare(Direction::$T, *self, *r) }
        }
        impl $T<&Sym, Sym> for $t {
            #[track_caller]
            fn $f(&self, r: &&Sym) -> Sym { compare(Direction::$T, *self, **r) }
        }
    )* };
}
comparisons! {
    lt Lt PartialOrd "`{Self}` and `{R}` cannot be compared with `<`"
        "an extent (`Dim`) has no order while it is a symbol: compare its `.get()`, an `Option<usize>`";
    le Le PartialOrd "`{Self}` and `{R}` cannot be compared with `<=`"
        "an extent (`Dim`) has no order while it is a symbol: compare its `.get()`, an `Option<usize>`";
    gt Gt PartialOrd "`{Self}` and `{R}` cannot be compared with `>`"
        "an extent (`Dim`) has no order while it is a symbol: compare its `.get()`, an `Option<usize>`";
    ge Ge PartialOrd "`{Self}` and `{R}` cannot be compared with `>=`"
        "an extent (`Dim`) has no order while it is a symbol: compare its `.get()`, an `Option<usize>`";
    eq Eq PartialEq "`{Self}` and `{R}` cannot be compared with `==`"
        "a `Sym` is compared with a `Sym`, a Rust scalar or a `Dim`; static values with values of their type";
    ne Ne PartialEq "`{Self}` and `{R}` cannot be compared with `!=`"
        "a `Sym` is compared with a `Sym`, a Rust scalar or a `Dim`; static values with values of their type";
}

/// Carries the message for `for` over a `Sym`.
#[diagnostic::on_unimplemented(
    message = "a symbolic tensor cannot be iterated by `for`",
    label = "the loop would run while the graph is built",
    note = "loop over the leading axis at run time with `scan(init, xs, |carry, x| ..)`, or over static indices: `for i in 0..n {{ .. x.take(i, 0) .. }}`"
)]
pub trait IterableSym {}
/// The type whose bound fails.
pub struct Rows<'a>(PhantomData<&'a ()>);
/// `for row in e` becomes `for row in IterOf(e).iterate()`: the inherent method catches `Sym`, the trait method takes
/// every other iterator.
pub struct IterOf<T>(
    /// What is iterated.
    pub T,
);
impl IterOf<Sym> {
    /// Does not compile.
    pub fn iterate(self) -> std::vec::IntoIter<Sym>
    where
        for<'a> Rows<'a>: IterableSym,
    {
        vec![].into_iter()
    }
}
impl IterOf<&Sym> {
    /// Does not compile.
    pub fn iterate(self) -> std::vec::IntoIter<Sym>
    where
        for<'a> Rows<'a>: IterableSym,
    {
        vec![].into_iter()
    }
}
/// Iteration of everything but `Sym`.
pub trait IterateStatic {
    /// The iterator.
    type Iter: Iterator;
    /// The iterator.
    fn iterate(self) -> Self::Iter;
}
impl<T: IntoIterator> IterateStatic for IterOf<T> {
    type Iter = T::IntoIter;
    #[inline(always)]
    fn iterate(self) -> T::IntoIter {
        self.0.into_iter()
    }
}

/// Holds when a parameter is a tree.
#[inline(always)]
pub fn tree_param<T: Tree<Sym>>() {}
