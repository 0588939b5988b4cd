//! The sizes that the structs of the interface state, and the check of their layout against the C compiler's.

use super::bindings::*;
use std::mem::{offset_of, size_of};

/// A struct of the interface: plain data with a leading `struct_size`, for which all bits zero are valid.
///
/// # Safety
/// Zeroed memory must be a value of the type, and its first field the struct's size as a `usize`.
pub(crate) unsafe trait Args: Copy {
    /// What `struct_size` must say: the end of the last field, without padding.
    const SIZE: usize;

    /// All fields zero but `struct_size`.
    fn new() -> Self {
        let mut out = std::mem::MaybeUninit::<Self>::zeroed();
        // SAFETY: zero is valid for every field, and `struct_size` is the first of them, both by the trait's contract.
        unsafe {
            out.as_mut_ptr().cast::<usize>().write(Self::SIZE);
            out.assume_init()
        }
    }
}

/// The size of the field that a function points at.
const fn field<T, F>(_: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

macro_rules! layout {
    ($($name:ident.$last:ident at $offset:literal of $size:literal;)*) => { $(
        // SAFETY: bindgen's structs of numbers, pointers and optional functions, whose first field is `struct_size`.
        unsafe impl Args for $name {
            const SIZE: usize = offset_of!($name, $last) + field::<$name, _>(|x| &x.$last);
        }
        const _: () = assert!(offset_of!($name, $last) == $offset && size_of::<$name>() == $size);
        const _: () = assert!(offset_of!($name, struct_size) == 0);
    )* };
}

// Offset of the last field and size of the struct, from Clang on x86-64; other 64-bit targets agree.
#[cfg(target_pointer_width = "64")]
layout! {
    PJRT_Error_Destroy_Args.error at 16 of 24;
    PJRT_Error_Message_Args.message_size at 32 of 40;
    PJRT_Error_GetCode_Args.code at 24 of 32;
    PJRT_NamedValue.value_size at 48 of 56;
    PJRT_Plugin_Initialize_Args.extension_start at 8 of 16;
    PJRT_Event_Destroy_Args.event at 16 of 24;
    PJRT_Event_Await_Args.event at 16 of 24;
    PJRT_Event_OnReady_Args.user_arg at 32 of 40;
    PJRT_Client_Create_Args.kv_try_get_user_arg at 80 of 88;
    PJRT_Client_Destroy_Args.client at 16 of 24;
    PJRT_Client_PlatformName_Args.platform_name_size at 32 of 40;
    PJRT_Client_PlatformVersion_Args.platform_version_size at 32 of 40;
    PJRT_Client_AddressableDevices_Args.num_addressable_devices at 32 of 40;
    PJRT_Program.format_size at 40 of 48;
    PJRT_Client_Compile_Args.executable at 48 of 56;
    PJRT_Client_BufferFromHostBuffer_Args.buffer at 112 of 120;
    PJRT_DeviceDescription_Id_Args.id at 24 of 32;
    PJRT_DeviceDescription_Kind_Args.device_kind_size at 32 of 40;
    PJRT_Device_GetDescription_Args.device_description at 24 of 32;
    PJRT_Executable_Destroy_Args.executable at 16 of 24;
    PJRT_LoadedExecutable_Destroy_Args.executable at 16 of 24;
    PJRT_LoadedExecutable_GetExecutable_Args.executable at 24 of 32;
    PJRT_ExecuteOptions.incarnation_ids at 104 of 112;
    PJRT_LoadedExecutable_Execute_Args.execute_device at 72 of 80;
    PJRT_Executable_NumOutputs_Args.num_outputs at 24 of 32;
    PJRT_Executable_Serialize_Args.serialized_executable_deleter at 48 of 56;
    PJRT_Executable_DeserializeAndLoad_Args.overridden_serialized_compile_options_size at 56 of 64;
    PJRT_Buffer_Destroy_Args.buffer at 16 of 24;
    PJRT_Buffer_ElementType_Args.type_ at 24 of 32;
    PJRT_Buffer_Dimensions_Args.num_dims at 32 of 40;
    PJRT_Buffer_MemoryLayout_Tiled.num_tiles at 48 of 56;
    PJRT_Buffer_MemoryLayout.type_ at 72 of 80;
    PJRT_Buffer_GetMemoryLayout_Args.layout at 24 of 104;
    PJRT_Buffer_ToHostBuffer_Args.event at 48 of 56;
    PJRT_Buffer_IsDeleted_Args.is_deleted at 24 of 32;
    PJRT_Buffer_IsOnCpu_Args.is_on_cpu at 24 of 32;
    PJRT_Buffer_ReadyEvent_Args.event at 24 of 32;
    PJRT_Buffer_IncreaseExternalReferenceCount_Args.buffer at 16 of 24;
    PJRT_Buffer_DecreaseExternalReferenceCount_Args.buffer at 16 of 24;
    PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args.device_memory_ptr at 24 of 32;
}
