//! Arithmetic on data for the laws: tensors as lists of complex numbers, rows stacked and taken apart, products.

use crate::random_graph::Rng;
use evoxc_core::{Buffer, DType, Tensor};
use num_complex::Complex;

/// The elements as complex numbers; empty for integers and booleans.
pub fn numbers(t: &Tensor) -> Vec<Complex<f64>> {
    let d = t.dtype();
    if d.is_complex() {
        t.cast(DType::C128).and_then(|t| t.to_vec::<Complex<f64>>()).unwrap_or_default()
    } else if d.is_float() {
        let reals = t.cast(DType::F64).and_then(|t| t.to_vec::<f64>()).unwrap_or_default();
        reals.into_iter().map(|re| Complex::new(re, 0.0)).collect()
    } else {
        vec![]
    }
}

/// A tensor of these elements; imaginary parts are dropped for real dtypes.
pub fn tensor(dtype: DType, shape: &[usize], z: &[Complex<f64>]) -> Tensor {
    let made = if dtype.is_complex() {
        Tensor::from_vec(z.to_vec(), shape)
    } else {
        Tensor::from_vec(z.iter().map(|z| z.re).collect::<Vec<f64>>(), shape)
    };
    made.and_then(|t| t.cast(dtype)).expect("as many elements as the shape has")
}

/// Has the dtype tangents?
pub fn is_float(d: DType) -> bool {
    d.is_float() || d.is_complex()
}

/// A random tangent of a tensor: zeros for integers and booleans.
pub fn tangent(rng: &mut Rng, like: &Tensor) -> Tensor {
    if !is_float(like.dtype()) {
        return Tensor::zeros(like.dtype(), like.shape());
    }
    let mut unit = || rng.below(2001) as f64 / 1000.0 - 1.0;
    let z: Vec<Complex<f64>> = (0..like.len()).map(|_| Complex::new(unit(), unit())).collect();
    tensor(like.dtype(), like.shape(), &z)
}

/// x + h·v, for floats; x otherwise.
pub fn step(x: &[Tensor], v: &[Tensor], h: f64) -> Vec<Tensor> {
    let one = |(x, v): (&Tensor, &Tensor)| {
        if !is_float(x.dtype()) {
            return x.clone();
        }
        let z: Vec<_> = numbers(x).iter().zip(numbers(v)).map(|(x, v)| x + v * h).collect();
        tensor(x.dtype(), x.shape(), &z)
    };
    x.iter().zip(v).map(one).collect()
}

/// The real part of Σ a·b over all tensors, without conjugation: what a transpose keeps, also of maps that are linear
/// over the reals only. And Σ |a·b|, its scale.
pub fn product(a: &[Tensor], b: &[Tensor]) -> (f64, f64) {
    let terms = a.iter().zip(b).flat_map(|(a, b)| numbers(a).into_iter().zip(numbers(b)));
    terms.fold((0.0, 0.0), |(sum, scale), (a, b)| (sum + (a * b).re, scale + (a * b).norm()))
}

/// Stacks rows along a new axis.
pub fn stack(rows: &[Tensor], axis: usize) -> Option<Tensor> {
    let first = rows.first()?;
    let mut shape = first.shape().to_vec();
    let (outer, inner) = shape.split_at_checked(axis)?;
    let size = inner.iter().product::<usize>() * first.dtype().size();
    let mut bytes = vec![];
    for o in 0..outer.iter().product() {
        for r in rows {
            bytes.extend_from_slice(r.buffer().bytes().get(o * size..(o + 1) * size)?);
        }
    }
    shape.insert(axis, rows.len());
    Tensor::from_buffer(Buffer::from_le_bytes(first.dtype(), &bytes)?, shape.as_slice()).ok()
}

/// One row of axis 0.
pub fn row(t: &Tensor, r: usize) -> Tensor {
    let shape = t.shape().get(1..).unwrap_or_default();
    let size = shape.iter().product::<usize>() * t.dtype().size();
    let bytes = t.buffer().bytes().get(r * size..(r + 1) * size).unwrap_or_default();
    let buffer = Buffer::from_le_bytes(t.dtype(), bytes).expect("whole elements");
    Tensor::from_buffer(buffer, shape).expect("as many elements as the shape has")
}

/// The sum over the rows on axis 0.
pub fn sum_rows(t: &Tensor) -> Tensor {
    let shape = t.shape().get(1..).unwrap_or_default();
    let n: usize = shape.iter().product();
    let mut sum = vec![Complex::new(0.0, 0.0); n];
    for (i, z) in numbers(t).into_iter().enumerate() {
        sum[i % n] += z;
    }
    tensor(t.dtype(), shape, &sum)
}

/// Are two lists of tensors near each other? By `tolerance` times the largest magnitude in the tensor, at least 1.
///
/// # Errors
/// What differs first.
pub fn near(got: &[Tensor], want: &[Tensor], tolerance: f64) -> Result<(), String> {
    if got.len() != want.len() {
        return Err(format!("{} results instead of {}", got.len(), want.len()));
    }
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        if g.spec() != w.spec() {
            return Err(format!("result {i}: a {} instead of a {}", g.spec(), w.spec()));
        }
        let (a, b) = (numbers(g), numbers(w));
        let scale = b.iter().map(|z| z.norm()).filter(|n| n.is_finite()).fold(1.0, f64::max);
        for (k, (a, b)) in a.iter().zip(&b).enumerate() {
            let both_nan = a.is_nan() && b.is_nan();
            let close = a == b || (a - b).norm() <= tolerance * scale;
            if !both_nan && !close {
                return Err(format!(
                    "result {i}, element {k}: {a} instead of {b}, error {:.1e}\n    got  {g}\n    want {w}",
                    (a - b).norm() / scale
                ));
            }
        }
    }
    Ok(())
}
