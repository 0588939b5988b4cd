//! Random kernels: movement, arithmetic, reductions over any axes, gates, fills, constant and symbolic sizes.

use super::evaluate::Memory;
use crate::kernel::{BufferDecl, Kernel, ScratchDecl};
use crate::uop::{Alu, AxisKind, Op, Ty, UOp, cast};
use evoxc_core::DType;
use evoxc_ir::Reducer;

/// Numbers from a seed.
pub struct Numbers(pub u64);
impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }
    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// A kernel, and what to run it on.
pub struct Case {
    pub kernel: Kernel,
    pub params: Vec<i64>,
    pub buffers: Vec<Memory>,
}

pub struct Maker {
    pub n: Numbers,
    pub k: Kernel,
    pub params: Vec<i64>,
    pub buffers: Vec<Memory>,
    ranges: u32,
    /// Arbitrary floats, whose sums depend on their order.
    wild: bool,
}

const SIZES: &[i64] = &[0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 70];
const MACHINE: &[DType] =
    &[DType::F32, DType::F32, DType::F32, DType::F64, DType::I32, DType::I64, DType::U32, DType::BOOL];
const NARROW: &[DType] = &[DType::F16, DType::BF16, DType::I8, DType::U8, DType::I16, DType::U16];

impl Maker {
    pub fn new(seed: u64, wild: bool) -> Maker {
        Maker { n: Numbers(seed), k: Kernel::default(), params: vec![], buffers: vec![], ranges: 0, wild }
    }
    /// A range, of a constant or a parameter.
    pub fn range(&mut self, size: i64, kind: AxisKind) -> (UOp, i64) {
        let odds = if kind == AxisKind::Loop { 2 } else { 4 };
        let extent = if self.n.below(odds) == 0 {
            self.params.push(size);
            self.k.params += 1;
            self.k.uops.node(Op::Param(self.k.params - 1), Ty::INDEX, &[])
        } else {
            self.k.uops.index(size)
        };
        let number = self.ranges;
        self.ranges += 1;
        (self.k.uops.node(Op::Range(number, kind), Ty::INDEX, &[extent]), size)
    }
    fn bits(&mut self, d: DType) -> u64 {
        let v = self.n.below(17) as i64 - 8;
        match d {
            DType::BOOL => self.n.below(2),
            d if d.is_float() => {
                let x = match self.n.below(60) {
                    0 => f64::NAN,
                    1 => f64::INFINITY,
                    2 => -0.0,
                    _ if self.wild => (self.n.next() as f64 / u64::MAX as f64 - 0.3) * 3.0,
                    _ => v as f64,
                };
                cast(DType::F64, d, x.to_bits())
            }
            d => cast(DType::I64, d, v as u64),
        }
    }
    pub fn buffer(&mut self, dtype: DType, len: i64, written: bool) -> UOp {
        let number = self.buffers.len() as u32;
        let data = (0..len).map(|_| if written { 0 } else { self.bits(dtype) }).collect();
        self.buffers.push(data);
        self.k.buffers.push(BufferDecl { dtype, written, shares: vec![] });
        self.k.uops.node(Op::Buffer(number), Ty::memory(dtype), &[])
    }
    fn mul(&mut self, a: UOp, b: UOp) -> UOp {
        self.k.uops.alu(Alu::Mul, &[a, b])
    }
    fn add(&mut self, a: UOp, b: UOp) -> UOp {
        self.k.uops.alu(Alu::Add, &[a, b])
    }
    /// A row-major index over ranges in that order, and how many elements there are.
    pub fn dense(&mut self, over: &[(UOp, i64)]) -> (UOp, i64) {
        let mut at = self.k.uops.index(0);
        let mut count = 1;
        for &(r, n) in over {
            let extent = self.k.uops.src(r)[0];
            let scaled = self.mul(at, extent);
            at = self.add(scaled, r);
            count *= n;
        }
        (at, count)
    }
    /// A load of some of the ranges: in any order, reversed, repeated, gated.
    fn load(&mut self, d: DType, scope: &[(UOp, i64)]) -> UOp {
        let mut over: Vec<_> = scope.iter().copied().filter(|_| true).collect();
        over.retain(|_| self.n.below(5) > 0);
        if self.n.below(3) == 0 && over.len() > 1 {
            let (a, b) = (self.n.below(over.len() as u64) as usize, self.n.below(over.len() as u64) as usize);
            over.swap(a, b);
        }
        let mut gate = None;
        let mut at = self.k.uops.index(0);
        let mut count = 1i64;
        for (r, n) in over {
            let extent = self.k.uops.src(r)[0];
            let (i, size, n) = match self.n.below(9) {
                0 => {
                    let one = self.k.uops.index(1);
                    let last = self.k.uops.alu(Alu::Sub, &[extent, one]);
                    (self.k.uops.alu(Alu::Sub, &[last, r]), extent, n)
                }
                1 if n > 0 => {
                    let m = self.n.below(5) as i64 + 1;
                    let by = self.k.uops.index(m);
                    if self.n.below(2) == 0 {
                        (self.k.uops.node(Op::IndexMod, Ty::INDEX, &[r, by]), by, m)
                    } else {
                        (self.k.uops.node(Op::IndexDiv, Ty::INDEX, &[r, by]), extent, n)
                    }
                }
                2 => {
                    let two = self.k.uops.index(2);
                    let size = self.mul(extent, two);
                    (self.mul(r, two), size, n * 2)
                }
                3 => {
                    // Padded by two before.
                    let two = self.k.uops.index(2);
                    let inside = self.k.uops.alu(Alu::Le, &[two, r]);
                    gate = Some(match gate {
                        Some(g) => self.k.uops.alu(Alu::And, &[g, inside]),
                        None => inside,
                    });
                    (self.k.uops.alu(Alu::Sub, &[r, two]), extent, n)
                }
                _ => (r, extent, n),
            };
            let scaled = self.mul(at, size);
            at = self.add(scaled, i);
            count *= n;
        }
        let p = self.buffer(d, count, false);
        match gate {
            Some(g) => {
                let bits = self.bits(d);
                let otherwise = self.k.uops.constant(d, bits);
                self.k.uops.node(Op::Load, Ty::scalar(d), &[p, at, g, otherwise])
            }
            None => self.k.uops.node(Op::Load, Ty::scalar(d), &[p, at]),
        }
    }
    /// A value of that dtype, and how great it may be.
    pub fn value(&mut self, d: DType, scope: &[(UOp, i64)], depth: u32) -> (UOp, f64) {
        const MOST: f64 = 1e6;
        let integer = matches!(d, DType::I32 | DType::I64 | DType::U32);
        if NARROW.contains(&d) {
            return (self.load(d, scope), 256.0);
        }
        if depth == 0 {
            return match self.n.below(8) {
                0 => {
                    let bits = self.bits(d);
                    (self.k.uops.constant(d, bits), 8.0)
                }
                1 if !scope.is_empty() && !d.is_bool() => {
                    let r = self.n.of(scope).0;
                    (self.k.uops.node(Op::Cast, Ty::scalar(d), &[r]), 70.0)
                }
                _ => (self.load(d, scope), 8.0),
            };
        }
        let below = depth - 1;
        match self.n.below(12) {
            0 | 1 if depth > 1 => self.reduction(d, scope, below),
            2 if !d.is_bool() => {
                let from = if self.n.below(2) == 0 {
                    self.n.of(NARROW)
                } else {
                    self.n.of(&[DType::I32, DType::BOOL, DType::F32])
                };
                let (x, most) = self.value(from, scope, below);
                // A float that is NaN or infinite is cast to the same integer whatever its lanes.
                (self.k.uops.node(Op::Cast, Ty::scalar(d), &[x]), if d.is_float() { most } else { 2e9 })
            }
            3 => {
                let c = self.value(DType::BOOL, scope, below).0;
                let ((a, x), (b, y)) = (self.value(d, scope, below), self.value(d, scope, below));
                (self.k.uops.alu(Alu::Select, &[c, a, b]), x.max(y))
            }
            4 if !d.is_bool() && !matches!(d, DType::U32) => {
                let (a, x) = self.value(d, scope, below);
                (self.k.uops.alu(Alu::Neg, &[a]), x)
            }
            _ if d.is_bool() => match self.n.below(2) {
                0 => {
                    let of = self.n.of(MACHINE);
                    let (a, b) = (self.value(of, scope, below).0, self.value(of, scope, below).0);
                    let op = self.n.of(if of.is_bool() {
                        &[Alu::Eq, Alu::Ne]
                    } else {
                        &[Alu::Eq, Alu::Ne, Alu::Lt, Alu::Le]
                    });
                    (self.k.uops.alu(op, &[a, b]), 1.0)
                }
                _ => {
                    let (a, b) = (self.value(d, scope, below).0, self.value(d, scope, below).0);
                    let op = self.n.of(&[Alu::And, Alu::Or, Alu::Xor]);
                    (self.k.uops.alu(op, &[a, b]), 1.0)
                }
            },
            _ => {
                let ((a, x), (b, y)) = (self.value(d, scope, below), self.value(d, scope, below));
                let op = self.n.of(&[Alu::Add, Alu::Sub, Alu::Mul, Alu::Min, Alu::Max]);
                let most = if op == Alu::Mul { x * y } else { x + y };
                if most > MOST && !integer && !self.wild {
                    return (self.k.uops.alu(Alu::Max, &[a, b]), x.max(y));
                }
                (self.k.uops.alu(op, &[a, b]), most)
            }
        }
    }
    fn reduction(&mut self, d: DType, scope: &[(UOp, i64)], depth: u32) -> (UOp, f64) {
        let count = self.n.below(2) as usize + 1;
        let mut ranges = vec![];
        for _ in 0..count {
            let mut size = self.n.of(SIZES);
            let all: i64 = scope.iter().chain(&ranges).map(|r: &(UOp, i64)| r.1.max(1)).product();
            if all * size > 20_000 {
                size = 2;
            }
            ranges.push(self.range(size, AxisKind::Reduce));
        }
        let mut inner = scope.to_vec();
        inner.extend_from_slice(&ranges);
        let (x, most) = self.value(d, &inner, depth.min(2));
        let times: f64 = ranges.iter().map(|r| r.1.max(1) as f64).product();
        let ops: &[Reducer] = match d {
            DType::F32 | DType::F64 if most * times > 8e6 && !self.wild => &[Reducer::Max, Reducer::Min],
            DType::F32 | DType::F64 => &[Reducer::Sum, Reducer::Sum, Reducer::Max, Reducer::Min],
            _ => &[Reducer::Sum, Reducer::Prod, Reducer::Max, Reducer::Min, Reducer::And, Reducer::Or],
        };
        let op = self.n.of(ops);
        let mut src = vec![x];
        src.extend(ranges.iter().map(|r| r.0));
        let sum = self.k.uops.node(Op::Reduce(op), Ty::scalar(d), &src);
        (sum, if op == Reducer::Sum { most * times } else { most })
    }
    /// A row that is filled first, and read back elsewhere.
    fn filled(&mut self, d: DType, scope: &[(UOp, i64)]) -> UOp {
        let size = self.n.of(&SIZES[1..]);
        let fill = self.range(size, AxisKind::Reduce);
        let mut inner = scope.to_vec();
        inner.push(fill);
        let x = self.value(d, &inner, 1).0;
        let extent = self.k.uops.src(fill.0)[0];
        let number = self.k.scratch.len() as u32;
        self.k.scratch.push(ScratchDecl { dtype: d, len: extent });
        let p = self.k.uops.node(Op::Scratch(number), Ty::memory(d), &[]);
        let store = self.k.uops.node(Op::Store, Ty::VOID, &[p, fill.0, x]);
        let end = self.k.uops.node(Op::End, Ty::VOID, &[store, fill.0]);
        let after = self.k.uops.node(Op::After, Ty::memory(d), &[p, end]);
        if self.n.below(2) == 0 {
            let over = if self.n.below(2) == 0 { fill.0 } else { self.range(size, AxisKind::Reduce).0 };
            // The extents may differ as nodes, not as numbers.
            let y = self.k.uops.node(Op::Load, Ty::scalar(d), &[after, over]);
            return self.k.uops.node(Op::Reduce(Reducer::Max), Ty::scalar(d), &[y, over]);
        }
        let at = self.k.uops.index(size / 2);
        self.k.uops.node(Op::Load, Ty::scalar(d), &[after, at])
    }
    pub fn finish(mut self) -> Case {
        self.k.params = self.params.len() as u32;
        Case { kernel: self.k, params: self.params, buffers: self.buffers }
    }
}

