//! Workloads that are more than one program: many new ones, and a population.

use super::formulas::chain_program;
use super::timing::{Call, Ready, Times, ms, timed};
use super::workloads::{Workload, data, prepare};
use evoxc::prelude::*;
use evoxc_core::Result;
use evoxc_stage::AnyBackend;
use std::time::{Duration, Instant};

const PROGRAMS: usize = 200;
const POPULATION: usize = 32;

/// Every one of them.
pub fn all() -> Vec<Workload> {
    vec![
        Workload {
            name: "new_program_200",
            run: Box::new(|b, _| new_programs(b)),
            results: Box::new(|b| each_result(PROGRAMS, |p| new_program(p, b))),
        },
        Workload {
            name: "population32_chain10_separate",
            run: Box::new(separate),
            results: Box::new(|b| each_result(POPULATION, |p| one_of_many(p, b))),
        },
        Workload {
            name: "population32_chain10_merged",
            run: Box::new(|b, budget| timed(budget, || Ok(merged(b)?.call))),
            results: Box::new(|b| (merged(b)?.results)()),
        },
    ]
}

fn each_result(n: usize, ready: impl Fn(usize) -> Result<Ready>) -> Result<Vec<Tensor>> {
    let mut out = vec![];
    for p in 0..n {
        out.extend((ready(p)?.results)()?);
    }
    Ok(out)
}

fn new_program(p: usize, backend: &AnyBackend) -> Result<Ready> {
    let args = (data(0, [64], 2.0)?, data(1, [64], 2.0)?);
    prepare(move |a: Sym, b: Sym| chain_program(p, a, b), &args, backend)
}

/// Trace, compilation and the first run of 200 different programs, as a time for each.
fn new_programs(backend: &AnyBackend) -> Result<Times> {
    let start = Instant::now();
    for p in 0..PROGRAMS {
        (new_program(p, backend)?.call)()?;
    }
    let each = ms(start.elapsed() / PROGRAMS as u32, 4);
    Ok(Times { median_ms: each, min_ms: each, first_call_ms: each })
}

/// Program `p` of the population, with its own scalar.
fn one_of_many(p: usize, backend: &AnyBackend) -> Result<Ready> {
    let c = data(2, [POPULATION, 1], 2.0)?.to_vec::<f32>()?.get(p).copied().unwrap_or_default();
    let args = (data(0, [64], 2.0)?, Tensor::from([c]));
    prepare(move |a: Sym, c: Sym| chain_program(p, a, c), &args, backend)
}

/// 32 programs, one call of each.
fn separate(backend: &AnyBackend, budget: Duration) -> Result<Times> {
    timed(budget, || {
        let mut programs: Vec<Call> = vec![];
        for p in 0..POPULATION {
            programs.push(one_of_many(p, backend)?.call);
        }
        Ok(Box::new(move || programs.iter_mut().try_for_each(|call| call())))
    })
}

/// The 32 as one program, whose result has a row for each.
fn merged(backend: &AnyBackend) -> Result<Ready> {
    let args = (data(0, [64], 2.0)?, data(2, [POPULATION, 1], 2.0)?);
    let all = |a: Sym, c: Sym| {
        let rows: Vec<Sym> = (0..POPULATION).map(|p| chain_program(p, a, c.slice(s![p as i64]))).collect();
        stack(rows, 0)
    };
    prepare(all, &args, backend)
}
