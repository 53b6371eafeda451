// Ops at which LLVM 22.1 crashes or is wrong. Each of these programs crashed tile-opt or gave another result.
// RUN: %tile_opt %s --tile-to-cpu-pipeline -o /dev/null
// RUN: %tile_opt %s --tile-avoid-upstream-faults | FileCheck %s
// RUN: %mlir_opt_plugin %s --pass-pipeline='builtin.module(tile-avoid-upstream-faults)' | FileCheck %s

// CHECK-LABEL: func.func @several_dynamic
// CHECK: %{{.*}}, %[[offset:.*]], %{{.*}}:2, %[[strides:.*]]:2 = memref.extract_strided_metadata
// CHECK: %[[outer:.*]] = arith.muli %[[strides]]#0, %arg2
// CHECK: memref.reinterpret_cast %arg0 to offset: [%[[offset]]], sizes: [%arg1, %arg2, 10], strides: [%[[outer]], %[[strides]]#0, 1]
func.func @several_dynamic(%a: memref<?x10xf32, strided<[?, 1], offset: ?>>, %n: index, %m: index)
    -> memref<?x?x10xf32, strided<[?, ?, 1], offset: ?>> {
  %e = memref.expand_shape %a [[0, 1], [2]] output_shape [%n, %m, 10]
      : memref<?x10xf32, strided<[?, 1], offset: ?>> into memref<?x?x10xf32, strided<[?, ?, 1], offset: ?>>
  return %e : memref<?x?x10xf32, strided<[?, ?, 1], offset: ?>>
}
// One dynamic size in a group is upstream's to lower.
// CHECK-LABEL: func.func @one_dynamic
// CHECK: memref.expand_shape
func.func @one_dynamic(%a: memref<?xf32>, %n: index) -> memref<?x2xf32> {
  %e = memref.expand_shape %a [[0, 1]] output_shape [%n, 2] : memref<?xf32> into memref<?x2xf32>
  return %e : memref<?x2xf32>
}
// CHECK-LABEL: func.func @tensors
func.func @tensors(%a: tensor<?xf32>, %n: index, %m: index) -> tensor<?x?xf32> {
  %e = tensor.expand_shape %a [[0, 1]] output_shape [%n, %m] : tensor<?xf32> into tensor<?x?xf32>
  return %e : tensor<?x?xf32>
}
// CHECK-LABEL: func.func @outside
// CHECK-COUNT-4: arith.select
// CHECK-NOT: vector.insert %{{.*}} [%c-2]
func.func @outside(%a: vector<4x5xf32>, %b: vector<5xf32>) -> vector<4x5xf32> {
  %i = arith.constant -2 : index
  %r = vector.insert %b, %a[%i] : vector<5xf32> into vector<4x5xf32>
  return %r : vector<4x5xf32>
}
// CHECK-LABEL: func.func @dynamic
// CHECK-COUNT-2: vector.insert %{{.*}}, %{{.*}} [1, {{[01]}}] : vector<3xi8> into vector<2x2x3xi8>
func.func @dynamic(%a: vector<2x2x3xi8>, %b: vector<3xi8>, %i: index) -> vector<2x2x3xi8> {
  %r = vector.insert %b, %a[1, %i] : vector<3xi8> into vector<2x2x3xi8>
  return %r : vector<2x2x3xi8>
}
// CHECK-LABEL: func.func @carry
// CHECK: ub.poison : i32
// CHECK: ub.poison : i1
// CHECK-NOT: arith.addui_extended
func.func @carry() -> (i32, i1) {
  %p = ub.poison : i32
  %c = arith.constant 5 : i32
  %s, %o = arith.addui_extended %p, %c : i32, i1
  return %s, %o : i32, i1
}
// CHECK-LABEL: func.func @elements
// CHECK: tensor.from_elements %c0{{.*}} : tensor<1xindex>
func.func @elements() -> tensor<1xindex> {
  %p = ub.poison : index
  %t = tensor.from_elements %p : tensor<1xindex>
  return %t : tensor<1xindex>
}
// CHECK-LABEL: llvm.func @product
// CHECK-COUNT-2: llvm.shufflevector
// CHECK-NOT: reduce.mul
llvm.func @product(%v: vector<3xi1>) -> i8 {
  %e = llvm.sext %v : vector<3xi1> to vector<3xi8>
  %r = "llvm.intr.vector.reduce.mul"(%e) : (vector<3xi8>) -> i8
  llvm.return %r : i8
}
// CHECK-LABEL: func.func @steps
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0] [1, 4, 1] [1, 2, 1] : tensor<8x8x8xf32> to tensor<4x1xf32>
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 1] [1, 4, 1] [1, 2, 1]
func.func @steps(%a: tensor<8x8x8xf32>) -> tensor<8x8x8xf32> {
  %s = tensor.extract_slice %a[0, 0, 0] [1, 4, 1] [3, 2, 5] : tensor<8x8x8xf32> to tensor<4x1xf32>
  %r = tensor.insert_slice %s into %a[0, 0, 1] [1, 4, 1] [2, 2, 7] : tensor<4x1xf32> into tensor<8x8x8xf32>
  return %r : tensor<8x8x8xf32>
}
ml_program.global private mutable @state(dense<1.0> : tensor<3xf32>) : tensor<3xf32>
ml_program.global private @fixed(dense<[5, 7]> : tensor<2xi64>) : tensor<2xi64>
// CHECK-LABEL: func.func @values
// CHECK: %[[LOADED:.*]] = ml_program.global_load @state
// CHECK: %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[LOADED]])
// CHECK: %[[STORED:.*]] = bufferization.alloc_tensor() copy(%
// CHECK: ml_program.global_store @state = %[[STORED]]
// CHECK: %[[FIXED:.*]] = arith.constant dense<[5, 7]> : tensor<2xi64>
// CHECK: return %[[COPY]], %[[FIXED]]
func.func @values(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<2xi64>) {
  %old = ml_program.global_load @state : tensor<3xf32>
  ml_program.global_store @state = %x : tensor<3xf32>
  %fixed = ml_program.global_load_const @fixed : tensor<2xi64>
  return %old, %fixed : tensor<3xf32>, tensor<2xi64>
}
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
// CHECK-LABEL: func.func @encoded
// CHECK: %[[EMPTY:.*]] = tensor.empty(%{{.*}}) : tensor<?x6xf32, #[[CSR:.*]]>
// CHECK: %[[NARROW:.*]] = linalg.generic {{.*}} outs(%[[EMPTY]] : tensor<?x6xf32, #[[CSR]]>)
// CHECK: arith.truncf %{{.*}} : f64 to f32
// CHECK: arith.addf %[[NARROW]], %[[NARROW]] : tensor<?x6xf32, #[[CSR]]>
// CHECK: scf.if %{{.*}} -> (tensor<?x6xf32, #[[CSR]]>)
// CHECK-NOT: arith.select
func.func @encoded(%a: tensor<?x6xf64, #CSR>, %c: i1) -> tensor<?x6xf32, #CSR> {
  %narrow = arith.truncf %a : tensor<?x6xf64, #CSR> to tensor<?x6xf32, #CSR>
  %sum = arith.addf %narrow, %narrow : tensor<?x6xf32, #CSR>
  %r = arith.select %c, %narrow, %sum : tensor<?x6xf32, #CSR>
  return %r : tensor<?x6xf32, #CSR>
}
// CHECK-LABEL: func.func @folds_without_sizes
// CHECK: linalg.generic
// CHECK: arith.cmpi sle, {{.*}} : i32
// CHECK: linalg.generic
// CHECK: arith.xori {{.*}} : i32
// CHECK: linalg.generic
// CHECK: arith.subi {{.*}} : i32
// CHECK: arith.xori %{{.*}}, %{{.*}} : tensor<4xi32>
func.func @folds_without_sizes(%a: tensor<?xi32>, %b: tensor<?xi32>, %c: tensor<4xi32>)
    -> (tensor<?xi1>, tensor<?xi32>, tensor<?xi32>, tensor<4xi32>) {
  %equal = arith.cmpi sle, %a, %a : tensor<?xi32>
  %zero = arith.xori %a, %a : tensor<?xi32>
  %difference = arith.subi %a, %b : tensor<?xi32>
  %opposite = arith.subi %difference, %a : tensor<?xi32>
  %known = arith.xori %c, %c : tensor<4xi32>
  return %equal, %zero, %opposite, %known : tensor<?xi1>, tensor<?xi32>, tensor<?xi32>, tensor<4xi32>
}

