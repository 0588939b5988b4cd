//! Attributes of ops, read as what the rules need.

use super::fault::{Done, Fault};
use super::walk::Importer;
use crate::syntax::ast::{Attr, Dense, NamedAttr, Op};
use crate::syntax::dense;
use evoxc_core::{DType, Dim, Tensor};
use evoxc_ir::Literal;

/// Lists in attributes have at most this many entries: they describe axes, replicas and pads.
const MAX_LIST: usize = 1 << 20;

/// An attribute in a list of them.
pub(super) fn find<'x, 'a>(attrs: &'x [NamedAttr<'a>], name: &str) -> Option<&'x Attr<'a>> {
    attrs.iter().find(|(n, _)| n == name).map(|(_, v)| v)
}

/// The text of a word, a symbol or a string.
pub(super) fn text<'x>(a: &'x Attr) -> Option<&'x str> {
    match a {
        Attr::Str(s) | Attr::Symbol(s) | Attr::Word(s) => Some(s),
        _ => None,
    }
}

impl<'m, 'a> Importer<'m, 'a> {
    /// The attribute, which must be there.
    pub fn needed<'x>(&self, op: &'x Op<'a>, name: &str) -> Done<&'x Attr<'a>> {
        find(&op.attrs, name).ok_or_else(|| self.error(op, format!("it needs the attribute `{name}`")))
    }
    fn not(&self, op: &Op, name: &str, what: &str) -> Box<Fault> {
        self.error(op, format!("its attribute `{name}` is not {what}"))
    }
    /// Integers: a list, a dense constant, or one number; bools count as 0 and 1.
    pub fn to_ints(&self, op: &Op, name: &str, a: &Attr<'a>) -> Done<Vec<i64>> {
        if let Attr::Dense(d) = a {
            return self.dense_ints(op, d)?.ok_or_else(|| self.not(op, name, "a list of integers"));
        }
        // Lists of lists, as of paddings, in row-major order; without recursion.
        let mut open = vec![a];
        let mut out = vec![];
        while let Some(a) = open.pop() {
            match a {
                Attr::Array(all) => open.extend(all.iter().rev()),
                Attr::Int(i) => out.push(i64::try_from(*i).map_err(|_| self.not(op, name, "a list of integers"))?),
                Attr::Bool(b) => out.push(i64::from(*b)),
                _ => return Err(self.not(op, name, "a list of integers")),
            }
        }
        Ok(out)
    }
    fn dense_ints(&self, op: &Op, d: &Dense<'a>) -> Done<Option<Vec<i64>>> {
        let n: Option<u64> = d.ty.shape.as_ref().and_then(|s| s.iter().try_fold(1u64, |n, e| n.checked_mul((*e)?)));
        match n.and_then(|n| usize::try_from(n).ok()) {
            Some(n) if n <= MAX_LIST => match self.literal(op, d)? {
                Literal::Dense(t) => Ok(ints(&t)),
                Literal::Splat(t, _) => Ok(ints(&t).and_then(|v| v.first().map(|&x| vec![x; n]))),
            },
            _ => Ok(None),
        }
    }
    /// Integers, if the attribute is there.
    pub fn ints(&self, op: &Op<'a>, name: &str) -> Done<Option<Vec<i64>>> {
        find(&op.attrs, name).map(|a| self.to_ints(op, name, a)).transpose()
    }
    /// Integers, which must be there.
    pub fn needed_ints(&self, op: &Op<'a>, name: &str) -> Done<Vec<i64>> {
        self.to_ints(op, name, self.needed(op, name)?)
    }
    /// Axes, or other numbers of at least 0, which must be there.
    pub fn axes(&self, op: &Op<'a>, name: &str) -> Done<Vec<usize>> {
        self.to_axes(op, name, self.needed_ints(op, name)?)
    }
    /// Numbers of at least 0.
    pub fn to_axes(&self, op: &Op, name: &str, list: Vec<i64>) -> Done<Vec<usize>> {
        let all: Option<Vec<usize>> = list.into_iter().map(|i| usize::try_from(i).ok()).collect();
        all.ok_or_else(|| self.not(op, name, "a list of numbers of at least 0"))
    }
    /// One number of at least 0.
    pub fn axis(&self, op: &Op<'a>, name: &str) -> Done<usize> {
        match self.axes(op, name)?.as_slice() {
            [one] => Ok(*one),
            _ => Err(self.not(op, name, "one number")),
        }
    }
    /// One number of at least 0, or this where there is none.
    pub fn axis_or(&self, op: &Op<'a>, name: &str, otherwise: usize) -> Done<usize> {
        if find(&op.attrs, name).is_some() { self.axis(op, name) } else { Ok(otherwise) }
    }
    /// A flag, false where there is none.
    pub fn flag(&self, op: &Op<'a>, name: &str) -> Done<bool> {
        match find(&op.attrs, name) {
            None => Ok(false),
            Some(Attr::Unit) => Ok(true),
            Some(Attr::Bool(b)) => Ok(*b),
            Some(_) => Err(self.not(op, name, "true or false")),
        }
    }
    /// A word, a symbol or a string, which must be there.
    pub fn word<'x>(&self, op: &'x Op<'a>, name: &str) -> Done<&'x str> {
        text(self.needed(op, name)?).ok_or_else(|| self.not(op, name, "a word"))
    }
    /// A number, which must be there.
    pub fn number(&self, op: &Op<'a>, name: &str) -> Done<f64> {
        match self.needed(op, name)? {
            Attr::Float(f) => Ok(*f),
            Attr::Int(i) => Ok(*i as f64),
            _ => Err(self.not(op, name, "a number")),
        }
    }
    /// The fields of a record, which must be there.
    pub fn record<'x>(&self, op: &'x Op<'a>, name: &str) -> Done<Fields<'x, 'a>> {
        match self.needed(op, name)? {
            Attr::Record(_, fields) | Attr::Dict(fields) => Ok(Fields { fields }),
            _ => Err(self.not(op, name, "a record")),
        }
    }
    /// A dense constant, one value where it repeats.
    pub fn literal(&self, op: &Op, d: &Dense<'a>) -> Done<Literal> {
        let dtype = self.element(op, &d.ty.element)?;
        let shape = self.declared_shape(op, &d.ty)?;
        let shape: Option<Vec<i64>> = shape.into_iter().collect();
        let Some(shape) = shape else { return Err(self.error(op, "a constant has a static type")) };
        let _ = dtype;
        match dense::read(d, self.source.text).map_err(|e| Box::new(Fault::Parse(e)))? {
            dense::Constant::Full(t) => Ok(Literal::Dense(t)),
            dense::Constant::Splat(t) if shape.is_empty() => Ok(Literal::Dense(t)),
            dense::Constant::Splat(t) => Ok(Literal::Splat(t, dims(&shape).into_iter().collect())),
        }
    }
}

