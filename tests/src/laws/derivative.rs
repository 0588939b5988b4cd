//! The laws of derivatives.

use super::host::{is_float, near, product, step, tangent, tensor};
use super::instance::Instance;
use super::program::Program;
use super::{Tested, host};
use crate::random_graph::Rng;
use crate::run::same_bits;
use crate::tolerance::Category;
use evoxc_core::{DType, Tensor};

/// jvp against central differences of fourth order (a Richardson step of the second-order ones), in f64 and c128.
///
/// # Errors
/// What differs.
pub fn jvp(i: &Instance) -> Result<Tested, String> {
    let (f, x) = (Program::new(i.graph.clone())?, i.inputs(0));
    let tested = differences(&f, &x, i.category())?;
    for active in subsets(&x) {
        let part = |e| format!("with respect to {active:?}: {e}");
        partial_differences(&f, &x, &active, i.category()).map_err(part)?;
    }
    Ok(tested)
}

/// ⟨vjp u, v⟩ = ⟨u, jvp v⟩ for random u and v.
///
/// # Errors
/// What differs.
pub fn vjp(i: &Instance) -> Result<Tested, String> {
    let (f, x) = (Program::new(i.graph.clone())?, i.inputs(0));
    let tested = adjoint(&f, &x)?;
    for active in subsets(&x) {
        partial_adjoint(&f, &x, &active).map_err(|e| format!("with respect to {active:?}: {e}"))?;
    }
    let results = f.graph.output_specs().len();
    for k in (0..results).filter(|_| results > 1) {
        adjoint(&f.result(k)?, &x).map_err(|e| format!("of result {k} alone: {e}"))?;
    }
    Ok(tested)
}

/// Each float input alone, and all but one: the others have no tangents.
pub fn subsets(x: &[Tensor]) -> Vec<Vec<bool>> {
    let floats: Vec<usize> = (0..x.len()).filter(|&k| is_float(x[k].dtype())).collect();
    let with = |keep: &dyn Fn(usize) -> bool| (0..x.len()).map(|k| floats.contains(&k) && keep(k)).collect();
    let mut out: Vec<Vec<bool>> = vec![];
    if floats.len() > 1 {
        out.extend(floats.iter().map(|&f| with(&|k| k == f)));
    }
    if floats.len() > 2 {
        out.extend(floats.iter().map(|&f| with(&|k| k != f)));
    }
    out
}

/// Only the active ones of a list.
fn chosen(list: &[Tensor], active: &[bool]) -> Vec<Tensor> {
    list.iter().zip(active).filter(|(_, a)| **a).map(|(t, _)| t.clone()).collect()
}

/// A random tangent of the active inputs, zero for the others.
fn directions(rng: &mut Rng, x: &[Tensor], active: &[bool]) -> Vec<Tensor> {
    let one = |(x, a): (&Tensor, &bool)| if *a { tangent(rng, x) } else { Tensor::zeros(x.dtype(), x.shape()) };
    x.iter().zip(active).map(one).collect()
}

/// [`differences`] with respect to some inputs.
fn partial_differences(f: &Program, x: &[Tensor], active: &[bool], category: Category) -> Result<(), String> {
    if !has_derivative(f, x) || !x.iter().all(doubled) || !f.run(x)?.iter().all(doubled) {
        return Ok(());
    }
    let v = directions(&mut Rng::new(6), x, active);
    let n = f.graph.output_specs().len();
    let got = f.jvp_of(active)?.run(&[x, &chosen(&v, active)].concat())?.split_off(n);
    near(&got, &slope(f, x, &v)?, category.numerical())
}

/// [`adjoint`] with respect to some inputs.
fn partial_adjoint(f: &Program, x: &[Tensor], active: &[bool]) -> Result<(), String> {
    if !has_derivative(f, x) {
        return Ok(());
    }
    let y = f.run(x)?;
    let rng = &mut Rng::new(12);
    let v = chosen(&directions(rng, x, active), active);
    let u: Vec<Tensor> = y.iter().map(|y| tangent(rng, y)).collect();
    let jv = f.jvp_of(active)?.run(&[x, &v].concat())?.split_off(y.len());
    let ct = f.vjp_of(active)?.run(&[x, &u].concat())?;
    pair(&u, &jv, &ct, &v, &[x, &y].concat()).map(|_| ())
}

/// Is the tensor of f64, c128, or of integers?
fn doubled(t: &Tensor) -> bool {
    !is_float(t.dtype()) || t.dtype() == DType::F64 || t.dtype() == DType::C128
}

/// The derivatives of jvp, and, where there is one, of vjp, which must also be differentiable backwards.
///
/// # Errors
/// What differs.
pub fn second(i: &Instance, reverse: bool) -> Result<Tested, String> {
    seconds(&Program::new(i.graph.clone())?, &i.inputs(0), i.category(), reverse)
}

/// See [`second`].
///
/// # Errors
/// What differs.
pub fn seconds(f: &Program, x: &[Tensor], category: Category, reverse: bool) -> Result<Tested, String> {
    if !has_derivative(f, x) {
        return Ok(Tested::Nothing);
    }
    let rng = &mut Rng::new(77);
    let y = f.run(x)?;
    let (v, u): (Vec<_>, Vec<_>) =
        (x.iter().map(|x| tangent(rng, x)).collect(), y.iter().map(|y| tangent(rng, y)).collect());
    let tested = differences(&f.jvp()?, &[x, &v].concat(), category).map_err(|e| format!("of jvp: {e}"))?;
    if reverse {
        let (back, at) = (f.vjp()?, [x, &u].concat());
        differences(&back, &at, category).map_err(|e| format!("of vjp: {e}"))?;
        adjoint(&back, &at).map_err(|e| format!("of vjp, backwards: {e}"))?;
    }
    Ok(tested)
}

