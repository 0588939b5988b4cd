//! Reading the pretty forms of `forms`, piece by piece, into generic form.

use super::ast::{Attr, Type};
use super::fault::{Fault, Read};
use super::forms::{ANY, Key, Kind, Piece, form};
use super::op::Draft;
use super::parser::Parser;
use std::borrow::Cow;

impl<'a> Parser<'a> {
    /// What stands behind the bare name of an op.
    pub fn pretty(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        for piece in form(&draft.name).unwrap_or(ANY) {
            self.piece(draft, piece)?;
        }
        Ok(())
    }

    fn piece(&mut self, draft: &mut Draft<'a>, piece: &Piece) -> Read<()> {
        match *piece {
            Piece::Operands => self.operands(draft),
            Piece::Operand => {
                let v = self.operand()?;
                draft.operands.push(v);
                Ok(())
            }
            Piece::Parens => {
                self.c.expect("(")?;
                let more = self.list(")", |p| p.operand())?;
                draft.operands.extend(more);
                Ok(())
            }
            Piece::Brackets => {
                self.c.expect("[")?;
                let more = self.list("]", |p| p.operand())?;
                draft.operands.extend(more);
                Ok(())
            }
            Piece::Keys(keys) => self.keys(draft, keys),
            Piece::Word(attr) => {
                let word = self.c.word().ok_or_else(|| self.c.expected("a word"))?;
                draft.set(attr, Attr::Word(Cow::Borrowed(word)));
                Ok(())
            }
            Piece::OptionalWord(attr) => {
                if self.c.eat(",") {
                    let word = self.c.word().ok_or_else(|| self.c.expected("a word"))?;
                    draft.set(attr, Attr::Word(Cow::Borrowed(word)));
                }
                Ok(())
            }
            Piece::Comma => self.c.expect(","),
            Piece::Target(attr) => {
                let name = self.symbol_ref()?;
                draft.set(attr, Attr::Str(name));
                Ok(())
            }
            Piece::Symbol(attr) => {
                let name = self.symbol_ref()?;
                draft.set(attr, Attr::Symbol(name));
                Ok(())
            }
            Piece::Str(attr) => {
                let text = self.c.string()?;
                draft.set(attr, Attr::Str(text));
                Ok(())
            }
            Piece::Dense(attr) => {
                let at = {
                    self.c.skip();
                    self.c.at
                };
                match self.attr()? {
                    value @ Attr::Dense(_) => draft.set(attr, value),
                    _ => return Err(Fault::new(at, "expected a constant, `dense<…> : tensor<…>`")),
                }
                Ok(())
            }
            Piece::Index(attr) => {
                self.c.expect("[")?;
                let n = self.c.integer()?;
                draft.set(attr, Attr::Int(n));
                self.c.expect("]")
            }
            Piece::Verbatim(attr) => {
                self.c.skip();
                let start = self.c.at;
                self.c.angles()?;
                draft.set(attr, Attr::Opaque(self.c.since(start)));
                Ok(())
            }
            Piece::Ranges => self.ranges(draft),
            Piece::Attributes => self.optional_dict(&mut draft.attrs),
            Piece::Types(signature) => self.signature(draft, signature),
            Piece::Special(special) => self.special(draft, special),
        }
    }

    fn operands(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        if draft.operands.is_empty() && self.c.eat("(") {
            return self.c.expect(")");
        }
        let Some(first) = self.optional_operand()? else { return Ok(()) };
        draft.operands.push(first);
        loop {
            // A comma may also begin what follows the operands.
            let before = self.c;
            if !(self.c.eat(",") && self.c.peek() == Some(b'%')) {
                self.c = before;
                return Ok(());
            }
            let v = self.operand()?;
            draft.operands.push(v);
        }
    }

    fn keys(&mut self, draft: &mut Draft<'a>, keys: &[Key]) -> Read<()> {
        let mut seen = 0u64;
        loop {
            let before = self.c;
            let comma = self.c.eat(",");
            // A dynamic_slice of a scalar is printed as `%a, , sizes = []`.
            if comma {
                self.c.eat(",");
            }
            let word = self.c.word();
            let found = keys.iter().position(|k| Some(k.word) == word);
            let (Some(i), Some(key)) = (found, found.and_then(|i| keys.get(i))) else {
                self.c = before;
                if comma {
                    let all = keys.iter().map(|k| format!("`{} =`", k.word)).collect::<Vec<_>>().join(", ");
                    self.c.eat(",");
                    return Err(self.c.expected(&format!("one of {all}")));
                }
                return Ok(());
            };
            if seen & (1 << i) != 0 {
                return Err(Fault::new(before.at, format!("`{}` is given twice", key.word)));
            }
            seen |= 1 << i;
            self.c.expect("=")?;
            self.key(draft, key)?;
        }
    }

