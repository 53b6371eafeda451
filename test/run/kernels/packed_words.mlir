// A product by nibbles in the order of LOP3, written by hand: each thread loads a word of eight codes once. Two programs read
// all rows, and their columns' codes, scales and zeros: 64 x 512 x 2 twice, 128 x 512 / 2, 128 x 4 x 3 are 165,376 bytes.
// RUN: %tile_run %s --target=interpret --target=emulate:sm_80 --target=emulate:gfx942 --seed=3 | FileCheck %s
// CHECK-NOT: wrong,
// CHECK: emulate:gfx942: argument 4: right
// RUN: %tile_run %s --target=emulate:sm_80 --seed=3 --stats=%t.nvidia.json && FileCheck %s --check-prefix=BYTES < %t.nvidia.json
// RUN: %tile_run %s --target=emulate:gfx942 --seed=3 --stats=%t.amd.json && FileCheck %s --check-prefix=BYTES < %t.amd.json
// BYTES: "global_bytes_read": 17{{[0-9]+}},
#lop3 = #tile.layout<offset [4:d1*2, 2:d1]>   // one 32-bit word: nibble number -> k within the word

tile.kernel @gemm_w4a16(%a: memref<?x?xf16>, %w: memref<?x?xi32>, %scale: memref<?x?xf16>, %zp: memref<?x?xi8>, %c: memref<?x?xf16>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<64x64xf16>
  %W = tile.view %w : memref<?x?xi32> to !tile.view<64x64xi4, packed = #lop3>
  %C = tile.view %c : memref<?x?xf16> to !tile.view<64x64xf16>
  %nk = tile.num_tiles %A dim 1 : !tile.view<64x64xf16>
  %acc = scf.for %k = %c0 to %nk step %c1 iter_args(%t = %zero) -> (tensor<64x64xf32>) {
    %x = tile.load %A[%i, %k] : !tile.view<64x64xf16> -> tensor<64x64xf16>
    %q = tile.load %W[%j, %k] : !tile.view<64x64xi4, packed = #lop3> -> tensor<64x64xi4>
    %c2 = arith.constant 2 : index
    %g = arith.divui %k, %c2 : index
    %S = tile.view %scale[_, %g] : memref<?x?xf16> to !tile.view<64xf16>
    %Z = tile.view %zp[_, %g] : memref<?x?xi8> to !tile.view<64xi8>
    %s1 = tile.load %S[%j] : !tile.view<64xf16> -> tensor<64xf16>
    %z1 = tile.load %Z[%j] : !tile.view<64xi8> -> tensor<64xi8>
    %zf = arith.uitofp %z1 : tensor<64xi8> to tensor<64xf16>
    %s = tile.broadcast %s1 axes [1] : tensor<64xf16> -> tensor<64x64xf16>
    %z = tile.broadcast %zf axes [1] : tensor<64xf16> -> tensor<64x64xf16>
    %qf = arith.uitofp %q : tensor<64x64xi4> to tensor<64x64xf16>
    %qz = arith.subf %qf, %z : tensor<64x64xf16>
    %wf = arith.mulf %qz, %s : tensor<64x64xf16>
    %wt = tile.transpose %wf [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %u = tile.mma %x, %wt, %t : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %u : tensor<64x64xf32>
  }
  %o = arith.truncf %acc : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %o, %C[%i, %j] : tensor<64x64xf16>, !tile.view<64x64xf16>
  tile.return
}

func.func @main(%a: memref<64x512xf16>, %w: memref<128x64xi32>, %s: memref<128x4xf16>, %z: memref<128x4xi8>, %c: memref<64x128xf16>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ad = memref.cast %a : memref<64x512xf16> to memref<?x?xf16>
  %wd = memref.cast %w : memref<128x64xi32> to memref<?x?xi32>
  %sd = memref.cast %s : memref<128x4xf16> to memref<?x?xf16>
  %zd = memref.cast %z : memref<128x4xi8> to memref<?x?xi8>
  %cd = memref.cast %c : memref<64x128xf16> to memref<?x?xf16>
  tile.launch @gemm_w4a16 grid(%c1, %c2) ins(%ad, %wd, %sd, %zd : memref<?x?xf16>, memref<?x?xi32>, memref<?x?xf16>, memref<?x?xi8>) outs(%cd : memref<?x?xf16>)
  return
}
