//! Kernels as loops do what they say, whatever the lanes and the parts they are run in.

mod evaluate;
mod generate;

use super::{Shape, linearise};
use crate::kernel::Kernel;
use crate::lir::verify;
use crate::render::{Interp, Renderer, Target};
use crate::uop::Alu;
use evaluate::{Evaluation, Memory};
use evoxc_core::DType;
use generate::{Case, Numbers, columns, kernel, product, sums, wide};

const SHAPES: [Shape; 5] = [
    Shape { lanes: 1, unroll: 1 },
    Shape { lanes: 16, unroll: 4 },
    Shape { lanes: 8, unroll: 4 },
    Shape { lanes: 16, unroll: 1 },
    Shape { lanes: 4, unroll: 2 },
];

/// Runs on the interpreter of LIR, in the parts that `cuts` gives; memory is checked to be left alone around arrays.
fn run(case: &Case, target: &Target, shape: Shape, cuts: Option<&mut Numbers>) -> Vec<Memory> {
    let kernel = &case.kernel;
    let lir = linearise(kernel, target, shape).unwrap_or_else(|e| panic!("{e:?}\n{kernel:?}"));
    verify(&lir).unwrap_or_else(|e| panic!("{e:?}\n{lir}"));
    let code = Interp.compile(&lir).unwrap();
    const GUARD: usize = 64;
    let bytes = |d: DType, data: &Memory| {
        let mut out = vec![0xa5u8; GUARD];
        for x in data {
            out.extend_from_slice(&x.to_le_bytes()[..d.size()]);
        }
        out.extend([0xa5u8; GUARD]);
        out
    };
    let mut buffers: Vec<Vec<u8>> = kernel.buffers.iter().zip(&case.buffers).map(|(b, x)| bytes(b.dtype, x)).collect();
    let mut scratch: Vec<Vec<u8>> = lir
        .scratch
        .iter()
        .map(|(d, len)| vec![0xa5u8; d.size() * len.value(&case.params).max(0) as usize + GUARD])
        .collect();
    let at: Vec<*mut u8> = buffers.iter_mut().map(|b| b[GUARD..].as_mut_ptr()).collect();
    let own: Vec<*mut u8> = scratch.iter_mut().map(|b| b.as_mut_ptr()).collect();
    let extent = lir.extent.value(&case.params);
    let mut points = vec![0, extent];
    if let Some(n) = cuts {
        for _ in 0..3 {
            points.push(n.below(extent.max(0) as u64 + 1) as i64);
        }
        points.sort_unstable();
    }
    let mut parts: Vec<_> = points.windows(2).filter(|w| w[0] < w[1]).map(|w| (w[0], w[1])).collect();
    parts.reverse();
    for (begin, end) in parts {
        // SAFETY: the arrays are as large as the kernel's indices say, and this thread's own.
        unsafe { code.run(at.as_ptr(), case.params.as_ptr(), own.as_ptr(), begin, end) }
    }
    let data = kernel.buffers.iter().zip(&buffers).map(|(b, x)| {
        assert!(x[..GUARD].iter().chain(&x[x.len() - GUARD..]).all(|&b| b == 0xa5), "written outside of an array");
        let of = |c: &[u8]| {
            let mut all = [0; 8];
            all[..c.len()].copy_from_slice(c);
            u64::from_le_bytes(all)
        };
        x[GUARD..x.len() - GUARD].chunks_exact(b.dtype.size()).map(of).collect()
    });
    data.collect()
}

fn nan(d: DType, x: u64) -> bool {
    match d {
        DType::F16 => half::f16::from_bits(x as u16).is_nan(),
        DType::BF16 => half::bf16::from_bits(x as u16).is_nan(),
        DType::F32 => f32::from_bits(x as u32).is_nan(),
        DType::F64 => f64::from_bits(x).is_nan(),
        _ => false,
    }
}

