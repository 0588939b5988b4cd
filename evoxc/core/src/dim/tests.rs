use super::*;

fn shown(d: Dim) -> String {
    d.to_string()
}

#[test]
fn texts() {
    let (a, b, c) = (dim("A"), dim("B"), dim("C"));
    let table: Vec<(Dim, &str)> = vec![
        (2 * b + 1, "2*B + 1"),
        (b / 2, "B/2"),
        (b % 4, "B % 4"),
        (b.min(3), "min(B, 3)"),
        (Dim::constant(-1), "-1"),
        (b - 5, "B - 5"),
        (5 - b, "5 - B"),
        (-b, "-B"),
        (-(b / 2), "-(B/2)"),
        (a - b / 2, "A - B/2"),
        (b * a * a, "A^2*B"),
        ((a + b) * (a - b), "A^2 - B^2"),
        (a * (b % 4), "A*(B % 4)"),
        ((a + 1) * (b % 4), "A*(B % 4) + B % 4"),
        (a + b % 4 - 1, "A + B % 4 - 1"),
        (3 * (b / 2), "3*(B/2)"),
        ((2 * a) / 3, "2*A/3"),
        (a / (2 * b), "A/(2*B)"),
        (a / b / c, "A/(B*C)"),
        (a / (b * b), "A/B^2"),
        ((a + 1) / b, "(A + 1)/B"),
        ((b / 2) % 3, "(B/2) % 3"),
        ((4 * a + 2) % 6, "2*((2*A + 1) % 3)"),
        (a % b, "A % B"),
        ((a / 2).max(b) * 2, "2*max(B, A/2)"),
        (100 / b, "100/B"),
        ((b + 7) / 8, "(B + 7)/8"),
        ((b / 2) * (b / 2), "(B/2)^2"),
        (Dim::constant(i64::MIN), "-9223372036854775808"),
        (Dim::constant(i64::MAX), "9223372036854775807"),
    ];
    for (d, text) in table {
        assert_eq!(shown(d), text);
        assert_eq!(format!("{d:?}"), text);
        assert_eq!(Dim::parse(text), Ok(d), "{text}");
    }
}

#[test]
fn identities() {
    let (a, b, c) = (dim("A"), dim("B"), dim("C"));
    let table: Vec<(Dim, Dim)> = vec![
        (a + b, b + a),
        (a * (b + c), c * a + b * a),
        (a - a, Dim::constant(0)),
        (a / 1, a),
        (a / a, Dim::constant(1)),
        (a * b / b, a),
        ((4 * a + 6) / 2, 2 * a + 3),
        ((4 * a + 7) / 2, 2 * a + 3),
        ((2 * a + 1) / 4, a / 2),
        (a / 2 / 3, a / 6),
        ((a / 2 + 1) / 3, (a + 2) / 6),
        ((5 * a + 1) / 2 / 3, (5 * a + 1) / 6),
        ((a + 2 * b) / 2 / 3, (a + 2 * b) / 6),
        ((a + b * c) / b, a / b + c),
        ((a * a - b * b) / (a + b), a - b),
        (a / (-b), (-a) / b),
        ((6 * a) / (4 * b), (3 * a) / (2 * b)),
        (a / (a + 1), Dim::constant(0)),
        ((2 * a + 1) / (a + 1), Dim::constant(1)),
        ((a % b) % b, a % b),
        ((a % 4) / 4, Dim::constant(0)),
        ((a % 4) / 8, Dim::constant(0)),
        (4 * (a / 4) + a % 4, a),
        ((a + 8) % 4, a % 4),
        (a % a, Dim::constant(0)),
        (Dim::constant(0) / a, Dim::constant(0)),
        (a.min(b), b.min(a)),
        (a.min(b).min(c), c.min(b.min(a))),
        (a.min(a + 1), a),
        (a.max(a + 1), a + 1),
        (a.max(0), a),
        (a.min(-1), Dim::constant(-1)),
        (a.min(a + b), a),
        (a.min(5).min(3), a.min(3)),
        (a.min(3).max(7), Dim::constant(7)),
        ((a % 4).max(3), Dim::constant(3)),
        ((a % 4).min(i64::MIN), Dim::constant(i64::MIN)),
        (a.min(i64::MAX), a.min(i64::MAX)),
    ];
    for (x, y) in table {
        assert!(!x.is_poison(), "{x}");
        assert_eq!(x, y);
    }
    assert_eq!(Dim::constant(-7) / 2, -4);
    assert_eq!(Dim::constant(-7) % 2, 1);
    assert_eq!(Dim::constant(7) / -2, -4);
    assert_eq!(Dim::constant(7) % -2, -1);
    assert_eq!(Dim::constant(3).get(), Some(3));
    assert_eq!(Dim::constant(-3).get(), None);
    assert_ne!(Dim::constant(-1), u64::MAX);
}

