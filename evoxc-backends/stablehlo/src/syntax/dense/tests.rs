//! Constants as MLIR's parser reads them; expectations are from MLIR 2026 (jaxlib 0.10.2), IEEE 754, or by hand.

use super::super::parse;
use super::*;
use half::{bf16, f16};
use num_complex::Complex;

/// The constant of `dense<…> : type`.
fn tensor(constant: &str) -> Result<Tensor> {
    let text = format!("func.func @f() {{\n  %0 = stablehlo.constant {constant}\n  return\n}}");
    let module = parse(&text)?;
    let op = &module.funcs[0].body.as_ref().unwrap().ops[0];
    let Attr::Dense(d) = &op.attrs[0].1 else { panic!() };
    decode(d, &text)
}

fn message(constant: &str) -> String {
    tensor(constant).map(|t| t.to_string()).expect_err(constant).to_string()
}

#[test]
fn lists_splats_and_scalars() {
    let t = tensor("dense<[[1, -2, 3], [4, 5, 6]]> : tensor<2x3xi32>").unwrap();
    assert_eq!((t.shape(), t.to_vec::<i32>().unwrap()), (&[2, 3][..], vec![1, -2, 3, 4, 5, 6]));
    assert_eq!(tensor("dense<7> : tensor<3xui8>").unwrap().to_vec::<u8>().unwrap(), [7; 3]);
    assert!(tensor("dense<true> : tensor<i1>").unwrap().item::<bool>().unwrap());
    assert_eq!(tensor("dense<[1, // one >\n 2]> : tensor<2xi64>").unwrap().to_vec::<i64>().unwrap(), [1, 2]);
    assert_eq!(tensor("dense<> : tensor<0x3xf32>").unwrap().shape(), [0, 3]);
    assert_eq!(tensor("dense<[[], []]> : tensor<2x0xf32>").unwrap().shape(), [2, 0]);
    assert_eq!(tensor("dense<[1, 0, -1]> : tensor<3xi1>").unwrap().to_vec::<bool>().unwrap(), [true, false, true]);
    let c = tensor("dense<[(1.0, -2.5), (0x7F800000, 0.0)]> : tensor<2xcomplex<f32>>").unwrap();
    let expected = [Complex::new(1.0, -2.5), Complex::new(f32::INFINITY, 0.0)];
    assert_eq!(c.to_vec::<Complex<f32>>().unwrap(), expected);
    let c = tensor("dense<(1.0, 2.0)> : tensor<2xcomplex<f64>>").unwrap();
    assert_eq!(c.to_vec::<Complex<f64>>().unwrap(), [Complex::new(1.0, 2.0); 2]);
}

#[test]
fn integers_wrap_where_their_type_has_no_sign() {
    // MLIR: dense<200> : tensor<i8> is -56, dense<0xFF> is -1.
    assert_eq!(tensor("dense<[200, 0xFF, -128]> : tensor<3xi8>").unwrap().to_vec::<i8>().unwrap(), [-56, -1, -128]);
    assert_eq!(tensor("dense<9223372036854775808> : tensor<i64>").unwrap().item::<i64>().unwrap(), i64::MIN);
    assert_eq!(tensor("dense<18446744073709551615> : tensor<ui64>").unwrap().item::<u64>().unwrap(), u64::MAX);
    for (constant, expected) in [
        ("dense<300> : tensor<i8>", "out of range"),
        ("dense<-129> : tensor<i8>", "out of range"),
        ("dense<-1> : tensor<ui8>", "negative"),
        ("dense<18446744073709551616> : tensor<ui64>", "out of range"),
        ("dense<2> : tensor<i1>", "`true` or `false`"),
        ("dense<1.5> : tensor<i32>", "expected an integer"),
        ("dense<true> : tensor<i8>", "expected an integer"),
    ] {
        let m = message(constant);
        assert!(m.contains(expected), "{constant}: {m}");
    }
}

#[test]
fn floats_are_decimals_or_bits() {
    let t = tensor("dense<[0x7FC00001, -0.0, 1.0E+5, 1., 0x1, 3.14159274]> : tensor<6xf32>").unwrap();
    let bits: Vec<u32> = t.to_vec::<f32>().unwrap().iter().map(|x| x.to_bits()).collect();
    let expected = [0x7FC0_0001, 0x8000_0000, 1e5f32.to_bits(), 1f32.to_bits(), 1, std::f32::consts::PI.to_bits()];
    assert_eq!(bits, expected);
    assert_eq!(tensor("dense<1.0e39> : tensor<f32>").unwrap().item::<f32>().unwrap(), f32::INFINITY);
    assert_eq!(tensor("dense<0xFC00> : tensor<f16>").unwrap().item::<f16>().unwrap(), f16::NEG_INFINITY);
    for wrong in ["1", "nan", "inf", "+1.0", ".5", "1e5", "0x1FFFFFFFF", "-0x7FC00000", "0x+1", "1.0.0", "1.0e"] {
        let m = message(&format!("dense<{wrong}> : tensor<f32>"));
        assert!(m.contains("element of f32"), "{wrong}: {m}");
    }
}

