//! What special functions are made of: power series, Chebyshev series, and logarithms without cancellation. Every branch
//! that is not taken is given operands at which it is finite, so that its derivative is too.

use super::checks::{float, known, same_dtype};
use super::parts::convert;
use crate::operand::together;
use crate::{Operand, Sym};
use evoxc_core::{DType, F64};

/// Operands of one float dtype, broadcast together, and as wide as functions are computed in.
pub(crate) struct Operands<const N: usize> {
    pub x: [Sym; N],
    /// What they came as, which is what the result is rounded to.
    pub dtype: DType,
}

impl<const N: usize> Operands<N> {
    /// Is it computed in less than f64?
    pub fn single(&self) -> bool {
        self.dtype != F64
    }
    #[track_caller]
    pub fn round(&self, y: Sym) -> Sym {
        convert(y, self.dtype)
    }
}

/// One operand, f16 and bf16 as f32; or a recorded error.
#[track_caller]
pub(crate) fn operand(op: &str, x: Sym) -> Option<Operands<1>> {
    let t = float(op, x)?;
    Some(Operands { x: [convert(x, t.dtype.accumulator())], dtype: t.dtype })
}

/// Two operands, as [`operand`].
#[track_caller]
pub(crate) fn operands(op: &str, a: Sym, b: impl Operand) -> Option<Operands<2>> {
    let (a, b, t) = super::checks::two_floats(op, a, b)?;
    let wide = t.dtype.accumulator();
    Some(Operands { x: [convert(a, wide), convert(b, wide)], dtype: t.dtype })
}

/// Three operands, as [`operand`].
#[track_caller]
pub(crate) fn three_operands(op: &str, a: Sym, b: impl Operand, c: impl Operand) -> Option<Operands<3>> {
    let t = float(op, a)?;
    let (a, b) = together(op, a, b)?;
    let (a, c) = together(op, a, c)?;
    let (b, c) = together(op, b, c)?;
    same_dtype(op, a, b)?;
    same_dtype(op, a, c)?;
    known(op, b)?;
    let wide = t.dtype.accumulator();
    Some(Operands { x: [convert(a, wide), convert(b, wide), convert(c, wide)], dtype: t.dtype })
}

/// Σ c[k]·xᵏ, by Horner's rule.
#[track_caller]
pub(crate) fn power_series(x: Sym, c: &[f64]) -> Sym {
    let Some((&last, rest)) = c.split_last() else { return x.zeros_like() };
    let Some((&before, rest)) = rest.split_last() else { return x.full_like(last) };
    let mut sum = x * last + before;
    for &c in rest.iter().rev() {
        sum = sum * x + c;
    }
    sum
}

/// c[0]/2 + Σ c[k]·T_k(x), by Clenshaw's recurrence.
#[track_caller]
pub(crate) fn chebyshev(x: Sym, c: &[f64]) -> Sym {
    let Some((&first, rest)) = c.split_first() else { return x.zeros_like() };
    let twice = x + x;
    let (mut b, mut before) = (None, None);
    for &c in rest.iter().rev() {
        let next = match (b, before) {
            (None, _) => x.full_like(c),
            (Some(b), None) => twice * b + c,
            (Some(b), Some(p)) => twice * b - p + c,
        };
        (before, b) = (b, Some(next));
    }
    match (b, before) {
        (Some(b), Some(p)) => x * b - p + first / 2.0,
        (Some(b), None) => x * b + first / 2.0,
        (None, _) => x.full_like(first / 2.0),
    }
}

/// (u - log(1 + u))/u² for |u| ≤ ½. With s = u/(2 + u), log(1 + u) = 2·atanh(s) is a series in s.
#[track_caller]
pub(crate) fn excess_quotient(u: Sym, single: bool) -> Sym {
    let s = u / (u + 2.0);
    let terms = if single { 8 } else { 18 };
    let odd: Vec<f64> = (0..terms).map(|k| 1.0 / (2 * k + 3) as f64).collect();
    let rest = 1.0 - s;
    rest * (1.0 - s * rest * power_series(s * s, &odd)) * 0.5
}

/// u - log(1 + u) without cancellation; `ratio` is 1 + u, exact where u is near -1.
#[track_caller]
pub(crate) fn excess(u: Sym, ratio: Sym, single: bool) -> Sym {
    let near = u.abs().le(0.5);
    let small = near.select(u, 0);
    let far = u - near.select(1, ratio).log();
    near.select(small * small * excess_quotient(small, single), far)
}

/// log Γ(a) - ((a - ½)·log a - a + ½·log 2π) for a ≥ 10: Stirling's series.
#[track_caller]
pub(crate) fn stirling(a: Sym) -> Sym {
    let c = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360360.0,
        1.0 / 156.0,
        -3617.0 / 122400.0,
    ];
    let inverse = a.reciprocal();
    power_series(inverse * inverse, &c) * inverse
}

/// log Γ(1 + a) for 0 ≤ a ≤ 2, exact near 0.
#[track_caller]
pub(crate) fn lgamma_1p(a: Sym) -> Sym {
    const EULER: f64 = 0.5772156649015329;
    let near = a.le(0.5);
    let small = near.select(a, 0);
    let series = small * (power_series(small, &LGAMMA_1P) * small + (1.0 - EULER)) - small.log1p();
    near.select(series, (a + 1.0).lgamma())
}

/// (-1)ᵏ(ζ(k) - 1)/k from k = 2.
const LGAMMA_1P: [f64; 28] = [
    0.3224670334241133,
    -0.0673523010531981,
    0.020580808427784553,
    -0.007385551028673988,
    0.002890510330741523,
    -0.0011927539117032612,
    0.0005096695247430426,
    -0.00022315475845357936,
    9.945751278180857e-05,
    -4.4926236738133156e-05,
    2.0507212775670688e-05,
    -9.439488275268398e-06,
    4.3748667899074865e-06,
    -2.039215753801366e-06,
    9.551412130407415e-07,
    -4.492469198764565e-07,
    2.1207184805554667e-07,
    -1.0043224823968102e-07,
    4.76981016936398e-08,
    -2.2711094608943164e-08,
    1.0838659214896953e-08,
    -5.183475041970047e-09,
    2.4836745438024785e-09,
    -1.1921401405860912e-09,
    5.731367241678861e-10,
    -2.7595228851242334e-10,
    1.3304764374244491e-10,
    -6.422964563838102e-11,
];
