"""Writes tests/data/composites.json: for each composite inputs, and what JAX, NumPy or a formula gives for them.

Needs numpy, scipy and jax: `python3 tests/generate/composites.py`.
"""

import json
import os

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special
from jax import lax, nn
from jax.scipy import special as jsp

from evx import BF16, lit
from gradients import gradients
from matrices import matrices
from specials import specials as series

jax.config.update("jax_enable_x64", True)
np.seterr(all="ignore")
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "composites.json")
CASES = []
INF, NAN = np.inf, np.nan
rng = np.random.default_rng(7)


def case(name, source, inputs, expected, tol):
    """A case of the composite `name` of the table in tests/composites.rs."""
    inputs = [np.asarray(x) for x in inputs]
    expected = expected if isinstance(expected, (list, tuple)) else [expected]
    expected = [np.asarray(x) for x in expected]
    CASES.append({"name": name, "source": source, "inputs": [lit(x) for x in inputs],
                  "expected": [lit(x) for x in expected], "tol": tol})


def floats(name, source, f, *inputs, tol="transcendental", half=True):
    """Cases of a function of floats: in f64 as given, in f32 and bf16 with the function of the rounded inputs in f64,
    rounded once."""
    inputs = [np.asarray(x) for x in inputs]
    case(name, source, inputs, jax.tree.map(np.asarray, f(*[jnp.asarray(x) for x in inputs])), tol)
    for dtype in [np.dtype(np.float32)] + ([BF16] if half else []):
        low = [x.astype(dtype) if x.dtype == np.float64 else x for x in inputs]
        wide = [jnp.asarray(x.astype(np.float64) if x.dtype == dtype else x) for x in low]
        out = f(*wide)
        out = [np.asarray(o) for o in (out if isinstance(out, (list, tuple)) else [out])]
        out = [o.astype(dtype) if o.dtype == np.float64 else o for o in out]
        case(name, source + f" in f64, rounded to {dtype.name}", low, out, "contraction")


def both(name, source, f, *inputs, tol="exact"):
    """A case of NumPy arrays as they are."""
    out = f(*inputs)
    case(name, source, inputs, out, tol)


X = np.array([-INF, -100.0, -6.5, -3.0, -1.0, -0.3, -1e-9, -0.0, 0.0, 1e-9, 0.3, 1.0, 3.0, 6.5, 100.0, INF, NAN])
FINITE = X[np.isfinite(X)]
MILD = np.array([-4.5, -3.0, -1.5, -0.75, -0.125, 0.0, 0.125, 0.5, 1.0, 2.25, 3.0, 4.0])


# --- activations
def activations():
    for name, f in {
        "relu": nn.relu, "relu6": nn.relu6, "leaky_relu": lambda x: nn.leaky_relu(x, 0.01),
        "hard_tanh": nn.hard_tanh, "hard_sigmoid": nn.hard_sigmoid,
    }.items():
        floats(name, f"jax.nn.{name}", f, X, tol="elementwise")
    for name, f in {
        "elu": lambda x: nn.elu(x, 1.5), "selu": nn.selu, "celu": lambda x: nn.celu(x, 1.5),
        "quick_gelu": lambda x: x * nn.sigmoid(1.702 * x), "silu": nn.silu,
        "mish": nn.mish, "softplus": nn.softplus, "sigmoid": nn.sigmoid, "log_sigmoid": nn.log_sigmoid,
        "softsign": nn.soft_sign, "hard_swish": nn.hard_swish,
    }.items():
        floats(name, f"jax.nn.{name}", f, FINITE)
    floats("gelu", "jax.nn.gelu(approximate=False)", lambda x: nn.gelu(x, approximate=False), MILD)
    floats("gelu_tanh", "jax.nn.gelu(approximate=True)", lambda x: nn.gelu(x, approximate=True), MILD, tol="contraction")
    # In the tail each rounding of the argument counts many times: erfc'(x)/erfc(x) is about -2x.
    floats("gelu", "x erfc(-x/sqrt 2)/2, scipy", lambda x: np.asarray(x) * scipy.special.erfc(-np.asarray(x) / np.sqrt(2)) / 2,
           np.array([-INF + 1e300, -30.0, -8.0, 8.0, 40.0])[1:], tol="contraction", half=False)
    floats("square", "x * x", lambda x: x * x, X, tol="exact")
    floats("reciprocal", "1 / x", lambda x: 1 / x, X, tol="exact")
    both("relu_i32", "max(x, 0)", lambda x: np.maximum(x, 0), np.array([-(2**31), -1, 0, 5], np.int32))


