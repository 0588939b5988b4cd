//! Products of matrices that are no kernels: blocked products of floats by the `gemm` crate, plain loops for the rest.
//!
//! The order of summation depends on sizes alone: along k, blocks of fixed length follow each other, and threads split the
//! rows or columns of the result, never k.

use super::build::Builder;
use super::extent::Amount;
use super::run::Run;
use super::steps::Place;
use crate::schedule::MatmulItem;
use evoxc_core::{DType, Loc, OpError};
use evoxc_ir::Value;
use half::{bf16, f16};
use num_complex::Complex;
use smallvec::SmallVec;

/// Longest block along k: no longer than what `gemm` takes at once, so that its choice of blocks does not show.
const BLOCK: usize = 512;
/// Multiplications that are worth another thread.
const WORTH: usize = 1 << 19;
/// Rows or columns of a thread: far from the sizes for which `gemm` has other kernels, which sum in another order.
const LEAST: usize = 64;

/// A product of matrices on places.
pub(crate) struct MatmulStep {
    lhs: Operand,
    rhs: Operand,
    out: Operand,
    /// The dtype that products and sums have.
    wide: DType,
    /// Batch, m, n, k.
    extents: [Amount; 4],
    lhs_strides: [Amount; 3],
    rhs_strides: [Amount; 3],
    pub loc: Option<Loc>,
}

struct Operand {
    place: Place,
    dtype: DType,
    elements: Amount,
    /// Where it is under the dtype of sums, if that is another.
    wide: Option<Place>,
}

/// Sizes and strides of one product.
#[derive(Clone, Copy)]
struct Shape {
    batch: usize,
    m: usize,
    n: usize,
    k: usize,
    lhs: [isize; 3],
    rhs: [isize; 3],
}

impl MatmulStep {
    pub(super) fn new(
        b: &mut Builder<'_>,
        m: &MatmulItem,
        given: &mut SmallVec<[u32; 3]>,
    ) -> Result<MatmulStep, OpError> {
        let wide = b.ty(m.out).dtype.accumulator();
        let mut operand = |v: Value| -> Result<Operand, OpError> {
            let ty = b.ty(v);
            let elements = b.extents.elements(ty);
            let other = ty.dtype != wide;
            let bytes = b.extents.amount(ty.shape.size() * wide.size() as i64);
            let wide = other.then(|| b.temporary(bytes, "dot", given));
            Ok(Operand { place: b.at(v)?, dtype: ty.dtype, elements, wide })
        };
        let (lhs, rhs, out) = (operand(m.lhs)?, operand(m.rhs)?, operand(m.out)?);
        Ok(MatmulStep {
            lhs,
            rhs,
            out,
            wide,
            extents: m.extents.map(|d| b.extents.amount(d)),
            lhs_strides: m.lhs_strides.map(|d| b.extents.amount(d)),
            rhs_strides: m.rhs_strides.map(|d| b.extents.amount(d)),
            loc: m.loc,
        })
    }

    /// Batch, m, n, k.
    pub(super) fn sizes(&self, extents: &[i64]) -> [u64; 4] {
        self.extents.map(|d| d.size(extents) as u64)
    }
    /// Bytes that it reads and writes.
    pub(super) fn bytes(&self, extents: &[i64]) -> u64 {
        let bytes = |o: &Operand| o.elements.size(extents).saturating_mul(o.dtype.size()) as u64;
        [&self.lhs, &self.rhs, &self.out].map(bytes).iter().fold(0, |a, b| a.saturating_add(*b))
    }

