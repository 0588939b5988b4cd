//! Every snippet of the API page's section 5, as a test: shapes, and values by the formulas beside them.

use evoxc::prelude::*;
use evoxc_tests::engines::Engines;

/// Mean squared error of tanh(x·w).
#[defn]
fn loss(x: Sym, y: Sym, w: Sym) -> Sym {
    let d = x.dot(w).tanh() - y;
    (d * d).mean(..)
}

/// The weights of a layer.
#[derive(Tree, Clone)]
struct Layer<T> {
    w: T,
    b: Option<T>,
}

/// The sum of x·w + b.
#[defn]
fn layer(p: Layer<Sym>, x: Sym) -> Sym {
    let y = x.dot(p.w);
    match p.b {
        Some(b) => (y + b).sum(..),
        None => y.sum(..),
    }
}

/// Numbers from a formula, in [-1, 1].
fn tensor(shape: &[usize], phase: f64) -> Tensor {
    let n: usize = shape.iter().product();
    Tensor::from_vec((0..n).map(|i| (i as f64 * 0.7 + phase).sin()).collect::<Vec<f64>>(), shape).unwrap()
}

fn vec(t: &Tensor) -> Vec<f64> {
    t.to_vec::<f64>().unwrap()
}

#[track_caller]
fn near(got: &Tensor, want: &[f64]) {
    assert_eq!(got.len(), want.len(), "{got}");
    for (g, w) in vec(got).iter().zip(want) {
        assert!((g - w).abs() <= 1e-12 * w.abs().max(1.0), "{g} {w}");
    }
}

/// The gradient of `loss` with respect to w, by the chain rule: 2/n · xᵀ((t - y)(1 - t²)) with t = tanh(x·w).
fn gradient(x: &[f64], y: &[f64], w: &[f64], (n, k, m): (usize, usize, usize)) -> Vec<f64> {
    let mut out = vec![0.0; k * m];
    for i in 0..n {
        for j in 0..m {
            let z: f64 = (0..k).map(|l| x[i * k + l] * w[l * m + j]).sum();
            let t = z.tanh();
            let d = 2.0 / (n * m) as f64 * (t - y[i * m + j]) * (1.0 - t * t);
            (0..k).for_each(|l| out[l * m + j] += d * x[i * k + l]);
        }
    }
    out
}

#[test]
fn per_sample_gradients() -> evoxc::Result<()> {
    let per_sample = vmap(grad(loss).wrt::<2>()).in_axes([Some(0), Some(0), None]);
    let specs = (spec(F32, [8, 4, 8]), spec(F32, [8, 4, 4]), spec(F32, [8, 4]));
    let graph: Graph<(Sym, Sym, Sym), Sym> = trace(&per_sample, specs)?;
    assert_eq!(graph.output_specs(), [spec(F32, [8, 8, 4])]);
    let (x, y, w) = (tensor(&[8, 4, 8], 0.0), tensor(&[8, 4, 4], 1.0), tensor(&[8, 4], 2.0));
    let got = evaluate(per_sample, (x.clone(), y.clone(), w.clone()), &Engines)?;
    let (x, y, w) = (vec(&x), vec(&y), vec(&w));
    let want: Vec<f64> = x.chunks(32).zip(y.chunks(16)).flat_map(|(x, y)| gradient(x, y, &w, (4, 8, 4))).collect();
    near(&got, &want);
    Ok(())
}

