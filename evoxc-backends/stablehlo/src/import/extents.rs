//! Extents that must be equal, and the symbols that this decides.
//!
//! A `?` in a program's text is a symbol of its own here. Where an op asks for two equal extents that differ as
//! expressions, one of their symbols is replaced, and the import starts again; each start takes one symbol away.

use evoxc_core::Dim;
use evoxc_ir::{AxisPair, Prim, TensorType};

type Pairs = Vec<(Dim, Dim)>;

/// Extents are asked to be multiples of at most this.
const MAX_MULTIPLE: i64 = 128;

fn zip(a: &[Dim], b: &[Dim], out: &mut Pairs) {
    if a.len() == b.len() {
        out.extend(a.iter().copied().zip(b.iter().copied()));
    }
}

fn pairs(p: &AxisPair, a: &TensorType, b: &TensorType, out: &mut Pairs) {
    let both = p.lhs.iter().zip(&p.rhs).filter_map(|(&i, &j)| a.shape.get(i).zip(b.shape.get(j)));
    out.extend(both.map(|(x, y)| (*x, *y)));
}

fn batching(a: &[usize], b: &[usize], x: &TensorType, indices: &TensorType, out: &mut Pairs) {
    let both = a.iter().zip(b).filter_map(|(&i, &j)| x.shape.get(i).zip(indices.shape.get(j)));
    out.extend(both.map(|(x, y)| (*x, *y)));
}

/// The updates' axes outside of the window are those of the indices.
fn updates(window: &[usize], index_vector: usize, indices: &TensorType, updates: &TensorType, out: &mut Pairs) {
    let batch = indices.shape.iter().enumerate().filter(|(i, _)| *i != index_vector).map(|(_, d)| *d);
    let outside = updates.shape.iter().enumerate().filter(|(i, _)| !window.contains(i)).map(|(_, d)| *d);
    out.extend(batch.zip(outside));
}

/// The pairs of extents that an op on operands of these types needs to be equal.
pub(super) fn equal(prim: &Prim, types: &[TensorType]) -> Pairs {
    let mut out = vec![];
    let all_like_first = |n: usize, out: &mut Pairs| {
        if let Some((first, rest)) = types.get(..n).and_then(<[_]>::split_first) {
            rest.iter().for_each(|t| zip(&first.shape, &t.shape, out));
        }
    };
    match (prim, types) {
        (Prim::Binary(_) | Prim::Compare { .. }, [a, b]) => zip(&a.shape, &b.shape, &mut out),
        (Prim::Select {}, [p, a, b]) => {
            zip(&a.shape, &b.shape, &mut out);
            zip(&p.shape, &a.shape, &mut out);
        }
        (Prim::Clamp {}, [low, x, high]) => {
            zip(&low.shape, &x.shape, &mut out);
            zip(&high.shape, &x.shape, &mut out);
        }
        (Prim::Concatenate { axis }, [first, rest @ ..]) => {
            for t in rest {
                let other = first.shape.iter().zip(&t.shape).enumerate().filter(|(i, _)| i != axis);
                out.extend(other.map(|(_, (a, b))| (*a, *b)));
            }
        }
        (Prim::Dot { batch, contract, .. }, [a, b]) => {
            pairs(batch, a, b, &mut out);
            pairs(contract, a, b, &mut out);
        }
        (Prim::Reshape { shape }, [x]) => out.push((x.shape.size(), shape.size())),
        (Prim::BroadcastInDim { shape, dims }, [x]) => {
            let both = x.shape.iter().zip(dims).filter_map(|(d, &a)| shape.get(a).map(|to| (*d, *to)));
            out.extend(both.filter(|(d, _)| *d != 1));
        }
        (Prim::Convolution { layout, feature_groups, .. }, [x, k]) => {
            if let (Some(&f), Some(&i)) = (layout.lhs.get(1), layout.rhs.get(1))
                && let (Some(&c), Some(&i)) = (x.shape.get(f), k.shape.get(i))
            {
                out.push((c, i * *feature_groups));
            }
        }
        (
            Prim::SelectAndScatter { window, .. } | Prim::SelectAndScatterBody { window },
            [x, source] | [x, source, _],
        ) if x.rank() == source.rank() => {
            // Where the window is one element, there are as many windows as elements.
            let plain = |k: &usize| {
                let one = window.size.get(*k).is_some_and(|s| *s == 1) && window.stride.get(*k) == Some(&1);
                one && window.padding.get(*k).is_some_and(|p| p.low == 0 && p.high == 0)
            };
            out.extend((0..x.rank()).filter(plain).filter_map(|k| Some((*x.shape.get(k)?, *source.shape.get(k)?))));
        }
        (Prim::ReduceBody { .. } | Prim::ReduceWindowBody { .. }, types) => all_like_first(types.len() / 2, &mut out),
        (Prim::Sort { .. } | Prim::SortBody { .. }, types) => all_like_first(types.len(), &mut out),
        (Prim::Gather { dims, .. }, [x, i]) => batching(&dims.operand_batching, &dims.indices_batching, x, i, &mut out),
        (Prim::Scatter { dims, .. } | Prim::ScatterBody { dims, .. }, types) if types.len() >= 3 => {
            let n = types.len() / 2;
            if let (Some(x), Some(i), Some(u)) = (types.first(), types.get(n), types.get(n + 1)) {
                batching(&dims.operand_batching, &dims.indices_batching, x, i, &mut out);
                updates(&dims.update_window, dims.index_vector, i, u, &mut out);
            }
        }
        (Prim::TriangularSolve { left, .. }, [a, b]) if a.rank() == b.rank() && a.rank() >= 2 => {
            let n = a.rank() - 2;
            out.extend(a.shape.iter().copied().zip(b.shape.iter().copied()).take(n));
            out.extend(a.shape.get(n).copied().zip(a.shape.get(n + 1).copied()));
            out.extend(a.shape.get(n).copied().zip(b.shape.get(n + usize::from(!left)).copied()));
        }
        (Prim::Cholesky { .. }, [a]) if a.rank() >= 2 => {
            let n = a.rank() - 2;
            out.extend(a.shape.get(n).copied().zip(a.shape.get(n + 1).copied()));
        }
        // All others have one operand, or none whose extents must agree; or another number of operands than they take,
        // which the type rule refuses.
        (_, _) => {}
    }
    out.retain(|(a, b)| a != b && !(a.is_const() && b.is_const()));
    out
}