    pub(super) fn run(&self, run: &Run<'_, '_>) {
        let extents = &run.frame.extents;
        let [batch, m, n, k] = self.extents.map(|d| d.size(extents));
        let stride = |a: Amount| a.of(extents) as isize;
        let s = Shape { batch, m, n, k, lhs: self.lhs_strides.map(stride), rhs: self.rhs_strides.map(stride) };
        let at = |o: &Operand| run.frame.places[o.wide.unwrap_or(o.place) as usize];
        for o in [&self.lhs, &self.rhs] {
            if let Some(wide) = o.wide {
                let (from, to) = (run.frame.places[o.place as usize], run.frame.places[wide as usize]);
                // SAFETY: both are memory for so many elements of these dtypes, apart from each other.
                unsafe { convert(from, o.dtype, to, self.wide, o.elements.size(extents)) };
            }
        }
        let (a, b, c) = (at(&self.lhs), at(&self.rhs), at(&self.out));
        // SAFETY: the operands reach as far as their strides and extents say, which the schedule takes from their types; the
        // result is dense, and apart from them.
        unsafe {
            match self.wide {
                DType::F32 => blocked::<f32>(run, s, a, b, c, 1.0),
                DType::F64 => blocked::<f64>(run, s, a, b, c, 1.0),
                DType::C64 => blocked::<Complex<f32>>(run, s, a, b, c, Complex::new(1.0, 0.0)),
                DType::C128 => blocked::<Complex<f64>>(run, s, a, b, c, Complex::new(1.0, 0.0)),
                DType::BOOL => loops::<bool>(run, s, a, b, c),
                DType::I8 => loops::<i8>(run, s, a, b, c),
                DType::I16 => loops::<i16>(run, s, a, b, c),
                DType::I32 => loops::<i32>(run, s, a, b, c),
                DType::I64 => loops::<i64>(run, s, a, b, c),
                DType::U8 => loops::<u8>(run, s, a, b, c),
                DType::U16 => loops::<u16>(run, s, a, b, c),
                DType::U32 => loops::<u32>(run, s, a, b, c),
                DType::U64 => loops::<u64>(run, s, a, b, c),
                // Halves sum in single precision.
                DType::F16 | DType::BF16 => {}
            }
        }
        if let Some(wide) = self.out.wide {
            let (from, to) = (run.frame.places[wide as usize], run.frame.places[self.out.place as usize]);
            // SAFETY: as above.
            unsafe { convert(from, self.wide, to, self.out.dtype, self.out.elements.size(extents)) };
        }
    }
}

/// Addresses that threads share.
#[derive(Clone, Copy)]
struct Addresses([*mut u8; 3]);
// SAFETY: threads read the operands, and each writes a part of the result of its own.
unsafe impl Sync for Addresses {}

/// Cuts the result into parts, which threads take: (entry of the batch, first row, below, first column, below).
fn parts(run: &Run<'_, '_>, s: Shape, work: &(dyn Fn(usize, [usize; 4]) + Sync)) {
    let threads = run.plan.pool.threads();
    let products = s.m.saturating_mul(s.n).saturating_mul(s.k);
    let long = s.m.max(s.n);
    let most = if s.m.min(s.n) < 8 { 1 } else { (long / LEAST).min(products / WORTH) };
    let cuts = if s.batch >= threads { 1 } else { most.clamp(1, threads) };
    // A multiple of 32, for whole tiles.
    let step = long.div_ceil(cuts).next_multiple_of(32);
    let cuts = long.div_ceil(step).max(1);
    let grain = (WORTH / (products / cuts).max(1)).max(1);
    run.plan.pool.split((s.batch * cuts) as i64, grain as i64, &|from, to, _| {
        for i in from as usize..to as usize {
            let (batch, cut) = (i / cuts, i % cuts);
            let (first, below) = (cut * step, ((cut + 1) * step).min(long));
            work(batch, if s.m >= s.n { [first, below, 0, s.n] } else { [0, s.m, first, below] });
        }
    });
}

