//! Where tensors are and who owns them: donation, several devices, several clients, transfers.

mod support;

use evoxc_core::{Device, DeviceKind, Error, F32, F64, Resident, Tensor, TensorSpec, spec};
use evoxc_stage::{Backend, Program};
use evoxc_xla::{Xla, XlaProgram};
use std::sync::Arc;
use support::{load, plugin, run, xla};

const N: usize = 4096;

/// x + 1, where x's memory may become the result's.
const NEXT: &str = "func.func @main(%x: tensor<4096xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4096xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<4096xf32>
  %0 = stablehlo.add %x, %c : tensor<4096xf32>
  return %0 : tensor<4096xf32>
}";

fn ty() -> TensorSpec {
    spec(F32, [N])
}

fn next(xla: &Xla) -> Arc<dyn Program> {
    load(xla, NEXT, &[ty()], &[ty()]).unwrap()
}

fn address(t: &Tensor) -> usize {
    t.as_slice::<f32>().unwrap().as_ptr() as usize
}

#[test]
fn the_last_owner_gives_its_memory_away() {
    let Some(xla) = xla() else { return };
    let exe = next(&xla);
    let x = exe.run(vec![Tensor::zeros(F32, [N])]).unwrap().remove(0);
    let before = address(&x);
    let y = exe.run(vec![x]).unwrap().remove(0);
    assert_eq!(address(&y), before, "the result is where the input was");
    assert_eq!(y.to_vec::<f32>().unwrap(), [2.0; N]);
}

#[test]
fn a_shared_input_is_kept() {
    let Some(xla) = xla() else { return };
    let exe = next(&xla);
    let x = exe.run(vec![Tensor::zeros(F32, [N])]).unwrap().remove(0);
    let shared = x.clone();
    let y = exe.run(vec![x]).unwrap().remove(0);
    assert_ne!(address(&y), address(&shared));
    assert_eq!((shared.to_vec::<f32>().unwrap(), y.to_vec::<f32>().unwrap()), (vec![1.0; N], vec![2.0; N]));
    // Now it is the last owner.
    assert_eq!(exe.run(vec![shared]).unwrap()[0].to_vec::<f32>().unwrap(), [2.0; N]);
}

#[test]
fn host_tensors_are_kept_unless_they_are_moved_in() {
    let Some(xla) = xla() else { return };
    let exe = next(&xla);
    let x = Tensor::zeros(F32, [N]);
    let y = exe.run(vec![x.clone()]).unwrap().remove(0);
    assert_eq!((x.to_vec::<f32>().unwrap(), y.to_vec::<f32>().unwrap()), (vec![0.0; N], vec![1.0; N]));
    // Moved in, its memory may be the result's; the result lives on after everything else is gone.
    let z = exe.run(vec![x]).unwrap().remove(0);
    drop(exe);
    assert_eq!(z.to_vec::<f32>().unwrap(), [1.0; N]);
}

#[test]
fn one_tensor_as_two_inputs_is_kept() {
    let Some(xla) = xla() else { return };
    let text = "func.func @main(%x: tensor<4096xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<4096xf32>) -> tensor<4096xf32> {
      %0 = stablehlo.add %x, %y : tensor<4096xf32>
      return %0 : tensor<4096xf32>
    }";
    let exe = load(&xla, text, &[ty(), ty()], &[ty()]).unwrap();
    let x = next(&xla).run(vec![Tensor::zeros(F32, [N])]).unwrap().remove(0);
    assert_eq!(exe.run(vec![x.clone(), x]).unwrap()[0].to_vec::<f32>().unwrap(), [2.0; N]);
}

#[test]
fn results_share_memory_with_nothing() {
    let Some(xla) = xla() else { return };
    let next = next(&xla);
    let ones = |t: &Tensor| t.to_vec::<f32>().unwrap() == [1.0; N];
    for donates in ["", " {tf.aliasing_output = 0 : i32}"] {
        let (t, results) = ("tensor<4096xf32>", "%x, %x, %c, %c");
        let text = format!(
            "func.func @main(%x: {t}{donates}) -> ({t}, {t}, {t}, {t}) {{
              %c = stablehlo.constant dense<1.0> : {t}
              return {results} : {t}, {t}, {t}, {t}
            }}"
        );
        let same = load(&xla, &text, &[ty()], &[ty(), ty(), ty(), ty()]).unwrap();
        let host = Tensor::ones(F32, [N]);
        let held = next.run(vec![Tensor::zeros(F32, [N])]).unwrap().remove(0);
        // Each result in turn is given to a program that writes over it.
        for at in 0..4 {
            for x in [host.clone(), held.clone(), Tensor::ones(F32, [N]), held.reshape([N]).unwrap()] {
                let mut out = same.run(vec![x]).unwrap();
                let gone = out.remove(at);
                assert_eq!(next.run(vec![gone]).unwrap()[0].to_vec::<f32>().unwrap(), [2.0; N]);
                assert!(out.iter().all(ones) && ones(&host) && ones(&held), "result {at}");
            }
        }
    }
}

