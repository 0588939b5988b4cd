"""Writes tests/data/derivatives_composites.json: gradients of composites, as JAX gives them for its own functions of the
same names.

Where JAX itself gives NaN or is inexact, or the difference is deliberate (abs'(0) is 0), the case says so and its
numbers come from a formula.
Needs numpy, scipy and jax: `python3 tests/generate/derivatives_composites.py`.
"""

import json
import os

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special as sp
from jax import lax, nn
from jax.scipy import special as jsp

from evx import BF16, lit

jax.config.update("jax_enable_x64", True)
np.seterr(all="ignore")
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "derivatives_composites.json")
CASES = []
INF, NAN = np.inf, np.nan
rng = np.random.default_rng(11)


def emit(name, source, order, wrt, inputs, expected, tol):
    CASES.append({"name": name, "source": source, "order": order, "wrt": wrt, "inputs": [lit(x) for x in inputs],
                  "expected": [lit(x) for x in expected], "tol": tol})


def case(name, source, f, *inputs, order=1, wrt=None, tol="contraction", known=None, dtypes=(np.float64,)):
    """The gradient with respect to each float input of sum(f(inputs) * c); of order 2 that of the sum of these. `known`
    are expected gradients that replace JAX's."""
    for dtype in dtypes:
        xs = [np.asarray(x) for x in inputs]
        xs = [x.astype(dtype) if x.dtype == np.float64 else x for x in xs]
        js = [jnp.asarray(x.astype(np.float64) if x.dtype == dtype else x) for x in xs]
        which = wrt if wrt is not None else [i for i, x in enumerate(xs) if x.dtype == dtype]
        y = f(*js)
        c = np.asarray(np.resize([1.0, 0.5, -2.0, 1.5, 0.75], y.shape)).astype(dtype)
        first = jax.grad(lambda *a: jnp.sum(f(*a) * c.astype(np.float64)), argnums=tuple(which))
        g = first
        if order == 2:
            g = jax.grad(lambda *a: sum(jnp.sum(d) for d in first(*a)), argnums=tuple(which))
        expected = [np.asarray(e).astype(dtype) for e in (known if known is not None else g(*js))]
        source_ = source if dtype == np.float64 else source + f" in f64, rounded to {np.dtype(dtype).name}"
        emit(name, source_, order, which, xs + [c], expected, tol)


BOTH = (np.float64, np.float32)


def both(name, source, f, *inputs, known=None, second=None, tol="contraction", **kw):
    """First derivatives in f64 and f32, and second ones in f64."""
    case(name, source, f, *inputs, known=known, tol=tol, dtypes=BOTH, **kw)
    case(name, source, f, *inputs, order=2, known=second, tol="relative 1e-11", **kw)


def complex_case(name, source, f, *inputs, tol="contraction"):
    """The gradient of the real part of sum(f(inputs) * c), with JAX's convention, for complex inputs."""
    xs = [np.asarray(x) for x in inputs]
    y = f(*map(jnp.asarray, xs))
    weights = [1 - 0.5j, 0.5 + 1j, -2.0, 1.5j, 0.75 - 1j]
    c = np.asarray(np.resize(weights if jnp.iscomplexobj(y) else np.real(weights), y.shape))
    which = [i for i, x in enumerate(xs) if np.iscomplexobj(x)]
    g = jax.grad(lambda *a: jnp.sum(jnp.real(f(*a) * c)), argnums=tuple(which))(*map(jnp.asarray, xs))
    emit(name, source, 1, which, xs + [c], [np.asarray(e) for e in g], tol)


def half_case(name, source, f, *inputs):
    """A gradient in f16 and bf16, close to that in f64 of the same inputs."""
    for dtype, part in [(np.dtype(np.float16), 4e-3), (BF16, 3e-2)]:
        case(name, source, f, *inputs, dtypes=(dtype,), tol=f"relative {part}")


X = np.array([-INF, -100.0, -6.5, -3.0, -1.0, -0.3, -1e-9, 0.0, 1e-9, 0.3, 1.0, 3.0, 6.5, 100.0, INF])
FINITE = X[1:-1]
MILD = np.array([-4.5, -3.0, -1.5, -0.75, -0.125, 0.0, 0.125, 0.5, 1.0, 2.25, 3.0, 4.0, 6.0])


