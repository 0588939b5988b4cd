//! The N-th argument of an argument list.

use super::Dyn;
use std::collections::BTreeMap;

/// The N-th argument of an argument list: a tuple is the list, anything else is one argument.
///
/// ```
/// use evoxc::{ArgAt, prelude::*};
/// type Args = (Sym, [Sym; 2]);
/// let norm = |p: <Args as ArgAt<1>>::Arg| p[0] * p[0] + p[1] * p[1];
/// let y = evaluate(norm, [Tensor::from(3f32), Tensor::from(4f32)], &Interp)?;
/// assert_eq!(y.item::<f32>()?, 25.0);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the function has no argument {N}",
    label = "no argument {N}",
    note = "its arguments are `{Self}`, counted from 0"
)]
pub trait ArgAt<const N: usize> {
    /// Its type.
    type Arg;
}
macro_rules! arg_at {
    ($($($t:ident)+ => $($n:literal $r:ident),+;)*) => { $(arg_at!(@ ($($t)+) $($n $r),+);)* };
    (@ $ts:tt $($n:literal $r:ident),+) => { $(arg_at!(# $ts $n $r);)+ };
    (# ($($t:ident)+) $n:literal $r:ident) => { impl<$($t),+> ArgAt<$n> for ($($t,)+) { type Arg = $r; } };
}
arg_at! { A => 0 A; A B => 0 A, 1 B; A B C => 0 A, 1 B, 2 C; A B C D => 0 A, 1 B, 2 C, 3 D; A B C D E => 0 A, 1 B, 2 C, 3 D, 4 E;
A B C D E F => 0 A, 1 B, 2 C, 3 D, 4 E, 5 F; A B C D E F G => 0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G;
A B C D E F G H => 0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G, 7 H; A B C D E F G H I => 0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G, 7 H, 8 I;
A B C D E F G H I J => 0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G, 7 H, 8 I, 9 J;
A B C D E F G H I J K => 0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G, 7 H, 8 I, 9 J, 10 K;
A B C D E F G H I J K M => 0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G, 7 H, 8 I, 9 J, 10 K, 11 M; }
impl<A> ArgAt<0> for Vec<A> {
    type Arg = Self;
}
impl<A> ArgAt<0> for Option<A> {
    type Arg = Self;
}
impl<A> ArgAt<0> for Box<A> {
    type Arg = Self;
}
impl<A, const N: usize> ArgAt<0> for [A; N] {
    type Arg = Self;
}
impl<A> ArgAt<0> for BTreeMap<String, A> {
    type Arg = Self;
}
/// A tree whose structure is known at run time: the argument is one too.
impl<L, const N: usize> ArgAt<N> for Dyn<L> {
    type Arg = Self;
}
