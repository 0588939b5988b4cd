"""Cases of the binary and ternary ops, comparisons and conversions."""

import numpy as np
from evx import *
from elementwise import lims, NAN, INF

SPECIAL = [NAN, INF, -INF, 0.0, -0.0]


def pairs(d, values):
    """Every pair of values as two operands."""
    a = [x for x in values for _ in values]
    b = [y for _ in values for y in values]
    return exact(d, a), exact(d, b), a, b


def exact(d, v):
    if NAMES[d].kind in "iu":
        return np.array(v, dtype=NAMES[d])
    return arr(d, v)


def edges(d):
    return [imin(d), -1, 0, 1, 7] if d[0] == "i" else [0, 1, 3, imax(d) - 1, imax(d)]


def trunc_div(d, a, b):
    if b == 0:
        return -1
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def rem(d, a, b):
    if b == 0:
        return a
    r = abs(a) % abs(b)
    return -r if a < 0 else r


def ipow(d, a, b):
    if b < 0:
        return 1 if a == 1 else (1 if b % 2 == 0 else -1) if a == -1 else 0
    return pow(a, b, 1 << (8 * NAMES[d].itemsize))


def mulhi(d, a, b):
    return (a * b) >> (8 * NAMES[d].itemsize)


def fmax(pick, tie):
    """max or min with NaN propagating and -0 below +0."""
    def f(a, b):
        r = np.where(np.isnan(a) | np.isnan(b), NAN, pick(a, b))
        zeros = (a == 0) & (b == 0)
        return np.where(zeros, np.where(tie(np.signbit(a), np.signbit(b)), -0.0, 0.0), r)
    return f


