//! What tracing records and what it refuses, read off the printed graph.

use evoxc_core::{Dim, Error, F32, I32, Tensor, dim, spec};
use evoxc_ir::{Binary, Prim};
use evoxc_trace::{Graph, Sym, cond, constant, fori_loop, scan, trace, while_loop, zeros};

fn errors(e: Error) -> Vec<String> {
    match e {
        Error::Trace(t) => t.errors.iter().map(ToString::to_string).collect(),
        other => panic!("{other}"),
    }
}

#[test]
fn all_errors_of_a_trace_are_reported_without_their_echoes() {
    let f = |x: Sym, y: Sym| {
        let bad = x + y; // different dtypes
        let worse = x.dot(x); // 3 against 2
        (bad * 2.0, worse.tanh() + bad)
    };
    let es = errors(trace(f, (spec(F32, [2, 3]), spec(I32, [2, 3]))).unwrap_err());
    assert_eq!(es.len(), 2, "{es:?}");
    assert!(es[0].contains("tests/tracing.rs:17:19") && es[0].contains("cast"), "{}", es[0]);
    assert!(es[1].contains("tests/tracing.rs:18:23"), "{}", es[1]);
}

#[test]
fn reports_show_the_source_line() {
    let e = trace(|x: Sym| x + zeros(I32, [2]), spec(F32, [2])).unwrap_err();
    let report = format!("{e:?}");
    assert!(report.contains("let e = trace(|x: Sym| x + zeros(I32, [2])") && report.contains('^'), "{report}");
}

#[test]
fn scalars_take_the_dtype_of_the_tensor_or_are_refused() {
    let g = trace(|x: Sym| x * 2 + 1.5, spec(F32, [2])).unwrap();
    assert!(g.to_string().contains("splat<2.0> : tensor<2xf32>"), "{g}");
    let es = errors(trace(|x: Sym| x * 1.5, spec(I32, [2])).unwrap_err());
    assert!(es[0].contains("1.5") && es[0].contains("i32"), "{es:?}");
}

#[test]
fn symbols_stay_symbols() {
    let b = dim("B");
    let g = trace(|x: Sym| x.reshape([-1]) + b, spec(F32, (b, 2))).unwrap();
    assert_eq!(g.output_specs(), [spec(F32, [b * 2])]);
    assert!(g.to_string().contains("evoxc.dim_size"), "{g}");
    let c = dim("C");
    let e = trace(|x: Sym, y: Sym| x + y, (spec(F32, [b]), spec(F32, [c]))).unwrap_err();
    assert!(e.to_string().contains("B on the left and C on the right"), "{e}");
}

#[test]
fn bad_extents_are_errors_before_tracing() {
    let f = |x: Sym| x;
    assert!(matches!(trace(f, spec(F32, [dim("B") / 0])), Err(Error::Dim(_))));
    let es = errors(trace(|x: Sym, _: Sym| x, (spec(F32, [1]), spec(F32, [2, -1]))).unwrap_err());
    assert!(es[0].contains("trace: the input at 1 has the extent -1, below 0 (tensor<2x[-1]xf32>)"), "{es:?}");
    assert!(es[0].contains("tests/tracing.rs:"), "{es:?}");
}

#[test]
fn an_inner_trace_captures_outer_values_as_extra_inputs() {
    let f = |x: Sym, y: Sym| {
        let inner: Graph<Sym, Sym> = trace(|a: Sym| a * y + y, spec(F32, [2])).unwrap();
        assert_eq!(inner.captures(), 1);
        assert_eq!(inner.input_specs().len(), 2);
        assert!(inner.save("never-written").is_err());
        inner.call(x)
    };
    let g = trace(f, (spec(F32, [2]), spec(F32, [2]))).unwrap();
    assert_eq!(g.captures(), 0);
    assert_eq!(g.ops().len(), 2);
}

