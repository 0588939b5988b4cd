//! Element-wise ops: the table's rules for integers, zeros and NaN; values from NumPy and SciPy elsewhere.

use super::{apply, check};

const I8: &str = "dense<[-128, -7, 7, -1, 5, -128]> : tensor<6xi8>";
const D8: &str = "dense<[-1, 2, -2, 0, 0, 0]> : tensor<6xi8>";

// The table: truncation, -1 for division by 0, MIN / -1 is MIN; rem has the sign of lhs, by 0 it is lhs.
#[test]
fn integer_division() {
    check("div", &[I8, D8], "dense<[-128, -3, -3, -1, -1, -1]> : tensor<6xi8>");
    check("rem", &[I8, D8], "dense<[0, -1, 1, -1, 5, -128]> : tensor<6xi8>");
    check("div", &["dense<[7, 7]> : tensor<2xu8>", "dense<[0, 2]> : tensor<2xu8>"], "dense<[255, 3]> : tensor<2xu8>");
}

// The table: 0, or the sign, past the width and for negative amounts; XLA takes the top bit of unsigned types for one.
#[test]
fn shifts() {
    let (x, by) = ("dense<[1, -8, -8, -8, 1]> : tensor<5xi8>", "dense<[7, 1, 8, -1, 8]> : tensor<5xi8>");
    check("shift_left", &[x, by], "dense<[-128, -16, 0, 0, 0]> : tensor<5xi8>");
    check("shift_right_logical", &[x, by], "dense<[0, 124, 0, 0, 0]> : tensor<5xi8>");
    check("shift_right_arithmetic", &[x, by], "dense<[0, -4, -1, -1, 0]> : tensor<5xi8>");
    let (x, by) = ("dense<[200, 200, 1]> : tensor<3xu8>", "dense<[3, 8, 255]> : tensor<3xu8>");
    check("shift_right_arithmetic", &[x, by], "dense<[249, 255, 0]> : tensor<3xu8>");
}

// The table: wraps; a negative exponent gives 0, or 1 or -1 for base 1 or -1.
#[test]
fn integer_powers() {
    let (x, e) = ("dense<[3, 2, -1, -1, 1, 5, 0]> : tensor<7xi8>", "dense<[4, 7, -3, -2, -9, -1, 0]> : tensor<7xi8>");
    check("pow", &[x, e], "dense<[81, -128, -1, 1, 1, 0, 1]> : tensor<7xi8>");
}

// High halves of 2^62 * 4, -1 * 1, (2^64 - 1)^2.
#[test]
fn high_products() {
    check(
        "mulhi",
        &["dense<[4611686018427387904, -1]> : tensor<2xi64>", "dense<[4, 1]> : tensor<2xi64>"],
        "dense<[1, -1]> : tensor<2xi64>",
    );
    let max = "dense<[18446744073709551615]> : tensor<1xu64>";
    check("mulhi", &[max, max], "dense<[18446744073709551614]> : tensor<1xu64>");
}

// The table: NaN propagates, +0 over -0.
#[test]
fn extremes() {
    let a = "dense<[0x7FC00000, 1.0, -0.0, 0.0, 0x7F800000]> : tensor<5xf32>";
    let b = "dense<[1.0, 0x7FC00000, 0.0, -0.0, 2.0]> : tensor<5xf32>";
    check("max", &[a, b], "dense<[0x7FC00000, 0x7FC00000, 0.0, 0.0, 0x7F800000]> : tensor<5xf32>");
    check("min", &[a, b], "dense<[0x7FC00000, 0x7FC00000, -0.0, -0.0, 2.0]> : tensor<5xf32>");
    check("sign", &[a], "dense<[0x7FC00000, 1.0, -0.0, 0.0, 1.0]> : tensor<5xf32>");
}

