// Expectations: the definitions of the ops, by hand.

func.func @wrapping_addition() {
  %0 = stablehlo.constant dense<[0, 1, -128, 127]> : tensor<4xi8>
  %1 = stablehlo.constant dense<[-1, 1, -1, 1]> : tensor<4xi8>
  %2 = stablehlo.add %0, %1 : tensor<4xi8>
  check.expect_eq_const %2, dense<[-1, 2, 127, -128]> : tensor<4xi8>
  func.return
}

func.func @division_by_zero() {
  %0 = stablehlo.constant dense<[7, -7, 7]> : tensor<3xi32>
  %1 = stablehlo.constant dense<[2, 2, 0]> : tensor<3xi32>
  %2 = stablehlo.divide %0, %1 : tensor<3xi32>
  %3 = stablehlo.remainder %0, %1 : tensor<3xi32>
  %4 = stablehlo.constant dense<[3, -3, -1]> : tensor<3xi32>
  check.expect_eq %2, %4 : tensor<3xi32>
  check.expect_eq_const %3, dense<[1, -1, 7]> : tensor<3xi32>
  func.return
}

// A helper, which takes arguments and checks nothing: no program.
func.func private @helper(%x: tensor<f32>) -> tensor<f32> {
  func.return %x : tensor<f32>
}

// -----

module @scaled_sum {
  func.func @main() -> tensor<f32> {
    %0 = call @inputs() : () -> tensor<2x3xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
    %2 = stablehlo.constant dense<21.0> : tensor<f32>
    stablehlo.custom_call @check.expect_eq(%1, %2) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> ()
    return %1 : tensor<f32>
  }
  func.func private @inputs() -> tensor<2x3xf32> {
    %0 = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}
