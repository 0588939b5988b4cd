//! Reads the text of an expression.

use super::{Dim, DimError, dim};

/// How deep parentheses nest at most.
const MAX_NESTING: usize = 200;

pub(super) fn parse(text: &str) -> Result<Dim, DimError> {
    let mut parser = Parser { text, at: 0, nesting: 0 };
    let d = parser.sum()?;
    match parser.peek() {
        None => Ok(d),
        Some(_) => Err(parser.expected("an operator or the end")),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    nesting: usize,
}

impl<'a> Parser<'a> {
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expected(&self, what: &str) -> DimError {
        DimError::Parse { text: self.text.to_owned(), at: self.at, expected: what.to_owned() }
    }

    fn take(&mut self, accept: impl Fn(u8) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let len = rest.bytes().take_while(|b| accept(*b)).count();
        self.at += len;
        &rest[..len]
    }

    fn sum(&mut self) -> Result<Dim, DimError> {
        let mut d = self.product()?;
        loop {
            d = if self.eat(b'+') {
                d + self.product()?
            } else if self.eat(b'-') {
                d - self.product()?
            } else {
                return Ok(d);
            }
            .checked()?;
        }
    }

    fn product(&mut self) -> Result<Dim, DimError> {
        let mut d = self.signed()?;
        loop {
            d = if self.eat(b'*') {
                d * self.signed()?
            } else if self.eat(b'/') {
                d / self.signed()?
            } else if self.eat(b'%') {
                d % self.signed()?
            } else {
                return Ok(d);
            }
            .checked()?;
        }
    }

    fn signed(&mut self) -> Result<Dim, DimError> {
        let mut negative = false;
        while self.eat(b'-') {
            negative = !negative;
        }
        let d = self.power(negative)?;
        d.checked()
    }

    fn power(&mut self, negative: bool) -> Result<Dim, DimError> {
        let negate = |d: Dim| if negative { -d } else { d };
        let base = match self.peek() {
            Some(b'0'..=b'9') => {
                let digits = self.take(|b| b.is_ascii_digit());
                // The one constant whose size is no constant.
                let least = i64::MIN.unsigned_abs().to_string();
                if negative && digits.trim_start_matches('0') == least {
                    return Ok(Dim::constant(i64::MIN));
                }
                let overflow = |_| DimError::Overflow { expr: digits.to_owned() };
                Dim::constant(digits.parse::<i64>().map_err(overflow)?)
            }
            _ => self.primary()?,
        };
        if !self.eat(b'^') {
            return Ok(negate(base));
        }
        self.peek();
        let exponent = self.take(|b| b.is_ascii_digit());
        if exponent.is_empty() {
            return Err(self.expected("a constant power"));
        }
        // No power above 64 is within limits, but for those of 0, 1 and -1.
        let exponent = match exponent.parse::<u64>() {
            Ok(e) if e <= 64 => e,
            Ok(e) => 64 + e % 2,
            Err(_) => return Err(DimError::TooLarge),
        };
        let mut d = Dim::constant(1);
        for _ in 0..exponent {
            d = (d * base).checked()?;
        }
        Ok(negate(d))
    }

    fn primary(&mut self) -> Result<Dim, DimError> {
        match self.peek() {
            Some(b'(') => self.nested(|p| p.sum()),
            Some(b) if b.is_ascii_alphabetic() || b == b'_' => {
                let name = self.take(|b| b.is_ascii_alphanumeric() || b == b'_');
                let min = name == "min";
                if (min || name == "max") && self.peek() == Some(b'(') {
                    return self.nested(|p| {
                        let mut d = p.sum()?;
                        while p.eat(b',') {
                            let o = p.sum()?;
                            d = if min { d.min(o) } else { d.max(o) }.checked()?;
                        }
                        Ok(d)
                    });
                }
                dim(name).checked()
            }
            _ => Err(self.expected("an integer, a name or `(`")),
        }
    }

    fn nested(&mut self, inner: impl FnOnce(&mut Self) -> Result<Dim, DimError>) -> Result<Dim, DimError> {
        if self.nesting == MAX_NESTING {
            return Err(DimError::TooDeep);
        }
        self.nesting += 1;
        self.at += 1;
        let d = inner(self)?;
        if !self.eat(b')') {
            return Err(self.expected("`)`"));
        }
        self.nesting -= 1;
        Ok(d)
    }
}