def binary():
    n = 0
    cx = arr("c128", [0.5 + 0.25j, -1.5 + 0.75j, 0.3 - 2.0j, -0.4 - 0.6j]), arr("c128", [1.0 - 1.0j, 0.5 + 2.0j, -0.7 - 0.1j, 2.0 + 0.0j])
    arith = {
        "add": (lambda d, a, b: a + b, np.add), "sub": (lambda d, a, b: a - b, np.subtract),
        "mul": (lambda d, a, b: a * b, np.multiply), "div": (trunc_div, np.divide), "rem": (rem, np.fmod), "pow": (ipow, np.power),
    }
    for name, (fi, ff) in arith.items():
        o = File(name, f"{name}: integer and IEEE edge cases.")
        for d in INTS:
            x, y, a, b = pairs(d, edges(d))
            note = {"div": "StableHLO spec: truncates; by 0 gives -1, MIN / -1 gives MIN", "rem": "StableHLO spec: the sign of lhs; by 0 gives lhs",
                    "pow": "StableHLO spec: modulo 2^width; negative exponents give 0, 1 or -1"}.get(name, "formula: modulo 2^width")
            o.op(name, [x, y], [wrap(d, [fi(d, p, q) for p, q in zip(a, b)], x.shape)], note)
        tol = "transcendental" if name == "pow" else "exact"
        for d in FLOATS:
            how = f"numpy: np.{ff.__name__}" + ("" if d == "f64" else ", in f64 from the exact inputs, rounded once")
            x, y, _, _ = pairs(d, SPECIAL)
            o.op(name, [x, y], [rounded(ff, x, y)], how, tol=tol, label=f"{name}_{d}_special")
            big, tiny, sub = lims(d)
            v = {"pow": ([2.0, -2.0, -8.0, 0.5, 1.0, -1.0, -INF, -2.0, 0.0, 10.0], [0.5, 3.0, 1 / 3, -2.0, NAN, INF, 3.0, 2.5, -1.0, 100.0])}.get(
                name, ([1.5, -2.25, 1e-3, big, -big, tiny, sub, 3.0, -7.5], [0.5, 3.0, 0.7, big, big, -sub, sub, 0.1, 2.0]))
            x, y = arr(d, v[0]), arr(d, v[1])
            o.op(name, [x, y], [rounded(ff, x, y)], how, tol=tol)
        if name != "rem":
            for d in COMPLEX:
                x, y = cx[0].astype(NAMES[d]), cx[1].astype(NAMES[d])
                o.op(name, [x, y], [rounded(ff, x, y)], f"numpy: np.{ff.__name__} of complex128", tol="transcendental" if name == "pow" else "elementwise")
        if name in ("add", "mul"):
            x, y, _, _ = pairs("bool", [False, True])
            o.op(name, [x, y], [x | y if name == "add" else x & y], "StableHLO spec: logical " + ("or" if name == "add" else "and"))
            o.op(name, [arr("f32", 1.5), arr("f32", 2.5)], [arr("f32", 4.0 if name == "add" else 3.75)], "formula: by hand", label=f"{name}_rank0")
            e = np.zeros((2, 0), np.float32)
            o.op(name, [e, e], [e], "definition: no elements", label=f"{name}_empty")
            for k in (1, 2, 5):
                x, y = arr("i32", np.arange(k)), arr("i32", np.arange(k) * 3 - 4)
                o.op(name, [x, y], [x + y if name == "add" else x * y], "numpy", label=f"{name}_symbolic", types=([("B",), ("B",)], [("B",)]))
        n += o.write()

    for name, pick, tie, fi in (("max", np.maximum, np.logical_and, max), ("min", np.minimum, np.logical_or, min)):
        o = File(name, f"{name}: NaN propagates, +0 lies above -0.")
        for d in INTS:
            x, y, a, b = pairs(d, edges(d))
            o.op(name, [x, y], [exact(d, [fi(p, q) for p, q in zip(a, b)])], f"formula: {name}")
        for d in FLOATS:
            x, y, _, _ = pairs(d, [NAN, INF, -INF, 0.0, -0.0])
            o.op(name, [x, y], [rounded(fmax(pick, tie), x, y)], "IEEE 754-2019: maximum and minimum", label=f"{name}_{d}_special")
            x, y = arr(d, [1.5, -2.5, lims(d)[2], -3.0]), arr(d, [0.5, 2.5, 0.0, -3.5])
            o.op(name, [x, y], [rounded(pick, x, y)], f"numpy: np.{pick.__name__}")
        for d in COMPLEX:
            a, b = [1 + 2j, 1 + 2j, -3 + 9j, 0j], [1 + 3j, 2 - 7j, -3 + 8j, -1j]
            key = lambda z: (z.real, z.imag)
            o.op(name, [arr(d, a), arr(d, b)], [arr(d, [fi(p, q, key=key) for p, q in zip(a, b)])], "StableHLO spec: lexicographic by (real, imag)")
        x, y, _, _ = pairs("bool", [False, True])
        o.op(name, [x, y], [x | y if name == "max" else x & y], "StableHLO spec: logical " + ("or" if name == "max" else "and"))
        n += o.write()

    o = File("atan2", "atan2: the quadrants, signed zeros and infinities.")
    for d in FLOATS:
        x, y, _, _ = pairs(d, SPECIAL)
        o.op("atan2", [x, y], [rounded(np.arctan2, x, y)], "numpy: np.arctan2, in f64, rounded once", label=f"atan2_{d}_special")
        x, y = arr(d, [1.0, -1.0, 2.5, -0.125]), arr(d, [1.0, -1.0, -0.5, 3.0])
        o.op("atan2", [x, y], [rounded(np.arctan2, x, y)], "numpy: np.arctan2, in f64, rounded once")
    n += o.write()

    o = File("nextafter", "nextafter.")
    for d in FLOATS:
        big, tiny, sub = lims(d)
        x, y = arr(d, [1.0, 1.0, 0.0, -0.0, sub, big, INF, 2.0, NAN, 0.0, -1.0]), arr(d, [2.0, -2.0, -1.0, 1.0, 0.0, INF, 0.0, 2.0, 1.0, -0.0, -INF])
        o.op("nextafter", [x, y], [np.where(x == y, y, np.nextafter(x, y))], "numpy: np.nextafter; rhs where they are equal, as in C", tol="exact")
    n += o.write()

    for name, f in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
        o = File(name, f"{name}: logical on bool, bitwise on integers.")
        for d in ["bool"] + INTS:
            x, y, _, _ = pairs(d, [False, True] if d == "bool" else [imin(d), imax(d), 6, 12])
            o.op(name, [x, y], [f(x, y)], f"numpy: np.{f.__name__}")
        n += o.write()

    def shift(name, d, a, b):
        w = 8 * NAMES[d].itemsize
        inside = 0 <= b < w
        u = a & ((1 << w) - 1)
        if name == "shift_left":
            return u << b if inside else 0
        if name == "shift_right_logical":
            return u >> b if inside else 0
        return (a >> b) if inside else (-1 if a < 0 else 0)

    for name in ("shift_left", "shift_right_logical", "shift_right_arithmetic"):
        o = File(name, f"{name}: amounts past the width and negative ones too.")
        for d in INTS:
            w = 8 * NAMES[d].itemsize
            signed = d[0] == "i"
            a = [v for v in ([imin(d), -5, 1, imax(d)] if signed else [1 << (w - 1), 5, 1, imax(d)]) for _ in range(6)]
            b = ([0, 1, w - 1, w, w + 1, -1] if signed else [0, 1, w - 1, w, w + 1, imax(d)]) * 4
            def value(p, q):
                if name == "shift_right_arithmetic" and not signed:
                    s = p - (1 << w) if p >> (w - 1) else p
                    return shift(name, d, s, q)
                return shift(name, d, p, q)
            o.op(name, [exact(d, a), exact(d, b)], [wrap(d, [value(p, q) for p, q in zip(a, b)], (24,))], "StableHLO spec: shifts; out of range 0, or the sign bit")
        n += o.write()

    o = File("complex", "complex: a number from its parts.")
    for d, c in (("f32", "c64"), ("f64", "c128")):
        x, y = arr(d, [1.5, -0.0, INF, NAN]), arr(d, [-2.5, 0.0, NAN, -0.0])
        z = np.zeros(4, NAMES[c])
        z.real, z.imag = x, y
        o.op("complex", [x, y], [z], "definition: lhs + i rhs")
    n += o.write()

    o = File("mulhi", "mulhi: the high half of the product.")
    for d in INTS:
        x, y, a, b = pairs(d, edges(d))
        o.op("mulhi", [x, y], [wrap(d, [mulhi(d, p, q) for p, q in zip(a, b)], x.shape)], "formula: (x * y) >> width, floor")
    n += o.write()
    return n


