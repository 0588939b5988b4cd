//! The rewrite rules: a table of names and functions. Each looks at one op and at the ops that made its operands, and
//! gives a value or an op that has the same bits, whatever the values are.

use super::{Graph, fold};
use crate::infer::same;
use crate::{Binary, Direction, Literal, Prim, TensorType, Unary, Value};
use evoxc_core::{Buffer, DType, Scalar, Tensor};
use smallvec::{SmallVec, smallvec};

/// What takes the place of an op's result.
pub(super) enum Rewrite {
    /// A value that is there already.
    Value(Value),
    /// Another op.
    Op(Box<Prim>, SmallVec<[Value; 3]>),
}

/// An op to be rewritten.
#[derive(Clone, Copy)]
struct Site<'a> {
    view: &'a View<'a>,
    prim: &'a Prim,
    operands: &'a [Value],
    ty: &'a TensorType,
}

/// A rule, by the name under which tests look it up.
struct Rule {
    #[cfg_attr(not(test), expect(dead_code))]
    name: &'static str,
    apply: fn(Site) -> Option<Rewrite>,
}

macro_rules! rules {
    ($($name:ident),* $(,)?) => { const RULES: &[Rule] = &[$(Rule { name: stringify!($name), apply: $name }),*]; };
}
rules! {
    fold_constants,
    neutral_element,
    absorbing_element,
    same_operands,
    involution,
    absolute_value,
    parts_of_complex,
    equal_branches,
    negated_predicate,
    identity_convert,
    convert_there_and_back,
    identity_movement,
    chained_movement,
    concatenate_one,
    whole_dynamic_slice,
}

/// The names of the rules.
#[cfg(test)]
pub(super) fn names() -> Vec<&'static str> {
    RULES.iter().map(|r| r.name).collect()
}

/// Applies the first rule that fits.
pub(super) fn step(view: &View, prim: &Prim, operands: &[Value], ty: &TensorType) -> Option<Rewrite> {
    let site = Site { view, prim, operands, ty };
    RULES.iter().filter_map(|r| (r.apply)(site)).find(|rewrite| match rewrite {
        Rewrite::Value(v) => same(view.ty(*v), ty),
        Rewrite::Op(..) => true,
    })
}

/// What rules may see of the function that is built.
pub(super) struct View<'a> {
    pub(super) graph: &'a Graph<'a>,
}

impl<'a> View<'a> {
    fn ty(&self, v: Value) -> &'a TensorType {
        self.graph.ty(v)
    }
    /// The op that made a value, if that is its only result.
    fn def(&self, v: Value) -> Option<(&'a Prim, &'a [Value])> {
        let node = self.graph.nodes.get((*self.graph.definition.get(v.index())?)?)?;
        (node.results.len() == 1 && node.regions.is_empty()).then_some((&node.prim, &node.operands[..]))
    }
    fn literal(&self, v: Value) -> Option<&'a Literal> {
        self.graph.literal(v)
    }
    /// The one element that a constant repeats, read as a scalar; not for complex numbers.
    pub(super) fn uniform(&self, v: Value) -> Option<Uniform> {
        let l = self.literal(v)?;
        let b = l.tensor().buffer();
        let size = l.tensor().dtype().size();
        let bytes = b.bytes();
        let first = bytes.get(..size)?;
        // Large constants are not searched.
        if bytes.len() > 64 * size || bytes.chunks(size).any(|c| c != first) {
            return None;
        }
        macro_rules! first {
            ($v:expr, $x:ident => $e:expr) => {
                $v.first().map(|&$x| $e)
            };
        }
        match b {
            Buffer::Bool(v) => first!(v, x => Uniform::Bool(x)),
            Buffer::I8(v) => first!(v, x => Uniform::Int(x.into(), -1)),
            Buffer::I16(v) => first!(v, x => Uniform::Int(x.into(), -1)),
            Buffer::I32(v) => first!(v, x => Uniform::Int(x.into(), -1)),
            Buffer::I64(v) => first!(v, x => Uniform::Int(x.into(), -1)),
            Buffer::U8(v) => first!(v, x => Uniform::Int(x.into(), u8::MAX.into())),
            Buffer::U16(v) => first!(v, x => Uniform::Int(x.into(), u16::MAX.into())),
            Buffer::U32(v) => first!(v, x => Uniform::Int(x.into(), u32::MAX.into())),
            Buffer::U64(v) => first!(v, x => Uniform::Int(x.into(), u64::MAX.into())),
            Buffer::F16(v) => first!(v, x => Uniform::Float(x.into())),
            Buffer::Bf16(v) => first!(v, x => Uniform::Float(x.into())),
            Buffer::F32(v) => first!(v, x => Uniform::Float(x.into())),
            Buffer::F64(v) => first!(v, x => Uniform::Float(x)),
            Buffer::C64(_) | Buffer::C128(_) => None,
        }
    }
}

