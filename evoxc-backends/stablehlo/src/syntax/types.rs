//! Types: tensors, scalars, tuples, functions, tokens, and any other verbatim.

use super::ast::{Attr, Element, TensorType, Type};
use super::fault::{Fault, Read};
use super::parser::Parser;
use evoxc_core::DType;

/// Tensors of more axes are refused: no program has them, and what prints or copies a tensor may go axis by axis.
const MAX_AXES: usize = 1024;

/// The builtin scalar of a word, or `None` for a word that is no type.
pub(crate) fn scalar(word: &str) -> Option<Element<'_>> {
    Some(Element::Known(match word {
        "i1" => DType::BOOL,
        "i8" => DType::I8,
        "i16" => DType::I16,
        "i32" => DType::I32,
        "i64" => DType::I64,
        "ui8" => DType::U8,
        "ui16" => DType::U16,
        "ui32" => DType::U32,
        "ui64" => DType::U64,
        "f16" => DType::F16,
        "bf16" => DType::BF16,
        "f32" => DType::F32,
        "f64" => DType::F64,
        "index" => return Some(Element::Index),
        "tf32" | "f80" | "f128" => return Some(Element::Unsupported(word)),
        _ => {
            let digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
            let integer = ["i", "si", "ui"].iter().any(|p| word.strip_prefix(p).is_some_and(digits));
            // f8E4M3FN, f6E2M3FN, f4E2M1FN, …
            let small = word.strip_prefix('f').and_then(|t| t.split_once('E'));
            let small = small.is_some_and(|(bits, rest)| digits(bits) && rest.contains('M'));
            return (integer || small).then_some(Element::Unsupported(word));
        }
    }))
}

/// Is the word the beginning of a type?
pub(crate) fn is_type_word(word: &str) -> bool {
    matches!(word, "tensor" | "vector" | "memref" | "tuple" | "complex" | "none") || scalar(word).is_some()
}

