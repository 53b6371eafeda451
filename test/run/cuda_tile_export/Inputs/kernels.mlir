// What each kernel is about stands before it. The launchers run the kernels as they are.

// Views: overlapping tiles, elements apart from each other, exchanged axes, rows at given numbers.
tile.kernel @cuts(%x: memref<?x?xf32>, %rows: memref<?xi32>, %y: memref<?x?xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %X = tile.view %x : memref<?x?xf32> to !tile.view<4x16xf32, steps = [3, 8], pad = neg_inf>
  %D = tile.view %x[_, %i] : memref<?x?xf32> to !tile.view<8xf32, strides = [2]>
  %T = tile.view %x : memref<?x?xf32> to !tile.view<16x4xf32, order = [1, 0]>
  %G = tile.view %x : memref<?x?xf32> to !tile.view<4x16xf32>
  %R = tile.view %rows : memref<?xi32> to !tile.view<4xi32>
  %Y = tile.view %y : memref<?x?xf32> to !tile.view<4x16xf32>
  %n = tile.num_tiles %X dim 0 : !tile.view<4x16xf32, steps = [3, 8], pad = neg_inf>
  %zero = arith.constant dense<0.0> : tensor<4x16xf32>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<4x16xf32>) {
    %v = tile.load %X[%k, %i] : !tile.view<4x16xf32, steps = [3, 8], pad = neg_inf> -> tensor<4x16xf32>
    %in = tile.in_bounds %X[%k, %i] : !tile.view<4x16xf32, steps = [3, 8], pad = neg_inf> -> tensor<4x16xi1>
    %w = arith.select %in, %v, %zero : tensor<4x16xi1>, tensor<4x16xf32>
    %next = arith.addf %acc, %w : tensor<4x16xf32>
    scf.yield %next : tensor<4x16xf32>
  }
  %d = tile.load %D[%c0] : !tile.view<8xf32, strides = [2]> -> tensor<8xf32>
  %dm = tile.reduce {arith.addf} %d axes [0] : tensor<8xf32> -> f32
  %dt = tile.broadcast %dm : f32 -> tensor<4x16xf32>
  %t = tile.load %T[%i, %c1] : !tile.view<16x4xf32, order = [1, 0]> -> tensor<16x4xf32>
  %tt = tile.transpose %t [1, 0] : tensor<16x4xf32> -> tensor<4x16xf32>
  %r = tile.load %R[%i] : !tile.view<4xi32> -> tensor<4xi32>
  %g = tile.gather %G[%r, %c0] bounds(drop) : !tile.view<4x16xf32>[tensor<4xi32>, index] -> tensor<4x16xf32>
  %a = arith.addf %sum, %dt : tensor<4x16xf32>
  %b = arith.subf %a, %tt : tensor<4x16xf32>
  %c = arith.addf %b, %g : tensor<4x16xf32>
  tile.store %c, %Y[%i, %c0] : tensor<4x16xf32>, !tile.view<4x16xf32>
  tile.return
}
func.func @cuts_launch(%x: memref<?x?xf32>, %rows: memref<?xi32>, %y: memref<?x?xf32>, %g: index) {
  tile.launch @cuts grid(%g) ins(%x, %rows : memref<?x?xf32>, memref<?xi32>) outs(%y : memref<?x?xf32>)
  return
}

