//! Programs on XLA against the interpreter: random ones, graphs from the transforms, and the stages as a user writes them.
//! Skipped where no plugin is installed.

use evoxc::prelude::*;
use evoxc::{Error, SpecializationCache, Xla, hessian, jacfwd};
use evoxc_stage::AnyBackend;
use evoxc_tests::plugin::xla;
use evoxc_tests::random_graph::population;
use evoxc_tests::run::{Failure, execute, same_bits};
use evoxc_tests::smooth_graph::{Smooth, looping, smooth};
use evoxc_tests::tolerance::{Category, compare};

/// Runs on both and compares within a category.
fn agree(xla: &Xla, graph: &Graph, inputs: &[Tensor], category: Category, what: &str) {
    let expected = execute(&AnyBackend::new(Interp), graph.module(), inputs).unwrap();
    let got = execute(&AnyBackend::new(xla.clone()), graph.module(), inputs);
    let got = got.unwrap_or_else(|e| panic!("{what}: {e:?}\n{graph}"));
    assert_eq!(got.len(), expected.len());
    for (i, (g, e)) in got.iter().zip(&expected).enumerate() {
        compare(g, e, category).unwrap_or_else(|m| panic!("{what}: result {i}: {m}\n{graph}"));
    }
}

/// Has it a number that XLA's code for the host flushes to zero?
fn subnormal(t: &Tensor) -> bool {
    let least = match t.dtype() {
        F64 | C128 => f64::MIN_POSITIVE,
        _ => f64::from(f32::MIN_POSITIVE),
    };
    let tiny = |x: f64| x != 0.0 && x.abs() < least;
    match t.cast(C128).and_then(|t| t.to_vec::<num_complex::Complex<f64>>()) {
        Ok(all) => all.iter().any(|z| tiny(z.re) || tiny(z.im)),
        Err(_) => true,
    }
}

fn normal(seed: u64, shape: impl evoxc::IntoShape) -> Tensor {
    let shape = shape.into_shape();
    evaluate(move |k: Sym| random::normal(k, F32, shape.clone()), random::key(seed), &Interp).unwrap()
}

#[defn]
fn loss(w: Sym, x: Sym, y: Sym) -> Sym {
    let d = x.dot(w).tanh() - y;
    (d * d).mean(..)
}

#[test]
fn per_sample_gradients() {
    let Some(xla) = xla() else { return };
    let per_sample = vmap(grad(loss)).in_axes([None, Some(0), Some(0)]);
    let specs = (spec(F32, [8, 4]), spec(F32, [16, 4, 8]), spec(F32, [16, 4, 4]));
    let graph = trace(per_sample, specs).unwrap().erase();
    let inputs = [normal(1, [8, 4]), normal(2, [16, 4, 8]), normal(3, [16, 4, 4])];
    agree(&xla, &graph, &inputs, Category::Contraction, "per-sample gradients");
}

#[test]
fn hessians_and_jacobians() {
    let Some(xla) = xla() else { return };
    let f = |w: Sym| (w.exp() / (1.0 + w * w)).sum(..) + w.max(..) * w.prod(..);
    let graph = trace(hessian(f), spec(F32, [5])).unwrap().erase();
    agree(&xla, &graph, &[normal(4, [5])], Category::Contraction, "hessian");
    let graph = trace(jacfwd(|x: Sym| x.cumsum(0).sin() * x), spec(F32, [7])).unwrap().erase();
    agree(&xla, &graph, &[normal(5, [7])], Category::Contraction, "jacfwd");
}

