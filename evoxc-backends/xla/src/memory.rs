//! Memory of one tensor, held by a client: made from host data, or an output of a program.

use crate::client::{Client, Place};
use crate::error::{Stage, error};
use crate::event::Event;
use crate::ffi::{
    Args, PJRT_Buffer, PJRT_Buffer_DecreaseExternalReferenceCount_Args, PJRT_Buffer_Destroy_Args,
    PJRT_Buffer_Dimensions_Args, PJRT_Buffer_ElementType_Args, PJRT_Buffer_GetMemoryLayout_Args,
    PJRT_Buffer_IncreaseExternalReferenceCount_Args, PJRT_Buffer_MemoryLayout, PJRT_Buffer_MemoryLayout__bindgen_ty_1,
    PJRT_Buffer_MemoryLayout_Tiled, PJRT_Buffer_MemoryLayout_Type_Tiled,
    PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args, PJRT_Buffer_ReadyEvent_Args, PJRT_Buffer_ToHostBuffer_Args,
    PJRT_Buffer_Type_BF16, PJRT_Buffer_Type_C64, PJRT_Buffer_Type_C128, PJRT_Buffer_Type_F16, PJRT_Buffer_Type_F32,
    PJRT_Buffer_Type_F64, PJRT_Buffer_Type_PRED, PJRT_Buffer_Type_S8, PJRT_Buffer_Type_S16, PJRT_Buffer_Type_S32,
    PJRT_Buffer_Type_S64, PJRT_Buffer_Type_U8, PJRT_Buffer_Type_U16, PJRT_Buffer_Type_U32, PJRT_Buffer_Type_U64,
    PJRT_Client_BufferFromHostBuffer_Args, PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
    PJRT_HostBufferSemantics_kImmutableZeroCopy, PJRT_HostBufferSemantics_kMutableZeroCopy, call, slot,
};
use evoxc_core::{Buffer, BufferElement, DType, Device, Resident, Result, Tensor, with_buffer, with_dtype};
use std::any::Any;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

/// Below this many bytes host data is copied in while the call lasts: keeping it alive for the plugin costs more.
const COPIED: usize = 4096;

/// A buffer of a client.
pub(crate) struct Memory {
    client: Arc<Client>,
    raw: NonNull<PJRT_Buffer>,
    dtype: DType,
    len: usize,
    device: Device,
    /// Where the host reads it, once something has: from then on the plugin is told that the memory is shared.
    read: OnceLock<Option<Read>>,
}

/// An address in memory of the host, valid while the plugin counts an external reference.
struct Read(*const u8);

// SAFETY: PJRT buffers may be used from any thread, by any number at once. Their contents are written once, by the work
// that is waited for before a `Memory` is given out; donation consumes the last owner.
unsafe impl Send for Memory {}
// SAFETY: as for `Send`.
unsafe impl Sync for Memory {}
// SAFETY: an address; who reads there borrows the `Memory`.
unsafe impl Send for Read {}
// SAFETY: as for `Send`.
unsafe impl Sync for Read {}

/// PJRT's number for a dtype.
const fn type_of(d: DType) -> u32 {
    match d {
        DType::BOOL => PJRT_Buffer_Type_PRED,
        DType::I8 => PJRT_Buffer_Type_S8,
        DType::I16 => PJRT_Buffer_Type_S16,
        DType::I32 => PJRT_Buffer_Type_S32,
        DType::I64 => PJRT_Buffer_Type_S64,
        DType::U8 => PJRT_Buffer_Type_U8,
        DType::U16 => PJRT_Buffer_Type_U16,
        DType::U32 => PJRT_Buffer_Type_U32,
        DType::U64 => PJRT_Buffer_Type_U64,
        DType::F16 => PJRT_Buffer_Type_F16,
        DType::BF16 => PJRT_Buffer_Type_BF16,
        DType::F32 => PJRT_Buffer_Type_F32,
        DType::F64 => PJRT_Buffer_Type_F64,
        DType::C64 => PJRT_Buffer_Type_C64,
        DType::C128 => PJRT_Buffer_Type_C128,
    }
}

/// Whose host data it is while a plugin reads it.
enum Source {
    /// The caller's, during the call.
    Borrowed,
    /// Shared with other owners: kept, and never written to.
    Shared(Arc<dyn Any + Send + Sync>),
    /// This call's alone: kept, and the plugin may write results into it.
    Owned(Box<Buffer>),
}

