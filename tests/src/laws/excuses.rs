//! What ops are excused from, and why. An excuse that is not needed fails the test.

use super::Law;

/// Ops, laws, and the reason.
pub struct Excuse {
    /// Printed names.
    pub ops: &'static [&'static str],
    /// What they need not satisfy.
    pub laws: &'static [Law],
    /// Why.
    pub why: &'static str,
}

/// Laws of derivatives.
const DERIVATIVES: &[Law] = &[Law::Jvp, Law::Vjp, Law::Exchange, Law::Second];

/// All of them.
pub const EXCUSES: &[Excuse] = &[
    Excuse {
        ops: &[
            "not",
            "popcount",
            "count_leading_zeros",
            "and",
            "or",
            "xor",
            "shift_left",
            "shift_right_logical",
            "shift_right_arithmetic",
            "mulhi",
            "reduce_and",
            "reduce_or",
            "reduce_window_and",
            "reduce_window_or",
            "all_reduce_and",
            "all_reduce_or",
            "reduce_scatter_and",
            "reduce_scatter_or",
            "random_bits",
        ],
        laws: DERIVATIVES,
        why: "operands are integers or booleans, which have no tangents",
    },
    Excuse {
        ops: &["is_finite", "compare", "argmax", "argmin", "bitcast_convert"],
        laws: DERIVATIVES,
        why: "results are integers or booleans, which have no tangents",
    },
    Excuse {
        ops: &["stop_gradient"],
        laws: &[Law::Jvp, Law::Second],
        why: "its derivative is zero by definition, whatever differences say",
    },
    Excuse {
        ops: &["reduce", "reduce_window", "scatter", "select_and_scatter", "all_reduce", "reduce_scatter"],
        laws: DERIVATIVES,
        why: "the combiner is any region; the named combiners are the differentiable forms",
    },
    Excuse {
        ops: &[
            "all_reduce_prod",
            "all_reduce_max",
            "all_reduce_min",
            "reduce_scatter_prod",
            "reduce_scatter_max",
            "reduce_scatter_min",
        ],
        laws: DERIVATIVES,
        why: "it is refused, as in JAX: which process holds the chosen value, or the other factors, is known elsewhere",
    },
    Excuse {
        ops: &["collective_broadcast"],
        laws: &[Law::Vjp, Law::Exchange],
        why: "reverse mode is refused: the transpose adds up on one process of a group, which no collective says",
    },
    Excuse {
        ops: &["nextafter"],
        laws: DERIVATIVES,
        why: "it is refused, as in JAX: neighbours are a matter of the format",
    },
    Excuse {
        ops: &["while_loop"],
        laws: &[Law::Vjp, Law::Exchange],
        why: "reverse mode is refused: the number of turns, and so of residuals, is unknown",
    },
];

/// Ops whose rows may differ from the loop by roundings, within their tolerance, and why. All others agree bit for bit.
pub const REORDERED: &[(&str, &str)] = &[];
