//! Fourier transforms of the last axes, with NumPy's conventions.

use super::fft_short::{Part, SHORT, Short, ShortReal};
use super::precision::cast;
use super::walk::{Dims, slice, tensor};
use evoxc_core::{DType, Element, OpError, Tensor};
use evoxc_ir::FftKind;
use num_complex::Complex;
use rustfft::{FftDirection, FftNum, FftPlanner};

/// Transforms the last axes, as many as `length` has. Inverses divide by the number of points.
pub(crate) fn fft(x: &Tensor, kind: FftKind, length: &[usize]) -> Result<Tensor, OpError> {
    let short = match x.dtype() {
        DType::F32 | DType::C64 => short::<f32>(x, kind, length)?,
        DType::F64 | DType::C128 => short::<f64>(x, kind, length)?,
        _ => None,
    };
    if let Some(y) = short {
        return Ok(y);
    }
    match x.dtype() {
        // Lines of odd lengths lose several last places in single precision.
        DType::F32 | DType::C64 => {
            let wide = if x.dtype() == DType::F32 { DType::F64 } else { DType::C128 };
            let y = transform::<f64>(&cast("fft", x, wide)?, kind, length)?;
            cast("fft", &y, if kind == FftKind::Irfft { DType::F32 } else { DType::C64 })
        }
        DType::F64 | DType::C128 => transform::<f64>(x, kind, length),
        DType::BOOL
        | DType::I8
        | DType::I16
        | DType::I32
        | DType::I64
        | DType::U8
        | DType::U16
        | DType::U32
        | DType::U64
        | DType::F16
        | DType::BF16 => Err(OpError::new("fft", "is computed in f32, f64, c64 and c128")
            .operands([x.spec()])
            .remedy("cast it first: `.cast(F32)`")),
    }
}

/// Transforms whose lines are all short, axis by axis as NumPy and JAX take them: from the last one back, or, where that is
/// real, the others in order, after it forwards and before it backwards. `None` for others.
fn short<R: FftNum + Element + Part>(x: &Tensor, kind: FftKind, length: &[usize]) -> Result<Option<Tensor>, OpError>
where
    Complex<R>: Element,
{
    let op = "fft";
    let Some((&last, outer)) = length.split_last() else { return Ok(None) };
    let half = last / 2 + 1;
    let (forward, want) = match kind {
        FftKind::Fft | FftKind::Rfft => (true, last),
        FftKind::Ifft => (false, last),
        FftKind::Irfft => (false, half),
    };
    let fits = x.shape().len() >= length.len()
        && x.shape().split_last().is_some_and(|(&n, rest)| n == want && rest.ends_with(outer));
    if !fits || x.is_empty() || length.iter().any(|n| !(1..SHORT).contains(n)) {
        return Ok(None);
    }
    let mut shape: Dims = x.shape().into();
    let (at, end) = (shape.len() - length.len(), shape.len() - 1);
    let scale = (!forward).then(|| R::of(1.0 / length.iter().product::<usize>() as f64));
    let scaled = |c: Complex<R>| scale.map_or(c, |s| Complex::new(c.re * s, c.im * s));
    match kind {
        FftKind::Fft | FftKind::Ifft => {
            let mut v = slice::<Complex<R>>(op, x)?.to_vec();
            for d in (at..=end).rev() {
                lines(&mut v, &shape, d, forward);
                if d == end {
                    v.iter_mut().for_each(|c| *c = scaled(*c));
                }
            }
            tensor(op, v, &shape).map(Some)
        }
        FftKind::Rfft => {
            let Some(plan) = ShortReal::<R>::new(last) else { return Ok(None) };
            let (mut buffer, mut v) = (vec![R::zero(); last], vec![]);
            for line in slice::<R>(op, x)?.chunks(last) {
                let mut line = line.to_vec();
                plan.process(&mut line, &mut buffer, true);
                let part = |k: usize| line.get(k).copied().unwrap_or_else(R::zero);
                v.push(Complex::new(part(0), R::zero()));
                v.extend((1..half).map(|k| Complex::new(part(2 * k - 1), part(2 * k))));
            }
            shape[end] = half;
            (at..end).for_each(|d| lines(&mut v, &shape, d, true));
            tensor(op, v, &shape).map(Some)
        }
        FftKind::Irfft => {
            let Some(plan) = ShortReal::<R>::new(last) else { return Ok(None) };
            let mut v = slice::<Complex<R>>(op, x)?.to_vec();
            (at..end).for_each(|d| lines(&mut v, &shape, d, false));
            let (mut buffer, mut out) = (vec![R::zero(); last], vec![]);
            for half_line in v.chunks(half) {
                let mut line: Vec<R> = half_line.iter().flat_map(|c| [c.re, c.im]).collect();
                // The imaginary part of the first point, and of the middle one, is taken to be 0.
                line.remove(1);
                line.truncate(last);
                plan.process(&mut line, &mut buffer, false);
                out.extend(line.into_iter().map(|r| scale.map_or(r, |s| r * s)));
            }
            shape[end] = last;
            tensor(op, out, &shape).map(Some)
        }
    }
}

