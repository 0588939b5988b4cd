//! Random smooth programs, the same for the same seed: floats through element-wise ops, dots, reductions, movement,
//! gathers, selects, loops and branches, with every choice made by an integer argument, so that no kink is near.

use crate::random_graph::Rng;
use evoxc::Graph;
use evoxc::ir::{FftKind, ScatterOp};
use evoxc::{Conv, Sym, concat, cond, fori_loop, iota, scan, switch, trace, while_loop, zeros};
use evoxc_core::{DType, DimLike, Result, Tensor, spec};

/// A program and arguments for it.
pub struct Smooth {
    /// Inputs: floats `[2, 3]`, `[3]`, `[3, 2]`, `[]`, and integers `[3]`.
    pub graph: Graph<(Sym, Sym, Sym, Sym, Sym), Vec<Sym>>,
}

impl Smooth {
    /// Arguments for it; others for another `row`.
    pub fn inputs(row: u64) -> Vec<Tensor> {
        let rng = &mut Rng::new(row + 41);
        let mut float = |shape: &[usize]| {
            let n = shape.iter().product();
            let list: Vec<f64> = (0..n).map(|_| rng.below(1801) as f64 / 1000.0 - 0.9).collect();
            Tensor::from_vec(list, shape).expect("as many elements as the shape has")
        };
        let mut all = vec![float(&[2, 3]), float(&[3]), float(&[3, 2]), float(&[])];
        let ints: Vec<i32> = (0..3).map(|_| rng.below(3) as i32).collect();
        all.push(Tensor::from(ints));
        all
    }
}

/// The program of a seed, of about `steps` steps.
///
/// # Errors
/// None: the generator writes what type rules accept.
pub fn smooth(seed: u64, steps: usize) -> Result<Smooth> {
    program(seed, steps, false)
}

/// [`smooth`] with loops whose number of turns depends on the data, which reverse mode refuses.
///
/// # Errors
/// None, as there.
pub fn looping(seed: u64, steps: usize) -> Result<Smooth> {
    program(seed, steps, true)
}

fn program(seed: u64, steps: usize, loops: bool) -> Result<Smooth> {
    let write = |a: Sym, b: Sym, c: Sym, d: Sym, k: Sym| {
        let mut g = Writer { rng: Rng::new(seed), k, loops, pool: vec![a, b, c, d] };
        for _ in 0..20 {
            g.rng.bits();
        }
        (0..steps).for_each(|_| g.step(0));
        let last = g.pool.split_off(g.pool.len().saturating_sub(2));
        last.into_iter().chain([g.pool[0] * d]).collect::<Vec<Sym>>()
    };
    let float = |shape: &[usize]| spec(DType::F64, shape);
    let specs = (float(&[2, 3]), float(&[3]), float(&[3, 2]), float(&[]), spec(DType::I32, [3]));
    Ok(Smooth { graph: trace(write, specs)? })
}

struct Writer {
    rng: Rng,
    /// The integers.
    k: Sym,
    /// With loops of unknown length?
    loops: bool,
    pool: Vec<Sym>,
}

