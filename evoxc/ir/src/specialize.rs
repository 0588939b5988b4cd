//! Giving symbolic extents values.

use crate::{Module, Region};
use evoxc_core::{Dim, Result};

impl Module {
    /// The module with these symbols replaced by extents, in every function. It is verified: a size that some op cannot
    /// have is an error.
    ///
    /// ```
    /// use evoxc::{dim, prelude::*};
    /// let graph = trace(|x: Sym| x.sum(0), spec(F32, (dim("B"), 2)))?;
    /// let four = graph.module().specialize(&[(dim("B"), Dim::constant(4))])?;
    /// assert_eq!(four.main().unwrap().inputs(), [spec(F32, [4, 2])]);
    /// # Ok::<(), evoxc::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`IrError`](evoxc_core::IrError) for an op that these extents break.
    pub fn specialize(&self, symbols: &[(Dim, Dim)]) -> Result<Module> {
        let value = |s: Dim| symbols.iter().find(|(k, _)| *k == s).map(|(_, v)| *v);
        let mut map = |d: Dim| if d.is_const() { d } else { d.substitute(&mut |s| value(s)) };
        let mut out = self.clone();
        for f in &mut out.funcs {
            for v in &mut f.values {
                v.ty.shape.dims_mut().iter_mut().for_each(|d| *d = map(*d));
            }
            region(&mut f.body, &mut map);
        }
        out.verify()?;
        Ok(out)
    }
}

/// Regions nest no deeper than verified modules do.
fn region(r: &mut Region, map: &mut dyn FnMut(Dim) -> Dim) {
    for op in &mut r.ops {
        op.prim.map_dims(map);
        op.regions.iter_mut().for_each(|r| region(r, map));
    }
}
