//! Running a plan: slots, steps, regions and calls.

use crate::plan::{Block, Plan, ResultType, Routine, Step, Use};
use crate::replicas::Member;
use crate::symbols::Symbols;
use crate::world::Process;
use crate::{control, dispatch};
use evoxc_core::{Dim, Error, OpError, Result, RunError, Tensor};
use smallvec::SmallVec;

/// The operands of a step, and what a step or region gives.
pub(crate) type Tensors = SmallVec<[Tensor; 3]>;

/// Regions and calls nest at most this deep while running, so that the stack does not overflow.
const MAX_DEPTH: usize = 160;

/// An error before the op it belongs to is known, or after.
pub(crate) enum Fault {
    /// The name, operands and place are still to be added.
    Op(OpError),
    /// Complete.
    Done(Error),
}
impl From<OpError> for Fault {
    fn from(e: OpError) -> Fault {
        Fault::Op(e)
    }
}
impl From<Error> for Fault {
    fn from(e: Error) -> Fault {
        match e {
            // An error that a kernel made itself, and that no step has completed yet.
            Error::Run(RunError::Op(op)) if op.loc.is_none() && op.operands.is_empty() => Fault::Op(*op),
            e => Fault::Done(e),
        }
    }
}

impl Plan {
    /// Runs the entry. Arguments that own their storage alone may be written to.
    ///
    /// # Errors
    /// [`RunError`] for arguments of other types, extents without a common solution, and ops that fail on these values.
    pub fn run(&self, args: Vec<Tensor>) -> Result<Vec<Tensor>> {
        self.run_in(&Process::ALONE, args)
    }

    /// Runs the entry in a process, with the values of symbolic extents that `symbols` gives, for callers that have them:
    /// arguments bind none, and their types are not checked.
    ///
    /// ```
    /// use evoxc::ir::Module;
    /// use evoxc::{dim, prelude::*};
    /// let text = "module @m version 1 { func @f() -> tensor<Bxi32> { %0 = evoxc.iota() {dtype = i32, shape = [B], axis = 0} : tensor<Bxi32> return %0 } }";
    /// let plan = evoxc_reference::Plan::new(&Module::parse(text)?)?;
    /// let alone = evoxc_reference::Process::ALONE;
    /// let out = plan.run_at(&alone, &mut |s| (s == dim("B")).then_some(3), vec![])?;
    /// assert_eq!(out[0].to_vec::<i32>()?, [0, 1, 2]);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`RunError`] for ops that fail on these values.
    pub fn run_at(
        &self,
        process: &Process,
        symbols: &mut dyn FnMut(Dim) -> Option<i64>,
        args: Vec<Tensor>,
    ) -> Result<Vec<Tensor>> {
        let Some(main) = self.routines.first() else { return Ok(vec![]) };
        let symbols = Symbols::given(self, symbols);
        Frame::new(self, main, &symbols, process, 0).run(args).map(SmallVec::into_vec)
    }
}

impl Member for Plan {
    fn run_in(&self, process: &Process, args: Vec<Tensor>) -> Result<Vec<Tensor>> {
        let Some(main) = self.routines.first() else { return Ok(vec![]) };
        let symbols = Symbols::bind(self, &main.inputs, &args, None)?;
        Frame::new(self, main, &symbols, process, 0).run(args).map(SmallVec::into_vec)
    }
}

/// One activation of a function.
pub(crate) struct Frame<'p> {
    pub(crate) plan: &'p Plan,
    routine: &'p Routine,
    slots: Vec<Option<Tensor>>,
    pub(crate) symbols: &'p Symbols,
    pub(crate) process: &'p Process<'p>,
    pub(crate) depth: usize,
}

