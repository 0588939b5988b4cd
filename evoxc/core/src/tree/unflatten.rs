//! Putting a tree together.

use super::path::{Path, describe};
use super::{Leaf, StaticValue, Tree, TreeDef, TreeKind, TreeToken};
use crate::{Result, TreeError};
use std::any::Any;

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
    pub(super) def: &'a TreeDef,
    pub(super) at: usize,
    pub(super) leaves: std::vec::IntoIter<L>,
}

impl<'a, L> Unflatten<'a, L> {
    /// The error at the token at hand; its path is worked out here, so that success costs nothing.
    pub(super) fn error(&self, expected: impl Into<String>, got: impl Into<String>) -> crate::Error {
        let mut p = Path::default();
        self.def.0.iter().take(self.at).for_each(|t| p.step(t));
        if let Some(t) = self.def.0.get(self.at) {
            p.approach(t);
        }
        TreeError { path: p.text(), expected: expected.into(), got: got.into() }.into()
    }
    /// The error of a node that was entered just now.
    pub(super) fn error_of_node(&mut self, expected: impl Into<String>, got: impl Into<String>) -> crate::Error {
        self.at = self.at.saturating_sub(1);
        self.error(expected, got)
    }
    pub(super) fn peek(&self) -> Option<&'a TreeToken> {
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
    pub(super) fn named(&mut self, name: &'static str) -> Result<()> {
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
    pub(super) fn expect(&mut self, kind: TreeKind, n: Option<usize>) -> Result<usize> {
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
