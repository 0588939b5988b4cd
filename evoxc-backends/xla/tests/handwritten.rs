//! StableHLO text by hand, through every stage of the plugin: compile, run, save, open, fail.

mod support;

use evoxc_core::{BOOL, C64, DType, Device, Error, F16, F32, I32, Tensor, TensorSpec, spec};
use evoxc_stage::{Backend, OptLevel};
use evoxc_xla::{Xla, XlaFlag, XlaProgram};
use support::{load, run, xla};

const ADD: &str = "module @add { func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
} }";

fn v4() -> TensorSpec {
    spec(F32, [4])
}

#[test]
fn adds() {
    let Some(xla) = xla() else { return };
    let (x, y) = (Tensor::from([1f32, 2.0, 3.0, 4.0]), Tensor::from([10f32, 20.0, 30.0, 40.0]));
    let out = run(&xla, ADD, vec![x, y], &[v4()]).unwrap();
    assert_eq!(out[0].to_vec::<f32>().unwrap(), [11.0, 22.0, 33.0, 44.0]);
    assert_eq!((out[0].device(), out[0].spec()), (Device::cpu(), v4()));
    assert!(out[0].resident().is_some());
}

#[test]
fn results_stay_and_are_read_in_place() {
    let Some(xla) = xla() else { return };
    let exe = load(&xla, ADD, &[v4(), v4()], &[v4()]).unwrap();
    let ones = Tensor::ones(F32, [4]);
    let mut x = Tensor::zeros(F32, [4]);
    for _ in 0..10 {
        x = exe.run(vec![x, ones.clone()]).unwrap().remove(0);
    }
    let first = x.as_slice::<f32>().unwrap().as_ptr();
    assert_eq!(x.as_slice::<f32>().unwrap(), [10.0; 4]);
    assert_eq!(x.clone().as_slice::<f32>().unwrap().as_ptr(), first);
    assert_eq!(x.view::<f32>().unwrap().shape(), [4]);
    assert_eq!(x.buffer().bytes().len(), 16);
    assert!(x.bit_eq(&Tensor::full(F32, [4], 10)));
    assert_eq!(x.to_string(), "tensor<4xf32> [10, 10, 10, 10]");
    assert_eq!(x.reshape([2, 2]).unwrap().to_vec::<f32>().unwrap(), [10.0; 4]);
    assert_eq!(x.cast(I32).unwrap().to_vec::<i32>().unwrap(), [10; 4]);
}

#[test]
fn every_dtype_goes_in_and_comes_out() {
    let Some(xla) = xla() else { return };
    for d in DType::ALL {
        for (shape, n) in
            [(vec![], 1), (vec![3], 3), (vec![2, 3], 6), (vec![3, 1, 2, 2], 12), (vec![0, 2], 0), (vec![5000], 5000)]
        {
            let t = spec(d, shape.as_slice());
            let name = match d {
                DType::BOOL => "i1".to_string(),
                DType::U8 | DType::U16 | DType::U32 | DType::U64 => format!("u{}", d.to_string().replace('u', "i")),
                DType::I8 | DType::I16 | DType::I32 | DType::I64 => d.to_string(),
                DType::C64 => "complex<f32>".into(),
                DType::C128 => "complex<f64>".into(),
                DType::F16 | DType::BF16 | DType::F32 | DType::F64 => d.to_string(),
            };
            let dims: String = shape.iter().map(|n: &usize| format!("{n}x")).collect();
            let ty = format!("tensor<{dims}{name}>");
            let text = format!("func.func @main(%x: {ty}) -> {ty} {{ return %x : {ty} }}");
            let x: Vec<u8> = (0..n * d.size()).map(|i| if d == BOOL { i as u8 % 2 } else { i as u8 % 63 }).collect();
            let x = evoxc_core::Buffer::from_le_bytes(d, &x).unwrap();
            let x = Tensor::from_buffer(x, shape.as_slice()).unwrap();
            let out = run(&xla, &text, vec![x.clone()], &[t]).unwrap().remove(0);
            assert!(out.bit_eq(&x), "{ty}: {x} became {out}");
            // By the plugin's copy as well.
            let copy = Tensor::from_buffer(out.buffer().clone(), shape.as_slice()).unwrap();
            assert!(copy.bit_eq(&x), "{ty}: {x} became {copy}");
        }
    }
}

