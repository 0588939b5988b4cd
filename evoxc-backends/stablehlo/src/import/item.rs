//! What a value of the text is in the graph.

use crate::syntax::ast::{Func, Op};
use evoxc_core::{Dim, Shape};
use evoxc_trace::Sym;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The elements of a small integer or bool tensor as expressions of symbols, in row-major order; bools are 0 and 1.
pub(super) type Known = Rc<[Dim]>;

/// What a value of the text is in the graph.
#[derive(Clone, Debug, Default)]
pub(super) enum Item {
    /// Not defined yet.
    #[default]
    Unset,
    /// A tensor, and its elements where they are known at this point.
    Tensor(Sym, Option<Known>),
    /// A token: order is that of the text, so there is nothing to hold.
    Token,
    /// A tuple.
    Tuple(Rc<[Item]>),
}

impl<'m, 'a> Frame<'m, 'a> {
    /// An activation without values.
    pub fn new(func: &'m Func<'a>) -> Frame<'m, 'a> {
        Frame { func, values: vec![Item::Unset; func.values.len()], defined: FxHashMap::default(), lift: None }
    }
}

impl From<Sym> for Item {
    fn from(s: Sym) -> Item {
        Item::Tensor(s, None)
    }
}

impl Item {
    /// The tensors in it, in order. Tuples nest as deep as the parser allows.
    pub fn leaves(&self, out: &mut Vec<Sym>) {
        match self {
            Item::Unset | Item::Token => {}
            Item::Tensor(s, _) => out.push(*s),
            Item::Tuple(items) => items.iter().for_each(|i| i.leaves(out)),
        }
    }
    /// The same with other tensors, taken in order from `new`, of whose elements nothing is known; `None` when there
    /// are too few.
    pub fn rebuild(&self, new: &mut impl Iterator<Item = Sym>) -> Option<Item> {
        Some(match self {
            Item::Unset | Item::Token => self.clone(),
            Item::Tensor(..) => new.next()?.into(),
            Item::Tuple(items) => Item::Tuple(items.iter().map(|i| i.rebuild(new)).collect::<Option<_>>()?),
        })
    }
}

/// The tensors in items, in order.
pub(super) fn leaves(items: &[Item]) -> Vec<Sym> {
    let mut out = Vec::with_capacity(items.len());
    items.iter().for_each(|i| i.leaves(&mut out));
    out
}

/// One activation of a function.
pub(super) struct Frame<'m, 'a> {
    /// The function.
    pub func: &'m Func<'a>,
    /// Its values so far.
    pub values: Vec<Item>,
    /// The ops that `known::is_step` names, by the value that they define.
    pub defined: FxHashMap<u32, &'m Op<'a>>,
    /// In the body of `map`, the shape that stands for a scalar.
    pub lift: Option<Shape>,
}
