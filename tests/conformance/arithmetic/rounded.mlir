// Expectations: the mathematical constants, and IEEE 754.

func.func @units_in_the_last_place() {
  %one = stablehlo.constant dense<1.0> : tensor<f64>
  %0 = stablehlo.exponential %one : tensor<f64>
  %e = stablehlo.constant dense<2.7182818284590451> : tensor<f64>
  check.expect_close %0, %e, max_ulp_difference = 1 : tensor<f64>, tensor<f64>
  %next = stablehlo.constant dense<1.0000000000000002> : tensor<f64>
  check.expect_close %one, %next, max_ulp_difference = 1, min_ulp_difference = 1 : tensor<f64>, tensor<f64>
  func.return
}

func.func @tolerances() {
  %0 = stablehlo.constant dense<[(1.0, 2.0), (0x7F800000, -1.0)]> : tensor<2xcomplex<f32>>
  %1 = stablehlo.constant dense<[(1.00005, 2.00005), (0x7F800000, -1.0)]> : tensor<2xcomplex<f32>>
  check.expect_almost_eq %0, %1 : tensor<2xcomplex<f32>>
  %2 = stablehlo.constant dense<1.05> : tensor<f32>
  check.expect_almost_eq_const %2, dense<1.1> : tensor<f32> {tolerance = 0.06 : f32}
  func.return
}

// -----

module @nan_is_nan {
  func.func public @main() -> tensor<i1> {
    %0 = stablehlo.constant dense<[0x7FC00000, -0.0]> : tensor<2xf32>
    %1 = stablehlo.constant dense<[0xFFC00000, 0.0]> : tensor<2xf32>
    %2 = stablehlo.custom_call @check.eq(%0, %1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<i1>
    return %2 : tensor<i1>
  }
}