/// A kernel from a seed.
pub fn kernel(seed: u64, wild: bool) -> Case {
    let mut m = Maker::new(seed, wild);
    let rank = m.n.below(4);
    let mut loops = vec![];
    let mut count = 1;
    for _ in 0..rank {
        let mut size = m.n.of(SIZES);
        if count * size > 1500 {
            size = 2;
        }
        count *= size.max(1);
        loops.push(m.range(size, AxisKind::Loop));
    }
    m.k.loops = loops.iter().map(|l| l.0).collect();
    for _ in 0..m.n.below(2) + 1 {
        let d = if m.n.below(8) == 0 { m.n.of(NARROW) } else { m.n.of(MACHINE) };
        let depth = m.n.below(4) as u32;
        let mut x = m.value(d, &loops, depth).0;
        if MACHINE.contains(&d) && !d.is_bool() && m.n.below(5) == 0 {
            let y = m.filled(d, &loops);
            x = m.k.uops.alu(Alu::Max, &[x, y]);
        }
        let (at, len) = m.dense(&loops);
        let p = m.buffer(d, len, true);
        let gate = (m.n.below(8) == 0 && !loops.is_empty()).then(|| {
            let three = m.k.uops.index(3);
            let r = m.n.of(&loops).0;
            m.k.uops.alu(Alu::Lt, &[r, three])
        });
        let mut src = vec![p, at, x];
        src.extend(gate);
        let s = m.k.uops.node(Op::Store, Ty::VOID, &src);
        m.k.stores.push(s);
    }
    m.finish()
}

