//! What a schedule holds, for modules in text form.

mod cases;
mod evaluate;
mod random;

use super::*;
use evoxc_core::{DType, Tensor};
use evoxc_ir::{Module, Value};

pub(super) fn of(text: &str) -> Schedule {
    let module = Module::parse(text).unwrap();
    module.verify().unwrap();
    schedule(&module).unwrap()
}

#[test]
fn results_may_be_arguments_and_constants_and_repeat() {
    let s = of("func @f(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>, tensor<2xf32>) {
        %c = evoxc.constant() {value = dense<1.0> : tensor<f32>} : tensor<f32>
        return %x, %c, %x
    }");
    let main = &s.routines[0];
    assert!(main.body.items.is_empty());
    assert_eq!(main.constants.len(), 1);
    assert_eq!(main.body.results, [Value(0), Value(1), Value(0)]);
}

#[test]
fn regions_read_what_is_around_them() {
    let s = of("func @f(%x: tensor<3xf32>, %p: tensor<bool>) -> tensor<3xf32> {
        %y = evoxc.sort(%x) {axis = 0, keys = [ascending]} : tensor<3xf32>
        %dead = evoxc.exp(%x) : tensor<3xf32>
        %r = evoxc.cond(%p) : tensor<3xf32> {
          then() {
            %z = evoxc.sort(%y) {axis = 0, keys = [descending]} : tensor<3xf32>
            yield %z
          }
          else() {
            yield %y
          }
        }
        return %r
    }");
    let [Item::Library(sort), Item::Control { blocks, .. }] = &s.routines[0].body.items[..] else { panic!("{s:?}") };
    assert_eq!(blocks.len(), 2);
    assert_eq!(blocks[1].results[..], sort.op.results[..]);
}

fn kernels(s: &Schedule) -> usize {
    s.routines.iter().flat_map(|r| &r.body.items).filter(|i| matches!(i, Item::Kernel(_))).count()
}

#[test]
fn a_chain_is_one_flat_loop() {
    let s = of("func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
        %y = evoxc.exp(%x) : tensor<4x8xf32>
        %z = evoxc.add(%y, %x) : tensor<4x8xf32>
        return %z
    }");
    let [Item::Kernel(k)] = &s.routines[0].body.items[..] else { panic!("{s:?}") };
    assert_eq!(k.kernel.loops.len(), 1, "{k:#?}");
    assert_eq!(k.buffers, [Value(0), Value(2)]);
}

#[test]
fn softmax_is_one_kernel() {
    let s = of("func @f(%x: tensor<Bx8xf32>) -> tensor<Bx8xf32> {
        %m = evoxc.reduce_max(%x) {axes = [1]} : tensor<Bxf32>
        %mb = evoxc.broadcast_in_dim(%m) {shape = [B, 8], dims = [0]} : tensor<Bx8xf32>
        %d = evoxc.sub(%x, %mb) : tensor<Bx8xf32>
        %e = evoxc.exp(%d) : tensor<Bx8xf32>
        %s = evoxc.reduce_sum(%e) {axes = [1]} : tensor<Bxf32>
        %sb = evoxc.broadcast_in_dim(%s) {shape = [B, 8], dims = [0]} : tensor<Bx8xf32>
        %r = evoxc.div(%e, %sb) : tensor<Bx8xf32>
        return %r
    }");
    assert_eq!(kernels(&s), 1, "{s:#?}");
}

/// The schedule and the reference, on inputs of a pattern.
fn same(text: &str) -> Schedule {
    let module = Module::parse(text).unwrap();
    module.verify().unwrap();
    let s = schedule(&module).unwrap();
    let main = module.main().unwrap();
    let args: Vec<Tensor> = main.inputs().iter().enumerate().map(|(k, t)| pattern(t, k)).collect();
    let want = evoxc_reference::Plan::new(&module).unwrap().run(args.clone()).unwrap();
    let got = evaluate::run(&module, &s, &args).unwrap_or_else(|e| panic!("{e}\n{s}")).unwrap();
    for (w, g) in want.iter().zip(&got) {
        assert!(cases::close(w, g), "want {w:?}\ngot {g:?}\n{s}");
    }
    s
}

/// Numbers that look random, with symbols as 5.
fn pattern(ty: &evoxc_ir::TensorType, k: usize) -> Tensor {
    let shape: Vec<usize> = ty.shape.iter().map(|d| d.evaluate(&mut |_| Some(5)).unwrap() as usize).collect();
    let n: usize = shape.iter().product();
    let number = |i: usize| ((i * 7919 + k * 104729 + 13) % 1009) as f64 / 504.5 - 1.0;
    match ty.dtype {
        DType::F32 => Tensor::from_vec((0..n).map(|i| number(i) as f32).collect::<Vec<_>>(), &shape[..]).unwrap(),
        DType::F64 => Tensor::from_vec((0..n).map(number).collect::<Vec<_>>(), &shape[..]).unwrap(),
        DType::I32 => Tensor::from_vec((0..n).map(|i| (i * 7 + k) as i32 % 3).collect::<Vec<_>>(), &shape[..]).unwrap(),
        DType::BOOL => Tensor::from_vec((0..n).map(|i| i % 3 == 0).collect::<Vec<_>>(), &shape[..]).unwrap(),
        d => panic!("no pattern of {d}"),
    }
}

