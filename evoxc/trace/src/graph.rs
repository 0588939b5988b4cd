//! `Graph`: an immutable, verified program with typed trees of inputs and outputs.

use crate::{GraphFn, Sym, builder, inline};
use evoxc_core::{Dyn, Error, Result, Tensor, TensorSpec, Tree, TreeDef};
use evoxc_ir::{GraphFile, Module, Op};
use evoxc_stage::{Backend, CacheKey, LoweredProgram};
use std::fmt;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

/// A value of an enclosing trace that a graph uses: an extra input, filled in when the graph is called there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capture {
    pub id: u32,
    pub trace: u32,
}

pub(crate) struct Inner {
    pub module: Module,
    pub inputs: TreeDef,
    pub outputs: TreeDef,
    pub captures: Vec<Capture>,
}

/// A program as a value: verified, immutable, cheap to clone, `Send + Sync`. `I` and `O` are the trees of its inputs
/// and outputs with `Sym` leaves; `Graph` alone is the erased form, whose trees are known at run time only.
///
/// ```
/// use evoxc::prelude::*;
/// let g = trace(|x: Sym, y: Sym| x + y, (spec(F32, [2]), spec(F32, [2]))).unwrap();
/// let again = Graph::parse(&g.to_string()).unwrap();
/// assert_eq!(again, g.clone().erase());
/// assert_eq!(g.specs().0, spec(F32, [2]));
/// ```
pub struct Graph<I = Dyn<Sym>, O = Dyn<Sym>> {
    pub(crate) inner: Arc<Inner>,
    trees: PhantomData<fn(I) -> O>,
}

impl<I, O> Clone for Graph<I, O> {
    fn clone(&self) -> Self {
        Graph { inner: self.inner.clone(), trees: PhantomData }
    }
}
impl<I, O> fmt::Display for Graph<I, O> {
    /// EvoXIR, one op a line with its location.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.module.fmt(f)
    }
}
impl<I, O> fmt::Debug for Graph<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl<I, O> PartialEq for Graph<I, O> {
    /// The same ops on the same types; names, locations, static values and notes do not matter.
    fn eq(&self, o: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &o.inner) || self.inner.module == o.inner.module
    }
}

impl Graph {
    /// Reads EvoXIR text: the inverse of printing. Inputs and outputs are tuples of leaves (a single one is bare).
    ///
    /// # Errors
    /// [`Error::Parse`] with line and column, [`Error::Ir`] where a rule of the IR is broken.
    pub fn parse(text: &str) -> Result<Graph> {
        Graph::from_module(Module::parse(text)?)
    }
    /// Reads a file that [`Graph::save`] wrote.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Persistence`], [`Error::Parse`], [`Error::Ir`].
    pub fn load(path: impl AsRef<Path>) -> Result<Graph> {
        let f = GraphFile::load(path.as_ref())?;
        f.module.verify()?;
        let g = Graph::from_parts(f.module, f.inputs, f.outputs, vec![]);
        g.check_signature()?;
        Ok(g)
    }
    /// A graph of a module; inputs and outputs are tuples of leaves (a single one is bare).
    ///
    /// # Errors
    /// [`Error::Ir`] where a rule of the IR is broken.
    pub fn from_module(module: Module) -> Result<Graph> {
        module.verify()?;
        let def = |n| if n == 1 { TreeDef::leaf() } else { TreeDef::leaves_tuple(n) };
        let (i, o) = module.main().map_or((0, 0), |m| (m.body.args.len(), m.body.results.len()));
        Ok(Graph::from_parts(module, def(i), def(o), vec![]))
    }
    fn check_signature(&self) -> Result<()> {
        let (i, o) = self.inner.module.main().map_or((0, 0), |m| (m.body.args.len(), m.body.results.len()));
        let _: Dyn<Blank> = self.inner.inputs.unflatten(vec![Blank; i])?;
        let _: Dyn<Blank> = self.inner.outputs.unflatten(vec![Blank; o])?;
        Ok(())
    }
    /// Restores the types of inputs and outputs.
    ///
    /// # Errors
    /// [`Error::Tree`] with the path of the first difference. A `#[tree(static)]` field of a graph read from a file is
    /// text only; numbers and `bool`s are restored from it, other types need [`Graph::typed_like`].
    pub fn typed<I: Tree<Sym>, O: Tree<Sym>>(self) -> Result<Graph<I, O>> {
        let _: I = self.inner.inputs.unflatten(vec![Sym::POISON; self.inner.inputs.leaf_count()])?;
        let _: O = self.inner.outputs.unflatten(vec![Sym::POISON; self.inner.outputs.leaf_count()])?;
        Ok(Graph { inner: self.inner, trees: PhantomData })
    }
    /// [`Graph::typed`] where trees hold static values that are no plain numbers: live trees of specs give them. Both
    /// must have the saved structure; the specs of the leaves do not matter.
    ///
    /// # Errors
    /// [`Error::Tree`] with the path of the first difference.
    pub fn typed_like<S: Tree<TensorSpec>, T: Tree<TensorSpec>>(
        self,
        inputs: S,
        outputs: T,
    ) -> Result<Graph<S::Map<Sym>, T::Map<Sym>>> {
        let (inputs, outputs) = (TreeDef::flatten(inputs).1, TreeDef::flatten(outputs).1);
        let saved = [&self.inner.inputs, &self.inner.outputs];
        if let Some(e) = saved.into_iter().zip([&inputs, &outputs]).find_map(|(a, b)| a.difference(b)) {
            return Err(e.into());
        }
        let (module, captures) = (self.inner.module.clone(), self.inner.captures.clone());
        Graph::<Dyn<Sym>, Dyn<Sym>>::from_parts(module, inputs, outputs, captures).typed()
    }
}

