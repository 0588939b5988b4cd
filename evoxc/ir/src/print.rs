//! The text of modules and functions, which `parse` reads back: one op a line, with its location.
//!
//! Printing never fails and never panics, not even on a module that no verifier would take; what such a module breaks
//! shows as `<…>`, which does not parse. Ops are visited in a loop; only regions recurse.

use crate::lex::{escape, is_bare_name};
use crate::literal::{MAX_WRITTEN_ELEMENTS, write_literal};
use crate::{AttrValue, Func, Literal, MAX_REGION_DEPTH, Module, Name, Op, Region, Value};
use evoxc_core::{Loc, Tensor};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;
use std::fmt::Write;
use std::sync::Arc;

/// The version of the text form; another one is refused.
pub(crate) const VERSION: u32 = 1;

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut p = Printer::new();
        p.module(self);
        f.write_str(&p.out)
    }
}

impl fmt::Display for Func {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut p = Printer::new();
        p.func(self, 0);
        f.write_str(p.out.trim_end_matches('\n'))
    }
}

impl fmt::Display for AttrValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut p = Printer::new();
        p.attr(self);
        f.write_str(&p.out)
    }
}

/// The text of `m` for a container: large constants by number, with the list of them, and short names of foreign files.
pub(crate) fn for_container(m: &Module) -> (String, Vec<Tensor>) {
    let mut p = Printer { constants: Some(Constants::default()), ..Printer::new() };
    p.module(m);
    (p.out, p.constants.unwrap_or_default().list)
}

/// Constants that stand outside of the text. Those that share storage stay shared.
#[derive(Default)]
struct Constants {
    list: Vec<Tensor>,
    known: FxHashMap<(usize, Vec<usize>), usize>,
}

impl Constants {
    fn number(&mut self, t: &Tensor) -> usize {
        let key = (Arc::as_ptr(t.shared()) as usize, t.shape().to_vec());
        *self.known.entry(key).or_insert_with(|| {
            self.list.push(t.clone());
            self.list.len() - 1
        })
    }
}

struct Printer {
    out: String,
    constants: Option<Constants>,
    /// How each value of the function at hand is written.
    labels: Vec<Label>,
}

impl Printer {
    fn new() -> Printer {
        Printer { out: String::new(), constants: None, labels: vec![] }
    }

    fn module(&mut self, m: &Module) {
        self.out.push_str("module ");
        self.func_name(&m.name);
        let _ = writeln!(self.out, " version {VERSION} {{");
        for (name, text) in &m.statics {
            self.out.push_str("  // static ");
            escape(&mut self.out, name, &['=']);
            self.out.push_str(" = ");
            escape(&mut self.out, text, &[]);
            self.out.push('\n');
        }
        for note in &m.notes {
            self.out.push_str("  // note: ");
            escape(&mut self.out, note, &[]);
            self.out.push('\n');
        }
        for f in &m.funcs {
            self.func(f, 1);
        }
        self.out.push_str("}\n");
    }

    fn func(&mut self, f: &Func, indent: usize) {
        self.labels = labels(f);
        self.indent(indent);
        self.out.push_str("func ");
        self.func_name(&f.name);
        self.args(f, &f.body.args);
        self.out.push_str(" -> ");
        if let [one] = f.body.results.as_slice() {
            self.ty(f, *one);
        } else {
            self.out.push('(');
            self.list(&f.body.results, |p, &v| p.ty(f, v));
            self.out.push(')');
        }
        self.out.push_str(" {\n");
        self.region(f, &f.body, "return", indent + 1, 0);
        self.indent(indent);
        self.out.push_str("}\n");
    }

    fn region(&mut self, f: &Func, r: &Region, end: &str, indent: usize, depth: usize) {
        for op in &r.ops {
            self.op(f, op, indent, depth);
        }
        self.indent(indent);
        self.out.push_str(end);
        if !r.results.is_empty() {
            self.out.push(' ');
            self.list(&r.results, |p, &v| p.value(v));
        }
        self.out.push('\n');
    }

    fn op(&mut self, f: &Func, op: &Op, indent: usize, depth: usize) {
        self.indent(indent);
        if !op.results.is_empty() {
            self.list(&op.results, |p, &v| p.value(v));
            self.out.push_str(" = ");
        }
        let (name, kind) = op.prim.name_parts();
        let _ = write!(self.out, "evoxc.{name}{kind}(");
        self.list(&op.operands, |p, &v| p.value(v));
        self.out.push(')');
        let attributes = op.prim.attributes();
        if !attributes.is_empty() {
            self.out.push_str(" {");
            self.list(&attributes, |p, (name, value)| {
                let _ = write!(p.out, "{name} = ");
                p.attr(value);
            });
            self.out.push('}');
        }
        if !op.results.is_empty() {
            self.out.push_str(" : ");
            self.list(&op.results, |p, &v| p.ty(f, v));
        }
        if !op.regions.is_empty() {
            self.regions(f, op, indent, depth);
        }
        if let Some(loc) = op.loc {
            self.loc(loc);
        }
        self.out.push('\n');
    }

    fn regions(&mut self, f: &Func, op: &Op, indent: usize, depth: usize) {
        if depth >= MAX_REGION_DEPTH {
            self.out.push_str(" <regions nested too deeply>");
            return;
        }
        self.out.push_str(" {\n");
        for (i, r) in op.regions.iter().enumerate() {
            self.indent(indent + 1);
            self.out.push_str(&op.prim.region_label(i));
            self.args(f, &r.args);
            self.out.push_str(" {\n");
            self.region(f, r, "yield", indent + 2, depth + 1);
            self.indent(indent + 1);
            self.out.push_str("}\n");
        }
        self.indent(indent);
        self.out.push('}');
    }