/// Blocked products of floats.
///
/// # Safety
/// The addresses are of matrices of `T` of these sizes and strides; the result is apart from the operands.
unsafe fn blocked<T: Copy + Sync + 'static>(run: &Run<'_, '_>, s: Shape, a: *mut u8, b: *mut u8, c: *mut u8, one: T) {
    let at = Addresses([a, b, c]);
    parts(run, s, &|batch, [m0, m1, n0, n1]| {
        let Addresses([a, b, c]) = { at };
        let (m, n) = (m1 - m0, n1 - n0);
        // SAFETY: the parts are within the matrices.
        unsafe {
            let a = a.cast::<T>().offset(batch as isize * s.lhs[0] + m0 as isize * s.lhs[1]);
            let b = b.cast::<T>().offset(batch as isize * s.rhs[0] + n0 as isize * s.rhs[2]);
            let c = c.cast::<T>().add(batch * s.m * s.n + m0 * s.n + n0);
            let row = s.n as isize;
            if s.k == 0 {
                for i in 0..m {
                    std::ptr::write_bytes(c.add(i * s.n), 0, n);
                }
            }
            for k0 in (0..s.k).step_by(BLOCK) {
                let k = BLOCK.min(s.k - k0);
                let a = a.offset(k0 as isize * s.lhs[2]);
                let b = b.offset(k0 as isize * s.rhs[1]);
                let serial = gemm::Parallelism::None;
                let (ac, ar, bc, br) = (s.lhs[2], s.lhs[1], s.rhs[2], s.rhs[1]);
                gemm::gemm(m, n, k, c, 1, row, k0 > 0, a, ac, ar, b, bc, br, one, one, false, false, false, serial);
            }
        }
    });
}

/// An element that is multiplied and added exactly.
trait Exact: Copy + Sync {
    const ZERO: Self;
    fn add_product(self, a: Self, b: Self) -> Self;
}
macro_rules! exact { ($($t:ty)*) => { $(impl Exact for $t {
    const ZERO: $t = 0;
    #[inline]
    fn add_product(self, a: $t, b: $t) -> $t { self.wrapping_add(a.wrapping_mul(b)) }
})* } }
exact!(i8 i16 i32 i64 u8 u16 u32 u64);
impl Exact for bool {
    const ZERO: bool = false;
    #[inline]
    fn add_product(self, a: bool, b: bool) -> bool {
        self | (a & b)
    }
}

/// Products of integers and bools, row by row.
///
/// # Safety
/// As [`blocked`].
unsafe fn loops<T: Exact>(run: &Run<'_, '_>, s: Shape, a: *mut u8, b: *mut u8, c: *mut u8) {
    let at = Addresses([a, b, c]);
    parts(run, s, &|batch, [m0, m1, n0, n1]| {
        let Addresses([a, b, c]) = { at };
        // SAFETY: the parts are within the matrices; a dense row of the result is memory of ours alone.
        unsafe {
            let a = a.cast::<T>().offset(batch as isize * s.lhs[0]);
            let b = b.cast::<T>().offset(batch as isize * s.rhs[0]);
            for i in m0..m1 {
                let row = c.cast::<T>().add(batch * s.m * s.n + i * s.n);
                for j in n0..n1 {
                    row.add(j).write(T::ZERO);
                }
                for k in 0..s.k {
                    let x = a.offset(i as isize * s.lhs[1] + k as isize * s.lhs[2]).read();
                    let from = b.offset(k as isize * s.rhs[1]);
                    for j in n0..n1 {
                        let y = from.offset(j as isize * s.rhs[2]).read();
                        row.add(j).write(row.add(j).read().add_product(x, y));
                    }
                }
            }
        }
    });
}

/// A number of any dtype.
enum Number {
    Int(i128),
    Float(f64),
    Complex(f64, f64),
}

