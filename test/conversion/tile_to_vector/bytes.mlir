// Memory of i1 is read and written as bytes, by vectors. Results: test/run/sparse/mask_products.test and others.
// RUN: %tile_opt %s --convert-tile-to-vector | FileCheck %s

// CHECK-LABEL: func.func{{.*}}@positive
// CHECK: %[[BYTES:.*]] = builtin.unrealized_conversion_cast %{{.*}} : memref<?xi1> to memref<?xi8>
// CHECK: vector.{{.*}}load %[[BYTES]]{{.*}}vector<{{[0-9]+}}xi8>
// CHECK: arith.trunci {{.*}} to vector<{{[0-9]+}}xi1>
// CHECK: arith.extui {{.*}} to vector<{{[0-9]+}}xi8>
// CHECK: vector.{{.*}}store
tile.kernel @positive(%x: memref<?xi1>, %y: memref<?xf32>, %z: memref<?xi1>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xi1> to !tile.view<64xi1>
  %Y = tile.view %y : memref<?xf32> to !tile.view<64xf32>
  %Z = tile.view %z : memref<?xi1> to !tile.view<64xi1>
  %m = tile.load %X[%i] : !tile.view<64xi1> -> tensor<64xi1>
  %v = tile.load %Y[%i] : !tile.view<64xf32> -> tensor<64xf32>
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %p = arith.cmpf ogt, %v, %zero : tensor<64xf32>
  %r = arith.andi %m, %p : tensor<64xi1>
  tile.store %r, %Z[%i] : tensor<64xi1>, !tile.view<64xi1>
  tile.return
}
