//! Arguments of attributes: owns how `#[defn(..)]` and `#[tree(..)]` are read, and what is said about wrong ones.

use proc_macro2::{Ident, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Error, Path, Token};

/// An argument that an attribute accepts at some place.
#[derive(Clone, Copy, PartialEq)]
pub enum Known {
    /// `crate = path`
    Crate,
    /// `static`
    Static,
}

impl Known {
    fn name(self) -> &'static str {
        match self {
            Known::Crate => "crate",
            Known::Static => "static",
        }
    }

    fn usage(self) -> &'static str {
        match self {
            Known::Crate => "crate = path",
            Known::Static => "static",
        }
    }
}

/// What was read.
#[derive(Default)]
pub struct Args {
    pub krate: Option<Path>,
    pub is_static: bool,
    seen: Vec<&'static str>,
}

impl Args {
    /// Reads one attribute's arguments into `self`; what is wrong goes to `errors`, and reading goes on at the next comma.
    pub fn read(&mut self, attribute: &str, known: Known, tokens: TokenStream, errors: &mut Vec<Error>) {
        let parser = |input: ParseStream| {
            while !input.is_empty() {
                if let Err(error) = self.one(attribute, known, input) {
                    errors.push(error);
                }
                skip_to_comma(input)?;
            }
            Ok(())
        };
        if let Err(error) = parser.parse2(tokens) {
            errors.push(error);
        }
    }

    fn one(&mut self, attribute: &str, known: Known, input: ParseStream) -> syn::Result<()> {
        let only = format!("the only argument here is `{}`", known.usage());
        let name = input
            .call(Ident::parse_any)
            .map_err(|e| Error::new(e.span(), format!("expected the name of an argument: {only}")))?;
        let text = name.to_string();
        if text != known.name() {
            let hint =
                if distance(&text, known.name()) <= 2 { format!("did you mean `{}`?", known.name()) } else { only };
            return Err(Error::new(name.span(), format!("unknown argument `{text}` of `{attribute}`: {hint}")));
        }
        if self.seen.contains(&known.name()) {
            return Err(Error::new(
                name.span(),
                format!("duplicate argument `{text}` of `{attribute}`: write it once"),
            ));
        }
        self.seen.push(known.name());
        match known {
            Known::Static => self.is_static = true,
            Known::Crate => {
                let usage = "write a path, as in `crate = my_crate::evoxc`";
                if !input.peek(Token![=]) {
                    return Err(Error::new(name.span(), format!("`crate` needs a value: {usage}")));
                }
                input.parse::<Token![=]>()?;
                let path = input.call(Path::parse_mod_style).map_err(|e| Error::new(e.span(), usage))?;
                self.krate = Some(path);
            }
        }
        if !input.is_empty() && !input.peek(Token![,]) {
            return Err(input.error(format!("unexpected token after `{text}`: expected a comma")));
        }
        Ok(())
    }
}

fn skip_to_comma(input: ParseStream) -> syn::Result<()> {
    while !input.is_empty() {
        if input.parse::<Option<Token![,]>>()?.is_some() {
            break;
        }
        input.parse::<proc_macro2::TokenTree>()?;
    }
    Ok(())
}

/// The number of insertions, deletions and replacements that turn `a` into `b`.
pub fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cb, cell) in b.iter().zip(row.iter_mut().skip(1)) {
            let replaced = diagonal + usize::from(ca != *cb);
            diagonal = *cell;
            left = replaced.min(*cell + 1).min(left + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}