def elementwise():
    for name, f in {
        "relu": nn.relu, "relu6": nn.relu6, "leaky_relu": lambda x: nn.leaky_relu(x, 0.01), "hard_tanh": nn.hard_tanh,
        "hard_sigmoid": nn.hard_sigmoid, "hard_swish": nn.hard_swish, "elu": lambda x: nn.elu(x, 1.5), "selu": nn.selu,
        "celu": lambda x: nn.celu(x, 1.5), "quick_gelu": lambda x: x * nn.sigmoid(1.702 * x), "silu": nn.silu,
        "mish": nn.mish, "softplus": nn.softplus, "sigmoid": nn.sigmoid, "log_sigmoid": nn.log_sigmoid,
        "softsign": nn.soft_sign, "gelu_tanh": lambda x: nn.gelu(x, approximate=True),
        "gelu": lambda x: nn.gelu(x, approximate=False), "square": jnp.square,
    }.items():
        points = np.append(FINITE, [-3.0, -1.0, 6.0])
        # The second derivative of a kink is anyone's.
        both(name, f"jax: {name}", f, points[points != 0] if name == "softsign" else points)
    both("abs", "jax: sign(x) x", lambda x: jnp.sign(x) * x, FINITE)
    for name, f in {"relu": nn.relu, "leaky_relu": lambda x: nn.leaky_relu(x, 0.01), "softplus": nn.softplus,
                    "sigmoid": nn.sigmoid, "log_sigmoid": nn.log_sigmoid, "elu": lambda x: nn.elu(x, 1.5), "selu": nn.selu,
                    "hard_tanh": nn.hard_tanh, "nan_to_num": jnp.nan_to_num, "clip": lambda x: jnp.clip(x, -1, 2)}.items():
        case(name, f"jax: {name} at infinities", f, np.array([-INF, INF]))
    case("nan_to_num", "jax: nan_to_num", jnp.nan_to_num, np.array([NAN, 1.0]))
    both("reciprocal", "jax: 1/x", lambda x: 1 / x, np.array([-2.0, 0.5, 3.0]))
    both("clip", "jax: lax.clamp(-1, x, 2)", lambda x: lax.clamp(-1.0, x, 2.0), MILD)
    both("sinc", "jax.numpy.sinc", jnp.sinc, np.array([-2.5, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 1.5, 2.25]))
    both("ndtr", "jax: ndtr", jsp.ndtr, MILD)
    both("ndtri", "jax: ndtri", jsp.ndtri, np.array([1e-5, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99]))
    both("log_ndtr", "jax: log_ndtr", jsp.log_ndtr, np.array([-8.0, -5.0, -2.0, -0.5, 0.0, 0.5, 3.0, 7.0]), tol="relative 1e-6")
    z = np.array([12.0, 30.0])
    mills = z.copy()
    for k in range(300, 0, -1):
        mills = z + k / (mills if k < 300 else z)
    c = np.array([1.0, 0.5])
    both("log_ndtr", "the continued fraction of the normal density over the tail", jsp.log_ndtr, -z, known=[c * mills], second=[-c * mills * (mills - z)], tol="relative 1e-6")
    both("logit", "jax: logit", jsp.logit, np.array([0.125, 0.25, 0.5, 0.75]))
    both("entr", "jax: entr", jsp.entr, np.array([0.125, 0.5, 1.0, 2.0]))
    for name, f in {"i0": jsp.i0, "i1": jsp.i1, "i0e": jsp.i0e, "i1e": jsp.i1e}.items():
        both(name, f"jax: {name}", f, np.array([-9.0, -3.0, -0.5, 0.25, 1.0, 4.0, 8.0, 20.0]), tol="relative 1e-6")
    zero = np.zeros(1)
    both("i0", "DLMF 10.25.2 at 0", jsp.i0, zero, known=[zero], second=[zero + 0.5], tol="relative 1e-6")
    both("i1", "DLMF 10.25.2 at 0", jsp.i1, zero, known=[zero + 0.5], second=[zero], tol="relative 1e-6")
    case("i0e", "jax: i0e at 0", jsp.i0e, zero)
    case("i1e", "jax: i1e at 0", jsp.i1e, zero)
    for n in [0, 1, 2]:
        both(f"polygamma_{n}", f"jax: polygamma({n})", lambda x: jsp.polygamma(n, x), np.array([0.25, 1.0, 3.5, 20.0]))
    both("multigammaln", "jax: multigammaln", lambda x: jsp.multigammaln(x, 3), np.array([1.5, 3.0, 20.0]))
    both("igamma", "jax: gammainc", jsp.gammainc, np.array([0.5, 1.0, 2.0, 10.0]), np.array([0.25, 1.0, 3.0, 9.0]), wrt=[1])
    both("igammac", "jax: gammaincc", jsp.gammaincc, np.array([0.5, 1.0, 2.0, 10.0]), np.array([0.25, 1.0, 3.0, 9.0]), wrt=[1])
    case("igamma", "jax: gammainc", jsp.gammainc, np.array([0.5, 1.0, 2.0, 10.0]), np.array([0.25, 1.0, 3.0, 9.0]), wrt=[0])
    both("betainc", "jax: betainc", jsp.betainc, np.array([0.5, 1.0, 2.0, 5.0]), np.array([0.5, 3.0, 2.0, 1.5]), np.array([0.25, 0.5, 0.75, 0.9]), wrt=[2])
    a, b = np.array([0.5, 1.0, 12.0]), np.array([3.0, 2.0, 20.0])
    slopes = [np.array([1.0, 0.5, -2.0]) * (sp.digamma(v) - sp.digamma(a + b)) for v in (a, b)]
    case("betaln", "digamma(a) - digamma(a + b), scipy", jsp.betaln, a, b, known=slopes, dtypes=BOTH)
    both("zeta", "jax: zeta", jsp.zeta, np.array([1.5, 2.0, 6.0]), np.array([0.5, 3.0, 1.0]), wrt=[1])


