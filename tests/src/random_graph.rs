//! Random well-typed programs, the same for the same seed: ops with random attributes on random values, kept when
//! `infer` accepts them.

use evoxc_core::{DType, Dim, Loc, Shape, Tensor, dim, spec};
use evoxc_ir::{
    AxisPair, Binary, CumOp, Direction, Func, Literal, Module, Op, Prim, Reducer, Region, RegionType, SortKeys,
    SortOrder, TensorType, Unary, Value, infer,
};
use half::{bf16, f16};
use num_complex::Complex;

/// Numbers for tests: xorshift64* (Vigna, 2016).
#[derive(Clone)]
pub struct Rng(u64);
impl Rng {
    /// A stream of its own for each seed.
    pub fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }
    /// 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
    /// Below `n`; 0 for an `n` of 0.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.bits() >> 33) as usize).checked_rem(n).unwrap_or(0)
    }
    /// One of a list.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// Dtypes of random programs; the frequent ones more than once.
const DTYPES: [DType; 12] = [
    DType::F32,
    DType::F32,
    DType::F32,
    DType::I32,
    DType::I32,
    DType::BOOL,
    DType::F64,
    DType::F16,
    DType::BF16,
    DType::U8,
    DType::I64,
    DType::C64,
];

/// A tensor of small numbers, some of them special.
pub fn tensor(rng: &mut Rng, dtype: DType, shape: &[usize]) -> Tensor {
    let n: usize = shape.iter().product();
    let mut real = || match rng.below(12) {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => f64::NEG_INFINITY,
        3 => -0.0,
        4 => 0.0,
        5 => 1.0,
        6 => 1e-42,
        _ => (rng.below(65) as f64 - 32.0) / 8.0,
    };
    let reals: Vec<f64> = (0..n).map(|_| real()).collect();
    let mut int = |i: usize| -> i64 {
        match rng.below(8) {
            0 => i64::MIN,
            1 => -1,
            2 => 0,
            3 => i64::MAX,
            _ => (rng.below(21) as i64) - 10 + (i as i64 & 1),
        }
    };
    let ints: Vec<i64> = (0..n).map(&mut int).collect();
    let made = match dtype {
        DType::BOOL => Tensor::from_vec(ints.iter().map(|i| i & 1 == 1).collect(), shape),
        DType::I8 => Tensor::from_vec(ints.iter().map(|&i| i as i8).collect(), shape),
        DType::I16 => Tensor::from_vec(ints.iter().map(|&i| i as i16).collect(), shape),
        DType::I32 => Tensor::from_vec(ints.iter().map(|&i| i as i32).collect(), shape),
        DType::I64 => Tensor::from_vec(ints.clone(), shape),
        DType::U8 => Tensor::from_vec(ints.iter().map(|&i| i as u8).collect(), shape),
        DType::U16 => Tensor::from_vec(ints.iter().map(|&i| i as u16).collect(), shape),
        DType::U32 => Tensor::from_vec(ints.iter().map(|&i| i as u32).collect(), shape),
        DType::U64 => Tensor::from_vec(ints.iter().map(|&i| i as u64).collect(), shape),
        DType::F16 => Tensor::from_vec(reals.iter().map(|&r| f16::from_f64(r)).collect(), shape),
        DType::BF16 => Tensor::from_vec(reals.iter().map(|&r| bf16::from_f64(r)).collect(), shape),
        DType::F32 => Tensor::from_vec(reals.iter().map(|&r| r as f32).collect(), shape),
        DType::F64 => Tensor::from_vec(reals.clone(), shape),
        DType::C64 => Tensor::from_vec(reals.iter().map(|&r| Complex::new(r as f32, 0.5)).collect(), shape),
        DType::C128 => Tensor::from_vec(reals.iter().map(|&r| Complex::new(r, 0.5)).collect(), shape),
    };
    made.expect("as many elements as the shape has")
}

/// A program and arguments for it.
pub struct Program {
    /// The program.
    pub module: Module,
    /// Arguments of its entry.
    pub inputs: Vec<Tensor>,
}

