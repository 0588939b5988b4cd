//! Maps over the elements of tensors, and the small pieces that every kernel needs.

use evoxc_core::{Buffer, DType, Element, OpError, Tensor, with_buffer, with_dtype};

/// What a kernel of one result gives.
pub(crate) type Outcome = Result<Tensor, OpError>;

/// A tensor of `v` under `shape`.
pub(crate) fn tensor<T: Element>(v: Vec<T>, shape: &[usize]) -> Outcome {
    Tensor::from_parts(T::wrap(v), shape).ok_or_else(|| OpError::new("", "the result does not have its type's size"))
}

/// A tensor without elements. Kernels that walk over extents start with it, so that an empty tensor costs nothing,
/// however large its other extents are.
pub(crate) fn empty(dtype: DType, shape: &[usize]) -> Outcome {
    Tensor::from_parts(Buffer::zeros(dtype, 0), shape).ok_or_else(|| OpError::new("", "the result is not empty"))
}

/// The error of a dtype that the op's type rule should have refused.
pub(crate) fn no_kernel(op: &str, dtype: DType) -> OpError {
    OpError::new(op, format!("it is not defined on {dtype}")).remedy("convert the operands first")
}

/// The elements as a slice; an error when the dtype is another.
pub(crate) fn slice<T: Element>(x: &Tensor) -> Result<&[T], OpError> {
    T::slice(x.buffer()).ok_or_else(|| OpError::new("", format!("expected {}, got {}", T::DTYPE, x.dtype())))
}

/// `f` of every element, in place where the tensor owns its storage alone.
#[inline]
pub(crate) fn map<T: Element>(mut x: Tensor, f: impl Fn(T) -> T) -> Outcome {
    if let Some(v) = x.buffer_mut().and_then(T::slice_mut) {
        v.iter_mut().for_each(|e| *e = f(*e));
        return Ok(x);
    }
    map_to(&x, f)
}

/// `f` of every element, into another dtype.
#[inline]
pub(crate) fn map_to<T: Element, U: Element>(x: &Tensor, f: impl Fn(T) -> U) -> Outcome {
    tensor(slice::<T>(x)?.iter().map(|&e| f(e)).collect(), x.shape())
}

/// `f` of every pair of elements, in place where one of the tensors owns its storage alone.
#[inline]
pub(crate) fn zip<T: Element>(mut a: Tensor, mut b: Tensor, f: impl Fn(T, T) -> T) -> Outcome {
    if a.len() != b.len() {
        return Err(OpError::new("", "the operands differ in size"));
    }
    if let (Some(x), Some(y)) = (a.buffer_mut().and_then(T::slice_mut), T::slice(b.buffer())) {
        x.iter_mut().zip(y).for_each(|(p, &q)| *p = f(*p, q));
        return Ok(a);
    }
    if let (Some(x), Some(y)) = (T::slice(a.buffer()), b.buffer_mut().and_then(T::slice_mut)) {
        x.iter().zip(y).for_each(|(&p, q)| *q = f(p, *q));
        return Ok(b);
    }
    zip_to(&a, &b, f)
}

/// `f` of every pair of elements, into another dtype.
#[inline]
pub(crate) fn zip_to<T: Element, U: Element>(a: &Tensor, b: &Tensor, f: impl Fn(T, T) -> U) -> Outcome {
    tensor(slice::<T>(a)?.iter().zip(slice::<T>(b)?).map(|(&p, &q)| f(p, q)).collect(), a.shape())
}

/// Element `i`, as a scalar tensor.
pub(crate) fn scalar_at(x: &Tensor, i: usize) -> Outcome {
    fn go<T: Element>(v: &[T], i: usize) -> Option<Tensor> {
        v.get(i).map(|&e| Tensor::from(e))
    }
    with_buffer!(x.buffer(), v => go(v, i)).ok_or_else(|| OpError::new("", "an index is out of range"))
}

/// Empty buffers with room for so many elements each.
pub(crate) fn collector(of: impl Iterator<Item = (DType, usize)>) -> Vec<Buffer> {
    of.map(|(d, n)| with_dtype!(d, T => Buffer::from(Vec::<T>::with_capacity(n)))).collect()
}

/// Appends a scalar to each buffer.
pub(crate) fn collect(outs: &mut [Buffer], scalars: &[Tensor]) -> Result<(), OpError> {
    fn go<T: Element>(out: &mut Buffer, x: &Tensor) -> Option<()> {
        T::slice_mut(out)?.push(*T::slice(x.buffer())?.first()?);
        Some(())
    }
    for (out, x) in outs.iter_mut().zip(scalars) {
        with_dtype!(x.dtype(), T => go::<T>(out, x)).ok_or_else(|| OpError::new("", "a body gave another dtype"))?;
    }
    Ok(())
}

/// The collected elements as tensors of one shape.
pub(crate) fn collected(outs: Vec<Buffer>, shape: &[usize]) -> Result<Vec<Tensor>, OpError> {
    let size = || OpError::new("", "the result does not have its type's size");
    outs.into_iter().map(|b| Tensor::from_parts(b, shape).ok_or_else(size)).collect()
}
