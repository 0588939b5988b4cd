//! Values from nothing: constants, counts, ranges.

use crate::operand::splat;
use crate::{Sym, axes, builder};
use evoxc_core::{AxisInt, BOOL, DType, DeviceKind, Dim, DimLike, I32, IntoShape, Scalar, Shape, Tensor};
use evoxc_ir::{Binary, Direction, Literal, Prim};

/// Constants above this size are noted in the graph: they make it heavy to print, save and compile.
const LARGE_CONSTANT: usize = 1 << 20;

/// Embeds host data in the graph: the one way to do so. Above 1 MiB the graph's notes say that it would better be an
/// input.
///
/// ```
/// use evoxc::prelude::*;
/// let table = Tensor::from([1f32, 2.0, 4.0]);
/// let g = trace(|i: Sym| constant(&table).take(i, 0), spec(I32, [5])).unwrap();
/// assert_eq!(g.output_specs(), [spec(F32, [5])]);
/// ```
#[track_caller]
pub fn constant(t: &Tensor) -> Sym {
    let own = match t.resident() {
        None => Some(t.clone()),
        // What a runtime holds on the host is copied: a graph owns its constants.
        Some(_) if t.device().kind() == DeviceKind::Cpu => Tensor::from_parts(t.shared().clone(), t.shape()),
        Some(_) => None,
    };
    let Some(own) = own else {
        let remedy = "move it with `.to(Device::cpu())?` first".to_string();
        return builder::fail("constant", &[], format!("the tensor is on {}", t.device()), Some(remedy));
    };
    let bytes = own.buffer().bytes().len();
    if bytes > LARGE_CONSTANT {
        let at = builder::here().map(|l| format!(" at {l}")).unwrap_or_default();
        let note =
            format!("a constant of {bytes} bytes ({}){at}: pass it as an input to keep the graph small", t.spec());
        builder::with(|b| b.notes.push(note));
    }
    builder::emit(Prim::Constant { value: Literal::Dense(own) }, &[])
}

/// A tensor of one value.
///
/// ```
/// use evoxc::prelude::*;
/// let y = evaluate(|| full(F32, [2], 7.5), (), &Interp)?;
/// assert_eq!(y.to_vec::<f32>()?, [7.5, 7.5]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn full(dtype: DType, shape: impl IntoShape, value: impl Into<Scalar>) -> Sym {
    splat("full", value.into(), dtype, shape.into_shape())
}

/// A tensor of zeros (`false`).
///
/// ```
/// use evoxc::prelude::*;
/// let graph = trace(|x: Sym| x + zeros(F32, [2, 1]), spec(F32, [dim("B")]))?;
/// assert_eq!(graph.output_specs(), [spec(F32, (2, dim("B")))]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn zeros(dtype: DType, shape: impl IntoShape) -> Sym {
    splat("zeros", Scalar::Int(0), dtype, shape.into_shape())
}

/// A tensor of ones (`true`).
///
/// ```
/// use evoxc::prelude::*;
/// let count = |x: Sym| ones(F32, [1, 3]).dot(x);
/// assert_eq!(evaluate(count, Tensor::from([1f32, 2.0, 3.0]), &Interp)?.to_vec::<f32>()?, [6.0]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn ones(dtype: DType, shape: impl IntoShape) -> Sym {
    splat("ones", Scalar::Int(1), dtype, shape.into_shape())
}

/// Counts 0, 1, 2 … along `axis` of `shape`.
///
/// ```
/// use evoxc::prelude::*;
/// let y = evaluate(|| iota(I32, [2, 3], 1), (), &Interp)?;
/// assert_eq!(y.to_vec::<i32>()?, [0, 1, 2, 0, 1, 2]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn iota(dtype: DType, shape: impl IntoShape, axis: impl AxisInt) -> Sym {
    let shape = shape.into_shape();
    match axes::normalize(axis.axis(), shape.rank()) {
        Some(axis) => builder::emit(Prim::Iota { dtype, shape, axis }, &[]),
        None => {
            let m = format!("axis {} is out of range for rank {}", axis.axis(), shape.rank());
            builder::fail("iota", &[], m, None)
        }
    }
}

/// `start`, `start + step` … below `stop` (above, for a negative step), as NumPy's `arange`.
///
/// ```
/// use evoxc::prelude::*;
/// let g = trace(|| arange(F32, 0, 10, 2), ()).unwrap();
/// assert_eq!(g.output_specs(), [spec(F32, [5])]);
/// ```
#[track_caller]
pub fn arange(dtype: DType, start: impl Into<Scalar>, stop: impl Into<Scalar>, step: impl Into<Scalar>) -> Sym {
    let _at = builder::pin();
    let (start, stop, step) = (start.into(), stop.into(), step.into());
    let bad = |m: &str| builder::fail("arange", &[], m, Some("give real numbers and a step other than 0".into()));
    let n = match (start, stop, step) {
        (Scalar::Int(a), Scalar::Int(b), Scalar::Int(s)) if s != 0 => {
            let (span, s) = if s > 0 { (b.saturating_sub(a), s) } else { (a.saturating_sub(b), -s) };
            if span <= 0 { 0 } else { (span - 1) / s + 1 }
        }
        _ => {
            let (Some(a), Some(b), Some(s)) = (real(start), real(stop), real(step)) else {
                return bad("a bound is not a real number");
            };
            let n = ((b - a) / s).ceil();
            if s == 0.0 || !n.is_finite() {
                return bad("the step is 0, or a bound is not finite");
            }
            n.max(0.0) as i128
        }
    };
    let Ok(n) = i64::try_from(n) else { return bad("the range is too long") };
    let mut out = iota(dtype, [n], 0);
    // Downwards, a signed integer may hold the step but not its size; an unsigned one holds the size alone, and floats
    // would start at -0.
    if let Some(size) = negated(step).filter(|_| !dtype.is_int() || dtype.is_unsigned()) {
        if size != Scalar::Int(1) {
            out *= Plain(size);
        }
        return crate::operators::binary(Binary::Sub, Plain(start), out);
    }
    if step != Scalar::Int(1) {
        out *= Plain(step);
    }
    if start != Scalar::Int(0) {
        out += Plain(start);
    }
    out
}

