// A product's constant right operand becomes panels at compile time: no kernel packs it.
// RUN: %tile_opt %s --split-input-file --convert-linalg-to-tile=chip=x86-64-v3 | FileCheck %s
// Caches as small as that of the last program divide by no zero.
// RUN: %tile_opt %s --split-input-file --tile-to-cpu-pipeline=chip=x86-64-v3 -o /dev/null

// Two panels of two rows of eight columns, the second one filled up with zeros; only A is copied.
// CHECK-LABEL: func.func @panels
// CHECK: arith.constant dense<{{\[\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 6.000000e+00, 7.000000e+00, 8.000000e+00], [1.300000e+01, {{.*}}, 2.000000e+01]], {{\[\[}}9.000000e+00, 1.000000e+01, 1.100000e+01, 1.200000e+01, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00], [2.100000e+01, 2.200000e+01, 2.300000e+01, 2.400000e+01, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]]]> : tensor<2x2x8xf32>
// CHECK: tile.kernel private @matmul_0(%{{.*}}: memref<?x2xf32>, %[[B:.*]]: memref<2x2x8xf32>, %{{.*}}: memref<?x12xf32>)
// CHECK: tile.copy
// CHECK-NOT: tile.copy
// CHECK: tile.view %[[B]][%{{.*}}]
func.func @panels(%x: tensor<?x2xf32>, %c: tensor<?x12xf32>) -> tensor<?x12xf32> {
  %y = arith.constant dense<[[1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12.], [13., 14., 15., 16., 17., 18., 19., 20., 21., 22., 23., 24.]]> : tensor<2x12xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<?x2xf32>, tensor<2x12xf32>) outs(%c : tensor<?x12xf32>) attrs = {tile.schedule = #tile.schedule<kind = "packed", block = [4, 16, 2], register = [2, 8], panels = 1>} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x12xf32>
  return %0 : tensor<?x12xf32>
}

// -----

// The same of a constant that is stored by columns.
// CHECK-LABEL: func.func @transposed
// CHECK: arith.constant dense<{{\[\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 6.000000e+00, 7.000000e+00, 8.000000e+00], [1.300000e+01, {{.*}}, 2.000000e+01]], {{\[\[}}9.000000e+00, 1.000000e+01, 1.100000e+01, 1.200000e+01, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00], [2.100000e+01, 2.200000e+01, 2.300000e+01, 2.400000e+01, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]]]> : tensor<2x2x8xf32>
// CHECK: tile.kernel private @matmul_0(%{{.*}}: memref<?x2xf32>, %[[B:.*]]: memref<2x2x8xf32>, %{{.*}}: memref<?x12xf32>)
// CHECK: tile.copy
// CHECK-NOT: tile.copy
// CHECK: tile.view %[[B]][%{{.*}}]
func.func @transposed(%x: tensor<?x2xf32>, %c: tensor<?x12xf32>) -> tensor<?x12xf32> {
  %y = arith.constant dense<[[1., 13.], [2., 14.], [3., 15.], [4., 16.], [5., 17.], [6., 18.], [7., 19.], [8., 20.], [9., 21.], [10., 22.], [11., 23.], [12., 24.]]> : tensor<12x2xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<?x2xf32>, tensor<12x2xf32>) outs(%c : tensor<?x12xf32>) attrs = {tile.schedule = #tile.schedule<kind = "packed", block = [4, 16, 2], register = [2, 8], panels = 1>} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x12xf32>
  return %0 : tensor<?x12xf32>
}

// -----

// An argument is packed by the kernel.
// CHECK-LABEL: func.func @argument
// CHECK: tile.kernel private @matmul_0(%{{.*}}: memref<?x2xf32>, %{{.*}}: memref<2x12xf32>,
// CHECK-COUNT-2: tile.copy
func.func @argument(%x: tensor<?x2xf32>, %c: tensor<?x12xf32>, %y: tensor<2x12xf32>) -> tensor<?x12xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<?x2xf32>, tensor<2x12xf32>) outs(%c : tensor<?x12xf32>) attrs = {tile.schedule = #tile.schedule<kind = "packed", block = [4, 16, 2], register = [2, 8]>} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x12xf32>
  return %0 : tensor<?x12xf32>
}

// -----