def pairs():
    a = np.array([-2.0, 0.0, 0.0, 0.5, 3.0, 3.0, 40.0])
    b = np.array([1.0, 0.0, 2.0, 0.5, 3.0, -1.0, -50.0])
    both("logaddexp", "jax: logaddexp", jnp.logaddexp, a, b)
    x, y = np.array([3.0, 0.0, 2.0, -1e3, 5.0]), np.array([4.0, 2.0, 0.0, 1.0, -5.0])
    r = np.hypot(x, y)
    c = np.array([1.0, 0.5, -2.0, 1.5, 0.75]) / r
    both("hypot", "x/r and y/r, and their derivatives", jnp.hypot, x, y, known=[c * x, c * y], second=[c * (y * y - x * y) / r**2, c * (x * x - x * y) / r**2])
    case("hypot", "0 at 0, where there is a kink in every direction", jnp.hypot, np.zeros(1), np.zeros(1), known=[np.zeros(1)] * 2)
    case("logaddexp", "the sum: of infinities of one sign", jnp.logaddexp, np.array([-INF, INF]), np.array([-INF, INF]), known=[np.array([1.0, 0.5])] * 2)
    case("xlogy", "0 where it is 0 for all y", jsp.xlogy, np.array([0.0, 0.0]), np.array([0.0, INF]), known=[np.zeros(2)] * 2)
    case("xlog1py", "0 where it is 0 for all y", jsp.xlog1py, np.array([0.0, 0.0]), np.array([-1.0, INF]), known=[np.zeros(2)] * 2)
    case("logaddexp", "jax: logaddexp of infinities", jnp.logaddexp, np.array([-INF, 1.0, -INF]), np.array([0.0, -INF, -3.0]))
    both("xlogy", "jax: xlogy", jsp.xlogy, np.array([0.0, 0.5, 2.0]), np.array([2.0, 0.25, 3.0]))
    both("xlog1py", "jax: xlog1py", jsp.xlog1py, np.array([0.0, 0.5, 2.0]), np.array([2.0, -0.25, 3.0]))
    both("rel_entr", "jax: rel_entr", jsp.rel_entr, np.array([0.5, 2.0]), np.array([0.25, 3.0]))
    both("kl_div", "jax: kl_div", jsp.kl_div, np.array([0.5, 2.0]), np.array([0.25, 3.0]))
    both("lerp", "jax: a + (b - a)/4", lambda a, b: a + (b - a) * 0.25, a, b)
    both("maximum", "jax: maximum", jnp.maximum, a, b)
    both("minimum", "jax: minimum", jnp.minimum, a, b)
    both("modulo", "jax: remainder", jnp.remainder, np.array([5.5, -5.5, 5.5, -5.5, 0.25]), np.array([2.0, 2.0, -2.0, -2.0, 3.0]))
    both("floor_div", "jax: floor_divide", jnp.floor_divide, np.array([5.5, -5.5, 5.5]), np.array([2.0, 2.0, -2.0]))
    both("atan2", "jax: arctan2", jnp.arctan2, np.array([1.0, 0.0, -2.0, 0.0]), np.array([0.0, 1.0, -3.0, -1.0]))
    both("power", "jax: power", jnp.power, np.array([2.0, 0.5, 3.0, 2.0]), np.array([3.0, 0.0, -1.5, 1.0]))
    base = np.array([-2.0, -1.0, 0.0, 0.5, 3.0])
    for n in [0, 1, 2, 3, -1]:
        x = base if n >= 0 else base[base != 0]
        both("power", f"jax: x**{n}, in x", lambda x, y: x ** n, x, np.full_like(x, float(n)), wrt=[0])
    case("power", "jax: power, in the exponent", jnp.power, np.array([0.0, 0.0, 2.0]), np.array([1.0, 2.0, 0.0]), wrt=[1])


def guarded():
    """Functions that a user guards by where: no NaN comes from the branch that is not taken."""
    x = np.array([-2.0, -0.0, 0.0, 1e-3, 4.0])
    both("safe_sqrt", "jax: where(x > 0, sqrt(where(x > 0, x, 1)), 0)", lambda x: jnp.where(x > 0, jnp.sqrt(jnp.where(x > 0, x, 1.0)), 0.0), x)
    both("safe_log", "jax: where(x > 0, log(where(x > 0, x, 1)), 0)", lambda x: jnp.where(x > 0, jnp.log(jnp.where(x > 0, x, 1.0)), 0.0), x)
    both("safe_divide", "jax: where(x == 0, 0, 1/where(x == 0, 1, x))", lambda x: jnp.where(x == 0, 0.0, 1 / jnp.where(x == 0, 1.0, x)), x)


