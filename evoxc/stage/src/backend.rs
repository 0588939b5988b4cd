//! What a backend implements.

use crate::{Capabilities, Program};
use evoxc_core::{Device, Result};
use evoxc_ir::Module;
use std::sync::Arc;

/// A target for programs: a value that describes how to lower, compile and load them. Options are its builder methods.
///
/// A backend must refuse what it cannot run, with a [`BackendError`](evoxc_core::BackendError) that names the op and
/// the remedy; it never falls back to another way of running.
///
/// A backend that runs everything on the interpreter, but refuses to sort:
///
/// ```
/// use evoxc::{BackendError, Capabilities, OpError, Program, prelude::*};
/// use evoxc::ir::{Module, Prim};
/// # use std::sync::Arc;
///
/// #[derive(Clone)]
/// struct Unsorted;
///
/// impl Backend for Unsorted {
///     type Lowered = <Interp as Backend>::Lowered;
///     type Artifact = <Interp as Backend>::Artifact;
///     fn name(&self) -> &str {
///         "unsorted"
///     }
///     fn lower(&self, module: &Module) -> evoxc::Result<Self::Lowered> {
///         let mut ops = module.funcs.iter().flat_map(|f| &f.body.ops);
///         if ops.any(|op| matches!(op.prim, Prim::Sort { .. })) {
///             let op = OpError::new("sort", "this backend cannot sort").remedy("use `Interp`");
///             return Err(BackendError { backend: self.name().into(), op }.into());
///         }
///         Interp.lower(module)
///     }
///     fn compile(&self, lowered: &Self::Lowered) -> evoxc::Result<Self::Artifact> {
///         Interp.compile(lowered)
///     }
///     // … and so on.
/// #     fn version(&self) -> String {
/// #         Interp.version()
/// #     }
/// #     fn abi_key(&self) -> String {
/// #         Interp.abi_key()
/// #     }
/// #     fn capabilities(&self) -> Capabilities {
/// #         Interp.capabilities()
/// #     }
/// #     fn devices(&self) -> Vec<Device> {
/// #         Interp.devices()
/// #     }
/// #     fn lowered_to_bytes(&self, lowered: &Self::Lowered) -> evoxc::Result<Vec<u8>> {
/// #         Interp.lowered_to_bytes(lowered)
/// #     }
/// #     fn lowered_from_bytes(&self, bytes: &[u8]) -> evoxc::Result<Self::Lowered> {
/// #         Interp.lowered_from_bytes(bytes)
/// #     }
/// #     fn artifact_to_bytes(&self, artifact: &Self::Artifact) -> evoxc::Result<Vec<u8>> {
/// #         Interp.artifact_to_bytes(artifact)
/// #     }
/// #     fn artifact_from_bytes(&self, bytes: &[u8]) -> evoxc::Result<Self::Artifact> {
/// #         Interp.artifact_from_bytes(bytes)
/// #     }
/// #     fn load(&self, artifact: &Self::Artifact, device: Device) -> evoxc::Result<Arc<dyn Program>> {
/// #         Interp.load(artifact, device)
/// #     }
/// }
///
/// let graph = trace(|x: Sym| x.sort(0), spec(F32, [3]))?;
/// let error = graph.lower(&Unsorted).unwrap_err();
/// assert_eq!(error.to_string(), "backend unsorted: sort: this backend cannot sort; use `Interp`");
/// # Ok::<(), evoxc::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a backend",
    label = "expected a backend",
    note = "pass `&Interp`, `&Native::default()`, or one of `backends()`"
)]
pub trait Backend: Clone + Send + Sync + 'static {
    /// The backend's own view of a program: StableHLO text, a kernel schedule, … A lowered program derefs to it.
    type Lowered: Clone + Send + Sync + 'static;

    /// A compiled program, ready to be loaded. It becomes bytes only when it is saved.
    type Artifact: Clone + Send + Sync + 'static;

    /// The name, as in error messages and files: `interp`.
    fn name(&self) -> &str;

    /// The version of the backend, or of the compiler behind it. Files of another version are refused.
    fn version(&self) -> String;

    /// What else a compiled artifact depends on: target triple, CPU features, runtime ABI, options that change code.
    /// Two values whose artifacts may differ must give different keys: files and caches tell artifacts apart by it.
    fn abi_key(&self) -> String;

    /// What else a loaded program depends on, beside its artifact: options of the runtime, such as a number of threads
    /// or a limit of memory. Two values whose loaded programs may differ must give different keys: a
    /// [`CompileCache`](crate::CompileCache) tells them apart by it. Nothing, unless a backend says otherwise.
    fn runtime_key(&self) -> String {
        String::new()
    }

    /// What the backend can take.
    fn capabilities(&self) -> Capabilities;

    /// The devices of this host that it can load programs on; empty if there are none.
    fn devices(&self) -> Vec<Device>;

    /// Translates a verified module.
    ///
    /// # Errors
    /// [`BackendError`](evoxc_core::BackendError) for an op, dtype or shape that the backend cannot take.
    fn lower(&self, module: &Module) -> Result<Self::Lowered>;

    /// The bytes of a lowered program, for its file.
    ///
    /// # Errors
    /// [`BackendError`](evoxc_core::BackendError) if the backend's lowered form cannot be saved.
    fn lowered_to_bytes(&self, lowered: &Self::Lowered) -> Result<Vec<u8>>;

    /// Reads what [`Backend::lowered_to_bytes`] wrote.
    ///
    /// # Errors
    /// Any error for bytes that are no lowered program; never a panic, whatever the bytes.
    fn lowered_from_bytes(&self, bytes: &[u8]) -> Result<Self::Lowered>;

    /// Compiles to a self-contained artifact.
    ///
    /// # Errors
    /// [`BackendError`](evoxc_core::BackendError) when the compiler fails.
    fn compile(&self, lowered: &Self::Lowered) -> Result<Self::Artifact>;

    /// The bytes of an artifact, for its file.
    ///
    /// # Errors
    /// [`BackendError`](evoxc_core::BackendError) if the backend's artifacts cannot be saved.
    fn artifact_to_bytes(&self, artifact: &Self::Artifact) -> Result<Vec<u8>>;

    /// Reads what [`Backend::artifact_to_bytes`] wrote.
    ///
    /// # Errors
    /// Any error for bytes that are no artifact; never a panic, whatever the bytes.
    fn artifact_from_bytes(&self, bytes: &[u8]) -> Result<Self::Artifact>;

    /// Loads an artifact on a device, which is one of [`Backend::devices`].
    ///
    /// # Errors
    /// [`BackendError`](evoxc_core::BackendError) when the runtime cannot take it.
    fn load(&self, artifact: &Self::Artifact, device: Device) -> Result<Arc<dyn Program>>;
}
