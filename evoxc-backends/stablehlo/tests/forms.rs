//! Pretty forms against generic ones: each file of `forms/` holds a module twice, as MLIR (of jaxlib 0.10.2) prints it
//! pretty and in generic form, and both must be read as the same tree.

use evoxc_stablehlo::syntax::ast::{Attr, Module, NamedAttr, Region};
use evoxc_stablehlo::syntax::{dense, parse};
use std::fmt::Write;
use std::path::Path;

/// An attribute, however it was written: lists of integers are one, whether arrays or dense.
fn attr(a: &Attr<'_>, text: &str) -> String {
    if let Attr::Dense(d) = a {
        return match dense::integers(a, text).unwrap() {
            Some(all) => format!("{all:?}"),
            None => format!("{} {}", dense::decode(d, text).unwrap(), d.ty),
        };
    }
    match a {
        Attr::Array(all) => match dense::integers(a, text).unwrap() {
            Some(all) => format!("{all:?}"),
            None => format!("[{}]", all.iter().map(|a| attr(a, text)).collect::<Vec<_>>().join(", ")),
        },
        Attr::Dict(all) => named(all, text),
        Attr::Record(name, all) => format!("{name}{}", named(all, text)),
        Attr::Type(t) => t.to_string(),
        other => format!("{other:?}"),
    }
}

fn named(all: &[NamedAttr<'_>], text: &str) -> String {
    let mut all: Vec<_> = all.iter().map(|(n, a)| format!("{n} = {}", attr(a, text))).collect();
    // An empty list in a record is as good as none; segments are written by the generic form only.
    // Shardings and meshes are verbatim.
    let same = |a: &str| {
        !a.ends_with("dimensions = []")
            && !a.contains("SegmentSizes")
            && !a.starts_with("sdy.mesh")
            && !a.starts_with("sharding = ")
    };
    all.retain(|a| same(a));
    all.sort();
    format!("{{{}}}", all.join(", "))
}

fn region(r: &Region<'_>, text: &str, types: &dyn Fn(u32) -> String, out: &mut String) {
    let list = |all: &[evoxc_stablehlo::syntax::ast::Value]| {
        all.iter().map(|v| format!("{}: {}", v.0, types(v.0))).collect::<Vec<_>>().join(", ")
    };
    writeln!(out, "({}) {{", list(&r.args)).unwrap();
    for op in &r.ops {
        let attrs = named(&op.attrs, text);
        writeln!(out, "{} = {}({}) {attrs} {:?}", list(&op.results), op.name, list(&op.operands), op.loc).unwrap();
        op.regions.iter().for_each(|r| region(r, text, types, out));
    }
    out.push_str("}\n");
}

fn shown(m: &Module<'_>, text: &str) -> String {
    let mut out = format!("module {:?} {}\n", m.name, named(&m.attrs, text));
    for f in &m.funcs {
        let results: Vec<_> = f.results.iter().map(ToString::to_string).collect();
        let attrs = |all: &[Vec<NamedAttr<'_>>]| all.iter().map(|a| named(a, text)).collect::<Vec<_>>().join(", ");
        let (args, outs) = (attrs(&f.arg_attrs), attrs(&f.result_attrs));
        writeln!(out, "func {} {} {results:?} [{args}] [{outs}] {}", f.name, f.public, named(&f.attrs, text)).unwrap();
        if let Some(body) = &f.body {
            region(body, text, &|v| f.values[v as usize].ty.to_string(), &mut out);
        }
    }
    out
}

#[test]
fn pretty_and_generic_forms_are_one_tree() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/forms");
    let dir = std::env::var_os("EVOXC_FORMS").map_or(dir, Into::into);
    let mut files = 0;
    for path in std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()) {
        let both = std::fs::read_to_string(&path).unwrap();
        let (pretty, generic) = both.split_once("// ---- generic").unwrap();
        let read = |text| parse(text).unwrap_or_else(|e| panic!("{}: {e:?}", path.display()));
        let (a, b) = (shown(&read(pretty), pretty), shown(&read(generic), generic));
        for (a, b) in a.lines().zip(b.lines()) {
            assert_eq!(a, b, "{}", path.display());
        }
        assert_eq!(a.len(), b.len(), "{}", path.display());
        files += 1;
    }
    assert!(files > 0);
}
