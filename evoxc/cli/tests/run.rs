//! `run`: inputs by name, number, path and archive, generated inputs, outputs, and what is refused.

mod program;

use evoxc_core::{F32, TensorSpec, TreeDef, spec};
use evoxc_ir::{GraphFile, Module};
use program::{Folder, GRAPH, npy};
use std::collections::BTreeMap;

fn folder() -> Folder {
    let f = Folder::new();
    f.write("g.evx", GRAPH);
    f.write("x.npy", npy(&[1.0, 2.0, 3.0, 4.0], "(2, 2)"));
    f.write("w.npy", npy(&[5.0], "()"));
    f
}

/// Source: y = x + x and z = -w, by hand.
const PRINTED: &str = "y: tensor<2x2xf32> [[2, 4], [6, 8]]\nz: tensor<f32> -5\n";

#[test]
fn inputs_by_name_and_number() {
    let f = folder();
    assert_eq!(f.ok(&["run", "g.evx", "--input", "x=x.npy", "--input", "w=w.npy"]), PRINTED);
    assert_eq!(f.ok(&["run", "g.evx", "-i", "1=w.npy", "-i", "0=x.npy", "--backend", "interp"]), PRINTED);
    assert_eq!(f.ok(&["run", "g.evx", "-i", "1=w.npy", "-i", "0=x.npy", "--device", "cpu"]), PRINTED);
    // Without a name, in order; a file that is named takes its place first.
    assert_eq!(f.ok(&["run", "g.evx", "-i", "x.npy", "-i", "w.npy"]), PRINTED);
    assert_eq!(f.ok(&["run", "g.evx", "-i", "w.npy", "-i", "x=x.npy"]), PRINTED);
}

