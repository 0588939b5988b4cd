//! Programs on Vulkan devices give what the interpreter gives. Run by `.ci/iree-runtime`; a software device will do, such
//! as the one of Mesa's package `mesa-vulkan-drivers`.
#![cfg(feature = "iree-vulkan")]

mod common;

use common::{iree, matrix, same};
use evoxc::prelude::*;
use evoxc::{Iree, IreeTarget};

/// IREE for Vulkan, and the first device.
fn vulkan() -> Option<(Iree, Device)> {
    let iree = iree()?.target(IreeTarget::Vulkan { gpu: None });
    let Some(&device) = iree.devices().first() else {
        eprintln!("skipped: there is no Vulkan device; Debian's `mesa-vulkan-drivers` and `libvulkan1` make one");
        return None;
    };
    Some((iree, device))
}

#[test]
fn a_layer_its_gradient_and_a_loop() {
    let Some((iree, _)) = vulkan() else { return };
    let (x, w) = (matrix(4, 8), matrix(8, 4));
    let layer = |x: Sym, w: Sym| x.dot(w).tanh().softmax(1).max(0);
    same(trace(layer, (spec(F32, [4, 8]), spec(F32, [8, 4]))).unwrap(), vec![x.clone(), w.clone()], &iree);
    let loss = |w: Sym, x: Sym| (x.dot(w).gelu() * 0.5).sum(..);
    same(trace(grad(loss), (spec(F32, [8, 4]), spec(F32, [4, 8]))).unwrap(), vec![w, x], &iree);
    let cumulated = |x: Sym| scan(zeros(F32, [8]), x, |sum: Sym, x: Sym| (sum * 0.5 + x, sum));
    same(trace(cumulated, spec(F32, [4, 8])).unwrap(), vec![matrix(4, 8)], &iree);
}

#[test]
fn extents_may_be_symbolic() {
    let Some((iree, device)) = vulkan() else { return };
    let f = |x: Sym| (x - x.mean(keep(0))).sum(1);
    for n in [1, 2, 7] {
        same(trace(f, spec(F32, (dim("B"), 8))).unwrap(), vec![matrix(n, 8)], &iree);
    }
    // One executable serves every size.
    let exe = trace(|x: Sym| x + 1.0, spec(F32, [dim("B")])).unwrap().lower(&iree).unwrap().compile().unwrap();
    let exe = exe.load(device).unwrap();
    for n in [3, 1, 100] {
        let y = exe.run(Tensor::full(F32, [n], 2.0).to(device).unwrap()).unwrap();
        assert_eq!(y.to(Device::cpu()).unwrap().to_vec::<f32>().unwrap(), vec![3.0; n]);
    }
}

#[test]
fn every_dtype_goes_to_the_device_and_back() {
    let Some((iree, device)) = vulkan() else { return };
    for dtype in iree.capabilities().dtypes {
        let x = Tensor::from([[0f32, 1.0, 2.0], [3.0, 4.0, 1.0]]).cast(dtype).unwrap();
        let there = x.to(device).unwrap();
        assert_eq!((there.device(), there.spec()), (device, x.spec()));
        assert!(there.to(Device::cpu()).unwrap().bit_eq(&x), "{dtype}");
    }
    let none = Tensor::zeros(F32, [0, 3]);
    assert!(none.to(device).unwrap().to(Device::cpu()).unwrap().bit_eq(&none));
}

#[test]
fn every_dtype_computes_for_a_named_gpu() {
    let Some((iree, _)) = vulkan() else { return };
    // It has the features that narrow and wide dtypes take; software devices have them too.
    let iree = iree.target(IreeTarget::Vulkan { gpu: Some("ampere".into()) });
    for dtype in iree.capabilities().dtypes {
        let x = Tensor::from([[0f32, 1.0, 2.0], [3.0, 4.0, 1.0]]).cast(dtype).unwrap();
        let f = |x: Sym| (x.transpose([1, 0]), x.reshape([6]), x.max(0));
        same(trace(f, spec(dtype, [2, 3])).unwrap(), vec![x], &iree);
    }
}

