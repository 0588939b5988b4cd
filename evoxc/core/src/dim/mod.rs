//! Integer expressions over named extents.
//!
//! A [`Dim`] is a handle to an interned expression in normal form, so that
//! equal expressions are the same handle. The normal form is a polynomial
//! with integer coefficients whose atoms are symbols, floor divisions,
//! minima and maxima; see `norm` for how it is reached.

mod fold;
mod norm;
mod parse;
mod print;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::hash::Hash;
use std::ops::{Add, Div, Mul, Neg, Rem, Sub};
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use rustc_hash::FxHashMap;

pub use fold::DimStep;
use norm::{Atom, Bounds, Fail, Mono, Poly};

/// An integer expression: the extent of an axis, a slice bound or a padding.
///
/// A `Dim` is a constant or an expression over named symbols (see [`dim`]),
/// which stand for unknown extents that are at least zero. It is `Copy`, and
/// two expressions that normalise to the same polynomial compare equal.
///
/// Division rounds towards negative infinity and `%` is its remainder, so
/// that `a == b * (a / b) + a % b` holds. A divisor is assumed not to be zero
/// when an expression is simplified: `B / B` is `1`.
///
/// Nothing here panics. Division by a constant zero, overflow of 64 bits and
/// oversized expressions give a *poison*, which remembers its [`DimError`]
/// and passes through every operation; [`Dim::checked`] turns it into a
/// `Result`.
///
/// ```
/// use evoxc::{Dim, dim};
///
/// let b = dim("B");
/// let rows = 2 * b + 1;
/// assert_eq!(rows, b + b + 1);
/// assert_eq!(rows.to_string(), "2*B + 1");
/// assert_eq!((rows / 2).to_string(), "B");
/// assert_eq!(rows.evaluate(&mut |_| Some(4)), Ok(9));
/// assert_eq!(rows.solve(9), Some((b, 4)));
/// assert_eq!(Dim::parse("1 + B*2"), Ok(rows));
/// assert!((b / 0).is_poison());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dim(
    // Bit 0 set: the constant `value >> 1`. Else bit 1 tells a poison and
    // the bits above are the index of a node.
    i64,
);

/// A named symbol: an extent that is not known yet and is at least zero.
///
/// The name must be an identifier, `[A-Za-z_][A-Za-z0-9_]*`; any other name
/// gives a poison with [`DimError::BadName`]. The same name is the same
/// symbol.
///
/// ```
/// use evoxc::dim;
///
/// let (b, t) = (dim("B"), dim("T"));
/// assert_eq!(b * t, t * b);
/// assert_eq!((b * t).to_string(), "B*T");
/// assert_ne!(b, t);
/// assert!(dim("not a name").is_poison());
/// ```
pub fn dim(name: &str) -> Dim {
    if !is_name(name) {
        return Dim::poison(DimError::BadName(name.to_owned()));
    }
    symbol(&Arc::from(name))
}

fn symbol(name: &Arc<str>) -> Dim {
    finish(Poly::atom(Atom::Symbol(name.clone()))).unwrap_or_else(|_| Dim::poison(DimError::TooLarge))
}

fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Why an expression over extents has no value.
///
/// ```
/// use evoxc::{DimError, dim};
///
/// let error = (dim("B") / 0).error().unwrap();
/// assert!(matches!(error, DimError::DivisionByZero { .. }));
/// assert_eq!(error.to_string(), "division by zero in `B / 0`");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum DimError {
    /// A division or remainder by zero.
    #[error("division by zero in `{expr}`")]
    DivisionByZero {
        /// The expression, in text.
        expr: String,
    },
    /// A value or coefficient does not fit 64 bits.
    #[error("`{expr}` does not fit 64 bits")]
    Overflow {
        /// The expression, in text.
        expr: String,
    },
    /// Divisions, minima and maxima are nested too deeply.
    #[error("the expression is nested too deeply")]
    TooDeep,
    /// The expression has too many terms, or too high a degree.
    #[error("the expression is too large")]
    TooLarge,
    /// The name of a symbol is not an identifier.
    #[error("`{0}` is not a name: expected a letter or `_`, then letters, digits or `_`")]
    BadName(
        /// The name as given.
        String,
    ),
    /// A text is not an expression.
    #[error("cannot read `{text}` as an extent: expected {expected} at byte {at}")]
    Parse {
        /// The text as given.
        text: String,
        /// The byte offset of the error.
        at: usize,
        /// What the text should have there.
        expected: String,
    },
    /// A symbol has no value.
    #[error("the extent `{symbol}` has no value")]
    Unbound {
        /// The name of the symbol.
        symbol: String,
    },
}

