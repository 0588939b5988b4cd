//! Do programs take and give the same?

use evoxc_core::{OpError, TensorSpec};
use evoxc_trace::{Graph, emitter};

/// The first program, with whose signature all others agree.
///
/// # Errors
/// The first difference, or that there is no program, or one with captures.
pub(super) fn common<I, O>(graphs: &[Graph<I, O>]) -> Result<&Graph<I, O>, OpError> {
    let Some(first) = graphs.first() else {
        return Err(OpError::new("programs", "the list is empty").remedy("give at least one program"));
    };
    let (inputs, outputs) = emitter::trees(first);
    let (takes, gives) = (first.input_specs(), first.output_specs());
    for (i, g) in graphs.iter().enumerate() {
        if g.captures() > 0 {
            let message = format!("program {i} uses values of an enclosing trace");
            return Err(OpError::new("programs", message).remedy("pass them as inputs"));
        }
        let (g_inputs, g_outputs) = emitter::trees(g);
        for (what, a, b) in [("input", inputs, g_inputs), ("result", outputs, g_outputs)] {
            if let Some(d) = a.difference(b) {
                return Err(differs(i, &format!("in its {what}s: {d}")));
            }
        }
        for (what, tree, a, b) in
            [("input", inputs, &takes, &g.input_specs()), ("result", outputs, &gives, &g.output_specs())]
        {
            if let Some(k) = a.iter().zip(b).position(|(x, y)| !same(x, y)).or((a.len() != b.len()).then_some(0)) {
                let paths = tree.paths();
                let path = paths.get(k).filter(|p| !p.is_empty()).map(|p| format!(" {p}")).unwrap_or_default();
                let of = |l: &[TensorSpec]| l.get(k).map(ToString::to_string).unwrap_or_default();
                return Err(differs(i, &format!("in {what}{path}: expected {}, got {}", of(a), of(b))));
            }
        }
    }
    Ok(first)
}

fn same(a: &TensorSpec, b: &TensorSpec) -> bool {
    a.dtype == b.dtype && a.shape == b.shape
}

fn differs(i: usize, how: &str) -> OpError {
    OpError::new("programs", format!("program {i} differs from program 0 {how}"))
        .remedy("merge programs that take and give the same")
}
