//! Types as MLIR prints them, for errors.

use super::ast::{Element, TensorType, Type};
use evoxc_core::DType;
use std::fmt::{Display, Formatter, Result, Write};

impl Display for Element<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Element::Known(d) => match d {
                DType::BOOL => "i1",
                DType::U8 => "ui8",
                DType::U16 => "ui16",
                DType::U32 => "ui32",
                DType::U64 => "ui64",
                DType::C64 => "complex<f32>",
                DType::C128 => "complex<f64>",
                DType::I8 | DType::I16 | DType::I32 | DType::I64 => d.name(),
                DType::F16 | DType::BF16 | DType::F32 | DType::F64 => d.name(),
            },
            Element::Index => "index",
            Element::Unsupported(t) | Element::Quantized(t) => t,
        })
    }
}

impl Display for TensorType<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("tensor<")?;
        match &self.shape {
            None => f.write_str("*x")?,
            Some(dims) => {
                for d in dims {
                    match d {
                        Some(d) => write!(f, "{d}x")?,
                        None => f.write_str("?x")?,
                    }
                }
            }
        }
        write!(f, "{}", self.element)?;
        if !self.bounds.is_empty() {
            f.write_str(", #stablehlo.bounds<")?;
            list(f, &self.bounds, |f, b| match b {
                Some(b) => write!(f, "{b}"),
                None => f.write_char('?'),
            })?;
            f.write_char('>')?;
        }
        f.write_char('>')
    }
}

fn list<'b, T>(f: &mut Formatter<'b>, all: &[T], mut one: impl FnMut(&mut Formatter<'b>, &T) -> Result) -> Result {
    for (i, x) in all.iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        one(f, x)?;
    }
    Ok(())
}

impl Display for Type<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let show = |f: &mut Formatter<'_>, t: &Type<'_>| write!(f, "{t}");
        match self {
            Type::Tensor(t) => write!(f, "{t}"),
            Type::Scalar(e) => write!(f, "{e}"),
            Type::Token => f.write_str("!stablehlo.token"),
            Type::Other(t) => f.write_str(t),
            Type::Tuple(all) => {
                f.write_str("tuple<")?;
                list(f, all, show)?;
                f.write_char('>')
            }
            Type::Function(from, to) => {
                f.write_char('(')?;
                list(f, from, show)?;
                f.write_str(") -> ")?;
                match to.as_slice() {
                    [one] if !matches!(one, Type::Function(..)) => write!(f, "{one}"),
                    to => {
                        f.write_char('(')?;
                        list(f, to, show)?;
                        f.write_char(')')
                    }
                }
            }
        }
    }
}
