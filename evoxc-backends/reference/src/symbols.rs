//! Values of symbolic extents during one run: bound from the shapes of the arguments, then looked up.

use crate::plan::{Extents, Plan, ResultType};
use evoxc_core::{Dim, OpError, Result, RunError, Tensor};
use evoxc_ir::{Padding, TensorType, Window};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// The value of every symbolic extent of the module that has one.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    values: FxHashMap<Dim, i64>,
}

impl Symbols {
    /// Binds the symbols of `inputs` to the extents of `args`, and evaluates every extent of the plan with them.
    /// `around` gives the values of symbols that no argument binds.
    ///
    /// # Errors
    /// [`RunError`] for an argument of another type, or extents without a common solution.
    pub(crate) fn bind(
        plan: &Plan,
        inputs: &[TensorType],
        args: &[Tensor],
        around: Option<&Symbols>,
    ) -> Result<Symbols> {
        if inputs.len() != args.len() {
            let (expected, got) = (format!("{} arguments", inputs.len()), args.len().to_string());
            return Err(RunError::Input { path: "list".into(), expected, got }.into());
        }
        let mut bound = Bound::default();
        let mut open = vec![];
        for (i, (ty, arg)) in inputs.iter().zip(args).enumerate() {
            if ty.dtype != arg.dtype() || ty.rank() != arg.rank() {
                return Err(mismatch(i, ty, arg));
            }
            for (&d, &n) in ty.shape.iter().zip(arg.shape()) {
                let n = i64::try_from(n).unwrap_or(i64::MAX);
                match d.as_i64() {
                    Some(v) if v == n => {}
                    Some(_) => return Err(mismatch(i, ty, arg)),
                    None if bound.solve(i, d, n)? => {}
                    None => open.push((i, d, n)),
                }
            }
        }
        // What is not linear in one symbol waits until the others have values.
        while !open.is_empty() {
            let before = open.len();
            let mut rest = vec![];
            for (i, d, n) in open {
                let left = d.substitute(&mut |s| bound.values.get(&s).map(|&(v, _)| Dim::constant(v)));
                match left.as_i64() {
                    Some(v) if v == n => {}
                    None if bound.solve(i, left, n)? => {}
                    Some(_) => return Err(mismatch(i, &inputs[i], &args[i])),
                    None => rest.push((i, d, n)),
                }
            }
            if rest.len() == before {
                let i = rest[0].0;
                return Err(mismatch(i, &inputs[i], &args[i]));
            }
            open = rest;
        }
        let mut values = FxHashMap::default();
        for &d in &plan.extents {
            let mut value = |s: Dim| bound.values.get(&s).map(|&(v, _)| v).or_else(|| around?.values.get(&s).copied());
            // An extent without a value may belong to a function that does not run.
            if let Ok(v) = d.evaluate(&mut value) {
                values.insert(d, v);
            }
        }
        values.extend(bound.values.into_iter().map(|(d, (v, _))| (d, v)));
        Ok(Symbols { values })
    }

    /// Symbols whose values are known.
    pub(crate) fn given(plan: &Plan, symbols: &mut dyn FnMut(Dim) -> Option<i64>) -> Symbols {
        let mut values = FxHashMap::default();
        let mut list = vec![];
        for &d in &plan.extents {
            d.symbols(&mut list);
            if let Ok(v) = d.evaluate(symbols) {
                values.insert(d, v);
            }
        }
        values.extend(list.into_iter().filter_map(|s| Some((s, symbols(s)?))));
        Symbols { values }
    }

    /// The value of an extent or bound.
    #[inline]
    pub(crate) fn value(&self, d: Dim) -> Result<i64, OpError> {
        if let Some(v) = d.as_i64() {
            return Ok(v);
        }
        if !self.values.is_empty()
            && let Some(&v) = self.values.get(&d)
        {
            return Ok(v);
        }
        d.evaluate(&mut |s| self.values.get(&s).copied()).map_err(|e| OpError::new("", e.to_string()))
    }
    /// The value of an extent, which cannot be negative.
    #[inline]
    pub(crate) fn size(&self, d: Dim) -> Result<usize, OpError> {
        let v = self.value(d)?;
        usize::try_from(v).map_err(|_| OpError::new("", format!("the extent `{d}` is {v} here, below 0")))
    }
    /// The values of a list of bounds.
    pub(crate) fn all_values(&self, ds: &[Dim]) -> Result<smallvec::SmallVec<[i64; 4]>, OpError> {
        ds.iter().map(|&d| self.value(d)).collect()
    }
    /// The values of a list of extents.
    pub(crate) fn sizes(&self, ds: &[Dim]) -> Result<Extents, OpError> {
        let mut out = Extents::new();
        for &d in ds {
            out.push(self.size(d)?);
        }
        Ok(out)
    }
    /// A window with constant extents.
    pub(crate) fn window<'w>(&self, w: &'w Window) -> Result<Cow<'w, Window>, OpError> {
        let padding = w.padding.iter().flat_map(|p| [p.low, p.high]);
        if w.size.iter().copied().chain(padding).all(Dim::is_const) {
            return Ok(Cow::Borrowed(w));
        }
        let constant = |d: Dim| self.value(d).map(Dim::constant);
        Ok(Cow::Owned(Window {
            size: w.size.iter().map(|&d| constant(d)).collect::<Result<_, _>>()?,
            padding: w
                .padding
                .iter()
                .map(|p| Ok(Padding { low: constant(p.low)?, high: constant(p.high)? }))
                .collect::<Result<_, OpError>>()?,
            ..w.clone()
        }))
    }
    /// The extents of a result.
    #[inline]
    pub(crate) fn extents(&self, t: &ResultType) -> Result<Extents, OpError> {
        match &t.extents {
            Some(e) => Ok(e.clone()),
            None => self.sizes(&t.ty.shape),
        }
    }
}

/// Symbols with a value, and the argument that gave it.
#[derive(Default)]
struct Bound {
    values: FxHashMap<Dim, (i64, usize)>,
}
impl Bound {
    /// Binds the symbol of `d` so that its value is `n`; false where `d` is not linear in one symbol, or does not reach
    /// `n`.
    fn solve(&mut self, input: usize, d: Dim, n: i64) -> Result<bool> {
        let Some((symbol, here)) = d.solve(n) else { return Ok(false) };
        match self.values.get(&symbol) {
            Some(&(before, at)) if before != here => Err(RunError::Symbol {
                path: path(input),
                symbol: symbol.to_string(),
                here,
                before,
                before_path: path(at),
            }
            .into()),
            Some(_) => Ok(true),
            None => {
                self.values.insert(symbol, (here, input));
                Ok(true)
            }
        }
    }
}

fn path(i: usize) -> String {
    format!("{i}")
}
fn mismatch(i: usize, ty: &TensorType, arg: &Tensor) -> evoxc_core::Error {
    RunError::Input { path: path(i), expected: ty.to_string(), got: arg.spec().to_string() }.into()
}
