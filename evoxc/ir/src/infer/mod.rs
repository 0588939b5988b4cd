//! The types of results: arity, dtype and shape rules of every primitive, and the sanity of its attributes.
//!
//! One exhaustive match leads to one function a group. The rules are StableHLO's where the table of ops does not say
//! otherwise; extents are [`Dim`]s throughout, and two extents are equal only if they are the same expression.

mod collective;
mod contraction;
mod control;
mod elementwise;
mod indexing;
mod linalg;
mod reduction;
mod shape_ops;
#[cfg(test)]
mod tests;

use crate::{Prim, TensorType};
use evoxc_core::{DType, Dim, OpError, Shape, spec};
use smallvec::{SmallVec, smallvec};

/// The types of an op's results.
pub type Types = SmallVec<[TensorType; 1]>;

/// The signature of a region, or of a function that is called.
///
/// ```
/// use evoxc::ir::{Prim, RegionType, infer};
/// use evoxc::{BOOL, F32, spec};
/// let branch = RegionType { args: vec![], results: vec![spec(F32, [2])] };
/// let types = infer(&Prim::Cond {}, &[&spec(BOOL, [])], &[branch.clone(), branch]).unwrap();
/// assert_eq!(types[0], spec(F32, [2]));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RegionType {
    /// Types of the arguments.
    pub args: Vec<TensorType>,
    /// Types of the results.
    pub results: Vec<TensorType>,
}

