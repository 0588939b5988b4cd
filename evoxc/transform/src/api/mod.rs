//! The transforms as values: what wraps a graph function and is one.

pub(crate) mod checkpoint;
pub(crate) mod custom;
pub(crate) mod function;
pub(crate) mod grad;
pub(crate) mod jacobian;
pub(crate) mod products;
pub(crate) mod vmap;

use evoxc_core::{Loc, OpError, Tree, TreeDef};
use evoxc_ir::{Region, TensorType};
use evoxc_trace::{GraphFn, Sym, emitter};
use std::marker::PhantomData;
use std::ops::Range;

/// The marker of a transform of a function of marker `M`, see [`GraphFn`].
pub struct Via<M>(PhantomData<M>);

/// A function traced on the types of its arguments.
pub(crate) struct Traced {
    /// Its ops; `None` when a result is poisoned.
    pub region: Option<Region>,
    pub outputs: TreeDef,
    /// Where the transform was called.
    pub loc: Option<Loc>,
    /// The name of the transform.
    pub transform: &'static str,
    mark: usize,
}

impl Traced {
    /// Traces `f` on arguments of these types.
    pub fn new<F, A, M>(transform: &'static str, f: &F, types: &[TensorType], inputs: &TreeDef) -> Traced
    where
        A: Tree<Sym>,
        F: GraphFn<A, M>,
    {
        let (loc, mark) = (emitter::call_site(), emitter::mark());
        let (region, outputs) = emitter::trace_region::<F, A, M>(f, types, inputs, loc);
        Traced { region, outputs, loc, transform, mark }
    }
    /// The types of its results.
    pub fn output_types(&self) -> Vec<TensorType> {
        self.region.as_ref().map(|r| emitter::types(&r.results)).unwrap_or_default()
    }
    /// What the transform writes, by `f`, which is given the region; poisoned when there is none or on an error, which
    /// is recorded. Dead ops are removed.
    pub fn write(self, results: usize, f: impl FnOnce(&Region, &Traced) -> Result<Vec<Sym>, OpError>) -> Vec<Sym> {
        let _at = emitter::at(self.loc);
        let out = match &self.region {
            Some(r) => f(r, &self).unwrap_or_else(|e| {
                emitter::refuse(self.transform, e.at(self.loc));
                vec![]
            }),
            None => vec![],
        };
        emitter::prune(self.mark, &out);
        if out.len() == results { out } else { vec![emitter::poison(); results] }
    }
}

/// The leaves, types and structure of an argument list; `None` for the types when a leaf is poisoned.
pub(crate) fn flatten<A: Tree<Sym>>(args: A) -> (Vec<Sym>, Option<Vec<TensorType>>, TreeDef) {
    let (leaves, def) = TreeDef::flatten(args);
    let types = leaves.iter().map(|&s| emitter::type_of(s)).collect();
    (leaves, types, def)
}

/// A tree of this structure; the structure comes from a tree of the same type, or the trace ends.
pub(crate) fn rebuild<T: Tree<Sym>>(transform: &str, def: &TreeDef, leaves: Vec<Sym>) -> T {
    match def.unflatten(leaves) {
        Ok(t) => t,
        Err(e) => {
            emitter::refuse(transform, OpError::new("tree", e.to_string()));
            emitter::abort()
        }
    }
}

/// The leaves that belong to argument `n`, and its structure.
pub(crate) fn argument(def: &TreeDef, n: usize) -> (Range<usize>, TreeDef) {
    let args = def.arguments();
    let start = args.iter().take(n).map(TreeDef::leaf_count).sum();
    let own = args.get(n).cloned().unwrap_or_default();
    (start..start + own.leaf_count(), own)
}

/// `.call` and the impls that every transform has: of the value and of a reference to it.
macro_rules! callable {
    ($T:ident $(<const $N:ident $(, const $M:ident)?>)?) => {
        impl<F $(, const $N: usize $(, const $M: usize)?)?> $T<F $(, $N $(, $M)?)?> {
            /// Applies it inside a trace: within a `#[defn]` or a closure that is traced.
            #[track_caller]
            pub fn call<A, Mark>(&self, args: A) -> <Self as GraphFn<A, Mark>>::Out
            where
                Self: GraphFn<A, Mark>,
            {
                evoxc_trace::emitter::called_here();
                self.apply(args)
            }
        }
        impl<F, A, Mark $(, const $N: usize $(, const $M: usize)?)?> GraphFn<A, Via<Mark>> for &$T<F $(, $N $(, $M)?)?>
        where
            $T<F $(, $N $(, $M)?)?>: GraphFn<A, Via<Mark>>,
        {
            type Out = <$T<F $(, $N $(, $M)?)?> as GraphFn<A, Via<Mark>>>::Out;
            fn apply(&self, args: A) -> Self::Out {
                (**self).apply(args)
            }
        }
    };
}
pub(crate) use callable;
