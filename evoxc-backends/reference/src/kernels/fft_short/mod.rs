//! Fourier transforms of short lines, step by step as Swarztrauber's FFTPACK orders them.
//!
//! Where parts of a result cancel, single precision shows in which order they were summed. Most libraries descend from
//! FFTPACK and so agree to the last bit; so does this for lines below [`SHORT`] points. Longer ones are left to others.

mod complex;
mod real;
mod roots;
#[cfg(test)]
mod tests;

pub(crate) use complex::Short;
pub(crate) use real::ShortReal;

use std::ops::{Add, Mul, Neg, Sub};

/// Lines of fewer points are short.
pub(crate) const SHORT: usize = 50;

/// A real number of one precision.
pub(crate) trait Part:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self> + Default
{
    /// Rounded from double precision.
    fn of(x: f64) -> Self;
}
impl Part for f32 {
    fn of(x: f64) -> f32 {
        x as f32
    }
}
impl Part for f64 {
    fn of(x: f64) -> f64 {
        x
    }
}

/// The factors of a length, smallest odd ones last; `first` are the even ones to take out before 2.
fn factors(mut n: usize, first: &[usize]) -> Vec<usize> {
    let mut out = vec![];
    for &f in first {
        while n.is_multiple_of(f) {
            out.push(f);
            n /= f;
        }
    }
    if n.is_multiple_of(2) {
        n /= 2;
        out.push(2);
        let last = out.len() - 1;
        out.swap(0, last);
    }
    let mut d = 3;
    while d * d <= n {
        while n.is_multiple_of(d) {
            out.push(d);
            n /= d;
        }
        d += 2;
    }
    if n > 1 {
        out.push(n);
    }
    out
}
