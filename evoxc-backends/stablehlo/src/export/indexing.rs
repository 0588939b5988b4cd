//! Gather, scatter, dynamic slices.

use super::captures::Captures;
use super::convert::cast;
use super::reduction::combine;
use super::scatter::{Places, places};
use super::writer::{Val, Writer};
use super::{Outcome, bounds, shape, text};
use evoxc_core::{DType, Dim, OpError, Shape, spec};
use evoxc_ir::{GatherDims, Op, Reducer, ScatterDims, ScatterOp, TensorType};

/// Fields of dimension numbers; empty lists are left out, as MLIR does.
fn fields(lists: &[(&str, &[usize])], index_vector: usize) -> String {
    let mut out: Vec<String> = lists
        .iter()
        .filter(|(_, list)| !list.is_empty())
        .map(|(name, list)| format!("{name} = {}", text::brackets(*list)))
        .collect();
    if index_vector != 0 {
        out.push(format!("index_vector_dim = {index_vector}"));
    }
    text::list(out)
}

pub(super) fn gather(
    w: &mut Writer<'_>,
    x: &Val,
    indices: &Val,
    d: &GatherDims,
    sizes: &[Dim],
    sorted: bool,
    ty: TensorType,
) -> Outcome<Val> {
    let numbers = fields(
        &[
            ("offset_dims", &d.offset),
            ("collapsed_slice_dims", &d.collapsed),
            ("operand_batching_dims", &d.operand_batching),
            ("start_indices_batching_dims", &d.indices_batching),
            ("start_index_map", &d.start_map),
        ],
        d.index_vector,
    );
    let numbers = format!("dimension_numbers = #stablehlo.gather<{numbers}>, indices_are_sorted = {sorted}");
    let fixed: Option<Vec<usize>> = sizes.iter().map(|s| s.get()).collect();
    match fixed {
        Some(sizes) => {
            let attributes = format!("{numbers}, slice_sizes = {}", text::array(sizes));
            Ok(w.generic("gather", &[x, indices], &attributes, ty))
        }
        None => {
            let sizes = w.extents(sizes)?;
            Ok(w.generic("dynamic_gather", &[x, indices, &sizes], &numbers, ty))
        }
    }
}

fn scatter_attributes(d: &ScatterDims, [sorted, unique]: [bool; 2]) -> String {
    let numbers = fields(
        &[
            ("update_window_dims", &d.update_window),
            ("inserted_window_dims", &d.inserted),
            ("input_batching_dims", &d.operand_batching),
            ("scatter_indices_batching_dims", &d.indices_batching),
            ("scatter_dims_to_operand_dims", &d.scatter_map),
        ],
        d.index_vector,
    );
    format!(
        "indices_are_sorted = {sorted}, scatter_dimension_numbers = #stablehlo.scatter<{numbers}>, unique_indices = {unique}"
    )
}

pub(super) fn scatter(
    w: &mut Writer<'_>,
    op: ScatterOp,
    o: &Op,
    xs: &[&Val],
    d: &ScatterDims,
    flags: [bool; 2],
    ty: TensorType,
) -> Outcome<Val> {
    let element = spec(ty.dtype, Shape::scalar());
    let &[x, indices, updates] = xs else { return Err(OpError::new("", "it takes x, indices and updates")) };
    let known = o.operands.get(1).and_then(|&v| w.literal(v)).cloned();
    if w.options.lean && bounds::is_empty(updates) {
        return Ok(x.clone());
    }
    let Places { mut indices, updates, dims, mut flags, plain } =
        places(w, x, indices, &[updates], d, flags, known.clone())?;
    let (mut x, known) = (x.clone(), known.filter(|_| plain));
    if w.options.lean
        && let Some(update) = updates.first()
    {
        let room = bounds::roomy(w, &[&x], &indices, update, &dims, known.as_ref())?;
        (indices, flags[0]) = (room.indices, false);
        x = room.operands.into_iter().next().unwrap_or(x);
    }
    let attributes = scatter_attributes(&dims, flags);
    let operands: Vec<&Val> = [&x, &indices].into_iter().chain(&updates).collect();
    let out = w.bodied("scatter", &operands, &attributes, std::slice::from_ref(&x.ty), |w| {
        let args = w.block_arguments(&[element.clone(), element]);
        let [old, update] = args.as_slice() else { return Ok(vec![]) };
        Ok(vec![match op {
            ScatterOp::Set => update.clone(),
            ScatterOp::Add => combine(w, Reducer::Sum, old, update)?,
            ScatterOp::Mul => combine(w, Reducer::Prod, old, update)?,
            ScatterOp::Min => combine(w, Reducer::Min, old, update)?,
            ScatterOp::Max => combine(w, Reducer::Max, old, update)?,
        }])
    })?;
    let out = bounds::cut(w, out, &[ty])?;
    out.into_iter().next().ok_or_else(|| OpError::new("", "it has no result"))
}