impl Memory {
    /// A host tensor's data on a device. Where the device is the host's processor, and the data is aligned as it wants,
    /// nothing is copied.
    pub(crate) fn from_tensor(client: &Arc<Client>, place: &Place, tensor: Tensor) -> Result<Memory> {
        let (dtype, len) = (tensor.dtype(), tensor.len());
        let dims: Vec<i64> = tensor.shape().iter().map(|&d| i64::try_from(d).unwrap_or(i64::MAX)).collect();
        let small = len.saturating_mul(dtype.size()) < COPIED;
        if let Some(held) = tensor.resident().cloned() {
            let unreadable = || error(Stage::Transfer, format!("memory on {} cannot be read here", held.device()));
            let bytes = held.bytes().ok_or_else(unreadable)?;
            let (start, size) = (bytes.as_ptr(), bytes.len());
            let source = if small { Source::Borrowed } else { Source::Shared(Arc::new(held.clone())) };
            // SAFETY: the bytes stay where they are as long as `held`, which lives until the end of this call and, if it
            // is longer, as long as the source.
            return unsafe { Memory::from_bytes(client, place, (dtype, len, &dims), (start, size), source) };
        }
        if small {
            let bytes = tensor.buffer().bytes();
            // SAFETY: the tensor lives until the end of this call.
            return unsafe {
                let data = (bytes.as_ptr(), bytes.len());
                Memory::from_bytes(client, place, (dtype, len, &dims), data, Source::Borrowed)
            };
        }
        let mut tensor = tensor;
        if tensor.buffer_mut().is_some() {
            let mut buffer = Box::new(tensor.into_buffer());
            let size = buffer.bytes().len();
            let data = (with_buffer!(&mut *buffer, v => v.as_mut_ptr().cast::<u8>()).cast_const(), size);
            // SAFETY: the vector's memory stays where it is while the box is kept, and nothing else reads or writes it.
            return unsafe { Memory::from_bytes(client, place, (dtype, len, &dims), data, Source::Owned(buffer)) };
        }
        let shared = tensor.shared().clone();
        let data = (shared.bytes().as_ptr(), shared.bytes().len());
        // SAFETY: the storage is shared, so nobody can write to it while this owner is kept.
        unsafe { Memory::from_bytes(client, place, (dtype, len, &dims), data, Source::Shared(shared)) }
    }

    /// # Safety
    /// The data must stay valid and unchanged until the end of this call, and as long as the source says.
    unsafe fn from_bytes(
        client: &Arc<Client>,
        place: &Place,
        (dtype, len, dims): (DType, usize, &[i64]),
        (start, size): (*const u8, usize),
        source: Source,
    ) -> Result<Memory> {
        debug_assert_eq!(Some(size), len.checked_mul(dtype.size()));
        let semantics = match &source {
            Source::Borrowed => PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
            Source::Shared(_) => PJRT_HostBufferSemantics_kImmutableZeroCopy,
            Source::Owned(_) => PJRT_HostBufferSemantics_kMutableZeroCopy,
        };
        let mut args = PJRT_Client_BufferFromHostBuffer_Args {
            client: client.raw(),
            data: start.cast(),
            type_: type_of(dtype),
            dims: dims.as_ptr(),
            num_dims: dims.len(),
            host_buffer_semantics: semantics,
            device: place.raw.as_ptr(),
            ..PJRT_Client_BufferFromHostBuffer_Args::new()
        };
        // SAFETY: client and device live as long as the process, the data by this function's contract, the dims until the
        // end of the call; without strides the data is dense and row-major, and its size fits type and dims.
        unsafe { call!(&client.plugin, Stage::Transfer, PJRT_Client_BufferFromHostBuffer, &mut args) }?;
        // SAFETY: the plugin gave this event to us.
        let done = unsafe { Event::new(&client.plugin, args.done_with_host_buffer) };
        // SAFETY: the plugin gave this buffer to us.
        let memory = unsafe { Memory::new(client, place, (dtype, len), args.buffer) };
        match source {
            Source::Borrowed => done.wait(Stage::Transfer)?,
            Source::Shared(owner) => done.keep(Box::new(owner), Stage::Transfer)?,
            Source::Owned(buffer) => done.keep(buffer, Stage::Transfer)?,
        }
        memory
    }

    /// Takes over a buffer of a plugin.
    ///
    /// # Safety
    /// `raw` is null, or a live buffer of the client with this dtype and number of elements, that nobody else destroys.
    pub(crate) unsafe fn new(
        client: &Arc<Client>,
        place: &Place,
        (dtype, len): (DType, usize),
        raw: *mut PJRT_Buffer,
    ) -> Result<Memory> {
        let raw = NonNull::new(raw).ok_or_else(|| error(Stage::Transfer, "the plugin gave no buffer"))?;
        Ok(Memory { client: client.clone(), raw, dtype, len, device: place.device, read: OnceLock::new() })
    }

