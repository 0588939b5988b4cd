//! `print`, `verify`, `dot`, `devices`, and the exit status of each way to fail.

mod program;

use evoxc_core::TreeDef;
use evoxc_ir::{GraphFile, Module};
use program::{Folder, GRAPH};

#[test]
fn text_and_saved_graphs_print_alike() {
    let f = Folder::new();
    f.write("g.evx", GRAPH);
    assert_eq!(f.ok(&["print", "g.evx"]), GRAPH);
    let (inputs, outputs) = (TreeDef::leaves_tuple(2), TreeDef::leaves_tuple(2));
    let file = GraphFile { module: Module::parse(GRAPH).unwrap(), inputs, outputs, captures: 0 };
    file.save(f.path("g.evoxcgraph")).unwrap();
    assert_eq!(f.ok(&["print", "g.evoxcgraph"]), GRAPH);
    assert_eq!(f.ok(&["verify", "g.evoxcgraph"]), "ok: functions: 1, ops: 2\n");
    let dot = f.ok(&["dot", "g.evx"]);
    assert!(dot.starts_with("digraph") && dot.contains("add"), "{dot}");
}

#[test]
fn devices_names_the_host() {
    let text = Folder::new().ok(&["devices"]);
    assert!(text.contains("backends:") && text.contains("devices:"), "{text}");
}

#[test]
fn faulty_graphs_exit_with_1() {
    let f = Folder::new();
    f.write("syntax.evx", GRAPH.replace("evoxc.add", "evoxc.ad"));
    let e = f.fails(1, &["print", "syntax.evx"]);
    assert!(e.starts_with("error: syntax.evx:3:"), "{e}");
    f.write("types.evx", GRAPH.replace("add(%x, %x)", "add(%x, %w)"));
    let e = f.fails(1, &["verify", "types.evx"]);
    assert!(e.starts_with("error:") && e.contains("add"), "{e}");
    assert!(f.fails(1, &["print", "none.evx"]).contains("none.evx: "));
    f.write("bad.evoxcgraph", "{}");
    assert!(f.fails(1, &["print", "bad.evoxcgraph"]).contains("bad.evoxcgraph"));
    f.write("binary.evx", [0xff, 0xfe]);
    assert!(f.fails(1, &["print", "binary.evx"]).contains("binary.evx"));
}

#[test]
fn faulty_command_lines_exit_with_2() {
    let f = Folder::new();
    for args in
        [&["prnt"][..], &["print"], &[], &["run", "g.evx", "--ones", "--seed", "1"], &["run", "x", "--seed", "a"]]
    {
        assert_eq!(f.evoxc(args).0, 2, "{args:?}");
    }
    let help = f.ok(&["run", "--help"]);
    assert!(help.contains("Examples:") && help.contains("--dim"), "{help}");
    assert!(f.ok(&["--help"]).contains("Exit status"));
}
