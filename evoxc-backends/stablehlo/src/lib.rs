//! StableHLO text, out and in.
//!
//! This crate owns the translation of modules to StableHLO ([`export`]) and of StableHLO and CHLO text to graphs
//! ([`import`]). It compiles and runs nothing: external compilers take its text.
//!
//! Text goes through two steps on its way in: `syntax` reads any form that MLIR prints into one plain tree, where every
//! op is in generic form; `import` writes graphs from that tree and knows no text.

pub mod checks;
pub mod expand;
mod export;
mod import;
pub mod syntax;

pub use export::{ExportOptions, export, export_module};
pub use import::{CheckSite, ImportOptions, Imported, ParallelSite, import, import_module, import_with};
