//! Each rule on a program that it fits, and programs that must stay as they are. What the rules give is argued where
//! they stand; that values keep their bits on random inputs is tested where an interpreter is at hand.

use super::rules::names;
use crate::verify::tests::sample;
use crate::*;
use evoxc_core::{F32, Loc, spec};

fn parse(text: &str) -> Module {
    Module::parse(text).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

/// Simplifies, and checks that the result verifies and is simple.
fn simple(m: &Module) -> Module {
    m.verify().unwrap_or_else(|e| panic!("{e}\n{m}"));
    let s = simplify(m);
    s.verify().unwrap_or_else(|e| panic!("{e}\n{s}"));
    assert_eq!(simplify(&s), s, "not simple yet:\n{s}");
    s
}

/// A function of x, y: ty; a body; a result of type `out`.
fn func(ty: &str, body: &str, out: &str, result: &str) -> String {
    format!("func @f(%x: tensor<{ty}>, %y: tensor<{ty}>) -> tensor<{out}> {{\n{body}\n  return {result}\n}}")
}

#[track_caller]
fn becomes(ty: &str, body: &str, out: &str, result: &str, new_body: &str, new_result: &str) {
    let (a, b) = (func(ty, body, out, result), func(ty, new_body, out, new_result));
    let s = simple(&parse(&a));
    assert!(s == parse(&b), "{s}");
}

fn constant(name: &str, ty: &str, value: &str) -> String {
    format!("  %{name} = evoxc.constant() {{value = splat<{value}> : tensor<{ty}>}} : tensor<{ty}>\n")
}

/// `x op c` becomes `want`: `x`, `c`, or `same` where it must stay.
#[track_caller]
fn with_constant(op: &str, ty: &str, value: &str, left: bool, want: &str) {
    let c = constant("c", ty, value);
    let operands = if left { "%c, %x" } else { "%x, %c" };
    let body = format!("{c}  %r = evoxc.{op}({operands}) : tensor<{ty}>");
    match want {
        "x" => becomes(ty, &body, ty, "%r", "", "%x"),
        "c" => becomes(ty, &body, ty, "%r", &c, "%c"),
        _ => becomes(ty, &body, ty, "%r", &body, "%r"),
    }
}

#[test]
fn neutral_and_absorbing_elements() {
    for (op, ty, value, left, want) in [
        ("mul", "2xf32", "1.0", false, "x"),
        ("mul", "2xf32", "1.0", true, "x"),
        ("mul", "2xf32", "0.0", false, "same"), // -1 * 0 is -0, NaN * 0 is NaN
        ("div", "2xf64", "1.0", false, "x"),
        ("div", "2xf64", "1.0", true, "same"),
        ("add", "2xf32", "0.0", false, "same"), // -0 + 0 is 0
        ("add", "2xf32", "-0.0", false, "x"),
        ("add", "2xbf16", "-0.0", true, "x"),
        ("sub", "2xf32", "0.0", false, "x"),
        ("sub", "2xf32", "-0.0", false, "same"),
        ("sub", "2xi32", "0", false, "x"),
        ("sub", "2xi32", "0", true, "same"),
        ("add", "2xi32", "0", true, "x"),
        ("mul", "2xi32", "0", true, "c"),
        ("and", "2xi32", "-1", false, "x"),
        ("and", "2xu8", "255", false, "x"),
        ("and", "2xi32", "0", false, "c"),
        ("or", "2xi32", "0", false, "x"),
        ("or", "2xu16", "65535", false, "c"),
        ("xor", "2xi8", "0", true, "x"),
        ("and", "2xbool", "true", false, "x"),
        ("and", "2xbool", "false", false, "c"),
        ("or", "2xbool", "true", true, "c"),
        ("or", "2xbool", "false", true, "x"),
        ("shift_left", "2xi32", "0", false, "x"),
        ("shift_left", "2xi32", "0", true, "same"),
        ("max", "2xbool", "false", false, "x"),
        ("min", "2xbool", "false", false, "c"),
        ("mul", "BxBxf32", "1.0", false, "x"),
        ("pow", "2xf32", "1.0", false, "same"), // what pow(NaN, 1) is, is the backend's
    ] {
        with_constant(op, ty, value, left, want);
    }
}

#[test]
fn element_wise() {
    let unary = |a: &str, b: &str, ty: &str| {
        format!("  %0 = evoxc.{a}(%x) : tensor<{ty}>\n  %r = evoxc.{b}(%0) : tensor<{ty}>")
    };
    becomes("2xf32", &unary("neg", "neg", "2xf32"), "2xf32", "%r", "", "%x");
    becomes("2xi8", &unary("not", "not", "2xi8"), "2xi8", "%r", "", "%x");
    becomes("2xc64", &unary("conj", "conj", "2xc64"), "2xc64", "%r", "", "%x");
    let abs = "  %r = evoxc.abs(%x) : tensor<2xf32>";
    becomes("2xf32", &unary("neg", "abs", "2xf32"), "2xf32", "%r", abs, "%r");
    becomes("2xf32", &unary("abs", "abs", "2xf32"), "2xf32", "%r", abs, "%r");
    let complex =
        |part: &str| format!("  %0 = evoxc.complex(%x, %y) : tensor<2xc64>\n  %r = evoxc.{part}(%0) : tensor<2xf32>");
    becomes("2xf32", &complex("real"), "2xf32", "%r", "", "%x");
    becomes("2xf32", &complex("imag"), "2xf32", "%r", "", "%y");
    let zero = constant("z", "2xf32", "0.0");
    becomes("2xf32", "  %r = evoxc.imag(%x) : tensor<2xf32>", "2xf32", "%r", &zero, "%z");
    becomes("2xi32", "  %r = evoxc.and(%x, %x) : tensor<2xi32>", "2xi32", "%r", "", "%x");
    let zero = constant("z", "2xi32", "0");
    becomes("2xi32", "  %r = evoxc.sub(%x, %x) : tensor<2xi32>", "2xi32", "%r", &zero, "%z");
    let cmp = |ty: &str| {
        format!("  %r = evoxc.compare(%x, %x) {{direction = le, order = ieee}} : tensor<2x{ty}>").replace(ty, "bool")
    };
    becomes("2xi32", &cmp("i32"), "2xbool", "%r", &constant("t", "2xbool", "true"), "%t");
    // NaN is not <= NaN.
    becomes("2xf32", &cmp("f32"), "2xbool", "%r", &cmp("f32"), "%r");
}

#[test]
fn selections() {
    let select = |p: &str, a: &str| format!("{p}  %r = evoxc.select(%p, {a}, %y) : tensor<2xf32>");
    let on = constant("p", "bool", "true").replace("splat", "dense");
    becomes("2xf32", &select(&on, "%x"), "2xf32", "%r", "", "%x");
    becomes("2xf32", &select(&constant("p", "2xbool", "false"), "%x"), "2xf32", "%r", "", "%y");
    let cmp = "  %p = evoxc.compare(%x, %y) {direction = lt, order = ieee} : tensor<2xbool>\n";
    becomes("2xf32", &select(cmp, "%y"), "2xf32", "%r", "", "%y");
    let cmp = cmp.replace("%p", "%q");
    let not = format!("{cmp}  %p = evoxc.not(%q) : tensor<2xbool>\n");
    let swapped = format!("{cmp}  %r = evoxc.select(%q, %y, %x) : tensor<2xf32>");
    becomes("2xf32", &select(&not, "%x"), "2xf32", "%r", &swapped, "%r");
}

#[test]
fn movements() {
    let same = |op: &str, ty: &str| becomes(ty, &format!("  %r = evoxc.{op} : tensor<{ty}>"), ty, "%r", "", "%x");
    same("reshape(%x) {shape = [2, B]}", "2xBxf32");
    same("transpose(%x) {perm = [0, 1]}", "2xBxf32");
    same("broadcast_in_dim(%x) {shape = [2, B], dims = [0, 1]}", "2xBxf32");
    same("slice(%x) {start = [0, 0], limit = [2, B], stride = [1, 1]}", "2xBxf32");
    same("reverse(%x) {axes = [0]}", "1xBxf32");
    same("reverse(%x) {axes = []}", "2xBxf32");
    same("convert(%x) {dtype = f32}", "2xBxf32");
    same("concatenate(%x) {axis = 0}", "2xBxf32");
    let pad = "  %v = evoxc.constant() {value = dense<0.0> : tensor<f32>} : tensor<f32>\n  %r = evoxc.pad(%x, %v) {low = [0], high = [0], interior = [0]} : tensor<2xf32>";
    becomes("2xf32", pad, "2xf32", "%r", "", "%x");
    let reverse = "  %0 = evoxc.reverse(%x) {axes = [1]} : tensor<2x3xf32>\n  %r = evoxc.reverse(%0) {axes = [1]} : tensor<2x3xf32>";
    becomes("2x3xf32", reverse, "2x3xf32", "%r", "", "%x");
    // perm[i] = p[q[i]]: [1, 2, 0] after [1, 2, 0] is [2, 0, 1].
    let transpose = "  %0 = evoxc.transpose(%x) {perm = [1, 2, 0]} : tensor<3x4x2xf32>\n  %r = evoxc.transpose(%0) {perm = [1, 2, 0]} : tensor<4x2x3xf32>";
    let once = "  %r = evoxc.transpose(%x) {perm = [2, 0, 1]} : tensor<4x2x3xf32>";
    becomes("2x3x4xf32", transpose, "4x2x3xf32", "%r", once, "%r");
    let reshape = "  %0 = evoxc.reshape(%x) {shape = [6]} : tensor<6xf32>\n  %r = evoxc.reshape(%0) {shape = [3, 2]} : tensor<3x2xf32>";
    let once = "  %r = evoxc.reshape(%x) {shape = [3, 2]} : tensor<3x2xf32>";
    becomes("2x3xf32", reshape, "3x2xf32", "%r", once, "%r");
    let broadcast = "  %0 = evoxc.broadcast_in_dim(%x) {shape = [1, 2], dims = [1]} : tensor<1x2xf32>\n  %r = evoxc.broadcast_in_dim(%0) {shape = [2, 3, 5], dims = [2, 0]} : tensor<2x3x5xf32>";
    let once = "  %r = evoxc.broadcast_in_dim(%x) {shape = [2, 3, 5], dims = [0]} : tensor<2x3x5xf32>";
    becomes("2xf32", broadcast, "2x3x5xf32", "%r", once, "%r");
    let convert = "  %0 = evoxc.convert(%x) {dtype = u32} : tensor<2xu32>\n  %r = evoxc.convert(%0) {dtype = i16} : tensor<2xi16>";
    becomes("2xi16", convert, "2xi16", "%r", "", "%x");
    let narrow = convert.replace("u32", "i8");
    becomes("2xi16", &narrow, "2xi16", "%r", &narrow, "%r");
    let start = "  %i = evoxc.constant() {value = dense<1> : tensor<i32>} : tensor<i32>\n";
    let slice = format!("{start}  %r = evoxc.dynamic_slice(%x, %i) {{sizes = [4]}} : tensor<4xf32>");
    becomes("4xf32", &slice, "4xf32", "%r", "", "%x");
    let update = format!("{start}  %r = evoxc.dynamic_update_slice(%x, %y, %i) : tensor<4xf32>");
    becomes("4xf32", &update, "4xf32", "%r", "", "%y");
}

/// Folds `op` on dense constants; expectations from NumPy, which is noted where the IR's rule is another.
#[track_caller]
fn folds(constants: &[&str], op: &str, ty: &str, want: &str) {
    let mut body = String::new();
    for (name, c) in ["%a", "%b", "%c"].iter().zip(constants) {
        let t = c.split(" : ").nth(1).unwrap();
        body += &format!("  {name} = evoxc.constant() {{value = {c}}} : {t}\n");
    }
    body += &format!("  %r = evoxc.{op} : tensor<{ty}>");
    let new = format!("  %r = evoxc.constant() {{value = {want} : tensor<{ty}>}} : tensor<{ty}>");
    becomes("f32", &body, ty, "%r", if want == "same" { &body } else { &new }, "%r");
}

#[test]
fn folding_numbers() {
    let (a, b) = ("dense<[7, -7, 5]> : tensor<3xi32>", "dense<[2, 2, 0]> : tensor<3xi32>");
    folds(&[a, b], "add(%a, %b)", "3xi32", "dense<[9, -5, 5]>");
    folds(&[a, b], "div(%a, %b)", "3xi32", "dense<[3, -3, -1]>"); // truncates, by 0 gives -1
    folds(&[a, b], "rem(%a, %b)", "3xi32", "dense<[1, -1, 5]>"); // sign of lhs, by 0 gives lhs
    let min = "dense<[-128, 127]> : tensor<2xi8>";
    folds(&[min, "dense<[-1, 1]> : tensor<2xi8>"], "div(%a, %b)", "2xi8", "dense<[-128, 127]>");
    folds(&[min, "dense<[-1, 1]> : tensor<2xi8>"], "rem(%a, %b)", "2xi8", "dense<[0, 0]>");
    folds(&[min, "dense<[1, 1]> : tensor<2xi8>"], "add(%a, %b)", "2xi8", "dense<[-127, -128]>");
    folds(&[min, "dense<[8, -1]> : tensor<2xi8>"], "shift_left(%a, %b)", "2xi8", "dense<[0, 0]>");
    folds(&[min, "dense<[1, 1]> : tensor<2xi8>"], "shift_right_logical(%a, %b)", "2xi8", "dense<[64, 63]>");
    folds(&[min, "dense<[9, 9]> : tensor<2xi8>"], "shift_right_arithmetic(%a, %b)", "2xi8", "dense<[-1, 0]>");
    folds(&[min], "abs(%a)", "2xi8", "dense<[-128, 127]>");
    folds(&[min], "popcount(%a)", "2xi8", "dense<[1, 7]>");
    folds(&[min], "convert(%a) {dtype = u8}", "2xu8", "dense<[128, 127]>");
    let (x, y) = ("dense<[0.1, -0.0, 3.0]> : tensor<3xf32>", "dense<[0.2, 0.0, -4.0]> : tensor<3xf32>");
    folds(&[x, y], "add(%a, %b)", "3xf32", "dense<[0.3, 0.0, -1.0]>"); // np.float32(0.1) + np.float32(0.2)
    folds(&[x, y], "max(%a, %b)", "3xf32", "dense<[0.2, 0.0, 3.0]>");
    folds(&[x, y], "min(%a, %b)", "3xf32", "dense<[0.1, -0.0, -4.0]>");
    folds(&[x, y], "div(%a, %b)", "3xf32", "same"); // -0 / 0 is a NaN
    folds(&[x], "neg(%a)", "3xf32", "dense<[-0.1, 0.0, -3.0]>");
    folds(&[x], "exp(%a)", "3xf32", "same");
    folds(&[x, y], "compare(%a, %b) {direction = eq, order = ieee}", "3xbool", "dense<[false, true, false]>");
    folds(&[x, y], "compare(%a, %b) {direction = lt, order = total}", "3xbool", "dense<[true, true, false]>");
    let nan = "dense<[0x7FC00000, 1.0]> : tensor<2xf32>";
    folds(&[nan, nan], "compare(%a, %b) {direction = ne, order = ieee}", "2xbool", "dense<[true, false]>");
    folds(&[nan], "is_finite(%a)", "2xbool", "dense<[false, true]>");
    folds(&[nan], "convert(%a) {dtype = f64}", "2xf64", "same");
    folds(&["dense<[0.5, 2.0]> : tensor<2xf32>"], "convert(%a) {dtype = bf16}", "2xbf16", "dense<[0.5, 2.0]>");
    folds(&["dense<[0.1, 2.0]> : tensor<2xf32>"], "convert(%a) {dtype = bf16}", "2xbf16", "same");
    folds(&["dense<[2.7, -1e10]> : tensor<2xf32>"], "convert(%a) {dtype = i32}", "2xi32", "dense<[2, -2147483648]>");
    let p = "dense<[true, false]> : tensor<2xbool>";
    let two = ["dense<[1, 2]> : tensor<2xi32>", "dense<[3, 4]> : tensor<2xi32>"];
    folds(&[p, two[0], two[1]], "select(%a, %b, %c)", "2xi32", "dense<[1, 4]>");
    folds(&["splat<2> : tensor<2xi32>", two[1]], "mul(%a, %b)", "2xi32", "dense<[6, 8]>");
    folds(&["splat<2> : tensor<9999xi32>", "splat<3> : tensor<9999xi32>"], "mul(%a, %b)", "9999xi32", "splat<6>");
    folds(&["splat<2> : tensor<2xi32>"], "neg(%a)", "2xi32", "splat<-2>");
}

#[test]
fn folding_movements() {
    let m = "dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>";
    folds(&[m], "reshape(%a) {shape = [3, 2]}", "3x2xi32", "dense<[[1, 2], [3, 4], [5, 6]]>");
    folds(&[m], "transpose(%a) {perm = [1, 0]}", "3x2xi32", "dense<[[1, 4], [2, 5], [3, 6]]>");
    folds(&[m], "reverse(%a) {axes = [1]}", "2x3xi32", "dense<[[3, 2, 1], [6, 5, 4]]>");
    let slice = "slice(%a) {start = [0, 0], limit = [2, 3], stride = [1, 2]}";
    folds(&[m], slice, "2x2xi32", "dense<[[1, 3], [4, 6]]>");
    let row = "dense<[[1, 2]]> : tensor<1x2xi32>";
    let bc = "broadcast_in_dim(%a) {shape = [2, 3], dims = [1, 0]}";
    folds(&[row], bc, "2x3xi32", "dense<[[1, 1, 1], [2, 2, 2]]>");
    folds(&["dense<4> : tensor<i32>"], "broadcast_in_dim(%a) {shape = [2, 3], dims = []}", "2x3xi32", "splat<4>");
    let pad = "pad(%a, %b) {low = [1, -1], high = [0, 0], interior = [0, 1]}";
    // Row [1, 0, 2, 0, 3] without its first element, under a row of zeros.
    folds(&[m, "dense<0> : tensor<i32>"], pad, "3x4xi32", "dense<[[0, 0, 0, 0], [0, 2, 0, 3], [0, 5, 0, 6]]>");
    folds(
        &[m, row.replace("1x2", "1x3").replace("[1, 2]", "[7, 8, 9]").as_str()],
        "concatenate(%a, %b) {axis = 0}",
        "3x3xi32",
        "dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]>",
    );
    folds(
        &["dense<[[1], [2]]> : tensor<2x1xi32>", "splat<0> : tensor<2x2xi32>"],
        "concatenate(%a, %b) {axis = 1}",
        "2x3xi32",
        "dense<[[1, 0, 0], [2, 0, 0]]>",
    );
    folds(&["splat<1> : tensor<2000xi32>"], "reshape(%a) {shape = [20, 100]}", "20x100xi32", "splat<1>");
    folds(&[], "dim_size() {extent = 7, dtype = i32}", "i32", "dense<7>");
    // Symbolic extents: a splat of any size, but no slice whose bounds are checked at run time.
    let splat = constant("a", "Bxf32", "1.0");
    let ty = "B";
    let body = format!("{splat}  %r = evoxc.broadcast_in_dim(%a) {{shape = [2, B], dims = [1]}} : tensor<2xBxf32>");
    becomes(&format!("{ty}xf32"), &body, "2xBxf32", "%r", &constant("r", "2xBxf32", "1.0"), "%r");
    let body = format!("{splat}  %r = evoxc.slice(%a) {{start = [0], limit = [3], stride = [1]}} : tensor<3xf32>");
    becomes("Bxf32", &body, "3xf32", "%r", &body, "%r");
}

#[test]
fn equal_and_dead_ops() {
    let twice = "  %0 = evoxc.exp(%x) : tensor<2xf32>\n  %1 = evoxc.exp(%x) : tensor<2xf32>\n  %d = evoxc.log(%y) : tensor<2xf32>\n  %r = evoxc.add(%0, %1) : tensor<2xf32>";
    let once = "  %0 = evoxc.exp(%x) : tensor<2xf32>\n  %r = evoxc.add(%0, %0) : tensor<2xf32>";
    becomes("2xf32", twice, "2xf32", "%r", once, "%r");
    // Effects stay, both of them and in order; barriers are not merged.
    let effects = "  evoxc.print(%x) {label = \"a\"}\n  evoxc.print(%x) {label = \"a\"}\n  %a = evoxc.optimization_barrier(%x) : tensor<2xf32>\n  %b = evoxc.optimization_barrier(%x) : tensor<2xf32>\n  %r = evoxc.add(%a, %b) : tensor<2xf32>";
    becomes("2xf32", effects, "2xf32", "%r", effects, "%r");
    // -0 and 0 are two constants.
    let zeros = format!(
        "{}{}  %r = evoxc.sub(%a, %x) : tensor<2xf32>\n  %s = evoxc.sub(%b, %x) : tensor<2xf32>\n  %t = evoxc.add(%r, %s) : tensor<2xf32>",
        constant("a", "2xf32", "0.0"),
        constant("b", "2xf32", "-0.0")
    );
    becomes("2xf32", &zeros, "2xf32", "%t", &zeros, "%t");
}

fn cond(result: &str, then: &str, otherwise: &str) -> String {
    format!(
        "  {result} = evoxc.cond(%p) : tensor<f32> {{\n    then() {{\n{then}\n    }}\n    else() {{\n{otherwise}\n    }}\n  }}\n"
    )
}
fn with_pred(body: &str, result: &str) -> Module {
    parse(&format!("func @f(%p: tensor<bool>, %x: tensor<f32>) -> tensor<f32> {{\n{body}  return {result}\n}}"))
}

#[test]
fn regions() {
    let exp = |v: &str| format!("      {v} = evoxc.exp(%x) : tensor<f32>\n      yield {v}");
    let neg = |v: &str| format!("      {v} = evoxc.neg(%x) : tensor<f32>\n      yield {v}");
    // Equal regions up to the numbering inside; an op inside equals one outside, but not one of another region.
    let two = cond("%a", &exp("%0"), &neg("%1"))
        + &cond("%b", &exp("%2"), &neg("%3"))
        + "  %r = evoxc.add(%a, %b) : tensor<f32>\n";
    let one = cond("%a", &exp("%0"), &neg("%1")) + "  %r = evoxc.add(%a, %a) : tensor<f32>\n";
    assert_eq!(simple(&with_pred(&two, "%r")), with_pred(&one, "%r"));
    let inside = cond("%a", &exp("%0"), &exp("%1"))
        + "  %2 = evoxc.exp(%x) : tensor<f32>\n  %r = evoxc.add(%a, %2) : tensor<f32>\n";
    assert_eq!(simple(&with_pred(&inside, "%r")), with_pred(&inside, "%r"));
    let outside = "  %2 = evoxc.exp(%x) : tensor<f32>\n".to_string()
        + &cond("%a", &exp("%0"), &neg("%1"))
        + "  %r = evoxc.add(%a, %2) : tensor<f32>\n";
    let shared = "  %2 = evoxc.exp(%x) : tensor<f32>\n".to_string()
        + &cond("%a", "      yield %2", &neg("%1"))
        + "  %r = evoxc.add(%a, %2) : tensor<f32>\n";
    assert_eq!(simple(&with_pred(&outside, "%r")), with_pred(&shared, "%r"));
    // Dead inside, dead as a whole, and an effect inside.
    let dead = cond("%a", &format!("      %z = evoxc.log(%x) : tensor<f32>\n{}", exp("%0")), &neg("%1"));
    assert_eq!(simple(&with_pred(&dead, "%a")), with_pred(&cond("%a", &exp("%0"), &neg("%1")), "%a"));
    assert_eq!(simple(&with_pred(&dead, "%x")), with_pred("", "%x"));
    let print = cond("%a", &format!("      evoxc.print(%x) {{label = \"t\"}}\n{}", exp("%0")), &neg("%1"));
    assert_eq!(simple(&with_pred(&print, "%x")), with_pred(&print, "%x"));
    // A constant choice.
    let p = "  %q = evoxc.constant() {value = dense<false> : tensor<bool>} : tensor<bool>\n".to_string();
    let chosen = p + &cond("%a", &exp("%0"), &neg("%1")).replace("%p", "%q");
    assert_eq!(simple(&with_pred(&chosen, "%a")), with_pred("  %a = evoxc.neg(%x) : tensor<f32>\n", "%a"));
}

#[test]
fn calls_have_the_effects_of_their_function() {
    let f = |callee: &str| {
        parse(&format!(
            "func @f(%x: tensor<f32>) -> () {{\n  %a = evoxc.call(%x) {{callee = @{callee}}} : tensor<f32>\n  return\n}}\nfunc @pure(%x: tensor<f32>) -> tensor<f32> {{\n  return %x\n}}\nfunc @loud(%x: tensor<f32>) -> tensor<f32> {{\n  %b = evoxc.call(%x) {{callee = @louder}} : tensor<f32>\n  return %x\n}}\nfunc @louder(%x: tensor<f32>) -> tensor<f32> {{\n  evoxc.print(%x) {{label = \"x\"}}\n  return %x\n}}"
        ))
    };
    assert_eq!(simple(&f("loud")), f("loud"));
    assert!(simple(&f("pure")).funcs[0].body.ops.is_empty());
}

#[test]
fn names_and_locations_stay() {
    let mut m = parse(&func(
        "f32",
        "  %0 = evoxc.exp(%x) : tensor<f32>\n  %loss = evoxc.reshape(%0) {shape = []} : tensor<f32>",
        "f32",
        "%loss",
    ));
    m.funcs[0].body.ops[0].loc = Some(Loc::new("main.rs", 3, 7));
    let s = simple(&m);
    let body = &s.funcs[0].body;
    assert_eq!(body.ops[0].loc, Some(Loc::new("main.rs", 3, 7)));
    assert_eq!(s.funcs[0].values[body.results[0].index()].name.as_deref(), Some("loss"));
}

#[test]
fn the_sample_keeps_its_structure() {
    let s = simple(&sample());
    assert_eq!(s.funcs.len(), 2);
    assert!(s.funcs[0].body.ops.iter().any(|op| matches!(op.prim, Prim::Print { .. })));
}

#[test]
fn a_module_that_does_not_verify_comes_back() {
    let mut m = sample();
    m.funcs[0].body.results.push(Value(u32::MAX));
    assert_eq!(simplify(&m).to_string(), m.to_string());
}

/// A chain of `n` ops that `prims` gives, on one scalar or square matrix.
fn chain(n: usize, prims: &[Prim]) -> Module {
    let mut f = Func::new("f");
    let mut v = f.value(spec(F32, [2, 2]), None);
    f.body.args.push(v);
    for i in 0..n {
        let r = f.value(spec(F32, [2, 2]), None);
        f.body.ops.push(Op {
            prim: prims[i % prims.len()].clone(),
            operands: [v].into_iter().collect(),
            results: [r].into_iter().collect(),
            regions: vec![],
            loc: None,
        });
        v = r;
    }
    f.body.results.push(v);
    Module { name: "m".into(), funcs: vec![f], ..Module::default() }
}

#[test]
fn deep_chains() {
    let ops = |m: Module| simplify(&m).funcs[0].body.ops.len();
    assert_eq!(ops(chain(10_000, &[Prim::Unary(Unary::Neg)])), 0);
    assert_eq!(ops(chain(10_001, &[Prim::Transpose { perm: vec![1, 0] }])), 1);
    assert_eq!(ops(chain(10_000, &[Prim::Unary(Unary::Exp), Prim::Unary(Unary::Neg)])), 10_000);
    let mut dead = chain(10_000, &[Prim::Unary(Unary::Exp)]);
    dead.funcs[0].body.results = vec![Value(0)];
    assert_eq!(ops(dead), 0);
}

/// Twice as many ops take about twice the time; the bound leaves room for a busy machine.
#[test]
fn time_is_near_linear() {
    let time = |n: usize| {
        let m = chain(n, &[Prim::Unary(Unary::Exp), Prim::Unary(Unary::Neg)]);
        let start = std::time::Instant::now();
        let s = simplify(&m);
        assert_eq!(s.funcs[0].body.ops.len(), n);
        start.elapsed().as_secs_f64()
    };
    let small = (0..3).map(|_| time(5_000)).fold(f64::INFINITY, f64::min);
    let large = (0..3).map(|_| time(40_000)).fold(f64::INFINITY, f64::min);
    assert!(large < small * 8.0 * 6.0 + 0.05, "{small} s for 5,000 ops, {large} s for 40,000");
}

#[test]
fn rules_have_names() {
    let mut all = names();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), names().len());
}
