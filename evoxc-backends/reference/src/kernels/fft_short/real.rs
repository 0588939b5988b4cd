//! Real transforms: one pass a factor, of which all but the last are 2, 3 or 4. Spectra are packed: re 0, re 1, im 1,
//! re 2, im 2 …

use super::roots::Roots;
use super::{Part, SHORT, factors};

/// One pass: a factor, and the roots that it multiplies by.
struct Pass<R> {
    factor: usize,
    before: usize,
    ido: usize,
    /// The real part of root `j * before * i` at `(j - 1) * (ido - 1) + 2 * i - 2`, the imaginary one behind it.
    twiddles: Vec<R>,
    /// Cosines and sines of the factor's own roots, where it has no pass of its own.
    own: Vec<(R, R)>,
}

/// The transform of lines of so many real points.
pub(crate) struct ShortReal<R> {
    passes: Vec<Pass<R>>,
}

/// a c + b d, a d - b c.
fn turn<R: Part>(a: R, b: R, c: R, d: R) -> (R, R) {
    (a * c + b * d, a * d - b * c)
}

impl<R: Part> ShortReal<R> {
    /// `None` for lengths that have no passes here: any odd factor may come last, but 5 has a pass of its own elsewhere,
    /// which sums in another order.
    pub fn new(n: usize) -> Option<ShortReal<R>> {
        let factors = factors(n, &[4]);
        let (&last, others) = factors.split_last()?;
        if !(2..SHORT).contains(&n) || last == 5 || others.iter().any(|f| !matches!(f, 2..=4)) {
            return None;
        }
        let roots = Roots::new(n);
        let mut before = 1;
        let mut passes = vec![];
        for factor in factors {
            let ido = n / (before * factor);
            let mut twiddles = vec![R::default(); (factor - 1) * (ido - 1)];
            for j in 1..factor {
                for i in 1..=(ido - 1) / 2 {
                    let w = roots.get(j * before * i);
                    let at = (j - 1) * (ido - 1) + 2 * i - 2;
                    (twiddles[at], twiddles[at + 1]) = (R::of(w.re), R::of(w.im));
                }
            }
            let own = |j: usize| {
                let w = roots.get(j * before * ido);
                (R::of(w.re), R::of(w.im))
            };
            let own = if factor > 4 { (0..factor).map(own).collect() } else { vec![] };
            passes.push(Pass { factor, before, ido, twiddles, own });
            before *= factor;
        }
        Some(ShortReal { passes })
    }

    /// Transforms a line in place: points to a packed spectrum, or back; not scaled.
    pub fn process(&self, line: &mut [R], buffer: &mut [R], forward: bool) {
        let (mut from, mut to) = (line, buffer);
        for k in 0..self.passes.len() {
            let p = &self.passes[if forward { self.passes.len() - 1 - k } else { k }];
            match (p.factor, forward) {
                (2, true) => p.forward_2(from, to),
                (3, true) => p.forward_3(from, to),
                (4, true) => p.forward_4(from, to),
                (_, true) => p.forward_any(from, to),
                (2, false) => p.backward_2(from, to),
                (3, false) => p.backward_3(from, to),
                (4, false) => p.backward_4(from, to),
                (_, false) => p.backward_any(from, to),
            }
            std::mem::swap(&mut from, &mut to);
        }
        // After an odd number of passes, the result is in the buffer.
        if self.passes.len() % 2 == 1 {
            to.copy_from_slice(from);
        }
    }
}

const TAU_3: (f64, f64) = (-0.5, 0.866_025_403_784_438_6);

impl<R: Part> Pass<R> {
    /// Where (i, k, b) stands: i runs first, then k over the transforms before, then the factor.
    fn outer(&self, i: usize, k: usize, b: usize) -> usize {
        i + self.ido * (k + self.before * b)
    }
    /// Where (i, b, k) stands: i runs first, then the factor, then the transforms before.
    fn inner(&self, i: usize, b: usize, k: usize) -> usize {
        i + self.ido * (b + self.factor * k)
    }
    /// Root `j` of place `i`.
    fn root(&self, j: usize, i: usize) -> (R, R) {
        let at = (j - 1) * (self.ido - 1) + i - 2;
        (self.twiddles[at], self.twiddles[at + 1])
    }
    /// (i - 1, i) of part `b`, turned back by its root.
    fn turned(&self, x: &[R], i: usize, k: usize, b: usize) -> (R, R) {
        let (c, s) = self.root(b, i);
        turn(c, s, x[self.outer(i - 1, k, b)], x[self.outer(i, k, b)])
    }

