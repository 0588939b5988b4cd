//! `#[derive(Tree)]`: owns what a tree type may be, and the code of `Tree::flatten` and `Tree::unflatten`.
//!
//! The leaf is a parameter of the trait, so the implementation is for `AnyLeaf` (a name that messages show), bounded by `T: Tree<AnyLeaf>` for each
//! leaf parameter `T` of the type: a field of type `T` may then hold a whole tree.

use crate::args::{Args, Known};
use crate::derive_checks::{mentions, read_args, refuse_args, refuse_bounds};
use crate::emit::{Ends, compile_errors};
use crate::krate::Krate;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Data, DeriveInput, Error, Field, Fields, GenericParam, Member, Type, WherePredicate, parse_quote};

pub fn expand(item: TokenStream) -> TokenStream {
    let input = match syn::parse2::<DeriveInput>(item) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Vec::new();
    let tree = TreeType::read(&input, &mut errors);
    if errors.is_empty() { tree.implement(&input) } else { compile_errors(&errors) }
}

struct TreeType {
    krate: Krate,
    is_enum: bool,
    variants: Vec<Variant>,
    /// Parameters that occur in a field that is not static.
    leaves: Vec<Ident>,
}

struct Variant {
    /// `None` for a struct.
    name: Option<Ident>,
    fields: Vec<TreeField>,
}

struct TreeField {
    member: Member,
    ty: Type,
    is_static: bool,
}

impl TreeType {
    fn read(input: &DeriveInput, errors: &mut Vec<Error>) -> TreeType {
        let mut args = Args::default();
        read_args(&mut args, Known::Crate, &input.attrs, errors);
        let variants = match &input.data {
            Data::Struct(data) => vec![Variant { name: None, fields: read_fields(&data.fields, errors) }],
            Data::Enum(data) => {
                let variants = data.variants.iter().map(|variant| {
                    refuse_args(&variant.attrs, errors);
                    Variant { name: Some(variant.ident.clone()), fields: read_fields(&variant.fields, errors) }
                });
                variants.collect()
            }
            Data::Union(data) => {
                let message = "`#[derive(Tree)]` needs a struct or an enum: nothing says which field of a union holds a \
                               value; write an `enum`";
                errors.push(Error::new_spanned(data.union_token, message));
                Vec::new()
            }
        };
        let is_leaf = |name: &Ident| {
            let mut fields = variants.iter().flat_map(|variant| &variant.fields);
            fields.any(|field| !field.is_static && mentions(field.ty.to_token_stream(), name))
        };
        let leaves: Vec<Ident> =
            input.generics.type_params().map(|t| &t.ident).filter(|name| is_leaf(name)).cloned().collect();
        let name = &input.ident;
        if leaves.is_empty() && !matches!(input.data, Data::Union(_)) {
            let message = format!(
                "`{name}` has no leaves: a tree is generic over its leaf type, as in `struct {name}<T> {{ w: T }}`"
            );
            errors.push(Error::new_spanned(name, message));
        }
        refuse_bounds(&input.generics, &leaves, errors);
        TreeType { krate: Krate::new(args.krate), is_enum: matches!(input.data, Data::Enum(_)), variants, leaves }
    }

