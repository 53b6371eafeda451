// Ops with two results run on every target: the low and the high half of products, signed and not, of narrow and wide
// integers, and sums with their carry. Tiles end beyond the memory.
// RUN: %tile_run %s --target=cpu --target=emulate:sm_80 --target=emulate:gfx942 --check-against=interpret | FileCheck %s
// RUN: %tile_translate %s --tile-to-cuda-source | FileCheck %s --check-prefix=SOURCE
// RUN: %tile_translate %s --tile-to-hip-source | FileCheck %s --check-prefix=SOURCE
// SOURCE: >> 32
// CHECK-COUNT-15: argument {{[0-4]}}: right
tile.kernel private @i32(%x: memref<100xi32>, %y: memref<100xi32>, %z: memref<100xi32>) {
  %p = tile.program_id 0
  %X = tile.view %x : memref<100xi32> to !tile.view<64xi32>
  %Y = tile.view %y : memref<100xi32> to !tile.view<64xi32>
  %Z = tile.view %z : memref<100xi32> to !tile.view<64xi32>
  %a = tile.load %X[%p] : !tile.view<64xi32> -> tensor<64xi32>
  %b = tile.load %Y[%p] : !tile.view<64xi32> -> tensor<64xi32>
  %k = arith.constant dense<-1640531527> : tensor<64xi32>
  %m = arith.muli %a, %k : tensor<64xi32>
  %o = arith.xori %b, %k : tensor<64xi32>
  %low, %high = arith.mului_extended %m, %o : tensor<64xi32>
  %slow, %shigh = arith.mulsi_extended %a, %low : tensor<64xi32>
  %sum, %carry = arith.addui_extended %high, %shigh : tensor<64xi32>, tensor<64xi1>
  %one = arith.extui %carry : tensor<64xi1> to tensor<64xi32>
  %s = arith.xori %sum, %slow : tensor<64xi32>
  %t = arith.addi %s, %one : tensor<64xi32>
  tile.store %t, %Z[%p] : tensor<64xi32>, !tile.view<64xi32>
  tile.return
}
tile.kernel private @i64(%x: memref<100xi64>, %z: memref<100xi64>) {
  %p = tile.program_id 0
  %X = tile.view %x : memref<100xi64> to !tile.view<64xi64>
  %Z = tile.view %z : memref<100xi64> to !tile.view<64xi64>
  %a = tile.load %X[%p] : !tile.view<64xi64> -> tensor<64xi64>
  %k = arith.constant dense<-7046029254386353131> : tensor<64xi64>
  %m = arith.muli %a, %k : tensor<64xi64>
  %low, %high = arith.mului_extended %m, %k : tensor<64xi64>
  %slow, %shigh = arith.mulsi_extended %low, %m : tensor<64xi64>
  %s = arith.xori %high, %shigh : tensor<64xi64>
  tile.store %s, %Z[%p] : tensor<64xi64>, !tile.view<64xi64>
  tile.return
}
func.func @main(%x: memref<100xi32>, %y: memref<100xi32>, %z: memref<100xi32>, %w: memref<100xi64>, %v: memref<100xi64>) {
  %c2 = arith.constant 2 : index
  tile.launch @i32 grid(%c2) ins(%x, %y : memref<100xi32>, memref<100xi32>) outs(%z : memref<100xi32>)
  tile.launch @i64 grid(%c2) ins(%w : memref<100xi64>) outs(%v : memref<100xi64>)
  return
}
