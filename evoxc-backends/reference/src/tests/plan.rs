//! Lifetimes of values, symbols, errors.

use super::{lit, run};
use crate::Plan;
use evoxc_core::{Error, F32, Loc, RunError, Tensor};
use evoxc_ir::Module;

const DOUBLE: &str = "func @f(%x: tensor<Bx2xf32>) -> tensor<Bx2xf32> {
    %0 = evoxc.add(%x, %x) : tensor<Bx2xf32>
    %1 = evoxc.neg(%0) : tensor<Bx2xf32>
    return %1
}";

#[test]
fn symbols_take_any_value() {
    for n in [0, 1, 5] {
        let out = run(DOUBLE, vec![Tensor::ones(F32, [n, 2])]).unwrap();
        assert!(out[0].bit_eq(&Tensor::full(F32, [n, 2], -2.0)));
    }
}

#[test]
fn a_uniquely_owned_argument_is_written_in_place() {
    let text = "func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n %0 = evoxc.exp(%x) : tensor<4xf32>\n %1 = evoxc.neg(%0) : tensor<4xf32>\n return %1\n}";
    let x = Tensor::zeros(F32, [4]);
    let place = x.as_slice::<f32>().unwrap().as_ptr();
    let out = run(text, vec![x]).unwrap();
    assert_eq!(out[0].as_slice::<f32>().unwrap().as_ptr(), place);
    // A clone that the caller keeps is not written to.
    let x = Tensor::zeros(F32, [4]);
    let out = run(text, vec![x.clone()]).unwrap();
    assert_eq!(out[0].to_vec::<f32>().unwrap(), [-1.0; 4]);
    assert_eq!(x.to_vec::<f32>().unwrap(), [0.0; 4]);
}

#[test]
fn results_may_be_arguments_constants_and_repeated() {
    let text = "func @f(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
        %c = evoxc.constant() {value = dense<2.0> : tensor<f32>} : tensor<f32>
        return %x, %c, %x
    }";
    let out = run(text, vec![Tensor::from(1f32)]).unwrap();
    let values: Vec<f32> = out.iter().map(|t| t.item().unwrap()).collect();
    assert_eq!(values, [1.0, 2.0, 1.0]);
}

#[test]
fn extents_are_solved_and_checked() {
    let text = "func @f(%x: tensor<[2*B + 1]xf32>, %y: tensor<[B*T]xf32>, %z: tensor<Txf32>) -> (tensor<i32>, tensor<[B + T]xf32>) {
        %0 = evoxc.dim_size() {extent = (B*T), dtype = i32} : tensor<i32>
        %1 = evoxc.constant() {value = splat<1.5> : tensor<[B + T]xf32>} : tensor<[B + T]xf32>
        return %0, %1
    }";
    let args = |a: usize, b: usize, c: usize| [a, b, c].map(|n| Tensor::zeros(F32, [n])).to_vec();
    let out = run(text, args(5, 6, 3)).unwrap();
    assert!(out[0].bit_eq(&Tensor::from(6i32)));
    assert!(out[1].bit_eq(&Tensor::full(F32, [5], 1.5)));
    for bad in [args(4, 6, 3), args(5, 7, 3)] {
        assert!(matches!(run(text, bad), Err(Error::Run(RunError::Input { .. }))));
    }
    let two = "func @f(%x: tensor<Bxf32>, %y: tensor<Bxf32>) -> () {\n return\n}";
    let e = run(two, vec![Tensor::zeros(F32, [2]), Tensor::zeros(F32, [3])]).unwrap_err();
    assert_eq!(e.to_string(), "input 1: `B` is 3 here, but 2 at 0");
}

#[test]
fn errors_name_op_types_and_place() {
    let text = "func @f(%x: tensor<Bxf32>) -> tensor<2x3xf32> {
        %0 = evoxc.reshape(%x) {shape = [2, 3]} : tensor<2x3xf32> loc(\"src/main.rs\":6:7)
        return %0
    }";
    let Err(Error::Run(RunError::Op(e))) = run(text, vec![Tensor::zeros(F32, [7])]) else { panic!() };
    assert_eq!((e.op.as_str(), e.loc), ("reshape", Some(Loc::new("src/main.rs", 6, 7))));
    assert_eq!(e.operands, ["tensor<Bxf32>"]);
}

#[test]
fn absurd_sizes_are_errors() {
    for shape in ["[1000000000000000]", "[4611686018427387904, 4]"] {
        let ty = shape.trim_matches(['[', ']']).replace(", ", "x");
        let text = format!(
            "func @f() -> tensor<{ty}xf32> {{\n %0 = evoxc.iota() {{dtype = f32, shape = {shape}, axis = 0}} : tensor<{ty}xf32>\n return %0\n}}"
        );
        let Err(Error::Run(RunError::Op(e))) = run(&text, vec![]) else { panic!() };
        assert!(e.message.contains("memory"), "{e}");
    }
}

#[test]
fn plans_run_from_many_threads() {
    let module = Module::parse(&format!("module @m version 1 {{\n{DOUBLE}\n}}")).unwrap();
    let plan = Plan::new(&module).unwrap();
    std::thread::scope(|s| {
        for n in 1..4 {
            let plan = &plan;
            s.spawn(move || {
                for _ in 0..50 {
                    let out = plan.run(vec![Tensor::ones(F32, [n, 2])]).unwrap();
                    assert!(out[0].bit_eq(&Tensor::full(F32, [n, 2], -2.0)));
                }
            });
        }
    });
}

#[test]
fn long_chains_do_not_recurse() {
    let mut text = String::from("func @f(%v0: tensor<f32>) -> tensor<f32> {\n");
    for i in 0..20_000 {
        text += &format!("%v{} = evoxc.add(%v{i}, %v{i}) : tensor<f32>\n", i + 1);
    }
    text += "return %v20000\n}";
    let out = run(&text, vec![lit("dense<0.0> : tensor<f32>")]).unwrap();
    assert!(out[0].bit_eq(&Tensor::from(0f32)));
}
