//! `Sym`: a symbolic tensor, the value of a graph under construction.

use crate::builder;
use evoxc_core::{ArgAt, AxisInt, DType, Dim, Flatten, Leaf, Result, Shape, TensorSpec, Tree, Unflatten};
use std::fmt;
use std::marker::PhantomData;

/// Names the pointee, so that "cannot be sent between threads" explains itself.
pub struct SymsBelongToTheThreadThatTracesThem;

/// A symbolic tensor: dtype and shape are known, the data is not. `Copy`; an id into the trace that is open on this
/// thread, so it cannot leave the thread.
///
/// ```
/// use evoxc::prelude::*;
/// let graph = trace(|x: Sym| (x * 2.0).sum(0), spec(F32, [3])).unwrap();
/// assert_eq!(graph.ops().len(), 3);
/// ```
#[derive(Clone, Copy)]
pub struct Sym {
    pub(crate) id: u32,
    pub(crate) trace: u32,
    not_send: PhantomData<*const SymsBelongToTheThreadThatTracesThem>,
}

impl Sym {
    /// Stands for a value that could not be computed; the error is recorded already.
    pub(crate) const POISON: Sym = Sym { id: u32::MAX, trace: u32::MAX, not_send: PhantomData };

    pub(crate) const fn new(id: u32, trace: u32) -> Sym {
        Sym { id, trace, not_send: PhantomData }
    }
    pub(crate) fn is_poison(self) -> bool {
        self.id == u32::MAX
    }
    /// The type; `None` of a poisoned value, and of a foreign one, which is recorded.
    #[track_caller]
    pub(crate) fn ty(self) -> Option<TensorSpec> {
        builder::with_type(self, TensorSpec::clone)
    }
    /// The type, or the end of the trace: what follows cannot be computed without it.
    #[track_caller]
    fn known(self) -> TensorSpec {
        match self.ty() {
            Some(t) => t,
            None => builder::abort(),
        }
    }
    /// The extents.
    #[track_caller]
    pub fn shape(self) -> Shape {
        self.known().shape
    }
    /// The dtype.
    #[track_caller]
    pub fn dtype(self) -> DType {
        self.known().dtype
    }
    /// The number of axes.
    #[track_caller]
    pub fn rank(self) -> usize {
        self.known().rank()
    }
    /// The spec: dtype and shape.
    #[track_caller]
    pub fn spec(self) -> TensorSpec {
        self.known()
    }
    /// The extent of an axis; a negative axis counts from the end.
    #[track_caller]
    pub fn dim(self, axis: impl AxisInt) -> Dim {
        let shape = self.known().shape;
        match crate::axes::normalize(axis.axis(), shape.rank()) {
            Some(a) => shape[a],
            None => {
                let m = format!("axis {} is out of range for rank {}", axis.axis(), shape.rank());
                builder::fail("dim", &[self], m, None);
                builder::abort()
            }
        }
    }
}

impl fmt::Debug for Sym {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match builder::type_of(*self) {
            Some(t) => write!(f, "Sym(%{}: {t})", self.id),
            None => write!(f, "Sym(?)"),
        }
    }
}

impl Leaf for Sym {}
impl Tree<Sym> for Sym {
    type Map<U: Leaf> = U;
    fn flatten(self, out: &mut Flatten<Sym>) {
        out.leaf(self);
    }
    fn unflatten(src: &mut Unflatten<'_, Sym>) -> Result<Self> {
        src.leaf()
    }
}
impl ArgAt<0> for Sym {
    type Arg = Sym;
}
