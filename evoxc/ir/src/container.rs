//! The file of a saved graph, `.evoxcgraph`: JSON that holds the text of the module, its large constants as raw bytes,
//! and the trees of its inputs and outputs.
//!
//! A file is checked, never believed: another format or version, a truncated or altered file is an error, and no size
//! that it claims is allocated before the bytes are there. What is read is not verified as a program.

use crate::Module;
use crate::literal::le_bytes;
use crate::parse::parse;
use crate::print::for_container;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use evoxc_core::{Buffer, DType, Error, PersistenceError, Result, Tensor, TreeDef, TreeToken};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

const FORMAT: &str = "evoxc.graph";
const VERSION: u64 = 1;

/// A graph as it is saved: the module, and the trees that its entry's arguments and results form.
///
/// ```
/// use evoxc::TreeDef;
/// use evoxc::ir::{GraphFile, Module};
/// let module = Module::parse("func @f(%x: tensor<2xf32>) -> tensor<2xf32> { return %x }")?;
/// let file = GraphFile { module, inputs: TreeDef::leaf(), outputs: TreeDef::leaf(), captures: 0 };
/// assert_eq!(GraphFile::from_json(&file.to_json()?)?.module, file.module);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GraphFile {
    /// The program; its entry takes the leaves of `inputs`, then the captures, and gives the leaves of `outputs`.
    pub module: Module,
    /// The structure of the inputs.
    pub inputs: TreeDef,
    /// The structure of the outputs.
    pub outputs: TreeDef,
    /// The number of arguments that follow the leaves of `inputs`.
    pub captures: usize,
}

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    version: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    format: String,
    version: u64,
    /// EvoXIR, line by line.
    program: Vec<String>,
    constants: Vec<Constant>,
    inputs: Vec<TreeToken>,
    outputs: Vec<TreeToken>,
    captures: usize,
}

/// A constant that stands in the program as `const<k>`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Constant {
    dtype: DType,
    shape: Vec<usize>,
    /// Little-endian elements, base64.
    data: String,
}

impl Constant {
    fn of(t: &Tensor) -> Constant {
        let data = STANDARD.encode(le_bytes(t.buffer()));
        Constant { dtype: t.dtype(), shape: t.shape().to_vec(), data }
    }
    fn tensor(&self) -> Result<Tensor, String> {
        let bytes = STANDARD.decode(&self.data).map_err(|e| e.to_string())?;
        let buffer = Buffer::from_le_bytes(self.dtype, &bytes);
        let buffer = buffer.ok_or_else(|| format!("its {} bytes are no elements of {}", bytes.len(), self.dtype))?;
        Tensor::from_buffer(buffer, &self.shape).map_err(|e| e.to_string())
    }
}

impl GraphFile {
    /// The JSON text. Absolute paths of source files are shortened to their last three components.
    ///
    /// # Errors
    /// [`PersistenceError::Format`] when the writer of JSON fails, which it does not for these types.
    pub fn to_json(&self) -> Result<String> {
        let (text, constants) = for_container(&self.module);
        let contents = Contents {
            format: FORMAT.into(),
            version: VERSION,
            program: text.lines().map(Into::into).collect(),
            constants: constants.iter().map(Constant::of).collect(),
            inputs: self.inputs.tokens().to_vec(),
            outputs: self.outputs.tokens().to_vec(),
            captures: self.captures,
        };
        serde_json::to_string_pretty(&contents).map_err(|e| damaged(None, e.to_string()))
    }

    /// Reads the JSON text. The module is parsed, not verified.
    ///
    /// # Errors
    /// [`PersistenceError`] for what is no graph, or one of another version; [`evoxc_core::ParseError`] for a program
    /// that does not parse, its lines counted from the first of the program.
    pub fn from_json(text: &str) -> Result<GraphFile> {
        read(text, None)
    }

    /// Writes the file. It appears whole or not at all: the text goes to another file in the same folder first.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let text = self.to_json()?;
        let part = part_path(path);
        let written = std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, path));
        written.map_err(|e| {
            // The first error is the one to report.
            let _ = std::fs::remove_file(&part);
            Error::io(path, &e)
        })
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`Error::Io`], and those of [`GraphFile::from_json`].
    pub fn load(path: impl AsRef<Path>) -> Result<GraphFile> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|e| Error::io(path, &e))?;
        let text = String::from_utf8(bytes).map_err(|_| damaged(Some(path), "it is not UTF-8 text"))?;
        read(&text, Some(path))
    }
}

/// A name in the same folder that no other writer uses.
fn part_path(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}-{}.part", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    path.with_file_name(name)
}

fn shown(path: Option<&Path>) -> String {
    path.map_or_else(|| "<text>".into(), |p| p.display().to_string())
}

fn damaged(path: Option<&Path>, reason: impl Into<String>) -> Error {
    PersistenceError::Format { path: shown(path), what: "graph", reason: reason.into() }.into()
}

fn mismatch(path: Option<&Path>, field: &'static str, saved: String, here: String, remedy: &str) -> Error {
    PersistenceError::Mismatch { path: shown(path), field, saved, here, remedy: remedy.into() }.into()
}

fn read(text: &str, path: Option<&Path>) -> Result<GraphFile> {
    let bad = |reason: String| damaged(path, reason);
    let header: Header = serde_json::from_str(text).map_err(|e| bad(e.to_string()))?;
    if header.format != FORMAT {
        return Err(mismatch(path, "format", header.format, FORMAT.into(), "load it as what it is"));
    }
    if header.version != VERSION {
        let remedy = "save the graph again with this version of evoxc";
        return Err(mismatch(path, "version", header.version.to_string(), VERSION.to_string(), remedy));
    }
    let c: Contents = serde_json::from_str(text).map_err(|e| bad(e.to_string()))?;
    let constant = |(k, c): (usize, &Constant)| c.tensor().map_err(|e| bad(format!("constant {k}: {e}")));
    let constants: Vec<Tensor> = c.constants.iter().enumerate().map(constant).collect::<Result<_>>()?;
    let module = parse(&c.program.join("\n"), Some(&constants))?.0;
    let inputs = TreeDef::from_tokens(c.inputs).map_err(|e| bad(format!("inputs: {e}")))?;
    let outputs = TreeDef::from_tokens(c.outputs).map_err(|e| bad(format!("outputs: {e}")))?;
    let Some(main) = module.main() else { return Err(bad("the program has no function".into())) };
    let (args, results) = (main.body.args.len(), main.body.results.len());
    if inputs.leaf_count().checked_add(c.captures) != Some(args) {
        let leaves = inputs.leaf_count();
        return Err(bad(format!("{leaves} inputs and {} captures for {args} arguments of the program", c.captures)));
    }
    if outputs.leaf_count() != results {
        return Err(bad(format!("{} outputs for {results} results of the program", outputs.leaf_count())));
    }
    Ok(GraphFile { module, inputs, outputs, captures: c.captures })
}
