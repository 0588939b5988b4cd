//! Gather, scatter and dynamic slices for all rows.
//!
//! Indices that are the same for every row take whole rows; indices of each row pair with it as a batch axis.

use super::parts::{front, reshape, up};
use super::{Rows, Site};
use evoxc_core::{DType, Dim, OpError, Shape};
use evoxc_ir::{GatherDims, Prim, ScatterDims, ScatterOp};
use evoxc_trace::{Sym, emitter};

pub(super) fn gather(site: &Site, d: &GatherDims, sizes: &[Dim], sorted: bool) -> Result<Rows, OpError> {
    let (x, indices) = (site.x[0], site.x[1]);
    let operands = [x.sym, indices.sym];
    match (x.batched, indices.batched) {
        (_, false) => {
            let dims = GatherDims {
                offset: front(0, &up(&d.offset)),
                collapsed: up(&d.collapsed),
                operand_batching: up(&d.operand_batching),
                start_map: up(&d.start_map),
                ..d.clone()
            };
            site.write(Prim::Gather { dims, sizes: front(site.size, sizes), sorted }, &operands)
        }
        (false, true) => {
            let dims = GatherDims {
                offset: up(&d.offset),
                indices_batching: up(&d.indices_batching),
                index_vector: d.index_vector + 1,
                ..d.clone()
            };
            site.write(Prim::Gather { dims, sizes: sizes.to_vec(), sorted: false }, &operands)
        }
        (true, true) => {
            let dims = GatherDims {
                offset: up(&d.offset),
                collapsed: up(&d.collapsed),
                operand_batching: front(0, &up(&d.operand_batching)),
                indices_batching: front(0, &up(&d.indices_batching)),
                start_map: up(&d.start_map),
                index_vector: d.index_vector + 1,
            };
            site.write(Prim::Gather { dims, sizes: front(one_row(site.size), sizes), sorted: false }, &operands)
        }
    }
}

/// The size of slices along the axis of the rows: a row, if there is any.
fn one_row(size: Dim) -> Dim {
    Dim::constant(i64::from(size != 0))
}

/// For every row the updates come in the order that they have for one row, so that rounding is the same.
pub(super) fn scatter(
    site: &Site,
    op: ScatterOp,
    d: &ScatterDims,
    sorted: bool,
    unique: bool,
) -> Result<Rows, OpError> {
    let (dims, still) = scatter_dims(d, site.x[1].batched);
    let operands = [site.rows(0), site.x[1].sym, site.rows(2)];
    site.write(Prim::Scatter { op, dims, sorted: sorted && still, unique }, &operands)
}

/// The dimension numbers for all rows, and whether indices that are sorted stay so. Indices without duplicates stay so
/// in either case, since those of other rows address other elements.
pub(super) fn scatter_dims(d: &ScatterDims, indices_batched: bool) -> (ScatterDims, bool) {
    let all = ScatterDims {
        update_window: up(&d.update_window),
        inserted: up(&d.inserted),
        operand_batching: up(&d.operand_batching),
        scatter_map: up(&d.scatter_map),
        ..d.clone()
    };
    let dims = if indices_batched {
        ScatterDims {
            operand_batching: front(0, &all.operand_batching),
            indices_batching: front(0, &up(&d.indices_batching)),
            index_vector: d.index_vector + 1,
            ..all
        }
    } else {
        ScatterDims { update_window: front(0, &all.update_window), ..all }
    };
    (dims, !indices_batched)
}

pub(super) fn dynamic_slice(site: &Site, sizes: &[Dim]) -> Result<Rows, OpError> {
    let (x, starts) = (site.x[0], 1);
    if site.x[starts..].iter().all(|s| !s.batched) {
        let operands: Vec<Sym> = [x.sym, zero_start(site, starts)].into_iter().chain(syms(site, starts)).collect();
        return site.write(Prim::DynamicSlice { sizes: front(site.size, sizes) }, &operands);
    }
    let cut = cut_axes(&site.row_shape(0), sizes);
    if cut.is_empty() {
        return Ok(Rows::from_elem(site.rows(0), 1));
    }
    let indices = start_indices(site, starts, &cut, None);
    let offset = (1..=sizes.len()).collect();
    let (start_map, batching, sizes) =
        if x.batched { (up(&cut), vec![0], front(one_row(site.size), sizes)) } else { (cut, vec![], sizes.to_vec()) };
    let dims = GatherDims {
        offset,
        collapsed: vec![],
        operand_batching: batching.clone(),
        indices_batching: batching,
        start_map,
        index_vector: 1,
    };
    site.write(Prim::Gather { dims, sizes, sorted: false }, &[x.sym, indices])
}

