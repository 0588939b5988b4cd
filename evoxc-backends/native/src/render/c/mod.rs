//! Kernels as C, compiled by the system's compiler: for every architecture that has one, and as fast as it makes them.

mod alu;
mod cast;
mod emit;
mod object;
mod toolchain;
mod types;

use super::{Code, Renderer, Target, library};
use crate::lir::{Lir, verify};
use evoxc_core::{BackendError, OpError, Result};
use object::{Cache, Entry, Object, digest};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use toolchain::{Folder, Toolchain};

/// The renderer to C.
///
/// ```
/// use evoxc_native::render::{C, Renderer};
/// // Compiled kernels are kept in a folder only if one is named.
/// let c = C::default().with_cache(std::env::temp_dir().join("kernels"));
/// assert_eq!(c.name(), "c");
/// ```
#[derive(Debug, Default)]
pub struct C {
    compiler: Option<PathBuf>,
    cache: Option<Cache>,
    toolchain: OnceLock<std::result::Result<Toolchain, OpError>>,
    /// The object that was loaded last: the kernels of an artifact are mostly in one.
    loaded: Mutex<Weak<Object>>,
}

impl C {
    /// With that compiler, a name on the path or a path, rather than the first of clang, gcc and cc that is there.
    pub fn with_compiler(self, compiler: impl Into<PathBuf>) -> C {
        C { compiler: Some(compiler.into()), toolchain: OnceLock::new(), ..self }
    }
    /// Keeps compiled kernels in that folder, which is made when it is needed, and takes them from there: by their
    /// structure, the compiler, its flags and the CPU. Nothing in it is ever deleted.
    pub fn with_cache(self, folder: impl Into<PathBuf>) -> C {
        C { cache: Some(Cache(folder.into())), ..self }
    }
    /// Is there a compiler?
    ///
    /// # Errors
    /// What is missing, and what to install.
    pub fn available(&self) -> Result<()> {
        self.toolchain().map(|_| ()).map_err(fault)
    }
    fn toolchain(&self) -> std::result::Result<&Toolchain, OpError> {
        let found = self.toolchain.get_or_init(|| Toolchain::find(self.compiler.as_deref()));
        found.as_ref().map_err(OpError::clone)
    }

    /// Compiles different functions that are not in the cache: several runs of the compiler at once where there are many.
    fn build_all(
        &self,
        toolchain: &Toolchain,
        functions: &[&Source],
    ) -> Vec<std::result::Result<Arc<Object>, OpError>> {
        let runs: Vec<&[&Source]> = functions.chunks(per_run(functions.len())).collect();
        if let [run] = runs[..] {
            return vec![self.build(toolchain, run)];
        }
        std::thread::scope(|scope| {
            let runs: Vec<_> = runs.into_iter().map(|run| scope.spawn(move || self.build(toolchain, run))).collect();
            let failed = || Err(OpError::new("compile", "a thread that ran the C compiler ended"));
            runs.into_iter().map(|run| run.join().unwrap_or_else(|_| failed())).collect()
        })
    }

    /// Compiles functions in one run of the compiler.
    fn build(&self, toolchain: &Toolchain, functions: &[&Source]) -> std::result::Result<Arc<Object>, OpError> {
        let mut source = String::from(PRELUDE);
        for f in functions {
            source.push_str(&f.definition());
        }
        let folder = Folder::new()?;
        let path = toolchain.run(&source, folder.path())?;
        let bytes: Arc<[u8]> = std::fs::read(&path).map_err(|e| toolchain::io(&path, &e))?.into();
        if let Some(cache) = &self.cache {
            let keys: Vec<&str> = functions.iter().map(|f| f.key.as_str()).collect();
            // A folder that cannot be written to is as good as none.
            let _ = cache.put(&keys, &bytes);
        }
        Ok(Arc::new(Object::open(&path, bytes)?))
    }

