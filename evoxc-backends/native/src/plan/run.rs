//! Running a plan: laying out a frame, going through steps.

use super::fence::{Apart, lay_apart};
use super::memory::{Frame, Memory, aligned};
use super::output::{Made, donated, finished, fresh};
use super::record::Recorder;
use super::steps::*;
use crate::lir::Lir;
use evoxc_core::{DType, Dim, OpError, Result, RunError, Tensor, with_buffer, with_dtype};
use evoxc_reference::{Member, Process};
use evoxc_stage::Profile;
use smallvec::SmallVec;
use std::ops::Range;
use std::time::Instant;

/// Calls nest at most this deep, so that the stack does not overflow.
const MAX_DEPTH: usize = 160;

/// One run of a routine.
pub(crate) struct Run<'p, 'r> {
    pub plan: &'p Plan,
    pub routine: &'p Routine,
    /// Which routine that is.
    pub number: usize,
    pub frame: &'r mut Frame,
    /// The process whose collectives these are.
    pub process: &'r Process<'r>,
    depth: usize,
    recorder: Option<&'r mut Recorder<'p>>,
}

impl Plan {
    /// Runs the entry. Arguments that own their storage alone may be written to.
    ///
    /// # Errors
    /// [`RunError`] for arguments of other types, extents without a common solution, ops that fail on these values, and
    /// memory that there is not enough of.
    pub fn run(&self, args: Vec<Tensor>) -> Result<Vec<Tensor>> {
        self.start(args, &Process::ALONE, None)
    }

    /// [`Plan::run`], with the time of every step.
    ///
    /// # Errors
    /// As [`Plan::run`].
    pub fn profile(&self, args: Vec<Tensor>) -> Result<(Vec<Tensor>, Profile)> {
        let mut recorder = Recorder::new(self);
        let results = self.start(args, &Process::ALONE, Some(&mut recorder))?;
        Ok((results, recorder.end()))
    }

    fn start<'p>(
        &'p self,
        mut args: Vec<Tensor>,
        process: &Process,
        recorder: Option<&mut Recorder<'p>>,
    ) -> Result<Vec<Tensor>> {
        let Some(main) = self.routines.first() else { return Ok(vec![]) };
        check(main, &args)?;
        let mut frame = main.frames.take(|_| true).unwrap_or_else(|| Box::new(Frame::new()));
        let done = self.entry(main, &mut args, &mut frame, process, recorder);
        main.frames.put(frame);
        done
    }

    fn entry<'p>(
        &'p self,
        main: &'p Routine,
        args: &mut [Tensor],
        frame: &mut Frame,
        process: &Process,
        recorder: Option<&mut Recorder<'p>>,
    ) -> Result<Vec<Tensor>> {
        if !main.extents.is_static() {
            frame.shapes.clear();
            frame.shapes.extend(args.iter().flat_map(|a| a.shape()).map(|&n| i64::try_from(n).unwrap_or(i64::MAX)));
        }
        layout(self, main, frame, &|_| None)?;
        let mut at: SmallVec<[*mut u8; 8]> = SmallVec::new();
        for a in args.iter() {
            at.push(start(a)?.cast_mut());
        }
        let apart = self.edge.map(|g| Apart::new(main, args, &frame.extents, g)).transpose()?;
        let mut made: SmallVec<[Made; 4]> = SmallVec::new();
        let mut results: SmallVec<[*mut u8; 4]> = SmallVec::new();
        for out in &main.results {
            let (m, p) = match out.from {
                From::Own(_) => memory(self, out, args, &frame.extents)?,
                From::Argument(_) | From::Constant(_) | From::Same(_) => (Made::None, std::ptr::null_mut()),
            };
            made.push(m);
            results.push(p);
        }
        match &apart {
            None => addresses(main, frame, &at, &results),
            Some(g) => addresses(main, frame, &g.args(), &g.results()),
        }
        Run { plan: self, routine: main, number: 0, frame, process, depth: 0, recorder }.block(&main.body)?;
        let mut out: Vec<Tensor> = Vec::with_capacity(made.len());
        for (k, (o, m)) in main.results.iter().zip(made).enumerate() {
            let shape: SmallVec<[usize; 4]> = o.shape.iter().map(|d| d.size(&frame.extents)).collect();
            let n = o.elements.size(&frame.extents);
            let t = match (o.from, m) {
                (From::Argument(i), _) | (From::Own(_), Made::Donated(i)) => shaped(&args[i as usize], &shape),
                (From::Constant(c), _) => shaped(&main.constants[c as usize], &shape),
                (From::Same(k), _) => out.get(k as usize).and_then(|t| shaped(t, &shape)),
                (From::Own(place), m) => {
                    // A constant that is a result is elsewhere.
                    let (from, to) = (frame.places[place as usize], results[k]);
                    if !std::ptr::eq(from, to) && n > 0 {
                        // SAFETY: a value of this type is at `from`, and `to` has room for it.
                        unsafe { std::ptr::copy_nonoverlapping(from, to, n * o.dtype.size()) };
                    }
                    // SAFETY: steps have written the result, or it was copied.
                    unsafe { finished(m, n, &shape) }
                }
            };
            out.push(t.ok_or_else(|| failure(&Info::default(), format!("result {k} does not have its type's size")))?);
        }
        Ok(out)
    }
}

