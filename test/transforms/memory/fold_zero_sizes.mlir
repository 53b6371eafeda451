// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-fold-zero-sizes))' | FileCheck %s
// RUN: %mlir_opt_plugin %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-fold-zero-sizes))' | FileCheck %s

// CHECK-LABEL: func.func @extract
// CHECK-SAME: index, %[[n:[a-z0-9]+]]: index)
// CHECK-NOT: extract_slice
// CHECK: %[[a:.*]] = tensor.empty() : tensor<0x2xf32>
// CHECK: %[[b:.*]] = tensor.empty(%[[n]]) : tensor<?x2xf32>
// CHECK: return %[[a]], %[[b]]
func.func @extract(%x: tensor<4x4xf32>, %y: tensor<0x4xf32>, %o: index, %n: index) -> (tensor<0x2xf32>, tensor<?x2xf32>) {
  %a = tensor.extract_slice %x[2, 0] [0, 2] [1, 1] : tensor<4x4xf32> to tensor<0x2xf32>
  %b = tensor.extract_slice %y[%o, 0] [%n, 2] [1, 1] : tensor<0x4xf32> to tensor<?x2xf32>
  return %a, %b : tensor<0x2xf32>, tensor<?x2xf32>
}

// -----

// The size of a slice that drops dimensions of one element.
// CHECK-LABEL: func.func @dropped
// CHECK-SAME: index, %[[n:[a-z0-9]+]]: index)
// CHECK: %[[a:.*]] = tensor.empty(%[[n]]) : tensor<0x?xf32>
// CHECK: return %[[a]]
func.func @dropped(%x: tensor<3x4x5x6xf32>, %o: index, %n: index) -> tensor<0x?xf32> {
  %a = tensor.extract_slice %x[0, %o, 0, %o] [1, 0, 1, %n] [1, 1, 1, 1] : tensor<3x4x5x6xf32> to tensor<0x?xf32>
  return %a : tensor<0x?xf32>
}

// -----

// CHECK-LABEL: func.func @insert
// CHECK-SAME: %{{.*}}: tensor<0x2xf32>, %[[to:.*]]: tensor<3x2xf32>, %{{.*}}: tensor<?x2xf32>, %[[nothing:.*]]: tensor<0x2xf32>,
// CHECK-NOT: insert_slice
// CHECK: return %[[to]], %[[nothing]]
func.func @insert(%x: tensor<0x2xf32>, %to: tensor<3x2xf32>, %y: tensor<?x2xf32>, %nothing: tensor<0x2xf32>, %n: index)
    -> (tensor<3x2xf32>, tensor<0x2xf32>) {
  %a = tensor.insert_slice %x into %to[1, 0] [0, 2] [1, 1] : tensor<0x2xf32> into tensor<3x2xf32>
  %b = tensor.insert_slice %y into %nothing[%n, 0] [%n, 2] [1, 1] : tensor<?x2xf32> into tensor<0x2xf32>
  return %a, %b : tensor<3x2xf32>, tensor<0x2xf32>
}

// -----

// CHECK-LABEL: func.func @pad
// CHECK-SAME: %[[x:.*]]: tensor<0x?xf32>, %[[low:.*]]: index, %[[value:.*]]: f32)
// CHECK-NOT: tensor.pad
// CHECK: %[[dim:.*]] = tensor.dim %[[x]], %{{.*}} : tensor<0x?xf32>
// CHECK: %[[sum:.*]] = arith.addi %[[dim]], %[[low]]
// CHECK: %[[all:.*]] = arith.addi %[[sum]], %{{.*}}
// CHECK: %[[a:.*]] = tensor.generate %[[all]] {
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tensor.yield %[[value]] : f32
// CHECK: } : tensor<3x?xf32>
// CHECK: %[[b:.*]] = tensor.empty(%{{.*}}) : tensor<0x?xf32>
// CHECK: return %[[a]], %[[b]]
func.func @pad(%x: tensor<0x?xf32>, %low: index, %value: f32) -> (tensor<3x?xf32>, tensor<0x?xf32>) {
  %a = tensor.pad %x low[3, %low] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %value : f32
  } : tensor<0x?xf32> to tensor<3x?xf32>
  %b = tensor.pad %x low[0, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %value : f32
  } : tensor<0x?xf32> to tensor<0x?xf32>
  return %a, %b : tensor<3x?xf32>, tensor<0x?xf32>
}

// -----

