//! The one table of primitive ops. The enums, names, attribute lists and documentation rows below come from it; every
//! further aspect (types, kernels, rules …) is one exhaustive `match` over [`Prim`], [`Unary`] or [`Binary`] elsewhere.

use crate::attr::*;
use evoxc_core::{DType, Dim, Shape};

/// The group of an op, as in the tables of the documentation.
///
/// ```
/// use evoxc::ir::{Category, TABLE};
/// let mut linalg = TABLE.iter().filter(|row| row.category == Category::Linalg);
/// assert!(linalg.any(|row| row.name == "cholesky"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Category {
    /// One operand, floating-point.
    UnaryFloat,
    /// One operand, several kinds of dtype.
    UnaryAny,
    /// Two operands of one type.
    Binary,
    /// select, clamp.
    Ternary,
    /// Changes of dtype.
    Conversion,
    /// Values from nothing.
    Constant,
    /// Movement of data.
    Shape,
    /// gather, scatter, dynamic slices.
    Indexing,
    /// dot, convolution.
    Contraction,
    /// Reductions, windows, scans of an axis.
    Reduction,
    /// sort, top_k.
    Ordering,
    /// Fourier transforms and factorisations.
    Linalg,
    /// Control flow.
    Control,
    /// Random bits.
    Random,
    /// Exchange of values between processes.
    Collective,
    /// Barriers and debugging.
    Escape,
}

/// One row of the table, as data.
///
/// ```
/// use evoxc::ir::TABLE;
/// let row = TABLE.iter().find(|row| row.name == "iota").unwrap();
/// assert_eq!(row.attributes, ["dtype", "shape", "axis"]);
/// println!("{}: {}", row.name, row.doc);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OpRow {
    /// The name as printed, without the dialect; ends in `_` where a kind follows (`reduce_` + `sum`).
    pub name: &'static str,
    /// The operands' names; one that ends in `...` stands for any number.
    pub operands: &'static [&'static str],
    /// The attributes' names.
    pub attributes: &'static [&'static str],
    /// The group.
    pub category: Category,
    /// One line of documentation.
    pub doc: &'static str,
}

