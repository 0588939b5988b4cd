//! Complex transforms: one pass a factor, each from one buffer to another.

use super::roots::Roots;
use super::{Part, factors};
use num_complex::Complex;

type C<R> = Complex<R>;

/// Cosines and sines of 2πk/p, k = 1 … (p-1)/2, of the radices with a pass of their own.
const THREE: (&[f64], &[f64]) = (&[-0.5], &[0.866_025_403_784_438_6]);
const FIVE: (&[f64], &[f64]) =
    (&[0.309_016_994_374_947_45, -0.809_016_994_374_947_5], &[0.951_056_516_295_153_5, 0.587_785_252_292_473_1]);
const SEVEN: (&[f64], &[f64]) = (
    &[0.623_489_801_858_733_5, -0.222_520_933_956_314_4, -0.900_968_867_902_419_1],
    &[0.781_831_482_468_029_8, 0.974_927_912_181_823_6, 0.433_883_739_117_558_1],
);
const ELEVEN: (&[f64], &[f64]) = (
    &[
        0.841_253_532_831_181_2,
        0.415_415_013_001_886_44,
        -0.142_314_838_273_285_14,
        -0.654_860_733_945_285_1,
        -0.959_492_973_614_497_4,
    ],
    &[
        0.540_640_817_455_597_6,
        0.909_631_995_354_518_3,
        0.989_821_441_880_932_7,
        0.755_749_574_354_258_3,
        0.281_732_556_841_429_67,
    ],
);

struct Pass<R> {
    radix: usize,
    /// Twiddle of output j - 1 at position i - 1: `[(j - 1) * (width - 1) + i - 1]`.
    twiddles: Vec<C<R>>,
    /// Roots of unity of the radix, for those without a pass of their own.
    roots: Vec<C<R>>,
}

/// The transform of lines of so many complex points.
pub(crate) struct Short<R> {
    n: usize,
    passes: Vec<Pass<R>>,
}

/// Times the root, or for the forward transform its conjugate.
fn turn<R: Part>(x: C<R>, w: C<R>, forward: bool) -> C<R> {
    if forward {
        C::new(x.re * w.re + x.im * w.im, x.im * w.re - x.re * w.im)
    } else {
        C::new(x.re * w.re - x.im * w.im, x.re * w.im + x.im * w.re)
    }
}

fn plus<R: Part>(a: C<R>, b: C<R>) -> C<R> {
    C::new(a.re + b.re, a.im + b.im)
}
fn minus<R: Part>(a: C<R>, b: C<R>) -> C<R> {
    C::new(a.re - b.re, a.im - b.im)
}
/// By a right angle.
fn quarter<R: Part>(a: C<R>, forward: bool) -> C<R> {
    if forward { C::new(a.im, -a.re) } else { C::new(-a.im, a.re) }
}
/// By half a right angle.
fn eighth<R: Part>(a: C<R>, forward: bool) -> C<R> {
    let h = R::of(std::f64::consts::FRAC_1_SQRT_2);
    if forward { C::new(h * (a.re + a.im), h * (a.im - a.re)) } else { C::new(h * (a.re - a.im), h * (a.im + a.re)) }
}
/// By three halves of a right angle.
fn three_eighths<R: Part>(a: C<R>, forward: bool) -> C<R> {
    let h = R::of(std::f64::consts::FRAC_1_SQRT_2);
    if forward { C::new(h * (a.im - a.re), h * (-a.re - a.im)) } else { C::new(h * (-a.re - a.im), h * (a.re - a.im)) }
}