/// What can stand where an extent is expected: integers and [`Dim`]s.
///
/// ```
/// use evoxc::{Dim, DimLike, dim};
///
/// fn twice(extent: impl DimLike) -> Dim {
///     extent.to_dim() * 2
/// }
/// assert_eq!(twice(3), 6);
/// assert_eq!(twice(&dim("B")), dim("B") * 2);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an extent of a shape",
    label = "expected an integer or a `Dim`"
)]
pub trait DimLike: Copy {
    /// The extent as a [`Dim`].
    fn to_dim(self) -> Dim;
}

impl DimLike for Dim {
    fn to_dim(self) -> Dim {
        self
    }
}

impl<T: DimLike> DimLike for &T {
    fn to_dim(self) -> Dim {
        (*self).to_dim()
    }
}

macro_rules! integers {
    ($($int:ty),*) => {$(
        impl DimLike for $int {
            fn to_dim(self) -> Dim {
                match i64::try_from(self) {
                    Ok(v) => Dim::constant(v),
                    Err(_) => Dim::poison(DimError::Overflow { expr: self.to_string() }),
                }
            }
        }

        impl PartialEq<$int> for Dim {
            fn eq(&self, other: &$int) -> bool {
                self.as_i64().is_some_and(|v| i64::try_from(*other) == Ok(v))
            }
        }
    )*};
}

integers!(i32, i64, isize, usize, u32, u64);

macro_rules! operators {
    ($($op:ident :: $method:ident => $apply:expr;)*) => {$(
        impl<R: DimLike> $op<R> for Dim {
            type Output = Dim;

            fn $method(self, other: R) -> Dim {
                apply($apply, self, other.to_dim())
            }
        }

        impl $op<Dim> for usize {
            type Output = Dim;

            fn $method(self, other: Dim) -> Dim {
                apply($apply, self.to_dim(), other)
            }
        }
    )*};
}

operators! {
    Add::add => Op::Add;
    Sub::sub => Op::Sub;
    Mul::mul => Op::Mul;
    Div::div => Op::Div;
    Rem::rem => Op::Rem;
}

impl Neg for Dim {
    type Output = Dim;

    fn neg(self) -> Dim {
        apply(Op::Sub, Dim::constant(0), self)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Min,
    Max,
}

fn apply(op: Op, a: Dim, b: Dim) -> Dim {
    if a.is_poison() {
        return a;
    }
    if b.is_poison() {
        return b;
    }
    if matches!(op, Op::Div | Op::Rem) && b == 0 {
        return Dim::poison(DimError::DivisionByZero { expr: print::describe(op, a, b) });
    }
    let result = match (a.as_i64(), b.as_i64()) {
        (Some(x), Some(y)) => {
            let (x, y) = (i128::from(x), i128::from(y));
            // Neither product nor sum of 64 bits leaves 128 bits.
            let v = match op {
                Op::Add => x + y,
                Op::Sub => x - y,
                Op::Mul => x * y,
                Op::Div => norm::floor(x, y),
                Op::Rem => x - y * norm::floor(x, y),
                Op::Min => x.min(y),
                Op::Max => x.max(y),
            };
            i64::try_from(v).map(Dim::constant).map_err(|_| Fail::Overflow)
        }
        _ => apply_symbolic(op, a, b),
    };
    result.unwrap_or_else(|fail| {
        Dim::poison(match fail {
            Fail::Overflow => DimError::Overflow { expr: print::describe(op, a, b) },
            Fail::TooLarge => DimError::TooLarge,
            Fail::TooDeep => DimError::TooDeep,
        })
    })
}

fn apply_symbolic(op: Op, a: Dim, b: Dim) -> Result<Dim, Fail> {
    let both = || Ok::<_, Fail>((a.poly()?, b.poly()?));
    match op {
        Op::Add | Op::Sub => {
            let (x, y) = both()?;
            finish(x.add_scaled(&y, if op == Op::Add { 1 } else { -1 })?)
        }
        Op::Mul => {
            let (x, y) = both()?;
            finish(x.mul(&y)?)
        }
        Op::Div => {
            let (x, y) = both()?;
            finish(norm::floor_div(&x, &y)?)
        }
        Op::Rem => {
            let (x, y) = both()?;
            let whole = norm::floor_div(&x, &y)?.mul(&y)?;
            finish(x.add_scaled(&whole, -1)?)
        }
        Op::Min => norm::extremum(true, &[a, b]),
        Op::Max => norm::extremum(false, &[a, b]),
    }
}

impl Dim {
    /// The constant `v`.
    pub fn constant(v: i64) -> Dim {
        let shifted = v.wrapping_shl(1);
        if shifted >> 1 == v {
            Dim(shifted | 1)
        } else {
            intern(Kind::Const(v), || Meta { depth: 0, size: 1, bounds: Bounds::exact(v) })
        }
    }

