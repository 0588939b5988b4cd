//! What index arithmetic comes to, by hand, and equal values by random expressions.

use super::*;
use crate::uop::AxisKind;
use proptest::prelude::*;

fn range(a: &mut Arena, number: u32, size: i64) -> UOp {
    let size = a.index(size);
    a.node(Op::Range(number, AxisKind::Loop), Ty::INDEX, &[size])
}
fn param(a: &mut Arena, n: u32) -> UOp {
    a.node(Op::Param(n), Ty::INDEX, &[])
}
/// Nodes as one writes them.
struct E<'a>(&'a mut Arena);
impl E<'_> {
    fn add(&mut self, x: UOp, y: UOp) -> UOp {
        self.0.alu(Alu::Add, &[x, y])
    }
    fn mul(&mut self, x: UOp, y: UOp) -> UOp {
        self.0.alu(Alu::Mul, &[x, y])
    }
    fn div(&mut self, x: UOp, y: UOp) -> UOp {
        self.0.node(Op::IndexDiv, Ty::INDEX, &[x, y])
    }
    fn rem(&mut self, x: UOp, y: UOp) -> UOp {
        self.0.node(Op::IndexMod, Ty::INDEX, &[x, y])
    }
    /// The position of coordinates in a dense row-major shape.
    fn flat(&mut self, at: &[UOp], shape: &[UOp]) -> UOp {
        let mut sum = at[0];
        for (&x, &n) in at.iter().zip(shape).skip(1) {
            sum = self.mul(sum, n);
            sum = self.add(sum, x);
        }
        sum
    }
    /// The inverse.
    fn coordinates(&mut self, mut flat: UOp, shape: &[UOp]) -> Vec<UOp> {
        let mut out = vec![];
        for &n in shape[1..].iter().rev() {
            out.push(self.rem(flat, n));
            flat = self.div(flat, n);
        }
        out.push(flat);
        out.reverse();
        out
    }
}

/// A reshape there and back is the identity, whatever the shapes between, symbolic ones too.
#[test]
fn reshapes_cancel() {
    for symbolic in [false, true] {
        let mut a = Arena::new();
        let shape: Vec<UOp> = (0..4)
            .map(|n| if symbolic && n != 2 { param(&mut a, n) } else { a.index([2, 3, 4, 5][n as usize]) })
            .collect();
        let at: Vec<UOp> = shape
            .iter()
            .enumerate()
            .map(|(n, &size)| a.node(Op::Range(n as u32, AxisKind::Loop), Ty::INDEX, &[size]))
            .collect();
        let mut e = E(&mut a);
        let flat = e.flat(&at, &shape);
        // As two axes: the first two and the last two together.
        let (rows, columns) = (e.mul(shape[0], shape[1]), e.mul(shape[2], shape[3]));
        let two = e.coordinates(flat, &[rows, columns]);
        let flat2 = e.flat(&two, &[rows, columns]);
        let back = e.coordinates(flat2, &shape);
        let all: Vec<UOp> = back.iter().map(|&u| simplify_index(&mut a, u)).collect();
        assert_eq!(all, at, "symbolic: {symbolic}");
        let (x, y) = (simplify_index(&mut a, flat), simplify_index(&mut a, flat2));
        assert_eq!(x, y);
    }
}

/// Coordinates of one range put together again are that range.
#[test]
fn recombination() {
    for symbolic in [false, true] {
        let mut a = Arena::new();
        let n = if symbolic { param(&mut a, 0) } else { a.index(3) };
        let shape = [a.index(7), n, a.index(5), a.index(4)];
        let size = shape.iter().copied().reduce(|x, y| a.alu(Alu::Mul, &[x, y])).unwrap_or(n);
        let i = a.node(Op::Range(0, AxisKind::Loop), Ty::INDEX, &[size]);
        let mut e = E(&mut a);
        let at = e.coordinates(i, &shape);
        let flat = e.flat(&at, &shape);
        assert_eq!(simplify_index(&mut a, flat), i, "symbolic: {symbolic}");
    }
}

