//! Ops with regions, and calls.

/// Programs.
pub const PROGRAMS: &str = "
// cond: bool; any; any
func @cond(%p: tensor<bool>, %x: tensor<2xf64>, %y: tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>) {
  %r, %s = evoxc.cond(%p) : tensor<2xf64>, tensor<2xf64> {
    then() {
      %a = evoxc.mul(%x, %y) : tensor<2xf64>
      %b = evoxc.sin(%a) : tensor<2xf64>
      yield %b, %x
    }
    else() {
      %c = evoxc.exp(%x) : tensor<2xf64>
      yield %c, %c
    }
  }
  return %r, %s
}
// -----
// cond: any
func @cond_by_value(%x: tensor<f64>) -> tensor<f64> {
  %z = evoxc.constant() {value = dense<0.0> : tensor<f64>} : tensor<f64>
  %p = evoxc.compare(%x, %z) {direction = gt, order = ieee} : tensor<bool>
  %r = evoxc.cond(%p) : tensor<f64> {
    then() {
      %a = evoxc.log(%x) : tensor<f64>
      yield %a
    }
    else() {
      %b = evoxc.mul(%x, %x) : tensor<f64>
      yield %b
    }
  }
  return %r
}
// -----
// cond: bool; bool; any
func @cond_nested(%p: tensor<bool>, %q: tensor<bool>, %x: tensor<Bxf64>) -> tensor<Bxf64> {
  %r = evoxc.cond(%p) : tensor<Bxf64> {
    then() {
      %s = evoxc.cond(%q) : tensor<Bxf64> {
        then() {
          %a = evoxc.tanh(%x) : tensor<Bxf64>
          yield %a
        }
        else() {
          %c = evoxc.constant() {value = splat<2.0> : tensor<Bxf64>} : tensor<Bxf64>
          yield %c
        }
      }
      %t = evoxc.mul(%s, %x) : tensor<Bxf64>
      yield %t
    }
    else() {
      yield %x
    }
  }
  return %r
}
// -----
// switch: -1..4; any; any
func @switch(%i: tensor<i32>, %x: tensor<3xf64>, %y: tensor<3xf64>) -> (tensor<3xf64>, tensor<i32>) {
  %r, %k = evoxc.switch(%i) : tensor<3xf64>, tensor<i32> {
    branch0() {
      %a = evoxc.neg(%x) : tensor<3xf64>
      %c = evoxc.constant() {value = dense<7> : tensor<i32>} : tensor<i32>
      yield %a, %c
    }
    branch1() {
      %b = evoxc.mul(%x, %y) : tensor<3xf64>
      yield %b, %i
    }
    branch2() {
      %d = evoxc.exp(%y) : tensor<3xf64>
      yield %d, %i
    }
  }
  return %r, %k
}
// -----
// while_loop: 0..4; any; any
func @while(%n: tensor<i32>, %x: tensor<f64>, %w: tensor<f64>) -> (tensor<i32>, tensor<f64>) {
  %zero = evoxc.constant() {value = dense<0> : tensor<i32>} : tensor<i32>
  %i, %y = evoxc.while_loop(%zero, %x) : tensor<i32>, tensor<f64> {
    cond(%a: tensor<i32>, %b: tensor<f64>) {
      %p = evoxc.compare(%a, %n) {direction = lt, order = ieee} : tensor<bool>
      yield %p
    }
    body(%a: tensor<i32>, %b: tensor<f64>) {
      %one = evoxc.constant() {value = dense<1> : tensor<i32>} : tensor<i32>
      %c = evoxc.add(%a, %one) : tensor<i32>
      %m = evoxc.mul(%b, %w) : tensor<f64>
      %d = evoxc.sin(%m) : tensor<f64>
      yield %c, %d
    }
  }
  return %i, %y
}
// -----
// while_loop: pos
func @while_newton(%x: tensor<3xf64>) -> tensor<3xf64> {
  %h = evoxc.constant() {value = splat<0.5> : tensor<3xf64>} : tensor<3xf64>
  %t = evoxc.constant() {value = dense<0.000000000001> : tensor<f64>} : tensor<f64>
  %y, %e = evoxc.while_loop(%x, %x) : tensor<3xf64>, tensor<3xf64> {
    cond(%a: tensor<3xf64>, %b: tensor<3xf64>) {
      %m = evoxc.abs(%b) : tensor<3xf64>
      %r = evoxc.reduce_max(%m) {axes = [0]} : tensor<f64>
      %p = evoxc.compare(%r, %t) {direction = gt, order = ieee} : tensor<bool>
      yield %p
    }
    body(%a: tensor<3xf64>, %b: tensor<3xf64>) {
      %q = evoxc.div(%x, %a) : tensor<3xf64>
      %s = evoxc.add(%a, %q) : tensor<3xf64>
      %n = evoxc.mul(%s, %h) : tensor<3xf64>
      %d = evoxc.sub(%n, %a) : tensor<3xf64>
      yield %n, %d
    }
  }
  return %y
}
// -----
// scan: any; any; any
func @scan(%c: tensor<2xf64>, %xs: tensor<3x2xf64>, %w: tensor<2xf64>) -> (tensor<2xf64>, tensor<3x2xf64>) {
  %r, %ys = evoxc.scan(%c, %xs) {carry = 1, length = 3} : tensor<2xf64>, tensor<3x2xf64> {
    body(%a: tensor<2xf64>, %x: tensor<2xf64>) {
      %m = evoxc.mul(%a, %w) : tensor<2xf64>
      %s = evoxc.add(%m, %x) : tensor<2xf64>
      %t = evoxc.tanh(%s) : tensor<2xf64>
      %y = evoxc.mul(%t, %x) : tensor<2xf64>
      yield %t, %y
    }
  }
  return %r, %ys
}
// -----
// scan: any; 0..9; any
func @scan_reverse(%c: tensor<f64>, %k: tensor<Bxi32>, %xs: tensor<Bxf64>) -> (tensor<f64>, tensor<Bxi32>, tensor<Bxf64>) {
  %r, %js, %ys = evoxc.scan(%c, %k, %xs) {carry = 1, length = B, reverse = true} : tensor<f64>, tensor<Bxi32>, tensor<Bxf64> {
    body(%a: tensor<f64>, %i: tensor<i32>, %x: tensor<f64>) {
      %n = evoxc.convert(%i) {dtype = f64} : tensor<f64>
      %m = evoxc.mul(%x, %n) : tensor<f64>
      %s = evoxc.sin(%m) : tensor<f64>
      %d = evoxc.add(%a, %s) : tensor<f64>
      %j = evoxc.add(%i, %i) : tensor<i32>
      yield %d, %j, %m
    }
  }
  return %r, %js, %ys
}
// -----
// scan: any
func @scan_counter(%x: tensor<f64>) -> (tensor<f64>, tensor<i32>, tensor<3xi32>) {
  %zero = evoxc.constant() {value = dense<0> : tensor<i32>} : tensor<i32>
  %r, %n, %is = evoxc.scan(%x, %zero) {carry = 2, length = 3} : tensor<f64>, tensor<i32>, tensor<3xi32> {
    body(%a: tensor<f64>, %i: tensor<i32>) {
      %one = evoxc.constant() {value = dense<1> : tensor<i32>} : tensor<i32>
      %j = evoxc.add(%i, %one) : tensor<i32>
      %f = evoxc.convert(%j) {dtype = f64} : tensor<f64>
      %m = evoxc.mul(%a, %f) : tensor<f64>
      %d = evoxc.cos(%m) : tensor<f64>
      yield %d, %j, %j
    }
  }
  return %r, %n, %is
}
// -----
// scan: any; any
func @scan_late(%x: tensor<f64>, %w: tensor<f64>) -> (tensor<f64>, tensor<f64>) {
  %one = evoxc.constant() {value = dense<1.0> : tensor<f64>} : tensor<f64>
  %a, %b = evoxc.scan(%one, %one) {carry = 2, length = 4} : tensor<f64>, tensor<f64> {
    body(%p: tensor<f64>, %q: tensor<f64>) {
      %s = evoxc.mul(%p, %q) : tensor<f64>
      %t = evoxc.mul(%q, %w) : tensor<f64>
      %u = evoxc.sin(%t) : tensor<f64>
      yield %u, %s
    }
  }
  %y = evoxc.mul(%a, %x) : tensor<f64>
  return %y, %b
}
// -----
// scan: any; any
func @scan_empty(%c: tensor<2xf64>, %xs: tensor<0x2xf64>) -> (tensor<2xf64>, tensor<0x2xf64>) {
  %r, %ys = evoxc.scan(%c, %xs) {carry = 1, length = 0} : tensor<2xf64>, tensor<0x2xf64> {
    body(%a: tensor<2xf64>, %x: tensor<2xf64>) {
      %s = evoxc.mul(%a, %x) : tensor<2xf64>
      yield %s, %s
    }
  }
  return %r, %ys
}
// -----
// scan: any; any; any
func @scan_nested(%c: tensor<f64>, %xs: tensor<2xf64>, %w: tensor<2xf64>) -> (tensor<f64>, tensor<2xf64>) {
  %r, %ys = evoxc.scan(%c, %xs) {carry = 1, length = 2} : tensor<f64>, tensor<2xf64> {
    body(%a: tensor<f64>, %x: tensor<f64>) {
      %i = evoxc.scan(%a, %w) {carry = 1, length = 2} : tensor<f64> {
        body(%b: tensor<f64>, %v: tensor<f64>) {
          %m = evoxc.mul(%b, %v) : tensor<f64>
          %s = evoxc.add(%m, %x) : tensor<f64>
          %t = evoxc.sin(%s) : tensor<f64>
          yield %t
        }
      }
      %y = evoxc.mul(%i, %a) : tensor<f64>
      yield %i, %y
    }
  }
  return %r, %ys
}
// -----
// scan: any; any
func @scan_cond(%c: tensor<f64>, %xs: tensor<3xf64>) -> (tensor<f64>, tensor<3xf64>) {
  %z = evoxc.constant() {value = dense<0.0> : tensor<f64>} : tensor<f64>
  %r, %ys = evoxc.scan(%c, %xs) {carry = 1, length = 3} : tensor<f64>, tensor<3xf64> {
    body(%a: tensor<f64>, %x: tensor<f64>) {
      %p = evoxc.compare(%x, %z) {direction = gt, order = ieee} : tensor<bool>
      %s = evoxc.cond(%p) : tensor<f64> {
        then() {
          %m = evoxc.mul(%a, %x) : tensor<f64>
          yield %m
        }
        else() {
          %m = evoxc.sin(%a) : tensor<f64>
          yield %m
        }
      }
      yield %s, %s
    }
  }
  return %r, %ys
}
// -----
// call: any; any
func @call(%x: tensor<2xf64>, %y: tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>) {
  %s, %d = evoxc.call(%x, %y) {callee = @product_and_sine} : tensor<2xf64>, tensor<2xf64>
  %t, %e = evoxc.call(%s, %d) {callee = @product_and_sine, remat = true} : tensor<2xf64>, tensor<2xf64>
  return %t, %e
}
func @product_and_sine(%a: tensor<2xf64>, %b: tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>) {
  %s = evoxc.mul(%a, %b) : tensor<2xf64>
  %n = evoxc.call(%b) {callee = @sine} : tensor<2xf64>
  return %s, %n
}
func @sine(%a: tensor<2xf64>) -> tensor<2xf64> {
  %r = evoxc.sin(%a) : tensor<2xf64>
  return %r
}
// -----
// reduce: any; any
func @reduce(%x: tensor<2x3xf64>, %i: tensor<f64>) -> tensor<2xf64> {
  %r = evoxc.reduce(%x, %i) {axes = [1]} : tensor<2xf64> {
    body(%a: tensor<f64>, %b: tensor<f64>) {
      %z = evoxc.sub(%a, %b) : tensor<f64>
      yield %z
    }
  }
  return %r
}
// -----
// reduce: any; 0..9; any; 0..9
func @reduce_two(%x: tensor<3x2xf64>, %k: tensor<3x2xi32>, %i: tensor<f64>, %j: tensor<i32>) -> (tensor<2xf64>, tensor<2xi32>) {
  %r, %m = evoxc.reduce(%x, %k, %i, %j) {axes = [0]} : tensor<2xf64>, tensor<2xi32> {
    body(%a: tensor<f64>, %p: tensor<i32>, %b: tensor<f64>, %q: tensor<i32>) {
      %z = evoxc.max(%a, %b) : tensor<f64>
      %s = evoxc.add(%p, %q) : tensor<i32>
      yield %z, %s
    }
  }
  return %r, %m
}
// -----
// reduce_window: any; any
func @reduce_window(%x: tensor<4xf64>, %i: tensor<f64>) -> tensor<4xf64> {
  %r = evoxc.reduce_window(%x, %i) {window = {size = [2], stride = [1], padding = [[1, 0]], base_dilation = [1], window_dilation = [1], reversal = [false]}} : tensor<4xf64> {
    body(%a: tensor<f64>, %b: tensor<f64>) {
      %z = evoxc.sub(%a, %b) : tensor<f64>
      yield %z
    }
  }
  return %r
}
// -----
// select_and_scatter: any; any; any
func @select_and_scatter(%x: tensor<4xf64>, %s: tensor<2xf64>, %i: tensor<f64>) -> tensor<4xf64> {
  %r = evoxc.select_and_scatter(%x, %s, %i) {window = {size = [2], stride = [2], padding = [[0, 0]], base_dilation = [1], window_dilation = [1], reversal = [false]}} : tensor<4xf64> {
    select(%a: tensor<f64>, %b: tensor<f64>) {
      %z = evoxc.compare(%a, %b) {direction = ge, order = ieee} : tensor<bool>
      yield %z
    }
    scatter(%a: tensor<f64>, %b: tensor<f64>) {
      %z = evoxc.add(%a, %b) : tensor<f64>
      yield %z
    }
  }
  return %r
}
// -----
// scatter: any; 0..5; any
func @scatter(%x: tensor<4xf64>, %i: tensor<3x1xi32>, %u: tensor<3xf64>) -> tensor<4xf64> {
  %r = evoxc.scatter(%x, %i, %u) {dims = {update_window = [], inserted = [0], operand_batching = [], indices_batching = [], scatter_map = [0], index_vector = 1}} : tensor<4xf64> {
    body(%a: tensor<f64>, %b: tensor<f64>) {
      %z = evoxc.sub(%a, %b) : tensor<f64>
      yield %z
    }
  }
  return %r
}
// -----
// sort_by: any; any
func @sort_by(%x: tensor<5xf64>, %y: tensor<5xf64>) -> (tensor<5xf64>, tensor<5xf64>) {
  %r, %s = evoxc.sort_by(%x, %y) {axis = 0, stable = true} : tensor<5xf64>, tensor<5xf64> {
    body(%a: tensor<f64>, %b: tensor<f64>, %c: tensor<f64>, %d: tensor<f64>) {
      %m = evoxc.abs(%a) : tensor<f64>
      %n = evoxc.abs(%b) : tensor<f64>
      %p = evoxc.compare(%m, %n) {direction = gt, order = ieee} : tensor<bool>
      yield %p
    }
  }
  return %r, %s
}
// -----
// call: any; any
func @call_jvp(%x: tensor<2xf64>, %y: tensor<2xf64>) -> tensor<2xf64> {
  %s = evoxc.call(%x, %y) {callee = @f, jvp = @f_jvp} : tensor<2xf64>
  %t = evoxc.mul(%s, %x) : tensor<2xf64>
  return %t
}
func @f(%a: tensor<2xf64>, %b: tensor<2xf64>) -> tensor<2xf64> {
  %s = evoxc.sin(%a) : tensor<2xf64>
  %m = evoxc.mul(%s, %b) : tensor<2xf64>
  return %m
}
func @f_jvp(%a: tensor<2xf64>, %b: tensor<2xf64>, %ta: tensor<2xf64>, %tb: tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>) {
  %s = evoxc.sin(%a) : tensor<2xf64>
  %c = evoxc.cos(%a) : tensor<2xf64>
  %m = evoxc.mul(%s, %b) : tensor<2xf64>
  %cb = evoxc.mul(%c, %b) : tensor<2xf64>
  %u = evoxc.mul(%cb, %ta) : tensor<2xf64>
  %v = evoxc.mul(%s, %tb) : tensor<2xf64>
  %t = evoxc.add(%u, %v) : tensor<2xf64>
  return %m, %t
}
// -----
// call: any; any
func @call_batch(%x: tensor<2xf64>, %y: tensor<2xf64>) -> tensor<2xf64> {
  %s = evoxc.call(%x, %y) {callee = @f, remat = true} : tensor<2xf64>
  %t = evoxc.scan(%s) {carry = 1, length = 2} : tensor<2xf64> {
    body(%a: tensor<2xf64>) {
      %b = evoxc.call(%a, %y) {callee = @f} : tensor<2xf64>
      yield %b
    }
  }
  return %t
}
func @f(%a: tensor<2xf64>, %b: tensor<2xf64>) -> tensor<2xf64> {
  %s = evoxc.sin(%a) : tensor<2xf64>
  %m = evoxc.mul(%s, %b) : tensor<2xf64>
  return %m
}
// -----
// while_loop: 0..3; any; any
func @while_in_scan(%n: tensor<i32>, %x: tensor<f64>, %w: tensor<2xf64>) -> (tensor<f64>, tensor<2xf64>) {
  %r, %ys = evoxc.scan(%x, %w) {carry = 1, length = 2} : tensor<f64>, tensor<2xf64> {
    body(%c: tensor<f64>, %v: tensor<f64>) {
      %zero = evoxc.constant() {value = dense<0> : tensor<i32>} : tensor<i32>
      %i, %y = evoxc.while_loop(%zero, %c) : tensor<i32>, tensor<f64> {
        cond(%a: tensor<i32>, %b: tensor<f64>) {
          %p = evoxc.compare(%a, %n) {direction = lt, order = ieee} : tensor<bool>
          yield %p
        }
        body(%a: tensor<i32>, %b: tensor<f64>) {
          %one = evoxc.constant() {value = dense<1> : tensor<i32>} : tensor<i32>
          %k = evoxc.add(%a, %one) : tensor<i32>
          %m = evoxc.mul(%b, %v) : tensor<f64>
          %d = evoxc.cos(%m) : tensor<f64>
          yield %k, %d
        }
      }
      yield %y, %y
    }
  }
  return %r, %ys
}
// -----
// while_loop: any; any
func @while_pair(%x: tensor<2xf64>, %y: tensor<f64>) -> (tensor<2xf64>, tensor<f64>, tensor<f64>) {
  %ten = evoxc.constant() {value = dense<3.0> : tensor<f64>} : tensor<f64>
  %half = evoxc.constant() {value = dense<0.7> : tensor<f64>} : tensor<f64>
  %a, %b, %c = evoxc.while_loop(%x, %y, %half) : tensor<2xf64>, tensor<f64>, tensor<f64> {
    cond(%a: tensor<2xf64>, %b: tensor<f64>, %c: tensor<f64>) {
      %p = evoxc.compare(%c, %ten) {direction = lt, order = ieee} : tensor<bool>
      yield %p
    }
    body(%a: tensor<2xf64>, %b: tensor<f64>, %c: tensor<f64>) {
      %s = evoxc.sin(%a) : tensor<2xf64>
      %r = evoxc.reduce_sum(%s) {axes = [0]} : tensor<f64>
      %d = evoxc.mul(%r, %y) : tensor<f64>
      %e = evoxc.add(%c, %half) : tensor<f64>
      yield %s, %d, %e
    }
  }
  return %a, %b, %c
}
// -----
// cond: any; any
func @cond_safe(%x: tensor<2xf64>, %y: tensor<f64>) -> tensor<2xf64> {
  %z = evoxc.constant() {value = dense<0.0> : tensor<f64>} : tensor<f64>
  %p = evoxc.compare(%y, %z) {direction = gt, order = ieee} : tensor<bool>
  %r = evoxc.cond(%p) : tensor<2xf64> {
    then() {
      %l = evoxc.log(%y) : tensor<f64>
      %b = evoxc.broadcast_in_dim(%l) {shape = [2], dims = []} : tensor<2xf64>
      %m = evoxc.mul(%b, %x) : tensor<2xf64>
      yield %m
    }
    else() {
      %n = evoxc.neg(%y) : tensor<f64>
      %s = evoxc.sqrt(%n) : tensor<f64>
      %b = evoxc.broadcast_in_dim(%s) {shape = [2], dims = []} : tensor<2xf64>
      %m = evoxc.mul(%b, %x) : tensor<2xf64>
      yield %m
    }
  }
  return %r
}
";
