//! lgamma and digamma, in f64.
//!
//! Recurrences bring moderate arguments near to 2, where a polynomial holds the zeros as exact factors; large ones have
//! Stirling's series, negative ones the reflection (M. Abramowitz and I. A. Stegun, "Handbook of mathematical functions",
//! 6.1.15, 6.1.17, 6.1.41, 6.3.5, 6.3.7, 6.3.18). The polynomials interpolate at Chebyshev nodes, to below half an
//! epsilon; computed with mpmath in 60 digits. Coefficients are the highest first.

use super::parts::horner;
use evoxc_core::F64;
use evoxc_trace::Sym;
use std::f64::consts::PI;

/// log |Γ(x)|: infinite at 0 and the negative integers.
pub(super) fn lgamma(x: Sym) -> Sym {
    let d = x.dtype();
    let x = x.cast(F64);
    let a = x.abs();
    let positive = lgamma_of_positive(a);
    // Γ(x) Γ(-x) = -π/(x sin πx); the fraction alone, so that the sine stays exact for large x.
    let negative = x.lt(0.0);
    let safe = negative.select(a, 0.5);
    let sine = sin_pi(safe - safe.round_even()).abs();
    let reflected = -(safe * (sine / PI)).log() - positive;
    // Both are infinite there.
    let reflected = (a.eq(a.floor()) | a.eq(f64::INFINITY)).select(f64::INFINITY, reflected);
    negative.select(reflected, positive).cast(d)
}

/// Of x < 2.5 it is the value at y in [1.5, 2.5) less log(y-1 …); of x < 8 the value at y plus the logarithm of a
/// product; from 8 on Stirling's series.
fn lgamma_of_positive(x: Sym) -> Sym {
    let (tiny, small, large) = (x.lt(0.5), x.lt(1.5), x.ge(8.0));
    let (mut y, mut product) = (large.select(2.0, x), x.ones_like());
    for _ in 0..6 {
        let above = y.ge(2.5);
        y = above.select(y - 1.0, y);
        product = above.select(product * y, product);
    }
    // Γ(x) = Γ(x + 2)/(x (x + 1)), Γ(x) = Γ(x + 1)/x; the zeros at 1 and 2 as factors of x itself.
    let zeros = tiny.select(x * (x + 1.0), small.select(x * (x - 1.0), (y - 1.0) * (y - 2.0)));
    let at = tiny.select(x, small.select(x - 1.0, y - 2.0));
    let shifted = tiny.select(x * (x + 1.0), small.select(x, product)).log();
    let near = large.select(0.0, zeros) * horner(large.select(0.0, at), &LGAMMA) + small.select(-shifted, shifted);
    let far = large.select(x, 8.0);
    let inverse = 1.0 / far;
    let series = horner(inverse * inverse, &STIRLING) * inverse;
    // Half the logarithm of 2π, less ½.
    let stirling = (far - 0.5) * (far.log() - 1.0) + (series + 0.4189385332046727);
    large.select(stirling, near)
}

/// The derivative of lgamma: NaN at 0 and the negative integers.
pub(super) fn digamma(x: Sym) -> Sym {
    let d = x.dtype();
    let x = x.cast(F64);
    let negative = x.le(0.0);
    let positive = digamma_of_positive(negative.select(1.0 - x, x));
    let safe = negative.select(x, 0.25);
    let fraction = safe - safe.round_even();
    let pole = negative & safe.eq(safe.floor());
    let reflected = positive - cos_pi(fraction) * PI / sin_pi(fraction);
    pole.select(f64::NAN, negative.select(reflected, positive)).cast(d)
}

fn digamma_of_positive(x: Sym) -> Sym {
    let (small, large) = (x.lt(1.0), x.ge(9.25));
    let mut y = large.select(2.0, small.select(x + 1.0, x));
    let mut sum = small.select(-1.0 / small.select(x, 1.0), 0.0);
    for _ in 0..7 {
        let above = y.ge(2.25);
        y = above.select(y - 1.0, y);
        sum = above.select(sum + 1.0 / y, sum);
    }
    // The positive root, in two parts.
    let from_root = (y - 1.4616321449683622) - 9.549995429965697e-17;
    let near = from_root * horner(y - 1.625, &DIGAMMA) + sum;
    let far = large.select(x, 10.0);
    let inverse = 1.0 / far;
    let square = inverse * inverse;
    let asymptotic = far.log() - (inverse * 0.5 + horner(square, &ASYMPTOTIC) * square);
    large.select(asymptotic, near)
}

