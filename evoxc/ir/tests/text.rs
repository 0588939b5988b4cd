//! The text form by example: what prints, what parses, and what the errors say. Expectations are the text form's own
//! definition in docs/evoxir.md; element bits are IEEE 754's.

use evoxc_core::{DType, Error, Tensor, dim};
use evoxc_ir::{Literal, Module, Prim, parse_literal, parse_type};

const EXAMPLE: &str = r#"module @main version 1 {
  // static layer.heads = 4
  // note: constant c takes 2 MiB
  func @main(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>, %p: tensor<bool>) -> (tensor<4x4xf32>, tensor<2xf32>) {
    %0 = evoxc.dot(%x, %w) {batch = [], contract = [[1], [0]]} : tensor<4x4xf32> loc("src/main.rs":6:7)
    %values, %indices = evoxc.top_k(%x) {k = 3} : tensor<4x3xf32>, tensor<4x3xi32>
    %c = evoxc.constant() {value = dense<[1.0, 2.5]> : tensor<2xf32>} : tensor<2xf32>
    %h = evoxc.constant() {value = splat<2.0> : tensor<Bx4xf32>} : tensor<Bx4xf32>
    evoxc.print(%c) {label = "a \"c\"\n"}
    %r = evoxc.cond(%p) : tensor<2xf32> {
      then() {
        %1 = evoxc.neg(%c) : tensor<2xf32>
        yield %1
      }
      else() {
        yield %c
      }
    } loc("src/main.rs":9:3)
    %2 = evoxc.call(%x) {callee = @helper, remat = true} : tensor<4x8xf32>
    %3 = evoxc.slice(%h) {start = [0, (2*B + 1)], limit = [B, 4], stride = [1, 1]} : tensor<Bx[3 - 2*B]xf32>
    return %0, %r
  }
  func @helper(%"odd name": tensor<[2*max]x[max]xf32>) -> () {
    return
  }
}
"#;

#[test]
fn the_text_comes_back() {
    let m = Module::parse(EXAMPLE).unwrap();
    assert_eq!(m.to_string(), EXAMPLE);
    assert_eq!(m.statics, [("layer.heads".to_string(), "4".to_string())]);
    assert_eq!(m.notes, ["constant c takes 2 MiB"]);
    assert_eq!(m, Module::parse(&m.to_string()).unwrap());
}

#[test]
fn ops_have_lines() {
    let (_, lines) = Module::parse_with_lines(EXAMPLE).unwrap();
    assert_eq!(lines, [vec![5, 6, 7, 8, 9, 10, 12, 19, 20], vec![]]);
}

#[test]
fn a_list_of_functions_is_a_module() {
    let m = Module::parse("// a comment\nfunc @f() -> () { return }\nfunc @g() -> () {\nreturn // here\n}").unwrap();
    assert_eq!(
        m.to_string(),
        "module @main version 1 {\n  func @f() -> () {\n    return\n  }\n  func @g() -> () {\n    return\n  }\n}\n"
    );
    assert_eq!(m.funcs[1].to_string(), "func @g() -> () {\n  return\n}");
}

#[test]
fn repeated_names_get_suffixes() {
    let text = "func @f(%x: tensor<f32>) -> () {\n%y = evoxc.neg(%x) : tensor<f32>\nreturn }";
    let mut m = Module::parse(text).unwrap();
    for v in &mut m.funcs[0].values {
        v.name = Some("x".into());
    }
    assert!(m.to_string().contains("%x_1 = evoxc.neg(%x)"), "{m}");
    assert_eq!(m, Module::parse(text).unwrap());
}

/// Equal up to names and locations; different in anything else.
#[test]
fn equality() {
    let m = |s: &str| Module::parse(s).unwrap();
    let base = m("func @f(%x: tensor<2xf32>) -> tensor<2xf32> { %y = evoxc.neg(%x) : tensor<2xf32> return %y }");
    let same = m(
        "module @other version 1 {\n// note: n\n// static a = 1\nfunc @g(%0: tensor<2xf32>) -> tensor<2xf32> { %1 = evoxc.neg(%0) : tensor<2xf32> loc(\"a\":1:1) return %1 } }",
    );
    assert_eq!(base, same);
    assert_eq!(base.structural_hash(), same.structural_hash());
    for other in [
        "func @f(%x: tensor<2xf32>) -> tensor<2xf32> { %y = evoxc.abs(%x) : tensor<2xf32> return %y }",
        "func @f(%x: tensor<2xf32>) -> tensor<2xf32> { %y = evoxc.neg(%x) : tensor<2xf32> return %x }",
        "func @f(%x: tensor<3xf32>) -> tensor<3xf32> { %y = evoxc.neg(%x) : tensor<3xf32> return %y }",
        "func @f(%x: tensor<2xf64>) -> tensor<2xf64> { %y = evoxc.neg(%x) : tensor<2xf64> return %y }",
        "func @f(%x: tensor<2xf32>) -> tensor<2xf32> { return %x }",
        "func @f() -> () { return }",
    ] {
        assert_ne!(base, m(other));
        assert_ne!(base.structural_hash(), m(other).structural_hash());
    }
    // Callees compare by position.
    let call = "func @f() -> () { evoxc.call() {callee = @CALLEE} return } func @g() -> () { return }";
    let (f, g) = (m(&call.replace("CALLEE", "f")), m(&call.replace("CALLEE", "g")));
    assert_ne!(f, g);
    assert_ne!(f.structural_hash(), g.structural_hash());
    assert_eq!(g, m(&call.replace("CALLEE", "h").replace("@g", "@h")));
}

