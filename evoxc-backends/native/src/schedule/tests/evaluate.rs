//! Runs a schedule element by element, the plain way, to compare it with the reference.

use crate::decompose::{Precision, decompose};
use crate::kernel::Kernel;
use crate::render::library::{Entry, entry};
use crate::schedule::{Item, KernelItem, Schedule};
use crate::uop::{Alu, Op, Stage, UOp, alu, cast, verify};
use evoxc_core::{Buffer, DType, Dim, Tensor};
use evoxc_ir::{Func, Module, Reducer, Value};
use evoxc_reference::Plan;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The bits of every element.
fn bits(t: &Tensor) -> Vec<u64> {
    let size = t.dtype().size();
    let read = |c: &[u8]| {
        let mut all = [0u8; 8];
        all[..size].copy_from_slice(c);
        u64::from_le_bytes(all)
    };
    t.buffer().bytes().chunks_exact(size.max(1)).map(read).collect()
}

fn tensor(dtype: DType, bits: &[u64], shape: &[usize]) -> Tensor {
    let bytes: Vec<u8> = bits.iter().flat_map(|b| b.to_le_bytes()[..dtype.size()].to_vec()).collect();
    Tensor::from_parts(Buffer::from_le_bytes(dtype, &bytes).unwrap(), shape).unwrap()
}

type Ranges = SmallVec<[i64; 4]>;

struct Machine<'a> {
    k: &'a Kernel,
    params: &'a [i64],
    buffers: &'a mut Vec<Vec<u64>>,
    scratch: Vec<Vec<u64>>,
    ranges: FxHashMap<UOp, i64>,
    known: FxHashMap<(UOp, Ranges), u64>,
}

