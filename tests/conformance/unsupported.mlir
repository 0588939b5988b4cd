// What evoxc leaves out of StableHLO, a program of each kind.

func.func @small_integers() {
  %0 = stablehlo.constant dense<[1, -1]> : tensor<2xi4>
  check.expect_eq_const %0, dense<[1, -1]> : tensor<2xi4>
  func.return
}

// -----

func.func @main(%arg0: tensor<2x!quant.uniform<i8:f32, 0.1:1>>) -> tensor<2x!quant.uniform<i8:f32, 0.1:1>> {
  func.return %arg0 : tensor<2x!quant.uniform<i8:f32, 0.1:1>>
}

// -----

func.func @main(%token: !stablehlo.token) -> (tensor<2xi64>, !stablehlo.token) {
  %0:2 = "stablehlo.infeed"(%token) : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
  func.return %0#0, %0#1 : tensor<2xi64>, !stablehlo.token
}
