//! Folding of constants, exact ops only: integers, bool, IEEE sums, products, quotients and comparisons in f32 and f64,
//! and movement of elements. Nothing that rounds otherwise than IEEE, and nothing whose result is a NaN: which NaN comes
//! out of an operation is the machine's choice.

use crate::{Binary, Direction, Literal, Prim, SortOrder, TensorType, Unary};
use evoxc_core::{Buffer, BufferElement, DType, Dim, Element, Shape, Tensor, with_buffer};
use half::{bf16, f16};
use num_complex::Complex;
use smallvec::SmallVec;
use std::cmp::Ordering;

/// Results with more elements are not folded, unless all are the same.
const LIMIT: usize = 1024;

/// The value of the op on constants, if it can be folded.
pub(super) fn fold(prim: &Prim, operands: &[&Literal], ty: &TensorType) -> Option<Literal> {
    match (prim, operands) {
        (Prim::Unary(u), &[_]) => elementwise(operands, ty, |b| unary(*u, b.first()?)),
        (Prim::Binary(o), &[_, _]) => elementwise(operands, ty, |b| binary(*o, b.first()?, b.get(1)?)),
        (Prim::Compare { direction, order }, &[_, _]) => {
            elementwise(operands, ty, |b| compare(*direction, *order, b.first()?, b.get(1)?))
        }
        (Prim::Select {}, &[_, _, _]) => elementwise(operands, ty, |b| select(b.first()?, b.get(1)?, b.get(2)?)),
        (Prim::Convert { dtype }, &[_]) => elementwise(operands, ty, |b| convert(*dtype, b.first()?)),
        (Prim::DimSize { extent, dtype }, &[]) => {
            let b = evoxc_core::Scalar::Int(extent.as_i64()?.into()).buffer(*dtype)?;
            Tensor::from_parts(b, &[]).map(Literal::Dense)
        }
        (
            Prim::Reshape { .. }
            | Prim::Transpose { .. }
            | Prim::BroadcastInDim { .. }
            | Prim::Slice { .. }
            | Prim::Reverse { .. }
            | Prim::Pad { .. }
            | Prim::Concatenate { .. },
            _,
        ) => movement(prim, operands, ty),
        _ => None,
    }
}

/// The one element that the constant repeats over any shape: of a splat or a scalar.
fn single(l: &Literal) -> Option<&Tensor> {
    match l {
        Literal::Splat(t, _) => Some(t),
        Literal::Dense(t) => (t.rank() == 0).then_some(t),
    }
}

/// A constant of that shape whose elements all are the one of `data`.
fn repeated(data: Buffer, shape: &Shape) -> Option<Literal> {
    let t = Tensor::from_parts(data, &[])?;
    Some(if shape.is_empty() { Literal::Dense(t) } else { Literal::Splat(t, shape.clone()) })
}

fn dense(data: Buffer, ty: &TensorType) -> Option<Literal> {
    Tensor::from_parts(data, &ty.shape.to_static()?).map(Literal::Dense)
}

/// The number of elements, if it is small.
fn small(shape: &Shape) -> Option<usize> {
    shape.size().get().filter(|&n| n <= LIMIT)
}

fn elementwise(operands: &[&Literal], ty: &TensorType, f: impl Fn(&[Buffer]) -> Option<Buffer>) -> Option<Literal> {
    if let Some(ones) = operands.iter().map(|l| single(l)).collect::<Option<SmallVec<[&Tensor; 3]>>>() {
        let buffers: SmallVec<[Buffer; 3]> = ones.iter().map(|t| t.buffer().clone()).collect();
        return repeated(f(&buffers)?, &ty.shape);
    }
    let n = small(&ty.shape)?;
    if n == 0 {
        // No element says what the op makes of it: its dtype, and whether it can be folded.
        return dense(Buffer::zeros(ty.dtype, 0), ty);
    }
    let expand = |l: &&Literal| match single(l) {
        Some(t) => t.buffer().splat(n),
        None => l.tensor().buffer().clone(),
    };
    if operands.iter().any(|l| single(l).is_none() && l.tensor().len() != n) {
        return None;
    }
    let buffers: SmallVec<[Buffer; 3]> = operands.iter().map(expand).collect();
    dense(f(&buffers)?, ty)
}

