//! The C interface of PJRT plugins, as far as this crate calls it: written by bindgen 0.73 from `pjrt_c_api.h` of version
//! 0.81, with `void*` for the functions, callbacks and options that are not used; do not edit.
//!
//! Every struct starts with its size, so that later versions of the interface can append fields.

/// A function of the table: `None` where the plugin has none.
pub type Call<A> = Option<unsafe extern "C" fn(args: *mut A) -> *mut PJRT_Error>;
/// A function that cannot fail.
pub type Signal<A> = Option<unsafe extern "C" fn(args: *mut A)>;
pub type PJRT_Extension_Type = core::ffi::c_uint;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Extension_Base {
    pub struct_size: usize,
    pub type_: PJRT_Extension_Type,
    pub next: *mut PJRT_Extension_Base,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Api_Version {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub major_version: core::ffi::c_int,
    pub minor_version: core::ffi::c_int,
}
#[repr(C)]
#[derive(Debug)]
pub struct PJRT_Error {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Error_Destroy_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub error: *mut PJRT_Error,
}
pub type PJRT_Error_Destroy = Signal<PJRT_Error_Destroy_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Error_Message_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub error: *const PJRT_Error,
    pub message: *const core::ffi::c_char,
    pub message_size: usize,
}
pub type PJRT_Error_Message = Signal<PJRT_Error_Message_Args>;
pub const PJRT_Error_Code_OK: PJRT_Error_Code = 0;
pub const PJRT_Error_Code_CANCELLED: PJRT_Error_Code = 1;
pub const PJRT_Error_Code_UNKNOWN: PJRT_Error_Code = 2;
pub const PJRT_Error_Code_INVALID_ARGUMENT: PJRT_Error_Code = 3;
pub const PJRT_Error_Code_DEADLINE_EXCEEDED: PJRT_Error_Code = 4;
pub const PJRT_Error_Code_NOT_FOUND: PJRT_Error_Code = 5;
pub const PJRT_Error_Code_ALREADY_EXISTS: PJRT_Error_Code = 6;
pub const PJRT_Error_Code_PERMISSION_DENIED: PJRT_Error_Code = 7;
pub const PJRT_Error_Code_RESOURCE_EXHAUSTED: PJRT_Error_Code = 8;
pub const PJRT_Error_Code_FAILED_PRECONDITION: PJRT_Error_Code = 9;
pub const PJRT_Error_Code_ABORTED: PJRT_Error_Code = 10;
pub const PJRT_Error_Code_OUT_OF_RANGE: PJRT_Error_Code = 11;
pub const PJRT_Error_Code_UNIMPLEMENTED: PJRT_Error_Code = 12;
pub const PJRT_Error_Code_INTERNAL: PJRT_Error_Code = 13;
pub const PJRT_Error_Code_UNAVAILABLE: PJRT_Error_Code = 14;
pub const PJRT_Error_Code_DATA_LOSS: PJRT_Error_Code = 15;
pub const PJRT_Error_Code_UNAUTHENTICATED: PJRT_Error_Code = 16;
pub type PJRT_Error_Code = core::ffi::c_uint;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Error_GetCode_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub error: *const PJRT_Error,
    pub code: PJRT_Error_Code,
}
pub type PJRT_Error_GetCode = Call<PJRT_Error_GetCode_Args>;
pub const PJRT_NamedValue_kString: PJRT_NamedValue_Type = 0;
pub const PJRT_NamedValue_kInt64: PJRT_NamedValue_Type = 1;
pub const PJRT_NamedValue_kFloat: PJRT_NamedValue_Type = 3;
pub const PJRT_NamedValue_kBool: PJRT_NamedValue_Type = 4;
pub type PJRT_NamedValue_Type = core::ffi::c_uint;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_NamedValue {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub name: *const core::ffi::c_char,
    pub name_size: usize,
    pub type_: PJRT_NamedValue_Type,
    pub __bindgen_anon_1: PJRT_NamedValue__bindgen_ty_1,
    pub value_size: usize,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union PJRT_NamedValue__bindgen_ty_1 {
    pub string_value: *const core::ffi::c_char,
    pub int64_value: i64,
    pub int64_array_value: *const i64,
    pub float_value: f32,
    pub bool_value: bool,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Plugin_Initialize_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
}
pub type PJRT_Plugin_Initialize = Call<PJRT_Plugin_Initialize_Args>;
#[repr(C)]
#[derive(Debug)]
pub struct PJRT_Event {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Event_Destroy_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub event: *mut PJRT_Event,
}
pub type PJRT_Event_Destroy = Call<PJRT_Event_Destroy_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Event_Await_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub event: *mut PJRT_Event,
}
pub type PJRT_Event_Await = Call<PJRT_Event_Await_Args>;
pub type PJRT_Event_OnReadyCallback =
    core::option::Option<unsafe extern "C" fn(error: *mut PJRT_Error, user_arg: *mut core::ffi::c_void)>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Event_OnReady_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub event: *mut PJRT_Event,
    pub callback: PJRT_Event_OnReadyCallback,
    pub user_arg: *mut core::ffi::c_void,
}
pub type PJRT_Event_OnReady = Call<PJRT_Event_OnReady_Args>;
#[repr(C)]
#[derive(Debug)]
pub struct PJRT_Client {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug)]
pub struct PJRT_Device {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug)]
pub struct PJRT_Memory {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug)]
pub struct PJRT_DeviceDescription {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug)]
pub struct PJRT_Executable {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug)]
pub struct PJRT_LoadedExecutable {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug)]
pub struct PJRT_Buffer {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Client_Create_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub create_options: *const PJRT_NamedValue,
    pub num_options: usize,
    pub kv_get_callback: *mut core::ffi::c_void,
    pub kv_get_user_arg: *mut core::ffi::c_void,
    pub kv_put_callback: *mut core::ffi::c_void,
    pub kv_put_user_arg: *mut core::ffi::c_void,
    pub client: *mut PJRT_Client,
    pub kv_try_get_callback: *mut core::ffi::c_void,
    pub kv_try_get_user_arg: *mut core::ffi::c_void,
}
pub type PJRT_Client_Create = Call<PJRT_Client_Create_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Client_Destroy_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub client: *mut PJRT_Client,
}
pub type PJRT_Client_Destroy = Call<PJRT_Client_Destroy_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Client_PlatformName_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub client: *mut PJRT_Client,
    pub platform_name: *const core::ffi::c_char,
    pub platform_name_size: usize,
}
pub type PJRT_Client_PlatformName = Call<PJRT_Client_PlatformName_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Client_PlatformVersion_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub client: *mut PJRT_Client,
    pub platform_version: *const core::ffi::c_char,
    pub platform_version_size: usize,
}
pub type PJRT_Client_PlatformVersion = Call<PJRT_Client_PlatformVersion_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Client_AddressableDevices_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub client: *mut PJRT_Client,
    pub addressable_devices: *const *mut PJRT_Device,
    pub num_addressable_devices: usize,
}
pub type PJRT_Client_AddressableDevices = Call<PJRT_Client_AddressableDevices_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Program {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub code: *mut core::ffi::c_char,
    pub code_size: usize,
    pub format: *const core::ffi::c_char,
    pub format_size: usize,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Client_Compile_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub client: *mut PJRT_Client,
    pub program: *const PJRT_Program,
    pub compile_options: *const core::ffi::c_char,
    pub compile_options_size: usize,
    pub executable: *mut PJRT_LoadedExecutable,
}
pub type PJRT_Client_Compile = Call<PJRT_Client_Compile_Args>;
pub const PJRT_Buffer_Type_INVALID: PJRT_Buffer_Type = 0;
pub const PJRT_Buffer_Type_PRED: PJRT_Buffer_Type = 1;
pub const PJRT_Buffer_Type_S8: PJRT_Buffer_Type = 2;
pub const PJRT_Buffer_Type_S16: PJRT_Buffer_Type = 3;
pub const PJRT_Buffer_Type_S32: PJRT_Buffer_Type = 4;
pub const PJRT_Buffer_Type_S64: PJRT_Buffer_Type = 5;
pub const PJRT_Buffer_Type_U8: PJRT_Buffer_Type = 6;
pub const PJRT_Buffer_Type_U16: PJRT_Buffer_Type = 7;
pub const PJRT_Buffer_Type_U32: PJRT_Buffer_Type = 8;
pub const PJRT_Buffer_Type_U64: PJRT_Buffer_Type = 9;
pub const PJRT_Buffer_Type_F16: PJRT_Buffer_Type = 10;
pub const PJRT_Buffer_Type_F32: PJRT_Buffer_Type = 11;
pub const PJRT_Buffer_Type_F64: PJRT_Buffer_Type = 12;
pub const PJRT_Buffer_Type_BF16: PJRT_Buffer_Type = 13;
pub const PJRT_Buffer_Type_C64: PJRT_Buffer_Type = 14;
pub const PJRT_Buffer_Type_C128: PJRT_Buffer_Type = 15;
pub const PJRT_Buffer_Type_F8E5M2: PJRT_Buffer_Type = 16;
pub const PJRT_Buffer_Type_F8E4M3FN: PJRT_Buffer_Type = 17;
pub const PJRT_Buffer_Type_F8E4M3B11FNUZ: PJRT_Buffer_Type = 18;
pub const PJRT_Buffer_Type_F8E5M2FNUZ: PJRT_Buffer_Type = 19;
pub const PJRT_Buffer_Type_F8E4M3FNUZ: PJRT_Buffer_Type = 20;
pub const PJRT_Buffer_Type_S4: PJRT_Buffer_Type = 21;
pub const PJRT_Buffer_Type_U4: PJRT_Buffer_Type = 22;
pub const PJRT_Buffer_Type_TOKEN: PJRT_Buffer_Type = 23;
pub const PJRT_Buffer_Type_S2: PJRT_Buffer_Type = 24;
pub const PJRT_Buffer_Type_U2: PJRT_Buffer_Type = 25;
pub const PJRT_Buffer_Type_F8E4M3: PJRT_Buffer_Type = 26;
pub const PJRT_Buffer_Type_F8E3M4: PJRT_Buffer_Type = 27;
pub const PJRT_Buffer_Type_F8E8M0FNU: PJRT_Buffer_Type = 28;
pub const PJRT_Buffer_Type_F4E2M1FN: PJRT_Buffer_Type = 29;
pub type PJRT_Buffer_Type = core::ffi::c_uint;
pub const PJRT_HostBufferSemantics_kImmutableOnlyDuringCall: PJRT_HostBufferSemantics = 0;
pub const PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes: PJRT_HostBufferSemantics = 1;
pub const PJRT_HostBufferSemantics_kImmutableZeroCopy: PJRT_HostBufferSemantics = 2;
pub const PJRT_HostBufferSemantics_kMutableZeroCopy: PJRT_HostBufferSemantics = 3;
pub type PJRT_HostBufferSemantics = core::ffi::c_uint;
pub const PJRT_Buffer_MemoryLayout_Type_Tiled: PJRT_Buffer_MemoryLayout_Type = 0;
pub type PJRT_Buffer_MemoryLayout_Type = core::ffi::c_uint;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Buffer_MemoryLayout_Tiled {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub minor_to_major: *const i64,
    pub minor_to_major_size: usize,
    pub tile_dims: *const i64,
    pub tile_dim_sizes: *const usize,
    pub num_tiles: usize,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Buffer_MemoryLayout_Strides {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub byte_strides: *const i64,
    pub num_byte_strides: usize,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Buffer_MemoryLayout {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub __bindgen_anon_1: PJRT_Buffer_MemoryLayout__bindgen_ty_1,
    pub type_: PJRT_Buffer_MemoryLayout_Type,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub union PJRT_Buffer_MemoryLayout__bindgen_ty_1 {
    pub tiled: PJRT_Buffer_MemoryLayout_Tiled,
    pub strides: PJRT_Buffer_MemoryLayout_Strides,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Client_BufferFromHostBuffer_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub client: *mut PJRT_Client,
    pub data: *const core::ffi::c_void,
    pub type_: PJRT_Buffer_Type,
    pub dims: *const i64,
    pub num_dims: usize,
    pub byte_strides: *const i64,
    pub num_byte_strides: usize,
    pub host_buffer_semantics: PJRT_HostBufferSemantics,
    pub device: *mut PJRT_Device,
    pub memory: *mut PJRT_Memory,
    pub device_layout: *mut PJRT_Buffer_MemoryLayout,
    pub done_with_host_buffer: *mut PJRT_Event,
    pub buffer: *mut PJRT_Buffer,
}
pub type PJRT_Client_BufferFromHostBuffer = Call<PJRT_Client_BufferFromHostBuffer_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_DeviceDescription_Id_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub device_description: *mut PJRT_DeviceDescription,
    pub id: core::ffi::c_int,
}
pub type PJRT_DeviceDescription_Id = Call<PJRT_DeviceDescription_Id_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_DeviceDescription_Kind_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub device_description: *mut PJRT_DeviceDescription,
    pub device_kind: *const core::ffi::c_char,
    pub device_kind_size: usize,
}
pub type PJRT_DeviceDescription_Kind = Call<PJRT_DeviceDescription_Kind_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Device_GetDescription_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub device: *mut PJRT_Device,
    pub device_description: *mut PJRT_DeviceDescription,
}
pub type PJRT_Device_GetDescription = Call<PJRT_Device_GetDescription_Args>;
#[repr(C)]
#[derive(Debug)]
pub struct PJRT_ExecuteContext {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Executable_Destroy_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub executable: *mut PJRT_Executable,
}
pub type PJRT_Executable_Destroy = Call<PJRT_Executable_Destroy_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_LoadedExecutable_Destroy_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub executable: *mut PJRT_LoadedExecutable,
}
pub type PJRT_LoadedExecutable_Destroy = Call<PJRT_LoadedExecutable_Destroy_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_LoadedExecutable_GetExecutable_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub loaded_executable: *mut PJRT_LoadedExecutable,
    pub executable: *mut PJRT_Executable,
}
pub type PJRT_LoadedExecutable_GetExecutable = Call<PJRT_LoadedExecutable_GetExecutable_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_ExecuteOptions {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub send_callbacks: *mut core::ffi::c_void,
    pub recv_callbacks: *mut core::ffi::c_void,
    pub num_send_ops: usize,
    pub num_recv_ops: usize,
    pub launch_id: core::ffi::c_int,
    pub non_donatable_input_indices: *const i64,
    pub num_non_donatable_input_indices: usize,
    pub context: *mut PJRT_ExecuteContext,
    pub call_location: *const core::ffi::c_char,
    pub num_tasks: usize,
    pub task_ids: *mut core::ffi::c_int,
    pub incarnation_ids: *mut i64,
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_LoadedExecutable_Execute_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub executable: *mut PJRT_LoadedExecutable,
    pub options: *mut PJRT_ExecuteOptions,
    pub argument_lists: *const *const *mut PJRT_Buffer,
    pub num_devices: usize,
    pub num_args: usize,
    pub output_lists: *const *mut *mut PJRT_Buffer,
    pub device_complete_events: *mut *mut PJRT_Event,
    pub execute_device: *mut PJRT_Device,
}
pub type PJRT_LoadedExecutable_Execute = Call<PJRT_LoadedExecutable_Execute_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Executable_NumOutputs_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub executable: *mut PJRT_Executable,
    pub num_outputs: usize,
}
pub type PJRT_Executable_NumOutputs = Call<PJRT_Executable_NumOutputs_Args>;
#[repr(C)]
#[derive(Debug)]
pub struct PJRT_SerializedExecutable {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Executable_Serialize_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub executable: *const PJRT_Executable,
    pub serialized_bytes: *const core::ffi::c_char,
    pub serialized_bytes_size: usize,
    pub serialized_executable: *mut PJRT_SerializedExecutable,
    pub serialized_executable_deleter: core::option::Option<unsafe extern "C" fn(exec: *mut PJRT_SerializedExecutable)>,
}
pub type PJRT_Executable_Serialize = Call<PJRT_Executable_Serialize_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Executable_DeserializeAndLoad_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub client: *mut PJRT_Client,
    pub serialized_executable: *const core::ffi::c_char,
    pub serialized_executable_size: usize,
    pub loaded_executable: *mut PJRT_LoadedExecutable,
    pub overridden_serialized_compile_options: *const core::ffi::c_char,
    pub overridden_serialized_compile_options_size: usize,
}
pub type PJRT_Executable_DeserializeAndLoad = Call<PJRT_Executable_DeserializeAndLoad_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Buffer_Destroy_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub buffer: *mut PJRT_Buffer,
}
pub type PJRT_Buffer_Destroy = Call<PJRT_Buffer_Destroy_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Buffer_ElementType_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub buffer: *mut PJRT_Buffer,
    pub type_: PJRT_Buffer_Type,
}
pub type PJRT_Buffer_ElementType = Call<PJRT_Buffer_ElementType_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Buffer_Dimensions_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub buffer: *mut PJRT_Buffer,
    pub dims: *const i64,
    pub num_dims: usize,
}
pub type PJRT_Buffer_Dimensions = Call<PJRT_Buffer_Dimensions_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Buffer_GetMemoryLayout_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub buffer: *mut PJRT_Buffer,
    pub layout: PJRT_Buffer_MemoryLayout,
}
pub type PJRT_Buffer_GetMemoryLayout = Call<PJRT_Buffer_GetMemoryLayout_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Buffer_ToHostBuffer_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub src: *mut PJRT_Buffer,
    pub host_layout: *mut PJRT_Buffer_MemoryLayout,
    pub dst: *mut core::ffi::c_void,
    pub dst_size: usize,
    pub event: *mut PJRT_Event,
}
pub type PJRT_Buffer_ToHostBuffer = Call<PJRT_Buffer_ToHostBuffer_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Buffer_IsDeleted_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub buffer: *mut PJRT_Buffer,
    pub is_deleted: bool,
}
pub type PJRT_Buffer_IsDeleted = Call<PJRT_Buffer_IsDeleted_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Buffer_IsOnCpu_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub buffer: *mut PJRT_Buffer,
    pub is_on_cpu: bool,
}
pub type PJRT_Buffer_IsOnCpu = Call<PJRT_Buffer_IsOnCpu_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Buffer_ReadyEvent_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub buffer: *mut PJRT_Buffer,
    pub event: *mut PJRT_Event,
}
pub type PJRT_Buffer_ReadyEvent = Call<PJRT_Buffer_ReadyEvent_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Buffer_IncreaseExternalReferenceCount_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub buffer: *mut PJRT_Buffer,
}
pub type PJRT_Buffer_IncreaseExternalReferenceCount = Call<PJRT_Buffer_IncreaseExternalReferenceCount_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Buffer_DecreaseExternalReferenceCount_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub buffer: *mut PJRT_Buffer,
}
pub type PJRT_Buffer_DecreaseExternalReferenceCount = Call<PJRT_Buffer_DecreaseExternalReferenceCount_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub buffer: *mut PJRT_Buffer,
    pub device_memory_ptr: *mut core::ffi::c_void,
}
pub type PJRT_Buffer_OpaqueDeviceMemoryDataPointer = Call<PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args>;
#[repr(C)]
#[derive(Copy, Clone)]
pub struct PJRT_Api {
    pub struct_size: usize,
    pub extension_start: *mut PJRT_Extension_Base,
    pub pjrt_api_version: PJRT_Api_Version,
    pub PJRT_Error_Destroy: PJRT_Error_Destroy,
    pub PJRT_Error_Message: PJRT_Error_Message,
    pub PJRT_Error_GetCode: PJRT_Error_GetCode,
    pub PJRT_Plugin_Initialize: PJRT_Plugin_Initialize,
    pub PJRT_Plugin_Attributes: *mut core::ffi::c_void,
    pub PJRT_Event_Destroy: PJRT_Event_Destroy,
    pub PJRT_Event_IsReady: *mut core::ffi::c_void,
    pub PJRT_Event_Error: *mut core::ffi::c_void,
    pub PJRT_Event_Await: PJRT_Event_Await,
    pub PJRT_Event_OnReady: PJRT_Event_OnReady,
    pub PJRT_Client_Create: PJRT_Client_Create,
    pub PJRT_Client_Destroy: PJRT_Client_Destroy,
    pub PJRT_Client_PlatformName: PJRT_Client_PlatformName,
    pub PJRT_Client_ProcessIndex: *mut core::ffi::c_void,
    pub PJRT_Client_PlatformVersion: PJRT_Client_PlatformVersion,
    pub PJRT_Client_Devices: *mut core::ffi::c_void,
    pub PJRT_Client_AddressableDevices: PJRT_Client_AddressableDevices,
    pub PJRT_Client_LookupDevice: *mut core::ffi::c_void,
    pub PJRT_Client_LookupAddressableDevice: *mut core::ffi::c_void,
    pub PJRT_Client_AddressableMemories: *mut core::ffi::c_void,
    pub PJRT_Client_Compile: PJRT_Client_Compile,
    pub PJRT_Client_DefaultDeviceAssignment: *mut core::ffi::c_void,
    pub PJRT_Client_BufferFromHostBuffer: PJRT_Client_BufferFromHostBuffer,
    pub PJRT_DeviceDescription_Id: PJRT_DeviceDescription_Id,
    pub PJRT_DeviceDescription_ProcessIndex: *mut core::ffi::c_void,
    pub PJRT_DeviceDescription_Attributes: *mut core::ffi::c_void,
    pub PJRT_DeviceDescription_Kind: PJRT_DeviceDescription_Kind,
    pub PJRT_DeviceDescription_DebugString: *mut core::ffi::c_void,
    pub PJRT_DeviceDescription_ToString: *mut core::ffi::c_void,
    pub PJRT_Device_GetDescription: PJRT_Device_GetDescription,
    pub PJRT_Device_IsAddressable: *mut core::ffi::c_void,
    pub PJRT_Device_LocalHardwareId: *mut core::ffi::c_void,
    pub PJRT_Device_AddressableMemories: *mut core::ffi::c_void,
    pub PJRT_Device_DefaultMemory: *mut core::ffi::c_void,
    pub PJRT_Device_MemoryStats: *mut core::ffi::c_void,
    pub PJRT_Memory_Id: *mut core::ffi::c_void,
    pub PJRT_Memory_Kind: *mut core::ffi::c_void,
    pub PJRT_Memory_DebugString: *mut core::ffi::c_void,
    pub PJRT_Memory_ToString: *mut core::ffi::c_void,
    pub PJRT_Memory_AddressableByDevices: *mut core::ffi::c_void,
    pub PJRT_Executable_Destroy: PJRT_Executable_Destroy,
    pub PJRT_Executable_Name: *mut core::ffi::c_void,
    pub PJRT_Executable_NumReplicas: *mut core::ffi::c_void,
    pub PJRT_Executable_NumPartitions: *mut core::ffi::c_void,
    pub PJRT_Executable_NumOutputs: PJRT_Executable_NumOutputs,
    pub PJRT_Executable_SizeOfGeneratedCodeInBytes: *mut core::ffi::c_void,
    pub PJRT_Executable_GetCostAnalysis: *mut core::ffi::c_void,
    pub PJRT_Executable_OutputMemoryKinds: *mut core::ffi::c_void,
    pub PJRT_Executable_OptimizedProgram: *mut core::ffi::c_void,
    pub PJRT_Executable_Serialize: PJRT_Executable_Serialize,
    pub PJRT_LoadedExecutable_Destroy: PJRT_LoadedExecutable_Destroy,
    pub PJRT_LoadedExecutable_GetExecutable: PJRT_LoadedExecutable_GetExecutable,
    pub PJRT_LoadedExecutable_AddressableDevices: *mut core::ffi::c_void,
    pub PJRT_LoadedExecutable_Delete: *mut core::ffi::c_void,
    pub PJRT_LoadedExecutable_IsDeleted: *mut core::ffi::c_void,
    pub PJRT_LoadedExecutable_Execute: PJRT_LoadedExecutable_Execute,
    pub PJRT_Executable_DeserializeAndLoad: PJRT_Executable_DeserializeAndLoad,
    pub PJRT_LoadedExecutable_Fingerprint: *mut core::ffi::c_void,
    pub PJRT_Buffer_Destroy: PJRT_Buffer_Destroy,
    pub PJRT_Buffer_ElementType: PJRT_Buffer_ElementType,
    pub PJRT_Buffer_Dimensions: PJRT_Buffer_Dimensions,
    pub PJRT_Buffer_UnpaddedDimensions: *mut core::ffi::c_void,
    pub PJRT_Buffer_DynamicDimensionIndices: *mut core::ffi::c_void,
    pub PJRT_Buffer_GetMemoryLayout: PJRT_Buffer_GetMemoryLayout,
    pub PJRT_Buffer_OnDeviceSizeInBytes: *mut core::ffi::c_void,
    pub PJRT_Buffer_Device: *mut core::ffi::c_void,
    pub PJRT_Buffer_Memory: *mut core::ffi::c_void,
    pub PJRT_Buffer_Delete: *mut core::ffi::c_void,
    pub PJRT_Buffer_IsDeleted: PJRT_Buffer_IsDeleted,
    pub PJRT_Buffer_CopyToDevice: *mut core::ffi::c_void,
    pub PJRT_Buffer_ToHostBuffer: PJRT_Buffer_ToHostBuffer,
    pub PJRT_Buffer_IsOnCpu: PJRT_Buffer_IsOnCpu,
    pub PJRT_Buffer_ReadyEvent: PJRT_Buffer_ReadyEvent,
    pub PJRT_Buffer_UnsafePointer: *mut core::ffi::c_void,
    pub PJRT_Buffer_IncreaseExternalReferenceCount: PJRT_Buffer_IncreaseExternalReferenceCount,
    pub PJRT_Buffer_DecreaseExternalReferenceCount: PJRT_Buffer_DecreaseExternalReferenceCount,
    pub PJRT_Buffer_OpaqueDeviceMemoryDataPointer: PJRT_Buffer_OpaqueDeviceMemoryDataPointer,
    pub PJRT_CopyToDeviceStream_Destroy: *mut core::ffi::c_void,
    pub PJRT_CopyToDeviceStream_AddChunk: *mut core::ffi::c_void,
    pub PJRT_CopyToDeviceStream_TotalBytes: *mut core::ffi::c_void,
    pub PJRT_CopyToDeviceStream_GranuleSize: *mut core::ffi::c_void,
    pub PJRT_CopyToDeviceStream_CurrentBytes: *mut core::ffi::c_void,
    pub PJRT_TopologyDescription_Create: *mut core::ffi::c_void,
    pub PJRT_TopologyDescription_Destroy: *mut core::ffi::c_void,
    pub PJRT_TopologyDescription_PlatformName: *mut core::ffi::c_void,
    pub PJRT_TopologyDescription_PlatformVersion: *mut core::ffi::c_void,
    pub PJRT_TopologyDescription_GetDeviceDescriptions: *mut core::ffi::c_void,
    pub PJRT_TopologyDescription_Serialize: *mut core::ffi::c_void,
    pub PJRT_TopologyDescription_Attributes: *mut core::ffi::c_void,
    pub PJRT_Compile: *mut core::ffi::c_void,
    pub PJRT_Executable_OutputElementTypes: *mut core::ffi::c_void,
    pub PJRT_Executable_OutputDimensions: *mut core::ffi::c_void,
    pub PJRT_Buffer_CopyToMemory: *mut core::ffi::c_void,
    pub PJRT_Client_CreateViewOfDeviceBuffer: *mut core::ffi::c_void,
    pub PJRT_Executable_Fingerprint: *mut core::ffi::c_void,
    pub PJRT_Client_TopologyDescription: *mut core::ffi::c_void,
    pub PJRT_Executable_GetCompiledMemoryStats: *mut core::ffi::c_void,
    pub PJRT_Memory_Kind_Id: *mut core::ffi::c_void,
    pub PJRT_ExecuteContext_Create: *mut core::ffi::c_void,
    pub PJRT_ExecuteContext_Destroy: *mut core::ffi::c_void,
    pub PJRT_Buffer_CopyRawToHost: *mut core::ffi::c_void,
    pub PJRT_AsyncHostToDeviceTransferManager_Destroy: *mut core::ffi::c_void,
    pub PJRT_AsyncHostToDeviceTransferManager_TransferData: *mut core::ffi::c_void,
    pub PJRT_Client_CreateBuffersForAsyncHostToDevice: *mut core::ffi::c_void,
    pub PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer: *mut core::ffi::c_void,
    pub PJRT_AsyncHostToDeviceTransferManager_Device: *mut core::ffi::c_void,
    pub PJRT_AsyncHostToDeviceTransferManager_BufferCount: *mut core::ffi::c_void,
    pub PJRT_AsyncHostToDeviceTransferManager_BufferSize: *mut core::ffi::c_void,
    pub PJRT_AsyncHostToDeviceTransferManager_SetBufferError: *mut core::ffi::c_void,
    pub PJRT_AsyncHostToDeviceTransferManager_AddMetadata: *mut core::ffi::c_void,
    pub PJRT_Client_DmaMap: *mut core::ffi::c_void,
    pub PJRT_Client_DmaUnmap: *mut core::ffi::c_void,
    pub PJRT_Client_CreateUninitializedBuffer: *mut core::ffi::c_void,
    pub PJRT_Client_UpdateGlobalProcessInfo: *mut core::ffi::c_void,
    pub PJRT_TopologyDescription_Deserialize: *mut core::ffi::c_void,
    pub PJRT_Client_CreateAliasBuffer: *mut core::ffi::c_void,
    pub PJRT_Client_FulfillAliasBuffer: *mut core::ffi::c_void,
    pub PJRT_LoadedExecutable_GetDeviceAssignment: *mut core::ffi::c_void,
}