/// Fixed for all processes: caches on disk are found by it.
#[test]
fn the_hash_is_stable() {
    let text = "func @f(%x: tensor<[2*B + 1]x2xf32>) -> tensor<[2*B + 1]x2xf32> { return %x }";
    let m = Module::parse(text).unwrap();
    // Symbols made before change the handles, not the hash.
    let fresh = std::env::args().count();
    let _ = dim(&format!("unrelated{fresh}"));
    assert_eq!(m.structural_hash(), Module::parse(text).unwrap().structural_hash());
    assert_eq!(m.structural_hash(), STABLE);
}
const STABLE: u64 = 12315073702642757512;

fn message(text: &str) -> (usize, usize, String) {
    match Module::parse(text) {
        Err(Error::Parse(e)) => (e.line, e.column, e.message),
        other => panic!("expected a parse error, got {other:?}"),
    }
}

#[test]
fn errors_say_where_and_what() {
    let body = |s: &str| message(&format!("func @f(%x: tensor<2xf32>) -> () {{\n  {s}\n  return\n}}"));
    let case = |s: &str, line: usize, column: usize, part: &str| {
        let (l, c, m) = body(s);
        assert!(m.contains(part), "{s}: {m}");
        assert_eq!((l, c), (line, column), "{s}: {m}");
    };
    case("%0 = evoxc.ad(%x, %x) : tensor<2xf32>", 2, 8, "no op is called `ad`; did you mean `a");
    case("%0 = evoxc.reduce_sun(%x) {axes = [0]} : tensor<f32>", 2, 8, "did you mean `reduce_sum`?");
    case("%0 = evoxc.concatenat(%x) : tensor<f32>", 2, 8, "did you mean `concatenate`?");
    case("%0 = evoxc.zzzzzzzz(%x) : tensor<f32>", 2, 8, "no op is called `zzzzzzzz`");
    case("%0 = evoxc.neg(%y) : tensor<f32>", 2, 18, "%y is not defined here");
    case("%0 = evoxc.reverse(%x) {axis = 0} : tensor<f32>", 2, 27, "`reverse` has no attribute `axis`; it has axes");
    case("%0 = evoxc.neg(%x) {axis = 0} : tensor<f32>", 2, 23, "`neg` has no attribute `axis`; it has none");
    case("%0 = evoxc.reverse(%x) : tensor<f32>", 2, 8, "`reverse` needs the attribute `axes`");
    case("%0 = evoxc.reverse(%x) {axes = 1} : tensor<f32>", 2, 8, "attribute `axes` of `reverse` is not a list");
    case("%0 = evoxc.neg(%x) : tensor<f33>", 2, 31, "`f33` is not a dtype");
    case("%0 = evoxc.neg(%x)", 2, 3, "1 names but 0 types");
    case("%x = evoxc.neg(%x) : tensor<f32>", 2, 3, "%x is already defined");
    case("%0 = neg(%x) : tensor<f32>", 2, 8, "expected an op, as in `evoxc.add`, found `neg`");
    case("evoxc.print(%x) {label = \"open}", 2, 28, "the string does not end on its line");
    case(
        "%0 = evoxc.constant() {value = dense<[1.0, 2.0]> : tensor<3xf32>} : tensor<3xf32>",
        2,
        50,
        "a list of 2 along axis 0, expected 3",
    );
    case(
        "%0 = evoxc.constant() {value = dense<[1.0, x]> : tensor<2xf32>} : tensor<2xf32>",
        2,
        46,
        "expected an element of f32, found `x`",
    );
    case(
        "%0 = evoxc.constant() {value = dense<[300]> : tensor<1xu8>} : tensor<1xu8>",
        2,
        41,
        "expected an element of u8, found `300`",
    );
    case("%0 = evoxc.constant() {value = const<0> : tensor<1xu8>} : tensor<1xu8>", 2, 40, ".evoxcgraph files");
    let (line, column, m) = message(
        "func @f(%x: tensor<2xf32>) -> () {
  return %x
}",
    );
    assert_eq!((line, column), (2, 3));
    assert!(m.contains("the function returns (tensor<2xf32>), but its first line says ()"), "{m}");
    case(
        "%0 = evoxc.cond(%x) : tensor<f32> { els() { yield } }",
        2,
        39,
        "expected region `then` of `cond`, or `}`, found `els`",
    );
    case("yield", 2, 3, "or `return`, found `yield`");
    assert!(message("module @m version 2 {}").2.contains("version 2"));
    assert_eq!(message("").2, "expected `module` or `func`, found the end of the text");
    assert!(message("module @m version 1 { func @f() -> () { return } } func").2.contains("the end of the text after"));
    let e = Module::parse("func @f() -> () {\n  ünknown\n}").unwrap_err();
    assert!(e.render().contains("ünknown") && e.to_string().starts_with("2:3: "), "{e:?}");
}

