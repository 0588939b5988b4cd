"""Gradients of composites, for composites.py: of the sum of f's results, each by 1/(1 + its number), in f64."""

from decimal import Decimal as D

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
import scipy.special as sp

from specials import beta_i, exactly, gamma_p, gamma_q


def weighted(f):
    def sum_of(*xs):
        y = jnp.ravel(f(*xs))
        return jnp.sum(y / (1 + jnp.arange(y.size)))
    return sum_of


def in_digits(f, i):
    """The derivative of an element-wise function by its i-th argument: a difference in 60 digits."""
    h = D(10) ** -18

    def slope(*xs):
        up, down = list(xs), list(xs)
        up[i] += h
        down[i] -= h
        return (f(*up) - f(*down)) / (2 * h)
    return exactly(slope)


def gradients(case):
    def of(name, source, f, *xs, wrt=0, tol="relative 1e-10"):
        xs = [np.asarray(x, np.float64) for x in xs]
        case(name, source, xs, np.asarray(jax.grad(weighted(f), wrt)(*map(jnp.asarray, xs))), tol)

    def elementwise(name, source, slope, *xs, tol="relative 1e-10"):
        """One result and one argument an element: the gradient is the slope by the weight."""
        xs = [np.asarray(x, np.float64) for x in xs]
        case(name, source, xs, slope(*xs) / (1 + np.arange(xs[0].size)), tol)

    pairs = [(a, x) for a in [1e-3, 0.2, 0.5, 1.0, 1.5] for x in [1e-6, 0.2, 0.5, 1.0, 1.05, 1.5, 6.0]]
    pairs += [(a, a * r) for a in [5.0, 9.5, 10.0, 40.0, 99.0, 100.0, 500.0, 1e4] for r in ([0.5, 0.7, 1.0, 1.3, 1.6] if a < 1e4 else [0.97, 1.0, 1.02])]
    a, x = np.array(pairs).T
    # P and 1 - Q have one slope; the smaller of P and Q keeps more of its digits.
    def smaller(i, sign):
        return lambda a, x: np.where(x < a + 1, in_digits(gamma_p, i)(a, x), -in_digits(gamma_q, i)(a, x)) * sign

    for name, sign in [("igamma", 1), ("igammac", -1)]:
        elementwise(f"grad_{name}_a", "differences in 60 digits", smaller(0, sign), a, x, tol="relative 1e-9")
        elementwise(f"grad_{name}_x", "differences in 60 digits", smaller(1, sign), a, x)
    triples = [(a, b, x) for a in [0.5, 1.0, 3.0, 12.0] for b in [0.5, 1.0, 2.0, 20.0] for x in [0.01, 0.3, 0.5, 0.9]]
    triples += [(300.0, 700.0, 0.31), (1e3, 1e3, 0.49), (1e4, 30.0, 0.997)]
    for i, by in enumerate("abx"):
        elementwise(f"grad_betainc_{by}", "differences in 60 digits", in_digits(beta_i, i), *np.array(triples).T, tol="relative 1e-9")
    x = np.array([-30.0, -8.5, -2.0, -1e-3, 0.0, 0.5, 3.0, 8.0, 9.0, 700.0])
    sign = np.sign(x)
    safe = np.where(x == 0, 1, x)
    elementwise("grad_i0e", "i1e - sign i0e", lambda x: sp.i1e(x) - sign * sp.i0e(x), x)
    elementwise("grad_i1e", "i0e - i1e (sign + 1/x), 1/2 at 0", lambda x: np.where(x == 0, 0.5, sp.i0e(x) - sp.i1e(x) * (sign + 1 / safe)), x)
    p, q = np.array([(p, q) for p in [0.3, 2.0, 9.0, 11.0, 500.0] for q in [0.2, 3.0, 10.0, 80.0]]).T
    elementwise("grad_betaln", "digamma(a) - digamma(a + b)", lambda a, b: sp.digamma(a) - sp.digamma(a + b), p, q)
    s, q = np.array([(s, q) for s in [1.5, 2.0, 5.0] for q in [0.1, 1.0, 4.0, 50.0]]).T
    elementwise("grad_zeta_q", "-s zeta(s + 1, q)", lambda s, q: -s * sp.zeta(s + 1, q), s, q)
    elementwise("grad_polygamma", "polygamma(3, x)", lambda x: sp.polygamma(3, x), [0.5, 1.0, 2.5, 30.0])
    elementwise("grad_entr", "-log x - 1", lambda x: -np.log(x) - 1, [1e-300, 0.3, 2.0])
    elementwise("grad_log_ndtr", "the density over the distribution function", lambda x: np.exp(-x * x / 2 - np.log(2 * np.pi) / 2 - sp.log_ndtr(x)), [-30.0, -20.5, -19.0, -3.0, -1.0, 0.0, 2.0, 6.0])

    def matrix(*shape, k=1, eye=0.0):
        x = np.random.default_rng([k, *shape]).integers(-8, 9, shape) / 4
        return x + eye * np.eye(*shape[-2:]) if eye else x

    a, b = matrix(4, 4, eye=3.0), matrix(4, 2, k=2)
    la = jnp.linalg
    of("grad_solve_a", "jax.grad of jax.numpy.linalg.solve", la.solve, a, b, tol="linalg")
    of("grad_solve_b", "jax.grad of jax.numpy.linalg.solve", la.solve, a, b, wrt=1, tol="linalg")
    of("grad_solve_a", "jax.grad of jax.numpy.linalg.solve", la.solve, matrix(2, 3, 3, eye=4.0), matrix(3), tol="linalg")
    of("grad_inv", "jax.grad of jax.numpy.linalg.inv", la.inv, matrix(2, 3, 3, eye=4.0), tol="linalg")
    for n in (1, 2, 3, 4, 6):
        of("grad_det", f"jax.grad of jax.numpy.linalg.det, n = {n}", la.det, matrix(2, n, n, eye=1.0), tol="linalg")
        of("grad_slogdet", f"jax.grad of jax.numpy.linalg.slogdet, n = {n}", lambda a: la.slogdet(a)[1], matrix(2, n, n, eye=4.0), tol="linalg")
    for n in (2, 3, 4, 5):
        low = matrix(n, n, k=3, eye=2.0)
        low[-1] = low[0] * 2 - (low[1] if n > 2 else 0)
        of("grad_det", f"jax.grad of jax.numpy.linalg.det, of rank {n - 1}", la.det, low, tol="linalg")
    # Of a zero pivot that is not the last one JAX 0.10 says 0.
    for rank, d in [(3, [1.0, 0.0, 2.0, 3.0]), (2, [0.0, 1.0, 2.0, 0.0]), (0, [0.0] * 4), (0, [0.0] * 3)]:
        cofactors = np.diag([np.prod(d[:i] + d[i + 1:]) for i in range(len(d))])
        case("grad_det", f"the cofactors, rank {rank}", [np.diag(d)], cofactors, "linalg")
    swap = np.eye(4)[[2, 0, 3, 1]]
    case("grad_det", "the cofactors, rank 3, rows exchanged", [swap @ np.diag([1.0, 2.0, 3.0, 0.0])], np.linalg.det(swap) * swap @ np.diag([0.0, 0.0, 0.0, 6.0]), "linalg")
    for name, x in [("tall", matrix(5, 3)), ("wide", matrix(3, 5)), ("square", a), ("of equal singular values", np.eye(3)), ("of rank 2", matrix(4, 2) @ matrix(2, 5))]:
        f = (lambda x: la.pinv(x, rcond=1e-10))
        of("grad_pinv", f"jax.grad of jax.numpy.linalg.pinv, {name}", f, x, tol="linalg")
    of("grad_lstsq", "jax.grad of jax.numpy.linalg.pinv(a) b", lambda a, b: la.pinv(a) @ b, matrix(5, 3), matrix(5, 2), tol="linalg")
    for scale in (0.1, 1.0, 4.0):
        of("grad_matrix_exp", "jax.grad of jax.scipy.linalg.expm", jsl.expm, matrix(3, 3) * scale / 2, tol="linalg")
    of("grad_matrix_exp", "jax.grad of jax.scipy.linalg.expm, a batch", jax.vmap(jsl.expm), matrix(3, 3, 3) * np.array([0.1, 1.0, 3.0]).reshape(3, 1, 1), tol="linalg")
    for p in (-2, 3):
        of(f"grad_matrix_power_{'minus_2' if p < 0 else 3}", f"jax.grad of matrix_power({p})", lambda x: la.matrix_power(x, p), matrix(3, 3, eye=3.0), tol="linalg")
    for name, order in {"nuc": "nuc", "two": 2, "minus_two": -2, "one": 1}.items():
        of(f"grad_norm_{name}", f"jax.grad of jax.numpy.linalg.norm(ord={order!r})", lambda x: la.norm(x, ord=order), matrix(4, 3), tol="linalg")
    of("grad_trace", "jax.grad of jax.numpy.trace", lambda x: jnp.trace(x, 1), matrix(3, 4), tol="exact")
    of("grad_cholesky", "jax.grad of jax.numpy.linalg.cholesky", la.cholesky, matrix(2, 3, 3, eye=9.0), tol="linalg")
    of("grad_eigenvalues", "jax.grad of jax.numpy.linalg.eigvalsh", la.eigvalsh, matrix(2, 3, 3, eye=1.0), tol="linalg")

    # Second derivatives: the gradient, weighted again, of the gradient.
    def twice(name, source, f, x, tol="linalg"):
        g = weighted(jax.grad(weighted(f)))
        case(name, source, [x], np.asarray(jax.grad(g)(jnp.asarray(x))), tol)

    twice("grad2_inv", "jax.grad twice of jax.numpy.linalg.inv", la.inv, matrix(3, 3, eye=4.0))
    for n, source in [(3, "n = 3"), (4, "n = 4")]:
        twice("grad2_det", f"jax.grad twice of jax.numpy.linalg.det, {source}", la.det, matrix(n, n, eye=1.0))
    twice("grad2_slogdet", "jax.grad twice of jax.numpy.linalg.slogdet", lambda a: la.slogdet(a)[1], matrix(4, 4, eye=4.0))
    # Not of a lower rank: nearby there are matrices of a higher one, whose pseudoinverses are arbitrarily large.
    for name, x in [("tall", matrix(5, 3)), ("wide", matrix(3, 5)), ("of equal singular values", np.eye(3))]:
        twice("grad2_pinv", f"jax.grad twice of jax.numpy.linalg.pinv, {name}", lambda x: la.pinv(x, rcond=1e-10), x)
    twice("grad2_matrix_exp", "jax.grad twice of jax.scipy.linalg.expm", jsl.expm, matrix(3, 3))
    twice("grad2_cholesky", "jax.grad twice of jax.numpy.linalg.cholesky", la.cholesky, matrix(3, 3, eye=9.0))

    def second(f, i):
        h = D(10) ** -14

        def curvature(*xs):
            up, down = list(xs), list(xs)
            up[i] += h
            down[i] -= h
            return (f(*up) - 2 * f(*xs) + f(*down)) / (h * h)
        return exactly(curvature)

    weights = lambda x: (1 + np.arange(x.size)) ** 2
    points = np.array([(0.5, 0.3), (1.5, 1.0), (1.5, 4.0), (9.0, 7.0), (40.0, 50.0), (150.0, 140.0), (150.0, 250.0)])
    for i, by in enumerate("ax"):
        a, x = points.T
        case(f"grad2_igamma_{by}", "second differences in 60 digits", [a, x], second(gamma_p, i)(a, x) / weights(a), "relative 1e-8")
    points = np.array([(0.5, 1.5, 0.3), (2.0, 3.0, 0.6), (20.0, 12.0, 0.6), (15.0, 2.0, 0.95)])
    for i, by in enumerate("abx"):
        case(f"grad2_betainc_{by}", "second differences in 60 digits", list(points.T), second(beta_i, i)(*points.T) / weights(points[:, 0]), "relative 1e-8")
    x = np.array([-9.0, -3.0, 0.5, 3.0, 9.0])
    case("grad2_i1e", "the derivative of i0e - i1e (sign + 1/x)", [x],
         ((sp.i1e(x) - np.sign(x) * sp.i0e(x)) - (sp.i0e(x) - sp.i1e(x) * (np.sign(x) + 1 / x)) * (np.sign(x) + 1 / x) + sp.i1e(x) / x**2) / weights(x), "relative 1e-8")

    # Of complex matrices, by JAX's convention: of the real parts and half of the imaginary parts of the results.
    def of_complex(name, f, *xs):
        def sum_of(*xs):
            y = jnp.ravel(f(*xs))
            return jnp.sum((y.real + y.imag / 2) / (1 + jnp.arange(y.size)))
        xs = [np.asarray(x) for x in xs]
        case(f"grad_complex_{name}", f"jax.grad of {name} of complex matrices", xs, np.asarray(jax.grad(sum_of)(*map(jnp.asarray, xs))), "linalg")

    z = matrix(4, 4, eye=4.0) + 1j * matrix(4, 4, k=2)
    of_complex("solve", la.solve, z, matrix(4, 2) + 1j * matrix(4, 2, k=2))
    of_complex("inv", la.inv, z)
    of_complex("det", la.det, z[:3, :3])
    of_complex("det", la.det, z)
    of_complex("slogdet", lambda z: la.slogdet(z)[1], z)
    of_complex("pinv", la.pinv, z[:, :2])
    of_complex("matrix_exp", jsl.expm, z / 4)
    of_complex("cholesky", la.cholesky, z + 8 * np.eye(4))
    of_complex("eigenvalues", la.eigvalsh, z)
