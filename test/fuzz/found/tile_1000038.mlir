// Program 1000038 of the fuzzer, cut down: LLVM keeps the bf16 that topk gives in an f32 register and rounds it back by
// __truncsfbf2 where the processor (x86-64-v3) has no instruction for it.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu,emulate:sm_80,emulate:gfx942 --replay %s | FileCheck %s
// CHECK-COUNT-3: right
// RUN: %tile_translate %s --tile-to-program --cpu=x86-64-v3 -o %t.so && llvm-nm -D %t.so | FileCheck %s --check-prefix=CALLS
// CALLS: U __truncsfbf2
// RUN: %tile_run %s --target=interpret --out=%t.npy --seed=3 && %tile_exec %t.so --seed=3 --check-against=%t.npy
// in: normal bf16 2x1x1 971788
tile.kernel @k1000038_0(%v0: memref<2x?x?xbf16>) attributes {warps = 2 : i32} {
  %v1 = tile.program_id 0
  %v2 = arith.constant dense<0.0> : tensor<2xbf16>
  %v3, %v4 = tile.topk %v2, %v2 axis 0 : tensor<2xbf16>, tensor<2xbf16> -> tensor<2xbf16>, tensor<2xbf16>
  %v5, %v6 = tile.topk %v3, %v4 axis 0 descending : tensor<2xbf16>, tensor<2xbf16> -> tensor<1xbf16>, tensor<1xbf16>
  %v7 = tile.broadcast %v5 axes [0] : tensor<1xbf16> -> tensor<1x1xbf16>
  %v8 = tile.view %v0[%v1, _, _] : memref<2x?x?xbf16> to !tile.view<1x1xbf16>
  tile.store %v7, %v8[%v1, %v1] : tensor<1x1xbf16>, !tile.view<1x1xbf16>
  tile.return
}
func.func @main(%v0: memref<2x?x?xbf16>) {
  %v1 = arith.constant 2 : index
  tile.launch @k1000038_0 grid(%v1) outs(%v0 : memref<2x?x?xbf16>)
  return 
}
