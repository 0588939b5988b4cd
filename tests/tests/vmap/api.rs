//! What users see of vmap: axes, what stays unbatched, nesting, messages.

use evoxc::prelude::*;
use evoxc_core::Dim;
use evoxc_ir::Prim;
use evoxc_tests::engines::Engines;

fn names<I, O>(g: &Graph<I, O>) -> Vec<String> {
    g.ops().iter().map(|op| op.prim.name()).collect()
}

#[derive(Tree, Clone)]
struct Params<T> {
    w: T,
    b: Vec<T>,
}

#[test]
fn axes_of_arguments_and_results() -> evoxc::Result<()> {
    let f = |x: Sym, y: Sym| (x * y, x - y);
    let (x, y) = (Tensor::from([[1f32, 2.0, 3.0], [4.0, 5.0, 6.0]]), Tensor::from([10f32, 20.0]));
    // x has its rows along the last axis: row i is x[:, i].
    let mapped = vmap(f).in_axes([Some(-1), None]).out_axes([Some(1), Some(0)]);
    let (p, d) = evaluate(mapped, (x, y), &Engines)?;
    assert_eq!(p.shape(), [2, 3]);
    assert_eq!(p.to_vec::<f32>()?, [10.0, 20.0, 30.0, 80.0, 100.0, 120.0]);
    assert_eq!(d.shape(), [3, 2]);
    assert_eq!(d.to_vec::<f32>()?, [-9.0, -16.0, -8.0, -15.0, -7.0, -14.0]);
    Ok(())
}

#[test]
fn every_axis_in_and_out() -> evoxc::Result<()> {
    let data: Vec<f32> = (0..24).map(|i| i as f32).collect();
    let x = Tensor::from_vec(data, [2, 3, 4])?;
    for from in -3..3 {
        for to in -3..3 {
            let f = vmap(|x: Sym| -x).in_axes([Some(from)]).out_axes([Some(to)]);
            let want = move |x: Sym| -x.move_axis(from, to);
            let (got, want) = (evaluate(f, x.clone(), &Engines)?, evaluate(want, x.clone(), &Engines)?);
            assert!(got.bit_eq(&want), "{from} {to}: {got} {want}");
        }
    }
    Ok(())
}

#[test]
fn trees_are_mapped_by_argument() -> evoxc::Result<()> {
    let f = |p: Params<Sym>, x: Sym| Params { w: p.w.dot(x), b: p.b.iter().map(|&b| b + x.sum(..)).collect() };
    let specs = Params { w: spec(F32, [3, 4]), b: vec![spec(F32, [5]), spec(F32, [])] };
    let shared = trace(vmap(f).in_axes([None, Some(0)]), (specs.clone(), spec(F32, [7, 4])))?;
    assert_eq!(shared.output_specs(), [spec(F32, [7, 3]), spec(F32, [7, 5]), spec(F32, [7])]);
    let mapped = Params { w: spec(F32, [3, 7, 4]), b: vec![spec(F32, [5, 7])] };
    let f = vmap(f).in_axes([Some(1), None]).out_axes([Some(-1)]);
    let g = trace(f, (mapped, spec(F32, [4])))?;
    assert_eq!(g.output_specs(), [spec(F32, [3, 7]), spec(F32, [5, 7])]);
    Ok(())
}

#[test]
fn what_no_row_changes_is_computed_once() -> evoxc::Result<()> {
    let f = |x: Sym, w: Sym| (x + w.exp().sum(..), w * 2.0);
    let g = trace(vmap(f).in_axes([Some(0), None]).out_axes([Some(0), None]), (spec(F32, [8]), spec(F32, [3])))?;
    assert_eq!(g.output_specs(), [spec(F32, [8]), spec(F32, [3])]);
    assert_eq!(names(&g), ["exp", "reduce_sum", "broadcast_in_dim", "add", "constant", "mul"], "{g}");
    // A result that is the same for every row is repeated, if rows are asked for.
    let g = trace(vmap(f).in_axes([Some(0), None]), (spec(F32, [8]), spec(F32, [3])))?;
    assert_eq!(g.output_specs(), [spec(F32, [8]), spec(F32, [8, 3])]);
    Ok(())
}