def reductions():
    x = rng.normal(size=(3, 4))
    ties = np.array([[1.0, 3.0, 3.0, 2.0], [2.0, 2.0, 2.0, 2.0], [-1.0, 0.0, -0.0, -5.0]])
    zeros = np.array([[2.0, 0.0, 3.0, -1.0], [0.0, 0.0, 3.0, -1.0], [2.0, 5.0, 3.0, -1.0]])
    for name, f in {"sum_1": lambda x: jnp.sum(x, 1), "mean_1": lambda x: jnp.mean(x, 1), "var_1": lambda x: jnp.var(x, 1),
                    "std_1": lambda x: jnp.std(x, 1), "logsumexp_1": lambda x: jsp.logsumexp(x, 1),
                    "norm_1": lambda x: jnp.linalg.norm(x, axis=1), "norm_3": lambda x: jnp.linalg.norm(x, ord=3, axis=1),
                    "norm_one": lambda x: jnp.linalg.norm(x, ord=1, axis=1), "norm_inf": lambda x: jnp.linalg.norm(x, ord=jnp.inf, axis=1),
                    "softmax": lambda x: nn.softmax(x, -1), "log_softmax": lambda x: nn.log_softmax(x, -1),
                    "median_1": lambda x: jnp.median(x, 1), "quantile_1": lambda x: jnp.quantile(x, 0.3, 1),
                    "cumlogsumexp": lambda x: lax.cumlogsumexp(x, 1)}.items():
        both(name, f"jax: {name}", f, x)
    for name, f in {"max_1": lambda x: jnp.max(x, 1), "min_1": lambda x: jnp.min(x, 1), "cummax": lambda x: lax.cummax(x, 1),
                    "cummin": lambda x: lax.cummin(x, 1), "norm_one": lambda x: jnp.sum(jnp.sign(x) * x, 1),
                    "norm_inf": lambda x: jnp.linalg.norm(x, ord=jnp.inf, axis=1),
                    "median_1": lambda x: jnp.median(x, 1), "quantile_1": lambda x: jnp.quantile(x, 0.3, 1), "sort": lambda x: jnp.sort(x, 1),
                    "top_k": lambda x: lax.top_k(x, 3)[0], "var_1": lambda x: jnp.var(x, 1)}.items():
        both(name, f"jax: {name} with ties", f, ties)
    for name, f in {"prod_1": lambda x: jnp.prod(x, 1), "prod_all": jnp.prod, "cumprod": lambda x: jnp.cumprod(x, 1),
                    "cumsum": lambda x: jnp.cumsum(x, 1), "diff": lambda x: jnp.diff(x, axis=1)}.items():
        both(name, f"jax: {name} with zeros", f, zeros)
    masked = np.array([[-INF, 0.5, 1.0, -INF], [1000.0, 1001.0, -INF, 0.0], [-2.0, -INF, -INF, -INF]])
    for name, f in {"softmax": lambda x: nn.softmax(x, -1), "logsumexp_1": lambda x: jsp.logsumexp(x, 1),
                    "max_1": lambda x: jnp.max(x, 1), "sort": lambda x: jnp.sort(x, 1), "cummax": lambda x: lax.cummax(x, 1)}.items():
        both(name, f"jax: {name} of -inf", f, masked)
    case("cumlogsumexp", "jax: cumlogsumexp of -inf", lambda x: lax.cumlogsumexp(x, 1), masked[:2])
    twice = np.array([[-INF, -INF, 0.0]])
    case("cumlogsumexp", "the first two by themselves, 0.5 (0 + 1) and 1 + 0.5; the last wins", lambda x: lax.cumlogsumexp(x, 1), twice, known=[np.array([[1.5, 0.5, -2.0]])])
    case("log_softmax", "jax: log_softmax of -inf, whose cotangents there are finite", lambda x: nn.log_softmax(x, -1), masked)
    case("softmax", "jax: a row of -inf is NaN", lambda x: nn.softmax(x, -1), np.array([[-INF, -INF, -INF], [0.0, 1.0, -INF]]))
    case("std_1", "jax: std of equal elements", lambda x: jnp.std(x, 1), ties)
    case("norm_1", "jax: norm at 0", lambda x: jnp.sqrt(jnp.sum(x * x, 1)), np.array([[0.0, 0.0], [3.0, 4.0]]))
    case("norm_3", "jax: 3-norm with a 0", lambda x: jnp.linalg.norm(x, ord=3, axis=1), np.array([[0.0, 2.0], [3.0, 4.0]]))


