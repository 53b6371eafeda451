// Scatters to views and memrefs, and atomics.

// Gradient of an embedding: rows with equal numbers add up, those outside vanish.
tile.kernel @rows(%g: memref<?x?xf32>, %at: memref<?xi32>, %y: memref<?x?xf32>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %G = tile.view %g : memref<?x?xf32> to !tile.view<8x40xf32>
  %I = tile.view %at : memref<?xi32> to !tile.view<8xi32>
  %Y = tile.view %y : memref<?x?xf32> to !tile.view<8x40xf32>
  %row = tile.load %I[%i] : !tile.view<8xi32> -> tensor<8xi32>
  %in = tile.in_bounds %I[%i] : !tile.view<8xi32> -> tensor<8xi1>
  %m = tile.broadcast %in axes [1] : tensor<8xi1> -> tensor<8x40xi1>
  %x = tile.load %G[%i, %j] : !tile.view<8x40xf32> -> tensor<8x40xf32>
  tile.scatter %x, %Y[%row, %j] mask %m combine(add) bounds(drop)
      : tensor<8x40xf32>, !tile.view<8x40xf32>[tensor<8xi32>, index]
  tile.return
}

// y[at[i, k], to[i, k]] = x[i, k] where the mask says so; a permutation.
tile.kernel @elements(%x: memref<?x?xi16>, %at: memref<?x?xi64>, %to: memref<?x?xi64>, %y: memref<?x?xi16>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : tensor<3x17xi16>
  %X = tile.view %x : memref<?x?xi16> to !tile.view<3x17xi16>
  %A = tile.view %at : memref<?x?xi64> to !tile.view<3x17xi64>
  %T = tile.view %to : memref<?x?xi64> to !tile.view<3x17xi64>
  %v = tile.load %X[%i, %c0] : !tile.view<3x17xi16> -> tensor<3x17xi16>
  %a = tile.load %A[%i, %c0] : !tile.view<3x17xi64> -> tensor<3x17xi64>
  %t = tile.load %T[%i, %c0] : !tile.view<3x17xi64> -> tensor<3x17xi64>
  %m = arith.cmpi sgt, %v, %zero : tensor<3x17xi16>
  tile.scatter %v, %y[%a, %t] mask %m bounds(drop)
      : tensor<3x17xi16>, memref<?x?xi16>[tensor<3x17xi64>, tensor<3x17xi64>]
  tile.return
}

// Reverses y in place: what is read must not be what was just written.
tile.kernel @reverse(%y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %last = arith.constant dense<36> : tensor<37xi32>
  %Y = tile.view %y : memref<?xf32> to !tile.view<37xf32>
  %v = tile.load %Y[%c0] : !tile.view<37xf32> -> tensor<37xf32>
  %i = tile.iota dim 0 : tensor<37xi32>
  %k = arith.subi %last, %i : tensor<37xi32>
  tile.scatter %v, %y[%k] bounds(drop) : tensor<37xf32>, memref<?xf32>[tensor<37xi32>]
  tile.return
}

// Every combination, many elements to one place.
tile.kernel @combinations(%x: memref<?xi32>, %at: memref<?xi32>, %y: memref<?x?xi32>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xi32> to !tile.view<23xi32>
  %A = tile.view %at : memref<?xi32> to !tile.view<23xi32>
  %v = tile.load %X[%i] : !tile.view<23xi32> -> tensor<23xi32>
  %a = tile.load %A[%i] : !tile.view<23xi32> -> tensor<23xi32>
  %m = tile.in_bounds %X[%i] : !tile.view<23xi32> -> tensor<23xi1>
  %r0 = arith.constant dense<0> : tensor<23xi32>
  %r1 = arith.constant dense<1> : tensor<23xi32>
  %r2 = arith.constant dense<2> : tensor<23xi32>
  %r3 = arith.constant dense<3> : tensor<23xi32>
  %r4 = arith.constant dense<4> : tensor<23xi32>
  %r5 = arith.constant dense<5> : tensor<23xi32>
  tile.scatter %v, %y[%r0, %a] mask %m combine(add) bounds(drop) : tensor<23xi32>, memref<?x?xi32>[tensor<23xi32>, tensor<23xi32>]
  tile.scatter %v, %y[%r1, %a] mask %m combine(max) bounds(drop) : tensor<23xi32>, memref<?x?xi32>[tensor<23xi32>, tensor<23xi32>]
  tile.scatter %v, %y[%r2, %a] mask %m combine(min) bounds(drop) : tensor<23xi32>, memref<?x?xi32>[tensor<23xi32>, tensor<23xi32>]
  tile.scatter %v, %y[%r3, %a] mask %m combine(and) bounds(drop) : tensor<23xi32>, memref<?x?xi32>[tensor<23xi32>, tensor<23xi32>]
  tile.scatter %v, %y[%r4, %a] mask %m combine(or) bounds(drop) : tensor<23xi32>, memref<?x?xi32>[tensor<23xi32>, tensor<23xi32>]
  tile.scatter %v, %y[%r5, %a] mask %m combine(xor) bounds(drop) : tensor<23xi32>, memref<?x?xi32>[tensor<23xi32>, tensor<23xi32>]
  tile.return
}

