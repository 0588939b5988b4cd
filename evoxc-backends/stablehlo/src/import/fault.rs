//! Why an import stops, and where in the text.

use evoxc_core::{Dim, ImportError, OpError, Unsupported};

/// The result of a step of the import.
pub(super) type Done<T> = Result<T, Box<Fault>>;

/// Why an import stops.
#[derive(Debug)]
pub(super) enum Fault {
    /// The program is wrong, or holds what has no form in a graph.
    Error(ImportError),
    /// A rule of the IR is broken, which the trace has recorded: at this byte, in this op.
    Recorded(usize, String),
    /// A constant does not parse.
    Parse(evoxc_core::Error),
    /// Two extents must be the same, so that a symbol has to be replaced: the import starts again. The byte and the op
    /// are for the case that they cannot be.
    Equal(Dim, Dim, usize, String),
}

/// The text, and where its lines start.
pub(super) struct Source<'a> {
    pub text: &'a str,
    lines: Vec<usize>,
}

impl<'a> Source<'a> {
    pub fn new(text: &'a str) -> Source<'a> {
        let starts = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1);
        Source { text, lines: std::iter::once(0).chain(starts).collect() }
    }
    /// Line and column of a byte, from 1; the column counts characters.
    pub fn place(&self, at: usize) -> (usize, usize) {
        let line = self.lines.partition_point(|&start| start <= at).max(1);
        let start = self.lines.get(line - 1).copied().unwrap_or(0);
        let column = self.text.get(start..at).map_or(0, |s| s.chars().count());
        (line, column + 1)
    }
    fn line(&self, line: usize) -> &'a str {
        let start = self.lines.get(line - 1).copied().unwrap_or(0);
        self.text.get(start..).and_then(|s| s.lines().next()).unwrap_or_default()
    }
    /// An error at a byte.
    pub fn error(
        &self,
        at: usize,
        unsupported: Option<Unsupported>,
        op: &str,
        message: impl Into<String>,
        remedy: Option<String>,
    ) -> ImportError {
        let (line, column) = self.place(at);
        let text = self.line(line);
        // A line of a large constant is no help to a reader.
        let source_line = if text.len() > 4096 { String::new() } else { text.to_string() };
        ImportError { unsupported, op: op.into(), message: message.into(), remedy, line, column, source_line }
    }
    /// An error that the trace recorded, at a byte.
    pub fn recorded(&self, at: usize, op: &str, e: &OpError) -> ImportError {
        let types = if e.operands.is_empty() { String::new() } else { format!(" ({})", e.operands.join(", ")) };
        let message = format!("{}: {}{types}", e.op, e.message);
        self.error(at, None, op, message, e.remedy.clone())
    }
}
