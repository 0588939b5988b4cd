//! Which outputs may take the place of which inputs.

use evoxc_core::TensorSpec;

/// Pairs of an input and an output of the same type, each used once, first come first served. Whether an input is given
/// away is decided at each call; XLA copies one that is not.
pub(crate) fn pairs(inputs: &[TensorSpec], outputs: &[TensorSpec]) -> Vec<(usize, usize)> {
    let same = |a: &TensorSpec, b: &TensorSpec| a.dtype == b.dtype && a.shape == b.shape;
    let mut used = vec![false; inputs.len()];
    let mut out = vec![];
    for (o, output) in outputs.iter().enumerate() {
        let free = inputs.iter().zip(&mut used).enumerate().find(|(_, (input, used))| !**used && same(input, output));
        if let Some((i, (_, used))) = free {
            *used = true;
            out.push((i, o));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use evoxc_core::{F32, I32, spec};

    #[test]
    fn pairs_have_one_type_and_are_used_once() {
        let (a, b) = (spec(F32, [2]), spec(I32, [2]));
        let inputs = [a.clone(), b.clone(), a.clone()];
        assert_eq!(pairs(&inputs, &[a.clone(), a.clone(), a.clone(), b]), [(0, 0), (2, 1), (1, 3)]);
        assert_eq!(pairs(&[], &[a]), []);
    }
}
