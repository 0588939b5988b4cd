//! Trees whose structure is known at run time only.

use super::{Flatten, Leaf, Tree, TreeDef, TreeToken, Unflatten};
use crate::Result;

/// A tree whose structure is known at run time only: what erased graphs and executables take and give.
///
/// ```
/// use evoxc::{Dyn, Tensor};
/// let d = Dyn::of((Tensor::from(1f32), Tensor::from(2f32)));
/// assert_eq!(d.leaves().len(), 2);
/// let (_, b): (Tensor, Tensor) = d.into().unwrap();
/// assert_eq!(b.item::<f32>().unwrap(), 2.0);
/// ```
#[derive(Clone, Debug)]
pub struct Dyn<L> {
    def: TreeDef,
    leaves: Vec<L>,
}
impl<L: Leaf> Tree<L> for Dyn<L> {
    type Map<U: Leaf> = Dyn<U>;
    fn flatten(self, out: &mut Flatten<L>) {
        out.leaves.extend(self.leaves);
        out.def.extend(self.def.0);
    }
    fn unflatten(src: &mut Unflatten<'_, L>) -> Result<Self> {
        let (mut depth, start) = (0usize, src.at);
        let mut leaves = vec![];
        loop {
            match src.peek() {
                Some(TreeToken::Leaf) => leaves.push(src.leaf()?),
                Some(other) => {
                    match other {
                        TreeToken::Open(..) => depth += 1,
                        TreeToken::Close => depth = depth.saturating_sub(1),
                        TreeToken::Leaf | TreeToken::Key(_) | TreeToken::Static(..) => {}
                    }
                    src.at += 1;
                }
                None => return Err(src.error("a tree", "nothing")),
            }
            if depth == 0 {
                break;
            }
        }
        Ok(Dyn { def: TreeDef(src.def.0.get(start..src.at).unwrap_or_default().to_vec()), leaves })
    }
}
impl<L: Leaf> Dyn<L> {
    /// The erased form of a tree.
    pub fn of<T: Tree<L>>(t: T) -> Dyn<L> {
        let (leaves, def) = TreeDef::flatten(t);
        Dyn { def, leaves }
    }
    /// The typed form.
    ///
    /// # Errors
    /// [`TreeError`](crate::TreeError) where the structures differ.
    #[allow(clippy::should_implement_trait)]
    pub fn into<T: Tree<L>>(self) -> Result<T> {
        self.def.unflatten(self.leaves)
    }
    /// The leaves in order.
    pub fn leaves(&self) -> &[L] {
        &self.leaves
    }
    /// The structure.
    pub fn def(&self) -> &TreeDef {
        &self.def
    }
}