def total_key(v, d):
    b = np.asarray(v)
    w = b.dtype.itemsize * 8
    u = b.view({2: np.uint16, 4: np.uint32, 8: np.uint64}[b.dtype.itemsize])
    return [int(x) ^ ((1 << w) - 1) if int(x) >> (w - 1) else int(x) | (1 << (w - 1)) for x in u]


def compare():
    import operator as op
    o = File("compare", "compare: IEEE and total order, every direction, every dtype.")
    ops = {"lt": op.lt, "le": op.le, "gt": op.gt, "ge": op.ge, "eq": op.eq, "ne": op.ne}
    for k, f in ops.items():
        attrs = f"direction = {k}, order = ieee"
        for d in INTS:
            v = [imin(d), imax(d), 1]
            x, y, a, b = pairs(d, v)
            o.op("compare", [x, y], [np.array([f(p, q) for p, q in zip(a, b)])], "numpy", attrs, label=f"compare_{k}_{d}")
        x, y, a, b = pairs("bool", [False, True])
        o.op("compare", [x, y], [f(x, y)], "StableHLO spec: false < true", attrs, label=f"compare_{k}_bool")
        for d in FLOATS:
            x, y, a, b = pairs(d, [NAN, INF, -INF, 0.0, -0.0])
            o.op("compare", [x, y], [f(x.astype(float), y.astype(float))], "IEEE 754: NaN differs from all, -0 equals 0", attrs, label=f"compare_{k}_{d}")
            kx = total_key(x, d), total_key(y, d)
            o.op("compare", [x, y], [np.array([f(p, q) for p, q in zip(*kx)])], "IEEE 754: totalOrder", f"direction = {k}, order = total", label=f"compare_{k}_{d}_total")
        for d in COMPLEX:
            a, b = [1 + 2j, 1 + 2j, -3 + 9j, 1 + 2j, complex(NAN, 0)], [1 + 3j, 2 - 7j, -3 + 8j, 1 + 2j, 1j]
            def ck(p, q):
                if k in ("eq", "ne"):
                    return f(p, q)
                if p != p or q != q:
                    return False
                return f((p.real, p.imag), (q.real, q.imag))
            o.op("compare", [arr(d, a), arr(d, b)], [np.array([ck(p, q) for p, q in zip(a, b)])], "StableHLO spec: lexicographic by (real, imag)", attrs, label=f"compare_{k}_{d}")
    return o.write()


