//! The normal form: polynomials over atoms, and the rules that reach it.

use std::cmp::Ordering;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Dim, Kind, finish};

const MAX_DEPTH: u32 = 64;
const MAX_TERMS: usize = 512;
const MAX_DEGREE: u32 = 32;
const MAX_SIZE: u32 = 8192;
const MAX_MEMBERS: usize = 64;
/// Steps of a polynomial division before it is given up.
const MAX_STEPS: usize = 1024;
/// Polynomials longer than this are not searched for remainders.
const MAX_SPLIT: usize = 64;
/// Rounds of simplification of a quotient.
const MAX_ROUNDS: usize = 64;

/// Why a normal form was not reached.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fail {
    Overflow,
    TooLarge,
    TooDeep,
}

/// What a polynomial is made of.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Atom {
    Symbol(Arc<str>),
    /// A floor division that does not simplify.
    Div(Dim, Dim),
    /// At least two members, in structural order.
    Min(Arc<[Dim]>),
    Max(Arc<[Dim]>),
}

impl Atom {
    pub(super) fn children(&self) -> Vec<Dim> {
        match self {
            Atom::Symbol(_) => Vec::new(),
            Atom::Div(n, d) => vec![*n, *d],
            Atom::Min(list) | Atom::Max(list) => list.to_vec(),
        }
    }

    fn compare(&self, o: &Atom) -> Ordering {
        let rank = |a: &Atom| match a {
            Atom::Symbol(_) => 0,
            Atom::Div(..) => 1,
            Atom::Min(_) => 2,
            Atom::Max(_) => 3,
        };
        match (self, o) {
            (Atom::Symbol(a), Atom::Symbol(b)) => a.cmp(b),
            (Atom::Div(a, b), Atom::Div(c, d)) => a.cmp_structural(*c).then_with(|| b.cmp_structural(*d)),
            (Atom::Min(a), Atom::Min(b)) | (Atom::Max(a), Atom::Max(b)) => {
                let each = a.iter().zip(b.iter()).map(|(x, y)| x.cmp_structural(*y));
                let first = each.into_iter().find(|c| c.is_ne());
                first.unwrap_or_else(|| a.len().cmp(&b.len()))
            }
            _ => rank(self).cmp(&rank(o)),
        }
    }

    fn bounds(&self) -> Bounds {
        match self {
            Atom::Symbol(_) => Bounds { lo: 0, hi: Bounds::ALL.hi },
            Atom::Div(n, d) => n.bounds().floor_div(d.bounds()),
            Atom::Min(list) => list
                .iter()
                .map(|d| d.bounds())
                .reduce(|a, b| Bounds { lo: a.lo.min(b.lo), hi: a.hi.min(b.hi) })
                .unwrap_or(Bounds::ALL),
            Atom::Max(list) => list
                .iter()
                .map(|d| d.bounds())
                .reduce(|a, b| Bounds { lo: a.lo.max(b.lo), hi: a.hi.max(b.hi) })
                .unwrap_or(Bounds::ALL),
        }
    }
}

/// A product of powers, in the order of the atoms.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Mono(pub(super) Vec<(Atom, u32)>);

impl Mono {
    fn degree(&self) -> u32 {
        self.0.iter().map(|(_, p)| *p).sum()
    }

    /// By degree, then lexicographically: an order that products preserve,
    /// which polynomial division needs.
    fn compare(&self, o: &Mono) -> Ordering {
        self.degree().cmp(&o.degree()).then_with(|| {
            for ((a, p), (b, q)) in self.0.iter().zip(&o.0) {
                if a != b {
                    return b.compare(a);
                }
                if p != q {
                    return p.cmp(q);
                }
            }
            self.0.len().cmp(&o.0.len())
        })
    }

    fn mul(&self, o: &Mono) -> Result<Mono, Fail> {
        if self.degree() + o.degree() > MAX_DEGREE {
            return Err(Fail::TooLarge);
        }
        let mut out = Vec::with_capacity(self.0.len() + o.0.len());
        let (mut i, mut j) = (0, 0);
        while i < self.0.len() && j < o.0.len() {
            let ((a, p), (b, q)) = (&self.0[i], &o.0[j]);
            let order = if a == b { Ordering::Equal } else { a.compare(b) };
            match order {
                Ordering::Less => out.push((a.clone(), *p)),
                Ordering::Greater => out.push((b.clone(), *q)),
                Ordering::Equal => out.push((a.clone(), p + q)),
            }
            i += usize::from(order.is_le());
            j += usize::from(order.is_ge());
        }
        out.extend_from_slice(&self.0[i..]);
        out.extend_from_slice(&o.0[j..]);
        Ok(Mono(out))
    }

