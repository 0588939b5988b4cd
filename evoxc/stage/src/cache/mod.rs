//! Caches, which a program makes and holds itself: [`CompileCache`] of executables in memory, [`FileCache`] of lowered
//! programs and artifacts in a folder.

mod files;
mod key;
mod memory;

pub use files::FileCache;
pub use key::{CacheKey, CompileKey};
pub use memory::CompileCache;
