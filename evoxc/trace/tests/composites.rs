//! Composites: the types that they give, the graphs that they build, what they say when they cannot.

use evoxc_core::*;
use evoxc_trace::*;

/// The output specs of `f`.
fn specs<S: Tree<TensorSpec>, F: GraphFn<S::Map<Sym>, M>, M>(f: F, inputs: S) -> Vec<String> {
    trace(f, inputs).unwrap().output_specs().iter().map(|s| s.to_string()).collect()
}
/// The names of the ops that `f` builds, constants apart.
fn ops<S: Tree<TensorSpec>, F: GraphFn<S::Map<Sym>, M>, M>(f: F, inputs: S) -> Vec<String> {
    let graph = trace(f, inputs).unwrap();
    graph.ops().iter().map(|o| o.prim.name()).filter(|n| n != "constant").collect()
}
/// The one error that tracing `f` gives.
fn error<S: Tree<TensorSpec>, F: GraphFn<S::Map<Sym>, M>, M>(f: F, inputs: S) -> String {
    match trace(f, inputs) {
        Ok(_) => panic!("no error"),
        Err(Error::Trace(e)) => {
            assert_eq!(e.errors.len(), 1, "{e}");
            e.to_string()
        }
        Err(e) => panic!("{e}"),
    }
}

fn bx(n: usize) -> TensorSpec {
    spec(F32, (dim("B"), n))
}

#[test]
fn every_function_of_floats_keeps_type_and_symbolic_shape() {
    let all: Vec<(&str, fn(Sym) -> Sym)> = vec![
        ("square", Sym::square),
        ("reciprocal", Sym::reciprocal),
        ("relu", Sym::relu),
        ("relu6", Sym::relu6),
        ("leaky_relu", |x| x.leaky_relu(0.01)),
        ("elu", |x| x.elu(1.0)),
        ("selu", Sym::selu),
        ("celu", |x| x.celu(1.0)),
        ("gelu", Sym::gelu),
        ("gelu_tanh", Sym::gelu_tanh),
        ("quick_gelu", Sym::quick_gelu),
        ("silu", Sym::silu),
        ("swish", Sym::swish),
        ("mish", Sym::mish),
        ("softplus", Sym::softplus),
        ("softsign", Sym::softsign),
        ("sigmoid", Sym::sigmoid),
        ("log_sigmoid", Sym::log_sigmoid),
        ("hard_tanh", Sym::hard_tanh),
        ("hard_sigmoid", Sym::hard_sigmoid),
        ("hard_swish", Sym::hard_swish),
        ("nan_to_num", Sym::nan_to_num),
        ("lerp", |x| x.lerp(x, 0.5)),
        ("heaviside", |x| x.heaviside(0.5)),
        ("deg2rad", Sym::deg2rad),
        ("rad2deg", Sym::rad2deg),
        ("hypot", |x| x.hypot(1)),
        ("logaddexp", |x| x.logaddexp(x)),
        ("xlogy", |x| x.xlogy(x)),
        ("xlog1py", |x| x.xlog1py(x)),
        ("logit", Sym::logit),
        ("sinc", Sym::sinc),
        ("ndtr", Sym::ndtr),
        ("ndtri", Sym::ndtri),
        ("floor_div", |x| x.floor_div(2)),
        ("modulo", |x| x.modulo(2)),
        ("clip", |x| x.clip(0, x)),
        ("pow", |x| x.pow(2)),
        ("softmax", |x| x.softmax(-1)),
        ("log_softmax", |x| x.log_softmax(..)),
        ("layer_norm", |x| x.layer_norm(-1, 1e-5)),
        ("rms_norm", |x| x.rms_norm([0, 1], 1e-5)),
        ("group_norm", |x| x.group_norm(2, 1e-5)),
        ("normalize", |x| x.normalize(-1, 1e-12)),
        ("cumsum", |x| x.cumsum(0)),
        ("cumprod", |x| x.cumprod(0)),
        ("cummax", |x| x.cummax(0)),
        ("cummin", |x| x.cummin(-1)),
        ("cumlogsumexp", |x| x.cumlogsumexp(-1)),
        ("sort", |x| x.sort(0)),
        ("sort_descending", |x| x.sort_descending(-1)),
    ];
    for dtype in [F16, BF16, F32, F64] {
        let s = spec(dtype, (dim("B"), 4));
        for (name, f) in &all {
            assert_eq!(specs(*f, s.clone()), [s.to_string()], "{name} of {dtype}");
        }
    }
}

