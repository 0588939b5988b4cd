//! Where gathers read and scatters write: what the rules of one need of the other.
//!
//! A gather clamps its starts, a scatter drops what is out of bounds, so that neither is the transpose of the other as
//! it stands: indices are clamped before they scatter, and what a scatter wrote is read from a padded tensor.

use evoxc_core::{DType, Dim, I32, I64, IntoShape, Scalar, Shape};
use evoxc_ir::{GatherDims, Prim, ScatterDims};
use evoxc_trace::{Sym, concat, emitter, full};

/// The value of an extent as a scalar; one that the dtype does not hold is its largest value.
#[track_caller]
fn scalar(d: Dim, dtype: DType) -> Sym {
    match d.as_i64() {
        Some(v) if dtype == I32 => full(dtype, [], v.min(i32::MAX.into())),
        Some(v) => full(dtype, [], v),
        None => emitter::emit(Prim::DimSize { extent: d, dtype }, &[]),
    }
}

/// One value for every component of the indices: a scalar if all are equal, else of the indices' shape.
#[track_caller]
fn components(values: &[Dim], indices: Sym, index_vector: usize) -> Sym {
    let dtype = indices.dtype();
    match values {
        [first, rest @ ..] if rest.iter().all(|d| d == first) => scalar(*first, dtype),
        _ => {
            let all = concat(values.iter().map(|&d| scalar(d, dtype).reshape([1])), 0);
            let spread = Prim::BroadcastInDim { shape: indices.shape(), dims: vec![index_vector] };
            emitter::emit(spread, &[all])
        }
    }
}

/// Indices of a signed dtype that counts far enough: arithmetic with extents must not wrap into bounds.
#[track_caller]
fn signed(indices: Sym) -> Sym {
    let d = indices.dtype();
    match d.bits() {
        64 if d.is_unsigned() => indices.minimum(i64::MAX / 2).cast(I64),
        32 if d.is_unsigned() => indices.cast(I64),
        8 | 16 => indices.cast(I32),
        _ => indices,
    }
}

/// Indices that a gather would clamp to these, clamped: component i to 0..=bounds[i].
#[track_caller]
pub(crate) fn clamped(indices: Sym, bounds: &[Dim], index_vector: usize) -> Sym {
    if bounds.is_empty() {
        return indices;
    }
    let i = signed(indices);
    i.clip(0, components(bounds, i, index_vector))
}

/// The dimension numbers of the scatter that writes where a gather reads.
pub(crate) fn scatter_dims(d: &GatherDims) -> ScatterDims {
    ScatterDims {
        update_window: d.offset.clone(),
        inserted: d.collapsed.clone(),
        operand_batching: d.operand_batching.clone(),
        indices_batching: d.indices_batching.clone(),
        scatter_map: d.start_map.clone(),
        index_vector: d.index_vector,
    }
}

/// The places that a scatter writes, to be read.
pub(crate) struct Places {
    gather: Prim,
    indices: Sym,
    /// How far x is padded on both sides of every axis, so that a window that is partly out of bounds lies within.
    padding: Vec<Dim>,
}

impl Places {
    #[track_caller]
    pub fn new(x: &Shape, indices: Sym, updates: &Shape, d: &ScatterDims) -> Places {
        let mut window = d.update_window.iter().map(|&u| updates[u]);
        let one = Dim::constant(1);
        let sizes: Vec<Dim> = (0..x.rank())
            .map(|a| match (d.inserted.contains(&a), d.operand_batching.contains(&a)) {
                // Of a batch without elements there is nothing to read.
                (false, true) if x[a] == 0 => x[a],
                (true, _) | (_, true) => one,
                (false, false) => window.next().unwrap_or(one),
            })
            .collect();
        let none = Dim::constant(0);
        let padding = (0..x.rank()).map(|a| if d.scatter_map.contains(&a) { sizes[a] } else { none }).collect();
        let shift: Vec<Dim> = d.scatter_map.iter().map(|&a| sizes[a]).collect();
        let mut indices = signed(indices);
        if !shift.is_empty() {
            indices += components(&shift, indices, d.index_vector);
        }
        let dims = GatherDims {
            offset: d.update_window.clone(),
            collapsed: d.inserted.clone(),
            operand_batching: d.operand_batching.clone(),
            indices_batching: d.indices_batching.clone(),
            start_map: d.scatter_map.clone(),
            index_vector: d.index_vector,
        };
        Places { gather: Prim::Gather { dims, sizes, sorted: false }, indices, padding }
    }
    /// The elements of x, of the updates' shape; `fill` where an update is out of bounds.
    #[track_caller]
    pub fn read(&self, x: Sym, fill: impl Into<Scalar>) -> Sym {
        let n = self.padding.len();
        let pad = Prim::Pad { low: self.padding.clone(), high: self.padding.clone(), interior: vec![0; n] };
        let x = emitter::emit(pad, &[x, full(x.dtype(), ().into_shape(), fill)]);
        emitter::emit(self.gather.clone(), &[x, self.indices])
    }
}