// numpy.nextafter in f32.
#[test]
fn neighbours() {
    let a = "dense<[0.0, 1.0, 1.0, -1.0, 1.0]> : tensor<5xf32>";
    let b = "dense<[-1.0, 2.0, 0.0, 0.0, 1.0]> : tensor<5xf32>";
    check("nextafter", &[a, b], "dense<[0x80000001, 0x3F800001, 0x3F7FFFFF, 0xBF7FFFFF, 1.0]> : tensor<5xf32>");
}

// IEEE: NaN differs from all; totalOrder: -NaN < -0 < 0 < NaN.
#[test]
fn comparisons() {
    let a = "dense<[0x7FC00000, -0.0, 1.0, 0xFFC00000]> : tensor<4xf32>";
    let b = "dense<[0x7FC00000, 0.0, 2.0, 1.0]> : tensor<4xf32>";
    check("compare {direction = eq, order = ieee}", &[a, b], "dense<[false, true, false, false]> : tensor<4xbool>");
    check("compare {direction = ne, order = ieee}", &[a, b], "dense<[true, false, true, true]> : tensor<4xbool>");
    check("compare {direction = lt, order = total}", &[a, b], "dense<[false, true, true, true]> : tensor<4xbool>");
    check("compare {direction = ge, order = ieee}", &[a, b], "dense<[false, true, false, false]> : tensor<4xbool>");
}

#[test]
fn selection() {
    let (a, b) = ("dense<[1, 2]> : tensor<2xi32>", "dense<[3, 4]> : tensor<2xi32>");
    check("select", &["dense<[true, false]> : tensor<2xbool>", a, b], "dense<[1, 4]> : tensor<2xi32>");
    check("select", &["dense<false> : tensor<bool>", a, b], "dense<[3, 4]> : tensor<2xi32>");
    let x = "dense<[-1.0, 0.5, 0x7FC00000]> : tensor<3xf32>";
    check(
        "clamp",
        &["dense<0.0> : tensor<f32>", x, "dense<1.0> : tensor<f32>"],
        "dense<[0.0, 0.5, 0x7FC00000]> : tensor<3xf32>",
    );
}

// The table: truncate and saturate, NaN to 0, integers wrap, to bool is != 0.
#[test]
fn conversions() {
    let x = "dense<[1.9, -1.9, 300.0, 0x7FC00000]> : tensor<4xf32>";
    check("convert {dtype = u8}", &[x], "dense<[1, 0, 255, 0]> : tensor<4xu8>");
    check("convert {dtype = bool}", &[x], "dense<[true, true, true, true]> : tensor<4xbool>");
    check("convert {dtype = i8}", &["dense<[300, -129]> : tensor<2xi32>"], "dense<[44, 127]> : tensor<2xi8>");
    check("bitcast_convert {dtype = u8}", &["dense<[258]> : tensor<1xi32>"], "dense<[[2, 1, 0, 0]]> : tensor<1x4xu8>");
    check("bitcast_convert {dtype = f32}", &["dense<[1065353216]> : tensor<1xi32>"], "dense<[1.0]> : tensor<1xf32>");
}

// jax.lax.reduce_precision(x, 5, 10) and (x, 8, 7): the formats of f16 and bf16.
#[test]
fn reduced_precision() {
    let x = "dense<[1.0004883, 1.001, 65519.0, 65520.0, 1e-7, -3.1415927]> : tensor<6xf32>";
    check(
        "reduce_precision {exponent_bits = 5, mantissa_bits = 10}",
        &[x],
        "dense<[1.0, 1.0009766, 65504.0, 0x7F800000, 0.0, -3.140625]> : tensor<6xf32>",
    );
    check(
        "reduce_precision {exponent_bits = 8, mantissa_bits = 7}",
        &["dense<[1.00390625, 1.01171875, 3.4028235e38]> : tensor<3xf32>"],
        "dense<[1.0, 1.015625, 0x7F800000]> : tensor<3xf32>",
    );
}