/// What is exact of an element type; `None` is not folded.
trait Exact: Element {
    fn unary(self, _: Unary) -> Option<Self> {
        None
    }
    fn binary(self, _: Self, _: Binary) -> Option<Self> {
        None
    }
    /// The order, if the type has one that is exact: itself `None` for NaN in IEEE order.
    fn order(self, _: Self, _: SortOrder) -> Option<Option<Ordering>>;
    fn finite(self) -> Option<bool> {
        None
    }
    fn is_nan(self) -> bool {
        false
    }
}

macro_rules! integers {
    ($($t:ident $u:ident $signed:literal $abs:expr, $sign:expr;)*) => { $(impl Exact for $t {
        fn unary(self, op: Unary) -> Option<$t> {
            let (abs, sign): (fn($t) -> $t, fn($t) -> $t) = ($abs, $sign);
            Some(match op {
                Unary::Neg => self.wrapping_neg(),
                Unary::Abs => abs(self),
                Unary::Sign => sign(self),
                Unary::Not => !self,
                // A count of bits fits every integer type.
                Unary::Popcount => self.count_ones() as $t,
                Unary::CountLeadingZeros => self.leading_zeros() as $t,
                _ => return None,
            })
        }
        fn binary(self, o: $t, op: Binary) -> Option<$t> {
            let shift = u32::try_from(o).ok().filter(|&s| s < <$t>::BITS);
            Some(match op {
                Binary::Add => self.wrapping_add(o),
                Binary::Sub => self.wrapping_sub(o),
                Binary::Mul => self.wrapping_mul(o),
                Binary::Div => if o == 0 { !0 } else { self.wrapping_div(o) },
                Binary::Rem => if o == 0 { self } else { self.wrapping_rem(o) },
                Binary::Max => self.max(o),
                Binary::Min => self.min(o),
                Binary::And => self & o,
                Binary::Or => self | o,
                Binary::Xor => self ^ o,
                Binary::ShiftLeft => shift.map_or(0, |s| self << s),
                Binary::ShiftRightLogical => shift.map_or(0, |s| ((self as $u) >> s) as $t),
                Binary::ShiftRightArithmetic if $signed => self >> shift.unwrap_or(<$t>::BITS - 1),
                Binary::ShiftRightArithmetic | Binary::Pow | Binary::Atan2 | Binary::Nextafter | Binary::Complex
                | Binary::Mulhi => return None,
            })
        }
        fn order(self, o: $t, _: SortOrder) -> Option<Option<Ordering>> { Some(Some(self.cmp(&o))) }
    })* };
}
integers! {
    i8 u8 true |x| x.wrapping_abs(), |x| x.signum(); i16 u16 true |x| x.wrapping_abs(), |x| x.signum();
    i32 u32 true |x| x.wrapping_abs(), |x| x.signum(); i64 u64 true |x| x.wrapping_abs(), |x| x.signum();
    u8 u8 false |x| x, |x| x.min(1); u16 u16 false |x| x, |x| x.min(1);
    u32 u32 false |x| x, |x| x.min(1); u64 u64 false |x| x, |x| x.min(1);
}

impl Exact for bool {
    fn unary(self, op: Unary) -> Option<bool> {
        (op == Unary::Not).then_some(!self)
    }
    fn binary(self, o: bool, op: Binary) -> Option<bool> {
        match op {
            Binary::Add | Binary::Or | Binary::Max => Some(self | o),
            Binary::Mul | Binary::And | Binary::Min => Some(self & o),
            Binary::Xor => Some(self ^ o),
            _ => None,
        }
    }
    fn order(self, o: bool, _: SortOrder) -> Option<Option<Ordering>> {
        Some(Some(self.cmp(&o)))
    }
}

