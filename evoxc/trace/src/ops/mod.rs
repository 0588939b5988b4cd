//! The methods of `Sym` and the free functions beside them: thin ones over primitives, and composites.

mod elementwise;