    fn forward_2(&self, x: &[R], y: &mut [R]) {
        let (o, n) = (self.ido, |i, k, b| self.inner(i, k, b));
        for k in 0..self.before {
            let (a, b) = (x[self.outer(0, k, 0)], x[self.outer(0, k, 1)]);
            (y[n(0, 0, k)], y[n(o - 1, 1, k)]) = (a + b, a - b);
            if o % 2 == 0 {
                y[n(0, 1, k)] = -x[self.outer(o - 1, k, 1)];
                y[n(o - 1, 0, k)] = x[self.outer(o - 1, k, 0)];
            }
            for i in (2..o).step_by(2) {
                let ic = o - i;
                let (tr, ti) = self.turned(x, i, k, 1);
                let (a, b) = (x[self.outer(i - 1, k, 0)], x[self.outer(i, k, 0)]);
                (y[n(i - 1, 0, k)], y[n(ic - 1, 1, k)]) = (a + tr, a - tr);
                (y[n(i, 0, k)], y[n(ic, 1, k)]) = (ti + b, ti - b);
            }
        }
    }

    fn backward_2(&self, x: &[R], y: &mut [R]) {
        let (o, n, two) = (self.ido, |i, b, k| self.inner(i, b, k), R::of(2.0));
        for k in 0..self.before {
            let (a, b) = (x[n(0, 0, k)], x[n(o - 1, 1, k)]);
            (y[self.outer(0, k, 0)], y[self.outer(0, k, 1)]) = (a + b, a - b);
            if o % 2 == 0 {
                y[self.outer(o - 1, k, 0)] = two * x[n(o - 1, 0, k)];
                y[self.outer(o - 1, k, 1)] = -two * x[n(0, 1, k)];
            }
            for i in (2..o).step_by(2) {
                let ic = o - i;
                let (a, b) = (x[n(i - 1, 0, k)], x[n(ic - 1, 1, k)]);
                let (c, d) = (x[n(i, 0, k)], x[n(ic, 1, k)]);
                (y[self.outer(i - 1, k, 0)], y[self.outer(i, k, 0)]) = (a + b, c - d);
                self.put(y, (i, k, 1), c + d, a - b);
            }
        }
    }

    /// Part `b` of place `i`, turned by its root.
    fn put(&self, y: &mut [R], (i, k, b): (usize, usize, usize), im: R, re: R) {
        let (c, s) = self.root(b, i);
        (y[self.outer(i, k, b)], y[self.outer(i - 1, k, b)]) = turn(c, s, im, re);
    }

    fn forward_3(&self, x: &[R], y: &mut [R]) {
        let (o, n) = (self.ido, |i, b, k| self.inner(i, b, k));
        let (taur, taui) = (R::of(TAU_3.0), R::of(TAU_3.1));
        for k in 0..self.before {
            let [a, b, c] = [0, 1, 2].map(|j| x[self.outer(0, k, j)]);
            let sum = b + c;
            y[n(0, 0, k)] = a + sum;
            y[n(0, 2, k)] = taui * (c - b);
            y[n(o - 1, 1, k)] = a + taur * sum;
            for i in (2..o).step_by(2) {
                let ic = o - i;
                let ((dr2, di2), (dr3, di3)) = (self.turned(x, i, k, 1), self.turned(x, i, k, 2));
                let (cr, ci) = (dr2 + dr3, di2 + di3);
                let (a, b) = (x[self.outer(i - 1, k, 0)], x[self.outer(i, k, 0)]);
                (y[n(i - 1, 0, k)], y[n(i, 0, k)]) = (a + cr, b + ci);
                let (tr2, ti2) = (a + taur * cr, b + taur * ci);
                let (tr3, ti3) = (taui * (di2 - di3), taui * (dr3 - dr2));
                (y[n(i - 1, 2, k)], y[n(ic - 1, 1, k)]) = (tr2 + tr3, tr2 - tr3);
                (y[n(i, 2, k)], y[n(ic, 1, k)]) = (ti3 + ti2, ti3 - ti2);
            }
        }
    }

