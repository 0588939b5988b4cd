//! The types of op attributes, and their values in the text form.

use crate::TensorType;
use evoxc_core::{DType, Dim, DimLike, Shape, Tensor, spec};
use std::hash::{Hash, Hasher};

/// An attribute's value as the text form knows it.
///
/// ```
/// use evoxc::{ir::AttrValue, prelude::*};
/// let graph = trace(|x: Sym| x.sum(1), spec(F32, [2, 3]))?;
/// let attributes = graph.ops()[0].prim.attributes();
/// assert_eq!(attributes, [("axes", AttrValue::List(vec![AttrValue::Int(1)]))]);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum AttrValue {
    /// `3`, `-1`
    Int(i64),
    /// `true`
    Bool(bool),
    /// `lt`, `f32`, `B`
    Word(String),
    /// `"text"`, escaped
    Str(String),
    /// `(2*B + 1)`: an extent that is no constant and no bare symbol
    Dim(Dim),
    /// `[1, 2]`
    List(Vec<AttrValue>),
    /// `{low = [1], high = [2]}`
    Record(Vec<(&'static str, AttrValue)>),
    /// The same, as read
    Fields(Vec<(String, AttrValue)>),
    /// `@name`
    Func(String),
    /// `dense<[1, 2]> : tensor<2xf32>`
    Literal(Literal),
}

impl AttrValue {
    /// A field of a record.
    pub fn get(&self, name: &str) -> Option<&AttrValue> {
        match self {
            AttrValue::Record(f) => f.iter().find(|(n, _)| *n == name).map(|(_, v)| v),
            AttrValue::Fields(f) => f.iter().find(|(n, _)| n == name).map(|(_, v)| v),
            _ => None,
        }
    }
}

/// An attribute: to and from the text form's values.
///
/// ```
/// use evoxc::ir::{Attr, AttrValue};
/// assert_eq!(vec![1usize].to_value(), Some(AttrValue::List(vec![AttrValue::Int(1)])));
/// assert_eq!(usize::from_value(&AttrValue::Int(-1)), None);
/// assert_eq!(bool::absent(), Some(false));
/// ```
pub trait Attr: Sized {
    /// What the text form expects, for messages.
    const EXPECTED: &'static str;
    /// The value; `None` when it is left out of the text.
    fn to_value(&self) -> Option<AttrValue>;
    /// The attribute, if the value is one.
    fn from_value(v: &AttrValue) -> Option<Self>;
    /// What a missing attribute means, if it may be missing.
    fn absent() -> Option<Self> {
        None
    }
}

macro_rules! int_attr {
    ($($t:ty)*) => { $(impl Attr for $t {
        const EXPECTED: &'static str = "an integer";
        fn to_value(&self) -> Option<AttrValue> { i64::try_from(*self).ok().map(AttrValue::Int) }
        fn from_value(v: &AttrValue) -> Option<Self> { if let AttrValue::Int(i) = v { (*i).try_into().ok() } else { None } }
    })* };
}
int_attr!(i64 usize u32);

impl Attr for bool {
    const EXPECTED: &'static str = "true or false";
    fn to_value(&self) -> Option<AttrValue> {
        self.then_some(AttrValue::Bool(true))
    }
    fn from_value(v: &AttrValue) -> Option<Self> {
        if let AttrValue::Bool(b) = v { Some(*b) } else { None }
    }
    fn absent() -> Option<Self> {
        Some(false)
    }
}
impl Attr for String {
    const EXPECTED: &'static str = "a string";
    fn to_value(&self) -> Option<AttrValue> {
        Some(AttrValue::Str(self.clone()))
    }
    fn from_value(v: &AttrValue) -> Option<Self> {
        if let AttrValue::Str(s) = v { Some(s.clone()) } else { None }
    }
}
impl Attr for DType {
    const EXPECTED: &'static str = "a dtype";
    fn to_value(&self) -> Option<AttrValue> {
        Some(AttrValue::Word(self.to_string()))
    }
    fn from_value(v: &AttrValue) -> Option<Self> {
        if let AttrValue::Word(w) = v { w.parse().ok() } else { None }
    }
}
impl Attr for Dim {
    const EXPECTED: &'static str = "an extent";
    fn to_value(&self) -> Option<AttrValue> {
        Some(match (self.as_i64(), self.symbol_name()) {
            (Some(i), _) => AttrValue::Int(i),
            (None, Some(n)) => AttrValue::Word(n.to_string()),
            (None, None) => AttrValue::Dim(*self),
        })
    }
    fn from_value(v: &AttrValue) -> Option<Self> {
        match v {
            AttrValue::Int(i) => Some(i.to_dim()),
            AttrValue::Word(w) => Some(evoxc_core::dim(w)).filter(|d| !d.is_poison()),
            AttrValue::Dim(d) => Some(*d),
            _ => None,
        }
    }
}
impl<T: Attr> Attr for Vec<T> {
    const EXPECTED: &'static str = "a list";
    fn to_value(&self) -> Option<AttrValue> {
        Some(AttrValue::List(self.iter().filter_map(T::to_value).collect()))
    }
    fn from_value(v: &AttrValue) -> Option<Self> {
        if let AttrValue::List(l) = v { l.iter().map(T::from_value).collect() } else { None }
    }
}
impl<T: Attr> Attr for Option<T> {
    const EXPECTED: &'static str = T::EXPECTED;
    fn to_value(&self) -> Option<AttrValue> {
        self.as_ref().and_then(T::to_value)
    }
    fn from_value(v: &AttrValue) -> Option<Self> {
        T::from_value(v).map(Some)
    }
    fn absent() -> Option<Self> {
        Some(None)
    }
}
impl Attr for Shape {
    const EXPECTED: &'static str = "a shape";
    fn to_value(&self) -> Option<AttrValue> {
        Some(AttrValue::List(self.iter().filter_map(Dim::to_value).collect()))
    }
    fn from_value(v: &AttrValue) -> Option<Self> {
        Some(Vec::<Dim>::from_value(v)?.into_iter().collect())
    }
}

macro_rules! words {
    ($($(#[$d:meta])* $T:ident { $($(#[$vd:meta])* $V:ident $w:literal),* })*) => { $(
        $(#[$d])* #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $T { $($(#[$vd])* $V),* }
        impl $T {
            /// Every one.
            pub const ALL: &'static [$T] = &[$($T::$V),*];
            /// The word in the text form.
            pub const fn word(self) -> &'static str { match self { $($T::$V => $w),* } }
            /// The inverse of `word`.
            pub fn from_word(w: &str) -> Option<$T> { match w { $($w => Some($T::$V),)* _ => None } }
        }
        impl Attr for $T {
            const EXPECTED: &'static str = concat!("one of", $(" ", $w),*);
            fn to_value(&self) -> Option<AttrValue> { Some(AttrValue::Word(self.word().into())) }
            fn from_value(v: &AttrValue) -> Option<Self> { if let AttrValue::Word(w) = v { $T::from_word(w) } else { None } }
        }
    )* };
}
words! {
    /// The direction of a comparison.
    ///
    /// ```
    /// use evoxc::ir::{Direction, Prim};
    /// use evoxc::prelude::*;
    /// let graph = trace(|x: Sym, y: Sym| x.lt(y), (spec(F32, [2]), spec(F32, [2])))?;
    /// assert!(matches!(graph.ops()[0].prim, Prim::Compare { direction: Direction::Lt, .. }));
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    Direction { /// `<`
        Lt "lt", /// `<=`
        Le "le", /// `>`
        Gt "gt", /// `>=`
        Ge "ge", /// `==`
        Eq "eq", /// `!=`
        Ne "ne" }
    /// The order of floats in a comparison.
    ///
    /// ```
    /// use evoxc::ir::SortOrder;
    /// assert_eq!(SortOrder::from_word("total"), Some(SortOrder::Total));
    /// ```
    SortOrder { /// IEEE 754 comparison
        Ieee "ieee", /// IEEE 754 totalOrder
        Total "total" }
    /// The combiner of a reduction.
    ///
    /// ```
    /// use evoxc::ir::{Prim, Reducer};
    /// use evoxc::prelude::*;
    /// let graph = trace(|x: Sym| x.max(1), spec(F32, [2, 3]))?;
    /// assert_eq!(graph.ops()[0].prim, Prim::Reduce { op: Reducer::Max, axes: vec![1] });
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    Reducer { /// Sum, from 0
        Sum "sum", /// Product, from 1
        Prod "prod", /// Maximum, from the lowest value (-inf)
        Max "max", /// Minimum, from the highest value (inf)
        Min "min", /// Logical or bitwise and, from all ones
        And "and", /// Logical or bitwise or, from 0
        Or "or" }
    /// The combiner of a scatter.
    ///
    /// ```
    /// use evoxc::{ir::ScatterOp, prelude::*};
    /// let add = |x: Sym, rows: Sym, updates: Sym| x.scatter_rows(ScatterOp::Add, rows, updates);
    /// let (x, rows) = (Tensor::zeros(F32, [2, 2]), Tensor::from([1i32, 1]));
    /// let y = evaluate(add, (x, rows, Tensor::ones(F32, [2, 2])), &Interp)?;
    /// assert_eq!(y.to_vec::<f32>()?, [0.0, 0.0, 2.0, 2.0]);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    ScatterOp { /// The update replaces the element; of several the last
        Set "set", /// Sum
        Add "add", /// Product
        Mul "mul", /// Minimum
        Min "min", /// Maximum
        Max "max" }
    /// What a pooling window selects.
    ///
    /// ```
    /// use evoxc::ir::SelectOp;
    /// assert_eq!(SelectOp::Max.word(), "max"); // as in `evoxc.select_and_scatter_max`
    /// ```
    SelectOp { /// The first largest
        Max "max", /// The first smallest
        Min "min" }
    /// The combiner of a cumulative op.
    ///
    /// ```
    /// use evoxc::ir::{CumOp, Prim};
    /// use evoxc::prelude::*;
    /// let graph = trace(|x: Sym| x.cumsum(0), spec(F32, [3]))?;
    /// assert_eq!(graph.ops()[0].prim, Prim::Cumulative { op: CumOp::Sum, axis: 0, reverse: false });
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    CumOp { /// Sum
        Sum "sum", /// Product
        Prod "prod", /// Maximum
        Max "max", /// Minimum
        Min "min", /// log of the sum of exponentials
        Logsumexp "logsumexp" }
    /// The kind of a Fourier transform.
    ///
    /// ```
    /// use evoxc::{ir::FftKind, prelude::*};
    /// let graph = trace(|x: Sym| x.fft(FftKind::Rfft, [8]), spec(F32, [8]))?;
    /// assert_eq!(graph.output_specs(), [spec(C64, [5])]);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    FftKind { /// Forward, complex
        Fft "fft", /// Inverse, complex, scaled by 1/n
        Ifft "ifft", /// Forward, real to half-spectrum
        Rfft "rfft", /// Inverse, half-spectrum to real
        Irfft "irfft" }
    /// Which op is applied to the matrix of a triangular solve.
    ///
    /// ```
    /// use evoxc::ir::{LinTranspose, Prim};
    /// let transpose = LinTranspose::Adjoint;
    /// let solve = Prim::TriangularSolve { left: true, lower: true, unit_diagonal: false, transpose };
    /// assert!(solve.attributes().iter().any(|(name, _)| *name == "transpose"));
    /// ```
    LinTranspose { /// The matrix itself
        None "none", /// Its transpose
        Transpose "transpose", /// Its conjugate transpose
        Adjoint "adjoint" }
    /// What the ids of replica groups count, and so which processes are one group: StableHLO's strategies.
    ///
    /// ```
    /// use evoxc::ir::{Grouping, ReplicaGroups};
    /// // Two replicas of two partitions; process 2 * replica + partition.
    /// let of = |by| ReplicaGroups { ids: vec![vec![0, 1]], by, channel: Some(1) }.processes(2, 2).unwrap();
    /// assert_eq!(of(Grouping::CrossReplica), [[0, 2], [1, 3]]);
    /// assert_eq!(of(Grouping::CrossPartition), [[0, 1], [2, 3]]);
    /// assert_eq!(of(Grouping::CrossReplicaAndPartition), [[0, 2, 1, 3]]);
    /// assert_eq!(of(Grouping::FlattenedIds), [[0, 1]]);
    /// ```
    Grouping { /// Replicas; every partition has groups of its own
        CrossReplica "cross_replica", /// Partitions; every replica has groups of its own
        CrossPartition "cross_partition", /// Replicas, with all their partitions
        CrossReplicaAndPartition "cross_replica_and_partition", /// Processes, replica * partitions + partition
        FlattenedIds "flattened_ids" }
    /// Which number of a process.
    ///
    /// ```
    /// use evoxc::ir::{Prim, Rank, infer};
    /// use evoxc::{U32, spec};
    /// assert_eq!(infer(&Prim::RankIndex { of: Rank::Partition }, &[], &[]).unwrap()[0], spec(U32, []));
    /// ```
    Rank { /// Of its replica
        Replica "replica", /// Of its partition
        Partition "partition", /// replica * partitions + partition
        Flattened "flattened" }
    /// A generator of random bits.
    ///
    /// ```
    /// use evoxc::ir::{Algorithm, Prim, infer};
    /// use evoxc::{IntoShape, U32, spec};
    /// let bits = Prim::RandomBits { algorithm: Algorithm::Threefry2x32, dtype: U32, shape: [5].into_shape() };
    /// assert_eq!(infer(&bits, &[&spec(U32, [2])], &[]).unwrap()[0], spec(U32, [5]));
    /// ```
    Algorithm { /// splitmix64, key `[]` u64
        SplitMix64 "splitmix64", /// threefry2x32, key `[2]` u32
        Threefry2x32 "threefry2x32", /// philox4x32_10, key `[4]` u32
        Philox4x32 "philox4x32_10" }
}

/// A function of the module, by name.
///
/// ```
/// use evoxc::ir::{FuncRef, Prim};
/// let call = Prim::Call { callee: FuncRef("inner".into()), jvp: None, forward: None, vjp: None, batch: None, captures: None, remat: false };
/// assert_eq!(call.attributes()[0].0, "callee");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FuncRef(pub String);
impl Attr for FuncRef {
    const EXPECTED: &'static str = "a function";
    fn to_value(&self) -> Option<AttrValue> {
        Some(AttrValue::Func(self.0.clone()))
    }
    fn from_value(v: &AttrValue) -> Option<Self> {
        if let AttrValue::Func(f) = v { Some(FuncRef(f.clone())) } else { None }
    }
}

/// Pairs of axes of two operands: `[[lhs…], [rhs…]]`, or `[]` for none.
///
/// ```
/// use evoxc::ir::{AxisPair, Prim};
/// use evoxc::prelude::*;
/// let graph = trace(|x: Sym, y: Sym| x.dot(y), (spec(F32, [2, 3]), spec(F32, [3, 4])))?;
/// let Prim::Dot { contract, .. } = &graph.ops()[0].prim else { panic!() };
/// assert_eq!(*contract, AxisPair { lhs: vec![1], rhs: vec![0] });
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct AxisPair {
    /// Axes of the left operand.
    pub lhs: Vec<usize>,
    /// The matching axes of the right operand.
    pub rhs: Vec<usize>,
}
impl Attr for AxisPair {
    const EXPECTED: &'static str = "two lists of axes, or []";
    fn to_value(&self) -> Option<AttrValue> {
        if self.lhs.is_empty() && self.rhs.is_empty() {
            return Some(AttrValue::List(vec![]));
        }
        Some(AttrValue::List([&self.lhs, &self.rhs].into_iter().filter_map(Attr::to_value).collect()))
    }
    fn from_value(v: &AttrValue) -> Option<Self> {
        let AttrValue::List(l) = v else { return None };
        match l.as_slice() {
            [] => Some(AxisPair::default()),
            [a, b] => Some(AxisPair { lhs: Vec::from_value(a)?, rhs: Vec::from_value(b)? }),
            _ => None,
        }
    }
}

/// The keys of a sort: for each leading operand, descending or not.
///
/// ```
/// use evoxc::ir::{Prim, SortKeys, infer};
/// use evoxc::{F32, I32, spec};
/// let sort = Prim::Sort { axis: 0, keys: SortKeys(vec![true]), stable: true }; // descending, by the first operand
/// let types = infer(&sort, &[&spec(F32, [3]), &spec(I32, [3])], &[]).unwrap();
/// assert_eq!(types[1], spec(I32, [3]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SortKeys(
    /// One entry a key operand, true for descending.
    pub Vec<bool>,
);
impl Attr for SortKeys {
    const EXPECTED: &'static str = "a list of ascending and descending";
    fn to_value(&self) -> Option<AttrValue> {
        let word = |&d: &bool| AttrValue::Word(if d { "descending" } else { "ascending" }.into());
        Some(AttrValue::List(self.0.iter().map(word).collect()))
    }
    fn from_value(v: &AttrValue) -> Option<Self> {
        let AttrValue::List(l) = v else { return None };
        let key = |v: &AttrValue| match v {
            AttrValue::Word(w) if w == "ascending" => Some(false),
            AttrValue::Word(w) if w == "descending" => Some(true),
            _ => None,
        };
        l.iter().map(key).collect::<Option<_>>().map(SortKeys)
    }
}

