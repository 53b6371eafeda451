// Folds of products, reductions and random words. Floats fold only where that is exact or allowed.
// RUN: %tile_opt %s --canonicalize | FileCheck %s
// RUN: %mlir_opt_plugin %s --canonicalize | FileCheck %s

// CHECK-LABEL: tile.func @zero_times
// CHECK-SAME: %[[C:[a-z0-9]+]]: tensor<4x4xi32>
tile.func @zero_times(%a: tensor<4x8xi8>, %c: tensor<4x4xi32>, %x: tensor<4x8xf16>, %y: tensor<4x4xf32>)
    -> (tensor<4x4xi32>, tensor<4x4xf32>) {
  // CHECK-NOT: i8
  // CHECK: %[[F:.*]] = tile.mma %{{.*}} -> tensor<4x4xf32>
  // CHECK: tile.return %[[C]], %[[F]]
  %z = arith.constant dense<0> : tensor<8x4xi8>
  %d = tile.mma %a, %z, %c : tensor<4x8xi8>, tensor<8x4xi8> -> tensor<4x4xi32>
  %f = arith.constant dense<0.0> : tensor<8x4xf16>
  %g = tile.mma %x, %f, %y : tensor<4x8xf16>, tensor<8x4xf16> -> tensor<4x4xf32>
  tile.return %d, %g : tensor<4x4xi32>, tensor<4x4xf32>
}

// CHECK-LABEL: tile.func @accumulate_integers
// CHECK-SAME: (%[[A:.*]]: tensor<4x8xi8>, %[[B:.*]]: tensor<8x4xi8>, %[[C:.*]]: tensor<4x4xi32>)
tile.func @accumulate_integers(%a: tensor<4x8xi8>, %b: tensor<8x4xi8>, %c: tensor<4x4xi32>) -> tensor<4x4xi32> {
  // CHECK-NEXT: %[[D:.*]] = tile.mma %[[A]], %[[B]], %[[C]]
  // CHECK-NEXT: tile.return %[[D]]
  %z = arith.constant dense<0> : tensor<4x4xi32>
  %d = tile.mma %a, %b, %z : tensor<4x8xi8>, tensor<8x4xi8> -> tensor<4x4xi32>
  %e = arith.addi %c, %d : tensor<4x4xi32>
  tile.return %e : tensor<4x4xi32>
}

// CHECK-LABEL: tile.func @accumulate_floats
// CHECK-SAME: (%[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<8x4xf32>, %[[C:.*]]: tensor<4x4xf32>)
tile.func @accumulate_floats(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %c: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  // CHECK: %[[Z:.*]] = arith.constant dense<0.0
  // CHECK: %[[D:.*]] = tile.mma %[[A]], %[[B]], %[[C]] precision tf32
  // CHECK: %[[F:.*]] = tile.mma %[[A]], %[[B]], %[[Z]]
  // CHECK: %[[G:.*]] = arith.addf %[[F]], %[[C]]
  // CHECK: tile.return %[[D]], %[[G]]
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  %d = tile.mma %a, %b, %z precision tf32 : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
  %e = arith.addf %d, %c fastmath<reassoc> : tensor<4x4xf32>
  %f = tile.mma %a, %b, %z : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
  %g = arith.addf %f, %c : tensor<4x4xf32>
  tile.return %e, %g : tensor<4x4xf32>, tensor<4x4xf32>
}

// Nothing: the product has another use, it would be computed twice.
// CHECK-LABEL: tile.func @product_used_twice
tile.func @product_used_twice(%a: tensor<4x8xi8>, %b: tensor<8x4xi8>, %c: tensor<4x4xi32>) -> (tensor<4x4xi32>, tensor<4x4xi32>) {
  // CHECK: tile.mma
  // CHECK: arith.addi
  // CHECK-NOT: tile.mma
  %z = arith.constant dense<0> : tensor<4x4xi32>
  %d = tile.mma %a, %b, %z : tensor<4x8xi8>, tensor<8x4xi8> -> tensor<4x4xi32>
  %e = arith.addi %c, %d : tensor<4x4xi32>
  tile.return %d, %e : tensor<4x4xi32>, tensor<4x4xi32>
}

