//! Static parameters: owns the statements at the start of a body that list the parameters which are not trees in the graph
//! (`layer.heads = 4`).
//!
//! The macro cannot know what a type implements, so it emits a call whose meaning is chosen by auto-reference:
//! `(&&&&Static(&heads)).record("layer.heads")` does nothing for a tree of `Sym` or a reference to one, records what else
//! implements `Debug`, and does nothing for the rest.

use crate::krate::Krate;
use crate::recursion::mentions;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{FnArg, ItemFn, Pat, Type};

/// The recording statements for `f`.
pub fn statements(krate: &Krate, f: &ItemFn) -> TokenStream {
    let function = f.sig.ident.unraw();
    let mut records = TokenStream::new();
    let mut rebinds = TokenStream::new();
    let p = krate.private(Span::call_site());
    for ident in f.sig.inputs.iter().filter_map(parameter) {
        let name = format!("{function}.{}", ident.unraw());
        records.extend(quote!((&&&&#p::Static(&#ident)).record(#name);));
        // The record would count as a use. Where the body has none, a new binding of the same name and span is what rustc
        // finds unused, with the same message.
        if ident != "self" && !ident.to_string().starts_with('_') && !mentions(f.block.to_token_stream(), &ident) {
            rebinds.extend(quote!(let #ident = #ident;));
        }
    }
    let names = names(krate, f);
    if records.is_empty() {
        return names;
    }
    quote! {
        #names
        {
            #[allow(unused_imports)]
            use #p::{RecordDebug as _, RecordNothing as _, RecordTree as _, RecordTreeRef as _};
            #records
        }
        #rebinds
    }
}

/// The statements that name the graph's inputs after parameters of type `Sym`. A parameter that the body never mentions
/// is left alone, so that rustc still finds it unused.
fn names(krate: &Krate, f: &ItemFn) -> TokenStream {
    let p = krate.private(Span::call_site());
    let symbols = f.sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => match (&*typed.pat, &*typed.ty) {
            (Pat::Ident(p), Type::Path(t))
                if p.by_ref.is_none()
                    && p.subpat.is_none()
                    && t.path.segments.last().is_some_and(|s| s.ident == "Sym") =>
            {
                Some(&p.ident)
            }
            _ => None,
        },
        FnArg::Receiver(_) => None,
    });
    let mut out = TokenStream::new();
    for ident in symbols.filter(|i| mentions(f.block.to_token_stream(), i)) {
        let name = ident.unraw().to_string();
        out.extend(quote!(#p::named_param(#name, &#ident);));
    }
    out
}

/// The name of a parameter that may be static.
fn parameter(input: &FnArg) -> Option<Ident> {
    match input {
        FnArg::Receiver(receiver) => Some(Ident::new("self", receiver.self_token.span)),
        FnArg::Typed(typed) => match &*typed.pat {
            Pat::Ident(p) if p.by_ref.is_none() && p.subpat.is_none() && may_be_static(&typed.ty) => {
                Some(p.ident.clone())
            }
            _ => None,
        },
    }
}

/// `Sym` in the type means a tree, or a function on trees. A function pointer or a raw pointer would print an address, which
/// differs from run to run.
fn may_be_static(ty: &Type) -> bool {
    fn plain(tokens: TokenStream) -> bool {
        let mut previous = None;
        tokens.into_iter().all(|token| {
            let ok = match &token {
                TokenTree::Ident(ident) => {
                    let pointer = previous == Some('*') && (ident == "const" || ident == "mut");
                    ident != "Sym" && ident != "fn" && !pointer
                }
                TokenTree::Group(group) => plain(group.stream()),
                _ => true,
            };
            previous = match &token {
                TokenTree::Punct(p) => Some(p.as_char()),
                _ => None,
            };
            ok
        })
    }
    plain(ty.to_token_stream())
}
