//! Source locations of ops.

use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::{LazyLock, RwLock};

/// Where in the user's source an op was written: file, line and column, all counted from 1. `Copy`; the file name is
/// interned. Locations never take part in the equality or hash of graphs.
///
/// ```
/// use evoxc::Loc;
/// assert_eq!(Loc::new("src/main.rs", 6, 7).to_string(), "src/main.rs:6:7");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Loc {
    file: u32,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

#[derive(Default)]
struct Files {
    names: Vec<&'static str>,
    ids: FxHashMap<&'static str, u32>,
}

static FILES: LazyLock<RwLock<Files>> = LazyLock::new(RwLock::default);

thread_local! {
    /// Locations of one call site share the address of their file name, so most look-ups end here.
    static LAST: std::cell::Cell<(*const u8, usize, u32)> = const { std::cell::Cell::new((std::ptr::null(), 0, 0)) };
}

fn intern(name: &str) -> u32 {
    if let Some(&id) = FILES.read().unwrap_or_else(|e| e.into_inner()).ids.get(name) {
        return id;
    }
    let mut files = FILES.write().unwrap_or_else(|e| e.into_inner());
    if let Some(&id) = files.ids.get(name) {
        return id;
    }
    let (name, id): (&'static str, _) = (Box::leak(name.into()), files.names.len() as u32);
    files.names.push(name);
    files.ids.insert(name, id);
    id
}

/// The path without detours: `evoxc/../examples/a.rs`, as Cargo names a target outside of its package, is
/// `examples/a.rs`.
fn plain(file: &str) -> std::borrow::Cow<'_, str> {
    if !file.contains("..") {
        return file.into();
    }
    let mut parts: Vec<&str> = vec![];
    for part in file.split(['/', '\\']) {
        match (part, parts.last()) {
            ("..", Some(&last)) if last != ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/").into()
}

impl Loc {
    /// A location in `file`.
    pub fn new(file: &str, line: u32, column: u32) -> Loc {
        Loc { file: intern(file), line, column }
    }
    /// The location of a `#[track_caller]` caller.
    pub fn caller(l: &'static std::panic::Location<'static>) -> Loc {
        let (ptr, len) = (l.file().as_ptr(), l.file().len());
        let (p, n, id) = LAST.get();
        let file = if p == ptr && n == len {
            id
        } else {
            let id = intern(&plain(l.file()));
            LAST.set((ptr, len, id));
            id
        };
        Loc { file, line: l.line(), column: l.column() }
    }
    /// The name of the file as the compiler saw it.
    pub fn file(self) -> &'static str {
        FILES.read().unwrap_or_else(|e| e.into_inner()).names.get(self.file as usize).copied().unwrap_or("<unknown>")
    }
}

impl fmt::Display for Loc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file(), self.line, self.column)
    }
}

impl fmt::Debug for Loc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn detours_are_taken_out() {
        assert_eq!(super::plain("evoxc/../examples/a.rs"), "examples/a.rs");
        assert_eq!(super::plain("../../a.rs"), "../../a.rs");
        assert_eq!(super::plain("a/b/../../c.rs"), "c.rs");
        assert_eq!(super::plain("src/main.rs"), "src/main.rs");
    }
}