// CHECK-LABEL: tile.func @reduce_constant
tile.func @reduce_constant() -> (f32, tensor<2xf32>, i32, f32, i32) {
  // CHECK-DAG: %[[MAX:.*]] = arith.constant 2.000000e+00 : f32
  // CHECK-DAG: %[[NEUTRAL:.*]] = arith.constant dense<-0.000000e+00> : tensor<2xf32>
  // CHECK-DAG: %[[AND:.*]] = arith.constant 6 : i32
  // CHECK: %[[SUM:.*]] = tile.reduce {arith.addf}
  // CHECK: %[[XOR:.*]] = tile.reduce {arith.xori}
  // CHECK: tile.return %[[MAX]], %[[NEUTRAL]], %[[AND]], %[[SUM]], %[[XOR]]
  %x = arith.constant dense<2.0> : tensor<2x4xf32>
  %n = arith.constant dense<-0.0> : tensor<2x4xf32>
  %i = arith.constant dense<6> : tensor<4xi32>
  %a = tile.reduce {arith.maximumf} %x axes [0, 1] : tensor<2x4xf32> -> f32
  %b = tile.reduce {arith.addf} %n axes [1] : tensor<2x4xf32> -> tensor<2xf32>
  %c = tile.reduce {arith.andi} %i axes [0] : tensor<4xi32> -> i32
  %d = tile.reduce {arith.addf} %x axes [0, 1] : tensor<2x4xf32> -> f32
  %e = tile.reduce {arith.xori} %i axes [0] : tensor<4xi32> -> i32
  tile.return %a, %b, %c, %d, %e : f32, tensor<2xf32>, i32, f32, i32
}

// CHECK-LABEL: tile.func @reduce_of_broadcast
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[S:.*]]: f32)
tile.func @reduce_of_broadcast(%x: tensor<4xf32>, %s: f32) -> (tensor<4xf32>, f32, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[B:.*]] = tile.broadcast %[[X]] axes [1] : tensor<4xf32> -> tensor<4x4xf32>
  // CHECK: %[[SUM:.*]] = tile.reduce {arith.addf} %[[B]] axes [1]
  // CHECK: %[[OTHER:.*]] = tile.reduce {arith.maximumf} %[[B]] axes [0]
  // CHECK: tile.return %[[X]], %[[S]], %[[SUM]], %[[OTHER]]
  %b = tile.broadcast %x axes [1] : tensor<4xf32> -> tensor<4x4xf32>
  %a = tile.reduce {arith.maximumf} %b axes [1] : tensor<4x4xf32> -> tensor<4xf32>
  %c = tile.broadcast %s : f32 -> tensor<3x5xf32>
  %d = tile.reduce {arith.minnumf} %c axes [0, 1] : tensor<3x5xf32> -> f32
  %e = tile.reduce {arith.addf} %b axes [1] : tensor<4x4xf32> -> tensor<4xf32>
  %f = tile.reduce {arith.maximumf} %b axes [0] : tensor<4x4xf32> -> tensor<4xf32>
  tile.return %a, %d, %e, %f : tensor<4xf32>, f32, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: tile.func @reduce_of_one
tile.func @reduce_of_one(%x: tensor<4x1xf32>, %y: tensor<1xf32>) -> (tensor<4xf32>, f32, tensor<4xf32>) {
  // CHECK: tile.reshape %{{.*}} : tensor<4x1xf32> -> tensor<4xf32>
  // CHECK: tile.reshape %{{.*}} : tensor<1xf32> -> f32
  // CHECK: tile.reduce %{{.*}} axes [1] neutral
  %a = tile.reduce {arith.addf} %x axes [1] : tensor<4x1xf32> -> tensor<4xf32>
  %b = tile.reduce {arith.mulf} %y axes [0] : tensor<1xf32> -> f32
  %c = tile.reduce %x axes [1] neutral [0.0 : f32] : tensor<4x1xf32> -> tensor<4xf32> {
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    tile.yield %s : f32
  }
  tile.return %a, %b, %c : tensor<4xf32>, f32, tensor<4xf32>
}

// Philox4x32-10: the known answer for zeros (Random123's kat_vectors), and one with all 64 bits of seed and counter.
// CHECK-LABEL: tile.func @random
tile.func @random(%s: i64) -> (tensor<4xi32>, tensor<2x4xi32>, tensor<4xi32>) {
  // CHECK-DAG: arith.constant dense<[1713891541, -513161843, -1135104948, -1694442536]> : tensor<4xi32>
  // CHECK-DAG: arith.constant dense<{{\[}}[-425944015, -1247553694, -416038975, 874150012], [-106590937, -1461446362, -241070272, -1284493461]]> : tensor<2x4xi32>
  // CHECK: tile.random
  %zero = arith.constant 0 : i64
  %seed = arith.constant 2999170649027065890 : i64
  %c = arith.constant 0 : index
  %t = arith.constant dense<[-8817193942522041720, 1]> : tensor<2xindex>
  %a = tile.random %zero, %c : i64, index -> tensor<4xi32>
  %b = tile.random %seed, %t : i64, tensor<2xindex> -> tensor<2x4xi32>
  %d = tile.random %s, %c : i64, index -> tensor<4xi32>
  tile.return %a, %b, %d : tensor<4xi32>, tensor<2x4xi32>, tensor<4xi32>
}