macro_rules! record {
    ($($(#[$d:meta])* $T:ident { $($(#[$fd:meta])* $f:ident: $t:ty),* })*) => { $(
        $(#[$d])* #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub struct $T { $($(#[$fd])* pub $f: $t),* }
        impl Attr for $T {
            const EXPECTED: &'static str = concat!("a record of", $(" ", stringify!($f)),*);
            fn to_value(&self) -> Option<AttrValue> {
                let mut fields = vec![];
                $(if let Some(v) = self.$f.to_value() { fields.push((stringify!($f), v)); })*
                Some(AttrValue::Record(fields))
            }
            fn from_value(v: &AttrValue) -> Option<Self> {
                if let AttrValue::Fields(f) = v && f.iter().any(|(n, _)| ![$(stringify!($f)),*].contains(&n.as_str())) { return None; }
                if !matches!(v, AttrValue::Record(_) | AttrValue::Fields(_)) { return None; }
                Some($T { $($f: match v.get(stringify!($f)) { Some(x) => <$t as Attr>::from_value(x)?, None => <$t as Attr>::absent()? }),* })
            }
        }
    )* };
}
record! {
    /// The groups of processes that a collective op works in: lists of ids, no id twice. No list stands for one group of
    /// all.
    ///
    /// ```
    /// use evoxc::ir::{Prim, Reducer, ReplicaGroups, infer};
    /// use evoxc::{F32, spec};
    /// let groups = ReplicaGroups::across_replicas([[0, 2], [1, 3]]);
    /// let sum = Prim::AllReduce { op: Reducer::Sum, groups };
    /// assert_eq!(infer(&sum, &[&spec(F32, [4])], &[]).unwrap()[0], spec(F32, [4]));
    /// ```
    ReplicaGroups {
        /// The ids of every group, in the group's order.
        ids: Vec<Vec<usize>>,
        /// What an id counts.
        by: Grouping,
        /// The channel, above 0; none across replicas, where replicas are reached without one.
        channel: Option<usize>
    }
    /// Dimension numbers of a gather, as in StableHLO.
    ///
    /// ```
    /// use evoxc::{ir::Prim, prelude::*};
    /// let graph = trace(|x: Sym, rows: Sym| x.take(rows, 0), (spec(F32, [4, 3]), spec(I32, [2])))?;
    /// let dims = graph.ops().iter().find_map(|op| match &op.prim {
    ///     Prim::Gather { dims, .. } => Some(dims),
    ///     _ => None,
    /// });
    /// assert_eq!(dims.unwrap().collapsed, [0]);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    GatherDims {
        /// Axes of the result that come from the slices.
        offset: Vec<usize>,
        /// Axes of x that are dropped from the slices.
        collapsed: Vec<usize>,
        /// Batching axes of x.
        operand_batching: Vec<usize>,
        /// The matching axes of the indices.
        indices_batching: Vec<usize>,
        /// Axis of x that each index component addresses.
        start_map: Vec<usize>,
        /// The axis of the indices that holds the components (its rank if they are implicit).
        index_vector: usize
    }
    /// Dimension numbers of a scatter, as in StableHLO.
    ///
    /// ```
    /// use evoxc::ir::{Prim, ScatterDims, ScatterOp, infer};
    /// use evoxc::{F32, I32, spec};
    /// let rows = ScatterDims {
    ///     update_window: vec![1],
    ///     inserted: vec![0],
    ///     operand_batching: vec![],
    ///     indices_batching: vec![],
    ///     scatter_map: vec![0],
    ///     index_vector: 1,
    /// };
    /// let add = Prim::Scatter { op: ScatterOp::Add, dims: rows, sorted: false, unique: false };
    /// let (x, at, updates) = (spec(F32, [4, 3]), spec(I32, [2, 1]), spec(F32, [2, 3]));
    /// assert_eq!(infer(&add, &[&x, &at, &updates], &[]).unwrap()[0], x);
    /// ```
    ScatterDims {
        /// Axes of the updates that are slices.
        update_window: Vec<usize>,
        /// Axes of x that are not in the slices.
        inserted: Vec<usize>,
        /// Batching axes of x.
        operand_batching: Vec<usize>,
        /// The matching axes of the indices.
        indices_batching: Vec<usize>,
        /// Axis of x that each index component addresses.
        scatter_map: Vec<usize>,
        /// The axis of the indices that holds the components.
        index_vector: usize
    }
    /// A sliding window: over every axis (pools) or every spatial axis (convolution; there `size` is that of the kernel and repeated here).
    ///
    /// ```
    /// use evoxc::ir::{Prim, Reducer, Window, infer};
    /// use evoxc::{Dim, F32, spec};
    /// let halves = Window { stride: vec![2], ..Window::new(vec![Dim::constant(2)]) };
    /// let pool = Prim::ReduceWindow { op: Reducer::Max, window: halves };
    /// assert_eq!(infer(&pool, &[&spec(F32, [8])], &[]).unwrap()[0], spec(F32, [4]));
    /// ```
    Window {
        /// Extent of the window.
        size: Vec<Dim>,
        /// Step.
        stride: Vec<i64>,
        /// Low and high padding of the dilated base; negative cuts.
        padding: Vec<Padding>,
        /// Base (lhs) dilation, 1 for none.
        base_dilation: Vec<i64>,
        /// Window (rhs) dilation, 1 for none.
        window_dilation: Vec<i64>,
        /// Window reversal (convolution only).
        reversal: Vec<Flag>
    }
    /// Which axis of each operand of a convolution is what.
    ///
    /// ```
    /// use evoxc::{ir::Prim, prelude::*};
    /// let conv = |x: Sym, w: Sym| x.conv(w, Conv::default().channels_last());
    /// let graph = trace(conv, (spec(F32, [1, 8, 8, 3]), spec(F32, [3, 3, 3, 4])))?;
    /// let Prim::Convolution { layout, .. } = &graph.ops()[0].prim else { panic!() };
    /// assert_eq!((&layout.lhs[..], &layout.lhs_spatial[..]), (&[0, 3][..], &[1, 2][..]));
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    ConvLayout {
        /// Batch and feature axis of the input.
        lhs: Vec<usize>,
        /// Spatial axes of the input.
        lhs_spatial: Vec<usize>,
        /// Output and input feature axis of the kernel, in that order.
        rhs: Vec<usize>,
        /// Spatial axes of the kernel.
        rhs_spatial: Vec<usize>,
        /// Batch and feature axis of the result.
        out: Vec<usize>,
        /// Spatial axes of the result.
        out_spatial: Vec<usize>
    }
}

impl Window {
    /// A window of `size` over as many axes, with stride 1, no padding, no dilation.
    pub fn new(size: Vec<Dim>) -> Window {
        let n = size.len();
        Window {
            size,
            stride: vec![1; n],
            padding: vec![Padding { low: Dim::constant(0), high: Dim::constant(0) }; n],
            base_dilation: vec![1; n],
            window_dilation: vec![1; n],
            reversal: vec![Flag(false); n],
        }
    }
}

/// A boolean inside a list.
///
/// ```
/// use evoxc::Dim;
/// use evoxc::ir::{Flag, Window};
/// assert_eq!(Window::new(vec![Dim::constant(3)]).reversal, [Flag(false)]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flag(
    /// The value.
    pub bool,
);
impl Attr for Flag {
    const EXPECTED: &'static str = "true or false";
    fn to_value(&self) -> Option<AttrValue> {
        Some(AttrValue::Bool(self.0))
    }
    fn from_value(v: &AttrValue) -> Option<Self> {
        if let AttrValue::Bool(b) = v { Some(Flag(*b)) } else { None }
    }
}

