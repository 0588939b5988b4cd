//! Learns a vector field so that the curve that it drives follows a spiral: a neural ODE, integrated by Runge and Kutta's
//! method inside `scan`, differentiated through all its steps: `cargo run --release --example neural_ode`.

use evoxc::prelude::*;

/// Weights of the field dz/dt = tanh(z·w1)·w2, and their momenta.
#[derive(Tree, Clone)]
struct Field<T> {
    w1: T,
    w2: T,
}

#[defn]
fn field(f: Field<Sym>, z: Sym) -> Sym {
    z.dot(f.w1).tanh().dot(f.w2)
}

/// The curve from `start`: 20 steps of the classical Runge-Kutta method, all points stacked.
#[defn]
fn curve(f: Field<Sym>, start: Sym) -> Sym {
    let h = 0.1;
    let steps = zeros(F32, [20]);
    let (_, points) = scan(start, steps, |z: Sym, _: Sym| {
        let k1 = field(f.clone(), z);
        let k2 = field(f.clone(), z + 0.5 * h * k1);
        let k3 = field(f.clone(), z + 0.5 * h * k2);
        let k4 = field(f.clone(), z + h * k3);
        let next = z + (h / 6.0) * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
        (next, next)
    });
    points
}

#[defn]
fn loss(f: Field<Sym>, start: Sym, target: Sym) -> Sym {
    let error = curve(f, start) - target;
    (error * error).mean(..)
}

/// Gradient descent with momentum.
#[defn]
fn step(f: Field<Sym>, momentum: Field<Sym>, start: Sym, target: Sym) -> (Field<Sym>, Field<Sym>, Sym) {
    let (l, g) = value_and_grad(loss).call((f.clone(), start, target));
    let momentum = Field { w1: 0.9 * momentum.w1 - 0.05 * g.w1, w2: 0.9 * momentum.w2 - 0.05 * g.w2 };
    (Field { w1: f.w1 + momentum.w1, w2: f.w2 + momentum.w2 }, momentum, l)
}

/// The spiral z(t) of dz/dt = [[-0.3, -2], [2, -0.3]] z, at t = 0.1, 0.2 … 2, for each row of starting points.
fn spiral(start: &[[f32; 2]]) -> Vec<f32> {
    let mut out = vec![];
    for i in 1..=20 {
        let t = i as f32 * 0.1;
        for [x, y] in start {
            let (s, c) = (2.0 * t).sin_cos();
            let r = (-0.3 * t).exp();
            out.extend([r * (c * x - s * y), r * (s * x + c * y)]);
        }
    }
    out
}

fn main() -> evoxc::Result<()> {
    let start = [[1.0f32, 0.0], [0.0, 1.0], [-0.7, 0.7]];
    let target = Tensor::from_vec(spiral(&start), [20, 3, 2])?;
    let start = Tensor::from(start);
    let init = |key: Sym| {
        let (k1, k2) = random::split(key);
        Field { w1: random::normal(k1, F32, [2, 16]) * 0.5, w2: random::normal(k2, F32, [16, 2]) * 0.1 }
    };
    let mut f = evaluate(init, random::key(7), &Interp)?;
    let mut momentum = Field { w1: Tensor::zeros(F32, [2, 16]), w2: Tensor::zeros(F32, [16, 2]) };
    let specs = || Field { w1: spec(F32, [2, 16]), w2: spec(F32, [16, 2]) };
    let graph = trace(step, (specs(), specs(), start.spec(), target.spec()))?.simplify();
    println!("a step through all of the curve is a graph of {} ops", graph.ops().len());
    let exe = graph.lower(&Interp)?.compile()?.load(Device::cpu())?;
    let mut last = f32::INFINITY;
    for i in 0..=600 {
        let (next, m, l) = exe.run((f, momentum, start.clone(), target.clone()))?;
        (f, momentum, last) = (next, m, l.item::<f32>()?);
        if i % 100 == 0 {
            println!("step {i:3}: mean squared distance {last:.5}");
        }
    }
    assert!(last < 0.01, "the curve does not follow the spiral");
    Ok(())
}
