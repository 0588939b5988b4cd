//! Gradients of composites, first and second, against those of JAX: tests/data/derivatives_composites.json, which
//! tests/generate/derivatives_composites.py writes. Kinks, ties and masked elements are among the points.

use evoxc::prelude::*;
use evoxc::{Interpolation, MatrixNorm, Reduction};
use evoxc_ir::{Literal, parse_literal};
use evoxc_tests::engines::Engines;
use evoxc_tests::tolerance::{Category, compare};
use evoxc_trace::stack;
use num_complex::Complex;
use std::collections::BTreeSet;

type Function = fn(&[Sym]) -> Sym;

struct Case {
    name: String,
    source: String,
    order: u64,
    /// The inputs that the gradient is with respect to.
    wrt: Vec<usize>,
    /// Those of the composite, then the cotangent of its result.
    inputs: Vec<Tensor>,
    expected: Vec<Tensor>,
    tolerance: String,
}

fn cases() -> Vec<Case> {
    let file =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/data/derivatives_composites.json")).unwrap();
    let list: Vec<serde_json::Value> = serde_json::from_str(&file).unwrap();
    let text = |v: &serde_json::Value| v.as_str().unwrap().to_string();
    let tensors = |v: &serde_json::Value| -> Vec<Tensor> {
        let each = |v| match parse_literal(&text(v)).unwrap() {
            Literal::Dense(t) => t,
            Literal::Splat(..) => panic!("write every element"),
        };
        v.as_array().unwrap().iter().map(each).collect()
    };
    let case = |c: &serde_json::Value| Case {
        name: text(&c["name"]),
        source: text(&c["source"]),
        order: c["order"].as_u64().unwrap(),
        wrt: c["wrt"].as_array().unwrap().iter().map(|i| i.as_u64().unwrap() as usize).collect(),
        inputs: tensors(&c["inputs"]),
        expected: tensors(&c["expected"]),
        tolerance: text(&c["tol"]),
    };
    list.iter().map(case).collect()
}

macro_rules! table {
    ($($name:ident($($x:ident),*) $e:expr;)*) => {
        /// Every composite of the file, by name.
        const TABLE: &[(&str, Function)] = &[$((stringify!($name), |xs| match xs {
            &[$($x),*] => $e,
            _ => panic!("{}: another number of inputs", stringify!($name)),
        })),*];
    };
}

fn attention() -> Attention {
    Attention::default()
}
fn loss() -> CrossEntropy {
    CrossEntropy::default().ignore_index(-100)
}

