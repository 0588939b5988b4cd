//! What can be traced: functions and closures of every arity, graphs, and transforms of them.

use crate::Sym;
use evoxc_core::Tree;

/// A function from trees of `Sym` to a tree of `Sym`: a defn, a closure with annotated parameters, a `Graph`, or a
/// transform of one. `Marker` tells the kinds apart, so that type inference can choose.
///
/// ```
/// use evoxc::{GraphFn, prelude::*};
/// fn twice<M>(f: impl GraphFn<Sym, M, Out = Sym>) -> impl Fn(Sym) -> Sym {
///     move |x| f.apply(f.apply(x))
/// }
/// let y = evaluate(twice(|x: Sym| x * 3.0), Tensor::from(2f32), &Interp)?;
/// assert_eq!(y.item::<f32>()?, 18.0);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "this is not a graph function of arguments `{Args}`",
    label = "does not take these arguments, or does not return a tree of `Sym`",
    note = "a graph function is a `#[defn]`, a closure with annotated parameters (`|x: Sym| ..`), a `Graph`, or a transform of one; it takes and returns trees of `Sym`",
    note = "static arguments go in by a closure: `trace(|x: Sym| f(x, 4), spec)`; check the number and the types of the arguments (or specs) against the function's signature"
)]
pub trait GraphFn<Args, Marker> {
    /// What it gives.
    type Out: Tree<Sym>;
    /// Runs it on symbols, which appends its ops to the graph being traced.
    fn apply(&self, args: Args) -> Self::Out;
}

macro_rules! functions {
    ($($($t:ident $i:tt)*;)*) => { $(
        impl<Func, Out, $($t),*> GraphFn<($($t,)*), fn($($t),*) -> Out> for Func
        where
            Func: Fn($($t),*) -> Out,
            Out: Tree<Sym>,
        {
            type Out = Out;
            #[allow(clippy::unused_unit, unused_variables)]
            fn apply(&self, args: ($($t,)*)) -> Out { self($(args.$i),*) }
        }
    )* };
}
functions! {
    ; A 0 B 1; A 0 B 1 C 2; A 0 B 1 C 2 D 3; A 0 B 1 C 2 D 3 E 4; A 0 B 1 C 2 D 3 E 4 F 5; A 0 B 1 C 2 D 3 E 4 F 5 G 6;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7; A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8; A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10; A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11;
}
impl<Func, A, Out> GraphFn<A, fn(A) -> Out> for Func
where
    Func: Fn(A) -> Out,
    Out: Tree<Sym>,
{
    type Out = Out;
    fn apply(&self, a: A) -> Out {
        self(a)
    }
}
