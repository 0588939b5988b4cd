"""Cases of control flow, random bits and escapes."""

import jax
import jax.numpy as jnp
import numpy as np
from evx import *
from shape import ints


def cond():
    o = File("cond", "cond: branches capture; several results; nesting.")
    text = """func @cond(%p: tensor<bool>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %r = evoxc.cond(%p) : tensor<2xf32> {
    then() {
      %a = evoxc.neg(%x) : tensor<2xf32>
      yield %a
    }
    else() {
      yield %x
    }
  }
  return %r
}"""
    x = arr("f32", [1, -2])
    for p in (True, False):
        o.case(text, [np.array(p), x], [-x if p else x], "definition: -x if p, else x")
    text = """func @cond_two(%p: tensor<bool>, %x: tensor<i32>, %y: tensor<f32>) -> (tensor<i32>, tensor<f32>) {
  %r, %s = evoxc.cond(%p) : tensor<i32>, tensor<f32> {
    then() {
      %a = evoxc.add(%x, %x) : tensor<i32>
      yield %a, %y
    }
    else() {
      %b = evoxc.mul(%y, %y) : tensor<f32>
      yield %x, %b
    }
  }
  return %r, %s
}"""
    for p in (True, False):
        o.case(text, [np.array(p), np.array(5, np.int32), arr("f32", 3)], [np.array(10 if p else 5, np.int32), arr("f32", 3 if p else 9)], "definition: (2x, y) if p, else (x, y²)")
    text = """func @cond_nested(%p: tensor<bool>, %q: tensor<bool>, %x: tensor<f32>) -> tensor<f32> {
  %r = evoxc.cond(%p) : tensor<f32> {
    then() {
      %s = evoxc.cond(%q) : tensor<f32> {
        then() {
          %a = evoxc.exp2(%x) : tensor<f32>
          yield %a
        }
        else() {
          yield %x
        }
      }
      %t = evoxc.add(%s, %x) : tensor<f32>
      yield %t
    }
    else() {
      %n = evoxc.neg(%x) : tensor<f32>
      yield %n
    }
  }
  return %r
}"""
    for p, q, r in ((True, True, 11), (True, False, 6), (False, True, -3)):
        o.case(text, [np.array(p), np.array(q), arr("f32", 3)], [arr("f32", r)], "definition: p ? (q ? 2^x : x) + x : -x", "exact")
    text = """func @cond_symbolic(%p: tensor<bool>, %x: tensor<Bxf32>) -> tensor<Bxf32> {
  %r = evoxc.cond(%p) : tensor<Bxf32> {
    then() {
      %a = evoxc.abs(%x) : tensor<Bxf32>
      yield %a
    }
    else() {
      yield %x
    }
  }
  return %r
}"""
    for b in (0, 2):
        x = -np.arange(1, b + 1, dtype=np.float32)
        o.case(text, [np.array(True), x], [np.abs(x)], "definition: |x| if p, else x")
    n = o.write()

    o = File("switch", "switch: out of range takes the last branch.")
    text = """func @switch(%i: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {
  %r = evoxc.switch(%i) : tensor<f32> {
    branch0() {
      %a = evoxc.neg(%x) : tensor<f32>
      yield %a
    }
    branch1() {
      %b = evoxc.mul(%x, %x) : tensor<f32>
      yield %b
    }
    branch2() {
      yield %x
    }
  }
  return %r
}"""
    for i, r in ((0, -5), (1, 25), (2, 5), (3, 5), (-1, 5), (imin("i32"), 5), (imax("i32"), 5)):
        o.case(text, [np.array(i, np.int32), arr("f32", 5)], [arr("f32", r)], "StableHLO spec: case; out of range is the last branch")
    text = """func @switch_one(%i: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %r, %s = evoxc.switch(%i) : tensor<i32>, tensor<i32> {
    branch0() {
      %a = evoxc.add(%i, %i) : tensor<i32>
      yield %a, %i
    }
  }
  return %r, %s
}"""
    for i in (0, 4):
        o.case(text, [np.array(i, np.int32)], [np.array(2 * i, np.int32), np.array(i, np.int32)], "definition: a single branch always runs")
    return n + o.write()