#[test]
fn reductions_give_the_shape_without_the_axes() {
    let of = |f: fn(Sym) -> Sym| specs(f, bx(4)).remove(0);
    assert_eq!(of(|x| x.sum(0)), "tensor<4xf32>");
    assert_eq!(of(|x| x.mean(-1)), "tensor<Bxf32>");
    assert_eq!(of(|x| x.prod(keep(-1))), "tensor<Bx1xf32>");
    assert_eq!(of(|x| x.max(..)), "tensor<f32>");
    assert_eq!(of(|x| x.min(keep(..))), "tensor<1x1xf32>");
    assert_eq!(of(|x| x.sum([])), "tensor<Bx4xf32>");
    assert_eq!(of(|x| x.var([1, 0])), "tensor<f32>");
    assert_eq!(of(|x| x.var_corrected(0, 1)), "tensor<4xf32>");
    assert_eq!(of(|x| x.std(keep(0))), "tensor<1x4xf32>");
    assert_eq!(of(|x| x.logsumexp(keep(0))), "tensor<1x4xf32>");
    assert_eq!(of(|x| x.norm(0)), "tensor<4xf32>");
    assert_eq!(of(|x| x.norm_p(3.0, 0)), "tensor<4xf32>");
    assert_eq!(of(|x| x.median(0)), "tensor<4xf32>");
    assert_eq!(of(|x| x.quantile(0.25, keep(1))), "tensor<Bx1xf32>");
    assert_eq!(of(|x| x.gt(0).any(0)), "tensor<4xbool>");
    assert_eq!(of(|x| x.gt(0).all(..)), "tensor<bool>");
    assert_eq!(of(|x| x.count_nonzero(0)), "tensor<4xi32>");
    assert_eq!(of(|x| x.argmax(0)), "tensor<4xi32>");
    assert_eq!(of(|x| x.argmin(keep(..))), "tensor<1x1xi32>");
    assert_eq!(of(|x| x.argmin(..)), "tensor<i32>");
    assert_eq!(of(|x| x.diff(0)), "tensor<[B - 1]x4xf32>");
}

#[test]
fn orderings_and_sets() {
    assert_eq!(specs(|x: Sym| x.top_k(2), bx(4)), ["tensor<Bx2xf32>", "tensor<Bx2xi32>"]);
    assert_eq!(specs(|x: Sym| (x.argsort(0), x.argsort_descending(1)), bx(4)), ["tensor<Bx4xi32>", "tensor<Bx4xi32>"]);
    assert_eq!(specs(|a: Sym, x: Sym| a.searchsorted(x), (spec(F32, [7]), bx(4))), ["tensor<Bx4xi32>"]);
    assert_eq!(
        specs(|a: Sym, x: Sym| a.searchsorted_right(x), (spec(I32, [dim("N")]), spec(I32, []))),
        ["tensor<i32>"]
    );
    assert_eq!(specs(|x: Sym| x.bincount(5), spec(I32, (dim("B"), 4))), ["tensor<5xi32>"]);
    let unique = specs(|x: Sym| x.unique(5), bx(4));
    assert_eq!(unique, ["tensor<5xf32>", "tensor<Bx4xi32>", "tensor<5xi32>"]);
    for f in [Sym::segment_sum, Sym::segment_prod, Sym::segment_max, Sym::segment_min] {
        for dtype in [F32, I8, U64] {
            let s = (spec(dtype, (dim("N"), 4)), spec(I64, [dim("N")]));
            assert_eq!(specs(move |x: Sym, i: Sym| f(x, i, 3), s), [spec(dtype, [3, 4]).to_string()]);
        }
    }
}

