//! A module, compiled for interpretation: flat lists of steps over numbered slots, with the last use of every value
//! known, constants built, and static shapes worked out. A plan is immutable and shared by all runs.

use crate::rows::{Pick, Picks};
use evoxc_core::{BackendError, Dim, Loc, OpError, Result, Tensor};
use evoxc_ir::{Func, Literal, MAX_REGION_DEPTH, Module, Op, Prim, Region, TensorType, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Concrete extents.
pub(crate) type Extents = SmallVec<[usize; 4]>;

/// Constants that repeat one element are built ahead up to this many bytes; larger ones in each run, where they are
/// freed after their last use.
const SPLAT_BYTES: usize = 1 << 20;

/// A module ready to run on host tensors.
///
/// Every function is a flat list of steps over numbered slots. Values leave their slot at their last use, so that
/// element-wise steps can write in place and memory is freed as early as it can be.
#[derive(Debug)]
pub struct Plan {
    /// The functions; the first is the entry.
    pub(crate) routines: Vec<Routine>,
    /// Every symbolic extent of the module, evaluated once a run.
    pub(crate) extents: Vec<Dim>,
}

/// A function.
#[derive(Debug)]
pub(crate) struct Routine {
    pub(crate) inputs: Vec<TensorType>,
    /// The type of every slot.
    pub(crate) types: Vec<TensorType>,
    pub(crate) constants: Vec<Tensor>,
    pub(crate) body: Block,
}

/// A region: steps between arguments and results.
#[derive(Debug)]
pub(crate) struct Block {
    /// The slot of each argument; none where nothing uses it.
    pub(crate) args: Vec<Option<u32>>,
    pub(crate) steps: Vec<Step>,
    pub(crate) results: Vec<Use>,
}

/// How a step gets an operand.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Use {
    /// From its slot, for the last time.
    Take(u32),
    /// From its slot, which keeps it.
    Share(u32),
    /// From the constants.
    Constant(u32),
}

/// One op.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) prim: Prim,
    pub(crate) uses: SmallVec<[Use; 3]>,
    /// The operands as values, for messages.
    pub(crate) operands: SmallVec<[Value; 3]>,
    /// The slot of each result; none where nothing uses it.
    pub(crate) results: SmallVec<[Option<u32>; 1]>,
    /// The results' types.
    pub(crate) types: SmallVec<[ResultType; 1]>,
    /// Slots to free afterwards: what only the regions used.
    pub(crate) drops: Vec<u32>,
    pub(crate) blocks: Vec<Block>,
    /// Of a call, the function; and whether it is called at the very types it was written for.
    pub(crate) callee: Option<(usize, bool)>,
    /// Of a gather of rows that are known, these.
    pub(crate) pick: Option<Pick>,
    pub(crate) loc: Option<Loc>,
}

/// A result's type, with its extents where they are static.
#[derive(Debug)]
pub(crate) struct ResultType {
    pub(crate) ty: TensorType,
    pub(crate) extents: Option<Extents>,
    /// Is the size to be checked before the step runs?
    pub(crate) check: bool,
}

/// Static results below this many bytes need no check.
const SMALL: usize = 1 << 28;

impl Plan {
    /// Compiles a verified module.
    ///
    /// # Errors
    /// [`BackendError`] for a module without functions, a call of an unknown function, regions nested too deeply, or a
    /// constant whose size overflows.
    pub fn new(module: &Module) -> Result<Plan> {
        let names: FxHashMap<&str, usize> =
            module.funcs.iter().enumerate().map(|(i, f)| (f.name.as_str(), i)).collect();
        if module.funcs.is_empty() {
            return Err(refuse(OpError::new("module", "it has no function to run")));
        }
        let mut extents = Extent::default();
        let routines = module
            .funcs
            .iter()
            .map(|func| Compiler::new(module, func, &names, &mut extents).routine())
            .collect::<Result<Vec<_>, _>>()
            .map_err(refuse)?;
        Ok(Plan { routines, extents: extents.list })
    }
}

fn refuse(op: OpError) -> evoxc_core::Error {
    BackendError { backend: "interp".into(), op }.into()
}

