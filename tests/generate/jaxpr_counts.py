"""How many equations JAX needs for the gradients of a few functions, as tests/data/jaxpr_counts.json.

Counted are the equations of the jaxpr of `jax.value_and_grad(f)` with respect to the parameters, inner jaxprs
included (calls inlined), after JAX's own dead-code elimination; tests/tests/gradient_size.rs traces the same functions.

    python3 tests/generate/jaxpr_counts.py > tests/data/jaxpr_counts.json
"""

import json

import jax
import jax.numpy as jnp
from jax import lax
from jax._src.interpreters import partial_eval as pe


def mlp(p, x, y):
    for w, b in p[:-1]:
        x = jnp.tanh(jnp.dot(x, w) + b)
    w, b = p[-1]
    d = jnp.dot(x, w) + b - y
    return jnp.mean(d * d)


def attention(p, x):
    q, k, v = (jnp.dot(x, w) for w in p)
    s = jnp.einsum("qd,kd->qk", q, k) * 0.5
    s = s - lax.stop_gradient(jnp.max(s, axis=1, keepdims=True))
    e = jnp.exp(s)
    a = e / jnp.sum(e, axis=1, keepdims=True)
    return jnp.sum(jnp.dot(a, v))


def layernorm(p, x):
    g, b = p
    m = jnp.mean(x, axis=1, keepdims=True)
    c = x - m
    v = jnp.mean(c * c, axis=1, keepdims=True)
    return jnp.sum(c * lax.rsqrt(v + 1e-5) * g + b)


def layernorm_x(x, p):
    return layernorm(p, x)


def conv_net(p, x):
    w1, w2, d = p
    x = lax.conv_general_dilated(x, w1, (1, 1), "VALID")
    x = jnp.maximum(x, 0.0)
    x = lax.conv_general_dilated(x, w2, (2, 2), [(1, 1), (1, 1)])
    x = jnp.tanh(x)
    return jnp.sum(jnp.dot(x.reshape(2, -1), d))


def scan_rnn(p, xs):
    w, u, b = p

    def step(h, x):
        h = jnp.tanh(jnp.dot(h, w) + jnp.dot(x, u) + b)
        return h, h

    h, hs = lax.scan(step, jnp.zeros((3, 4)), xs)
    return jnp.sum(hs * hs)


F = jnp.float32
SHAPES = {
    "mlp": (mlp, [[((4, 8), (8,)), ((8, 8), (8,)), ((8, 2), (2,))], (5, 4), (5, 2)]),
    "attention": (attention, [[(8, 4), (8, 4), (8, 4)], (6, 8)]),
    "layernorm": (layernorm, [[(8,), (8,)], (4, 8)]),
    "layernorm_x": (layernorm_x, [(4, 8), [(8,), (8,)]]),
    "conv_net": (conv_net, [[(4, 3, 3, 3), (5, 4, 3, 3), (45, 7)], (2, 3, 8, 8)]),
    "scan_rnn": (scan_rnn, [[(4, 4), (2, 4), (4,)], (10, 3, 2)]),
}


def build(s):
    if isinstance(s, list) or (isinstance(s, tuple) and s and not isinstance(s[0], int)):
        return [build(x) for x in s]
    return jax.ShapeDtypeStruct(s, F)


def count(jaxpr):
    n = 0
    for e in jaxpr.eqns:
        inner = [v for v in e.params.values() if hasattr(v, "jaxpr") or hasattr(v, "eqns")]
        call = e.primitive.name in ("pjit", "jit", "custom_jvp_call", "closed_call", "core_call")
        n += 0 if call else 1
        for v in inner:
            n += count(v.jaxpr if hasattr(v, "jaxpr") else v)
    return n


out = {}
for name, (f, shapes) in SHAPES.items():
    closed = jax.make_jaxpr(jax.value_and_grad(f))(*[build(s) for s in shapes])
    jaxpr, _ = pe.dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars))
    out[name] = count(jaxpr)
    if __import__("sys").argv[1:] == ["-v"]:
        print(name, jaxpr)
print(json.dumps(out, indent=1))
