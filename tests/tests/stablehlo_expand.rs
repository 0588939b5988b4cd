//! What StableHLO cannot say, said in its ops: every value case of the suite gives what it gives without, and nothing
//! is left that StableHLO lacks.

use evoxc_core::{BF16, C64, C128, F16, F32, F64, Tensor};
use evoxc_ir::{Module, Unary};
use evoxc_stablehlo::expand::{ExpandOptions, expand, unsayable};
use evoxc_stage::AnyBackend;
use evoxc_tests::engines::Engines;
use evoxc_tests::tolerance::{Category, compare};
use evoxc_tests::{filetest, run};
use num_complex::Complex;

fn engines() -> AnyBackend {
    AnyBackend::new(Engines)
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
    let backend = engines();
    let options = [
        ExpandOptions { drop_prints: true, ..ExpandOptions::default() },
        ExpandOptions { drop_prints: true, saturate: true, ..ExpandOptions::default() },
        ExpandOptions { drop_prints: true, lean: true, ..ExpandOptions::default() },
        ExpandOptions { drop_prints: true, saturate: true, chlo: true, lean: true },
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

/// Functions that the interpreter takes from a mathematical library, over their whole range: the forms of them stay
/// within the tolerance of what it gives.
#[test]
fn special_functions_over_their_range() {
    use Unary::*;
    let ranges: &[(Unary, f64, f64)] = &[
        (Erf, -6.5, 6.5),
        (Erfc, -6.0, 27.0),
        (ErfInv, -1.0, 1.0),
        (Lgamma, 1e-3, 40.0),
        (Digamma, 1e-3, 0.9),
        (Digamma, 2.5, 40.0),
        (Exp2, -1000.0, 1000.0),
        (Cbrt, -1000.0, 1000.0),
        (Expm1, -40.0, 40.0),
        (Log1p, -1.0, 40.0),
        (Log2, 1e-3, 40.0),
        (Asin, -1.0, 1.0),
        (Acos, -1.0, 1.0),
        (Atan, -30.0, 30.0),
        (Sinh, -705.0, 705.0),
        (Cosh, -705.0, 705.0),
        (Sinh, -3.0, 3.0),
        (Asinh, -30.0, 30.0),
        (Acosh, 1.0, 30.0),
        (Atanh, -1.0, 1.0),
    ];
    let backend = engines();
    let mut failures = vec![];
    for &(op, low, high) in ranges {
        let n = 4001;
        let mut at: Vec<f64> = (0..n).map(|i| low + (high - low) * f64::from(i) / f64::from(n - 1)).collect();
        // Near the ends of [-1, 1], and near 0.
        at.extend((1..300).map(|i| 2f64.powf(-f64::from(i) / 5.6)).flat_map(|e| [e, 1.0 - e, e - 1.0, 1.0 + e, -e]));
        at.retain(|x| (low..=high).contains(x));
        let wide = Tensor::from_vec(at.clone(), [at.len()]).unwrap();
        for (dtype, lean) in [F32, F64, F16, BF16].into_iter().flat_map(|d| [(d, false), (d, true)]) {
            let x = wide.cast(dtype).unwrap();
            let text =
                format!("func @f(%x: {0}) -> {0} {{\n  %y = evoxc.{1}(%x) : {0}\n  return %y\n}}", x.spec(), op.name());
            let module = Module::parse(&text).unwrap();
            let form = expanded(&module, &ExpandOptions { lean, ..ExpandOptions::default() }).unwrap();
            let go =
                |m: &Module| run::execute(&backend, m, std::slice::from_ref(&x)).map_err(|e| format!("{e:?}")).unwrap();
            let (want, got) = (go(&module), go(&form));
            if let Err(e) = compare(&got[0], &want[0], Category::Transcendental) {
                let at: usize = e.split([' ', ':']).nth(1).and_then(|i| i.parse().ok()).unwrap_or(0);
                let input = x.cast(F64).unwrap().to_vec::<f64>().unwrap()[at];
                failures.push(format!("{} {dtype} of {input}: {}", op.name(), e.lines().next().unwrap_or_default()));
            }
        }
    }
    report(&failures);
}

/// Near the zeros of lgamma and digamma, where the interpreter's digits cancel: mpmath, in 40 digits.
#[test]
fn gamma_functions_near_their_zeros() {
    let digamma = [
        (1.15097125, -0.3530205829909893),
        (1.25, -0.22745353337626542),
        (1.4, -0.06138454458511624),
        (1.5, 0.03648997397857652),
        (2.0, 0.42278433509846713),
        (2.25, 0.5725464666237345),
    ];
    let lgamma = [
        (1.0009765625, -0.0005629031799912047),
        (1.5, -0.12078223763524522),
        (1.9990234375, -0.0004125677359714894),
        (2.0009765625, 0.00041318279306425424),
        (0.9990234375, 0.0005644719118551234),
        (2.5, 0.2846828704729192),
        (0.4990234375, 0.5742847888974144),
        (7.9, 8.32426586800881),
        (8.0, 8.525161361065415),
        (-0.5, 1.2655121234846454),
    ];
    for (name, table) in [("digamma", &digamma[..]), ("lgamma", &lgamma)] {
        let (x, want): (Vec<f64>, Vec<f64>) = table.iter().copied().unzip();
        let (x, want) = (Tensor::from_vec(x, [table.len()]).unwrap(), Tensor::from_vec(want, [table.len()]).unwrap());
        let text = format!("func @f(%x: {0}) -> {0} {{\n  %y = evoxc.{name}(%x) : {0}\n  return %y\n}}", x.spec());
        let form = expanded(&Module::parse(&text).unwrap(), &ExpandOptions::default()).unwrap();
        let got = run::execute(&engines(), &form, &[x]).unwrap();
        compare(&got[0], &want, Category::Transcendental).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}

/// Fourier transforms of every small length, of large ones with few factors, and of several axes, against the
/// interpreter's.
#[test]
fn fourier_transforms_of_many_lengths() {
    let lean = ExpandOptions { lean: true, ..ExpandOptions::default() };
    let shapes = (1..40).map(|n| vec![2, n]).chain([vec![128], vec![97], vec![210], vec![6, 17, 20], vec![4, 9]]);
    for shape in shapes {
        let n: usize = shape.iter().product();
        let values = |k: usize| (0..n).map(|i| ((i * 7 + k) % 11) as f64 - 4.5).collect::<Vec<f64>>();
        let z: Vec<_> = values(1).into_iter().zip(values(5)).map(|(re, im)| Complex::new(re, im)).collect();
        for axes in 1..=shape.len() {
            for (kind, dtype) in
                [("fft", C128), ("ifft", C64), ("rfft", F64), ("rfft", F32), ("irfft", C64), ("irfft", C128)]
            {
                let x = match dtype.is_complex() {
                    true => Tensor::from_vec(z.clone(), shape.clone()).unwrap().cast(dtype).unwrap(),
                    false => Tensor::from_vec(values(1), shape.clone()).unwrap().cast(dtype).unwrap(),
                };
                // The half of a spectrum is that of an even or an odd number of reals.
                for odd in [0, 1] {
                    let mut length: Vec<usize> = shape[shape.len() - axes..].to_vec();
                    let mut out = shape.clone();
                    let (last, end) = (length.len() - 1, out.len() - 1);
                    match kind {
                        "irfft" if 2 * out[end] + odd < 3 => continue,
                        "irfft" => {
                            length[last] = 2 * out[end] - 2 + odd;
                            out[end] = length[last];
                        }
                        "rfft" => out[end] = out[end] / 2 + 1,
                        _ => {}
                    }
                    let result = match kind {
                        "rfft" => {
                            if dtype == F64 {
                                C128
                            } else {
                                C64
                            }
                        }
                        "irfft" => dtype.real(),
                        _ => dtype,
                    };
                    let result = evoxc_core::spec(result, out);
                    let text = format!(
                        "func @f(%x: {0}) -> {result} {{\n  %y = evoxc.fft(%x) {{kind = {kind}, length = {length:?}}} : {result}\n  return %y\n}}",
                        x.spec()
                    );
                    let module = Module::parse(&text).unwrap();
                    module.verify().unwrap();
                    let form = expanded(&module, &lean).unwrap();
                    let go = |m: &Module| run::execute(&engines(), m, std::slice::from_ref(&x)).unwrap();
                    let (want, got) = (go(&module), go(&form));
                    compare(&got[0], &want[0], Category::Linalg).unwrap_or_else(|e| panic!("{text}\n{e}"));
                }
            }
        }
    }
}

/// atan2 and powers of a lean consumer, of pairs in all directions.
#[test]
fn pairs_in_all_directions() {
    let ends = [
        0.0,
        -0.0,
        1e-300,
        1.0,
        -1.0,
        0.5,
        2.0,
        3.0,
        -3.0,
        -2.5,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        1e300,
        -1e-300,
    ];
    let mut pairs: Vec<(f64, f64)> = ends.iter().flat_map(|&y| ends.iter().map(move |&x| (y, x))).collect();
    pairs.extend((0..3000).map(|i| f64::from(i) * 0.0021).map(|t| (2.5 * t.sin(), 2.5 * t.cos())));
    let (y, x): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
    let [y, x] = [y, x].map(|v| Tensor::from_vec(v.clone(), [v.len()]).unwrap());
    for dtype in [F32, F64, F16, BF16] {
        let (y, x) = (y.cast(dtype).unwrap(), x.cast(dtype).unwrap());
        for op in ["atan2", "pow"] {
            let text = format!(
                "func @f(%y: {0}, %x: {0}) -> {0} {{\n  %a = evoxc.{op}(%y, %x) : {0}\n  return %a\n}}",
                x.spec()
            );
            let module = Module::parse(&text).unwrap();
            let form = expanded(&module, &ExpandOptions { lean: true, ..ExpandOptions::default() }).unwrap();
            let go = |m: &Module| run::execute(&engines(), m, &[y.clone(), x.clone()]).unwrap();
            compare(&go(&form)[0], &go(&module)[0], Category::Transcendental)
                .unwrap_or_else(|e| panic!("{op} {dtype}: {e}"));
        }
    }
}
