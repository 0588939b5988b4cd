//! `rng_bit_generator`: counters through Threefry-2x32 or Philox-4x32, as integer arithmetic.
//!
//! StableHLO leaves the layout of bits open. This is that of XLA, which made the programs that exist: a state of two
//! words, the key and the counter, which the result advances by the number of blocks drawn.

use super::shape::splat;
use crate::import::fault::Done;
use crate::import::item::Item;
use crate::import::walk::Importer;
use crate::syntax::ast::Op;
use evoxc_core::{DType, Dim, Scalar, Shape, Tensor, TensorSpec, Unsupported};
use evoxc_ir::Prim;
use evoxc_trace::{Sym, concat};

/// The state's words, as scalars.
struct State {
    key: Sym,
    counter: Sym,
}

pub fn rng_bit_generator<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let [state] = i.operands(op)?;
    let ty = i.static_result(op, 1)?;
    let have = i.ty(op, state)?;
    let refuse = |m: String, remedy: &str| Err(i.unsupported(op, Unsupported::Random, m, remedy));
    if have.dtype != DType::U64 || have.shape != [2] {
        return refuse(format!("its state is {have}"), "give it two u64: a key and a counter");
    }
    if ty.dtype.is_bool() || ty.dtype.is_complex() {
        return refuse(format!("bits make no {}", ty.dtype), "draw unsigned integers and convert them");
    }
    let word = |at: i64| -> Done<Sym> {
        let (start, limit) = (vec![Dim::constant(at)], vec![Dim::constant(at + 1)]);
        let one = i.emit(op, Prim::Slice { start, limit, stride: vec![1] }, &[state])?;
        i.emit(op, Prim::Reshape { shape: Shape::scalar() }, &[one])
    };
    let from = State { key: word(0)?, counter: word(1)? };
    let Some(dims) = ty.shape.to_static() else { return Err(i.error(op, "its result has a static type")) };
    let n: usize = dims.iter().product();
    if n == 0 {
        let none = evoxc_trace::zeros(ty.dtype, &ty.shape);
        return Ok(vec![state.into(), i.sound(op, none)?.into()]);
    }
    let wide = ty.dtype.size() == 8;
    let (blocks, words) = match i.word(op, "rng_algorithm")? {
        "THREE_FRY" => threefry(&from, &dims, wide),
        "PHILOX" | "DEFAULT" => philox(&from, n, wide),
        other => return Err(i.error(op, format!("`{other}` is no algorithm"))),
    };
    let next = from.counter + literal(i, op, DType::U64, blocks as u64)?;
    let next = concat([from.key.reshape([1]), next.reshape([1])], 0);
    let bits = i.sound(op, words.reshape(&ty.shape))?;
    Ok(vec![i.sound(op, next)?.into(), shaped(i, op, bits, &ty)?.into()])
}

fn literal(i: &Importer, op: &Op, dtype: DType, x: u64) -> Done<Sym> {
    let held = Scalar::Int(x.into()).buffer(dtype).and_then(|b| Tensor::from_parts(b, &[]));
    let Some(value) = held else { return Err(i.error(op, format!("{x} is no {dtype}"))) };
    i.emit(op, Prim::Constant { value: splat(value, Shape::scalar()) }, &[])
}

/// Words of 32 or 64 bits as the dtype: the low bits for narrower ones.
fn shaped(i: &Importer, op: &Op, bits: Sym, ty: &TensorSpec) -> Done<Sym> {
    let unsigned = match ty.dtype.size() {
        1 => DType::U8,
        2 => DType::U16,
        4 => DType::U32,
        _ => DType::U64,
    };
    let low = i.cast(op, bits, unsigned)?;
    if ty.dtype == unsigned { Ok(low) } else { i.emit(op, Prim::BitcastConvert { dtype: ty.dtype }, &[low]) }
}

