//! Element-wise ops, comparison, selection. Where StableHLO has no op on a dtype, the same values are written with
//! other ops.

use super::op::no_form;
use super::writer::{Val, Writer, signature};
use super::{Outcome, complex, text};
use evoxc_core::DType;
use evoxc_ir::{Binary, Direction, SortOrder, TensorType, Unary};

impl Writer<'_> {
    /// A comparison of two values of one type, that of floats by IEEE 754.
    pub(super) fn compare(&mut self, direction: &str, a: &Val, b: &Val) -> Val {
        let kind = match a.dtype() {
            d if d.is_float() || d.is_complex() => "FLOAT",
            d if d.is_signed_int() => "SIGNED",
            _ => "UNSIGNED",
        };
        self.compare_as(direction, kind, a, b)
    }
    /// The same, of a given kind.
    pub(super) fn compare_as(&mut self, direction: &str, kind: &str, a: &Val, b: &Val) -> Val {
        let ty = a.like(DType::BOOL);
        let rhs = format!("stablehlo.compare {direction}, {a}, {b}, {kind} : {}", signature(&[a, b], &ty));
        self.op(&rhs, ty)
    }
    /// `a` where `pred`, elsewhere `b`.
    pub(super) fn choose(&mut self, pred: &Val, a: &Val, b: &Val) -> Val {
        let rhs = format!("stablehlo.select {pred}, {a}, {b} : {}, {}", text::ty(&pred.ty), text::ty(&a.ty));
        self.op(&rhs, a.ty.clone())
    }
    /// The op of CHLO, where the options allow it.
    fn chlo_only(&mut self, name: &str, x: &Val) -> Outcome<Val> {
        if !self.options.chlo {
            return Err(no_form());
        }
        let rhs = format!("chlo.{name} {x} : {} -> {}", text::ty(&x.ty), text::ty(&x.ty));
        Ok(self.op(&rhs, x.ty.clone()))
    }
}

pub(super) fn unary(w: &mut Writer<'_>, op: Unary, x: &Val, ty: TensorType) -> Outcome<Val> {
    let d = x.dtype();
    let name = match op {
        Unary::Exp => "exponential",
        Unary::Expm1 => "exponential_minus_one",
        Unary::Log => "log",
        Unary::Log1p => "log_plus_one",
        Unary::Sqrt => "sqrt",
        Unary::Rsqrt => "rsqrt",
        Unary::Cbrt if d.is_complex() => return complex::cbrt(w, x),
        Unary::Cbrt => "cbrt",
        Unary::Sin => "sine",
        Unary::Cos => "cosine",
        Unary::Tan => "tan",
        Unary::Tanh => "tanh",
        Unary::Logistic => "logistic",
        Unary::Floor => "floor",
        Unary::Ceil => "ceil",
        Unary::RoundEven => "round_nearest_even",
        Unary::RoundAway => "round_nearest_afz",
        Unary::Neg => "negate",
        Unary::Not => "not",
        Unary::Popcount => "popcnt",
        // Of signed integers XLA counts wrongly where it folds constants.
        Unary::CountLeadingZeros if d.is_signed_int() => {
            let bits = w.typed("bitcast_convert", &[x], "", x.like(unsigned(d)));
            let count = w.same("count_leading_zeros", &[&bits])?;
            return Ok(w.typed("bitcast_convert", &[&count], "", ty));
        }
        Unary::CountLeadingZeros => "count_leading_zeros",
        Unary::IsFinite => return Ok(w.typed("is_finite", &[x], "", ty)),
        Unary::Abs if d.is_complex() => return Ok(w.typed("abs", &[x], "", ty)),
        Unary::Abs => "abs",
        Unary::Sign => "sign",
        Unary::Real if d.is_complex() => return Ok(w.typed("real", &[x], "", ty)),
        Unary::Imag if d.is_complex() => return Ok(w.typed("imag", &[x], "", ty)),
        Unary::Conj => return w.chlo_only("conj", x),
        Unary::Asin => return w.chlo_only("asin", x),
        Unary::Acos => return w.chlo_only("acos", x),
        Unary::Atan => return w.chlo_only("atan", x),
        Unary::Sinh => return w.chlo_only("sinh", x),
        Unary::Cosh => return w.chlo_only("cosh", x),
        Unary::Asinh => return w.chlo_only("asinh", x),
        Unary::Acosh => return w.chlo_only("acosh", x),
        Unary::Atanh => return w.chlo_only("atanh", x),
        Unary::Erf => return w.chlo_only("erf", x),
        Unary::Erfc => return w.chlo_only("erfc", x),
        Unary::ErfInv => return w.chlo_only("erf_inv", x),
        Unary::Lgamma => return w.chlo_only("lgamma", x),
        Unary::Digamma => return w.chlo_only("digamma", x),
        Unary::Exp2 | Unary::Log2 | Unary::Trunc | Unary::Real | Unary::Imag => return Err(no_form()),
    };
    w.same(name, &[x])
}