#[test]
fn by_hand() {
    let mut a = Arena::new();
    let (i, j, k) = (range(&mut a, 0, 8), range(&mut a, 1, 32), range(&mut a, 2, 4));
    let c = [0, 1, 2, 4, 8, 12, 16, 32, 64].map(|v| a.index(v));
    let [_, one, two, four, eight, twelve, sixteen, thirty_two, sixty_four] = c;
    let mut e = E(&mut a);
    let x = e.mul(i, thirty_two);
    let x = e.add(x, j);
    let cases = [
        (e.div(x, thirty_two), i),
        (e.rem(x, thirty_two), j),
        // (32 i + j) / 64 = i / 2, and what is left
        (e.div(x, sixty_four), e.div(i, two)),
        (e.rem(x, sixty_four), {
            let odd = e.rem(i, two);
            let odd = e.mul(odd, thirty_two);
            e.add(odd, j)
        }),
        // nested
        (
            {
                let q = e.div(j, four);
                e.div(q, two)
            },
            e.div(j, eight),
        ),
        (
            {
                let q = e.rem(j, sixteen);
                e.rem(q, four)
            },
            e.rem(j, four),
        ),
        (
            {
                let q = e.rem(j, sixteen);
                e.div(q, four)
            },
            {
                let q = e.div(j, four);
                e.rem(q, four)
            },
        ),
        // common factors: (8 i + 4 k) / 12 = (2 i + k) / 3
        (
            {
                let (x, y) = (e.mul(i, eight), e.mul(k, four));
                let s = e.add(x, y);
                e.div(s, twelve)
            },
            {
                let x = e.mul(i, two);
                let s = e.add(x, k);
                let three = e.0.index(3);
                e.div(s, three)
            },
        ),
        (e.div(j, one), j),
    ];
    for (n, (from, to)) in cases.into_iter().enumerate() {
        assert_eq!(simplify_index(&mut a, from), to, "case {n}");
    }
}

/// Gates that always or never hold, with symbolic sizes.
#[test]
fn gates() {
    let mut a = Arena::new();
    let (n, c) = (param(&mut a, 0), param(&mut a, 1));
    let i = a.node(Op::Range(0, AxisKind::Loop), Ty::INDEX, &[n]);
    let j = a.node(Op::Range(1, AxisKind::Loop), Ty::INDEX, &[c]);
    let three = a.index(3);
    let (zero, shifted, wide) = (a.index(0), a.alu(Alu::Add, &[i, three]), a.alu(Alu::Add, &[n, three]));
    let (yes, no) = (a.constant(evoxc_core::DType::BOOL, 1), a.constant(evoxc_core::DType::BOOL, 0));
    let row = a.alu(Alu::Mul, &[i, c]);
    let flat = a.alu(Alu::Add, &[row, j]);
    let all = a.alu(Alu::Mul, &[n, c]);
    let cases = [
        (Alu::Lt, i, n, yes),
        (Alu::Le, n, i, no),
        (Alu::Le, zero, i, yes),
        (Alu::Lt, shifted, wide, yes),
        (Alu::Lt, shifted, three, no),
        (Alu::Lt, flat, all, yes),
        (Alu::Eq, shifted, i, no),
        (Alu::Min, i, n, i),
    ];
    for (op, x, y, expected) in cases {
        let u = a.alu(op, &[x, y]);
        assert_eq!(simplify_index(&mut a, u), expected, "{op:?}");
    }
    // Not decided, but in normal form: i + 3 < 5 is i < 2.
    let five = a.index(5);
    let (u, two) = (a.alu(Alu::Lt, &[shifted, five]), a.index(2));
    assert_eq!(simplify_index(&mut a, u), a.alu(Alu::Lt, &[i, two]));
}

