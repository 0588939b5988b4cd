//! Trees: nested structures whose leaves are specs, symbols or tensors.
//!
//! A tree is flattened to its leaves and a [`TreeDef`], the structure without them. The leaf type is a parameter of
//! [`Tree`], so that `Params<Sym>` maps to `Params<Tensor>` and `()` is a tree of any leaf.

mod arg_at;
mod containers;
mod def;
mod dynamic;
mod flatten;
mod path;
mod unflatten;
mod wellformed;

pub use arg_at::ArgAt;
pub use def::{TreeDef, TreeKind, TreeToken};
pub use dynamic::Dyn;
pub use flatten::{Flatten, static_text};
pub use unflatten::Unflatten;
pub use wellformed::MAX_TREE_DEPTH;

use crate::Result;
use std::fmt;

/// A value that may be a `#[tree(static)]` field: part of the structure, not of the data.
///
/// ```
/// use evoxc::prelude::*;
/// #[derive(Tree, Clone)]
/// struct Heads<T> {
///     w: T,
///     #[tree(static)]
///     count: usize,
/// }
/// let tree = |count| Dyn::of(Heads { w: spec(F32, [8, 8]), count });
/// assert_eq!(tree(4).leaves().len(), 1);
/// assert_ne!(tree(4).def(), tree(8).def());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a static field of a tree",
    note = "a static value is `Clone + PartialEq + Debug + Send + Sync + 'static`"
)]
pub trait StaticValue: Clone + PartialEq + fmt::Debug + Send + Sync + 'static {}
impl<T: Clone + PartialEq + fmt::Debug + Send + Sync + 'static> StaticValue for T {}

/// A nested structure of leaves of type `L`. Derive it with `#[derive(Tree)]`.
///
/// ```
/// use evoxc::prelude::*;
/// #[derive(Tree, Clone)]
/// struct Params<T> {
///     w: T,
///     b: T,
/// }
/// let params = Params { w: spec(F32, [4, 8]), b: spec(F32, [8]) };
/// let graph = trace(|p: Params<Sym>, x: Sym| x.dot(p.w) + p.b, (params, spec(F32, (dim("B"), 4))))?;
/// assert_eq!(graph.output_specs(), [spec(F32, (dim("B"), 8))]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tree of `{L}`",
    label = "cannot be an input or output of a graph",
    note = "trees are `{L}`, tuples to 12, arrays, `Vec`, `Option`, `BTreeMap<String, _>`, `Box`, and types with `#[derive(Tree)]`; a field that is not a tensor is marked `#[tree(static)]`",
    note = "a static argument of a traced function goes in by a closure: `trace(|x: Sym| f(x, 4), spec)`"
)]
pub trait Tree<L: Leaf>: Sized {
    /// The same structure with leaves of another type.
    type Map<U: Leaf>: Tree<U>;
    /// Appends the leaves and the structure to `out`.
    fn flatten(self, out: &mut Flatten<L>);
    /// Rebuilds the tree.
    ///
    /// # Errors
    /// [`TreeError`](crate::TreeError) where the structures differ.
    fn unflatten(src: &mut Unflatten<'_, L>) -> Result<Self>;
}

/// A leaf of trees: `TensorSpec`, `Sym` or `Tensor`.
///
/// ```
/// use evoxc::{Leaf, prelude::*};
/// fn count<L: Leaf>(tree: impl Tree<L>) -> usize {
///     Dyn::of(tree).leaves().len()
/// }
/// assert_eq!(count((spec(F32, [2]), [spec(F32, []), spec(F32, [])])), 3);
/// ```
pub trait Leaf: Tree<Self> + Clone + 'static {}
