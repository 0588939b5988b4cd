//! For every primitive: StableHLO has it, or what it becomes. The exhaustive match.

use super::{
    ExpandOptions, arithmetic, complex, conversion, cumulative, elementary, error_function, extremes, fourier, gamma,
    library, linalg, ordering, pooling, random, reductions,
};
use evoxc_core::{BF16, DType, F16, F32, F64, OpError};
use evoxc_ir::{Binary, Direction, Prim, Reducer, ScatterOp, SortOrder, TensorType, Unary};
use evoxc_trace::Sym;
use smallvec::{SmallVec, smallvec};

/// What stands for the results of an op.
pub(super) type Syms = SmallVec<[Sym; 1]>;

/// Writes a form.
pub(super) type Form<'a> = Box<dyn Fn(&[Sym]) -> Result<Syms, OpError> + 'a>;

/// What becomes of an op.
pub(super) enum Rule<'a> {
    /// StableHLO has it.
    Has,
    /// This, of the operands.
    Write(Form<'a>),
    /// StableHLO has it, but for this, of its operands and its results.
    Finish(Box<dyn Fn(&[Sym], &[Sym]) -> Result<Syms, OpError> + 'a>),
    /// StableHLO has it, but not for all operands on every consumer: this, in which it stands again.
    Around(Form<'a>),
    /// Its operand.
    Identity,
    /// Nothing.
    Drop,
    /// A loop, whose body is the op's.
    Scan,
    /// An error.
    Refuse(OpError),
}

fn one<'a, const N: usize>(f: impl Fn([Sym; N]) -> Sym + 'a) -> Rule<'a> {
    many(move |x| Ok(smallvec![f(x)]))
}

fn many<'a, const N: usize>(f: impl Fn([Sym; N]) -> Result<Syms, OpError> + 'a) -> Rule<'a> {
    Rule::Write(Box::new(move |x| {
        let x = <[Sym; N]>::try_from(x).map_err(|_| OpError::new("", format!("it takes {N} operands")))?;
        f(x)
    }))
}

/// Of one operand, the half types computed in f32 and rounded once.
fn real<'a>(f: fn(Sym) -> Sym) -> Rule<'a> {
    one(move |[x]| {
        let d = x.dtype();
        f(x.cast(d.accumulator())).cast(d)
    })
}

/// Of one operand, real or complex; c64 is computed in c128.
fn field<'a>(d: DType, f: fn(Sym) -> Sym, z: fn(complex::Parts) -> complex::Parts) -> Rule<'a> {
    if d.is_complex() { one(move |[x]| z(complex::Parts::wide(x)).whole(x.dtype())) } else { real(f) }
}

/// The same where no digits cancel: c64 is computed as it is.
fn narrow<'a>(d: DType, f: fn(Sym) -> Sym, z: fn(complex::Parts) -> complex::Parts) -> Rule<'a> {
    if d.is_complex() { one(move |[x]| z(complex::Parts::of(x)).whole(x.dtype())) } else { real(f) }
}

