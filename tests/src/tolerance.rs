//! How far a result may be from the expected one. The one table of tolerances: by category of op and dtype.
//!
//! | category | unit: steps of the expected element | and of the largest expected element | why |
//! |---|---|---|---|
//! | exact | 0, and the sign of zero counts | 0 | movement of data, integers, comparisons; + − × ÷ √ and remainders of reals, which IEEE 754 rounds once |
//! | elementwise | 4 | 0 | complex × ÷, moduli: a few roundings, measured by the modulus of the error |
//! | transcendental | 8 (halves: 2) | 0 | functions from a mathematical library |
//! | reduction | 4 | 4 | sums in another order lose digits to cancellation |
//! | contraction | 4 | 16 | the same, of products |
//! | linalg | 0 | 128 | normwise backward-stable algorithms on well-conditioned inputs |
//!
//! A step is the machine epsilon of the dtype times the magnitude, at least the smallest subnormal. In every category
//! NaN equals NaN only, an infinity equals itself only, and integers and booleans are exact.

use evoxc_core::{DType, Tensor};
use evoxc_ir::{Binary, CumOp, Module, Prim, Reducer, Region, ScatterOp, Unary};
use num_complex::Complex;
use std::fmt;

/// The category of a tolerance; later ones are wider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// The same bits, apart from the payload of NaN.
    Exact,
    /// A few roundings an element.
    Elementwise,
    /// Functions from a mathematical library.
    Transcendental,
    /// Sums and products along axes.
    Reduction,
    /// Sums of products.
    Contraction,
    /// Fourier transforms and factorisations.
    Linalg,
}

