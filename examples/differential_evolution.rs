//! Differential evolution (Storn and Price, 1997; DE/rand/1/bin): one generation of a whole population is one graph. The
//! function of one candidate is written for one candidate; `vmap` makes it that of all of them.
//! `cargo run --release --example differential_evolution`.

use evoxc::prelude::*;

const POPULATION: usize = 64;
const SIZE: usize = 8;

/// Rastrigin's function: many valleys, least (0) at the origin.
#[defn]
fn rastrigin(x: Sym) -> Sym {
    10.0 * SIZE as f64 + (x * x - 10.0 * (x * std::f64::consts::TAU).cos()).sum(..)
}

/// The next population, its costs, and the next key.
#[defn]
fn generation(population: Sym, costs: Sym, key: Sym) -> (Sym, Sym, Sym) {
    let keys = random::split_n(key, 6);
    // Three parents for each candidate: the population in three random orders.
    let parents = |i: i64| population.take(random::permutation(keys.at(i), POPULATION), 0);
    let mutant = parents(0) + 0.5 * (parents(1) - parents(2));
    let crossed = random::bernoulli(keys.at(3), [POPULATION, SIZE], 0.5);
    let trial = crossed.select(mutant, population);
    let trial_costs = vmap(rastrigin).call(trial);
    let better = trial_costs <= costs;
    let rows = better.expand_dims(1).broadcast_to([POPULATION, SIZE]);
    (rows.select(trial, population), better.select(trial_costs, costs), keys.at(5))
}

fn main() -> evoxc::Result<()> {
    let begin = |key: Sym| {
        let (k1, k2) = random::split(key);
        let x = random::uniform(k1, F32, [POPULATION, SIZE]) * 10.24 - 5.12;
        (x, vmap(rastrigin).call(x), k2)
    };
    let (mut x, mut costs, mut key) = evaluate(begin, random::key(3), &Interp)?;
    let graph = trace(generation, (x.spec(), costs.spec(), key.spec()))?.simplify();
    println!("a generation of {POPULATION} candidates is a graph of {} ops", graph.ops().len());
    let exe = graph.lower(&Interp)?.compile()?.load(Device::cpu())?;
    let mut best = f32::INFINITY;
    for i in 0..=600 {
        (x, costs, key) = exe.run((x, costs, key))?;
        best = costs.to_vec::<f32>()?.into_iter().fold(f32::INFINITY, f32::min);
        if i % 100 == 0 {
            println!("generation {i:3}: best cost {best:.5}");
        }
    }
    assert!(best < 0.01, "the minimum was not found");
    Ok(())
}
