// Integer ranges: what comparisons fold to.
// RUN: %tile_opt %s --int-range-optimizations | FileCheck %s
// RUN: %mlir_opt_plugin %s --int-range-optimizations | FileCheck %s

// CHECK-LABEL: tile.kernel @ids
tile.kernel @ids(%m: memref<?xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %limit = arith.constant 2147483647 : index
  %i = tile.program_id 0
  %n = tile.num_programs 0
  // CHECK-DAG: %[[TRUE:.*]] = arith.constant true
  // CHECK-DAG: %[[UNKNOWN:.*]] = arith.cmpi slt
  %a = arith.cmpi sge, %i, %c0 : index
  %b = arith.cmpi ult, %i, %limit : index
  %c = arith.cmpi sge, %n, %c1 : index
  %d = arith.cmpi slt, %i, %c2 : index
  // CHECK: memref.store %[[TRUE]]
  // CHECK: memref.store %[[TRUE]]
  // CHECK: memref.store %[[TRUE]]
  // CHECK: memref.store %[[UNKNOWN]]
  memref.store %a, %m[%c0] : memref<?xi1>
  memref.store %b, %m[%c0] : memref<?xi1>
  memref.store %c, %m[%c0] : memref<?xi1>
  memref.store %d, %m[%c0] : memref<?xi1>
  tile.return
}

// CHECK-LABEL: tile.kernel @assume
tile.kernel @assume(%m: memref<?xi1>, %n: index) {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %c10 = arith.constant 10 : index
  // CHECK-DAG: %[[TRUE:.*]] = arith.constant true
  // CHECK-DAG: %[[UNKNOWN:.*]] = arith.cmpi ult, %{{.*}}, %c9
  %x = tile.assume %n range [1, 9] : index
  %a = arith.cmpi ult, %x, %c10 : index
  %b = arith.cmpi ult, %x, %c9 : index
  // CHECK: memref.store %[[TRUE]]
  // CHECK: memref.store %[[UNKNOWN]]
  memref.store %a, %m[%c0] : memref<?xi1>
  memref.store %b, %m[%c0] : memref<?xi1>
  tile.return
}

// CHECK-LABEL: tile.func @iota
tile.func @iota(%n: index) -> (tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
  // CHECK-DAG: %[[TRUE:.*]] = arith.constant dense<true> : tensor<8xi1>
  // CHECK: %[[B:.*]] = arith.cmpi slt
  // CHECK: %[[C:.*]] = arith.cmpi sge
  // CHECK: tile.return %[[TRUE]], %[[B]], %[[C]]
  %c8 = arith.constant dense<8> : tensor<8xindex>
  %c7 = arith.constant dense<7> : tensor<8xindex>
  %zero = arith.constant dense<0> : tensor<8xindex>
  %x = tile.iota dim 0 : tensor<8xindex>
  %a = arith.cmpi slt, %x, %c8 : tensor<8xindex>
  %b = arith.cmpi slt, %x, %c7 : tensor<8xindex>
  %y = tile.iota dim 0 from %n : tensor<8xindex>
  %c = arith.cmpi sge, %y, %zero : tensor<8xindex>
  tile.return %a, %b, %c : tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
}
