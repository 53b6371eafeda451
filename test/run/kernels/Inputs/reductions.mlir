// Reductions along every choice of axes, by name and by region; scans; softmax and layer normalization.

tile.kernel @softmax(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?x?xf32> to !tile.view<4x4096xf32, pad = neg_inf>
  %Y = tile.view %y : memref<?x?xf32> to !tile.view<4x4096xf32>
  %v = tile.load %X[%i, %c0] : !tile.view<4x4096xf32, pad = neg_inf> -> tensor<4x4096xf32>
  %m = tile.reduce {arith.maximumf} %v axes [1] : tensor<4x4096xf32> -> tensor<4xf32>
  %mb = tile.broadcast %m axes [1] : tensor<4xf32> -> tensor<4x4096xf32>
  %d = arith.subf %v, %mb : tensor<4x4096xf32>
  %e = math.exp %d : tensor<4x4096xf32>
  %s = tile.reduce {arith.addf} %e axes [1] : tensor<4x4096xf32> -> tensor<4xf32>
  %sb = tile.broadcast %s axes [1] : tensor<4xf32> -> tensor<4x4096xf32>
  %r = arith.divf %e, %sb : tensor<4x4096xf32>
  tile.store %r, %Y[%i, %c0] : tensor<4x4096xf32>, !tile.view<4x4096xf32>
  tile.return
}

tile.kernel @layernorm(%x: memref<?x?xf16>, %gamma: memref<?xf32>, %beta: memref<?xf32>, %eps: f32,
                       %y: memref<?x?xf16>, %stats: memref<?x2xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<2048xf32>
  %n = memref.dim %x, %c1 : memref<?x?xf16>
  %ni = arith.index_cast %n : index to i32
  %nf = arith.sitofp %ni : i32 to f32
  %X = tile.view %x[%i, _] : memref<?x?xf16> to !tile.view<2048xf16>
  %Y = tile.view %y[%i, _] : memref<?x?xf16> to !tile.view<2048xf16>
  %G = tile.view %gamma : memref<?xf32> to !tile.view<2048xf32>
  %B = tile.view %beta : memref<?xf32> to !tile.view<2048xf32>
  %v16 = tile.load %X[%c0] : !tile.view<2048xf16> -> tensor<2048xf16>
  %v = arith.extf %v16 : tensor<2048xf16> to tensor<2048xf32>
  %sum = tile.reduce {arith.addf} %v axes [0] : tensor<2048xf32> -> f32
  %mean = arith.divf %sum, %nf : f32
  %mb = tile.broadcast %mean : f32 -> tensor<2048xf32>
  %d = arith.subf %v, %mb : tensor<2048xf32>
  %in = tile.in_bounds %X[%c0] : !tile.view<2048xf16> -> tensor<2048xi1>
  %dm = arith.select %in, %d, %zero : tensor<2048xi1>, tensor<2048xf32>
  %d2 = arith.mulf %dm, %dm : tensor<2048xf32>
  %ss = tile.reduce {arith.addf} %d2 axes [0] : tensor<2048xf32> -> f32
  %var = arith.divf %ss, %nf : f32
  %ve = arith.addf %var, %eps : f32
  %rstd = math.rsqrt %ve : f32
  %rb = tile.broadcast %rstd : f32 -> tensor<2048xf32>
  %g = tile.load %G[%c0] : !tile.view<2048xf32> -> tensor<2048xf32>
  %b = tile.load %B[%c0] : !tile.view<2048xf32> -> tensor<2048xf32>
  %h = arith.mulf %d, %rb : tensor<2048xf32>
  %hg = arith.mulf %h, %g : tensor<2048xf32>
  %o = arith.addf %hg, %b : tensor<2048xf32>
  %o16 = arith.truncf %o : tensor<2048xf32> to tensor<2048xf16>
  tile.store %o16, %Y[%c0] : tensor<2048xf16>, !tile.view<2048xf16>
  memref.store %mean, %stats[%i, %c0] : memref<?x2xf32>
  memref.store %rstd, %stats[%i, %c1] : memref<?x2xf32>
  tile.return
}

