//! What the body of a reduction, scatter or sort uses of the values around it. StableHLO allows it, but compilers want
//! such bodies closed: constants are written again inside, other scalars go in as further operands that every element
//! shares.

use super::Outcome;
use super::function::body;
use super::writer::{Val, Writer};
use evoxc_core::OpError;
use evoxc_ir::{Literal, Region, TensorType, Value};
use rustc_hash::FxHashSet;

/// The values from outside of a body.
#[derive(Default)]
pub(super) struct Captures {
    constants: Vec<(Value, Literal)>,
    /// Scalars that are passed in, with how they are written outside.
    pub(super) scalars: Vec<(Value, Val)>,
}

impl Captures {
    /// Those of a region. Tensors are left to be captured, or refused.
    ///
    /// # Errors
    /// It uses a tensor, and the bodies are to be closed.
    pub(super) fn of(w: &Writer<'_>, r: &Region) -> Outcome<Captures> {
        let mut out = Captures::default();
        for v in free(r) {
            match w.literal(v) {
                Some(l) => out.constants.push((v, l.clone())),
                None if w.func.ty(v).shape.is_empty() => out.scalars.push((v, w.get(v)?)),
                None if w.options.closed => return Err(tensor(w.func.ty(v))),
                None => {}
            }
        }
        Ok(out)
    }
    /// The scalars as they are written outside.
    pub(super) fn outside(&self) -> Vec<Val> {
        self.scalars.iter().map(|(_, val)| val.clone()).collect()
    }
    /// Writes the region: `args` stand for its arguments, `inside` for the scalars.
    pub(super) fn write(&self, w: &mut Writer<'_>, r: &Region, args: &[Val], inside: &[Val]) -> Outcome<Vec<Val>> {
        let mut outside = vec![];
        for (v, l) in &self.constants {
            outside.push((*v, w.get(*v)?));
            let val = super::shape::constant(w, l)?;
            w.set(*v, val);
        }
        for ((v, val), arg) in self.scalars.iter().zip(inside) {
            outside.push((*v, val.clone()));
            w.set(*v, arg.clone());
        }
        for (&v, arg) in r.args.iter().zip(args) {
            w.set(v, arg.clone());
        }
        let results = body(w, r)?;
        outside.into_iter().for_each(|(v, val)| w.set(v, val));
        Ok(results)
    }
}

/// A body that uses a tensor.
fn tensor(ty: &TensorType) -> OpError {
    OpError::new("", format!("its body uses a {ty} from around it, and compilers take bodies that use scalars alone"))
        .remedy("take what the body needs of the tensor before, as scalars, or run this program on `Interp`")
}

/// The values that a region uses and does not define, in the order of their first use.
fn free(r: &Region) -> Vec<Value> {
    fn visit(r: &Region, own: &mut FxHashSet<Value>, seen: &mut FxHashSet<Value>, out: &mut Vec<Value>) {
        own.extend(&r.args);
        let mut used = |v: Value, own: &FxHashSet<Value>| {
            if !own.contains(&v) && seen.insert(v) {
                out.push(v);
            }
        };
        for op in &r.ops {
            op.operands.iter().for_each(|&v| used(v, own));
            own.extend(&op.results);
        }
        r.results.iter().for_each(|&v| used(v, own));
        for op in &r.ops {
            op.regions.iter().for_each(|inner| visit(inner, own, seen, out));
        }
    }
    let mut out = vec![];
    visit(r, &mut FxHashSet::default(), &mut FxHashSet::default(), &mut out);
    out
}
