//! A loaded program: host and resident tensors in, resident tensors out.

use crate::client::{Client, Place};
use crate::error::{Stage, error, error_with};
use crate::executable::Loaded;
use crate::ffi::PJRT_Buffer;
use crate::lowered::extents;
use crate::memory::Memory;
use evoxc_core::{DType, DeviceKind, Resident, Result, RunError, Tensor, TensorSpec, spec};
use evoxc_stage::Program;
use std::any::Any;
use std::ptr::null_mut;
use std::sync::{Arc, OnceLock};

/// The type of one input or output.
struct Type {
    dtype: DType,
    shape: Vec<usize>,
    len: usize,
}

impl Type {
    fn of(s: &TensorSpec) -> Result<Type> {
        let shape = extents(s)?;
        let len = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
        let len = len.ok_or_else(|| error(Stage::LoadExecutable, format!("a {s} is too large")))?;
        Ok(Type { dtype: s.dtype, shape, len })
    }
}

/// A program on a device.
pub(crate) struct XlaRunner {
    client: Arc<Client>,
    place: Place,
    loaded: Arc<Loaded>,
    inputs: Vec<Type>,
    outputs: Vec<Type>,
    confirmed: OnceLock<()>,
}

// SAFETY: a `Place` is a device of the client, which lives as long as the process and may be used from any thread.
unsafe impl Send for XlaRunner {}
// SAFETY: as for `Send`.
unsafe impl Sync for XlaRunner {}

impl XlaRunner {
    pub(crate) fn new(
        client: Arc<Client>,
        place: Place,
        loaded: Arc<Loaded>,
        inputs: &[TensorSpec],
        outputs: &[TensorSpec],
    ) -> Result<XlaRunner> {
        let all = |specs: &[TensorSpec]| specs.iter().map(Type::of).collect::<Result<Vec<_>>>();
        let (inputs, outputs) = (all(inputs)?, all(outputs)?);
        let have = loaded.outputs()?;
        if have != outputs.len() {
            let message = format!("the executable gives {have} results, and {} are expected", outputs.len());
            return Err(error(Stage::LoadExecutable, message));
        }
        Ok(XlaRunner { client, place, loaded, inputs, outputs, confirmed: OnceLock::new() })
    }

    /// PJRT checks sizes in bytes only, so types are checked here.
    fn check(&self, args: &[Tensor]) -> Result<()> {
        let count = |n: usize| format!("{n} tensors");
        if args.len() != self.inputs.len() {
            let (expected, got) = (count(self.inputs.len()), count(args.len()));
            return Err(RunError::Input { path: "arguments".into(), expected, got }.into());
        }
        for (i, (t, want)) in args.iter().zip(&self.inputs).enumerate() {
            if t.dtype() != want.dtype || t.shape() != want.shape {
                let expected = spec(want.dtype, want.shape.as_slice()).to_string();
                return Err(RunError::Input { path: i.to_string(), expected, got: t.spec().to_string() }.into());
            }
        }
        Ok(())
    }

    /// A tensor's memory on the device of this program: what is there already is used as it is.
    fn argument(&self, t: Tensor) -> Result<Arc<Memory>> {
        let ours = |r: &Arc<dyn Resident>| {
            let memory = (&**r as &dyn Any).downcast_ref::<Memory>();
            memory.is_some_and(|m| Arc::ptr_eq(m.client(), &self.client)) && r.device() == self.place.device
        };
        if t.resident().is_some_and(ours) {
            let held: Option<Arc<dyn Any + Send + Sync>> = t.into_resident().ok().map(|r| r as _);
            let memory = held.and_then(|r| r.downcast::<Memory>().ok());
            return memory.ok_or_else(|| error(Stage::Transfer, "a tensor's memory changed its type"));
        }
        if t.device().kind() != DeviceKind::Cpu {
            let message = format!("a tensor on {} is held by another runtime", t.device());
            return Err(error_with(Stage::Transfer, message, "move it with `.to(Device::cpu())?` first"));
        }
        Ok(Arc::new(Memory::from_tensor(&self.client, &self.place, t)?))
    }
}

impl Program for XlaRunner {
    fn run(&self, args: Vec<Tensor>) -> Result<Vec<Tensor>> {
        self.check(&args)?;
        let mut arguments = args.into_iter().map(|t| self.argument(t)).collect::<Result<Vec<_>>>()?;
        let mut kept = vec![];
        for (memory, i) in arguments.iter_mut().zip(0i64..) {
            match Arc::get_mut(memory) {
                // The last owner gives its memory to the call.
                Some(memory) => memory.release(),
                None => kept.push(i),
            }
        }
        let raw: Vec<*mut PJRT_Buffer> = arguments.iter().map(|m| m.raw()).collect();
        let mut results = vec![null_mut(); self.outputs.len()];
        // SAFETY: the arguments are live buffers of this client, of the program's types by `check`; those not in `kept` have
        // no owner but `arguments`, which ends with this call. There are as many results as the executable gives.
        let ran = unsafe { self.loaded.run(&raw, &kept, &mut results) };
        // Results are taken over before anything else can fail, so that none is lost.
        let memories: Vec<Result<Memory>> = results
            .into_iter()
            .zip(&self.outputs)
            .map(|(raw, want)| {
                // SAFETY: a result of the call, or null where it failed. Its type is that of the program's output, which
                // the first call checks.
                unsafe { Memory::new(&self.client, &self.place, (want.dtype, want.len), raw) }
            })
            .collect();
        ran?;
        let memories = memories.into_iter().collect::<Result<Vec<_>>>()?;
        self.confirm(&memories)?;
        let tensors = memories.into_iter().zip(&self.outputs).map(|(m, want)| {
            let tensor = Tensor::from_resident(Arc::new(m), &want.shape);
            tensor.ok_or_else(|| error(Stage::Execute, "a result does not have its size"))
        });
        tensors.collect()
    }
}

impl XlaRunner {
    /// Checks once that the executable gives what the signature says: a damaged artifact must not make memory be read as
    /// something else.
    fn confirm(&self, results: &[Memory]) -> Result<()> {
        if self.confirmed.get().is_some() {
            return Ok(());
        }
        for (i, (m, want)) in results.iter().zip(&self.outputs).enumerate() {
            if !m.is(want.dtype, &want.shape)? {
                let expected = spec(want.dtype, want.shape.as_slice());
                return Err(error(Stage::Execute, format!("result {i} of the executable is no {expected}")));
            }
            // In memory of the host it is read in place.
            if self.client.on_host() && m.is_permuted()? {
                let message = format!("result {i} of the executable is not kept row by row");
                return Err(error_with(Stage::Execute, message, "leave `mhlo.layout_mode` out of the program's text"));
            }
        }
        self.confirmed.get_or_init(|| ());
        Ok(())
    }
}
