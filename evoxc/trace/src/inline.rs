//! Calling a graph inside a trace: its ops are appended, with the extents of the arguments in place of its symbols.

use crate::{Graph, Sym, builder};
use evoxc_core::{Dim, Loc, OpError, Tree, TreeDef};
use evoxc_ir::{Func, FuncRef, Module, Op, Prim, Region, RegionType, TensorType, Value, ValueInfo, infer};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Appends `graph`, its static values and its notes to the innermost trace; `loc` is where errors are said to be.
pub(crate) fn call<I: Tree<Sym>, O: Tree<Sym>>(graph: &Graph<I, O>, args: I, loc: Option<Loc>) -> O {
    let g = &graph.inner;
    let (mut leaves, def) = TreeDef::flatten(args);
    let wrong = |message: String| -> ! {
        builder::with(|t| t.error(OpError::new("call", message).at(loc)));
        builder::abort()
    };
    if let Some(d) = g.inputs.difference(&def) {
        wrong(format!("the graph takes another tree: {d}"));
    }
    leaves.extend(g.captures.iter().map(|c| Sym::new(c.id, c.trace)));
    let results = match (g.module.main(), builder::resolve_all("call", &leaves, loc)) {
        (Some(main), Some(values)) => match splice(&g.module, main, &values, loc) {
            Ok(r) => r,
            Err(e) => {
                builder::with(|t| t.error(e.at(loc)));
                vec![Sym::POISON; main.body.results.len()]
            }
        },
        _ => vec![Sym::POISON; g.outputs.leaf_count()],
    };
    match g.outputs.unflatten(results) {
        Ok(o) => o,
        Err(e) => wrong(e.to_string()),
    }
}

/// Binds the symbols of `want` so that it becomes `got`, where that is one symbol `S`, or `a*S + c`.
fn bind(symbols: &mut Vec<(Dim, Dim)>, want: Dim, got: Dim) -> Result<(), String> {
    let Some((symbol, value)) = solve(want, got) else { return Ok(()) };
    match symbols.iter().find(|(s, _)| *s == symbol) {
        Some((_, d)) if *d == value => Ok(()),
        Some((_, d)) => Err(format!("`{symbol}` is {d} and {value}")),
        None => {
            symbols.push((symbol, value));
            Ok(())
        }
    }
}

/// The symbol of `want` and the extent in its place for which `want` is `got`.
fn solve(want: Dim, got: Dim) -> Option<(Dim, Dim)> {
    if want.symbol_name().is_some() {
        return Some((want, got));
    }
    let mut symbols = vec![];
    want.symbols(&mut symbols);
    let &[symbol] = &symbols[..] else { return None };
    let at = |v: i64| want.evaluate(&mut |_| Some(v)).ok().map(Dim::constant);
    let c = at(0)?;
    let a = at(1)? - c;
    let value = (got - c) / a;
    let fits = want == symbol * a + c && value * a + c == got && value.as_i64().is_none_or(|v| v >= 0);
    fits.then_some((symbol, value))
}

fn substitute(symbols: &[(Dim, Dim)], d: Dim) -> Dim {
    if d.is_const() || symbols.is_empty() {
        return d;
    }
    d.substitute(&mut |s| symbols.iter().find(|(k, _)| *k == s).map(|(_, v)| *v))
}

/// Appends the body of a function of the innermost trace, on arguments of the types that it takes.
pub(crate) fn function(f: &Func, args: &[Value]) -> Result<Vec<Sym>, OpError> {
    let types: Vec<TensorType> = builder::with(|t| args.iter().map(|&a| t.func.ty(a).clone()).collect());
    let same = |a: &TensorType, b: &TensorType| a.dtype == b.dtype && a.shape == b.shape;
    let want = f.inputs();
    if want.len() != types.len() || !want.iter().zip(&types).all(|(a, b)| same(a, b)) {
        let list = |l: &[TensorType]| l.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let message = format!("@{} takes ({}), got ({})", f.name, list(&want), list(&types));
        return Err(OpError::new("call", message));
    }
    let mut map: FxHashMap<Value, Value> = f.body.args.iter().copied().zip(args.iter().copied()).collect();
    for op in &f.body.ops {
        copy(Source::Func(f), op, &[], &FxHashMap::default(), &mut map, &mut None)?;
    }
    Ok(builder::with(|t| f.body.results.iter().map(|r| Sym::new(map.get(r).copied().unwrap_or(*r).0, t.id)).collect()))
}

