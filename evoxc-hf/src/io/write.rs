//! Writes safetensors files.

use super::safetensors::spelling;
use crate::{Error, Result};
use evoxc::Tensor;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Writes tensors, in the order given, to a safetensors file: under another name first, so that a file of that name is
/// whole at any moment. `metadata` goes into the header; `format: pt`, which transformers asks for, is added.
///
/// # Errors
/// A name twice, a tensor that is not on the host, a dtype that the format lacks (`c128`), or the system's errors.
pub fn save<'a>(
    path: &Path,
    tensors: impl IntoIterator<Item = (impl AsRef<str>, &'a Tensor)>,
    metadata: impl IntoIterator<Item = (String, String)>,
) -> Result<()> {
    let mut header = Map::new();
    let mut about = Map::from_iter([("format".to_string(), json!("pt"))]);
    about.extend(metadata.into_iter().map(|(k, v)| (k, Value::String(v))));
    header.insert("__metadata__".into(), Value::Object(about));
    let (mut data, mut at) = (vec![], 0usize);
    for (name, t) in tensors {
        let name = name.as_ref();
        let dtype = spelling(t.dtype());
        let dtype = dtype.ok_or_else(|| Error::tensor(path, name, format!("safetensors has no {}", t.dtype())))?;
        let bytes = little_endian(t).ok_or_else(|| {
            let remedy = "move it to the host first: `t.to(Device::cpu())?`";
            Error::tensor(path, name, format!("is on {}", t.device())).remedy(remedy)
        })?;
        let end = at + bytes.len();
        let entry = json!({"dtype": dtype, "shape": t.shape(), "data_offsets": [at, end]});
        if header.insert(name.to_string(), entry).is_some() {
            return Err(Error::tensor(path, name, "is given twice"));
        }
        at = end;
        data.push(bytes);
    }
    // Spaces make the data start at a multiple of eight, so that readers can use it in place.
    let mut header = Value::Object(header).to_string();
    header.extend(std::iter::repeat_n(' ', header.len().next_multiple_of(8) - header.len()));
    let fresh = path.with_extension(format!("{}.new", std::process::id()));
    let write = || -> std::io::Result<()> {
        let mut out = BufWriter::new(File::create(&fresh)?);
        out.write_all(&(header.len() as u64).to_le_bytes())?;
        out.write_all(header.as_bytes())?;
        for bytes in &data {
            out.write_all(bytes)?;
        }
        out.into_inner().map_err(|e| e.into_error())?.sync_all()?;
        std::fs::rename(&fresh, path)
    };
    write().map_err(|e| {
        std::fs::remove_file(&fresh).ok();
        Error::io(path, &e)
    })
}

/// The elements as little-endian bytes; `None` where they are not on the host.
fn little_endian(t: &Tensor) -> Option<Cow<'_, [u8]>> {
    let bytes = t.bytes()?;
    if cfg!(target_endian = "little") {
        return Some(bytes.into());
    }
    // A complex number is two.
    let part = if t.dtype().is_complex() { t.dtype().size() / 2 } else { t.dtype().size() };
    Some(bytes.chunks(part).flat_map(|c| c.iter().rev().copied()).collect::<Vec<u8>>().into())
}