/// `n` elements of one dtype as another: wider floats, wrapped integers, or rounded once.
///
/// # Safety
/// `from` and `to` are memory of so many elements, apart from each other.
unsafe fn convert(from: *const u8, source: DType, to: *mut u8, target: DType, n: usize) {
    // SAFETY: the indices are below `n`, and the types are those of the memory.
    unsafe {
        match (source, target) {
            (DType::F16, DType::F32) => each(from, to, n, |x: f16| x.to_f32()),
            (DType::BF16, DType::F32) => each(from, to, n, |x: bf16| x.to_f32()),
            (DType::F32, DType::F16) => each(from, to, n, f16::from_f32),
            (DType::F32, DType::BF16) => each(from, to, n, bf16::from_f32),
            (DType::F32, DType::F64) => each(from, to, n, |x: f32| f64::from(x)),
            _ => {
                for i in 0..n {
                    let x = read(from.add(i * source.size()), source);
                    write(to.add(i * target.size()), target, x);
                }
            }
        }
    }
}

/// # Safety
/// As [`convert`], of elements `A` and `B`.
unsafe fn each<A: Copy, B>(from: *const u8, to: *mut u8, n: usize, f: impl Fn(A) -> B) {
    for i in 0..n {
        // SAFETY: `i` is below `n`.
        unsafe { to.cast::<B>().add(i).write(f(from.cast::<A>().add(i).read())) }
    }
}

/// # Safety
/// An element of the dtype is there.
unsafe fn read(p: *const u8, d: DType) -> Number {
    // SAFETY: as promised.
    unsafe {
        match d {
            DType::BOOL => Number::Int(i128::from(*p != 0)),
            DType::I8 => Number::Int(p.cast::<i8>().read().into()),
            DType::I16 => Number::Int(p.cast::<i16>().read().into()),
            DType::I32 => Number::Int(p.cast::<i32>().read().into()),
            DType::I64 => Number::Int(p.cast::<i64>().read().into()),
            DType::U8 => Number::Int(p.read().into()),
            DType::U16 => Number::Int(p.cast::<u16>().read().into()),
            DType::U32 => Number::Int(p.cast::<u32>().read().into()),
            DType::U64 => Number::Int(p.cast::<u64>().read().into()),
            DType::F16 => Number::Float(p.cast::<f16>().read().to_f64()),
            DType::BF16 => Number::Float(p.cast::<bf16>().read().to_f64()),
            DType::F32 => Number::Float(p.cast::<f32>().read().into()),
            DType::F64 => Number::Float(p.cast::<f64>().read()),
            DType::C64 => {
                let z = p.cast::<Complex<f32>>().read();
                Number::Complex(z.re.into(), z.im.into())
            }
            DType::C128 => {
                let z = p.cast::<Complex<f64>>().read();
                Number::Complex(z.re, z.im)
            }
        }
    }
}

/// # Safety
/// There is memory for an element of the dtype.
unsafe fn write(p: *mut u8, d: DType, x: Number) {
    let (i, re, im) = match x {
        Number::Int(i) => (i, i as f64, 0.0),
        Number::Float(v) => (v as i128, v, 0.0),
        Number::Complex(re, im) => (re as i128, re, im),
    };
    // SAFETY: as promised.
    unsafe {
        match d {
            DType::BOOL => p.write(u8::from(re != 0.0 || im != 0.0)),
            DType::I8 => p.cast::<i8>().write(i as i8),
            DType::I16 => p.cast::<i16>().write(i as i16),
            DType::I32 => p.cast::<i32>().write(i as i32),
            DType::I64 => p.cast::<i64>().write(i as i64),
            DType::U8 => p.write(i as u8),
            DType::U16 => p.cast::<u16>().write(i as u16),
            DType::U32 => p.cast::<u32>().write(i as u32),
            DType::U64 => p.cast::<u64>().write(i as u64),
            DType::F16 => p.cast::<f16>().write(f16::from_f64(re)),
            DType::BF16 => p.cast::<bf16>().write(bf16::from_f64(re)),
            DType::F32 => p.cast::<f32>().write(re as f32),
            DType::F64 => p.cast::<f64>().write(re),
            DType::C64 => p.cast::<Complex<f32>>().write(Complex::new(re as f32, im as f32)),
            DType::C128 => p.cast::<Complex<f64>>().write(Complex::new(re, im)),
        }
    }
}
