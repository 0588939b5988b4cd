//! Symbolic extents of a routine: every expression that a run needs, evaluated once from the shapes of its arguments.

use crate::lir::Size;
use crate::uop::Bounds;
use evoxc_core::{Dim, DimStep, OpError, Result, RunError};
use evoxc_ir::TensorType;
use rustc_hash::FxHashMap;

/// A number that is known when a routine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Amount {
    /// Always the same.
    Const(i64),
    /// An entry of [`Extents`].
    Extent(u32),
}

impl Amount {
    /// Its value, among those of the run.
    #[inline]
    pub fn of(self, values: &[i64]) -> i64 {
        match self {
            Amount::Const(v) => v,
            Amount::Extent(i) => values[i as usize],
        }
    }
    /// Its value as a size; one below zero is none.
    #[inline]
    pub fn size(self, values: &[i64]) -> usize {
        self.of(values).max(0) as usize
    }
}

/// The expressions of a routine.
#[derive(Debug, Default)]
pub(crate) struct Extents {
    /// The symbols, in the order in which they are met.
    symbols: Vec<Dim>,
    numbers: FxHashMap<Dim, u32>,
    /// Expressions over the symbols.
    sizes: Vec<Size>,
    dims: Vec<Dim>,
}

impl Extents {
    /// The number that an extent has at run time; one that has no value, such as a size beyond 64 bits, is the largest.
    pub fn amount(&mut self, d: Dim) -> Amount {
        if let Some(v) = d.as_i64() {
            return Amount::Const(v);
        }
        if let Some(&i) = self.numbers.get(&d) {
            return Amount::Extent(i);
        }
        let symbols = &mut self.symbols;
        let size = d.fold(&mut |step: DimStep<Size>| {
            let two = |a, b| (Box::new(a), Box::new(b));
            match step {
                DimStep::Constant(v) => Size::Const(v),
                DimStep::Symbol(s) => {
                    let found = symbols.iter().position(|&k| k == s);
                    let n = found.unwrap_or_else(|| {
                        symbols.push(s);
                        symbols.len() - 1
                    });
                    Size::Param(n as u32)
                }
                DimStep::Add(a, b) => {
                    let (a, b) = two(a, b);
                    Size::Add(a, b)
                }
                DimStep::Mul(a, b) => {
                    let (a, b) = two(a, b);
                    Size::Mul(a, b)
                }
                DimStep::Div(a, b) => {
                    let (a, b) = two(a, b);
                    Size::Div(a, b)
                }
                DimStep::Min(a, b) => {
                    let (a, b) = two(a, b);
                    Size::Min(a, b)
                }
                DimStep::Max(a, b) => {
                    let (a, b) = two(a, b);
                    Size::Max(a, b)
                }
            }
        });
        let Ok(size) = size else { return Amount::Const(i64::MAX) };
        let i = self.sizes.len() as u32;
        self.sizes.push(size);
        self.dims.push(d);
        self.numbers.insert(d, i);
        Amount::Extent(i)
    }
    /// The number of elements of a type.
    pub fn elements(&mut self, ty: &TensorType) -> Amount {
        self.amount(ty.shape.size())
    }
    /// The number of bytes of a type.
    pub fn bytes(&mut self, ty: &TensorType) -> Amount {
        self.amount(ty.shape.size() * ty.dtype.size() as i64)
    }
    /// The extents of a type.
    pub fn shape(&mut self, ty: &TensorType) -> Vec<Amount> {
        ty.shape.iter().map(|&d| self.amount(d)).collect()
    }
    /// Has every extent the same value in every run?
    pub fn is_static(&self) -> bool {
        self.sizes.is_empty()
    }
    /// The symbols.
    pub fn symbols(&self) -> &[Dim] {
        &self.symbols
    }
    /// The extent behind an entry.
    pub fn dim(&self, a: Amount) -> Dim {
        match a {
            Amount::Const(v) => Dim::constant(v),
            Amount::Extent(i) => self.dims[i as usize],
        }
    }
    /// The value of every entry, into `values`.
    pub fn evaluate(&self, symbols: &[i64], values: &mut Vec<i64>) {
        values.clear();
        values.extend(self.sizes.iter().zip(&self.dims).map(|(size, d)| {
            let exact = || {
                let value = |s: Dim| self.symbols.iter().position(|&k| k == s).map(|i| symbols[i]);
                d.evaluate(&mut |s| value(s)).unwrap_or(i64::MAX)
            };
            size.checked(symbols).unwrap_or_else(exact)
        }));
    }
}

/// How the symbols of a routine follow from the shapes of its arguments.
#[derive(Debug, Default)]
pub(crate) struct Binder {
    inputs: Vec<TensorType>,
    /// (input, its extent, the number that comes for it as the nth of all, what it is)
    equations: Vec<(usize, Dim, usize, Equation)>,
}

#[derive(Clone, Copy, Debug)]
enum Equation {
    /// Always that.
    Fixed(i64),
    /// A symbol alone.
    Symbol(u32),
    /// Anything else.
    Other,
}

