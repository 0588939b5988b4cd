//! Ops that move elements without computing.

use super::strided::{Steps, copy, row_major};
use super::{Outcome, empty, slice, tensor};
use evoxc_core::{Element, OpError, Tensor, with_dtype};

/// A new tensor of `shape`, read from `x` at `from` with `steps`.
fn gathered(x: &Tensor, shape: &[usize], from: isize, steps: &[isize]) -> Outcome {
    fn go<T: Element>(x: &Tensor, shape: &[usize], from: isize, steps: &[isize]) -> Outcome {
        let mut out = vec![T::default(); shape.iter().product()];
        copy(shape, (&mut out, 0, &row_major(shape)), (slice::<T>(x)?, from, steps));
        tensor(out, shape)
    }
    with_dtype!(x.dtype(), T => go::<T>(x, shape, from, steps))
}

/// Axis i of x becomes axis `dims[i]` of `shape`, repeated where its extent is 1.
pub(crate) fn broadcast(x: Tensor, shape: &[usize], dims: &[usize]) -> Outcome {
    if x.shape() == shape && dims.iter().enumerate().all(|(i, &d)| i == d) {
        return Ok(x);
    }
    if x.len() == 1 {
        return Tensor::from_parts(x.buffer().splat(shape.iter().product()), shape)
            .ok_or_else(|| OpError::new("broadcast_in_dim", "the result does not have its type's size"));
    }
    let mut steps: Steps = Steps::from_elem(0, shape.len());
    for ((&d, &n), &s) in dims.iter().zip(x.shape()).zip(&row_major(x.shape())) {
        if let Some(step) = steps.get_mut(d)
            && n != 1
        {
            *step = s;
        }
    }
    gathered(&x, shape, 0, &steps)
}

/// The same elements under another shape, without a copy.
pub(crate) fn reshape(x: &Tensor, shape: &[usize]) -> Outcome {
    Tensor::from_parts(x.shared().clone(), shape).ok_or_else(|| {
        OpError::new("reshape", format!("{} elements do not fill shape {shape:?}", x.len()))
            .remedy("the symbolic extents of the shape must multiply to the operand's")
    })
}

/// Axis i of the result is axis `perm[i]` of x.
pub(crate) fn transpose(x: &Tensor, perm: &[usize]) -> Outcome {
    let own = row_major(x.shape());
    let shape: Vec<usize> = perm.iter().filter_map(|&p| x.shape().get(p).copied()).collect();
    let steps: Steps = perm.iter().filter_map(|&p| own.get(p).copied()).collect();
    gathered(x, &shape, 0, &steps)
}

/// Elements start, start + stride … of every axis, as many as `shape` has.
pub(crate) fn strided_slice(x: Tensor, start: &[i64], limit: &[i64], stride: &[i64], shape: &[usize]) -> Outcome {
    for (((&a, &b), &s), &n) in start.iter().zip(limit).zip(stride).zip(x.shape()) {
        if a < 0 || b < a || s < 1 || usize::try_from(b).map_or(true, |b| b > n) {
            return Err(OpError::new("slice", format!("{a}..{b} (step {s}) is not inside an axis of {n}")));
        }
    }
    if x.shape() == shape {
        return Ok(x);
    }
    let own = row_major(x.shape());
    let from = start.iter().zip(&own).map(|(&a, &s)| a as isize * s).sum();
    // A step past the end of the axis is never taken; it only must not overflow.
    let steps: Steps = stride.iter().zip(&own).map(|(&a, &s)| (a as isize).saturating_mul(s)).collect();
    gathered(&x, shape, from, &steps)
}

/// The elements in reverse order along `axes`.
pub(crate) fn reverse(x: &Tensor, axes: &[usize]) -> Outcome {
    if x.is_empty() {
        return Ok(x.clone());
    }
    let mut steps = row_major(x.shape());
    let mut from = 0;
    for &axis in axes {
        if let (Some(s), Some(&n)) = (steps.get_mut(axis), x.shape().get(axis)) {
            from += *s * (n as isize - 1);
            *s = -*s;
        }
    }
    gathered(x, x.shape(), from, &steps)
}

