//! What stands beside a `Sym` in arithmetic: another `Sym`, a Rust scalar, a `Dim`; and how shapes meet.

use crate::{Sym, builder};
use evoxc_core::{DType, Dim, I64, Scalar, Shape, Tensor, TensorSpec};
use evoxc_ir::{Literal, Prim};

/// An operand of a symbolic operation: a `Sym`, a Rust scalar (which takes the tensor's dtype), or a `Dim`.
///
/// ```
/// use evoxc::{Operand, prelude::*};
/// fn within(x: Sym, low: impl Operand, high: impl Operand) -> Sym {
///     x.maximum(low).minimum(high)
/// }
/// let y = evaluate(|x: Sym| within(x, 0, x.mean(..)), Tensor::from([-1f32, 4.0]), &Interp)?;
/// assert_eq!(y.to_vec::<f32>()?, [0.0, 1.5]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an operand of a symbolic operation",
    label = "not a `Sym` and not a Rust scalar",
    note = "host data enters a graph as an input, or is embedded with `constant(&tensor)`"
)]
pub trait Operand {
    /// The operand as data.
    fn operand(self) -> Opnd;
}

/// An [`Operand`] as data.
///
/// ```
/// use evoxc::{Operand, Opnd, dim};
/// assert!(matches!(2f32.operand(), Opnd::Scalar(_)));
/// assert!(matches!(dim("B").operand(), Opnd::Dim(b) if b == dim("B")));
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Opnd {
    /// A symbolic tensor.
    Sym(Sym),
    /// A scalar without a dtype of its own.
    Scalar(Scalar),
    /// The value of an extent.
    Dim(Dim),
}

impl Operand for Opnd {
    fn operand(self) -> Opnd {
        self
    }
}
impl Operand for Sym {
    fn operand(self) -> Opnd {
        Opnd::Sym(self)
    }
}
impl Operand for &Sym {
    fn operand(self) -> Opnd {
        Opnd::Sym(*self)
    }
}
impl Operand for Dim {
    fn operand(self) -> Opnd {
        Opnd::Dim(self)
    }
}
macro_rules! scalars {
    ($($t:ty)*) => { $(
        impl Operand for $t { fn operand(self) -> Opnd { Opnd::Scalar(self.into()) } }
        impl Operand for &$t { fn operand(self) -> Opnd { Opnd::Scalar((*self).into()) } }
    )* };
}
scalars!(bool i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64 half::f16 half::bf16 num_complex::Complex<f32> num_complex::Complex<f64>);

/// A constant of one value.
#[track_caller]
pub(crate) fn splat(op: &str, value: Scalar, dtype: DType, shape: Shape) -> Sym {
    match held(value, dtype) {
        Some(t) => filled(t, shape),
        None => refuse(op, value, dtype, None),
    }
}

/// A scalar tensor of the value, if the dtype holds it.
fn held(value: Scalar, dtype: DType) -> Option<Tensor> {
    value.buffer(dtype).and_then(|b| Tensor::from_parts(b, &[]))
}

#[track_caller]
fn filled(value: Tensor, shape: Shape) -> Sym {
    let value = if shape.rank() == 0 { Literal::Dense(value) } else { Literal::Splat(value, shape) };
    builder::emit(Prim::Constant { value }, &[])
}

/// Records that a dtype does not hold a scalar; `beside` is the tensor whose dtype it would take.
#[track_caller]
fn refuse(op: &str, value: Scalar, dtype: DType, beside: Option<&TensorSpec>) -> Sym {
    let why = match value {
        Scalar::Int(_) if dtype.is_int() => format!("is out of the range of {dtype}"),
        Scalar::Int(_) => format!("is an integer, which {dtype} does not hold"),
        Scalar::Float(_) => format!("is a float, which {dtype} does not hold"),
        Scalar::Bool(_) => format!("is a bool, which {dtype} does not hold"),
        Scalar::Complex(_) => format!("is a complex number, which {dtype} does not hold"),
    };
    let remedy = match beside {
        Some(_) => "`.cast(..)` the tensor, or write a literal of its dtype",
        None => "give a value of that dtype, or another dtype",
    };
    let types = beside.map(ToString::to_string).into_iter().collect();
    builder::fail_beside(op, types, format!("the scalar {value} {why}"), Some(remedy.into()))
}

