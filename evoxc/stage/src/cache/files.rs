//! Lowered programs and artifacts in a folder, by key.

use super::CacheKey;
use crate::{Backend, CompiledArtifact, LoweredProgram};
use evoxc_core::{Dyn, Error, Result, Tensor};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A folder of lowered programs and artifacts, each in a file that is named by its [`CacheKey`].
///
/// Any number of threads and processes may share a folder: a file is written under another name and then moved to its
/// place, so that it is there as a whole or not at all; where two write the same, the last one stays. An entry that is
/// damaged, or that was written by another backend or version, is as good as none: it is not given, and it is replaced
/// when its program is kept again. Nothing is deleted unless [`FileCache::remove`] or [`FileCache::clear`] is called.
///
/// ```
/// use evoxc::{FileCache, prelude::*};
/// # let folder = std::env::temp_dir().join(format!("evoxc-doc-files-{}", std::process::id()));
/// let files = FileCache::new(&folder)?;
/// let graph = trace(|x: Sym| x * 2.0, spec(F32, [2]))?;
/// let key = graph.cache_key(&Interp);
/// let artifact = match files.artifact(key, &Interp)? {
///     Some(found) => found.typed()?,
///     None => files.keep_artifact(key, graph.lower(&Interp)?.compile()?)?,
/// };
/// assert_eq!(artifact.load(Device::cpu())?.run(Tensor::ones(F32, [2]))?.to_vec::<f32>()?, [2.0, 2.0]);
/// assert!(files.artifact(key, &Interp)?.is_some());
/// # std::fs::remove_dir_all(folder).unwrap();
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FileCache {
    folder: PathBuf,
}

/// What is after the key in the names of files.
const LOWERED: &str = "evoxclowered";
const ARTIFACT: &str = "evoxcartifact";

impl FileCache {
    /// The cache in this folder, which is made if it is not there.
    ///
    /// # Errors
    /// [`Error::Io`] for a folder that cannot be made.
    pub fn new(folder: impl Into<PathBuf>) -> Result<FileCache> {
        let folder = folder.into();
        std::fs::create_dir_all(&folder).map_err(|e| Error::io(&folder, &e))?;
        Ok(FileCache { folder })
    }
    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
    /// The artifact of this key, if there is one that this backend can load. Its types are erased;
    /// [`CompiledArtifact::typed`] restores them.
    ///
    /// # Errors
    /// [`Error::Io`] for a file that is there and cannot be read. A damaged one is as good as none.
    pub fn artifact<B: Backend>(
        &self,
        key: CacheKey,
        backend: &B,
    ) -> Result<Option<CompiledArtifact<Dyn<Tensor>, Dyn<Tensor>, B>>> {
        let path = self.path(key, ARTIFACT);
        found(&path, CompiledArtifact::open(&path, backend))
    }
    /// The lowered program of this key, as [`FileCache::artifact`].
    ///
    /// # Errors
    /// [`Error::Io`] for a file that is there and cannot be read. A damaged one is as good as none.
    pub fn lowered<B: Backend>(
        &self,
        key: CacheKey,
        backend: &B,
    ) -> Result<Option<LoweredProgram<Dyn<Tensor>, Dyn<Tensor>, B>>> {
        let path = self.path(key, LOWERED);
        found(&path, LoweredProgram::open(&path, backend))
    }
    /// Writes an artifact, and gives it back.
    ///
    /// # Errors
    /// [`Error::Io`], and a backend whose artifacts cannot be saved.
    pub fn keep_artifact<I, O, B: Backend>(
        &self,
        key: CacheKey,
        artifact: CompiledArtifact<I, O, B>,
    ) -> Result<CompiledArtifact<I, O, B>> {
        artifact.save(self.path(key, ARTIFACT))?;
        Ok(artifact)
    }
    /// Writes a lowered program, and gives it back.
    ///
    /// # Errors
    /// [`Error::Io`], and a backend whose lowered programs cannot be saved.
    pub fn keep_lowered<I, O, B: Backend>(
        &self,
        key: CacheKey,
        lowered: LoweredProgram<I, O, B>,
    ) -> Result<LoweredProgram<I, O, B>> {
        lowered.save(self.path(key, LOWERED))?;
        Ok(lowered)
    }
    /// Deletes what is kept under this key, if anything is.
    ///
    /// # Errors
    /// [`Error::Io`] for a file that is there and cannot be deleted.
    pub fn remove(&self, key: CacheKey) -> Result<()> {
        [LOWERED, ARTIFACT].into_iter().try_for_each(|kind| delete(&self.path(key, kind)))
    }
    /// Deletes every entry, and what processes that ended while they wrote have left. Other files stay.
    ///
    /// # Errors
    /// [`Error::Io`] for a folder that cannot be read, and for a file that cannot be deleted.
    pub fn clear(&self) -> Result<()> {
        let failed = |e: std::io::Error| Error::io(&self.folder, &e);
        for entry in std::fs::read_dir(&self.folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.file_name().and_then(|n| n.to_str()).is_some_and(own) {
                delete(&path)?;
            }
        }
        Ok(())
    }
    fn path(&self, key: CacheKey, kind: &str) -> PathBuf {
        self.folder.join(format!("{key}.{kind}"))
    }
}

/// Is this the name of an entry, or of one that was being written?
fn own(name: &str) -> bool {
    let (hidden, name) = name.strip_prefix('.').map_or((false, name), |rest| (true, rest));
    let Some((key, kind)) = name.split_once('.') else { return false };
    let entry = if hidden {
        kind.ends_with(".tmp") && [LOWERED, ARTIFACT].iter().any(|k| kind.starts_with(k))
    } else {
        [LOWERED, ARTIFACT].contains(&kind)
    };
    entry && key.len() == 64 && key.bytes().all(|b| b.is_ascii_hexdigit())
}

/// What could be read, if anything is there that is whole and of this backend.
fn found<T>(path: &Path, read: Result<T>) -> Result<Option<T>> {
    match read {
        Ok(t) => Ok(Some(t)),
        Err(Error::Persistence(_)) => Ok(None),
        // Asked afterwards, as it may be deleted at any time.
        Err(_) if matches!(path.try_exists(), Ok(false)) => Ok(None),
        Err(e) => Err(e),
    }
}

fn delete(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::io(path, &e)),
        _ => Ok(()),
    }
}
