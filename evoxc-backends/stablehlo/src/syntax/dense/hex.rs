//! Elements as a hex string of little-endian bytes.

use super::super::ast::Dense;
use super::super::fault::{Fault, Read};
use evoxc_core::{Buffer, BufferElement, DType, with_dtype};

const NONE: u8 = 255;

/// The value of each hex digit.
static DIGITS: [u8; 256] = {
    let mut table = [NONE; 256];
    let mut i = 0;
    while i < 10 {
        table[b'0' as usize + i] = i as u8;
        i += 1;
    }
    let mut i = 0;
    while i < 6 {
        table[b'a' as usize + i] = 10 + i as u8;
        table[b'A' as usize + i] = 10 + i as u8;
        i += 1;
    }
    table
};

fn byte(pair: &[u8]) -> Option<u8> {
    let digit = |c: &u8| DIGITS.get(usize::from(*c)).copied().filter(|&d| d != NONE);
    match pair {
        [a, b] => Some(digit(a)? * 16 + digit(b)?),
        _ => None,
    }
}

/// The elements of digits whose number is right.
fn elements(digits: &str, dtype: DType) -> Option<Buffer> {
    if dtype.is_bool() {
        // A byte an element, of which any but zero is true.
        return digits
            .as_bytes()
            .chunks(2)
            .map(|p| byte(p).map(|b| b != 0))
            .collect::<Option<Vec<bool>>>()
            .map(Into::into);
    }
    with_dtype!(dtype, T => {
        let size = dtype.size();
        let mut one = [0u8; 16];
        let mut element = |chunk: &[u8]| {
            for (b, pair) in one.iter_mut().zip(chunk.chunks(2)) {
                *b = byte(pair)?;
            }
            T::read_le(one.get(..size)?)
        };
        digits.as_bytes().chunks(2 * size).map(&mut element).collect::<Option<Vec<T>>>().map(Buffer::from)
    })
}

fn no_hex(dense: &Dense<'_>) -> Fault {
    Fault::new(dense.at, "expected hexadecimal digits after `0x`")
}

fn wrong_length(digits: &str, dtype: DType, total: usize, dense: &Dense<'_>) -> Fault {
    let expected = total.saturating_mul(2 * dtype.size());
    let message = format!("expected {expected} hexadecimal digits for {}, found {}", dense.ty, digits.len());
    Fault::new(dense.at, message)
}

/// All elements, of a blob.
pub(super) fn exact(digits: &str, dtype: DType, total: usize, dense: &Dense<'_>) -> Read<Buffer> {
    if total.checked_mul(2 * dtype.size()) != Some(digits.len()) {
        return Err(wrong_length(digits, dtype, total, dense));
    }
    elements(digits, dtype).ok_or_else(|| no_hex(dense))
}

/// All elements, or one for all (then true is beside it). Booleans may also be packed, eight a byte, the first in the
/// lowest bit, as MLIR had them before each took a byte.
pub(super) fn any(digits: &str, dtype: DType, total: usize, dense: &Dense<'_>) -> Read<(Buffer, bool)> {
    if total != 1 && digits.len() == 2 * dtype.size() {
        return Ok((elements(digits, dtype).ok_or_else(|| no_hex(dense))?, true));
    }
    if dtype.is_bool() && total > 8 && digits.len() == 2 * total.div_ceil(8) {
        let bytes: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(byte).collect();
        let bytes = bytes.ok_or_else(|| no_hex(dense))?;
        let bits = bytes.iter().flat_map(|b| (0..8).map(move |i| b >> i & 1 == 1)).take(total);
        return Ok((Buffer::from(bits.collect::<Vec<bool>>()), false));
    }
    Ok((exact(digits, dtype, total, dense)?, false))
}
