//! Rules on the values of machine ops, of any dtype. Each gives the same bits for all operands (but for the payloads of NaN): on floats
//! there is no `x * 0` here, no `x / x`, no `x + 0`, and no reordering.

use super::{Alu, Arena, Bounds, Op, Rules, UOp, alu, cast, rewrite};
use crate::rules;
use evoxc_core::DType;

/// The roots, simplified by [`NUMBERS`], [`ARITHMETIC`], [`LOGIC`] and [`CASTS`] to a fixpoint.
///
/// ```
/// use evoxc_native::uop::{Alu, Arena, Op, Ty, simplify_values};
/// use evoxc_core::DType;
/// let mut a = Arena::new();
/// let memory = a.node(Op::Buffer(0), Ty::memory(DType::F32), &[]);
/// let zero = a.index(0);
/// let x = a.node(Op::Load, Ty::scalar(DType::F32), &[memory, zero]);
/// let one = a.constant(DType::F32, 1f32.to_bits().into());
/// let y = a.alu(Alu::Mul, &[x, one]);
/// let z = a.alu(Alu::Mul, &[zero, zero]);
/// assert_eq!(simplify_values(&mut a, &[y, z]), [x, zero]);
/// ```
pub fn simplify_values(arena: &mut Arena, roots: &[UOp]) -> Vec<UOp> {
    rewrite(arena, roots, &VALUES, &mut ())
}

/// All of this file's.
pub static VALUES: std::sync::LazyLock<Rules<()>> =
    std::sync::LazyLock::new(|| Rules::all(&[&NUMBERS, &ARITHMETIC, &LOGIC, &CASTS]));

rules! {
    /// Ops on numbers are numbers, and so are integers that have one value only.
    pub static NUMBERS(a, _context: (), _root) {
        "numbers fold": x => folded(a, x);
        "an integer between v and v is v": x if is_computed(a.op(x)) => only_value(a, x);
    }
}

