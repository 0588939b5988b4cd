//! The backend: its options, and the stages of the staging contract.

use crate::barriers;
use crate::compiler::Phase;
use crate::error::{INSTALL, error_with};
use crate::lacking;
use crate::library::{self, Compiler};
use crate::target::IreeTarget;
use crate::{IreeArtifact, IreeProgram};
use evoxc_core::{Device, Result};
use evoxc_ir::Module;
use evoxc_stablehlo::{ExportOptions, export_module};
use evoxc_stage::{Backend, Capabilities, OptLevel, Program, host_processor};
use std::path::PathBuf;
use std::sync::Arc;

/// The name of every module, and with it of its function, `evoxc.main`.
const MODULE: &str = "evoxc";

/// IREE: its compiler as a shared library, found when something first needs it.
///
/// Programs compile to IREE's bytecode (`.vmfb`), which an artifact holds. IREE's runtime is behind the feature
/// `iree-runtime`, its Vulkan driver behind `iree-vulkan`; without them programs compile and save, and `load` says what to
/// enable.
///
/// ```no_run
/// use evoxc::{Iree, IreeTarget, prelude::*};
/// let gpu = Iree::default().target(IreeTarget::Cuda { arch: "sm_80".into() });
/// let graph = trace(|x: Sym| x.tanh(), spec(F32, [8]))?;
/// graph.lower(&gpu)?.compile()?.save("tanh.evoxcartifact")?; // no GPU is needed for this
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Iree {
    compiler: Option<PathBuf>,
    target: IreeTarget,
    level: Option<OptLevel>,
    flags: Vec<String>,
    verify_only: bool,
    driver: Option<String>,
}

impl Iree {
    /// The environment variable that names the compiler.
    pub const ENV: &'static str = library::ENV;

    /// The compiler in a file, `libIREECompiler.so`. Without it, what `EVOXC_IREE_COMPILER` names, else what is
    /// installed beside the first Python in `VIRTUAL_ENV` or `PATH` that has it.
    pub fn compiler(mut self, path: impl Into<PathBuf>) -> Iree {
        self.compiler = Some(path.into());
        self
    }
    /// IREE with the compiler that `EVOXC_IREE_COMPILER` names, if it is set. Nothing is loaded.
    pub fn configured() -> Option<Iree> {
        let path = std::env::var_os(library::ENV).filter(|p| !p.is_empty())?;
        Some(Iree::default().compiler(path))
    }
    /// What to compile for; this processor by default.
    pub fn target(mut self, target: IreeTarget) -> Iree {
        self.target = target;
        self
    }
    /// How much IREE optimises; without it, what `EVOXC_OPT_LEVEL` says, else `O2`.
    pub fn opt_level(mut self, level: OptLevel) -> Iree {
        self.level = Some(level);
        self
    }
    /// One of the compiler's own flags, `--iree-…=…`. It wins over the flag of its name that follows from other options.
    pub fn flag(mut self, flag: impl Into<String>) -> Iree {
        self.flags.push(flag.into());
        self
    }
    /// Compiling stops when the program is read, verified and converted: a check that takes milliseconds. What it gives
    /// cannot be loaded.
    pub fn verify_only(mut self) -> Iree {
        self.verify_only = true;
        self
    }
    /// The runtime's driver for processors, as IREE names it: `local-sync`, which runs in the caller's time, or
    /// `local-task`, which spreads a program over threads and takes some 30 µs more a call.
    pub fn driver(mut self, name: impl Into<String>) -> Iree {
        self.driver = Some(name.into());
        self
    }
    /// Is there a compiler? Says where, and loads nothing.
    pub fn found(&self) -> Option<PathBuf> {
        self.compiler.clone().or_else(library::find).filter(|p| p.is_file())
    }

    fn open(&self) -> Result<&'static Compiler> {
        match self.compiler.clone().or_else(library::find) {
            Some(path) => Compiler::open(&path),
            None => Err(error_with("load compiler", "there is no IREE compiler", INSTALL)),
        }
    }
    /// All flags, each name once.
    fn all_flags(&self) -> Result<Vec<String>> {
        let level = match self.level {
            Some(level) => level,
            None => OptLevel::from_env().map_err(|e| error_with("flags", e, "set it to 0, 1, 2 or 3"))?,
        };
        let mut flags = self.target.flags();
        flags.push(format!("--iree-opt-level={level}"));
        // No type stands for another: what a processor cannot do is refused.
        flags.push("--iree-input-demote-f64-to-f32=false".into());
        flags.push("--iree-input-demote-i64-to-i32=false".into());
        let name = |f: &str| f.split_once('=').map_or(f, |(n, _)| n).trim_start_matches('-').to_string();
        for own in &self.flags {
            flags.retain(|f| name(f) != name(own));
            flags.push(own.clone());
        }
        Ok(flags)
    }
}

impl Backend for Iree {
    type Lowered = IreeProgram;
    type Artifact = IreeArtifact;

    fn name(&self) -> &str {
        "iree"
    }

    /// The version of this crate and of the compiler.
    fn version(&self) -> String {
        let own = env!("CARGO_PKG_VERSION");
        match self.open() {
            Ok(compiler) => format!("{own}, {}", compiler.revision),
            Err(_) => format!("{own}, no compiler"),
        }
    }