    fn backward_3(&self, x: &[R], y: &mut [R]) {
        let (o, n, two) = (self.ido, |i, b, k| self.inner(i, b, k), R::of(2.0));
        let (taur, taui) = (R::of(TAU_3.0), R::of(TAU_3.1));
        for k in 0..self.before {
            let tr = two * x[n(o - 1, 1, k)];
            let cr = x[n(0, 0, k)] + taur * tr;
            y[self.outer(0, k, 0)] = x[n(0, 0, k)] + tr;
            let ci = two * taui * x[n(0, 2, k)];
            (y[self.outer(0, k, 2)], y[self.outer(0, k, 1)]) = (cr + ci, cr - ci);
            for i in (2..o).step_by(2) {
                let ic = o - i;
                let tr = x[n(i - 1, 2, k)] + x[n(ic - 1, 1, k)];
                let ti = x[n(i, 2, k)] - x[n(ic, 1, k)];
                let (a, b) = (x[n(i - 1, 0, k)], x[n(i, 0, k)]);
                let (cr2, ci2) = (a + taur * tr, b + taur * ti);
                (y[self.outer(i - 1, k, 0)], y[self.outer(i, k, 0)]) = (a + tr, b + ti);
                let cr3 = taui * (x[n(i - 1, 2, k)] - x[n(ic - 1, 1, k)]);
                let ci3 = taui * (x[n(i, 2, k)] + x[n(ic, 1, k)]);
                self.put(y, (i, k, 1), ci2 + cr3, cr2 - ci3);
                self.put(y, (i, k, 2), ci2 - cr3, cr2 + ci3);
            }
        }
    }

    fn forward_4(&self, x: &[R], y: &mut [R]) {
        let (o, n) = (self.ido, |i, b, k| self.inner(i, b, k));
        let h = R::of(std::f64::consts::FRAC_1_SQRT_2);
        for k in 0..self.before {
            let [a, b, c, d] = [0, 1, 2, 3].map(|j| x[self.outer(0, k, j)]);
            let (tr1, tr2) = (d + b, a + c);
            (y[n(0, 2, k)], y[n(o - 1, 1, k)]) = (d - b, a - c);
            (y[n(0, 0, k)], y[n(o - 1, 3, k)]) = (tr2 + tr1, tr2 - tr1);
            if o % 2 == 0 {
                let [a, b, c, d] = [0, 1, 2, 3].map(|j| x[self.outer(o - 1, k, j)]);
                let (ti1, tr1) = (-h * (b + d), h * (b - d));
                (y[n(o - 1, 0, k)], y[n(o - 1, 2, k)]) = (a + tr1, a - tr1);
                (y[n(0, 3, k)], y[n(0, 1, k)]) = (ti1 + c, ti1 - c);
            }
            for i in (2..o).step_by(2) {
                let ic = o - i;
                let [(cr2, ci2), (cr3, ci3), (cr4, ci4)] = [1, 2, 3].map(|b| self.turned(x, i, k, b));
                let (a, b) = (x[self.outer(i - 1, k, 0)], x[self.outer(i, k, 0)]);
                let (tr1, tr4, ti1, ti4) = (cr4 + cr2, cr4 - cr2, ci2 + ci4, ci2 - ci4);
                let (tr2, tr3, ti2, ti3) = (a + cr3, a - cr3, b + ci3, b - ci3);
                (y[n(i - 1, 0, k)], y[n(ic - 1, 3, k)]) = (tr2 + tr1, tr2 - tr1);
                (y[n(i, 0, k)], y[n(ic, 3, k)]) = (ti1 + ti2, ti1 - ti2);
                (y[n(i - 1, 2, k)], y[n(ic - 1, 1, k)]) = (tr3 + ti4, tr3 - ti4);
                (y[n(i, 2, k)], y[n(ic, 1, k)]) = (tr4 + ti3, tr4 - ti3);
            }
        }
    }

