//! Recording of static parameters: owns what `#[defn]` emits for each parameter that may not be a tree.
//!
//! The macro cannot know what a type implements, so the choice is left to method resolution. It emits
//! `(&&&&Static(&heads)).record("layer.heads")`, and the first of these that the type allows is taken, one reference less
//! for each step:
//!
//! 1. a tree of `Sym` is an input of the graph, and is not recorded;
//! 2. nor is a reference to one;
//! 3. what implements `Debug` is recorded;
//! 4. the rest (closures, mostly) is not.
//!
//! In a generic function only the bounds count: `T: Debug` is recorded, whatever `T` is.

use crate::Sym;
use evoxc_core::Tree;
use std::fmt::Debug;

/// A parameter, wrapped so that these methods cannot meet the type's own.
pub struct Static<'a, T>(pub &'a T);

/// Step 1.
pub trait RecordTree {
    /// Does nothing.
    fn record(&self, name: &str);
}

impl<T: Tree<Sym>> RecordTree for &&&Static<'_, T> {
    #[inline(always)]
    fn record(&self, _: &str) {}
}

/// Step 2.
pub trait RecordTreeRef {
    /// Does nothing.
    fn record(&self, name: &str);
}

impl<T: Tree<Sym>> RecordTreeRef for &&Static<'_, &T> {
    #[inline(always)]
    fn record(&self, _: &str) {}
}

/// Step 3.
pub trait RecordDebug {
    /// Records the value in the graph being built.
    fn record(&self, name: &str);
}

impl<T: Debug> RecordDebug for &Static<'_, T> {
    fn record(&self, name: &str) {
        crate::builder::record_static_value(name, format!("{:?}", self.0));
    }
}

/// Step 4.
pub trait RecordNothing {
    /// Does nothing.
    fn record(&self, name: &str);
}

impl<T> RecordNothing for Static<'_, T> {
    #[inline(always)]
    fn record(&self, _: &str) {}
}
