//! The runner of file tests: what each kind of case must satisfy. Functions return the list of failures, each with its
//! `file:line`; with `UPDATE=1` in the environment, expected prints are rewritten instead of compared.

use crate::case::{self, Case, files, read};
use crate::run::{Failure, execute, judge, load, same_bits};
use evoxc::stablehlo::{ExportOptions, export_module};
use evoxc::{Dyn, Graph, TensorSpec, TreeDef, dim, grad, jvp, spec, trace, vmap};
use evoxc_core::{Dim, Error, Tensor};
use evoxc_ir::{Literal, Module, Op, Prim, Value, simplify};
use evoxc_stage::{AnyBackend, Backend};
use std::collections::BTreeSet;
use std::path::Path;

fn updating() -> bool {
    std::env::var_os("UPDATE").is_some()
}

/// Applies `check` to every case of a kind; the failures, with their places.
pub fn each(kind: &str, mut check: impl FnMut(&Case) -> Result<(), String>) -> Vec<String> {
    let mut failures = vec![];
    let mut count = 0;
    match files(kind) {
        Err(e) => failures.push(e),
        Ok(list) => {
            for file in list {
                match read(&file) {
                    Err(e) => failures.push(e),
                    Ok(cases) => {
                        for case in cases {
                            count += 1;
                            if let Err(e) = check(&case) {
                                failures.push(format!("{}/{}: {} {e}", kind, case.place(), case.name()));
                            }
                        }
                    }
                }
            }
        }
    }
    if count == 0 && std::env::var_os("CASE").is_none() {
        failures.push(format!("{kind}: there are no cases"));
    }
    println!("{kind}: {count} cases, {} failures", failures.len());
    failures
}

/// Print cases: prints each program after `change` and compares the print with the expected one, or, where the case
/// holds none, with the program itself.
fn prints(kind: &str, change: impl Fn(&Case, Module) -> Result<Module, String>) -> Vec<String> {
    let print = |case: &Case| -> Result<String, String> {
        let module = Module::parse(&case.program).map_err(|e| e.to_string())?;
        module.verify().map_err(|e| e.to_string())?;
        let module = change(case, module)?;
        let text = module.to_string();
        let again = Module::parse(&text).map_err(|e| format!("the print does not parse: {e}\n{text}"))?;
        again.verify().map_err(|e| format!("the print does not verify: {e}\n{text}"))?;
        if again != module {
            return Err(format!("the print parses to another module:\n{text}"));
        }
        if again.structural_hash() != module.structural_hash() {
            return Err(format!("the print parses to a module of another hash:\n{text}"));
        }
        if again.to_string() != text {
            return Err(format!("printing twice gives another text:\n{text}\n{again}"));
        }
        Ok(text)
    };
    if updating() {
        let mut failures = vec![];
        for file in files(kind).unwrap_or_default() {
            match rewritten(&file, &print) {
                Ok(parts) => failures.extend(case::write(&file, &parts).err()),
                Err(e) => failures.push(e),
            }
        }
        return failures;
    }
    each(kind, |case| {
        let got = print(case)?;
        let want = case.print.clone().unwrap_or_else(|| case.program.trim_matches('\n').to_string() + "\n");
        if got.trim() == want.trim() { Ok(()) } else { Err(format!("prints\n{got}\ninstead of\n{want}")) }
    })
}

/// The new text of every case of a file.
fn rewritten(file: &Path, print: &dyn Fn(&Case) -> Result<String, String>) -> Result<Vec<String>, String> {
    let mut out = vec![];
    for case in read(file)? {
        let got = print(&case).map_err(|e| format!("{}: {e}", case.place()))?;
        let mut text = String::new();
        if case.print.is_some() {
            text = printed(&case, &got);
        } else {
            let head = case.text.lines().take_while(|l| l.starts_with("//") || l.trim().is_empty());
            head.for_each(|l| text.push_str(&format!("{l}\n")));
            text.push_str(&got);
        }
        out.push(text);
    }
    Ok(out)
}

/// The text of a case up to `// ---- `, and `got` after it.
fn printed(case: &Case, got: &str) -> String {
    let mut text = String::new();
    for line in case.text.lines() {
        text.push_str(line);
        text.push('\n');
        if line.starts_with("// ---- ") {
            break;
        }
    }
    for line in got.lines() {
        text.push_str(format!("// {line}").trim_end());
        text.push('\n');
    }
    text
}

