// Structure: every op in every optional form keeps its meaning in its pretty, generic and bytecode form.
// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

// CHECK-DAG: #[[TWO:.*]] = #tile.schedule<stages = 2>
// CHECK-DAG: #[[BLOCK:.*]] = #tile.schedule<block = [64]>
// CHECK-LABEL: func.func @host
func.func @host(%x: tensor<?xf32>, %y: tensor<?xf32>, %a: memref<?xf32>, %b: memref<?xf32>, %n: index) -> tensor<?xf32> {
  // CHECK: tile.launch @add grid(%[[N:[a-z0-9]+]]) ins(%{{.*}}, %[[N]] : tensor<?xf32>, index) outs(%{{.*}} : tensor<?xf32>) -> tensor<?xf32>
  %r = tile.launch @add grid(%n) ins(%x, %n : tensor<?xf32>, index) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  // CHECK: tile.launch @add grid(%[[N]], %[[N]]) cluster [2, 1] ins({{.*}}) outs({{.*}}) meets [shared, global] -> tensor<?xf32>
  %s = tile.launch @add grid(%n, %n) cluster [2, 1] ins(%r, %n : tensor<?xf32>, index) outs(%y : tensor<?xf32>) meets [shared, global] -> tensor<?xf32>
  // CHECK: tile.launch @add grid(%[[N]], %[[N]], %[[N]]) ins({{.*}} : memref<?xf32>, index) outs({{.*}} : memref<?xf32>) {tile.schedule = #[[TWO]]}
  tile.launch @add grid(%n, %n, %n) ins(%a, %n : memref<?xf32>, index) outs(%b : memref<?xf32>) {tile.schedule = #tile.schedule<stages = 2>}
  // CHECK: tile.launch @fill grid(%[[N]]) outs(%{{.*}} : tensor<?xf32>) -> tensor<?xf32>
  %u = tile.launch @fill grid(%n) outs(%s : tensor<?xf32>) -> tensor<?xf32>
  // CHECK: tile.transfer %{{.*}} to @device1 : tensor<?xf32>
  %t = tile.transfer %u to @device1 : tensor<?xf32>
  return %t : tensor<?xf32>
}

// CHECK: tile.kernel private @add(memref<?xf32>, index, memref<?xf32>)
tile.kernel private @add(memref<?xf32>, index, memref<?xf32>)
// CHECK: tile.kernel private @fill(memref<?xf32>) attributes {warps = 4 : i32}
tile.kernel private @fill(memref<?xf32>) attributes {warps = 4 : i32}

// CHECK-LABEL: tile.kernel @named(
// CHECK-SAME: %[[X:.*]]: memref<?xf16> {llvm.noalias}, %[[N:.*]]: index)
// CHECK-SAME: attributes {machine = #tile.machine<"sm_80", "shared.bytes" = 100000>, note = "kept", schedule = #[[BLOCK]]}
tile.kernel @named(%x: memref<?xf16> {llvm.noalias}, %n: index)
    attributes {schedule = #tile.schedule<block = [64]>, machine = #tile.machine<"sm_80", "shared.bytes" = 100000>, note = "kept"} {
  // CHECK: tile.program_id 0
  %i = tile.program_id 0
  // CHECK: tile.program_id 2 {here}
  %j = tile.program_id 2 {here}
  // CHECK: tile.num_programs 1
  %k = tile.num_programs 1
  // CHECK: tile.assume %[[X]] align 16 sizes [8] strides [1] : memref<?xf16>
  %a = tile.assume %x align 16 sizes [8] strides [1] : memref<?xf16>
  // CHECK: tile.assume %[[X]] sizes [_] : memref<?xf16>
  %b = tile.assume %x sizes [_] : memref<?xf16>
  // CHECK: tile.assume %[[N]] divisible 8 range [1, 4096] : index
  %m = tile.assume %n divisible 8 range [1, 4096] : index
  // CHECK: tile.assume %[[N]] range [-4, 4] {why = "halo"} : index
  %h = tile.assume %n range [-4, 4] {why = "halo"} : index
  // CHECK: tile.return
  tile.return
}

// CHECK-LABEL: tile.func private @twice(%{{.*}}: tensor<4xf32>, %{{.*}}: f32) -> (tensor<4xf32>, f32)
tile.func private @twice(%x: tensor<4xf32>, %y: f32) -> (tensor<4xf32>, f32) {
  %x2 = arith.addf %x, %x : tensor<4xf32>
  // CHECK: tile.return %{{.*}}, %{{.*}} : tensor<4xf32>, f32
  tile.return %x2, %y : tensor<4xf32>, f32
}

// CHECK-LABEL: tile.func @nothing()
tile.func @nothing() {
  tile.return
}

// CHECK-LABEL: tile.func @calls
tile.func @calls(%x: tensor<4xf32>, %y: f32) -> tensor<4xf32> {
  // CHECK: %{{.*}}:2 = tile.call @twice(%{{.*}}, %{{.*}}) : (tensor<4xf32>, f32) -> (tensor<4xf32>, f32)
  %r:2 = tile.call @twice(%x, %y) : (tensor<4xf32>, f32) -> (tensor<4xf32>, f32)
  // CHECK: tile.call @nothing() {cold} : () -> ()
  tile.call @nothing() {cold} : () -> ()
  tile.return %r#0 : tensor<4xf32>
}
