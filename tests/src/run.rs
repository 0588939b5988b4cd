//! Runs value cases on backends.

use crate::case::Case;
use crate::tolerance::{Category, compare};
use evoxc_core::{Dim, Dyn, Error, Tensor, TreeDef};
use evoxc_ir::{Literal, Module, parse_literal};
use evoxc_stage::{AnyBackend, Backend, LoweredProgram, Signature};
use std::borrow::Cow;

/// A value case, read.
pub struct ValueCase {
    /// The program, verified.
    pub module: Module,
    /// Inputs of its entry.
    pub inputs: Vec<Tensor>,
    /// Expected results.
    pub expected: Vec<Tensor>,
    /// How near they must be.
    pub category: Category,
}

fn tensor(text: &str) -> Result<Tensor, String> {
    match parse_literal(text).map_err(|e| format!("{text}: {e}"))? {
        Literal::Dense(t) => Ok(t),
        Literal::Splat(..) => Err(format!("{text}: write every element")),
    }
}

/// Reads and verifies a value case.
///
/// # Errors
/// What is wrong with it, for people.
pub fn load(case: &Case) -> Result<ValueCase, String> {
    if case.header("source").iter().all(|s| s.is_empty()) {
        return Err("a value case needs a line `// source: …` that says where its expectation comes from".into());
    }
    let module = Module::parse(&case.program).map_err(|e| e.to_string())?;
    module.verify().map_err(|e| e.to_string())?;
    let tensors = |key| case.header(key).into_iter().map(tensor).collect::<Result<Vec<_>, _>>();
    let category = match case.header("tol").first() {
        Some(name) => Category::from_name(name).ok_or_else(|| format!("no tolerance is called `{name}`"))?,
        None => Category::of(&module),
    };
    Ok(ValueCase { inputs: tensors("input")?, expected: tensors("expect")?, category, module })
}

/// Why a backend gave no results.
#[derive(Debug)]
pub enum Failure {
    /// The backend refuses the program.
    Unsupported(String),
    /// Anything else.
    Wrong(String),
}

/// Lowers, compiles, loads and runs a module on a backend.
///
/// # Errors
/// [`Failure`].
pub fn execute(backend: &AnyBackend, module: &Module, inputs: &[Tensor]) -> Result<Vec<Tensor>, Failure> {
    let outputs = module.main().map_or(0, |f| f.body.results.len());
    let tree = TreeDef::leaves_tuple;
    let refused = |e: Error| match e {
        Error::Backend(e) => Failure::Unsupported(e.to_string()),
        e => Failure::Wrong(e.to_string()),
    };
    let wrong = |e: Error| Failure::Wrong(e.to_string());
    let module = &match backend.capabilities().symbolic_dims {
        true => Cow::Borrowed(module),
        // As a user of such a backend does: the program for the sizes of these inputs.
        false => Cow::Owned(for_sizes_of(module, inputs, tree(inputs.len()), tree(outputs)).map_err(wrong)?),
    };
    let lowered: LoweredProgram<Dyn<Tensor>, Dyn<Tensor>, AnyBackend> =
        LoweredProgram::from_parts(backend.clone(), module, tree(inputs.len()), tree(outputs)).map_err(refused)?;
    let artifact = lowered.compile().map_err(refused)?;
    let device = backend.devices().into_iter().next().ok_or_else(|| Failure::Wrong("it has no device here".into()))?;
    let exe = artifact.load(device).map_err(wrong)?;
    let args: Dyn<Tensor> = tree(inputs.len()).unflatten(inputs.to_vec()).map_err(wrong)?;
    Ok(exe.run(args).map_err(wrong)?.leaves().to_vec())
}

/// The module for the sizes that inputs have.
fn for_sizes_of(module: &Module, inputs: &[Tensor], tree: TreeDef, outputs: TreeDef) -> Result<Module, Error> {
    let (specs, results) = module.main().map(|f| (f.inputs(), f.outputs())).unwrap_or_default();
    let sizes = Signature::new(specs, results, tree.clone(), outputs)?.bind(inputs, &tree)?;
    let sizes: Vec<(Dim, Dim)> = sizes.into_iter().map(|(s, v)| (s, Dim::constant(v))).collect();
    if sizes.is_empty() { Ok(module.clone()) } else { module.specialize(&sizes) }
}

/// Compares results with the expected ones.
///
/// # Errors
/// The first difference.
pub fn judge(actual: &[Tensor], case: &ValueCase) -> Result<(), String> {
    if actual.len() != case.expected.len() {
        return Err(format!("expected {} results, got {}", case.expected.len(), actual.len()));
    }
    for (i, (a, e)) in actual.iter().zip(&case.expected).enumerate() {
        compare(a, e, case.category).map_err(|m| format!("result {i}: {m}"))?;
    }
    Ok(())
}

/// Are two lists of results the same, bit for bit (NaN equals NaN)?
///
/// # Errors
/// The first difference.
pub fn same_bits(a: &[Tensor], b: &[Tensor]) -> Result<(), String> {
    if a.len() != b.len() {
        return Err(format!("{} results became {}", a.len(), b.len()));
    }
    for (i, (x, y)) in a.iter().zip(b).enumerate() {
        if !x.bit_eq(y) {
            compare(y, x, Category::Exact).map_err(|m| format!("result {i}: {m}"))?;
        }
    }
    Ok(())
}
