//! What is known of the values of a routine before anything is scheduled: which are one number, and what they cost.

use super::build::Values;
use super::expand::{Known, depths};
use super::group::{elements, rough};
use evoxc_core::Tensor;
use evoxc_ir::{Binary, Literal, Op, Prim, Region, TensorType, Unary, Value};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// Facts of values, by [`Value::index`].
pub(super) struct Facts {
    pub(super) types: Vec<TensorType>,
    depth: Vec<u32>,
    splat: Vec<Option<u64>>,
    /// Arithmetic for one element, what it is made of included, if nothing on the way is kept in memory.
    work: Vec<f32>,
    /// What it is made of in memory, if nothing on the way is kept; some of it where that is much.
    leaves: Vec<SmallVec<[Value; 4]>>,
}

impl Known for Facts {
    fn ty(&self, v: Value) -> &TensorType {
        &self.types[v.index()]
    }
    fn depth(&self, v: Value) -> u32 {
        self.depth[v.index()]
    }
}
impl Values for Facts {
    fn splat(&self, v: Value) -> Option<u64> {
        self.splat[v.index()]
    }
}

impl Facts {
    /// Nothing but types.
    pub(super) fn new(types: Vec<TensorType>) -> Facts {
        let n = types.len();
        Facts {
            types,
            depth: vec![0; n],
            splat: vec![None; n],
            work: vec![0.0; n],
            leaves: (0..n).map(|n| leaf(Value(n as u32))).collect(),
        }
    }
    /// A value that the IR's function does not have.
    pub(super) fn value(&mut self, ty: TensorType) -> Value {
        self.types.push(ty);
        self.depth.push(0);
        self.splat.push(None);
        self.work.push(0.0);
        let v = Value(self.types.len() as u32 - 1);
        self.leaves.push(leaf(v));
        v
    }
    /// Is every element one number that is known?
    pub(super) fn splat_of(&self, v: Value) -> bool {
        self.splat[v.index()].is_some()
    }
    /// Some of what a value is made of.
    pub(super) fn leaves(&self, v: Value) -> &[Value] {
        &self.leaves[v.index()]
    }
    /// Arithmetic for one element.
    pub(super) fn work(&self, v: Value) -> f64 {
        self.work[v.index()].into()
    }
    /// Learns of the results of an op, whose operands are known. What is not `fusible` is there in memory.
    pub(super) fn learn(&mut self, op: &Op, fusible: bool) {
        let [result] = op.results[..] else { return };
        if let Prim::Constant { value } = &op.prim
            && let Some(bits) = one_number(value)
        {
            self.splat[result.index()] = Some(bits);
            self.leaves[result.index()].clear();
            return;
        }
        if !fusible {
            return;
        }
        let same = matches!(
            op.prim,
            Prim::BroadcastInDim { .. }
                | Prim::Reshape { .. }
                | Prim::Transpose { .. }
                | Prim::Slice { .. }
                | Prim::Reverse { .. }
                | Prim::StopGradient {}
        );
        let from = op.operands.first().copied();
        if let (true, Some(bits)) = (same, from.and_then(|v| self.splat(v))) {
            self.splat[result.index()] = Some(bits);
            return;
        }
        let mut leaves: SmallVec<[Value; 4]> = SmallVec::new();
        for &v in op.operands.iter().flat_map(|v| &self.leaves[v.index()]) {
            if leaves.len() < 8 && !leaves.contains(&v) {
                leaves.push(v);
            }
        }
        self.leaves[result.index()] = leaves;
        let deepest = op.operands.iter().map(|v| self.depth[v.index()]).max().unwrap_or(0);
        self.depth[result.index()] = deepest + depths(&op.prim);
        let size = elements(&self.types[result.index()].shape).max(1.0);
        // What is broadcast is computed once for all of its copies.
        let share = |v: &Value| if elements(&self.ty(*v).shape) * 2.0 < size { 0.0 } else { self.work(*v) };
        let all: f64 = op.operands.iter().map(share).sum();
        let work = match &op.prim {
            Prim::Unary(u) => all + unary(*u),
            Prim::Binary(b) => all + binary(*b),
            Prim::Compare { .. } | Prim::Select {} | Prim::Convert { .. } => all + 1.0,
            Prim::Clamp {} | Prim::ReducePrecision { .. } => all + 4.0,
            Prim::Concatenate { .. } => {
                // Where it is not kept, all operands are computed for each element.
                op.operands.iter().map(|&v| self.work(v) + 2.0).sum()
            }
            Prim::Pad { .. } | Prim::Gather { .. } | Prim::DynamicSlice { .. } => all + 4.0,
            Prim::ReduceWindow { window, .. } => {
                let x: f64 = op.operands.iter().map(|&x| self.work(x)).sum();
                (x + 3.0) * super::window::size(window).unwrap_or(1) as f64
            }
            Prim::Convolution { window, layout, .. } => {
                let rhs = op.operands.get(1).copied();
                let features = rhs.zip(layout.rhs.get(1)).and_then(|(r, &d)| self.ty(r).shape.get(d).copied());
                let x: f64 = op.operands.iter().map(|&x| self.work(x)).sum();
                (x + 4.0) * super::window::size(window).unwrap_or(1) as f64 * features.map_or(1.0, rough)
            }
            Prim::RandomBits { algorithm, .. } => all + super::random::work(*algorithm),
            Prim::DynamicUpdateSlice {} | Prim::Scatter { .. } => all + 6.0,
            Prim::Reduce { axes, .. } => {
                let x = op.operands.first().copied();
                let n: f64 = x
                    .map_or(1.0, |x| axes.iter().filter_map(|&d| self.ty(x).shape.get(d)).map(|&d| rough(d)).product());
                (x.map_or(0.0, |x| self.work(x)) + 1.0) * n
            }
            Prim::Argmax { axis } | Prim::Argmin { axis } => {
                let x = op.operands.first().copied();
                let n = x.and_then(|x| self.ty(x).shape.get(*axis).copied()).map_or(1.0, rough);
                (x.map_or(0.0, |x| self.work(x)) + 4.0) * n * 2.0
            }
            Prim::Dot { contract, .. } => {
                let x = op.operands.first().copied();
                let n: f64 = x.map_or(1.0, |x| {
                    contract.lhs.iter().filter_map(|&d| self.ty(x).shape.get(d)).map(|&d| rough(d)).product()
                });
                (op.operands.iter().map(|&x| self.work(x)).sum::<f64>() + 2.0) * n
            }
            _ => all,
        };
        self.work[result.index()] = work.min(1e9) as f32;
    }
}

