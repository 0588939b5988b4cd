//! Pieces of generated expressions: owns how calls to `__private` are built, and where their tokens are located.
//!
//! The tokens carry spans of the user's code, first to last, so that rustc's messages underline what the user wrote and do
//! not mention the macro.

use crate::krate::Krate;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, ExprCall, ExprMethodCall, ExprParen, ExprReference, ExprUnary, Token, UnOp, token};

/// The spans of the first and the last token of an expression.
#[derive(Clone, Copy)]
pub struct Ends {
    pub first: Span,
    pub last: Span,
}

impl Ends {
    pub fn of(tokens: &impl ToTokens) -> Ends {
        let mut ends = None;
        for token in tokens.to_token_stream() {
            let (open, close) = match &token {
                TokenTree::Group(group) => edges(group),
                other => (other.span(), other.span()),
            };
            ends = Some(Ends { first: ends.map_or(open, |e: Ends| e.first), last: close });
        }
        ends.unwrap_or(Ends { first: Span::call_site(), last: Span::call_site() })
    }
}

fn edges(group: &Group) -> (Span, Span) {
    (group.span_open(), group.span_close())
}

/// Takes an expression out of its place.
pub fn take(place: &mut Expr) -> Expr {
    std::mem::replace(place, Expr::Verbatim(TokenStream::new()))
}

/// `<crate>::__private::name(args)`. `name` may be a path: `StaticMatch::get`.
pub fn call(krate: &Krate, name: &str, args: impl IntoIterator<Item = Expr>, ends: Ends) -> Expr {
    let private = krate.private(ends.first);
    let segments = name.split("::").map(|segment| Ident::new(segment, ends.first));
    let path = quote_spanned!(ends.first=> #private #(::#segments)*);
    Expr::Call(ExprCall {
        attrs: Vec::new(),
        func: Box::new(Expr::Verbatim(path)),
        paren_token: token::Paren(ends.last),
        args: args.into_iter().collect(),
    })
}

/// `receiver.name()`
pub fn method(receiver: Expr, name: &str, ends: Ends) -> Expr {
    Expr::MethodCall(ExprMethodCall {
        attrs: Vec::new(),
        receiver: Box::new(receiver),
        dot_token: Token![.](ends.first),
        method: Ident::new(name, ends.first),
        turbofish: None,
        paren_token: token::Paren(ends.last),
        args: Punctuated::new(),
    })
}

/// `*e`
pub fn deref(e: Expr, ends: Ends) -> Expr {
    Expr::Unary(ExprUnary { attrs: Vec::new(), op: UnOp::Deref(Token![*](ends.first)), expr: Box::new(e) })
}

/// `&e`, or `&(e)` where precedence needs it.
pub fn borrow(e: Expr, ends: Ends) -> Expr {
    let tight = matches!(
        e,
        Expr::Path(_)
            | Expr::Lit(_)
            | Expr::MethodCall(_)
            | Expr::Call(_)
            | Expr::Field(_)
            | Expr::Index(_)
            | Expr::Paren(_)
            | Expr::Array(_)
            | Expr::Tuple(_)
            | Expr::Macro(_)
    );
    let inner = if tight {
        e
    } else {
        Expr::Paren(ExprParen { attrs: Vec::new(), paren_token: token::Paren(ends.last), expr: Box::new(e) })
    };
    Expr::Reference(ExprReference {
        attrs: Vec::new(),
        and_token: Token![&](ends.first),
        mutability: None,
        expr: Box::new(inner),
    })
}

/// Parentheses around a whole call argument would draw `unused_parens`, with a suggestion that changes the user's meaning.
pub fn bare(e: Expr) -> Expr {
    match e {
        Expr::Paren(paren) if paren.attrs.is_empty() => *paren.expr,
        other => other,
    }
}

/// All errors as `compile_error!` invocations.
pub fn compile_errors(errors: &[Error]) -> TokenStream {
    let errors = errors.iter().map(Error::to_compile_error);
    quote!(#(#errors)*)
}
