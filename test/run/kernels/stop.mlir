// A tile.print with `stop` prints nothing on any target: whoever embeds the interpreter sees the values
// (test/python/kernel/test_breakpoints.py).
// RUN: %tile_run %s --target=cpu --target=interpret --target=emulate:sm_80 --target=emulate:gfx942 | FileCheck %s --implicit-check-not=stopped
// CHECK: before 7
// CHECK: cpu: result 0: right
tile.kernel @k(%x: memref<5xi32>, %y: memref<5xi32>) {
  %X = tile.view %x : memref<5xi32> to !tile.view<5xi32>
  %Y = tile.view %y : memref<5xi32> to !tile.view<5xi32>
  %c0 = arith.constant 0 : index
  %seven = arith.constant 7 : i32
  %v = tile.load %X[%c0] : !tile.view<5xi32> -> tensor<5xi32>
  tile.print "before {}", %seven : i32
  tile.print "stopped {}", %v {stop = 3} : tensor<5xi32>
  tile.store %v, %Y[%c0] : tensor<5xi32>, !tile.view<5xi32>
  tile.return
}
func.func @main(%x: tensor<5xi32>) -> tensor<5xi32> {
  %one = arith.constant 1 : index
  %e = tensor.empty() : tensor<5xi32>
  %r = tile.launch @k grid(%one) ins(%x : tensor<5xi32>) outs(%e : tensor<5xi32>) -> tensor<5xi32>
  return %r : tensor<5xi32>
}
