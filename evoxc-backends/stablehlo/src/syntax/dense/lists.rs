//! Elements as nested lists: brackets and commas, over the readers of single elements.

use super::super::ast::{Dense, Element as ElementType};
use super::super::fault::{Fault, Read};
use super::element::Text;

/// How the elements of a constant are written.
pub(super) enum Form<'a> {
    Empty,
    /// One element for all.
    One,
    List,
    /// The digits after `"0x`.
    Hex(&'a str),
}

/// Tells the form by the first character.
pub(super) fn shape_of_text(text: &str) -> Form<'_> {
    let mut scan = Scan::new(text, 0, ElementType::Index);
    match scan.peek() {
        None => Form::Empty,
        Some(b'[') => Form::List,
        Some(b'"') => {
            let inside = text.get(scan.at + 1..).unwrap_or_default().trim_end();
            match inside.strip_suffix('"').and_then(|t| t.strip_prefix("0x")) {
                Some(digits) => Form::Hex(digits),
                // The reader of one element says what is wrong.
                None => Form::One,
            }
        }
        Some(_) => Form::One,
    }
}

/// A place among elements.
pub(super) struct Scan<'a> {
    text: &'a str,
    pub at: usize,
    /// Where the elements stand in the whole text, for faults.
    base: usize,
    /// What they should be.
    pub of: ElementType<'a>,
}

impl<'a> Scan<'a> {
    pub fn new(text: &'a str, base: usize, of: ElementType<'a>) -> Scan<'a> {
        Scan { text, at: 0, base, of }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte that is neither space nor comment.
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            match self.byte() {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.at += 1,
                Some(b'/') if self.text.as_bytes().get(self.at + 1) == Some(&b'/') => {
                    let rest = self.text.get(self.at..).unwrap_or_default();
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                other => return other,
            }
        }
    }

    pub fn eat(&mut self, c: u8) -> bool {
        let found = self.peek() == Some(c);
        self.at += usize::from(found);
        found
    }

    /// A number or a word.
    pub fn token(&mut self) -> &'a str {
        self.peek();
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let n = rest.iter().position(|c| !(c.is_ascii_alphanumeric() || matches!(c, b'.' | b'-' | b'+')));
        let end = self.at + n.unwrap_or(rest.len());
        let token = self.text.get(self.at..end).unwrap_or_default();
        self.at = end;
        token
    }

    pub fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.base + self.at, message)
    }

    /// The fault that a token is no element, at its beginning.
    #[cold]
    pub fn no_element(&self, token: &str, why: &str) -> Fault {
        let at = self.base + self.at.saturating_sub(token.len());
        if token.is_empty() {
            let found = self.text.get(self.at..).unwrap_or_default().chars().next();
            let found = found.map_or("the end of the constant".into(), |c| format!("`{}`", c.escape_debug()));
            return Fault::new(at, format!("expected an element of {}, found {found}", self.of));
        }
        Fault::new(at, format!("`{token:.60}` is no element of {}: {why}", self.of))
    }
}

/// A single element, and nothing after it.
pub(super) fn one<T: Text>(mut scan: Scan<'_>) -> Read<Vec<T>> {
    let x = T::read(&mut scan)?;
    match scan.peek() {
        None => Ok(vec![x]),
        Some(_) => Err(scan.fault("expected the end of the constant after its element")),
    }
}

/// All elements of nested lists. A loop, for the rank is as large as the text says.
pub(super) fn all<T: Text>(mut scan: Scan<'_>, shape: &[usize], total: usize, dense: &Dense<'_>) -> Read<Vec<T>> {
    // An element is a character at least.
    if total > scan.text.len() {
        return Err(scan.fault(format!("this list is shorter than the elements of {}", dense.ty)));
    }
    let mut elements = Vec::with_capacity(total);
    // How many members each list that is open has so far.
    let mut open: Vec<usize> = vec![];
    loop {
        while scan.eat(b'[') {
            if open.len() == shape.len() {
                return Err(scan.fault(format!("lists nest deeper than the axes of {}", dense.ty)));
            }
            open.push(0);
        }
        if scan.peek() != Some(b']') || open.last() != Some(&0) {
            if open.len() != shape.len() {
                return Err(scan.fault(format!("expected a list, as {} has {} axes", dense.ty, shape.len())));
            }
            // The innermost list, without looking at those around it.
            let mut n = open.last().copied().unwrap_or_default();
            loop {
                if elements.len() == total {
                    return Err(scan.fault(format!("there are more elements than {} has", dense.ty)));
                }
                elements.push(T::read(&mut scan)?);
                n += 1;
                if !scan.eat(b',') {
                    break;
                }
            }
            if let Some(last) = open.last_mut() {
                *last = n;
            }
        }
        loop {
            if !scan.eat(b']') {
                return Err(scan.fault("expected `,` or `]`"));
            }
            let (n, axis) = (open.pop().unwrap_or_default(), open.len());
            let extent = shape.get(axis).copied().unwrap_or_default();
            if n != extent {
                return Err(scan.fault(format!("a list of {n} along axis {axis} of {}", dense.ty)));
            }
            let Some(outer) = open.last_mut() else {
                return match scan.peek() {
                    None => Ok(elements),
                    Some(_) => Err(scan.fault("expected the end of the constant after its list")),
                };
            };
            *outer += 1;
            if scan.eat(b',') {
                break;
            }
        }
    }
}