/// The operand as a `Sym` of `like`'s dtype (a scalar is spread to `like`'s shape when `spread`, else it stays a scalar).
#[track_caller]
pub(crate) fn lift(op: &str, x: impl Operand, like: &TensorSpec, spread: bool) -> Sym {
    let shape = || if spread { like.shape.clone() } else { Shape::scalar() };
    match x.operand() {
        Opnd::Sym(s) => s,
        Opnd::Scalar(k) => match held(k, like.dtype) {
            Some(t) => filled(t, shape()),
            None => refuse(op, k, like.dtype, Some(like)),
        },
        Opnd::Dim(d) => {
            if let Some(i) = d.as_i64() {
                return splat(op, Scalar::from(i), like.dtype, shape());
            }
            let int = like.dtype.is_int();
            let mut s = builder::emit(Prim::DimSize { extent: d, dtype: if int { like.dtype } else { I64 } }, &[]);
            if !int {
                s = builder::emit(Prim::Convert { dtype: like.dtype }, &[s]);
            }
            if spread { broadcast_to(op, s, &like.shape) } else { s }
        }
    }
}

/// The shape that two shapes broadcast to, by NumPy's rule; an error says which axes do not go together.
pub(crate) fn broadcast_shapes(a: &Shape, b: &Shape) -> Result<Shape, String> {
    if a == b {
        return Ok(a.clone());
    }
    let rank = a.rank().max(b.rank());
    let at = |s: &Shape, i: usize| (i + s.rank()).checked_sub(rank).map_or(Dim::constant(1), |k| s[k]);
    (0..rank)
        .map(|i| match (at(a, i), at(b, i)) {
            (x, y) if x == y => Ok(x),
            (x, y) if x == 1usize => Ok(y),
            (x, y) if y == 1usize => Ok(x),
            (x, y) => Err(format!(
                "shapes {a} and {b} do not broadcast: axis {} (from the end) is {x} on the left and {y} on the right",
                rank - i
            )),
        })
        .collect()
}

/// `x` broadcast to `shape` by NumPy's rule; no op if it has that shape.
#[track_caller]
pub(crate) fn broadcast_to(op: &str, x: Sym, shape: &Shape) -> Sym {
    let Some(t) = x.ty() else { return x };
    if t.shape == *shape {
        return x;
    }
    if broadcast_shapes(&t.shape, shape).as_ref() != Ok(shape) {
        return builder::fail(op, &[x], format!("shape {} does not broadcast to {shape}", t.shape), None);
    }
    let offset = shape.rank() - t.rank();
    let dims = (offset..shape.rank()).collect();
    builder::emit(Prim::BroadcastInDim { shape: shape.clone(), dims }, &[x])
}

/// Two operands, one of which is a `Sym`, as `Sym`s of one shape; dtypes are left as they are.
#[track_caller]
pub(crate) fn together(op: &str, l: impl Operand, r: impl Operand) -> Option<(Sym, Sym)> {
    let (l, r) = (l.operand(), r.operand());
    match (l, r) {
        (Opnd::Sym(a), Opnd::Sym(b)) => {
            let (s, t) = (a.ty()?, b.ty()?);
            if s.shape == t.shape {
                return Some((a, b));
            }
            match broadcast_shapes(&s.shape, &t.shape) {
                Ok(shape) => Some((broadcast_to(op, a, &shape), broadcast_to(op, b, &shape))),
                Err(m) => {
                    let remedy = "insert axes with `.expand_dims(..)`, or reshape".to_string();
                    builder::fail(op, &[a, b], m, Some(remedy));
                    None
                }
            }
        }
        (Opnd::Sym(a), k) => {
            let t = a.ty()?;
            Some((a, lift(op, k, &t, true)))
        }
        (k, Opnd::Sym(b)) => {
            let t = b.ty()?;
            Some((lift(op, k, &t, true), b))
        }
        _ => {
            builder::fail(op, &[], "neither operand is a `Sym`", None);
            None
        }
    }
}