#[test]
fn vmapped_while_loops() {
    let Some(xla) = xla() else { return };
    let newton = |x: Sym| {
        let (y, _) = while_loop((x, x * 0.0), |(y, prev)| (y - prev).abs().gt(1e-6), |(y, _)| (0.5 * (y + x / y), y));
        y
    };
    let graph = trace(vmap(newton), spec(F32, [6])).unwrap().erase();
    let x = Tensor::from([1f32, 2.0, 3.0, 100.0, 0.25, 9.0]);
    agree(&xla, &graph, &[x], Category::Transcendental, "vmapped Newton");
    let graph = trace(vmap(jacfwd(newton)), spec(F32, [3])).unwrap().erase();
    agree(&xla, &graph, &[Tensor::from([1f32, 2.0, 3.0])], Category::Reduction, "its derivative");
}

#[test]
fn gradients_through_scans_and_branches() {
    let Some(xla) = xla() else { return };
    let f = |x: Sym| {
        let (carry, ys) = scan(x * 0.0, x, |c, x| {
            let next = cond(x.gt(0.0), || c.sum(..) + x.sin(), || c.sum(..) * x);
            (next.broadcast_to([4]) * 0.5, next)
        });
        carry.sum(..) + (ys * ys).sum(..)
    };
    let f = move |x: Sym| f(x);
    let graph = trace(value_and_grad(f), spec(F32, [4]));
    let graph = graph.unwrap().erase();
    agree(&xla, &graph, &[normal(6, [4])], Category::Contraction, "scan");
}

#[test]
fn batches_of_functions() {
    let Some(xla) = xla() else { return };
    let mut merged = 0;
    for seed in 0..16 {
        let programs = population(seed, 6, 12);
        let Ok(graphs) = programs.iter().map(|p| Graph::from_module(p.module.clone())).collect::<Result<Vec<_>, _>>()
        else {
            continue;
        };
        let inputs = &programs[0].inputs;
        if inputs.iter().any(subnormal) {
            continue;
        }
        let switch = [SwitchOps::None, SwitchOps::Elementwise, SwitchOps::All][seed as usize % 3].clone();
        let batch = batch_functions(&graphs).axes(vec![None; inputs.len()]).switch_ops(switch).build();
        let Ok(batch) = batch else { continue };
        let graph: &Graph = &batch;
        let Ok(expected) = execute(&AnyBackend::new(Interp), graph.module(), inputs) else { continue };
        match execute(&AnyBackend::new(xla.clone()), graph.module(), inputs) {
            Ok(got) => {
                for (g, e) in got.iter().zip(&expected) {
                    let near = compare(g, e, Category::Linalg);
                    near.unwrap_or_else(|m| panic!("seed {seed}: {m}\n{graph}"));
                }
                merged += 1;
            }
            Err(Failure::Unsupported(m) | Failure::Wrong(m)) => panic!("seed {seed}: {m}\n{graph}"),
        }
    }
    assert!(merged >= 8, "only {merged} populations were compared");
}

#[test]
fn random_smooth_programs_and_their_gradients() {
    let Some(xla) = xla() else { return };
    for seed in 0..10 {
        let inputs = Smooth::inputs(seed);
        let what = format!("seed {seed}");
        let Smooth { graph } = smooth(seed, 14).unwrap();
        agree(&xla, &graph.clone().erase(), &inputs, Category::Linalg, &what);
        let f = |a: Sym, b: Sym, c: Sym, d: Sym, k: Sym| {
            graph.call((a, b, c, d, k)).into_iter().map(|y| y.sum(..)).reduce(|a, b| a + b).unwrap()
        };
        let derived = trace(grad(f), graph.specs()).unwrap().erase();
        agree(&xla, &derived, &inputs, Category::Linalg, &format!("gradient of {what}"));
        let Smooth { graph } = looping(seed, 14).unwrap();
        agree(&xla, &graph.erase(), &inputs, Category::Linalg, &format!("looping {what}"));
    }
}

#[test]
fn random_numbers_are_the_same_bits() {
    let Some(xla) = xla() else { return };
    let draw =
        |k: Sym| (random::bits(k, U32, [64]), random::uniform(k, F32, [64]), random::randint(k, I32, [9], 0, 10));
    let (a, b) = (build(draw, random::key_spec(), &Interp).unwrap(), build(draw, random::key_spec(), &xla).unwrap());
    let (x, y) = (a.run(random::key(7)).unwrap(), b.run(random::key(7)).unwrap());
    assert!(x.0.bit_eq(&y.0) && x.1.bit_eq(&y.1) && x.2.bit_eq(&y.2));
}

