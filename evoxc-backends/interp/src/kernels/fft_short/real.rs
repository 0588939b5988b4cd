//! Real transforms: of powers of two, and forwards of primes. Spectra are packed: re 0, re 1, im 1, re 2, im 2 …

use super::roots::Roots;
use super::{Part, SHORT, factors};
use num_complex::Complex;

struct Pass<R> {
    radix: usize,
    twiddles: Vec<R>,
}

enum Kind<R> {
    /// Factors of 2 and 4.
    Even(Vec<Pass<R>>),
    /// A prime, by the roots of unity.
    Prime(Vec<Complex<R>>),
}

/// The transform of lines of so many real points.
pub(crate) struct ShortReal<R> {
    n: usize,
    kind: Kind<R>,
}

impl<R: Part> ShortReal<R> {
    /// `None` for lengths that this does not do, in that direction.
    pub fn new(n: usize, forward: bool) -> Option<ShortReal<R>> {
        if !(2..SHORT).contains(&n) {
            return None;
        }
        let all = Roots::new(n);
        let list = factors(n, &[4]);
        if list == [n] && n >= 7 && forward {
            let roots = (0..n).map(|k| all.get(k)).map(|c| Complex::new(R::of(c.re), R::of(c.im))).collect();
            return Some(ShortReal { n, kind: Kind::Prime(roots) });
        }
        if list.iter().any(|f| ![2, 4].contains(f)) {
            return None;
        }
        let mut done = 1;
        let passes = list.into_iter().map(|radix| {
            let width = n / (done * radix);
            let mut twiddles = vec![R::default(); (radix - 1) * width.saturating_sub(1)];
            for j in 1..radix {
                for i in 1..=width.saturating_sub(1) / 2 {
                    let w = all.get(j * done * i);
                    let at = (j - 1) * (width - 1) + 2 * i - 2;
                    (twiddles[at], twiddles[at + 1]) = (R::of(w.re), R::of(w.im));
                }
            }
            done *= radix;
            Pass { radix, twiddles }
        });
        Some(ShortReal { n, kind: Kind::Even(passes.collect()) })
    }
    /// Transforms a line in place: points to a packed spectrum, or back.
    pub fn process(&self, line: &mut [R], buffer: &mut [R], forward: bool) {
        let passes = match &self.kind {
            Kind::Prime(roots) => {
                prime(roots, line, buffer);
                return line.copy_from_slice(buffer);
            }
            Kind::Even(passes) => passes,
        };
        let mut here = true;
        let mut done = if forward { self.n } else { 1 };
        for k in 0..passes.len() {
            let pass = &passes[if forward { passes.len() - 1 - k } else { k }];
            if forward {
                done /= pass.radix;
            }
            let width = self.n / (done * pass.radix);
            let (from, to) = if here { (&*line, &mut *buffer) } else { (&*buffer, &mut *line) };
            let at = Places { width, done, radix: pass.radix };
            match (pass.radix, forward) {
                (2, true) => two_forward(at, from, to, &pass.twiddles),
                (2, false) => two_back(at, from, to, &pass.twiddles),
                (_, true) => four_forward(at, from, to, &pass.twiddles),
                (_, false) => four_back(at, from, to, &pass.twiddles),
            }
            here = !here;
            if !forward {
                done *= pass.radix;
            }
        }
        if !here {
            line.copy_from_slice(buffer);
        }
    }
}

/// Where a pass reads and writes.
#[derive(Clone, Copy)]
struct Places {
    width: usize,
    done: usize,
    radix: usize,
}
impl Places {
    /// Of points, by column, group and part.
    fn point(self, i: usize, k: usize, part: usize) -> usize {
        i + self.width * (k + self.done * part)
    }
    /// Of the spectrum, by column, part and group.
    fn line(self, i: usize, part: usize, k: usize) -> usize {
        i + self.width * (part + self.radix * k)
    }
}

/// (w.re + i w.im) times (a - i b), as the pair (re, -im).
fn turned<R: Part>(w: &[R], a: R, b: R) -> (R, R) {
    (w[0] * a + w[1] * b, w[0] * b - w[1] * a)
}

