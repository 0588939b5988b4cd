//! `batch_functions`: many programs of one signature as one program.
//!
//! `program` reads the programs and numbers what is equal, `plan` finds the classes, `bands` parts the programs, `cost`
//! compares plans, and `write` writes the best one. Nothing but `write` touches a trace.

mod alike;
mod bands;
mod cost;
mod exact;
mod literals;
mod options;
mod plan;
mod pool;
mod program;
mod report;
mod signature;
mod write;

pub use options::{Alignment, Bands, SwitchOps};
pub use report::BatchReport;

use crate::api::vmap::{axis, named, per_leaf, result};
use crate::vmap::parts::move_axis;
use evoxc_core::{Dim, OpError, Result, TensorSpec, TransformError, Tree, TreeDef};
use evoxc_trace::{Graph, GraphFn, GraphMark, Sym, emitter, trace};
use plan::{Form, Plan, Step};
use program::Programs;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// The name in errors.
const NAME: &str = "batch_functions";

/// See [`batch_functions`].
#[derive(Debug)]
pub struct BatchFunctions<'g, I, O> {
    graphs: Result<Cow<'g, [Graph<I, O>]>>,
    axes: Option<Vec<Option<i64>>>,
    out_axes: Option<Vec<Option<i64>>>,
    switch: SwitchOps,
    bands: Bands,
    alignment: Alignment,
}

/// Merges programs of one signature into one program that runs them all: a population of candidate formulas, say, each
/// a graph of its own. The merged program takes what the programs take, with an axis more that has a row for each of
/// them, and gives their results stacked in their order, bit for bit what each gives alone.
///
/// Ops at equal positions of different programs become one op on as many rows. [`Alignment`] says which positions are
/// equal; programs that have no op at a position take no part in it, so nothing is computed for rows that nobody reads.
/// Constants that differ are stacked; what is the same for all programs that have it is computed once. Where the rows of
/// an operand come from several ops, these are concatenated and the rows gathered. Ops with regions, calls and
/// convolutions are computed once a row, between ops on all rows. Merging takes time linear in the number of ops.
///
/// For functions instead of graphs, see [`batch_functions_of`].
///
/// ```
/// use evoxc::prelude::*;
/// let x = spec(F32, [3]);
/// let programs = [
///     trace(|x: Sym| (x * 2.0).tanh() + 1.0, x.clone())?,
///     trace(|x: Sym| (x * 3.0).tanh() + 1.0, x.clone())?,
///     trace(|x: Sym| (x * 4.0).exp() + 1.0, x)?,
/// ];
/// let merged = batch_functions(&programs).axes([None]).build()?; // one x for all
/// assert_eq!(merged.output_specs(), [spec(F32, [3, 3])]);
/// println!("{}", merged.report());
/// let exe = build(&merged, merged.specs(), &Interp)?;
/// let all = exe.run(Tensor::from([0f32, 0.1, 0.2]))?;
/// for (i, program) in programs.iter().enumerate() {
///     let alone = build(program, program.specs(), &Interp)?.run(Tensor::from([0f32, 0.1, 0.2]))?;
///     assert_eq!(all.to_vec::<f32>()?[3 * i..3 * i + 3], alone.to_vec::<f32>()?);
/// }
/// # Ok::<(), evoxc::Error>(())
/// ```
pub fn batch_functions<I, O>(graphs: &[Graph<I, O>]) -> BatchFunctions<'_, I, O> {
    BatchFunctions {
        graphs: Ok(Cow::Borrowed(graphs)),
        axes: None,
        out_axes: None,
        switch: SwitchOps::None,
        bands: Bands::One,
        alignment: Alignment::Variant,
    }
}

/// [`batch_functions`] of functions, each traced on inputs of these specs (those of one program, without the axis of
/// the programs).
///
/// ```
/// use evoxc::prelude::*;
/// let powers: Vec<_> = (1..4).map(|n| move |x: Sym| (1..n).fold(x, |y, _| y * x)).collect();
/// let merged = batch_functions_of(&powers, spec(F32, [])).axes([None]).build()?;
/// let all = evaluate(&merged, Tensor::from(3f32), &Interp)?;
/// assert_eq!(all.to_vec::<f32>()?, [3.0, 9.0, 27.0]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[track_caller]
pub fn batch_functions_of<F, S, M, O>(functions: &[F], specs: S) -> BatchFunctions<'static, S::Map<Sym>, O>
where
    S: Tree<TensorSpec> + Clone,
    for<'f> &'f F: GraphFn<S::Map<Sym>, M, Out = O>,
    O: Tree<Sym>,
{
    let mut graphs = vec![];
    for f in functions {
        match trace(f, specs.clone()) {
            Ok(g) => graphs.push(g),
            Err(e) => return BatchFunctions { graphs: Err(e), ..batch_functions(&[]) },
        }
    }
    BatchFunctions { graphs: Ok(Cow::Owned(graphs)), ..batch_functions(&[]) }
}

