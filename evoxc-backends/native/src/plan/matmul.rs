//! Products of matrices that are no kernels: blocked products of floats by the `gemm` crate, plain loops for the rest. Halves
//! are made wider first, and the sums of their products rounded once.
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
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use smallvec::SmallVec;

/// Longest block along k: no longer than what `gemm` takes at once, so that its choice of blocks does not show.
const BLOCK: usize = 512;
/// Multiplications that are worth another thread.
const WORTH: usize = 1 << 19;
/// Rows or columns of a thread: far from the sizes for which `gemm` has other kernels, which sum in another order.
const LEAST: usize = 64;

/// Rows of results that are computed transposed, where that is faster.
const FEW: usize = 2;
const MANY: usize = 256;
/// Columns of such a result at a time: they stay in a cache until they are turned.
const COLUMNS: usize = 512;
/// Columns that are turned together: a line of the cache of singles.
const TILE: usize = 16;

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

/// What a product needs memory of each thread's own for.
pub(crate) struct Room {
    extents: [Amount; 4],
    lhs_strides: [Amount; 3],
    rhs_strides: [Amount; 3],
    dtype: DType,
}

impl Room {
    /// Bytes for each thread.
    pub fn bytes(&self, extents: &[i64]) -> usize {
        let s = Shape::new(&self.extents, &self.lhs_strides, &self.rhs_strides, extents);
        if !self.dtype.is_float() || !across(s) {
            return 0;
        }
        s.m.saturating_mul(s.n.min(COLUMNS)).saturating_mul(self.dtype.size())
    }
}

impl Shape {
    fn new(sizes: &[Amount; 4], lhs: &[Amount; 3], rhs: &[Amount; 3], extents: &[i64]) -> Shape {
        let [batch, m, n, k] = sizes.map(|d| d.size(extents));
        let stride = |a: Amount| a.of(extents) as isize;
        Shape { batch, m, n, k, lhs: lhs.map(stride), rhs: rhs.map(stride) }
    }
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
        if wide.is_complex() || [&lhs, &rhs, &out].iter().any(|o| o.dtype != wide && !widens(o.dtype, wide)) {
            let message = format!("products of {} do not sum in {wide}", lhs.dtype);
            return Err(OpError::new("dot", message).at(m.loc).remedy("report this: it is a fault of the compiler"));
        }
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
    /// What it needs memory of each thread's own for.
    pub(super) fn room(&self) -> Room {
        let &MatmulStep { extents, lhs_strides, rhs_strides, wide: dtype, .. } = self;
        Room { extents, lhs_strides, rhs_strides, dtype }
    }
    /// Bytes that it reads and writes.
    pub(super) fn bytes(&self, extents: &[i64]) -> u64 {
        let bytes = |o: &Operand| o.elements.size(extents).saturating_mul(o.dtype.size()) as u64;
        [&self.lhs, &self.rhs, &self.out].map(bytes).iter().fold(0, |a, b| a.saturating_add(*b))
    }

    pub(super) fn run(&self, run: &Run<'_, '_>) {
        let extents = &run.frame.extents;
        let s = Shape::new(&self.extents, &self.lhs_strides, &self.rhs_strides, extents);
        let at = |o: &Operand| run.frame.places[o.wide.unwrap_or(o.place) as usize];
        for o in [&self.lhs, &self.rhs] {
            if let Some(wide) = o.wide {
                let (from, to) = (run.frame.places[o.place as usize], run.frame.places[wide as usize]);
                // SAFETY: both are memory for so many elements of these dtypes, apart from each other.
                unsafe { convert(run, from, o.dtype, to, self.wide, o.elements.size(extents)) };
            }
        }
        let (a, b, c) = (at(&self.lhs), at(&self.rhs), at(&self.out));
        // SAFETY: the operands reach as far as their strides and extents say, which the schedule takes from their types; the
        // result is dense, and apart from them.
        unsafe {
            match self.wide {
                DType::F32 => blocked::<f32>(run, s, a, b, c, 1.0),
                DType::F64 => blocked::<f64>(run, s, a, b, c, 1.0),
                DType::BOOL => loops::<bool>(run, s, a, b, c),
                DType::I8 => loops::<i8>(run, s, a, b, c),
                DType::I16 => loops::<i16>(run, s, a, b, c),
                DType::I32 => loops::<i32>(run, s, a, b, c),
                DType::I64 => loops::<i64>(run, s, a, b, c),
                DType::U8 => loops::<u8>(run, s, a, b, c),
                DType::U16 => loops::<u16>(run, s, a, b, c),
                DType::U32 => loops::<u32>(run, s, a, b, c),
                DType::U64 => loops::<u64>(run, s, a, b, c),
                // `new` refuses these: halves sum in wider floats, and complex numbers are a library's.
                DType::F16 | DType::BF16 | DType::C64 | DType::C128 => {}
            }
        }
        if let Some(wide) = self.out.wide {
            let (from, to) = (run.frame.places[wide as usize], run.frame.places[self.out.place as usize]);
            // SAFETY: as above.
            unsafe { convert(run, from, self.wide, to, self.out.dtype, self.out.elements.size(extents)) };
        }
    }
}

