//! One program: import, run, judge.

use super::protocol::Outcome;
use crate::bindings::Bindings;
use crate::{Failure, generate};
use evoxc_backends::{Interp, Replicas};
use evoxc_core::{BackendError, Device, Dim, Dyn, Error, OpError, Result, RunError, Tensor, TensorSpec, TreeDef};
use evoxc_ir::Module;
use evoxc_stablehlo::checks::Rule;
use evoxc_stablehlo::{CheckSite, ImportOptions, Imported, ParallelSite, import_with};
use evoxc_stage::{AnyBackend, Backend, Executable, LoweredProgram};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Runs the least program: a backend whose library is missing must not make every program unsupported.
///
/// # Errors
/// What the backend says.
pub fn works(backend: &AnyBackend) -> Result<()> {
    let module = Module::parse("func @main(%x: tensor<f32>) -> tensor<f32> { return %x }")?;
    call(&load(backend, &module)?, &[Tensor::from(1f32)]).map(|_| ())
}

/// Runs a program of a module that starts at a line of its file.
pub fn run(backend: &AnyBackend, text: &str, line: usize, program: &str) -> Outcome {
    match outcome(backend, text, line, program) {
        Ok(outcome) => outcome,
        Err(e) => of_error(&in_file(e, line)),
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

/// What an error makes of a program: only its type decides, never its words.
fn of_error(e: &Error) -> Outcome {
    let refused = |reason: String| Outcome::Unsupported { reason, message: e.to_string() };
    match e {
        Error::Import(e) => match e.unsupported {
            Some(kind) => refused(kind.to_string()),
            None => Outcome::fail(e.to_string()),
        },
        Error::Backend(e) => refused(first_line(&format!("{}: {}", e.op.op, e.op.message))),
        e => Outcome::fail(e.to_string()),
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_string()
}

fn outcome(backend: &AnyBackend, text: &str, line: usize, program: &str) -> Result<Outcome> {
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

fn load(backend: &AnyBackend, module: &Module) -> Result<Executable<Dyn<Tensor>, Dyn<Tensor>>> {
    let (inputs, outputs) = module.main().map(|f| (f.body.args.len(), f.body.results.len())).unwrap_or_default();
    let (inputs, outputs) = (TreeDef::leaves_tuple(inputs), TreeDef::leaves_tuple(outputs));
    let device = backend.devices().first().copied().unwrap_or(Device::cpu());
    LoweredProgram::from_parts(backend.clone(), module, inputs, outputs)?.compile()?.load(device)
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
) -> Result<Vec<Tensor>> {
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
    call(executable, &inputs)
}

/// The results of all replicas of a site, one after the other.
fn replicas(backend: &AnyBackend, text: &str, site: &ParallelSite, arguments: Vec<Tensor>) -> Result<Vec<Tensor>> {
    let refused = |message: String| -> Error {
        let op = OpError::new("interpreter.run_parallel", message).remedy("use the backend `interp`");
        BackendError { backend: backend.name().into(), op }.into()
    };
    if backend.downcast_ref::<Interp>().is_none() {
        return Err(refused("replicas are simulated by the interpreter alone".into()));
    }
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
    Ok(Replicas::new(&modules)?.run(of_each)?.into_iter().flatten().collect())
}

/// Does a check hold?
fn judge(site: &CheckSite, module: usize, outputs: &[Tensor]) -> std::result::Result<(), String> {
    let shown = || format!("{} in line {}", site.name, site.line + module - 1);
    let mut operands = site.outputs.iter().map(|&i| outputs.get(i));
    let (Some(Some(got)), Some(Some(expected)), None) = (operands.next(), operands.next(), operands.next()) else {
        return Err(format!("{}: it does not compare two values", shown()));
    };
    let rule = Rule::of(site).ok_or_else(|| format!("{}: there is no such check", shown()))?;
    rule.judge(got, expected).map_err(|e| format!("{}: {e}", shown()))
}
