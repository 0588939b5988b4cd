//! The text of single elements, with the ranges that MLIR gives them: integers without a sign in their type take what
//! fits their bits either way, floats are decimal with a point or the hexadecimal digits of their bits.

use super::super::ast::Element as ElementType;
use super::super::cursor::integer;
use super::super::fault::Read;
use super::lists::Scan;
use super::round;
use evoxc_core::Element;
use half::{bf16, f16};
use num_complex::Complex;

/// An element that has a text.
pub(super) trait Text: Element {
    fn read(scan: &mut Scan<'_>) -> Read<Self>;
}

/// Decimal digits of up to 18 places, with a sign: the common case.
fn short(token: &str) -> Option<i64> {
    let (negative, digits) = token.strip_prefix('-').map_or((false, token), |t| (true, t));
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let n = digits.bytes().try_fold(0i64, |n, c| c.is_ascii_digit().then(|| n * 10 + i64::from(c - b'0')))?;
    Some(if negative { -n } else { n })
}

fn read_integer(scan: &mut Scan<'_>) -> Read<i128> {
    let token = scan.token();
    if let Some(n) = short(token) {
        return Ok(n.into());
    }
    let plain = |t: &str| !t.is_empty() && t.bytes().all(|c| c.is_ascii_digit());
    let digits = token.strip_prefix('-').unwrap_or(token);
    let hex = digits.strip_prefix("0x").is_some_and(|h| !h.is_empty() && h.bytes().all(|c| c.is_ascii_hexdigit()));
    if !(plain(digits) || hex) {
        return Err(scan.no_element(token, "expected an integer"));
    }
    integer(token).ok_or_else(|| scan.no_element(token, "it is out of range"))
}

macro_rules! signed { ($($t:ty as $u:ty),*) => { $(impl Text for $t {
    fn read(scan: &mut Scan<'_>) -> Read<$t> {
        let before = scan.at;
        let n = read_integer(scan)?;
        if let Ok(n) = <$t>::try_from(n) {
            return Ok(n);
        }
        // A type without a sign takes the upper half of the unsigned range too; `index` does not.
        match <$u>::try_from(n) {
            Ok(n) if scan.of != ElementType::Index => Ok(n as $t),
            _ => {
                scan.at = before;
                let token = scan.token();
                Err(scan.no_element(token, "it is out of range"))
            }
        }
    }
})* } }
signed!(i8 as u8, i16 as u16, i32 as u32, i64 as u64);

macro_rules! unsigned { ($($t:ty)*) => { $(impl Text for $t {
    fn read(scan: &mut Scan<'_>) -> Read<$t> {
        let before = scan.at;
        let n = read_integer(scan)?;
        <$t>::try_from(n).map_err(|_| {
            scan.at = before;
            let token = scan.token();
            scan.no_element(token, if n < 0 { "it is negative" } else { "it is out of range" })
        })
    }
})* } }
unsigned!(u8 u16 u32 u64);

impl Text for bool {
    fn read(scan: &mut Scan<'_>) -> Read<bool> {
        let token = scan.token();
        match token {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => match integer(token) {
                Some(0) => Ok(false),
                // One bit, with or without a sign.
                Some(1 | -1) => Ok(true),
                _ => Err(scan.no_element(token, "expected `true` or `false`")),
            },
        }
    }
}

/// Is it a decimal float: digits, a point, maybe digits, maybe an exponent?
fn is_decimal(token: &str) -> bool {
    let digits = |t: &str| t.bytes().all(|c| c.is_ascii_digit());
    let Some((whole, rest)) = token.strip_prefix('-').unwrap_or(token).split_once('.') else { return false };
    let (part, exponent) = match rest.split_once(['e', 'E']) {
        Some((part, e)) => (part, Some(e.strip_prefix(['+', '-']).unwrap_or(e))),
        None => (rest, None),
    };
    !whole.is_empty() && digits(whole) && digits(part) && exponent.is_none_or(|e| !e.is_empty() && digits(e))
}

macro_rules! floats { ($($t:ty, $bits:ty, $parse:expr;)*) => { $(impl Text for $t {
    fn read(scan: &mut Scan<'_>) -> Read<$t> {
        let token = scan.token();
        if let Some(hex) = token.strip_prefix("0x") {
            let bits = <$bits>::from_str_radix(hex, 16);
            return match bits {
                Ok(bits) if !hex.starts_with(['+', '-']) => Ok(<$t>::from_bits(bits)),
                _ => Err(scan.no_element(token, "expected the hexadecimal digits of its bits")),
            };
        }
        let parse: fn(&str) -> Option<$t> = $parse;
        let value = if is_decimal(token) { parse(token) } else { None };
        value.ok_or_else(|| {
            let whole = token.bytes().all(|c| c.is_ascii_digit() || c == b'-');
            scan.no_element(token, if whole { "a float has a point, as in `1.0`" } else { "expected a decimal float" })
        })
    }
})* } }
floats! {
    f32, u32, |t| t.parse().ok();
    f64, u64, |t| t.parse().ok();
    f16, u16, round::f16;
    bf16, u16, round::bf16;
}

macro_rules! complex { ($($t:ty)*) => { $(impl Text for Complex<$t> {
    fn read(scan: &mut Scan<'_>) -> Read<Self> {
        let expect = |scan: &mut Scan<'_>, c: u8| {
            if scan.eat(c) { Ok(()) } else { Err(scan.fault(format!("expected `(real, imaginary)`, an element of {}", scan.of))) }
        };
        expect(scan, b'(')?;
        let re = <$t>::read(scan)?;
        expect(scan, b',')?;
        let im = <$t>::read(scan)?;
        expect(scan, b')')?;
        Ok(Complex::new(re, im))
    }
})* } }
complex!(f32 f64);