// Half types compute in f32 and round: 1 + 2^-8 in bf16 is 1 (ties to even), 2048 + 1 in f16 is 2048.
#[test]
fn halves_round_after_every_op() {
    check(
        "add",
        &["dense<[1.0]> : tensor<1xbf16>", "dense<[0.00390625]> : tensor<1xbf16>"],
        "dense<[1.0]> : tensor<1xbf16>",
    );
    check(
        "add",
        &["dense<[2048.0]> : tensor<1xf16>", "dense<[1.0]> : tensor<1xf16>"],
        "dense<[2048.0]> : tensor<1xf16>",
    );
}

#[test]
fn bits() {
    check("popcount", &["dense<[-1, 6]> : tensor<2xi16>"], "dense<[16, 2]> : tensor<2xi16>");
    check("count_leading_zeros", &["dense<[1, 0]> : tensor<2xu32>"], "dense<[31, 32]> : tensor<2xu32>");
    check("not", &["dense<[true, false]> : tensor<2xbool>"], "dense<[false, true]> : tensor<2xbool>");
    check("abs", &["dense<[-128, -3]> : tensor<2xi8>"], "dense<[-128, 3]> : tensor<2xi8>");
}

/// Runs a unary op on f64 and compares within `tolerance`, relative.
#[track_caller]
fn close(op: &str, x: &[f64], y: &[f64], tolerance: f64) {
    let text = |v: &[f64]| format!("dense<{v:?}> : tensor<{}xf64>", v.len());
    let got = apply(op, &[&text(x)], &format!("tensor<{}xf64>", x.len())).to_vec::<f64>().unwrap();
    for ((x, y), g) in x.iter().zip(y).zip(got) {
        assert!((g - y).abs() <= tolerance * y.abs(), "{op}({x}) = {g}, not {y}");
    }
}

// numpy and scipy.special, in f64.
#[test]
fn functions() {
    let x = [0.3, 0.75, 1e-9];
    close("expm1", &x, &[0.3498588075760031, 1.117_000_016_612_674_7, 1.000_000_000_5e-9], 1e-15);
    close("log1p", &x, &[0.262_364_264_467_491_06, 0.5596157879354227, 9.999_999_995e-10], 1e-15);
    close("erf", &x, &[0.3286267594591274, 0.7111556336535152, 1.1283791670955126e-9], 1e-14);
    close("erfc", &[5.0, 0.5], &[1.5374597944280347e-12, 0.4795001221869535], 1e-14);
    close("logistic", &[-800.0, -1.0, 2.0], &[0.0, 0.2689414213699951, 0.8807970779778823], 1e-15);
    close("lgamma", &[0.5, 10.0], &[0.5723649429247001, 12.801827480081469], 1e-14);
    close("rsqrt", &[4.0], &[0.5], 0.0);
    close("round_even", &[0.5, 1.5, -2.5], &[0.0, 2.0, -2.0], 0.0);
    close("round_away", &[0.5, 1.5, -2.5], &[1.0, 2.0, -3.0], 0.0);
}

// (1 + 2i)(3 - i) = 5 + 5i; (5 + 5i) / (3 - i) = 1 + 2i; |3 - 4i| = 5.
#[test]
fn complex_numbers() {
    let (a, b) = ("dense<[(1.0, 2.0)]> : tensor<1xc64>", "dense<[(3.0, -1.0)]> : tensor<1xc64>");
    check("mul", &[a, b], "dense<[(5.0, 5.0)]> : tensor<1xc64>");
    check("div", &["dense<[(5.0, 5.0)]> : tensor<1xc64>", b], a);
    check("abs", &["dense<[(3.0, -4.0)]> : tensor<1xc128>"], "dense<[5.0]> : tensor<1xf64>");
    check("imag", &[a], "dense<[2.0]> : tensor<1xf32>");
    check("complex", &["dense<[1.0]> : tensor<1xf32>", "dense<[2.0]> : tensor<1xf32>"], a);
}
