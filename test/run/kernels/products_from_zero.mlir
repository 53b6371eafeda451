// Products of groups of warps that begin with zeros, from shared memory and from registers, in several rounds: what the
// sums held before is not read. (a b) c, where the scores are rounded to f16.
// RUN: %tile_run %s --target=emulate:sm_90a --check-against=interpret | FileCheck %s
// CHECK: result 0: right
#acc = #tile.layout<reg [2:d1, 2:d0*8, 8:d1*8], lane [4:d1*2, 8:d0], warp [4:d0*16]>
#s = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>
tile.kernel @chain(%a: memref<64x64xf16>, %b: memref<192x64xf16>, %c: memref<64x64xf16>, %y: memref<192x64xf32>)
    attributes {machine = #tile.machine<"sm_90a">, warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %As = tile.alloc : !tile.buffer<64x64xf16, #s, shared>
  %Bs = tile.alloc : !tile.buffer<64x64xf16, #s, shared>
  %Cs = tile.alloc : !tile.buffer<64x64xf16, #s, shared>
  %A = tile.view %a : memref<64x64xf16> to !tile.view<64x64xf16>
  %B = tile.view %b : memref<192x64xf16> to !tile.view<64x64xf16>
  %C = tile.view %c : memref<64x64xf16> to !tile.view<64x64xf16>
  %Y = tile.view %y : memref<192x64xf32> to !tile.view<64x64xf32>
  %ta = tile.load %A[%c0, %c0] : !tile.view<64x64xf16> -> tensor<64x64xf16, #acc>
  %tc = tile.load %C[%c0, %c0] : !tile.view<64x64xf16> -> tensor<64x64xf16, #acc>
  tile.store %ta, %As : tensor<64x64xf16, #acc>, !tile.buffer<64x64xf16, #s, shared>
  tile.store %tc, %Cs : tensor<64x64xf16, #acc>, !tile.buffer<64x64xf16, #s, shared>
  scf.for %k = %c0 to %c3 step %c1 {
    %tb = tile.load %B[%k, %c0] : !tile.view<64x64xf16> -> tensor<64x64xf16, #acc>
    tile.store %tb, %Bs : tensor<64x64xf16, #acc>, !tile.buffer<64x64xf16, #s, shared>
    tile.fence async
    tile.sync
    %u = tile.mma_async %As, %Bs, %zero atom "wgmma.m64n64k16"
        : !tile.buffer<64x64xf16, #s, shared>, !tile.buffer<64x64xf16, #s, shared> -> tensor<64x64xf32, #acc>
    %v = tile.mma_wait %u pending 0 : tensor<64x64xf32, #acc>
    %h = arith.truncf %v : tensor<64x64xf32, #acc> to tensor<64x64xf16, #acc>
    %w = tile.mma_async %h, %Cs, %zero atom "wgmma.m64n64k16"
        : tensor<64x64xf16, #acc>, !tile.buffer<64x64xf16, #s, shared> -> tensor<64x64xf32, #acc>
    %x = tile.mma_wait %w pending 0 : tensor<64x64xf32, #acc>
    tile.store %x, %Y[%k, %c0] : tensor<64x64xf32, #acc>, !tile.view<64x64xf32>
    tile.sync
  }
  tile.return
}
func.func @main(%a: tensor<64x64xf16>, %b: tensor<192x64xf16>, %c: tensor<64x64xf16>, %y: tensor<192x64xf32>) -> tensor<192x64xf32> {
  %c1 = arith.constant 1 : index
  %r = tile.launch @chain grid(%c1) ins(%a, %b, %c : tensor<64x64xf16>, tensor<192x64xf16>, tensor<64x64xf16>) outs(%y : tensor<192x64xf32>) -> tensor<192x64xf32>
  return %r : tensor<192x64xf32>
}
