//! The types of nodes and registers: a dtype, how many lanes of it, and whether it is memory of it.

use evoxc_core::DType;
use std::fmt;

/// The type of a [`UOp`](super::UOp) or of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ty {
    /// The dtype of every element.
    pub dtype: DType,
    /// Elements side by side; 1 is a scalar, 0 nothing at all.
    pub lanes: u8,
    /// Is it a pointer to such elements?
    pub pointer: bool,
}

impl Ty {
    /// The type of nodes that have an effect and no value.
    pub const VOID: Ty = Ty { dtype: DType::BOOL, lanes: 0, pointer: false };
    /// The type of indices.
    pub const INDEX: Ty = Ty::scalar(DType::I64);
    /// One element.
    pub const fn scalar(dtype: DType) -> Ty {
        Ty { dtype, lanes: 1, pointer: false }
    }
    /// Several elements.
    pub const fn vector(dtype: DType, lanes: u8) -> Ty {
        Ty { dtype, lanes, pointer: false }
    }
    /// Memory of elements.
    pub const fn memory(dtype: DType) -> Ty {
        Ty { dtype, lanes: 1, pointer: true }
    }
    /// The same number of lanes of another dtype.
    pub const fn with(self, dtype: DType) -> Ty {
        Ty { dtype, ..self }
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.lanes, self.pointer) {
            (0, _) => f.write_str("void"),
            (_, true) => write!(f, "{}*", self.dtype),
            (1, false) => write!(f, "{}", self.dtype),
            (n, false) => write!(f, "{}x{n}", self.dtype),
        }
    }
}
