//! Patterns over nodes, and sets of rules made of them: data, which the macro [`rules!`](crate::rules) writes.

use super::{Alu, Arena, Op, UOp};
use evoxc_core::DType;
use evoxc_ir::{Binary, Unary};
use half::{bf16, f16};

/// What an op is, without its arguments: what sets of rules are indexed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kind(u8);

impl Kind {
    /// The number of kinds, or more.
    const COUNT: usize = 256;
    /// A machine op.
    pub const fn alu(op: Alu) -> Kind {
        Kind(32 + op as u8)
    }
    /// An op of the IR.
    pub const fn unary(op: Unary) -> Kind {
        Kind(96 + op as u8)
    }
    /// An op of the IR.
    pub const fn binary(op: Binary) -> Kind {
        Kind(176 + op as u8)
    }
    /// That of an op.
    pub const fn of(op: Op) -> Kind {
        match op {
            Op::Const(_) => heads::Const,
            Op::Param(_) => Kind(1),
            Op::Buffer(_) => Kind(2),
            Op::Scratch(_) => Kind(3),
            Op::Range(..) => heads::Range,
            Op::Unary(op) => Kind::unary(op),
            Op::Binary(op) => Kind::binary(op),
            Op::Compare(..) => heads::Compare,
            Op::Convert => heads::Convert,
            Op::ReducePrecision(..) => Kind(7),
            Op::Alu(op) => Kind::alu(op),
            Op::Cast => heads::Cast,
            Op::Bitcast => heads::Bitcast,
            Op::IndexDiv => heads::IndexDiv,
            Op::IndexMod => heads::IndexMod,
            Op::Call(_) => Kind(12),
            Op::Load => heads::Load,
            Op::Store => heads::Store,
            Op::Reduce(_) => heads::Reduce,
            Op::End => Kind(16),
            Op::After => Kind(17),
        }
    }
    /// One bit of 64 that stands for it, and for some others.
    const fn bit(self) -> u64 {
        1 << (self.0 % 64)
    }
    const fn commutes(self) -> bool {
        let mut n = 0;
        let ops = [Alu::Add, Alu::Mul, Alu::And, Alu::Or, Alu::Xor, Alu::Eq, Alu::Ne];
        while n < ops.len() {
            if Kind::alu(ops[n]).0 == self.0 {
                return true;
            }
            n += 1;
        }
        false
    }
}

/// The names that ops have in patterns.
#[allow(non_upper_case_globals, missing_docs)] // they stand for the ops of the same names
pub mod heads {
    use super::{Alu, Kind};

    pub const Const: Kind = Kind(0);
    pub const Range: Kind = Kind(4);
    pub const Compare: Kind = Kind(5);
    pub const Convert: Kind = Kind(6);
    pub const Cast: Kind = Kind(8);
    pub const Bitcast: Kind = Kind(9);
    pub const IndexDiv: Kind = Kind(10);
    pub const IndexMod: Kind = Kind(11);
    pub const Load: Kind = Kind(13);
    pub const Store: Kind = Kind(14);
    pub const Reduce: Kind = Kind(15);
    macro_rules! machine { ($($op:ident)*) => { $(pub const $op: Kind = Kind::alu(Alu::$op);)* } }
    machine! { Add Sub Mul Div IntDiv IntRem MulHigh Min Max And Or Xor Not Shl Shr Sar Neg Abs Sqrt Floor Ceil }
    machine! { RoundEven Trunc Fma Eq Ne Lt Le Select }
}

