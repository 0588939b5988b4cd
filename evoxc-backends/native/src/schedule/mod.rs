//! From a module to kernels and the steps between them: which values become memory, and what is computed in one pass.
//!
//! `routine` walks the functions that run. `block` takes the ops of a region from the last to the first and decides, by
//! `cost`, which values are kept in memory; the others become part of a `group`, which is a kernel in the making: `expand`
//! says which elements of its operands an op needs, `build` makes the expressions of them, `finish` brings the kernel into
//! its final form.

mod block;
mod build;
mod combine;
mod cost;
mod display;
mod expand;
mod facts;
mod finish;
mod fusible;
mod group;
mod guards;
mod index;
mod inline;
mod items;
mod matmul;
mod random;
mod repeat;
mod routine;
mod split;
mod table;
mod types;
mod window;

pub use display::{Amount, Counters};
pub use repeat::join_loops;
pub use table::Row;
pub use types::{
    Block, Carried, Guard, Item, KernelItem, Length, LibraryItem, MatmulItem, Part, Repeat, Routine, Schedule, Slot,
};

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
    routine::routines(module, false)
}

/// As [`schedule`], with every value in memory and a kernel for each op: what other schedules are compared with.
///
/// ```
/// use evoxc::prelude::*;
/// use evoxc_native::schedule::schedule_apart;
/// let graph = trace(|x: Sym| x.exp() + x, spec(F32, [8]))?;
/// assert_eq!(schedule_apart(graph.module()).unwrap().counters().kernels, 2);
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// As [`schedule`].
pub fn schedule_apart(module: &Module) -> Result<Schedule, OpError> {
    routine::routines(module, true)
}

#[cfg(test)]
mod tests;
