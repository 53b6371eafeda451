// Products whose matrix a row chooses become products of groups of rows; layers on one list stay in its order. Results:
// test/run/sparse/group_rows.test.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(sparse-group-rows))' | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(sparse-group-rows{sparsity=off}))' | FileCheck %s --check-prefix=OFF

// OFF-NOT: sparse.

#x = affine_map<(t, n, k) -> (t, k)>
#i = affine_map<(t, n, k) -> (t)>
#y = affine_map<(t, n, k) -> (t, n)>
#id = affine_map<(t, n) -> (t, n)>
#row = affine_map<(t, n) -> (t)>

// The second product takes the matrices transposed, and its numbers by an extract. The first result is read by list.
// CHECK-LABEL: func.func @layers
// CHECK: %[[L:.*]]:2 = sparse.group %arg1 : tensor<?xi64> -> tensor<6xi32>, tensor<?xi32>
// CHECK: %[[H:.*]] = sparse.grouped_matmul %arg0 gather 1, %arg2, %{{.*}} by(%[[L]]#0, %[[L]]#1)
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[H]] :
// CHECK-NOT: sparse.group %
// CHECK: sparse.grouped_matmul %[[R]], %arg3 transpose, %{{.*}} scatter by(%[[L]]#0, %[[L]]#1)
func.func @layers(%x: tensor<?x13xf32>, %id: tensor<?xi64>, %w: tensor<5x13x33xf32>, %v: tensor<5x7x33xf32>, %e: tensor<?x33xf32>, %y0: tensor<?x7xf32>) -> tensor<?x7xf32> {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x33xf32>) -> tensor<?x33xf32>
  %h = linalg.generic {indexing_maps = [#x, #i, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %id : tensor<?x13xf32>, tensor<?xi64>) outs(%f : tensor<?x33xf32>) {
  ^bb0(%a: f32, %b: i64, %o: f32):
    %q = arith.index_cast %b : i64 to index
    %k = linalg.index 2 : index
    %j = linalg.index 1 : index
    %c = tensor.extract %w[%q, %k, %j] : tensor<5x13x33xf32>
    %m = arith.mulf %a, %c : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x33xf32>
  %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%h : tensor<?x33xf32>) outs(%e : tensor<?x33xf32>) {
  ^bb0(%u: f32, %o: f32):
    %m = arith.maximumf %u, %z : f32
    linalg.yield %m : f32
  } -> tensor<?x33xf32>
  %r = linalg.generic {indexing_maps = [#x, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%g : tensor<?x33xf32>) outs(%y0 : tensor<?x7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = linalg.index 0 : index
    %b = tensor.extract %id[%t] : tensor<?xi64>
    %q = arith.index_cast %b : i64 to index
    %k = linalg.index 2 : index
    %j = linalg.index 1 : index
    %c = tensor.extract %v[%q, %j, %k] : tensor<5x7x33xf32>
    %m = arith.mulf %c, %a : f32
    %s = arith.addf %m, %o : f32
    linalg.yield %s : f32
  } -> tensor<?x7xf32>
  return %r : tensor<?x7xf32>
}

// What lies between asks for its row, so that rows go back to their places.
// CHECK-LABEL: func.func @asks
// CHECK: sparse.grouped_matmul %arg0 gather 1, %arg2, %{{.*}} scatter by
func.func @asks(%x: tensor<8x4xf32>, %id: tensor<8xi32>, %w: tensor<5x4x4xf32>, %e: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %h = linalg.generic {indexing_maps = [#x, #i, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %id : tensor<8x4xf32>, tensor<8xi32>) outs(%f : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: i32, %o: f32):
    %q = arith.index_cast %b : i32 to index
    %k = linalg.index 2 : index
    %j = linalg.index 1 : index
    %c = tensor.extract %w[%q, %k, %j] : tensor<5x4x4xf32>
    %m = arith.mulf %a, %c : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%h : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%u: f32, %o: f32):
    %t = linalg.index 0 : index
    %t32 = arith.index_cast %t : index to i32
    %n = arith.sitofp %t32 : i32 to f32
    %m = arith.addf %u, %n : f32
    linalg.yield %m : f32
  } -> tensor<8x4xf32>
  %r = linalg.generic {indexing_maps = [#x, #i, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%g, %id : tensor<8x4xf32>, tensor<8xi32>) outs(%f : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: i32, %o: f32):
    %q = arith.index_cast %b : i32 to index
    %k = linalg.index 2 : index
    %j = linalg.index 1 : index
    %c = tensor.extract %w[%q, %k, %j] : tensor<5x4x4xf32>
    %m = arith.mulf %a, %c : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// Numbers by column choose no matrix for a row.
// CHECK-LABEL: func.func @columns
// CHECK-NOT: sparse.
func.func @columns(%x: tensor<8x4xf32>, %id: tensor<4xi32>, %w: tensor<5x4x4xf32>, %e: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %h = linalg.generic {indexing_maps = [#x, affine_map<(t, n, k) -> (n)>, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %id : tensor<8x4xf32>, tensor<4xi32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: i32, %o: f32):
    %q = arith.index_cast %b : i32 to index
    %k = linalg.index 2 : index
    %j = linalg.index 1 : index
    %c = tensor.extract %w[%q, %k, %j] : tensor<5x4x4xf32>
    %m = arith.mulf %a, %c : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  return %h : tensor<8x4xf32>
}

// A loop over experts with a select. A number of no step leaves what was there.
// CHECK-LABEL: func.func @loop
// CHECK-NOT: scf.for
// CHECK: %[[L:.*]]:2 = sparse.group %arg1 partial : tensor<8xi64> -> tensor<6xi32>, tensor<8xi32>
// CHECK: %[[Y:.*]] = sparse.grouped_matmul %arg0 gather 1, %arg2, %arg3 scatter by(%[[L]]#0, %[[L]]#1)
// CHECK: linalg.generic {{.*}} ins(%arg1, %[[Y]] : {{.*}}) outs(%arg3 :
// CHECK: arith.cmpi ult, %{{.*}}, %{{.*}} : i64
func.func @loop(%x: tensor<8x4xf32>, %id: tensor<8xi64>, %w: tensor<5x4x6xf32>, %e: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%acc = %e) -> (tensor<8x6xf32>) {
    %wi = tensor.extract_slice %w[%i, 0, 0] [1, 4, 6] [1, 1, 1] : tensor<5x4x6xf32> to tensor<4x6xf32>
    %y = linalg.matmul ins(%x, %wi : tensor<8x4xf32>, tensor<4x6xf32>) outs(%e : tensor<8x6xf32>) -> tensor<8x6xf32>
    %n = arith.index_cast %i : index to i64
    %next = linalg.generic {indexing_maps = [#row, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%id, %y : tensor<8xi64>, tensor<8x6xf32>) outs(%acc : tensor<8x6xf32>) {
    ^bb0(%b: i64, %a: f32, %o: f32):
      %p = arith.cmpi eq, %b, %n : i64
      %s = arith.select %p, %a, %o : f32
      linalg.yield %s : f32
    } -> tensor<8x6xf32>
    scf.yield %next : tensor<8x6xf32>
  }
  return %r : tensor<8x6xf32>
}

// A step mixes rows: each row of y would have to be what its expert gave for all rows.
// CHECK-LABEL: func.func @mixes
// CHECK: scf.for
// CHECK-NOT: sparse.
func.func @mixes(%x: tensor<8x4xf32>, %id: tensor<8xi64>, %w: tensor<5x4x6xf32>, %m: tensor<8x8xf32>, %e: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%acc = %e) -> (tensor<8x6xf32>) {
    %wi = tensor.extract_slice %w[%i, 0, 0] [1, 4, 6] [1, 1, 1] : tensor<5x4x6xf32> to tensor<4x6xf32>
    %y = linalg.matmul ins(%x, %wi : tensor<8x4xf32>, tensor<4x6xf32>) outs(%e : tensor<8x6xf32>) -> tensor<8x6xf32>
    %q = linalg.matmul ins(%m, %y : tensor<8x8xf32>, tensor<8x6xf32>) outs(%e : tensor<8x6xf32>) -> tensor<8x6xf32>
    %n = arith.index_cast %i : index to i64
    %next = linalg.generic {indexing_maps = [#row, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%id, %q : tensor<8xi64>, tensor<8x6xf32>) outs(%acc : tensor<8x6xf32>) {
    ^bb0(%b: i64, %a: f32, %o: f32):
      %p = arith.cmpi eq, %b, %n : i64
      %s = arith.select %p, %a, %o : f32
      linalg.yield %s : f32
    } -> tensor<8x6xf32>
    scf.yield %next : tensor<8x6xf32>
  }
  return %r : tensor<8x6xf32>
}

// A sum that does not begin at zero, and a loop over fewer steps than there are matrices, stay.
// CHECK-LABEL: func.func @begins
// CHECK: scf.for
// CHECK-NOT: sparse.
func.func @begins(%x: tensor<8x4xf32>, %id: tensor<8xi64>, %w: tensor<5x4x6xf32>, %e: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%acc = %e) -> (tensor<8x6xf32>) {
    %wi = tensor.extract_slice %w[%i, 0, 0] [1, 4, 6] [1, 1, 1] : tensor<5x4x6xf32> to tensor<4x6xf32>
    %y = linalg.matmul ins(%x, %wi : tensor<8x4xf32>, tensor<4x6xf32>) outs(%e : tensor<8x6xf32>) -> tensor<8x6xf32>
    %n = arith.index_cast %i : index to i64
    %next = linalg.generic {indexing_maps = [#row, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%id, %y : tensor<8xi64>, tensor<8x6xf32>) outs(%acc : tensor<8x6xf32>) {
    ^bb0(%b: i64, %a: f32, %o: f32):
      %p = arith.cmpi eq, %b, %n : i64
      %s = arith.select %p, %a, %z : f32
      %t = arith.addf %o, %s : f32
      linalg.yield %t : f32
    } -> tensor<8x6xf32>
    scf.yield %next : tensor<8x6xf32>
  }
  return %r : tensor<8x6xf32>
}
