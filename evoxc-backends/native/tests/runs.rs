//! Shapes that a program finds out about when it runs: what is refused, and that nothing of a refused run shows in the next.

use evoxc::{Native, prelude::*};
use evoxc_ir::Module;
use evoxc_stage::{Backend, Program};
use std::sync::Arc;

fn program(text: &str) -> Arc<dyn Program> {
    let native = Native::default();
    let compiled = Module::parse(text).and_then(|m| native.compile(&native.lower(&m)?));
    compiled.and_then(|c| native.load(&c, Device::cpu())).unwrap_or_else(|e| panic!("{e}"))
}

/// The first result as numbers, or the error, of arguments that are zeros of these shapes.
fn run(program: &dyn Program, shapes: &[&[usize]]) -> Result<Vec<Vec<i64>>, String> {
    let args = shapes.iter().map(|s| Tensor::zeros(F32, *s)).collect();
    let results = program.run(args).map_err(|e| e.to_string())?;
    Ok(results.iter().map(|t| t.cast(I64).and_then(|t| t.to_vec()).unwrap_or_else(|e| panic!("{e}"))).collect())
}

#[track_caller]
fn refused(program: &dyn Program, shapes: &[&[usize]], why: &str) {
    let error = run(program, shapes).expect_err("it runs");
    assert!(error.contains(why), "{error}");
}

#[test]
fn a_refused_run_leaves_nothing_behind() {
    let p = program(
        "func @main(%x: tensor<Bxf32>, %y: tensor<Bxf32>) -> tensor<Bxf32> {
           %s = evoxc.cumulative_sum(%x) {axis = 0, reverse = false} : tensor<Bxf32>
           %r = evoxc.add(%s, %y) : tensor<Bxf32>
           return %r
         }",
    );
    assert_eq!(run(&*p, &[&[4], &[4]]), Ok(vec![vec![0; 4]]));
    refused(&*p, &[&[100_000], &[99_999]], "99999");
    assert_eq!(run(&*p, &[&[100_000], &[100_000]]), Ok(vec![vec![0; 100_000]]));
}

/// The interpreter says the same of each.
#[test]
fn extents_out_of_bounds_are_refused_wherever_they_appear() {
    let inside = "func @main(%x: tensor<Bxf32>) -> tensor<f32> {
          %s = evoxc.call(%x) {callee = @f} : tensor<f32>
          return %s
        }
        func @f(%x: tensor<Bxf32>) -> tensor<f32> {
          %r = evoxc.slice(%x) {start = [3], limit = [B], stride = [1]} : tensor<[B - 3]xf32>
          %t = evoxc.reduce_sum(%r) {axes = [0]} : tensor<f32>
          return %t
        }";
    let p = program(inside);
    refused(&*p, &[&[2]], "slice: the extent `B - 3` is -1 here, below 0 (tensor<Bxf32>)");
    assert_eq!(run(&*p, &[&[3]]), Ok(vec![vec![0]]));

    let p = program(
        "func @main(%x: tensor<Bxf32>) -> (tensor<u8>, tensor<i32>) {
           %n = evoxc.dim_size() {extent = B, dtype = u8} : tensor<u8>
           %m = evoxc.dim_size() {extent = (B - 300), dtype = i32} : tensor<i32>
           return %n, %m
         }",
    );
    assert_eq!(run(&*p, &[&[255]]), Ok(vec![vec![255], vec![-45]]));
    refused(&*p, &[&[256]], "the extent `B` is 256 here");

    let p = program(
        "func @main(%x: tensor<Bx0xf32>, %y: tensor<Tx0xf32>) -> tensor<i64> {
           %n = evoxc.dim_size() {extent = (B * T), dtype = i64} : tensor<i64>
           return %n
         }",
    );
    assert_eq!(run(&*p, &[&[3, 0], &[5, 0]]), Ok(vec![vec![15]]));
    refused(&*p, &[&[1 << 32, 0], &[1 << 32, 0]], "does not fit 64 bits");
    refused(&*p, &[&[1 << 41, 0], &[1, 0]], "the extent `B` is 2199023255552 here, more than 2^40");
}

/// Quotients of extents, for divisors of any sign: as `Dim` says.
#[test]
fn divisors_of_extents_may_be_symbols() {
    let p = program(
        "func @main(%x: tensor<Bxf32>, %y: tensor<Txf32>) -> (tensor<i64>, tensor<i64>, tensor<f32>) {
           %n = evoxc.dim_size() {extent = (B / (T - 3)), dtype = i64} : tensor<i64>
           %m = evoxc.dim_size() {extent = (B % T), dtype = i64} : tensor<i64>
           %i = evoxc.iota() {dtype = f32, shape = [(B / T)], axis = 0} : tensor<[B / T]xf32>
           %s = evoxc.reduce_sum(%i) {axes = [0]} : tensor<f32>
           return %n, %m, %s
         }",
    );
    assert_eq!(run(&*p, &[&[7], &[1]]), Ok(vec![vec![-4], vec![0], vec![21]]));
    assert_eq!(run(&*p, &[&[7], &[2]]), Ok(vec![vec![-7], vec![1], vec![3]]));
    assert_eq!(run(&*p, &[&[7], &[5]]), Ok(vec![vec![3], vec![2], vec![0]]));
    refused(&*p, &[&[7], &[3]], "division by zero in `B / (T - 3)`");
    refused(&*p, &[&[7], &[0]], "division by zero in `B / T`");
}
