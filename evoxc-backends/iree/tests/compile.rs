//! Compiling for every target, verifying, failing, saving: with IREE's compiler, where there is one.

use evoxc::ir::{FftKind, Module, Prim};
use evoxc::prelude::*;
use evoxc::{Error, Iree, IreeTarget, PersistenceError};
use std::path::{Path, PathBuf};

/// The compiler to test with: the one in the environment, else the one that `.ci/compilers` installs.
fn compiler() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(Iree::ENV) {
        return Some(path.into());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/compilers/lib");
    let pythons = std::fs::read_dir(root).ok()?.filter_map(Result::ok).map(|e| e.path());
    let mut files = pythons.map(|p| p.join("site-packages/iree/compiler/_mlir_libs/libIREECompiler.so"));
    files.find(|f| f.is_file())
}

/// The backend; without a compiler it says so, and tests that need it end.
fn iree() -> Option<Iree> {
    let found = compiler().map(|path| Iree::default().compiler(path));
    if found.is_none() {
        eprintln!("skipped: there is no IREE compiler; `.ci/compilers` installs one, or set {}", Iree::ENV);
    }
    found
}

fn layer() -> Graph<(Sym, Sym), Sym> {
    trace(|x: Sym, w: Sym| x.dot(w).tanh().sum(1), (spec(F32, [4, 8]), spec(F32, [8, 4]))).unwrap()
}

#[test]
fn every_target_compiles() {
    let Some(iree) = iree() else { return };
    let gpu = |arch: &str| arch.to_string();
    let targets = [
        IreeTarget::default(),
        IreeTarget::LlvmCpu { cpu: "generic".into() },
        IreeTarget::Vmvx,
        IreeTarget::Cuda { arch: gpu("sm_80") },
        IreeTarget::Hip { arch: gpu("gfx942") },
        IreeTarget::Vulkan { gpu: None },
        IreeTarget::Vulkan { gpu: Some("ada".into()) },
        IreeTarget::Metal,
    ];
    let mut seen = vec![];
    for target in targets {
        let lowered = layer().lower(&iree.clone().target(target.clone())).unwrap();
        let compiled = lowered.compile().unwrap_or_else(|e| panic!("{target}: {e}"));
        // A .vmfb file is a zip archive (https://iree.dev/reference/bytecode-file) or a flatbuffer with its name.
        let bytes = compiled.vmfb().to_vec();
        assert!(bytes.len() > 1000, "{target}: {} bytes", bytes.len());
        assert!(!seen.contains(&bytes), "{target} gave what another target gave");
        seen.push(bytes);
    }
}

#[test]
fn verifying_is_no_compiling() {
    let Some(iree) = iree() else { return };
    let artifact = layer().lower(&iree.verify_only()).unwrap().compile().unwrap();
    assert!(artifact.vmfb().is_empty());
    let message = artifact.load(Device::cpu()).unwrap_err().to_string();
    assert!(message.contains("verified, not compiled"), "{message}");
}

#[test]
fn a_wrong_program_is_refused_with_one_line() {
    let Some(iree) = iree() else { return };
    let bad = "outputs f32\nmodule @m { func.func @main(%x: tensor<2xf32>) -> tensor<3xf32> {\n  return %x : tensor<2xf32>\n} }";
    for iree in [iree.clone(), iree.verify_only()] {
        let lowered = iree.lowered_from_bytes(bad.as_bytes()).unwrap();
        let message = iree.compile(&lowered).unwrap_err().to_string();
        assert!(message.starts_with("backend iree: parse: ") && message.lines().count() == 1, "{message}");
    }
}

#[test]
fn a_flag_of_ones_own_wins_and_an_unknown_one_is_refused() {
    let Some(iree) = iree() else { return };
    let key = iree.clone().flag("--iree-opt-level=O3").abi_key();
    assert!(key.contains("--iree-opt-level=O3") && key.matches("--iree-opt-level").count() == 1, "{key}");
    let message = layer().lower(&iree.flag("--iree-no-such-flag=1")).unwrap().compile().unwrap_err().to_string();
    assert!(message.starts_with("backend iree: flags: ") && message.contains("no-such-flag"), "{message}");
}