// A dimension is lost behind one of size 1: the slice keeps all of them, and a reshape loses it.
// CHECK-LABEL: func.func @lost(
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, 0, 3, 0] [1, 2, 1, 5] [1, 1, 1, 1] : tensor<3x2x4x5xf32> to tensor<1x2x1x5xf32>
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1], [2, 3]] : tensor<1x2x1x5xf32> into tensor<1x2x5xf32>
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1], [2, 3]] output_shape [1, 2, 1, 5] : tensor<1x2x5xf32> into tensor<1x2x1x5xf32>
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%{{.*}}, 0, 3, 0] [1, 2, 1, 5] [1, 1, 1, 1] : tensor<1x2x1x5xf32> into tensor<3x2x4x5xf32>
func.func @lost(%a: tensor<3x2x4x5xf32>, %i: index) -> tensor<3x2x4x5xf32> {
  %s = tensor.extract_slice %a[%i, 0, 3, 0] [1, 2, 1, 5] [1, 1, 1, 1] : tensor<3x2x4x5xf32> to tensor<1x2x5xf32>
  %r = tensor.insert_slice %s into %a[%i, 0, 3, 0] [1, 2, 1, 5] [1, 1, 1, 1] : tensor<1x2x5xf32> into tensor<3x2x4x5xf32>
  return %r : tensor<3x2x4x5xf32>
}

// The first sizes of 1 are lost, or no size is open: nothing to avoid.
// CHECK-LABEL: func.func @lost_first(
// CHECK-NOT: collapse_shape
func.func @lost_first(%a: tensor<3x2x4xf32>, %i: index, %n: index) -> (tensor<2x1xf32>, tensor<1x2xf32>, tensor<?x4xf32>) {
  %s = tensor.extract_slice %a[%i, 0, 3] [1, 2, 1] [1, 1, 1] : tensor<3x2x4xf32> to tensor<2x1xf32>
  %t = tensor.extract_slice %a[1, 0, 3] [1, 2, 1] [1, 1, 1] : tensor<3x2x4xf32> to tensor<1x2xf32>
  %u = tensor.extract_slice %a[0, %i, 0] [%n, 1, 4] [1, 1, 1] : tensor<3x2x4xf32> to tensor<?x4xf32>
  return %s, %t, %u : tensor<2x1xf32>, tensor<1x2xf32>, tensor<?x4xf32>
}