/// Low and high padding of one axis, written `[low, high]`.
///
/// ```
/// use evoxc::ir::{Padding, Prim, Reducer, Window, infer};
/// use evoxc::{Dim, F32, spec};
/// let one = Dim::constant(1);
/// let window = Window { padding: vec![Padding { low: one, high: one }], ..Window::new(vec![3 * one]) };
/// let same = Prim::ReduceWindow { op: Reducer::Sum, window };
/// assert_eq!(infer(&same, &[&spec(F32, [8])], &[]).unwrap()[0], spec(F32, [8]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Padding {
    /// Before the first element.
    pub low: Dim,
    /// After the last.
    pub high: Dim,
}
impl Attr for Padding {
    const EXPECTED: &'static str = "[low, high]";
    fn to_value(&self) -> Option<AttrValue> {
        Some(AttrValue::List([self.low, self.high].iter().filter_map(Dim::to_value).collect()))
    }
    fn from_value(v: &AttrValue) -> Option<Self> {
        let AttrValue::List(l) = v else { return None };
        if let [a, b] = l.as_slice() {
            Some(Padding { low: Dim::from_value(a)?, high: Dim::from_value(b)? })
        } else {
            None
        }
    }
}

/// The value of a constant: elements, shared; or one element repeated over a shape that may be symbolic.
///
/// ```
/// use evoxc::ir::{Literal, parse_literal};
/// use evoxc::prelude::*;
/// let l = parse_literal("splat<2.0> : tensor<Bx4xf32>")?;
/// assert_eq!(l.ty(), spec(F32, (dim("B"), 4)));
/// assert!(matches!(l, Literal::Splat(..)));
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Literal {
    /// Every element.
    Dense(Tensor),
    /// A scalar tensor, repeated over the shape.
    Splat(Tensor, Shape),
}