#[test]
fn without_a_compiler_the_remedy_is_named() {
    let graph = layer().lower(&Iree::default().compiler("no/such/file.so")).unwrap();
    let message = graph.compile().unwrap_err().to_string();
    assert!(message.contains("no/such/file.so") && message.contains("pip install iree-base-compiler"), "{message}");
}

#[test]
fn artifacts_are_of_one_target() {
    let Some(iree) = iree() else { return };
    let path = std::env::temp_dir().join(format!("evoxc-iree-{}.evoxcartifact", std::process::id()));
    let artifact = layer().lower(&iree).unwrap().compile().unwrap();
    artifact.save(&path).unwrap();
    let again = CompiledArtifact::open(&path, &iree).unwrap();
    let other = CompiledArtifact::open(&path, &iree.target(IreeTarget::Vmvx));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(again.vmfb(), artifact.vmfb());
    assert!(matches!(other, Err(Error::Persistence(PersistenceError::Mismatch { field, .. })) if field == "abi"));
}

#[test]
fn code_for_this_processor_is_for_it_alone() {
    let key = |cpu: &str| Iree::default().target(IreeTarget::LlvmCpu { cpu: cpu.into() }).abi_key();
    let processor = evoxc_stage::host_processor();
    assert!(key("host").contains(processor) && Iree::default().abi_key().contains(processor));
    assert!(!key("generic").contains(processor));
    assert!(!Iree::default().target(IreeTarget::Vmvx).abi_key().contains(processor));
}

#[test]
fn threads_compile_at_once() {
    let Some(iree) = iree() else { return };
    let compile = || layer().lower(&iree).unwrap().compile().unwrap().vmfb().to_vec();
    let alone = compile();
    std::thread::scope(|s| {
        let all: Vec<_> = (0..4).map(|_| s.spawn(compile)).collect();
        all.into_iter().for_each(|t| assert_eq!(t.join().unwrap(), alone));
    });
}

/// StableHLO allows nothing but arithmetic of scalars there that a compiler can be relied on to take.
#[test]
fn bodies_of_reductions_have_no_barriers() {
    let list = |f: &dyn Fn(usize) -> String| (0..7).map(f).collect::<Vec<_>>().join(", ");
    let types = |shape: &str| list(&|_| format!("tensor<{shape}f32>"));
    let (xs, accs, elements) = (list(&|i| format!("%x{i}")), list(&|i| format!("%a{i}")), list(&|i| format!("%e{i}")));
    let typed = |names: &str, ty: &str| names.split(", ").map(|n| format!("{n}: {ty}")).collect::<Vec<_>>().join(", ");
    // All fourteen in one value.
    let all: Vec<String> = format!("{accs}, {elements}").split(", ").map(String::from).collect();
    let mut body = String::new();
    for i in 1..14 {
        let before = if i == 1 { all[0].clone() } else { format!("%s{}", i - 1) };
        body += &format!("%s{i} = evoxc.add({before}, {}) : tensor<f32>\n", all[i]);
    }
    let text = format!(
        "func @f({}, %z: tensor<f32>) -> tensor<f32> {{
          {} = evoxc.reduce({xs}, {}) {{axes = [0]}} : {} {{
            body({}, {}) {{
              {body}
              yield {}
            }}
          }}
          return %r0
        }}",
        typed(&xs, "tensor<4xf32>"),
        list(&|i| format!("%r{i}")),
        list(&|_| "%z".into()),
        types(""),
        typed(&accs, "tensor<f32>"),
        typed(&elements, "tensor<f32>"),
        list(&|_| "%s13".into()),
    );
    let lowered = Iree::default().lower(&Module::parse(&text).unwrap()).unwrap();
    assert!(!lowered.contains("optimization_barrier"), "{lowered:?}");
    if let Some(iree) = iree() {
        iree.compile(&lowered).unwrap();
    }
}

