//! Shared objects: loaded, kept as bytes, and cached in a folder.

use super::toolchain::{Folder, io};
use evoxc_core::OpError;
use libloading::Library;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Code in memory, and its bytes.
#[derive(Debug)]
pub(super) struct Object {
    library: Library,
    pub bytes: Arc<[u8]>,
}

/// How kernels are called.
pub(super) type Entry = unsafe extern "C" fn(*const *mut u8, *const i64, *const *mut u8, i64, i64, *const *const ());

impl Object {
    /// Loads a file; its bytes are kept, so that it may go.
    pub fn open(path: &Path, bytes: Arc<[u8]>) -> Result<Object, OpError> {
        // SAFETY: it is an object of `Toolchain::run`, which has no initialisers.
        let library = unsafe { Library::new(path) }.map_err(|e| {
            OpError::new("compile", format!("the compiled kernels cannot be loaded: {e}"))
                .remedy("set TMPDIR to a folder whose files may be executed")
        })?;
        Ok(Object { library, bytes })
    }
    /// Loads what [`Object::bytes`] was.
    pub fn from_bytes(bytes: &[u8]) -> Result<Object, OpError> {
        if !bytes.starts_with(b"\x7fELF") && cfg!(target_os = "linux") {
            return Err(OpError::new("load", "these bytes are no compiled kernels").remedy("compile the program again"));
        }
        let folder = Folder::new()?;
        let path = folder.path().join("kernels.so");
        std::fs::write(&path, bytes).map_err(|e| io(&path, &e))?;
        Object::open(&path, bytes.into())
    }
    /// The function of that name, which stays valid for as long as the object does.
    pub fn entry(&self, name: &str) -> Option<Entry> {
        // SAFETY: functions of such names are kernels, and this is their type.
        unsafe { self.library.get::<Entry>(name.as_bytes()) }.ok().map(|symbol| *symbol)
    }
}

/// The hexadecimal digest of some texts.
pub(super) fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
}

/// Objects in a folder, by the key of a kernel in them. Several processes may share it: a file is written under another
/// name and moved to its place. Each ends with its digest, so that a damaged one is as good as none.
#[derive(Clone, Debug)]
pub(super) struct Cache(pub PathBuf);

const DIGEST: usize = 32;

impl Cache {
    fn path(&self, key: &str) -> PathBuf {
        self.0.join(format!("{key}.so"))
    }
    /// The object with that kernel, if it is there and whole.
    pub fn get(&self, key: &str) -> Option<Object> {
        let path = self.path(key);
        let bytes = std::fs::read(&path).ok()?;
        let (code, sum) = bytes.split_at_checked(bytes.len().checked_sub(DIGEST)?)?;
        if Sha256::digest(code).as_slice() != sum {
            return None;
        }
        Object::open(&path, code.into()).ok()
    }
    /// Keeps an object under the keys of its kernels.
    pub fn put(&self, keys: &[&str], bytes: &[u8]) -> Result<(), OpError> {
        std::fs::create_dir_all(&self.0).map_err(|e| io(&self.0, &e))?;
        let Some((first, others)) = keys.split_first() else { return Ok(()) };
        let mut whole = bytes.to_vec();
        whole.extend_from_slice(&Sha256::digest(bytes));
        // Of this process and this call alone: several may keep the same kernel at once.
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let (process, number) = (std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let hidden = |key: &str| self.0.join(format!(".{key}.{process}.{number}.tmp"));
        let move_to = |from: &Path, key: &str| {
            let to = self.path(key);
            std::fs::rename(from, &to).map_err(|e| io(&to, &e))
        };
        let written = hidden(first);
        let _ = std::fs::remove_file(&written);
        std::fs::write(&written, &whole).map_err(|e| io(&written, &e))?;
        move_to(&written, first)?;
        for key in others {
            // One file under several names where the file system has such.
            let link = hidden(key);
            // One that a process of the same number left behind may be another name of what is in use.
            let _ = std::fs::remove_file(&link);
            if std::fs::hard_link(self.path(first), &link).is_err() {
                std::fs::write(&link, &whole).map_err(|e| io(&link, &e))?;
            }
            move_to(&link, key)?;
            // Moving one name of a file to another of the same file does nothing.
            let _ = std::fs::remove_file(&link);
        }
        Ok(())
    }
}
