//! What `#[derive(Tree)]` refuses: owns the reading of `#[tree(..)]` attributes and the check of bounds.

use crate::args::{Args, Known};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Error, Generics, Meta, WherePredicate};

/// Reads every `#[tree(..)]` among the attributes.
pub fn read_args(args: &mut Args, known: Known, attrs: &[Attribute], errors: &mut Vec<Error>) {
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("tree")) {
        match &attr.meta {
            Meta::List(list) => args.read("tree", known, list.tokens.clone(), errors),
            other => errors.push(Error::new_spanned(other, "`tree` takes its arguments in parentheses: `#[tree(..)]`")),
        }
    }
}

/// Refuses every `#[tree(..)]` among the attributes of a variant.
pub fn refuse_args(attrs: &[Attribute], errors: &mut Vec<Error>) {
    let found = attrs.iter().filter(|attr| attr.path().is_ident("tree"));
    errors.extend(found.map(|attr| {
        Error::new_spanned(attr, "a variant takes no `#[tree(..)]`: write `#[tree(static)]` on its fields")
    }));
}

/// A leaf parameter stands for `TensorSpec`, `Sym` and `Tensor` in turn, and for trees of them: it must take them all.
pub fn refuse_bounds(generics: &Generics, leaves: &[Ident], errors: &mut Vec<Error>) {
    let mut refuse = |leaf: &dyn ToTokens, bounds: &dyn ToTokens| {
        let leaf = leaf.to_token_stream();
        let message = format!(
            "the leaf parameter `{leaf}` takes no bounds: it stands for specs, symbols and data in turn; write the bound on \
             the functions that need it"
        );
        errors.push(Error::new_spanned(bounds, message));
    };
    for param in generics.type_params().filter(|param| leaves.contains(&param.ident) && !param.bounds.is_empty()) {
        refuse(&param.ident, &param.bounds);
    }
    let predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    for predicate in predicates {
        if let WherePredicate::Type(predicate) = predicate
            && let Some(leaf) = leaves.iter().find(|leaf| mentions(predicate.bounded_ty.to_token_stream(), leaf))
        {
            refuse(leaf, predicate);
        }
    }
}

/// Does the name occur in these tokens?
pub fn mentions(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        _ => false,
    })
}