pub(super) fn binary(w: &mut Writer<'_>, op: Binary, a: &Val, b: &Val, ty: TensorType) -> Outcome<Val> {
    let d = a.dtype();
    let name = match op {
        // On bool StableHLO's add is or, multiply is and; these names say so to every compiler.
        Binary::Add if d.is_bool() => "or",
        Binary::Mul if d.is_bool() => "and",
        Binary::Add => "add",
        Binary::Sub => "subtract",
        Binary::Mul => "multiply",
        Binary::Div if d.is_int() && w.options.strict => return strict_div(w, a, b),
        Binary::Div => "divide",
        Binary::Rem if d.is_int() && w.options.strict => return strict_rem(w, a, b),
        Binary::Rem => "remainder",
        Binary::Pow => return power(w, a, b, false),
        Binary::Max if d.is_bool() => "or",
        Binary::Min if d.is_bool() => "and",
        Binary::Max | Binary::Min if d.is_complex() => return complex::extremum(w, op == Binary::Max, a, b),
        Binary::Max => "maximum",
        Binary::Min => "minimum",
        Binary::Atan2 => "atan2",
        Binary::Nextafter if w.options.chlo => {
            let t = text::ty(&a.ty);
            return Ok(w.op(&format!("chlo.next_after {a}, {b} : {t}, {t} -> {t}"), ty));
        }
        Binary::Nextafter | Binary::Mulhi => return Err(no_form()),
        Binary::And => "and",
        Binary::Or => "or",
        Binary::Xor => "xor",
        Binary::ShiftLeft | Binary::ShiftRightLogical | Binary::ShiftRightArithmetic if w.options.strict => {
            return strict_shift(w, op, a, b);
        }
        Binary::ShiftLeft => "shift_left",
        Binary::ShiftRightLogical => "shift_right_logical",
        Binary::ShiftRightArithmetic => "shift_right_arithmetic",
        Binary::Complex => return Ok(complex::join(w, a, b)),
    };
    w.same(name, &[a, b])
}

/// Powers of integers, six bits of the exponent at a time: XLA looks at no more, and takes unsigned exponents as signed.
/// `small` says that it is known to have no more.
pub(super) fn power(w: &mut Writer<'_>, x: &Val, e: &Val, small: bool) -> Outcome<Val> {
    let dtype = e.dtype();
    if !dtype.is_int() || small {
        return w.same("power", &[x, e]);
    }
    let (zero, one) = (w.splat(&x.ty, 0)?, w.splat(&x.ty, 1)?);
    let (mask, six, half) = (w.splat(&e.ty, 63)?, w.splat(&e.ty, 6)?, w.splat(&e.ty, 32)?);
    let negative = dtype.is_signed_int().then(|| w.compare("LT", e, &zero));
    let mut rest = match &negative {
        Some(n) => w.choose(n, &zero, e),
        None => e.clone(),
    };
    let (mut base, mut product) = (x.clone(), one.clone());
    for i in 0..dtype.bits().div_ceil(6) {
        if i > 0 {
            let root = w.same("power", &[&base, &half])?;
            base = w.same("multiply", &[&root, &root])?;
            rest = w.same("shift_right_logical", &[&rest, &six])?;
        }
        let digit = w.same("and", &[&rest, &mask])?;
        let factor = w.same("power", &[&base, &digit])?;
        product = w.same("multiply", &[&product, &factor])?;
    }
    let Some(negative) = negative else { return Ok(product) };
    // Only a base whose inverse is an integer has a negative power.
    let minus = w.splat(&x.ty, -1)?;
    let bit = w.same("and", &[e, &one])?;
    let odd = w.compare("EQ", &bit, &one);
    let (is_one, is_minus) = (w.compare("EQ", x, &one), w.compare("EQ", x, &minus));
    let alternating = w.choose(&odd, &minus, &one);
    let inverse = w.choose(&is_minus, &alternating, &zero);
    let inverse = w.choose(&is_one, &one, &inverse);
    Ok(w.choose(&negative, &inverse, &product))
}

