//! Programs of StableHLO and CHLO text become graphs whose values are those that the specification says.

use evoxc::{Dyn, Error, Graph, Interp, Tensor, Unsupported};
use evoxc_stablehlo::{ImportOptions, import, import_with};

fn run(graph: &Graph, inputs: Vec<Tensor>) -> Vec<Tensor> {
    let exe = graph.lower(&Interp).unwrap().compile().unwrap().load(evoxc::Device::cpu()).unwrap();
    let n = inputs.len();
    let def = if n == 1 { evoxc::TreeDef::leaf() } else { evoxc::TreeDef::leaves_tuple(n) };
    let inputs: Dyn<Tensor> = def.unflatten(inputs).unwrap();
    exe.run(inputs).unwrap().leaves().to_vec()
}

fn function(signature: &str, body: &str) -> String {
    format!("func.func @main({signature} {{\n{body}\n}}")
}

#[track_caller]
fn imported(text: &str) -> Graph {
    match import(text) {
        Ok(g) => g,
        Err(e) => panic!("{e:?}"),
    }
}

#[track_caller]
fn values(text: &str, inputs: Vec<Tensor>) -> Vec<f32> {
    run(&imported(text), inputs)[0].to_vec().unwrap()
}

/// The error of a program that is refused.
#[track_caller]
fn refused(text: &str) -> evoxc::ImportError {
    match import(text) {
        Err(Error::Import(e)) => *e,
        other => panic!("{other:?}"),
    }
}

#[test]
fn named_combiners_become_named_ops_and_keep_their_start() {
    let text = |op: &str, init: &str| {
        function(
            "%x: tensor<2x3xf32>) -> tensor<2xf32>",
            &format!(
                "%i = stablehlo.constant dense<{init}> : tensor<f32>
                 %0 = stablehlo.reduce(%x init: %i) applies stablehlo.{op} across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
                 return %0 : tensor<2xf32>"
            ),
        )
    };
    let x = || vec![Tensor::from([[1f32, 2.0, 3.0], [4.0, 5.0, -6.0]])];
    // NumPy: np.add.reduce, np.maximum.reduce along axis 1, with an initial value.
    assert_eq!(values(&text("add", "0.0"), x()), [6.0, 3.0]);
    assert_eq!(values(&text("add", "10.0"), x()), [16.0, 13.0]);
    assert_eq!(values(&text("maximum", "4.5"), x()), [4.5, 5.0]);
    let graph = imported(&text("add", "0.0"));
    assert!(graph.ops().iter().any(|op| op.prim.name() == "reduce_sum"), "{graph}");
    assert!(!graph.ops().iter().any(|op| op.prim.name() == "add"), "{graph}");
}

#[test]
fn other_combiners_keep_their_body() {
    let text = function(
        "%x: tensor<4xf32>) -> tensor<f32>",
        "%i = stablehlo.constant dense<1.0> : tensor<f32>
         %0 = stablehlo.reduce(%x init: %i) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
          reducer(%a: tensor<f32>, %b: tensor<f32>) {
           %1 = stablehlo.multiply %a, %b : tensor<f32>
           %2 = stablehlo.add %1, %b : tensor<f32>
           stablehlo.return %2 : tensor<f32>
         }
         return %0 : tensor<f32>",
    );
    // ((((1·1+1)·2+2)·3+3)·4+4) by hand.
    assert_eq!(values(&text, vec![Tensor::from([1f32, 2.0, 3.0, 4.0])]), [88.0]);
}

#[test]
fn functions_stay_functions_and_tokens_go() {
    let text = "module @m {
      func.func public @main(%x: tensor<2xf32>, %t: !stablehlo.token) -> (tensor<2xf32>, !stablehlo.token) {
        %0 = call @twice(%x) : (tensor<2xf32>) -> tensor<2xf32>
        %1 = call @twice(%0) : (tensor<2xf32>) -> tensor<2xf32>
        %2 = stablehlo.after_all %t, %t : !stablehlo.token
        return %1, %2 : tensor<2xf32>, !stablehlo.token
      }
      func.func private @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
        %0 = stablehlo.add %x, %x : tensor<2xf32>
        return %0 : tensor<2xf32>
      }
    }";
    let graph = imported(text);
    assert_eq!(graph.module().funcs.len(), 2);
    assert_eq!(graph.input_specs().len(), 1);
    assert_eq!(run(&graph, vec![Tensor::from([1f32, 2.0])])[0].to_vec::<f32>().unwrap(), [4.0, 8.0]);
}