#[test]
fn a_graph_and_its_transforms_are_graph_functions() -> evoxc::Result<()> {
    let g: Graph<(Sym, Sym), Sym> = trace(|x: Sym, y: Sym| x * y * y, (spec(F64, []), spec(F64, [])))?;
    let args = || (Tensor::from(3.0), Tensor::from(5.0));
    let dx: Graph<(Sym, Sym), Sym> = trace(grad(&g), g.specs())?;
    assert_eq!(evaluate(&dx, args(), &Engines)?.item::<f64>()?, 25.0); // y²
    assert_eq!(evaluate(grad(g.clone()).wrt::<1>(), args(), &Engines)?.item::<f64>()?, 30.0); // 2xy
    let j: Graph<((Sym, Sym), (Sym, Sym)), (Sym, Sym)> = trace(jvp(&g), (g.specs(), g.specs()))?;
    let (y, t) = evaluate(&j, (args(), (Tensor::from(1.0), Tensor::from(10.0))), &Engines)?;
    assert_eq!((y.item::<f64>()?, t.item::<f64>()?), (75.0, 325.0)); // y² + 10·2xy
    let rows = (spec(F64, [4]), spec(F64, [4]));
    let per_row = trace(vmap(grad(&g).wrt::<1>()), rows)?;
    assert_eq!(per_row.output_specs(), [spec(F64, [4])]);
    // A transformed graph prints, parses and is transformed again.
    let again = Graph::parse(&dx.to_string())?.typed::<(Sym, Sym), Sym>()?;
    assert_eq!(evaluate(grad(&again).wrt::<1>(), args(), &Engines)?.item::<f64>()?, 10.0); // d²/dxdy = 2y
    // A transform is a value: used by reference, it can be used again.
    let t = grad(&g);
    let (one, two) = (trace(&t, g.specs())?, trace(vmap(&t), (spec(F64, [4]), spec(F64, [4])))?);
    assert_eq!((one.output_specs(), two.output_specs()), (vec![spec(F64, [])], vec![spec(F64, [4])]));
    assert_eq!(trace(t, g.specs())?, dx);
    Ok(())
}

#[test]
fn transforms_are_called_inside_a_defn() -> evoxc::Result<()> {
    #[defn]
    fn inside(x: Sym, y: Sym, w: Sym) -> (Sym, Sym, Sym, (Sym, Sym)) {
        let (l, g) = value_and_grad(|w: Sym| loss(x, y, w)).call(w);
        let all = vjp(loss).call(((x, y, w), l.ones_like()));
        let product = jvp(|w: Sym| loss(x, y, w)).call((w, g));
        (l, g, all.2, product)
    }
    let (x, y, w) = (tensor(&[4, 3], 0.0), tensor(&[4, 2], 1.0), tensor(&[3, 2], 2.0));
    let (l, g, from_vjp, (l2, slope)) = evaluate(inside, (x.clone(), y.clone(), w.clone()), &Engines)?;
    let want = gradient(&vec(&x), &vec(&y), &vec(&w), (4, 3, 2));
    near(&g, &want);
    near(&from_vjp, &want);
    let value = evaluate(loss, (x, y, w), &Engines)?;
    assert!(l.bit_eq(&value) && l2.bit_eq(&value));
    near(&slope, &[want.iter().map(|g| g * g).sum()]); // along the gradient: its square norm
    Ok(())
}

#[test]
fn gradients_inside_gradients() -> evoxc::Result<()> {
    #[defn]
    fn inner(x: Sym, w: Sym) -> Sym {
        grad(|v: Sym| (v * v * v * w).sum(..)).call(x).sum(..)
    }
    let (x, w) = (Tensor::from([1.0, 2.0]), Tensor::from(5.0));
    let dw = evaluate(|x: Sym, w: Sym| grad(|w: Sym| inner(x, w)).call(w), (x.clone(), w.clone()), &Engines)?;
    assert_eq!(dw.item::<f64>()?, 15.0); // Σ 3x²
    let dx = evaluate(|x: Sym, w: Sym| grad(|x: Sym| inner(x, w)).call(x), (x, w), &Engines)?;
    assert_eq!(dx.to_vec::<f64>()?, [30.0, 60.0]); // 6xw
    Ok(())
}

