"""Cases of the composites of linear algebra, for composites.py."""

import jax.numpy as jnp
import numpy as np
import scipy.linalg as sl

INF, NAN = np.inf, np.nan
DTYPES = [np.float64, np.float32, np.complex128, np.complex64]


def numbers(dtype, *shape, k=1, eye=0.0):
    """Small numbers, the same in every dtype; `eye` times the identity makes them well-conditioned."""
    n = int(np.prod(shape))
    x = (((np.arange(n) * 37 + 11 * k) % 17) / 4.0 - 2).reshape(shape)
    if np.issubdtype(dtype, np.complexfloating):
        x = x + 1j * ((((np.arange(n) * 23 + 5 * k) % 13) / 4.0 - 1.5).reshape(shape))
    return (x + eye * np.eye(*shape[-2:]) if eye else x).astype(dtype)


def wide(x):
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def narrow(x, dtype):
    """A result computed in double precision, in the precision of the inputs."""
    x = np.asarray(x)
    if x.dtype.kind not in "fc":
        return x.astype(np.int32)
    single = np.dtype(dtype).itemsize == (8 if np.dtype(dtype).kind == "c" else 4)
    return x.astype({"f": np.float32, "c": np.complex64}[x.dtype.kind]) if single else x


def matrices(case):
    def fields(name, source, f, *make, tol="linalg", dtypes=DTYPES):
        """A case of each dtype, by a function of the inputs in double precision."""
        for d in dtypes:
            xs = [m(d) for m in make]
            out = f(*map(wide, xs))
            out = out if isinstance(out, (list, tuple)) else [out]
            case(name, source + " in double precision", xs, [narrow(o, d) for o in out], tol)

    def square(*lead, n=4, k=1, eye=5.0):
        return lambda d: numbers(d, *lead, n, n, k=k, eye=eye)

    def full(*shape, k=2):
        """Quarters, the same in every dtype, without a pattern that would make matrices singular."""
        def make(d):
            rng = np.random.default_rng([k, *shape])
            x = rng.integers(-8, 9, shape) / 4
            return (x + 1j * rng.integers(-8, 9, shape) / 4 if np.issubdtype(d, np.complexfloating) else x).astype(d)
        return make

    # systems
    fields("solve", "numpy.linalg.solve", np.linalg.solve, square(), full(4))
    fields("solve", "numpy.linalg.solve", np.linalg.solve, square(), full(4, 3))
    fields("solve", "numpy.linalg.solve, batches that broadcast", np.linalg.solve, square(2, 1), full(3, 4, 2))
    fields("solve", "numpy.linalg.solve, one vector for a batch", np.linalg.solve, square(2), full(4), dtypes=DTYPES[:1])
    fields("solve", "numpy.linalg.solve, one matrix for a batch", np.linalg.solve, square(), full(3, 2, 4, 5), dtypes=DTYPES[:1] + DTYPES[2:3])
    fields("solve", "numpy.linalg.solve, rows exchanged", np.linalg.solve,
           lambda d: np.array([[0, 2, 1], [1, 0, 0], [4, 1, 0]], d), full(3, 2))
    fields("solve", "numpy.linalg.solve, no equations", np.linalg.solve, full(0, 0), full(0, 2), dtypes=DTYPES[:1])
    fields("solve", "numpy.linalg.solve, no right-hand sides", np.linalg.solve, square(), full(4, 0), dtypes=DTYPES[:1])
    fields("inv", "numpy.linalg.inv", np.linalg.inv, square())
    fields("inv", "numpy.linalg.inv", np.linalg.inv, square(2, 3, n=2))
    fields("inv", "numpy.linalg.inv, no matrices", np.linalg.inv, full(0, 3, 3), dtypes=DTYPES[:1])
    fields("inv", "numpy.linalg.inv of 1x1", np.linalg.inv, square(n=1), dtypes=DTYPES[:1])
    for n in (0, 1, 2, 3, 4, 7):
        fields("det", f"numpy.linalg.det, n = {n}", np.linalg.det, square(2, n=n, eye=2.0) if n else full(2, 0, 0))
        fields("slogdet", f"numpy.linalg.slogdet, n = {n}", lambda a: list(np.linalg.slogdet(a)), square(2, n=n, eye=2.0) if n else full(2, 0, 0))
    e = np.array([[2.0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 4, 0], [0, 0, 0, 0]])
    case("det", "definition: a row of zeros", [e], [np.array(0.0)], "exact")
    case("slogdet", "definition: a row of zeros, numpy.linalg.slogdet", [e], list(np.linalg.slogdet(e)), "exact")
    fields("det", "numpy.linalg.det, no matrices", np.linalg.det, full(0, 4, 4), dtypes=DTYPES[:1])
    big = 1e200 * np.eye(4)[[1, 0, 2, 3]]
    case("slogdet", "numpy.linalg.slogdet, where det overflows", [big], list(np.linalg.slogdet(big)), "linalg")
    # least squares
    for shape in [(4, 4), (5, 3), (3, 5), (2, 5, 3)]:
        fields("pinv", "numpy.linalg.pinv", np.linalg.pinv, full(*shape))
    low = lambda d: numbers(d, 5, 2) @ numbers(d, 2, 4, k=3)
    fields("pinv", "numpy.linalg.pinv(rcond=1e-10) of rank 2", lambda a: np.linalg.pinv(a, rcond=1e-10), low, dtypes=[np.float64, np.complex128])
    fields("pinv", "numpy.linalg.pinv of zeros", np.linalg.pinv, lambda d: np.zeros((3, 2), d))
    fields("pinv_cut", "numpy.linalg.pinv(rcond=0.2)", lambda a: np.linalg.pinv(a, rcond=0.2), lambda d: np.diag([4, 2, 0.5]).astype(d))

    def lstsq(a, b):
        x, _, rank, s = np.linalg.lstsq(a, b, rcond=None)
        r = b - a @ x
        return [x, np.sum(np.abs(r) ** 2, axis=0), np.array(rank), s]

    for shape in [(5, 3), (4, 4), (3, 5)]:
        fields("lstsq", "numpy.linalg.lstsq, with the sum of |b - a x|^2", lstsq, full(*shape), full(shape[0], k=5), dtypes=DTYPES if shape == (5, 3) else DTYPES[:0])
        fields("lstsq_x", "numpy.linalg.lstsq", lambda a, b: lstsq(a, b)[0], full(*shape), full(shape[0], 2, k=5))
    fields("lstsq", "numpy.linalg.lstsq of rank 2", lstsq, low, full(5, 2, k=5), dtypes=[np.float64])
    fields("lstsq_x", "jax.vmap of numpy.linalg.lstsq", lambda a, b: np.stack([lstsq(*p)[0] for p in zip(a, b)]), full(2, 5, 3), full(2, 5, 2, k=5), dtypes=DTYPES[:2])
    fields("matrix_rank", "numpy.linalg.matrix_rank", lambda a: np.asarray(np.linalg.matrix_rank(a)), full(3, 4, 3))
    fields("matrix_rank", "numpy.linalg.matrix_rank", lambda a: np.asarray(np.linalg.matrix_rank(a)), low, dtypes=[np.float64, np.complex128])
    fields("matrix_rank", "numpy.linalg.matrix_rank of zeros", lambda a: np.asarray(np.linalg.matrix_rank(a)), lambda d: np.zeros((2, 3), d))
    fields("cond_number", "numpy.linalg.cond", np.linalg.cond, full(3, 4, 3), dtypes=DTYPES[:1] + DTYPES[2:3])
    # norms
    kinds = {"fro": "fro", "nuc": "nuc", "one": 1, "minus_one": -1, "two": 2, "minus_two": -2, "inf": INF, "minus_inf": -INF}
    for name, order in kinds.items():
        for shape in [(3, 4), (2, 4, 3)]:
            fields(f"matrix_norm_{name}", f"numpy.linalg.norm(ord={order!r}, axis=(-2, -1))", lambda a: np.linalg.norm(a, ord=order, axis=(-2, -1)), full(*shape))
    for p, name in [(2, "two"), (2.5, "five_halves"), (-1, "reciprocal")]:
        fields(f"norm_{name}", f"numpy.linalg.norm(ord={p}, axis=1)", lambda a: np.linalg.norm(a, ord=p, axis=1), lambda d: full(3, 4)(d) + d(2.125))
    # functions
    for p in (-3, -1, 0, 1, 2, 5):
        name = f"matrix_power_{'minus_' if p < 0 else ''}{abs(p)}"
        fields(name, f"numpy.linalg.matrix_power({p})", lambda a: np.linalg.matrix_power(a, p), square(2, n=3, eye=3.0))
    i = np.array([[1, 2], [3, 4]], np.int32)
    case("matrix_power_5", "numpy.linalg.matrix_power(5)", [i], [np.linalg.matrix_power(i, 5)], "exact")
    case("matrix_power_0", "numpy.linalg.matrix_power(0)", [i], [np.linalg.matrix_power(i, 0)], "exact")

    def expm(a):
        return np.stack([expm(x) for x in a]) if a.ndim > 2 else sl.expm(a)

    for scale in (0.0, 1e-3, 0.25, 1.0, 2.0):
        fields("matrix_exp", "scipy.linalg.expm", expm, lambda d: (numbers(d, 3, 3) * scale).astype(d))
    fields("matrix_exp", "scipy.linalg.expm, norms of 0.1 to 30", expm,
           lambda d: (numbers(d, 3, 4, 4, eye=-1.0) * np.array([0.02, 0.5, 3.0]).reshape(3, 1, 1)).astype(d))
    case("matrix_exp", "scipy.linalg.expm, 14 squarings", [np.diag([-1e5, 0.0])], [np.diag([0.0, 1.0])], "linalg")
    case("matrix_exp", "too large, NaN", [np.array([[INF]])], [np.array([[NAN]])], "exact")
    case("matrix_exp", "one of a batch is too large", [np.array([[[-1e9]], [[1.0]], [[NAN]]])], [np.array([[[NAN]], [[np.e]], [[NAN]]])], "linalg")
    case("matrix_exp", "no rows", [np.zeros((2, 0, 0))], [np.zeros((2, 0, 0))], "exact")
    for shape in [(3, 4), (2, 4, 3)]:
        fields("trace", "numpy.trace(axis1=-2, axis2=-1)", lambda a: [np.trace(a, k, axis1=-2, axis2=-1) for k in (0, 1, -2, 9, -9)], full(*shape), tol="reduction")
    t = np.arange(12, dtype=np.int8).reshape(3, 4)
    case("trace", "numpy.trace, of int8", [t], [np.asarray(np.trace(t, k, dtype=np.int8)) for k in (0, 1, -2, 9, -9)], "exact")
    chain = [numbers(np.float32, *s, k=k) for k, s in enumerate([(10, 3), (3, 8), (8, 2), (2, 6)])]
    case("multi_dot", "numpy.linalg.multi_dot", chain, [np.linalg.multi_dot([wide(x) for x in chain]).astype(np.float32)], "contraction")
    ends = [numbers(np.float32, *s, k=k) for k, s in enumerate([(3,), (3, 8), (8, 2), (2,)])]
    case("multi_dot", "numpy.linalg.multi_dot", ends, [np.asarray(np.linalg.multi_dot([wide(x) for x in ends])).astype(np.float32)], "contraction")
    # factors of the Hermitian part
    spd = lambda d: numbers(d, 2, 3, 3, eye=8.0)
    herm = lambda a: (a + np.conj(np.swapaxes(a, -1, -2))) / 2
    fields("cholesky", "numpy.linalg.cholesky of (a + a^H)/2, as jax.numpy.linalg.cholesky", lambda a: np.linalg.cholesky(herm(a)), spd)
    fields("eigenvalues", "numpy.linalg.eigvalsh of (a + a^H)/2", lambda a: np.linalg.eigvalsh(herm(a)), spd)