/// Are there floats to differentiate, and results that are floats?
pub fn has_derivative(f: &Program, x: &[Tensor]) -> bool {
    x.iter().any(|x| is_float(x.dtype()) && !x.is_empty()) && f.graph.output_specs().iter().any(|y| is_float(y.dtype()))
}

/// See [`jvp`].
///
/// # Errors
/// What differs.
pub fn differences(f: &Program, x: &[Tensor], category: Category) -> Result<Tested, String> {
    let y = f.run(x)?;
    if !has_derivative(f, x) || !x.iter().chain(&y).all(doubled) {
        return Ok(Tested::Nothing);
    }
    let rng = &mut Rng::new(5);
    let v: Vec<Tensor> = x.iter().map(|x| tangent(rng, x)).collect();
    let mut primals = f.jvp()?.run(&[x, &v].concat())?;
    let tangents = primals.split_off(y.len());
    same_bits(&y, &primals).map_err(|e| format!("the value beside the tangent: {e}"))?;
    let slopes = slope(f, x, &v)?;
    for (i, ((t, y), want)) in tangents.iter().zip(&y).zip(&slopes).enumerate() {
        if !is_float(y.dtype()) && !t.bit_eq(want) {
            return Err(format!("the tangent of the integers of result {i} is not zero: {t}"));
        }
        let one = std::slice::from_ref;
        near(one(t), one(want), category.numerical()).map_err(|e| format!("tangent {i}: {e}"))?;
    }
    Ok(Tested::Holds)
}

/// The derivatives of the results along v, by central differences of fourth order; zeros for integers.
///
/// # Errors
/// Those of running.
pub fn slope(f: &Program, x: &[Tensor], v: &[Tensor]) -> Result<Vec<Tensor>, String> {
    let h = 2.5e-4;
    let at = |k: f64| f.run(&step(x, v, k * h));
    let (p2, p1, m1, m2) = (at(2.0)?, at(1.0)?, at(-1.0)?, at(-2.0)?);
    let one = |i: usize| {
        let y = &p1[i];
        if !is_float(y.dtype()) {
            return Tensor::zeros(y.dtype(), y.shape());
        }
        let of = |list: &[Tensor]| list.get(i).map(host::numbers).unwrap_or_default();
        let (p2, p1, m1, m2) = (of(&p2), of(&p1), of(&m1), of(&m2));
        let slope: Vec<_> = (0..y.len()).map(|k| ((p1[k] - m1[k]) * 8.0 - (p2[k] - m2[k])) / (12.0 * h)).collect();
        tensor(y.dtype(), y.shape(), &slope)
    };
    Ok((0..p1.len()).map(one).collect())
}

/// See [`vjp`].
///
/// # Errors
/// What differs.
pub fn adjoint(f: &Program, x: &[Tensor]) -> Result<Tested, String> {
    if !has_derivative(f, x) {
        return Ok(Tested::Nothing);
    }
    let y = f.run(x)?;
    let rng = &mut Rng::new(11);
    let v: Vec<Tensor> = x.iter().map(|x| tangent(rng, x)).collect();
    let u: Vec<Tensor> = y.iter().map(|y| tangent(rng, y)).collect();
    let jv = f.jvp()?.run(&[x, &v].concat())?.split_off(y.len());
    let ct = f.vjp()?.run(&[x, &u].concat())?;
    for (k, (c, x)) in ct.iter().zip(x).enumerate() {
        if c.spec() != x.spec() {
            return Err(format!("cotangent {k} is a {}, its input a {}", c.spec(), x.spec()));
        }
        if !is_float(x.dtype()) && !c.bit_eq(&Tensor::zeros(x.dtype(), x.shape())) {
            return Err(format!("the cotangent of the integers of input {k} is not zero: {c}"));
        }
    }
    pair(&u, &jv, &ct, &v, &[x, &y].concat())
}

/// ⟨u, jvp v⟩ = ⟨vjp u, v⟩, as precisely as the coarsest of the values allows.
fn pair(u: &[Tensor], jv: &[Tensor], ct: &[Tensor], v: &[Tensor], values: &[Tensor]) -> Result<Tested, String> {
    let ((a, scale), (b, other)) = (product(u, jv), product(ct, v));
    if !scale.is_finite() {
        return Ok(Tested::Nothing); // a pole
    }
    let coarsest = values.iter().map(|t| epsilon(t.dtype())).fold(f64::EPSILON, f64::max);
    let allowed = 1e5 * coarsest * (scale + other).max(1e-3);
    if (a - b).abs() <= allowed {
        return Ok(Tested::Holds);
    }
    let shown = |list: &[Tensor]| list.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", ");
    Err(format!(
        "⟨u, jvp v⟩ = {a}, ⟨vjp u, v⟩ = {b}\n    jvp v = {}\n    vjp u = {}\n    v = {}\n    u = {}",
        shown(jv),
        shown(ct),
        shown(v),
        shown(u)
    ))
}

/// Machine epsilon of a dtype; 0 for integers.
pub fn epsilon(d: DType) -> f64 {
    match d.real() {
        DType::F16 => 2f64.powi(-10),
        DType::BF16 => 2f64.powi(-7),
        DType::F32 => f64::from(f32::EPSILON),
        DType::F64 => f64::EPSILON,
        _ => 0.0,
    }
}
