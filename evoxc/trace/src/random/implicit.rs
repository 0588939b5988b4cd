//! The derivative of gamma numbers in their parameter: how a number moves that keeps its place in the distribution.
//!
//! A number x of parameter a that keeps P(a, x) as a changes moves by dx/da = -(∂P/∂a)/(∂P/∂x) (Figurnov, Mohamed and
//! Mnih, "Implicit reparameterization gradients", 2018). The draw itself is constant to derivatives; a call that gives it
//! back carries that as its rule.

use crate::ops::largest;
use crate::ops::series::power_series;
use crate::ops::special_gamma::count;
use crate::{Sym, builder, emitter, fori_loop};
use evoxc_core::F64;
use evoxc_ir::Prim;

/// How often a number can be differentiated; each time costs a function in every graph that draws.
const ORDERS: usize = 2;

/// A gamma number as a function of its parameter. Both are constant to derivatives.
#[derive(Clone, Copy)]
pub(super) struct Number {
    pub x: Sym,
    /// The logarithm of x, also where x is too small for a float.
    pub log: Sym,
}

/// These values, which depend on `alpha`. `rule` gives them in an expression that can be differentiated once more, and
/// their derivatives in alpha, of alpha, the values and `more`.
#[track_caller]
pub(super) fn follow(
    alpha: Sym,
    values: &[Sym],
    more: &[Sym],
    rule: impl FnOnce(Sym, &[Sym], &[Sym]) -> (Vec<Sym>, Vec<Sym>),
) -> Vec<Sym> {
    let n = values.len();
    call("gamma_number", &[&[alpha], values, more].concat(), 1, 1..=n, |args, tangents| {
        let (Some((&alpha, rest)), Some(&t)) = (args.split_first(), tangents.first()) else { return vec![] };
        let (values, more) = rest.split_at(n.min(rest.len()));
        let (mut out, slopes) = rule(alpha, values, more);
        for s in slopes {
            out.push(t * s);
        }
        out
    })
}

/// Alpha, the number and its logarithm in an expression that has been differentiated `order` times.
#[track_caller]
pub(super) fn linked(order: usize, alpha: Sym, of: Number) -> (Sym, Number) {
    let pair = |list: &[Sym]| match *list {
        [x, log] => Number { x, log },
        _ => Number { x: Sym::POISON, log: Sym::POISON },
    };
    if order < ORDERS {
        let rule = |alpha: Sym, values: &[Sym], _: &[Sym]| {
            let (alpha, number) = linked(order + 1, alpha, pair(values));
            let rate = rate(alpha, number);
            (vec![number.x, number.log], vec![number.x * rate, rate])
        };
        return (alpha, pair(&follow(alpha, &[of.x, of.log], &[], rule)));
    }
    // All is captured, of which the rule says nothing: the derivative is refused.
    let fixed = call("gamma_number_third_derivative", &[alpha, of.x, of.log], 0, 0..=2, |args, _| {
        let mut out = args.to_vec();
        for s in args {
            out.push(s.zeros_like());
        }
        out
    });
    match *fixed {
        [alpha, x, log] => (alpha, Number { x, log }),
        _ => (Sym::POISON, pair(&[])),
    }
}

/// A call that gives some of its arguments, with a rule: those and their tangents, of the arguments and the tangents of
/// the first `own`. The others must not have any.
#[track_caller]
fn call(
    name: &str,
    args: &[Sym],
    own: usize,
    given: std::ops::RangeInclusive<usize>,
    rule: impl FnOnce(&[Sym], &[Sym]) -> Vec<Sym>,
) -> Vec<Sym> {
    let count = given.clone().count();
    let poison = || vec![Sym::POISON; count];
    let mut types = vec![];
    for &s in args {
        match emitter::type_of(s) {
            Some(t) => types.push(t),
            None => return poison(),
        }
    }
    let function = |name: &str, types: &[_], body: &mut dyn FnMut(&[Sym]) -> Vec<Sym>| {
        let args = builder::open_region(types);
        let out = body(&args);
        let region = builder::close_region("gamma", &out)?;
        Some(emitter::outline(name, region).0)
    };
    let give = |x: &[Sym]| x.get(given.clone()).unwrap_or_default().to_vec();
    let Some(callee) = function(name, &types, &mut { give }) else { return poison() };
    let twice = [&types[..], types.get(..own).unwrap_or_default()].concat();
    let mut rule = Some(rule);
    let jvp = function(&format!("{name}_jvp"), &twice, &mut |all: &[Sym]| {
        let (x, t) = all.split_at(args.len().min(all.len()));
        rule.take().map(|f| f(x, t)).unwrap_or_default()
    });
    let Some(jvp) = jvp else { return poison() };
    let captures = Some(args.len() - own.min(args.len())).filter(|&n| n > 0);
    let prim = Prim::Call { callee, jvp: Some(jvp), forward: None, vjp: None, batch: None, captures, remat: false };
    builder::emit_regions(prim, args, vec![]).map_or_else(poison, |r| r.to_vec())
}

