//! What the README says that its program prints is what it prints, locations aside.

use evoxc::prelude::*;

#[derive(Tree, Clone)]
struct Layer<T> {
    w: T,
    b: T,
}

#[defn]
fn layer(p: Layer<Sym>, x: Sym) -> Sym {
    let hidden = x.dot(p.w) + p.b;
    hidden.tanh()
}

fn without_locations(text: &str) -> Vec<&str> {
    text.trim().lines().map(|l| l.split(" loc(").next().unwrap_or(l)).collect()
}

// tanh(3) = 0.99505475…
#[test]
fn the_printout_is_real() -> evoxc::Result<()> {
    let readme = include_str!("../../README.md");
    let shown = readme.split("```text\n").nth(1).and_then(|t| t.split("```").next()).unwrap();
    let graph = trace(layer, (Layer { w: spec(F32, [3, 2]), b: spec(F32, [2]) }, spec(F32, (dim("B"), 3))))?;
    let p = Layer { w: Tensor::ones(F32, [3, 2]), b: Tensor::zeros(F32, [2]) };
    let y = graph.lower(&Interp)?.compile()?.load(Device::cpu())?.run((p, Tensor::ones(F32, [1, 3])))?;
    let printed = format!("{}\n{y}", graph.to_string().trim_end());
    assert_eq!(without_locations(shown), without_locations(&printed));
    Ok(())
}