// Of one tensor left it is that tensor, with the type of the result.
// CHECK-LABEL: func.func @concat
// CHECK-SAME: %[[x:.*]]: tensor<3x2xf32>, %{{.*}}: tensor<0x2xf32>, %[[z:.*]]: tensor<?x?xf32>)
// CHECK: %[[b:.*]] = tensor.cast %[[z]] : tensor<?x?xf32> to tensor<?x2xf32>
// CHECK: %[[c:.*]] = tensor.concat dim(0) %[[x]], %[[z]], %[[x]] : (tensor<3x2xf32>, tensor<?x?xf32>, tensor<3x2xf32>) -> tensor<?x2xf32>
// CHECK: %[[d:.*]] = tensor.empty() : tensor<0x4xf32>
// CHECK: return %[[x]], %[[b]], %[[c]], %[[d]]
func.func @concat(%x: tensor<3x2xf32>, %y: tensor<0x2xf32>, %z: tensor<?x?xf32>)
    -> (tensor<3x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<0x4xf32>) {
  %a = tensor.concat dim(0) %x, %y : (tensor<3x2xf32>, tensor<0x2xf32>) -> tensor<3x2xf32>
  %b = tensor.concat dim(0) %y, %z : (tensor<0x2xf32>, tensor<?x?xf32>) -> tensor<?x2xf32>
  %c = tensor.concat dim(0) %x, %y, %z, %x, %y : (tensor<3x2xf32>, tensor<0x2xf32>, tensor<?x?xf32>, tensor<3x2xf32>, tensor<0x2xf32>) -> tensor<?x2xf32>
  %d = tensor.concat dim(1) %y, %y : (tensor<0x2xf32>, tensor<0x2xf32>) -> tensor<0x4xf32>
  return %a, %b, %c, %d : tensor<3x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<0x4xf32>
}

// -----

// Nothing of the other dimension: nothing at all, and its sizes still add up.
// CHECK-LABEL: func.func @concat_of_rows
// CHECK-SAME: %[[x:.*]]: tensor<0x3xf32>, %[[y:.*]]: tensor<?x?xf32>)
// CHECK: %[[dim:.*]] = tensor.dim %[[y]]
// CHECK: %[[sum:.*]] = arith.addi %{{.*}}, %[[dim]] : index
// CHECK: tensor.empty(%[[sum]]) : tensor<0x?xf32>
func.func @concat_of_rows(%x: tensor<0x3xf32>, %y: tensor<?x?xf32>) -> tensor<0x?xf32> {
  %a = tensor.concat dim(1) %x, %y : (tensor<0x3xf32>, tensor<?x?xf32>) -> tensor<0x?xf32>
  return %a : tensor<0x?xf32>
}

// -----

// CHECK-LABEL: func.func @collapse
// CHECK-NOT: collapse_shape
// CHECK: tensor.empty(%{{.*}}) : tensor<?x2xf32>
func.func @collapse(%x: tensor<0x?x2xf32>) -> tensor<?x2xf32> {
  %a = tensor.collapse_shape %x [[0, 1], [2]] : tensor<0x?x2xf32> into tensor<?x2xf32>
  return %a : tensor<?x2xf32>
}

// -----

// Loops without a round leave what was there before: a sum over nothing, a matrix of no columns.
// CHECK-LABEL: func.func @loops
// CHECK-SAME: %{{.*}}: tensor<3x0xf32>, %{{.*}}: tensor<0x5xf32>, %[[SUM:.*]]: tensor<3x5xf32>, %[[TO:.*]]: tensor<?x0xf16>
// CHECK-NOT: linalg.generic
// CHECK: return %[[SUM]], %[[TO]]
func.func @loops(%a: tensor<3x0xf32>, %b: tensor<0x5xf32>, %sum: tensor<3x5xf32>, %to: tensor<?x0xf16>) -> (tensor<3x5xf32>, tensor<?x0xf16>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<3x0xf32>, tensor<0x5xf32>) outs(%sum : tensor<3x5xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<3x5xf32>
  %one = arith.constant 1.0 : f16
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%to : tensor<?x0xf16>) {
  ^bb0(%o: f16):
    linalg.yield %one : f16
  } -> tensor<?x0xf16>
  return %0, %1 : tensor<3x5xf32>, tensor<?x0xf16>
}

// -----

// What has elements stays, and so does what may have some.
// CHECK-LABEL: func.func @elements
// CHECK: tensor.extract_slice
// CHECK: tensor.pad
// CHECK: tensor.concat
// CHECK: tensor.collapse_shape
// CHECK: tensor.insert_slice
func.func @elements(%x: tensor<?x4xf32>, %n: index, %value: f32) -> tensor<?xf32> {
  %a = tensor.extract_slice %x[0, 0] [%n, 2] [1, 1] : tensor<?x4xf32> to tensor<?x2xf32>
  %b = tensor.pad %a low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %value : f32
  } : tensor<?x2xf32> to tensor<?x4xf32>
  %c = tensor.concat dim(0) %b, %x : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %d = tensor.collapse_shape %c [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  %e = tensor.extract_slice %d[0] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %f = tensor.insert_slice %e into %d[0] [%n] [1] : tensor<?xf32> into tensor<?xf32>
  return %f : tensor<?xf32>
}