def loops():
    o = File("while_loop", "while_loop: zero turns, several states, nesting, captures.")
    text = """func @while_count(%n: tensor<i32>, %x: tensor<f32>) -> (tensor<i32>, tensor<f32>) {
  %zero = evoxc.constant() {value = dense<0> : tensor<i32>} : tensor<i32>
  %i, %y = evoxc.while_loop(%zero, %x) : tensor<i32>, tensor<f32> {
    cond(%a: tensor<i32>, %b: tensor<f32>) {
      %p = evoxc.compare(%a, %n) {direction = lt, order = ieee} : tensor<bool>
      yield %p
    }
    body(%a: tensor<i32>, %b: tensor<f32>) {
      %one = evoxc.constant() {value = dense<1> : tensor<i32>} : tensor<i32>
      %c = evoxc.add(%a, %one) : tensor<i32>
      %d = evoxc.add(%b, %b) : tensor<f32>
      yield %c, %d
    }
  }
  return %i, %y
}"""
    for k in (0, 1, 5, -3):
        o.case(text, [np.array(k, np.int32), arr("f32", 1.5)], [np.array(max(k, 0), np.int32), arr("f32", 1.5 * 2 ** max(k, 0))], "formula: x · 2^n")
    text = """func @while_nested(%n: tensor<i32>) -> tensor<i32> {
  %zero = evoxc.constant() {value = dense<0> : tensor<i32>} : tensor<i32>
  %one = evoxc.constant() {value = dense<1> : tensor<i32>} : tensor<i32>
  %i, %s = evoxc.while_loop(%zero, %zero) : tensor<i32>, tensor<i32> {
    cond(%a: tensor<i32>, %b: tensor<i32>) {
      %p = evoxc.compare(%a, %n) {direction = lt, order = ieee} : tensor<bool>
      yield %p
    }
    body(%a: tensor<i32>, %b: tensor<i32>) {
      %j, %t = evoxc.while_loop(%zero, %b) : tensor<i32>, tensor<i32> {
        cond(%c: tensor<i32>, %d: tensor<i32>) {
          %q = evoxc.compare(%c, %a) {direction = lt, order = ieee} : tensor<bool>
          yield %q
        }
        body(%c: tensor<i32>, %d: tensor<i32>) {
          %e = evoxc.add(%c, %one) : tensor<i32>
          %f = evoxc.add(%d, %c) : tensor<i32>
          yield %e, %f
        }
      }
      %k = evoxc.add(%a, %one) : tensor<i32>
      yield %k, %t
    }
  }
  return %s
}"""
    for k in (0, 1, 4, 6):
        o.case(text, [np.array(k, np.int32)], [np.array(sum(j for i in range(k) for j in range(i)), np.int32)], "python: sum(j for i in range(n) for j in range(i))")
    text = """func @while_swap(%n: tensor<i32>, %x: tensor<i32>, %y: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %one = evoxc.constant() {value = dense<1> : tensor<i32>} : tensor<i32>
  %zero = evoxc.constant() {value = dense<0> : tensor<i32>} : tensor<i32>
  %k, %a, %b = evoxc.while_loop(%n, %x, %y) : tensor<i32>, tensor<i32>, tensor<i32> {
    cond(%i: tensor<i32>, %p: tensor<i32>, %q: tensor<i32>) {
      %c = evoxc.compare(%i, %zero) {direction = gt, order = ieee} : tensor<bool>
      yield %c
    }
    body(%i: tensor<i32>, %p: tensor<i32>, %q: tensor<i32>) {
      %j = evoxc.sub(%i, %one) : tensor<i32>
      yield %j, %q, %p
    }
  }
  return %a, %b
}"""
    for k in (0, 1, 2, 7):
        r = (3, 4) if k % 2 == 0 else (4, 3)
        o.case(text, [np.array(k, np.int32), np.array(3, np.int32), np.array(4, np.int32)], [np.array(v, np.int32) for v in r], "definition: x and y change places n times")
    n = o.write()

    o = File("scan", "scan: carry and ys, reverse, without xs, without carry, symbolic length.")
    def scan_text(name, length, rev, t="f32"):
        L = length
        return f"""func @{name}(%c: tensor<{t}>, %xs: tensor<{L}x{t}>) -> (tensor<{t}>, tensor<{L}x{t}>) {{
  %r, %ys = evoxc.scan(%c, %xs) {{carry = 1, length = {L}{', reverse = true' if rev else ''}}} : tensor<{t}>, tensor<{L}x{t}> {{
    body(%a: tensor<{t}>, %x: tensor<{t}>) {{
      %s = evoxc.add(%a, %x) : tensor<{t}>
      %p = evoxc.mul(%a, %x) : tensor<{t}>
      yield %s, %p
    }}
  }}
  return %r, %ys
}}"""
    def run(c, xs, rev):
        ys = np.zeros_like(xs)
        for i in (reversed(range(len(xs))) if rev else range(len(xs))):
            ys[i] = c * xs[i]
            c = (c + xs[i]).astype(xs.dtype)
        return c, ys
    for d in ("f32", "f64", "i32", "u8", "c64", "f16"):
        for rev in (False, True):
            c, xs = np.array(2).astype(NAMES[d]), np.array([1, 2, 3, 4]).astype(NAMES[d])
            o.case(scan_text(f"scan_{d}{'_reverse' if rev else ''}", 4, rev, d), [c, xs], list(run(c, xs, rev)), "python: the loop, ys at the index of their x")
    for b in (0, 1, 3):
        for rev in (False, True):
            c, xs = arr("f32", 2), np.arange(1, b + 1).astype(np.float32)
            o.case(scan_text("scan_symbolic", "B", rev), [c, xs], list(run(c, xs, rev)), "python: the loop; the initial carry for B = 0")
    text = """func @scan_no_xs(%c: tensor<i32>) -> (tensor<i32>, tensor<5xi32>) {
  %r, %ys = evoxc.scan(%c) {carry = 1, length = 5} : tensor<i32>, tensor<5xi32> {
    body(%a: tensor<i32>) {
      %s = evoxc.add(%a, %a) : tensor<i32>
      yield %s, %a
    }
  }
  return %r, %ys
}"""
    o.case(text, [np.array(3, np.int32)], [np.array(96, np.int32), np.array([3, 6, 12, 24, 48], np.int32)], "formula: 3 · 2^i")
    text = """func @scan_no_carry(%xs: tensor<3x2xf32>) -> tensor<3xf32> {
  %ys = evoxc.scan(%xs) {carry = 0, length = 3} : tensor<3xf32> {
    body(%x: tensor<2xf32>) {
      %s = evoxc.reduce_sum(%x) {axes = [0]} : tensor<f32>
      yield %s
    }
  }
  return %ys
}"""
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    o.case(text, [x], [x.sum(1)], "numpy: x.sum(1)")
    text = """func @scan_no_ys(%c: tensor<2xf32>, %xs: tensor<3x2xf32>, %k: tensor<2xf32>) -> tensor<2xf32> {
  %r = evoxc.scan(%c, %xs) {carry = 1, length = 3} : tensor<2xf32> {
    body(%a: tensor<2xf32>, %x: tensor<2xf32>) {
      %m = evoxc.mul(%a, %k) : tensor<2xf32>
      %s = evoxc.add(%m, %x) : tensor<2xf32>
      yield %s
    }
  }
  return %r
}"""
    c, k = arr("f32", [1, 1]), arr("f32", [2, 3])
    r = c
    for row in x:
        r = r * k + row
    o.case(text, [c, x, k], [r], "python: Horner's rule, k captured")
    text = """func @scan_two(%a: tensor<i32>, %b: tensor<f32>, %xs: tensor<3xi32>, %zs: tensor<3xf32>) -> (tensor<i32>, tensor<f32>, tensor<3xf32>, tensor<3xi32>) {
  %r, %s, %u, %v = evoxc.scan(%a, %b, %xs, %zs) {carry = 2, length = 3} : tensor<i32>, tensor<f32>, tensor<3xf32>, tensor<3xi32> {
    body(%c: tensor<i32>, %d: tensor<f32>, %x: tensor<i32>, %z: tensor<f32>) {
      %e = evoxc.add(%c, %x) : tensor<i32>
      %f = evoxc.add(%d, %z) : tensor<f32>
      yield %e, %f, %d, %c
    }
  }
  return %r, %s, %u, %v
}"""
    o.case(text, [np.array(1, np.int32), arr("f32", 0.5), np.array([1, 2, 3], np.int32), arr("f32", [10, 20, 30])],
           [np.array(7, np.int32), arr("f32", 60.5), arr("f32", [0.5, 10.5, 30.5]), np.array([1, 2, 4], np.int32)], "python: the loop")
    text = """func @scan_nested(%c: tensor<i32>, %xs: tensor<2x3xi32>) -> (tensor<i32>, tensor<2x3xi32>) {
  %r, %ys = evoxc.scan(%c, %xs) {carry = 1, length = 2} : tensor<i32>, tensor<2x3xi32> {
    body(%a: tensor<i32>, %row: tensor<3xi32>) {
      %s, %y = evoxc.scan(%a, %row) {carry = 1, length = 3} : tensor<i32>, tensor<3xi32> {
        body(%b: tensor<i32>, %x: tensor<i32>) {
          %t = evoxc.add(%b, %x) : tensor<i32>
          yield %t, %t
        }
      }
      yield %s, %y
    }
  }
  return %r, %ys
}"""
    m = np.arange(1, 7, dtype=np.int32).reshape(2, 3)
    o.case(text, [np.array(10, np.int32), m], [np.array(31, np.int32), (10 + np.cumsum(m)).reshape(2, 3).astype(np.int32)], "numpy: 10 + cumsum")
    n += o.write()

    o = File("call", "call: of other functions, nested, with several results, with rules, from regions.")
    text = """func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %s, %d = evoxc.call(%x, %y) {callee = @sum_and_difference} : tensor<2xf32>, tensor<2xf32>
  %t, %e = evoxc.call(%s, %d) {callee = @sum_and_difference, remat = true} : tensor<2xf32>, tensor<2xf32>
  return %t, %e
}
func @sum_and_difference(%a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %s = evoxc.add(%a, %b) : tensor<2xf32>
  %n = evoxc.call(%b) {callee = @negated} : tensor<2xf32>
  %d = evoxc.add(%a, %n) : tensor<2xf32>
  return %s, %d
}
func @negated(%a: tensor<2xf32>) -> tensor<2xf32> {
  %r = evoxc.neg(%a) : tensor<2xf32>
  return %r
}"""
    x, y = arr("f32", [1, 2]), arr("f32", [10, -4])
    o.case(text, [x, y], [2 * x, 2 * y], "formula: (x + y) ± (x - y)")
    text = """func @main(%x: tensor<f32>) -> tensor<f32> {
  %r = evoxc.call(%x) {callee = @square, jvp = @square_jvp} : tensor<f32>
  return %r
}
func @square(%a: tensor<f32>) -> tensor<f32> {
  %r = evoxc.mul(%a, %a) : tensor<f32>
  return %r
}
func @square_jvp(%a: tensor<f32>, %t: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %r = evoxc.mul(%a, %a) : tensor<f32>
  %u = evoxc.mul(%a, %t) : tensor<f32>
  %v = evoxc.add(%u, %u) : tensor<f32>
  return %r, %v
}"""
    o.case(text, [arr("f32", 3)], [arr("f32", 9)], "formula: x²; rules of derivatives do not change the value")
    text = """func @main(%n: tensor<i32>) -> tensor<i32> {
  %one = evoxc.constant() {value = dense<1> : tensor<i32>} : tensor<i32>
  %r = evoxc.while_loop(%one) : tensor<i32> {
    cond(%a: tensor<i32>) {
      %p = evoxc.compare(%a, %n) {direction = lt, order = ieee} : tensor<bool>
      yield %p
    }
    body(%a: tensor<i32>) {
      %b = evoxc.call(%a) {callee = @triple} : tensor<i32>
      yield %b
    }
  }
  return %r
}
func @triple(%a: tensor<i32>) -> tensor<i32> {
  %b = evoxc.add(%a, %a) : tensor<i32>
  %c = evoxc.add(%b, %a) : tensor<i32>
  return %c
}"""
    o.case(text, [np.array(50, np.int32)], [np.array(81, np.int32)], "python: the first power of 3 not below n")
    text = """func @main(%x: tensor<Bx2xf32>) -> tensor<Bxf32> {
  %r = evoxc.call(%x) {callee = @row_sums} : tensor<Bxf32>
  return %r
}
func @row_sums(%a: tensor<Bx2xf32>) -> tensor<Bxf32> {
  %r = evoxc.reduce_sum(%a) {axes = [1]} : tensor<Bxf32>
  return %r
}"""
    for b in (0, 1, 3):
        x = np.arange(2 * b, dtype=np.float32).reshape(b, 2)
        o.case(text, [x], [x.sum(1)], "numpy: x.sum(1)")
    return n + o.write()