#[test]
fn names_and_places_are_kept() {
    let text = function(
        "%weights: tensor<2xf32>) -> tensor<2xf32>",
        "%0 = stablehlo.negate %weights : tensor<2xf32> loc(\"model.py\":3:4)
         %1 = stablehlo.abs %0 : tensor<2xf32>
         return %1 : tensor<2xf32>",
    );
    let options = ImportOptions { file: Some("model.mlir".into()), ..ImportOptions::default() };
    let graph = import_with(&text, &options).unwrap().graph;
    let main = graph.module().main().unwrap();
    assert_eq!(main.values[0].name.as_deref(), Some("weights"));
    assert_eq!(main.body.ops[0].loc.unwrap().to_string(), "model.py:3:4");
    assert_eq!(main.body.ops[1].loc.unwrap().to_string(), "model.mlir:3:15");
}

#[test]
fn unknown_extents_are_symbols_that_equations_decide() {
    // As `jax.export` prints a function of a symbolic size: the size is an argument, too.
    let text = function(
        "%n: tensor<i64>, %x: tensor<?x4xf32>, %y: tensor<?x1xf32>) -> tensor<?xf32>",
        "%c = stablehlo.constant dense<4> : tensor<1xi64>
         %1 = stablehlo.reshape %n : (tensor<i64>) -> tensor<1xi64>
         %2 = stablehlo.concatenate %1, %c, dim = 0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
         %3 = stablehlo.dynamic_broadcast_in_dim %y, %2, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi64>) -> tensor<?x4xf32>
         %4 = stablehlo.add %x, %3 : tensor<?x4xf32>
         %5 = stablehlo.multiply %1, %c : tensor<1xi64>
         %6 = stablehlo.dynamic_reshape %4, %5 : (tensor<?x4xf32>, tensor<1xi64>) -> tensor<?xf32>
         return %6 : tensor<?xf32>",
    );
    let graph = imported(&text);
    let shapes: Vec<String> = graph.input_specs().iter().map(ToString::to_string).collect();
    assert_eq!(shapes, ["tensor<i64>", "tensor<nx4xf32>", "tensor<nx1xf32>"]);
    assert_eq!(graph.output_specs()[0].to_string(), "tensor<[4*n]xf32>");
    let y = run(&graph, vec![Tensor::from(2i64), Tensor::ones(evoxc::F32, [2, 4]), Tensor::from([[1f32], [2.0]])]);
    assert_eq!(y[0].to_vec::<f32>().unwrap(), [2.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0, 3.0]);
}

#[test]
fn an_extent_that_must_be_even_is_twice_a_symbol() {
    let text = function(
        "%x: tensor<?xf32>) -> tensor<?x2xf32>",
        "%0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
         %c = stablehlo.constant dense<2> : tensor<i32>
         %1 = stablehlo.divide %0, %c : tensor<i32>
         %2 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
         %3 = stablehlo.reshape %c : (tensor<i32>) -> tensor<1xi32>
         %4 = stablehlo.concatenate %2, %3, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
         %5 = stablehlo.dynamic_reshape %x, %4 : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x2xf32>
         return %5 : tensor<?x2xf32>",
    );
    let graph = imported(&text);
    assert_eq!(graph.input_specs()[0].to_string(), "tensor<[2*x_0]xf32>");
    assert_eq!(graph.output_specs()[0].to_string(), "tensor<x_0x2xf32>".replace("x_0x2", "[x_0]x2"));
}

#[test]
fn extents_can_be_given() {
    let text = function("%x: tensor<?x?xf32>) -> tensor<?x?xf32>", "return %x : tensor<?x?xf32>");
    let extents = vec![("x".into(), 0, "B".into()), ("x".into(), 1, "2*B + 1".into())];
    let options = ImportOptions { extents, ..ImportOptions::default() };
    let graph = import_with(&text, &options).unwrap().graph;
    assert_eq!(graph.input_specs()[0].to_string(), "tensor<Bx[2*B + 1]xf32>");
}

#[test]
fn what_is_left_out_says_which_kind() {
    let one = |signature: &str, op: &str| refused(&function(signature, &format!("{op}\nreturn")));
    let kind = |signature: &str, op: &str| one(signature, op).unsupported;
    assert_eq!(
        kind(
            "%x: tensor<2x!quant.uniform<i8:f32, 0.1>>)",
            "%0 = stablehlo.add %x, %x : tensor<2x!quant.uniform<i8:f32, 0.1>>"
        ),
        Some(Unsupported::QuantizedType)
    );
    assert_eq!(kind("%x: tensor<2xi4>)", "%0 = stablehlo.add %x, %x : tensor<2xi4>"), Some(Unsupported::ElementType));
    assert_eq!(
        kind(
            "%t: !stablehlo.token)",
            "%0:2 = \"stablehlo.infeed\"(%t) : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)"
        ),
        Some(Unsupported::HostTransfer)
    );
    let shape = "%0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi64>) -> tensor<?xf32>";
    assert_eq!(kind("%s: tensor<1xi64>)", shape), Some(Unsupported::DataDependentShape));
    let call = "%0 = stablehlo.custom_call @mystery(%x) : (tensor<f32>) -> tensor<f32>";
    let e = one("%x: tensor<f32>)", call);
    assert_eq!(e.unsupported, Some(Unsupported::CustomCall));
    assert!(e.message.contains("mystery") && e.remedy.is_some(), "{e}");
    assert_eq!((e.line, e.column), (2, 6));
    assert_eq!(kind("%x: tensor<f32>)", "check.expect_eq %x, %x : tensor<f32>"), Some(Unsupported::Check));
    let e = one("%x: tensor<f32>)", "%0 = \"stablehlo.frobnicate\"(%x) : (tensor<f32>) -> tensor<f32>");
    assert!(e.unsupported == Some(Unsupported::Op) && e.op == "stablehlo.frobnicate", "{e}");
}