/// The types of the results of `prim` on operands of these types.
///
/// `regions` are the signatures of the op's regions; for `call`, that of the callee alone.
///
/// ```
/// use evoxc::{F32, spec};
/// use evoxc::ir::{Binary, Prim, infer};
/// let (a, b) = (spec(F32, [2, 3]), spec(F32, [2, 4]));
/// let add = Prim::Binary(Binary::Add);
/// assert_eq!(infer(&add, &[&a, &a], &[]).unwrap()[0], a);
/// let e = infer(&add, &[&a, &b], &[]).unwrap_err();
/// assert!(e.message.contains("axis 1 of lhs has size 3, axis 1 of rhs has size 4"));
/// ```
///
/// # Errors
/// An [`OpError`] without location: which axes and sizes, attributes or dtypes do not go together.
pub fn infer(prim: &Prim, operands: &[&TensorType], regions: &[RegionType]) -> Result<Types, OpError> {
    let cx = &Cx { prim, operands, regions };
    cx.check_region_count()?;
    match prim {
        Prim::Unary(u) => elementwise::unary(cx, *u),
        Prim::Binary(b) => elementwise::binary(cx, *b),
        Prim::Compare { direction: _, order: _ } => elementwise::compare(cx),
        Prim::Select {} => elementwise::select(cx),
        Prim::Clamp {} => elementwise::clamp(cx),
        Prim::Convert { dtype } => elementwise::convert(cx, *dtype),
        Prim::BitcastConvert { dtype } => elementwise::bitcast(cx, *dtype),
        Prim::ReducePrecision { exponent_bits, mantissa_bits: _ } => elementwise::reduce_precision(cx, *exponent_bits),
        Prim::StopGradient {} => elementwise::identity(cx),
        Prim::Constant { value } => shape_ops::constant(cx, value),
        Prim::Iota { dtype, shape, axis } => shape_ops::iota(cx, *dtype, shape, *axis),
        Prim::DimSize { extent, dtype } => shape_ops::dim_size(cx, *extent, *dtype),
        Prim::BroadcastInDim { shape, dims } => shape_ops::broadcast_in_dim(cx, shape, dims),
        Prim::Reshape { shape } => shape_ops::reshape(cx, shape),
        Prim::Transpose { perm } => shape_ops::transpose(cx, perm),
        Prim::Slice { start, limit, stride } => shape_ops::slice(cx, start, limit, stride),
        Prim::Pad { low, high, interior } => shape_ops::pad(cx, low, high, interior),
        Prim::Concatenate { axis } => shape_ops::concatenate(cx, *axis),
        Prim::Reverse { axes } => shape_ops::reverse(cx, axes),
        Prim::Gather { dims, sizes, sorted: _ } => indexing::gather(cx, dims, sizes),
        Prim::Scatter { op, dims, sorted: _, unique: _ } => indexing::scatter(cx, *op, dims),
        Prim::ScatterBody { dims, sorted: _, unique: _ } => indexing::scatter_body(cx, dims),
        Prim::DynamicSlice { sizes } => indexing::dynamic_slice(cx, sizes),
        Prim::DynamicUpdateSlice {} => indexing::dynamic_update_slice(cx),
        Prim::Dot { batch, contract, accumulate } => contraction::dot(cx, batch, contract, *accumulate),
        Prim::Convolution { window, layout, feature_groups, batch_groups, accumulate } => {
            contraction::convolution(cx, window, layout, *feature_groups, *batch_groups, *accumulate)
        }
        Prim::Reduce { op, axes } => reduction::reduce(cx, *op, axes),
        Prim::ReduceBody { axes } => reduction::reduce_body(cx, axes),
        Prim::Argmax { axis } | Prim::Argmin { axis } => reduction::arg(cx, *axis),
        Prim::ReduceWindow { op, window } => reduction::reduce_window(cx, *op, window),
        Prim::ReduceWindowBody { window } => reduction::reduce_window_body(cx, window),
        Prim::SelectAndScatter { select: _, window } => reduction::select_and_scatter(cx, window),
        Prim::SelectAndScatterBody { window } => reduction::select_and_scatter_body(cx, window),
        Prim::Cumulative { op, axis, reverse: _ } => reduction::cumulative(cx, *op, *axis),
        Prim::Sort { axis, keys, stable: _ } => reduction::sort(cx, *axis, keys),
        Prim::SortBody { axis, stable: _ } => reduction::sort_body(cx, *axis),
        Prim::TopK { k } => reduction::top_k(cx, *k),
        Prim::Fft { kind, length } => linalg::fft(cx, *kind, length),
        Prim::Cholesky { lower: _ } => linalg::cholesky(cx),
        Prim::TriangularSolve { left, lower: _, unit_diagonal: _, transpose: _ } => linalg::triangular_solve(cx, *left),
        Prim::Lu {} => linalg::lu(cx),
        Prim::Qr { full } => linalg::qr(cx, *full),
        Prim::Eigh {} => linalg::eigh(cx),
        Prim::Svd { full } => linalg::svd(cx, *full),
        Prim::Cond {} => control::cond(cx),
        Prim::Switch {} => control::switch(cx),
        Prim::WhileLoop {} => control::while_loop(cx),
        Prim::Scan { carry, length, reverse: _ } => control::scan(cx, *carry, *length),
        Prim::Call { callee, jvp: _, forward: _, vjp: _, batch: _, captures: _, remat: _ } => control::call(cx, callee),
        Prim::RandomBits { algorithm, dtype, shape } => control::random_bits(cx, *algorithm, *dtype, shape),
        Prim::AllReduce { op, groups } => collective::all_reduce(cx, *op, groups),
        Prim::AllReduceBody { groups } => collective::all_reduce_body(cx, groups),
        Prim::AllGather { axis, count, groups } => collective::all_gather(cx, *axis, *count, groups),
        Prim::ReduceScatter { op, axis, count, groups } => {
            collective::reduce_scatter(cx, Some(*op), *axis, *count, groups)
        }
        Prim::ReduceScatterBody { axis, count, groups } => collective::reduce_scatter(cx, None, *axis, *count, groups),
        Prim::AllToAll { split, concat, count, groups } => collective::all_to_all(cx, *split, *concat, *count, groups),
        Prim::CollectivePermute { pairs, channel } => collective::permute(cx, pairs, *channel),
        Prim::CollectiveBroadcast { dynamic_root, groups } => collective::broadcast(cx, *dynamic_root, groups),
        Prim::RankIndex { of: _ } => cx.operands::<0>().map(|_| smallvec![spec(DType::U32, Shape::scalar())]),
        Prim::OptimizationBarrier {} => Ok(operands.iter().map(|t| cx.like(t)).collect()),
        Prim::Print { label: _ } => cx.operands::<1>().map(|_| smallvec![]),
    }
}

/// What a rule sees of an op, and the checks that many rules share.
struct Cx<'a> {
    prim: &'a Prim,
    operands: &'a [&'a TensorType],
    regions: &'a [RegionType],
}

