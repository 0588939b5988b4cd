//! The expressions of a kernel, from the elements that its steps name: operands first, without recursion.

use super::combine::identity;
use super::expand::{Known, as_index, broken, operand, sources};
use super::finish::{Draft, finish};
use super::group::{At, Context, Group, Indices, Step};
use super::index::{add, both, flat, mul};
use super::random;
use crate::kernel::{BufferDecl, Kernel, ScratchDecl};
use crate::uop::{Alu, Op as UOpKind, Ty, UOp, substitute_all};
use evoxc_core::{DType, Dim, OpError};
use evoxc_ir::{Binary, Op, Prim, ScatterOp, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

/// What is known of values when kernels are built.
pub(super) trait Values: Known {
    /// The bits of every element, where all are one number that is known.
    fn splat(&self, v: Value) -> Option<u64>;
}

/// A kernel with the values behind its buffers.
pub(super) struct Built {
    pub(super) kernel: Kernel,
    pub(super) buffers: Vec<Value>,
    pub(super) params: Vec<Dim>,
}

pub(super) struct Build<'a> {
    pub(super) g: Group,
    values: &'a dyn Values,
    made: FxHashMap<(Value, At), UOp>,
    buffers: Vec<Value>,
    numbers: FxHashMap<Value, u32>,
    /// The rows that are kept: by value, the number of its memory, and the pointer once it is filled.
    rows: FxHashMap<Value, (u32, Option<UOp>)>,
    scratch: Vec<ScratchDecl>,
}

