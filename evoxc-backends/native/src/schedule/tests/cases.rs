//! Every value case of the project, as scheduled, gives what the reference gives.

use super::evaluate;
use crate::schedule::schedule;
use evoxc_core::{DType, Tensor};
use evoxc_ir::{Literal, Module, parse_literal};
use evoxc_reference::Plan;
use std::path::Path;

/// The cases of a text: their inputs, and their programs.
fn cases(text: &str) -> Vec<(Vec<Tensor>, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut all = vec![];
    for part in lines.split(|l| *l == "// -----") {
        let mut inputs = vec![];
        let mut known = true;
        for l in part {
            if let Some(text) = l.strip_prefix("// input:") {
                match parse_literal(text.trim()) {
                    Ok(Literal::Dense(t)) => inputs.push(t),
                    Ok(Literal::Splat(t, shape)) => {
                        let shape = shape.to_static().unwrap();
                        let all = t.buffer().splat(shape.iter().product());
                        inputs.push(Tensor::from_parts(all, &shape).unwrap());
                    }
                    Err(_) => known = false,
                }
            }
        }
        if known {
            all.push((inputs, part.join("\n")));
        }
    }
    all
}

/// The greatest error that is allowed beside the reference, which sums in another order.
pub(super) fn close(want: &Tensor, got: &Tensor) -> bool {
    if want.dtype() != got.dtype() || want.shape() != got.shape() {
        return false;
    }
    let tolerance = match want.dtype() {
        DType::F64 | DType::C128 => 1e-11,
        DType::F32 | DType::C64 => 2e-5,
        DType::F16 => 4e-3,
        DType::BF16 => 2e-2,
        _ => return want.bit_eq(got),
    };
    let numbers = |t: &Tensor| -> Vec<f64> {
        let wide = if t.dtype().is_complex() { return vec![] } else { t };
        let b = wide.buffer().bytes();
        b.chunks_exact(t.dtype().size())
            .map(|c| {
                let mut all = [0u8; 8];
                all[..c.len()].copy_from_slice(c);
                f64::from_bits(crate::uop::cast(t.dtype(), DType::F64, u64::from_le_bytes(all)))
            })
            .collect()
    };
    let same = |(a, b): (&f64, &f64)| {
        (a.is_nan() && b.is_nan()) || a == b || (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
    };
    numbers(want).iter().zip(&numbers(got)).all(same)
}

#[test]
fn every_value_case() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ir/run");
    let wanted = std::env::var("CASE").unwrap_or_default();
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    let (mut ran, mut failures) = (0, vec![]);
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        if !name.contains(&wanted) {
            continue;
        }
        for (n, (inputs, program)) in cases(&std::fs::read_to_string(&file).unwrap()).into_iter().enumerate() {
            let Ok(module) = Module::parse(&program) else { continue };
            if module.verify().is_err() {
                continue;
            }
            let Ok(want) = Plan::new(&module).and_then(|p| p.run(inputs.clone())) else { continue };
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let s = schedule(&module).map_err(|e| e.to_string())?;
                evaluate::run(&module, &s, &inputs)
            }));
            let fault = match result {
                Ok(Ok(None)) => continue,
                Ok(Ok(Some(got))) if want.iter().zip(&got).all(|(w, g)| close(w, g)) => None,
                Ok(Ok(Some(got))) => Some(format!("want {want:?}\ngot {got:?}")),
                Ok(Err(e)) => Some(e),
                Err(e) => Some(format!("panicked {:?}", e.downcast_ref::<String>())),
            };
            ran += 1;
            if let Some(fault) = fault {
                failures.push(format!(
                    "{name} case {n}: {}\n{fault}",
                    program.lines().find(|l| l.contains("func")).unwrap_or("")
                ));
            }
        }
    }
    println!("{ran} cases, {} failures", failures.len());
    assert!(failures.is_empty(), "{}", failures.iter().take(12).cloned().collect::<Vec<_>>().join("\n\n"));
}
