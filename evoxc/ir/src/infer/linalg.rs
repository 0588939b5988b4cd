//! Types of Fourier transforms and matrix factorisations. Leading axes are batch.

use super::elementwise::split_last;
use super::{Check, Cx, Types};
use crate::{FftKind, TensorType};
use evoxc_core::{DType, Dim, Shape, TensorSpec, spec};
use smallvec::smallvec;

pub(super) fn fft(cx: &Cx, kind: FftKind, length: &[Dim]) -> Check<Types> {
    let [x] = cx.operands()?;
    cx.sound("length", length)?;
    let n = length.len();
    let Some((batch, axes)) = x.rank().checked_sub(n).filter(|_| n > 0).map(|at| x.shape.split_at(at)) else {
        return cx.fail(format!("`length` has {n} entries, x has rank {}; it takes 1 to that many", x.rank()));
    };
    let last = length.last().copied().unwrap_or(Dim::constant(1));
    let half = last / 2 + 1;
    let real = x.dtype == DType::F32 || x.dtype == DType::F64;
    let complex = if x.dtype == DType::F64 { DType::C128 } else { DType::C64 };
    let (dtype, input, output) = match kind {
        FftKind::Fft | FftKind::Ifft | FftKind::Irfft => {
            cx.dtype("x", x.dtype, x.dtype.is_complex(), "complex (c64, c128)", "cast it first: `.cast(C64)`")?;
            match kind {
                FftKind::Irfft => (x.dtype.real(), half, last),
                FftKind::Fft | FftKind::Ifft | FftKind::Rfft => (x.dtype, last, last),
            }
        }
        FftKind::Rfft => {
            cx.dtype("x", x.dtype, real, "f32 or f64", "cast it first: `.cast(F32)`; a complex one takes `fft`")?;
            (complex, last, half)
        }
    };
    for (i, (&have, &len)) in axes.iter().zip(length).enumerate() {
        let want = if i + 1 == n { input } else { len };
        if have != want {
            return cx.fail(format!("axis {} of x has size {have}, `length` {len} asks for {want}", batch.len() + i));
        }
    }
    let mut shape: Shape = batch.iter().chain(length).copied().collect();
    if let Some(d) = shape.dims_mut().last_mut() {
        *d = output;
    }
    cx.result(dtype, shape)
}

/// The dtypes that factorisations are computed in.
fn field(cx: &Cx, name: &str, d: DType) -> Check {
    let ok = matches!(d, DType::F32 | DType::F64 | DType::C64 | DType::C128);
    cx.dtype(name, d, ok, "f32, f64, c64 or c128", "cast it first: `.cast(F32)`")
}

/// Batch, rows and columns.
fn matrix<'a>(cx: &Cx, a: &'a TensorType) -> Check<(&'a [Dim], Dim, Dim)> {
    field(cx, "a", a.dtype)?;
    match split_last(&a.shape) {
        Some((batch, [m, n])) => Ok((batch, m, n)),
        None => cx.fail(format!("a has rank {}, matrices have at least 2 axes", a.rank())),
    }
}

fn square<'a>(cx: &Cx, a: &'a TensorType) -> Check<(&'a [Dim], Dim)> {
    let (batch, m, n) = matrix(cx, a)?;
    if m == n {
        return Ok((batch, m));
    }
    cx.fail(format!(
        "the matrices must be square: axis {} of a has size {m}, axis {} has size {n}",
        batch.len(),
        batch.len() + 1
    ))
}

fn batched<const N: usize>(dtype: DType, batch: &[Dim], last: [Dim; N]) -> TensorSpec {
    spec(dtype, batch.iter().copied().chain(last).collect::<Shape>())
}

pub(super) fn cholesky(cx: &Cx) -> Check<Types> {
    let [a] = cx.operands()?;
    square(cx, a)?;
    cx.one(a.dtype, &a.shape)
}

pub(super) fn triangular_solve(cx: &Cx, left: bool) -> Check<Types> {
    let [a, b] = cx.operands()?;
    cx.same_dtype(("a", a), ("b", b))?;
    let (batch, n) = square(cx, a)?;
    let Some((b_batch, [rows, columns])) = split_last(&b.shape) else {
        return cx.fail(format!("b has rank {}, matrices have at least 2 axes", b.rank()));
    };
    cx.same_shape(("the batch of a", batch), ("the batch of b", b_batch))?;
    let (axis, size) = if left { (b.rank() - 2, rows) } else { (b.rank() - 1, columns) };
    if size != n {
        return cx.fail(format!("a has matrices of size {n}x{n}, but axis {axis} of b has size {size}"));
    }
    cx.one(b.dtype, &b.shape)
}

pub(super) fn lu(cx: &Cx) -> Check<Types> {
    let [a] = cx.operands()?;
    let (batch, m, n) = matrix(cx, a)?;
    let i = DType::I32;
    Ok(smallvec![cx.like(a), batched(i, batch, [m.min(n)]), batched(i, batch, [m])])
}

pub(super) fn qr(cx: &Cx, full: bool) -> Check<Types> {
    let [a] = cx.operands()?;
    let (batch, m, n) = matrix(cx, a)?;
    let k = if full { m } else { m.min(n) };
    let (q, r) = (batched(a.dtype, batch, [m, k]), batched(a.dtype, batch, [k, n]));
    cx.shape("q", &q.shape)?;
    Ok(smallvec![q, r])
}

pub(super) fn eigh(cx: &Cx) -> Check<Types> {
    let [a] = cx.operands()?;
    let (batch, n) = square(cx, a)?;
    Ok(smallvec![batched(a.dtype.real(), batch, [n]), cx.like(a)])
}

pub(super) fn svd(cx: &Cx, full: bool) -> Check<Types> {
    let [a] = cx.operands()?;
    let (batch, m, n) = matrix(cx, a)?;
    let k = m.min(n);
    let (left, right) = if full { (m, n) } else { (k, k) };
    let (u, vh) = (batched(a.dtype, batch, [m, left]), batched(a.dtype, batch, [right, n]));
    cx.shape("u", &u.shape)?;
    cx.shape("vh", &vh.shape)?;
    Ok(smallvec![u, batched(a.dtype.real(), batch, [k]), vh])
}
