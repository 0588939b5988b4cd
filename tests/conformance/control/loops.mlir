// Expectations: by hand.

func.func @triangular_number() {
  %i = stablehlo.constant dense<0> : tensor<i64>
  %sum = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %five = stablehlo.constant dense<5> : tensor<i64>
  %r:2 = stablehlo.while(%a = %i, %b = %sum) : tensor<i64>, tensor<i64>
  cond {
    %c = stablehlo.compare LT, %a, %five : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %n = stablehlo.add %a, %one : tensor<i64>
    %s = stablehlo.add %b, %n : tensor<i64>
    stablehlo.return %n, %s : tensor<i64>, tensor<i64>
  }
  check.expect_eq_const %r#1, dense<15> : tensor<i64>
  func.return
}

// -----

func.func @probed() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %1 = stablehlo.add %0, %0 : tensor<2xi32>
  %2 = interpreter.probe %1, probe_id = "twice" : tensor<2xi32>
  %3 = stablehlo.constant dense<[2, 4]> : tensor<2xi32>
  check.expect_serialized_eq %3, probe_id = "twice" : tensor<2xi32>
  func.return
}
