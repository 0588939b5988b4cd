//! From a module to kernels and the steps between them: which values become memory, and what is computed in one pass.
//!
//! `routine` walks the functions that run, `steps` makes the items of a region.

mod routine;
mod steps;
mod types;

pub use types::{Block, Item, KernelItem, LibraryItem, MatmulItem, Routine, Schedule};

use evoxc_core::OpError;
use evoxc_ir::Module;

/// The schedule of a verified module.
///
/// ```
/// use evoxc::prelude::*;
/// use evoxc_native::schedule::{Item, schedule};
/// let graph = trace(|x: Sym| x.sort(0), spec(F32, [8]))?;
/// let schedule = schedule(graph.module()).unwrap();
/// assert!(matches!(schedule.routines[0].body.items[..], [Item::Library(_)]));
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// [`OpError`] for a call of a function that the module does not have, which a verified module does not hold.
pub fn schedule(module: &Module) -> Result<Schedule, OpError> {
    routine::routines(module)
}

#[cfg(test)]
mod tests;
