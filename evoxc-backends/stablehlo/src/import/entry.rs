//! The way from a text to a graph: which function is the entry, which functions stay functions, what the symbols are.

use super::attrs::{find, text as text_of};
use super::extents;
use super::fault::{Done, Fault, Source};
use super::item::{Frame, Item, leaves};
use super::options::{ImportOptions, Imported};
use super::walk::{Importer, MAX_DEPTH, Records};
use crate::syntax;
use crate::syntax::ast::{Attr, Func, Module, Op, Region, Type};
use evoxc_core::{DType, Dim, Dyn, Error, Result, Shape, TensorSpec, TreeDef, Unsupported, dim, spec};
use evoxc_ir::Prim;
use evoxc_trace::{Graph, Sym, emitter};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::cell::RefCell;

/// The graph of a module's entry function: `@main`, or else the first public function.
///
/// ```
/// let text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
///   %0 = stablehlo.add %x, %x : tensor<2xf32>
///   return %0 : tensor<2xf32>
/// }";
/// let graph = evoxc_stablehlo::import(text)?;
/// assert_eq!(graph.ops().len(), 1);
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// [`evoxc_core::Error::Parse`] for text that does not parse, [`evoxc_core::Error::Import`] for an op that breaks a rule
/// of StableHLO or that has no form in a graph.
pub fn import(text: &str) -> Result<Graph> {
    Ok(import_with(text, &ImportOptions::default())?.graph)
}

/// [`import`] with options; gives the checks of a test program, if they were asked for.
///
/// # Errors
/// Those of [`import`].
pub fn import_with(text: &str, options: &ImportOptions) -> Result<Imported> {
    import_module(&syntax::parse(text)?, text, options)
}

/// [`import_with`] of a tree that was read from this text.
///
/// # Errors
/// [`evoxc_core::Error::Import`], as of [`import`].
pub fn import_module(module: &Module, text: &str, options: &ImportOptions) -> Result<Imported> {
    let source = Source::new(text);
    let mut index = FxHashMap::default();
    for (i, f) in module.funcs.iter().enumerate() {
        if index.insert(&*f.name, i).is_some() {
            let m = format!("two functions are called @{}", f.name);
            return Err(source.error(f.at, None, "func.func", m, None).into());
        }
    }
    let entry = choose(module, &source, &index, options)?;
    let mut plan = Plan { module, source: &source, options, index: &index, order: vec![], inline: vec![] };
    plan.functions(entry)?;
    plan.solve(entry)
}

fn choose(module: &Module, source: &Source, index: &FxHashMap<&str, usize>, options: &ImportOptions) -> Result<usize> {
    let missing = |m: String| Error::from(source.error(0, None, "module", m, None));
    let found = match &options.entry {
        Some(name) => return index.get(&**name).copied().ok_or_else(|| missing(format!("it has no function @{name}"))),
        None => index.get("main").copied(),
    };
    let public = || module.funcs.iter().position(|f| f.public && f.body.is_some());
    found.or_else(public).ok_or_else(|| missing("it has no public function".into()))
}

/// All ops of a region and those inside it, without recursion.
fn each_op<'m, 'a>(region: &'m Region<'a>, f: &mut dyn FnMut(&'m Op<'a>)) {
    let mut open: Vec<&Region> = vec![region];
    while let Some(r) = open.pop() {
        for op in &r.ops {
            f(op);
            open.extend(&op.regions);
        }
    }
}

/// The functions that a function calls, and where.
fn called<'m>(func: &'m Func) -> Vec<(&'m str, usize)> {
    let mut out = vec![];
    if let Some(body) = &func.body {
        each_op(body, &mut |op| {
            let name = match &*op.name {
                "func.call" | "call" => find(&op.attrs, "callee"),
                "stablehlo.composite" | "mhlo.composite" => find(&op.attrs, "decomposition"),
                _ => None,
            };
            out.extend(name.and_then(text_of).map(|n| (n, op.at)));
        });
    }
    out
}

fn is_open(ty: &Type) -> bool {
    match ty {
        Type::Tensor(t) => t.shape.as_ref().is_none_or(|s| s.contains(&None)),
        Type::Tuple(parts) => parts.iter().any(is_open),
        Type::Scalar(_) | Type::Token | Type::Function(..) | Type::Other(_) => false,
    }
}

