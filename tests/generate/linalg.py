"""Cases of Fourier transforms and factorisations. Factors that are unique only up to signs or phases are checked by what
they multiply to, in a program of the IR."""

import jax.numpy as jnp
import numpy as np
import scipy.linalg as sl
from jax import lax
from evx import *
from shape import ints

FIELDS = ["f32", "f64", "c64", "c128"]


def matrix(d, shape, k=1):
    """A well-conditioned matrix of small numbers."""
    n = int(np.prod(shape))
    v = (((np.arange(n) * 37 + 11 * k) % 17) / 4.0 - 2).reshape(shape)
    eye = np.eye(shape[-2], shape[-1]) * 3
    v = v + eye
    if d in COMPLEX:
        v = v + 1j * ((((np.arange(n) * 23 + 5 * k) % 13) / 4.0 - 1.5).reshape(shape))
    return v.astype(NAMES[d])


def hermitian(d, shape, shift=0):
    a = matrix(d, shape)
    h = (a + np.conj(np.swapaxes(a, -1, -2))) / 2
    return (h + shift * np.eye(shape[-1])).astype(a.dtype)


def w64(x):
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def fft():
    o = File("fft", "fft, ifft, rfft, irfft: lengths 1, 2, odd, prime, empty batches, several axes.")
    for d in COMPLEX:
        for n in (1, 2, 3, 4, 5, 6, 7, 8, 13):
            z = (np.cos(np.arange(n) * 1.5) + 1j * np.sin(np.arange(n) * 0.7 + 1)).astype(NAMES[d])
            for kind, f in (("fft", np.fft.fft), ("ifft", np.fft.ifft)):
                o.op("fft", [z], [f(w64(z)).astype(z.dtype)], f"numpy: np.fft.{kind} of complex128", f"kind = {kind}, length = [{n}]", label=f"{kind}_{d}_{n}")
    for d, c in (("f32", "c64"), ("f64", "c128")):
        for n in (1, 2, 3, 4, 5, 7, 8):
            x = np.cos(np.arange(n) * 1.5 + 0.25).astype(NAMES[d])
            o.op("fft", [x], [np.fft.rfft(w64(x)).astype(NAMES[c])], "numpy: np.fft.rfft of f64", f"kind = rfft, length = [{n}]", label=f"rfft_{d}_{n}")
            z = np.fft.rfft(w64(x)).astype(NAMES[c])
            o.op("fft", [z], [np.fft.irfft(w64(z), n).astype(NAMES[d])], "numpy: np.fft.irfft of c128", f"kind = irfft, length = [{n}]", label=f"irfft_{d}_{n}")
    z = np.array([1 + 2j, 3 - 1j, -2 + 1j], np.complex64)
    o.op("fft", [z], [np.array([np.fft.irfft(np.array([1, 3 - 1j, -2], complex), 4)], np.float32)[0]], "numpy: np.fft.irfft; the imaginary parts of the first and the middle element do not count", "kind = irfft, length = [4]", label="irfft_not_hermitian")
    z = (np.arange(12).reshape(2, 2, 3) + 1j).astype(np.complex64)
    o.op("fft", [z], [np.fft.fft2(w64(z)).astype(z.dtype)], "numpy: np.fft.fft2", "kind = fft, length = [2, 3]", label="fft_two_axes")
    o.op("fft", [z], [np.fft.ifft2(w64(z)).astype(z.dtype)], "numpy: np.fft.ifft2", "kind = ifft, length = [2, 3]", label="ifft_two_axes")
    o.op("fft", [z], [np.fft.fftn(w64(z)).astype(z.dtype)], "numpy: np.fft.fftn", "kind = fft, length = [2, 2, 3]", label="fft_three_axes")
    x = np.cos(np.arange(12.0)).reshape(2, 6).astype(np.float32)
    o.op("fft", [x], [np.fft.rfft2(w64(x)).astype(np.complex64)], "numpy: np.fft.rfft2", "kind = rfft, length = [2, 6]", label="rfft_two_axes")
    r = np.fft.rfft2(w64(x)).astype(np.complex64)
    o.op("fft", [r], [np.fft.irfft2(w64(r), (2, 6)).astype(np.float32)], "numpy: np.fft.irfft2", "kind = irfft, length = [2, 6]", label="irfft_two_axes")
    e = np.zeros((0, 4), np.complex64)
    o.op("fft", [e], [e], "definition: no elements", "kind = fft, length = [4]", label="fft_no_rows")
    for b in (1, 2):
        z = (np.arange(3 * b).reshape(b, 3) - 1j).astype(np.complex64)
        o.op("fft", [z], [np.fft.fft(w64(z)).astype(z.dtype)], "numpy: np.fft.fft", "kind = fft, length = [3]", label="fft_symbolic", types=([("B", 3)], [("B", 3)]))
    return o.write()


