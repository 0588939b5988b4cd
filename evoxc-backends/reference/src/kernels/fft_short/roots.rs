//! Roots of unity, each a product of a coarse and a fine one, in double precision.

use num_complex::Complex;

/// The n-th roots of unity.
pub(super) struct Roots {
    n: usize,
    shift: u32,
    fine: Vec<Complex<f64>>,
    coarse: Vec<Complex<f64>>,
}

/// exp(2πi x / n), from angles of the first octant.
fn root(x: usize, n: usize) -> Complex<f64> {
    let angle = |x: usize| 0.25 * std::f64::consts::PI / n as f64 * x as f64;
    let (cos, sin) = (|x| angle(x).cos(), |x| angle(x).sin());
    let x = 8 * x;
    if x < 4 * n {
        if x < n {
            Complex::new(cos(x), sin(x))
        } else if x < 2 * n {
            Complex::new(sin(2 * n - x), cos(2 * n - x))
        } else if x - 2 * n < n {
            Complex::new(-sin(x - 2 * n), cos(x - 2 * n))
        } else {
            Complex::new(-cos(4 * n - x), sin(4 * n - x))
        }
    } else {
        let x = 8 * n - x;
        if x < n {
            Complex::new(cos(x), -sin(x))
        } else if x < 2 * n {
            Complex::new(sin(2 * n - x), -cos(2 * n - x))
        } else if x - 2 * n < n {
            Complex::new(-sin(x - 2 * n), -cos(x - 2 * n))
        } else {
            Complex::new(-cos(4 * n - x), -sin(4 * n - x))
        }
    }
}

impl Roots {
    pub fn new(n: usize) -> Roots {
        let half = n.div_ceil(2) + usize::from(n.is_multiple_of(2));
        let mut shift = 1;
        while (1usize << shift) * (1 << shift) < half {
            shift += 1;
        }
        let step = 1usize << shift;
        let one = Complex::new(1.0, 0.0);
        let from = |x: usize| if x == 0 { one } else { root(x, n) };
        let fine = (0..step).map(from).collect();
        let coarse = (0..half.div_ceil(step)).map(|i| from(i * step)).collect();
        Roots { n, shift, fine, coarse }
    }
    /// exp(2πi x / n) for x below n.
    pub fn get(&self, x: usize) -> Complex<f64> {
        let mirrored = 2 * x > self.n;
        let x = if mirrored { self.n - x } else { x };
        let (a, b) = (self.fine[x & ((1 << self.shift) - 1)], self.coarse[x >> self.shift]);
        let (re, im) = (a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
        Complex::new(re, if mirrored { -im } else { im })
    }
}
