//! The error of programs in another language (StableHLO) that become no graph.

use crate::error::snippet;
use std::fmt;

/// What evoxc deliberately leaves out of the languages that it imports. It is a kind, so that reports can group by it;
/// the words of [`ImportError::message`] are for people.
///
/// ```
/// use evoxc::Unsupported;
/// assert_eq!(Unsupported::DataDependentShape.to_string(), "data-dependent shapes");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Unsupported {
    /// `!quant.uniform<…>` types, and the ops on them.
    QuantizedType,
    /// A type of elements that is no [`DType`](crate::DType): sub-byte integers, small floats.
    ElementType,
    /// infeed, outfeed, send, recv.
    HostTransfer,
    /// An extent that only the values of the inputs decide.
    DataDependentShape,
    /// A custom call whose target has no known meaning.
    CustomCall,
    /// Random numbers without a key (`rng`), or of an algorithm whose bits are not defined.
    Random,
    /// Collectives, as far as they have no primitive.
    Collective,
    /// `check.*` and `interpreter.*` where they were not asked for, or stand where they cannot be recorded.
    Check,
    /// Any other op or form of an op.
    Op,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unsupported::QuantizedType => "quantized types",
            Unsupported::ElementType => "element types without a dtype",
            Unsupported::HostTransfer => "infeed, outfeed, send, recv",
            Unsupported::DataDependentShape => "data-dependent shapes",
            Unsupported::CustomCall => "custom calls",
            Unsupported::Random => "random numbers without a key",
            Unsupported::Collective => "collectives",
            Unsupported::Check => "checks",
            Unsupported::Op => "other ops",
        })
    }
}

/// An op of an imported program that breaks a rule of its language, or that has no form in a graph.
///
/// ```
/// use evoxc::{Error, ImportError, Unsupported};
/// let e = ImportError {
///     unsupported: Some(Unsupported::HostTransfer),
///     op: "stablehlo.infeed".into(),
///     message: "it reads from the host while the program runs".into(),
///     remedy: Some("make the value an argument of the function".into()),
///     line: 3,
///     column: 8,
///     source_line: "  %0 = \"stablehlo.infeed\"(%t)".into(),
/// };
/// assert!(Error::from(e).to_string().starts_with("3:8: stablehlo.infeed: it reads"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ImportError {
    /// What evoxc leaves out, if it is that; `None` for a program that is wrong.
    pub unsupported: Option<Unsupported>,
    /// The op, with its dialect.
    pub op: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub remedy: Option<String>,
    /// The line, from 1; 0 where there is none.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The text of that line.
    pub source_line: String,
}

impl ImportError {
    pub(crate) fn render(&self) -> String {
        if self.line == 0 {
            return self.to_string();
        }
        let source = format!("{}{}", "\n".repeat(self.line - 1), self.source_line);
        let title = format!("{}: {}", self.op, self.message);
        snippet(&title, &source, "<text>", self.line, self.column, self.remedy.as_deref())
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "{}:{}: ", self.line, self.column)?;
        }
        write!(f, "{}: {}", self.op, self.message)?;
        self.remedy.as_ref().map_or(Ok(()), |r| write!(f, "; {r}"))
    }
}

impl std::error::Error for ImportError {}
