//! Inputs from NumPy files.

use crate::Failure;
use crate::graph::{Port, find};
use crate::{npy, npz};
use evoxc_core::{Tensor, TensorSpec};
use std::path::Path;

/// The tensor of every input that one of `arguments` gives.
pub fn read(arguments: &[String], ports: &[Port]) -> Result<Vec<Option<Tensor>>, Failure> {
    let mut out = vec![None; ports.len()];
    let mut unnamed = vec![];
    for argument in arguments {
        match argument.split_once('=') {
            Some((key, file)) => put(&mut out, ports, key, one(file)?)?,
            None if is_archive(argument) => {
                for (key, tensor) in members(argument)? {
                    put(&mut out, ports, &key, tensor)?;
                }
            }
            None => unnamed.push(argument),
        }
    }
    // Files without a name are the inputs that no other argument names, in order.
    let mut free = out.iter_mut().filter(|slot| slot.is_none());
    for argument in unnamed {
        let Some(slot) = free.next() else {
            let message = format!("--input {argument}: every input of the graph is given already");
            return Err(Failure::Usage(message));
        };
        *slot = Some(one(argument)?);
    }
    Ok(out)
}

fn put(out: &mut [Option<Tensor>], ports: &[Port], key: &str, tensor: Tensor) -> Result<(), Failure> {
    let slot = find(ports, key).and_then(|i| out.get_mut(i));
    let Some(slot) = slot else {
        let names: Vec<String> = ports.iter().enumerate().map(|(i, p)| p.shown(i)).collect();
        let message = format!("the graph has no input `{key}`; it has: {}", names.join(", "));
        return Err(Failure::Usage(message));
    };
    if slot.replace(tensor).is_some() {
        return Err(Failure::Usage(format!("input `{key}` is given twice")));
    }
    Ok(())
}

fn is_archive(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|e| e == "npz")
}

/// The tensor of `FILE.npy`, of `FILE.npz:MEMBER`, or of an archive with a single member.
fn one(file: &str) -> Result<Tensor, Failure> {
    if let Some((archive, member)) = file.rsplit_once(':').filter(|(archive, _)| is_archive(archive)) {
        let found = members(archive)?.into_iter().find(|(name, _)| name == member);
        return found.map(|m| m.1).ok_or_else(|| Failure::Error(format!("{archive}: it has no member `{member}`")));
    }
    if is_archive(file) {
        let mut all = members(file)?;
        return match (all.pop(), all.is_empty()) {
            (Some((_, tensor)), true) => Ok(tensor),
            _ => Err(Failure::Usage(format!("{file} has not exactly one member; write {file}:MEMBER"))),
        };
    }
    npy::read(&bytes(file)?).map_err(|e| Failure::Error(format!("{file}: {e}")))
}

fn members(file: &str) -> Result<Vec<(String, Tensor)>, Failure> {
    npz::read(&bytes(file)?).map_err(|e| Failure::Error(format!("{file}: {e}")))
}

fn bytes(file: &str) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|e| Failure::Error(format!("{file}: {e}")))
}

/// Checks dtype and shape here, where the input's name is known; symbols are checked when the program runs.
pub fn check(spec: &TensorSpec, t: &Tensor, ports: &[Port], number: usize) -> Result<(), Failure> {
    let same = |(d, &n): (&evoxc_core::Dim, &usize)| !d.is_const() || d.get() == Some(n);
    let fits = t.dtype() == spec.dtype && t.rank() == spec.rank() && spec.shape.iter().zip(t.shape()).all(same);
    if fits {
        return Ok(());
    }
    let name = ports.get(number).map(|p| p.shown(number)).unwrap_or_default();
    Err(Failure::Error(format!("input {name}: expected {spec}, got {}", t.spec())))
}
