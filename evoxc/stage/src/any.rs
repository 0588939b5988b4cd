//! A backend chosen at run time.

use crate::{Backend, Capabilities, Program};
use evoxc_core::{BackendError, Device, OpError, Result};
use evoxc_ir::Module;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Any backend, behind one type: what `backends()` lists. It is a [`Backend`] itself, so everything that takes one
/// takes it, and its files are those of the backend inside.
#[derive(Clone)]
pub struct AnyBackend(Arc<dyn Erased>);

/// The lowered program of an [`AnyBackend`].
#[derive(Clone)]
pub struct AnyLowered(Arc<dyn Any + Send + Sync>);

impl AnyLowered {
    /// The lowered form of a known backend: `lowered.downcast_ref::<<Interp as Backend>::Lowered>()`.
    pub fn downcast_ref<T: 'static>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

/// [`Backend`] without its associated type.
trait Erased: Send + Sync {
    fn name(&self) -> &str;
    fn version(&self) -> String;
    fn abi_key(&self) -> String;
    fn capabilities(&self) -> Capabilities;
    fn devices(&self) -> Vec<Device>;
    fn lower(&self, module: &Module) -> Result<AnyLowered>;
    fn lowered_to_bytes(&self, lowered: &AnyLowered) -> Result<Vec<u8>>;
    fn lowered_from_bytes(&self, bytes: &[u8]) -> Result<AnyLowered>;
    fn compile(&self, lowered: &AnyLowered) -> Result<Vec<u8>>;
    fn load(&self, artifact: &[u8], device: Device) -> Result<Arc<dyn Program>>;
    fn inner(&self) -> &dyn Any;
}

fn own<'a, B: Backend>(b: &B, lowered: &'a AnyLowered) -> Result<&'a B::Lowered> {
    lowered.0.downcast_ref::<B::Lowered>().ok_or_else(|| {
        let op = OpError::new("compile", "the program was lowered by another backend")
            .remedy("lower and compile with one backend");
        BackendError { backend: b.name().to_string(), op }.into()
    })
}

impl<B: Backend> Erased for B {
    fn name(&self) -> &str {
        Backend::name(self)
    }
    fn version(&self) -> String {
        Backend::version(self)
    }
    fn abi_key(&self) -> String {
        Backend::abi_key(self)
    }
    fn capabilities(&self) -> Capabilities {
        Backend::capabilities(self)
    }
    fn devices(&self) -> Vec<Device> {
        Backend::devices(self)
    }
    fn lower(&self, module: &Module) -> Result<AnyLowered> {
        Ok(AnyLowered(Arc::new(Backend::lower(self, module)?)))
    }
    fn lowered_to_bytes(&self, lowered: &AnyLowered) -> Result<Vec<u8>> {
        Backend::lowered_to_bytes(self, own(self, lowered)?)
    }
    fn lowered_from_bytes(&self, bytes: &[u8]) -> Result<AnyLowered> {
        Ok(AnyLowered(Arc::new(Backend::lowered_from_bytes(self, bytes)?)))
    }
    fn compile(&self, lowered: &AnyLowered) -> Result<Vec<u8>> {
        Backend::compile(self, own(self, lowered)?)
    }
    fn load(&self, artifact: &[u8], device: Device) -> Result<Arc<dyn Program>> {
        Backend::load(self, artifact, device)
    }
    fn inner(&self) -> &dyn Any {
        self
    }
}

impl AnyBackend {
    /// The erased form of a backend.
    pub fn new(backend: impl Backend) -> AnyBackend {
        AnyBackend(Arc::new(backend))
    }
    /// The backend inside, if it is a `B`.
    pub fn downcast_ref<B: Backend>(&self) -> Option<&B> {
        self.0.inner().downcast_ref()
    }
}

impl Backend for AnyBackend {
    type Lowered = AnyLowered;
    fn name(&self) -> &str {
        self.0.name()
    }
    fn version(&self) -> String {
        self.0.version()
    }
    fn abi_key(&self) -> String {
        self.0.abi_key()
    }
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }
    fn devices(&self) -> Vec<Device> {
        self.0.devices()
    }
    fn lower(&self, module: &Module) -> Result<AnyLowered> {
        self.0.lower(module)
    }
    fn lowered_to_bytes(&self, lowered: &AnyLowered) -> Result<Vec<u8>> {
        self.0.lowered_to_bytes(lowered)
    }
    fn lowered_from_bytes(&self, bytes: &[u8]) -> Result<AnyLowered> {
        self.0.lowered_from_bytes(bytes)
    }
    fn compile(&self, lowered: &AnyLowered) -> Result<Vec<u8>> {
        self.0.compile(lowered)
    }
    fn load(&self, artifact: &[u8], device: Device) -> Result<Arc<dyn Program>> {
        self.0.load(artifact, device)
    }
}

impl fmt::Debug for AnyBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", Backend::name(self), Backend::version(self))
    }
}
impl fmt::Debug for AnyLowered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnyLowered")
    }
}