#[test]
fn programs_that_are_wrong_are_refused_where_they_are() {
    let wrong = |signature: &str, op: &str, expected: &str| {
        let e = refused(&function(signature, &format!("{op}\nreturn")));
        assert!(e.unsupported.is_none() && e.line == 2, "{e:?}");
        assert!(e.message.contains(expected), "{}", e.message);
    };
    let x = "%x: tensor<2xf32>, %y: tensor<3xf32>, %i: tensor<2xi32>)";
    wrong(x, "%0 = \"stablehlo.add\"(%x) : (tensor<2xf32>) -> tensor<2xf32>", "takes 2 operands, got 1");
    wrong(x, "%0 = \"stablehlo.add\"(%x, %y) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>", "axis 0");
    wrong(
        x,
        "%0 = \"stablehlo.add\"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>",
        "declares tensor<3xf32>",
    );
    wrong(
        x,
        "%0 = \"stablehlo.transpose\"(%x) : (tensor<2xf32>) -> tensor<2xf32>",
        "needs the attribute `permutation`",
    );
    wrong(x, "%0 = \"stablehlo.exponential\"(%i) : (tensor<2xi32>) -> tensor<2xi32>", "float");
    wrong(x, "%0 = \"stablehlo.iota\"() {iota_dimension = 7 : i64} : () -> tensor<2xf32>", "axis 7");
    wrong(x, "%0 = call @nowhere(%x) : (tensor<2xf32>) -> tensor<2xf32>", "no function @nowhere");
    wrong(
        x,
        "%0 = call @main(%x, %y, %i) : (tensor<2xf32>, tensor<3xf32>, tensor<2xi32>) -> tensor<2xf32>",
        "calls itself",
    );
    wrong(x, "%0 = \"stablehlo.while\"(%x) : (tensor<2xf32>) -> tensor<2xf32>", "two regions");
}

#[test]
fn checks_become_outputs_and_replicas_inputs() {
    let text = "
      func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }
      func.func @main() {
        %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
        %1:2 = \"interpreter.run_parallel\"(%0, %0) {programs = [[@f], [@f]]} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
        check.expect_eq_const %1#1, dense<[1.0, 2.0]> : tensor<2xf32>
        check.expect_close %0, %1#0, max_ulp_difference = 3 : tensor<2xf32>, tensor<2xf32>
        return
      }";
    let options = ImportOptions { checks: true, ..ImportOptions::default() };
    let imported = import_with(text, &options).unwrap();
    let [site] = imported.parallel.as_slice() else { panic!() };
    assert_eq!(
        (site.programs.clone(), &site.arguments[..], &site.results[..]),
        (vec![vec!["f".to_string()]; 2], &[0, 1][..], &[0, 1][..])
    );
    let [eq, close] = imported.checks.as_slice() else { panic!() };
    assert_eq!((eq.name.as_str(), eq.custom_call, &eq.outputs[..], eq.line), ("expect_eq", false, &[2, 3][..], 6));
    assert_eq!(close.attributes, [("max_ulp_difference".to_string(), evoxc::Scalar::Int(3))]);
    assert_eq!((imported.arguments, imported.results), (0, 0));
    assert_eq!(imported.graph.output_specs().len(), 6);
}

#[test]
fn comparators_of_one_key_are_sorts_by_it() {
    let text = |compare: &str| {
        function(
            "%x: tensor<3xf32>, %k: tensor<3xi32>) -> (tensor<3xf32>, tensor<3xi32>)",
            &format!(
                "%0:2 = \"stablehlo.sort\"(%x, %k) ({{
                 ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
                   %1 = stablehlo.compare {compare} : (tensor<i32>, tensor<i32>) -> tensor<i1>
                   stablehlo.return %1 : tensor<i1>
                 }}) {{dimension = 0 : i64, is_stable = true}} : (tensor<3xf32>, tensor<3xi32>) -> (tensor<3xf32>, tensor<3xi32>)
                 return %0#0, %0#1 : tensor<3xf32>, tensor<3xi32>"
            ),
        )
    };
    let input = || vec![Tensor::from([1f32, 2.0, 3.0]), Tensor::from([5i32, 9, 7])];
    // Python: sorted(zip(k, x)).
    assert_eq!(values(&text("LT, %c, %d, SIGNED"), input()), [1.0, 3.0, 2.0]);
    assert_eq!(values(&text("GT, %c, %d, SIGNED"), input()), [2.0, 3.0, 1.0]);
    let graph = imported(&text("LT, %c, %d, SIGNED"));
    assert!(graph.ops().iter().any(|op| op.prim.name() == "sort"), "{graph}");
}

