//! Tensor programs as ordinary Rust functions, held as explicit typed graphs.
//!
//! A function marked [`#[defn]`](macro@defn) takes and gives [`Sym`]s. [`trace`] runs it once on symbols; what it did is
//! a [`Graph`]: a value that prints, saves, and is lowered, compiled and loaded on a [`Backend`] step by step. Nothing
//! runs, casts, copies or falls back behind your back.
//!
//! ```
//! use evoxc::prelude::*;
//!
//! /// Row sums of tanh(x·w).
//! #[defn]
//! fn f(x: Sym, w: Sym) -> Sym {
//!     x.dot(w).tanh().sum(1)
//! }
//!
//! # fn main() -> evoxc::Result<()> {
//! let graph = trace(f, (spec(F32, [4, 8]), spec(F32, [8, 4])))?;
//! println!("{graph}");
//! let exe = graph.lower(&Interp)?.compile()?.load(Device::cpu())?;
//! let y = exe.run((Tensor::ones(F32, [4, 8]), Tensor::ones(F32, [8, 4])))?;
//! assert_eq!(y.to_vec::<f32>()?, [3.999999; 4]);
//! # Ok(())
//! # }
//! ```
//!
//! Where to look: [`Sym`] for the operations, [`trace()`] and [`Graph`] for programs, [`Tree`](trait@Tree) for structured
//! inputs, [`cond`] and its neighbours for control flow, [`Executable`] for running, [`Error`] for what can go wrong.

extern crate self as evoxc;

#[doc(inline)]
pub use evoxc_backends::{
    Interp, Iree, IreeArtifact, IreeProgram, IreeTarget, MemoCounts, Native, NativeArtifact, NativeProgram, Precision,
    Replicas, Xla, XlaArtifact, XlaFlag, XlaProgram, backends, devices,
};
#[doc(inline)]
pub use evoxc_core::{
    ArgAt, Axes, AxisInt, BF16, BOOL, BackendError, Buffer, BufferElement, C64, C128, DType, Device, DeviceError,
    DeviceKind, Dim, DimError, DimLike, DimStep, Dyn, Element, Error, F16, F32, F64, Flatten, I8, I16, I32, I64,
    ImportError, IntoAxes, IntoShape, IrError, Keep, Leaf, Loc, OpError, ParseError, PersistenceError, Resident,
    Result, RunError, Scalar, Shape, SliceItem, Slices, StaticValue, Tensor, TensorError, TensorSpec, TraceErrors,
    TransformError, Tree, TreeDef, TreeError, TreeKind, TreeToken, U8, U16, U32, U64, Unflatten, Unsupported, dim,
    keep, spec,
};
#[doc(inline)]
pub use evoxc_macros::{Tree, defn, s};
#[doc(inline)]
pub use evoxc_stage::{
    AnyBackend, Backend, CacheKey, Capabilities, CompileCache, CompileKey, CompiledArtifact, Executable, FileCache,
    LoweredProgram, OptLevel, Profile, ProfileStep, Program, Signature,
};
#[doc(inline)]
pub use evoxc_trace::{
    Attention, Branch, Conv, CrossEntropy, Graph, GraphFn, GraphMark, Interpolation, MatrixNorm, Operand, Opnd,
    Reduction, Rope, SpecializationCache, Sym, arange, branch, build, build_cached, build_cached_as, concat, cond,
    constant, einsum, evaluate, eye, fail, fori_loop, full, iota, linspace, map, meshgrid, multi_dot, ones,
    optimization_barrier, scan, scan_n, scan_reverse, stack, switch, trace, while_loop, zeros,
};
#[doc(inline)]
pub use evoxc_trace::{dist, random};

#[doc(inline)]
pub use evoxc_transform::{
    Alignment, Bands, BatchFunctions, BatchReport, BatchedGraph, Checkpoint, CustomJvp, CustomVjp, Grad, Grad2,
    GradAll, Hessian, Hvp, JacFwd, JacRev, Jvp, SwitchOps, ValueAndGrad, ValueAndGrad2, ValueAndGradAll, Via, Vjp,
    Vmap, batch_functions, batch_functions_of, checkpoint, custom_jvp, custom_vjp, grad, hessian, hvp, jacfwd, jacrev,
    jvp, value_and_grad, vjp, vmap,
};

/// StableHLO text, out and in: what other compilers and frameworks speak.
pub mod stablehlo {
    #[doc(inline)]
    pub use evoxc_backends::stablehlo::{
        CheckSite, ExportOptions, ImportOptions, Imported, ParallelSite, export, export_module, import, import_with,
    };
}

/// The graph language itself: modules, ops, their table. For tools that read or write graphs.
pub mod ir {
    #[doc(inline)]
    pub use evoxc_ir::{
        Algorithm, Attr, AttrValue, AxisPair, Binary, Category, ConvLayout, CumOp, Direction, FftKind, Flag, Func,
        FuncRef, GatherDims, GraphFile, Grouping, LinTranspose, Literal, MAX_REGION_DEPTH, Module, Name, Op, OpRow,
        Padding, Prim, Rank, Reducer, Region, RegionType, ReplicaGroups, ScatterDims, ScatterOp, SelectOp, SortKeys,
        SortOrder, TABLE, TensorType, Unary, Value, ValueInfo, Window, infer, parse_literal, parse_type, simplify,
    };
}

/// What a program needs: `use evoxc::prelude::*;`.
pub mod prelude {
    #[doc(no_inline)]
    pub use crate::{Alignment, Bands, SwitchOps, batch_functions, batch_functions_of};
    #[doc(no_inline)]
    pub use crate::{
        Attention, BF16, BOOL, Backend, C64, C128, CompiledArtifact, Conv, CrossEntropy, DType, Device, Dim, Dyn,
        Executable, F16, F32, F64, Graph, GraphFn, I8, I16, I32, I64, Interp, LoweredProgram, Native, OptLevel, Rope,
        Shape, Sym, Tensor, TensorSpec, Tree, U8, U16, U32, U64, arange, backends, branch, build, concat, cond,
        constant, defn, devices, dim, einsum, evaluate, eye, fori_loop, full, iota, keep, linspace, map, ones, random,
        s, scan, spec, stack, switch, trace, while_loop, zeros,
    };
    #[doc(no_inline)]
    pub use crate::{
        checkpoint, custom_jvp, custom_vjp, grad, hessian, hvp, jacfwd, jacrev, jvp, value_and_grad, vjp, vmap,
    };
}

#[doc(hidden)]
pub use evoxc_trace::__private;

/// The README's code runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// So does that of the pages on the native compiler, on models and on XLA.
#[cfg(doctest)]
#[doc = include_str!("../../docs/native.md")]
struct NativePage;

#[cfg(doctest)]
#[doc = include_str!("../../docs/running-jax-and-pytorch-models.md")]
struct Models;

#[cfg(doctest)]
#[doc = include_str!("../../docs/xla.md")]
struct XlaPage;
