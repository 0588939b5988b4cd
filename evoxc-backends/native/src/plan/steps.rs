//! What a plan is made of.

use super::extent::{Amount, Binder, Extents};
use super::fence::Edge;
use super::library::LibraryStep;
use super::matmul::{MatmulStep, Room};
use super::memory::Frames;
use super::output::Shelf;
use super::update::UpdateStep;
use crate::linearise::Shape;
use crate::lir::Lir;
use crate::pool::SharedPool;
use crate::render::Code;
use crate::schedule::Schedule;
use evoxc_core::{DType, Loc, Tensor};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// Where a value is: an entry of a frame's table of addresses.
pub(crate) type Place = u32;

/// A compiled program, ready to run on host tensors.
pub struct Plan {
    /// The functions; the first is the entry.
    pub(crate) routines: Vec<Routine>,
    /// Distinct kernels.
    pub(crate) kernels: Vec<Compiled>,
    pub(crate) pool: SharedPool,
    pub(crate) schedule: Arc<Schedule>,
    /// Memory of large results, for later ones.
    pub(crate) shelf: Arc<Shelf>,
    /// Is every value in memory of its own beside a page that nobody may touch?
    pub(crate) edge: Option<Edge>,
}

/// A kernel with its code.
#[derive(Clone)]
pub(crate) struct Compiled {
    pub lir: Arc<Lir>,
    /// Of several forms, this.
    pub shape: Shape,
    pub code: Arc<dyn Code>,
}

/// A function.
pub(crate) struct Routine {
    pub extents: Extents,
    pub binder: Binder,
    /// Where each place comes from.
    pub sources: Vec<Source>,
    /// Bytes of each slot: the largest of these.
    pub slots: Vec<Slot>,
    pub constants: Vec<Tensor>,
    pub body: Block,
    /// What must hold of extents before the blocks that name them.
    pub guards: Vec<Guard>,
    pub results: Vec<Output>,
    /// Kernels with scratch memory, and their parameters.
    pub scratch: Vec<(u32, SmallVec<[Amount; 4]>)>,
    /// What products need scratch memory for.
    pub products: Vec<Room>,
    pub frames: Frames,
}

/// Memory within a frame that serves several values, one after the other.
#[derive(Debug)]
pub(crate) struct Slot {
    /// The largest size that is known.
    pub fixed: i64,
    /// Sizes that are not.
    pub sizes: SmallVec<[Amount; 2]>,
    /// What it was made for.
    pub info: Info,
}

/// An op, for messages about its results.
#[derive(Clone, Debug, Default)]
pub(crate) struct Info {
    pub op: String,
    pub operands: Vec<String>,
    pub loc: Option<Loc>,
}

/// Where a place's address comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Argument(u32),
    Result(u32),
    Constant(u32),
    Slot(u32),
    /// Control flow sets it.
    Moving,
}

/// A result of a routine.
pub(crate) struct Output {
    pub dtype: DType,
    pub shape: Vec<Amount>,
    pub elements: Amount,
    pub bytes: Amount,
    pub from: From,
    /// The argument whose memory it may take.
    pub donor: Option<u32>,
    pub info: Info,
}

/// What a result of a routine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// Memory that a step writes, at this place.
    Own(Place),
    Argument(u32),
    Constant(u32),
    /// The memory of an earlier result.
    Same(u32),
}

/// Bounds of an extent, and the first op that has it.
pub(crate) struct Guard {
    pub extent: Amount,
    pub least: i64,
    pub most: i64,
    pub info: Info,
}

impl Guard {
    /// Does it hold, for these extents?
    pub fn holds(&self, extents: &[i64]) -> bool {
        (self.least..=self.most).contains(&self.extent.of(extents))
    }
}

/// Steps in order.
#[derive(Default)]
pub(crate) struct Block {
    /// Which of the guards must hold before any step.
    pub guards: Range<u32>,
    pub steps: Vec<Step>,
}

pub(crate) enum Step {
    Kernel(KernelStep),
    Fill(FillStep),
    Library(Box<LibraryStep>),
    Matmul(Box<MatmulStep>),
    Update(Box<UpdateStep>),
    Choose(Box<Choose>),
    While(Box<While>),
    Scan(Box<Scan>),
    Call(Box<Call>),
}

/// A kernel on places.
pub(crate) struct KernelStep {
    pub kernel: u32,
    pub buffers: SmallVec<[Place; 6]>,
    pub params: SmallVec<[Amount; 4]>,
    /// Iterations and grain, if no parameter changes them.
    pub fixed: Option<(i64, i64)>,
    /// Its place among the kernel items of the schedule.
    pub item: u32,
}

/// One element, again and again.
pub(crate) struct FillStep {
    pub to: Place,
    pub element: SmallVec<[u8; 16]>,
    pub bytes: Amount,
}

/// Bytes from one place to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copy {
    pub from: Place,
    pub to: Place,
    pub bytes: Amount,
}

/// `cond` and `switch`.
pub(crate) struct Choose {
    /// A bool (the first branch if it holds, else the second), or an `i32` (out of range: the last).
    pub by: Place,
    pub truth: bool,
    pub branches: Vec<(Block, Vec<Copy>)>,
}

/// `while_loop`.
pub(crate) struct While {
    pub cond: Block,
    pub truth: Place,
    pub body: Block,
    pub carry: Carry,
}

/// `scan`.
pub(crate) struct Scan {
    pub length: Amount,
    pub reverse: bool,
    pub body: Block,
    pub carry: Carry,
    /// What moves along: the whole, the place of its entry, bytes of an entry.
    pub entries: Vec<Copy>,
    /// Results of an iteration that are made elsewhere: from there, into the whole, bytes of an entry.
    pub copies: Vec<Copy>,
}

/// What a loop carries from one iteration to the next.
#[derive(Default)]
pub(crate) struct Carry {
    pub states: Vec<State>,
    pub pairs: Vec<Pair>,
}

/// One carried value.
pub(crate) struct State {
    /// Where an iteration finds it: moving.
    pub arg: Place,
    pub init: Place,
    pub result: Place,
    pub next: Next,
    pub bytes: Amount,
}

/// Where a carried value is at the end of an iteration.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Next {
    /// At that place.
    At(Place),
    /// At that place, which another value takes: it is copied to the pair of that number.
    Copied(Place, u32),
}

/// Two blocks of memory that take turns in holding a carried value, or one if it is computed in place.
pub(crate) struct Pair {
    /// Where an iteration writes: moving.
    pub to: Place,
    pub first: Place,
    pub second: Option<Place>,
}

/// A call of another routine.
pub(crate) struct Call {
    pub routine: u32,
    pub args: Vec<Place>,
    /// The extents of the arguments, one after the other.
    pub shapes: Vec<Amount>,
    pub results: Vec<Place>,
    pub loc: Option<Loc>,
}