/// The value of a node on `i64`s and bools, where ranges and parameters are given by number.
fn value(a: &Arena, root: UOp, given: &[i64]) -> i64 {
    let mut known: FxHashMap<UOp, i64> = FxHashMap::default();
    for u in substitute::reachable(a, &[root], 0) {
        let src: Vec<i64> = a.src(u).iter().map(|s| known[s]).collect();
        let v = match a.op(u) {
            Op::Const(v) => v as i64,
            Op::Range(n, _) | Op::Param(n) => given[n as usize],
            Op::IndexDiv => src[0].div_euclid(src[1].max(1)),
            Op::IndexMod => src[0].rem_euclid(src[1].max(1)),
            Op::Alu(op) => {
                let mut bits = [0; 3];
                src.iter().zip(&mut bits).for_each(|(&s, b)| *b = s as u64);
                let on = a.src(u).last().map_or(Ty::INDEX, |&s| a.ty(s));
                crate::uop::alu(op, on.dtype, bits) as i64
            }
            op => panic!("{op:?}"),
        };
        known.insert(u, v);
        let b = a.bounds(u);
        assert!(b.holds(v), "{:?} of {src:?} is {v}, not within {b:?}", a.op(u));
    }
    known[&root]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    /// Random index expressions have the same value in normal form, and in the same environment the values lie within bounds.
    #[test]
    fn same_value(sizes in prop::collection::vec(1i64..9, 6), steps in prop::collection::vec((0u8..14, 0usize..64, 0usize..64, 1i64..13), 1..24), at in prop::collection::vec(0i64..1000, 6)) {
        let mut a = Arena::new();
        // Four ranges, of which the last has the symbolic extent of the fifth value, which is a parameter like the sixth.
        let p = [param(&mut a, 4), param(&mut a, 5)];
        let mut values: Vec<UOp> = (0..3).map(|n| range(&mut a, n, sizes[n as usize] * 4)).collect();
        values.push(a.node(Op::Range(3, AxisKind::Loop), Ty::INDEX, &[p[0]]));
        values.extend(p);
        let mut given: Vec<i64> = (0..3).map(|n| at[n] % (sizes[n] * 4)).collect();
        given.extend([at[3] % sizes[4], sizes[4], sizes[5]]);
        let mut truths = vec![a.constant(evoxc_core::DType::BOOL, 1)];
        for (op, x, y, c) in steps {
            let (x, y, k) = (values[x % values.len()], values[y % values.len()], a.index(c));
            let divisor = if c % 3 == 0 { p[(c % 2) as usize] } else { k };
            let last = *truths.last().unwrap();
            let u = match op {
                0 | 1 => a.alu(Alu::Add, &[x, y]),
                2 => a.alu(Alu::Sub, &[x, y]),
                3 | 4 => a.alu(Alu::Mul, &[x, divisor]),
                5 | 6 => a.node(Op::IndexDiv, Ty::INDEX, &[x, divisor]),
                7 | 8 => a.node(Op::IndexMod, Ty::INDEX, &[x, divisor]),
                9 => a.alu(Alu::Min, &[x, y]),
                10 => a.alu(Alu::Add, &[x, k]),
                11 => a.alu([Alu::Lt, Alu::Le, Alu::Eq, Alu::Ne][(c % 4) as usize], &[x, if c % 2 == 0 { y } else { k }]),
                12 => a.alu(Alu::Select, &[last, x, y]),
                _ => a.alu(Alu::Neg, &[x]),
            };
            // Far from overflow, as positions in memory are.
            if op == 11 {
                let both = a.alu([Alu::And, Alu::Or][(c % 2) as usize], &[last, u]);
                truths.push(both);
            } else if value(&a, u, &given).abs() < 1 << 40 {
                values.push(u);
            }
        }
        let roots: Vec<UOp> = values.iter().chain(&truths).copied().collect();
        let simple = simplify_indices(&mut a, &roots);
        for (&x, &y) in roots.iter().zip(&simple) {
            prop_assert_eq!(value(&a, x, &given), value(&a, y, &given), "{}: {:?} {}", x.index(), a.get(x), y.index());
        }
        // Again, nothing changes.
        let again = simplify_indices(&mut a, &simple);
        for (&x, &y) in simple.iter().zip(&again) {
            prop_assert_eq!(value(&a, x, &given), value(&a, y, &given));
        }
        // What is affine is that.
        for n in 0..4 {
            let r = values[n];
            for &x in simple.iter().filter(|&&x| a.ty(x) == Ty::INDEX).collect::<Vec<_>>() {
                if let Some((by, rest)) = affine(&mut a, x, r) {
                    prop_assert!(!a.depends_on(by, r) && !a.depends_on(rest, r));
                    prop_assert_eq!(value(&a, by, &given).wrapping_mul(given[n]).wrapping_add(value(&a, rest, &given)), value(&a, x, &given));
                }
            }
        }
    }
}
