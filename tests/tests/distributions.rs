//! Moments, middles and tails of every distribution, by every generator, against SciPy (tests/data/distributions.json,
//! which tests/generate/distributions.py writes). Seeds are fixed; what may differ is five standard errors, worked out from
//! the distribution itself: σ/√n of the mean, √((μ₄ - σ⁴)/n) of the variance, √(p(1-p)/n) of a share p of the numbers.

use evoxc::prelude::*;
use evoxc::random::Choice;
use evoxc_tests::engines::Engines;
use serde_json::Value;

/// Numbers a case.
const N: usize = 20_000;
const ERRORS: f64 = 5.0;

struct Case {
    name: String,
    source: String,
    args: Vec<f64>,
    mean: f64,
    var: f64,
    fourth: f64,
    cdf: Vec<(f64, f64)>,
}

fn cases() -> Vec<Case> {
    let file = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/data/distributions.json")).unwrap();
    let list: Vec<Value> = serde_json::from_str(&file).unwrap();
    let numbers = |v: &Value| v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect::<Vec<f64>>();
    let case = |c: &Value| Case {
        name: c["name"].as_str().unwrap().into(),
        source: c["source"].as_str().unwrap().into(),
        args: numbers(&c["args"]),
        mean: c["mean"].as_f64().unwrap(),
        var: c["var"].as_f64().unwrap(),
        fourth: c["fourth"].as_f64().unwrap(),
        cdf: c["cdf"].as_array().unwrap().iter().map(|p| (p[0].as_f64().unwrap(), p[1].as_f64().unwrap())).collect(),
    };
    list.iter().map(case).collect()
}

fn vector(d: DType, list: &[f64]) -> Sym {
    constant(&Tensor::from(list.to_vec())).cast(d)
}

/// `N` numbers of the case's distribution, drawn as floats of `d` where there is a choice.
fn draw(k: Sym, d: DType, c: &Case) -> Sym {
    let a = &c.args[..];
    let tail = |from: usize| vector(d, &a[from..]);
    let weighted = |w: Sym| Choice::default().weights(w);
    // Of an `[N, 7]` draw one column.
    let column = |x: Sym, i: usize| x.take(i, -1);
    match c.name.as_str() {
        "uniform" => random::uniform(k, d, [N]),
        "uniform_range" => random::uniform_range(k, d, [N], a[0], a[1]),
        "normal" => random::normal(k, d, [N]),
        "exponential" => random::exponential(k, d, [N]),
        "gumbel" => random::gumbel(k, d, [N]),
        "laplace" => random::laplace(k, d, [N]),
        "truncated_normal" => random::truncated_normal(k, d, [N], a[0], a[1]),
        "gamma" => random::gamma(k, d, [N], a[0]),
        "beta" => random::beta(k, d, [N], a[0], a[1]),
        "dirichlet" => column(random::dirichlet(k, [N], tail(1)), a[0] as usize),
        "bernoulli" => random::bernoulli(k, [N], full(d, [], a[0])),
        "randint" => random::randint(k, I32, [N], a[0] as i64, a[1] as i64),
        "randint64" => random::randint(k, U64, [N], 0, 3u64 << 62).cast(F64) * f64::exp2(-64.0),
        "categorical" => random::categorical(k, [N], tail(0).log()),
        "choice" => random::choice(k, [N], a[0] as i64, Choice::default()),
        "choice_weighted" => random::choice(k, [N], a.len(), weighted(tail(0))),
        "choice_weighted_distinct" => {
            let first = |k| random::choice(k, [2], a.len(), weighted(tail(0)).distinct()).take(0, -1);
            first(random::split_n(k, N))
        }
        "choice_distinct" => {
            let all = |k| random::choice(k, [7], a[0] as i64, Choice::default().distinct());
            column(all(random::split_n(k, N)), a[1] as usize)
        }
        "multinomial" => column(random::multinomial(k, I32, [N], a[1] as i64, tail(2)), a[0] as usize),
        "poisson" => random::poisson(k, I32, [N], full(d, [], a[0])),
        other => panic!("no distribution {other}"),
    }
}

/// What is wrong with the numbers.
fn judge(c: &Case, x: &[f64]) -> Vec<String> {
    let n = x.len() as f64;
    assert!(x.iter().all(|x| x.is_finite()), "{}", c.source);
    let mean = x.iter().sum::<f64>() / n;
    let var = x.iter().map(|x| (x - c.mean).powi(2)).sum::<f64>() / n;
    let mut wrong = vec![];
    let mut check = |what: String, got: f64, want: f64, variance: f64| {
        let e = (got - want) / (variance / n).sqrt();
        if e.abs() > ERRORS {
            wrong.push(format!("{what}: {got}, not {want} ({e:.1} standard errors)"));
        }
    };
    check("mean".into(), mean, c.mean, c.var);
    check("variance".into(), var, c.var, c.fourth - c.var * c.var);
    for &(at, p) in c.cdf.iter().filter(|(_, p)| *p < 1.0) {
        let share = x.iter().filter(|&&x| x <= at).count() as f64 / n;
        check(format!("share up to {at}"), share, p, p * (1.0 - p));
    }
    wrong
}

/// All cases by one generator but these functions.
fn check(key: Tensor, dtype: DType, but: fn(&Case) -> bool) {
    let mut failures = vec![];
    for c in cases().iter().filter(|c| !but(c)) {
        let x = evaluate(|k: Sym| draw(k, dtype, c).cast(F64), key.clone(), &Engines);
        let x = x.unwrap_or_else(|e| panic!("{}: {e:?}", c.source)).to_vec::<f64>().unwrap();
        assert_eq!(x.len(), N);
        failures.extend(judge(c, &x).into_iter().map(|m| format!("{} ({}) {m}", c.name, c.source)));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn by_splitmix64_in_f32() {
    check(random::key(2024), F32, |_| false);
}

#[test]
fn by_splitmix64_in_f64() {
    check(random::key(2025), F64, |_| false);
}

#[test]
fn by_threefry_in_f32() {
    // JAX reduces integers modulo the range, which shows in ranges that are not small beside 2³² or 2⁶⁴.
    let large = |c: &Case| c.name == "randint64" || (c.name == "randint" && c.args[1] > 1e9);
    check(random::threefry_key(2026), F32, large);
}

#[test]
fn by_philox_in_f32() {
    check(random::philox_key(2027), F32, |_| false);
}
