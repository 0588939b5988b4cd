//! The value cases of tests/ir/run as further instances: ⟨vjp u, v⟩ = ⟨u, jvp v⟩ on every one with small, finite floats,
//! in every dtype. (That vmap is a loop over them is in `vmap`.)

use evoxc::Graph;
use evoxc_core::Tensor;
use evoxc_tests::filetest::each;
use evoxc_tests::laws::program::Program;
use evoxc_tests::laws::{Law, Tested, derivative, excuses, host, ops};
use evoxc_tests::run::load;
use std::cell::Cell;

fn finite(list: &[Tensor]) -> bool {
    list.iter().all(|t| host::numbers(t).iter().all(|z| z.re.is_finite() && z.im.is_finite()))
}

#[test]
fn value_cases_have_adjoint_derivatives() {
    let checked = Cell::new(0);
    let all = ops();
    let excused = |op: &str| excuses::EXCUSES.iter().any(|e| e.ops.contains(&op) && e.laws.contains(&Law::Vjp));
    let failures = each("run", |case| {
        let stem = case.file.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        if !all.contains(&stem) || excused(&stem) {
            return Ok(());
        }
        let value = load(case)?;
        let small = value.inputs.iter().map(Tensor::len).sum::<usize>() <= 64;
        if !small || !finite(&value.inputs) || !finite(&value.expected) {
            return Ok(());
        }
        let f = Program::new(Graph::from_module(value.module).map_err(|e| e.to_string())?)?;
        // Columns beyond those of the matrix, in full factorisations, are any that complete it: they have no derivative.
        let free = case.program.contains("full = true");
        match derivative::adjoint(&f, &value.inputs) {
            Ok(Tested::Holds) => checked.set(checked.get() + 1),
            Ok(Tested::Nothing) => {}
            Err(e) if free && e.contains("not determined by") => {}
            Err(e) => return Err(e),
        }
        Ok(())
    });
    assert!(checked.get() > 900, "only {} cases have derivatives", checked.get());
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}
