//! The interpreter as a backend: a lowered program is the verified module itself, an artifact its file.

use evoxc_core::{BackendError, Device, DeviceKind, OpError, PersistenceError, Result, Tensor, TreeDef};
use evoxc_ir::{GraphFile, Module};
use evoxc_reference::Plan;
use evoxc_stage::{Backend, Capabilities, Program};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

const NAME: &str = "interp";

/// The reference interpreter: every op, dtype and symbolic shape, on the host.
///
/// ```
/// use evoxc::prelude::*;
/// let exe = build(|x: Sym| x.sum(0), spec(F32, [dim("B")]), &Interp)?;
/// assert_eq!(exe.run(Tensor::ones(F32, [3]))?.item::<f32>()?, 3.0);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interp;

/// The interpreter's view of a program: the module, as it is.
#[derive(Clone, Debug)]
pub struct InterpProgram {
    module: Arc<Module>,
}

impl InterpProgram {
    /// The module that runs.
    pub fn module(&self) -> &Module {
        &self.module
    }
    fn to_bytes(&self) -> Result<Vec<u8>> {
        // The trees of the stages travel beside the artifact; here, arguments and results are plain lists.
        let (ins, outs) = self.module.main().map(|f| (f.body.args.len(), f.body.results.len())).unwrap_or_default();
        let (inputs, outputs) = (TreeDef::leaves_tuple(ins), TreeDef::leaves_tuple(outs));
        let file = GraphFile { module: Module::clone(&self.module), inputs, outputs, captures: 0 };
        file.to_json().map(String::into_bytes)
    }
    /// Reads and verifies: what is on disk may be damaged.
    fn from_bytes(bytes: &[u8], what: &'static str) -> Result<InterpProgram> {
        let text = std::str::from_utf8(bytes).map_err(|e| PersistenceError::Format {
            path: "<bytes>".into(),
            what,
            reason: e.to_string(),
        })?;
        let module = GraphFile::from_json(text)?.module;
        module.verify()?;
        Ok(InterpProgram { module: Arc::new(module) })
    }
}
impl Deref for InterpProgram {
    type Target = Module;
    fn deref(&self) -> &Module {
        &self.module
    }
}
impl fmt::Display for InterpProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&*self.module, f)
    }
}

/// A plan, as a program.
struct Planned(Plan);

impl Program for Planned {
    fn run(&self, args: Vec<Tensor>) -> Result<Vec<Tensor>> {
        self.0.run(args)
    }
}

impl Backend for Interp {
    type Lowered = InterpProgram;
    type Artifact = InterpProgram;

    fn name(&self) -> &str {
        NAME
    }
    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").into()
    }
    /// Artifacts are modules: they depend on no machine.
    fn abi_key(&self) -> String {
        "evoxc.graph".into()
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { custom_calls: false, ..Capabilities::all(DeviceKind::Cpu) }
    }
    fn devices(&self) -> Vec<Device> {
        vec![Device::cpu()]
    }
    fn lower(&self, module: &Module) -> Result<InterpProgram> {
        module.verify()?;
        Ok(InterpProgram { module: Arc::new(module.clone()) })
    }
    fn lowered_to_bytes(&self, lowered: &InterpProgram) -> Result<Vec<u8>> {
        lowered.to_bytes()
    }
    fn lowered_from_bytes(&self, bytes: &[u8]) -> Result<InterpProgram> {
        InterpProgram::from_bytes(bytes, "lowered program")
    }
    fn compile(&self, lowered: &InterpProgram) -> Result<InterpProgram> {
        Ok(lowered.clone())
    }
    fn artifact_to_bytes(&self, artifact: &InterpProgram) -> Result<Vec<u8>> {
        artifact.to_bytes()
    }
    fn artifact_from_bytes(&self, bytes: &[u8]) -> Result<InterpProgram> {
        InterpProgram::from_bytes(bytes, "artifact")
    }
    fn load(&self, artifact: &InterpProgram, device: Device) -> Result<Arc<dyn Program>> {
        if device != Device::cpu() {
            let op = OpError::new("load", format!("programs run on the host only, not on {device}"))
                .remedy("load them with `Device::cpu()`");
            return Err(BackendError { backend: NAME.into(), op }.into());
        }
        Ok(Arc::new(Planned(Plan::new(artifact.module())?)))
    }
}
