//! A program of symbolic sizes on any backend.

use evoxc::prelude::*;
use evoxc::{Backend, SpecializationCache};

/// A program: compiled once for all sizes where the backend takes symbolic extents, else once for each combination of sizes
/// that it is run with, the most recently used 16 of them kept.
pub struct Runner<I, O>(Box<dyn Fn(I) -> evoxc::Result<O> + Send + Sync>);

impl<I, O> Runner<I, O> {
    /// Compiles a graph function, as [`build`] does.
    ///
    /// # Errors
    /// Those of each stage.
    ///
    /// ```
    /// use evoxc::prelude::*;
    /// let runner = evoxc_hf::Runner::new(|x: Sym| x.sum(..), spec(F32, [dim("N")]), &Interp)?;
    /// assert_eq!(runner.run(Tensor::ones(F32, [5]))?.item::<f32>()?, 5.0);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    #[track_caller]
    pub fn new<F, S, M, B>(f: F, specs: S, backend: &B) -> evoxc::Result<Runner<I, O>>
    where
        S: Tree<TensorSpec>,
        S::Map<Sym>: Tree<Sym, Map<Tensor> = I> + 'static,
        F: GraphFn<S::Map<Sym>, M>,
        F::Out: Tree<Sym, Map<Tensor> = O> + 'static,
        B: Backend,
        I: Tree<Tensor> + Send + Sync + 'static,
        O: Tree<Tensor> + Send + Sync + 'static,
    {
        let graph = trace(f, specs)?;
        if !backend.capabilities().symbolic_dims {
            let cache = SpecializationCache::new(&graph, backend);
            return Ok(Runner(Box::new(move |args| cache.run(args))));
        }
        let device = backend.devices().first().copied().unwrap_or(Device::cpu());
        let exe = graph.lower(backend)?.compile()?.load(device)?;
        Ok(Runner(Box::new(move |args| exe.run(args))))
    }
    /// Runs it.
    ///
    /// # Errors
    /// As [`Executable::run`], and where sizes are new to a backend of static shapes, those of compiling.
    pub fn run(&self, args: I) -> evoxc::Result<O> {
        (self.0)(args)
    }
}
