"""Writes tests/ir/run/*.evx: value cases of every primitive, each of which states where its expectation comes from.

Run as `python3 tests/generate/primitives.py`; needs numpy, scipy, ml_dtypes and jax. Same output on every run.
"""

import sys
import jax

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

import binary  # noqa: E402 (after the configuration)
import control  # noqa: E402
import elementwise  # noqa: E402
import linalg  # noqa: E402
import reduction  # noqa: E402
import shape  # noqa: E402

PARTS = [elementwise.unary_float, elementwise.unary_any, binary.binary, binary.compare, binary.ternary, binary.conversion, shape.constants, shape.shapes, shape.indexing, reduction.contraction,
         reduction.reductions, reduction.pools, reduction.cumulative, reduction.ordering,
         linalg.fft, linalg.factorisations, control.cond, control.loops, control.random, control.escapes]

if __name__ == "__main__":
    total = 0
    for part in PARTS:
        n = part()
        total += n
        print(f"{part.__module__}.{part.__name__}: {n}", file=sys.stderr)
    print(f"{total} cases", file=sys.stderr)
