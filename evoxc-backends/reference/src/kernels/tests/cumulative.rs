//! Running combinations. Expectations are those of jax.lax.cumsum, cumprod, cummax, cummin, cumlogsumexp.

use super::{near, same, t};
use crate::kernels::cumulative::cumulative;
use evoxc_core::{F32, Tensor};
use evoxc_ir::CumOp;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

#[test]
fn with_nan_and_infinities() {
    let z = t(&[2, 4], [1., 2., NAN, 4., -INF, 0., 3., -1.]);
    let check = |op, axis, reverse, want: [f64; 8]| {
        let r = cumulative(op, &z, axis, reverse).unwrap();
        near(r.as_slice().unwrap(), &want, 1e-14);
    };
    check(CumOp::Sum, 1, false, [1., 3., NAN, NAN, -INF, -INF, -INF, -INF]);
    check(CumOp::Sum, 0, true, [-INF, 2., NAN, 3., -INF, 0., 3., -1.]);
    check(CumOp::Prod, 1, false, [1., 2., NAN, NAN, -INF, NAN, NAN, NAN]);
    check(CumOp::Prod, 0, true, [-INF, 0., NAN, -4., -INF, 0., 3., -1.]);
    check(CumOp::Max, 1, false, [1., 2., NAN, NAN, -INF, 0., 3., 3.]);
    check(CumOp::Max, 0, true, [1., 2., NAN, 4., -INF, 0., 3., -1.]);
    check(CumOp::Min, 1, false, [1., 1., NAN, NAN, -INF, -INF, -INF, -INF]);
    check(CumOp::Min, 0, true, [-INF, 0., NAN, -1., -INF, 0., 3., -1.]);
    let want = [1., 2.3132616875182226, NAN, NAN, -INF, 0., 3.048587351573742, 3.0658839037574293];
    check(CumOp::Logsumexp, 1, false, want);
    check(CumOp::Logsumexp, 0, true, [1., 2.1269280110429727, NAN, 4.006715348489118, -INF, 0., 3., -1.]);
}

#[test]
fn logsumexp_of_large_and_infinite() {
    let r = cumulative(CumOp::Logsumexp, &t(&[5], [1000., 1000., -INF, INF, INF]), 0, false).unwrap();
    near(r.as_slice().unwrap(), &[1000., 1000.6931471805599, 1000.6931471805599, INF, INF], 1e-15);
    let r = cumulative(CumOp::Logsumexp, &t(&[3], [-INF, -INF, 0.]), 0, false).unwrap();
    near(r.as_slice().unwrap(), &[-INF, -INF, 0.], 0.);
}

// The table of ops: halves accumulate in f32 (2049 is no f16, a sum in f16 would stay at 2048); integers wrap.
#[test]
fn other_types() {
    let x = t(&[2100], vec![half::f16::ONE; 2100]);
    let r = cumulative(CumOp::Sum, &x, 0, false).unwrap();
    assert_eq!(r.as_slice::<half::f16>().unwrap()[2099].to_f32(), 2100.);
    let r = cumulative(CumOp::Prod, &t(&[3], [100i8, 2, 3]), 0, true).unwrap();
    same(&r, &t(&[3], [88i8, 6, 3]));
    let r = cumulative(CumOp::Sum, &t(&[3], [false, true, false]), 0, false).unwrap();
    same(&r, &t(&[3], [false, true, true]));
    assert!(cumulative(CumOp::Logsumexp, &t(&[1], [1i32]), 0, false).is_err());
    assert!(cumulative(CumOp::Sum, &t(&[1], [1i32]), 1, false).is_err());
    let none = Tensor::zeros(F32, [3, 0]);
    same(&cumulative(CumOp::Max, &none, 0, false).unwrap(), &none);
}
