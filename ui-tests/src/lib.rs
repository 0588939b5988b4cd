//! Functions that rustc and clippy must have nothing to say about: this crate is linted with the workspace, so a warning
//! that a macro adds and the user did not earn fails there. The cases themselves are in `fail/` and `pass/`.
#![deny(warnings, clippy::all)]

use evoxc::prelude::*;

/// What a layer computes, apart from its weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Number of heads.
    pub heads: usize,
    /// Which activation.
    pub act: String,
}

/// Weights.
#[derive(Tree, Clone, Debug)]
pub struct Params<T> {
    /// Matrix.
    pub w: T,
    /// Bias.
    pub b: Option<T>,
    /// Number of heads.
    #[tree(static)]
    pub heads: usize,
}

/// A layer.
#[defn]
pub fn layer(p: Params<Sym>, x: Sym, cfg: &Config) -> Sym {
    let y = x.dot(p.w);
    let y = if let Some(b) = p.b
        && cfg.heads > 1
    {
        y + b
    } else {
        y
    };
    match cfg.act.as_str() {
        "tanh" => y.tanh(),
        "relu" => (y > 0.0).select(y, 0.0),
        _ => y,
    }
}

/// Static values only; identities such as `* 0` and `x == x` mean something on `Sym`s.
#[defn]
pub fn arithmetic(mut x: Sym, n: usize, scale: impl Fn(Sym) -> Sym) -> Vec<Sym> {
    let mut out = vec![x * 0, x - x, (x == x).select(1, 0)];
    for i in 0..n {
        if (i > 2 && i % 2 == 0) || i == 1 {
            continue;
        }
        x += i;
        out.push(scale(x));
    }
    while out.len() > 7 {
        out.pop();
    }
    assert!(!out.is_empty());
    out
}

/// Methods, with a static receiver.
impl Config {
    /// Splits, or not.
    #[defn]
    pub fn split(&self, x: Sym) -> Option<Sym> {
        if self.heads == 1 {
            return None;
        }
        let head = x / self.heads;
        Some(head)
    }
}
