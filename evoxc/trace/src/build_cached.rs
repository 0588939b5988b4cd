//! `build_cached`: `build`, unless it has been done before.

use crate::name::type_id;
use crate::trace_fn::{first_device, load, trace_leaves};
use crate::{Graph, GraphFn, Sym};
use evoxc_core::{Result, Tensor, TensorSpec, Tree, TreeDef};
use evoxc_stage::{Backend, CompileCache, CompileKey, Executable};

/// The executable that [`build`](crate::build()) makes of a function, by the types of what it takes and gives.
type Built<F, S, M> = Executable<
    <<S as Tree<TensorSpec>>::Map<Sym> as Tree<Sym>>::Map<Tensor>,
    <<F as GraphFn<<S as Tree<TensorSpec>>::Map<Sym>, M>>::Out as Tree<Sym>>::Map<Tensor>,
>;

/// [`build`](crate::build()), unless the cache holds what it would give: then that very executable.
///
/// A function that is all in its type (a defn, a closure that captures nothing, a transform of
/// one) is not traced to find out. What it is looked up by is its type, the specs, and the backend with its options.
/// Such a function must give the same graph whenever it is traced: one that reads a static, a thread-local or the
/// environment, to branch on it, gets the executable of the first reading. Pass what it reads in another way: captured by
/// a closure, or in a key of [`build_cached_as`].
///
/// Any other function (a closure that captures something, a `Graph`) is traced each time, and looked up by its graph:
/// by all of it but names and locations, so that errors of such an executable may name the lines of an equal program.
///
/// A cache [with a folder](CompileCache::with_files) is asked first, then the folder, by the graph in any case; what is
/// found in neither is compiled, and kept in both.
///
/// ```
/// use evoxc::{CompileCache, build_cached, prelude::*};
/// let cache = CompileCache::new(16);
/// let scaled = |k: f64| build_cached(move |x: Sym| x * k, spec(F32, []), &Interp, &cache);
/// let (a, b, again) = (scaled(2.0)?, scaled(3.0)?, scaled(2.0)?); // three traces, two programs
/// assert!(again.same_as(&a) && !b.same_as(&a));
/// assert_eq!((cache.hits(), cache.misses()), (1, 2));
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// Those of each stage, and of the folder: [`Error::Io`](evoxc_core::Error::Io). Errors are not remembered.
#[track_caller]
pub fn build_cached<F, S, M, B: Backend>(f: F, specs: S, backend: &B, cache: &CompileCache) -> Result<Built<F, S, M>>
where
    S: Tree<TensorSpec>,
    F: GraphFn<S::Map<Sym>, M>,
{
    let (leaves, tree) = TreeDef::flatten(specs);
    if size_of::<F>() == 0 {
        // Two functions that differ in lifetimes alone are one function.
        let key = CompileKey::by_type(type_id::<(F, S, M)>(), &leaves, &tree, backend);
        if let Some(exe) = cache.get(&key) {
            return Ok(exe);
        }
        let graph: Graph<S::Map<Sym>, F::Out> = trace_leaves(f, leaves, tree)?;
        return Ok(cache.insert(key, through_files(&graph, backend, cache)?));
    }
    let graph: Graph<S::Map<Sym>, F::Out> = trace_leaves(f, leaves, tree)?;
    let key = CompileKey::by_program(type_id::<(S, F::Out)>(), graph.cache_key(backend), backend);
    cache.get_or_build(key, || through_files(&graph, backend, cache))
}

/// [`build_cached`] of a function that is looked up by a name: it is not traced to find out, whatever it captures. The
/// name must say all that the graph depends on beside the specs: of two functions of one name, specs and result type, the
/// second gets the executable of the first.
///
/// ```
/// use evoxc::{CompileCache, build_cached_as, prelude::*};
/// let cache = CompileCache::new(16);
/// let power = |n: usize| {
///     let f = move |x: Sym| (1..n).fold(x, |y, _| y * x);
///     build_cached_as(&format!("power {n}"), f, spec(F32, []), &Interp, &cache)
/// };
/// assert_eq!(power(3)?.run(Tensor::from(2f32))?.item::<f32>()?, 8.0);
/// assert!(power(3)?.same_as(&power(3)?));
/// assert_eq!(power(4)?.run(Tensor::from(2f32))?.item::<f32>()?, 16.0);
/// # Ok::<(), evoxc::Error>(())
/// ```
///
/// # Errors
/// As [`build_cached`].
#[track_caller]
pub fn build_cached_as<F, S, M, B: Backend>(
    name: &str,
    f: F,
    specs: S,
    backend: &B,
    cache: &CompileCache,
) -> Result<Built<F, S, M>>
where
    S: Tree<TensorSpec>,
    F: GraphFn<S::Map<Sym>, M>,
{
    let (leaves, tree) = TreeDef::flatten(specs);
    let key = CompileKey::by_name(type_id::<(S, F::Out)>(), name, &leaves, &tree, backend);
    if let Some(exe) = cache.get(&key) {
        return Ok(exe);
    }
    let graph: Graph<S::Map<Sym>, F::Out> = trace_leaves(f, leaves, tree)?;
    Ok(cache.insert(key, through_files(&graph, backend, cache)?))
}

/// Compiles and loads a graph, or loads the artifact that the cache's folder holds of it.
fn through_files<I: Tree<Sym>, O: Tree<Sym>, B: Backend>(
    graph: &Graph<I, O>,
    backend: &B,
    cache: &CompileCache,
) -> Result<Executable<I::Map<Tensor>, O::Map<Tensor>>> {
    let Some(files) = cache.files() else { return load(graph, backend) };
    let key = graph.cache_key(backend);
    let inner = &graph.inner;
    let found = match files.artifact(key, backend)? {
        Some(a) => a.of_module(&inner.module, inner.inputs.clone(), inner.outputs.clone())?,
        None => None,
    };
    let artifact = match found {
        Some(a) => a,
        None => files.keep_artifact(key, graph.lower(backend)?.compile()?)?,
    };
    artifact.load(first_device(backend))
}