    /// Does the plugin say that the buffer has this dtype and these extents? Asked once a program, not once a call.
    pub(crate) fn is(&self, dtype: DType, shape: &[usize]) -> Result<bool> {
        let plugin = &self.client.plugin;
        let buffer = self.raw.as_ptr();
        let mut element = PJRT_Buffer_ElementType_Args { buffer, ..PJRT_Buffer_ElementType_Args::new() };
        // SAFETY: the buffer is live.
        unsafe { call!(plugin, Stage::Execute, PJRT_Buffer_ElementType, &mut element) }?;
        let same = self.dims()?.iter().map(|&d| usize::try_from(d).ok()).eq(shape.iter().map(|&d| Some(d)));
        Ok(element.type_ == type_of(dtype) && same)
    }
    /// Does the plugin say that the elements are in another order than row by row? Only a program's text can ask for that.
    pub(crate) fn is_permuted(&self) -> Result<bool> {
        let plugin = &self.client.plugin;
        if slot!(plugin, PJRT_Buffer_GetMemoryLayout).is_none() {
            return Ok(false);
        }
        let buffer = self.raw.as_ptr();
        let mut args = PJRT_Buffer_GetMemoryLayout_Args { buffer, ..PJRT_Buffer_GetMemoryLayout_Args::new() };
        // SAFETY: the buffer is live.
        unsafe { call!(plugin, Stage::Execute, PJRT_Buffer_GetMemoryLayout, &mut args) }?;
        if args.layout.type_ != PJRT_Buffer_MemoryLayout_Type_Tiled {
            return Ok(false);
        }
        // SAFETY: the type says which of the union it is; the list that it gives lives as long as the buffer.
        let order = unsafe {
            let tiled = args.layout.__bindgen_anon_1.tiled;
            list(tiled.minor_to_major, tiled.minor_to_major_size)
        };
        Ok(!order.is_sorted_by(|a, b| a > b))
    }
    /// The extents.
    fn dims(&self) -> Result<&[i64]> {
        let mut args = PJRT_Buffer_Dimensions_Args { buffer: self.raw.as_ptr(), ..PJRT_Buffer_Dimensions_Args::new() };
        // SAFETY: the buffer is live; the extents that it gives live as long as the buffer.
        unsafe {
            call!(&self.client.plugin, Stage::Execute, PJRT_Buffer_Dimensions, &mut args)?;
            Ok(list(args.dims, args.num_dims))
        }
    }

    /// The plugin's buffer, to read from.
    pub(crate) fn raw(&self) -> *mut PJRT_Buffer {
        self.raw.as_ptr()
    }
    /// The client that holds it.
    pub(crate) fn client(&self) -> &Arc<Client> {
        &self.client
    }
    /// Ends reading in place, so that the memory can be given away. `&mut` because nobody may read it any more.
    pub(crate) fn release(&mut self) {
        if let Some(Some(_)) = self.read.take() {
            let plugin = &self.client.plugin;
            if let Some(function) = slot!(plugin, PJRT_Buffer_DecreaseExternalReferenceCount) {
                let mut args = PJRT_Buffer_DecreaseExternalReferenceCount_Args {
                    buffer: self.raw.as_ptr(),
                    ..PJRT_Buffer_DecreaseExternalReferenceCount_Args::new()
                };
                // SAFETY: the buffer is live, and the reference was counted when reading began.
                let error = unsafe { function(&mut args) };
                plugin.destroy(error);
            }
        }
    }
    /// Waits until the contents are written.
    fn ready(&self) -> Result<()> {
        let plugin = &self.client.plugin;
        let mut args = PJRT_Buffer_ReadyEvent_Args { buffer: self.raw.as_ptr(), ..PJRT_Buffer_ReadyEvent_Args::new() };
        // SAFETY: the buffer is live, and the event that it gives is ours.
        let event = unsafe {
            call!(plugin, Stage::Execute, PJRT_Buffer_ReadyEvent, &mut args)?;
            Event::new(plugin, args.event)
        };
        event.wait(Stage::Execute)
    }
    /// The address of the contents in memory of the host.
    fn address(&self) -> Result<Read> {
        let plugin = &self.client.plugin;
        let buffer = self.raw.as_ptr();
        self.ready()?;
        let mut count = PJRT_Buffer_IncreaseExternalReferenceCount_Args {
            buffer,
            ..PJRT_Buffer_IncreaseExternalReferenceCount_Args::new()
        };
        let mut args = PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args {
            buffer,
            ..PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args::new()
        };
        // SAFETY: the buffer is live. The address stays valid while the reference is counted.
        let got = unsafe {
            call!(plugin, Stage::Transfer, PJRT_Buffer_IncreaseExternalReferenceCount, &mut count)?;
            call!(plugin, Stage::Transfer, PJRT_Buffer_OpaqueDeviceMemoryDataPointer, &mut args)
        };
        if got.is_err() {
            // Counted all the same: there is something to release.
            return Ok(Read(std::ptr::null()));
        }
        Ok(Read(args.device_memory_ptr.cast_const().cast()))
    }
}

