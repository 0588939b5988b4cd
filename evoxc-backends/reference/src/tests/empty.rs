//! Empty tensors with large other extents: they cost no time and no memory, and their strides do not overflow.

use super::run;
use evoxc_core::{DType, F32, I32, Tensor};

/// Runs one op on zeros; the results' types, as text, one a line of `results`.
#[track_caller]
fn shapes(op: &str, args: &[(DType, &[usize])], results: &str) -> Vec<Vec<usize>> {
    let args: Vec<Tensor> = args.iter().map(|(d, s)| Tensor::zeros(*d, s.to_vec())).collect();
    let params: Vec<String> = args.iter().enumerate().map(|(i, a)| format!("%a{i}: {}", a.spec())).collect();
    let names: Vec<String> = (0..args.len()).map(|i| format!("%a{i}")).collect();
    let (name, attributes) = op.split_once(' ').unwrap_or((op, ""));
    let n = results.split(',').count();
    let named: Vec<String> = (0..n).map(|i| format!("%r{i}")).collect();
    let text = format!(
        "func @f({}) -> ({results}) {{\n {named} = evoxc.{name}({}) {attributes} : {results}\n return {named}\n}}",
        params.join(", "),
        names.join(", "),
        named = named.join(", "),
    );
    let all = run(&text, args).unwrap_or_else(|e| panic!("{op}: {e}"));
    all.iter().map(|t| t.shape().to_vec()).collect()
}

const N: usize = 1_000_000_000_000;

#[test]
fn nothing_takes_no_time() {
    let f = |s: &'static [usize]| (F32, s);
    let tall: &[usize] = &[N, 0];
    let (t, w) = ("tensor<1000000000000x0xf32>", "tensor<0x1000000000000xf32>");
    assert_eq!(shapes("concatenate {axis = 1}", &[f(&[N, 0]), f(&[N, 0])], t), [tall]);
    assert_eq!(shapes("iota {dtype = f32, shape = [1000000000000, 0], axis = 0}", &[], t), [tall]);
    for axis in [0, 1] {
        for (x, ty) in [(f(&[N, 0]), t), (f(&[0, N]), w)] {
            let op = format!("sort {{axis = {axis}, keys = [ascending], stable = true}}");
            assert_eq!(shapes(&op, &[x], ty), [x.1]);
            assert_eq!(shapes(&format!("cumulative_sum {{axis = {axis}}}"), &[x], ty), [x.1]);
        }
    }
    assert_eq!(shapes("reduce_sum {axes = [1]}", &[f(&[N, 5, 0])], t), [tall]);
    let window = "{size = [1, 1], stride = [1, 1], padding = [[0, 0], [0, 0]], base_dilation = [1, 1], window_dilation = [1, 1], reversal = [false, false]}";
    assert_eq!(shapes(&format!("reduce_window_max {{window = {window}}}"), &[f(&[N, 0])], t), [tall]);
    let pool = format!("select_and_scatter_max {{window = {window}}}");
    assert_eq!(shapes(&pool, &[f(&[N, 0]), f(&[N, 0])], t), [tall]);
    let dims = "dims = {offset = [1], collapsed = [], operand_batching = [], indices_batching = [], start_map = [], index_vector = 1}";
    assert_eq!(shapes(&format!("gather {{{dims}, sizes = [0]}}"), &[f(&[0]), (I32, &[N, 0])], t), [tall]);
    let dims = "dims = {update_window = [1], inserted = [], operand_batching = [], indices_batching = [], scatter_map = [], index_vector = 1}";
    let scatter = format!("scatter_add {{{dims}}}");
    assert_eq!(shapes(&scatter, &[f(&[0]), (I32, &[N, 0]), f(&[N, 0])], "tensor<0xf32>"), [[0]]);
}

#[test]
fn no_matrix_takes_no_time() {
    let x: (DType, &[usize]) = (F32, &[N, 0, 0]);
    let (a, row) = ("tensor<1000000000000x0x0xf32>", "tensor<1000000000000x0xf32>");
    let ints = "tensor<1000000000000x0xi32>";
    for (op, results) in [
        ("cholesky {lower = true}", a.to_string()),
        ("eigh", format!("{row}, {a}")),
        ("svd {full = true}", format!("{a}, {row}, {a}")),
        ("qr {full = false}", format!("{a}, {a}")),
        ("lu", format!("{a}, {ints}, {ints}")),
    ] {
        assert!(shapes(op, &[x], &results).iter().all(|s| s[..2] == [N, 0]), "{op}");
    }
    let wide = "tensor<0x1000000000000xf32>";
    let svd = shapes("svd {full = false}", &[(F32, &[0, N])], &format!("tensor<0x0xf32>, tensor<0xf32>, {wide}"));
    assert_eq!(svd, [vec![0, 0], vec![0], vec![0, N]]);
}

// In both orders of the extents: the product overflows before the zero comes.
#[test]
fn strides_of_nothing_do_not_overflow() {
    for (shape, axis) in [("[0, N, N]", 0), ("[N, N, 0]", 2)] {
        let ty = shape.replace(", ", "x").replace(['[', ']'], "");
        let text = format!(
            "func @f(%x: tensor<Nx0xf32>, %e: tensor<0xf32>) -> tensor<{ty}xf32> {{\n %y = evoxc.broadcast_in_dim(%e) {{shape = {shape}, dims = [{axis}]}} : tensor<{ty}xf32>\n return %y\n}}"
        );
        let x = Tensor::zeros(F32, [1usize << 40, 0]);
        let e = run(&text, vec![x, Tensor::zeros(F32, [0])]).unwrap_err().to_string();
        assert!(e.contains("does not fit into memory"), "{e}");
    }
}

// The slices of an empty axis have nothing to give, though the axis is collapsed.
#[test]
fn gather_from_an_empty_axis() {
    let text = "func @f(%x: tensor<0x4xf32>, %i: tensor<Nxi32>) -> tensor<Nx4xf32> {
        %y = evoxc.gather(%x, %i) {dims = {offset = [1], collapsed = [0], operand_batching = [], indices_batching = [], start_map = [0], index_vector = 1}, sizes = [0, 4]} : tensor<Nx4xf32>
        return %y\n}";
    let gather = |n: usize| run(text, vec![Tensor::zeros(F32, [0, 4]), Tensor::zeros(I32, [n])]);
    assert_eq!(gather(0).unwrap()[0].shape(), [0, 4]);
    let e = gather(5).unwrap_err().to_string();
    assert!(e.contains("slices of [0, 4] have no element to give"), "{e}");
}