#[test]
fn wrong_inputs_are_refused_before_the_plugin_sees_them() {
    let Some(xla) = xla() else { return };
    let exe = load(&xla, ADD, &[v4(), v4()], &[v4()]).unwrap();
    let ok = Tensor::ones(F32, [4]);
    // The same number of bytes, which is all that PJRT looks at.
    for bad in [Tensor::ones(F32, [2, 2]), Tensor::ones(I32, [4]), Tensor::ones(F16, [8]), Tensor::ones(C64, [2])] {
        let e = exe.run(vec![ok.clone(), bad.clone()]).unwrap_err();
        let Error::Run(e) = e else { panic!("{e}") };
        assert!(e.to_string().contains("tensor<4xf32>") && e.to_string().contains(&bad.spec().to_string()), "{e}");
    }
    assert!(matches!(exe.run(vec![ok]), Err(Error::Run(_))));
}

#[test]
fn errors_name_their_stage_and_stay_short() {
    let Some(xla) = xla() else { return };
    let message = |e: Error| match e {
        Error::Backend(e) => e.to_string(),
        e => panic!("{e}"),
    };
    let e = message(load(&xla, "func.func @main( {", &[], &[]).err().unwrap());
    assert!(e.starts_with("backend xla: compile: ") && !e.contains('\n') && e.len() < 800, "{e}");
    let unknown = ADD.replace("stablehlo.add", "stablehlo.no_such_op");
    let e = message(load(&xla, &unknown, &[v4(), v4()], &[v4()]).err().unwrap());
    assert!(e.contains("no_such_op") && e.lines().count() == 1, "{e}");
    let flagged = xla.clone().flag("xla_no_such_flag", true);
    let e = message(load(&flagged, ADD, &[v4(), v4()], &[v4()]).err().unwrap());
    assert!(e.contains("compile") && e.contains("xla_no_such_flag"), "{e}");
    let e = message(load(&xla, ADD, &[v4(), v4()], &[v4(), v4()]).err().unwrap());
    assert!(e.contains("load executable: the executable gives 1 results, and 2 are expected"), "{e}");
    let exe = load(&xla, ADD, &[v4(), v4()], &[spec(F32, [2, 2])]).unwrap();
    let e = message(exe.run(vec![Tensor::ones(F32, [4]); 2]).err().unwrap());
    assert!(e.contains("result 0 of the executable is no tensor<2x2xf32>"), "{e}");
    let exe = load(&xla, ADD, &[spec(F32, [2, 2]), v4()], &[v4()]).unwrap();
    assert!(exe.run(vec![Tensor::ones(F32, [2, 2]), Tensor::ones(F32, [4])]).is_ok(), "PJRT checks sizes only");
    let exe = load(&xla, ADD, &[spec(F32, [2]), v4()], &[v4()]).unwrap();
    let e = message(exe.run(vec![Tensor::ones(F32, [2]), Tensor::ones(F32, [4])]).err().unwrap());
    assert!(e.starts_with("backend xla: execute: "), "{e}");
}

#[test]
fn a_file_that_is_no_plugin_says_what_to_install() {
    let missing = Xla::plugin("/no/such/plugin.so").err().unwrap().to_string();
    assert!(missing.contains("load plugin: /no/such/plugin.so") && missing.contains("pip install"), "{missing}");
    let this = Xla::plugin(std::env::current_exe().unwrap()).err().unwrap().to_string();
    assert!(this.contains("load plugin") && this.contains("pip install"), "{this}");
    // The loader ends the process over a library that was cut short.
    let Some(plugin) = support::plugin() else { return };
    let half = std::env::temp_dir().join(format!("evoxc-half-a-plugin-{}.so", std::process::id()));
    let start = std::fs::File::open(&plugin).unwrap();
    let size = start.metadata().unwrap().len();
    std::io::copy(&mut std::io::Read::take(start, size / 3), &mut std::fs::File::create(&half).unwrap()).unwrap();
    let e = Xla::plugin(&half).err().unwrap().to_string();
    std::fs::remove_file(half).unwrap();
    assert!(e.contains("cut short") && e.contains("pip install"), "{e}");
}