/// Numbers that a plugin points at; none for a null pointer.
///
/// # Safety
/// Unless it is null, `n` numbers at `start` must stay valid for `'a`.
unsafe fn list<'a>(start: *const i64, n: usize) -> &'a [i64] {
    match start.is_null() || n == 0 {
        true => &[],
        // SAFETY: by the contract above.
        false => unsafe { std::slice::from_raw_parts(start, n) },
    }
}

impl Resident for Memory {
    fn dtype(&self) -> DType {
        self.dtype
    }
    fn len(&self) -> usize {
        self.len
    }
    fn device(&self) -> Device {
        self.device
    }
    fn bytes(&self) -> Option<&[u8]> {
        if !self.client.on_host() {
            return None;
        }
        let size = self.len.checked_mul(self.dtype.size())?;
        if size == 0 {
            return Some(&[]);
        }
        let read = self.read.get_or_init(|| self.address().ok()).as_ref()?;
        if read.0.is_null() {
            return None;
        }
        // SAFETY: on the host's processor the address is the host's. There the contents have `len` elements in row-major
        // order, as XLA gives entry results without layouts of their own; they are written, and change only when the
        // memory is donated, which takes `&mut self`.
        Some(unsafe { std::slice::from_raw_parts(read.0, size) })
    }
    fn to_host(&self) -> Result<Buffer> {
        with_dtype!(self.dtype, T => self.copy::<T>())
    }
}

impl Memory {
    /// The contents as a vector.
    fn copy<T: BufferElement + Copy>(&self) -> Result<Buffer> {
        // Memory that anything may be written to, whatever the element type: bytes are checked when they become elements.
        let mut words = vec![0u64; self.len.saturating_mul(size_of::<T>()).div_ceil(8)];
        let size = self.len.saturating_mul(size_of::<T>());
        // Row by row, whatever order the device keeps them in.
        let order: Vec<i64> = (0..i64::try_from(self.dims()?.len()).unwrap_or(0)).rev().collect();
        let tiled = PJRT_Buffer_MemoryLayout_Tiled {
            minor_to_major: order.as_ptr(),
            minor_to_major_size: order.len(),
            ..PJRT_Buffer_MemoryLayout_Tiled::new()
        };
        let mut rows = PJRT_Buffer_MemoryLayout {
            __bindgen_anon_1: PJRT_Buffer_MemoryLayout__bindgen_ty_1 { tiled },
            type_: PJRT_Buffer_MemoryLayout_Type_Tiled,
            ..PJRT_Buffer_MemoryLayout::new()
        };
        let mut args = PJRT_Buffer_ToHostBuffer_Args {
            src: self.raw.as_ptr(),
            host_layout: if order.len() > 1 { &mut rows } else { std::ptr::null_mut() },
            dst: words.as_mut_ptr().cast(),
            dst_size: size,
            ..PJRT_Buffer_ToHostBuffer_Args::new()
        };
        let plugin = &self.client.plugin;
        if size > 0 {
            // SAFETY: the buffer is live, the layout lives until the end of the call, and the destination has the stated
            // size until the event is done.
            let event = unsafe {
                call!(plugin, Stage::Transfer, PJRT_Buffer_ToHostBuffer, &mut args)?;
                Event::new(plugin, args.event)
            };
            if let Err(e) = event.wait(Stage::Transfer) {
                // Whether the copy still runs is not known: the memory must stay.
                std::mem::forget(words);
                return Err(e);
            }
        }
        // SAFETY: the words have at least `size` bytes, all written by the zeroing or by the plugin.
        let bytes = unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), size) };
        let elements =
            T::cast(bytes).ok_or_else(|| error(Stage::Transfer, "the plugin gave bytes that are no values"))?;
        Ok(T::wrap(elements.to_vec()))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.release();
        let plugin = &self.client.plugin;
        if let Some(function) = slot!(plugin, PJRT_Buffer_Destroy) {
            let mut args = PJRT_Buffer_Destroy_Args { buffer: self.raw.as_ptr(), ..PJRT_Buffer_Destroy_Args::new() };
            // SAFETY: this is the buffer's only owner, and gone after this.
            let error = unsafe { function(&mut args) };
            plugin.destroy(error);
        }
    }
}