impl Machine<'_> {
    fn size(&mut self, r: UOp) -> i64 {
        let n = self.k.uops.src(r)[0];
        self.eval(n) as i64
    }
    fn each(&mut self, ranges: &[UOp], f: &mut dyn FnMut(&mut Self)) {
        match ranges.split_first() {
            None => f(self),
            Some((&r, rest)) => {
                // A fill may be needed within another loop over the same range.
                let around = self.ranges.get(&r).copied();
                for i in 0..self.size(r) {
                    self.ranges.insert(r, i);
                    self.each(rest, f);
                }
                match around {
                    Some(i) => drop(self.ranges.insert(r, i)),
                    None => drop(self.ranges.remove(&r)),
                }
            }
        }
    }
    fn memory(&mut self, pointer: UOp) -> (bool, usize) {
        match self.k.uops.op(pointer) {
            Op::Buffer(n) => (true, n as usize),
            Op::Scratch(n) => (false, n as usize),
            Op::After => {
                let src = self.k.uops.src(pointer).to_vec();
                for &end in &src[1..] {
                    let parts = self.k.uops.src(end).to_vec();
                    self.each(&parts[1..], &mut |m| m.store(parts[0]));
                }
                self.memory(src[0])
            }
            op => panic!("{op:?} is no pointer"),
        }
    }
    fn store(&mut self, u: UOp) {
        let src = self.k.uops.src(u).to_vec();
        if let Some(&g) = src.get(3)
            && self.eval(g) == 0
        {
            return;
        }
        let (at, v) = (self.eval(src[1]) as i64 as usize, self.eval(src[2]));
        let (buffer, n) = self.memory(src[0]);
        if buffer {
            assert!(self.k.buffers[n].written);
            self.buffers[n][at] = v;
        } else {
            self.scratch[n][at] = v;
        }
    }
    fn eval(&mut self, u: UOp) -> u64 {
        let of: Ranges = self
            .k
            .uops
            .ranges(u)
            .iter()
            .map(|r| *self.ranges.get(r).unwrap_or_else(|| panic!("{r:?} is open in {u:?}")))
            .collect();
        if let Some(&v) = self.known.get(&(u, of.clone())) {
            return v;
        }
        let v = self.compute(u);
        self.known.insert((u, of), v);
        v
    }
    fn compute(&mut self, u: UOp) -> u64 {
        let node = self.k.uops.get(u).clone();
        let src = node.src;
        let dtype = node.ty.dtype;
        match node.op {
            Op::Const(bits) => bits,
            Op::Param(n) => self.params[n as usize] as u64,
            Op::Range(..) => self.ranges[&u] as u64,
            Op::Alu(Alu::Select) => {
                let c = self.eval(src[0]);
                let (a, b) = (self.eval(src[1]), self.eval(src[2]));
                if c != 0 { a } else { b }
            }
            Op::Alu(op) => {
                let v: Vec<u64> = src.iter().map(|&s| self.eval(s)).collect();
                let on = self.k.uops.ty(*src.last().unwrap()).dtype;
                alu(op, on, [v[0], v.get(1).copied().unwrap_or(0), v.get(2).copied().unwrap_or(0)])
            }
            Op::Cast => cast(self.k.uops.ty(src[0]).dtype, dtype, self.eval(src[0])),
            Op::Bitcast => self.eval(src[0]),
            Op::IndexDiv => (self.eval(src[0]) as i64).div_euclid(self.eval(src[1]) as i64) as u64,
            Op::IndexMod => (self.eval(src[0]) as i64).rem_euclid(self.eval(src[1]) as i64) as u64,
            Op::Call(f) => {
                let n = f.arity();
                let v: Vec<u64> = src.iter().map(|&s| self.eval(s)).collect();
                if v.len() > n && v[n] == 0 {
                    return v[n + 1];
                }
                let (s, d) = (|x: u64| f32::from_bits(x as u32), f64::from_bits);
                match entry(f).unwrap() {
                    Entry::Single(g) => g(s(v[0])).to_bits().into(),
                    Entry::Double(g) => g(d(v[0])).to_bits(),
                    Entry::Single2(g) => g(s(v[0]), s(v[1])).to_bits().into(),
                    Entry::Double2(g) => g(d(v[0]), d(v[1])).to_bits(),
                }
            }
            Op::Load => {
                if let Some(&g) = src.get(2)
                    && self.eval(g) == 0
                {
                    return self.eval(src[3]);
                }
                let at = self.eval(src[1]) as i64;
                let (buffer, n) = self.memory(src[0]);
                let from = if buffer { &self.buffers[n] } else { &self.scratch[n] };
                assert!(!buffer || !self.k.buffers[n].written);
                from[usize::try_from(at).unwrap()]
            }
            Op::Reduce(by) => {
                let mut acc = identity(by, dtype);
                let ranges = src[1..].to_vec();
                self.each(&ranges, &mut |m| {
                    let v = m.eval(src[0]);
                    acc = combine(by, dtype, acc, v);
                });
                acc
            }
            op => panic!("{op:?} is no value"),
        }
    }
}

fn identity(by: Reducer, d: DType) -> u64 {
    let mask = u64::MAX >> (64 - d.bits().min(64));
    match (by, d) {
        (Reducer::Sum | Reducer::Or, _) => 0,
        (Reducer::Prod, d) if d.is_float() => cast(DType::F64, d, 1f64.to_bits()),
        (Reducer::Prod, _) => 1,
        (Reducer::And, DType::BOOL) => 1,
        (Reducer::And, _) => mask,
        (Reducer::Max, d) if d.is_float() => cast(DType::F64, d, f64::NEG_INFINITY.to_bits()),
        (Reducer::Min, d) if d.is_float() => cast(DType::F64, d, f64::INFINITY.to_bits()),
        (Reducer::Max, d) if d.is_signed_int() => 1 << (d.bits() - 1),
        (Reducer::Max, _) => 0,
        (Reducer::Min, d) if d.is_signed_int() => mask >> 1,
        (Reducer::Min, _) => mask,
    }
}