/// Must a function be copied into its callers? If its shapes depend on its arguments, or it holds checks.
fn depends_on_caller(func: &Func) -> bool {
    let mut found = func.values.iter().any(|v| is_open(&v.ty)) || func.body.is_none();
    if let Some(body) = &func.body {
        each_op(body, &mut |op| {
            let (dialect, name) = op.name.split_once('.').unwrap_or(("func", &op.name));
            let shapes = name.starts_with("dynamic_") && name != "dynamic_slice" && name != "dynamic_update_slice";
            let target = find(&op.attrs, "call_target_name").and_then(text_of).unwrap_or_default();
            let custom = target.starts_with("check.") || target.starts_with("stablehlo.dynamic_");
            let sizes = matches!(name, "real_dynamic_slice" | "set_dimension_size" | "get_dimension_size");
            found |= shapes || sizes || custom || dialect == "check" || dialect == "interpreter";
        });
    }
    found
}

/// What is decided before the walk.
struct Plan<'m, 'a> {
    module: &'m Module<'a>,
    source: &'m Source<'m>,
    options: &'m ImportOptions,
    index: &'m FxHashMap<&'m str, usize>,
    /// The functions that stay functions, callees first.
    order: Vec<usize>,
    /// For each function: is it copied into its callers?
    inline: Vec<bool>,
}

/// What stands for an argument of the entry.
struct Argument {
    item: Item,
    /// The types of its tensors.
    types: Vec<TensorSpec>,
    /// The extent that an integer argument may stand for.
    extent: Option<Dim>,
}

impl<'m, 'a> Plan<'m, 'a> {
    fn fail(&self, at: usize, op: &str, m: impl Into<String>) -> Error {
        self.source.error(at, None, op, m, None).into()
    }

    /// Orders the functions that the entry reaches, callees first, without recursion.
    fn functions(&mut self, entry: usize) -> Result<()> {
        let n = self.module.funcs.len();
        let (mut state, mut stack) = (vec![0u8; n], vec![(entry, 0usize)]);
        let calls: Vec<Vec<(&str, usize)>> = self.module.funcs.iter().map(called).collect();
        let mut done = vec![];
        while let Some((f, next)) = stack.pop() {
            if next == 0 {
                state[f] = 1;
            }
            let Some((name, at)) = calls[f].get(next) else {
                state[f] = 2;
                done.push(f);
                continue;
            };
            stack.push((f, next + 1));
            let Some(&callee) = self.index.get(name) else {
                return Err(self.fail(*at, "func.call", format!("the module has no function @{name}")));
            };
            match state[callee] {
                0 => stack.push((callee, 0)),
                1 => return Err(self.fail(*at, "func.call", format!("@{name} calls itself"))),
                _ => {}
            }
        }
        self.inline = vec![false; n];
        let mut depth = vec![0usize; n];
        for &f in &done {
            let callees = || calls[f].iter().filter_map(|(name, _)| self.index.get(name).copied());
            depth[f] = callees().map(|c| depth[c] + 1).max().unwrap_or(0);
            if depth[f] > MAX_DEPTH {
                return Err(self.fail(
                    self.module.funcs[f].at,
                    "func.func",
                    format!("calls nest deeper than {MAX_DEPTH}"),
                ));
            }
            self.inline[f] = depends_on_caller(&self.module.funcs[f]) || callees().any(|c| self.inline[c]);
        }
        self.order = done.into_iter().filter(|&f| f != entry && !self.inline[f]).collect();
        Ok(())
    }