# --- special
def specials():
    pairs = np.array([(a, b) for a in [-INF, -3.0, -0.0, 0.0, 0.5, 100.0, INF, NAN] for b in [-INF, -2.0, 0.0, 1.5, INF, NAN]])
    a, b = pairs[:, 0].copy(), pairs[:, 1].copy()
    floats("logaddexp", "numpy.logaddexp", lambda x, y: np.logaddexp(np.asarray(x), np.asarray(y)), a, b)
    floats("xlogy", "jax.scipy.special.xlogy", jsp.xlogy, a, b)
    floats("xlog1py", "jax.scipy.special.xlog1py", jsp.xlog1py, a, b)
    keep = ~(np.isnan(a) | np.isnan(b))
    floats("hypot", "numpy.hypot", lambda x, y: np.hypot(np.asarray(x), np.asarray(y)), a[keep], b[keep])
    floats("hypot", "numpy.hypot", lambda x, y: np.hypot(np.asarray(x), np.asarray(y)),
           np.array([3e-300, 3e300, 1e300, 0.0]), np.array([4e-300, 4e300, 1.0, -0.0]), half=False)
    CASES.pop()  # out of the range of f32
    floats("heaviside", "numpy.heaviside", lambda x, y: np.heaviside(np.asarray(x), np.asarray(y)), a, b, tol="exact")
    finite = np.isfinite(a) & np.isfinite(b)
    floats("floor_div", "jax.numpy.floor_divide", jnp.floor_divide, a, b, tol="exact", half=False)
    floats("modulo", "jax.numpy.remainder", jnp.remainder, a[finite], b[finite], tol="exact", half=False)
    m = np.array([7, 7, -7, -7, 0, -128, 127, -1], np.int8)
    n = np.array([3, -3, 3, -3, 5, 7, -128, 2], np.int8)
    both("floor_div_int", "numpy.floor_divide", np.floor_divide, m, n)
    both("modulo_int", "numpy.remainder", np.remainder, m, n)
    u, v = np.array([7, 200, 0, 255], np.uint8), np.array([3, 7, 5, 255], np.uint8)
    both("floor_div_int", "numpy.floor_divide", np.floor_divide, u, v)
    both("modulo_int", "numpy.remainder", np.remainder, u, v)
    floats("is_nan", "numpy.isnan", jnp.isnan, X, tol="exact")
    floats("is_inf", "numpy.isinf", jnp.isinf, X, tol="exact")
    both("is_nan", "numpy.isnan of integers", lambda x: np.isnan(x.astype(float)), np.array([1, 2], np.int32))
    both("is_inf", "numpy.isinf of integers", lambda x: np.isinf(x.astype(float)), np.array([1, 2], np.int32))
    for dtype in [np.float64, np.float32, np.float16]:
        both("nan_to_num", "numpy.nan_to_num", np.nan_to_num, X.astype(dtype))
    floats("sinc", "jax.numpy.sinc", jnp.sinc, np.array([-2.5, -0.5, -1e-9, 0.0, 0.25, 0.5, 1.5, 2.25]), tol="contraction")
    floats("deg2rad", "numpy.deg2rad", jnp.deg2rad, MILD * 40, tol="elementwise")
    floats("rad2deg", "numpy.rad2deg", jnp.rad2deg, MILD, tol="elementwise")
    floats("lerp", "a + w (b - a)", lambda x, y: x + 0.25 * (y - x), MILD, MILD[::-1].copy(), tol="elementwise")
    p = np.array([0.0, 1e-300, 1e-20, 1e-5, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1 - 1e-9, 1.0, -0.5, NAN])
    case("ndtri", "jax.scipy.special.ndtri", [p], np.asarray(jsp.ndtri(jnp.asarray(p))), "contraction")
    q = np.array([0.0, 1e-30, 1e-5, 0.01, 0.1, 0.25, 0.5, 0.75, 0.875, 0.984375, 1.0], np.float32)
    case("ndtri", "scipy.special.ndtri in f64, rounded", [q], scipy.special.ndtri(q.astype(np.float64)).astype(np.float32), "contraction")
    floats("ndtr", "scipy.special.ndtr", lambda x: scipy.special.ndtr(np.asarray(x)), MILD, tol="contraction")
    floats("logit", "scipy.special.logit", lambda x: scipy.special.logit(np.asarray(x)),
           np.array([0.0, 0.125, 0.25, 0.75, 0.9375, 1.0]))
    floats("clip", "numpy.clip(x, -1, 2)", lambda x: jnp.clip(x, -1, 2), X, tol="exact")
    lo, hi = np.array([[-1.0], [0.0]]), np.array([2.0, -3.0, 0.5])
    x = np.array([[-5.0, 5.0, 0.25], [1.0, NAN, 9.0]])
    both("clip_tensors", "numpy.minimum(numpy.maximum(x, lo), hi)", lambda x, l, h: np.minimum(np.maximum(x, l), h), x, lo, hi)
    c = np.array([[True], [False]])
    both("select", "numpy.where", np.where, c, np.array([1.0, 2.0, NAN]), np.array([[7.0], [8.0]]))
    both("select_scalar", "numpy.where(c, x, 0.5)", lambda c, x: np.where(c, x, np.float32(0.5)), np.array(True), np.array([1.0, NAN], np.float32))
    both("select_scalar", "numpy.where(c, x, 0.5)", lambda c, x: np.where(c, x, np.float32(0.5)), np.array([True, False]), np.array(3.0, np.float32))
    floats("pow", "numpy.power(x, 2)", lambda x: x**2, MILD)
    floats("maximum", "numpy.maximum", jnp.maximum, a, b, tol="exact")
    floats("minimum", "numpy.minimum", jnp.minimum, a, b, tol="exact")


