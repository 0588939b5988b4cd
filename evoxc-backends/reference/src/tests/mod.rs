//! Tests of plans: modules in text form, run on host tensors.

mod control;
mod elementwise;
mod empty;
mod plan;
mod random;
mod rows;
mod shape;

use crate::Plan;
use evoxc_core::{Result, Tensor};
use evoxc_ir::{Literal, Module, parse_literal};

/// Runs a list of functions in text form.
fn run(text: &str, args: Vec<Tensor>) -> Result<Vec<Tensor>> {
    let module = Module::parse(&format!("module @test version 1 {{\n{text}\n}}")).unwrap_or_else(|e| panic!("{e:?}"));
    Plan::new(&module)?.run(args)
}

/// A tensor in text form.
fn lit(text: &str) -> Tensor {
    match parse_literal(text).unwrap_or_else(|e| panic!("{text}: {e:?}")) {
        Literal::Dense(t) => t,
        Literal::Splat(t, shape) => {
            let shape = shape.to_static().unwrap();
            Tensor::from_parts(t.buffer().splat(shape.iter().product()), &shape).unwrap()
        }
    }
}

/// Runs one op on literals and compares the one result's bits.
#[track_caller]
fn check(op: &str, args: &[&str], expect: &str) {
    let expect = lit(expect);
    let got = apply(op, args, &expect.spec().to_string());
    assert!(got.bit_eq(&expect), "{op}{args:?}\n gave {got}\n not  {expect}");
}

/// Runs one op on literals.
#[track_caller]
fn apply(op: &str, args: &[&str], result: &str) -> Tensor {
    let args: Vec<Tensor> = args.iter().map(|a| lit(a)).collect();
    let params: Vec<String> = args.iter().enumerate().map(|(i, a)| format!("%a{i}: {}", a.spec())).collect();
    let names: Vec<String> = (0..args.len()).map(|i| format!("%a{i}")).collect();
    let (name, attributes) = op.split_once(' ').unwrap_or((op, ""));
    let text = format!(
        "func @f({}) -> {result} {{\n %r = evoxc.{name}({}) {attributes} : {result}\n return %r\n}}",
        params.join(", "),
        names.join(", ")
    );
    run(&text, args).unwrap_or_else(|e| panic!("{e:?}")).remove(0)
}