#[test]
fn a_hundred_thousand_ops_take_linear_time() {
    let program = |n: usize| {
        let ops: String = (0..n).map(|i| format!("%{} = stablehlo.add %{i}, %{i} : tensor<2xf32>\n", i + 1)).collect();
        format!("func.func @main(%0: tensor<2xf32>) -> tensor<2xf32> {{\n{ops}return %{n} : tensor<2xf32>\n}}")
    };
    // As many functions, each called once.
    let calls = |n: usize| {
        let ty = "tensor<2xf32>";
        let ops: String = (0..n).map(|i| format!("%{} = call @f{i}(%{i}) : ({ty}) -> {ty}\n", i + 1)).collect();
        let function = |i| format!("func.func private @f{i}(%x: {ty}) -> {ty} {{\nreturn %x : {ty}\n}}\n");
        let functions: String = (0..n).map(function).collect();
        format!("func.func @main(%0: {ty}) -> {ty} {{\n{ops}return %{n} : {ty}\n}}\n{functions}")
    };
    let time = |text: &str, n: usize| {
        let start = std::time::Instant::now();
        let graph = imported(text);
        assert_eq!(graph.ops().len(), n);
        graph.verify().unwrap();
        start.elapsed().as_secs_f64()
    };
    for (program, large) in [(&program as &dyn Fn(usize) -> String, 100_000), (&calls, 40_000)] {
        let small = large / 10;
        let (short, long) = (time(&program(small), small), time(&program(large), large));
        assert!(long < 40.0 * short.max(0.01), "{short} s for {small} ops, {long} s for {large}");
    }
}

#[test]
fn comparators_of_several_keys_are_sorts_by_them() {
    // As JAX prints `lax.sort((x, k), num_keys=2)`, descending in k here: -0 is 0 and NaN one NaN, in total order.
    let canonical = |arg: &str, out: &str| {
        format!(
            "%z{out} = stablehlo.constant dense<0.0> : tensor<f32>
             %n{out} = stablehlo.constant dense<0x7FC00000> : tensor<f32>
             %e{out} = stablehlo.compare EQ, %{arg}, %z{out}, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
             %s{out} = stablehlo.select %e{out}, %z{out}, %{arg} : tensor<i1>, tensor<f32>
             %q{out} = stablehlo.compare NE, %{arg}, %{arg}, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
             %{out} = stablehlo.select %q{out}, %n{out}, %s{out} : tensor<i1>, tensor<f32>"
        )
    };
    let text = function(
        "%x: tensor<4xf32>, %k: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xf32>)",
        &format!(
            "%0:2 = \"stablehlo.sort\"(%x, %k) ({{
             ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
               {}
               {}
               %lt = stablehlo.compare LT, %u, %v, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
               %eq = stablehlo.compare EQ, %u, %v, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
               %gt = stablehlo.compare GT, %c, %d, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
               %and = stablehlo.and %eq, %gt : tensor<i1>
               %or = stablehlo.or %lt, %and : tensor<i1>
               stablehlo.return %or : tensor<i1>
             }}) {{dimension = 0 : i64, is_stable = true}} : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)
             return %0#1, %0#0 : tensor<4xi32>, tensor<4xf32>",
            canonical("a", "u"),
            canonical("b", "v")
        ),
    );
    let graph = imported(&text);
    assert!(graph.ops().iter().any(|op| op.prim.name() == "sort"), "{graph}");
    let y = run(&graph, vec![Tensor::from([f32::NAN, 0.0, -1.0, -0.0]), Tensor::from([4i32, 1, 2, 3])]);
    // NumPy: np.lexsort((-k, x)), where -0 equals 0 and NaN is last.
    assert_eq!(y[0].to_vec::<i32>().unwrap(), [2, 3, 1, 4]);
}

