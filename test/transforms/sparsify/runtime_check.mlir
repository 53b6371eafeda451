// Checks stand before what is put together from values, and where encoded tensors come in.
// RUN: %tile_opt %s --sparse-runtime-check | FileCheck %s
// RUN: %mlir_opt_plugin %s --pass-pipeline='builtin.module(sparse-runtime-check)' | FileCheck %s

// Sizes that the types tell are not compared; those of an open size are, with what the format makes of it.
// CHECK-LABEL: func.func @bsr(
// CHECK-SAME: %[[P:.*]]: tensor<?xi32>, %[[C:.*]]: tensor<9xi64>, %[[V:.*]]: tensor<9x2x?xf32>, %[[M:.*]]: index)
// CHECK: %[[DOWN:.*]] = arith.ceildivsi %[[M]]
// CHECK: %[[ENDS:.*]] = arith.addi %[[DOWN]]
// CHECK: %[[SEEN:.*]] = tensor.dim %[[P]]
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[SEEN]], %[[ENDS]]
// CHECK: cf.assert %[[SAME]], "positions of #sparse.bsr have another size along axis 0 than the tensor's says"
// CHECK: %[[WIDE:.*]] = tensor.dim %[[V]]
// CHECK: arith.cmpi eq, %[[WIDE]], %c3
// CHECK: cf.assert %{{.*}}, "values of #sparse.bsr have another size along axis 2 than the tensor's says"
// CHECK: %[[ALL:.*]] = tensor.cast %[[C]] : tensor<9xi64> to tensor<?xi64>
// CHECK: call @[[CHECK:.*]](%[[P]], %[[ALL]], %c4{{.*}}) : (tensor<?xi32>, tensor<?xi64>, index) -> ()
// CHECK: sparse.assemble
func.func @bsr(%p: tensor<?xi32>, %c: tensor<9xi64>, %v: tensor<9x2x?xf32>, %m: index) -> tensor<?x11xf32, #sparse.bsr<block = [2, 3], coordinates = i64>> {
  %w = sparse.assemble(%p, %c, %v) sizes [%m] : tensor<?xi32>, tensor<9xi64>, tensor<9x2x?xf32> -> tensor<?x11xf32, #sparse.bsr<block = [2, 3], coordinates = i64>>
  return %w : tensor<?x11xf32, #sparse.bsr<block = [2, 3], coordinates = i64>>
}

// Each part of a sum; an encoded argument is taken apart; a private function trusts its callers.
// CHECK-LABEL: func.func @sum(
// CHECK: %[[PARTS:.*]]:5 = sparse.disassemble
// CHECK-NOT: positions of
// CHECK: %[[ENDS:.*]] = tensor.cast %[[PARTS]]#0
// CHECK: call @{{.*}}(%[[ENDS]], %[[PARTS]]#1, %{{.*}})
// CHECK: call @{{.*}}(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<?x?xi32>, tensor<?xindex>, i1) -> ()
// CHECK-LABEL: func.func private @trusts(
// CHECK-NEXT: return
func.func @sum(%a: tensor<4x4xf32, #sparse.sum<parts = [#sparse.csr, #sparse.coo<unordered>]>>) { return }
func.func private @trusts(%a: tensor<4x4xf32, #sparse.csr>) { return }

// A list of slices: those of init that there are, and none twice; sizes that the types tell are not compared.
// CHECK-LABEL: func.func @writes(
// CHECK-SAME: %[[PACKED:.*]]: tensor<8x?xf32>, %[[INIT:.*]]: tensor<9x?xf32>, %[[LIST:.*]]: tensor<2xi64>)
// CHECK-NOT: as many
// CHECK: cf.assert %{{.*}}, "packed slices are not as long as init's"
// CHECK: %[[ALL:.*]] = tensor.cast %[[LIST]] : tensor<2xi64> to tensor<?xi64>
// CHECK: call @{{.*}}(%[[ALL]], %c3{{.*}}, %true{{.*}}) : (tensor<?xi64>, index, i1) -> ()
// CHECK: sparse.swrite
func.func @writes(%p: tensor<8x?xf32>, %c: tensor<9x?xf32>, %l: tensor<2xi64>) -> tensor<9x?xf32> {
  %r = sparse.swrite %p, %c[%l] along 0 by 4 : tensor<8x?xf32>, tensor<9x?xf32>, tensor<2xi64>
  return %r : tensor<9x?xf32>
}

// Constants are the verifier's.
// CHECK-LABEL: func.func @constant
// CHECK-NOT: call
// CHECK: return
func.func @constant() -> tensor<1x2xf32, #sparse.csr> {
  %p = arith.constant dense<[0, 1]> : tensor<2xi32>
  %c = arith.constant dense<1> : tensor<1xi32>
  %v = arith.constant dense<1.0> : tensor<1xf32>
  %w = sparse.assemble(%p, %c, %v) : tensor<2xi32>, tensor<1xi32>, tensor<1xf32> -> tensor<1x2xf32, #sparse.csr>
  return %w : tensor<1x2xf32, #sparse.csr>
}

// CHECK: func.func private @[[CHECK]](%{{.*}}: tensor<?xi32>, %{{.*}}: tensor<?xi64>, %{{.*}}: index)
