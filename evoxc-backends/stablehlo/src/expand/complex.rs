//! Functions of complex numbers on their parts: what StableHLO lacks, and orders, which it has of reals only.
//!
//! Inverse functions after W. Kahan, "Branch cuts for complex elementary functions, or much ado about nothing's sign
//! bit" (1987): the signs of zeros tell the sides of the cuts, so none is lost in passing.

use super::elementary::{self, asinh as real_asinh};
use super::parts::{emit, with_sign_of};
use evoxc_core::{C64, DType, F32, F64};
use evoxc_ir::{Direction, Prim, SortOrder};
use evoxc_trace::Sym;
use std::f64::consts::{LN_2, LOG2_E};

/// A complex number in real parts.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    re: Sym,
    im: Sym,
}

impl Parts {
    /// In f64.
    pub fn wide(z: Sym) -> Parts {
        Parts { re: z.real().cast(F64), im: z.imag().cast(F64) }
    }
    pub fn of(z: Sym) -> Parts {
        Parts { re: z.real(), im: z.imag() }
    }
    /// The number as a c64 or c128.
    pub fn whole(self, d: DType) -> Sym {
        let part = if d == C64 { F32 } else { F64 };
        self.re.cast(part).complex(self.im.cast(part))
    }
    fn times_i(self) -> Parts {
        Parts { re: -self.im, im: self.re }
    }
    fn over_i(self) -> Parts {
        Parts { re: self.im, im: -self.re }
    }
    fn one_plus(self) -> Parts {
        Parts { re: self.re + 1.0, im: self.im }
    }
    fn one_minus(self) -> Parts {
        Parts { re: 1.0 - self.re, im: -self.im }
    }
    fn modulus(self) -> Sym {
        self.re.complex(self.im).abs()
    }
    /// The principal root: the larger part by a sum of like signs, the other by division.
    fn sqrt(self) -> Parts {
        // An eighth, so that the sum is finite for the largest numbers; 2 is the root of what it is scaled back by.
        let eighth = Parts { re: self.re * 0.125, im: self.im * 0.125 };
        let large = (eighth.re.abs() + eighth.modulus()).sqrt() * 2.0;
        let small = self.im.abs() * 0.5 / large.eq(0.0).select(1.0, large);
        let right = self.re.ge(0.0);
        // An infinite imaginary part makes both parts infinite, whatever the other is.
        let infinite = self.im.abs().eq(f64::INFINITY);
        let part = |x: Sym| infinite.select(f64::INFINITY, x);
        let im = right.select(small, large);
        Parts { re: part(right.select(large, small)), im: with_sign_of(part(im), self.im) }
    }
    /// The real part of the product with another.
    fn product_re(self, o: Parts) -> Sym {
        self.re * o.re - self.im * o.im
    }
    /// The imaginary part of the product of the conjugate with another.
    fn conj_product_im(self, o: Parts) -> Sym {
        self.re * o.im - self.im * o.re
    }
    /// The real part of the product of the conjugate with another.
    fn conj_product_re(self, o: Parts) -> Sym {
        self.re * o.re + self.im * o.im
    }
}

pub(super) fn exp2(z: Parts) -> Parts {
    let scaled = (z.re * LN_2).complex(z.im * LN_2).exp();
    // On the real axis the product with the sine of 0 is 0, also of infinities.
    let real = z.im.eq(0.0);
    Parts { re: real.select((z.re * LN_2).exp(), scaled.real()), im: real.select(z.im, scaled.imag()) }
}

pub(super) fn log2(z: Parts) -> Parts {
    let l = z.re.complex(z.im).log();
    Parts { re: l.real() * LOG2_E, im: l.imag() * LOG2_E }
}

pub(super) fn asin(z: Parts) -> Parts {
    let (minus, plus) = (z.one_minus().sqrt(), z.one_plus().sqrt());
    Parts { re: z.re.atan2(minus.product_re(plus)), im: real_asinh(minus.conj_product_im(plus)) }
}

pub(super) fn acos(z: Parts) -> Parts {
    let (minus, plus) = (z.one_minus().sqrt(), z.one_plus().sqrt());
    Parts { re: minus.re.atan2(plus.re) * 2.0, im: real_asinh(plus.conj_product_im(minus)) }
}

pub(super) fn acosh(z: Parts) -> Parts {
    let (minus, plus) = (Parts { re: z.re - 1.0, im: z.im }.sqrt(), z.one_plus().sqrt());
    Parts { re: real_asinh(minus.conj_product_re(plus)), im: minus.im.atan2(plus.re) * 2.0 }
}

pub(super) fn asinh(z: Parts) -> Parts {
    asin(z.times_i()).over_i()
}

pub(super) fn atan(z: Parts) -> Parts {
    atanh(z.times_i()).over_i()
}

/// The real part is a quarter of log1p(4 re/((1 - re)² + im²)).
pub(super) fn atanh(z: Parts) -> Parts {
    let rest = 1.0 - z.re;
    let far = rest * rest + z.im * z.im;
    let re = (z.re * 4.0 / far).log1p() * 0.25;
    Parts { re, im: (z.im * 2.0).atan2(rest * (z.re + 1.0) - z.im * z.im) * 0.5 }
}

pub(super) fn sinh(z: Parts) -> Parts {
    Parts { re: elementary::sinh(z.re) * z.im.cos(), im: elementary::cosh(z.re) * z.im.sin() }
}

pub(super) fn cosh(z: Parts) -> Parts {
    Parts { re: elementary::cosh(z.re) * z.im.cos(), im: elementary::sinh(z.re) * z.im.sin() }
}

/// By (real, imaginary): in IEEE order nothing is before, after or equal where a part is NaN.
pub(super) fn compare(direction: Direction, order: SortOrder, a: Sym, b: Sym) -> Sym {
    let by = |direction, x: Sym, y: Sym| emit(Prim::Compare { direction, order }, &[x, y]);
    let (ar, ai, br, bi) = (a.real(), a.imag(), b.real(), b.imag());
    let strict = match direction {
        Direction::Eq => return by(Direction::Eq, ar, br) & by(Direction::Eq, ai, bi),
        Direction::Ne => return by(Direction::Ne, ar, br) | by(Direction::Ne, ai, bi),
        Direction::Lt | Direction::Le => Direction::Lt,
        Direction::Gt | Direction::Ge => Direction::Gt,
    };
    let y = by(strict, ar, br) | (by(Direction::Eq, ar, br) & by(direction, ai, bi));
    match order {
        SortOrder::Total => y,
        SortOrder::Ieee => y & ai.eq(ai) & bi.eq(bi),
    }
}

/// The larger (smaller) by (real, imaginary); one with a NaN part wins, the first of two.
pub(super) fn extreme(largest: bool, a: Sym, b: Sym) -> Sym {
    let nan = |z: Sym| z.ne(z);
    let direction = if largest { Direction::Ge } else { Direction::Le };
    (nan(a) | (!nan(b) & compare(direction, SortOrder::Ieee, a, b))).select(a, b)
}

/// Is `a` not below `b`, neither with a NaN part?
pub(super) fn at_least(a: Sym, b: Sym) -> Sym {
    compare(Direction::Ge, SortOrder::Ieee, a, b)
}

/// Is `a` not above `b`, neither with a NaN part?
pub(super) fn at_most(a: Sym, b: Sym) -> Sym {
    compare(Direction::Le, SortOrder::Ieee, a, b)
}