#[test]
fn results_are_files_that_read_back() {
    let f = folder();
    let given = ["run", "g.evx", "-i", "x=x.npy", "-i", "w=w.npy", "-o"];
    let run = |out: &str| f.ok(&[&given[..], &[out]].concat());
    assert_eq!(run("out.npz"), "");
    // The archive's members, and the folder's files, are called as the results are: y is a 2x2 input again.
    assert_eq!(
        f.ok(&["run", "g.evx", "-i", "x=out.npz:y", "-i", "w=out.npz:z"]),
        "y: tensor<2x2xf32> [[4, 8], [12, 16]]\nz: tensor<f32> 5\n"
    );
    run("folder");
    assert_eq!(
        f.ok(&["run", "g.evx", "-i", "x=folder/y.npy", "-i", "w=folder/z.npy"]),
        "y: tensor<2x2xf32> [[4, 8], [12, 16]]\nz: tensor<f32> 5\n"
    );
    f.write("swap.evx", GRAPH.replace("%x", "%y0").replace("%y ", "%x ").replace("%y,", "%x,"));
    f.ok(&["run", "swap.evx", "-i", "y0=x.npy", "-i", "w=w.npy", "-o", "x.npz"]);
    // x.npz holds x and z: z is no input of g.
    assert!(f.fails(2, &["run", "g.evx", "-i", "x.npz", "-i", "w=w.npy"]).contains("no input `z`"));
    f.write("one.evx", "func @f(%x: tensor<2x2xf32>) -> tensor<2x2xf32> { return %x }");
    f.ok(&["run", "one.evx", "-i", "x=x.npy", "-o", "same.npy"]);
    // The elements end the file, whatever the padding of the header.
    let elements: Vec<u8> = [1f32, 2.0, 3.0, 4.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    assert!(std::fs::read(f.path("same.npy")).unwrap().ends_with(&elements));
    assert!(f.fails(2, &[&given[..], &["out.npy"]].concat()).contains("holds one result"));
}

#[test]
fn archives_whose_members_match() {
    let f = folder();
    f.write("pass.evx", GRAPH.replace("evoxc.add(%x, %x)", "evoxc.neg(%x)").replace("return %y, %z", "return %x, %w"));
    f.ok(&["run", "pass.evx", "-i", "x=x.npy", "-i", "w=w.npy", "-o", "all.npz"]);
    assert_eq!(f.ok(&["run", "g.evx", "-i", "all.npz"]), PRINTED);
    assert!(f.fails(2, &["run", "g.evx", "-i", "all.npz", "-i", "x=x.npy"]).contains("given twice"));
    assert!(f.fails(1, &["run", "g.evx", "-i", "x=all.npz:q"]).contains("no member `q`"));
    assert!(f.fails(2, &["run", "g.evx", "-i", "x=all.npz"]).contains("MEMBER"));
}

#[test]
fn paths_of_saved_graphs() {
    let f = folder();
    let text = "func @f(%0: tensor<2x2xf32>, %1: tensor<f32>) -> tensor<f32> { return %1 }";
    let inputs: BTreeMap<String, TensorSpec> =
        BTreeMap::from([("w1".into(), spec(F32, [2, 2])), ("w2".into(), spec(F32, []))]);
    let (inputs, outputs) = (TreeDef::flatten((inputs,)).1, TreeDef::leaf());
    let file = GraphFile { module: Module::parse(text).unwrap(), inputs, outputs, captures: 0 };
    file.save(f.path("f.evoxcgraph")).unwrap();
    let out = f.ok(&["run", "f.evoxcgraph", "-i", "0[\"w1\"]=x.npy", "-i", "0[\"w2\"]=w.npy"]);
    assert_eq!(out, "0: tensor<f32> 5\n");
}

#[test]
fn generated_inputs() {
    let f = folder();
    assert_eq!(f.ok(&["run", "g.evx", "--ones", "--dim", "B=1"]), "y: tensor<1x2xf32> [[2, 2]]\nz: tensor<f32> -1\n");
    let one = f.ok(&["run", "g.evx", "--seed", "1", "--dim", "B=3"]);
    assert_eq!(one, f.ok(&["run", "g.evx", "--seed", "1", "--dim", "B=3"]));
    assert_ne!(one, f.ok(&["run", "g.evx", "--seed", "2", "--dim", "B=3"]));
    // What is given decides the symbol, and --ones fills in the rest.
    assert_eq!(
        f.ok(&["run", "g.evx", "-i", "x=x.npy", "--ones"]),
        "y: tensor<2x2xf32> [[2, 4], [6, 8]]\nz: tensor<f32> -1\n"
    );
    let e = f.fails(2, &["run", "g.evx", "-i", "x=x.npy"]);
    assert!(e.contains("no value for w (tensor<f32>)"), "{e}");
    assert!(f.fails(2, &["run", "g.evx", "--ones"]).contains("--dim B=8"));
    for bad in ["B", "B=-1", "B=x", "1=2", "B=99999999999"] {
        assert!(f.fails(2, &["run", "g.evx", "--ones", "--dim", bad]).contains("SYMBOL=N"));
    }
    assert!(f.fails(2, &["run", "g.evx", "--ones", "--dim", "B=1", "--dim", "B=2"]).contains("a value already"));
    let big = GRAPH.replace("Bx2", "BxBx2");
    f.write("big.evx", big);
    assert!(f.fails(1, &["run", "big.evx", "--ones", "--dim", "B=4000000000"]).contains("too large"));
}

#[test]
fn every_dtype_can_be_generated() {
    let f = Folder::new();
    for d in evoxc_core::DType::ALL {
        f.write("g.evx", format!("func @f(%x: tensor<4x{d}>) -> tensor<4x{d}> {{ return %x }}"));
        f.ok(&["run", "g.evx", "--seed", "3", "-o", "x.npy"]);
        let printed = f.ok(&["run", "g.evx", "-i", "x=x.npy"]);
        assert_eq!(printed, f.ok(&["run", "g.evx", "--seed", "3"]), "{d}");
    }
}

#[test]
fn what_is_refused() {
    let f = folder();
    f.write("bad.npy", npy(&[1.0], "(2,)"));
    let e = f.fails(1, &["run", "g.evx", "-i", "x=bad.npy", "--ones"]);
    assert!(e.contains("bad.npy") && e.contains("needs 8 bytes"), "{e}");
    let e = f.fails(1, &["run", "g.evx", "-i", "x=w.npy", "--ones"]);
    assert_eq!(e, "error: input x: expected tensor<Bx2xf32>, got tensor<f32>");
    assert!(f.fails(2, &["run", "g.evx", "-i", "q=x.npy"]).contains("it has: x, w"));
    assert!(f.fails(2, &["run", "g.evx", "-i", "x.npy"]).contains("no value for w"));
    let e = f.fails(2, &["run", "g.evx", "-i", "x.npy", "-i", "w.npy", "-i", "w.npy"]);
    assert_eq!(e, "error: --input w.npy: every input of the graph is given already");
    assert!(f.fails(1, &["run", "g.evx", "-i", "x=none.npy"]).contains("none.npy: "));
    assert!(f.fails(1, &["run", "g.evx", "-i", "x.npz"]).contains("x.npz"));
    assert!(f.fails(2, &["run", "g.evx", "--backend", "abacus", "--ones"]).contains("interp"));
    // A backend without its library says what to install.
    let e = f.fails(1, &["run", "g.evx", "--backend", "xla", "--ones", "--dim", "B=1"]);
    assert!(e.contains("EVOXC_PJRT_PLUGIN"), "{e}");
    // Targets are those of the backend.
    let e = f.fails(2, &["run", "g.evx", "--ones", "--target", "vmvx"]);
    assert_eq!(e, "error: `interp` has no targets; --target is for --backend iree");
    let e = f.fails(2, &["run", "g.evx", "--ones", "--backend", "iree", "--target", "abacus"]);
    assert!(e.contains("there is no target `abacus`; there are llvm-cpu, ") && e.contains("vmvx"), "{e}");
    let e = f.fails(1, &["run", "g.evx", "-i", "x=x.npy", "--ones", "--device", "cuda:0"]);
    assert!(e.contains("cuda"), "{e}");
    f.write("two.evx", "func @f(%x: tensor<Bxf32>, %y: tensor<Bxf32>) -> tensor<Bxf32> { return %x }");
    f.write("a.npy", npy(&[1.0], "(1,)"));
    f.write("b.npy", npy(&[1.0, 2.0], "(2,)"));
    let e = f.fails(1, &["run", "two.evx", "-i", "x=a.npy", "-i", "y=b.npy"]);
    assert_eq!(e, "error: input 1: `B` is 2 here, but 1 at input 0");
}
