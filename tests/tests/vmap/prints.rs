//! The cases of tests/ir/vmap: `// axes: 0, none` says which arguments are mapped; `// rows: 3` how many rows there are,
//! by default a symbol. The graph of all rows prints as after `// ---- mapped`.

use crate::loops::mapped;
use evoxc::prelude::*;
use evoxc_core::Dim;
use evoxc_ir::{Module, Region};
use evoxc_tests::case::Case;
use evoxc_tests::filetest::prints;

fn without_locations(r: &mut Region) {
    for op in &mut r.ops {
        op.loc = None;
        op.regions.iter_mut().for_each(without_locations);
    }
}

fn change(case: &Case, module: Module) -> Result<Module, String> {
    let [axes] = case.header("axes")[..] else { return Err("a case has one line `// axes: …`".into()) };
    let pattern: Vec<bool> = axes.split(',').map(|a| a.trim() != "none").collect();
    let size = match case.header("rows").first() {
        Some(n) => Dim::constant(n.parse().map_err(|e| format!("rows: {e}"))?),
        None => dim("R"),
    };
    let mut all = mapped(&module, &pattern, size)?;
    all.funcs.iter_mut().for_each(|f| without_locations(&mut f.body));
    Ok(all)
}

#[test]
fn cases_print_as_expected() {
    let failures = prints("vmap", change);
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}