fn combine(by: Reducer, d: DType, a: u64, b: u64) -> u64 {
    let nan = |x: u64| d.is_float() && f64::from_bits(cast(d, DType::F64, x)).is_nan();
    let op = match by {
        Reducer::Sum => Alu::Add,
        Reducer::Prod => Alu::Mul,
        Reducer::Max if nan(a) => return a,
        Reducer::Max if nan(b) => return b,
        Reducer::Min if nan(a) => return a,
        Reducer::Min if nan(b) => return b,
        Reducer::Max if alu(Alu::Eq, d, [a, b, 0]) != 0 && d.is_float() => return a & b,
        Reducer::Min if alu(Alu::Eq, d, [a, b, 0]) != 0 && d.is_float() => return a | b,
        Reducer::Max => Alu::Max,
        Reducer::Min => Alu::Min,
        Reducer::And => Alu::And,
        Reducer::Or => Alu::Or,
    };
    alu(op, d, [a, b, 0])
}

/// The results of the entry; none where a step is control flow.
pub(super) fn run(module: &Module, s: &Schedule, args: &[Tensor]) -> Result<Option<Vec<Tensor>>, String> {
    let main = &s.routines[0];
    let func = module.main().unwrap();
    let mut symbols: FxHashMap<Dim, i64> = FxHashMap::default();
    for _ in 0..2 {
        for (v, t) in func.body.args.iter().zip(args) {
            for (d, &n) in func.ty(*v).shape.iter().zip(t.shape()) {
                let known = d.substitute(&mut |s| symbols.get(&s).map(|&v| Dim::constant(v)));
                if let Some((symbol, v)) = known.solve(n as i64) {
                    symbols.insert(symbol, v);
                }
            }
        }
    }
    let value = |d: Dim| d.evaluate(&mut |s| symbols.get(&s).copied()).map_err(|e| e.to_string());
    let mut values: FxHashMap<Value, Tensor> = func.body.args.iter().copied().zip(args.iter().cloned()).collect();
    let shape = |v: Value| {
        main.types[v.index()].shape.iter().map(|&d| Ok(value(d)? as usize)).collect::<Result<Vec<_>, String>>()
    };
    let one = |op: &evoxc_ir::Op, inputs: &[(Value, Tensor)]| -> Result<Vec<Tensor>, String> {
        let mut f = Func { name: "one".into(), values: func.values.clone(), ..Func::default() };
        for (n, t) in main.types.iter().enumerate() {
            let mut t = t.clone();
            t.shape.dims_mut().iter_mut().for_each(|d| *d = value(*d).map_or(*d, Dim::constant));
            if n < f.values.len() {
                f.values[n].ty = t
            } else {
                f.value(t, None);
            }
        }
        let mut op = op.clone();
        op.prim.map_dims(&mut |d| value(d).map_or(d, Dim::constant));
        f.body.args = inputs.iter().map(|(v, _)| *v).collect();
        f.body.results = op.results.to_vec();
        f.body.ops.push(op);
        let m = Module { funcs: vec![f], ..Module::default() };
        let plan = Plan::new(&m).map_err(|e| e.to_string())?;
        plan.run(inputs.iter().map(|(_, t)| t.clone()).collect()).map_err(|e| e.to_string())
    };
    for c in &main.constants {
        let t = one(c, &[])?;
        values.insert(c.results[0], t[0].clone());
    }
    for item in &main.body.items {
        match item {
            Item::View { from, to } => {
                let t = values.get(from).ok_or_else(|| format!("{from:?} is viewed before it is there"))?;
                let t = Tensor::from_parts(t.buffer().clone(), &shape(*to)?).ok_or("a view of another size")?;
                values.insert(*to, t);
            }
            Item::Library(l) => {
                let mut inputs: Vec<(Value, Tensor)> = vec![];
                for v in l.op.operands.iter().chain(&l.captures) {
                    if inputs.iter().all(|(i, _)| i != v) {
                        inputs.push((*v, values.get(v).ok_or_else(|| format!("{v:?} is not there"))?.clone()));
                    }
                }
                let out = one(&l.op, &inputs)?;
                values.extend(l.op.results.iter().copied().zip(out));
            }
            Item::Kernel(k) => kernel(k, &mut values, &value, &shape, &main.types)?,
            Item::Matmul(m) => {
                let [b, rows, cols, depth] = m.extents.map(|d| value(d).unwrap());
                let out = main.types[m.out.index()].dtype;
                let dtype = out.accumulator();
                let wide = |v: &Value| values[v].cast(dtype).map(|t| bits(&t)).map_err(|e| e.to_string());
                let (l, r) = (wide(&m.lhs)?, wide(&m.rhs)?);
                let (ls, rs) = (m.lhs_strides.map(|d| value(d).unwrap()), m.rhs_strides.map(|d| value(d).unwrap()));
                let mut sums = vec![];
                for i in 0..b * rows * cols {
                    let (bi, mi, ni) = (i / (rows * cols), i / cols % rows, i % cols);
                    let mut sum = 0;
                    for k in 0..depth {
                        let x = l[(bi * ls[0] + mi * ls[1] + k * ls[2]) as usize];
                        let y = r[(bi * rs[0] + k * rs[1] + ni * rs[2]) as usize];
                        sum = alu(Alu::Add, dtype, [sum, alu(Alu::Mul, dtype, [x, y, 0]), 0]);
                    }
                    sums.push(sum);
                }
                let sums = tensor(dtype, &sums, &shape(m.out)?);
                values.insert(m.out, sums.cast(out).map_err(|e| e.to_string())?);
            }
            Item::Control { .. } | Item::Call { .. } => return Ok(None),
        }
    }
    let get = |v: &Value| values.get(v).cloned().ok_or_else(|| format!("result {v:?} is not there"));
    main.body.results.iter().map(get).collect::<Result<_, _>>().map(Some)
}

