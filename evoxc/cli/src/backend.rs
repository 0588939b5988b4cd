//! The backend that a command line names.

use crate::Failure;
use evoxc_backends::{Iree, IreeTarget, Xla};
use evoxc_core::Error;
use evoxc_stage::{AnyBackend, Backend};

/// The backend of a name, the first one without, for a target where it has several.
///
/// A backend behind a library that is not there fails with the backend's own error, which says what to install.
pub fn choose(name: Option<&str>, target: Option<&str>) -> Result<AnyBackend, Failure> {
    match (name, target) {
        (_, None) => {}
        (Some("iree"), Some(target)) => {
            let target: IreeTarget = target.parse().map_err(|e: Error| Failure::Usage(e.to_string()))?;
            return Ok(AnyBackend::new(Iree::default().target(target)));
        }
        (name, Some(_)) => {
            let name = name.unwrap_or("interp");
            return Err(Failure::Usage(format!("`{name}` has no targets; --target is for --backend iree")));
        }
    }
    let all = evoxc_backends::backends();
    let found = match name {
        Some(n) => all.iter().find(|b| b.name() == n),
        None => all.first(),
    };
    match (found, name) {
        (Some(b), _) => Ok(b.clone()),
        (None, Some("xla")) => Ok(AnyBackend::new(Xla::from_env()?)),
        // It also finds a compiler that the environment does not name.
        (None, Some("iree")) => Ok(AnyBackend::new(Iree::default())),
        (None, name) => {
            let names: Vec<&str> = all.iter().map(Backend::name).collect();
            let asked = name.map_or("no backend".into(), |n| format!("`{n}` is no backend that"));
            Err(Failure::Usage(format!("{asked} is compiled in; there are: {}", names.join(", "))))
        }
    }
}
