// Graphs are data: text, files, verification, ops; lowered programs and artifacts as files.
#![deny(warnings)]
use evoxc::prelude::*;
use std::path::Path;

fn graphs(graph: &Graph<(Sym, Sym), Sym>, path: &Path) -> evoxc::Result<()> {
    let text = graph.to_string();
    assert_eq!(Graph::parse(&text)?.to_string(), text);
    graph.verify()?;
    assert!(graph.ops().iter().count() > 0);
    for (name, value) in graph.static_values() {
        println!("{name} = {value}");
    }
    graph.save(path)?;
    let loaded = Graph::load(path)?.typed::<(Sym, Sym), Sym>()?;
    assert_eq!(loaded.structural_hash(), graph.structural_hash());
    assert!(graph.to_dot().starts_with("digraph"));
    // A graph is a graph function.
    trace(graph, graph.specs())?.verify()
}

fn files(graph: &Graph<(Sym, Sym), Sym>, program: &Path, artifact: &Path) -> evoxc::Result<()> {
    graph.lower(&Interp)?.save(program)?;
    LoweredProgram::open(program, &Interp)?.typed::<(Tensor, Tensor), Tensor>()?.compile()?.save(artifact)?;
    let exe = CompiledArtifact::open(artifact, &Interp)?.typed::<(Tensor, Tensor), Tensor>()?.load(Device::cpu())?;
    assert_eq!(exe.run((Tensor::from(2f32), Tensor::from(3f32)))?.item::<f32>()?, 6.0);
    Ok(())
}

fn main() -> evoxc::Result<()> {
    let graph = trace(|x: Sym, y: Sym| x * y, (spec(F32, []), spec(F32, [])))?;
    let file = |end: &str| std::env::temp_dir().join(format!("evoxc-ui-{}.{end}", std::process::id()));
    let paths = [file("evoxcgraph"), file("program"), file("evoxcartifact")];
    let done = graphs(&graph, &paths[0]).and_then(|()| files(&graph, &paths[1], &paths[2]));
    for path in &paths {
        let _ = std::fs::remove_file(path);
    }
    done
}
