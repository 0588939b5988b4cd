//! Are the results of the workloads right?

use super::workloads::Workload;
use crate::{Failure, print};
use evoxc_backends::Interp;
use evoxc_core::{Result, Tensor};
use evoxc_stage::AnyBackend;

/// The largest difference from the interpreter that passes, in parts of the largest value of the result: sums of a few thousand
/// terms of f32, which nearly cancel in some of the workloads, differ so much by the order of their terms.
const TOLERANCE: f32 = 1e-4;

/// Compares every result of every workload with the interpreter's.
pub fn run<'w>(
    workloads: impl Iterator<Item = &'w Workload>,
    backend: &AnyBackend,
) -> std::result::Result<(), Failure> {
    let reference = AnyBackend::new(Interp);
    let mut wrong = false;
    for w in workloads {
        let difference = difference(&(w.results)(backend)?, &(w.results)(&reference)?)?;
        let passes = difference <= TOLERANCE;
        wrong |= !passes;
        print(&format!("{}: {} (largest difference {difference:.1e})\n", w.name, if passes { "ok" } else { "WRONG" }))?;
    }
    if wrong { Err(Failure::Reported) } else { Ok(()) }
}

/// The largest difference of an element, in parts of the largest element of its tensor; NaN where one is none.
fn difference(ours: &[Tensor], theirs: &[Tensor]) -> Result<f32> {
    let mut largest = if ours.len() == theirs.len() { 0.0 } else { f32::NAN };
    for (a, b) in ours.iter().zip(theirs) {
        let (x, y) = (a.as_slice::<f32>()?, b.as_slice::<f32>()?);
        let scale = y.iter().fold(0f32, |m, v| m.max(v.abs())).max(f32::MIN_POSITIVE);
        let here = x
            .iter()
            .zip(y)
            .map(|(x, y)| (x - y).abs() / scale)
            .fold(0f32, |m, d| if m.is_nan() || d <= m { m } else { d });
        if a.shape() != b.shape() || here.is_nan() {
            return Ok(f32::NAN);
        }
        largest = here.max(largest);
    }
    Ok(largest)
}
