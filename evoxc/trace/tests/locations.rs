//! Every op of every composite carries the location of the user's call, never one inside this crate.

use evoxc_core::{F16, F32, F64, I32, I64, SliceItem, Slices, U16, U64, keep, spec};
use evoxc_ir::{Region, ScatterOp};
use evoxc_trace::*;

fn check(region: &Region, seen: &mut usize) {
    for op in &region.ops {
        let loc = op.loc.unwrap_or_else(|| panic!("{} has no location", op.prim.name()));
        assert!(loc.file().ends_with("tests/locations.rs"), "{} is said to be at {loc}", op.prim.name());
        *seen += 1;
        op.regions.iter().for_each(|r| check(r, seen));
    }
}

fn range(a: i64, b: i64, step: i64) -> SliceItem {
    SliceItem::Range(Some(a.into_dim()), Some(b.into_dim()), step)
}

trait IntoDim {
    fn into_dim(self) -> evoxc_core::Dim;
}
impl IntoDim for i64 {
    fn into_dim(self) -> evoxc_core::Dim {
        evoxc_core::Dim::constant(self)
    }
}

fn elementwise(x: Sym, y: Sym) -> Vec<Sym> {
    vec![
        x + 1.0,
        2.0 * x,
        x % y,
        -x,
        x.lt(y),
        x.maximum(0),
        x.pow(2),
        x.clip(0, 1),
        x.lt(0.0).select(x, 0),
        x.cast(I32),
        x.relu6(),
        x.leaky_relu(0.1),
        x.elu(1.0),
        x.selu(),
        x.celu(1.0),
        x.gelu(),
        x.gelu_tanh(),
        x.silu(),
        x.mish(),
        x.softplus(),
        x.softsign(),
        x.sigmoid(),
        x.log_sigmoid(),
        x.hard_tanh(),
        x.hard_sigmoid(),
        x.hard_swish(),
        x.quick_gelu(),
        x.is_nan(),
        x.is_inf(),
        x.nan_to_num(),
        x.lerp(y, 0.5),
        x.heaviside(0.5),
        x.deg2rad(),
        x.rad2deg(),
        x.hypot(y),
        x.logaddexp(y),
        x.xlogy(y),
        x.xlog1py(y),
        x.floor_div(y),
        x.modulo(y),
        x.sinc(),
        x.ndtr(),
        x.ndtri(),
        x.logit(),
        x.square(),
        x.reciprocal(),
        x.relu(),
        x.swish(),
    ]
}

fn reductions(x: Sym, y: Sym) -> Vec<Sym> {
    vec![
        x.sum(..),
        x.mean(keep(0)),
        x.prod(0),
        x.max([0, 1]),
        x.min(-1),
        x.var(..),
        x.std(0),
        x.logsumexp(1),
        x.gt(0.0).any(..),
        x.gt(0.0).all(0),
        x.argmax(0),
        x.argmin(..),
        x.norm(..),
        x.norm_p(3.0, 0),
        x.median(..),
        x.quantile(0.3, 1),
        x.count_nonzero(..),
        x.cumsum(0),
        x.cumprod(0),
        x.cummax(0),
        x.cummin(0),
        x.diff(0),
        x.cumlogsumexp(1),
        x.softmax(1),
        x.log_softmax(1),
        x.layer_norm(1, 1e-5),
        x.rms_norm(1, 1e-5),
        x.normalize(1, 1e-5),
        x.binary_cross_entropy(y),
        x.binary_cross_entropy_with_logits(y),
        x.mse(y),
        x.sort(0),
        x.sort_descending(1),
        x.argsort(0),
        x.argsort_descending(1),
        x.top_k(2).0,
    ]
}

fn movement(x: Sym, i: Sym) -> Vec<Sym> {
    let mut out = vec![
        x.reshape([-1]),
        x.flatten(0),
        x.transpose(..),
        x.t(),
        x.swap_axes(0, 1),
        x.move_axis(0, 1),
        x.expand_dims(1),
        x.expand_dims(0).squeeze(0),
        x.broadcast_to([2, 4, 4]),
        x.slice(Slices(vec![range(1, 3, 1), range(0, 4, -2)])),
        x.pad(&[(1, 0), (0, -1)], 0.0),
        x.flip(..),
        x.roll(1, 0),
        x.repeat(2, 1),
        x.tile([2, 1, 1]),
        x.windows(2, 1, 0),
        x.tril(0),
        x.triu(1),
        x.diagonal(),
        x.diag(),
        x.take(i, 0),
        x.take(1, 1),
        x.one_hot_rows(i),
        x.take_along_axis(i.expand_dims(1), 1),
        x.put_along_axis(i.expand_dims(1), 0.0, 1),
        x.dynamic_slice([i.take(0, 0), i.take(1, 0)], [2, 2]),
        x.scatter_rows(ScatterOp::Add, i, x),
        concat([x, x], 0),
        stack([x, x], -1),
        meshgrid([i, i])[1],
        eye(F32, 3),
        arange(F32, 0, 10, 3),
        linspace(F32, 0.0, 1.0, 4),
    ];
    out.extend(x.chunk(2, 0));
    out.extend(x.split([1, 2], 1));
    out.extend(x.unstack(0));
    out
}

trait OneHotRows {
    fn one_hot_rows(self, i: Sym) -> Sym;
}
impl OneHotRows for Sym {
    #[track_caller]
    fn one_hot_rows(self, i: Sym) -> Sym {
        i.one_hot(4)
    }
}