/// `roundtrip`: a program prints as it stands, or as the lines after `// ---- printed`; the print parses back.
pub fn roundtrip() -> Vec<String> {
    prints("roundtrip", |_, m| Ok(m))
}

/// `stablehlo`: the text that a program is exported as, after `// ---- stablehlo`; `// options: chlo, strict` sets options,
/// `// error: substring` says that it is refused.
pub fn stablehlo() -> Vec<String> {
    let export = |case: &Case| -> Result<Result<String, String>, String> {
        let module = Module::parse(&case.program).map_err(|e| e.to_string())?;
        let mut options = ExportOptions::default();
        for word in case.header("options").iter().flat_map(|l| l.split(',')) {
            match word.trim() {
                "chlo" => options.chlo = true,
                "strict" => options.strict = true,
                "locations" => options.locations = true,
                "drop_prints" => options.drop_prints = true,
                "alone" => options.alone = true,
                "lean" => options.lean = true,
                "closed" => options.closed = true,
                other => return Err(format!("no option is called `{other}`")),
            }
        }
        Ok(export_module(&module, &options).map_err(|e| e.to_string()))
    };
    if updating() {
        // Cases that are refused keep their text.
        let text = |c: &Case| match &c.print {
            None => Ok(c.text.clone()),
            Some(_) => Ok(printed(c, &export(c)?.map_err(|e| format!("{}: {e}", c.place()))?)),
        };
        let mut failures = vec![];
        for file in files("stablehlo").unwrap_or_default() {
            match read(&file).and_then(|cases| cases.iter().map(text).collect::<Result<Vec<_>, String>>()) {
                Ok(parts) => failures.extend(case::write(&file, &parts).err()),
                Err(e) => failures.push(format!("{}: {e}", file.display())),
            }
        }
        return failures;
    }
    each("stablehlo", |case| match (export(case)?, case.header("error").first(), &case.print) {
        (Err(e), Some(want), _) if e.contains(want) => Ok(()),
        (Err(e), _, _) => Err(format!("is refused: {e}")),
        (Ok(got), None, Some(want)) if got.trim() == want.trim() => Ok(()),
        (Ok(got), ..) => Err(format!("is exported as\n{got}")),
    })
}

/// `grad`, `jvp`, `vmap`: what a transform of a program is (of its first argument; of all of them; by rows), simplified:
/// the lines after `// ---- grad` and so on. For vmap `// axes: 0, none` says which arguments are mapped, by default all,
/// and `// rows: 3` how many rows there are, by default a symbol.
pub fn transformed() -> Vec<String> {
    // Without locations: the programs have none of their own.
    fn bare(r: &mut evoxc_ir::Region) {
        for op in &mut r.ops {
            op.loc = None;
            op.regions.iter_mut().for_each(bare);
        }
    }
    let simple = |g: Result<Graph, Error>| {
        let mut module = g.map_err(|e| e.to_string())?.simplify().module().clone();
        module.funcs.iter_mut().for_each(|f| bare(&mut f.body));
        Ok(module)
    };
    let graph = |m: Module| Graph::from_module(m).map_err(|e| e.to_string());
    let mut failures = prints("grad", |_, m| {
        let g = graph(m)?;
        simple(trace(grad(&g), g.specs()).map(Graph::erase))
    });
    failures.extend(prints("jvp", |_, m| {
        let g = graph(m)?;
        simple(trace(jvp(&g), (g.specs(), g.specs())).map(Graph::erase))
    }));
    failures.extend(prints("vmap", |case, m| {
        let g = graph(m)?;
        let specs = g.input_specs();
        let mapped: Vec<bool> = match case.header("axes").first() {
            Some(axes) => axes.split(',').map(|a| a.trim() != "none").collect(),
            None => vec![true; specs.len()],
        };
        let size = match case.header("rows").first() {
            Some(n) => Dim::constant(n.parse().map_err(|e| format!("rows: {e}"))?),
            None => dim("B"),
        };
        let def = |n| if n == 1 { TreeDef::leaf() } else { TreeDef::leaves_tuple(n) };
        let row = |t: TensorSpec| spec(t.dtype, [size].iter().chain(&t.shape).copied().collect::<Vec<_>>());
        let rows = specs.into_iter().zip(&mapped).map(|(t, &m)| if m { row(t) } else { t }).collect::<Vec<_>>();
        let rows: Dyn<TensorSpec> = def(rows.len()).unflatten(rows).map_err(|e| e.to_string())?;
        let axes: Vec<Option<i64>> = mapped.into_iter().map(|m| m.then_some(0)).collect();
        simple(trace(vmap(&g).in_axes(axes), rows).map(Graph::erase))
    }));
    failures
}

