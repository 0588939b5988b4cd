//! Locations: of each only the first file, line and column that it names.

use super::ast::FileLoc;
use super::fault::{Fault, Read};
use super::parser::Parser;
use std::borrow::Cow;
use std::collections::HashMap;

/// What a location says.
#[derive(Clone, Debug)]
pub(crate) enum Place<'a> {
    File(FileLoc<'a>),
    /// Another one by name, which may be defined later.
    Alias(&'a str),
    Unknown,
}

/// Marks a location that is still a name: no line of a text has this number.
const PENDING: u32 = u32::MAX;

impl<'a> Parser<'a> {
    /// `loc(…)`, if it is next.
    pub fn optional_loc(&mut self) -> Read<Option<FileLoc<'a>>> {
        if !self.c.eat_word("loc") {
            return Ok(None);
        }
        Ok(match self.loc_body()? {
            Place::File(f) => Some(f),
            Place::Unknown => None,
            Place::Alias(name) => {
                self.uses_loc_aliases = true;
                Some(FileLoc { file: Cow::Borrowed(name), line: PENDING, column: PENDING })
            }
        })
    }

    /// The rest of a location after the word `loc`. A loop, for call stacks nest as deep as they are.
    pub fn loc_body(&mut self) -> Read<Place<'a>> {
        self.c.skip();
        let start = self.c.at;
        self.c.expect("(")?;
        let (mut open, mut found) = (1usize, Place::Unknown);
        while open > 0 {
            match self.c.peek() {
                None => return Err(Fault::new(start, "this location is never closed")),
                Some(b'"') => {
                    let file = self.c.string()?;
                    let place = self.line_and_column();
                    if let (Some((line, column)), Place::Unknown) = (place, &found) {
                        found = Place::File(FileLoc { file, line, column });
                    }
                }
                Some(b'#') => {
                    let name = self.c.sigil("#", "a name after `#`")?.unwrap_or_default();
                    if let (Place::Unknown, false) = (&found, name.contains('.')) {
                        found = Place::Alias(name);
                    }
                }
                Some(c) => {
                    match c {
                        b'(' => open += 1,
                        b')' => open -= 1,
                        _ => {}
                    }
                    self.c.at += self.c.text.get(self.c.at..).and_then(|t| t.chars().next()).map_or(1, char::len_utf8);
                }
            }
        }
        Ok(found)
    }

    fn line_and_column(&mut self) -> Option<(u32, u32)> {
        let mut number = || {
            if !self.c.eat(":") {
                return None;
            }
            self.c.skip();
            self.c.take_while(|c| c.is_ascii_digit()).parse::<u32>().ok().filter(|&n| n != PENDING)
        };
        Some((number()?, number()?))
    }
}

/// The file behind a name, through names of names.
pub(crate) fn follow<'a>(aliases: &mut HashMap<&'a str, Place<'a>>, name: &'a str) -> Option<FileLoc<'a>> {
    let (mut at, mut path) = (name, vec![]);
    // As many steps as there are names: more would be a circle.
    let end = loop {
        match aliases.get(at) {
            Some(Place::Alias(next)) if path.len() <= aliases.len() => {
                path.push(at);
                at = next;
            }
            Some(Place::File(f)) => break Some(f.clone()),
            _ => break None,
        }
    };
    // Chains are walked once.
    for name in path {
        aliases.insert(name, end.clone().map_or(Place::Unknown, Place::File));
    }
    end
}

/// Replaces a location that is still a name.
pub(crate) fn settle<'a>(loc: &mut Option<FileLoc<'a>>, aliases: &mut HashMap<&'a str, Place<'a>>) {
    if let Some(FileLoc { file: Cow::Borrowed(name), line: PENDING, .. }) = *loc {
        *loc = follow(aliases, name);
    }
}