pub(super) fn scatter_body(
    w: &mut Writer<'_>,
    o: &Op,
    xs: &[&Val],
    d: &ScatterDims,
    flags: [bool; 2],
    types: &[TensorType],
) -> Outcome<Vec<Val>> {
    let n = types.len();
    let (Some(olds), Some(&indices), Some(updates), Some(r)) =
        (xs.get(..n), xs.get(n), xs.get(n + 1..), o.regions.first())
    else {
        return Err(OpError::new("", "it takes as many updates as operands, and a body"));
    };
    let (Some(first), Some(first_update)) = (olds.first(), updates.first()) else { return Ok(vec![]) };
    let captures = Captures::of(w, r)?;
    let (mut old, mut update, mut types) = (vec![], vec![], types.to_vec());
    for c in captures.outside() {
        old.push(w.broadcast(&c, first.shape(), &[])?);
        update.push(w.broadcast(&c, first_update.shape(), &[])?);
        types.push(first.like(c.dtype()));
    }
    let all: Vec<&Val> = updates.iter().copied().chain(&update).collect();
    let known = o.operands.get(n).and_then(|&v| w.literal(v)).cloned();
    let Places { mut indices, updates, dims, mut flags, plain } =
        places(w, first, indices, &all, d, flags, known.clone())?;
    let mut olds: Vec<Val> = olds.iter().map(|&x| x.clone()).chain(old).collect();
    let exact = types.clone();
    if w.options.lean
        && let Some(update) = updates.first()
    {
        if bounds::is_empty(update) {
            olds.truncate(n);
            return Ok(olds);
        }
        let known = known.filter(|_| plain);
        let room = bounds::roomy(w, &olds.iter().collect::<Vec<_>>(), &indices, update, &dims, known.as_ref())?;
        (olds, indices, flags[0]) = (room.operands, room.indices, false);
        types = olds.iter().map(|x| x.ty.clone()).collect();
    }
    let operands: Vec<&Val> = olds.iter().chain(std::iter::once(&indices)).chain(&updates).collect();
    let attributes = scatter_attributes(&dims, flags);
    let mut results = w.bodied("scatter", &operands, &attributes, &types, |w| {
        // (old..., old of the captured..., update..., update of the captured...)
        let args = w.block_arguments(&scalars(&types, 2));
        let (old, update) = args.split_at(types.len());
        let (Some((old, _)), Some((update, inside))) = (old.split_at_checked(n), update.split_at_checked(n)) else {
            return Err(OpError::new("", "its body takes two values an operand"));
        };
        let own: Vec<Val> = old.iter().chain(update).cloned().collect();
        let mut out = captures.write(w, r, &own, inside)?;
        out.extend(inside.iter().cloned());
        Ok(out)
    })?;
    results.truncate(n);
    bounds::cut(w, results, &exact)
}

/// Scalars of these dtypes, so many times.
pub(super) fn scalars(types: &[TensorType], times: usize) -> Vec<TensorType> {
    let each = types.iter().map(|t| spec(t.dtype, Shape::scalar()));
    std::iter::repeat_n(each, times).flatten().collect()
}