/// d(log x)/d(alpha) where P(alpha, x) is kept.
///
/// With ψ(a) = E[log x] it is ∫ (τ/x)ᵃ⁻¹e^(x-τ)·(log τ - ψ(a)) dτ/x over all τ above x, or the same with a minus over all
/// below: by which of them the integrand hardly changes its sign. Above, τ = x(1 + t); below, τ = xe⁻ᵗ. The integral over
/// t is the trapezoidal sum over u where t is a multiple of e^(u - e⁻ᵘ) (Takahasi and Mori, 1974). It takes as many steps
/// for every a and x; relative error 1e-14 in f64, 1e-6 in f32.
#[track_caller]
pub(super) fn rate(alpha: Sym, of: Number) -> Sym {
    const NARROW: f64 = -3.8;
    let Some(dtype) = builder::with_type(alpha, |t| t.dtype) else { return Sym::POISON };
    let (step, steps, terms) = if dtype == F64 { (0.1, 76, 14) } else { (0.24, 31, 7) };
    let sound = alpha.gt(0) & alpha.lt(f64::INFINITY) & of.log.is_finite();
    let (a, x) = (sound.select(alpha, 1), sound.select(of.x, 1));
    let log = sound.select(of.log, 0);

    // log x - ψ(a), of which for large a the large terms cancel beforehand (DLMF 5.11.2).
    let large = a.ge(12);
    let wide = large.select(a, 12);
    let u = large.select((x - a) / wide, 0);
    let inverse = wide.reciprocal();
    let near = u.log1p() + inverse * 0.5 + inverse * inverse * power_series(inverse * inverse, &DIGAMMA);
    let small = large.select(1, a);
    let offset = large.select(near, log - small.digamma());

    let above = (x.gt(a) & x.gt(1)).stop_gradient();
    let (fixed, at) = (a.stop_gradient(), x.stop_gradient());
    let ahead = fixed.minimum(fixed.sqrt()).maximum(fixed - at);
    // Of tiny parameters neither this nor a step is above what a float holds: x may be 0, and 0 times infinity is NaN.
    let most = largest(dtype);
    let unit = above.select(at.sqrt().maximum(at - fixed), ahead).reciprocal().minimum(most);
    let sign = above.select(unit.ones_like(), -1);

    let excess: Vec<f64> = (2..2 + terms)
        .scan(1.0, |f, k| {
            *f /= k as f64;
            Some(*f)
        })
        .collect();
    let sum = fori_loop(steps, x.zeros_like(), |i, sum| {
        let u = count(i, a) * step + NARROW;
        let shrink = (-u).exp();
        let w = (u - shrink).exp();
        let t = (unit * w).minimum(most);
        // log τ - log x, and the excess of τ/x over 1 + that.
        let y = above.select(t.log1p(), -t);
        let e = y.abs().lt(0.5).select(y * y * power_series(y, &excess), y.expm1() - y);
        let density = ((a - x) * y - x * e - above.select(y, 0)).exp();
        sum + density * (y + offset) * (w * (shrink + 1.0))
    });
    let rate = (sum * (sign * unit * step)).minimum(most);
    // Of parameter 0 the number is 0, and stays it as the parameter grows, to every order.
    let none = alpha.ge(0) & of.log.eq(f64::NEG_INFINITY);
    sound.select(rate, none.select(0, rate.full_like(f64::NAN)))
}

/// log a - ψ(a) - 1/(2a), in 1/a² times 1/a²: B(2k)/(2k).
const DIGAMMA: [f64; 7] =
    [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32760.0, 1.0 / 12.0];
