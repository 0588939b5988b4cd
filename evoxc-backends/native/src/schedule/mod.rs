//! From a module to kernels and the steps between them: which values become memory, and what is computed in one pass.

mod types;

pub use types::{Block, Item, KernelItem, LibraryItem, MatmulItem, Routine, Schedule};

use evoxc_core::OpError;
use evoxc_ir::Module;

/// The schedule of a verified module.
///
/// # Errors
/// [`OpError`] for an op that nothing here can run, with what to do instead.
pub fn schedule(module: &Module) -> Result<Schedule, OpError> {
    let _ = module;
    Err(OpError::new("schedule", "not there yet"))
}
