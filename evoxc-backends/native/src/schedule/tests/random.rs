//! Random programs give the same bits, fused or not.

use super::evaluate;
use crate::schedule::{schedule, schedule_apart};
use evoxc_core::{DType, Tensor};

#[allow(dead_code)]
#[path = "../../../../../tests/src/random_graph.rs"]
mod random_graph;

/// Equal bits, but for those of NaN.
fn same(a: &Tensor, b: &Tensor) -> bool {
    let bits = |t: &Tensor| -> Vec<Vec<u8>> {
        let d = t.dtype();
        let nan = |c: &[u8]| {
            let mut all = [0u8; 8];
            all[..c.len()].copy_from_slice(c);
            d.is_float() && f64::from_bits(crate::uop::cast(d, DType::F64, u64::from_le_bytes(all))).is_nan()
        };
        t.buffer().bytes().chunks(d.size().min(8)).map(|c| if nan(c) { vec![] } else { c.to_vec() }).collect()
    };
    a.dtype() == b.dtype() && a.shape() == b.shape() && bits(a) == bits(b)
}

#[test]
fn fused_programs_give_the_same() {
    let n = std::env::var("PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
    let first: u64 = std::env::var("SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut ran = 0;
    for seed in first..first + n {
        let p = random_graph::program(seed, 4 + (seed % 29) as usize);
        let (Ok(fused), Ok(apart)) = (schedule(&p.module), schedule_apart(&p.module)) else {
            panic!("seed {seed}: no schedule\n{}", p.module)
        };
        let want = evaluate::run(&p.module, &apart, &p.inputs);
        let run = || evaluate::run(&p.module, &fused, &p.inputs);
        let got = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        let got = got.unwrap_or_else(|_| panic!("seed {seed}: no values\n{}\n{fused}", p.module));
        match (want, got) {
            (Ok(Some(want)), Ok(Some(got))) => {
                ran += 1;
                for (w, g) in want.iter().zip(&got) {
                    assert!(same(w, g), "seed {seed}: apart {w:?}\nfused {g:?}\n{}\n{fused}", p.module);
                }
            }
            (Ok(None), _) | (Err(_), Err(_)) => {}
            (want, got) => panic!("seed {seed}: apart {want:?}, fused {got:?}\n{}\n{fused}", p.module),
        }
    }
    println!("{ran} programs");
    assert!(ran > n / 4);
}