# --- reductions
def reductions():
    x = rng.normal(size=(3, 4, 5)) * 3
    sums = {
        "sum": jnp.sum, "mean": jnp.mean, "prod": jnp.prod, "max": jnp.max, "min": jnp.min, "var": jnp.var, "std": jnp.std,
        "logsumexp": jsp.logsumexp, "norm": lambda x, axis=None, keepdims=False: jnp.sqrt(jnp.sum(x * x, axis, keepdims=keepdims)),
        "median": jnp.median, "quantile": lambda x, axis=None, keepdims=False: jnp.quantile(x, 0.3, axis, keepdims=keepdims),
    }
    for name, f in sums.items():
        tol = "exact" if name in ("max", "min") else "contraction"
        floats(f"{name}_1", f"jax: {name}, axis 1", lambda x: f(x, axis=1), x, tol=tol, half=name != "quantile")
        floats(f"{name}_02_keep", f"jax: {name}, axes 0 and 2 kept", lambda x: f(x, axis=(0, 2), keepdims=True), x, tol=tol, half=False)
        floats(f"{name}_all", f"jax: {name}, all axes", lambda x: f(x), x, tol=tol, half=False)
    floats("var_corrected", "numpy.var(ddof=1)", lambda x: jnp.var(x, axis=0, ddof=1), x, tol="contraction")
    e = np.array([[-INF, -INF, -INF], [INF, 1.0, 2.0], [NAN, 1.0, 2.0], [-INF, 700.0, 800.0], [-1e4, -1e4, -INF], [INF, -INF, 0.0]])
    case("logsumexp_1", "jax.scipy.special.logsumexp", [e], jsp.logsumexp(jnp.asarray(e), axis=1), "transcendental")
    for name in ["median_1", "max_1", "min_1", "sum_1"]:
        f = {"median_1": jnp.median, "max_1": jnp.max, "min_1": jnp.min, "sum_1": jnp.sum}[name]
        case(name, f"jax: {name} of special values", [e], f(jnp.asarray(e), axis=1), "exact")
    empty = np.zeros((2, 0), np.float32)
    case("sum_1", "sum of nothing is 0", [empty], np.zeros(2, np.float32), "exact")
    case("prod_1", "product of nothing is 1", [empty], np.ones(2, np.float32), "exact")
    case("max_1", "maximum of nothing is -inf", [empty], np.full(2, -INF, np.float32), "exact")
    case("min_1", "minimum of nothing is inf", [empty], np.full(2, INF, np.float32), "exact")
    case("mean_1", "mean of nothing is NaN (numpy)", [empty], np.full(2, NAN, np.float32), "exact")
    case("logsumexp_1", "log of 0", [empty], np.full(2, -INF, np.float32), "exact")
    big = np.full((1, 4096), 60000.0, np.float16)
    case("mean_1", "60000: the sum is in f32", [big[:, :64]], np.full(1, 60000.0, np.float16), "exact")
    i = np.array([[100, 100, 100], [-128, -1, 0]], np.int8)
    both("sum_1", "numpy: wraps", lambda x: np.sum(x, 1, dtype=np.int8), i)
    both("prod_1", "numpy: wraps", lambda x: np.prod(x, 1, dtype=np.int8), i)
    both("max_1", "numpy.max", lambda x: np.max(x, 1), i)
    both("count_nonzero", "numpy.count_nonzero", lambda x: np.count_nonzero(x, 1).astype(np.int32), i)
    both("count_nonzero", "numpy.count_nonzero: NaN counts", lambda x: np.count_nonzero(x, 1).astype(np.int32), np.array([[NAN, 0.0, -0.0, 2.0]]))
    t = np.array([[True, False], [True, True], [False, False]])
    both("count_nonzero", "numpy.count_nonzero", lambda x: np.count_nonzero(x, 1).astype(np.int32), t)
    both("any", "numpy.any", lambda x: np.any(x, 1), t)
    both("all", "numpy.all", lambda x: np.all(x, 1), t)
    z = np.array([3 + 4j, 1j, -2.0])
    both("norm_all", "numpy.linalg.norm", lambda z: np.asarray(np.linalg.norm(z)), z, tol="contraction")
    both("var_all", "numpy.var", lambda z: np.asarray(np.var(z)), z, tol="contraction")
    both("mean_all", "numpy.mean", lambda z: np.asarray(np.mean(z)), z, tol="contraction")
    for p, name in [(3.0, "norm_3"), (1.0, "norm_one"), (INF, "norm_inf"), (-INF, "norm_minus_inf"), (0.0, "norm_zero")]:
        floats(name, f"numpy.linalg.norm(ord={p})", lambda x: np.linalg.norm(np.asarray(x), ord=p, axis=1), x[0], tol="contraction", half=False)
    a = np.array([[3.0, NAN, 9.0, NAN], [1.0, 5.0, 5.0, -2.0], [-INF, -INF, INF, INF]])
    for name, f in [("argmax", np.argmax), ("argmin", np.argmin)]:
        both(f"{name}_1", f"numpy.{name}", lambda x: f(x, 1).astype(np.int32), a)
        both(f"{name}_all", f"numpy.{name}", lambda x: np.asarray(f(x)).astype(np.int32), a[1:])
        both(f"{name}_keep", f"numpy.{name}", lambda x: f(x, 0, keepdims=True).astype(np.int32), a[1:])
    for name, f in [("cumsum", jnp.cumsum), ("cumprod", jnp.cumprod), ("cummax", lax.cummax), ("cummin", lax.cummin), ("cumlogsumexp", lax.cumlogsumexp)]:
        tol = "exact" if name in ("cummax", "cummin") else "contraction"
        floats(name, f"jax: {name}", lambda x: f(x, axis=1), x, tol=tol, half=False)
    both("cumsum", "numpy.cumsum", lambda x: np.cumsum(x, 1, dtype=np.int32), np.array([[1, 2, 3], [2**31 - 1, 1, 0]], np.int32))
    floats("diff", "numpy.diff", lambda x: jnp.diff(x, axis=1), x, tol="exact")
    both("diff", "numpy.diff", lambda x: np.diff(x, axis=1), t)
    both("diff", "numpy.diff", lambda x: np.diff(x, axis=1), np.zeros((2, 0)))


