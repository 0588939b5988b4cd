//! Trees: nested structures whose leaves are specs, symbols or tensors.
//!
//! A tree is flattened to its leaves and a [`TreeDef`], the structure without them. The leaf type is a parameter of
//! [`Tree`], so that `Params<Sym>` maps to `Params<Tensor>` and `()` is a tree of any leaf.

use crate::{Result, Tensor, TensorSpec, TreeError};
use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

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
pub struct LiveStatic(Arc<dyn Any + Send + Sync>);
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
pub struct TreeDef(Vec<TreeToken>);

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
    /// [`MAX_TREE_DEPTH`].
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

/// Trees read from files nest at most this deep, so that rebuilding a recursive type cannot exhaust the stack.
pub const MAX_TREE_DEPTH: usize = 200;

/// The open nodes while tokens are checked.
struct Wellformed<'a>(Vec<OpenNode<'a>>);
struct OpenNode<'a> {
    kind: &'a TreeKind,
    /// Children to come.
    left: usize,
    /// A name was read, its child is to come.
    named: bool,
    /// The last name read.
    last: Option<&'a str>,
}
impl<'a> Wellformed<'a> {
    fn check(tokens: &'a [TreeToken]) -> Result<(), &'static str> {
        let mut open = Wellformed(vec![]);
        let mut trees = 0;
        for t in tokens {
            if open.0.is_empty() {
                trees += 1;
            }
            open.token(t)?;
        }
        match (trees, open.0.is_empty()) {
            (1, true) => Ok(()),
            (_, false) => Err("a node without an end"),
            (0, true) => Err("nothing"),
            (_, true) => Err("several trees"),
        }
    }
    fn token(&mut self, t: &'a TreeToken) -> Result<(), &'static str> {
        match t {
            TreeToken::Leaf => self.child(false),
            TreeToken::Static(..) => self.child(true),
            TreeToken::Open(kind, n) => {
                self.child(false)?;
                if self.0.len() >= MAX_TREE_DEPTH {
                    return Err("a tree that nests too deep");
                }
                match (kind, n) {
                    (TreeKind::Some, 1) | (TreeKind::None, 0) => {}
                    (TreeKind::Some | TreeKind::None, _) => return Err("an option with another number of children"),
                    (TreeKind::Tuple | TreeKind::List | TreeKind::Map | TreeKind::Struct(..), _) => {}
                }
                self.0.push(OpenNode { kind, left: *n, named: false, last: None });
                Ok(())
            }
            TreeToken::Key(k) => match self.0.last_mut() {
                Some(node) if node.left > 0 && !node.named => {
                    match node.kind {
                        TreeKind::Struct(..) => {}
                        TreeKind::Map if node.last.is_none_or(|last| last < &**k) => {}
                        TreeKind::Map => return Err("keys of a map out of order"),
                        TreeKind::Tuple | TreeKind::List | TreeKind::Some | TreeKind::None => {
                            return Err("a name outside of a struct");
                        }
                    }
                    (node.named, node.last) = (true, Some(&**k));
                    Ok(())
                }
                _ => Err("a name without a child"),
            },
            TreeToken::Close => match self.0.pop() {
                Some(OpenNode { left: 0, .. }) => Ok(()),
                _ => Err("a node that ends too early"),
            },
        }
    }
    fn child(&mut self, is_static: bool) -> Result<(), &'static str> {
        let Some(node) = self.0.last_mut() else {
            return if is_static { Err("a static value outside of a struct") } else { Ok(()) };
        };
        let wants_name = matches!(node.kind, TreeKind::Struct(..) | TreeKind::Map);
        if is_static && !matches!(node.kind, TreeKind::Struct(..)) {
            return Err("a static value outside of a struct");
        }
        if wants_name != node.named {
            return Err("a field without a name");
        }
        node.left = node.left.checked_sub(1).ok_or("a node with too many children")?;
        node.named = false;
        Ok(())
    }
}

/// The way from the root to the token at hand.
#[derive(Default)]
struct Path(Vec<(TreeKind, Option<Cow<'static, str>>, usize)>);
impl Path {
    fn enter(&mut self) {
        self.0.push((TreeKind::None, None, 0));
    }
    /// Enters what begins with `t`; a name or an end belongs to the node around it.
    fn approach(&mut self, t: &TreeToken) {
        match t {
            TreeToken::Leaf | TreeToken::Open(..) | TreeToken::Static(..) => self.enter(),
            TreeToken::Key(_) | TreeToken::Close => {}
        }
    }
    fn leave(&mut self) {
        self.0.pop();
        self.next();
    }
    fn next(&mut self) {
        if let Some(l) = self.0.last_mut() {
            l.1 = None;
            l.2 += 1;
        }
    }
    fn step(&mut self, t: &TreeToken) {
        match t {
            TreeToken::Leaf | TreeToken::Static(..) => self.next(),
            TreeToken::Open(k, _) => self.0.push((k.clone(), None, 0)),
            TreeToken::Key(k) => {
                if let Some(l) = self.0.last_mut() {
                    l.1 = Some(k.clone());
                }
            }
            TreeToken::Close => self.leave(),
        }
    }
    fn text(&self) -> String {
        let mut s = String::new();
        for (kind, key, i) in self.0.iter().take(self.0.len().saturating_sub(1)) {
            let dot = if s.is_empty() { "" } else { "." };
            match (kind, key) {
                (TreeKind::Map, Some(k)) => s += &format!("[{k:?}]"),
                (_, Some(k)) => s += &format!("{dot}{k}"),
                (TreeKind::Tuple | TreeKind::Struct(..), None) => s += &format!("{dot}{i}"),
                (TreeKind::List, None) => s += &format!("[{i}]"),
                (TreeKind::Map | TreeKind::Some | TreeKind::None, None) => {}
            }
        }
        s
    }
}

fn describe(t: Option<&TreeToken>) -> String {
    match t {
        None => "nothing".into(),
        Some(TreeToken::Leaf) => "a tensor".into(),
        Some(TreeToken::Key(k)) => format!("`{k}`"),
        Some(TreeToken::Static(s, _)) => format!("the static value {s}"),
        Some(TreeToken::Close) => "the end of the node".into(),
        Some(TreeToken::Open(k, n)) => match k {
            TreeKind::Tuple => format!("a tuple of {n}"),
            TreeKind::List => format!("a list of {n}"),
            TreeKind::Some => "Some".into(),
            TreeKind::None => "None".into(),
            TreeKind::Map => format!("a map of {n}"),
            TreeKind::Struct(s, None) => format!("`{s}`"),
            TreeKind::Struct(s, Some(v)) => format!("`{s}::{v}`"),
        },
    }
}

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
    leaves: Vec<L>,
    def: Vec<TreeToken>,
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

/// Restores a static value of a plain type from its `Debug` text.
fn restore<T: StaticValue>(text: &str) -> Option<T> {
    fn parse<V: std::str::FromStr + 'static>(text: &str) -> Option<Box<dyn Any>> {
        Some(Box::new(text.parse::<V>().ok()?))
    }
    type Parse = fn(&str) -> Option<Box<dyn Any>>;
    let tries: [Parse; 15] = [
        parse::<bool>,
        parse::<i8>,
        parse::<i16>,
        parse::<i32>,
        parse::<i64>,
        parse::<i128>,
        parse::<isize>,
        parse::<u8>,
        parse::<u16>,
        parse::<u32>,
        parse::<u64>,
        parse::<u128>,
        parse::<usize>,
        parse::<f32>,
        parse::<f64>,
    ];
    tries.iter().find_map(|f| f(text)?.downcast::<T>().ok().map(|b| *b))
}

/// Rebuilds a tree from a structure and leaves.
///
/// ```
/// use evoxc::{Flatten, Leaf, Unflatten, prelude::*};
/// struct Point<T>(T, T);
/// impl<L: Leaf> Tree<L> for Point<L> {
///     type Map<U: Leaf> = Point<U>;
///     fn flatten(self, out: &mut Flatten<L>) {
///         (self.0, self.1).flatten(out)
///     }
///     fn unflatten(src: &mut Unflatten<'_, L>) -> evoxc::Result<Self> {
///         <(L, L)>::unflatten(src).map(|(x, y)| Point(x, y))
///     }
/// }
/// let graph = trace(|p: Point<Sym>| p.0 + p.1, Point(spec(F32, []), spec(F32, [])))?;
/// assert_eq!(graph.specs().1, spec(F32, []));
/// # Ok::<(), evoxc::Error>(())
/// ```
pub struct Unflatten<'a, L> {
    def: &'a TreeDef,
    at: usize,
    leaves: std::vec::IntoIter<L>,
}

impl<'a, L> Unflatten<'a, L> {
    /// The error at the token at hand; its path is worked out here, so that success costs nothing.
    fn error(&self, expected: impl Into<String>, got: impl Into<String>) -> crate::Error {
        let mut p = Path::default();
        self.def.0.iter().take(self.at).for_each(|t| p.step(t));
        if let Some(t) = self.def.0.get(self.at) {
            p.approach(t);
        }
        TreeError { path: p.text(), expected: expected.into(), got: got.into() }.into()
    }
    /// The error of a node that was entered just now.
    fn error_of_node(&mut self, expected: impl Into<String>, got: impl Into<String>) -> crate::Error {
        self.at = self.at.saturating_sub(1);
        self.error(expected, got)
    }
    fn peek(&self) -> Option<&'a TreeToken> {
        self.def.0.get(self.at)
    }
    /// The next leaf.
    ///
    /// # Errors
    /// [`TreeError`] if something else is next.
    pub fn leaf(&mut self) -> Result<L> {
        match (self.peek(), self.leaves.as_slice().is_empty()) {
            (Some(TreeToken::Leaf), false) => self.at += 1,
            (t, _) => return Err(self.error("a tensor", describe(t))),
        }
        self.leaves.next().ok_or_else(|| self.error("a tensor", "nothing"))
    }
    /// Enters a node and gives its kind and number of children.
    ///
    /// # Errors
    /// [`TreeError`] if something else is next.
    pub fn open(&mut self, expected: &str) -> Result<(&'a TreeKind, usize)> {
        match self.peek() {
            Some(TreeToken::Open(k, n)) => {
                self.at += 1;
                Ok((k, *n))
            }
            other => Err(self.error(expected, describe(other))),
        }
    }
    /// Enters a derived struct or enum and gives the variant.
    ///
    /// # Errors
    /// [`TreeError`] if something else is next.
    pub fn open_struct(&mut self, name: &'static str) -> Result<Option<String>> {
        match self.peek() {
            Some(TreeToken::Open(TreeKind::Struct(n, v), _)) if n == name => {
                self.at += 1;
                Ok(v.as_ref().map(|v| v.to_string()))
            }
            other => Err(self.error(format!("`{name}`"), describe(other))),
        }
    }
    /// The error for a variant that the enum entered just now does not have.
    pub fn unknown_variant(&mut self, name: &str, variant: &Option<String>) -> crate::Error {
        let got = variant.as_ref().map_or("none".into(), |v| format!("`{name}::{v}`"));
        self.error_of_node(format!("a variant of `{name}`"), got)
    }
    /// Consumes the name of a child.
    ///
    /// # Errors
    /// [`TreeError`] if something else is next.
    pub fn key(&mut self) -> Result<&'a str> {
        match self.peek() {
            Some(TreeToken::Key(k)) => {
                self.at += 1;
                Ok(k)
            }
            other => Err(self.error("a field", describe(other))),
        }
    }
    fn named(&mut self, name: &'static str) -> Result<()> {
        match self.peek() {
            Some(TreeToken::Key(k)) if k == name => {
                self.at += 1;
                Ok(())
            }
            other => Err(self.error(format!("`{name}`"), describe(other))),
        }
    }
    /// A named child.
    ///
    /// # Errors
    /// [`TreeError`] if something else is next.
    pub fn field<T: Tree<L>>(&mut self, name: &'static str) -> Result<T>
    where
        L: Leaf,
    {
        self.named(name)?;
        T::unflatten(self)
    }
    /// A named static value.
    ///
    /// # Errors
    /// [`TreeError`] if something else is next, or the tree was read from a file and the value's type is no plain
    /// number or `bool`, so that its text is all there is.
    pub fn stat<T: StaticValue>(&mut self, name: &'static str) -> Result<T> {
        self.named(name)?;
        let Some(TreeToken::Static(text, live)) = self.peek() else {
            return Err(self.error("a static value", describe(self.peek())));
        };
        let value = live.as_ref().and_then(|l| l.0.downcast_ref::<T>().cloned()).or_else(|| restore(text));
        let value = value.ok_or_else(|| {
            let expected = format!("`{name}` of type {}", std::any::type_name::<T>());
            self.error(expected, format!("only its text `{text}`: use `typed_like` with a live value of the tree"))
        })?;
        self.at += 1;
        Ok(value)
    }
    /// Leaves the node entered last.
    ///
    /// # Errors
    /// [`TreeError`] if children are left.
    pub fn close(&mut self) -> Result<()> {
        match self.peek() {
            Some(TreeToken::Close) => {
                self.at += 1;
                Ok(())
            }
            other => Err(self.error("the end of the node", describe(other))),
        }
    }
    fn expect(&mut self, kind: TreeKind, n: Option<usize>) -> Result<usize> {
        match self.peek() {
            Some(TreeToken::Open(k, m)) if *k == kind && n.is_none_or(|n| n == *m) => {
                self.at += 1;
                Ok(*m)
            }
            other => {
                let want = match (&kind, n) {
                    (TreeKind::List, None) => "a list".into(),
                    (TreeKind::Map, None) => "a map".into(),
                    _ => describe(Some(&TreeToken::Open(kind, n.unwrap_or(0)))),
                };
                Err(self.error(want, describe(other)))
            }
        }
    }
}

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
    /// [`TreeError`] where the structures differ.
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

