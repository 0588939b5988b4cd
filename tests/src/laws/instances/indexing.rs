//! Gather, scatter, dynamic slices, sort and top_k.

/// One op a line.
pub const LINES: &str = "
gather {dims = {offset = [1], collapsed = [0], operand_batching = [], indices_batching = [], start_map = [0], index_vector = 1}, sizes = [1, 3]} | 4x3xf64 any; 2x1xi32 0..4
gather {dims = {offset = [1], collapsed = [0], operand_batching = [], indices_batching = [], start_map = [0], index_vector = 1}, sizes = [1, 3]} | Bx3xf64 any; 5x1xi32 -2..6
gather {dims = {offset = [0, 1], collapsed = [], operand_batching = [], indices_batching = [], start_map = [0, 1], index_vector = 0}, sizes = [2, 2]} | 3x4xf64 any; 2xi32 -1..4
gather {dims = {offset = [1], collapsed = [1], operand_batching = [0], indices_batching = [0], start_map = [1], index_vector = 1}, sizes = [1, 1, 2]} | 2x3x3xf64 any; 2x1xi32 0..3
gather {dims = {offset = [], collapsed = [0, 1], operand_batching = [], indices_batching = [], start_map = [1, 0], index_vector = 1}, sizes = [1, 1]} | 3x2xc128 any; 4x2xi32 0..2
gather {dims = {offset = [1], collapsed = [], operand_batching = [], indices_batching = [], start_map = [0], index_vector = 1}, sizes = [2]} | 5xf64 any; 3xi32 0..4
gather {dims = {offset = [1], collapsed = [0], operand_batching = [], indices_batching = [], start_map = [0], index_vector = 1}, sizes = [1, 3]} | 4x3xi32 0..9; 2x1xi32 0..4
gather {dims = {offset = [1], collapsed = [0], operand_batching = [], indices_batching = [], start_map = [0], index_vector = 1}, sizes = [1, B]} | 4xBxf64 any; 2x1xi64 0..4
gather {dims = {offset = [0], collapsed = [0], operand_batching = [], indices_batching = [], start_map = [0], index_vector = 2}, sizes = [1, 3], sorted = true} | 4x3xf64 any; 1x2xu8 =[[1, 3]]
gather {dims = {offset = [1], collapsed = [0], operand_batching = [], indices_batching = [], start_map = [0], index_vector = 1}, sizes = [1, 3]} | 4x3xf64 any; 0x1xi32 0..4
scatter_set {dims = {update_window = [1], inserted = [0], operand_batching = [], indices_batching = [], scatter_map = [0], index_vector = 1}} | 4x3xf64 any; 3x1xi32 =[[2], [0], [2]]; 3x3xf64 any
scatter_set {dims = {update_window = [], inserted = [0, 1], operand_batching = [], indices_batching = [], scatter_map = [0, 1], index_vector = 1}, unique = true} | 3x3xf64 any; 2x2xi32 =[[0, 2], [1, 1]]; 2xf64 any
scatter_set {dims = {update_window = [], inserted = [0], operand_batching = [], indices_batching = [], scatter_map = [0], index_vector = 1}} | Bxc128 any; 4x1xi32 0..4; 4xc128 any
scatter_add {dims = {update_window = [1], inserted = [0], operand_batching = [], indices_batching = [], scatter_map = [0], index_vector = 1}} | 4x3xf64 any; 3x1xi32 0..6; 3x3xf64 any
scatter_add {dims = {update_window = [1], inserted = [], operand_batching = [], indices_batching = [], scatter_map = [0], index_vector = 1}} | 5xf64 any; 2x1xi32 0..5; 2x2xf64 any
scatter_add {dims = {update_window = [], inserted = [1], operand_batching = [0], indices_batching = [0], scatter_map = [1], index_vector = 2}} | 2x3xc128 any; 2x2x1xi32 0..3; 2x2xc128 any
scatter_add {dims = {update_window = [], inserted = [0], operand_batching = [], indices_batching = [], scatter_map = [0], index_vector = 1}} | 4xi32 0..9; 3x1xi32 0..4; 3xi32 0..9
scatter_mul {dims = {update_window = [], inserted = [0], operand_batching = [], indices_batching = [], scatter_map = [0], index_vector = 1}} | 4xf64 any; 3x1xi32 =[[2], [0], [2]]; 3xf64 any
scatter_mul {dims = {update_window = [1], inserted = [0], operand_batching = [], indices_batching = [], scatter_map = [0], index_vector = 1}, unique = true} | 4x2xf64 any; 2x1xi32 =[[3], [0]]; 2x2xf64 any
scatter_min {dims = {update_window = [], inserted = [0], operand_batching = [], indices_batching = [], scatter_map = [0], index_vector = 1}} | 4xf64 any; 3x1xi32 =[[2], [0], [2]]; 3xf64 any
scatter_max {dims = {update_window = [1], inserted = [0], operand_batching = [], indices_batching = [], scatter_map = [0], index_vector = 1}} | 4x2xf64 any; 3x1xi32 0..5; 3x2xf64 any
scatter_add {dims = {update_window = [1], inserted = [0], operand_batching = [], indices_batching = [], scatter_map = [0], index_vector = 1}} | Bx2xf64 any; 2x1xi64 0..4; 2x2xf64 any
scatter_add {dims = {update_window = [0, 1], inserted = [], operand_batching = [], indices_batching = [], scatter_map = [1, 0], index_vector = 0}} | 3x4xf64 any; 2xi32 -1..3; 2x2xf64 any
scatter_add {dims = {update_window = [], inserted = [0], operand_batching = [], indices_batching = [], scatter_map = [0], index_vector = 1}} | 4xf64 any; 0x1xi32 0..4; 0xf64 any
scatter_set {dims = {update_window = [1], inserted = [], operand_batching = [], indices_batching = [], scatter_map = [0], index_vector = 1}} | 5xf64 any; 3x1xi32 0..5; 3x2xf64 any
scatter_mul {dims = {update_window = [1], inserted = [], operand_batching = [], indices_batching = [], scatter_map = [0], index_vector = 1}} | 5xc128 any; 3x1xi32 0..5; 3x2xc128 any
scatter_max {dims = {update_window = [1], inserted = [], operand_batching = [], indices_batching = [], scatter_map = [0], index_vector = 1}} | 5xf64 any; 2x1xi32 0..5; 2x2xf64 any
dynamic_slice {sizes = [2, 3]} | 4x5xf64 any; i32 -1..4; i32 0..4
dynamic_slice {sizes = [2]} | Bxf64 any; i32 0..3
dynamic_slice {sizes = []} | f64 any
dynamic_slice {sizes = [1, 2]} | 3x2xc128 any; i64 0..3; i64 0..1
dynamic_slice {sizes = [(B - 1)]} | Bxf64 any; i32 0..3
dynamic_slice {sizes = [0]} | 3xf64 any; u8 0..3
dynamic_update_slice | 4x5xf64 any; 2x3xf64 any; i32 -1..4; i32 0..4
dynamic_update_slice | Bxf64 any; 1xf64 any; i32 0..3
dynamic_update_slice | 3x2xc128 any; 1x2xc128 any; i64 0..3; i64 0..1
sort {axis = 0, keys = [ascending], stable = true} | 5xf64 any
sort {axis = 1, keys = [descending], stable = true} | 2x4xf64 any
sort {axis = 0, keys = [ascending], stable = true} | 4x2xf64 any; 4x2xf64 any
sort {axis = 0, keys = [ascending, descending], stable = true} | 5xi32 0..3; 5xf64 any; 5xf64 any
sort {axis = 0, keys = [ascending], stable = true} | 0xf64 any
sort {axis = 0, keys = [ascending], stable = true} | 4xi32 0..2; 4xc128 any
top_k {k = 0} | 3xf64 any
top_k {k = B} | 2xBxf64 any
sort {axis = 0, keys = [descending]} | Bxf64 any; Bxi32 0..9
top_k {k = 2} | 2x4xf64 any
top_k {k = 3} | 3xf64 any
top_k {k = 2} | 4xi32 0..99
top_k {k = 2} | Bx5xf64 any
";
