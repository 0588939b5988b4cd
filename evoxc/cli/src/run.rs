//! `evoxc run`.

use crate::bindings::Bindings;
use crate::graph::{Graph, GraphArgument};
use crate::{Failure, backend, bindings, generate, inputs, output, print};
use clap::Args;
use evoxc_core::{Device, Dim, Dyn, Tensor, TreeDef};
use evoxc_ir::Module;
use evoxc_stage::{AnyBackend, Backend, LoweredProgram};
use std::borrow::Cow;
use std::path::PathBuf;

const EXAMPLES: &str = "Inputs are called by name, by number from 0, or by path in the tree of arguments (0.w1). A file is a
.npy file, a member of an archive (weights.npz:w), or, without a name, an archive whose members are called as the inputs are.
.npy files without a name are the inputs that are not named, in order.

Examples:
  evoxc run model.evoxcgraph --input x=x.npy --input 1=w.npy --output y.npy
  evoxc run model.evoxcgraph --input weights.npz --seed 1 --dim B=8 --output results.npz
  evoxc run model.mlir --input x.npy --backend interp --output y.npy
  evoxc run model.mlir --input x.npy --backend iree --target vmvx
  evoxc run model.evx --ones";

/// The arguments of `evoxc run`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct RunArguments {
    #[command(flatten)]
    graph: GraphArgument,
    /// An input: NAME=FILE.npy, NAME=FILE.npz:MEMBER, FILE.npz, or FILE.npy for the next one that has no name.
    #[arg(long = "input", short, value_name = "[NAME=]FILE")]
    inputs: Vec<String>,
    /// Takes ones for every input that is not given.
    #[arg(long, conflicts_with = "seed")]
    ones: bool,
    /// Takes pseudo-random values for every input that is not given: the same seed gives the same values.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The value of a symbolic extent, for inputs that are generated.
    #[arg(long = "dim", short, value_name = "SYMBOL=N")]
    dims: Vec<String>,
    /// The backend; `evoxc devices` lists them.
    #[arg(long, short, value_name = "NAME")]
    backend: Option<String>,
    /// What the backend compiles for. IREE: llvm-cpu[:PROCESSOR], vmvx, cuda:ARCH, hip:ARCH, vulkan[:GPU], metal.
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    /// The device, such as cpu or cuda:1; the backend's first by default.
    #[arg(long, value_name = "DEVICE")]
    device: Option<Device>,
    /// Where results go: FILE.npy for one, FILE.npz, or a folder; without it they are printed.
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
}

/// Runs the graph.
pub fn run(a: &RunArguments) -> Result<(), Failure> {
    let dims = bindings::parse(&a.dims)?;
    let backend = backend::choose(a.backend.as_deref(), a.target.as_deref())?;
    let graph = a.graph.read()?;
    graph.module.verify()?;
    if let Some(path) = &a.output {
        output::check(path, graph.outputs.len())?;
    }
    let (arguments, dims) = arguments(a, &graph, dims)?;
    let module = sized(&backend, &graph.module, &dims)?;
    let device = match a.device {
        Some(d) => d,
        None => backend.devices().first().copied().unwrap_or(Device::cpu()),
    };
    let (ins, outs) = (TreeDef::leaves_tuple(graph.inputs.len()), TreeDef::leaves_tuple(graph.outputs.len()));
    let lowered = LoweredProgram::<Dyn<Tensor>, Dyn<Tensor>, _>::from_parts(backend, &module, ins, outs)?;
    let executable = lowered.compile()?.load(device)?;
    let results = executable.run(list(arguments)?)?;
    executable.synchronize()?;
    match &a.output {
        Some(path) => output::save(path, &graph.outputs, results.leaves()),
        None => print(&output::text(&graph.outputs, results.leaves())),
    }
}

/// The list of arguments, as a tree.
fn list(arguments: Vec<Tensor>) -> Result<Dyn<Tensor>, Failure> {
    Ok(TreeDef::leaves_tuple(arguments.len()).unflatten(arguments)?)
}

/// The module as a backend takes it: for one that takes no symbolic extents, at the sizes of the arguments.
fn sized<'m>(backend: &AnyBackend, module: &'m Module, dims: &Bindings) -> Result<Cow<'m, Module>, Failure> {
    if backend.capabilities().symbolic_dims || dims.is_empty() {
        return Ok(Cow::Borrowed(module));
    }
    let sizes: Vec<(Dim, Dim)> = dims.iter().map(|(&s, &n)| (s, Dim::constant(n))).collect();
    Ok(Cow::Owned(module.specialize(&sizes)?))
}

/// The argument of every input, from a file or generated, and the symbolic extents that they decide.
fn arguments(a: &RunArguments, graph: &Graph, mut dims: Bindings) -> Result<(Vec<Tensor>, Bindings), Failure> {
    let specs = graph.module.main().map(|f| f.inputs()).unwrap_or_default();
    let given = inputs::read(&a.inputs, &graph.inputs)?;
    for (i, (spec, tensor)) in specs.iter().zip(&given).enumerate() {
        if let Some(t) = tensor {
            inputs::check(spec, t, &graph.inputs, i)?;
            bindings::learn(&mut dims, spec, t);
        }
    }
    let mut missing = vec![];
    let mut out = Vec::with_capacity(specs.len());
    for (i, (spec, tensor)) in specs.iter().zip(given).enumerate() {
        let shown = graph.inputs.get(i).map(|p| p.shown(i)).unwrap_or_default();
        match (tensor, a.seed) {
            (Some(t), _) => out.push(t),
            (None, Some(seed)) => out.push(generate::random(spec, &dims, seed, i, &shown)?),
            (None, None) if a.ones => out.push(generate::ones(spec, &dims, &shown)?),
            (None, None) => missing.push(format!("{shown} ({spec})")),
        }
    }
    if missing.is_empty() {
        return Ok((out, dims));
    }
    let message = format!("no value for {}; give --input NAME=FILE.npy, --ones or --seed N", missing.join(", "));
    Err(Failure::Usage(message))
}