impl Member for Plan {
    fn run_in(&self, process: &Process, args: Vec<Tensor>) -> Result<Vec<Tensor>> {
        self.start(args, process, None)
    }
}

/// The same storage under another shape.
fn shaped(t: &Tensor, shape: &[usize]) -> Option<Tensor> {
    if t.shape() == shape { Some(t.clone()) } else { t.reshape(shape).ok() }
}

/// Refuses arguments of other types.
fn check(main: &Routine, args: &[Tensor]) -> Result<()> {
    let inputs = main.binder.inputs();
    if inputs.len() != args.len() {
        let (expected, got) = (format!("{} arguments", inputs.len()), args.len().to_string());
        return Err(RunError::Input { path: "list".into(), expected, got }.into());
    }
    for (i, (ty, a)) in inputs.iter().zip(args).enumerate() {
        let fits = |d: &Dim, n: usize| d.as_i64().is_none_or(|v| v == n as i64);
        let same =
            ty.dtype == a.dtype() && ty.rank() == a.rank() && ty.shape.iter().zip(a.shape()).all(|(d, &n)| fits(d, n));
        if !same {
            let (expected, got) = (ty.to_string(), a.spec().to_string());
            return Err(RunError::Input { path: i.to_string(), expected, got }.into());
        }
    }
    Ok(())
}

/// Where the elements of an argument start.
pub(super) fn start(a: &Tensor) -> Result<*const u8> {
    if a.resident().is_some() {
        return with_dtype!(a.dtype(), T => a.as_slice::<T>().map(|v| v.as_ptr().cast()));
    }
    Ok(with_buffer!(a.buffer(), v => v.as_ptr().cast()))
}

/// Memory for a result: an argument's that is not needed any more and has no other owner, or new.
fn memory(plan: &Plan, out: &Output, args: &mut [Tensor], extents: &[i64]) -> Result<(Made, *mut u8)> {
    if plan.edge.is_none()
        && let Some(found) = out.donor.and_then(|i| donated(args, i))
    {
        return Ok(found);
    }
    fresh(&plan.shelf, out.dtype, out.elements.size(extents)).ok_or_else(|| {
        let shape: Vec<usize> = out.shape.iter().map(|d| d.size(extents)).collect();
        too_large(&out.info, &format!("a result of shape {shape:?} and dtype {}", out.dtype))
    })
}

#[cold]
fn failure(info: &Info, message: String) -> evoxc_core::Error {
    let op = OpError::new(info.op.clone(), message).operands(&info.operands).at(info.loc);
    RunError::Op(Box::new(op)).into()
}

#[cold]
fn too_large(info: &Info, what: &str) -> evoxc_core::Error {
    let op = OpError::new(info.op.clone(), format!("{what} does not fit into memory"));
    RunError::Op(Box::new(op.operands(&info.operands).at(info.loc).remedy("use smaller extents"))).into()
}

