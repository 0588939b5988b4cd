//! The last stage: a program on a device, ready to run.

use crate::check::Checks;
use crate::{Profile, Program, Signature};
use evoxc_core::{BackendError, Device, OpError, Result, Tensor, TensorSpec, Tree, TreeDef};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// A loaded program that takes an `I` and gives an `O`, both trees of tensors. Cheap to clone; `Send + Sync`, and any
/// number of threads may run it at once.
///
/// ```
/// use evoxc::prelude::*;
/// let specs = (spec(F32, [2]), spec(F32, [2]));
/// let exe: Executable<(Tensor, Tensor), Tensor> = build(|x: Sym, y: Sym| x + y, specs, &Interp)?;
/// let (x, y) = (Tensor::from([1f32, 2.0]), Tensor::ones(F32, [2]));
/// assert_eq!(exe.run((x.clone(), y))?.to_vec::<f32>()?, [2.0, 3.0]); // y is donated, x is kept
/// # Ok::<(), evoxc::Error>(())
/// ```
pub struct Executable<I, O> {
    inner: Arc<Inner>,
    types: PhantomData<fn(I) -> O>,
}

struct Inner {
    program: Arc<dyn Program>,
    signature: Arc<Signature>,
    checks: Checks,
    backend: String,
    device: Device,
}

impl<I, O> Executable<I, O> {
    pub(crate) fn new(
        program: Arc<dyn Program>,
        signature: Arc<Signature>,
        backend: String,
        device: Device,
    ) -> Executable<I, O> {
        let checks = Checks::new(&signature, device);
        Executable { inner: Arc::new(Inner { program, signature, checks, backend, device }), types: PhantomData }
    }
    /// The same executable under other types, which its trees are checked against when it runs.
    pub(crate) fn retyped<J, P>(&self) -> Executable<J, P> {
        Executable { inner: self.inner.clone(), types: PhantomData }
    }
    /// Are both one executable, and not only equal ones?
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let exe = build(|x: Sym| x + x, spec(F32, [2]), &Interp)?;
    /// assert!(exe.same_as(&exe.clone()));
    /// assert!(!exe.same_as(&build(|x: Sym| x + x, spec(F32, [2]), &Interp)?));
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    pub fn same_as(&self, other: &Executable<I, O>) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
    /// Waits until everything that was started by earlier runs has finished.
    ///
    /// # Errors
    /// Failures of work that was still under way.
    pub fn synchronize(&self) -> Result<()> {
        self.inner.program.synchronize()
    }
    /// The types of the inputs, in order.
    pub fn specs(&self) -> &[TensorSpec] {
        &self.inner.signature.inputs
    }
    /// Types and structure of inputs and outputs.
    pub fn signature(&self) -> &Signature {
        &self.inner.signature
    }
    /// Where it runs, and where its inputs must be.
    pub fn device(&self) -> Device {
        self.inner.device
    }
    /// The name of the backend it was made by.
    pub fn backend(&self) -> &str {
        &self.inner.backend
    }
}

impl<I: Tree<Tensor>, O: Tree<Tensor>> Executable<I, O> {
    /// Runs the program.
    ///
    /// The arguments are moved in: storage with no other owner may be written to, so that an output takes the place of
    /// an input of its size. Clone a tensor first to keep it.
    ///
    /// # Errors
    /// [`RunError`](evoxc_core::RunError) for arguments of another structure, dtype, shape or device and for a symbolic
    /// extent with two values, all before any work; and what fails while the program runs.
    pub fn run(&self, args: I) -> Result<O> {
        let inner = &*self.inner;
        let (leaves, tree) = TreeDef::flatten(args);
        inner.checks.check(&inner.signature, &leaves, &tree)?;
        self.results(inner.program.run(leaves)?)
    }

    /// [`Executable::run`], and what the time was spent on: on the native compiler every kernel with its time, GB/s and
    /// GFLOP/s, on others the run as a whole. `Profile` prints as a table, and writes a Chrome trace.
    ///
    /// # Errors
    /// As [`Executable::run`].
    pub fn profile(&self, args: I) -> Result<(O, Profile)> {
        let inner = &*self.inner;
        let (leaves, tree) = TreeDef::flatten(args);
        inner.checks.check(&inner.signature, &leaves, &tree)?;
        let (outputs, profile) = inner.program.profile(leaves)?;
        Ok((self.results(outputs)?, profile))
    }

    fn results(&self, outputs: Vec<Tensor>) -> Result<O> {
        let inner = &*self.inner;
        let expected = inner.signature.outputs.len();
        if outputs.len() != expected {
            let message = format!("the program gave {} results instead of {expected}", outputs.len());
            let op = OpError::new("run", message).remedy("report this: it is an error of the backend");
            return Err(BackendError { backend: inner.backend.clone(), op }.into());
        }
        inner.signature.output_tree.unflatten(outputs)
    }
}

impl<I, O> Clone for Executable<I, O> {
    fn clone(&self) -> Self {
        Executable { inner: self.inner.clone(), types: PhantomData }
    }
}
impl<I, O> fmt::Debug for Executable<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Executable on {} {}: ", self.inner.backend, self.inner.device)?;
        f.debug_list().entries(self.specs()).finish()
    }
}
