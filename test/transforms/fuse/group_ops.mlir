// What one kernel computes stands in a tile.group: a product and what follows it; a launch with the fill before it and
// the ops behind it. What starts a group is copied into it; a result that others use is not fused.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops),tile-group-ops{chip=x86-64-v4})' --tile-pass-statistics 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=COUNT < %t
// COUNT: 2 groups

// CHECK-LABEL: func.func @product
// CHECK: tile.group ins(%{{.*}}, %{{.*}} : tensor<64x64xf32>, tensor<64x64xf32>) meets [register, register] -> tensor<64x64xf32> {
// CHECK: arith.constant
// CHECK: tensor.empty
// CHECK: linalg.generic
// CHECK: linalg.generic {{.*}}"reduction"
// CHECK: math.exp
// CHECK: tile.yield
func.func @product(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.exp ins(%p : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @used_twice
// CHECK-NOT: tile.group
func.func @used_twice(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.exp ins(%p : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r, %p : tensor<64x64xf32>, tensor<64x64xf32>
}

// CHECK-LABEL: func.func @launch
// CHECK: tile.group ins({{.*}}) meets [register, register] -> tensor<64xf32> {
// CHECK: linalg.generic
// CHECK: tile.launch @sum
// CHECK: math.sqrt
func.func @launch(%x: tensor<64x8xf32>, %start: f32) -> tensor<64xf32> {
  %c64 = arith.constant 64 : index
  %e = tensor.empty() : tensor<64xf32>
  %z = linalg.fill ins(%start : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s = tile.launch @sum grid(%c64) ins(%x : tensor<64x8xf32>) outs(%z : tensor<64xf32>) -> tensor<64xf32>
  %r = linalg.sqrt ins(%s : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %r : tensor<64xf32>
}

tile.kernel private @sum(%x: memref<64x8xf32>, %y: memref<64xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %X = tile.view %x[%i, _] : memref<64x8xf32> to !tile.view<8xf32>
  %v = tile.load %X[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  %s = tile.reduce {arith.addf} %v axes [0] : tensor<8xf32> -> f32
  %old = memref.load %y[%i] {tile.initial} : memref<64xf32>
  %sum = arith.addf %old, %s : f32
  memref.store %sum, %y[%i] {tile.final} : memref<64xf32>
  tile.return
}