/// What nodes look like.
#[derive(Clone, Copy, Debug)]
pub enum Pattern {
    /// Any node, which is captured; one of the same slot is the same node.
    Any(u8),
    /// A number, captured likewise.
    Const(u8),
    /// This number, of any dtype: of floats, the one without a sign if it is 0.
    Number(i64),
    /// An op and what its sources look like. Operands of ops that commute may stand in either order.
    Node(Kind, &'static [Pattern]),
}

/// How many nodes a pattern captures at most.
pub const SLOTS: usize = 8;

/// What a pattern has captured.
#[derive(Clone, Copy)]
struct Captures([Option<UOp>; SLOTS]);

impl Pattern {
    /// The kinds of nodes that may look like this: one, or, of a leaf alone, all.
    fn heads(&self) -> std::ops::Range<usize> {
        match *self {
            Pattern::Node(kind, _) => usize::from(kind.0)..usize::from(kind.0) + 1,
            Pattern::Any(_) | Pattern::Const(_) | Pattern::Number(_) => 0..Kind::COUNT,
        }
    }
    /// What is captured if the node looks like this.
    fn captures(&self, a: &Arena, u: UOp) -> Option<[UOp; SLOTS]> {
        let mut captures = Captures([None; SLOTS]);
        self.holds(a, u, &mut captures).then(|| captures.0.map(|c| c.unwrap_or(u)))
    }
    // The depth is that of the pattern.
    fn holds(&self, a: &Arena, u: UOp, captures: &mut Captures) -> bool {
        match *self {
            Pattern::Any(slot) => *captures.0[usize::from(slot)].get_or_insert(u) == u,
            Pattern::Const(slot) => a.as_const(u).is_some() && *captures.0[usize::from(slot)].get_or_insert(u) == u,
            Pattern::Number(v) => a.as_const(u).is_some_and(|bits| number(a.ty(u).dtype, v) == Some(bits)),
            Pattern::Node(kind, sources) => {
                let node = a.get(u);
                if Kind::of(node.op) != kind || node.src.len() != sources.len() {
                    return false;
                }
                let before = *captures;
                let mut all = |order: [usize; 2]| {
                    let at = |n: usize| if n < 2 { order[n] } else { n };
                    sources.iter().enumerate().all(|(n, p)| p.holds(a, node.src[at(n)], captures))
                };
                if all([0, 1]) {
                    return true;
                }
                *captures = before;
                let mut all = |order: [usize; 2]| {
                    sources.iter().enumerate().all(|(n, p)| p.holds(a, node.src[order[n]], captures))
                };
                sources.len() == 2 && kind.commutes() && all([1, 0])
            }
        }
    }
}

/// The bits of a number in a dtype that holds it.
pub fn number(d: DType, v: i64) -> Option<u64> {
    Some(match d {
        DType::BOOL => u64::try_from(v).ok().filter(|v| *v < 2)?,
        DType::F16 => f16::from_f64(v as f64).to_bits().into(),
        DType::BF16 => bf16::from_f64(v as f64).to_bits().into(),
        DType::F32 => (v as f32).to_bits().into(),
        DType::F64 => (v as f64).to_bits(),
        DType::C64 | DType::C128 => return None,
        d => v as u64 & (u64::MAX >> (64 - d.bits())),
    })
}

/// One rule: what looks like the pattern becomes what the function makes of it, if it makes anything.
pub struct Rule<C: 'static> {
    /// What it says, for people.
    pub name: &'static str,
    /// What it applies to.
    pub pattern: Pattern,
    /// `(arena, context, the node, what is captured)`.
    pub replacement: fn(&mut Arena, &mut C, UOp, &[UOp; SLOTS]) -> Option<UOp>,
}

impl<C> Clone for Rule<C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<C> Copy for Rule<C> {}

/// A set of rules, found by the op of their pattern's root; the first that applies is taken.
pub struct Rules<C: 'static> {
    rules: Vec<Rule<C>>,
    /// The rules for each kind one after the other, each with what it asks of the sources: see [`Kind::bit`].
    by_kind: Vec<(u64, u16)>,
    /// Where those of each kind begin, and where all end.
    begin: Vec<u32>,
}

/// The bit that says that two sources are one node.
const TWICE: u64 = 1 << 63;

/// What a pattern asks of the sources of its root, as bits that they must have: most rules are passed over by these.
fn asks(pattern: &Pattern) -> u64 {
    let Pattern::Node(_, sources) = *pattern else { return 0 };
    let mut bits = 0;
    for (n, source) in sources.iter().enumerate() {
        bits |= match *source {
            Pattern::Any(slot) => {
                let again = |p: &Pattern| matches!(*p, Pattern::Any(s) if s == slot);
                if sources[..n].iter().any(again) { TWICE } else { 0 }
            }
            Pattern::Const(_) | Pattern::Number(_) => heads::Const.bit(),
            Pattern::Node(kind, _) => kind.bit(),
        };
    }
    bits
}

/// The bits that the sources of a node have.
fn bits_of(a: &Arena, u: UOp) -> u64 {
    let src = a.src(u);
    let mut bits = 0;
    for (n, &s) in src.iter().enumerate() {
        bits |= Kind::of(a.op(s)).bit() | if src[..n].contains(&s) { TWICE } else { 0 };
    }
    bits
}

