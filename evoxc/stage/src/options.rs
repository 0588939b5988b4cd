//! Options that several backends share.

use std::fmt;
use std::str::FromStr;

/// How much a backend optimises.
///
/// ```
/// use evoxc::OptLevel;
/// assert_eq!("O3".parse(), Ok(OptLevel::O3));
/// assert_eq!(OptLevel::O1.to_string(), "O1");
/// assert!(OptLevel::O0 < OptLevel::O2);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OptLevel {
    /// As written, for debugging.
    O0,
    /// What is cheap to do.
    O1,
    /// What usually pays.
    #[default]
    O2,
    /// Everything.
    O3,
}

impl OptLevel {
    /// The environment variable that sets the default.
    pub const ENV: &'static str = "EVOXC_OPT_LEVEL";

    /// The level in `EVOXC_OPT_LEVEL` (`0` to `3`, or `O0` to `O3`); `O2` where it is not set.
    ///
    /// # Errors
    /// What is wrong with the variable's value: a mistyped level is not taken for the default.
    pub fn from_env() -> Result<OptLevel, String> {
        match std::env::var_os(OptLevel::ENV) {
            None => Ok(OptLevel::default()),
            Some(v) => v.to_string_lossy().parse().map_err(|e| format!("{}: {e}", OptLevel::ENV)),
        }
    }
    /// The number of the level, 0 to 3.
    pub const fn number(self) -> u8 {
        match self {
            OptLevel::O0 => 0,
            OptLevel::O1 => 1,
            OptLevel::O2 => 2,
            OptLevel::O3 => 3,
        }
    }
}

impl fmt::Display for OptLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "O{}", self.number())
    }
}

impl FromStr for OptLevel {
    type Err = String;
    fn from_str(s: &str) -> Result<OptLevel, String> {
        match s.trim_start_matches(['O', 'o']) {
            "0" => Ok(OptLevel::O0),
            "1" => Ok(OptLevel::O1),
            "2" => Ok(OptLevel::O2),
            "3" => Ok(OptLevel::O3),
            _ => Err(format!("`{s}` is not an optimisation level; write 0, 1, 2 or 3")),
        }
    }
}