table! {
    relu(x) x.relu(); relu6(x) x.relu6(); leaky_relu(x) x.leaky_relu(0.01); elu(x) x.elu(1.5); selu(x) x.selu();
    celu(x) x.celu(1.5); gelu(x) x.gelu(); gelu_tanh(x) x.gelu_tanh(); quick_gelu(x) x.quick_gelu(); silu(x) x.silu();
    mish(x) x.mish(); softplus(x) x.softplus(); sigmoid(x) x.sigmoid(); log_sigmoid(x) x.log_sigmoid();
    softsign(x) x.softsign(); hard_tanh(x) x.hard_tanh(); hard_sigmoid(x) x.hard_sigmoid(); hard_swish(x) x.hard_swish();
    square(x) x.square(); abs(x) x.abs(); reciprocal(x) x.reciprocal(); nan_to_num(x) x.nan_to_num(); clip(x) x.clip(-1, 2);
    sinc(x) x.sinc(); ndtr(x) x.ndtr(); ndtri(p) p.ndtri(); log_ndtr(x) x.log_ndtr(); logit(p) p.logit(); entr(x) x.entr();
    i0(x) x.i0(); i1(x) x.i1(); i0e(x) x.i0e(); i1e(x) x.i1e(); polygamma_0(x) x.polygamma(0);
    polygamma_1(x) x.polygamma(1); polygamma_2(x) x.polygamma(2); multigammaln(x) x.multigammaln(3);
    igamma(a, x) a.igamma(x); igammac(a, x) a.igammac(x); betainc(a, b, x) a.betainc(b, x); betaln(a, b) a.betaln(b);
    zeta(s, q) s.zeta(q); logaddexp(a, b) a.logaddexp(b); hypot(a, b) a.hypot(b); xlogy(a, b) a.xlogy(b);
    xlog1py(a, b) a.xlog1py(b); rel_entr(a, b) a.rel_entr(b); kl_div(a, b) a.kl_div(b); lerp(a, b) a.lerp(b, 0.25);
    maximum(a, b) a.maximum(b); minimum(a, b) a.minimum(b); modulo(a, b) a.modulo(b); floor_div(a, b) a.floor_div(b);
    atan2(a, b) a.atan2(b); power(a, b) a.pow(b);
    safe_sqrt(x) x.gt(0).select(x.gt(0).select(x, 1).sqrt(), 0); safe_log(x) x.gt(0).select(x.gt(0).select(x, 1).log(), 0);
    safe_divide(x) x.eq(0).select(0, 1.0 / x.eq(0).select(1, x));
    sum_1(x) x.sum(1); mean_1(x) x.mean(1); var_1(x) x.var(1); std_1(x) x.std(1); logsumexp_1(x) x.logsumexp(1);
    norm_1(x) x.norm(1); norm_3(x) x.norm_p(3.0, 1); norm_one(x) x.norm_p(1.0, 1); norm_inf(x) x.norm_p(f64::INFINITY, 1);
    softmax(x) x.softmax(-1); log_softmax(x) x.log_softmax(-1); median_1(x) x.median(1); quantile_1(x) x.quantile(0.3, 1);
    max_1(x) x.max(1); min_1(x) x.min(1); prod_1(x) x.prod(1); prod_all(x) x.prod(..); cumsum(x) x.cumsum(1);
    cumprod(x) x.cumprod(1); cummax(x) x.cummax(1); cummin(x) x.cummin(1); cumlogsumexp(x) x.cumlogsumexp(1);
    diff(x) x.diff(1); sort(x) x.sort(1); top_k(x) x.top_k(3).0; sort_by_key(x, k) x.sort_by_key(k, 1);
    layer_norm(x) x.layer_norm(-1, 1e-5); rms_norm(x) x.rms_norm(-1, 1e-6); group_norm(x) x.group_norm(2, 1e-5);
    batch_norm_training(x, w, b) x.batch_norm_training(1, w, b, 1e-5).0; normalize(x) x.normalize(-1, 1e-12);
    cross_entropy(x, y) x.cross_entropy(y, CrossEntropy::default());
    cross_entropy_smooth(x, y) x.cross_entropy(y, loss().label_smoothing(0.1));
    cross_entropy_sum(x, y) x.cross_entropy(y, loss().reduction(Reduction::Sum));
    cross_entropy_each(x, y) x.cross_entropy(y, loss().reduction(Reduction::None));
    cross_entropy_soft(x, y) x.cross_entropy(y, CrossEntropy::default().label_smoothing(0.1));
    bce(p, t) p.binary_cross_entropy(t); bce_logits(x, t) x.binary_cross_entropy_with_logits(t); mse(a, b) a.mse(b);
    attention(q, k, v) q.scaled_dot_product_attention(k, v, attention());
    attention_causal(q, k, v) q.scaled_dot_product_attention(k, v, attention().causal());
    attention_mask(q, k, v, m) q.scaled_dot_product_attention(k, v, attention().mask(m).scale(0.3));
    attention_bias(q, k, v, m) q.scaled_dot_product_attention(k, v, attention().mask(m));
    take(x, i) x.take(i, 1); take_along_axis(x, i) x.take_along_axis(i, 2); put_along_axis(x, i) x.put_along_axis(i, -1, 2);
    tril(x) x.tril(0); triu(x) x.triu(1); diagonal(x) x.diagonal(); diag(x) x.diag(); roll(x) x.roll(1, 2);
    flip(x) x.flip([0, 2]); repeat(x) x.repeat(2, 1); tile(x) x.tile([2, 1, 2]); stack_square(x) stack([x, x * x], 1);
    segment_sum(x, i) x.segment_sum(i, 3); segment_prod(x, i) x.segment_prod(i, 3); segment_max(x, i) x.segment_max(i, 3);
    segment_min(x, i) x.segment_min(i, 3); einsum_matmul(a, b) einsum("bij,bjk->bik", [a, b]);
    einsum_trace(a) einsum("ii", [a]); einsum_diag(a) einsum("ii->i", [a]); matmul(a, b) a.matmul(b);
    tensordot(a, b) a.tensordot(b, [1, 2], [1, 0]); outer(a, b) a.outer(b); kron(a, b) a.kron(b);
    linear(x, w, b) x.linear(w, Some(b));
    conv(x, w) x.conv(w, Conv::default().strides([2, 1]).padding([(1, 2), (0, 1)]).dilation([1, 2]));
    conv_groups(x, w) x.conv(w, Conv::default().groups(2));
    conv_transpose(x, w) x.conv_transpose(w, Conv::default().strides([2, 2]).padding([(1, 1), (1, 1)]));
    max_pool(x) x.max_pool([2, 3], [2, 1]); max_pool_padded(x) x.max_pool_padded([2, 2], [2, 2], &[(1, 1), (1, 1)]);
    avg_pool(x) x.avg_pool([2, 2], [2, 1]); adaptive_max_pool(x) x.adaptive_max_pool([2, 2]);
    resize_nearest(x) x.interpolate([7, 9], Interpolation::Nearest);
    resize_bilinear(x) x.interpolate([7, 9], Interpolation::Linear);
    solve(a, b) a.solve(b); inv(a) a.inv(); det(a) a.det(); slogdet(a) a.slogdet().1; pinv(a) a.pinv();
    lstsq_x(a, b) a.lstsq(b).0; matrix_power_minus_3(a) a.matrix_power(-3); matrix_power_minus_1(a) a.matrix_power(-1);
    matrix_power_0(a) a.matrix_power(0); matrix_power_1(a) a.matrix_power(1); matrix_power_2(a) a.matrix_power(2);
    matrix_power_5(a) a.matrix_power(5); matrix_exp(a) a.matrix_exp();
    matrix_norm_fro(a) a.matrix_norm(MatrixNorm::Frobenius); matrix_norm_nuc(a) a.matrix_norm(MatrixNorm::Nuclear);
    matrix_norm_one(a) a.matrix_norm(MatrixNorm::One); matrix_norm_minus_one(a) a.matrix_norm(MatrixNorm::MinusOne);
    matrix_norm_two(a) a.matrix_norm(MatrixNorm::Two); matrix_norm_minus_two(a) a.matrix_norm(MatrixNorm::MinusTwo);
    matrix_norm_inf(a) a.matrix_norm(MatrixNorm::Infinity); matrix_norm_minus_inf(a) a.matrix_norm(MatrixNorm::MinusInfinity);
    trace_(a) a.trace(); cholesky(a) a.cholesky(); eigenvalues(a) a.eigh().0;
}

