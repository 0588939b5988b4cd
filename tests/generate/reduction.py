"""Cases of contractions, reductions, windows, cumulative ops and ordering."""

import functools
import jax
import jax.numpy as jnp
import numpy as np
import scipy.special as sp
from jax import lax
from evx import *
from shape import ints, seq

NAN, INF = np.nan, np.inf


def small(d, shape, k=1):
    """Small whole numbers and halves, so that sums and products are exact in every dtype."""
    n = int(np.prod(shape))
    v = ((np.arange(n) * 7 + k) % 5 - 2).reshape(shape)
    if d == "bool":
        return v > 0
    if d[0] == "u":
        return np.abs(v).astype(NAMES[d])
    if d in INTS:
        return v.astype(NAMES[d])
    v = v * 0.5
    return (v + (1j * np.roll(v, 1) if d in COMPLEX else 0)).astype(NAMES[d])


def wide(x):
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.int64 if x.dtype.kind in "iub" and x.dtype != np.uint64 else x.dtype if x.dtype == np.uint64 else np.float64)


def pairs_of(a, b):
    return f"[{ints(a)}, {ints(b)}]" if a or b else "[]"


def contraction():
    o = File("dot", "dot: batch and contracting axes, accumulation dtype.")

    def dot(x, y, batch, contract, label, acc=None, types=None, source="numpy: np.einsum of the exact values, rounded once"):
        z = lax.dot_general(jnp.asarray(wide(x)), jnp.asarray(wide(y)), ((contract[0], contract[1]), (batch[0], batch[1])))
        z = np.asarray(z).astype(NAMES[acc] if acc else x.dtype)
        attrs = f"batch = {pairs_of(*batch)}, contract = {pairs_of(*contract)}" + (f", accumulate = {acc}" if acc else "")
        o.op("dot", [x, y], [z], source, attrs, label=label, types=types)

    for d in ALL[1:]:
        dot(small(d, (2, 3)), small(d, (3, 2), 2), ((), ()), ((1,), (0,)), f"dot_{d}")
    o.op("dot", [np.array([[200, 100]], np.uint8), np.array([[3], [5]], np.uint8)], [np.array([[(600 + 500) % 256]], np.uint8)], "formula: modulo 2^8", "batch = [], contract = [[1], [0]]", label="dot_u8_wraps")
    x, y = small("f32", (2, 2, 3)), small("f32", (2, 3, 2), 3)
    dot(x, y, ((0,), (0,)), ((2,), (1,)), "dot_batch")
    dot(small("f32", (3, 2)), small("f32", (2, 3), 3), ((1,), (0,)), ((0,), (1,)), "dot_batch_trailing")
    dot(small("f32", (3,)), small("f32", (3,), 3), ((), ()), ((0,), (0,)), "dot_vectors")
    dot(small("f32", (3,)), small("f32", (2,), 3), ((), ()), ((), ()), "dot_outer")
    dot(small("f32", ()), small("f32", (2,), 3), ((), ()), ((), ()), "dot_scalar")
    dot(small("f32", (2, 3, 2)), small("f32", (2, 3, 2), 3), ((), ()), ((0, 1), (0, 1)), "dot_two_axes")
    dot(small("f32", (2, 3, 2)), small("f32", (3, 2, 2), 3), ((), ()), ((0, 1), (1, 0)), "dot_two_axes_swapped")
    dot(small("f32", (2, 1, 3)), small("f32", (2, 2, 3), 3), ((0,), (0,)), ((2,), (2,)), "dot_batch_nt")
    dot(small("f32", (2, 0)), small("f32", (0, 3), 3), ((), ()), ((1,), (0,)), "dot_empty_contraction")
    dot(small("f32", (0, 2)), small("f32", (2, 3), 3), ((), ()), ((1,), (0,)), "dot_empty_result")
    dot(small("f16", (2, 3)), small("f16", (3, 2), 2), ((), ()), ((1,), (0,)), "dot_f16_to_f32", "f32")
    dot(small("bf16", (2, 3)), small("bf16", (3, 2), 2), ((), ()), ((1,), (0,)), "dot_bf16_to_f32", "f32")
    dot(np.array([[100, -128]], np.int8), np.array([[100], [127]], np.int8), ((), ()), ((1,), (0,)), "dot_i8_to_i32", "i32")
    dot(small("f32", (2, 3)), small("f32", (3, 1), 2), ((), ()), ((1,), (0,)), "dot_f32_to_f64", "f64")
    h = arr("f16", [[2048, 1, 1, -2048]])
    o.op("dot", [h, arr("f16", [[1], [1], [1], [1]])], [arr("f16", [[2]])], "formula: the sum in f32, rounded once", "batch = [], contract = [[1], [0]]", label="dot_f16_accumulates_in_f32")
    o.op("dot", [arr("f32", [[INF, 1]]), arr("f32", [[0], [1]])], [arr("f32", [[NAN]])], "IEEE 754: inf * 0 is NaN", "batch = [], contract = [[1], [0]]", label="dot_nan")
    for b in (0, 1, 3):
        dot(small("f32", (b, 2)), small("f32", (2, 2), 2), ((), ()), ((1,), (0,)), "dot_symbolic", types=([("B", 2), (2, 2)], [("B", 2)]))
        dot(small("f32", (2, b)), small("f32", (b, 2), 2), ((), ()), ((1,), (0,)), "dot_symbolic_contraction", types=([(2, "B"), ("B", 2)], [(2, 2)]))
    n = o.write()

    o = File("convolution", "convolution: strides, padding, dilations, groups, layouts.")

    def conv(x, w, label, stride=None, pad=None, ld=None, rd=None, fg=1, bg=1, layout=("NCHW", "OIHW", "NCHW"), acc=None, rev=None):
        sp_ = [c for c in layout[0] if c not in "NC"]
        k = len(sp_)
        stride, ld, rd, pad, rev = stride or [1] * k, ld or [1] * k, rd or [1] * k, pad or [(0, 0)] * k, rev or [False] * k
        wx = wide(w)
        for i, c in enumerate(sp_):
            if rev[i]:
                wx = np.flip(wx, layout[1].index(c))
        z = lax.conv_general_dilated(jnp.asarray(wide(x)), jnp.asarray(wx), stride, pad, ld, rd, layout, fg, bg)
        z = np.asarray(z).astype(NAMES[acc] if acc else x.dtype)
        size = [w.shape[layout[1].index(c)] for c in sp_]
        rv = "[" + ", ".join("true" if r else "false" for r in rev) + "]"
        win = f"window = {{size = {ints(size)}, stride = {ints(stride)}, padding = [{', '.join(ints(p) for p in pad)}], base_dilation = {ints(ld)}, window_dilation = {ints(rd)}, reversal = {rv}}}"
        at = lambda s, names: ints([s.index(c) for c in names])
        lay = (f"layout = {{lhs = {at(layout[0], 'NC')}, lhs_spatial = {at(layout[0], sp_)}, rhs = {at(layout[1], 'OI')}, rhs_spatial = {at(layout[1], sp_)}, "
               f"out = {at(layout[2], 'NC')}, out_spatial = {at(layout[2], sp_)}}}")
        o.op("convolution", [x, w], [z], "jax: lax.conv_general_dilated of the exact values", f"{win}, {lay}, feature_groups = {fg}, batch_groups = {bg}" + (f", accumulate = {acc}" if acc else ""), label=label)

    for d in ALL[1:]:
        conv(small(d, (1, 1, 3, 3)), small(d, (1, 1, 2, 2), 2), f"convolution_{d}")
    x, w = small("f32", (1, 2, 3, 3)), small("f32", (2, 2, 2, 2), 3)
    conv(x, w, "convolution_channels")
    conv(x, w, "convolution_strides", stride=[2, 1])
    conv(x, w, "convolution_padding", pad=[(1, 0), (0, 2)])
    conv(x, w, "convolution_negative_padding", pad=[(-1, 1), (0, -1)])
    conv(x, w, "convolution_lhs_dilation", ld=[2, 1])
    conv(x, w, "convolution_rhs_dilation", rd=[2, 2])
    conv(x, w, "convolution_all", stride=[2, 2], pad=[(1, 1), (2, 0)], ld=[2, 1], rd=[1, 2])
    conv(x, w, "convolution_reversal", rev=[True, False])
    conv(small("f32", (1, 4, 3, 2)), small("f32", (4, 2, 2, 1), 3), "convolution_feature_groups", fg=2)
    conv(small("f32", (1, 3, 3, 2)), small("f32", (3, 1, 2, 1), 3), "convolution_depthwise", fg=3)
    conv(small("f32", (2, 1, 3, 2)), small("f32", (2, 1, 2, 1), 3), "convolution_batch_groups", bg=2)
    conv(small("f32", (1, 3, 3, 1)), small("f32", (2, 2, 1, 2), 3), "convolution_nhwc", layout=("NHWC", "HWIO", "NHWC"))
    conv(small("f32", (3, 1, 2)), small("f32", (2, 2, 2), 3), "convolution_1d", layout=("WNC", "IWO", "NWC"))
    conv(small("f32", (2, 3)), small("f32", (2, 3), 3), "convolution_0d", layout=("NC", "OI", "NC"))
    conv(small("f32", (1, 1, 2, 2, 2)), small("f32", (1, 1, 2, 1, 2), 3), "convolution_3d", layout=("NCDHW", "OIDHW", "NCDHW"))
    conv(small("i8", (1, 2, 3)), small("i8", (1, 2, 2), 3), "convolution_i8_to_i32", layout=("NCW", "OIW", "NCW"), acc="i32")
    conv(small("f32", (1, 1, 2)), small("f32", (1, 1, 3), 3), "convolution_window_too_large", layout=("NCW", "OIW", "NCW"))
    conv(small("f32", (0, 1, 3)), small("f32", (1, 1, 2), 3), "convolution_empty_batch", layout=("NCW", "OIW", "NCW"))
    return n + o.write()


