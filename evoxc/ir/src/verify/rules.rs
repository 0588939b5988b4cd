//! The signatures of a call's rules: what the transforms rely on when they put one in the place of the callee.

use crate::infer::same;
use crate::{Func, FuncRef, Prim, TensorType};
use evoxc_core::Dim;

/// Checks the rules of a call against the signature of its callee.
pub(super) fn check<'m>(prim: &Prim, find: impl Fn(&FuncRef) -> Option<&'m Func>) -> Result<(), String> {
    let Prim::Call { callee, jvp, forward, vjp, batch, captures, remat: _ } = prim else { return Ok(()) };
    let Some(f) = find(callee) else { return Ok(()) };
    let (args, results) = (f.inputs(), f.outputs());
    let Some(own) = args.len().checked_sub(captures.unwrap_or(0)) else {
        return Err(format!("`captures` is {}, but @{} takes {}", captures.unwrap_or(0), f.name, args.len()));
    };
    let own = args.get(..own).unwrap_or_default();
    if let Some(rule) = jvp.as_ref().and_then(&find) {
        takes("jvp", rule, "the arguments, then their tangents", &[&args, own].concat())?;
        gives("jvp", rule, "the results, then their tangents", &rule.outputs(), &[&results[..], &results].concat())?;
    }
    match (forward, vjp) {
        (Some(forward), Some(vjp)) => {
            let (Some(forward), Some(vjp)) = (find(forward), find(vjp)) else { return Ok(()) };
            takes("forward", forward, "the arguments", &args)?;
            let out = forward.outputs();
            let (first, residuals) = out.split_at(results.len().min(out.len()));
            gives("forward", forward, "the results, then any residuals", first, &results)?;
            takes("vjp", vjp, "the residuals, then the cotangents of the results", &[residuals, &results].concat())?;
            gives("vjp", vjp, "the cotangents of the arguments", &vjp.outputs(), own)?;
        }
        (None, None) => {}
        (Some(_), None) => return Err("it has the rule `forward`, which goes with `vjp`".into()),
        (None, Some(_)) => return Err("it has the rule `vjp`, which goes with `forward`".into()),
    }
    match batch.as_ref().and_then(find) {
        Some(rule) => rows(rule, &args, &results),
        None => Ok(()),
    }
}

fn takes(rule: &str, f: &Func, what: &str, want: &[TensorType]) -> Result<(), String> {
    agree(&f.inputs(), want).map_err(|why| format!("the rule `{rule}`, @{}, must take {what}: {why}", f.name))
}

fn gives(rule: &str, f: &Func, what: &str, got: &[TensorType], want: &[TensorType]) -> Result<(), String> {
    agree(got, want).map_err(|why| format!("the rule `{rule}`, @{}, must give {what}: {why}", f.name))
}

fn agree(got: &[TensorType], want: &[TensorType]) -> Result<(), String> {
    if let Some((i, (g, w))) = got.iter().zip(want).enumerate().find(|(_, (g, w))| !same(g, w)) {
        return Err(format!("value {i} must be {w}, got {g}"));
    }
    if got.len() == want.len() { Ok(()) } else { Err(format!("expected {} values, got {}", want.len(), got.len())) }
}

/// All that the rule takes and gives has one extent in front of what the callee takes and gives.
fn rows(rule: &Func, args: &[TensorType], results: &[TensorType]) -> Result<(), String> {
    let (inputs, outputs) = (rule.inputs(), rule.outputs());
    let n: Option<Dim> = inputs.iter().chain(&outputs).find_map(|t| t.shape.first().copied());
    let with_rows = |list: &[TensorType]| -> Vec<TensorType> {
        let shape = |t: &TensorType| n.iter().chain(&t.shape).copied().collect::<evoxc_core::Shape>();
        list.iter().map(|t| evoxc_core::spec(t.dtype, shape(t))).collect()
    };
    takes("batch", rule, "the arguments with a leading axis each", &with_rows(args))?;
    gives("batch", rule, "the results with a leading axis each", &outputs, &with_rows(results))
}
