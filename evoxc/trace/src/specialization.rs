//! Programs with symbolic extents on backends that compile static shapes: one size at a time, or through a cache that the
//! user makes and sees.

use crate::{Graph, Sym};
use evoxc_core::{Dim, DimLike, OpError, Result, Tensor, TraceErrors, Tree, TreeDef};
use evoxc_stage::{Backend, Executable, Signature};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

impl<I: Tree<Sym>, O: Tree<Sym>> Graph<I, O> {
    /// The same program for these values of its symbolic extents: what backends that compile static shapes can take.
    ///
    /// ```
    /// use evoxc::{dim, prelude::*};
    /// let graph = trace(|x: Sym| x.sum(0), spec(F32, (dim("B"), 2)))?;
    /// let four = graph.specialize(&[(dim("B"), 4)])?;
    /// assert_eq!(four.specs(), spec(F32, [4, 2]));
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`IrError`](evoxc_core::IrError) for an op that cannot have such a size, and a negative value.
    pub fn specialize<V: DimLike + Copy>(&self, symbols: &[(Dim, V)]) -> Result<Graph<I, O>> {
        let values: Vec<(Dim, Dim)> = symbols.iter().map(|&(s, v)| (s, v.to_dim())).collect();
        if let Some((s, v)) = values.iter().find(|(_, v)| v.as_i64().is_some_and(|v| v < 0)) {
            let op =
                OpError::new("specialize", format!("`{s}` cannot be {v}")).remedy("give it an extent of 0 or more");
            return Err(TraceErrors { errors: vec![op] }.into());
        }
        let i = &self.inner;
        let module = i.module.specialize(&values)?;
        Ok(Graph::from_parts(module, i.inputs.clone(), i.outputs.clone(), i.captures.clone()))
    }
}

/// Runs a program with symbolic extents on a backend that compiles static shapes: it is compiled once for each combination
/// of sizes, and the executables are kept, the most recently used of them.
///
/// Compiling takes long, so it is never done behind a call of [`Executable::run`]: this cache is where it happens, and it
/// counts.
///
/// ```
/// use evoxc::{SpecializationCache, dim, prelude::*};
/// let graph = trace(|x: Sym| x.sum(..), spec(F32, [dim("B")]))?;
/// let cache = SpecializationCache::new(&graph, &Interp).capacity(8);
/// assert_eq!(cache.run(Tensor::ones(F32, [3]))?.item::<f32>()?, 3.0);
/// assert_eq!(cache.run(Tensor::ones(F32, [5]))?.item::<f32>()?, 5.0);
/// assert_eq!(cache.run(Tensor::ones(F32, [3]))?.item::<f32>()?, 3.0);
/// assert_eq!((cache.misses(), cache.hits()), (2, 1));
/// # Ok::<(), evoxc::Error>(())
/// ```
pub struct SpecializationCache<I: Tree<Sym>, O: Tree<Sym>, B: Backend> {
    graph: Graph<I, O>,
    backend: B,
    signature: Signature,
    capacity: usize,
    /// The most recently used last.
    entries: Mutex<Vec<Entry<I::Map<Tensor>, O::Map<Tensor>>>>,
    hits: AtomicU64,
    misses: AtomicU64,
}

type Sizes = Vec<(Dim, i64)>;

struct Entry<I, O> {
    sizes: Sizes,
    /// Filled by the first that asks; others wait for it.
    executable: Arc<OnceLock<Result<Executable<I, O>>>>,
}

impl<I: Tree<Sym>, O: Tree<Sym>, B: Backend> SpecializationCache<I, O, B> {
    /// An empty cache of 16 executables for a program on the backend's first device.
    pub fn new(graph: &Graph<I, O>, backend: &B) -> Self {
        let signature = Signature {
            inputs: graph.input_specs(),
            outputs: graph.output_specs(),
            input_tree: graph.inner.inputs.clone(),
            output_tree: graph.inner.outputs.clone(),
        };
        SpecializationCache {
            graph: graph.clone(),
            backend: backend.clone(),
            signature,
            capacity: 16,
            entries: Mutex::default(),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }
    /// How many executables are kept, at least one.
    pub fn capacity(mut self, n: usize) -> Self {
        self.capacity = n.max(1);
        self
    }
    /// How many calls found their executable.
    pub fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }
    /// How many calls compiled one.
    pub fn misses(&self) -> u64 {
        self.misses.load(Ordering::Relaxed)
    }
    /// How many executables are kept now.
    pub fn len(&self) -> usize {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
    /// None yet?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Runs the program, compiled for the sizes of these arguments if that was not done before.
    ///
    /// # Errors
    /// As [`Executable::run`], and those of lowering, compiling and loading.
    pub fn run(&self, args: I::Map<Tensor>) -> Result<O::Map<Tensor>> {
        let (leaves, tree) = TreeDef::flatten(args);
        let sizes = self.signature.bind(&leaves, &tree)?;
        self.executable(sizes)?.run(tree.unflatten(leaves)?)
    }
    /// The executable for values of the symbols, compiled if it is not there: to have it ready before the first call.
    ///
    /// # Errors
    /// Those of lowering, compiling and loading.
    pub fn warm<V: DimLike + Copy>(&self, symbols: &[(Dim, V)]) -> Result<Executable<I::Map<Tensor>, O::Map<Tensor>>> {
        let value = |v: V| v.to_dim().as_i64();
        let sizes: Option<Sizes> = symbols.iter().map(|&(s, v)| Some((s, value(v)?))).collect();
        let sizes = sizes.ok_or_else(|| {
            let op = OpError::new("specialize", "a size is no number").remedy("give every symbol a number");
            evoxc_core::Error::from(TraceErrors { errors: vec![op] })
        })?;
        self.executable(sizes)
    }

    fn executable(&self, mut sizes: Sizes) -> Result<Executable<I::Map<Tensor>, O::Map<Tensor>>> {
        sizes.sort_by_key(|(s, _)| s.to_string());
        let slot = self.slot(&sizes);
        let mut compiled = false;
        let made = slot.get_or_init(|| {
            compiled = true;
            self.compile(&sizes)
        });
        let counter = if compiled { &self.misses } else { &self.hits };
        counter.fetch_add(1, Ordering::Relaxed);
        if made.is_err() {
            // What failed is tried again when it is asked for again.
            let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
            entries.retain(|e| !Arc::ptr_eq(&e.executable, &slot));
        }
        made.clone()
    }
    /// The place of an executable, now the most recently used.
    fn slot(&self, sizes: &Sizes) -> Arc<OnceLock<Result<Executable<I::Map<Tensor>, O::Map<Tensor>>>>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = match entries.iter().position(|e| e.sizes == *sizes) {
            Some(i) => entries.remove(i),
            None => {
                if entries.len() >= self.capacity {
                    entries.remove(0);
                }
                Entry { sizes: sizes.clone(), executable: Arc::default() }
            }
        };
        let slot = entry.executable.clone();
        entries.push(entry);
        slot
    }
    fn compile(&self, sizes: &Sizes) -> Result<Executable<I::Map<Tensor>, O::Map<Tensor>>> {
        let artifact = self.graph.specialize(sizes)?.lower(&self.backend)?.compile()?;
        let device = self.backend.devices().into_iter().next();
        artifact.load(device.unwrap_or(evoxc_core::Device::cpu()))
    }
}

impl<I: Tree<Sym>, O: Tree<Sym>, B: Backend> fmt::Debug for SpecializationCache<I, O, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hits, misses) = (self.hits(), self.misses());
        write!(f, "SpecializationCache on {}: {} kept, {hits} hits, {misses} misses", self.backend.name(), self.len())
    }
}