macro_rules! leaf {
    ($($t:ty)*) => { $(
        impl Leaf for $t {}
        impl Tree<$t> for $t {
            type Map<U: Leaf> = U;
            fn flatten(self, out: &mut Flatten<$t>) { out.leaf(self) }
            fn unflatten(src: &mut Unflatten<'_, $t>) -> Result<Self> { src.leaf() }
        }
    )* };
}
leaf!(Tensor TensorSpec);

impl<L: Leaf> Tree<L> for () {
    type Map<U: Leaf> = ();
    fn flatten(self, out: &mut Flatten<L>) {
        out.open(TreeKind::Tuple, 0);
        out.close();
    }
    fn unflatten(src: &mut Unflatten<'_, L>) -> Result<Self> {
        src.expect(TreeKind::Tuple, Some(0))?;
        src.close()
    }
}
macro_rules! tuples {
    ($($n:literal: $($t:ident $i:tt)+;)*) => { $(
        impl<L: Leaf, $($t: Tree<L>),+> Tree<L> for ($($t,)+) {
            type Map<U: Leaf> = ($($t::Map<U>,)+);
            fn flatten(self, out: &mut Flatten<L>) {
                out.open(TreeKind::Tuple, $n);
                $(self.$i.flatten(out);)+
                out.close();
            }
            fn unflatten(src: &mut Unflatten<'_, L>) -> Result<Self> {
                src.expect(TreeKind::Tuple, Some($n))?;
                let t = ($(<$t>::unflatten(src)?,)+);
                src.close()?;
                Ok(t)
            }
        }
    )* };
}
tuples! { 1: A 0; 2: A 0 B 1; 3: A 0 B 1 C 2; 4: A 0 B 1 C 2 D 3; 5: A 0 B 1 C 2 D 3 E 4; 6: A 0 B 1 C 2 D 3 E 4 F 5;
7: A 0 B 1 C 2 D 3 E 4 F 5 G 6; 8: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7; 9: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8;
10: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9; 11: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10;
12: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 M 11; }

impl<L: Leaf, A: Tree<L>, const N: usize> Tree<L> for [A; N] {
    type Map<U: Leaf> = [A::Map<U>; N];
    fn flatten(self, out: &mut Flatten<L>) {
        out.open(TreeKind::List, N);
        self.into_iter().for_each(|a| a.flatten(out));
        out.close();
    }
    fn unflatten(src: &mut Unflatten<'_, L>) -> Result<Self> {
        let n = src.expect(TreeKind::List, Some(N))?;
        let v = (0..n).map(|_| A::unflatten(src)).collect::<Result<Vec<A>>>()?;
        src.close()?;
        v.try_into().map_err(|_| src.error(format!("a list of {N}"), format!("a list of {n}")))
    }
}
impl<L: Leaf, A: Tree<L>> Tree<L> for Vec<A> {
    type Map<U: Leaf> = Vec<A::Map<U>>;
    fn flatten(self, out: &mut Flatten<L>) {
        out.open(TreeKind::List, self.len());
        self.into_iter().for_each(|a| a.flatten(out));
        out.close();
    }
    fn unflatten(src: &mut Unflatten<'_, L>) -> Result<Self> {
        let n = src.expect(TreeKind::List, None)?;
        let v = (0..n).map(|_| A::unflatten(src)).collect::<Result<Vec<A>>>()?;
        src.close()?;
        Ok(v)
    }
}
impl<L: Leaf, A: Tree<L>> Tree<L> for Option<A> {
    type Map<U: Leaf> = Option<A::Map<U>>;
    fn flatten(self, out: &mut Flatten<L>) {
        match self {
            Some(a) => {
                out.open(TreeKind::Some, 1);
                a.flatten(out);
            }
            None => out.open(TreeKind::None, 0),
        }
        out.close();
    }
    fn unflatten(src: &mut Unflatten<'_, L>) -> Result<Self> {
        let t = match src.open("an Option")? {
            (TreeKind::Some, _) => Some(A::unflatten(src)?),
            (TreeKind::None, _) => None,
            (k, n) => {
                let got = describe(Some(&TreeToken::Open(k.clone(), n)));
                return Err(src.error_of_node("an Option", got));
            }
        };
        src.close()?;
        Ok(t)
    }
}
impl<L: Leaf, A: Tree<L>> Tree<L> for Box<A> {
    type Map<U: Leaf> = Box<A::Map<U>>;
    fn flatten(self, out: &mut Flatten<L>) {
        (*self).flatten(out);
    }
    fn unflatten(src: &mut Unflatten<'_, L>) -> Result<Self> {
        A::unflatten(src).map(Box::new)
    }
}
impl<L: Leaf, A: Tree<L>> Tree<L> for BTreeMap<String, A> {
    type Map<U: Leaf> = BTreeMap<String, A::Map<U>>;
    fn flatten(self, out: &mut Flatten<L>) {
        out.open(TreeKind::Map, self.len());
        for (k, a) in self {
            out.key(k);
            a.flatten(out);
        }
        out.close();
    }
    fn unflatten(src: &mut Unflatten<'_, L>) -> Result<Self> {
        let n = src.expect(TreeKind::Map, None)?;
        let mut m = BTreeMap::new();
        for _ in 0..n {
            let k = src.key()?.to_string();
            m.insert(k, A::unflatten(src)?);
        }
        src.close()?;
        Ok(m)
    }
}

/// A tree whose structure is known at run time only: what erased graphs and executables take and give.
///
/// ```
/// use evoxc::{Dyn, Tensor};
/// let d = Dyn::of((Tensor::from(1f32), Tensor::from(2f32)));
/// assert_eq!(d.leaves().len(), 2);
/// let (_, b): (Tensor, Tensor) = d.into().unwrap();
/// assert_eq!(b.item::<f32>().unwrap(), 2.0);
/// ```
#[derive(Clone, Debug)]
pub struct Dyn<L> {
    def: TreeDef,
    leaves: Vec<L>,
}
impl<L: Leaf> Tree<L> for Dyn<L> {
    type Map<U: Leaf> = Dyn<U>;
    fn flatten(self, out: &mut Flatten<L>) {
        out.leaves.extend(self.leaves);
        out.def.extend(self.def.0);
    }
    fn unflatten(src: &mut Unflatten<'_, L>) -> Result<Self> {
        let (mut depth, start) = (0usize, src.at);
        let mut leaves = vec![];
        loop {
            match src.peek() {
                Some(TreeToken::Leaf) => leaves.push(src.leaf()?),
                Some(other) => {
                    match other {
                        TreeToken::Open(..) => depth += 1,
                        TreeToken::Close => depth = depth.saturating_sub(1),
                        TreeToken::Leaf | TreeToken::Key(_) | TreeToken::Static(..) => {}
                    }
                    src.at += 1;
                }
                None => return Err(src.error("a tree", "nothing")),
            }
            if depth == 0 {
                break;
            }
        }
        Ok(Dyn { def: TreeDef(src.def.0.get(start..src.at).unwrap_or_default().to_vec()), leaves })
    }
}
impl<L: Leaf> Dyn<L> {
    /// The erased form of a tree.
    pub fn of<T: Tree<L>>(t: T) -> Dyn<L> {
        let (leaves, def) = TreeDef::flatten(t);
        Dyn { def, leaves }
    }
    /// The typed form.
    ///
    /// # Errors
    /// [`TreeError`] where the structures differ.
    #[allow(clippy::should_implement_trait)]
    pub fn into<T: Tree<L>>(self) -> Result<T> {
        self.def.unflatten(self.leaves)
    }
    /// The leaves in order.
    pub fn leaves(&self) -> &[L] {
        &self.leaves
    }
    /// The structure.
    pub fn def(&self) -> &TreeDef {
        &self.def
    }
}

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
impl<L> ArgAt<0> for Dyn<L> {
    type Arg = Self;
}
