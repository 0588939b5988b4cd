//! The stage after lowering: a program in the backend's own form.

use crate::persist::{self, Container, Kind};
use crate::{Backend, CompiledArtifact, Signature};
use evoxc_core::{Dyn, Result, Tensor, TensorSpec, Tree, TreeDef};
use evoxc_ir::Module;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

/// A program that a backend has translated, from `I` to `O`, both trees of tensors. It derefs to the backend's own
/// form, such as StableHLO text.
///
/// ```
/// use evoxc::prelude::*;
/// let lowered = trace(|x: Sym| x.exp(), spec(F32, [2]))?.lower(&Interp)?;
/// assert!(lowered.module().to_string().contains("evoxc.exp")); // the interpreter's own form is the module
/// let exe = lowered.compile()?.load(Device::cpu())?;
/// assert_eq!(exe.run(Tensor::zeros(F32, [2]))?.to_vec::<f32>()?, [1.0, 1.0]);
/// # Ok::<(), evoxc::Error>(())
/// ```
pub struct LoweredProgram<I, O, B: Backend> {
    backend: B,
    lowered: B::Lowered,
    signature: Arc<Signature>,
    types: PhantomData<fn(I) -> O>,
}

impl<I, O, B: Backend> LoweredProgram<I, O, B> {
    /// Lowers a verified module whose inputs and outputs have these structures. For the tracer: users call
    /// `graph.lower(&backend)`, whose types `I` and `O` belong to these structures.
    ///
    /// # Errors
    /// Those of [`Backend::lower`], and structures that have another number of leaves than the module's entry.
    #[doc(hidden)]
    pub fn from_parts(backend: B, module: &Module, inputs: TreeDef, outputs: TreeDef) -> Result<Self> {
        let signature = Arc::new(Signature::of(module, inputs, outputs)?);
        let lowered = backend.lower(module)?;
        Ok(LoweredProgram { backend, lowered, signature, types: PhantomData })
    }
    /// Compiles it with the backend that lowered it.
    ///
    /// # Errors
    /// [`BackendError`](evoxc_core::BackendError) when the compiler fails.
    pub fn compile(&self) -> Result<CompiledArtifact<I, O, B>> {
        let artifact = self.backend.compile(&self.lowered)?;
        Ok(CompiledArtifact::new(self.backend.clone(), artifact, self.signature.clone()))
    }
    /// Writes it to a file, which [`LoweredProgram::open`] reads. An existing file is replaced as a whole or not at all.
    ///
    /// # Errors
    /// A backend whose lowered form cannot be saved, and errors of the file system.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let payload = self.backend.lowered_to_bytes(&self.lowered)?;
        persist::write(path.as_ref(), &Container::new(Kind::Lowered, &self.backend, &self.signature, &payload))
    }
    /// The backend.
    pub fn backend(&self) -> &B {
        &self.backend
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

impl<B: Backend> LoweredProgram<Dyn<Tensor>, Dyn<Tensor>, B> {
    /// Reads a file that [`LoweredProgram::save`] wrote. Its types are erased; [`LoweredProgram::typed`] restores them.
    ///
    /// # Errors
    /// [`PersistenceError`](evoxc_core::PersistenceError) for a file that is damaged, or was saved by another backend,
    /// backend version, ABI, device kind or version of the format.
    pub fn open(path: impl AsRef<Path>, backend: &B) -> Result<Self> {
        let (signature, payload) = persist::read(path.as_ref(), Kind::Lowered, backend)?;
        let lowered =
            backend.lowered_from_bytes(&payload).map_err(|e| persist::refused(path.as_ref(), Kind::Lowered, &e))?;
        Ok(LoweredProgram { backend: backend.clone(), lowered, signature: Arc::new(signature), types: PhantomData })
    }
    /// The same program with its types, if its structures can be an `I` and an `O`.
    ///
    /// # Errors
    /// [`TreeError`](evoxc_core::TreeError) with the path of the first difference.
    pub fn typed<I: Tree<Tensor>, O: Tree<Tensor>>(&self) -> Result<LoweredProgram<I, O, B>> {
        Ok(self.with(self.signature.typed::<I::Map<TensorSpec>, O::Map<TensorSpec>>()?))
    }
    /// [`LoweredProgram::typed`] for trees with static values that are no plain numbers: they come from live trees of
    /// specs.
    ///
    /// # Errors
    /// [`TreeError`](evoxc_core::TreeError) with the path of the first difference.
    pub fn typed_like<I: Tree<Tensor>, O: Tree<Tensor>>(
        &self,
        inputs: I::Map<TensorSpec>,
        outputs: O::Map<TensorSpec>,
    ) -> Result<LoweredProgram<I, O, B>> {
        Ok(self.with(self.signature.typed_like(inputs, outputs)?))
    }
    fn with<I, O>(&self, signature: Signature) -> LoweredProgram<I, O, B> {
        LoweredProgram {
            backend: self.backend.clone(),
            lowered: self.lowered.clone(),
            signature: Arc::new(signature),
            types: PhantomData,
        }
    }
}

impl<I, O, B: Backend> Deref for LoweredProgram<I, O, B> {
    type Target = B::Lowered;
    fn deref(&self) -> &B::Lowered {
        &self.lowered
    }
}
impl<I, O, B: Backend> Clone for LoweredProgram<I, O, B> {
    fn clone(&self) -> Self {
        LoweredProgram {
            backend: self.backend.clone(),
            lowered: self.lowered.clone(),
            signature: self.signature.clone(),
            types: PhantomData,
        }
    }
}
impl<I, O, B: Backend> fmt::Debug for LoweredProgram<I, O, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LoweredProgram for {}: ", self.backend.name())?;
        f.debug_list().entries(self.specs()).finish()
    }
}
