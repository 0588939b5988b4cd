//! Control flow and calls. Regions use the values around them, as evoxc's do.

use super::function::body;
use super::writer::{Val, Writer};
use super::{Outcome, text};
use evoxc_core::OpError;
use evoxc_ir::{Op, TensorType};

pub(super) fn cond(w: &mut Writer<'_>, o: &Op, xs: &[&Val], types: &[TensorType]) -> Outcome<Vec<Val>> {
    branches(w, "if", o, xs, types)
}

pub(super) fn switch(w: &mut Writer<'_>, o: &Op, xs: &[&Val], types: &[TensorType]) -> Outcome<Vec<Val>> {
    branches(w, "case", o, xs, types)
}

fn branches(w: &mut Writer<'_>, name: &str, o: &Op, xs: &[&Val], types: &[TensorType]) -> Outcome<Vec<Val>> {
    let [choice] = xs else { return Err(OpError::new("", "it takes one operand")) };
    let (head, results) = w.results(types);
    w.open(&format!("{head}\"stablehlo.{name}\"({choice}) ({{"));
    for (i, r) in o.regions.iter().enumerate() {
        if i > 0 {
            w.between("}, {");
        }
        w.region(|w| body(w, r))?;
    }
    w.close(&format!("}}) : ({}) -> {}", text::ty(&choice.ty), text::results(types)));
    Ok(results)
}

pub(super) fn while_loop(w: &mut Writer<'_>, o: &Op, init: &[&Val], types: &[TensorType]) -> Outcome<Vec<Val>> {
    let [cond, step] = o.regions.as_slice() else { return Err(OpError::new("", "it has two regions")) };
    // The printed form names the state once, for both regions.
    let (head, results) = w.results(types);
    let state: Vec<Val> = init.iter().map(|v| w.argument("iterArg", &v.ty)).collect();
    let pairs = state.iter().zip(init).map(|(s, v)| format!("{s} = {v}"));
    let list = text::list(init.iter().map(|v| text::ty(&v.ty)));
    let colon = if init.is_empty() { "" } else { " : " };
    w.line(&format!("{head}stablehlo.while({}){colon}{list}", text::list(pairs)));
    for (r, opening, closing) in [(cond, "cond {", None), (step, "} do {", Some("}"))] {
        for (&v, s) in r.args.iter().zip(&state) {
            w.set(v, s.clone());
        }
        if closing.is_some() {
            w.between(opening)
        } else {
            w.open(opening)
        }
        w.region(|w| body(w, r))?;
    }
    w.close("}");
    Ok(results)
}

pub(super) fn call(w: &mut Writer<'_>, callee: &str, xs: &[&Val], types: &[TensorType]) -> Outcome<Vec<Val>> {
    let name = w.functions.get(callee).map_or(callee, String::as_str);
    // Inside a function `func` is the dialect that may be left out, inside another op's region it is not.
    let op = if w.depth == 0 { "call" } else { "func.call" };
    let operands = text::parens(xs.iter().map(|v| text::ty(&v.ty)));
    let rhs = format!("{op} @{}({}) : {operands} -> {}", text::symbol(name), text::list(xs), text::results(types));
    Ok(w.op_many(&rhs, types))
}

pub(super) fn barrier(w: &mut Writer<'_>, xs: &[&Val], types: &[TensorType]) -> Outcome<Vec<Val>> {
    if xs.is_empty() {
        return Ok(vec![]);
    }
    let rhs = format!("stablehlo.optimization_barrier {} : {}", text::list(xs), text::list(types.iter().map(text::ty)));
    Ok(w.op_many(&rhs, types))
}
