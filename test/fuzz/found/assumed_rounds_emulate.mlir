// Out of bounds on GPUs: copies ahead of rounds past the end lost the masks that what is assumed of a round's number makes needless.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu,emulate:sm_80,emulate:sm_90a,emulate:gfx942 --replay %s
// in: normal f16 64x128 1
// in: normal f16 128x64 2
// in: zeros f32 64x64 3
tile.kernel private @k(%a: memref<64x128xf16>, %b: memref<128x64xf16>, %c: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %A = tile.view %a : memref<64x128xf16> to !tile.view<64x32xf16>
  %B = tile.view %b : memref<128x64xf16> to !tile.view<32x64xf16>
  %s = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %z) -> (tensor<64x64xf32>) {
    %j = tile.assume %i range [0, 3] : index
    %x = tile.load %A[%c0, %j] : !tile.view<64x32xf16> -> tensor<64x32xf16>
    %y = tile.load %B[%j, %c0] : !tile.view<32x64xf16> -> tensor<32x64xf16>
    %n = tile.mma %x, %y, %acc : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  %C = tile.view %c : memref<64x64xf32> to !tile.view<64x64xf32>
  tile.store %s, %C[%c0, %c0] : tensor<64x64xf32>, !tile.view<64x64xf32>
  tile.return
}
func.func @main(%a: memref<64x128xf16>, %b: memref<128x64xf16>, %c: memref<64x64xf32>) {
  %c1 = arith.constant 1 : index
  tile.launch @k grid(%c1) ins(%a, %b : memref<64x128xf16>, memref<128x64xf16>) outs(%c : memref<64x64xf32>)
  return
}