def ternary():
    o = File("select", "select: a mask of the operands' shape, or a scalar.")
    p = np.array([True, False, True])
    for d in ALL:
        x, y = arr(d, [0, 1, 1]), arr(d, [1, 0, 1])
        o.op("select", [p, x, y], [np.where(p, x, y)], "numpy: np.where", label=f"select_{d}")
    x, y = arr("f32", [NAN, -0.0, INF]), arr("f32", [1.0, NAN, 2.0])
    o.op("select", [p, x, y], [np.where(p, x, y)], "numpy: np.where", label="select_nan")
    for s in (True, False):
        x, y = arr("f32", [[1, 2], [3, 4]]), arr("f32", [[5, 6], [7, 8]])
        o.op("select", [np.array(s), x, y], [x if s else y], "definition: a scalar chooses all", label="select_scalar")
    e = np.zeros((0,), np.float32)
    o.op("select", [np.zeros((0,), bool), e, e], [e], "definition: no elements", label="select_empty")
    for b in (0, 1, 4):
        p = np.arange(b) % 2 == 0
        x, y = arr("i32", np.arange(b)), arr("i32", -np.arange(b))
        o.op("select", [p, x, y], [np.where(p, x, y)], "numpy: np.where", label="select_symbolic", types=([("B",)] * 3, [("B",)]))
    n = o.write()

    o = File("clamp", "clamp: min(max(x, low), high); scalar or full bounds.")
    for d in INTS:
        v = edges(d)
        lo, hi = (-1, 2) if d[0] == "i" else (1, 4)
        x = exact(d, v)
        o.op("clamp", [exact(d, lo), x, exact(d, hi)], [np.clip(x, exact(d, lo), exact(d, hi))], "numpy: np.clip")
    for d in FLOATS:
        x = arr(d, [NAN, INF, -INF, 0.5, -0.5])
        o.op("clamp", [arr(d, -0.25), x, arr(d, 2.0)], [arr(d, [NAN, 2.0, -0.25, 0.5, -0.25])], "formula: min(max(x, low), high), NaN propagates")
        lo, hi = arr(d, [0, 1, 2, NAN, 5]), arr(d, [1, 1, 3, 1, 4])
        x = arr(d, [0.5, 7, 2.5, 0, 4.5])
        o.op("clamp", [lo, x, hi], [arr(d, [0.5, 1, 2.5, NAN, 4])], "formula: min(max(x, low), high); with low > high it is high", label=f"clamp_{d}_full")
    x = arr("f32", [[-1, 0.5], [2, 3]])
    o.op("clamp", [arr("f32", 0), x, arr("f32", [[1, 1], [1, 9]])], [arr("f32", [[0, 0.5], [1, 3]])], "formula: min(max(x, low), high)", label="clamp_mixed")
    for d in COMPLEX:
        o.op("clamp", [arr(d, 0j), arr(d, [1 + 5j, -1 + 2j, 3j]), arr(d, 1 + 1j)], [arr(d, [1 + 1j, 0j, 3j])], "formula: min(max(x, low), high), lexicographic")
    return n + o.write()


def saturate(v, d):
    if v != v:
        return 0
    return max(imin(d), min(imax(d), v if v in (INF, -INF) else int(v)))


