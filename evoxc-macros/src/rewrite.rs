//! The rewriting of a body: owns which expressions of a `#[defn]` change, and into what.
//!
//! | written                          | becomes                                        |
//! |----------------------------------|------------------------------------------------|
//! | `a < b` and the other five       | `lt(&a, &b)`                                   |
//! | `if c`, `while c`, a guard `if c` | `if static_bool(c)`; let-chains keep their shape |
//! | `a && b`, `a \|\| b`             | `static_bool(a) && static_bool(b)`             |
//! | `for p in e`                     | `for p in IterOf(e).iterate()`                 |
//! | `match e` with literal patterns  | `match *StaticMatch::get(&e)`                  |
//! | `let name = e`                   | `let name = named("name", e)`                  |
//!
//! Every other token passes through with its span. Nested items, types, patterns, const blocks and array lengths are left
//! alone: they are not evaluated while tracing.

use crate::emit::{Ends, bare, borrow, call, deref, method, take};
use crate::krate::Krate;
use crate::names::name_let;
use proc_macro2::{Span, TokenTree};
use quote::ToTokens;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Error, Expr, ExprLit, ExprMatch, Lit, LitStr, Local, Macro, Pat, Token};

/// The visitor; start it at a function's block.
pub struct Rewrite<'a> {
    pub krate: &'a Krate,
    pub errors: &'a mut Vec<Error>,
    /// A `for` was met: the body needs the trait `IterateStatic` in scope.
    pub iterates: bool,
}

impl Rewrite<'_> {
    fn call(&self, name: &str, args: impl IntoIterator<Item = Expr>, ends: Ends) -> Expr {
        call(self.krate, name, args, ends)
    }

    /// A condition: every operand that is not a `let` must be a static boolean.
    fn condition(&mut self, c: &mut Expr) {
        match c {
            Expr::Let(l) => self.visit_expr_mut(&mut l.expr),
            // A let-chain is not an expression of its own: it cannot be wrapped whole.
            Expr::Binary(b) if matches!(b.op, BinOp::And(_)) && (has_let(&b.left) || has_let(&b.right)) => {
                self.condition(&mut b.left);
                self.condition(&mut b.right);
            }
            // These check their operands themselves, and give a `bool`.
            Expr::Binary(b) if is_lazy(&b.op) => self.visit_expr_mut(c),
            _ => {
                let ends = Ends::of(c);
                self.visit_expr_mut(c);
                *c = self.call("static_bool", [bare(take(c))], ends);
            }
        }
    }

    fn comparison(&mut self, name: &str, e: &mut Expr) {
        let ends = Ends::of(e);
        let Expr::Binary(b) = e else { return };
        let (left_ends, right_ends) = (Ends::of(&b.left), Ends::of(&b.right));
        visit_mut::visit_expr_binary_mut(self, b);
        let args = [borrow(take(&mut b.left), left_ends), borrow(take(&mut b.right), right_ends)];
        *e = self.call(name, args, ends);
    }

    fn match_(&mut self, m: &mut ExprMatch) {
        let ends = Ends::of(&m.expr);
        self.visit_expr_mut(&mut m.expr);
        if m.arms.iter().any(|arm| is_literal(&arm.pat)) {
            let get = self.call("StaticMatch::get", [borrow(take(&mut m.expr), ends)], ends);
            *m.expr = deref(get, ends);
        }
        for arm in &mut m.arms {
            if let Some((_, guard)) = &mut arm.guard {
                self.condition(guard);
            }
            self.visit_expr_mut(&mut arm.body);
        }
    }

    /// `assert!(c, ..)`. Its own message would quote the rewritten condition, so the original goes in as text.
    fn assertion(&mut self, args: &mut Punctuated<Expr, Token![,]>) {
        let alone = args.len() == 1;
        let mut message = None;
        for (i, arg) in args.iter_mut().enumerate() {
            if i > 0 {
                self.visit_expr_mut(arg);
                continue;
            }
            let text = arg.to_token_stream().to_string().replace('{', "{{").replace('}', "}}");
            message = alone.then(|| LitStr::new(&format!("assertion failed: {text}"), Span::call_site()));
            self.condition(arg);
        }
        args.extend(message.map(|text| Expr::Lit(ExprLit { attrs: Vec::new(), lit: Lit::Str(text) })));
    }
}

