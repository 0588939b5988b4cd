"""Writes tests/data/distributions.json: moments of distributions, and where their distribution functions stand.

Needs numpy and scipy: `python3 tests/generate/distributions.py`.
"""

import json
import math
import os

import numpy as np
from scipy import stats

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "distributions.json")
# Both tails and the middle.
LEVELS = [1e-3, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999]
CASES = []


def case(name, source, d, args=()):
    """A case of the function `name` of the table in tests/distributions.rs, whose numbers are distributed as `d`."""
    mean, var, kurtosis = (float(x) for x in d.stats(moments="mvk"))
    # Halfway from an f32 to the next: a number rounded to f32 is on the side of it that the number is on.
    near = {np.float32(d.ppf(q)) for q in LEVELS}
    points = sorted((float(x) + float(np.nextafter(x, np.float32(np.inf)))) / 2 for x in near)
    assert all(map(math.isfinite, [mean, var, kurtosis] + points)), name
    CASES.append({"name": name, "source": source, "args": list(args), "mean": mean, "var": var,
                  "fourth": (kurtosis + 3) * var**2, "cdf": [[x, float(d.cdf(x))] for x in points]})


def table(p):
    """The distribution of an index with probabilities p."""
    return stats.rv_discrete(values=(range(len(p)), np.array(p) / np.sum(p)))


case("uniform", "scipy.stats.uniform()", stats.uniform())
case("uniform_range", "scipy.stats.uniform(-2, 7)", stats.uniform(-2, 7), [-2, 5])
case("normal", "scipy.stats.norm()", stats.norm())
case("exponential", "scipy.stats.expon()", stats.expon())
case("gumbel", "scipy.stats.gumbel_r()", stats.gumbel_r())
case("laplace", "scipy.stats.laplace()", stats.laplace())
for low, high in [(-1, 2), (1.5, 6), (-8, -0.5)]:
    case("truncated_normal", f"scipy.stats.truncnorm({low}, {high})", stats.truncnorm(low, high), [low, high])
for a in [0.05, 0.3, 1, 1.5, 2.5, 100]:
    case("gamma", f"scipy.stats.gamma({a})", stats.gamma(a), [a])
for a, b in [(0.5, 2), (3, 1), (0.2, 0.2), (30, 50)]:
    case("beta", f"scipy.stats.beta({a}, {b})", stats.beta(a, b), [a, b])
alpha = [0.5, 1, 3.5]
for i, a in enumerate(alpha):  # a marginal is a beta distribution
    case("dirichlet", f"scipy.stats.beta({a}, {sum(alpha) - a})", stats.beta(a, sum(alpha) - a), [i] + alpha)
for p in [0.02, 0.7]:
    case("bernoulli", f"scipy.stats.bernoulli({p})", stats.bernoulli(p), [p])
for low, high in [(-3, 10), (0, 3 * 2**29)]:
    case("randint", f"scipy.stats.randint({low}, {high})", stats.randint(low, high), [low, high])
# As a fraction of 2^64: what is drawn in two words.
case("randint64", "scipy.stats.uniform(0, 0.75)", stats.uniform(0, 0.75))
weights = [0.1, 0, 0.25, 0.05, 0.6]
case("categorical", "the weights themselves", table(weights), weights)
case("choice_weighted", "the weights themselves", table(weights), weights)
case("choice_weighted_distinct", "the first one: the weights themselves", table(weights), weights)
case("choice", "scipy.stats.randint(0, 7)", stats.randint(0, 7), [7])
for i in [0, 3, 6]:
    case("choice_distinct", "any place: scipy.stats.randint(0, 7)", stats.randint(0, 7), [7, i])
for i, p in enumerate(np.array(weights) / sum(weights)):
    if p > 0:
        case("multinomial", f"a marginal: scipy.stats.binom(20, {p})", stats.binom(20, p), [i, 20] + weights)
for rate in [0.05, 3.5, 9.9, 10, 40, 1000]:
    case("poisson", f"scipy.stats.poisson({rate})", stats.poisson(rate), [rate])
with open(OUT, "w", newline="\n") as f:
    f.write("[\n" + ",\n".join(json.dumps(c) for c in CASES) + "\n]\n")
print(len(CASES), "cases")