/// Addresses that threads share.
#[derive(Clone, Copy)]
struct Addresses([*mut u8; 3]);
// SAFETY: threads read the operands, and each writes a part of the result of its own.
unsafe impl Sync for Addresses {}

/// Cuts the result into parts, which threads take: (thread, entry of the batch, [first row, below, first column, below]).
fn parts(run: &Run<'_, '_>, s: Shape, work: &(dyn Fn(usize, usize, [usize; 4]) + Sync)) {
    let threads = run.plan.pool.threads();
    let products = s.m.saturating_mul(s.n).saturating_mul(s.k);
    let long = s.m.max(s.n);
    let most = if s.m.min(s.n) < 8 { 1 } else { (long / LEAST).min(products / WORTH) };
    let cuts = if s.batch >= threads { 1 } else { most.clamp(1, threads) };
    // A multiple of 32, for whole tiles.
    let step = long.div_ceil(cuts).next_multiple_of(32);
    let cuts = long.div_ceil(step).max(1);
    let grain = (WORTH / (products / cuts).max(1)).max(1);
    run.plan.pool.split((s.batch * cuts) as i64, grain as i64, &|from, to, thread| {
        for i in from as usize..to as usize {
            let (batch, cut) = (i / cuts, i % cuts);
            let (first, below) = (cut * step, ((cut + 1) * step).min(long));
            work(thread, batch, if s.m >= s.n { [first, below, 0, s.n] } else { [0, s.m, first, below] });
        }
    });
}

/// Blocked products of floats.
///
/// # Safety
/// The addresses are of matrices of `T` of these sizes and strides; the result is apart from the operands.
unsafe fn blocked<T: Copy + Sync + 'static>(run: &Run<'_, '_>, s: Shape, a: *mut u8, b: *mut u8, c: *mut u8, one: T) {
    let at = Addresses([a, b, c]);
    let (own, each) = (Addresses([run.frame.scratch.start(); 3]), run.frame.scratch_each);
    parts(run, s, &|thread, batch, [m0, m1, n0, n1]| {
        let Addresses([a, b, c]) = { at };
        let Addresses([own, ..]) = { own };
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
            if s.k > 0 && across(s) {
                // The frame has room for this product on every thread: see `Room`.
                turned(m, n, s, a, b, c, one, own.add(thread * each).cast());
                return;
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

/// Is it faster to compute the transposed result? `gemm` copies what is not dense along the result's rows into another order:
/// with few rows that takes as long as the products. The columns of a right operand that is dense along k are read where they
/// are if the result is dense along its columns.
fn across(s: Shape) -> bool {
    s.rhs[1] == 1 && s.rhs[2] != 1 && (FEW..=MANY).contains(&s.m) && s.n >= LEAST
}

/// The transposed result, some columns at a time, and then turned.
///
/// # Safety
/// As [`blocked`], of parts of `m` rows and `n` columns; at `out` is memory of this thread for `m` rows of [`COLUMNS`], or of
/// `n` if these are fewer.
#[allow(clippy::too_many_arguments)] // as many as a product has
unsafe fn turned<T: Copy + 'static>(
    m: usize,
    n: usize,
    s: Shape,
    a: *const T,
    b: *const T,
    c: *mut T,
    one: T,
    out: *mut T,
) {
    let each = n.div_ceil(n.div_ceil(COLUMNS).max(1)).max(1);
    for n0 in (0..n).step_by(each) {
        let n = each.min(n - n0);
        for k0 in (0..s.k).step_by(BLOCK) {
            let k = BLOCK.min(s.k - k0);
            // SAFETY: the part is within the matrices, and there is room for `m * each` elements.
            unsafe {
                let a = a.offset(k0 as isize * s.lhs[2]);
                let b = b.offset(k0 as isize * s.rhs[1] + n0 as isize * s.rhs[2]);
                let (ac, ar, bc, br) = (s.lhs[2], s.lhs[1], s.rhs[2], s.rhs[1]);
                let (serial, column) = (gemm::Parallelism::None, m as isize);
                gemm::gemm(
                    m,
                    n,
                    k,
                    out,
                    column,
                    1,
                    k0 > 0,
                    a,
                    ac,
                    ar,
                    b,
                    bc,
                    br,
                    one,
                    one,
                    false,
                    false,
                    false,
                    serial,
                );
            }
        }
        for from in (0..n).step_by(TILE) {
            for i in 0..m {
                for j in from..n.min(from + TILE) {
                    // SAFETY: as above; the first product has written every element.
                    unsafe { c.add(i * s.n + n0 + j).write(out.add(j * m + i).read()) };
                }
            }
        }
    }
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
    parts(run, s, &|_, batch, [m0, m1, n0, n1]| {
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
                    if s.rhs[2] == 1 {
                        // The same by vectors: slices tell the compiler that nothing overlaps.
                        let to = std::slice::from_raw_parts_mut(row.add(n0), n1 - n0);
                        let from = std::slice::from_raw_parts(from.add(n0), n1 - n0);
                        to.iter_mut().zip(from).for_each(|(c, &y)| *c = c.add_product(x, y));
                        continue;
                    }
                    for j in n0..n1 {
                        let y = from.offset(j as isize * s.rhs[2]).read();
                        row.add(j).write(row.add(j).read().add_product(x, y));
                    }
                }
            }
        }
    });
}