    fn backward_4(&self, x: &[R], y: &mut [R]) {
        let (o, n, two) = (self.ido, |i, b, k| self.inner(i, b, k), R::of(2.0));
        let root = R::of(std::f64::consts::SQRT_2);
        for k in 0..self.before {
            let (a, b) = (x[n(0, 0, k)], x[n(o - 1, 3, k)]);
            let (tr2, tr1, tr3, tr4) = (a + b, a - b, two * x[n(o - 1, 1, k)], two * x[n(0, 2, k)]);
            (y[self.outer(0, k, 0)], y[self.outer(0, k, 2)]) = (tr2 + tr3, tr2 - tr3);
            (y[self.outer(0, k, 3)], y[self.outer(0, k, 1)]) = (tr1 + tr4, tr1 - tr4);
            if o % 2 == 0 {
                let (a, b) = (x[n(0, 3, k)], x[n(0, 1, k)]);
                let (c, d) = (x[n(o - 1, 0, k)], x[n(o - 1, 2, k)]);
                let (ti1, ti2, tr2, tr1) = (a + b, a - b, c + d, c - d);
                y[self.outer(o - 1, k, 0)] = tr2 + tr2;
                y[self.outer(o - 1, k, 1)] = root * (tr1 - ti1);
                y[self.outer(o - 1, k, 2)] = ti2 + ti2;
                y[self.outer(o - 1, k, 3)] = -root * (tr1 + ti1);
            }
            for i in (2..o).step_by(2) {
                let ic = o - i;
                let both = |a: usize, b: usize| (x[a] + x[b], x[a] - x[b]);
                let (tr2, tr1) = both(n(i - 1, 0, k), n(ic - 1, 3, k));
                let (ti1, ti2) = both(n(i, 0, k), n(ic, 3, k));
                let (tr4, ti3) = both(n(i, 2, k), n(ic, 1, k));
                let (tr3, ti4) = both(n(i - 1, 2, k), n(ic - 1, 1, k));
                (y[self.outer(i - 1, k, 0)], y[self.outer(i, k, 0)]) = (tr2 + tr3, ti2 + ti3);
                self.put(y, (i, k, 1), ti1 + ti4, tr1 - tr4);
                self.put(y, (i, k, 2), ti2 - ti3, tr2 - tr3);
                self.put(y, (i, k, 3), ti1 - ti4, tr1 + tr4);
            }
        }
    }

    /// Sums of `v(j)` times cosines and of `v(factor - j)` times sines, in groups of four and two.
    fn sums(&self, l: usize, v: impl Fn(usize) -> R) -> (R, R) {
        let (ip, half) = (self.factor, self.factor.div_ceil(2));
        let root = |j: usize| self.own[(j * l) % ip];
        let cos = |j: usize| root(j).0 * v(j);
        let sin = |j: usize| root(j).1 * v(ip - j);
        let mut even = v(0) + cos(1) + cos(2);
        let mut odd = sin(1) + sin(2);
        let mut j = 3;
        while j + 3 < half {
            even = even + (cos(j) + cos(j + 1) + cos(j + 2) + cos(j + 3));
            odd = odd + (sin(j) + sin(j + 1) + sin(j + 2) + sin(j + 3));
            j += 4;
        }
        while j + 1 < half {
            even = even + (cos(j) + cos(j + 1));
            odd = odd + (sin(j) + sin(j + 1));
            j += 2;
        }
        if j < half {
            (even, odd) = (even + cos(j), odd + sin(j));
        }
        (even, odd)
    }

    /// Any odd factor, as the last one (`ido` is 1).
    fn forward_any(&self, x: &[R], y: &mut [R]) {
        let (ip, half) = (self.factor, self.factor.div_ceil(2));
        for k in 0..self.before {
            let at = |j: usize| x[self.outer(0, k, j)];
            let v = |j: usize| match j {
                0 => at(0),
                j if j < half => at(j) + at(ip - j),
                j => at(j) - at(ip - j),
            };
            y[self.inner(0, 0, k)] = (1..half).fold(v(0), |sum, j| sum + v(j));
            for l in 1..half {
                (y[self.inner(0, 2 * l - 1, k)], y[self.inner(0, 2 * l, k)]) = self.sums(l, v);
            }
        }
    }

    fn backward_any(&self, x: &[R], y: &mut [R]) {
        let (ip, half, two) = (self.factor, self.factor.div_ceil(2), R::of(2.0));
        for k in 0..self.before {
            let at = |b: usize| x[self.inner(0, b, k)];
            let v = |j: usize| match j {
                0 => at(0),
                j if j < half => two * at(2 * j - 1),
                j => two * at(2 * (ip - j)),
            };
            y[self.outer(0, k, 0)] = (1..half).fold(v(0), |sum, j| sum + v(j));
            for l in 1..half {
                let (even, odd) = self.sums(l, v);
                (y[self.outer(0, k, l)], y[self.outer(0, k, ip - l)]) = (even - odd, even + odd);
            }
        }
    }
}
