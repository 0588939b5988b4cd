//! Direct recursion: owns the check that a `#[defn]` does not call itself, which would not end while the graph is built.
//!
//! The check sees names only, so it stands back wherever the name may mean something else: bound by a pattern, a nested
//! function or a `use` anywhere in the body, or written with a path (`self::f`).

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit_mut::{self, VisitMut};
use syn::{Error, Expr, ItemFn, Pat};

/// One error for each call of the function to itself.
pub fn check(f: &ItemFn, errors: &mut Vec<Error>) {
    let mut calls =
        Calls { name: &f.sig.ident, method: f.sig.receiver().is_some(), shadowed: false, found: Vec::new() };
    // The syntax tree is only read, but one visitor (the mutable one) is enough to compile.
    let mut copy = f.clone();
    for input in &mut copy.sig.inputs {
        if let syn::FnArg::Typed(typed) = input {
            calls.visit_pat_mut(&mut typed.pat);
        }
    }
    calls.visit_block_mut(&mut copy.block);
    if calls.shadowed {
        return;
    }
    errors.extend(calls.found.into_iter().map(|call| {
        let message = format!(
            "`{}` calls itself, which would not end while the graph is built: repeat at run time with `while_loop`, \
             `fori_loop` or `scan`, or over static values with a Rust loop",
            f.sig.ident
        );
        Error::new_spanned(call, message)
    }));
}

struct Calls<'a> {
    name: &'a Ident,
    method: bool,
    shadowed: bool,
    found: Vec<TokenStream>,
}

impl Calls<'_> {
    fn is_own_path(&self, path: &syn::Path) -> bool {
        // In a method the bare name is another function.
        let mut segments = path.segments.iter().map(|segment| &segment.ident);
        match (segments.next(), segments.next(), segments.next()) {
            (Some(name), None, None) => name == self.name && !self.method,
            (Some(first), Some(name), None) => first == "Self" && name == self.name,
            _ => false,
        }
    }
}

impl VisitMut for Calls<'_> {
    fn visit_item_mut(&mut self, item: &mut syn::Item) {
        self.shadowed |= match item {
            syn::Item::Fn(f) => f.sig.ident == *self.name,
            syn::Item::Use(u) => mentions(u.tree.to_token_stream(), self.name),
            _ => false,
        };
    }

    fn visit_pat_mut(&mut self, pat: &mut Pat) {
        if let Pat::Ident(p) = pat {
            self.shadowed |= p.ident == *self.name;
        }
        visit_mut::visit_pat_mut(self, pat);
    }

    fn visit_expr_mut(&mut self, e: &mut Expr) {
        match e {
            Expr::Call(call) => {
                if let Expr::Path(path) = &*call.func
                    && path.qself.is_none()
                    && self.is_own_path(&path.path)
                {
                    self.found.push(path.to_token_stream());
                }
            }
            Expr::MethodCall(call) if self.method && call.method == *self.name => {
                if matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident("self")) {
                    self.found.push(call.method.to_token_stream());
                }
            }
            _ => {}
        }
        visit_mut::visit_expr_mut(self, e);
    }
}

/// Does the name occur in these tokens, other than as a field or a method (after one dot)? Strings count where they may be
/// format strings: `"{name}"`.
pub fn mentions(tokens: TokenStream, name: &Ident) -> bool {
    let mut dots = 0;
    for token in tokens {
        let found = match &token {
            TokenTree::Ident(ident) => ident == name && dots != 1,
            TokenTree::Group(group) => mentions(group.stream(), name),
            TokenTree::Literal(lit) => lit.to_string().contains(&format!("{{{name}")),
            TokenTree::Punct(_) => false,
        };
        if found {
            return true;
        }
        dots = match &token {
            TokenTree::Punct(p) if p.as_char() == '.' => dots + 1,
            TokenTree::Group(g) if g.delimiter() == Delimiter::None => dots,
            _ => 0,
        };
    }
    false
}
