//! Errors: one line each, reports with source and caret, and conversions.

use evoxc_core::{
    BackendError, Error, IrError, Loc, OpError, ParseError, Result, RunError, TraceErrors, TransformError, TreeError,
};

fn op() -> OpError {
    OpError::new("dot", "the contracted extents differ")
        .operands(["tensor<2x3xf32>", "tensor<4x2xf32>"])
        .remedy("transpose one of them")
}

#[test]
fn one_line_says_op_operands_and_remedy() {
    let text = "dot: the contracted extents differ (tensor<2x3xf32>, tensor<4x2xf32>); transpose one of them";
    assert_eq!(op().to_string(), text);
    let e: Error = BackendError { backend: "native".into(), op: op() }.into();
    assert_eq!(e.to_string(), format!("backend native: {text}"));
    let e: Error = TransformError { transform: "grad".into(), op: op() }.into();
    assert_eq!(e.to_string(), format!("grad: {text}"));
    let e: Error = IrError { function: "main".into(), index: Some(0), op: op() }.into();
    assert_eq!(e.to_string(), format!("function @main: {text}"));
    let e: Error = RunError::Op(Box::new(op())).into();
    assert_eq!(e.to_string(), text);
    let e: Error = TraceErrors { errors: vec![op(), op()] }.into();
    assert_eq!(e.to_string(), format!("{text}\n{text}"));
    let e: Error = TreeError { path: "w".into(), expected: "a".into(), got: "b".into() }.into();
    assert_eq!(e.to_string(), "w: expected a, got b");
}

#[test]
fn reports_show_the_source() {
    let place = std::env::temp_dir().join(format!("evoxc-core-error-{}.rs", std::process::id()));
    std::fs::write(&place, "fn f() {\n    let é = x.dot(w);\n}\n").unwrap();
    let at = |line, column| Some(Loc::new(place.to_str().unwrap(), line, column));
    let report = |loc| Error::from(TraceErrors { errors: vec![op().at(loc)] }).render();
    let text = report(at(2, 15));
    let caret = text.lines().find(|l| l.contains('^')).unwrap();
    let source = text.lines().find(|l| l.contains("x.dot(w)")).unwrap();
    // The caret stands under the 15th character, the `d` or what follows it, whatever the width of `é` in bytes.
    let column = |l: &str, c: char| l.chars().position(|x| x == c).unwrap();
    assert_eq!(column(caret, '^'), column(source, 'l') - 4 + 14);
    assert!(text.contains("transpose one of them"));
    // Places beyond the file, or in none, do not matter.
    assert!(report(at(99, 1)).contains("dot"));
    assert!(report(at(2, 999)).contains("dot"));
    assert!(report(at(0, 0)).contains("dot"));
    std::fs::remove_file(&place).unwrap();
    assert!(report(at(2, 15)).contains("dot"));
}

#[test]
fn parse_errors_show_the_line() {
    let e = ParseError { message: "no such op".into(), line: 3, column: 5, source_line: "    %0 = evoxc.ad".into() };
    let e = Error::from(e);
    assert_eq!(e.to_string(), "3:5: no such op");
    assert!(e.render().contains("evoxc.ad") && e.render().contains('3'), "{}", e.render());
    let whole = ParseError { message: "empty".into(), line: 0, column: 0, source_line: String::new() };
    assert_eq!(Error::from(whole).render(), "empty");
}

#[test]
fn question_mark_works_through_layers() {
    fn f() -> Result<()> {
        Err(TreeError { path: String::new(), expected: "a".into(), got: "b".into() })?
    }
    let e = f().unwrap_err();
    fn shared<T: Send + Sync + Clone + std::error::Error + 'static>(_: &T) {}
    shared(&e);
    assert_eq!(format!("{e:?}"), e.render());
    let io = Error::io(std::path::Path::new("a/b"), &std::io::Error::other("no"));
    assert_eq!(io.to_string(), "a/b: no");
}
