//! Complex numbers, which IREE cannot be given: its runtime has no such values, and its compiler ends the whole process on
//! some programs that have them. So programs are searched for them before IREE sees anything.

use evoxc_core::{BackendError, DType, OpError, Result};
use evoxc_ir::{Func, Module, Prim, Region, Value};
use rustc_hash::FxHashSet;

/// What to do instead.
const REMEDY: &str = "compute with real and imaginary parts as tensors of their own, or use another backend";

/// An error that names the first complex value of the functions that the entry reaches.
pub(crate) fn refuse(module: &Module) -> Result<()> {
    let Some(main) = module.main() else { return Ok(()) };
    let mut seen: FxHashSet<&str> = FxHashSet::from_iter([main.name.as_str()]);
    let mut todo = vec![main];
    while let Some(f) = todo.pop() {
        // Their depth has no limit here.
        let mut open: Vec<&Region> = vec![&f.body];
        while let Some(r) = open.pop() {
            if let Some(d) = complex(f, &r.args) {
                return Err(error(OpError::new(format!("@{}", f.name), message("is given", d))));
            }
            for op in &r.ops {
                if let Some(d) = complex(f, &op.results).or_else(|| complex(f, &op.operands)) {
                    let verb = if complex(f, &op.results).is_some() { "gives" } else { "takes" };
                    let types = op.operands.iter().map(|&v| f.ty(v));
                    return Err(error(OpError::new(op.prim.name(), message(verb, d)).operands(types).at(op.loc)));
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

fn error(op: OpError) -> evoxc_core::Error {
    BackendError { backend: "iree".into(), op: op.remedy(REMEDY) }.into()
}
