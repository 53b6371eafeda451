// RUN: %tile_opt %s --tile-pack-narrow-elements | FileCheck %s
// RUN: %mlir_opt_plugin %s --pass-pipeline="builtin.module(tile-pack-narrow-elements)" | FileCheck %s

// A shift for each code of a byte, as exporters write it; a second run finds nothing.
// CHECK-LABEL: func.func @nibbles(%arg0: tensor<3x4xi8>) -> tensor<3x4xi8>
// CHECK: %[[SHIFTS:.*]] = arith.constant dense<[0, 4]> : tensor<2xi8>
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[SHIFTS]] : tensor<3x4xi8>, tensor<2xi8>) outs({{.*}} : tensor<3x4x2xi4>)
// CHECK: arith.shrui
// CHECK: arith.andi {{.*}}, %c15_i8
// CHECK: arith.trunci {{.*}} : i8 to i4
// CHECK: tensor.collapse_shape {{.*}} : tensor<3x4x2xi4> into tensor<3x8xi4>
// CHECK: arith.shli
// CHECK: return {{.*}} : tensor<3x4xi8>
func.func @nibbles(%x: tensor<3x8xi4>) -> tensor<3x8xi4> {
  return %x : tensor<3x8xi4>
}

// Four elements lie in three bytes; five of them end in the fourth, and are cut from eight.
// CHECK-LABEL: func.func @sixes(%arg0: tensor<4xi8>, %arg1: index)
// CHECK: %[[ZEROS:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<6xi8>)
// CHECK: %[[BYTES:.*]] = tensor.insert_slice %arg0 into %[[ZEROS]][0] [4] [1] : tensor<4xi8> into tensor<6xi8>
// CHECK: %[[ALL:.*]] = tile.bitcast %[[BYTES]] : tensor<6xi8> -> tensor<8xf6E2M3FN>
// CHECK: tensor.extract_slice %[[ALL]][0] [5] [1] : tensor<8xf6E2M3FN> to tensor<5xf6E2M3FN>
func.func @sixes(%x: tensor<5xf6E2M3FN>, %i: index) -> f6E2M3FN {
  %y = tensor.extract %x[%i] : tensor<5xf6E2M3FN>
  return %y : f6E2M3FN
}

// A buffer is copied, and back before the return.
// CHECK-LABEL: func.func @buffer(%arg0: memref<2xi8>, %arg1: i4)
// CHECK: %[[COPY:.*]] = memref.alloc() : memref<3xi4>
// CHECK: scf.for
// CHECK: memref.store {{.*}}, %[[COPY]]
// CHECK: memref.store %arg1, %[[COPY]][%c0
// CHECK: memref.store {{.*}}, %arg0
// CHECK: memref.dealloc %[[COPY]]
// CHECK-NEXT: return
func.func @buffer(%x: memref<3xi4>, %v: i4) {
  %c0 = arith.constant 0 : index
  memref.store %v, %x[%c0] : memref<3xi4>
  return
}

// Calls give elements to a copy of the entry.
// CHECK-LABEL: func.func @called(%arg0: tensor<1xi8>) -> tensor<1xi8>
// CHECK-LABEL: func.func private @called_of_elements_0(%arg0: tensor<2xi2>) -> tensor<2xi2>
func.func @called(%x: tensor<2xi2>) -> tensor<2xi2> {
  return %x : tensor<2xi2>
}
// CHECK-LABEL: func.func private @inner(%arg0: tensor<2xi2>)
// CHECK: call @called_of_elements_0
func.func private @inner(%x: tensor<2xi2>) -> tensor<2xi2> {
  %y = call @called(%x) : (tensor<2xi2>) -> tensor<2xi2>
  return %y : tensor<2xi2>
}

// What no caller can pass stays: unknown sizes, scalars. i1 takes a byte, as in numpy; i8 is one.
// CHECK-LABEL: func.func @stays(%arg0: tensor<?x4xi4>, %arg1: i4, %arg2: tensor<4xi1>, %arg3: tensor<4xi8>)
// CHECK-NEXT: return
func.func @stays(%x: tensor<?x4xi4>, %y: i4, %z: tensor<4xi1>, %w: tensor<4xi8>) {
  return
}

// A large one takes half a byte for each element.
// CHECK-LABEL: func.func @large
// CHECK: arith.constant dense_resource<packed> : tensor<2x256xi8>
// CHECK-NOT: tensor<2x512xi4>{{$}}
// CHECK: linalg.generic
func.func @large(%i: index) -> i4 {
  %c = arith.constant dense<"0x01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C01060B00050A0F04090E03080D02070C"> : tensor<2x512xi4>
  %y = tensor.extract %c[%i, %i] : tensor<2x512xi4>
  return %y : i4
}

// A small constant stays.
// CHECK-LABEL: func.func @constant
// CHECK-NEXT: arith.constant dense<[1, -2, 3]> : tensor<3xi4>
func.func @constant(%i: index) -> i4 {
  %c = arith.constant dense<[1, -2, 3]> : tensor<3xi4>
  %y = tensor.extract %c[%i] : tensor<3xi4>
  return %y : i4
}