impl<'g, I, O> BatchFunctions<'g, I, O> {
    /// For each input (and all its leaves; a tuple is the list of inputs): the axis that has a row for each program, or
    /// `None` for one that all programs share. By default every input is mapped on axis 0.
    pub fn axes(mut self, axes: impl IntoIterator<Item = Option<i64>>) -> Self {
        self.axes = Some(axes.into_iter().collect());
        self
    }
    /// For each result: the axis along which the programs' values are stacked, or `None` for one that is the same
    /// for every program. By default axis 0.
    pub fn out_axes(mut self, axes: impl IntoIterator<Item = Option<i64>>) -> Self {
        self.out_axes = Some(axes.into_iter().collect());
        self
    }
    /// Ops that may share a class though they differ. By default none.
    pub fn switch_ops(mut self, ops: SwitchOps) -> Self {
        self.switch = ops;
        self
    }
    /// Bands of programs that are merged on their own. By default one.
    pub fn bands(mut self, bands: Bands) -> Self {
        self.bands = bands;
        self
    }
    /// Which positions of different programs are equal. By default [`Alignment::Variant`].
    pub fn alignment(mut self, alignment: Alignment) -> Self {
        self.alignment = alignment;
        self
    }
}

impl<I: Tree<Sym>, O: Tree<Sym>> BatchFunctions<'_, I, O> {
    /// Merges the programs.
    ///
    /// # Errors
    /// [`TransformError`]: there is no program, two differ in their signature (which is told), one uses values of an
    /// enclosing trace or has an effect, or an axis does not exist. What tracing the functions gave, where they are
    /// functions.
    #[track_caller]
    pub fn build(self) -> Result<BatchedGraph<I, O>> {
        let graphs = self.graphs?;
        let refuse = |op: OpError| TransformError { transform: NAME.into(), op };
        let first = signature::common(&graphs).map_err(refuse)?;
        let (inputs, outputs) = emitter::trees(first);
        let (inputs, outputs) = (inputs.clone(), outputs.clone());
        let n = graphs.len();
        let axes = input_axes(&inputs, self.axes.as_deref(), &first.input_specs()).map_err(refuse)?;
        let out_axes = per_leaf("out_axes", "result", &outputs, self.out_axes.as_deref()).map_err(refuse)?;
        let mapped: Vec<bool> = axes.iter().map(Option::is_some).collect();
        let programs = Programs::read(graphs.iter().map(Graph::module), &self.switch).map_err(refuse)?;
        let best = choose(&programs, &mapped, self.bands, self.alignment);
        let mut specs = first.input_specs();
        for (s, a) in specs.iter_mut().zip(&axes) {
            if let Some(a) = a {
                let mut dims: Vec<Dim> = s.shape.iter().copied().collect();
                dims.insert(*a, Dim::constant(n as i64));
                s.shape = dims.into_iter().collect();
            }
        }
        let writing = Writing { best: &best, programs: &programs, axes, out_axes, mapped, outputs, tree: PhantomData };
        let graph: Graph<I, O> = emitter::trace_leaves::<Writing<O>, I, Writes>(writing, specs, inputs)?;
        let report = best.report(&programs, graph.ops().len());
        Ok(BatchedGraph { graph, report })
    }
}

/// The axis of the programs of each input leaf.
fn input_axes(
    def: &TreeDef,
    axes: Option<&[Option<i64>]>,
    types: &[TensorSpec],
) -> Result<Vec<Option<usize>>, OpError> {
    let axes = per_leaf("axes", "argument", def, axes)?;
    let paths = def.paths();
    let place = |((a, ty), path): ((Option<i64>, &TensorSpec), &String)| {
        a.map(|a| axis(a, ty.rank() + 1, "axes", ty, &named("argument", path))).transpose()
    };
    axes.into_iter().zip(types).zip(&paths).map(place).collect()
}

/// A plan, and what it was chosen by.
struct Choice<'a> {
    plan: Plan<'a>,
    bands: Vec<Vec<u32>>,
    occurrence: bool,
    cost: f64,
}

/// The cheapest plan among those that the options allow; the first of equal ones, so that more bands must pay.
fn choose<'a>(programs: &Programs<'a>, mapped: &[bool], bands: Bands, alignment: Alignment) -> Choice<'a> {
    let n = programs.list.len();
    let order = bands::Order::new(programs);
    let counts: Vec<usize> = match bands {
        Bands::One => vec![1],
        Bands::Count(k) => vec![k.clamp(1, n.max(1))],
        Bands::Auto => {
            let mut counts: Vec<usize> =
                std::iter::successors(Some(1), |k| Some(k * 2)).take_while(|&k| k <= n.min(64)).collect();
            counts.push(order.distinct.clamp(1, n.max(1)));
            counts.sort_unstable();
            counts.dedup();
            counts
        }
    };
    let alignments = match alignment {
        Alignment::Auto => vec![Alignment::Variant, Alignment::Occurrence],
        one => vec![one],
    };
    let mut best: Option<Choice> = None;
    for &k in &counts {
        let bands = order.bands(k);
        for &alignment in &alignments {
            let plan = Plan::new(programs, mapped, &bands, alignment);
            let cost = cost::merged(&plan, programs);
            if best.as_ref().is_none_or(|b| cost < b.cost) {
                let occurrence = matches!(alignment, Alignment::Occurrence);
                best = Some(Choice { plan, bands: bands.clone(), occurrence, cost });
            }
        }
    }
    best.unwrap_or_else(|| Choice { plan: Plan::default(), bands: vec![], occurrence: false, cost: 0.0 })
}

