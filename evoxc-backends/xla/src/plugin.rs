//! Plugins: shared libraries that offer the PJRT interface.
//!
//! A plugin is loaded once a process and never unloaded: its threads and the memory that tensors hold outlive any value of
//! this crate.

use crate::error::{Stage, error, error_with, first_line};
use crate::ffi::{
    Args, PJRT_Api, PJRT_Error, PJRT_Error_Destroy_Args, PJRT_Error_GetCode_Args, PJRT_Error_Message_Args,
    PJRT_Plugin_Initialize_Args, call, slot,
};
use crate::library;
use evoxc_core::Result;
use std::io::Read;
use std::mem::{offset_of, size_of};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A loaded plugin.
pub(crate) struct Plugin {
    table: NonNull<PJRT_Api>,
    /// How many bytes of the table there are.
    size: usize,
    version: (i32, i32),
    path: PathBuf,
    hash: OnceLock<Option<u64>>,
}

// SAFETY: the table is written before `GetPjrtApi` returns it and constant from then on; PJRT's functions may be called
// from any thread.
unsafe impl Send for Plugin {}
// SAFETY: as for `Send`.
unsafe impl Sync for Plugin {}

static LOADED: Mutex<Vec<Arc<Plugin>>> = Mutex::new(Vec::new());

impl Plugin {
    /// The plugin in a file, loaded now unless it is already.
    pub(crate) fn load(path: &Path) -> Result<Arc<Plugin>> {
        let absent = |e: std::io::Error| error(Stage::LoadPlugin, format!("{}: {e}", path.display()));
        let path = path.canonicalize().map_err(absent)?;
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(p) = loaded.iter().find(|p| p.path == path) {
            return Ok(p.clone());
        }
        let plugin = Arc::new(Plugin::open(path)?);
        loaded.push(plugin.clone());
        Ok(plugin)
    }

    fn open(path: PathBuf) -> Result<Plugin> {
        let bad = |what: String| error(Stage::LoadPlugin, format!("{}: {}", path.display(), first_line(&what)));
        if !library::is_whole(&path).map_err(|e| bad(e.to_string()))? {
            return Err(bad("the file is cut short: it is smaller than its header says".into()));
        }
        // SAFETY: loading a library runs its initialisers. The user named this file as a PJRT plugin; what it does is the
        // user's choice, as with any library that a program is linked against.
        let library = unsafe { libloading::Library::new(&path) }.map_err(|e| bad(e.to_string()))?;
        // SAFETY: the interface gives this symbol this type.
        let entry = unsafe { library.get::<unsafe extern "C" fn() -> *const PJRT_Api>(b"GetPjrtApi\0") };
        let entry = entry.map_err(|_| bad("it is no PJRT plugin: it has no symbol `GetPjrtApi`".into()))?;
        // SAFETY: the function takes nothing and may be called at any time.
        let table = unsafe { entry() };
        let table = NonNull::new(table.cast_mut()).ok_or_else(|| bad("it gave no table of functions".into()))?;
        // The library stays for as long as the process lives.
        std::mem::forget(library);
        // SAFETY: every version of the table starts with its size.
        let size = unsafe { (&raw const (*table.as_ptr()).struct_size).read() };
        let mut plugin = Plugin { table, size, version: (0, 0), path, hash: OnceLock::new() };
        let end = offset_of!(PJRT_Api, pjrt_api_version) + size_of::<crate::ffi::PJRT_Api_Version>();
        if plugin.size < end {
            return Err(error(Stage::LoadPlugin, format!("{}: its table has no version", plugin.path.display())));
        }
        // SAFETY: the table's size covers the version.
        let version = unsafe { (&raw const (*table.as_ptr()).pjrt_api_version).read() };
        plugin.version = (version.major_version, version.minor_version);
        if version.major_version != 0 {
            let message = format!(
                "{}: it has version {}.{} of the PJRT interface, and only 0.x is known",
                plugin.path.display(),
                version.major_version,
                version.minor_version
            );
            return Err(error_with(Stage::LoadPlugin, message, "use a plugin of version 0.x"));
        }
        let mut args = PJRT_Plugin_Initialize_Args::new();
        // SAFETY: the arguments hold no pointers. A plugin is initialised once, under the lock of the list.
        unsafe { call!(&plugin, Stage::LoadPlugin, PJRT_Plugin_Initialize, &mut args) }?;
        Ok(plugin)
    }

