//! A backend for these tests: its program gives its inputs back as outputs, in the order that the module's results name
//! its arguments.
#![allow(dead_code, missing_docs)]

use evoxc_core::{Device, DeviceKind, Error, OpError, Result, RunError, Tensor, TensorSpec, TreeDef};
use evoxc_ir::{Func, Module};
use evoxc_stage::{Backend, Capabilities, LoweredProgram, Program};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Clone)]
pub struct Fake {
    pub name: &'static str,
    pub version: &'static str,
    pub abi: &'static str,
    pub device: DeviceKind,
    /// Results dropped by the program, to break its promise.
    pub lost: usize,
    pub runs: Arc<AtomicUsize>,
}

pub fn fake() -> Fake {
    Fake { name: "fake", version: "1", abi: "x", device: DeviceKind::Cpu, lost: 0, runs: Arc::default() }
}

pub struct Echo {
    order: Vec<usize>,
    lost: usize,
    runs: Arc<AtomicUsize>,
}

impl Program for Echo {
    fn run(&self, args: Vec<Tensor>) -> Result<Vec<Tensor>> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let missing = || RunError::Op(Box::new(OpError::new("echo", "no such argument")));
        let mut args: Vec<Option<Tensor>> = args.into_iter().map(Some).collect();
        let last = |i: usize| self.order.iter().filter(|&&j| j == i).count() == 1;
        self.order
            .iter()
            .skip(self.lost)
            .map(|&i| {
                let slot = args.get_mut(i).ok_or_else(missing)?;
                let t = if last(i) { slot.take() } else { slot.clone() };
                Ok(t.ok_or_else(missing)?)
            })
            .collect()
    }
}

fn bytes_error() -> Error {
    RunError::Op(Box::new(OpError::new("read", "these bytes are no program"))).into()
}

impl Backend for Fake {
    type Lowered = Vec<usize>;
    type Artifact = Vec<usize>;
    fn name(&self) -> &str {
        self.name
    }
    fn version(&self) -> String {
        self.version.into()
    }
    fn abi_key(&self) -> String {
        self.abi.into()
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities::all(self.device)
    }
    fn devices(&self) -> Vec<Device> {
        vec![Device::cpu(), Device::cuda(0)]
    }
    fn lower(&self, m: &Module) -> Result<Vec<usize>> {
        let main = m.main().ok_or_else(bytes_error)?;
        let find = |r| main.body.args.iter().position(|a| a == r).ok_or_else(bytes_error);
        main.body.results.iter().map(find).collect()
    }
    fn lowered_to_bytes(&self, l: &Vec<usize>) -> Result<Vec<u8>> {
        Ok(l.iter().map(|&i| i as u8).collect())
    }
    fn lowered_from_bytes(&self, b: &[u8]) -> Result<Vec<usize>> {
        if b.iter().any(|&b| b > 9) { Err(bytes_error()) } else { Ok(b.iter().map(|&b| b.into()).collect()) }
    }
    fn compile(&self, l: &Vec<usize>) -> Result<Vec<usize>> {
        Ok(l.clone())
    }
    fn artifact_to_bytes(&self, a: &Vec<usize>) -> Result<Vec<u8>> {
        self.lowered_to_bytes(a)
    }
    fn artifact_from_bytes(&self, b: &[u8]) -> Result<Vec<usize>> {
        self.lowered_from_bytes(b)
    }
    fn load(&self, order: &Vec<usize>, _: Device) -> Result<Arc<dyn Program>> {
        Ok(Arc::new(Echo { order: order.clone(), lost: self.lost, runs: self.runs.clone() }))
    }
}

/// A module of these arguments, whose results are the arguments of these numbers.
pub fn module(inputs: &[TensorSpec], results: &[usize]) -> Module {
    let mut f = Func::new("main");
    f.body.args = inputs.iter().map(|s| f.value(s.clone(), None)).collect();
    f.body.results = results.iter().map(|&i| f.body.args[i]).collect();
    Module { name: "main".into(), funcs: vec![f], ..Module::default() }
}

/// The lowered form of [`module`].
pub fn lowered<I, O>(
    backend: Fake,
    inputs: (Vec<TensorSpec>, TreeDef),
    results: &[usize],
    out: TreeDef,
) -> LoweredProgram<I, O, Fake> {
    LoweredProgram::from_parts(backend, &module(&inputs.0, results), inputs.1, out).unwrap()
}

/// A folder of its own, removed at the end.
pub struct Folder(pub PathBuf);
impl Folder {
    pub fn new() -> Folder {
        static N: AtomicUsize = AtomicUsize::new(0);
        let name = format!("evoxc-stage-{}-{}", std::process::id(), N.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}
impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