#[test]
fn trees() -> evoxc::Result<()> {
    let p = Layer { w: tensor(&[3, 2], 0.0), b: Some(tensor(&[2], 1.0)) };
    let x = tensor(&[4, 3], 2.0);
    let g: Layer<Tensor> = evaluate(grad(layer), (p.clone(), x.clone()), &Engines)?;
    let sums: Vec<f64> = (0..3).map(|k| vec(&x).iter().skip(k).step_by(3).sum()).collect();
    near(&g.w, &[sums[0], sums[0], sums[1], sums[1], sums[2], sums[2]]); // Σ over rows of x
    near(&g.b.unwrap(), &[4.0, 4.0]);
    let none: Layer<Tensor> = evaluate(grad(layer), (Layer { w: p.w.clone(), b: None }, x.clone()), &Engines)?;
    assert!(none.b.is_none());
    let (gp, gx): (Layer<Tensor>, Tensor) = evaluate(grad(layer).wrt2::<0, 1>(), (p.clone(), x.clone()), &Engines)?;
    assert_eq!((gp.w.shape(), gx.shape()), (&[3, 2][..], &[4, 3][..]));
    // A graph read back, its types restored, and a closure around it.
    let graph = trace(layer, (Layer { w: spec(F64, [3, 2]), b: Some(spec(F64, [2])) }, spec(F64, [4, 3])))?;
    let again = Graph::parse(&graph.to_string())?;
    assert_eq!(again, graph.clone().erase());
    let exe = build(grad(|p: Layer<Sym>, x: Sym| layer(p, x).exp()), graph.specs(), &Engines)?;
    let g: Layer<Tensor> = exe.run((p.clone(), x.clone()))?;
    let e = evaluate(layer, (p.clone(), x.clone()), &Engines)?.item::<f64>()?.exp();
    near(&g.b.unwrap(), &[4.0 * e, 4.0 * e]);
    // vmap of a tree: one `Option` an argument, all of its leaves.
    let stacked = Layer { w: tensor(&[5, 3, 2], 0.0), b: Some(tensor(&[5, 2], 1.0)) };
    let rows = evaluate(vmap(grad(layer)).in_axes([Some(0), None]), (stacked, x), &Engines)?;
    assert_eq!((rows.w.shape(), rows.b.unwrap().shape()), (&[5, 3, 2][..], &[5, 2][..]));
    Ok(())
}

#[test]
fn a_tuple_is_the_argument_list() -> evoxc::Result<()> {
    fn f((a, b): (Sym, Sym)) -> Sym {
        a * b
    }
    let args = || (Tensor::from(2.0), Tensor::from(7.0));
    assert_eq!(evaluate(grad(f), args(), &Engines)?.item::<f64>()?, 7.0);
    assert_eq!(evaluate(grad(f).wrt::<1>(), args(), &Engines)?.item::<f64>()?, 2.0);
    let rows = (Tensor::from([1.0, 2.0]), Tensor::from(3.0));
    assert_eq!(vec(&evaluate(vmap(f).in_axes([Some(0), None]), rows, &Engines)?), [3.0, 6.0]);
    Ok(())
}

#[test]
fn closures_functions_and_boxes() -> evoxc::Result<()> {
    let k = 2.0;
    let scaled = move |x: Sym| (x * k).sum(..);
    let x = || Tensor::from([1.0, 2.0, 3.0]);
    assert_eq!(vec(&evaluate(grad(&scaled), x(), &Engines)?), [2.0; 3]);
    assert_eq!(vec(&evaluate(grad(scaled), x(), &Engines)?), [2.0; 3]);

    /// A function that is given back specialised.
    fn power(n: i32) -> impl Fn(Sym) -> Sym + Clone {
        move |x| if n > 1 { (x * power_of(x, n - 1)).sum(..) } else { x.sum(..) }
    }
    fn power_of(x: Sym, n: i32) -> Sym {
        (1..n).fold(x, |y, _| y * x)
    }
    assert_eq!(vec(&evaluate(grad(power(3)), x(), &Engines)?), [3.0, 12.0, 27.0]); // 3x²
    assert_eq!(vec(&evaluate(grad(power(1)), x(), &Engines)?), [1.0; 3]);

    let list: Vec<Box<dyn Fn(Sym) -> Sym>> = vec![Box::new(|x| x.exp().sum(..)), Box::new(|x| (1.0 - x).sum(..))];
    let graphs = list.iter().map(|f| trace(grad(f), spec(F64, [3]))).collect::<evoxc::Result<Vec<_>>>()?;
    near(&evaluate(&graphs[0], x(), &Engines)?, &[1f64.exp(), 2f64.exp(), 3f64.exp()]);
    assert_eq!(vec(&evaluate(&graphs[1], x(), &Engines)?), [-1.0; 3]);
    Ok(())
}

