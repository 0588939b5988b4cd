//! Distances between two elements: equality, absolute difference, and units in the last place.

use evoxc_core::{Buffer, Tensor};
use half::{bf16, f16};
use num_complex::Complex;

/// The elements of a tensor, borrowed by type.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a>(&'a Buffer);

pub(super) fn parts(t: &Tensor) -> Parts<'_> {
    Parts(t.buffer())
}

/// One real part of an element: a float as its bits in order, or an integer.
#[derive(Clone, Copy, Debug)]
enum Part {
    Float { value: f64, order: i64 },
    Int(i128),
}

/// A real type whose values lie in the order of their bits.
trait Float: Copy {
    fn part(self) -> Part;
}

macro_rules! floats {
    ($($t:ty, $bits:ty, $int:ty, $value:expr;)*) => { $(
        impl Float for $t {
            fn part(self) -> Part {
                // Sign and magnitude: the distance of two floats is that of their magnitudes, through zero where the
                // signs differ; both zeros are 0.
                let bits = self.to_bits();
                let magnitude = i64::from((bits & (<$bits>::MAX >> 1)) as $int);
                let order = if bits >> (<$bits>::BITS - 1) == 0 { magnitude } else { -magnitude };
                let value: fn($t) -> f64 = $value;
                Part::Float { value: value(self), order }
            }
        }
    )* };
}
floats! {
    f16, u16, i16, |x| x.to_f64();
    bf16, u16, i16, |x| x.to_f64();
    f32, u32, i32, |x| f64::from(x);
    f64, u64, i64, |x| x;
}

impl Parts<'_> {
    /// The real part of element `i`, and the imaginary part of a complex one; `None` past the end.
    fn at(&self, i: usize) -> Option<(Part, Option<Part>)> {
        fn float<T: Float>(v: &[T], i: usize) -> Option<(Part, Option<Part>)> {
            v.get(i).map(|x| (x.part(), None))
        }
        fn complex<T: Float>(v: &[Complex<T>], i: usize) -> Option<(Part, Option<Part>)> {
            v.get(i).map(|x| (x.re.part(), Some(x.im.part())))
        }
        fn int<T: Copy + Into<i128>>(v: &[T], i: usize) -> Option<(Part, Option<Part>)> {
            v.get(i).map(|&x| (Part::Int(x.into()), None))
        }
        match self.0 {
            Buffer::Bool(v) => v.get(i).map(|&x| (Part::Int(x.into()), None)),
            Buffer::I8(v) => int(v, i),
            Buffer::I16(v) => int(v, i),
            Buffer::I32(v) => int(v, i),
            Buffer::I64(v) => int(v, i),
            Buffer::U8(v) => int(v, i),
            Buffer::U16(v) => int(v, i),
            Buffer::U32(v) => int(v, i),
            Buffer::U64(v) => int(v, i),
            Buffer::F16(v) => float(v, i),
            Buffer::Bf16(v) => float(v, i),
            Buffer::F32(v) => float(v, i),
            Buffer::F64(v) => float(v, i),
            Buffer::C64(v) => complex(v, i),
            Buffer::C128(v) => complex(v, i),
        }
    }

    fn pairs(&self, o: &Parts, i: usize) -> Option<[Option<(Part, Part)>; 2]> {
        let ((re, im), (re2, im2)) = (self.at(i)?, o.at(i)?);
        Some([Some((re, re2)), im.zip(im2)])
    }

    /// Are the elements equal as numbers?
    pub(super) fn equal(&self, o: &Parts, i: usize) -> bool {
        self.pairs(o, i).is_some_and(|p| p.into_iter().flatten().all(|(a, b)| a.equal(b)))
    }

    /// The larger of the parts' absolute differences; `None` where one is not finite and they differ.
    pub(super) fn difference(&self, o: &Parts, i: usize) -> Option<f64> {
        let mut out = 0f64;
        for (a, b) in self.pairs(o, i)?.into_iter().flatten() {
            out = out.max(a.difference(b)?);
        }
        Some(out)
    }

    /// The element as text.
    pub(super) fn shown(&self, i: usize) -> String {
        macro_rules! shown {
            ($($v:ident)*) => { match self.0 { $(Buffer::$v(v) => v.get(i).map(|x| x.to_string()),)* } };
        }
        let text = shown!(Bool I8 I16 I32 I64 U8 U16 U32 U64 F16 Bf16 F32 F64 C64 C128).unwrap_or_default();
        // Of an imaginary part of -0.
        text.replacen("+-", "-", 1)
    }
}

impl Part {
    fn equal(self, o: Part) -> bool {
        match (self, o) {
            (Part::Float { value: a, .. }, Part::Float { value: b, .. }) => a == b || (a.is_nan() && b.is_nan()),
            (Part::Int(a), Part::Int(b)) => a == b,
            _ => false,
        }
    }
    fn difference(self, o: Part) -> Option<f64> {
        match (self, o) {
            _ if self.equal(o) => Some(0.0),
            (Part::Float { value: a, .. }, Part::Float { value: b, .. }) => {
                (a.is_finite() && b.is_finite()).then(|| (a - b).abs())
            }
            (Part::Int(a), Part::Int(b)) => Some(a.abs_diff(b) as f64),
            _ => None,
        }
    }
    fn ulps(self, o: Part) -> u64 {
        match (self, o) {
            _ if self.equal(o) => 0,
            (Part::Float { value: a, order: x }, Part::Float { value: b, order: y })
                if a.is_finite() && b.is_finite() =>
            {
                x.abs_diff(y)
            }
            (Part::Int(a), Part::Int(b)) => a.abs_diff(b).try_into().unwrap_or(u64::MAX),
            _ => u64::MAX,
        }
    }
}

/// The distance of element `i` of two tensors of one type in units in the last place: the larger of its parts'.
pub(super) fn element_distance(a: &Parts, b: &Parts, i: usize) -> Option<u64> {
    let pairs = a.pairs(b, i)?;
    pairs.into_iter().flatten().map(|(x, y)| x.ulps(y)).max()
}

/// The largest distance of two tensors of one type in units in the last place; `None` where the types differ.
///
/// ```
/// use evoxc::Tensor;
/// use evoxc_stablehlo::checks::ulp_distance;
/// let (zero, least) = (Tensor::from(-0f32), Tensor::from(f32::from_bits(1)));
/// assert_eq!(ulp_distance(&zero, &least), Some(1));
/// ```
pub fn ulp_distance(a: &Tensor, b: &Tensor) -> Option<u64> {
    if a.spec() != b.spec() {
        return None;
    }
    let (x, y) = (parts(a), parts(b));
    Some((0..a.len()).filter_map(|i| element_distance(&x, &y, i)).max().unwrap_or(0))
}