#[test]
fn programs_made_to_be_deep_or_large_are_imported_or_refused() {
    // Regions, as deep as the reader takes them.
    let nested = |n: usize| {
        let (open, close) = (
            "%r = \"stablehlo.if\"(%p) ({\n",
            "stablehlo.return %x : tensor<f32>\n}, {\nstablehlo.return %x : tensor<f32>\n}) : (tensor<i1>) -> tensor<f32>\n",
        );
        let body = format!("{}{}", open.repeat(n), close.repeat(n));
        // Each name once: results are not visible outside of their region.
        let body = (0..n).fold(body, |b, k| b.replacen("%r =", &format!("%r{k} ="), 1));
        function("%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32>", &format!("{body}return %x : tensor<f32>"))
    };
    imported(&nested(50));
    assert!(import(&nested(2000)).is_err());

    // Calls of calls.
    let chain = |n: usize| {
        let all: String = (0..n)
            .map(|k| {
                format!(
                    "func.func private @f{k}(%x: tensor<f32>) -> tensor<f32> {{
                       %0 = call @f{}(%x) : (tensor<f32>) -> tensor<f32>
                       return %0 : tensor<f32>
                     }}\n",
                    k + 1
                )
            })
            .collect();
        format!(
            "func.func @main(%x: tensor<f32>) -> tensor<f32> {{
               %0 = call @f0(%x) : (tensor<f32>) -> tensor<f32>
               return %0 : tensor<f32>
             }}
             {all}func.func private @f{n}(%x: tensor<f32>) -> tensor<f32> {{ return %x : tensor<f32> }}"
        )
    };
    assert_eq!(imported(&chain(80)).module().funcs.len(), 82);
    assert!(refused(&chain(5000)).message.contains("nest deeper"));

    // Calls whose number doubles, of shapes that depend on the caller.
    let doubling: String = (0..40)
        .map(|k| {
            format!(
                "func.func private @g{k}(%x: tensor<?xf32>) -> tensor<?xf32> {{
                   %0 = call @g{}(%x) : (tensor<?xf32>) -> tensor<?xf32>
                   %1 = call @g{}(%0) : (tensor<?xf32>) -> tensor<?xf32>
                   return %1 : tensor<?xf32>
                 }}\n",
                k + 1,
                k + 1
            )
        })
        .collect();
    let text = format!(
        "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {{
           %0 = call @g0(%x) : (tensor<?xf32>) -> tensor<?xf32>
           return %0 : tensor<?xf32>
         }}
         {doubling}func.func private @g40(%x: tensor<?xf32>) -> tensor<?xf32> {{ return %x : tensor<?xf32> }}"
    );
    assert_eq!(refused(&text).unsupported, Some(Unsupported::Op));

    // The same of static shapes, beside a symbol: functions stay, and what they do is looked up once.
    let text = text
        .replace("tensor<?xf32>", "tensor<2xf32>")
        .replace("func.func @main(%x: tensor<2xf32>)", "func.func @main(%x: tensor<2xf32>, %y: tensor<?xf32>)");
    let unused = text.replacen("return %0 : tensor<2xf32>", "return %x : tensor<2xf32>", 1);
    assert_eq!(imported(&text).module().funcs.len(), 42);
    assert_eq!(imported(&unused).module().funcs.len(), 1);

    // More axes than a thread's stack has room for.
    let axes = format!("%x: tensor<{}f32>)", "1x".repeat(100_000));
    let Err(Error::Parse(e)) = import(&function(&axes, "return")) else { panic!() };
    assert!(e.message.contains("axes"), "{e}");

    // Constants of a size that no memory has, as long as one value repeats.
    let huge = "%0 = stablehlo.constant dense<0.5> : tensor<1000000x1000000xf32>";
    imported(&function(")", &format!("{huge}\nreturn")));
    let more = "%0 = stablehlo.constant dense<0.5> : tensor<4000000000x4000000000x4000000000xf32>";
    assert!(matches!(import(&function(")", &format!("{more}\nreturn"))), Err(Error::Parse(_))));
    let list = "%0 = \"stablehlo.transpose\"(%x) {permutation = dense<0> : tensor<99999999999xi64>} : (tensor<2xf32>) -> tensor<2xf32>";
    refused(&function("%x: tensor<2xf32>)", &format!("{list}\nreturn")));
}

/// Lines of JAX's calls are long: the part around the place is shown, over a caret.
#[test]
fn long_lines_are_shown_around_the_place() {
    let call = |space: &str, more: &str| {
        format!("{space}%0 = stablehlo.custom_call @unheard_of(%x) {{a = \"{more}\"}} : (tensor<f32>) -> tensor<f32>")
    };
    for (space, more, shown) in [(2, 10, "  %0"), (2, 1500, "  %0"), (300, 1500, "...   ")] {
        let line = call(&" ".repeat(space), &"ä".repeat(more));
        let text = format!("func.func @main(%x: tensor<f32>) -> tensor<f32> {{\n{line}\n  return %0 : tensor<f32>\n}}");
        let report = import(&text).unwrap_err().render();
        let lines: Vec<&str> = report.lines().collect();
        let of = |part: &str| lines.iter().position(|l| l.contains(part)).unwrap_or_else(|| panic!("{report}"));
        let (source, caret) = (lines[of("2 | ")], lines[of("^")]);
        assert!(lines[1].ends_with(&format!("--> <text>:2:{}", space + 6)), "{report}");
        assert!(source.starts_with(&format!("2 | {shown}")) && source.chars().count() < 160, "{report}");
        assert_eq!(source.find("stablehlo.custom_call"), caret.find('^'), "{report}");
        assert!(lines[of("= help: export")].starts_with("  = help"), "{report}");
    }
}

