//! Matrices: the last two axes of a value, those before being batch.

use super::super::ordering::sort;
use super::super::parts::{emit, emit_regions, iota, region};
use evoxc_core::{C64, C128, DType, Dim, F64, I32, OpError, Scalar, Shape, keep, spec};
use evoxc_ir::Prim;
use evoxc_trace::{Sym, full};
use num_complex::Complex;

/// What is known of matrices, and the numbers of their rows and columns, of the extents [.., m, 1] and [.., 1, n].
pub(super) struct Matrix {
    /// The batch extents.
    pub lead: Shape,
    pub m: Dim,
    pub n: Dim,
    pub rank: usize,
    pub rows: Sym,
    pub columns: Sym,
}

impl Matrix {
    pub fn of(x: Sym) -> Result<Matrix, OpError> {
        let shape = x.shape();
        let [lead @ .., m, n] = &shape[..] else { return Err(OpError::new("", "matrices have two axes")) };
        let ones = vec![Dim::constant(1); lead.len()];
        let of = |last: [Dim; 2]| -> Shape { ones.iter().copied().chain(last).collect() };
        let one = Dim::constant(1);
        Ok(Matrix {
            lead: lead.iter().copied().collect(),
            m: *m,
            n: *n,
            rank: shape.rank(),
            rows: iota(I32, of([*m, one]), lead.len()),
            columns: iota(I32, of([one, *n]), lead.len() + 1),
        })
    }
    pub fn shape<const N: usize>(&self, last: [Dim; N]) -> Shape {
        self.lead.iter().copied().chain(last).collect()
    }
    pub fn row(&self, x: Sym, i: Sym) -> Sym {
        slice(x, self.rank - 2, i)
    }
    pub fn column(&self, x: Sym, i: Sym) -> Sym {
        slice(x, self.rank - 1, i)
    }
    /// The diagonal of square matrices, [.., n].
    pub fn diagonal(&self, x: Sym) -> Sym {
        self.rows.eq(self.columns).select(x, 0).sum(-1)
    }
}

/// The two extents as numbers.
pub(super) fn known(m: Dim) -> Result<i64, OpError> {
    m.as_i64().ok_or_else(|| {
        OpError::new("", format!("it is iterated over matrices of a known size, not {m}"))
            .remedy("trace it with extents that are numbers; batch axes may be symbolic")
    })
}

/// Entry `i` of an axis, which stays with the extent 1.
pub(super) fn slice(x: Sym, axis: usize, i: Sym) -> Sym {
    let mut sizes: Vec<Dim> = x.shape().to_vec();
    if let Some(d) = sizes.get_mut(axis) {
        *d = Dim::constant(1);
    }
    let zero = i.zeros_like();
    let starts = (0..sizes.len()).map(|a| if a == axis { i } else { zero });
    let operands: Vec<Sym> = std::iter::once(x).chain(starts).collect();
    emit(Prim::DynamicSlice { sizes }, &operands)
}

/// The sum over the rows, which stay with the extent 1.
pub(super) fn over_rows(x: Sym) -> Sym {
    x.sum(keep(-2))
}

/// An extent as a scalar i32.
pub(super) fn count(n: Dim) -> Sym {
    match n.as_i64().and_then(|n| i32::try_from(n).ok()) {
        Some(n) => full(I32, [], n),
        None => emit(Prim::DimSize { extent: n, dtype: I32 }, &[]),
    }
}

/// Runs `step` on the numbers 0 to n - 1, and the state.
pub(super) fn repeat<const N: usize>(
    n: Sym,
    init: [Sym; N],
    step: impl Fn(Sym, [Sym; N]) -> Result<[Sym; N], OpError>,
) -> Result<[Sym; N], OpError> {
    repeat_while(n, init, |_| None, step)
}

