//! One compilation: text and flags in, bytecode or diagnostics out.

use crate::error::{error, first_line};
use crate::library::{Compiler, Ptr};
use evoxc_core::Result;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

/// How far to compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The program is read, verified and converted, but not compiled.
    Input,
    /// Down to bytecode.
    End,
}

impl Compiler {
    /// Compiles text; the bytecode is empty where the phase is not the last. Threads that compile at once wait for each
    /// other; the compiler has threads of its own.
    pub(crate) fn compile(&self, text: &str, flags: &[String], phase: Phase) -> Result<Vec<u8>> {
        let _alone = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let session = Session::new(self);
        session.set_flags(flags)?;
        // MLIR's buffers end with a zero byte, which counts.
        let source = CString::new(text).map_err(|_| error("compile", "the text holds a zero byte"))?;
        let source = session.source(&source)?;
        let diagnostics = Diagnostics::default();
        let invocation = session.invocation(&diagnostics, phase);
        if !invocation.parse(&source) {
            return Err(error("parse", diagnostics.first()));
        }
        if !invocation.run() {
            return Err(error("compile", diagnostics.first()));
        }
        match phase {
            Phase::Input => Ok(vec![]),
            Phase::End => invocation.bytecode(),
        }
    }
    /// Takes an error of the compiler apart; null is success.
    fn check(&self, stage: &str, e: Ptr) -> Result<()> {
        if e.is_null() {
            return Ok(());
        }
        // SAFETY: `e` is an error that was just given to us; its message lives until it is destroyed, once, here.
        let message = unsafe {
            let text = (self.functions.error_message)(e);
            let text = if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into_owned() };
            (self.functions.error_destroy)(e);
            text
        };
        Err(error(stage, first_line(&message)))
    }
}

/// What the compiler reported, by severity (2 is an error).
#[derive(Default)]
struct Diagnostics(Mutex<Vec<(c_int, String)>>);

impl Diagnostics {
    /// The first error.
    fn first(&self) -> String {
        let list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = list.iter().find(|(severity, _)| *severity == 2).or(list.first());
        found.map_or_else(|| "it failed without a message".into(), |(_, m)| first_line(m))
    }
    extern "C" fn record(severity: c_int, message: *const c_char, size: usize, user: *mut c_void) {
        if message.is_null() || user.is_null() {
            return;
        }
        // SAFETY: `user` is the `Diagnostics` that outlives the invocation (see `Session::invocation`), and is shared, not
        // mutated; the message has `size` bytes for the time of this call.
        let (list, bytes) = unsafe { (&*user.cast::<Diagnostics>(), std::slice::from_raw_parts(message.cast(), size)) };
        let text = String::from_utf8_lossy(bytes).into_owned();
        list.0.lock().unwrap_or_else(PoisonError::into_inner).push((severity, text));
    }
}

/// A session: a context of the compiler with its flags.
struct Session<'c> {
    compiler: &'c Compiler,
    at: Ptr,
}

impl<'c> Session<'c> {
    fn new(compiler: &'c Compiler) -> Session<'c> {
        // SAFETY: the compiler is initialised; creation cannot fail.
        Session { compiler, at: unsafe { (compiler.functions.session_create)() } }
    }
    fn set_flags(&self, flags: &[String]) -> Result<()> {
        let texts: Vec<CString> = flags
            .iter()
            .map(|f| CString::new(f.as_str()).map_err(|_| error("flags", format!("`{f}` holds a zero byte"))))
            .collect::<Result<_>>()?;
        let list: Vec<*const c_char> = texts.iter().map(|t| t.as_ptr()).collect();
        let n = c_int::try_from(list.len()).map_err(|_| error("flags", "there are too many"))?;
        // SAFETY: `list` holds `n` strings that live until after the call; the session copies them.
        let e = unsafe { (self.compiler.functions.session_set_flags)(self.at, n, list.as_ptr()) };
        self.compiler.check("flags", e)
    }
    /// The text as a source, which borrows it.
    fn source<'s>(&'s self, text: &'s CStr) -> Result<Source<'s>> {
        let (name, mut at) = (c"program", null_mut());
        let bytes = text.to_bytes_with_nul();
        let wrap = self.compiler.functions.source_wrap;
        // SAFETY: the buffer has that many bytes, the last of them zero, and outlives the source by its lifetime.
        let e = unsafe { wrap(self.at, name.as_ptr(), bytes.as_ptr().cast(), bytes.len(), true, &mut at) };
        self.compiler.check("parse", e)?;
        Ok(Source { session: self, at })
    }
    fn invocation<'s>(&'s self, diagnostics: &'s Diagnostics, phase: Phase) -> Invocation<'s> {
        let f = &self.compiler.functions;
        let user = std::ptr::from_ref(diagnostics).cast_mut().cast();
        // SAFETY: the session lives as long as the invocation, and so do the diagnostics, which the callback only shares.
        let at = unsafe {
            let at = (f.invocation_create)(self.at);
            (f.invocation_diagnostics)(at, 0, Diagnostics::record, user);
            if phase == Phase::Input {
                (f.invocation_to_phase)(at, c"input".as_ptr());
            }
            at
        };
        Invocation { session: self, at }
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `session_create`, destroyed once, after all that borrows it.
        unsafe { (self.compiler.functions.session_destroy)(self.at) }
    }
}

struct Source<'s> {
    session: &'s Session<'s>,
    at: Ptr,
}

impl Drop for Source<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `source_wrap`, destroyed once.
        unsafe { (self.session.compiler.functions.source_destroy)(self.at) }
    }
}

struct Invocation<'s> {
    session: &'s Session<'s>,
    at: Ptr,
}

impl Invocation<'_> {
    fn parse(&self, source: &Source<'_>) -> bool {
        // SAFETY: both are of one session and alive; a source is parsed once.
        unsafe { (self.session.compiler.functions.invocation_parse)(self.at, source.at) }
    }
    fn run(&self) -> bool {
        // SAFETY: the invocation has parsed its source; 0 is the standard pipeline.
        unsafe { (self.session.compiler.functions.invocation_pipeline)(self.at, 0) }
    }
    fn bytecode(&self) -> Result<Vec<u8>> {
        let (compiler, f) = (self.session.compiler, &self.session.compiler.functions);
        let mut at = null_mut();
        // SAFETY: gives a new output, which `Output` destroys.
        compiler.check("compile", unsafe { (f.output_open)(&mut at) })?;
        let output = Output { compiler, at };
        // SAFETY: the pipeline has run to its end.
        compiler.check("compile", unsafe { (f.invocation_output)(self.at, output.at) })?;
        let (mut data, mut size) = (null_mut(), 0);
        // SAFETY: the output is in memory, by how it was opened.
        compiler.check("compile", unsafe { (f.output_map)(output.at, &mut data, &mut size) })?;
        let size = usize::try_from(size).map_err(|_| error("compile", "the bytecode is too large"))?;
        if data.is_null() || size == 0 {
            return Err(error("compile", "the compiler gave no bytecode"));
        }
        // SAFETY: the mapping has `size` bytes and lives as long as the output.
        Ok(unsafe { std::slice::from_raw_parts(data.cast::<u8>(), size) }.to_vec())
    }
}

impl Drop for Invocation<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `invocation_create`, destroyed once, before its session.
        unsafe { (self.session.compiler.functions.invocation_destroy)(self.at) }
    }
}

struct Output<'c> {
    compiler: &'c Compiler,
    at: Ptr,
}

impl Drop for Output<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `output_open`, destroyed once.
        unsafe { (self.compiler.functions.output_destroy)(self.at) }
    }
}
