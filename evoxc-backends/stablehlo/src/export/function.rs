//! Modules and functions: which are written, under which names, with which arguments.

use super::op::Written;
use super::writer::{Val, Writer};
use super::{ExportOptions, Outcome, op, text};
use evoxc_core::OpError;
use evoxc_ir::{Func, Module, Op, Prim, Region, TensorType};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// The text of a verified module.
pub(super) fn module(m: &Module, options: &ExportOptions) -> Outcome<String> {
    let Some(main) = m.main() else {
        return Err(OpError::new("export", "the module has no function").remedy("export a traced graph"));
    };
    let (mut given, mut taken) = (FxHashSet::default(), FxHashSet::default());
    for &(input, output) in &options.aliasing {
        aliasing(main, input, output)?;
        if !given.insert(input) || !taken.insert(output) {
            let message = format!("`aliasing` pairs input {input} with output {output}, and one of them twice");
            return Err(OpError::new("export", message).remedy("pair each input and each output once at most"));
        }
    }
    let used = reached(m, main);
    let names = names(main, &used);
    // XLA takes no module without a name.
    let name = Some(options.name.as_deref().unwrap_or(&m.name)).filter(|n| !n.is_empty()).unwrap_or("main");
    let mut out = format!("module @{} {{\n", text::symbol(name));
    for f in used {
        function(f, f.name == main.name, options, &names, &mut out)?;
    }
    out.push_str("}\n");
    Ok(out)
}

fn aliasing(main: &Func, input: usize, output: usize) -> Outcome {
    let (inputs, outputs) = (main.inputs(), main.outputs());
    match (inputs.get(input), outputs.get(output)) {
        (Some(a), Some(b)) if a.dtype == b.dtype && a.shape == b.shape => Ok(()),
        (Some(a), Some(b)) => {
            Err(OpError::new("export", format!("input {input} cannot share the storage of output {output}"))
                .operands([a, b])
                .remedy("alias inputs and outputs of one type"))
        }
        (_, _) => Err(OpError::new(
            "export",
            format!("`aliasing` pairs input {input} with output {output}, of {} and {}", inputs.len(), outputs.len()),
        )
        .remedy("count inputs and outputs from 0")),
    }
}

/// The entry and the functions that it calls, in the module's order, the entry first.
fn reached<'m>(m: &'m Module, main: &'m Func) -> Vec<&'m Func> {
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    let mut todo = vec![main.name.as_str()];
    while let Some(name) = todo.pop() {
        if seen.insert(name)
            && let Some(f) = m.func(name)
        {
            callees(&f.body, &mut todo);
        }
    }
    m.funcs.iter().filter(|f| seen.contains(f.name.as_str())).collect()
}

fn callees<'m>(r: &'m Region, out: &mut Vec<&'m str>) {
    for op in &r.ops {
        if let Prim::Call { callee, .. } = &op.prim {
            out.push(&callee.0);
        }
        op.regions.iter().for_each(|inner| callees(inner, out));
    }
}

/// What each function is called in the text: the entry `main`, the others by their names, unless these are taken.
fn names<'m>(main: &'m Func, used: &[&'m Func]) -> FxHashMap<&'m str, String> {
    let mut taken: FxHashSet<String> = used.iter().map(|f| f.name.clone()).collect();
    let mut out = FxHashMap::default();
    for f in used {
        let mut name = f.name.clone();
        if f.name == main.name {
            name = "main".into();
        } else if name == "main" {
            let mut n = 0;
            while !taken.insert(format!("main_{n}")) {
                n += 1;
            }
            name = format!("main_{n}");
        }
        out.insert(f.name.as_str(), name);
    }
    out
}

fn function(
    f: &Func,
    entry: bool,
    options: &ExportOptions,
    names: &FxHashMap<&str, String>,
    out: &mut String,
) -> Outcome {
    let mut w = Writer::new(options, f, names);
    let mut args = String::new();
    let aliased: FxHashMap<usize, usize> = options.aliasing.iter().copied().filter(|_| entry).collect();
    for (i, &v) in f.body.args.iter().enumerate() {
        let info = &f.values[v.index()];
        let base = info.name.as_deref().and_then(text::value_name).unwrap_or_else(|| format!("arg{i}"));
        let arg = w.argument(&base, &info.ty);
        let _ = write!(args, "{}{arg}: {}", if i > 0 { ", " } else { "" }, text::ty(&arg.ty));
        if let Some(output) = aliased.get(&i) {
            let _ = write!(args, " {{tf.aliasing_output = {output} : i32}}");
        }
        w.set(v, arg);
    }
    let name = names.get(f.name.as_str()).map_or(f.name.as_str(), String::as_str);
    let visibility = if entry { "public" } else { "private" };
    let types = f.outputs();
    let results = if types.is_empty() { String::new() } else { format!(" -> {}", text::results(&types)) };
    w.open(&format!("func.func {visibility} @{}({args}){results} {{", text::symbol(name)));
    let results = body(&mut w, &f.body)?;
    w.loc = None;
    w.terminator("return", &results);
    w.close("}");
    out.push_str(&w.out);
    Ok(())
}

/// Writes the ops of a region whose arguments are known, and gives its results.
pub(super) fn body(w: &mut Writer<'_>, r: &Region) -> Outcome<Vec<Val>> {
    for o in &r.ops {
        w.loc = o.loc;
        one(w, o).map_err(|e| {
            let e = OpError { op: o.prim.name(), ..e };
            let e = if e.operands.is_empty() { e.operands(types(w.func, o)) } else { e };
            e.at(o.loc)
        })?;
    }
    r.results.iter().map(|&v| w.get(v)).collect()
}

fn types<'f>(f: &'f Func, o: &Op) -> Vec<&'f TensorType> {
    o.operands.iter().map(|&v| f.ty(v)).collect()
}

fn one(w: &mut Writer<'_>, o: &Op) -> Outcome {
    let operands: Vec<Val> = o.operands.iter().map(|&v| w.get(v)).collect::<Outcome<_>>()?;
    let types: Vec<TensorType> = o.results.iter().map(|&v| w.func.ty(v).clone()).collect();
    let operands: Vec<&Val> = operands.iter().collect();
    let results = match op::write(w, o, &operands, &types)? {
        Written::Done(results) => results,
        Written::Nested(write) => write(w, o, &operands, &types)?,
    };
    if results.len() != o.results.len() {
        return Err(OpError::new("export", format!("it gave {} results", results.len())));
    }
    for (&v, val) in o.results.iter().zip(results) {
        w.set(v, val);
    }
    w.know(o);
    Ok(())
}