/// The fields of a record.
pub(super) struct Fields<'x, 'a> {
    pub fields: &'x [NamedAttr<'a>],
}

impl<'x, 'a> Fields<'x, 'a> {
    pub fn get(&self, name: &str) -> Option<&'x Attr<'a>> {
        find(self.fields, name)
    }
    /// A list of axes, empty where it is left out.
    pub fn axes(&self, i: &Importer<'_, 'a>, op: &Op, name: &str) -> Done<Vec<usize>> {
        match self.get(name) {
            None => Ok(vec![]),
            Some(a) => i.to_axes(op, name, i.to_ints(op, name, a)?),
        }
    }
    /// A number, 0 where it is left out.
    pub fn axis(&self, i: &Importer<'_, 'a>, op: &Op, name: &str) -> Done<usize> {
        Ok(self.axes(i, op, name)?.first().copied().unwrap_or(0))
    }
}

/// The elements of a tensor as integers, bools as 0 and 1; `None` of floats, and where one is too large.
pub(super) fn ints(t: &Tensor) -> Option<Vec<i64>> {
    macro_rules! all {
        ($t:ty) => {
            t.as_slice::<$t>().ok()?.iter().map(|&x| i64::try_from(x).ok()).collect()
        };
    }
    match t.dtype() {
        DType::BOOL => Some(t.as_slice::<bool>().ok()?.iter().map(|&b| i64::from(b)).collect()),
        DType::I8 => all!(i8),
        DType::I16 => all!(i16),
        DType::I32 => all!(i32),
        DType::I64 => all!(i64),
        DType::U8 => all!(u8),
        DType::U16 => all!(u16),
        DType::U32 => all!(u32),
        DType::U64 => all!(u64),
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 | DType::C64 | DType::C128 => None,
    }
}

/// Integers as extents.
pub(super) fn dims(list: &[i64]) -> Vec<Dim> {
    list.iter().map(|&i| Dim::constant(i)).collect()
}