#[test]
fn integers_of_every_width_compute_without_a_named_gpu() {
    let Some((iree, _)) = vulkan() else { return };
    for dtype in iree.capabilities().dtypes {
        let x = Tensor::from([[0f32, 1.0, 2.0, 5.0], [3.0, 4.0, 1.0, 7.0]]).cast(dtype).unwrap();
        let f = |x: Sym| (x.transpose([1, 0]), x.reshape([8]), x.max(0));
        same(trace(f, spec(dtype, [2, 4])).unwrap(), vec![x], &iree);
    }
}

#[test]
fn outputs_are_inputs_of_the_next_call() {
    let Some((iree, device)) = vulkan() else { return };
    let step = trace(|x: Sym| x * 2.0 + 1.0, spec(F32, [16])).unwrap();
    let exe = step.lower(&iree).unwrap().compile().unwrap().load(device).unwrap();
    let mut x = Tensor::zeros(F32, [16]).to(device).unwrap();
    let first = exe.run(x.clone()).unwrap();
    for _ in 0..10 {
        x = exe.run(x).unwrap();
        assert_eq!(x.device(), device);
    }
    // x ← 2x + 1 from 0: 2ⁿ - 1.
    assert_eq!(x.to(Device::cpu()).unwrap().to_vec::<f32>().unwrap(), [1023.0; 16]);
    assert_eq!(first.to(Device::cpu()).unwrap().to_vec::<f32>().unwrap(), [1.0; 16]);
    // What is on the device outlives the program, and is no host's to read.
    drop(exe);
    assert!(x.to_vec::<f32>().is_err());
    assert_eq!(first.to(Device::cpu()).unwrap().to_vec::<f32>().unwrap(), [1.0; 16]);
}

#[test]
fn tensors_cross_threads_and_programs() {
    let Some((iree, device)) = vulkan() else { return };
    let load = |graph: Graph<Sym, Sym>| graph.lower(&iree).unwrap().compile().unwrap().load(device).unwrap();
    let double = load(trace(|x: Sym| x * 2.0, spec(F32, [64])).unwrap());
    let sum = load(trace(|x: Sym| x.sum(0), spec(F32, [64])).unwrap());
    std::thread::scope(|s| {
        for i in 0..4 {
            let (double, sum) = (double.clone(), sum.clone());
            s.spawn(move || {
                for _ in 0..20 {
                    let x = Tensor::full(F32, [64], i).to(device).unwrap();
                    let y = double.run(x.clone()).unwrap();
                    std::thread::spawn(move || drop(x)).join().unwrap();
                    let total = std::thread::spawn(move || sum_of(&y, device)).join().unwrap();
                    assert_eq!(total, 128.0 * i as f32);
                    let z = sum.run(Tensor::full(F32, [64], 1.0).to(device).unwrap()).unwrap();
                    assert_eq!(z.to(Device::cpu()).unwrap().item::<f32>().unwrap(), 64.0);
                }
            });
        }
    });
}

fn sum_of(t: &Tensor, device: Device) -> f32 {
    assert_eq!(t.device(), device);
    t.to(Device::cpu()).unwrap().to_vec::<f32>().unwrap().iter().sum()
}

#[test]
fn wrong_devices_are_refused() {
    let Some((iree, device)) = vulkan() else { return };
    let artifact = trace(|x: Sym| x + 1.0, spec(F32, [2])).unwrap().lower(&iree).unwrap().compile().unwrap();
    let absent = Device::vulkan(1000);
    let message = |r: Result<Tensor, evoxc::Error>| r.unwrap_err().to_string();
    let x = Tensor::from([1f32, 2.0]);
    for wrong in [absent, Device::cpu()] {
        assert!(artifact.load(wrong).is_err(), "{wrong}");
    }
    assert!(message(x.to(absent)).contains("vulkan:1000"));
    let exe = artifact.load(device).unwrap();
    let here = message(exe.run(x));
    assert!(here.contains("move it there by `.to(vulkan:0)`"), "{here}");
}
