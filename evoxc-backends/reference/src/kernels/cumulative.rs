//! Running combinations along an axis.

use super::combine::{Combine, cumulator};
use super::walk::tensor;
use evoxc_core::{OpError, Tensor, with_buffer};
use evoxc_ir::CumOp;

/// Element i of the result combines elements 0 to i of x along `axis` (i to the last if `reverse`), in that order.
///
/// Halves accumulate in `f32`, each result rounds once. NaN propagates; logsumexp does not overflow.
pub(crate) fn cumulative(op: CumOp, x: &Tensor, axis: usize, reverse: bool) -> Result<Tensor, OpError> {
    fn run<T: Combine>(v: &[T], n: usize, inner: usize, reverse: bool, f: fn(T::Wide, T::Wide) -> T::Wide) -> Vec<T> {
        let mut out = v.to_vec();
        let mut acc: Vec<T::Wide> = vec![T::Wide::ZERO; inner];
        for (o, block) in out.chunks_exact_mut(n * inner).enumerate() {
            for step in 0..n {
                let i = if reverse { n - 1 - step } else { step };
                let from = &v[(o * n + i) * inner..(o * n + i + 1) * inner];
                let to = &mut block[i * inner..(i + 1) * inner];
                for ((a, &x), y) in acc.iter_mut().zip(from).zip(to) {
                    *a = if step == 0 { x.widen() } else { f(*a, x.widen()) };
                    *y = T::narrow(*a);
                }
            }
        }
        out
    }
    let name = "cumulative";
    let Some(&n) = x.shape().get(axis) else {
        return Err(OpError::new(name, format!("there is no axis {axis}")).operands([x.spec()]));
    };
    if x.is_empty() {
        return Ok(x.clone());
    }
    let inner = x.shape()[axis + 1..].iter().product();
    with_buffer!(x.buffer(), v => tensor(name, run(v, n, inner, reverse, cumulator(op, name)?), x.shape()))
}
