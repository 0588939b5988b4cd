"""Writes the exported programs of tests/models: StableHLO as `jax.jit(f).lower(...).as_text()` prints it, with inputs and
results of one run by JAX on the CPU.

    python3 tests/generate/models.py        # from the root; needs jax and numpy
"""

import pathlib

import jax
import jax.numpy as jnp
import numpy as np

OUT = pathlib.Path(__file__).parent.parent / "models"
RNG = np.random.default_rng(7)


def weights(*shape):
    return jnp.asarray(RNG.normal(size=shape, scale=1 / np.sqrt(np.prod(shape[:-1]))).astype(np.float32))


def conv_net():
    """Two convolutions, pooling, a dense layer: images [2, 1, 12, 12] to ten logits each. The weights are constants."""
    w1, w2, w3 = weights(3, 3, 1, 4), weights(3, 3, 4, 6), weights(3 * 3 * 6, 10)

    def conv(x, w, stride):
        return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NCHW", "HWIO", "NCHW"))

    def f(images):
        x = jax.nn.relu(conv(images, w1, 1))
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        x = jax.nn.relu(conv(x, w2, 2))
        return jax.nn.log_softmax(x.reshape(x.shape[0], -1) @ w3)

    return f, {"images": RNG.normal(size=(2, 1, 12, 12)).astype(np.float32)}


def transformer_block():
    """Layer norm, causal attention with two heads, and a GELU network on [8, 16]. The weights are one input."""
    d, heads = 16, 2
    params = {
        "qkv": weights(d, 3 * d),
        "out": weights(d, d),
        "up": weights(d, 4 * d),
        "down": weights(4 * d, d),
        "scale": jnp.ones(d),
    }

    def norm(x, scale):
        x = x - x.mean(-1, keepdims=True)
        return x / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * scale

    def f(p, x):
        n = x.shape[0]
        q, k, v = (t.reshape(n, heads, d // heads) for t in jnp.split(norm(x, p["scale"]) @ p["qkv"], 3, axis=-1))
        scores = jnp.einsum("qhd,khd->hqk", q, k) / np.sqrt(d // heads)
        scores = jnp.where(jnp.tril(jnp.ones((n, n), bool)), scores, -1e9)
        x = x + jnp.einsum("hqk,khd->qhd", jax.nn.softmax(scores), v).reshape(n, d) @ p["out"]
        return x + jax.nn.gelu(norm(x, p["scale"]) @ p["up"]) @ p["down"]

    return f, {"p": params, "x": RNG.normal(size=(8, d)).astype(np.float32)}


def solver():
    """Conjugate gradients on a x = b until the residual is small: a while loop that carries vectors, and its count."""

    def f(a, b):
        def unfinished(s):
            return (s[3] > 1e-6) & (s[4] < 50)

        def step(s):
            x, r, p, rr, i = s
            ap = a @ p
            alpha = rr / (p @ ap)
            r_next = r - alpha * ap
            rr_next = r_next @ r_next
            return x + alpha * p, r_next, r_next + rr_next / rr * p, rr_next, i + 1

        x, _, _, _, i = jax.lax.while_loop(unfinished, step, (jnp.zeros_like(b), b, b, b @ b, 0))
        return x, i

    m = RNG.normal(size=(6, 6))
    return f, {"a": (m @ m.T + 6 * np.eye(6)).astype(np.float32), "b": RNG.normal(size=6).astype(np.float32)}


def main():
    OUT.mkdir(exist_ok=True)
    for make in (conv_net, transformer_block, solver):
        f, inputs = make()
        name = make.__name__
        (OUT / f"{name}.mlir").write_text(jax.jit(f).lower(*inputs.values()).as_text())
        leaves = jax.tree.leaves(tuple(inputs.values()))
        results = jax.tree.leaves(jax.jit(f)(*inputs.values()))
        np.savez(OUT / f"{name}.in.npz", **{str(i): np.asarray(v) for i, v in enumerate(leaves)})
        (OUT / f"{name}.out").mkdir(exist_ok=True)
        for i, v in enumerate(results):
            np.save(OUT / f"{name}.out" / f"{i}.npy", np.asarray(v))


if __name__ == "__main__":
    main()
