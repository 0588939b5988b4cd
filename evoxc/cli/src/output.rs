//! Results: as text, `.npy`, `.npz`, or a folder of `.npy` files.

use crate::graph::Port;
use crate::{Failure, npy, npz};
use evoxc_core::Tensor;
use std::collections::HashSet;
use std::path::Path;

/// Refuses, before any work, a place that cannot hold the results.
pub fn check(path: &Path, results: usize) -> Result<(), Failure> {
    if is(path, "npy") && results != 1 {
        let message = format!("{}: a .npy file holds one result, the graph has {results}", path.display());
        return Err(Failure::Usage(format!("{message}; write a .npz file or a folder")));
    }
    Ok(())
}

/// Writes the results.
pub fn save(path: &Path, ports: &[Port], results: &[Tensor]) -> Result<(), Failure> {
    let failed = |e: &dyn std::fmt::Display| Failure::Error(format!("{}: {e}", path.display()));
    let write = |path: &Path, bytes: &[u8]| std::fs::write(path, bytes).map_err(|e| failed(&e));
    if is(path, "npy") {
        return results.iter().try_for_each(|t| write(path, &npy::write(t)));
    }
    let members: Vec<(String, Tensor)> = names(ports).into_iter().zip(results.iter().cloned()).collect();
    if is(path, "npz") {
        return write(path, &npz::write(&members).map_err(|e| failed(&e))?);
    }
    std::fs::create_dir_all(path).map_err(|e| failed(&e))?;
    members.iter().try_for_each(|(name, t)| write(&path.join(format!("{name}.npy")), &npy::write(t)))
}

/// The results as text, one a line.
pub fn text(ports: &[Port], results: &[Tensor]) -> String {
    names(ports).iter().zip(results).map(|(name, t)| format!("{name}: {t}\n")).collect()
}

fn is(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|e| e == extension)
}

/// One name a result: the value's own where it is unique and plain enough for a file's name, else its number.
fn names(ports: &[Port]) -> Vec<String> {
    let mut seen = HashSet::new();
    let plain = |n: &str| {
        n.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && n.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
    };
    let name = |(i, p): (usize, &Port)| match p.name.as_deref().filter(|n| plain(n)) {
        Some(n) if seen.insert(n.to_string()) => n.to_string(),
        _ => i.to_string(),
    };
    ports.iter().enumerate().map(name).collect()
}