macro_rules! floats {
    ($($t:ident $binary:ident;)*) => { $(impl Exact for $t {
        fn unary(self, op: Unary) -> Option<$t> {
            const SIGN: $t = <$t>::from_bits(1 << (8 * size_of::<$t>() - 1));
            match op {
                Unary::Neg => Some(<$t>::from_bits(self.to_bits() ^ SIGN.to_bits())),
                Unary::Abs => Some(<$t>::from_bits(self.to_bits() & !SIGN.to_bits())),
                _ => None,
            }
        }
        fn binary(self, o: $t, op: Binary) -> Option<$t> {
            $binary!(self, o, op)
        }
        fn order(self, o: $t, order: SortOrder) -> Option<Option<Ordering>> {
            Some(match order {
                SortOrder::Ieee => self.partial_cmp(&o),
                SortOrder::Total => Some(self.total_cmp(&o)),
            })
        }
        fn finite(self) -> Option<bool> { Some(self.is_finite()) }
        fn is_nan(self) -> bool { <$t>::is_nan(self) }
    })* };
}
macro_rules! ieee {
    ($a:expr, $b:expr, $op:expr) => {{
        let (a, b) = ($a, $b);
        let zeros = a == 0.0 && b == 0.0;
        let r = match $op {
            Binary::Add => a + b,
            Binary::Sub => a - b,
            Binary::Mul => a * b,
            Binary::Div => a / b,
            _ if a.is_nan() || b.is_nan() => return None,
            Binary::Max if zeros => {
                if a.is_sign_positive() {
                    a
                } else {
                    b
                }
            }
            Binary::Min if zeros => {
                if a.is_sign_negative() {
                    a
                } else {
                    b
                }
            }
            Binary::Max => a.max(b),
            Binary::Min => a.min(b),
            _ => return None,
        };
        (!r.is_nan()).then_some(r)
    }};
}
/// Half types round after every op; whether through f32 or at once is left to the backends.
macro_rules! not_folded {
    ($a:expr, $b:expr, $op:expr) => {{
        let _ = ($a, $b, $op);
        None
    }};
}
floats! { f16 not_folded; bf16 not_folded; f32 ieee; f64 ieee; }

impl Exact for Complex<f32> {
    fn order(self, _: Self, _: SortOrder) -> Option<Option<Ordering>> {
        None
    }
}
impl Exact for Complex<f64> {
    fn order(self, _: Self, _: SortOrder) -> Option<Option<Ordering>> {
        None
    }
}

fn unary(op: Unary, x: &Buffer) -> Option<Buffer> {
    fn map<T: Exact, U: BufferElement>(v: &[T], f: impl Fn(T) -> Option<U>) -> Option<Buffer> {
        v.iter().map(|&x| f(x)).collect::<Option<Vec<U>>>().map(U::wrap)
    }
    match op {
        Unary::IsFinite => with_buffer!(x, v => map(v, Exact::finite)),
        _ => with_buffer!(x, v => map(v, |x| x.unary(op))),
    }
}

/// Two buffers of one type, element by element.
fn zip<T: Element, U: BufferElement>(a: &[T], b: &Buffer, f: impl Fn(T, T) -> Option<U>) -> Option<Buffer> {
    let b = T::slice(b)?;
    a.iter().zip(b).map(|(&x, &y)| f(x, y)).collect::<Option<Vec<U>>>().map(U::wrap)
}

fn binary(op: Binary, a: &Buffer, b: &Buffer) -> Option<Buffer> {
    with_buffer!(a, v => zip(v, b, |x, y| x.binary(y, op)))
}

