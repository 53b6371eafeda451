// Conversions that arith does not say, bits as other elements.

tile.kernel @saturate(%x: memref<?xf32>, %h: memref<?xf16>, %b: memref<?xi8>, %n: memref<?xi32>, %w: memref<?xi64>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<19xf32>
  %H = tile.view %h : memref<?xf16> to !tile.view<19xf16>
  %B = tile.view %b : memref<?xi8> to !tile.view<19xi8>
  %N = tile.view %n : memref<?xi32> to !tile.view<19xi32>
  %W = tile.view %w : memref<?xi64> to !tile.view<19xi64>
  %v = tile.load %X[%i] : !tile.view<19xf32> -> tensor<19xf32>
  %f = tile.convert_type %v saturate : tensor<19xf32> -> tensor<19xf16>
  %c = tile.convert_type %v saturate : tensor<19xf32> -> tensor<19xi8>
  %d = tile.convert_type %v saturate : tensor<19xf32> -> tensor<19xi32>
  %e = tile.convert_type %v saturate : tensor<19xf32> -> tensor<19xi64>
  tile.store %f, %H[%i] : tensor<19xf16>, !tile.view<19xf16>
  tile.store %c, %B[%i] : tensor<19xi8>, !tile.view<19xi8>
  tile.store %d, %N[%i] : tensor<19xi32>, !tile.view<19xi32>
  tile.store %e, %W[%i] : tensor<19xi64>, !tile.view<19xi64>
  tile.return
}

tile.kernel @integers(%x: memref<?xi64>, %b: memref<?xi8>, %h: memref<?xf16>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xi64> to !tile.view<19xi64>
  %B = tile.view %b : memref<?xi8> to !tile.view<19xi8>
  %H = tile.view %h : memref<?xf16> to !tile.view<19xf16>
  %v = tile.load %X[%i] : !tile.view<19xi64> -> tensor<19xi64>
  %c = tile.convert_type %v saturate : tensor<19xi64> -> tensor<19xi8>
  %f = tile.convert_type %v saturate : tensor<19xi64> -> tensor<19xf16>
  tile.store %c, %B[%i] : tensor<19xi8>, !tile.view<19xi8>
  tile.store %f, %H[%i] : tensor<19xf16>, !tile.view<19xf16>
  tile.return
}

tile.kernel @stochastic(%x: memref<?xf32>, %bits: memref<?xi32>, %y: memref<?xf16>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<19xf32>
  %R = tile.view %bits : memref<?xi32> to !tile.view<19xi32>
  %Y = tile.view %y : memref<?xf16> to !tile.view<19xf16>
  %v = tile.load %X[%i] : !tile.view<19xf32> -> tensor<19xf32>
  %r = tile.load %R[%i] : !tile.view<19xi32> -> tensor<19xi32>
  %h = tile.convert_type %v rounding stochastic %r : tensor<19xf32> -> tensor<19xf16>
  tile.store %h, %Y[%i] : tensor<19xf16>, !tile.view<19xf16>
  tile.return
}

// To narrower and back; floats by their bits.
tile.kernel @bits(%x: memref<3x6xi32>, %n: memref<3x48xi8>, %y: memref<3x6xi32>, %h: memref<3x12xf16>, %d: memref<3x3xf64>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<3x6xi32> to !tile.view<3x6xi32>
  %N = tile.view %n : memref<3x48xi8> to !tile.view<3x48xi8>
  %Y = tile.view %y : memref<3x6xi32> to !tile.view<3x6xi32>
  %H = tile.view %h : memref<3x12xf16> to !tile.view<3x12xf16>
  %D = tile.view %d : memref<3x3xf64> to !tile.view<3x3xf64>
  %v = tile.load %X[%c0, %c0] : !tile.view<3x6xi32> -> tensor<3x6xi32>
  %q = tile.bitcast %v : tensor<3x6xi32> -> tensor<3x48xi4>
  %w = arith.extui %q : tensor<3x48xi4> to tensor<3x48xi8>
  %p = tile.bitcast %q : tensor<3x48xi4> -> tensor<3x6xi32>
  %f = tile.bitcast %v : tensor<3x6xi32> -> tensor<3x12xf16>
  %g = tile.bitcast %f : tensor<3x12xf16> -> tensor<3x3xf64>
  tile.store %w, %N[%c0, %c0] : tensor<3x48xi8>, !tile.view<3x48xi8>
  tile.store %p, %Y[%c0, %c0] : tensor<3x6xi32>, !tile.view<3x6xi32>
  tile.store %f, %H[%c0, %c0] : tensor<3x12xf16>, !tile.view<3x12xf16>
  tile.store %g, %D[%c0, %c0] : tensor<3x3xf64>, !tile.view<3x3xf64>
  tile.return
}