#[test]
fn big_dots_are_products_of_matrices() {
    let s = same(
        "func @f(%x: tensor<40x50xf32>, %y: tensor<60x50xf32>) -> tensor<60x40xf32> {
        %t = evoxc.transpose(%x) {perm = [1, 0]} : tensor<50x40xf32>
        %r = evoxc.dot(%y, %t) {batch = [], contract = [[1], [0]]} : tensor<60x40xf32>
        return %r
    }",
    );
    assert!(matches!(s.routines[0].body.items[..], [Item::Matmul(_)]), "{s}");
    // Heads of attention: the batch axes of the operands are no run, so they are copied.
    let s = same(
        "func @f(%q: tensor<2x30x3x16xf32>, %k: tensor<2x30x3x16xf32>) -> tensor<2x3x30x30xf32> {
        %qt = evoxc.transpose(%q) {perm = [0, 2, 1, 3]} : tensor<2x3x30x16xf32>
        %kt = evoxc.transpose(%k) {perm = [0, 2, 3, 1]} : tensor<2x3x16x30xf32>
        %r = evoxc.dot(%qt, %kt) {batch = [[0, 1], [0, 1]], contract = [[3], [2]]} : tensor<2x3x30x30xf32>
        return %r
    }",
    );
    assert_eq!((s.counters().matmuls, s.counters().kernels), (1, 2), "{s}");
    let s = same(
        "func @f(%q: tensor<30x40x2x4xf32>, %k: tensor<2x4x30x40xf32>) -> tensor<40x40xf32> {
        %r = evoxc.dot(%q, %k) {batch = [], contract = [[3, 0, 2], [1, 2, 0]]} : tensor<40x40xf32>
        return %r
    }",
    );
    assert_eq!(s.counters().matmuls, 1, "{s}");
}

#[test]
fn small_functions_are_inlined() {
    let s = same(
        "module @m version 1 {
      func @main(%x: tensor<Nx4xf32>) -> tensor<Nx4xf32> {
        %a = evoxc.call(%x) {callee = @twice} : tensor<Nx4xf32>
        %b = evoxc.call(%a) {callee = @twice} : tensor<Nx4xf32>
        return %b
      }
      func @twice(%x: tensor<Nx4xf32>) -> tensor<Nx4xf32> {
        %y = evoxc.add(%x, %x) : tensor<Nx4xf32>
        return %y
      }
    }",
    );
    assert_eq!((s.routines.len(), s.counters().calls, s.counters().kernels), (1, 0, 1), "{s}");
}

#[test]
fn equal_parts_are_stores_of_one_kernel() {
    let s = same(
        "func @f(%x: tensor<2x5xf32>, %y: tensor<2x5xf32>) -> tensor<2x10xf32> {
        %a = evoxc.exp(%x) : tensor<2x5xf32>
        %b = evoxc.sin(%y) : tensor<2x5xf32>
        %r = evoxc.concatenate(%a, %b) {axis = 1} : tensor<2x10xf32>
        return %r
    }",
    );
    let [Item::Kernel(k)] = &s.routines[0].body.items[..] else { panic!("{s}") };
    assert_eq!(k.kernel.stores.len(), 2);
}

#[test]
fn chains_may_be_in_place() {
    let s = same(
        "func @f(%x: tensor<2x5xf32>, %y: tensor<5xf32>) -> tensor<2x5xf32> {
        %a = evoxc.exp(%x) : tensor<2x5xf32>
        %b = evoxc.broadcast_in_dim(%y) {shape = [2, 5], dims = [1]} : tensor<2x5xf32>
        %r = evoxc.add(%a, %b) : tensor<2x5xf32>
        return %r
    }",
    );
    let [Item::Kernel(k)] = &s.routines[0].body.items[..] else { panic!("{s}") };
    let out = k.kernel.buffers.iter().find(|b| b.written).unwrap();
    assert_eq!(out.shares.iter().map(|&n| k.buffers[n as usize]).collect::<Vec<_>>(), [Value(0)]);
}

#[test]
fn what_is_kept_of_rows_is_written_by_the_kernel_over_them() {
    // The exponentials and their sums are kept for another kernel.
    let s = same(
        "func @f(%x: tensor<6x8xf32>, %y: tensor<8x6xf32>) -> (tensor<6x8xf32>, tensor<6x8xf32>, tensor<6xf32>) {
        %m = evoxc.reduce_max(%x) {axes = [1]} : tensor<6xf32>
        %mb = evoxc.broadcast_in_dim(%m) {shape = [6, 8], dims = [0]} : tensor<6x8xf32>
        %d = evoxc.sub(%x, %mb) : tensor<6x8xf32>
        %e = evoxc.exp(%d) : tensor<6x8xf32>
        %s = evoxc.reduce_sum(%e) {axes = [1]} : tensor<6xf32>
        %sb = evoxc.broadcast_in_dim(%s) {shape = [6, 8], dims = [0]} : tensor<6x8xf32>
        %r = evoxc.div(%e, %sb) : tensor<6x8xf32>
        return %r, %e, %s
    }",
    );
    assert_eq!(kernels(&s), 1, "{s}");
}
