//! Data movement, constants, barriers and random bits.

/// One op a line.
pub const LINES: &str = "
broadcast_in_dim {shape = [2, 3, 4], dims = [0, 2]} | 2x4xf64 any
broadcast_in_dim {shape = [2, 3, 4], dims = [0, 2]} | 1x4xf64 any
broadcast_in_dim {shape = [3], dims = []} | f64 any
broadcast_in_dim {shape = [3, 0], dims = [0]} | 3xf64 any
broadcast_in_dim {shape = [2, B], dims = [1]} | Bxf64 any
broadcast_in_dim {shape = [2, 3], dims = [1]} | 3xc128 any
reshape {shape = [3, 4]} | 2x6xf64 any
reshape {shape = []} | 1x1xf64 any
reshape {shape = [(2*B)]} | Bx2xf64 any
reshape {shape = [0]} | 0x3xf64 any
transpose {perm = [2, 0, 1]} | 2x3x4xf64 any
transpose {perm = [1, 0]} | Bx2xf64 any
transpose {perm = []} | f64 any
slice {start = [1, 0], limit = [3, 5], stride = [1, 2]} | 4x5xf64 any
slice {start = [0], limit = [B], stride = [2]} | Bxf64 any
slice {start = [2], limit = [2], stride = [1]} | 4xf64 any
slice {start = [1], limit = [6], stride = [3]} | 7xc128 any
pad {low = [1, 0], high = [0, 2], interior = [0, 1]} | 2x3xf64 any; f64 any
pad {low = [-1], high = [-1], interior = [2]} | 4xf64 any; f64 any
pad {low = [-2], high = [3], interior = [0]} | 4xc128 any; c128 any
pad {low = [1], high = [1], interior = [0]} | Bxf64 any; f64 any
pad {low = [], high = [], interior = []} | f64 any; f64 any
pad {low = [2], high = [1], interior = [1]} | 0xf64 any; f64 any
pad {low = [1], high = [-5], interior = [1]} | 3xi32 0..9; i32 0..9
concatenate {axis = 1} | 2x3xf64 any; 2x1xf64 any; 2x2xf64 any
concatenate {axis = 0} | 2x3xf64 any; 0x3xf64 any
concatenate {axis = 0} | Bxf64 any; 2xf64 any
concatenate {axis = 0} | 3xc128 any
reverse {axes = [0]} | 3xf64 any
reverse {axes = [0, 2]} | 2x3x2xf64 any
reverse {axes = []} | Bxc128 any
optimization_barrier | 3xf64 any
optimization_barrier | 3xf64 any; 2xi32 0..9
stop_gradient | 3xf64 any
random_bits {algorithm = threefry2x32, dtype = u32, shape = [3]} | 2xu32 0..999
random_bits {algorithm = splitmix64, dtype = u64, shape = [2, 2]} | u64 0..999
random_bits {algorithm = philox4x32_10, dtype = u8, shape = [5]} | 2x4xu32 0..999
";

/// Ops without operands, or without results, among others.
pub const PROGRAMS: &str = "
// constant: any
func @constant(%x: tensor<3xf64>) -> tensor<3xf64> {
  %c = evoxc.constant() {value = dense<[1.5, -2.0, 0.25]> : tensor<3xf64>} : tensor<3xf64>
  %y = evoxc.mul(%x, %c) : tensor<3xf64>
  return %y
}
// -----
// constant: any
func @constant_alone(%x: tensor<Bxf64>) -> (tensor<Bxf64>, tensor<2xi32>, tensor<2xf64>) {
  %c = evoxc.constant() {value = splat<2.0> : tensor<Bxf64>} : tensor<Bxf64>
  %i = evoxc.constant() {value = dense<[4, 5]> : tensor<2xi32>} : tensor<2xi32>
  %d = evoxc.constant() {value = dense<[4.0, 5.0]> : tensor<2xf64>} : tensor<2xf64>
  %y = evoxc.add(%x, %c) : tensor<Bxf64>
  return %y, %i, %d
}
// -----
// iota: any
func @iota(%x: tensor<2x3xf64>) -> tensor<2x3xf64> {
  %c = evoxc.iota() {dtype = f64, shape = [2, 3], axis = 1} : tensor<2x3xf64>
  %y = evoxc.mul(%x, %c) : tensor<2x3xf64>
  return %y
}
// -----
// dim_size: any
func @dim_size(%x: tensor<Bxf64>) -> (tensor<f64>, tensor<i32>) {
  %n = evoxc.dim_size() {extent = B, dtype = i32} : tensor<i32>
  %f = evoxc.convert(%n) {dtype = f64} : tensor<f64>
  %s = evoxc.reduce_sum(%x) {axes = [0]} : tensor<f64>
  %y = evoxc.div(%s, %f) : tensor<f64>
  return %y, %n
}
// -----
// print: any
func @print(%x: tensor<2xf64>) -> tensor<2xf64> {
  evoxc.print(%x) {label = \"x\"}
  %y = evoxc.mul(%x, %x) : tensor<2xf64>
  return %y
}
// -----
// stop_gradient: any
func @stop_gradient(%x: tensor<3xf64>) -> tensor<3xf64> {
  %s = evoxc.stop_gradient(%x) : tensor<3xf64>
  %y = evoxc.mul(%x, %s) : tensor<3xf64>
  return %y
}
";
