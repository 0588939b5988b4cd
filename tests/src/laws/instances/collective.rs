//! Collectives, of a program that runs alone: groups of one process, in which they are linear all the same. What several
//! processes give is tested in `tests/collectives.rs`.

/// Lines.
pub const LINES: &str = "
all_reduce_sum {groups = {ids = [[0]], by = cross_replica}} | 2x3xf64 any; Bxf64 any
all_reduce_sum {groups = {ids = [], by = flattened_ids, channel = 1}} | c128 any; 0xf64 any
all_reduce_prod {groups = {ids = [[0]], by = cross_replica}} | 3xf64 any
all_reduce_max {groups = {ids = [[0]], by = cross_replica}} | 3xf64 any
all_reduce_min {groups = {ids = [[0]], by = cross_replica}} | 3xf64 any
all_reduce_and {groups = {ids = [[0]], by = cross_replica}} | 3xi32 0..9; 2xbool bool
all_reduce_or {groups = {ids = [[0]], by = cross_replica}} | 3xi32 0..9
all_gather {axis = 1, count = 1, groups = {ids = [[0]], by = cross_replica_and_partition, channel = 2}} | 2xBxf64 any; 3x2xf64 any
all_gather {axis = 0, count = 1, groups = {ids = [[0]], by = cross_replica}} | 3xc128 any
reduce_scatter_sum {axis = 0, count = 1, groups = {ids = [[0]], by = cross_replica}} | 3x2xf64 any; Bxf64 any
reduce_scatter_prod {axis = 0, count = 1, groups = {ids = [[0]], by = cross_replica}} | 3xf64 any
reduce_scatter_max {axis = 0, count = 1, groups = {ids = [[0]], by = cross_replica}} | 3xf64 any
reduce_scatter_min {axis = 0, count = 1, groups = {ids = [[0]], by = cross_replica}} | 3xf64 any
reduce_scatter_and {axis = 0, count = 1, groups = {ids = [[0]], by = cross_replica}} | 3xi32 0..9
reduce_scatter_or {axis = 0, count = 1, groups = {ids = [[0]], by = cross_replica}} | 3xi32 0..9
all_to_all {split = 1, concat = 0, count = 1, groups = {ids = [[0]], by = cross_partition, channel = 1}} | 2x3xf64 any; 1xBxf64 any
all_to_all {split = 0, concat = 0, count = 1, groups = {ids = [[0]], by = cross_replica}} | 4xf64 any
collective_permute {pairs = [[0, 0]]} | 2x3xf64 any; f64 any
collective_permute {pairs = []} | 3xf64 any
collective_broadcast {groups = {ids = [[0]], by = cross_replica}} | 2x3xf64 any; Bxf64 any
";

/// Programs.
pub const PROGRAMS: &str = "
// all_reduce: any; any
func @all_reduce(%x: tensor<3xf64>, %y: tensor<f64>) -> (tensor<3xf64>, tensor<f64>) {
  %r, %s = evoxc.all_reduce(%x, %y) {groups = {ids = [[0]], by = cross_replica}} : tensor<3xf64>, tensor<f64> {
    body(%a: tensor<f64>, %b: tensor<f64>) {
      %c = evoxc.add(%a, %b) : tensor<f64>
      yield %c
    }
  }
  return %r, %s
}
// -----
// reduce_scatter: any; any
func @reduce_scatter_captures(%x: tensor<3xf64>, %y: tensor<f64>) -> tensor<3xf64> {
  %r = evoxc.reduce_scatter(%x) {axis = 0, count = 1, groups = {ids = [[0]], by = cross_replica}} : tensor<3xf64> {
    body(%a: tensor<f64>, %b: tensor<f64>) {
      %c = evoxc.add(%a, %y) : tensor<f64>
      yield %c
    }
  }
  return %r
}
// -----
// rank_index: any
func @rank_index(%x: tensor<f64>) -> tensor<f64> {
  %r = evoxc.rank_index() {of = flattened} : tensor<u32>
  %n = evoxc.convert(%r) {dtype = f64} : tensor<f64>
  %y = evoxc.add(%x, %n) : tensor<f64>
  return %y
}
";