REDUCERS = {
    "sum": (np.sum, 0), "prod": (np.prod, 1), "max": (np.max, -INF), "min": (np.min, INF),
    "and": (np.bitwise_and.reduce, -1), "or": (np.bitwise_or.reduce, 0),
}


def identity(name, d):
    if name in ("max", "min"):
        if d == "bool":
            return name == "min"
        if d in INTS:
            return imin(d) if name == "max" else imax(d)
    if name == "and":
        return True if d == "bool" else (-1 if d[0] == "i" else imax(d))
    return REDUCERS[name][1]


def reducer_dtypes(name):
    if name in ("and", "or"):
        return ["bool"] + INTS
    if name in ("max", "min"):
        return ["bool"] + INTS + FLOATS
    return INTS + FLOATS + COMPLEX


def apply(name, x, axes):
    f = REDUCERS[name][0]
    if not axes:
        return x
    if name in ("and", "or"):
        for a in sorted(axes, reverse=True):
            x = f(x, axis=a)
        return x
    if x.dtype == bool:
        return (np.any if name == "max" else np.all)(x, axis=axes)
    if x.dtype.kind in "iu":
        return f(x, axis=axes).astype(x.dtype) if name in ("max", "min") else f(x.astype(object), axis=axes, **({} if x.size else {}))
    return f(wide(x), axis=axes).astype(x.dtype)


