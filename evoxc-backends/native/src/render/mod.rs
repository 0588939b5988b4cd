//! Renderers: what makes a [`Lir`] run.

mod c;
mod interp;
pub mod library;
#[cfg(test)]
pub(crate) mod suite;
#[cfg(all(unix, target_arch = "x86_64"))]
pub mod x86;

pub use c::C;
pub use interp::Interp;

use crate::lir::Lir;
use crate::uop::Alu;
use evoxc_core::{DType, Result};
use std::sync::Arc;

/// What a renderer can do with vectors; scalars it can do all with.
#[derive(Clone, Copy)]
pub struct Target {
    /// Lanes of vectors whose dtypes all have at most 32 bits: 16 or 8; 1 where there are no vectors.
    pub lanes: u8,
    /// Lanes of the vectors of a loop in which a dtype of 64 bits appears.
    pub wide: u8,
    /// Vector registers.
    pub registers: u8,
    /// How many there are for vectors of 16 lanes.
    pub more: u8,
    /// Has it the op on vectors of that dtype?
    pub alu: fn(Alu, DType) -> bool,
    /// Has it the conversion between vectors?
    pub cast: fn(DType, DType) -> bool,
}

/// Makes code of kernels.
pub trait Renderer: Send + Sync {
    /// Its name: `interp`, `x86-64`, `c`.
    fn name(&self) -> &'static str;
    /// What it can do.
    fn target(&self) -> Target;
    /// Code for one kernel.
    ///
    /// # Errors
    /// What the renderer's tools report; [`evoxc_core::BackendError`] for a LIR that breaks the form.
    fn compile(&self, kernel: &Lir) -> Result<Arc<dyn Code>>;
    /// Code for several, in their order: at once where that is cheaper than one by one.
    ///
    /// # Errors
    /// As [`Renderer::compile`], for the first that fails.
    fn compile_all(&self, kernels: &[&Lir]) -> Result<Vec<Arc<dyn Code>>> {
        kernels.iter().map(|kernel| self.compile(kernel)).collect()
    }
    /// Code from what [`Code::bytes`] gave, on a host of the same kind.
    ///
    /// # Errors
    /// For bytes that are no such code.
    fn load(&self, kernel: &Lir, bytes: &[u8]) -> Result<Arc<dyn Code>>;
}

/// A kernel that can run.
pub trait Code: Send + Sync {
    /// Runs iterations `begin` to below `end` of the outermost loop.
    ///
    /// # Safety
    /// `buffers` points to a pointer for every buffer of the LIR, `params` to its parameters, `scratch` to a pointer for
    /// every scratch memory; each reaches as many elements as the kernel loads and stores for these iterations, none overlap
    /// but as the kernel allows, no one else writes what is read here or reads or writes what is written.
    unsafe fn run(&self, buffers: *const *mut u8, params: *const i64, scratch: *const *mut u8, begin: i64, end: i64);
    /// The code as bytes, for files; empty where it is made again from the LIR.
    fn bytes(&self) -> Vec<u8>;
    /// The code as text, for people: assembly, or source.
    fn text(&self) -> String;
}