def conversion():
    o = File("convert", "convert: every pair of dtypes.")
    for s in ALL:
        for d in ALL:
            if s == "bool":
                src = [False, True]
            elif s in INTS:
                src = [imin(s), 0, 1, 100, imax(s)] + ([-1] if s[0] == "i" else [])
            elif s in FLOATS:
                src = [0.0, -0.0, 1.0, -1.75, 2.5, 300.25, NAN, INF, -INF]
            else:
                src = [0j, 1.5 - 2j, 2j, -3 + 0j]
            x = exact(s, src)
            vals = [complex(v) if s in COMPLEX else (int(v) if s in INTS + ["bool"] else float(v)) for v in x]
            if d == "bool":
                y = np.array([v != 0 for v in vals])
            elif d in INTS:
                re = [v.real if s in COMPLEX else v for v in vals]
                y = wrap(d, [saturate(v, d) if s not in INTS + ["bool"] else v for v in re], (len(re),))
            elif d in FLOATS:
                re = np.array([v.real if s in COMPLEX else v for v in vals])
                if s in ("i64", "u64", "i32", "u32") and d in ("f32", "f16", "bf16"):
                    # From the exact integer in one rounding: these values are powers of two or next to one.
                    y = np.array([float(v) for v in vals], dtype=np.float64).astype(NAMES[d])
                else:
                    y = np.array(re, dtype=np.float64).astype(NAMES[d])
            else:
                y = np.array(vals).astype(np.complex128).astype(NAMES[d])
                if s in FLOATS:
                    y.real, y.imag = x.astype(np.float64), 0
            note = "OPS: floats truncate and saturate (NaN gives 0), integers wrap, complex drops the imaginary part, bool is != 0"
            o.op("convert", [x], [y], note, f"dtype = {d}", label=f"convert_{s}_{d}", tol="exact")
    x = np.array([1.00048828125, 1.0004883, 65519.99, 65520.0, 2.9802322e-8, 2.98023259e-8, 1e-10], np.float32)
    o.op("convert", [x], [x.astype(np.float16)], "numpy: round to nearest, ties to even; overflow to infinity; subnormals", "dtype = f16", label="convert_round_f16", tol="exact")
    x = np.array([1.00390625, 1.01171875, 3.3961775e38, 9.0e-41], np.float32)
    o.op("convert", [x], [x.astype(BF16)], "ml_dtypes: round to nearest, ties to even", "dtype = bf16", label="convert_round_bf16", tol="exact")
    x = np.array([1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-11 - 2.0**-40])
    o.op("convert", [x], [np.array([1 + 2.0**-10, 1.0], np.float16)], "formula: one rounding from f64, not by way of f32", "dtype = f16", label="convert_once", tol="exact")
    x = np.array([1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-8 - 2.0**-40])
    o.op("convert", [x], [arr("bf16", [1 + 2.0**-7, 1.0])], "formula: one rounding from f64, not by way of f32", "dtype = bf16", label="convert_once_bf16", tol="exact")
    x = np.array([(1 << 24) + 1, (1 << 24) + 3, -(1 << 53) - 1], np.int64)
    o.op("convert", [x], [x.astype(np.float32)], "numpy: round to nearest, ties to even", "dtype = f32", label="convert_i64_round", tol="exact")
    x = np.array([2147483648.0, -2147483904.0, 2147483520.0], np.float32)
    o.op("convert", [x], [np.array([2147483647, -2147483648, 2147483520], np.int32)], "formula: saturation", "dtype = i32", label="convert_saturate", tol="exact")
    o.op("convert", [np.zeros((0, 2), np.int32)], [np.zeros((0, 2), np.float64)], "definition: no elements", "dtype = f64", label="convert_empty")
    o.op("convert", [np.array(7, np.int32)], [np.array(7.0, np.float32)], "definition", "dtype = f32", label="convert_rank0")
    n = o.write()

    o = File("bitcast_convert", "bitcast_convert: the same bits; narrower adds a last axis, wider takes it away.")
    same = {1: ["i8", "u8"], 2: ["i16", "u16", "f16", "bf16"], 4: ["i32", "u32", "f32"], 8: ["i64", "u64", "f64"]}
    for w, ds in same.items():
        raw = np.frombuffer(bytes(range(0x3A, 0x3A + 3 * w)), dtype=f"u{w}")
        for s in ds:
            for d in ds:
                if s != d:
                    o.op("bitcast_convert", [raw.view(NAMES[s])], [raw.view(NAMES[d])], "numpy: ndarray.view", f"dtype = {d}", label=f"bitcast_{s}_{d}")
    raw = np.arange(1, 17, dtype=np.uint8)
    for s, d in (("f32", "u8"), ("u8", "f32"), ("u32", "u16"), ("u16", "u64"), ("f64", "f16"), ("c128", "c64"), ("c64", "c128")):
        ws, wd = NAMES[s].itemsize, NAMES[d].itemsize
        if ws > wd:
            x = raw.view(NAMES[s])
            y = raw.view(NAMES[d]).reshape(x.shape + (ws // wd,))
        else:
            y = raw.view(NAMES[d])
            x = raw.view(NAMES[s]).reshape(y.shape + (wd // ws,))
        o.op("bitcast_convert", [x], [y], "numpy: ndarray.view, the least significant part first", f"dtype = {d}", label=f"bitcast_{s}_{d}")
    x = np.array(1.0, np.float32)
    o.op("bitcast_convert", [x], [np.array(0x3F800000, np.uint32)], "IEEE 754: the bits of 1.0", "dtype = u32", label="bitcast_rank0")
    o.op("bitcast_convert", [np.array([1, 0, 0, 0], np.uint8)], [np.array(1, np.uint32)], "definition: little end first", "dtype = u32", label="bitcast_to_rank0")
    n += o.write()

    import jax
    o = File("reduce_precision", "reduce_precision: rounds to fewer exponent and mantissa bits.")
    for d in FLOATS:
        x = arr(d, [1.0, 1.2345, -3.1415, 1000.25, 1e-5, 3e4, NAN, INF, -0.0])
        for e, m in ((5, 10), (8, 7), (4, 3), (5, 2)):
            if d == "f16" and e > 5:
                continue
            y = jax.lax.reduce_precision(jax.numpy.asarray(x), exponent_bits=e, mantissa_bits=m)
            o.op("reduce_precision", [x], [np.asarray(y).astype(x.dtype)], "jax: lax.reduce_precision", f"exponent_bits = {e}, mantissa_bits = {m}", label=f"reduce_precision_{d}_e{e}m{m}", tol="exact")
    return n + o.write()
