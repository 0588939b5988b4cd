//! Index arithmetic: sums, products, quotients of `i64` nodes, folded where numbers and bounds allow it.

use crate::uop::{Alu, Arena, AxisKind, Node, Op, Ty, UOp};

/// `x + y`; a number is the second operand.
pub(super) fn add(a: &mut Arena, x: UOp, y: UOp) -> UOp {
    let (x, y) = if a.as_index(x).is_some() { (y, x) } else { (x, y) };
    match (a.as_index(x), a.as_index(y)) {
        (Some(p), Some(q)) => a.index(p.wrapping_add(q)),
        (_, Some(0)) => x,
        (_, Some(q)) => {
            // (z + p) + q is z + (p + q), and p may be -q.
            if let [z, p] = *a.src(x)
                && a.op(x) == Op::Alu(Alu::Add)
                && let Some(p) = a.as_index(p)
            {
                let p = a.index(p.wrapping_add(q));
                return add(a, z, p);
            }
            a.alu(Alu::Add, &[x, y])
        }
        _ => a.alu(Alu::Add, &[x, y]),
    }
}

/// `x - y`.
pub(super) fn sub(a: &mut Arena, x: UOp, y: UOp) -> UOp {
    if x == y {
        return a.index(0);
    }
    if let Some(q) = a.as_index(y) {
        let minus = a.index(q.wrapping_neg());
        return add(a, x, minus);
    }
    a.alu(Alu::Sub, &[x, y])
}

/// `x * y`; a number is the second operand.
pub(super) fn mul(a: &mut Arena, x: UOp, y: UOp) -> UOp {
    let (x, y) = if a.as_index(x).is_some() { (y, x) } else { (x, y) };
    match (a.as_index(x), a.as_index(y)) {
        (Some(p), Some(q)) => a.index(p.wrapping_mul(q)),
        (_, Some(0)) => y,
        (_, Some(1)) => x,
        _ => a.alu(Alu::Mul, &[x, y]),
    }
}

/// Is `r` surely from 0 to below `n`?
pub(super) fn below(a: &Arena, r: UOp, n: UOp) -> bool {
    let b = a.bounds(r);
    if b.min < 0 {
        return false;
    }
    if let Some(n) = a.as_index(n) {
        return b.max < n;
    }
    matches!(a.get(r), Node { op: Op::Range(..) | Op::IndexMod, src, .. } if src.last() == Some(&n))
}

/// The quotient, rounded down, and what is left of `f` by a positive `n`; `f` is not negative.
pub(super) fn div_mod(a: &mut Arena, f: UOp, n: UOp) -> (UOp, UOp) {
    let zero = a.index(0);
    if a.as_index(n) == Some(1) {
        return (f, zero);
    }
    if below(a, f, n) {
        return (zero, f);
    }
    if let (Some(p), Some(q)) = (a.as_index(f), a.as_index(n))
        && q > 0
    {
        return (a.index(p.div_euclid(q)), a.index(p.rem_euclid(q)));
    }
    if let [x, y] = *a.src(f)
        && a.op(f) == Op::Alu(Alu::Mul)
    {
        if y == n {
            return (x, zero);
        }
        if x == n {
            return (y, zero);
        }
    }
    if let [m, r] = *a.src(f)
        && a.op(f) == Op::Alu(Alu::Add)
        && below(a, r, n)
        && let [x, y] = *a.src(m)
        && a.op(m) == Op::Alu(Alu::Mul)
    {
        if y == n {
            return (x, r);
        }
        if x == n {
            return (y, r);
        }
    }
    let n = positive(a, n);
    let div = a.node(Op::IndexDiv, Ty::INDEX, &[f, n]);
    let rem = a.node(Op::IndexMod, Ty::INDEX, &[f, n]);
    (div, rem)
}

/// An extent as a divisor: nothing divides by an empty one, but what does may be computed before that is known.
fn positive(a: &mut Arena, n: UOp) -> UOp {
    if a.bounds(n).min >= 1 {
        return n;
    }
    let one = a.index(1);
    a.alu(Alu::Max, &[n, one])
}

/// The place of an element in a dense row-major tensor.
pub(super) fn flat(a: &mut Arena, index: &[UOp], extents: &[UOp]) -> UOp {
    let mut at = a.index(0);
    for (&i, &n) in index.iter().zip(extents) {
        if let (Op::IndexDiv, Op::IndexMod) = (a.op(at), a.op(i))
            && a.src(at) == a.src(i)
        {
            let n = positive(a, n);
            if let [whole, by] = *a.src(at)
                && by == n
            {
                at = whole;
                continue;
            }
        }
        let scaled = mul(a, at, n);
        at = add(a, scaled, i);
    }
    at
}

/// The indices of the element at a place of a dense row-major tensor.
pub(super) fn unflat(a: &mut Arena, mut at: UOp, extents: &[UOp], out: &mut [UOp]) {
    for (n, (&extent, slot)) in extents.iter().zip(out).enumerate().rev() {
        if n == 0 {
            *slot = at;
        } else {
            let (q, r) = div_mod(a, at, extent);
            *slot = r;
            at = q;
        }
    }
}

/// `x < y` of indices: `Ok` of what it surely is.
pub(super) fn less(a: &mut Arena, x: UOp, y: UOp) -> Result<bool, UOp> {
    let (p, q) = (a.bounds(x), a.bounds(y));
    if p.max < q.min {
        return Ok(true);
    }
    if p.min >= q.max || x == y {
        return Ok(false);
    }
    if a.bounds(x).min >= 0 && below(a, x, y) {
        return Ok(true);
    }
    Err(a.alu(Alu::Lt, &[x, y]))
}

/// Both gates.
pub(super) fn both(a: &mut Arena, x: Option<UOp>, y: Option<UOp>) -> Option<UOp> {
    match (x, y) {
        (Some(x), Some(y)) if x == y => Some(x),
        (Some(x), Some(y)) => Some(a.alu(Alu::And, &[x, y])),
        (x, y) => x.or(y),
    }
}

/// A range, or 0 where there is one index only.
pub(super) fn range(a: &mut Arena, number: u32, kind: AxisKind, extent: UOp) -> UOp {
    if a.as_index(extent) == Some(1) {
        return a.index(0);
    }
    a.node(Op::Range(number, kind), Ty::INDEX, &[extent])
}
