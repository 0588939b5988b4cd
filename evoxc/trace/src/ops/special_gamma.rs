//! The incomplete gamma functions.

use super::series::{Operands, excess_quotient, lgamma_1p, operands, power_series, stirling};
use crate::{Operand, Sym, builder, fori_loop};
use std::f64::consts::PI;

impl Sym {
    /// The lower incomplete gamma function, regularised: P(a, x) = ∫₀ˣ tᵃ⁻¹e⁻ᵗ dt / Γ(a), for a = `self` ≥ 0 and x ≥ 0
    /// (else NaN), as `scipy.special.gammainc`. Element-wise, broadcast together; real floats of one dtype, f16 and
    /// bf16 computed in f32.
    ///
    /// By a power series for x below a, a continued fraction above, and Temme's uniform expansion (SIAM J. Math. Anal.
    /// 10, 1979) near a ≥ 100. All take a fixed number of steps, so that it differentiates in both modes and by both
    /// arguments. Relative error about 1e-13 in f64, growing with -log P.
    ///
    /// # Errors
    /// Another dtype, two dtypes, shapes that do not broadcast.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let p = evaluate(|x: Sym| x.ones_like().igamma(x), Tensor::from(2f64), &Interp)?;
    /// assert!((p.item::<f64>()? - (1.0 - f64::exp(-2.0))).abs() < 1e-15);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn igamma(self, x: impl Operand) -> Sym {
        let _at = builder::pin();
        match operands("igamma", self, x) {
            Some(o) => incomplete(&o, false),
            None => Sym::POISON,
        }
    }
    /// The upper incomplete gamma function, regularised: Q(a, x) = 1 - P(a, x) without cancellation, as
    /// `scipy.special.gammaincc`. All else as [`Sym::igamma`].
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let q = evaluate(|x: Sym| x.ones_like().igammac(x), Tensor::from(50f64), &Interp)?;
    /// assert!((q.item::<f64>()? / f64::exp(-50.0) - 1.0).abs() < 1e-13);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn igammac(self, x: impl Operand) -> Sym {
        let _at = builder::pin();
        match operands("igammac", self, x) {
            Some(o) => incomplete(&o, true),
            None => Sym::POISON,
        }
    }
}

/// From here on `a` is large: Temme's expansion is exact.
const LARGE: f64 = 100.0;

#[track_caller]
fn incomplete(o: &Operands<2>, upper: bool) -> Sym {
    let [a0, x0] = o.x;
    let single = o.single();
    let sound = a0.gt(0) & x0.gt(0) & a0.lt(f64::INFINITY) & x0.lt(f64::INFINITY);
    let (a, x) = (sound.select(a0, 1), sound.select(x0, 1));

    // Of the logarithm of xᵃe⁻ˣ/Γ(a + 1) for a ≥ 10 the large terms cancel beforehand.
    let direct = a.lt(10);
    let (al, xl) = (direct.select(10, a), direct.select(10, x));
    let u = (xl - al) / al;
    let near = u.abs().le(0.5);
    let un = near.select(u, 0);
    let quotient = excess_quotient(un, single);
    let near_excess = un * un * quotient;
    let ratio = near.select(1, xl / al);
    let excess = near.select(near_excess, ratio - 1.0 - ratio.log());
    let by_stirling = (-al * excess - stirling(al)).exp() / (al * (2.0 * PI)).sqrt();
    let ad = direct.select(a, 1);
    let factor = direct.select((ad * x.log() - x - (ad + 1.0).lgamma()).exp(), by_stirling);

    let temme = a.ge(LARGE) & u.abs().le(0.3);
    let low = x.le(a) | x.le(1.1);
    let lower_tail = factor * series(&(low & !temme), a, x, if single { 60 } else { 102 });
    let upper_tail = factor * a * fraction(&!(low | temme), a, x, if single { 30 } else { 100 });
    let regular = if upper {
        let small = x.le(1.1) & x.le(0.5).select((a * x.log()).ge(-0.4), (x * 1.1).ge(a));
        let rest = low.select(1.0 - lower_tail, upper_tail);
        small.select(small_complement(small.select(a, 1), small.select(x, 1)), rest)
    } else {
        low.select(lower_tail, 1.0 - upper_tail)
    };
    let uniform = temme_expansion(temme.select(a, LARGE), un, quotient, near_excess, single, upper);
    let value = temme.select(uniform, regular);

    let zero = (x0.eq(0) & a0.gt(0)) | (a0.eq(f64::INFINITY) & x0.ge(0) & x0.lt(f64::INFINITY));
    let one = (a0.eq(0) & x0.gt(0)) | (x0.eq(f64::INFINITY) & a0.ge(0) & a0.lt(f64::INFINITY));
    let (at_zero, at_one) = if upper { (1, 0) } else { (0, 1) };
    let edge = zero.select(at_zero, one.select(at_one, x0.full_like(f64::NAN)));
    o.round(sound.select(value, edge))
}

