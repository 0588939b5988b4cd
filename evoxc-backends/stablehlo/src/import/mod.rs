//! From the tree of StableHLO and CHLO text to graphs.
//!
//! It owns the meaning of every op, as ops of the IR: one table from names to rules. It reads no text.

mod attrs;
mod combiner;
mod comparator;
mod entry;
mod extents;
mod fault;
mod item;
mod known;
mod options;
mod rules;
mod table;
mod types;
mod walk;

pub use entry::{import, import_module, import_with};
pub use options::{CheckSite, ImportOptions, Imported, ParallelSite};
