//! Vulkan devices: which there are, and the one thread of each that owns the runtime's objects there.
//!
//! The runtime's objects stay on one thread, so a device's runtime, loaded functions and buffers live on a thread of its
//! own, by number. Tensors and programs elsewhere hold a number and a sender; dropping them frees what they name. A device
//! runs one call at a time. Threads start when something first needs their device and last as long as the process.

use crate::IreeArtifact;
use crate::error::error;
use crate::value::{FUNCTION, check_count, failed, shape, tensor, value};
use eerie::runtime::{DeviceInfo, Driver, Function, Runtime, Value};
use evoxc_core::{
    Buffer, DType, Device, DeviceError, DeviceKind, Error, Resident, Result, Tensor, Transfer, register_transfer,
};
use evoxc_stage::Program;
use rustc_hash::FxHashMap;
use std::any::Any;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, OnceLock};

/// The devices of this process, in the driver's order; why there are none.
static SEATS: OnceLock<(Vec<Seat>, String)> = OnceLock::new();

/// A device, and its thread once there is one.
struct Seat {
    device: Device,
    info: DeviceInfo,
    thread: OnceLock<Result<Sender<Job>>>,
}

/// What a device's thread is asked for.
enum Job {
    Upload(Tensor, Reply<Memory>),
    Read { id: u64, dtype: DType, reply: Reply<Tensor> },
    Free(u64),
    Load(Arc<[u8]>, Reply<u64>),
    Unload(u64),
    Run { id: u64, args: Vec<Tensor>, outputs: Arc<[DType]>, reply: Reply<Vec<Tensor>> },
}

type Reply<T> = SyncSender<Result<T>>;

/// The driver is asked once a process: every question loads it anew.
fn seats() -> &'static (Vec<Seat>, String) {
    SEATS.get_or_init(|| match Runtime::available_devices(Driver::vulkan()) {
        Ok(list) => {
            let seat = |(i, info)| Seat { device: Device::vulkan(i), info, thread: OnceLock::new() };
            let seats: Vec<Seat> = (0..).zip(list).map(seat).collect();
            seats.iter().for_each(|s| register_transfer(s.device, Arc::new(Mover)));
            (seats, "the Vulkan loader finds no device; install a driver, such as Mesa's".into())
        }
        Err(e) => (vec![], format!("{}; install the Vulkan loader and a driver", failed("vulkan")(e))),
    })
}

/// The devices. Tensors can be moved to them from now on.
pub(crate) fn devices() -> Vec<Device> {
    seats().0.iter().map(|s| s.device).collect()
}

/// The way to a device's thread.
fn thread(device: Device) -> Result<Sender<Job>> {
    let (seats, none) = seats();
    let Some(seat) = seats.iter().find(|s| s.device == device) else {
        let reason = if seats.is_empty() { none.clone() } else { format!("there are {} Vulkan devices", seats.len()) };
        return Err(DeviceError::Unavailable { device, reason }.into());
    };
    seat.thread.get_or_init(|| start(seat)).clone()
}

fn start(seat: &Seat) -> Result<Sender<Job>> {
    let (jobs, inbox) = channel();
    let (ready, opened) = sync_channel(1);
    let (device, spec, own) = (seat.device, seat.info.spec(), jobs.clone());
    let serve = move || match Runtime::new(spec).map_err(failed("create device")) {
        Ok(runtime) => {
            // Who started the thread waits for this.
            let _ = ready.send(Ok(()));
            let table = Table { device, runtime, jobs: own, next: 0, buffers: default(), functions: default() };
            table.serve(&inbox);
        }
        Err(e) => drop(ready.send(Err(e))),
    };
    let thread = std::thread::Builder::new().name(format!("iree {device}")).spawn(serve);
    thread.map_err(|e| error("create device", e.to_string()))?;
    opened.recv().unwrap_or_else(|_| Err(gone()))?;
    Ok(jobs)
}

fn default<T: Default>() -> T {
    T::default()
}

fn gone() -> Error {
    error("run", "the thread that runs the Vulkan device has ended")
}

/// Asks a device's thread, and waits for the answer.
fn ask<T>(jobs: &Sender<Job>, job: impl FnOnce(Reply<T>) -> Job) -> Result<T> {
    let (reply, answer) = sync_channel(1);
    jobs.send(job(reply)).map_err(|_| gone())?;
    answer.recv().unwrap_or_else(|_| Err(gone()))
}

/// What a device's thread owns.
struct Table {
    device: Device,
    // Buffers and functions hold the device that the runtime made, so they go first.
    buffers: FxHashMap<u64, Value>,
    functions: FxHashMap<u64, Function>,
    runtime: Runtime,
    jobs: Sender<Job>,
    next: u64,
}