impl Choice<'_> {
    fn report(&self, programs: &Programs, emitted_ops: usize) -> BatchReport {
        let classes = || self.plan.steps.iter().filter_map(|s| if let Step::Class(c) = s { Some(c) } else { None });
        let count = |f: &dyn Fn(&Form) -> bool| classes().filter(|c| f(&c.form)).count();
        let shared_classes = count(&|f| matches!(f, Form::One));
        let muxed = |o: &&pool::Operand| {
            matches!(
                o,
                pool::Operand::Gather(..) | pool::Operand::Slice(..) | pool::Operand::Whole(pool::Base::Pool(_))
            )
        };
        BatchReport {
            programs: programs.list.len(),
            ops: programs.list.iter().map(|p| p.nodes.len() + p.constants()).sum(),
            value_classes: classes().count() - shared_classes,
            shared_classes,
            switched: count(&|f| matches!(f, Form::Switch { .. })),
            per_program: count(&|f| matches!(f, Form::Each)),
            operand_muxes: self.plan.operand_muxes,
            output_muxes: self.plan.outputs.iter().filter(muxed).count(),
            emitted_ops,
            bands: self.bands.len(),
            band_sizes: self.bands.iter().map(Vec::len).collect(),
            by_occurrence: self.occurrence,
            cost_estimate: self.cost,
            separate_estimate: cost::separate(programs),
        }
    }
}

/// The merged program as a graph function: what `trace` is given.
struct Writing<'p, 'a, O> {
    best: &'p Choice<'a>,
    programs: &'p Programs<'a>,
    axes: Vec<Option<usize>>,
    out_axes: Vec<Option<i64>>,
    mapped: Vec<bool>,
    outputs: TreeDef,
    tree: PhantomData<O>,
}

/// Its marker.
struct Writes;

impl<I: Tree<Sym>, O: Tree<Sym>> GraphFn<I, Writes> for Writing<'_, '_, O> {
    type Out = O;
    fn apply(&self, args: I) -> O {
        let loc = emitter::call_site();
        let _at = emitter::at(loc);
        let mark = emitter::mark();
        let leaves = TreeDef::flatten(args).0;
        let inputs: Vec<Sym> =
            leaves.iter().zip(&self.axes).map(|(&x, a)| a.map_or(x, |a| move_axis(x, a, 0))).collect();
        let written = write::write(&self.best.plan, self.programs, &inputs, &self.mapped);
        let rows = Dim::constant(self.programs.list.len() as i64);
        let paths = self.outputs.paths();
        let out = written.and_then(|out| {
            let places = out.into_iter().zip(&self.out_axes).zip(&paths);
            places.map(|((m, &place), path)| result(m, place, rows, path)).collect::<Result<Vec<Sym>, OpError>>()
        });
        match out {
            Ok(out) => {
                emitter::prune(mark, &out);
                crate::api::rebuild(NAME, &self.outputs, out)
            }
            Err(e) => {
                emitter::refuse(NAME, e.at(loc));
                emitter::abort()
            }
        }
    }
}

/// The program that [`batch_functions`] makes: a [`Graph`], and a report of how it came about.
///
/// ```
/// use evoxc::prelude::*;
/// let x = spec(F32, [2]);
/// let merged = batch_functions(&[trace(|x: Sym| x.exp(), x.clone())?, trace(|x: Sym| x.exp(), x)?]).build()?;
/// assert_eq!((merged.ops().len(), merged.report().value_classes), (1, 1)); // one exp on two rows
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone)]
pub struct BatchedGraph<I, O> {
    graph: Graph<I, O>,
    report: BatchReport,
}

impl<I, O> BatchedGraph<I, O> {
    /// What was merged, and how.
    pub fn report(&self) -> &BatchReport {
        &self.report
    }
    /// The graph alone.
    pub fn into_graph(self) -> Graph<I, O> {
        self.graph
    }
}
impl<I, O> Deref for BatchedGraph<I, O> {
    type Target = Graph<I, O>;
    fn deref(&self) -> &Graph<I, O> {
        &self.graph
    }
}
impl<I, O> fmt::Display for BatchedGraph<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.graph.fmt(f)
    }
}
impl<I, O> fmt::Debug for BatchedGraph<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.graph, f)
    }
}
impl<I: Tree<Sym>, O: Tree<Sym>> GraphFn<I, GraphMark> for BatchedGraph<I, O> {
    type Out = O;
    fn apply(&self, args: I) -> O {
        self.graph.apply(args)
    }
}
impl<I: Tree<Sym>, O: Tree<Sym>> GraphFn<I, GraphMark> for &BatchedGraph<I, O> {
    type Out = O;
    fn apply(&self, args: I) -> O {
        self.graph.apply(args)
    }
}