/// Every bit, but for the payloads of NaN.
fn equal(kernel: &Kernel, a: &[Memory], b: &[Memory]) -> Result<(), String> {
    for (n, decl) in kernel.buffers.iter().enumerate() {
        for (i, (&x, &y)) in a[n].iter().zip(&b[n]).enumerate() {
            if x != y && !(nan(decl.dtype, x) && nan(decl.dtype, y)) {
                return Err(format!("buffer {n} of {} at {i}: {x:#x}, not {y:#x}", decl.dtype));
            }
        }
    }
    Ok(())
}

/// A machine whose vectors have few ops.
fn poor() -> Target {
    let alu = |op: Alu, d: DType| {
        d.is_float() || d == DType::I32 && op != Alu::Mul || d.is_bool() || d == DType::I64 && op == Alu::Add
    };
    Target { lanes: 16, wide: 4, registers: 16, more: 32, alu, cast: |a, b| a.size() == b.size() }
}

fn shown(case: &Case, target: &Target, shape: Shape) -> String {
    let mut s = String::new();
    for (u, n) in case.kernel.uops.iter() {
        s += &format!("{u:?} = {:?} {} {:?}\n", n.op, n.ty, n.src);
    }
    s += &format!("stores {:?} loops {:?} params {:?}\n", case.kernel.stores, case.kernel.loops, case.params);
    s + &linearise(&case.kernel, target, shape).map_or_else(|e| e.to_string(), |l| l.to_string())
}

fn check(case: Case, seed: u64, wild: bool) {
    let target = Interp.target();
    let expected = if wild {
        run(&case, &target, SHAPES[0], None)
    } else {
        let mut e = Evaluation::new(&case.kernel, &case.params, case.buffers.clone());
        e.run();
        e.buffers
    };
    let mut n = Numbers(seed);
    let large = case.buffers.iter().map(Vec::len).sum::<usize>() > 10_000;
    // Large arrays take long, and not much differs.
    let targets = if large { vec![target] } else { vec![target, poor()] };
    for target in targets {
        for shape in SHAPES.into_iter().take(if large { 3 } else { 5 }) {
            for cut in [false, true] {
                let got = run(&case, &target, shape, cut.then_some(&mut n));
                if let Err(e) = equal(&case.kernel, &got, &expected) {
                    panic!("seed {seed}, {shape:?}, cut {cut}: {e}\n{}", shown(&case, &target, shape));
                }
            }
        }
    }
}

/// More seeds, for a longer search.
fn more() -> u64 {
    std::env::var("EVOXC_SEEDS").ok().and_then(|v| v.parse().ok()).unwrap_or(1)
}

#[test]
fn random_kernels_do_what_their_nodes_say() {
    for seed in 0..70 * more() {
        check(kernel(seed, false), seed, false);
    }
}

#[test]
fn lanes_and_parts_do_not_change_how_floats_round() {
    for seed in 10_000..10_000 + 50 * more() {
        check(kernel(seed, true), seed, true);
    }
}

#[test]
fn products_of_matrices_do_what_their_nodes_say() {
    for seed in 0..60 * more() {
        check(product(seed, false), seed, false);
        check(product(seed, true), seed, true);
    }
}

#[test]
fn wide_arrays_are_done_in_rows_and_parts() {
    check(columns(1, true, 1100, 530, 1), 1, true);
    check(columns(2, false, 200, 1050, 1), 2, false);
    check(columns(3, true, 250, 600, 3), 3, true);
    for seed in 0..4 {
        check(wide(seed, 2 + seed as i64, 4500 + 13 * seed as i64), seed, false);
    }
}

#[test]
fn long_sums_are_done_in_blocks() {
    for (seed, n) in [65_536, 32_768, 33_000, 40_001, 98_304].into_iter().enumerate() {
        check(sums(seed as u64, 1, n, seed % 2 == 0), seed as u64, true);
    }
    for (seed, n) in [16_384, 4096, 40_000, 9].into_iter().enumerate() {
        check(sums(seed as u64, 5, n, true), seed as u64, true);
    }
}
