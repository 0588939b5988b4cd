//! The header of a GGUF file, read without trusting it: no count or length decides an allocation before it is checked.

use super::Stored;
use crate::error::shown;
use crate::io::MappedFile;
use crate::{Error, Result};
use evoxc::Tensor;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// A value of the metadata.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Metadata {
    /// Any integer.
    Int(i128),
    /// f32 or f64.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// A string.
    Text(String),
    /// Several, of one type.
    List(Vec<Metadata>),
}

impl Metadata {
    /// An integer.
    pub fn int(&self) -> Option<i128> {
        if let Metadata::Int(i) = self { Some(*i) } else { None }
    }
    /// A number.
    pub fn float(&self) -> Option<f64> {
        match self {
            Metadata::Float(x) => Some(*x),
            Metadata::Int(i) => Some(*i as f64),
            Metadata::Bool(_) | Metadata::Text(_) | Metadata::List(_) => None,
        }
    }
    /// A string.
    pub fn text(&self) -> Option<&str> {
        if let Metadata::Text(s) = self { Some(s) } else { None }
    }
    /// Several values.
    pub fn list(&self) -> Option<&[Metadata]> {
        if let Metadata::List(l) = self { Some(l) } else { None }
    }
}

/// A tensor of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorInfo {
    /// The extents, row-major (the file lists them the other way round).
    pub shape: Vec<usize>,
    /// How its elements are stored.
    pub stored: Stored,
    /// Where its bytes are in the file.
    pub range: Range<usize>,
}

/// A GGUF file of version 2 or 3, checked and mapped.
///
/// ```no_run
/// let file = evoxc_hf::io::gguf::Gguf::open("model.gguf".as_ref())?;
/// println!("{:?}", file.metadata().get("general.architecture"));
/// # Ok::<(), evoxc_hf::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Gguf {
    file: MappedFile,
    metadata: BTreeMap<String, Metadata>,
    tensors: BTreeMap<String, TensorInfo>,
}

/// Lists of lists deeper than this are refused.
const MAX_DEPTH: usize = 4;
/// Entries of all lists of a file: tokenizers have a million, and an entry takes several times its bytes here.
const MAX_ENTRIES: usize = 1 << 22;

/// Reads forward through the bytes.
struct Reader<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    at: usize,
    /// Entries of lists so far.
    entries: usize,
}

