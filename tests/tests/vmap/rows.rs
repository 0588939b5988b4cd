//! Rows of tensors: made from one, stacked, taken apart.

use evoxc_core::{Buffer, Element, Tensor, with_buffer};
use num_complex::Complex;

/// One tensor along a new axis 0.
pub fn stack(rows: &[Tensor]) -> Tensor {
    let first = rows.first().expect("there is a row");
    let shape: Vec<usize> = [rows.len()].into_iter().chain(first.shape().iter().copied()).collect();
    with_buffer!(first.buffer(), v => {
        let mut all = v.to_vec();
        for r in &rows[1..] {
            append(&mut all, r);
        }
        Tensor::from_vec(all, shape).expect("rows have one shape")
    })
}

fn append<T: Element>(all: &mut Vec<T>, row: &Tensor) {
    all.extend(row.to_vec::<T>().expect("rows have one dtype"));
}

/// The rows along axis 0.
pub fn unstack(t: &Tensor) -> Vec<Tensor> {
    let (n, rest) = (t.shape()[0], &t.shape()[1..]);
    let each: usize = rest.iter().product();
    with_buffer!(t.buffer(), v => {
        (0..n).map(|i| Tensor::from_vec(v[i * each..(i + 1) * each].to_vec(), rest).expect("a row")).collect()
    })
}

/// No rows, each of the type of `t`.
pub fn none(t: &Tensor) -> Tensor {
    let shape: Vec<usize> = [0].into_iter().chain(t.shape().iter().copied()).collect();
    Tensor::zeros(t.dtype(), shape)
}

/// Another row like `t`: the same elements in another order, or other magnitudes, which keeps a matrix definite.
pub fn like(t: &Tensor, i: usize) -> Tensor {
    let scale = |k: usize| 1.0 - 0.25 * (k % 3) as f64;
    if i.is_multiple_of(2) && i > 0 {
        let s = scale(i);
        let buffer = match t.buffer() {
            Buffer::F32(v) => Buffer::from(v.iter().map(|x| x * s as f32).collect::<Vec<_>>()),
            Buffer::F64(v) => Buffer::from(v.iter().map(|x| x * s).collect::<Vec<_>>()),
            Buffer::C64(v) => Buffer::from(v.iter().map(|x| x * Complex::from(s as f32)).collect::<Vec<_>>()),
            Buffer::C128(v) => Buffer::from(v.iter().map(|x| x * Complex::from(s)).collect::<Vec<_>>()),
            _ => return rolled(t, i),
        };
        return Tensor::from_buffer(buffer, t.shape()).expect("the same number of elements");
    }
    rolled(t, i)
}

fn rolled(t: &Tensor, by: usize) -> Tensor {
    with_buffer!(t.buffer(), v => {
        let mut v = v.to_vec();
        let n = v.len().max(1);
        v.rotate_left(by % n);
        Tensor::from_vec(v, t.shape()).expect("the same number of elements")
    })
}
