//! The argument GRAPH: a saved graph, EvoXIR text, or StableHLO text.

use crate::Failure;
use clap::Args;
use evoxc_core::{Error, TreeDef};
use evoxc_ir::{GraphFile, Module};
use evoxc_stablehlo::{ImportOptions, import_with};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The argument GRAPH.
#[derive(Args)]
pub struct GraphArgument {
    /// A saved graph (.evoxcgraph), EvoXIR text (.evx, or - for the standard input), or StableHLO text (.mlir).
    graph: PathBuf,
    /// The function that is the program, in StableHLO text: @main by default, or else the first public one.
    #[arg(long, value_name = "FUNCTION")]
    entry: Option<String>,
}

/// A graph, and how its inputs and outputs may be called.
pub struct Graph {
    /// The program.
    pub module: Module,
    /// Every input: its name where it has one, and its path in the tree of arguments.
    pub inputs: Vec<Port>,
    /// Every output.
    pub outputs: Vec<Port>,
}

/// What an input or output may be called; its number is a name as well.
#[derive(Clone, Debug, Default)]
pub struct Port {
    /// The value's name.
    pub name: Option<String>,
    /// The path in the tree.
    pub path: Option<String>,
}

impl GraphArgument {
    /// Reads the graph. EvoXIR text is parsed, not verified.
    pub fn read(&self) -> Result<Graph, Failure> {
        if self.is("evoxcgraph") {
            let file = GraphFile::load(&self.graph)?;
            return Ok(Graph::new(file.module, &file.inputs, &file.outputs));
        }
        if self.is("mlir") {
            return Ok(Graph::new(self.import()?.module().clone(), &TreeDef::default(), &TreeDef::default()));
        }
        Ok(Graph::new(self.parse()?, &TreeDef::default(), &TreeDef::default()))
    }

    /// Reads and verifies the graph, with the trees of its inputs and outputs.
    pub fn load(&self) -> Result<evoxc_trace::Graph, Failure> {
        if self.is("evoxcgraph") {
            return Ok(evoxc_trace::Graph::load(&self.graph)?);
        }
        if self.is("mlir") {
            return self.import();
        }
        Ok(evoxc_trace::Graph::from_module(self.parse()?)?)
    }

    fn is(&self, extension: &str) -> bool {
        self.graph.extension().is_some_and(|e| e == extension)
    }

    fn text(&self) -> Result<String, Failure> {
        read_text(&self.graph).map_err(|e| Failure::Error(format!("{}: {e}", self.graph.display())))
    }

    fn parse(&self) -> Result<Module, Failure> {
        Module::parse(&self.text()?).map_err(|e| Failure::Error(format!("{}:{e}", self.graph.display())))
    }

    /// StableHLO text as a graph.
    fn import(&self) -> Result<evoxc_trace::Graph, Failure> {
        let shown = self.graph.display().to_string();
        let options =
            ImportOptions { entry: self.entry.clone(), file: Some(shown.clone()), ..ImportOptions::default() };
        let imported = import_with(&self.text()?, &options).map_err(|e| match &e {
            // Of text that somebody else has written, the line says more than its number.
            Error::Parse(_) | Error::Import(_) => {
                let report = e.render().replace("<text>", &shown);
                Failure::Error(report.strip_prefix("error: ").unwrap_or(&report).to_string())
            }
            e => Failure::Error(format!("{shown}: {e}")),
        })?;
        Ok(imported.graph)
    }
}

fn read_text(path: &Path) -> std::io::Result<String> {
    if path == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    std::fs::read_to_string(path)
}

impl Graph {
    fn new(module: Module, inputs: &TreeDef, outputs: &TreeDef) -> Graph {
        let ports = |values: &[evoxc_ir::Value], tree: &TreeDef| {
            let mut paths = tree.paths().into_iter();
            let port = |v: &evoxc_ir::Value| {
                let name = module.main().and_then(|f| f.values.get(v.index())?.name.as_ref());
                Port { name: name.map(ToString::to_string), path: paths.next().filter(|p| !p.is_empty()) }
            };
            values.iter().map(port).collect()
        };
        let (args, results) = module.main().map(|f| (&*f.body.args, &*f.body.results)).unwrap_or_default();
        let (inputs, outputs) = (ports(args, inputs), ports(results, outputs));
        Graph { module, inputs, outputs }
    }
}

impl Port {
    /// What it is called in messages and files: its name, else its number.
    pub fn shown(&self, number: usize) -> String {
        self.name.clone().unwrap_or_else(|| number.to_string())
    }
}

/// The number of the port that `key` calls: a name, a path, or a number (also as `np.savez` writes it, `arr_0`).
pub fn find(ports: &[Port], key: &str) -> Option<usize> {
    let by_name = || ports.iter().position(|p| p.name.as_deref() == Some(key));
    let by_path = || ports.iter().position(|p| p.path.as_deref() == Some(key));
    let by_number = || key.strip_prefix("arr_").unwrap_or(key).parse().ok().filter(|n| *n < ports.len());
    by_name().or_else(by_number).or_else(by_path)
}