    /// Imports the entry, again for each symbol that an equation decides.
    fn solve(&self, entry: usize) -> Result<Imported> {
        let Some(func) = self.module.funcs.get(entry) else { return Err(self.fail(0, "module", "it has no function")) };
        let Some(body) = &func.body else {
            return Err(self.fail(func.at, "func.func", format!("@{} has no body", func.name)));
        };
        let mut symbols = vec![];
        let mut counts = FxHashSet::default();
        let mut arguments: Vec<Argument> = vec![];
        for (i, &v) in body.args.iter().enumerate() {
            arguments.push(self.argument(func, i, v.0 as usize, &mut symbols, &mut counts)?);
        }
        let mut bound: Vec<(Dim, Dim)> = vec![];
        let mut as_extent: FxHashSet<usize> = FxHashSet::default();
        let keep = |s: Dim| counts.contains(&s);
        for _ in 0..=symbols.len() + 2 * arguments.len() + 2 {
            let put = |d: Dim| d.substitute(&mut |s| bound.iter().find(|(k, _)| *k == s).map(|(_, v)| *v));
            let args: Vec<Argument> = arguments
                .iter()
                .map(|a| Argument {
                    item: a.item.clone(),
                    types: a
                        .types
                        .iter()
                        .map(|t| spec(t.dtype, t.shape.iter().map(|&d| put(d)).collect::<Shape>()))
                        .collect(),
                    extent: a.extent.map(put),
                })
                .collect();
            let (fault, used, outcome) = self.pass(func, body, &args, &as_extent);
            match fault {
                Some(Fault::Equal(a, b, at, op)) => match extents::solve(a, b, &keep) {
                    Some((s, v)) => {
                        bound.iter_mut().for_each(|(_, d)| *d = d.substitute(&mut |x| (x == s).then_some(v)));
                        bound.push((s, v));
                    }
                    None => match pair_up(a, b, &keep) {
                        Some((s, v)) => {
                            bound.iter_mut().for_each(|(_, d)| *d = d.substitute(&mut |x| (x == s).then_some(v)));
                            bound.push((s, v));
                        }
                        None => {
                            let m = format!("the extents {a} and {b} must be equal here");
                            return Err(self.fail(at, &op, m));
                        }
                    },
                },
                Some(Fault::Error(e)) => return Err(e.into()),
                Some(Fault::Parse(e)) => return Err(e),
                Some(Fault::Recorded(at, op)) => return Err(self.recorded(at, &op, outcome)),
                None => {
                    // An integer argument that became an extent is that extent everywhere.
                    let is_new =
                        |i: usize, a: &Argument| !as_extent.contains(&i) && a.extent.is_some_and(|d| uses(d, &used));
                    let new: Vec<usize> =
                        args.iter().enumerate().filter(|(i, a)| is_new(*i, a)).map(|(i, _)| i).collect();
                    if new.is_empty() {
                        return outcome;
                    }
                    as_extent.extend(new);
                    self.anchor(func, &args, &as_extent, &symbols, &mut bound)?;
                }
            }
        }
        Err(self.fail(func.at, "func.func", "its extents cannot be decided"))
    }

    /// Every extent that an argument's value gives must be one of an argument's shape too, where the graph finds it.
    fn anchor(
        &self,
        func: &Func,
        args: &[Argument],
        as_extent: &FxHashSet<usize>,
        symbols: &[Dim],
        bound: &mut Vec<(Dim, Dim)>,
    ) -> Result<()> {
        let mut shapes = vec![];
        args.iter().flat_map(|a| &a.types).flat_map(|t| &t.shape).for_each(|d| d.symbols(&mut shapes));
        for &i in as_extent {
            let Some(extent) = args.get(i).and_then(|a| a.extent) else { continue };
            let mut mine = vec![];
            extent.symbols(&mut mine);
            if let Some(s) = mine.into_iter().find(|s| !shapes.contains(s)) {
                // Exporters compute such an argument from the shapes of the others, so it is one of their extents.
                let free = |d: &&Dim| shapes.contains(d) && !bound.iter().any(|(k, _)| k == *d);
                match symbols.iter().find(free) {
                    Some(&t) if s != t => {
                        bound.iter_mut().for_each(|(_, d)| *d = d.substitute(&mut |x| (x == t).then_some(s)));
                        bound.push((t, s));
                        return Ok(());
                    }
                    _ => {
                        let m = format!("the value of argument {i} is an extent that no argument's shape has");
                        let remedy = "export the function for static shapes, or name the extent in the options";
                        let kind = Some(Unsupported::DataDependentShape);
                        return Err(self.source.error(func.at, kind, "func.func", m, Some(remedy.into())).into());
                    }
                }
            }
        }
        Ok(())
    }

    /// The error of a trace, at the op that it arose at.
    fn recorded(&self, at: usize, op: &str, outcome: Result<Imported>) -> Error {
        match outcome {
            Err(Error::Trace(all)) => match all.errors.first() {
                Some(e) => self.source.recorded(at, op, e).into(),
                None => self.fail(at, op, "it has no type"),
            },
            Err(e) => e,
            Ok(_) => self.fail(at, op, "it has no type"),
        }
    }

