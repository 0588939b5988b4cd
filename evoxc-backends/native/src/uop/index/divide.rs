//! Quotients and remainders of indices: rounded down, by positive numbers.

use super::Index;
use super::sum::{Sum, Term};
use crate::uop::{Op, UOp};
use smallvec::SmallVec;

impl Index<'_> {
    /// `x / d`.
    pub(super) fn div(&mut self, x: UOp, d: UOp) -> UOp {
        self.memo(true, x, d)
    }
    /// `x % d`.
    pub(super) fn rem(&mut self, x: UOp, d: UOp) -> UOp {
        self.memo(false, x, d)
    }
    fn memo(&mut self, quotient: bool, x: UOp, d: UOp) -> UOp {
        if let Some(&known) = self.known.get(&(quotient, x, d)) {
            return known;
        }
        let (sum, divisor) = (self.of(x), self.of(d));
        let u = match (divisor.as_constant(), quotient) {
            (Some(1), true) => x,
            (Some(1), false) => self.a.index(0),
            // Nothing that is divided by 0 is ever used.
            (Some(..=0), true) => self.plain(Op::IndexDiv, x, d),
            (Some(..=0), false) => self.plain(Op::IndexMod, x, d),
            (Some(c), true) => self.div_by_number(sum, c),
            (Some(c), false) => self.rem_by_number(sum, c),
            (None, true) => self.div_by_symbol(x, sum, d, &divisor),
            (None, false) => self.rem_by_symbol(x, sum, d, &divisor),
        };
        self.known.insert((quotient, x, d), u);
        u
    }
    /// The one quotient of all values of the sum, if there is only one.
    fn only_quotient(&self, sum: &Sum, c: i64) -> Option<i64> {
        let (min, max) = sum.span(self.a);
        let q = min.div_euclid(c.into());
        (q == max.div_euclid(c.into())).then(|| i64::try_from(q).ok())?
    }
    /// `q, r` so that the sum is `q * c + r`, every factor in `r` being smaller than `c`.
    fn whole_parts(sum: &Sum, c: i64) -> (Sum, Sum) {
        let (mut q, mut r) = (sum.clone(), sum.clone());
        (q.constant, r.constant) = (sum.constant.div_euclid(c), sum.constant.rem_euclid(c));
        q.terms.iter_mut().for_each(|t| t.by /= c);
        r.terms.iter_mut().for_each(|t| t.by %= c);
        q.terms.retain(|t| t.by != 0);
        r.terms.retain(|t| t.by != 0);
        (q, r)
    }
    /// `g, s, r` so that the sum is `g * s + r`, where `g` divides `c` and `r` lies from 0 to below `g`: the larger `g`s first.
    fn factored(&self, sum: &Sum, c: i64) -> Option<(i64, Sum, Sum)> {
        let mut factors: Vec<i64> = sum.terms.iter().map(|t| gcd(t.by, c)).filter(|&g| g > 1).collect();
        factors.sort_unstable_by(|x, y| y.cmp(x));
        factors.dedup();
        factors.into_iter().find_map(|g| {
            let (mut high, mut low) = sum.split(|t| t.by % g == 0);
            (high.constant, low.constant) = (sum.constant - sum.constant.rem_euclid(g), sum.constant.rem_euclid(g));
            let (min, max) = low.span(self.a);
            (min >= 0 && max < g.into()).then(|| (g, high.divided(g), low))
        })
    }
    fn div_by_number(&mut self, sum: Sum, c: i64) -> UOp {
        if let Some(q) = self.only_quotient(&sum, c) {
            return self.a.index(q);
        }
        let (q, r) = Index::whole_parts(&sum, c);
        let of_rest = self.div_rest(r, c);
        match q.as_constant() {
            Some(0) => of_rest,
            _ => {
                let rest = self.of(of_rest);
                match q.plus(&rest, 1, self.a) {
                    Some(sum) => self.make(sum),
                    None => {
                        let x = sum.build(self.a);
                        let c = self.a.index(c);
                        self.plain(Op::IndexDiv, x, c)
                    }
                }
            }
        }
    }
    fn div_rest(&mut self, r: Sum, c: i64) -> UOp {
        if let Some(q) = self.only_quotient(&r, c) {
            return self.a.index(q);
        }
        if let Some((g, high, _)) = self.factored(&r, c) {
            let (high, d) = (self.make(high), self.a.index(c / g));
            return self.div(high, d);
        }
        if let [Term { atoms, by: 1 }] = r.terms.as_slice()
            && let &[atom] = atoms.as_slice()
        {
            match (self.a.op(atom), self.a.src(atom)) {
                // (y / b + k) / c = (y + k * b) / (b * c)
                (Op::IndexDiv, &[y, b]) => {
                    let (b, y) = (self.of(b), self.of(y));
                    let whole = b.scaled(r.constant).and_then(|kb| y.plus(&kb, 1, self.a));
                    if let (Some(whole), Some(d)) = (whole, b.scaled(c)) {
                        let (whole, d) = (self.make(whole), self.make(d));
                        return self.div(whole, d);
                    }
                }
                // y % m / c = y / c % (m / c)
                (Op::IndexMod, &[y, m]) if r.constant == 0 => {
                    if let Some(m) = self.of(m).as_constant().filter(|m| m % c == 0) {
                        let (d, modulus) = (self.a.index(c), self.a.index(m / c));
                        let q = self.div(y, d);
                        return self.rem(q, modulus);
                    }
                }
                _ => {}
            }
        }
        let (r, c) = (self.make(r), self.a.index(c));
        self.plain(Op::IndexDiv, r, c)
    }
    fn rem_by_number(&mut self, sum: Sum, c: i64) -> UOp {
        if let Some(r) = self.within(&sum, c) {
            return r;
        }
        // k * (y % m) is k * y where c divides k * m.
        let mut flat = Sum::constant(sum.constant);
        for t in &sum.terms {
            let plain = self.without_moduli(t, c);
            match flat.plus(&plain, 1, self.a) {
                Some(longer) => flat = longer,
                None => {
                    flat = sum.clone();
                    break;
                }
            }
        }
        let (_, r) = Index::whole_parts(&flat, c);
        if let Some(r) = self.within(&r, c) {
            return r;
        }
        if let Some((g, high, low)) = self.factored(&r, c) {
            let (high, d) = (self.make(high), self.a.index(c / g));
            let high = self.rem(high, d);
            let high = self.of(high);
            if let Some(sum) = low.plus(&high, g, self.a) {
                return self.make(sum);
            }
        }
        let (r, c) = (self.make(r), self.a.index(c));
        self.plain(Op::IndexMod, r, c)
    }
    /// The remainder of a sum whose values all have the same quotient.
    fn within(&mut self, sum: &Sum, c: i64) -> Option<UOp> {
        let q = self.only_quotient(sum, c)?;
        let r = sum.plus(&Sum::constant(q), c.checked_neg()?, self.a)?;
        Some(self.make(r))
    }
    /// A term modulo `c`, without remainders in it that change nothing.
    fn without_moduli(&self, t: &Term, c: i64) -> Sum {
        if let &[atom] = t.atoms.as_slice()
            && let (Op::IndexMod, &[y, m]) = (self.a.op(atom), self.a.src(atom))
            && let Some(m) = self.of(m).as_constant()
            && i128::from(t.by) * i128::from(m) % i128::from(c) == 0
            && let Some(y) = self.of(y).scaled(t.by % c)
        {
            return y;
        }
        Sum::term(t.clone())
    }
    /// `q, r` so that the sum is `q * divisor + r`, as far as terms can be divided.
    fn parts(&self, sum: &Sum, divisor: &Sum) -> Option<(Sum, Sum)> {
        let leading = divisor.terms.iter().max_by_key(|t| t.atoms.len())?;
        let (mut q, mut r) = (Sum::default(), sum.clone());
        for _ in 0..sum.terms.len() {
            let quotient = |t: &Term| {
                let mut left = t.without(&leading.atoms)?;
                let by = left.by.checked_div(leading.by).filter(|by| by * leading.by == t.by)?;
                left.by = by;
                Some(left)
            };
            let Some(part) = r.terms.iter().find_map(quotient).map(Sum::term) else { break };
            q = q.plus(&part, 1, self.a)?;
            r = r.plus(&part.times(divisor, self.a)?, -1, self.a)?;
        }
        Some((q, r))
    }
    /// Lies the sum from 0 to below the divisor?
    fn is_remainder(&self, sum: &Sum, divisor: &Sum) -> bool {
        self.least(sum) >= 0 && divisor.plus(sum, -1, self.a).is_some_and(|d| self.least(&d) > 0)
    }
    /// As [`Index::parts`], where the remainder is known to be one, or where the divisor is a single product.
    fn known_parts(&self, sum: &Sum, divisor: &Sum) -> Option<(Sum, Sum, bool)> {
        if self.is_remainder(sum, divisor) {
            return Some((Sum::default(), sum.clone(), true));
        }
        let (q, r) = self.parts(sum, divisor)?;
        let inside = self.is_remainder(&r, divisor);
        (inside || divisor.as_term().is_some()).then_some((q, r, inside))
    }
    fn div_by_symbol(&mut self, x: UOp, sum: Sum, d: UOp, divisor: &Sum) -> UOp {
        match self.known_parts(&sum, divisor) {
            Some((q, _, true)) => self.make(q),
            Some((q, r, false)) if q.as_constant() != Some(0) => {
                let r = self.make(r);
                let r = self.div(r, d);
                let (of_rest, q_node) = (self.of(r), self.make(q.clone()));
                match q.plus(&of_rest, 1, self.a) {
                    Some(sum) => self.make(sum),
                    None => self.a.alu(crate::uop::Alu::Add, &[q_node, r]),
                }
            }
            _ => {
                if let Some((high, _, _, rest)) = self.factored_by_symbol(&sum, divisor) {
                    let (high, rest) = (self.make(high), self.make(rest));
                    return self.div(high, rest);
                }
                if let Some(atom) = sum.as_atom()
                    && let (Op::IndexDiv, &[y, b]) = (self.a.op(atom), self.a.src(atom))
                {
                    let both = self.mul(b, d);
                    return self.div(y, both);
                }
                self.plain(Op::IndexDiv, x, d)
            }
        }
    }
    fn rem_by_symbol(&mut self, x: UOp, sum: Sum, d: UOp, divisor: &Sum) -> UOp {
        match self.known_parts(&sum, divisor) {
            Some((_, r, true)) => self.make(r),
            Some((q, r, false)) if q.as_constant() != Some(0) => {
                let r = self.make(r);
                self.rem(r, d)
            }
            _ => {
                if let Some((high, low, g, rest)) = self.factored_by_symbol(&sum, divisor) {
                    let (high, rest) = (self.make(high), self.make(rest));
                    let high = self.rem(high, rest);
                    let high = self.of(high).times(&g, self.a);
                    if let Some(sum) = high.and_then(|high| low.plus(&high, 1, self.a)) {
                        return self.make(sum);
                    }
                }
                self.plain(Op::IndexMod, x, d)
            }
        }
    }
    /// `s, r, g, d` so that the sum is `g * s + r` and the divisor `g * d`, where `r` lies from 0 to below `g`.
    fn factored_by_symbol(&self, sum: &Sum, divisor: &Sum) -> Option<(Sum, Sum, Sum, Sum)> {
        let whole = divisor.as_term()?;
        let number = Term { atoms: SmallVec::new(), by: whole.by };
        let single = |u: &UOp| Term { atoms: SmallVec::from_slice(&[*u]), by: 1 };
        let mut factors: SmallVec<[Term; 4]> = SmallVec::new();
        if whole.by > 1 {
            factors.push(number);
        }
        if whole.by > 1 || whole.atoms.len() > 1 {
            factors.extend(whole.atoms.iter().map(single));
        }
        if whole.by > 1 || whole.atoms.len() > 2 {
            factors.extend(whole.atoms.iter().filter_map(|&u| whole.without(&[u])));
        }
        for g in factors {
            let quotient = |t: &Term| {
                let mut left = t.without(&g.atoms).filter(|t| t.by % g.by == 0)?;
                left.by /= g.by;
                Some(left)
            };
            let (high, mut low) = sum.split(|t| quotient(t).is_some());
            let mut s = Sum::default();
            for t in &high.terms {
                s = s.plus(&Sum::term(quotient(t)?), 1, self.a)?;
            }
            if g.atoms.is_empty() {
                s.constant = low.constant.div_euclid(g.by);
                low.constant = low.constant.rem_euclid(g.by);
            }
            let (rest, g) = (Sum::term(quotient(whole)?), Sum::term(g));
            if !high.terms.is_empty() && self.is_remainder(&low, &g) {
                return Some((s, low, g, rest));
            }
        }
        None
    }
}

/// The greatest common divisor, of which the second is positive.
pub(super) fn gcd(x: i64, y: i64) -> i64 {
    let (mut x, mut y) = (x.unsigned_abs(), y.unsigned_abs());
    while x != 0 {
        (x, y) = (y % x, x);
    }
    i64::try_from(y).unwrap_or(1)
}