/// Works out extents and the places of slots and constants, unless they are those of the last run.
fn layout(plan: &Plan, r: &Routine, frame: &mut Frame, around: &dyn Fn(Dim) -> Option<i64>) -> Result<()> {
    if plan.edge.is_some() {
        frame.ready = false;
    }
    if r.extents.is_static() {
        if frame.ready {
            return Ok(());
        }
    } else {
        // Until it is laid out anew: an error leaves other symbols behind than those of its memory.
        let ready = std::mem::take(&mut frame.ready);
        let before: SmallVec<[i64; 8]> = frame.symbols.as_slice().into();
        r.binder.bind(r.extents.symbols(), &frame.shapes, around, &mut frame.symbols)?;
        if ready && *before == *frame.symbols {
            frame.ready = true;
            return Ok(());
        }
        r.extents.evaluate(&frame.symbols, &mut frame.extents);
    }
    frame.safe = r.guards.iter().all(|g| g.holds(&frame.extents));
    let extents = &frame.extents;
    let exact = |s: &Slot| s.sizes.iter().map(|a| a.of(extents)).fold(s.fixed, i64::max).max(0) as usize;
    let size = |s: &Slot| aligned(exact(s));
    let mut starts: Vec<usize> = Vec::with_capacity(r.slots.len());
    let mut total = 0usize;
    for s in &r.slots {
        starts.push(total);
        total = total.saturating_add(size(s));
    }
    let enough = match plan.edge {
        None => frame.memory.grow(total),
        Some(g) => lay_apart(r, &mut frame.apart, &exact, g)?,
    };
    if !enough {
        let largest = r.slots.iter().max_by_key(|s| size(s));
        return Err(largest.map_or_else(
            || too_large(&Info::default(), "the program"),
            |s| too_large(&s.info, &format!("a result of {} bytes", size(s))),
        ));
    }
    frame.places.clear();
    let apart = |n: usize| frame.apart.get(n).map(Memory::start);
    for source in &r.sources {
        frame.places.push(match *source {
            Source::Slot(s) => match apart(s as usize) {
                Some(at) => at,
                // SAFETY: `starts` are within the block.
                None => unsafe { frame.memory.start().add(starts[s as usize]) },
            },
            Source::Constant(c) => match apart(r.slots.len() + c as usize) {
                Some(at) => at,
                None => start(&r.constants[c as usize])?.cast_mut(),
            },
            Source::Argument(_) | Source::Result(_) | Source::Moving => std::ptr::null_mut(),
        });
    }
    let mut each = 0usize;
    for (kernel, params) in &r.scratch {
        let params: SmallVec<[i64; 8]> = params.iter().map(|p| p.of(&frame.extents)).collect();
        let lir = &plan.kernels[*kernel as usize].lir;
        each = each.max(scratch_sizes(lir, &params).fold(0, usize::saturating_add));
    }
    for p in &r.products {
        each = each.max(aligned(p.bytes(&frame.extents)));
    }
    if !frame.scratch.grow(each.saturating_mul(plan.pool.threads())) {
        return Err(too_large(&Info::default(), &format!("scratch memory of {each} bytes a thread")));
    }
    frame.scratch_each = each;
    frame.ready = true;
    Ok(())
}

/// Bytes of each scratch memory of a kernel.
fn scratch_bytes<'l>(lir: &'l Lir, params: &'l [i64]) -> impl Iterator<Item = usize> + 'l {
    let bytes = |d: DType, n: i64| (n.max(0) as usize).saturating_mul(d.size());
    lir.scratch.iter().map(move |(d, n)| bytes(*d, n.value(params)))
}

/// The same, rounded up to what each takes in a block of all.
fn scratch_sizes<'l>(lir: &'l Lir, params: &'l [i64]) -> impl Iterator<Item = usize> + 'l {
    scratch_bytes(lir, params).map(aligned)
}

/// Fills in where arguments and results are.
fn addresses(r: &Routine, frame: &mut Frame, args: &[*mut u8], results: &[*mut u8]) {
    for (place, source) in frame.places.iter_mut().zip(&r.sources) {
        match *source {
            Source::Argument(i) => *place = args[i as usize],
            Source::Result(k) => *place = results[k as usize],
            Source::Constant(_) | Source::Slot(_) | Source::Moving => {}
        }
    }
}