/// The symbolic extents, each once.
#[derive(Default)]
struct Extent {
    list: Vec<Dim>,
    seen: rustc_hash::FxHashSet<Dim>,
}
impl Extent {
    fn note(&mut self, d: Dim) {
        if !d.is_const() && self.seen.insert(d) {
            self.list.push(d);
        }
    }
}

/// What is known of a value while its function is compiled.
#[derive(Clone, Copy)]
struct Known {
    /// The number of the block that defines it.
    block: u32,
    /// Its constant, if it is one.
    constant: Option<u32>,
    /// The step that uses it last, and whether that is through a region of the step.
    last: Option<(u32, bool)>,
}

struct Compiler<'m, 'e> {
    module: &'m Module,
    func: &'m Func,
    names: &'e FxHashMap<&'m str, usize>,
    extents: &'e mut Extent,
    constants: Vec<Tensor>,
    known: Vec<Known>,
    blocks: u32,
}

impl<'m, 'e> Compiler<'m, 'e> {
    fn new(
        module: &'m Module,
        func: &'m Func,
        names: &'e FxHashMap<&'m str, usize>,
        extents: &'e mut Extent,
    ) -> Compiler<'m, 'e> {
        let known = vec![Known { block: u32::MAX, constant: None, last: None }; func.values.len()];
        Compiler { module, func, names, extents, constants: vec![], known, blocks: 0 }
    }

    fn routine(mut self) -> Result<Routine, OpError> {
        for v in &self.func.values {
            v.ty.shape.iter().for_each(|&d| self.extents.note(d));
        }
        let body = self.block(&self.func.body, 0)?;
        let types = self.func.values.iter().map(|v| v.ty.clone()).collect();
        Ok(Routine { inputs: self.func.inputs(), types, constants: self.constants, body })
    }

    fn known(&mut self, v: Value) -> Result<&mut Known, OpError> {
        self.known.get_mut(v.index()).ok_or_else(|| OpError::new("module", "a value is not in its function's table"))
    }

    fn block(&mut self, region: &'m Region, depth: usize) -> Result<Block, OpError> {
        if depth > MAX_REGION_DEPTH {
            return Err(OpError::new("module", format!("regions nest deeper than {MAX_REGION_DEPTH}")));
        }
        let number = self.blocks;
        self.blocks += 1;
        for &v in region.args.iter().chain(region.ops.iter().flat_map(|op| &op.results)) {
            self.known(v)?.block = number;
        }
        let mut picks = Picks::of(self.func, region);
        // The last use of every value of this block, direct or through a region.
        let mut inner: Vec<Vec<Value>> = Vec::with_capacity(region.ops.len());
        for (i, op) in region.ops.iter().enumerate() {
            let i = i as u32;
            for &v in picks.operands(op) {
                let k = self.known(v)?;
                if k.block == number {
                    k.last = Some((i, false));
                }
            }
            let mut captured = vec![];
            for r in &op.regions {
                self.captures(r, number, i, &mut captured, depth)?;
            }
            inner.push(captured);
        }
        for &v in &region.results {
            let k = self.known(v)?;
            if k.block == number {
                k.last = Some((region.ops.len() as u32, false));
            }
        }
        let mut steps = Vec::with_capacity(region.ops.len());
        for (i, op) in region.ops.iter().enumerate() {
            if picks.vanishes(op) {
                continue;
            }
            if let Some(mut step) = self.step(op, picks.operands(op), i as u32, number, &inner[i], depth)? {
                step.pick = picks.take(op);
                steps.push(step);
            }
        }
        let results = self.uses::<[Use; 4]>(&region.results, region.ops.len() as u32, number)?;
        let args = region.args.iter().map(|&v| self.slot(v)).collect::<Result<_, _>>()?;
        Ok(Block { args, steps, results: results.into_vec() })
    }

    /// Notes the values of block `number` that a region of its step `i` uses.
    fn captures(&mut self, r: &Region, number: u32, i: u32, out: &mut Vec<Value>, depth: usize) -> Result<(), OpError> {
        if depth > MAX_REGION_DEPTH {
            return Err(OpError::new("module", format!("regions nest deeper than {MAX_REGION_DEPTH}")));
        }
        for &v in r.ops.iter().flat_map(|op| &op.operands).chain(&r.results) {
            let k = self.known(v)?;
            if k.block == number && k.last != Some((i, true)) {
                k.last = Some((i, true));
                out.push(v);
            }
        }
        r.ops.iter().flat_map(|op| &op.regions).try_for_each(|r| self.captures(r, number, i, out, depth + 1))
    }

