//! Every rule on instances of its own pattern.

use super::{Dice, eval, same};
use crate::uop::{
    ARITHMETIC, Alu, Arena, AxisKind, CASTS, Kind, LOGIC, NUMBERS, Op, Pattern, Rule, Rules, SLOTS, Ty, UOp, heads,
    number, simplify_values,
};
use evoxc_core::DType;
use std::collections::BTreeMap;

const MACHINE: [DType; 7] = [DType::F32, DType::F64, DType::I32, DType::I64, DType::U32, DType::U64, DType::BOOL];
const SMALL: [DType; 6] = [DType::I8, DType::I16, DType::U8, DType::U16, DType::F16, DType::BF16];

/// Has the machine the op on this dtype of its last operand?
fn is_machine(op: Alu, d: DType) -> bool {
    use Alu::*;
    match op {
        Select => true,
        Eq | Ne => !SMALL.contains(&d),
        _ if SMALL.contains(&d) => false,
        And | Or | Xor | Not => !d.is_float(),
        IntDiv | IntRem | MulHigh | Shl | Shr | Sar => d.is_int(),
        Div | Sqrt | Floor | Ceil | RoundEven | Trunc | Fma => d.is_float(),
        Add | Sub | Mul | Min | Max | Neg | Abs | Lt | Le => !d.is_bool(),
    }
}

/// Random DAGs over eight loads of every dtype.
struct Make {
    a: Arena,
    dice: Dice,
    slots: [Option<UOp>; SLOTS],
}

impl Make {
    fn new(seed: u64) -> Make {
        Make { a: Arena::new(), dice: Dice(seed), slots: [None; SLOTS] }
    }
    fn load(&mut self, d: DType) -> UOp {
        let place = DType::ALL.iter().position(|&x| x == d).unwrap() as u32 * 8 + self.dice.below(3) as u32;
        let (memory, zero) = (self.a.node(Op::Buffer(place), Ty::memory(d), &[]), self.a.index(0));
        self.a.node(Op::Load, Ty::scalar(d), &[memory, zero])
    }
    fn constant(&mut self, d: DType) -> UOp {
        let bits = self.dice.bits(d);
        let power = number(d, 1 << self.dice.below(5)).unwrap_or(bits);
        let bits = self.dice.of(&[bits, bits, power]);
        self.a.constant(d, bits)
    }
    /// Something of a dtype: sometimes with bounds.
    fn leaf(&mut self, d: DType) -> UOp {
        match self.dice.below(6) {
            0 if !d.is_bool() => {
                let from = self.dice.of(&[DType::U8, DType::BOOL, DType::I16]);
                let x = self.load(from);
                self.a.node(Op::Cast, Ty::scalar(d), &[x])
            }
            1 if d == DType::I64 => {
                let size = self.a.index(10);
                self.a.node(Op::Range(0, AxisKind::Loop), Ty::INDEX, &[size])
            }
            2 => self.constant(d),
            3 if d.is_int() && !SMALL.contains(&d) => {
                let (x, c) = (self.load(d), self.a.constant(d, 15));
                self.a.alu(Alu::And, &[x, c])
            }
            4 if d == DType::F32 || d == DType::F64 => {
                let x = self.leaf(d);
                let op = self.dice.of(&[Alu::Floor, Alu::Ceil, Alu::RoundEven, Alu::Trunc]);
                self.a.alu(op, &[x])
            }
            _ => self.load(d),
        }
    }
    /// What the dtypes of a machine op's operands are, if it gives the dtype.
    fn operands(&mut self, op: Alu, d: DType) -> Option<Vec<DType>> {
        let on = if op.is_comparison() { self.dice.of(&MACHINE) } else { d };
        if (op.is_comparison() && !d.is_bool()) || !is_machine(op, on) {
            return None;
        }
        Some(if op == Alu::Select { vec![DType::BOOL, d, d] } else { vec![on; op.arity()] })
    }
    fn any(&mut self, d: DType, depth: usize) -> UOp {
        for _ in 0..20 {
            if depth == 0 {
                break;
            }
            if self.dice.below(8) == 0 && !d.is_complex() {
                let from = self.dice.of(&DType::ALL);
                if !from.is_complex() {
                    let x = self.any(from, depth - 1);
                    return self.a.node(Op::Cast, Ty::scalar(d), &[x]);
                }
            }
            let op = self.dice.of(Alu::ALL);
            if let Some(on) = self.operands(op, d) {
                let src: Vec<UOp> = on.into_iter().map(|d| self.any(d, depth - 1)).collect();
                return self.a.alu(op, &src);
            }
        }
        self.leaf(d)
    }
    /// A node of a dtype that looks like a pattern.
    fn like(&mut self, p: &Pattern, d: DType) -> Option<UOp> {
        match *p {
            Pattern::Any(slot) | Pattern::Const(slot) => {
                let is_const = matches!(p, Pattern::Const(_));
                let known = self.slots[usize::from(slot)];
                let u = match known {
                    Some(u) => u,
                    None if is_const => self.constant(d),
                    None if self.dice.below(3) == 0 => self.any(d, 1),
                    None => self.leaf(d),
                };
                self.slots[usize::from(slot)] = Some(u);
                (self.a.ty(u).dtype == d).then_some(u)
            }
            Pattern::Number(v) => number(d, v).map(|bits| self.a.constant(d, bits)),
            Pattern::Node(kind, sources) => {
                let op = Alu::ALL.iter().copied().find(|&op| Kind::alu(op) == kind);
                if let Some(op) = op {
                    let mut on = self.operands(op, d)?;
                    // A captured operand decides.
                    if op.is_comparison()
                        && let Some(u) = sources.iter().find_map(|p| match p {
                            Pattern::Any(slot) => self.slots[usize::from(*slot)],
                            _ => None,
                        })
                    {
                        on = vec![self.a.ty(u).dtype; 2];
                    }
                    let src: Option<Vec<UOp>> = sources.iter().zip(on).map(|(p, d)| self.like(p, d)).collect();
                    let mut src = src?;
                    if matches!(op, Alu::Add | Alu::Mul | Alu::And | Alu::Or | Alu::Xor) && self.dice.below(2) == 0 {
                        src.reverse();
                    }
                    return Some(self.a.alu(op, &src));
                }
                let from = match kind {
                    heads::Cast if self.dice.below(2) == 0 => d,
                    heads::Cast => {
                        self.dice.of(&[MACHINE, MACHINE].concat().into_iter().chain(SMALL).collect::<Vec<_>>())
                    }
                    heads::Bitcast => {
                        let same: Vec<DType> =
                            DType::ALL.into_iter().filter(|x| x.size() == d.size() && !x.is_complex()).collect();
                        self.dice.of(&same)
                    }
                    kind => panic!("no instance of {kind:?}"),
                };
                let [p] = sources else { panic!("one operand") };
                let inner = match (kind, p) {
                    // Of a cast.
                    (heads::Cast, Pattern::Any(_)) if self.dice.below(2) == 0 => {
                        let first = self.dice.of(&[
                            d,
                            DType::F32,
                            DType::I32,
                            DType::U8,
                            DType::F64,
                            DType::I64,
                            DType::BOOL,
                            DType::F16,
                        ]);
                        let x = self.leaf(first);
                        self.a.node(Op::Cast, Ty::scalar(from), &[x])
                    }
                    _ => self.like(p, from)?,
                };
                let op = if kind == heads::Cast { Op::Cast } else { Op::Bitcast };
                Some(self.a.node(op, Ty::scalar(d), &[inner]))
            }
        }
    }
    fn environment(&mut self) -> Vec<u64> {
        let all = DType::ALL;
        (0..8 * all.len()).map(|n| if all[n / 8].is_complex() { 0 } else { self.dice.bits(all[n / 8]) }).collect()
    }
    /// Have both the same values?
    fn check(&mut self, name: &str, x: UOp, y: UOp) {
        assert_eq!(self.a.ty(x), self.a.ty(y), "{name}");
        for _ in 0..12 {
            let (loads, numbers) = (self.environment(), [self.dice.below(10) as i64]);
            if let Some(before) = eval(&self.a, x, &loads, &numbers) {
                let after =
                    eval(&self.a, y, &loads, &numbers).unwrap_or_else(|| panic!("{name}: has no meaning any more"));
                let d = self.a.ty(x).dtype;
                assert!(
                    same(d, before, after),
                    "{name}: {before:#x} became {after:#x}, of {d}: {:?} of {:?}",
                    self.a.get(x),
                    self.a.src(x).iter().map(|&s| self.a.get(s)).collect::<Vec<_>>()
                );
            }
        }
    }
}

