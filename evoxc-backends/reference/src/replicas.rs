//! Several programs at once, as the replicas and partitions that collectives connect.

use crate::Plan;
use crate::world::{Process, World};
use evoxc_core::{BackendError, Error, OpError, Result, RunError, Tensor};
use evoxc_ir::Module;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::Arc;
use std::thread;

/// Stack of a process: regions may nest deeply.
const STACK: usize = 16 << 20;
/// More processes than this are a mistake, not a simulation.
const MOST: usize = 1024;

/// A program that can run as one of several processes: its collectives meet those of the others.
pub trait Member: Send + Sync {
    /// Runs it in a process. Arguments that own their storage alone may be written to.
    ///
    /// # Errors
    /// [`RunError`] as from any program, and of collectives that cannot take place.
    fn run_in(&self, process: &Process, args: Vec<Tensor>) -> Result<Vec<Tensor>>;
}

/// A grid of replicas and partitions that run in this process of the operating system, each program on its own thread,
/// with the collectives connecting them.
///
/// What comes out depends on the programs and arguments alone, not on how threads are scheduled: values combine in the
/// order of their group. A collective that some process of its group never comes to is an error, not a wait for ever.
///
/// ```
/// use evoxc::dist::{self, ReplicaGroups};
/// use evoxc::ir::Reducer;
/// use evoxc::prelude::*;
/// use evoxc::Replicas;
/// // Two replicas of one partition, each with its own values.
/// let total = |x: Sym| dist::all_reduce(x, Reducer::Sum, &ReplicaGroups::across_replicas([[0, 1]]));
/// let graph = trace(total, spec(F32, [2]))?;
/// let both = Replicas::new(&[vec![graph.module()], vec![graph.module()]])?;
/// let args = vec![vec![Tensor::from([1.0f32, 2.0])], vec![Tensor::from([10.0f32, 20.0])]];
/// let results = both.run(args)?;
/// assert_eq!(results[0][0].to_vec::<f32>()?, [11.0, 22.0]);
/// assert_eq!(results[1][0].to_vec::<f32>()?, [11.0, 22.0]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone)]
pub struct Replicas {
    /// The program of every process, replica by replica.
    members: Vec<Arc<dyn Member>>,
    replicas: usize,
    partitions: usize,
}

impl fmt::Debug for Replicas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Replicas of {} × {} processes", self.replicas, self.partitions)
    }
}

impl Replicas {
    /// The programs of every replica, each a list of those of its partitions, run by the interpreter. They may all be one.
    /// `Native::replicas` makes a grid of compiled ones.
    ///
    /// # Errors
    /// [`BackendError`] for no program, or replicas with different numbers of partitions; [`evoxc_core::IrError`] for a
    /// module that does not verify.
    pub fn new(programs: &[Vec<&Module>]) -> Result<Replicas> {
        Replicas::compiled("interp", programs, &mut |module| {
            module.verify()?;
            Ok(Arc::new(Plan::new(module)?))
        })
    }

    /// A grid of the programs that `compile`, of this backend, makes of the modules; it is asked for each module once.
    ///
    /// # Errors
    /// [`BackendError`] for no program, or replicas with different numbers of partitions; those of `compile`.
    pub fn compiled(
        backend: &str,
        programs: &[Vec<&Module>],
        compile: &mut dyn FnMut(&Module) -> Result<Arc<dyn Member>>,
    ) -> Result<Replicas> {
        let refuse = |message: String| -> Error {
            let op = OpError::new("replicas", message).remedy("give `programs[replica][partition]`, a full grid");
            BackendError { backend: backend.into(), op }.into()
        };
        let partitions = programs.first().map_or(0, Vec::len);
        if let Some((r, list)) = programs.iter().enumerate().find(|(_, list)| list.len() != partitions) {
            return Err(refuse(format!("replica 0 has {partitions} partitions, replica {r} has {}", list.len())));
        }
        match programs.len().checked_mul(partitions) {
            Some(0) => return Err(refuse("there is no program".into())),
            Some(1..=MOST) => {}
            _ => return Err(refuse(format!("more than {MOST} processes are not simulated"))),
        }
        let mut known: FxHashMap<*const Module, Arc<dyn Member>> = FxHashMap::default();
        let mut members = Vec::with_capacity(programs.len() * partitions);
        for &module in programs.iter().flatten() {
            members.push(match known.entry(std::ptr::from_ref(module)) {
                Entry::Occupied(e) => e.get().clone(),
                Entry::Vacant(e) => e.insert(compile(module)?).clone(),
            });
        }
        Ok(Replicas { members, replicas: programs.len(), partitions })
    }

