//! The files of lowered programs and artifacts: one JSON container that says what it holds, which backend can use it,
//! and the program's signature.
//!
//! Reading checks everything before it is used: a file that is truncated, changed or foreign is an error, whatever its
//! bytes, and never makes more memory than a few times its size.

use crate::{Backend, Signature};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use evoxc_core::{DType, DeviceKind, Dim, Error, PersistenceError, Result, Shape, TensorSpec, TreeDef, TreeToken};
use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The version of the container. Files of another version are refused.
const VERSION: u32 = 1;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Lowered,
    Artifact,
}

impl Kind {
    const fn format(self) -> &'static str {
        match self {
            Kind::Lowered => "evoxc-lowered",
            Kind::Artifact => "evoxc-artifact",
        }
    }
    const fn what(self) -> &'static str {
        match self {
            Kind::Lowered => "lowered program",
            Kind::Artifact => "artifact",
        }
    }
}

/// The head of a file, read first, so that another version is reported as such and not as a missing field.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

/// A file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Container {
    format: String,
    version: u32,
    backend: String,
    backend_version: String,
    abi: String,
    device: String,
    inputs: Vec<Spec>,
    input_tree: Vec<TreeToken>,
    outputs: Vec<Spec>,
    output_tree: Vec<TreeToken>,
    /// Of all but the first two, so that damage is found here and not in the backend.
    checksum: String,
    payload: String,
}

/// A type; extents are texts, as they may be expressions.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Spec {
    dtype: DType,
    shape: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    device: Option<String>,
}

impl Spec {
    fn of(s: &TensorSpec) -> Spec {
        Spec {
            dtype: s.dtype,
            shape: s.shape.iter().map(Dim::to_string).collect(),
            device: s.device.map(|d| d.to_string()),
        }
    }
    fn read(&self) -> Result<TensorSpec> {
        let shape = self.shape.iter().map(|d| Ok(Dim::parse(d)?.checked()?)).collect::<Result<Shape>>()?;
        let device = self.device.as_deref().map(str::parse).transpose()?;
        Ok(TensorSpec { dtype: self.dtype, shape, device })
    }
}

impl Container {
    pub(crate) fn new<B: Backend>(kind: Kind, backend: &B, signature: &Signature, payload: &[u8]) -> Container {
        let mut container = Container {
            format: kind.format().into(),
            version: VERSION,
            backend: backend.name().into(),
            backend_version: backend.version(),
            abi: backend.abi_key(),
            device: kind_name(backend.capabilities().device).into(),
            inputs: signature.inputs.iter().map(Spec::of).collect(),
            input_tree: signature.input_tree.tokens().to_vec(),
            outputs: signature.outputs.iter().map(Spec::of).collect(),
            output_tree: signature.output_tree.tokens().to_vec(),
            checksum: String::new(),
            payload: STANDARD.encode(payload),
        };
        container.checksum = container.sum(payload);
        container
    }

    fn sum(&self, payload: &[u8]) -> String {
        let texts = [&self.backend, &self.backend_version, &self.abi, &self.device];
        let head = serde_json::to_vec(&(texts, &self.inputs, &self.input_tree, &self.outputs, &self.output_tree));
        checksum(head.iter().flatten().chain(payload))
    }

    fn signature(self) -> Result<Signature> {
        let specs = |v: &[Spec]| v.iter().map(Spec::read).collect::<Result<Vec<_>>>();
        Signature::new(
            specs(&self.inputs)?,
            specs(&self.outputs)?,
            TreeDef::from_tokens(self.input_tree)?,
            TreeDef::from_tokens(self.output_tree)?,
        )
    }
}

/// The FNV-1a hash of 64 bits: finds accidents, not attacks.
fn checksum<'a>(bytes: impl Iterator<Item = &'a u8>) -> String {
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    format!("fnv1a64:{hash:016x}")
}

