// Program 37 of the fuzzer: log1p and expm1 of f64 cancelled near 0.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu --replay %s
// in: wild f64 500 448049
// in: zero f64 500 1
// in: zero f64 500 2
tile.kernel @k37_0(%x: memref<500xf64>, %y: memref<500xf64>, %z: memref<500xf64>) {
  %i = tile.program_id 0
  %small = arith.constant dense<1.0e-4> : tensor<500xf64>
  %X = tile.view %x : memref<500xf64> to !tile.view<500xf64>
  %Y = tile.view %y : memref<500xf64> to !tile.view<500xf64>
  %Z = tile.view %z : memref<500xf64> to !tile.view<500xf64>
  %v = tile.load %X[%i] : !tile.view<500xf64> -> tensor<500xf64>
  %s = arith.mulf %v, %small : tensor<500xf64>
  %l = math.log1p %s : tensor<500xf64>
  %e = math.expm1 %s : tensor<500xf64>
  tile.store %l, %Y[%i] : tensor<500xf64>, !tile.view<500xf64>
  tile.store %e, %Z[%i] : tensor<500xf64>, !tile.view<500xf64>
  tile.return
}
func.func @main(%x: memref<500xf64>, %y: memref<500xf64>, %z: memref<500xf64>) {
  %n = arith.constant 1 : index
  tile.launch @k37_0 grid(%n) ins(%x : memref<500xf64>) outs(%y, %z : memref<500xf64>, memref<500xf64>)
  return
}