// Memory that is read and written in turn: each access has to wait for those before it. A loop that a condition leaves.
tile.kernel @turns(%x: memref<?xi32>, %counts: memref<?xi32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %one = arith.constant 1 : i32
  %limit = arith.constant 400 : i32
  %X = tile.view %x : memref<?xi32> to !tile.view<16xi32>
  %last = scf.for %k = %c0 to %c5 step %c1 iter_args(%s = %one) -> (i32) {
    %v = tile.load %X[%i] : !tile.view<16xi32> -> tensor<16xi32>
    %e = arith.remui %k, %c5 : index
    %odd = arith.cmpi eq, %e, %c1 : index
    scf.if %odd {
      %d = arith.addi %v, %v : tensor<16xi32>
      tile.store %d, %X[%i] : tensor<16xi32>, !tile.view<16xi32>
    }
    %w = tile.load %X[%i] : !tile.view<16xi32> -> tensor<16xi32>
    %u = arith.addi %w, %v : tensor<16xi32>
    tile.store %u, %X[%i] : tensor<16xi32>, !tile.view<16xi32>
    %m = tile.reduce {arith.maxsi} %u axes [0] : tensor<16xi32> -> i32
    %n = arith.addi %s, %m : i32
    scf.yield %n : i32
  }
  %rounds, %value = scf.while (%r = %c0, %z = %last) : (index, i32) -> (index, i32) {
    %more = arith.cmpi slt, %z, %limit : i32
    scf.condition(%more) %r, %z : index, i32
  } do {
  ^bb0(%r: index, %z: i32):
    %old = memref.load %x[%r] : memref<?xi32>
    %new = arith.addi %old, %one : i32
    memref.store %new, %x[%r] : memref<?xi32>
    %y = arith.addi %z, %z : i32
    %p = arith.maxsi %y, %one : i32
    %q = arith.addi %r, %c1 : index
    scf.yield %q, %p : index, i32
  }
  %place = tile.iota dim 0 : tensor<8xi32>
  %at = arith.index_cast %place : tensor<8xi32> to tensor<8xindex>
  %ones = tile.broadcast %one : i32 -> tensor<8xi32>
  tile.scatter %ones, %counts[%at] combine(add) bounds(drop) : tensor<8xi32>, memref<?xi32>[tensor<8xindex>]
  %C = tile.view %counts : memref<?xi32> to !tile.view<8xi32>
  %rc = arith.index_cast %rounds : index to i32
  %rt = tile.broadcast %rc : i32 -> tensor<8xi32>
  tile.store %rt, %C[%c0] combine(max) : tensor<8xi32>, !tile.view<8xi32>
  %before = tile.atomic_rmw add %value, %counts[%c0] relaxed device : i32, memref<?xi32> -> i32
  tile.return
}
func.func @turns_launch(%x: memref<?xi32>, %counts: memref<?xi32>, %g: index) {
  tile.launch @turns grid(%g) outs(%x, %counts : memref<?xi32>, memref<?xi32>)
  return
}

// Integers of all kinds of signedness, comparisons, parts of tiles.
tile.kernel @integers(%x: memref<?xi32>, %y: memref<?xi64>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xi32> to !tile.view<32xi32>
  %Y = tile.view %y : memref<?xi64> to !tile.view<32xi64>
  %v = tile.load %X[%i] : !tile.view<32xi32> -> tensor<32xi32>
  %seven = arith.constant dense<7> : tensor<32xi32>
  %three = arith.constant dense<-3> : tensor<32xi32>
  %a = arith.divsi %v, %seven : tensor<32xi32>
  %b = arith.divui %v, %seven : tensor<32xi32>
  %c = arith.floordivsi %v, %three : tensor<32xi32>
  %d = arith.ceildivsi %v, %seven : tensor<32xi32>
  %e = arith.remsi %v, %three : tensor<32xi32>
  %f = arith.remui %v, %seven : tensor<32xi32>
  %g = arith.shrsi %v, %seven : tensor<32xi32>
  %h = arith.shrui %v, %seven : tensor<32xi32>
  %k = arith.minui %v, %seven : tensor<32xi32>
  %l = arith.maxsi %v, %three : tensor<32xi32>
  %m = arith.cmpi ult, %v, %seven : tensor<32xi32>
  %n = arith.cmpi slt, %v, %seven : tensor<32xi32>
  %o = arith.xori %m, %n : tensor<32xi1>
  %low, %high = arith.mului_extended %v, %three : tensor<32xi32>
  %p = arith.select %o, %a, %b : tensor<32xi1>, tensor<32xi32>
  %q = arith.xori %c, %d : tensor<32xi32>
  %r = arith.addi %e, %f : tensor<32xi32>
  %s = arith.subi %g, %h : tensor<32xi32>
  %t = arith.xori %k, %l : tensor<32xi32>
  %u = arith.xori %low, %high : tensor<32xi32>
  %pq = arith.addi %p, %q : tensor<32xi32>
  %rs = arith.xori %r, %s : tensor<32xi32>
  %tu = arith.addi %t, %u : tensor<32xi32>
  %w1 = arith.xori %pq, %rs : tensor<32xi32>
  %w2 = arith.xori %w1, %tu : tensor<32xi32>
  %first = tile.slice %w2[0] : tensor<32xi32> -> tensor<16xi32>
  %second = tile.slice %w2[16] : tensor<32xi32> -> tensor<16xi32>
  %turned = tile.cat %second, %first axis 0 : tensor<16xi32>, tensor<16xi32> -> tensor<32xi32>
  %wide = arith.extsi %turned : tensor<32xi32> to tensor<32xi64>
  %loose = arith.extui %v : tensor<32xi32> to tensor<32xi64>
  %z = arith.addi %wide, %loose : tensor<32xi64>
  tile.store %z, %Y[%i] : tensor<32xi64>, !tile.view<32xi64>
  tile.return
}
func.func @integers_launch(%x: memref<?xi32>, %y: memref<?xi64>, %g: index) {
  tile.launch @integers grid(%g) ins(%x : memref<?xi32>) outs(%y : memref<?xi64>)
  return
}

