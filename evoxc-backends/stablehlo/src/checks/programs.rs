//! Which functions of a module are test programs.

use crate::syntax::ast::{Attr, Func, Module, Op};

/// The test programs of a module, by the names of their functions: `@main`, or else every function without arguments
/// that checks something.
pub fn programs<'m>(module: &'m Module<'_>) -> Vec<&'m str> {
    let defined = |f: &&Func| f.body.is_some();
    if let Some(main) = module.funcs.iter().filter(defined).find(|f| f.name == "main") {
        return vec![&main.name];
    }
    module.funcs.iter().filter(defined).filter(|f| checks_something(f)).map(|f| &*f.name).collect()
}

fn checks_something(f: &Func) -> bool {
    let Some(body) = f.body.as_ref().filter(|b| b.args.is_empty()) else { return false };
    // A list of regions to visit in place of recursion.
    let mut regions = vec![body];
    while let Some(region) = regions.pop() {
        if region.ops.iter().any(is_check) {
            return true;
        }
        regions.extend(region.ops.iter().flat_map(|op| &op.regions));
    }
    false
}

fn is_check(op: &Op) -> bool {
    let target = |a: &Attr| match a {
        Attr::Str(s) | Attr::Symbol(s) => s.starts_with("check."),
        _ => false,
    };
    op.name.starts_with("check.")
        || (op.name == "stablehlo.custom_call"
            && op.attrs.iter().any(|(name, a)| name == "call_target_name" && target(a)))
}
