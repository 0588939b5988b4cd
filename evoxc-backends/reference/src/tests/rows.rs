//! Gathers of rows that the plan knows give what they give of indices that come as an input.

use super::{lit, run};
use evoxc_core::{F32, Tensor};

/// The program with its indices as a constant, and as an input.
fn both(text: &str, indices: &str, rows: usize) -> [Vec<Tensor>; 2] {
    let ty = format!("tensor<{rows}xi32>");
    let known = format!("%i = evoxc.constant() {{value = {indices} : {ty}}} : {ty}\n");
    let x = |n: usize| Tensor::from_vec((0..2 * n).map(|i| i as f32).collect(), [n, 2]).unwrap();
    let args = || vec![x(3), x(2), Tensor::zeros(F32, [0, 2])];
    let head = "func @f(%x: tensor<3x2xf32>, %y: tensor<2x2xf32>, %e: tensor<0x2xf32>";
    let gather = "{dims = {offset = [1], collapsed = [0], operand_batching = [], indices_batching = [], start_map = [0], index_vector = 1}, sizes = [1, 2], sorted = false}";
    let text = text.replace("GATHER", gather).replace("ROWS", &rows.to_string());
    let constant = run(&format!("{head}) -> {}", text.replacen("{\n", &format!("{{\n{known}"), 1)), args()).unwrap();
    let mut more = args();
    more.push(lit(&format!("{indices} : {ty}")));
    [constant, run(&format!("{head}, %i: {ty}) -> {text}"), more).unwrap()]
}

fn same(text: &str, indices: &str, rows: usize) {
    let [known, given] = both(text, indices, rows);
    assert!(known.len() == given.len() && known.iter().zip(&given).all(|(a, b)| a.bit_eq(b)), "{known:?} {given:?}");
}

#[test]
fn of_repeated_empty_and_clamped_rows() {
    let text = "tensor<ROWSx2xf32> {
        %c = evoxc.concatenate(%e, %x, %x, %e, %y) {axis = 0} : tensor<8x2xf32>
        %r = evoxc.gather(%c, %i) GATHER : tensor<ROWSx2xf32>
        return %r
    }";
    same(text, "dense<[7, 0, 1, 2, 3, 3, 4, -5, 99, 6]>", 10);
    same(text, "dense<[2]>", 1);
}

/// The parts are read once more, after a step that could write in their place.
#[test]
fn of_parts_that_live_on() {
    let text = "(tensor<ROWSx2xf32>, tensor<3x2xf32>, tensor<ROWSx2xf32>) {
        %a = evoxc.exp(%x) : tensor<3x2xf32>
        %c = evoxc.concatenate(%a, %y, %a) {axis = 0} : tensor<8x2xf32>
        %n = evoxc.neg(%a) : tensor<3x2xf32>
        %r = evoxc.gather(%c, %i) GATHER : tensor<ROWSx2xf32>
        %s = evoxc.gather(%c, %i) GATHER : tensor<ROWSx2xf32>
        %t = evoxc.neg(%s) : tensor<ROWSx2xf32>
        return %r, %n, %t
    }";
    same(text, "dense<[0, 1, 5, 7, 3]>", 5);
}

#[test]
fn of_a_concatenation_that_others_read() {
    // By a region, by another concatenation that is not made, and as a result.
    let text = "(tensor<ROWSx2xf32>, tensor<5x2xf32>, tensor<ROWSx2xf32>, tensor<8x2xf32>) {
        %p = evoxc.constant() {value = dense<true> : tensor<bool>} : tensor<bool>
        %c = evoxc.concatenate(%x, %y) {axis = 0} : tensor<5x2xf32>
        %d = evoxc.concatenate(%c, %x) {axis = 0} : tensor<8x2xf32>
        %d2 = evoxc.concatenate(%d, %x) {axis = 0} : tensor<11x2xf32>
        %r = evoxc.gather(%c, %i) GATHER : tensor<ROWSx2xf32>
        %s = evoxc.gather(%d2, %i) GATHER : tensor<ROWSx2xf32>
        %q = evoxc.cond(%p) : tensor<5x2xf32> {
            then() {
                %g = evoxc.gather(%c, %i) GATHER : tensor<ROWSx2xf32>
                %m = evoxc.reduce_sum(%g) {axes = [0]} : tensor<2xf32>
                %b = evoxc.broadcast_in_dim(%m) {shape = [5, 2], dims = [1]} : tensor<5x2xf32>
                %o = evoxc.add(%c, %b) : tensor<5x2xf32>
                yield %o
            }
            else() {
                yield %c
            }
        }
        return %r, %q, %s, %d
    }";
    same(text, "dense<[4, 0, 0, 2]>", 4);
}