    /// A poison that remembers `err`.
    pub fn poison(err: DimError) -> Dim {
        intern(Kind::Poison(err), || Meta { depth: 0, size: 1, bounds: Bounds::ALL })
    }

    /// The value of a constant that is an extent, which is at least zero.
    pub fn get(self) -> Option<usize> {
        self.as_i64().and_then(|v| usize::try_from(v).ok())
    }

    /// The value of a constant.
    pub fn as_i64(self) -> Option<i64> {
        if self.0 & 1 == 1 {
            return Some(self.0 >> 1);
        }
        if self.0 & 2 != 0 {
            return None;
        }
        match &*self.node()?.kind {
            Kind::Const(v) => Some(*v),
            _ => None,
        }
    }

    /// Whether this is a constant.
    pub fn is_const(self) -> bool {
        self.as_i64().is_some()
    }

    /// Whether this is the result of an operation that failed.
    pub fn is_poison(self) -> bool {
        self.0 & 3 == 2
    }

    /// Why this is a poison; `None` if it is not one.
    pub fn error(self) -> Option<DimError> {
        if !self.is_poison() {
            return None;
        }
        match &*self.node()?.kind {
            Kind::Poison(err) => Some(err.clone()),
            _ => None,
        }
    }

    /// This expression, or the error if it is a poison.
    pub fn checked(self) -> Result<Dim, DimError> {
        match self.error() {
            Some(err) => Err(err),
            None => Ok(self),
        }
    }

    /// The lesser of two extents.
    pub fn min(self, o: impl DimLike) -> Dim {
        apply(Op::Min, self, o.to_dim())
    }

    /// The greater of two extents.
    pub fn max(self, o: impl DimLike) -> Dim {
        apply(Op::Max, self, o.to_dim())
    }

    /// Appends the distinct symbols of this expression in the order of their
    /// names, leaving out those that `out` has already.
    pub fn symbols(self, out: &mut Vec<Dim>) {
        let mut names = BTreeSet::new();
        self.collect(&mut names);
        for name in &names {
            let s = symbol(name);
            if !out.contains(&s) {
                out.push(s);
            }
        }
    }

    fn collect(self, names: &mut BTreeSet<Arc<str>>) {
        self.for_atoms(&mut |atom| match atom {
            Atom::Symbol(name) => {
                names.insert(name.clone());
            }
            _ => atom.children().iter().for_each(|d| d.collect(names)),
        });
    }

    fn for_atoms(self, f: &mut dyn FnMut(&Atom)) {
        let Some(node) = self.node() else { return };
        if let Kind::Poly(p) = &*node.kind {
            for (mono, _) in &p.terms {
                mono.0.iter().for_each(|(atom, _)| f(atom));
            }
        }
    }

