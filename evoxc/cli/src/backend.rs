//! The backend that a command line names.

use crate::Failure;
use evoxc_stage::{AnyBackend, Backend};

/// The backend of a name; the first one without.
pub fn choose(name: Option<&str>) -> Result<AnyBackend, Failure> {
    let all = evoxc_backends::backends();
    let names: Vec<&str> = all.iter().map(Backend::name).collect();
    let found = match name {
        Some(n) => all.iter().find(|b| b.name() == n),
        None => all.first(),
    };
    found.cloned().ok_or_else(|| {
        let asked = name.map_or("no backend".into(), |n| format!("`{n}` is no backend that"));
        Failure::Usage(format!("{asked} is compiled in; there are: {}", names.join(", ")))
    })
}
