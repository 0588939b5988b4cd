#![deny(warnings, missing_docs)]
//! The signature, the docs and the attributes stay: `missing_docs` finds every function documented, `must_use` and
//! `deprecated` still act.

use evoxc::prelude::*;

/// A documented function.
#[defn]
#[must_use]
#[inline]
pub fn documented(x: Sym, n: usize) -> Sym {
    #![allow(clippy::let_and_return)]
    let y = x * n;
    y
}

/// Old.
#[defn]
#[deprecated(note = "use `documented`")]
pub fn old(x: Sym) -> Sym {
    x
}

/// The signature is the one written.
pub const SIGNATURE: fn(Sym, usize) -> Sym = documented;

#[allow(deprecated)]
fn main() {
    let _ = old;
}
