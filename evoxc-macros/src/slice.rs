//! The macro `s!`: owns the syntax of slices. It is a macro because `1..b` mixes types where `b` is a `Dim`.

use crate::emit::Ends;
use crate::krate::Krate;
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, ExprRange, Lit, RangeLimits, Token, UnOp};

/// `index`, `range` or `range;step`
struct Item {
    expr: Expr,
    step: Option<Expr>,
}

impl Parse for Item {
    fn parse(input: ParseStream) -> syn::Result<Item> {
        let expr = input.parse()?;
        let step = match input.parse::<Option<Token![;]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        Ok(Item { expr, step })
    }
}

pub fn expand(items: TokenStream) -> TokenStream {
    match Punctuated::<Item, Token![,]>::parse_terminated.parse2(items) {
        Ok(items) => list(&Krate::find(), &items),
        Err(error) => error.to_compile_error(),
    }
}

fn list(krate: &Krate, items: &Punctuated<Item, Token![,]>) -> TokenStream {
    let p = krate.private(Span::call_site());
    let items = items.iter().map(|item| match (&item.expr, &item.step) {
        (Expr::Range(range), step) => {
            let (start, end) = bounds(&p, range);
            let step = step.as_ref().map_or_else(|| quote!(1), |step| quote!(#step));
            quote!(#p::SliceItem::Range(#start, #end, #step))
        }
        (_, Some(step)) => {
            syn::Error::new_spanned(step, "a single index has no step: write a range, as in `..;2`").to_compile_error()
        }
        (index, None) => {
            let index = to_dim(&p, index);
            quote!(#p::SliceItem::At(#index))
        }
    });
    quote!(#p::Slices(::std::vec![#(#items),*]))
}

fn bounds(p: &TokenStream, range: &ExprRange) -> (TokenStream, TokenStream) {
    let none = quote!(::core::option::Option::None);
    let some = |dim: TokenStream| quote!(::core::option::Option::Some(#dim));
    let start = range.start.as_ref().map_or(none.clone(), |e| some(to_dim(p, e)));
    let end = match (&range.end, &range.limits) {
        (None, _) => none,
        (Some(e), RangeLimits::HalfOpen(_)) => some(to_dim(p, e)),
        // One past the last element is the end, not index 0.
        (Some(e), RangeLimits::Closed(_)) if is_minus_one(e) => none,
        (Some(e), RangeLimits::Closed(_)) => {
            let dim = to_dim(p, e);
            some(quote!(#dim + 1))
        }
    };
    (start, end)
}

fn is_minus_one(e: &Expr) -> bool {
    matches!(e, Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_))
        && matches!(&*unary.expr, Expr::Lit(lit) if matches!(&lit.lit, Lit::Int(int) if int.base10_digits() == "1")))
}

fn to_dim(p: &TokenStream, e: &Expr) -> TokenStream {
    let span = Ends::of(e).first;
    quote_spanned!(span=> #p::DimLike::to_dim(#e))
}
