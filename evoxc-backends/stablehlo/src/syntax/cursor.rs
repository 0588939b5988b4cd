//! Words, numbers, strings and punctuation of MLIR's text, taken off the front of what is left. It knows no grammar.

use super::fault::{Fault, Read};
use std::borrow::Cow;

/// A place in a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    pub text: &'a str,
    pub at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0 }
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// The text from `start` to here, without the space that was skipped last.
    pub fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default().trim_end()
    }

    /// Skips white space and comments.
    pub fn skip(&mut self) {
        loop {
            let b = self.bytes();
            let n = b.iter().position(|c| !matches!(c, b' ' | b'\t' | b'\n' | b'\r')).unwrap_or(b.len());
            self.at += n;
            let b = self.bytes();
            if !b.starts_with(b"//") {
                return;
            }
            self.at += b.iter().position(|&c| c == b'\n').unwrap_or(b.len());
        }
    }

    /// The next byte that is neither space nor comment.
    pub fn peek(&mut self) -> Option<u8> {
        self.skip();
        self.peek_raw()
    }

    /// The very next byte.
    pub fn peek_raw(&self) -> Option<u8> {
        self.bytes().first().copied()
    }

    /// Takes `token`, if it is next after space.
    pub fn eat(&mut self, token: &str) -> bool {
        self.skip();
        self.eat_raw(token)
    }

    /// Takes `token`, if it is next.
    pub fn eat_raw(&mut self, token: &str) -> bool {
        let found = self.bytes().starts_with(token.as_bytes());
        if found {
            self.at += token.len();
        }
        found
    }

    /// Takes `token`, which must be next.
    pub fn expect(&mut self, token: &str) -> Read<()> {
        if self.eat(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    /// Takes the word `word`, which must be next.
    pub fn expect_word(&mut self, word: &str) -> Read<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    /// The fault that something else stands here.
    pub fn expected(&mut self, what: &str) -> Fault {
        self.skip();
        let found: String = match self.text.get(self.at..).unwrap_or_default().chars().next() {
            None => "the end of the text".into(),
            Some(_) => {
                let mut c = *self;
                match c.word() {
                    Some(w) if w.len() <= 40 => format!("`{w}`"),
                    _ => {
                        let one = self.text.get(self.at..).unwrap_or_default().chars().take(1).collect::<String>();
                        format!("`{}`", one.escape_debug())
                    }
                }
            }
        };
        Fault::new(self.at, format!("expected {what}, found {found}"))
    }

    /// Takes bytes while `keep` holds; they must be ASCII.
    pub fn take_while(&mut self, keep: impl Fn(u8) -> bool) -> &'a str {
        let b = self.bytes();
        let n = b.iter().position(|&c| !(c.is_ascii() && keep(c))).unwrap_or(b.len());
        let start = self.at;
        self.at += n;
        self.since(start)
    }

    /// A bare word: `stablehlo.add`, `dims`.
    pub fn word(&mut self) -> Option<&'a str> {
        self.skip();
        self.word_raw()
    }

    /// A bare word with no space before it.
    pub fn word_raw(&mut self) -> Option<&'a str> {
        match self.peek_raw() {
            Some(c) if c.is_ascii_alphabetic() || c == b'_' => {
                Some(self.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$' | b'.')))
            }
            _ => None,
        }
    }

    /// Takes the word `word`, if it is next.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let mut c = *self;
        let found = c.word() == Some(word);
        if found {
            *self = c;
        }
        found
    }

    /// The name after a sigil: digits, or a letter and more.
    fn suffix(&mut self) -> Option<&'a str> {
        let name = match self.peek_raw() {
            Some(c) if c.is_ascii_digit() => self.take_while(|c| c.is_ascii_digit()),
            _ => self.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, b'$' | b'.' | b'_' | b'-')),
        };
        (!name.is_empty()).then_some(name)
    }

    /// A name after `sigil` (`%`, `^`, `#`, `!`), if that is next.
    pub fn sigil(&mut self, sigil: &str, what: &str) -> Read<Option<&'a str>> {
        if !self.eat(sigil) {
            return Ok(None);
        }
        match self.suffix() {
            Some(name) => Ok(Some(name)),
            None => Err(self.expected(what)),
        }
    }

    /// A symbol `@name` or `@"any name"`, if one is next.
    pub fn symbol(&mut self) -> Read<Option<Cow<'a, str>>> {
        if !self.eat("@") {
            return Ok(None);
        }
        if self.peek_raw() == Some(b'"') {
            return Ok(Some(self.string()?));
        }
        match self.word_raw() {
            // `@a-b` is no name, but words end before `-`.
            Some(w) => Ok(Some(Cow::Borrowed(w))),
            None => Err(self.expected("a name after `@`")),
        }
    }

    /// A quoted string, unescaped. Bytes that are no UTF-8 become the characters of their numbers.
    pub fn string(&mut self) -> Read<Cow<'a, str>> {
        let start = self.at;
        if !self.eat("\"") {
            return Err(self.expected("a string"));
        }
        let body = self.at;
        let rest = self.text.get(body..).unwrap_or_default();
        let unterminated = || Fault::new(start, "this string has no closing `\"` on its line");
        let end = rest.find('"').ok_or_else(unterminated)?;
        let plain = rest.get(..end).unwrap_or_default();
        if plain.contains('\n') {
            return Err(unterminated());
        }
        if !plain.contains('\\') {
            self.at = body + end + 1;
            return Ok(Cow::Borrowed(plain));
        }
        let mut out = Vec::new();
        let mut bytes = rest.bytes().enumerate();
        while let Some((i, c)) = bytes.next() {
            match c {
                b'"' => {
                    self.at = body + i + 1;
                    return Ok(Cow::Owned(match String::from_utf8(out) {
                        Ok(s) => s,
                        Err(e) => e.into_bytes().into_iter().map(char::from).collect(),
                    }));
                }
                b'\n' => return Err(unterminated()),
                b'\\' => {
                    let hex = |b: Option<(usize, u8)>| b.and_then(|(_, b)| char::from(b).to_digit(16));
                    match bytes.next() {
                        Some((_, b'n')) => out.push(b'\n'),
                        Some((_, b't')) => out.push(b'\t'),
                        Some((_, c @ (b'"' | b'\\'))) => out.push(c),
                        high => match (hex(high), hex(bytes.next())) {
                            (Some(a), Some(b)) => out.push((a * 16 + b) as u8),
                            _ => {
                                return Err(Fault::new(
                                    body + i,
                                    "an escape is `\\n`, `\\t`, `\\\"`, `\\\\` or two hexadecimal digits after `\\`",
                                ));
                            }
                        },
                    }
                }
                c => out.push(c),
            }
        }
        Err(unterminated())
    }

    /// The text of a number: an integer, decimal or hexadecimal, or a float; empty where none is next.
    pub fn number(&mut self) -> &'a str {
        self.skip();
        let start = self.at;
        self.eat_raw("-");
        let digits = self.at;
        if self.eat_raw("0x") {
            if self.take_while(|c| c.is_ascii_hexdigit()).is_empty() {
                self.at = digits + 1;
            }
            return self.since(start);
        }
        if self.take_while(|c| c.is_ascii_digit()).is_empty() {
            self.at = start;
            return "";
        }
        if self.eat_raw(".") {
            self.take_while(|c| c.is_ascii_digit());
            let exponent = self.at;
            if self.eat_raw("e") || self.eat_raw("E") {
                if !self.eat_raw("-") {
                    self.eat_raw("+");
                }
                if self.take_while(|c| c.is_ascii_digit()).is_empty() {
                    self.at = exponent;
                }
            }
        }
        self.since(start)
    }

    /// An integer.
    pub fn integer(&mut self) -> Read<i128> {
        self.skip();
        let start = self.at;
        let text = self.number();
        if text.is_empty() || (text.contains('.') && !text.contains('x')) {
            self.at = start;
            return Err(self.expected("an integer"));
        }
        integer(text).ok_or_else(|| Fault::new(start, format!("the integer `{text:.40}` is too large")))
    }

    /// Skips `<…>` with all that is nested in it.
    pub fn angles(&mut self) -> Read<()> {
        self.group(b'<', b'>')
    }

    /// Skips from an opening bracket to its closing one. No other kinds of brackets are looked at.
    pub fn group(&mut self, opening: u8, closing: u8) -> Read<()> {
        self.skip();
        let start = self.at;
        if self.peek() != Some(opening) {
            return Err(self.expected(&format!("`{}`", char::from(opening))));
        }
        self.at += 1;
        let mut open = 1usize;
        while open > 0 {
            match self.peek() {
                None => {
                    return Err(Fault::new(start, format!("this `{}` is never closed", char::from(opening))));
                }
                Some(b'"') => {
                    self.string()?;
                    continue;
                }
                Some(b'-') if self.eat_raw("->") => continue,
                Some(b'>') if self.eat_raw(">=") => continue,
                Some(b'<') if self.eat_raw("<=") => continue,
                Some(c) if c == opening => open += 1,
                Some(c) if c == closing => open -= 1,
                Some(_) => {}
            }
            self.at += self.text.get(self.at..).and_then(|t| t.chars().next()).map_or(1, char::len_utf8);
        }
        Ok(())
    }
}

/// The value of an integer's text.
pub(crate) fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |t| (true, t));
    let n = match digits.strip_prefix("0x") {
        Some(hex) => i128::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    if negative { n.checked_neg() } else { Some(n) }
}