/// Elements that are worth another thread when they are converted.
const CONVERTED: usize = 1 << 14;

/// `n` elements of one dtype as another: floats made wider, or rounded once.
///
/// # Safety
/// `from` and `to` are memory of so many elements, apart from each other.
unsafe fn convert(run: &Run<'_, '_>, from: *mut u8, source: DType, to: *mut u8, target: DType, n: usize) {
    let at = Addresses([from, to, to]);
    run.plan.pool.split(n.div_ceil(CONVERTED) as i64, 1, &|first, below, _| {
        let Addresses([from, to, _]) = { at };
        let (first, below) = (first as usize * CONVERTED, (below as usize * CONVERTED).min(n));
        // SAFETY: the parts are within the memory, which is apart, and are of this thread alone.
        unsafe {
            let (from, to) = (from.add(first * source.size()), to.add(first * target.size()));
            converted(from, source, to, target, below - first);
        }
    });
}

/// # Safety
/// As [`convert`].
unsafe fn converted(from: *const u8, source: DType, to: *mut u8, target: DType, n: usize) {
    /// # Safety
    /// As [`convert`], of these elements.
    unsafe fn slices<'a, A, B>(from: *const u8, to: *mut u8, n: usize) -> (&'a [A], &'a mut [B]) {
        // SAFETY: the caller's: whole values of these types are aligned, and all bits are some.
        unsafe { (std::slice::from_raw_parts(from.cast(), n), std::slice::from_raw_parts_mut(to.cast(), n)) }
    }
    if n == 0 {
        return;
    }
    // SAFETY: the types are those of the memory, of which there is as much.
    unsafe {
        match (source, target) {
            (DType::F16, DType::F32) => {
                let (from, to) = slices::<f16, f32>(from, to, n);
                from.convert_to_f32_slice(to);
            }
            (DType::BF16, DType::F32) => {
                let (from, to) = slices::<bf16, f32>(from, to, n);
                from.convert_to_f32_slice(to);
            }
            (DType::F32, DType::F16) => {
                let (from, to) = slices::<f32, f16>(from, to, n);
                to.convert_from_f32_slice(from);
            }
            (DType::F32, DType::BF16) => {
                let (from, to) = slices::<f32, bf16>(from, to, n);
                to.convert_from_f32_slice(from);
            }
            (DType::F16, DType::F64) => {
                let (from, to) = slices::<f16, f64>(from, to, n);
                from.convert_to_f64_slice(to);
            }
            (DType::BF16, DType::F64) => {
                let (from, to) = slices::<bf16, f64>(from, to, n);
                from.convert_to_f64_slice(to);
            }
            (DType::F32, DType::F64) => {
                let (from, to) = slices::<f32, f64>(from, to, n);
                to.iter_mut().zip(from).for_each(|(y, x)| *y = f64::from(*x));
            }
            // `MatmulStep::new` refuses all others.
            _ => {}
        }
    }
}

/// Are elements of one dtype made those of sums of another?
fn widens(from: DType, to: DType) -> bool {
    matches!((from, to), (DType::F16 | DType::BF16, DType::F32 | DType::F64) | (DType::F32, DType::F64))
}
