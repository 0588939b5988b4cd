//! Dense constants: a splat, lists, or the bytes in hexadecimal.

use super::number::Number;
use super::text;
use evoxc_core::{Buffer, DType, Tensor, with_buffer};
use evoxc_ir::Literal;

/// Lists longer than this are written in hexadecimal, as MLIR does.
const MAX_LISTED: usize = 100;

/// `dense<[1, 2]> : tensor<2xi32>`, of a literal whose shape is constant.
pub(super) fn literal(l: &Literal) -> String {
    match l {
        Literal::Dense(t) => dense(t),
        Literal::Splat(t, shape) if shape.iter().any(|d| *d == 0) => {
            format!("dense<> : {}", text::shaped(shape, t.dtype()))
        }
        Literal::Splat(t, shape) => {
            format!("dense<{}> : {}", elements(t.buffer(), &[]), text::shaped(shape, t.dtype()))
        }
    }
}

/// The same of a tensor.
pub(super) fn dense(t: &Tensor) -> String {
    format!("dense<{}> : {}", elements(t.buffer(), t.shape()), text::ty(&t.spec()))
}

fn elements(b: &Buffer, shape: &[usize]) -> String {
    let mut out = String::new();
    // Boolean bytes are packed by some versions of MLIR and not by others: their text is the same in all.
    let listed = b.len() <= MAX_LISTED || b.dtype() == DType::BOOL;
    with_buffer!(b, v => write(&mut out, v, shape, listed, b));
    out
}

fn write<T: Number>(out: &mut String, v: &[T], shape: &[usize], listed: bool, b: &Buffer) {
    let Some((&first, rest)) = v.split_first() else { return };
    if rest.iter().all(|x| x.same(first)) {
        first.write(out);
    } else if listed {
        lists(out, v, shape);
    } else {
        out.reserve(2 * b.bytes().len() + 4);
        out.push_str("\"0x");
        let digit = |d: u8| char::from(if d < 10 { b'0' + d } else { b'A' + d - 10 });
        for byte in b.bytes() {
            out.push(digit(byte >> 4));
            out.push(digit(byte & 15));
        }
        out.push('"');
    }
}

/// Nested lists, one level an axis; written in one pass, whatever the rank.
fn lists<T: Number>(out: &mut String, v: &[T], shape: &[usize]) {
    for (i, &x) in v.iter().enumerate() {
        let (mut opened, mut block) = (0, 1);
        for n in shape.iter().rev() {
            block *= n;
            if !i.is_multiple_of(block.max(1)) {
                break;
            }
            opened += 1;
        }
        if i > 0 {
            out.push_str(&"]".repeat(opened));
            out.push_str(", ");
        }
        out.push_str(&"[".repeat(opened));
        x.write(out);
    }
    out.push_str(&"]".repeat(shape.len()));
}