/// `simplify`: a program simplifies to the lines after `// ---- simplified`.
pub fn simplified() -> Vec<String> {
    prints("simplify", |_, m| {
        let simple = simplify(&m);
        simple.verify().map_err(|e| format!("the simplified module does not verify: {e}\n{simple}"))?;
        Ok(simple)
    })
}

/// `verify`: the error stands on the line that ends with `// error: part of the message`; `// ok` means none.
pub fn verify() -> Vec<String> {
    each("verify", |case| {
        let result = Module::parse_with_lines(&case.program);
        let marked = case
            .program
            .lines()
            .enumerate()
            .find_map(|(i, l)| l.split_once("// error: ").map(|(_, m)| (i + 1, m.trim())));
        let failed = match result {
            Err(Error::Parse(e)) => Some((e.line, e.message.clone())),
            Err(e) => Some((0, e.to_string())),
            Ok((module, lines)) => match module.verify() {
                Ok(()) => None,
                Err(Error::Ir(e)) => Some((line_of(case, &module, &lines, &e.function, e.index), e.to_string())),
                Err(e) => Some((0, e.to_string())),
            },
        };
        match (marked, failed) {
            (None, None) if !case.header("ok").is_empty() => Ok(()),
            (None, None) => Err("it verifies, and no header `// ok` says that it may".into()),
            (Some((line, message)), None) => {
                Err(format!("line {}: it verifies, expected: {message}", case.line + line - 1))
            }
            (None, Some((line, message))) => {
                Err(format!("line {}: unexpected: {message}", case.line + line.max(1) - 1))
            }
            (Some((line, want)), Some((at, message))) => {
                if line != at || !message.contains(want) {
                    return Err(format!(
                        "line {}: expected: {want}\n  line {}: got: {message}",
                        case.line + line - 1,
                        case.line + at.max(1) - 1
                    ));
                }
                Ok(())
            }
        }
    })
}

/// The line of an error: its op's, or its function's.
fn line_of(case: &Case, module: &Module, lines: &[Vec<usize>], function: &str, index: Option<usize>) -> usize {
    let at = module.funcs.iter().position(|f| f.name == function);
    let op = index.and_then(|i| lines.get(at?)?.get(i).copied());
    let header = || {
        let mark = format!("func @{function}(");
        // Of functions with the same name it is the last that offends.
        case.program.lines().enumerate().filter(|(_, l)| l.contains(&mark)).map(|(i, _)| i + 1).last().unwrap_or(1)
    };
    op.unwrap_or_else(header)
}

/// A list of cases with, for each, a part of what the backend or the comparison must say: lines
/// `file.evx @function | message`; `file.evx *` stands for all those of a file that it fits.
struct Listed {
    path: String,
    entries: Vec<(String, String)>,
    seen: BTreeSet<usize>,
}

impl Listed {
    fn read(folder: &str, backend: &str) -> Listed {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(format!("{backend}.txt"));
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let lines = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
        let entries =
            lines.map(|l| l.split_once('|').unwrap_or((l, ""))).map(|(n, m)| (n.trim().into(), m.trim().into()));
        Listed { path: format!("{folder}/{backend}.txt"), entries: entries.collect(), seen: BTreeSet::new() }
    }
    /// Is the case listed with this message?
    fn has(&mut self, name: &str, message: &str) -> bool {
        let file = name.split(' ').next().unwrap_or_default();
        let fits = |(n, m): &(String, String)| (n == name || *n == format!("{file} *")) && message.contains(m.as_str());
        let at = self.entries.iter().position(fits);
        self.seen.extend(at);
        at.is_some()
    }
    /// The files that entries are about.
    fn files(&self) -> impl Iterator<Item = String> + '_ {
        self.entries.iter().map(|(name, _)| name.split(' ').next().unwrap_or_default().into())
    }
    /// Entries about those files that no case needed.
    fn stale<'a>(&'a self, files: &'a BTreeSet<String>) -> impl Iterator<Item = String> + 'a {
        let unseen = self.entries.iter().enumerate().filter(|(i, _)| !self.seen.contains(i));
        let here = unseen.filter(|(_, (name, _))| files.contains(name.split(' ').next().unwrap_or_default()));
        here.map(|(_, (name, message))| format!("{}: no case needs `{name} | {message}`: take it off", self.path))
    }
}