/// The name of a kind of device.
pub(crate) const fn kind_name(kind: DeviceKind) -> &'static str {
    match kind {
        DeviceKind::Cpu => "cpu",
        DeviceKind::Cuda => "cuda",
        DeviceKind::Rocm => "rocm",
        DeviceKind::Vulkan => "vulkan",
        DeviceKind::Tpu => "tpu",
        DeviceKind::Metal => "metal",
    }
}

/// Writes a file under a temporary name next to its place, then moves it there: readers see the old file or the new one.
pub(crate) fn write(path: &Path, container: &Container) -> Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let bytes = serde_json::to_vec(container).map_err(|e| format_error(path, "container", e.to_string()))?;
    let name = path.file_name().ok_or_else(|| format_error(path, "container", "the path names no file"))?;
    // Processes of two containers may have the same number: a file that is there already is somebody else's.
    let (temporary, mut file) = loop {
        let mut temporary = std::ffi::OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}.{}.tmp", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
        let temporary: PathBuf = path.with_file_name(temporary);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => break (temporary, file),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            Err(e) => return Err(Error::io(path, &e)),
        }
    };
    let written = file.write_all(&bytes);
    drop(file);
    written.and_then(|()| std::fs::rename(&temporary, path)).map_err(|e| {
        // The first error is the one to report; a file that could not be written may not be there at all.
        let _ = std::fs::remove_file(&temporary);
        Error::io(path, &e)
    })
}

/// Reads a file for a backend: the program's signature and the backend's bytes.
pub(crate) fn read<B: Backend>(path: &Path, kind: Kind, backend: &B) -> Result<(Signature, Vec<u8>)> {
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, &e))?;
    let bad = |reason: String| format_error(path, kind.what(), reason);
    let head: Head = serde_json::from_slice(&bytes).map_err(|e| bad(e.to_string()))?;
    if head.format != kind.format() {
        return Err(bad(format!("it holds `{}`, not `{}`", head.format, kind.format())));
    }
    let saved = format!("save it again with this version, from the {}", source(kind));
    check(path, "version", &head.version.to_string(), &VERSION.to_string(), &saved)?;
    let container: Container = serde_json::from_slice(&bytes).map_err(|e| bad(e.to_string()))?;
    let other = format!("open it with backend `{}`, or lower the graph for `{}`", container.backend, backend.name());
    check(path, "backend", &container.backend, backend.name(), &other)?;
    let again = format!("make it again from the {}", source(kind));
    check(path, "backend version", &container.backend_version, &backend.version(), &again)?;
    check(path, "device", &container.device, kind_name(backend.capabilities().device), &again)?;
    check(path, "abi", &container.abi, &backend.abi_key(), &again)?;
    let payload = STANDARD.decode(&container.payload).map_err(|e| bad(format!("payload: {e}")))?;
    let whole = container.sum(&payload) == container.checksum;
    // What is wrong with a signature says more than that something is.
    let signature = container.signature().map_err(|e| bad(format!("signature: {e}")))?;
    if whole { Ok((signature, payload)) } else { Err(bad("it does not match its checksum".into())) }
}

/// What a file of this kind is made from.
const fn source(kind: Kind) -> &'static str {
    match kind {
        Kind::Lowered => "graph",
        Kind::Artifact => "graph or the lowered program",
    }
}

/// The error for a payload that the backend itself refuses.
pub(crate) fn refused(path: &Path, kind: Kind, e: &Error) -> Error {
    format_error(path, kind.what(), e.to_string())
}

fn format_error(path: &Path, what: &'static str, reason: impl Into<String>) -> Error {
    PersistenceError::Format { path: path.display().to_string(), what, reason: reason.into() }.into()
}

fn check(path: &Path, field: &'static str, saved: &str, here: &str, remedy: &str) -> Result<()> {
    if saved == here {
        return Ok(());
    }
    Err(PersistenceError::Mismatch {
        path: path.display().to_string(),
        field,
        saved: saved.into(),
        here: here.into(),
        remedy: remedy.into(),
    }
    .into())
}