#[test]
fn failures() {
    let (a, b) = (dim("A"), dim("B"));
    let zero = |d: Dim| matches!(d.error(), Some(DimError::DivisionByZero { .. }));
    let over = |d: Dim| matches!(d.error(), Some(DimError::Overflow { .. }));
    assert!(zero(a / 0) && zero(a % 0) && zero(Dim::constant(1) / 0));
    assert!(zero((a / 0 + b).min(3) * b));
    assert!(over(Dim::constant(i64::MAX) + 1));
    assert!(over(Dim::constant(i64::MIN) / -1));
    assert!(over(-Dim::constant(i64::MIN)));
    assert!(over(a * i64::MAX + a));
    assert!(over(a + u64::MAX) && over(usize::MAX.to_dim()));
    assert_eq!(dim("").error(), Some(DimError::BadName(String::new())));
    assert!(dim("1a").is_poison() && dim("a-b").is_poison() && dim("é").is_poison());
    assert_eq!(shown(a / 0), "<error: division by zero in `A / 0`>");
    assert_eq!((a / 0).lower_bound(), None);
    assert_eq!((a / 0).checked().unwrap_err(), (a / 0).error().unwrap());
    let at_zero = (a / b).evaluate(&mut |s| Some(i64::from(s == a)));
    assert!(matches!(at_zero, Err(DimError::DivisionByZero { .. })));
    let unbound = (a + b).evaluate(&mut |s| (s == a).then_some(1));
    assert_eq!(unbound, Err(DimError::Unbound { symbol: "B".into() }));
    let large = (a * a).evaluate(&mut |_| Some(i64::MAX));
    assert!(matches!(large, Err(DimError::Overflow { .. })));
    for text in ["", "A +", "A B", "(A", "min(A", "é", "A $", "min()", "2^B", "A,", "<error: x>"] {
        let err = Dim::parse(text).unwrap_err();
        assert!(matches!(err, DimError::Parse { .. }), "{text}: {err}");
    }
    assert!(Dim::parse("A / 0").is_err());
    assert!(Dim::parse("99999999999999999999").is_err());
    assert_eq!(Dim::parse(&"(".repeat(100_000)), Err(DimError::TooDeep));
    assert_eq!(Dim::parse("(-1)^1000000"), Ok(Dim::constant(1)));
    assert_eq!(Dim::parse("min - max"), Ok(dim("min") - dim("max")));
}

#[test]
fn limits_hold() {
    let names: Vec<Dim> = (0..12).map(|i| dim(&format!("L{i}"))).collect();
    let sum = names.iter().fold(Dim::constant(1), |s, &d| s + d);
    let mut power = sum;
    for _ in 0..40 {
        power = power * sum;
    }
    assert_eq!(power.error(), Some(DimError::TooLarge));

    let mut high = names[0];
    for _ in 0..40 {
        high = high * names[0];
    }
    assert_eq!(high.error(), Some(DimError::TooLarge));

    let mut deep = names[0];
    for i in 0..200 {
        deep = (deep / names[1] * 3 + names[i % 12]).max(names[2]);
        assert!(shown(deep).len() < 200_000);
    }
    assert!(deep.is_poison());

    let mut double = names[0];
    for i in 1..200 {
        double = (double / 3 + names[i % 12]).max(double / 5 - i as i64);
    }
    assert!(double.is_poison());

    let mut nest = names[0];
    for i in 0..100 {
        nest = (nest / 2) % 3 + (nest % 7) * names[i % 3];
        let _ = shown(nest).len();
    }
    assert!(nest.is_poison());

    let mut many = names[0];
    for i in 0..200 {
        many = many.min(dim(&format!("M{i}")));
    }
    assert_eq!(many.error(), Some(DimError::TooLarge));
}

