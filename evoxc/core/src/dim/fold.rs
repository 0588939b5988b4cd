//! Rebuilding an expression in another language: ops of a graph, or text.

use super::norm::Atom;
use super::{Dim, DimError, print, symbol};

/// One step of an expression, its parts rebuilt already.
///
/// ```
/// use evoxc::{DimStep, dim};
/// let text = (2 * dim("B") + 1).fold(&mut |step: DimStep<String>| match step {
///     DimStep::Constant(v) => v.to_string(),
///     DimStep::Symbol(s) => s.to_string(),
///     DimStep::Add(a, b) => format!("({a} + {b})"),
///     DimStep::Mul(a, b) => format!("({a} * {b})"),
///     DimStep::Div(a, b) => format!("floor({a} / {b})"),
///     DimStep::Min(a, b) => format!("min({a}, {b})"),
///     DimStep::Max(a, b) => format!("max({a}, {b})"),
/// })?;
/// assert_eq!(text, "((2 * B) + 1)");
/// # Ok::<(), evoxc::DimError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum DimStep<T> {
    /// A number.
    Constant(i64),
    /// A symbol.
    Symbol(Dim),
    /// A sum.
    Add(T, T),
    /// A product.
    Mul(T, T),
    /// A quotient, rounded towards negative infinity.
    Div(T, T),
    /// The lesser.
    Min(T, T),
    /// The greater.
    Max(T, T),
}

impl Dim {
    /// Rebuilds the expression step by step, parts before the whole. The depth of expressions is limited, so this does
    /// not nest deeply.
    ///
    /// # Errors
    /// The error of a poison.
    pub fn fold<T: Clone>(self, step: &mut dyn FnMut(DimStep<T>) -> T) -> Result<T, DimError> {
        if let Some(v) = self.as_i64() {
            return Ok(step(DimStep::Constant(v)));
        }
        if let Some(e) = self.error() {
            return Err(e);
        }
        let poly = self.poly().map_err(|_| DimError::Overflow { expr: print::shortened(self) })?;
        let mut sum: Option<T> = None;
        for (mono, coef) in &poly.terms {
            let mut product = (*coef != 1 || mono.0.is_empty()).then(|| step(DimStep::Constant(*coef)));
            for (atom, power) in &mono.0 {
                let factor = fold_atom(atom, step)?;
                for _ in 0..*power {
                    product = Some(match product {
                        None => factor.clone(),
                        Some(p) => step(DimStep::Mul(p, factor.clone())),
                    });
                }
            }
            if let Some(p) = product {
                sum = Some(match sum {
                    None => p,
                    Some(s) => step(DimStep::Add(s, p)),
                });
            }
        }
        Ok(sum.unwrap_or_else(|| step(DimStep::Constant(0))))
    }
}

fn fold_atom<T: Clone>(atom: &Atom, step: &mut dyn FnMut(DimStep<T>) -> T) -> Result<T, DimError> {
    let (list, least) = match atom {
        Atom::Symbol(name) => return Ok(step(DimStep::Symbol(symbol(name)))),
        Atom::Div(n, d) => {
            let (n, d) = (n.fold(step)?, d.fold(step)?);
            return Ok(step(DimStep::Div(n, d)));
        }
        Atom::Min(list) => (list, true),
        Atom::Max(list) => (list, false),
    };
    let mut best: Option<T> = None;
    for d in list.iter() {
        let v = d.fold(step)?;
        best = Some(match best {
            None => v,
            Some(b) if least => step(DimStep::Min(b, v)),
            Some(b) => step(DimStep::Max(b, v)),
        });
    }
    Ok(best.unwrap_or_else(|| step(DimStep::Constant(0))))
}
