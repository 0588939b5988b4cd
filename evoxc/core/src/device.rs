//! Devices: where tensors live and executables run.

use crate::DeviceError;
use std::fmt;
use std::str::FromStr;

/// The kind of a [`Device`].
///
/// ```
/// use evoxc::{DeviceKind, prelude::*};
/// assert_eq!(Device::cuda(1).kind(), DeviceKind::Cuda);
/// assert!(devices().iter().any(|d| d.kind() == DeviceKind::Cpu));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DeviceKind {
    /// The host processor.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
    /// An AMD GPU (alias `hip`).
    Rocm,
    /// A Vulkan device.
    Vulkan,
    /// A tensor processor of Google's.
    Tpu,
    /// An Apple GPU.
    Metal,
}

/// A device: its kind and index.
///
/// ```
/// use evoxc::Device;
/// assert_eq!("hip:1".parse::<Device>().unwrap(), Device::rocm(1));
/// assert_eq!(Device::cpu().to_string(), "cpu:0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Device {
    kind: DeviceKind,
    index: u32,
}

impl Device {
    /// The host.
    pub const fn cpu() -> Device {
        Device { kind: DeviceKind::Cpu, index: 0 }
    }
    /// The `index`-th CUDA device.
    pub const fn cuda(index: u32) -> Device {
        Device { kind: DeviceKind::Cuda, index }
    }
    /// The `index`-th ROCm device.
    pub const fn rocm(index: u32) -> Device {
        Device { kind: DeviceKind::Rocm, index }
    }
    /// The same as [`Device::rocm`].
    pub const fn hip(index: u32) -> Device {
        Device::rocm(index)
    }
    /// The `index`-th Vulkan device.
    pub const fn vulkan(index: u32) -> Device {
        Device { kind: DeviceKind::Vulkan, index }
    }
    /// The `index`-th tensor processor.
    pub const fn tpu(index: u32) -> Device {
        Device { kind: DeviceKind::Tpu, index }
    }
    /// The `index`-th Apple GPU.
    pub const fn metal(index: u32) -> Device {
        Device { kind: DeviceKind::Metal, index }
    }
    /// The `index`-th device of a kind. Above 0, `cpu` is a device that a runtime makes of the host, as for tests of
    /// programs for several devices.
    pub const fn new(kind: DeviceKind, index: u32) -> Device {
        Device { kind, index }
    }
    /// The kind.
    pub const fn kind(self) -> DeviceKind {
        self.kind
    }
    /// The index among devices of its kind, from 0.
    pub const fn index(self) -> u32 {
        self.index
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            DeviceKind::Cpu => "cpu",
            DeviceKind::Cuda => "cuda",
            DeviceKind::Rocm => "rocm",
            DeviceKind::Vulkan => "vulkan",
            DeviceKind::Tpu => "tpu",
            DeviceKind::Metal => "metal",
        };
        write!(f, "{kind}:{}", self.index)
    }
}

impl FromStr for Device {
    type Err = DeviceError;
    /// Reads `cpu`, `cuda:1`, `rocm:0`, `hip:0`, `vulkan:0`, `tpu:0`, `metal:0`; without an index, 0.
    fn from_str(s: &str) -> Result<Device, DeviceError> {
        let bad = || DeviceError::Unknown(s.to_string());
        let (kind, index) = s.split_once(':').unwrap_or((s, "0"));
        let index = index.parse().map_err(|_| bad())?;
        match kind {
            "cpu" => Ok(Device::new(DeviceKind::Cpu, index)),
            "cuda" => Ok(Device::cuda(index)),
            "rocm" | "hip" => Ok(Device::rocm(index)),
            "vulkan" => Ok(Device::vulkan(index)),
            "tpu" => Ok(Device::tpu(index)),
            "metal" => Ok(Device::metal(index)),
            _ => Err(bad()),
        }
    }
}
