//! Functions of complex numbers on their parts: what StableHLO lacks, and orders, which it has of reals only.
//!
//! Inverse functions after W. Kahan, "Branch cuts for complex elementary functions, or much ado about nothing's sign
//! bit" (1987): the signs of zeros tell the sides of the cuts, so none is lost in passing.

use super::elementary::{self, asinh as real_asinh};
use super::parts::{emit, with_sign_of};
use evoxc_core::{C64, DType, F32, F64};
use evoxc_ir::{Direction, Prim, SortOrder};
use evoxc_trace::Sym;
use std::f64::consts::{FRAC_PI_2, LN_2, LOG2_E};

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
    /// The real asinh of `x`; far out, where `x` may have overflowed, the logarithm of twice the modulus, with the sign
    /// of `sign`.
    fn asinh_or_far(self, x: Sym, sign: Sym) -> Sym {
        let size = self.re.abs().maximum(self.im.abs());
        let far = size.gt(1e100);
        let scale = far.select(size, 1.0);
        let (a, b) = (self.re / scale, self.im / scale);
        let away = scale.log() + (a * a + b * b).log() * 0.5 + LN_2;
        far.select(with_sign_of(away, sign), real_asinh(far.select(0.0, x)))
    }
    /// A value; where a part is infinite and none NaN, instead what `f` gives of its direction, the signs of zeros kept:
    /// an infinite part counts as 1, any other as 0.
    fn or_at_infinity(self, value: Parts, f: impl FnOnce(Sym, Sym) -> Parts) -> Parts {
        let infinite = |x: Sym| x.abs().eq(f64::INFINITY);
        let unit = |x: Sym| with_sign_of(infinite(x).select(x.ones_like(), x.zeros_like()), x);
        let numbers = self.re.eq(self.re) & self.im.eq(self.im);
        let there = (infinite(self.re) | infinite(self.im)) & numbers;
        let limit = f(unit(self.re), unit(self.im));
        Parts { re: there.select(limit.re, value.re), im: there.select(limit.im, value.im) }
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
    let re = z.re.atan2(minus.product_re(plus));
    z.or_at_infinity(Parts { re, im: z.asinh_or_far(minus.conj_product_im(plus), z.im) }, |re, im| Parts {
        re: re.atan2(im.abs()),
        im: with_sign_of(im.full_like(f64::INFINITY), im),
    })
}

pub(super) fn acos(z: Parts) -> Parts {
    let (minus, plus) = (z.one_minus().sqrt(), z.one_plus().sqrt());
    z.or_at_infinity(
        Parts { re: minus.re.atan2(plus.re) * 2.0, im: z.asinh_or_far(plus.conj_product_im(minus), -z.im) },
        |re, im| Parts { re: im.abs().atan2(re), im: with_sign_of(im.full_like(f64::INFINITY), -im) },
    )
}

pub(super) fn acosh(z: Parts) -> Parts {
    let (minus, plus) = (Parts { re: z.re - 1.0, im: z.im }.sqrt(), z.one_plus().sqrt());
    z.or_at_infinity(
        Parts { re: z.asinh_or_far(minus.conj_product_re(plus), z.re.ones_like()), im: minus.im.atan2(plus.re) * 2.0 },
        |re, im| Parts { re: re.full_like(f64::INFINITY), im: im.atan2(re) },
    )
}

pub(super) fn asinh(z: Parts) -> Parts {
    asin(z.times_i()).over_i()
}

pub(super) fn atan(z: Parts) -> Parts {
    atanh(z.times_i()).over_i()
}

/// With x = |re|, the real part is a quarter of log1p(4x/((1 - x)² + y²)), and the imaginary part half the angle of
/// (2y, (1 - x)(1 + x) - y²). Far out these are x/(x² + y²) and a right angle, which no square may overflow for; at x = 1,
/// where y² may vanish, the real part is half the logarithm of 2/|y|.
pub(super) fn atanh(z: Parts) -> Parts {
    let (x, y) = (z.re.abs(), z.im);
    let size = x.maximum(y.abs());
    let far = size.gt(1e100);
    let (near_x, near_y) = (far.select(0.0, x), far.select(0.0, y));
    let rest = 1.0 - near_x;
    let re = (near_x * 4.0 / (rest * rest + near_y * near_y)).log1p() * 0.25;
    let pole = near_x.eq(1.0) & near_y.abs().lt(1e-150);
    let re = pole.select((near_y.abs().log() - LN_2) * -0.5, re);
    let im = (near_y * 2.0).atan2(rest * (near_x + 1.0) - near_y * near_y) * 0.5;
    let scale = far.select(size, 1.0);
    let (a, b) = (x / scale, y / scale);
    // Of an infinite number the quotients are NaN, and the real part is 0.
    let away = size.eq(f64::INFINITY).select(0.0, a / (a * a + b * b) / scale);
    let re = with_sign_of(far.select(away, re), z.re);
    Parts { re, im: far.select(with_sign_of(y.full_like(FRAC_PI_2), y), im) }
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
