// Program 208 of the fuzzer, cut down: a reshape to a scalar, which a reduction of one element folds to, was refused.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu --replay %s
// in: normal f32 1x1 3
// in: normal f32 1 4
tile.kernel @k208_0(%v0: memref<?x1xf32>, %v1: memref<?xf32>) {
  %v2 = tile.program_id 0
  %v3 = tile.view %v0 : memref<?x1xf32> to !tile.view<1x1xf32>
  %v4 = tile.load %v3[%v2, %v2] : !tile.view<1x1xf32> -> tensor<1x1xf32>
  %v5 = math.exp %v4 : tensor<1x1xf32>
  %v6 = tile.reduce {arith.addf} %v5 axes [0, 1] : tensor<1x1xf32> -> f32
  memref.store %v6, %v1[%v2] : memref<?xf32>
  tile.return
}
func.func @main(%v0: memref<?x1xf32>, %v1: memref<?xf32>) {
  %v2 = arith.constant 1 : index
  tile.launch @k208_0 grid(%v2) ins(%v0 : memref<?x1xf32>) outs(%v1 : memref<?xf32>)
  return
}