    fn implement(&self, input: &DeriveInput) -> TokenStream {
        let name = &input.ident;
        let p = self.krate.private(Span::call_site());
        let mut generics = input.generics.clone();
        generics.params.push(parse_quote!(AnyLeaf: #p::Leaf));
        let bounds = &mut generics.make_where_clause().predicates;
        for leaf in &self.leaves {
            bounds.push(parse_quote!(#leaf: #p::Tree<AnyLeaf>));
        }
        for field in self.variants.iter().flat_map(|variant| &variant.fields).filter(|field| field.is_static) {
            let ty = &field.ty;
            let span = Ends::of(ty).first;
            let p = self.krate.private(span);
            // Located at the type, so that a type that is no static value is reported there.
            let predicate: WherePredicate = syn::parse2(quote_spanned!(span=> #ty: #p::StaticValue))
                .unwrap_or_else(|_| parse_quote!(#ty: #p::StaticValue));
            bounds.push(predicate);
        }
        let (impl_generics, _, where_clause) = generics.split_for_impl();
        let (plain_generics, ty_generics, plain_where) = input.generics.split_for_impl();
        let mapped = input.generics.params.iter().map(|param| match param {
            GenericParam::Type(t) if self.leaves.contains(&t.ident) => {
                let t = &t.ident;
                quote!(<#t as #p::Tree<AnyLeaf>>::Map<__U>)
            }
            GenericParam::Type(t) => t.ident.to_token_stream(),
            GenericParam::Const(c) => c.ident.to_token_stream(),
            GenericParam::Lifetime(l) => l.lifetime.to_token_stream(),
        });
        let text = name.to_string();
        let flatten = self.variants.iter().map(|variant| self.flatten(name, variant));
        let unflatten = self.variants.iter().map(|variant| self.unflatten(name, variant));
        quote! {
            #[automatically_derived]
            impl #impl_generics #p::Tree<AnyLeaf> for #name #ty_generics #where_clause {
                type Map<__U: #p::Leaf> = #name<#(#mapped),*>;
                fn flatten(self, out: &mut #p::Flatten<AnyLeaf>) {
                    match self { #(#flatten)* }
                    out.close();
                }
                fn unflatten(src: &mut #p::Unflatten<AnyLeaf>) -> #p::Result<Self> {
                    let variant: ::core::option::Option<::std::string::String> = src.open_struct(#text)?;
                    let value = match ::core::option::Option::as_deref(&variant) {
                        #(#unflatten)*
                        _ => return ::core::result::Result::Err(src.unknown_variant(#text, &variant)),
                    };
                    src.close()?;
                    ::core::result::Result::Ok(value)
                }
            }
            #[automatically_derived]
            impl #plain_generics #p::ArgAt<0> for #name #ty_generics #plain_where {
                type Arg = Self;
            }
        }
    }

    /// The arm that takes a value apart.
    fn flatten(&self, name: &Ident, variant: &Variant) -> TokenStream {
        let path = path(name, variant);
        let text = name.to_string();
        let variant_text = self.variant_text(variant);
        let count = variant.fields.len();
        let members = variant.fields.iter().map(|field| &field.member);
        // Fresh names: a field may be called `out`.
        // A field that is no tree is reported at its type, where the local stands.
        let locals: Vec<Ident> = variant
            .fields
            .iter()
            .enumerate()
            .map(|(i, field)| format_ident!("__f{i}", span = Ends::of(&field.ty).first))
            .collect();
        let puts = variant.fields.iter().zip(&locals).map(|(field, local)| {
            let member = member_text(&field.member);
            let span = Ends::of(&field.ty).first;
            let put = Ident::new(if field.is_static { "stat" } else { "field" }, span);
            quote_spanned!(span=> out.#put(#member, #local);)
        });
        quote! {
            #path { #(#members: #locals),* } => {
                out.open_struct(#text, #variant_text, #count);
                #(#puts)*
            }
        }
    }

    /// The arm that puts a value together.
    fn unflatten(&self, name: &Ident, variant: &Variant) -> TokenStream {
        let path = path(name, variant);
        let variant_text = self.variant_text(variant);
        let takes = variant.fields.iter().map(|field| {
            let member = &field.member;
            let text = member_text(member);
            let span = Ends::of(&field.ty).first;
            let get = Ident::new(if field.is_static { "stat" } else { "field" }, span);
            let value = quote_spanned!(span=> src.#get(#text)?);
            quote!(#member: #value)
        });
        quote!(#variant_text => #path { #(#takes),* },)
    }

    fn variant_text(&self, variant: &Variant) -> TokenStream {
        match &variant.name {
            Some(name) if self.is_enum => {
                let text = name.to_string();
                quote!(::core::option::Option::Some(#text))
            }
            _ => quote!(::core::option::Option::None),
        }
    }
}

fn path(name: &Ident, variant: &Variant) -> TokenStream {
    match &variant.name {
        Some(variant) => quote!(#name::#variant),
        None => quote!(#name),
    }
}

fn member_text(member: &Member) -> String {
    match member {
        Member::Named(name) => syn::ext::IdentExt::unraw(name).to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

fn read_fields(fields: &Fields, errors: &mut Vec<Error>) -> Vec<TreeField> {
    let read = |(field, member): (&Field, Member)| {
        let mut args = Args::default();
        read_args(&mut args, Known::Static, &field.attrs, errors);
        TreeField { member, ty: field.ty.clone(), is_static: args.is_static }
    };
    fields.iter().zip(fields.members()).map(read).collect()
}