/// The names of the files of a kind that run.
fn case_files(kind: &str) -> BTreeSet<String> {
    let list = files(kind).unwrap_or_default();
    list.iter().filter_map(|f| f.file_name()).map(|n| n.to_string_lossy().into_owned()).collect()
}

/// `run` on one backend: the results are the expected ones. Cases in the list of what the backend does not support must
/// be refused, with the message that the list says; cases in the list of its deviations must differ. Entries that are not
/// needed are failures.
pub fn values(backend: &AnyBackend) -> Vec<String> {
    let mut unsupported = Listed::read("unsupported", backend.name());
    let mut deviations = Listed::read("deviations", backend.name());
    let mut failures = each("run", |case| {
        let name = case.name();
        // A compiler may end the process: the last name is the case's then.
        if std::env::var_os("CASE").is_some() {
            eprintln!("{name}");
        }
        let value = load(case)?;
        match execute(backend, &value.module, &value.inputs) {
            Err(Failure::Unsupported(m)) if unsupported.has(&name, &m) => Ok(()),
            Err(Failure::Unsupported(m)) => Err(format!("{} refuses it, and it is not listed: {m}", backend.name())),
            Err(Failure::Wrong(m)) => Err(format!("{}: {m}", backend.name())),
            Ok(actual) => match judge(&actual, &value) {
                Err(m) if !deviations.has(&name, &m) => Err(format!("{}: {m}", backend.name())),
                Ok(()) | Err(_) => Ok(()),
            },
        }
    });
    // Entries about files that are not there are stale too, but only where all of those that are there have run.
    let mut ran = case_files("run");
    if std::env::var_os("CASE").is_none() {
        ran.extend([&unsupported, &deviations].iter().flat_map(|l| l.files()));
    }
    failures.extend(unsupported.stale(&ran).chain(deviations.stale(&ran)));
    failures
}

/// The program with its inputs as constants, so that simplification sees everything; `None` with symbolic extents.
fn closed(module: &Module, inputs: &[Tensor]) -> Option<Module> {
    let mut closed = module.clone();
    let main = closed.funcs.first_mut()?;
    if main.values.iter().any(|v| v.ty.shape.iter().any(|d| !d.is_const())) {
        return None;
    }
    let args = std::mem::take(&mut main.body.args);
    let constant = |(v, t): (Value, &Tensor)| Op {
        prim: Prim::Constant { value: Literal::Dense(t.clone()) },
        operands: Default::default(),
        results: [v].into_iter().collect(),
        regions: vec![],
        loc: None,
    };
    main.body.ops.splice(0..0, args.into_iter().zip(inputs).map(constant));
    Some(closed)
}

/// `run` once more: neither simplification (with inputs, and with their values as constants) nor print and parse changes
/// a bit of what the program gives.
pub fn preserved(backend: &AnyBackend) -> Vec<String> {
    each("run", |case| {
        let value = load(case)?;
        let run = |m: &Module, inputs: &[Tensor]| execute(backend, m, inputs).map_err(|e| format!("{e:?}"));
        let before = run(&value.module, &value.inputs)?;
        let simple = simplify(&value.module);
        simple.verify().map_err(|e| format!("simplified, it does not verify: {e}\n{simple}"))?;
        same_bits(&before, &run(&simple, &value.inputs)?).map_err(|m| format!("simplified: {m}\n{simple}"))?;
        if let Some(closed) = closed(&value.module, &value.inputs) {
            closed.verify().map_err(|e| format!("with constants, it does not verify: {e}\n{closed}"))?;
            let simple = simplify(&closed);
            simple.verify().map_err(|e| format!("simplified with constants, it does not verify: {e}\n{simple}"))?;
            same_bits(&before, &run(&simple, &[])?).map_err(|m| format!("simplified with constants: {m}\n{simple}"))?;
        }
        let text = value.module.to_string();
        let again = Module::parse(&text).map_err(|e| format!("the print does not parse: {e}\n{text}"))?;
        if again != value.module {
            return Err(format!("the print parses to another module:\n{text}"));
        }
        same_bits(&before, &run(&again, &value.inputs)?).map_err(|m| format!("printed and parsed: {m}"))
    })
}