def losses():
    x = rng.normal(size=(3, 4))

    def standard(x):
        return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)

    flat = np.vstack([x, np.full((1, 4), 2.5), np.zeros((1, 4))])
    both("layer_norm", "jax: (x - mean)/sqrt(var + eps)", standard, x)
    case("layer_norm", "jax: (x - mean)/sqrt(var + eps), of equal elements", standard, flat)
    rms = lambda x: x / jnp.sqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)
    both("rms_norm", "jax: x/sqrt(mean(x^2) + eps)", rms, x)
    case("rms_norm", "jax: x/sqrt(mean(x^2) + eps), of zeros", rms, flat)
    unit = lambda x: x / jnp.maximum(jnp.sqrt(jnp.sum(x * x, -1, keepdims=True)), 1e-12)
    both("normalize", "jax: x/max(norm, eps)", unit, x)
    case("normalize", "of zeros x/eps", lambda x: x / 1e-12, np.zeros((1, 2)))
    g = rng.normal(size=(2, 4, 3))
    r = lambda v: v.reshape(1, 4, 1)

    def group(g):
        s = g.reshape(2, 2, 6)
        return ((s - s.mean(-1, keepdims=True)) / jnp.sqrt(s.var(-1, keepdims=True) + 1e-5)).reshape(2, 4, 3)

    both("group_norm", "jax: the formula", group, g)

    def train(x, w, b):
        return (x - r(x.mean((0, 2)))) / jnp.sqrt(r(x.var((0, 2))) + 1e-5) * r(w) + r(b)

    both("batch_norm_training", "jax: the formula", train, g, rng.normal(size=4), rng.normal(size=4))
    labels = np.array([3, 0, 2], np.int32)

    def ce(x, y, smoothing=0.0, ignore=None, reduction="mean"):
        logp = nn.log_softmax(x)
        safe = jnp.where(y < 0, 0, y)
        each = -(1 - smoothing) * jnp.take_along_axis(logp, safe[:, None], 1)[:, 0] - smoothing * logp.mean(-1)
        counted = jnp.ones(y.shape, bool) if ignore is None else y != ignore
        each = jnp.where(counted, each, 0.0)
        return {"mean": each.sum() / counted.sum(), "sum": each.sum(), "none": each}[reduction]

    both("cross_entropy", "jax: the formula", ce, x, labels)
    ignoring = np.array([3, -100, 2], np.int32)
    both("cross_entropy_smooth", "jax: the formula", lambda x, y: ce(x, y, 0.1, -100), x, ignoring)
    both("cross_entropy_sum", "jax: the formula", lambda x, y: ce(x, y, 0.0, -100, "sum"), x, ignoring)
    both("cross_entropy_each", "jax: the formula", lambda x, y: ce(x, y, 0.0, -100, "none"), x, ignoring)
    hidden = x.copy()
    hidden[0, 1] = hidden[2, 0] = -INF
    both("cross_entropy", "jax: the formula, with logits of -inf", ce, hidden, labels)
    q = np.asarray(nn.softmax(rng.normal(size=(3, 4))))
    both("cross_entropy_soft", "jax: the formula", lambda x, q: -jnp.sum((0.9 * q + 0.1 / 4) * nn.log_softmax(x), -1).mean(), x, q)
    p, t = np.array([0.25, 0.9, 0.5]), np.array([1.0, 0.5, 0.0])
    bce = lambda p, t: jnp.mean(-t * jnp.maximum(jnp.log(p), -100) - (1 - t) * jnp.maximum(jnp.log1p(-p), -100))
    both("bce", "jax: the formula", bce, p, t)
    case("bce", "the formula: 0 where the logarithm is cut", bce, np.array([0.0, 1.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0, 0.0]), wrt=[0],
         known=[np.array([0.25, -0.25, 0.0, 0.0])])
    both("bce_logits", "jax: the formula", lambda x, t: jnp.mean(jnp.logaddexp(x, 0) - x * t), np.array([-50.0, -1.0, 0.0, 2.0, 90.0]), np.array([0.0, 1.0, 0.5, 1.0, 0.0]))
    both("mse", "jax: the formula", lambda a, b: jnp.mean((a - b) ** 2), x, x[::-1].copy())


def attention():
    q, k, v = [rng.normal(size=(2, n, 3, 4)) for n in (4, 2, 2)]

    def attend(q, k, v, mask=None, bias=None, causal=False, scale=0.5):
        k, v = jnp.repeat(k, 2, axis=-3), jnp.repeat(v, 2, axis=-3)
        s = q @ jnp.swapaxes(k, -1, -2) * scale
        low = np.finfo(np.float32).min * 0.7
        s = s if bias is None else s + bias
        s = s if mask is None else jnp.where(mask, s, low)
        s = jnp.where(np.tril(np.ones((3, 3), bool)), s, low) if causal else s
        return nn.softmax(s, -1) @ v

    both("attention", "jax: the formula", attend, q, k, v)
    both("attention_causal", "jax: the formula", lambda q, k, v: attend(q, k, v, causal=True), q, k, v)
    mask = rng.random((3, 3)) > 0.5
    mask[1] = False
    both("attention_mask", "jax: the formula, a row of hidden keys", lambda q, k, v, m: attend(q, k, v, mask=m, scale=0.3), q, k, v, mask)
    bias = rng.normal(size=(4, 1, 3))
    bias[0, 0, 1] = -INF
    both("attention_bias", "jax: the formula, with -inf", lambda q, k, v, b: attend(q, k, v, bias=b), q, k, v, bias, wrt=[0, 1, 2])


