//! Modules as Graphviz graphs: a box an op, an edge a use, a cluster a function or region.

use crate::{Func, MAX_REGION_DEPTH, Module, Op, Region, Value};
use std::fmt::Write;

/// Longer attributes are cut in labels.
const MAX_ATTRIBUTE: usize = 60;

impl Module {
    /// The module in the language of Graphviz' `dot`. Labels hold names, types and attributes; edges are the uses of
    /// values.
    ///
    /// ```
    /// let m = evoxc::ir::Module::parse("func @f(%x: tensor<2xf32>) -> tensor<2xf32> { %y = evoxc.neg(%x) : tensor<2xf32> return %y }")?;
    /// assert!(m.to_dot().contains("neg\\n%y: tensor<2xf32>"));
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    pub fn to_dot(&self) -> String {
        let mut d = Dot { out: String::new(), nodes: 0, clusters: 0, defined: vec![] };
        let _ = writeln!(
            d.out,
            "digraph {} {{\n  compound=true;\n  node [shape=box, fontname=monospace];",
            quote(&self.name)
        );
        for f in &self.funcs {
            d.defined = vec![None; f.values.len()];
            d.cluster(f, &f.body, &format!("@{}", f.name), "return", 0);
        }
        d.out.push_str("}\n");
        d.out
    }
}

struct Dot {
    out: String,
    nodes: usize,
    clusters: usize,
    /// The node that defines each value of the function at hand.
    defined: Vec<Option<usize>>,
}

impl Dot {
    fn cluster(&mut self, f: &Func, r: &Region, title: &str, end: &str, depth: usize) {
        let indent = "  ".repeat(depth + 1);
        let _ = writeln!(self.out, "{indent}subgraph cluster_{} {{\n{indent}  label={};", self.clusters, quote(title));
        self.clusters += 1;
        for &v in &r.args {
            let label = value(f, v);
            let n = self.node(&label, &indent, ", shape=ellipse");
            self.define(v, n);
        }
        for op in &r.ops {
            self.op(f, op, &indent, depth);
        }
        let n = self.node(end, &indent, ", shape=plaintext");
        self.edges(&r.results, n, &indent);
        let _ = writeln!(self.out, "{indent}}}");
    }

    fn op(&mut self, f: &Func, op: &Op, indent: &str, depth: usize) {
        let mut label = op.prim.name();
        for (name, v) in op.prim.attributes() {
            let text = v.to_string();
            let short: String = text.chars().take(MAX_ATTRIBUTE).collect();
            let dots = if short.len() < text.len() { "…" } else { "" };
            let _ = write!(label, "\n{name} = {short}{dots}");
        }
        for &v in &op.results {
            let _ = write!(label, "\n{}", value(f, v));
        }
        let n = self.node(&label, indent, "");
        self.edges(&op.operands, n, indent);
        for (i, r) in op.regions.iter().enumerate().filter(|_| depth < MAX_REGION_DEPTH) {
            let title = format!("{} {}", op.prim.name(), op.prim.region_label(i));
            let cluster = self.clusters;
            self.cluster(f, r, &title, "yield", depth + 1);
            // The end of the region is the node written last.
            let end = self.nodes - 1;
            let _ = writeln!(self.out, "{indent}  n{end} -> n{n} [style=dashed, ltail=cluster_{cluster}];");
        }
        for &v in &op.results {
            self.define(v, n);
        }
    }

    fn node(&mut self, label: &str, indent: &str, style: &str) -> usize {
        let n = self.nodes;
        self.nodes += 1;
        let _ = writeln!(self.out, "{indent}  n{n} [label={}{style}];", quote(label));
        n
    }

    fn define(&mut self, v: Value, node: usize) {
        if let Some(slot) = self.defined.get_mut(v.index()) {
            *slot = Some(node);
        }
    }

    fn edges(&mut self, from: &[Value], to: usize, indent: &str) {
        for v in from {
            if let Some(Some(n)) = self.defined.get(v.index()) {
                let _ = writeln!(self.out, "{indent}  n{n} -> n{to};");
            }
        }
    }
}

/// The name, if there is one, and the type.
fn value(f: &Func, v: Value) -> String {
    match f.values.get(v.index()) {
        Some(info) => match &info.name {
            Some(name) => format!("%{name}: {}", info.ty),
            None => info.ty.to_string(),
        },
        None => "undefined".into(),
    }
}

/// A quoted string of the dot language.
fn quote(s: &str) -> String {
    let mut out = String::from("\"");
    for c in s.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
