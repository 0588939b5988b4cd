//! Gather, scatter and dynamic slices, with StableHLO's semantics: the starts of slices are clamped, out-of-bounds
//! elements of updates are dropped.

use super::combine::{Combine, scatterer};
use super::empty;
use super::walk::{
    Dims, Runs, clamp_start, from_buffer, integers, offset, others, pick, positions, scalar_at, slice, store, strides,
    tensor, try_positions,
};
use evoxc_core::{Buffer, Element, OpError, Result, RunError, Tensor, with_buffer};
use evoxc_ir::{GatherDims, ScatterDims, ScatterOp};
use smallvec::SmallVec;

/// A position that may lie outside of its tensor.
type Position = SmallVec<[i64; 6]>;

/// How a tensor of indices addresses an operand: the common part of gather and scatter.
struct Addresses {
    /// For every position of the batch axes of the indices, a start for every axis of the operand.
    starts: Vec<i64>,
    /// Extents of the batch axes of the indices.
    batch: Dims,
    rank: usize,
}

impl Addresses {
    fn new(
        op: &str,
        rank: usize,
        indices: &Tensor,
        map: &[usize],
        batching: (&[usize], &[usize]),
        index_vector: usize,
    ) -> Result<Addresses, OpError> {
        let values = integers(op, indices)?;
        let shape = indices.shape();
        let batch_axes = others(shape.len(), &[&[index_vector]]);
        let batch = pick(shape, &batch_axes);
        let all = strides(shape);
        let batch_strides = pick(&all, &batch_axes);
        let step = all.get(index_vector).copied().unwrap_or(0);
        let components = shape.get(index_vector).copied().unwrap_or(1);
        if components != map.len() {
            return Err(OpError::new(op, format!("{components} index components address {} axes", map.len())));
        }
        let mut starts = vec![];
        positions(&batch, |at| {
            let from = starts.len();
            starts.resize(from + rank, 0);
            for (i, &axis) in map.iter().enumerate() {
                starts[from + axis] = values[offset(at, &batch_strides) + i * step];
            }
            for (&axis, &of) in batching.0.iter().zip(batching.1) {
                starts[from + axis] = at[of - usize::from(of > index_vector)] as i64;
            }
        });
        Ok(Addresses { starts, batch, rank })
    }
    /// The starts of one batch position.
    fn at(&self, i: usize) -> &[i64] {
        &self.starts[i * self.rank..(i + 1) * self.rank]
    }
}

/// Slices of `sizes` of x at the clamped starts that `indices` holds.
pub(crate) fn gather(
    x: &Tensor,
    indices: &Tensor,
    dims: &GatherDims,
    sizes: &[usize],
    out_shape: &[usize],
) -> Result<Tensor, OpError> {
    let op = "gather";
    let rank = x.rank();
    let nothing = out_shape.contains(&0);
    // An axis of size 0 that is batched or collapsed gives no slice of size 1, and where there are no results none is
    // taken: no index pairs with it.
    let single = |i: &usize| dims.operand_batching.contains(i) || dims.collapsed.contains(i);
    let fits = |(i, (s, n)): (usize, (&usize, &usize))| s <= n || nothing && single(&i);
    if sizes.len() != rank || !sizes.iter().zip(x.shape()).enumerate().all(fits) {
        return Err(OpError::new(op, format!("slices of {sizes:?} do not fit")).operands([x.spec(), indices.spec()]));
    }
    if nothing {
        return empty(x.dtype(), out_shape);
    }
    if sizes.contains(&0) {
        // An axis of size 0 that is collapsed leaves no trace in the result.
        return Err(OpError::new(op, format!("slices of {sizes:?} have no element to give"))
            .operands([x.spec(), indices.spec()])
            .remedy("collapsed axes take slices of size 1"));
    }
    if takes_rows(x, indices, dims, sizes, out_shape.len()) {
        let (n, width) = (x.shape().first().copied().unwrap_or(1), sizes.iter().product::<usize>());
        return match indices.buffer() {
            Buffer::I32(rows) => gather_rows(x, rows.iter().map(|&r| clamp_start(r.into(), 1, n)), width, out_shape),
            _ => {
                let rows = integers(op, indices)?;
                gather_rows(x, rows.into_iter().map(|r| clamp_start(r, 1, n)), width, out_shape)
            }
        };
    }
    let batching = (&dims.operand_batching[..], &dims.indices_batching[..]);
    let addresses = Addresses::new(op, rank, indices, &dims.start_map, batching, dims.index_vector)?;
    let (xs, outs) = (strides(x.shape()), strides(out_shape));
    let window = others(rank, &[&dims.collapsed, &dims.operand_batching]);
    let batch_strides = pick(&outs, &others(out_shape.len(), &[&dims.offset]));
    let runs = Runs::new(&pick(sizes, &window), &pick(&xs, &window), &pick(&outs, &dims.offset));
    with_buffer!(x.buffer(), v => {
        let mut out = vec![Default::default(); out_shape.iter().product()];
        let mut i = 0;
        positions(&addresses.batch, |at| {
            let starts = addresses.at(i).iter().zip(sizes).zip(x.shape());
            let from = starts.zip(&xs).map(|(((&s, &size), &n), stride)| clamp_start(s, size, n) * stride).sum();
            i += 1;
            runs.visit(from, offset(at, &batch_strides), &mut |a, b, n| out[b..b + n].copy_from_slice(&v[a..a + n]));
        });
        tensor(op, out, out_shape)
    })
}

