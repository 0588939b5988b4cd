//! The pretty forms of ops, as data: which pieces stand behind an op's name, and what attributes they are in generic
//! form. Ops without a row are printed in generic form, or read by [`Piece::Types`]`(`[`Signature::Any`]`)`.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A piece of a pretty form.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece {
    /// `%a, %b`, or nothing, or `()`.
    Operands,
    /// One operand.
    Operand,
    /// `(%a, %b)`.
    Parens,
    /// `[%a, %b]`, more operands.
    Brackets,
    /// `key = value`, any of these in any order, with commas between.
    Keys(&'static [Key]),
    /// A bare word: `LT`.
    Word(&'static str),
    /// `, WORD`, which may be missing.
    OptionalWord(&'static str),
    /// A comma.
    Comma,
    /// `@target`, as the text of the name or as a symbol.
    Target(&'static str),
    Symbol(&'static str),
    /// `"text"`.
    Str(&'static str),
    /// `dense<…> : type`.
    Dense(&'static str),
    /// `[0]`.
    Index(&'static str),
    /// `<…>`, kept as it is written.
    Verbatim(&'static str),
    /// `[0:2, 1:5:2]`.
    Ranges,
    /// `{…}`, which may be missing.
    Attributes,
    /// Types, and the colon before them.
    Types(Signature),
    /// Everything behind the name of an op with a form of its own.
    Special(Special),
}

/// `word = value` of a pretty form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub word: &'static str,
    pub attr: &'static str,
    pub kind: Kind,
}

/// The value of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// An integer or a list of them; `true`.
    Value,
    /// A bare word.
    Word,
    /// `[DEFAULT, HIGH]`.
    Words,
    /// `"text"`.
    Str,
    /// A float.
    Float,
    /// `e8m10`: two attributes.
    Format,
    /// `[0] x [1]`: two fields of a record; the key's attribute is their common name.
    Pair,
    /// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
    ConvNumbers,
    /// `{stride = [1, 1], pad = …}`: an attribute each.
    Window,
    /// `<a = …>`: a record of this name.
    Record(&'static str),
}

/// How types are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Signature {
    /// `T`: operands and the result are of it; or a function type.
    Same,
    /// A function type.
    Function,
    /// `P, T`: a predicate, and the rest; or a function type.
    Select,
    /// `T` of complex elements, operands of its real type; or a function type.
    Complex,
    /// `tuple<…>`: its parts are the operands' types.
    Tuple,
    /// `T, U`: of operands and results alike.
    Pairwise,
    /// `T, U`: of operands; there are no results. Missing where there are no operands.
    Operands,
    /// `T`: of all operands; there are no results.
    SameOperands,
    /// `T`: of the result.
    Result,
    /// `T, U -> R`, `(T, U) -> R`, also with `to` for the arrow.
    Arrow,
    /// `T`: of the first operand; the others and the result are of type `index`.
    Index,
    /// `T`: of the first operand; the result is an element, the others are of type `index`.
    Extract,
    /// `T`: of the result; operands are its elements.
    Elements,
    /// Nothing: the result is of the type of the attribute `value`.
    Value,
    /// Nothing: the operand is of the type of the attribute `value`, and there are no results.
    Expected,
    /// Whatever fits of the above.
    Any,
}

/// Forms with code of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Special {
    Reduce,
    While,
    Scan,
    TopK,
    /// `sdy.manual_computation`, of shards.
    Manual,
    /// `constant dense<…>`, or the generic form behind the pretty name.
    Constant,
    /// `arith.constant 4 : index`.
    ScalarConstant,
    /// `[2, 3] : type`.
    ShapeConstant,
}

const fn key(word: &'static str, attr: &'static str, kind: Kind) -> Key {
    Key { word, attr, kind }
}

use Kind::{ConvNumbers, Float, Format, Pair, Record, Str, Value, Window, Word, Words};
use Piece::{Attributes, Keys, Operand, Operands, Parens, Types};

/// `%a, key = value, … {attributes} : types`.
macro_rules! keyed {
    ($signature:ident: $($word:literal $attr:literal $kind:expr),*) => {
        &[Operands, Keys(&[$(key($word, $attr, $kind)),*]), Attributes, Types(Signature::$signature)]
    };
}

const SAME: &[Piece] = &[Operands, Attributes, Types(Signature::Same)];
const FUNCTION: &[Piece] = &[Operands, Attributes, Types(Signature::Function)];
const ARROW: &[Piece] = &[Operands, Attributes, Types(Signature::Arrow)];
const RESULT: &[Piece] = &[Operands, Attributes, Types(Signature::Result)];
const RETURN: &[Piece] = &[Operands, Attributes, Types(Signature::Operands)];
const CONVOLUTION: &[Piece] = &[
    Parens,
    Keys(&[key("dim_numbers", "dimension_numbers", ConvNumbers), key("window", "", Window)]),
    Attributes,
    Types(Signature::Function),
];
const EXPECT_CONST: &[Piece] = &[
    Operand,
    Piece::Comma,
    Piece::Dense("value"),
    Keys(&[key("tolerance", "tolerance", Float)]),
    Attributes,
    Types(Signature::Expected),
];

/// Each row: ops of one form.
pub(crate) const FORMS: &[(&[&str], &[Piece])] = &[
    (
        &[
            "stablehlo.abs",
            "stablehlo.add",
            "stablehlo.after_all",
            "stablehlo.and",
            "stablehlo.atan2",
            "stablehlo.bitcast_convert",
            "stablehlo.cbrt",
            "stablehlo.ceil",
            "stablehlo.clamp",
            "stablehlo.convert",
            "stablehlo.cosine",
            "stablehlo.count_leading_zeros",
            "stablehlo.divide",
            "stablehlo.exponential",
            "stablehlo.exponential_minus_one",
            "stablehlo.floor",
            "stablehlo.imag",
            "stablehlo.is_finite",
            "stablehlo.log",
            "stablehlo.log_plus_one",
            "stablehlo.logistic",
            "stablehlo.maximum",
            "stablehlo.minimum",
            "stablehlo.multiply",
            "stablehlo.negate",
            "stablehlo.not",
            "stablehlo.or",
            "stablehlo.popcnt",
            "stablehlo.power",
            "stablehlo.real",
            "stablehlo.remainder",
            "stablehlo.round_nearest_afz",
            "stablehlo.round_nearest_even",
            "stablehlo.rsqrt",
            "stablehlo.shift_left",
            "stablehlo.shift_right_arithmetic",
            "stablehlo.shift_right_logical",
            "stablehlo.sign",
            "stablehlo.sine",
            "stablehlo.sqrt",
            "stablehlo.subtract",
            "stablehlo.tan",
            "stablehlo.tanh",
            "stablehlo.uniform_dequantize",
            "stablehlo.uniform_quantize",
            "stablehlo.xor",
        ],
        SAME,
    ),
    (
        &[
            "stablehlo.compute_reshape_shape",
            "stablehlo.cstr_reshapable",
            "stablehlo.dynamic_pad",
            "stablehlo.dynamic_reshape",
            "stablehlo.dynamic_update_slice",
            "stablehlo.real_dynamic_slice",
            "stablehlo.reshape",
        ],
        FUNCTION,
    ),
    (&["stablehlo.create_token", "stablehlo.partition_id", "stablehlo.replica_id"], RESULT),
    (&["stablehlo.complex"], &[Operands, Attributes, Types(Signature::Complex)]),
    (&["stablehlo.select"], &[Operands, Attributes, Types(Signature::Select)]),
    (&["stablehlo.tuple"], &[Operands, Attributes, Types(Signature::Tuple)]),
    (&["stablehlo.optimization_barrier"], &[Operands, Attributes, Types(Signature::Pairwise)]),
    (&["stablehlo.return", "func.return", "chlo.return", "sdy.return", "mhlo.return"], RETURN),
    (&["stablehlo.trace"], &[Operand, Piece::Comma, Piece::Str("tag"), Attributes, Types(Signature::Operands)]),
    (&["stablehlo.constant", "chlo.constant"], &[Piece::Special(Special::Constant)]),
    (&["stablehlo.iota"], keyed!(Result: "dim" "iota_dimension" Value)),
    (&["stablehlo.dynamic_iota"], keyed!(Function: "dim" "iota_dimension" Value)),
    (
        &["stablehlo.concatenate", "stablehlo.get_dimension_size", "stablehlo.set_dimension_size"],
        keyed!(Function: "dim" "dimension" Value),
    ),
    (&["stablehlo.broadcast"], keyed!(Function: "sizes" "broadcast_sizes" Value)),
    (
        &["stablehlo.broadcast_in_dim", "stablehlo.dynamic_broadcast_in_dim"],
        keyed!(Function: "dims" "broadcast_dimensions" Value),
    ),
    (&["stablehlo.transpose"], keyed!(Function: "dims" "permutation" Value)),
    (&["stablehlo.reverse"], keyed!(Same: "dims" "dimensions" Value)),
    (&["stablehlo.dynamic_slice"], keyed!(Function: "sizes" "slice_sizes" Value)),
    (&["stablehlo.slice"], &[Operand, Piece::Ranges, Attributes, Types(Signature::Function)]),
    (
        &["stablehlo.pad"],
        keyed!(Function: "low" "edge_padding_low" Value, "high" "edge_padding_high" Value, "interior" "interior_padding" Value),
    ),
    (
        &["stablehlo.compare"],
        &[
            Piece::Word("comparison_direction"),
            Piece::Comma,
            Operands,
            Piece::OptionalWord("compare_type"),
            Attributes,
            Types(Signature::Function),
        ],
    ),
    (&["stablehlo.cholesky"], keyed!(Same: "lower" "lower" Value)),
    (&["stablehlo.reduce_precision"], keyed!(Same: "format" "" Format)),
    (&["stablehlo.rng"], keyed!(Function: "distribution" "rng_distribution" Word)),
    (&["stablehlo.rng_bit_generator"], keyed!(Function: "algorithm" "rng_algorithm" Word)),
    (&["stablehlo.fft"], keyed!(Function: "type" "fft_type" Word, "length" "fft_length" Value)),
    (&["stablehlo.einsum", "stablehlo.unary_einsum"], keyed!(Function: "config" "einsum_config" Str)),
    (&["stablehlo.dot"], keyed!(Function: "precision" "precision_config" Words)),
    (
        &["stablehlo.dot_general"],
        keyed!(Function:
            "batching_dims" "batching_dimensions" Pair, "contracting_dims" "contracting_dimensions" Pair,
            "precision" "precision_config" Words, "algorithm" "algorithm" Record("dot_algorithm")),
    ),
    (&["stablehlo.convolution", "stablehlo.dynamic_conv"], CONVOLUTION),
    (&["stablehlo.custom_call"], &[Piece::Target("call_target_name"), Parens, Attributes, Types(Signature::Function)]),
    (&["stablehlo.composite"], &[Piece::Str("name"), Operands, Attributes, Types(Signature::Function)]),
    (&["func.call"], &[Piece::Symbol("callee"), Parens, Attributes, Types(Signature::Function)]),
    (&["stablehlo.get_tuple_element"], &[Operand, Piece::Index("index"), Attributes, Types(Signature::Function)]),
    (&["stablehlo.reduce"], &[Piece::Special(Special::Reduce)]),
    (&["stablehlo.while"], &[Piece::Special(Special::While)]),
    (&["chlo.scan"], &[Piece::Special(Special::Scan)]),
    (&["chlo.top_k"], &[Piece::Special(Special::TopK)]),
    (
        &[
            "chlo.acos",
            "chlo.acosh",
            "chlo._asin_acos_kernel",
            "chlo.asin",
            "chlo.asinh",
            "chlo.atan",
            "chlo.atanh",
            "chlo.bessel_i1e",
            "chlo.broadcast_add",
            "chlo.broadcast_and",
            "chlo.broadcast_atan2",
            "chlo.broadcast_compare",
            "chlo.broadcast_complex",
            "chlo.broadcast_divide",
            "chlo.broadcast_maximum",
            "chlo.broadcast_minimum",
            "chlo.broadcast_multiply",
            "chlo.broadcast_next_after",
            "chlo.broadcast_or",
            "chlo.broadcast_polygamma",
            "chlo.broadcast_power",
            "chlo.broadcast_remainder",
            "chlo.broadcast_select",
            "chlo.broadcast_shift_left",
            "chlo.broadcast_shift_right_arithmetic",
            "chlo.broadcast_shift_right_logical",
            "chlo.broadcast_subtract",
            "chlo.broadcast_xor",
            "chlo.broadcast_zeta",
            "chlo.conj",
            "chlo.cosh",
            "chlo.digamma",
            "chlo.erf",
            "chlo.erf_inv",
            "chlo.erfc",
            "chlo.is_inf",
            "chlo.is_neg_inf",
            "chlo.is_pos_inf",
            "chlo.lgamma",
            "chlo.minimum_broadcast_shapes",
            "chlo.mulhi",
            "chlo.next_after",
            "chlo.polygamma",
            "chlo.sinh",
            "chlo.square",
            "chlo.tan",
            "chlo.zeta",
            "shape.broadcast",
            "shape.num_elements",
            "shape.rank",
            "shape.shape_of",
            "tensor.cast",
            "arith.index_cast",
        ],
        ARROW,
    ),
    (&["check.expect_eq", "check.eq"], &[Operands, Attributes, Types(Signature::SameOperands)]),
    (
        &["check.expect_almost_eq"],
        &[Operands, Keys(&[key("tolerance", "tolerance", Float)]), Attributes, Types(Signature::SameOperands)],
    ),
    (&["check.expect_eq_const", "check.expect_almost_eq_const"], EXPECT_CONST),
    (
        &["check.expect_close"],
        keyed!(Operands: "max_ulp_difference" "max_ulp_difference" Value, "min_ulp_difference" "min_ulp_difference" Value),
    ),
    (
        &["check.expect_serialized_eq"],
        keyed!(SameOperands: "probe_id" "probe_id" Str, "iter" "iteration" Value, "iteration" "iteration" Value),
    ),
    (&["interpreter.probe"], keyed!(Same: "probe_id" "probe_id" Str)),
    (
        &["sdy.sharding_constraint", "sdy.reshard"],
        &[Operand, Piece::Verbatim("sharding"), Attributes, Types(Signature::Same)],
    ),
    (&["sdy.manual_computation"], &[Piece::Special(Special::Manual)]),
    (&["arith.constant"], &[Piece::Special(Special::ScalarConstant)]),
    (&["shape.const_shape"], &[Piece::Special(Special::ShapeConstant)]),
    (&["tensor.dim"], &[Operands, Attributes, Types(Signature::Index)]),
    (&["tensor.extract"], &[Operand, Piece::Brackets, Attributes, Types(Signature::Extract)]),
    (&["tensor.from_elements"], &[Operands, Attributes, Types(Signature::Elements)]),
];

/// The form of an op without a row.
pub(crate) const ANY: &[Piece] = &[Operands, Attributes, Types(Signature::Any)];

/// The form behind an op's name.
pub(crate) fn form(name: &str) -> Option<&'static [Piece]> {
    static BY_NAME: LazyLock<HashMap<&str, &[Piece]>> =
        LazyLock::new(|| FORMS.iter().flat_map(|(names, form)| names.iter().map(|n| (*n, *form))).collect());
    BY_NAME.get(name).copied()
}