/// x surrounded by `value`, with `interior` of it between elements; negative edges cut.
pub(crate) fn pad(x: &Tensor, value: &Tensor, low: &[i64], interior: &[i64], shape: &[usize]) -> Outcome {
    fn go<T: Element>(x: &Tensor, value: &Tensor, low: &[i64], interior: &[i64], shape: &[usize]) -> Outcome {
        let fill = slice::<T>(value)?.first().copied().unwrap_or_default();
        let mut out = vec![fill; shape.iter().product()];
        let (own, to_steps) = (row_major(x.shape()), row_major(shape));
        // Of every axis, the run of elements whose place is inside the result.
        let (mut kept, mut steps) = (Steps::new(), Steps::new());
        let (mut to, mut from) = (0isize, 0isize);
        let mut count: Vec<usize> = Vec::with_capacity(shape.len());
        for (axis, (&n, &m)) in x.shape().iter().zip(shape).enumerate() {
            let (low, step) = (i128::from(low[axis]), i128::from(interior[axis]) + 1);
            let place = |i: i128| low + i * step;
            let first = if low < 0 { (-low + step - 1) / step } else { 0 };
            let last = if m as i128 <= low { 0 } else { (m as i128 - low + step - 1) / step };
            let last = last.min(n as i128);
            if first >= last {
                return tensor(out, shape);
            }
            count.push((last - first) as usize);
            from += first as isize * own[axis];
            to += place(first) as isize * to_steps[axis];
            kept.push(own[axis]);
            // A step past the end of the result is never taken; it only must not overflow.
            steps.push((step as isize).saturating_mul(if last - first > 1 { to_steps[axis] } else { 0 }));
        }
        copy(&count, (&mut out, to, &steps), (slice::<T>(x)?, from, &kept));
        tensor(out, shape)
    }
    if low.len() != x.rank() || interior.len() != x.rank() || shape.len() != x.rank() {
        return Err(OpError::new("pad", "the attributes do not have one entry an axis"));
    }
    with_dtype!(x.dtype(), T => go::<T>(x, value, low, interior, shape))
}

/// The operands one after the other along `axis`.
pub(crate) fn concatenate(xs: &[Tensor], axis: usize, shape: &[usize]) -> Outcome {
    fn go<T: Element>(xs: &[Tensor], axis: usize, shape: &[usize]) -> Outcome {
        let outer: usize = shape.iter().take(axis).product();
        let mut out = Vec::with_capacity(shape.iter().product());
        if outer == 1 {
            for x in xs {
                out.extend_from_slice(slice::<T>(x)?);
            }
            return tensor(out, shape);
        }
        let parts: Vec<(&[T], usize)> = xs
            .iter()
            .map(|x| Ok((slice::<T>(x)?, x.shape().iter().skip(axis).product())))
            .collect::<Result<_, OpError>>()?;
        for i in 0..outer {
            for (v, chunk) in &parts {
                out.extend_from_slice(v.get(i * chunk..(i + 1) * chunk).unwrap_or_default());
            }
        }
        tensor(out, shape)
    }
    let Some(first) = xs.first() else { return Err(OpError::new("concatenate", "it needs an operand")) };
    if shape.contains(&0) {
        return empty(first.dtype(), shape);
    }
    with_dtype!(first.dtype(), T => go::<T>(xs, axis, shape))
}

/// Entry `i` of the leading axis.
pub(crate) fn entry(x: &Tensor, i: usize) -> Outcome {
    fn go<T: Element>(x: &Tensor, i: usize, rest: &[usize]) -> Outcome {
        let n: usize = rest.iter().product();
        let v = slice::<T>(x)?.get(i * n..(i + 1) * n);
        tensor(v.map(<[T]>::to_vec).unwrap_or_default(), rest)
    }
    let rest = x.shape().get(1..).unwrap_or_default();
    with_dtype!(x.dtype(), T => go::<T>(x, i, rest))
}

/// Writes `part` as entry `i` of the leading axis of `whole`, which must own its storage alone.
pub(crate) fn set_entry(whole: &mut Tensor, i: usize, part: &Tensor) -> Result<(), OpError> {
    fn go<T: Element>(whole: &mut Tensor, i: usize, part: &Tensor) -> Option<()> {
        let v = T::slice(part.buffer())?;
        let target = whole.buffer_mut().and_then(T::slice_mut)?.get_mut(i * v.len()..(i + 1) * v.len())?;
        target.copy_from_slice(v);
        Some(())
    }
    with_dtype!(part.dtype(), T => go::<T>(whole, i, part))
        .ok_or_else(|| OpError::new("", "a part does not fit the whole"))
}