type Check<T = ()> = Result<T, OpError>;

impl<'a> Cx<'a> {
    #[cold]
    fn error(&self, message: impl Into<String>) -> OpError {
        OpError::new(self.prim.name(), message).operands(self.operands)
    }
    #[cold]
    fn fail<T>(&self, message: impl Into<String>) -> Check<T> {
        Err(self.error(message))
    }
    #[cold]
    fn fail_with<T>(&self, message: impl Into<String>, remedy: impl Into<String>) -> Check<T> {
        Err(self.error(message).remedy(remedy))
    }

    fn check_region_count(&self) -> Check {
        let n = self.regions.len();
        match (self.prim, self.prim.region_count()) {
            (Prim::Call { .. }, _) if n != 1 => self.fail("the callee's signature is needed"),
            (Prim::Call { .. }, _) => Ok(()),
            (_, Some(want)) if n != want => {
                let labels: Vec<_> = (0..want).map(|i| self.prim.region_label(i)).collect();
                self.fail(
                    format!("it has {} ({}), got {n}", count(want, "region"), labels.join(", ")).replace(" ()", ""),
                )
            }
            (_, None) if n == 0 => self.fail("it needs at least one branch"),
            (_, Some(_) | None) => Ok(()),
        }
    }
    /// Exactly `N` operands.
    fn operands<const N: usize>(&self) -> Check<[&'a TensorType; N]> {
        self.operands
            .try_into()
            .map_err(|_| self.error(format!("it takes {}, got {}", count(N, "operand"), self.operands.len())))
    }
    /// Exactly `N` regions; the count has been checked, so this fails only if a rule asks for another number.
    fn regions<const N: usize>(&self) -> Check<[&'a RegionType; N]> {
        let all: SmallVec<[&RegionType; 2]> = self.regions.iter().collect();
        <[&RegionType; N]>::try_from(all.as_slice()).map_err(|_| self.error(format!("it has {N} regions")))
    }

    /// The same type, on no device in particular.
    fn like(&self, t: &TensorType) -> TensorType {
        TensorType { dtype: t.dtype, shape: t.shape.clone(), device: None }
    }
    fn one(&self, dtype: DType, shape: &Shape) -> Check<Types> {
        Ok(smallvec![TensorType { dtype, shape: shape.clone(), device: None }])
    }
    /// A result of a new shape, whose extents are checked.
    fn result(&self, dtype: DType, shape: Shape) -> Check<Types> {
        self.shape("the result", &shape)?;
        Ok(smallvec![spec(dtype, shape)])
    }
    /// No extent is a poison or surely negative, and the constants' product fits 63 bits.
    fn shape(&self, what: &str, shape: &[Dim]) -> Check {
        check_shape(shape).map_err(|m| self.error(format!("{what} would have shape {}: {m}", List(shape))))
    }
    /// A dim of an attribute must not be a failed expression.
    fn sound(&self, name: &str, dims: &[Dim]) -> Check {
        match dims.iter().find_map(|d| d.error()) {
            Some(e) => self.fail(format!("`{name}` holds an extent without a value: {e}")),
            None => Ok(()),
        }
    }
    fn lengths(&self, name: &str, got: usize, rank: usize) -> Check {
        if got == rank {
            return Ok(());
        }
        self.fail(format!("`{name}` has {}, but there {} to describe", count(got, "entry"), axes(rank)))
    }
    fn axis(&self, name: &str, axis: usize, rank: usize) -> Check {
        if axis < rank {
            return Ok(());
        }
        self.fail(format!("`{name}` is axis {axis}, out of range for rank {rank}"))
    }
    /// Axes in range and no two the same.
    fn axes(&self, name: &str, list: &[usize], rank: usize) -> Check {
        let mut seen: SmallVec<[bool; 16]> = smallvec![false; rank];
        for &a in list {
            match seen.get_mut(a) {
                None => return self.fail(format!("`{name}` holds axis {a}, out of range for rank {rank}")),
                Some(true) => return self.fail(format!("`{name}` holds axis {a} twice")),
                Some(s) => *s = true,
            }
        }
        Ok(())
    }
    fn scalar(&self, name: &str, t: &TensorType) -> Check {
        if t.shape.is_empty() { Ok(()) } else { self.fail(format!("{name} must be a scalar, got {t}")) }
    }
    fn same_dtype(&self, a: (&str, &TensorType), b: (&str, &TensorType)) -> Check {
        if a.1.dtype == b.1.dtype {
            return Ok(());
        }
        self.fail_with(
            format!("{} is {}, but {} is {}", a.0, a.1.dtype, b.0, b.1.dtype),
            format!("cast one of them: `.cast({})`", b.1.dtype.name().to_uppercase()),
        )
    }
    fn same_shape(&self, a: (&str, &[Dim]), b: (&str, &[Dim])) -> Check {
        if a.1 == b.1 {
            return Ok(());
        }
        if a.1.len() != b.1.len() {
            return self.fail_with(
                format!("{} has rank {}, {} has rank {}", a.0, a.1.len(), b.0, b.1.len()),
                "reshape or broadcast one of them",
            );
        }
        for (i, (x, y)) in a.1.iter().zip(b.1).enumerate() {
            if x != y {
                return self.fail_with(
                    format!("axis {i} of {} has size {x}, axis {i} of {} has size {y}", a.0, b.0),
                    "reshape or broadcast one of them",
                );
            }
        }
        Ok(())
    }
    fn same_type(&self, a: (&str, &TensorType), b: (&str, &TensorType)) -> Check {
        self.same_dtype(a, b)?;
        self.same_shape((a.0, &a.1.shape), (b.0, &b.1.shape))
    }
    /// The dtype must be accepted.
    fn dtype(&self, name: &str, dtype: DType, accepted: bool, wanted: &str, remedy: &str) -> Check {
        if accepted {
            return Ok(());
        }
        self.fail_with(format!("{name} must be {wanted}, got {dtype}"), remedy)
    }
    /// A region's arguments or results must have these types.
    fn signature<'t>(
        &self,
        what: &str,
        got: &[TensorType],
        want: impl ExactSizeIterator<Item = &'t TensorType>,
    ) -> Check {
        if got.len() != want.len() {
            return self.fail(format!("{what}: expected {} values, got {}", want.len(), got.len()));
        }
        for (i, (g, w)) in got.iter().zip(want).enumerate() {
            if !same(g, w) {
                return self.fail(format!("{what}: value {i} must be {w}, got {g}"));
            }
        }
        Ok(())
    }
}