fn function(name: &str) -> Option<Function> {
    TABLE.iter().find(|(n, _)| *n == name).map(|(_, f)| *f)
}

/// The gradient of Σ Re(f(x)·c), or that of the sum of its elements.
fn gradient(f: Function, wrt: Vec<usize>, order: u64, mut xs: Vec<Sym>) -> Vec<Sym> {
    let cotangent = xs.pop().unwrap();
    let picked: Vec<Sym> = wrt.iter().map(|&i| xs[i]).collect();
    let loss = move |parts: Vec<Sym>| {
        let mut all = xs.clone();
        wrt.iter().zip(parts).for_each(|(&i, x)| all[i] = x);
        (f(&all) * cotangent).real().sum(..)
    };
    let first = move |parts: Vec<Sym>| grad(loss.clone()).call(parts);
    if order == 1 {
        return first(picked);
    }
    grad(move |parts: Vec<Sym>| {
        let each = first(parts).into_iter().map(|g| g.sum(..));
        each.reduce(|a, b| a + b).unwrap()
    })
    .call(picked)
}

fn judge(case: &Case) -> std::result::Result<(), String> {
    let f = function(&case.name).ok_or("no such composite in the table")?;
    let specs: Vec<TensorSpec> = case.inputs.iter().map(Tensor::spec).collect();
    let (wrt, order) = (case.wrt.clone(), case.order);
    let exe =
        build(move |xs: Vec<Sym>| gradient(f, wrt.clone(), order, xs), specs, &Engines).map_err(|e| e.to_string())?;
    let actual: Vec<Tensor> = exe.run(case.inputs.clone()).map_err(|e| e.to_string())?;
    if actual.len() != case.expected.len() {
        return Err(format!("expected {} gradients, got {}", case.expected.len(), actual.len()));
    }
    for (i, (a, e)) in actual.iter().zip(&case.expected).enumerate() {
        let close = match case.tolerance.strip_prefix("relative ") {
            Some(part) => relative(a, e, part.parse().unwrap()),
            None => compare(a, e, Category::from_name(&case.tolerance).ok_or("no such tolerance")?),
        };
        close.map_err(|m| format!("gradient {i}: {m}\n  got  {a}\n  want {e}"))?;
    }
    Ok(())
}