/// Entries of `width` elements, one after the other.
fn gather_rows(
    x: &Tensor,
    rows: impl ExactSizeIterator<Item = usize>,
    width: usize,
    out_shape: &[usize],
) -> Result<Tensor, OpError> {
    with_buffer!(x.buffer(), v => {
        let mut out = Vec::with_capacity(rows.len() * width);
        rows.for_each(|r| out.extend_from_slice(&v[r * width..(r + 1) * width]));
        tensor("gather", out, out_shape)
    })
}

/// Is each slice one whole entry of the leading axis, and the result these one after the other? That is how tables are
/// read and how rows are picked, so it has a loop of its own.
fn takes_rows(x: &Tensor, indices: &Tensor, dims: &GatherDims, sizes: &[usize], out_rank: usize) -> bool {
    let scalar = match indices.rank().checked_sub(dims.index_vector) {
        Some(0) => true,
        Some(1) => indices.shape().last() == Some(&1),
        _ => false,
    };
    let window = out_rank + 1 - x.rank().clamp(1, out_rank + 1);
    scalar
        && dims.start_map == [0]
        && dims.collapsed == [0]
        && dims.operand_batching.is_empty()
        && sizes.get(1..) == x.shape().get(1..)
        && dims.offset.iter().copied().eq(window..out_rank)
}

/// Where each element of the updates of a scatter goes.
struct Targets {
    addresses: Addresses,
    updates: Dims,
    /// For every batch axis of the indices, the axis of the updates.
    scatter_axes: Dims,
    /// For every window axis of the updates, its axis in x.
    window: Vec<(usize, usize)>,
    shape: Dims,
    strides: Dims,
}

