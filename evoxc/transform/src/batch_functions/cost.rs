//! What a plan costs: a price for each op that is dispatched, and its work. In nanoseconds of the reference
//! interpreter, roughly; only comparisons matter.

use super::plan::{Class, Form, Plan, Slot, Step, Variant};
use super::pool::{Base, Operand, Part};
use super::program::Programs;
use evoxc_core::Shape;
use evoxc_ir::{Category, Func, Op, Prim, Unary, Value};

/// One op.
const DISPATCH: f64 = 130.0;
/// Moving an element.
const MOVE: f64 = 0.1;
/// An extent that is known at run time only counts as this many.
const UNKNOWN: f64 = 64.0;
/// A run, beside its ops.
const RUN: f64 = 300.0;

fn elements(shape: &Shape) -> f64 {
    shape.iter().map(|d| d.get().map_or(UNKNOWN, |n| n as f64)).product()
}

/// Work for an element of the result, and for one of the operands.
fn weights(prim: &Prim) -> (f64, f64) {
    match prim {
        Prim::Unary(u) => (unary(*u), 0.0),
        Prim::Binary(b) => {
            use evoxc_ir::Binary::*;
            match b {
                Pow | Atan2 | Nextafter | Rem => (12.0, 0.0),
                Div => (0.3, 0.0),
                Add | Sub | Mul | Max | Min | And | Or | Xor | ShiftLeft | ShiftRightLogical | ShiftRightArithmetic
                | Complex | Mulhi => (0.12, 0.0),
            }
        }
        Prim::Convolution { .. } | Prim::Dot { .. } => (8.0, 0.5),
        p => match p.category() {
            Category::UnaryFloat | Category::UnaryAny | Category::Binary | Category::Ternary => (0.15, 0.0),
            Category::Conversion => (0.3, 0.0),
            Category::Constant | Category::Shape | Category::Escape => (MOVE, 0.0),
            Category::Indexing => (0.5, 0.0),
            Category::Contraction => (8.0, 0.5),
            Category::Reduction => (0.5, 0.3),
            Category::Ordering => (1.0, 15.0),
            Category::Linalg => (20.0, 20.0),
            Category::Control => (10.0, 10.0),
            Category::Random => (8.0, 0.0),
            // Programs with collectives are refused.
            Category::Collective => (1.0, 0.0),
        },
    }
}

fn unary(u: Unary) -> f64 {
    use Unary::*;
    match u {
        Neg | Abs | Sign | Not | Popcount | CountLeadingZeros | IsFinite | Real | Imag | Conj | Floor | Ceil
        | Trunc | RoundEven | RoundAway | Sqrt | Rsqrt => 0.1,
        Exp | Exp2 | Log | Log2 | Sin | Cos => 1.5,
        Expm1 | Log1p | Cbrt | Tan | Asin | Acos | Atan | Sinh | Cosh | Tanh | Asinh | Acosh | Atanh | Logistic
        | Erf | Erfc | ErfInv | Lgamma | Digamma => 7.0,
    }
}

/// The work of an op for one row, of so many elements in the results and in the operands.
fn work(prim: &Prim, results: f64, operands: f64) -> f64 {
    let (result, operand) = weights(prim);
    result * results + operand * operands
}

/// The elements of the results and of the operands of an op.
fn sizes(func: &Func, op: &Op) -> (f64, f64) {
    let sum = |l: &[Value]| l.iter().map(|&v| elements(&func.ty(v).shape)).sum::<f64>();
    (sum(&op.results), sum(&op.operands))
}

/// The estimate for running every program alone.
pub(super) fn separate(programs: &Programs) -> f64 {
    let one = |p: &super::program::Program| {
        let one = |op: &Op| {
            let (results, operands) = sizes(p.func, op);
            DISPATCH + work(&op.prim, results, operands)
        };
        RUN + p.nodes.iter().map(|n| one(n.op)).sum::<f64>()
    };
    programs.list.iter().map(one).sum()
}

/// The estimate for a plan.
pub(super) fn merged(plan: &Plan, programs: &Programs) -> f64 {
    let m = Model { plan, programs };
    let steps: f64 = plan.steps.iter().map(|s| m.step(s)).sum();
    let outputs: f64 = plan.outputs.iter().map(|o| m.reading(o, programs.list.len())).sum();
    RUN + steps + outputs
}

struct Model<'a, 'p> {
    plan: &'p Plan<'a>,
    programs: &'p Programs<'a>,
}

impl Model<'_, '_> {
    fn step(&self, step: &Step) -> f64 {
        match step {
            Step::Pool(p) => {
                let pool = &self.plan.pools[*p as usize];
                let ones = pool.parts.iter().filter(|p| matches!(p, Part::One(_))).count();
                DISPATCH * (1 + ones) as f64 + MOVE * f64::from(pool.rows) * self.row(Base::Pool(*p))
            }
            Step::Class(c) => self.class(c),
        }
    }
    /// The elements of a row.
    fn row(&self, base: Base) -> f64 {
        let part = |p: &Part| match p {
            Part::One(v) => elements(&self.plan.ones[*v as usize].shape),
            Part::Literal(l) => elements(&self.programs.literals[*l as usize].ty().shape),
            Part::Block(b) => elements(&self.plan.blocks[*b as usize].ty.shape),
        };
        match base {
            Base::Block(b) => part(&Part::Block(b)),
            Base::Pool(p) => self.plan.pools[p as usize].parts.first().map_or(0.0, part),
        }
    }
    fn reading(&self, o: &Operand, rows: usize) -> f64 {
        let moved = |row: f64, n: usize| DISPATCH + MOVE * row * n as f64;
        match o {
            Operand::Whole(_) | Operand::Stack(_) | Operand::Literal(_) => 0.0,
            Operand::One(v) => moved(elements(&self.plan.ones[*v as usize].shape), rows),
            Operand::Pick(b, _) => 2.0 * moved(self.row(Base::Block(*b)), rows),
            Operand::Slice(base, ..) | Operand::Gather(base, _) => moved(self.row(*base), rows),
        }
    }
    fn class(&self, c: &Class) -> f64 {
        let Some(first) = c.rows.first() else { return 0.0 };
        let program = &self.programs.list[first.program as usize];
        let op = program.nodes[first.node as usize].op;
        let (results, operands) = sizes(program.func, op);
        let n = c.rows.len() as f64;
        let of = |op: &Op| work(&op.prim, results, operands);
        let reading: f64 = c.operands.iter().map(|o| self.reading(o, c.rows.len())).sum();
        match &c.form {
            Form::One => DISPATCH + of(op),
            Form::Rows => reading + DISPATCH + of(op) * n,
            Form::Switch { variants, .. } => {
                let select = DISPATCH + results * n;
                let float = op.results.iter().any(|&v| crate::differentiable(program.func.ty(v).dtype));
                // A select for each operand that is shielded.
                let shields = |v: &Variant| {
                    let spoils = float && v.may_spoil(self.programs);
                    if spoils { v.slots.iter().filter(|s| matches!(s, Slot::Moving)).count() } else { 0 }
                };
                let of = |v: &Variant| DISPATCH + of(v.op) * n + select * shields(v) as f64;
                let each: f64 = variants.iter().map(of).sum();
                reading + each + select * variants.len().saturating_sub(1) as f64
            }
            Form::Each => {
                let picks = 2.0 * DISPATCH * op.operands.len() as f64 + MOVE * operands;
                n * (picks + 2.0 * DISPATCH + of(op))
            }
        }
    }
}