def red(name, x, axes):
    d = word(x)
    shape = tuple(s for i, s in enumerate(x.shape) if i not in axes)
    if x.size == 0:
        return np.full(shape, identity(name, d)).astype(x.dtype) if not (d == "u64") else np.full(shape, identity(name, d), dtype=np.uint64)
    y = apply(name, x, axes)
    if x.dtype.kind in "iu":
        return wrap(d, [int(v) for v in np.asarray(y).reshape(-1)], shape)
    return np.asarray(y).reshape(shape).astype(x.dtype)


def reductions():
    n = 0
    for name in REDUCERS:
        o = File(f"reduce_{name}", f"reduce_{name}: axes, identities of empty reductions, NaN.")
        exact = "exact" if name in ("max", "min", "and", "or") else None
        for d in reducer_dtypes(name):
            x = small(d, (2, 3)) if name != "prod" else (seq(d, (2, 3)) if d not in COMPLEX else small(d, (2, 3)))
            if d in INTS and name in ("and", "or"):
                x = np.array([[7, 3, 5], [imax(d), 6, 1]], NAMES[d])
            o.op(f"reduce_{name}", [x], [red(name, x, (1,))], f"numpy: {name} over axis 1 of the exact values, rounded once", "axes = [1]", label=f"reduce_{name}_{d}", tol=exact)
            e = np.zeros((2, 0), NAMES[d])
            o.op(f"reduce_{name}", [e], [red(name, e, (1,))], "OPS: the identity of the combiner", "axes = [1]", label=f"reduce_{name}_{d}_empty", tol=exact)
        if name in ("sum", "prod"):
            x = np.array([[True, False], [False, False], [True, True]])
            o.op(f"reduce_{name}", [x], [np.any(x, 1) if name == "sum" else np.all(x, 1)], "OPS: on bool add is or, mul is and", "axes = [1]", label=f"reduce_{name}_bool", tol="exact")
        if name in ("max", "min"):
            for d in COMPLEX:
                z = [1 + 2j, 1 + 3j, -3 + 9j]
                f = (max if name == "max" else min)(z, key=lambda v: (v.real, v.imag))
                o.op(f"reduce_{name}", [arr(d, z)], [arr(d, f)], "OPS: complex numbers by (real, imag)", "axes = [0]", label=f"reduce_{name}_{d}", tol="exact")
        d = "i32" if name in ("and", "or") else "f32"
        x = small(d, (2, 3, 2))
        for axes in ((), (0,), (0, 2), (0, 1, 2)):
            o.op(f"reduce_{name}", [x], [red(name, x, axes)], "numpy", f"axes = {ints(axes)}", label=f"reduce_{name}_axes", tol=exact)
        e = np.zeros((0, 2), NAMES[d])
        o.op(f"reduce_{name}", [e], [red(name, e, (1,))], "definition: no elements", "axes = [1]", label=f"reduce_{name}_no_rows", tol=exact)
        s = small(d, ())
        o.op(f"reduce_{name}", [s], [s], "definition: rank 0", "axes = []", label=f"reduce_{name}_rank0", tol=exact)
        for b in (0, 1, 3):
            x = small(d, (b, 2))
            o.op(f"reduce_{name}", [x], [red(name, x, (0,))], "numpy; the identity for B = 0", "axes = [0]", label=f"reduce_{name}_symbolic", types=([("B", 2)], [(2,)]), tol=exact)
        if name in ("max", "min", "sum", "prod"):
            for d in FLOATS:
                x = arr(d, [[1, NAN, 2], [INF, 1, 3], [-INF, INF, 0]])
                f = {"sum": [NAN, INF, NAN], "prod": [NAN, INF, NAN], "max": [NAN, INF, INF], "min": [NAN, 1, -INF]}[name]
                o.op(f"reduce_{name}", [x], [arr(d, f)], "IEEE 754; OPS: NaN propagates", "axes = [1]", label=f"reduce_{name}_{d}_special", tol=exact)
        if name in ("max", "min"):
            o.op(f"reduce_{name}", [arr("f32", [[0.0, -0.0], [-0.0, -0.0]])], [arr("f32", [0.0, -0.0] if name == "max" else [-0.0, -0.0])], "OPS: +0 lies above -0", "axes = [1]", label=f"reduce_{name}_zeros", tol=exact)
        if name == "sum":
            o.op("reduce_sum", [arr("f16", [2048, 1, 1, 1, 1])], [arr("f16", 2052)], "OPS: f16 sums accumulate in f32 and round once", "axes = [0]", label="reduce_sum_f16_accumulates")
            o.op("reduce_sum", [arr("bf16", [256, 1, 1, 1, 1])], [arr("bf16", 260)], "OPS: bf16 sums accumulate in f32 and round once", "axes = [0]", label="reduce_sum_bf16_accumulates")
            o.op("reduce_sum", [np.array([100, 100, 100], np.int8)], [np.array(44, np.int8)], "formula: modulo 2^8", "axes = [0]", label="reduce_sum_wraps")
        n += o.write()

    o = File("reduce", "reduce with a body: in row-major order from the initial value.")
    x = arr("f32", [[1, 2, 3], [4, 5, 6]])
    o.op("reduce", [x, arr("f32", 10)], [arr("f32", [4, -5])], "formula: ((10 - 1) - 2) - 3", "axes = [1]", label="reduce_sub", regions=body("sub", "f32"))
    o.op("reduce", [x, arr("f32", 10)], [arr("f32", -11)], "formula: 10 - 21", "axes = [0, 1]", label="reduce_sub_all", regions=body("sub", "f32"))
    o.op("reduce", [np.zeros((2, 0), np.float32), arr("f32", 10)], [arr("f32", [10, 10])], "definition: the initial value", "axes = [1]", label="reduce_empty", regions=body("add", "f32"))
    for d in INTS:
        o.op("reduce", [np.array([1, 2, 4], NAMES[d]), np.array(3, NAMES[d])], [np.array(3 ^ 7, NAMES[d])], "formula: 3 xor 1 xor 2 xor 4", "axes = [0]", label=f"reduce_xor_{d}", regions=body("xor", d))
    for d in COMPLEX:
        o.op("reduce", [arr(d, [1 + 1j, 2j]), arr(d, 1)], [arr(d, (1 + 1j) * 2j)], "formula: by hand", "axes = [0]", label=f"reduce_mul_{d}", regions=body("mul", d))
    two = ("body(%a: tensor<f32>, %i: tensor<i32>, %b: tensor<f32>, %j: tensor<i32>) {\n  %p = evoxc.compare(%a, %b) {direction = ge, order = ieee} : tensor<bool>\n"
           "  %v = evoxc.select(%p, %a, %b) : tensor<f32>\n  %k = evoxc.select(%p, %i, %j) : tensor<i32>\n  yield %v, %k\n}")
    y = arr("f32", [[3, 9, 9], [5, 1, 2]])
    i = np.array([[0, 1, 2], [0, 1, 2]], np.int32)
    o.op("reduce", [y, i, arr("f32", -INF), np.array(-1, np.int32)], [arr("f32", [9, 5]), np.array([1, 0], np.int32)], "numpy: max and argmax", "axes = [1]", label="reduce_argmax", regions=two)
    cap = ("func @reduce_capture(%x: tensor<3xf32>, %k: tensor<f32>) -> tensor<f32> {\n  %z = evoxc.constant() {value = dense<0.0> : tensor<f32>} : tensor<f32>\n"
           "  %r = evoxc.reduce(%x, %z) {axes = [0]} : tensor<f32> {\n    body(%a: tensor<f32>, %b: tensor<f32>) {\n      %m = evoxc.mul(%b, %k) : tensor<f32>\n      %s = evoxc.add(%a, %m) : tensor<f32>\n      yield %s\n    }\n  }\n  return %r\n}")
    o.case(cap, [arr("f32", [1, 2, 3]), arr("f32", 2)], [arr("f32", 12)], "formula: 2 * (1 + 2 + 3)")
    n += o.write()

    for name, f in (("argmax", np.argmax), ("argmin", np.argmin)):
        o = File(name, f"{name}: the first of equals; NaN counts as {'largest' if name == 'argmax' else 'smallest'}.")
        for d in ["bool"] + INTS + FLOATS:
            x = (np.array([[1, 3, 3], [2, 0, 0]]) if d != "bool" else np.array([[0, 1, 1], [1, 0, 0]])).astype(NAMES[d])
            o.op(name, [x], [f(x.astype(float), axis=1).astype(np.int32)], f"numpy: np.{name}", "axis = 1", label=f"{name}_{d}")
        for d in FLOATS:
            x = arr(d, [[1, NAN, INF, NAN], [INF, -INF, INF, -INF], [-0.0, 0.0, -0.0, 0.0], [-INF, -INF, -INF, -INF]])
            o.op(name, [x], [f(x.astype(float), axis=1).astype(np.int32)], f"numpy: np.{name} (the first NaN; zeros are equal)", "axis = 1", label=f"{name}_{d}_special")
        x = small("f32", (2, 3, 2))
        for a in range(3):
            o.op(name, [x], [f(x, axis=a).astype(np.int32)], f"numpy: np.{name}", f"axis = {a}", label=f"{name}_axis")
        for b in (1, 4):
            x = small("i32", (b, 2))
            o.op(name, [x], [f(x, axis=0).astype(np.int32)], f"numpy: np.{name}", "axis = 0", label=f"{name}_symbolic", types=([("B", 2)], [(2,)]))
        n += o.write()
    return n