// Of a 5 x 7 x 83 tile: along each axis, two, all.
tile.kernel @sums(%x: memref<?x?x?xf32>, %a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>,
                  %d: memref<?xf32>, %e: memref<?xf32>, %f: memref<f32>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?x?x?xf32> to !tile.view<5x7x83xf32>
  %A = tile.view %a : memref<?x?xf32> to !tile.view<7x83xf32>
  %B = tile.view %b : memref<?x?xf32> to !tile.view<5x83xf32>
  %C = tile.view %c : memref<?x?xf32> to !tile.view<5x7xf32>
  %D = tile.view %d : memref<?xf32> to !tile.view<83xf32>
  %E = tile.view %e : memref<?xf32> to !tile.view<7xf32>
  %v = tile.load %X[%c0, %c0, %c0] : !tile.view<5x7x83xf32> -> tensor<5x7x83xf32>
  %ra = tile.reduce {arith.addf} %v axes [0] : tensor<5x7x83xf32> -> tensor<7x83xf32>
  %rb = tile.reduce {arith.addf} %v axes [1] : tensor<5x7x83xf32> -> tensor<5x83xf32>
  %rc = tile.reduce {arith.addf} %v axes [2] : tensor<5x7x83xf32> -> tensor<5x7xf32>
  %rd = tile.reduce {arith.addf} %v axes [0, 1] : tensor<5x7x83xf32> -> tensor<83xf32>
  %re = tile.reduce {arith.addf} %v axes [0, 2] : tensor<5x7x83xf32> -> tensor<7xf32>
  %rf = tile.reduce {arith.addf} %v axes [0, 1, 2] : tensor<5x7x83xf32> -> f32
  tile.store %ra, %A[%c0, %c0] : tensor<7x83xf32>, !tile.view<7x83xf32>
  tile.store %rb, %B[%c0, %c0] : tensor<5x83xf32>, !tile.view<5x83xf32>
  tile.store %rc, %C[%c0, %c0] : tensor<5x7xf32>, !tile.view<5x7xf32>
  tile.store %rd, %D[%c0] : tensor<83xf32>, !tile.view<83xf32>
  tile.store %re, %E[%c0] : tensor<7xf32>, !tile.view<7xf32>
  memref.store %rf, %f[] : memref<f32>
  tile.return
}

// Maximum, minimum, bitwise or; padding of integers is 0.
tile.kernel @integers(%x: memref<?x?xi32>, %y: memref<?x3xi32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %X = tile.view %x[%i, _] : memref<?x?xi32> to !tile.view<100xi32>
  %v = tile.load %X[%c0] : !tile.view<100xi32> -> tensor<100xi32>
  %a = tile.reduce {arith.maxsi} %v axes [0] : tensor<100xi32> -> i32
  %b = tile.reduce {arith.minsi} %v axes [0] : tensor<100xi32> -> i32
  %c = tile.reduce {arith.ori} %v axes [0] : tensor<100xi32> -> i32
  memref.store %a, %y[%i, %c0] : memref<?x3xi32>
  memref.store %b, %y[%i, %c1] : memref<?x3xi32>
  memref.store %c, %y[%i, %c2] : memref<?x3xi32>
  tile.return
}

// The largest of each row and where it first is, by a region over two tiles.
tile.kernel @argmax(%x: memref<?x?xf32>, %y: memref<?xf32>, %z: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %i = tile.program_id 0
  %X = tile.view %x : memref<?x?xf32> to !tile.view<6x50xf32, pad = neg_inf>
  %Y = tile.view %y : memref<?xf32> to !tile.view<6xf32>
  %Z = tile.view %z : memref<?xi32> to !tile.view<6xi32>
  %v = tile.load %X[%i, %c0] : !tile.view<6x50xf32, pad = neg_inf> -> tensor<6x50xf32>
  %n = tile.iota dim 1 : tensor<6x50xi32>
  %r:2 = tile.reduce %v, %n axes [1] neutral [0xFF800000 : f32, 0 : i32]
      : tensor<6x50xf32>, tensor<6x50xi32> -> tensor<6xf32>, tensor<6xi32> {
  ^bb0(%a: f32, %ia: i32, %b: f32, %ib: i32):
    %more = arith.cmpf ogt, %b, %a : f32
    %m = arith.select %more, %b, %a : f32
    %im = arith.select %more, %ib, %ia : i32
    tile.yield %m, %im : f32, i32
  }
  tile.store %r#0, %Y[%i] : tensor<6xf32>, !tile.view<6xf32>
  tile.store %r#1, %Z[%i] : tensor<6xi32>, !tile.view<6xi32>
  tile.return
}

tile.kernel @row_scan(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %X = tile.view %x[%i, _] : memref<?x?xf32> to !tile.view<64xf32>
  %Y = tile.view %y[%i, _] : memref<?x?xf32> to !tile.view<64xf32>
  %n = tile.num_tiles %X dim 0 : !tile.view<64xf32>
  %total = scf.for %j = %c0 to %n step %c1 iter_args(%carry = %zero) -> (f32) {
    %v = tile.load %X[%j] : !tile.view<64xf32> -> tensor<64xf32>
    %s, %c = tile.scan {arith.addf} %v init %carry axis 0 : tensor<64xf32>, f32
    tile.store %s, %Y[%j] : tensor<64xf32>, !tile.view<64xf32>
    scf.yield %c : f32
  }
  tile.return
}

// From the right, without the element itself, along the first axis.
tile.kernel @suffix(%x: memref<?x?xi64>, %y: memref<?x?xi64>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?x?xi64> to !tile.view<9x5xi64>
  %Y = tile.view %y : memref<?x?xi64> to !tile.view<9x5xi64>
  %v = tile.load %X[%c0, %c0] : !tile.view<9x5xi64> -> tensor<9x5xi64>
  %s = tile.scan {arith.addi} %v axis 0 reverse exclusive : tensor<9x5xi64>
  tile.store %s, %Y[%c0, %c0] : tensor<9x5xi64>, !tile.view<9x5xi64>
  tile.return
}