# --- normalisation and loss
def losses():
    x = rng.normal(size=(4, 6)) * 4
    floats("softmax", "jax.nn.softmax", nn.softmax, x, tol="contraction")
    floats("log_softmax", "jax.nn.log_softmax", nn.log_softmax, x, tol="contraction")
    e = np.array([[-INF, 0.0, 1.0], [1000.0, 1001.0, 1002.0], [-INF, -INF, -INF], [NAN, 0.0, 1.0], [INF, 0.0, 1.0]])
    floats("softmax", "jax.nn.softmax", nn.softmax, e, tol="transcendental")
    floats("log_softmax", "jax.nn.log_softmax", nn.log_softmax, e, tol="transcendental")
    floats("softmax_all", "jax.nn.softmax(axis=(0, 1))", lambda x: nn.softmax(x, axis=(0, 1)), x, tol="contraction", half=False)

    def standard(x, axes):
        m = jnp.mean(x, axes, keepdims=True)
        return (x - m) / jnp.sqrt(jnp.mean((x - m) ** 2, axes, keepdims=True) + 1e-5)

    floats("layer_norm", "(x - mean) / sqrt(var + 1e-5)", lambda x: standard(x, -1), x, tol="contraction")
    floats("rms_norm", "x / sqrt(mean(x^2) + 1e-6)", lambda x: x / jnp.sqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6), x, tol="contraction")
    g = rng.normal(size=(2, 4, 3, 2))
    floats("group_norm", "each of 2 groups of channels, (x - mean) / sqrt(var + 1e-5)",
           lambda g: standard(g.reshape(2, 2, 2, 3, 2), (2, 3, 4)).reshape(2, 4, 3, 2), g, tol="contraction")
    v = [rng.normal(size=4) for _ in range(4)]
    v[1] = np.abs(v[1])
    r = lambda v: v.reshape(1, 4, 1, 1)
    floats("batch_norm", "(x - mean) / sqrt(var + 1e-5) * scale + bias",
           lambda x, m, s, w, b: (x - r(m)) / jnp.sqrt(r(s) + 1e-5) * r(w) + r(b), g, *v, tol="contraction", half=False)

    def train(x, w, b):
        m, s = jnp.mean(x, (0, 2, 3)), jnp.var(x, (0, 2, 3))
        return ((x - r(m)) / jnp.sqrt(r(s) + 1e-5) * r(w) + r(b), m, s)

    floats("batch_norm_training", "the same with the batch's mean and variance", train, g, v[2], v[3], tol="contraction", half=False)
    floats("normalize", "x / max(norm, 1e-12)", lambda x: x / jnp.maximum(jnp.linalg.norm(x, axis=-1, keepdims=True), 1e-12),
           np.vstack([x, np.zeros((1, 6))]), tol="contraction", half=False)
    labels = np.array([3, 0, 5, 1])
    ignoring = np.array([3, -100, 5, -100])

    def ce(x, y, smoothing=0.0, ignore=None, reduction="mean"):
        """torch.nn.functional.cross_entropy, by its documentation."""
        logp = nn.log_softmax(x)
        y_safe = jnp.where(y < 0, 0, y)
        each = -(1 - smoothing) * jnp.take_along_axis(logp, y_safe[:, None], 1)[:, 0] - smoothing * logp.mean(-1)
        w = jnp.ones_like(each) if ignore is None else (y != ignore).astype(each.dtype)
        each = each * w
        return {"mean": each.sum() / w.sum(), "sum": each.sum(), "none": each}[reduction]

    doc = "torch.nn.functional.cross_entropy's formula"
    floats("cross_entropy", doc, ce, x, labels, tol="contraction")
    floats("cross_entropy", doc, ce, x, labels.astype(np.int32), tol="contraction", half=False)
    floats("cross_entropy_smooth", doc, lambda x, y: ce(x, y, 0.1, -100), x, ignoring, tol="contraction")
    floats("cross_entropy_sum", doc, lambda x, y: ce(x, y, 0.0, -100, "sum"), x, ignoring, tol="contraction", half=False)
    floats("cross_entropy_each", doc, lambda x, y: ce(x, y, 0.0, -100, "none"), x, ignoring, tol="contraction", half=False)
    q = np.asarray(nn.softmax(rng.normal(size=(4, 6))))
    floats("cross_entropy_soft", doc, lambda x, q: -jnp.sum((0.9 * q + 0.1 / 6) * nn.log_softmax(x), -1).mean(), x, q, tol="contraction", half=False)
    p, t = np.array([0.0, 0.25, 0.9, 1.0, 1.0]), np.array([0.0, 1.0, 0.5, 1.0, 0.0])
    floats("bce", "mean of -t max(log p, -100) - (1-t) max(log(1-p), -100)",
           lambda p, t: jnp.mean(-t * jnp.maximum(jnp.log(p), -100) - (1 - t) * jnp.maximum(jnp.log1p(-p), -100)), p, t, tol="contraction")
    floats("bce_logits", "mean of log(1+e^x) - x t", lambda x, t: jnp.mean(jnp.logaddexp(x, 0) - x * t),
           np.array([-50.0, -1.0, 0.0, 2.0, 90.0]), t, tol="contraction")
    floats("mse", "mean of (a-b)^2", lambda a, b: jnp.mean((a - b) ** 2), x, x[::-1].copy(), tol="contraction")
    both("one_hot", "jax.nn.one_hot", lambda i: np.asarray(nn.one_hot(i, 4, dtype=np.float32)), np.array([[0, 3], [4, -1]], np.int32))


