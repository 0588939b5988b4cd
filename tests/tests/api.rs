//! Every snippet of the API page's sections 1 to 4, 6 to 8 and 10, as a test. Expected numbers: formulas stated beside them.

use evoxc::prelude::*;

/// Row sums of tanh(x·w).
#[defn]
fn f(x: Sym, w: Sym) -> Sym {
    x.dot(w).tanh().sum(1)
}

fn data() -> (Tensor, Tensor) {
    (Tensor::ones(F32, [4, 8]), Tensor::ones(F32, [8, 4]))
}

// tanh(8) = 0.9999997749…, four of them sum to 3.999999 in f32.
#[test]
fn stages() -> evoxc::Result<()> {
    let specs = (spec(F32, [4, 8]), spec(F32, [8, 4]));
    let graph: Graph<(Sym, Sym), Sym> = trace(f, specs.clone())?;
    let lowered = graph.lower(&Interp)?;
    let artifact = lowered.compile()?;
    let exe: Executable<(Tensor, Tensor), Tensor> = artifact.load(Device::cpu())?;
    let y = exe.run(data())?;
    assert_eq!(y.to_vec::<f32>()?, [3.999999; 4]);
    let exe = build(f, specs, &Interp)?;
    assert_eq!(exe.run(data())?.to_vec::<f32>()?, [3.999999; 4]);
    assert_eq!(evaluate(f, data(), &Interp)?.to_vec::<f32>()?, [3.999999; 4]);
    Ok(())
}

#[test]
fn everything_is_send_and_sync() {
    fn check<T: Send + Sync>() {}
    check::<Graph>();
    check::<Graph<(Sym, Sym), Sym>>();
    check::<Executable<Tensor, Tensor>>();
    check::<LoweredProgram<Tensor, Tensor, Interp>>();
    check::<CompiledArtifact<Tensor, Tensor, Interp>>();
}

#[test]
fn the_list_of_backends_is_a_list_of_backends() -> evoxc::Result<()> {
    for b in &backends() {
        let y =
            trace(f, (spec(F32, [4, 8]), spec(F32, [8, 4])))?.lower(b)?.compile()?.load(Device::cpu())?.run(data())?;
        assert_eq!(y.shape(), [4]);
    }
    assert!(devices().contains(&Device::cpu()));
    Ok(())
}

#[derive(Tree, Clone)]
struct Params<T> {
    w1: T,
    b1: T,
    w2: T,
}

#[derive(Tree, Clone)]
struct Out<T> {
    logits: T,
    hidden: T,
}

#[defn]
fn model(p: Params<Sym>, x: Sym) -> Out<Sym> {
    let hidden = (x.dot(p.w1) + p.b1).tanh();
    Out { logits: hidden.dot(p.w2), hidden }
}

fn specs(b: Dim) -> (Params<TensorSpec>, TensorSpec) {
    (Params { w1: spec(F32, [4, 8]), b1: spec(F32, [8]), w2: spec(F32, [8, 3]) }, spec(F32, (b, 4)))
}

fn params() -> Params<Tensor> {
    Params { w1: Tensor::zeros(F32, [4, 8]), b1: Tensor::ones(F32, [8]), w2: Tensor::ones(F32, [8, 3]) }
}

// hidden = tanh(0 + 1), logits = 8 tanh(1).
#[test]
fn one_executable_any_batch_size() -> evoxc::Result<()> {
    let exe = build(model, specs(dim("B")), &Interp)?;
    for n in [0usize, 1, 7] {
        let out: Out<Tensor> = exe.run((params(), Tensor::ones(F32, [n, 4])))?;
        assert_eq!((out.logits.shape(), out.hidden.shape()), (&[n, 3][..], &[n, 8][..]));
        assert!(out.hidden.to_vec::<f32>()?.iter().all(|h| (h - 1f32.tanh()).abs() < 1e-6));
        assert!(out.logits.to_vec::<f32>()?.iter().all(|h| (h - 8.0 * 1f32.tanh()).abs() < 1e-5));
    }
    Ok(())
}

