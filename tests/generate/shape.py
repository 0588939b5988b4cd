"""Cases of constants, shape ops and indexing."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from evx import *


def seq(d, shape, start=1):
    n = int(np.prod(shape))
    if d == "bool":
        return (np.arange(n) % 3 == 0).reshape(shape)
    return np.arange(start, start + n).astype(NAMES[d]).reshape(shape)


def ints(v):
    return "[" + ", ".join(str(i) for i in v) + "]"


def constants():
    o = File("constant", "constant: dense, splat, non-finite.")
    for d in ALL:
        a = seq(d, (2, 3))
        o.case(f"func @constant_{d}() -> {ty(a)} {{\n  %c = evoxc.constant() {{value = {lit(a)}}} : {ty(a)}\n  return %c\n}}", [], [a], "definition")
        s = seq(d, ())
        o.case(f"func @splat_{d}() -> {ty(a)} {{\n  %c = evoxc.constant() {{value = splat<{nest(s)}> : {ty(a)}}} : {ty(a)}\n  return %c\n}}", [], [np.full_like(a, s)], "definition")
    a = np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45], np.float32)
    o.case(f"func @constant_special() -> {ty(a)} {{\n  %c = evoxc.constant() {{value = {lit(a)}}} : {ty(a)}\n  return %c\n}}", [], [a], "definition")
    for b in (0, 1, 3):
        x = np.arange(2 * b, dtype=np.float32).reshape(b, 2)
        o.case("func @splat_symbolic(%x: tensor<Bx2xf32>) -> tensor<Bx2xf32> {\n"
               "  %c = evoxc.constant() {value = splat<2.5> : tensor<Bx2xf32>} : tensor<Bx2xf32>\n"
               "  %y = evoxc.add(%x, %c) : tensor<Bx2xf32>\n  return %y\n}", [x], [x + np.float32(2.5)], "numpy: x + 2.5")
    n = o.write()

    o = File("iota", "iota: counts along one axis.")
    for d in ALL[1:]:
        for shape, axis in (((4,), 0), ((2, 3), 0), ((2, 3), 1), ((2, 1, 3), 2)) if d in ("f32", "i32") else (((2, 3), 1),):
            y = np.broadcast_to(np.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))]), shape).astype(NAMES[d])
            o.op("iota", [], [y], "numpy: np.arange, broadcast", f"dtype = {d}, shape = {ints(shape)}, axis = {axis}", label=f"iota_{d}")
    o.op("iota", [], [np.zeros((0, 2), np.int32)], "definition: no elements", "dtype = i32, shape = [0, 2], axis = 0", label="iota_empty")
    y = np.array([(0, 0), (1, 0), (2, 0)])
    for b in (0, 1, 4):
        x = np.zeros((b,), np.float32)
        o.case("func @iota_symbolic(%x: tensor<Bxf32>) -> tensor<Bxi32> {\n  %i = evoxc.iota() {dtype = i32, shape = [B], axis = 0} : tensor<Bxi32>\n  return %i\n}",
               [x], [np.arange(b, dtype=np.int32)], "numpy: np.arange(B)")
    y = np.arange(300).astype(np.float32).astype(BF16)[256:262]
    o.case("func @iota_bf16_round() -> tensor<6xbf16> {\n  %i = evoxc.iota() {dtype = bf16, shape = [262], axis = 0} : tensor<262xbf16>\n"
           "  %y = evoxc.slice(%i) {start = [256], limit = [262], stride = [1]} : tensor<6xbf16>\n  return %y\n}", [], [y], "StableHLO spec: each index converted to the dtype")
    n += o.write()

    o = File("dim_size", "dim_size: the value of an extent at run time.")
    for e, f in (("B", lambda b: b), ("(2*B + 1)", lambda b: 2 * b + 1), ("7", lambda b: 7)):
        for d in ("i32", "i64", "u32"):
            for b in (0, 5) if d == "i32" else (3,):
                o.case(f"func @dim_size_{d}(%x: tensor<Bxf32>) -> tensor<{d}> {{\n  %n = evoxc.dim_size() {{extent = {e}, dtype = {d}}} : tensor<{d}>\n  return %n\n}}",
                       [np.zeros(b, np.float32)], [np.array(f(b), NAMES[d])], f"formula: {e} for B = {b}")
    return n + o.write()


def shapes():
    o = File("broadcast_in_dim", "broadcast_in_dim: new axes, repeated axes of size 1, symbolic extents.")
    for d in ALL:
        x = seq(d, (3,))
        o.op("broadcast_in_dim", [x], [np.broadcast_to(x, (2, 3))], "numpy: np.broadcast_to", "shape = [2, 3], dims = [1]", label=f"broadcast_{d}")
    for xs, shape, dims in (((), (2, 2), ()), ((2,), (2, 3), (0,)), ((2, 1), (2, 3), (0, 1)), ((1, 3), (2, 3), (0, 1)), ((1,), (3,), (0,)), ((2, 3), (2, 1, 3), (0, 2)), ((0,), (2, 0), (1,)), ((3,), (0, 3), (1,)), ((1,), (0,), (0,))):
        x = seq("f32", xs)
        y = np.asarray(lax.broadcast_in_dim(x, shape, dims))
        o.op("broadcast_in_dim", [x], [y], "jax: lax.broadcast_in_dim", f"shape = {ints(shape)}, dims = {ints(dims)}", label="broadcast")
    for b in (0, 1, 3):
        x = seq("f32", (2,))
        z = np.zeros((b,), np.int32)
        o.case("func @broadcast_symbolic(%z: tensor<Bxi32>, %x: tensor<2xf32>) -> tensor<Bx2xf32> {\n"
               "  %y = evoxc.broadcast_in_dim(%x) {shape = [B, 2], dims = [1]} : tensor<Bx2xf32>\n  return %y\n}", [z, x], [np.broadcast_to(x, (b, 2))], "numpy: np.broadcast_to")
    n = o.write()

    o = File("reshape", "reshape: row-major order.")
    for d in ALL:
        x = seq(d, (2, 3))
        o.op("reshape", [x], [x.reshape(3, 2)], "numpy: np.reshape", "shape = [3, 2]", label=f"reshape_{d}")
    for a, b in (((6,), (1, 2, 3)), ((1, 1), ()), ((), (1,)), ((0, 3), (3, 0)), ((2, 2), (4,))):
        x = seq("f32", a)
        o.op("reshape", [x], [x.reshape(b)], "numpy: np.reshape", f"shape = {ints(b)}", label="reshape")
    for b in (0, 1, 3):
        x = seq("i32", (b, 2, 2))
        o.op("reshape", [x], [x.reshape(b, 4)], "numpy: np.reshape", "shape = [B, 4]", label="reshape_symbolic", types=([("B", 2, 2)], [("B", 4)]))
        o.op("reshape", [x], [x.reshape(-1)], "numpy: np.reshape", "shape = [(4*B)]", label="reshape_flat", types=([("B", 2, 2)], [("[4*B]",)]))
    n += o.write()

    o = File("transpose", "transpose: axis i of the result is axis perm[i].")
    for d in ALL:
        x = seq(d, (2, 3))
        o.op("transpose", [x], [x.T], "numpy: np.transpose", "perm = [1, 0]", label=f"transpose_{d}")
    for shape, perm in (((2, 3, 2), (2, 0, 1)), ((2, 3, 2), (0, 2, 1)), ((1, 4), (1, 0)), ((), ()), ((3,), (0,)), ((0, 2), (1, 0)), ((2, 1, 3, 2), (3, 1, 0, 2))):
        x = seq("f32", shape)
        o.op("transpose", [x], [x.transpose(perm)], "numpy: np.transpose", f"perm = {ints(perm)}", label="transpose")
    for b in (1, 3):
        x = seq("f32", (b, 2))
        o.op("transpose", [x], [x.T], "numpy: np.transpose", "perm = [1, 0]", label="transpose_symbolic", types=([("B", 2)], [(2, "B")]))
    n += o.write()

    o = File("slice", "slice: strides, empty results, symbolic limits.")
    for d in ALL:
        x = seq(d, (6,))
        o.op("slice", [x], [x[1:6:2]], "numpy: x[1:6:2]", "start = [1], limit = [6], stride = [2]", label=f"slice_{d}")
    for shape, s, l, st in (((4, 5), (1, 0), (4, 5), (2, 3)), ((4, 5), (0, 4), (4, 5), (1, 1)), ((5,), (0,), (5,), (7,)), ((5,), (2,), (2,), (1,)), ((5,), (5,), (5,), (1,)), ((), (), (), ()), ((2, 3), (0, 0), (2, 3), (1, 1)), ((0, 3), (0, 1), (0, 3), (1, 1))):
        x = seq("f32", shape)
        y = x[tuple(slice(a, b, c) for a, b, c in zip(s, l, st))]
        o.op("slice", [x], [y], "numpy: x[start:limit:stride]", f"start = {ints(s)}, limit = {ints(l)}, stride = {ints(st)}", label="slice")
    for b in (2, 3, 6):
        x = seq("f32", (b,))
        o.op("slice", [x], [x[1:]], "numpy: x[1:]", "start = [1], limit = [B], stride = [1]", label="slice_symbolic", types=([("B",)], [("[B - 1]",)]))
        o.op("slice", [x], [x[: b - 1]], "numpy: x[:B - 1]", "start = [0], limit = [(B - 1)], stride = [1]", label="slice_symbolic_limit", types=([("B",)], [("[B - 1]",)]))
    n += o.write()

    o = File("pad", "pad: low, high and interior; negative ones cut.")
    for d in ALL:
        x, v = seq(d, (3,)), seq(d, ())
        y = np.concatenate([[v], x, [v, v]]).astype(x.dtype)
        o.op("pad", [x, v], [y], "numpy: np.concatenate", "low = [1], high = [2], interior = [0]", label=f"pad_{d}")
    for shape, lo, hi, inner in (((3,), (0,), (0,), (2,)), ((3,), (-1,), (1,), (0,)), ((3,), (1,), (-2,), (1,)), ((3,), (-1,), (-1,), (2,)), ((2, 2), (1, 0), (0, 1), (0, 1)), ((4,), (-2,), (-2,), (0,)), ((0,), (2,), (1,), (0,)), ((0,), (2,), (1,), (3,)), ((), (), (), ()), ((1,), (1,), (1,), (5,)), ((2, 3), (-1, 1), (2, -2), (1, 0)), ((3,), (-4,), (5,), (0,))):
        x, v = seq("f32", shape), np.array(-9, np.float32)
        y = np.asarray(lax.pad(x, v, list(zip(lo, hi, inner))))
        o.op("pad", [x, v], [y], "jax: lax.pad", f"low = {ints(lo)}, high = {ints(hi)}, interior = {ints(inner)}", label="pad")
    for b in (0, 1, 3):
        x, v = seq("f32", (b,)), np.array(0, np.float32)
        o.op("pad", [x, v], [np.pad(x, (2, 1))], "numpy: np.pad", "low = [2], high = [1], interior = [0]", label="pad_symbolic", types=([("B",), ()], [("[B + 3]",)]))
    n += o.write()

    o = File("concatenate", "concatenate: any number of operands.")
    for d in ALL:
        x, y = seq(d, (2, 2)), seq(d, (1, 2), 7)
        o.op("concatenate", [x, y], [np.concatenate([x, y])], "numpy: np.concatenate", "axis = 0", label=f"concatenate_{d}")
    a, b, c = seq("f32", (2, 1)), seq("f32", (2, 2), 10), seq("f32", (2, 0))
    o.op("concatenate", [a, b, c, a], [np.concatenate([a, b, c, a], 1)], "numpy: np.concatenate", "axis = 1", label="concatenate_four")
    o.op("concatenate", [b], [b], "numpy: np.concatenate", "axis = 1", label="concatenate_one")
    for k in (0, 1, 3):
        x, y = seq("f32", (k,)), seq("f32", (2,), 10)
        o.op("concatenate", [x, y, x], [np.concatenate([x, y, x])], "numpy: np.concatenate", "axis = 0", label="concatenate_symbolic", types=([("B",), (2,), ("B",)], [("[2*B + 2]",)]))
    n += o.write()

    o = File("reverse", "reverse.")
    for d in ALL:
        x = seq(d, (2, 3))
        o.op("reverse", [x], [x[:, ::-1]], "numpy: np.flip", "axes = [1]", label=f"reverse_{d}")
    for shape, axes in (((2, 3), (0, 1)), ((2, 3), ()), ((1, 3), (0,)), ((0, 2), (0, 1)), ((2, 2, 2), (0, 2)), ((), ())):
        x = seq("f32", shape)
        o.op("reverse", [x], [np.flip(x, axes)], "numpy: np.flip", f"axes = {ints(axes)}", label="reverse")
    for b in (1, 4):
        x = seq("i32", (b,))
        o.op("reverse", [x], [x[::-1]], "numpy: np.flip", "axes = [0]", label="reverse_symbolic", types=([("B",)], [("B",)]))
    return n + o.write()


def gdims(offset=(), collapsed=(), ob=(), ib=(), start=(), iv=0):
    text = f"dims = {{offset = {ints(offset)}, collapsed = {ints(collapsed)}, operand_batching = {ints(ob)}, indices_batching = {ints(ib)}, start_map = {ints(start)}, index_vector = {iv}}}"
    return text, lax.GatherDimensionNumbers(offset, collapsed, start, ob, ib)


def sdims(window=(), inserted=(), ob=(), ib=(), smap=(), iv=0):
    text = f"dims = {{update_window = {ints(window)}, inserted = {ints(inserted)}, operand_batching = {ints(ob)}, indices_batching = {ints(ib)}, scatter_map = {ints(smap)}, index_vector = {iv}}}"
    return text, lax.ScatterDimensionNumbers(window, inserted, smap, ob, ib)


def indexing():
    o = File("gather", "gather: clamped starts, batching axes, slices.")

    def gather(x, i, spec, sizes, label, implicit=False):
        text, dims = gdims(**spec)
        ix = i[..., None] if implicit else (i if spec["iv"] == i.ndim - 1 else np.moveaxis(i, spec["iv"], -1))
        y = np.asarray(lax.gather(jnp.asarray(x), jnp.asarray(ix), dims, sizes, mode="clip"))
        o.op("gather", [x, i], [y], "jax: lax.gather, mode clip", f"{text}, sizes = {ints(sizes)}", label=label)

    for d in ALL:
        x, i = seq(d, (4, 2)), np.array([2, 0, 3], np.int32)
        gather(x, i, dict(offset=(1,), collapsed=(0,), start=(0,), iv=1), (1, 2), f"gather_rows_{d}", implicit=True)
    x = seq("f32", (4, 3))
    for it in ("i32", "i64", "u8", "u32", "i8", "u64", "i16", "u16"):
        gather(x, np.array([[1], [3]], NAMES[it]), dict(offset=(1,), collapsed=(0,), start=(0,), iv=1), (1, 3), f"gather_index_{it}")
    gather(x, np.array([[-5], [9], [3]], np.int32), dict(offset=(1,), collapsed=(0,), start=(0,), iv=1), (1, 3), "gather_clamped")
    gather(x, np.array([[3], [-1]], np.int32), dict(offset=(1, 2), collapsed=(), start=(0,), iv=1), (2, 3), "gather_clamped_slice")
    gather(x, np.array([[1, 2], [3, 0]], np.int32), dict(collapsed=(0, 1), start=(0, 1), iv=1), (1, 1), "gather_points")
    gather(x, np.array([[1, 2], [3, 0]], np.int32), dict(collapsed=(0, 1), start=(1, 0), iv=1), (1, 1), "gather_points_swapped")
    gather(x, np.array([[1, 3], [2, 0]], np.int32), dict(collapsed=(0, 1), start=(0, 1), iv=0), (1, 1), "gather_vector_first")
    gather(x, np.array([1, 1], np.int32), dict(offset=(0, 1), start=(0, 1), iv=0), (2, 2), "gather_one_window")
    gather(x, np.array([[[0], [1]], [[2], [3]]], np.int32), dict(offset=(2,), collapsed=(0,), start=(0,), iv=2), (1, 2), "gather_batch_of_rows")
    gather(x, np.array([[[0], [1]], [[2], [3]]], np.int32), dict(offset=(0,), collapsed=(0,), start=(0,), iv=2), (1, 2), "gather_offset_first")
    gather(seq("f32", (2, 4)), np.array([[[0], [3]], [[9], [1]]], np.int32), dict(collapsed=(1,), ob=(0,), ib=(0,), start=(1,), iv=2), (1, 1), "gather_batched")
    gather(seq("i32", (2, 3, 2)), np.array([[2], [0]], np.int32), dict(offset=(1,), collapsed=(1,), ob=(0,), ib=(0,), start=(1,), iv=1), (1, 1, 2), "gather_batched_rows")
    gather(x, np.zeros((0, 1), np.int32), dict(offset=(1,), collapsed=(0,), start=(0,), iv=1), (1, 3), "gather_no_indices")
    for b in (0, 1, 3):
        i = (np.arange(b, dtype=np.int32) * 2 - 1)[:, None]
        y = x[np.clip(i[:, 0], 0, 3)]
        o.op("gather", [x, i], [y], "numpy: x[clip(i)]", gdims(offset=(1,), collapsed=(0,), start=(0,), iv=1)[0] + ", sizes = [1, 3]", label="gather_symbolic", types=([(4, 3), ("B", 1)], [("B", 3)]))
    n = o.write()

    modes = {"set": lax.scatter, "add": lax.scatter_add, "mul": lax.scatter_mul, "min": lax.scatter_min, "max": lax.scatter_max}
    for name, f in modes.items():
        o = File(f"scatter_{name}", f"scatter_{name}: duplicates in order, out-of-bounds updates dropped.")

        def scatter(x, i, u, spec, label, implicit=False):
            text, dims = sdims(**spec)
            ix = i[..., None] if implicit else (i if spec["iv"] == i.ndim - 1 else np.moveaxis(i, spec["iv"], -1))
            y = np.asarray(f(jnp.asarray(x), jnp.asarray(ix), jnp.asarray(u), dims, mode="drop"))
            o.op(f"scatter_{name}", [x, i, u], [y], f"jax: lax.{f.__name__}, mode drop", text, label=label, tol="exact" if x.dtype.kind != "c" else "elementwise")

        for d in ALL:
            if d == "bool" and name != "set" or d in COMPLEX and name in ("min", "max"):
                continue
            x, i, u = seq(d, (4, 2)), np.array([2, 0], np.int32), seq(d, (2, 2), 3)
            scatter(x, i, u, dict(window=(1,), inserted=(0,), smap=(0,), iv=1), f"scatter_{name}_{d}", implicit=True)
        x = seq("i32", (5,))
        scatter(x, np.array([[1], [-1], [5], [4]], np.int32), seq("i32", (4,), 10), dict(inserted=(0,), smap=(0,), iv=1), f"scatter_{name}_dropped")
        i, u = np.array([[4], [2], [-1]], np.int32), seq("i32", (3, 2), 10)
        y = x.copy()
        for at, v in ((4, 10), (2, 12), (3, 13), (0, 15)):
            y[at] = {"set": v, "add": y[at] + v, "mul": y[at] * v, "min": min(y[at], v), "max": max(y[at], v)}[name]
        o.op(f"scatter_{name}", [x, i, u], [y], "StableHLO spec: scatter; of a window that sticks out the elements inside count", sdims(window=(1,), smap=(0,), iv=1)[0], label=f"scatter_{name}_window_partly_outside")
        if name != "set":
            scatter(x, np.array([[1], [1], [1]], np.int32), np.array([2, 5, -3], np.int32), dict(inserted=(0,), smap=(0,), iv=1), f"scatter_{name}_repeated")
        else:
            i, u = np.array([[1], [1], [1]], np.int32), np.array([2, 5, -3], np.int32)
            o.op("scatter_set", [x, i, u], [np.array([1, -3, 3, 4, 5], np.int32)], "OPS: in row-major order of the updates, so the last stays", sdims(inserted=(0,), smap=(0,), iv=1)[0], label="scatter_set_repeated")
        m = seq("f32", (3, 3))
        scatter(m, np.array([[0, 2], [1, 1]], np.int32), np.array([100, 200], np.float32), dict(inserted=(0, 1), smap=(0, 1), iv=1), f"scatter_{name}_points")
        scatter(m, np.array([[0, 1], [2, 1]], np.int32), np.array([100, 200], np.float32), dict(inserted=(0, 1), smap=(1, 0), iv=0), f"scatter_{name}_vector_first")
        scatter(seq("f32", (2, 3)), np.array([[[0], [2]], [[1], [3]]], np.int32), np.array([[10, 20], [30, 40]], np.float32), dict(inserted=(1,), ob=(0,), ib=(0,), smap=(1,), iv=2), f"scatter_{name}_batched")
        scatter(m, np.zeros((0, 1), np.int32), np.zeros((0, 3), np.float32), dict(window=(1,), inserted=(0,), smap=(0,), iv=1), f"scatter_{name}_no_updates")
        if name in ("min", "max"):
            o.op(f"scatter_{name}", [arr("f32", [1, np.nan, 3]), np.array([[0], [1]], np.int32), arr("f32", [np.nan, 2])], [arr("f32", [np.nan, np.nan, 3])], "StableHLO spec: NaN propagates", sdims(inserted=(0,), smap=(0,), iv=1)[0], label=f"scatter_{name}_nan")
        n += o.write()

    o = File("scatter", "scatter with a body: one and two operands.")
    x, i, u = seq("f32", (4,)), np.array([[1], [1], [7]], np.int32), arr("f32", [10, 3, 100])
    o.op("scatter", [x, i, u], [arr("f32", [1, -11, 3, 4])], "formula: (2 - 10) - 3; index 7 is dropped", sdims(inserted=(0,), smap=(0,), iv=1)[0], label="scatter_sub", regions=body("sub", "f32"))
    y, v = seq("i32", (4,)), np.array([5, 6, 7], np.int32)
    two = "body(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>) {\n  %s = evoxc.add(%a, %c) : tensor<f32>\n  %t = evoxc.mul(%b, %d) : tensor<i32>\n  yield %s, %t\n}"
    o.op("scatter", [x, y, i, u, v], [arr("f32", [1, 15, 3, 4]), np.array([1, 60, 3, 4], np.int32)], "formula: 2 + 10 + 3 and 2 * 5 * 6", sdims(inserted=(0,), smap=(0,), iv=1)[0], label="scatter_two", regions=two)
    b = np.array([True, True, False])
    o.op("scatter", [b, np.array([[0], [2]], np.int32), np.array([False, True])], [np.array([False, True, True])], "formula: and, or", sdims(inserted=(0,), smap=(0,), iv=1)[0], label="scatter_bool",
         regions="body(%x: tensor<bool>, %y: tensor<bool>) {\n  %z = evoxc.xor(%x, %x) : tensor<bool>\n  %w = evoxc.or(%z, %y) : tensor<bool>\n  yield %w\n}")
    n += o.write()

    o = File("dynamic_slice", "dynamic_slice: starts clamp so that the slice fits.")
    for d in ALL:
        x = seq(d, (5,))
        o.op("dynamic_slice", [x, np.array(2, np.int32)], [x[2:4]], "numpy: x[2:4]", "sizes = [2]", label=f"dynamic_slice_{d}")
    x = seq("f32", (3, 4))
    for s in ((1, 1), (2, 3), (-1, 9), (-100, 0)):
        a, b = np.clip(s[0], 0, 1), np.clip(s[1], 0, 2)
        o.op("dynamic_slice", [x, np.array(s[0], np.int32), np.array(s[1], np.int32)], [x[a:a + 2, b:b + 2]], "StableHLO spec: clamp(0, start, extent - size)", "sizes = [2, 2]", label="dynamic_slice_clamped")
    for it in ("i64", "u8", "u64", "i8"):
        o.op("dynamic_slice", [x, np.array(1, NAMES[it]), np.array(imax(it), NAMES[it])], [x[1:3, 1:4]], "StableHLO spec: clamp", "sizes = [2, 3]", label=f"dynamic_slice_index_{it}")
    o.op("dynamic_slice", [arr("f32", 3.0)], [arr("f32", 3.0)], "definition: rank 0", "sizes = []", label="dynamic_slice_rank0")
    o.op("dynamic_slice", [x, np.array(1, np.int32), np.array(1, np.int32)], [x[1:1, 1:2]], "definition: no elements", "sizes = [0, 1]", label="dynamic_slice_empty")
    n += o.write()

    o = File("dynamic_update_slice", "dynamic_update_slice: starts clamp so that the update fits.")
    for d in ALL:
        x, u = seq(d, (5,)), seq(d, (2,), 50)
        y = x.copy(); y[2:4] = u
        o.op("dynamic_update_slice", [x, u, np.array(2, np.int32)], [y], "numpy: x[2:4] = update", label=f"dynamic_update_slice_{d}")
    x = seq("f32", (3, 4))
    for s in ((1, 1), (2, 3), (-1, 9)):
        u, y = seq("f32", (2, 2), 50), x.copy()
        a, b = np.clip(s[0], 0, 1), np.clip(s[1], 0, 2)
        y[a:a + 2, b:b + 2] = u
        o.op("dynamic_update_slice", [x, u, np.array(s[0], np.int32), np.array(s[1], np.int32)], [y], "StableHLO spec: clamp(0, start, extent - size)", label="dynamic_update_slice_clamped")
    o.op("dynamic_update_slice", [arr("f32", 3.0), arr("f32", 4.0)], [arr("f32", 4.0)], "definition: rank 0", label="dynamic_update_slice_rank0")
    e = np.zeros((0, 2), np.float32)
    o.op("dynamic_update_slice", [x, e, np.array(1, np.int32), np.array(1, np.int32)], [x], "definition: nothing to write", label="dynamic_update_slice_empty")
    return n + o.write()
