// Control flow whose conditions are data, on the device: the results have the bits of separate launches.
// RUN: %tile_run %s --target=emulate:sm_80 --seed=1 --out=%t.a.npy
// RUN: %tile_run %s --target=emulate:sm_80 --seed=1 --persistent=always --out=%t.b.npy --check-against=interpret --stats=%t.json
// RUN: cmp %t.a.npy %t.b.npy
// RUN: FileCheck %s < %t.json
// RUN: %tile_run %s --target=emulate:gfx942 --seed=1 --out=%t.a.npy
// RUN: %tile_run %s --target=emulate:gfx942 --seed=1 --persistent=always --out=%t.b.npy --check-against=interpret
// RUN: cmp %t.a.npy %t.b.npy
// RUN: %tile_run %s --entry=none --target=emulate:sm_80 --seed=1 --persistent=always --check-against=interpret
// RUN: %tile_run %s --entry=decode --target=emulate:sm_80 --seed=1 --persistent=always --check-against=interpret
// RUN: %tile_run %s --entry=decode --target=emulate:gfx942 --seed=1 --persistent=always --check-against=interpret
// RUN: %tile_run %s --entry=nested --target=emulate:sm_80 --seed=1 --persistent=always --check-against=interpret --stats=%t.json
// RUN: FileCheck %s < %t.json
// RUN: %tile_run %s --entry=nested --target=emulate:gfx942 --seed=1 --persistent=always --check-against=interpret
// RUN: %tile_run %s --entry=branch --target=emulate:sm_80 --seed=1 --out=%t.a.npy
// RUN: %tile_run %s --entry=branch --target=emulate:sm_80 --seed=1 --persistent=always --out=%t.b.npy --check-against=interpret
// RUN: cmp %t.a.npy %t.b.npy
// CHECK: "launches": 1,
// CHECK-NEXT: "host_waits": 1,
#map = affine_map<(d0, d1) -> (d0, d1)>
#red = affine_map<(d0, d1) -> ()>
// Rounds until a norm is small.
func.func @main(%x: tensor<4x24xf32>, %w: tensor<24x24xf32>) -> tensor<4x24xf32> {
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-3 : f32
  %half = arith.constant 0.02 : f32
  %r = scf.while (%h = %x) : (tensor<4x24xf32>) -> tensor<4x24xf32> {
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %n = linalg.generic {indexing_maps = [#map, #red], iterator_types = ["reduction", "reduction"]} ins(%h : tensor<4x24xf32>) outs(%f : tensor<f32>) {
    ^bb0(%a: f32, %s: f32):
      %sq = arith.mulf %a, %a : f32
      %t = arith.addf %s, %sq : f32
      linalg.yield %t : f32
    } -> tensor<f32>
    %v = tensor.extract %n[] : tensor<f32>
    %c = arith.cmpf ogt, %v, %eps : f32
    scf.condition(%c) %h : tensor<4x24xf32>
  } do {
  ^bb0(%h: tensor<4x24xf32>):
    %e = tensor.empty() : tensor<4x24xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x24xf32>) -> tensor<4x24xf32>
    %p = linalg.matmul ins(%h, %w : tensor<4x24xf32>, tensor<24x24xf32>) outs(%f : tensor<4x24xf32>) -> tensor<4x24xf32>
    %q = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4x24xf32>) outs(%e : tensor<4x24xf32>) {
    ^bb0(%a: f32, %s: f32):
      %t = math.tanh %a : f32
      %u = arith.mulf %t, %half : f32
      linalg.yield %u : f32
    } -> tensor<4x24xf32>
    scf.yield %q : tensor<4x24xf32>
  }
  return %r : tensor<4x24xf32>
}
// No round: the result is what the loop began with.
func.func @none(%x: tensor<4x24xf32>, %w: tensor<24x24xf32>) -> tensor<4x24xf32> {
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e+9 : f32
  %half = arith.constant 0.02 : f32
  %r = scf.while (%h = %x) : (tensor<4x24xf32>) -> tensor<4x24xf32> {
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %n = linalg.generic {indexing_maps = [#map, #red], iterator_types = ["reduction", "reduction"]} ins(%h : tensor<4x24xf32>) outs(%f : tensor<f32>) {
    ^bb0(%a: f32, %s: f32):
      %sq = arith.mulf %a, %a : f32
      %t = arith.addf %s, %sq : f32
      linalg.yield %t : f32
    } -> tensor<f32>
    %v = tensor.extract %n[] : tensor<f32>
    %c = arith.cmpf ogt, %v, %eps : f32
    scf.condition(%c) %h : tensor<4x24xf32>
  } do {
  ^bb0(%h: tensor<4x24xf32>):
    %e = tensor.empty() : tensor<4x24xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x24xf32>) -> tensor<4x24xf32>
    %p = linalg.matmul ins(%h, %w : tensor<4x24xf32>, tensor<24x24xf32>) outs(%f : tensor<4x24xf32>) -> tensor<4x24xf32>
    %q = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4x24xf32>) outs(%e : tensor<4x24xf32>) {
    ^bb0(%a: f32, %s: f32):
      %t = math.tanh %a : f32
      %u = arith.mulf %t, %half : f32
      linalg.yield %u : f32
    } -> tensor<4x24xf32>
    scf.yield %q : tensor<4x24xf32>
  }
  return %r : tensor<4x24xf32>
}
// Rounds until an end token, which the loop writes down one by one, or until there is no room.
func.func @decode(%x: tensor<1x24xf32>, %w: tensor<24x24xf32>, %v: tensor<24x40xf32>) -> (tensor<20xi64>, index) {
  %zero = arith.constant 0.0 : f32
  %minus = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  %z64 = arith.constant 0 : i64
  %eos = arith.constant 3 : i64
  %e64 = tensor.empty() : tensor<20xi64>
  %out0 = linalg.fill ins(%z64 : i64) outs(%e64 : tensor<20xi64>) -> tensor<20xi64>
  %r:4 = scf.while (%h = %x, %t = %c0, %tok = %z64, %o = %out0) : (tensor<1x24xf32>, index, i64, tensor<20xi64>) -> (tensor<1x24xf32>, index, i64, tensor<20xi64>) {
    %more = arith.cmpi ult, %t, %c20 : index
    %open = arith.cmpi ne, %tok, %eos : i64
    %go = arith.andi %more, %open : i1
    scf.condition(%go) %h, %t, %tok, %o : tensor<1x24xf32>, index, i64, tensor<20xi64>
  } do {
  ^bb0(%h: tensor<1x24xf32>, %t: index, %tok: i64, %o: tensor<20xi64>):
    %e = tensor.empty() : tensor<1x24xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x24xf32>) -> tensor<1x24xf32>
    %p = linalg.matmul ins(%h, %w : tensor<1x24xf32>, tensor<24x24xf32>) outs(%f : tensor<1x24xf32>) -> tensor<1x24xf32>
    %q = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<1x24xf32>) outs(%e : tensor<1x24xf32>) {
    ^bb0(%a: f32, %s: f32):
      %u = math.tanh %a : f32
      linalg.yield %u : f32
    } -> tensor<1x24xf32>
    %le = tensor.empty() : tensor<1x40xf32>
    %lf = linalg.fill ins(%zero : f32) outs(%le : tensor<1x40xf32>) -> tensor<1x40xf32>
    %l = linalg.matmul ins(%q, %v : tensor<1x24xf32>, tensor<24x40xf32>) outs(%lf : tensor<1x40xf32>) -> tensor<1x40xf32>
    %me = tensor.empty() : tensor<f32>
    %mi = tensor.empty() : tensor<i64>
    %m0 = linalg.fill ins(%minus : f32) outs(%me : tensor<f32>) -> tensor<f32>
    %i0 = linalg.fill ins(%z64 : i64) outs(%mi : tensor<i64>) -> tensor<i64>
    %best:2 = linalg.generic {indexing_maps = [#map, #red, #red], iterator_types = ["reduction", "reduction"]} ins(%l : tensor<1x40xf32>) outs(%m0, %i0 : tensor<f32>, tensor<i64>) {
    ^bb0(%a: f32, %m: f32, %i: i64):
      %at = linalg.index 1 : index
      %at64 = arith.index_cast %at : index to i64
      %gt = arith.cmpf ogt, %a, %m : f32
      %mm = arith.select %gt, %a, %m : f32
      %ii = arith.select %gt, %at64, %i : i64
      linalg.yield %mm, %ii : f32, i64
    } -> (tensor<f32>, tensor<i64>)
    %next = tensor.extract %best#1[] : tensor<i64>
    %o1 = tensor.insert %next into %o[%t] : tensor<20xi64>
    %t1 = arith.addi %t, %c1 : index
    scf.yield %q, %t1, %next, %o1 : tensor<1x24xf32>, index, i64, tensor<20xi64>
  }
  return %r#3, %r#1 : tensor<20xi64>, index
}
// A branch in each round, which may pass on what it got.
func.func @branch(%x: tensor<4x24xf32>, %w: tensor<24x24xf32>, %g: tensor<8x24x24xf32>) -> tensor<4x24xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%h = %x) -> tensor<4x24xf32> {
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %n = linalg.generic {indexing_maps = [#map, #red], iterator_types = ["reduction", "reduction"]} ins(%h : tensor<4x24xf32>) outs(%f : tensor<f32>) {
    ^bb0(%a: f32, %s: f32):
      %t = arith.addf %s, %a : f32
      linalg.yield %t : f32
    } -> tensor<f32>
    %v = tensor.extract %n[] : tensor<f32>
    %c = arith.cmpf ogt, %v, %zero : f32
    %y = scf.if %c -> tensor<4x24xf32> {
      %gw = tensor.extract_slice %g[%i, 0, 0] [1, 24, 24] [1, 1, 1] : tensor<8x24x24xf32> to tensor<24x24xf32>
      %e2 = tensor.empty() : tensor<4x24xf32>
      %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<4x24xf32>) -> tensor<4x24xf32>
      %p = linalg.matmul ins(%h, %gw : tensor<4x24xf32>, tensor<24x24xf32>) outs(%f2 : tensor<4x24xf32>) -> tensor<4x24xf32>
      %q = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4x24xf32>) outs(%e2 : tensor<4x24xf32>) {
      ^bb0(%a: f32, %s: f32):
        %u = math.tanh %a : f32
        linalg.yield %u : f32
      } -> tensor<4x24xf32>
      scf.yield %q : tensor<4x24xf32>
    } else {
      scf.yield %h : tensor<4x24xf32>
    }
    %e3 = tensor.empty() : tensor<4x24xf32>
    %z = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<4x24xf32>) outs(%e3 : tensor<4x24xf32>) {
    ^bb0(%a: f32, %s: f32):
      %u = arith.subf %zero, %a : f32
      linalg.yield %u : f32
    } -> tensor<4x24xf32>
    scf.yield %z : tensor<4x24xf32>
  }
  return %r : tensor<4x24xf32>
}
// A loop until a sum is small in each of 40 rounds, and behind it a branch on the parity of all its rounds.
func.func @nested(%x: tensor<4x24xf32>, %w: tensor<24x24xf32>) -> (tensor<4x24xf32>, i32, i32) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %bound = arith.constant 3.0 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c40 = arith.constant 40 : i32
  %r:3 = scf.while (%h = %x, %n = %c0, %m = %c0) : (tensor<4x24xf32>, i32, i32) -> (tensor<4x24xf32>, i32, i32) {
    %go = arith.cmpi slt, %n, %c40 : i32
    scf.condition(%go) %h, %n, %m : tensor<4x24xf32>, i32, i32
  } do {
  ^bb0(%h: tensor<4x24xf32>, %n: i32, %m: i32):
    %e = tensor.empty() : tensor<4x24xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x24xf32>) -> tensor<4x24xf32>
    %p = linalg.matmul ins(%h, %w : tensor<4x24xf32>, tensor<24x24xf32>) outs(%f : tensor<4x24xf32>) -> tensor<4x24xf32>
    %inner:2 = scf.while (%g = %p, %k = %m) : (tensor<4x24xf32>, i32) -> (tensor<4x24xf32>, i32) {
      %e0 = tensor.empty() : tensor<f32>
      %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
      %s = linalg.generic {indexing_maps = [#map, #red], iterator_types = ["reduction", "reduction"]} ins(%g : tensor<4x24xf32>) outs(%f0 : tensor<f32>) {
      ^bb0(%a: f32, %b: f32):
        %q = arith.mulf %a, %a : f32
        %t = arith.addf %b, %q : f32
        linalg.yield %t : f32
      } -> tensor<f32>
      %v = tensor.extract %s[] : tensor<f32>
      %c = arith.cmpf ogt, %v, %bound : f32
      scf.condition(%c) %g, %k : tensor<4x24xf32>, i32
    } do {
    ^bb0(%g: tensor<4x24xf32>, %k: i32):
      %e1 = tensor.empty() : tensor<4x24xf32>
      %q = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%g : tensor<4x24xf32>) outs(%e1 : tensor<4x24xf32>) {
      ^bb0(%a: f32, %s: f32):
        %u = arith.mulf %a, %half : f32
        linalg.yield %u : f32
      } -> tensor<4x24xf32>
      %k1 = arith.addi %k, %c1 : i32
      scf.yield %q, %k1 : tensor<4x24xf32>, i32
    }
    %n1 = arith.addi %n, %c1 : i32
    %odd = arith.remui %inner#1, %c2 : i32
    %is = arith.cmpi eq, %odd, %c1 : i32
    %res = scf.if %is -> tensor<4x24xf32> {
      %e1 = tensor.empty() : tensor<4x24xf32>
      %q = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%inner#0 : tensor<4x24xf32>) outs(%e1 : tensor<4x24xf32>) {
      ^bb0(%a: f32, %s: f32):
        %u = math.tanh %a : f32
        linalg.yield %u : f32
      } -> tensor<4x24xf32>
      scf.yield %q : tensor<4x24xf32>
    } else {
      scf.yield %inner#0 : tensor<4x24xf32>
    }
    scf.yield %res, %n1, %inner#1 : tensor<4x24xf32>, i32, i32
  }
  return %r#0, %r#1, %r#2 : tensor<4x24xf32>, i32, i32
}