impl<R: Part> Short<R> {
    pub fn new(n: usize) -> Short<R> {
        let all = Roots::new(n);
        let to = |c: C<f64>| C::new(R::of(c.re), R::of(c.im));
        let mut done = 1;
        let passes = factors(n, &[8, 4]).into_iter().map(|radix| {
            let width = n / (done * radix);
            let twiddles = (1..radix).flat_map(|j| (1..width).map(move |i| j * i)).map(|x| to(all.get(x * done)));
            let pass = Pass {
                radix,
                twiddles: twiddles.collect(),
                roots: if radix > 11 { (0..radix).map(|j| to(all.get(j * done * width))).collect() } else { vec![] },
            };
            done *= radix;
            pass
        });
        Short { n, passes: passes.collect() }
    }
    /// Transforms a line in place; `buffer` is as long.
    pub fn process(&self, line: &mut [C<R>], buffer: &mut [C<R>], forward: bool) {
        let (mut done, mut here) = (1, true);
        for pass in &self.passes {
            let width = self.n / (done * pass.radix);
            let (from, to) = if here { (&mut *line, &mut *buffer) } else { (&mut *buffer, &mut *line) };
            if pass.radix > 11 {
                generic(pass, width, done, from, to, forward);
            } else {
                step(pass, width, done, from, to, forward);
                here = !here;
            }
            done *= pass.radix;
        }
        if !here {
            line.copy_from_slice(buffer);
        }
    }
}

/// A pass of a small radix.
fn step<R: Part>(pass: &Pass<R>, width: usize, done: usize, from: &[C<R>], to: &mut [C<R>], forward: bool) {
    let p = pass.radix;
    let mut x = [C::<R>::default(); 11];
    let mut y = [C::<R>::default(); 11];
    for k in 0..done {
        for i in 0..width {
            for (b, x) in x.iter_mut().take(p).enumerate() {
                *x = from[i + width * (b + p * k)];
            }
            match p {
                2 => (y[0], y[1]) = (plus(x[0], x[1]), minus(x[0], x[1])),
                4 => four(&x, &mut y, forward),
                8 => eight(&x, &mut y, forward),
                3 => odd(&x, &mut y, THREE, forward),
                5 => odd(&x, &mut y, FIVE, forward),
                7 => odd(&x, &mut y, SEVEN, forward),
                _ => odd(&x, &mut y, ELEVEN, forward),
            }
            to[i + width * k] = y[0];
            for (u, &y) in y.iter().enumerate().take(p).skip(1) {
                let at = i + width * (k + done * u);
                to[at] = if i == 0 { y } else { turn(y, pass.twiddles[(u - 1) * (width - 1) + i - 1], forward) };
            }
        }
    }
}

fn four<R: Part>(x: &[C<R>], y: &mut [C<R>], forward: bool) {
    let (t2, t1) = (plus(x[0], x[2]), minus(x[0], x[2]));
    let (t3, t4) = (plus(x[1], x[3]), quarter(minus(x[1], x[3]), forward));
    (y[0], y[2]) = (plus(t2, t3), minus(t2, t3));
    (y[1], y[3]) = (plus(t1, t4), minus(t1, t4));
}

fn eight<R: Part>(x: &[C<R>], y: &mut [C<R>], forward: bool) {
    let (a1, a5) = (plus(x[1], x[5]), minus(x[1], x[5]));
    let (a3, a7) = (plus(x[3], x[7]), quarter(minus(x[3], x[7]), forward));
    let (a1, a3) = (plus(a1, a3), quarter(minus(a1, a3), forward));
    let (a5, a7) = (eighth(plus(a5, a7), forward), three_eighths(minus(a5, a7), forward));
    let (a0, a4) = (plus(x[0], x[4]), minus(x[0], x[4]));
    let (a2, a6) = (plus(x[2], x[6]), quarter(minus(x[2], x[6]), forward));
    let (even, other) = (plus(a0, a2), minus(a0, a2));
    (y[0], y[4]) = (plus(even, a1), minus(even, a1));
    (y[2], y[6]) = (plus(other, a3), minus(other, a3));
    let (even, other) = (plus(a4, a6), minus(a4, a6));
    (y[1], y[5]) = (plus(even, a5), minus(even, a5));
    (y[3], y[7]) = (plus(other, a7), minus(other, a7));
}