def window(size, stride=None, pad=None, base=None, dil=None):
    k = len(size)
    stride, pad, base, dil = stride or [1] * k, pad or [(0, 0)] * k, base or [1] * k, dil or [1] * k
    text = (f"window = {{size = {ints(size)}, stride = {ints(stride)}, padding = [{', '.join(ints(p) for p in pad)}], base_dilation = {ints(base)}, "
            f"window_dilation = {ints(dil)}, reversal = [{', '.join(['false'] * k)}]}}")
    return text, size, stride, pad, base, dil


def windows_of(x, w, fill):
    """Each window's elements, with the padding and dilation of the specification."""
    _, size, stride, pad, base, dil = w
    p = np.asarray(lax.pad(jnp.asarray(x), jnp.asarray(fill, dtype=x.dtype), [(lo, hi, b - 1) for (lo, hi), b in zip(pad, base)]))
    out = [max(0, (e - (s - 1) * d - 1) // st + 1) if e >= (s - 1) * d + 1 else 0 for e, s, d, st in zip(p.shape, size, dil, stride)]
    for at in np.ndindex(*out):
        yield p[tuple(slice(i * st, i * st + (s - 1) * d + 1, d) for i, st, s, d in zip(at, stride, size, dil))]
    return


def out_shape(x, w):
    _, size, stride, pad, base, dil = w
    es = [((e - 1) * b + 1 if e else 0) + lo + hi for e, b, (lo, hi) in zip(x.shape, base, pad)]
    return tuple(max(0, (e - (s - 1) * d - 1) // st + 1) if e >= (s - 1) * d + 1 else 0 for e, s, d, st in zip(es, size, dil, stride))


def pools():
    n = 0
    shapes = {"valid": window([2, 2]), "strides": window([2, 2], stride=[1, 2]), "padding": window([2, 3], pad=[(1, 0), (1, 1)]),
              "negative": window([2, 2], pad=[(-1, 1), (0, 0)]), "base_dilation": window([2, 1], base=[2, 1]), "window_dilation": window([2, 2], dil=[2, 2]), "large": window([4, 1])}
    for name in REDUCERS:
        o = File(f"reduce_window_{name}", f"reduce_window_{name}: padding counts as the identity.")
        exact = "exact" if name in ("max", "min", "and", "or") else None

        def pool(x, w, label):
            d = word(x)
            fill = np.array(identity(name, d)).astype(x.dtype) if d != "u64" else np.array(identity(name, d), dtype=np.uint64)
            y = np.array([red(name, np.ascontiguousarray(v).reshape(-1), (0,)) for v in windows_of(x, w, fill)], dtype=x.dtype).reshape(out_shape(x, w))
            o.op(f"reduce_window_{name}", [x], [y], "StableHLO spec: reduce_window, by direct evaluation in numpy", w[0], label=label, tol=exact)

        for d in reducer_dtypes(name):
            pool(small(d, (3, 3)), window([2, 2], pad=[(0, 1), (0, 0)]), f"reduce_window_{name}_{d}")
        x = small("i32" if name in ("and", "or") else "f32", (3, 3))
        for k, w in shapes.items():
            pool(x, w, f"reduce_window_{name}_{k}")
        if name in ("max", "sum"):
            pool(np.zeros((0, 2), np.float32), window([1, 2]), f"reduce_window_{name}_no_rows")
            pool(arr("f32", [[1, NAN, 2, INF]]), window([1, 2]), f"reduce_window_{name}_nan")
        n += o.write()

    o = File("reduce_window", "reduce_window with a body.")
    x = arr("f32", [1, 2, 3, 4])
    o.op("reduce_window", [x, arr("f32", 10)], [arr("f32", [7, 5, 3])], "formula: (10 - 1) - 2 …", window([2])[0], label="reduce_window_sub", regions=body("sub", "f32"))
    o.op("reduce_window", [x, arr("f32", 10)], [arr("f32", [-1, 7, 5, 3])], "formula: padding counts as the initial value: (10 - 10) - 1", window([2], pad=[(1, 0)])[0], label="reduce_window_pad", regions=body("sub", "f32"))
    two = "body(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>) {\n  %s = evoxc.add(%a, %c) : tensor<f32>\n  %t = evoxc.max(%b, %d) : tensor<i32>\n  yield %s, %t\n}"
    o.op("reduce_window", [x, np.array([4, 1, 7, 2], np.int32), arr("f32", 0), np.array(0, np.int32)], [arr("f32", [3, 5, 7]), np.array([4, 7, 7], np.int32)], "formula: sums and maxima", window([2])[0], label="reduce_window_two", regions=two)
    n += o.write()

    for name in ("max", "min"):
        o = File(f"select_and_scatter_{name}", f"select_and_scatter_{name}: the gradient of pooling.")

        def sas(x, s, w, label):
            better = (lambda a, b: a > b) if name == "max" else (lambda a, b: a < b)
            _, size, stride, pad, base, dil = w
            y = np.zeros_like(wide(x))
            for at in np.ndindex(*s.shape):
                best = None
                for k in np.ndindex(*size):
                    p = tuple(a * st + i - lo for a, st, i, (lo, _) in zip(at, stride, k, pad))
                    if all(0 <= q < e for q, e in zip(p, x.shape)) and (best is None or better(x[p], x[best])):
                        best = p
                if best is not None:
                    y[best] += wide(s)[at]
            o.op(f"select_and_scatter_{name}", [x, s], [y.astype(x.dtype)], "StableHLO spec: select_and_scatter, by direct evaluation in numpy", w[0], label=label)

        for d in FLOATS + INTS:
            x = (np.array([[4, 1, 3], [2, 2, 5]])).astype(NAMES[d])
            sas(x, np.array([[1, 2]]).astype(NAMES[d]), window([2, 2]), f"select_and_scatter_{name}_{d}")
        x = arr("f32", [[4, 1, 3, 1], [2, 7, 5, 7], [0, 0, 0, 0], [9, 1, 2, 8]])
        sas(x, seq("f32", (2, 2)), window([2, 2], stride=[2, 2]), f"select_and_scatter_{name}_strides")
        sas(x, seq("f32", (3, 3)), window([2, 2]), f"select_and_scatter_{name}_overlap")
        sas(x, seq("f32", (3, 3)), window([2, 2], stride=[2, 2], pad=[(1, 1), (1, 1)]), f"select_and_scatter_{name}_padding")
        sas(np.zeros((2, 2), np.float32), seq("f32", (1, 1)), window([2, 2]), f"select_and_scatter_{name}_ties")
        n += o.write()

    o = File("select_and_scatter", "select_and_scatter with bodies.")
    x, s = arr("f32", [3, 1, 4, 1]), arr("f32", [10, 20])
    regions = body("compare", "f32", out="bool", attrs=" {direction = ge, order = ieee}", name="select") + "\n" + body("add", "f32", name="scatter")
    o.op("select_and_scatter", [x, s, arr("f32", 0)], [arr("f32", [10, 0, 20, 0])], "StableHLO spec: by hand", window([2], stride=[2])[0], label="select_and_scatter_ge", regions=regions)
    regions = body("compare", "f32", out="bool", attrs=" {direction = le, order = ieee}", name="select") + "\n" + body("sub", "f32", name="scatter")
    o.op("select_and_scatter", [x, arr("f32", [10, 20, 30]), arr("f32", 1)], [arr("f32", [1, 1 - 10 - 20, 1, 1 - 30])], "StableHLO spec: by hand", window([2])[0], label="select_and_scatter_le", regions=regions)
    return n + o.write()


def lse(x, axis):
    return np.logaddexp.accumulate(x, axis=axis)


def cumulative():
    n = 0
    fs = {"sum": np.cumsum, "prod": np.cumprod, "max": np.maximum.accumulate, "min": np.minimum.accumulate, "logsumexp": lse}
    for name, f in fs.items():
        o = File(f"cumulative_{name}", f"cumulative_{name}: along an axis, both ways.")
        tol = {"sum": "reduction", "prod": "reduction", "logsumexp": "transcendental"}.get(name, "exact")
        kinds = FLOATS if name == "logsumexp" else FLOATS + INTS + (COMPLEX if name in ("sum", "prod") else [])
        for d in kinds:
            x = small(d, (2, 3)) if name != "prod" else np.array([[1, 2, 3], [3, 2, 2]]).astype(NAMES[d])
            for rev in (False, True):
                z = x[:, ::-1] if rev else x
                y = f(wide(z), axis=1).astype(x.dtype)
                o.op(f"cumulative_{name}", [x], [y[:, ::-1] if rev else y], f"numpy: {f.__name__ if name != 'logsumexp' else 'np.logaddexp.accumulate'} of the exact values, rounded once", "axis = 1" + (", reverse = true" if rev else ""), label=f"cumulative_{name}_{d}{'_reverse' if rev else ''}", tol=tol)
        x = small("f32", (3, 2))
        o.op(f"cumulative_{name}", [x], [f(wide(x), axis=0).astype(x.dtype)], "numpy", "axis = 0", label=f"cumulative_{name}_axis0", tol=tol)
        e = np.zeros((0,), np.float32)
        o.op(f"cumulative_{name}", [e], [e], "definition: no elements", "axis = 0", label=f"cumulative_{name}_empty", tol=tol)
        sp_ = {"sum": ([1, INF, 2, NAN, 1], [1, INF, INF, NAN, NAN]), "prod": ([2, INF, 0, 1, 3], [2, INF, NAN, NAN, NAN]), "max": ([1, INF, 2, NAN, 1], [1, INF, INF, NAN, NAN]),
               "min": ([1, -INF, 2, NAN, 1], [1, -INF, -INF, NAN, NAN]), "logsumexp": ([-INF, -INF, 0, -INF, INF], [-INF, -INF, 0, 0, INF])}[name]
        for d in ("f32", "f64"):
            o.op(f"cumulative_{name}", [arr(d, sp_[0])], [arr(d, sp_[1])], "IEEE 754: by hand", "axis = 0", label=f"cumulative_{name}_{d}_special", tol=tol)
        if name == "logsumexp":
            o.op("cumulative_logsumexp", [arr("f32", [1000, 1000, 1001])], [arr("f32", lse(np.array([1000, 1000, 1001.0]), 0))], "numpy: np.logaddexp.accumulate, no overflow", "axis = 0", label="cumulative_logsumexp_large", tol=tol)
            o.op("cumulative_logsumexp", [arr("f32", [0, NAN, 1])], [arr("f32", [0, NAN, NAN])], "IEEE 754: NaN propagates", "axis = 0", label="cumulative_logsumexp_nan", tol=tol)
        for b in (0, 1, 4):
            x = small("f32", (b,))
            o.op(f"cumulative_{name}", [x], [f(wide(x), axis=0).astype(x.dtype)], "numpy", "axis = 0", label=f"cumulative_{name}_symbolic", types=([("B",)], [("B",)]), tol=tol)
        n += o.write()
    return n


def sort_key(v, d):
    """NaN last, whatever its sign; -0 equals +0."""
    if d in COMPLEX:
        return (v.real, v.imag)
    v = float(v) if d in FLOATS else int(v)
    return (1, 0) if v != v else (0, v)


def order(col, d, desc):
    ix = list(range(len(col)))
    def cmp(i, j):
        a, b = sort_key(col[i], d), sort_key(col[j], d)
        c = (a > b) - (a < b)
        return -c if desc else c
    return sorted(ix, key=functools.cmp_to_key(cmp))


def ordering():
    o = File("sort", "sort: keys, directions, stability, NaN, several operands.")
    for d in ["bool"] + INTS + FLOATS:
        x = np.array([3, 1, 2, 1, 0]).astype(NAMES[d]) if d[0] != "i" else np.array([3, imin(d), -2, imax(d), 0], NAMES[d])
        i = np.arange(5, dtype=np.int32)
        for desc in (False, True):
            p = order(x, d, desc)
            o.op("sort", [x, i], [x[p], i[p]], "python: sorted, stable", f"axis = 0, keys = [{'descending' if desc else 'ascending'}], stable = true", label=f"sort_{d}{'_descending' if desc else ''}")
    for d in FLOATS:
        x = arr(d, [1, NAN, -INF, -0.0, INF, 0.0, NAN, -1, -0.0])
        i = np.arange(9, dtype=np.int32)
        for desc in (False, True):
            p = order(x, d, desc)
            o.op("sort", [x, i], [x[p], i[p]], "OPS: NaN last (first when descending), zeros equal, stable", f"axis = 0, keys = [{'descending' if desc else 'ascending'}], stable = true", label=f"sort_{d}_special{'_descending' if desc else ''}")
    neg = np.array([0xFFC00000, 0x3F800000, 0x7FC00000, 0xBF800000], np.uint32).view(np.float32)
    i = np.arange(4, dtype=np.int32)
    o.cases.append("// source: OPS: all NaN are equal and last, whatever their sign\n// input: dense<[0xFFC00000, 1.0, 0x7FC00000, -1.0]> : tensor<4xf32>\n// input: " + lit(i) + "\n// expect: dense<[-1.0, 1.0, 0x7FC00000, 0x7FC00000]> : tensor<4xf32>\n// expect: " + lit(np.array([3, 1, 0, 2], np.int32)) +
                   "\nfunc @sort_negative_nan(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {\n  %a, %b = evoxc.sort(%x, %i) {axis = 0, keys = [ascending], stable = true} : tensor<4xf32>, tensor<4xi32>\n  return %a, %b\n}\n")
    x = small("f32", (3, 3))
    for a in (0, 1):
        o.op("sort", [x], [np.sort(x, a)], "numpy: np.sort", f"axis = {a}, keys = [ascending]", label="sort_axis")
    a, b, c = np.array([1, 0, 1, 0], np.int32), arr("f32", [5, 6, 4, 7]), np.array([True, False, False, True])
    p = sorted(range(4), key=lambda k: (a[k], -b[k]))
    o.op("sort", [a, b, c], [a[p], b[p], c[p]], "python: sorted by (a ascending, b descending)", "axis = 0, keys = [ascending, descending], stable = true", label="sort_two_keys")
    o.op("sort", [np.zeros((0,), np.float32)], [np.zeros((0,), np.float32)], "definition: no elements", "axis = 0, keys = [ascending]", label="sort_empty")
    for k in (0, 1, 5):
        x = small("i32", (k,))
        o.op("sort", [x], [np.sort(x)], "numpy: np.sort", "axis = 0, keys = [ascending]", label="sort_symbolic", types=([("B",)], [("B",)]))
    n = o.write()

    o = File("sort_by", "sort_by: a comparator body.")
    lt = "body(%a: tensor<f32>, %b: tensor<f32>) {\n  %x = evoxc.abs(%a) : tensor<f32>\n  %y = evoxc.abs(%b) : tensor<f32>\n  %p = evoxc.compare(%x, %y) {direction = lt, order = ieee} : tensor<bool>\n  yield %p\n}"
    x = arr("f32", [-3, 1, 2, -1, 0])
    o.op("sort_by", [x], [arr("f32", [0, 1, -1, 2, -3])], "python: sorted by abs, stable", "axis = 0, stable = true", label="sort_by_abs", regions=lt)
    two = "body(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<f32>) {\n  %p = evoxc.compare(%c, %d) {direction = gt, order = ieee} : tensor<bool>\n  yield %p\n}"
    o.op("sort_by", [np.array([1, 2, 3, 4], np.int32), arr("f32", [5, 8, 6, 8])], [np.array([2, 4, 3, 1], np.int32), arr("f32", [8, 8, 6, 5])], "python: sorted by -second, stable", "axis = 0, stable = true", label="sort_by_second", regions=two)
    m = small("i32", (2, 3))
    gt = "body(%a: tensor<i32>, %b: tensor<i32>) {\n  %p = evoxc.compare(%a, %b) {direction = gt, order = ieee} : tensor<bool>\n  yield %p\n}"
    o.op("sort_by", [m], [-np.sort(-m, 1)], "numpy: -np.sort(-x)", "axis = 1, stable = true", label="sort_by_descending", regions=gt)
    n += o.write()

    o = File("top_k", "top_k: descending, the first of equals, NaN first.")
    for d in INTS + FLOATS:
        x = np.array([[3, 1, 3, 2], [0, 5, 5, 5]]).astype(NAMES[d])
        p = np.array([order(r, d, True)[:2] for r in x])
        o.op("top_k", [x], [np.take_along_axis(x, p, 1), p.astype(np.int32)], "python: sorted, descending, stable", "k = 2", label=f"top_k_{d}")
    for d in FLOATS:
        x = arr(d, [1, NAN, INF, -INF, NAN, 0])
        p = np.array(order(x, d, True)[:4])
        o.op("top_k", [x], [x[p], p.astype(np.int32)], "OPS: NaN first, of equal ones the first", "k = 4", label=f"top_k_{d}_nan")
    x = small("f32", (2, 3))
    o.op("top_k", [x], [np.zeros((2, 0), np.float32), np.zeros((2, 0), np.int32)], "definition: no elements", "k = 0", label="top_k_zero")
    p = np.array([order(r, "f32", True) for r in x])
    o.op("top_k", [x], [np.take_along_axis(x, p, 1), p.astype(np.int32)], "python: sorted, descending, stable", "k = 3", label="top_k_all")
    o.op("top_k", [x], [np.take_along_axis(x, p, 1), p.astype(np.int32)], "python: sorted, descending, stable", "k = 3", label="top_k_symbolic", types=([("B", 3)], [("B", 3), ("B", 3)]))
    return n + o.write()