#[test]
fn queries() {
    let (a, b) = (dim("A"), dim("B"));
    let mut out = Vec::new();
    (b / (a + 1) + a.min(b)).symbols(&mut out);
    assert_eq!(out, [a, b]);
    assert_eq!(a.symbol_name().as_deref(), Some("A"));
    assert_eq!((a + 1).symbol_name(), None);
    assert_eq!((3 * a - 2).solve(7), Some((a, 3)));
    assert_eq!((3 * a - 2).solve(8), None);
    assert_eq!((3 * a - 2).solve(-5), None);
    assert_eq!((5 - a).solve(2), Some((a, 3)));
    assert_eq!((a + b).solve(2), None);
    assert_eq!((a * a).solve(4), None);
    assert_eq!(a.lower_bound(), Some(0));
    assert_eq!(a.upper_bound(), None);
    assert_eq!((a % 4 + 1).lower_bound(), Some(1));
    assert_eq!((a % 4 + 1).upper_bound(), Some(4));
    assert_eq!(((a / 2) % 3).upper_bound(), Some(2));
    assert_eq!((5 - a).upper_bound(), Some(5));
    assert_eq!(a.min(7).upper_bound(), Some(7));
    let swap = |d: Dim| d.substitute(&mut |s| Some(if s == a { b } else { a }));
    assert_eq!(swap(a / b + a.min(3) * 2), b / a + b.min(3) * 2);
    assert!((a / b).substitute(&mut |_| Some(Dim::constant(0))).is_poison());
    assert_eq!((a * b).substitute(&mut |s| (s == a).then(|| 3.to_dim())), 3 * b);
    assert_eq!(a.cmp_structural(b), Ordering::Less);
    assert_eq!(a.cmp_structural(1.to_dim()), Ordering::Less);
    assert_eq!((a + 1).cmp_structural(a), Ordering::Greater);
    assert_eq!(std::mem::size_of::<Dim>(), 8);
}

/// A small deterministic generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

enum Tree {
    Const(i64),
    Symbol(usize),
    Node(Op, Box<Tree>, Box<Tree>),
}

const NAMES: [&str; 4] = ["P", "Q", "R", "S"];

impl Tree {
    fn random(r: &mut Random, depth: u64) -> Tree {
        if depth == 0 || r.below(8) == 0 {
            return match r.below(3) {
                0 => Tree::Const(r.below(17) as i64 - 6),
                _ => Tree::Symbol(r.below(4) as usize),
            };
        }
        let op = match r.below(11) {
            0..3 => Op::Add,
            3..5 => Op::Sub,
            5..7 => Op::Mul,
            7 => Op::Div,
            8 => Op::Rem,
            9 => Op::Min,
            _ => Op::Max,
        };
        let left = Tree::random(r, depth - 1);
        // Constant divisors are the usual ones.
        let right = if matches!(op, Op::Div | Op::Rem) && r.below(3) > 0 {
            Tree::Const([2, 3, 4, 6, 8, -3][r.below(6) as usize])
        } else {
            Tree::random(r, depth - 1)
        };
        Tree::Node(op, Box::new(left), Box::new(right))
    }

    fn build(&self) -> Dim {
        match self {
            Tree::Const(v) => Dim::constant(*v),
            Tree::Symbol(i) => dim(NAMES[*i]),
            Tree::Node(op, a, b) => apply(*op, a.build(), b.build()),
        }
    }

