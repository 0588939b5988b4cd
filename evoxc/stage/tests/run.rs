//! Running: the checks of inputs, ownership of their storage, and the promise of outputs.

mod fake;

use evoxc_core::{
    Device, DeviceError, DeviceKind, Dyn, Error, F32, I32, PersistenceError, Tensor, TensorSpec, Tree, TreeDef, dim,
    spec,
};
use evoxc_stage::{AnyBackend, Backend, Executable, LoweredProgram};
use fake::{Fake, fake, lowered, module};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

fn exe<I, O>(inputs: I::Map<TensorSpec>, results: &[usize], out: O::Map<TensorSpec>) -> Executable<I, O>
where
    I: Tree<Tensor>,
    O: Tree<Tensor>,
{
    let out = TreeDef::flatten(out).1;
    lowered::<I, O>(fake(), TreeDef::flatten(inputs), results, out).compile().unwrap().load(Device::cpu()).unwrap()
}

fn message<T>(r: Result<T, Error>) -> String {
    match r {
        Err(e) => e.to_string(),
        Ok(_) => panic!("no error"),
    }
}

fn ones(shape: &[usize]) -> Tensor {
    Tensor::ones(F32, shape)
}

#[test]
fn typed_in_typed_out() {
    let (a, b) = (spec(F32, [2]), spec(I32, [3]));
    let f = exe::<(Tensor, Vec<Tensor>), BTreeMap<String, Tensor>>(
        (a.clone(), vec![b.clone()]),
        &[1, 0],
        BTreeMap::from([("x".into(), b), ("y".into(), a)]),
    );
    let out = f.run((ones(&[2]), vec![Tensor::ones(I32, [3])])).unwrap();
    assert_eq!((out["x"].dtype(), out["y"].dtype()), (I32, F32));
    assert_eq!(f.specs().len(), 2);
    assert_eq!(f.device(), Device::cpu());
    f.synchronize().unwrap();
    fn shared<T: Send + Sync + Clone>(_: &T) {}
    shared(&f);
}

#[test]
fn errors_name_path_and_types() {
    let s = |d: [usize; 2]| spec(F32, d);
    let f = exe::<(Vec<Tensor>, Tensor), Tensor>((vec![s([8, 4]), s([8, 4])], spec(F32, [])), &[0], s([8, 4]));
    let got = message(f.run((vec![ones(&[8, 4]), ones(&[4, 8])], ones(&[]))));
    assert_eq!(got, "input 0[1]: expected tensor<8x4xf32>, got tensor<4x8xf32>");
    let got = message(f.run((vec![ones(&[8, 4])], ones(&[]))));
    assert_eq!(got, "input 0: expected a list of 2, got a list of 1");
    let got = message(f.run((vec![ones(&[8, 4]), ones(&[8, 4])], Tensor::from(1i32))));
    assert_eq!(got, "input 1: expected tensor<f32>, got tensor<i32>; convert it by `.cast(..)` if that is meant");
    let got = message(f.run((vec![ones(&[8, 4]), ones(&[8, 4, 1])], ones(&[]))));
    assert_eq!(got, "input 0[1]: expected tensor<8x4xf32>, got tensor<8x4x1xf32>");
    // A bare argument is argument 0.
    let f = exe::<Tensor, Tensor>(spec(F32, [2]), &[0], spec(F32, [2]));
    assert_eq!(message(f.run(ones(&[3]))), "input 0: expected tensor<2xf32>, got tensor<3xf32>");
    let f = exe::<Dyn<Tensor>, Tensor>(Dyn::of(vec![spec(F32, [2])]), &[0], spec(F32, [2]));
    let got = message(f.run(Dyn::of((ones(&[2]), ones(&[2])))));
    assert_eq!(got, "input 0: expected a list of 1, got a tuple of 2");
    let f = exe::<Dyn<Tensor>, Tensor>(Dyn::of((spec(F32, [2]),)), &[0], spec(F32, [2]));
    let got = message(f.run(Dyn::of((ones(&[2]), ones(&[2])))));
    assert_eq!(got, "input tree: expected a tuple of 1, got a tuple of 2");
}

#[test]
fn an_input_elsewhere_is_refused() {
    let f = exe::<Tensor, Tensor>(spec(F32, [2]).on(Device::cuda(0)), &[0], spec(F32, [2]));
    let got = message(f.run(ones(&[2])));
    let expected = "input 0: expected tensor<2xf32> on cuda:0, got tensor<2xf32> on cpu:0; \
                    move it there by `.to(cuda:0)`";
    assert_eq!(got, expected);
}

#[test]
fn a_symbol_has_one_value() {
    let (b, t) = (dim("B"), dim("T"));
    let f = exe::<(Tensor, Tensor, Tensor), Tensor>(
        (spec(F32, (b, 4)), spec(F32, (2 * b + 1,)), spec(F32, (b * t,))),
        &[0],
        spec(F32, (b, 4)),
    );
    let run = |x: &[usize], y: &[usize], z: &[usize]| f.run((ones(x), ones(y), ones(z)));
    assert_eq!(run(&[3, 4], &[7], &[6]).unwrap().shape(), [3, 4]);
    assert_eq!(message(run(&[3, 4], &[9], &[6])), "input 1: `B` is 4 here, but 3 at input 0");
    // 2*B + 1 = 8 and 3*T = 7 have no solution among the extents.
    assert_eq!(
        message(run(&[3, 4], &[8], &[6])),
        "input 1: expected tensor<[2*B + 1]xf32> with B = 3 (input 0), got tensor<8xf32>"
    );
    let got = message(run(&[3, 4], &[7], &[7]));
    assert_eq!(got, "input 2: expected tensor<[B*T]xf32> with B = 3 (input 0), got tensor<7xf32>");
    assert_eq!(message(run(&[3, 5], &[7], &[7])), "input 0: expected tensor<Bx4xf32>, got tensor<3x5xf32>");
    // Zero is an extent; B = 0 leaves T free, but only where the product is zero as well.
    assert!(run(&[0, 4], &[1], &[0]).is_ok());
    assert!(run(&[0, 4], &[1], &[2]).is_err());
}