    fn power_of(&self, atom: &Atom) -> u32 {
        self.0.iter().find(|(a, _)| a == atom).map_or(0, |f| f.1)
    }

    /// `self / o` where `o` divides it.
    fn divide(&self, o: &Mono) -> Option<Mono> {
        if o.0.iter().any(|(a, p)| self.power_of(a) < *p) {
            return None;
        }
        let left = |(a, p): &(Atom, u32)| (a.clone(), p - o.power_of(a));
        Some(Mono(self.0.iter().map(left).filter(|(_, p)| *p > 0).collect()))
    }

    /// The greatest common divisor.
    fn common(&self, o: &Mono) -> Mono {
        let both = |(a, p): &(Atom, u32)| (a.clone(), (*p).min(o.power_of(a)));
        Mono(self.0.iter().map(both).filter(|(_, p)| *p > 0).collect())
    }

    fn bounds(&self) -> Bounds {
        let mut out = Bounds::exact(1);
        for (atom, power) in &self.0 {
            let b = atom.bounds();
            let mut all = Bounds::exact(1);
            for _ in 0..*power {
                all = all.mul(b);
            }
            if power % 2 == 0 {
                all.lo = all.lo.max(0);
            }
            out = out.mul(all);
        }
        out
    }
}

/// A sum of terms, the greatest monomial first, with coefficients that are
/// neither zero nor `i64::MIN` (so that all can be negated).
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Poly {
    pub(super) terms: Vec<(Mono, i64)>,
}

impl Poly {
    pub(super) fn constant(v: i64) -> Result<Poly, Fail> {
        Poly::term(Mono::default(), v)
    }

    fn term(mono: Mono, coef: i64) -> Result<Poly, Fail> {
        let coef = narrow(i128::from(coef))?;
        Ok(Poly { terms: if coef == 0 { Vec::new() } else { vec![(mono, coef)] } })
    }

    pub(super) fn atom(atom: Atom) -> Poly {
        Poly { terms: vec![(Mono(vec![(atom, 1)]), 1)] }
    }

    fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// The atom that this polynomial is, if it is just one.
    pub(super) fn as_atom(&self) -> Option<&Atom> {
        match self.terms.as_slice() {
            [(Mono(factors), 1)] => match factors.as_slice() {
                [(atom, 1)] => Some(atom),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn as_const(&self) -> Option<i64> {
        match self.terms.as_slice() {
            [] => Some(0),
            [(Mono(factors), c)] if factors.is_empty() => Some(*c),
            _ => None,
        }
    }

    pub(super) fn compare(&self, o: &Poly) -> Ordering {
        for ((m, c), (n, d)) in self.terms.iter().zip(&o.terms) {
            let order = n.compare(m).then(c.cmp(d));
            if order.is_ne() {
                return order;
            }
        }
        self.terms.len().cmp(&o.terms.len())
    }

    /// `self + k * o`.
    pub(super) fn add_scaled(&self, o: &Poly, k: i64) -> Result<Poly, Fail> {
        let mut terms = Vec::with_capacity(self.terms.len() + o.terms.len());
        let (mut i, mut j) = (0, 0);
        let scaled = |c: i64| i128::from(c) * i128::from(k);
        while i < self.terms.len() || j < o.terms.len() {
            let order = match (self.terms.get(i), o.terms.get(j)) {
                (Some(_), None) => Ordering::Greater,
                (None, _) => Ordering::Less,
                (Some((m, _)), Some((n, _))) if m == n => Ordering::Equal,
                (Some((m, _)), Some((n, _))) => m.compare(n),
            };
            let (mono, coef) = match order {
                Ordering::Greater => (&self.terms[i].0, i128::from(self.terms[i].1)),
                Ordering::Less => (&o.terms[j].0, scaled(o.terms[j].1)),
                Ordering::Equal => (&o.terms[j].0, i128::from(self.terms[i].1) + scaled(o.terms[j].1)),
            };
            let coef = narrow(coef)?;
            if coef != 0 {
                terms.push((mono.clone(), coef));
            }
            i += usize::from(order.is_ge());
            j += usize::from(order.is_le());
        }
        if terms.len() > MAX_TERMS {
            return Err(Fail::TooLarge);
        }
        Ok(Poly { terms })
    }

    pub(super) fn mul(&self, o: &Poly) -> Result<Poly, Fail> {
        let mut sums: FxHashMap<Mono, i128> = FxHashMap::default();
        for (m, c) in &self.terms {
            for (n, d) in &o.terms {
                let sum = sums.entry(m.mul(n)?).or_insert(0);
                let product = i128::from(*c) * i128::from(*d);
                *sum = sum.checked_add(product).ok_or(Fail::Overflow)?;
            }
            if sums.len() > 8 * MAX_TERMS {
                return Err(Fail::TooLarge);
            }
        }
        sums.retain(|_, c| *c != 0);
        if sums.len() > MAX_TERMS {
            return Err(Fail::TooLarge);
        }
        let mut terms = Vec::with_capacity(sums.len());
        for (m, c) in sums {
            terms.push((m, narrow(c)?));
        }
        terms.sort_unstable_by(|(m, _), (n, _)| n.compare(m));
        Ok(Poly { terms })
    }

    fn scale(&self, k: i64) -> Result<Poly, Fail> {
        Poly::default().add_scaled(self, k)
    }

    /// The depth and the size as a tree, if within the limits.
    pub(super) fn measure(&self) -> Result<(u32, u32), Fail> {
        let (mut depth, mut size) = (0u32, 1u32);
        for (mono, _) in &self.terms {
            size = size.saturating_add(1);
            for (atom, _) in &mono.0 {
                size = size.saturating_add(1);
                depth = depth.max(1);
                for d in atom.children() {
                    depth = depth.max(d.depth() + 1);
                    size = size.saturating_add(d.size());
                }
            }
        }
        if depth > MAX_DEPTH {
            return Err(Fail::TooDeep);
        }
        if size > MAX_SIZE {
            return Err(Fail::TooLarge);
        }
        Ok((depth, size))
    }

    /// The greatest common divisor of the coefficients that `pick` selects.
    fn content(&self, pick: impl Fn(&Mono) -> bool) -> u64 {
        let picked = self.terms.iter().filter(|(m, _)| pick(m));
        picked.fold(0, |g, (_, c)| gcd(g, c.unsigned_abs()))
    }

    /// Divides every coefficient, rounding down.
    fn shrink(&self, g: i64) -> Poly {
        let each = |(m, c): &(Mono, i64)| (m.clone(), c.div_euclid(g));
        Poly { terms: self.terms.iter().map(each).filter(|(_, c)| *c != 0).collect() }
    }

    fn divide_mono(&self, m: &Mono) -> Poly {
        let each = |(n, c): &(Mono, i64)| n.divide(m).map(|n| (n, *c));
        Poly { terms: self.terms.iter().filter_map(each).collect() }
    }
}

fn narrow(v: i128) -> Result<i64, Fail> {
    match i64::try_from(v) {
        Ok(i64::MIN) | Err(_) => Err(Fail::Overflow),
        Ok(v) => Ok(v),
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// `a / b`, rounded towards negative infinity.
pub(super) fn floor(a: i128, b: i128) -> i128 {
    let q = a / b;
    if a % b != 0 && (a < 0) != (b < 0) { q - 1 } else { q }
}

/// An interval; the extremes of `i128` stand for no bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub(super) lo: i128,
    pub(super) hi: i128,
}

impl Bounds {
    pub(super) const ALL: Bounds = Bounds { lo: i128::MIN, hi: i128::MAX };

    pub(super) fn exact(v: i64) -> Bounds {
        Bounds { lo: v.into(), hi: v.into() }
    }

    fn add(self, o: Bounds) -> Bounds {
        let none = |a, b, v| a == v || b == v;
        Bounds {
            lo: if none(self.lo, o.lo, i128::MIN) { i128::MIN } else { self.lo.saturating_add(o.lo) },
            hi: if none(self.hi, o.hi, i128::MAX) { i128::MAX } else { self.hi.saturating_add(o.hi) },
        }
    }

    fn mul(self, o: Bounds) -> Bounds {
        // Saturation keeps the extremes, and zero times no bound is zero.
        let all = [
            self.lo.saturating_mul(o.lo),
            self.lo.saturating_mul(o.hi),
            self.hi.saturating_mul(o.lo),
            self.hi.saturating_mul(o.hi),
        ];
        let wide = |v: i128| {
            if v == i128::MIN + 1 { i128::MIN } else { v }
        };
        Bounds {
            lo: all.iter().copied().map(wide).min().unwrap_or(i128::MIN),
            hi: all.iter().copied().max().unwrap_or(i128::MAX),
        }
    }

    fn floor_div(self, d: Bounds) -> Bounds {
        if d.lo < 0 {
            return Bounds::ALL;
        }
        // A divisor is not zero.
        let least = d.lo.max(1);
        let most = d.hi.max(least);
        let unlimited = most == i128::MAX;
        Bounds {
            lo: match self.lo {
                i128::MIN => i128::MIN,
                lo if lo >= 0 && unlimited => 0,
                lo if lo >= 0 => lo / most,
                lo => floor(lo, least),
            },
            hi: match self.hi {
                i128::MAX => i128::MAX,
                hi if hi >= 0 => hi / least,
                _ if unlimited => -1,
                hi => floor(hi, most),
            },
        }
    }

    fn meet(self, o: Bounds) -> Bounds {
        Bounds { lo: self.lo.max(o.lo), hi: self.hi.min(o.hi) }
    }
}

fn sum_bounds(p: &Poly) -> Bounds {
    let each = |(m, c): &(Mono, i64)| m.bounds().mul(Bounds::exact(*c));
    p.terms.iter().map(each).fold(Bounds::exact(0), |a, b| a.add(b))
}

/// Bounds of a polynomial where symbols are at least zero.
pub(super) fn bounds(p: &Poly) -> Bounds {
    let direct = sum_bounds(p);
    let split = split(p);
    if split.remainders.is_empty() {
        return direct;
    }
    let mut out = sum_bounds(&split.rest);
    for r in &split.remainders {
        let (n, d) = (r.n.bounds(), r.d.bounds());
        let mut b = Bounds::ALL;
        if d.lo >= 0 {
            b.lo = 0;
            if d.hi != i128::MAX {
                b.hi = d.hi.max(1) - 1;
            }
            if n.lo >= 0 {
                b.hi = b.hi.min(n.hi);
            }
        }
        out = out.add(b.mul(r.mono.bounds()).mul(Bounds::exact(r.coef)));
    }
    direct.meet(out)
}

/// `coef * mono * (n % d)`.
pub(super) struct Remainder {
    pub(super) mono: Mono,
    pub(super) coef: i64,
    pub(super) n: Dim,
    pub(super) d: Dim,
}

/// A polynomial with its remainders told apart.
pub(super) struct Split {
    pub(super) remainders: Vec<Remainder>,
    pub(super) rest: Poly,
}

/// Finds `k*(n % d)`, which the normal form holds as `k*n - k*d*(n/d)`.
pub(super) fn split(p: &Poly) -> Split {
    let mut out = Split { remainders: Vec::new(), rest: p.clone() };
    if p.terms.len() > MAX_SPLIT {
        return out;
    }
    let mut atoms: Vec<&Atom> = Vec::new();
    for (mono, _) in &p.terms {
        for (atom, _) in &mono.0 {
            if matches!(atom, Atom::Div(..)) && !atoms.contains(&atom) {
                atoms.push(atom);
            }
        }
    }
    for atom in atoms {
        // A failure only means that no remainder is told apart.
        let _ = split_atom(atom, &mut out);
    }
    out
}

fn split_atom(atom: &Atom, out: &mut Split) -> Result<(), Fail> {
    let Atom::Div(n, d) = atom else { return Ok(()) };
    let unit = Mono(vec![(atom.clone(), 1)]);
    let (with, without): (Vec<_>, Vec<_>) = (out.rest.terms.iter().cloned()).partition(|(m, _)| m.power_of(atom) == 1);
    let without = Poly { terms: without };
    // What the quotient is multiplied by, negated.
    let factor = Poly { terms: with }.divide_mono(&unit).scale(-1)?;
    let l1 = |p: &Poly| p.terms.iter().map(|(_, c)| c.unsigned_abs() as u128).sum();
    let accept = |rest: &Poly, count: usize| {
        let (new, old): (u128, u128) = (l1(rest), l1(&without));
        rest.terms.len() + count <= out.rest.terms.len() && new <= old
    };
    if let Some((k, r)) = divide(&factor, &d.poly()?)
        && r.is_zero()
        && !k.is_zero()
    {
        let rest = without.add_scaled(&k.mul(&n.poly()?)?, -1)?;
        if accept(&rest, k.terms.len()) {
            out.rest = rest;
            for (mono, coef) in k.terms {
                let (n, d) = (*n, *d);
                out.remainders.push(Remainder { mono, coef, n, d });
            }
            return Ok(());
        }
    }
    // `n/g - c*(n/(g*c))` is `(n/g) % c`.
    if let (Some(c), Some(d)) = (factor.as_const(), d.as_i64())
        && c.unsigned_abs() > 1
        && d.unsigned_abs() % c.unsigned_abs() == 0
        && n.depth() < 4
    {
        let inner = floor_div(&n.poly()?, &Poly::constant(d / c.abs())?)?;
        let rest = without.add_scaled(&inner, -c.signum())?;
        let modulus = Poly::constant(c.abs())?;
        let same = floor_div(&inner, &modulus)?.as_atom() == Some(atom);
        if same && accept(&rest, 1) {
            out.rest = rest;
            out.remainders.push(Remainder {
                mono: Mono::default(),
                coef: c.signum(),
                n: finish(inner)?,
                d: Dim::constant(c.abs()),
            });
        }
    }
    Ok(())
}

/// `n = q*d + r`, where no term of `r` can be reduced by the leading term of
/// `d`, whose coefficient is positive: `r` is then unique. `None` if that
/// takes too long or overflows.
fn divide(n: &Poly, d: &Poly) -> Option<(Poly, Poly)> {
    let (lead, c) = d.terms.first()?;
    let mut q = Poly::default();
    let mut r = n.clone();
    let mut at = 0;
    let mut steps = 0;
    while let Some((m, v)) = r.terms.get(at) {
        let whole = v.div_euclid(*c);
        match m.divide(lead) {
            Some(mono) if whole != 0 => {
                steps += 1;
                if steps > MAX_STEPS {
                    return None;
                }
                let step = Poly::term(mono, whole).ok()?;
                let next = r.add_scaled(&step.mul(d).ok()?, -1).ok()?;
                if next.terms.get(at).is_some_and(|(n, _)| n == m) {
                    at += 1;
                }
                r = next;
                q.terms.extend(step.terms);
            }
            _ => at += 1,
        }
    }
    Some((q, r))
}

/// The normal form of `a / b`, where `b` is not zero.
pub(super) fn floor_div(a: &Poly, b: &Poly) -> Result<Poly, Fail> {
    let (mut n, mut d) = (a.clone(), b.clone());
    let mut whole = Poly::default();
    for _ in 0..MAX_ROUNDS {
        if d.terms.first().is_some_and(|(_, c)| *c < 0) {
            (n, d) = (n.scale(-1)?, d.scale(-1)?);
        }
        if n.is_zero() {
            return Ok(whole);
        }
        cancel(&mut n, &mut d);
        if d.as_const() == Some(1) {
            return whole.add_scaled(&n, 1);
        }
        if let Some(v) = known_quotient(&n, &d) {
            return whole.add_scaled(&Poly::constant(v)?, 1);
        }
        if let Some((q, r)) = divide(&n, &d) {
            whole = whole.add_scaled(&q, 1)?;
            n = r;
        }
        if n.is_zero() {
            return Ok(whole);
        }
        if let Some(v) = known_quotient(&n, &d) {
            return whole.add_scaled(&Poly::constant(v)?, 1);
        }
        match merge(&n, &d) {
            Some((x, y)) => (n, d) = (x, y),
            None => break,
        }
    }
    let atom = Atom::Div(finish(n)?, finish(d)?);
    whole.add_scaled(&Poly::atom(atom), 1)
}

/// Cancels common factors.
fn cancel(n: &mut Poly, d: &mut Poly) {
    let mut common: Option<Mono> = None;
    for (m, _) in n.terms.iter().chain(&d.terms) {
        common = Some(match common {
            Some(c) => c.common(m),
            None => m.clone(),
        });
    }
    if let Some(common) = common.filter(|c| !c.0.is_empty()) {
        *n = n.divide_mono(&common);
        *d = d.divide_mono(&common);
    }
    let all = d.content(|_| true);
    let g = gcd(n.content(|_| true), all);
    if g > 1 {
        // A coefficient is at most `i64::MAX` in size, and so is `g`.
        *n = n.shrink(g as i64);
        *d = d.shrink(g as i64);
    }
    // floor((g*x + c) / (g*y)) is floor((x + floor(c/g)) / y) if y > 0.
    let g = gcd(n.content(|m| !m.0.is_empty()), d.content(|_| true));
    if g > 1 && bounds(d).lo >= 0 {
        *n = n.shrink(g as i64);
        *d = d.shrink(g as i64);
    }
}

/// The quotient, if the bounds leave one value.
fn known_quotient(n: &Poly, d: &Poly) -> Option<i64> {
    let (x, y) = (bounds(n), bounds(d));
    let q = x.floor_div(y);
    if q.lo == q.hi {
        return i64::try_from(q.lo).ok();
    }
    if x.lo >= 0 && y.lo >= 0 {
        let gap = d.add_scaled(n, -1).ok()?;
        if bounds(&gap).lo >= 1 {
            return Some(0);
        }
    }
    if x.hi < 0 && y.lo >= 0 && bounds(&d.add_scaled(n, 1).ok()?).lo >= 0 {
        return Some(-1);
    }
    None
}

/// `(x/y + c) / d` is `(x + y*c) / (y*d)` if `d` is positive.
fn merge(n: &Poly, d: &Poly) -> Option<(Poly, Poly)> {
    let at = n.terms.iter().position(|(m, c)| *c == 1 && matches!(m.0.as_slice(), [(Atom::Div(..), 1)]))?;
    if bounds(d).lo < 0 {
        return None;
    }
    let mut rest = n.clone();
    let (mono, _) = rest.terms.remove(at);
    let Some((Atom::Div(x, y), _)) = mono.0.first() else {
        return None;
    };
    let (x, y) = (x.poly().ok()?, y.poly().ok()?);
    let n = x.add_scaled(&rest.mul(&y).ok()?, 1).ok()?;
    let d = d.mul(&y).ok()?;
    n.measure().ok()?;
    d.measure().ok()?;
    Some((n, d))
}

/// The normal form of a minimum or maximum.
pub(super) fn extremum(min: bool, members: &[Dim]) -> Result<Dim, Fail> {
    let mut list = Vec::new();
    for &m in members {
        let node = m.node();
        let inner = match node.as_ref().map(|n| &*n.kind) {
            Some(Kind::Poly(p)) => match (p.as_atom(), min) {
                (Some(Atom::Min(l)), true) | (Some(Atom::Max(l)), false) => Some(l.clone()),
                _ => None,
            },
            _ => None,
        };
        match inner {
            Some(l) => list.extend_from_slice(&l),
            None => list.push(m),
        }
    }
    list.sort_unstable_by(|a, b| a.cmp_structural(*b));
    list.dedup();
    if list.len() > MAX_MEMBERS {
        return Err(Fail::TooLarge);
    }
    // From the end, so that of two that are always equal the first stays.
    for i in (0..list.len()).rev() {
        let dominated = |&o: &Dim| {
            let (greater, less) = if min { (list[i], o) } else { (o, list[i]) };
            o != list[i] && never_less(greater, less)
        };
        if list.iter().any(dominated) {
            list.remove(i);
        }
    }
    if let [only] = list.as_slice() {
        return Ok(*only);
    }
    let list = Arc::from(list);
    finish(Poly::atom(if min { Atom::Min(list) } else { Atom::Max(list) }))
}

/// Whether `a >= b` is known.
fn never_less(a: Dim, b: Dim) -> bool {
    let (x, y) = (a.bounds(), b.bounds());
    if x.lo != i128::MIN && y.hi != i128::MAX && x.lo >= y.hi {
        return true;
    }
    let gap = || {
        let gap = a.poly().ok()?.add_scaled(&b.poly().ok()?, -1).ok()?;
        Some(bounds(&gap).lo >= 0)
    };
    gap().unwrap_or(false)
}
