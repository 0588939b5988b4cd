//! Names of values: owns which expressions of a `let` take its name.
//!
//! Only method calls, calls, `?` and operators are wrapped, at the tails of blocks, `if`s and `match`es: there no temporary's
//! life is extended by the `let`, so wrapping shortens none, and a type expected from outside still reaches the expression.

use crate::emit::{Ends, call, take};
use crate::krate::Krate;
use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::{Block, Expr, ExprLit, Lit, LitStr, Pat, Stmt, UnOp};

/// Names the value of `let pat = e`.
pub fn name_let(krate: &Krate, pat: &Pat, e: &mut Expr) {
    match (pat, e) {
        (Pat::Type(typed), e) => name_let(krate, &typed.pat, e),
        (Pat::Paren(paren), e) => name_let(krate, &paren.pat, e),
        (Pat::Tuple(pats), Expr::Tuple(exprs)) if pats.elems.len() == exprs.elems.len() => {
            for (pat, e) in pats.elems.iter().zip(&mut exprs.elems) {
                name_let(krate, pat, e);
            }
        }
        // A call that gives a tuple: `named("q,r", x.qr())`, with `_` for an element without a name.
        (Pat::Tuple(pats), e) => {
            let names: Option<Vec<String>> = pats.elems.iter().map(simple_name).collect();
            if let Some(names) = names.filter(|names| names.iter().any(|name| name != "_")) {
                name_tail(krate, e, &names.join(","));
            }
        }
        (Pat::Ident(_), e) => {
            if let Some(name) = simple_name(pat) {
                name_tail(krate, e, &name);
            }
        }
        _ => {}
    }
}

fn simple_name(pat: &Pat) -> Option<String> {
    match pat {
        Pat::Wild(_) => Some("_".into()),
        Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() => Some(p.ident.unraw().to_string()),
        _ => None,
    }
}

fn name_tail(krate: &Krate, e: &mut Expr, name: &str) {
    let names_a_place = matches!(e, Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)));
    match e {
        Expr::MethodCall(_) | Expr::Binary(_) | Expr::Unary(_) | Expr::Call(_) | Expr::Try(_) if !names_a_place => {
            let ends = Ends::of(e);
            let lit = Lit::Str(LitStr::new(name, Span::call_site()));
            let lit = Expr::Lit(ExprLit { attrs: Vec::new(), lit });
            *e = call(krate, "named", [lit, take(e)], ends);
        }
        Expr::Paren(paren) => name_tail(krate, &mut paren.expr, name),
        Expr::If(branches) => {
            name_block(krate, &mut branches.then_branch, name);
            if let Some((_, other)) = &mut branches.else_branch {
                name_tail(krate, other, name);
            }
        }
        Expr::Block(block) => name_block(krate, &mut block.block, name),
        Expr::Match(arms) => {
            for arm in &mut arms.arms {
                name_tail(krate, &mut arm.body, name);
            }
        }
        _ => {}
    }
}

fn name_block(krate: &Krate, block: &mut Block, name: &str) {
    if let Some(Stmt::Expr(tail, None)) = block.stmts.last_mut() {
        name_tail(krate, tail, name);
    }
}