// Floats: comparisons with nan, maxima that keep it and that do not, other precisions, products of halves.
tile.kernel @floats(%x: memref<?x16xf32>, %y: memref<?x16xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?x16xf32> to !tile.view<16x16xf32>
  %Y = tile.view %y : memref<?x16xf32> to !tile.view<16x16xf32>
  %v = tile.load %X[%i, %c0] : !tile.view<16x16xf32> -> tensor<16x16xf32>
  %t = tile.transpose %v [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
  %ord = arith.cmpf ord, %v, %t : tensor<16x16xf32>
  %uno = arith.cmpf uno, %v, %t : tensor<16x16xf32>
  %une = arith.cmpf une, %v, %t : tensor<16x16xf32>
  %ult = arith.cmpf ult, %v, %t : tensor<16x16xf32>
  %p = arith.xori %ord, %une : tensor<16x16xi1>
  %q = arith.andi %uno, %ult : tensor<16x16xi1>
  %pn = arith.uitofp %p : tensor<16x16xi1> to tensor<16x16xf32>
  %qn = arith.uitofp %q : tensor<16x16xi1> to tensor<16x16xf32>
  %a = arith.maxnumf %v, %t : tensor<16x16xf32>
  %b = arith.minimumf %v, %t : tensor<16x16xf32>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %is = arith.cmpf uno, %b, %b : tensor<16x16xf32>
  %c = arith.select %is, %zero, %b : tensor<16x16xi1>, tensor<16x16xf32>
  %nan = arith.cmpf uno, %a, %a : tensor<16x16xf32>
  %d = arith.select %nan, %zero, %a : tensor<16x16xi1>, tensor<16x16xf32>
  %h = arith.truncf %c : tensor<16x16xf32> to tensor<16x16xf16>
  %g = arith.truncf %d : tensor<16x16xf32> to tensor<16x16xbf16>
  %m = tile.mma %h, %h, %pn : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  %n = tile.mma %g, %g, %qn : tensor<16x16xbf16>, tensor<16x16xbf16> -> tensor<16x16xf32>
  %bits = arith.bitcast %h : tensor<16x16xf16> to tensor<16x16xi16>
  %whole = arith.sitofp %bits : tensor<16x16xi16> to tensor<16x16xf32>
  %s1 = arith.addf %m, %n : tensor<16x16xf32>
  %s2 = arith.addf %s1, %whole : tensor<16x16xf32>
  tile.store %s2, %Y[%i, %c0] : tensor<16x16xf32>, !tile.view<16x16xf32>
  tile.return
}
func.func @floats_launch(%x: memref<?x16xf32>, %y: memref<?x16xf32>, %g: index) {
  tile.launch @floats grid(%g) ins(%x : memref<?x16xf32>) outs(%y : memref<?x16xf32>)
  return
}

// Tiles whose sizes are no powers of two: a product with an odd K, what combines along odd axes, quotients, sums in
// memory. And elements at places, in lines of seven.
tile.kernel @odd(%x: memref<?x?xf32>, %w: memref<?x?xf32>, %q: memref<?xi32>, %y: memref<?x?xf32>, %s: memref<?xf32>, %d: memref<?xi32>, %sums: memref<?xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<6x12xf32>
  %one = arith.constant dense<1> : tensor<6xi32>
  %hundred = arith.constant dense<100> : tensor<6xi32>
  %X = tile.view %x : memref<?x?xf32> to !tile.view<6x5xf32>
  %W = tile.view %w : memref<?x?xf32> to !tile.view<5x12xf32>
  %Q = tile.view %q : memref<?xi32> to !tile.view<6xi32>
  %Y = tile.view %y : memref<?x?xf32> to !tile.view<6x12xf32>
  %S = tile.view %s : memref<?xf32> to !tile.view<6xf32>
  %D = tile.view %d : memref<?xi32> to !tile.view<6xi32>
  %T = tile.view %sums : memref<?xf32> to !tile.view<5xf32>
  %half = arith.constant dense<0.5> : tensor<6x5xf32>
  %v0 = tile.load %X[%i, %c0] : !tile.view<6x5xf32> -> tensor<6x5xf32>
  %v = arith.addf %v0, %half : tensor<6x5xf32>
  %u0 = tile.load %W[%c0, %c0] : !tile.view<5x12xf32> -> tensor<5x12xf32>
  %u = math.exp %u0 : tensor<5x12xf32>
  %m = tile.mma %v, %u, %zero : tensor<6x5xf32>, tensor<5x12xf32> -> tensor<6x12xf32>
  tile.store %m, %Y[%i, %c0] : tensor<6x12xf32>, !tile.view<6x12xf32>
  %most = tile.reduce {arith.maximumf} %v axes [1] : tensor<6x5xf32> -> tensor<6xf32>
  %all = tile.reduce {arith.addf} %m axes [0, 1] : tensor<6x12xf32> -> f32
  %alls = tile.broadcast %all : f32 -> tensor<6xf32>
  %both = arith.addf %most, %alls : tensor<6xf32>
  tile.store %both, %S[%i] : tensor<6xf32>, !tile.view<6xf32>
  %a = tile.load %Q[%i] : !tile.view<6xi32> -> tensor<6xi32>
  %b = arith.maxsi %a, %one : tensor<6xi32>
  %c = arith.divsi %hundred, %b : tensor<6xi32>
  %e = tile.scan {arith.addi} %c axis 0 reverse : tensor<6xi32>
  tile.store %e, %D[%i] : tensor<6xi32>, !tile.view<6xi32>
  %cols = tile.reduce {arith.addf} %v axes [0] : tensor<6x5xf32> -> tensor<5xf32>
  tile.store %cols, %T[%c0] combine(add) : tensor<5xf32>, !tile.view<5xf32>
  tile.return
}
func.func @odd_launch(%x: memref<?x?xf32>, %w: memref<?x?xf32>, %q: memref<?xi32>, %y: memref<?x?xf32>, %s: memref<?xf32>, %d: memref<?xi32>, %t: memref<?xf32>, %g: index) {
  tile.launch @odd grid(%g) ins(%x, %w, %q : memref<?x?xf32>, memref<?x?xf32>, memref<?xi32>) outs(%y, %s, %d, %t : memref<?x?xf32>, memref<?xf32>, memref<?xi32>, memref<?xf32>)
  return
}

tile.kernel @lines(%x: memref<?xf32>, %y: memref<?xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %n = memref.dim %y, %c0 : memref<?xf32>
  %first = arith.muli %i, %c7 : index
  %k = tile.iota dim 0 from %first : tensor<7xindex>
  %end = tile.broadcast %n : index -> tensor<7xindex>
  %m = arith.cmpi slt, %k, %end : tensor<7xindex>
  %none = arith.constant dense<-2.0> : tensor<7xf32>
  %v = tile.gather %x[%k] mask %m other %none bounds(trap) : memref<?xf32>[tensor<7xindex>] -> tensor<7xf32>
  %sum = tile.scan {arith.addf} %v axis 0 : tensor<7xf32>
  %column = tile.reshape %sum : tensor<7xf32> -> tensor<7x1xf32>
  %row = tile.transpose %column [1, 0] : tensor<7x1xf32> -> tensor<1x7xf32>
  %flat = tile.reshape %row : tensor<1x7xf32> -> tensor<7xf32>
  %three = tile.broadcast %flat axes [0] : tensor<7xf32> -> tensor<3x7xf32>
  %thrice = tile.reduce {arith.addf} %three axes [0] : tensor<3x7xf32> -> tensor<7xf32>
  tile.scatter %thrice, %y[%k] mask %m bounds(trap) : tensor<7xf32>, memref<?xf32>[tensor<7xindex>]
  tile.return
}
func.func @lines_launch(%x: memref<?xf32>, %y: memref<?xf32>, %g: index) {
  tile.launch @lines grid(%g) ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  return
}