    fn key(&mut self, draft: &mut Draft<'a>, key: &Key) -> Read<()> {
        let value = match key.kind {
            Kind::Value => self.value()?,
            Kind::Word => Attr::Word(Cow::Borrowed(self.c.word().ok_or_else(|| self.c.expected("a word"))?)),
            Kind::Words => {
                self.c.expect("[")?;
                Attr::Array(self.list("]", |p| {
                    let word = p.c.word().ok_or_else(|| p.c.expected("a word"))?;
                    Ok(Attr::Word(Cow::Borrowed(word)))
                })?)
            }
            Kind::Str => Attr::Str(self.c.string()?),
            Kind::Float => {
                self.c.skip();
                let at = self.c.at;
                let text = self.c.number();
                let x = text.parse::<f64>().map_err(|_| Fault::new(at, "expected a float"))?;
                // Its own type may stand between it and the colon of the op's types.
                let mut c = self.c;
                if c.eat(":") && c.eat_word("f64") {
                    self.c = c;
                }
                Attr::Float(x)
            }
            Kind::Format => return self.format(draft),
            Kind::Pair => return self.pair(draft, key.attr),
            Kind::ConvNumbers => self.conv_numbers()?,
            Kind::Window => return self.window(draft),
            Kind::Record(name) => self.record(name)?,
        };
        draft.set(key.attr, value);
        Ok(())
    }

    /// An integer, a list, `true`: an attribute without a type, for a colon after it begins the op's types.
    fn value(&mut self) -> Read<Attr<'a>> {
        match self.c.peek() {
            Some(b'[') => self.array(),
            Some(c) if c == b'-' || c.is_ascii_digit() => self.c.integer().map(Attr::Int),
            _ if self.c.eat_word("true") => Ok(Attr::Bool(true)),
            _ if self.c.eat_word("false") => Ok(Attr::Bool(false)),
            _ => Err(self.c.expected("an integer, a list or `true`")),
        }
    }

    /// `e8m10`.
    fn format(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        self.c.skip();
        let at = self.c.at;
        let word = self.c.word().unwrap_or_default();
        let parts = word.strip_prefix('e').and_then(|w| w.split_once('m'));
        let number = |t: &str| t.parse::<u16>().ok().filter(|_| t.bytes().all(|b| b.is_ascii_digit()));
        let Some((Some(e), Some(m))) = parts.map(|(e, m)| (number(e), number(m))) else {
            return Err(Fault::new(at, "expected bits of exponent and mantissa, as in `e8m23`"));
        };
        draft.set("exponent_bits", Attr::Int(e.into()));
        draft.set("mantissa_bits", Attr::Int(m.into()));
        Ok(())
    }

    /// `[0] x [1]`, the `what` of both sides of a dot.
    fn pair(&mut self, draft: &mut Draft<'a>, what: &'static str) -> Read<()> {
        let lhs = self.array()?;
        self.c.expect("x")?;
        let rhs = self.array()?;
        let fields = [(format!("lhs_{what}"), lhs), (format!("rhs_{what}"), rhs)];
        let fields = fields.into_iter().map(|(n, a)| (Cow::Owned(n), a));
        for (_, value) in &mut draft.attrs {
            if let Attr::Record(name, all) = value
                && name == "dot"
            {
                all.extend(fields);
                return Ok(());
            }
        }
        draft.set("dot_dimension_numbers", Attr::Record(Cow::Borrowed("dot"), fields.collect()));
        Ok(())
    }

    /// `{stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = …, rhs_dilate = …, reverse = …}`.
    fn window(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        const PARTS: [(&str, &str); 5] = [
            ("stride", "window_strides"),
            ("pad", "padding"),
            ("lhs_dilate", "lhs_dilation"),
            ("rhs_dilate", "rhs_dilation"),
            ("reverse", "window_reversal"),
        ];
        self.c.expect("{")?;
        let mut all = vec![];
        self.list("}", |p| {
            p.c.skip();
            let at = p.c.at;
            let word = p.c.word().unwrap_or_default();
            let Some((_, attr)) = PARTS.iter().find(|(w, _)| *w == word) else {
                return Err(Fault::new(at, "expected `stride`, `pad`, `lhs_dilate`, `rhs_dilate` or `reverse`"));
            };
            p.c.expect("=")?;
            all.push((at, *attr, p.array()?));
            Ok(())
        })?;
        for (at, attr, value) in all {
            if super::parser::find(&draft.attrs, attr).is_some() {
                return Err(Fault::new(at, format!("`{attr}` is given twice")));
            }
            draft.set(attr, value);
        }
        Ok(())
    }

    /// `[0:2, 1:5:2]`.
    fn ranges(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        self.c.expect("[")?;
        let (mut starts, mut limits, mut strides) = (vec![], vec![], vec![]);
        self.list("]", |p| {
            starts.push(Attr::Int(p.c.integer()?));
            p.c.expect(":")?;
            limits.push(Attr::Int(p.c.integer()?));
            strides.push(Attr::Int(if p.c.eat(":") { p.c.integer()? } else { 1 }));
            Ok(())
        })?;
        draft.set("start_indices", Attr::Array(starts));
        draft.set("limit_indices", Attr::Array(limits));
        draft.set("strides", Attr::Array(strides));
        Ok(())
    }

    /// A function type.
    pub fn function_type(&mut self) -> Read<(Vec<Type<'a>>, Vec<Type<'a>>)> {
        self.c.skip();
        let at = self.c.at;
        match self.ty()? {
            Type::Function(from, to) => Ok((from, to)),
            other => Err(Fault::new(at, format!("expected a function type, `(…) -> …`, found {other}"))),
        }
    }
}