/// The environment is that of a process, so each level has one.
#[test]
fn a_level_in_the_environment_must_be_one() {
    const CHILD: &str = "EVOXC_TEST_CHILD";
    let Some(xla) = xla() else { return };
    if std::env::var_os(CHILD).is_some() {
        let program = XlaProgram::from_text(ADD, vec![v4(), v4()], vec![v4()]).unwrap();
        let fixed = xla.clone().opt_level(OptLevel::O1);
        assert!(fixed.compile(&program).is_ok(), "what is given wins");
        println!("{}", xla.compile(&program).map_or_else(|e| e.to_string(), |_| xla.abi_key()));
        return;
    }
    let wrong = "backend xla: compile: EVOXC_OPT_LEVEL";
    let levels = [("7", wrong), ("fast", wrong), ("-1", wrong), ("", wrong), ("3", "xla_backend_optimization_level=3")];
    for (level, wanted) in levels {
        let out = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_level_in_the_environment_must_be_one", "--nocapture"])
            .env(CHILD, "1")
            .env(OptLevel::ENV, level)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&out.stdout);
        assert!(out.status.success() && text.contains(wanted), "{level}: {text}");
    }
}

#[test]
fn a_number_of_devices_that_is_none_is_an_error() {
    let Some(xla) = xla() else { return };
    let program = XlaProgram::from_text(ADD, vec![v4(), v4()], vec![v4()]).unwrap();
    // The plugin would end the process over text and fractions.
    for count in [XlaFlag::from(0), (-1).into(), 1.5.into(), "two".into(), true.into()] {
        let e = xla.clone().create_option("cpu_device_count", count).compile(&program).err().unwrap().to_string();
        assert!(e.contains("create client: `cpu_device_count` is") && e.contains("from 1"), "{e}");
    }
}

#[test]
fn three_hundred_inputs() {
    let Some(xla) = xla() else { return };
    let n = 300;
    let args: Vec<String> = (0..n).map(|i| format!("%a{i}: tensor<2xf32>")).collect();
    let mut text = format!("func.func @main({}) -> tensor<2xf32> {{\n", args.join(", "));
    for i in 1..n {
        let left = if i == 1 { "%a0".into() } else { format!("%s{}", i - 1) };
        text += &format!("  %s{i} = stablehlo.add {left}, %a{i} : tensor<2xf32>\n");
    }
    text += &format!("  return %s{} : tensor<2xf32>\n}}", n - 1);
    let inputs: Vec<Tensor> = (0..n).map(|i| Tensor::from([i as f32, 1.0])).collect();
    let out = run(&xla, &text, inputs, &[spec(F32, [2])]).unwrap();
    // Source: 0 + 1 + … + 299 = 299 * 300 / 2.
    assert_eq!(out[0].to_vec::<f32>().unwrap(), [44850.0, 300.0]);
}

#[test]
fn artifacts_are_saved_and_opened() {
    let Some(xla) = xla() else { return };
    let program = XlaProgram::from_text(ADD, vec![v4(), v4()], vec![v4()]).unwrap();
    let lowered = xla.lowered_from_bytes(&xla.lowered_to_bytes(&program).unwrap()).unwrap();
    assert_eq!(lowered, program);
    let bytes = xla.artifact_to_bytes(&xla.compile(&lowered).unwrap()).unwrap();
    let artifact = xla.artifact_from_bytes(&bytes).unwrap();
    assert_eq!((artifact.inputs(), artifact.outputs()), (&[v4(), v4()][..], &[v4()][..]));
    let exe = xla.load(&artifact, Device::cpu()).unwrap();
    let out = exe.run(vec![Tensor::ones(F32, [4]); 2]).unwrap();
    assert_eq!(out[0].to_vec::<f32>().unwrap(), [2.0; 4]);
    // A file that was read is written again as it was.
    assert_eq!(xla.artifact_to_bytes(&artifact).unwrap(), bytes);
}

#[test]
fn programs_without_inputs_and_outputs_are_saved_and_opened() {
    let Some(xla) = xla() else { return };
    for text in ["func.func @main() {\n  return\n}", "\nfunc.func @main() {\n\n  return\n}\n\n"] {
        let program = XlaProgram::from_text(text, vec![], vec![]).unwrap();
        let lowered = xla.lowered_from_bytes(&xla.lowered_to_bytes(&program).unwrap()).unwrap();
        assert_eq!(lowered, program);
        let artifact = xla.compile(&lowered).unwrap();
        let artifact = xla.artifact_from_bytes(&xla.artifact_to_bytes(&artifact).unwrap()).unwrap();
        assert!(xla.load(&artifact, Device::cpu()).unwrap().run(vec![]).unwrap().is_empty());
    }
}