impl Literal {
    /// The type of the constant.
    pub fn ty(&self) -> TensorType {
        match self {
            Literal::Dense(t) => t.spec(),
            Literal::Splat(t, s) => spec(t.dtype(), s),
        }
    }
    /// The elements' storage: all of them, or the one that repeats.
    pub fn tensor(&self) -> &Tensor {
        match self {
            Literal::Dense(t) | Literal::Splat(t, _) => t,
        }
    }
}

// Constants are equal when their bits are: NaN equals itself, and -0 differs from 0.
impl PartialEq for Literal {
    fn eq(&self, o: &Literal) -> bool {
        match (self, o) {
            (Literal::Dense(a), Literal::Dense(b)) => a.bit_eq(b),
            (Literal::Splat(a, s), Literal::Splat(b, t)) => s == t && a.bit_eq(b),
            _ => false,
        }
    }
}
impl Eq for Literal {}
impl Hash for Literal {
    fn hash<H: Hasher>(&self, h: &mut H) {
        std::mem::discriminant(self).hash(h);
        self.ty().hash(h);
        self.tensor().buffer().bytes().hash(h);
    }
}
impl Attr for Literal {
    const EXPECTED: &'static str = "a literal";
    fn to_value(&self) -> Option<AttrValue> {
        Some(AttrValue::Literal(self.clone()))
    }
    fn from_value(v: &AttrValue) -> Option<Self> {
        if let AttrValue::Literal(l) = v { Some(l.clone()) } else { None }
    }
}
