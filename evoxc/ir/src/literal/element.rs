//! One element of every dtype, in and out with the same bits.

use crate::lex::{Lexer, Tok};
use evoxc_core::{Element, Result};
use evoxc_core::{bf16_from_f64, f16_from_f64};
use half::{bf16, f16};
use num_complex::Complex;
use std::fmt::Write;

/// One element in and out.
pub(super) trait ElementText: Element {
    fn write(&self, out: &mut String);
    fn read(lex: &mut Lexer) -> Result<Self>;
}

/// A number, or one of the two of a complex one.
trait Part: Element {
    fn show(&self, out: &mut String);
    /// From a number or word of the text.
    fn parse(text: &str) -> Option<Self>;
}

/// From the bits, in exactly as many hexadecimal digits as the dtype has.
fn from_hex<T: Part>(text: &str) -> Option<T> {
    let digits = text.strip_prefix("0x")?;
    let size = T::DTYPE.size();
    if digits.len() != 2 * size || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    T::read_le(u64::from_str_radix(digits, 16).ok()?.to_le_bytes().get(..size)?)
}

fn read_part<T: Part>(lex: &mut Lexer) -> Result<T> {
    let (at, token) = lex.next()?;
    let value = match token {
        Tok::Number(text) | Tok::Word(text) => from_hex(text).or_else(|| T::parse(text)),
        _ => None,
    };
    value.ok_or_else(|| {
        lex.reset(at);
        lex.expected(&format!("an element of {}", T::DTYPE))
    })
}

impl Part for bool {
    fn show(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }
    fn parse(text: &str) -> Option<bool> {
        text.parse().ok()
    }
}
macro_rules! integers { ($($t:ty)*) => { $(impl Part for $t {
    fn show(&self, out: &mut String) { let _ = write!(out, "{self}"); }
    fn parse(text: &str) -> Option<$t> { text.parse().ok() }
})* } }
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

/// `$shown` is the shortest decimal; bits that it would not bring back (and those of no number) are written as bits.
macro_rules! floats { ($($t:ty, $wide:ty, $narrow:expr, $shown:expr;)*) => { $(impl Part for $t {
    fn show(&self, out: &mut String) {
        let text = $shown(*self);
        if self.is_finite() && <$t as Part>::parse(&text).is_some_and(|x| x.to_bits() == self.to_bits()) {
            out.push_str(&text);
        } else {
            let _ = write!(out, "0x{:0width$X}", self.to_bits(), width = 2 * size_of::<$t>());
        }
    }
    fn parse(text: &str) -> Option<$t> {
        match text {
            "inf" => return Some(<$t>::INFINITY),
            "-inf" => return Some(<$t>::NEG_INFINITY),
            "nan" => return Some(<$t>::NAN),
            _ => {}
        }
        let narrow: fn($wide) -> $t = $narrow;
        // A number that overflows is a mistake: infinity has its own word.
        text.parse::<$wide>().ok().map(narrow).filter(|x| x.is_finite())
    }
})* } }
floats! {
    f32, f32, |x| x, |x: f32| format!("{x:?}");
    f64, f64, |x| x, |x: f64| format!("{x:?}");
    f16, f64, f16_from_f64, |x: f16| shortest(x.to_f32(), |t| f16::parse(t).is_some_and(|y| y == x));
    bf16, f64, bf16_from_f64, |x: bf16| shortest(x.to_f32(), |t| bf16::parse(t).is_some_and(|y| y == x));
}

/// The decimal of fewest digits that `accept` takes for `x`, or all digits of `x`.
fn shortest(x: f32, accept: impl Fn(&str) -> bool) -> String {
    let rounded = (0..6).filter_map(|digits| format!("{x:.digits$e}").parse::<f32>().ok()).map(|y| format!("{y:?}"));
    rounded.into_iter().find(|t| accept(t)).unwrap_or_else(|| format!("{x:?}"))
}

macro_rules! scalars { ($($t:ty)*) => { $(impl ElementText for $t {
    fn write(&self, out: &mut String) { self.show(out) }
    fn read(lex: &mut Lexer) -> Result<$t> { read_part(lex) }
})* } }
scalars!(bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
macro_rules! complex { ($($t:ty)*) => { $(impl ElementText for Complex<$t> {
    fn write(&self, out: &mut String) {
        out.push('(');
        self.re.show(out);
        out.push_str(", ");
        self.im.show(out);
        out.push(')');
    }
    fn read(lex: &mut Lexer) -> Result<Self> {
        if !lex.eat('(')? {
            return Err(lex.expected(&format!("`(real, imaginary)`, an element of {}", Self::DTYPE)));
        }
        let re = read_part(lex)?;
        lex.expect(',')?;
        let im = read_part(lex)?;
        lex.expect(')')?;
        Ok(Complex::new(re, im))
    }
})* } }
complex!(f32 f64);
