//! Safetensors files, by the format's description: eight bytes of length, a JSON header, the tensors without a gap.

use super::header::{Header, Listed};
use super::mapped::MappedFile;
use crate::{Error, Result};
use evoxc::{BF16, BOOL, DType, F16, F32, F64, I8, I16, I32, I64, Tensor, U8, U16, U32, U64};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// The longest header that is read, as in the format's own library.
const MAX_HEADER: usize = 100_000_000;

/// One safetensors file, checked and mapped.
///
/// ```
/// use evoxc::prelude::*;
/// use evoxc_hf::io::{SafeTensors, save};
/// let file = std::env::temp_dir().join(format!("evoxc-hf-doc-{}.safetensors", std::process::id()));
/// save(&file, [("w", &Tensor::from([[1f32, 2.0], [3.0, 4.0]]))], [])?;
/// let read = SafeTensors::open(&file)?;
/// assert_eq!(read.tensor("w")?.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
/// # std::fs::remove_file(file).ok();
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SafeTensors {
    file: MappedFile,
    entries: BTreeMap<String, Entry>,
    metadata: BTreeMap<String, String>,
}

/// A tensor of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The element type as the file spells it (`F32`, `BF16` …).
    pub stored: String,
    /// The dtype, where evoxc has one.
    pub dtype: Option<DType>,
    /// The extents.
    pub shape: Vec<usize>,
    /// Where its bytes are in the file.
    pub range: Range<usize>,
}

/// The dtype of a name in a header.
fn dtype(name: &str) -> Option<DType> {
    Some(match name {
        "BOOL" => BOOL,
        "U8" => U8,
        "I8" => I8,
        "U16" => U16,
        "I16" => I16,
        "U32" => U32,
        "I32" => I32,
        "U64" => U64,
        "I64" => I64,
        "F16" => F16,
        "BF16" => BF16,
        "F32" => F32,
        "F64" => F64,
        "C64" => evoxc::C64,
        _ => return None,
    })
}

/// The name of a dtype in a header; `None` for one that the format lacks.
pub(super) fn spelling(d: DType) -> Option<&'static str> {
    Some(match d {
        DType::BOOL => "BOOL",
        DType::U8 => "U8",
        DType::I8 => "I8",
        DType::U16 => "U16",
        DType::I16 => "I16",
        DType::U32 => "U32",
        DType::I32 => "I32",
        DType::U64 => "U64",
        DType::I64 => "I64",
        DType::F16 => "F16",
        DType::BF16 => "BF16",
        DType::F32 => "F32",
        DType::F64 => "F64",
        DType::C64 => "C64",
        DType::C128 => return None,
    })
}

impl SafeTensors {
    /// Maps a file and checks its header whole: every tensor lies inside the file, none overlaps another, none is listed
    /// twice, no byte belongs to none.
    ///
    /// # Errors
    /// What is wrong, and with which tensor.
    pub fn open(path: &Path) -> Result<SafeTensors> {
        let file = MappedFile::open(path)?;
        let bytes = file.bytes();
        let bad = |m: String| Error::file(path, m);
        let length = bytes.first_chunk::<8>().map(|b| u64::from_le_bytes(*b));
        let length = length.ok_or_else(|| bad(format!("is no safetensors file: it has {} bytes", bytes.len())))?;
        let rest = bytes.len() - 8;
        let length = usize::try_from(length).ok().filter(|&n| n <= rest).ok_or_else(|| {
            bad(format!(
                "its header would have {length} bytes, but only {rest} follow; it is cut short, or no safetensors file"
            ))
        })?;
        if length > MAX_HEADER {
            return Err(bad(format!("its header has {length} bytes; at most {MAX_HEADER} are read")));
        }
        let start = 8 + length;
        let header = bytes.get(8..start).unwrap_or_default();
        let header: Header =
            serde_json::from_slice(header).map_err(|e| bad(format!("its header is not what the format says: {e}")))?;
        let entries = checked(path, &header, start, bytes.len() - start)?;
        Ok(SafeTensors { file, entries, metadata: header.metadata })
    }
    /// The file.
    pub fn file(&self) -> &MappedFile {
        &self.file
    }
    /// The tensors by name.
    pub fn entries(&self) -> &BTreeMap<String, Entry> {
        &self.entries
    }
    /// The header's free-form metadata.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }
    /// A tensor over the mapped file.
    ///
    /// # Errors
    /// There is none of that name, or evoxc has no dtype for its elements.
    pub fn tensor(&self, name: &str) -> Result<Tensor> {
        let path = self.file.path();
        let e = self.entries.get(name).ok_or_else(|| Error::tensor(path, name, "is not in the file"))?;
        let dtype = e.dtype.ok_or_else(|| {
            let remedy = "convert the checkpoint to f32, f16 or bf16";
            Error::tensor(path, name, format!("has elements of type {}, which no dtype of evoxc holds", e.stored))
                .remedy(remedy)
        })?;
        let t = self.file.tensor(e.range.clone(), dtype, &e.shape);
        t.ok_or_else(|| Error::tensor(path, name, format!("holds bytes that are no {dtype}")))
    }
}

/// The entries, with their places in the file.
fn checked(path: &Path, header: &Header, start: usize, data: usize) -> Result<BTreeMap<String, Entry>> {
    for (name, l) in &header.tensors {
        let [begin, end] = l.data_offsets;
        let bad = |m: String| Err(Error::tensor(path, name, m));
        if begin > end {
            return bad(format!("ends at byte {end}, before it begins at {begin}"));
        }
        if end > data {
            return bad(format!("ends at byte {end} of the data, of which the file has {data}; it is cut short"));
        }
        let count = l.shape.iter().try_fold(1usize, |a, &d| a.checked_mul(d));
        let Some(dtype) = dtype(&l.dtype) else { continue };
        let expected = count.and_then(|n| n.checked_mul(dtype.size()));
        if expected != Some(end - begin) {
            let expected = expected.map_or("too many".into(), |n| n.to_string());
            return bad(format!("{}{:?} has {expected} bytes, but the offsets span {}", l.dtype, l.shape, end - begin));
        }
    }
    // In the order of the data, so that each begins where the one before it ends.
    let mut order: Vec<&(String, Listed)> = header.tensors.iter().collect();
    order.sort_by_key(|(_, l)| l.data_offsets);
    let mut at = 0;
    for (name, l) in order {
        let [begin, end] = l.data_offsets;
        let bad = |m: String| Err(Error::tensor(path, name, m));
        if begin < at {
            return bad(format!("begins at byte {begin}, inside the tensor before it, which ends at {at}"));
        }
        if begin > at {
            return bad(format!(
                "begins at byte {begin}, but the tensor before it ends at {at}: bytes that belong to none"
            ));
        }
        at = end;
    }
    if at != data {
        return Err(Error::file(path, format!("{} bytes after the last tensor belong to none", data - at)));
    }
    let entry = |l: &Listed| Entry {
        stored: l.dtype.clone(),
        dtype: dtype(&l.dtype),
        shape: l.shape.clone(),
        range: start + l.data_offsets[0]..start + l.data_offsets[1],
    };
    Ok(header.tensors.iter().map(|(name, l)| (name.clone(), entry(l))).collect())
}