/// A leaf without data, to check structures.
#[derive(Clone)]
struct Blank;
impl evoxc_core::Leaf for Blank {}
impl Tree<Blank> for Blank {
    type Map<U: evoxc_core::Leaf> = U;
    fn flatten(self, out: &mut evoxc_core::Flatten<Blank>) {
        out.leaf(self);
    }
    fn unflatten(src: &mut evoxc_core::Unflatten<'_, Blank>) -> Result<Self> {
        src.leaf()
    }
}

impl<I, O> Graph<I, O> {
    pub(crate) fn from_parts(module: Module, inputs: TreeDef, outputs: TreeDef, captures: Vec<Capture>) -> Graph<I, O> {
        Graph { inner: Arc::new(Inner { module, inputs, outputs, captures }), trees: PhantomData }
    }
    /// Checks every rule of the IR again. A graph is verified when it is made, so this succeeds.
    ///
    /// # Errors
    /// [`Error::Ir`].
    pub fn verify(&self) -> Result<()> {
        self.inner.module.verify()
    }
    /// The ops of the entry function, in order; regions are inside their ops.
    pub fn ops(&self) -> &[Op] {
        self.inner.module.main().map_or(&[], |f| &f.body.ops)
    }
    /// The program.
    pub fn module(&self) -> &Module {
        &self.inner.module
    }
    /// Static values that the graph was specialised to: (name, text).
    pub fn static_values(&self) -> &[(String, String)] {
        &self.inner.module.statics
    }
    /// The number of values of an enclosing trace that became extra inputs, behind the others.
    pub fn captures(&self) -> usize {
        self.inner.captures.len()
    }
    /// Writes the graph to a file (conventionally `.evoxcgraph`).
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Persistence`] of a graph with captures.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.closed("save")?;
        let i = &self.inner;
        GraphFile { module: i.module.clone(), inputs: i.inputs.clone(), outputs: i.outputs.clone(), captures: 0 }
            .save(path.as_ref())
    }
    /// The graph in Graphviz's language.
    pub fn to_dot(&self) -> String {
        self.inner.module.to_dot()
    }
    /// The hash of the structure: names, locations, static values and notes left out.
    pub fn structural_hash(&self) -> u64 {
        self.inner.module.structural_hash()
    }
    /// The key of this graph's programs on a backend in a [`FileCache`](evoxc_stage::FileCache): of its structure, the
    /// trees of its inputs and outputs, and the backend.
    pub fn cache_key<B: Backend>(&self, backend: &B) -> CacheKey {
        CacheKey::new(&self.inner.module, &self.inner.inputs, &self.inner.outputs, backend)
    }
    /// The same program with common subexpressions merged, dead code removed, and exact ops on constants folded; every
    /// bit of every result is preserved.
    pub fn simplify(&self) -> Graph<I, O> {
        let i = &self.inner;
        Graph::from_parts(evoxc_ir::simplify(&i.module), i.inputs.clone(), i.outputs.clone(), i.captures.clone())
    }
    /// The erased form.
    pub fn erase(self) -> Graph {
        Graph { inner: self.inner, trees: PhantomData }
    }
    /// The types of all inputs in order, captures last.
    pub fn input_specs(&self) -> Vec<TensorSpec> {
        self.inner.module.main().map(|m| m.inputs()).unwrap_or_default()
    }
    /// The types of all outputs in order.
    pub fn output_specs(&self) -> Vec<TensorSpec> {
        self.inner.module.main().map(|m| m.outputs()).unwrap_or_default()
    }
    fn closed(&self, what: &str) -> Result<()> {
        if self.inner.captures.is_empty() {
            return Ok(());
        }
        let n = self.inner.captures.len();
        let e = evoxc_core::OpError::new(what, format!("the graph captures {n} value(s) of an enclosing trace"))
            .remedy("call it inside that trace, or pass the values as inputs");
        Err(Error::Trace(evoxc_core::TraceErrors { errors: vec![e] }))
    }
}

impl<I: Tree<Sym>, O: Tree<Sym>> Graph<I, O> {
    /// The specs of the inputs, as a tree.
    ///
    /// # Panics
    /// Never for a graph made by `trace`, `typed` or `typed_like`, which check the structure.
    pub fn specs(&self) -> I::Map<TensorSpec> {
        let mut specs = self.input_specs();
        specs.truncate(self.inner.inputs.leaf_count());
        match self.inner.inputs.unflatten(specs) {
            Ok(t) => t,
            Err(e) => panic!("the input tree was checked when the graph was made: {e}"),
        }
    }
    /// Appends the graph's ops to the one being traced; extents of the arguments replace the graph's symbols.
    #[track_caller]
    pub fn call(&self, args: I) -> O {
        inline::call(self, args, builder::here())
    }
    /// The program in the form a backend compiles.
    ///
    /// # Errors
    /// [`Error::Backend`] naming an op that the backend cannot take, and the remedy.
    pub fn lower<B: Backend>(&self, backend: &B) -> Result<LoweredProgram<I::Map<Tensor>, O::Map<Tensor>, B>> {
        self.closed("lower")?;
        LoweredProgram::from_parts(
            backend.clone(),
            &self.inner.module,
            self.inner.inputs.clone(),
            self.inner.outputs.clone(),
        )
    }
}

/// Marks graphs as graph functions.
///
/// ```
/// use evoxc::{GraphFn, GraphMark, prelude::*};
/// fn only_graphs(g: impl GraphFn<Sym, GraphMark, Out = Sym>, x: Sym) -> Sym {
///     g.apply(g.apply(x))
/// }
/// let double = trace(|x: Sym| x + x, spec(F32, []))?;
/// let y = evaluate(|x: Sym| only_graphs(&double, x), Tensor::from(1f32), &Interp)?;
/// assert_eq!(y.item::<f32>()?, 4.0);
/// # Ok::<(), evoxc::Error>(())
/// ```
pub struct GraphMark;
impl<I: Tree<Sym>, O: Tree<Sym>> GraphFn<I, GraphMark> for Graph<I, O> {
    type Out = O;
    fn apply(&self, args: I) -> O {
        // The caller is `trace` itself: the user is where `trace` was called.
        inline::call(self, args, builder::with(|t| Some(t.entry)))
    }
}
impl<I: Tree<Sym>, O: Tree<Sym>> GraphFn<I, GraphMark> for &Graph<I, O> {
    type Out = O;
    fn apply(&self, args: I) -> O {
        // The caller is `trace` itself: the user is where `trace` was called.
        inline::call(self, args, builder::with(|t| Some(t.entry)))
    }
}