#[test]
fn results_outlive_the_backend_and_cross_threads() {
    let Some(xla) = xla() else { return };
    let y = next(&xla).run(vec![Tensor::zeros(F32, [N])]).unwrap().remove(0);
    drop(xla);
    let seen = std::thread::spawn(move || y.to_vec::<f32>().unwrap()).join().unwrap();
    assert_eq!(seen, [1.0; N]);
}

#[test]
fn every_device_of_the_plugin_is_listed_and_runs() {
    let Some(xla) = xla() else { return };
    let two = xla.create_option("cpu_device_count", 2);
    let (first, second) = (Device::cpu(), Device::new(DeviceKind::Cpu, 1));
    assert_eq!(two.devices(), [first, second]);

    let program = XlaProgram::from_text(NEXT, vec![ty()], vec![ty()]).unwrap();
    let artifact = two.compile(&program).unwrap();
    let (one, other) = (two.load(&artifact, first).unwrap(), two.load(&artifact, second).unwrap());
    let x = Tensor::zeros(F32, [N]);
    let there = x.to(second).unwrap();
    assert_eq!((there.device(), there.spec()), (second, x.spec()));
    let y = other.run(vec![there]).unwrap().remove(0);
    assert_eq!((y.device(), y.to_vec::<f32>().unwrap()), (second, vec![1.0; N]));
    let y = y.to(first).unwrap();
    assert_eq!((y.device(), y.resident().is_none()), (first, true));
    assert_eq!(one.run(vec![y]).unwrap()[0].to_vec::<f32>().unwrap(), [2.0; N]);

    // Compiled for the second device from the start.
    let for_second = two.clone().device(1);
    let exe = for_second.load(&for_second.compile(&program).unwrap(), second).unwrap();
    assert_eq!(exe.run(vec![x]).unwrap()[0].device(), second);
    let absent = two.device(2).compile(&program).err().unwrap().to_string();
    assert!(absent.contains("there is no device 2; the plugin has 2"), "{absent}");
}

#[test]
fn a_device_that_no_runtime_has_is_an_error() {
    let e = Tensor::zeros(F32, [2]).to(Device::tpu(3)).unwrap_err();
    assert!(matches!(e, Error::Device(_)), "{e}");
}

#[test]
fn memory_of_another_runtime_is_read_in_place() {
    /// Host memory that is not a `Vec` of ours.
    struct Foreign(Vec<f64>);
    impl Resident for Foreign {
        fn dtype(&self) -> evoxc_core::DType {
            F64
        }
        fn len(&self) -> usize {
            self.0.len()
        }
        fn device(&self) -> Device {
            Device::cpu()
        }
        fn bytes(&self) -> Option<&[u8]> {
            // SAFETY: floats are bytes.
            Some(unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() * 8) })
        }
        fn to_host(&self) -> evoxc_core::Result<evoxc_core::Buffer> {
            Ok(self.0.clone().into())
        }
    }
    let Some(xla) = xla() else { return };
    for n in [3, 3000] {
        let x = Tensor::from_resident(Arc::new(Foreign(vec![1.5; n])), &[n]).unwrap();
        let ty = format!("tensor<{n}xf64>");
        let text =
            format!("func.func @main(%x: {ty}) -> {ty} {{\n%0 = stablehlo.add %x, %x : {ty}\nreturn %0 : {ty}\n}}");
        let y = run(&xla, &text, vec![x.clone()], &[spec(F64, [n])]).unwrap().remove(0);
        assert_eq!((y.to_vec::<f64>().unwrap(), x.to_vec::<f64>().unwrap()), (vec![3.0; n], vec![1.5; n]));
    }
}

#[test]
fn clients_of_one_plugin_share_devices_but_not_memory() {
    let (Some(xla), Some(path)) = (xla(), plugin()) else { return };
    let other = Xla::plugin(path).unwrap().create_option("cpu_device_count", 3);
    let x = next(&xla).run(vec![Tensor::zeros(F32, [N])]).unwrap().remove(0);
    // Both are the host's processor: what the other client holds is read there in place.
    assert_eq!(next(&other).run(vec![x]).unwrap()[0].to_vec::<f32>().unwrap(), [2.0; N]);
}
