//! Special functions: the types that they give, what they say when they cannot.

use evoxc_core::*;
use evoxc_trace::*;

type One = (&'static str, fn(Sym) -> Sym);

const ALL: [One; 15] = [
    ("i0e", |x| x.i0e()),
    ("i1e", |x| x.i1e()),
    ("i0", |x| x.i0()),
    ("i1", |x| x.i1()),
    ("igamma", |x| x.igamma(x)),
    ("igammac", |x| x.igammac(2.5)),
    ("betaln", |x| x.betaln(x)),
    ("betainc", |x| x.betainc(x, 0.5)),
    ("zeta", |x| x.zeta(1.0)),
    ("polygamma", |x| x.polygamma(3)),
    ("multigammaln", |x| x.multigammaln(3)),
    ("entr", |x| x.entr()),
    ("rel_entr", |x| x.rel_entr(x)),
    ("kl_div", |x| x.kl_div(2)),
    ("log_ndtr", |x| x.log_ndtr()),
];

fn error<S: Tree<TensorSpec>, F: GraphFn<S::Map<Sym>, M>, M>(f: F, inputs: S) -> String {
    match trace(f, inputs) {
        Ok(_) => panic!("no error"),
        Err(Error::Trace(e)) => {
            assert_eq!(e.errors.len(), 1, "{e}");
            assert!(e.errors[0].loc.unwrap().file().ends_with("tests/special.rs"), "{e}");
            e.to_string()
        }
        Err(e) => panic!("{e}"),
    }
}

#[test]
fn dtype_and_symbolic_shape_stay() {
    for (name, f) in ALL {
        for dtype in [F16, BF16, F32, F64] {
            let input = spec(dtype, (dim("B"), 3));
            assert_eq!(trace(f, input.clone()).unwrap().output_specs(), [input], "{name}");
        }
    }
}

#[test]
fn integers_are_cast_first() {
    for (name, f) in ALL {
        let text = error(f, spec(I32, [3]));
        for part in [name, "needs a real float tensor, got i32", "tensor<3xi32>", ".cast(F32)"] {
            assert!(text.contains(part), "{text}: no {part}");
        }
    }
}

#[test]
fn operands_broadcast_together_and_have_one_dtype() {
    let g = trace(
        |a: Sym, b: Sym, x: Sym| (a.betainc(b, x), a.igamma(x)),
        (spec(F64, (dim("B"), 1)), spec(F64, [3]), spec(F64, [])),
    );
    assert_eq!(g.unwrap().output_specs(), [spec(F64, (dim("B"), 3)), spec(F64, (dim("B"), 1))]);
    let text = error(|a: Sym, x: Sym| a.igammac(x), (spec(F64, [3]), spec(F64, [4])));
    assert!(text.contains("igammac") && text.contains("do not broadcast"), "{text}");
    let text = error(|a: Sym, x: Sym| a.betainc(1.0, x), (spec(F64, [3]), spec(F32, [3])));
    assert!(text.contains("betainc") && text.contains("different dtypes, f64 and f32"), "{text}");
}