/// Equal dtype and shape; the device is no part of a value's type.
pub(crate) fn same(a: &TensorType, b: &TensorType) -> bool {
    a.dtype == b.dtype && a.shape == b.shape
}

/// What is wrong with a shape: a poison or surely negative extent, or too many elements.
pub(crate) fn check_shape(shape: &[Dim]) -> Result<(), String> {
    let mut n = 1i64;
    for (i, &d) in shape.iter().enumerate() {
        match d.as_i64() {
            Some(0) => {}
            Some(v) if v < 0 => return Err(format!("axis {i} has size {v}")),
            Some(v) => n = n.checked_mul(v).ok_or("its number of elements does not fit 64 bits")?,
            None => {
                if let Some(e) = d.error() {
                    return Err(format!("axis {i}: {e}"));
                }
                if d.upper_bound().is_some_and(|b| b < 0) {
                    return Err(format!("axis {i} has size {d}, which is negative"));
                }
            }
        }
    }
    Ok(())
}

/// Surely `a > b`, whatever the symbols are.
fn surely_greater(a: Dim, b: Dim) -> bool {
    match (a.as_i64(), b.as_i64()) {
        (Some(x), Some(y)) => x > y,
        _ => a != b && (a - b).lower_bound().is_some_and(|v| v > 0),
    }
}

/// Extents as a list, for messages.
struct List<'a>(&'a [Dim]);
impl std::fmt::Display for List<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text: Vec<String> = self.0.iter().map(Dim::to_string).collect();
        write!(f, "[{}]", text.join(", "))
    }
}

fn count(n: usize, what: &str) -> String {
    match (n, what.strip_suffix('y')) {
        (1, _) => format!("1 {what}"),
        (_, Some(stem)) => format!("{n} {stem}ies"),
        (_, None) => format!("{n} {what}s"),
    }
}

fn axes(n: usize) -> String {
    if n == 1 { "is 1 axis".into() } else { format!("are {n} axes") }
}
