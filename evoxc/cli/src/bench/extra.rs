//! Workloads that are more than one program: many new ones, and a population.

use super::formulas::chain_program;
use super::timing::{Call, Times, ms, timed};
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
        Workload { name: "new_program_200", run: Box::new(|b, _| new_programs(b)) },
        Workload { name: "population32_chain10_separate", run: Box::new(separate) },
        Workload { name: "population32_chain10_merged", run: Box::new(merged) },
    ]
}

/// Trace, compilation and the first run of 200 different programs, as a time for each.
fn new_programs(backend: &AnyBackend) -> Result<Times> {
    let args = (data(0, [64], 2.0)?, data(1, [64], 2.0)?);
    let start = Instant::now();
    for p in 0..PROGRAMS {
        prepare(move |a: Sym, b: Sym| chain_program(p, a, b), &args, backend)?()?;
    }
    let each = ms(start.elapsed() / PROGRAMS as u32, 4);
    Ok(Times { median_ms: each, min_ms: each, first_call_ms: each })
}

/// 32 programs, one call of each.
fn separate(backend: &AnyBackend, budget: Duration) -> Result<Times> {
    let a = data(0, [64], 2.0)?;
    let c = data(2, [POPULATION, 1], 2.0)?.to_vec::<f32>()?;
    timed(budget, || {
        let mut programs: Vec<Call> = vec![];
        for (p, c) in c.into_iter().enumerate() {
            let args = (a.clone(), Tensor::from([c]));
            programs.push(prepare(move |a: Sym, c: Sym| chain_program(p, a, c), &args, backend)?);
        }
        Ok(Box::new(move || programs.iter_mut().try_for_each(|call| call())))
    })
}

/// The 32 as one program, whose result has a row for each.
fn merged(backend: &AnyBackend, budget: Duration) -> Result<Times> {
    let args = (data(0, [64], 2.0)?, data(2, [POPULATION, 1], 2.0)?);
    let all = |a: Sym, c: Sym| {
        let rows: Vec<Sym> = (0..POPULATION).map(|p| chain_program(p, a, c.slice(s![p as i64]))).collect();
        stack(rows, 0)
    };
    timed(budget, || prepare(all, &args, backend))
}
