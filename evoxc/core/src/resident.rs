//! Memory that a runtime holds, and the one way tensors move between devices.
//!
//! Host tensors are `Vec`s of this crate. The results of an external runtime stay where it made them: behind [`Resident`],
//! in memory of the host (readable in place) or of a device. Runtimes say with [`register_transfer`] which devices
//! [`Tensor::to`](crate::Tensor::to) can move tensors to.

use crate::{Buffer, DType, Device, DeviceError, Result, Tensor};
use std::any::Any;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// The memory of one tensor, held by a runtime.
///
/// Implemented by backends; a tensor over it is made by [`Tensor::from_resident`].
pub trait Resident: Any + Send + Sync {
    /// The dtype of the elements.
    fn dtype(&self) -> DType;
    /// The number of elements.
    fn len(&self) -> usize;
    /// No elements?
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Where the memory is.
    fn device(&self) -> Device;
    /// The elements in row-major order and the machine's byte order, read in place; `None` where the memory is not the
    /// host's.
    fn bytes(&self) -> Option<&[u8]>;
    /// A copy of the elements on the host.
    ///
    /// # Errors
    /// What the runtime reports.
    fn to_host(&self) -> Result<Buffer>;
}

/// Moves tensors to the devices of a runtime.
pub trait Transfer: Send + Sync {
    /// The tensor's memory on `device`, which the transfer was registered for and the tensor is not on.
    ///
    /// # Errors
    /// What the runtime reports.
    fn transfer(&self, tensor: &Tensor, device: Device) -> Result<Arc<dyn Resident>>;
}

static TRANSFERS: RwLock<Vec<(Device, Arc<dyn Transfer>)>> = RwLock::new(Vec::new());

/// For backends: from now on [`Tensor::to`](crate::Tensor::to) moves tensors to `device` this way. The first runtime that
/// claims a device keeps it.
pub fn register_transfer(device: Device, transfer: Arc<dyn Transfer>) {
    let mut list = TRANSFERS.write().unwrap_or_else(PoisonError::into_inner);
    if list.iter().all(|(d, _)| *d != device) {
        list.push((device, transfer));
    }
}

/// A tensor's memory on another device.
pub(crate) fn transfer(tensor: &Tensor, device: Device) -> Result<Arc<dyn Resident>> {
    let list = TRANSFERS.read().unwrap_or_else(PoisonError::into_inner);
    let found = list.iter().find(|(d, _)| *d == device).map(|(_, t)| t.clone());
    drop(list);
    let reason = || "no backend in use moves tensors there".to_string();
    found.ok_or_else(|| DeviceError::Unavailable { device, reason: reason() })?.transfer(tensor, device)
}

/// What a tensor shares: memory of a runtime, and its copy as host storage, if something needed one.
pub(crate) struct Held {
    pub(crate) memory: Arc<dyn Resident>,
    copy: OnceLock<Arc<Buffer>>,
}

impl Held {
    pub(crate) fn new(memory: Arc<dyn Resident>) -> Held {
        Held { memory, copy: OnceLock::new() }
    }
    /// The elements as host storage: copied at the first call. Empty for memory of another device.
    pub(crate) fn buffer(&self) -> &Arc<Buffer> {
        self.copy.get_or_init(|| {
            let here = self.memory.bytes().is_some();
            let copied = here.then(|| self.memory.to_host().ok()).flatten();
            Arc::new(copied.unwrap_or_else(|| Buffer::zeros(self.memory.dtype(), 0)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Truth values that are none, which no copy can be made of.
    struct Damaged;
    impl Resident for Damaged {
        fn dtype(&self) -> DType {
            DType::BOOL
        }
        fn len(&self) -> usize {
            3
        }
        fn device(&self) -> Device {
            Device::cpu()
        }
        fn bytes(&self) -> Option<&[u8]> {
            Some(&[0, 1, 2])
        }
        fn to_host(&self) -> Result<Buffer> {
            Err(crate::RunError::Op(Box::new(crate::OpError::new("copy", "bytes that are no values"))).into())
        }
    }

    #[test]
    fn memory_that_cannot_be_read_is_an_error_and_not_empty() {
        let t = Tensor::from_resident(Arc::new(Damaged), &[3]).unwrap();
        let wrong = |e: crate::Error| assert!(e.to_string().contains("bytes that are no values"), "{e}");
        wrong(t.to_vec::<bool>().unwrap_err());
        wrong(t.view::<bool>().unwrap_err());
        wrong(t.cast(DType::F32).unwrap_err());
        assert!(t.clone().into_ndarray::<bool>().is_err() && t.to_string().contains("on cpu"), "{t}");
    }
}
