// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-check-places))' | FileCheck %s
// RUN: %mlir_opt_plugin %s --pass-pipeline='builtin.module(func.func(tile-check-places))' | FileCheck %s

// A slice of any size: what is wrong is said where it can be known, ahead of the op before it.
// CHECK-LABEL: @slice
// CHECK: %[[NEGATIVE:.*]] = arith.cmpi sge, %arg2, %c0
// CHECK: cf.assert %[[NEGATIVE]], "tensor.extract_slice: size of dimension 0 must not be negative"
// CHECK: %[[EMPTY:.*]] = arith.cmpi eq, %arg2, %c0
// CHECK: %[[OFFSET:.*]] = arith.select %[[EMPTY]], %c0{{.*}}, %arg1
// CHECK: arith.cmpi sge, %[[OFFSET]], %c0
// CHECK: "tensor.extract_slice: offset of dimension 0 must not be negative"
// CHECK: %[[REST:.*]] = arith.subi %dim{{.*}}, %arg1
// CHECK: %[[ROOM:.*]] = arith.maxsi %[[REST]], %c0
// CHECK: arith.cmpi sle, %arg2, %[[ROOM]]
// CHECK: "tensor.extract_slice: size of dimension 0 must not exceed what follows the offset"
// CHECK: linalg.exp
// CHECK-NOT: cf.assert
// CHECK: return
func.func @slice(%a: tensor<?xf32>, %o: index, %n: index) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = linalg.exp ins(%a : tensor<?xf32>) outs(%a : tensor<?xf32>) -> tensor<?xf32>
  %1 = tensor.extract_slice %0[%o] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}

// What constants, loops and remainders prove is not compared: tiles of a known size, elements below the size that a
// loop ends at, the whole, what is left behind an offset.
// CHECK-LABEL: @proven
// CHECK-NOT: cf.assert
// CHECK: return
func.func @proven(%a: tensor<12xf32>, %b: tensor<?x?xf32>, %x: index) -> (tensor<12xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c12 = arith.constant 12 : index
  %zero = arith.constant 0.0 : f32
  %0 = scf.for %i = %c0 to %c12 step %c3 iter_args(%t = %a) -> tensor<12xf32> {
    %part = tensor.extract_slice %t[%i] [3] [1] : tensor<12xf32> to tensor<3xf32>
    %next = tensor.insert_slice %part into %t[%i] [3] [1] : tensor<3xf32> into tensor<12xf32>
    scf.yield %next : tensor<12xf32>
  }
  %m = tensor.dim %b, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %1 = scf.for %i = %c0 to %m step %c1 iter_args(%s = %zero) -> f32 {
    %row = tensor.extract_slice %b[%i, 0] [1, %n] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
    %2 = scf.for %j = %c0 to %n step %c1 iter_args(%u = %s) -> f32 {
      %v = tensor.extract %row[%j] : tensor<?xf32>
      %w = arith.addf %u, %v : f32
      scf.yield %w : f32
    }
    scf.yield %2 : f32
  }
  %r = arith.remui %x, %c4 : index
  %3 = tensor.extract %a[%r] : tensor<12xf32>
  %4 = arith.addf %1, %3 : f32
  return %0, %4 : tensor<12xf32>, f32
}

// CHECK-LABEL: @known_size
// CHECK: arith.cmpi slt, %arg1, %c4
// CHECK: "memref.load: index of dimension 0 must be less than its size"
// CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %c7
// CHECK: arith.cmpi sle, %arg1, %[[LAST]]
// CHECK: "memref.subview: offset of dimension 0 must not exceed the last that is inside"
// CHECK: memref.subview
// CHECK-NOT: cf.assert
// CHECK: return
func.func @known_size(%a: memref<?xf32>, %o: index) -> f32 {
  %s = memref.subview %a[%o] [4] [2] : memref<?xf32> to memref<4xf32, strided<[2], offset: ?>>
  %v = memref.load %s[%o] : memref<4xf32, strided<[2], offset: ?>>
  return %v : f32
}

// An assertion stands where all that it needs is there, and in the branch of its op.
// CHECK-LABEL: @places
// CHECK: tensor.extract %arg1
// CHECK: cf.assert {{.*}}"tensor.expand_shape: size of dimension 0 must be the product of what it is expanded to"
// CHECK: scf.if
// CHECK: "tensor.pad: padding of dimension 0 must not be negative"
// CHECK: tensor.pad
func.func @places(%a: tensor<?xf32>, %at: tensor<1xindex>, %is: i1, %p: index) -> (tensor<?x3xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.extract %at[%c0] : tensor<1xindex>
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [%n, 3] : tensor<?xf32> into tensor<?x3xf32>
  %1 = scf.if %is -> tensor<?xf32> {
    %2 = tensor.pad %a low[%p] high[0] {
    ^bb0(%i: index):
      tensor.yield %zero : f32
    } : tensor<?xf32> to tensor<?xf32>
    scf.yield %2 : tensor<?xf32>
  } else {
    scf.yield %a : tensor<?xf32>
  }
  return %0, %1 : tensor<?x3xf32>, tensor<?xf32>
}

// Kernels, groups and bodies of linalg accept no assertions of the host.
// CHECK-LABEL: @inside
// CHECK-NOT: cf.assert
// CHECK: return
func.func @inside(%a: tensor<9xf32>, %i: tensor<4xindex>, %e: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%i : tensor<4xindex>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: index, %z: f32):
    %x = tensor.extract %a[%p] : tensor<9xf32>
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