    /// The types of an argument, with symbols for `?`.
    fn argument(
        &self,
        func: &Func<'a>,
        i: usize,
        v: usize,
        symbols: &mut Vec<Dim>,
        counts: &mut FxHashSet<Dim>,
    ) -> Result<Argument> {
        let Some(info) = func.values.get(v) else {
            return Err(self.fail(func.at, "func.func", "an argument has no type"));
        };
        let attrs = func.arg_attrs.get(i).map_or(&[][..], |a| a);
        let given = |axis: usize| {
            self.options.extents.iter().find(|(n, a, _)| *n == info.name && *a == axis).map(|(_, _, text)| text)
        };
        let named = |name: String, given: Option<&String>| -> Result<Dim> {
            match given {
                Some(text) => Ok(Dim::parse(text)?),
                None => {
                    let word: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
                    let first = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
                    Ok(dim(&if first { word } else { format!("_{word}") }))
                }
            }
        };
        let mut types = vec![];
        let mut extent = None;
        match &info.ty {
            Type::Tensor(t) => {
                let stand = stand(func);
                let one = self.importer();
                let typed = one.element(&stand, &t.element).and_then(|d| Ok((d, one.declared_shape(&stand, t)?)));
                let (dtype, shape) = typed.map_err(|f| self.unbox(*f))?;
                let mut dims = Shape::scalar();
                for (axis, d) in shape.iter().enumerate() {
                    match d {
                        Some(n) => dims.push(*n),
                        None => {
                            let s = named(format!("{}_{axis}", info.name), given(axis))?;
                            symbols.push(s);
                            dims.push(s);
                        }
                    }
                }
                if shape.is_empty() && dtype.is_int() {
                    let global = find(attrs, "jax.global_constant").and_then(text_of).map(str::to_string);
                    let s = named(global.unwrap_or_else(|| info.name.to_string()), given(0))?;
                    counts.insert(s);
                    extent = Some(s);
                }
                types.push(spec(dtype, dims));
            }
            _ => {
                let stand = stand(func);
                let one = self.importer();
                one.argument_types(&stand, func, crate::syntax::ast::Value(v as u32), &mut types)
                    .map_err(|f| self.unbox(*f))?;
            }
        }
        Ok(Argument { item: Item::like(&info.ty), types, extent })
    }

    fn unbox(&self, f: Fault) -> Error {
        match f {
            Fault::Error(e) => e.into(),
            Fault::Parse(e) => e,
            Fault::Recorded(at, op) | Fault::Equal(_, _, at, op) => self.fail(at, &op, "it has no type"),
        }
    }

    fn importer(&'m self) -> Importer<'m, 'a> {
        Importer {
            module: self.module,
            source: self.source,
            options: self.options,
            index: self.index,
            outlined: FxHashMap::default(),
            frames: vec![],
            depth: 0,
            regions: 0,
            inlined: 0,
            results: 0,
            arguments: 0,
            used: FxHashSet::default(),
            records: Records::default(),
        }
    }

    /// One walk over the entry, in a trace of its own.
    fn pass(
        &'m self,
        func: &'m Func<'a>,
        body: &'m Region<'a>,
        args: &[Argument],
        as_extent: &FxHashSet<usize>,
    ) -> (Option<Fault>, FxHashSet<Dim>, Result<Imported>) {
        let stand = stand(func);
        let importer = RefCell::new(self.importer());
        let mut specs: Vec<TensorSpec> = args.iter().flat_map(|a| a.types.iter().cloned()).collect();
        let own = specs.len();
        if self.options.checks
            && let Err(f) = importer.borrow().parallel_types(func, body, &mut specs)
        {
            return (Some(*f), FxHashSet::default(), Err(self.fail(func.at, "func.func", "")));
        }
        let symbolic = specs.iter().any(|s| !s.shape.is_static());
        let fault: RefCell<Option<Fault>> = RefCell::new(None);
        let tree = |n: usize| if n == 1 { TreeDef::leaf() } else { TreeDef::leaves_tuple(n) };
        let walk = |inputs: Dyn<Sym>| -> Dyn<Sym> {
            let mut i = importer.borrow_mut();
            let outputs = match self.walk(&mut i, func, body, args, as_extent, inputs.leaves(), own, &stand) {
                Ok(outputs) => outputs,
                Err(f) => {
                    *fault.borrow_mut() = Some(*f);
                    vec![]
                }
            };
            if symbolic {
                // What computed the shapes is not needed once they are known.
                emitter::prune(0, &outputs);
            }
            tree(outputs.len()).unflatten(outputs).unwrap_or_else(|_| Dyn::of(()))
        };
        let inputs = tree(specs.len());
        let graph = emitter::trace_leaves::<_, Dyn<Sym>, fn(Dyn<Sym>) -> Dyn<Sym>>(walk, specs, inputs);
        let i = importer.into_inner();
        let imported = graph.map(|graph| Imported {
            graph,
            arguments: own,
            results: i.results,
            checks: i.records.checks,
            parallel: i.records.parallel,
        });
        (fault.into_inner(), i.used, imported)
    }