class Program:
    """Text of a function whose results are checked instead of its factors."""

    def __init__(self, name, x):
        self.name, self.x, self.lines, self.d = name, x, [], word(x)
        self.n = 0

    def op(self, op, args, shape, attrs="", d=None):
        self.n += 1
        v = f"%t{self.n}"
        a = f" {{{attrs}}}" if attrs else ""
        self.lines.append(f"{v} = evoxc.{op}({', '.join(args)}){a} : {ty(d or self.d, shape)}")
        return v

    def many(self, op, args, types, attrs=""):
        vs = []
        for _ in types:
            self.n += 1
            vs.append(f"%t{self.n}")
        a = f" {{{attrs}}}" if attrs else ""
        self.lines.append(f"{', '.join(vs)} = evoxc.{op}({', '.join(args)}){a} : {', '.join(types)}")
        return vs

    def adjoint(self, v, shape):
        """The conjugate transpose, and its shape."""
        r = len(shape)
        perm = list(range(r - 2)) + [r - 1, r - 2]
        t = tuple(shape[:-2]) + (shape[-1], shape[-2])
        v = self.op("transpose", [v], t, f"perm = {ints(perm)}")
        if self.d in COMPLEX:
            v = self.op("conj", [v], t)
        return v, t

    def matmul(self, a, sa, b, sb):
        r = len(sa)
        batch = list(range(r - 2))
        out = tuple(sa[:-1]) + (sb[-1],)
        bt = f"[{ints(batch)}, {ints(batch)}]" if batch else "[]"
        return self.op("dot", [a, b], out, f"batch = {bt}, contract = [[{r - 1}], [{r - 2}]]"), out

    def scale_columns(self, a, sa, w, k, d_w):
        """a · diag(w): the first k columns of a."""
        if d_w != self.d:
            w = self.op("convert", [w], tuple(sa[:-2]) + (k,), f"dtype = {self.d}")
        r = len(sa)
        dims = list(range(r - 2)) + [r - 1]
        s = self.op("broadcast_in_dim", [w], sa, f"shape = {ints(sa)}, dims = {ints(dims)}")
        return self.op("mul", [a, s], sa)

    def text(self, results):
        outs = [t for _, t in results]
        ret = outs[0] if len(outs) == 1 else "(" + ", ".join(outs) + ")"
        body_ = "\n".join("  " + x for x in self.lines)
        return f"func @{self.name}(%a: {ty(self.x)}) -> {ret} {{\n{body_}\n  return {', '.join(v for v, _ in results)}\n}}\n"


def eye(d, n, batch=()):
    return np.broadcast_to(np.eye(n), tuple(batch) + (n, n)).astype(NAMES[d])


