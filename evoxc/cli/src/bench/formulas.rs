//! The formulas of the workloads, as a user would write them.

#![allow(clippy::approx_constant, reason = "the other systems are given these very digits")]

use evoxc::prelude::*;

/// 20 times `x * a + b`.
#[defn]
pub fn chain20(x: Sym, a: Sym, b: Sym) -> Sym {
    let mut x = x;
    for _ in 0..20 {
        x = x * a + b;
    }
    x
}

#[defn]
pub fn softmax(x: Sym) -> Sym {
    let e = (x - x.max(keep(1))).exp();
    e / e.sum(keep(1))
}

#[defn]
pub fn layernorm(x: Sym, g: Sym, b: Sym) -> Sym {
    let d = x - x.mean(keep(1));
    d / ((d * d).mean(keep(1)) + 1e-5).sqrt() * g + b
}

#[defn]
pub fn gelu(x: Sym) -> Sym {
    0.5 * x * (1.0 + (0.7978845608 * (x + 0.044715 * x * x * x)).tanh())
}

#[defn]
pub fn mlp_block(x: Sym, w1: Sym, b1: Sym, w2: Sym, b2: Sym) -> Sym {
    gelu(x.matmul(w1) + b1).matmul(w2) + b2
}

/// Of (batch and heads, time, features).
#[defn]
pub fn attention(q: Sym, k: Sym, v: Sym) -> Sym {
    let s = q.matmul(k.t()) * 0.125;
    let e = (s - s.max(keep(2))).exp();
    (e / e.sum(keep(2))).matmul(v)
}

/// Ackley's function of (population, dimensions).
#[defn]
fn ackley(x: Sym) -> Sym {
    20.0 - 20.0 * (-0.2 * (x * x).mean(keep(1)).sqrt()).exp() - (6.2831853 * x).cos().mean(keep(1)).exp() + 2.718281828
}

/// One step of differential evolution, its donors given: mutate, cross over, select.
#[defn]
pub fn de_step(x: Sym, a: Sym, b: Sym, c: Sym, u: Sym) -> Sym {
    let trial = (u < 0.9).select(a + 0.5 * (b - c), x);
    let better = ackley(trial) < ackley(x);
    better.broadcast_to(x.shape()).select(trial, x)
}

/// Parameters of a perceptron with two hidden layers.
pub type Layers = [Sym; 6];

#[defn]
fn mlp_loss(p: Layers, x: Sym, y: Sym) -> Sym {
    let [w1, b1, w2, b2, w3, b3] = p;
    let h = (x.matmul(w1) + b1).tanh();
    let h = (h.matmul(w2) + b2).tanh();
    let d = h.matmul(w3) + b3 - y;
    (d * d).mean(keep(1)).mean(keep(0)).sum(..)
}

/// One step of gradient descent.
#[defn]
pub fn mlp_train(p: Layers, x: Sym, y: Sym) -> Layers {
    let g = grad(|p: Layers| mlp_loss(p, x, y)).call(p);
    std::array::from_fn(|i| p[i] - 0.01 * g[i])
}

/// The last state of `h' = tanh(h w + x u)` over the rows of `xs`.
#[defn]
pub fn rnn(w: Sym, u: Sym, xs: Sym) -> Sym {
    let (h, ()) = scan(zeros(F32, [64]), xs, |h: Sym, x: Sym| ((h.dot(w) + x.dot(u)).tanh(), ()));
    h
}

/// Program `p` of a family: a chain of ten ops.
#[defn]
pub fn chain_program(p: usize, a: Sym, b: Sym) -> Sym {
    let mut x = a;
    for j in 0..10 {
        let y = if j % 2 == 0 { b } else { a };
        x = match (p * 7 + j * j * 3 + p * j) % 6 {
            0 => x + y,
            1 => x - y,
            2 => x * y,
            3 => x.maximum(y),
            4 => x.tanh() + y,
            _ => x.sin() * y,
        };
    }
    x
}