impl Category {
    /// Every one, from the narrowest.
    pub const ALL: [Category; 6] = [
        Category::Exact,
        Category::Elementwise,
        Category::Transcendental,
        Category::Reduction,
        Category::Contraction,
        Category::Linalg,
    ];
    /// The name in `// tol:` lines.
    pub fn name(self) -> &'static str {
        match self {
            Category::Exact => "exact",
            Category::Elementwise => "elementwise",
            Category::Transcendental => "transcendental",
            Category::Reduction => "reduction",
            Category::Contraction => "contraction",
            Category::Linalg => "linalg",
        }
    }
    /// The inverse of [`Category::name`].
    pub fn from_name(name: &str) -> Option<Category> {
        Category::ALL.into_iter().find(|c| c.name() == name)
    }
    /// How far a derivative in f64 may be from differences of fourth order with steps of 2.5e-4, relative to its largest
    /// element: their truncation and cancellation, with a margin.
    pub fn numerical(self) -> f64 {
        match self {
            Category::Exact | Category::Elementwise | Category::Transcendental => 1e-8,
            Category::Reduction | Category::Contraction => 1e-8,
            Category::Linalg => 1e-7,
        }
    }
    /// Steps of the element, and of the largest element.
    pub(crate) fn steps(self, half: bool) -> (f64, f64) {
        match self {
            Category::Exact => (0.0, 0.0),
            Category::Elementwise => (4.0, 0.0),
            Category::Transcendental => (if half { 2.0 } else { 8.0 }, 0.0),
            Category::Reduction => (4.0, 4.0),
            Category::Contraction => (4.0, 16.0),
            Category::Linalg => (0.0, 128.0),
        }
    }
    /// What a program needs when its case does not say: the widest category of its ops.
    pub fn of(module: &Module) -> Category {
        module.funcs.iter().map(|f| of_region(&f.body, &|v| f.ty(v).dtype())).max().unwrap_or(Category::Exact)
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn of_region(r: &Region, dtype: &dyn Fn(evoxc_ir::Value) -> DType) -> Category {
    let of_op = |op: &evoxc_ir::Op| {
        let inside = op.regions.iter().map(|r| of_region(r, dtype)).max().unwrap_or(Category::Exact);
        let dtypes = || op.operands.iter().chain(&op.results).map(|&v| dtype(v));
        let own = match dtypes().any(|d| d.is_float() || d.is_complex()) {
            true => of_prim(&op.prim, dtypes().any(DType::is_complex)),
            false => Category::Exact,
        };
        inside.max(own)
    };
    r.ops.iter().map(of_op).max().unwrap_or(Category::Exact)
}

/// The category of an op on floats.
pub(crate) fn of_prim(prim: &Prim, complex: bool) -> Category {
    use Category::*;
    let rounded = if complex { Elementwise } else { Exact };
    match prim {
        Prim::Unary(u) => of_unary(*u, complex),
        Prim::Binary(b) => match b {
            Binary::Mul | Binary::Div => rounded,
            Binary::Pow | Binary::Atan2 => Transcendental,
            Binary::Add
            | Binary::Sub
            | Binary::Rem
            | Binary::Max
            | Binary::Min
            | Binary::Nextafter
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::ShiftLeft
            | Binary::ShiftRightLogical
            | Binary::ShiftRightArithmetic
            | Binary::Complex
            | Binary::Mulhi => Exact,
        },
        Prim::Scatter { op, .. } => match op {
            ScatterOp::Mul => rounded,
            ScatterOp::Set | ScatterOp::Add | ScatterOp::Min | ScatterOp::Max => Exact,
        },
        Prim::Reduce { op, .. }
        | Prim::ReduceWindow { op, .. }
        | Prim::AllReduce { op, .. }
        | Prim::ReduceScatter { op, .. } => match op {
            Reducer::Sum | Reducer::Prod => Reduction,
            Reducer::Max | Reducer::Min | Reducer::And | Reducer::Or => Exact,
        },
        Prim::Cumulative { op, .. } => match op {
            CumOp::Sum | CumOp::Prod => Reduction,
            CumOp::Logsumexp => Transcendental,
            CumOp::Max | CumOp::Min => Exact,
        },
        Prim::SelectAndScatter { .. } => Reduction,
        Prim::Dot { .. } | Prim::Convolution { .. } => Contraction,
        Prim::Fft { .. }
        | Prim::Cholesky { .. }
        | Prim::TriangularSolve { .. }
        | Prim::Lu { .. }
        | Prim::Qr { .. }
        | Prim::Eigh { .. }
        | Prim::Svd { .. } => Linalg,
        // Their regions tell; without a region these move data.
        Prim::AllReduceBody { .. }
        | Prim::ReduceScatterBody { .. }
        | Prim::AllGather { .. }
        | Prim::AllToAll { .. }
        | Prim::CollectivePermute { .. }
        | Prim::CollectiveBroadcast { .. }
        | Prim::RankIndex { .. }
        | Prim::ScatterBody { .. }
        | Prim::ReduceBody { .. }
        | Prim::ReduceWindowBody { .. }
        | Prim::SelectAndScatterBody { .. }
        | Prim::SortBody { .. }
        | Prim::Cond { .. }
        | Prim::Switch { .. }
        | Prim::WhileLoop { .. }
        | Prim::Scan { .. }
        | Prim::Call { .. }
        | Prim::Compare { .. }
        | Prim::Select { .. }
        | Prim::Clamp { .. }
        | Prim::Convert { .. }
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
        | Prim::DynamicSlice { .. }
        | Prim::DynamicUpdateSlice { .. }
        | Prim::Argmax { .. }
        | Prim::Argmin { .. }
        | Prim::Sort { .. }
        | Prim::TopK { .. }
        | Prim::RandomBits { .. }
        | Prim::OptimizationBarrier { .. }
        | Prim::StopGradient { .. }
        | Prim::Print { .. } => Exact,
    }
}

fn of_unary(u: Unary, complex: bool) -> Category {
    use Category::*;
    match u {
        Unary::Sqrt => {
            if complex {
                Transcendental
            } else {
                Exact
            }
        }
        Unary::Abs | Unary::Sign => {
            if complex {
                Elementwise
            } else {
                Exact
            }
        }
        Unary::Exp
        | Unary::Exp2
        | Unary::Expm1
        | Unary::Log
        | Unary::Log2
        | Unary::Log1p
        | Unary::Rsqrt
        | Unary::Cbrt
        | Unary::Sin
        | Unary::Cos
        | Unary::Tan
        | Unary::Asin
        | Unary::Acos
        | Unary::Atan
        | Unary::Sinh
        | Unary::Cosh
        | Unary::Tanh
        | Unary::Asinh
        | Unary::Acosh
        | Unary::Atanh
        | Unary::Logistic
        | Unary::Erf
        | Unary::Erfc
        | Unary::ErfInv
        | Unary::Lgamma
        | Unary::Digamma => Transcendental,
        Unary::Floor
        | Unary::Ceil
        | Unary::RoundEven
        | Unary::RoundAway
        | Unary::Trunc
        | Unary::Neg
        | Unary::Not
        | Unary::Popcount
        | Unary::CountLeadingZeros
        | Unary::IsFinite
        | Unary::Real
        | Unary::Imag
        | Unary::Conj => Exact,
    }
}

/// Machine epsilon and smallest subnormal of the (parts of the) dtype.
pub(crate) fn precision(d: DType) -> (f64, f64) {
    match d.real() {
        DType::F16 => (2f64.powi(-10), 2f64.powi(-24)),
        DType::BF16 => (2f64.powi(-7), 2f64.powi(-133)),
        DType::F32 => (f64::from(f32::EPSILON), 2f64.powi(-149)),
        _ => (f64::EPSILON, f64::from_bits(1)),
    }
}

fn same_float(a: f64, e: f64) -> bool {
    a.to_bits() == e.to_bits() || (a.is_nan() && e.is_nan())
}

/// The largest distance between two elements at the same place; infinite where only one is finite.
pub fn distance(a: &Tensor, b: &Tensor) -> f64 {
    let wide = |t: &Tensor| t.cast(DType::C128).and_then(|t| t.to_vec::<Complex<f64>>()).unwrap_or_default();
    let one = |(a, b): (&Complex<f64>, &Complex<f64>)| {
        let same = same_float(a.re, b.re) && same_float(a.im, b.im);
        let d = (a - b).norm();
        if same {
            0.0
        } else if d.is_nan() {
            f64::INFINITY
        } else {
            d
        }
    };
    if a.spec() != b.spec() {
        return f64::INFINITY;
    }
    wide(a).iter().zip(&wide(b)).map(one).fold(0.0, f64::max)
}

/// Is the actual result the expected one, within the tolerance of the category?
///
/// # Errors
/// What differs first, for people.
pub fn compare(actual: &Tensor, expected: &Tensor, category: Category) -> Result<(), String> {
    if actual.spec() != expected.spec() {
        return Err(format!("expected a {}, got a {}", expected.spec(), actual.spec()));
    }
    let d = expected.dtype();
    if !(d.is_float() || d.is_complex()) {
        return if actual.bit_eq(expected) { Ok(()) } else { Err(format!("expected {expected}, got {actual}")) };
    }
    let wide = |t: &Tensor| -> Result<Vec<Complex<f64>>, String> {
        let all = if d.is_complex() { t.cast(DType::C128) } else { t.cast(DType::F64) }.map_err(|e| e.to_string())?;
        if d.is_complex() {
            all.to_vec::<Complex<f64>>().map_err(|e| e.to_string())
        } else {
            let reals = all.to_vec::<f64>().map_err(|e| e.to_string())?;
            Ok(reals.into_iter().map(|re| Complex::new(re, 0.0)).collect())
        }
    };
    let (a, e) = (wide(actual)?, wide(expected)?);
    let (eps, least) = precision(d);
    let (own, largest) = category.steps(matches!(d, DType::F16 | DType::BF16));
    let finite = |z: &Complex<f64>| z.re.is_finite() && z.im.is_finite();
    let magnitude = |z: &Complex<f64>| z.re.hypot(z.im);
    let norm = e.iter().filter(|z| finite(z)).map(magnitude).fold(0.0, f64::max);
    for (i, (a, e)) in a.iter().zip(&e).enumerate() {
        if same_float(a.re, e.re) && same_float(a.im, e.im) {
            continue;
        }
        let allowed = own * (eps * magnitude(e)).max(least) + largest * eps * norm;
        let error = magnitude(&(a - e));
        if category == Category::Exact || !finite(a) || !finite(e) || error > allowed {
            let steps = error / (eps * magnitude(e)).max(least);
            let show =
                |z: &Complex<f64>| if d.is_complex() { format!("({}, {})", z.re, z.im) } else { z.re.to_string() };
            return Err(format!(
                "element {i}: expected {}, got {} ({steps:.1} steps apart; tolerance {category})\n    expected {expected}\n    got      {actual}",
                show(e),
                show(a)
            ));
        }
    }
    Ok(())
}