def places():
    x = rng.normal(size=(2, 3, 4))
    index = np.array([[[0], [2], [2]], [[3], [3], [0]]], np.int32)
    both("take", "jax: take(mode='clip')", lambda x, i: jnp.take(x, i, 1, mode="clip"), x, np.array([[2, 0], [2, 2]], np.int32))
    both("take_along_axis", "jax: take_along_axis", lambda x, i: jnp.take_along_axis(x, i, 2), x, index)
    both("put_along_axis", "jax: put_along_axis", lambda x, i: jnp.put_along_axis(x, i, -1.0, 2, inplace=False), x, index)
    both("tril", "jax: tril", jnp.tril, x)
    both("triu", "jax: triu", lambda x: jnp.triu(x, 1), x)
    both("diagonal", "jax: diagonal", lambda x: jnp.diagonal(x, axis1=-2, axis2=-1), x)
    both("diag", "jax: diag", jnp.diag, x[0, 0])
    both("roll", "jax: roll", lambda x: jnp.roll(x, 1, 2), x)
    both("flip", "jax: flip", lambda x: jnp.flip(x, (0, 2)), x)
    both("repeat", "jax: repeat", lambda x: jnp.repeat(x, 2, 1), x)
    both("tile", "jax: tile", lambda x: jnp.tile(x, (2, 1, 2)), x)
    both("stack_square", "jax: stack", lambda x: jnp.stack([x, x * x], 1), x)
    ids = np.array([2, 0, 2, 3, -1, 0], np.int32)
    data = rng.normal(size=(6, 2))
    both("segment_sum", "jax: segment_sum", lambda d, i: jax.ops.segment_sum(d, jnp.where(i < 0, 9, i), 3), data, ids)
    tied = np.array([[1.0, 2.0], [3.0, 1.0], [1.0, 5.0], [9.0, 9.0], [8.0, 8.0], [3.0, 0.0]])
    both("segment_max", "jax: segment_max", lambda d, i: jax.ops.segment_max(d, jnp.where(i < 0, 9, i), 3), tied, np.array([2, 0, 2, 1, 1, 0], np.int32))
    both("segment_min", "jax: segment_min", lambda d, i: jax.ops.segment_min(d, jnp.where(i < 0, 9, i), 3), tied, np.array([2, 0, 2, 1, 1, 0], np.int32))
    zero = tied.copy()
    zero[1, 0] = zero[0, 1] = zero[2, 1] = 0

    def products(d, i):
        return jnp.stack([jnp.prod(jnp.where((i == s)[:, None], d, 1.0), 0) for s in range(3)])

    both("segment_prod", "jax: products of each segment", products, zero, np.array([2, 0, 2, 1, 1, 0], np.int32))
    both("sort_by_key", "jax: take_along_axis(x, argsort(k))", lambda x, k: jnp.take_along_axis(x, jnp.argsort(k, 1), 1), x[0], np.array([[5, 3, 5, 1], [0, 0, 9, 9], [1, 2, 3, 0]], np.int32))


def contractions():
    a, b = rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 4, 5))
    both("einsum_matmul", "jax: einsum", lambda a, b: jnp.einsum("bij,bjk->bik", a, b), a, b)
    both("einsum_trace", "jax: einsum", lambda a: jnp.einsum("ii", a), a[0][:, :3])
    both("einsum_diag", "jax: einsum", lambda a: jnp.einsum("ii->i", a), a[0][:, :3])
    both("matmul", "jax: matmul", jnp.matmul, rng.normal(size=(5, 1, 2, 3)), rng.normal(size=(2, 3, 4)))
    both("tensordot", "jax: tensordot", lambda a, b: jnp.tensordot(a, b, axes=([1, 2], [1, 0])), a, rng.normal(size=(4, 3, 2)))
    both("outer", "jax: outer", jnp.outer, a[0, 0], b[0, 0])
    both("kron", "jax: kron", jnp.kron, a[0], b[0])
    both("linear", "jax: x w^T + b", lambda x, w, b: x @ w.T + b, a, rng.normal(size=(5, 4)), rng.normal(size=5))


def windows():
    x, w = rng.normal(size=(2, 3, 5, 4)), rng.normal(size=(4, 3, 3, 2))

    def conv(x, w, strides, padding, dilation=None, groups=1):
        return lax.conv_general_dilated(x, w, strides, padding, rhs_dilation=dilation, feature_group_count=groups,
                                        dimension_numbers=("NCHW", "OIHW", "NCHW"))

    both("conv", "jax: conv_general_dilated", lambda x, w: conv(x, w, (2, 1), [(1, 2), (0, 1)], (1, 2)), x, w)
    both("conv_groups", "jax: conv_general_dilated", lambda x, w: conv(x, w, (1, 1), "VALID", groups=2), rng.normal(size=(1, 4, 4, 4)), rng.normal(size=(2, 2, 2, 2)))

    def transposed(x, w):
        """The transpose of a convolution of strides 2 and padding 1 with this kernel, by vjp."""
        like = jnp.zeros((x.shape[0], w.shape[1], (x.shape[2] - 1) * 2 - 2 + w.shape[2], (x.shape[3] - 1) * 2 - 2 + w.shape[3]))
        return jax.vjp(lambda y: conv(y, w, (2, 2), [(1, 1), (1, 1)]), like)[1](x)[0]

    both("conv_transpose", "jax: the vjp of conv_general_dilated", transposed, rng.normal(size=(1, 4, 3, 3)), w)
    ties = np.round(rng.normal(size=(1, 1, 4, 5)))
    pool = lambda x, n, s, p: lax.reduce_window(x, -jnp.inf, lax.max, (1, 1) + n, (1, 1) + s, [(0, 0), (0, 0)] + p)
    both("max_pool", "jax: reduce_window max, with ties", lambda x: pool(x, (2, 3), (2, 1), [(0, 0)] * 2), ties)
    both("max_pool_padded", "jax: reduce_window max, with ties", lambda x: pool(x, (2, 2), (2, 2), [(1, 1)] * 2), ties)
    both("avg_pool", "jax: reduce_window sum / n", lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 1, 2, 2), (1, 1, 2, 1), "VALID") / 4, x)
    both("adaptive_max_pool", "jax: reduce_window max", lambda x: pool(x, (2, 2), (2, 2), [(0, 0)] * 2), np.round(rng.normal(size=(1, 1, 4, 4))))
    both("resize_bilinear", "jax.image.resize(linear), no antialias", lambda x: jax.image.resize(x, (2, 3, 7, 9), "linear", antialias=False), x)
    rows, columns = np.floor(np.arange(7) * 5 / 7).astype(int), np.floor(np.arange(9) * 4 / 9).astype(int)
    both("resize_nearest", "jax: x[floor(i old/new)]", lambda x: x[:, :, rows][..., columns], x)


