tile.kernel @scale(%x: memref<?x?xf32>, %w: memref<?xf32>, %y: memref<?x?xf32>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?x?xf32> to !tile.view<8x64xf32, pad = neg_inf>
  %W = tile.view %w : memref<?xf32> to !tile.view<64xf32>
  %Y = tile.view %y : memref<?x?xf32> to !tile.view<8x64xf32>
  %c0 = arith.constant 0 : index
  %v = tile.load %X[%i, %c0] : !tile.view<8x64xf32, pad = neg_inf> -> tensor<8x64xf32>
  %u = tile.load %W[%c0] : !tile.view<64xf32> -> tensor<64xf32>
  %b = tile.broadcast %u axes [0] : tensor<64xf32> -> tensor<8x64xf32>
  %m = tile.reduce {arith.maximumf} %v axes [1] : tensor<8x64xf32> -> tensor<8xf32>
  %mb = tile.broadcast %m axes [1] : tensor<8xf32> -> tensor<8x64xf32>
  %d = arith.subf %v, %mb : tensor<8x64xf32>
  %e = math.exp %d : tensor<8x64xf32>
  %s = arith.mulf %e, %b : tensor<8x64xf32>
  tile.store %s, %Y[%i, %c0] : tensor<8x64xf32>, !tile.view<8x64xf32>
  tile.return
}

tile.kernel @matmul(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %A = tile.view %a : memref<?x?xf32> to !tile.view<16x32xf32>
  %B = tile.view %b : memref<?x?xf32> to !tile.view<32x16xf32>
  %C = tile.view %c : memref<?x?xf32> to !tile.view<16x16xf32>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tile.num_tiles %A dim 1 : !tile.view<16x32xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) {
    %x = tile.load %A[%i, %k] : !tile.view<16x32xf32> -> tensor<16x32xf32>
    %y = tile.load %B[%k, %j] : !tile.view<32x16xf32> -> tensor<32x16xf32>
    %next = tile.mma %x, %y, %acc : tensor<16x32xf32>, tensor<32x16xf32> -> tensor<16x16xf32>
    scf.yield %next : tensor<16x16xf32>
  }
  tile.store %sum, %C[%i, %j] : tensor<16x16xf32>, !tile.view<16x16xf32>
  tile.return
}

tile.kernel @places(%x: memref<?x?xf32>, %at: memref<?xi32>, %sums: memref<?xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %X = tile.view %x[%i, _] : memref<?x?xf32> to !tile.view<64xf32, pad = neg_inf>
  %A = tile.view %at : memref<?xi32> to !tile.view<1xi32>
  %S = tile.view %sums : memref<?xf32> to !tile.view<1xf32>
  %v = tile.load %X[%c0] : !tile.view<64xf32, pad = neg_inf> -> tensor<64xf32>
  %k = tile.iota dim 0 : tensor<64xi32>
  %best, %where = tile.reduce %v, %k axes [0] neutral [0xFF800000 : f32, 0 : i32] : tensor<64xf32>, tensor<64xi32> -> f32, i32 {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %gt = arith.cmpf oge, %a, %b : f32
    %r = arith.select %gt, %a, %b : f32
    %ri = arith.select %gt, %ai, %bi : i32
    tile.yield %r, %ri : f32, i32
  }
  %one = tile.reshape %where : i32 -> tensor<1xi32>
  tile.store %one, %A[%i] : tensor<1xi32>, !tile.view<1xi32>
  %five = arith.constant 5 : index
  %late = arith.cmpi sge, %i, %five : index
  %twice = scf.if %late -> (f32) {
    %t = arith.addf %best, %best : f32
    scf.yield %t : f32
  } else {
    scf.yield %best : f32
  }
  %two = tile.reshape %twice : f32 -> tensor<1xf32>
  tile.store %two, %S[%i] : tensor<1xf32>, !tile.view<1xf32>
  tile.return
}

tile.kernel @moves(%x: memref<?xf32>, %at: memref<?xi32>, %y: memref<?xf32>, %z: memref<?x?xf32, strided<[?, 1]>>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %A = tile.view %at : memref<?xi32> to !tile.view<32xi32>
  %p = tile.load %A[%i] : !tile.view<32xi32> -> tensor<32xi32>
  %q = arith.index_cast %p : tensor<32xi32> to tensor<32xindex>
  %g = tile.gather %x[%q] bounds(drop) : memref<?xf32>[tensor<32xindex>] -> tensor<32xf32>
  %n = memref.dim %y, %c0 : memref<?xf32>
  %c32 = arith.constant 32 : index
  %first = arith.muli %i, %c32 : index
  %k = tile.iota dim 0 from %first : tensor<32xindex>
  %end = tile.broadcast %n : index -> tensor<32xindex>
  %m = arith.cmpi slt, %k, %end : tensor<32xindex>
  tile.scatter %g, %y[%k] mask %m bounds(trap) : tensor<32xf32>, memref<?xf32>[tensor<32xindex>]
  %square = tile.reshape %g : tensor<32xf32> -> tensor<8x4xf32>
  %turned = tile.transpose %square [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  %sums = tile.scan {arith.addf} %turned axis 1 : tensor<4x8xf32>
  %Z = tile.view %z : memref<?x?xf32, strided<[?, 1]>> to !tile.view<4x8xf32>
  tile.store %sums, %Z[%i, %c0] : tensor<4x8xf32>, !tile.view<4x8xf32>
  tile.return
}

tile.kernel @overlaps(%x: memref<?xf32>, %y: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?xf32> to !tile.view<8xf32, steps = [2]>
  %Y = tile.view %y : memref<?xi32> to !tile.view<1xi32>
  %n = tile.num_tiles %X dim 0 : !tile.view<8xf32, steps = [2]>
  %m = arith.index_cast %n : index to i32
  %one = tile.reshape %m : i32 -> tensor<1xi32>
  tile.store %one, %Y[%c0] : tensor<1xi32>, !tile.view<1xi32>
  tile.return
}

tile.kernel @functions(%x: memref<?xf32>, %y: memref<?xf32>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<64xf32>
  %Y = tile.view %y : memref<?xf32> to !tile.view<64xf32>
  %v = tile.load %X[%i] : !tile.view<64xf32> -> tensor<64xf32>
  %a = math.tanh %v : tensor<64xf32>
  %b = math.expm1 %a : tensor<64xf32>
  %c = math.log1p %a : tensor<64xf32>
  %d = arith.addf %b, %c : tensor<64xf32>
  %e = math.erf %d : tensor<64xf32>
  tile.store %e, %Y[%i] : tensor<64xf32>, !tile.view<64xf32>
  tile.return
}
