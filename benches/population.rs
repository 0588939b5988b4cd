//! Populations of programs, as genetic programming makes them; the same in every run.

use evoxc::prelude::*;

/// Pseudo-random numbers (xorshift64*, Vigna 2016).
pub struct Rng(u64);

impl Rng {
    /// A stream for each seed.
    pub fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }
    /// Below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n.max(1)
    }
    /// A number in -1 .. 1.
    pub fn coefficient(&mut self) -> f32 {
        self.below(1 << 20) as f32 / (1 << 19) as f32 - 1.0
    }
}

/// `n` numbers in -1 .. 1, in a pattern that starts at `from`.
pub fn numbers(n: usize, from: usize) -> Vec<f32> {
    (0..n).map(|i| ((i + from) * 31 % 99) as f32 / 49.0 - 1.0).collect()
}

fn must<T>(r: evoxc::Result<T>) -> T {
    match r {
        Ok(t) => t,
        Err(e) => panic!("{e}"),
    }
}

/// A step of a chain; it may use the number.
pub type Step = fn(Sym, f32) -> Sym;

/// Programs that apply `depth` element-wise ops one after the other to a vector of 64: each step of each program is one
/// of `steps` at random, with a number of its own.
pub fn chains(count: usize, depth: usize, steps: &[Step]) -> Vec<Graph<Sym, Sym>> {
    let chain = |i: usize, x: Sym| {
        let mut rng = Rng::new(1 + i as u64);
        (0..depth).fold(x, |y, _| steps[rng.below(steps.len())](y, rng.coefficient()))
    };
    (0..count).map(|i| must(trace(|x: Sym| chain(i, x), spec(F32, [64])))).collect()
}

/// Random expression trees up to this depth over two vectors of 64 and constants.
pub fn shrubs(count: usize, depth: usize) -> Vec<Graph<(Sym, Sym), Sym>> {
    fn grow(rng: &mut Rng, leaves: [Sym; 2], depth: usize) -> Sym {
        if depth == 0 || rng.below(8) == 0 {
            return leaves[rng.below(2)];
        }
        let a = grow(rng, leaves, depth - 1);
        match rng.below(8) {
            0 => a.sin(),
            1 => a.tanh(),
            2 => -a,
            3 => a * rng.coefficient(),
            4 => a + grow(rng, leaves, depth - 1),
            5 => a - grow(rng, leaves, depth - 1),
            6 => a * grow(rng, leaves, depth - 1),
            _ => a.maximum(grow(rng, leaves, depth - 1)),
        }
    }
    let tree = |i: usize, x: Sym, y: Sym| grow(&mut Rng::new(1 + i as u64), [x, y], depth);
    let specs = || (spec(F32, [64]), spec(F32, [64]));
    (0..count).map(|i| must(trace(|x: Sym, y: Sym| tree(i, x, y), specs()))).collect()
}