#[test]
fn losses_are_scalars() {
    let b = dim("B");
    let mean = |logits: Sym, labels: Sym| logits.cross_entropy(labels, CrossEntropy::default().ignore_index(-100));
    assert_eq!(specs(mean, (bx(4), spec(I64, [b]))), ["tensor<f32>"]);
    let each = |x: Sym, y: Sym| x.cross_entropy(y, CrossEntropy::default().reduction(Reduction::None));
    assert_eq!(specs(each, (bx(4), spec(I64, [b]))), ["tensor<Bxf32>"]);
    let soft = |x: Sym, y: Sym| x.cross_entropy(y, CrossEntropy::default().label_smoothing(0.1));
    assert_eq!(specs(soft, (bx(4), bx(4))), ["tensor<f32>"]);
    let others = |x: Sym| (x.mse(0), x.binary_cross_entropy(x), x.binary_cross_entropy_with_logits(x));
    assert_eq!(specs(others, bx(4)), ["tensor<f32>"; 3]);
}

#[test]
fn attention_shares_key_heads_over_symbolic_batches() {
    let (b, t) = (dim("B"), dim("T"));
    let (q, k, v) = (spec(F16, (b, 8, t, 64)), spec(F16, (b, 2, 9, 64)), spec(F16, (b, 2, 9, 32)));
    let f = |q: Sym, k: Sym, v: Sym, mask: Sym| {
        q.scaled_dot_product_attention(k, v, Attention::default().causal_from(3).mask(mask).scale(0.5))
    };
    assert_eq!(specs(f, (q, k, v, spec(BOOL, [9]))), ["tensor<Bx8xTx32xf16>"]);
    let one = |x: Sym| x.scaled_dot_product_attention(x, x, Attention::default().causal());
    assert_eq!(specs(one, spec(F32, (4, t, dim("D")))), ["tensor<4xTxDxf32>"]);
    let rope = |x: Sym, at: Sym| x.rope(at, &Rope::default().interleaved().features(16));
    assert_eq!(specs(rope, (spec(BF16, (b, 8, t, 64)), spec(I32, [t]))), ["tensor<Bx8xTx64xbf16>"]);
}

// The sequences are those of jax.nn.softmax, jax.scipy.special.logsumexp and jax.nn.log_softmax.
#[test]
fn composites_build_nothing_twice() {
    let broadcast = "broadcast_in_dim";
    let softmax = ["reduce_max", "stop_gradient", broadcast, "subtract", "exp", "reduce_sum", broadcast, "divide"]
        .map(|n| n.replace("subtract", "sub").replace("divide", "div"));
    assert_eq!(ops(|x: Sym| x.softmax(-1), bx(4)), softmax);
    let log_softmax = ["reduce_max", "stop_gradient", broadcast, "sub", "exp", "reduce_sum", "log", broadcast, "sub"];
    assert_eq!(ops(|x: Sym| x.log_softmax(-1), bx(4)), log_softmax);
    assert_eq!(ops(|x: Sym| x.relu6(), bx(4)), ["clamp"]);
    assert_eq!(ops(|x: Sym| x.silu(), bx(4)), ["logistic", "mul"]);
    assert_eq!(ops(|x: Sym| x.cast(F32).bitcast(F32).sum([]), bx(4)), [""; 0]);
    // A bool that is a scalar needs no broadcast, nor do scalars.
    let select = |p: Sym, x: Sym| p.select(x, 1);
    assert_eq!(ops(select, (spec(BOOL, []), bx(4))), ["select"]);
    // The mean divides by the extent, whatever it will be.
    let mean = ["reduce_sum", "dim_size", "convert", "div"];
    assert_eq!(ops(|x: Sym| x.mean(..), spec(F32, [dim("B")])), mean);
}