#[test]
fn half_floats_round_once() {
    // 1 + 2^-11 is the middle of 1 and the next f16, and 1 + 2^-8 that of bf16; a digit far behind decides.
    let middle = "1.00048828125";
    let f = |t: &str| tensor(&format!("dense<{t}> : tensor<f16>")).unwrap().item::<f16>().unwrap().to_f64();
    assert_eq!(f(middle), 1.0);
    assert_eq!(f(&format!("{middle}0000000000000000000000001")), 1.0 + 2f64.powi(-10));
    assert_eq!(f("1.00048828124999999999999999999999"), 1.0);
    assert_eq!(f("-1.001464843750000000000000000001"), -(1.0 + 2f64.powi(-9)));
    assert_eq!(f("1.00146484374999999999999999999999999"), 1.0 + 2f64.powi(-10));
    // 65520 is the middle of the largest f16 and 2^16: beyond it is infinity.
    assert_eq!(f("65519.99999999999999999999999999"), 65504.0);
    assert_eq!(f("65520.0"), f64::INFINITY);
    // The middle of 0 and the least, 2^-25, exactly and a little more.
    assert_eq!(f("2.98023223876953125E-8"), 0.0);
    assert_eq!(f("2.980232238769531250000000000000001E-8"), 2f64.powi(-24));
    let b = |t: &str| tensor(&format!("dense<{t}> : tensor<bf16>")).unwrap().item::<bf16>().unwrap().to_f64();
    assert_eq!(b("1.00390625"), 1.0);
    assert_eq!(b("1.003906250000000000000000000000001"), 1.0 + 2f64.powi(-7));
    assert_eq!(b("1.01171874999999999999999999999999"), 1.0 + 2f64.powi(-7));
}

#[test]
fn hex_strings() {
    let t = tensor("dense<\"0x0100000002000000\"> : tensor<2xi32>").unwrap();
    assert_eq!(t.to_vec::<i32>().unwrap(), [1, 2]);
    // One element is a splat.
    assert_eq!(tensor("dense<\"0x0000803F\"> : tensor<3xf32>").unwrap().to_vec::<f32>().unwrap(), [1.0; 3]);
    let c = tensor("dense<\"0x0000803f000000c0\"> : tensor<complex<f32>>").unwrap();
    assert_eq!(c.item::<Complex<f32>>().unwrap(), Complex::new(1.0, -2.0));
    assert_eq!(tensor("dense<\"0x\"> : tensor<0xi8>").unwrap().shape(), [0]);
    // A byte a bool, any but 0 being true; MLIR before 2025 packed them, the first in the lowest bit.
    let t = tensor("dense<\"0x0001010000FF000000\"> : tensor<9xi1>").unwrap();
    let expected = [false, true, true, false, false, true, false, false, false];
    assert_eq!(t.to_vec::<bool>().unwrap(), expected);
    assert_eq!(tensor("dense<\"0x2600\"> : tensor<9xi1>").unwrap().to_vec::<bool>().unwrap(), expected);
    assert_eq!(tensor("dense<\"0xFF\"> : tensor<9xi1>").unwrap().to_vec::<bool>().unwrap(), [true; 9]);
    for wrong in ["\"0x010000\"", "\"0xZZZZZZZZ\"", "\"0x010000000\"", "\"01000000\"", "\"\""] {
        message(&format!("dense<{wrong}> : tensor<5xi32>"));
    }
}

#[test]
fn resources_have_an_alignment_before_their_bytes() {
    let text = "func.func @f() {
  %0 = stablehlo.constant dense_resource<w> : tensor<2xf32>
  return
}
{-#
  dialect_resources: {
    builtin: {
      w: \"0x040000000000803F00000040\"
    }
  }
#-}";
    let module = parse(text).unwrap();
    let Attr::Dense(d) = &module.funcs[0].body.as_ref().unwrap().ops[0].attrs[0].1 else { panic!() };
    assert_eq!(decode(d, text).unwrap().to_vec::<f32>().unwrap(), [1.0, 2.0]);
    let missing = text.replace("w:", "v:");
    assert!(parse(&missing).unwrap_err().to_string().contains("no resource `w`"));
    let short = text.replace("00000040", "");
    let module = parse(&short).unwrap();
    let Attr::Dense(d) = &module.funcs[0].body.as_ref().unwrap().ops[0].attrs[0].1 else { panic!() };
    assert!(decode(d, &short).is_err());
}

