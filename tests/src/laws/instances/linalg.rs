//! Fourier transforms and factorisations. Vectors of complex factorisations are known up to phases only, so their
//! programs multiply them into what does not depend on phases.

/// One op a line.
pub const LINES: &str = "
fft {kind = fft, length = [5]} | 2x5xc128 any
fft {kind = fft, length = [2, 3]} | 2x3xc128 any
fft {kind = ifft, length = [4]} | 4xc128 any
fft {kind = ifft, length = [2, 3]} | 2x3xc128 any
fft {kind = rfft, length = [4]} | 2x4xf64 any
fft {kind = rfft, length = [5]} | 5xf64 any
fft {kind = rfft, length = [3, 4]} | 3x4xf64 any
fft {kind = irfft, length = [4]} | 2x3xc128 any
fft {kind = irfft, length = [5]} | 3xc128 any
fft {kind = irfft, length = [3, 4]} | 3x3xc128 any
fft {kind = fft, length = [4]} | Bx4xc128 any
fft {kind = rfft, length = [1]} | 2x1xf64 any
fft {kind = irfft, length = [1]} | 2x1xc128 any
fft {kind = irfft, length = [2, 2, 5]} | 2x2x3xc128 any
cholesky {lower = true} | 3x3xf64 spd
cholesky {lower = false} | 2x2x2xf64 spd
cholesky {lower = true} | 2x2xc128 spd
cholesky {lower = true} | Bx2x2xf64 spd
cholesky {lower = false} | 3x3xc128 spd
cholesky {lower = true} | 0x0xf64 any
triangular_solve {left = true, lower = true, transpose = none} | 3x3xf64 well; 3x2xf64 any
triangular_solve {left = true, lower = false, transpose = transpose} | 2x2x2xf64 well; 2x2x1xf64 any
triangular_solve {left = false, lower = true, transpose = none} | 2x2xf64 well; 3x2xf64 any
triangular_solve {left = true, lower = true, unit_diagonal = true, transpose = none} | 3x3xf64 well; 3x1xf64 any
triangular_solve {left = true, lower = true, transpose = adjoint} | 2x2xc128 well; 2x2xc128 any
triangular_solve {left = false, lower = false, transpose = transpose} | 2x2xc128 well; 1x2xc128 any
triangular_solve {left = false, lower = true, unit_diagonal = true, transpose = transpose} | Bx2x2xf64 well; Bx1x2xf64 any
triangular_solve {left = false, lower = false, transpose = adjoint} | 3x3xc128 well; 2x3xc128 any
triangular_solve {left = true, lower = false, unit_diagonal = true, transpose = adjoint} | 3x3xc128 well; 3x2xc128 any
lu | 1x1xf64 well
lu | 0x0xf64 well
lu | Bx2x2xf64 well
lu | 3x3xf64 =[[0.1, 2.0, 1.0], [3.0, 0.2, 1.0], [1.0, 1.0, 0.3]]
lu | 3x3xf64 well
lu | 2x2x2xf64 well
lu | 3x2xf64 well
lu | 2x3xf64 well
lu | 2x2xc128 well
qr {full = false} | 3x3xf64 well
qr {full = false} | 4x2xf64 well
qr {full = false} | 2x2x2xf64 well
qr {full = false} | 2x3xf64 well
qr {full = false} | 1x1xf64 well
qr {full = false} | Bx3x2xf64 well
qr {full = true} | 2x2xf64 well
eigh | 3x3xf64 sym
eigh | 2x2x2xf64 sym
eigh | 1x1xf64 sym
eigh | Bx2x2xf64 sym
svd {full = false} | 3x3xf64 sym
svd {full = false} | 4x2xf64 sym
svd {full = false} | 2x2x3xf64 sym
svd {full = false} | 2x4xf64 sym
svd {full = false} | Bx3x2xf64 sym
svd {full = true} | 2x2xf64 sym
";

/// Programs.
pub const PROGRAMS: &str = "
// qr: well
func @qr_complex(%a: tensor<3x2xc128>) -> tensor<3x3xc128> {
  %q, %r = evoxc.qr(%a) {full = false} : tensor<3x2xc128>, tensor<2x2xc128>
  %h = evoxc.conj(%q) : tensor<3x2xc128>
  %p = evoxc.dot(%q, %h) {batch = [], contract = [[1], [1]]} : tensor<3x3xc128>
  return %p
}
// -----
// eigh: sym
func @eigh_complex(%a: tensor<3x3xc128>) -> (tensor<3xf64>, tensor<3xf64>) {
  %w, %v = evoxc.eigh(%a) : tensor<3xf64>, tensor<3x3xc128>
  %c = evoxc.abs(%v) : tensor<3x3xf64>
  %s = evoxc.mul(%c, %c) : tensor<3x3xf64>
  %y = evoxc.dot(%s, %w) {batch = [], contract = [[0], [0]]} : tensor<3xf64>
  return %w, %y
}
// -----
// svd: sym
func @svd_complex(%a: tensor<3x2xc128>) -> (tensor<2xf64>, tensor<3xf64>) {
  %u, %s, %v = evoxc.svd(%a) {full = false} : tensor<3x2xc128>, tensor<2xf64>, tensor<2x2xc128>
  %c = evoxc.abs(%u) : tensor<3x2xf64>
  %d = evoxc.mul(%c, %c) : tensor<3x2xf64>
  %y = evoxc.dot(%d, %s) {batch = [], contract = [[1], [0]]} : tensor<3xf64>
  return %s, %y
}
// -----
// svd: sym
func @svd_complex_v(%a: tensor<2x3xc128>) -> tensor<3xf64> {
  %u, %s, %v = evoxc.svd(%a) {full = false} : tensor<2x2xc128>, tensor<2xf64>, tensor<2x3xc128>
  %c = evoxc.abs(%v) : tensor<2x3xf64>
  %d = evoxc.mul(%c, %c) : tensor<2x3xf64>
  %y = evoxc.dot(%d, %s) {batch = [], contract = [[0], [0]]} : tensor<3xf64>
  return %y
}
";
