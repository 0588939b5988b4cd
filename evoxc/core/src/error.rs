//! Errors of every layer, and the report that shows them.
//!
//! One enum or struct a layer, joined in [`Error`], so that `?` works through all stages. Each says which op, which
//! operands, where in the user's source, and what to do.

use crate::{Device, DimError, ImportError, Loc};
use std::fmt;

/// The result of every fallible function of evoxc.
///
/// ```
/// use evoxc::prelude::*;
/// fn doubled(x: Tensor) -> evoxc::Result<Vec<f32>> {
///     evaluate(|x: Sym| x + x, x, &Interp)?.to_vec()
/// }
/// assert_eq!(doubled(Tensor::from([1f32, 2.0]))?, [2.0, 4.0]);
/// # Ok::<(), evoxc::Error>(())
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Any error of evoxc. `Display` is one or more plain lines; `Debug` (what `main` prints) is the full report with
/// source lines and carets where the source file can be read.
///
/// ```
/// use evoxc::{Error, prelude::*};
/// match trace(|x: Sym| x.dot(x), spec(F32, [2, 3])) {
///     Err(Error::Trace(all)) => assert_eq!(all.errors[0].op, "dot"),
///     other => panic!("{other:?}"),
/// }
/// ```
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Arithmetic of symbolic extents.
    #[error(transparent)]
    Dim(#[from] DimError),
    /// Host tensors.
    #[error(transparent)]
    Tensor(#[from] TensorError),
    /// Structure of inputs and outputs.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// Devices and transfers.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// All that went wrong while a function was traced.
    #[error(transparent)]
    Trace(#[from] TraceErrors),
    /// A text or file that is no graph.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// A program in another language that becomes no graph.
    #[error(transparent)]
    Import(#[from] Box<ImportError>),
    /// A graph that breaks a rule of the IR.
    #[error(transparent)]
    Ir(#[from] Box<IrError>),
    /// A transform without a rule.
    #[error(transparent)]
    Transform(#[from] Box<TransformError>),
    /// A backend that cannot take a program.
    #[error(transparent)]
    Backend(#[from] Box<BackendError>),
    /// Saved stages.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
    /// Inputs that an executable refuses, and failures while it runs.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Files.
    #[error("{path}: {message}")]
    Io {
        /// The file.
        path: String,
        /// What the system says.
        message: String,
    },
}

impl Error {
    /// An IO error on `path`.
    pub fn io(path: &std::path::Path, e: &std::io::Error) -> Error {
        Error::Io { path: path.display().to_string(), message: e.to_string() }
    }
    /// The full report, with source lines and carets where the source can be read.
    pub fn render(&self) -> String {
        match self {
            Error::Trace(t) => t.errors.iter().map(OpError::render).collect::<Vec<_>>().join("\n\n"),
            Error::Ir(e) => e.op.render(),
            Error::Transform(e) => OpError { op: format!("{}: {}", e.transform, e.op.op), ..e.op.clone() }.render(),
            Error::Parse(e) => e.render(),
            Error::Import(e) => e.render(),
            other => other.to_string(),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render())
    }
}

impl From<IrError> for Error {
    fn from(e: IrError) -> Error {
        Box::new(e).into()
    }
}
impl From<ImportError> for Error {
    fn from(e: ImportError) -> Error {
        Box::new(e).into()
    }
}
impl From<TransformError> for Error {
    fn from(e: TransformError) -> Error {
        Box::new(e).into()
    }
}
impl From<BackendError> for Error {
    fn from(e: BackendError) -> Error {
        Box::new(e).into()
    }
}

/// What is wrong with one op: the common part of the errors of tracing, verifying, transforming and lowering.
///
/// ```
/// use evoxc::{OpError, prelude::*};
/// let e = OpError::new("dot", "no axis to contract").operands([spec(F32, []), spec(F32, [3])]).remedy("use `*`");
/// assert_eq!(e.to_string(), "dot: no axis to contract (tensor<f32>, tensor<3xf32>); use `*`");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct OpError {
    /// The op's name, as printed (`dot`).
    pub op: String,
    /// The operands' types, as printed.
    pub operands: Vec<String>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub remedy: Option<String>,
    /// Where the user wrote it.
    pub loc: Option<Loc>,
}

impl OpError {
    /// An error of `op` without operands, location or remedy.
    pub fn new(op: impl Into<String>, message: impl Into<String>) -> OpError {
        OpError { op: op.into(), operands: vec![], message: message.into(), remedy: None, loc: None }
    }
    /// Adds what to do.
    pub fn remedy(mut self, r: impl Into<String>) -> OpError {
        self.remedy = Some(r.into());
        self
    }
    /// Adds the operands' types.
    pub fn operands<T: fmt::Display>(mut self, types: impl IntoIterator<Item = T>) -> OpError {
        self.operands = types.into_iter().map(|t| t.to_string()).collect();
        self
    }
    /// Adds a location, if there is none yet.
    pub fn at(mut self, loc: Option<Loc>) -> OpError {
        self.loc = self.loc.or(loc);
        self
    }
    fn title(&self) -> String {
        let ops = if self.operands.is_empty() { String::new() } else { format!(" ({})", self.operands.join(", ")) };
        format!("{}: {}{ops}", self.op, self.message)
    }
    /// The error with its source line and a caret, where the source can be read.
    pub fn render(&self) -> String {
        let Some(loc) = self.loc else { return self.to_string() };
        match source(loc.file()) {
            Some(source) => snippet(
                &self.title(),
                &source,
                loc.file(),
                loc.line as usize,
                loc.column as usize,
                self.remedy.as_deref(),
            ),
            None => self.to_string(),
        }
    }
}

/// The text of a source file. The compiler names files from the workspace's root, which may lie above the directory
/// that the program runs in.
fn source(file: &str) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().find_map(|dir| std::fs::read_to_string(dir.join(file)).ok())
}

impl fmt::Display for OpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(l) = self.loc {
            write!(f, "{l}: ")?;
        }
        f.write_str(&self.title())?;
        self.remedy.as_ref().map_or(Ok(()), |r| write!(f, "; {r}"))
    }
}
impl std::error::Error for OpError {}

/// Renders `title` over the source line at `line`:`column` (from 1; columns count characters).
pub(crate) fn snippet(title: &str, source: &str, path: &str, line: usize, column: usize, help: Option<&str>) -> String {
    use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
    let Some(text) = source.lines().nth(line.saturating_sub(1)) else {
        return format!("{path}:{line}:{column}: {title}");
    };
    // A long line, as of an op with many attributes, is shown around the place.
    if text.chars().nth(LONGEST_LINE).is_some() {
        let help = help.map_or_else(String::new, |h| format!("\n{:1$}= help: {h}", "", number_width(line) + 1));
        return format!("error: {title}\n{}{help}", around(text, path, line, column));
    }
    let at = |n: usize| text.char_indices().nth(n).map_or(text.len(), |(i, _)| i);
    let (start, end) = (at(column.saturating_sub(1)), at(column));
    let mut group = Level::ERROR.primary_title(title).element(
        Snippet::source(text)
            .line_start(line)
            .path(path)
            .annotation(AnnotationKind::Primary.span(start..end.max(start))),
    );
    if let Some(h) = help {
        group = group.element(Level::HELP.message(h));
    }
    Renderer::plain().render(&[group])
}

/// Lines of more characters are cut.
const LONGEST_LINE: usize = 140;

fn number_width(line: usize) -> usize {
    line.to_string().len()
}

/// The part of a line around a column, in the form of a snippet.
fn around(text: &str, path: &str, line: usize, column: usize) -> String {
    const BEFORE: usize = 60;
    let (at, width) = (column.saturating_sub(1), number_width(line));
    let from = at.saturating_sub(BEFORE);
    let left = if from > 0 { "..." } else { "" };
    let mut rest = text.chars().skip(from);
    // A tab would move the caret.
    let part: String = rest.by_ref().take(LONGEST_LINE).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let right = if rest.next().is_some() { "..." } else { "" };
    let (gap, caret) = (" ".repeat(width), " ".repeat(at - from + left.len()));
    format!("{gap}--> {path}:{line}:{column}\n{gap} |\n{line} | {left}{part}{right}\n{gap} | {caret}^\n{gap} |")
}

/// All errors of one trace, in the order in which they arose.
///
/// ```
/// use evoxc::{Error, prelude::*};
/// let Err(Error::Trace(all)) = trace(|x: Sym| (x.sum(5), x.reshape([7])), spec(F32, [2, 3])) else { panic!() };
/// assert_eq!(all.errors.len(), 2);
/// assert!(all.errors[0].loc.is_some());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TraceErrors {
    /// At least one.
    pub errors: Vec<OpError>,
}
impl fmt::Display for TraceErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, e) in self.errors.iter().enumerate() {
            write!(f, "{}{e}", if i > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}
impl std::error::Error for TraceErrors {}

/// Text (EvoXIR, or a container) that does not parse.
///
/// ```
/// use evoxc::{Error, prelude::*};
/// let Err(Error::Parse(e)) = Graph::parse("func @f() -> tensor<f32> {\n  return %y\n}") else { panic!() };
/// assert_eq!((e.line, e.source_line.as_str()), (2, "  return %y"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ParseError {
    /// What is wrong.
    pub message: String,
    /// The line, from 1; 0 where there is none.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The text of that line.
    pub source_line: String,
}
impl ParseError {
    fn render(&self) -> String {
        if self.line == 0 {
            self.message.clone()
        } else {
            snippet(
                &self.message,
                &format!("{}{}", "\n".repeat(self.line - 1), self.source_line),
                "<text>",
                self.line,
                self.column,
                None,
            )
        }
    }
}
impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            f.write_str(&self.message)
        } else {
            write!(f, "{}:{}: {}", self.line, self.column, self.message)
        }
    }
}
impl std::error::Error for ParseError {}