    /// The slot of a value that something uses.
    fn slot(&mut self, v: Value) -> Result<Option<u32>, OpError> {
        let k = self.known(v)?;
        Ok((k.last.is_some() && k.constant.is_none()).then_some(v.0))
    }

    fn uses<A: smallvec::Array<Item = Use>>(
        &mut self,
        values: &[Value],
        i: u32,
        number: u32,
    ) -> Result<SmallVec<A>, OpError> {
        let mut out = SmallVec::with_capacity(values.len());
        for (n, &v) in values.iter().enumerate() {
            let last_here = !values.get(n + 1..).unwrap_or_default().contains(&v);
            let k = self.known(v)?;
            out.push(match k.constant {
                Some(c) => Use::Constant(c),
                None if k.block == number && k.last == Some((i, false)) && last_here => Use::Take(v.0),
                None => Use::Share(v.0),
            });
        }
        Ok(out)
    }

    fn step(
        &mut self,
        op: &'m Op,
        operands: &[Value],
        i: u32,
        number: u32,
        captured: &[Value],
        depth: usize,
    ) -> Result<Option<Step>, OpError> {
        let at = |e: OpError| e.at(op.loc);
        if let (Prim::Constant { value }, &[result]) = (&op.prim, op.results.as_slice())
            && let Some(t) = built(value)?
        {
            self.constants.push(t);
            let constant = Some((self.constants.len() - 1) as u32);
            self.known(result)?.constant = constant;
            return Ok(None);
        }
        let mut prim = op.prim.clone();
        prim.map_dims(&mut |d| {
            self.extents.note(d);
            d
        });
        let callee = match &op.prim {
            Prim::Call { callee, .. } => {
                let f = self.names.get(callee.0.as_str()).and_then(|&i| Some((i, self.module.funcs.get(i)?)));
                let (index, f) =
                    f.ok_or_else(|| at(OpError::new("call", format!("no function is called @{}", callee.0))))?;
                let same = f.body.args.len() == op.operands.len()
                    && f.body.args.iter().zip(&op.operands).all(|(&a, &b)| f.ty(a).shape == self.func.ty(b).shape);
                Some((index, same))
            }
            _ => None,
        };
        let uses = self.uses(operands, i, number)?;
        let mut drops = vec![];
        for &v in captured {
            if self.known(v)?.last == Some((i, true)) {
                drops.extend(self.slot(v)?);
            }
        }
        let blocks = op.regions.iter().map(|r| self.block(r, depth + 1)).collect::<Result<_, _>>()?;
        let results = op.results.iter().map(|&v| self.slot(v)).collect::<Result<_, _>>()?;
        let types = op.results.iter().map(|&v| result_type(self.func.ty(v))).collect();
        let (operands, loc) = (op.operands.clone(), op.loc);
        Ok(Some(Step { prim, uses, operands, results, types, drops, blocks, callee, pick: None, loc }))
    }
}

fn result_type(ty: &TensorType) -> ResultType {
    let extents: Option<Extents> = ty.shape.iter().map(|d| d.get()).collect();
    let bytes = extents.as_ref().and_then(|e| e.iter().try_fold(ty.dtype.size(), |a, &n| a.checked_mul(n)));
    ResultType { ty: ty.clone(), check: bytes.is_none_or(|b| b > SMALL), extents }
}

/// The tensor of a constant that is built ahead.
fn built(value: &Literal) -> Result<Option<Tensor>, OpError> {
    match value {
        Literal::Dense(t) => Ok(Some(t.clone())),
        Literal::Splat(t, shape) => {
            let Some(extents) = shape.to_static() else { return Ok(None) };
            let n = extents.iter().try_fold(1usize, |a, &n| a.checked_mul(n));
            match n.and_then(|n| n.checked_mul(t.dtype().size()).map(|b| (n, b))) {
                Some((n, bytes)) if bytes <= SPLAT_BYTES => Ok(Tensor::from_parts(t.buffer().splat(n), &extents)),
                // Too large to build ahead; whether it can be built at all shows when it runs.
                _ => Ok(None),
            }
        }
    }
}
