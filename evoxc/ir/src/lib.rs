//! The graph language of evoxc: one table of primitive ops, modules of functions, and what can be said of them without
//! running anything: types, verification, text, files, simplification.
//!
//! This crate owns what a program *is*. It knows no backend, no tracer, and never executes.

mod attr;
mod container;
mod dims;
mod dot;
mod equality;
mod groups;
mod infer;
mod labels;
mod lex;
mod literal;
mod module;
mod op;
mod parse;
mod print;
mod simplify;
mod specialize;
mod verify;

pub use attr::{
    Algorithm, Attr, AttrValue, AxisPair, ConvLayout, CumOp, Direction, FftKind, Flag, FuncRef, GatherDims, Grouping,
    LinTranspose, Literal, Padding, Rank, Reducer, ReplicaGroups, ScatterDims, ScatterOp, SelectOp, SortKeys,
    SortOrder, Window,
};
pub use container::GraphFile;
pub use infer::{RegionType, Types, infer};
pub use literal::{parse_literal, parse_type};
pub use module::{Func, MAX_REGION_DEPTH, Module, Name, Op, Region, TensorType, Value, ValueInfo};
pub use op::{Binary, Category, OpRow, Prim, TABLE, Unary};
pub use simplify::simplify;
