//! Texts made to break a reader: they give typed errors, in linear time and on a thread's usual stack. Mutations of good
//! texts never panic.

use evoxc::Error;
use evoxc_stablehlo::syntax::ast::{Attr, Region};
use evoxc_stablehlo::syntax::{dense, parse, split};

fn body(ops: &str) -> String {
    format!("func.func @f(%x: tensor<2xf32>) {{\n{ops}\nreturn\n}}")
}

fn with_attr(attr: &str) -> String {
    body(&format!("\"a.b\"() {{a = {attr}}} : () -> ()"))
}

fn nested(open: &str, middle: &str, close: &str, n: usize) -> String {
    format!("{}{middle}{}", open.repeat(n), close.repeat(n))
}

/// The text is refused with a message, wherever it is that it breaks.
#[track_caller]
fn refused(text: &str, expected: &str) {
    match parse(text) {
        Err(Error::Parse(e)) => {
            assert!(e.message.contains(expected), "{:.200}: {}", text, e.message);
            assert!(e.line > 0 && e.column > 0, "{e:?}");
        }
        Err(e) => panic!("{e:?}"),
        Ok(_) => panic!("{text:.200}: read, though it should not be"),
    }
}

#[test]
fn deep_nesting_is_refused_or_read_without_recursion() {
    const N: usize = 200_000;
    let deep = "deeper than 64 levels";
    refused(&body(&nested("\"a.b\"() ({ ", "", " }) : () -> ()", N)), deep);
    refused(&body(&nested("stablehlo.while() cond { ", "", " } do { }", N)), deep);
    refused(&with_attr(&nested("[", "", "]", N)), deep);
    refused(&with_attr(&nested("{a = ", "1", "}", N)), deep);
    refused(&with_attr(&nested("tuple<", "i32", ">", N)), deep);
    refused(&with_attr(&nested("(", "i32", ") -> i32", N)), deep);
    refused(&with_attr(&nested("() -> (", "i32", ")", N)), deep);
    refused(&with_attr(&nested("tensor<complex<", "f32", ">>", N)), "");
    refused(&with_attr(&nested("complex<", "f32", ">", N)), deep);
    refused(&with_attr(&nested("tensor<2xf32, ", "1", ">", N)), deep);
    refused(&with_attr(&nested("#stablehlo.x<a = ", "1", ">", N)), deep);
    refused(&with_attr(&nested("dense<[", "1", "", N)), "");
    refused(&nested("\"builtin.module\"() ({ ", "", "", N), "end of the module");
    refused(&nested("module { ", "", "", N), "end of the module");
    refused(&format!("{{-# {}", "a: {".repeat(N)), "");
    // Those of no depth of their own are read.
    parse(&nested("module { ", "", "}", N)).unwrap();
    parse(&body(&format!("\"a.b\"() : () -> () loc({})", nested("callsite(", "unknown", " at unknown)", N)))).unwrap();
    parse(&with_attr(&format!("tensor<{}f32>", "1x".repeat(1024)))).unwrap();
    refused(&with_attr(&format!("tensor<{}f32>", "1x".repeat(N))), "at most 1024 axes");
    let text = body(&format!("%0 = stablehlo.constant dense<{}> : tensor<1xf32>", nested("[", "1.0", "]", N)));
    let m = parse(&text).unwrap();
    let Attr::Dense(d) = &m.funcs[0].body.as_ref().unwrap().ops[0].attrs[0].1 else { panic!() };
    assert!(dense::decode(d, &text).unwrap_err().to_string().contains("lists nest deeper"));
}

#[test]
fn all_levels_that_are_allowed_fit_a_small_stack() {
    // Each level of a region, with the deepest attribute in the last.
    let attr = nested("[", "1", "]", 60);
    let inner = format!("\"a.b\"() {{a = {attr}}} : () -> ()");
    let text = body(&nested("\"a.b\"() ({ ", &inner, " }) : () -> ()", 63));
    let read = std::thread::Builder::new().stack_size(1 << 20).spawn(move || parse(&text).is_ok());
    assert!(read.unwrap().join().unwrap());
}