/// A module that breaks a rule: which, in which function, at which op.
///
/// ```
/// use evoxc::{Error, prelude::*};
/// let text = "func @f(%x: tensor<2xf32>) -> tensor<3xf32> {\n  %y = evoxc.neg(%x) : tensor<3xf32>\n  return %y\n}";
/// let Err(Error::Ir(e)) = Graph::parse(text) else { panic!() };
/// assert_eq!((e.function.as_str(), e.index, e.op.op.as_str()), ("f", Some(0), "neg"));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("function @{function}: {op}")]
pub struct IrError {
    /// The function.
    pub function: String,
    /// The offending op's running number within the function, counted in print order from 0, if there is one.
    pub index: Option<usize>,
    /// The op and what is wrong.
    pub op: OpError,
}

/// A transform that cannot be applied.
///
/// ```
/// use evoxc::{OpError, TransformError};
/// let e = TransformError { transform: "grad".into(), op: OpError::new("argmax", "it has no derivative") };
/// assert_eq!(e.to_string(), "grad: argmax: it has no derivative");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{transform}: {op}")]
pub struct TransformError {
    /// `grad`, `vmap` …
    pub transform: String,
    /// The op and what is wrong.
    pub op: OpError,
}

/// A backend that cannot take an op, or fails to compile.
///
/// ```
/// use evoxc::{BackendError, Error, OpError};
/// let op = OpError::new("fft", "it is not supported").remedy("use `Interp`");
/// let e = Error::from(BackendError { backend: "toy".into(), op });
/// assert_eq!(e.to_string(), "backend toy: fft: it is not supported; use `Interp`");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("backend {backend}: {op}")]
pub struct BackendError {
    /// The backend's name.
    pub backend: String,
    /// The op, what is wrong, and the remedy.
    pub op: OpError,
}