    fn args(&mut self, f: &Func, args: &[Value]) {
        self.out.push('(');
        self.list(args, |p, &v| {
            p.value(v);
            p.out.push_str(": ");
            p.ty(f, v);
        });
        self.out.push(')');
    }

    fn indent(&mut self, n: usize) {
        self.out.extend(std::iter::repeat_n("  ", n));
    }

    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Printer, &T)) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            write(self, item);
        }
    }

    fn value(&mut self, v: Value) {
        match self.labels.get(v.index()) {
            Some(Label::Number(n)) => {
                let _ = write!(self.out, "%{n}");
            }
            Some(Label::Name(name)) => {
                self.out.push('%');
                name_text(&mut self.out, name);
            }
            Some(Label::Undefined) | None => {
                let _ = write!(self.out, "%<undefined {}>", v.0);
            }
        }
    }

    fn ty(&mut self, f: &Func, v: Value) {
        match f.values.get(v.index()) {
            Some(info) => {
                let _ = write!(self.out, "{}", info.ty);
            }
            None => self.out.push_str("tensor<unknown>"),
        }
    }

    fn func_name(&mut self, name: &str) {
        self.out.push('@');
        name_text(&mut self.out, name);
    }

    fn loc(&mut self, loc: Loc) {
        self.out.push_str(" loc(\"");
        let file = loc.file();
        let file = if self.constants.is_some() { short_path(file) } else { file.into() };
        escape(&mut self.out, &file, &['"']);
        let _ = write!(self.out, "\":{}:{})", loc.line, loc.column);
    }

    fn attr(&mut self, v: &AttrValue) {
        match v {
            AttrValue::Int(i) => {
                let _ = write!(self.out, "{i}");
            }
            AttrValue::Bool(b) => {
                let _ = write!(self.out, "{b}");
            }
            // A symbol may be called so.
            AttrValue::Word(w) if w == "true" || w == "false" => {
                let _ = write!(self.out, "({w})");
            }
            AttrValue::Word(w) => self.out.push_str(w),
            AttrValue::Str(s) => {
                self.out.push('"');
                escape(&mut self.out, s, &['"']);
                self.out.push('"');
            }
            AttrValue::Dim(d) => {
                let _ = write!(self.out, "({d})");
            }
            AttrValue::List(items) => {
                self.out.push('[');
                self.list(items, Printer::attr);
                self.out.push(']');
            }
            AttrValue::Record(fields) => self.record(fields),
            AttrValue::Fields(fields) => self.record(fields),
            AttrValue::Func(name) => self.func_name(name),
            AttrValue::Literal(l) => match (l, &mut self.constants) {
                (Literal::Dense(t), Some(constants)) if t.len() > MAX_WRITTEN_ELEMENTS => {
                    let _ = write!(self.out, "const<{}> : {}", constants.number(t), t.spec());
                }
                _ => write_literal(&mut self.out, l),
            },
        }
    }

    fn record<N: fmt::Display>(&mut self, fields: &[(N, AttrValue)]) {
        self.out.push('{');
        self.list(fields, |p, (name, value)| {
            let _ = write!(p.out, "{name} = ");
            p.attr(value);
        });
        self.out.push('}');
    }
}

fn name_text(out: &mut String, name: &str) {
    if is_bare_name(name) {
        out.push_str(name);
    } else {
        out.push('"');
        escape(out, name, &['"']);
        out.push('"');
    }
}

/// The last three components of an absolute path: where a dependency lies on this machine is nobody else's business.
fn short_path(file: &str) -> String {
    let absolute = file.starts_with(['/', '\\']) || file.get(1..3).is_some_and(|s| s == ":\\" || s == ":/");
    if !absolute {
        return file.into();
    }
    let parts: Vec<&str> = file.split(['/', '\\']).filter(|p| !p.is_empty()).collect();
    parts.get(parts.len().saturating_sub(3)..).unwrap_or_default().join("/")
}

/// How a value is written.
enum Label {
    Undefined,
    Number(usize),
    Name(Name),
}

fn labels(f: &Func) -> Vec<Label> {
    let mut l = Labeller::new(f);
    l.region(&f.body, 0);
    l.labels
}

struct Labeller<'f> {
    f: &'f Func,
    labels: Vec<Label>,
    taken: FxHashSet<Name>,
    /// The next suffix to try of a name.
    suffix: FxHashMap<Name, usize>,
    numbers: usize,
}

impl<'f> Labeller<'f> {
    fn new(f: &'f Func) -> Labeller<'f> {
        Labeller {
            f,
            labels: f.values.iter().map(|_| Label::Undefined).collect(),
            taken: FxHashSet::default(),
            suffix: FxHashMap::default(),
            numbers: 0,
        }
    }
    fn region(&mut self, r: &Region, depth: usize) {
        for &v in &r.args {
            self.define(v);
        }
        for op in &r.ops {
            for &v in &op.results {
                self.define(v);
            }
            for inner in op.regions.iter().filter(|_| depth < MAX_REGION_DEPTH) {
                self.region(inner, depth + 1);
            }
        }
    }
    fn define(&mut self, v: Value) {
        let Some(info) = self.f.values.get(v.index()) else { return };
        let label = match &info.name {
            Some(name) => Label::Name(self.unique(name)),
            None => {
                self.numbers += 1;
                Label::Number(self.numbers - 1)
            }
        };
        if let Some(slot) = self.labels.get_mut(v.index()) {
            *slot = label;
        }
    }
    fn unique(&mut self, name: &Name) -> Name {
        if self.taken.insert(name.clone()) {
            return name.clone();
        }
        let next = self.suffix.entry(name.clone()).or_insert(1);
        loop {
            let candidate: Name = format!("{name}_{next}").into();
            *next += 1;
            if self.taken.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}
