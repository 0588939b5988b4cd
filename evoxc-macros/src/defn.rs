//! `#[defn]` from end to end: owns what a signature may be, and how the function is put together again, with or without
//! errors.

use crate::args::{Args, Known};
use crate::emit::compile_errors;
use crate::krate::Krate;
use crate::rewrite::Rewrite;
use crate::{recursion, statics};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser};
use syn::visit_mut::VisitMut;
use syn::{
    Attribute, Error, FnArg, GenericArgument, ItemFn, Pat, PathArguments, ReturnType, Signature, Token, Type,
    TypeReference, Visibility,
};

pub fn expand(args: TokenStream, item: TokenStream) -> TokenStream {
    match syn::parse2::<ItemFn>(item.clone()) {
        Ok(f) => function(args, f),
        Err(error) => {
            // The item stays as it was: an editor sends bodies that do not parse yet.
            let errors = compile_errors(&[not_a_function(item.clone(), error)]);
            quote!(#errors #item)
        }
    }
}

fn function(tokens: TokenStream, original: ItemFn) -> TokenStream {
    let mut errors = Vec::new();
    let mut args = Args::default();
    args.read("defn", Known::Crate, tokens, &mut errors);
    let krate = Krate::new(args.krate);

    check_signature(&original.sig, &mut errors);
    recursion::check(&original, &mut errors);
    let mut f = original.clone();
    let mut rewrite = Rewrite { krate: &krate, errors: &mut errors, iterates: false };
    rewrite.visit_block_mut(&mut f.block);
    let iterates = rewrite.iterates;
    if !errors.is_empty() {
        return with_errors(&errors, original, f);
    }

    let p = krate.private(Span::call_site());
    let iterate = iterates.then(|| quote!(#[allow(unused_imports)] use #p::IterateStatic as _;));
    let records = statics::statements(&krate, &original);
    let ItemFn { attrs, vis, sig, block } = f;
    let (outer, inner) = split(&attrs);
    let stmts = block.stmts;
    let mut body =
        proc_macro2::Group::new(proc_macro2::Delimiter::Brace, quote!(#(#inner)* #iterate #records #(#stmts)*));
    // Messages about the body as a whole ("mismatched types: () ..") point at the user's braces.
    body.set_span(block.brace_token.span.join());
    quote! {
        #(#outer)*
        #[allow(clippy::eq_op, clippy::erasing_op, clippy::identity_op)]
        #vis #sig #body
    }
}

/// The errors, and the function with its signature and docs, so that its callers still resolve.
fn with_errors(errors: &[Error], original: ItemFn, rewritten: ItemFn) -> TokenStream {
    let errors = compile_errors(errors);
    let ItemFn { attrs, vis, mut sig, block: _ } = original;
    // rustc would complain about it a second time.
    sig.variadic = None;
    let opaque = matches!(&sig.output, ReturnType::Type(_, ty) if mentions_ident(ty.to_token_stream(), "impl"));
    let body = if opaque {
        // Nothing but the body says what type an `impl Trait` is.
        rewritten.block.to_token_stream()
    } else {
        quote!({ ::core::unimplemented!() })
    };
    let (outer, _) = split(&attrs);
    quote! {
        #errors
        #(#outer)*
        #[allow(unused_variables, unused_mut, improper_ctypes_definitions)]
        #vis #sig #body
    }
}

fn split(attrs: &[Attribute]) -> (Vec<&Attribute>, Vec<&Attribute>) {
    attrs.iter().partition(|attr| matches!(attr.style, syn::AttrStyle::Outer))
}

/// The error for an item that did not parse as a function.
fn not_a_function(item: TokenStream, error: Error) -> Error {
    let head = |input: ParseStream| {
        input.call(Attribute::parse_outer)?;
        input.parse::<Visibility>()?;
        let keyword = input.cursor().token_tree().map(|(token, _)| token);
        let is_function = input.parse::<Signature>().is_ok();
        let semicolon = if is_function { input.parse::<Option<Token![;]>>()? } else { None };
        input.parse::<TokenStream>()?;
        Ok((keyword, is_function, semicolon))
    };
    match head.parse2(item) {
        Ok((_, true, Some(semicolon))) => {
            Error::new_spanned(semicolon, "`#[defn]` needs a function with a body: put it on the implementation")
        }
        Ok((Some(keyword), false, _)) => {
            let advice = match keyword.to_string().as_str() {
                "struct" | "enum" => "for a type write `#[derive(Tree)]`",
                "impl" | "trait" | "mod" => "put it on each function inside",
                _ => "write `#[defn] fn name(x: Sym) -> Sym { .. }`",
            };
            Error::new(keyword.span(), format!("`#[defn]` goes on a function: {advice}"))
        }
        _ => error,
    }
}

fn check_signature(sig: &Signature, errors: &mut Vec<Error>) {
    let mut refuse = |token: &dyn ToTokens, message: &str| errors.push(Error::new_spanned(token, message));
    if let Some(token) = &sig.constness {
        refuse(token, "a `#[defn]` cannot be `const`: a graph is built at run time; write a plain `fn`");
    }
    if let Some(token) = &sig.asyncness {
        refuse(token, "a `#[defn]` cannot be `async`: a graph is built synchronously; write a plain `fn`");
    }
    if let Some(token) = &sig.unsafety {
        refuse(
            token,
            "a `#[defn]` cannot be `unsafe`: building a graph touches no memory of the user's; write a plain `fn`",
        );
    }
    if let Some(token) = &sig.abi {
        refuse(token, "a `#[defn]` cannot be `extern`: its values exist only while it is traced; write a plain `fn`");
    }
    if let Some(token) = &sig.variadic {
        refuse(token, "a `#[defn]` cannot be variadic: take a `Vec<Sym>` or a tuple");
    }
    for input in &sig.inputs {
        if let FnArg::Typed(typed) = input
            && let Some(reference) = reference_to_sym(&typed.ty)
        {
            errors.push(by_reference(&typed.pat, &typed.ty, reference));
        }
    }
}

fn by_reference(pat: &Pat, ty: &Type, reference: &TypeReference) -> Error {
    let owned = match &*reference.elem {
        Type::Slice(slice) => format!("Vec<{}>", text(&slice.elem)),
        other => text(other),
    };
    let whole = matches!(ty, Type::Reference(r) if std::ptr::eq(r, reference));
    let write = match pat {
        Pat::Ident(p) if whole => format!("write `{}: {owned}`", p.ident),
        _ => format!("write `{owned}` here"),
    };
    let message = if reference.mutability.is_some() {
        format!("a value of the graph cannot be changed in place: {write}, and return the new value")
    } else {
        format!("a `#[defn]` takes trees of `Sym` by value (`Sym` is `Copy`): {write}")
    };
    Error::new_spanned(reference, message)
}

/// The first reference to a type that mentions `Sym`. Functions on `Sym`s and graphs are static values, and may be borrowed.
fn reference_to_sym(ty: &Type) -> Option<&TypeReference> {
    match ty {
        Type::Reference(reference) if holds_sym(&reference.elem) => Some(reference),
        _ => parts(ty).into_iter().find_map(reference_to_sym),
    }
}

fn holds_sym(ty: &Type) -> bool {
    let is_sym = matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|s| s.ident == "Sym"));
    is_sym || parts(ty).into_iter().any(holds_sym)
}

/// The types that values of this type hold, as far as its syntax says.
fn parts(ty: &Type) -> Vec<&Type> {
    match ty {
        Type::Reference(reference) => vec![&reference.elem],
        Type::Paren(paren) => vec![&paren.elem],
        Type::Group(group) => vec![&group.elem],
        Type::Slice(slice) => vec![&slice.elem],
        Type::Array(array) => vec![&array.elem],
        Type::Tuple(tuple) => tuple.elems.iter().collect(),
        Type::Path(path) => {
            let segments = path.path.segments.iter().filter(|s| s.ident != "Graph" && s.ident != "PhantomData");
            let lists = segments.filter_map(|segment| match &segment.arguments {
                PathArguments::AngleBracketed(list) => Some(&list.args),
                _ => None,
            });
            let types = lists.flatten().filter_map(|arg| match arg {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            });
            types.collect()
        }
        _ => Vec::new(),
    }
}

/// A type as a user would write it.
fn text(ty: &Type) -> String {
    let spaced = ty.to_token_stream().to_string();
    let tight = [(" < ", "<"), (" <", "<"), (" >", ">"), (" ,", ","), (" :: ", "::"), ("& ", "&"), (" ;", ";")];
    tight.iter().fold(spaced, |text, (from, to)| text.replace(from, to))
}

fn mentions_ident(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Group(group) => mentions_ident(group.stream(), name),
        _ => false,
    })
}
