//! What `batch_functions` did.

use std::fmt;

/// What [`batch_functions`](crate::batch_functions) did, in numbers; printed by [`Display`](fmt::Display):
///
/// ```text
/// batch_functions: 100 programs of 917 ops
///   value classes        68
///   shared classes        5
///   switched              0
///   per program           0
///   operand muxes        90
///   output muxes          1
///   emitted ops         266
///   bands                 1  (sizes 100; by occurrence)
///   estimated cost     78.2  µs (alone 196.5 µs)
/// ```
///
/// ```
/// use evoxc::prelude::*;
/// let f = |a: f32| move |x: Sym| (x * a).tanh() + x;
/// let merged = batch_functions_of(&[f(1.0), f(2.0)], spec(F32, [4])).axes([None]).build()?;
/// let r = merged.report();
/// assert_eq!((r.programs, r.ops, r.value_classes, r.emitted_ops), (2, 8, 3, 5));
/// assert!(r.to_string().starts_with("batch_functions: 2 programs of 8 ops"));
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BatchReport {
    /// Programs merged.
    pub programs: usize,
    /// Ops that the programs have together, those left out that nothing uses.
    pub ops: usize,
    /// Classes of ops that are computed for rows.
    pub value_classes: usize,
    /// Classes whose value is the same for every program that has it: computed once, without rows.
    pub shared_classes: usize,
    /// Classes of several ops, of which each row selects its own.
    pub switched: usize,
    /// Classes whose op is written once a row: no form for all rows gives the same bits.
    pub per_program: usize,
    /// Operands whose rows come from several classes.
    pub operand_muxes: usize,
    /// Outputs whose rows come from several classes.
    pub output_muxes: usize,
    /// Ops of the merged graph.
    pub emitted_ops: usize,
    /// Bands.
    pub bands: usize,
    /// The number of programs of each band.
    pub band_sizes: Vec<usize>,
    /// Was [`Alignment::Occurrence`](crate::Alignment::Occurrence) used?
    pub by_occurrence: bool,
    /// The estimate of a run, in nanoseconds of an interpreter: work, and a price for each op.
    pub cost_estimate: f64,
    /// The same of running every program alone.
    pub separate_estimate: f64,
}

impl fmt::Display for BatchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<String> = self.band_sizes.iter().map(usize::to_string).collect();
        let alignment = if self.by_occurrence { "occurrence" } else { "variant" };
        writeln!(f, "batch_functions: {} programs of {} ops", self.programs, self.ops)?;
        writeln!(f, "  value classes   {:>7}", self.value_classes)?;
        writeln!(f, "  shared classes  {:>7}", self.shared_classes)?;
        writeln!(f, "  switched        {:>7}", self.switched)?;
        writeln!(f, "  per program     {:>7}", self.per_program)?;
        writeln!(f, "  operand muxes   {:>7}", self.operand_muxes)?;
        writeln!(f, "  output muxes    {:>7}", self.output_muxes)?;
        writeln!(f, "  emitted ops     {:>7}", self.emitted_ops)?;
        writeln!(f, "  bands           {:>7}  (sizes {}; by {alignment})", self.bands, sizes.join(", "))?;
        let (merged, alone) = (self.cost_estimate / 1e3, self.separate_estimate / 1e3);
        write!(f, "  estimated cost  {merged:>7.1}  µs (alone {alone:.1} µs)")
    }
}
