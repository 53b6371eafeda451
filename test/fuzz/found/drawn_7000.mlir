// Kernel 7000 of test/python/kernel/draw.py, cut down: wrong on the CPU: the beginning of rows in registers was stored with their end.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu,emulate:sm_80,emulate:gfx942 --replay %s
// in: normal f32 11x5 1
// in: normal f32 11x5 2
// in: value:3 index - 0
// in: value:2 index - 0
tile.kernel private @a4(%arg0: memref<?x?xf32> {llvm.noalias}, %arg1: memref<?x?xf32> {llvm.noalias}) {
  %0 = tile.program_id 0
  %1 = tile.program_id 1
  %2 = tile.view %arg0 : memref<?x?xf32> to !tile.view<4x3xf32>
  %3 = tile.load %2[%1, %0] : !tile.view<4x3xf32> -> tensor<4x3xf32>
  %c2 = arith.constant 2 : index
  %4 = arith.addi %0, %c2 : index
  %c1 = arith.constant 1 : index
  %c1_0 = arith.constant 1 : index
  %5 = scf.for %arg3 = %c1 to %4 step %c1_0 iter_args(%arg4 = %3) -> (tensor<4x3xf32>) {
    %cst = arith.constant 5.000000e-01 : f32
    %10 = tile.broadcast %cst : f32 -> tensor<4x3xf32>
    %11 = arith.addf %arg4, %10 : tensor<4x3xf32>
    scf.yield %11 : tensor<4x3xf32>
  }
  %6 = tile.slice %5[0, 2] : tensor<4x3xf32> -> tensor<4x1xf32>
  %7 = tile.slice %5[0, 0] : tensor<4x3xf32> -> tensor<4x2xf32>
  %8 = tile.cat %6, %7 axis 1 : tensor<4x1xf32>, tensor<4x2xf32> -> tensor<4x3xf32>
  %9 = tile.view %arg1 : memref<?x?xf32> to !tile.view<4x3xf32>
  tile.store %8, %9[%0, %1] : tensor<4x3xf32>, !tile.view<4x3xf32>
  tile.return
}
func.func @main(%arg0: memref<?x?xf32>, %arg1: memref<?x?xf32>, %arg2: index, %arg3: index) {
  tile.launch @a4 grid(%arg2, %arg3) ins(%arg0 : memref<?x?xf32>) outs(%arg1 : memref<?x?xf32>)
  return
}
