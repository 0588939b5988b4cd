//! One program: import, run, judge.

use super::protocol::Outcome;
use evoxc_core::{Device, Dyn, Error, Result, Tensor, TreeDef};
use evoxc_stablehlo::checks::Rule;
use evoxc_stablehlo::{CheckSite, ImportOptions, Imported, ParallelSite, import_with};
use evoxc_stage::{AnyBackend, Backend, Executable, LoweredProgram};
use evoxc_trace::Graph;

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
    if imported.arguments > 0 {
        return Ok(Outcome::fail("the program takes arguments, and there are none to give"));
    }
    let executable = load(backend, &imported.graph)?;
    let outputs = run_all(backend, text, &imported, &executable)?;
    let failed = imported.checks.iter().filter_map(|site| judge(site, line, &outputs).err()).next();
    Ok(failed.map_or(Outcome::Pass, Outcome::fail))
}

fn load(backend: &AnyBackend, graph: &Graph) -> Result<Executable<Dyn<Tensor>, Dyn<Tensor>>> {
    let (inputs, outputs) = (graph.input_specs().len(), graph.output_specs().len());
    let (inputs, outputs) = (TreeDef::leaves_tuple(inputs), TreeDef::leaves_tuple(outputs));
    let device = backend.devices().first().copied().unwrap_or(Device::cpu());
    LoweredProgram::from_parts(backend.clone(), graph.module(), inputs, outputs)?.compile()?.load(device)
}

fn call(executable: &Executable<Dyn<Tensor>, Dyn<Tensor>>, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
    let arguments = TreeDef::leaves_tuple(inputs.len()).unflatten(inputs.to_vec())?;
    let outputs = executable.run(arguments)?;
    executable.synchronize()?;
    outputs.leaves().iter().map(|t| t.to(Device::cpu())).collect()
}

/// The outputs of the program, once the results of its replicas are known.
fn run_all(
    backend: &AnyBackend,
    text: &str,
    imported: &Imported,
    executable: &Executable<Dyn<Tensor>, Dyn<Tensor>>,
) -> Result<Vec<Tensor>> {
    let zeros = |s: &evoxc_core::TensorSpec| Tensor::try_full(s.dtype, s.shape.clone(), 0);
    let mut inputs: Vec<Tensor> = executable.specs().iter().map(zeros).collect::<Result<_>>()?;
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

fn replicas(backend: &AnyBackend, text: &str, site: &ParallelSite, arguments: Vec<Tensor>) -> Result<Vec<Tensor>> {
    let _ = (backend, text, site, arguments);
    let op = evoxc_core::OpError::new("interpreter.run_parallel", "replicas are not simulated yet");
    Err(evoxc_core::BackendError { backend: backend.name().into(), op }.into())
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
