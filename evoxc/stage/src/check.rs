//! The checks of inputs before a program runs: structure, dtype, extents, device, and one value for each symbol.
//!
//! On the way of success nothing is formatted and little is allocated; paths are worked out for errors only.

use crate::Signature;
use evoxc_core::{DType, Device, Dim, Result, RunError, Tensor, TreeDef};

/// What one input must be.
struct Input {
    dtype: DType,
    device: Device,
    extents: Vec<Dim>,
    /// The extents, if all are constants.
    fixed: Option<Vec<usize>>,
}

/// The checks of all inputs of a program.
pub(crate) struct Checks {
    inputs: Vec<Input>,
    symbolic: bool,
}

/// A symbol's value, and the input that gave it.
struct Binding {
    symbol: Dim,
    value: i64,
    input: usize,
}

/// An extent that is no constant, the value that came for it, and the input.
#[derive(Clone, Copy)]
struct Equation {
    extent: Dim,
    value: i64,
    input: usize,
}

impl Checks {
    /// The checks for a signature; inputs whose spec names no device must be on `device`.
    pub(crate) fn new(signature: &Signature, device: Device) -> Checks {
        let inputs: Vec<Input> = signature
            .inputs
            .iter()
            .map(|s| Input {
                dtype: s.dtype,
                device: s.device.unwrap_or(device),
                extents: s.shape.to_vec(),
                fixed: s.shape.to_static(),
            })
            .collect();
        let symbolic = inputs.iter().any(|i| i.fixed.is_none());
        Checks { inputs, symbolic }
    }

    /// Checks arguments that were flattened to `args` and `tree`.
    ///
    /// # Errors
    /// [`RunError`] for the first that does not fit.
    pub(crate) fn check(&self, signature: &Signature, args: &[Tensor], tree: &TreeDef) -> Result<()> {
        let expected = &signature.input_tree;
        if expected != tree || args.len() != self.inputs.len() {
            let (path, expected, got) = match expected.difference(tree) {
                Some(e) => (argument_path(expected, &e.path), e.expected, e.got),
                None => ("tree".into(), format!("{} leaves", self.inputs.len()), format!("{} leaves", args.len())),
            };
            return Err(RunError::Input { path, expected, got }.into());
        }
        for (i, (input, arg)) in self.inputs.iter().zip(args).enumerate() {
            if !input.takes(arg) {
                return Err(mismatch(signature, i, input, arg, &[]));
            }
        }
        if self.symbolic { self.check_symbols(signature, args).map(drop) } else { Ok(()) }
    }

    /// The value of every symbol, by arguments that were flattened to `args` and `tree`.
    ///
    /// # Errors
    /// [`RunError`] for the first argument that does not fit.
    pub(crate) fn bind(&self, signature: &Signature, args: &[Tensor], tree: &TreeDef) -> Result<Vec<(Dim, i64)>> {
        self.check(signature, args, tree)?;
        Ok(self.check_symbols(signature, args)?.into_iter().map(|b| (b.symbol, b.value)).collect())
    }

    /// Every symbol must have one value with which all expressions give the extents that came.
    fn check_symbols(&self, signature: &Signature, args: &[Tensor]) -> Result<Vec<Binding>> {
        let mut bound: Vec<Binding> = vec![];
        let mut open: Vec<Equation> = vec![];
        for (input, (spec, arg)) in self.inputs.iter().zip(args).enumerate() {
            for (&extent, &got) in spec.extents.iter().zip(arg.shape()) {
                if extent.is_const() {
                    continue;
                }
                let value = i64::try_from(got).unwrap_or(i64::MAX);
                let equation = Equation { extent, value, input };
                if !solve(signature, &mut bound, equation, extent)? {
                    open.push(equation);
                }
            }
        }
        // What is left is not linear in one symbol: it is checked once the others have given its symbols' values, or
        // gives the last one missing.
        while !open.is_empty() {
            let before = open.len();
            let mut rest = vec![];
            for e in open {
                let value = |s: Dim| bound.iter().find(|b| b.symbol == s).map(|b| b.value);
                // A symbol without a value may still cancel: `B*T` is 0 where `B` is.
                let left = e.extent.substitute(&mut |s| value(s).map(Dim::constant));
                match left.as_i64() {
                    Some(v) if v == e.value => continue,
                    Some(_) => return Err(self.unsolved(signature, args, &bound, e)),
                    None => {}
                }
                if !solve(signature, &mut bound, e, left)? {
                    rest.push(e);
                }
            }
            if let (true, Some(&e)) = (rest.len() == before, rest.first()) {
                return Err(self.unsolved(signature, args, &bound, e));
            }
            open = rest;
        }
        Ok(bound)
    }

