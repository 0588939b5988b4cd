//! What file tests cannot show: that every constant's bits survive, and the options.

use super::number::Number;
use super::{ExportOptions, export_module};
use evoxc_ir::Module;

fn text<T: Number>(v: T) -> String {
    let mut out = String::new();
    v.write(&mut out);
    out
}

/// MLIR prints six significant digits (and a zero) where these give the bits back, else as many as LLVM needs.
#[test]
fn floats_are_written_as_mlir_does() {
    assert_eq!(text(1.5f32), "1.500000e+00");
    assert_eq!(text(-0.0f32), "-0.000000e+00");
    assert_eq!(text(0.1f32), "1.000000e-01");
    assert_eq!(text(std::f32::consts::LN_2), "0.693147182");
    assert_eq!(text(std::f32::consts::PI), "3.14159274");
    assert_eq!(text(f32::from_bits(1)), "1.401300e-45");
    assert_eq!(text(std::f64::consts::PI), "3.1415926535897931");
    assert_eq!(text(f32::NAN), "0x7FC00000");
    assert_eq!(text(f32::from_bits(0xFF80_0001)), "0xFF800001");
    assert_eq!(text(f64::NEG_INFINITY), "0xFFF0000000000000");
    assert_eq!(text(half::f16::from_f32(0.1)), "9.997560e-02");
    assert_eq!(text(num_complex::Complex::new(1f32, -2.0)), "(1.000000e+00,-2.000000e+00)");
}

#[test]
fn every_float_reads_back() {
    let mut bits = 1u64;
    for _ in 0..20_000 {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (a, b) = (f32::from_bits((bits >> 32) as u32), f64::from_bits(bits));
        if a.is_finite() && !text(a).starts_with("0x") {
            assert_eq!(text(a).parse::<f32>().map(f32::to_bits), Ok(a.to_bits()));
        }
        if b.is_finite() && !text(b).starts_with("0x") {
            assert_eq!(text(b).parse::<f64>().map(f64::to_bits), Ok(b.to_bits()));
        }
    }
}

const ADD: &str = "func @f(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {\n  %s = evoxc.add(%x, %y) : tensor<2xf32> loc(\"a b.rs\":3:4)\n  return %s\n}";

#[test]
fn options_change_the_text() -> evoxc_core::Result<()> {
    let module = Module::parse(ADD)?;
    let plain = export_module(&module, &ExportOptions::default())?;
    assert!(plain.contains("    %0 = stablehlo.add %x, %y : tensor<2xf32>\n"), "{plain}");
    let options = ExportOptions {
        name: Some("two words".into()),
        locations: true,
        aliasing: vec![(1, 0)],
        ..ExportOptions::default()
    };
    let text = export_module(&module, &options)?;
    assert!(text.starts_with("module @\"two words\" {\n"), "{text}");
    assert!(text.contains("%y: tensor<2xf32> {tf.aliasing_output = 0 : i32}"), "{text}");
    assert!(text.contains(" : tensor<2xf32> loc(\"a b.rs\":3:4)\n"), "{text}");
    // No such input; an output that two inputs would take; an input given twice.
    for aliasing in [vec![(2, 0)], vec![(0, 0), (1, 0)], vec![(0, 0), (0, 0)]] {
        let wrong = ExportOptions { aliasing, ..ExportOptions::default() };
        assert!(export_module(&module, &wrong).is_err(), "{wrong:?}");
    }
    Ok(())
}

/// What MLIR's grammar takes behind `@` (bare or quoted) and `%` (suffix-id).
#[test]
fn names_are_spelled_as_mlir_reads_them() -> evoxc_core::Result<()> {
    let mut module = Module::parse(ADD)?;
    let names = [("", "main"), ("a\"b\\c", r#""a\22b\\c""#), ("1x", "\"1x\""), ("é%\n", r#""\C3\A9%\0A""#)];
    for (name, spelled) in names {
        module.name = name.into();
        let text = export_module(&module, &ExportOptions::default())?;
        assert!(text.starts_with(&format!("module @{spelled} {{\n")), "{text}");
    }
    let names = [("a b", Some("a_b")), ("é", None), ("", None), ("7", Some("_7")), ("x\"%é", Some("x___"))];
    for (name, spelled) in names {
        assert_eq!(super::text::value_name(name).as_deref(), spelled, "{name}");
    }
    Ok(())
}

/// Time grows with the number of ops and of elements, and no recursion with either.
#[test]
fn large_programs_are_written() -> evoxc_core::Result<()> {
    use evoxc_core::{F32, Tensor, spec};
    use evoxc_ir::{Binary, Func, Literal, Op, Prim};
    let n = 50_000;
    let mut f = Func::new("f");
    let ty = spec(F32, [2]);
    let mut last = f.value(ty.clone(), Some("x".into()));
    f.body.args.push(last);
    let op = |prim, operands: &[evoxc_ir::Value], result| Op {
        prim,
        operands: operands.into(),
        results: [result].into_iter().collect(),
        regions: vec![],
        loc: None,
    };
    for i in 0..n {
        let next = f.value(ty.clone(), None);
        let binary = if i % 2 == 0 { Binary::Add } else { Binary::Mul };
        f.body.ops.push(op(Prim::Binary(binary), &[last, last], next));
        last = next;
    }
    let large = f.value(spec(F32, [1 << 20]), None);
    let values: Vec<f32> = (0..1 << 20).map(|i| i as f32).collect();
    f.body.ops.push(op(Prim::Constant { value: Literal::Dense(Tensor::from(values)) }, &[], large));
    f.body.results = vec![last, large];
    let text = export_module(&Module { funcs: vec![f], ..Module::default() }, &ExportOptions::default())?;
    assert_eq!(text.lines().filter(|l| l.contains("stablehlo.add") || l.contains("stablehlo.multiply")).count(), n);
    assert!(text.contains("dense<\"0x000000000000803F00000040"));
    Ok(())
}

/// Regions nest as deep as the verifier allows.
#[test]
fn deep_programs_are_written() -> evoxc_core::Result<()> {
    let depth = evoxc_ir::MAX_REGION_DEPTH - 1;
    let mut text = String::from("func @f(%p: tensor<bool>, %x: tensor<f32>) -> tensor<f32> {\n");
    for i in 0..depth {
        text.push_str(&format!("%r{i} = evoxc.cond(%p) : tensor<f32> {{\nthen() {{\n"));
    }
    text.push_str("yield %x\n}\n");
    for i in (0..depth).rev() {
        text.push_str("else() {\nyield %x\n}\n}\n");
        text.push_str(&if i > 0 { format!("yield %r{i}\n}}\n") } else { "return %r0\n}\n".into() });
    }
    let text = export_module(&Module::parse(&text)?, &ExportOptions::default())?;
    assert_eq!(text.matches("\"stablehlo.if\"(%p)").count(), depth);
    Ok(())
}
