//! Tokens of the text form, and where they stand: what the parser of modules, types and literals reads from.
//!
//! Owns positions and the errors that name them. A cursor over the text; nothing is copied but escaped strings.

use evoxc_core::{Error, ParseError, Result};
use std::borrow::Cow;

/// One token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Tok<'a> {
    /// `func`, `evoxc.dot`, `f32`, `-inf`
    Word(&'a str),
    /// `1`, `-2.5e-3`, `0x7FC00000`
    Number(&'a str),
    /// What stands between the quotes, escapes and all.
    Str(&'a str),
    /// `%x`, `%0`, `%"a name"`
    Value(Ident<'a>),
    /// `@f`, `@"a name"`
    Func(Ident<'a>),
    /// `->`
    Arrow,
    /// Any other character.
    Punct(char),
    /// The end of the text.
    End,
}

/// What follows `%` or `@`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ident<'a> {
    /// Digits: a value without a name.
    Number(&'a str),
    /// A bare name.
    Plain(&'a str),
    /// A name in quotes, escapes and all.
    Quoted(&'a str),
}

/// Can a name begin so?
fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}
/// Can a name go on so?
fn in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}
/// Can `name` stand bare, without quotes?
pub(crate) fn is_bare_name(name: &str) -> bool {
    name.starts_with(starts_name) && name.chars().all(in_name)
}

/// A cursor over the text.
#[derive(Clone)]
pub(crate) struct Lexer<'a> {
    text: &'a str,
    pos: usize,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, pos: 0 }
    }
    /// Where the cursor stands, in bytes.
    pub(crate) fn pos(&self) -> usize {
        self.pos
    }
    /// Back (or on) to a position that `pos` gave.
    pub(crate) fn reset(&mut self, pos: usize) {
        self.pos = pos;
    }
    /// The text from the cursor on.
    pub(crate) fn rest(&self) -> &'a str {
        self.text.get(self.pos..).unwrap_or_default()
    }
    /// The text between two positions.
    pub(crate) fn between(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or_default()
    }
    /// The length of the whole text.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }
    /// Skips white space and comments.
    pub(crate) fn skip(&mut self) {
        loop {
            self.skip_space();
            if !self.rest().starts_with("//") {
                return;
            }
            self.take_line();
        }
    }
    /// Skips white space only.
    pub(crate) fn skip_space(&mut self) {
        self.pos += self.rest().find(|c: char| !c.is_whitespace()).unwrap_or(self.rest().len());
    }
    /// The rest of the line, without its end; the cursor then stands at the end of the line.
    pub(crate) fn take_line(&mut self) -> &'a str {
        let rest = self.rest();
        let line = rest.split('\n').next().unwrap_or_default();
        self.pos += line.len();
        line.strip_suffix('\r').unwrap_or(line)
    }
    /// The prefix of the rest whose characters all pass.
    pub(crate) fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let n = rest.find(|c| !accept(c)).unwrap_or(rest.len());
        self.pos += n;
        rest.get(..n).unwrap_or_default()
    }
    /// Steps over `prefix` if the rest begins with it; white space counts.
    pub(crate) fn eat_raw(&mut self, prefix: &str) -> bool {
        let found = self.rest().starts_with(prefix);
        self.pos += if found { prefix.len() } else { 0 };
        found
    }
    /// The next token and where it begins.
    pub(crate) fn next(&mut self) -> Result<(usize, Tok<'a>)> {
        self.skip();
        let at = self.pos;
        let mut chars = self.rest().chars();
        let Some(c) = chars.next() else { return Ok((at, Tok::End)) };
        let second = chars.next();
        let token = match c {
            '"' => Tok::Str(self.string()?),
            '%' | '@' => {
                self.pos += 1;
                let id = self.ident(at, c)?;
                if c == '%' { Tok::Value(id) } else { Tok::Func(id) }
            }
            '-' if second == Some('>') => {
                self.pos += 2;
                Tok::Arrow
            }
            '-' if second.is_some_and(|c| c.is_ascii_digit()) => self.number(at),
            '-' if second.is_some_and(starts_name) => {
                self.pos += 1;
                self.take_while(in_name);
                Tok::Word(self.between(at, self.pos))
            }
            c if c.is_ascii_digit() => self.number(at),
            c if starts_name(c) => Tok::Word(self.take_while(in_name)),
            c => {
                self.pos += c.len_utf8();
                Tok::Punct(c)
            }
        };
        Ok((at, token))
    }
    /// The next token, which stays.
    pub(crate) fn peek(&mut self) -> Result<Tok<'a>> {
        self.skip();
        let at = self.pos;
        let t = self.next()?.1;
        self.pos = at;
        Ok(t)
    }
    fn number(&mut self, at: usize) -> Tok<'a> {
        self.eat_raw("-");
        let hex = self.rest().starts_with("0x");
        self.take_while(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_');
        // The sign of an exponent belongs to the number.
        if !hex && self.between(at, self.pos).ends_with(['e', 'E']) && self.rest().starts_with(['+', '-']) {
            self.pos += 1;
            self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        }
        Tok::Number(self.between(at, self.pos))
    }
    fn ident(&mut self, at: usize, sigil: char) -> Result<Ident<'a>> {
        let rest = self.rest();
        if rest.starts_with('"') {
            return Ok(Ident::Quoted(self.string()?));
        }
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(Ident::Number(self.take_while(|c| c.is_ascii_digit())));
        }
        if rest.starts_with(starts_name) {
            return Ok(Ident::Plain(self.take_while(in_name)));
        }
        Err(self.error(at, format!("expected a name after `{sigil}`")))
    }
    fn string(&mut self) -> Result<&'a str> {
        let at = self.pos;
        self.pos += 1;
        let start = self.pos;
        let mut escaped = false;
        for (i, b) in self.rest().bytes().enumerate() {
            match b {
                b'\n' => break,
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    self.pos = start + i + 1;
                    return Ok(self.between(start, start + i));
                }
                _ => {}
            }
        }
        Err(self.error(at, "the string does not end on its line; expected `\"`"))
    }
    /// Steps over `p` if it is next.
    pub(crate) fn eat(&mut self, p: char) -> Result<bool> {
        self.skip();
        if !self.rest().starts_with(p) {
            return Ok(false);
        }
        // `-` of an arrow or a number is never asked for.
        self.pos += p.len_utf8();
        Ok(true)
    }
    /// Steps over the word if it is next.
    pub(crate) fn eat_word(&mut self, word: &str) -> Result<bool> {
        self.skip();
        let at = self.pos;
        let found = self.rest().starts_with(word) && self.take_while(in_name) == word;
        self.pos = if found { self.pos } else { at };
        Ok(found)
    }
    /// Steps over `p`, which must be next.
    pub(crate) fn expect(&mut self, p: char) -> Result<()> {
        if self.eat(p)? { Ok(()) } else { Err(self.expected(&format!("`{p}`"))) }
    }
    /// Steps over the word, which must be next.
    pub(crate) fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.eat_word(word)? { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }
    /// An integer, which must be next.
    pub(crate) fn integer<T: std::str::FromStr>(&mut self, what: &str) -> Result<T> {
        match self.peek()? {
            Tok::Number(n) => {
                let value = n.parse().map_err(|_| self.expected(what))?;
                self.next()?;
                Ok(value)
            }
            _ => Err(self.expected(what)),
        }
    }
    /// The error that something else was expected than what is next.
    pub(crate) fn expected(&mut self, what: &str) -> Error {
        self.skip();
        let at = self.pos;
        match self.peek() {
            Ok(t) => self.error(at, format!("expected {what}, found {}", describe(t))),
            Err(e) => e,
        }
    }
    /// An error at a position.
    pub(crate) fn error(&self, at: usize, message: impl Into<String>) -> Error {
        let at = (0..=at.min(self.text.len())).rev().find(|&i| self.text.is_char_boundary(i)).unwrap_or(0);
        let before = self.text.get(..at).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
        let line_text = self.text.get(line_start..).unwrap_or_default().split('\n').next().unwrap_or_default();
        // Lines that hold constants can be very long: what stands far behind the column helps nobody.
        let source_line = line_text.trim_end_matches('\r').chars().take(column + 120).collect();
        let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
        ParseError { message: message.into(), line, column, source_line }.into()
    }
    /// The text that a string of the source stands for.
    pub(crate) fn unescape(&self, at: usize, raw: &'a str) -> Result<Cow<'a, str>> {
        if !raw.contains('\\') {
            return Ok(Cow::Borrowed(raw));
        }
        unescape(raw).map(Cow::Owned).ok_or_else(|| {
            self.error(at, "unknown escape in the string; expected \\\", \\\\, \\n, \\r, \\t or \\u{hex digits}")
        })
    }
}