#[test]
fn shared_operands_are_not_repeated() -> evoxc::Result<()> {
    let (row, matrix) = (spec(F32, [8, 4]), spec(F32, [4, 4]));
    let only = |g: Graph<(Sym, Sym), Sym>, ops: &[&str]| assert_eq!(names(&g), ops, "{g}");
    // Rows on the left are a free axis; rows of a vector on the right come first by exchanging the operands.
    only(trace(vmap(|x: Sym, w: Sym| x.dot(w)).in_axes([Some(0), None]), (row.clone(), matrix.clone()))?, &["dot"]);
    only(trace(vmap(|x: Sym, w: Sym| w.dot(x)).in_axes([Some(0), None]), (row.clone(), matrix.clone()))?, &["dot"]);
    only(trace(vmap(|x: Sym, w: Sym| w.dot(x)), (row.clone(), spec(F32, [8, 4, 4])))?, &["dot"]);
    // Rows of matrices on the right are turned once.
    let rows = spec(F32, [8, 4, 5]);
    only(trace(vmap(|x: Sym, w: Sym| w.dot(x)).in_axes([Some(0), None]), (rows, matrix))?, &["dot", "transpose"]);
    // Images of rows are more images.
    let conv = |x: Sym, k: Sym| x.conv(k, Conv::default());
    let (images, kernel) = (spec(F32, [8, 2, 3, 5, 5]), spec(F32, [4, 3, 2, 2]));
    let g = trace(vmap(conv).in_axes([Some(0), None]), (images, kernel))?;
    only(g, &["reshape", "convolution", "reshape"]);
    // A table that is shared is gathered from once.
    let take = |x: Sym, i: Sym| x.take(i, 0);
    let g = trace(vmap(take).in_axes([None, Some(0)]), (spec(F32, [9, 4]), spec(I32, [8, 3])))?;
    assert!(!names(&g).contains(&"broadcast_in_dim".into()), "{g}");
    Ok(())
}

#[test]
fn scalars_stay_constants() -> evoxc::Result<()> {
    let g = trace(vmap(|x: Sym| x * 2.0 + 1.0), spec(F32, [8, 3]))?;
    assert_eq!(names(&g), ["constant", "mul", "constant", "add"], "{g}");
    let g = trace(vmap(|x: Sym| x.clip(0.0, 1.0)), spec(F32, [8, 3]))?;
    assert_eq!(names(&g), ["constant", "constant", "clamp"], "{g}");
    let g =
        trace(vmap(|p: Sym, x: Sym| p.select(x, -x)).in_axes([None, Some(0)]), (spec(BOOL, []), spec(F32, [8, 3])))?;
    assert_eq!(names(&g), ["neg", "select"], "{g}");
    Ok(())
}

#[test]
fn vmaps_nest() -> evoxc::Result<()> {
    // The outer product by two vmaps, each mapping one argument (JAX's documentation of vmap).
    let outer = vmap(vmap(|x: Sym, y: Sym| x * y).in_axes([None, Some(0)])).in_axes([Some(0), None]);
    let (x, y) = (Tensor::from([1f32, 2.0]), Tensor::from([10f32, 20.0, 30.0]));
    let z = evaluate(&outer, (x, y), &Engines)?;
    assert_eq!((z.shape(), z.to_vec::<f32>()?), (&[2, 3][..], vec![10.0, 20.0, 30.0, 20.0, 40.0, 60.0]));
    // The inner function uses a value of a row of the outer one.
    let f = vmap(|x: Sym| vmap(|y: Sym| y * x.sum(..)).call(x));
    let z = evaluate(f, Tensor::from([[1f32, 2.0], [3.0, 4.0]]), &Engines)?;
    assert_eq!(z.to_vec::<f32>()?, [3.0, 6.0, 21.0, 28.0]);
    // Three deep, as many symbols.
    let f = vmap(vmap(vmap(|x: Sym| x.softmax(0))));
    let g = trace(f, spec(F32, (dim("A"), dim("B"), dim("C"), 5)))?;
    assert_eq!(g.output_specs(), [spec(F32, (dim("A"), dim("B"), dim("C"), 5))]);
    Ok(())
}

#[test]
fn rows_may_be_a_symbol_or_none() -> evoxc::Result<()> {
    let b = dim("B");
    let f = vmap(|x: Sym, w: Sym| x.dot(w).tanh()).in_axes([Some(0), None]);
    let exe = build(f, (spec(F32, (b, 4)), spec(F32, [4, 2])), &Engines)?;
    for n in [0, 1, 5] {
        let y = exe.run((Tensor::ones(F32, [n, 4]), Tensor::ones(F32, [4, 2])))?;
        assert_eq!(y.shape(), [n, 2]);
        assert!(y.to_vec::<f32>()?.iter().all(|&v| v == 4f32.tanh()));
    }
    Ok(())
}