impl VisitMut for Rewrite<'_> {
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
    fn visit_type_mut(&mut self, _: &mut syn::Type) {}
    fn visit_pat_mut(&mut self, _: &mut Pat) {}
    fn visit_attribute_mut(&mut self, _: &mut syn::Attribute) {}
    fn visit_expr_const_mut(&mut self, _: &mut syn::ExprConst) {}
    fn visit_generic_argument_mut(&mut self, _: &mut syn::GenericArgument) {}

    fn visit_expr_repeat_mut(&mut self, repeat: &mut syn::ExprRepeat) {
        self.visit_expr_mut(&mut repeat.expr);
    }

    fn visit_local_mut(&mut self, local: &mut Local) {
        let Some(init) = &mut local.init else { return };
        self.visit_expr_mut(&mut init.expr);
        match &mut init.diverge {
            Some((_, otherwise)) => self.visit_expr_mut(otherwise),
            None => name_let(self.krate, &local.pat, &mut init.expr),
        }
    }

    /// Only macros whose arguments are known to be expressions are entered.
    fn visit_macro_mut(&mut self, m: &mut Macro) {
        let asserts = m.path.is_ident("assert") || m.path.is_ident("debug_assert");
        if !asserts && !m.path.is_ident("vec") {
            return;
        }
        // `vec![x; n]` does not parse as a list: it stays as it is, like a macro we do not know.
        let Ok(mut args) = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(m.tokens.clone()) else {
            return;
        };
        if asserts {
            self.assertion(&mut args);
        } else {
            args.iter_mut().for_each(|arg| self.visit_expr_mut(arg));
        }
        m.tokens = args.to_token_stream();
    }

    fn visit_expr_mut(&mut self, e: &mut Expr) {
        match e {
            Expr::If(branches) => {
                self.condition(&mut branches.cond);
                self.visit_block_mut(&mut branches.then_branch);
                if let Some((_, otherwise)) = &mut branches.else_branch {
                    self.visit_expr_mut(otherwise);
                }
            }
            Expr::While(w) => {
                self.condition(&mut w.cond);
                self.visit_block_mut(&mut w.body);
            }
            Expr::Match(m) => self.match_(m),
            Expr::ForLoop(f) => {
                let ends = Ends::of(&f.expr);
                self.visit_expr_mut(&mut f.expr);
                let iter = self.call("IterOf", [bare(take(&mut f.expr))], ends);
                *f.expr = method(iter, "iterate", ends);
                self.iterates = true;
                self.visit_block_mut(&mut f.body);
            }
            Expr::Binary(b) => match comparison(&b.op) {
                Some(name) => self.comparison(name, e),
                None if is_lazy(&b.op) => {
                    for side in [&mut b.left, &mut b.right] {
                        self.condition(side);
                    }
                }
                None => visit_mut::visit_expr_binary_mut(self, b),
            },
            Expr::Await(a) => {
                let message = "`.await` cannot appear in a `#[defn]`: a graph is built synchronously; await the value \
                               before, and pass it as a parameter";
                self.errors.push(Error::new_spanned(a.await_token, message));
                self.visit_expr_mut(&mut a.base);
            }
            _ => visit_mut::visit_expr_mut(self, e),
        }
    }
}

fn comparison(op: &BinOp) -> Option<&'static str> {
    Some(match op {
        BinOp::Lt(_) => "lt",
        BinOp::Le(_) => "le",
        BinOp::Gt(_) => "gt",
        BinOp::Ge(_) => "ge",
        BinOp::Eq(_) => "eq",
        BinOp::Ne(_) => "ne",
        _ => return None,
    })
}

fn is_lazy(op: &BinOp) -> bool {
    matches!(op, BinOp::And(_) | BinOp::Or(_))
}

fn has_let(e: &Expr) -> bool {
    match e {
        Expr::Let(_) => true,
        Expr::Binary(b) => matches!(b.op, BinOp::And(_)) && (has_let(&b.left) || has_let(&b.right)),
        _ => false,
    }
}

/// Does the pattern compare with a literal at its top? Byte strings and C strings are not static scalars.
fn is_literal(pat: &Pat) -> bool {
    match pat {
        Pat::Lit(lit) => !matches!(lit.lit, Lit::ByteStr(_) | Lit::CStr(_)),
        Pat::Range(_) => true,
        Pat::Or(or) => or.cases.iter().any(is_literal),
        Pat::Paren(paren) => is_literal(&paren.pat),
        Pat::Ident(ident) => ident.subpat.as_ref().is_some_and(|(_, pat)| is_literal(pat)),
        // A negative literal.
        Pat::Verbatim(tokens) => {
            matches!(tokens.clone().into_iter().next(), Some(TokenTree::Punct(p)) if p.as_char() == '-')
        }
        _ => false,
    }
}