#[test]
fn stages_files_and_donation_as_a_user_writes_them() {
    let Some(xla) = xla() else { return };
    let graph = trace(|x: Sym, w: Sym| x.dot(w).tanh().sum(1), (spec(F32, [4, 8]), spec(F32, [8, 4]))).unwrap();
    let lowered = graph.lower(&xla).unwrap();
    assert!(lowered.contains("stablehlo.dot_general"), "{}", &**lowered);
    let artifact = lowered.compile().unwrap();
    let exe = artifact.load(Device::cpu()).unwrap();
    let args = || (Tensor::ones(F32, [4, 8]), Tensor::ones(F32, [8, 4]));
    let near = |y: Tensor| compare(&y, &Tensor::full(F32, [4], 3.999999), Category::Transcendental).unwrap();
    near(exe.run(args()).unwrap());

    let dir = std::env::temp_dir();
    let (l, a) = (dir.join(format!("xla-{}.l", std::process::id())), dir.join(format!("xla-{}.a", std::process::id())));
    lowered.save(&l).unwrap();
    artifact.save(&a).unwrap();
    let again = CompiledArtifact::open(&a, &xla).unwrap().typed::<(Tensor, Tensor), Tensor>().unwrap();
    near(again.load(Device::cpu()).unwrap().run(args()).unwrap());
    let again = LoweredProgram::open(&l, &xla).unwrap().typed::<(Tensor, Tensor), Tensor>().unwrap();
    let exe = again.compile().unwrap().load(Device::cpu()).unwrap();
    near(exe.run(args()).unwrap());

    // Options that change code are part of the ABI.
    let e = CompiledArtifact::open(&a, &xla.clone().opt_level(OptLevel::O0)).unwrap_err();
    assert!(matches!(e, Error::Persistence(_)) && e.to_string().contains("abi"), "{e}");
    let e = CompiledArtifact::open(&a, &Interp).unwrap_err();
    assert!(matches!(e, Error::Persistence(_)), "{e}");
    let _ = (std::fs::remove_file(l), std::fs::remove_file(a));

    // A step whose result takes the place of its input.
    let step = build(|x: Sym| x + 1.0, spec(F32, [4096]), &xla).unwrap();
    let x = step.run(Tensor::zeros(F32, [4096])).unwrap();
    let at = x.as_slice::<f32>().unwrap().as_ptr() as usize;
    let y = step.run(x).unwrap();
    assert_eq!(y.as_slice::<f32>().unwrap().as_ptr() as usize, at);
    let kept = step.run(y.clone()).unwrap();
    assert_eq!((y.to_vec::<f32>().unwrap()[0], kept.to_vec::<f32>().unwrap()[0]), (2.0, 3.0));
    let copied = build(|x: Sym| x + 1.0, spec(F32, [4096]), &xla.donation(false)).unwrap();
    let at = kept.as_slice::<f32>().unwrap().as_ptr() as usize;
    assert_ne!(copied.run(kept).unwrap().as_slice::<f32>().unwrap().as_ptr() as usize, at);
}

#[test]
fn results_go_on_to_the_interpreter_and_into_graphs() {
    let Some(xla) = xla() else { return };
    let x = evaluate(|x: Sym| x * 2.0, Tensor::from([1f32, 2.0]), &xla).unwrap();
    assert_eq!(evaluate(|x: Sym| x + 1.0, x.clone(), &Interp).unwrap().to_vec::<f32>().unwrap(), [3.0, 5.0]);
    let graph = trace(|y: Sym| y + constant(&x), spec(F32, [2])).unwrap();
    assert_eq!(Graph::parse(&graph.to_string()).unwrap(), graph.clone().erase());
}

