//! Random numbers against JAX (tests/data/random.json, which tests/generate/random_numbers.py writes), against the
//! generators as published, and against themselves: batches of keys, shapes, errors.

use evoxc::prelude::*;
use evoxc::random::Choice;
use evoxc_ir::{Literal, parse_literal};
use evoxc_tests::plugin::{every_backend, rounds_each_op};
use evoxc_tests::run::execute;
use evoxc_tests::tolerance::{Category, compare};
use serde_json::Value;

/// The numbers of a case.
struct Args {
    dtype: DType,
    shape: Vec<usize>,
    list: Vec<Value>,
}

impl Args {
    fn int(&self, i: usize) -> i64 {
        self.list[i].as_i64().unwrap_or_else(|| panic!("{} is no i64", self.list[i]))
    }
    fn float(&self, i: usize) -> f64 {
        self.list[i].as_f64().unwrap()
    }
    fn vector(&self) -> Sym {
        constant(&Tensor::from(self.list.iter().map(|x| x.as_f64().unwrap() as f32).collect::<Vec<_>>()))
    }
}

/// The function of a case. Where JAX's bound is 2⁶⁴ - 1, an i64 does not hold it.
fn function(name: &str, key: Sym, a: &Args) -> Sym {
    let (d, s) = (a.dtype, &a.shape[..]);
    match name {
        "key" => key,
        "split_n" => random::split_n(key, a.int(0)),
        "fold_in" => random::fold_in(key, a.int(0)),
        "bits" => random::bits(key, d, s),
        "uniform" => random::uniform(key, d, s),
        "uniform_range" => random::uniform_range(key, d, s, a.float(0), a.float(1)),
        "randint" => match (a.list[0].as_u64(), a.list[1].as_u64()) {
            (Some(low), Some(high)) => random::randint(key, d, s, low, high),
            _ => random::randint(key, d, s, a.int(0), a.int(1)),
        },
        "bernoulli" => random::bernoulli(key, s, a.float(0)),
        "permutation" => random::permutation(key, a.int(0)),
        "permutation_rows" => random::permutation(key, iota(I32, [2 * a.int(0)], 0).reshape([-1, 2])),
        "normal" => random::normal(key, d, s),
        "exponential" => random::exponential(key, d, s),
        "gumbel" => random::gumbel(key, d, s),
        "laplace" => random::laplace(key, d, s),
        "truncated_normal" => random::truncated_normal(key, d, s, a.float(0), a.float(1)),
        "categorical" => random::categorical(key, s, a.vector()),
        "poisson" => random::poisson(key, d, s, a.float(0)),
        "choice" => random::choice(key, s, a.int(0), Choice::default()),
        "choice_distinct" => random::choice(key, s, a.int(0), Choice::default().distinct()),
        "choice_weighted" => random::choice(key, s, a.list.len(), Choice::default().weights(a.vector())),
        "choice_weighted_distinct" => {
            random::choice(key, s, a.list.len(), Choice::default().weights(a.vector()).distinct())
        }
        _ => panic!("no function {name}"),
    }
}

#[test]
fn threefry_is_that_of_jax_on_every_backend() {
    let file = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/data/random.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&file).unwrap();
    let mut failures = vec![];
    for case in &cases {
        let text = |k: &str| case[k].as_str().unwrap_or("u32").to_string();
        let Literal::Dense(expected) = parse_literal(&text("expected")).unwrap() else { panic!("a splat") };
        let dtype = DType::ALL.into_iter().find(|d| d.name() == text("dtype")).unwrap();
        let shape = case["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect();
        let args = Args { dtype, shape, list: case["args"].as_array().unwrap().clone() };
        let category = Category::from_name(&text("tol")).unwrap();
        let name = text("name");
        let g = trace(|k: Sym| function(&name, k, &args), random::threefry_key_spec());
        let g = g.unwrap_or_else(|e| panic!("{}: {e:?}", text("source")));
        let key = random::threefry_key(case["seed"].as_i64().unwrap());
        for b in &every_backend() {
            // Its product and sum are one op there.
            let ranged = name == "uniform_range" && !rounds_each_op(b);
            let category = if ranged { Category::Contraction } else { category };
            let run = execute(b, g.module(), std::slice::from_ref(&key)).map_err(|e| format!("{e:?}"));
            if let Err(m) = run.and_then(|r| compare(&r[0], &expected, category).map_err(|e| e.to_string())) {
                failures.push(format!("{} {}: {m}", b.name(), text("source")));
            }
        }
    }
    assert!(cases.len() > 150);
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}