/// An odd radix: sums and differences of opposite points, weighted by cosines and sines.
fn odd<R: Part>(x: &[C<R>], y: &mut [C<R>], (cos, sin): (&[f64], &[f64]), forward: bool) {
    let half = cos.len();
    let p = 2 * half + 1;
    let mut sum = [C::<R>::default(); 6];
    let mut gap = [C::<R>::default(); 6];
    y[0] = x[0];
    for j in 1..=half {
        (sum[j], gap[j]) = (plus(x[j], x[p - j]), minus(x[j], x[p - j]));
        y[0] = plus(y[0], sum[j]);
    }
    for u in 1..=half {
        let mut a = x[0];
        let mut b = C::<R>::default();
        for j in 1..=half {
            let k = u * j % p;
            let (k, sign) = if k > half { (p - k, -1.0) } else { (k, 1.0) };
            let sign = if forward { -sign } else { sign };
            let (c, s) = (R::of(cos[k - 1]), R::of(sign * sin[k - 1]));
            a = C::new(a.re + c * sum[j].re, a.im + c * sum[j].im);
            // The first term stands alone: a sum that starts at 0 would lose the sign of a zero.
            b = if j == 1 {
                C::new(s * gap[j].im, s * gap[j].re)
            } else {
                C::new(b.re + s * gap[j].im, b.im + s * gap[j].re)
            };
        }
        let b = C::new(-b.re, b.im);
        (y[u], y[p - u]) = (plus(a, b), minus(a, b));
    }
}

/// A pass of any odd radix; its result is in `cc`.
fn generic<R: Part>(pass: &Pass<R>, width: usize, done: usize, cc: &mut [C<R>], ch: &mut [C<R>], forward: bool) {
    let p = pass.radix;
    let half = p.div_ceil(2);
    let rows = width * done;
    let root = |k: usize| if forward { C::new(pass.roots[k].re, -pass.roots[k].im) } else { pass.roots[k] };
    for k in 0..done {
        for i in 0..width {
            let x = |b: usize| cc[i + width * (b + p * k)];
            ch[i + width * k] = x(0);
            for j in 1..half {
                ch[i + width * (k + done * j)] = plus(x(j), x(p - j));
                ch[i + width * (k + done * (p - j))] = minus(x(j), x(p - j));
            }
        }
    }
    for r in 0..rows {
        cc[r] = (1..half).fold(ch[r], |sum, j| plus(sum, ch[r + rows * j]));
    }
    for l in 1..half {
        for r in 0..rows {
            let x = |j: usize| ch[r + rows * j];
            let (w1, w2) = (root(l), root(2 * l));
            let (mut a, mut b) = (
                C::new(x(0).re + w1.re * x(1).re + w2.re * x(2).re, x(0).im + w1.re * x(1).im + w2.re * x(2).im),
                C::new(-(w1.im * x(p - 1).im + w2.im * x(p - 2).im), w1.im * x(p - 1).re + w2.im * x(p - 2).re),
            );
            let mut j = 3;
            while j + 1 < half {
                let (v, w) = (root(l * j % p), root(l * (j + 1) % p));
                let (c, d) = (p - j, p - j - 1);
                a = plus(a, C::new(x(j).re * v.re + x(j + 1).re * w.re, x(j).im * v.re + x(j + 1).im * w.re));
                b = C::new(b.re - (x(c).im * v.im + x(d).im * w.im), b.im + (x(c).re * v.im + x(d).re * w.im));
                j += 2;
            }
            while j < half {
                let (v, c) = (root(l * j % p), p - j);
                a = plus(a, C::new(x(j).re * v.re, x(j).im * v.re));
                b = C::new(b.re - x(c).im * v.im, b.im + x(c).re * v.im);
                j += 1;
            }
            (cc[r + rows * l], cc[r + rows * (p - l)]) = (a, b);
        }
    }
    for j in 1..half {
        for k in 0..done {
            for i in 0..width {
                let (one, other) = (i + width * (k + done * j), i + width * (k + done * (p - j)));
                let (a, b) = (plus(cc[one], cc[other]), minus(cc[one], cc[other]));
                let at = |u: usize, y: C<R>| {
                    if i == 0 { y } else { turn(y, pass.twiddles[(u - 1) * (width - 1) + i - 1], forward) }
                };
                (cc[one], cc[other]) = (at(j, a), at(p - j, b));
            }
        }
    }
}
