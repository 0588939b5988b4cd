//! Judging values: when does a check of StableHLO's `check` dialect pass?
//!
//! It owns the rules of `expect_eq`, `expect_close`, `expect_almost_eq` and their relatives, applied to two tensors. It
//! runs nothing, and knows nothing of where the tensors come from.

mod distance;
mod programs;

pub use distance::ulp_distance;
pub use programs::programs;

use crate::CheckSite;
use distance::{Parts, element_distance, parts};
use evoxc_core::{Scalar, Tensor};
use std::fmt;

/// A rule that two tensors satisfy or not.
///
/// ```
/// use evoxc::Tensor;
/// use evoxc_stablehlo::checks::Rule;
/// let (got, expected) = (Tensor::from([1f32, 2.0]), Tensor::from([1f32, 2.0000002]));
/// assert!(Rule::Close { min: 0, max: 1 }.judge(&got, &expected).is_ok());
/// let why = Rule::Equal.judge(&got, &expected).unwrap_err();
/// assert_eq!(why.to_string(), "element [1] is 2, expected 2.0000002 (1 of 2 elements)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// Equal as numbers: NaN equals NaN, and -0 equals 0.
    Equal,
    /// So many units in the last place of the tensors' own type apart, in each part of a complex number. Where one side
    /// is not finite, the distance is 0 to the same value (any NaN to any NaN), and beyond all others to the rest.
    /// Integers are apart by their difference.
    Close {
        /// At least.
        min: u64,
        /// At most.
        max: u64,
    },
    /// The absolute difference is at most the tolerance, in each part of a complex number; what is not finite must
    /// match.
    AlmostEqual {
        /// At most.
        tolerance: f64,
    },
}

impl Rule {
    /// The rule of a check: by its name, its attributes, and whether it is a `custom_call`, whose defaults differ from
    /// the op's. `None` for a name that is no check.
    ///
    /// ```
    /// use evoxc_stablehlo::{CheckSite, checks::Rule};
    /// let name = "expect_almost_eq".to_string();
    /// let mut site = CheckSite { name, custom_call: false, attributes: vec![], outputs: vec![0, 1], line: 1 };
    /// assert_eq!(Rule::of(&site), Some(Rule::AlmostEqual { tolerance: 1e-4 }));
    /// site.custom_call = true;
    /// assert_eq!(Rule::of(&site), Some(Rule::AlmostEqual { tolerance: 1e-3 }));
    /// ```
    pub fn of(site: &CheckSite) -> Option<Rule> {
        let attribute = |name: &str| site.attributes.iter().find(|a| a.0 == name).map(|a| a.1);
        // A distance is an unsigned number that may be printed as a signed one.
        let distance = |name: &str| match attribute(name) {
            Some(Scalar::Int(i)) => Some(i as u64),
            _ => None,
        };
        let tolerance = match attribute("tolerance") {
            Some(Scalar::Float(x)) => Some(x),
            Some(Scalar::Int(i)) => Some(i as f64),
            _ => None,
        };
        match site.name.as_str() {
            "expect_eq" | "expect_serialized_eq" | "eq" => Some(Rule::Equal),
            "expect_close" => Some(Rule::Close {
                min: distance("min_ulp_difference").unwrap_or(0),
                max: distance("max_ulp_difference").unwrap_or(3),
            }),
            "expect_almost_eq" => {
                let default = if site.custom_call { 1e-3 } else { 1e-4 };
                Some(Rule::AlmostEqual { tolerance: tolerance.unwrap_or(default) })
            }
            _ => None,
        }
    }

    /// Does `got` satisfy the rule against `expected`?
    ///
    /// # Errors
    /// The first element that does not, or the types where those differ.
    pub fn judge(&self, got: &Tensor, expected: &Tensor) -> Result<(), Mismatch> {
        let (a, b) = (parts(got), parts(expected));
        if got.spec() != expected.spec() {
            return Err(Mismatch::Type { got: got.spec().to_string(), expected: expected.spec().to_string() });
        }
        let wrong = |i: &usize| !self.satisfied(&a, &b, *i);
        let mut all = (0..got.len()).filter(wrong);
        let Some(first) = all.next() else { return Ok(()) };
        let distance = match self {
            Rule::Equal => None,
            Rule::Close { .. } => {
                Some(format!("{} units in the last place apart", element_distance(&a, &b, first).unwrap_or(u64::MAX)))
            }
            Rule::AlmostEqual { .. } => a.difference(&b, first).map(|d| format!("{d:e} apart")),
        };
        Err(Mismatch::Element {
            at: position(first, got.shape()),
            got: a.shown(first),
            expected: b.shown(first),
            distance,
            wrong: all.count() + 1,
            of: got.len(),
        })
    }

    fn satisfied(&self, a: &Parts, b: &Parts, i: usize) -> bool {
        match *self {
            Rule::Equal => a.equal(b, i),
            Rule::Close { min, max } => element_distance(a, b, i).is_some_and(|d| min <= d && d <= max),
            Rule::AlmostEqual { tolerance } => {
                a.equal(b, i) || a.difference(b, i).is_some_and(|difference| difference <= tolerance)
            }
        }
    }
}

/// Why a check does not pass.
#[derive(Clone, Debug, PartialEq)]
pub enum Mismatch {
    /// The types differ.
    Type {
        /// What came.
        got: String,
        /// What should be there.
        expected: String,
    },
    /// Elements differ; the first is described.
    Element {
        /// Its position.
        at: Vec<usize>,
        /// Its value.
        got: String,
        /// What should be there.
        expected: String,
        /// How far apart they are, for checks that allow a distance.
        distance: Option<String>,
        /// How many elements differ.
        wrong: usize,
        /// Of how many.
        of: usize,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::Type { got, expected } => write!(f, "it is {got}, expected {expected}"),
            Mismatch::Element { at, got, expected, distance, wrong, of } => {
                if !at.is_empty() {
                    write!(f, "element {at:?} is ")?;
                }
                write!(f, "{got}, expected {expected}")?;
                if let Some(d) = distance {
                    write!(f, ", {d}")?;
                }
                if !at.is_empty() {
                    write!(f, " ({wrong} of {of} elements)")?;
                }
                Ok(())
            }
        }
    }
}
impl std::error::Error for Mismatch {}

fn position(mut i: usize, shape: &[usize]) -> Vec<usize> {
    let mut at: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&n| {
            let k = i % n.max(1);
            i /= n.max(1);
            k
        })
        .collect();
    at.reverse();
    at
}

#[cfg(test)]
mod tests;
