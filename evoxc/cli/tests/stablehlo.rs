//! StableHLO text wherever a graph is asked for, and `convert`.

mod program;

use program::{Folder, GRAPH, npy};

const MODEL: &str = "module @jit_f {
  func.func public @main(%arg0: tensor<2x2xf32>, %arg1: tensor<f32>) -> tensor<2x2xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<2x2xf32>
    return %1 : tensor<2x2xf32>
  }
  func.func public @negated(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.negate %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
";
/// Source: x times w, by hand.
const PRINTED: &str = "0: tensor<2x2xf32> [[5, 10], [15, 20]]\n";

fn folder() -> Folder {
    let f = Folder::new();
    f.write("m.mlir", MODEL);
    f.write("x.npy", npy(&[1.0, 2.0, 3.0, 4.0], "(2, 2)"));
    f.write("w.npy", npy(&[5.0], "()"));
    f
}

#[test]
fn it_runs_prints_verifies_and_draws() {
    let f = folder();
    assert_eq!(f.ok(&["run", "m.mlir", "--input", "x.npy", "--input", "w.npy", "--backend", "interp"]), PRINTED);
    assert_eq!(f.ok(&["run", "m.mlir", "-i", "arg1=w.npy", "-i", "0=x.npy"]), PRINTED);
    assert_eq!(f.ok(&["run", "m.mlir", "-i", "x.npy", "-i", "w.npy", "-o", "y.npy"]), "");
    assert_eq!(f.ok(&["run", "m.mlir", "--entry", "negated", "--ones"]), "0: tensor<2xf32> [-1, -1]\n");
    let text = f.ok(&["print", "m.mlir"]);
    assert!(text.contains("evoxc.mul") && text.contains("%arg0: tensor<2x2xf32>"), "{text}");
    assert!(f.ok(&["verify", "m.mlir"]).starts_with("ok: "));
    assert!(f.ok(&["dot", "m.mlir"]).starts_with("digraph"));
}

#[test]
fn extents_of_any_size() {
    let f = folder();
    f.write(
        "any.mlir",
        MODEL.replace("tensor<2x2xf32>", "tensor<?x2xf32>").replace(
            "stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<?x2xf32>",
            "stablehlo.negate %arg0 : tensor<?x2xf32>",
        ),
    );
    let printed = f.ok(&["run", "any.mlir", "-i", "x.npy", "-i", "w.npy"]);
    assert_eq!(printed, "0: tensor<2x2xf32> [[-1, -4], [-9, -16]]\n");
    let one = f.ok(&["run", "any.mlir", "--seed", "1", "--dim", "arg0_0=1"]);
    assert!(one.contains("tensor<1x2xf32>"), "{one}");
}

#[test]
fn every_form_becomes_every_other() {
    let f = folder();
    for to in ["m.evoxcgraph", "m.evx", "again.mlir"] {
        assert_eq!(f.ok(&["convert", "m.mlir", to]), "");
        assert_eq!(f.ok(&["run", to, "-i", "x.npy", "-i", "w.npy"]), PRINTED, "{to}");
    }
    f.ok(&["convert", "m.evoxcgraph", "back.mlir"]);
    f.ok(&["convert", "back.mlir", "back.evoxcgraph"]);
    assert_eq!(f.ok(&["run", "back.evoxcgraph", "-i", "x.npy", "-i", "w.npy"]), PRINTED);
    assert_eq!(f.ok(&["convert", "m.evx", "-", "--to", "evx"]), f.ok(&["print", "m.evx"]));
    // Locations stand in StableHLO text only where they are asked for.
    let (with, without) = (
        f.ok(&["convert", "m.mlir", "-", "--to", "mlir", "--locations"]),
        f.ok(&["convert", "m.mlir", "-", "--to", "mlir"]),
    );
    assert!(with.contains("loc(\"m.mlir\":4:") && !without.contains("loc("), "{with}\n{without}");
    f.write("erf.evx", "func @f(%x: tensor<2xf32>) -> tensor<2xf32> { %y = evoxc.erf(%x) : tensor<2xf32> return %y }");
    assert!(f.ok(&["convert", "erf.evx", "-", "--to", "mlir", "--chlo"]).contains("chlo.erf"));
    assert!(!f.ok(&["convert", "erf.evx", "-", "--to", "mlir"]).contains("chlo"));
}

#[test]
fn what_is_refused() {
    let f = folder();
    f.write("g.evx", GRAPH);
    let e = f.fails(2, &["convert", "m.mlir", "m.onnx"]);
    assert!(e.contains("none of .evoxcgraph, .evx, .mlir"), "{e}");
    assert!(f.fails(2, &["convert", "m.mlir", "-", "--to", "evoxcgraph"]).contains("a saved graph is a file"));
    assert!(f.fails(1, &["convert", "none.mlir", "m.evx"]).contains("none.mlir: "));
    f.write("bad.mlir", MODEL.replace("stablehlo.multiply %arg0, %0", "stablehlo.multiply %arg0, %nobody"));
    // A report with the line and a caret.
    let (code, out, err) = f.evoxc(&["run", "bad.mlir", "--ones"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.starts_with("error: ") && err.contains("bad.mlir:4:") && err.contains("^"), "{err}");
    f.write("quant.mlir", "func.func @main(%x: tensor<2xi4>) -> tensor<2xi4> { return %x : tensor<2xi4> }");
    assert!(f.evoxc(&["print", "quant.mlir"]).2.contains("i4"));
    let (_, _, err) = f.evoxc(&["run", "m.mlir", "--entry", "nobody", "--ones"]);
    assert!(err.contains("nobody"), "{err}");
}
