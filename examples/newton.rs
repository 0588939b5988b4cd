//! Newton's method on Rosenbrock's function, with the Hessian as a graph: `cargo run --release --example newton`.

use evoxc::prelude::*;

/// Σ 100 (xᵢ₊₁ - xᵢ²)² + (1 - xᵢ)², least (0) at x = (1, …, 1).
#[defn]
fn rosenbrock(x: Sym) -> Sym {
    let (a, b) = (x.slice(s![..-1]), x.slice(s![1..]));
    let valley = b - a * a;
    let far = 1.0 - a;
    (100.0 * valley * valley + far * far).sum(..)
}

/// One step: x - H⁻¹ g, and the value at x.
#[defn]
fn newton(x: Sym) -> (Sym, Sym) {
    let (value, gradient) = value_and_grad(rosenbrock).call(x);
    let step = hessian(rosenbrock).call(x).solve(gradient);
    (x - step, value)
}

fn main() -> evoxc::Result<()> {
    let graph = trace(newton, spec(F64, [4]))?.simplify();
    println!("one step of Newton's method is a graph of {} ops", graph.ops().len());
    let exe = graph.lower(&Interp)?.compile()?.load(Device::cpu())?;
    let mut x = Tensor::from([1.5f64, 2.0, 3.0, 8.0]);
    for step in 0..50 {
        let (next, value) = exe.run(x)?;
        let value = value.item::<f64>()?;
        println!("step {step:2}: f = {value:.3e}");
        x = next;
        if value < 1e-20 {
            break;
        }
    }
    println!("x = {x}");
    let worst = x.to_vec::<f64>()?.iter().map(|v| (v - 1.0).abs()).fold(0.0, f64::max);
    assert!(worst < 1e-9, "it did not reach the minimum");
    Ok(())
}
