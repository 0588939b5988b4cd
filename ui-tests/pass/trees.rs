#![deny(warnings)]
use evoxc::prelude::*;

use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Act {
    Relu,
    Tanh,
}

#[derive(Tree, Clone, Debug)]
pub struct Layer<T, A: Clone + PartialEq + std::fmt::Debug + Send + Sync + 'static = Act>
where
    A: Copy,
{
    pub w: T,
    pub b: Option<T>,
    #[tree(static)]
    pub act: A,
    #[tree(static)]
    pub heads: usize,
}

#[derive(Tree, Clone)]
pub struct Deep<T, const N: usize> {
    pub layers: Vec<Layer<T>>,
    pub pair: (T, [T; N]),
    pub map: BTreeMap<String, Vec<T>>,
    pub boxed: Box<T>,
    pub unit: (),
}

#[derive(Tree, Clone)]
pub struct Tuple<T>(pub T, #[tree(static)] pub u8);

#[derive(Tree, Clone)]
pub enum Family<T> {
    Gpt2 { layer: Layer<T>, r#type: T },
    Llama(T, Vec<T>),
    Empty,
}

#[derive(Tree, Clone)]
pub struct Two<A, B> {
    pub a: A,
    pub b: B,
}

#[derive(Tree)]
pub struct List<T> {
    pub head: T,
    pub tail: Option<Box<List<T>>>,
}

#[defn]
fn forward<const N: usize>(d: Deep<Sym, N>, f: Family<Sym>, t: Two<Sym, Tuple<Sym>>) -> Two<(Sym, Sym), Vec<Sym>> {
    let l = &d.layers[0];
    let y = match l.act {
        Act::Relu => l.w.maximum(0),
        Act::Tanh => l.w.tanh(),
    };
    let z = if l.act == Act::Relu && l.heads > 2 { y } else { y + 1 };
    let r = match f {
        Family::Gpt2 { layer, r#type } => layer.w + r#type,
        Family::Llama(a, ref v) if v.len() > 1 => a,
        Family::Llama(a, _) => a,
        Family::Empty => z,
    };
    Two { a: (z, r), b: vec![t.a, t.b.0] }
}

fn list(l: List<Sym>) -> List<Sym> {
    l
}

fn mapped<T: Tree<Sym, Map<Tensor> = U>, U>(_: fn(T) -> U) {}

fn main() {
    let _ = (forward::<2>, list);
    mapped::<Layer<Sym>, Layer<Tensor>>(|_| unimplemented!());
    mapped::<Two<Sym, Tuple<Sym>>, Two<Tensor, Tuple<Tensor>>>(|_| unimplemented!());
    mapped::<List<Sym>, List<Tensor>>(|_| unimplemented!());
}
