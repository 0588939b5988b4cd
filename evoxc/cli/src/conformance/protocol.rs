//! What the parent and a worker tell each other: one JSON line each, marked, so that what a program prints between them
//! does no harm.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

const MARK: &str = "\u{1}evoxc ";

/// A place in a file: which of its modules (split at `// -----`), and which program of that module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The module's number.
    pub module: usize,
    /// The program's number in it.
    pub program: usize,
}

/// To a worker: run the programs of a file from a place on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The file.
    pub path: PathBuf,
    /// What it is called.
    pub name: String,
    /// The first program to run; others ran before.
    pub from: Place,
}

/// From a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Message {
    /// It starts on a module, with which the parent can blame a crash of the parser.
    Module {
        /// The module's number.
        module: usize,
        /// The line where it starts.
        line: usize,
    },
    /// It starts on a program.
    Start {
        /// Where it is.
        place: Place,
        /// The line of its module.
        line: usize,
        /// Its function.
        program: String,
    },
    /// The program last started is done.
    End(Outcome),
    /// The file is done.
    Done,
}

/// What became of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum Outcome {
    /// Every check holds.
    Pass,
    /// It was refused by an error whose type says that a feature is missing.
    Unsupported {
        /// The kind of feature, to group by.
        reason: String,
        /// The error.
        message: String,
    },
    /// Anything else.
    Fail {
        /// What happened first.
        message: String,
    },
}

impl Outcome {
    /// Is it a failure?
    pub fn is_fail(&self) -> bool {
        matches!(self, Outcome::Fail { .. })
    }
    /// A failure.
    pub fn fail(message: impl Into<String>) -> Outcome {
        Outcome::Fail { message: message.into() }
    }
}

/// The line of a message.
pub fn line(message: &impl Serialize) -> std::io::Result<String> {
    Ok(format!("{MARK}{}\n", serde_json::to_string(message)?))
}

/// The message of a line; `None` for lines that are none.
pub fn parse<T: DeserializeOwned>(line: &str) -> Option<T> {
    // A program may have left a line of its own unfinished before the mark.
    let (_, json) = line.split_once(MARK)?;
    serde_json::from_str(json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_what_programs_print() {
        let end = Message::End(Outcome::Unsupported { reason: "a\nb".into(), message: "\"c\"".into() });
        let text = format!("x = 1{}", line(&end).unwrap());
        assert_eq!(text.lines().count(), 1);
        let Some(Message::End(Outcome::Unsupported { reason, message })) = parse(&text) else { panic!() };
        assert_eq!((reason.as_str(), message.as_str()), ("a\nb", "\"c\""));
        assert!(parse::<Message>("x = 1").is_none());
        assert!(parse::<Message>("\u{1}evoxc {").is_none());
    }
}