pub(super) fn dynamic_slice(w: &mut Writer<'_>, xs: &[&Val], sizes: &[Dim], ty: TensorType) -> Outcome<Val> {
    let fixed: Option<Vec<usize>> = sizes.iter().map(|s| s.get()).collect();
    let near = near_starts(w, xs, 1, sizes)?;
    let xs: &[&Val] = &near.iter().collect::<Vec<_>>();
    if let Some(fixed) = fixed {
        return Ok(w.typed("dynamic_slice", xs, &format!(", sizes = {}", text::brackets(fixed)), ty));
    }
    // With sizes known at run time only: the slice between the clamped starts and as much behind them.
    let Some((&x, starts)) = xs.split_first() else { return Err(OpError::new("", "it has no operand")) };
    let mut from = vec![];
    for ((&start, &n), &size) in starts.iter().zip(x.shape()).zip(sizes) {
        let (wide, last) = (wide_index(w, start)?, w.extent(n - size)?);
        let (zero, last) = (w.scalar(DType::I64, 0)?, cast(w, &last, DType::I64));
        let clamped = w.same("clamp", &[&zero, &wide, &last])?;
        let clamped = cast(w, &clamped, DType::I32);
        from.push(w.typed("reshape", &[&clamped], "", spec(DType::I32, [1])));
    }
    let from: Vec<&Val> = from.iter().collect();
    let from = shape::concatenate(w, &from, 0, spec(DType::I32, [sizes.len()]))?;
    let room = w.extents(sizes)?;
    let to = w.same("add", &[&from, &room])?;
    let steps = w.extents(&vec![Dim::constant(1); sizes.len()])?;
    Ok(w.typed("real_dynamic_slice", &[x, &from, &to, &steps], "", ty))
}

/// An index as i64; one beyond its range stays beyond every extent.
fn wide_index(w: &mut Writer<'_>, start: &Val) -> Outcome<Val> {
    if start.dtype() != DType::U64 {
        return Ok(cast(w, start, DType::I64));
    }
    let most = w.scalar(DType::U64, i64::MAX)?;
    let least = w.same("minimum", &[start, &most])?;
    Ok(cast(w, &least, DType::I64))
}

pub(super) fn dynamic_update_slice(w: &mut Writer<'_>, xs: &[&Val], ty: TensorType) -> Outcome<Val> {
    let sizes: Vec<Dim> = xs.get(1).map(|u| u.shape().iter().copied().collect()).unwrap_or_default();
    let xs = near_starts(w, xs, 2, &sizes)?;
    Ok(w.typed("dynamic_update_slice", &xs.iter().collect::<Vec<_>>(), "", ty))
}

/// The operands; those from number `first` on are starts of a slice of `sizes`, moved inside as i32 where a compiler
/// takes indices of all dtypes for i32.
fn near_starts(w: &mut Writer<'_>, xs: &[&Val], first: usize, sizes: &[Dim]) -> Outcome<Vec<Val>> {
    let mut out: Vec<Val> = xs.iter().map(|&x| x.clone()).collect();
    let Some(&x) = xs.first().filter(|_| w.options.lean) else { return Ok(out) };
    for (start, (&n, &size)) in out.iter_mut().skip(first).zip(x.shape().iter().zip(sizes)) {
        let wide = matches!(start.dtype(), DType::I64 | DType::U32 | DType::U64);
        *start = bounds::signed(w, start)?;
        if wide {
            let last = w.extent(n - size)?;
            let (zero, last) = (w.scalar(DType::I64, 0)?, cast(w, &last, DType::I64));
            let near = w.same("clamp", &[&zero, start, &last])?;
            *start = cast(w, &near, DType::I32);
        }
    }
    Ok(out)
}

impl Writer<'_> {
    /// An op in generic form with one region.
    pub(super) fn bodied(
        &mut self,
        name: &str,
        xs: &[&Val],
        attributes: &str,
        types: &[TensorType],
        write: impl FnOnce(&mut Self) -> Outcome<Vec<Val>>,
    ) -> Outcome<Vec<Val>> {
        let (head, results) = self.results(types);
        self.open(&format!("{head}\"stablehlo.{name}\"({}) <{{{attributes}}}> ({{", text::list(xs)));
        self.region(write)?;
        let operands = text::parens(xs.iter().map(|v| text::ty(&v.ty)));
        self.close(&format!("}}) : {operands} -> {}", text::results(types)));
        Ok(results)
    }
    /// The arguments and ops of a region of an op.
    pub(super) fn body_of(&mut self, o: &Op, region: usize) -> Outcome<Vec<Val>> {
        let Some(r) = o.regions.get(region) else { return Err(OpError::new("", "it has no such region")) };
        let types: Vec<TensorType> = r.args.iter().map(|&v| self.func.ty(v).clone()).collect();
        let args = self.block_arguments(&types);
        let captures = Captures::of(self, r)?;
        // Here no operand can carry a scalar in: it is captured.
        let outside = captures.outside();
        captures.write(self, r, &args, &outside)
    }
}
