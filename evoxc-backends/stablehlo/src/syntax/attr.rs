//! Attributes of every kind.

use super::ast::{Attr, Dense, DenseData, Element, NamedAttr, Type};
use super::cursor::integer;
use super::dense::round;
use super::fault::{Fault, Read};
use super::parser::Parser;
use super::types::is_type_word;
use evoxc_core::DType;
use std::borrow::Cow;

impl<'a> Parser<'a> {
    /// An attribute.
    pub fn attr(&mut self) -> Read<Attr<'a>> {
        self.nested(|p| p.attr_here())
    }

    fn attr_here(&mut self) -> Read<Attr<'a>> {
        match self.c.peek() {
            Some(b'"') => {
                let s = self.c.string()?;
                if self.c.eat(":") {
                    self.ty()?;
                }
                Ok(Attr::Str(s))
            }
            Some(b'[') => self.array(),
            Some(b'{') => self.dict().map(Attr::Dict),
            Some(b'@') => self.symbol_ref().map(Attr::Symbol),
            Some(b'#') => self.dialect_attr(),
            Some(b'!' | b'(') => self.ty().map(Attr::Type),
            Some(b'?') if self.words => {
                self.c.expect("?")?;
                Ok(Attr::Word(Cow::Borrowed("?")))
            }
            Some(c) if c == b'-' || c.is_ascii_digit() => self.numeric(),
            _ => self.word_attr(),
        }
    }

    /// `[a, b]`.
    pub fn array(&mut self) -> Read<Attr<'a>> {
        self.c.expect("[")?;
        Ok(Attr::Array(self.list("]", |p| p.attr())?))
    }

    /// `@a`, `@a::@b`.
    pub fn symbol_ref(&mut self) -> Read<Cow<'a, str>> {
        let Some(mut name) = self.c.symbol()? else { return Err(self.c.expected("a symbol, `@name`")) };
        while self.c.eat("::") {
            match self.c.symbol()? {
                Some(inner) => name = Cow::Owned(format!("{name}::{inner}")),
                None => return Err(self.c.expected("a symbol after `::`")),
            }
        }
        Ok(name)
    }

    /// `{a = 1, b}`.
    pub fn dict(&mut self) -> Read<Vec<NamedAttr<'a>>> {
        self.c.expect("{")?;
        let words = std::mem::replace(&mut self.words, false);
        let all = self.list("}", |p| p.named_attr());
        self.words = words;
        all
    }

    fn named_attr(&mut self) -> Read<NamedAttr<'a>> {
        let name = if self.c.peek() == Some(b'"') {
            self.c.string()?
        } else {
            Cow::Borrowed(self.c.word().ok_or_else(|| self.c.expected("an attribute's name"))?)
        };
        let value = if self.c.eat("=") { self.attr()? } else { Attr::Unit };
        Ok((name, value))
    }

    /// A dictionary, if one is next; its entries go to `out`.
    pub fn optional_dict(&mut self, out: &mut Vec<NamedAttr<'a>>) -> Read<()> {
        if self.c.peek() == Some(b'{') {
            let at = self.c.at;
            let more = self.dict()?;
            add(out, more, at)?;
        }
        Ok(())
    }

    fn numeric(&mut self) -> Read<Attr<'a>> {
        let at = self.c.at;
        let text = self.c.number();
        if text.is_empty() {
            return Err(self.c.expected("a number"));
        }
        let ty = if self.c.eat(":") { Some(self.ty()?) } else { None };
        let dtype = match ty {
            Some(Type::Scalar(Element::Known(d))) => Some(d),
            _ => None,
        };
        let hex = text.contains('x');
        if (text.contains('.') && !hex) || dtype.is_some_and(DType::is_float) {
            let value = if hex { float_bits(text, dtype) } else { float(text, dtype) };
            return value.map(Attr::Float).ok_or_else(|| Fault::new(at, format!("`{text:.60}` is no such float")));
        }
        match integer(text) {
            Some(n) => Ok(Attr::Int(n)),
            None => Err(Fault::new(at, format!("the integer `{text:.60}` is too large"))),
        }
    }

    fn word_attr(&mut self) -> Read<Attr<'a>> {
        self.c.skip();
        let start = self.c.at;
        let mut c = self.c;
        let Some(word) = c.word() else { return Err(self.c.expected("an attribute")) };
        if is_type_word(word) {
            return self.ty().map(Attr::Type);
        }
        let before = std::mem::replace(&mut self.c, c);
        match word {
            "true" => Ok(Attr::Bool(true)),
            "false" => Ok(Attr::Bool(false)),
            "unit" => Ok(Attr::Unit),
            "dense" => self.dense().map(Attr::Dense),
            "dense_resource" => self.resource().map(Attr::Dense),
            "array" => self.typed_array(),
            "loc" => {
                self.loc_body()?;
                Ok(Attr::Opaque(self.c.since(start)))
            }
            "affine_map" | "affine_set" | "sparse" | "strided" | "opaque" => {
                self.c.angles()?;
                if self.c.eat(":") {
                    self.ty()?;
                }
                Ok(Attr::Opaque(self.c.since(start)))
            }
            "distinct" => {
                self.c.expect("[")?;
                self.c.integer()?;
                self.c.expect("]")?;
                self.c.angles()?;
                Ok(Attr::Opaque(self.c.since(start)))
            }
            word if self.words => Ok(Attr::Word(Cow::Borrowed(word))),
            _ => {
                self.c = before;
                Err(self.c.expected("an attribute"))
            }
        }
    }

    /// `<…> : type`, the rest of a dense constant. Its elements stay text.
    pub fn dense(&mut self) -> Read<Dense<'a>> {
        self.c.expect("<")?;
        let start = self.c.at;
        loop {
            let rest = self.c.text.get(self.c.at..).unwrap_or_default();
            match rest.bytes().position(|b| matches!(b, b'>' | b'"' | b'/')) {
                None => return Err(Fault::new(start, "this constant has no closing `>`")),
                Some(n) => self.c.at += n,
            }
            match self.c.peek_raw() {
                Some(b'>') => break,
                Some(b'"') => {
                    self.c.string()?;
                }
                _ => {
                    // A comment, or a stray slash that the elements' reader finds.
                    let before = self.c.at;
                    self.c.skip();
                    if self.c.at == before {
                        self.c.at += 1;
                    }
                }
            }
        }
        let text = self.c.since(start);
        self.c.expect(">")?;
        self.dense_type(DenseData::Text(text), start)
    }

    fn resource(&mut self) -> Read<Dense<'a>> {
        self.c.expect("<")?;
        self.c.skip();
        let start = self.c.at;
        if self.c.peek() == Some(b'"') {
            self.c.string()?;
        } else if self.c.word().is_none() {
            return Err(self.c.expected("the name of a resource"));
        }
        // The name as written, until blobs are known.
        let name = self.c.since(start);
        self.c.expect(">")?;
        self.uses_resources = true;
        self.dense_type(DenseData::Resource(name), start)
    }

    fn dense_type(&mut self, data: DenseData<'a>, at: usize) -> Read<Dense<'a>> {
        self.c.expect(":")?;
        self.c.skip();
        let type_at = self.c.at;
        match self.ty()? {
            Type::Tensor(ty) => Ok(Dense { ty, data, at }),
            other => Err(Fault::new(type_at, format!("a dense constant is of a tensor type, not of {other}"))),
        }
    }

    /// `<i64: 1, 2>`, the rest of an array.
    fn typed_array(&mut self) -> Read<Attr<'a>> {
        self.c.expect("<")?;
        let ty = self.ty()?;
        let dtype = match ty {
            Type::Scalar(Element::Known(d)) => Some(d),
            _ => None,
        };
        if !self.c.eat(":") {
            self.c.expect(">")?;
            return Ok(Attr::Array(vec![]));
        }
        let all = self.list(">", |p| {
            p.c.skip();
            let at = p.c.at;
            if p.c.eat_word("true") {
                return Ok(Attr::Bool(true));
            }
            if p.c.eat_word("false") {
                return Ok(Attr::Bool(false));
            }
            if dtype.is_some_and(DType::is_float) {
                let text = p.c.number();
                let value = if text.contains('x') { float_bits(text, dtype) } else { float(text, dtype) };
                return value.map(Attr::Float).ok_or_else(|| Fault::new(at, "expected a float"));
            }
            p.c.integer().map(Attr::Int)
        })?;
        Ok(Attr::Array(all))
    }

    /// `#alias`, `#dialect.name<…>`, `#dialect<name …>`.
    fn dialect_attr(&mut self) -> Read<Attr<'a>> {
        self.c.skip();
        let start = self.c.at;
        let full = self.c.sigil("#", "a name after `#`")?.unwrap_or_default();
        let body = self.c.peek_raw() == Some(b'<');
        if !full.contains('.') && !body {
            return self.expand(start, full, "#", |p| p.attr_aliases.get(full));
        }
        let (dialect, name) = full.split_once('.').unwrap_or((full, ""));
        if !matches!(dialect, "stablehlo" | "chlo" | "mhlo") {
            if body {
                self.c.angles()?;
            }
            return Ok(Attr::Opaque(self.c.since(start)));
        }
        if !body {
            return Ok(Attr::Record(Cow::Borrowed(name), vec![]));
        }
        let before = self.c;
        let known = if name.is_empty() { self.named_record() } else { self.record(name) };
        match known {
            Ok(attr) => Ok(attr),
            Err(fault) if fault.fatal => Err(fault),
            Err(_) => {
                // Not a form that is known here: kept as it is written, if it closes.
                self.c = before;
                self.c.angles()?;
                Ok(Attr::Opaque(self.c.since(start)))
            }
        }
    }

    /// `<name WORD>` or `<name<…>>`.
    fn named_record(&mut self) -> Read<Attr<'a>> {
        self.c.expect("<")?;
        let Some(name) = self.c.word() else { return Err(self.c.expected("a name")) };
        let attr = if self.c.peek() == Some(b'<') {
            self.record(name)?
        } else {
            Attr::Word(Cow::Borrowed(self.c.word().ok_or_else(|| self.c.expected("a word"))?))
        };
        self.c.expect(">")?;
        Ok(attr)
    }

    /// `<a = …, b = …>`, `<WORD>`, and the forms of `conv` and `bounds`.
    pub fn record(&mut self, name: &'a str) -> Read<Attr<'a>> {
        let words = std::mem::replace(&mut self.words, true);
        let out = self.record_here(name);
        self.words = words;
        out
    }

    fn record_here(&mut self, name: &'a str) -> Read<Attr<'a>> {
        self.c.expect("<")?;
        if name == "bounds" {
            let all = self.list(">", |p| p.attr())?;
            return Ok(Attr::Record(Cow::Borrowed(name), vec![(Cow::Borrowed(name), Attr::Array(all))]));
        }
        if name == "conv" {
            let numbers = self.conv_numbers()?;
            self.c.expect(">")?;
            return Ok(numbers);
        }
        let mut c = self.c;
        if let (Some(word), true) = (c.word(), c.eat(">")) {
            self.c = c;
            return Ok(Attr::Word(Cow::Borrowed(word)));
        }
        let fields = self.list(">", |p| {
            let Some(key) = p.c.word() else { return Err(p.c.expected("a field's name")) };
            p.c.expect("=")?;
            Ok((Cow::Borrowed(key), p.attr()?))
        })?;
        Ok(Attr::Record(Cow::Borrowed(name), fields))
    }

    /// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
    pub fn conv_numbers(&mut self) -> Read<Attr<'a>> {
        let words = std::mem::replace(&mut self.words, true);
        let mut read = || {
            let input = self.array()?;
            self.c.expect("x")?;
            let kernel = self.array()?;
            self.c.expect("->")?;
            let output = self.array()?;
            let fields = [("input", input), ("kernel", kernel), ("output", output)];
            let fields = fields.into_iter().map(|(n, a)| (Cow::Borrowed(n), a)).collect();
            Ok(Attr::Record(Cow::Borrowed("conv"), fields))
        };
        let out = read();
        self.words = words;
        out
    }
}

