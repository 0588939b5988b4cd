//! What IREE compiles for, and the compiler's flags for it.

use evoxc_core::DeviceKind;
use std::fmt;

/// What a program is compiled for.
///
/// ```
/// use evoxc::IreeTarget;
/// assert_eq!(IreeTarget::default(), IreeTarget::LlvmCpu { cpu: "host".into() });
/// assert_eq!(IreeTarget::Cuda { arch: "sm_80".into() }.to_string(), "cuda sm_80");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IreeTarget {
    /// Machine code for a processor as LLVM names it: `host` for this one, `generic`, `znver4`, …
    LlvmCpu {
        /// The processor.
        cpu: String,
    },
    /// IREE's portable bytecode with a small library of kernels: runs anywhere, slowly.
    Vmvx,
    /// NVIDIA GPUs.
    Cuda {
        /// The architecture, such as `sm_80`.
        arch: String,
    },
    /// AMD GPUs.
    Hip {
        /// The architecture, such as `gfx942`.
        arch: String,
    },
    /// GPUs through Vulkan.
    Vulkan {
        /// The GPU as IREE names it (`ada`, `rdna3`, …); a common subset of features without it.
        gpu: Option<String>,
    },
    /// Apple's GPUs.
    Metal,
}

impl Default for IreeTarget {
    /// This processor.
    fn default() -> IreeTarget {
        IreeTarget::LlvmCpu { cpu: "host".into() }
    }
}

impl IreeTarget {
    /// The compiler's flags.
    pub(crate) fn flags(&self) -> Vec<String> {
        let local = |backend: &str| {
            vec![
                "--iree-hal-target-device=local".to_string(),
                format!("--iree-hal-local-target-device-backends={backend}"),
            ]
        };
        let device = |name: &str, more: Option<String>| {
            let mut out = vec![format!("--iree-hal-target-device={name}")];
            out.extend(more);
            out
        };
        match self {
            IreeTarget::LlvmCpu { cpu } => {
                let mut out = local("llvm-cpu");
                out.push(format!("--iree-llvmcpu-target-cpu={cpu}"));
                out
            }
            IreeTarget::Vmvx => local("vmvx"),
            IreeTarget::Cuda { arch } => device("cuda", Some(format!("--iree-cuda-target={arch}"))),
            IreeTarget::Hip { arch } => device("hip", Some(format!("--iree-rocm-target={arch}"))),
            IreeTarget::Vulkan { gpu } => device("vulkan", gpu.as_ref().map(|g| format!("--iree-vulkan-target={g}"))),
            IreeTarget::Metal => device("metal", None),
        }
    }
    /// The kind of device that programs for it run on.
    pub fn device_kind(&self) -> DeviceKind {
        match self {
            IreeTarget::LlvmCpu { .. } | IreeTarget::Vmvx => DeviceKind::Cpu,
            IreeTarget::Cuda { .. } => DeviceKind::Cuda,
            IreeTarget::Hip { .. } => DeviceKind::Rocm,
            IreeTarget::Vulkan { .. } => DeviceKind::Vulkan,
            IreeTarget::Metal => DeviceKind::Metal,
        }
    }
}

impl fmt::Display for IreeTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IreeTarget::LlvmCpu { cpu } => write!(f, "llvm-cpu {cpu}"),
            IreeTarget::Vmvx => f.write_str("vmvx"),
            IreeTarget::Cuda { arch } => write!(f, "cuda {arch}"),
            IreeTarget::Hip { arch } => write!(f, "hip {arch}"),
            IreeTarget::Vulkan { gpu: Some(gpu) } => write!(f, "vulkan {gpu}"),
            IreeTarget::Vulkan { gpu: None } => f.write_str("vulkan"),
            IreeTarget::Metal => f.write_str("metal"),
        }
    }
}