fn two_forward<R: Part>(at: Places, x: &[R], y: &mut [R], w: &[R]) {
    let n = at.width;
    for k in 0..at.done {
        let (a, b) = (x[at.point(0, k, 0)], x[at.point(0, k, 1)]);
        (y[at.line(0, 0, k)], y[at.line(n - 1, 1, k)]) = (a + b, a - b);
        if n.is_multiple_of(2) {
            y[at.line(0, 1, k)] = -x[at.point(n - 1, k, 1)];
            y[at.line(n - 1, 0, k)] = x[at.point(n - 1, k, 0)];
        }
        for i in (2..n).step_by(2) {
            let c = n - i;
            let (re, im) = turned(&w[i - 2..], x[at.point(i - 1, k, 1)], x[at.point(i, k, 1)]);
            let (a, b) = (x[at.point(i - 1, k, 0)], x[at.point(i, k, 0)]);
            (y[at.line(i - 1, 0, k)], y[at.line(c - 1, 1, k)]) = (a + re, a - re);
            (y[at.line(i, 0, k)], y[at.line(c, 1, k)]) = (im + b, im - b);
        }
    }
}

fn two_back<R: Part>(at: Places, x: &[R], y: &mut [R], w: &[R]) {
    let n = at.width;
    let two = R::of(2.0);
    for k in 0..at.done {
        let (a, b) = (x[at.line(0, 0, k)], x[at.line(n - 1, 1, k)]);
        (y[at.point(0, k, 0)], y[at.point(0, k, 1)]) = (a + b, a - b);
        if n.is_multiple_of(2) {
            y[at.point(n - 1, k, 0)] = two * x[at.line(n - 1, 0, k)];
            y[at.point(n - 1, k, 1)] = -two * x[at.line(0, 1, k)];
        }
        for i in (2..n).step_by(2) {
            let c = n - i;
            let (a, b) = (x[at.line(i - 1, 0, k)], x[at.line(c - 1, 1, k)]);
            let re = a - b;
            y[at.point(i - 1, k, 0)] = a + b;
            let (a, b) = (x[at.line(i, 0, k)], x[at.line(c, 1, k)]);
            let im = a + b;
            y[at.point(i, k, 0)] = a - b;
            (y[at.point(i, k, 1)], y[at.point(i - 1, k, 1)]) = turned(&w[i - 2..], im, re);
        }
    }
}

fn four_forward<R: Part>(at: Places, x: &[R], y: &mut [R], w: &[R]) {
    let n = at.width;
    let h = R::of(std::f64::consts::FRAC_1_SQRT_2);
    for k in 0..at.done {
        let p = |i: usize, part: usize| x[at.point(i, k, part)];
        let (t1, t2) = (p(0, 3) + p(0, 1), p(0, 0) + p(0, 2));
        y[at.line(0, 2, k)] = p(0, 3) - p(0, 1);
        y[at.line(n - 1, 1, k)] = p(0, 0) - p(0, 2);
        (y[at.line(0, 0, k)], y[at.line(n - 1, 3, k)]) = (t2 + t1, t2 - t1);
        if n.is_multiple_of(2) {
            let e = n - 1;
            let im = -h * (p(e, 1) + p(e, 3));
            let re = h * (p(e, 1) - p(e, 3));
            (y[at.line(e, 0, k)], y[at.line(e, 2, k)]) = (p(e, 0) + re, p(e, 0) - re);
            (y[at.line(0, 3, k)], y[at.line(0, 1, k)]) = (im + p(e, 2), im - p(e, 2));
        }
        for i in (2..n).step_by(2) {
            let c = n - i;
            let w = |part: usize| &w[i - 2 + (part - 1) * (n - 1)..];
            let (r2, i2) = turned(w(1), p(i - 1, 1), p(i, 1));
            let (r3, i3) = turned(w(2), p(i - 1, 2), p(i, 2));
            let (r4, i4) = turned(w(3), p(i - 1, 3), p(i, 3));
            let (tr1, tr4, ti1, ti4) = (r4 + r2, r4 - r2, i2 + i4, i2 - i4);
            let (tr2, tr3) = (p(i - 1, 0) + r3, p(i - 1, 0) - r3);
            let (ti2, ti3) = (p(i, 0) + i3, p(i, 0) - i3);
            (y[at.line(i - 1, 0, k)], y[at.line(c - 1, 3, k)]) = (tr2 + tr1, tr2 - tr1);
            (y[at.line(i, 0, k)], y[at.line(c, 3, k)]) = (ti1 + ti2, ti1 - ti2);
            (y[at.line(i - 1, 2, k)], y[at.line(c - 1, 1, k)]) = (tr3 + ti4, tr3 - ti4);
            (y[at.line(i, 2, k)], y[at.line(c, 1, k)]) = (tr4 + ti3, tr4 - ti3);
        }
    }
}

