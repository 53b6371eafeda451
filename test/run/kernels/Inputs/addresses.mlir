// Memory at addresses that are loaded: a table of matrices of different sizes, each times two, and rows of a wider one.

tile.kernel @table(%address: memref<?xi64>, %sizes: memref<?x2xi64>, %sums: memref<?xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = memref.load %address[%i] : memref<?xi64>
  %m64 = memref.load %sizes[%i, %c0] : memref<?x2xi64>
  %n64 = memref.load %sizes[%i, %c1] : memref<?x2xi64>
  %m = arith.index_cast %m64 : i64 to index
  %n = arith.index_cast %n64 : i64 to index
  %a = tile.memref_at %p sizes [%m, %n] : i64 to memref<?x?xf32>
  %b = tile.memref_at %p sizes [%m, %n] : i64 to memref<?x?xf32>
  %A = tile.view %a : memref<?x?xf32> to !tile.view<4x20xf32>
  %B = tile.view %b : memref<?x?xf32> to !tile.view<4x20xf32>
  %nm = tile.num_tiles %A dim 0 : !tile.view<4x20xf32>
  %nn = tile.num_tiles %A dim 1 : !tile.view<4x20xf32>
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %j = %c0 to %nm step %c1 iter_args(%s = %zero) -> (f32) {
    %r = scf.for %k = %c0 to %nn step %c1 iter_args(%t = %s) -> (f32) {
      %x = tile.load %A[%j, %k] : !tile.view<4x20xf32> -> tensor<4x20xf32>
      %y = arith.addf %x, %x : tensor<4x20xf32>
      tile.store %y, %B[%j, %k] : tensor<4x20xf32>, !tile.view<4x20xf32>
      %u = tile.reduce {arith.addf} %x axes [0, 1] : tensor<4x20xf32> -> f32
      %v = arith.addf %t, %u : f32
      scf.yield %v : f32
    }
    scf.yield %r : f32
  }
  memref.store %sum, %sums[%i] : memref<?xf32>
  tile.return
}

tile.kernel @strided(%p: i64, %m: index, %pitch: index, %y: memref<?x5xi16>) {
  %c0 = arith.constant 0 : index
  %a = tile.memref_at %p sizes [%m, 5] strides [%pitch, 1] : i64 to memref<?x5xi16, strided<[?, 1]>>
  %A = tile.view %a : memref<?x5xi16, strided<[?, 1]>> to !tile.view<7x5xi16>
  %Y = tile.view %y : memref<?x5xi16> to !tile.view<7x5xi16>
  %x = tile.load %A[%c0, %c0] : !tile.view<7x5xi16> -> tensor<7x5xi16>
  tile.store %x, %Y[%c0, %c0] : tensor<7x5xi16>, !tile.view<7x5xi16>
  tile.return
}