struct Builder {
    rng: Rng,
    f: Func,
    symbolic: bool,
}

/// A random program of about `ops` ops.
pub fn program(seed: u64, ops: usize) -> Program {
    let (mut builder, mut body, b) = begin(seed);
    let mut visible = body.args.clone();
    builder.fill(&mut body, &mut visible, ops, 0);
    let n = 1 + builder.rng.below(3);
    for _ in 0..n {
        let v = builder.rng.pick(&visible);
        body.results.push(v);
    }
    builder.end(body, b)
}

/// Random programs of one signature, of up to `ops` ops each.
pub fn population(seed: u64, count: usize, ops: usize) -> Vec<Program> {
    (0..count as u64)
        .map(|i| {
            let (mut builder, mut body, b) = begin(seed);
            let inputs = body.args.clone();
            // The inputs are the same, the rest is not, and some programs are.
            builder.rng = Rng::new(seed.wrapping_mul(1000) + i - u64::from(i % 4 == 3));
            let mut visible = inputs.clone();
            let ops = builder.rng.below(ops + 1);
            builder.fill(&mut body, &mut visible, ops, 0);
            for &like in inputs.iter().take(2) {
                let same = visible.iter().copied().filter(|&v| builder.f.ty(v) == builder.f.ty(like));
                let same: Vec<Value> = same.collect();
                // Late values more often than inputs.
                let last = same.len() - 1 - builder.rng.below(same.len().min(3));
                body.results.push(same[last]);
            }
            builder.end(body, b)
        })
        .collect()
}

/// A builder with random inputs, and the value of its symbol.
fn begin(seed: u64) -> (Builder, Region, usize) {
    let mut rng = Rng::new(seed);
    let symbolic = rng.once_in(3);
    let b = 1 + rng.below(4);
    let mut builder = Builder { rng, f: Func::new("main"), symbolic };
    let mut body = Region::default();
    let count = 2 + builder.rng.below(3);
    for i in 0..count {
        let dtype = builder.rng.pick(&DTYPES);
        // The first argument tells the value of the symbol.
        let shape = if i == 0 && symbolic { Shape::from_iter([dim("B")]) } else { builder.shape() };
        let v = builder.f.value(spec(dtype, shape), Some(format!("x{i}").into()));
        body.args.push(v);
    }
    (builder, body, b)
}

impl Builder {
    /// The program of this body, with inputs for which the symbol is `b`.
    fn end(self, body: Region, b: usize) -> Program {
        let Builder { mut rng, mut f, .. } = self;
        let concrete = |t: &TensorType| -> Vec<usize> {
            t.shape.iter().map(|d| d.evaluate(&mut |_| Some(b as i64)).unwrap_or(0) as usize).collect()
        };
        let inputs = body.args.iter().map(|&v| tensor(&mut rng, f.ty(v).dtype(), &concrete(f.ty(v)))).collect();
        f.body = body;
        Program { module: Module { name: "main".into(), funcs: vec![f], ..Module::default() }, inputs }
    }

    fn shape(&mut self) -> Shape {
        let (rng, b) = (&mut self.rng, dim("B"));
        let extent = |rng: &mut Rng| match rng.below(7) {
            0 if self.symbolic => b,
            0 | 1 => Dim::constant(1),
            2 | 3 => Dim::constant(3),
            _ => Dim::constant(2),
        };
        let rank = rng.below(4);
        (0..rank).map(|_| extent(rng)).collect()
    }

    /// Appends ops to a region; new values become visible.
    fn fill(&mut self, region: &mut Region, visible: &mut Vec<Value>, ops: usize, depth: usize) {
        for _ in 0..ops * 6 {
            if region.ops.len() >= ops {
                break;
            }
            let op = match self.rng.below(12) {
                0 if depth < 2 => self.cond(visible, depth),
                1 if depth < 2 => self.scan(visible, depth),
                _ => self.simple(visible),
            };
            if let Some(op) = op {
                visible.extend(op.results.iter().copied());
                region.ops.push(op);
            }
        }
    }

