//! The text of types, lists and names.

use evoxc_core::{DType, Dim};
use evoxc_ir::TensorType;
use std::fmt::{Display, Write};

/// The element type as MLIR writes it.
pub(super) fn element(d: DType) -> &'static str {
    match d {
        DType::BOOL => "i1",
        DType::I8 => "i8",
        DType::I16 => "i16",
        DType::I32 => "i32",
        DType::I64 => "i64",
        DType::U8 => "ui8",
        DType::U16 => "ui16",
        DType::U32 => "ui32",
        DType::U64 => "ui64",
        DType::F16 => "f16",
        DType::BF16 => "bf16",
        DType::F32 => "f32",
        DType::F64 => "f64",
        DType::C64 => "complex<f32>",
        DType::C128 => "complex<f64>",
    }
}

/// `tensor<?x4xf32>`.
pub(super) fn ty(t: &TensorType) -> String {
    shaped(&t.shape, t.dtype)
}

/// The type of that shape and element type.
pub(super) fn shaped(shape: &[Dim], dtype: DType) -> String {
    let mut out = String::from("tensor<");
    for d in shape {
        match d.get() {
            Some(n) => {
                let _ = write!(out, "{n}x");
            }
            None => out.push_str("?x"),
        }
    }
    out.push_str(element(dtype));
    out.push('>');
    out
}

/// `a, b, c`.
pub(super) fn list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let mut out = String::new();
    for (i, item) in items.into_iter().enumerate() {
        let _ = write!(out, "{}{item}", if i > 0 { ", " } else { "" });
    }
    out
}

/// `[0, 1]`.
pub(super) fn brackets<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    format!("[{}]", list(items))
}

/// `array<i64: 0, 1>`.
pub(super) fn array<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let items = list(items);
    if items.is_empty() { "array<i64>".into() } else { format!("array<i64: {items}>") }
}

/// `(a, b)`.
pub(super) fn parens<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    format!("({})", list(items))
}

/// The types of several results: one bare, else in parentheses.
pub(super) fn results(types: &[TensorType]) -> String {
    match types {
        [one] => ty(one),
        many => parens(many.iter().map(ty)),
    }
}

/// A name after `@`, quoted where it is no plain one.
pub(super) fn symbol(name: &str) -> String {
    let plain = name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.'));
    if plain { name.into() } else { string(name) }
}

/// A string in quotes, with MLIR's escapes.
pub(super) fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for b in text.bytes() {
        match b {
            b'\\' => out.push_str("\\\\"),
            b'"' => out.push_str("\\22"),
            0x20..=0x7E => out.push(char::from(b)),
            _ => {
                let _ = write!(out, "\\{b:02X}");
            }
        }
    }
    out.push('"');
    out
}

/// A name after `%`: what MLIR does not take becomes `_`; none at all if nothing else is left.
pub(super) fn value_name(name: &str) -> Option<String> {
    let kept: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-') { c } else { '_' })
        .collect();
    let first = kept.bytes().next()?;
    if kept.bytes().all(|b| b == b'_') {
        None
    } else if first.is_ascii_digit() {
        Some(format!("_{kept}"))
    } else {
        Some(kept)
    }
}
