//! Parts of the syntax one by one. Expectations are from MLIR's language reference and StableHLO's specification.

use evoxc::DType;
use evoxc::Error;
use evoxc_stablehlo::syntax::ast::{Attr, DenseData, Element, FileLoc, Module, Op, TensorType, Type};
use evoxc_stablehlo::syntax::parse;

fn read(text: &str) -> Module<'_> {
    parse(text).unwrap_or_else(|e| panic!("{e:?}"))
}

/// The first op of a body.
fn first<'m, 'a>(m: &'m Module<'a>) -> &'m Op<'a> {
    &m.funcs[0].body.as_ref().unwrap().ops[0]
}

/// An attribute, as an attribute of an op.
fn attr(text: &str) -> Attr<'static> {
    let text: &'static str = format!("func.func @f() {{\n \"a.b\"() {{x = {text}}} : () -> ()\n return }}").leak();
    first(&read(text)).attrs[0].1.clone()
}

fn ty(text: &str) -> Type<'static> {
    match attr(text) {
        Attr::Type(t) => t,
        other => panic!("{other:?}"),
    }
}

/// Line, column and message of the fault.
fn fault(text: &str) -> (usize, usize, String) {
    match parse(text) {
        Err(Error::Parse(e)) => {
            assert_eq!(e.source_line, text.lines().nth(e.line - 1).unwrap_or_default(), "{e:?}");
            (e.line, e.column, e.message)
        }
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn modules_and_functions() {
    let text = "// A comment.
module @m attributes {mhlo.num_replicas = 2 : i32, flag} {
  module { func.func nested @inner() { return } }
  func.func private @decl(tensor<2xf32>, i64 {a.b}) -> (tensor<f32>, tensor<i1>)
  func.func public @\"main fn\"(%arg0: tensor<2xf32> {tf.aliasing_output = 0 : i32} loc(\"x\"), %arg1: i64) ->
      (tensor<2xf32> {jax.result_info = \"\"}, i64) attributes {k = 1} {
    return %arg0, %arg1 : tensor<2xf32>, i64
  }
}";
    let m = read(text);
    assert_eq!(m.name.as_deref(), Some("m"));
    assert!(matches!(m.attrs[..], [(_, Attr::Int(2)), (_, Attr::Unit)]), "{:?}", m.attrs);
    let names: Vec<_> = m.funcs.iter().map(|f| (f.name.as_ref(), f.public, f.body.is_some())).collect();
    assert_eq!(names, [("inner", true, true), ("decl", false, false), ("main fn", true, true)]);
    let f = &m.funcs[2];
    assert!(matches!(f.arg_attrs[0][..], [(_, Attr::Int(0))]) && f.arg_attrs[1].is_empty());
    assert!(matches!(&f.result_attrs[0][..], [(_, Attr::Str(s))] if s.is_empty()));
    assert_eq!(f.results.len(), 2);
    assert_eq!(f.values[1].name, "arg1");
    assert_eq!(m.funcs[1].values[1].ty, Type::Scalar(Element::Known(DType::I64)));
}

#[test]
fn types() {
    let tensor = |shape: Option<Vec<Option<u64>>>, bounds, element| Type::Tensor(TensorType { shape, bounds, element });
    let known = Element::Known;
    assert_eq!(ty("tensor<2x0x?xf32>"), tensor(Some(vec![Some(2), Some(0), None]), vec![], known(DType::F32)));
    assert_eq!(ty("tensor<i1>"), tensor(Some(vec![]), vec![], known(DType::BOOL)));
    assert_eq!(ty("tensor<*xui8>"), tensor(None, vec![], known(DType::U8)));
    assert_eq!(ty("tensor<1xcomplex<f64>>"), tensor(Some(vec![Some(1)]), vec![], known(DType::C128)));
    let bounded = tensor(Some(vec![None, Some(4)]), vec![Some(8), None], known(DType::BF16));
    assert_eq!(ty("tensor<?x4xbf16, #stablehlo.bounds<8, ?>>"), bounded);
    assert_eq!(ty("tensor<?x4xbf16, #stablehlo.type_extensions<bounds = [8, ?]>>"), bounded);
    assert_eq!(ty("tensor<2xf8E4M3FN>"), tensor(Some(vec![Some(2)]), vec![], Element::Unsupported("f8E4M3FN")));
    assert_eq!(ty("tensor<i4>"), tensor(Some(vec![]), vec![], Element::Unsupported("i4")));
    assert_eq!(ty("tensor<2xindex>"), tensor(Some(vec![Some(2)]), vec![], Element::Index));
    let quantized = "!quant.uniform<i8:f32:1, {0.1:-30, 0.5:20}>";
    assert_eq!(
        ty(&format!("tensor<2x{quantized}>")),
        tensor(Some(vec![Some(2)]), vec![], Element::Quantized(quantized))
    );
    assert_eq!(ty("!stablehlo.token"), Type::Token);
    assert_eq!(ty("tuple<>"), Type::Tuple(vec![]));
    let i64 = || Type::Scalar(known(DType::I64));
    assert_eq!(ty("tuple<i64, tuple<i64>>"), Type::Tuple(vec![i64(), Type::Tuple(vec![i64()])]));
    assert_eq!(ty("(i64, i64) -> i64"), Type::Function(vec![i64(); 2], vec![i64()]));
    assert_eq!(ty("() -> ()"), Type::Function(vec![], vec![]));
    assert_eq!(ty("!shape.witness"), Type::Other("!shape.witness"));
    // As printed.
    for t in [
        "tensor<2x?xf32>",
        "tensor<?xi1, #stablehlo.bounds<3>>",
        "tuple<tensor<f32>, !stablehlo.token>",
        "(i64) -> (tensor<*xui8>, index)",
    ] {
        assert_eq!(ty(t).to_string(), t);
    }
}

#[test]
fn attributes() {
    let check = |text: &str, expected: &str| assert_eq!(format!("{:?}", attr(text)), expected, "{text}");
    check("true", "Bool(true)");
    check("-3 : i8", "Int(-3)");
    check("0xFF : i32", "Int(255)");
    check("170141183460469231731687303715884105727", "Int(170141183460469231731687303715884105727)");
    check("1.5e-3", "Float(0.0015)");
    // 0.1 in f32 and bf16; bits of f32's and f16's infinity.
    check("0.1 : f32", "Float(0.10000000149011612)");
    check("0.1 : bf16", "Float(0.10009765625)");
    check("0x7F800000 : f32", "Float(inf)");
    check("0xFC00 : f16", "Float(-inf)");
    check(r#""a\22b\n\\\C3\A4""#, r#"Str("a\"b\n\\ä")"#);
    check("@f::@g", r#"Symbol("f::g")"#);
    check("[1, [true], unit]", "Array([Int(1), Array([Bool(true)]), Unit])");
    check("{a = 1, \"b c\" = 2, d}", r#"Dict([("a", Int(1)), ("b c", Int(2)), ("d", Unit)])"#);
    check("array<i64>", "Array([])");
    check("array<i1: true, false>", "Array([Bool(true), Bool(false)])");
    check("array<f32: 1.5, -2.0>", "Array([Float(1.5), Float(-2.0)])");
    check("#stablehlo<comparison_direction LT>", r#"Word("LT")"#);
    check("#stablehlo.result_accuracy_mode<HIGHEST>", r#"Word("HIGHEST")"#);
    check(
        "#stablehlo.dot<lhs_contracting_dimensions = [1]>",
        r#"Record("dot", [("lhs_contracting_dimensions", Array([Int(1)]))])"#,
    );
    check(
        "#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, f, 0]>",
        r#"Record("conv", [("input", Array([Word("b"), Int(0), Word("f")])), ("kernel", Array([Int(0), Word("i"), Word("o")])), ("output", Array([Word("b"), Word("f"), Int(0)]))])"#,
    );
    check("#sdy.sharding<@mesh, [{\"a\"}]>", r##"Opaque("#sdy.sharding<@mesh, [{\"a\"}]>")"##);
    check("affine_map<(d0) -> (d0 + 1)>", r#"Opaque("affine_map<(d0) -> (d0 + 1)>")"#);
    let Attr::Dense(d) = attr("dense<\"0x01>02\"> : tensor<2xi8>") else { panic!() };
    assert!(matches!(d.data, DenseData::Text("\"0x01>02\"")));
}

#[test]
fn aliases_stand_for_types_attributes_and_locations() {
    let text = "#pair = [1, 2]
!t = tensor<2xf32>
!u = tuple<!t, !t>
func.func @f(%x: !t) -> !t {
  %0 = stablehlo.tuple %x, %x {p = #pair} : !u loc(#loc3)
  return %x : tensor<2xf32> loc(#circle)
}
#loc1 = loc(\"model.py\":3:7 to :9)
#loc2 = loc(\"name\"(#loc1))
#loc3 = loc(callsite(#loc2 at fused<\"m\">[\"other.py\":1:1, unknown]))
#circle = loc(\"c\"(#circle2))
#circle2 = loc(\"c\"(#circle))";
    let m = read(text);
    let op = first(&m);
    assert_eq!(op.loc, Some(FileLoc { file: "model.py".into(), line: 3, column: 7 }));
    assert_eq!(format!("{:?}", op.attrs), r#"[("p", Array([Int(1), Int(2)]))]"#);
    assert_eq!(m.funcs[0].body.as_ref().unwrap().ops[1].loc, None);
    assert_eq!(m.funcs[0].values[1].ty.to_string(), "tuple<tensor<2xf32>, tensor<2xf32>>");
}

#[test]
fn values_have_numbers_types_and_scopes() {
    let text = "func.func @f(%x: tensor<2xf32>, %p: tensor<i1>) -> tensor<2xf32> {
  %0:2, %b = \"t.three\"(%x) : (tensor<2xf32>) -> (tensor<f32>, tensor<2xf32>, tensor<i1>)
  %1 = \"stablehlo.if\"(%b) ({
    %y = stablehlo.add %0#1, %x : tensor<2xf32>
    stablehlo.return %y : tensor<2xf32>
  }, {
    %y = stablehlo.negate %x : tensor<2xf32>
    stablehlo.return %y : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}";
    let m = read(text);
    let f = &m.funcs[0];
    let names: Vec<_> = f.values.iter().map(|v| v.name.as_ref()).collect();
    assert_eq!(names, ["x", "p", "0#0", "0#1", "b", "y", "y", "1"]);
    let ops = &f.body.as_ref().unwrap().ops;
    assert_eq!(ops[1].operands[0].0, 4);
    assert_eq!(ops[1].regions[0].ops[0].operands.iter().map(|v| v.0).collect::<Vec<_>>(), [3, 0]);
    assert_eq!((ops[2].operands[0].0, ops[2].name.as_ref()), (7, "func.return"));
}

#[test]
fn reduction_that_applies_an_op_has_a_region() {
    let text = "func.func @f(%x: tensor<2x3xf32>, %i: tensor<f32>) {
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}";
    let m = read(text);
    let op = first(&m);
    let [region] = &op.regions[..] else { panic!() };
    assert_eq!(region.ops[0].name, "stablehlo.maximum");
    assert_eq!(region.ops[0].operands, region.args);
    assert_eq!(region.ops[1].operands, region.ops[0].results);
    assert_eq!(m.funcs[0].values[region.args[0].0 as usize].ty.to_string(), "tensor<f32>");
}

#[test]
fn checks_and_shape_arithmetic() {
    let text = "func.func @f(%x: tensor<?xf32>, %y: tensor<2xf32>) {
  check.expect_eq %x, %x : tensor<?xf32>
  check.expect_eq_const %y, dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_almost_eq_const %y, dense<1.0> : tensor<2xf32>
  check.expect_almost_eq %y, %y, tolerance = 0.5 : f64 : tensor<2xf32>
  check.expect_close %y, %y, max_ulp_difference = 3, min_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  %0 = interpreter.probe %y, probe_id = \"p\" : tensor<2xf32>
  check.expect_serialized_eq %y, probe_id = \"p\", iter = 1 : tensor<2xf32>
  %c = arith.constant 0 : index
  %d = tensor.dim %x, %c : tensor<?xf32>
  %s = shape.shape_of %x : tensor<?xf32> -> tensor<1xindex>
  %e = tensor.from_elements %d, %d : tensor<2xindex>
  %g = arith.index_cast %d : index to i64
  %h = tensor.extract %s[%c] : tensor<1xindex>
  %k = arith.addi %h, %d : index
  %w = shape.const_shape [2, 3] : tensor<2xindex>
  %t = arith.constant true
  %m, %n = chlo.minimum_broadcast_shapes %s, %s : tensor<1xindex>, tensor<1xindex> -> tensor<1xindex>, tensor<1xindex>
  return
}";
    let m = read(text);
    let f = &m.funcs[0];
    let types: Vec<_> = f.values.iter().skip(2).map(|v| v.ty.to_string()).collect();
    let expected = [
        "tensor<2xf32>",
        "index",
        "index",
        "tensor<1xindex>",
        "tensor<2xindex>",
        "i64",
        "index",
        "index",
        "tensor<2xindex>",
        "i1",
        "tensor<1xindex>",
        "tensor<1xindex>",
    ];
    assert_eq!(types, expected);
    let ops = &f.body.as_ref().unwrap().ops;
    let shown = |i: usize| format!("{:?}", ops[i].attrs);
    assert_eq!(shown(3), r#"[("tolerance", Float(0.5))]"#);
    assert_eq!(shown(4), r#"[("max_ulp_difference", Int(3)), ("min_ulp_difference", Int(1))]"#);
    assert_eq!(shown(6), r#"[("probe_id", Str("p")), ("iteration", Int(1))]"#);
}

#[test]
fn shards_are_read_as_they_are_written() {
    let text = "sdy.mesh @mesh = <[\"a\"=2]>
func.func @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}]>}) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{\"a\"}]>] out_shardings=[<@mesh, [{\"a\"}]>] manual_axes={\"a\"} (%y: tensor<4xf32>) {
    sdy.return %y : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}";
    let m = read(text);
    let op = first(&m);
    assert_eq!(op.regions[0].ops[0].operands, op.regions[0].args);
    assert!(matches!(op.attrs[2].1, Attr::Opaque("{\"a\"}")), "{:?}", op.attrs);
    assert!(matches!(m.attrs[0].1, Attr::Opaque("sdy.mesh @mesh = <[\"a\"=2]>")), "{:?}", m.attrs);
}

#[test]
fn faults_say_where_and_what() {
    let body = |ops: &str| format!("func.func @f(%x: tensor<2xf32>, %y: tensor<3xf32>) {{\n{ops}\n return\n}}");
    for (ops, column, expected) in [
        ("  %0 = stablehlo.add %x, %z : tensor<2xf32>", 26, "`%z` is not defined before this use"),
        ("  %0 = stablehlo.add %x, %0 : tensor<2xf32>", 26, "`%0` is not defined before this use"),
        ("  %x = stablehlo.add %x, %x : tensor<2xf32>", 3, "`%x` is defined already"),
        (
            "  %0 = stablehlo.add %x, %y : tensor<2xf32>",
            8,
            "operand 1 of stablehlo.add, `%y`, is a tensor<3xf32>, but tensor<2xf32>",
        ),
        ("  %0:2 = stablehlo.add %x, %x : tensor<2xf32>", 10, "stablehlo.add has 1 results, but 2 are named"),
        ("  %0 = stablehlo.add %x, %x#1 : tensor<2xf32>", 26, "`%x` has 1 results; there is no `#1`"),
        ("  %0 = \"a.b\"(%x) : (tensor<2xf32>, i64) -> i64", 8, "a.b has 1 operands, but types of 2"),
        ("  %0 = \"a.b\"(%x) : tensor<2xf32>", 20, "expected the type of a.b"),
        ("  %0 = stablehlo.iota dim = x : tensor<2xf32>", 29, "expected an integer, a list or `true`, found `x`"),
        ("  %0 = stablehlo.iota dum = 0 : tensor<2xf32>", 23, "expected `:`, found `dum`"),
        ("  %0 = stablehlo.transpose %x, dim = 0 : f32", 32, "expected one of `dims =`, found `dim`"),
        ("  %0 = stablehlo.add %x, %x : tensor<2xf33>", 40, "expected an extent or an element type, found `f33`"),
        ("  %0 = stablehlo.constant dense<1 : tensor<f32>", 33, ""),
        ("  %0 = stablehlo.custom_call @f(%x) {a = \"b} : () -> ()", 42, "no closing `\"`"),
        ("  \"a.b\"(%x) {a = 1, a = 2} : (tensor<2xf32>) -> ()", 13, "the attribute `a` is given twice"),
        ("  \"a.b\"(%x)[^bb1] : (tensor<2xf32>) -> ()", 12, "successor blocks"),
        ("  add %x, %x : tensor<2xf32>", 3, "names no dialect"),
        ("  \"a.b\"(%x) {a = #nothing} : (tensor<2xf32>) -> ()", 18, "the alias `#nothing` is not defined"),
    ] {
        let (line, at, message) = fault(&body(ops));
        if !expected.is_empty() {
            assert_eq!((line, at), (2, column), "{ops}: {message}");
        }
        assert!(message.contains(expected), "{ops}: {message}");
    }
    let twice = "func.func @f() { return }\nfunc.func @f() { return }";
    assert_eq!(fault(twice), (2, 11, "the function @f is defined already".into()));
    assert!(fault("module {\n  func.func @f() { return }").2.contains("`}` at the end of the module"));
    assert!(fault("func.func @f() {\n ^bb0:\n return\n ^bb1:\n return\n}").2.contains("several blocks"));
    // A region's names end with it.
    let scoped = "  \"a.b\"() ({ %q = stablehlo.negate %x : tensor<2xf32> }) : () -> ()\n  \"a.b\"(%q) : (i64) -> ()";
    assert_eq!(fault(&body(scoped)).0, 3);
}

#[test]
fn the_caret_stands_under_the_fault() {
    let Err(e) = parse("func.func @f(%x: tensor<2xf32>) {\n  %0 = stablehlo.negate %y : tensor<2xf32>\n}") else {
        panic!()
    };
    let report = e.render();
    let caret = report.lines().find(|l| l.trim_end().ends_with('^')).unwrap();
    let source = report.lines().find(|l| l.contains("%y :")).unwrap();
    assert_eq!(caret.find('^'), source.find("%y"), "{report}");
}