#[test]
fn resources_as_mlir_prints_them() {
    // Of [0, 1, 2], of nine bits, 1 + 2i, and [[0, 1], [2, 3]], by MLIR of jaxlib 0.10.2.
    let text = "module {
  func.func @f() {
    %cst = stablehlo.constant dense_resource<w3> : tensor<3xf32>
    %c = stablehlo.constant dense_resource<w9> : tensor<9xi1>
    %cst_0 = stablehlo.constant dense_resource<w1> : tensor<1xcomplex<f64>>
    %c_1 = stablehlo.constant dense_resource<w4> : tensor<2x2xi8>
    return
  }
}

{-#
  dialect_resources: {
    builtin: {
      w3: \"0x10000000000000000000803F00000040\",
      w9: \"0x10000000010001010000000101\",
      w1: \"0x10000000000000000000F03F0000000000000040\",
      w4: \"0x1000000000010203\"
    }
  }
#-}";
    let module = parse(text).unwrap();
    let ops = &module.funcs[0].body.as_ref().unwrap().ops;
    let tensor = |i: usize| {
        let Attr::Dense(d) = &ops[i].attrs[0].1 else { panic!() };
        decode(d, text).unwrap()
    };
    assert_eq!(tensor(0).to_vec::<f32>().unwrap(), [0.0, 1.0, 2.0]);
    let bits = [true, false, true, true, false, false, false, true, true];
    assert_eq!(tensor(1).to_vec::<bool>().unwrap(), bits);
    assert_eq!(tensor(2).to_vec::<Complex<f64>>().unwrap(), [Complex::new(1.0, 2.0)]);
    assert_eq!((tensor(3).shape(), tensor(3).to_vec::<i8>().unwrap()), (&[2, 2][..], vec![0, 1, 2, 3]));
    // A text that was printed without its large constants.
    let elided = text.replace("<w3>", "<__elided__>");
    assert!(parse(&elided).unwrap_err().to_string().contains("left out when it was printed"));
    let none = format!("{}{{-#\n\n#-}}", text.split("{-#").next().unwrap());
    assert!(parse(&none).unwrap_err().to_string().contains("no resource `w3`"));
}

#[test]
fn wrong_shapes_are_refused() {
    for wrong in [
        "dense<[[1, 2], [3]]> : tensor<2x2xi32>",
        "dense<[1, 2, 3]> : tensor<2xi32>",
        "dense<[1]> : tensor<2xi32>",
        "dense<[1, 2,]> : tensor<2xi32>",
        "dense<[1, 2]> : tensor<2x1xi32>",
        "dense<[[1, 2]]> : tensor<2xi32>",
        "dense<> : tensor<2xi32>",
        "dense<[1.0, 2.0]> : tensor<2xcomplex<f32>>",
        "dense<1.0> : tensor<complex<f32>>",
        "dense<1> : tensor<?xi32>",
        "dense<1> : tensor<*xi32>",
        "dense<[1, 2> : tensor<2xi32>",
        "dense<[1 2]> : tensor<2xi32>",
        "dense<[1, 2]]> : tensor<2xi32>",
        "dense<]> : tensor<2xi32>",
        "dense<1 1> : tensor<2xi32>",
        "dense<5> : tensor<2xi4>",
        // More elements than can be counted, and than there is memory for.
        "dense<1> : tensor<4294967296x4294967296x4294967296xi8>",
        "dense<1> : tensor<4611686018427387904xi64>",
        "dense<[1, 2]> : tensor<4611686018427387904xi64>",
        "dense<\"0x0102\"> : tensor<4611686018427387904xi64>",
    ] {
        let m = message(wrong);
        assert!(m.starts_with("2:"), "{wrong}: {m}");
    }
}

#[test]
fn a_splat_stays_one_element() {
    let text = "func.func @f() {\n %0 = stablehlo.constant dense<1> : tensor<4611686018427387904xi8>\n return\n}";
    let module = parse(text).unwrap();
    let Attr::Dense(d) = &module.funcs[0].body.as_ref().unwrap().ops[0].attrs[0].1 else { panic!() };
    let Constant::Splat(one) = read(d, text).unwrap() else { panic!() };
    assert_eq!(one.item::<i8>().unwrap(), 1);
}

#[test]
fn integers_of_any_form() {
    let text = "func.func @f(%x: tensor<2xf32>) {
  \"a.b\"(%x) {a = [0, [1, 2]], b = array<i64: 3, -4>, c = dense<[5, 6]> : tensor<2xi64>, d = 7 : i64, e = [true], f = 1.5}
    : (tensor<2xf32>) -> ()
  return
}";
    let module = parse(text).unwrap();
    let op = &module.funcs[0].body.as_ref().unwrap().ops[0];
    let all: Vec<_> = op.attrs.iter().map(|(_, a)| integers(a, text).unwrap()).collect();
    let expected = [Some(vec![0, 1, 2]), Some(vec![3, -4]), Some(vec![5, 6]), Some(vec![7]), Some(vec![1]), None];
    assert_eq!(all, expected);
}
