//! Where the updates of a scatter go. StableHLO drops single elements that lie outside, XLA whole windows that do not
//! fit: windows that could stick out are taken apart, so that every element has an index of its own.

use super::Outcome;
use super::convert::cast;
use super::shape;
use super::writer::{Val, Writer};
use evoxc_core::{BufferElement, DType, Dim, Shape, spec};
use evoxc_ir::{Literal, ScatterDims};

/// The operands and dimension numbers of a scatter that is written.
pub(super) struct Places {
    pub(super) indices: Val,
    pub(super) updates: Vec<Val>,
    pub(super) dims: ScatterDims,
    pub(super) flags: [bool; 2],
    /// Are the indices those of the op?
    pub(super) plain: bool,
}

/// An axis of a window that could stick out.
struct Loose {
    /// The axis of the updates.
    update: usize,
    /// The axis of x.
    axis: usize,
    /// The component of an index that addresses it.
    component: usize,
}

fn loose(x: &Val, updates: &Val, d: &ScatterDims, known: Option<&Literal>) -> Vec<Loose> {
    let window = (0..x.rank()).filter(|a| !d.inserted.contains(a) && !d.operand_batching.contains(a));
    let each = d.update_window.iter().zip(window).filter_map(|(&update, axis)| {
        let component = d.scatter_map.iter().position(|&a| a == axis)?;
        let (size, room) = (updates.shape()[update], x.shape()[axis]);
        let fits = size == 1 || known.is_some_and(|l| within(l, d.index_vector, component, size, room));
        (!fits).then_some(Loose { update, axis, component })
    });
    each.collect()
}

/// Does a window of `size` fit at every index of a constant?
pub(super) fn within(indices: &Literal, index_vector: usize, component: usize, size: Dim, room: Dim) -> bool {
    let Some(last) = (room - size).as_i64() else { return false };
    let t = indices.tensor();
    let Ok(wide) = t.cast(DType::I64) else { return false };
    let values: &[i64] = <i64 as BufferElement>::slice(wide.buffer()).unwrap_or_default();
    let fits = |v: i64| (0..=last).contains(&v);
    match indices {
        Literal::Splat(..) => values.iter().all(|&v| fits(v)),
        Literal::Dense(_) => {
            let shape = t.shape();
            let n = shape.get(index_vector).copied().unwrap_or(1);
            let inner: usize = shape.iter().skip(index_vector + 1).product();
            let of = |i: usize| if inner == 0 || n == 0 { 0 } else { i / inner % n };
            values.iter().enumerate().filter(|(i, _)| of(*i) == component).all(|(_, &v)| fits(v))
        }
    }
}

/// The operands as they are, where no window can stick out; else with loose windows taken apart.
pub(super) fn places(
    w: &mut Writer<'_>,
    x: &Val,
    indices: &Val,
    updates: &[&Val],
    d: &ScatterDims,
    flags: [bool; 2],
    known: Option<Literal>,
) -> Outcome<Places> {
    let all = |v: &[&Val]| v.iter().map(|&u| u.clone()).collect::<Vec<Val>>();
    let plain = |w: &[&Val]| Places { indices: indices.clone(), updates: all(w), dims: d.clone(), flags, plain: true };
    let Some(first) = updates.first() else { return Ok(plain(updates)) };
    let loose = loose(x, first, d, known.as_ref());
    if loose.is_empty() {
        return Ok(plain(updates));
    }
    // Updates: the axes that scatter, the loose ones, the rest of the window.
    let rank = first.rank();
    let scattering: Vec<usize> = (0..rank).filter(|a| !d.update_window.contains(a)).collect();
    let apart: Vec<usize> = loose.iter().map(|l| l.update).collect();
    let rest: Vec<usize> = d.update_window.iter().copied().filter(|a| !apart.contains(a)).collect();
    let perm: Vec<usize> = scattering.iter().chain(&apart).chain(&rest).copied().collect();
    let mut moved = vec![];
    for &u in updates {
        let shape: Shape = perm.iter().map(|&a| u.shape()[a]).collect();
        moved.push(if perm.is_sorted() { u.clone() } else { shape::transpose(w, u, &perm, spec(u.dtype(), shape))? });
    }
    let sizes: Vec<Dim> = apart.iter().map(|&a| first.shape()[a]).collect();
    let components: Vec<usize> = loose.iter().map(|l| l.component).collect();
    let indices = offset(w, indices, d.index_vector, &sizes, &components)?;
    let window = scattering.len() + apart.len();
    let mut inserted: Vec<usize> = d.inserted.iter().copied().chain(loose.iter().map(|l| l.axis)).collect();
    inserted.sort_unstable();
    let dims = ScatterDims {
        update_window: (window..rank).collect(),
        inserted,
        operand_batching: d.operand_batching.clone(),
        indices_batching: d.indices_batching.iter().map(|&a| a - usize::from(a > d.index_vector)).collect(),
        scatter_map: d.scatter_map.clone(),
        index_vector: window,
    };
    Ok(Places { indices, updates: moved, dims, flags: [false, flags[1]], plain: false })
}

/// Indices with an axis more for each of `sizes`, before the components, along which the component counts up.
fn offset(w: &mut Writer<'_>, indices: &Val, index_vector: usize, sizes: &[Dim], components: &[usize]) -> Outcome<Val> {
    // Wide enough that no sum of an index and an offset comes back into the range.
    let dtype = if matches!(indices.dtype(), DType::I64 | DType::U64 | DType::U32) { DType::I64 } else { DType::I32 };
    let mut indices = cast(w, indices, dtype);
    if index_vector == indices.rank() {
        let mut shape = indices.shape().clone();
        shape.push(1);
        indices = w.reshape(&indices, &shape)?;
    }
    let n = indices.rank();
    let others: Vec<usize> = (0..n).filter(|&a| a != index_vector).collect();
    let count = indices.shape()[index_vector];
    let shape: Shape = others.iter().map(|&a| indices.shape()[a]).chain(sizes.iter().copied()).chain([count]).collect();
    // Axis by axis: the batch keeps its order, the components go last.
    let last = shape.rank() - 1;
    let dims: Vec<usize> = (0..n).map(|a| others.iter().position(|&o| o == a).unwrap_or(last)).collect();
    let mut sum = w.broadcast(&indices, &shape, &dims)?;
    let ty = sum.ty.clone();
    for (i, &component) in components.iter().enumerate() {
        let steps = shape::iota(w, others.len() + i, ty.clone())?;
        let steps = if count == 1 {
            steps
        } else {
            let mine = w.repeat(&super::writer::number(dtype, component as i64)?, &ty.shape)?;
            let of = shape::iota(w, last, ty.clone())?;
            let (is_mine, zero) = (w.compare("EQ", &of, &mine), w.splat(&ty, 0)?);
            w.choose(&is_mine, &steps, &zero)
        };
        sum = w.same("add", &[&sum, &steps])?;
    }
    Ok(sum)
}