/// The sum of n tensors, one after the other.
fn sums(n: usize) -> Module {
    let specs = vec![spec(F32, [64]); n];
    let graph = trace(|xs: Vec<Sym>| xs[1..].iter().fold(xs[0], |sum, &x| sum + x), specs);
    graph.unwrap().module().clone()
}

#[test]
fn kernels_stay_below_the_limit_of_buffers() {
    // By hand: a value may depend on 12 tensors, and a barrier makes one of them; so 12, and then 11 more each.
    let barriers = |n| {
        let lowered = Iree::default().lower(&sums(n)).unwrap();
        lowered.matches("stablehlo.optimization_barrier").count()
    };
    assert_eq!([2, 12, 13, 23, 24, 300].map(barriers), [0, 0, 1, 1, 2, 27]);
    let ops = sums(12);
    assert!(ops.main().unwrap().body.ops.iter().all(|op| !matches!(op.prim, Prim::OptimizationBarrier {})));
}

#[test]
fn complex_numbers_are_refused_wherever_they_are() {
    let refused = |graph: Graph<Sym, Sym>, op: &str, what: &str| match graph.lower(&Iree::default()) {
        Err(Error::Backend(e)) => {
            assert_eq!((e.backend.as_str(), e.op.op.as_str()), ("iree", op), "{e}");
            assert!(e.op.message.contains(what) && e.op.remedy.is_some(), "{e}");
        }
        other => panic!("{:?}", other.map(|_| "lowered")),
    };
    // Inputs, intermediate values of programs on reals, and values inside of regions and functions that are called.
    refused(trace(|z: Sym| z.real(), spec(C64, [2])).unwrap(), "@main", "is given a tensor of dtype c64");
    refused(
        trace(|x: Sym| x.fft(FftKind::Rfft, [8]).abs(), spec(F32, [8])).unwrap(),
        "fft",
        "gives a tensor of dtype c64",
    );
    let squared = |x: Sym| (x.complex(x) * x.complex(x)).imag();
    refused(trace(squared, spec(F64, [2])).unwrap(), "complex", "gives a tensor of dtype c128");
    let inside = move |x: Sym| cond(x.sum(0).gt(0.0), || squared(x), || x);
    refused(trace(inside, spec(F64, [2])).unwrap(), "complex", "c128");
}

#[test]
fn no_program_on_reals_becomes_complex() {
    // The forms that ops have for IREE stay real, so that what is refused is what the user wrote.
    let all = |x: Sym| {
        let (values, vectors) = x.dot(x.transpose([1, 0])).eigh();
        let (u, s, v) = x.svd();
        values.sum(0) + vectors.sum([0, 1]) + u.sum([0, 1]) + s.sum(0) + v.sum([0, 1]) + x.pow(x).atan2(x).sum([0, 1])
    };
    let text = trace(all, spec(F32, [3, 3])).unwrap().lower(&Iree::default()).unwrap();
    assert!(!text.contains("complex<"), "{text:?}");
}

#[test]
fn vulkan_without_a_named_gpu_refuses_what_it_gets_wrong() {
    let lower = |dtype, n: usize, gpu: Option<&str>| {
        let target = IreeTarget::Vulkan { gpu: gpu.map(String::from) };
        let graph = trace(move |x: Sym| x.reshape([1, n]), spec(dtype, [n])).unwrap();
        graph.lower(&Iree::default().target(target)).map(drop).map_err(|e| e.to_string())
    };
    for (dtype, n) in [(F16, 4), (F64, 4), (I8, 3), (U8, 6), (BOOL, 1)] {
        let message = lower(dtype, n, None).unwrap_err();
        assert!(message.contains(&dtype.to_string()), "{message}");
        assert_eq!(lower(dtype, n, Some("ampere")), Ok(()));
    }
    for (dtype, n) in [(I8, 4), (BOOL, 0), (I16, 3), (BF16, 3), (F32, 3)] {
        assert_eq!(lower(dtype, n, None), Ok(()), "{dtype}");
    }
}
