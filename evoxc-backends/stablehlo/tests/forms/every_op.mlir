module {
  func.func private @callee(tensor<4xf32>) -> tensor<4xf32>
  func.func private @impl(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
  func.func @f(%arg0: tensor<4xf32>, %arg1: !stablehlo.token, %arg2: tensor<4xi32>, %arg3: tensor<4x4xf32>, %arg4: tensor<4xcomplex<f32>>, %arg5: tensor<f32>, %arg6: tensor<2xui64>, %arg7: tensor<i64>, %arg8: tensor<1xi64>, %arg9: tensor<i1>, %arg10: tensor<4xi1>, %arg11: tensor<1x8x8x3xf32>, %arg12: tensor<3x3x3x2xf32>, %arg13: tensor<?xf32>, %arg14: tensor<1xi32>, %arg15: tensor<2x4x4xf32>, %arg16: tensor<3xf32>, %arg17: tensor<i32>, %arg18: tensor<?xf32, #stablehlo.bounds<8>>, %arg19: tensor<2xi64>, %arg20: tensor<4x4xf32>, %arg21: tensor<2x4x4xf32>, %arg22: tensor<2xi64>, %arg23: tuple<tensor<4xf32>, tuple<tensor<i32>>>) {
    stablehlo.optimization_barrier()
    %0:2 = stablehlo.optimization_barrier %arg0, %arg2 : tensor<4xf32>, tensor<4xi32>
    %1 = stablehlo.exponential %arg0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-04, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
    %2 = stablehlo.exponential %arg0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
    %3 = "stablehlo.if"(%arg9) ({
      stablehlo.return %arg0 : tensor<4xf32>
    }, {
      stablehlo.return %arg0 : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    %4:2 = "stablehlo.case"(%arg17) ({
      stablehlo.return %arg0, %arg0 : tensor<4xf32>, tensor<4xf32>
    }, {
      stablehlo.return %arg0, %arg0 : tensor<4xf32>, tensor<4xf32>
    }) : (tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>)
    %5 = stablehlo.dot_general %arg3, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %6 = stablehlo.dot_general %arg15, %arg15, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, HIGH] : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    %7 = stablehlo.dot %arg3, %arg3, precision = [HIGHEST, HIGH] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %8 = stablehlo.dot %arg3, %arg3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %9 = stablehlo.cholesky %arg3, lower = true : tensor<4x4xf32>
    %10 = stablehlo.cholesky %arg3 : tensor<4x4xf32>
    %11 = "stablehlo.triangular_solve"(%arg3, %arg3) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %output_state, %output = stablehlo.rng_bit_generator %arg6, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
    %12 = stablehlo.rng %arg5, %arg5, %arg8, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
    %cst = stablehlo.constant dense<[0x7FC00000, 1.500000e+00, -0.000000e+00, 0xFF800000]> : tensor<4xf32>
    %c = stablehlo.constant {a.b = 1 : i64} dense<1> : tensor<4xi32>
    %13:2 = stablehlo.custom_call @"x.y-z"(%arg0) {api_version = 4 : i32, backend_config = {a = 1 : i32, "b c" = "q\22\0A\09z"}, called_computations = [@callee], operand_layouts = [dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>]} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    stablehlo.custom_call @nothing() {has_side_effect = true} : () -> ()
    %14 = stablehlo.convolution(%arg11, %arg12) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x3xf32>, tensor<3x3x3x2xf32>) -> tensor<1x8x8x2xf32>
    %15 = stablehlo.convolution(%arg11, %arg12) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x2xf32>) -> tensor<1x6x6x2xf32>
    %16 = stablehlo.reduce(%arg3 init: %arg5) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %17:2 = stablehlo.reduce(%arg3 init: %arg5), (%arg3 init: %arg5) across dimensions = [0, 1] : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
     reducer(%arg24: tensor<f32>, %arg26: tensor<f32>) (%arg25: tensor<f32>, %arg27: tensor<f32>)  {
      %97 = stablehlo.add %arg24, %arg26 : tensor<f32>
      %98 = stablehlo.maximum %arg25, %arg27 : tensor<f32>
      stablehlo.return %97, %98 : tensor<f32>, tensor<f32>
    }
    %18:2 = stablehlo.while(%iterArg = %arg17, %iterArg_1 = %arg0) : tensor<i32>, tensor<4xf32> attributes {mhlo.x = 1 : i32}
    cond {
      %97 = stablehlo.compare LT, %iterArg, %arg17, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %97 : tensor<i1>
    } do {
      stablehlo.return %iterArg, %iterArg_1 : tensor<i32>, tensor<4xf32>
    }
    stablehlo.while()
    cond {
      stablehlo.return %arg9 : tensor<i1>
    } do {
      stablehlo.return 
    }
    %19 = stablehlo.slice %arg3 [0:2, 1:4:2] : (tensor<4x4xf32>) -> tensor<2x2xf32>
    %20 = stablehlo.dynamic_slice %arg3, %arg7, %arg7, sizes = [1, 2] : (tensor<4x4xf32>, tensor<i64>, tensor<i64>) -> tensor<1x2xf32>
    %21 = stablehlo.dynamic_slice %arg5, , sizes = [] : (tensor<f32>) -> tensor<f32>
    %22 = stablehlo.dynamic_update_slice %arg3, %20, %arg7, %arg7 : (tensor<4x4xf32>, tensor<1x2xf32>, tensor<i64>, tensor<i64>) -> tensor<4x4xf32>
    %23 = stablehlo.pad %arg0, %arg5, low = [1], high = [-1], interior = [2] : (tensor<4xf32>, tensor<f32>) -> tensor<10xf32>
    %24 = stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    %25 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
    %26 = stablehlo.broadcast_in_dim %arg5, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %27 = stablehlo.broadcast %arg0, sizes = [2] : (tensor<4xf32>) -> tensor<2x4xf32>
    %28 = stablehlo.dynamic_broadcast_in_dim %arg13, %arg8, dims = [0] {known_expanding_dimensions = array<i64>, known_nonexpanding_dimensions = array<i64: 0>} : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
    %29 = stablehlo.iota dim = 0 : tensor<5xi32>
    %30 = stablehlo.dynamic_iota %arg14, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
    %31 = stablehlo.transpose %arg3, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %32 = stablehlo.reverse %arg3, dims = [1] : tensor<4x4xf32>
    %33 = stablehlo.reshape %arg3 : (tensor<4x4xf32>) -> tensor<16xf32>
    %34 = stablehlo.dynamic_reshape %arg13, %arg14 : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>
    %35 = stablehlo.select %arg9, %arg0, %arg0 : tensor<i1>, tensor<4xf32>
    %36 = stablehlo.select %arg9, %arg0, %arg13 : (tensor<i1>, tensor<4xf32>, tensor<?xf32>) -> tensor<4xf32>
    %37 = stablehlo.clamp %arg5, %arg0, %arg5 : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %38 = stablehlo.clamp %arg0, %arg0, %arg0 : tensor<4xf32>
    %39 = stablehlo.compare GE, %arg0, %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %40 = stablehlo.compare NE, %arg0, %arg0, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %41 = stablehlo.complex %arg0, %arg0 : tensor<4xcomplex<f32>>
    %42 = stablehlo.real %arg4 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %43 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xbf16>
    %44 = stablehlo.bitcast_convert %arg0 : (tensor<4xf32>) -> tensor<4xi32>
    %45 = stablehlo.fft %arg4, type = IFFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    %46 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<4xf32>
    %47 = stablehlo.tuple %arg0, %arg2 : tuple<tensor<4xf32>, tensor<4xi32>>
    %48 = stablehlo.get_tuple_element %47[1] : (tuple<tensor<4xf32>, tensor<4xi32>>) -> tensor<4xi32>
    %49 = stablehlo.after_all %arg1, %arg1 : !stablehlo.token
    %50 = stablehlo.after_all  : !stablehlo.token
    %51 = stablehlo.create_token : !stablehlo.token
    %52 = stablehlo.partition_id : tensor<ui32>
    %53 = stablehlo.composite "my.op" %arg0 {composite_attributes = {k = 3 : i64, s = dense<[1, 2]> : tensor<2xi64>}, decomposition = @impl, version = 2 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    %54 = stablehlo.get_dimension_size %arg13, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %55 = stablehlo.set_dimension_size %arg0, %arg17, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>
    %56 = stablehlo.einsum %arg3, %arg3, config = "ab,bc->ac" : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %57 = stablehlo.unary_einsum %arg3, config = "ab->a" : (tensor<4x4xf32>) -> tensor<4xf32>
    %58 = "stablehlo.batch_norm_inference"(%arg11, %arg16, %arg16, %arg16, %arg16) <{epsilon = 1.000000e-03 : f32, feature_index = 3 : i64}> : (tensor<1x8x8x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x8x8x3xf32>
    %59 = "stablehlo.gather"(%arg3, %arg2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<4x4xf32>, tensor<4xi32>) -> tensor<4x4xf32>
    %60 = "stablehlo.scatter"(%arg3, %arg2, %arg3) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg24: tensor<f32>, %arg25: tensor<f32>):
      stablehlo.return %arg25 : tensor<f32>
    }) : (tensor<4x4xf32>, tensor<4xi32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %61 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg24: tensor<f32>, %arg25: tensor<f32>):
      %97 = stablehlo.compare LT, %arg24, %arg25, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %97 : tensor<i1>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %62 = "stablehlo.reduce_window"(%arg3, %arg5) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>}> ({
    ^bb0(%arg24: tensor<f32>, %arg25: tensor<f32>):
      %97 = stablehlo.add %arg24, %arg25 : tensor<f32>
      stablehlo.return %97 : tensor<f32>
    }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<3x3xf32>
    %63 = "stablehlo.select_and_scatter"(%arg3, %arg3, %arg5) <{window_dimensions = array<i64: 1, 1>}> ({
    ^bb0(%arg24: tensor<f32>, %arg25: tensor<f32>):
      %97 = stablehlo.compare GE, %arg24, %arg25 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %97 : tensor<i1>
    }, {
    ^bb0(%arg24: tensor<f32>, %arg25: tensor<f32>):
      %97 = stablehlo.add %arg24, %arg25 : tensor<f32>
      stablehlo.return %97 : tensor<f32>
    }) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
    %64 = "stablehlo.map"(%arg0) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg24: tensor<f32>):
      stablehlo.return %arg24 : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %65 = "stablehlo.all_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%arg24: tensor<f32>, %arg25: tensor<f32>):
      %97 = stablehlo.add %arg24, %arg25 : tensor<f32>
      stablehlo.return %97 : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %66 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
    %67 = "stablehlo.all_to_all"(%arg0) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
    %68 = "stablehlo.collective_permute"(%arg0) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    %69:2 = "stablehlo.infeed"(%arg1) <{infeed_config = "x", layout = [[0]]}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
    %70 = "stablehlo.outfeed"(%arg0, %arg1) <{outfeed_config = ""}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
    %71 = "stablehlo.send"(%arg0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
    %72:2 = "stablehlo.recv"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
    %73 = stablehlo.add %arg18, %arg18 : tensor<?xf32, #stablehlo.bounds<8>>
    %74 = stablehlo.real_dynamic_slice %arg13, %arg14, %arg14, %arg14 : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
    %75 = stablehlo.dynamic_pad %arg13, %arg5, %arg14, %arg14, %arg14 : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
    %76 = "stablehlo.cross-replica-sum"(%arg0) <{replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    %77 = "stablehlo.torch_index_select"(%arg3, %arg2) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<4x4xf32>, tensor<4xi32>) -> tensor<4x4xf32>
    %78 = call @callee(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %79 = "stablehlo.collective_broadcast"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    %80 = "stablehlo.reduce_scatter"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({
    ^bb0(%arg24: tensor<f32>, %arg25: tensor<f32>):
      %97 = stablehlo.add %arg24, %arg25 : tensor<f32>
      stablehlo.return %97 : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<2xf32>
    %c_0 = stablehlo.constant dense<1> : tensor<2x2xi64>
    %81 = "stablehlo.dynamic_conv"(%arg11, %arg12, %c_0) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, window_strides = array<i64: 1, 1>}> : (tensor<1x8x8x3xf32>, tensor<3x3x3x2xf32>, tensor<2x2xi64>) -> tensor<1x?x?x2xf32>
    %82 = "stablehlo.dynamic_gather"(%arg3, %arg2, %arg19) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<4x4xf32>, tensor<4xi32>, tensor<2xi64>) -> tensor<4x4xf32>
    %83 = chlo.acos %arg0 : tensor<4xf32> -> tensor<4xf32>
    %84 = chlo.broadcast_add %arg0, %arg5 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %85 = chlo.broadcast_compare %arg0, %arg5 {broadcast_dimensions = array<i64>, compare_type = #chlo<comparison_type FLOAT>, comparison_direction = #chlo<comparison_direction LT>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
    %86 = chlo.broadcast_select %arg10, %arg0, %arg5 : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
    %87 = chlo.constant dense<1.000000e+00> : tensor<2xf32>
    %88 = "chlo.constant_like"(%arg0) <{value = 3.000000e+00 : f32}> : (tensor<4xf32>) -> tensor<4xf32>
    %89 = chlo.next_after %arg0, %arg0 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    %90 = chlo.is_inf %arg0 : tensor<4xf32> -> tensor<4xi1>
    %91 = chlo.mulhi %arg2, %arg2 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
    %92 = "chlo.ragged_dot"(%arg20, %arg21, %arg22) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x4xf32>, tensor<2x4x4xf32>, tensor<2xi64>) -> tensor<4x4xf32>
    %93:2 = chlo.scan(%arg0) inits (%arg5) dimension=0  attributes {is_reverse = true} {
    ^bb0(%input: tensor<f32>, %carry: tensor<f32>):
      stablehlo.return %input, %carry : tensor<f32>, tensor<f32>
    } : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
    %94 = chlo.square %arg0 : tensor<4xf32> -> tensor<4xf32>
    %95 = chlo._asin_acos_kernel %arg4 : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %96 = chlo.erf %arg0 {x.y} : tensor<4xf32> -> tensor<4xf32>
    return
  }
}