/// Adds attributes; a name that is there already is a fault.
pub(crate) fn add<'a>(out: &mut Vec<NamedAttr<'a>>, more: Vec<NamedAttr<'a>>, at: usize) -> Read<()> {
    if out.is_empty() && more.len() < 2 {
        out.extend(more);
        return Ok(());
    }
    let mut names: std::collections::HashSet<Cow<'a, str>> = out.iter().map(|(n, _)| n.clone()).collect();
    for (name, value) in more {
        if !names.insert(name.clone()) {
            return Err(Fault::new(at, format!("the attribute `{name}` is given twice")));
        }
        out.push((name, value));
    }
    Ok(())
}

/// A decimal float as its type rounds it.
fn float(text: &str, dtype: Option<DType>) -> Option<f64> {
    let x: f64 = text.parse().ok()?;
    Some(match dtype {
        Some(DType::F32) => text.parse::<f32>().ok()?.into(),
        Some(DType::F16) => round::f16(text)?.into(),
        Some(DType::BF16) => round::bf16(text)?.into(),
        _ => x,
    })
}

/// The float whose bits the hexadecimal text has.
fn float_bits(text: &str, dtype: Option<DType>) -> Option<f64> {
    let bits = u64::try_from(integer(text)?).ok()?;
    Some(match dtype? {
        DType::F64 => f64::from_bits(bits),
        DType::F32 => f32::from_bits(bits.try_into().ok()?).into(),
        DType::F16 => half::f16::from_bits(bits.try_into().ok()?).into(),
        DType::BF16 => half::bf16::from_bits(bits.try_into().ok()?).into(),
        _ => return None,
    })
}

/// The size and nesting of an attribute, for aliases.
pub(crate) fn measure(attr: &Attr<'_>) -> (usize, usize) {
    let named = |all: &[NamedAttr<'_>]| {
        all.iter().map(|(_, a)| measure(a)).fold((1, 0), |(s, n), (size, nesting)| (s + size, n.max(nesting)))
    };
    let (size, nesting) = match attr {
        Attr::Array(all) => all.iter().map(measure).fold((1, 0), |(s, n), (size, nesting)| (s + size, n.max(nesting))),
        Attr::Dict(all) | Attr::Record(_, all) => named(all),
        Attr::Type(t) => super::types::measure(t),
        Attr::Dense(d) => (1 + d.ty.shape.as_ref().map_or(0, Vec::len), 2),
        Attr::Str(s) | Attr::Symbol(s) | Attr::Word(s) => (1 + s.len() / 16, 0),
        Attr::Unit | Attr::Bool(_) | Attr::Int(_) | Attr::Float(_) | Attr::Opaque(_) => (1, 0),
    };
    (size, nesting + 1)
}