    /// The number of replicas and of partitions of each.
    pub fn grid(&self) -> (usize, usize) {
        (self.replicas, self.partitions)
    }

    /// Runs all programs at once on the arguments of each, replica by replica (process `replica * partitions +
    /// partition`); gives their results in the same order.
    ///
    /// # Errors
    /// The error of a process, which the message names: a [`RunError`] as from any program, of a collective whose group
    /// does not fit the grid, or of one that another process does not come to. Where one process fails because of
    /// another, the error is the other's.
    pub fn run(&self, args: Vec<Vec<Tensor>>) -> Result<Vec<Vec<Tensor>>> {
        let n = self.members.len();
        if args.len() != n {
            let (expected, got) = (format!("the arguments of {n} processes"), args.len().to_string());
            return Err(RunError::Input { path: "list".into(), expected, got }.into());
        }
        let world = World::new(self.replicas, self.partitions);
        let done: Vec<Result<Vec<Tensor>>> = thread::scope(|s| {
            let mut threads = Vec::with_capacity(n);
            for (number, (member, args)) in self.members.iter().zip(args).enumerate() {
                let world = &world;
                // Ends the process even if it panics or never starts, so that nobody waits for it.
                let end = End { world, number };
                let body = move || {
                    let _end = end;
                    member.run_in(&Process::new(world, number), args)
                };
                let name = format!("process {number}");
                threads.push(thread::Builder::new().name(name).stack_size(STACK).spawn_scoped(s, body));
            }
            let join = |t: std::io::Result<thread::ScopedJoinHandle<'_, Result<Vec<Tensor>>>>| match t {
                Ok(t) => t.join().unwrap_or_else(|_| Err(failure("it panicked; report this"))),
                Err(e) => Err(failure(&format!("no thread for it: {e}"))),
            };
            threads.into_iter().map(join).collect()
        });
        let left_alone = world.left_alone();
        let is_cause = |p: usize| !left_alone.get(p).copied().unwrap_or(false);
        let failed = |p: &usize| done.get(*p).is_some_and(Result::is_err);
        let cause = (0..n).filter(failed).find(|&p| is_cause(p)).or_else(|| (0..n).find(failed));
        match cause {
            None => done.into_iter().collect(),
            Some(p) => match done.into_iter().nth(p) {
                Some(Err(e)) => Err(named(e, &world.name(p))),
                _ => Err(failure("a process was lost")),
            },
        }
    }
}

/// Says that a process has ended when it is dropped.
struct End<'w> {
    world: &'w World,
    number: usize,
}
impl Drop for End<'_> {
    fn drop(&mut self) {
        self.world.end(self.number);
    }
}

fn failure(message: &str) -> Error {
    RunError::Op(Box::new(OpError::new("replicas", message))).into()
}

/// The error with the process that had it.
fn named(e: Error, process: &str) -> Error {
    match e {
        Error::Run(RunError::Op(mut op)) => {
            op.message = format!("in {process}: {}", op.message);
            RunError::Op(op).into()
        }
        Error::Run(RunError::Input { path, expected, got }) => {
            RunError::Input { path: format!("{path} of {process}"), expected, got }.into()
        }
        e => e,
    }
}