    /// The name, if this is exactly one symbol.
    pub fn symbol_name(self) -> Option<Arc<str>> {
        match &*self.node()?.kind {
            Kind::Poly(p) => match p.as_atom() {
                Some(Atom::Symbol(name)) => Some(name.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// The value of this expression where `lookup` gives those of its
    /// symbols.
    ///
    /// # Errors
    ///
    /// [`DimError::Unbound`] for a symbol without a value, division by zero,
    /// overflow, and the error of a poison.
    pub fn evaluate(self, lookup: &mut dyn FnMut(Dim) -> Option<i64>) -> Result<i64, DimError> {
        if let Some(v) = self.as_i64() {
            return Ok(v);
        }
        if let Some(err) = self.error() {
            return Err(err);
        }
        let overflow = || DimError::Overflow { expr: print::shortened(self) };
        let poly = self.poly().map_err(|_| overflow())?;
        let mut sum = 0i128;
        for (mono, coef) in &poly.terms {
            let mut product = i128::from(*coef);
            for (atom, power) in &mono.0 {
                let v = i128::from(self.evaluate_atom(atom, lookup)?);
                let v = v.checked_pow(*power).ok_or_else(overflow)?;
                product = product.checked_mul(v).ok_or_else(overflow)?;
            }
            sum = sum.checked_add(product).ok_or_else(overflow)?;
        }
        i64::try_from(sum).map_err(|_| overflow())
    }

    fn evaluate_atom(self, atom: &Atom, lookup: &mut dyn FnMut(Dim) -> Option<i64>) -> Result<i64, DimError> {
        match atom {
            Atom::Symbol(name) => lookup(symbol(name)).ok_or_else(|| DimError::Unbound { symbol: name.to_string() }),
            Atom::Div(n, d) => {
                let (x, y) = (n.evaluate(lookup)?, d.evaluate(lookup)?);
                let expr = || print::describe(Op::Div, *n, *d);
                if y == 0 {
                    return Err(DimError::DivisionByZero { expr: expr() });
                }
                i64::try_from(norm::floor(x.into(), y.into())).map_err(|_| DimError::Overflow { expr: expr() })
            }
            Atom::Min(list) | Atom::Max(list) => {
                let mut best = None;
                for d in list.iter() {
                    let v = d.evaluate(lookup)?;
                    best = Some(match (best, atom) {
                        (None, _) => v,
                        (Some(b), Atom::Min(_)) => v.min(b),
                        (Some(b), _) => v.max(b),
                    });
                }
                Ok(best.unwrap_or(0))
            }
        }
    }

    /// This expression with symbols replaced: `lookup` gives the replacement
    /// of a symbol, or `None` to keep it.
    pub fn substitute(self, lookup: &mut dyn FnMut(Dim) -> Option<Dim>) -> Dim {
        self.replace(lookup, &mut FxHashMap::default())
    }

    fn replace(self, lookup: &mut dyn FnMut(Dim) -> Option<Dim>, done: &mut FxHashMap<Dim, Dim>) -> Dim {
        if self.is_const() || self.is_poison() {
            return self;
        }
        if let Some(&d) = done.get(&self) {
            return d;
        }
        let Ok(poly) = self.poly() else { return self };
        let mut sum = Dim::constant(0);
        for (mono, coef) in &poly.terms {
            let mut product = Dim::constant(*coef);
            for (atom, power) in &mono.0 {
                let mut new = |d: Dim| d.replace(lookup, done);
                let value = match atom {
                    Atom::Symbol(name) => {
                        let s = symbol(name);
                        match done.get(&s) {
                            Some(&d) => d,
                            None => {
                                let d = lookup(s).unwrap_or(s);
                                done.insert(s, d);
                                d
                            }
                        }
                    }
                    Atom::Div(n, d) => {
                        let n = new(*n);
                        n / new(*d)
                    }
                    Atom::Min(list) => fold(list.iter().map(|&d| new(d)), Op::Min),
                    Atom::Max(list) => fold(list.iter().map(|&d| new(d)), Op::Max),
                };
                for _ in 0..*power {
                    product = product * value;
                }
            }
            sum = sum + product;
        }
        done.insert(self, sum);
        sum
    }

    /// The symbol and its value if this is `a*S + c` with one symbol `S` and
    /// `value` is reached exactly by an extent `S` of at least zero.
    pub fn solve(self, value: i64) -> Option<(Dim, i64)> {
        if self.is_poison() || self.is_const() {
            return None;
        }
        let poly = self.poly().ok()?;
        let (mono, a) = poly.terms.first()?;
        let name = match mono.0.as_slice() {
            [(Atom::Symbol(name), 1)] => name,
            _ => return None,
        };
        let c = match &poly.terms[1..] {
            [] => 0,
            [(mono, c)] if mono.0.is_empty() => *c,
            _ => return None,
        };
        let (gap, a) = (i128::from(value) - i128::from(c), i128::from(*a));
        if gap % a != 0 {
            return None;
        }
        let v = i64::try_from(gap / a).ok().filter(|v| *v >= 0)?;
        Some((symbol(name), v))
    }

    /// A value that this expression is never below, if one is known, where
    /// every symbol is at least zero.
    pub fn lower_bound(self) -> Option<i64> {
        i64::try_from(self.bounds().lo).ok()
    }

    /// A value that this expression is never above, if one is known, where
    /// every symbol is at least zero.
    pub fn upper_bound(self) -> Option<i64> {
        i64::try_from(self.bounds().hi).ok()
    }

    /// Reads what `Display` writes: integers, names, `+ - * / %`, `^` with a
    /// constant power, `min(..)`, `max(..)` and parentheses.
    ///
    /// # Errors
    ///
    /// [`DimError::Parse`] for a text that is no expression, or the error of
    /// the poison that the text evaluates to.
    pub fn parse(text: &str) -> Result<Dim, DimError> {
        parse::parse(text)
    }

    /// Compares by structure: the order depends on the expressions alone,
    /// not on the process or on which was made first. Names come in order,
    /// constants after them.
    pub fn cmp_structural(self, o: Dim) -> Ordering {
        if self == o {
            return Ordering::Equal;
        }
        let key = |d: Dim| (d.is_poison(), d.is_const());
        let (x, y) = (key(self), key(o));
        if x != y {
            return x.cmp(&y);
        }
        if let (Some(x), Some(y)) = (self.as_i64(), o.as_i64()) {
            return x.cmp(&y);
        }
        match (self.node(), o.node()) {
            (Some(x), Some(y)) => match (&*x.kind, &*y.kind) {
                (Kind::Poly(x), Kind::Poly(y)) => x.compare(y),
                (Kind::Poison(x), Kind::Poison(y)) => x.to_string().cmp(&y.to_string()).then_with(|| {
                    let (x, y) = (format!("{x:?}"), format!("{y:?}"));
                    x.cmp(&y)
                }),
                _ => Ordering::Equal,
            },
            _ => Ordering::Equal,
        }
    }

    fn bounds(self) -> Bounds {
        match self.as_i64() {
            Some(v) => Bounds::exact(v),
            None => self.node().map_or(Bounds::ALL, |n| n.meta.bounds),
        }
    }

    fn depth(self) -> u32 {
        self.node().map_or(0, |n| n.meta.depth)
    }

    fn size(self) -> u32 {
        self.node().map_or(1, |n| n.meta.size)
    }

    /// The polynomial; of a poison there is none.
    fn poly(self) -> Result<Poly, Fail> {
        if let Some(v) = self.as_i64() {
            return Poly::constant(v);
        }
        match self.node().as_ref().map(|n| &*n.kind) {
            Some(Kind::Poly(p)) => Ok(p.clone()),
            _ => Err(Fail::Overflow),
        }
    }

    fn node(self) -> Option<Node> {
        if self.0 & 1 == 1 {
            return None;
        }
        let nodes = INTERNER.read().unwrap_or_else(PoisonError::into_inner);
        nodes.nodes.get((self.0 >> 2) as usize).cloned()
    }
}

fn fold(values: impl Iterator<Item = Dim>, op: Op) -> Dim {
    values.reduce(|a, b| apply(op, a, b)).unwrap_or(Dim::constant(0))
}

#[derive(PartialEq, Eq, Hash)]
enum Kind {
    /// A constant too large for a handle.
    Const(i64),
    /// Never a constant.
    Poly(Poly),
    Poison(DimError),
}

#[derive(Clone, Copy)]
struct Meta {
    /// How deep atoms are nested.
    depth: u32,
    /// The size of the expression written out as a tree.
    size: u32,
    bounds: Bounds,
}

#[derive(Clone)]
struct Node {
    kind: Arc<Kind>,
    meta: Meta,
}

#[derive(Default)]
struct Interner {
    ids: FxHashMap<Arc<Kind>, i64>,
    nodes: Vec<Node>,
}

static INTERNER: LazyLock<RwLock<Interner>> = LazyLock::new(RwLock::default);

/// The handle of `kind`; `meta` runs without the lock, only for a new node.
fn intern(kind: Kind, meta: impl FnOnce() -> Meta) -> Dim {
    {
        let interner = INTERNER.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(&id) = interner.ids.get(&kind) {
            return Dim(id);
        }
    }
    let meta = meta();
    let mut interner = INTERNER.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(&id) = interner.ids.get(&kind) {
        return Dim(id);
    }
    let tag = if matches!(kind, Kind::Poison(_)) { 2 } else { 0 };
    let id = ((interner.nodes.len() as i64) << 2) | tag;
    let kind = Arc::new(kind);
    interner.ids.insert(kind.clone(), id);
    interner.nodes.push(Node { kind, meta });
    Dim(id)
}

/// The handle of a polynomial, if it is within the limits.
fn finish(poly: Poly) -> Result<Dim, Fail> {
    match poly.terms.as_slice() {
        [] => return Ok(Dim::constant(0)),
        [(Mono(factors), c)] if factors.is_empty() => return Ok(Dim::constant(*c)),
        _ => {}
    }
    let (depth, size) = poly.measure()?;
    let bounds = poly.clone();
    Ok(intern(Kind::Poly(poly), || Meta { depth, size, bounds: norm::bounds(&bounds) }))
}
