//! Machine ops evaluated on blocks of elements, by the meaning that `uop` gives them.

use crate::kernel::Kernel;
use crate::uop::{Alu, LibFn, Op, UOp, alu, cast};
use evoxc_core::DType;
use evoxc_reference::scalar;

/// The value of a kernel's one store, as a list of ops; loads take column n of the inputs for buffer n.
pub(super) struct Program {
    nodes: Vec<(Op, DType, DType, Vec<usize>)>,
    /// Buffers of the values of the nodes.
    columns: Vec<Vec<u64>>,
}

impl Program {
    /// # Panics
    /// For what is no machine op on a dtype of the machine.
    pub(super) fn new(kernel: &Kernel) -> Program {
        let value = kernel.uops.src(kernel.stores[0])[2];
        let mut needed = vec![false; kernel.uops.len()];
        needed[value.index()] = true;
        for (u, node) in kernel.uops.iter().rev() {
            if needed[u.index()] && node.op != Op::Load {
                node.src.iter().for_each(|s| needed[s.index()] = true);
            }
        }
        let mut place = vec![0; kernel.uops.len()];
        let mut nodes = vec![];
        for (u, node) in kernel.uops.iter().filter(|(u, _)| needed[u.index()]) {
            let of = node.src.last().map_or(node.ty.dtype, |&s| kernel.uops.ty(s).dtype);
            check(kernel, u);
            let src = match node.op {
                Op::Load => match kernel.uops.op(node.src[0]) {
                    Op::Buffer(n) => vec![n as usize],
                    op => panic!("a load from {op:?}"),
                },
                _ => node.src.iter().map(|s| place[s.index()]).collect(),
            };
            place[u.index()] = nodes.len();
            nodes.push((node.op, node.ty.dtype, of, src));
        }
        let columns = vec![vec![]; nodes.len()];
        Program { nodes, columns }
    }
    /// The number of ops that machines carry out: constants, loads and bitcasts are free.
    pub(super) fn ops(&self) -> usize {
        self.nodes.iter().filter(|n| !matches!(n.0, Op::Const(_) | Op::Load | Op::Bitcast)).count()
    }
    /// The values, of as many elements as the inputs have.
    pub(super) fn run(&mut self, inputs: &[&[u64]]) -> &[u64] {
        let n = inputs[0].len();
        for at in 0..self.nodes.len() {
            let (op, to, of, src) = &self.nodes[at];
            let mut out = std::mem::take(&mut self.columns[at]);
            out.clear();
            let column = |i: usize| &self.columns[src[i]][..n];
            match *op {
                Op::Const(bits) => out.resize(n, bits),
                Op::Load => out.extend_from_slice(inputs[src[0]]),
                Op::Bitcast => out.extend_from_slice(column(0)),
                Op::Cast => out.extend(column(0).iter().map(|&x| cast(*of, *to, x))),
                Op::Alu(op) => apply(op, *of, n, &column, src.len(), &mut out),
                Op::Call(f) => {
                    let arity = f.arity();
                    let gate = (src.len() > arity).then(|| (column(arity), column(arity + 1)));
                    out.extend((0..n).map(|i| match gate {
                        Some((gate, otherwise)) if gate[i] == 0 => otherwise[i],
                        _ => call(f, column(0)[i], column(arity - 1)[i]),
                    }));
                }
                op => panic!("{op:?}"),
            }
            self.columns[at] = out;
        }
        self.columns.last().map_or(&[], |c| c)
    }
}