/// Newton's step of any scalar function: x - f(x) / f'(x).
fn newton<M>(f: impl GraphFn<Sym, M, Out = Sym> + Copy) -> impl Fn(Sym) -> Sym {
    move |x| {
        let (y, slope) = value_and_grad(f).call(x);
        x - y / slope
    }
}

#[test]
fn generic_functions() -> evoxc::Result<()> {
    let y = evaluate(newton(|x: Sym| x * x - 2.0), Tensor::from(1.5), &Engines)?;
    near(&y, &[1.5 - 0.25 / 3.0]);
    let rows = evaluate(vmap(newton(|x: Sym| x * x - 2.0)), Tensor::from([1.0, 2.0]), &Engines)?;
    assert_eq!(vec(&rows), [1.5, 1.5]);
    let slope = evaluate(grad(newton(|x: Sym| x * x - 2.0)), Tensor::from(2.0), &Engines)?;
    near(&slope, &[0.25]); // f·f''/f'² = 2·2/16
    Ok(())
}

#[test]
fn axes_of_vmap() -> evoxc::Result<()> {
    let f = |a: Sym, b: Sym| (a + b, a * b);
    let (a, b) = (Tensor::from([1.0, 2.0, 3.0]), Tensor::from([10.0, 20.0]));
    let mapped = vmap(f).in_axes([Some(0), None]).out_axes([Some(0), Some(1)]);
    let (sum, product) = evaluate(mapped, (a.clone(), b.clone()), &Engines)?;
    assert_eq!((sum.shape(), product.shape()), (&[3, 2][..], &[2, 3][..]));
    assert_eq!(vec(&sum), [11.0, 21.0, 12.0, 22.0, 13.0, 23.0]);
    assert_eq!(vec(&product), [10.0, 20.0, 30.0, 20.0, 40.0, 60.0]);
    let m = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let columns = evaluate(vmap(|c: Sym| c.sum(..)).in_axes([Some(-1)]), m.clone(), &Engines)?;
    assert_eq!(vec(&columns), [5.0, 7.0, 9.0]);
    // What no row changes is computed once, and given back as it is.
    let shared = vmap(|a: Sym, b: Sym| (a, b.exp())).in_axes([Some(0), None]).out_axes([Some(0), None]);
    let g = trace(&shared, (spec(F64, [3]), spec(F64, [2])))?;
    assert_eq!(g.output_specs(), [spec(F64, [3]), spec(F64, [2])]);
    assert_eq!(g.ops().len(), 1, "{g}");
    // Inside a defn, with a condition on values that are rows there.
    let relu = evaluate(|x: Sym| vmap(|r: Sym| r.gt(2.0).select(r, 0)).call(x).sum(..), m, &Engines)?;
    assert_eq!(relu.item::<f64>()?, 18.0);
    Ok(())
}

#[test]
fn symbolic_extents_stay() -> evoxc::Result<()> {
    let b = dim("B");
    let g = trace(grad(loss).wrt::<2>(), (spec(F64, (b, 3)), spec(F64, (b, 2)), spec(F64, [3, 2])))?;
    assert_eq!(g.output_specs(), [spec(F64, [3, 2])]);
    let (x, y, w) = (tensor(&[4, 3], 0.0), tensor(&[4, 2], 1.0), tensor(&[3, 2], 2.0));
    near(
        &evaluate(&g, (x.clone(), y.clone(), w.clone()), &Engines)?,
        &gradient(&vec(&x), &vec(&y), &vec(&w), (4, 3, 2)),
    );
    let v = trace(vmap(|r: Sym| (r * r).sum(..)), spec(F64, (b, 3)))?;
    assert_eq!(v.output_specs(), [spec(F64, [b])]);
    Ok(())
}

