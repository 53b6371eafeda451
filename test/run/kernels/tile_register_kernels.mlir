// RUN: env LD_PRELOAD=%standins/tiles.so %python %source/test/run/check.py %tile_run %s --target=cpu
// RUN: env TESSERA_TILES=off LD_PRELOAD=%standins/tiles.so %python %source/test/run/check.py %tile_run %s --target=cpu
// RUN: %python %source/test/run/check.py %tile_run %s --target=interpret
// UNSUPPORTED: sanitizers
// REQUIRES: avx512
// Products of a kernel that name instructions on tile registers (AMX): batches; a start value; a second shape, which
// loads a configuration of its own; and sizes that no registers suit.
// in: integers(-128, 128, 2, 24, 96).astype(i8), integers(0, 256, 2, 96, 48).astype(np.uint8).view(i8), integers(-99, 99, 2, 24, 48), integers(0, 256, 7, 63).astype(np.uint8).view(i8), integers(0, 256, 63, 17).astype(np.uint8).view(i8), integers(0x3c00, 0x4000, 16, 64).astype(np.uint16), integers(0xbc00, 0xc000, 64, 16).astype(np.uint16)
// expect: x2 + x0.astype(i32) @ x1.view(np.uint8).astype(i32)
// expect: x3.view(np.uint8).astype(i32) @ x4.view(np.uint8).astype(i32)
// expect: (x5.astype(np.uint32) << 16).view(f32).astype(f64) @ (x6.astype(np.uint32) << 16).view(f32).astype(f64)
// tolerance: 1e-5
module attributes {tile.machine = #tile.machine<"x86-64-v4", "atom.vpdpbusd" = "1x16x4 i8,i8,i32">} {
  tile.kernel @products(%a: memref<2x24x96xi8>, %b: memref<2x96x48xi8>, %c: memref<2x24x48xi32>, %u: memref<7x63xi8>, %v: memref<63x17xi8>, %x: memref<16x64xbf16>, %y: memref<64x16xbf16>, %p: memref<2x24x48xi32>, %q: memref<7x17xi32>, %r: memref<16x16xf32>) {
    %i = arith.constant 0 : index
    %A = tile.view %a : memref<2x24x96xi8> to !tile.view<2x24x96xi8>
    %B = tile.view %b : memref<2x96x48xi8> to !tile.view<2x96x48xi8>
    %C = tile.view %c : memref<2x24x48xi32> to !tile.view<2x24x48xi32>
    %U = tile.view %u : memref<7x63xi8> to !tile.view<7x63xi8>
    %V = tile.view %v : memref<63x17xi8> to !tile.view<63x17xi8>
    %X = tile.view %x : memref<16x64xbf16> to !tile.view<16x64xbf16>
    %Y = tile.view %y : memref<64x16xbf16> to !tile.view<64x16xbf16>
    %P = tile.view %p : memref<2x24x48xi32> to !tile.view<2x24x48xi32>
    %Q = tile.view %q : memref<7x17xi32> to !tile.view<7x17xi32>
    %R = tile.view %r : memref<16x16xf32> to !tile.view<16x16xf32>
    %noInt = arith.constant dense<0> : tensor<7x17xi32>
    %noFloat = arith.constant dense<0.0> : tensor<16x16xf32>
    %ta = tile.load %A[%i, %i, %i] : !tile.view<2x24x96xi8> -> tensor<2x24x96xi8>
    %tb = tile.load %B[%i, %i, %i] : !tile.view<2x96x48xi8> -> tensor<2x96x48xi8>
    %tc = tile.load %C[%i, %i, %i] : !tile.view<2x24x48xi32> -> tensor<2x24x48xi32>
    %d = tile.mma %ta, %tb, %tc atom "tdpbsud" : tensor<2x24x96xi8>, tensor<2x96x48xi8> -> tensor<2x24x48xi32>
    tile.store %d, %P[%i, %i, %i] : tensor<2x24x48xi32>, !tile.view<2x24x48xi32>
    %tu = tile.load %U[%i, %i] : !tile.view<7x63xi8> -> tensor<7x63xi8>
    %tv = tile.load %V[%i, %i] : !tile.view<63x17xi8> -> tensor<63x17xi8>
    %e = tile.mma %tu, %tv, %noInt atom "tdpbuud" : tensor<7x63xi8>, tensor<63x17xi8> -> tensor<7x17xi32>
    tile.store %e, %Q[%i, %i] : tensor<7x17xi32>, !tile.view<7x17xi32>
    %tx = tile.load %X[%i, %i] : !tile.view<16x64xbf16> -> tensor<16x64xbf16>
    %ty = tile.load %Y[%i, %i] : !tile.view<64x16xbf16> -> tensor<64x16xbf16>
    %f = tile.mma %tx, %ty, %noFloat atom "tdpbf16ps" : tensor<16x64xbf16>, tensor<64x16xbf16> -> tensor<16x16xf32>
    tile.store %f, %R[%i, %i] : tensor<16x16xf32>, !tile.view<16x16xf32>
    tile.return
  }
  func.func @main(%a: memref<2x24x96xi8>, %b: memref<2x96x48xi8>, %c: memref<2x24x48xi32>, %u: memref<7x63xi8>, %v: memref<63x17xi8>, %x: memref<16x64xbf16>, %y: memref<64x16xbf16>) -> (memref<2x24x48xi32>, memref<7x17xi32>, memref<16x16xf32>) {
    %one = arith.constant 1 : index
    %p = memref.alloc() : memref<2x24x48xi32>
    %q = memref.alloc() : memref<7x17xi32>
    %r = memref.alloc() : memref<16x16xf32>
    tile.launch @products grid(%one) ins(%a, %b, %c, %u, %v, %x, %y : memref<2x24x96xi8>, memref<2x96x48xi8>, memref<2x24x48xi32>, memref<7x63xi8>, memref<63x17xi8>, memref<16x64xbf16>, memref<64x16xbf16>) outs(%p, %q, %r : memref<2x24x48xi32>, memref<7x17xi32>, memref<16x16xf32>)
    return %p, %q, %r : memref<2x24x48xi32>, memref<7x17xi32>, memref<16x16xf32>
  }
}
