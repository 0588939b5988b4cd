//! Decoding of dense constants: splats, nested lists, hex strings and resource blobs of every dtype.
//!
//! Nothing is allocated that the text does not pay for: lists grow with their elements, bytes are checked against their
//! length first, and a splat is one element until it is asked to fill its shape.

mod element;
mod hex;
mod lists;
pub(crate) mod round;
#[cfg(test)]
mod tests;

use super::ast::{Attr, Dense, DenseData, Element};
use super::fault::{Fault, Read};
use evoxc_core::{DType, Result, Tensor, with_dtype};

/// A decoded constant.
#[derive(Clone, Debug)]
pub enum Constant {
    /// One element, as a scalar, for all of the shape.
    Splat(Tensor),
    /// All elements.
    Full(Tensor),
}

/// Decodes a constant of `text`, the whole text that it was read from.
///
/// ```
/// use evoxc_stablehlo::syntax::{ast::Attr, dense, parse};
/// let text = "func.func @f() -> tensor<2x2xf32> {
///   %0 = stablehlo.constant dense<[[1.0, 2.0], [3.0, 0x7F800000]]> : tensor<2x2xf32>
///   return %0 : tensor<2x2xf32>
/// }";
/// let module = parse(text)?;
/// let op = &module.funcs[0].body.as_ref().unwrap().ops[0];
/// let Attr::Dense(value) = &op.attrs[0].1 else { panic!() };
/// assert_eq!(dense::decode(value, text)?.to_vec::<f32>()?, [1.0, 2.0, 3.0, f32::INFINITY]);
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// [`evoxc_core::ParseError`]: elements that are too many, too few, ragged, out of range, or of no dtype of evoxc.
pub fn decode(dense: &Dense<'_>, text: &str) -> Result<Tensor> {
    decoded(dense).and_then(|c| fill(dense, c)).map_err(|f| f.into_error(text))
}

/// Decodes a constant, but leaves a splat one element.
///
/// # Errors
/// As [`decode`].
pub fn read(dense: &Dense<'_>, text: &str) -> Result<Constant> {
    decoded(dense).map_err(|f| f.into_error(text))
}

/// The integers of an attribute in row-major order, whatever form it was written in: one integer, `[0, 1]`, nested
/// lists, `array<i64: …>` or `dense<…>`; booleans count as 0 and 1. `None` for anything else.
///
/// # Errors
/// As [`decode`].
pub fn integers(attr: &Attr<'_>, text: &str) -> Result<Option<Vec<i64>>> {
    let mut out = vec![];
    Ok(if flatten(attr, text, &mut out)? { Some(out) } else { None })
}

// As deep as attributes may nest.
fn flatten(attr: &Attr<'_>, text: &str, out: &mut Vec<i64>) -> Result<bool> {
    match attr {
        Attr::Int(n) => match i64::try_from(*n) {
            Ok(n) => out.push(n),
            Err(_) => return Ok(false),
        },
        Attr::Bool(b) => out.push((*b).into()),
        Attr::Array(all) => {
            for a in all {
                if !flatten(a, text, out)? {
                    return Ok(false);
                }
            }
        }
        Attr::Dense(d) => {
            let of_integers = match d.ty.element {
                Element::Known(t) => t.is_int() || t.is_bool(),
                Element::Index => true,
                Element::Unsupported(_) | Element::Quantized(_) => false,
            };
            if !of_integers {
                return Ok(false);
            }
            out.extend(decode(d, text)?.cast(DType::I64)?.as_slice::<i64>()?);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// The extents and the number of elements of a constant.
fn shape_of(dense: &Dense<'_>) -> Read<(Vec<usize>, usize)> {
    let wrong = |what: &str| Fault::new(dense.at, format!("a constant of {} {what}", dense.ty));
    let Some(dims) = &dense.ty.shape else { return Err(wrong("has no shape")) };
    let dims: Option<Vec<usize>> = dims.iter().map(|d| d.and_then(|d| usize::try_from(d).ok())).collect();
    let dims = dims.ok_or_else(|| wrong("needs constant extents"))?;
    // Zeros may come after a product that overflows.
    let total = dims.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
    let total = if dims.contains(&0) { Some(0) } else { total };
    Ok((dims, total.ok_or_else(|| wrong("has more elements than can be counted"))?))
}

fn decoded(dense: &Dense<'_>) -> Read<Constant> {
    let (shape, total) = shape_of(dense)?;
    let dtype = match dense.ty.element {
        Element::Known(d) => d,
        Element::Index => DType::I64,
        Element::Unsupported(e) | Element::Quantized(e) => {
            let message = format!("constants of element type {e} are not supported: evoxc has no such dtype");
            return Err(Fault::new(dense.at, message));
        }
    };
    let fault = |message: String| Fault::new(dense.at, message);
    let full =
        |buffer| Tensor::from_buffer(buffer, shape.as_slice()).map(Constant::Full).map_err(|e| fault(e.to_string()));
    let splat = |buffer| Tensor::from_buffer(buffer, []).map(Constant::Splat).map_err(|e| fault(e.to_string()));
    match dense.data {
        DenseData::Resource(blob) => {
            let blob = blob.strip_prefix("0x").ok_or_else(|| fault("a resource is a hex string, `0x…`".into()))?;
            let data = blob.get(8..).ok_or_else(|| fault("a resource begins with four bytes of alignment".into()))?;
            full(hex::exact(data, dtype, total, dense)?)
        }
        DenseData::Text(elements) => match lists::shape_of_text(elements) {
            lists::Form::Hex(digits) => {
                let (buffer, one) = hex::any(digits, dtype, total, dense)?;
                if one { splat(buffer) } else { full(buffer) }
            }
            lists::Form::Empty if total == 0 => full(evoxc_core::Buffer::zeros(dtype, 0)),
            lists::Form::Empty => Err(fault(format!("no elements for {}", dense.ty))),
            lists::Form::One => {
                let scan = lists::Scan::new(elements, dense.at, dense.ty.element.clone());
                splat(with_dtype!(dtype, T => evoxc_core::Buffer::from(lists::one::<T>(scan)?)))
            }
            lists::Form::List => {
                let scan = lists::Scan::new(elements, dense.at, dense.ty.element.clone());
                full(with_dtype!(dtype, T => evoxc_core::Buffer::from(lists::all::<T>(scan, &shape, total, dense)?)))
            }
        },
    }
}

/// A tensor of the full shape.
fn fill(dense: &Dense<'_>, constant: Constant) -> Read<Tensor> {
    let one = match constant {
        Constant::Full(t) => return Ok(t),
        Constant::Splat(one) => one,
    };
    let (shape, total) = shape_of(dense)?;
    let bytes = total.checked_mul(one.dtype().size());
    // An allocation that fails ends the process, so large ones are tried first.
    let fits = |n: usize| n < 1 << 30 || Vec::<u8>::new().try_reserve_exact(n).is_ok();
    if !bytes.is_some_and(fits) {
        return Err(Fault::new(dense.at, format!("there is not enough memory for a constant of {}", dense.ty)));
    }
    Tensor::from_buffer(one.buffer().splat(total), shape.as_slice()).map_err(|e| Fault::new(dense.at, e.to_string()))
}
