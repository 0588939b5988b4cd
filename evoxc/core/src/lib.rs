//! The types that every layer of evoxc shares: [`DType`], [`Dim`], [`Shape`], [`Device`], host [`Tensor`]s,
//! [`Tree`]s of leaves, and [`Error`].
//!
//! This crate owns data and its description. It knows no graph, no tracer and no backend.

mod args;
mod buffer;
mod device;
mod dim;
mod dtype;
mod error;
mod import_error;
mod loc;
mod resident;
mod round;
mod scalar;
mod shape;
mod tensor;
mod tree;

pub use args::{Axes, AxisInt, IntoAxes, Keep, SliceItem, Slices, keep};
pub use buffer::{Buffer, BufferElement};
pub use device::{Device, DeviceKind};
pub use dim::{Dim, DimError, DimLike, DimStep, dim};
pub use dtype::{BF16, BOOL, C64, C128, DType, Element, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
pub use error::{
    BackendError, DeviceError, Error, IrError, OpError, ParseError, PersistenceError, Result, RunError, TensorError,
    TraceErrors, TransformError, TreeError,
};
pub use import_error::{ImportError, Unsupported};
pub use loc::Loc;
pub use resident::{Resident, Transfer, register_transfer};
pub use round::{bf16_from_f64, bf16_from_int, f16_from_f64, f16_from_int};
pub use scalar::Scalar;
pub use shape::{IntoShape, Shape, TensorSpec, spec};
pub use tensor::Tensor;
pub use tree::{ArgAt, Dyn, Flatten, Leaf, MAX_TREE_DEPTH, StaticValue, Tree, TreeDef, TreeKind, TreeToken, Unflatten};

#[doc(hidden)]
pub mod __private {
    pub use crate::tensor::{Eager, TensorArithmetic};
    pub use crate::tree::static_text;
}