/// sin πx of |x| ≤ ½. Not every consumer has the sine of an f64.
fn sin_pi(x: Sym) -> Sym {
    x * horner(x * x - 0.125, &SIN_PI)
}

/// cos πx of |x| ≤ ½, the zeros at ±½ as exact factors.
fn cos_pi(x: Sym) -> Sym {
    let a = x.abs();
    (0.5 - a) * (a + 0.5) * horner(x * x - 0.125, &COS_PI)
}

/// sin(πx)/x in x² on [0, ¼].
#[rustfmt::skip]
const SIN_PI: [f64; 9] = [
    7.697826768224191e-07, -2.1133714397803598e-05, 0.00044747103617065145, -0.007027808533771898, 0.07764717237241964,
    -0.5593251868104976, 2.332998758213981, -4.557629442461073, 2.534324262661598,
];

/// cos(πx)/(¼ - x²) in x² on [0, ¼].
#[rustfmt::skip]
const COS_PI: [f64; 9] = [
    1.3391546772153723e-07, -4.132824920477393e-06, 9.989567795282304e-05, -0.0018273890129284088,
    0.024165155002925397, -0.21662584285607467, 1.1944770629161834, -3.4302441606905396, 3.5521267226097057,
];

/// lgamma(x)/((x - 1)(x - 2)) in x - 2 on [1.5, 2.5].
#[rustfmt::skip]
const LGAMMA: [f64; 19] = [
    1.203490776346864e-07, -2.525485342958651e-07, 3.8837480981603403e-07, -8.208987442720822e-07,
    1.8124087986144874e-06, -3.856313609317478e-06, 8.221478918059622e-06, -1.7660194017271152e-05,
    3.816895987618124e-05, -8.309527325533694e-05, 0.00018255263497305119, -0.00040570738897825623,
    0.0009153769223805991, -0.002108130834223415, 0.004998641164695469, -0.012384192193367468, 0.032965000621155836,
    -0.10031730167435393, 0.42278433509846713,
];

/// Stirling's series in 1/x², times x.
#[rustfmt::skip]
const STIRLING: [f64; 9] = [
    43867.0 / 244188.0, -3617.0 / 122400.0, 1.0 / 156.0, -691.0 / 360360.0, 1.0 / 1188.0, -1.0 / 1680.0, 1.0 / 1260.0,
    -1.0 / 360.0, 1.0 / 12.0,
];

/// digamma(x) over the distance from its root, in x - 1.625 on [1, 2.25].
#[rustfmt::skip]
const DIGAMMA: [f64; 24] = [
    -1.525747682606752e-05, 2.4793450060683865e-05, -4.529776886885757e-06, 7.3611159419839125e-06,
    -4.863008623643609e-05, 7.902558711980326e-05, -0.00010682239594076982, 0.00017359803964975777,
    -0.0002901952887359625, 0.00047164794077068705, -0.0007646497287535113, 0.0012431154680376197,
    -0.002021868579040295, 0.0032894516583597097, -0.00535572993251267, 0.008730866220535469, -0.014262521376097959,
    0.023380439996888304, -0.03855782679525716, 0.06426251743231616, -0.10919698588596748, 0.19272012460147286,
    -0.36977496445741087, 0.9015925158282158,
];

/// The asymptotic series of digamma in 1/x², times x².
#[rustfmt::skip]
const ASYMPTOTIC: [f64; 8] = [
    -3617.0 / 8160.0, 1.0 / 12.0, -691.0 / 32760.0, 1.0 / 132.0, -1.0 / 240.0, 1.0 / 252.0, -1.0 / 120.0, 1.0 / 12.0,
];