#[test]
fn aliases_that_grow_are_refused() {
    let doubling = |first: &str, sigil: char, twice: &dyn Fn(usize) -> String| {
        let mut text = first.to_string();
        for i in 1..60 {
            text += &format!("{sigil}a{i} = {}\n", twice(i - 1));
        }
        text
    };
    refused(&doubling("!a0 = tuple<i32>\n", '!', &|i| format!("tuple<!a{i}, !a{i}>")), "far more than the text");
    refused(&doubling("#a0 = [1]\n", '#', &|i| format!("[#a{i}, #a{i}]")), "far more than the text");
    let mut chain = "#a0 = [1]\n".to_string();
    for i in 1..1000 {
        chain += &format!("#a{i} = [#a{}]\n", i - 1);
    }
    refused(&chain, "deeper than 64 levels");
    // A ring of locations, and a chain of very many.
    let mut chain = format!("{}\n#loc0 = loc(\"f.py\":1:2)\n", body("\"a.b\"() : () -> () loc(#loc99999)"));
    for i in 1..100_000 {
        chain += &format!("#loc{i} = loc(callsite(#loc{} at unknown))\n", i - 1);
    }
    let m = parse(&chain).unwrap();
    assert_eq!(m.funcs[0].body.as_ref().unwrap().ops[0].loc.as_ref().map(|l| l.line), Some(1));
}

#[test]
fn broken_texts_are_refused() {
    for (text, expected) in [
        ("", None),
        ("// only a comment", None),
        ("\u{feff}module {}", Some("expected a module")),
        ("module", Some("`{`")),
        ("module @", Some("a name after `@`")),
        ("module {", Some("end of the module")),
        ("module }", Some("`{`")),
        ("}", Some("expected a module")),
        ("nonsense", Some("expected a module")),
        ("\0", Some("expected a module")),
        ("ü", Some("expected a module")),
        ("func.func @f(", Some("expected")),
        ("func.func @f() {", Some("expected an op")),
        ("func.func @f() { // return }", Some("expected an op")),
        ("func.func @f(tensor<f32>) { return }", Some("arguments without names")),
        ("func.func @f(%x: tensor<f32>, %x: tensor<f32>)", Some("`%x` is defined already")),
        ("func.func @f()\nfunc.func @f()", Some("@f is defined already")),
        ("#a = 1\n#a = 2", Some("`#a` is defined already")),
        ("!a = i32\n!a = i32", Some("`!a` is defined already")),
        ("#a = loc(\"", Some("no closing")),
        ("#a = \"x\ny\"", Some("no closing")),
        ("#a = \"\\q\"", Some("an escape is")),
        ("#a = \"\\", Some("no closing")),
        ("#a = dense<1", Some("no closing `>`")),
        ("#a = dense<\"0x", Some("no closing")),
        ("#a = dense<1>", Some("`:`")),
        ("#a = dense<1> : i32", Some("of a tensor type")),
        ("#a = dense_resource<", Some("name of a resource")),
        ("#a = dense_resource<b> : tensor<f32>", None),
        ("#a = affine_map<", Some("never closed")),
        ("#a = loc(", Some("never closed")),
        ("#a = 340282366920938463463374607431768211456", Some("too large")),
        ("#a = array<i64: 1, x>", Some("expected an integer")),
        ("#a = tensor<99999999999999999999xf32>", Some("too large")),
        ("#a = tensor<2x>", Some("an element type")),
        ("#a = tensor<2 f32>", Some("`x`")),
        ("#a = tensor<-1xf32>", Some("expected an extent")),
        ("#a = tensor<2x2xf32, #stablehlo.bounds<1>>", Some("1 bounds")),
        ("#a = #stablehlo<comparison_direction", Some("never closed")),
        ("{-#", Some("`#-}`")),
        ("{-# dialect_resources: { builtin: { a: \"0x\" } #-}", Some("`}` before")),
        ("{-# a: { b: \"\\01\" } #-}", Some("no hex string")),
    ] {
        match expected {
            None => drop(parse(text).unwrap_or_else(|e| panic!("{text}: {e:?}"))),
            Some(expected) => refused(text, expected),
        }
    }
    refused(&body("%0:99999999999999999999999999999999999999999999 = \"a.b\"() : () -> ()"), "too large");
    refused(&body("%0:4294967296 = \"a.b\"() : () -> ()"), "has 0 results");
    refused(&body("%0:-1 = \"a.b\"() : () -> ()"), "no number of results");
    refused(&body("%0 = stablehlo.add %x"), "`:`");
    refused(&body("%0 = stablehlo.reduce(%x init: %x"), "`)`");
    refused(&body("stablehlo.while(%a = %x) : tensor<2xf32> cond { ^bb0: } do { }"), "several blocks");
    refused(&body("%0 = stablehlo.reduce applies stablehlo.add across dimensions = [] : () -> ()"), "a tensor operand");
    // Empty of ops is the reader's right; what it means is not its to say.
    parse("func.func @f() {}").unwrap();
}

fn constants(region: &Region<'_>, text: &str) {
    for op in &region.ops {
        for (_, attr) in &op.attrs {
            if let Attr::Dense(d) = attr {
                let _ = dense::read(d, text);
            }
        }
        op.regions.iter().for_each(|r| constants(r, text));
    }
}

