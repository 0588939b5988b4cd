//! What IREE cannot be given. Of complex numbers its runtime has no values, and its compiler ends the whole process on some
//! programs that have them; some ops it lacks, and says so of what they became. So programs are searched before IREE sees
//! anything.

use crate::target::IreeTarget;
use evoxc_core::{BackendError, DType, OpError, Result};
use evoxc_ir::{Binary, Func, Module, Op, Prim, Region, Unary, Value};
use rustc_hash::FxHashSet;

/// What to do instead of complex numbers.
const REMEDY: &str = "compute with real and imaginary parts as tensors of their own, or use another backend";

/// An error that names the first op, of the functions that the entry reaches, that IREE lacks.
pub(crate) fn refuse(module: &Module, target: &IreeTarget) -> Result<()> {
    let Some(main) = module.main() else { return Ok(()) };
    let mut seen: FxHashSet<&str> = FxHashSet::from_iter([main.name.as_str()]);
    let mut todo = vec![main];
    while let Some(f) = todo.pop() {
        // Their depth has no limit here.
        let mut open: Vec<&Region> = vec![&f.body];
        while let Some(r) = open.pop() {
            if let Some(d) = complex(f, &r.args) {
                return Err(error(OpError::new(format!("@{}", f.name), message("is given", d)).remedy(REMEDY)));
            }
            for op in &r.ops {
                if let Some(d) = complex(f, &op.results).or_else(|| complex(f, &op.operands)) {
                    let verb = if complex(f, &op.results).is_some() { "gives" } else { "takes" };
                    let types = op.operands.iter().map(|&v| f.ty(v));
                    let e = OpError::new(op.prim.name(), message(verb, d)).remedy(REMEDY);
                    return Err(error(e.operands(types).at(op.loc)));
                }
                if let Some((message, remedy)) = lack(f, op, target) {
                    let types = op.operands.iter().map(|&v| f.ty(v));
                    let e = OpError::new(op.prim.name(), message).remedy(remedy);
                    return Err(error(e.operands(types).at(op.loc)));
                }
                if let Prim::Call { callee, .. } = &op.prim
                    && seen.insert(&callee.0)
                {
                    todo.extend(module.func(&callee.0));
                }
                open.extend(&op.regions);
            }
        }
    }
    Ok(())
}

fn complex(f: &Func, values: &[Value]) -> Option<DType> {
    values.iter().map(|&v| f.ty(v).dtype).find(|d| d.is_complex())
}

fn message(verb: &str, d: DType) -> String {
    format!("it {verb} a tensor of dtype {d}, and IREE has no complex numbers")
}

/// What IREE lacks of an op, and what to do instead.
fn lack(f: &Func, op: &Op, target: &IreeTarget) -> Option<(&'static str, &'static str)> {
    let linked = matches!(target, IreeTarget::LlvmCpu { .. });
    let wide = op.operands.first().is_some_and(|&v| f.ty(v).dtype == DType::F64);
    if linked
        && wide
        && matches!(op.prim, Prim::Unary(Unary::Sin | Unary::Cos | Unary::Tan) | Prim::Binary(Binary::Rem))
    {
        return Some((
            "IREE's compiler calls a function of the C library for it, which it does not link",
            "compute it in f32, or use another backend",
        ));
    }
    if matches!(op.prim, Prim::ScatterBody { .. }) && op.results.len() > 1 {
        return Some((
            "IREE has no scatters of several tensors",
            "scatter each tensor by itself, or use another backend",
        ));
    }
    None
}

fn error(op: OpError) -> evoxc_core::Error {
    BackendError { backend: "iree".into(), op }.into()
}