fn leaf(v: Value) -> SmallVec<[Value; 4]> {
    SmallVec::from_elem(v, 1)
}

/// Rough numbers of machine instructions for one vector.
fn unary(u: Unary) -> f64 {
    match u {
        Unary::Neg | Unary::Abs | Unary::Not | Unary::Floor | Unary::Ceil | Unary::RoundEven | Unary::Trunc => 1.0,
        Unary::Real | Unary::Imag | Unary::Conj | Unary::IsFinite => 1.0,
        Unary::Sign | Unary::RoundAway | Unary::Popcount | Unary::CountLeadingZeros => 5.0,
        Unary::Sqrt | Unary::Rsqrt => 8.0,
        Unary::Exp | Unary::Exp2 => 14.0,
        Unary::Expm1 | Unary::Log | Unary::Log2 | Unary::Log1p | Unary::Logistic | Unary::Tanh => 22.0,
        Unary::Cbrt | Unary::Sin | Unary::Cos | Unary::Erf | Unary::Erfc | Unary::Sinh | Unary::Cosh => 30.0,
        Unary::Tan | Unary::Asin | Unary::Acos | Unary::Atan | Unary::Asinh | Unary::Acosh | Unary::Atanh => 40.0,
        Unary::ErfInv | Unary::Lgamma | Unary::Digamma => 100.0,
    }
}
fn binary(b: Binary) -> f64 {
    match b {
        Binary::Add | Binary::Sub | Binary::Mul | Binary::And | Binary::Or | Binary::Xor => 1.0,
        Binary::Max | Binary::Min | Binary::ShiftLeft | Binary::ShiftRightLogical | Binary::ShiftRightArithmetic => 3.0,
        Binary::Div | Binary::Mulhi | Binary::Complex => 6.0,
        Binary::Nextafter => 10.0,
        Binary::Rem | Binary::Atan2 => 40.0,
        Binary::Pow => 60.0,
    }
}

/// The bits of the elements of a literal that has only one.
fn one_number(value: &Literal) -> Option<u64> {
    let one = matches!(value, Literal::Splat(..)) || value.tensor().len() == 1;
    if !one || value.ty().dtype.is_complex() {
        return None;
    }
    bits(value.tensor())
}

/// The bits of the first element.
fn bits(t: &Tensor) -> Option<u64> {
    let bytes = t.buffer().bytes();
    let mut all = [0u8; 8];
    let size = t.dtype().size().min(8);
    all.get_mut(..size)?.copy_from_slice(bytes.get(..size)?);
    Some(u64::from_le_bytes(all))
}

/// The ops of a region that have an effect, or whose results something needs.
pub(super) fn needed(region: &Region) -> Vec<&Op> {
    let mut used: FxHashSet<Value> = region.results.iter().copied().collect();
    let mut kept = Vec::with_capacity(region.ops.len());
    for op in region.ops.iter().rev() {
        if has_effect(op) || op.results.iter().any(|v| used.contains(v)) {
            used.extend(&op.operands);
            used.extend(captures(op));
            kept.push(op);
        }
    }
    kept.reverse();
    kept
}

/// An op that stays though nothing uses it: one with an effect, or around one, or a call, which may have one inside.
pub(super) fn has_effect(op: &Op) -> bool {
    let call = matches!(op.prim, Prim::Call { .. });
    call || op.prim.has_effect() || op.regions.iter().any(|r| r.ops.iter().any(has_effect))
}

/// The values of regions around an op that its own regions read, each once, in the order in which they are met.
pub(super) fn captures(op: &Op) -> Vec<Value> {
    if op.regions.is_empty() {
        return vec![];
    }
    let mut c = Captures::default();
    op.regions.iter().for_each(|r| c.region(r));
    let Captures { inside, read } = c;
    let mut once = FxHashSet::default();
    read.into_iter().filter(|v| !inside.contains(v) && once.insert(*v)).collect()
}

#[derive(Default)]
struct Captures {
    inside: FxHashSet<Value>,
    read: Vec<Value>,
}

impl Captures {
    fn region(&mut self, region: &Region) {
        self.inside.extend(&region.args);
        for op in &region.ops {
            self.read.extend(&op.operands);
            op.regions.iter().for_each(|r| self.region(r));
            self.inside.extend(&op.results);
        }
        self.read.extend(&region.results);
    }
}
