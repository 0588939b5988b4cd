//! Files that hold several modules, with lines `// -----` between them.

/// One module of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chunk<'a> {
    /// Its text.
    pub text: &'a str,
    /// How many lines of the file stand before it: to add to the lines of errors.
    pub lines_before: usize,
}

/// Splits a file at its lines `// -----`.
///
/// ```
/// use evoxc_stablehlo::syntax::split;
/// let chunks = split("module @a {}\n// -----\nmodule @b {}\n");
/// assert_eq!((chunks[1].text, chunks[1].lines_before), ("module @b {}\n", 2));
/// ```
pub fn split(text: &str) -> Vec<Chunk<'_>> {
    let mut chunks = vec![];
    let (mut start, mut lines_before, mut at) = (0, 0, 0);
    for (line_number, line) in text.split_inclusive('\n').enumerate() {
        if line.trim_end().starts_with("// -----") {
            chunks.push(Chunk { text: text.get(start..at).unwrap_or_default(), lines_before });
            (start, lines_before) = (at + line.len(), line_number + 1);
        }
        at += line.len();
    }
    chunks.push(Chunk { text: text.get(start..).unwrap_or_default(), lines_before });
    chunks
}