    /// The table of functions. It may be shorter than the struct: read only what [`Plugin::has`].
    pub(crate) fn table(&self) -> *const PJRT_Api {
        self.table.as_ptr()
    }
    /// Is there a whole entry at this offset of the table?
    pub(crate) fn has(&self, offset: usize) -> bool {
        offset.checked_add(size_of::<usize>()).is_some_and(|end| end <= self.size)
    }
    /// The version of the interface that it implements.
    pub(crate) fn version(&self) -> (i32, i32) {
        self.version
    }
    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
    /// A hash of the file, read when first asked for: executables of one build may fail in another.
    pub(crate) fn hash(&self) -> Option<u64> {
        *self.hash.get_or_init(|| hash_file(&self.path).ok())
    }

    /// Turns an error of the plugin into ours and frees it.
    pub(crate) fn check(&self, stage: Stage, raw: *mut PJRT_Error) -> Result<()> {
        if raw.is_null() {
            return Ok(());
        }
        let (code, message) = (self.code(raw), self.message(raw));
        self.destroy(raw);
        Err(error(stage, format!("{}: {}", code_name(code), first_line(&message))))
    }

    fn message(&self, raw: *mut PJRT_Error) -> String {
        let Some(function) = slot!(self, PJRT_Error_Message) else { return String::new() };
        let mut args = PJRT_Error_Message_Args { error: raw, ..Args::new() };
        // SAFETY: `raw` is a live error of this plugin; the message it gives lives as long as the error.
        let bytes = unsafe {
            function(&mut args);
            bytes(args.message, args.message_size)
        };
        String::from_utf8_lossy(bytes).into_owned()
    }

    fn code(&self, raw: *mut PJRT_Error) -> u32 {
        let Some(function) = slot!(self, PJRT_Error_GetCode) else { return UNKNOWN };
        let mut args = PJRT_Error_GetCode_Args { error: raw, ..Args::new() };
        // SAFETY: `raw` is a live error of this plugin.
        let inner = unsafe { function(&mut args) };
        if inner.is_null() {
            args.code
        } else {
            self.destroy(inner);
            UNKNOWN
        }
    }

    /// Frees an error.
    pub(crate) fn destroy(&self, raw: *mut PJRT_Error) {
        if raw.is_null() {
            return;
        }
        if let Some(function) = slot!(self, PJRT_Error_Destroy) {
            let mut args = PJRT_Error_Destroy_Args { error: raw, ..Args::new() };
            // SAFETY: callers own `raw` and do not use it again.
            unsafe { function(&mut args) }
        }
    }
}

/// The code of an error that does not say.
const UNKNOWN: u32 = 2;

/// The names of the codes, which are those of gRPC.
fn code_name(code: u32) -> &'static str {
    const NAMES: [&str; 17] = [
        "OK",
        "CANCELLED",
        "UNKNOWN",
        "INVALID_ARGUMENT",
        "DEADLINE_EXCEEDED",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "RESOURCE_EXHAUSTED",
        "FAILED_PRECONDITION",
        "ABORTED",
        "OUT_OF_RANGE",
        "UNIMPLEMENTED",
        "INTERNAL",
        "UNAVAILABLE",
        "DATA_LOSS",
        "UNAUTHENTICATED",
    ];
    usize::try_from(code).ok().and_then(|i| NAMES.get(i)).copied().unwrap_or("UNKNOWN")
}

/// Bytes that a plugin points at; none for a null pointer.
///
/// # Safety
/// Unless it is null, `size` bytes at `start` must stay valid for `'a`.
pub(crate) unsafe fn bytes<'a>(start: *const core::ffi::c_char, size: usize) -> &'a [u8] {
    if start.is_null() || size == 0 {
        return &[];
    }
    // SAFETY: by the contract above.
    unsafe { std::slice::from_raw_parts(start.cast(), size) }
}

/// FNV-1a over words of eight bytes: plugins have hundreds of megabytes.
fn hash_file(path: &Path) -> std::io::Result<u64> {
    let mut file = std::fs::File::open(path)?;
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut block = vec![0u8; 1 << 20];
    loop {
        let n = fill(&mut file, &mut block)?;
        let read = block.get(..n).unwrap_or_default();
        for word in read.chunks(8) {
            let mut eight = [0u8; 8];
            eight.iter_mut().zip(word).for_each(|(to, from)| *to = *from);
            hash = (hash ^ u64::from_le_bytes(eight)).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
        }
        if n < block.len() {
            return Ok(hash);
        }
    }
}

/// Reads until the block is full or the file ends.
fn fill(file: &mut std::fs::File, block: &mut [u8]) -> std::io::Result<usize> {
    let mut n = 0;
    while let Some(rest) = block.get_mut(n..).filter(|r| !r.is_empty()) {
        match file.read(rest)? {
            0 => break,
            k => n += k,
        }
    }
    Ok(n)
}