/// The same, as long as `until` of the state does not say, in a scalar bool, that it is done.
pub(super) fn repeat_while<const N: usize>(
    n: Sym,
    init: [Sym; N],
    done: impl Fn([Sym; N]) -> Option<Sym>,
    step: impl Fn(Sym, [Sym; N]) -> Result<[Sym; N], OpError>,
) -> Result<[Sym; N], OpError> {
    let missing = || OpError::new("", "a loop has a counter and a state");
    let parts = |args: &[Sym]| -> Result<(Sym, [Sym; N]), OpError> {
        let (&i, state) = args.split_first().ok_or_else(missing)?;
        Ok((i, <[Sym; N]>::try_from(state).map_err(|_| missing())?))
    };
    let mut types = vec![spec(I32, [])];
    types.extend(init.iter().map(|x| x.spec()));
    let condition = region(&types, |args| {
        let (i, state) = parts(args)?;
        let more = i.lt(n);
        Ok(vec![done(state).map_or(more, |done| more & !done)])
    })?;
    let body = region(&types, |args| {
        let (i, state) = parts(args)?;
        let mut out = vec![i + 1];
        out.extend(step(i, state)?);
        Ok(out)
    })?;
    let mut state = vec![full(I32, [], 0)];
    state.extend(init);
    Ok(parts(&emit_regions(Prim::WhileLoop {}, &state, vec![condition, body])?)?.1)
}

/// The adjoint: rows become columns, conjugated.
pub(super) fn adjoint(x: Sym) -> Sym {
    let rank = x.rank();
    let mut perm: Vec<usize> = (0..rank).collect();
    perm.swap(rank.saturating_sub(1), rank.saturating_sub(2));
    conj(emit(Prim::Transpose { perm }, &[x]))
}

/// The complex conjugate, on the parts.
pub(super) fn conj(x: Sym) -> Sym {
    if x.dtype().is_complex() { x.real().complex(-x.imag()) } else { x }
}

/// The real part.
pub(super) fn real(x: Sym) -> Sym {
    if x.dtype().is_complex() { x.real() } else { x }
}

/// The imaginary part, or 0.
pub(super) fn imag(x: Sym) -> Sym {
    if x.dtype().is_complex() { x.imag() } else { x.zeros_like() }
}

/// |re| + |im|, by which LAPACK chooses pivots.
pub(super) fn size(x: Sym) -> Sym {
    if x.dtype().is_complex() { x.real().abs() + x.imag().abs() } else { x.abs() }
}

/// The square of the modulus.
pub(super) fn square(x: Sym) -> Sym {
    if x.dtype().is_complex() { x.real() * x.real() + x.imag() * x.imag() } else { x * x }
}

/// A real number in the dtype of `like`.
pub(super) fn of_real(x: Sym, like: Sym) -> Sym {
    x.cast(like.dtype())
}

/// The square root of a² + b² without overflow, of reals.
pub(in super::super) fn hypot(a: Sym, b: Sym) -> Sym {
    let (a, b) = (a.abs(), b.abs());
    let (high, low) = (a.maximum(b), a.minimum(b));
    let plain = high.eq(0.0) | high.eq(f64::INFINITY);
    let ratio = low / plain.select(1.0, high);
    plain.select(high, high * (ratio * ratio + 1.0).sqrt())
}

/// The dtype of f64 parts.
pub(super) fn double(d: DType) -> DType {
    if d == C64 || d == C128 { C128 } else { F64 }
}

/// The modulus, real.
pub(super) fn modulus(x: Sym) -> Sym {
    if x.dtype().is_complex() { hypot(x.real(), x.imag()) } else { x.abs() }
}

/// Numbers [.., n] in order, and where each was.
pub(super) fn ordered(x: Sym, descending: bool) -> Result<(Sym, Sym), OpError> {
    let axis = x.rank().saturating_sub(1);
    let sorted = sort(&[x, iota(I32, x.shape(), axis)], axis, &[descending, false], true)?;
    match sorted.as_slice() {
        [x, order] => Ok((*x, *order)),
        _ => Err(OpError::new("", "a sort gives what it takes")),
    }
}

/// The columns in this order: by a product with a permutation, which is exact.
pub(super) fn permuted(x: &Matrix, columns: Sym, order: Sym) -> Sym {
    let order = emit(Prim::Reshape { shape: x.shape([Dim::constant(1), x.n]) }, &[order]);
    let number = iota(I32, [x.n, Dim::constant(1)], 0);
    columns.matmul(number.eq(order).cast(columns.dtype()))
}

/// `x`, or NaN in every part where `bad` says so.
pub(super) fn or_nan(bad: Sym, x: Sym) -> Sym {
    let nan: Scalar = if x.dtype().is_complex() { Complex::new(f64::NAN, f64::NAN).into() } else { f64::NAN.into() };
    bad.select(full(x.dtype(), [], nan).broadcast_to(x.shape()), x)
}
