//! Regions and calls.

use super::run;
use evoxc_core::{F32, Tensor};

const COND: &str = "func @f(%p: tensor<bool>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %r = evoxc.cond(%p) : tensor<2xf32> {
      then() {
        %1 = evoxc.neg(%x) : tensor<2xf32>
        yield %1
      }
      else() {
        yield %x
      }
    }
    %s = evoxc.add(%r, %x) : tensor<2xf32>
    return %r, %s
}";

#[test]
fn cond_runs_one_region_and_captures() {
    for (p, r, s) in [(true, [-1f32, -2.0], [0f32, 0.0]), (false, [1.0, 2.0], [2.0, 4.0])] {
        let out = run(COND, vec![Tensor::from(p), Tensor::from([1f32, 2.0])]).unwrap();
        assert_eq!(out[0].to_vec::<f32>().unwrap(), r);
        assert_eq!(out[1].to_vec::<f32>().unwrap(), s);
    }
}

#[test]
fn switch_out_of_range_runs_the_last() {
    let text = "func @f(%i: tensor<i32>) -> tensor<i32> {
        %r = evoxc.switch(%i) : tensor<i32> {
          branch0() {
            %a = evoxc.constant() {value = dense<10> : tensor<i32>} : tensor<i32>
            yield %a
          }
          branch1() {
            %b = evoxc.constant() {value = dense<11> : tensor<i32>} : tensor<i32>
            yield %b
          }
        }
        return %r
    }";
    for (i, r) in [(0, 10), (1, 11), (7, 11), (-1, 11)] {
        assert_eq!(run(text, vec![Tensor::from(i)]).unwrap()[0].item::<i32>().unwrap(), r);
    }
}

// 2 to the 10 by doubling while a counter is below the captured limit.
#[test]
fn while_loop_captures_and_runs_again() {
    let text = "func @f(%x: tensor<f32>, %n: tensor<i32>, %two: tensor<f32>) -> (tensor<f32>, tensor<i32>) {
        %zero = evoxc.constant() {value = dense<0> : tensor<i32>} : tensor<i32>
        %one = evoxc.constant() {value = dense<1> : tensor<i32>} : tensor<i32>
        %a, %b = evoxc.while_loop(%x, %zero) : tensor<f32>, tensor<i32> {
          cond(%c0: tensor<f32>, %c1: tensor<i32>) {
            %p = evoxc.compare(%c1, %n) {direction = lt, order = ieee} : tensor<bool>
            yield %p
          }
          body(%b0: tensor<f32>, %b1: tensor<i32>) {
            %d = evoxc.mul(%b0, %two) : tensor<f32>
            %i = evoxc.add(%b1, %one) : tensor<i32>
            yield %d, %i
          }
        }
        return %a, %b
    }";
    let out = run(text, vec![Tensor::from(1f32), Tensor::from(10i32), Tensor::from(2f32)]).unwrap();
    assert_eq!(out[0].item::<f32>().unwrap(), 1024.0);
    assert_eq!(out[1].item::<i32>().unwrap(), 10);
}

// Running sums of [1, 2, 3], forwards and backwards; no entries at all.
#[test]
fn scan_stacks_in_place_of_its_entry() {
    let text = |reverse: bool, n: &str| {
        let reverse = if reverse { ", reverse = true" } else { "" };
        format!(
            "func @f(%c: tensor<f32>, %xs: tensor<{n}xf32>) -> (tensor<f32>, tensor<{n}xf32>) {{
        %a, %b = evoxc.scan(%c, %xs) {{carry = 1, length = {n}{reverse}}} : tensor<f32>, tensor<{n}xf32> {{
          body(%s: tensor<f32>, %x: tensor<f32>) {{
            %t = evoxc.add(%s, %x) : tensor<f32>
            yield %t, %t
          }}
        }}
        return %a, %b
    }}"
        )
    };
    for n in ["3", "N"] {
        for (reverse, ys) in [(false, [1f32, 3.0, 6.0]), (true, [6.0, 5.0, 3.0])] {
            let out = run(&text(reverse, n), vec![Tensor::from(0f32), Tensor::from([1f32, 2.0, 3.0])]).unwrap();
            assert_eq!(out[0].item::<f32>().unwrap(), 6.0);
            assert_eq!(out[1].to_vec::<f32>().unwrap(), ys);
        }
    }
    let out = run(&text(false, "N"), vec![Tensor::from(5f32), Tensor::zeros(F32, [0])]).unwrap();
    assert_eq!((out[0].item::<f32>().unwrap(), out[1].shape()), (5.0, &[0][..]));
}

#[test]
fn calls_bind_their_own_symbols() {
    let text = "func @f(%x: tensor<Bx2xf32>) -> tensor<f32> {
        %0 = evoxc.call(%x) {callee = @g} : tensor<f32>
        return %0
    }
    func @g(%x: tensor<Bx2xf32>) -> tensor<f32> {
        %0 = evoxc.reduce_sum(%x) {axes = [0, 1]} : tensor<f32>
        %1 = evoxc.dim_size() {extent = B, dtype = f32} : tensor<f32>
        %2 = evoxc.div(%0, %1) : tensor<f32>
        return %2
    }";
    let out = run(text, vec![Tensor::full(F32, [5, 2], 3.0)]).unwrap();
    assert_eq!(out[0].item::<f32>().unwrap(), 6.0);
}

#[test]
fn endless_recursion_is_an_error() {
    let text =
        "func @f(%x: tensor<f32>) -> tensor<f32> {\n %0 = evoxc.call(%x) {callee = @f} : tensor<f32>\n return %0\n}";
    assert!(run(text, vec![Tensor::from(0f32)]).unwrap_err().to_string().contains("deeper"));
}

#[test]
fn deep_regions_run() {
    let mut text = String::from("func @f(%p: tensor<bool>, %x: tensor<f32>) -> tensor<f32> {\n");
    let depth = 90;
    for i in 0..depth {
        text += &format!("%r{i} = evoxc.cond(%p) : tensor<f32> {{\nthen() {{\n");
    }
    text += "%y = evoxc.neg(%x) : tensor<f32>\n";
    for i in (0..depth).rev() {
        let inner = if i + 1 == depth { "%y".to_string() } else { format!("%r{}", i + 1) };
        text += &format!("yield {inner}\n}}\nelse() {{\nyield %x\n}}\n}}\n");
    }
    text += "return %r0\n}";
    let out = run(&text, vec![Tensor::from(true), Tensor::from(2f32)]).unwrap();
    assert_eq!(out[0].item::<f32>().unwrap(), -2.0);
}

// Row-major order: the body 2*acc + x on [[1, 2], [3, 4]] reduces axis 1 to [2*1 + 2, 2*3 + 4].
#[test]
fn reduce_with_a_body_goes_in_row_major_order() {
    let text = "func @f(%x: tensor<2x2xf32>, %i: tensor<f32>) -> tensor<2xf32> {
        %r = evoxc.reduce(%x, %i) {axes = [1]} : tensor<2xf32> {
          body(%a: tensor<f32>, %b: tensor<f32>) {
            %d = evoxc.add(%a, %a) : tensor<f32>
            %e = evoxc.add(%d, %b) : tensor<f32>
            yield %e
          }
        }
        return %r
    }";
    let out = run(text, vec![Tensor::from([[1f32, 2.0], [3.0, 4.0]]), Tensor::from(0f32)]).unwrap();
    assert_eq!(out[0].to_vec::<f32>().unwrap(), [4.0, 10.0]);
}
