"""Writes tests/data/random.json: what jax.random gives for raw threefry keys.

(A script called random.py would hide the standard library of the others here.)

Needs numpy and jax: `python3 tests/generate/random_numbers.py`.
"""

import json
import os

import jax
import jax.numpy as jnp
import numpy as np

from evx import FLOATS, INTS, NAMES, UNSIGNED, imax, imin, lit

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_threefry_partitionable", True)
jax.config.update("jax_default_prng_impl", "threefry2x32")
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "random.json")
CASES = []
SEEDS = [0, 42, 2**33 + 5, -7]


def key(seed):
    return jax.random.PRNGKey(seed)


def case(name, seed, expected, dtype=None, shape=(), args=(), tol="exact"):
    """A case of the function `name` of the table in tests/random.rs."""
    call = f"jax.random.{name}(PRNGKey({seed}), shape={tuple(shape)}, args={tuple(args)}, dtype={dtype})"
    CASES.append({"name": name, "source": call, "seed": seed, "dtype": dtype, "shape": list(shape), "args": list(args),
                  "tol": tol, "expected": lit(np.asarray(expected))})


def keys():
    for seed in SEEDS + [2**31, -1]:
        case("key", seed, key(seed))
    for seed in SEEDS:
        for n in [0, 1, 2, 5]:
            case("split_n", seed, jax.random.split(key(seed), n), args=[n])
        for data in [0, 1, 7, 2**31, 2**32 - 1]:
            case("fold_in", seed, jax.random.fold_in(key(seed), np.uint32(data)), args=[data])


def draws():
    for seed in SEEDS[:3]:
        for dtype in UNSIGNED:
            for shape in [(), (7,), (3, 5), (2, 0)]:
                case("bits", seed, jax.random.bits(key(seed), shape, NAMES[dtype]), dtype, shape)
        for dtype in FLOATS:
            case("uniform", seed, jax.random.uniform(key(seed), (4, 5), NAMES[dtype]), dtype, (4, 5))
            # JAX's formula for the bounds, in NumPy: compiled, the product and the sum are one rounded step.
            u = np.asarray(jax.random.uniform(key(seed), (9,), NAMES[dtype]))
            low, high = u.dtype.type(-2.5), u.dtype.type(3.25)
            case("uniform_range", seed, np.maximum(u * (high - low) + low, low), dtype, (9,), [-2.5, 3.25])


def integers():
    for dtype in INTS:
        least, most = imin(dtype), imax(dtype)
        ranges = [(0, 10), (3, 4), (least, most), (least // 2, most // 2 + 1), (0, most)]
        if NAMES[dtype].itemsize < 4:
            ranges.append((least, most + 1))
        if dtype == "i32":  # 2**31 is a 64-bit integer in JAX, a number above the range
            ranges.append((least, most + 1))
        if dtype in ["i32", "u32"]:
            ranges += [(0, 65536), (0, 65537), (-1000 if dtype == "i32" else 5, 1000), (0, 3 * 2**29)]
        for low, high in ranges:
            if dtype == "u64":
                bounds = np.uint64(low), np.uint64(high)
            else:
                bounds = low, high
            out = jax.random.randint(key(42), (11,), *bounds, dtype=NAMES[dtype])
            case("randint", 42, out, dtype, (11,), [low, high])
    for p in [0.0, 0.3, 0.99, 1.0]:
        case("bernoulli", 42, jax.random.bernoulli(key(42), jnp.float32(p), (40,)), "f32", (40,), [p])
    for n in [0, 1, 2, 10, 1625, 1626, 3000]:
        case("permutation", 42, jax.random.permutation(key(42), jnp.arange(n, dtype=jnp.int32)), args=[n])
    for n in [2, 1000]:
        rows = jnp.arange(2 * n, dtype=jnp.int32).reshape(n, 2)
        case("permutation_rows", 42, jax.random.permutation(key(42), rows), args=[n])


def distributions():
    for dtype in FLOATS:
        d, shape = NAMES[dtype], (64,)
        # Of a half, JAX rounds between the steps of its functions; the values are worked out in the half's arithmetic.
        tol = "contraction"
        case("normal", 42, jax.random.normal(key(42), shape, d), dtype, shape, tol=tol)
        if dtype in ["f16", "bf16"]:
            continue
        case("exponential", 42, jax.random.exponential(key(42), shape, d), dtype, shape, tol=tol)
        case("gumbel", 42, jax.random.gumbel(key(42), shape, d, mode="low"), dtype, shape, tol=tol)
        case("laplace", 42, jax.random.laplace(key(42), shape, d), dtype, shape, tol=tol)
        for low, high in [(-1.0, 1.5), (0.5, np.inf), (-3.0, -2.0)]:
            out = jax.random.truncated_normal(key(42), d.type(low), d.type(high), shape, d)
            case("truncated_normal", 42, out, dtype, shape, [low, min(high, 1e9)], tol)
    logits = np.array([0.5, -1.0, 2.0, 0.0], np.float32)
    case("categorical", 42, np.asarray(jax.random.categorical(key(42), logits, shape=(50,), mode="low"), np.int32),
         "f32", (50,), logits.tolist())
    for rate in [0.0, 0.5, 9.5]:  # one rejection of many differs, see the function
        case("poisson", 42, jax.random.poisson(key(42), np.float32(rate), (40,), np.int32), "i32", (40,), [rate])
    p = np.array([0.1, 0.4, 0.0, 0.5], np.float32)
    with jax.enable_x64(False):  # indices are i32
        case("choice", 42, jax.random.choice(key(42), 17, (30,)), shape=(30,), args=[17])
        case("choice_distinct", 42, jax.random.choice(key(42), 17, (9,), replace=False), shape=(9,), args=[17])
        case("choice_weighted", 42, jax.random.choice(key(42), 4, (30,), p=p), shape=(30,), args=p.tolist())
        case("choice_weighted_distinct", 42, jax.random.choice(key(42), 4, (3,), replace=False, p=p, mode="low"),
             shape=(3,), args=p.tolist())


for part in [keys, draws, integers, distributions]:
    part()
with open(OUT, "w", newline="\n") as f:
    f.write("[\n" + ",\n".join(json.dumps(c) for c in CASES) + "\n]\n")
print(len(CASES), "cases")
