//! `evoxc explain`: the table of steps, and the schedule.

mod program;

use program::Folder;

const SOFTMAX: &str = "func @main(%x: tensor<Bx1024xf32>) -> tensor<Bx1024xf32> {
  %m = evoxc.reduce_max(%x) {axes = [1]} : tensor<Bxf32>
  %m2 = evoxc.broadcast_in_dim(%m) {shape = [B, 1024], dims = [0]} : tensor<Bx1024xf32>
  %d = evoxc.sub(%x, %m2) : tensor<Bx1024xf32>
  %e = evoxc.exp(%d) : tensor<Bx1024xf32>
  %s = evoxc.reduce_sum(%e) {axes = [1]} : tensor<Bxf32>
  %s2 = evoxc.broadcast_in_dim(%s) {shape = [B, 1024], dims = [0]} : tensor<Bx1024xf32>
  %y = evoxc.div(%e, %s2) : tensor<Bx1024xf32>
  return %y
}
";

#[test]
fn a_softmax_is_one_step_whose_figures_are_known_once_the_size_is() {
    let f = Folder::new();
    f.write("g.evx", SOFTMAX);
    let symbolic = f.ok(&["explain", "g.evx"]);
    assert!(
        symbolic.contains("| kernel ") && symbolic.contains("4096*B B") && symbolic.contains("| 1 step "),
        "{symbolic}"
    );
    // 8 rows of 1024 elements of 4 bytes, read once and written once.
    let fixed = f.ok(&["explain", "g.evx", "--dim", "B=8"]);
    assert_eq!(fixed.matches("| 32.8 kB |").count(), 2, "{fixed}");
    let schedule = f.ok(&["explain", "g.evx", "--schedule"]);
    assert!(
        schedule.contains("kernel ") && schedule.contains("reads %0") && schedule.contains("1 kernel"),
        "{schedule}"
    );
}

#[test]
fn faulty_graphs_are_named() {
    let f = Folder::new();
    f.write("bad.evx", SOFTMAX.replace("axes = [1]", "axes = [2]"));
    assert!(f.fails(1, &["explain", "bad.evx"]).contains("reduce_max"));
}