rules! {
    /// Sums, products, and functions of one operand.
    pub static ARITHMETIC(a, _context: (), root) {
        // Of all dtypes.
        "x * 1": (Mul x #1) => x;
        "-(-x)": (Neg (Neg x)) => x;
        "x + -y": (Add x (Neg y)) => a.alu(Alu::Sub, &[x, y]);
        "x - -y": (Sub x (Neg y)) => a.alu(Alu::Add, &[x, y]);
        "-x * -y": (Mul (Neg x) (Neg y)) => a.alu(Alu::Mul, &[x, y]);
        "min(x, x)": (Min x x) => x;
        "max(x, x)": (Max x x) => x;
        // Of floats. `-0 + 0` is 0, but `x + -0` and `x - 0` are x.
        "x + -0": (Add x #z) if is_minus_zero(a, z) => x;
        "x - 0 of floats": (Sub x #0) if is_float(a, x) => x;
        "x / 1": (Div x #1) => x;
        "-x / -y": (Div (Neg x) (Neg y)) => a.alu(Alu::Div, &[x, y]);
        "x / 2^n": (Div x #c) => {
            let reciprocal = reciprocal(a, c);
            reciprocal.map(|r| a.alu(Alu::Mul, &[x, r]))
        };
        "fma(x, 1, y)": (Fma x #1 y) => a.alu(Alu::Add, &[x, y]);
        "fma(1, x, y)": (Fma #1 x y) => a.alu(Alu::Add, &[x, y]);
        "fma(x, y, -0)": (Fma x y #z) if is_minus_zero(a, z) => a.alu(Alu::Mul, &[x, y]);
        "|-x| of floats": (Abs (Neg x)) if is_float(a, x) => a.alu(Alu::Abs, &[x]);
        "||x||": (Abs (Abs x)) => a.alu(Alu::Abs, &[x]);
        "floor of a whole number": (Floor x) if is_whole(a, x) => x;
        "ceil of a whole number": (Ceil x) if is_whole(a, x) => x;
        "rounding of a whole number": (RoundEven x) if is_whole(a, x) => x;
        "trunc of a whole number": (Trunc x) if is_whole(a, x) => x;
        // Of integers, which wrap.
        "x + 0": (Add x #0) if is_int(a, x) => x;
        "x - 0": (Sub x #0) if is_int(a, x) => x;
        "x - x": (Sub x x) if is_int(a, x) => number(a, x, 0);
        "x * 0": (Mul x #0) if is_int(a, x) => number(a, x, 0);
        "c + x": (Add #c x) if is_int(a, x) && a.as_const(x).is_none() => a.alu(Alu::Add, &[x, c]);
        "c * x": (Mul #c x) if is_int(a, x) && a.as_const(x).is_none() => a.alu(Alu::Mul, &[x, c]);
        "x - c": (Sub x #c) if is_int(a, x) => {
            let minus = a.alu(Alu::Neg, &[c]);
            folded(a, minus).map(|c| a.alu(Alu::Add, &[x, c]))
        };
        "(x + c) + d": (Add (Add x #c) #d) if is_int(a, x) => joined(a, Alu::Add, x, c, d);
        "(x * c) * d": (Mul (Mul x #c) #d) if is_int(a, x) => joined(a, Alu::Mul, x, c, d);
        "x / 1 of integers": (IntDiv x #1) => x;
        "x % 1": (IntRem x #1) => number(a, x, 0);
        "x / 2^n of integers": (IntDiv x #c) => power(a, x, c).map(|n| a.alu(Alu::Shr, &[x, n]));
        "x % 2^n": (IntRem x #c) if power(a, x, c).is_some() => {
            let mask = a.as_const(c).map_or(0, |c| c - 1);
            let mask = a.constant(a.ty(x).dtype, mask);
            a.alu(Alu::And, &[x, mask])
        };
        "x % c below c": (IntRem x #c) if a.bounds(x).min >= 0 && a.bounds(x).max < a.bounds(c).min => x;
        "|x| from 0": (Abs x) if is_int(a, x) && a.bounds(x).min >= 0 => x;
        "min of what is less": (Min x y) if is_int(a, x) => below(a, x, y).then_some(x).or(below(a, y, x).then_some(y));
        "max of what is less": (Max x y) if is_int(a, x) => below(a, x, y).then_some(y).or(below(a, y, x).then_some(x));
    }
}

rules! {
    /// Bits, truth, comparisons and choices.
    pub static LOGIC(a, _context: (), root) {
        "x & x": (And x x) => x;
        "x | x": (Or x x) => x;
        "x ^ x": (Xor x x) => number(a, x, 0);
        "x & 0": (And x #0) => number(a, x, 0);
        "x | 0": (Or x #0) => x;
        "x ^ 0": (Xor x #0) => x;
        "x & ones": (And x #c) if is_ones(a, c) => x;
        "x | ones": (Or x #c) if is_ones(a, c) => c;
        "x ^ ones": (Xor x #c) if is_ones(a, c) => a.alu(Alu::Not, &[x]);
        "x & !x": (And x (Not x)) => number(a, x, 0);
        "x & (x & y)": (And x (And x y)) => a.alu(Alu::And, &[x, y]);
        "x | (x | y)": (Or x (Or x y)) => a.alu(Alu::Or, &[x, y]);
        "x & (x | y)": (And x (Or x y)) => x;
        "x | (x & y)": (Or x (And x y)) => x;
        "!!x": (Not (Not x)) => x;
        "(x & c) & d": (And (And x #c) #d) => joined(a, Alu::And, x, c, d);
        "(x | c) | d": (Or (Or x #c) #d) => joined(a, Alu::Or, x, c, d);
        "(x ^ c) ^ d": (Xor (Xor x #c) #d) => joined(a, Alu::Xor, x, c, d);
        "x << 0": (Shl x #0) => x;
        "x >> 0": (Shr x #0) => x;
        "x >> 0 with the sign": (Sar x #0) => x;
        "!(x == y)": (Not (Eq x y)) => a.alu(Alu::Ne, &[x, y]);
        "!(x != y)": (Not (Ne x y)) => a.alu(Alu::Eq, &[x, y]);
        "!(x < y) of integers": (Not (Lt x y)) if is_int(a, x) => a.alu(Alu::Le, &[y, x]);
        "!(x <= y) of integers": (Not (Le x y)) if is_int(a, x) => a.alu(Alu::Lt, &[y, x]);
        "x < x": (Lt x x) => truth(a, root, false);
        "x <= x of integers": (Le x x) if is_exact(a, x) => truth(a, root, true);
        "x == x of integers": (Eq x x) if is_exact(a, x) => truth(a, root, true);
        "x != x of integers": (Ne x x) if is_exact(a, x) => truth(a, root, false);
        "x == true": (Eq x #1) if is_bool(a, x) => x;
        "x != false": (Ne x #0) if is_bool(a, x) => x;
        "x == false": (Eq x #0) if is_bool(a, x) => a.alu(Alu::Not, &[x]);
        "x != true": (Ne x #1) if is_bool(a, x) => a.alu(Alu::Not, &[x]);
        "c ? x : x": (Select c x x) => x;
        "true ? x : y": (Select #1 x y) => x;
        "false ? x : y": (Select #0 x y) => y;
        "!c ? x : y": (Select (Not c) x y) => a.alu(Alu::Select, &[c, y, x]);
        "c ? true : false": (Select c #1 #0) if is_bool(a, root) => c;
        "c ? false : true": (Select c #0 #1) if is_bool(a, root) => a.alu(Alu::Not, &[c]);
        "c ? (c ? x : y) : z": (Select c (Select c x y) z) => a.alu(Alu::Select, &[c, x, z]);
        "c ? x : (c ? y : z)": (Select c x (Select c y z)) => a.alu(Alu::Select, &[c, x, z]);
    }
}

rules! {
    /// Conversions that change nothing, or in two steps what one does.
    pub static CASTS(a, _context: (), root) {
        "a cast to the same": (Cast x) if a.ty(x) == a.ty(root) => x;
        "a bitcast to the same": (Bitcast x) if a.ty(x) == a.ty(root) => x;
        "a bitcast of a bitcast": (Bitcast (Bitcast x)) => a.node(Op::Bitcast, a.ty(root), &[x]);
        "a cast of an exact cast": (Cast y) if a.op(y) == Op::Cast => {
            let x = a.src(y)[0];
            merges(a, x, a.ty(y).dtype, a.ty(root).dtype).then(|| a.node(Op::Cast, a.ty(root), &[x]))
        };
        "a cast bool that is not 0": (Ne (Cast x) #0) if is_bool(a, x) => x;
        "a cast bool that is 0": (Eq (Cast x) #0) if is_bool(a, x) => a.alu(Alu::Not, &[x]);
    }
}

/// The number that an op on numbers is, where its conditions hold.
pub fn folded(a: &mut Arena, u: UOp) -> Option<UOp> {
    let node = a.get(u);
    if node.src.is_empty() || node.ty.lanes != 1 || !matches!(node.op, Op::Alu(_) | Op::Cast) {
        return None;
    }
    let mut bits = [0; 3];
    for (b, &s) in bits.iter_mut().zip(&node.src) {
        *b = a.as_const(s)?;
    }
    let ty = node.ty;
    let on = a.ty(*node.src.last()?).dtype;
    let machine = |d| !matches!(d, DType::I8 | DType::I16 | DType::U8 | DType::U16 | DType::F16 | DType::BF16);
    let new = match node.op {
        Op::Cast if !on.is_complex() && !ty.dtype.is_complex() => cast(on, ty.dtype, bits[0]),
        Op::Alu(Alu::Select) => bits[if bits[0] != 0 { 1 } else { 2 }],
        Op::Alu(op) if machine(on) && !on.is_complex() => {
            let divides = matches!(op, Alu::IntDiv | Alu::IntRem);
            let shifts = matches!(op, Alu::Shl | Alu::Shr | Alu::Sar);
            let minus_one = on.is_signed_int() && bits[1] == u64::MAX >> (64 - on.bits());
            if divides && (bits[1] == 0 || minus_one) || shifts && bits[1] >= on.bits() as u64 {
                return None;
            }
            alu(op, on, bits)
        }
        _ => return None,
    };
    Some(a.constant(ty.dtype, new))
}

/// Is its value made of those of its sources, and nothing else its use?
fn is_computed(op: Op) -> bool {
    matches!(op, Op::Alu(_) | Op::Cast | Op::IndexDiv | Op::IndexMod)
}
fn only_value(a: &mut Arena, u: UOp) -> Option<UOp> {
    let ty = a.ty(u);
    let v = a.bounds(u).single().filter(|_| ty.lanes == 1)?;
    Some(number(a, u, v))
}
/// A number of the dtype of a node.
fn number(a: &mut Arena, like: UOp, v: i64) -> UOp {
    let dtype = a.ty(like).dtype;
    let bits = if dtype.is_bool() { u64::from(v != 0) } else { v as u64 & (u64::MAX >> (64 - dtype.bits())) };
    constant_like(a, like, bits)
}
/// A number, in all lanes that a node has.
fn constant_like(a: &mut Arena, like: UOp, bits: u64) -> UOp {
    let ty = a.ty(like);
    a.node(Op::Const(bits), ty, &[])
}
fn truth(a: &mut Arena, like: UOp, t: bool) -> UOp {
    constant_like(a, like, t.into())
}
fn is_int(a: &Arena, u: UOp) -> bool {
    a.ty(u).dtype.is_int()
}
fn is_bool(a: &Arena, u: UOp) -> bool {
    a.ty(u).dtype.is_bool()
}
fn is_float(a: &Arena, u: UOp) -> bool {
    a.ty(u).dtype.is_float()
}
/// No float, and so equal to itself.
fn is_exact(a: &Arena, u: UOp) -> bool {
    is_int(a, u) || is_bool(a, u)
}
fn is_minus_zero(a: &Arena, u: UOp) -> bool {
    let d = a.ty(u).dtype;
    is_float(a, u) && a.as_const(u) == Some(1 << (d.bits() - 1))
}
fn is_ones(a: &Arena, u: UOp) -> bool {
    let ones = if is_bool(a, u) { 1 } else { u64::MAX >> (64 - a.ty(u).dtype.bits().min(64)) };
    is_exact(a, u) && a.as_const(u) == Some(ones)
}
/// A float without a fraction, or NaN or infinite.
fn is_whole(a: &Arena, u: UOp) -> bool {
    let of_int = || a.src(u).first().is_some_and(|&s| is_exact(a, s));
    match a.op(u) {
        Op::Alu(Alu::Floor | Alu::Ceil | Alu::RoundEven | Alu::Trunc) => true,
        Op::Cast => of_int(),
        _ => false,
    }
}
/// Is the first never above the second?
fn below(a: &Arena, x: UOp, y: UOp) -> bool {
    a.bounds(x) != Bounds::ALL && a.bounds(y) != Bounds::ALL && a.bounds(x).max <= a.bounds(y).min
}
/// `(x op c) op d` as `x op (c op d)`.
fn joined(a: &mut Arena, op: Alu, x: UOp, c: UOp, d: UOp) -> Option<UOp> {
    let both = a.alu(op, &[c, d]);
    let both = folded(a, both)?;
    Some(a.alu(op, &[x, both]))
}
/// `1 / c` if it is exact.
fn reciprocal(a: &mut Arena, c: UOp) -> Option<UOp> {
    let (ty, bits) = (a.ty(c), a.as_const(c)?);
    let new = match ty.dtype {
        DType::F32 => {
            let r = 1.0 / f32::from_bits(bits as u32);
            let whole = bits.trailing_zeros() >= 23 && r.is_normal() && f32::from_bits(bits as u32).is_normal();
            whole.then(|| r.to_bits().into())?
        }
        DType::F64 => {
            let r = 1.0 / f64::from_bits(bits);
            (bits.trailing_zeros() >= 52 && r.is_normal() && f64::from_bits(bits).is_normal()).then(|| r.to_bits())?
        }
        _ => return None,
    };
    Some(a.node(Op::Const(new), ty, &[]))
}
/// The exponent of a power of two that divides integers which are not negative.
fn power(a: &mut Arena, x: UOp, c: UOp) -> Option<UOp> {
    let (d, bits) = (a.ty(x).dtype, a.as_const(c)?);
    let positive = a.bounds(c).min > 0 || d.is_unsigned();
    let from_zero = d.is_unsigned() || a.bounds(x).min >= 0;
    let n = (bits.is_power_of_two() && positive && from_zero).then(|| bits.trailing_zeros())?;
    Some(constant_like(a, x, n.into()))
}

/// Is `x` cast by way of `between` the same as cast at once?
fn merges(a: &Arena, x: UOp, between: DType, to: DType) -> bool {
    let from = a.ty(x).dtype;
    if [from, between, to].iter().any(|d| d.is_complex()) {
        return false;
    }
    // Machines convert between small dtypes by way of larger ones: those steps stay.
    let small = |d: DType| d.bits() < 32 && !d.is_bool();
    if from != to && (small(from) || small(between) || small(to)) {
        return false;
    }
    let whole = |d: DType| d.is_int() || d.is_bool();
    // How many bits of an integer the dtype holds exactly, without its sign.
    let digits = |d: DType| match d {
        DType::F16 => 11,
        DType::BF16 => 8,
        DType::F32 => 24,
        DType::F64 => 53,
        DType::BOOL => 1,
        d if d.is_signed_int() => d.bits() - 1,
        d => d.bits(),
    };
    let fits = |d: DType| {
        let b = a.bounds(x);
        let signed = !d.is_unsigned() && !d.is_bool();
        let most = (1i128 << digits(d)) - 1;
        b != Bounds::ALL && i128::from(b.max) <= most && i128::from(b.min) >= if signed { -most } else { 0 }
    };
    match (whole(from), whole(between), whole(to)) {
        // The same number all the way, or wrapped once more to fewer bits.
        (true, true, _) if fits(between) => true,
        (true, true, true) => !between.is_bool() && !to.is_bool() && to.bits() <= between.bits(),
        // To an integer, floats saturate where integers wrap.
        (true, false, false) => fits(between),
        (true, false, true) => fits(between) && (to.is_bool() || fits(to)),
        (false, false, _) => {
            let exponent = |d: DType| match d {
                DType::F16 => 5,
                DType::F64 => 11,
                _ => 8,
            };
            digits(from) <= digits(between) && exponent(from) <= exponent(between)
        }
        (false, true, _) | (true, true, false) => false,
    }
}
