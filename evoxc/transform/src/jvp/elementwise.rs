//! Tangents of element-wise ops. Kinks follow JAX: max and min share equally between equal operands, a clamp gives
//! nothing where x equals a bound. abs'(0) = 0.

use super::{Site, special};
use crate::{instantiate, no_rule, zeros};
use evoxc_core::OpError;
use evoxc_ir::{Binary, Prim, TensorType, Unary};
use evoxc_trace::{Sym, emitter};
use std::f64::consts::{FRAC_2_SQRT_PI, LN_2};

/// One operand.
pub(super) fn unary(u: Unary, site: &Site) -> Result<Option<Sym>, OpError> {
    let (x, y) = (site.x[0], site.y[0]);
    let Some(t) = site.t[0] else { return Ok(None) };
    let complex = emitter::type_of(x).is_some_and(|ty| ty.dtype.is_complex());
    Ok(Some(match u {
        Unary::Exp => t * y,
        Unary::Exp2 => t * (y * LN_2),
        Unary::Expm1 => t * (y + 1.0),
        Unary::Log => t / x,
        Unary::Log2 => t / (x * LN_2),
        Unary::Log1p => t / (x + 1.0),
        Unary::Sqrt => t * (0.5 / y),
        Unary::Rsqrt => t * (y / x * -0.5),
        Unary::Cbrt => t * (1.0 / 3.0 / (y * y)),
        Unary::Sin => t * x.cos(),
        Unary::Cos => -(t * x.sin()),
        Unary::Tan => t * (y * y + 1.0),
        // (1 - x)(1 + x) is exact near the ends, where 1 - x² is not.
        Unary::Asin => t * ((1.0 - x) * (1.0 + x)).rsqrt(),
        Unary::Acos => -(t * ((1.0 - x) * (1.0 + x)).rsqrt()),
        Unary::Atan => t / (x * x + 1.0),
        Unary::Sinh => t * x.cosh(),
        Unary::Cosh => t * x.sinh(),
        Unary::Tanh => t * (1.0 - y * y),
        Unary::Asinh => t * (x * x + 1.0).rsqrt(),
        // The root of the product is on the wrong branch in the left half-plane.
        Unary::Acosh if complex => t * ((x - 1.0).rsqrt() * (x + 1.0).rsqrt()),
        Unary::Acosh => t * ((x - 1.0) * (x + 1.0)).rsqrt(),
        Unary::Atanh => t / ((1.0 - x) * (1.0 + x)),
        Unary::Logistic => t * (y * (1.0 - y)),
        Unary::Erf => t * ((-(x * x)).exp() * FRAC_2_SQRT_PI),
        Unary::Erfc => t * ((-(x * x)).exp() * -FRAC_2_SQRT_PI),
        Unary::ErfInv => t * ((y * y).exp() * (1.0 / FRAC_2_SQRT_PI)),
        Unary::Lgamma => t * x.digamma(),
        Unary::Digamma => t * special::trigamma(x),
        Unary::Neg => -t,
        Unary::Abs if complex => (t * x.sign().conj()).real(),
        Unary::Abs => t * x.sign(),
        Unary::Sign if complex => turn(t, x, y),
        Unary::Real if complex => t.real(),
        Unary::Imag if complex => t.imag(),
        Unary::Conj if complex => t.conj(),
        Unary::Real | Unary::Conj => t,
        Unary::Sign
        | Unary::Imag
        | Unary::Floor
        | Unary::Ceil
        | Unary::RoundEven
        | Unary::RoundAway
        | Unary::Trunc
        | Unary::Not
        | Unary::Popcount
        | Unary::CountLeadingZeros
        | Unary::IsFinite => return Ok(None),
    }))
}

/// The tangent of `y = x/|x|`, which is at a right angle to it: `i y Im(ȳ t)/|x|`; 0 at 0.
fn turn(t: Sym, x: Sym, y: Sym) -> Sym {
    let size = x.abs();
    let angle = (t * y.conj()).imag() / size.eq(0).select(1, size);
    angle.zeros_like().complex(angle) * y
}

