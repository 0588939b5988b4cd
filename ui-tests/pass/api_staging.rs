// The stages, one by one and at once; graphs and executables in the signatures of other code.
#![deny(warnings)]
use evoxc::prelude::*;

/// Row sums of tanh(x·w).
#[defn]
fn f(x: Sym, w: Sym) -> Sym {
    x.dot(w).tanh().sum(1)
}

struct Holder {
    graph: Graph,
    exe: Executable<(Tensor, Tensor), Tensor>,
}

fn send<T: Send + Sync>() {}

fn main() -> evoxc::Result<()> {
    send::<Graph>();
    send::<Graph<(Sym, Sym), Sym>>();
    send::<Executable<Tensor, Tensor>>();

    let specs = (spec(F32, [4, 8]), spec(F32, [8, 4]));
    let graph: Graph<(Sym, Sym), Sym> = trace(f, specs.clone())?;
    let lowered = graph.lower(&Interp)?;
    let artifact = lowered.compile()?;
    let exe = artifact.load(Device::cpu())?;
    let y = exe.run((Tensor::ones(F32, [4, 8]), Tensor::ones(F32, [8, 4])))?;
    // 4 · tanh(8) = 3.9999991 in binary32.
    assert!(y.to_vec::<f32>()?.iter().all(|v| (v - 3.999_999).abs() < 1e-6));

    let (x, w) = (Tensor::ones(F32, [4, 8]), Tensor::ones(F32, [8, 4]));
    let exe: Executable<(Tensor, Tensor), Tensor> = build(f, specs, &Interp)?;
    assert_eq!(evaluate(f, (x, w), &Interp)?.shape(), [4]);
    let held = Holder { graph: Graph::parse(&graph.to_string())?, exe };
    held.graph.verify()?;
    assert_eq!(held.exe.run((Tensor::ones(F32, [4, 8]), Tensor::ones(F32, [8, 4])))?.shape(), [4]);

    for backend in backends() {
        let exe = graph.lower(&backend)?.compile()?.load(Device::cpu())?;
        exe.run((Tensor::zeros(F32, [4, 8]), Tensor::zeros(F32, [8, 4])))?;
    }
    Ok(())
}