/// The element of a constant that is the same everywhere.
#[derive(Clone, Copy)]
pub(super) enum Uniform {
    Bool(bool),
    /// The value, and that of all bits set.
    Int(i128, i128),
    /// Exactly, with the sign of a zero.
    Float(f64),
}

impl Uniform {
    pub(super) fn as_bool(self) -> Option<bool> {
        if let Uniform::Bool(b) = self { Some(b) } else { None }
    }
    pub(super) fn as_int(self) -> Option<i128> {
        if let Uniform::Int(i, _) = self { Some(i) } else { None }
    }
    fn is_one(self) -> bool {
        matches!(self, Uniform::Bool(true) | Uniform::Int(1, _)) || self.is_float(1.0)
    }
    /// `false` or the integer 0.
    fn is_exact_zero(self) -> bool {
        matches!(self, Uniform::Bool(false) | Uniform::Int(0, _))
    }
    /// `true` or an integer with all bits set.
    fn is_all_ones(self) -> bool {
        match self {
            Uniform::Bool(b) => b,
            Uniform::Int(i, ones) => i == ones,
            Uniform::Float(_) => false,
        }
    }
    fn is_float(self, x: f64) -> bool {
        matches!(self, Uniform::Float(f) if f.to_bits() == x.to_bits())
    }
}

impl<'a> Site<'a> {
    fn binary(self) -> Option<(Binary, Value, Value)> {
        match (self.prim, self.operands) {
            (Prim::Binary(op), &[a, b]) => Some((*op, a, b)),
            _ => None,
        }
    }
    fn unary(self) -> Option<(Unary, Value)> {
        match (self.prim, self.operands) {
            (Prim::Unary(op), &[x]) => Some((*op, x)),
            _ => None,
        }
    }
    /// The operand, if the value is made by that unary op.
    fn made_by(self, v: Value, op: Unary) -> Option<Value> {
        match self.view.def(v)? {
            (Prim::Unary(u), &[x]) if *u == op => Some(x),
            _ => None,
        }
    }
    /// A constant of the result's type.
    fn constant(self, x: impl Into<Scalar>) -> Option<Rewrite> {
        let t = Tensor::from_parts(x.into().buffer(self.ty.dtype)?, &[])?;
        let scalar = self.ty.shape.is_empty();
        let value = if scalar { Literal::Dense(t) } else { Literal::Splat(t, self.ty.shape.clone()) };
        Some(Rewrite::Op(Box::new(Prim::Constant { value }), smallvec![]))
    }
}

fn bits(d: DType) -> bool {
    d.is_int() || d.is_bool()
}

fn fold_constants(s: Site) -> Option<Rewrite> {
    if s.operands.is_empty() && !matches!(s.prim, Prim::DimSize { .. }) {
        return None;
    }
    let literals: SmallVec<[&Literal; 4]> = s.operands.iter().map(|&v| s.view.literal(v)).collect::<Option<_>>()?;
    fold::fold(s.prim, &literals, s.ty).map(|value| Rewrite::Op(Box::new(Prim::Constant { value }), smallvec![]))
}

/// `x + 0`, `x * 1` and their kind. For floats the zero of a sum is -0 and that of a difference +0: 0 + -0 is 0.
fn neutral_element(s: Site) -> Option<Rewrite> {
    let (op, a, b) = s.binary()?;
    let right = |c: Uniform| match op {
        Binary::Add => c.is_exact_zero() || c.is_float(-0.0),
        Binary::Sub => c.is_exact_zero() || c.is_float(0.0),
        Binary::Mul => c.is_one(),
        Binary::Div => c.is_one(),
        Binary::And => c.is_all_ones(),
        Binary::Or | Binary::Xor | Binary::ShiftLeft | Binary::ShiftRightLogical | Binary::ShiftRightArithmetic => {
            c.is_exact_zero()
        }
        Binary::Max => matches!(c, Uniform::Bool(false)),
        Binary::Min => matches!(c, Uniform::Bool(true)),
        Binary::Rem | Binary::Pow | Binary::Atan2 | Binary::Nextafter | Binary::Complex | Binary::Mulhi => false,
    };
    if s.view.uniform(b).is_some_and(right) {
        return Some(Rewrite::Value(a));
    }
    let commutes =
        matches!(op, Binary::Add | Binary::Mul | Binary::And | Binary::Or | Binary::Xor | Binary::Max | Binary::Min);
    (commutes && s.view.uniform(a).is_some_and(right)).then_some(Rewrite::Value(b))
}

