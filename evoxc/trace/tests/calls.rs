//! Graphs called inside a trace: what comes along with their ops, and how their extents are bound.

use evoxc_core::{Dim, F32, Tensor, TreeDef, dim, spec};
use evoxc_trace::{Graph, Sym, constant, einsum, scan, trace, while_loop};
use std::cell::Cell;

fn lines<T>(r: evoxc_core::Result<T>) -> Vec<String> {
    r.err().map(|e| e.to_string().lines().map(String::from).collect()).unwrap_or_default()
}

#[test]
fn static_values_and_notes_come_along() {
    let large = Tensor::zeros(F32, [1 << 19]);
    let inner = trace(
        |x: Sym| {
            use evoxc_trace::__private::{RecordDebug as _, Static};
            (&Static(&3)).record("f.n");
            x + constant(&large)
        },
        spec(F32, [1 << 19]),
    )
    .unwrap();
    for outer in [trace(&inner, inner.specs()), trace(|x: Sym| inner.call(inner.call(x)), inner.specs())] {
        let outer = outer.unwrap();
        assert_eq!(outer.static_values(), inner.static_values());
        assert_eq!(outer.module().notes, inner.module().notes);
    }
}

#[test]
fn an_extent_with_a_factor_and_an_offset_is_solved() {
    let (b, c) = (dim("B"), dim("C"));
    let pairs = trace(|x: Sym| x.reshape([-1, 2]), spec(F32, [b * 2])).unwrap();
    let rows = |n| trace(&pairs, spec(F32, [n])).map(|g| g.output_specs()[0].shape[0]);
    assert_eq!(rows(Dim::constant(4)).unwrap(), 2);
    assert_eq!(rows(c * 4 + 2).unwrap(), c * 2 + 1);
    assert_eq!(rows(b * 2).unwrap(), b);
    for n in [Dim::constant(3), c, c * 2 + 1] {
        let e = lines(rows(n));
        assert!(e[0].contains("the graph takes tensor<[2*B]xf32>"), "{e:?}");
    }
    let both = trace(|x: Sym, y: Sym| x.sum(0) + y.sum(0), (spec(F32, [b * 2]), spec(F32, [b + 1]))).unwrap();
    assert!(trace(&both, (spec(F32, [4]), spec(F32, [3]))).is_ok());
    assert!(lines(trace(&both, (spec(F32, [4]), spec(F32, [4]))))[0].contains("`B` is 2 and 3"));
}

#[test]
fn a_foreign_value_is_one_error_at_the_users_place() {
    let stale = Cell::new(None);
    trace(
        |x: Sym| {
            stale.set(Some(x));
            x
        },
        spec(F32, [1]),
    )
    .unwrap();
    let old = stale.get().unwrap();
    let one = |f: &dyn Fn(Sym) -> Sym| {
        let e = lines(trace(f, spec(F32, [1])));
        assert_eq!(e.len(), 1, "{e:?}");
        assert!(e[0].contains("tests/calls.rs:") && e[0].contains("a trace that has ended"), "{e:?}");
    };
    one(&|_| old);
    one(&|x| einsum("i,i->", [x, old]));
    one(&|_| old.softmax(0));
    one(&|x| x.gt(0).select(old, 1));
    one(&|x| scan(old, x, |c, x| (c, x)).1);
    one(&|x| while_loop(x, |s| s.sum(0).lt(old.sum(0)), |s| s + 1));
}

#[test]
fn a_graph_that_outlives_what_it_captures_is_an_error_where_it_is_traced() {
    let escaped = Cell::new(None);
    trace(
        |x: Sym| {
            escaped.set(Some(trace(|y: Sym| x + y, spec(F32, [1])).unwrap()));
            x
        },
        spec(F32, [1]),
    )
    .unwrap();
    let escaped: Graph<Sym, Sym> = escaped.take().unwrap();
    let e = lines(trace(&escaped, spec(F32, [1])));
    assert!(e.len() == 1 && e[0].contains("tests/calls.rs:"), "{e:?}");
}

#[test]
fn a_difference_at_the_root_has_no_path() {
    let (_, leaf) = TreeDef::flatten(spec(F32, [1]));
    let (_, pair) = TreeDef::flatten((spec(F32, [1]), spec(F32, [1])));
    assert_eq!(pair.difference(&leaf).unwrap().to_string(), "expected a tuple of 2, got a tensor");
}
