//! What an import is asked for, and what it gives beside the graph.

use evoxc_core::Scalar;
use evoxc_trace::Graph;

/// How a module is imported.
///
/// ```
/// use evoxc_stablehlo::ImportOptions;
/// let options = ImportOptions { checks: true, ..ImportOptions::default() };
/// assert!(options.entry.is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The function that becomes the graph's entry; by default `@main`, or else the first public function.
    pub entry: Option<String>,
    /// Records the checks of a test program (`check.*`, `interpreter.*`) beside the graph, see [`Imported`]; by default
    /// they are errors.
    pub checks: bool,
    /// The name of the text's file, for the locations of ops that have none of their own.
    pub file: Option<String>,
    /// Extents for `?` in the types of arguments, and for integer arguments that stand for extents: the argument's
    /// name, its axis (0 for an integer argument), and the extent: a number, or an expression of symbols such as
    /// `B` or `2*B + 1`. Others get a symbol named after their argument.
    pub extents: Vec<(String, usize, String)>,
}

/// A module as a graph, and what it holds for a test runner.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The graph: first the function's own inputs and outputs, then those of the records below.
    pub graph: Graph,
    /// How many of the graph's inputs are the function's own arguments.
    pub arguments: usize,
    /// How many of the graph's outputs are the function's own results.
    pub results: usize,
    /// The checks, in order.
    pub checks: Vec<CheckSite>,
    /// The calls of replicas, in order.
    pub parallel: Vec<ParallelSite>,
}

/// A check of a test program: which outputs of the graph it compares, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckSite {
    /// `expect_eq`, `expect_close`, `expect_almost_eq`, `expect_serialized_eq`, `eq`: without the dialect, and without
    /// `_const`, whose constant is an output of the graph as any other.
    pub name: String,
    /// Is it `stablehlo.custom_call @check.…`, whose tolerances differ from those of the op?
    pub custom_call: bool,
    /// The attributes that are numbers: `tolerance`, `max_ulp_difference`, `min_ulp_difference`, `iteration`.
    pub attributes: Vec<(String, Scalar)>,
    /// The graph's outputs that it compares: the computed value, then the expected one.
    pub outputs: Vec<usize>,
    /// The line of the text, from 1.
    pub line: usize,
}

/// `interpreter.run_parallel`: functions of the module that run as replicas.
///
/// The graph gives their arguments as outputs and takes their results as inputs: a runner runs it once with any
/// results, then the replicas on the arguments, then the graph again with their results.
#[derive(Clone, Debug, PartialEq)]
pub struct ParallelSite {
    /// The function of each process: `programs[replica][partition]`.
    pub programs: Vec<Vec<String>>,
    /// The graph's outputs that are the arguments, of all processes one after the other.
    pub arguments: Vec<usize>,
    /// The graph's inputs that are the results, of all processes one after the other.
    pub results: Vec<usize>,
    /// The line of the text, from 1.
    pub line: usize,
}