#[test]
fn errors_name_the_method_and_the_remedy() {
    let e = error(|x: Sym| x.mean(0), spec(I32, [3]));
    assert!(e.contains("mean: needs a float or complex tensor, got i32 (tensor<3xi32>); `.cast(F32)` it first"), "{e}");
    assert!(e.starts_with("evoxc/trace/tests/composites.rs:") || e.contains("tests/composites.rs:"), "{e}");
    let e = error(|x: Sym| x.sum(0), spec(BOOL, [3]));
    assert!(e.contains("sum: needs a tensor of numbers, got bool") && e.contains("`.cast(I32)` it first"), "{e}");
    let e = error(|x: Sym| x.any(0), spec(I32, [3]));
    assert!(e.contains("any: needs a bool tensor") && e.contains("`.ne(0)`"), "{e}");
    let e = error(|x: Sym| x.gt(0).select(1, 0), spec(I32, [3]));
    assert!(e.contains("select: both values are scalars"), "{e}");
    let e = error(|x: Sym, y: Sym| x.gt(0).select(x, y), (spec(F32, [3]), spec(F64, [3])));
    assert!(e.contains("select: the operands have different dtypes, f32 and f64"), "{e}");
    let e = error(|x: Sym| x.argmax([0, 1]), spec(F32, [3, 4]));
    assert!(e.contains("argmax: cannot search 2 axes at once") && e.contains("`..`"), "{e}");
    let e = error(|x: Sym| x.sum(2), spec(F32, [3, 4]));
    assert!(e.contains("sum: axis 2 is out of range for rank 2"), "{e}");
    let e = error(|x: Sym, y: Sym| x.cross_entropy(y, CrossEntropy::default()), (bx(4), spec(I32, [4])));
    assert!(e.contains("cross_entropy: labels of shape [4] do not go with logits of shape [B, 4]"), "{e}");
    let heads = |q: Sym, k: Sym| q.scaled_dot_product_attention(k, k, Attention::default());
    let e = error(heads, (spec(F32, [6, 5, 8]), spec(F32, [4, 5, 8])));
    assert!(e.contains("6 query heads do not share 4 key heads evenly"), "{e}");
    let e = error(|x: Sym| x.group_norm(3, 1e-5), spec(F32, [2, 4, 5]));
    assert!(e.contains("4 channels do not split into 3 groups"), "{e}");
    let e = error(|x: Sym| x.quantile(1.5, 0), spec(F32, [4]));
    assert!(e.contains("quantile: 1.5 is not a quantile"), "{e}");
}

// One mistake is one error, however much is computed from its result.
#[test]
fn a_poisoned_value_brings_no_further_errors() {
    let f = |x: Sym| {
        let bad = x.mean(0);
        let c = bad.softmax(-1).layer_norm(0, 1e-5).gelu().logsumexp(..) + bad.argmax(..);
        let (values, _, _) = c.sort(0).unique(3);
        values.cross_entropy(x, CrossEntropy::default()).rope(x, &Rope::default())
    };
    let e = error(f, spec(I32, [3, 4]));
    assert!(e.contains("mean"), "{e}");
}

#[test]
fn errors_stand_where_the_user_wrote_the_call() {
    let line = line!() + 1;
    let e = error(|x: Sym| x.logaddexp(x.cast(F64)), spec(F32, [3]));
    assert!(e.contains(&format!("tests/composites.rs:{line}:30")), "{e}");
}

// einops on an array whose element [b, h·3 + w, c] is told by its place: the meaning is that of the pattern.
#[test]
fn rearrange_names_what_is_wrong() {
    let case = |pattern: &'static str, want: &str| {
        let e = trace(|x: Sym| x.rearrange(pattern, &[("h", 2)]), spec(F32, [4, 6])).err().map(|e| e.to_string());
        assert!(e.as_ref().is_some_and(|e| e.contains(want)), "{pattern}: {e:?}");
    };
    case("a b", "no `->`");
    case("a (h w) c -> a h w c", "3 axes, the tensor 2");
    case("a (h w) -> a h", "`w` is on the left side only");
    case("a (h w) -> a h w z", "`z` is on the right side only");
    case("(a b) (h w) -> a b h w", "give all but one");
    case("a b -> b a", "`h` has a size but is not in the pattern");
    case("a (h h) -> a h", "stands twice");
    case("a (h w -> a h", "without its `)`");
}
