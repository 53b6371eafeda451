// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

// What:   C = relu(A·B + bias) with dynamic M, N, K; f16 in and out, f32 accumulation.
// Level:  tile kernel.
// Shows:  views mask the edges of all three sizes (K by zero padding); the epilogue is plain arith on the accumulator;
//         tile.assume states what alignment the caller guarantees (the interpreter checks it, layouts and TMA need it);
//         block order (grouping for L2) is the schedule's business, not the program's: see #tile.schedule below.

#schedule = #tile.schedule<block = [128, 128, 32], warps = [2, 2, 1], stages = 3, group = [8, 1]>

tile.kernel @gemm_bias_relu(%a_: memref<?x?xf16>, %b_: memref<?x?xf16>, %bias: memref<?xf32>, %c: memref<?x?xf16>)
    attributes {schedule = #schedule} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %a = tile.assume %a_ align 16 strides [8, 1] : memref<?x?xf16>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf16>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<128x32xf16>
  %B = tile.view %b : memref<?x?xf16> to !tile.view<32x128xf16>
  %V = tile.view %bias : memref<?xf32> to !tile.view<128xf32>
  %C = tile.view %c : memref<?x?xf16> to !tile.view<128x128xf16>
  %nk = tile.num_tiles %A dim 1 : !tile.view<128x32xf16>

  %acc = scf.for %k = %c0 to %nk step %c1 iter_args(%s = %zero) -> (tensor<128x128xf32>) {
    %x = tile.load %A[%i, %k] : !tile.view<128x32xf16> -> tensor<128x32xf16>
    %w = tile.load %B[%k, %j] : !tile.view<32x128xf16> -> tensor<32x128xf16>
    %t = tile.mma %x, %w, %s : tensor<128x32xf16>, tensor<32x128xf16> -> tensor<128x128xf32>
    scf.yield %t : tensor<128x128xf32>
  }

  %v = tile.load %V[%j] : !tile.view<128xf32> -> tensor<128xf32>
  %vb = tile.broadcast %v axes [0] : tensor<128xf32> -> tensor<128x128xf32>
  %sum = arith.addf %acc, %vb : tensor<128x128xf32>
  %pos = arith.maximumf %sum, %zero : tensor<128x128xf32>
  %out = arith.truncf %pos : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %out, %C[%i, %j] : tensor<128x128xf16>, !tile.view<128x128xf16>
  tile.return
}

// CHECK: #tile.schedule<block = [128, 128, 32], warps = [2, 2, 1], stages = 3, group = [8, 1]>
// CHECK: tile.kernel @gemm_bias_relu(%{{.*}}: memref<?x?xf16>
// CHECK: attributes {schedule = #schedule}
// CHECK: tile.assume %{{.*}} align 16 strides [8, 1] : memref<?x?xf16>
// CHECK: tile.num_tiles %{{.*}} dim 1 : !tile.view<128x32xf16>
// CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} : tensor<128x32xf16>, tensor<32x128xf16> -> tensor<128x128xf32>
