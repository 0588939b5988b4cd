"""Cases of the unary ops."""

import numpy as np
import scipy.special as sp
from evx import *

NAN, INF = np.nan, np.inf


def lims(d):
    import ml_dtypes
    i = ml_dtypes.finfo(NAMES[d])
    return float(i.max), float(i.tiny), float(i.smallest_subnormal)



def round_half_away(x):
    t = np.trunc(x)
    return np.where(np.isfinite(x) & (np.abs(x - t) >= 0.5), t + np.copysign(1.0, x), np.copysign(t, x))


def digamma(x):
    # At 0 and the negative integers: NaN, as CHLO's digamma (SciPy gives infinities at the zeros).
    return np.where((x <= 0) & (x == np.floor(x)), NAN, sp.digamma(x))


def lgamma(x):
    return np.where(np.isinf(x), INF, sp.gammaln(x))


# name: (function in f64, source, ordinary values, has a complex form)
FLOAT = {
    "exp": (np.exp, "numpy: np.exp", [-3.0, -0.5, 0.25, 1.0, 4.5], True),
    "exp2": (np.exp2, "numpy: np.exp2", [-3.0, -0.5, 0.25, 1.0, 4.5], False),
    "expm1": (np.expm1, "numpy: np.expm1", [-3.0, -1e-4, 1e-4, 0.5, 2.0], True),
    "log": (np.log, "numpy: np.log", [0.25, 0.9, 1.0, 2.5, 1000.0], True),
    "log2": (np.log2, "numpy: np.log2", [0.25, 0.9, 1.0, 8.0, 1000.0], False),
    "log1p": (np.log1p, "numpy: np.log1p", [-0.9, -1e-4, 1e-4, 1.0, 1000.0], True),
    "sqrt": (np.sqrt, "numpy: np.sqrt", [0.25, 2.0, 3.0, 9.0, 1000.0], True),
    "rsqrt": (lambda x: 1 / np.sqrt(x), "numpy: 1 / np.sqrt", [0.25, 2.0, 3.0, 9.0, 1000.0], True),
    "cbrt": (np.cbrt, "numpy: np.cbrt", [-27.0, -0.5, 0.125, 2.0, 1000.0], False),
    "sin": (np.sin, "numpy: np.sin", [-3.0, -0.5, 0.125, 1.5, 100.0], True),
    "cos": (np.cos, "numpy: np.cos", [-3.0, -0.5, 0.125, 1.25, 100.0], True),
    "tan": (np.tan, "numpy: np.tan", [-3.0, -0.5, 0.125, 1.25, 100.0], True),
    "asin": (np.arcsin, "numpy: np.arcsin", [-1.0, -0.5, 0.125, 0.75, 1.5], True),
    "acos": (np.arccos, "numpy: np.arccos", [-1.0, -0.5, 0.125, 1.0, 1.5], True),
    "atan": (np.arctan, "numpy: np.arctan", [-100.0, -0.5, 0.125, 1.0, 3.0], True),
    "sinh": (np.sinh, "numpy: np.sinh", [-3.0, -1e-3, 0.125, 1.0, 5.0], True),
    "cosh": (np.cosh, "numpy: np.cosh", [-3.0, -1e-3, 0.125, 1.0, 5.0], True),
    "tanh": (np.tanh, "numpy: np.tanh", [-3.0, -1e-3, 0.125, 1.0, 20.0], True),
    "asinh": (np.arcsinh, "numpy: np.arcsinh", [-100.0, -1e-3, 0.125, 1.0, 3.0], True),
    "acosh": (np.arccosh, "numpy: np.arccosh", [0.5, 1.0, 1.125, 3.0, 1000.0], True),
    "atanh": (np.arctanh, "numpy: np.arctanh", [-1.0, -1e-3, 0.125, 0.75, 1.5], True),
    "logistic": (sp.expit, "scipy: special.expit", [-20.0, -1.0, 0.125, 2.0, 20.0], True),
    "erf": (sp.erf, "scipy: special.erf", [-3.0, -0.5, 1e-3, 1.0, 2.5], False),
    "erfc": (sp.erfc, "scipy: special.erfc", [-3.0, -0.5, 1e-3, 1.0, 4.0], False),
    "erf_inv": (sp.erfinv, "scipy: special.erfinv", [-1.0, -0.75, 0.125, 0.96875, 1.5], False),
    "lgamma": (lgamma, "scipy: special.gammaln", [-1.5, -0.25, 0.5, 3.0, 20.0], False),
    "digamma": (digamma, "scipy: special.digamma, NaN at the poles as in CHLO", [-2.75, -1.0, 0.25, 3.0, 20.0], False),
    "floor": (np.floor, "numpy: np.floor", [-2.5, -0.5, 0.5, 1.0, 2.5], False),
    "ceil": (np.ceil, "numpy: np.ceil", [-2.5, -0.5, 0.5, 1.0, 2.5], False),
    "round_even": (np.rint, "numpy: np.rint", [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5], False),
    "round_away": (round_half_away, "formula: trunc(x) + sign(x) where the fraction is at least a half", [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.25], False),
    "trunc": (np.trunc, "numpy: np.trunc", [-2.5, -0.5, 0.5, 1.0, 2.5], False),
}
EXACT = {"floor", "ceil", "round_even", "round_away", "trunc", "sqrt"}
CVALUES = [0.5 + 0.25j, -1.5 + 0.75j, 0.3 - 2.0j, -0.4 - 0.6j, 2.0 + 0.0j]


