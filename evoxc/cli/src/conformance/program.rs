//! One program: import, run, judge.

use super::protocol::Outcome;
use super::reasons;
use crate::bindings::Bindings;
use crate::{Failure, generate};
use evoxc_backends::{Interp, Native, Replicas};
use evoxc_core::{BackendError, Device, Dim, Dyn, Error, OpError, RunError, Tensor, TensorSpec, TreeDef};
use evoxc_ir::Module;
use evoxc_stablehlo::checks::Rule;
use evoxc_stablehlo::{CheckSite, ImportOptions, Imported, ParallelSite, import_with};
use evoxc_stage::{AnyBackend, Backend, Executable, LoweredProgram};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Errors are the project's where nothing else is said.
type Result<T, E = Error> = std::result::Result<T, E>;

/// Runs the least program: a backend whose library is missing must not make every program unsupported.
///
/// # Errors
/// What the backend says.
pub fn works(backend: &AnyBackend) -> Result<()> {
    let module = Module::parse("func @main(%x: tensor<f32>) -> tensor<f32> { return %x }")?;
    call(&load(backend, &module).map_err(|stop| stop.error)?, &[Tensor::from(1f32)]).map(|_| ())
}

/// Runs a program of a module that starts at a line of its file.
pub fn run(backend: &AnyBackend, text: &str, line: usize, program: &str) -> Outcome {
    match outcome(backend, text, line, program) {
        Ok(outcome) => outcome,
        Err(stop) => of_stop(backend.name(), Stop { error: in_file(stop.error, line), ..stop }),
    }
}

/// Why a program does not come to its checks.
struct Stop {
    error: Error,
    /// A `BackendError` is this project's own word that something is missing: it was lowered, not compiled or run.
    refused: bool,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop { error, refused: false }
    }
}

impl Stop {
    fn refusal(error: Error) -> Stop {
        Stop { error, refused: true }
    }
}

/// An error with the lines of the file, where it has those of the module.
pub fn in_file(e: Error, module: usize) -> Error {
    let shift = |line: usize| if line == 0 { 0 } else { line + module - 1 };
    match e {
        Error::Parse(e) => Error::Parse(evoxc_core::ParseError { line: shift(e.line), ..e }),
        Error::Import(e) => evoxc_core::ImportError { line: shift(e.line), ..*e }.into(),
        e => e,
    }
}

/// What an error makes of a program: its type and stage decide. Of a compiler's own words those in the backend's list are
/// reasons, and all others failures.
fn of_stop(backend: &str, stop: Stop) -> Outcome {
    let message = stop.error.to_string();
    let reason = match &stop.error {
        Error::Import(e) => e.unsupported.map(|kind| kind.to_string()),
        Error::Backend(e) if stop.refused => Some(first_line(&format!("{}: {}", e.op.op, e.op.message))),
        Error::Backend(_) => reasons::of(backend, &message).map(str::to_string),
        _ => None,
    };
    match reason {
        Some(reason) => Outcome::Unsupported { reason, message },
        None => Outcome::fail(message),
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_string()
}

fn outcome(backend: &AnyBackend, text: &str, line: usize, program: &str) -> Result<Outcome, Stop> {
    let options = ImportOptions { entry: Some(program.into()), checks: true, ..ImportOptions::default() };
    let imported = import_with(text, &options)?;
    let module = sized(backend, imported.graph.module())?;
    let executable = load(backend, &module)?;
    let outputs = run_all(backend, text, &imported, &executable)?;
    let failed = imported.checks.iter().filter_map(|site| judge(site, line, &outputs).err()).next();
    Ok(failed.map_or(Outcome::Pass, Outcome::fail))
}

/// The module as a backend takes it: for one that takes no symbolic extents, at the sizes of the arguments.
fn sized<'m>(backend: &AnyBackend, module: &'m Module) -> Result<Cow<'m, Module>> {
    let symbols = symbols(&module.main().map(|f| f.inputs()).unwrap_or_default());
    if symbols.is_empty() || backend.capabilities().symbolic_dims {
        return Ok(Cow::Borrowed(module));
    }
    let sizes: Vec<(Dim, Dim)> = symbols.into_iter().map(|s| (s, Dim::constant(EXTENT))).collect();
    module.specialize(&sizes).map(Cow::Owned)
}

/// The symbols of the types of arguments.
fn symbols(specs: &[TensorSpec]) -> Vec<Dim> {
    let mut out = vec![];
    specs.iter().flat_map(|s| s.shape.iter()).for_each(|d| d.symbols(&mut out));
    out.sort_by(|a, b| a.cmp_structural(*b));
    out.dedup();
    out
}

fn load(backend: &AnyBackend, module: &Module) -> Result<Executable<Dyn<Tensor>, Dyn<Tensor>>, Stop> {
    let (inputs, outputs) = module.main().map(|f| (f.body.args.len(), f.body.results.len())).unwrap_or_default();
    let (inputs, outputs) = (TreeDef::leaves_tuple(inputs), TreeDef::leaves_tuple(outputs));
    let device = backend.devices().first().copied().unwrap_or(Device::cpu());
    let lowered = LoweredProgram::from_parts(backend.clone(), module, inputs, outputs).map_err(Stop::refusal)?;
    Ok(lowered.compile()?.load(device)?)
}

fn call(executable: &Executable<Dyn<Tensor>, Dyn<Tensor>>, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
    let arguments = TreeDef::leaves_tuple(inputs.len()).unflatten(inputs.to_vec())?;
    let outputs = executable.run(arguments)?;
    executable.synchronize()?;
    outputs.leaves().iter().map(|t| t.to(Device::cpu())).collect()
}

