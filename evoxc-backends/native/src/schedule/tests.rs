//! What a schedule holds, for modules in text form.

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
