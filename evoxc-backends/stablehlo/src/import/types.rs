//! Types of the text as types of the graph.

use super::fault::Done;
use super::item::Item;
use super::walk::Importer;
use crate::syntax::ast::{Element, Func, Op, TensorType, Type, Value};
use evoxc_core::{DType, Dim, Shape, TensorSpec, Unsupported, spec};

impl Item {
    /// An item of this type, for [`Item::rebuild`]: its tensors stand for none.
    pub fn like(ty: &Type) -> Item {
        match ty {
            Type::Tuple(parts) => Item::Tuple(parts.iter().map(Item::like).collect()),
            Type::Token => Item::Token,
            Type::Tensor(_) | Type::Scalar(_) | Type::Function(..) | Type::Other(_) => {
                Item::Tensor(evoxc_trace::emitter::poison(), None)
            }
        }
    }
}

/// The tensor types in a type, in order, without recursion deeper than the parser allows.
fn tensor_types<'t, 'a>(ty: &'t Type<'a>, out: &mut Vec<&'t TensorType<'a>>) {
    match ty {
        Type::Tensor(t) => out.push(t),
        Type::Tuple(parts) => parts.iter().for_each(|p| tensor_types(p, out)),
        Type::Scalar(_) | Type::Token | Type::Function(..) | Type::Other(_) => {}
    }
}

