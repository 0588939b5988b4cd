//! Files mapped into memory, and tensors over parts of them.

use crate::{Error, Result};
use evoxc::{Buffer, DType, Device, Resident, Tensor};
use memmap2::Mmap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file of weights, mapped read-only. Clones share the mapping; it ends with the last tensor over it.
///
/// A file that another process cuts short while it is mapped ends this process at the next read, as with every memory map:
/// replace checkpoints by renaming, not by writing into them.
#[derive(Clone, Debug)]
pub struct MappedFile {
    path: Arc<PathBuf>,
    map: Arc<Mmap>,
}

impl MappedFile {
    /// Maps a file.
    ///
    /// # Errors
    /// The file cannot be opened or mapped.
    pub fn open(path: &Path) -> Result<MappedFile> {
        let file = File::open(path).map_err(|e| Error::io(path, &e))?;
        // Mapping a folder fails with words that help nobody.
        if file.metadata().map_err(|e| Error::io(path, &e))?.is_dir() {
            return Err(Error::file(path, "is a folder, not a file of weights"));
        }
        // SAFETY: the map is read-only and private to this value; its bytes are only ever read as numbers, of which every
        // bit pattern is a value, so a file that changes underneath gives other numbers, not undefined types.
        #[allow(unsafe_code)]
        let map = unsafe { Mmap::map(&file) }.map_err(|e| Error::io(path, &e))?;
        Ok(MappedFile { path: Arc::new(path.to_path_buf()), map: Arc::new(map) })
    }
    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }
    /// A tensor over the little-endian elements in `range`, in place where their address is a multiple of the element's
    /// size (as in every file that the usual writers make), else copied. `None` when they are not the shape's, or outside of the file.
    pub fn tensor(&self, range: Range<usize>, dtype: DType, shape: &[usize]) -> Option<Tensor> {
        let bytes = self.bytes().get(range.clone())?;
        let n = shape.iter().try_fold(1usize, |a, &d| a.checked_mul(d))?;
        if n.checked_mul(dtype.size())? != bytes.len() {
            return None;
        }
        let aligned = (bytes.as_ptr() as usize).is_multiple_of(dtype.size());
        if cfg!(target_endian = "big") || !aligned || dtype.is_bool() {
            return Tensor::from_parts(Buffer::from_le_bytes(dtype, bytes)?, shape);
        }
        Tensor::from_resident(Arc::new(Part { map: self.map.clone(), range, dtype }), shape)
    }
}

/// Elements inside a mapped file.
struct Part {
    map: Arc<Mmap>,
    range: Range<usize>,
    dtype: DType,
}

impl Resident for Part {
    fn dtype(&self) -> DType {
        self.dtype
    }
    fn len(&self) -> usize {
        self.range.len() / self.dtype.size().max(1)
    }
    fn device(&self) -> Device {
        Device::cpu()
    }
    fn bytes(&self) -> Option<&[u8]> {
        self.map.get(self.range.clone())
    }
    fn to_host(&self) -> evoxc::Result<Buffer> {
        let bytes = self.bytes().unwrap_or_default();
        // Checked when the tensor was made: whole elements of a dtype all of whose bit patterns are values.
        Ok(Buffer::from_le_bytes(self.dtype, bytes).unwrap_or_else(|| Buffer::zeros(self.dtype, 0)))
    }
}
