//! Element-wise primitives as methods: one operand, two operands broadcast together, selection, bounds, conversion.

use super::checks::{boolean, known, same_dtype};
use super::parts::convert;
use crate::operand::{broadcast_shapes, broadcast_to, lift};
use crate::operators::binary;
use crate::{Operand, Opnd, Sym, builder};
use evoxc_core::{DType, spec};
use evoxc_ir::{Binary, Prim, Unary};

macro_rules! unary {
    ($($(#[$d:meta])* $f:ident $U:ident;)*) => { impl Sym { $(
        $(#[$d])*
        #[track_caller]
        pub fn $f(self) -> Sym { builder::emit(Prim::Unary(Unary::$U), &[self]) }
    )* } };
}
unary! {
    /// eˣ, element-wise (floats, complex).
    exp Exp;
    /// 2ˣ, element-wise (real floats).
    exp2 Exp2;
    /// eˣ - 1, exact near 0 (floats, complex).
    expm1 Expm1;
    /// Natural logarithm (floats, complex); NaN below 0 for reals.
    log Log;
    /// Logarithm to base 2 (real floats).
    log2 Log2;
    /// log(1 + x), exact near 0 (floats, complex).
    log1p Log1p;
    /// Square root (floats, complex); NaN below 0 for reals.
    sqrt Sqrt;
    /// 1 / √x (floats, complex).
    rsqrt Rsqrt;
    /// Real cube root (floats).
    cbrt Cbrt;
    /// Sine, of radians (floats, complex).
    sin Sin;
    /// Cosine, of radians (floats, complex).
    cos Cos;
    /// Tangent, of radians (floats, complex).
    tan Tan;
    /// Inverse sine in radians (floats, complex); NaN outside of [-1, 1] for reals.
    asin Asin;
    /// Inverse cosine in radians (floats, complex); NaN outside of [-1, 1] for reals.
    acos Acos;
    /// Inverse tangent in radians (floats, complex).
    atan Atan;
    /// Hyperbolic sine (floats, complex).
    sinh Sinh;
    /// Hyperbolic cosine (floats, complex).
    cosh Cosh;
    /// Hyperbolic tangent (floats, complex).
    tanh Tanh;
    /// Inverse hyperbolic sine (floats, complex).
    asinh Asinh;
    /// Inverse hyperbolic cosine (floats, complex).
    acosh Acosh;
    /// Inverse hyperbolic tangent (floats, complex).
    atanh Atanh;
    /// 1 / (1 + e⁻ˣ) (floats, complex); `sigmoid` is another name.
    logistic Logistic;
    /// The error function (real floats).
    erf Erf;
    /// 1 - erf(x), exact for large x (real floats).
    erfc Erfc;
    /// The inverse of `erf` (real floats).
    erf_inv ErfInv;
    /// log |Γ(x)| (real floats).
    lgamma Lgamma;
    /// The derivative of `lgamma` (real floats).
    digamma Digamma;
    /// The largest integer not above x (real floats).
    floor Floor;
    /// The smallest integer not below x (real floats).
    ceil Ceil;
    /// The nearest integer, halves to even (real floats), as NumPy's `round`.
    round_even RoundEven;
    /// The nearest integer, halves away from 0 (real floats), as Rust's `round`.
    round_away RoundAway;
    /// The integer part (real floats).
    trunc Trunc;
    /// The absolute value; of a complex number its modulus, a real. Signed integers wrap at their minimum.
    abs Abs;
    /// -1, 0 or 1, keeping -0 and NaN; of a complex number x/|x|.
    sign Sign;
    /// The number of bits set (integers).
    popcount Popcount;
    /// The number of leading zero bits (integers).
    count_leading_zeros CountLeadingZeros;
    /// Neither infinite nor NaN (real floats), a bool.
    is_finite IsFinite;
    /// The real part; the identity on reals.
    real Real;
    /// The imaginary part; 0 on reals.
    imag Imag;
    /// The complex conjugate; the identity on reals.
    conj Conj;
}

macro_rules! two {
    ($($(#[$d:meta])* $f:ident $B:ident;)*) => { impl Sym { $(
        $(#[$d])*
        #[track_caller]
        pub fn $f(self, other: impl Operand) -> Sym { binary(Binary::$B, self, other) }
    )* } };
}
two! {
    /// The larger of two, element-wise, broadcast together; NaN propagates, +0 is over -0.
    maximum Max;
    /// The smaller of two, element-wise, broadcast together; NaN propagates, -0 is under +0.
    minimum Min;
    /// `self` to the power `other`, broadcast together. Integers wrap; a negative integer exponent gives 0, or ±1 for
    /// the bases ±1. A scalar exponent takes `self`'s dtype.
    pow Pow;
    /// The angle of the point (x = `other`, y = `self`) in radians (floats).
    atan2 Atan2;
    /// The float next to `self` in the direction of `other`.
    nextafter Nextafter;
    /// The high half of the double-width product (integers).
    mulhi Mulhi;
    /// `self >> other` filling with zeros, whatever the sign (integers). `>>` itself keeps the sign of signed integers.
    shift_right_logical ShiftRightLogical;
    /// `self >> other` filling with the sign bit (integers).
    shift_right_arithmetic ShiftRightArithmetic;
    /// `self + i·imag`: two f32 give a c64, two f64 a c128.
    complex Complex;
}

impl Sym {
    /// Where this bool is true `on_true`, elsewhere `on_false`; all three broadcast together, and a scalar takes the
    /// other's dtype.
    ///
    /// # Errors
    /// `self` is no bool; the dtypes differ; both values are scalars, so that there is no dtype to take.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let g = trace(|x: Sym| x.gt(0.0).select(x, 0.0), spec(F32, [3])).unwrap();
    /// assert_eq!(g.output_specs(), [spec(F32, [3])]);
    /// ```
    #[track_caller]
    pub fn select(self, on_true: impl Operand, on_false: impl Operand) -> Sym {
        let op = "select";
        let Some(p) = boolean(op, self) else { return Sym::POISON };
        let (a, b) = (on_true.operand(), on_false.operand());
        let dtype = match (a, b) {
            (Opnd::Sym(s), _) | (_, Opnd::Sym(s)) => known(op, s).map(|t| t.dtype),
            _ => {
                let remedy = "give one of them a dtype, or `.cast(..)` the bool itself".to_string();
                builder::fail(op, &[self], "both values are scalars, so the result has no dtype", Some(remedy));
                None
            }
        };
        let Some(dtype) = dtype else { return Sym::POISON };
        let mut shape = p.shape.clone();
        for s in [a, b] {
            let Opnd::Sym(s) = s else { continue };
            let Some(t) = known(op, s) else { return Sym::POISON };
            match broadcast_shapes(&shape, &t.shape) {
                Ok(both) => shape = both,
                Err(m) => {
                    let remedy = "insert axes with `.expand_dims(..)`, or reshape".to_string();
                    return builder::fail(op, &[self, s], m, Some(remedy));
                }
            }
        }
        let like = spec(dtype, &shape);
        let pred = if p.rank() == 0 { self } else { broadcast_to(op, self, &shape) };
        let (a, b) = (lift(op, a, &like, true), lift(op, b, &like, true));
        let (a, b) = (broadcast_to(op, a, &shape), broadcast_to(op, b, &shape));
        if same_dtype(op, a, b).is_none() {
            return Sym::POISON;
        }
        builder::emit(Prim::Select {}, &[pred, a, b])
    }
    /// `min(max(self, low), high)`; NaN propagates, and `high` wins where the bounds cross. Scalars take `self`'s
    /// dtype; tensors broadcast together with it. The derivative where `self` equals a bound is 0, as that of
    /// `jax.lax.clamp`: `.maximum(low).minimum(high)` shares it.
    #[track_caller]
    pub fn clip(self, low: impl Operand, high: impl Operand) -> Sym {
        let op = "clip";
        let Some(t) = known(op, self) else { return Sym::POISON };
        let (low, high) = (lift(op, low, &t, false), lift(op, high, &t, false));
        let mut shape = t.shape.clone();
        for bound in [low, high] {
            let Some(b) = known(op, bound) else { return Sym::POISON };
            match broadcast_shapes(&shape, &b.shape) {
                Ok(both) => shape = both,
                Err(m) => return builder::fail(op, &[self, bound], m, None),
            }
            if same_dtype(op, self, bound).is_none() {
                return Sym::POISON;
            }
        }
        let x = broadcast_to(op, self, &shape);
        let [low, high] = [low, high].map(|b| (b, builder::with_type(b, |t| t.rank() == 0).unwrap_or(true)));
        let low = if low.1 { low.0 } else { broadcast_to(op, low.0, &shape) };
        let high = if high.1 { high.0 } else { broadcast_to(op, high.0, &shape) };
        builder::emit(Prim::Clamp {}, &[low, x, high])
    }
    /// The elements as another dtype; no op where it is the same. Floats to integers truncate and saturate (NaN gives
    /// 0), integers wrap, to bool is `!= 0`, complex to real drops the imaginary part.
    #[track_caller]
    pub fn cast(self, dtype: DType) -> Sym {
        if known("cast", self).is_none() {
            return Sym::POISON;
        }
        convert(self, dtype)
    }
    /// The same bits as another dtype. To a narrower one adds a last axis (little end first), to a wider one takes it
    /// away. Not for bool.
    #[track_caller]
    pub fn bitcast(self, dtype: DType) -> Sym {
        match known("bitcast", self) {
            Some(t) if t.dtype == dtype => self,
            Some(_) => builder::emit(Prim::BitcastConvert { dtype }, &[self]),
            None => Sym::POISON,
        }
    }
    /// Every float rounded to a format of so many exponent and mantissa bits; the dtype stays.
    #[track_caller]
    pub fn reduce_precision(self, exponent_bits: u32, mantissa_bits: u32) -> Sym {
        builder::emit(Prim::ReducePrecision { exponent_bits, mantissa_bits }, &[self])
    }
    /// The value itself, as a constant to derivatives.
    #[track_caller]
    pub fn stop_gradient(self) -> Sym {
        builder::emit(Prim::StopGradient {}, &[self])
    }
}
