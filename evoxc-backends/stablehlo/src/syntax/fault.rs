//! What is wrong with a text and where, as a byte offset; line and column are counted only when an error leaves.

use evoxc_core::{Error, ParseError};

/// A message and the byte offset that it is about.
#[derive(Debug)]
pub(crate) struct Fault {
    pub at: usize,
    pub message: String,
    /// Is there no other way to read the text?
    pub fatal: bool,
}

/// The result of reading a part of a text.
pub(crate) type Read<T> = Result<T, Fault>;

/// Lines longer than this are shown in part, for a constant may be one line of a gigabyte.
const MAX_SHOWN: usize = 4096;

impl Fault {
    pub fn new(at: usize, message: impl Into<String>) -> Fault {
        Fault { at, message: message.into(), fatal: false }
    }

    /// A fault after which no other form is tried.
    pub fn fatal(at: usize, message: impl Into<String>) -> Fault {
        Fault { fatal: true, ..Fault::new(at, message) }
    }

    /// The error with line, column and the line's text.
    pub fn into_error(self, text: &str) -> Error {
        error_at(text, self.at, self.message).into()
    }
}

/// The error that says `message` of the byte offset `at` of `text`.
///
/// ```
/// use evoxc_stablehlo::syntax::error_at;
/// let e = error_at("module {\n  nonsense\n}", 11, "no op is named so");
/// assert_eq!((e.line, e.column, e.source_line.as_str()), (2, 3, "  nonsense"));
/// ```
pub fn error_at(text: &str, at: usize, message: impl Into<String>) -> ParseError {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let (before, after) = text.split_at(at);
    let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |i| i + 1);
    let head = before.get(start..).unwrap_or_default();
    let tail = after.split('\n').next().unwrap_or_default();
    let column = head.chars().count() + 1;
    let mut source_line = String::new();
    if head.len() <= MAX_SHOWN {
        source_line.push_str(head);
        source_line.extend(tail.chars().take(MAX_SHOWN));
    }
    let source_line = source_line.trim_end_matches('\r').to_string();
    ParseError { message: message.into(), line, column, source_line }
}