def unary_float():
    n = 0
    for name, (f, source, values, has_complex) in FLOAT.items():
        out = File(name, f"{name}: values, IEEE edge cases, complex numbers.")
        tol = "exact" if name in EXACT else None
        for d in FLOATS:
            how = "" if d == "f64" else ", in f64 from the exact inputs, rounded once"
            x = arr(d, values)
            out.op(name, [x], [rounded(f, x)], source + how, tol=tol)
            big, tiny, sub = lims(d)
            edges = [NAN, INF, -INF, 0.0, -0.0, tiny, -tiny, sub, -sub]
            if name not in ("sin", "cos", "tan", "digamma", "lgamma"):
                edges += [big, -big]
            if name in ("digamma", "lgamma"):
                edges = [NAN, INF, 0.0, -0.0, -1.0, -7.0]
            if name == "exp2":
                edges += [-1.0, 10.0]
            x = arr(d, edges)
            y = rounded(f, x)
            if name == "rsqrt":
                y = np.where(x == 0, np.copysign(np.inf, x.astype(np.float64)), y.astype(np.float64)).astype(x.dtype)
            if name == "digamma":
                y = np.where(np.arange(len(edges)) > 1, NAN, y.astype(np.float64)).astype(x.dtype)
            out.op(name, [x], [y], source + how, tol=tol, label=f"{name}_{d}_edges")
        if has_complex:
            for d in COMPLEX:
                x = arr(d, CVALUES)
                g = (lambda z: 1 / (1 + np.exp(-z))) if name == "logistic" else f
                out.op(name, [x], [rounded(g, x)], ("formula: 1 / (1 + exp(-x)) in c128" if name == "logistic" else source + " of complex128"), tol="transcendental")
        if name == "cbrt":
            for d in COMPLEX:
                x = arr(d, CVALUES)
                out.op(name, [x], [rounded(lambda z: np.exp(np.log(z) / 3), x)], "formula: exp(log(x) / 3), the principal root, in c128", tol="transcendental")
        if name in ("exp", "floor", "tanh"):
            x = arr("f32", 0.75)
            out.op(name, [x], [rounded(f, x)], source, label=f"{name}_rank0", tol=tol)
            x = np.zeros((0, 3), np.float32)
            out.op(name, [x], [x], "definition: no elements", label=f"{name}_empty", tol=tol)
            for b in (0, 1, 3):
                x = arr("f32", np.linspace(-1.5, 2, 2 * b).reshape(b, 2))
                out.op(name, [x], [rounded(f, x)], source, label=f"{name}_symbolic", types=([("B", 2)], [("B", 2)]), tol=tol)
        n += out.write()
    return n


def popcount(v):
    return bin(v).count("1")