/// A product of matrices in batches: `out[b, i, j] = sum over k`, either operand transposed or without batches, with
/// something done to the result.
pub fn product(seed: u64, wild: bool) -> Case {
    let mut m = Maker::new(seed, wild);
    let d = m.n.of(&[DType::F32, DType::F32, DType::F64, DType::I32, DType::F16]);
    let wide = if d == DType::F16 { DType::F32 } else { d };
    let sizes = [0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 16, 17, 33, 64, 70];
    let mut size = |most: i64| loop {
        let v = m.n.of(&sizes);
        if v <= most {
            return v;
        }
    };
    let (b, i, j, k) = (size(3), size(17), size(70), size(70));
    let b = m.range(b, AxisKind::Loop);
    let i = m.range(i, AxisKind::Loop);
    let j = m.range(j, AxisKind::Loop);
    let k = m.range(k, AxisKind::Reduce);
    let batched = m.n.below(2) == 0;
    let operand = |m: &mut Maker, x, y| {
        let mut over = if m.n.below(2) == 0 { vec![x, y] } else { vec![y, x] };
        if batched && m.n.below(3) > 0 {
            over.insert(0, b);
        }
        let (at, len) = m.dense(&over);
        let p = m.buffer(d, len, false);
        let x = m.k.uops.node(Op::Load, Ty::scalar(d), &[p, at]);
        if d == wide { x } else { m.k.uops.node(Op::Cast, Ty::scalar(wide), &[x]) }
    };
    let l = operand(&mut m, i, k);
    let r = operand(&mut m, k, j);
    let product = m.k.uops.alu(Alu::Mul, &[l, r]);
    let mut x = m.k.uops.node(Op::Reduce(Reducer::Sum), Ty::scalar(wide), &[product, k.0]);
    if m.n.below(2) == 0 {
        let over = if m.n.below(2) == 0 { vec![j] } else { vec![i, j] };
        let (at, len) = m.dense(&over);
        let p = m.buffer(wide, len, false);
        let bias = m.k.uops.node(Op::Load, Ty::scalar(wide), &[p, at]);
        x = m.k.uops.alu(Alu::Add, &[x, bias]);
    }
    let loops = match (batched, m.n.below(3)) {
        (true, 0) => vec![i, b, j],
        (true, _) => vec![b, i, j],
        _ => vec![i, j],
    };
    m.k.loops = loops.iter().map(|l| l.0).collect();
    let (at, len) = m.dense(&loops);
    let p = m.buffer(wide, len, true);
    let s = m.k.uops.node(Op::Store, Ty::VOID, &[p, at, x]);
    m.k.stores.push(s);
    m.finish()
}

