//! Memory for results of programs: the host's own vectors for small ones, blocks that the program uses again for large
//! ones, as fresh memory of the system costs as much time as a pass over it.

use super::library::reserve;
use super::memory::{Cells, Memory};
use evoxc_core::{Buffer, DType, Device, OpError, Resident, Result, RunError, Tensor, with_buffer};
use std::any::Any;
use std::sync::{Arc, Weak};

/// Results of at least so many bytes are in blocks.
const LARGE: usize = 1 << 20;

/// Blocks of results that nobody holds any more.
pub(crate) type Shelf = Cells<Memory, 8>;

/// Memory for a result of the program.
pub(crate) enum Made {
    /// A vector of the host, still empty.
    Buffer(Buffer),
    /// A block.
    Block(Block),
    /// That of an argument.
    Donated(u32),
    /// A block that came as an argument.
    Resident(Arc<dyn Resident>),
    /// Another result's, an argument's or a constant's.
    None,
}

/// A result in a block, which goes back to its program when nobody holds it any more.
pub(crate) struct Block {
    memory: Option<Box<Memory>>,
    dtype: DType,
    len: usize,
    shelf: Weak<Shelf>,
}

impl Block {
    fn start(&self) -> *mut u8 {
        self.memory.as_ref().map_or(std::ptr::dangling_mut(), |m| m.start())
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let (Some(memory), Some(shelf)) = (self.memory.take(), self.shelf.upgrade()) {
            shelf.put(memory);
        }
    }
}

impl Resident for Block {
    fn dtype(&self) -> DType {
        self.dtype
    }
    fn len(&self) -> usize {
        self.len
    }
    fn device(&self) -> Device {
        Device::cpu()
    }
    fn bytes(&self) -> Option<&[u8]> {
        // SAFETY: the run that made the tensor has written every element, and nobody writes while it is borrowed.
        Some(unsafe { std::slice::from_raw_parts(self.start(), self.len * self.dtype.size()) })
    }
    fn to_host(&self) -> Result<Buffer> {
        let mut buffer = reserve(self.dtype, self.len).ok_or_else(|| {
            let op = OpError::new("copy", format!("{} elements of {} do not fit into memory", self.len, self.dtype));
            evoxc_core::Error::from(RunError::Op(Box::new(op)))
        })?;
        with_buffer!(&mut buffer, v => {
            // SAFETY: there is room for `len` elements, and as many are at the start, all of them values of the dtype.
            unsafe {
                std::ptr::copy_nonoverlapping(self.start(), v.as_mut_ptr().cast(), self.len * self.dtype.size());
                v.set_len(self.len);
            }
        });
        Ok(buffer)
    }
}

/// New memory for `n` elements, and where it is; `None` where there is not enough.
pub(crate) fn fresh(shelf: &Arc<Shelf>, dtype: DType, n: usize) -> Option<(Made, *mut u8)> {
    let bytes = n.checked_mul(dtype.size())?;
    if bytes < LARGE {
        let mut buffer = reserve(dtype, n)?;
        let at = with_buffer!(&mut buffer, v => v.as_mut_ptr().cast());
        return Some((Made::Buffer(buffer), at));
    }
    let kept = shelf.take(|m| m.size() >= bytes && m.size() / 2 <= bytes);
    let memory = match kept {
        Some(m) => m,
        None => Box::new(Memory::new(bytes)?),
    };
    let block = Block { memory: Some(memory), dtype, len: n, shelf: Arc::downgrade(shelf) };
    let at = block.start();
    Some((Made::Block(block), at))
}

/// The memory of an argument, if it has no other owner, and where it is.
pub(crate) fn donated(args: &mut [Tensor], i: u32) -> Option<(Made, *mut u8)> {
    let arg = args.get_mut(i as usize)?;
    if arg.resident().is_none() {
        let at = with_buffer!(arg.buffer_mut()?, v => v.as_mut_ptr().cast());
        return Some((Made::Donated(i), at));
    }
    let shape: smallvec::SmallVec<[usize; 4]> = arg.shape().into();
    match std::mem::replace(arg, Tensor::from(false)).into_resident() {
        Err(t) => *arg = t,
        Ok(mut held) => {
            let block = Arc::get_mut(&mut held).and_then(|r| (r as &mut dyn Any).downcast_mut::<Block>());
            if let Some(b) = block {
                let at = b.start();
                return Some((Made::Resident(held), at));
            }
            if let Some(t) = Tensor::from_resident(held, &shape) {
                *arg = t;
            }
        }
    }
    None
}

/// The tensor of memory that steps have filled.
///
/// # Safety
/// Every element has been written.
pub(crate) unsafe fn finished(made: Made, n: usize, shape: &[usize]) -> Option<Tensor> {
    match made {
        Made::Buffer(mut buffer) => {
            // SAFETY: it was reserved for `n` elements, all of which are written.
            with_buffer!(&mut buffer, v => unsafe { v.set_len(n) });
            Tensor::from_parts(buffer, shape)
        }
        Made::Block(block) => Tensor::from_resident(Arc::new(block), shape),
        Made::Resident(held) => Tensor::from_resident(held, shape),
        Made::Donated(_) | Made::None => None,
    }
}