/// Transforms every short line along axis `d`, not scaled.
fn lines<R: Part>(v: &mut [Complex<R>], shape: &[usize], d: usize, forward: bool) {
    let (n, inner) = (shape[d], shape[d + 1..].iter().product::<usize>());
    let plan = Short::<R>::new(n);
    let mut line = vec![Complex::<R>::default(); n];
    let mut buffer = line.clone();
    for block in v.chunks_exact_mut(n * inner) {
        for j in 0..inner {
            line.iter_mut().zip(block[j..].iter().step_by(inner)).for_each(|(to, x)| *to = *x);
            plan.process(&mut line, &mut buffer, forward);
            block[j..].iter_mut().step_by(inner).zip(&line).for_each(|(to, x)| *to = *x);
        }
    }
}

fn transform<R: FftNum + Element>(x: &Tensor, kind: FftKind, length: &[usize]) -> Result<Tensor, OpError>
where
    Complex<R>: Element,
{
    let op = "fft";
    let bad = || OpError::new(op, format!("`length` {length:?} does not fit")).operands([x.spec()]);
    let (Some(at), Some(&last)) = (x.rank().checked_sub(length.len()), length.last()) else { return Err(bad()) };
    let mut shape: Dims = x.shape().into();
    let axes: Dims = (at..x.rank()).collect();
    let end = x.rank() - 1;
    let half = last / 2 + 1;
    let (direction, want) = match kind {
        FftKind::Fft | FftKind::Rfft => (FftDirection::Forward, last),
        FftKind::Ifft => (FftDirection::Inverse, last),
        FftKind::Irfft => (FftDirection::Inverse, half),
    };
    if shape[end] != want || shape[at..end] != length[..length.len() - 1] {
        return Err(bad());
    }
    let mut v: Vec<Complex<R>> = match kind {
        FftKind::Rfft => slice::<R>(op, x)?.iter().map(|&re| Complex::new(re, R::zero())).collect(),
        FftKind::Fft | FftKind::Ifft | FftKind::Irfft => slice::<Complex<R>>(op, x)?.to_vec(),
    };
    // The axis that is real on one side comes first forwards and last backwards, so that the others work on half of it.
    let (mut planner, rest) = (FftPlanner::new(), &axes[..axes.len() - 1]);
    if kind != FftKind::Irfft {
        along(&mut planner, &mut v, &shape, end, direction);
    }
    if kind == FftKind::Rfft {
        v = v.chunks(last.max(1)).flat_map(|line| line.iter().take(half).copied()).collect();
        shape[end] = half;
        if last == 0 {
            v = vec![Complex::default(); shape.iter().product()];
        }
    }
    rest.iter().for_each(|&d| along(&mut planner, &mut v, &shape, d, direction));
    if kind == FftKind::Irfft {
        v = v.chunks(half).flat_map(|line| whole(line, last)).collect();
        shape[end] = last;
        along(&mut planner, &mut v, &shape, end, direction);
    }
    if direction == FftDirection::Inverse {
        let points = R::from_usize(length.iter().product()).unwrap_or_else(R::one);
        v.iter_mut().for_each(|x| *x = *x / points);
    }
    match kind {
        FftKind::Irfft => tensor(op, v.into_iter().map(|x| x.re).collect(), &shape),
        FftKind::Fft | FftKind::Ifft | FftKind::Rfft => tensor(op, v, &shape),
    }
}

/// The spectrum of a real signal of `n` points from its half; as in NumPy the imaginary parts of the points that must
/// be real are ignored.
fn whole<R: FftNum>(half: &[Complex<R>], n: usize) -> Vec<Complex<R>> {
    let point = |i: usize| half.get(i).copied().unwrap_or_else(|| Complex::new(R::zero(), R::zero()));
    let all = (0..n).map(|i| {
        if i == 0 || 2 * i == n {
            Complex::new(point(i).re, R::zero())
        } else if 2 * i < n {
            point(i)
        } else {
            point(n - i).conj()
        }
    });
    all.collect()
}

/// Transforms every line along axis `d`, not scaled.
fn along<R: FftNum>(
    planner: &mut FftPlanner<R>,
    v: &mut [Complex<R>],
    shape: &[usize],
    d: usize,
    direction: FftDirection,
) {
    let (n, inner) = (shape[d], shape[d + 1..].iter().product::<usize>());
    if n <= 1 || v.is_empty() {
        return;
    }
    let plan = planner.plan_fft(n, direction);
    if inner == 1 {
        return plan.process(v);
    }
    let mut lines = vec![Complex::new(R::zero(), R::zero()); n * inner];
    for block in v.chunks_exact_mut(n * inner) {
        for (i, row) in block.chunks_exact(inner).enumerate() {
            row.iter().enumerate().for_each(|(j, &x)| lines[j * n + i] = x);
        }
        plan.process(&mut lines);
        for (i, row) in block.chunks_exact_mut(inner).enumerate() {
            row.iter_mut().enumerate().for_each(|(j, x)| *x = lines[j * n + i]);
        }
    }
}