MASK = (1 << 64) - 1


def splitmix64(key, i):
    """Steele, Lea, Flood 2014, with the constants of the published implementation (Vigna, splitmix64.c)."""
    z = (key + (i + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def philox(counter, key):
    """Salmon et al. 2011, philox4x32 of 10 rounds."""
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


# Random123's known-answer vectors.
assert philox([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
assert philox([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
assert splitmix64(1234567, 0) == 6457827717110365317


def random():
    o = File("random_bits", "random_bits: threefry2x32, splitmix64, philox4x32_10.")
    def case(alg, key, y, source, shape, d, label):
        o.op("random_bits", [key], [y], source, f"algorithm = {alg}, dtype = {d}, shape = {ints(shape)}", label=label)

    for raw in ((0, 0), (0, 42), (0xFFFFFFFF, 7), (123456789, 987654321)):
        key = np.array(raw, np.uint32)
        for d in UNSIGNED:
            for shape in ((5,), (2, 3), ()) if raw == (0, 42) else ((3,),):
                y = np.asarray(jax.random.bits(jax.random.wrap_key_data(jnp.asarray(key), impl="threefry2x32"), shape, NAMES[d]))
                case("threefry2x32", key, y, "jax: random.bits of the raw key, jax_threefry_partitionable", shape, d, f"threefry_{d}")
    keys = np.array([[0, 1], [2, 3]], np.uint32)
    y = np.stack([np.asarray(jax.random.bits(jax.random.wrap_key_data(jnp.asarray(k), impl="threefry2x32"), (3,), np.uint32)) for k in keys])
    case("threefry2x32", keys, y, "jax: random.bits of each raw key", (3,), "u32", "threefry_batch")
    for key in (0, 1234567, MASK):
        for d in UNSIGNED:
            w = 8 * NAMES[d].itemsize
            y = np.array([splitmix64(key, i) >> (64 - w) for i in range(5)], dtype=NAMES[d])
            case("splitmix64", np.array(key, np.uint64), y, "the published generator; the high bits for narrower dtypes", (5,), d, f"splitmix64_{d}")
    y = np.array([[splitmix64(k, i) for i in range(2)] for k in (5, 6, 7)], dtype=np.uint64)
    case("splitmix64", np.array([5, 6, 7], np.uint64), y, "the published generator, a stream a key", (2,), "u64", "splitmix64_batch")
    case("splitmix64", np.array(3, np.uint64), np.zeros((0,), np.uint64), "definition: no elements", (0,), "u64", "splitmix64_empty")
    case("splitmix64", np.array(3, np.uint64), np.array(splitmix64(3, 0), np.uint64), "the published generator", (), "u64", "splitmix64_rank0")
    for key in ((0, 0, 0, 0), (1, 2, 3, 4), (0xFFFFFFFF,) * 4):
        blocks = [philox([j, 0, key[2], key[3]], key[:2]) for j in range(3)]
        words = [x for b in blocks for x in b]
        for d in UNSIGNED:
            if d == "u64":
                v = [words[2 * i] | words[2 * i + 1] << 32 for i in range(5)]
            else:
                v = [x & imax(d) for x in words[:6]]
            case("philox4x32_10", np.array(key, np.uint32), np.array(v, NAMES[d]), "Random123: philox4x32_10, key = words 0 and 1, counter = (block, words 2 and 3); known-answer vector for key 0", (len(v),), d, f"philox_{d}")
    for b in (1, 4):
        y = np.array([splitmix64(9, i) for i in range(b)], dtype=np.uint64)
        o.case("func @splitmix64_symbolic(%k: tensor<u64>, %x: tensor<Bxf32>) -> tensor<Bxu64> {\n  %r = evoxc.random_bits(%k) {algorithm = splitmix64, dtype = u64, shape = [B]} : tensor<Bxu64>\n  return %r\n}",
               [np.array(9, np.uint64), np.zeros(b, np.float32)], [y], "the published generator")
    return o.write()


def escapes():
    n = 0
    for name in ("optimization_barrier", "stop_gradient"):
        o = File(name, f"{name}: the value, unchanged.")
        for d in ALL:
            x = np.array([0, 1, 1]).astype(NAMES[d])
            o.op(name, [x], [x], "definition: the value, unchanged", label=f"{name}_{d}")
        if name == "optimization_barrier":
            x, y = arr("f32", [np.nan, -0.0]), np.array(3, np.int32)
            o.op(name, [x, y], [x, y], "definition: the values, unchanged", label=f"{name}_two")
        n += o.write()
    o = File("print", "print: no results, the value goes on.")
    x = arr("f32", [1, 2])
    o.case('func @print(%x: tensor<2xf32>) -> tensor<2xf32> {\n  evoxc.print(%x) {label = "x"}\n  %y = evoxc.neg(%x) : tensor<2xf32>\n  return %y\n}', [x], [-x], "definition")
    return n + o.write()