fn low(x: Sym) -> Sym {
    x.cast(DType::U32)
}
fn high(x: Sym) -> Sym {
    (x >> 32).cast(DType::U32)
}
fn joined(low: Sym, high: Sym) -> Sym {
    low.cast(DType::U64) | (high.cast(DType::U64) << 32)
}
fn like(x: Sym, v: u32) -> Sym {
    x.full_like(Scalar::Int(v.into()))
}

/// So many counters from that of the state on.
fn counters(from: &State, blocks: usize) -> Sym {
    evoxc_trace::iota(DType::U64, [blocks], 0) + from.counter
}

/// A block gives two words, which stand next to each other along the first even axis, else the longest.
fn threefry(from: &State, dims: &[usize], wide: bool) -> (usize, Sym) {
    let n: usize = dims.iter().product();
    if wide {
        let [a, b] = threefry_block([low(from.key), high(from.key)], counters(from, n));
        return (n, joined(a, b));
    }
    let longest = || (0..dims.len()).rev().max_by_key(|&d| dims[d]);
    let Some(axis) = dims.iter().position(|d| d % 2 == 0).or_else(longest) else {
        let [a, _] = threefry_block([low(from.key), high(from.key)], counters(from, 1));
        return (1, a);
    };
    let (size, pairs) = (dims[axis], dims[axis].div_ceil(2));
    let blocks = n / size * pairs;
    let [a, b] = threefry_block([low(from.key), high(from.key)], counters(from, blocks));
    let parts: Vec<usize> = dims[..axis].iter().chain(&[pairs, 1]).chain(&dims[axis + 1..]).copied().collect();
    let both = concat([a.reshape(&parts), b.reshape(&parts)], axis + 1);
    let whole: Vec<usize> = dims[..axis].iter().chain(&[2 * pairs]).chain(&dims[axis + 1..]).copied().collect();
    (blocks, both.reshape(&whole).slice_axis(axis, 0, size))
}

/// Threefry-2x32 of 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3").
fn threefry_block(key: [Sym; 2], counter: Sym) -> [Sym; 2] {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let keys = [key[0], key[1], key[0] ^ key[1] ^ like(key[0], 0x1BD1_1BDA)];
    let (mut a, mut b) = (low(counter) + keys[0], high(counter) + keys[1]);
    for round in 0..5usize {
        for by in ROTATIONS[round % 2] {
            a += b;
            b = ((b << like(b, by)) | (b >> like(b, 32 - by))) ^ a;
        }
        a += keys[(round + 1) % 3];
        b += keys[(round + 2) % 3] + like(key[0], round as u32 + 1);
    }
    [a, b]
}

/// A block gives four words, one after the other. The counter has 128 bits: that of the state, then the key.
fn philox(from: &State, n: usize, wide: bool) -> (usize, Sym) {
    let words = if wide { 2 * n } else { n };
    let blocks = words.div_ceil(4);
    let index = evoxc_trace::iota(DType::U64, [blocks], 0);
    let count = index + from.counter;
    let above = from.key + count.lt(index).cast(DType::U64);
    let mut c = [low(count), high(count), low(above), high(above)];
    let mut key = [low(from.key), high(from.key)];
    for _ in 0..10 {
        let (m0, m1) = (like(c[0], 0xD251_1F53), like(c[2], 0xCD9E_8D57));
        c = [c[2].mulhi(m1) ^ c[1] ^ key[0], c[2] * m1, c[0].mulhi(m0) ^ c[3] ^ key[1], c[0] * m0];
        key = [key[0] + like(key[0], 0x9E37_79B9), key[1] + like(key[1], 0xBB67_AE85)];
    }
    let rows = concat(c.map(|w| w.reshape([blocks, 1])), 1).reshape([4 * blocks]).slice_axis(0, 0, words);
    if !wide {
        return (blocks, rows);
    }
    let pairs = rows.reshape([n, 2]);
    (blocks, joined(pairs.slice_axis(1, 0, 1), pairs.slice_axis(1, 1, 2)))
}
