//! Programs on IREE's runtime give what the interpreter gives. Run by `.ci/iree-runtime`.
#![cfg(feature = "iree-runtime")]

mod common;

use common::{iree, matrix, same};
use evoxc::IreeTarget;
use evoxc::prelude::*;

#[test]
fn every_dtype_goes_in_and_comes_out() {
    let Some(iree) = iree() else { return };
    for dtype in iree.capabilities().dtypes {
        let x = Tensor::from([[0f32, 1.0, 2.0], [3.0, 4.0, 1.0]]).cast(dtype).unwrap();
        let graph = trace(|x: Sym| (x.transpose([1, 0]), x.reshape([6])), spec(dtype, [2, 3])).unwrap();
        same(graph, vec![x], &iree);
    }
}

#[test]
fn a_layer_its_gradient_and_a_loop() {
    let Some(iree) = iree() else { return };
    let (x, w) = (matrix(4, 8), matrix(8, 4));
    let layer = |x: Sym, w: Sym| x.dot(w).tanh().softmax(1).max(0);
    same(trace(layer, (spec(F32, [4, 8]), spec(F32, [8, 4]))).unwrap(), vec![x.clone(), w.clone()], &iree);
    let loss = |w: Sym, x: Sym| (x.dot(w).gelu() * 0.5).sum(..);
    same(trace(grad(loss), (spec(F32, [8, 4]), spec(F32, [4, 8]))).unwrap(), vec![w, x], &iree);
    let cumulated = |x: Sym| scan(zeros(F32, [8]), x, |sum: Sym, x: Sym| (sum * 0.5 + x, sum));
    same(trace(cumulated, spec(F32, [4, 8])).unwrap(), vec![matrix(4, 8)], &iree);
    let collatz = |n: Sym| {
        let step = |(n, i): (Sym, Sym)| ((n % 2).eq(0).select(n / 2, n * 3 + 1), i + 1);
        while_loop((n, full(I32, [], 0)), |(n, _): (Sym, Sym)| n.gt(1), step)
    };
    let out = same(trace(collatz, spec(I32, [])).unwrap(), vec![Tensor::from(27i32)], &iree);
    assert_eq!(out[1].item::<i32>().unwrap(), 111); // OEIS A006577
}

#[test]
fn unsigned_integers_keep_their_sign() {
    let Some(iree) = iree() else { return };
    let x = Tensor::from([1u32, u32::MAX, 7, 1 << 31]);
    let f = |x: Sym| (x / 2u32, x.gt(5u32), x.cast(F64), x.max(0), x.sort(0));
    same(trace(f, spec(U32, [4])).unwrap(), vec![x], &iree);
}

#[test]
fn random_numbers_have_the_same_bits() {
    let Some(iree) = iree() else { return };
    let f = |key: Sym| (random::bits(key, U32, [33]), random::randint(key, I32, [5], 0, 10), random::split_n(key, 3));
    same(trace(f, random::key_spec()).unwrap(), vec![random::key(42)], &iree);
}

#[test]
fn extents_may_be_symbolic() {
    let Some(iree) = iree() else { return };
    for n in [1, 2, 7] {
        let graph = trace(|x: Sym| (x - x.mean(keep(0))).sum(1), spec(F32, (dim("B"), 8))).unwrap();
        same(graph, vec![matrix(n, 8)], &iree);
    }
}

#[test]
fn three_hundred_inputs() {
    let Some(iree) = iree() else { return };
    let specs = vec![spec(F32, [64]); 300];
    let graph = trace(|xs: Vec<Sym>| xs[1..].iter().fold(xs[0], |sum, &x| sum + x), specs).unwrap();
    let args = (0..300).map(|i| Tensor::full(F32, [64], i)).collect();
    let out = same(graph, args, &iree);
    assert_eq!(out[0].to_vec::<f32>().unwrap(), [44850.0; 64]); // 299 * 300 / 2
}

#[test]
fn drivers_and_targets_agree() {
    let Some(iree) = iree() else { return };
    let graph = || trace(|x: Sym| x.exp().sum(0), spec(F32, [16, 8])).unwrap();
    for iree in [iree.clone().driver("local-task"), iree.target(IreeTarget::Vmvx)] {
        same(graph(), vec![matrix(16, 8)], &iree);
    }
}

#[test]
fn an_unknown_driver_is_named() {
    let Some(iree) = iree() else { return };
    let artifact = trace(|x: Sym| x + 1.0, spec(F32, [2])).unwrap().lower(&iree.driver("steam")).unwrap().compile();
    let message = artifact.unwrap().load(Device::cpu()).unwrap_err().to_string();
    assert!(message.starts_with("backend iree: create device: "), "{message}");
}

#[test]
fn threads_share_a_program() {
    let Some(iree) = iree() else { return };
    let exe = build(|x: Sym| x * 2.0, spec(F32, [64]), &iree).unwrap();
    std::thread::scope(|s| {
        for i in 0..8 {
            let exe = exe.clone();
            s.spawn(move || {
                for _ in 0..50 {
                    let y = exe.run(Tensor::full(F32, [64], i)).unwrap();
                    assert_eq!(y.to_vec::<f32>().unwrap(), [2.0 * i as f32; 64]);
                }
            });
        }
    });
}