/// 1 + x/(a+1)·(1 + x/(a+2)·(1 + …)), from within.
#[track_caller]
fn series(used: &Sym, a: Sym, x: Sym, steps: i64) -> Sym {
    let (a, x) = (used.select(a, 1), used.select(x, 1));
    fori_loop(steps, x.ones_like(), |i, sum| {
        let k = steps - count(i, a);
        x / (a + k) * sum + 1.0
    })
}

/// Legendre's continued fraction of Γ(a, x)/(xᵃe⁻ˣ), from within.
#[track_caller]
fn fraction(used: &Sym, a: Sym, x: Sym, steps: i64) -> Sym {
    let (a, x) = (used.select(a, 1), used.select(x, 2));
    let start = x - a + 1.0;
    let inner = fori_loop(steps, x.zeros_like(), |i, rest| {
        let k = steps - count(i, a);
        (a - k) * k / (start + k * 2.0 + rest)
    });
    (start + inner).reciprocal()
}

/// The number of a step, of x's dtype.
#[track_caller]
pub(crate) fn count(i: Sym, x: Sym) -> Sym {
    match builder::with_type(x, |t| t.dtype) {
        Some(dtype) => super::parts::convert(i, dtype),
        None => Sym::POISON,
    }
}

/// Q for small a and x, where 1 - P would cancel (Cephes, igamc_series).
#[track_caller]
fn small_complement(a: Sym, x: Sym) -> Sym {
    let mut sum = x.zeros_like();
    for n in (1..=20).rev() {
        sum = ((a + n as f64).reciprocal() + sum) * (x * (-1.0 / n as f64));
    }
    let log = a * x.log() - lgamma_1p(a);
    -log.expm1() - a * log.exp() * sum
}

/// ½·erfc(±η√(a/2)) ± e^(-aη²/2)/√(2πa)·Σ C_k(η)a⁻ᵏ, where η²/2 is the excess of u = x/a - 1 over log(1 + u).
#[track_caller]
fn temme_expansion(a: Sym, u: Sym, quotient: Sym, excess: Sym, single: bool, upper: bool) -> Sym {
    let eta = u * (quotient * 2.0).sqrt();
    let all: [&[f64]; 7] = [&C0, &C1, &C2, &C3, &C4, &C5, &C6];
    let lengths: &[usize] = if single { &[7, 4, 2, 1] } else { &[15, 12, 10, 7, 5, 3, 1] };
    let inverse = a.reciprocal();
    let mut sum: Option<Sym> = None;
    for (c, &n) in all.iter().zip(lengths).rev() {
        let term = power_series(eta, c.get(..n).unwrap_or(c));
        sum = Some(sum.map_or(term, |s| s * inverse + term));
    }
    let rest = sum.unwrap_or(eta) * (-a * excess).exp() / (a * (2.0 * PI)).sqrt();
    let y = eta * (a * 0.5).sqrt();
    if upper { y.erfc() * 0.5 + rest } else { (-y).erfc() * 0.5 - rest }
}

// Taylor coefficients of C_k(η), from the recurrence of Temme 1979 (DLMF 8.12.12) in exact arithmetic.
const C0: [f64; 15] = [
    -0.3333333333333333,
    0.08333333333333333,
    -0.014814814814814815,
    0.0011574074074074073,
    0.0003527336860670194,
    -0.0001787551440329218,
    3.919263178522438e-05,
    -2.185448510679992e-06,
    -1.85406221071516e-06,
    8.296711340953087e-07,
    -1.7665952736826078e-07,
    6.707853543401498e-09,
    1.0261809784240309e-08,
    -4.382036018453353e-09,
    9.14769958223679e-10,
];
const C1: [f64; 12] = [
    -0.001851851851851852,
    -0.003472222222222222,
    0.0026455026455026454,
    -0.0009902263374485596,
    0.00020576131687242798,
    -4.018775720164609e-07,
    -1.8098550334489977e-05,
    7.64916091608111e-06,
    -1.6120900894563446e-06,
    4.647127802807434e-09,
    1.378633446915721e-07,
    -5.752545603517705e-08,
];
const C2: [f64; 10] = [
    0.004133597883597883,
    -0.0026813271604938273,
    0.0007716049382716049,
    2.0093878600823047e-06,
    -0.0001073665322636516,
    5.2923448829120125e-05,
    -1.2760635188618728e-05,
    3.423578734096138e-08,
    1.3721957309062934e-06,
    -6.298992138380055e-07,
];
const C3: [f64; 7] = [
    0.0006494341563786008,
    0.00022947209362139917,
    -0.0004691894943952557,
    0.00026772063206283885,
    -7.561801671883977e-05,
    -2.396505113867297e-07,
    1.1082654115347302e-05,
];
const C4: [f64; 5] = [
    -0.0008618882909167117,
    0.0007840392217200666,
    -0.0002990724803031902,
    -1.4638452578843418e-06,
    6.641498215465122e-05,
];
const C5: [f64; 3] = [-0.00033679855336635813, -6.972813758365857e-05, 0.0002772753244959392];
const C6: [f64; 1] = [0.0005313079364639922];
