//! Contractions, reductions, windows and running combinations.

/// One op a line.
pub const LINES: &str = "
dot {batch = [], contract = [[1], [0]]} | 2x3xf64 any; 3x4xf64 any
dot {batch = [[0], [0]], contract = [[2], [1]]} | 2x3x4xf64 any; 2x4x2xf64 any
dot {batch = [[1], [0]], contract = [[0], [1]]} | 3x2xf64 any; 2x3x4xf64 any
dot {batch = [], contract = [[0, 1], [1, 0]]} | 2x3xf64 any; 3x2xf64 any
dot {batch = [], contract = [[1], [0]]} | 2xBxf64 any; Bx3xf64 any
dot {batch = [[0, 2], [1, 0]], contract = [[1], [2]]} | 2x3x2x1xf64 any; 2x2x3x2xf64 any
dot {batch = [], contract = []} | 2xf64 any; 3xf64 any
dot {batch = [], contract = [[0], [0]]} | 3xc128 any; 3x2xc128 any
dot {batch = [], contract = [[1], [0]]} | Bx2xf64 any; 2xf64 any
dot {batch = [], contract = [[0], [0]]} | 0x2xf64 any; 0x3xf64 any
dot {batch = [], contract = [[0], [0]], accumulate = f64} | 3xf32 any; 3x2xf32 any
dot {batch = [], contract = [[0], [0]]} | 3xi32 0..9; 3x2xi32 0..9
convolution {window = {size = [2, 2], stride = [1, 1], padding = [[0, 0], [0, 0]], base_dilation = [1, 1], window_dilation = [1, 1], reversal = [false, false]}, layout = {lhs = [0, 1], lhs_spatial = [2, 3], rhs = [0, 1], rhs_spatial = [2, 3], out = [0, 1], out_spatial = [2, 3]}, feature_groups = 1, batch_groups = 1} | 2x3x4x3xf64 any; 2x3x2x2xf64 any
convolution {window = {size = [2], stride = [2], padding = [[1, 2]], base_dilation = [1], window_dilation = [2], reversal = [false]}, layout = {lhs = [0, 1], lhs_spatial = [2], rhs = [0, 1], rhs_spatial = [2], out = [0, 1], out_spatial = [2]}, feature_groups = 1, batch_groups = 1} | 1x2x5xf64 any; 3x2x2xf64 any
convolution {window = {size = [3], stride = [1], padding = [[-1, 1]], base_dilation = [2], window_dilation = [1], reversal = [true]}, layout = {lhs = [0, 2], lhs_spatial = [1], rhs = [2, 1], rhs_spatial = [0], out = [0, 2], out_spatial = [1]}, feature_groups = 1, batch_groups = 1} | 2x4x2xf64 any; 3x2x2xf64 any
convolution {window = {size = [2], stride = [1], padding = [[0, 1]], base_dilation = [1], window_dilation = [1], reversal = [false]}, layout = {lhs = [0, 1], lhs_spatial = [2], rhs = [0, 1], rhs_spatial = [2], out = [0, 1], out_spatial = [2]}, feature_groups = 2, batch_groups = 1} | 2x4x3xf64 any; 6x2x2xf64 any
convolution {window = {size = [2], stride = [1], padding = [[0, 1]], base_dilation = [1], window_dilation = [1], reversal = [false]}, layout = {lhs = [0, 1], lhs_spatial = [2], rhs = [0, 1], rhs_spatial = [2], out = [0, 1], out_spatial = [2]}, feature_groups = 3, batch_groups = 1} | 1x3x4xf64 any; 3x1x2xf64 any
convolution {window = {size = [2], stride = [1], padding = [[0, 0]], base_dilation = [1], window_dilation = [1], reversal = [false]}, layout = {lhs = [0, 1], lhs_spatial = [2], rhs = [0, 1], rhs_spatial = [2], out = [0, 1], out_spatial = [2]}, feature_groups = 1, batch_groups = 2} | 4x2x3xf64 any; 4x2x2xf64 any
convolution {window = {size = [2], stride = [3], padding = [[1, 1]], base_dilation = [2], window_dilation = [2], reversal = [false]}, layout = {lhs = [0, 1], lhs_spatial = [2], rhs = [0, 1], rhs_spatial = [2], out = [1, 0], out_spatial = [2]}, feature_groups = 2, batch_groups = 1} | 2x2x4xf64 any; 2x1x2xf64 any
convolution {window = {size = [2], stride = [2], padding = [[0, 1]], base_dilation = [1], window_dilation = [1], reversal = [true]}, layout = {lhs = [2, 0], lhs_spatial = [1], rhs = [1, 0], rhs_spatial = [2], out = [0, 1], out_spatial = [2]}, feature_groups = 1, batch_groups = 3} | 2x4x3xf64 any; 2x3x2xf64 any
convolution {window = {size = [], stride = [], padding = [], base_dilation = [], window_dilation = [], reversal = []}, layout = {lhs = [0, 1], lhs_spatial = [], rhs = [0, 1], rhs_spatial = [], out = [0, 1], out_spatial = []}, feature_groups = 1, batch_groups = 1} | 2x3xf64 any; 4x3xf64 any
convolution {window = {size = [2], stride = [1], padding = [[1, 0]], base_dilation = [1], window_dilation = [1], reversal = [false]}, layout = {lhs = [0, 1], lhs_spatial = [2], rhs = [0, 1], rhs_spatial = [2], out = [0, 1], out_spatial = [2]}, feature_groups = 1, batch_groups = 1} | Bx2x3xf64 any; 2x2x2xf64 any
convolution {window = {size = [2], stride = [1], padding = [[0, 0]], base_dilation = [1], window_dilation = [1], reversal = [false]}, layout = {lhs = [0, 1], lhs_spatial = [2], rhs = [0, 1], rhs_spatial = [2], out = [0, 1], out_spatial = [2]}, feature_groups = 1, batch_groups = 1} | 1x1x3xc128 any; 2x1x2xc128 any
reduce_sum {axes = [1]} | 2x3xf64 any
reduce_sum {axes = [0, 2]} | 2x3x2xf64 any
reduce_sum {axes = []} | 2xf64 any
reduce_sum {axes = [0]} | 0x2xf64 any
reduce_sum {axes = [0]} | Bx2xf64 any
reduce_sum {axes = [0]} | 3x2xc128 any
reduce_sum {axes = [0]} | 3x2xi32 0..9
reduce_prod {axes = [1]} | 2x3xf64 any
reduce_prod {axes = [0, 1]} | 2x3xf64 any
reduce_prod {axes = [0]} | 4xf64 =[0.5, 0.0, -1.5, 2.0]
reduce_prod {axes = [0]} | 0x2xf64 any
reduce_prod {axes = [0]} | Bx2xf64 any
reduce_prod {axes = [0]} | 3xc128 any
reduce_max {axes = [1]} | 2x3xf64 any
reduce_max {axes = [0, 1]} | 2x3xf64 any
reduce_max {axes = [0]} | Bxf64 any
reduce_max {axes = [0]} | 3x2xi32 0..99
reduce_min {axes = [1]} | 2x3xf64 any
reduce_min {axes = [0, 1]} | 2x3xf64 any
reduce_min {axes = [0]} | Bxf64 any
reduce_and {axes = [1]} | 2x3xbool bool
reduce_or {axes = [1]} | 2x3xi32 0..9
reduce_max {axes = []} | 2xf64 any
reduce_prod {axes = [1]} | 2x3xf64 =[[0.0, 0.5, 0.0], [1.5, 0.0, -0.5]]
reduce_sum {axes = [0, 1]} | 1x1xf64 any
argmax {axis = 1} | 2x3xf64 any
argmax {axis = 0} | Bxf64 any
argmin {axis = 0} | 2x3xf64 any
reduce_window_sum {window = {size = [2, 2], stride = [1, 2], padding = [[1, 0], [0, 1]], base_dilation = [1, 1], window_dilation = [1, 1], reversal = [false, false]}} | 3x4xf64 any
reduce_window_sum {window = {size = [3], stride = [2], padding = [[-1, 2]], base_dilation = [2], window_dilation = [2], reversal = [false]}} | 5xf64 any
reduce_window_sum {window = {size = [2], stride = [1], padding = [[0, 0]], base_dilation = [1], window_dilation = [1], reversal = [false]}} | Bxc128 any
reduce_window_prod {window = {size = [2, 2], stride = [1, 1], padding = [[1, 0], [0, 1]], base_dilation = [1, 1], window_dilation = [1, 1], reversal = [false, false]}} | 3x3xf64 any
reduce_window_prod {window = {size = [2], stride = [2], padding = [[0, 0]], base_dilation = [1], window_dilation = [2], reversal = [false]}} | 6xf64 any
reduce_window_max {window = {size = [2, 2], stride = [2, 1], padding = [[1, 1], [0, 0]], base_dilation = [1, 1], window_dilation = [1, 1], reversal = [false, false]}} | 4x3xf64 any
reduce_window_max {window = {size = [3], stride = [1], padding = [[0, 0]], base_dilation = [1], window_dilation = [1], reversal = [false]}} | 5xf64 any
reduce_window_max {window = {size = [2], stride = [1], padding = [[0, 0]], base_dilation = [1], window_dilation = [2], reversal = [false]}} | 5xf64 any
reduce_window_max {window = {size = [2], stride = [2], padding = [[0, 0]], base_dilation = [1], window_dilation = [1], reversal = [false]}} | 4xi32 0..99
reduce_window_min {window = {size = [2, 2], stride = [2, 1], padding = [[1, 1], [0, 0]], base_dilation = [1, 1], window_dilation = [1, 1], reversal = [false, false]}} | 4x3xf64 any
reduce_window_max {window = {size = [2], stride = [1], padding = [[1, 0]], base_dilation = [1], window_dilation = [1], reversal = [false]}} | 4xf64 -2~-1
reduce_window_max {window = {size = [2], stride = [1], padding = [[1, 0]], base_dilation = [2], window_dilation = [1], reversal = [false]}} | 4xf64 -2~-1
reduce_window_min {window = {size = [2], stride = [1], padding = [[1, 0]], base_dilation = [1], window_dilation = [1], reversal = [false]}} | 4xf64 1~2
reduce_window_max {window = {size = [2], stride = [1], padding = [[0, 0]], base_dilation = [1], window_dilation = [1], reversal = [false]}} | Bxf64 any
reduce_window_prod {window = {size = [2], stride = [1], padding = [[0, 0]], base_dilation = [1], window_dilation = [1], reversal = [false]}} | 4xf64 =[0.5, 0.0, -1.5, 2.0]
reduce_window_prod {window = {size = [2], stride = [1], padding = [[0, 1]], base_dilation = [1], window_dilation = [1], reversal = [false]}} | Bxc128 any
reduce_window_sum {window = {size = [2], stride = [1], padding = [[1, 1]], base_dilation = [1], window_dilation = [1], reversal = [false]}} | 0xf64 any
reduce_window_and {window = {size = [2], stride = [1], padding = [[0, 0]], base_dilation = [1], window_dilation = [1], reversal = [false]}} | 5xbool bool
reduce_window_or {window = {size = [2], stride = [1], padding = [[0, 0]], base_dilation = [1], window_dilation = [1], reversal = [false]}} | 5xbool bool
select_and_scatter_max {window = {size = [2, 2], stride = [2, 1], padding = [[0, 0], [0, 0]], base_dilation = [1, 1], window_dilation = [1, 1], reversal = [false, false]}} | 4x3xf64 any; 2x2xf64 any
select_and_scatter_max {window = {size = [3], stride = [2], padding = [[1, 1]], base_dilation = [1], window_dilation = [1], reversal = [false]}} | 5xf64 any; 3xf64 any
select_and_scatter_max {window = {size = [2], stride = [1], padding = [[0, 0]], base_dilation = [1], window_dilation = [1], reversal = [false]}} | Bxf64 any; [max(B-1,0)]xf64 any
select_and_scatter_min {window = {size = [2], stride = [1], padding = [[0, 0]], base_dilation = [1], window_dilation = [1], reversal = [false]}} | 4xf64 any; 3xf64 any
cumulative_sum {axis = 0} | 4x2xf64 any
cumulative_sum {axis = 1, reverse = true} | 2x3xf64 any
cumulative_sum {axis = 0} | Bxc128 any
cumulative_sum {axis = 0} | 0xf64 any
cumulative_prod {axis = 0} | 4x2xf64 any
cumulative_prod {axis = 1, reverse = true} | 2x3xf64 any
cumulative_prod {axis = 0} | 4xf64 =[0.5, 0.0, -1.5, 2.0]
cumulative_prod {axis = 0} | Bxf64 any
cumulative_max {axis = 0} | 4x2xf64 any
cumulative_max {axis = 1, reverse = true} | 2x4xf64 any
cumulative_min {axis = 0} | 4x2xf64 any
cumulative_min {axis = 1, reverse = true} | 2x4xf64 any
cumulative_min {axis = 0} | 4xi32 0..99
cumulative_logsumexp {axis = 0} | 4x2xf64 any
cumulative_logsumexp {axis = 1, reverse = true} | 2x3xf64 any
cumulative_logsumexp {axis = 0} | Bxf64 any
";
