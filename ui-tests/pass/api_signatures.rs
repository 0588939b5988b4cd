// Conventions of signatures: axes, shapes, slices, and the ops that take them.
#![deny(warnings)]
use evoxc::prelude::*;

#[defn]
fn axes(x: Sym) -> Sym {
    let a = x - x.max(keep(1));
    let b = x.sum(keep(..)) + x.sum(..) + x.sum(keep([0, 1])) + x.mean([-2, -1]) + x.std(vec![0i64, 1]);
    let c = x.sum([0]) + x.mean([-2]) + x.sum(-2) + x.min(0usize);
    a + b + c + x.softmax(-1) + x.cumsum(0) + x.sort(1) + x.argsort(1).cast(F32)
}

#[defn]
fn creators(x: Sym, n: usize) -> Vec<Sym> {
    let b = dim("B");
    vec![
        zeros(F32, [2, 3]),
        ones(F32, []),
        full(F32, [2], 7.0),
        iota(F32, [6], 0),
        arange(F32, 0, 10, 2),
        linspace(F32, 0.0, 1.0, 5),
        eye(F32, 4),
        zeros(F32, (b, 4)),
        zeros(F32, [b, b]),
        zeros(F32, (b * 2, n, 3)),
        zeros(F32, vec![1, 2]),
        zeros(F32, x.shape()),
        zeros(F32, [n, 3]),
        zeros(F32, (n, 3)),
        zeros(F32, &x.shape()[1..]),
        zeros(F32, [x.dim(0), x.dim(1)]),
    ]
}

#[defn]
fn slices(x: Sym, n: usize) -> Vec<Sym> {
    let k = 2;
    let b = x.dim(0);
    vec![
        x.slice(s![1..n, ..;2]),
        x.slice(s![0]),
        x.slice(s![-1, 1..-1]),
        x.slice(s![..;-1, ..=2]),
        x.slice(s![1..b, ..b - 1]),
        x.slice(s![k.., 1..k]),
    ]
}

#[defn]
fn shapes(x: Sym, y: Sym, i: Sym) -> Vec<Sym> {
    vec![
        x.take(i, 0),
        x.take(0, 0),
        x.take_along_axis(x.argmax(keep(-1)), -1),
        x.expand_dims(-1).squeeze(-1),
        x.expand_dims(0).expand_dims(0).squeeze([0, 1]),
        x.broadcast_to([2, 4, 4]),
        x.broadcast_to((dim("B"), 4, 4)),
        x.pad(&[(1, 2), (0, -1)], 0.0),
        x.cast(F64),
        x.clip(0, 1.0),
        x.pow(2),
        x.maximum(y).minimum(1.0),
        x.transpose([1, 0]),
        x.t(),
        x.sum(..).reshape([]),
        x.reshape([-1]),
        i.one_hot(10),
        concat([x, y], 0),
        stack([x, y], -1),
        concat(vec![x, y], 1),
        concat((0..3).map(|i| x * i), 0),
        x.diagonal(),
    ]
}

#[defn]
fn contractions(x: Sym, y: Sym, image: Sym, kernel: Sym) -> Vec<Sym> {
    let (values, indices) = x.top_k(3);
    let (u, s, vt) = x.svd();
    let (q, r) = x.qr();
    let (l, v) = x.eigh();
    let conv = Conv::default().strides([2, 1]).padding([(1, 2), (0, 1)]).dilation([1, 2]);
    vec![
        x.dot(y),
        x.matmul(y),
        einsum("bij,bjk->bik", [x.expand_dims(0), y.expand_dims(0)]),
        image.conv(kernel, conv),
        image.max_pool([2, 2], [2, 2]),
        x.cholesky(),
        values,
        indices,
        u,
        s,
        vt,
        q,
        r,
        l,
        v,
    ]
}

fn main() -> evoxc::Result<()> {
    let m = || spec(F32, [4, 4]);
    trace(axes, m())?.verify()?;
    trace(|x: Sym| creators(x, 3), spec(F32, (dim("B"), 4)))?.verify()?;
    trace(|x: Sym| slices(x, 3), m())?.verify()?;
    trace(shapes, (m(), m(), spec(I32, [dim("B")])))?.verify()?;
    trace(contractions, (m(), m(), spec(F32, [1, 3, 8, 8]), spec(F32, [5, 3, 3, 3])))?.verify()
}