#[test]
fn damaged_payloads_are_errors() {
    let Some(xla) = xla() else { return };
    let program = XlaProgram::from_text(ADD, vec![v4(), v4()], vec![v4()]).unwrap();
    let good = xla.artifact_to_bytes(&xla.compile(&program).unwrap()).unwrap();
    // Executables are machine code: any change of them is found before the plugin gets them.
    for at in (0..good.len()).step_by(good.len() / 50) {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        assert!(xla.artifact_from_bytes(&bad).is_err(), "byte {at}");
        assert!(xla.artifact_from_bytes(&good[..at]).is_err(), "cut at {at}");
    }
    for bad in
        [&b""[..], b"\n\n", b"in f32 4\nwhat\n\n", b"in f32 -4\n\nx", b"in f32 99999999999999999999\n\n", b"\xff\n\n"]
    {
        assert!(xla.lowered_from_bytes(bad).is_err() || bad == b"\n\n", "{bad:?}");
        let read = xla.artifact_from_bytes(bad);
        assert!(read.and_then(|a| xla.load(&a, Device::cpu())).is_err(), "{bad:?}");
    }
}

#[test]
fn the_abi_key_has_plugin_processor_and_flags() {
    let Some(xla) = xla() else { return };
    let key = xla.abi_key();
    assert!(key.contains("plugin ") && !key.contains("plugin none"), "{key}");
    assert!(key.contains(std::env::consts::ARCH), "{key}");
    assert!(key.contains("xla_backend_optimization_level="), "{key}");
    assert_ne!(key, xla.clone().opt_level(OptLevel::O0).abi_key());
    assert_ne!(key, xla.clone().flag("xla_cpu_enable_fast_math", true).abi_key());
    assert_eq!(key, xla.clone().donation(true).abi_key());
    assert_ne!(key, xla.clone().donation(false).abi_key());
    // What changes no artifact is told apart in caches of executables.
    let key = xla.runtime_key();
    assert_ne!(key, xla.clone().device(1).runtime_key());
    assert_ne!(key, xla.clone().create_option("cpu_device_count", 2).runtime_key());
}

#[test]
fn levels_and_flags_are_taken() {
    let Some(xla) = xla() else { return };
    for level in [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3] {
        let x = xla.clone().opt_level(level).flag("xla_cpu_enable_fast_math", false);
        let out = run(&x, ADD, vec![Tensor::ones(F32, [4]); 2], &[v4()]).unwrap();
        assert_eq!(out[0].to_vec::<f32>().unwrap(), [2.0; 4]);
    }
    let raw = xla.opt_level(OptLevel::O3).flag("xla_backend_optimization_level", 0);
    assert!(run(&raw, ADD, vec![Tensor::ones(F32, [4]); 2], &[v4()]).is_ok());
}

#[test]
fn results_in_another_order_are_refused() {
    let Some(xla) = xla() else { return };
    let text = |order: &str| {
        format!(
            "module {{ func.func @main(%x: tensor<2x3xf32>) -> (tensor<3x2xf32> {{mhlo.layout_mode = \"{order}\"}}) {{
              %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
              return %0 : tensor<3x2xf32>
            }} }}"
        )
    };
    let x = || vec![Tensor::from([[1f32, 2.0, 3.0], [4.0, 5.0, 6.0]])];
    let e = run(&xla, &text("{0,1}"), x(), &[spec(F32, [3, 2])]).unwrap_err().to_string();
    assert!(e.contains("not kept row by row") && e.contains("layout_mode"), "{e}");
    let y = run(&xla, &text("default"), x(), &[spec(F32, [3, 2])]).unwrap().remove(0);
    // In place, and by the plugin's copy.
    assert_eq!(y.to_vec::<f32>().unwrap(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    assert!(
        Tensor::from_buffer(y.into_buffer(), [3, 2]).unwrap().to_vec::<f32>().unwrap().starts_with(&[1.0, 4.0, 2.0])
    );
}

#[test]
fn threads_run_one_program_at_once() {
    let Some(xla) = xla() else { return };
    let exe = load(&xla, ADD, &[v4(), v4()], &[v4()]).unwrap();
    let shared = run(&xla, ADD, vec![Tensor::ones(F32, [4]); 2], &[v4()]).unwrap().remove(0);
    std::thread::scope(|s| {
        for thread in 0..8 {
            let (exe, shared) = (&exe, shared.clone());
            s.spawn(move || {
                let mut x = Tensor::full(F32, [4], f64::from(thread));
                for _ in 0..100 {
                    x = exe.run(vec![x, shared.clone()]).unwrap().remove(0);
                }
                assert_eq!(x.to_vec::<f32>().unwrap(), [thread as f32 + 200.0; 4]);
            });
        }
    });
    assert_eq!(shared.to_vec::<f32>().unwrap(), [2.0; 4]);
}
