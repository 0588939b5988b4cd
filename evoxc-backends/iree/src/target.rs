//! What IREE compiles for, and the compiler's flags for it.

use crate::error::error_with;
use evoxc_core::{DType, DeviceKind, Error, Result, TensorSpec};
use evoxc_ir::Module;
use std::fmt;
use std::str::FromStr;

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
        /// The GPU as IREE names it (`ada`, `rdna3`, …); a common subset of features without it, in which there is no f16,
        /// no f64, and tensors of 8-bit elements fill words.
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
    /// The dtypes that programs for it may have.
    pub(crate) fn dtypes(&self) -> Vec<DType> {
        // Without a named GPU the compiler refuses f64, and what it makes of f16 gives wrong values.
        let absent: &[DType] = if self.is_common() { &[DType::F16, DType::F64] } else { &[] };
        DType::ALL.iter().copied().filter(|d| !d.is_complex() && !absent.contains(d)).collect()
    }
    /// Vulkan without a named GPU, whose programs access memory in words of 4 bytes?
    fn is_common(&self) -> bool {
        matches!(self, IreeTarget::Vulkan { gpu: None })
    }
    /// Refuses programs that would be compiled to something that gives wrong values.
    pub(crate) fn check(&self, module: &Module) -> Result<()> {
        let Some(main) = module.main().filter(|_| self.is_common()) else { return Ok(()) };
        let refuse = |message: String| {
            let remedy = "name the GPU, as in `IreeTarget::Vulkan { gpu: Some(\"ampere\".into()) }`, or cast";
            Err(error_with("lower", message, remedy))
        };
        let (dtypes, mut values) = (self.dtypes(), module.funcs.iter().flat_map(|f| &f.values));
        if let Some(v) = values.find(|v| !dtypes.contains(&v.ty.dtype)) {
            return refuse(format!("the program has a {}, which Vulkan without a named GPU does not take", v.ty));
        }
        // Elements beyond the last whole word of an input or output are not accessed.
        let fills = |t: &TensorSpec| {
            let elements = t.shape.to_static().map(|s| s.iter().product::<usize>());
            t.dtype.size() > 1 || elements.is_some_and(|n| n % 4 == 0)
        };
        let (inputs, outputs) = (main.inputs(), main.outputs());
        let inputs = inputs.iter().enumerate().map(|(i, t)| ("input", i, t));
        let outputs = outputs.iter().enumerate().map(|(i, t)| ("output", i, t));
        match inputs.chain(outputs).find(|(_, _, t)| !fills(t)) {
            None => Ok(()),
            Some((what, i, t)) => refuse(format!(
                "{what} {i}, {t}, may not fill words of 4 bytes, in which Vulkan without a named GPU accesses memory"
            )),
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

impl FromStr for IreeTarget {
    type Err = Error;

    /// Reads what a target prints, with a colon or a space before the processor: `cuda:sm_80`.
    ///
    /// ```
    /// use evoxc::IreeTarget;
    /// assert_eq!("vulkan:ampere".parse::<IreeTarget>()?, IreeTarget::Vulkan { gpu: Some("ampere".into()) });
    /// let e = "cuda".parse::<IreeTarget>().unwrap_err().to_string();
    /// assert_eq!(e, "backend iree: target: `cuda` names no architecture; write `cuda:sm_80`");
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    fn from_str(text: &str) -> Result<IreeTarget> {
        let (name, of) = text.split_once([':', ' ']).unwrap_or((text, ""));
        let own = || (!of.is_empty()).then(|| of.to_string());
        let arch = |such: &str| {
            let missing = || error_with("target", format!("`{text}` names no architecture"), format!("write `{such}`"));
            own().ok_or_else(missing)
        };
        match (name, of) {
            ("llvm-cpu", "") => Ok(IreeTarget::default()),
            ("llvm-cpu", cpu) => Ok(IreeTarget::LlvmCpu { cpu: cpu.into() }),
            ("vmvx", "") => Ok(IreeTarget::Vmvx),
            ("cuda", _) => Ok(IreeTarget::Cuda { arch: arch("cuda:sm_80")? }),
            ("hip", _) => Ok(IreeTarget::Hip { arch: arch("hip:gfx942")? }),
            ("vulkan", _) => Ok(IreeTarget::Vulkan { gpu: own() }),
            ("metal", "") => Ok(IreeTarget::Metal),
            _ => {
                let known = "llvm-cpu, llvm-cpu:PROCESSOR, vmvx, cuda:ARCH, hip:ARCH, vulkan, vulkan:GPU, metal";
                Err(error_with("target", format!("there is no target `{text}`"), format!("there are {known}")))
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_read_what_they_print() {
        let some = |s: &str| Some(s.to_string());
        let all = [
            IreeTarget::default(),
            IreeTarget::LlvmCpu { cpu: "generic".into() },
            IreeTarget::Vmvx,
            IreeTarget::Cuda { arch: "sm_80".into() },
            IreeTarget::Hip { arch: "gfx942".into() },
            IreeTarget::Vulkan { gpu: None },
            IreeTarget::Vulkan { gpu: some("ampere") },
            IreeTarget::Metal,
        ];
        for target in all {
            let shown = target.to_string();
            assert_eq!(shown.parse::<IreeTarget>().unwrap(), target);
            assert_eq!(shown.replacen(' ', ":", 1).parse::<IreeTarget>().unwrap(), target);
        }
        assert_eq!("llvm-cpu".parse::<IreeTarget>().unwrap(), IreeTarget::default());
        for wrong in ["", "cpu", "vmvx:2", "metal:3", "hip", "hip:"] {
            assert!(wrong.parse::<IreeTarget>().is_err(), "{wrong}");
        }
    }
}