impl<C> Rules<C> {
    /// A set of these, in this order.
    pub fn new(rules: Vec<Rule<C>>) -> Rules<C> {
        // How many there are for each kind, then where they begin, then each at its place.
        let mut begin = vec![0u32; Kind::COUNT + 1];
        for rule in &rules {
            let kinds = rule.pattern.heads();
            begin[kinds.start + 1..kinds.end + 1].iter_mut().for_each(|n| *n += 1);
        }
        for kind in 0..Kind::COUNT {
            begin[kind + 1] += begin[kind];
        }
        let mut next = begin.clone();
        let mut by_kind = vec![(0, 0); begin[Kind::COUNT] as usize];
        for (n, rule) in rules.iter().enumerate() {
            let entry = (asks(&rule.pattern), n as u16);
            for at in &mut next[rule.pattern.heads()] {
                by_kind[*at as usize] = entry;
                *at += 1;
            }
        }
        Rules { rules, by_kind, begin }
    }
    /// Several sets as one.
    pub fn all(sets: &[&Rules<C>]) -> Rules<C> {
        Rules::new(sets.iter().flat_map(|set| set.rules.iter().copied()).collect())
    }
    /// The rules.
    pub fn iter(&self) -> impl Iterator<Item = &Rule<C>> {
        self.rules.iter()
    }
    /// What a node becomes by the first rule that applies.
    pub fn apply(&self, a: &mut Arena, context: &mut C, u: UOp) -> Option<UOp> {
        let has = bits_of(a, u);
        let kind = usize::from(Kind::of(a.op(u)).0);
        let of_kind = self.by_kind[self.begin[kind] as usize..self.begin[kind + 1] as usize].iter();
        of_kind.filter(|(asks, _)| asks & !has == 0).find_map(|&(_, n)| {
            let rule = &self.rules[usize::from(n)];
            let captures = rule.pattern.captures(a, u)?;
            (rule.replacement)(a, context, u, &captures).filter(|&new| new != u)
        })
    }
}

/// The slot of a name: the place where it is first listed. A name beyond the last slot does not compile.
pub const fn slot(names: &[&str], name: &str) -> u8 {
    let mut n = 0;
    while n < names.len() {
        let (x, y) = (names[n].as_bytes(), name.as_bytes());
        let mut same = x.len() == y.len();
        let mut i = 0;
        while same && i < x.len() {
            same = x[i] == y[i];
            i += 1;
        }
        if same {
            break;
        }
        n += 1;
    }
    assert!(n < SLOTS, "too many captures in one pattern");
    n as u8
}

