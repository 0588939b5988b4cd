//! The modified Bessel functions of the first kind, of orders 0 and 1, as Cephes has them: a Chebyshev series up to 8, and
//! one in 1/x beyond.

use super::series::{Operands, chebyshev, operand};
use crate::{Sym, builder};

/// e^-|x|·I(x) but for the sign: two series, one in use for each element, and what the first one is multiplied by.
/// `size` is |x|.
#[track_caller]
fn scaled(o: &Operands<1>, size: Sym, near: (&[f64], usize), far: (&[f64], usize), odd: bool) -> Sym {
    let [x] = o.x;
    fn part(c: (&[f64], usize), single: bool) -> &[f64] {
        if single { c.0.get(..c.1).unwrap_or(c.0) } else { c.0 }
    }
    let small = size.le(8);
    let (s, l) = (small.select(size, 8), small.select(8, size));
    let first = chebyshev(s * 0.25 - 1.0, part(near, o.single()));
    let second = chebyshev(16.0 / l - 1.0, part(far, o.single())) / l.sqrt();
    if odd {
        // x itself, not |x|: the derivative at 0 is ½.
        return small.select(first * x, x.lt(0).select(-second, second));
    }
    // NaN is not small, and stays.
    small.select(first, second)
}

impl Sym {
    /// e^-|x|·I₀(x), the exponentially scaled modified Bessel function, as `scipy.special.i0e`. Element-wise, of x's
    /// shape and dtype, a real float (f16 and bf16 computed in f32).
    ///
    /// # Errors
    /// Another dtype.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let y = evaluate(|x: Sym| x.i0e(), Tensor::from([0f64, 1.0]), &Interp)?.to_vec::<f64>()?;
    /// assert!((y[0] - 1.0).abs() < 1e-15 && (y[1] - 0.4657596075936404).abs() < 1e-15);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn i0e(self) -> Sym {
        let _at = builder::pin();
        match operand("i0e", self) {
            Some(o) => o.round(scaled(&o, o.x[0].abs(), (&A0, 21), (&B0, 7), false)),
            None => Sym::POISON,
        }
    }
    /// e^-|x|·I₁(x), as `scipy.special.i1e`. All else as [`Sym::i0e`].
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let y = evaluate(|x: Sym| x.i1e(), Tensor::from([0f64, 1.0]), &Interp)?.to_vec::<f64>()?;
    /// assert!(y[0] == 0.0 && (y[1] - 0.2079104153497085).abs() < 1e-15);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn i1e(self) -> Sym {
        let _at = builder::pin();
        match operand("i1e", self) {
            Some(o) => o.round(scaled(&o, o.x[0].abs(), (&A1, 20), (&B1, 7), true)),
            None => Sym::POISON,
        }
    }
    /// The modified Bessel function I₀(x), as `scipy.special.i0`; inf where e^|x| is. All else as [`Sym::i0e`].
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let y = evaluate(|x: Sym| x.i0(), Tensor::from(1f64), &Interp)?;
    /// assert!((y.item::<f64>()? - 1.2660658777520084).abs() < 1e-14);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn i0(self) -> Sym {
        let _at = builder::pin();
        match operand("i0", self) {
            Some(o) => unscaled(&o, |size| scaled(&o, size, (&A0, 21), (&B0, 7), false), false),
            None => Sym::POISON,
        }
    }
    /// The modified Bessel function I₁(x), as `scipy.special.i1`; infinite where e^|x| is. All else as [`Sym::i0e`].
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let y = evaluate(|x: Sym| x.i1(), Tensor::from(1f64), &Interp)?;
    /// assert!((y.item::<f64>()? - 0.5651591039924851).abs() < 1e-14);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn i1(self) -> Sym {
        let _at = builder::pin();
        match operand("i1", self) {
            Some(o) => unscaled(&o, |size| scaled(&o, size, (&A1, 20), (&B1, 7), true), true),
            None => Sym::POISON,
        }
    }
}

/// Without the factor e^-|x|; infinite at infinity, where it is 0.
#[track_caller]
fn unscaled(o: &Operands<1>, scaled: impl Fn(Sym) -> Sym, odd: bool) -> Sym {
    let [x] = o.x;
    // Not `abs`, whose derivative 0 at 0 would be lost to the second derivatives of a function that has no kink.
    let size = x.lt(0).select(-x, x);
    let infinite = size.eq(f64::INFINITY);
    let value = infinite.select(1, size).exp() * scaled(size);
    o.round(infinite.select(if odd { x } else { size }, value))
}

