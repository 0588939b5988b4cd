//! What a schedule holds, for modules in text form.

mod cases;
mod evaluate;

use super::*;
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