// NaN wins a maximum (docs/numerics.md §3); one of several written values stays where nothing is combined.
tile.kernel @floats(%x: memref<?xf16>, %at: memref<?xi32>, %top: memref<?xf16>, %one: memref<?xf16>, %sum: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?xf16> to !tile.view<23xf16>
  %A = tile.view %at : memref<?xi32> to !tile.view<23xi32>
  %v = tile.load %X[%c0] : !tile.view<23xf16> -> tensor<23xf16>
  %a = tile.load %A[%c0] : !tile.view<23xi32> -> tensor<23xi32>
  %w = arith.extf %v : tensor<23xf16> to tensor<23xf64>
  %m = tile.in_bounds %X[%c0] : !tile.view<23xf16> -> tensor<23xi1>
  tile.scatter %v, %top[%a] mask %m combine(max) bounds(drop) : tensor<23xf16>, memref<?xf16>[tensor<23xi32>]
  tile.scatter %v, %one[%a] mask %m bounds(drop) : tensor<23xf16>, memref<?xf16>[tensor<23xi32>]
  tile.scatter %w, %sum[%a] mask %m combine(add) bounds(drop) : tensor<23xf64>, memref<?xf64>[tensor<23xi32>]
  tile.return
}

// To addresses: base + 8 * place.
tile.kernel @addresses(%base: i64, %x: memref<?xf64>, %at: memref<?xi64>, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %eight = arith.constant dense<8> : tensor<19xi64>
  %X = tile.view %x : memref<?xf64> to !tile.view<19xf64>
  %A = tile.view %at : memref<?xi64> to !tile.view<19xi64>
  %Y = tile.view %y : memref<?xf64> to !tile.view<19xf64>
  %v = tile.load %X[%c0] : !tile.view<19xf64> -> tensor<19xf64>
  %a = tile.load %A[%c0] : !tile.view<19xi64> -> tensor<19xi64>
  %m = tile.in_bounds %X[%c0] : !tile.view<19xf64> -> tensor<19xi1>
  %b = tile.broadcast %base : i64 -> tensor<19xi64>
  %o = arith.muli %a, %eight : tensor<19xi64>
  %p = arith.addi %b, %o : tensor<19xi64>
  tile.scatter %v, %p mask %m bounds(drop) : tensor<19xf64>, tensor<19xi64>
  tile.return
}

// A ticket per program, and what each program found.
tile.kernel @tickets(%count: memref<i32>, %seen: memref<?xi32>, %sum: memref<?xf32>) {
  %i = tile.program_id 0
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %half = arith.constant 0.5 : f32
  %t = tile.atomic_rmw add %one, %count[] relaxed device : i32, memref<i32> -> i32
  %s = tile.atomic_rmw fadd %half, %sum[%c1] acq_rel system : f32, memref<?xf32> -> f32
  tile.atomic_store %t, %seen[%i] release device : i32, memref<?xi32>
  tile.return
}