fn compare(direction: Direction, order: SortOrder, a: &Buffer, b: &Buffer) -> Option<Buffer> {
    let holds = |o: Option<Ordering>| match direction {
        Direction::Lt => o == Some(Ordering::Less),
        Direction::Le => matches!(o, Some(Ordering::Less | Ordering::Equal)),
        Direction::Gt => o == Some(Ordering::Greater),
        Direction::Ge => matches!(o, Some(Ordering::Greater | Ordering::Equal)),
        Direction::Eq => o == Some(Ordering::Equal),
        Direction::Ne => o != Some(Ordering::Equal),
    };
    with_buffer!(a, v => zip(v, b, |x, y| x.order(y, order).map(holds)))
}

fn select(pred: &Buffer, a: &Buffer, b: &Buffer) -> Option<Buffer> {
    let pred = bool::slice(pred)?;
    fn pick<T: Element>(pred: &[bool], a: &[T], b: &Buffer) -> Option<Buffer> {
        let b = T::slice(b)?;
        Some(T::wrap(pred.iter().zip(a).zip(b).map(|((&p, &x), &y)| if p { x } else { y }).collect()))
    }
    with_buffer!(a, v => pick(pred, v, b))
}

/// Conversions without NaN; to half types only what they hold exactly.
fn convert(dtype: DType, x: &Buffer) -> Option<Buffer> {
    fn any_nan<T: Exact>(v: &[T]) -> bool {
        v.iter().any(|x| x.is_nan())
    }
    let from = x.dtype();
    if from.is_complex() || dtype.is_complex() || with_buffer!(x, v => any_nan(v)) {
        return None;
    }
    let t = Tensor::from_parts(x.clone(), &[x.len()])?;
    let cast = t.cast(dtype).ok()?;
    let half = matches!(dtype, DType::F16 | DType::BF16);
    (!half || cast.cast(from).ok()?.bit_eq(&t)).then(|| cast.into_buffer())
}

/// Ops that move elements. Where all operands repeat one element, so does the result.
fn movement(prim: &Prim, operands: &[&Literal], ty: &TensorType) -> Option<Literal> {
    let (first, rest) = operands.split_first()?;
    let is_static = operands.iter().all(|l| l.ty().shape.is_static());
    if let Some(t) = single(first)
        && rest.iter().all(|l| single(l).is_some_and(|o| o.bit_eq(t)))
        // Bounds of a symbolic slice are checked when the program runs.
        && (is_static || !matches!(prim, Prim::Slice { .. } | Prim::Pad { .. }))
    {
        return repeated(t.buffer().clone(), &ty.shape);
    }
    if let (Prim::Reshape { .. }, Literal::Dense(t)) = (prim, first) {
        return small(&ty.shape).and_then(|_| t.reshape(&ty.shape).ok()).map(Literal::Dense);
    }
    let n = small(&ty.shape)?;
    let shape = ty.shape.to_static()?;
    let from = first.ty().shape.to_static()?;
    let at = |c: &[usize]| -> Option<usize> { source(prim, c, &from) };
    match prim {
        Prim::Pad { .. } => {
            let fill = rest.first()?;
            gather(n, first, fill, |i| Some(at(&unravel(i, &shape)).filter(|_| !from.contains(&0))))
                .and_then(|b| dense(b, ty))
        }
        Prim::Concatenate { axis } => concatenate(operands, *axis, n, &shape).and_then(|b| dense(b, ty)),
        _ => gather(n, first, first, |i| at(&unravel(i, &shape)).map(Some)).and_then(|b| dense(b, ty)),
    }
}

type Coordinates = SmallVec<[usize; 6]>;

/// The coordinates of element `i` in row-major order.
fn unravel(mut i: usize, shape: &[usize]) -> Coordinates {
    let mut c: Coordinates = SmallVec::from_elem(0, shape.len());
    for (x, &n) in c.iter_mut().zip(shape).rev() {
        *x = i % n.max(1);
        i /= n.max(1);
    }
    c
}

fn ravel(c: &[usize], shape: &[usize]) -> usize {
    c.iter().zip(shape).fold(0, |a, (&x, &n)| a * n + x)
}