#[test]
fn any_order_and_depth() -> evoxc::Result<()> {
    let f = |x: Sym| x.tanh().sum(..);
    let deep = trace(vmap(grad(grad(vmap(grad(|x: Sym| x.tanh()))))), spec(F64, [2]));
    assert!(matches!(deep, Err(evoxc::Error::Transform(_)))); // its rows are scalars, which have no axis to map
    let deep = trace(vmap(vmap(grad(grad(grad(f))))), spec(F64, [2, 3]))?;
    assert_eq!(deep.output_specs(), [spec(F64, [2, 3])]);
    let pair = || (spec(F64, [3]), spec(F64, [3]));
    let four = || (pair(), pair());
    let j = trace(jvp(vmap(jvp(jvp(|x: Sym| x.tanh())))), (four(), four()))?;
    assert_eq!(j.output_specs(), vec![spec(F64, [3]); 8]);
    // d³/dx³ tanh = -2(1 - t²)(1 - 3t²)
    let third = evaluate(vmap(grad(grad(grad(f)))), Tensor::from([0.3, -0.7]), &Engines)?;
    let want = |x: f64| -2.0 * (1.0 - x.tanh().powi(2)) * (1.0 - 3.0 * x.tanh().powi(2));
    near(&third, &[want(0.3), want(-0.7)]);
    Ok(())
}

#[test]
fn what_is_refused() {
    let text = |e: evoxc::Error| {
        assert!(matches!(e, evoxc::Error::Transform(_)), "{e}");
        e.to_string()
    };
    let e = text(trace(grad(|x: Sym| (x, x)), spec(F32, [])).unwrap_err());
    assert!(e.contains("one real scalar") && e.contains("2 values"), "{e}");
    let e = text(trace(grad(|x: Sym| x.exp()), spec(F32, [3])).unwrap_err());
    assert!(e.contains("tensor<3xf32>") && e.contains(".sum(..)"), "{e}");
    let e = text(trace(grad(|k: Sym, x: Sym| x * k.cast(F32)), (spec(I32, []), spec(F32, []))).unwrap_err());
    assert!(e.contains("no gradient"), "{e}");
    let e = text(trace(grad(|x: Sym| while_loop(x, |y| y.lt(10.0), |y| y * 2.0)), spec(F32, [])).unwrap_err());
    assert!(e.contains("while_loop") && e.contains("fori_loop") && e.contains("scan"), "{e}");
    let e = text(trace(vmap(|x: Sym, y: Sym| x + y), (spec(F32, [3]), spec(F32, [4]))).unwrap_err());
    assert!(e.contains("3") && e.contains("4"), "{e}");
    let e = text(trace(vmap(|x: Sym| x).in_axes([None]), spec(F32, [3])).unwrap_err());
    assert!(e.contains("no argument is mapped"), "{e}");
    let e = text(trace(vmap(|x: Sym| x).in_axes([Some(1)]), spec(F32, [3])).unwrap_err());
    assert!(e.contains("axis 1"), "{e}");
    let e = text(trace(vmap(|x: Sym| x).in_axes([Some(0), None]), spec(F32, [3])).unwrap_err());
    assert!(e.contains("2 entries"), "{e}");
    let e = text(trace(jvp(|x: Sym| x), (spec(F32, [3]), spec(F32, [4]))).unwrap_err());
    assert!(e.contains("tangent"), "{e}");
    let e = text(trace(vjp(|x: Sym| x.sum(..)), (spec(F32, [3]), spec(F32, [3]))).unwrap_err());
    assert!(e.contains("cotangent"), "{e}");
}

#[test]
fn an_op_without_a_rule_is_named() -> evoxc::Result<()> {
    let text = "func @f(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
      %r = evoxc.nextafter(%x, %y) : tensor<f32> loc(\"src/main.rs\":7:9)
      return %r
    }";
    let g = Graph::parse(text)?.typed::<(Sym, Sym), Sym>()?;
    let evoxc::Error::Transform(e) = trace(grad(&g), g.specs()).unwrap_err() else { panic!("another error") };
    assert_eq!((e.transform.as_str(), e.op.op.as_str()), ("grad", "nextafter"));
    assert!(e.op.loc.is_some() && e.op.remedy.is_some() && e.op.operands.len() == 2, "{e}");
    Ok(())
}

