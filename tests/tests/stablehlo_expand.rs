//! What StableHLO cannot say, said in its ops: every value case of the suite gives what it gives without, and nothing
//! is left that StableHLO lacks.

use evoxc_backends::backends;
use evoxc_ir::Module;
use evoxc_stablehlo::expand::{ExpandOptions, expand, unsayable};
use evoxc_stage::{AnyBackend, Backend};
use evoxc_tests::{filetest, run};

fn interp() -> AnyBackend {
    backends().into_iter().find(|b| b.name() == "interp").expect("the interpreter is compiled in")
}

/// The expanded module, verified, with nothing left to expand.
fn expanded(module: &Module, options: &ExpandOptions) -> Result<Module, String> {
    let out = expand(module, options).map_err(|e| e.to_string())?;
    out.verify().map_err(|e| format!("{e}\n{out}"))?;
    let left = unsayable(&out, options);
    if !left.is_empty() {
        return Err(format!("it leaves {left:?}\n{out}"));
    }
    for (a, b) in module.funcs.iter().zip(&out.funcs).take(1) {
        if (a.inputs(), a.outputs()) != (b.inputs(), b.outputs()) || a.name != b.name {
            return Err(format!("it changes the signature\n{out}"));
        }
    }
    Ok(out)
}

fn report(failures: &[String]) {
    let shown = if std::env::var_os("ALL").is_some() { failures.len() } else { 20 };
    let shown: Vec<&String> = failures.iter().take(shown).collect();
    assert!(failures.is_empty(), "{} failures\n{shown:#?}", failures.len());
}

/// Every value case: what is expected of it, within the tolerance of its category.
#[test]
fn value_cases_agree() {
    let backend = interp();
    let options = [
        ExpandOptions { drop_prints: true, ..ExpandOptions::default() },
        ExpandOptions { drop_prints: true, saturate: true, chlo: true },
    ];
    report(&filetest::each("run", |case| {
        let value = run::load(case)?;
        for options in &options {
            let module = expanded(&value.module, options)?;
            let got = match run::execute(&backend, &module, &value.inputs) {
                Ok(got) => got,
                Err(run::Failure::Unsupported(e) | run::Failure::Wrong(e)) => return Err(e),
            };
            run::judge(&got, &value)?;
        }
        Ok(())
    }));
}
