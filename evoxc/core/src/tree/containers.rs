//! Trees of the language and its library: leaves, tuples, arrays, `Vec`, `Option`, `Box`, `BTreeMap`.

use super::path::describe;
use super::{Flatten, Leaf, Tree, TreeKind, TreeToken, Unflatten};
use crate::{Result, Tensor, TensorSpec};
use std::collections::BTreeMap;

macro_rules! leaf {
    ($($t:ty)*) => { $(
        impl Leaf for $t {}
        impl Tree<$t> for $t {
            type Map<U: Leaf> = U;
            fn flatten(self, out: &mut Flatten<$t>) { out.leaf(self) }
            fn unflatten(src: &mut Unflatten<'_, $t>) -> Result<Self> { src.leaf() }
        }
    )* };
}
leaf!(Tensor TensorSpec);

impl<L: Leaf> Tree<L> for () {
    type Map<U: Leaf> = ();
    fn flatten(self, out: &mut Flatten<L>) {
        out.open(TreeKind::Tuple, 0);
        out.close();
    }
    fn unflatten(src: &mut Unflatten<'_, L>) -> Result<Self> {
        src.expect(TreeKind::Tuple, Some(0))?;
        src.close()
    }
}
macro_rules! tuples {
    ($($n:literal: $($t:ident $i:tt)+;)*) => { $(
        impl<L: Leaf, $($t: Tree<L>),+> Tree<L> for ($($t,)+) {
            type Map<U: Leaf> = ($($t::Map<U>,)+);
            fn flatten(self, out: &mut Flatten<L>) {
                out.open(TreeKind::Tuple, $n);
                $(self.$i.flatten(out);)+
                out.close();
            }
            fn unflatten(src: &mut Unflatten<'_, L>) -> Result<Self> {
                src.expect(TreeKind::Tuple, Some($n))?;
                let t = ($(<$t>::unflatten(src)?,)+);
                src.close()?;
                Ok(t)
            }
        }
    )* };
}
tuples! { 1: A 0; 2: A 0 B 1; 3: A 0 B 1 C 2; 4: A 0 B 1 C 2 D 3; 5: A 0 B 1 C 2 D 3 E 4; 6: A 0 B 1 C 2 D 3 E 4 F 5;
7: A 0 B 1 C 2 D 3 E 4 F 5 G 6; 8: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7; 9: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8;
10: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9; 11: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10;
12: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 M 11; }

impl<L: Leaf, A: Tree<L>, const N: usize> Tree<L> for [A; N] {
    type Map<U: Leaf> = [A::Map<U>; N];
    fn flatten(self, out: &mut Flatten<L>) {
        out.open(TreeKind::List, N);
        self.into_iter().for_each(|a| a.flatten(out));
        out.close();
    }
    fn unflatten(src: &mut Unflatten<'_, L>) -> Result<Self> {
        let n = src.expect(TreeKind::List, Some(N))?;
        let v = (0..n).map(|_| A::unflatten(src)).collect::<Result<Vec<A>>>()?;
        src.close()?;
        v.try_into().map_err(|_| src.error(format!("a list of {N}"), format!("a list of {n}")))
    }
}
impl<L: Leaf, A: Tree<L>> Tree<L> for Vec<A> {
    type Map<U: Leaf> = Vec<A::Map<U>>;
    fn flatten(self, out: &mut Flatten<L>) {
        out.open(TreeKind::List, self.len());
        self.into_iter().for_each(|a| a.flatten(out));
        out.close();
    }
    fn unflatten(src: &mut Unflatten<'_, L>) -> Result<Self> {
        let n = src.expect(TreeKind::List, None)?;
        let v = (0..n).map(|_| A::unflatten(src)).collect::<Result<Vec<A>>>()?;
        src.close()?;
        Ok(v)
    }
}
impl<L: Leaf, A: Tree<L>> Tree<L> for Option<A> {
    type Map<U: Leaf> = Option<A::Map<U>>;
    fn flatten(self, out: &mut Flatten<L>) {
        match self {
            Some(a) => {
                out.open(TreeKind::Some, 1);
                a.flatten(out);
            }
            None => out.open(TreeKind::None, 0),
        }
        out.close();
    }
    fn unflatten(src: &mut Unflatten<'_, L>) -> Result<Self> {
        let t = match src.open("an Option")? {
            (TreeKind::Some, _) => Some(A::unflatten(src)?),
            (TreeKind::None, _) => None,
            (k, n) => {
                let got = describe(Some(&TreeToken::Open(k.clone(), n)));
                return Err(src.error_of_node("an Option", got));
            }
        };
        src.close()?;
        Ok(t)
    }
}
impl<L: Leaf, A: Tree<L>> Tree<L> for Box<A> {
    type Map<U: Leaf> = Box<A::Map<U>>;
    fn flatten(self, out: &mut Flatten<L>) {
        (*self).flatten(out);
    }
    fn unflatten(src: &mut Unflatten<'_, L>) -> Result<Self> {
        A::unflatten(src).map(Box::new)
    }
}
impl<L: Leaf, A: Tree<L>> Tree<L> for BTreeMap<String, A> {
    type Map<U: Leaf> = BTreeMap<String, A::Map<U>>;
    fn flatten(self, out: &mut Flatten<L>) {
        out.open(TreeKind::Map, self.len());
        for (k, a) in self {
            out.key(k);
            a.flatten(out);
        }
        out.close();
    }
    fn unflatten(src: &mut Unflatten<'_, L>) -> Result<Self> {
        let n = src.expect(TreeKind::Map, None)?;
        let mut m = BTreeMap::new();
        for _ in 0..n {
            let k = src.key()?.to_string();
            m.insert(k, A::unflatten(src)?);
        }
        src.close()?;
        Ok(m)
    }
}