impl<'a> Reader<'a> {
    fn bad<T>(&self, message: impl std::fmt::Display) -> Result<T> {
        Err(Error::file(self.path, format!("{message} (at byte {})", self.at)))
    }
    fn take(&mut self, n: usize, what: &str) -> Result<&'a [u8]> {
        let left = self.bytes.len() - self.at;
        if n > left {
            return self.bad(format!("{what} would take {n} bytes, but the file has {left} more"));
        }
        let out = &self.bytes[self.at..self.at + n];
        self.at += n;
        Ok(out)
    }
    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        let bytes = self.take(N, what)?;
        Ok(std::array::from_fn(|i| bytes.get(i).copied().unwrap_or_default()))
    }
    fn u32(&mut self, what: &str) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }
    fn u64(&mut self, what: &str) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }
    /// A number of things, each of which takes at least `least` bytes of what is left of the file.
    fn count(&mut self, what: &str, least: usize) -> Result<usize> {
        let n = self.u64(what)?;
        let left = (self.bytes.len() - self.at) / least.max(1);
        match usize::try_from(n) {
            Ok(n) if n <= left => Ok(n),
            _ => self.bad(format!("the {what} is {n}, more than the rest of the file can hold")),
        }
    }
    fn text(&mut self, what: &str) -> Result<String> {
        let n = self.count(&format!("length of {what}"), 1)?;
        let bytes = self.take(n, what)?;
        match std::str::from_utf8(bytes) {
            Ok(s) => Ok(s.into()),
            Err(_) => self.bad(format!("{what} is no UTF-8")),
        }
    }
    fn value(&mut self, kind: u32, what: &str, depth: usize) -> Result<Metadata> {
        Ok(match kind {
            0 => Metadata::Int(u8::from_le_bytes(self.array(what)?).into()),
            1 => Metadata::Int(i8::from_le_bytes(self.array(what)?).into()),
            2 => Metadata::Int(u16::from_le_bytes(self.array(what)?).into()),
            3 => Metadata::Int(i16::from_le_bytes(self.array(what)?).into()),
            4 => Metadata::Int(u32::from_le_bytes(self.array(what)?).into()),
            5 => Metadata::Int(i32::from_le_bytes(self.array(what)?).into()),
            6 => Metadata::Float(f32::from_le_bytes(self.array(what)?).into()),
            7 => match self.array::<1>(what)? {
                [0] => Metadata::Bool(false),
                [1] => Metadata::Bool(true),
                [other] => return self.bad(format!("{what} is a truth value of {other}")),
            },
            8 => Metadata::Text(self.text(what)?),
            9 => {
                let kind = self.u32(what)?;
                if depth == MAX_DEPTH {
                    return self.bad(format!("{what} has lists in lists, more than {MAX_DEPTH} deep"));
                }
                let least = match kind {
                    0 | 1 | 7 => 1,
                    2 | 3 => 2,
                    4..=6 => 4,
                    // A list takes its type and its length.
                    9 => 12,
                    _ => 8,
                };
                let n = self.count(&format!("length of {what}"), least)?;
                self.entries = self.entries.saturating_add(n);
                if self.entries > MAX_ENTRIES {
                    return self.bad(format!("the lists up to {what} have more than {MAX_ENTRIES} entries"));
                }
                Metadata::List((0..n).map(|_| self.value(kind, what, depth + 1)).collect::<Result<_>>()?)
            }
            10 => Metadata::Int(u64::from_le_bytes(self.array(what)?).into()),
            11 => Metadata::Int(i64::from_le_bytes(self.array(what)?).into()),
            12 => Metadata::Float(f64::from_le_bytes(self.array(what)?)),
            other => return self.bad(format!("{what} is of the type {other}, which the format does not have")),
        })
    }
}

