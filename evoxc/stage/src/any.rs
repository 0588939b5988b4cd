//! A backend chosen at run time.

use crate::{Backend, Capabilities, Program};
use evoxc_core::{BackendError, Device, OpError, Result};
use evoxc_ir::Module;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Any backend, behind one type: what `backends()` lists. It is a [`Backend`] itself, so everything that takes one
/// takes it, and its files are those of the backend inside.
///
/// ```
/// use evoxc::{AnyBackend, prelude::*};
/// fn on_every_backend(x: &Tensor) -> evoxc::Result<Vec<Tensor>> {
///     backends().iter().map(|b: &AnyBackend| evaluate(|x: Sym| x + 1.0, x.clone(), b)).collect()
/// }
/// for y in on_every_backend(&Tensor::from(1f32))? {
///     assert_eq!(y.item::<f32>()?, 2.0);
/// }
/// # Ok::<(), evoxc::Error>(())
/// ```
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

/// The artifact of an [`AnyBackend`].
#[derive(Clone)]
pub struct AnyArtifact(Arc<dyn Any + Send + Sync>);

/// [`Backend`] without its associated types.
trait Erased: Send + Sync {
    fn name(&self) -> &str;
    fn version(&self) -> String;
    fn abi_key(&self) -> String;
    fn runtime_key(&self) -> String;
    fn capabilities(&self) -> Capabilities;
    fn devices(&self) -> Vec<Device>;
    fn lower(&self, module: &Module) -> Result<AnyLowered>;
    fn lowered_to_bytes(&self, lowered: &AnyLowered) -> Result<Vec<u8>>;
    fn lowered_from_bytes(&self, bytes: &[u8]) -> Result<AnyLowered>;
    fn compile(&self, lowered: &AnyLowered) -> Result<AnyArtifact>;
    fn artifact_to_bytes(&self, artifact: &AnyArtifact) -> Result<Vec<u8>>;
    fn artifact_from_bytes(&self, bytes: &[u8]) -> Result<AnyArtifact>;
    fn load(&self, artifact: &AnyArtifact, device: Device) -> Result<Arc<dyn Program>>;
    fn inner(&self) -> &dyn Any;
}

fn own<'a, B: Backend>(b: &B, lowered: &'a AnyLowered) -> Result<&'a B::Lowered> {
    lowered.0.downcast_ref::<B::Lowered>().ok_or_else(|| foreign(b, "compile"))
}

fn own_artifact<'a, B: Backend>(b: &B, artifact: &'a AnyArtifact) -> Result<&'a B::Artifact> {
    artifact.0.downcast_ref::<B::Artifact>().ok_or_else(|| foreign(b, "load"))
}

fn foreign<B: Backend>(b: &B, stage: &str) -> evoxc_core::Error {
    let op =
        OpError::new(stage, "the program comes from another backend").remedy("go through all stages with one backend");
    BackendError { backend: b.name().to_string(), op }.into()
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
    fn runtime_key(&self) -> String {
        Backend::runtime_key(self)
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
    fn compile(&self, lowered: &AnyLowered) -> Result<AnyArtifact> {
        Ok(AnyArtifact(Arc::new(Backend::compile(self, own(self, lowered)?)?)))
    }
    fn artifact_to_bytes(&self, artifact: &AnyArtifact) -> Result<Vec<u8>> {
        Backend::artifact_to_bytes(self, own_artifact(self, artifact)?)
    }
    fn artifact_from_bytes(&self, bytes: &[u8]) -> Result<AnyArtifact> {
        Ok(AnyArtifact(Arc::new(Backend::artifact_from_bytes(self, bytes)?)))
    }
    fn load(&self, artifact: &AnyArtifact, device: Device) -> Result<Arc<dyn Program>> {
        Backend::load(self, own_artifact(self, artifact)?, device)
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
    type Artifact = AnyArtifact;
    fn name(&self) -> &str {
        self.0.name()
    }
    fn version(&self) -> String {
        self.0.version()
    }
    fn abi_key(&self) -> String {
        self.0.abi_key()
    }
    fn runtime_key(&self) -> String {
        self.0.runtime_key()
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
    fn compile(&self, lowered: &AnyLowered) -> Result<AnyArtifact> {
        self.0.compile(lowered)
    }
    fn artifact_to_bytes(&self, artifact: &AnyArtifact) -> Result<Vec<u8>> {
        self.0.artifact_to_bytes(artifact)
    }
    fn artifact_from_bytes(&self, bytes: &[u8]) -> Result<AnyArtifact> {
        self.0.artifact_from_bytes(bytes)
    }
    fn load(&self, artifact: &AnyArtifact, device: Device) -> Result<Arc<dyn Program>> {
        self.0.load(artifact, device)
    }
}

impl fmt::Debug for AnyBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", Backend::name(self), Backend::version(self))
    }
}
impl fmt::Debug for AnyArtifact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnyArtifact")
    }
}
impl fmt::Debug for AnyLowered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnyLowered")
    }
}