fn describe(t: Tok) -> String {
    let short = |s: &str| match s.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", s.get(..end).unwrap_or_default()),
        None => s.to_string(),
    };
    let id = |i: Ident| match i {
        Ident::Number(s) | Ident::Plain(s) => short(s),
        Ident::Quoted(s) => format!("\"{}\"", short(s)),
    };
    match t {
        Tok::Word(w) | Tok::Number(w) => format!("`{}`", short(w)),
        Tok::Str(s) => format!("\"{}\"", short(s)),
        Tok::Value(i) => format!("`%{}`", id(i)),
        Tok::Func(i) => format!("`@{}`", id(i)),
        Tok::Arrow => "`->`".into(),
        Tok::Punct(c) => format!("`{c}`"),
        Tok::End => "the end of the text".into(),
    }
}

/// Writes `s` so that it can stand between quotes, or on one line of a comment.
pub(crate) fn escape(out: &mut String, s: &str, special: &[char]) {
    for c in s.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '"' if special.contains(&'"') => out.push_str("\\\""),
            c if c.is_control() || special.contains(&c) => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => out.push(c),
        }
    }
}

/// The inverse of [`escape`]; `None` for an unknown escape.
pub(crate) fn unescape(raw: &str) -> Option<String> {
    let mut out = String::with_capacity(raw.len());
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        out.push(match chars.next()? {
            '"' => '"',
            '\\' => '\\',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let (digits, rest) = chars.as_str().strip_prefix('{')?.split_once('}')?;
                chars = rest.chars();
                char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
            }
            _ => return None,
        });
    }
    Some(out)
}