/// Two operands.
pub(super) fn binary(b: Binary, site: &Site) -> Result<Option<Sym>, OpError> {
    let (x, y, z) = (site.x[0], site.x[1], site.y[0]);
    let (t, u) = (site.t[0], site.t[1]);
    Ok(match b {
        Binary::Add => sum(t, u),
        Binary::Sub => match (t, u) {
            (Some(t), Some(u)) => Some(t - u),
            (t, None) => t,
            (None, Some(u)) => Some(-u),
        },
        // A square takes one product instead of two.
        Binary::Mul if site.op.operands[0] == site.op.operands[1] => t.map(|t| t * (x + x)),
        Binary::Mul => sum(t.map(|t| t * y), u.map(|u| x * u)),
        Binary::Div => match (t, u) {
            (Some(t), Some(u)) => Some((t - u * z) / y),
            (t, u) => t.map(|t| t / y).or(u.map(|u| -(u * (z / y)))),
        },
        // (x - z)/y is the quotient up to rounding.
        Binary::Rem => match (t, u) {
            (t, None) => t,
            (t, Some(u)) => {
                let quotient = ((x - z) / y).round_even();
                Some(t.map_or_else(|| -(u * quotient), |t| t - u * quotient))
            }
        },
        Binary::Pow => sum(t.map(|t| t * pow_by_base(x, y)), u.map(|u| u * (x.eq(0).select(1, x).log() * z))),
        Binary::Max | Binary::Min => shared(b, site),
        Binary::Atan2 => {
            let square = x * x + y * y;
            match (t, u) {
                (Some(t), Some(u)) => Some((t * y - u * x) / square),
                (t, u) => t.map(|t| t * (y / square)).or(u.map(|u| -(u * (x / square)))),
            }
        }
        Binary::Complex => Some(instantiate(t, x).complex(instantiate(u, y))),
        Binary::Nextafter => {
            let why = "neighbouring floats are a matter of their format, not of analysis";
            return Err(no_rule(&site.op.prim, why, "apply it to `x.stop_gradient()`"));
        }
        Binary::And
        | Binary::Or
        | Binary::Xor
        | Binary::ShiftLeft
        | Binary::ShiftRightLogical
        | Binary::ShiftRightArithmetic
        | Binary::Mulhi => None,
    })
}

/// `y x^(y-1)`, which is 0 and not 0·∞ where both are 0. There the exponent is replaced, so that no derivative of the
/// branch that is not taken is NaN.
fn pow_by_base(x: Sym, y: Sym) -> Sym {
    let flat = x.eq(0) & y.eq(0);
    let y = flat.select(1, y);
    flat.select(0, y * x.pow(y - 1.0))
}

/// The tangent of max or min.
fn shared(op: Binary, site: &Site) -> Option<Sym> {
    let (x, y) = (site.x[0], site.x[1]);
    match (site.t[0], site.t[1]) {
        (Some(t), None) => Some(t * weight(op, x, y, None)),
        (None, Some(u)) => Some(u * weight(op, y, x, None)),
        (Some(t), Some(u)) => {
            let (a, b) = weights(op, x, y);
            Some(t * a + u * b)
        }
        (None, None) => None,
    }
}

/// What the tangents of both operands of max or min count: 1 for the one that is taken, a half each where they are
/// equal, nothing where one is NaN.
pub(super) fn weights(op: Binary, x: Sym, y: Sym) -> (Sym, Sym) {
    let tie = tie(x, y);
    (weight(op, x, y, Some(tie)), weight(op, y, x, Some(tie)))
}

fn weight(op: Binary, x: Sym, y: Sym, half: Option<Sym>) -> Sym {
    let half = half.unwrap_or_else(|| tie(x, y));
    let taken = if op == Binary::Max { x.gt(y) } else { x.lt(y) };
    taken.select(1, half)
}

/// One half where both are equal, else 0.
fn tie(x: Sym, y: Sym) -> Sym {
    x.eq(y).select(x.full_like(0.5), 0)
}

/// The sum of two tangents of which each may be zero.
#[track_caller]
pub(crate) fn sum(a: Option<Sym>, b: Option<Sym>) -> Option<Sym> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}

/// The chosen tangent.
pub(super) fn select(site: &Site) -> Option<Sym> {
    if site.t[1].is_none() && site.t[2].is_none() {
        return None;
    }
    Some(site.same(&[site.x[0], instantiate(site.t[1], site.x[1]), instantiate(site.t[2], site.x[2])]))
}

/// The tangent where x was strictly within the bounds, those of the bounds where they were strictly exceeded.
pub(super) fn clamp(site: &Site) -> Option<Sym> {
    let ty = emitter::type_of(site.x[1])?;
    let (low, x, high) = (spread(site.x[0], &ty), site.x[1], spread(site.x[2], &ty));
    let taken = [
        site.t[1].map(|t| (x.gt(low) & x.lt(high), t)),
        site.t[0].map(|t| (x.lt(low) & low.lt(high), spread(t, &ty))),
        site.t[2].map(|t| (x.gt(high), spread(t, &ty))),
    ];
    let choose = |rest: Option<Sym>, (where_, t): (Sym, Sym)| {
        Some(emitter::emit(Prim::Select {}, &[where_, t, rest.unwrap_or_else(|| zeros(&ty))]))
    };
    taken.into_iter().flatten().rev().fold(None, choose)
}

/// A scalar, repeated to the shape of `ty`.
fn spread(x: Sym, ty: &TensorType) -> Sym {
    x.broadcast_to(&ty.shape)
}

/// Converted alike.
pub(super) fn convert(site: &Site) -> Option<Sym> {
    let to = emitter::type_of(site.y[0])?;
    site.t[0].filter(|_| crate::differentiable(to.dtype)).map(|t| site.same(&[t]))
}
