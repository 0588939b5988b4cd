//! Sorting and searching.

use super::checks::{known, real, same_dtype};
use super::parts::{count_along, filled, reshape};
use crate::axes::one;
use crate::{Operand, Sym, builder, concat, fori_loop, zeros};
use evoxc_core::{AxisInt, DimLike, I32, Shape};
use evoxc_ir::{Prim, SortKeys};

impl Sym {
    #[track_caller]
    fn sorted(self, op: &str, axis: i64, descending: bool) -> Sym {
        match one(op, self, axis) {
            Some(axis) => builder::emit(Prim::Sort { axis, keys: SortKeys(vec![descending]), stable: true }, &[self]),
            None => Sym::POISON,
        }
    }
    #[track_caller]
    fn argsorted(self, op: &str, axis: i64, descending: bool) -> Sym {
        let Some(t) = known(op, self) else { return Sym::POISON };
        let Some(axis) = one(op, self, axis) else { return Sym::POISON };
        let index = count_along(&t.shape, axis);
        let prim = Prim::Sort { axis, keys: SortKeys(vec![descending]), stable: true };
        let [_, index] = builder::emit_many(prim, &[self, index]);
        index
    }
    /// The elements in ascending order along `axis`, stable; NaN last.
    #[track_caller]
    pub fn sort(self, axis: impl AxisInt) -> Sym {
        if known("sort", self).is_none() { Sym::POISON } else { self.sorted("sort", axis.axis(), false) }
    }
    /// The elements in descending order along `axis`, stable; NaN first.
    #[track_caller]
    pub fn sort_descending(self, axis: impl AxisInt) -> Sym {
        if known("sort_descending", self).is_none() {
            return Sym::POISON;
        }
        self.sorted("sort_descending", axis.axis(), true)
    }
    /// The indices (i32) that sort `self` in ascending order along `axis`, stable; NaN last.
    #[track_caller]
    pub fn argsort(self, axis: impl AxisInt) -> Sym {
        self.argsorted("argsort", axis.axis(), false)
    }
    /// The indices (i32) that sort `self` in descending order along `axis`, stable; NaN first.
    #[track_caller]
    pub fn argsort_descending(self, axis: impl AxisInt) -> Sym {
        self.argsorted("argsort_descending", axis.axis(), true)
    }
    /// The `k` largest elements of the last axis in descending order (NaN first; of equal ones the first), and their
    /// indices (i32).
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let g = trace(|x: Sym| x.top_k(3), spec(F32, [4, 8])).unwrap();
    /// assert_eq!(g.output_specs(), [spec(F32, [4, 3]), spec(I32, [4, 3])]);
    /// ```
    #[track_caller]
    pub fn top_k(self, k: impl DimLike) -> (Sym, Sym) {
        let [values, indices] = builder::emit_many(Prim::TopK { k: k.to_dim() }, &[self]);
        (values, indices)
    }
    /// Where each of `values` would be inserted into this ascending vector, before equal elements: indices (i32) of the
    /// shape of `values`. NaN counts as largest. A binary search of all values at once.
    ///
    /// # Errors
    /// `self` is not a vector of real numbers; the dtypes differ.
    #[track_caller]
    pub fn searchsorted(self, values: impl Operand) -> Sym {
        self.search("searchsorted", values, false)
    }
    /// [`Sym::searchsorted`], but after equal elements.
    #[track_caller]
    pub fn searchsorted_right(self, values: impl Operand) -> Sym {
        self.search("searchsorted_right", values, true)
    }
    #[track_caller]
    fn search(self, op: &str, values: impl Operand, right: bool) -> Sym {
        let _at = builder::pin();
        let Some(t) = real(op, self) else { return Sym::POISON };
        let &[n] = &t.shape[..] else {
            return builder::fail(op, &[self], "searches a vector", Some("`.sort(0)` a vector, or `vmap`".into()));
        };
        let values = crate::operand::lift(op, values, &t, false);
        let Some(v) = known(op, values) else { return Sym::POISON };
        if same_dtype(op, self, values).is_none() {
            return Sym::POISON;
        }
        if n == 0 {
            return filled(op, 0, I32, &v.shape);
        }
        let flat: Shape = [v.shape.size()].into_iter().collect();
        let values = reshape(values, flat.clone());
        // Each step halves an interval of n + 1 answers; extents fit in an i64, indices in an i32.
        let steps = n.get().map_or(31, |n| (usize::BITS - n.leading_zeros()) as usize);
        let low = filled(op, 0, I32, &flat);
        let high = crate::operand::lift(op, n, &evoxc_core::spec(I32, &flat), true);
        let float = t.dtype.is_float();
        // A symbolic extent may turn out to be 0, which leaves nothing to compare with.
        let table = if n.is_const() { self } else { concat([self, zeros(t.dtype, [1])], 0) };
        let (low, _) = fori_loop(steps, (low, high), |_, (low, high)| {
            let open = low.lt(high);
            let middle = low + (high - low) / 2;
            let x = take(table, middle);
            // a before b, with NaN after all else.
            let before = |a: Sym, b: Sym| if float { a.lt(b) | (b.is_nan() & !a.is_nan()) } else { a.lt(b) };
            let after_middle = if right { !before(values, x) } else { before(x, values) };
            let up = open & after_middle;
            (up.select(middle + 1, low), (open & !after_middle).select(middle, high))
        });
        reshape(low, v.shape)
    }
    /// The elements of `self` along `axis` in the order that sorts `keys`, a tensor of the same shape; stable.
    #[track_caller]
    pub fn sort_by_key(self, keys: Sym, axis: impl AxisInt) -> Sym {
        let op = "sort_by_key";
        let Some(axis) = known(op, self).and(one(op, self, axis.axis())) else { return Sym::POISON };
        let [_, x] = builder::emit_many(Prim::Sort { axis, keys: SortKeys(vec![false]), stable: true }, &[keys, self]);
        x
    }
}

/// Elements of a vector.
#[track_caller]
fn take(x: Sym, index: Sym) -> Sym {
    let dims = evoxc_ir::GatherDims {
        offset: vec![],
        collapsed: vec![0],
        operand_batching: vec![],
        indices_batching: vec![],
        start_map: vec![0],
        index_vector: 1,
    };
    builder::emit(Prim::Gather { dims, sizes: vec![1.to_dim()], sorted: false }, &[x, index])
}
