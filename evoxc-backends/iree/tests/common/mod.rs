//! What the tests of programs share: the compiler, the comparison with the interpreter, and numbers.

use evoxc::prelude::*;
use evoxc::{Dyn, Iree};
use std::path::{Path, PathBuf};

fn compiler() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(Iree::ENV) {
        return Some(path.into());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/compilers/lib");
    let pythons = std::fs::read_dir(root).ok()?.filter_map(Result::ok).map(|e| e.path());
    let mut files = pythons.map(|p| p.join("site-packages/iree/compiler/_mlir_libs/libIREECompiler.so"));
    files.find(|f| f.is_file())
}

pub fn iree() -> Option<Iree> {
    let found = compiler().map(|path| Iree::default().compiler(path));
    if found.is_none() {
        eprintln!("skipped: there is no IREE compiler; `.ci/compilers` installs one, or set {}", Iree::ENV);
    }
    found
}

/// Runs on both, on the first device of each, and compares: integers by bits, floats within so many units of 2⁻²⁴ of the largest.
pub fn same<I: Tree<Sym>, O: Tree<Sym>>(graph: Graph<I, O>, args: Vec<Tensor>, iree: &Iree) -> Vec<Tensor> {
    let graph = graph.erase();
    let tree = |args: Vec<Tensor>| -> Dyn<Tensor> { evoxc::TreeDef::leaves_tuple(args.len()).unflatten(args).unwrap() };
    let module = graph.module();
    let list = |backend: &evoxc::AnyBackend| -> Vec<Tensor> {
        let device = backend.devices()[0];
        let lowered = evoxc::LoweredProgram::<Dyn<Tensor>, Dyn<Tensor>, _>::from_parts(
            backend.clone(),
            module,
            evoxc::TreeDef::leaves_tuple(graph.input_specs().len()),
            evoxc::TreeDef::leaves_tuple(graph.output_specs().len()),
        );
        let exe = lowered.unwrap().compile().unwrap_or_else(|e| panic!("{e}\n{graph}")).load(device).unwrap();
        let args = args.iter().map(|t| t.to(device).unwrap()).collect();
        let out = exe.run(tree(args)).unwrap_or_else(|e| panic!("{e}\n{graph}")).leaves().to_vec();
        assert!(out.iter().all(|t| t.device() == device));
        out.iter().map(|t| t.to(Device::cpu()).unwrap()).collect()
    };
    let (here, there) = (list(&evoxc::AnyBackend::new(Interp)), list(&evoxc::AnyBackend::new(iree.clone())));
    assert_eq!(here.len(), there.len());
    for (a, b) in here.iter().zip(&there) {
        assert_eq!(a.spec(), b.spec(), "{graph}");
        if a.dtype().is_float() {
            let (a, b) = (a.cast(F64).unwrap().to_vec::<f64>().unwrap(), b.cast(F64).unwrap().to_vec::<f64>().unwrap());
            let scale = a.iter().filter(|v| v.is_finite()).fold(1.0f64, |m, v| m.max(v.abs()));
            for (x, y) in a.iter().zip(&b) {
                let near = (x - y).abs() <= 64.0 * scale * 2f64.powi(-24) || x == y || x.is_nan() && y.is_nan();
                assert!(near, "{x} and {y} in\n{graph}");
            }
        } else {
            assert!(a.bit_eq(b), "{a} and {b} in\n{graph}");
        }
    }
    there
}

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 37 % 101) as f32 - 50.0) / 20.0).collect()
}

pub fn matrix(rows: usize, columns: usize) -> Tensor {
    Tensor::from_vec(numbers(rows * columns), [rows, columns]).unwrap()
}