/// Something done down the columns of `[m, n]`, once for each of its elements or once for all.
pub fn columns(seed: u64, wild: bool, m: i64, n: i64, rows: i64) -> Case {
    let mut c = Maker::new(seed, wild);
    let d = DType::F32;
    let rows = c.range(rows, AxisKind::Loop);
    let j = {
        let extent = c.k.uops.index(n);
        (c.k.uops.node(Op::Range(90, AxisKind::Loop), Ty::INDEX, &[extent]), n)
    };
    let r = {
        let extent = c.k.uops.index(m);
        (c.k.uops.node(Op::Range(91, AxisKind::Reduce), Ty::INDEX, &[extent]), m)
    };
    let (at, len) = c.dense(&[r, j]);
    let p = c.buffer(d, len, false);
    let x = c.k.uops.node(Op::Load, Ty::scalar(d), &[p, at]);
    let p = c.buffer(d, m, false);
    let y = c.k.uops.node(Op::Load, Ty::scalar(d), &[p, r.0]);
    let z = c.k.uops.alu(Alu::Add, &[x, y]);
    let sum = c.k.uops.node(Op::Reduce(Reducer::Sum), Ty::scalar(d), &[z, r.0]);
    let most = c.k.uops.node(Op::Reduce(Reducer::Max), Ty::scalar(d), &[x, r.0]);
    let p = c.buffer(d, n, false);
    let bias = c.k.uops.node(Op::Load, Ty::scalar(d), &[p, j.0]);
    let out = c.k.uops.alu(Alu::Add, &[sum, bias]);
    let loops = if rows.1 == 1 { vec![j] } else { vec![rows, j] };
    c.k.loops = loops.iter().map(|l| l.0).collect();
    let (at, len) = c.dense(&loops);
    for v in [out, most] {
        let p = c.buffer(d, len, true);
        let s = c.k.uops.node(Op::Store, Ty::VOID, &[p, at, v]);
        c.k.stores.push(s);
    }
    c.finish()
}