/// Appends a copy of an op of the innermost trace; see `emitter::replay`.
pub(crate) fn replay(op: &Op, map: &mut FxHashMap<Value, Value>) -> Result<(), OpError> {
    copy(Source::Trace, op, &[], &FxHashMap::default(), map, &mut None)
}

/// Appends a copy of an op of `f`, whose callees have these names in the innermost trace; see `emitter::replay_from`.
pub(crate) fn replay_from(
    f: &Func,
    callees: &FxHashMap<String, String>,
    op: &Op,
    map: &mut FxHashMap<Value, Value>,
) -> Result<(), OpError> {
    copy(Source::Func(f), op, &[], callees, map, &mut None)
}

/// Where copied values are described.
#[derive(Clone, Copy)]
enum Source<'a> {
    Func(&'a Func),
    /// The innermost trace itself.
    Trace,
}

impl Source<'_> {
    fn info(self, v: Value) -> ValueInfo {
        match self {
            Source::Func(f) => f.values[v.index()].clone(),
            Source::Trace => builder::with(|t| t.func.values[v.index()].clone()),
        }
    }
}

fn splice(module: &Module, main: &Func, args: &[Value], loc: Option<Loc>) -> Result<Vec<Sym>, OpError> {
    let mut symbols: Vec<(Dim, Dim)> = vec![];
    let types: Vec<TensorType> = builder::with(|t| args.iter().map(|&a| t.func.ty(a).clone()).collect());
    let mismatch = |want: &TensorType, got: &TensorType, why: &str| {
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        OpError::new("call", format!("the graph takes {want}, got {got}{why}")).at(loc)
    };
    for (want, got) in main.inputs().iter().zip(&types) {
        if want.dtype != got.dtype || want.rank() != got.rank() {
            return Err(mismatch(want, got, ""));
        }
        for (&w, &g) in want.shape.iter().zip(&got.shape) {
            bind(&mut symbols, w, g).map_err(|why| mismatch(want, got, &why))?;
        }
    }
    for (want, got) in main.inputs().iter().zip(&types) {
        if want.shape.iter().zip(&got.shape).any(|(&w, &g)| substitute(&symbols, w) != g) {
            return Err(mismatch(want, got, ""));
        }
    }
    let callees = adopt(module, &symbols);
    let mut map: FxHashMap<Value, Value> = main.body.args.iter().copied().zip(args.iter().copied()).collect();
    for op in &main.body.ops {
        copy(Source::Func(main), op, &symbols, &callees, &mut map, &mut None)?;
    }
    remarks(module);
    Ok(builder::with(|t| {
        main.body.results.iter().map(|r| Sym::new(map.get(r).copied().unwrap_or(*r).0, t.id)).collect()
    }))
}

/// Adds the static values and notes of a module.
pub(crate) fn remarks(module: &Module) {
    builder::with(|t| {
        let notes: Vec<String> = module.notes.iter().filter(|n| !t.notes.contains(n)).cloned().collect();
        t.notes.extend(notes);
        module.statics.iter().for_each(|(name, value)| t.record_static(name, value.clone()));
    });
}

/// Copies the functions that the graph calls into the trace, under names of their own; gives the new names. Callees
/// keep their symbols unless these are bound to other extents, in which case the copy is specialised.
pub(crate) fn adopt(module: &Module, symbols: &[(Dim, Dim)]) -> FxHashMap<String, String> {
    let mut names = FxHashMap::default();
    builder::with(|t| {
        for f in module.funcs.iter().skip(1) {
            let name = t.unique(&f.name);
            names.insert(f.name.clone(), name.clone());
            t.add_callee(Func { name, ..f.clone() });
        }
        let first = t.callees.len() - module.funcs.len().saturating_sub(1);
        for f in &mut t.callees[first..] {
            f.values
                .iter_mut()
                .for_each(|v| v.ty.shape.dims_mut().iter_mut().for_each(|d| *d = substitute(symbols, *d)));
            patch(&mut f.body, symbols, &names);
        }
    });
    names
}

