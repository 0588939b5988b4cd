//! Paths into a tree, for errors: `params.layers[3].w`.

use super::{TreeKind, TreeToken};
use std::borrow::Cow;

/// The way from the root to the token at hand.
#[derive(Default)]
pub(super) struct Path(Vec<(TreeKind, Option<Cow<'static, str>>, usize)>);
impl Path {
    pub(super) fn enter(&mut self) {
        self.0.push((TreeKind::None, None, 0));
    }
    /// Enters what begins with `t`; a name or an end belongs to the node around it.
    pub(super) fn approach(&mut self, t: &TreeToken) {
        match t {
            TreeToken::Leaf | TreeToken::Open(..) | TreeToken::Static(..) => self.enter(),
            TreeToken::Key(_) | TreeToken::Close => {}
        }
    }
    pub(super) fn leave(&mut self) {
        self.0.pop();
        self.next();
    }
    pub(super) fn next(&mut self) {
        if let Some(l) = self.0.last_mut() {
            l.1 = None;
            l.2 += 1;
        }
    }
    pub(super) fn step(&mut self, t: &TreeToken) {
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
    pub(super) fn text(&self) -> String {
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

pub(super) fn describe(t: Option<&TreeToken>) -> String {
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