/// The element of the operand (of shape `from`) that stands at `c` of the result; `None` for padding.
fn source(prim: &Prim, c: &[usize], from: &[usize]) -> Option<usize> {
    let mut s: Coordinates = SmallVec::from_elem(0, from.len());
    match prim {
        Prim::Transpose { perm } => {
            for (&axis, &x) in perm.iter().zip(c) {
                *s.get_mut(axis)? = x;
            }
        }
        Prim::BroadcastInDim { dims, .. } => {
            for ((x, &axis), &n) in s.iter_mut().zip(dims).zip(from) {
                *x = if n == 1 { 0 } else { *c.get(axis)? };
            }
        }
        Prim::Slice { start, stride, .. } => {
            for (((x, &at), start), &by) in s.iter_mut().zip(c).zip(start).zip(stride) {
                *x = start.get()? + at * usize::try_from(by).ok()?;
            }
        }
        Prim::Reverse { axes } => {
            for (i, ((x, &at), &n)) in s.iter_mut().zip(c).zip(from).enumerate() {
                *x = if axes.contains(&i) { n.checked_sub(at + 1)? } else { at };
            }
        }
        Prim::Pad { low, interior, .. } => {
            for ((((x, &at), low), &gap), &n) in s.iter_mut().zip(c).zip(low).zip(interior).zip(from) {
                let at = i64::try_from(at).ok()?.checked_sub(low.as_i64()?)?;
                let step = gap.checked_add(1)?;
                let i = usize::try_from(at.checked_div(step)?).ok().filter(|&i| at >= 0 && i < n)?;
                if at % step != 0 {
                    return None;
                }
                *x = i;
            }
        }
        _ => return None,
    }
    Some(ravel(&s, from))
}

/// `n` elements of `x`, or the one of `fill` where `at` gives none.
fn gather(n: usize, x: &Literal, fill: &Literal, at: impl Fn(usize) -> Option<Option<usize>>) -> Option<Buffer> {
    fn pick<T: Element>(
        n: usize,
        v: &[T],
        repeat: bool,
        fill: &Buffer,
        at: impl Fn(usize) -> Option<Option<usize>>,
    ) -> Option<Buffer> {
        let fill = T::slice(fill)?;
        let one = |i| match at(i)? {
            Some(k) => v.get(if repeat { 0 } else { k }).copied(),
            None => fill.first().copied(),
        };
        (0..n).map(one).collect::<Option<Vec<T>>>().map(T::wrap)
    }
    let fill = fill.tensor().buffer();
    with_buffer!(x.tensor().buffer(), v => pick(n, v, single(x).is_some(), fill, at))
}

fn concatenate(operands: &[&Literal], axis: usize, n: usize, shape: &[usize]) -> Option<Buffer> {
    let extents: Vec<usize> =
        operands.iter().map(|l| l.ty().shape.get(axis).and_then(|d: &Dim| d.get())).collect::<Option<_>>()?;
    fn pick<T: Element>(
        _: &[T],
        operands: &[&Literal],
        extents: &[usize],
        axis: usize,
        n: usize,
        shape: &[usize],
    ) -> Option<Buffer> {
        let one = |i| {
            let mut c = unravel(i, shape);
            for (l, &extent) in operands.iter().zip(extents) {
                let x = c.get_mut(axis)?;
                if *x < extent {
                    let mut from: Coordinates = shape.into();
                    *from.get_mut(axis)? = extent;
                    let k = if single(l).is_some() { 0 } else { ravel(&c, &from) };
                    return T::slice(l.tensor().buffer())?.get(k).copied();
                }
                *x -= extent;
            }
            None
        };
        (0..n).map(one).collect::<Option<Vec<T>>>().map(T::wrap)
    }
    with_buffer!(operands.first()?.tensor().buffer(), v => pick(v, operands, &extents, axis, n, shape))
}
