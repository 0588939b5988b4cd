//! The meaning of a kernel, node by node and element by element.

use crate::kernel::Kernel;
use crate::uop::{Alu, Op, UOp, alu, cast};
use evoxc_core::DType;
use evoxc_ir::Reducer;
use std::collections::HashMap;

/// Memory of one dtype, as the bits of its elements.
pub type Memory = Vec<u64>;

pub struct Evaluation<'a> {
    pub kernel: &'a Kernel,
    pub params: &'a [i64],
    pub buffers: Vec<Memory>,
    scratch: HashMap<u32, HashMap<i64, u64>>,
    ranges: HashMap<UOp, i64>,
}

fn combine(op: Reducer, d: DType, a: u64, b: u64) -> u64 {
    let go = |op| alu(op, d, [a, b, 0]);
    let wide = |x: u64| match d {
        DType::F32 => f64::from(f32::from_bits(x as u32)),
        _ => f64::from_bits(x),
    };
    match op {
        Reducer::Sum | Reducer::Max | Reducer::Or if d.is_bool() => a | b,
        Reducer::Prod | Reducer::Min | Reducer::And if d.is_bool() => a & b,
        Reducer::Sum => go(Alu::Add),
        Reducer::Prod => go(Alu::Mul),
        Reducer::Max if d.is_float() => {
            let (x, y) = (wide(a), wide(b));
            if x.is_nan() || x > y || x == y && y.is_sign_negative() { a } else { b }
        }
        Reducer::Min if d.is_float() => {
            let (x, y) = (wide(a), wide(b));
            if x.is_nan() || x < y || x == y && x.is_sign_negative() { a } else { b }
        }
        Reducer::Max => go(Alu::Max),
        Reducer::Min => go(Alu::Min),
        Reducer::And => go(Alu::And),
        Reducer::Or => go(Alu::Or),
    }
}

fn identity(op: Reducer, d: DType) -> u64 {
    let f = |x: f64| cast(DType::F64, d, x.to_bits());
    let (least, greatest) = match d {
        DType::I32 => (i32::MIN as u32 as u64, i32::MAX as u64),
        DType::I64 => (i64::MIN as u64, i64::MAX as u64),
        DType::U32 => (0, u64::from(u32::MAX)),
        DType::U64 => (0, u64::MAX),
        _ => (0, 1),
    };
    match op {
        Reducer::Sum | Reducer::Or => 0,
        Reducer::Prod => f(1.0),
        Reducer::Max if d.is_float() => f(f64::NEG_INFINITY),
        Reducer::Min if d.is_float() => f(f64::INFINITY),
        Reducer::Max => least,
        Reducer::Min | Reducer::And => {
            if op == Reducer::And && d == DType::I32 {
                u64::from(u32::MAX)
            } else if op == Reducer::And && d == DType::I64 {
                u64::MAX
            } else {
                greatest
            }
        }
    }
}

impl<'a> Evaluation<'a> {
    pub fn new(kernel: &'a Kernel, params: &'a [i64], buffers: Vec<Memory>) -> Evaluation<'a> {
        Evaluation { kernel, params, buffers, scratch: HashMap::new(), ranges: HashMap::new() }
    }
    pub fn run(&mut self) {
        let kernel = self.kernel;
        let loops = &kernel.loops;
        self.each(loops, &mut |e| {
            // All values before all stores.
            let stores: Vec<_> = kernel.stores.iter().map(|&s| e.store_of(s)).collect();
            for (to, at, bits) in stores.into_iter().flatten() {
                match kernel.uops.op(to) {
                    Op::Buffer(n) => e.buffers[n as usize][at as usize] = bits,
                    _ => panic!("a store to no buffer"),
                }
            }
        });
    }
    fn each(&mut self, ranges: &[UOp], f: &mut dyn FnMut(&mut Self)) {
        let Some((&first, rest)) = ranges.split_first() else { return f(self) };
        let n = self.value(self.kernel.uops.src(first)[0]) as i64;
        let before = self.ranges.get(&first).copied();
        for i in 0..n {
            self.ranges.insert(first, i);
            self.each(rest, f);
        }
        match before {
            Some(v) => self.ranges.insert(first, v),
            None => self.ranges.remove(&first),
        };
    }
    fn store_of(&mut self, u: UOp) -> Option<(UOp, i64, u64)> {
        let src = self.kernel.uops.src(u).to_vec();
        if src.len() > 3 && self.value(src[3]) == 0 {
            return None;
        }
        Some((src[0], self.value(src[1]) as i64, self.value(src[2])))
    }
    fn value(&mut self, u: UOp) -> u64 {
        let node = self.kernel.uops.get(u).clone();
        let d = node.ty.dtype;
        match node.op {
            Op::Const(bits) => bits,
            Op::Param(n) => self.params[n as usize] as u64,
            Op::Range(..) => self.ranges[&u] as u64,
            Op::Alu(op) => {
                let mut src = [0; 3];
                for (k, &s) in node.src.iter().enumerate() {
                    src[k] = self.value(s);
                }
                alu(op, self.kernel.uops.ty(*node.src.last().unwrap()).dtype, src)
            }
            Op::Cast => cast(self.kernel.uops.ty(node.src[0]).dtype, d, self.value(node.src[0])),
            Op::Bitcast => self.value(node.src[0]),
            Op::IndexDiv => (self.value(node.src[0]) as i64).div_euclid(self.value(node.src[1]) as i64) as u64,
            Op::IndexMod => (self.value(node.src[0]) as i64).rem_euclid(self.value(node.src[1]) as i64) as u64,
            Op::Load => {
                if node.src.len() > 2 && self.value(node.src[2]) == 0 {
                    return self.value(node.src[3]);
                }
                let at = self.value(node.src[1]) as i64;
                let mut p = node.src[0];
                let mut ends = vec![];
                while self.kernel.uops.op(p) == Op::After {
                    ends.extend_from_slice(&self.kernel.uops.src(p)[1..]);
                    p = self.kernel.uops.src(p)[0];
                }
                for e in ends {
                    self.fill(e);
                }
                match self.kernel.uops.op(p) {
                    Op::Buffer(n) => self.buffers[n as usize][usize::try_from(at).unwrap()],
                    Op::Scratch(n) => self.scratch[&n][&at],
                    other => panic!("{other:?} is no pointer"),
                }
            }
            Op::Reduce(op) => {
                let mut all = identity(op, d);
                self.each(&node.src[1..], &mut |e| {
                    let x = e.value(node.src[0]);
                    all = combine(op, d, all, x);
                });
                all
            }
            other => panic!("{other:?} has no value"),
        }
    }
    fn fill(&mut self, end: UOp) {
        let src = self.kernel.uops.src(end).to_vec();
        self.each(&src[1..], &mut |e| {
            if let Some((to, at, bits)) = e.store_of(src[0]) {
                let Op::Scratch(n) = e.kernel.uops.op(to) else { panic!("a fill of no scratch memory") };
                e.scratch.entry(n).or_default().insert(at, bits);
            }
        });
    }
}