#[test]
fn mutated_texts_never_panic() {
    // Each op of the fixture alone, behind the function's first line, then some of its neighbours.
    let all = include_str!("forms/every_op.mlir");
    let mut seeds = vec![];
    for half in all.split("// ---- generic") {
        let lines: Vec<&str> = half.lines().collect();
        let start = lines.iter().position(|l| l.contains("@f(") || l.contains("\"f\"")).unwrap();
        let head =
            lines[start..].iter().take_while(|l| !l.contains("stablehlo.")).copied().collect::<Vec<_>>().join("\n");
        for (i, _) in lines.iter().enumerate().skip(start + 2).filter(|(_, l)| l.contains("lo.")) {
            seeds.push(format!("{head}\n{}\n}}", lines[i..(i + 6).min(lines.len())].join("\n")));
        }
    }
    seeds.push(include_str!("forms/jax_shard.mlir").to_string());
    seeds.push(
        "{-# dialect_resources: { builtin: { a: \"0x0400000001\" } } #-}\n#a = dense_resource<a> : tensor<1xi8>".into(),
    );
    let tokens: &[&[u8]] = &[
        b"(",
        b")",
        b"{",
        b"}",
        b"[",
        b"]",
        b"<",
        b">",
        b"\"",
        b"//",
        b",",
        b":",
        b"=",
        b"->",
        b"%0",
        b"#",
        b"@",
        b"!",
        b"?",
        b"-",
        b"0x",
        b"999999999999999999999999",
        b"dense<",
        b"loc(",
        b"^bb0",
        b"\\",
        b"tensor<",
        b"\xff",
        b"{-#",
        b" ",
    ];
    let mut state = 7u64;
    let mut random = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n.max(1)
    };
    let mut read = 0;
    for round in 0..40 {
        for seed in &seeds {
            let mut bytes = seed.clone().into_bytes();
            for _ in 0..=round % 4 {
                let at = random(bytes.len());
                let end = (at + random(12)).min(bytes.len());
                match random(5) {
                    0 => drop(bytes.drain(at..end)),
                    1 => {
                        let piece = bytes[at..end].to_vec();
                        let to = random(bytes.len());
                        bytes.splice(to..to, piece);
                    }
                    2 => drop(bytes.splice(at..end, tokens[random(tokens.len())].iter().copied())),
                    3 => drop(bytes.splice(at..at, tokens[random(tokens.len())].iter().copied())),
                    _ if random(4) == 0 => bytes.truncate(at),
                    _ => bytes.swap(at, end.saturating_sub(1)),
                }
            }
            let text = String::from_utf8_lossy(&bytes);
            for chunk in split(&text) {
                match parse(chunk.text) {
                    Ok(m) => {
                        read += 1;
                        m.funcs.iter().filter_map(|f| f.body.as_ref()).for_each(|b| constants(b, chunk.text));
                    }
                    Err(e) => drop(format!("{e} {e:?}")),
                }
            }
        }
    }
    // Some mutations do no harm; if none did, the seeds would be no good.
    assert!(read > 0);
}

#[test]
fn a_hundred_thousand_ops_are_read() {
    let mut ops = String::new();
    for i in 0..100_000 {
        let before = if i == 0 { "x".into() } else { format!("{}", i - 1) };
        ops += &format!("    %{i} = stablehlo.add %{before}, %x {{k = 1 : i64}} : tensor<2xf32> loc(#loc{i})\n");
    }
    let mut text = body(&ops);
    for i in 0..100_000 {
        text += &format!("\n#loc{i} = loc(\"f.py\":{i}:1)");
    }
    let m = parse(&text).unwrap();
    let ops = &m.funcs[0].body.as_ref().unwrap().ops;
    assert_eq!(ops.len(), 100_001);
    assert_eq!(ops[99_999].loc.as_ref().map(|l| l.line), Some(99_999));
}

#[test]
fn large_constants_stay_in_the_text() {
    let n = 1 << 19;
    let hex = format!("\"0x{}\"", "0000803F".repeat(n));
    let list = format!("[{}1.0]", "1.0, ".repeat(n - 1));
    for elements in [hex, list] {
        let text = body(&format!("%0 = stablehlo.constant dense<{elements}> : tensor<{n}xf32>"));
        let m = parse(&text).unwrap();
        let Attr::Dense(d) = &m.funcs[0].body.as_ref().unwrap().ops[0].attrs[0].1 else { panic!() };
        let t = dense::decode(d, &text).unwrap();
        assert!(t.len() == n && t.as_slice::<f32>().unwrap().iter().all(|&x| x == 1.0));
    }
}