#[test]
fn stale_and_leaked_symbols_are_errors() {
    let stale = std::cell::Cell::new(None);
    trace(
        |x: Sym| {
            stale.set(Some(x));
            x
        },
        spec(F32, []),
    )
    .unwrap();
    let es = errors(trace(|x: Sym| x + stale.get().unwrap(), spec(F32, [])).unwrap_err());
    assert!(es[0].contains("has ended"), "{es:?}");
    let leak = |x: Sym| {
        let inside = std::cell::Cell::new(x);
        cond(
            x.gt(0.0),
            || {
                inside.set(x * 2.0);
                x
            },
            || x,
        ) + inside.get()
    };
    let es = errors(trace(leak, spec(F32, [])).unwrap_err());
    assert!(es[0].contains("give it back as a result"), "{es:?}");
}

#[test]
fn a_graph_is_called_on_other_extents() {
    let b = dim("B");
    let g = trace(|x: Sym| scan(zeros(F32, [2]), x, |c, r| (c + r, c * r)).1, spec(F32, (b, 2))).unwrap();
    let outer = trace(&g, spec(F32, [5, 2])).unwrap();
    assert_eq!(outer.output_specs(), [spec(F32, [5, 2])]);
    outer.verify().unwrap();
    let twice = trace(|x: Sym| g.call(g.call(x)), spec(F32, (dim("N") + 1, 2))).unwrap();
    assert_eq!(twice.output_specs(), [spec(F32, (dim("N") + 1, 2))]);
    assert!(trace(&g, spec(F32, [5, 3])).is_err());
}

#[test]
fn control_flow_says_what_differs() {
    let es = errors(trace(|x: Sym| cond(x.gt(0.0), || x, || x.cast_to_int()), spec(F32, [])).unwrap_err());
    assert!(es[0].contains("expected tensor<f32>, got tensor<i32>"), "{es:?}");
    let es = errors(trace(|x: Sym| while_loop(x, |c| c.gt(0.0), |c| c.expand_dims(0)), spec(F32, [])).unwrap_err());
    assert!(es[0].contains("the body changes the type of the state"), "{es:?}");
    let es = errors(trace(|x: Sym| scan(x, (), |c, ()| (c, ())).0, spec(F32, [])).unwrap_err());
    assert!(es[0].contains("scan_n"), "{es:?}");
}

trait CastToInt {
    fn cast_to_int(self) -> Sym;
}
impl CastToInt for Sym {
    fn cast_to_int(self) -> Sym {
        zeros(I32, self.shape())
    }
}

#[test]
fn a_users_panic_passes_and_leaves_no_trace_open() {
    let r = std::panic::catch_unwind(|| {
        trace(|x: Sym| if x.rank() == 0 { std::panic::panic_any(7i32) } else { x }, spec(F32, []))
    });
    assert_eq!(r.err().and_then(|p| p.downcast::<i32>().ok()).map(|b| *b), Some(7));
    trace(|x: Sym| x, spec(F32, [])).unwrap();
}

#[test]
fn large_constants_are_noted() {
    let t = Tensor::zeros(F32, [1 << 19]);
    let g = trace(|x: Sym| x + constant(&t), spec(F32, [1 << 19])).unwrap();
    assert!(g.module().notes.iter().any(|n| n.contains("2097152 bytes")), "{:?}", g.module().notes);
}

#[test]
fn loops_have_static_trip_counts() {
    let g = trace(|x: Sym| fori_loop(3, x, |_, c| c * c), spec(F32, [])).unwrap();
    let scans: Vec<Dim> = g
        .ops()
        .iter()
        .filter_map(|o| if let Prim::Scan { length, .. } = o.prim { Some(length) } else { None })
        .collect();
    assert_eq!(scans, [Dim::constant(3)]);
    let body = g.ops().iter().find_map(|o| o.regions.first()).unwrap();
    assert!(matches!(body.ops[0].prim, Prim::Binary(Binary::Mul)));
}