/// Host tensors that cannot be made, read or viewed as asked.
///
/// ```
/// use evoxc::{Error, Tensor, TensorError};
/// let e = Tensor::from_vec(vec![1f32, 2.0, 3.0], [2, 2]).unwrap_err();
/// assert!(matches!(e, Error::Tensor(TensorError::Size { got: 3, .. })));
/// assert_eq!(e.to_string(), "shape [2, 2] holds 4 elements, got 3");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorError {
    /// The number of elements does not fit the shape.
    #[error("shape {shape} holds {expected} elements, got {got}")]
    Size {
        /// The shape.
        shape: String,
        /// Elements of that shape.
        expected: String,
        /// Elements given.
        got: usize,
    },
    /// A shape with a symbolic, negative, or absurdly large extent.
    #[error("a tensor cannot have shape {shape}: {reason}")]
    Shape {
        /// The shape.
        shape: String,
        /// Why not.
        reason: String,
    },
    /// Another dtype than asked for.
    #[error("expected a tensor of {expected}, got {got}; read it with its own element type, or `cast` it first")]
    DType {
        /// Asked for.
        expected: String,
        /// The tensor's.
        got: String,
    },
    /// `item` of a tensor that has not exactly one element.
    #[error("`item` needs a tensor of one element, got {0}")]
    NotAScalar(String),
    /// A value that the dtype cannot hold.
    #[error("{value} cannot be a {dtype}")]
    Value {
        /// The value.
        value: String,
        /// The dtype.
        dtype: String,
    },
}

