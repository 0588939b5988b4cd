//! `.evoxcgraph` files: what they hold, and what is refused.

use evoxc_core::{DType, Error, Loc, PersistenceError, Tensor, TreeDef, spec};
use evoxc_ir::{Func, GraphFile, Literal, Module, Op, Prim};

fn op(f: &mut Func, t: &Tensor) -> evoxc_ir::Value {
    let v = f.value(t.spec(), None);
    let prim = Prim::Constant { value: Literal::Dense(t.clone()) };
    let loc = Some(Loc::new("/opt/registry/src/dep-1.0/src/lib.rs", 3, 4));
    f.body.ops.push(Op {
        prim,
        operands: Default::default(),
        results: [v].into_iter().collect(),
        regions: vec![],
        loc,
    });
    v
}

/// Two uses of one large constant, and a small one.
fn example() -> GraphFile {
    let mut f = Func::new("main");
    let x = f.value(spec(DType::F32, [2]), Some("x".into()));
    f.body.args.push(x);
    let large = Tensor::from((0..40).map(|i| i as f32).collect::<Vec<_>>());
    let a = op(&mut f, &large);
    let b = op(&mut f, &large);
    let c = op(&mut f, &Tensor::from(vec![1.5f32]));
    f.body.results = vec![a, b, c];
    let module = Module { name: "main".into(), funcs: vec![f], statics: vec![("k".into(), "3".into())], notes: vec![] };
    GraphFile { module, inputs: TreeDef::leaf(), outputs: TreeDef::leaves_tuple(3), captures: 0 }
}

#[test]
fn files_come_back() {
    let file = example();
    let path = std::env::temp_dir().join(format!("evoxc-container-{}.evoxcgraph", std::process::id()));
    file.save(&path).unwrap();
    let back = GraphFile::load(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(back.module, file.module);
    assert_eq!(back.module.statics, file.module.statics);
    assert_eq!((back.inputs, back.outputs, back.captures), (file.inputs, file.outputs, file.captures));
    // Shared constants stay shared.
    let storage = |op: &Op| match &op.prim {
        Prim::Constant { value } => value.tensor().shared().clone(),
        other => panic!("{other:?}"),
    };
    let ops = &back.module.funcs[0].body.ops;
    assert!(std::sync::Arc::ptr_eq(&storage(&ops[0]), &storage(&ops[1])));
    assert_eq!(ops[0].loc.map(|l| l.to_string()).as_deref(), Some("dep-1.0/src/lib.rs:3:4"));
}

#[test]
fn large_constants_stand_apart() {
    let json = example().to_json().unwrap();
    assert_eq!(json.matches("const<0> : tensor<40xf32>").count(), 2);
    assert!(json.contains("dense<[1.5]> : tensor<1xf32>"));
    // 0.0 and 1.0 in little-endian binary32, base64: 00 00 00 00 00 00 80 3F.
    assert!(json.contains("\"data\": \"AAAAAAAAgD8"), "{json}");
    assert!(!json.contains("/opt/registry"));
}

#[test]
fn other_files_are_refused() {
    let json = example().to_json().unwrap();
    let refused = |text: &str| GraphFile::from_json(text).map(|_| ()).unwrap_err();
    assert!(matches!(
        refused(&json.replace("\"version\": 1", "\"version\": 2")),
        Error::Persistence(PersistenceError::Mismatch { field: "version", .. })
    ));
    assert!(matches!(
        refused(&json.replace("evoxc.graph", "evoxc.artifact")),
        Error::Persistence(PersistenceError::Mismatch { field: "format", .. })
    ));
    for (from, to) in [
        ("AAAAAAAAgD8", "AAAAAAAAgD"),
        ("\"dtype\": \"f32\"", "\"dtype\": \"bool\""),
        ("\n        40", "\n        4000000000000"),
        ("\"captures\": 0", "\"captures\": 18446744073709551615"),
        ("\"captures\": 0", "\"captures\": 1"),
        ("\"inputs\": [", "\"inputs\": [\"Leaf\","),
    ] {
        assert!(json.contains(from), "{from}");
        let e = refused(&json.replacen(from, to, 1));
        assert!(matches!(e, Error::Persistence(PersistenceError::Format { .. })), "{from}: {e}");
    }
    assert!(matches!(refused(&json.replace("const<0>", "const<1>")), Error::Parse(_)));
    assert!(matches!(
        refused(&json.replace("const<0> : tensor<40xf32>", "const<0> : tensor<4x10xf32>")),
        Error::Parse(_)
    ));
    for end in (0..json.len() - 1).step_by(7) {
        refused(&json[..end]);
    }
    assert!(matches!(GraphFile::load("/nonexistent/f.evoxcgraph"), Err(Error::Io { .. })));
    assert!(matches!(example().save("/nonexistent/f.evoxcgraph"), Err(Error::Io { .. })));
}

#[test]
fn dot_is_escaped() {
    let m = Module::parse("func @\"a\\\"b\"(%p: tensor<bool>) -> () {\nevoxc.cond(%p) {\nthen() {\nevoxc.print(%p) {label = \"q\\\"\\\\\"}\nyield\n}\nelse() {\nyield\n}\n}\nreturn\n}").unwrap();
    let dot = m.to_dot();
    assert!(dot.contains("label=\"@a\\\"b\""), "{dot}");
    assert!(dot.contains("label=\"cond then\"") && dot.contains("label=\"%p: tensor<bool>\""), "{dot}");
    assert!(dot.contains("print\\nlabel = \\\"q\\\\\\\"\\\\\\\\\\\""), "{dot}");
    // Braces balance, quotes close.
    assert_eq!(dot.matches('{').count(), dot.matches('}').count());
}