#[test]
fn values_of_a_region_end_with_it() {
    let text = "func @f(%p: tensor<bool>) -> () {\nevoxc.cond(%p) {\nthen() {\n%a = evoxc.not(%p) : tensor<bool>\nyield\n}\nelse() {\n%a = evoxc.not(%p) : tensor<bool>\nyield\n}\n}\nevoxc.print(%a) {label = \"\"}\nreturn\n}";
    let (line, column, m) = message(text);
    assert_eq!((line, column), (12, 13), "{m}");
    // Without the last use it is right; the two `a` are two values.
    let m = Module::parse(&text.replace("evoxc.print(%a) {label = \"\"}\n", "")).unwrap();
    assert!(m.to_string().contains("%a_1 = "));
}

#[test]
fn regions_nest_to_a_fixed_depth() {
    let nest = |n: usize| {
        format!(
            "func @f(%p: tensor<bool>) -> () {{ {} {} return }}",
            "evoxc.cond(%p) { then() {".repeat(n),
            "yield } }".repeat(n)
        )
    };
    let m = Module::parse(&nest(100)).unwrap();
    assert_eq!(Module::parse(&m.to_string()).unwrap(), m);
    assert!(message(&nest(101)).2.contains("deeper than 100"));
    assert!(message(&nest(50_000)).2.contains("deeper than 100"));
    assert!(
        message(&format!("func @f() -> () {{ evoxc.cond() {{a = {}", "[".repeat(100_000))).2.contains("deeper than")
    );
    assert!(
        message(&format!("func @f() -> () {{ evoxc.dim_size() {{extent = {}", "(".repeat(100_000)))
            .2
            .contains("expected")
    );
}

#[test]
fn long_chains_print_and_parse() {
    let mut text = String::from("func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n");
    for i in 0..10_000 {
        let operand = if i == 0 { "x".to_string() } else { (i - 1).to_string() };
        text += &format!("  %{i} = evoxc.neg(%{operand}) : tensor<2xf32> loc(\"a.rs\":{}:1)\n", i + 1);
    }
    text += "  return %9999\n}";
    let m = Module::parse(&text).unwrap();
    assert_eq!(m.funcs[0].to_string(), text);
    assert_eq!(m, Module::parse(&m.to_string()).unwrap());
}

/// Sizes that a text claims are not believed.
#[test]
fn claims_of_size_allocate_nothing() {
    for text in [
        "dense<[1.0]> : tensor<1000000000000xf32>",
        "dense<\"0x00\"> : tensor<1000000000000xf32>",
        "dense<[]> : tensor<9223372036854775807x9223372036854775807xf32>",
        "dense<1> : tensor<Bxi32>",
    ] {
        assert!(matches!(parse_literal(text), Err(Error::Parse(_))), "{text}");
    }
    let splat = parse_literal("splat<1> : tensor<1000000000000x1000000000000xi32>").unwrap();
    assert_eq!(splat.tensor().len(), 1);
}

#[test]
fn types() {
    for t in [
        "tensor<f32>",
        "tensor<0x1xbool>",
        "tensor<Bx[max]x[2*B + 1]xc128>",
        "tensor<_xi8>",
        "tensor<[-1]xu64>",
        "tensor<f32xf32>",
    ] {
        assert_eq!(parse_type(t).unwrap().to_string(), t);
    }
    for t in [
        "tensor<>",
        "tensor<x>",
        "tensor<xf32>",
        "tensor<4f32>",
        "tensor<4x>",
        "tensor<[Bxf32>",
        "tensor<[]xf32>",
        "tensor<f32> x",
        "tensor<99999999999999999999xf32>",
        "tensor f32",
    ] {
        assert!(parse_type(t).is_err(), "{t}");
    }
}

