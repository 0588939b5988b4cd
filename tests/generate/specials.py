"""Cases of the special functions that are made of series, for composites.py.

The incomplete functions are summed here with 60 digits: in their tails SciPy's own lose up to half of theirs.
"""

from decimal import Decimal as D
from decimal import getcontext

import numpy as np
import scipy.special as sp

getcontext().prec = 60
INF, NAN = np.inf, np.nan
BERNOULLI = [D(a) / b for a, b in [(1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510), (43867, 798), (-174611, 330), (854513, 138)]]
PI = D("3.14159265358979323846264338327950288419716939937510582097494459")
TINY = D(10) ** -45


def lgamma(a):
    """log Gamma(a) by Stirling's series from 60 on."""
    shift = D(0)
    while a < 60:
        shift += a.ln()
        a += 1
    return (a - D("0.5")) * a.ln() - a + (2 * PI).ln() / 2 + sum(b / (2 * j * (2 * j - 1)) / a ** (2 * j - 1) for j, b in enumerate(BERNOULLI, 1)) - shift


def gamma_p(a, x):
    """The power series of the lower function."""
    term = total = D(1)
    n = 0
    while term > TINY * total:
        n += 1
        term *= x / (a + n)
        total += term
    return (a * x.ln() - x - lgamma(a + 1)).exp() * total


def gamma_q(a, x):
    """Legendre's continued fraction of the upper function, or 1 - P."""
    if x < a + 1 or x < 3:
        return 1 - gamma_p(a, x)
    t = D(0)
    for k in range(1500, 0, -1):
        t = k * (a - k) / (x + 2 * k + 1 - a + t)
    return (a * x.ln() - x - lgamma(a)).exp() / (x + 1 - a + t)


def beta_i(a, b, x):
    """The power series of the incomplete beta function."""
    if x > (a + 1) / (a + b + 2) and x > D("0.5"):
        return 1 - beta_i(b, a, 1 - x)
    term = total = D(1)
    n = 0
    while abs(term) > TINY * total:
        term *= (a + b + n) / (a + 1 + n) * x
        total += term
        n += 1
    return (a * x.ln() + b * (1 - x).ln() - a.ln() - lgamma(a) - lgamma(b) + lgamma(a + b)).exp() * total


def exactly(f):
    """The function of arrays, each element in 60 digits."""
    return lambda *xs: np.array([float(f(*[D(float(v)) for v in row])) for row in zip(*xs)])


