//! The options of `batch_functions`.

use evoxc_ir::Prim;
use std::collections::BTreeSet;

/// Which ops may share a class where programs differ in the op at one position: all of them are computed for all rows
/// of the class, and each row selects its own. What they take besides constants must be at equal positions; so `y + c`,
/// `y * c` and `-y` may stand in for one another. That keeps rows where they are, at the price of work that is dropped:
/// it pays where ops are cheap, or moving rows is dear.
///
/// ```
/// use evoxc::prelude::*;
/// let x = spec(F32, [4]);
/// let programs = [trace(|x: Sym| x.sin().exp(), x.clone())?, trace(|x: Sym| x.cos().exp(), x)?];
/// let merged = batch_functions(&programs).switch_ops(SwitchOps::named(["sin", "cos"])).build()?;
/// assert_eq!(merged.report().switched, 1);
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SwitchOps {
    /// None: ops that differ are classes of their own.
    #[default]
    None,
    /// Element-wise arithmetic of one or two operands, comparisons left out.
    Elementwise,
    /// Comparisons, in any direction and order.
    Comparison,
    /// Element-wise arithmetic, and comparisons (among each other).
    All,
    /// Ops of these names, as printed, among each other: `"sin"`, `"add"`, `"compare"`. Names of ops that are not
    /// element-wise have no effect.
    Named(BTreeSet<String>),
}

impl SwitchOps {
    /// [`SwitchOps::Named`] of a list.
    pub fn named<S: Into<String>>(names: impl IntoIterator<Item = S>) -> SwitchOps {
        SwitchOps::Named(names.into_iter().map(Into::into).collect())
    }
    /// Those that may stand in for one another have the same number; `None` for one that may not.
    pub(super) fn group(&self, prim: &Prim) -> Option<u8> {
        let compares = matches!(prim, Prim::Compare { .. });
        if !compares && !matches!(prim, Prim::Unary(_) | Prim::Binary(_)) {
            return None;
        }
        let allowed = match self {
            SwitchOps::None => false,
            SwitchOps::Elementwise => !compares,
            SwitchOps::Comparison => compares,
            SwitchOps::All => true,
            SwitchOps::Named(names) => names.contains(prim.name_parts().0),
        };
        allowed.then_some(u8::from(compares))
    }
}

/// Into how many bands the programs are parted. Each band holds programs that are alike and is merged on its own: more
/// ops, but less moving of rows between classes, and fewer rows for which a switch computes ops that they do not select.
/// The order of programs in inputs and results stays.
///
/// ```
/// use evoxc::prelude::*;
/// let f = |n: usize| move |x: Sym| (0..n).fold(x, |y, _| y.exp());
/// let functions: Vec<_> = (0..8).map(|i| f(1 + 4 * (i % 2))).collect();
/// let merged = batch_functions_of(&functions, spec(F32, [2])).bands(Bands::Count(2)).build()?;
/// assert_eq!(merged.report().band_sizes, [4, 4]); // the short ones and the long ones
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bands {
    /// One: the flat form.
    #[default]
    One,
    /// This many, or as many as there are programs.
    Count(usize),
    /// As many as the cost model finds best; one, where no other number is better.
    Auto,
}

/// Which ops of different programs are at equal positions, and so in one class.
///
/// Either way a class holds at most one op of a program: the first such op of every program is in the first class, the
/// second in the second. Constants are no part of a position: those of a class are stacked.
///
/// ```
/// use evoxc::prelude::*;
/// let programs = [
///     trace(|x: Sym, y: Sym| (x + y).exp(), (spec(F32, [2]), spec(F32, [2])))?,
///     trace(|x: Sym, _: Sym| x.sin().exp(), (spec(F32, [2]), spec(F32, [2])))?,
/// ];
/// let classes = |a| batch_functions(&programs).alignment(a).build().map(|m| m.report().value_classes);
/// assert_eq!(classes(Alignment::Variant)?, 4); // exp of a value made of two, and exp of one made of one
/// assert_eq!(classes(Alignment::Occurrence)?, 3); // the first exp at height 1
/// # Ok::<(), evoxc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Alignment {
    /// The same variant of the same skeleton: the op with its attributes and types, above operands that are computed by
    /// trees of the same shape and types, whatever the ops in these trees are. Fits programs of one ancestry.
    #[default]
    Variant,
    /// The same occurrence of the op: the op with its attributes and types, at the same height above the inputs, however
    /// its operands are computed. Merges more, and moves more rows; fits programs that have little in common.
    Occurrence,
    /// The one that the cost model finds better.
    Auto,
}
