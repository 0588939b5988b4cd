//! The checks of test programs: recorded for a runner, never part of a graph.

use super::shape::splat;
use crate::import::attrs::find;
use crate::import::fault::Done;
use crate::import::item::Item;
use crate::import::options::{CheckSite, ParallelSite};
use crate::import::walk::Importer;
use crate::syntax::ast::{Attr, Func, Op, Region, Type};
use evoxc_core::{BOOL, Scalar, Tensor, TensorSpec, Unsupported};
use evoxc_ir::{Literal, Prim};
use evoxc_trace::Sym;

impl<'m, 'a> Importer<'m, 'a> {
    /// Checks are recorded in the entry and in functions that are copied into it, outside of loops and branches.
    fn recordable(&self, op: &Op) -> Done<()> {
        if !self.options.checks {
            let m = "it belongs to a test program";
            return Err(self.unsupported(op, Unsupported::Check, m, "import with `ImportOptions::checks`"));
        }
        if self.regions > 0 {
            let m = "it stands inside a loop or branch, or in a function that is kept";
            return Err(self.unsupported(op, Unsupported::Check, m, "check after the loop"));
        }
        Ok(())
    }
    /// One more output beside the function's own.
    fn output(&mut self, s: Sym) -> usize {
        self.records.outputs.push(s);
        self.results + self.records.outputs.len() - 1
    }
    fn record_check(&mut self, op: &Op<'a>, name: &str, custom_call: bool, pair: [Sym; 2]) {
        let number = |a: &Attr| match a {
            Attr::Int(i) => Some(Scalar::Int(*i)),
            Attr::Float(f) => Some(Scalar::Float(*f)),
            Attr::Bool(b) => Some(Scalar::Bool(*b)),
            _ => None,
        };
        let named =
            |n: &str| matches!(n, "tolerance" | "max_ulp_difference" | "min_ulp_difference" | "iteration" | "iter");
        let all = op.attrs.iter().filter(|(n, _)| named(n));
        let attributes = all.filter_map(|(n, a)| Some((n.to_string(), number(a)?))).collect();
        let outputs = pair.map(|s| self.output(s)).to_vec();
        let line = self.source.place(op.at).0;
        self.records.checks.push(CheckSite { name: name.into(), custom_call, attributes, outputs, line });
    }
    /// The types of what `interpreter.run_parallel` gives, each an input of the graph.
    pub fn parallel_types(&self, func: &'m Func<'a>, body: &Region<'a>, out: &mut Vec<TensorSpec>) -> Done<()> {
        for op in body.ops.iter().filter(|op| op.name == "interpreter.run_parallel") {
            for &v in &op.results {
                self.argument_types(op, func, v, out)?;
            }
        }
        Ok(())
    }
}

pub fn check<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    i.recordable(op)?;
    let name = op.name.strip_prefix("check.").unwrap_or(&op.name);
    if name == "expect_serialized_eq" {
        return serialized(i, op);
    }
    if let Some(plain) = name.strip_suffix("_const") {
        let [x] = i.operands(op)?;
        let Attr::Dense(d) = i.needed(op, "value")? else {
            return Err(i.error(op, "its attribute `value` is no dense constant"));
        };
        let value = match i.literal(op, d)? {
            Literal::Splat(t, shape) => splat(t, shape),
            dense @ Literal::Dense(_) => dense,
        };
        let expected = i.emit(op, Prim::Constant { value }, &[])?;
        i.record_check(op, plain, false, [x, expected]);
        return Ok(vec![]);
    }
    let pair = i.operands(op)?;
    i.record_check(op, name, false, pair);
    Ok(vec![])
}

/// `stablehlo.custom_call @check.…`.
pub fn custom<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>, name: &str) -> Done<Vec<Item>> {
    i.recordable(op)?;
    let xs = i.tensors(op)?;
    let [x, expected, ..] = xs.as_slice() else { return Err(i.error(op, "it compares two operands")) };
    i.record_check(op, name, true, [*x, *expected]);
    if op.results.is_empty() {
        return Ok(vec![]);
    }
    // `@check.eq` gives whether it holds. The runner decides, and stops where it does not.
    let ty = i.static_result(op, 0)?;
    if ty.dtype != BOOL || !ty.shape.is_empty() {
        return Err(i.error(op, "it gives tensor<i1>"));
    }
    Ok(vec![i.emit(op, Prim::Constant { value: Literal::Dense(Tensor::from(true)) }, &[])?.into()])
}

