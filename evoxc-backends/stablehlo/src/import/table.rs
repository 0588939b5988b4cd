//! The table of ops: from the name of an op to the rule that imports it. What is not in it is a typed error.

use super::fault::Done;
use super::item::Item;
use super::rules::{
    checks, chlo, collective, contraction, control, custom_call, dynamic, elementwise, indexing, linalg, norm,
    ordering, ragged, random, reduction, shape,
};
use super::walk::Importer;
use crate::syntax::ast::Op;
use evoxc_core::Unsupported;
use evoxc_ir::{Binary, Unary};

/// How an op is imported.
pub(super) enum Rule<'m, 'a> {
    /// As this op of one operand.
    Unary(Unary),
    /// As this op of two operands of one type.
    Binary(Binary),
    /// As this op of two operands that are broadcast together first.
    Broadcast(Binary),
    /// By a function that gives its results.
    Apply(fn(&mut Importer<'m, 'a>, &'m Op<'a>) -> Done<Vec<Item>>),
    /// Not at all: the kind, why, and what to do.
    Refuse(Unsupported, &'static str, &'static str),
}

/// The rule of an op.
pub(super) fn rule<'m, 'a>(name: &str) -> Option<Rule<'m, 'a>> {
    use Rule::{Apply, Binary as B, Refuse, Unary as U};
    let (dialect, op) = name.split_once('.').unwrap_or(("func", name));
    // The dialect that StableHLO comes from has its ops under the same names.
    let dialect = if dialect == "mhlo" { "stablehlo" } else { dialect };
    Some(match (dialect, op) {
        ("stablehlo" | "chlo", "abs") => U(Unary::Abs),
        ("stablehlo", "cbrt") => U(Unary::Cbrt),
        ("stablehlo", "ceil") => U(Unary::Ceil),
        ("stablehlo", "count_leading_zeros") => U(Unary::CountLeadingZeros),
        ("stablehlo", "cosine") => U(Unary::Cos),
        ("stablehlo", "exponential") => U(Unary::Exp),
        ("stablehlo", "exponential_minus_one") => U(Unary::Expm1),
        ("stablehlo", "floor") => U(Unary::Floor),
        ("stablehlo", "imag") => U(Unary::Imag),
        ("stablehlo", "is_finite") => U(Unary::IsFinite),
        ("stablehlo", "log") => U(Unary::Log),
        ("stablehlo", "log_plus_one") => U(Unary::Log1p),
        ("stablehlo", "logistic") => U(Unary::Logistic),
        ("stablehlo", "negate") => U(Unary::Neg),
        ("stablehlo", "not") => U(Unary::Not),
        ("stablehlo", "popcnt") => U(Unary::Popcount),
        ("stablehlo", "real") => U(Unary::Real),
        ("stablehlo", "round_nearest_afz") => U(Unary::RoundAway),
        ("stablehlo", "round_nearest_even") => U(Unary::RoundEven),
        ("stablehlo", "rsqrt") => U(Unary::Rsqrt),
        ("stablehlo", "sign") => U(Unary::Sign),
        ("stablehlo", "sine") => U(Unary::Sin),
        ("stablehlo", "sqrt") => U(Unary::Sqrt),
        ("stablehlo" | "chlo", "tan") => U(Unary::Tan),
        ("stablehlo", "tanh") => U(Unary::Tanh),
        ("chlo" | "stablehlo", "acos") => U(Unary::Acos),
        ("chlo" | "stablehlo", "acosh") => U(Unary::Acosh),
        ("chlo" | "stablehlo", "asin") => U(Unary::Asin),
        ("chlo" | "stablehlo", "asinh") => U(Unary::Asinh),
        ("chlo" | "stablehlo", "atan") => U(Unary::Atan),
        ("chlo" | "stablehlo", "atanh") => U(Unary::Atanh),
        ("chlo" | "stablehlo", "cosh") => Apply(chlo::cosh),
        ("chlo" | "stablehlo", "sinh") => Apply(chlo::sinh),
        ("chlo", "conj") => U(Unary::Conj),
        ("chlo", "digamma") => U(Unary::Digamma),
        ("chlo" | "stablehlo", "erf") => U(Unary::Erf),
        ("chlo", "erf_inv") => U(Unary::ErfInv),
        ("chlo", "erfc") => U(Unary::Erfc),
        ("chlo", "lgamma") => U(Unary::Lgamma),

        ("stablehlo", "add") => B(Binary::Add),
        ("stablehlo", "and") => B(Binary::And),
        ("stablehlo", "atan2") => Apply(elementwise::atan2),
        ("stablehlo", "complex") => B(Binary::Complex),
        ("stablehlo", "divide") => B(Binary::Div),
        ("stablehlo", "maximum") => B(Binary::Max),
        ("stablehlo", "minimum") => B(Binary::Min),
        ("stablehlo", "multiply") => B(Binary::Mul),
        ("stablehlo", "or") => B(Binary::Or),
        ("stablehlo", "power") => B(Binary::Pow),
        ("stablehlo", "remainder") => B(Binary::Rem),
        ("stablehlo", "shift_left") => B(Binary::ShiftLeft),
        ("stablehlo", "shift_right_arithmetic") => B(Binary::ShiftRightArithmetic),
        ("stablehlo", "shift_right_logical") => B(Binary::ShiftRightLogical),
        ("stablehlo", "subtract") => B(Binary::Sub),
        ("stablehlo", "xor") => B(Binary::Xor),
        ("chlo", "mulhi") => B(Binary::Mulhi),
        ("chlo", "next_after") => B(Binary::Nextafter),

        ("stablehlo", "compare") => Apply(elementwise::compare),
        ("stablehlo", "select") => Apply(elementwise::select),
        ("stablehlo", "clamp") => Apply(elementwise::clamp),
        ("stablehlo", "convert") => Apply(elementwise::convert),
        ("stablehlo", "bitcast_convert") => Apply(elementwise::bitcast_convert),
        ("stablehlo", "reduce_precision") => Apply(elementwise::reduce_precision),
        ("stablehlo", "map") => Apply(elementwise::map),

        ("stablehlo" | "chlo", "constant") | ("arith", "constant") => Apply(shape::constant),
        ("stablehlo", "iota") => Apply(shape::iota),
        ("stablehlo", "broadcast_in_dim") => Apply(shape::broadcast_in_dim),
        ("stablehlo", "broadcast") => Apply(shape::broadcast),
        ("stablehlo", "reshape") => Apply(shape::reshape),
        ("stablehlo", "transpose") => Apply(shape::transpose),
        ("stablehlo", "slice") => Apply(shape::slice),
        ("stablehlo", "pad") => Apply(shape::pad),
        ("stablehlo", "concatenate") => Apply(shape::concatenate),
        ("stablehlo", "reverse") => Apply(shape::reverse),
        ("stablehlo", "optimization_barrier") => Apply(shape::optimization_barrier),

        ("stablehlo", "get_dimension_size") => Apply(dynamic::get_dimension_size),
        ("stablehlo", "set_dimension_size") => Apply(dynamic::set_dimension_size),
        ("stablehlo" | "chlo", "dynamic_reshape") => Apply(dynamic::dynamic_reshape),
        ("stablehlo", "dynamic_broadcast_in_dim") => Apply(dynamic::dynamic_broadcast_in_dim),
        ("stablehlo", "dynamic_iota") => Apply(dynamic::dynamic_iota),
        ("stablehlo", "dynamic_pad") => Apply(dynamic::dynamic_pad),
        ("stablehlo", "real_dynamic_slice") => Apply(dynamic::real_dynamic_slice),
        ("stablehlo", "dynamic_gather") => Apply(dynamic::dynamic_gather),
        ("stablehlo", "dynamic_conv") => Apply(dynamic::dynamic_conv),

        ("stablehlo", "gather") => Apply(indexing::gather),
        ("stablehlo", "scatter") => Apply(indexing::scatter),
        ("stablehlo", "dynamic_slice") => Apply(indexing::dynamic_slice),
        ("stablehlo", "dynamic_update_slice") => Apply(indexing::dynamic_update_slice),
        ("stablehlo", "torch_index_select") => Apply(indexing::torch_index_select),

        ("stablehlo", "dot") => Apply(contraction::dot),
        ("stablehlo", "dot_general") => Apply(contraction::dot_general),
        ("stablehlo", "einsum" | "unary_einsum") => Apply(contraction::einsum),
        ("stablehlo", "convolution") => Apply(contraction::convolution),
        ("chlo", "ragged_dot") => Apply(ragged::ragged_dot),

        ("stablehlo", "reduce") => Apply(reduction::reduce),
        ("stablehlo", "reduce_window") => Apply(reduction::reduce_window),
        ("stablehlo", "select_and_scatter") => Apply(reduction::select_and_scatter),
        ("stablehlo", "sort") => Apply(ordering::sort),
        ("chlo" | "stablehlo", "top_k" | "topk") => Apply(ordering::top_k),

        ("stablehlo", "fft") => Apply(linalg::fft),
        ("stablehlo", "cholesky") => Apply(linalg::cholesky),
        ("stablehlo", "triangular_solve") => Apply(linalg::triangular_solve),
        ("stablehlo", "batch_norm_inference") => Apply(norm::inference),
        ("stablehlo", "batch_norm_training") => Apply(norm::training),
        ("stablehlo", "batch_norm_grad") => Apply(norm::grad),

        ("stablehlo", "while") => Apply(control::while_loop),
        ("stablehlo", "if") => Apply(control::cond),
        ("stablehlo", "case") => Apply(control::case),
        ("chlo", "scan") => Apply(control::scan),
        ("func", "call") => Apply(control::call),
        ("stablehlo", "composite") => Apply(control::composite),
        ("stablehlo", "tuple") => Apply(control::tuple),
        ("stablehlo", "get_tuple_element") => Apply(control::get_tuple_element),
        ("stablehlo", "after_all" | "create_token") => Apply(control::token),

        ("stablehlo", "rng") => Refuse(
            Unsupported::Random,
            "its numbers have no seed: no two runs, and no two compilers, agree on them",
            "draw from a key (`rng_bit_generator`, or an input)",
        ),
        ("stablehlo", "rng_bit_generator") => Apply(random::rng_bit_generator),
        ("stablehlo", "custom_call") => Apply(custom_call::custom_call),
        ("sdy", "sharding_constraint" | "propagation_barrier" | "reshard") => Apply(custom_call::identity),

        ("stablehlo", "infeed" | "outfeed" | "send" | "recv") => Refuse(
            Unsupported::HostTransfer,
            "a graph exchanges nothing with its host while it runs",
            "make the values arguments and results of the function",
        ),
        ("stablehlo", "uniform_quantize" | "uniform_dequantize") => Refuse(
            Unsupported::QuantizedType,
            "graphs have no quantized types",
            "dequantize before (`stablehlo-opt --stablehlo-legalize-quant-to-math`)",
        ),
        ("stablehlo", "all_reduce") => Apply(collective::all_reduce),
        ("stablehlo", "all_gather") => Apply(collective::all_gather),
        ("stablehlo", "reduce_scatter") => Apply(collective::reduce_scatter),
        ("stablehlo", "all_to_all") => Apply(collective::all_to_all),
        ("stablehlo", "collective_permute") => Apply(collective::collective_permute),
        ("stablehlo", "collective_broadcast") => Apply(collective::collective_broadcast),
        ("stablehlo", "cross-replica-sum") => Apply(collective::cross_replica_sum),
        ("stablehlo", "partition_id") => Apply(collective::partition_id),
        ("stablehlo", "replica_id") => Apply(collective::replica_id),

        ("check", _) => Apply(checks::check),
        ("interpreter", "probe") => Apply(checks::probe),
        ("interpreter", "run_parallel") => Apply(checks::run_parallel),

        ("chlo", "bessel_i1e") => Apply(chlo::bessel_i1e),
        ("chlo", "square") => Apply(chlo::square),
        ("chlo", "_asin_acos_kernel") => Apply(chlo::asin_acos_kernel),
        ("chlo", "is_inf") => Apply(chlo::is_inf),
        ("chlo", "is_neg_inf") => Apply(chlo::is_neg_inf),
        ("chlo", "is_pos_inf") => Apply(chlo::is_pos_inf),
        ("chlo", "polygamma") => Apply(chlo::polygamma),
        ("chlo", "zeta") => Apply(chlo::zeta),
        ("chlo", "constant_like") => Apply(chlo::constant_like),
        ("chlo", "broadcast_add") => Rule::Broadcast(Binary::Add),
        ("chlo", "broadcast_and") => Rule::Broadcast(Binary::And),
        ("chlo", "broadcast_atan2") => Rule::Broadcast(Binary::Atan2),
        ("chlo", "broadcast_complex") => Rule::Broadcast(Binary::Complex),
        ("chlo", "broadcast_divide") => Rule::Broadcast(Binary::Div),
        ("chlo", "broadcast_maximum") => Rule::Broadcast(Binary::Max),
        ("chlo", "broadcast_minimum") => Rule::Broadcast(Binary::Min),
        ("chlo", "broadcast_multiply") => Rule::Broadcast(Binary::Mul),
        ("chlo", "broadcast_next_after") => Rule::Broadcast(Binary::Nextafter),
        ("chlo", "broadcast_or") => Rule::Broadcast(Binary::Or),
        ("chlo", "broadcast_power") => Rule::Broadcast(Binary::Pow),
        ("chlo", "broadcast_remainder") => Rule::Broadcast(Binary::Rem),
        ("chlo", "broadcast_shift_left") => Rule::Broadcast(Binary::ShiftLeft),
        ("chlo", "broadcast_shift_right_arithmetic") => Rule::Broadcast(Binary::ShiftRightArithmetic),
        ("chlo", "broadcast_shift_right_logical") => Rule::Broadcast(Binary::ShiftRightLogical),
        ("chlo", "broadcast_subtract") => Rule::Broadcast(Binary::Sub),
        ("chlo", "broadcast_xor") => Rule::Broadcast(Binary::Xor),
        ("chlo", "broadcast_polygamma") => Apply(chlo::broadcast_polygamma),
        ("chlo", "broadcast_zeta") => Apply(chlo::broadcast_zeta),
        ("chlo", "broadcast_compare") => Apply(chlo::broadcast_compare),
        ("chlo", "broadcast_select") => Apply(chlo::broadcast_select),
        _ => return None,
    })
}