#[test]
fn integers_have_no_gradient_but_do_no_harm() -> evoxc::Result<()> {
    let f = |x: Sym, k: Sym| (x.take(k, 0) * k.cast(F64)).sum(..);
    let args = (Tensor::from([1.0, 2.0, 3.0]), Tensor::from([2i32, 0, 2]));
    assert_eq!(vec(&evaluate(grad(f), args.clone(), &Engines)?), [0.0, 0.0, 4.0]); // Σ of k where it points
    let (_, k) = evaluate(vjp(f), (args, Tensor::from(1.0)), &Engines)?;
    assert_eq!(k.to_vec::<i32>()?, [0, 0, 0]);
    Ok(())
}

#[test]
fn jacobians_and_hessians() -> evoxc::Result<()> {
    let f = |x: Sym| x.sin() * x.sum(..);
    let x = || Tensor::from([0.5, 1.0, 2.0]);
    let (values, sum) = ([0.5f64, 1.0, 2.0], 3.5);
    // ∂ᵢ(sin xⱼ · s) = δᵢⱼ cos xⱼ · s + sin xⱼ
    let entry = |j: usize, i: usize| values[j].sin() + if i == j { values[j].cos() * sum } else { 0.0 };
    let want: Vec<f64> = (0..9).map(|k| entry(k / 3, k % 3)).collect();
    for j in [evaluate(jacfwd(f), x(), &Engines)?, evaluate(jacrev(f), x(), &Engines)?] {
        assert_eq!(j.shape(), [3, 3]);
        near(&j, &want);
    }
    let cubes = |x: Sym, k: Sym| (x * x * x).sum(..) * k;
    let h = evaluate(hessian(cubes), (x(), Tensor::from(2.0)), &Engines)?;
    near(&h, &[6.0, 0.0, 0.0, 0.0, 12.0, 0.0, 0.0, 0.0, 24.0]); // 2·6x on the diagonal
    let shapes = trace(hessian(|w: Sym| (w * w).sum(..).exp()), spec(F32, [2, 3]))?;
    assert_eq!(shapes.output_specs(), [spec(F32, [2, 3, 2, 3])]);
    // Inside a defn, as `hessian(|w| loss(x, y, w)).call(w).reshape([-1, 4]).t()`.
    #[defn]
    fn flat(x: Sym, y: Sym, w: Sym) -> Sym {
        hessian(|w: Sym| loss(x, y, w)).call(w).reshape([-1, 4]).t()
    }
    let specs = (spec(F32, [4, 2]), spec(F32, [4, 2]), spec(F32, [2, 2]));
    assert_eq!(trace(flat, specs)?.output_specs(), [spec(F32, [4, 4])]);
    let e = trace(hessian(layer), (Layer { w: spec(F32, [3, 2]), b: None }, spec(F32, [4, 3]))).unwrap_err();
    assert!(matches!(e, evoxc::Error::Transform(_)) && e.to_string().contains("tree"), "{e}");
    Ok(())
}

#[test]
fn checkpoints_change_no_value() -> evoxc::Result<()> {
    let (x, y, w) = (tensor(&[4, 3], 0.0), tensor(&[4, 2], 1.0), tensor(&[3, 2], 2.0));
    let args = || (x.clone(), y.clone(), w.clone());
    let plain = evaluate(grad(loss).wrt::<2>(), args(), &Engines)?;
    assert!(evaluate(grad(checkpoint(loss)).wrt::<2>(), args(), &Engines)?.bit_eq(&plain));
    let inside = |x: Sym, y: Sym, w: Sym| grad(|w: Sym| checkpoint(loss).call((x, y, w))).call(w);
    assert!(evaluate(inside, args(), &Engines)?.bit_eq(&plain));
    // It survives in the text of the graph.
    let g = trace(checkpoint(loss), (x.spec(), y.spec(), w.spec()))?;
    assert!(g.to_string().contains("remat = true"), "{g}");
    let again = Graph::parse(&g.to_string())?.typed::<(Sym, Sym, Sym), Sym>()?;
    assert!(evaluate(grad(again).wrt::<2>(), args(), &Engines)?.bit_eq(&plain));
    Ok(())
}