#[test]
fn element_texts() {
    // Text of the element, dtype, bits (IEEE 754; bfloat16 is the upper half of binary32).
    let cases = [
        ("1.0", DType::F32, 0x3F80_0000u64),
        ("-0.0", DType::F32, 0x8000_0000),
        ("1e-45", DType::F32, 1),
        ("3.4028235e38", DType::F32, 0x7F7F_FFFF),
        ("0x7F800000", DType::F32, 0x7F80_0000),
        ("0xFFC00001", DType::F32, 0xFFC0_0001),
        ("5e-324", DType::F64, 1),
        ("0x7FF0000000000001", DType::F64, 0x7FF0_0000_0000_0001),
        ("0.1", DType::F16, 0x2E66),
        ("65500.0", DType::F16, 0x7BFF),
        ("6e-8", DType::F16, 1),
        ("0x7C00", DType::F16, 0x7C00),
        ("0.1", DType::BF16, 0x3DCD),
        ("0xFF80", DType::BF16, 0xFF80),
        ("true", DType::BOOL, 1),
        ("-128", DType::I8, 0x80),
        ("18446744073709551615", DType::U64, u64::MAX),
        ("-9223372036854775808", DType::I64, 1 << 63),
    ];
    for (text, dtype, bits) in cases {
        let whole = format!("dense<{text}> : tensor<{dtype}>");
        let l = parse_literal(&whole).unwrap();
        assert_eq!(l.tensor().buffer().bytes(), &bits.to_le_bytes()[..dtype.size()], "{whole}");
        assert_eq!(l.to_string(), whole);
    }
    // Halves round once: a tie to even goes down, a little more goes up (spacing 2 from 2048, and from 256).
    for (text, bits) in [
        ("dense<2049> : tensor<f16>", 0x6800u16),
        ("dense<2049.0000000001> : tensor<f16>", 0x6801),
        ("dense<257> : tensor<bf16>", 0x4380),
        ("dense<-257.0000000001> : tensor<bf16>", 0xC381),
        ("dense<2.9e-8> : tensor<f16>", 0),
        ("dense<2.99e-8> : tensor<f16>", 1),
    ] {
        assert_eq!(parse_literal(text).unwrap().tensor().buffer().bytes(), bits.to_le_bytes(), "{text}");
    }
    let words = parse_literal("dense<[inf, -inf, 1, 0x00000001]> : tensor<4xf32>").unwrap();
    assert_eq!(words.to_string(), "dense<[0x7F800000, 0xFF800000, 1.0, 1e-45]> : tensor<4xf32>");
    for t in [
        "dense<1e999> : tensor<f32>",
        "dense<0x7F8> : tensor<f32>",
        "dense<1.5> : tensor<i32>",
        "dense<2> : tensor<bool>",
        "dense<\"0x02\"> : tensor<1xbool>",
        "dense<(1.0)> : tensor<c64>",
        "dense<1.0> : tensor<c64>",
        "dense<[[1], [2, 3]]> : tensor<2x1xi32>",
        "dense<[1] : tensor<1xi32>",
    ] {
        assert!(parse_literal(t).is_err(), "{t}");
    }
    for t in [
        "dense<[[(1.0, -0.0)], [(2.0, 0x7FC00000)]]> : tensor<2x1xc64>",
        "dense<[]> : tensor<2x0xf32>",
        "dense<[[[1]]]> : tensor<1x1x1xi32>",
        "splat<(1.0, 2.0)> : tensor<BxBxc128>",
    ] {
        assert_eq!(parse_literal(t).unwrap().to_string(), t);
    }
    let long = Literal::Dense(Tensor::from((0..33u8).collect::<Vec<_>>()));
    assert!(long.to_string().starts_with("dense<\"0x000102030405"), "{long}");
    assert_eq!(parse_literal(&long.to_string()).unwrap(), long);
}

/// Symbols whose names are words of the text form.
#[test]
fn symbols_of_any_name() {
    for name in ["true", "false", "dense", "splat", "const", "loc", "min", "inf", "x", "func"] {
        let m = format!(
            "func @f() -> () {{ %0 = evoxc.dim_size() {{extent = NAME, dtype = i32}} : tensor<[{name}]xi32> return }}"
        );
        let text = if matches!(name, "true" | "false") {
            m.replace("NAME", &format!("({name})"))
        } else {
            m.replace("NAME", name)
        };
        let m = Module::parse(&text).unwrap();
        let Prim::DimSize { extent, .. } = &m.funcs[0].body.ops[0].prim else { panic!() };
        assert_eq!(*extent, dim(name));
        assert_eq!(Module::parse(&m.to_string()).unwrap(), m);
    }
}

/// Every block of the documentation that is marked so is printed text.
#[test]
fn the_documentation_is_right() {
    let doc = include_str!("../../../docs/evoxir.md");
    let blocks: Vec<&str> = doc.split("```evoxir\n").skip(1).filter_map(|b| b.split("```").next()).collect();
    assert_eq!(blocks.len(), 6);
    for text in blocks {
        assert_eq!(Module::parse(text).unwrap().to_string(), text);
    }
}
