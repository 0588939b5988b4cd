//! Genetic programming: a population of programs, each a graph of its own, merged by `batch_functions` into one graph
//! that runs them all; evolved until one fits x⁴ + x³ + x² + x: `cargo run --release --example genetic_programming`.

use evoxc::prelude::*;

/// A program of one variable.
#[derive(Clone, Debug)]
enum Expr {
    X,
    One,
    Add(Box<Expr>, Box<Expr>),
    Sub(Box<Expr>, Box<Expr>),
    Mul(Box<Expr>, Box<Expr>),
}

/// The numbers of Vigna's splitmix64, for choices made outside of graphs.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

impl Expr {
    fn random(rng: &mut Rng, depth: usize) -> Expr {
        let sub = |rng: &mut Rng| Box::new(Expr::random(rng, depth - 1));
        match if depth == 0 { rng.below(2) } else { rng.below(5) } {
            0 => Expr::X,
            1 => Expr::One,
            2 => Expr::Add(sub(rng), sub(rng)),
            3 => Expr::Sub(sub(rng), sub(rng)),
            _ => Expr::Mul(sub(rng), sub(rng)),
        }
    }
    /// The program on symbols: Rust that writes a graph.
    fn apply(&self, x: Sym) -> Sym {
        match self {
            Expr::X => x,
            Expr::One => x.ones_like(),
            Expr::Add(a, b) => a.apply(x) + b.apply(x),
            Expr::Sub(a, b) => a.apply(x) - b.apply(x),
            Expr::Mul(a, b) => a.apply(x) * b.apply(x),
        }
    }
    fn size(&self) -> usize {
        match self {
            Expr::X | Expr::One => 1,
            Expr::Add(a, b) | Expr::Sub(a, b) | Expr::Mul(a, b) => 1 + a.size() + b.size(),
        }
    }
    /// The n-th node, counted from the root.
    fn node(&mut self, n: usize) -> &mut Expr {
        if n == 0 {
            return self;
        }
        match self {
            Expr::X | Expr::One => self,
            Expr::Add(a, b) | Expr::Sub(a, b) | Expr::Mul(a, b) => {
                let left = a.size();
                if n <= left { a.node(n - 1) } else { b.node(n - 1 - left) }
            }
        }
    }
}

/// One of the other's subtrees, or a new one, in a random place.
fn child(rng: &mut Rng, a: &Expr, b: &Expr) -> Expr {
    let (mut out, mut donor) = (a.clone(), b.clone());
    let piece = if rng.below(4) == 0 {
        Expr::random(rng, 2)
    } else {
        let n = rng.below(donor.size());
        donor.node(n).clone()
    };
    let n = rng.below(out.size());
    *out.node(n) = piece;
    if out.size() > 40 { a.clone() } else { out }
}

fn main() -> evoxc::Result<()> {
    let mut rng = Rng(2026);
    let xs: Vec<f32> = (0..32).map(|i| i as f32 / 16.0 - 1.0).collect();
    let target: Vec<f32> = xs.iter().map(|x| x * (1.0 + x * (1.0 + x * (1.0 + x)))).collect();
    let (x, target) = (Tensor::from_vec(xs, [32])?, Tensor::from_vec(target, [32])?);
    let mut population: Vec<Expr> = (0..100).map(|_| Expr::random(&mut rng, 3)).collect();

    for generation in 0.. {
        // Each program is a graph of (x, target); both are shared by all programs.
        let graphs = population
            .iter()
            .map(|e| trace(|x: Sym, y: Sym| (e.apply(x) - y).abs().mean(..), (x.spec(), target.spec())))
            .collect::<evoxc::Result<Vec<_>>>()?;
        let separate: usize = graphs.iter().map(|g| g.ops().len()).sum();
        let merged = batch_functions(&graphs).axes([None, None]).build()?;
        let errors = build(&merged, merged.specs(), &Interp)?.run((x.clone(), target.clone()))?.to_vec::<f32>()?;
        let best = (0..population.len()).fold(0, |b, i| if errors[i] < errors[b] { i } else { b });
        if generation % 5 == 0 || errors[best] < 1e-6 {
            println!(
                "generation {generation:2}: {separate} ops merged into {}, best error {:.4}",
                merged.ops().len(),
                errors[best]
            );
        }
        if errors[best] < 1e-6 {
            println!("found: {:?}", population[best]);
            return Ok(());
        }
        assert!(generation < 100, "no program was found");
        // The best stays; the others are children of winners of tournaments.
        let mut winner = || {
            let picks: Vec<usize> = (0..5).map(|_| rng.below(population.len())).collect();
            picks.into_iter().fold(best, |b, i| if b == best || errors[i] < errors[b] { i } else { b })
        };
        let pairs: Vec<(usize, usize)> = (1..population.len()).map(|_| (winner(), winner())).collect();
        let children = pairs.iter().map(|&(a, b)| child(&mut rng, &population[a], &population[b]));
        population = std::iter::once(population[best].clone()).chain(children).collect();
    }
    Ok(())
}
