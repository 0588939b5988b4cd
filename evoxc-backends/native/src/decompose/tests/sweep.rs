//! Transcendental functions: how far from the exact value they are, in units in the last place, over patterns of bits.

use super::eval::Program;
use super::{edges, noise, pairs, program};
use crate::uop::{Op, cast};
use evoxc_core::DType;
use evoxc_ir::{Binary, Unary};
use evoxc_reference::scalar;

/// The functions under test.
const FUNCTIONS: &[Unary] = &[
    Unary::Exp,
    Unary::Exp2,
    Unary::Expm1,
    Unary::Log,
    Unary::Log2,
    Unary::Log1p,
    Unary::Sin,
    Unary::Cos,
    Unary::Tan,
    Unary::Asin,
    Unary::Acos,
    Unary::Atan,
    Unary::Sinh,
    Unary::Cosh,
    Unary::Tanh,
    Unary::Asinh,
    Unary::Acosh,
    Unary::Atanh,
    Unary::Logistic,
    Unary::Cbrt,
    Unary::Rsqrt,
    Unary::Erf,
    Unary::Erfc,
];

/// Distance of an `f32` from an exact value in units in the last place of that value; infinite where one is NaN, infinite, or
/// a zero of another sign and the other is not.
fn distance(got: f32, exact: f64) -> f64 {
    let rounded = exact as f32;
    if got.to_bits() == rounded.to_bits() || (got.is_nan() && exact.is_nan()) {
        // Zeros and what rounds to them differ by nothing.
        return if got.is_finite() { ((f64::from(got) - exact) / unit(exact)).abs() } else { 0.0 };
    }
    if got.is_nan()
        || exact.is_nan()
        || exact == 0.0
        || (got == 0.0 && got.is_sign_negative() != exact.is_sign_negative())
    {
        return f64::INFINITY;
    }
    if got.is_infinite() || exact.is_infinite() {
        // The next float beyond the greatest is where infinity stands.
        let last = f64::from(f32::MAX);
        let beyond = |x: f64| x.clamp(-last - unit(last), last + unit(last));
        return ((beyond(got.into()) - beyond(exact)) / unit(last)).abs();
    }
    ((f64::from(got) - exact) / unit(exact)).abs()
}
/// The distance of `f32` numbers around a value.
fn unit(x: f64) -> f64 {
    let exponent = ((x.abs().to_bits() >> 52) as i32 - 1023).clamp(-126, 127);
    f64::from_bits(((exponent - 23 + 1023) as u64) << 52)
}

/// Every exponent, both signs, and mantissas at which something happens, or of no order.
fn patterns() -> Vec<u64> {
    let mut mantissas = vec![0, 1, 2, 3, 0x40_0000, 0x40_0001, 0x3f_ffff, 0x7f_ffff, 0x7f_fffe, 0x35_04f3, 0x35_04f4];
    mantissas.extend(noise(60, 11).iter().map(|b| b & 0x7f_ffff));
    let mut out = vec![];
    for exponent in 0..512u64 {
        out.extend(mantissas.iter().enumerate().map(|(i, m)| {
            let other = noise(1, exponent * 100 + i as u64)[0] & 0x7f_ffff;
            exponent << 23 | if i < 11 { *m } else { m ^ other }
        }));
    }
    out
}

/// The greatest distance over a list, and where.
fn worst(program: &mut Program, op: Unary, inputs: &[u64]) -> (f64, u64) {
    let mut most = (0.0, 0);
    for chunk in inputs.chunks(4096) {
        let got = program.run(&[chunk]);
        for (&x, &y) in chunk.iter().zip(got) {
            let exact = scalar::unary_f64(op, f32::from_bits(x as u32).into()).unwrap();
            let d = distance(f32::from_bits(y as u32), exact);
            if d > most.0 {
                most = (d, x);
            }
        }
    }
    most
}

// The functions of the mathematical library in double precision.
#[test]
fn single_precision() {
    let inputs = patterns();
    let mut bad = vec![];
    for &op in FUNCTIONS {
        let mut p = program(Op::Unary(op), &[DType::F32], DType::F32).unwrap();
        let (most, at) = worst(&mut p, op, &inputs);
        println!("{:10} {:3} ops  {most:.3} at {:e} ({at:#x})", op.name(), p.ops(), f32::from_bits(at as u32));
        if most > 2.0 {
            bad.push(op.name());
        }
    }
    assert!(bad.is_empty(), "{bad:?}");
}

// Every f32, or of every so many blocks of 4096 one: STRIDE. In release builds minutes a function: name it in SWEEP.
#[test]
#[ignore = "takes minutes a function"]
fn every_single() {
    let names = std::env::var("SWEEP").unwrap_or("exp,log,tanh,sin,cos,logistic".into());
    let stride = std::env::var("STRIDE").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    for &op in FUNCTIONS.iter().filter(|op| names.split(',').any(|n| n == op.name())) {
        let mut p = program(Op::Unary(op), &[DType::F32], DType::F32).unwrap();
        let mut most = (0.0, 0);
        for high in (0..1u64 << 20).step_by(stride) {
            let inputs: Vec<u64> = (0..4096).map(|low| high << 12 | low).collect();
            let found = worst(&mut p, op, &inputs);
            if found.0 > most.0 {
                most = found;
            }
        }
        let (most, at) = most;
        println!("{:10} {:3} ops  {most:.3} at {:e} ({at:#x})", op.name(), p.ops(), f32::from_bits(at as u32));
        assert!(most <= 2.0);
    }
}