/// Structures that differ.
///
/// ```
/// use evoxc::{Error, prelude::*};
/// let specs = Dyn::of((spec(F32, [2]), vec![spec(F32, [3])]));
/// let Err(Error::Tree(e)) = specs.into::<(TensorSpec, TensorSpec)>() else { panic!() };
/// assert_eq!(e.path, "1");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{path}{}expected {expected}, got {got}", if path.is_empty() { "" } else { ": " })]
pub struct TreeError {
    /// The path of the first difference, as in `params.layers[3].w`; empty at the root.
    pub path: String,
    /// What should be there.
    pub expected: String,
    /// What is there.
    pub got: String,
}

/// Devices that do not exist or hold what was asked for elsewhere.
///
/// ```
/// use evoxc::{Device, DeviceError};
/// assert_eq!("gpu".parse::<Device>(), Err(DeviceError::Unknown("gpu".into())));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// A name that is no device.
    #[error("`{0}` is not a device: write cpu, cuda:N, rocm:N (or hip:N), vulkan:N, tpu:N, metal:N")]
    Unknown(String),
    /// No runtime for this device is compiled in or present.
    #[error("no runtime for {device}: {reason}")]
    Unavailable {
        /// The device.
        device: Device,
        /// Why.
        reason: String,
    },
    /// A host read of a tensor that lives elsewhere.
    #[error("the tensor lives on {0}, host reads need `.to(Device::cpu())?` first")]
    NotOnHost(Device),
}

/// Saved stages that cannot be written, read or used here.
///
/// ```
/// use evoxc::{Error, PersistenceError, prelude::*};
/// let artifact = trace(|x: Sym| -x, spec(F32, [2]))?.lower(&Interp)?.compile()?;
/// let e = artifact.load(Device::cuda(0)).unwrap_err();
/// assert!(matches!(e, Error::Persistence(PersistenceError::Mismatch { field: "device", .. })));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PersistenceError {
    /// The file is none of ours, or damaged.
    #[error("{path}: not a readable {what}: {reason}")]
    Format {
        /// The file.
        path: String,
        /// `graph`, `lowered program`, `artifact`.
        what: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// Saved by another format version, backend, backend version, ABI, or for another device.
    #[error("{path}: saved with {field} `{saved}`, but `{here}` is needed here; {remedy}")]
    Mismatch {
        /// The file.
        path: String,
        /// `version`, `backend`, `backend version`, `abi`, `device`.
        field: &'static str,
        /// In the file.
        saved: String,
        /// Here.
        here: String,
        /// What to do.
        remedy: String,
    },
}

/// Inputs that an executable refuses, or a failure of the program.
///
/// ```
/// use evoxc::{Error, RunError, prelude::*};
/// let b = dim("B");
/// let exe = build(|x: Sym, y: Sym| x + y, (spec(F32, [b]), spec(F32, [b])), &Interp)?;
/// let e = exe.run((Tensor::ones(F32, [2]), Tensor::ones(F32, [3]))).unwrap_err();
/// assert!(matches!(e, Error::Run(RunError::Symbol { here: 3, before: 2, .. })));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// An input of another structure, type or device.
    #[error("input {path}: expected {expected}, got {got}")]
    Input {
        /// Its path in the argument tree.
        path: String,
        /// What the program takes.
        expected: String,
        /// What came.
        got: String,
    },
    /// One symbol with two values.
    #[error("input {path}: `{symbol}` is {here} here, but {before} at {before_path}")]
    Symbol {
        /// The input.
        path: String,
        /// The symbol.
        symbol: String,
        /// Its value here.
        here: i64,
        /// Its value before.
        before: i64,
        /// Where that was.
        before_path: String,
    },
    /// An op that failed while running.
    #[error("{0}")]
    Op(Box<OpError>),
}
