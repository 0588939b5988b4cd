//! Defines a function, looks at its graph, and runs it: `cargo run --release --example quickstart`.

use evoxc::prelude::*;

/// The parameters of a layer; the same struct holds specs, symbols and data.
#[derive(Tree, Clone)]
struct Layer<T> {
    w: T,
    b: T,
}

/// A dense layer with tanh, for any batch size.
#[defn]
fn layer(p: Layer<Sym>, x: Sym) -> Sym {
    let hidden = x.dot(p.w) + p.b;
    hidden.tanh()
}

fn main() -> evoxc::Result<()> {
    let batch = dim("B");
    let specs = (Layer { w: spec(F32, [3, 2]), b: spec(F32, [2]) }, spec(F32, (batch, 3)));

    // The program, as a value: print it, save it, compare it.
    let graph = trace(layer, specs)?;
    println!("{graph}");

    // Lower, compile, load: each step is a value of its own.
    let exe = graph.lower(&Interp)?.compile()?.load(Device::cpu())?;

    // One executable, any batch size.
    let p = Layer { w: Tensor::from([[0.5f32, -0.5], [0.25, 0.0], [0.0, 1.0]]), b: Tensor::from([0.0f32, 0.1]) };
    println!("{}", exe.run((p.clone(), Tensor::ones(F32, [1, 3])))?);
    println!("{}", exe.run((p, Tensor::from([[1f32, 2.0, 3.0], [4.0, 5.0, 6.0]])))?);
    Ok(())
}
