//! Custom calls whose meaning is known.

use super::{checks, lapack, ordering, reduction};
use crate::import::attrs::{find, text};
use crate::import::fault::Done;
use crate::import::item::Item;
use crate::import::table::{Rule, rule};
use crate::import::walk::Importer;
use crate::syntax::ast::{Attr, Op};
use evoxc_core::{Dim, Unsupported};
use evoxc_ir::Prim;

/// The operands, unchanged: what only says where data lie.
pub fn identity<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let items: Vec<Item> = op.operands.iter().map(|&v| i.item(op, v).cloned()).collect::<Done<_>>()?;
    Ok(items.into_iter().take(op.results.len()).collect())
}

pub fn custom_call<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let target = i.word(op, "call_target_name")?;
    if let Some(name) = target.strip_prefix("check.") {
        return checks::custom(i, op, name);
    }
    match target {
        "Sharding"
        | "SPMDFullToShardShape"
        | "SPMDShardToFullShape"
        | "LayoutConstraint"
        | "annotate_device_placement"
        | "xla.sdy.FuncResultSharding"
        | "xla.sdy.GlobalToLocalShape"
        | "xla.sdy.LocalToGlobalShape"
        | "xla.sdy.PropagationBarrier"
        | "MoveToDevice"
        | "MoveToHost" => identity(i, op),
        // Tests of symbolic extents; an extent that is not as the program needs is found by the graph's inputs.
        "shape_assertion" => Ok(vec![]),
        "mhlo.topk" | "stablehlo.dynamic_top_k" => top_k(i, op),
        "stablehlo.dynamic_reduce_window" => dynamic_reduce_window(i, op),
        _ => match target.strip_prefix("mhlo.").or(target.strip_prefix("chlo.")) {
            Some(name) => match rule(&format!("chlo.{name}")) {
                Some(Rule::Unary(u)) => {
                    let [x] = i.operands(op)?;
                    Ok(vec![i.emit(op, Prim::Unary(u), &[x])?.into()])
                }
                _ => Err(unknown(i, op, target)),
            },
            None => lapack::routine(i, op, target).unwrap_or_else(|| Err(unknown(i, op, target))),
        },
    }
}

fn unknown(i: &Importer, op: &Op, target: &str) -> Box<crate::import::fault::Fault> {
    let linalg = ["lapack_", "Qr", "Eigh", "Lu", "cusolver", "hipsolver", "ProductOfElementaryHouseholderReflectors"];
    let remedy = if linalg.iter().any(|p| target.starts_with(p)) {
        "write the factorisation with the methods of `Sym` (`lu`, `qr`, `eigh`, `svd`), or export for a platform whose compiler expands it"
    } else {
        "export the program without this call, or replace it by StableHLO ops"
    };
    i.unsupported(op, Unsupported::CustomCall, format!("nothing here knows the target `{target}`"), remedy)
}

/// An attribute of the call, or of the dictionaries in which frameworks hide it.
fn hidden<'x, 'a>(op: &'x Op<'a>, name: &str) -> Option<&'x Attr<'a>> {
    let inside =
        ["mhlo.attributes", "mhlo.backend_config", "backend_config"].iter().find_map(|d| match find(&op.attrs, d) {
            Some(Attr::Dict(fields)) => find(fields, name),
            _ => None,
        });
    find(&op.attrs, name).or(inside)
}

fn top_k<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.tensors(op)?;
    let Some(&x) = xs.first() else { return Err(i.error(op, "it takes at least one operand")) };
    if matches!(hidden(op, "largest"), Some(Attr::Bool(false))) {
        let m = "the smallest elements are asked for";
        return Err(i.unsupported(op, Unsupported::CustomCall, m, "negate the operand"));
    }
    let k = match hidden(op, "k") {
        Some(Attr::Int(k)) => i64::try_from(*k).ok().map(Dim::constant),
        _ => None,
    };
    let k = match k {
        Some(k) => k,
        None => match i.extents(op, op.operands.get(1), "the number of elements")?.as_slice() {
            [k] => *k,
            _ => return Err(i.error(op, "it needs the attribute `k`")),
        },
    };
    ordering::largest(i, op, x, k)
}

/// A `reduce_window` whose window is given by operands, and its body by name.
fn dynamic_reduce_window<'m, 'a>(i: &mut Importer<'m, 'a>, op: &'m Op<'a>) -> Done<Vec<Item>> {
    let xs = i.tensors(op)?;
    // n operands and n initial values, then dimensions, strides, both dilations, padding.
    let n = xs.len().saturating_sub(5) / 2;
    if n == 0 || xs.len() != 2 * n + 5 {
        return Err(i.error(op, "it takes n operands, n initial values and five descriptions of the window"));
    }
    let mut lists = vec![];
    for k in 0..5 {
        lists.push(i.extents(op, op.operands.get(2 * n + k), "the window")?);
    }
    let bodies = match find(&op.attrs, "called_computations") {
        Some(Attr::Array(names)) => names.first().and_then(text),
        _ => None,
    };
    let name = bodies.ok_or_else(|| i.error(op, "it needs the attribute `called_computations`"))?;
    let func = i.index.get(name).and_then(|&f| i.module.funcs.get(f));
    let Some((func, body)) = func.and_then(|f| f.body.as_ref().map(|b| (f, b))) else {
        return Err(i.error(op, format!("the module has no function @{name}")));
    };
    let ints = |list: &[Dim]| -> Done<Vec<i64>> {
        let all: Option<Vec<i64>> = list.iter().map(|d| d.as_i64()).collect();
        all.ok_or_else(|| {
            let m = "a stride or dilation is a symbol";
            i.unsupported(op, Unsupported::DataDependentShape, m, "export the program for static strides")
        })
    };
    let window = evoxc_ir::Window {
        stride: ints(&lists[1])?,
        base_dilation: ints(&lists[2])?,
        window_dilation: ints(&lists[3])?,
        padding: lists[4].chunks_exact(2).map(|p| evoxc_ir::Padding { low: p[0], high: p[1] }).collect(),
        ..evoxc_ir::Window::new(lists[0].clone())
    };
    let inits = xs[n..2 * n].to_vec();
    let xs = xs[..n].to_vec();
    i.frames.push(crate::import::item::Frame::new(func));
    let results = reduction::windows(i, op, body, xs, inits, window);
    i.frames.pop();
    results
}