#[test]
fn expressions_are_checked_whatever_their_order() {
    let (b, t) = (dim("B"), dim("T"));
    let f = exe::<(Tensor, Tensor, Tensor), Tensor>(
        (spec(F32, (b + t,)), spec(F32, (b,)), spec(F32, (t,))),
        &[0],
        spec(F32, (b + t,)),
    );
    assert!(f.run((ones(&[5]), ones(&[2]), ones(&[3]))).is_ok());
    let got = message(f.run((ones(&[6]), ones(&[2]), ones(&[3]))));
    assert_eq!(got, "input 0: expected tensor<[B + T]xf32> with B = 2 (input 1), T = 3 (input 2), got tensor<6xf32>");
    let f = exe::<Tensor, Tensor>(spec(F32, (b.max(4),)), &[0], spec(F32, (b.max(4),)));
    // Nothing says what B is.
    assert!(f.run(ones(&[6])).is_err());
}

#[test]
fn nothing_runs_before_all_is_checked() {
    let b = fake();
    let l = lowered::<Tensor, Tensor>(b.clone(), (vec![spec(F32, [2])], TreeDef::leaf()), &[0], TreeDef::leaf());
    let f = l.compile().unwrap().load(Device::cpu()).unwrap();
    assert!(f.run(ones(&[3])).is_err());
    assert_eq!(b.runs.load(Ordering::Relaxed), 0);
    assert!(f.run(ones(&[2])).is_ok());
    assert_eq!(b.runs.load(Ordering::Relaxed), 1);
}

#[test]
fn a_tensor_moved_in_keeps_its_only_owner() {
    let f = exe::<Tensor, Tensor>(spec(F32, [2]), &[0], spec(F32, [2]));
    let t = ones(&[2]);
    let p = t.buffer().bytes().as_ptr();
    let out = f.run(t).unwrap();
    assert_eq!(out.buffer().bytes().as_ptr(), p);
    assert_eq!(std::sync::Arc::strong_count(out.shared()), 1);
}

#[test]
fn a_program_that_loses_results_is_an_error() {
    let b = Fake { lost: 1, ..fake() };
    let l = lowered::<Tensor, Tensor>(b, (vec![spec(F32, [2])], TreeDef::leaf()), &[0], TreeDef::leaf());
    let f = l.compile().unwrap().load(Device::cpu()).unwrap();
    assert!(message(f.run(ones(&[2]))).contains("gave 0 results instead of 1"));
}

#[test]
fn signatures_that_do_not_fit_the_module_are_refused() {
    let m = module(&[spec(F32, [2])], &[0]);
    let r = LoweredProgram::<Tensor, Tensor, Fake>::from_parts(fake(), &m, TreeDef::leaves_tuple(2), TreeDef::leaf());
    assert!(message(r).contains("inputs: expected 1 leaves, got 2 leaves"));
    let empty = evoxc_ir::Module::default();
    let r = LoweredProgram::<Tensor, Tensor, Fake>::from_parts(fake(), &empty, TreeDef::leaf(), TreeDef::leaf());
    assert!(matches!(r, Err(Error::Ir(_))));
}

#[test]
fn devices_of_another_kind_or_missing() {
    let l = lowered::<Tensor, Tensor>(fake(), (vec![spec(F32, [2])], TreeDef::leaf()), &[0], TreeDef::leaf());
    let a = l.compile().unwrap();
    let other = a.load(Device::vulkan(0));
    assert!(matches!(other, Err(Error::Persistence(PersistenceError::Mismatch { field: "device", .. }))));
    let gpu = Fake { device: DeviceKind::Cuda, ..fake() };
    let l = lowered::<Tensor, Tensor>(gpu, (vec![spec(F32, [2])], TreeDef::leaf()), &[0], TreeDef::leaf());
    let missing = l.compile().unwrap().load(Device::cuda(3));
    assert!(matches!(missing, Err(Error::Device(DeviceError::Unavailable { .. }))));
    assert!(message(missing).contains("finds cpu:0, cuda:0"));
}

#[test]
fn any_backend_is_a_backend() {
    let any = AnyBackend::new(fake());
    assert_eq!((any.name(), any.version().as_str(), any.abi_key().as_str()), ("fake", "1", "x"));
    assert!(any.downcast_ref::<Fake>().is_some());
    let m = module(&[spec(F32, [2])], &[0]);
    let l = LoweredProgram::<Tensor, Tensor, _>::from_parts(any.clone(), &m, TreeDef::leaf(), TreeDef::leaf()).unwrap();
    assert_eq!(l.downcast_ref::<Vec<usize>>(), Some(&vec![0]));
    let f = l.compile().unwrap().load(Device::cpu()).unwrap();
    assert_eq!(f.run(ones(&[2])).unwrap().shape(), [2]);
    assert_eq!(f.backend(), "fake");
    // What was lowered by another backend (the erased form is another one) is an error, not a crash.
    let twice = AnyBackend::new(any);
    assert!(twice.compile(&l).is_err());
}