/// `x * 0`, `x & 0`, `x | ~0` of integers and bool.
fn absorbing_element(s: Site) -> Option<Rewrite> {
    let (op, a, b) = s.binary()?;
    let absorbs = |c: Uniform| match (op, c) {
        (Binary::Mul | Binary::And, c) => c.is_exact_zero(),
        (Binary::Or, c) => c.is_all_ones(),
        (Binary::Add | Binary::Max, Uniform::Bool(b)) => b,
        (Binary::Min, Uniform::Bool(b)) => !b,
        _ => false,
    };
    [a, b].into_iter().find(|&v| s.view.uniform(v).is_some_and(absorbs)).map(Rewrite::Value)
}

/// `x & x`, `x - x`, `x == x` and their kind, of integers and bool.
fn same_operands(s: Site) -> Option<Rewrite> {
    let &[a, b] = s.operands else { return None };
    if a != b || !bits(s.view.ty(a).dtype) {
        return None;
    }
    match s.prim {
        Prim::Binary(Binary::And | Binary::Or | Binary::Max | Binary::Min) => Some(Rewrite::Value(a)),
        Prim::Binary(Binary::Sub) => s.constant(0),
        Prim::Binary(Binary::Xor) => s.constant(0),
        Prim::Compare { direction, order: _ } => {
            s.constant(matches!(direction, Direction::Eq | Direction::Le | Direction::Ge))
        }
        _ => None,
    }
}

/// Ops that undo themselves.
fn involution(s: Site) -> Option<Rewrite> {
    let (op, x) = s.unary()?;
    match op {
        Unary::Neg | Unary::Not | Unary::Conj => s.made_by(x, op).map(Rewrite::Value),
        _ => None,
    }
}

/// `abs(-x)` and `abs(abs(x))` of real numbers.
fn absolute_value(s: Site) -> Option<Rewrite> {
    let (Unary::Abs, x) = s.unary()? else { return None };
    if s.view.ty(x).dtype.is_complex() {
        return None;
    }
    if let Some(inner) = s.made_by(x, Unary::Neg) {
        return Some(Rewrite::Op(Box::new(Prim::Unary(Unary::Abs)), smallvec![inner]));
    }
    // The modulus of a complex number is an absolute value too.
    s.made_by(x, Unary::Abs).map(|_| Rewrite::Value(x))
}

/// The parts of `complex(a, b)`, and of real numbers.
fn parts_of_complex(s: Site) -> Option<Rewrite> {
    let (op, x) = s.unary()?;
    let real = !s.view.ty(x).dtype.is_complex();
    let parts = match s.view.def(x) {
        Some((Prim::Binary(Binary::Complex), &[a, b])) => Some((a, b)),
        _ => None,
    };
    match op {
        Unary::Real | Unary::Conj if real => Some(Rewrite::Value(x)),
        Unary::Imag if real => s.constant(0),
        Unary::Real => parts.map(|(a, _)| Rewrite::Value(a)),
        Unary::Imag => parts.map(|(_, b)| Rewrite::Value(b)),
        _ => None,
    }
}

/// `select` of equal branches, or with a constant predicate.
fn equal_branches(s: Site) -> Option<Rewrite> {
    let (Prim::Select {}, &[p, a, b]) = (s.prim, s.operands) else { return None };
    if a == b {
        return Some(Rewrite::Value(a));
    }
    Some(Rewrite::Value(if s.view.uniform(p)?.as_bool()? { a } else { b }))
}

/// `select(not p, a, b)` is `select(p, b, a)`.
fn negated_predicate(s: Site) -> Option<Rewrite> {
    let (Prim::Select {}, &[p, a, b]) = (s.prim, s.operands) else { return None };
    s.made_by(p, Unary::Not).map(|p| Rewrite::Op(Box::new(Prim::Select {}), smallvec![p, b, a]))
}

