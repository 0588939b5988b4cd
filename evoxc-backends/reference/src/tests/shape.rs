//! Movement and reduction; values from NumPy's ops of the same names, padding from the StableHLO specification.

use super::{apply, check};
use evoxc_core::Tensor;

const M: &str = "dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>";

#[test]
fn movement() {
    check("transpose {perm = [1, 0]}", &[M], "dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>");
    check("reverse {axes = [1]}", &[M], "dense<[[3, 2, 1], [6, 5, 4]]> : tensor<2x3xi32>");
    check("reverse {axes = [0, 1]}", &[M], "dense<[[6, 5, 4], [3, 2, 1]]> : tensor<2x3xi32>");
    check("slice {start = [0, 0], limit = [2, 3], stride = [1, 2]}", &[M], "dense<[[1, 3], [4, 6]]> : tensor<2x2xi32>");
    check("slice {start = [1, 1], limit = [2, 3], stride = [1, 1]}", &[M], "dense<[[5, 6]]> : tensor<1x2xi32>");
    check(
        "concatenate {axis = 1}",
        &[M, "dense<[[7], [8]]> : tensor<2x1xi32>"],
        "dense<[[1, 2, 3, 7], [4, 5, 6, 8]]> : tensor<2x4xi32>",
    );
    check("iota {dtype = i32, shape = [2, 3], axis = 1}", &[], "dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xi32>");
    check("reshape {shape = [3, 2]}", &[M], "dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>");
}

#[test]
fn broadcasts() {
    let x = "dense<[[1], [2]]> : tensor<2x1xi32>";
    check("broadcast_in_dim {shape = [2, 3], dims = [0, 1]}", &[x], "dense<[[1, 1, 1], [2, 2, 2]]> : tensor<2x3xi32>");
    check(
        "broadcast_in_dim {shape = [2, 2], dims = [1]}",
        &["dense<[1, 2]> : tensor<2xi32>"],
        "dense<[[1, 2], [1, 2]]> : tensor<2x2xi32>",
    );
    check(
        "broadcast_in_dim {shape = [3, 2], dims = [1]}",
        &["dense<[1, 2]> : tensor<2xi32>"],
        "dense<[[1, 2], [1, 2], [1, 2]]> : tensor<3x2xi32>",
    );
    check(
        "broadcast_in_dim {shape = [2, 2], dims = []}",
        &["dense<7> : tensor<i32>"],
        "dense<[[7, 7], [7, 7]]> : tensor<2x2xi32>",
    );
}

// stablehlo.pad's own example, and cuts.
#[test]
fn pads() {
    let zero = "dense<0> : tensor<i32>";
    check(
        "pad {low = [0, 1], high = [2, 1], interior = [1, 2]}",
        &[M, zero],
        "dense<[[0, 1, 0, 0, 2, 0, 0, 3, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 4, 0, 0, 5, 0, 0, 6, 0], \
         [0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0]]> : tensor<5x9xi32>",
    );
    check("pad {low = [-1, 0], high = [0, -1], interior = [0, 0]}", &[M, zero], "dense<[[4, 5]]> : tensor<1x2xi32>");
    // Dilated to 1 0 2 0 3, cut to 0 2 0.
    check(
        "pad {low = [-1], high = [-1], interior = [1]}",
        &["dense<[1, 2, 3]> : tensor<3xi32>", zero],
        "dense<[0, 2, 0]> : tensor<3xi32>",
    );
    check(
        "pad {low = [-3], high = [4], interior = [0]}",
        &["dense<[1, 2]> : tensor<2xi32>", zero],
        "dense<[0, 0, 0]> : tensor<3xi32>",
    );
}

// A stride past the end of the axis is never taken.
#[test]
fn huge_strides() {
    let slice = "slice {start = [0, 1], limit = [1, 3], stride = [4611686018427387904, 1]}";
    check(slice, &[M], "dense<[[2, 3]]> : tensor<1x2xi32>");
}

#[test]
fn reductions() {
    check("reduce_sum {axes = [0]}", &[M], "dense<[5, 7, 9]> : tensor<3xi32>");
    check("reduce_sum {axes = [1]}", &[M], "dense<[6, 15]> : tensor<2xi32>");
    check("reduce_prod {axes = [0, 1]}", &[M], "dense<720> : tensor<i32>");
    check("reduce_max {axes = []}", &[M], M);
    let t = "dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi32>";
    check("reduce_sum {axes = [0, 2]}", &[t], "dense<[14, 22]> : tensor<2xi32>");
    check("reduce_sum {axes = [2, 0]}", &[t], "dense<[14, 22]> : tensor<2xi32>");
    check("reduce_and {axes = [0]}", &["dense<[true, false]> : tensor<2xbool>"], "dense<false> : tensor<bool>");
    check("reduce_max {axes = [0]}", &["dense<[1.0, 0x7FC00000]> : tensor<2xf32>"], "dense<0x7FC00000> : tensor<f32>");
    check("reduce_sum {axes = [0]}", &["splat<0.0> : tensor<0x2xf32>"], "dense<[0.0, 0.0]> : tensor<2xf32>");
    check("reduce_max {axes = [0]}", &["splat<0.0> : tensor<0xf32>"], "dense<0xFF800000> : tensor<f32>");
}

// 4096 ones of bf16: one at a time the sum would stop at 256. A million tenths: within an ulp or two of the exact sum.
#[test]
fn sums_lose_little() {
    let ones = Tensor::ones(evoxc_core::BF16, [4096]);
    let text = "func @f(%x: tensor<4096xbf16>) -> tensor<bf16> {\n %r = evoxc.reduce_sum(%x) {axes = [0]} : tensor<bf16>\n return %r\n}";
    assert_eq!(super::run(text, vec![ones]).unwrap()[0].to_string(), "tensor<bf16> 4096");
    for (shape, axes) in [("1000000", "[0]"), ("1000000x1", "[0]"), ("1000000x3", "[0]")] {
        let last = if shape.ends_with("x3") {
            "3x"
        } else if shape.ends_with("x1") {
            "1x"
        } else {
            ""
        };
        let text = format!(
            "func @f() -> tensor<{last}f32> {{\n %x = evoxc.constant() {{value = splat<0.1> : tensor<{shape}xf32>}} : tensor<{shape}xf32>\n %r = evoxc.reduce_sum(%x) {{axes = {axes}}} : tensor<{last}f32>\n return %r\n}}"
        );
        for v in super::run(&text, vec![]).unwrap()[0].to_vec::<f32>().unwrap() {
            assert!((v - 100000.0).abs() < 0.05, "{v}");
        }
    }
}

#[test]
fn positions() {
    let x = "dense<[[1.0, 3.0, 3.0], [0x7FC00000, 2.0, 0x7FC00000]]> : tensor<2x3xf32>";
    check("argmax {axis = 1}", &[x], "dense<[1, 0]> : tensor<2xi32>");
    check("argmin {axis = 1}", &[x], "dense<[0, 0]> : tensor<2xi32>");
    check("argmax {axis = 0}", &[x], "dense<[1, 0, 1]> : tensor<3xi32>");
    assert_eq!(apply("argmax {axis = 0}", &["splat<0.0> : tensor<3x0xf32>"], "tensor<0xi32>").shape(), [0]);
}