impl Targets {
    fn new(op: &str, x: &[usize], indices: &Tensor, updates: &[usize], dims: &ScatterDims) -> Result<Targets, OpError> {
        let batching = (&dims.operand_batching[..], &dims.indices_batching[..]);
        let addresses = Addresses::new(op, x.len(), indices, &dims.scatter_map, batching, dims.index_vector)?;
        let x_window = others(x.len(), &[&dims.inserted, &dims.operand_batching]);
        let scatter_axes = others(updates.len(), &[&dims.update_window]);
        if x_window.len() != dims.update_window.len() || pick(updates, &scatter_axes) != addresses.batch {
            return Err(OpError::new(op, format!("updates of shape {updates:?} do not match the indices"))
                .operands([indices.spec()]));
        }
        let window = dims.update_window.iter().copied().zip(x_window).collect();
        Ok(Targets { addresses, updates: updates.into(), scatter_axes, window, shape: x.into(), strides: strides(x) })
    }
    /// Calls `f(offset in x, offset in the updates)` for every update within bounds, in row-major order of the updates.
    fn each<E>(&self, mut f: impl FnMut(usize, usize) -> Result<(), E>) -> Result<(), E> {
        let batch_strides = strides(&self.addresses.batch);
        let mut i = 0;
        try_positions(&self.updates, |at| {
            let batch: usize = self.scatter_axes.iter().zip(&batch_strides).map(|(&d, s)| at[d] * s).sum();
            let mut target: Position = self.addresses.at(batch).into();
            for &(u, x) in &self.window {
                target[x] = target[x].saturating_add(at[u] as i64);
            }
            i += 1;
            let bounded = |(&t, &n): (&i64, &usize)| usize::try_from(t).ok().filter(|&t| t < n);
            let place: Option<Dims> = target.iter().zip(&self.shape).map(bounded).collect();
            place.map_or(Ok(()), |p| f(offset(&p, &self.strides), i - 1))
        })
    }
    /// [`Targets::each`] by contiguous runs `f(offset in x, offset in the updates, length)`; `None` where the windows
    /// are not the trailing axes of the updates (their order would differ) or one of them is not within bounds.
    fn runs(&self) -> Option<impl Iterator<Item = (usize, usize)> + '_> {
        let leading = self.scatter_axes.len();
        if self.scatter_axes.iter().enumerate().any(|(i, &d)| i != d) {
            return None;
        }
        let mut size: Dims = self.shape.iter().map(|_| 1).collect();
        self.window.iter().for_each(|&(u, x)| size[x] = self.updates[u]);
        let fits =
            |starts: &[i64]| {
                starts.iter().zip(&size).zip(&self.shape).all(|((&s, &w), &n)| {
                    usize::try_from(s).is_ok_and(|s| s.checked_add(w).is_some_and(|end| end <= n))
                })
            };
        let count: usize = self.addresses.batch.iter().product();
        if self.updates.contains(&0) || !(0..count).all(|i| fits(self.addresses.at(i))) {
            return None;
        }
        let window: usize = self.updates[leading..].iter().product();
        Some((0..count).map(move |i| {
            let starts = self.addresses.at(i).iter().zip(&self.strides);
            (starts.map(|(&s, stride)| s as usize * stride).sum(), i * window)
        }))
    }
    /// The windows, as a box of x and of the updates.
    fn window_runs(&self) -> Runs {
        let update_strides = strides(&self.updates);
        let sizes: Dims = self.window.iter().map(|&(u, _)| self.updates[u]).collect();
        let a: Dims = self.window.iter().map(|&(_, x)| self.strides[x]).collect();
        let b: Dims = self.window.iter().map(|&(u, _)| update_strides[u]).collect();
        Runs::new(&sizes, &a, &b)
    }
}

/// x with updates combined into it at the starts that `indices` holds; in place where x is the only owner of its data.
pub(crate) fn scatter(
    op: ScatterOp,
    x: Tensor,
    indices: &Tensor,
    updates: &Tensor,
    dims: &ScatterDims,
) -> Result<Tensor, OpError> {
    fn apply<T: Combine>(mut v: Vec<T>, op: ScatterOp, u: &[T], targets: &Targets) -> Vec<T> {
        let f = scatterer::<T>(op);
        if let Some(windows) = targets.runs() {
            let runs = targets.window_runs();
            for (x, from) in windows {
                runs.visit(x, from, &mut |a, b, n| {
                    if op == ScatterOp::Set {
                        v[a..a + n].copy_from_slice(&u[b..b + n]);
                    } else {
                        v[a..a + n].iter_mut().zip(&u[b..b + n]).for_each(|(old, &new)| *old = f(*old, new));
                    }
                });
            }
            return v;
        }
        let _ = targets.each(|a, b| {
            v[a] = f(v[a], u[b]);
            Ok::<(), ()>(())
        });
        v
    }
    let name = "scatter";
    if updates.is_empty() {
        return Ok(x);
    }
    let targets = Targets::new(name, x.shape(), indices, updates.shape(), dims)?;
    let shape: Dims = x.shape().into();
    with_buffer!(x.into_buffer(), v => {
        let u = slice(name, updates)?;
        tensor(name, apply(v, op, u, &targets), &shape)
    })
}

