//! Double-double arithmetic: a number as the unevaluated sum of two `f64`s, good to about 2^-104.
//!
//! For the places where functions of complex numbers cancel. After T. J. Dekker, "A floating-point technique for extending
//! the available precision" (1971), and D. H. Bailey's QD library's description (Hida, Li, Bailey, 2000). Operands whose
//! products overflow or underflow are the callers' to scale.

/// The sum of two `f64`s, of which the second is at most half a unit in the last place of the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Double {
    pub(crate) hi: f64,
    pub(crate) lo: f64,
}

/// a + b, exactly.
pub(crate) fn sum(a: f64, b: f64) -> Double {
    let hi = a + b;
    let v = hi - a;
    Double { hi, lo: (a - (hi - v)) + (b - v) }
}

/// a + b, exactly, where |a| >= |b|.
fn quick(a: f64, b: f64) -> Double {
    let hi = a + b;
    Double { hi, lo: b - (hi - a) }
}

/// a * b, exactly, unless it overflows or underflows.
pub(crate) fn product(a: f64, b: f64) -> Double {
    let hi = a * b;
    Double { hi, lo: a.mul_add(b, -hi) }
}

/// The sum of a few numbers, however much they cancel: each pass leaves the sum in the last place, and what it rounded
/// off in those before. Source: T. Ogita, S. M. Rump, S. Oishi, "Accurate sum and dot product" (2005), algorithm SumK.
pub(crate) fn total<const N: usize>(mut terms: [f64; N]) -> Double {
    for _ in 1..N {
        let mut carry = 0.0;
        let mut previous: Option<&mut f64> = None;
        for t in terms.iter_mut() {
            let s = sum(carry, *t);
            if let Some(p) = previous {
                *p = s.lo;
            }
            carry = s.hi;
            previous = Some(t);
        }
        if let Some(last) = previous {
            *last = carry;
        }
    }
    let (last, rest) = (terms[N - 1], terms.iter().take(N - 1).sum::<f64>());
    sum(last, rest)
}

impl Double {
    pub(crate) fn from(hi: f64) -> Double {
        Double { hi, lo: 0.0 }
    }
    pub(crate) fn plus(self, o: Double) -> Double {
        let (s, t) = (sum(self.hi, o.hi), sum(self.lo, o.lo));
        let s = quick(s.hi, s.lo + t.hi);
        quick(s.hi, s.lo + t.lo)
    }
    pub(crate) fn minus(self, o: Double) -> Double {
        self.plus(Double { hi: -o.hi, lo: -o.lo })
    }
    pub(crate) fn times(self, o: Double) -> Double {
        let p = product(self.hi, o.hi);
        quick(p.hi, p.lo + (self.hi * o.lo + self.lo * o.hi))
    }
    /// By a power of two.
    pub(crate) fn scaled(self, by: f64) -> Double {
        Double { hi: self.hi * by, lo: self.lo * by }
    }
    pub(crate) fn square(self) -> Double {
        self.times(self)
    }
    pub(crate) fn over(self, o: Double) -> Double {
        let q = self.hi / o.hi;
        let rest = self.minus(o.times(Double::from(q)));
        quick(q, rest.hi / o.hi)
    }
    pub(crate) fn sqrt(self) -> Double {
        if self.hi <= 0.0 {
            return Double::from(0.0);
        }
        let root = self.hi.sqrt();
        let rest = self.minus(product(root, root));
        quick(root, rest.hi / (2.0 * root))
    }
    /// The nearest `f64`.
    pub(crate) fn value(self) -> f64 {
        self.hi + self.lo
    }
    /// ln(1 + self).
    pub(crate) fn log1p(self) -> f64 {
        self.hi.ln_1p() + self.lo / (1.0 + self.hi)
    }
    /// ln(self).
    pub(crate) fn log(self) -> f64 {
        self.hi.ln() + self.lo / self.hi
    }
}