// ---- generic
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "callee", sym_visibility = "private"}> ({
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "impl", sym_visibility = "private"}> ({
  ^bb0(%arg51: tensor<4xf32>):
    "func.return"(%arg51) : (tensor<4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4xf32>, !stablehlo.token, tensor<4xi32>, tensor<4x4xf32>, tensor<4xcomplex<f32>>, tensor<f32>, tensor<2xui64>, tensor<i64>, tensor<1xi64>, tensor<i1>, tensor<4xi1>, tensor<1x8x8x3xf32>, tensor<3x3x3x2xf32>, tensor<?xf32>, tensor<1xi32>, tensor<2x4x4xf32>, tensor<3xf32>, tensor<i32>, tensor<?xf32, #stablehlo.bounds<8>>, tensor<2xi64>, tensor<4x4xf32>, tensor<2x4x4xf32>, tensor<2xi64>, tuple<tensor<4xf32>, tuple<tensor<i32>>>) -> (), sym_name = "f"}> ({
  ^bb0(%arg0: tensor<4xf32>, %arg1: !stablehlo.token, %arg2: tensor<4xi32>, %arg3: tensor<4x4xf32>, %arg4: tensor<4xcomplex<f32>>, %arg5: tensor<f32>, %arg6: tensor<2xui64>, %arg7: tensor<i64>, %arg8: tensor<1xi64>, %arg9: tensor<i1>, %arg10: tensor<4xi1>, %arg11: tensor<1x8x8x3xf32>, %arg12: tensor<3x3x3x2xf32>, %arg13: tensor<?xf32>, %arg14: tensor<1xi32>, %arg15: tensor<2x4x4xf32>, %arg16: tensor<3xf32>, %arg17: tensor<i32>, %arg18: tensor<?xf32, #stablehlo.bounds<8>>, %arg19: tensor<2xi64>, %arg20: tensor<4x4xf32>, %arg21: tensor<2x4x4xf32>, %arg22: tensor<2xi64>, %arg23: tuple<tensor<4xf32>, tuple<tensor<i32>>>):
    "stablehlo.optimization_barrier"() : () -> ()
    %0:2 = "stablehlo.optimization_barrier"(%arg0, %arg2) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)
    %1 = "stablehlo.exponential"(%arg0) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-04, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<4xf32>) -> tensor<4xf32>
    %2 = "stablehlo.exponential"(%arg0) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>}> : (tensor<4xf32>) -> tensor<4xf32>
    %3 = "stablehlo.if"(%arg9) ({
      "stablehlo.return"(%arg0) : (tensor<4xf32>) -> ()
    }, {
      "stablehlo.return"(%arg0) : (tensor<4xf32>) -> ()
    }) : (tensor<i1>) -> tensor<4xf32>
    %4:2 = "stablehlo.case"(%arg17) ({
      "stablehlo.return"(%arg0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> ()
    }, {
      "stablehlo.return"(%arg0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> ()
    }) : (tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>)
    %5 = "stablehlo.dot_general"(%arg3, %arg3) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %6 = "stablehlo.dot_general"(%arg15, %arg15) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGH>]}> : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    %7 = "stablehlo.dot"(%arg3, %arg3) <{precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGH>]}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %8 = "stablehlo.dot"(%arg3, %arg3) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %9 = "stablehlo.cholesky"(%arg3) <{lower = true}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %10 = "stablehlo.cholesky"(%arg3) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %11 = "stablehlo.triangular_solve"(%arg3, %arg3) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %12:2 = "stablehlo.rng_bit_generator"(%arg6) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
    %13 = "stablehlo.rng"(%arg5, %arg5, %arg8) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
    %14 = "stablehlo.constant"() <{value = dense<[0x7FC00000, 1.500000e+00, -0.000000e+00, 0xFF800000]> : tensor<4xf32>}> : () -> tensor<4xf32>
    %15 = "stablehlo.constant"() <{value = dense<1> : tensor<4xi32>}> {a.b = 1 : i64} : () -> tensor<4xi32>
    %16:2 = "stablehlo.custom_call"(%arg0) <{api_version = 4 : i32, backend_config = {a = 1 : i32, "b c" = "q\22\0A\09z"}, call_target_name = "x.y-z", called_computations = [@callee], operand_layouts = [dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>]}> : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    "stablehlo.custom_call"() <{call_target_name = "nothing", has_side_effect = true}> : () -> ()
    %17 = "stablehlo.convolution"(%arg11, %arg12) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], window_reversal = array<i1: true, false>, window_strides = array<i64: 1, 1>}> : (tensor<1x8x8x3xf32>, tensor<3x3x3x2xf32>) -> tensor<1x8x8x2xf32>
    %18 = "stablehlo.convolution"(%arg11, %arg12) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64}> : (tensor<1x8x8x3xf32>, tensor<3x3x3x2xf32>) -> tensor<1x6x6x2xf32>
    %19 = "stablehlo.reduce"(%arg3, %arg5) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg49: tensor<f32>, %arg50: tensor<f32>):
      %111 = "stablehlo.add"(%arg49, %arg50) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%111) : (tensor<f32>) -> ()
    }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %20:2 = "stablehlo.reduce"(%arg3, %arg3, %arg5, %arg5) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg45: tensor<f32>, %arg46: tensor<f32>, %arg47: tensor<f32>, %arg48: tensor<f32>):
      %109 = "stablehlo.add"(%arg45, %arg47) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %110 = "stablehlo.maximum"(%arg46, %arg48) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%109, %110) : (tensor<f32>, tensor<f32>) -> ()
    }) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
    %21:2 = "stablehlo.while"(%arg17, %arg0) ({
    ^bb0(%arg43: tensor<i32>, %arg44: tensor<4xf32>):
      %108 = "stablehlo.compare"(%arg43, %arg17) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%108) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg41: tensor<i32>, %arg42: tensor<4xf32>):
      "stablehlo.return"(%arg41, %arg42) : (tensor<i32>, tensor<4xf32>) -> ()
    }) {mhlo.x = 1 : i32} : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
    "stablehlo.while"() ({
      "stablehlo.return"(%arg9) : (tensor<i1>) -> ()
    }, {
      "stablehlo.return"() : () -> ()
    }) : () -> ()
    %22 = "stablehlo.slice"(%arg3) <{limit_indices = array<i64: 2, 4>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 2>}> : (tensor<4x4xf32>) -> tensor<2x2xf32>
    %23 = "stablehlo.dynamic_slice"(%arg3, %arg7, %arg7) <{slice_sizes = array<i64: 1, 2>}> : (tensor<4x4xf32>, tensor<i64>, tensor<i64>) -> tensor<1x2xf32>
    %24 = "stablehlo.dynamic_slice"(%arg5) <{slice_sizes = array<i64>}> : (tensor<f32>) -> tensor<f32>
    %25 = "stablehlo.dynamic_update_slice"(%arg3, %23, %arg7, %arg7) : (tensor<4x4xf32>, tensor<1x2xf32>, tensor<i64>, tensor<i64>) -> tensor<4x4xf32>
    %26 = "stablehlo.pad"(%arg0, %arg5) <{edge_padding_high = array<i64: -1>, edge_padding_low = array<i64: 1>, interior_padding = array<i64: 2>}> : (tensor<4xf32>, tensor<f32>) -> tensor<10xf32>
    %27 = "stablehlo.concatenate"(%arg0, %arg0) <{dimension = 0 : i64}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    %28 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4xf32>) -> tensor<3x4xf32>
    %29 = "stablehlo.broadcast_in_dim"(%arg5) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x4xf32>
    %30 = "stablehlo.broadcast"(%arg0) <{broadcast_sizes = array<i64: 2>}> : (tensor<4xf32>) -> tensor<2x4xf32>
    %31 = "stablehlo.dynamic_broadcast_in_dim"(%arg13, %arg8) <{broadcast_dimensions = array<i64: 0>, known_expanding_dimensions = array<i64>, known_nonexpanding_dimensions = array<i64: 0>}> : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
    %32 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<5xi32>
    %33 = "stablehlo.dynamic_iota"(%arg14) <{iota_dimension = 0 : i64}> : (tensor<1xi32>) -> tensor<?xi32>
    %34 = "stablehlo.transpose"(%arg3) <{permutation = array<i64: 1, 0>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %35 = "stablehlo.reverse"(%arg3) <{dimensions = array<i64: 1>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %36 = "stablehlo.reshape"(%arg3) : (tensor<4x4xf32>) -> tensor<16xf32>
    %37 = "stablehlo.dynamic_reshape"(%arg13, %arg14) : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>
    %38 = "stablehlo.select"(%arg9, %arg0, %arg0) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %39 = "stablehlo.select"(%arg9, %arg0, %arg13) : (tensor<i1>, tensor<4xf32>, tensor<?xf32>) -> tensor<4xf32>
    %40 = "stablehlo.clamp"(%arg5, %arg0, %arg5) : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %41 = "stablehlo.clamp"(%arg0, %arg0, %arg0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %42 = "stablehlo.compare"(%arg0, %arg0) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %43 = "stablehlo.compare"(%arg0, %arg0) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %44 = "stablehlo.complex"(%arg0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>
    %45 = "stablehlo.real"(%arg4) : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %46 = "stablehlo.convert"(%arg0) : (tensor<4xf32>) -> tensor<4xbf16>
    %47 = "stablehlo.bitcast_convert"(%arg0) : (tensor<4xf32>) -> tensor<4xi32>
    %48 = "stablehlo.fft"(%arg4) <{fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type IFFT>}> : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    %49 = "stablehlo.reduce_precision"(%arg0) <{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}> : (tensor<4xf32>) -> tensor<4xf32>
    %50 = "stablehlo.tuple"(%arg0, %arg2) : (tensor<4xf32>, tensor<4xi32>) -> tuple<tensor<4xf32>, tensor<4xi32>>
    %51 = "stablehlo.get_tuple_element"(%50) <{index = 1 : i32}> : (tuple<tensor<4xf32>, tensor<4xi32>>) -> tensor<4xi32>
    %52 = "stablehlo.after_all"(%arg1, %arg1) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
    %53 = "stablehlo.after_all"() : () -> !stablehlo.token
    %54 = "stablehlo.create_token"() : () -> !stablehlo.token
    %55 = "stablehlo.partition_id"() : () -> tensor<ui32>
    %56 = "stablehlo.composite"(%arg0) <{composite_attributes = {k = 3 : i64, s = dense<[1, 2]> : tensor<2xi64>}, decomposition = @impl, name = "my.op", version = 2 : i32}> : (tensor<4xf32>) -> tensor<4xf32>
    %57 = "stablehlo.get_dimension_size"(%arg13) <{dimension = 0 : i64}> : (tensor<?xf32>) -> tensor<i32>
    %58 = "stablehlo.set_dimension_size"(%arg0, %arg17) <{dimension = 0 : i64}> : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>
    %59 = "stablehlo.einsum"(%arg3, %arg3) <{einsum_config = "ab,bc->ac"}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %60 = "stablehlo.unary_einsum"(%arg3) <{einsum_config = "ab->a"}> : (tensor<4x4xf32>) -> tensor<4xf32>
    %61 = "stablehlo.batch_norm_inference"(%arg11, %arg16, %arg16, %arg16, %arg16) <{epsilon = 1.000000e-03 : f32, feature_index = 3 : i64}> : (tensor<1x8x8x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x8x8x3xf32>
    %62 = "stablehlo.gather"(%arg3, %arg2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<4x4xf32>, tensor<4xi32>) -> tensor<4x4xf32>
    %63 = "stablehlo.scatter"(%arg3, %arg2, %arg3) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg39: tensor<f32>, %arg40: tensor<f32>):
      "stablehlo.return"(%arg40) : (tensor<f32>) -> ()
    }) : (tensor<4x4xf32>, tensor<4xi32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %64 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg37: tensor<f32>, %arg38: tensor<f32>):
      %107 = "stablehlo.compare"(%arg37, %arg38) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%107) : (tensor<i1>) -> ()
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %65 = "stablehlo.reduce_window"(%arg3, %arg5) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>}> ({
    ^bb0(%arg35: tensor<f32>, %arg36: tensor<f32>):
      %106 = "stablehlo.add"(%arg35, %arg36) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%106) : (tensor<f32>) -> ()
    }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<3x3xf32>
    %66 = "stablehlo.select_and_scatter"(%arg3, %arg3, %arg5) <{window_dimensions = array<i64: 1, 1>}> ({
    ^bb0(%arg33: tensor<f32>, %arg34: tensor<f32>):
      %105 = "stablehlo.compare"(%arg33, %arg34) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%105) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg31: tensor<f32>, %arg32: tensor<f32>):
      %104 = "stablehlo.add"(%arg31, %arg32) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%104) : (tensor<f32>) -> ()
    }) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
    %67 = "stablehlo.map"(%arg0) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg30: tensor<f32>):
      "stablehlo.return"(%arg30) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %68 = "stablehlo.all_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%arg28: tensor<f32>, %arg29: tensor<f32>):
      %103 = "stablehlo.add"(%arg28, %arg29) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%103) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %69 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
    %70 = "stablehlo.all_to_all"(%arg0) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
    %71 = "stablehlo.collective_permute"(%arg0) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    %72:2 = "stablehlo.infeed"(%arg1) <{infeed_config = "x", layout = [[0]]}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
    %73 = "stablehlo.outfeed"(%arg0, %arg1) <{outfeed_config = ""}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
    %74 = "stablehlo.send"(%arg0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
    %75:2 = "stablehlo.recv"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
    %76 = "stablehlo.add"(%arg18, %arg18) : (tensor<?xf32, #stablehlo.bounds<8>>, tensor<?xf32, #stablehlo.bounds<8>>) -> tensor<?xf32, #stablehlo.bounds<8>>
    %77 = "stablehlo.real_dynamic_slice"(%arg13, %arg14, %arg14, %arg14) : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
    %78 = "stablehlo.dynamic_pad"(%arg13, %arg5, %arg14, %arg14, %arg14) : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
    %79 = "stablehlo.cross-replica-sum"(%arg0) <{replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    %80 = "stablehlo.torch_index_select"(%arg3, %arg2) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<4x4xf32>, tensor<4xi32>) -> tensor<4x4xf32>
    %81 = "func.call"(%arg0) <{callee = @callee}> : (tensor<4xf32>) -> tensor<4xf32>
    %82 = "stablehlo.collective_broadcast"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    %83 = "stablehlo.reduce_scatter"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({
    ^bb0(%arg26: tensor<f32>, %arg27: tensor<f32>):
      %102 = "stablehlo.add"(%arg26, %arg27) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%102) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>) -> tensor<2xf32>
    %84 = "stablehlo.constant"() <{value = dense<1> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %85 = "stablehlo.dynamic_conv"(%arg11, %arg12, %84) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, window_strides = array<i64: 1, 1>}> : (tensor<1x8x8x3xf32>, tensor<3x3x3x2xf32>, tensor<2x2xi64>) -> tensor<1x?x?x2xf32>
    %86 = "stablehlo.dynamic_gather"(%arg3, %arg2, %arg19) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<4x4xf32>, tensor<4xi32>, tensor<2xi64>) -> tensor<4x4xf32>
    %87 = "chlo.acos"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %88 = "chlo.broadcast_add"(%arg0, %arg5) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %89 = "chlo.broadcast_compare"(%arg0, %arg5) <{broadcast_dimensions = array<i64>, compare_type = #chlo<comparison_type FLOAT>, comparison_direction = #chlo<comparison_direction LT>}> : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
    %90 = "chlo.broadcast_select"(%arg10, %arg0, %arg5) : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %91:2 = "chlo.top_k"(%arg0) <{k = 2 : i64}> : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)
    %92 = "chlo.constant"() <{value = dense<1.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
    %93 = "chlo.constant_like"(%arg0) <{value = 3.000000e+00 : f32}> : (tensor<4xf32>) -> tensor<4xf32>
    %94 = "chlo.next_after"(%arg0, %arg0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %95 = "chlo.is_inf"(%arg0) : (tensor<4xf32>) -> tensor<4xi1>
    %96 = "chlo.mulhi"(%arg2, %arg2) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %97 = "chlo.ragged_dot"(%arg20, %arg21, %arg22) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x4xf32>, tensor<2x4x4xf32>, tensor<2xi64>) -> tensor<4x4xf32>
    %98:2 = "chlo.scan"(%arg0, %arg5) <{dimension = 0 : i64, is_reverse = true, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg24: tensor<f32>, %arg25: tensor<f32>):
      "stablehlo.return"(%arg24, %arg25) : (tensor<f32>, tensor<f32>) -> ()
    }) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
    %99 = "chlo.square"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %100 = "chlo._asin_acos_kernel"(%arg4) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    %101 = "chlo.erf"(%arg0) {x.y} : (tensor<4xf32>) -> tensor<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