#[test]
fn calls_of_lapack_are_factorisations() {
    // As JAX prints `jnp.linalg.cholesky` and `jnp.linalg.qr` for the CPU.
    let text = function(
        "%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>)",
        "%0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%x) {mhlo.backend_config = {uplo = 76 : ui8}, api_version = 4 : i32} : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>)
         return %0#0, %0#1 : tensor<2x2xf32>, tensor<i32>",
    );
    // NumPy: np.linalg.cholesky([[4, 2], [2, 5]]).
    assert_eq!(values(&text, vec![Tensor::from([[4f32, 2.0], [2.0, 5.0]])]), [2.0, 0.0, 1.0, 2.0]);
    let text = function(
        "%x: tensor<3x2xf32>) -> tensor<3x2xf32>",
        "%0:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%x) {mhlo.backend_config = {}} : (tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>)
         %1 = stablehlo.custom_call @lapack_sorgqr_ffi(%0#0, %0#1) {mhlo.backend_config = {}} : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
         return %1 : tensor<3x2xf32>",
    );
    // Orthonormal columns that span those of x, up to their signs.
    let q = values(&text, vec![Tensor::from([[3f32, 0.0], [4.0, 0.0], [0.0, 2.0]])]);
    for (got, want) in q.iter().zip([0.6f32, 0.0, 0.8, 0.0, 0.0, 1.0]) {
        assert!((got.abs() - want).abs() < 1e-6, "{q:?}");
    }
    let e = refused(&function(
        "%x: tensor<2x2xf32>)",
        "%0:2 = stablehlo.custom_call @lapack_sgehrd_ffi(%x) : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<1xf32>)\nreturn",
    ));
    assert_eq!(e.unsupported, Some(Unsupported::CustomCall));
}

#[test]
fn generated_bits_are_those_of_xla() {
    let bits = |algorithm: &str, ty: &str| {
        let text = function(
            &format!("%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<{ty}>)"),
            &format!(
                "%0, %1 = stablehlo.rng_bit_generator %s, algorithm = {algorithm} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<{ty}>)
                 return %0, %1 : tensor<2xui64>, tensor<{ty}>"
            ),
        );
        let state = Tensor::from([0x0123_4567_89ab_cdefu64, 0xfedc_ba98_7654_3210]);
        let out = run(&imported(&text), vec![state]);
        (out[0].to_vec::<u64>().unwrap()[1] - 0xfedc_ba98_7654_3210, out[1].clone())
    };
    // JAX 0.10 on the CPU: jax.lax.rng_bit_generator.
    let (blocks, y) = bits("THREE_FRY", "2x3xui32");
    let want = [0xaed4_a37fu32, 0xc3cc_4d02, 0xaee5_264e, 0x1130_d111, 0x798e_402e, 0xb089_da7a];
    assert_eq!((blocks, y.to_vec::<u32>().unwrap()), (3, want.to_vec()));
    let (blocks, y) = bits("THREE_FRY", "5xui32");
    let want = [0xaed4_a37fu32, 0x1130_d111, 0xc3cc_4d02, 0x798e_402e, 0xaee5_264e];
    assert_eq!((blocks, y.to_vec::<u32>().unwrap()), (3, want.to_vec()));
    let (blocks, y) = bits("THREE_FRY", "3xui64");
    let want = [0x1130_d111_aed4_a37fu64, 0x798e_402e_c3cc_4d02, 0xb089_da7a_aee5_264e];
    assert_eq!((blocks, y.to_vec::<u64>().unwrap()), (3, want.to_vec()));
    let (blocks, y) = bits("THREE_FRY", "ui32");
    assert_eq!((blocks, y.to_vec::<u32>().unwrap()), (1, vec![0xaed4_a37f]));
    let (blocks, y) = bits("PHILOX", "6xui8");
    assert_eq!((blocks, y.to_vec::<u8>().unwrap()), (2, vec![0x42, 0xb5, 0x02, 0x17, 0x19, 0x7a]));
    let (blocks, y) = bits("DEFAULT", "3xui64");
    let want = [0xcfa3_90b5_1ec5_3d42u64, 0xe71f_f917_f223_5702, 0xd682_777a_cb47_2319];
    assert_eq!((blocks, y.to_vec::<u64>().unwrap()), (2, want.to_vec()));
}

#[test]
fn divisions_that_round_downwards_are_followed() {
    // As JAX prints `-n // 2`: the quotient that truncates, less 1 where signs differ and something remains.
    let text = function(
        "%n: tensor<i64>, %x: tensor<?xf32>) -> tensor<?xf32>",
        "%m = stablehlo.constant dense<-1> : tensor<i64>
         %two = stablehlo.constant dense<2> : tensor<i64>
         %zero = stablehlo.constant dense<0> : tensor<i64>
         %one = stablehlo.constant dense<1> : tensor<i64>
         %a = stablehlo.multiply %n, %m : tensor<i64>
         %q = stablehlo.divide %a, %two : tensor<i64>
         %r = stablehlo.remainder %a, %two : tensor<i64>
         %sa = stablehlo.sign %a : tensor<i64>
         %st = stablehlo.sign %two : tensor<i64>
         %d = stablehlo.compare NE, %sa, %st, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
         %e = stablehlo.compare NE, %r, %zero, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
         %p = stablehlo.and %d, %e : tensor<i1>
         %l = stablehlo.subtract %q, %one : tensor<i64>
         %f = stablehlo.select %p, %l, %q : tensor<i1>, tensor<i64>
         %u = stablehlo.multiply %f, %m : tensor<i64>
         %s = stablehlo.reshape %u : (tensor<i64>) -> tensor<1xi64>
         %c = stablehlo.constant dense<1.0> : tensor<f32>
         %y = stablehlo.dynamic_broadcast_in_dim %c, %s, dims = [] : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
         return %y : tensor<?xf32>",
    );
    let graph = imported(&text);
    for n in [4usize, 5, 7] {
        // -(-n // 2) rounds n / 2 upwards.
        let y = run(&graph, vec![Tensor::from(n as i64), Tensor::ones(evoxc::F32, [n])]);
        assert_eq!(y[0].shape(), [n.div_ceil(2)]);
    }
}

/// JAX writes `n // 2` and `(-1) % n` as calls of functions that take the symbols beside the numbers.
#[test]
fn extents_that_functions_compute_are_known() {
    let body = |result: &str| {
        format!(
            "func.func public @main(%x: tensor<?xf32>) -> tensor<?xf32> {{
               %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
               %one = stablehlo.constant dense<1> : tensor<1xi32>
               %zero = stablehlo.constant dense<0> : tensor<1xi32>
               %two = stablehlo.constant dense<2> : tensor<i32>
               %minus = stablehlo.constant dense<-1> : tensor<i32>
               {result}
             }}
             func.func private @floor_divide(%s: tensor<i32>, %x: tensor<i32>, %y: tensor<i32>) -> tensor<i32> {{
               %one = stablehlo.constant dense<1> : tensor<i32>
               %zero = stablehlo.constant dense<0> : tensor<i32>
               %q = stablehlo.divide %x, %y : tensor<i32>
               %0 = stablehlo.sign %x : tensor<i32>
               %1 = stablehlo.sign %y : tensor<i32>
               %2 = stablehlo.compare NE, %0, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
               %r = stablehlo.remainder %x, %y : tensor<i32>
               %3 = stablehlo.compare NE, %r, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
               %4 = stablehlo.and %2, %3 : tensor<i1>
               %5 = stablehlo.subtract %q, %one : tensor<i32>
               %6 = call @pick(%s, %4, %5, %q) : (tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
               return %6 : tensor<i32>
             }}
             func.func private @pick(%s: tensor<i32>, %p: tensor<i1>, %x: tensor<i32>, %y: tensor<i32>) -> tensor<i32> {{
               %0 = stablehlo.select %p, %x, %y : tensor<i1>, tensor<i32>
               return %0 : tensor<i32>
             }}
             func.func private @remainder(%s: tensor<i32>, %x: tensor<i32>, %y: tensor<i32>) -> tensor<i32> {{
               %one = stablehlo.constant dense<1> : tensor<i32>
               %zero = stablehlo.constant dense<0> : tensor<i32>
               %0 = stablehlo.compare EQ, %y, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
               %by = call @pick(%s, %0, %one, %y) : (tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
               %r = stablehlo.remainder %x, %by : tensor<i32>
               %1 = stablehlo.compare NE, %r, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
               %2 = stablehlo.compare LT, %r, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
               %3 = stablehlo.compare LT, %by, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
               %4 = stablehlo.compare NE, %2, %3, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
               %5 = stablehlo.and %4, %1 : tensor<i1>
               %6 = stablehlo.add %r, %by : tensor<i32>
               %7 = stablehlo.select %5, %6, %r : tensor<i1>, tensor<i32>
               return %7 : tensor<i32>
             }}"
        )
    };
    // x[: n // 2]
    let half = body(
        "%h = call @floor_divide(%n, %n, %two) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
         %limit = stablehlo.reshape %h : (tensor<i32>) -> tensor<1xi32>
         %y = stablehlo.real_dynamic_slice %x, %zero, %limit, %one : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
         return %y : tensor<?xf32>",
    );
    // np.roll(x, 1) is concatenate(x[-1 % n :], x[: -1 % n])
    let roll = body(
        "%m = call @remainder(%n, %minus, %n) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
         %at = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
         %end = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
         %a = stablehlo.real_dynamic_slice %x, %at, %end, %one : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
         %b = stablehlo.real_dynamic_slice %x, %zero, %at, %one : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
         %y = stablehlo.concatenate %a, %b, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
         return %y : tensor<?xf32>",
    );
    for n in [1usize, 2, 5] {
        let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let t = || vec![Tensor::from_vec(x.clone(), [n]).unwrap()];
        assert_eq!(values(&half, t()), x[..n / 2]);
        let mut rolled = x.clone();
        rolled.rotate_right(1);
        assert_eq!(values(&roll, t()), rolled);
    }
}

/// JAX adds the shapes of the results as operands where they are symbolic.
#[test]
fn factorisations_of_symbolic_batches() {
    let text = function(
        "%x: tensor<?x1x1xf32>) -> tensor<?x1x1xf32>",
        "%n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x1x1xf32>) -> tensor<i32>
         %0 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
         %1 = stablehlo.constant dense<1> : tensor<2xi32>
         %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1xi32>, tensor<2xi32>) -> tensor<3xi32>
         %3:2 = stablehlo.custom_call @lapack_spotrf_ffi(%x, %2, %0) {indices_of_shape_operands = dense<[1, 2]> : tensor<2xi64>, mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<?x1x1xf32>, tensor<3xi32>, tensor<1xi32>) -> (tensor<?x1x1xf32>, tensor<?xi32>)
         return %3#0 : tensor<?x1x1xf32>",
    );
    assert_eq!(values(&text, vec![Tensor::from([[[4f32]], [[9.0]]])]), [2.0, 3.0]);
}