impl Gguf {
    /// Maps a file and reads its header.
    ///
    /// # Errors
    /// What is wrong, and with which key or tensor.
    pub fn open(path: &Path) -> Result<Gguf> {
        let file = MappedFile::open(path)?;
        let mut r = Reader { path, bytes: file.bytes(), at: 0, entries: 0 };
        let magic: [u8; 4] = r.array("the magic")?;
        if &magic != b"GGUF" {
            let found = shown(&String::from_utf8_lossy(&magic));
            return Err(Error::file(path, format!("is no GGUF file: it begins with {found}")));
        }
        let version = r.u32("the version")?;
        if !matches!(version, 2 | 3) {
            let remedy = "convert the model again with a current llama.cpp";
            return Err(Error::file(path, format!("is of version {version}; 2 and 3 are read")).remedy(remedy));
        }
        // A tensor takes a name's length, a number of dimensions, a type and an offset; a key a length, a type and a value.
        let tensors = r.count("number of tensors", 24)?;
        let keys = r.count("number of keys", 13)?;
        let mut metadata = BTreeMap::new();
        for _ in 0..keys {
            let key = r.text("a key")?;
            let kind = r.u32("the type of a value")?;
            let value = r.value(kind, &shown(&key), 0)?;
            if metadata.insert(key.clone(), value).is_some() {
                return r.bad(format!("the key {} is there twice", shown(&key)));
            }
        }
        let mut infos: Vec<(String, Vec<usize>, Stored, u64)> = vec![];
        for _ in 0..tensors {
            let name = r.text("a tensor's name")?;
            let of = |m: String| Err(Error::tensor(path, &name, m));
            let rank = r.u32("a number of dimensions")?;
            if rank > 8 {
                return of(format!("has {rank} dimensions"));
            }
            let mut shape = (0..rank)
                .map(|_| r.u64("an extent").map(|n| usize::try_from(n).unwrap_or(usize::MAX)))
                .collect::<Result<Vec<usize>>>()?;
            shape.reverse();
            let kind = r.u32("a tensor's type")?;
            let Some(stored) = Stored::of(kind) else {
                let remedy = "quantise it to Q4_0, Q4_1, Q5_0, Q8_0, Q4_K or Q6_K, or keep F32, F16 or BF16";
                let message = format!("is stored in a way that is not read (ggml type {kind})");
                return Err(Error::tensor(path, &name, message).remedy(remedy));
            };
            infos.push((name, shape, stored, r.u64("an offset")?));
        }
        let alignment = match metadata.get("general.alignment").map(Metadata::int) {
            None => 32,
            Some(Some(n @ 1..=65536)) if (n as u64).is_power_of_two() => n as usize,
            Some(_) => return Err(Error::tensor(path, "general.alignment", "is no power of two up to 65536")),
        };
        let start = r.at.next_multiple_of(alignment);
        let tensors = placed(path, infos, start, alignment, file.bytes().len())?;
        Ok(Gguf { file, metadata, tensors })
    }
    /// The file.
    pub fn file(&self) -> &MappedFile {
        &self.file
    }
    /// The metadata by key.
    pub fn metadata(&self) -> &BTreeMap<String, Metadata> {
        &self.metadata
    }
    /// The tensors by name.
    pub fn tensors(&self) -> &BTreeMap<String, TensorInfo> {
        &self.tensors
    }
    /// A tensor's values, in f32 whatever the file stores.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn tensor(&self, name: &str) -> Result<Tensor> {
        let path = self.file.path();
        let t = self.tensors.get(name).ok_or_else(|| Error::tensor(path, name, "is not in the file"))?;
        let bytes = self.file.bytes().get(t.range.clone()).unwrap_or_default();
        Ok(Tensor::from_vec(t.stored.values(bytes), t.shape.as_slice())?)
    }
}

/// The tensors with their places in the file, each inside it and none over another.
fn placed(
    path: &Path,
    infos: Vec<(String, Vec<usize>, Stored, u64)>,
    start: usize,
    alignment: usize,
    end: usize,
) -> Result<BTreeMap<String, TensorInfo>> {
    let mut out = BTreeMap::new();
    for (name, shape, stored, offset) in infos {
        let bad = |m: String| Err(Error::tensor(path, &name, m));
        let (elements, bytes) = stored.block();
        let row = shape.last().copied().unwrap_or(1);
        if !row.is_multiple_of(elements) {
            return bad(format!("has rows of {row}, and {stored:?} has blocks of {elements}"));
        }
        let count = shape.iter().try_fold(1usize, |a, &d| a.checked_mul(d));
        let size = count.and_then(|n| (n / elements).checked_mul(bytes));
        let begin = usize::try_from(offset).ok().and_then(|o| start.checked_add(o));
        let range = begin.zip(size).and_then(|(b, n)| Some(b..b.checked_add(n)?));
        let Some(range) = range.filter(|r| r.end <= end) else {
            return bad(format!(
                "{shape:?} at offset {offset} ends past the end of the file; it is cut short, or damaged"
            ));
        };
        if !offset.is_multiple_of(alignment as u64) {
            return bad(format!("is at offset {offset}, which is no multiple of the alignment {alignment}"));
        }
        if out.insert(name.clone(), TensorInfo { shape, stored, range }).is_some() {
            return bad("is listed twice".into());
        }
    }
    let mut order: Vec<(&String, &TensorInfo)> = out.iter().collect();
    order.sort_by_key(|(_, t)| (t.range.start, t.range.end));
    for pair in order.windows(2) {
        if let [(_, a), (name, b)] = pair
            && b.range.start < a.range.end
        {
            return Err(Error::tensor(path, name, "begins inside the tensor before it"));
        }
    }
    Ok(out)
}