    #[allow(clippy::too_many_arguments)]
    fn walk(
        &'m self,
        i: &mut Importer<'m, 'a>,
        func: &'m Func<'a>,
        body: &'m Region<'a>,
        args: &[Argument],
        as_extent: &FxHashSet<usize>,
        inputs: &[Sym],
        own: usize,
        stand: &Op,
    ) -> Done<Vec<Sym>> {
        let (line, column) = self.source.place(func.at);
        let file = self.options.file.as_deref().unwrap_or("<stablehlo>");
        let _at = emitter::at(Some(evoxc_core::Loc::new(file, line as u32, column as u32)));
        for &f in &self.order {
            if let Some(callee) = self.module.funcs.get(f)
                && let Some(body) = &callee.body
            {
                i.outline(f, callee, body, &stand_at(callee))?;
            }
        }
        i.arguments = own;
        i.results = count_results(func);
        i.records.inputs = inputs.get(own..).unwrap_or_default().to_vec();
        i.frames.push(Frame::new(func));
        let mut leaf = inputs.iter().copied();
        for (k, (&v, arg)) in body.args.iter().zip(args).enumerate() {
            let mut item = arg.item.rebuild(&mut leaf).ok_or_else(|| i.error(stand, "an argument has no value"))?;
            if let (Item::Tensor(s, known), Some(info)) = (&mut item, func.values.get(v.0 as usize)) {
                emitter::set_name(*s, &info.name);
                if let Some(extent) = arg.extent {
                    *known = Some(vec![extent].into());
                    if as_extent.contains(&k) {
                        let dtype = arg.types.first().map_or(DType::I64, |t| t.dtype);
                        *s = i.emit(stand, Prim::DimSize { extent, dtype }, &[])?;
                    }
                }
            }
            i.define(stand, v, item)?;
        }
        let results = i.body(body, stand)?;
        let mut outputs = leaves(&results);
        if outputs.len() != i.results {
            return Err(i.error(stand, format!("it returns {} values, not {}", outputs.len(), i.results)));
        }
        outputs.append(&mut i.records.outputs);
        i.drop_absorbed(&outputs);
        Ok(outputs)
    }
}

/// For an equation that decides no symbol: the first symbol of a shape for the first one that an argument gives.
/// Products of extents say no more; exporters list both in the same order.
fn pair_up(a: Dim, b: Dim, given: &dyn Fn(Dim) -> bool) -> Option<(Dim, Dim)> {
    let mut symbols = vec![];
    a.symbols(&mut symbols);
    let mut other = vec![];
    b.symbols(&mut other);
    let one_sided = symbols.iter().filter(|s| !other.contains(s)).chain(other.iter().filter(|s| !symbols.contains(s)));
    let one_sided: Vec<Dim> = one_sided.copied().collect();
    let shape = one_sided.iter().copied().find(|s| !given(*s))?;
    let value = one_sided.iter().copied().find(|s| given(*s))?;
    Some((shape, value))
}

/// Is a symbol of `d` among those used?
fn uses(d: Dim, used: &FxHashSet<Dim>) -> bool {
    let mut symbols = vec![];
    d.symbols(&mut symbols);
    symbols.iter().any(|s| used.contains(s))
}

/// The number of tensors that a function gives.
fn count_results(func: &Func) -> usize {
    fn count(t: &Type) -> usize {
        match t {
            Type::Tuple(parts) => parts.iter().map(count).sum(),
            Type::Token => 0,
            Type::Tensor(_) | Type::Scalar(_) | Type::Function(..) | Type::Other(_) => 1,
        }
    }
    func.results.iter().map(count).sum()
}

/// An op that stands for a function in errors.
fn stand<'a>(func: &Func<'a>) -> Op<'a> {
    stand_at(func)
}
fn stand_at<'a>(func: &Func<'a>) -> Op<'a> {
    Op {
        name: Cow::Borrowed("func.func"),
        operands: vec![],
        results: vec![],
        attrs: Vec::<(Cow<'a, str>, Attr<'a>)>::new(),
        regions: vec![],
        at: func.at,
        loc: None,
    }
}