// Kinds on tiles, some elements to one place: the old values are those of some order, here the elements'.
tile.kernel @old(%x: memref<?xi32>, %at: memref<?xi32>, %y: memref<?xi32>, %old: memref<?xi32>, %other: memref<?xi32>,
                 %swapped: memref<?xi32>, %z: memref<?xf32>, %w: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %X = tile.view %x : memref<?xi32> to !tile.view<21xi32>
  %A = tile.view %at : memref<?xi32> to !tile.view<21xi32>
  %O = tile.view %old : memref<?xi32> to !tile.view<21xi32>
  %S = tile.view %swapped : memref<?xi32> to !tile.view<21xi32>
  %Z = tile.view %z : memref<?xf32> to !tile.view<21xf32>
  %W = tile.view %w : memref<?xf32> to !tile.view<21xf32>
  %v = tile.load %X[%c0] : !tile.view<21xi32> -> tensor<21xi32>
  %a = tile.load %A[%c0] : !tile.view<21xi32> -> tensor<21xi32>
  %m = tile.in_bounds %X[%c0] : !tile.view<21xi32> -> tensor<21xi1>
  %seven = arith.constant dense<7> : tensor<21xi32>
  %o = tile.atomic_rmw umax %v, %y[%a] mask %m relaxed device : tensor<21xi32>, memref<?xi32>[tensor<21xi32>] -> tensor<21xi32>
  tile.store %o, %O[%c0] : tensor<21xi32>, !tile.view<21xi32>
  %s = tile.atomic_cas %seven, %v, %other[%a] mask %m acq_rel device : tensor<21xi32>, memref<?xi32>[tensor<21xi32>] -> tensor<21xi32>
  tile.store %s, %S[%c0] : tensor<21xi32>, !tile.view<21xi32>
  %f = arith.sitofp %v : tensor<21xi32> to tensor<21xf32>
  %g = tile.atomic_rmw xchg %f, %Z[%a] mask %m release device : tensor<21xf32>, !tile.view<21xf32>[tensor<21xi32>] -> tensor<21xf32>
  tile.store %g, %W[%c0] : tensor<21xf32>, !tile.view<21xf32>
  tile.return
}

// Looks for its left neighbour's flag, as the chained scan of the sketches does; here programs run in order.
tile.kernel @chain(%state: memref<?xi64>, %ready: memref<?xi8>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant 0 : i8
  %yes = arith.constant 1 : i8
  %one = arith.constant 1 : i64
  %first = arith.cmpi eq, %i, %c0 : index
  %carry = scf.if %first -> (i64) {
    scf.yield %one : i64
  } else {
    %l = arith.subi %i, %c1 : index
    scf.while : () -> () {
      %f = tile.atomic_load %ready[%l] acquire device : memref<?xi8> -> i8
      %wait = arith.cmpi eq, %f, %none : i8
      scf.condition(%wait)
    } do {
      scf.yield
    }
    %c = memref.load %state[%l] : memref<?xi64>
    %d = arith.addi %c, %c : i64
    scf.yield %d : i64
  }
  memref.store %carry, %state[%i] : memref<?xi64>
  tile.atomic_store %yes, %ready[%i] release device : i8, memref<?xi8>
  tile.return
}

// Combining stores: the largest of all programs, nan if there is any; a scalar sum; and, or, xor of integers.
tile.kernel @stores(%x: memref<?xf32>, %n: memref<?xi16>, %top: memref<9xf32>, %sum: memref<f32>, %bits: memref<3x9xi16>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1.0 : f32
  %X = tile.view %x : memref<?xf32> to !tile.view<9xf32, pad = neg_inf>
  %N = tile.view %n : memref<?xi16> to !tile.view<9xi16>
  %T = tile.view %top : memref<9xf32> to !tile.view<9xf32>
  %S = tile.view %sum : memref<f32> to !tile.view<f32>
  %A = tile.view %bits[%c0, _] : memref<3x9xi16> to !tile.view<9xi16>
  %B = tile.view %bits[%c1, _] : memref<3x9xi16> to !tile.view<9xi16>
  %C = tile.view %bits[%c2, _] : memref<3x9xi16> to !tile.view<9xi16>
  %v = tile.load %X[%i] : !tile.view<9xf32, pad = neg_inf> -> tensor<9xf32>
  %w = tile.load %N[%i] : !tile.view<9xi16> -> tensor<9xi16>
  tile.store %v, %T[%c0] combine(max) : tensor<9xf32>, !tile.view<9xf32>
  tile.store %one, %S[] combine(add) : f32, !tile.view<f32>
  tile.store %w, %A[%c0] combine(and) : tensor<9xi16>, !tile.view<9xi16>
  tile.store %w, %B[%c0] combine(or) : tensor<9xi16>, !tile.view<9xi16>
  tile.store %w, %C[%c0] combine(xor) : tensor<9xi16>, !tile.view<9xi16>
  tile.return
}
