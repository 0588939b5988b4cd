//! The backend: its options, and the stages of the staging contract.

use crate::aliasing;
use crate::client::{Client, Place};
use crate::error::{INSTALL, Stage, error, error_with};
use crate::executable::Loaded;
use crate::lowered::{XlaProgram, read_types, symbolic, types};
use crate::memory::Memory;
use crate::options::{Donation, FlagValue, Options, set};
use crate::plugin::Plugin;
use crate::program::XlaRunner;
use evoxc_core::{
    DType, Device, DeviceError, DeviceKind, Error, PersistenceError, Resident, Result, Tensor, TensorSpec, Transfer,
    register_transfer,
};
use evoxc_ir::Module;
use evoxc_stage::{Backend, Capabilities, OptLevel, Program, host_processor};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// XLA, behind a PJRT plugin: a shared library for one kind of processor.
///
/// The value says which plugin and which options; the plugin's client is made when something first needs it. All values
/// with one plugin and the same create options share a client, so tensors pass between their programs without copies.
///
/// ```no_run
/// use evoxc::{Xla, prelude::*};
/// let xla = Xla::plugin("xla_cpu_pjrt.so")?.opt_level(OptLevel::O3);
/// let double = build(|x: Sym| x * 2.0, spec(F32, [2]), &xla)?;
/// let y = double.run(Tensor::from([1f32, 2.0]))?; // held by XLA, readable in place
/// assert_eq!(double.run(y)?.to_vec::<f32>()?, [4.0, 8.0]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone)]
pub struct Xla {
    path: Option<PathBuf>,
    options: Options,
    device: Option<u32>,
    /// Shared by clones; new where an option changes it.
    client: Arc<OnceLock<Result<Arc<Client>>>>,
}

/// A compiled program, loaded on the device that it was compiled for; other devices read it from its bytes.
#[derive(Clone)]
pub struct XlaArtifact {
    inputs: Arc<[TensorSpec]>,
    outputs: Arc<[TensorSpec]>,
    loaded: Arc<Mutex<Vec<(Device, Arc<Loaded>)>>>,
    /// The executable as bytes, where it came from a file.
    saved: Option<Arc<[u8]>>,
}

impl Xla {
    /// The environment variable that names the default plugin.
    pub const ENV: &'static str = "EVOXC_PJRT_PLUGIN";

    /// The plugin in a file, which is loaded now. It stays loaded until the process ends.
    ///
    /// # Errors
    /// [`BackendError`](evoxc_core::BackendError) where there is no plugin in that file, and what to install.
    pub fn plugin(path: impl AsRef<Path>) -> Result<Xla> {
        let path = path.as_ref();
        Plugin::load(path)?;
        Ok(Xla::lazy(Some(path.to_path_buf())))
    }
    /// The plugin that `EVOXC_PJRT_PLUGIN` names, which is loaded now.
    ///
    /// # Errors
    /// [`BackendError`](evoxc_core::BackendError) where the variable is not set or names no plugin.
    pub fn from_env() -> Result<Xla> {
        match Xla::configured() {
            Some(Xla { path: Some(path), .. }) => Xla::plugin(path),
            _ => Err(not_configured()),
        }
    }
    /// The plugin that `EVOXC_PJRT_PLUGIN` names, if it is set. Nothing is loaded before the backend is used or asked for
    /// its version or devices.
    pub fn configured() -> Option<Xla> {
        let path = std::env::var_os(Xla::ENV).filter(|p| !p.is_empty())?;
        Some(Xla::lazy(Some(path.into())))
    }
    fn lazy(path: Option<PathBuf>) -> Xla {
        Xla { path, options: Options::default(), device: None, client: Arc::default() }
    }

    /// How much XLA optimises; without it, what `EVOXC_OPT_LEVEL` says, else `O2`.
    pub fn opt_level(mut self, level: OptLevel) -> Xla {
        self.options.level = Some(level);
        self
    }
    /// One of XLA's own flags (`xla_…`), which wins over the flag of its name that follows from other options.
    pub fn flag(mut self, name: &str, value: impl Into<FlagValue>) -> Xla {
        set(&mut self.options.flags, name, value.into());
        self
    }
    /// An option that the plugin's client is created with, as its documentation names it. Plugins for the host's processor
    /// get `cpu_device_count = 1` unless it is given.
    pub fn create_option(mut self, name: &str, value: impl Into<FlagValue>) -> Xla {
        set(&mut self.options.create, name, value.into());
        self.client = Arc::default();
        self
    }
    /// The index of the device that programs are compiled for, 0 unless given. They can be loaded on any of them.
    pub fn device(mut self, index: u32) -> Xla {
        self.device = Some(index);
        self
    }
    /// May outputs take the place of inputs whose last owner was moved into the call? They may, unless this says no. An
    /// input that could be given away but was not costs one copy of it.
    pub fn donation(mut self, on: bool) -> Xla {
        self.options.donation = if on { Donation::On } else { Donation::Off };
        self
    }

