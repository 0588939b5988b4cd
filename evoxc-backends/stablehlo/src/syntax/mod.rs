//! The text of MLIR modules that hold StableHLO, CHLO and `func`, as one plain tree.
//!
//! It owns the grammar: whatever form an op was printed in, the tree has it in generic form. It knows no semantics.

pub mod ast;