    /// An op whose types fit, with new values for its results.
    fn finish(&mut self, prim: Prim, operands: &[Value], regions: Vec<Region>) -> Option<Op> {
        let types: Vec<TensorType> = operands.iter().map(|&v| self.f.ty(v).clone()).collect();
        let refs: Vec<&TensorType> = types.iter().collect();
        let list = |vs: &[Value]| vs.iter().map(|&v| self.f.ty(v).clone()).collect();
        let signatures: Vec<RegionType> =
            regions.iter().map(|r| RegionType { args: list(&r.args), results: list(&r.results) }).collect();
        let results = infer(&prim, &refs, &signatures).ok()?;
        // Small programs stay small.
        let large = |t: &TensorType| t.shape.iter().filter_map(|d| d.as_i64()).product::<i64>() > 256;
        if results.iter().any(large) {
            return None;
        }
        let name = |rng: &mut Rng| rng.once_in(3).then(|| format!("v{}", rng.below(9)).into());
        let results = results.into_iter().map(|t| {
            let n = name(&mut self.rng);
            self.f.value(t, n)
        });
        let results = results.collect();
        let loc = self.rng.once_in(4).then(|| Loc::new("src/random.rs", 1 + self.rng.below(99) as u32, 5));
        Some(Op { prim, operands: operands.iter().copied().collect(), results, regions, loc })
    }

    /// A visible value, preferably of that type.
    fn like(&mut self, visible: &[Value], v: Value) -> Value {
        let same: Vec<Value> = visible.iter().copied().filter(|&u| self.f.ty(u) == self.f.ty(v)).collect();
        self.rng.pick(&same)
    }

    fn cond(&mut self, visible: &[Value], depth: usize) -> Option<Op> {
        let preds: Vec<Value> =
            visible.iter().copied().filter(|&v| *self.f.ty(v) == spec(DType::BOOL, Shape::scalar())).collect();
        if preds.is_empty() {
            return None;
        }
        let pred = self.rng.pick(&preds);
        let mut regions: Vec<Region> = vec![];
        for _ in 0..2 {
            let (mut r, mut inside) = (Region::default(), visible.to_vec());
            self.fill(&mut r, &mut inside, 3, depth + 1);
            let v = match regions.first() {
                None => inside.last().copied()?,
                Some(first) => {
                    let want = self.f.ty(*first.results.first()?).clone();
                    let fits: Vec<Value> = inside.iter().copied().filter(|&v| *self.f.ty(v) == want).collect();
                    if fits.is_empty() {
                        return None;
                    }
                    self.rng.pick(&fits)
                }
            };
            r.results.push(v);
            regions.push(r);
        }
        self.finish(Prim::Cond {}, &[pred], regions)
    }

    fn scan(&mut self, visible: &[Value], depth: usize) -> Option<Op> {
        let init = self.rng.pick(visible);
        let ty = self.f.ty(init).clone();
        let mut r = Region { args: vec![self.f.value(ty.clone(), None)], ..Region::default() };
        let mut inside = visible.to_vec();
        inside.extend(&r.args);
        self.fill(&mut r, &mut inside, 3, depth + 1);
        let fits: Vec<Value> = inside.iter().copied().filter(|&v| *self.f.ty(v) == ty).collect();
        r.results = vec![self.rng.pick(&fits), inside.last().copied()?];
        let length = Dim::constant(self.rng.below(4) as i64);
        let reverse = self.rng.once_in(2);
        self.finish(Prim::Scan { carry: 1, length, reverse }, &[init], vec![r])
    }