impl<'a> Parser<'a> {
    /// A type.
    pub fn ty(&mut self) -> Read<Type<'a>> {
        self.nested(|p| p.ty_here())
    }

    fn ty_here(&mut self) -> Read<Type<'a>> {
        let start = {
            self.c.skip();
            self.c.at
        };
        match self.c.peek() {
            Some(b'!') => return self.dialect_type(start),
            Some(b'(') => {
                self.c.expect("(")?;
                let from = self.list(")", |p| p.ty())?;
                self.c.expect("->")?;
                return Ok(Type::Function(from, self.result_types()?));
            }
            _ => {}
        }
        let mut c = self.c;
        let Some(word) = c.word() else { return Err(self.c.expected("a type")) };
        if !is_type_word(word) {
            return Err(self.c.expected("a type"));
        }
        self.c = c;
        match word {
            "tensor" => self.tensor(start),
            "tuple" => {
                self.c.expect("<")?;
                Ok(Type::Tuple(self.list(">", |p| p.ty())?))
            }
            "complex" => self.complex().map(Type::Scalar),
            "vector" | "memref" => {
                self.c.angles()?;
                Ok(Type::Other(self.c.since(start)))
            }
            "none" => Ok(Type::Other(word)),
            word => Ok(Type::Scalar(scalar(word).unwrap_or(Element::Unsupported(word)))),
        }
    }

    /// The types after an arrow: one, or a list in parentheses.
    pub fn result_types(&mut self) -> Read<Vec<Type<'a>>> {
        if self.c.eat("(") { self.list(")", |p| p.ty()) } else { Ok(vec![self.ty()?]) }
    }

    /// `!stablehlo.token`, an alias, or a type of another dialect.
    fn dialect_type(&mut self, start: usize) -> Read<Type<'a>> {
        let name = self.c.sigil("!", "a type's name after `!`")?.unwrap_or_default();
        if !name.contains('.') {
            return self.expand(start, name, "!", |p| p.type_aliases.get(name));
        }
        if self.c.peek_raw() == Some(b'<') {
            self.c.angles()?;
        }
        Ok(match self.c.since(start) {
            "!stablehlo.token" | "!mhlo.token" => Type::Token,
            quantized if quantized.starts_with("!quant.") => Type::Scalar(Element::Quantized(quantized)),
            other => Type::Other(other),
        })
    }

    fn complex(&mut self) -> Read<Element<'a>> {
        self.c.skip();
        let start = self.c.at;
        self.c.expect("<")?;
        let of = self.element()?;
        self.c.expect(">")?;
        match of {
            Element::Known(DType::F32) => Ok(Element::Known(DType::C64)),
            Element::Known(DType::F64) => Ok(Element::Known(DType::C128)),
            _ => Ok(Element::Unsupported(
                // With the word before it.
                self.c.text.get(start.saturating_sub("complex".len())..self.c.at).unwrap_or("complex"),
            )),
        }
    }

    /// The element type of a tensor.
    fn element(&mut self) -> Read<Element<'a>> {
        self.nested(|p| {
            p.c.skip();
            let start = p.c.at;
            if p.c.peek() == Some(b'!') {
                return match p.dialect_type(start)? {
                    Type::Scalar(e) => Ok(e),
                    Type::Other(t) => Ok(Element::Unsupported(t)),
                    other => Err(Fault::new(start, format!("{other} is not an element type"))),
                };
            }
            let mut c = p.c;
            let word = c.word().unwrap_or_default();
            if word == "complex" {
                p.c = c;
                return p.complex();
            }
            match scalar(word) {
                Some(e) => {
                    p.c = c;
                    Ok(e)
                }
                None => Err(p.c.expected("an extent or an element type")),
            }
        })
    }

    /// The rest of a tensor type, after its word.
    fn tensor(&mut self, start: usize) -> Read<Type<'a>> {
        self.c.expect("<")?;
        let shape = if self.c.eat("*") {
            self.c.expect("x")?;
            None
        } else {
            let mut dims = vec![];
            loop {
                match self.c.peek() {
                    Some(b'?') => {
                        self.c.expect("?")?;
                        dims.push(None);
                    }
                    Some(d) if d.is_ascii_digit() => {
                        let at = self.c.at;
                        let digits = self.c.take_while(|c| c.is_ascii_digit());
                        let extent = digits.parse::<u64>().ok().filter(|&d| i64::try_from(d).is_ok());
                        let extent =
                            extent.ok_or_else(|| Fault::new(at, format!("the extent {digits:.40} is too large")))?;
                        dims.push(Some(extent));
                    }
                    _ => break,
                }
                self.c.expect("x")?;
                if dims.len() > MAX_AXES {
                    return Err(Fault::fatal(start, format!("a tensor has at most {MAX_AXES} axes")));
                }
            }
            Some(dims)
        };
        let mut ty = TensorType { shape, bounds: vec![], element: self.element()? };
        if self.c.eat(",") {
            let at = self.c.at;
            let encoding = self.attr()?;
            self.c.expect(">")?;
            return match bounds(&encoding) {
                Some(b) if ty.shape.as_ref().is_some_and(|s| b.is_empty() || s.len() == b.len()) => {
                    ty.bounds = if b.iter().all(Option::is_none) { vec![] } else { b };
                    Ok(Type::Tensor(ty))
                }
                Some(b) => Err(Fault::new(at, format!("{} bounds for {ty}", b.len()))),
                // A layout of another dialect: not a tensor as we know them.
                None => Ok(Type::Other(self.c.since(start))),
            };
        }
        self.c.expect(">")?;
        Ok(Type::Tensor(ty))
    }
}

/// The bounds that an encoding states.
fn bounds(encoding: &Attr<'_>) -> Option<Vec<Option<u64>>> {
    let Attr::Record(name, fields) = encoding else { return None };
    if !matches!(name.as_ref(), "bounds" | "type_extensions") {
        return None;
    }
    let Some((_, Attr::Array(all))) = fields.iter().find(|(n, _)| n == "bounds") else { return None };
    all.iter()
        .map(|b| match b {
            Attr::Int(n) => u64::try_from(*n).ok().map(Some),
            Attr::Word(w) if w == "?" => Some(None),
            _ => None,
        })
        .collect()
}

/// The size and nesting of a type, for aliases.
pub(crate) fn measure(ty: &Type<'_>) -> (usize, usize) {
    let all = |types: &mut dyn Iterator<Item = &Type<'_>>| {
        types.map(measure).fold((1, 0), |(s, n), (size, nesting)| (s + size, n.max(nesting)))
    };
    let (size, nesting) = match ty {
        Type::Tensor(t) => (1 + t.shape.as_ref().map_or(0, Vec::len) + t.bounds.len(), 1),
        Type::Tuple(types) => all(&mut types.iter()),
        Type::Function(from, to) => all(&mut from.iter().chain(to)),
        Type::Scalar(_) | Type::Token | Type::Other(_) => (1, 0),
    };
    (size, nesting + 1)
}
