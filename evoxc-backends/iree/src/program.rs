//! What the backend makes of a program: text, then bytecode; both know the dtypes of their results, because IREE's values
//! have no signs.

use evoxc_core::{DType, PersistenceError, Result};
use std::ops::Deref;
use std::sync::Arc;

/// A program as StableHLO text; it derefs to the text.
///
/// ```
/// use evoxc::{Iree, prelude::*};
/// let lowered = trace(|x: Sym| x.tanh(), spec(F32, [8]))?.lower(&Iree::default())?;
/// assert!(lowered.contains("stablehlo.tanh"));
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct IreeProgram {
    pub(crate) text: Arc<str>,
    pub(crate) outputs: Arc<[DType]>,
}

/// A compiled program: IREE's bytecode. Of [`Iree::verify_only`](crate::Iree::verify_only) it is empty.
///
/// ```no_run
/// use evoxc::{Iree, prelude::*};
/// let artifact = trace(|x: Sym| x.tanh(), spec(F32, [8]))?.lower(&Iree::default())?.compile()?;
/// std::fs::write("tanh.vmfb", artifact.vmfb()).unwrap(); // for `iree-run-module --module=tanh.vmfb --function=main …`
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct IreeArtifact {
    pub(crate) bytecode: Arc<[u8]>,
    pub(crate) outputs: Arc<[DType]>,
}

impl Deref for IreeProgram {
    type Target = str;
    fn deref(&self) -> &str {
        &self.text
    }
}

impl IreeProgram {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        with_header(&self.outputs, self.text.as_bytes())
    }
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<IreeProgram> {
        let (outputs, rest) = header(bytes, "lowered program")?;
        let text = std::str::from_utf8(rest).map_err(|e| damaged("lowered program", &e.to_string()))?;
        Ok(IreeProgram { text: text.into(), outputs: outputs.into() })
    }
}

impl IreeArtifact {
    /// The contents of a `.vmfb` file, as IREE's own tools take it. The function is called `main`.
    pub fn vmfb(&self) -> &[u8] {
        &self.bytecode
    }
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        with_header(&self.outputs, &self.bytecode)
    }
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<IreeArtifact> {
        let (outputs, rest) = header(bytes, "artifact")?;
        Ok(IreeArtifact { bytecode: rest.into(), outputs: outputs.into() })
    }
}

/// One line with the dtypes, then the payload.
fn with_header(outputs: &[DType], payload: &[u8]) -> Vec<u8> {
    let mut out = String::from("outputs");
    for d in outputs {
        out.push(' ');
        out.push_str(&d.to_string());
    }
    out.push('\n');
    let mut out = out.into_bytes();
    out.extend_from_slice(payload);
    out
}

fn header<'b>(bytes: &'b [u8], what: &'static str) -> Result<(Vec<DType>, &'b [u8])> {
    let end = bytes.iter().position(|&b| b == b'\n').ok_or_else(|| damaged(what, "it has no line of dtypes"))?;
    let (line, rest) = bytes.split_at(end);
    let line = std::str::from_utf8(line).map_err(|e| damaged(what, &e.to_string()))?;
    let mut words = line.split(' ');
    if words.next() != Some("outputs") {
        return Err(damaged(what, "it does not start with its dtypes"));
    }
    let list: Option<Vec<DType>> = words.map(|w| w.parse().ok()).collect();
    Ok((list.ok_or_else(|| damaged(what, "a dtype is unknown"))?, rest.get(1..).unwrap_or_default()))
}

fn damaged(what: &'static str, reason: &str) -> evoxc_core::Error {
    PersistenceError::Format { path: "payload".into(), what, reason: reason.into() }.into()
}