    fn abi_key(&self) -> String {
        let flags = self.all_flags().map_or_else(|e| e.to_string(), |f| f.join(" "));
        let stage = if self.verify_only { "verified; " } else { "" };
        // Code for `host` is for the processor that compiled it, and ends the process on one that lacks an instruction.
        let host = flags.split(' ').any(|f| f == "--iree-llvmcpu-target-cpu=host");
        let machine = if host { host_processor() } else { std::env::consts::ARCH };
        format!("{stage}{} {machine}; {flags}", self.target)
    }

    fn runtime_key(&self) -> String {
        self.driver.clone().unwrap_or_default()
    }

    /// IREE gives nothing back that was passed in, so there is no donation.
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            dtypes: self.target.dtypes(),
            symbolic_dims: true,
            random: true,
            linalg: true,
            control_flow: true,
            lowered_files: true,
            artifact_files: true,
            ..Capabilities::none(self.target.device_kind())
        }
    }

    /// Vulkan's devices where its driver is compiled in, and else the first device of the target's kind: nothing can look
    /// for others, and loading on it says what is missing.
    fn devices(&self) -> Vec<Device> {
        #[cfg(feature = "iree-vulkan")]
        if matches!(self.target, IreeTarget::Vulkan { .. }) {
            return crate::vulkan::devices();
        }
        vec![Device::new(self.target.device_kind(), 0)]
    }

    fn lower(&self, module: &Module) -> Result<IreeProgram> {
        module.verify()?;
        lacking::refuse(module, &self.target)?;
        self.target.check(module)?;
        let name = Some(MODULE.into());
        let options =
            ExportOptions { name, strict: true, lean: true, alone: true, closed: true, ..ExportOptions::default() };
        let text = export_module(&barriers::limit_buffers(module), &options)?;
        let outputs = module.main().map(|f| f.outputs().iter().map(|t| t.dtype).collect());
        Ok(IreeProgram { text: text.into(), outputs: outputs.unwrap_or_default() })
    }

    fn lowered_to_bytes(&self, lowered: &IreeProgram) -> Result<Vec<u8>> {
        Ok(lowered.to_bytes())
    }

    fn lowered_from_bytes(&self, bytes: &[u8]) -> Result<IreeProgram> {
        IreeProgram::from_bytes(bytes)
    }

    fn compile(&self, lowered: &IreeProgram) -> Result<IreeArtifact> {
        let phase = if self.verify_only { Phase::Input } else { Phase::End };
        let bytecode = self.open()?.compile(lowered, &self.all_flags()?, phase)?;
        Ok(IreeArtifact { bytecode: bytecode.into(), outputs: lowered.outputs.clone() })
    }

    fn artifact_to_bytes(&self, artifact: &IreeArtifact) -> Result<Vec<u8>> {
        Ok(artifact.to_bytes())
    }

    fn artifact_from_bytes(&self, bytes: &[u8]) -> Result<IreeArtifact> {
        IreeArtifact::from_bytes(bytes)
    }

    fn load(&self, artifact: &IreeArtifact, device: Device) -> Result<Arc<dyn Program>> {
        if artifact.bytecode.is_empty() {
            let message = "the program was verified, not compiled";
            return Err(error_with("load", message, "compile it with an `Iree` that is not `verify_only`"));
        }
        self.start(artifact, device)
    }
}

impl Iree {
    #[cfg(feature = "iree-runtime")]
    fn start(&self, artifact: &IreeArtifact, device: Device) -> Result<Arc<dyn Program>> {
        if device.kind() == evoxc_core::DeviceKind::Vulkan {
            return vulkan(artifact, device);
        }
        if device != Device::cpu() {
            let message = format!("tensors on {device} cannot be given to IREE's runtime yet");
            let remedy = "run the artifact's `vmfb()` with IREE's own tools, or compile for `IreeTarget::LlvmCpu`";
            return Err(error_with("load", message, remedy));
        }
        let driver = self.driver.clone().unwrap_or_else(|| "local-sync".into());
        Ok(Arc::new(crate::runtime::Runner::start(artifact, driver)?))
    }
    #[cfg(not(feature = "iree-runtime"))]
    fn start(&self, _artifact: &IreeArtifact, _device: Device) -> Result<Arc<dyn Program>> {
        let message = "IREE's runtime is not compiled in";
        let remedy = "enable the feature `iree-runtime` of evoxc, or run the artifact's `vmfb()` with IREE's own tools";
        Err(error_with("load", message, remedy))
    }
}

#[cfg(feature = "iree-vulkan")]
fn vulkan(artifact: &IreeArtifact, device: Device) -> Result<Arc<dyn Program>> {
    Ok(Arc::new(crate::vulkan::Loaded::new(artifact, device)?))
}
#[cfg(all(feature = "iree-runtime", not(feature = "iree-vulkan")))]
fn vulkan(_artifact: &IreeArtifact, _device: Device) -> Result<Arc<dyn Program>> {
    let message = "the Vulkan driver of IREE's runtime is not compiled in";
    let remedy = "enable the feature `iree-vulkan` of evoxc, or run the artifact's `vmfb()` with IREE's own tools";
    Err(error_with("load", message, remedy))
}