#[test]
fn symbolic_extents_need_a_size() {
    let Some(xla) = xla() else { return };
    let b = dim("B");
    let graph = trace(|x: Sym| x.sum(0) * x.dim(0), spec(F32, (b, 2))).unwrap();
    let e = graph.lower(&xla).unwrap_err();
    assert!(matches!(e, Error::Backend(_)), "{e}");
    assert!(e.to_string().contains("graph.specialize") && e.to_string().contains("SpecializationCache"), "{e}");

    let three = graph.specialize(&[(b, 3)]).unwrap();
    let exe = three.lower(&xla).unwrap().compile().unwrap().load(Device::cpu()).unwrap();
    assert_eq!(exe.run(Tensor::ones(F32, [3, 2])).unwrap().to_vec::<f32>().unwrap(), [9.0, 9.0]);
    assert!(matches!(exe.run(Tensor::ones(F32, [4, 2])), Err(Error::Run(_))));

    let cache = SpecializationCache::new(&graph, &xla).capacity(2);
    for (n, misses) in [(3, 1), (4, 2), (3, 2), (5, 3), (4, 4)] {
        let y = cache.run(Tensor::ones(F32, [n, 2])).unwrap();
        assert_eq!(y.to_vec::<f32>().unwrap(), [(n * n) as f32; 2]);
        assert_eq!((cache.misses(), cache.len() <= 2), (misses, true));
    }
    assert_eq!(cache.hits(), 1);
    let e = cache.run(Tensor::ones(F32, [3, 3])).unwrap_err();
    assert!(matches!(e, Error::Run(_)), "{e}");
    std::thread::scope(|s| {
        for _ in 0..8 {
            s.spawn(|| cache.run(Tensor::ones(F32, [6, 2])).unwrap());
        }
    });
    assert_eq!((cache.misses(), cache.hits()), (5, 8));
}

#[test]
fn what_xla_cannot_do_is_said() {
    let Some(xla) = xla() else { return };
    let c = xla.capabilities();
    assert!(!c.symbolic_dims && c.donation && c.random && c.linalg && c.control_flow && !c.print && !c.collectives);
    assert!(!xla.donation(false).capabilities().donation);
}

/// Readers of StableHLO fold these, which no run-time value meets: to the number, and to a division that ends the process.
#[test]
fn constants_are_not_folded_to_something_else() {
    let Some(xla) = xla() else { return };
    let text = "func @main() -> (tensor<3xf32>, tensor<3xf32>, tensor<3xi8>, tensor<3xi8>) {
      %x = evoxc.constant() {value = dense<[0x7FC00000, -0.0, 1.0]> : tensor<3xf32>} : tensor<3xf32>
      %y = evoxc.constant() {value = dense<[1.0, 0.0, 0x7FC00000]> : tensor<3xf32>} : tensor<3xf32>
      %n = evoxc.neg(%y) : tensor<3xf32>
      %0 = evoxc.max(%x, %n) : tensor<3xf32>
      %1 = evoxc.min(%n, %x) : tensor<3xf32>
      %a = evoxc.constant() {value = dense<[-128, 7, -7]> : tensor<3xi8>} : tensor<3xi8>
      %b = evoxc.constant() {value = dense<[-1, 0, 3]> : tensor<3xi8>} : tensor<3xi8>
      %2 = evoxc.div(%a, %b) : tensor<3xi8>
      %3 = evoxc.rem(%a, %b) : tensor<3xi8>
      return %0, %1, %2, %3
    }";
    let module = evoxc::ir::Module::parse(text).unwrap();
    // The interpreter's values of these ops are those of NumPy and of StableHLO's specification, by the value cases.
    let on = |b: AnyBackend| execute(&b, &module, &[]).unwrap();
    same_bits(&on(AnyBackend::new(xla)), &on(AnyBackend::new(Interp))).unwrap();
}
