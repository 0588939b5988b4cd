//! Ops as the text names them, and the values of their attributes.

use super::{Parser, names};
use crate::lex::Tok;
use crate::literal::read_literal;
use crate::{AttrValue, Prim, Value};
use evoxc_core::{Dim, Result};
use smallvec::SmallVec;

/// Lists and records of attributes nest at most this deep.
const MAX_ATTR_DEPTH: usize = 32;

impl Parser<'_, '_> {
    // Not inlined: its frame is large, and `op` recurses through regions.
    #[inline(never)]
    pub(super) fn prim_and_operands(&mut self) -> Result<(Prim, SmallVec<[Value; 3]>)> {
        let (at, token) = self.lex.next()?;
        let name = match token {
            Tok::Word(w) => w.strip_prefix("evoxc."),
            _ => None,
        };
        let Some(name) = name else {
            self.lex.reset(at);
            return Err(self.lex.expected("an op, as in `evoxc.add`"));
        };
        let mut operands = SmallVec::new();
        self.lex.expect('(')?;
        if !self.lex.eat(')')? {
            loop {
                operands.push(self.operand()?);
                if self.lex.eat(')')? {
                    break;
                }
                if !self.lex.eat(',')? {
                    return Err(self.lex.expected("`,` or `)` after the operand"));
                }
            }
        }
        let attributes = if self.attributes_follow()? { self.fields(0)? } else { vec![] };
        let prim = Prim::from_text(name, &mut |wanted| {
            attributes.iter().find(|(n, _, _)| n == wanted).map(|(_, _, v)| v.clone())
        });
        if prim.is_err() && !names::exists(name) {
            return Err(self.lex.error(at, names::unknown(name)));
        }
        let known = names::attributes_of(name);
        for (n, at, _) in &attributes {
            if !known.contains(&n.as_str()) {
                let has = if known.is_empty() { "has none".into() } else { format!("has {}", known.join(", ")) };
                return Err(self.lex.error(*at, format!("`{name}` has no attribute `{n}`; it {has}")));
            }
        }
        Ok((prim.map_err(|m| self.lex.error(at, m))?, operands))
    }

    /// Does `{` begin attributes, and not regions? (`{name =` or `{}` does.)
    fn attributes_follow(&mut self) -> Result<bool> {
        self.lex.skip();
        let mut ahead = self.lex.clone();
        if !ahead.eat('{')? {
            return Ok(false);
        }
        Ok(match ahead.next()?.1 {
            Tok::Word(_) => ahead.next()?.1 != Tok::Punct('('),
            _ => true,
        })
    }

    /// `{name = value, …}`, and where each name stands.
    fn fields(&mut self, depth: usize) -> Result<Vec<(String, usize, AttrValue)>> {
        self.lex.expect('{')?;
        let mut fields: Vec<(String, usize, AttrValue)> = vec![];
        // No op has many attributes; without a limit, looking for repeated ones would be quadratic.
        const MOST: usize = 64;
        while !self.lex.eat('}')? {
            let (at, token) = self.lex.next()?;
            let Tok::Word(name) = token else {
                self.lex.reset(at);
                return Err(self.lex.expected("an attribute, as in `axis = 0`, or `}`"));
            };
            if fields.len() >= MOST || fields.iter().any(|(n, _, _)| n == name) {
                return Err(self
                    .lex
                    .error(at, format!("attribute `{name}` stands here twice, or there are more than {MOST}")));
            }
            if !self.lex.eat('=')? {
                return Err(self.lex.expected("`=` after the attribute's name"));
            }
            fields.push((name.into(), at, self.attr(depth)?));
            if !self.lex.eat(',')? {
                if !self.lex.eat('}')? {
                    return Err(self.lex.expected("`,` or `}` after the attribute"));
                }
                break;
            }
        }
        Ok(fields)
    }

    fn attr(&mut self, depth: usize) -> Result<AttrValue> {
        let token = self.lex.peek()?;
        let at = self.lex.pos();
        if depth > MAX_ATTR_DEPTH {
            return Err(self.lex.error(at, format!("attributes nest deeper than {MAX_ATTR_DEPTH}")));
        }
        Ok(match token {
            Tok::Number(_) => AttrValue::Int(self.lex.integer("an integer of 64 bits")?),
            Tok::Word(w) => {
                self.lex.next()?;
                if matches!(w, "dense" | "splat" | "const") && self.lex.peek()? == Tok::Punct('<') {
                    self.lex.reset(at);
                    return Ok(AttrValue::Literal(read_literal(&mut self.lex, self.constants)?));
                }
                match w {
                    "true" => AttrValue::Bool(true),
                    "false" => AttrValue::Bool(false),
                    w => AttrValue::Word(w.into()),
                }
            }
            Tok::Str(raw) => {
                self.lex.next()?;
                AttrValue::Str(self.lex.unescape(at, raw)?.into_owned())
            }
            Tok::Func(_) => AttrValue::Func(self.func_name("a function")?),
            Tok::Punct('[') => {
                self.lex.next()?;
                let mut items = vec![];
                while !self.lex.eat(']')? {
                    items.push(self.attr(depth + 1)?);
                    if !self.lex.eat(',')? {
                        if !self.lex.eat(']')? {
                            return Err(self.lex.expected("`,` or `]` in the list"));
                        }
                        break;
                    }
                }
                AttrValue::List(items)
            }
            Tok::Punct('{') => AttrValue::Fields(self.fields(depth + 1)?.into_iter().map(|(n, _, v)| (n, v)).collect()),
            Tok::Punct('(') => AttrValue::Dim(self.extent()?),
            _ => {
                let what =
                    "a value: an integer, a word, a string, a list, a record, `@function`, `(extent)` or a literal";
                return Err(self.lex.expected(what));
            }
        })
    }

    /// `(2*B + 1)`
    fn extent(&mut self) -> Result<Dim> {
        self.lex.expect('(')?;
        let (start, mut open) = (self.lex.pos(), 1);
        // To the parenthesis that closes the first; an extent is one line.
        let text = self.lex.rest();
        let end = text.bytes().position(|b| {
            open += i32::from(b == b'(') - i32::from(b == b')');
            open == 0 || b == b'\n'
        });
        let text = text.get(..end.unwrap_or(0)).unwrap_or_default();
        let d = Dim::parse(text).map_err(|e| self.lex.error(start, e.to_string()))?;
        self.lex.reset(start + text.len());
        self.lex.expect(')')?;
        Ok(d)
    }
}