# --- attention
def attention(q, k, v, mask=None, bias=None, causal=None, scale=None):
    group = q.shape[-3] // k.shape[-3]
    k, v = jnp.repeat(k, group, axis=-3), jnp.repeat(v, group, axis=-3)
    s = q @ jnp.swapaxes(k, -1, -2) * (scale or 1 / np.sqrt(q.shape[-1]))
    if bias is not None:
        s = s + bias
    seen = jnp.ones(s.shape, bool)
    if mask is not None:
        seen = seen & mask
    if causal is not None:
        seen = seen & (jnp.arange(s.shape[-1])[None, :] <= jnp.arange(s.shape[-2])[:, None] + causal)
    s = jnp.where(seen, s, -0.7 * np.finfo(np.float32).max)
    return nn.softmax(s) @ v


def attentions():
    q, k, v = rng.normal(size=(2, 4, 3, 8)), rng.normal(size=(2, 2, 5, 8)), rng.normal(size=(2, 2, 5, 6))
    doc = "softmax(q k^T / sqrt d) v, key heads repeated"
    floats("attention", doc, attention, q, k, v, tol="contraction", half=False)
    floats("attention_equal", doc + " with as many key heads", lambda q, k, v: attention(q, k, v, causal=0), q, q[:, ::-1].copy(), q[:, :, ::-1].copy(), tol="contraction")
    floats("attention_causal", doc, lambda q, k, v: attention(q, k, v, causal=0), q, k, v, tol="contraction", half=False)
    floats("attention_from", doc, lambda q, k, v: attention(q, k, v, causal=2), q, k, v, tol="contraction", half=False)
    mask = rng.random((3, 5)) > 0.4
    mask[1] = False
    floats("attention_mask", doc + "; a row of hidden keys is the mean", lambda q, k, v, m: attention(q, k, v, mask=m, scale=0.3), q, k, v, mask, tol="contraction", half=False)
    floats("attention_bias", doc, lambda q, k, v, b: attention(q, k, v, bias=b), q, k, v, rng.normal(size=(4, 1, 5)), tol="contraction", half=False)

    def rope(x, at, n, interleaved):
        f = 10000.0 ** (-np.arange(0, n, 2) / n)
        a = at[:, None] * f
        c, s = jnp.cos(a), jnp.sin(a)
        h, rest = x[..., :n], x[..., n:]
        if interleaved:
            x1, x2 = h[..., 0::2], h[..., 1::2]
            out = jnp.stack([x1 * c - x2 * s, x2 * c + x1 * s], -1).reshape(h.shape)
        else:
            x1, x2 = h[..., : n // 2], h[..., n // 2:]
            out = jnp.concatenate([x1 * c - x2 * s, x2 * c + x1 * s], -1)
        return jnp.concatenate([out, rest], -1)

    at = np.array([0, 1, 7], np.int32)
    floats("rope", "Su et al. 2021, halves apart", lambda x, at: rope(x, at, 8, False), q, at, tol="contraction", half=False)
    floats("rope_interleaved", "Su et al. 2021, neighbours; 6 of 8 features", lambda x, at: rope(x, at, 6, True), q, at, tol="contraction", half=False)


# --- ordering and sets
def orderings():
    x = np.array([[3.0, NAN, -INF, 3.0, 0.5], [INF, -1.0, 2.0, -1.0, NAN]])
    both("sort", "numpy.sort", lambda x: np.sort(x, 1), x)
    both("argsort", "numpy.argsort(kind='stable')", lambda x: np.argsort(x, 1, kind="stable").astype(np.int32), x)
    y = np.array([[5, 3, 5, 1, 3], [0, 0, 9, 9, 4]], np.int32)
    both("sort_descending", "numpy.sort, reversed", lambda y: np.sort(y, 1)[:, ::-1], y)
    both("argsort_descending", "numpy.argsort(-y, kind='stable')", lambda y: np.argsort(-y, 1, kind="stable").astype(np.int32), y)
    both("sort_by_key", "take_along_axis(x, argsort(keys))", lambda x, k: np.take_along_axis(x, np.argsort(k, 1, kind="stable"), 1), x, y)
    both("top_k", "jax.lax.top_k", lambda y: [np.asarray(o) for o in lax.top_k(y, 3)], y)
    a = np.array([1.0, 2.0, 2.0, 5.0, INF])
    v = np.array([[0.0, 1.0, 2.0], [3.0, INF, NAN], [-INF, 5.0, 9.0]])
    both("searchsorted", "numpy.searchsorted", lambda a, v: np.searchsorted(a, v).astype(np.int32), a, v)
    both("searchsorted_right", "numpy.searchsorted(side='right')", lambda a, v: np.searchsorted(a, v, "right").astype(np.int32), a, v)
    b = np.array([1, 4, 4, 4, 7, 9, 9], np.int32)
    for n in [7, 4, 1, 0]:
        w = np.array([0, 1, 4, 5, 9, 10], np.int32)
        both("searchsorted", "numpy.searchsorted", lambda a, v: np.searchsorted(a, v).astype(np.int32), b[:n], w)
        both("searchsorted_right", "numpy.searchsorted(side='right')", lambda a, v: np.searchsorted(a, v, "right").astype(np.int32), b[:n], w)
    both("bincount", "numpy.bincount(minlength=5), without what is 5 or more", lambda i: np.bincount(i[(i >= 0) & (i < 5)], minlength=5).astype(np.int32),
         np.array([0, 1, 1, 4, 7, -1, 4, 4], np.int32))
    ids = np.array([2, 0, 2, 3, -1, 0], np.int32)
    data = np.arange(12.0).reshape(6, 2) - 5
    seg = lambda f, start: lambda d, i: np.array([f.reduce(d[i == s], axis=0, initial=start) if (i == s).any() else np.full(2, start) for s in range(3)], d.dtype)
    both("segment_sum", "sums of rows by id, jax.ops.segment_sum", seg(np.add, 0), data, ids)
    both("segment_prod", "products of rows by id", seg(np.multiply, 1), data, ids)
    both("segment_max", "jax.ops.segment_max", seg(np.maximum, -INF), data, ids)
    both("segment_min", "jax.ops.segment_min", seg(np.minimum, INF), data, ids)
    both("segment_max", "jax.ops.segment_max", seg(np.maximum, -128), data.astype(np.int8), ids)
    both("segment_min", "jax.ops.segment_min", seg(np.minimum, 255), (data + 5).astype(np.uint8), ids)

    def unique(x):
        u, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
        n = len(u)
        values = np.concatenate([u, np.full(6, u[0])])[:6]
        counts = np.concatenate([counts, np.zeros(6, int)])[:6]
        return [values, inverse.reshape(x.shape).astype(np.int32), counts.astype(np.int32)]

    both("unique", "numpy.unique, padded with the smallest", unique, np.array([[3, 1, 3], [7, 1, 1]], np.int32))
    both("unique", "numpy.unique, cut", unique, np.arange(9, 0, -1).astype(np.int32))
    both("unique", "numpy.unique, NaN is one", unique, np.array([NAN, 1.0, NAN, -INF, 1.0]))
    both("unique", "numpy.unique", unique, np.array([2.5]))


# --- shape and index
def shapes():
    x = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    f = np.arange(12, dtype=np.float32).reshape(3, 4)
    v = np.arange(4, dtype=np.float32)
    both("squeeze_expand", "numpy: expand_dims, squeeze", lambda x: x, x)
    both("stack", "numpy.stack(axis=1)", lambda a: np.stack([a, a + 1], 1), f)
    both("unstack", "numpy: x[0], x[1]", lambda x: [x[0], x[1]], x)
    both("split", "numpy.split([1, 3], axis=2)", lambda x: np.split(x, [1, 3], 2), x)
    both("chunk", "numpy.split(2, axis=2)", lambda x: np.split(x, 2, 2), x)
    both("repeat", "numpy.repeat", lambda x: np.repeat(x, 2, 1), x)
    both("tile", "numpy.tile", lambda x: np.tile(x, (2, 1, 2)), x)
    both("roll", "numpy.roll", lambda x: [np.roll(x, 1, 2), np.roll(x, -2, 1), np.roll(x, 7, 2)], x)
    both("flip", "numpy.flip", lambda x: np.flip(x, (0, 2)), x)
    both("swap_axes", "numpy.swapaxes", lambda x: np.swapaxes(x, 0, 2), x)
    both("move_axis", "numpy.moveaxis", lambda x: np.moveaxis(x, 0, -1), x)
    both("broadcast_to", "numpy.broadcast_to", lambda v: np.broadcast_to(v, (2, 3, 4)), v)
    both("flatten", "numpy.reshape", lambda x: [x.reshape(2, 12), x.ravel()], x)
    both("pad", "numpy.pad", lambda f: np.pad(f, [(1, 0), (2, 1)], constant_values=7), f)
    both("windows", "numpy sliding_window_view[::2]", lambda v: np.lib.stride_tricks.sliding_window_view(v, 2)[::2], np.arange(7.0))
    both("tril", "numpy.tril", lambda x: [np.tril(x), np.tril(x, 1), np.tril(x, -1)], x)
    both("triu", "numpy.triu", lambda x: [np.triu(x), np.triu(x, 1), np.triu(x, -1)], x)
    both("diagonal", "numpy.diagonal(axis1=-2, axis2=-1)", lambda x: np.diagonal(x, axis1=-2, axis2=-1), x)
    both("diag", "numpy.diag", np.diag, v)
    both("take", "numpy.take(mode='clip')", lambda x, i: np.take(x, i, 1, mode="clip"), x, np.array([[2, 0], [9, 1]], np.int32))
    i = np.array([[[0], [2], [1]], [[3], [3], [0]]], np.int32)
    both("take_along_axis", "numpy.take_along_axis", lambda x, i: np.take_along_axis(x, i, 2), x, i)

    def put(x, i):
        y = x.copy()
        np.put_along_axis(y, i, -1, 2)
        return y

    both("put_along_axis", "numpy.put_along_axis", put, x, i)
    both("creators", "numpy: arange, linspace, eye", lambda: [np.arange(0, 10, 3, dtype=np.int32), np.arange(3, 0, -0.5, dtype=np.float32),
         np.eye(3, dtype=np.float32), np.broadcast_to(np.arange(3, dtype=np.float32)[:, None], (3, 2))])
    case("linspace", "numpy.linspace", [], np.linspace(-1, 3, 7), "elementwise")
    both("meshgrid", "numpy.meshgrid(indexing='ij')", lambda a, b: list(np.meshgrid(a, b, indexing="ij")), v, np.arange(3, dtype=np.float32))


# --- contraction
def contractions():
    def small(*shape):
        return rng.integers(-4, 5, size=shape).astype(np.float32)

    a, b = small(2, 3, 4), small(5, 4, 6)
    both("dot", "numpy.dot", np.dot, a, b)
    both("dot", "numpy.dot", np.dot, small(3, 4), small(4, 2))
    both("dot", "numpy.dot", np.dot, small(2, 3, 4), small(4))
    both("dot", "numpy.dot", lambda x, y: np.asarray(np.dot(x, y)), small(4), small(4))
    both("matmul", "numpy.matmul", np.matmul, small(5, 1, 3, 4), small(2, 4, 6))
    both("matmul", "numpy.matmul", np.matmul, small(4), small(2, 4, 6))
    both("matmul", "numpy.matmul", np.matmul, small(2, 3, 4), small(4))
    both("tensordot", "numpy.tensordot(axes=([1, 2], [1, 0]))", lambda x, y: np.tensordot(x, y, axes=([1, 2], [1, 0])), small(2, 3, 4), small(4, 3, 5))
    both("linear", "x w^T + b", lambda x, w, b: x @ w.T + b, small(2, 3, 4), small(5, 4), small(5))
    both("outer", "numpy.outer", np.outer, small(3), small(4))
    both("kron", "numpy.kron", np.kron, small(2, 3), small(3, 2))
    for name, eq, shapes in [
        ("einsum_matmul", "bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]), ("einsum_trace", "ii", [(4, 4)]), ("einsum_diag", "ii->i", [(4, 4)]),
        ("einsum_sum", "ij->j", [(3, 4)]), ("einsum_transpose", "ba", [(3, 4)]), ("einsum_outer", "i,j->ij", [(3,), (4,)]),
        ("einsum_three", "ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]), ("einsum_dots", "...ij,...jk->...ik", [(5, 1, 2, 3), (4, 3, 2)]),
        ("einsum_bilinear", "bi,oij,bj->bo", [(2, 3), (4, 3, 5), (2, 5)]), ("einsum_elementwise", "ij,ij->ij", [(3, 4), (3, 4)]),
        ("einsum_inner", "i,i", [(4,), (4,)]),
    ]:
        xs = [small(*s) for s in shapes]
        both(name, f"numpy.einsum('{eq}')", lambda *xs: np.asarray(np.einsum(eq, *xs)), *xs)


def windows():
    def small(*shape):
        return rng.integers(-4, 5, size=shape).astype(np.float32)

    def conv(x, w, strides, padding, dilation=None, groups=1, lhs=None):
        return np.asarray(lax.conv_general_dilated(x, w, strides, padding, lhs_dilation=lhs, rhs_dilation=dilation, feature_group_count=groups))

    x, w = small(2, 4, 6, 7), small(6, 4, 3, 2)
    both("conv", "jax.lax.conv_general_dilated", lambda x, w: conv(x, w, (2, 1), [(1, 2), (0, 1)], (1, 2)), x, w)
    both("conv_groups", "jax.lax.conv_general_dilated", lambda x, w: conv(x, w, (1, 1), [(0, 0), (0, 0)], groups=2), x, small(6, 2, 3, 2))
    both("conv1d", "jax.lax.conv_general_dilated", lambda x, w: conv(x, w, (2,), [(1, 1)]), small(2, 3, 8), small(4, 3, 3))
    both("conv3d", "jax.lax.conv_general_dilated", lambda x, w: conv(x, w, (1, 1, 1), [(0, 0)] * 3), small(1, 2, 3, 4, 3), small(2, 2, 2, 2, 2))

    def transposed(x, w):
        """Every input element adds its kernel at stride 2; one row and column are cut at each side."""
        n, c, h, wd = x.shape
        _, o, kh, kw = w.shape
        out = np.zeros((n, o, (h - 1) * 2 + kh, (wd - 1) * 2 + kw), x.dtype)
        for i in range(h):
            for j in range(wd):
                out[:, :, 2 * i:2 * i + kh, 2 * j:2 * j + kw] += np.einsum("nc,cohw->nohw", x[:, :, i, j], w)
        return out[:, :, 1:-1, 1:-1]

    both("conv_transpose", "torch.nn.functional.conv_transpose2d(stride=2, padding=1), by its definition", transposed, small(2, 3, 4, 3), small(3, 5, 3, 3))
    win = np.lib.stride_tricks.sliding_window_view
    both("max_pool", "maximum of 2x3 windows, stride 2x1", lambda x: win(x, (2, 3), axis=(2, 3))[:, :, ::2, ::1].max((-1, -2)), x)
    both("max_pool_padded", "the same, padded by 1", lambda x: win(np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=-INF), (2, 2), axis=(2, 3))[:, :, ::2, ::2].max((-1, -2)), x)
    both("avg_pool", "mean of 2x2 windows, stride 2x1", lambda x: win(x, (2, 2), axis=(2, 3))[:, :, ::2, ::1].mean((-1, -2)), x)
    y = small(1, 2, 4, 6)
    both("adaptive_avg_pool", "mean of blocks", lambda y: y.reshape(1, 2, 2, 2, 2, 3).mean((3, 5)), y, tol="elementwise")
    both("adaptive_max_pool", "maximum of blocks", lambda y: y.reshape(1, 2, 2, 2, 2, 3).max((3, 5)), y)
    both("resize_nearest", "index floor(i old / new)", lambda y: y[:, :, [i * 4 // 7 for i in range(7)]][..., [i * 6 // 4 for i in range(4)]], y)

    def bilinear(y):
        def axis(x, n, a):
            old = x.shape[a]
            at = np.clip((np.arange(n) + 0.5) * old / n - 0.5, 0, old - 1)
            lo = np.floor(at).astype(int)
            hi = np.minimum(lo + 1, old - 1)
            w = (at - lo).reshape([-1 if i == a else 1 for i in range(x.ndim)])
            return np.take(x, lo, a) * (1 - w) + np.take(x, hi, a) * w
        return axis(axis(y.astype(np.float64), 7, 2), 4, 3).astype(np.float32)

    both("resize_bilinear", "torch.nn.functional.interpolate(mode='bilinear'), by its definition", bilinear, y, tol="contraction")


# --- slices by s![..], and patterns
def places():
    x = np.arange(7 * 6 * 5, dtype=np.float32).reshape(7, 6, 5)
    both("slice_range", "numpy: x[1:4, ::2, 2]", lambda x: x[1:4, ::2, 2], x)
    both("slice_ends", "numpy: x[-3:-1, -1, :-2]", lambda x: x[-3:-1, -1, :-2], x)
    both("slice_reversed", "numpy: x[::-1, 5:0:-2]", lambda x: x[::-1, 5:0:-2], x)
    both("slice_one", "numpy: x[6]", lambda x: x[6], x)
    both("slice_empty", "numpy: x[3:3]", lambda x: x[3:3], x)
    both("dynamic_slice", "StableHLO: starts 5, -1, 9 clamp to 4, 0, 1", lambda x, i: x[4:7, 0:2, 1:5], x, np.int32(9))

    def update(x, u, i):
        y = x.copy()
        y[4:7, 1:3, 0:5] = u
        return y

    both("dynamic_update_slice", "StableHLO: starts 6, 1, 0 clamp to 4, 1, 0", update, x, -x[:3, :2, :5], np.int32(6))
    both("scatter_rows", "numpy.add.at", lambda x, i, u: (lambda y: (np.add.at(y, i, u), y)[1])(x.copy()), x[:, 0], np.array([0, 3, 0], np.int32), np.ones((3, 5), np.float32))
    y = np.arange(4 * 6 * 3, dtype=np.float32).reshape(4, 6, 3)
    both("rearrange_split", "einops by its definition: reshape, transpose, reshape", lambda y: y.reshape(4, 2, 3, 3).transpose(3, 0, 2, 1).reshape(3, 1, 4, 6), y)
    both("rearrange_join", "einops by its definition: reshape, transpose, reshape", lambda y: y.transpose(2, 0, 1).reshape(3, 24), y)


for group in [activations, specials, reductions, losses, attentions, orderings, shapes, contractions, windows, places,
              lambda: matrices(case), lambda: series(case),
              lambda: gradients(case)]:
    group()
os.makedirs(os.path.dirname(OUT), exist_ok=True)
with open(OUT, "w", newline="\n") as f:
    f.write("[\n" + ",\n".join(json.dumps(c, ensure_ascii=False) for c in CASES) + "\n]\n")
print(len(CASES), "cases of", len({c["name"] for c in CASES}), "composites")
