// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

// What:   C = A · dequantize(W): int4 weights in groups of 128 with scale and zero point (GPTQ), W stored [n, k] packed.
// Level:  tile kernel.
// Shows:  `packed` says how a narrow element lies in its words; the view unpacks, the program sees tensor<…xi4>.
//         The layout below is the LOP3 order: element t of a word sits at nibble (t mod 2)·4 + t/2, so one mask gives two f16.
// Note:   dequantization is arith; where it happens (global, shared, register) is the schedule's decision (Ladder).

#lop3 = #tile.layout<offset [4:d1*2, 2:d1]>   // one 32-bit word: nibble number -> k within the word

tile.kernel @gemm_w4a16(%a: memref<?x?xf16>, %w: memref<?x?xi32>, %scale: memref<?x?xf16>, %zp: memref<?x?xi8>, %c: memref<?x?xf16>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<64x128xf16>
  %W = tile.view %w : memref<?x?xi32> to !tile.view<128x128xi4, packed = #lop3>
  %C = tile.view %c : memref<?x?xf16> to !tile.view<64x128xf16>
  %nk = tile.num_tiles %A dim 1 : !tile.view<64x128xf16>
  %acc = scf.for %k = %c0 to %nk step %c1 iter_args(%t = %zero) -> (tensor<64x128xf32>) {
    %x = tile.load %A[%i, %k] : !tile.view<64x128xf16> -> tensor<64x128xf16>
    %q = tile.load %W[%j, %k] : !tile.view<128x128xi4, packed = #lop3> -> tensor<128x128xi4>
    %S = tile.view %scale[_, %k] : memref<?x?xf16> to !tile.view<128xf16>
    %Z = tile.view %zp[_, %k] : memref<?x?xi8> to !tile.view<128xi8>
    %s1 = tile.load %S[%j] : !tile.view<128xf16> -> tensor<128xf16>
    %z1 = tile.load %Z[%j] : !tile.view<128xi8> -> tensor<128xi8>
    %zf = arith.uitofp %z1 : tensor<128xi8> to tensor<128xf16>
    %s = tile.broadcast %s1 axes [1] : tensor<128xf16> -> tensor<128x128xf16>
    %z = tile.broadcast %zf axes [1] : tensor<128xf16> -> tensor<128x128xf16>
    %qf = arith.uitofp %q : tensor<128x128xi4> to tensor<128x128xf16>
    %qz = arith.subf %qf, %z : tensor<128x128xf16>
    %wf = arith.mulf %qz, %s : tensor<128x128xf16>
    %wt = tile.transpose %wf [1, 0] : tensor<128x128xf16> -> tensor<128x128xf16>
    %u = tile.mma %x, %wt, %t : tensor<64x128xf16>, tensor<128x128xf16> -> tensor<64x128xf32>
    scf.yield %u : tensor<64x128xf32>
  }
  %o = arith.truncf %acc : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %o, %C[%i, %j] : tensor<64x128xf16>, !tile.view<64x128xf16>
  tile.return
}

// CHECK: #tile.layout<offset [4:d1*2, 2:d1]>
// CHECK: packed = #
// CHECK: tile.view %{{.*}}[_, %{{.*}}] : memref<?x?xf16> to !tile.view<128xf16>
// CHECK: tile.transpose %{{.*}} [1, 0] : tensor<128x128xf16> -> tensor<128x128xf16>