// Counts above a threshold, added to one counter by every program.
tile.kernel @count_above(%x: memref<?xf32>, %t: f32, %y: memref<1xi32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?xf32> to !tile.view<70xf32, pad = neg_inf>
  %Y = tile.view %y : memref<1xi32> to !tile.view<1xi32>
  %v = tile.load %X[%i] : !tile.view<70xf32, pad = neg_inf> -> tensor<70xf32>
  %tb = tile.broadcast %t : f32 -> tensor<70xf32>
  %above = arith.cmpf ogt, %v, %tb : tensor<70xf32>
  %ones = arith.extui %above : tensor<70xi1> to tensor<70xi32>
  %n = tile.reduce {arith.addi} %ones axes [0] : tensor<70xi32> -> i32
  %nb = tile.broadcast %n : i32 -> tensor<1xi32>
  tile.store %nb, %Y[%c0] combine(add) : tensor<1xi32>, !tile.view<1xi32>
  tile.return
}

// Mean and sum of squared differences by Chan's merge: a device function, called twice, that calls another.
tile.func private @square(%x: tensor<90xf32>) -> tensor<90xf32> {
  %y = arith.mulf %x, %x : tensor<90xf32>
  tile.return %y : tensor<90xf32>
}
tile.func private @welford(%n: tensor<90xf32>, %mu: tensor<90xf32>) -> (f32, f32, f32) {
  %m2 = arith.constant dense<0.0> : tensor<90xf32>
  %r:3 = tile.reduce %n, %mu, %m2 axes [0] neutral [0.0 : f32, 0.0 : f32, 0.0 : f32]
      : tensor<90xf32>, tensor<90xf32>, tensor<90xf32> -> f32, f32, f32 {
  ^bb0(%na: f32, %ma: f32, %sa: f32, %nb: f32, %mb: f32, %sb: f32):
    %n2 = arith.addf %na, %nb : f32
    %one = arith.constant 1.0 : f32
    %safe = arith.maximumf %n2, %one : f32
    %delta = arith.subf %mb, %ma : f32
    %w = arith.divf %nb, %safe : f32
    %dw = arith.mulf %delta, %w : f32
    %mu2 = arith.addf %ma, %dw : f32
    %s = arith.addf %sa, %sb : f32
    %t = arith.mulf %delta, %dw : f32
    %u = arith.mulf %t, %na : f32
    %s2 = arith.addf %s, %u : f32
    tile.yield %n2, %mu2, %s2 : f32, f32, f32
  }
  tile.return %r#0, %r#1, %r#2 : f32, f32, f32
}
// Statistics of x and of its squares; y is x squared.
tile.kernel @statistics(%x: memref<?x?xf32>, %stats: memref<?x4xf32>, %y: memref<?x?xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %X = tile.view %x[%i, _] : memref<?x?xf32> to !tile.view<90xf32>
  %Y = tile.view %y[%i, _] : memref<?x?xf32> to !tile.view<90xf32>
  %v = tile.load %X[%c0] : !tile.view<90xf32> -> tensor<90xf32>
  %in = tile.in_bounds %X[%c0] : !tile.view<90xf32> -> tensor<90xi1>
  %n = arith.uitofp %in : tensor<90xi1> to tensor<90xf32>
  %q = tile.call @square(%v) : (tensor<90xf32>) -> tensor<90xf32>
  %a:3 = tile.call @welford(%n, %v) : (tensor<90xf32>, tensor<90xf32>) -> (f32, f32, f32)
  %b:3 = tile.call @welford(%n, %q) : (tensor<90xf32>, tensor<90xf32>) -> (f32, f32, f32)
  memref.store %a#1, %stats[%i, %c0] : memref<?x4xf32>
  memref.store %a#2, %stats[%i, %c1] : memref<?x4xf32>
  memref.store %b#1, %stats[%i, %c2] : memref<?x4xf32>
  memref.store %b#2, %stats[%i, %c3] : memref<?x4xf32>
  tile.store %q, %Y[%c0] : tensor<90xf32>, !tile.view<90xf32>
  tile.return
}

// Views of single elements: y = x[1] * f.
tile.kernel @single(%x: memref<3xf32>, %f: memref<f32>, %y: memref<f32>) {
  %c1 = arith.constant 1 : index
  %X = tile.view %x[%c1] : memref<3xf32> to !tile.view<f32>
  %F = tile.view %f : memref<f32> to !tile.view<f32>
  %Y = tile.view %y : memref<f32> to !tile.view<f32>
  %a = tile.load %X[] : !tile.view<f32> -> f32
  %b = tile.load %F[] : !tile.view<f32> -> f32
  %c = arith.mulf %a, %b : f32
  tile.store %c, %Y[] : f32, !tile.view<f32>
  tile.return
}