/// Declares a set of rules: `"what it says": pattern [if guard] => replacement;`, one a line.
///
/// A pattern is written in prefix form: `(Add x y)` is an [`Alu::Add`], `(Cast x)`, `(IndexDiv x y)` and so on are the
/// ops of these names (see [`heads`]), `({Kind::unary(Unary::Exp)} x)` an op of the IR. `x` captures any
/// node, twice the same one; `#c` captures a number; `#0` is that number, of any dtype. Operands of ops that commute are tried in
/// both orders. Guard and replacement see the captures as [`UOp`]s, and the arena, the context and the whole
/// node under the names that the head gives; a replacement is a `UOp`, or an `Option` of one.
///
/// ```
/// use evoxc_native::{rules, uop::{Alu, Arena, rewrite}};
/// rules! {
///     /// Sums with themselves.
///     static DOUBLES(a, _context: (), _root) {
///         "x + x is x * 2": (Add x x) if a.ty(x).dtype.is_int() => {
///             let two = a.constant(a.ty(x).dtype, 2);
///             a.alu(Alu::Mul, &[x, two])
///         };
///     }
/// }
/// let mut a = Arena::new();
/// let five = a.index(5);
/// let ten = a.alu(Alu::Add, &[five, five]);
/// let new = rewrite(&mut a, &[ten], &DOUBLES, &mut ());
/// let two = a.index(2);
/// assert_eq!(new[0], a.alu(Alu::Mul, &[five, two]));
/// ```
#[macro_export]
macro_rules! rules {
    ($(#[$meta:meta])* $vis:vis static $NAME:ident($a:ident, $context:ident: $C:ty, $root:ident) {
        $($name:literal: $pattern:tt $(if $guard:expr)? => $new:expr;)*
    }) => {
        $(#[$meta])*
        $vis static $NAME: ::std::sync::LazyLock<$crate::uop::Rules<$C>> =
            ::std::sync::LazyLock::new(|| $crate::uop::Rules::new(vec![$({
                const NAMES: &[&str] = $crate::pattern!(@names [] $pattern);
                const PATTERNS: &[$crate::uop::Pattern] = $crate::pattern!(@list NAMES [] $pattern);
                #[allow(unused_variables)] // a rule need not use all
                fn replacement(
                    $a: &mut $crate::uop::Arena,
                    $context: &mut $C,
                    $root: $crate::uop::UOp,
                    captures: &[$crate::uop::UOp; $crate::uop::SLOTS],
                ) -> Option<$crate::uop::UOp> {
                    $crate::pattern!(@bind NAMES captures [] $pattern);
                    $(if !$guard { return None; })?
                    ::std::convert::Into::<Option<$crate::uop::UOp>>::into($new)
                }
                $crate::uop::Rule { name: $name, pattern: PATTERNS[0], replacement }
            }),*]));
    };
}

/// What [`rules!`](crate::rules) makes of a pattern.
#[doc(hidden)]
#[macro_export]
macro_rules! pattern {
    (@names [$($n:ident)*]) => { &[$(stringify!($n)),*] };
    (@names [$($n:ident)*] # $c:ident $($rest:tt)*) => { $crate::pattern!(@names [$($n)* $c] $($rest)*) };
    (@names [$($n:ident)*] # $v:literal $($rest:tt)*) => { $crate::pattern!(@names [$($n)*] $($rest)*) };
    (@names [$($n:ident)*] ($head:tt $($src:tt)*) $($rest:tt)*) => { $crate::pattern!(@names [$($n)*] $($src)* $($rest)*) };
    (@names [$($n:ident)*] $x:ident $($rest:tt)*) => { $crate::pattern!(@names [$($n)* $x] $($rest)*) };

    (@list $N:ident [$($done:expr),*]) => { &[$($done),*] };
    (@list $N:ident [$($done:expr),*] # $c:ident $($rest:tt)*) => {
        $crate::pattern!(@list $N [$($done,)* $crate::uop::Pattern::Const($crate::uop::slot($N, stringify!($c)))] $($rest)*)
    };
    (@list $N:ident [$($done:expr),*] # $v:literal $($rest:tt)*) => {
        $crate::pattern!(@list $N [$($done,)* $crate::uop::Pattern::Number($v)] $($rest)*)
    };
    (@list $N:ident [$($done:expr),*] ({$head:expr} $($src:tt)*) $($rest:tt)*) => {
        $crate::pattern!(@list $N [$($done,)* $crate::uop::Pattern::Node($head, $crate::pattern!(@list $N [] $($src)*))] $($rest)*)
    };
    (@list $N:ident [$($done:expr),*] ($head:ident $($src:tt)*) $($rest:tt)*) => {
        $crate::pattern!(@list $N [$($done,)* $crate::uop::Pattern::Node($crate::uop::heads::$head, $crate::pattern!(@list $N [] $($src)*))] $($rest)*)
    };
    (@list $N:ident [$($done:expr),*] $x:ident $($rest:tt)*) => {
        $crate::pattern!(@list $N [$($done,)* $crate::uop::Pattern::Any($crate::uop::slot($N, stringify!($x)))] $($rest)*)
    };

    (@bind $N:ident $captures:ident [$($n:ident)*]) => {
        $(let $n = $captures[$crate::uop::slot($N, stringify!($n)) as usize];)*
    };
    (@bind $N:ident $captures:ident [$($n:ident)*] # $c:ident $($rest:tt)*) => { $crate::pattern!(@bind $N $captures [$($n)* $c] $($rest)*) };
    (@bind $N:ident $captures:ident [$($n:ident)*] # $v:literal $($rest:tt)*) => { $crate::pattern!(@bind $N $captures [$($n)*] $($rest)*) };
    (@bind $N:ident $captures:ident [$($n:ident)*] ($head:tt $($src:tt)*) $($rest:tt)*) => {
        $crate::pattern!(@bind $N $captures [$($n)*] $($src)* $($rest)*)
    };
    (@bind $N:ident $captures:ident [$($n:ident)*] $x:ident $($rest:tt)*) => { $crate::pattern!(@bind $N $captures [$($n)* $x] $($rest)*) };
}
