// Rows of 16 and of 32 numbers that are looked up along themselves: whole vectors are permuted in registers, the rest goes
// number by number. Numbers beyond either end take the nearest.
// RUN: %python %source/test/run/check.py %tile_run %s --check-against=interpret
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-set-machine{chip=x86-64-v4},convert-tile-to-vector)' | FileCheck %s --check-prefix=WIDE
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-set-machine{chip=x86-64-v3},convert-tile-to-vector)' | FileCheck %s --check-prefix=HALF
// WIDE-DAG: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"
// WIDE-DAG: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.ps.512"
// HALF-NOT: llvm.call_intrinsic
// in: normal(5, 16), np.arange(5 * 41, dtype=np.int32).reshape(5, 41) * 7 % 23 - 3, normal(5, 32), np.arange(5 * 41, dtype=np.int32).reshape(5, 41) * 11 % 41 - 4
// expect: np.take_along_axis(x0, np.clip(x1, 0, 15).astype(np.int64), 1)
// expect: np.take_along_axis(x2, np.clip(x3, 0, 31).astype(np.int64), 1)
func.func @main(%t: tensor<5x16xf32>, %i: tensor<5x41xi32>, %u: tensor<5x32xf32>, %j: tensor<5x41xi32>) -> (tensor<5x41xf32>, tensor<5x41xf32>) {
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<5x41xf32>
  %r = tile.launch @look_up grid(%c1) ins(%t, %i : tensor<5x16xf32>, tensor<5x41xi32>) outs(%e : tensor<5x41xf32>) -> tensor<5x41xf32>
  %s = tile.launch @look_up_wide grid(%c1) ins(%u, %j : tensor<5x32xf32>, tensor<5x41xi32>) outs(%e : tensor<5x41xf32>) -> tensor<5x41xf32>
  return %r, %s : tensor<5x41xf32>, tensor<5x41xf32>
}

tile.kernel @look_up(%t: memref<5x16xf32>, %i: memref<5x41xi32>, %r: memref<5x41xf32>) {
  %c0 = arith.constant 0 : index
  %T = tile.view %t : memref<5x16xf32> to !tile.view<5x16xf32>
  %I = tile.view %i : memref<5x41xi32> to !tile.view<5x41xi32>
  %R = tile.view %r : memref<5x41xf32> to !tile.view<5x41xf32>
  %row = tile.load %T[%c0, %c0] : !tile.view<5x16xf32> -> tensor<5x16xf32>
  %n = tile.load %I[%c0, %c0] : !tile.view<5x41xi32> -> tensor<5x41xi32>
  %v = tile.gather %row[%n] axis 1 bounds(clamp) : tensor<5x16xf32>[tensor<5x41xi32>] -> tensor<5x41xf32>
  tile.store %v, %R[%c0, %c0] : tensor<5x41xf32>, !tile.view<5x41xf32>
  tile.return
}

tile.kernel @look_up_wide(%t: memref<5x32xf32>, %i: memref<5x41xi32>, %r: memref<5x41xf32>) {
  %c0 = arith.constant 0 : index
  %T = tile.view %t : memref<5x32xf32> to !tile.view<5x32xf32>
  %I = tile.view %i : memref<5x41xi32> to !tile.view<5x41xi32>
  %R = tile.view %r : memref<5x41xf32> to !tile.view<5x41xf32>
  %row = tile.load %T[%c0, %c0] : !tile.view<5x32xf32> -> tensor<5x32xf32>
  %n = tile.load %I[%c0, %c0] : !tile.view<5x41xi32> -> tensor<5x41xi32>
  %v = tile.gather %row[%n] axis 1 bounds(clamp) : tensor<5x32xf32>[tensor<5x41xi32>] -> tensor<5x41xf32>
  tile.store %v, %R[%c0, %c0] : tensor<5x41xf32>, !tile.view<5x41xf32>
  tile.return
}
