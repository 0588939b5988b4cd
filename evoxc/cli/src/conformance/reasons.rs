//! What compilers and runtimes say of programs that they do not support, in their own words: all that they say and that is
//! not listed here counts as a failure.

/// Backend, a part of what it says, and the reason that the report counts.
pub const LISTED: &[(&str, &str, &str)] = &[];

/// The reason for which a program is unsupported.
pub fn of(backend: &str, message: &str) -> Option<&'static str> {
    let found = LISTED.iter().find(|(b, words, _)| *b == backend && message.contains(words));
    found.map(|(_, _, reason)| *reason)
}
