// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-check-sizes))' | FileCheck %s
// RUN: %mlir_opt_plugin %s --pass-pipeline='builtin.module(func.func(tile-check-sizes))' | FileCheck %s

// Sizes of arguments are compared where the function begins, each pair once.
// CHECK-LABEL: @product
// CHECK: %[[K:.*]] = tensor.dim %arg1, %c0
// CHECK: %[[WANTED:.*]] = tensor.dim %arg0, %c1
// CHECK: %[[IS:.*]] = arith.cmpi eq, %[[K]], %[[WANTED]] : index
// CHECK: cf.assert %[[IS]], "dimension 0 of argument 1 must equal dimension 1 of argument 0"
// CHECK: "dimension 0 of argument 2 must equal dimension 0 of argument 0"
// CHECK: "dimension 1 of argument 2 must equal dimension 1 of argument 1"
// CHECK-NOT: cf.assert
// CHECK: linalg.matmul
// CHECK-NOT: cf.assert
// CHECK: return
func.func @product(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = linalg.negf ins(%0 : tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = linalg.add ins(%0, %1 : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}

// What is known to be equal is not compared: a result made with the argument's size, the same arithmetic twice, what a
// loop carries, both branches of an if.
// CHECK-LABEL: @known
// CHECK-NOT: cf.assert
// CHECK: return
func.func @known(%a: tensor<?xf32>, %which: i1) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %n = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = scf.for %i = %c0 to %c5 step %c1 iter_args(%t = %a) -> tensor<?xf32> {
    %sum = linalg.add ins(%t, %a : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %sum : tensor<?xf32>
  }
  %1 = scf.if %which -> tensor<?xf32> {
    scf.yield %0 : tensor<?xf32>
  } else {
    scf.yield %a : tensor<?xf32>
  }
  %2 = linalg.add ins(%0, %1 : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %m = tensor.dim %2, %c0 : tensor<?xf32>
  %half = arith.divsi %n, %c5 : index
  %again = arith.divsi %m, %c5 : index
  %x = tensor.extract_slice %a[0] [%half] [1] : tensor<?xf32> to tensor<?xf32>
  %f = tensor.empty(%again) : tensor<?xf32>
  %3 = linalg.negf ins(%x : tensor<?xf32>) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  return %2, %3 : tensor<?xf32>, tensor<?xf32>
}

// A size that only a branch meets is compared there, one that was computed before its op, and one that is known in the
// type is expected.
// CHECK-LABEL: @places
// CHECK: "dimension 0 of argument 1 must be 7"
// CHECK: scf.if
// CHECK: "dimension 0 of argument 0 must be 7"
// CHECK: linalg.add
// CHECK: }
// CHECK: arith.addi
// CHECK: "dimension 0 of operand 1 of linalg.negf must equal dimension 0 of argument 0"
// CHECK: linalg.negf
func.func @places(%a: tensor<?xf32>, %b: tensor<?xf32>, %n: index, %which: i1) -> (tensor<7xf32>, tensor<?xf32>) {
  %t = tensor.cast %b : tensor<?xf32> to tensor<7xf32>
  %0 = scf.if %which -> tensor<7xf32> {
    %1 = linalg.add ins(%a, %t : tensor<?xf32>, tensor<7xf32>) outs(%t : tensor<7xf32>) -> tensor<7xf32>
    scf.yield %1 : tensor<7xf32>
  } else {
    scf.yield %t : tensor<7xf32>
  }
  %c1 = arith.constant 1 : index
  %m = arith.addi %n, %c1 : index
  %e = tensor.empty(%m) : tensor<?xf32>
  %2 = linalg.negf ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %0, %2 : tensor<7xf32>, tensor<?xf32>
}

// A window's last element lies inside, unless there is no window.
// CHECK-LABEL: @window
// CHECK: %[[N:.*]] = tensor.dim %arg2, %c0
// CHECK: %[[NONE:.*]] = arith.cmpi eq, %[[N]]
// CHECK: %[[STEPS:.*]] = arith.subi %[[N]], %c1
// CHECK: %[[TWICE:.*]] = arith.muli %[[STEPS]], %c2
// CHECK: %[[LAST:.*]] = arith.addi %c2, %[[TWICE]]
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[LAST]], %
// CHECK: %[[FINE:.*]] = arith.ori %[[NONE]], %[[INSIDE]]
// CHECK: cf.assert %[[FINE]], "dimension 0 of argument 0 is too small for the other sizes of the op"
func.func @window(%a: tensor<?xf32>, %w: tensor<3xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i * 2 + k)>, affine_map<(i, k) -> (k)>,
                                        affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %w : tensor<?xf32>, tensor<3xf32>) outs(%c : tensor<?xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Memory has sizes too.
// CHECK-LABEL: @memory
// CHECK: "dimension 0 of argument 1 must equal dimension 0 of argument 0"
// CHECK: linalg.exp
func.func @memory(%a: memref<?xf32>, %b: memref<?xf32>) {
  linalg.exp ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
  return
}

// A group whose ops somebody wrote accepts no assertion.
// CHECK-LABEL: @group
// CHECK-NOT: cf.assert
// CHECK: return
func.func @group(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %r = tile.group ins(%a, %b : tensor<?xf32>, tensor<?xf32>) meets [] -> tensor<?xf32> {
  ^bb0(%x: tensor<?xf32>, %y: tensor<?xf32>):
    %0 = linalg.exp ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
    tile.yield %0 : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