impl Binder {
    /// For arguments of these types.
    pub fn new(inputs: Vec<TensorType>, extents: &mut Extents) -> Binder {
        let mut equations = vec![];
        let mut at = 0;
        for (i, ty) in inputs.iter().enumerate() {
            for &d in ty.shape.iter() {
                extents.amount(d);
                let symbol = extents.symbols.iter().position(|&s| s == d);
                let e = match (d.as_i64(), symbol) {
                    (Some(v), _) => Equation::Fixed(v),
                    (None, Some(s)) => Equation::Symbol(s as u32),
                    (None, None) => Equation::Other,
                };
                equations.push((i, d, at, e));
                at += 1;
            }
        }
        Binder { inputs, equations }
    }
    /// The types of the arguments.
    pub fn inputs(&self) -> &[TensorType] {
        &self.inputs
    }

    /// The value of every symbol, where `shapes` holds the extents of all arguments one after the other. `around` gives the
    /// values of symbols that no argument binds; those that have none at all are 0.
    ///
    /// # Errors
    /// [`RunError`] for extents without a common solution, and for those beyond what index arithmetic takes for granted.
    pub fn bind(
        &self,
        symbols: &[Dim],
        shapes: &[i64],
        around: &dyn Fn(Dim) -> Option<i64>,
        out: &mut Vec<i64>,
    ) -> Result<()> {
        const OPEN: i64 = -1;
        out.clear();
        out.resize(symbols.len(), OPEN);
        // The input that gave each value, for messages: worked out again when there is one.
        let mut open = false;
        for &(input, d, at, e) in &self.equations {
            let n = shapes[at];
            match e {
                Equation::Fixed(v) if v == n => {}
                Equation::Fixed(_) => return Err(self.mismatch(input, shapes)),
                Equation::Symbol(s) => self.set(symbols, out, s as usize, n, input)?,
                Equation::Other => match d.solve(n).and_then(|(s, v)| Some((symbols.iter().position(|&k| k == s)?, v)))
                {
                    Some((s, v)) => self.set(symbols, out, s, v, input)?,
                    None => open = true,
                },
            }
        }
        if open {
            self.rest(symbols, shapes, out)?;
        }
        for (v, &s) in out.iter_mut().zip(symbols) {
            if *v < 0 {
                *v = around(s).unwrap_or(0);
            }
            if *v > Bounds::PARAM {
                let message = format!("the extent `{s}` is {v} here, more than 2^40");
                return Err(RunError::Op(Box::new(OpError::new("run", message).remedy("use smaller extents"))).into());
            }
        }
        Ok(())
    }

    fn set(&self, symbols: &[Dim], out: &mut [i64], s: usize, here: i64, input: usize) -> Result<()> {
        let before = out[s];
        if before < 0 {
            out[s] = here;
        } else if before != here {
            let at = self
                .equations
                .iter()
                .position(|e| e.1 == symbols[s] || e.1.solve(0).is_some_and(|x| x.0 == symbols[s]));
            let before_path = at.map_or(0, |i| self.equations[i].0).to_string();
            let (path, symbol) = (input.to_string(), symbols[s].to_string());
            return Err(RunError::Symbol { path, symbol, here, before, before_path }.into());
        }
        Ok(())
    }

    /// What is not linear in one symbol waits until the others have values.
    fn rest(&self, symbols: &[Dim], shapes: &[i64], out: &mut [i64]) -> Result<()> {
        let mut open: Vec<_> = self.equations.iter().filter(|e| matches!(e.3, Equation::Other)).collect();
        while !open.is_empty() {
            let before = open.len();
            let mut rest = vec![];
            for e in open {
                let &(input, d, at, _) = e;
                let n = shapes[at];
                let value = |s: Dim| symbols.iter().position(|&k| k == s).map(|i| out[i]).filter(|&v| v >= 0);
                let left = d.substitute(&mut |s| value(s).map(Dim::constant));
                match left.as_i64() {
                    Some(v) if v == n => continue,
                    Some(_) => return Err(self.mismatch(input, shapes)),
                    None => {}
                }
                match left.solve(n).and_then(|(s, v)| Some((symbols.iter().position(|&k| k == s)?, v))) {
                    Some((s, v)) => self.set(symbols, out, s, v, input)?,
                    None => rest.push(e),
                }
            }
            if rest.len() == before {
                return Err(self.mismatch(rest[0].0, shapes));
            }
            open = rest;
        }
        Ok(())
    }

    #[cold]
    fn mismatch(&self, input: usize, shapes: &[i64]) -> evoxc_core::Error {
        let ty = &self.inputs[input];
        let start: usize = self.inputs[..input].iter().map(|t| t.rank()).sum();
        let got: Vec<String> = shapes[start..start + ty.rank()].iter().map(i64::to_string).collect();
        let got = format!("tensor<{}{}{}>", got.join("x"), if got.is_empty() { "" } else { "x" }, ty.dtype);
        RunError::Input { path: input.to_string(), expected: ty.to_string(), got }.into()
    }
}