impl<'m, 'a> Importer<'m, 'a> {
    /// The type of a value in the text.
    pub fn value_type(&self, v: Value) -> Option<&'m Type<'a>> {
        let func: &'m Func<'a> = self.frames.last()?.func;
        func.values.get(v.0 as usize).map(|i| &i.ty)
    }
    /// All types of an op's operands and results have elements that a tensor can have.
    pub fn supported(&self, op: &Op<'a>) -> Done<()> {
        for &v in op.operands.iter().chain(&op.results) {
            let Some(ty) = self.value_type(v) else { continue };
            if let Type::Tensor(t) = ty {
                self.element(op, &t.element)?;
            } else {
                self.supported_type(op, ty)?;
            }
        }
        Ok(())
    }
    fn supported_type(&self, op: &Op, ty: &Type) -> Done<()> {
        match ty {
            Type::Scalar(e) => self.element(op, e).map(|_| ()),
            Type::Other(text) if text.contains("quant") => self.quantized(op, text),
            Type::Other(text) => {
                let m = format!("a value of type {text} is no tensor, token or tuple");
                Err(self.unsupported(op, Unsupported::Op, m, "lower the module to StableHLO before"))
            }
            Type::Function(..) => Err(self.error(op, "a function is no value")),
            Type::Token => Ok(()),
            Type::Tensor(_) | Type::Tuple(_) => {
                let mut all = vec![];
                tensor_types(ty, &mut all);
                all.into_iter().try_for_each(|t| self.element(op, &t.element).map(|_| ()))
            }
        }
    }
    fn quantized<T>(&self, op: &Op, text: &str) -> Done<T> {
        let m = format!("it is on the quantized type {text}");
        let remedy = "dequantize before (`stablehlo-opt --stablehlo-legalize-quant-to-math`)";
        Err(self.unsupported(op, Unsupported::QuantizedType, m, remedy))
    }
    /// The dtype of elements.
    pub fn element(&self, op: &Op, e: &Element) -> Done<DType> {
        match e {
            Element::Known(d) => Ok(*d),
            Element::Index => Ok(DType::I64),
            Element::Quantized(text) => self.quantized(op, text),
            Element::Unsupported(text) => {
                let m = format!("elements of type {text} have no dtype");
                Err(self.unsupported(op, Unsupported::ElementType, m, "convert to i8, u8, f16 or wider before"))
            }
        }
    }
    /// The declared extents of a tensor type, `None` for `?`.
    pub fn declared_shape(&self, op: &Op, t: &TensorType) -> Done<Vec<Option<i64>>> {
        let Some(shape) = &t.shape else {
            let m = "a tensor of unknown rank has no type in a graph";
            return Err(self.unsupported(op, Unsupported::DataDependentShape, m, "give every tensor a rank"));
        };
        let known = |d: &Option<u64>| match d {
            Some(n) => {
                i64::try_from(*n).map(Some).map_err(|_| self.error(op, format!("an extent of {n} is too large")))
            }
            None => Ok(None),
        };
        shape.iter().map(known).collect()
    }
    /// The declared type of a result that is a tensor.
    pub fn declared(&self, op: &Op, v: Value) -> Done<(DType, Vec<Option<i64>>)> {
        match self.value_type(v) {
            Some(Type::Tensor(t)) => Ok((self.element(op, &t.element)?, self.declared_shape(op, t)?)),
            _ => Err(self.error(op, "its result is a tensor")),
        }
    }
    /// The declared type of result `i`.
    pub fn declared_result(&self, op: &Op, i: usize) -> Done<(DType, Vec<Option<i64>>)> {
        match op.results.get(i) {
            Some(&v) => self.declared(op, v),
            None => Err(self.error(op, format!("it has a result {i}"))),
        }
    }
    /// The declared type of result `i`, which has no `?`.
    pub fn static_result(&self, op: &Op, i: usize) -> Done<TensorSpec> {
        let (dtype, shape) = self.declared_result(op, i)?;
        match shape.iter().map(|d| d.map(Dim::constant)).collect::<Option<Shape>>() {
            Some(shape) => Ok(spec(dtype, shape)),
            None => {
                let m = "its result has an extent `?` that nothing decides";
                Err(self.unsupported(op, Unsupported::DataDependentShape, m, "give the result a static type"))
            }
        }
    }
    /// The type of a result in the graph must be what the text says, as far as it says something.
    pub fn agrees(&self, op: &Op, v: Value, actual: &TensorSpec) -> Done<()> {
        let Some(Type::Tensor(t)) = self.value_type(v) else { return Err(self.error(op, "a value is no tensor")) };
        let dtype = self.element(op, &t.element)?;
        let shape = self.declared_shape(op, t)?;
        if dtype != actual.dtype || shape.len() != actual.rank() {
            return Err(self.disagree(op, dtype, &shape, actual));
        }
        for (want, &got) in shape.iter().zip(&actual.shape) {
            let Some(want) = want.map(Dim::constant) else { continue };
            if want == got {
                continue;
            }
            if got.is_const() {
                return Err(self.disagree(op, dtype, &shape, actual));
            }
            self.unify(op, got, want)?;
        }
        Ok(())
    }
    fn disagree(&self, op: &Op, dtype: DType, shape: &[Option<i64>], actual: &TensorSpec) -> Box<super::fault::Fault> {
        let shape: String = shape.iter().map(|d| d.map_or("?x".to_string(), |n| format!("{n}x"))).collect();
        self.error(op, format!("the text declares tensor<{shape}{dtype}> where the value is {actual}"))
    }
    /// The types of the tensors in an argument, which have no `?`.
    pub fn argument_types(&self, op: &Op, func: &Func<'a>, v: Value, out: &mut Vec<TensorSpec>) -> Done<()> {
        let Some(info) = func.values.get(v.0 as usize) else { return Err(self.error(op, "an argument has no type")) };
        self.supported_type(op, &info.ty)?;
        let mut all = vec![];
        tensor_types(&info.ty, &mut all);
        for t in all {
            let dtype = self.element(op, &t.element)?;
            let shape: Option<Shape> = self.declared_shape(op, t)?.iter().map(|d| d.map(Dim::constant)).collect();
            match shape {
                Some(shape) => out.push(spec(dtype, shape)),
                None => return Err(self.error(op, "an argument has an extent `?` inside a tuple")),
            }
        }
        Ok(())
    }
}