fn contractions(x: Sym, y: Sym) -> Vec<Sym> {
    let image = x.reshape([1, 1, 4, 4]);
    let kernel = y.reshape([1, 1, 4, 4]);
    vec![
        x.dot(y),
        x.expand_dims(0).matmul(y.expand_dims(0)),
        x.tensordot(y, 0, 1),
        x.linear(y, None),
        x.outer(y),
        x.kron(y),
        einsum("ij,jk,kk->i", [x, y, x]),
        einsum("...i,...i", [x, y]),
        image.conv(kernel, Conv::default().padding([(2, 2), (1, 1)])),
        image.conv_transpose(kernel, Conv::default().strides([2, 2])),
        image.max_pool([2, 2], [2, 2]),
        image.avg_pool([2, 2], [1, 1]),
        image.adaptive_avg_pool([2, 2]),
        image.adaptive_max_pool([1, 1]),
        image.interpolate([8, 8], Interpolation::Linear),
        image.interpolate([3, 3], Interpolation::Nearest),
        x.cholesky(),
        x.qr().0,
        x.eigh().1,
        x.svd().1,
        x.triangular_solve(y, true),
    ]
}

fn matrices(x: Sym, y: Sym) -> Vec<Sym> {
    let (sign, log) = x.slogdet();
    let (solution, residuals, rank, _) = x.lstsq(y);
    vec![
        x.solve(y),
        x.solve(y.expand_dims(0)),
        x.solve(y.take(0, 0)),
        x.inv(),
        x.det(),
        x.slice(Slices(vec![range(0, 3, 1), range(0, 3, 1)])).det(),
        sign,
        log,
        x.pinv(),
        x.pinv_rcond(0.1),
        solution,
        residuals,
        rank,
        x.matrix_rank(),
        x.matrix_rank_rcond(0.1),
        x.cond_number(),
        x.matrix_norm(MatrixNorm::Frobenius),
        x.matrix_norm(MatrixNorm::Nuclear),
        x.matrix_norm(MatrixNorm::MinusInfinity),
        x.matrix_power(-3),
        x.matrix_power(0),
        x.matrix_exp(),
        x.cast(F64).matrix_exp(),
        x.trace(),
        x.trace_offset(1),
        multi_dot([x, y, x]),
    ]
}

fn specials(x: Sym, y: Sym) -> Vec<Sym> {
    vec![
        x.i0e(),
        x.i1e(),
        x.i0(),
        x.i1(),
        x.igamma(y),
        x.igammac(1.5),
        x.betaln(y),
        x.betainc(y, 0.5),
        x.zeta(y),
        x.polygamma(0),
        x.polygamma(2),
        x.multigammaln(2),
        x.entr(),
        x.rel_entr(y),
        x.kl_div(y),
        x.log_ndtr(),
    ]
}

fn flow(x: Sym, i: Sym) -> Vec<Sym> {
    vec![
        cond(x.gt(0.0).all(..), || x, || -x),
        switch(i.take(0, 0), [branch(|| x), branch(|| x + 1.0)]),
        while_loop(x, |c| c.lt(1.0).any(..), |c| c + 1.0),
        fori_loop(3, x, |i, c| c + i.cast(F32)),
        scan(x, x, |c, r| (c + r, r)).1,
        map(x, |r| r.sum(..)),
    ]
}

fn numbers(m: Sym, i: Sym, n: Sym) -> Vec<Sym> {
    use random::*;
    let (default, b) = split(constant(&key(1)));
    let (x, logits) = (m.take(0, 0), m.slice_axis(0, 0, 2));
    let mut out = vec![b, polygrad_uniform(1, [2]), polygrad_normal(i.take(0, 0).cast(U64), [2])];
    for k in [default, constant(&threefry_key(1)), constant(&philox_key(1))] {
        out.extend([
            split_n(k, 3),
            fold_in(k, 3),
            fold_in(k, i),
            bits(k, U16, [3]),
            uniform(k, F16, [3]),
            uniform_range(k, F32, [4], x, 1.0),
            normal(k, F32, [3]),
            truncated_normal(k, F32, [4], 0.0, x),
            exponential(k, F32, [3]),
            gumbel(k, F32, [3]),
            laplace(k, F32, [3]),
            randint(k, I32, [3], 0, 100_000),
            randint(k, I64, [4], 0, 5),
            randint(k, I32, [4], i, 7),
            bernoulli(k, [4], x),
            categorical(k, [2], logits),
            multinomial(k, I32, [2], 5, logits),
            gamma(k, F32, [4], x),
            beta(k, F32, [4], x, 1),
            dirichlet(k, [2], logits),
            poisson(k, I32, [4], x),
            permutation(k, x),
            permutation(k, n),
            choice(k, [3], i, Choice::default().distinct()),
            choice(k, [3], i, Choice::default().weights(x)),
            choice(k, [3], i, Choice::default().weights(x).distinct()),
        ]);
    }
    out
}

#[test]
fn no_op_is_said_to_be_inside_the_library() {
    let f = |x: Sym, y: Sym, i: Sym, n: Sym| {
        let mut out = elementwise(x, y);
        out.extend(reductions(x, y));
        out.extend(movement(x, i));
        out.extend(contractions(x, y));
        out.extend(matrices(x, y));
        out.extend(specials(x, y));
        out.extend(flow(x, i));
        out.extend(numbers(x, i, n));
        out
    };
    let g =
        trace(f, (spec(F32, [4, 4]), spec(F32, [4, 4]), spec(I32, [4]), spec(F32, [evoxc_core::dim("N")]))).unwrap();
    let mut seen = 0;
    check(&g.module().main().unwrap().body, &mut seen);
    assert!(seen > 500, "{seen}");
}