/// All to a part of the largest expected element, or of 1 where that is smaller.
fn relative(actual: &Tensor, expected: &Tensor, part: f64) -> std::result::Result<(), String> {
    let wide = |t: &Tensor| t.cast(C128).unwrap().to_vec::<Complex<f64>>().unwrap();
    let (actual, expected) = (wide(actual), wide(expected));
    let most = expected.iter().fold(1f64, |m, e| m.max(e.norm()));
    // NaN is not near.
    let near = |a: &Complex<f64>, e: &Complex<f64>| (a - e).norm() <= part * most;
    let far = actual.iter().zip(&expected).find(|&(a, e)| !near(a, e));
    far.map_or(Ok(()), |(a, e)| Err(format!("expected {e:e}, got {a:e}")))
}

#[test]
fn gradients_are_those_of_jax() {
    let failures: Vec<String> = cases()
        .iter()
        .filter_map(|c| judge(c).err().map(|m| format!("{} of order {} ({}): {m}", c.name, c.order, c.source)))
        .collect();
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

/// The specs with a symbol for each extent of 2 or more; equal extents share one.
fn symbolic(inputs: &[Tensor]) -> Vec<TensorSpec> {
    let extent = |&d: &Dim| d.get().filter(|&n| n > 1).map_or(d, |n| dim(&format!("n{n}")));
    inputs.iter().map(|t| spec(t.dtype(), t.spec().shape.iter().map(extent).collect::<Shape>())).collect()
}

/// Composites that need an extent as a number; and running maxima, which share ties one by one along a symbolic axis,
/// not in the order of an associative scan.
const STATIC: &[&str] = &["attention", "conv_groups", "adaptive_max_pool", "group_norm", "cummax", "cummin"];

/// The gradient of Σ f(x)²/2: a result's extents need not be those of a cotangent, which would be other symbols.
#[test]
fn gradients_of_symbolic_shapes_are_those_of_known_ones() {
    let mut failures = vec![];
    for c in cases().iter().filter(|c| !STATIC.iter().any(|n| c.name.starts_with(n)) && c.order == 1) {
        let Some(f) = function(&c.name) else { continue };
        let (inputs, wrt) = (&c.inputs[..c.inputs.len() - 1], &c.wrt);
        let run = |specs: Vec<TensorSpec>| -> evoxc::Result<Vec<Tensor>> {
            let wrt = wrt.clone();
            let squares = move |xs: Vec<Sym>| {
                let picked: Vec<Sym> = wrt.iter().map(|&i| xs[i]).collect();
                let wrt = wrt.clone();
                grad(move |parts: Vec<Sym>| {
                    let mut all = xs.clone();
                    wrt.iter().zip(parts).for_each(|(&i, x)| all[i] = x);
                    let y = f(&all);
                    (y * y).real().sum(..) * 0.5
                })
                .call(picked)
            };
            build(squares, specs, &Engines)?.run(inputs.to_vec())
        };
        let (known, open) = (run(inputs.iter().map(Tensor::spec).collect()), run(symbolic(inputs)));
        let close = match (known, open) {
            (Ok(a), Ok(b)) => {
                let all = a.iter().zip(&b).map(|(a, b)| compare(b, a, Category::Linalg));
                all.collect::<std::result::Result<Vec<()>, String>>().map(|_| ())
            }
            (Err(e), _) | (_, Err(e)) => Err(e.to_string()),
        };
        if let Err(m) = close {
            failures.push(format!("{} ({}): {m}", c.name, c.source));
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

// Of x³ these are 0, 0, 6; of I₀ 0, ½, 0; of sinc 0, -π²/3, 0; of softplus ½, ¼, 0; of √(x² + 4) 0, ½, 0; of log(1 + eˣ) + x
// 3/2, ¼, 0. All at 0.
#[test]
fn third_derivatives_where_functions_are_put_together() -> evoxc::Result<()> {
    let ids = || evoxc_trace::constant(&Tensor::from([0i32, 0, 0]));
    let cube = move |x: Sym| stack([x, x, x], 0).segment_prod(ids(), 1).sum(..);
    let running = |x: Sym| stack([x, x * 0.0], 0).cumlogsumexp(0).sum(..);
    let pi = std::f64::consts::PI;
    assert_eq!(three(cube)?, [0.0, 0.0, 6.0]);
    // (x⁴ + (x + 1)⁴)^¼ is 1 + x + x⁴/4 + … at 0.
    let norm = |x: Sym| stack([x, x + 1.0], 0).norm_p(4.0, 0);
    let third = move |x: Sym| grad(grad(grad(norm))).call(x);
    assert_eq!(evaluate(grad(third), Tensor::from(0f64), &Engines)?.item::<f64>()?, 6.0);
    let cases = [
        (three(|x| x.i0())?, [0.0, 0.5, 0.0]),
        (three(|x| x.sinc())?, [0.0, -pi * pi / 3.0, 0.0]),
        (three(|x| x.softplus())?, [0.5, 0.25, 0.0]),
        (three(|x| x.hypot(2.0))?, [0.0, 0.5, 0.0]),
        (three(running)?, [1.5, 0.25, 0.0]),
    ];
    for (got, want) in cases {
        assert!(got.iter().zip(want).all(|(g, w)| (g - w).abs() < 1e-11), "{got:?} {want:?}");
    }
    Ok(())
}

fn three(f: impl Fn(Sym) -> Sym + Copy) -> evoxc::Result<[f64; 3]> {
    let at = || Tensor::from(0f64);
    let (first, second) = (move |x: Sym| grad(f).call(x), move |x: Sym| grad(grad(f)).call(x));
    let third = evaluate(grad(second), at(), &Engines)?.item()?;
    Ok([evaluate(first, at(), &Engines)?.item()?, evaluate(second, at(), &Engines)?.item()?, third])
}

#[test]
fn every_composite_of_the_table_has_a_case() {
    let have: BTreeSet<String> = cases().into_iter().map(|c| c.name).collect();
    let want: BTreeSet<String> = TABLE.iter().map(|(n, _)| n.to_string()).collect();
    assert_eq!(have, want);
}