#[test]
fn every_rule_preserves_values() {
    let sets: [&Rules<()>; 4] = [&NUMBERS, &ARITHMETIC, &LOGIC, &CASTS];
    let mut applied: BTreeMap<&str, usize> = BTreeMap::new();
    let all: Vec<Rule<()>> = sets.iter().flat_map(|set| set.iter().copied()).collect();
    for (n, rule) in all.iter().enumerate() {
        let one = Rules::new(vec![*rule]);
        let count = applied.entry(rule.name).or_default();
        for seed in 0..1500 {
            if *count == 100 {
                break;
            }
            let mut m = Make::new(seed * 1000 + n as u64);
            let d = m.dice.of(&MACHINE);
            let instance = match rule.pattern {
                Pattern::Any(_) => Some(m.any(d, 1)),
                pattern => m.like(&pattern, d),
            };
            let Some(x) = instance else { continue };
            if let Some(y) = one.apply(&mut m.a, &mut (), x) {
                *count += 1;
                m.check(rule.name, x, y);
            }
        }
    }
    let never: Vec<_> = applied.iter().filter(|(_, n)| **n == 0).collect();
    assert!(never.is_empty(), "rules that no instance was found for: {never:?}");
}

/// All rules together, on random DAGs.
#[test]
fn simplified_values_are_the_same() {
    for seed in 0..600 {
        let mut m = Make::new(seed);
        let d = m.dice.of(&MACHINE);
        let x = m.any(d, 5);
        let y = simplify_values(&mut m.a, &[x])[0];
        m.check("all", x, y);
        assert_eq!(simplify_values(&mut m.a, &[y]), [y], "not a fixpoint");
    }
}