def linear_algebra():
    a, b = rng.normal(size=(3, 3)) + 2 * np.eye(3), rng.normal(size=(3, 2))
    tol = "relative 1e-9"
    one = dict(tol=tol)
    case("solve", "jax: solve", jnp.linalg.solve, a, b, **one)
    case("inv", "jax: inv", jnp.linalg.inv, a, **one)
    case("det", "jax: det", jnp.linalg.det, a, **one)
    case("det", "jax: det", jnp.linalg.det, a, order=2, **one)
    s = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])
    case("det", "the cofactors of a singular matrix", jnp.linalg.det, s, known=[np.array([[4.0, 4.0, -4.0], [-2.0, -2.0, 2.0], [0.0, 0.0, 0.0]])], tol="linalg")
    case("slogdet", "jax: slogdet", lambda a: jnp.linalg.slogdet(a)[1], a, **one)
    case("pinv", "jax: pinv", jnp.linalg.pinv, rng.normal(size=(4, 3)), **one)
    case("lstsq_x", "jax: lstsq", lambda a, b: jnp.linalg.lstsq(a, b)[0], rng.normal(size=(5, 3)), rng.normal(size=(5, 2)), **one)
    for n in [-3, -1, 0, 1, 2, 5]:
        case(f"matrix_power_{n}".replace("-", "minus_"), f"jax: matrix_power({n})", lambda a: jnp.linalg.matrix_power(a, n), a, **one)
    case("matrix_exp", "jax: expm", jax.scipy.linalg.expm, a, **one)
    case("matrix_exp", "jax: expm", jax.scipy.linalg.expm, 8 * a, **one)
    for name, kind in [("fro", "fro"), ("nuc", "nuc"), ("one", 1), ("minus_one", -1), ("two", 2), ("minus_two", -2), ("inf", jnp.inf), ("minus_inf", -jnp.inf)]:
        case(f"matrix_norm_{name}", f"jax: matrix norm {kind}", lambda a: jnp.linalg.norm(a, ord=kind), a, **one)
    case("trace_", "jax: trace", jnp.trace, a, **one)
    spd = a @ a.T
    case("cholesky", "jax: cholesky", jnp.linalg.cholesky, spd, **one)
    case("eigenvalues", "jax: eigh", lambda a: jnp.linalg.eigh(a)[0], spd, **one)