#[test]
fn gaps_of_a_symbolic_size_are_padded() {
    let text = function(
        "%x: tensor<?xf32>) -> tensor<?xf32>",
        "%0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
         %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
         %c = stablehlo.constant dense<1> : tensor<1xi32>
         %z = stablehlo.constant dense<0.0> : tensor<f32>
         %y = stablehlo.dynamic_pad %x, %z, %c, %c, %1 : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
         return %y : tensor<?xf32>",
    );
    // One zero on both sides, as many between as there are elements.
    assert_eq!(values(&text, vec![Tensor::from([5f32, 6.0])]), [0.0, 5.0, 0.0, 0.0, 6.0, 0.0]);
}

#[test]
fn mutated_programs_never_panic() {
    let text = "module @m {
      func.func public @main(%n: tensor<i64>, %x: tensor<?x4xf32>, %k: tensor<2xi32>) -> (tensor<?xf32>, tensor<2x4xf32>) {
        %i = stablehlo.constant dense<0.0> : tensor<f32>
        %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [1] : (tensor<?x4xf32>, tensor<f32>) -> tensor<?xf32>
        %1 = stablehlo.reshape %n : (tensor<i64>) -> tensor<1xi64>
        %2 = stablehlo.dynamic_broadcast_in_dim %i, %1, dims = [] : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
        %3 = call @f(%0, %2) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
        %4 = \"stablehlo.gather\"(%x, %k) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>} : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>
        %5 = stablehlo.transpose %4, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
        %6 = stablehlo.dot_general %4, %5, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
        %7:2 = \"stablehlo.sort\"(%6, %6) ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
          %p = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %p : tensor<i1>
        }) {dimension = 1 : i64} : (tensor<2x2xf32>, tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
        %8 = stablehlo.pad %7#1, %i, low = [0, 1], high = [0, 1], interior = [0, 0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x4xf32>
        %9 = stablehlo.while(%s = %8) : tensor<2x4xf32>
         cond {
          %c = stablehlo.constant dense<false> : tensor<i1>
          stablehlo.return %c : tensor<i1>
        } do {
          %t = stablehlo.convolution(%s, %s) dim_numbers = [b, f]x[o, i]->[b, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x2xf32>
          stablehlo.return %s : tensor<2x4xf32>
        }
        return %3, %9 : tensor<?xf32>, tensor<2x4xf32>
      }
      func.func private @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
        %0 = stablehlo.add %x, %y : tensor<?xf32>
        return %0 : tensor<?xf32>
      }
    }";
    imported(text);
    let words: Vec<&str> = text.split_whitespace().collect();
    let spare =
        ["0", "-1", "7", "99999999999", "[]", "[0]", "%x", "tensor<f32>", "tensor<?xf32>", "tensor<0x4xi8>", ""];
    // A linear congruential generator: the same mutations every time.
    let mut state = 1u64;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let mut refused = 0;
    for _ in 0..1500 {
        let mut mutant = words.clone();
        for _ in 0..=below(2) {
            let at = below(mutant.len());
            mutant[at] = if below(2) == 0 { spare[below(spare.len())] } else { words[below(words.len())] };
        }
        match import(&mutant.join(" ")) {
            Ok(_) => {}
            Err(Error::Parse(_) | Error::Import(_) | Error::Ir(_)) => refused += 1,
            Err(e) => panic!("{e:?}"),
        }
    }
    assert!(refused > 500, "{refused}");
}
