// Rows that data decide about: kernels take the views in, so the loop is one launch.
// RUN: %tile_run %s --target=emulate:sm_80 --seed=1 --out=%t.a.npy --out=%t.c.npy
// RUN: %tile_run %s --target=emulate:sm_80 --seed=1 --persistent=always --out=%t.b.npy --out=%t.d.npy --check-against=interpret --stats=%t.json
// RUN: cmp %t.a.npy %t.b.npy
// RUN: cmp %t.c.npy %t.d.npy
// RUN: FileCheck %s < %t.json
// RUN: %tile_run %s --target=emulate:gfx942 --seed=1 --persistent=always --check-against=interpret
// RUN: not %tile_run %s --entry=outside --target=emulate:sm_80 --seed=1 --persistent=always 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// CHECK: "launches": 1,
// CHECK-NEXT: "host_waits": 1,
// RUN: not %tile_run %s --entry=copied --target=emulate:sm_80 --seed=1 --persistent=always 2>&1 | FileCheck %s --check-prefix=COPIED
// COPIED: data_places.mlir:{{[0-9]+}}:12: error: {{.*}}tensor.extract_slice: offset of dimension 1 must not exceed the last that is inside
// OUTSIDE: data_places.mlir:{{[0-9]+}}:12: error: {{.*}}tensor.extract_slice: offset of dimension 0 must not exceed the last that is inside
#map = affine_map<(d0, d1) -> (d0, d1)>
#red = affine_map<(d0, d1) -> ()>
// Each round takes row t of a table, puts its state into row t of another one, copies row t + 1, and goes on to the
// row that a list names. The rows are odd, and so is their number.
func.func @main(%x: tensor<7x3x21xf32>, %w: tensor<21x21xf32>) -> (tensor<7x3x21xf32>, tensor<9x3x21xf32>) {
  %next = arith.constant dense<[2, 6, 4, 0, 5, 1, 3]> : tensor<7xi32>
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %half = arith.constant 0.5 : f32
  %first = arith.constant 1 : index
  %last = arith.constant 0 : index
  %e0 = tensor.empty() : tensor<7x3x21xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<7x3x21xf32>) -> tensor<7x3x21xf32>
  %e1 = tensor.empty() : tensor<9x3x21xf32>
  %p0 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<9x3x21xf32>) -> tensor<9x3x21xf32>
  %eh = tensor.empty() : tensor<3x21xf32>
  %h0 = linalg.fill ins(%zero : f32) outs(%eh : tensor<3x21xf32>) -> tensor<3x21xf32>
  %r:4 = scf.while (%t = %first, %h = %h0, %o = %o0, %p = %p0) : (index, tensor<3x21xf32>, tensor<7x3x21xf32>, tensor<9x3x21xf32>) -> (index, tensor<3x21xf32>, tensor<7x3x21xf32>, tensor<9x3x21xf32>) {
    %go = arith.cmpi ne, %t, %last : index
    scf.condition(%go) %t, %h, %o, %p : index, tensor<3x21xf32>, tensor<7x3x21xf32>, tensor<9x3x21xf32>
  } do {
  ^bb0(%t: index, %h: tensor<3x21xf32>, %o: tensor<7x3x21xf32>, %p: tensor<9x3x21xf32>):
    %row = tensor.extract_slice %x[%t, 0, 0] [1, 3, 21] [1, 1, 1] : tensor<7x3x21xf32> to tensor<3x21xf32>
    %e = tensor.empty() : tensor<3x21xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x21xf32>) -> tensor<3x21xf32>
    %q = linalg.matmul ins(%h, %w : tensor<3x21xf32>, tensor<21x21xf32>) outs(%f : tensor<3x21xf32>) -> tensor<3x21xf32>
    %s = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%q, %row : tensor<3x21xf32>, tensor<3x21xf32>) outs(%e : tensor<3x21xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %u = arith.addf %a, %b : f32
      %v = math.tanh %u : f32
      linalg.yield %v : f32
    } -> tensor<3x21xf32>
    %g = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<3x21xf32>) outs(%e : tensor<3x21xf32>) {
    ^bb0(%a: f32, %c: f32):
      %u = arith.mulf %a, %half : f32
      linalg.yield %u : f32
    } -> tensor<3x21xf32>
    %o1 = tensor.insert_slice %s into %o[%t, 0, 0] [1, 3, 21] [1, 1, 1] : tensor<3x21xf32> into tensor<7x3x21xf32>
    %after = arith.addi %t, %c2 : index
    %p1 = tensor.insert_slice %row into %p[%after, 0, 0] [1, 3, 21] [1, 1, 1] : tensor<3x21xf32> into tensor<9x3x21xf32>
    %n = tensor.extract %next[%t] : tensor<7xi32>
    %t1 = arith.index_cast %n : i32 to index
    scf.yield %t1, %g, %o1, %p1 : index, tensor<3x21xf32>, tensor<7x3x21xf32>, tensor<9x3x21xf32>
  }
  return %r#2, %r#3 : tensor<7x3x21xf32>, tensor<9x3x21xf32>
}
// A list names row 2 of a table of two.
func.func @outside(%x: tensor<2x21xf32>) -> tensor<21xf32> {
  %next = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %eh = tensor.empty() : tensor<21xf32>
  %h0 = linalg.fill ins(%zero : f32) outs(%eh : tensor<21xf32>) -> tensor<21xf32>
  %r:2 = scf.while (%t = %c0, %h = %h0) : (index, tensor<21xf32>) -> (index, tensor<21xf32>) {
    %go = arith.cmpi ne, %t, %c3 : index
    scf.condition(%go) %t, %h : index, tensor<21xf32>
  } do {
  ^bb0(%t: index, %h: tensor<21xf32>):
    %row = tensor.extract_slice %x[%t, 0] [1, 21] [1, 1] : tensor<2x21xf32> to tensor<21xf32>
    %e = tensor.empty() : tensor<21xf32>
    %s = linalg.add ins(%h, %row : tensor<21xf32>, tensor<21xf32>) outs(%e : tensor<21xf32>) -> tensor<21xf32>
    %n = tensor.extract %next[%t] : tensor<3xi32>
    %t1 = arith.index_cast %n : i32 to index
    scf.yield %t1, %s : index, tensor<21xf32>
  }
  return %r#1 : tensor<21xf32>
}
// A copy of row 7 of 7, whose bytes are those of the next table.
func.func @copied(%x: tensor<4x7x9xf32>) -> tensor<9xf32> {
  %next = arith.constant dense<[1, 6, 7, 2, 2, 2, 8]> : tensor<7xi32>
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<3x9xf32>
  %h0 = linalg.fill ins(%zero : f32) outs(%e : tensor<3x9xf32>) -> tensor<3x9xf32>
  %es = tensor.empty() : tensor<9xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%es : tensor<9xf32>) -> tensor<9xf32>
  %r:3 = scf.while (%t = %c0, %h = %h0, %s = %s0) : (index, tensor<3x9xf32>, tensor<9xf32>) -> (index, tensor<3x9xf32>, tensor<9xf32>) {
    %go = arith.cmpi ne, %t, %c8 : index
    scf.condition(%go) %t, %h, %s : index, tensor<3x9xf32>, tensor<9xf32>
  } do {
  ^bb0(%t: index, %h: tensor<3x9xf32>, %s: tensor<9xf32>):
    %n = tensor.extract %next[%t] : tensor<7xi32>
    %t1 = arith.index_cast %n : i32 to index
    %row = tensor.extract_slice %x[0, %t1, 0] [1, 1, 9] [1, 1, 1] : tensor<4x7x9xf32> to tensor<9xf32>
    %h1 = tensor.insert_slice %row into %h[2, 0] [1, 9] [1, 1] : tensor<9xf32> into tensor<3x9xf32>
    %last = tensor.extract_slice %h1[2, 0] [1, 9] [1, 1] : tensor<3x9xf32> to tensor<9xf32>
    %e1 = tensor.empty() : tensor<9xf32>
    %s1 = linalg.add ins(%s, %last : tensor<9xf32>, tensor<9xf32>) outs(%e1 : tensor<9xf32>) -> tensor<9xf32>
    scf.yield %t1, %h1, %s1 : index, tensor<3x9xf32>, tensor<9xf32>
  }
  return %r#2 : tensor<9xf32>
}