/// The same on several operands, with a body of scalars (old…, update…).
pub(crate) fn scatter_body(
    xs: Vec<Tensor>,
    indices: &Tensor,
    updates: &[Tensor],
    dims: &ScatterDims,
    body: &mut dyn FnMut(&[Tensor]) -> Result<Vec<Tensor>>,
) -> Result<Vec<Tensor>> {
    let name = "scatter";
    let run = |e: OpError| RunError::Op(Box::new(e));
    let (Some(shape), Some(first)) = (xs.first().map(|x| Dims::from(x.shape())), updates.first()) else {
        return Ok(vec![]);
    };
    if first.is_empty() {
        return Ok(xs);
    }
    let targets = Targets::new(name, &shape, indices, first.shape(), dims).map_err(run)?;
    let mut buffers: Vec<Buffer> = xs.into_iter().map(Tensor::into_buffer).collect();
    targets.each(|a, b| {
        let old = buffers.iter().map(|x| scalar_at(x, a));
        let args: Vec<Tensor> = old.chain(updates.iter().map(|u| scalar_at(u.buffer(), b))).collect();
        let new = body(&args)?;
        for (x, value) in buffers.iter_mut().zip(&new) {
            store(name, x, a, value).map_err(run)?;
        }
        Ok::<(), evoxc_core::Error>(())
    })?;
    buffers.into_iter().map(|b| from_buffer(name, b, &shape).map_err(|e| run(e).into())).collect()
}

/// The offset of a box of `sizes` at scalar starts, clamped so that it fits into `shape`.
fn box_offset(op: &str, shape: &[usize], starts: &[Tensor], sizes: &[usize]) -> Result<usize, OpError> {
    let fits = sizes.len() == shape.len() && sizes.iter().zip(shape).all(|(s, n)| s <= n);
    if !fits || starts.len() != shape.len() {
        return Err(OpError::new(op, format!("a slice of {sizes:?} at {} starts of {shape:?}", starts.len()))
            .remedy("give one start an axis, and sizes that fit"));
    }
    let mut from = 0;
    for (((start, &size), &n), stride) in starts.iter().zip(sizes).zip(shape).zip(strides(shape)) {
        let [start] = integers(op, start)?[..] else {
            return Err(OpError::new(op, "starts must be scalars").operands([start.spec()]));
        };
        from += clamp_start(start, size, n) * stride;
    }
    Ok(from)
}

/// The slice of `sizes` at scalar starts, clamped so that it fits.
pub(crate) fn dynamic_slice(x: &Tensor, starts: &[Tensor], sizes: &[usize]) -> Result<Tensor, OpError> {
    let op = "dynamic_slice";
    let from = box_offset(op, x.shape(), starts, sizes)?;
    let runs = Runs::new(sizes, &strides(x.shape()), &strides(sizes));
    with_buffer!(x.buffer(), v => {
        let mut out = Vec::with_capacity(sizes.iter().product());
        runs.visit(from, 0, &mut |a, _, n| out.extend_from_slice(&v[a..a + n]));
        tensor(op, out, sizes)
    })
}

/// x with `update` written at scalar starts, clamped so that it fits; in place where x is the only owner of its data.
pub(crate) fn dynamic_update_slice(x: Tensor, update: &Tensor, starts: &[Tensor]) -> Result<Tensor, OpError> {
    fn write<T: Element>(v: &mut [T], u: &[T], runs: &Runs, to: usize) {
        runs.visit(to, 0, &mut |a, b, n| v[a..a + n].copy_from_slice(&u[b..b + n]));
    }
    let op = "dynamic_update_slice";
    let to = box_offset(op, x.shape(), starts, update.shape())?;
    let shape: Dims = x.shape().into();
    let runs = Runs::new(update.shape(), &strides(&shape), &strides(update.shape()));
    with_buffer!(x.into_buffer(), v => {
        let mut v = v;
        write(&mut v, slice(op, update)?, &runs, to);
        tensor(op, v, &shape)
    })
}