impl<'p> Frame<'p> {
    pub(crate) fn new(
        plan: &'p Plan,
        routine: &'p Routine,
        symbols: &'p Symbols,
        process: &'p Process<'p>,
        depth: usize,
    ) -> Frame<'p> {
        Frame { plan, routine, slots: vec![None; routine.types.len()], symbols, process, depth }
    }

    /// Runs the function's body.
    pub(crate) fn run(mut self, args: impl IntoIterator<Item = Tensor>) -> Result<Tensors> {
        self.block(&self.routine.body, args)
    }

    /// Runs a region on arguments.
    pub(crate) fn block(&mut self, block: &'p Block, args: impl IntoIterator<Item = Tensor>) -> Result<Tensors> {
        for (slot, arg) in block.args.iter().zip(args) {
            if let Some(s) = *slot {
                self.put(s, arg);
            }
        }
        if self.depth >= MAX_DEPTH {
            let e = OpError::new("call", format!("calls and regions nest deeper than {MAX_DEPTH}"));
            return Err(RunError::Op(Box::new(e)).into());
        }
        self.depth += 1;
        for step in &block.steps {
            self.step(step)?;
        }
        self.depth -= 1;
        self.fetch_all(&block.results).map_err(|e| RunError::Op(Box::new(e)).into())
    }

    fn put(&mut self, slot: u32, t: Tensor) {
        if let Some(s) = self.slots.get_mut(slot as usize) {
            *s = Some(t);
        }
    }

    #[inline]
    fn fetch(&mut self, u: Use) -> Result<Tensor, OpError> {
        let t = match u {
            Use::Take(s) => self.slots.get_mut(s as usize).and_then(Option::take),
            Use::Share(s) => self.slots.get(s as usize).cloned().flatten(),
            Use::Constant(c) => self.routine.constants.get(c as usize).cloned(),
        };
        t.ok_or_else(|| OpError::new("module", "a value is used before it is defined"))
    }

    fn fetch_all(&mut self, uses: &[Use]) -> Result<Tensors, OpError> {
        // A loop: collecting results into a `SmallVec` moves each tensor twice.
        let mut out = Tensors::new();
        for &u in uses {
            out.push(self.fetch(u)?);
        }
        Ok(out)
    }

    fn step(&mut self, step: &'p Step) -> Result<()> {
        let outputs = self.outputs(step).map_err(|f| match f {
            Fault::Op(e) => self.complete(step, e),
            Fault::Done(e) => e,
        })?;
        for (slot, t) in step.results.iter().zip(outputs) {
            if let Some(s) = *slot {
                self.put(s, t);
            }
        }
        for &s in &step.drops {
            if let Some(s) = self.slots.get_mut(s as usize) {
                *s = None;
            }
        }
        Ok(())
    }

    fn outputs(&mut self, step: &'p Step) -> Result<Tensors, Fault> {
        for t in step.types.iter().filter(|t| t.check) {
            self.check_size(t)?;
        }
        let operands = self.fetch_all(&step.uses)?;
        // An op with regions, or a call. The table of ops says which those are, when the plan is made.
        if !step.blocks.is_empty() || step.callee.is_some() {
            control::run(self, step, operands)
        } else {
            dispatch::compute(self.symbols, self.process, step, operands)
        }
    }

    /// Refuses a result that memory cannot hold, before anything is computed.
    fn check_size(&self, t: &ResultType) -> Result<(), OpError> {
        let extents = self.symbols.extents(t)?;
        // Strides of an empty tensor are products of its other extents: they must fit too.
        let bytes =
            extents.iter().try_fold(t.ty.dtype.size() as isize, |a, &n| a.checked_mul(n.max(1).try_into().ok()?));
        let bytes = bytes.map(|b| if extents.contains(&0) { 0 } else { b as usize });
        // Large blocks are only reserved here, so that a size beyond memory is an error instead of an abort.
        let fits = bytes.is_some_and(|b| b <= 1 << 28 || Vec::<u8>::new().try_reserve_exact(b).is_ok());
        if fits {
            return Ok(());
        }
        let message = format!("a result of shape {:?} and dtype {} does not fit into memory", extents, t.ty.dtype);
        Err(OpError::new("", message).remedy("use smaller extents"))
    }

    /// The error with what the step knows: name, operand types, place.
    #[cold]
    fn complete(&self, step: &Step, mut e: OpError) -> Error {
        if e.op.is_empty() {
            e.op = step.prim.name();
        }
        if e.operands.is_empty() {
            let types = step.operands.iter().filter_map(|v| self.routine.types.get(v.index()));
            e = e.operands(types);
        }
        RunError::Op(Box::new(e.at(step.loc))).into()
    }
}
