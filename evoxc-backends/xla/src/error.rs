//! Errors: what a plugin says, with the stage at which it said it.

use crate::plugin::Plugin;
use evoxc_core::{BackendError, Error, OpError};

/// What was being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    LoadPlugin,
    CreateClient,
    Lower,
    Compile,
    Serialise,
    LoadExecutable,
    Transfer,
    Execute,
}

impl Stage {
    const fn name(self) -> &'static str {
        match self {
            Stage::LoadPlugin => "load plugin",
            Stage::CreateClient => "create client",
            Stage::Lower => "lower",
            Stage::Compile => "compile",
            Stage::Serialise => "serialise",
            Stage::LoadExecutable => "load executable",
            Stage::Transfer => "transfer",
            Stage::Execute => "execute",
        }
    }
    /// What usually helps. Failures of what the user wrote have their remedy elsewhere, or none.
    const fn remedy(self) -> Option<&'static str> {
        match self {
            Stage::LoadPlugin => Some(INSTALL),
            Stage::CreateClient => Some("check the plugin's create options and that its device is there and free"),
            Stage::LoadExecutable => Some("compile the program again with this plugin"),
            Stage::Lower | Stage::Compile | Stage::Serialise | Stage::Transfer | Stage::Execute => None,
        }
    }
}

/// Where plugins come from.
pub(crate) const INSTALL: &str = "install a PJRT plugin (`pip install --no-deps xla-cpu-pjrt==0.0.1` for the CPU) and \
     set EVOXC_PJRT_PLUGIN to its .so file, or name the file with `Xla::plugin(path)`";

/// An error at a stage, with the stage's usual remedy.
pub(crate) fn error(stage: Stage, message: impl Into<String>) -> Error {
    let op = OpError::new(stage.name(), message);
    let op = match stage.remedy() {
        Some(remedy) => op.remedy(remedy),
        None => op,
    };
    BackendError { backend: "xla".into(), op }.into()
}

/// An error at a stage, with a remedy of its own.
pub(crate) fn error_with(stage: Stage, message: impl Into<String>, remedy: impl Into<String>) -> Error {
    BackendError { backend: "xla".into(), op: OpError::new(stage.name(), message).remedy(remedy) }.into()
}

/// A function that the plugin's table does not have.
pub(crate) fn absent(plugin: &Plugin, stage: Stage, function: &str) -> Error {
    let (major, minor) = plugin.version();
    let message = format!("the plugin (PJRT {major}.{minor}) does not offer {function}");
    error_with(stage, message, "use a newer plugin")
}

/// The first line that says something. The parser's messages go on with the whole program; messages of later versions
/// begin with a line that only names the kind of error.
pub(crate) fn first_line(message: &str) -> String {
    let mut lines = message.lines().map(str::trim).filter(|l| !l.is_empty());
    let mut line = lines.next().unwrap_or("no message").to_string();
    if let (true, Some(next)) = (line.ends_with(':'), lines.next()) {
        line = format!("{line} {next}");
    }
    let limit = line.char_indices().nth(600).map_or(line.len(), |(i, _)| i);
    match line.get(..limit) {
        Some(start) if limit < line.len() => format!("{start} …"),
        _ => line,
    }
}
