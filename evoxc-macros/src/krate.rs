//! Where generated code finds evoxc: owns the choice of the path in front of `__private`.
//!
//! `::evoxc` would be wrong where the dependency is renamed, and in the crates below the facade, which depend on
//! `evoxc-trace` instead.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Path;

/// The packages that have a `__private` module, in the order they are looked for.
const PACKAGES: [&str; 2] = ["evoxc", "evoxc-trace"];

/// The crate that generated code refers to.
pub enum Krate {
    /// Found in the manifest, under this name.
    Named(String),
    /// Given by `crate = path`.
    Given(Path),
}

impl Krate {
    /// The path given by the user, or else what the manifest says.
    pub fn new(given: Option<Path>) -> Krate {
        given.map_or_else(Krate::find, Krate::Given)
    }

    /// What the manifest says. With neither package in it, rustc's own "cannot find `evoxc`" is the right message.
    pub fn find() -> Krate {
        let name = PACKAGES.iter().find_map(|package| match crate_name(package) {
            // Inside the package itself its examples and tests expand too: `crate` would be wrong there, so the
            // library says `extern crate self as ..`.
            Ok(FoundCrate::Itself) => Some(package.replace('-', "_")),
            Ok(FoundCrate::Name(name)) => Some(name),
            Err(_) => None,
        });
        Krate::Named(name.unwrap_or_else(|| "evoxc".into()))
    }

    /// `<crate>::__private`, located at `span`, so that messages point at the user's code.
    pub fn private(&self, span: Span) -> TokenStream {
        match self {
            Krate::Named(name) => {
                let name = Ident::new(name, span);
                quote_spanned!(span=> ::#name::__private)
            }
            Krate::Given(path) => {
                // Only the location moves: `$crate` resolves by the rest of its span.
                let path: TokenStream = path
                    .to_token_stream()
                    .into_iter()
                    .map(|mut token| {
                        token.set_span(token.span().located_at(span));
                        token
                    })
                    .collect();
                let private = quote_spanned!(span=> ::__private);
                quote!(#path #private)
            }
        }
    }
}
