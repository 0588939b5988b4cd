// One struct for specs, symbols and data; typed and erased graphs; arithmetic on extents; trees of every kind.
#![deny(warnings)]
use evoxc::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Debug;

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

fn run_model(params: Params<Tensor>, x: Tensor) -> evoxc::Result<()> {
    let b = dim("B");
    let specs = (Params { w1: spec(F32, [4, 8]), b1: spec(F32, [8]), w2: spec(F32, [8, 3]) }, spec(F32, (b, 4)));
    let exe = build(model, specs.clone(), &Interp)?;
    let out: Out<Tensor> = exe.run((params.clone(), x.clone()))?;
    assert_eq!(out.logits.shape(), [2, 3]);
    assert_eq!(out.hidden.shape(), [2, 8]);

    // Erased: the structures are checked when it runs.
    let exe = trace(model, specs)?.erase().lower(&Interp)?.compile()?.load(Device::cpu())?;
    let outputs = exe.run(Dyn::of((params, x)))?;
    assert_eq!(outputs.leaves().len(), 2);
    Ok(())
}

fn typed(path: &str) -> evoxc::Result<Graph<(Params<Sym>, Sym), Out<Sym>>> {
    Graph::load(path)?.typed::<(Params<Sym>, Sym), Out<Sym>>()
}

fn erased(graph: Graph, x: Tensor) -> evoxc::Result<Tensor> {
    graph.lower(&Interp)?.compile()?.load(Device::cpu())?.run(Dyn::of((x, Tensor::from(2))))?.into()
}

fn extents() {
    let b = dim("B");
    let n = 4usize;
    let (d, e, f) = (b * 2 + 1, (2 * b).max(3) - b / 2 % 3, n * b);
    assert_ne!(d, e);
    assert_eq!(f, b * 4);
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Act {
    Relu,
    Tanh,
}

#[derive(Tree, Clone)]
struct Layer<T, A: Clone + PartialEq + Debug + Send + Sync + 'static = Act>
where
    A: Copy,
{
    w: T,
    b: Option<T>,
    #[tree(static)]
    act: A,
    #[tree(static)]
    heads: usize,
}

#[derive(Tree, Clone)]
#[allow(dead_code)]
struct Deep<T, const N: usize> {
    layers: Vec<Layer<T>>,
    pair: (T, [T; N]),
    map: BTreeMap<String, Vec<T>>,
    boxed: Box<T>,
    inner: Option<Box<Params<T>>>,
    unit: (),
}

#[derive(Tree, Clone)]
#[allow(dead_code)]
enum Family<T> {
    Gpt2 { p: Params<T> },
    Llama(T, Vec<T>),
    Empty,
}

#[derive(Tree, Clone)]
struct Two<A, B> {
    a: A,
    b: B,
}

#[derive(Tree)]
struct List<T> {
    head: T,
    tail: Option<Box<List<T>>>,
}

#[defn]
fn deep<const N: usize>(d: Deep<Sym, N>, f: Family<Sym>, t: Two<Sym, Params<Sym>>) -> Two<(Sym, Sym), Vec<Sym>> {
    let l = &d.layers[0];
    let y = match l.act {
        Act::Relu => l.w.relu(),
        Act::Tanh => l.w.tanh(),
    };
    let z = if l.act == Act::Relu && l.heads > 2 { y } else { y + 1 };
    let q = if let Some(b) = l.b
        && l.heads != 3
    {
        z * b
    } else {
        z
    };
    let r = match f {
        Family::Gpt2 { p } => p.w1,
        Family::Llama(a, ref v) if v.len() > 1 => a,
        Family::Llama(a, _) => a,
        Family::Empty => q,
    };
    Two { a: (q, r), b: vec![t.a, t.b.w1] }
}

fn list(l: List<Sym>) -> List<Sym> {
    l
}

fn evaluate_trees() -> evoxc::Result<()> {
    let one = || Tensor::from(1f32);
    let params = || Params { w1: one(), b1: one(), w2: one() };
    let layer = Layer { w: one(), b: Some(Tensor::from(3f32)), act: Act::Tanh, heads: 2 };
    let d = Deep {
        layers: vec![layer],
        pair: (one(), [one(), one(), one()]),
        map: BTreeMap::from([("k".to_string(), vec![one()])]),
        boxed: Box::new(one()),
        inner: Some(Box::new(params())),
        unit: (),
    };
    let t = Two { a: one(), b: params() };
    let out: Two<(Tensor, Tensor), Vec<Tensor>> = evaluate(deep::<3>, (d, Family::Llama(one(), vec![]), t), &Interp)?;
    // (tanh(1) + 1) · 3 = 5.284782…
    assert!((out.a.0.item::<f32>()? - 5.284_782).abs() < 1e-5);
    assert_eq!(out.b.len(), 2);
    let l: List<Tensor> =
        evaluate(list, List { head: one(), tail: Some(Box::new(List { head: one(), tail: None })) }, &Interp)?;
    assert_eq!(l.head.item::<f32>()?, 1.0);
    assert!(l.tail.is_some_and(|l| l.tail.is_none()));
    assert_eq!(evaluate(|| zeros(F32, []), (), &Interp)?.item::<f32>()?, 0.0);
    Ok(())
}

fn main() -> evoxc::Result<()> {
    let _ = (typed, erased);
    extents();
    let params = Params { w1: Tensor::ones(F32, [4, 8]), b1: Tensor::zeros(F32, [8]), w2: Tensor::ones(F32, [8, 3]) };
    run_model(params, Tensor::ones(F32, [2, 4]))?;
    evaluate_trees()
}