/// The kernel of a group, whose steps are of these ops.
pub(super) fn build(mut g: Group, ops: &[std::borrow::Cow<'_, Op>], values: &dyn Values) -> Result<Built, OpError> {
    let steps = std::mem::take(&mut g.steps);
    let made = FxHashMap::with_capacity_and_hasher(steps.len() * 2, Default::default());
    let rows = g.rows.iter().enumerate().map(|(n, row)| (row.value, (n as u32, None))).collect();
    let mut b = Build { g, values, made, buffers: vec![], numbers: FxHashMap::default(), rows, scratch: vec![] };
    for n in 0..b.g.rows.len() {
        let (v, axes) = (b.g.rows[n].value, b.g.rows[n].axes.clone());
        let ty = values.ty(v).clone();
        let mut len = b.g.arena.index(1);
        for &d in &axes {
            let extent = b.g.extent(ty.shape[d])?;
            len = mul(&mut b.g.arena, len, extent);
        }
        b.scratch.push(ScratchDecl { dtype: ty.dtype, len });
    }
    for step in steps.iter().rev() {
        let op = &**ops.get(step.op).ok_or_else(|| OpError::new("schedule", "a step of no op"))?;
        let u = b.step(op, step)?;
        if let Some(&result) = op.results.first() {
            b.made.insert((result, step.at), u);
        }
    }
    let mut stores = vec![];
    let outputs = std::mem::take(&mut b.g.outputs);
    for out in &outputs {
        let value = b.value(out.from, out.at)?;
        let mut index = b.g.context(out.at).index;
        if let Some((axis, offset)) = out.offset {
            let offset = b.g.extent(offset)?;
            index[axis] = add(&mut b.g.arena, index[axis], offset);
        }
        let to = b.place(out.value, &index)?;
        let pointer = b.buffer(out.value);
        stores.push(b.g.arena.node(UOpKind::Store, Ty::VOID, &[pointer, to, value]));
    }
    let stores = b.resolved(stores)?;
    let written: FxHashSet<Value> = outputs.iter().map(|o| o.value).collect();
    let decl = |v: Value| BufferDecl { dtype: values.ty(v).dtype, written: written.contains(&v), shares: vec![] };
    let is_range = |u: &UOp| matches!(b.g.arena.op(*u), UOpKind::Range(..));
    let mut loops: Vec<UOp> = b.g.index.iter().copied().filter(is_range).collect();
    // What reductions depend on comes first, so that none is repeated.
    let nest = std::mem::take(&mut b.g.nest);
    loops.sort_by_key(|l| nest.iter().position(|set| set.contains(l)).unwrap_or(nest.len()));
    Ok(finish(Draft {
        arena: b.g.arena,
        stores,
        loops,
        buffers: b.buffers.iter().map(|&v| (v, decl(v))).collect(),
        scratch: b.scratch,
        params: b.g.params,
    }))
}

impl Build<'_> {
    /// The stores with the values of what is an index.
    fn resolved(&mut self, mut stores: Vec<UOp>) -> Result<Vec<UOp>, OpError> {
        let pending = std::mem::take(&mut self.g.pending);
        let mut map = FxHashMap::default();
        for &(v, at, u) in &pending {
            let value = self.value(v, at)?;
            map.insert(u, as_index(&mut self.g, value));
        }
        // An index may be made of what is read at another.
        for _ in &pending {
            let next = substitute_all(&mut self.g.arena, &stores, &map);
            if next == stores {
                break;
            }
            stores = next;
        }
        Ok(stores)
    }
    fn buffer(&mut self, v: Value) -> UOp {
        let n = *self.numbers.entry(v).or_insert_with(|| {
            self.buffers.push(v);
            self.buffers.len() as u32 - 1
        });
        self.g.arena.node(UOpKind::Buffer(n), Ty::memory(self.values.ty(v).dtype), &[])
    }
    /// Where in its memory an element of a value is.
    fn place(&mut self, v: Value, index: &[UOp]) -> Result<UOp, OpError> {
        let extents = self.g.extents(&self.values.ty(v).shape)?;
        Ok(flat(&mut self.g.arena, index, &extents))
    }
    fn load(&mut self, v: Value, index: &[UOp], gate: Option<UOp>) -> Result<UOp, OpError> {
        let dtype = self.values.ty(v).dtype;
        if let Some(bits) = self.values.splat(v) {
            return Ok(self.g.arena.constant(dtype, bits));
        }
        let at = self.place(v, index)?;
        let pointer = self.buffer(v);
        let ty = Ty::scalar(dtype);
        Ok(match gate {
            None => self.g.arena.node(UOpKind::Load, ty, &[pointer, at]),
            Some(gate) => {
                let nothing = self.g.arena.constant(dtype, 0);
                self.g.arena.node(UOpKind::Load, ty, &[pointer, at, gate, nothing])
            }
        })
    }
    /// An element: computed before, a number, or read.
    fn value(&mut self, v: Value, at: At) -> Result<UOp, OpError> {
        if let Some(&u) = self.made.get(&(v, at)) {
            return Ok(u);
        }
        let Context { index, gate } = self.g.context(at);
        let u = match self.rows.get(&v).copied() {
            Some((n, pointer)) => self.row_element(v, n, pointer, &index)?,
            None => self.load(v, &index, gate)?,
        };
        self.made.insert((v, at), u);
        Ok(u)
    }
    /// An element of a row that is kept.
    fn row_element(&mut self, v: Value, n: u32, pointer: Option<UOp>, index: &[UOp]) -> Result<UOp, OpError> {
        let row = self.g.rows[n as usize].clone();
        let ty = self.values.ty(v).clone();
        let extents: Indices = row.axes.iter().map(|&d| self.g.extent(ty.shape[d])).collect::<Result<_, _>>()?;
        let pick = |of: &[UOp]| -> Indices { row.axes.iter().map(|&d| of[d]).collect() };
        let pointer = match pointer {
            Some(p) => p,
            None => {
                let value =
                    *self.made.get(&(v, row.fill)).ok_or_else(|| OpError::new("schedule", "a row of nothing"))?;
                let filled = pick(&self.g.context(row.fill).index);
                let to = flat(&mut self.g.arena, &filled, &extents);
                let memory = self.g.arena.node(UOpKind::Scratch(n), Ty::memory(ty.dtype), &[]);
                let store = self.g.arena.node(UOpKind::Store, Ty::VOID, &[memory, to, value]);
                let mut end: Indices = smallvec![store];
                end.extend(filled.iter().copied().filter(|&r| matches!(self.g.arena.op(r), UOpKind::Range(..))));
                let end = self.g.arena.node(UOpKind::End, Ty::VOID, &end);
                let p = self.g.arena.node(UOpKind::After, Ty::memory(ty.dtype), &[memory, end]);
                self.rows.insert(v, (n, Some(p)));
                p
            }
        };
        let from = flat(&mut self.g.arena, &pick(index), &extents);
        Ok(self.g.arena.node(UOpKind::Load, Ty::scalar(ty.dtype), &[pointer, from]))
    }
    pub(super) fn node(&mut self, op: UOpKind, dtype: DType, src: &[UOp]) -> UOp {
        self.g.arena.node(op, Ty::scalar(dtype), src)
    }
    /// `x` as another dtype.
    pub(super) fn convert(&mut self, x: UOp, to: DType) -> UOp {
        if self.g.arena.ty(x).dtype == to { x } else { self.node(UOpKind::Convert, to, &[x]) }
    }
    fn select(&mut self, condition: UOp, yes: UOp, no: UOp) -> UOp {
        // A gated load has its other value for where its gate is false.
        if let [pointer, at, gate, _] = *self.g.arena.src(yes)
            && self.g.arena.op(yes) == UOpKind::Load
            && gate == condition
        {
            let ty = self.g.arena.ty(yes);
            return self.g.arena.node(UOpKind::Load, ty, &[pointer, at, gate, no]);
        }
        match self.g.arena.as_const(condition) {
            Some(0) => no,
            Some(_) => yes,
            None => self.g.arena.alu(Alu::Select, &[condition, yes, no]),
        }
    }

    fn step(&mut self, op: &Op, step: &Step) -> Result<UOp, OpError> {
        let dtype = op.results.first().map_or(DType::BOOL, |&v| self.values.ty(v).dtype);
        let mut src: smallvec::SmallVec<[UOp; 4]> = smallvec![];
        for (v, &at) in sources(op).into_iter().zip(&step.from) {
            src.push(self.value(v, at)?);
        }
        let Context { index, gate } = self.g.context(step.at);
        let first = src.first().copied();
        let x = first.ok_or_else(|| broken(op));
        Ok(match &op.prim {
            Prim::Unary(u) => self.node(UOpKind::Unary(*u), dtype, &src),
            Prim::Binary(b) => self.node(UOpKind::Binary(*b), dtype, &src),
            Prim::Compare { direction, order } => self.node(UOpKind::Compare(*direction, *order), dtype, &src),
            Prim::Convert { .. } => self.convert(x?, dtype),
            Prim::BitcastConvert { .. } => {
                let x = x?;
                if self.g.arena.ty(x).dtype == dtype { x } else { self.node(UOpKind::Bitcast, dtype, &src) }
            }
            Prim::ReducePrecision { exponent_bits, mantissa_bits } => {
                self.node(UOpKind::ReducePrecision(*exponent_bits, *mantissa_bits), dtype, &src)
            }
            Prim::Select {} => match src[..] {
                [c, yes, no] => self.select(c, yes, no),
                _ => return Err(broken(op)),
            },
            Prim::Clamp {} => match src[..] {
                [low, x, high] => {
                    let raised = self.node(UOpKind::Binary(Binary::Max), dtype, &[x, low]);
                    self.node(UOpKind::Binary(Binary::Min), dtype, &[raised, high])
                }
                _ => return Err(broken(op)),
            },
            Prim::StopGradient {}
            | Prim::BroadcastInDim { .. }
            | Prim::Reshape { .. }
            | Prim::Transpose { .. }
            | Prim::Slice { .. }
            | Prim::Reverse { .. } => x?,
            Prim::Constant { .. } => {
                let bits = op.results.first().and_then(|&v| self.values.splat(v)).ok_or_else(|| broken(op))?;
                self.g.arena.constant(dtype, bits)
            }
            Prim::Iota { axis, .. } => {
                let i = index.get(*axis).copied().ok_or_else(|| broken(op))?;
                self.convert(i, dtype)
            }
            Prim::DimSize { extent, .. } => {
                let n = self.g.extent(*extent)?;
                self.convert(n, dtype)
            }
            Prim::Pad { .. } => match (&src[..], step.extra.first()) {
                ([x, _], None) => *x,
                ([x, value], Some(&inside)) => self.tapped(*x, inside, gate, *value),
                _ => return Err(broken(op)),
            },
            Prim::Concatenate { .. } => {
                let mut parts = src.iter().rev();
                let mut value = *parts.next().ok_or_else(|| broken(op))?;
                for (&part, &condition) in parts.zip(step.extra.iter().rev()) {
                    value = self.select(condition, part, value);
                }
                value
            }
            Prim::Reduce { op: by, axes } => {
                let empty = operand(op, 0).map(|v| {
                    let shape = &self.values.ty(v).shape;
                    axes.iter().any(|&d| shape.get(d).is_none_or(|n| n.lower_bound().is_none_or(|l| l < 1)))
                })?;
                self.reduce(*by, x?, dtype, &step.extra, empty)
            }
            Prim::Dot { accumulate, .. } => match src[..] {
                [l, r] => self.dot(l, r, accumulate.unwrap_or(self.g.arena.ty(l).dtype), dtype, &step.extra),
                _ => return Err(broken(op)),
            },
            Prim::Argmax { .. } | Prim::Argmin { .. } => {
                let largest = matches!(op.prim, Prim::Argmax { .. });
                match (&src[..], &step.extra[..]) {
                    ([first, second], [r1, r2]) => self.arg(*first, *second, *r1, *r2, largest, dtype),
                    _ => return Err(broken(op)),
                }
            }
            Prim::ReduceWindow { op: by, .. } => {
                let x = match step.inside {
                    None => x?,
                    Some(inside) => {
                        let nothing = self.g.arena.constant(dtype, identity(*by, dtype));
                        self.tapped(x?, inside, gate, nothing)
                    }
                };
                self.reduce(*by, x, dtype, &step.extra, false)
            }
            Prim::Convolution { accumulate, .. } => match src[..] {
                [l, r] => {
                    let l = match step.inside {
                        None => l,
                        Some(inside) => {
                            let of = self.g.arena.ty(l).dtype;
                            let zero = self.g.arena.constant(of, 0);
                            self.tapped(l, inside, gate, zero)
                        }
                    };
                    self.dot(l, r, accumulate.unwrap_or(self.g.arena.ty(l).dtype), dtype, &step.extra)
                }
                _ => return Err(broken(op)),
            },
            Prim::RandomBits { algorithm, shape, .. } => {
                let drawn = &index[index.len() - shape.rank().min(index.len())..];
                random::bits(&mut self.g, *algorithm, &src, drawn, shape, dtype)?
            }
            Prim::Gather { .. } | Prim::DynamicSlice { .. } => x?,
            Prim::DynamicUpdateSlice {} => match (&src[..], step.extra.first()) {
                ([_, new, ..], None) => *new,
                ([x, new, ..], Some(&inside)) => self.select(inside, *new, *x),
                _ => return Err(broken(op)),
            },
            Prim::Scatter { op: by, .. } => {
                let (x, new) = (x?, src.last().copied().ok_or_else(|| broken(op))?);
                let by = match by {
                    ScatterOp::Set => None,
                    ScatterOp::Add => Some(Binary::Add),
                    ScatterOp::Mul => Some(Binary::Mul),
                    ScatterOp::Min => Some(Binary::Min),
                    ScatterOp::Max => Some(Binary::Max),
                };
                let new = by.map_or(new, |by| self.node(UOpKind::Binary(by), dtype, &[x, new]));
                match step.extra.first() {
                    None => new,
                    Some(&inside) => self.select(inside, new, x),
                }
            }
            _ => return Err(broken(op)),
        })
    }

    /// `x` where there is an element, else what stands for nothing.
    fn tapped(&mut self, x: UOp, inside: UOp, gate: Option<UOp>, nothing: UOp) -> UOp {
        let under = both(&mut self.g.arena, gate, Some(inside)).unwrap_or(inside);
        if gate.is_some() && self.is_load_under(x, under) {
            // Where the outer gate is false nobody looks.
            return self.select(under, x, nothing);
        }
        self.select(inside, x, nothing)
    }
    fn is_load_under(&self, u: UOp, gate: UOp) -> bool {
        self.g.arena.op(u) == UOpKind::Load && self.g.arena.src(u).get(2) == Some(&gate)
    }
}
