//! Values of symbolic extents: from `--dim`, and from the inputs that are given.

use crate::Failure;
use evoxc_core::{Dim, Shape, Tensor, TensorSpec, dim};
use std::collections::HashMap;

/// Values of symbols.
pub type Bindings = HashMap<Dim, i64>;

/// Reads `B=8`, once a symbol.
pub fn parse(texts: &[String]) -> Result<Bindings, Failure> {
    let mut out = Bindings::new();
    for text in texts {
        let bad = |why: &str| Failure::Usage(format!("--dim {text}: {why}, write SYMBOL=N, as in B=8"));
        let (name, value) = text.split_once('=').ok_or_else(|| bad("`=` is missing"))?;
        let symbol = dim(name.trim()).checked().map_err(|e| bad(&e.to_string()))?;
        let value = value.trim().parse::<u32>().map_err(|_| bad("the value is no extent"))?;
        if out.insert(symbol, value.into()).is_some() {
            return Err(bad("the symbol has a value already"));
        }
    }
    Ok(out)
}

/// Adds the values that a given input decides. A value that contradicts stays out: running reports it.
pub fn learn(bindings: &mut Bindings, spec: &TensorSpec, t: &Tensor) {
    for (d, &n) in spec.shape.iter().zip(t.shape()) {
        if let Some((symbol, value)) = i64::try_from(n).ok().and_then(|n| d.solve(n)) {
            bindings.entry(symbol).or_insert(value);
        }
    }
}

/// The extents of a shape.
pub fn extents(shape: &Shape, bindings: &Bindings, input: &str) -> Result<Vec<usize>, Failure> {
    let extent = |d: &Dim| {
        let value = d
            .evaluate(&mut |s| bindings.get(&s).copied())
            .map_err(|e| Failure::Usage(format!("input {input}: extent {d}: {e}; give it, as in --dim B=8")))?;
        usize::try_from(value)
            .map_err(|_| Failure::Usage(format!("input {input}: extent {d} is {value}, which is negative")))
    };
    shape.iter().map(extent).collect()
}
