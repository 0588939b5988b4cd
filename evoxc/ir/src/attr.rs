//! The types of op attributes, and their values in the text form.

use crate::TensorType;
use evoxc_core::{DType, Dim, DimLike, Shape, Tensor, spec};
use std::hash::{Hash, Hasher};

/// An attribute's value as the text form knows it.
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
    Direction { /// `<`
        Lt "lt", /// `<=`
        Le "le", /// `>`
        Gt "gt", /// `>=`
        Ge "ge", /// `==`
        Eq "eq", /// `!=`
        Ne "ne" }
    /// The order of floats in a comparison.
    SortOrder { /// IEEE 754 comparison
        Ieee "ieee", /// IEEE 754 totalOrder
        Total "total" }
    /// The combiner of a reduction.
    Reducer { /// Sum, from 0
        Sum "sum", /// Product, from 1
        Prod "prod", /// Maximum, from the lowest value (-inf)
        Max "max", /// Minimum, from the highest value (inf)
        Min "min", /// Logical or bitwise and, from all ones
        And "and", /// Logical or bitwise or, from 0
        Or "or" }
    /// The combiner of a scatter.
    ScatterOp { /// The update replaces the element; of several the last
        Set "set", /// Sum
        Add "add", /// Product
        Mul "mul", /// Minimum
        Min "min", /// Maximum
        Max "max" }
    /// What a pooling window selects.
    SelectOp { /// The first largest
        Max "max", /// The first smallest
        Min "min" }
    /// The combiner of a cumulative op.
    CumOp { /// Sum
        Sum "sum", /// Product
        Prod "prod", /// Maximum
        Max "max", /// Minimum
        Min "min", /// log of the sum of exponentials
        Logsumexp "logsumexp" }
    /// The kind of a Fourier transform.
    FftKind { /// Forward, complex
        Fft "fft", /// Inverse, complex, scaled by 1/n
        Ifft "ifft", /// Forward, real to half-spectrum
        Rfft "rfft", /// Inverse, half-spectrum to real
        Irfft "irfft" }
    /// Which op is applied to the matrix of a triangular solve.
    LinTranspose { /// The matrix itself
        None "none", /// Its transpose
        Transpose "transpose", /// Its conjugate transpose
        Adjoint "adjoint" }
    /// A generator of random bits.
    Algorithm { /// splitmix64, key `[]` u64
        SplitMix64 "splitmix64", /// threefry2x32, key `[2]` u32
        Threefry2x32 "threefry2x32", /// philox4x32_10, key `[4]` u32
        Philox4x32 "philox4x32_10" }
}

/// A function of the module, by name.
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
    /// Dimension numbers of a gather, as in StableHLO.
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
