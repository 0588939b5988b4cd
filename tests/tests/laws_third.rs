//! Third derivatives of every op: jvp of jvp of jvp against differences, and the second derivatives, by either mode,
//! backwards again and in rows. One instance an op; which ops have which derivatives, the list of excuses says.

use evoxc_core::Tensor;
use evoxc_tests::laws::instance::{B, Instance};
use evoxc_tests::laws::program::Program;
use evoxc_tests::laws::{Law, derivative, excuses, host, instances, rows};
use evoxc_tests::random_graph::Rng;
use evoxc_tests::tolerance::Category;
use std::collections::BTreeMap;

/// Inputs of a derivative: those of the function, then random ones.
fn extended(g: &Program, x: &[Tensor]) -> Vec<Tensor> {
    let rng = &mut Rng::new(3);
    let specs = g.graph.input_specs();
    let more = specs.iter().skip(x.len()).map(|t| {
        let shape = t.shape().iter().map(|d| d.evaluate(&mut |_| Some(B)).unwrap_or(0) as usize);
        host::tangent(rng, &Tensor::zeros(t.dtype(), shape.collect::<Vec<_>>()))
    });
    x.iter().cloned().chain(more).collect()
}

fn third(i: &Instance, reverse: bool) -> Result<(), String> {
    let (f, x) = (Program::new(i.graph.clone())?, i.inputs(0));
    if !derivative::has_derivative(&f, &x) {
        return Ok(());
    }
    let forward = f.jvp()?.jvp()?;
    derivative::differences(&forward, &extended(&forward, &x), i.category()).map_err(|e| format!("forward: {e}"))?;
    if reverse {
        let back = f.vjp()?.vjp()?;
        derivative::adjoint(&back, &extended(&back, &x)).map_err(|e| format!("backwards: {e}"))?;
        let mixed = f.vjp()?.jvp()?;
        derivative::adjoint(&mixed, &extended(&mixed, &x)).map_err(|e| format!("mixed: {e}"))?;
        let two = [0, 1].map(|row| extended(&mixed, &i.inputs(row)));
        rows::all_patterns(&mixed, &two, Category::Linalg, false).map_err(|e| format!("mixed, in rows: {e}"))?;
    }
    Ok(())
}

#[test]
fn every_op_has_third_derivatives() {
    let excused = |op: &str, law: Law| excuses::EXCUSES.iter().any(|e| e.ops.contains(&op) && e.laws.contains(&law));
    let all = instances::all().unwrap_or_else(|e| panic!("{}", e.join("\n")));
    let mut of: BTreeMap<&str, &Instance> = BTreeMap::new();
    all.iter().for_each(|i| {
        of.entry(&i.op).or_insert(i);
    });
    let checked = of.iter().filter(|(op, _)| !excused(op, Law::Second));
    let failures: Vec<String> = checked
        .filter_map(|(op, i)| third(i, !excused(op, Law::Vjp)).err().map(|e| format!("{op}: {}: {e}", i.label)))
        .collect();
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}