    /// The same expression, commuted and distributed; with `shift` also
    /// with multiples of a divisor added.
    fn build_other(&self, shift: bool) -> Dim {
        let Tree::Node(op, a, b) = self else {
            return self.build();
        };
        match (op, &**b) {
            (Op::Mul, Tree::Node(inner @ (Op::Add | Op::Sub), x, y)) => {
                let (a, x, y) = (a.build_other(shift), x.build_other(shift), y.build_other(shift));
                apply(*inner, x * a, a * y)
            }
            (Op::Div, _) if shift => {
                let (a, b) = (a.build_other(shift), b.build_other(shift));
                (a - 2 * b) / b + 2
            }
            (Op::Rem, _) if shift => {
                let (a, b) = (a.build_other(shift), b.build_other(shift));
                (a + 3 * b) % b
            }
            (Op::Div | Op::Rem, _) => apply(*op, a.build_other(shift), b.build_other(shift)),
            (Op::Sub, _) => -(b.build_other(shift) - a.build_other(shift)),
            _ => apply(*op, b.build_other(shift), a.build_other(shift)),
        }
    }

    fn value(&self, at: &[i64]) -> Option<i128> {
        Some(match self {
            Tree::Const(v) => (*v).into(),
            Tree::Symbol(i) => at[*i].into(),
            Tree::Node(op, a, b) => {
                let (a, b) = (a.value(at)?, b.value(at)?);
                if a.abs() > 1 << 40 || b.abs() > 1 << 40 {
                    return None;
                }
                match op {
                    Op::Add => a + b,
                    Op::Sub => a - b,
                    Op::Mul => a * b,
                    Op::Div | Op::Rem if b == 0 => return None,
                    Op::Div => (a - (a % b + b) % b) / b,
                    Op::Rem => (a % b + b) % b,
                    Op::Min => a.min(b),
                    Op::Max => a.max(b),
                }
            }
        })
    }
}

#[test]
fn random_expressions() {
    let mut r = Random(20240611);
    let (mut poisons, mut compared, mut same, mut different) = (0, 0, 0, 0);
    for round in 0..3000 {
        let tree = Tree::random(&mut r, 1 + round % 6);
        let d = tree.build();
        if d.is_poison() {
            poisons += 1;
            continue;
        }
        let shifted = tree.build_other(true);
        assert_eq!(tree.build_other(false), d);
        assert_eq!(Dim::parse(&shown(d)), Ok(d), "{d}");
        same += 1;
        different += usize::from(shifted != d);
        let mut symbols = Vec::new();
        d.symbols(&mut symbols);
        assert_eq!(d.substitute(&mut |_| None), d);
        for round in 0..12 {
            let top = [1, 2, 5, 40][round % 4];
            let at: Vec<i64> = (0..4).map(|_| r.below(top + 1) as i64).collect();
            let Some(v) = tree.value(&at).and_then(|v| i64::try_from(v).ok()) else {
                continue;
            };
            let find = |s: Dim| {
                let name = s.symbol_name()?;
                NAMES.iter().position(|n| **n == *name).map(|i| at[i])
            };
            compared += 1;
            assert_eq!(d.evaluate(&mut { find }), Ok(v), "{d} at {at:?}");
            // Without a normal form in common the values are still the same.
            assert!(shifted.is_poison() || shifted.evaluate(&mut { find }) == Ok(v));
            assert!(d.lower_bound().is_none_or(|b| b <= v), "{d} at {at:?}");
            assert!(d.upper_bound().is_none_or(|b| b >= v), "{d} at {at:?}");
            let bound = d.substitute(&mut |s| find(s).map(Dim::constant));
            assert!(bound.is_poison() || bound == v, "{d} at {at:?}: {bound}");
        }
    }
    assert!(poisons < 300, "{poisons} poisons");
    assert!(different * 100 < same, "{different} of {same} differ");
    assert!(same > 2500 && compared > 10_000, "{same} {compared}");
}
