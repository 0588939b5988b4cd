//! The interpreter and the native compiler as one backend: a program runs on both, and must give the same.
//!
//! Tests of what programs mean run on this backend, so that each of them is a test of the native compiler as well.

use crate::conditioning::{nudged, shaken};
use crate::tolerance::{Category, compare, distance};
use evoxc_backends::{Edge, Interp, Native};
use evoxc_core::{Device, Result, Tensor};
use evoxc_ir::Module;
use evoxc_stage::{Backend, Capabilities, Program};
use std::sync::{Arc, OnceLock};

/// Runs programs on the interpreter, and on the native compiler: all as machine code, one of eight with kernels that are
/// interpreted, one of sixteen with kernels in C, and two of eight once more where every value touches a page that nobody may
/// touch, after it or before it. Which ones follows from a program's hash. `ENGINES=all` in the environment runs all with
/// all of these, which takes about ten times as long;
/// `ENGINES=all,show` or `ENGINES=show` writes every program before it runs, for what touches such a page ends the process.
///
/// What comes out is what the interpreter gives. Where the native compiler gives something else (other integers, numbers
/// further apart than the tolerances, values for an error, another error), the test ends there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Engines;

/// Does the environment's `ENGINES` ask for this?
fn asked(what: &str) -> bool {
    std::env::var("ENGINES").is_ok_and(|e| e.split(',').any(|w| w == what))
}

/// The native compiler with each kind of code that a program runs as.
fn natives(module: &Module) -> Vec<(&'static str, &'static Native)> {
    static INTERP: OnceLock<Native> = OnceLock::new();
    static C: OnceLock<Option<Native>> = OnceLock::new();
    static CODE: OnceLock<Option<Native>> = OnceLock::new();
    static FENCED: [OnceLock<Option<Native>>; 2] = [const { OnceLock::new() }; 2];
    let all = || asked("all");
    let works = |n: Native| (!n.devices().is_empty()).then_some(n);
    let mut list = vec![];
    let kind = module.structural_hash() % 16;
    if all() || kind.is_multiple_of(8) {
        list.push(("native, interpreted kernels", INTERP.get_or_init(Native::interp)));
    }
    // Compiled kernels are kept, so that only those that changed take a compiler's time again.
    let kept = || Native::c().cache_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/tmp/kernels"));
    if (all() || kind == 3)
        && let Some(c) = C.get_or_init(|| works(kept()))
    {
        list.push(("native, C", c));
    }
    for (i, edge) in [Edge::End, Edge::Start].into_iter().enumerate() {
        if (all() || kind % 8 == i as u64 + 1)
            && let Some(n) = FENCED[i].get_or_init(|| works(Native::default().fenced(edge)))
        {
            list.push(("native, beside guard pages", n));
        }
    }
    match CODE.get_or_init(|| works(Native::default())) {
        Some(code) => list.push(("native", code)),
        None => eprintln!("no machine code: there is none for this processor, and no C compiler"),
    }
    list
}

/// A program of every engine.
struct Programs {
    module: Arc<Module>,
    interp: Arc<dyn Program>,
    natives: Vec<(&'static str, Arc<dyn Program>)>,
}

impl Programs {
    fn differ(&self, name: &str, what: &str) -> ! {
        panic!("{name} differs from the interpreter: {what}\n{}", self.module)
    }

    /// What another module gives on the interpreter.
    fn other(&self, module: &Module, args: &[Tensor]) -> Result<Vec<Tensor>> {
        Interp.load(&Interp.compile(&Interp.lower(module)?)?, Device::cpu())?.run(args.to_vec())
    }