def specials(case):
    def floats(name, source, f, *xs, f64="relative 1e-12", f32="relative 2e-5", single=True):
        """In f64 as given; in f32 with the function of the rounded inputs in double precision, where that is in range."""
        xs = [np.asarray(x, np.float64) for x in xs]
        case(name, source, xs, f(*xs), f64)
        if single:
            low = [x.astype(np.float32) for x in xs]
            out = f(*[x.astype(np.float64) for x in low])
            keep = ~np.isfinite(out) | (out == 0) | ((np.abs(out) > 1e-36) & (np.abs(out) < 1e38))
            if keep.any():
                case(name, source + " of the inputs in f32", [x[keep] for x in low], out[keep].astype(np.float32), f32)

    tight = dict(f64="relative 4e-15", f32="relative 2e-6")
    x = np.array([-INF, -800.0, -100.0, -8.0, -3.0, -1e-3, 0.0, 1e-9, 0.5, 1.0, 4.0, 7.999, 8.0, 8.001, 20.0, 100.0, 1e4, 1e300, INF, NAN])
    for name in ["i0e", "i1e"]:
        floats(name, f"scipy.special.{name}", getattr(sp, name), x, **tight)
    fit = np.abs(x) < 80
    for name in ["i0", "i1"]:
        floats(name, f"scipy.special.{name}", getattr(sp, name), np.append(x[fit], NAN), **tight)
        case(name, "the limits", [np.array([INF, -INF])], [np.array([INF, -INF if name == "i1" else INF])], "exact")
        case(name, f"scipy.special.{name}", [np.array([300.0, -700.0, 1e4, -1e4])], [getattr(sp, name)(np.array([300.0, -700.0, 1e4, -1e4]))], "relative 1e-12")

    # every region of the incomplete gamma functions, and its borders
    pairs = [(a, x) for a in [1e-8, 1e-3, 0.1, 0.3, 0.5, 0.9, 1.0, 1.5] for x in [1e-30, 1e-6, 0.1, 0.3, 0.5, 0.7, 1.0, 1.1, 1.2, 2.0, 5.0, 20.0]]
    pairs += [(a, a * r) for a in [2.0, 5.0, 9.5, 10.0, 10.5, 30.0, 77.0, 99.5] for r in [0.05, 0.4, 0.5, 0.75, 0.99, 1.0, 1.01, 1.3, 1.5, 1.6, 3.0]]
    pairs += [(a, a * r) for a in [100.0, 150.0, 400.0, 1000.0] for r in [0.5, 0.65, 0.7, 0.71, 0.9, 1.0, 1.1, 1.29, 1.3, 1.31, 1.5]]
    pairs += [(a, a + k * np.sqrt(a)) for a in [1e4, 1e6, 1e8] for k in ([-8.0, -2.0, 0.0, 0.5, 3.0, 9.0] if a < 1e8 else [0.0])]
    p, q = exactly(gamma_p), exactly(gamma_q)
    small = [(a, x) for a, x in pairs if a < 1e7]
    a, x = np.array(small).T
    floats("igamma", "the power series of P(a, x), in 60 digits", p, a, x, f32="relative 1e-4")
    floats("igammac", "the continued fraction of Q(a, x), or 1 - P(a, x), in 60 digits", q, a, x, f32="relative 1e-4")
    near = np.array([[1e8, 1e8, 1e10], [1e8 + 1e4, 1e8 - 2e4, 1e10 + 1e5]])
    for name, f in [("igamma", sp.gammainc), ("igammac", sp.gammaincc)]:
        # At these SciPy uses Temme's expansion as well.
        case(name, f"scipy.special.{f.__name__}", list(near), [f(*near)], "relative 1e-10")
        e = np.array([(a, x) for a in [-1.0, 0.0, 1.0, INF, NAN] for x in [-1.0, 0.0, 2.0, INF, NAN]])
        floats(name, f"scipy.special.{f.__name__}", f, e[:, 0], e[:, 1], f64="relative 1e-14", f32="relative 1e-6")
    case("igamma", "scipy.special.gammainc, of f16", [np.array([0.5, 2.0, 30.0], np.float16), np.array([1.0, 1.0, 25.0], np.float16)],
         [sp.gammainc([0.5, 2.0, 30.0], [1.0, 1.0, 25.0]).astype(np.float16)], "transcendental")

    triples = [(a, b, x) for a in [1e-3, 0.1, 0.5, 1.0, 2.0, 8.0] for b in [1e-3, 0.1, 0.5, 1.0, 3.0, 9.0] for x in [1e-9, 0.01, 0.3, 0.5, 0.75, 0.9, 0.96, 0.999]]
    triples += [(a, b, x) for a, b in [(0.5, 20.0), (20.0, 0.5), (3.0, 400.0), (400.0, 3.0), (10.0, 10.0), (50.0, 15.0), (12.0, 900.0)] for x in [1e-4, 0.01, 0.1, 0.5, 0.8, 0.95, 0.9999]]
    for a, b in [(1.0, 1e4), (0.3, 1e4), (1e4, 0.7), (300.0, 700.0), (1e3, 1e3), (1e4, 30.0), (1e4, 2e4)]:
        m = a / (a + b)
        d = np.sqrt(m * (1 - m) / (a + b + 1))
        triples += [(a, b, m + k * d) for k in [-6.0, -1.0, 0.0, 0.1, 2.0, 5.0] if 0 < m + k * d < 1]
    a, b, x = np.array(triples).T
    floats("betainc", "the power series of I_x(a, b), in 60 digits", exactly(beta_i), a, b, x, f32="relative 3e-4")
    e = np.array([(a, b, x) for a in [-1.0, 0.0, 2.0, INF] for b in [-1.0, 0.0, 3.0, INF] for x in [-0.1, 0.5, 1.1]]
                 + [(2.0, 3.0, 0.0), (2.0, 3.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 1.0), (INF, 1.0, 1.0), (1.0, INF, 0.0), (NAN, 1.0, 0.5), (1.0, NAN, 0.5), (1.0, 1.0, NAN)])
    floats("betainc", "scipy.special.betainc", sp.betainc, e[:, 0], e[:, 1], e[:, 2], f64="relative 1e-14", f32="relative 1e-6")
    lb = lambda a, b: lgamma(a) + lgamma(b) - lgamma(a + b)
    pairs = np.array([(a, b) for a in [1e-6, 0.3, 1.5, 9.5, 10.5, 300.0, 1e5, 1e8] for b in [0.2, 2.0, 9.9, 10.0, 40.0, 2e4, 1e9]])
    floats("betaln", "log Gamma(a) + log Gamma(b) - log Gamma(a + b), in 60 digits", exactly(lb), pairs[:, 0], pairs[:, 1], f64="relative 1e-13", f32="relative 5e-5")
    floats("betaln", "scipy.special.betaln", sp.betaln, [INF, 1.0, NAN, 1.0], [1.0, INF, 1.0, 1.0])

    s = np.array([(s, q) for s in [1.0, 1.0001, 1.5, 2.0, 3.0, 7.0, 20.0, 60.0] for q in [0.01, 0.5, 1.0, 2.5, 10.0, 100.0, 1e6]] + [(0.5, 1.0), (2.0, 0.0), (2.0, -3.0), (2.0, INF), (NAN, 1.0), (2.0, NAN)])
    floats("zeta", "scipy.special.zeta", sp.zeta, s[:, 0], s[:, 1], f64="relative 2e-14", f32="relative 2e-5")
    x = np.array([1e-3, 0.5, 1.0, 2.5, 9.0, 30.0, 1e4, 0.0, -2.0, NAN])
    for n in (0, 1, 2, 5):
        floats(f"polygamma_{n}", f"scipy.special.polygamma({n}, x)", lambda x: sp.polygamma(n, x), x if n else x[:7], f64="relative 2e-14", f32="relative 1e-5")
    floats("multigammaln", "scipy.special.multigammaln(x, 3)", lambda x: sp.multigammaln(x, 3), [1.5, 2.0, 7.25, 1e4], f64="relative 1e-13", f32="relative 1e-5")

    x = np.array([-INF, -1e-9, 0.0, 1e-300, 0.25, 1.0, 3.0, 1e10, INF, NAN])
    floats("entr", "scipy.special.entr", sp.entr, x, **tight)
    p = np.array([(x, y) for x in [-1.0, 0.0, 0.3, 2.0, NAN] for y in [-1.0, 0.0, 0.3, 2.5, NAN]])
    floats("rel_entr", "scipy.special.rel_entr", sp.rel_entr, p[:, 0], p[:, 1], **tight)
    floats("kl_div", "scipy.special.kl_div", sp.kl_div, p[:, 0], p[:, 1], f64="relative 1e-14", f32="relative 1e-6")
    floats("log_ndtr", "scipy.special.log_ndtr", sp.log_ndtr, [-INF, -1e4, -40.0, -20.5, -20.0, -19.5, -10.5, -9.0, -3.0, -1.0, 0.0, 0.5, 2.0, 4.9, 6.0, 8.5, 12.0, 30.0, INF, NAN],
           f64="relative 1e-13", f32="relative 1e-5")