fn identity_convert(s: Site) -> Option<Rewrite> {
    let (Prim::Convert { dtype }, &[x]) = (s.prim, s.operands) else { return None };
    (s.view.ty(x).dtype == *dtype).then_some(Rewrite::Value(x))
}

/// An integer or bool that was converted to an integer type that holds all its values, and is converted back.
fn convert_there_and_back(s: Site) -> Option<Rewrite> {
    let (Prim::Convert { dtype }, &[x]) = (s.prim, s.operands) else { return None };
    let Some((Prim::Convert { dtype: wide }, &[inner])) = s.view.def(x) else { return None };
    let narrow = s.view.ty(inner).dtype;
    // Integers wrap, so that any integer type at least as wide keeps all bits.
    let keeps = narrow == *dtype && bits(narrow) && wide.is_int() && wide.size() >= narrow.size();
    keeps.then_some(Rewrite::Value(inner))
}

/// Movement of elements that leaves all where they are.
fn identity_movement(s: Site) -> Option<Rewrite> {
    let &x = s.operands.first()?;
    let from = s.view.ty(x);
    if from.shape != s.ty.shape {
        return None;
    }
    let identity = match s.prim {
        Prim::Reshape { .. } => true,
        Prim::Transpose { perm: p } | Prim::BroadcastInDim { dims: p, .. } => {
            p.iter().enumerate().all(|(i, &a)| i == a)
        }
        Prim::Slice { start, stride, .. } => start.iter().all(|&d| d == 0) && stride.iter().all(|&k| k == 1),
        Prim::Pad { low, high, interior } => {
            low.iter().chain(high).all(|&d| d == 0) && interior.iter().zip(&from.shape).all(|(&i, &n)| i == 0 || n == 1)
        }
        Prim::Reverse { axes } => axes.iter().all(|&a| from.shape.get(a).is_some_and(|&n| n == 1 || n == 0)),
        _ => false,
    };
    identity.then_some(Rewrite::Value(x))
}

/// Two movements of one kind in a row are one.
fn chained_movement(s: Site) -> Option<Rewrite> {
    let &[x] = s.operands else { return None };
    let (prim, &[inner]) = s.view.def(x)? else { return None };
    let compose =
        |first: &[usize], then: &[usize]| then.iter().map(|&i| first.get(i).copied()).collect::<Option<Vec<_>>>();
    let prim = match (prim, s.prim) {
        (Prim::Reshape { .. }, Prim::Reshape { shape }) => Prim::Reshape { shape: shape.clone() },
        (Prim::Transpose { perm: p }, Prim::Transpose { perm: q }) => Prim::Transpose { perm: compose(p, q)? },
        (Prim::BroadcastInDim { dims: p, .. }, Prim::BroadcastInDim { dims: q, shape }) => {
            Prim::BroadcastInDim { shape: shape.clone(), dims: compose(q, p)? }
        }
        (Prim::Reverse { axes: p }, Prim::Reverse { axes: q }) if p == q => return Some(Rewrite::Value(inner)),
        _ => return None,
    };
    Some(Rewrite::Op(Box::new(prim), smallvec![inner]))
}

/// `concatenate` of one operand, or with operands that have no elements along its axis.
fn concatenate_one(s: Site) -> Option<Rewrite> {
    let Prim::Concatenate { axis } = s.prim else { return None };
    let empty = |v: &&Value| s.view.ty(**v).shape.get(*axis).is_some_and(|&n| n == 0);
    let kept: SmallVec<[Value; 3]> = s.operands.iter().filter(|v| !empty(v)).copied().collect();
    match (kept.as_slice(), s.operands) {
        (&[x], _) => Some(Rewrite::Value(x)),
        ([], &[x, ..]) => Some(Rewrite::Value(x)),
        _ if kept.len() < s.operands.len() => Some(Rewrite::Op(Box::new(s.prim.clone()), kept)),
        _ => None,
    }
}

/// A dynamic slice or update of the whole: starts are clamped to 0.
fn whole_dynamic_slice(s: Site) -> Option<Rewrite> {
    match (s.prim, s.operands) {
        (Prim::DynamicSlice { .. }, &[x, ..]) if s.view.ty(x).shape == s.ty.shape => Some(Rewrite::Value(x)),
        (Prim::DynamicUpdateSlice {}, &[_, u, ..]) if s.view.ty(u).shape == s.ty.shape => Some(Rewrite::Value(u)),
        _ => None,
    }
}