    /// The plugin's client, made at the first call.
    fn client(&self) -> Result<Arc<Client>> {
        let make = || {
            let path = self.path.as_deref().ok_or_else(not_configured)?;
            let client = Client::get(&Plugin::load(path)?, &self.options.create)?;
            let mover: Arc<dyn Transfer> = Arc::new(Mover(client.clone()));
            for place in client.places().iter().filter(|p| p.device != Device::cpu()) {
                register_transfer(place.device, mover.clone());
            }
            Ok(client)
        };
        self.client.get_or_init(make).clone()
    }
    /// The device that programs are compiled for.
    fn place(&self, client: &Client) -> Result<Place> {
        let index = self.device.unwrap_or(0);
        let found = client.places().iter().find(|p| p.device.index() == index);
        found.copied().ok_or_else(|| {
            let message = format!("there is no device {index}; the plugin has {}", client.places().len());
            error_with(Stage::Compile, message, "choose another with `Xla::device`")
        })
    }
    fn compile_options(&self, client: &Client, place: &Place) -> Result<Vec<u8>> {
        // The first device is what options without a device mean.
        let first = client.places().first().is_some_and(|p| p.id == place.id);
        let id = if first { 0 } else { place.id };
        Ok(crate::proto::compile_options(id, &self.options.flags()?))
    }
}

/// Of an artifact's types and its executable: the plugin trusts them and would run what is damaged. Finds accidents, not attacks.
fn checksum(types: &str, executable: &[u8]) -> String {
    let bytes = types.as_bytes().iter().chain(executable);
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    format!("sum {hash:016x}")
}

fn not_configured() -> Error {
    error_with(Stage::LoadPlugin, "no PJRT plugin is named", INSTALL)
}

/// Moves tensors to the devices of a client.
struct Mover(Arc<Client>);

impl Transfer for Mover {
    fn transfer(&self, tensor: &Tensor, device: Device) -> Result<Arc<dyn Resident>> {
        let absent = || DeviceError::Unavailable { device, reason: "the plugin does not have it".into() };
        let place = self.0.place(device).ok_or_else(absent)?;
        // Between devices by way of the host: the tensor's own runtime reads it there.
        let host = if tensor.device().kind() == DeviceKind::Cpu { tensor.clone() } else { tensor.to(Device::cpu())? };
        Ok(Arc::new(Memory::from_tensor(&self.0, place, host)?))
    }
}

impl Backend for Xla {
    type Lowered = XlaProgram;
    type Artifact = XlaArtifact;

    fn name(&self) -> &str {
        "xla"
    }

    /// The version of this crate, of the interface and of the plugin's platform.
    fn version(&self) -> String {
        let own = env!("CARGO_PKG_VERSION");
        match self.client() {
            Ok(client) => {
                let (major, minor) = client.plugin.version();
                format!("{own}, PJRT {major}.{minor}, {}", client.platform())
            }
            Err(_) => format!("{own}, no plugin"),
        }
    }

    fn abi_key(&self) -> String {
        let plugin = self.client().ok().and_then(|c| c.plugin.hash());
        let plugin = plugin.map_or("none".into(), |h| format!("{h:016x}"));
        // Which outputs take the place of inputs is compiled in.
        let kept = match self.options.donation {
            Donation::On => "",
            Donation::Off => " no donation;",
        };
        format!("plugin {plugin}; {};{kept}{}", host_processor(), self.options.key())
    }

    /// The client that programs are loaded with, and the device that they are compiled for.
    fn runtime_key(&self) -> String {
        format!("{:?} {:?} {:?}", self.path, self.device, self.options.create)
    }

    fn capabilities(&self) -> Capabilities {
        let device = self.client().map_or(DeviceKind::Cpu, |c| c.kind());
        Capabilities {
            dtypes: DType::ALL.to_vec(),
            symbolic_dims: false,
            donation: self.options.donation == Donation::On,
            collectives: false,
            custom_calls: false,
            random: true,
            linalg: true,
            control_flow: true,
            print: false,
            lowered_files: true,
            artifact_files: true,
            ..Capabilities::none(device)
        }
    }

    fn devices(&self) -> Vec<Device> {
        self.client().map(|c| c.places().iter().map(|p| p.device).collect()).unwrap_or_default()
    }