fn apply<'a>(op: Alu, of: DType, n: usize, column: &dyn Fn(usize) -> &'a [u64], arity: usize, out: &mut Vec<u64>) {
    let (a, b, c) = (column(0), column(1.min(arity - 1)), column(arity - 1));
    let triples = a.iter().zip(b).zip(c);
    let f = |x: u64| f32::from_bits(x as u32);
    // Those that sweeps spend their time with.
    match (op, of) {
        (Alu::Fma, DType::F32) => {
            out.extend(triples.map(|((&a, &b), &c)| u64::from(f(a).mul_add(f(b), f(c)).to_bits())));
        }
        (Alu::Mul, DType::F32) => out.extend(triples.map(|((&a, &b), _)| u64::from((f(a) * f(b)).to_bits()))),
        (Alu::Add, DType::F32) => out.extend(triples.map(|((&a, &b), _)| u64::from((f(a) + f(b)).to_bits()))),
        (Alu::Sub, DType::F32) => out.extend(triples.map(|((&a, &b), _)| u64::from((f(a) - f(b)).to_bits()))),
        (Alu::Select, _) => out.extend(triples.map(|((&a, &b), &c)| if a != 0 { b } else { c })),
        _ => out.extend((0..n).map(|i| alu(op, of, [a[i], b[i], c[i]]))),
    }
}

fn call(f: LibFn, a: u64, b: u64) -> u64 {
    let single = |x: u64| f32::from_bits(x as u32);
    match f {
        LibFn::Unary(op, true) => scalar::unary_f32(op, single(a)).unwrap().to_bits().into(),
        LibFn::Unary(op, false) => scalar::unary_f64(op, f64::from_bits(a)).unwrap().to_bits(),
        LibFn::Binary(op, true) => scalar::binary_f32(op, single(a), single(b)).unwrap().to_bits().into(),
        LibFn::Binary(op, false) => scalar::binary_f64(op, f64::from_bits(a), f64::from_bits(b)).unwrap().to_bits(),
    }
}

/// Is the node of the machine?
fn check(kernel: &Kernel, u: UOp) {
    let node = kernel.uops.get(u);
    let dtypes: Vec<DType> = node.src.iter().map(|&s| kernel.uops.ty(s).dtype).collect();
    let float = |d: DType| matches!(d, DType::F32 | DType::F64);
    let int = |d: DType| matches!(d, DType::I32 | DType::I64 | DType::U32 | DType::U64);
    let fine = match node.op {
        Op::Const(bits) => node.ty.dtype.size() == 8 || bits >> (8 * node.ty.dtype.size()) == 0,
        Op::Load => true,
        Op::Cast => true,
        Op::Bitcast => dtypes[0].size() == node.ty.dtype.size(),
        Op::Call(f) => {
            dtypes[..f.arity()].iter().all(|&d| d == node.ty.dtype && float(d))
                && (dtypes.len() == f.arity() || dtypes[f.arity()..] == [DType::BOOL, node.ty.dtype])
        }
        Op::Alu(Alu::Select) => dtypes == [DType::BOOL, node.ty.dtype, node.ty.dtype],
        Op::Alu(op) => {
            let d = dtypes[0];
            let of_dtype = match op {
                Alu::Add | Alu::Sub | Alu::Mul | Alu::Min | Alu::Max | Alu::Neg | Alu::Lt | Alu::Le => {
                    float(d) || int(d)
                }
                Alu::Eq | Alu::Ne => float(d) || int(d) || d == DType::BOOL,
                Alu::Div | Alu::Abs | Alu::Sqrt | Alu::Floor | Alu::Ceil | Alu::RoundEven | Alu::Trunc | Alu::Fma => {
                    float(d)
                }
                Alu::IntDiv | Alu::IntRem | Alu::MulHigh | Alu::Shl | Alu::Shr | Alu::Sar => int(d),
                Alu::And | Alu::Or | Alu::Xor | Alu::Not => int(d) || d == DType::BOOL,
                Alu::Select => true,
            };
            let to = if op.is_comparison() { DType::BOOL } else { d };
            of_dtype && dtypes.iter().all(|&x| x == d) && dtypes.len() == op.arity() && node.ty.dtype == to
        }
        _ => false,
    };
    assert!(fine, "{node:?} of {dtypes:?}");
}
