//! Clients: a plugin with its devices.
//!
//! There is one client for a plugin and its create options, kept for the life of the process: clients of accelerators take
//! most of the device's memory when they are created, and tensors must be able to outlive every `Xla` value.

use crate::error::{Stage, error, error_with};
use crate::ffi::{
    Args, PJRT_Client, PJRT_Client_AddressableDevices_Args, PJRT_Client_Create_Args, PJRT_Client_PlatformName_Args,
    PJRT_Client_PlatformVersion_Args, PJRT_Device, PJRT_Device_GetDescription_Args, PJRT_DeviceDescription_Id_Args,
    PJRT_NamedValue, PJRT_NamedValue__bindgen_ty_1, PJRT_NamedValue_Type, PJRT_NamedValue_kBool,
    PJRT_NamedValue_kFloat, PJRT_NamedValue_kInt64, PJRT_NamedValue_kString, call,
};
use crate::options::{FlagValue, set};
use crate::plugin::{Plugin, bytes};
use evoxc_core::{Device, DeviceKind, Error, Result};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// A device of a client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) device: Device,
    /// The plugin's number for it, as device assignments have it.
    pub(crate) id: i64,
    pub(crate) raw: NonNull<PJRT_Device>,
}

/// A plugin with its devices.
pub(crate) struct Client {
    pub(crate) plugin: Arc<Plugin>,
    raw: NonNull<PJRT_Client>,
    create: Vec<(String, FlagValue)>,
    kind: DeviceKind,
    platform: String,
    places: Vec<Place>,
}

// SAFETY: PJRT clients and devices may be used from any thread, by any number at once; the client is never destroyed.
unsafe impl Send for Client {}
// SAFETY: as for `Send`.
unsafe impl Sync for Client {}

static CLIENTS: Mutex<Vec<Arc<Client>>> = Mutex::new(Vec::new());

/// The option that makes the host's processor one device, however many cores or test settings there are.
const CPU_DEVICES: &str = "cpu_device_count";

impl Client {
    /// The client of a plugin with these create options, created now unless it is there.
    pub(crate) fn get(plugin: &Arc<Plugin>, create: &[(String, FlagValue)]) -> Result<Arc<Client>> {
        let mut clients = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(c) = clients.iter().find(|c| Arc::ptr_eq(&c.plugin, plugin) && c.create == create) {
            return Ok(c.clone());
        }
        let client = Arc::new(Client::open(plugin, create)?);
        clients.push(client.clone());
        Ok(client)
    }

    fn open(plugin: &Arc<Plugin>, create: &[(String, FlagValue)]) -> Result<Client> {
        let mut options = create.to_vec();
        match create.iter().find(|(n, _)| n == CPU_DEVICES) {
            None => set(&mut options, CPU_DEVICES, FlagValue::Int(1)),
            Some((_, FlagValue::Int(1..))) => {}
            // The plugin ends the process over a value of another type, and makes a client without devices of none.
            Some((_, value)) => {
                let message = format!("`{CPU_DEVICES}` is {value:?}");
                return Err(error_with(Stage::CreateClient, message, "give a whole number from 1"));
            }
        }
        // A plugin says nothing of itself before it has a client, and refuses options that it does not know: those of
        // other processors are asked again without this one.
        let raw = match Client::create(plugin, &options) {
            Err(Error::Backend(e)) if options != create && e.op.message.contains(CPU_DEVICES) => {
                Client::create(plugin, create)?
            }
            made => made?,
        };
        let platform = platform(plugin, raw)?;
        let kind = match platform.as_str() {
            "cpu" | "host" => DeviceKind::Cpu,
            "cuda" | "gpu" => DeviceKind::Cuda,
            "rocm" => DeviceKind::Rocm,
            "tpu" => DeviceKind::Tpu,
            other => {
                let message = format!("{}: its platform `{other}` is not known", plugin.path().display());
                return Err(error_with(Stage::CreateClient, message, "use a plugin for cpu, cuda, rocm or tpu"));
            }
        };
        let places = places(plugin, raw, kind)?;
        let version = platform_version(plugin, raw)?;
        let platform = format!("{platform} {version}");
        Ok(Client { plugin: plugin.clone(), raw, create: create.to_vec(), kind, platform, places })
    }

    fn create(plugin: &Plugin, options: &[(String, FlagValue)]) -> Result<NonNull<PJRT_Client>> {
        let values: Vec<PJRT_NamedValue> = options.iter().map(|(name, value)| named(name, value)).collect();
        let mut args = PJRT_Client_Create_Args {
            create_options: values.as_ptr(),
            num_options: values.len(),
            ..PJRT_Client_Create_Args::new()
        };
        // SAFETY: the options and the texts that they point at live until after the call; no callbacks are given.
        unsafe { call!(plugin, Stage::CreateClient, PJRT_Client_Create, &mut args) }?;
        NonNull::new(args.client).ok_or_else(|| error(Stage::CreateClient, "the plugin gave no client"))
    }

