//! Giving symbolic extents values: XLA's programs have static shapes.

use crate::lowered::symbolic;
use evoxc_core::{Dim, Result, dim};
use evoxc_ir::{Module, Region};
use std::borrow::Cow;

/// The module with values for symbols; what is left symbolic is an error with the remedy.
pub(crate) fn specialise<'a>(module: &'a Module, symbols: &[(String, i64)]) -> Result<Cow<'a, Module>> {
    let static_ = |m: &Module| -> Result<()> {
        let types = m.funcs.iter().flat_map(|f| &f.values).map(|v| &v.ty);
        match types.into_iter().find(|t| t.shape.to_static().is_none()) {
            Some(t) => Err(symbolic(t)),
            None => Ok(()),
        }
    };
    if symbols.is_empty() {
        static_(module)?;
        return Ok(Cow::Borrowed(module));
    }
    let values: Vec<(Dim, Dim)> = symbols.iter().map(|(s, v)| (dim(s), Dim::constant(*v))).collect();
    let value = |s: Dim| values.iter().find(|(k, _)| *k == s).map(|(_, v)| *v);
    let mut map = |d: Dim| if d.is_const() { d } else { d.substitute(&mut |s| value(s)) };
    let mut out = module.clone();
    for f in &mut out.funcs {
        for v in &mut f.values {
            v.ty.shape.dims_mut().iter_mut().for_each(|d| *d = map(*d));
        }
        region(&mut f.body, &mut map);
    }
    static_(&out)?;
    out.verify()?;
    Ok(Cow::Owned(out))
}

/// Regions nest no deeper than verified modules do.
fn region(r: &mut Region, map: &mut dyn FnMut(Dim) -> Dim) {
    for op in &mut r.ops {
        op.prim.map_dims(map);
        op.regions.iter_mut().for_each(|r| region(r, map));
    }
}