/// A scalar that is an operand as it is.
struct Plain(Scalar);
impl crate::Operand for Plain {
    fn operand(self) -> crate::Opnd {
        crate::Opnd::Scalar(self.0)
    }
}

/// The size of a negative number.
fn negated(s: Scalar) -> Option<Scalar> {
    match s {
        Scalar::Int(i) if i < 0 => Some(Scalar::Int(-i)),
        Scalar::Float(x) if x < 0.0 => Some(Scalar::Float(-x)),
        _ => None,
    }
}

fn real(s: Scalar) -> Option<f64> {
    match s {
        Scalar::Int(i) => Some(i as f64),
        Scalar::Float(x) => Some(x),
        Scalar::Bool(_) | Scalar::Complex(_) => None,
    }
}

/// `n` evenly spaced values from `start` to `stop`, both included, of a float dtype.
///
/// ```
/// use evoxc::prelude::*;
/// let y = evaluate(|| linspace(F32, 0.0, 1.0, 5), (), &Interp)?;
/// assert_eq!(y.to_vec::<f32>()?, [0.0, 0.25, 0.5, 0.75, 1.0]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn linspace(dtype: DType, start: f64, stop: f64, n: impl DimLike) -> Sym {
    let n = n.to_dim();
    if !dtype.is_float() {
        return builder::fail(
            "linspace",
            &[],
            format!("{dtype} is not a float dtype"),
            Some("use a float dtype, then `.cast(..)`".into()),
        );
    }
    if n == 1i64 {
        return full(dtype, [1], start);
    }
    // start (1 - t) + stop t is exact at both ends; a symbolic n may turn out to be 1.
    let t = iota(dtype, [n], 0) / (n - 1).max(1);
    (1.0 - t) * start + t * stop
}

/// The identity matrix of size `n`.
///
/// ```
/// use evoxc::prelude::*;
/// let y = evaluate(|| eye(I32, 2), (), &Interp)?;
/// assert_eq!(y.to_vec::<i32>()?, [1, 0, 0, 1]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn eye(dtype: DType, n: impl DimLike) -> Sym {
    let n = n.to_dim();
    let (r, c) = (iota(I32, [n, n], 0), iota(I32, [n, n], 1));
    let mask = crate::compare::compare(Direction::Eq, r, c);
    if dtype == BOOL { mask } else { builder::emit(Prim::Convert { dtype }, &[mask]) }
}

impl Sym {
    /// Zeros of the same dtype and shape.
    #[track_caller]
    pub fn zeros_like(self) -> Sym {
        self.full_like(0)
    }
    /// Ones of the same dtype and shape.
    #[track_caller]
    pub fn ones_like(self) -> Sym {
        self.full_like(1)
    }
    /// One value of the same dtype and shape.
    #[track_caller]
    pub fn full_like(self, value: impl Into<Scalar>) -> Sym {
        match self.ty() {
            Some(t) => splat("full_like", value.into(), t.dtype, t.shape),
            None => Sym::POISON,
        }
    }
}

/// Coordinate arrays of shape `[n0, n1, …]` from vectors of lengths n0, n1 … (NumPy's `indexing="ij"`).
///
/// ```
/// use evoxc::{meshgrid, prelude::*};
/// let graph = trace(|x: Sym, y: Sym| meshgrid([x, y]), (spec(F32, [2]), spec(F32, [3])))?;
/// assert_eq!(graph.output_specs(), [spec(F32, [2, 3]), spec(F32, [2, 3])]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn meshgrid(xs: impl IntoIterator<Item = Sym>) -> Vec<Sym> {
    let _at = builder::pin();
    let xs: Vec<Sym> = xs.into_iter().collect();
    let lengths: Option<Vec<Dim>> = xs.iter().map(|x| x.ty().filter(|t| t.rank() == 1).map(|t| t.shape[0])).collect();
    let Some(lengths) = lengths else {
        let s = builder::fail("meshgrid", &xs, "every operand must have rank 1", Some("`.ravel()` it".into()));
        return vec![s; xs.len()];
    };
    let shape: Shape = lengths.into_iter().collect();
    let spread =
        |(i, x): (usize, &Sym)| builder::emit(Prim::BroadcastInDim { shape: shape.clone(), dims: vec![i] }, &[*x]);
    xs.iter().enumerate().map(spread).collect()
}