    fn unsolved(&self, signature: &Signature, args: &[Tensor], bound: &[Binding], e: Equation) -> evoxc_core::Error {
        match (self.inputs.get(e.input), args.get(e.input)) {
            (Some(input), Some(arg)) => mismatch(signature, e.input, input, arg, bound),
            // Equations come from inputs, so this cannot be; an error all the same.
            _ => {
                RunError::Input { path: "tree".into(), expected: e.extent.to_string(), got: e.value.to_string() }.into()
            }
        }
    }
}

/// Binds the one symbol of `left` so that it gives the equation's value. `false` where it is not linear in one symbol,
/// or no extent solves it.
fn solve(signature: &Signature, bound: &mut Vec<Binding>, e: Equation, left: Dim) -> Result<bool> {
    let Some((symbol, value)) = left.solve(e.value) else { return Ok(false) };
    match bound.iter().find(|b| b.symbol == symbol) {
        None => bound.push(Binding { symbol, value, input: e.input }),
        Some(b) if b.value == value => {}
        Some(b) => {
            return Err(RunError::Symbol {
                path: input_path(&signature.input_tree, e.input),
                symbol: symbol.to_string(),
                here: value,
                before: b.value,
                before_path: format!("input {}", input_path(&signature.input_tree, b.input)),
            }
            .into());
        }
    }
    Ok(true)
}

impl Input {
    /// Right in all but the values of symbols?
    fn takes(&self, arg: &Tensor) -> bool {
        arg.dtype() == self.dtype
            && arg.device() == self.device
            && match &self.fixed {
                Some(extents) => arg.shape() == extents.as_slice(),
                None => {
                    arg.rank() == self.extents.len()
                        && self.extents.iter().zip(arg.shape()).all(|(d, &n)| !d.is_const() || d.get() == Some(n))
                }
            }
    }
}

fn mismatch(signature: &Signature, index: usize, input: &Input, arg: &Tensor, bound: &[Binding]) -> evoxc_core::Error {
    let spec = signature.inputs.get(index);
    let mut expected = spec.map(|s| s.to_string()).unwrap_or_default();
    let mut symbols = vec![];
    input.extents.iter().for_each(|d| d.symbols(&mut symbols));
    let known: Vec<String> = bound
        .iter()
        .filter(|b| symbols.contains(&b.symbol))
        .map(|b| format!("{} = {} (input {})", b.symbol, b.value, input_path(&signature.input_tree, b.input)))
        .collect();
    if !known.is_empty() {
        expected += &format!(" with {}", known.join(", "));
    }
    let mut got = arg.spec().to_string();
    if arg.device() != input.device {
        expected += &format!(" on {}", input.device);
        got += &format!(" on {}; move it there by `.to({})`", arg.device(), input.device);
    } else if arg.dtype() != input.dtype && arg.shape().len() == input.extents.len() {
        got += "; convert it by `.cast(..)` if that is meant";
    }
    RunError::Input { path: input_path(&signature.input_tree, index), expected, got }.into()
}

/// The path of an input, counted from the argument list: `0.layers[3].w`.
pub(crate) fn input_path(tree: &TreeDef, index: usize) -> String {
    argument_path(tree, &tree.paths().into_iter().nth(index).unwrap_or_default())
}

/// A single argument is passed bare, and is argument 0 all the same.
fn argument_path(tree: &TreeDef, path: &str) -> String {
    use evoxc_core::{TreeKind, TreeToken};
    let list = matches!(tree.tokens().first(), Some(TreeToken::Open(TreeKind::Tuple, _)));
    match (list, path) {
        (true, "") => "tree".into(),
        (true, path) => path.into(),
        (false, "") => "0".into(),
        (false, path) if path.starts_with('[') => format!("0{path}"),
        (false, path) => format!("0.{path}"),
    }
}
