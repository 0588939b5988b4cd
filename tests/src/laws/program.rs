//! Graphs with flat inputs and outputs, ready to run, and the transforms of such graphs.

use crate::engines::Engines;
use evoxc::{Graph, Sym, jvp, trace, vjp, vmap};
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
    /// Compiles a graph for all engines.
    ///
    /// # Errors
    /// Those of any stage.
    pub fn new(graph: Graph) -> Result<Program, String> {
        let made = || graph.lower(&Engines)?.compile()?.load(Device::cpu());
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
    /// [`Program::jvp`] with respect to some inputs: (inputs, tangents of the active ones) -> (results, their tangents).
    /// The others are values that the function captures, so their tangents are absent, not zero.
    ///
    /// # Errors
    /// An op without a rule.
    pub fn jvp_of(&self, active: &[bool]) -> Result<Program, String> {
        self.partial(active, self.active_specs(active), |f, x, t| {
            let (y, t) = jvp(f).call((x, t));
            [y, t].concat()
        })
    }
    /// [`Program::vjp`] with respect to some inputs: (inputs, cotangents of the results) -> cotangents of the active ones.
    ///
    /// # Errors
    /// An op without a rule.
    pub fn vjp_of(&self, active: &[bool]) -> Result<Program, String> {
        self.partial(active, self.graph.output_specs(), |f, x, ct| vjp(f).call((x, ct)))
    }
    fn active_specs(&self, active: &[bool]) -> Vec<TensorSpec> {
        self.graph.input_specs().into_iter().zip(active).filter(|(_, a)| **a).map(|(t, _)| t).collect()
    }
    fn partial(
        &self,
        active: &[bool],
        more: Vec<TensorSpec>,
        transform: impl Fn(&dyn Fn(Vec<Sym>) -> Vec<Sym>, Vec<Sym>, Vec<Sym>) -> Vec<Sym>,
    ) -> Result<Program, String> {
        let write = |all: Vec<Sym>, more: Vec<Sym>| {
            let inside = |x: Vec<Sym>| {
                let mut x = x.into_iter();
                let args = all.iter().zip(active).map(|(&c, a)| if *a { x.next().unwrap_or(c) } else { c }).collect();
                let args: Dyn<Sym> = def(all.len()).unflatten(args).expect("as many leaves as inputs");
                self.graph.call(args).leaves().to_vec()
            };
            let chosen = all.iter().zip(active).filter(|(_, a)| **a).map(|(&x, _)| x).collect();
            transform(&inside, chosen, more)
        };
        Program::new(flat(&trace(write, (self.graph.input_specs(), more)).map_err(text)?)?)
    }
    /// The program that gives one result only.
    ///
    /// # Errors
    /// Those of compiling.
    pub fn result(&self, k: usize) -> Result<Program, String> {
        let mut module = self.graph.module().clone();
        if let Some(main) = module.funcs.first_mut() {
            main.body.results = main.body.results.get(k).copied().into_iter().collect();
        }
        Program::new(Graph::from_module(module).map_err(text)?)
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