pub(super) fn dynamic_update_slice(site: &Site) -> Result<Rows, OpError> {
    let starts = 2;
    if site.x[starts..].iter().all(|s| !s.batched) {
        let head = [site.rows(0), site.rows(1), zero_start(site, starts)];
        let operands: Vec<Sym> = head.into_iter().chain(syms(site, starts)).collect();
        return site.write(Prim::DynamicUpdateSlice {}, &operands);
    }
    let (room, sizes) = (site.row_shape(0), site.row_shape(1));
    let cut = cut_axes(&room, &sizes);
    if cut.is_empty() {
        return Ok(Rows::from_elem(site.rows(1), 1));
    }
    let indices = start_indices(site, starts, &cut, Some((&room, &sizes)));
    let dims = ScatterDims {
        update_window: (1..=sizes.rank()).collect(),
        inserted: vec![],
        operand_batching: vec![0],
        indices_batching: vec![0],
        scatter_map: up(&cut),
        index_vector: 1,
    };
    let prim = Prim::Scatter { op: ScatterOp::Set, dims, sorted: false, unique: true };
    site.write(prim, &[site.rows(0), indices, site.rows(1)])
}

fn syms<'a>(site: &'a Site, from: usize) -> impl Iterator<Item = Sym> + 'a {
    site.x[from..].iter().map(|m| m.sym)
}

/// The dtype of the starts.
fn start_dtype(site: &Site, from: usize) -> DType {
    site.x.get(from).and_then(|m| emitter::type_of(m.sym)).map_or(DType::I32, |t| t.dtype)
}

/// The start along the axis of the rows.
fn zero_start(site: &Site, from: usize) -> Sym {
    evoxc_trace::full(start_dtype(site, from), [], 0)
}

/// The axes of which a slice is only a part: along the others every start is clamped to 0.
fn cut_axes(room: &[Dim], sizes: &[Dim]) -> Vec<usize> {
    room.iter().zip(sizes).enumerate().filter(|(_, (n, s))| n != s).map(|(i, _)| i).collect()
}

/// The starts along `axes` of all rows, `[rows, axes]`; clamped so that sizes fit into their room where that is given:
/// gather clamps by itself, scatter drops.
fn start_indices(site: &Site, from: usize, axes: &[usize], clamp: Option<(&Shape, &Shape)>) -> Sym {
    let column = |&axis: &usize| {
        let m = site.x[from + axis];
        let s = match clamp {
            Some((room, sizes)) => clamped(m.sym, room[axis], sizes[axis]),
            None => m.sym,
        };
        let s = super::batched(super::Mapped { sym: s, batched: m.batched }, site.size);
        reshape(s, [site.size, Dim::constant(1)])
    };
    match &axes.iter().map(column).collect::<Vec<_>>()[..] {
        &[one] => one,
        columns => emitter::emit(Prim::Concatenate { axis: 1 }, columns),
    }
}

/// A start, or those of all rows, between 0 and the last that leaves room for `size` elements of `n`.
fn clamped(start: Sym, n: Dim, size: Dim) -> Sym {
    let dtype = emitter::type_of(start).map_or(DType::I32, |t| t.dtype);
    let narrow = matches!(dtype, DType::I8 | DType::I16 | DType::U8 | DType::U16);
    // So that the bound is a value of the dtype.
    let (start, dtype) = if narrow {
        (emitter::emit(Prim::Convert { dtype: DType::I32 }, &[start]), DType::I32)
    } else {
        (start, dtype)
    };
    let last = n - size;
    let high = match last.as_i64() {
        Some(last) => {
            let most = if dtype == DType::I32 {
                i64::from(i32::MAX)
            } else if dtype == DType::U32 {
                i64::from(u32::MAX)
            } else {
                i64::MAX
            };
            evoxc_trace::full(dtype, [], last.min(most))
        }
        None => emitter::emit(Prim::DimSize { extent: last, dtype }, &[]),
    };
    let low = evoxc_trace::full(dtype, [], 0);
    emitter::emit(Prim::Clamp {}, &[low, start, high])
}