/// The symbol to replace, and by what, so that `a` and `b` are equal. `last` says which symbols are kept where there is
/// a choice.
pub(super) fn solve(a: Dim, b: Dim, keep: &dyn Fn(Dim) -> bool) -> Option<(Dim, Dim)> {
    let (mut symbols, mut right) = (vec![], vec![]);
    a.symbols(&mut symbols);
    b.symbols(&mut right);
    let both: Vec<Dim> = symbols.iter().filter(|s| right.contains(s)).copied().collect();
    symbols.append(&mut right);
    // What stands on both sides is a factor that the equation does not decide.
    symbols.retain(|s| !both.contains(s));
    // Later names first, so that the first of several arguments gives its name; symbols to keep last.
    symbols.reverse();
    symbols.sort_by_key(|s| keep(*s));
    let at = |d: Dim, s: Dim, v: Dim| d.substitute(&mut |x| (x == s).then_some(v));
    let solved = symbols.into_iter().find_map(|s| {
        let at = |d: Dim, v: Dim| at(d, s, v);
        let gap = |v: Dim| at(a, v) - at(b, v);
        let zero = gap(Dim::constant(0));
        let slope = gap(Dim::constant(1)) - zero;
        if slope == 0 || slope.is_poison() {
            return None;
        }
        let value = -zero / slope;
        let fits = !value.is_poison()
            && value * slope == -zero
            && at(a, value) == at(b, value)
            && value.as_i64().is_none_or(|v| v >= 0);
        fits.then_some((s, value))
    });
    // Rounded quotients ask for a multiple: `4*n` is `8*(n/2)` where n is even.
    solved.or_else(|| {
        let multiple = |s: Dim, k: i64| at(a, s, s * k) == at(b, s, s * k);
        both.iter().find_map(|&s| (2..=MAX_MULTIPLE).find(|&k| multiple(s, k)).map(|k| (s, s * k)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use evoxc_core::dim;

    #[test]
    fn a_symbol_is_found_where_an_equation_decides_it() {
        let (s, t, n) = (dim("s"), dim("t"), Dim::constant(4));
        let none = |_: Dim| false;
        assert_eq!(solve(s, n, &none), Some((s, n)));
        assert_eq!(solve(s * 4, t * 4, &none), Some((t, s)));
        assert_eq!(solve(s * 4, t * 4, &|x| x == t), Some((s, t)));
        assert_eq!(solve(s + 1, n, &none), Some((s, Dim::constant(3))));
        assert_eq!(solve(s * 2, Dim::constant(3), &none), None);
        assert_eq!(solve(s + 5, n, &none), None);
        assert_eq!(solve(s * 4, (s / 2) * 8, &none), Some((s, s * 2)));
        assert_eq!(solve(s * t, s * n, &none), Some((t, n)));
    }
}