#[test]
fn a_wrong_tree_is_told_by_its_path() -> evoxc::Result<()> {
    let exe = build(model, specs(dim("B")), &Interp)?;
    let wrong = Params { w1: Tensor::zeros(F32, [8, 4]), ..params() };
    let e = exe.run((wrong, Tensor::ones(F32, [2, 4]))).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(e.contains("w1: expected tensor<4x8xf32>, got tensor<8x4xf32>"), "{e}");
    Ok(())
}

#[test]
fn erased_graphs_take_and_give_dynamic_trees() -> evoxc::Result<()> {
    let graph = trace(model, specs(dim("B")))?.erase();
    let exe = graph.lower(&Interp)?.compile()?.load(Device::cpu())?;
    let out = exe.run(Dyn::of((params(), Tensor::ones(F32, [2, 4]))))?;
    assert_eq!(out.leaves().len(), 2);
    let out: Out<Tensor> = out.into()?;
    assert_eq!(out.logits.shape(), [2, 3]);
    let typed = graph.typed::<(Params<Sym>, Sym), Out<Sym>>()?;
    assert_eq!(typed.specs().0.w2, spec(F32, [8, 3]));
    assert!(typed.erase().typed::<(Sym, Sym), Sym>().is_err());
    Ok(())
}

struct Config {
    scale: f64,
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "scale {}", self.scale)
    }
}

#[defn]
fn layer(x: Sym, heads: usize, cfg: &Config, act: impl Fn(Sym) -> Sym) -> Sym {
    if heads > 2 && cfg.scale != 0.0 { act(x) * cfg.scale } else { x }
}

#[test]
fn static_parameters_are_listed() -> evoxc::Result<()> {
    let cfg = Config { scale: 2.0 };
    let graph = trace(|x: Sym| layer(x, 4, &cfg, |x| x.tanh()), spec(F32, [3]))?;
    let listed = |name: &str, value: &str| graph.static_values().contains(&(name.to_string(), value.to_string()));
    assert!(listed("layer.heads", "4"), "{:?}", graph.static_values());
    assert!(listed("layer.cfg", "scale 2"), "{:?}", graph.static_values());
    assert!(graph.to_string().contains("evoxc.tanh"));
    Ok(())
}

#[defn]
fn sqrt_newton(x: Sym) -> Sym {
    let (y, _) = while_loop((x, x * 0.0), |(y, prev)| (y - prev).abs() > 1e-6, |(y, _)| (0.5 * (y + x / y), y));
    y
}

#[test]
#[allow(clippy::approx_constant)] // the documented result of the iteration, not the constant
fn while_loop_finds_the_root_of_two() -> evoxc::Result<()> {
    assert_eq!(evaluate(sqrt_newton, Tensor::from(2.0f32), &Interp)?.item::<f32>()?, 1.4142135);
    Ok(())
}

#[defn]
fn flow(p: Sym, i: Sym, xs: Sym) -> (Sym, Sym, Sym, (Sym, Sym), Sym) {
    let a = xs.sum(0);
    let chosen = cond(p, || a, || -a);
    let switched = switch(i, [branch(|| a), branch(|| a * 2), branch(|| a * 3)]);
    let counted = fori_loop(5, a * 0.0, |i, acc| acc + i.cast(F32));
    let scanned = scan(a * 0.0, xs, |carry, x| (carry + x, carry * x));
    let selected = (xs > 1.0).select(xs, 0.0);
    (chosen, switched, counted, scanned, selected)
}

// By hand, on xs = [1, 2, 3]: the sum is 6; 0+1+2+3+4 = 10; carries 0, 1, 3, 6 and ys 0·1, 1·2, 3·3.
#[test]
fn control_flow() -> evoxc::Result<()> {
    let exe = build(flow, (spec(BOOL, []), spec(I32, []), spec(F32, [3])), &Interp)?;
    let xs = || Tensor::from([1f32, 2.0, 3.0]);
    let (c, s, n, (carry, ys), sel) = exe.run((Tensor::from(false), Tensor::from(7i32), xs()))?;
    assert_eq!(c.item::<f32>()?, -6.0);
    assert_eq!(s.item::<f32>()?, 18.0, "out of range takes the last branch");
    assert_eq!(n.item::<f32>()?, 10.0);
    assert_eq!((carry.item::<f32>()?, ys.to_vec::<f32>()?), (6.0, vec![0.0, 2.0, 9.0]));
    assert_eq!(sel.to_vec::<f32>()?, [0.0, 2.0, 3.0]);
    let (c, s, ..) = exe.run((Tensor::from(true), Tensor::from(1i32), xs()))?;
    assert_eq!((c.item::<f32>()?, s.item::<f32>()?), (6.0, 12.0));
    Ok(())
}