/// See `emitter::specialize`.
pub(crate) fn specialize(name: &FuncRef, symbol: Dim, extent: Dim) -> Option<FuncRef> {
    let mut funcs = vec![Func::default()];
    let mut wanted = vec![name.clone()];
    while let Some(next) = wanted.pop() {
        if funcs.iter().any(|f| f.name == next.0) {
            continue;
        }
        let f = builder::with(|t| t.callee(&next.0).cloned())?;
        called(&f.body, &mut wanted);
        funcs.push(f);
    }
    let names = adopt(&Module { funcs, ..Module::default() }, &[(symbol, extent)]);
    names.get(&name.0).map(|n| FuncRef(n.clone()))
}

/// The functions that a region names.
fn called(region: &Region, out: &mut Vec<FuncRef>) {
    for op in &region.ops {
        out.extend(op.prim.functions().into_iter().cloned());
        op.regions.iter().for_each(|r| called(r, out));
    }
}

fn patch(region: &mut Region, symbols: &[(Dim, Dim)], names: &FxHashMap<String, String>) {
    for op in &mut region.ops {
        op.prim.map_dims(&mut |d| substitute(symbols, d));
        rename(&mut op.prim, names);
        op.regions.iter_mut().for_each(|r| patch(r, symbols, names));
    }
}

fn rename(prim: &mut Prim, names: &FxHashMap<String, String>) {
    let new = |f: &mut FuncRef| {
        if let Some(n) = names.get(&f.0) {
            f.0.clone_from(n);
        }
    };
    prim.functions_mut().into_iter().for_each(new);
}

/// Copies one op (and its regions) into the innermost trace, or into `into` inside a region.
fn copy(
    from: Source,
    op: &Op,
    symbols: &[(Dim, Dim)],
    callees: &FxHashMap<String, String>,
    map: &mut FxHashMap<Value, Value>,
    into: &mut Option<&mut Region>,
) -> Result<(), OpError> {
    let mut prim = op.prim.clone();
    prim.map_dims(&mut |d| substitute(symbols, d));
    rename(&mut prim, callees);
    let operands: SmallVec<[Value; 3]> = op.operands.iter().map(|v| map.get(v).copied().unwrap_or(*v)).collect();
    let mut regions = vec![];
    for r in &op.regions {
        let mut new = Region::default();
        for &a in &r.args {
            let mut info = from.info(a);
            info.ty.shape.dims_mut().iter_mut().for_each(|d| *d = substitute(symbols, *d));
            let v = builder::with(|t| t.inner_value(info.ty, info.name));
            map.insert(a, v);
            new.args.push(v);
        }
        for o in &r.ops {
            copy(from, o, symbols, callees, map, &mut Some(&mut new))?;
        }
        new.results = r.results.iter().map(|v| map.get(v).copied().unwrap_or(*v)).collect();
        regions.push(new);
    }
    let old: SmallVec<[ValueInfo; 1]> = op.results.iter().map(|&v| from.info(v)).collect();
    builder::with(|t| {
        // The types are known where nothing but the numbering changes.
        let types: SmallVec<[TensorType; 1]> = if symbols.is_empty() && matches!(from, Source::Func(_)) {
            old.iter().map(|i| i.ty.clone()).collect()
        } else {
            let of = |vs: &[Value]| vs.iter().map(|&v| t.func.ty(v).clone()).collect();
            let mut kinds: SmallVec<[RegionType; 2]> =
                regions.iter().map(|r| RegionType { args: of(&r.args), results: of(&r.results) }).collect();
            if let Prim::Call { callee, .. } = &prim
                && let Some(f) = t.callee(&callee.0)
            {
                kinds.push(RegionType { args: f.inputs(), results: f.outputs() });
            }
            let operand_types: SmallVec<[&TensorType; 4]> = operands.iter().map(|&v| t.func.ty(v)).collect();
            infer(&prim, &operand_types, &kinds).map_err(|e| e.at(op.loc))?.into_iter().collect()
        };
        let results = match into {
            Some(region) => {
                let results: SmallVec<[Value; 1]> = types.into_iter().map(|ty| t.inner_value(ty, None)).collect();
                region.ops.push(Op { prim, operands, results: results.clone(), regions, loc: op.loc });
                results
            }
            None => t.push(prim, operands, &types, regions, op.loc),
        };
        for ((&result, info), &new) in op.results.iter().zip(old).zip(&results) {
            if let (Some(name), Some(to)) = (info.name, t.func.values.get_mut(new.index())) {
                to.name = Some(name);
            }
            map.insert(result, new);
        }
        Ok(())
    })
}
