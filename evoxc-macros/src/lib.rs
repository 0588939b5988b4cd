//! The macros of evoxc, and nothing but their entry points: this file owns the names users write (`#[defn]`,
//! `#[derive(Tree)]`, `s!`) and their documentation. The work is done in the modules below, on `proc_macro2` tokens.
//!
//! Everything generated refers to `<crate>::__private`, where `<crate>` is found by the module `krate`.

use proc_macro::TokenStream;

mod args;
mod defn;
mod derive_checks;
mod derive_tree;
mod emit;
mod krate;
mod names;
mod recursion;
mod rewrite;
mod slice;
mod statics;
#[cfg(test)]
mod tests;

/// Makes a function of `Sym`s a graph function. It stays an ordinary Rust function: other functions call it, closures wrap
/// it, and its signature, docs and attributes are untouched.
///
/// In the body, and in closures of the body (not in nested items or macro calls other than `vec!`, `assert!` and
/// `debug_assert!`):
///
/// - `< <= > >= == !=` give a boolean `Sym` when either side is a `Sym`, and stay `bool` otherwise;
/// - `if`, `while`, `match` against literals, guards, `for`, `&&` and `||` run while the graph is built; on a `Sym` each is
///   a compile error that names the graph form to use;
/// - the name of a `let` becomes the name of its value in the printed graph.
///
/// Parameters that are not trees are static; those that implement `Debug` are listed in the graph.
///
/// The only argument is `crate = path`, for a crate that reaches evoxc through a re-export.
///
/// ```
/// use evoxc::prelude::*;
/// #[defn]
/// fn relu(x: Sym) -> Sym {
///     (x > 0.0).select(x, 0.0)
/// }
/// let y = evaluate(relu, Tensor::from([-1f32, 2.0]), &Interp)?;
/// assert_eq!(y.to_vec::<f32>()?, [0.0, 2.0]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[proc_macro_attribute]
pub fn defn(args: TokenStream, item: TokenStream) -> TokenStream {
    defn::expand(args.into(), item.into()).into()
}

/// Makes a struct or an enum, generic over its leaf, a tree: a type of specs, of symbols and of data at once.
///
/// Every type parameter that occurs in a field is a leaf parameter, except in fields marked `#[tree(static)]`: those hold
/// static values (`Clone + PartialEq + Debug + Send + Sync + 'static`), which are part of the structure of the tree.
/// `#[tree(crate = path)]` on the type names the crate, for one that reaches evoxc through a re-export.
///
/// ```
/// use evoxc::prelude::*;
/// #[derive(Tree, Clone)]
/// struct Layer<T> {
///     w: T,
///     b: Option<T>,
///     #[tree(static)]
///     heads: usize,
/// }
/// let specs = Layer { w: spec(F32, [8, 8]), b: None, heads: 4 };
/// let graph = trace(|l: Layer<Sym>| l.w.reshape([8, l.heads, 2]), specs)?;
/// assert_eq!(graph.output_specs(), [spec(F32, [8, 4, 2])]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[proc_macro_derive(Tree, attributes(tree))]
pub fn derive_tree(item: TokenStream) -> TokenStream {
    derive_tree::expand(item.into()).into()
}

/// A list of slices, one an axis: `x.slice(s![1..n, .., ..;2, 3])`. Each item is an index, a range, or `range;step`; the
/// bounds are integers or `Dim`s, each on its own; negative integers count from the end.
///
/// ```
/// use evoxc::prelude::*;
/// let n = dim("N");
/// let graph = trace(|x: Sym| x.slice(s![1..n, .., ..;2, 3]), spec(F32, (n, 5, 6, 7)))?;
/// assert_eq!(graph.output_specs(), [spec(F32, (n - 1, 5, 3))]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[proc_macro]
pub fn s(items: TokenStream) -> TokenStream {
    slice::expand(items.into()).into()
}