/// The rule of an op with operands of these types.
pub(super) fn rule<'a>(prim: &'a Prim, types: &[TensorType], options: &ExpandOptions) -> Rule<'a> {
    let dtype = types.first().map_or(F32, |t| t.dtype);
    let half = matches!(dtype, F16 | BF16);
    match prim {
        Prim::Unary(u) => unary(*u, dtype, options),
        Prim::Binary(b) => binary(*b, dtype, options),
        Prim::Compare { direction, order } => match (dtype.is_complex(), direction, order) {
            (false, ..) | (true, Direction::Eq | Direction::Ne, SortOrder::Ieee) => Rule::Has,
            (true, ..) => one(move |[a, b]| complex::compare(*direction, *order, a, b)),
        },
        Prim::Clamp {} if dtype.is_complex() => one(|[low, x, high]| {
            let (low, high) = (low.broadcast_to(x.shape()), high.broadcast_to(x.shape()));
            complex::extreme(false, complex::extreme(true, x, low), high)
        }),
        Prim::Convert { dtype: to } => conversion::convert(dtype, *to, options),
        Prim::Dot { batch, contract, accumulate } => conversion::dot(dtype, batch, contract, *accumulate),
        Prim::Convolution { accumulate, .. } => conversion::convolution(prim, dtype, *accumulate),
        Prim::Reduce { op, .. } | Prim::ReduceWindow { op, .. } => match op {
            Reducer::Sum | Reducer::Prod if half => {
                one(move |[x]| super::parts::emit(prim.clone(), &[x.cast(F32)]).cast(x.dtype()))
            }
            Reducer::Max | Reducer::Min if dtype.is_complex() => {
                many(move |[x]| reductions::complex_extremes(prim, *op == Reducer::Max, x))
            }
            Reducer::Sum | Reducer::Prod | Reducer::Max | Reducer::Min | Reducer::And | Reducer::Or => Rule::Has,
        },
        Prim::Scatter { op, dims, sorted, unique } => match op {
            ScatterOp::Max | ScatterOp::Min if dtype.is_complex() => {
                many(move |x| reductions::complex_scatter(*op == ScatterOp::Max, dims.clone(), *sorted, *unique, x))
            }
            ScatterOp::Set | ScatterOp::Add | ScatterOp::Mul | ScatterOp::Max | ScatterOp::Min => Rule::Has,
        },
        Prim::SelectAndScatter { select, window } if options.lean => {
            many(move |[x, y]| pooling::gradient(*select, window, x, y).map(|y| smallvec![y]))
        }
        Prim::SelectAndScatter { select, window } => many(move |[x, y]| reductions::pool(*select, window, x, y)),
        Prim::Argmax { axis } => one(move |[x]| extremes::first(x, *axis, true)),
        Prim::Argmin { axis } => one(move |[x]| extremes::first(x, *axis, false)),
        Prim::Cumulative { op, axis, reverse } => {
            many(move |[x]| cumulative::cumulative(*op, x, *axis, *reverse).map(|y| smallvec![y]))
        }
        Prim::Sort { axis, keys, stable: true } if options.lean && types.len() > 1 => {
            Rule::Write(Box::new(move |xs| ordering::sort_by_position(xs, *axis, &keys.0)))
        }
        Prim::Sort { axis, keys, stable } => {
            let stable = *stable && !options.lean;
            Rule::Write(Box::new(move |xs| ordering::sort(xs, *axis, &keys.0, stable)))
        }
        Prim::TopK { .. } if options.chlo => Rule::Has,
        Prim::TopK { k } => {
            let stable = !options.lean;
            many(move |[x]| ordering::top_k(x, *k, stable))
        }
        Prim::RandomBits { algorithm, dtype, shape } => one(move |[key]| random::bits(key, *algorithm, *dtype, shape)),
        Prim::StopGradient {} => Rule::Identity,
        Prim::Print { .. } if options.drop_prints => Rule::Drop,
        Prim::Print { label } => Rule::Refuse(
            OpError::new("print", format!("StableHLO has no effects, so it cannot print `{label}`"))
                .remedy("export with `drop_prints`, return the value, or run it on `Interp`"),
        ),
        Prim::Scan { .. } => Rule::Scan,
        Prim::Cholesky { lower } if options.lean => many(|[a]| linalg::cholesky(a, *lower).map(|l| smallvec![l])),
        Prim::TriangularSolve { left, lower, unit_diagonal, transpose } if options.lean => {
            many(|[a, b]| linalg::solve(a, b, *left, *lower, *unit_diagonal, *transpose).map(|x| smallvec![x]))
        }
        Prim::Fft { kind, length } if options.lean => many(|[x]| fourier::fft(x, *kind, length).map(|y| smallvec![y])),
        Prim::Cholesky { lower } => {
            Rule::Finish(Box::new(|_, y| Ok(y.iter().map(|&l| linalg::cleared(l, *lower)).collect())))
        }
        Prim::Lu {} => many(|[a]| linalg::lu(a)),
        Prim::Qr { full } => many(|[a]| linalg::qr(a, *full)),
        Prim::Eigh {} => many(|[a]| linalg::eigh(a)),
        Prim::Svd { full } => many(|[a]| linalg::svd(a, *full)),
        Prim::Select {}
        | Prim::Clamp {}
        | Prim::BitcastConvert { .. }
        | Prim::ReducePrecision { .. }
        | Prim::Constant { .. }
        | Prim::Iota { .. }
        | Prim::DimSize { .. }
        | Prim::BroadcastInDim { .. }
        | Prim::Reshape { .. }
        | Prim::Transpose { .. }
        | Prim::Slice { .. }
        | Prim::Pad { .. }
        | Prim::Concatenate { .. }
        | Prim::Reverse { .. }
        | Prim::Gather { .. }
        | Prim::ScatterBody { .. }
        | Prim::DynamicSlice { .. }
        | Prim::DynamicUpdateSlice {}
        | Prim::ReduceBody { .. }
        | Prim::ReduceWindowBody { .. }
        | Prim::SelectAndScatterBody { .. }
        | Prim::SortBody { .. }
        | Prim::Fft { .. }
        | Prim::TriangularSolve { .. }
        | Prim::Cond {}
        | Prim::Switch {}
        | Prim::WhileLoop {}
        | Prim::Call { .. }
        | Prim::AllReduce { .. }
        | Prim::AllReduceBody { .. }
        | Prim::AllGather { .. }
        | Prim::ReduceScatter { .. }
        | Prim::ReduceScatterBody { .. }
        | Prim::AllToAll { .. }
        | Prim::CollectivePermute { .. }
        | Prim::CollectiveBroadcast { .. }
        | Prim::RankIndex { .. }
        | Prim::OptimizationBarrier {} => Rule::Has,
    }
}

