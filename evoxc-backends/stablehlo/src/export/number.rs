//! One element of a constant, with the same bits when it is read back: floats as MLIR prints them, in decimal where
//! that is exact and in hexadecimal where they are no numbers.

use evoxc_core::Element;
use half::{bf16, f16};
use num_complex::Complex;
use std::fmt::Write;

/// An element that has a text.
pub(super) trait Number: Element {
    /// Appends the text.
    fn write(self, out: &mut String);
    /// Equal in every bit?
    fn same(self, o: Self) -> bool;
}

macro_rules! plain {
    ($($t:ty)*) => { $(impl Number for $t {
        fn write(self, out: &mut String) {
            let _ = write!(out, "{self}");
        }
        fn same(self, o: Self) -> bool {
            self == o
        }
    })* };
}
plain!(bool i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! float {
    ($($t:ty, $digits:literal, $parse:expr;)*) => { $(impl Number for $t {
        fn write(self, out: &mut String) {
            let parse: fn(&str) -> Option<$t> = $parse;
            let wide = f64::from(self);
            let decimal = wide.is_finite().then(|| {
                let short = scientific(&format!("{wide:.5e}"));
                if parse(&short).is_some_and(|v| v.same(self)) { Some(short) } else { full(wide, $digits) }
            });
            match decimal.flatten() {
                Some(text) => out.push_str(&text),
                None => {
                    let _ = write!(out, "0x{:0width$X}", self.to_bits(), width = 2 * size_of::<$t>());
                }
            }
        }
        fn same(self, o: Self) -> bool {
            self.to_bits() == o.to_bits()
        }
    })* };
}
// As many digits as LLVM gives each: 2 + precision * 59 / 196.
float! {
    f16, 5, |s| s.parse::<f64>().ok().map(evoxc_core::f16_from_f64);
    bf16, 4, |s| s.parse::<f64>().ok().map(evoxc_core::bf16_from_f64);
    f32, 9, |s| s.parse().ok();
    f64, 17, |s| s.parse().ok();
}

macro_rules! complex {
    ($($t:ty)*) => { $(impl Number for Complex<$t> {
        fn write(self, out: &mut String) {
            out.push('(');
            self.re.write(out);
            out.push(',');
            self.im.write(out);
            out.push(')');
        }
        fn same(self, o: Self) -> bool {
            self.re.same(o.re) && self.im.same(o.im)
        }
    })* };
}
complex!(f32 f64);

/// `1.50000e0` as `1.500000e+00`: with a digit more, the sign of the exponent, and two digits of it.
fn scientific(text: &str) -> String {
    let Some((mantissa, exponent)) = text.split_once('e') else { return text.into() };
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |d| ('-', d));
    format!("{mantissa}0e{sign}{digits:0>2}")
}

/// The number in so many significant digits, none of them a trailing zero; plain where the exponent is small. `None`
/// where the plain form has no point: it would read as an integer.
fn full(v: f64, digits: usize) -> Option<String> {
    let text = format!("{v:.*e}", digits - 1);
    let (mantissa, exponent) = text.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |m| ("-", m));
    let all: String = mantissa.chars().filter(|c| *c != '.').collect();
    let kept = match all.trim_end_matches('0') {
        "" => "0",
        kept => kept,
    };
    let n = kept.len() as i32;
    // The exponent of the last digit.
    let last = exponent - (n - 1);
    if last >= 0 {
        let scientific = last > 3 || n + last > digits as i32;
        return scientific.then(|| exponential(sign, kept, exponent));
    }
    if exponent >= 0 {
        let (whole, rest) = kept.split_at(exponent as usize + 1);
        return Some(format!("{sign}{whole}.{rest}"));
    }
    if -exponent > 3 {
        return Some(exponential(sign, kept, exponent));
    }
    Some(format!("{sign}0.{}{kept}", "0".repeat((-exponent - 1) as usize)))
}

fn exponential(sign: &str, digits: &str, exponent: i32) -> String {
    let (first, rest) = digits.split_at(1);
    format!("{sign}{first}.{}E{exponent:+}", if rest.is_empty() { "0" } else { rest })
}