/// Is the divisor 0, and one that is safe to divide by: 1 in its place, and in the place of -1 under the lowest integer.
fn divisor(w: &mut Writer<'_>, a: &Val, b: &Val) -> Outcome<(Val, Val)> {
    let (zero, one) = (w.splat(&b.ty, 0)?, w.splat(&b.ty, 1)?);
    let by_zero = w.compare("EQ", b, &zero);
    let mut unsafe_ = by_zero.clone();
    if a.dtype().is_signed_int() {
        let (lowest, minus) = (w.splat(&a.ty, lowest(a.dtype()))?, w.splat(&b.ty, -1)?);
        let (low, neg) = (w.compare("EQ", a, &lowest), w.compare("EQ", b, &minus));
        let overflow = w.same("and", &[&low, &neg])?;
        unsafe_ = w.same("or", &[&by_zero, &overflow])?;
    }
    let safe = w.choose(&unsafe_, &one, b);
    Ok((by_zero, safe))
}

/// The unsigned integer dtype of that size.
fn unsigned(d: DType) -> DType {
    match d.size() {
        1 => DType::U8,
        2 => DType::U16,
        4 => DType::U32,
        _ => DType::U64,
    }
}

/// The lowest value of a signed integer dtype.
pub(super) fn lowest(d: DType) -> i64 {
    i64::MIN >> (64 - d.bits())
}

fn strict_div(w: &mut Writer<'_>, a: &Val, b: &Val) -> Outcome<Val> {
    let (by_zero, safe) = divisor(w, a, b)?;
    let quotient = w.same("divide", &[a, &safe])?;
    let zero = w.splat(&a.ty, 0)?;
    let ones = w.same("not", &[&zero])?;
    Ok(w.choose(&by_zero, &ones, &quotient))
}

fn strict_rem(w: &mut Writer<'_>, a: &Val, b: &Val) -> Outcome<Val> {
    let (by_zero, safe) = divisor(w, a, b)?;
    let rest = w.same("remainder", &[a, &safe])?;
    Ok(w.choose(&by_zero, a, &rest))
}

fn strict_shift(w: &mut Writer<'_>, op: Binary, a: &Val, by: &Val) -> Outcome<Val> {
    let width = a.dtype().bits() as i64;
    let limit = w.splat(&by.ty, width)?;
    let mut within = w.compare("LT", by, &limit);
    if by.dtype().is_signed_int() {
        let zero = w.splat(&by.ty, 0)?;
        let positive = w.compare("GE", by, &zero);
        within = w.same("and", &[&within, &positive])?;
    }
    // Of an arithmetic shift by one less than the width only the sign is left.
    let arithmetic = op == Binary::ShiftRightArithmetic;
    let most = w.splat(&by.ty, if arithmetic { width - 1 } else { 0 })?;
    let safe = w.choose(&within, by, &most);
    let name = match op {
        Binary::ShiftLeft => "shift_left",
        Binary::ShiftRightLogical => "shift_right_logical",
        _ => return w.same("shift_right_arithmetic", &[a, &safe]),
    };
    let shifted = w.same(name, &[a, &safe])?;
    let zero = w.splat(&a.ty, 0)?;
    Ok(w.choose(&within, &shifted, &zero))
}

/// The direction as StableHLO writes it.
pub(super) fn direction(d: Direction) -> &'static str {
    match d {
        Direction::Lt => "LT",
        Direction::Le => "LE",
        Direction::Gt => "GT",
        Direction::Ge => "GE",
        Direction::Eq => "EQ",
        Direction::Ne => "NE",
    }
}

pub(super) fn compare(w: &mut Writer<'_>, d: Direction, order: SortOrder, a: &Val, b: &Val) -> Outcome<Val> {
    match order {
        SortOrder::Total if a.dtype().is_float() => Ok(w.compare_as(direction(d), "TOTALORDER", a, b)),
        SortOrder::Ieee | SortOrder::Total => Ok(w.compare(direction(d), a, b)),
    }
}

pub(super) fn select(w: &mut Writer<'_>, pred: &Val, a: &Val, b: &Val) -> Outcome<Val> {
    Ok(w.choose(pred, a, b))
}

pub(super) fn clamp(w: &mut Writer<'_>, low: &Val, x: &Val, high: &Val) -> Outcome<Val> {
    if x.dtype().is_bool() {
        let (low, high) = (w.spread(low, x)?, w.spread(high, x)?);
        let above = binary(w, Binary::Max, x, &low, x.ty.clone())?;
        return binary(w, Binary::Min, &above, &high, x.ty.clone());
    }
    if low.ty == x.ty && high.ty == x.ty {
        return w.same("clamp", &[low, x, high]);
    }
    Ok(w.typed("clamp", &[low, x, high], "", x.ty.clone()))
}
