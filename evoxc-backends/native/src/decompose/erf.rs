//! The error function of `f32`.

use super::emit::Emit;
use super::exp;
use crate::uop::UOp;

/// Below 1 a polynomial of x², above it 1 - 2^p(x), where the logarithm of what is left is nearly a parabola.
pub(super) fn erf(e: &mut Emit, x: UOp) -> UOp {
    /// erf(x) / x - 1 in x² for |x| up to 1.
    #[rustfmt::skip]
    const NEAR: &[f64] = &[7.80690389e-05, -0.00079978531, 0.0051871622, -0.0268533472, 0.112835787, -0.37612626,
                           0.128379166];
    /// log2(1 - erf x) in x from 1 to where it is 2^-25, the error weighted by 1 - erf x.
    #[rustfmt::skip]
    const FAR: &[f64] = &[0.00027118728, -0.00427614991, 0.0316042788, -0.148966953, -0.920389295, -1.6262089,
                          -0.000450858672];
    /// 2^r for |r| up to 1/2.
    const POWER: &[f64] = &[0.00136359478, 0.00968470238, 0.0554975681, 0.240219206, 0.693147421, 1.00000012];
    let (size, one, most) = (e.abs(x), e.f(x, 1.0), e.f(x, 3.95));
    let square = e.mul(size, size);
    let p = e.horner(square, NEAR);
    let near = e.fma(size, p, size);
    let bounded = e.min(most, size);
    let t = e.horner(bounded, FAR);
    let (n, s) = exp::split(e, t, 1.0, 0.0);
    let r = e.sub(t, n);
    let p = e.horner(r, POWER);
    let minus = e.neg(s);
    let far = e.fma(p, minus, one);
    let is_near = e.lt(size, one);
    let value = e.select(is_near, near, far);
    e.with_sign(value, x)
}
