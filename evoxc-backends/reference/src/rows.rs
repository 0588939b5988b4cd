//! Gathers of rows that are known when the plan is made: which rows they are, and from which tensors.
//!
//! A concatenation of rows that is only read by such gathers is never made: they read its parts. Merged programs
//! (`batch_functions`) pass every level of ops through a pair of these, so a level costs one copy of its rows, not two.

use evoxc_core::{Buffer, Element, OpError, Tensor, with_dtype};
use evoxc_ir::{Func, GatherDims, Literal, Op, Prim, Region, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// A concatenation costs about as much as fetching so many tensors more.
const SPARED: usize = 12;

/// Rows in order, as runs of neighbours.
#[derive(Debug)]
pub(crate) struct Pick {
    runs: Vec<Run>,
    /// Elements of a row.
    width: usize,
    shape: SmallVec<[usize; 4]>,
}

/// Neighbouring rows of one part.
#[derive(Clone, Copy, Debug)]
struct Run {
    part: usize,
    start: usize,
    count: usize,
}

impl Pick {
    /// The rows of a concatenation (along the leading axis) of parts that end before the rows `ends`; and the parts that
    /// have one of them.
    fn new(ends: &[usize], rows: &[i32], width: usize, shape: SmallVec<[usize; 4]>) -> (Pick, Vec<usize>) {
        let last = ends.last().copied().unwrap_or(0).saturating_sub(1);
        let mut runs: Vec<Run> = vec![];
        let mut parts: Vec<usize> = vec![];
        // A map: there may be many gathers of few rows each from many parts.
        let mut place: FxHashMap<usize, usize> = FxHashMap::default();
        for &row in rows {
            // The starts of slices are clamped.
            let row = usize::try_from(row).unwrap_or(0).min(last);
            let of = ends.partition_point(|&end| end <= row);
            let start = row - of.checked_sub(1).map_or(0, |before| ends[before]);
            let part = *place.entry(of).or_insert_with(|| {
                parts.push(of);
                parts.len() - 1
            });
            match runs.last_mut() {
                Some(r) if r.part == part && r.start + r.count == start => r.count += 1,
                _ => runs.push(Run { part, start, count: 1 }),
            }
        }
        (Pick { runs, width, shape }, parts)
    }
    /// The rows, one after the other.
    pub(crate) fn run(&self, parts: &[Tensor]) -> Result<Tensor, OpError> {
        fn go<T: Element>(pick: &Pick, parts: &[Tensor]) -> Option<Tensor> {
            let mut out = Vec::<T>::with_capacity(pick.shape.iter().product());
            for run in &pick.runs {
                let from = run.start * pick.width;
                let row = T::slice(parts.get(run.part)?.buffer())?.get(from..from + run.count * pick.width)?;
                out.extend_from_slice(row);
            }
            Tensor::from_parts(T::wrap(out), &pick.shape)
        }
        let dtype = parts.first().map(Tensor::dtype);
        dtype
            .and_then(|d| with_dtype!(d, T => go::<T>(self, parts)))
            .ok_or_else(|| OpError::new("gather", "the rows are not those of the plan"))
    }
}

/// The gathers of known rows of a region, by their result; and the concatenations that are not made for them.
#[derive(Default)]
pub(crate) struct Picks {
    by_result: FxHashMap<Value, (SmallVec<[Value; 3]>, Option<Pick>)>,
    unmade: FxHashSet<Value>,
}

impl Picks {
    /// Finds them.
    pub(crate) fn of(func: &Func, region: &Region) -> Picks {
        let mut picks = Picks::default();
        let mut rows: FxHashMap<Value, &[i32]> = FxHashMap::default();
        let mut joined: FxHashMap<Value, &Op> = FxHashMap::default();
        let mut gathers: Vec<(&Op, &[i32])> = vec![];
        for op in &region.ops {
            match (&op.prim, op.results.as_slice(), op.operands.as_slice()) {
                (Prim::Constant { value: Literal::Dense(t) }, &[v], _) => {
                    if let Buffer::I32(list) = t.buffer() {
                        rows.insert(v, list);
                    }
                }
                (Prim::Concatenate { axis: 0 }, &[v], _) => {
                    joined.insert(v, op);
                }
                (Prim::Gather { dims, .. }, _, &[x, i]) => match rows.get(&i) {
                    Some(list) if takes_rows(func, op, dims, x) => gathers.push((op, list)),
                    _ => {}
                },
                _ => {}
            }
        }
        if gathers.is_empty() {
            return picks;
        }
        joined.retain(|_, op| op.operands.iter().all(|&v| extents(func, v).is_some()));
        if !joined.is_empty() {
            let through: FxHashSet<Value> = gathers.iter().flat_map(|(op, _)| op.results.first().copied()).collect();
            keep_what_is_read(region, &through, &mut joined);
        }
        let ends: FxHashMap<Value, Vec<usize>> =
            joined.iter().filter_map(|(&v, op)| Some((v, ends(func, op)?))).collect();
        // How many tensors the gathers of each concatenation would fetch.
        let mut fetched: FxHashMap<Value, usize> = FxHashMap::default();
        let mut of_joined = vec![];
        for (op, list) in gathers {
            let (Some(&x), Some(&result)) = (op.operands.first(), op.results.first()) else { continue };
            let (Some(whole), Some(shape)) = (extents(func, x), extents(func, result)) else { continue };
            let (width, height) = (whole.iter().skip(1).product(), whole.first().copied().unwrap_or(1));
            if let (Some(j), Some(ends)) = (joined.get(&x), ends.get(&x)) {
                let (pick, used) = Pick::new(ends, list, width, shape.clone());
                *fetched.entry(x).or_default() += used.len();
                let parts = used.iter().filter_map(|&i| j.operands.get(i).copied()).collect();
                of_joined.push((result, x, parts, pick));
            }
            let (pick, _) = Pick::new(&[height], list, width, shape);
            picks.by_result.insert(result, ([x].into_iter().collect(), Some(pick)));
        }
        joined.retain(|v, op| fetched.get(v).is_some_and(|&n| n <= op.operands.len() + SPARED));
        for (result, x, parts, pick) in of_joined {
            if joined.contains_key(&x) {
                picks.by_result.insert(result, (parts, Some(pick)));
            }
        }
        picks.unmade = joined.into_keys().collect();
        picks
    }
    /// What the step of an op reads.
    pub(crate) fn operands<'a>(&'a self, op: &'a Op) -> &'a [Value] {
        if self.vanishes(op) {
            return &[];
        }
        self.of_op(op).map_or(&op.operands, |(parts, _)| parts)
    }
    /// Is the op a concatenation that is not made?
    pub(crate) fn vanishes(&self, op: &Op) -> bool {
        !self.unmade.is_empty() && op.results.first().is_some_and(|v| self.unmade.contains(v))
    }
    /// The rows that a gather picks.
    pub(crate) fn take(&mut self, op: &Op) -> Option<Pick> {
        self.by_result.get_mut(op.results.first()?)?.1.take()
    }
    fn of_op(&self, op: &Op) -> Option<&(SmallVec<[Value; 3]>, Option<Pick>)> {
        self.by_result.get(op.results.first()?)
    }
}

/// Where each operand of a concatenation of rows ends.
fn ends(func: &Func, op: &Op) -> Option<Vec<usize>> {
    let mut end = 0usize;
    let sizes = op.operands.iter().map(|&p| extents(func, p)?.first().copied());
    sizes.map(|n| end.checked_add(n?).inspect(|&e| end = e)).collect()
}

/// The extents of a value, where they are static.
fn extents(func: &Func, v: Value) -> Option<SmallVec<[usize; 4]>> {
    func.values.get(v.index())?.ty.shape.iter().map(|d| d.get()).collect()
}

/// Is each slice one whole entry of the leading axis of x, and the result these one after the other; all of known
/// extents, none of them 0?
fn takes_rows(func: &Func, op: &Op, dims: &GatherDims, x: Value) -> bool {
    let known = |v| extents(func, v).filter(|e| !e.contains(&0));
    let (Some(whole), Some(indices)) = (known(x), op.operands.get(1).and_then(|&i| known(i))) else { return false };
    let Some(out) = op.results.first().and_then(|&r| known(r)) else { return false };
    let scalar =
        dims.index_vector == indices.len() || dims.index_vector + 1 == indices.len() && indices.last() == Some(&1);
    let Some(window) = (out.len() + 1).checked_sub(whole.len()) else { return false };
    scalar
        && dims.start_map == [0]
        && dims.collapsed == [0]
        && dims.operand_batching.is_empty()
        && out.get(window..) == whole.get(1..)
        && dims.offset.iter().copied().eq(window..out.len())
}

/// Keeps the concatenations that nothing reads but gathers of known rows, as the tensor that they take them from.
fn keep_what_is_read(region: &Region, through: &FxHashSet<Value>, joined: &mut FxHashMap<Value, &Op>) {
    let mut read = |v: &Value| {
        joined.remove(v);
    };
    for op in &region.ops {
        let picks = op.results.first().is_some_and(|v| through.contains(v));
        op.operands.iter().skip(usize::from(picks)).for_each(&mut read);
    }
    region.results.iter().for_each(&mut read);
    // Regions inside may read them as well; a list, because their depth has no limit here.
    let mut open: Vec<&Region> = region.ops.iter().flat_map(|op| &op.regions).collect();
    while let Some(r) = open.pop() {
        r.ops.iter().flat_map(|op| &op.operands).chain(&r.results).for_each(&mut read);
        open.extend(r.ops.iter().flat_map(|op| &op.regions));
    }
}
