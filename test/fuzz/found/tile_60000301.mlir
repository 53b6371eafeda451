// Program 60000301 of the fuzzer, cut down: LLVM died on CPUs with AVX512_BF16: it compared numbers of f64 as the bf16 that they were.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu --replay %s
// in: normal bf16 3x9 276644
// in: normal i8 3x9 387431
tile.kernel @k(%v2: memref<3x9xbf16>, %v4: memref<3x9xi8>) {
  %v6 = tile.program_id 0
  %c0 = arith.constant 0 : index
  %v17 = tile.view %v2 : memref<3x9xbf16> to !tile.view<3x9xbf16>
  %v18 = tile.load %v17[%v6, %c0] : !tile.view<3x9xbf16> -> tensor<3x9xbf16>
  %v34 = tile.convert_type %v18 saturate : tensor<3x9xbf16> -> tensor<3x9xi8>
  %v37 = tile.view %v4 : memref<3x9xi8> to !tile.view<3x9xi8>
  tile.store %v34, %v37[%v6, %c0] : tensor<3x9xi8>, !tile.view<3x9xi8>
  tile.return
}
func.func @main(%v2: memref<3x9xbf16>, %v4: memref<3x9xi8>) {
  %v6 = arith.constant 1 : index
  tile.launch @k grid(%v6) ins(%v2 : memref<3x9xbf16>) outs(%v4 : memref<3x9xi8>)
  return 
}
