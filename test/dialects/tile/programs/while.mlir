// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

// What:   Jacobi iteration until the residual is small: a loop on the host around two launches.
// Level:  tile graph (host, on tensors).
// Shows:  scf.while as it stands; reading one number back is tensor.extract on a launch's result (a transfer and a wait on a GPU);
//         the double buffer is loop-carried tensors: bufferization makes it two allocations and a swap.
// Later:  Cocktailer's pass turns this loop into one kernel that tests the condition on the device.

func.func @solve(%a: tensor<?x?xf32>, %b: tensor<?xf32>, %x0: tensor<?xf32>, %limit: f32) -> (tensor<?xf32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %large = arith.constant 0x7F800000 : f32
  %n = tensor.dim %b, %c0 : tensor<?xf32>
  %g = arith.ceildivui %n, %c64 : index
  %spare = tensor.empty(%n) : tensor<?xf32>
  %r:4 = scf.while (%x = %x0, %t = %spare, %res = %large, %i = %c0)
      : (tensor<?xf32>, tensor<?xf32>, f32, index) -> (tensor<?xf32>, tensor<?xf32>, f32, index) {
    %go = arith.cmpf ogt, %res, %limit : f32
    scf.condition(%go) %x, %t, %res, %i : tensor<?xf32>, tensor<?xf32>, f32, index
  } do {
  ^bb0(%x: tensor<?xf32>, %t: tensor<?xf32>, %res: f32, %i: index):
    %y = tile.launch @sweep grid(%g) ins(%a, %b, %x : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>)
        outs(%t : tensor<?xf32>) -> tensor<?xf32>
    %e = tensor.empty() : tensor<f32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %d = tile.launch @distance grid(%g) ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%z : tensor<f32>) -> tensor<f32>
    %s = tensor.extract %d[] : tensor<f32>
    %next = arith.addi %i, %c1 : index
    scf.yield %y, %x, %s, %next : tensor<?xf32>, tensor<?xf32>, f32, index
  }
  return %r#0, %r#3 : tensor<?xf32>, index
}

tile.kernel private @sweep(memref<?x?xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>)

// outs is read and written: the sum arrives by combining stores of all programs.
tile.kernel private @distance(%x: memref<?xf32>, %y: memref<?xf32>, %sum: memref<f32>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<64xf32>
  %Y = tile.view %y : memref<?xf32> to !tile.view<64xf32>
  %S = tile.view %sum : memref<f32> to !tile.view<f32>
  %a = tile.load %X[%i] : !tile.view<64xf32> -> tensor<64xf32>
  %b = tile.load %Y[%i] : !tile.view<64xf32> -> tensor<64xf32>
  %d = arith.subf %a, %b : tensor<64xf32>
  %d2 = arith.mulf %d, %d : tensor<64xf32>
  %s = tile.reduce {arith.addf} %d2 axes [0] : tensor<64xf32> -> f32
  tile.store %s, %S[] combine(add) : f32, !tile.view<f32>
  tile.return
}

// CHECK: tile.launch @sweep grid(%{{.*}}) ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) outs(%{{.*}} : tensor<?xf32>) -> tensor<?xf32>
// CHECK: tile.store %{{.*}}, %{{.*}}[] combine(add) : f32, !tile.view<f32>
