//! The lowered form: StableHLO text with the types of its inputs and outputs.

use crate::error::{Stage, error, error_with};
use evoxc_core::{Dim, PersistenceError, Result, Shape, TensorSpec, spec};
use std::fmt::Write as _;
use std::ops::Deref;
use std::sync::Arc;

/// A program as StableHLO text; it derefs to the text.
///
/// ```
/// use evoxc::{XlaProgram, F32, spec};
/// let text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}";
/// let program = XlaProgram::from_text(text, vec![spec(F32, [2])], vec![spec(F32, [2])])?;
/// assert!(program.starts_with("func.func"));
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct XlaProgram {
    text: Arc<str>,
    inputs: Arc<[TensorSpec]>,
    outputs: Arc<[TensorSpec]>,
}

impl XlaProgram {
    /// Text of a module whose function `main` has these types.
    ///
    /// # Errors
    /// [`BackendError`](evoxc_core::BackendError) for a type with a symbolic extent: XLA compiles static shapes.
    pub fn from_text(text: impl AsRef<str>, inputs: Vec<TensorSpec>, outputs: Vec<TensorSpec>) -> Result<XlaProgram> {
        if let Some(s) = inputs.iter().chain(&outputs).find(|s| s.shape.to_static().is_none()) {
            return Err(symbolic(s));
        }
        Ok(XlaProgram { text: text.as_ref().into(), inputs: inputs.into(), outputs: outputs.into() })
    }
    /// The types of the inputs, in order.
    pub fn inputs(&self) -> &[TensorSpec] {
        &self.inputs
    }
    /// The types of the outputs, in order.
    pub fn outputs(&self) -> &[TensorSpec] {
        &self.outputs
    }
    /// Types first, one a line, then an empty line and the text.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = types(&self.inputs, &self.outputs);
        out.push('\n');
        out.push_str(&self.text);
        out.into_bytes()
    }
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<XlaProgram> {
        let text = std::str::from_utf8(bytes).map_err(|e| bad(&e.to_string()))?;
        // Without any input or output the empty line comes first.
        let parts = text.strip_prefix('\n').map(|text| ("", text)).or_else(|| text.split_once("\n\n"));
        let (head, text) = parts.ok_or_else(|| bad("it has no types"))?;
        let (inputs, outputs) = read_types(head)?;
        XlaProgram::from_text(text, inputs, outputs)
    }
}

impl Deref for XlaProgram {
    type Target = str;
    fn deref(&self) -> &str {
        &self.text
    }
}

/// The error for a type whose extents are not all numbers.
pub(crate) fn symbolic(s: &TensorSpec) -> evoxc_core::Error {
    let remedy = "give the symbols values with `graph.specialize(&[(dim(\"B\"), 8)])`, or run through a \
                  `SpecializationCache`, which compiles once for each combination of sizes";
    error_with(Stage::Lower, format!("XLA compiles static shapes only, and there is a {s}"), remedy)
}

/// The types as lines `in f32 4 8` and `out i32`.
pub(crate) fn types(inputs: &[TensorSpec], outputs: &[TensorSpec]) -> String {
    let mut out = String::new();
    for (what, list) in [("in", inputs), ("out", outputs)] {
        for s in list {
            // Writing to a string cannot fail.
            let _ = write!(out, "{what} {}", s.dtype);
            for d in s.shape.iter() {
                let _ = write!(out, " {d}");
            }
            out.push('\n');
        }
    }
    out
}

/// Reads what [`types`] wrote.
pub(crate) fn read_types(head: &str) -> Result<(Vec<TensorSpec>, Vec<TensorSpec>)> {
    let (mut inputs, mut outputs) = (vec![], vec![]);
    for line in head.lines() {
        let mut words = line.split(' ');
        let list = match words.next() {
            Some("in") => &mut inputs,
            Some("out") => &mut outputs,
            _ => return Err(bad("a type is neither `in` nor `out`")),
        };
        let dtype = words.next().and_then(|w| w.parse().ok()).ok_or_else(|| bad("a type has no dtype"))?;
        let dims: Option<Vec<Dim>> =
            words.map(|w| w.parse::<i64>().ok().filter(|d| *d >= 0).map(Dim::constant)).collect();
        let shape: Shape = dims.ok_or_else(|| bad("an extent is no number"))?.into_iter().collect();
        list.push(spec(dtype, shape));
    }
    Ok((inputs, outputs))
}

fn bad(reason: &str) -> evoxc_core::Error {
    PersistenceError::Format { path: "payload".into(), what: "lowered program", reason: reason.into() }.into()
}

/// The extents of types that are known to be static.
pub(crate) fn extents(s: &TensorSpec) -> Result<Vec<usize>> {
    s.shape.to_static().ok_or_else(|| error(Stage::Lower, format!("a {s} is not static")))
}
