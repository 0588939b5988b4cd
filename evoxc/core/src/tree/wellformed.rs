//! The check that tokens from a file form one tree.

use super::{TreeKind, TreeToken};
use crate::Result;

/// Trees read from files nest at most this deep, so that rebuilding a recursive type cannot exhaust the stack.
pub const MAX_TREE_DEPTH: usize = 200;

/// The open nodes while tokens are checked.
pub(super) struct Wellformed<'a>(Vec<OpenNode<'a>>);
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
    pub(super) fn check(tokens: &'a [TreeToken]) -> Result<(), &'static str> {
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
    pub(super) fn token(&mut self, t: &'a TreeToken) -> Result<(), &'static str> {
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
    pub(super) fn child(&mut self, is_static: bool) -> Result<(), &'static str> {
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
