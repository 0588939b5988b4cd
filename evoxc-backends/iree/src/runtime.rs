//! Running bytecode on processors with IREE's runtime, through the crate `eerie`.
//!
//! The runtime's objects stay on one thread, so every loaded program has a thread of its own that owns them; callers send
//! arguments and wait. A program runs one call at a time.

use crate::IreeArtifact;
use crate::error::error;
use crate::value::{FUNCTION, check_count, failed, tensor, value};
use eerie::runtime::{DeviceSpec, Function, Runtime, Value};
use evoxc_core::{DType, Error, Result, Tensor};
use evoxc_stage::Program;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// A loaded program: the thread that runs it.
pub(crate) struct Runner {
    jobs: Mutex<Option<Sender<Job>>>,
    thread: Option<JoinHandle<()>>,
}

struct Job {
    args: Vec<Tensor>,
    reply: SyncSender<Result<Vec<Tensor>>>,
}

impl Runner {
    /// Loads bytecode on the default device of a driver for the host.
    pub(crate) fn start(artifact: &IreeArtifact, driver: String) -> Result<Runner> {
        let (jobs, inbox) = channel();
        let (ready, loaded) = sync_channel(1);
        let artifact = artifact.clone();
        let serve = move || serve(&artifact, &driver, &ready, &inbox);
        let thread = std::thread::Builder::new().name("iree".into()).spawn(serve);
        let thread = thread.map_err(|e| error("load", e.to_string()))?;
        loaded.recv().unwrap_or_else(|_| Err(gone()))?;
        Ok(Runner { jobs: Mutex::new(Some(jobs)), thread: Some(thread) })
    }
}

impl Program for Runner {
    fn run(&self, args: Vec<Tensor>) -> Result<Vec<Tensor>> {
        let (reply, answer) = sync_channel(1);
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner).clone();
        jobs.ok_or_else(gone)?.send(Job { args, reply }).map_err(|_| gone())?;
        answer.recv().unwrap_or_else(|_| Err(gone()))
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        // Without a sender the thread ends.
        drop(self.jobs.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to clean up.
            let _ = thread.join();
        }
    }
}

fn gone() -> Error {
    error("run", "the thread that runs the program has ended")
}

/// What the program's thread does.
fn serve(artifact: &IreeArtifact, driver: &str, ready: &SyncSender<Result<()>>, inbox: &Receiver<Job>) {
    let (runtime, function) = match load(artifact, driver) {
        Ok(both) => both,
        Err(e) => return drop(ready.send(Err(e))),
    };
    if ready.send(Ok(())).is_err() {
        return;
    }
    while let Ok(job) = inbox.recv() {
        // A caller that has gone away wants no answer.
        let _ = job.reply.send(run(&runtime, &function, &artifact.outputs, job.args));
    }
}

fn load(artifact: &IreeArtifact, driver: &str) -> Result<(Runtime, Function)> {
    let spec = DeviceSpec::custom(driver.to_string());
    let runtime = Runtime::new(spec).map_err(failed("create device"))?;
    let program = runtime.load_vmfb(&artifact.bytecode).map_err(failed("load"))?;
    let function = program.function(FUNCTION).map_err(failed("load"))?;
    Ok((runtime, function))
}

fn run(runtime: &Runtime, function: &Function, outputs: &Arc<[DType]>, args: Vec<Tensor>) -> Result<Vec<Tensor>> {
    let values: Vec<Value> = args.iter().map(|t| value(runtime, t)).collect::<Result<_>>()?;
    drop(args);
    let results = function.invoke(values).map_err(failed("run"))?;
    check_count(&results, outputs)?;
    results.into_iter().zip(outputs.iter()).map(|(v, &dtype)| tensor(v, dtype)).collect()
}
