// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %python %source/test/run/check.py %tile_run %s --check-against=interpret
// bf16 (which travels as uint16) moves bit for bit in vectors of odd length, masked ones too: subnormals, signalling NaN.
// in: (np.arange(23) * 0x1001 + np.where(np.arange(23) % 3, 0, 0x7f81)).astype(np.uint16), np.arange(22, 4, -2).astype(i32), np.arange(9) % 3 != 0, *[np.zeros(n, np.uint16) for n in (23, 9, 23, (7, 3), 23)]
// in: np.array([1, 0x8001, 0x7f, 0x807f, 0x40] * 4 + [2, 3, 4], dtype=np.uint16), np.array([3, 22, 7, 0, 21, 20, 1, 9, 11], dtype=i32), np.arange(9) % 2 == 0, *[np.full(n, 7, np.uint16) for n in (23, 9, 23, (7, 3), 23)]
// expect: x0
// expect: x1
// expect: x2
// expect: x0
// expect: np.where(x2, x0[x1], 0x8001)
// expect: [x0[list(x1).index(i)] if i in x1[x2] else x5[i] for i in range(23)]
// expect: x0[:21].reshape(3, 7).T
// expect: np.where(np.arange(23) < 18, x0, x7)
// tolerance: 0
tile.kernel @odd(%x: memref<23xbf16>, %places: memref<9xi32>, %mask: memref<9xi1>, %copy: memref<23xbf16>, %gathered: memref<9xbf16>, %scattered: memref<23xbf16>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<23xbf16> to !tile.view<9xbf16>
  %C = tile.view %copy : memref<23xbf16> to !tile.view<9xbf16>
  %a = tile.load %X[%i] : !tile.view<9xbf16> -> tensor<9xbf16>
  tile.store %a, %C[%i] : tensor<9xbf16>, !tile.view<9xbf16>
  %c0 = arith.constant 0 : index
  %first = arith.cmpi eq, %i, %c0 : index
  scf.if %first {
    %P = tile.view %places : memref<9xi32> to !tile.view<9xi32>
    %M = tile.view %mask : memref<9xi1> to !tile.view<9xi1>
    %G = tile.view %gathered : memref<9xbf16> to !tile.view<9xbf16>
    %p = tile.load %P[%c0] : !tile.view<9xi32> -> tensor<9xi32>
    %m = tile.load %M[%c0] : !tile.view<9xi1> -> tensor<9xi1>
    %least = arith.constant dense<0x8001> : tensor<9xbf16>
    %g = tile.gather %x[%p] mask %m other %least bounds(trap) : memref<23xbf16>[tensor<9xi32>] -> tensor<9xbf16>
    tile.store %g, %G[%c0] : tensor<9xbf16>, !tile.view<9xbf16>
    tile.scatter %a, %scattered[%p] mask %m bounds(trap) : tensor<9xbf16>, memref<23xbf16>[tensor<9xi32>]
  }
  tile.return
}
tile.kernel @rows(%x: memref<23xbf16>, %turned: memref<7x3xbf16>, %carried: memref<23xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %X = tile.view %x : memref<23xbf16> to !tile.view<7xbf16>
  %T = tile.view %turned : memref<7x3xbf16> to !tile.view<7x1xbf16>
  scf.for %i = %c0 to %c3 step %c1 {
    %a = tile.load %X[%i] : !tile.view<7xbf16> -> tensor<7xbf16>
    %column = tile.reshape %a : tensor<7xbf16> -> tensor<7x1xbf16>
    tile.store %column, %T[%c0, %i] : tensor<7x1xbf16>, !tile.view<7x1xbf16>
  }
  %Y = tile.view %x : memref<23xbf16> to !tile.view<9xbf16>
  %C = tile.view %carried : memref<23xbf16> to !tile.view<9xbf16>
  %start = tile.load %Y[%c0] : !tile.view<9xbf16> -> tensor<9xbf16>
  %c2 = arith.constant 2 : index
  // What one round has loaded, the next one stores.
  %last = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %start) -> (tensor<9xbf16>) {
    tile.store %a, %C[%i] : tensor<9xbf16>, !tile.view<9xbf16>
    %j = arith.addi %i, %c1 : index
    %b = tile.load %Y[%j] : !tile.view<9xbf16> -> tensor<9xbf16>
    scf.yield %b : tensor<9xbf16>
  }
  tile.return
}
func.func @main(%x: memref<23xbf16>, %places: memref<9xi32>, %mask: memref<9xi1>, %copy: memref<23xbf16>, %gathered: memref<9xbf16>, %scattered: memref<23xbf16>, %turned: memref<7x3xbf16>, %carried: memref<23xbf16>) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  tile.launch @odd grid(%c3) ins(%x, %places, %mask : memref<23xbf16>, memref<9xi32>, memref<9xi1>) outs(%copy, %gathered, %scattered : memref<23xbf16>, memref<9xbf16>, memref<23xbf16>)
  tile.launch @rows grid(%c1) ins(%x : memref<23xbf16>) outs(%turned, %carried : memref<7x3xbf16>, memref<23xbf16>)
  return
}
