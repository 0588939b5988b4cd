//! The stages on every backend compiled in: what is lowered, compiled, saved and read back runs alike, and no bytes
//! crash a reader.

use evoxc_backends::{backends, devices};
use evoxc_core::{Dyn, F32, Tensor, TreeDef, spec};
use evoxc_ir::Module;
use evoxc_stage::{AnyBackend, Backend, CompiledArtifact, LoweredProgram};
use std::path::PathBuf;

type Pair = (Tensor, Vec<Tensor>);

/// y = x + x; z = max(w) over its only axis, of a symbolic extent, by way of a branch.
const TEXT: &str = "func @main(%x: tensor<2xf32>, %w: tensor<Bxf32>) -> (tensor<2xf32>, tensor<f32>) {
  %y = evoxc.add(%x, %x) : tensor<2xf32>
  %z = evoxc.reduce_max(%w) {axes = [0]} : tensor<f32>
  %c = evoxc.constant() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : tensor<2xf32>
  %p = evoxc.constant() {value = dense<true> : tensor<bool>} : tensor<bool>
  %r = evoxc.cond(%p) : tensor<2xf32> {
    then() {
      %s = evoxc.mul(%y, %c) : tensor<2xf32>
      yield %s
    }
    else() {
      yield %y
    }
  }
  return %r, %z
}";

fn trees() -> (TreeDef, TreeDef) {
    (TreeDef::flatten((spec(F32, [2]), vec![spec(F32, [3])])).1, TreeDef::leaves_tuple(2))
}

/// The backends that take the program, which has a symbolic extent.
fn of_any_size() -> impl Iterator<Item = AnyBackend> {
    backends().into_iter().filter(|b| b.capabilities().symbolic_dims)
}

fn args() -> Pair {
    (Tensor::from([3f32, 5.0]), vec![Tensor::from([1f32, 9.0, 4.0])])
}

fn check((y, z): (Tensor, Tensor)) {
    // Source: by hand, 2 * [3, 5] * [1, 2] and max(1, 9, 4).
    assert_eq!((y.to_vec::<f32>().unwrap(), z.item::<f32>().unwrap()), (vec![6.0, 20.0], 9.0));
}

struct File(PathBuf);
impl File {
    fn new(name: &str) -> File {
        File(std::env::temp_dir().join(format!("evoxc-backends-{}-{name}", std::process::id())))
    }
}
impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn every_backend_has_a_name_and_a_device_list() {
    let all = backends();
    let names: Vec<&str> = all.iter().map(Backend::name).collect();
    assert_eq!(names.iter().collect::<std::collections::BTreeSet<_>>().len(), names.len());
    #[cfg(feature = "interp")]
    assert_eq!((names[0], devices()[0]), ("interp", evoxc_core::Device::cpu()));
    assert!(all.iter().flat_map(Backend::devices).all(|d| devices().contains(&d)));
}

#[test]
fn stages_and_their_files_run_alike() {
    let module = Module::parse(TEXT).unwrap();
    for b in of_any_size() {
        let (inputs, outputs) = trees();
        let lowered =
            LoweredProgram::<Pair, (Tensor, Tensor), _>::from_parts(b.clone(), &module, inputs, outputs).unwrap();
        let device = b.devices()[0];
        let artifact = lowered.compile().unwrap();
        check(artifact.load(device).unwrap().run(args()).unwrap());

        let (l, a) = (File::new("l"), File::new("a"));
        lowered.save(&l.0).unwrap();
        artifact.save(&a.0).unwrap();
        let read = LoweredProgram::open(&l.0, &b).unwrap().typed::<Pair, (Tensor, Tensor)>().unwrap();
        check(read.compile().unwrap().load(device).unwrap().run(args()).unwrap());
        let erased = CompiledArtifact::open(&a.0, &b).unwrap();
        check(erased.load(device).unwrap().run(Dyn::of(args())).unwrap().into().unwrap());
    }
}

#[test]
fn any_number_of_threads_give_the_same() {
    let module = Module::parse(TEXT).unwrap();
    for b in of_any_size() {
        let (inputs, outputs) = trees();
        let device = b.devices()[0];
        let lowered = LoweredProgram::<Pair, (Tensor, Tensor), _>::from_parts(b, &module, inputs, outputs).unwrap();
        let exe = lowered.compile().unwrap().load(device).unwrap();
        std::thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| (0..20).for_each(|_| check(exe.run(args()).unwrap())));
            }
        });
    }
}

#[test]
fn no_bytes_crash_a_reader() {
    let module = Module::parse(TEXT).unwrap();
    for b in of_any_size() {
        let device = b.devices()[0];
        let good = b.artifact_to_bytes(&b.compile(&b.lower(&module).unwrap()).unwrap()).unwrap();
        let attempt = |bytes: &[u8]| {
            let _ = b.lowered_from_bytes(bytes);
            let (x, w) = args();
            // A changed program that still loads may run, or fail as its own ops do.
            let program = b.artifact_from_bytes(bytes).and_then(|a| b.load(&a, device));
            program.map(|p| p.run(vec![x, w[0].clone()])).is_ok()
        };
        assert!(attempt(&good));
        let ends = (0..good.len()).step_by(good.len().div_ceil(100));
        ends.for_each(|n| assert!(!attempt(&good[..n]), "{}: truncated to {n} bytes", b.name()));
        let mut state = 7u64;
        let mut random = |n: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % n
        };
        for _ in 0..2000 {
            let mut bad = good.clone();
            for _ in 0..=random(2) {
                let i = random(bad.len());
                match random(3) {
                    0 => bad[i] = b"0129[]{}\",%xB"[random(13)],
                    1 => bad[i] = random(256) as u8,
                    _ => drop(bad.remove(i)),
                }
            }
            attempt(&bad);
        }
    }
}
