//! Linear algebra: the types that its methods give, what they build, what they say when they cannot.

use evoxc_core::*;
use evoxc_trace::*;

/// What tracing `f` on matrices of this shape says.
fn error(f: fn(Sym) -> Sym, input: TensorSpec) -> String {
    match trace(f, input) {
        Ok(_) => panic!("no error"),
        Err(Error::Trace(e)) => {
            assert_eq!(e.errors.len(), 1, "{e}");
            let e = &e.errors[0];
            assert!(e.loc.unwrap().file().ends_with("tests/linalg.rs"), "{e}");
            format!("{e}")
        }
        Err(e) => panic!("{e}"),
    }
}

fn says(f: fn(Sym) -> Sym, input: TensorSpec, parts: &[&str]) {
    let text = error(f, input);
    parts.iter().for_each(|p| assert!(text.contains(p), "{text}: no {p}"));
}

#[test]
fn errors_name_the_method_the_types_and_the_remedy() {
    let wide = || spec(F32, [2, 3]);
    let square: [(&str, fn(Sym) -> Sym); 9] = [
        ("solve", |a| a.solve(a)),
        ("inv", |a| a.inv()),
        ("det", |a| a.det()),
        ("slogdet", |a| a.slogdet().1),
        ("matrix_power", |a| a.matrix_power(2)),
        ("matrix_power", |a| a.matrix_power(-2)),
        ("matrix_exp", |a| a.matrix_exp()),
        ("cholesky", |a| a.cholesky()),
        ("eigh", |a| a.eigh().0),
    ];
    for (name, f) in square {
        says(f, wide(), &[name, "must be square, they are 2 by 3", "tensor<2x3xf32>"]);
        says(f, spec(F32, [3]), &[name, "rank 1", "tensor<3xf32>", "expand_dims"]);
    }
    let fields: [(&str, fn(Sym) -> Sym); 11] = [
        ("solve", |a| a.solve(a)),
        ("inv", |a| a.inv()),
        ("det", |a| a.det()),
        ("slogdet", |a| a.slogdet().0),
        ("pinv", |a| a.pinv()),
        ("pinv_rcond", |a| a.pinv_rcond(0.1)),
        ("lstsq", |a| a.lstsq(a).0),
        ("matrix_rank", |a| a.matrix_rank()),
        ("cond_number", |a| a.cond_number()),
        ("matrix_power", |a| a.matrix_power(-1)),
        ("matrix_exp", |a| a.matrix_exp()),
    ];
    for (name, f) in fields {
        says(f, spec(I32, [2, 2]), &[name, "not in i32", "tensor<2x2xi32>", ".cast(F32)"]);
        says(f, spec(F16, [2, 2]), &[name, "not in f16", ".cast(F32)"]);
    }
    says(|a| a.matrix_norm(MatrixNorm::Two), spec(BF16, [2, 2]), &["matrix_norm", "not in bf16"]);
    says(|a| a.matrix_norm(MatrixNorm::One), spec(I32, [2, 2]), &["matrix_norm", "float or complex", ".cast(F32)"]);
    says(|a| a.trace(), spec(BOOL, [2, 2]), &["trace", "tensor of numbers", ".cast(I32)"]);
    says(|a| a.trace(), spec(F32, [2]), &["trace", "rank 1"]);
    says(|a| a.pinv_rcond(-1.0), wide(), &["pinv_rcond", "rcond is -1", "1e-6"]);
    says(|a| a.matrix_rank_rcond(f64::NAN), wide(), &["matrix_rank_rcond", "rcond is NaN"]);
    says(|_| multi_dot([]), wide(), &["multi_dot", "nothing to multiply"]);
    says(|a| multi_dot([a, a.sum(0), a]), wide(), &["multi_dot", "operand 1 of 3 has rank 1", "matmul"]);
}

#[test]
fn right_hand_sides_that_do_not_fit() {
    let square = || spec(F32, [3, 3]);
    says(|a| a.solve(a.slice(first_rows(2))), square(), &["solve", "have 3 rows, but axis 0 of b has size 2"]);
    says(|a| a.solve(a.cast(F64)), square(), &["solve", "different dtypes, f32 and f64", ".cast(F32)"]);
    says(|a| a.solve(a.sum(..)), square(), &["solve", "rank 0"]);
    says(
        |a| a.broadcast_to([2, 3, 3]).solve(a.broadcast_to([4, 3, 3])),
        square(),
        &["solve", "leading axes", "do not broadcast"],
    );
    // NumPy 2: a stack of vectors is a matrix.
    says(|a| a.broadcast_to([2, 3, 3]).solve(a.sum(0).broadcast_to([2, 3])), square(), &["solve", "expand_dims(-1)"]);
}

/// The first `n` rows.
fn first_rows(n: i64) -> Slices {
    Slices(vec![SliceItem::Range(None, Some(Dim::constant(n)), 1)])
}

#[test]
fn shapes_stay_symbolic() {
    let (b, m, n, k) = (dim("B"), dim("M"), dim("N"), dim("K"));
    let g = trace(
        |a: Sym, s: Sym, r: Sym| {
            let (x, residuals, rank, singular) = a.lstsq(r);
            (
                vec![s.solve(s), s.inv(), s.det(), s.matrix_exp(), s.trace()],
                vec![a.pinv(), x, residuals, rank, singular],
            )
        },
        (spec(F32, (b, m, n)), spec(F64, (b, n, n)), spec(F32, (m, k))),
    )
    .unwrap();
    let shown: Vec<String> = g.output_specs().iter().map(|s| s.to_string()).collect();
    let want = [
        "tensor<BxNxNxf64>",
        "tensor<BxNxNxf64>",
        "tensor<Bxf64>",
        "tensor<BxNxNxf64>",
        "tensor<Bxf64>",
        "tensor<BxNxMxf32>",
        "tensor<BxNxKxf32>",
        "tensor<BxKxf32>",
        "tensor<Bxi32>",
    ];
    assert_eq!(shown[..9], want);
}

#[test]
fn one_matrix_for_a_batch_of_right_hand_sides_is_factored_once_and_not_repeated() {
    let g = trace(|a: Sym, b: Sym| a.solve(b), (spec(F32, [3, 3]), spec(F32, [5, 3, 2]))).unwrap();
    let text = g.to_string();
    assert!(
        text.contains("evoxc.lu(%a) : tensor<3x3xf32>") || text.contains(" : tensor<3x3xf32>, tensor<3xi32>"),
        "{text}"
    );
    assert!(text.contains("triangular_solve") && text.contains("tensor<3x10xf32>"), "{text}");
}

#[test]
fn chains_of_products_take_the_cheapest_order() {
    let f = |a: Sym, b: Sym, c: Sym| multi_dot([a, b, c]);
    let inner = |m: usize, n: usize, k: usize, l: usize| {
        let g = trace(f, (spec(F32, [m, n]), spec(F32, [n, k]), spec(F32, [k, l]))).unwrap();
        let first = g.ops().first().map(|o| g.module().main().unwrap().ty(o.results[0]).to_string());
        first.unwrap()
    };
    assert_eq!(inner(2, 9, 9, 9), "tensor<2x9xf32>");
    assert_eq!(inner(9, 9, 9, 1), "tensor<9x1xf32>");
}
