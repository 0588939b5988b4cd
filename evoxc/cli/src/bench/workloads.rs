//! The workloads: names, inputs and shapes as in the script that times other systems.

use super::extra;
use super::formulas::{self, attention, chain20, de_step, gelu, layernorm, mlp_block, mlp_train, softmax};
use super::timing::{Ready, Times, timed};
use evoxc::{GraphFn, prelude::*};
use evoxc_core::Result;
use evoxc_stage::AnyBackend;
use std::time::Duration;

/// A workload.
pub struct Workload {
    /// Its name.
    pub name: &'static str,
    /// Times it within a budget.
    pub run: Box<dyn Fn(&AnyBackend, Duration) -> Result<Times>>,
    /// Its results on a backend.
    pub results: Box<dyn Fn(&AnyBackend) -> Result<Vec<Tensor>>>,
}

/// Element `i` of the `k`-th input: `((i * 2654435761 + k * 40503) mod 2^32) / 2^32 - 0.5`, scaled, as f32.
pub fn data<const N: usize>(k: u64, shape: [usize; N], scale: f64) -> Result<Tensor> {
    let n: usize = shape.iter().product();
    let element = |i: u64| (i.wrapping_mul(2_654_435_761).wrapping_add(k * 40503) & 0xFFFF_FFFF) as f64;
    Tensor::from_vec((0..n as u64).map(|i| ((element(i) / 4_294_967_296.0 - 0.5) * scale) as f32).collect(), &shape[..])
}

/// Traces, compiles and loads, for calls that keep their inputs, as the other systems do.
pub fn prepare<F, A, M>(f: F, args: &A, b: &AnyBackend) -> Result<Ready>
where
    A: Tree<Tensor> + Clone + 'static,
    A::Map<TensorSpec>: Tree<TensorSpec>,
    F: GraphFn<<A::Map<TensorSpec> as Tree<TensorSpec>>::Map<Sym>, M>,
    <A::Map<TensorSpec> as Tree<TensorSpec>>::Map<Sym>: Tree<Sym, Map<Tensor> = A>,
    <F::Out as Tree<Sym>>::Map<Tensor>: 'static,
{
    let exe = build(f, specs(args)?, b)?;
    let (args, once, again) = (args.clone(), args.clone(), exe.clone());
    Ok(Ready {
        call: Box::new(move || {
            let out = exe.run(args.clone())?;
            exe.synchronize()?;
            drop(std::hint::black_box(out));
            Ok(())
        }),
        results: Box::new(move || Ok(evoxc::TreeDef::flatten(again.run(once)?).0)),
    })
}

/// The specs of a tree of tensors.
fn specs<A: Tree<Tensor> + Clone>(args: &A) -> Result<A::Map<TensorSpec>> {
    let (leaves, tree) = evoxc::TreeDef::flatten(args.clone());
    tree.unflatten(leaves.iter().map(Tensor::spec).collect())
}

macro_rules! workload {
    ($name:literal, $f:expr, $inputs:expr) => {
        Workload {
            name: $name,
            run: Box::new(|b, budget| {
                let inputs = $inputs;
                timed(budget, || Ok(prepare($f, &inputs, b)?.call))
            }),
            results: Box::new(|b| (prepare($f, &$inputs, b)?.results)()),
        }
    };
}

/// Every workload, in the order of the script.
pub fn all() -> Vec<Workload> {
    const N: [usize; 1] = [10_000_000];
    const ROWS: [usize; 2] = [4096, 1024];
    const HEADS: [usize; 3] = [32, 128, 64];
    const POPULATION: [usize; 2] = [4096, 50];
    let mut list = vec![
        workload!("chain20_10m", chain20, (data(0, N, 1.0)?, data(1, N, 1.0)?, data(2, N, 1.0)?)),
        workload!("gelu_4m", gelu, data(0, [4_194_304], 4.0)?),
        workload!("softmax_4096x1024", softmax, data(0, ROWS, 8.0)?),
        workload!(
            "layernorm_4096x1024",
            layernorm,
            (data(0, ROWS, 8.0)?, data(1, [1024], 1.0)?, data(2, [1024], 1.0)?)
        ),
        workload!("sum_rows_4096x1024", |x: Sym| x.sum(keep(1)), data(0, ROWS, 1.0)?),
        workload!("sum_cols_4096x1024", |x: Sym| x.sum(keep(0)), data(0, ROWS, 1.0)?),
        workload!(
            "matmul_1024",
            |a: Sym, b: Sym| a.matmul(b),
            (data(0, [1024, 1024], 1.0)?, data(1, [1024, 1024], 1.0)?)
        ),
        workload!("matmul_256", |a: Sym, b: Sym| a.matmul(b), (data(0, [256, 256], 1.0)?, data(1, [256, 256], 1.0)?)),
        workload!("mlp_block_512", mlp_block, {
            let (w1, w2) = (data(1, [768, 3072], 0.1)?, data(3, [3072, 768], 0.1)?);
            (data(0, [512, 768], 1.0)?, w1, data(2, [3072], 1.0)?, w2, data(4, [768], 1.0)?)
        }),
        workload!("attention_32x128x64", attention, (data(0, HEADS, 4.0)?, data(1, HEADS, 4.0)?, data(2, HEADS, 1.0)?)),
        workload!("de_step_4096x50", de_step, {
            let [x, a, b, c] = [0, 1, 2, 3].map(|k| data(k, POPULATION, 10.0));
            let u = data(9, POPULATION, 1.0)?.to_vec::<f32>()?.into_iter().map(|u| u + 0.5).collect();
            (x?, a?, b?, c?, Tensor::from_vec::<f32>(u, POPULATION)?)
        }),
        workload!("tiny_64", |a: Sym, b: Sym| (a * b + a).tanh() * b, (data(0, [64], 1.0)?, data(1, [64], 1.0)?)),
        workload!("mlp_train_784_512_512_10_b128", mlp_train, {
            let (w1, w2, w3) = (data(0, [784, 512], 0.1)?, data(2, [512, 512], 0.1)?, data(4, [512, 10], 0.1)?);
            let p = [w1, data(1, [512], 1.0)?, w2, data(3, [512], 1.0)?, w3, data(5, [10], 1.0)?];
            (p, data(6, [128, 784], 1.0)?, data(7, [128, 10], 1.0)?)
        }),
        workload!(
            "scan_rnn_1000x64",
            formulas::rnn,
            (data(3, [64, 64], 0.2)?, data(4, [16, 64], 1.0)?, data(5, [1000, 16], 2.0)?)
        ),
    ];
    list.extend(extra::all());
    list
}
