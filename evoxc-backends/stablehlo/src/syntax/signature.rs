//! The types behind pretty forms: what the text says of operands and results, and what follows from it.

use super::ast::{Attr, Element, TensorType, Type, Value};
use super::fault::{Fault, Read};
use super::forms::Signature;
use super::op::Draft;
use super::parser::{Parser, find};
use evoxc_core::DType;

/// Types as written: before an arrow, and after one.
struct Written<'a> {
    at: usize,
    from: Vec<Type<'a>>,
    to: Option<Vec<Type<'a>>>,
}

impl<'a> Parser<'a> {
    /// Reads types, checks the operands, and sets the results.
    pub fn signature(&mut self, draft: &mut Draft<'a>, signature: Signature) -> Read<()> {
        match signature {
            Signature::Value | Signature::Expected => return self.value_type(draft, signature),
            Signature::Operands | Signature::Pairwise | Signature::Any
                if draft.operands.is_empty() && self.c.peek() != Some(b':') =>
            {
                return Ok(());
            }
            _ => {}
        }
        let w = self.written()?;
        let n = draft.operands.len();
        let wrong = |what: &str| Err(Fault::new(w.at, format!("expected {what} as the type of {}", draft.name)));
        let one = match (w.from.as_slice(), &w.to) {
            ([one], None) => Some(one.clone()),
            _ => None,
        };
        let (operands, results) = match (signature, one, w.to) {
            // A function type says everything, in any form that has results.
            (
                Signature::Same | Signature::Function | Signature::Select | Signature::Complex | Signature::Arrow,
                _,
                Some(to),
            )
            | (Signature::Any, _, Some(to)) => (w.from, to),
            (Signature::Same, Some(t), _) => (vec![t.clone(); n], vec![t]),
            (Signature::Any, Some(t), _) => (vec![t.clone(); n], vec![t; draft.named.unwrap_or(0).min(1)]),
            (Signature::Any, None, None) => (w.from, vec![]),
            (Signature::Select, ..) => match <[Type<'a>; 2]>::try_from(w.from) {
                Ok([p, t]) => (vec![p, t.clone(), t.clone()], vec![t]),
                Err(_) => return wrong("a predicate's type and a type, or a function type"),
            },
            (Signature::Complex, Some(t), _) => match real(&t) {
                Some(part) => (vec![part; 2], vec![t]),
                None => return wrong("a complex tensor, or a function type"),
            },
            (Signature::Tuple, Some(Type::Tuple(parts)), _) => (parts.clone(), vec![Type::Tuple(parts)]),
            (Signature::Pairwise, _, None) => (w.from.clone(), w.from),
            (Signature::Operands, _, None) => (w.from, vec![]),
            (Signature::SameOperands, Some(t), _) => (vec![t; n], vec![]),
            (Signature::Result, Some(t), _) => (vec![], vec![t]),
            (Signature::Index, Some(t), _) => (indexed(t, n), vec![Type::Scalar(Element::Index)]),
            (Signature::Extract, Some(t), _) => match &t {
                Type::Tensor(of) => {
                    let element = Type::Scalar(of.element.clone());
                    (indexed(t, n), vec![element])
                }
                _ => return wrong("a tensor"),
            },
            (Signature::Elements, Some(t), _) => match &t {
                Type::Tensor(of) => (vec![Type::Scalar(of.element.clone()); n], vec![t]),
                _ => return wrong("a tensor"),
            },
            (Signature::Same | Signature::SameOperands | Signature::Result, ..) => return wrong("one type"),
            (Signature::Function | Signature::Arrow, ..) => return wrong("operand types, `->` and result types"),
            (Signature::Complex, ..) => return wrong("a complex tensor, or a function type"),
            (Signature::Tuple, ..) => return wrong("a tuple"),
            (Signature::Pairwise | Signature::Operands, ..) => return wrong("the operands' types"),
            (Signature::Index | Signature::Extract | Signature::Elements, ..) => return wrong("a tensor"),
            (Signature::Value | Signature::Expected, ..) => (vec![], vec![]),
        };
        self.check_operands(draft, &operands)?;
        draft.results = results;
        Ok(())
    }

    fn written(&mut self) -> Read<Written<'a>> {
        self.c.expect(":")?;
        self.c.skip();
        let at = self.c.at;
        let mut from = vec![self.ty()?];
        while self.c.eat(",") {
            from.push(self.ty()?);
        }
        let to = if self.c.eat("->") || self.c.eat_word("to") {
            let mut to = self.result_types()?;
            while self.c.eat(",") {
                to.push(self.ty()?);
            }
            Some(to)
        } else if let [Type::Function(..)] = from.as_slice() {
            match from.pop() {
                Some(Type::Function(f, t)) => {
                    from = f;
                    Some(t)
                }
                _ => None,
            }
        } else {
            None
        };
        Ok(Written { at, from, to })
    }

    fn value_type(&mut self, draft: &mut Draft<'a>, signature: Signature) -> Read<()> {
        let Some(Attr::Dense(value)) = find(&draft.attrs, "value") else {
            return Err(Fault::new(draft.at, format!("{} has no constant `value`", draft.name)));
        };
        let ty = Type::Tensor(value.ty.clone());
        if signature == Signature::Expected {
            return self.check_operands(draft, &[ty]);
        }
        draft.results = vec![ty];
        Ok(())
    }

    /// The element type of the values that a reducer takes: a scalar tensor of an operand's elements.
    pub fn scalar_of(&self, v: Value) -> Option<Type<'a>> {
        match self.type_of(v)? {
            Type::Tensor(t) => {
                Some(Type::Tensor(TensorType { shape: Some(vec![]), bounds: vec![], element: t.element.clone() }))
            }
            _ => None,
        }
    }
}

fn indexed<'a>(first: Type<'a>, n: usize) -> Vec<Type<'a>> {
    let mut all = vec![first];
    all.resize(n.max(1), Type::Scalar(Element::Index));
    all
}

/// The type of the parts of a complex tensor.
fn real<'a>(ty: &Type<'a>) -> Option<Type<'a>> {
    let Type::Tensor(t) = ty else { return None };
    let element = match t.element {
        Element::Known(DType::C64) => DType::F32,
        Element::Known(DType::C128) => DType::F64,
        _ => return None,
    };
    Some(Type::Tensor(TensorType { element: Element::Known(element), ..t.clone() }))
}