impl Writer {
    fn any(&mut self) -> Sym {
        // Later values more often: programs are deep.
        let n = self.pool.len();
        let recent = self.rng.below(n.min(4));
        let i = if self.rng.once_in(3) { self.rng.below(n) } else { n - 1 - recent };
        self.pool[i]
    }
    fn with_rank(&mut self, rank: usize) -> Sym {
        let list: Vec<Sym> = self.pool.iter().copied().filter(|s| s.rank() == rank).collect();
        self.rng.pick(&list)
    }
    /// An integer scalar, from 0 to 2.
    fn index(&mut self) -> Sym {
        let i = self.rng.below(3);
        self.k.at(i as i64)
    }
    /// A value of some shape as one of another.
    fn shaped(&mut self, x: Sym, shape: &[usize]) -> Sym {
        let want: Vec<_> = shape.iter().map(|n| n.to_dim()).collect();
        if x.shape().iter().copied().eq(want) {
            return x;
        }
        let by = 0.5 + self.rng.below(10) as f64 / 10.0;
        (x.mean(..) * by).broadcast_to(shape)
    }
    fn small(&mut self, depth: usize) -> Sym {
        self.step(depth + 1);
        self.pool.pop().unwrap_or(self.k)
    }
    /// Appends a value, of small magnitude.
    fn step(&mut self, depth: usize) {
        let x = self.any();
        let shape: Vec<usize> = x.shape().iter().map(|d| d.get().unwrap_or(0)).collect();
        let rank = shape.len();
        let axis = self.rng.below(rank.max(1)) as i64;
        let y = match self.rng.below(if depth < 2 { 28 } else { 20 }) {
            0..=3 => match self.rng.below(12) {
                0 => x.sin(),
                1 => x.cos(),
                2 => x.tanh(),
                3 => (x * 0.5).exp(),
                4 => x.logistic(),
                5 => (x * x + 1.2).sqrt(),
                6 => (x * x + 1.5).log(),
                7 => (x * x + 1.0).rsqrt(),
                8 => x.erf(),
                9 => x.atan(),
                10 => (x * x + 1.0).pow(1.5),
                _ => x.square() * 0.5,
            },
            4..=7 => {
                let y = self.any();
                let y = self.shaped(y, &shape);
                match self.rng.below(5) {
                    0 => x + y,
                    1 => x - y,
                    2 | 3 => x * y,
                    _ => x / (y * y + 1.5),
                }
            }
            8 => {
                let m = self.with_rank(2);
                let s: Vec<_> = m.shape().iter().copied().collect();
                let other = self.pool.iter().copied().find(|o| o.rank() == 2 && o.dim(0) == s[1]);
                other.map_or(m.t().dot(m), |o| m.dot(o)) * 0.5
            }
            9 => {
                let (m, v) = (self.with_rank(2), self.with_rank(1));
                let n = m.dim(1).get().unwrap_or(0);
                m.dot(self.shaped(v, &[n])).tanh()
            }
            10 if rank > 0 => match self.rng.below(4) {
                0 => x.sum(axis) * 0.5,
                1 => x.mean(axis),
                2 => x.logsumexp(axis),
                _ => (x + 1.5).prod(axis) * 0.3,
            },
            11 if rank == 2 => x.t(),
            12 if rank > 0 => match self.rng.below(4) {
                0 => x.flip(axis),
                1 => x.roll(1, axis),
                2 => x.cumsum(axis) * 0.5,
                _ => x.softmax(axis),
            },
            13 if rank > 0 => {
                let y = self.any();
                let y = self.shaped(y, &shape);
                let n = shape[axis as usize];
                concat([x, y], axis).slice_axis(axis, 1, n + 1)
            }
            14 if rank > 0 => {
                let mut by = vec![(0, 0); rank];
                by[axis as usize] = (1, -1);
                x.pad(&by, 0.5)
            }
            15 if rank > 0 && shape[0] == 3 => x.take(self.k, 0),
            16 if rank > 0 => x.broadcast_to([&[2], &shape[..]].concat()).sum(0) * 0.4,
            17 => {
                let y = self.any();
                let y = self.shaped(y, &shape);
                let i = self.index();
                i.gt(0).broadcast_to(&shape).select(x.sin(), y)
            }
            18 if rank == 1 => x.sort(0).cumsum(0) * x,
            19 => (x * 1.5).clip(-20.0, 20.0),
            21..=24 if self.loops => {
                let (seed, n) = (self.rng.bits(), self.index());
                let turn = |(i, c): (Sym, Sym)| {
                    let mut w = self.inside(seed);
                    w.pool.push(c);
                    let y = w.small(depth);
                    (i + 1, (w.shaped(y, &shape) + c).sin())
                };
                while_loop((n.zeros_like(), x), |(i, _)| i.lt(n), turn).1
            }
            24 | 25 => self.structured(x, &shape),
            20 => {
                let i = self.index();
                let (a, b) = (self.rng.bits(), self.rng.bits());
                let shape = &shape;
                let branch = |seed| {
                    let mut w = self.inside(seed);
                    let y = w.small(depth);
                    w.shaped(y, shape)
                };
                cond(i.gt(0), || branch(a), || branch(b))
            }
            21 => {
                let i = self.index();
                let seeds: Vec<u64> = (0..3).map(|_| self.rng.bits()).collect();
                let (this, shape) = (&*self, &shape);
                let branch = |seed| {
                    evoxc::branch(move || {
                        let mut w = this.inside(seed);
                        let y = w.small(depth);
                        w.shaped(y, shape)
                    })
                };
                switch(i, seeds.into_iter().map(branch))
            }
            22 => {
                let (seed, n) = (self.rng.bits(), self.rng.below(3));
                fori_loop(n, x, |_, c| {
                    let mut w = self.inside(seed);
                    w.pool.push(c);
                    let y = w.small(depth);
                    (w.shaped(y, &shape) + c).tanh()
                })
            }
            23 => {
                let (seed, xs) = (self.rng.bits(), self.with_rank(2));
                let (c, ys) = scan(x, xs, |c, row| {
                    let mut w = self.inside(seed);
                    w.pool.extend([c, row]);
                    let (a, b) = (w.small(depth), w.small(depth));
                    ((w.shaped(a, &shape) + c).tanh(), w.shaped(b, &[2]) + row.sum(..))
                });
                self.pool.push(c);
                ys
            }
            _ => self.structured(x, &shape),
        };
        // Small values stay small, so that differences are exact.
        let y = if self.rng.once_in(2) { y.tanh() } else { y };
        self.pool.push(y);
    }
    /// An op of several axes, or one that keeps an own rule.
    fn structured(&mut self, x: Sym, shape: &[usize]) -> Sym {
        let m = self.with_rank(2);
        let (r, c) = (m.dim(0), m.dim(1));
        let positive = |m: Sym| m.t().dot(m) + evoxc::eye(DType::F64, c);
        match self.rng.below(14) {
            0 => positive(m).cholesky(),
            1 => positive(m).solve(m.t()),
            2 => positive(m).inv(),
            3 => positive(m).slogdet().1,
            4 => {
                // |fft|² is smooth.
                let z = m.fft(FftKind::Rfft, [c]);
                z.real() * z.real() + z.imag() * z.imag()
            }
            5 => {
                let w = self.with_rank(2);
                let image = m.reshape((1, 1, r, c));
                let kernel = self.shaped(w, &[2, 2]).reshape([1, 1, 2, 2]);
                let padding = [(1, 0), (0, 1)];
                image.conv(kernel, Conv::default().padding(padding)).reshape((r, c))
            }
            6 => (m + iota(DType::F64, [r, c], 1) * 4.0).max_pool([1, 2], [1, 1]).tanh(),
            7 => m.reshape((1, 1, r, c)).avg_pool([2, 2], [1, 1]).sum(..),
            8 => self.shaped(m, &[2, 3]).dynamic_slice([self.index(), self.index()], [1, 2]).sum(0),
            9 => {
                let row = self.with_rank(1);
                let update = self.shaped(row, &[2]).reshape([1, 2]);
                self.shaped(m, &[2, 3]).dynamic_update_slice(update, [self.index(), self.index()])
            }
            10 => {
                let v = self.with_rank(1);
                let v = self.shaped(v, &[3]);
                zeros(DType::F64, [4]).scatter_rows(ScatterOp::Add, self.k, v)
            }
            11 => {
                let (seed, shape) = (self.rng.bits(), shape.to_vec());
                let this = &*self;
                evoxc::checkpoint(move |x: Sym| {
                    let mut w = this.inside(seed);
                    w.pool.push(x);
                    let y = w.small(2);
                    w.shaped(y, &shape) * x
                })
                .call(x)
            }
            12 => {
                let cube = evoxc::custom_jvp(|x: Sym| x * x * x, |x: Sym, t: Sym| (x * x * x, 3.0 * x * x * t));
                cube.call(x.tanh())
            }
            _ => evoxc::vmap(|row: Sym| (row * row.flip(0)).logsumexp(0)).call(m),
        }
    }
    /// A writer of a region, which sees what is visible here.
    fn inside(&self, seed: u64) -> Writer {
        Writer { rng: Rng::new(seed), k: self.k, loops: self.loops, pool: self.pool.clone() }
    }
}