#[test]
fn the_printed_form_is_the_documented_one() -> evoxc::Result<()> {
    let graph = trace(f, (spec(F32, [4, 8]), spec(F32, [8, 4])))?;
    let text = graph.to_string();
    let lines: Vec<&str> = text.lines().map(|l| l.split(" loc(").next().unwrap_or(l)).collect();
    let want = [
        "module @main version 1 {",
        "  func @main(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>) -> tensor<4xf32> {",
        "    %0 = evoxc.dot(%x, %w) {batch = [], contract = [[1], [0]]} : tensor<4x4xf32>",
        "    %1 = evoxc.tanh(%0) : tensor<4x4xf32>",
        "    %2 = evoxc.reduce_sum(%1) {axes = [1]} : tensor<4xf32>",
        "    return %2",
        "  }",
        "}",
    ];
    assert_eq!(lines, want);
    assert!(text.contains("loc(\"tests/tests/api.rs\":8:7)"), "{text}");
    assert_eq!(Graph::parse(&text)?.to_string(), text);
    graph.verify()?;
    assert_eq!(graph.ops().len(), 3);
    assert!(graph.to_dot().starts_with("digraph"));
    Ok(())
}

#[test]
fn every_stage_saves_and_opens() -> evoxc::Result<()> {
    let dir = std::env::temp_dir().join(format!("evoxc-api-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let graph = trace(f, (spec(F32, [4, 8]), spec(F32, [8, 4])))?;
    graph.save(dir.join("f.evoxcgraph"))?;
    let loaded = Graph::load(dir.join("f.evoxcgraph"))?;
    assert_eq!(loaded, graph.clone().erase());
    assert!(loaded.typed::<(Sym, Sym), Sym>().is_ok());
    let lowered = graph.lower(&Interp)?;
    lowered.save(dir.join("f.lowered"))?;
    lowered.compile()?.save(dir.join("f.evoxcartifact"))?;
    let lowered = LoweredProgram::open(dir.join("f.lowered"), &Interp)?.typed::<(Tensor, Tensor), Tensor>()?;
    let artifact = CompiledArtifact::open(dir.join("f.evoxcartifact"), &Interp)?.typed::<(Tensor, Tensor), Tensor>()?;
    for a in [lowered.compile()?, artifact] {
        assert_eq!(a.load(Device::cpu())?.run(data())?.to_vec::<f32>()?, [3.999999; 4]);
    }
    assert!(matches!(CompiledArtifact::open(dir.join("f.lowered"), &Interp), Err(evoxc::Error::Persistence(_))));
    std::fs::remove_dir_all(&dir).unwrap();
    Ok(())
}

#[test]
fn tensors() -> evoxc::Result<()> {
    assert_eq!(Tensor::from(2.0f32).item::<f32>()?, 2.0);
    let t = Tensor::from([[1f32, 2.0], [3.0, 4.0]]);
    assert_eq!((t.shape(), t.dtype(), t.device()), (&[2, 2][..], F32, Device::cpu()));
    assert_eq!(t.to(Device::cpu())?.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(t.view::<f32>()?[[1, 0]], 3.0);
    assert!(t.view::<f64>().is_err());
    assert!(t.to(Device::cuda(0)).is_err());
    assert_eq!(t.cast(I32)?.to_vec::<i32>()?, [1, 2, 3, 4]);
    assert_eq!(t.reshape([4])?.spec(), spec(F32, [4]));
    assert!(Tensor::from_vec(vec![1, 2], [3]).is_err());
    assert_eq!(Tensor::full(F64, [2], 7.0).to_vec::<f64>()?, [7.0, 7.0]);
    Ok(())
}

#[defn]
fn conventions(x: Sym, n: usize) -> Sym {
    let b = dim("B");
    let centred = x - x.max(keep(1));
    let a = x.slice(s![1..n, ..]) + x.slice(s![..n - 1, ..;-1]);
    let z = zeros(F32, [2, 3]).sum(..) + ones(F32, []) + full(F32, [2], 7.0).sum(0) + arange(F32, 0, 10, 2).sum(0);
    let e = eye(F32, 3).sum(..) + iota(F32, [6], 0).max(..) + linspace(F32, 0.0, 1.0, 5).mean(..);
    let _ = (b, a);
    let p = x.transpose([1, 0]).t().reshape([-1]).pad(&[(1, 1)], 0.0).sum(..);
    let s = concat([x, centred], 0).sum(..) + stack([x, x], 0).sum(..) + einsum("ij,kj->ik", [x, x]).sum(..);
    z + e + p + s + centred.select_sum()
}

/// A trait of the user's on `Sym` works in a defn.
trait SelectSum {
    fn select_sum(self) -> Sym;
}
impl SelectSum for Sym {
    fn select_sum(self) -> Sym {
        self.lt(0.0).select(self, 0).sum(..)
    }
}

// NumPy on x = [[1,2],[3,4],[5,6]]: z 0+1+14+20, e 3+5+0.5, p 21, s 21-3 + 42 + (9+… = (Σ columns)² = 9²+12²), rest -3.
#[test]
fn signatures_of_section_10() -> evoxc::Result<()> {
    let x = Tensor::from([[1f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    let y = evaluate(|x: Sym| conventions(x, 3), x, &Interp)?.item::<f32>()?;
    assert_eq!(y, 35.0 + 8.5 + 21.0 + (21.0 - 3.0) + 42.0 + 225.0 - 3.0);
    Ok(())
}

#[derive(Tree, Clone)]
struct Named<T> {
    x: T,
    #[tree(static)]
    name: String,
}

#[test]
fn static_values_of_saved_graphs_come_from_live_trees() -> evoxc::Result<()> {
    let named = |name: &str| Named { x: spec(F32, [2]), name: name.into() };
    let f = |p: Named<Sym>| Named { x: p.x + 1.0, name: format!("{}+1", p.name) };
    let graph = trace(f, named("a"))?;
    let path = std::env::temp_dir().join(format!("evoxc-named-{}.evoxcgraph", std::process::id()));
    graph.save(&path)?;
    let loaded = Graph::load(&path)?;
    std::fs::remove_file(&path).unwrap();
    assert!(loaded.clone().typed::<Named<Sym>, Named<Sym>>().is_err());
    assert!(loaded.clone().typed_like(named("b"), named("a+1")).is_err());
    let typed = loaded.typed_like(named("a"), named("a+1"))?;
    let exe = typed.lower(&Interp)?.compile()?.load(Device::cpu())?;
    let y = exe.run(Named { x: Tensor::ones(F32, [2]), name: "a".into() })?;
    assert_eq!((y.x.to_vec::<f32>()?, y.name.as_str()), (vec![2.0, 2.0], "a+1"));
    Ok(())
}

#[defn]
fn sample(key: Sym) -> (Sym, Sym) {
    let (k1, k2) = random::split(key);
    (random::normal(k1, F32, [3, 2]), random::randint(k2, I32, [3], 0, 10))
}

// Same key, same bits, in each run and of each build; integers in their range.
#[test]
fn random_numbers_of_section_8() -> evoxc::Result<()> {
    let run = || build(sample, random::key_spec(), &Interp)?.run(random::key(42));
    let ((a, b), (c, d)) = (run()?, run()?);
    assert!(a.bit_eq(&c) && b.bit_eq(&d));
    assert_eq!((a.spec(), b.spec()), (spec(F32, [3, 2]), spec(I32, [3])));
    assert!(b.to_vec::<i32>()?.iter().all(|n| (0..10).contains(n)));
    let several = |key: Sym| (random::bits(key, U32, [5]), random::uniform(key, F32, [8]), random::split_n(key, 3));
    let graph = trace(several, random::threefry_key_spec())?;
    assert_eq!(graph.output_specs(), [spec(U32, [5]), spec(F32, [8]), spec(U32, [3, 2])]);
    Ok(())
}