macro_rules! ops {
    (
        unary { $(#[doc = $ud:literal] $U:ident $uname:literal $ucat:ident;)* }
        binary { $(#[doc = $bd:literal] $B:ident $bname:literal;)* }
        general { $(#[doc = $gd:literal] $G:ident $gname:literal $([$kind:ident: $Kind:ty])? ($($operand:literal),*) { $($attr:ident: $Attr:ty),* } $gcat:ident;)* }
    ) => {
        /// Element-wise ops of one operand.
        ///
        /// ```
        /// use evoxc::ir::{Category, Unary};
        /// assert_eq!((Unary::Exp.name(), Unary::Exp.category()), ("exp", Category::UnaryFloat));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Unary { $(#[doc = $ud] $U),* }
        impl Unary {
            /// Every one.
            pub const ALL: &'static [Unary] = &[$(Unary::$U),*];
            /// The name as printed.
            pub const fn name(self) -> &'static str { match self { $(Unary::$U => $uname),* } }
            /// The group.
            pub const fn category(self) -> Category { match self { $(Unary::$U => Category::$ucat),* } }
        }
        /// Element-wise ops of two operands of one type.
        ///
        /// ```
        /// use evoxc::ir::Binary;
        /// assert!(Binary::ALL.iter().any(|b| b.name() == "atan2"));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Binary { $(#[doc = $bd] $B),* }
        impl Binary {
            /// Every one.
            pub const ALL: &'static [Binary] = &[$(Binary::$B),*];
            /// The name as printed.
            pub const fn name(self) -> &'static str { match self { $(Binary::$B => $bname),* } }
        }
        /// A primitive op with its attributes.
        ///
        /// ```
        /// use evoxc::ir::{Prim, Reducer};
        /// use evoxc::prelude::*;
        /// let graph = trace(|x: Sym| x.sum(0), spec(F32, [3]))?;
        /// match &graph.ops()[0].prim {
        ///     Prim::Reduce { op: Reducer::Sum, axes } => assert_eq!(axes, &[0]),
        ///     other => panic!("{}", other.name()),
        /// }
        /// # Ok::<(), evoxc::Error>(())
        /// ```
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)] // the attributes are documented in the op's own line
        pub enum Prim {
            /// An element-wise op of one operand.
            Unary(Unary),
            /// An element-wise op of two operands.
            Binary(Binary),
            $(#[doc = $gd] $G { $($kind: $Kind,)? $($attr: $Attr),* },)*
        }
        /// Every row of the table.
        pub const TABLE: &[OpRow] = &[
            $(OpRow { name: $uname, operands: &["x"], attributes: &[], category: Category::$ucat, doc: $ud },)*
            $(OpRow { name: $bname, operands: &["lhs", "rhs"], attributes: &[], category: Category::Binary, doc: $bd },)*
            $(OpRow { name: $gname, operands: &[$($operand),*], attributes: &[$(stringify!($attr)),*], category: Category::$gcat, doc: $gd },)*
        ];
        impl Prim {
            /// The name in two parts: the table's, and the kind that follows it (`reduce_`, `sum`), often empty.
            pub fn name_parts(&self) -> (&'static str, &'static str) {
                match self {
                    Prim::Unary(u) => (u.name(), ""),
                    Prim::Binary(b) => (b.name(), ""),
                    $(Prim::$G { $($kind,)? .. } => ($gname, "" $(.longer($kind.word()))?),)*
                }
            }
            /// The group.
            pub fn category(&self) -> Category {
                match self {
                    Prim::Unary(u) => u.category(),
                    Prim::Binary(_) => Category::Binary,
                    $(Prim::$G { .. } => Category::$gcat,)*
                }
            }
            /// The attributes as values of the text form, in the table's order; absent ones are left out.
            #[allow(unused_mut, unused_variables)]
            pub fn attributes(&self) -> Vec<(&'static str, AttrValue)> {
                let mut out = vec![];
                match self {
                    Prim::Unary(_) | Prim::Binary(_) => {}
                    $(Prim::$G { $($attr,)* .. } => { $(if let Some(v) = $attr.to_value() { out.push((stringify!($attr), v)); })* })*
                }
                out
            }
            /// The op of that printed name, its attributes given by `find`: the inverse of [`Prim::name_parts`] and
            /// [`Prim::attributes`].
            ///
            /// # Errors
            /// A message, when there is no such op, or an attribute is missing or of the wrong kind.
            #[allow(unused_variables)]
            pub fn from_text(name: &str, find: &mut dyn FnMut(&'static str) -> Option<AttrValue>) -> Result<Prim, String> {
                $(if name == $uname { return Ok(Prim::Unary(Unary::$U)); })*
                $(if name == $bname { return Ok(Prim::Binary(Binary::$B)); })*
                $(
                    if let Some(kind) = name.strip_prefix($gname) {
                        let accept = kind.is_empty() $(&& <$Kind>::from_word(kind).is_some() || <$Kind>::from_word(kind).is_some())?;
                        if accept {
                            return Ok(Prim::$G {
                                $($kind: <$Kind>::from_word(kind).ok_or_else(|| format!("no op is called `{name}`"))?,)?
                                $($attr: match find(stringify!($attr)) {
                                    Some(v) => <$Attr as Attr>::from_value(&v)
                                        .ok_or_else(|| format!("attribute `{}` of `{name}` is not {}", stringify!($attr), <$Attr as Attr>::EXPECTED))?,
                                    None => <$Attr as Attr>::absent()
                                        .ok_or_else(|| format!("`{name}` needs the attribute `{}`", stringify!($attr)))?,
                                }),*
                            });
                        }
                    }
                )*
                Err(format!("no op is called `{name}`"))
            }
        }
    };
}

/// The longer of two strings of which one is empty.
trait Longer {
    fn longer(self, o: &'static str) -> &'static str;
}
impl Longer for &'static str {
    fn longer(self, o: &'static str) -> &'static str {
        if o.is_empty() { self } else { o }
    }
}

impl Prim {
    /// The name as printed, without the dialect: `reduce_sum`.
    pub fn name(&self) -> String {
        let (a, b) = self.name_parts();
        format!("{a}{b}")
    }
    /// Has the op an effect, so that it must stay though nothing uses it, in order with others like it?
    ///
    /// Collectives have one: the other processes wait for this one. Where all processes run one program a dead collective
    /// could go from all of them at once, but replicas and partitions may run different programs, each simplified alone.
    ///
    /// ```
    /// use evoxc::ir::{Prim, Rank, ReplicaGroups};
    /// let groups = ReplicaGroups::across_replicas([[0, 1]]);
    /// assert!(Prim::AllGather { axis: 0, count: 2, groups }.has_effect());
    /// assert!(!Prim::RankIndex { of: Rank::Replica }.has_effect());
    /// ```
    pub fn has_effect(&self) -> bool {
        matches!(self, Prim::Print { .. }) || self.groups().is_some() || matches!(self, Prim::CollectivePermute { .. })
    }
}

ops! {
    unary {
        #[doc = "e to the x."] Exp "exp" UnaryFloat;
        #[doc = "2 to the x."] Exp2 "exp2" UnaryFloat;
        #[doc = "e to the x, minus 1, exact near 0."] Expm1 "expm1" UnaryFloat;
        #[doc = "Natural logarithm."] Log "log" UnaryFloat;
        #[doc = "Logarithm to base 2."] Log2 "log2" UnaryFloat;
        #[doc = "Logarithm of 1 + x, exact near 0."] Log1p "log1p" UnaryFloat;
        #[doc = "Square root; NaN below 0."] Sqrt "sqrt" UnaryFloat;
        #[doc = "1 over the square root."] Rsqrt "rsqrt" UnaryFloat;
        #[doc = "Real cube root."] Cbrt "cbrt" UnaryFloat;
        #[doc = "Sine, of radians."] Sin "sin" UnaryFloat;
        #[doc = "Cosine, of radians."] Cos "cos" UnaryFloat;
        #[doc = "Tangent, of radians."] Tan "tan" UnaryFloat;
        #[doc = "Inverse sine, in radians."] Asin "asin" UnaryFloat;
        #[doc = "Inverse cosine, in radians."] Acos "acos" UnaryFloat;
        #[doc = "Inverse tangent, in radians."] Atan "atan" UnaryFloat;
        #[doc = "Hyperbolic sine."] Sinh "sinh" UnaryFloat;
        #[doc = "Hyperbolic cosine."] Cosh "cosh" UnaryFloat;
        #[doc = "Hyperbolic tangent."] Tanh "tanh" UnaryFloat;
        #[doc = "Inverse hyperbolic sine."] Asinh "asinh" UnaryFloat;
        #[doc = "Inverse hyperbolic cosine."] Acosh "acosh" UnaryFloat;
        #[doc = "Inverse hyperbolic tangent."] Atanh "atanh" UnaryFloat;
        #[doc = "1 / (1 + e to the -x)."] Logistic "logistic" UnaryFloat;
        #[doc = "Error function (real dtypes)."] Erf "erf" UnaryFloat;
        #[doc = "1 - erf(x), exact for large x (real dtypes)."] Erfc "erfc" UnaryFloat;
        #[doc = "Inverse of erf (real dtypes)."] ErfInv "erf_inv" UnaryFloat;
        #[doc = "Logarithm of the absolute value of the gamma function (real dtypes)."] Lgamma "lgamma" UnaryFloat;
        #[doc = "Derivative of lgamma (real dtypes)."] Digamma "digamma" UnaryFloat;
        #[doc = "Largest integer not above x (real dtypes)."] Floor "floor" UnaryFloat;
        #[doc = "Smallest integer not below x (real dtypes)."] Ceil "ceil" UnaryFloat;
        #[doc = "Nearest integer, halves to even (real dtypes)."] RoundEven "round_even" UnaryFloat;
        #[doc = "Nearest integer, halves away from 0 (real dtypes)."] RoundAway "round_away" UnaryFloat;
        #[doc = "Integer part (real dtypes)."] Trunc "trunc" UnaryFloat;
        #[doc = "-x; integers wrap."] Neg "neg" UnaryAny;
        #[doc = "Absolute value; of a complex number its modulus, a real. Signed integers wrap at the minimum."] Abs "abs" UnaryAny;
        #[doc = "-1, 0 or 1 (keeping -0 and NaN); of a complex number x/|x|."] Sign "sign" UnaryAny;
        #[doc = "Logical (bool) or bitwise (integer) complement."] Not "not" UnaryAny;
        #[doc = "The number of bits set (integers)."] Popcount "popcount" UnaryAny;
        #[doc = "The number of leading zero bits (integers)."] CountLeadingZeros "count_leading_zeros" UnaryAny;
        #[doc = "Neither infinite nor NaN (real floats), a bool."] IsFinite "is_finite" UnaryAny;
        #[doc = "Real part; the identity on reals."] Real "real" UnaryAny;
        #[doc = "Imaginary part; 0 on reals."] Imag "imag" UnaryAny;
        #[doc = "Complex conjugate."] Conj "conj" UnaryAny;
    }
    binary {
        #[doc = "lhs + rhs; integers wrap; logical or on bool."] Add "add";
        #[doc = "lhs - rhs; integers wrap."] Sub "sub";
        #[doc = "lhs * rhs; integers wrap; logical and on bool."] Mul "mul";
        #[doc = "lhs / rhs; integers truncate, division by 0 gives -1 (all bits set), MIN / -1 gives MIN."] Div "div";
        #[doc = "Remainder with the sign of lhs; by integer 0 it is lhs, MIN rem -1 is 0."] Rem "rem";
        #[doc = "lhs to the rhs; integers wrap, a negative integer exponent gives 0, or 1 or -1 for base 1 or -1."] Pow "pow";
        #[doc = "The larger; NaN propagates, +0 over -0; logical or on bool; complex numbers by (real, imag)."] Max "max";
        #[doc = "The smaller; NaN propagates, -0 under +0; logical and on bool; complex numbers by (real, imag)."] Min "min";
        #[doc = "The angle of (rhs, lhs) in radians (floats)."] Atan2 "atan2";
        #[doc = "The float next to lhs in the direction of rhs (floats)."] Nextafter "nextafter";
        #[doc = "Logical or bitwise and (bool, integers)."] And "and";
        #[doc = "Logical or bitwise or (bool, integers)."] Or "or";
        #[doc = "Logical or bitwise exclusive or (bool, integers)."] Xor "xor";
        #[doc = "lhs << rhs; 0 when rhs is negative or not below the width (integers)."] ShiftLeft "shift_left";
        #[doc = "lhs >> rhs filling with 0; 0 when rhs is negative or not below the width (integers)."] ShiftRightLogical "shift_right_logical";
        #[doc = "lhs >> rhs filling with the sign; the sign when rhs is negative or not below the width (integers)."] ShiftRightArithmetic "shift_right_arithmetic";
        #[doc = "lhs + i rhs: two f32 give a c64, two f64 a c128."] Complex "complex";
        #[doc = "The high half of the double-width product (integers)."] Mulhi "mulhi";
    }
    general {
        #[doc = "Element-wise comparison to a bool. `order` is ieee (NaN differs from all; -0 equals 0) or total (IEEE 754 totalOrder on floats). Complex numbers compare by (real, imag)."]
        Compare "compare" ("lhs", "rhs") { direction: Direction, order: SortOrder } Binary;
        #[doc = "Where pred: on_true, elsewhere on_false. `pred` is a bool of the operands' shape, or a scalar."]
        Select "select" ("pred", "on_true", "on_false") {} Ternary;
        #[doc = "min(max(x, low), high); NaN propagates. `low` and `high` have x's shape, or are scalars."]
        Clamp "clamp" ("low", "x", "high") {} Ternary;
        #[doc = "Converts every element: floats to integers truncate and saturate (NaN gives 0), integers wrap, to bool is != 0, complex to real drops the imaginary part."]
        Convert "convert" ("x") { dtype: DType } Conversion;
        #[doc = "The same bits as another dtype. To a narrower one adds a last axis (little end first), to a wider one takes it away. Not for bool; complex only to complex."]
        BitcastConvert "bitcast_convert" ("x") { dtype: DType } Conversion;
        #[doc = "Rounds every float to a format of so many exponent and mantissa bits, keeping the dtype."]
        ReducePrecision "reduce_precision" ("x") { exponent_bits: u32, mantissa_bits: u32 } Conversion;
        #[doc = "A literal."]
        Constant "constant" () { value: Literal } Constant;
        #[doc = "Counts 0, 1, 2 … along `axis` (not bool)."]
        Iota "iota" () { dtype: DType, shape: Shape, axis: usize } Constant;
        #[doc = "The value of a symbolic extent, as a scalar of an integer dtype."]
        DimSize "dim_size" () { extent: Dim, dtype: DType } Constant;
        #[doc = "Axis i of x becomes axis `dims[i]` of `shape`, repeated where its size is 1."]
        BroadcastInDim "broadcast_in_dim" ("x") { shape: Shape, dims: Vec<usize> } Shape;
        #[doc = "The same elements in row-major order under another shape."]
        Reshape "reshape" ("x") { shape: Shape } Shape;
        #[doc = "Axis i of the result is axis `perm[i]` of x."]
        Transpose "transpose" ("x") { perm: Vec<usize> } Shape;
        #[doc = "Elements start, start + stride … below limit of every axis."]
        Slice "slice" ("x") { start: Vec<Dim>, limit: Vec<Dim>, stride: Vec<i64> } Shape;
        #[doc = "Surrounds x by `value`: low and high on each side (negative ones cut), interior between elements."]
        Pad "pad" ("x", "value") { low: Vec<Dim>, high: Vec<Dim>, interior: Vec<i64> } Shape;
        #[doc = "The operands one after the other along `axis`."]
        Concatenate "concatenate" ("xs...") { axis: usize } Shape;
        #[doc = "The elements in reverse order along `axes`."]
        Reverse "reverse" ("x") { axes: Vec<usize> } Shape;
        #[doc = "StableHLO gather: slices of `sizes` at the clamped starts that `indices` holds."]
        Gather "gather" ("x", "indices") { dims: GatherDims, sizes: Vec<Dim>, sorted: bool } Indexing;
        #[doc = "StableHLO scatter of one operand with a named combiner; updates out of bounds are dropped; in row-major order of the updates."]
        Scatter "scatter_" [op: ScatterOp] ("x", "indices", "updates") { dims: ScatterDims, sorted: bool, unique: bool } Indexing;
        #[doc = "StableHLO scatter of n operands with a body of 2n scalars (old..., update...)."]
        ScatterBody "scatter" ("xs...", "indices", "updates...") { dims: ScatterDims, sorted: bool, unique: bool } Indexing;
        #[doc = "The slice of `sizes` at scalar starts, clamped so that it fits."]
        DynamicSlice "dynamic_slice" ("x", "starts...") { sizes: Vec<Dim> } Indexing;
        #[doc = "x with `update` written at scalar starts, clamped so that it fits."]
        DynamicUpdateSlice "dynamic_update_slice" ("x", "update", "starts...") {} Indexing;
        #[doc = "Sum of products over the contracting axes; result axes: batch, free of lhs, free of rhs. The result (and the sum) has dtype `accumulate`, by default the operands' (f16 and bf16 then sum in f32 and round once)."]
        Dot "dot" ("lhs", "rhs") { batch: AxisPair, contract: AxisPair, accumulate: Option<DType> } Contraction;
        #[doc = "StableHLO convolution."]
        Convolution "convolution" ("lhs", "rhs") { window: Window, layout: ConvLayout, feature_groups: usize, batch_groups: usize, accumulate: Option<DType> } Contraction;
        #[doc = "Reduces `axes` by a named combiner, starting at its identity; f16 and bf16 sums accumulate in f32 and round once. The association is fixed by the shapes alone."]
        Reduce "reduce_" [op: Reducer] ("x") { axes: Vec<usize> } Reduction;
        #[doc = "Reduces n operands over `axes` with a body of 2n scalars (accumulated..., element...) from n scalar initial values, in row-major order."]
        ReduceBody "reduce" ("xs...", "inits...") { axes: Vec<usize> } Reduction;
        #[doc = "Index (i32) of the first largest element along `axis`; NaN counts as largest."]
        Argmax "argmax" ("x") { axis: usize } Reduction;
        #[doc = "Index (i32) of the first smallest element along `axis`; NaN counts as smallest."]
        Argmin "argmin" ("x") { axis: usize } Reduction;
        #[doc = "Reduces sliding windows by a named combiner; padding counts as its identity."]
        ReduceWindow "reduce_window_" [op: Reducer] ("x") { window: Window } Reduction;
        #[doc = "Reduces sliding windows of n operands with a body, from n scalar initial values; padding counts as these."]
        ReduceWindowBody "reduce_window" ("xs...", "inits...") { window: Window } Reduction;
        #[doc = "Adds each source element to the element of x that its window selects (the first largest or smallest), on zeros: the gradient of pooling."]
        SelectAndScatter "select_and_scatter_" [select: SelectOp] ("x", "source") { window: Window } Reduction;
        #[doc = "StableHLO select_and_scatter: regions select (a, b) to bool, and scatter (a, b)."]
        SelectAndScatterBody "select_and_scatter" ("x", "source", "init") { window: Window } Reduction;
        #[doc = "Running combination along `axis`, from the end if `reverse`."]
        Cumulative "cumulative_" [op: CumOp] ("x") { axis: usize, reverse: bool } Reduction;
        #[doc = "Sorts n operands along `axis` together, by the first `keys` of them. Floats are in total order except that -0 equals +0 and all NaN are equal and last (first when descending)."]
        Sort "sort" ("xs...") { axis: usize, keys: SortKeys, stable: bool } Ordering;
        #[doc = "Sorts n operands along `axis` together; the body compares 2n scalars (a0, b0, a1, b1, …) to a bool: a before b."]
        SortBody "sort_by" ("xs...") { axis: usize, stable: bool } Ordering;
        #[doc = "The k largest elements of the last axis in descending order (NaN first), and their indices (i32); of equal ones the first."]
        TopK "top_k" ("x") { k: Dim } Ordering;
        #[doc = "Fourier transform of the last axes, as many as `length` has: fft, ifft (complex), rfft (real to n/2+1 complex), irfft (back to `length` reals)."]
        Fft "fft" ("x") { kind: FftKind, length: Vec<Dim> } Linalg;
        #[doc = "Cholesky factor of (batches of) Hermitian positive definite matrices; reads one triangle, zeroes the other; NaN when not positive definite."]
        Cholesky "cholesky" ("a") { lower: bool } Linalg;
        #[doc = "Solves op(a) x = b (left) or x op(a) = b for triangular a; op is none, transpose or adjoint."]
        TriangularSolve "triangular_solve" ("a", "b") { left: bool, lower: bool, unit_diagonal: bool, transpose: LinTranspose } Linalg;
        #[doc = "LU factorisation with partial pivoting: the packed factors, the pivots (i32), and the permutation (i32)."]
        Lu "lu" ("a") {} Linalg;
        #[doc = "QR factorisation; q has min(m, n) columns, or m if `full`."]
        Qr "qr" ("a") { full: bool } Linalg;
        #[doc = "Eigenvalues in ascending order (real) and eigenvectors (columns) of Hermitian matrices; reads the lower triangle."]
        Eigh "eigh" ("a") {} Linalg;
        #[doc = "Singular value decomposition: u, s (descending, real), vh; min(m, n) vectors, or all if `full`."]
        Svd "svd" ("a") { full: bool } Linalg;
        #[doc = "Runs region `then` if the scalar bool is true, else region `else`; regions take no arguments and capture."]
        Cond "cond" ("pred") {} Control;
        #[doc = "Runs the region that the scalar i32 index names; out of range: the last."]
        Switch "switch" ("index") {} Control;
        #[doc = "While region `cond` (state) gives true, state = region `body` (state)."]
        WhileLoop "while_loop" ("init...") {} Control;
        #[doc = "Runs region `body` (carry..., slice of each xs...) -> (carry..., y...) along the leading axis of length `length`; gives the last carry and the stacked ys. The first `carry` operands are the initial carry."]
        Scan "scan" ("init...", "xs...") { carry: usize, length: Dim, reverse: bool } Control;
        #[doc = "Calls a function of the module, f(args) -> results. Its rules are functions too: `jvp` (args, tangents) -> (results, their tangents); `forward` (args) -> (results, residuals) with `vjp` (residuals, cotangents of all results) -> cotangents; `batch` takes and gives what f does with a leading axis each. The last `captures` args were captured: rules take no tangents of them and give no cotangents. `remat` recomputes it in reverse mode."]
        Call "call" ("args...") { callee: FuncRef, jvp: Option<FuncRef>, forward: Option<FuncRef>, vjp: Option<FuncRef>, batch: Option<FuncRef>, captures: Option<usize>, remat: bool } Control;
        #[doc = "Uniform random bits of an unsigned dtype; the key's shape is batch + that of the algorithm, the result's is batch + shape."]
        RandomBits "random_bits" ("key") { algorithm: Algorithm, dtype: DType, shape: Shape } Random;
        #[doc = "Every operand reduced element by element by a named combiner over the processes of a group, in the order of the group; f16 and bf16 sums and products accumulate in f32 and round once."]
        AllReduce "all_reduce_" [op: Reducer] ("xs...") { groups: ReplicaGroups } Collective;
        #[doc = "Every operand reduced element by element over the processes of a group, in the order of the group, by a body of two scalars (accumulated, element) of the operands' one dtype."]
        AllReduceBody "all_reduce" ("xs...") { groups: ReplicaGroups } Collective;
        #[doc = "The operands of the `count` processes of a group one after the other along `axis`, in the order of the group."]
        AllGather "all_gather" ("xs...") { axis: usize, count: usize, groups: ReplicaGroups } Collective;
        #[doc = "As all_reduce, of which each of the `count` processes of a group keeps one of as many equal parts along `axis`: the first process the first."]
        ReduceScatter "reduce_scatter_" [op: Reducer] ("xs...") { axis: usize, count: usize, groups: ReplicaGroups } Collective;
        #[doc = "As reduce_scatter, with a body of two scalars."]
        ReduceScatterBody "reduce_scatter" ("xs...") { axis: usize, count: usize, groups: ReplicaGroups } Collective;
        #[doc = "Splits every operand into `count` equal parts along `split`, sends the i-th to the i-th process of the group, and puts those received one after the other along `concat`, in the order of the group of `count` processes."]
        AllToAll "all_to_all" ("xs...") { split: usize, concat: usize, count: usize, groups: ReplicaGroups } Collective;
        #[doc = "The operands of the process that a pair (source, target) names as the source of this one; zeros where none does. The ids are of replicas, or of partitions if there is a channel."]
        CollectivePermute "collective_permute" ("xs...") { pairs: Vec<Vec<usize>>, channel: Option<usize> } Collective;
        #[doc = "The operands of the first process of the group; zeros outside of all groups. With `dynamic_root` the last operand is an i32 vector that says for every other one which process of the group sends it."]
        CollectiveBroadcast "collective_broadcast" ("xs...") { dynamic_root: bool, groups: ReplicaGroups } Collective;
        #[doc = "The number of this process as a u32 scalar: of its replica, of its partition, or flattened, replica * partitions + partition."]
        RankIndex "rank_index" () { of: Rank } Collective;
        #[doc = "The operands, unchanged; no optimisation moves work across it."]
        OptimizationBarrier "optimization_barrier" ("xs...") {} Escape;
        #[doc = "x; its derivative is zero."]
        StopGradient "stop_gradient" ("x") {} Escape;
        #[doc = "Prints label and value when the program runs, in program order; no results."]
        Print "print" ("x") { label: String } Escape;
    }
}