#[test]
fn per_sample_gradients() -> evoxc::Result<()> {
    let loss = |x: Sym, y: Sym, w: Sym| {
        let d = x.dot(w).tanh() - y;
        (d * d).mean(..)
    };
    let specs = |b: Dim| (spec(F32, (b, 4, 8)), spec(F32, (b, 4, 4)), spec(F32, [8, 4]));
    let f = vmap(grad(loss).wrt::<2>()).in_axes([Some(0), Some(0), None]);
    let g = trace(&f, specs(Dim::constant(8)))?;
    assert_eq!(g.output_specs(), [spec(F32, [8, 8, 4])]);
    let g = trace(&f, specs(dim("B")))?;
    assert_eq!(g.output_specs(), [spec(F32, (dim("B"), 8, 4))]);
    // The weights are the same for every row.
    let repeated = g.ops().iter().any(|op| match &op.prim {
        Prim::BroadcastInDim { .. } => op.operands.iter().any(|v| v.index() == 2),
        _ => false,
    });
    assert!(!repeated, "{g}");
    Ok(())
}

fn refused<T>(r: evoxc::Result<T>, want: &str) {
    match r {
        Err(evoxc::Error::Transform(e)) => assert!(e.to_string().contains(want), "{e}"),
        Err(e) => panic!("not a TransformError: {e}"),
        Ok(_) => panic!("not refused: {want}"),
    }
}

#[test]
fn what_is_refused_says_why() {
    let add = |x: Sym, y: Sym| x + y;
    let two = || (spec(F32, [2, 3]), spec(F32, [4, 3]));
    refused(
        trace(vmap(add), two()),
        "the numbers of rows differ: 2 along axis 0 of argument 0, a tensor<2x3xf32>; 4 along axis 0 of argument 1, a tensor<4x3xf32>",
    );
    refused(trace(vmap(add).in_axes([None, None]), two()), "no argument is mapped");
    refused(trace(vmap(add).in_axes([Some(0)]), two()), "it has 1 entry, but there are 2 arguments");
    refused(
        trace(vmap(|x: Sym| x).in_axes([Some(0), None]), spec(F32, [2])),
        "it has 2 entries, but there is 1 argument",
    );
    refused(
        trace(vmap(add).in_axes([Some(2), None]), two()),
        "axis 2 is out of range for argument 0, a tensor<2x3xf32>",
    );
    refused(trace(vmap(add).in_axes([Some(-3), None]), two()), "axes are -2 to 1");
    refused(trace(vmap(|x: Sym| -x), spec(F32, [])), "a scalar has no rows");
    let tree = Params { w: spec(F32, [3, 4]), b: vec![spec(F32, [3]), spec(F32, [])] };
    refused(trace(vmap(|p: Params<Sym>| p.w), tree), "for argument b[1], a tensor<f32>");
    let pair = |x: Sym| (x, x * 2.0);
    refused(
        trace(vmap(pair).out_axes([Some(0), None]), spec(F32, [3])),
        "it is `None` for result 1, which differs from row to row",
    );
    refused(trace(vmap(pair).out_axes([Some(0)]), spec(F32, [3])), "it has 1 entry, but there are 2 results");
    refused(trace(vmap(pair).out_axes([Some(0), Some(1)]), spec(F32, [3])), "axis 1 is out of range for result 1");
    refused(trace(vmap(|x: Sym| x).out_axes([Some(-3)]), spec(F32, [3, 3])), "axes are -2 to 1");
}

#[test]
fn ops_stand_where_the_user_wrote_them() -> evoxc::Result<()> {
    let line = line!() + 1;
    let g = trace(vmap(|x: Sym| x.sin()), spec(F32, [3]))?;
    let loc = g.ops()[0].loc.expect("it has a location");
    assert_eq!((loc.line, loc.file().ends_with("api.rs")), (line, true));
    Ok(())
}

#[test]
fn random_numbers_of_mapped_keys_are_those_of_each_key() -> evoxc::Result<()> {
    let draw = |key: Sym| {
        let (a, b) = random::split(key);
        (random::normal(a, F32, [3]), random::randint(b, I32, [2], 0, 10), random::permutation(a, 5))
    };
    let keys = [random::key(1), random::key(2), random::key(3)];
    let all = crate::rows::stack(&keys);
    let (n, i, p) = evaluate(vmap(draw), all, &Engines)?;
    for (r, key) in keys.into_iter().enumerate() {
        let (n1, i1, p1) = evaluate(draw, key, &Engines)?;
        for (all, one) in [(&n, n1), (&i, i1), (&p, p1)] {
            assert!(crate::rows::unstack(all)[r].bit_eq(&one), "row {r}: {all} {one}");
        }
    }
    Ok(())
}