/// Something done to every element of `[rows, n]`.
pub fn wide(seed: u64, rows: i64, n: i64) -> Case {
    let mut c = Maker::new(seed, true);
    let i = c.range(rows, AxisKind::Loop);
    let j = c.range(n, AxisKind::Loop);
    c.k.loops = vec![i.0, j.0];
    let (at, len) = c.dense(&[i, j]);
    let d = DType::F32;
    let x = c.value(d, &[i, j], 2).0;
    let p = c.buffer(d, rows, false);
    let y = c.k.uops.node(Op::Load, Ty::scalar(d), &[p, i.0]);
    let z = c.k.uops.alu(Alu::Add, &[x, y]);
    for (v, at, len) in [(z, at, len), (y, i.0, rows)] {
        let p = c.buffer(d, len, true);
        let s = c.k.uops.node(Op::Store, Ty::VOID, &[p, at, v]);
        c.k.stores.push(s);
    }
    c.finish()
}

/// The sum of all of `[rows, n]`, or of its rows, with something loaded beside it.
pub fn sums(seed: u64, rows: i64, n: i64, all: bool) -> Case {
    let mut c = Maker::new(seed, true);
    let kind = if all { AxisKind::Reduce } else { AxisKind::Loop };
    let i = c.range(rows, kind);
    let r = {
        let extent = c.k.uops.index(n);
        (c.k.uops.node(Op::Range(90, AxisKind::Reduce), Ty::INDEX, &[extent]), n)
    };
    let d = c.n.of(&[DType::F32, DType::F64, DType::I32]);
    let (at, len) = c.dense(&[i, r]);
    let p = c.buffer(d, len, false);
    let x = c.k.uops.node(Op::Load, Ty::scalar(d), &[p, at]);
    let mut src = vec![x];
    if all {
        src.push(i.0);
    } else {
        c.k.loops = vec![i.0];
    }
    src.push(r.0);
    let sum = c.k.uops.node(Op::Reduce(Reducer::Sum), Ty::scalar(d), &src);
    let (at, len) = if all { (c.k.uops.index(0), 1) } else { (i.0, rows) };
    let p = c.buffer(d, len, true);
    let s = c.k.uops.node(Op::Store, Ty::VOID, &[p, at, sum]);
    c.k.stores.push(s);
    c.finish()
}
