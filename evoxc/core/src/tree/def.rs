//! The structure of a tree without its leaves, as a list of tokens in preorder.

use super::path::{Path, describe};
use super::wellformed::Wellformed;
use super::{Flatten, Leaf, Tree, Unflatten};
use crate::{Result, TreeError};
use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// What a node of a tree is.
///
/// ```
/// use evoxc::{TreeDef, TreeKind, TreeToken, prelude::*};
/// let (_, def) = TreeDef::flatten(vec![spec(F32, [2]), spec(F32, [3])]);
/// assert_eq!(def.tokens()[0], TreeToken::Open(TreeKind::List, 2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum TreeKind {
    /// A tuple.
    Tuple,
    /// An array, or a `Vec`.
    List,
    /// `Some`.
    Some,
    /// `None`.
    None,
    /// A `BTreeMap<String, _>`.
    Map,
    /// A derived struct or enum: its name and, for an enum, the variant.
    Struct(Cow<'static, str>, Option<Cow<'static, str>>),
}

/// One token of a [`TreeDef`], which is a tree in preorder.
///
/// ```
/// use evoxc::{TreeDef, TreeKind, TreeToken, prelude::*};
/// let (_, def) = TreeDef::flatten(Some(spec(F32, [2])));
/// assert_eq!(def.tokens(), [TreeToken::Open(TreeKind::Some, 1), TreeToken::Leaf, TreeToken::Close]);
/// ```
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub enum TreeToken {
    /// A leaf.
    Leaf,
    /// A node with this many children.
    Open(TreeKind, usize),
    /// The name of the child that follows: a field, or a key of a map.
    Key(Cow<'static, str>),
    /// A static field: its `Debug` text, and the value itself unless the tree was read from a file.
    Static(String, #[serde(skip)] Option<LiveStatic>),
    /// The end of a node.
    Close,
}

/// The value of a static field.
#[derive(Clone)]
pub struct LiveStatic(pub(super) Arc<dyn Any + Send + Sync>);
impl fmt::Debug for LiveStatic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

impl PartialEq for TreeToken {
    fn eq(&self, o: &TreeToken) -> bool {
        match (self, o) {
            (TreeToken::Leaf, TreeToken::Leaf) | (TreeToken::Close, TreeToken::Close) => true,
            (TreeToken::Open(a, n), TreeToken::Open(b, m)) => a == b && n == m,
            (TreeToken::Key(a), TreeToken::Key(b)) => a == b,
            (TreeToken::Static(a, _), TreeToken::Static(b, _)) => a == b,
            _ => false,
        }
    }
}

/// The structure of a tree without its leaves: kinds of nodes, lengths, names, static values.
///
/// ```
/// use evoxc::{spec, TreeDef, F32};
/// let (leaves, def) = TreeDef::flatten((spec(F32, [2]), vec![spec(F32, [])]));
/// assert_eq!(leaves.len(), 2);
/// assert_eq!(def.paths(), ["0", "1[0]"]);
/// ```
#[derive(Clone, Debug, PartialEq, Default, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Vec<TreeToken>")]
pub struct TreeDef(pub(super) Vec<TreeToken>);

impl TreeDef {
    /// The leaves of a tree, in order, and its structure.
    pub fn flatten<L: Leaf, T: Tree<L>>(tree: T) -> (Vec<L>, TreeDef) {
        let mut f = Flatten::new();
        tree.flatten(&mut f);
        f.finish()
    }
    /// A tree of this structure with these leaves.
    ///
    /// # Errors
    /// [`TreeError`] when `T` has another structure or the number of leaves differs.
    pub fn unflatten<L: Leaf, T: Tree<L>>(&self, leaves: Vec<L>) -> Result<T> {
        if leaves.len() != self.leaf_count() {
            let (expected, got) = (format!("{} leaves", self.leaf_count()), format!("{}", leaves.len()));
            return Err(TreeError { path: String::new(), expected, got }.into());
        }
        let mut u = Unflatten { def: self, at: 0, leaves: leaves.into_iter() };
        let t = T::unflatten(&mut u)?;
        match u.def.0.get(u.at) {
            None => Ok(t),
            Some(k) => Err(u.error("the end of the tree", describe(Some(k)))),
        }
    }
    /// A single leaf.
    pub fn leaf() -> TreeDef {
        TreeDef(vec![TreeToken::Leaf])
    }
    /// A tuple of `n` leaves.
    pub fn leaves_tuple(n: usize) -> TreeDef {
        let mut t = vec![TreeToken::Open(TreeKind::Tuple, n)];
        t.extend((0..n).map(|_| TreeToken::Leaf));
        t.push(TreeToken::Close);
        TreeDef(t)
    }
    /// A tuple of trees.
    pub fn tuple(parts: impl IntoIterator<Item = TreeDef>) -> TreeDef {
        let (mut t, mut n) = (vec![TreeToken::Leaf], 0);
        for p in parts {
            t.extend(p.0);
            n += 1;
        }
        t[0] = TreeToken::Open(TreeKind::Tuple, n);
        t.push(TreeToken::Close);
        TreeDef(t)
    }
    /// The tokens.
    pub fn tokens(&self) -> &[TreeToken] {
        &self.0
    }
    /// A definition from tokens, as read from a file.
    ///
    /// # Errors
    /// [`TreeError`] when they do not form exactly one tree as `flatten` makes them, or nest deeper than
    /// [`MAX_TREE_DEPTH`](super::MAX_TREE_DEPTH).
    pub fn from_tokens(tokens: Vec<TreeToken>) -> Result<TreeDef> {
        let check = Wellformed::check(&tokens);
        check.map_err(|got| TreeError { path: String::new(), expected: "one tree".into(), got: got.into() })?;
        Ok(TreeDef(tokens))
    }
    /// The number of leaves.
    pub fn leaf_count(&self) -> usize {
        self.0.iter().filter(|t| matches!(t, TreeToken::Leaf)).count()
    }
    /// If the root is a tuple: its children. Otherwise the whole as the only child.
    pub fn arguments(&self) -> Vec<TreeDef> {
        let Some(TreeToken::Open(TreeKind::Tuple, _)) = self.0.first() else { return vec![self.clone()] };
        let (mut out, mut cur, mut depth) = (vec![], vec![], 0usize);
        for t in self.0.get(1..self.0.len() - 1).unwrap_or_default() {
            match t {
                TreeToken::Open(..) => depth += 1,
                TreeToken::Close => depth = depth.saturating_sub(1),
                _ => {}
            }
            cur.push(t.clone());
            if depth == 0 && !matches!(t, TreeToken::Key(_)) {
                out.push(TreeDef(std::mem::take(&mut cur)));
            }
        }
        out
    }
    /// The path of every leaf: `0.w1`, `1[3]` … ; the empty string for a tree that is a leaf.
    pub fn paths(&self) -> Vec<String> {
        let mut out = vec![];
        let mut p = Path::default();
        for t in &self.0 {
            if matches!(t, TreeToken::Leaf) {
                p.enter();
                out.push(p.text());
                p.leave();
            } else {
                p.step(t);
            }
        }
        out
    }
    /// The first difference from `other`, which should have this structure: the path, what is here, what is there.
    pub fn difference(&self, other: &TreeDef) -> Option<TreeError> {
        let mut p = Path::default();
        for (i, t) in self.0.iter().enumerate() {
            let o = other.0.get(i);
            if Some(t) != o {
                p.approach(t);
                return Some(TreeError { path: p.text(), expected: describe(Some(t)), got: describe(o) });
            }
            p.step(t);
        }
        let extra = other.0.get(self.0.len())?;
        Some(TreeError { path: p.text(), expected: "the end".into(), got: describe(Some(extra)) })
    }
}

impl TryFrom<Vec<TreeToken>> for TreeDef {
    type Error = crate::Error;
    fn try_from(tokens: Vec<TreeToken>) -> Result<TreeDef> {
        TreeDef::from_tokens(tokens)
    }
}
