"""Writes run cases: a source line, inputs, expected results and a small program, in the text form of the IR."""

import os
import numpy as np
import ml_dtypes

BF16 = np.dtype(ml_dtypes.bfloat16)
NAMES = {
    "bool": np.dtype(bool), "i8": np.dtype(np.int8), "i16": np.dtype(np.int16), "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64), "u8": np.dtype(np.uint8), "u16": np.dtype(np.uint16), "u32": np.dtype(np.uint32),
    "u64": np.dtype(np.uint64), "f16": np.dtype(np.float16), "bf16": BF16, "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64), "c64": np.dtype(np.complex64), "c128": np.dtype(np.complex128),
}
WORDS = {d: n for n, d in NAMES.items()}
SIGNED, UNSIGNED = ["i8", "i16", "i32", "i64"], ["u8", "u16", "u32", "u64"]
INTS, FLOATS, COMPLEX = SIGNED + UNSIGNED, ["f16", "bf16", "f32", "f64"], ["c64", "c128"]
ALL = ["bool"] + INTS + FLOATS + COMPLEX
REAL = {"c64": "f32", "c128": "f64"}
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ir", "run")

np.seterr(all="ignore")


def arr(dtype, values):
    """An array of a dtype of the IR."""
    return np.array(values).astype(NAMES[dtype]) if dtype != "u64" else np.array(values, dtype=np.uint64)


def word(a):
    return WORDS[a.dtype]


def bits_of(x):
    width = x.dtype.itemsize
    return int(x.view({2: np.uint16, 4: np.uint32, 8: np.uint64}[width])), 2 * width


def float_text(x):
    if not np.isfinite(x):
        if np.isnan(x):  # one quiet NaN for all, whatever sign the machine gave it
            x = np.abs(np.array(np.nan, dtype=x.dtype))[()] if x.dtype != BF16 else np.array(0x7FC0, np.uint16).view(BF16)[()]
        b, n = bits_of(x)
        return f"0x{b:0{n}X}"
    if x == 0:
        return "-0.0" if np.signbit(x) else "0.0"
    s = str(x)
    if "e" in s:
        m, e = s.split("e")
        return f"{m}e{int(e)}"
    return s if "." in s else s + ".0"


def element(x):
    if isinstance(x, (np.bool_, bool)):
        return "true" if x else "false"
    if isinstance(x, np.complexfloating):
        return f"({float_text(x.real)}, {float_text(x.imag)})"
    if isinstance(x, np.integer):
        return str(int(x))
    return float_text(x)


def nest(a):
    if a.ndim == 0:
        return element(a[()])
    return "[" + ", ".join(nest(a[i]) if a.ndim > 1 else element(a[i]) for i in range(a.shape[0])) + "]"


def ty(a, shape=None):
    """The tensor type of an array, or of its dtype and another (symbolic) shape."""
    name = a if isinstance(a, str) else word(a)
    dims = (a.shape if shape is None else shape)
    parts = [str(d) for d in dims]
    return "tensor<" + "".join(p + "x" for p in parts) + name + ">"


def lit(a):
    a = np.asarray(a)
    return f"dense<{nest(a)}> : {ty(a)}"


class File:
    """One file of cases."""

    def __init__(self, name, title):
        self.name, self.title, self.cases = name, title, []

    def case(self, text, inputs, outputs, source, tol=None):
        lines = [f"// source: {source}"]
        lines += [f"// input: {lit(a)}" for a in inputs]
        lines += [f"// expect: {lit(a)}" for a in outputs]
        if tol:
            lines.append(f"// tol: {tol}")
        self.cases.append("\n".join(lines) + "\n" + text.strip("\n") + "\n")

    def op(self, name, inputs, outputs, source, attrs="", tol=None, label=None, types=None, regions="", consts=()):
        """A case of a single op: inputs are its operands, outputs its results. `types` gives symbolic argument and result shapes."""
        inputs, outputs = [np.asarray(a) for a in inputs], [np.asarray(a) for a in outputs]
        ins = [ty(a, types[0][i] if types else None) for i, a in enumerate(inputs)]
        outs = [ty(a, types[1][i] if types else None) for i, a in enumerate(outputs)]
        first = inputs[0] if inputs else (outputs[0] if outputs else None)
        label = label or f"{name}_{word(first)}"
        args = ", ".join(f"%a{i}" for i in range(len(ins)))
        params = ", ".join(f"%a{i}: {t}" for i, t in enumerate(ins))
        res = ", ".join(f"%r{i}" for i in range(len(outs)))
        ret = outs[0] if len(outs) == 1 else "(" + ", ".join(outs) + ")"
        attrs = f" {{{attrs}}}" if attrs else ""
        regions = f" {{\n{indent(regions, 4)}\n  }}" if regions else ""
        text = (f"func @{label}({params}) -> {ret} {{\n"
                f"  {res} = evoxc.{name}({args}){attrs} : {', '.join(outs)}{regions}\n  return {res}\n}}\n")
        self.case(text, inputs, outputs, source, tol)

    def write(self):
        os.makedirs(OUT, exist_ok=True)
        with open(os.path.join(OUT, self.name + ".evx"), "w", newline="\n") as f:
            f.write(f"// {self.title}\n// Written by tests/generate/primitives.py.\n\n")
            f.write("\n// -----\n\n".join(self.cases))
        return len(self.cases)


def indent(text, n):
    return "\n".join(" " * n + line if line else line for line in text.strip("\n").split("\n"))


def body(op, dtype, n=2, out=None, attrs="", name="body"):
    """A region of one binary op on scalars."""
    t, r = ty(dtype, ()), ty(out or dtype, ())
    return f"{name}(%x: {t}, %y: {t}) {{\n  %z = evoxc.{op}(%x, %y){attrs} : {r}\n  yield %z\n}}"


def rounded(f, *args):
    """f computed in f64 (c128) from the exact values of the arguments, rounded once to their dtype."""
    d = args[0].dtype
    wide = np.complex128 if d.kind == "c" else np.float64
    return np.asarray(f(*[a.astype(wide) for a in args])).astype(d)


def wrap(dtype, values, shape):
    """Exact integers wrapped to a dtype."""
    bits = 8 * NAMES[dtype].itemsize
    out = []
    for v in values:
        v &= (1 << bits) - 1
        if dtype[0] == "i" and v >> (bits - 1):
            v -= 1 << bits
        out.append(v)
    return np.array(out, dtype=NAMES[dtype]).reshape(shape)


def imin(d):
    return int(np.iinfo(NAMES[d]).min)


def imax(d):
    return int(np.iinfo(NAMES[d]).max)