def factorisations():
    n = 0
    o = File("cholesky", "cholesky: both triangles, batches, not positive definite.")
    for d in FIELDS:
        for k in (1, 3):
            a = hermitian(d, (k, k), 8)
            c = np.linalg.cholesky(w64(a))
            junk = (np.tril(a) + np.triu(np.full_like(a, 77), 1)).astype(a.dtype)
            o.op("cholesky", [junk], [c.astype(a.dtype)], "numpy: np.linalg.cholesky; the upper triangle is not read", "lower = true", label=f"cholesky_{d}_{k}")
            t = junk.T.copy()
            upper = np.linalg.cholesky(w64(np.triu(t) + np.conj(np.triu(t, 1)).T)).conj().T
            o.op("cholesky", [t], [upper.astype(a.dtype)],
                 "numpy: np.linalg.cholesky, conjugate transposed; the lower triangle is not read", "", label=f"cholesky_{d}_{k}_upper")
    a = np.stack([hermitian("f32", (2, 2), 6), hermitian("f32", (2, 2), 9)])
    o.op("cholesky", [a], [np.linalg.cholesky(w64(a)).astype(a.dtype)], "numpy: np.linalg.cholesky", "lower = true", label="cholesky_batch")
    e = np.zeros((0, 2, 2), np.float32)
    o.op("cholesky", [e], [e], "definition: no elements", "lower = true", label="cholesky_no_matrices")
    o.op("cholesky", [np.zeros((0, 0), np.float32)], [np.zeros((0, 0), np.float32)], "definition: no elements", "lower = true", label="cholesky_0x0")
    a = arr("f32", [[1, 2], [2, 1]])
    p = Program("cholesky_not_positive_definite", a)
    c = p.op("cholesky", ["%a"], (2, 2), "lower = true")
    s = p.op("reduce_sum", [c], (), "axes = [0, 1]")
    o.case(p.text([(s, "tensor<f32>")]), [a], [arr("f32", np.nan)], "OPS: NaN when not positive definite")
    n += o.write()

    o = File("triangular_solve", "triangular_solve: sides, triangles, transposes, unit diagonals.")
    for d in FIELDS:
        a = matrix(d, (3, 3))
        b = matrix(d, (3, 2), 3)
        for left in (True, False):
            for lower in (True, False):
                for tr in ("none", "transpose", "adjoint"):
                    for unit in (False, True) if d in ("f32", "c128") else (False,):
                        t = np.tril(w64(a)) if lower else np.triu(w64(a))
                        if unit:
                            np.fill_diagonal(t, 1)
                        t = {"none": t, "transpose": t.T, "adjoint": t.conj().T}[tr]
                        x = np.linalg.solve(t, w64(b)) if left else np.linalg.solve(t.T, w64(b)).T
                        rhs = b if left else b.T.copy()
                        attrs = ", ".join(k for k in ("left = true" if left else "", "lower = true" if lower else "", "unit_diagonal = true" if unit else "", f"transpose = {tr}") if k)
                        o.op("triangular_solve", [a, rhs], [x.astype(a.dtype)], "numpy: np.linalg.solve of the triangle in f64 or c128", attrs, label=f"triangular_solve_{d}_{'left' if left else 'right'}_{'lower' if lower else 'upper'}_{tr}{'_unit' if unit else ''}")
    a, b = matrix("f32", (2, 2, 2)), matrix("f32", (2, 2, 1), 3)
    o.op("triangular_solve", [a, b], [np.linalg.solve(np.tril(w64(a)), w64(b)).astype(a.dtype)], "numpy: np.linalg.solve", "left = true, lower = true, transpose = none", label="triangular_solve_batch")
    z = np.zeros((2, 0), np.float32)
    o.op("triangular_solve", [a[0], z], [z], "definition: no right-hand sides", "left = true, lower = true, transpose = none", label="triangular_solve_empty")
    n += o.write()

    o = File("lu", "lu: packed factors, pivots, permutation.")
    for d in FIELDS:
        for shape in ((3, 3), (4, 2), (2, 4), (1, 1)):
            a = matrix(d, shape, 5)
            a[..., 0, 0] = 0.25  # so that rows are exchanged
            f, piv, perm = lax.linalg.lu(jnp.asarray(w64(a)))
            o.op("lu", [a], [np.asarray(f).astype(a.dtype), np.asarray(piv).astype(np.int32), np.asarray(perm).astype(np.int32)], "jax: lax.linalg.lu of f64 or c128", label=f"lu_{d}_{shape[0]}x{shape[1]}")
    a = matrix("f32", (2, 2, 2), 5)
    f, piv, perm = lax.linalg.lu(jnp.asarray(w64(a)))
    o.op("lu", [a], [np.asarray(f).astype(a.dtype), np.asarray(piv).astype(np.int32), np.asarray(perm).astype(np.int32)], "jax: lax.linalg.lu", label="lu_batch")
    n += o.write()

    o = File("qr", "qr: q·r gives a, q has orthonormal columns, r is upper triangular.")
    for d in FIELDS:
        for shape in ((3, 3), (4, 2), (2, 3), (1, 1), (2, 3, 2)):
            for full in (False, True):
                a = matrix(d, shape, 2)
                m, k = shape[-2], shape[-2] if full else min(shape[-2:])
                batch = shape[:-2]
                p = Program(f"qr_{d}_{'x'.join(map(str, shape))}{'_full' if full else ''}", a)
                sq, sr = batch + (m, k), batch + (k, shape[-1])
                q, r = p.many("qr", ["%a"], [ty(d, sq), ty(d, sr)], "full = true" if full else "")
                b, sb = p.matmul(q, sq, r, sr)
                qt, st = p.adjoint(q, sq)
                g, sg = p.matmul(qt, st, q, sq)
                lower = np.broadcast_to(np.tri(k, shape[-1], -1, dtype=bool), sr)
                res, exp = [(b, ty(d, sb)), (g, ty(d, sg))], [a, eye(d, k, batch)]
                if not batch:
                    mask = p.op("constant", [], sr, f"value = {lit(lower)}", "bool")
                    zero = p.op("constant", [], sr, f"value = splat<{nest(np.zeros((), NAMES[d]))}> : {ty(d, sr)}")
                    low = p.op("select", [mask, r, zero], sr)
                    res.append((low, ty(d, sr)))
                    exp.append(np.zeros(sr, NAMES[d]))
                o.case(p.text(res), [a], exp, "definition: q·r = a, qᴴ·q = 1, nothing below the diagonal of r", "linalg")
    n += o.write()

    o = File("eigh", "eigh: eigenvalues ascending; v·diag(w)·vᴴ gives a, vᴴ·v = 1; the upper triangle is not read.")
    for d in FIELDS:
        for shape in ((1, 1), (2, 2), (3, 3), (2, 2, 2)):
            h = hermitian(d, shape)
            a = (np.tril(h) + np.triu(np.full_like(h, 55), 1)).astype(h.dtype)
            w = np.linalg.eigvalsh(w64(h)).astype(NAMES[REAL.get(d, d)])
            dw = word(w)
            p = Program(f"eigh_{d}_{'x'.join(map(str, shape))}", a)
            ws, v = p.many("eigh", ["%a"], [ty(w), ty(d, shape)])
            vt, st = p.adjoint(v, shape)
            s = p.scale_columns(v, shape, ws, shape[-1], dw)
            b, sb = p.matmul(s, shape, vt, st)
            g, sg = p.matmul(vt, st, v, shape)
            o.case(p.text([(ws, ty(w)), (b, ty(d, sb)), (g, ty(d, sg))]), [a], [w, h, eye(d, shape[-1], shape[:-2])], "numpy: np.linalg.eigvalsh; definition: v·diag(w)·vᴴ = a, vᴴ·v = 1", "linalg")
    a = arr("f32", [[2, 0], [0, 2]])
    p = Program("eigh_repeated", a)
    ws, v = p.many("eigh", ["%a"], ["tensor<2xf32>", "tensor<2x2xf32>"])
    vt, st = p.adjoint(v, (2, 2))
    g, sg = p.matmul(vt, st, v, (2, 2))
    o.case(p.text([(ws, "tensor<2xf32>"), (g, "tensor<2x2xf32>")]), [a], [arr("f32", [2, 2]), eye("f32", 2)], "definition: a repeated eigenvalue has orthonormal eigenvectors", "linalg")
    n += o.write()

    o = File("svd", "svd: singular values descending; u·diag(s)·vh gives a; u and vh are orthonormal.")
    for d in FIELDS:
        for shape in ((3, 3), (3, 2), (2, 3), (1, 1), (2, 2, 2)):
            for full in (False, True):
                a = matrix(d, shape, 4)
                m, c, batch = shape[-2], shape[-1], shape[:-2]
                k = min(m, c)
                s = np.linalg.svd(w64(a), compute_uv=False).astype(NAMES[REAL.get(d, d)])
                su, sv = batch + (m, m if full else k), batch + (c if full else k, c)
                p = Program(f"svd_{d}_{'x'.join(map(str, shape))}{'_full' if full else ''}", a)
                u, sg, vh = p.many("svd", ["%a"], [ty(d, su), ty(s), ty(d, sv)], "full = true" if full else "")
                zero = [0] * len(shape)
                one = [1] * len(shape)
                cut_u, cut_v = u, vh
                ks_u, ks_v = batch + (m, k), batch + (k, c)
                if su != ks_u:
                    cut_u = p.op("slice", [u], ks_u, f"start = {ints(zero)}, limit = {ints(ks_u)}, stride = {ints(one)}")
                if sv != ks_v:
                    cut_v = p.op("slice", [vh], ks_v, f"start = {ints(zero)}, limit = {ints(ks_v)}, stride = {ints(one)}")
                sc = p.scale_columns(cut_u, ks_u, sg, k, word(s))
                b, sb = p.matmul(sc, ks_u, cut_v, ks_v)
                ut, st = p.adjoint(u, su)
                g, sgs = p.matmul(ut, st, u, su)
                vt, svt = p.adjoint(vh, sv)
                h, shs = p.matmul(vh, sv, vt, svt)
                o.case(p.text([(sg, ty(s)), (b, ty(d, sb)), (g, ty(d, sgs)), (h, ty(d, shs))]), [a], [s, a, eye(d, su[-1], batch), eye(d, sv[-2], batch)], "numpy: np.linalg.svd; definition: u·diag(s)·vh = a, uᴴ·u = 1, vh·vhᴴ = 1", "linalg")
    a = arr("f32", [[1, 1], [1, 1]])
    p = Program("svd_rank_one", a)
    u, s, vh = p.many("svd", ["%a"], ["tensor<2x2xf32>", "tensor<2xf32>", "tensor<2x2xf32>"])
    sc = p.scale_columns(u, (2, 2), s, 2, "f32")
    b, sb = p.matmul(sc, (2, 2), vh, (2, 2))
    o.case(p.text([(s, "tensor<2xf32>"), (b, "tensor<2x2xf32>")]), [a], [arr("f32", [2, 0]), a], "formula: singular values 2 and 0", "linalg")
    return n + o.write()