/// Pairs of `f32`: all edges with all edges, bits without order, and bases and exponents whose power is a number.
fn pairs_of_singles() -> (Vec<u64>, Vec<u64>) {
    let (mut a, mut b) = pairs(&edges(DType::F32), &edges(DType::F32));
    let cut = |v: Vec<u64>| v.into_iter().map(|x| x & 0xffff_ffff);
    a.extend(cut(noise(20000, 21)));
    b.extend(cut(noise(20000, 22)));
    let single = |x: f64| u64::from((x as f32).to_bits());
    for (x, y) in noise(60000, 23).into_iter().zip(noise(60000, 24)) {
        let exponent = (x as i32 as f64) / 2147483648.0 * 10f64.powi((x >> 40) as i32 % 6 - 3);
        a.push(single(2f64.powf(exponent)));
        b.push(single((y as i32 as f64) / 2147483648.0 * 150.0 / exponent));
    }
    for (x, y) in noise(10000, 25).into_iter().zip(noise(10000, 26)) {
        a.push(single((x as i32 as f64) / 5e8));
        b.push(single((y as i32 as f64 / 1e8).round()));
    }
    (a, b)
}

// The functions of the mathematical library in double precision.
#[test]
fn single_precision_of_two() {
    let (a, b) = pairs_of_singles();
    for op in [Binary::Pow, Binary::Atan2] {
        let mut p = program(Op::Binary(op), &[DType::F32; 2], DType::F32).unwrap();
        let mut most = (0.0, 0, 0);
        let single = |x: u64| f64::from(f32::from_bits(x as u32));
        for ((&x, &y), &z) in a.iter().zip(&b).zip(p.run(&[&a, &b])) {
            let exact = scalar::binary_f64(op, single(x), single(y)).unwrap();
            let d = distance(f32::from_bits(z as u32), exact);
            if d > most.0 {
                most = (d, x, y);
            }
        }
        let ops = p.ops();
        println!("{:10} {ops:3} ops  {:.3} at {:e}, {:e}", op.name(), most.0, single(most.1), single(most.2));
        assert!(most.0 <= 2.0);
    }
}

// As the reference: in f32, rounded. The results may differ by one step where those of f32 differ.
#[test]
fn halves() {
    for dtype in [DType::F16, DType::BF16] {
        let inputs: Vec<u64> = (0..65536).collect();
        for &op in FUNCTIONS {
            let mut p = program(Op::Unary(op), &[dtype], dtype).unwrap();
            for (&x, &y) in inputs.iter().zip(p.run(&[&inputs])) {
                let exact = scalar::unary_f64(op, f64::from_bits(cast(dtype, DType::F64, x))).unwrap();
                let expected = cast(DType::F64, dtype, exact.to_bits());
                let nan = |b: u64| f64::from_bits(cast(dtype, DType::F64, b)).is_nan();
                let near = y.abs_diff(expected) <= 1 || (nan(y) && nan(expected));
                assert!(near, "{} of {dtype} {x:#x}: {y:#x} and not {expected:#x}", op.name());
            }
        }
    }
}

/// Patterns of `f64`: exponents from end to end, and the ranges in which most functions change.
fn double_patterns() -> Vec<u64> {
    let mut out: Vec<u64> = noise(1500, 3);
    for range in [1e-3, 0.5, 1.0, 2.0, 5.0, 20.0, 750.0, 1e5, 1e8] {
        out.extend(noise(250, 4).iter().map(|&b| ((b as i64 as f64) / 9.3e18 * range).to_bits()));
        out.extend(noise(100, 5).iter().map(|&b| (1.0 + (b as i64 as f64) / 9.3e18 * range * 1e-3).to_bits()));
    }
    out.extend([
        0,
        1,
        1 << 63,
        0x7ff0_0000_0000_0000,
        0xfff0_0000_0000_0000,
        0x7ff8_0000_0000_0000,
        0x3ff0_0000_0000_0000,
    ]);
    out
}

// For a comparison with a library of higher precision: lines of op, argument and result in the folder that DUMP names.
#[test]
#[ignore = "writes a file"]
fn write_doubles() {
    use std::fmt::Write;
    let mut text = String::new();
    let inputs = double_patterns();
    for &op in FUNCTIONS {
        let mut p = program(Op::Unary(op), &[DType::F64], DType::F64).unwrap();
        let ops = p.ops();
        for (x, y) in inputs.iter().zip(p.run(&[&inputs])) {
            writeln!(text, "{} {x:016x} {y:016x} {ops}", op.name()).unwrap();
        }
    }
    let single = pairs_of_singles();
    let (mut a, mut b) = pairs(&edges(DType::F64), &edges(DType::F64));
    a.extend(single.0.iter().map(|&x| f64::from(f32::from_bits(x as u32)).to_bits()));
    // Exponents as of f32, and eight times as large.
    let wide = |(n, &y): (usize, &u64)| (f64::from(f32::from_bits(y as u32)) * [1.0, 7.1][n % 2]).to_bits();
    b.extend(single.1.iter().enumerate().map(wide));
    for op in [Binary::Pow, Binary::Atan2] {
        let mut p = program(Op::Binary(op), &[DType::F64; 2], DType::F64).unwrap();
        let ops = p.ops();
        for ((x, y), z) in a.iter().zip(&b).zip(p.run(&[&a, &b])) {
            writeln!(text, "{} {x:016x} {y:016x} {z:016x} {ops}", op.name()).unwrap();
        }
    }
    std::fs::write(std::env::var("DUMP").unwrap(), text).unwrap();
}
