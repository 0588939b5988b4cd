//! The tree that text is read into: ops in generic form, values by number, constants still as text.
//!
//! Everything borrows from the text, so that a module of 500 MB of constants costs little more than its text. Nothing
//! here nests but regions, tuples and attributes, whose depth the parser limits.

use evoxc_core::DType;
use std::borrow::Cow;

/// A byte offset into the text, for errors.
pub type At = usize;

/// A module: its functions, nested modules flattened away, in textual order.
#[derive(Clone, Debug, Default)]
pub struct Module<'a> {
    /// Its symbol name.
    pub name: Option<Cow<'a, str>>,
    /// Its attributes, `mhlo.num_partitions` for instance.
    pub attrs: Vec<NamedAttr<'a>>,
    /// Its functions.
    pub funcs: Vec<Func<'a>>,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Func<'a> {
    /// Its symbol name.
    pub name: Cow<'a, str>,
    /// Is it public (not `private`)?
    pub public: bool,
    /// Attributes of each argument; as many as the body has arguments.
    pub arg_attrs: Vec<Vec<NamedAttr<'a>>>,
    /// Types of the results.
    pub results: Vec<Type<'a>>,
    /// Attributes of each result.
    pub result_attrs: Vec<Vec<NamedAttr<'a>>>,
    /// Its own attributes.
    pub attrs: Vec<NamedAttr<'a>>,
    /// Every value of the body and the regions inside it.
    pub values: Vec<ValueInfo<'a>>,
    /// The body; `None` for a declaration.
    pub body: Option<Region<'a>>,
    /// Where its name stands.
    pub at: At,
}

/// A value of a function, an index into [`Func::values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Value(pub u32);

/// What is known of a value.
#[derive(Clone, Debug)]
pub struct ValueInfo<'a> {
    /// Its name without the `%`; `0#1` for the second result of a group.
    pub name: Cow<'a, str>,
    /// Its type.
    pub ty: Type<'a>,
}

/// A block of ops: StableHLO's regions have one block each. Its last op is the terminator (`stablehlo.return`,
/// `func.return`), as an op.
#[derive(Clone, Debug, Default)]
pub struct Region<'a> {
    /// Block arguments.
    pub args: Vec<Value>,
    /// Ops, the terminator last.
    pub ops: Vec<Op<'a>>,
}

/// An op in generic form.
#[derive(Clone, Debug)]
pub struct Op<'a> {
    /// The full name: `stablehlo.add`, `chlo.erf`, `func.call`, `check.expect_eq`.
    pub name: Cow<'a, str>,
    /// Operands; their types are the values'.
    pub operands: Vec<Value>,
    /// Results; their types are the values'.
    pub results: Vec<Value>,
    /// Attributes, with the names of the generic form (`dot_dimension_numbers`, `broadcast_dimensions`, `value`, …),
    /// whatever form was read.
    pub attrs: Vec<NamedAttr<'a>>,
    /// Regions.
    pub regions: Vec<Region<'a>>,
    /// Where its name stands.
    pub at: At,
    /// The file, line and column of its `loc(...)`, if it has one that names a file.
    pub loc: Option<FileLoc<'a>>,
}

/// A place in a user's source: `loc("model.py":3:4)`.
#[derive(Clone, Debug, PartialEq)]
pub struct FileLoc<'a> {
    /// The file.
    pub file: Cow<'a, str>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// An attribute and its name.
pub type NamedAttr<'a> = (Cow<'a, str>, Attr<'a>);

/// The value of an attribute.
#[derive(Clone, Debug)]
pub enum Attr<'a> {
    /// Present without a value: `indices_are_sorted` in an attribute dictionary.
    Unit,
    /// `true`, `false`.
    Bool(bool),
    /// `3 : i64`; any integer up to 128 bits.
    Int(i128),
    /// `1.0e-4 : f32`, hexadecimal forms decoded by their type.
    Float(f64),
    /// `"text"`, unescaped.
    Str(Cow<'a, str>),
    /// `@name`, without the `@`.
    Symbol(Cow<'a, str>),
    /// A type as an attribute.
    Type(Type<'a>),
    /// `[a, b]`, and `array<i64: 1, 2>`.
    Array(Vec<Attr<'a>>),
    /// `{a = 1}`.
    Dict(Vec<NamedAttr<'a>>),
    /// `dense<…> : tensor<…>`, `dense_resource<…>`, undecoded.
    Dense(Dense<'a>),
    /// One word: `#stablehlo<comparison_direction LT>` is `LT`, `#chlo<...>` too, bare words of pretty forms as well.
    Word(Cow<'a, str>),
    /// `#stablehlo.dot<lhs_contracting_dimensions = [1], …>`: the name after the `#` without the dialect (`dot`,
    /// `conv`, `scatter`, `gather`, `channel_handle`, `output_operand_alias`, …) and its fields. The pretty forms give
    /// the same records; `conv` has the fields `input`, `kernel`, `output`, each an array of words and numbers
    /// (`[b, 0, 1, f]`).
    Record(Cow<'a, str>, Vec<NamedAttr<'a>>),
    /// What has no form of its own here, verbatim.
    Opaque(&'a str),
}

/// A dense constant: its type, and the text of its elements, decoded on demand.
#[derive(Clone, Debug)]
pub struct Dense<'a> {
    /// Its type.
    pub ty: TensorType<'a>,
    /// Its elements.
    pub data: DenseData<'a>,
    /// Where its elements stand.
    pub at: At,
}

/// The elements of a dense constant.
#[derive(Clone, Debug)]
pub enum DenseData<'a> {
    /// Between `dense<` and `>`: a splat, nested lists, or a hex string; empty for no elements.
    Text(&'a str),
    /// The hex text of a resource blob (`"0x08000000…"`), whose first four bytes are its alignment.
    Resource(&'a str),
}

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub enum Type<'a> {
    /// A tensor.
    Tensor(TensorType<'a>),
    /// A scalar that is no tensor: `i64`, `f32`, `index` (of attributes and rarely of values).
    Scalar(Element<'a>),
    /// `tuple<…>`.
    Tuple(Vec<Type<'a>>),
    /// `!stablehlo.token`.
    Token,
    /// `(a, b) -> c`.
    Function(Vec<Type<'a>>, Vec<Type<'a>>),
    /// Any other, verbatim.
    Other(&'a str),
}

/// A tensor type.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorType<'a> {
    /// The extents, `None` for `?`; `None` for an unranked tensor.
    pub shape: Option<Vec<Option<u64>>>,
    /// The bounds of `#stablehlo.bounds<…>`, or empty.
    pub bounds: Vec<Option<u64>>,
    /// The type of elements.
    pub element: Element<'a>,
}

/// The type of elements.
#[derive(Clone, Debug, PartialEq)]
pub enum Element<'a> {
    /// One of evoxc's.
    Known(DType),
    /// `index`, a host integer.
    Index,
    /// One without a dtype: `i4`, `f8E4M3FN`, …, verbatim.
    Unsupported(&'a str),
    /// `!quant.uniform<…>`, verbatim.
    Quantized(&'a str),
}
