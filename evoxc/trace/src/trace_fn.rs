//! `trace`, and the shorthands that go all the way to data.

use crate::builder::{Abort, Guard, resolve_all};
use crate::graph::Capture;
use crate::{Graph, GraphFn, Sym};
use evoxc_core::{OpError, Result, Tensor, TensorSpec, TraceErrors, Tree, TreeDef};
use evoxc_ir::{Func, Module, Name, Region};
use evoxc_stage::{Backend, Executable};
use rustc_hash::FxHashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Traces a graph function on inputs of these specs.
///
/// The function runs once, on symbols; the graph is what it did. Errors are collected.
///
/// # Errors
/// [`evoxc_core::Error::Trace`] with every error found, each with its location and operand types.
///
/// ```
/// use evoxc::prelude::*;
/// let graph = trace(|x: Sym, w: Sym| x.dot(w), (spec(F32, [4, 8]), spec(F32, [8, 4]))).unwrap();
/// assert_eq!(graph.output_specs(), [spec(F32, [4, 4])]);
/// ```
#[track_caller]
pub fn trace<F, S, M>(f: F, specs: S) -> Result<Graph<S::Map<Sym>, F::Out>>
where
    S: Tree<TensorSpec>,
    F: GraphFn<S::Map<Sym>, M>,
{
    let (leaves, def) = TreeDef::flatten(specs);
    trace_leaves(f, leaves, def)
}

/// A readable name from a path: `0.layers[3].w` gives `layers_3_w`; nothing for a bare argument.
fn name_of(path: &str) -> Option<Name> {
    let rest = path.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let words: Vec<&str> = rest.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
    (!words.is_empty() && words[0].starts_with(|c: char| c.is_alphabetic() || c == '_')).then(|| words.join("_").into())
}

#[track_caller]
pub(crate) fn trace_leaves<F, I, M>(f: F, specs: Vec<TensorSpec>, inputs: TreeDef) -> Result<Graph<I, F::Out>>
where
    I: Tree<Sym>,
    F: GraphFn<I, M>,
{
    let guard = Guard::open();
    let entry = crate::builder::with(|t| t.entry);
    for (i, s) in specs.iter().enumerate() {
        if let Some(e) = s.shape.iter().find_map(|d| d.error()) {
            return Err(e.into());
        }
        if let Some(d) = s.shape.iter().find(|d| d.as_i64().is_some_and(|v| v < 0)) {
            let at = inputs.paths().get(i).filter(|p| !p.is_empty()).map(|p| format!(" at {p}")).unwrap_or_default();
            let e = OpError::new("trace", format!("the input{at} has the extent {d}, below 0"));
            return Err(failed(vec![e.operands([s.to_string()]).at(Some(entry))], ""));
        }
    }
    let args: Vec<Sym> = crate::builder::with(|t| {
        let names = inputs.paths();
        let values: Vec<_> = specs.into_iter().zip(&names).map(|(s, n)| t.argument(s, name_of(n))).collect();
        values.into_iter().map(|v| Sym::new(v.0, t.id)).collect()
    });
    let args: I = inputs.unflatten(args)?;
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let (leaves, outputs) = TreeDef::flatten(f.apply(args));
        (resolve_all("return", &leaves, Some(entry)), outputs)
    }));
    let Some(mut t) = guard.finish() else { return Err(failed(vec![], "the trace was closed by another")) };
    let (results, outputs) = match outcome {
        Ok(x) => x,
        Err(payload) if payload.is::<Abort>() => return Err(refusal(t)),
        Err(payload) => resume_unwind(payload),
    };
    let results = match results {
        Some(r) if t.errors.is_empty() && t.refused.is_empty() => r,
        _ => return Err(refusal(t)),
    };
    let main = t.close(results.to_vec());
    let funcs = reachable(main, std::mem::take(&mut t.callees));
    let module = Module { name: "main".into(), funcs, statics: t.statics, notes: t.notes };
    module.verify()?;
    let captures = t.captures.iter().map(|(s, _)| Capture { id: s.id, trace: s.trace }).collect();
    Ok(Graph::from_parts(module, inputs, outputs, captures))
}

