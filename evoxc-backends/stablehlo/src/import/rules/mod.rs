//! The rules of the import, one file a group of ops. A rule reads an op's attributes and appends ops of the graph.

pub(super) mod checks;
pub(super) mod chlo;
pub(super) mod collective;
pub(super) mod contraction;
pub(super) mod control;
pub(super) mod custom_call;
pub(super) mod dynamic;
pub(super) mod elementwise;
pub(super) mod indexing;
pub(super) mod lapack;
pub(super) mod linalg;
pub(super) mod norm;
pub(super) mod ordering;
pub(super) mod probes;
pub(super) mod ragged;
pub(super) mod random;
pub(super) mod reduction;
pub(super) mod shape;
