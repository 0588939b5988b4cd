//! Errors: what the compiler says, with the stage at which it said it.

use evoxc_core::{BackendError, Error, OpError};

/// Where the compiler comes from.
pub(crate) const INSTALL: &str = "install it (`pip install iree-base-compiler==3.13.0`) and set EVOXC_IREE_COMPILER to \
     libIREECompiler.so in its folder iree/compiler/_mlir_libs, or name the file with `Iree::compiler(path)`";

/// An error at a stage.
pub(crate) fn error(stage: &str, message: impl Into<String>) -> Error {
    BackendError { backend: "iree".into(), op: OpError::new(stage, message) }.into()
}

/// An error at a stage, with what to do.
pub(crate) fn error_with(stage: &str, message: impl Into<String>, remedy: impl Into<String>) -> Error {
    BackendError { backend: "iree".into(), op: OpError::new(stage, message).remedy(remedy) }.into()
}

/// The first line that says something: what follows repeats the program.
pub(crate) fn first_line(message: &str) -> String {
    let mut lines = message.lines().map(str::trim).filter(|l| !l.is_empty());
    let first = lines.next().unwrap_or("no message");
    // A heading alone says nothing.
    let line = match lines.next() {
        Some(second) if first.ends_with(':') => format!("{first} {second}"),
        _ => first.to_string(),
    };
    match line.char_indices().nth(600) {
        Some((cut, _)) => format!("{} …", line.get(..cut).unwrap_or(&line)),
        None => line,
    }
}