// Chebyshev coefficients of e⁻ˣI₀(x) and e⁻ˣI₁(x)/x on [0, 8] in x/4 - 1 (A), and of e⁻ˣ√x·I(x) beyond 8 in 16/x - 1
// (B), worked out with 80 digits.
const A0: [f64; 30] = [
    0.6767952744094761,
    -0.3046826723431984,
    0.17162090152220877,
    -0.09490109704804764,
    0.04930528423967071,
    -0.02373741480589947,
    0.010546460394594998,
    -0.004324309995050576,
    0.0016394756169413357,
    -0.0005763755745385824,
    0.00018850288509584165,
    -5.754195010082104e-05,
    1.6448448070728896e-05,
    -4.4167383584587505e-06,
    1.1173875391201037e-06,
    -2.670793853940612e-07,
    6.046995022541919e-08,
    -1.300025009986248e-08,
    2.6598237246823866e-09,
    -5.189795601635263e-10,
    9.675809035373237e-11,
    -1.726826291441556e-11,
    2.95505266312964e-12,
    -4.856446783111929e-13,
    7.676185498604936e-14,
    -1.1685332877993451e-14,
    1.715391285555133e-15,
    -2.431279846547955e-16,
    3.3307945188222384e-17,
    -4.4153416464793395e-18,
];
const B0: [f64; 25] = [
    0.8044904110141088,
    0.0033691164782556943,
    6.889758346916825e-05,
    2.8913705208347567e-06,
    2.0489185894690638e-07,
    2.266668990498178e-08,
    3.3962320257083865e-09,
    4.94060238822497e-10,
    1.1889147107846439e-11,
    -3.1499165279632416e-11,
    -1.3215811840447713e-11,
    -1.7941785315068062e-12,
    7.180124451383666e-13,
    3.8527783827421426e-13,
    1.54008621752141e-14,
    -4.150569347287222e-14,
    -9.554846698828307e-15,
    3.8116806693526224e-15,
    1.7725601330565263e-15,
    -3.425485619677219e-16,
    -2.8276239805165836e-16,
    3.461222867697461e-17,
    4.46562142029676e-17,
    -4.830504485944182e-18,
    -7.233180487874754e-18,
];
const A1: [f64; 29] = [
    0.25258718644363365,
    -0.17641651835783406,
    0.1026436586898471,
    -0.05294598120809499,
    0.024726449030626516,
    -0.010564084894626197,
    0.004156422944312888,
    -0.0015135724506312532,
    0.0005122859561685758,
    -0.00016176081582589674,
    4.781565107550054e-05,
    -1.3273163656039436e-05,
    3.4702513081376785e-06,
    -8.568720264695455e-07,
    2.0032947535521353e-07,
    -4.445059128796328e-08,
    9.381537386495773e-09,
    -1.8872497517228294e-09,
    3.625590281552117e-10,
    -6.663489723502027e-11,
    1.1736186298890901e-11,
    -1.9839743977649436e-12,
    3.223793365945575e-13,
    -5.042185504727912e-14,
    7.600684294735408e-15,
    -1.1055969477353862e-15,
    1.5536319577362005e-16,
    -2.111421214358166e-17,
    2.7779141127610464e-18,
];
const B1: [f64; 25] = [
    0.7785762350182801,
    -0.009761097491361469,
    -0.00011058893876262371,
    -3.882564808877691e-06,
    -2.512236237870209e-07,
    -2.6314688468895196e-08,
    -3.835380385964237e-09,
    -5.589743462196584e-10,
    -1.8974958123505413e-11,
    3.2526035830154884e-11,
    1.4125807436613782e-11,
    2.0356285441470896e-12,
    -7.198551776245908e-13,
    -4.0835511110921974e-13,
    -2.1015418427726643e-14,
    4.272440016711951e-14,
    1.0420276984128802e-14,
    -3.8144030724370075e-15,
    -1.8803547755107825e-15,
    3.3082023109209285e-16,
    2.96262899764595e-16,
    -3.209525921993424e-17,
    -4.6503053684893586e-17,
    4.414348323071708e-18,
    7.517296310842105e-18,
];