fn probe_id<'x>(i: &Importer, op: &'x Op) -> Done<&'x str> {
    match find(&op.attrs, "probe_id") {
        Some(Attr::Str(s)) => Ok(s),
        _ => Err(i.error(op, "it needs the attribute `probe_id`")),
    }
}

/// The identity; the value is remembered for `expect_serialized_eq`.
pub fn probe<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x] = i.operands(op)?;
    let id = probe_id(i, op)?.to_string();
    if i.record_in_loop(op, &id, x)? {
        return Ok(vec![x.into()]);
    }
    i.recordable(op)?;
    i.records.probes.entry(id).or_default().push(x);
    Ok(vec![x.into()])
}

/// The expected value against what the probe of that name has seen.
fn serialized<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [x] = i.operands(op)?;
    let id = probe_id(i, op)?;
    let at = i.axis_or(op, "iteration", i.axis_or(op, "iter", 0)?)?;
    let seen = i.records.probes.get(id).and_then(|all| all.get(at)).copied();
    let Some(seen) = seen else {
        return Err(i.error(op, format!("no probe `{id}` before it has seen value {at}")));
    };
    i.record_check(op, "expect_serialized_eq", false, [seen, x]);
    Ok(vec![])
}

pub fn run_parallel<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    i.recordable(op)?;
    if find(&op.attrs, "infeed").is_some() {
        let m = "its programs read from an infeed";
        return Err(i.unsupported(op, Unsupported::HostTransfer, m, "pass the values as arguments"));
    }
    if i.frames.len() > 1 {
        let m = "it stands in a function that is called";
        return Err(i.unsupported(op, Unsupported::Check, m, "run the replicas in the entry function"));
    }
    let row = |a: &Attr| match a {
        Attr::Array(names) => {
            names.iter().map(|n| crate::import::attrs::text(n).map(str::to_string)).collect::<Option<Vec<_>>>()
        }
        _ => None,
    };
    let programs = match i.needed(op, "programs")? {
        Attr::Array(rows) => rows.iter().map(row).collect::<Option<Vec<_>>>(),
        _ => None,
    };
    let Some(programs) = programs else {
        return Err(i.error(op, "its attribute `programs` is a list of lists of functions"));
    };
    for name in programs.iter().flatten() {
        transfers(i, op, name)?;
    }
    let arguments = i.tensors(op)?.into_iter().map(|s| i.output(s)).collect();
    let mut results = vec![];
    let mut items = vec![];
    for &v in &op.results {
        let like = i.value_type(v).map_or(Item::Token, |t: &Type| Item::like(t));
        let mut count = vec![];
        like.leaves(&mut count);
        let from = i.records.taken;
        let syms = i.records.inputs.get(from..from + count.len()).unwrap_or_default().to_vec();
        i.records.taken += count.len();
        results.extend((from..from + count.len()).map(|k| i.arguments + k));
        let item = like.rebuild(&mut syms.into_iter());
        items.push(item.ok_or_else(|| i.error(op, "its results are no inputs of the graph"))?);
    }
    let line = i.source.place(op.at).0;
    i.records.parallel.push(ParallelSite { programs, arguments, results, line });
    Ok(items)
}

/// Refuses programs that exchange data with the host, as themselves.
fn transfers<'m, 'a>(i: &Importer<'m, 'a>, op: &Op, name: &str) -> Done<()> {
    let body = i.index.get(name).and_then(|&f| i.module.funcs.get(f)).and_then(|f| f.body.as_ref());
    let Some(body) = body else { return Err(i.error(op, format!("the module has no function @{name}"))) };
    let host = ["stablehlo.infeed", "stablehlo.outfeed", "stablehlo.send", "stablehlo.recv"];
    match body.ops.iter().find(|op| host.contains(&&*op.name)) {
        Some(found) => {
            let m = "a graph exchanges nothing with its host while it runs";
            Err(i.unsupported(found, Unsupported::HostTransfer, m, "make the values arguments and results"))
        }
        None => Ok(()),
    }
}
