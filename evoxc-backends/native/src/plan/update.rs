//! Writing a part of a value: where the result takes the operand's memory, the rest is not touched.

use super::build::Builder;
use super::extent::Amount;
use super::memory::Frame;
use super::run::Run;
use super::steps::Place;
use evoxc_core::{DType, Loc, OpError, Result, RunError};
use evoxc_ir::{Op, Value};
use smallvec::SmallVec;

/// `dynamic_update_slice` on places.
pub(crate) struct UpdateStep {
    from: Place,
    part: Place,
    to: Place,
    starts: SmallVec<[(Place, DType); 4]>,
    /// Extents of the whole and of the part.
    whole: SmallVec<[Amount; 4]>,
    sizes: SmallVec<[Amount; 4]>,
    dtype: DType,
    pub loc: Option<Loc>,
}

impl UpdateStep {
    pub(super) fn new(b: &mut Builder<'_>, op: &Op) -> Result<UpdateStep, OpError> {
        let (&[x, part, ref starts @ ..], &[out]) = (&op.operands[..], &op.results[..]) else {
            return Err(OpError::new(op.prim.name(), "an operand is missing").at(op.loc));
        };
        let dims = |b: &mut Builder<'_>, v: Value| {
            let ty = b.ty(v);
            b.extents.shape(ty).into()
        };
        Ok(UpdateStep {
            from: b.at(x)?,
            part: b.at(part)?,
            to: b.at(out)?,
            starts: starts.iter().map(|&v| Ok((b.at(v)?, b.ty(v).dtype))).collect::<Result<_, OpError>>()?,
            whole: dims(b, x),
            sizes: dims(b, part),
            dtype: b.ty(out).dtype,
            loc: op.loc,
        })
    }

    /// Bytes that it reads and writes: those of the part, and of the whole where that is copied.
    pub(super) fn bytes(&self, frame: &Frame) -> u64 {
        let size = |dims: &[Amount]| {
            let each = |n: u64, d: &Amount| n.saturating_mul(d.size(&frame.extents) as u64);
            dims.iter().fold(2 * self.dtype.size() as u64, each)
        };
        let whole = if self.in_place(frame) { 0 } else { size(&self.whole) };
        size(&self.sizes).saturating_add(whole)
    }

    fn in_place(&self, frame: &Frame) -> bool {
        std::ptr::eq(frame.places[self.from as usize], frame.places[self.to as usize])
    }

    pub(super) fn run(&self, run: &Run<'_, '_>) -> Result<()> {
        let frame = &*run.frame;
        let sizes = |dims: &[Amount]| dims.iter().map(|d| d.size(&frame.extents)).collect::<SmallVec<[usize; 4]>>();
        let (whole, part) = (sizes(&self.whole), sizes(&self.sizes));
        let fits = part.len() == whole.len() && part.iter().zip(&whole).all(|(p, w)| p <= w);
        if !fits || self.starts.len() != whole.len() {
            let message = format!("a slice of {part:?} at {} starts of {whole:?}", self.starts.len());
            let op = OpError::new("dynamic_update_slice", message).at(self.loc);
            return Err(RunError::Op(Box::new(op.remedy("give one start an axis, and sizes that fit"))).into());
        }
        let element = self.dtype.size();
        let (from, to) = (frame.places[self.from as usize], frame.places[self.to as usize]);
        // Before anything is written: a start may be a part of the same memory.
        let mut offset = 0;
        let mut strides: SmallVec<[usize; 4]> = SmallVec::from_elem(element, whole.len());
        for d in (1..whole.len()).rev() {
            strides[d - 1] = strides[d] * whole[d];
        }
        for (d, &(at, dtype)) in self.starts.iter().enumerate() {
            // SAFETY: the plan has put an integer of this dtype at the place.
            let start = unsafe { integer(frame.places[at as usize], dtype) };
            offset += start.clamp(0, (whole[d] - part[d]) as i128) as usize * strides[d];
        }
        if !std::ptr::eq(from, to) {
            let bytes = whole.iter().product::<usize>() * element;
            // SAFETY: both are memory for the whole, and values that are not the same memory are apart.
            unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
        }
        // Axes that are written from end to end lie beside each other: one run takes them and the axis before.
        let mut axis = whole.len();
        let mut run_bytes = element;
        while axis > 0 {
            axis -= 1;
            run_bytes *= part[axis];
            if part[axis] != whole[axis] {
                break;
            }
        }
        let count: usize = part[..axis].iter().product();
        let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, axis);
        let new = frame.places[self.part as usize];
        for i in 0..if run_bytes == 0 { 0 } else { count } {
            // SAFETY: the runs of the part follow each other, and each lies within the whole as starts are clamped. A part
            // that is the same memory as the whole is as large, and written onto itself.
            unsafe { std::ptr::copy(new.add(i * run_bytes), to.add(offset), run_bytes) };
            for d in (0..axis).rev() {
                index[d] += 1;
                offset += strides[d];
                if index[d] < part[d] {
                    break;
                }
                offset -= part[d] * strides[d];
                index[d] = 0;
            }
        }
        Ok(())
    }
}

/// # Safety
/// An integer of the dtype is there.
unsafe fn integer(p: *const u8, d: DType) -> i128 {
    // SAFETY: as promised; places are aligned for any dtype.
    unsafe {
        match d {
            DType::I8 => p.cast::<i8>().read().into(),
            DType::I16 => p.cast::<i16>().read().into(),
            DType::I32 => p.cast::<i32>().read().into(),
            DType::I64 => p.cast::<i64>().read().into(),
            DType::U8 => p.read().into(),
            DType::U16 => p.cast::<u16>().read().into(),
            DType::U32 => p.cast::<u32>().read().into(),
            DType::U64 => p.cast::<u64>().read().into(),
            // Verified modules have integers as starts.
            DType::BOOL | DType::F16 | DType::BF16 | DType::F32 | DType::F64 | DType::C64 | DType::C128 => 0,
        }
    }
}