    fn all(&self, kernels: &[&Lir]) -> std::result::Result<Vec<Arc<dyn Code>>, OpError> {
        let toolchain = self.toolchain()?;
        let mut sources = Vec::with_capacity(kernels.len());
        for kernel in kernels {
            sources.push(Source::new(kernel, &toolchain.identity)?);
        }
        let kept: Vec<_> =
            sources.iter().map(|s| self.cache.as_ref().and_then(|c| c.get(&s.key)).map(Arc::new)).collect();
        let mut missing: Vec<&Source> = vec![];
        let mut seen = FxHashSet::default();
        for (source, kept) in sources.iter().zip(&kept) {
            if kept.is_none() && seen.insert(&source.name) {
                missing.push(source);
            }
        }
        let mut built: FxHashMap<&str, Arc<Object>> = FxHashMap::default();
        for (functions, object) in missing.chunks(per_run(missing.len())).zip(self.build_all(toolchain, &missing)) {
            let object = object?;
            built.extend(functions.iter().map(|f| (f.name.as_str(), object.clone())));
        }
        let objects: Vec<_> =
            sources.iter().zip(kept).map(|(s, kept)| kept.or_else(|| built.get(s.name.as_str()).cloned())).collect();
        let mut out: Vec<Arc<dyn Code>> = vec![];
        for (source, object) in sources.into_iter().zip(objects) {
            out.push(Arc::new(source.bind(object)?));
        }
        Ok(out)
    }
}

impl Renderer for C {
    fn name(&self) -> &'static str {
        "c"
    }
    fn target(&self) -> Target {
        // The compiler takes vectors apart where the machine has narrower ones, or none.
        Target { lanes: 8, wide: 4, registers: 16, more: 16, alu: |_, _| true, cast: |_, _| true }
    }
    fn compile(&self, kernel: &Lir) -> Result<Arc<dyn Code>> {
        let mut all = self.compile_all(&[kernel])?;
        all.pop().ok_or_else(|| fault(OpError::new("compile", "nothing was compiled")))
    }
    fn compile_all(&self, kernels: &[&Lir]) -> Result<Vec<Arc<dyn Code>>> {
        if kernels.iter().any(|k| k.regs.iter().any(|ty| ty.lanes > 8)) {
            return Err(fault(OpError::new("compile", "vectors of 16 lanes, which C is not written with")));
        }
        self.all(kernels).map_err(fault)
    }
    fn load(&self, kernel: &Lir, bytes: &[u8]) -> Result<Arc<dyn Code>> {
        let source = Source::new(kernel, "").map_err(fault)?;
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let object = match loaded.upgrade().filter(|object| *object.bytes == *bytes) {
            Some(object) => object,
            None => Arc::new(Object::from_bytes(bytes).map_err(fault)?),
        };
        *loaded = Arc::downgrade(&object);
        Ok(Arc::new(source.bind(Some(object)).map_err(fault)?))
    }
}

/// How many of so many functions one run of the compiler gets: a run costs as much as a few functions do.
fn per_run(functions: usize) -> usize {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    functions.div_ceil(threads).max(8)
}

const PRELUDE: &str = include_str!("prelude.c");

fn fault(op: OpError) -> evoxc_core::Error {
    BackendError { backend: "native".into(), op }.into()
}

/// A kernel as C, named after what it is.
struct Source {
    name: String,
    key: String,
    function: emit::Function,
}

impl Source {
    fn new(kernel: &Lir, identity: &str) -> std::result::Result<Source, OpError> {
        verify(kernel)?;
        let function = emit::function(kernel);
        let name = format!("k{:.32}", digest(&[PRELUDE, &function.text]));
        let key = digest(&[&name, identity]);
        Ok(Source { name, key, function })
    }
    fn definition(&self) -> String {
        format!("void {}{}\n", self.name, self.function.text)
    }
    fn bind(self, object: Option<Arc<Object>>) -> std::result::Result<Compiled, OpError> {
        let found = object.and_then(|object| object.entry(&self.name).map(|entry| (object, entry)));
        let (object, entry) = found.ok_or_else(|| {
            OpError::new("load", "this kernel is not in the compiled code").remedy("compile the program again")
        })?;
        let library = self
            .function
            .library
            .iter()
            .map(|&f| library::address(f))
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| OpError::new("load", "the library lacks a function of this kernel"))?;
        Ok(Compiled { text: self.definition(), object, entry, library: Table(library) })
    }
}

/// Addresses of library functions.
struct Table(Vec<*const ()>);

// SAFETY: addresses of code may be used from any thread.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

struct Compiled {
    text: String,
    object: Arc<Object>,
    entry: Entry,
    library: Table,
}

impl Code for Compiled {
    unsafe fn run(&self, buffers: *const *mut u8, params: *const i64, scratch: *const *mut u8, begin: i64, end: i64) {
        // SAFETY: the code is that of a verified LIR, is loaded for as long as `object` is, and the caller promises the rest.
        unsafe { (self.entry)(buffers, params, scratch, begin, end, self.library.0.as_ptr()) }
    }
    fn bytes(&self) -> Vec<u8> {
        self.object.bytes.to_vec()
    }
    fn text(&self) -> String {
        self.text.clone()
    }
}

#[cfg(test)]
mod tests;
