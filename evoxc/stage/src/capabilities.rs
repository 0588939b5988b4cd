//! What a backend says it can take.

use evoxc_core::{DType, DeviceKind};

/// What a backend can take, for choosing one and for tests that skip what it cannot. A program that asks for more is
/// refused when it is lowered, with an error that names the op.
///
/// ```
/// use evoxc::{Capabilities, DeviceKind, F32};
/// let c = Capabilities { dtypes: vec![F32], ..Capabilities::none(DeviceKind::Cpu) };
/// assert!(c.dtypes.contains(&F32) && !c.symbolic_dims);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The kind of device that its programs run on.
    pub device: DeviceKind,
    /// The element types of inputs, outputs and intermediate values.
    pub dtypes: Vec<DType>,
    /// One executable serves every value of symbolic extents.
    pub symbolic_dims: bool,
    /// A uniquely owned input may be reused for an output.
    pub donation: bool,
    /// The collective ops.
    pub collectives: bool,
    /// `external_call` and named blocks with kernels of their own.
    pub custom_calls: bool,
    /// The random ops, bit-equal to the reference.
    pub random: bool,
    /// `fft`, `cholesky`, `triangular_solve`, `lu`, `qr`, `eigh`, `svd`.
    pub linalg: bool,
    /// `cond`, `switch`, `while_loop`, `scan` with bodies that stay loops.
    pub control_flow: bool,
    /// The debug callback `print`.
    pub print: bool,
    /// Lowered programs can be saved.
    pub lowered_files: bool,
    /// Compiled artifacts can be saved.
    pub artifact_files: bool,
}

impl Capabilities {
    /// No capability at all, on a kind of device: the base for struct update.
    pub const fn none(device: DeviceKind) -> Capabilities {
        Capabilities {
            device,
            dtypes: Vec::new(),
            symbolic_dims: false,
            donation: false,
            collectives: false,
            custom_calls: false,
            random: false,
            linalg: false,
            control_flow: false,
            print: false,
            lowered_files: false,
            artifact_files: false,
        }
    }
    /// Every capability and dtype, on a kind of device.
    pub fn all(device: DeviceKind) -> Capabilities {
        Capabilities {
            device,
            dtypes: DType::ALL.to_vec(),
            symbolic_dims: true,
            donation: true,
            collectives: true,
            custom_calls: true,
            random: true,
            linalg: true,
            control_flow: true,
            print: true,
            lowered_files: true,
            artifact_files: true,
        }
    }
}