fn unary<'a>(u: Unary, d: DType, options: &ExpandOptions) -> Rule<'a> {
    let or = |rule: Rule<'a>| if options.chlo { Rule::Has } else { rule };
    match u {
        Unary::Expm1 if options.lean && d == F64 => one(|[x]| library::expm1(x)),
        Unary::Log1p if options.lean && d == F64 => one(|[x]| library::log1p(x)),
        Unary::Tanh if options.lean && d == F64 => one(|[x]| library::tanh(x)),
        Unary::Cbrt if options.lean && d.is_float() => real(library::cbrt),
        Unary::Abs if options.lean && d.is_complex() => one(|[z]| linalg::hypot(z.real(), z.imag())),
        Unary::Exp
        | Unary::Expm1
        | Unary::Log
        | Unary::Log1p
        | Unary::Sqrt
        | Unary::Rsqrt
        | Unary::Cbrt
        | Unary::Sin
        | Unary::Cos
        | Unary::Tan
        | Unary::Tanh
        | Unary::Logistic
        | Unary::Floor
        | Unary::Ceil
        | Unary::RoundEven
        | Unary::RoundAway
        | Unary::Neg
        | Unary::Not
        | Unary::Popcount
        | Unary::CountLeadingZeros
        | Unary::IsFinite => Rule::Has,
        Unary::Exp2 => field(d, elementary::exp2, complex::exp2),
        Unary::Log2 => field(d, elementary::log2, complex::log2),
        Unary::Asin => or(field(d, elementary::asin, complex::asin)),
        Unary::Acos => or(field(d, elementary::acos, complex::acos)),
        Unary::Atan => or(field(d, elementary::atan, complex::atan)),
        Unary::Sinh => or(narrow(d, elementary::sinh, complex::sinh)),
        Unary::Cosh => or(narrow(d, elementary::cosh, complex::cosh)),
        Unary::Asinh => or(field(d, elementary::asinh, complex::asinh)),
        Unary::Acosh => or(field(d, elementary::acosh, complex::acosh)),
        Unary::Atanh => or(field(d, elementary::atanh, complex::atanh)),
        Unary::Erf => or(real(error_function::erf)),
        Unary::Erfc => or(real(error_function::erfc)),
        Unary::ErfInv => or(real(error_function::erf_inv)),
        Unary::Lgamma => or(real(gamma::lgamma)),
        Unary::Digamma => or(real(gamma::digamma)),
        Unary::Trunc => real(elementary::trunc),
        Unary::Abs if d.is_unsigned() => Rule::Identity,
        Unary::Sign if d.is_unsigned() => one(|[x]| x.minimum(1)),
        Unary::Abs | Unary::Sign => Rule::Has,
        Unary::Real | Unary::Imag if d.is_complex() => Rule::Has,
        Unary::Real => Rule::Identity,
        Unary::Imag => one(|[x]| x.zeros_like()),
        Unary::Conj if d.is_complex() => or(one(|[x]| x.real().complex(-x.imag()))),
        Unary::Conj => Rule::Identity,
    }
}

fn binary<'a>(b: Binary, d: DType, options: &ExpandOptions) -> Rule<'a> {
    match b {
        Binary::Max if d.is_complex() => one(|[a, b]| complex::extreme(true, a, b)),
        Binary::Min if d.is_complex() => one(|[a, b]| complex::extreme(false, a, b)),
        Binary::Pow if options.lean && d.is_float() => Rule::Around(Box::new(|x| match x {
            [x, y] => Ok(smallvec![library::pow(*x, *y)]),
            _ => Err(OpError::new("", "it takes 2 operands")),
        })),
        Binary::Atan2 if options.lean => one(|[y, x]| {
            let d = y.dtype();
            library::atan2(y.cast(d.accumulator()), x.cast(d.accumulator())).cast(d)
        }),
        Binary::Nextafter if !options.chlo => one(|[a, b]| arithmetic::nextafter(a, b)),
        Binary::Mulhi => one(|[a, b]| arithmetic::mulhi(a, b)),
        Binary::Add
        | Binary::Sub
        | Binary::Mul
        | Binary::Div
        | Binary::Rem
        | Binary::Pow
        | Binary::Max
        | Binary::Min
        | Binary::Atan2
        | Binary::Nextafter
        | Binary::And
        | Binary::Or
        | Binary::Xor
        | Binary::ShiftLeft
        | Binary::ShiftRightLogical
        | Binary::ShiftRightArithmetic
        | Binary::Complex => Rule::Has,
    }
}
