//! Row-major strides, walks over boxes of elements, and single elements of buffers of any dtype.

use evoxc_core::{Buffer, Element, OpError, Tensor, with_buffer};
use smallvec::SmallVec;

/// A short list of extents, strides or positions.
pub(crate) type Dims = SmallVec<[usize; 6]>;

/// Row-major strides of a shape.
pub(crate) fn strides(shape: &[usize]) -> Dims {
    let mut s: Dims = SmallVec::from_elem(1, shape.len());
    for d in (1..shape.len()).rev() {
        s[d - 1] = s[d] * shape[d].max(1);
    }
    s
}

/// `of[i]` for every axis in `axes`.
pub(crate) fn pick(of: &[usize], axes: &[usize]) -> Dims {
    axes.iter().map(|&d| of[d]).collect()
}

/// The axes below `rank` that are in none of `lists`, in order.
pub(crate) fn others(rank: usize, lists: &[&[usize]]) -> Dims {
    (0..rank).filter(|d| !lists.iter().any(|l| l.contains(d))).collect()
}

/// A tensor from a kernel's result.
pub(crate) fn tensor<T: Element>(op: &str, data: Vec<T>, shape: &[usize]) -> Result<Tensor, OpError> {
    from_buffer(op, T::wrap(data), shape)
}

/// A tensor from a kernel's result.
pub(crate) fn from_buffer(op: &str, data: Buffer, shape: &[usize]) -> Result<Tensor, OpError> {
    let n = data.len();
    Tensor::from_parts(data, shape)
        .ok_or_else(|| OpError::new(op, format!("the result has {n} elements, but its shape is {shape:?}")))
}

/// The elements as `T`.
pub(crate) fn slice<'a, T: Element>(op: &str, x: &'a Tensor) -> Result<&'a [T], OpError> {
    T::slice(x.buffer()).ok_or_else(|| {
        OpError::new(op, format!("an operand should be {}, but is {}", T::DTYPE, x.dtype()))
            .remedy("operands of one op share a dtype: cast one of them")
    })
}

/// The elements of a tensor of any integer dtype; `u64` beyond `i64` saturate (both are out of any bounds).
pub(crate) fn integers(op: &str, x: &Tensor) -> Result<Vec<i64>, OpError> {
    fn wide<T: Copy + TryInto<i64>>(v: &[T]) -> Vec<i64> {
        v.iter().map(|&i| i.try_into().unwrap_or(i64::MAX)).collect()
    }
    Ok(match x.buffer() {
        Buffer::I8(v) => wide(v),
        Buffer::I16(v) => wide(v),
        Buffer::I32(v) => wide(v),
        Buffer::I64(v) => v.clone(),
        Buffer::U8(v) => wide(v),
        Buffer::U16(v) => wide(v),
        Buffer::U32(v) => wide(v),
        Buffer::U64(v) => wide(v),
        Buffer::Bool(_)
        | Buffer::F16(_)
        | Buffer::Bf16(_)
        | Buffer::F32(_)
        | Buffer::F64(_)
        | Buffer::C64(_)
        | Buffer::C128(_) => {
            return Err(OpError::new(op, format!("indices must be integers, not {}", x.dtype()))
                .remedy("cast the indices to i32"));
        }
    })
}

/// `start` moved so that `size` elements from it lie within `extent`.
pub(crate) fn clamp_start(start: i64, size: usize, extent: usize) -> usize {
    usize::try_from(start.max(0)).unwrap_or(usize::MAX).min(extent.saturating_sub(size))
}

/// Element `i` of a buffer, as a scalar tensor.
pub(crate) fn scalar_at(b: &Buffer, i: usize) -> Tensor {
    with_buffer!(b, v => Tensor::from(v[i]))
}

/// Writes a scalar tensor to element `i`.
pub(crate) fn store(op: &str, b: &mut Buffer, i: usize, value: &Tensor) -> Result<(), OpError> {
    fn put<T: Element>(op: &str, v: &mut [T], i: usize, value: &Tensor) -> Result<(), OpError> {
        let [x] = slice::<T>(op, value)? else {
            return Err(OpError::new(op, "the body must give scalars").operands([value.spec()]));
        };
        v[i] = *x;
        Ok(())
    }
    with_buffer!(b, v => put(op, v, i, value))
}

/// Calls `f` with every position of a box, in row-major order; never for an empty box, once for rank 0.
pub(crate) fn positions(sizes: &[usize], mut f: impl FnMut(&[usize])) {
    let _ = try_positions(sizes, |p| {
        f(p);
        Ok::<(), ()>(())
    });
}

/// [`positions`] that stops at the first error.
pub(crate) fn try_positions<E>(sizes: &[usize], mut f: impl FnMut(&[usize]) -> Result<(), E>) -> Result<(), E> {
    if sizes.contains(&0) {
        return Ok(());
    }
    let mut at: Dims = SmallVec::from_elem(0, sizes.len());
    loop {
        f(&at)?;
        let Some(d) = (0..sizes.len()).rev().find(|&d| at[d] + 1 < sizes[d]) else { return Ok(()) };
        at[d] += 1;
        at[d + 1..].fill(0);
    }
}

/// The flat offset of a position.
pub(crate) fn offset(at: &[usize], strides: &[usize]) -> usize {
    at.iter().zip(strides).map(|(i, s)| i * s).sum()
}

/// A box seen through two sets of strides, with its trailing axes merged where both are contiguous.
pub(crate) struct Runs {
    axes: SmallVec<[(usize, usize, usize); 6]>,
    len: usize,
}

impl Runs {
    /// The box of `sizes`, through strides `a` and `b`.
    pub(crate) fn new(sizes: &[usize], a: &[usize], b: &[usize]) -> Runs {
        if sizes.contains(&0) {
            return Runs { axes: SmallVec::from_slice(&[(0, 0, 0)]), len: 0 };
        }
        let mut axes: SmallVec<[(usize, usize, usize); 6]> = SmallVec::new();
        let mut len = 1;
        for ((&n, &a), &b) in sizes.iter().zip(a).zip(b).rev().filter(|((n, _), _)| **n != 1) {
            if axes.is_empty() && a == len && b == len {
                len *= n;
            } else {
                axes.push((n, a, b));
            }
        }
        axes.reverse();
        Runs { axes, len }
    }
    /// Calls `f(offset in a, offset in b, length)` for every contiguous run, in row-major order.
    pub(crate) fn visit(&self, a: usize, b: usize, f: &mut impl FnMut(usize, usize, usize)) {
        visit(&self.axes, self.len, a, b, f);
    }
}

fn visit(axes: &[(usize, usize, usize)], len: usize, a: usize, b: usize, f: &mut impl FnMut(usize, usize, usize)) {
    match axes {
        [] => f(a, b, len),
        [(n, sa, sb)] => (0..*n).for_each(|i| f(a + i * sa, b + i * sb, len)),
        [(n, sa, sb), rest @ ..] => (0..*n).for_each(|i| visit(rest, len, a + i * sa, b + i * sb, f)),
    }
}

/// The elements of a row-major array with axis `i` of the result being axis `perm[i]`.
pub(crate) fn permute<T: Copy>(v: &[T], shape: &[usize], perm: &[usize]) -> Vec<T> {
    let sizes = pick(shape, perm);
    let mut out = Vec::with_capacity(v.len());
    let runs = Runs::new(&sizes, &pick(&strides(shape), perm), &strides(&sizes));
    runs.visit(0, 0, &mut |a, _, n| out.extend_from_slice(&v[a..a + n]));
    out
}