fn kernel(
    item: &KernelItem,
    values: &mut FxHashMap<Value, Tensor>,
    value: &dyn Fn(Dim) -> Result<i64, String>,
    shape: &dyn Fn(Value) -> Result<Vec<usize>, String>,
    types: &[evoxc_ir::TensorType],
) -> Result<(), String> {
    verify(&item.kernel, Stage::Scheduled).map_err(|e| e.to_string())?;
    let mut k = item.kernel.clone();
    decompose(&mut k, Precision::Strict).map_err(|e| e.to_string())?;
    let params = item.params.iter().map(|&d| value(d)).collect::<Result<Vec<_>, _>>()?;
    let mut buffers = vec![];
    for (&v, decl) in item.buffers.iter().zip(&k.buffers) {
        let n: usize = shape(v)?.iter().product();
        buffers.push(if decl.written {
            vec![0x5555_5555_5555_5555; n]
        } else {
            bits(values.get(&v).ok_or_else(|| format!("{v:?} is read before it is there"))?)
        });
    }
    let mut m = Machine {
        k: &k,
        params: &params,
        buffers: &mut buffers,
        scratch: vec![],
        ranges: FxHashMap::default(),
        known: FxHashMap::default(),
    };
    for s in &k.scratch {
        let n = m.eval(s.len) as usize;
        m.scratch.push(vec![0x5555_5555_5555_5555; n]);
    }
    let loops = k.loops.clone();
    let stores = k.stores.clone();
    m.each(&loops, &mut |m| {
        for &s in &stores {
            m.store(s);
        }
    });
    for ((&v, decl), bits) in item.buffers.iter().zip(&k.buffers).zip(&buffers) {
        if decl.written {
            values.insert(v, tensor(types[v.index()].dtype, bits, &shape(v)?));
        }
    }
    Ok(())
}
