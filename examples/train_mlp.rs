//! Trains a two-layer network on y = sin(3x) by Adam until the loss is below 0.001:
//! `cargo run --release --example train_mlp`.

use evoxc::prelude::*;

#[derive(Tree, Clone)]
struct Params<T> {
    w1: T,
    b1: T,
    w2: T,
    b2: T,
}

/// The parameters and Adam's running moments of them.
#[derive(Tree, Clone)]
struct State<T> {
    params: [T; 4],
    mean: [T; 4],
    square: [T; 4],
    step: T,
}

#[defn]
fn loss(p: [Sym; 4], x: Sym, y: Sym) -> Sym {
    let [w1, b1, w2, b2] = p;
    let hidden = (x.dot(w1) + b1).tanh();
    let error = hidden.dot(w2) + b2 - y;
    (error * error).mean(..)
}

/// One step of Adam (Kingma and Ba, 2015).
#[defn]
fn adam(s: State<Sym>, x: Sym, y: Sym) -> (State<Sym>, Sym) {
    let (l, g) = value_and_grad(loss).call((s.params, x, y));
    let step = s.step + 1.0;
    let rate = 0.01 * (1.0 - (step * 0.999f32.ln()).exp()).sqrt() / (1.0 - (step * 0.9f32.ln()).exp());
    let mut next = State { step, ..s };
    for i in 0..4 {
        next.mean[i] = 0.9 * s.mean[i] + 0.1 * g[i];
        next.square[i] = 0.999 * s.square[i] + 0.001 * g[i] * g[i];
        next.params[i] = s.params[i] - rate * next.mean[i] / (next.square[i].sqrt() + 1e-8);
    }
    (next, l)
}

/// Random weights, zeros elsewhere.
#[defn]
fn start(key: Sym) -> State<Sym> {
    let (k1, k2) = random::split(key);
    let p = Params {
        w1: random::normal(k1, F32, [1, 32]) * 2.0,
        b1: zeros(F32, [32]),
        w2: random::normal(k2, F32, [32, 1]) * 0.2,
        b2: zeros(F32, [1]),
    };
    let params = [p.w1, p.b1, p.w2, p.b2];
    let zero = params.map(|t| t.zeros_like());
    State { params, mean: zero, square: zero, step: full(F32, [], 0.0) }
}

fn main() -> evoxc::Result<()> {
    let mut state = evaluate(start, random::key(1), &Interp)?;
    let x = evaluate(|| linspace(F32, -1.0, 1.0, 64).reshape([64, 1]), (), &Interp)?;
    let y = evaluate(|x: Sym| (x * 3.0).sin(), x.clone(), &Interp)?;

    let specs = State {
        params: state.params.clone().map(|t| t.spec()),
        mean: state.mean.clone().map(|t| t.spec()),
        square: state.square.clone().map(|t| t.spec()),
        step: state.step.spec(),
    };
    let graph = trace(adam, (specs, x.spec(), y.spec()))?.simplify();
    println!("one step of Adam is a graph of {} ops", graph.ops().len());
    let exe = graph.lower(&Interp)?.compile()?.load(Device::cpu())?;
    for step in 1..=5000 {
        let (next, l) = exe.run((state, x.clone(), y.clone()))?;
        state = next;
        let l = l.item::<f32>()?;
        if step % 200 == 0 || l < 1e-3 {
            println!("step {step:4}: loss {l:.5}");
        }
        if l < 1e-3 {
            return Ok(());
        }
    }
    panic!("the loss did not come below 0.001");
}