fn four_back<R: Part>(at: Places, x: &[R], y: &mut [R], w: &[R]) {
    let n = at.width;
    let (two, root) = (R::of(2.0), R::of(std::f64::consts::SQRT_2));
    for k in 0..at.done {
        let p = |i: usize, part: usize| x[at.line(i, part, k)];
        let (t2, t1) = (p(0, 0) + p(n - 1, 3), p(0, 0) - p(n - 1, 3));
        let (t3, t4) = (two * p(n - 1, 1), two * p(0, 2));
        (y[at.point(0, k, 0)], y[at.point(0, k, 2)]) = (t2 + t3, t2 - t3);
        (y[at.point(0, k, 3)], y[at.point(0, k, 1)]) = (t1 + t4, t1 - t4);
        if n.is_multiple_of(2) {
            let e = n - 1;
            let (ti1, ti2) = (p(0, 3) + p(0, 1), p(0, 3) - p(0, 1));
            let (tr2, tr1) = (p(e, 0) + p(e, 2), p(e, 0) - p(e, 2));
            y[at.point(e, k, 0)] = tr2 + tr2;
            y[at.point(e, k, 1)] = root * (tr1 - ti1);
            y[at.point(e, k, 2)] = ti2 + ti2;
            y[at.point(e, k, 3)] = -root * (tr1 + ti1);
        }
        for i in (2..n).step_by(2) {
            let c = n - i;
            let w = |part: usize| &w[i - 2 + (part - 1) * (n - 1)..];
            let (tr2, tr1) = (p(i - 1, 0) + p(c - 1, 3), p(i - 1, 0) - p(c - 1, 3));
            let (ti1, ti2) = (p(i, 0) + p(c, 3), p(i, 0) - p(c, 3));
            let (tr4, ti3) = (p(i, 2) + p(c, 1), p(i, 2) - p(c, 1));
            let (tr3, ti4) = (p(i - 1, 2) + p(c - 1, 1), p(i - 1, 2) - p(c - 1, 1));
            y[at.point(i - 1, k, 0)] = tr2 + tr3;
            let cr3 = tr2 - tr3;
            y[at.point(i, k, 0)] = ti2 + ti3;
            let ci3 = ti2 - ti3;
            let (cr4, cr2, ci2, ci4) = (tr1 + tr4, tr1 - tr4, ti1 + ti4, ti1 - ti4);
            (y[at.point(i, k, 1)], y[at.point(i - 1, k, 1)]) = turned(w(1), ci2, cr2);
            (y[at.point(i, k, 2)], y[at.point(i - 1, k, 2)]) = turned(w(2), ci3, cr3);
            (y[at.point(i, k, 3)], y[at.point(i - 1, k, 3)]) = turned(w(3), ci4, cr4);
        }
    }
}

/// The packed spectrum of a prime number of points, in groups of four terms, two and one.
fn prime<R: Part>(roots: &[Complex<R>], x: &mut [R], y: &mut [R]) {
    let p = x.len();
    let half = p.div_ceil(2);
    for j in 1..half {
        (x[p - j], x[j]) = (x[p - j] - x[j], x[p - j] + x[j]);
    }
    for l in 1..half {
        let w = |j: usize| roots[l * j % p];
        let mut re = x[0] + w(1).re * x[1] + w(2).re * x[2];
        let mut im = w(1).im * x[p - 1] + w(2).im * x[p - 2];
        let mut j = 3;
        while j + 3 < half {
            re = re + (w(j).re * x[j] + w(j + 1).re * x[j + 1] + w(j + 2).re * x[j + 2] + w(j + 3).re * x[j + 3]);
            im = im
                + (w(j).im * x[p - j]
                    + w(j + 1).im * x[p - j - 1]
                    + w(j + 2).im * x[p - j - 2]
                    + w(j + 3).im * x[p - j - 3]);
            j += 4;
        }
        while j + 1 < half {
            re = re + (w(j).re * x[j] + w(j + 1).re * x[j + 1]);
            im = im + (w(j).im * x[p - j] + w(j + 1).im * x[p - j - 1]);
            j += 2;
        }
        while j < half {
            re = re + w(j).re * x[j];
            im = im + w(j).im * x[p - j];
            j += 1;
        }
        (y[2 * l - 1], y[2 * l]) = (re, im);
    }
    y[0] = (1..half).fold(x[0], |sum, j| sum + x[j]);
}
