//! `chlo.ragged_dot`: a dot whose rows fall into groups, each with a matrix of its own.

use crate::import::fault::Done;
use crate::import::item::Item;
use crate::import::walk::Importer;
use crate::syntax::ast::Op;
use evoxc_core::{DType, Dim, Shape, Unsupported};
use evoxc_ir::{AxisPair, Direction, Prim, SortOrder};
use evoxc_trace::Sym;

/// One mask a group says which rows are its own; the dot then runs over the groups as well.
///
/// With the ragged axis among the free axes of lhs, rhs has an axis of groups, which is contracted with that of the
/// masked lhs; with a contracted ragged axis, the axis of groups becomes the first of the result.
pub fn ragged_dot<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [lhs, rhs, sizes] = i.operands(op)?;
    let d = i.record(op, "ragged_dot_dimension_numbers")?;
    let dot = match d.get("dot_dimension_numbers") {
        Some(crate::syntax::ast::Attr::Record(_, fields)) => crate::import::attrs::Fields { fields },
        _ => crate::import::attrs::Fields { fields: d.fields },
    };
    let batch = [dot.axes(i, op, "lhs_batching_dimensions")?, dot.axes(i, op, "rhs_batching_dimensions")?];
    let contract = [dot.axes(i, op, "lhs_contracting_dimensions")?, dot.axes(i, op, "rhs_contracting_dimensions")?];
    let (ragged, groups) = (d.axes(i, op, "lhs_ragged_dimensions")?, d.axes(i, op, "rhs_group_dimensions")?);
    let &[ragged] = ragged.as_slice() else { return Err(i.error(op, "it has one ragged axis of lhs")) };
    if i.shape(op, sizes)?.rank() != 1 {
        let m = "its groups have a size a batch";
        return Err(i.unsupported(op, Unsupported::Op, m, "call it for each batch"));
    }
    let (want, _) = i.declared_result(op, 0)?;
    let (lhs, rhs) = (i.cast(op, lhs, want)?, i.cast(op, rhs, want)?);
    let masked = masked(i, op, lhs, sizes, ragged)?;
    let wide = |axes: &[usize]| axes.iter().map(|a| a + 1).collect::<Vec<usize>>();
    let y = match groups.as_slice() {
        &[group] if batch[0].contains(&ragged) => {
            let _ = group;
            return Err(i.unsupported(
                op,
                Unsupported::Op,
                "its ragged axis is a batch axis",
                "call it for each group",
            ));
        }
        &[group] => {
            let contract = AxisPair {
                lhs: std::iter::once(0).chain(wide(&contract[0])).collect(),
                rhs: std::iter::once(group).chain(contract[1].iter().copied()).collect(),
            };
            let batch = AxisPair { lhs: wide(&batch[0]), rhs: batch[1].clone() };
            i.emit(op, Prim::Dot { batch, contract, accumulate: None }, &[masked, rhs])?
        }
        [] if contract[0].contains(&ragged) => {
            let rank = batch[0].len();
            let batch = AxisPair { lhs: wide(&batch[0]), rhs: batch[1].clone() };
            let contract = AxisPair { lhs: wide(&contract[0]), rhs: contract[1].clone() };
            let y = i.emit(op, Prim::Dot { batch, contract, accumulate: None }, &[masked, rhs])?;
            // The result has its batch axes first; the groups come before them.
            let n = i.shape(op, y)?.rank();
            let perm: Vec<usize> = std::iter::once(rank).chain(0..rank).chain(rank + 1..n).collect();
            if rank == 0 { y } else { i.emit(op, Prim::Transpose { perm }, &[y])? }
        }
        _ => {
            let m = "its ragged axis is neither a free one with groups in rhs nor a contracted one";
            return Err(i.unsupported(op, Unsupported::Op, m, "call it for each group"));
        }
    };
    Ok(vec![y.into()])
}

/// lhs once a group, along a new first axis, with zeros in the rows of other groups.
fn masked(i: &Importer, op: &Op, lhs: Sym, sizes: Sym, ragged: usize) -> Done<Sym> {
    let ty = i.ty(op, lhs)?;
    let Some(&rows) = ty.shape.get(ragged) else { return Err(i.error(op, "its ragged axis is out of range")) };
    let groups = i.shape(op, sizes)?.first().copied().unwrap_or(Dim::constant(0));
    let sizes = i.cast(op, sizes, DType::I64)?;
    let ends = i.sound(op, sizes.cumsum(0))?;
    let starts = i.sound(op, ends - sizes)?;
    let grid: Shape = [groups, rows].into_iter().collect();
    let row = i.emit(op, Prim::Iota { dtype: DType::I64, shape: grid.clone(), axis: 1 }, &[])?;
    let wide = |x: Sym| i.emit(op, Prim::BroadcastInDim { shape: grid.clone(), dims: vec![0] }, &[x]);
    let compare = |direction, a, b| i.emit(op, Prim::Compare { direction, order: SortOrder::Ieee }, &[a, b]);
    let (from, to) = (compare(Direction::Ge, row, wide(starts)?)?, compare(Direction::Lt, row, wide(ends)?)?);
    let inside = i.emit(op, Prim::Binary(evoxc_ir::Binary::And), &[from, to])?;
    let shape: Shape = std::iter::once(groups).chain(ty.shape.iter().copied()).collect();
    let dims = vec![0, ragged + 1];
    let mask = i.emit(op, Prim::BroadcastInDim { shape: shape.clone(), dims }, &[inside])?;
    let dims = (1..=ty.rank()).collect();
    let many = i.emit(op, Prim::BroadcastInDim { shape: shape.clone(), dims }, &[lhs])?;
    let zero = i.sound(op, evoxc_trace::zeros(ty.dtype, &shape))?;
    i.emit(op, Prim::Select {}, &[mask, many, zero])
}