impl Table {
    fn serve(mut self, inbox: &Receiver<Job>) {
        while let Ok(job) = inbox.recv() {
            // A caller that has gone away wants no answer; what it asked for is freed when the answer is dropped.
            match job {
                Job::Upload(t, reply) => drop(reply.send(self.upload(&t))),
                Job::Read { id, dtype, reply } => drop(reply.send(self.read(id, dtype))),
                Job::Free(id) => drop(self.buffers.remove(&id)),
                Job::Load(bytecode, reply) => {
                    let loaded = self.load(&bytecode);
                    let id = loaded.as_ref().ok().copied();
                    if let (Err(_), Some(id)) = (reply.send(loaded), id) {
                        self.functions.remove(&id);
                    }
                }
                Job::Unload(id) => drop(self.functions.remove(&id)),
                Job::Run { id, args, outputs, reply } => drop(reply.send(self.run(id, args, &outputs))),
            }
        }
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
    /// Keeps a buffer until its memory is dropped.
    fn keep(&mut self, value: Value, dtype: DType, len: usize) -> Memory {
        let id = self.number();
        self.buffers.insert(id, value);
        Memory { id, dtype, len, device: self.device, jobs: self.jobs.clone() }
    }
    fn upload(&mut self, t: &Tensor) -> Result<Memory> {
        let value = value(&self.runtime, t)?;
        Ok(self.keep(value, t.dtype(), t.len()))
    }
    fn read(&self, id: u64, dtype: DType) -> Result<Tensor> {
        tensor(self.buffer(id)?.clone(), dtype)
    }
    fn buffer(&self, id: u64) -> Result<&Value> {
        self.buffers.get(&id).ok_or_else(|| error("transfer", "the device no longer has the tensor's memory"))
    }
    fn load(&mut self, bytecode: &[u8]) -> Result<u64> {
        let program = self.runtime.load_vmfb(bytecode).map_err(failed("load"))?;
        let function = program.function(FUNCTION).map_err(failed("load"))?;
        let id = self.number();
        self.functions.insert(id, function);
        Ok(id)
    }
    fn run(&mut self, id: u64, args: Vec<Tensor>, outputs: &[DType]) -> Result<Vec<Tensor>> {
        let argument = |t: &Tensor| match t.resident().map(|r| memory(r)) {
            Some(Some(m)) if m.device == self.device => self.buffer(m.id).cloned(),
            Some(_) | None => value(&self.runtime, t),
        };
        let values: Vec<Value> = args.iter().map(argument).collect::<Result<_>>()?;
        let function = self.functions.get(&id).ok_or_else(|| error("run", "the device no longer has the program"))?;
        let results = function.invoke(values).map_err(failed("run"))?;
        check_count(&results, outputs)?;
        let held = |(v, &dtype): (Value, &DType)| {
            let shape = shape(&v);
            // The verified program's outputs have sizes that fit.
            let memory = self.keep(v, dtype, shape.iter().product());
            Tensor::from_resident(Arc::new(memory), &shape)
                .ok_or_else(|| error("run", "a result does not fill its shape"))
        };
        results.into_iter().zip(outputs).map(held).collect()
    }
}

/// A buffer of a device, freed when this is dropped.
struct Memory {
    id: u64,
    dtype: DType,
    len: usize,
    device: Device,
    jobs: Sender<Job>,
}

fn memory(r: &Arc<dyn Resident>) -> Option<&Memory> {
    (&**r as &dyn Any).downcast_ref()
}

impl Resident for Memory {
    fn dtype(&self) -> DType {
        self.dtype
    }
    fn len(&self) -> usize {
        self.len
    }
    fn device(&self) -> Device {
        self.device
    }
    fn bytes(&self) -> Option<&[u8]> {
        None
    }
    fn to_host(&self) -> Result<Buffer> {
        let (id, dtype) = (self.id, self.dtype);
        ask(&self.jobs, |reply| Job::Read { id, dtype, reply }).map(Tensor::into_buffer)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // A thread that has ended has freed everything.
        let _ = self.jobs.send(Job::Free(self.id));
    }
}

/// Moves tensors to the devices.
struct Mover;

impl Transfer for Mover {
    fn transfer(&self, tensor: &Tensor, device: Device) -> Result<Arc<dyn Resident>> {
        let jobs = thread(device)?;
        let host = here(tensor)?;
        let memory = ask(&jobs, |reply| Job::Upload(host, reply))?;
        Ok(Arc::new(memory))
    }
}

/// The tensor, readable by the host: from another device its own runtime brings it.
fn here(tensor: &Tensor) -> Result<Tensor> {
    if tensor.device().kind() == DeviceKind::Cpu { Ok(tensor.clone()) } else { tensor.to(Device::cpu()) }
}

/// A program on a device, unloaded when this is dropped.
pub(crate) struct Loaded {
    id: u64,
    device: Device,
    outputs: Arc<[DType]>,
    jobs: Sender<Job>,
}

impl Loaded {
    /// Loads bytecode on a Vulkan device.
    pub(crate) fn new(artifact: &IreeArtifact, device: Device) -> Result<Loaded> {
        let jobs = thread(device)?;
        let bytecode = artifact.bytecode.clone();
        let id = ask(&jobs, |reply| Job::Load(bytecode, reply))?;
        Ok(Loaded { id, device, outputs: artifact.outputs.clone(), jobs })
    }
}

impl Program for Loaded {
    fn run(&self, mut args: Vec<Tensor>) -> Result<Vec<Tensor>> {
        for t in &mut args {
            // Before the device's thread is asked: it must not wait for another device's.
            if t.device() != self.device || t.resident().is_some_and(|r| memory(r).is_none()) {
                *t = here(t)?;
            }
        }
        let (id, outputs) = (self.id, self.outputs.clone());
        ask(&self.jobs, |reply| Job::Run { id, args, outputs, reply })
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // As for memory.
        let _ = self.jobs.send(Job::Unload(self.id));
    }
}
