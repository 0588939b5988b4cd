//! How a workload is timed: as the peers' script does it.

use evoxc_core::{Result, Tensor};
use serde::Serialize;
use std::time::{Duration, Instant};

/// Times of one workload, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Times {
    /// The median of the calls after the first.
    pub median_ms: f64,
    /// The least.
    pub min_ms: f64,
    /// Trace, compilation and the first run.
    pub first_call_ms: f64,
}

/// A call of a program; it includes waiting for its results.
pub type Call = Box<dyn FnMut() -> Result<()>>;

/// A program that is ready to run.
pub struct Ready {
    /// Runs it, as often as one likes.
    pub call: Call,
    /// Runs it once more, for its results.
    pub results: Box<dyn FnOnce() -> Result<Vec<Tensor>>>,
}

/// Times what `build` makes: the first call with the building, then at least 5 and at most 2000 within the budget.
///
/// # Errors
/// Those of building and running.
pub fn timed(budget: Duration, build: impl FnOnce() -> Result<Call>) -> Result<Times> {
    let start = Instant::now();
    let mut call = build()?;
    call()?;
    let first = start.elapsed();
    call()?;
    let mut times = vec![];
    let end = Instant::now() + budget;
    while times.len() < 5 || (Instant::now() < end && times.len() < 2000) {
        let start = Instant::now();
        call()?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let at = |i: usize| times.get(i).copied().unwrap_or_default();
    // As Python's `statistics.median`: the mean of the two in the middle.
    let median = (at((times.len() - 1) / 2) + at(times.len() / 2)) / 2;
    Ok(Times { median_ms: ms(median, 5), min_ms: ms(at(0), 5), first_call_ms: ms(first, 3) })
}

/// Milliseconds, rounded to so many digits after the point.
pub fn ms(t: Duration, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    (t.as_secs_f64() * 1e3 * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_call_counts_the_building_and_five_follow_at_least() {
        let calls = std::rc::Rc::new(std::cell::Cell::new(0));
        let counted = calls.clone();
        let t = timed(Duration::ZERO, move || {
            std::thread::sleep(Duration::from_millis(5));
            Ok(Box::new(move || {
                counted.set(counted.get() + 1);
                Ok(())
            }))
        })
        .unwrap();
        assert_eq!(calls.get(), 7);
        assert!(t.first_call_ms >= 5.0 && t.min_ms <= t.median_ms);
    }
}
