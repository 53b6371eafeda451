// Program 378 of the fuzzer, cut down: wrong on cpu. 
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu --replay %s
// in: normal f32 1x24 97514
// in: normal i8 1x1x3x8 251548
tile.kernel @k378_0(%v0: memref<?x?xf32>) {
  %v1 = tile.program_id 0
  %v2 = arith.constant dense<0.0> : tensor<1xf32>
  %v3 = tile.scan {arith.maxnumf} %v2 axis 0 reverse exclusive : tensor<1xf32>
  %v4 = tile.view %v0[%v1, _] : memref<?x?xf32> to !tile.view<1xf32>
  tile.store %v3, %v4[%v1] : tensor<1xf32>, !tile.view<1xf32>
  tile.return
}
func.func @main(%v0: memref<?x?xf32>, %v1: tensor<?x?x3x8xi8>) -> (tensor<?x?x3x8xi8>) {
  %v2 = arith.constant 1 : index
  tile.launch @k378_0 grid(%v2) outs(%v0 : memref<?x?xf32>)
  return %v1 : tensor<?x?x3x8xi8>
}
