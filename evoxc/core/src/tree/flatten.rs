//! Taking a tree apart.

use super::def::LiveStatic;
use super::{Leaf, StaticValue, Tree, TreeDef, TreeKind, TreeToken};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Collects the leaves and the structure of a tree.
///
/// ```
/// use evoxc::{Flatten, prelude::*};
/// let mut out = Flatten::new();
/// (spec(F32, [2]), vec![spec(I32, [])]).flatten(&mut out);
/// let (leaves, def) = out.finish();
/// assert_eq!(leaves, [spec(F32, [2]), spec(I32, [])]);
/// assert_eq!(def.paths(), ["0", "1[0]"]);
/// ```
pub struct Flatten<L> {
    pub(super) leaves: Vec<L>,
    pub(super) def: Vec<TreeToken>,
}

impl<L> Default for Flatten<L> {
    fn default() -> Self {
        Flatten::new()
    }
}

impl<L> Flatten<L> {
    /// An empty collection.
    pub fn new() -> Flatten<L> {
        Flatten { leaves: vec![], def: vec![] }
    }
    /// The leaves and the structure.
    pub fn finish(self) -> (Vec<L>, TreeDef) {
        (self.leaves, TreeDef(self.def))
    }
    /// Adds a leaf.
    pub fn leaf(&mut self, l: L) {
        self.leaves.push(l);
        self.def.push(TreeToken::Leaf);
    }
    /// Opens a node of `n` children.
    pub fn open(&mut self, kind: TreeKind, n: usize) {
        self.def.push(TreeToken::Open(kind, n));
    }
    /// Opens a derived struct, or the variant of a derived enum.
    pub fn open_struct(&mut self, name: &'static str, variant: Option<&'static str>, n: usize) {
        self.open(TreeKind::Struct(name.into(), variant.map(Cow::from)), n);
    }
    /// Adds a named child.
    pub fn field<T: Tree<L>>(&mut self, name: &'static str, t: T)
    where
        L: Leaf,
    {
        self.key(name);
        t.flatten(self);
    }
    /// Adds a named static value.
    pub fn stat<T: StaticValue>(&mut self, name: &'static str, t: T) {
        self.key(name);
        self.def.push(TreeToken::Static(static_text(&t), Some(LiveStatic(Arc::new(t)))));
    }
    /// Names the child that follows.
    pub fn key(&mut self, name: impl Into<Cow<'static, str>>) {
        self.def.push(TreeToken::Key(name.into()));
    }
    /// Closes the node opened last.
    pub fn close(&mut self) {
        self.def.push(TreeToken::Close);
    }
}

/// The text of a static value.
pub fn static_text(t: &dyn fmt::Debug) -> String {
    format!("{t:?}")
}