def complex_numbers():
    def z(*shape):
        return rng.normal(size=shape) + 1j * rng.normal(size=shape)

    x = z(3, 4)
    for name, f in {"square": jnp.square, "reciprocal": lambda x: 1 / x, "sum_1": lambda x: jnp.sum(x, 1), "mean_1": lambda x: jnp.mean(x, 1),
                    "var_1": lambda x: jnp.var(x, 1), "std_1": lambda x: jnp.std(x, 1), "prod_1": lambda x: jnp.prod(x, 1), "prod_all": jnp.prod,
                    "cumsum": lambda x: jnp.cumsum(x, 1), "cumprod": lambda x: jnp.cumprod(x, 1), "diff": lambda x: jnp.diff(x, axis=1),
                    "norm_1": lambda x: jnp.linalg.norm(x, axis=1), "norm_one": lambda x: jnp.sum(jnp.abs(x), 1), "norm_3": lambda x: jnp.sum(jnp.abs(x) ** 3, 1) ** (1 / 3),
                    "abs": jnp.abs}.items():
        complex_case(name, f"jax: {name}", f, x)
    some = x.copy()
    some[0, 1] = some[1, 0] = some[1, 2] = 0
    complex_case("prod_1", "jax: prod with zeros", lambda x: jnp.prod(x, 1), some)
    complex_case("cumprod", "jax: cumprod with zeros", lambda x: jnp.cumprod(x, 1), some)
    complex_case("norm_one", "jax: sum(abs) with zeros", lambda x: jnp.sum(jnp.abs(x), 1), some)
    complex_case("matmul", "jax: matmul", jnp.matmul, z(2, 3, 4), z(4, 2))
    complex_case("einsum_matmul", "jax: einsum", lambda a, b: jnp.einsum("bij,bjk->bik", a, b), z(2, 3, 4), z(2, 4, 2))
    complex_case("linear", "jax: x w^T + b", lambda x, w, b: x @ w.T + b, z(2, 3), z(4, 3), z(4))
    conv = lambda x, w: lax.conv_general_dilated(x, w, (2, 1), [(1, 2), (0, 1)], rhs_dilation=(1, 2), dimension_numbers=("NCHW", "OIHW", "NCHW"))
    complex_case("conv", "jax: conv_general_dilated", conv, z(1, 2, 4, 4), z(2, 2, 3, 2))
    complex_case("take", "jax: take", lambda x, i: jnp.take(x, i, 1), x, np.array([2, 0, 2], np.int32))
    complex_case("diag", "jax: diag", jnp.diag, x[0])
    complex_case("segment_sum", "jax: segment_sum", lambda d, i: jax.ops.segment_sum(d, i, 3), x, np.array([2, 0, 2], np.int32))
    tol = "relative 1e-9"
    a = z(3, 3) + 2 * np.eye(3)
    for name, f in {"inv": jnp.linalg.inv, "det": jnp.linalg.det, "slogdet": lambda a: jnp.linalg.slogdet(a)[1], "matrix_exp": jax.scipy.linalg.expm,
                    "matrix_power_5": lambda a: jnp.linalg.matrix_power(a, 5), "matrix_norm_two": lambda a: jnp.linalg.norm(a, ord=2),
                    "matrix_norm_nuc": lambda a: jnp.linalg.norm(a, ord="nuc"), "matrix_norm_fro": jnp.linalg.norm, "trace_": jnp.trace,
                    "matrix_norm_one": lambda a: jnp.linalg.norm(a, ord=1)}.items():
        complex_case(name, f"jax: {name}", f, a, tol=tol)
    complex_case("solve", "jax: solve", jnp.linalg.solve, a, z(3, 2), tol=tol)
    complex_case("pinv", "jax: pinv", jnp.linalg.pinv, z(4, 3), tol=tol)
    complex_case("cholesky", "jax: cholesky", jnp.linalg.cholesky, a @ a.conj().T, tol=tol)
    complex_case("eigenvalues", "jax: eigh", lambda a: jnp.linalg.eigh(a)[0], a @ a.conj().T, tol=tol)


def halves():
    x = rng.normal(size=(3, 4))
    masked = np.array([[-INF, 0.5, 1.0, -INF], [10.0, 11.0, -INF, 0.0], [-2.0, -INF, -INF, -INF]])
    for name, f in {"softplus": nn.softplus, "gelu": lambda x: nn.gelu(x, approximate=False), "gelu_tanh": lambda x: nn.gelu(x, approximate=True), "silu": nn.silu, "mish": nn.mish, "log_sigmoid": nn.log_sigmoid,
                    "elu": lambda x: nn.elu(x, 1.5), "sinc": jnp.sinc}.items():
        half_case(name, f"jax: {name}", f, np.array([-30.0, -3.0, -0.5, 0.0, 0.03125, 0.25, 2.0, 30.0]))
    for name, f in {"softmax": lambda x: nn.softmax(x, -1), "log_softmax": lambda x: nn.log_softmax(x, -1), "logsumexp_1": lambda x: jsp.logsumexp(x, 1),
                    "var_1": lambda x: jnp.var(x, 1), "std_1": lambda x: jnp.std(x, 1), "norm_1": lambda x: jnp.linalg.norm(x, axis=1),
                    "layer_norm": lambda x: (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5),
                    "rms_norm": lambda x: x / jnp.sqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6), "cumprod": lambda x: jnp.cumprod(x, 1),
                    "cumlogsumexp": lambda x: lax.cumlogsumexp(x, 1), "median_1": lambda x: jnp.median(x, 1), "prod_1": lambda x: jnp.prod(x, 1)}.items():
        half_case(name, f"jax: {name}", f, x)
    half_case("softmax", "jax: softmax of -inf", lambda x: nn.softmax(x, -1), masked)
    half_case("logsumexp_1", "jax: logsumexp of -inf", lambda x: jsp.logsumexp(x, 1), masked)
    half_case("hypot", "jax: hypot", jnp.hypot, np.array([3.0, 0.0, 200.0]), np.array([4.0, 2.0, 300.0]))
    half_case("logaddexp", "jax: logaddexp", jnp.logaddexp, np.array([3.0, 0.0, 200.0]), np.array([4.0, 0.0, 300.0]))
    half_case("matmul", "jax: matmul", jnp.matmul, rng.normal(size=(2, 3)), rng.normal(size=(3, 2)))


for section in [elementwise, pairs, guarded, reductions, losses, attention, places, contractions, windows, linear_algebra, complex_numbers, halves]:
    section()
with open(OUT, "w", newline="\n") as f:
    f.write("[\n" + ",\n".join(json.dumps(c) for c in CASES) + "\n]\n")
print(len(CASES), "cases")