def unary_any():
    n = 0
    fl = {d: [NAN, INF, -INF, 0.0, -0.0, lims(d)[2], 2.5, -3.25, lims(d)[0]] for d in FLOATS}
    ints = {d: sorted({imin(d), imin(d) + 1, 0, 1, 5, imax(d) - 1, imax(d)} | ({-1, -6} if d[0] == "i" else set())) for d in INTS}
    cx = [3 + 4j, -3 + 0j, 0j, 0 - 2.5j, 1 - 1j]

    def exact(v, d):
        return np.array(v, dtype=NAMES[d])

    o = File("neg", "neg: integers wrap, floats flip the sign.")
    for d in INTS:
        o.op("neg", [exact(ints[d], d)], [wrap(d, [-v for v in ints[d]], (len(ints[d]),))], "formula: -x modulo 2^width")
    for d in FLOATS + COMPLEX:
        x = arr(d, fl.get(d, cx))
        o.op("neg", [x], [-x], "numpy: np.negative")
    n += o.write()

    o = File("abs", "abs: the modulus of complex numbers; the minimum of an integer wraps to itself.")
    for d in SIGNED:
        o.op("abs", [exact(ints[d], d)], [wrap(d, [abs(v) for v in ints[d]], (len(ints[d]),))], "formula: |x| modulo 2^width")
    for d in FLOATS:
        x = arr(d, fl[d])
        o.op("abs", [x], [np.abs(x)], "numpy: np.abs")
    for d in COMPLEX:
        x = arr(d, cx + [complex(INF, 1), 3e30 + 4e30j])
        o.op("abs", [x], [np.abs(x)], "numpy: np.abs (the modulus, without overflow of the squares)", tol="elementwise")
    n += o.write()

    o = File("sign", "sign: -0 and NaN stay; of a complex number x/|x|.")
    for d in SIGNED + UNSIGNED:
        o.op("sign", [exact(ints[d], d)], [exact([(v > 0) - (v < 0) for v in ints[d]], d)], "formula: (x > 0) - (x < 0)")
    for d in FLOATS:
        x = arr(d, fl[d])
        y = np.where(np.isnan(x.astype(float)), NAN, np.where(x == 0, x.astype(float), np.sign(x.astype(float)))).astype(x.dtype)
        o.op("sign", [x], [y], "StableHLO spec: sign")
    for d in COMPLEX:
        x = arr(d, cx)
        o.op("sign", [x], [np.where(x == 0, 0, x / np.where(x == 0, 1, np.abs(x))).astype(x.dtype)], "StableHLO spec: x / abs(x), 0 at 0", tol="elementwise")
    n += o.write()

    o = File("not", "not: logical on bool, bitwise on integers.")
    x = np.array([True, False])
    o.op("not", [x], [~x], "numpy: np.invert")
    for d in INTS:
        x = exact(ints[d], d)
        o.op("not", [x], [~x], "numpy: np.invert")
    n += o.write()

    o = File("popcount", "popcount: bits set of the two's complement.")
    for d in INTS:
        w = 8 * NAMES[d].itemsize
        o.op("popcount", [exact(ints[d], d)], [exact([popcount(v & ((1 << w) - 1)) for v in ints[d]], d)], "formula: ones of x modulo 2^width")
    n += o.write()

    o = File("count_leading_zeros", "count_leading_zeros of the two's complement; the width for 0.")
    for d in INTS:
        w = 8 * NAMES[d].itemsize
        o.op("count_leading_zeros", [exact(ints[d], d)], [exact([w - (v & ((1 << w) - 1)).bit_length() for v in ints[d]], d)], "formula: width - bit length of x modulo 2^width")
    n += o.write()

    o = File("is_finite", "is_finite.")
    for d in FLOATS:
        x = arr(d, fl[d])
        o.op("is_finite", [x], [np.isfinite(x.astype(np.float64))], "numpy: np.isfinite")
    n += o.write()

    for name, f in (("real", np.real), ("imag", np.imag), ("conj", np.conj)):
        o = File(name, f"{name} of complex numbers and of reals.")
        for d in COMPLEX:
            x = arr(d, cx + [complex(-0.0, 0.0), complex(1.0, -0.0), complex(NAN, INF)])
            o.op(name, [x], [f(x)], f"numpy: np.{name}")
        for d in FLOATS:
            x = arr(d, [1.5, -0.0, -INF])
            o.op(name, [x], [np.zeros_like(x) if name == "imag" else x], "definition: a real number is its own real part and conjugate, its imaginary part is 0")
        n += o.write()
    return n