    /// The client itself.
    pub(crate) fn raw(&self) -> *mut PJRT_Client {
        self.raw.as_ptr()
    }
    /// What kind its devices are.
    pub(crate) fn kind(&self) -> DeviceKind {
        self.kind
    }
    /// Its devices, in the plugin's order.
    pub(crate) fn places(&self) -> &[Place] {
        &self.places
    }
    /// The device, if the client has it.
    pub(crate) fn place(&self, device: Device) -> Option<&Place> {
        self.places.iter().find(|p| p.device == device)
    }
    /// Is its memory the host's?
    pub(crate) fn on_host(&self) -> bool {
        self.kind == DeviceKind::Cpu
    }
    /// Name and version of the platform, on one line.
    pub(crate) fn platform(&self) -> &str {
        &self.platform
    }
}

/// A named value that borrows name and text.
fn named(name: &str, value: &FlagValue) -> PJRT_NamedValue {
    let set = |type_: PJRT_NamedValue_Type, union: PJRT_NamedValue__bindgen_ty_1, value_size: usize| PJRT_NamedValue {
        name: name.as_ptr().cast(),
        name_size: name.len(),
        type_,
        __bindgen_anon_1: union,
        value_size,
        ..PJRT_NamedValue::new()
    };
    match value {
        FlagValue::Bool(v) => set(PJRT_NamedValue_kBool, PJRT_NamedValue__bindgen_ty_1 { bool_value: *v }, 1),
        FlagValue::Int(v) => set(PJRT_NamedValue_kInt64, PJRT_NamedValue__bindgen_ty_1 { int64_value: *v }, 1),
        FlagValue::Float(v) => set(PJRT_NamedValue_kFloat, PJRT_NamedValue__bindgen_ty_1 { float_value: *v as f32 }, 1),
        FlagValue::Text(v) => {
            let union = PJRT_NamedValue__bindgen_ty_1 { string_value: v.as_ptr().cast() };
            set(PJRT_NamedValue_kString, union, v.len())
        }
    }
}

fn platform(plugin: &Plugin, client: NonNull<PJRT_Client>) -> Result<String> {
    let mut args = PJRT_Client_PlatformName_Args { client: client.as_ptr(), ..PJRT_Client_PlatformName_Args::new() };
    // SAFETY: the client is live, and stays so for as long as the process.
    let name = unsafe {
        call!(plugin, Stage::CreateClient, PJRT_Client_PlatformName, &mut args)?;
        bytes(args.platform_name, args.platform_name_size)
    };
    Ok(String::from_utf8_lossy(name).to_lowercase())
}

fn platform_version(plugin: &Plugin, client: NonNull<PJRT_Client>) -> Result<String> {
    let mut args =
        PJRT_Client_PlatformVersion_Args { client: client.as_ptr(), ..PJRT_Client_PlatformVersion_Args::new() };
    // SAFETY: the client is live, and stays so for as long as the process.
    let version = unsafe {
        call!(plugin, Stage::CreateClient, PJRT_Client_PlatformVersion, &mut args)?;
        bytes(args.platform_version, args.platform_version_size)
    };
    Ok(String::from_utf8_lossy(version).split_whitespace().collect::<Vec<_>>().join(" "))
}

fn places(plugin: &Plugin, client: NonNull<PJRT_Client>, kind: DeviceKind) -> Result<Vec<Place>> {
    let mut args =
        PJRT_Client_AddressableDevices_Args { client: client.as_ptr(), ..PJRT_Client_AddressableDevices_Args::new() };
    // SAFETY: the client is live; the list that it gives lives as long as the client.
    let list = unsafe {
        call!(plugin, Stage::CreateClient, PJRT_Client_AddressableDevices, &mut args)?;
        match args.addressable_devices.is_null() || args.num_addressable_devices == 0 {
            true => &[][..],
            false => std::slice::from_raw_parts(args.addressable_devices, args.num_addressable_devices),
        }
    };
    let mut out = Vec::with_capacity(list.len());
    for (raw, index) in list.iter().zip(0u32..) {
        let raw = NonNull::new(*raw).ok_or_else(|| error(Stage::CreateClient, "the plugin gave no device"))?;
        out.push(Place { device: Device::new(kind, index), id: device_id(plugin, raw)?, raw });
    }
    Ok(out)
}

fn device_id(plugin: &Plugin, device: NonNull<PJRT_Device>) -> Result<i64> {
    let mut args =
        PJRT_Device_GetDescription_Args { device: device.as_ptr(), ..PJRT_Device_GetDescription_Args::new() };
    // SAFETY: devices live as long as their client, which is for as long as the process; so do their descriptions.
    unsafe {
        call!(plugin, Stage::CreateClient, PJRT_Device_GetDescription, &mut args)?;
        let device_description = args.device_description;
        let mut id = PJRT_DeviceDescription_Id_Args { device_description, ..PJRT_DeviceDescription_Id_Args::new() };
        call!(plugin, Stage::CreateClient, PJRT_DeviceDescription_Id, &mut id)?;
        Ok(id.id.into())
    }
}
