//! Ops with one right answer: all but transcendental functions, on every dtype, bit by bit as the reference has it.

use super::{REAL, edges, noise, pairs, same};
use crate::uop::Op;
use evoxc_core::DType;
use evoxc_ir::{Binary, Direction, SortOrder, Unary};

/// Every pattern of 8 and 16 bits, or the edges and some others.
fn patterns(dtype: DType) -> Vec<u64> {
    match dtype.size() {
        1 if dtype == DType::BOOL => vec![0, 1],
        1 => (0..256).collect(),
        2 => (0..65536).collect(),
        size => {
            let mut v = edges(dtype);
            v.extend(noise(3000, 7).iter().map(|b| b & (!0 >> (64 - 8 * size))));
            v
        }
    }
}

/// Has the op one right answer?
fn exact(op: Unary) -> bool {
    matches!(
        op,
        Unary::Sqrt
            | Unary::Floor
            | Unary::Ceil
            | Unary::RoundEven
            | Unary::RoundAway
            | Unary::Trunc
            | Unary::Neg
            | Unary::Abs
            | Unary::Sign
            | Unary::Not
            | Unary::Popcount
            | Unary::CountLeadingZeros
            | Unary::IsFinite
            | Unary::Real
            | Unary::Imag
            | Unary::Conj
    )
}

// The reference kernels.
#[test]
fn one_operand() {
    for &op in Unary::ALL.iter().filter(|op| exact(**op)) {
        let mut some = false;
        for dtype in REAL {
            let to = if op == Unary::IsFinite { DType::BOOL } else { dtype };
            some |= same(op.name(), Op::Unary(op), &[dtype], to, &[patterns(dtype)]);
        }
        assert!(some, "{}", op.name());
    }
}

// The reference kernels, on all pairs of edges.
#[test]
fn two_operands() {
    for &op in Binary::ALL {
        if matches!(op, Binary::Atan2 | Binary::Complex) {
            continue;
        }
        for dtype in REAL {
            if op == Binary::Pow && dtype.is_float() {
                continue;
            }
            let (a, b) = pairs(&edges(dtype), &edges(dtype));
            same(op.name(), Op::Binary(op), &[dtype, dtype], dtype, &[a, b]);
        }
    }
}

// The reference kernels: remainders of random bits, and of near multiples.
#[test]
fn remainders() {
    let narrow = |v: Vec<u64>| v.into_iter().map(|b| b >> 32).collect::<Vec<_>>();
    let (a, b) = (narrow(noise(20000, 1)), narrow(noise(20000, 2)));
    same("rem", Op::Binary(Binary::Rem), &[DType::F32; 2], DType::F32, &[a.clone(), b.clone()]);
    same("rem", Op::Binary(Binary::Rem), &[DType::F64; 2], DType::F64, &[noise(20000, 1), noise(20000, 2)]);
    let near = |x: u64, k: u64| u64::from((f32::from_bits(x as u32) * (k % 2000) as f32).to_bits());
    let multiples = b.iter().zip(&a).map(|(&b, &k)| near(b, k)).collect();
    same("rem", Op::Binary(Binary::Rem), &[DType::F32; 2], DType::F32, &[multiples, b]);
    let b = noise(20000, 5);
    let multiples = b.iter().map(|&b| (f64::from_bits(b) * (b >> 40) as f64).to_bits()).collect();
    same("rem", Op::Binary(Binary::Rem), &[DType::F64; 2], DType::F64, &[multiples, b]);
}

// The reference kernels.
#[test]
fn comparisons() {
    for dtype in REAL {
        let (a, b) = pairs(&edges(dtype), &edges(dtype));
        for direction in [Direction::Lt, Direction::Le, Direction::Gt, Direction::Ge, Direction::Eq, Direction::Ne] {
            for order in [SortOrder::Ieee, SortOrder::Total] {
                let text = format!("compare {{direction = {}, order = {}}}", direction.word(), order.word());
                let op = Op::Compare(direction, order);
                assert!(same(&text, op, &[dtype, dtype], DType::BOOL, &[a.clone(), b.clone()]), "{text} {dtype}");
            }
        }
    }
}

// The reference kernels.
#[test]
fn conversions() {
    for from in REAL {
        for to in REAL {
            let text = format!("convert {{dtype = {to}}}");
            assert!(same(&text, Op::Convert, &[from], to, &[patterns(from)]), "{text} {from}");
        }
    }
}

// The reference kernels, for all numbers of exponent and mantissa bits that some format has.
#[test]
fn reduced_precision() {
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        for (e, m) in
            [(1, 0), (2, 1), (4, 3), (5, 2), (5, 10), (8, 7), (8, 10), (8, 23), (11, 52), (11, 3), (3, 30), (30, 60)]
        {
            let text = format!("reduce_precision {{exponent_bits = {e}, mantissa_bits = {m}}}");
            let inputs: Vec<u64> = if dtype.size() == 2 { (0..65536).collect() } else { patterns(dtype) };
            assert!(same(&text, Op::ReducePrecision(e, m), &[dtype], dtype, &[inputs]), "{text} {dtype}");
        }
    }
}
