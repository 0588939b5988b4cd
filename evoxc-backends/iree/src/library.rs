//! The compiler's shared library and the functions of its C interface (`embedding_api.h`, version 1) that are used.
//!
//! A library is opened and initialised once and stays until the process ends: IREE cannot be initialised again after it
//! was shut down.

use crate::error::{INSTALL, error_with};
use evoxc_core::Result;
use libloading::Library;
use std::collections::BTreeMap;
use std::ffi::{CStr, OsString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// An object of the compiler, seen through pointers only.
#[repr(C)]
pub(crate) struct Opaque {
    _private: [u8; 0],
}
pub(crate) type Ptr = *mut Opaque;
pub(crate) type OnDiagnostic = extern "C" fn(severity: c_int, message: *const c_char, size: usize, user: *mut c_void);

macro_rules! functions {
    ($($field:ident $symbol:literal ($($arg:ty),*) $(-> $out:ty)?;)*) => {
        /// The functions of the compiler.
        pub(crate) struct Functions { $(pub(crate) $field: unsafe extern "C" fn($($arg),*) $(-> $out)?,)* }
        impl Functions {
            /// Looks all of them up.
            fn find(library: &Library) -> std::result::Result<Functions, libloading::Error> {
                Ok(Functions {
                    // SAFETY: the types are those of `embedding_api.h`; the interface keeps its symbols and their types
                    // within its major version, which is checked before any other function is called.
                    $($field: *unsafe { library.get($symbol)? },)*
                })
            }
        }
    };
}

functions! {
    api_version b"ireeCompilerGetAPIVersion\0" () -> c_int;
    global_initialize b"ireeCompilerGlobalInitialize\0" ();
    revision b"ireeCompilerGetRevision\0" () -> *const c_char;
    error_message b"ireeCompilerErrorGetMessage\0" (Ptr) -> *const c_char;
    error_destroy b"ireeCompilerErrorDestroy\0" (Ptr);
    session_create b"ireeCompilerSessionCreate\0" () -> Ptr;
    session_destroy b"ireeCompilerSessionDestroy\0" (Ptr);
    session_set_flags b"ireeCompilerSessionSetFlags\0" (Ptr, c_int, *const *const c_char) -> Ptr;
    invocation_create b"ireeCompilerInvocationCreate\0" (Ptr) -> Ptr;
    invocation_destroy b"ireeCompilerInvocationDestroy\0" (Ptr);
    invocation_diagnostics b"ireeCompilerInvocationEnableCallbackDiagnostics\0" (Ptr, c_int, OnDiagnostic, *mut c_void);
    invocation_parse b"ireeCompilerInvocationParseSource\0" (Ptr, Ptr) -> bool;
    invocation_to_phase b"ireeCompilerInvocationSetCompileToPhase\0" (Ptr, *const c_char);
    invocation_pipeline b"ireeCompilerInvocationPipeline\0" (Ptr, c_int) -> bool;
    invocation_output b"ireeCompilerInvocationOutputVMBytecode\0" (Ptr, Ptr) -> Ptr;
    source_wrap b"ireeCompilerSourceWrapBuffer\0" (Ptr, *const c_char, *const c_char, usize, bool, *mut Ptr) -> Ptr;
    source_destroy b"ireeCompilerSourceDestroy\0" (Ptr);
    output_open b"ireeCompilerOutputOpenMembuffer\0" (*mut Ptr) -> Ptr;
    output_map b"ireeCompilerOutputMapMemory\0" (Ptr, *mut *mut c_void, *mut u64) -> Ptr;
    output_destroy b"ireeCompilerOutputDestroy\0" (Ptr);
}

/// A compiler, initialised.
pub(crate) struct Compiler {
    pub(crate) functions: Functions,
    /// Its build tag, and the version of its interface.
    pub(crate) revision: String,
    /// Held while something compiles: LLVM's targets are set up by the compilations themselves, and two that do so at
    /// once can end the process.
    pub(crate) busy: Mutex<()>,
}

/// The compilers of this process.
static OPEN: Mutex<BTreeMap<PathBuf, &'static Compiler>> = Mutex::new(BTreeMap::new());

impl Compiler {
    /// The compiler in a file.
    pub(crate) fn open(path: &Path) -> Result<&'static Compiler> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let key = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        if let Some(&found) = open.get(&key) {
            return Ok(found);
        }
        let fail = |e: String| error_with("load compiler", format!("{}: {e}", path.display()), INSTALL);
        // SAFETY: loading runs the library's static initialisers; this is IREE's compiler by the user's word, and their
        // effects are within it.
        let library = unsafe { Library::new(path) }.map_err(|e| fail(e.to_string()))?;
        let functions = Functions::find(&library).map_err(|e| fail(e.to_string()))?;
        // SAFETY: this function may be called before any other.
        let version = unsafe { (functions.api_version)() };
        let (major, minor) = (version >> 16, version & 0xffff);
        if major != 1 {
            return Err(fail(format!("its interface has version {major}.{minor}, and 1 is needed")));
        }
        // SAFETY: called once for this library, under the lock; nothing shuts it down.
        let revision = unsafe {
            (functions.global_initialize)();
            let text = (functions.revision)();
            if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
        };
        // Never unloaded: other threads of the compiler may still run.
        std::mem::forget(library);
        let compiler: &'static Compiler = Box::leak(Box::new(Compiler {
            functions,
            revision: format!("{revision} (interface {major}.{minor})"),
            busy: Mutex::new(()),
        }));
        open.insert(key, compiler);
        Ok(compiler)
    }
}

/// The environment variable that names the compiler.
pub(crate) const ENV: &str = "EVOXC_IREE_COMPILER";

/// The compiler's file: what `EVOXC_IREE_COMPILER` names, else that of the Python environment in `VIRTUAL_ENV`, else
/// that beside a `python3` or `python` in `PATH`.
pub(crate) fn find() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(ENV).filter(|p| !p.is_empty()) {
        return Some(path.into());
    }
    let mut roots: Vec<PathBuf> = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from).into_iter().collect();
    let path: OsString = std::env::var_os("PATH").unwrap_or_default();
    for folder in std::env::split_paths(&path) {
        if ["python3", "python"].iter().any(|p| folder.join(p).is_file()) {
            roots.extend(folder.parent().map(Path::to_path_buf));
        }
    }
    roots.iter().find_map(|root| in_environment(root))
}

/// The compiler's file of a Python environment.
pub(crate) fn in_environment(root: &Path) -> Option<PathBuf> {
    let name = if cfg!(target_os = "macos") { "libIREECompiler.dylib" } else { "libIREECompiler.so" };
    let versions = std::fs::read_dir(root.join("lib")).ok()?;
    let mut found: Vec<PathBuf> = versions
        .filter_map(|e| Some(e.ok()?.path().join("site-packages/iree/compiler/_mlir_libs").join(name)))
        .filter(|p| p.is_file())
        .collect();
    // Folders come in any order.
    found.sort();
    found.pop()
}
