//! Extents that are known only when the program runs: computed as i32 scalars from the sizes of the inputs.

use super::writer::{Val, Writer};
use super::{Outcome, text};
use evoxc_core::{DType, Dim, DimStep, OpError, Shape, Tensor, spec};

fn i32_scalar() -> evoxc_ir::TensorType {
    spec(DType::I32, Shape::scalar())
}

fn unknown(d: Dim, why: &str) -> OpError {
    OpError::new("", format!("the extent `{d}` {why}"))
        .remedy("give an input an axis of that extent, or make the extent a constant")
}

impl Writer<'_> {
    /// An extent as a scalar i32.
    pub(super) fn extent(&mut self, d: Dim) -> Outcome<Val> {
        if let Some((_, known)) = self.extents.iter().find(|(e, _)| *e == d) {
            return Ok(known.clone());
        }
        // Each step gives a value and the expression that it is; the first error stays.
        let val = d
            .fold(&mut |step: DimStep<Outcome<(Val, Dim)>>| self.step(step))
            .map_err(|e| OpError::new("", e.to_string()))??
            .0;
        if !d.is_const() {
            self.extents.push((d, val.clone()));
        }
        Ok(val)
    }

    fn step(&mut self, step: DimStep<Outcome<(Val, Dim)>>) -> Outcome<(Val, Dim)> {
        match step {
            DimStep::Constant(v) => Ok((self.extent_constant(v)?, Dim::constant(v))),
            DimStep::Symbol(s) => Ok((self.symbol(s)?, s)),
            DimStep::Add(a, b) => {
                let ((a, d), (b, e)) = (a?, b?);
                Ok((self.same("add", &[&a, &b])?, d + e))
            }
            DimStep::Mul(a, b) => {
                let ((a, d), (b, e)) = (a?, b?);
                Ok((self.same("multiply", &[&a, &b])?, d * e))
            }
            DimStep::Div(a, b) => {
                let ((a, d), (b, e)) = (a?, b?);
                let positive = d.lower_bound().is_some_and(|v| v >= 0) && e.lower_bound().is_some_and(|v| v >= 0);
                Ok((if positive { self.same("divide", &[&a, &b])? } else { self.floor_div(&a, &b)? }, d / e))
            }
            DimStep::Min(a, b) => {
                let ((a, d), (b, e)) = (a?, b?);
                Ok((self.same("minimum", &[&a, &b])?, d.min(e)))
            }
            DimStep::Max(a, b) => {
                let ((a, d), (b, e)) = (a?, b?);
                Ok((self.same("maximum", &[&a, &b])?, d.max(e)))
            }
        }
    }

    fn extent_constant(&mut self, v: i64) -> Outcome<Val> {
        match i32::try_from(v) {
            Ok(v) => self.scalar(DType::I32, v),
            Err(_) => Err(OpError::new("", format!("the extent {v} does not fit the 32 bits of StableHLO's sizes"))
                .remedy("use smaller extents")),
        }
    }

    /// Rounds towards negative infinity: one less than the truncated quotient where the signs differ and a rest is left.
    fn floor_div(&mut self, a: &Val, b: &Val) -> Outcome<Val> {
        let quotient = self.same("divide", &[a, b])?;
        let rest = self.same("remainder", &[a, b])?;
        let (signs, zero, one) =
            (self.same("xor", &[&rest, b])?, self.scalar(DType::I32, 0)?, self.scalar(DType::I32, 1)?);
        let differ = self.compare("LT", &signs, &zero);
        let left = self.compare("NE", &rest, &zero);
        let lower = self.same("and", &[&differ, &left])?;
        let below = self.same("subtract", &[&quotient, &one])?;
        Ok(self.choose(&lower, &below, &quotient))
    }

    /// The value of a symbol, from the first argument that tells it.
    fn symbol(&mut self, s: Dim) -> Outcome<Val> {
        if let Some((_, known)) = self.extents.iter().find(|(e, _)| *e == s) {
            return Ok(known.clone());
        }
        let mut linear = None;
        for &arg in &self.func.body.args {
            for (axis, &d) in self.func.ty(arg).shape.iter().enumerate() {
                if d == s {
                    let arg = self.get(arg)?;
                    return Ok(self.size(&arg, axis));
                }
                if linear.is_none() {
                    linear = linear_in(d, s).map(|(a, c)| (arg, axis, a, c));
                }
            }
        }
        let Some((arg, axis, a, c)) = linear else {
            return Err(unknown(s, "stands in no input of the function, so that its value is not known"));
        };
        let arg = self.get(arg)?;
        let size = self.size(&arg, axis);
        let mut value = size;
        for (name, by, neutral) in [("subtract", c, 0), ("divide", a, 1)] {
            if by != neutral {
                let by = self.extent_constant(by)?;
                value = self.same(name, &[&value, &by])?;
            }
        }
        Ok(value)
    }

    /// The size of an axis, as i32.
    fn size(&mut self, x: &Val, axis: usize) -> Val {
        let rhs = format!("stablehlo.get_dimension_size {x}, dim = {axis} : ({}) -> tensor<i32>", text::ty(&x.ty));
        self.op(&rhs, i32_scalar())
    }

    /// Extents as a vector of i32.
    pub(super) fn extents(&mut self, dims: &[Dim]) -> Outcome<Val> {
        let known: Option<Vec<i32>> = dims.iter().map(|d| d.as_i64().and_then(|v| i32::try_from(v).ok())).collect();
        if let Some(v) = known {
            return Ok(self.dense(Tensor::from(v)));
        }
        let mut parts = vec![];
        for &d in dims {
            let v = self.extent(d)?;
            parts.push(self.typed("reshape", &[&v], "", spec(DType::I32, [1])));
        }
        let parts: Vec<&Val> = parts.iter().collect();
        match parts.as_slice() {
            [one] => Ok((*one).clone()),
            _ => Ok(self.typed("concatenate", &parts, ", dim = 0", spec(DType::I32, [dims.len()]))),
        }
    }
}

/// `a` and `c` if `d` is `a * s + c`.
fn linear_in(d: Dim, s: Dim) -> Option<(i64, i64)> {
    let mut symbols = vec![];
    d.symbols(&mut symbols);
    if symbols != [s] {
        return None;
    }
    let c = d.evaluate(&mut |_| Some(0)).ok()?;
    let a = d.evaluate(&mut |_| Some(1)).ok()?.checked_sub(c)?;
    (a != 0 && s * a + c == d).then_some((a, c))
}