    fn simple(&mut self, visible: &[Value]) -> Option<Op> {
        let x = self.rng.pick(visible);
        let t = self.f.ty(x).clone();
        let rank = t.rank();
        let axis = self.rng.below(rank);
        let prim = match self.rng.below(24) {
            0..=3 => Prim::Unary(self.rng.pick(Unary::ALL)),
            4..=8 => {
                let y = self.like(visible, x);
                let op = self.rng.pick(Binary::ALL);
                return self.finish(Prim::Binary(op), &[x, y], vec![]);
            }
            9 => {
                let y = self.like(visible, x);
                let order = if t.dtype().is_float() { self.rng.pick(SortOrder::ALL) } else { SortOrder::Ieee };
                let direction = self.rng.pick(Direction::ALL);
                return self.finish(Prim::Compare { direction, order }, &[x, y], vec![]);
            }
            10 => {
                let (p, y) = (self.rng.pick(visible), self.like(visible, x));
                return self.finish(Prim::Select {}, &[p, x, y], vec![]);
            }
            11 => Prim::Convert { dtype: self.rng.pick(&DTYPES) },
            12 | 13 => {
                let shape = t.shape.clone();
                let scalar = tensor(&mut self.rng, t.dtype(), &[]);
                return self.finish(Prim::Constant { value: Literal::Splat(scalar, shape) }, &[], vec![]);
            }
            14 => {
                let shape: Vec<usize> = (0..self.rng.below(3)).map(|_| 1 + self.rng.below(3)).collect();
                let dtype = self.rng.pick(&DTYPES);
                let dense = tensor(&mut self.rng, dtype, &shape);
                return self.finish(Prim::Constant { value: Literal::Dense(dense) }, &[], vec![]);
            }
            15 => {
                let shape = self.shape();
                let mut dims: Vec<usize> = (0..shape.rank()).collect();
                while dims.len() > rank {
                    let i = self.rng.below(dims.len());
                    dims.remove(i);
                }
                Prim::BroadcastInDim { shape, dims }
            }
            16 => {
                let mut dims: Vec<Dim> = t.shape.iter().copied().collect();
                let (n, at) = (dims.len(), self.rng.below(dims.len() + 1));
                if n >= 2 && self.rng.once_in(2) {
                    let (a, b) = (dims.remove(0), dims[0]);
                    dims[0] = a * b;
                } else {
                    dims.insert(at, Dim::constant(1));
                }
                Prim::Reshape { shape: dims.into_iter().collect() }
            }
            17 => {
                let mut perm: Vec<usize> = (0..rank).collect();
                for i in (1..rank).rev() {
                    let j = self.rng.below(i + 1);
                    perm.swap(i, j);
                }
                Prim::Transpose { perm }
            }
            18 => {
                let start: Vec<Dim> = t.shape.iter().map(|_| Dim::constant(self.rng.below(2) as i64)).collect();
                let stride = t.shape.iter().map(|_| 1 + self.rng.below(2) as i64).collect();
                Prim::Slice { start, limit: t.shape.iter().copied().collect(), stride }
            }
            19 => {
                let y = self.rng.pick(visible);
                return self.finish(Prim::Concatenate { axis }, &[x, y], vec![]);
            }
            20 => Prim::Reduce { op: self.rng.pick(Reducer::ALL), axes: if rank == 0 { vec![] } else { vec![axis] } },
            21 => match self.rng.below(4) {
                0 => Prim::Cumulative { op: self.rng.pick(CumOp::ALL), axis, reverse: self.rng.once_in(2) },
                1 => Prim::Sort { axis, keys: SortKeys(vec![self.rng.once_in(2)]), stable: true },
                2 => Prim::Argmax { axis },
                _ => Prim::Reverse { axes: if rank == 0 { vec![] } else { vec![axis] } },
            },
            22 => {
                let y = self.like(visible, x);
                let all: Vec<usize> = (0..rank.min(1)).collect();
                let contract = AxisPair { lhs: all.clone(), rhs: all };
                return self.finish(
                    Prim::Dot { batch: AxisPair::default(), contract, accumulate: None },
                    &[x, y],
                    vec![],
                );
            }
            _ => {
                let value = self.rng.pick(visible);
                let each = |rng: &mut Rng| t.shape.iter().map(|_| rng.below(3) as i64 - 1).map(Dim::constant).collect();
                let (low, high) = (each(&mut self.rng), each(&mut self.rng));
                let interior = t.shape.iter().map(|_| self.rng.below(2) as i64).collect();
                return self.finish(Prim::Pad { low, high, interior }, &[x, value], vec![]);
            }
        };
        self.finish(prim, &[x], vec![])
    }
}
