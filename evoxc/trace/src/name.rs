//! Names of `let`s: `named("y", value)` names the value if it is a `Sym`, whatever type inference makes of it.

use crate::{Sym, builder};
use std::any::TypeId;
use std::marker::PhantomData;

trait NonStatic {
    fn id(&self) -> TypeId
    where
        Self: 'static;
}
impl<T> NonStatic for PhantomData<T> {
    fn id(&self) -> TypeId
    where
        Self: 'static,
    {
        TypeId::of::<T>()
    }
}

/// The type id of any type, its lifetimes erased.
#[allow(unsafe_code)]
pub(crate) fn type_id<T>() -> TypeId {
    let p = PhantomData::<T>;
    let d: &dyn NonStatic = &p;
    // SAFETY: only the lifetime bound of the trait object changes; `PhantomData` holds no data, and `id` reads none. Two
    // types that differ in lifetimes alone share an id, which is for the callers to think of.
    let d: &(dyn NonStatic + 'static) = unsafe { std::mem::transmute::<&dyn NonStatic, &(dyn NonStatic + 'static)>(d) };
    d.id()
}

/// A copy of `t` as `U`, if that is its type. `U` has no lifetimes.
#[allow(unsafe_code)]
fn downcast<T, U: Copy + 'static>(t: &T) -> Option<U> {
    // SAFETY: the ids agree, so `T` and `U` are the same type (`U` has no lifetimes to differ in).
    (type_id::<T>() == TypeId::of::<U>()).then(|| unsafe { *std::ptr::from_ref(t).cast::<U>() })
}

/// The identity on every type; a `Sym`, or a pair, triple or quadruple of them, takes the name (or the comma-separated names).
#[inline]
pub fn named<T>(name: &'static str, t: T) -> T {
    if let Some(s) = downcast::<T, Sym>(&t) {
        builder::set_name(s, name);
    } else if name.contains(',') {
        let syms: Vec<Sym> = downcast::<T, (Sym, Sym)>(&t)
            .map(|(a, b)| vec![a, b])
            .or_else(|| downcast::<T, (Sym, Sym, Sym)>(&t).map(|(a, b, c)| vec![a, b, c]))
            .or_else(|| downcast::<T, (Sym, Sym, Sym, Sym)>(&t).map(|(a, b, c, d)| vec![a, b, c, d]))
            .unwrap_or_default();
        for (s, n) in syms.into_iter().zip(name.split(',')).filter(|(_, n)| *n != "_") {
            builder::set_name(s, n);
        }
    }
    t
}

/// Names a parameter of a defn, if it is a `Sym`.
#[inline]
pub fn named_param<T>(name: &'static str, t: &T) {
    if let Some(s) = downcast::<T, Sym>(t) {
        builder::set_name(s, name);
    }
}
