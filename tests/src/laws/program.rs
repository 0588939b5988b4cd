//! Graphs with flat inputs and outputs, ready to run on the interpreter, and the transforms of such graphs.

use evoxc::{Graph, Interp, Sym, jvp, trace, vjp, vmap};
use evoxc_core::{Device, Dyn, Tensor, TensorSpec, TreeDef};
use evoxc_stage::Executable;

/// A compiled graph.
pub struct Program {
    /// The graph; its inputs are a tuple of leaves, or one bare leaf.
    pub graph: Graph,
    exe: Executable<Dyn<Tensor>, Dyn<Tensor>>,
}

fn text(e: evoxc_core::Error) -> String {
    e.to_string()
}

fn def(n: usize) -> TreeDef {
    if n == 1 { TreeDef::leaf() } else { TreeDef::leaves_tuple(n) }
}

/// The graph with a flat list of inputs and outputs.
///
/// # Errors
/// A transform that wrote a graph that does not verify.
pub fn flat<I, O>(g: &Graph<I, O>) -> Result<Graph, String> {
    Graph::from_module(g.module().clone()).map_err(text)
}

impl Program {
    /// Compiles a graph for the interpreter.
    ///
    /// # Errors
    /// Those of any stage.
    pub fn new(graph: Graph) -> Result<Program, String> {
        let made = || graph.lower(&Interp)?.compile()?.load(Device::cpu());
        let exe = made().map_err(text)?;
        Ok(Program { graph, exe })
    }
    /// Runs it.
    ///
    /// # Errors
    /// Those of running.
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let args: Dyn<Tensor> = def(inputs.len()).unflatten(inputs.to_vec()).map_err(text)?;
        Ok(self.exe.run(args).map_err(text)?.leaves().to_vec())
    }
    /// (inputs, tangents) -> (results, their tangents).
    ///
    /// # Errors
    /// An op without a rule.
    pub fn jvp(&self) -> Result<Program, String> {
        let specs = || self.graph.specs();
        let g = trace(jvp(&self.graph), (specs(), specs())).map_err(text)?;
        Program::new(flat(&g)?)
    }
    /// (inputs, cotangents of the results) -> cotangents of the inputs.
    ///
    /// # Errors
    /// An op without a rule.
    pub fn vjp(&self) -> Result<Program, String> {
        let outputs = self.graph.output_specs();
        let ct: Dyn<TensorSpec> = def(outputs.len()).unflatten(outputs).map_err(text)?;
        let g = trace(vjp(&self.graph), (self.graph.specs(), ct)).map_err(text)?;
        Program::new(flat(&g)?)
    }
    /// The rows of some inputs, on these axes; `out` is the axis of all results, and `specs` the types of the inputs.
    ///
    /// # Errors
    /// An op without a rule.
    pub fn vmap(&self, axes: &[Option<i64>], out: i64, specs: Vec<TensorSpec>) -> Result<Program, String> {
        let inputs: Dyn<TensorSpec> = def(specs.len()).unflatten(specs).map_err(text)?;
        let n = self.graph.output_specs().len();
        let f = vmap(&self.graph).in_axes(axes.to_vec()).out_axes(vec![Some(out); n]);
        let g: Graph<Dyn<Sym>, Dyn<Sym>> = trace(f, inputs).map_err(text)?;
        Program::new(flat(&g)?)
    }
}