/// The errors of a trace that gave no graph: what a transform refused, unless there are others.
fn refusal(mut t: crate::builder::Trace) -> evoxc_core::Error {
    if let (true, [_]) = (t.errors.is_empty(), &t.refused[..])
        && let Some(e) = t.refused.pop()
    {
        return e.into();
    }
    let refused = t.refused.into_iter().map(|e| OpError { op: format!("{}: {}", e.transform, e.op.op), ..e.op });
    failed(t.errors.into_iter().chain(refused).collect(), "an output could not be computed")
}

/// The entry, and those functions that it reaches, in their order.
fn reachable(main: Func, others: Vec<Func>) -> Vec<Func> {
    fn walk(r: &Region, others: &[Func], index: &FxHashMap<&str, usize>, seen: &mut [bool]) {
        for op in &r.ops {
            for name in op.prim.functions() {
                if let Some(&i) = index.get(name.0.as_str())
                    && !std::mem::replace(&mut seen[i], true)
                {
                    walk(&others[i].body, others, index, seen);
                }
            }
            op.regions.iter().for_each(|r| walk(r, others, index, seen));
        }
    }
    let mut seen = vec![false; others.len()];
    if !others.is_empty() {
        let index = others.iter().enumerate().map(|(i, f)| (f.name.as_str(), i)).collect();
        walk(&main.body, &others, &index, &mut seen);
    }
    std::iter::once(main).chain(others.into_iter().zip(seen).filter(|(_, s)| *s).map(|(f, _)| f)).collect()
}

fn failed(mut errors: Vec<OpError>, otherwise: &str) -> evoxc_core::Error {
    if errors.is_empty() {
        errors.push(OpError::new("trace", otherwise));
    }
    TraceErrors { errors }.into()
}

/// trace → lower → compile → load on the backend's first device.
///
/// ```
/// use evoxc::prelude::*;
/// let exe = build(|x: Sym| x.sum(..), spec(F32, [dim("N")]), &Interp)?;
/// assert_eq!(exe.run(Tensor::ones(F32, [5]))?.item::<f32>()?, 5.0);
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// Those of each stage.
#[track_caller]
pub fn build<F, S, M, B: Backend>(
    f: F,
    specs: S,
    backend: &B,
) -> Result<Executable<<S::Map<Sym> as Tree<Sym>>::Map<Tensor>, <F::Out as Tree<Sym>>::Map<Tensor>>>
where
    S: Tree<TensorSpec>,
    F: GraphFn<S::Map<Sym>, M>,
{
    load(&trace(f, specs)?, backend)
}

pub(crate) fn load<I: Tree<Sym>, O: Tree<Sym>, B: Backend>(
    graph: &Graph<I, O>,
    backend: &B,
) -> Result<Executable<I::Map<Tensor>, O::Map<Tensor>>> {
    graph.lower(backend)?.compile()?.load(first_device(backend))
}

/// Where [`build`] loads programs: if there is no device, loading says so.
pub(crate) fn first_device<B: Backend>(backend: &B) -> evoxc_core::Device {
    backend.devices().first().copied().unwrap_or(evoxc_core::Device::cpu())
}

/// Derives the specs from the data, builds, and runs once.
///
/// ```
/// use evoxc::prelude::*;
/// let (low, high) = evaluate(|x: Sym| (x.min(..), x.max(..)), Tensor::from([3, 1, 2]), &Interp)?;
/// assert_eq!((low.item::<i32>()?, high.item::<i32>()?), (1, 3));
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// Those of each stage.
#[track_caller]
pub fn evaluate<F, A, M, B: Backend>(f: F, args: A, backend: &B) -> Result<<F::Out as Tree<Sym>>::Map<Tensor>>
where
    A: Tree<Tensor>,
    F: GraphFn<A::Map<Sym>, M>,
{
    let (leaves, def) = TreeDef::flatten(args);
    let graph = trace_leaves::<F, A::Map<Sym>, M>(f, leaves.iter().map(Tensor::spec).collect(), def.clone())?;
    let exe = load(&graph, backend)?;
    exe.run(def.unflatten(leaves)?)
}