// All elements are one: no reason to store them.
// CHECK-LABEL: func.func @splat
// CHECK: arith.constant dense<3.000000e+00> : tensor<2x12xf32>
// CHECK: tile.kernel private @matmul_0(%{{.*}}: memref<?x2xf32>, %{{.*}}: memref<2x12xf32>,
// CHECK-COUNT-2: tile.copy
func.func @splat(%x: tensor<?x2xf32>, %c: tensor<?x12xf32>) -> tensor<?x12xf32> {
  %y = arith.constant dense<3.0> : tensor<2x12xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<?x2xf32>, tensor<2x12xf32>) outs(%c : tensor<?x12xf32>) attrs = {tile.schedule = #tile.schedule<kind = "packed", block = [4, 16, 2], register = [2, 8], panels = 1>} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x12xf32>
  return %0 : tensor<?x12xf32>
}

// -----

// More padding than elements.
// CHECK-LABEL: func.func @narrow
// CHECK: tile.kernel private @matmul_0(%{{.*}}: memref<?x2xf32>, %{{.*}}: memref<2x3xf32>,
// CHECK-COUNT-2: tile.copy
func.func @narrow(%x: tensor<?x2xf32>, %c: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = arith.constant dense<[[1., 2., 3.], [4., 5., 6.]]> : tensor<2x3xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<?x2xf32>, tensor<2x3xf32>) outs(%c : tensor<?x3xf32>) attrs = {tile.schedule = #tile.schedule<kind = "packed", block = [4, 8, 2], register = [2, 8], panels = 1>} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// A resource that the file has not got.
// CHECK-LABEL: func.func @missing
// CHECK: dense_resource<absent>
// CHECK: tile.kernel private @matmul_0(%{{.*}}: memref<?x2xf32>, %{{.*}}: memref<2x12xf32>,
// CHECK-COUNT-2: tile.copy
func.func @missing(%x: tensor<?x2xf32>, %c: tensor<?x12xf32>) -> tensor<?x12xf32> {
  %y = arith.constant dense_resource<absent> : tensor<2x12xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<?x2xf32>, tensor<2x12xf32>) outs(%c : tensor<?x12xf32>) attrs = {tile.schedule = #tile.schedule<kind = "packed", block = [4, 16, 2], register = [2, 8], panels = 1>} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x12xf32>
  return %0 : tensor<?x12xf32>
}

// -----

// Who else uses the constant has it as it was.
// CHECK-LABEL: func.func @twice
// CHECK: %[[Y:.*]] = arith.constant dense<{{.*}}> : tensor<2x12xf32>
// CHECK: arith.constant dense<{{.*}}> : tensor<2x2x8xf32>
// CHECK: return %{{.*}}, %[[Y]]
func.func @twice(%x: tensor<?x2xf32>, %c: tensor<?x12xf32>) -> (tensor<?x12xf32>, tensor<2x12xf32>) {
  %y = arith.constant dense<[[1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12.], [13., 14., 15., 16., 17., 18., 19., 20., 21., 22., 23., 24.]]> : tensor<2x12xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<?x2xf32>, tensor<2x12xf32>) outs(%c : tensor<?x12xf32>) attrs = {tile.schedule = #tile.schedule<kind = "packed", block = [4, 16, 2], register = [2, 8], panels = 1>} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x12xf32>
  return %0, %y : tensor<?x12xf32>, tensor<2x12xf32>
}

// -----

// Nothing is packed, and L1 holds B where it lies.
// CHECK-LABEL: func.func @inside
// CHECK: tile.kernel private @matmul_0(%{{.*}}: memref<4x2xf32>, %{{.*}}: memref<2x16xf32>,
func.func @inside(%x: tensor<4x2xf32>, %c: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %y = arith.constant dense<[[1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12., 0., 0., 0., 1.], [13., 14., 15., 16., 17., 18., 19., 20., 21., 22., 23., 24., 0., 0., 0., 1.]]> : tensor<2x16xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<4x2xf32>, tensor<2x16xf32>) outs(%c : tensor<4x16xf32>) attrs = {tile.schedule = #tile.schedule<kind = "direct", block = [4, 16, 2], register = [2, 8]>} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----

// Nothing is packed, but B comes from L2: its panels lie together.
// CHECK-LABEL: func.func @outside
// CHECK: tile.kernel private @matmul_0(%{{.*}}: memref<4x2xf32>, %{{.*}}: memref<2x2x8xf32>,
module attributes {tile.machine = #tile.machine<"x86-64-v3", "l1.bytes" = 64>} {
func.func @outside(%x: tensor<4x2xf32>, %c: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %y = arith.constant dense<[[1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12., 0., 0., 0., 1.], [13., 14., 15., 16., 17., 18., 19., 20., 21., 22., 23., 24., 0., 0., 0., 1.]]> : tensor<2x16xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<4x2xf32>, tensor<2x16xf32>) outs(%c : tensor<4x16xf32>) attrs = {tile.schedule = #tile.schedule<kind = "direct", block = [4, 16, 2], register = [2, 8], panels = 1>} {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}
}
