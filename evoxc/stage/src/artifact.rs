//! The stage after compiling: bytes that can be saved, shipped, and loaded elsewhere.

use crate::persist::{self, Container, Kind};
use crate::{Backend, Executable, Signature};
use evoxc_core::{Device, DeviceError, Dyn, PersistenceError, Result, Tensor, TensorSpec, Tree, TreeDef};
use evoxc_ir::Module;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

/// A compiled program from `I` to `O`, both trees of tensors. It derefs to the backend's own form, such as a compiler's
/// bytecode.
///
/// ```
/// use evoxc::prelude::*;
/// let artifact = trace(|x: Sym| x * 2.0, spec(F32, [2]))?.lower(&Interp)?.compile()?;
/// let path = std::env::temp_dir().join(format!("doubles-{}.evoxcartifact", std::process::id()));
/// artifact.save(&path)?;
/// let again = CompiledArtifact::open(&path, &Interp)?.typed::<Tensor, Tensor>()?;
/// let y = again.load(Device::cpu())?.run(Tensor::from([1f32, 2.0]))?;
/// assert_eq!(y.to_vec::<f32>()?, [2.0, 4.0]);
/// # std::fs::remove_file(path).unwrap();
/// # Ok::<(), evoxc::Error>(())
/// ```
pub struct CompiledArtifact<I, O, B: Backend> {
    backend: B,
    artifact: B::Artifact,
    signature: Arc<Signature>,
    types: PhantomData<fn(I) -> O>,
}

impl<I, O, B: Backend> CompiledArtifact<I, O, B> {
    pub(crate) fn new(backend: B, artifact: B::Artifact, signature: Arc<Signature>) -> Self {
        CompiledArtifact { backend, artifact, signature, types: PhantomData }
    }
    /// Loads it on a device.
    ///
    /// # Errors
    /// [`PersistenceError::Mismatch`] for a device of another kind than the artifact was compiled for,
    /// [`DeviceError::Unavailable`] for one that this host does not have, and the backend's own errors.
    pub fn load(&self, device: Device) -> Result<Executable<I, O>> {
        let kind = self.backend.capabilities().device;
        if device.kind() != kind {
            return Err(PersistenceError::Mismatch {
                path: "artifact".into(),
                field: "device",
                saved: persist::kind_name(kind).into(),
                here: persist::kind_name(device.kind()).into(),
                remedy: "load it on a device of its kind, or lower the graph for a backend of that device".into(),
            }
            .into());
        }
        let devices = self.backend.devices();
        if !devices.contains(&device) {
            let list: Vec<String> = devices.iter().map(Device::to_string).collect();
            let found = if list.is_empty() { "no device".into() } else { list.join(", ") };
            let reason = format!("backend {} finds {found} on this host", self.backend.name());
            return Err(DeviceError::Unavailable { device, reason }.into());
        }
        let program = self.backend.load(&self.artifact, device)?;
        Ok(Executable::new(program, self.signature.clone(), self.backend.name().to_string(), device))
    }
    /// Writes it to a file, which [`CompiledArtifact::open`] reads. An existing file is replaced as a whole or not at
    /// all.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let bytes = self.backend.artifact_to_bytes(&self.artifact)?;
        persist::write(path.as_ref(), &Container::new(Kind::Artifact, &self.backend, &self.signature, &bytes))
    }
    /// The backend.
    pub fn backend(&self) -> &B {
        &self.backend
    }
    /// The backend's own form of it.
    pub fn artifact(&self) -> &B::Artifact {
        &self.artifact
    }
    /// The types of the inputs, in order.
    pub fn specs(&self) -> &[TensorSpec] {
        &self.signature.inputs
    }
    /// Types and structure of inputs and outputs.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }
}

impl<B: Backend> CompiledArtifact<Dyn<Tensor>, Dyn<Tensor>, B> {
    /// Reads a file that [`CompiledArtifact::save`] wrote. Its types are erased; [`CompiledArtifact::typed`] restores
    /// them.
    ///
    /// # Errors
    /// [`PersistenceError`] for a file that is damaged, or was saved by another backend, backend version, ABI, device
    /// kind or version of the format.
    pub fn open(path: impl AsRef<Path>, backend: &B) -> Result<Self> {
        let (signature, payload) = persist::read(path.as_ref(), Kind::Artifact, backend)?;
        let read = backend.artifact_from_bytes(&payload);
        let artifact = read.map_err(|e| persist::refused(path.as_ref(), Kind::Artifact, &e))?;
        Ok(CompiledArtifact::new(backend.clone(), artifact, Arc::new(signature)))
    }
    /// The same program with its types, if its structures can be an `I` and an `O`.
    ///
    /// # Errors
    /// [`TreeError`](evoxc_core::TreeError) with the path of the first difference.
    pub fn typed<I: Tree<Tensor>, O: Tree<Tensor>>(&self) -> Result<CompiledArtifact<I, O, B>> {
        let signature = self.signature.typed::<I::Map<TensorSpec>, O::Map<TensorSpec>>()?;
        Ok(CompiledArtifact::new(self.backend.clone(), self.artifact.clone(), Arc::new(signature)))
    }
    /// [`CompiledArtifact::typed`] for trees with static values that are no plain numbers: they come from live trees of
    /// specs.
    ///
    /// # Errors
    /// [`TreeError`](evoxc_core::TreeError) with the path of the first difference.
    pub fn typed_like<I: Tree<Tensor>, O: Tree<Tensor>>(
        &self,
        inputs: I::Map<TensorSpec>,
        outputs: O::Map<TensorSpec>,
    ) -> Result<CompiledArtifact<I, O, B>> {
        let signature = self.signature.typed_like(inputs, outputs)?;
        Ok(CompiledArtifact::new(self.backend.clone(), self.artifact.clone(), Arc::new(signature)))
    }
}

impl<B: Backend> CompiledArtifact<Dyn<Tensor>, Dyn<Tensor>, B> {
    /// The same program with these live trees, to which the types `I` and `O` belong, if its signature is that of this
    /// module. For the tracer, which finds it in a cache.
    #[doc(hidden)]
    pub fn of_module<I, O>(
        &self,
        module: &Module,
        inputs: TreeDef,
        outputs: TreeDef,
    ) -> Result<Option<CompiledArtifact<I, O, B>>> {
        let signature = Signature::of(module, inputs, outputs)?;
        let same = signature == *self.signature;
        let artifact = || CompiledArtifact::new(self.backend.clone(), self.artifact.clone(), Arc::new(signature));
        Ok(same.then(artifact))
    }
}

impl<I, O, B: Backend> Deref for CompiledArtifact<I, O, B> {
    type Target = B::Artifact;
    fn deref(&self) -> &B::Artifact {
        &self.artifact
    }
}
impl<I, O, B: Backend> Clone for CompiledArtifact<I, O, B> {
    fn clone(&self) -> Self {
        CompiledArtifact::new(self.backend.clone(), self.artifact.clone(), self.signature.clone())
    }
}
impl<I, O, B: Backend> fmt::Debug for CompiledArtifact<I, O, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CompiledArtifact for {}: ", self.backend.name())?;
        f.debug_list().entries(self.specs()).finish()
    }
}
