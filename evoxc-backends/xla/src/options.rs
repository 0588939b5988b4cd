//! What a user can choose: the device, the optimisation level, XLA's own flags, and what the client is created with.

use crate::error::{Stage, error_with};
use evoxc_core::Result;
use evoxc_stage::OptLevel;
use std::fmt::Write as _;

/// The value of one of XLA's flags (`xla_…`) or of a create option of a plugin.
///
/// ```
/// use evoxc::XlaFlag;
/// assert_eq!(XlaFlag::from(true), XlaFlag::Bool(true));
/// assert_eq!(XlaFlag::from("dot"), XlaFlag::Text("dot".into()));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FlagValue {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A string, or the name of an enum's value.
    Text(String),
}

impl From<bool> for FlagValue {
    fn from(v: bool) -> FlagValue {
        FlagValue::Bool(v)
    }
}
impl From<i32> for FlagValue {
    fn from(v: i32) -> FlagValue {
        FlagValue::Int(v.into())
    }
}
impl From<i64> for FlagValue {
    fn from(v: i64) -> FlagValue {
        FlagValue::Int(v)
    }
}
impl From<f64> for FlagValue {
    fn from(v: f64) -> FlagValue {
        FlagValue::Float(v)
    }
}
impl From<&str> for FlagValue {
    fn from(v: &str) -> FlagValue {
        FlagValue::Text(v.into())
    }
}
impl From<String> for FlagValue {
    fn from(v: String) -> FlagValue {
        FlagValue::Text(v)
    }
}

/// The flag that the optimisation level becomes.
const LEVEL_FLAG: &str = "xla_backend_optimization_level";

/// What XLA does by default and a program's meaning forbids: halves kept as more than halves between ops, and a maximum or
/// minimum with NaN that is the other number.
const MEANING: [&str; 2] = ["xla_allow_excess_precision", "xla_cpu_enable_fast_min_max"];

/// The options of an `Xla` value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Options {
    /// `None`: what the environment says.
    pub(crate) level: Option<OptLevel>,
    /// Flags as given, in order of names.
    pub(crate) flags: Vec<(String, FlagValue)>,
    /// Create options as given, in order of names.
    pub(crate) create: Vec<(String, FlagValue)>,
    /// Compile outputs to take the place of inputs.
    pub(crate) donation: Donation,
}

/// Are outputs compiled to take the place of inputs?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Donation {
    #[default]
    On,
    Off,
}

/// Sets an entry of a list that is ordered by name.
pub(crate) fn set(list: &mut Vec<(String, FlagValue)>, name: &str, value: FlagValue) {
    match list.binary_search_by(|(n, _)| n.as_str().cmp(name)) {
        Ok(i) => {
            if let Some(entry) = list.get_mut(i) {
                entry.1 = value;
            }
        }
        Err(i) => list.insert(i, (name.into(), value)),
    }
}

impl Options {
    /// All flags to compile with: those that follow from options, unless a flag of the same name was given.
    pub(crate) fn flags(&self) -> Result<Vec<(String, FlagValue)>> {
        let mut out = self.flags.clone();
        let given = |name: &str| self.flags.iter().any(|(n, _)| n == name);
        if !given(LEVEL_FLAG) {
            set(&mut out, LEVEL_FLAG, FlagValue::Int(self.level()?.number().into()));
        }
        for name in MEANING {
            if !given(name) {
                set(&mut out, name, FlagValue::Bool(false));
            }
        }
        Ok(out)
    }
    fn level(&self) -> Result<OptLevel> {
        match self.level {
            Some(level) => Ok(level),
            None => OptLevel::from_env().map_err(|e| error_with(Stage::Compile, e, "write 0, 1, 2 or 3")),
        }
    }
    /// What changes code, as text: part of the key of artifacts.
    pub(crate) fn key(&self) -> String {
        let flags = match self.flags() {
            Ok(flags) => flags,
            // The level in the environment is no level: nothing compiles, so nothing has this key.
            Err(e) => return e.to_string(),
        };
        let mut key = String::new();
        for (name, value) in flags {
            // Writing to a string cannot fail.
            let _ = match value {
                FlagValue::Bool(v) => write!(key, " {name}={v}"),
                FlagValue::Int(v) => write!(key, " {name}={v}"),
                FlagValue::Float(v) => write!(key, " {name}={v:?}"),
                FlagValue::Text(v) => write!(key, " {name}={v:?}"),
            };
        }
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_wins_over_the_level_and_never_stands_beside_it() {
        let mut o = Options { level: Some(OptLevel::O3), ..Options::default() };
        let level = |o: &Options| -> Vec<FlagValue> {
            o.flags().unwrap().into_iter().filter(|(n, _)| n == LEVEL_FLAG).map(|(_, v)| v).collect()
        };
        assert_eq!(level(&o), [FlagValue::Int(3)]);
        set(&mut o.flags, LEVEL_FLAG, FlagValue::Int(1));
        set(&mut o.flags, LEVEL_FLAG, FlagValue::Int(0));
        assert_eq!(level(&o), [FlagValue::Int(0)]);
        assert!(o.key().contains("xla_backend_optimization_level=0"));
    }

    #[test]
    fn lists_are_ordered_by_name() {
        let mut list = vec![];
        for (i, name) in ["c", "a", "b", "a"].into_iter().enumerate() {
            set(&mut list, name, FlagValue::Int(i as i64));
        }
        let names: Vec<(&str, &FlagValue)> = list.iter().map(|(n, v)| (n.as_str(), v)).collect();
        assert_eq!(names, [("a", &FlagValue::Int(3)), ("b", &FlagValue::Int(2)), ("c", &FlagValue::Int(0))]);
    }
}