impl<'p> Run<'p, '_> {
    pub(super) fn block(&mut self, block: &'p Block) -> Result<()> {
        if !self.frame.safe {
            self.guard(block)?;
        }
        for step in &block.steps {
            if self.recorder.is_none() {
                self.step(step)?;
                continue;
            }
            let start = Instant::now();
            self.step(step)?;
            let time = start.elapsed();
            if let Some(r) = &mut self.recorder {
                let symbols = (self.routine.extents.symbols(), self.frame.symbols.as_slice());
                r.step(step, self.number, symbols, self.frame, start, time);
            }
        }
        Ok(())
    }

    /// Refuses a block with ops that have extents out of bounds.
    #[cold]
    fn guard(&self, block: &Block) -> Result<()> {
        let Range { start, end } = block.guards;
        let guards = self.routine.guards.get(start as usize..end as usize).unwrap_or_default();
        let Some(g) = guards.iter().find(|g| !g.holds(&self.frame.extents)) else { return Ok(()) };
        let d = self.routine.extents.dim(g.extent);
        let names = self.routine.extents.symbols();
        let value = |s: Dim| names.iter().position(|&n| n == s).map(|i| self.frame.symbols[i]);
        Err(failure(
            &g.info,
            match d.evaluate(&mut |s| value(s)) {
                Err(e) => e.to_string(),
                Ok(v) if v < 0 && g.least == 0 => format!("the extent `{d}` is {v} here, below 0"),
                Ok(v) => format!("the extent `{d}` is {v} here: it must be from {} to {}", g.least, g.most),
            },
        ))
    }

    #[inline]
    fn step(&mut self, step: &'p Step) -> Result<()> {
        match step {
            Step::Kernel(k) => self.kernel(k),
            Step::Fill(f) => self.fill(f),
            Step::Library(l) => l.run(self)?,
            Step::Matmul(m) => m.run(self),
            Step::Update(u) => u.run(self)?,
            Step::Choose(c) => self.choose(c)?,
            Step::While(w) => self.while_loop(w)?,
            Step::Scan(s) => self.scan(s)?,
            Step::Call(c) => self.call(c)?,
        }
        Ok(())
    }

    fn fill(&self, f: &FillStep) {
        let n = f.bytes.size(&self.frame.extents);
        let (size, to) = (f.element.len(), self.frame.places[f.to as usize]);
        if n == 0 || size == 0 {
            return;
        }
        // SAFETY: the place is memory of `n` bytes, a whole number of elements, that only this run uses.
        let out = unsafe {
            std::ptr::write_bytes(to, f.element[0], n);
            std::slice::from_raw_parts_mut(to, n)
        };
        if f.element.iter().any(|&b| b != f.element[0]) {
            out.chunks_exact_mut(size).for_each(|c| c.copy_from_slice(&f.element));
        }
    }

    fn kernel(&mut self, k: &KernelStep) {
        let compiled = &self.plan.kernels[k.kernel as usize];
        let frame = &*self.frame;
        let params: SmallVec<[i64; 8]> = k.params.iter().map(|p| p.of(&frame.extents)).collect();
        let (extent, grain) =
            k.fixed.unwrap_or_else(|| (compiled.lir.extent.value(&params), compiled.lir.grain.value(&params)));
        if extent <= 0 {
            return;
        }
        let buffers: SmallVec<[*mut u8; 8]> = k.buffers.iter().map(|&p| frame.places[p as usize]).collect();
        // Each by itself where there are fences.
        let rooms: Vec<Memory> = match self.plan.edge {
            Some(g) => {
                let all = (0..self.plan.pool.threads()).flat_map(|_| scratch_bytes(&compiled.lir, &params));
                all.map_while(|n| Memory::fenced(n, g)).collect()
            }
            None => vec![],
        };
        let each = compiled.lir.scratch.len();
        let scratch = |thread: usize| -> SmallVec<[*mut u8; 4]> {
            let mut out = SmallVec::new();
            if let Some(own) = rooms.get(thread * each..(thread + 1) * each) {
                out.extend(own.iter().map(Memory::start));
            } else if each > 0 {
                let mut at = thread * frame.scratch_each;
                for n in scratch_sizes(&compiled.lir, &params) {
                    // SAFETY: the block has as much for every thread, of the kernel that needs most.
                    out.push(unsafe { frame.scratch.start().add(at) });
                    at += n;
                }
            }
            out
        };
        let job = Job { code: &*compiled.code, buffers: &buffers, params: &params };
        if extent < grain.saturating_mul(2) || self.plan.pool.threads() == 1 {
            job.run(&scratch(0), 0, extent);
        } else {
            let scratch = Shared(scratch);
            self.plan.pool.split(extent, grain, &|from, to, thread| job.run(&scratch.get()(thread), from, to));
        }
    }

    fn call(&mut self, c: &'p Call) -> Result<()> {
        let Some(routine) = self.plan.routines.get(c.routine as usize) else { return Ok(()) };
        if self.depth >= MAX_DEPTH {
            let info = Info { op: "call".into(), operands: vec![], loc: c.loc };
            return Err(failure(&info, format!("calls and regions nest deeper than {MAX_DEPTH}")));
        }
        let mut inner = routine.frames.take(|_| true).unwrap_or_else(|| Box::new(Frame::new()));
        let done = self.callee(c, routine, &mut inner);
        routine.frames.put(inner);
        done
    }

    fn callee(&mut self, c: &Call, routine: &'p Routine, inner: &mut Frame) -> Result<()> {
        if !routine.extents.is_static() {
            inner.shapes.clear();
            inner.shapes.extend(c.shapes.iter().map(|a| a.of(&self.frame.extents)));
        }
        let (symbols, values) = (self.routine.extents.symbols(), &self.frame.symbols);
        layout(self.plan, routine, inner, &|d| symbols.iter().position(|&s| s == d).map(|i| values[i]))?;
        let places = |list: &[Place]| -> SmallVec<[*mut u8; 8]> {
            list.iter().map(|&p| self.frame.places[p as usize]).collect()
        };
        addresses(routine, inner, &places(&c.args), &places(&c.results));
        let (number, depth, recorder) = (c.routine as usize, self.depth + 1, self.recorder.as_deref_mut());
        let mut run = Run { plan: self.plan, routine, number, frame: inner, process: self.process, depth, recorder };
        run.block(&routine.body)?;
        for (k, o) in routine.results.iter().enumerate() {
            let from = match o.from {
                From::Own(p) => run.frame.places[p as usize],
                From::Argument(i) => self.frame.places[c.args[i as usize] as usize],
                From::Constant(n) => start(&routine.constants[n as usize])?.cast_mut(),
                From::Same(j) => self.frame.places[c.results[j as usize] as usize],
            };
            let (to, n) = (self.frame.places[c.results[k] as usize], o.bytes.size(&run.frame.extents));
            if !std::ptr::eq(from, to) {
                // SAFETY: a value of the result's type is at `from`, and `to` is memory for one.
                unsafe { std::ptr::copy_nonoverlapping(from, to, n) };
            }
        }
        Ok(())
    }
}

/// A kernel with what it works on.
struct Job<'j> {
    code: &'j dyn crate::render::Code,
    buffers: &'j [*mut u8],
    params: &'j [i64],
}

// SAFETY: the addresses are read by all threads and written by none; what they point to is split between them by iterations.
unsafe impl Sync for Job<'_> {}

impl Job<'_> {
    fn run(&self, scratch: &[*mut u8], from: i64, to: i64) {
        // SAFETY: the plan gives every buffer memory for its type, values that are needed at the same time memory apart but
        // as the kernel allows, and every thread scratch memory of its own.
        unsafe { self.code.run(self.buffers.as_ptr(), self.params.as_ptr(), scratch.as_ptr(), from, to) }
    }
}

/// A closure that threads share although it holds addresses.
struct Shared<F>(F);
// SAFETY: it gives each thread addresses of its own.
unsafe impl<F> Sync for Shared<F> {}
impl<F> Shared<F> {
    fn get(&self) -> &F {
        &self.0
    }
}