/// What symbolic extents are, and integers that may stand for them, in programs that take arguments.
const EXTENT: i64 = 3;

/// Arguments of a program that brings none: the same values in every run. The inputs behind them, which are results of
/// replicas, are zeros.
fn arguments(specs: &[TensorSpec], own: usize) -> Result<Vec<Tensor>> {
    let extents: Bindings = symbols(specs).into_iter().map(|s| (s, EXTENT)).collect();
    let value = |(i, s): (usize, &TensorSpec)| {
        if i >= own {
            return Tensor::try_full(s.dtype, s.shape.clone(), 0);
        }
        if s.rank() == 0 && s.dtype.is_int() {
            return Tensor::try_full(s.dtype, s.shape.clone(), EXTENT);
        }
        generate::random(s, &extents, 1, i, &i.to_string()).map_err(|f| match f {
            Failure::Error(m) | Failure::Usage(m) => RunError::Op(Box::new(OpError::new("arguments", m))).into(),
            Failure::Reported => RunError::Op(Box::new(OpError::new("arguments", "there are none"))).into(),
        })
    };
    specs.iter().enumerate().map(value).collect()
}

/// The outputs of the program, once the results of its replicas are known.
fn run_all(
    backend: &AnyBackend,
    text: &str,
    imported: &Imported,
    executable: &Executable<Dyn<Tensor>, Dyn<Tensor>>,
) -> Result<Vec<Tensor>, Stop> {
    let mut inputs = arguments(executable.specs(), imported.arguments)?;
    // The arguments of a site may be results of the sites before it.
    for site in &imported.parallel {
        let outputs = call(executable, &inputs)?;
        let arguments = site.arguments.iter().filter_map(|&i| outputs.get(i).cloned()).collect();
        let results = replicas(backend, text, site, arguments)?;
        for (&i, result) in site.results.iter().zip(results) {
            if let Some(slot) = inputs.get_mut(i) {
                *slot = result;
            }
        }
    }
    Ok(call(executable, &inputs)?)
}

/// The results of all replicas of a site, one after the other.
fn replicas(
    backend: &AnyBackend,
    text: &str,
    site: &ParallelSite,
    arguments: Vec<Tensor>,
) -> Result<Vec<Tensor>, Stop> {
    type Make<'b> = Box<dyn Fn(&[Vec<&Module>]) -> Result<Replicas> + 'b>;
    let make: Make<'_> = if backend.downcast_ref::<Interp>().is_some() {
        Box::new(Replicas::new)
    } else if let Some(native) = backend.downcast_ref::<Native>() {
        Box::new(|programs| native.replicas(programs))
    } else {
        let op = OpError::new("interpreter.run_parallel", "this backend does not simulate replicas")
            .remedy("use the backend `interp` or `native`");
        return Err(Stop::refusal(BackendError { backend: backend.name().into(), op }.into()));
    };
    let mut imported = BTreeMap::<&str, Imported>::new();
    for name in site.programs.iter().flatten() {
        if !imported.contains_key(name.as_str()) {
            let options = ImportOptions { entry: Some(name.clone()), ..ImportOptions::default() };
            imported.insert(name, import_with(text, &options)?);
        }
    }
    let program = |name: &String| imported.get(name.as_str());
    let modules: Vec<Vec<&Module>> = site
        .programs
        .iter()
        .map(|replica| replica.iter().filter_map(program).map(|p| p.graph.module()).collect())
        .collect();
    let mut arguments = arguments.into_iter();
    let mut of_each = vec![];
    for p in site.programs.iter().flatten().filter_map(program) {
        of_each.push(arguments.by_ref().take(p.graph.input_specs().len()).collect());
    }
    Ok(make(&modules)?.run(of_each)?.into_iter().flatten().collect())
}

/// Does a check hold?
fn judge(site: &CheckSite, module: usize, outputs: &[Tensor]) -> Result<(), String> {
    let shown = || format!("{} in line {}", site.name, site.line + module - 1);
    let mut operands = site.outputs.iter().map(|&i| outputs.get(i));
    let (Some(Some(got)), Some(Some(expected)), None) = (operands.next(), operands.next(), operands.next()) else {
        return Err(format!("{}: it does not compare two values", shown()));
    };
    let rule = Rule::of(site).ok_or_else(|| format!("{}: there is no such check", shown()))?;
    rule.judge(got, expected).map_err(|e| format!("{}: {e}", shown()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: the rule of docs/conformance.md: what is lowered may be refused, what a compiler or runtime says is a
    /// failure unless its list has it.
    #[test]
    fn what_a_compiler_says_is_no_refusal() {
        let error = |op: &str, message: &str| -> Error {
            BackendError { backend: "iree".into(), op: OpError::new(op, message) }.into()
        };
        let complex = error("add", "IREE has no complex numbers");
        let reason = "add: IREE has no complex numbers".to_string();
        let Outcome::Unsupported { reason: got, .. } = of_stop("iree", Stop::refusal(complex.clone())) else {
            panic!()
        };
        assert_eq!(got, reason);
        assert!(of_stop("iree", complex.into()).is_fail());
        assert!(of_stop("iree", error("compile", "it failed without a message").into()).is_fail());
        let run: Error = RunError::Op(Box::new(OpError::new("add", "no"))).into();
        assert!(of_stop("iree", Stop::refusal(run)).is_fail());
        // The words of one compiler are not another's.
        for (backend, words, reason) in reasons::LISTED {
            let says = || Stop::from(error("compile", &format!("program:1:1: {words} (so it says)")));
            assert!(
                matches!(of_stop(backend, says()), Outcome::Unsupported { reason: r, .. } if r == *reason),
                "{words}"
            );
            assert!(of_stop("other", says()).is_fail());
        }
    }
}
