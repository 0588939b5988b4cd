//! Random programs through StableHLO text and back: the same programs, the same values.

use evoxc::Graph;
use evoxc::ir::{AttrValue, Binary, Func, Literal, Module, Op, Prim, Region, Unary, simplify};
use evoxc::stablehlo::{export_module, import};
use evoxc_backends::stablehlo::expand::{ExpandOptions, expand};
use evoxc_core::{BF16, Buffer, DType, Dim, Error, F16, F64, Tensor};
use evoxc_stage::AnyBackend;
use evoxc_tests::engines::Engines;
use evoxc_tests::random_graph::{Program, program};
use evoxc_tests::run::execute;
use evoxc_tests::tolerance::{Category, compare};

/// Programs of up to so many ops; `PROGRAMS=n` in the environment asks for more of them.
fn programs(ops: u64) -> impl Iterator<Item = (u64, Program)> {
    let n = std::env::var("PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    let first = std::env::var("SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    (first..first + n).map(move |seed| (seed, program(seed, 1 + (seed % ops) as usize)))
}

fn engines() -> AnyBackend {
    AnyBackend::new(Engines)
}

/// The graph that a program's text is imported as; `None` where import does not know what the text no longer says: that
/// inputs share a symbol, which is `?` in each.
fn again(seed: u64, p: &Program) -> Option<Graph> {
    let text = match export_module(&p.module, &Default::default()) {
        Ok(text) => text,
        Err(Error::Backend(e)) => {
            assert!(!e.op.op.is_empty() && e.op.remedy.is_some(), "seed {seed}: {e}");
            return None;
        }
        Err(e) => panic!("seed {seed}: {e}\n{}", p.module),
    };
    match import(&text) {
        Ok(g) => Some(g),
        Err(Error::Import(e)) if text.contains('?') && e.to_string().contains("must be equal here") => None,
        Err(e) => panic!("seed {seed}: {e}\n{text}"),
    }
}

/// Is the op written as others that give the same values? Then what is read back is another program.
fn rewritten(f: &Func, op: &Op) -> bool {
    let dtype = op.operands.first().map_or(F64, |&v| f.ty(v).dtype);
    let own = match &op.prim {
        Prim::Binary(Binary::Pow) => dtype.is_int(),
        // On the unsigned integers of that size.
        Prim::Unary(Unary::CountLeadingZeros) => dtype.is_signed_int(),
        // Or and and, which StableHLO has.
        Prim::Binary(Binary::Add | Binary::Mul | Binary::Max | Binary::Min) => dtype.is_bool(),
        Prim::Reduce { .. } | Prim::ReduceWindow { .. } | Prim::Dot { .. } | Prim::Clamp {} => dtype.is_bool(),
        Prim::Unary(Unary::Cbrt) | Prim::BitcastConvert { .. } => dtype.is_complex(),
        Prim::Convert { dtype: to } => {
            let wide =
                dtype == F64 || (*to == BF16 && matches!(dtype, DType::I32 | DType::I64 | DType::U32 | DType::U64));
            *to == dtype || (matches!(*to, F16 | BF16) && wide) || to.is_bool()
        }
        // Starts are clamped by hand.
        Prim::DynamicSlice { sizes } => sizes.iter().any(|s| !s.is_const()),
        // Import knows orders by keys again.
        Prim::SortBody { .. } => true,
        // Import leaves out what a loop carries for nobody.
        Prim::WhileLoop {} => true,
        _ => false,
    };
    own || op.regions.iter().any(|r| any(f, r))
}

fn any(f: &Func, r: &Region) -> bool {
    r.ops.iter().any(|op| rewritten(f, op))
}

/// A constant of one value as that value repeated, whichever it was.
fn normal(l: &Literal) -> Literal {
    let shape = l.ty().shape;
    let one = |t: &Tensor| {
        let size = t.dtype().size();
        let bytes = t.buffer().bytes();
        let first = bytes.get(..size)?;
        bytes.chunks(size).all(|c| c == first).then(|| Buffer::from_le_bytes(t.dtype(), first))?
    };
    match one(l.tensor()).and_then(|b| Tensor::from_parts(b, &[])) {
        Some(t) if !shape.iter().any(|d| *d == 0) => Literal::Splat(t, shape),
        _ => match shape.to_static() {
            Some(n) if n.contains(&0) => Literal::Dense(Tensor::zeros(l.ty().dtype, n)),
            _ => l.clone(),
        },
    }
}

/// Simplified, with the constants of every region first, in the order of their text.
fn canonical(m: Module) -> Module {
    fn walk(r: &mut Region) {
        let constant = |op: &Op| match &op.prim {
            Prim::Constant { value } => AttrValue::Literal(value.clone()).to_string(),
            _ => "~".into(),
        };
        r.ops.sort_by_cached_key(constant);
        r.ops.iter_mut().flat_map(|op| &mut op.regions).for_each(walk);
    }
    let mut m = simplify(&m);
    m.funcs.iter_mut().for_each(|f| walk(&mut f.body));
    m
}

/// The module with the symbols of the other's inputs, and constants in one form.
fn renamed(mut m: Module, like: &Module) -> Module {
    let (Some(a), Some(b)) = (m.main().map(Func::inputs), like.main().map(Func::inputs)) else { return m };
    let mut names: Vec<(Dim, Dim)> = vec![];
    for (x, y) in a.iter().zip(&b) {
        names.extend(x.shape.iter().copied().zip(y.shape.iter().copied()).filter(|(d, _)| !d.is_const()));
    }
    let mut rename = |d: Dim| d.substitute(&mut |s| names.iter().find(|(old, _)| *old == s).map(|(_, new)| *new));
    fn walk(r: &mut Region, f: &mut dyn FnMut(Dim) -> Dim) {
        for op in &mut r.ops {
            op.prim.map_dims(f);
            if let Prim::Constant { value } = &mut op.prim {
                *value = normal(value);
            }
            op.regions.iter_mut().for_each(|r| walk(r, f));
        }
    }
    for f in &mut m.funcs {
        f.values.iter_mut().for_each(|v| v.ty.shape.dims_mut().iter_mut().for_each(|d| *d = rename(*d)));
        walk(&mut f.body, &mut rename);
    }
    m
}

#[test]
fn import_after_export_is_the_identity() {
    let (mut same, mut skipped) = (0, 0);
    for (seed, p) in programs(6) {
        let Some(again) = again(seed, &p) else { continue };
        let said = expand(&p.module, &ExpandOptions::default()).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        if said.funcs.iter().any(|f| any(f, &f.body)) {
            skipped += 1;
            continue;
        }
        let (a, b) = (canonical(renamed(again.module().clone(), &said)), canonical(renamed(said.clone(), &said)));
        assert!(a == b, "seed {seed}: what is read back\n{a}\nis not\n{b}");
        same += 1;
    }
    println!("{same} programs are the same, {skipped} have ops that are written as others");
    assert!(same > 50, "only {same} programs");
}

/// What has been imported is exported and imported without a change, whatever its ops (but for slices of symbolic sizes,
/// whose starts are clamped by hand each time). Of the first time loops may still carry what nobody uses.
#[test]
fn once_more_changes_nothing() {
    for (seed, p) in programs(20) {
        let Some(first) = again(seed, &p) else { continue };
        let mut last = first.module().clone();
        if last.to_string().contains("evoxc.dynamic_slice")
            && last.main().is_some_and(|f| f.inputs().iter().any(|t| !t.shape.is_static()))
        {
            continue;
        }
        for round in 0..2 {
            let p = Program { module: last.clone(), inputs: vec![] };
            let Some(next) = again(seed, &p) else { panic!("seed {seed}: it is not exported again") };
            let next = renamed(next.module().clone(), &last);
            if round == 1 {
                let (a, b) = (canonical(next.clone()), canonical(renamed(last.clone(), &last)));
                assert!(a == b, "seed {seed}: what is read back\n{a}\nis not\n{b}");
            }
            last = next;
        }
    }
}

#[test]
fn values_stay() {
    let engines = engines();
    let mut ran = 0;
    for (seed, p) in programs(20) {
        let Some(again) = again(seed, &p) else { continue };
        // Extents that do not fit are found while running; then there is nothing to compare.
        let Ok(before) = execute(&engines, &p.module, &p.inputs) else { continue };
        ran += 1;
        let after = execute(&engines, again.module(), &p.inputs).unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));
        let category = Category::of(&p.module).max(Category::of(again.module()));
        for (a, b) in before.iter().zip(&after) {
            compare(b, a, category).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}\n{again}", p.module));
        }
    }
    println!("{ran} programs ran");
    assert!(ran > 100, "only {ran} programs run");
}