    /// Do other roundings explain this result?
    fn explained(&self, args: &[Tensor], expected: &Tensor, got: &Tensor, i: usize, category: Category) -> bool {
        let (by, d) = (distance(got, expected), expected.dtype());
        if !(d.is_float() || d.is_complex()) || got.spec() != expected.spec() {
            return false;
        }
        let moved = |m: Module| self.other(&m, args).ok().and_then(|all| all.into_iter().nth(i));
        let far = |seed| moved(shaken(&self.module, seed)).map_or(0.0, |t| distance(&t, expected));
        let ill = |up| moved(nudged(&self.module, up)).is_some_and(|t| compare(&t, expected, category).is_err());
        (0..5).any(|seed| by <= 16.0 * far(seed)) || ill(true) || ill(false)
    }

    fn compare(&self, name: &str, args: &[Tensor], expected: &[Tensor], got: &[Tensor]) {
        if got.len() != expected.len() {
            self.differ(name, &format!("{} results, not {}", got.len(), expected.len()));
        }
        let category = Category::of(&self.module);
        for (i, (g, e)) in got.iter().zip(expected).enumerate() {
            if let Err(what) = compare(g, e, category)
                && !self.explained(args, e, g, i, category)
            {
                self.differ(name, &format!("result {i}: {what}"));
            }
        }
    }
}

impl Program for Programs {
    fn run(&self, args: Vec<Tensor>) -> Result<Vec<Tensor>> {
        let expected = self.interp.run(args.clone());
        let kept = args.clone();
        let last = self.natives.len().saturating_sub(1);
        let mut args = Some(args);
        for (i, (name, program)) in self.natives.iter().enumerate() {
            let given = if i == last { args.take() } else { args.clone() };
            match (&expected, program.run(given.unwrap_or_default())) {
                (Ok(e), Ok(got)) => self.compare(name, &kept, e, &got),
                (Err(e), Err(f)) if e.to_string() == f.to_string() => {}
                (e, f) => self.differ(name, &format!("{e:?}\nbecame\n{f:?}")),
            }
        }
        expected
    }
}

/// Modules are what is lowered and compiled: each engine does its own when a program is loaded.
impl Backend for Engines {
    type Lowered = Arc<Module>;
    type Artifact = Arc<Module>;

    fn name(&self) -> &str {
        "engines"
    }
    fn version(&self) -> String {
        Interp.version()
    }
    fn abi_key(&self) -> String {
        Interp.abi_key()
    }
    fn capabilities(&self) -> Capabilities {
        Interp.capabilities()
    }
    fn devices(&self) -> Vec<Device> {
        Interp.devices()
    }
    fn lower(&self, module: &Module) -> Result<Arc<Module>> {
        Interp.lower(module).map(|p| Arc::new(p.module().clone()))
    }
    fn lowered_to_bytes(&self, lowered: &Arc<Module>) -> Result<Vec<u8>> {
        Interp.lowered_to_bytes(&Interp.lower(lowered)?)
    }
    fn lowered_from_bytes(&self, bytes: &[u8]) -> Result<Arc<Module>> {
        Interp.lowered_from_bytes(bytes).map(|p| Arc::new(p.module().clone()))
    }
    fn compile(&self, lowered: &Arc<Module>) -> Result<Arc<Module>> {
        Ok(lowered.clone())
    }
    fn artifact_to_bytes(&self, artifact: &Arc<Module>) -> Result<Vec<u8>> {
        self.lowered_to_bytes(artifact)
    }
    fn artifact_from_bytes(&self, bytes: &[u8]) -> Result<Arc<Module>> {
        self.lowered_from_bytes(bytes)
    }
    fn load(&self, module: &Arc<Module>, device: Device) -> Result<Arc<dyn Program>> {
        let interp = Interp.load(&Interp.compile(&Interp.lower(module)?)?, device)?;
        let native = |(name, b): (&'static str, &Native)| -> Result<_> {
            Ok((name, b.load(&b.compile(&b.lower(module)?)?, device)?))
        };
        if asked("show") {
            eprintln!("{module}");
        }
        let natives = natives(module).into_iter().map(native).collect::<Result<_>>()?;
        Ok(Arc::new(Programs { module: module.clone(), interp, natives }))
    }
}