    fn lower(&self, module: &Module) -> Result<XlaProgram> {
        let values = module.funcs.iter().flat_map(|f| &f.values);
        if let Some(v) = values.into_iter().find(|v| v.ty.shape.to_static().is_none()) {
            return Err(symbolic(&v.ty));
        }
        let main = module.main().ok_or_else(|| error(Stage::Lower, "the module has no function"))?;
        let (inputs, outputs) = (main.inputs(), main.outputs());
        let pairs = match self.options.donation {
            Donation::On => aliasing::pairs(&inputs, &outputs),
            Donation::Off => vec![],
        };
        let text = crate::export::export(module, pairs)?;
        XlaProgram::from_text(text, inputs, outputs)
    }

    fn lowered_to_bytes(&self, lowered: &XlaProgram) -> Result<Vec<u8>> {
        Ok(lowered.to_bytes())
    }

    fn lowered_from_bytes(&self, bytes: &[u8]) -> Result<XlaProgram> {
        XlaProgram::from_bytes(bytes)
    }

    fn compile(&self, lowered: &XlaProgram) -> Result<XlaArtifact> {
        let client = self.client()?;
        let place = self.place(&client)?;
        let loaded = Loaded::compile(&client, lowered, &self.compile_options(&client, &place)?)?;
        Ok(XlaArtifact {
            inputs: lowered.inputs().into(),
            outputs: lowered.outputs().into(),
            loaded: Arc::new(Mutex::new(vec![(place.device, Arc::new(loaded))])),
            saved: None,
        })
    }

    fn artifact_to_bytes(&self, artifact: &XlaArtifact) -> Result<Vec<u8>> {
        let saved = artifact.bytes()?;
        let types = types(&artifact.inputs, &artifact.outputs);
        let head = format!("{types}{}\n\n", checksum(&types, &saved));
        Ok([head.as_bytes(), &saved].concat())
    }

    fn artifact_from_bytes(&self, bytes: &[u8]) -> Result<XlaArtifact> {
        let bad =
            |reason: &str| PersistenceError::Format { path: "payload".into(), what: "artifact", reason: reason.into() };
        let cut = bytes.windows(2).position(|w| w == b"\n\n").ok_or_else(|| bad("it has no types"))?;
        let (head, rest) = bytes.split_at(cut);
        let head = std::str::from_utf8(head).map_err(|e| bad(&e.to_string()))?;
        let (types, sum) = head.split_at(head.rfind('\n').map_or(0, |end| end + 1));
        let (inputs, outputs) = read_types(types)?;
        let saved = rest.get(2..).unwrap_or_default();
        if sum != checksum(types, saved) {
            return Err(bad("the executable does not match its checksum").into());
        }
        Ok(XlaArtifact {
            inputs: inputs.into(),
            outputs: outputs.into(),
            loaded: Arc::default(),
            saved: Some(saved.into()),
        })
    }

    fn load(&self, artifact: &XlaArtifact, device: Device) -> Result<Arc<dyn Program>> {
        let client = self.client()?;
        let reason = || format!("the plugin has {}", client.places().len());
        let place = *client.place(device).ok_or_else(|| DeviceError::Unavailable { device, reason: reason() })?;
        let loaded = artifact.on(&client, device, || self.compile_options(&client, &place))?;
        Ok(Arc::new(XlaRunner::new(client, place, loaded, &artifact.inputs, &artifact.outputs)?))
    }
}

impl XlaArtifact {
    /// The types of the inputs, in order.
    pub fn inputs(&self) -> &[TensorSpec] {
        &self.inputs
    }
    /// The types of the outputs, in order.
    pub fn outputs(&self) -> &[TensorSpec] {
        &self.outputs
    }
    /// The executable as bytes.
    fn bytes(&self) -> Result<Arc<[u8]>> {
        if let Some(saved) = &self.saved {
            return Ok(saved.clone());
        }
        let loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, first) = loaded.first().ok_or_else(|| error(Stage::Serialise, "there is no executable"))?;
        Ok(first.serialise()?.into())
    }
    /// The executable on a device: that which is loaded there, else read from bytes. Nothing is compiled again.
    fn on(&self, client: &Arc<Client>, device: Device, options: impl Fn() -> Result<Vec<u8>>) -> Result<Arc<Loaded>> {
        let find = |list: &[(Device, Arc<Loaded>)]| {
            let fits = |(d, l): &&(Device, Arc<Loaded>)| *d == device && Arc::ptr_eq(l.client(), client);
            list.iter().find(fits).map(|(_, l)| l.clone())
        };
        let there = find(&self.loaded.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(loaded) = there {
            return Ok(loaded);
        }
        let loaded = Arc::new(Loaded::read(client, &self.bytes()?, &options()?)?);
        let mut list = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        list.push((device, loaded.clone()));
        Ok(loaded)
    }
}
