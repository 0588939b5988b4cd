//! What can be wrong with a checkpoint.

use std::path::Path;

/// The result of every fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A checkpoint that cannot be used, or an error of evoxc.
///
/// It converts into [`evoxc::Error`], so that `?` works in functions that return [`evoxc::Result`].
///
/// ```
/// let e = evoxc_hf::load("no/such/folder").err().unwrap();
/// assert!(matches!(&e, evoxc_hf::Error::Checkpoint(c) if c.file.contains("config.json")));
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file that is missing, malformed, or does not fit the rest of its checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] Box<CheckpointError>),
    /// A request that the model cannot meet: a prompt that is too long, a head that it does not have.
    #[error("{0}")]
    Request(String),
    /// Tracing, compiling or running.
    #[error(transparent)]
    Evoxc(#[from] evoxc::Error),
}

/// What is wrong with a file, where, and what to do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{file}: {message}{}", .remedy.as_ref().map(|r| format!("; {r}")).unwrap_or_default())]
pub struct CheckpointError {
    /// The file.
    pub file: String,
    /// The tensor or key that it is about.
    pub name: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub remedy: Option<String>,
}

impl Error {
    pub(crate) fn file(file: &Path, message: impl Into<String>) -> Error {
        let file = file.display().to_string();
        Error::Checkpoint(Box::new(CheckpointError { file, name: None, message: message.into(), remedy: None }))
    }
    /// About one tensor (or key) of a file.
    pub(crate) fn tensor(file: &Path, name: &str, message: impl std::fmt::Display) -> Error {
        let message = format!("{}: {message}", shown(name));
        let file = file.display().to_string();
        Error::Checkpoint(Box::new(CheckpointError { file, name: Some(name.into()), message, remedy: None }))
    }
    pub(crate) fn io(file: &Path, e: &std::io::Error) -> Error {
        Error::file(file, e.to_string())
    }
    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Error {
        if let Error::Checkpoint(c) = &mut self {
            c.remedy = Some(remedy.into());
        }
        self
    }
}

/// A name out of a file, in quotes and not longer than a line.
pub(crate) fn shown(name: &str) -> String {
    let cut: String = name.chars().take(120).collect();
    let more = if cut.len() < name.len() { "…" } else { "" };
    format!("{cut:?}{more}")
}

impl From<Error> for evoxc::Error {
    fn from(e: Error) -> evoxc::Error {
        match e {
            Error::Evoxc(e) => e,
            Error::Checkpoint(c) => {
                let remedy = c.remedy.map(|r| format!("; {r}")).unwrap_or_default();
                evoxc::Error::Io { path: c.file, message: c.message + &remedy }
            }
            Error::Request(message) => evoxc::Error::Io { path: "evoxc_hf".into(), message },
        }
    }
}
