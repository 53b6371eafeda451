// Programs of the dialect's sketches: GEMM in f16 with its epilogue, causal attention, a convolution without im2col.

tile.kernel @gemm_f16(%a_: memref<?x?xf16>, %b_: memref<?x?xf16>, %bias: memref<?xf32>, %c: memref<?x?xf16>)
    attributes {schedule = #tile.schedule<block = [128, 128, 32]>} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %a = tile.assume %a_ align 16 strides [8, 1] : memref<?x?xf16>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf16>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<128x32xf16>
  %B = tile.view %b : memref<?x?xf16> to !tile.view<32x128xf16>
  %V = tile.view %bias : memref<?xf32> to !tile.view<128xf32>
  %C = tile.view %c : memref<?x?xf16> to !tile.view<128x128xf16>
  %nk = tile.num_tiles %A dim 1 : !tile.view<128x32xf16>

  %acc = scf.for %k = %c0 to %nk step %c1 iter_args(%s = %zero) -> (tensor<128x128xf32>) {
    %x = tile.load %A[%i, %k] : !tile.view<128x32xf16> -> tensor<128x32xf16>
    %w = tile.load %B[%k, %j] : !tile.view<32x128xf16> -> tensor<32x128xf16>
    %t = tile.mma %x, %w, %s : tensor<128x32xf16>, tensor<32x128xf16> -> tensor<128x128xf32>
    scf.yield %t : tensor<128x128xf32>
  }

  %v = tile.load %V[%j] : !tile.view<128xf32> -> tensor<128xf32>
  %vb = tile.broadcast %v axes [0] : tensor<128xf32> -> tensor<128x128xf32>
  %sum = arith.addf %acc, %vb : tensor<128x128xf32>
  %pos = arith.maximumf %sum, %zero : tensor<128x128xf32>
  %out = arith.truncf %pos : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %out, %C[%i, %j] : tensor<128x128xf16>, !tile.view<128x128xf16>
  tile.return
}

tile.kernel @attention(%q: memref<?x?x?x128xf16>, %k: memref<?x?x?x128xf16>, %v: memref<?x?x?x128xf16>, %scale_log2e: f32,
                       %o: memref<?x?x?x128xf16>, %lse: memref<?x?x?xf32>) {
  %i = tile.program_id 0
  %h = tile.program_id 1
  %b = tile.program_id 2
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %o0 = arith.constant dense<0.0> : tensor<128x128xf32>
  %s0 = arith.constant dense<0.0> : tensor<128x64xf32>
  %m0 = arith.constant dense<-1.0e+30> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %minus = arith.constant dense<-1.0e+30> : tensor<128x64xf32>

  %Q = tile.view %q[%b, %h, _, _] : memref<?x?x?x128xf16> to !tile.view<128x128xf16>
  %K = tile.view %k[%b, %h, _, _] : memref<?x?x?x128xf16> to !tile.view<128x64xf16, order = [1, 0]>
  %V = tile.view %v[%b, %h, _, _] : memref<?x?x?x128xf16> to !tile.view<64x128xf16>
  %O = tile.view %o[%b, %h, _, _] : memref<?x?x?x128xf16> to !tile.view<128x128xf16>
  %L = tile.view %lse[%b, %h, _] : memref<?x?x?xf32> to !tile.view<128xf32>

  %x = tile.load %Q[%i, %c0] : !tile.view<128x128xf16> -> tensor<128x128xf16>
  %row0 = arith.muli %i, %c128 : index
  %row = tile.iota dim 0 from %row0 : tensor<128x64xindex>
  %scale = tile.broadcast %scale_log2e : f32 -> tensor<128x64xf32>
  %end = arith.addi %row0, %c128 : index
  %blocks = arith.ceildivui %end, %c64 : index
  %kept = tile.num_tiles %V dim 0 : !tile.view<64x128xf16>
  %last = arith.minui %blocks, %kept : index

  %r:3 = scf.for %j = %c0 to %last step %c1 iter_args(%acc = %o0, %m = %m0, %l = %l0)
      -> (tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>) {
    %kt = tile.load %K[%c0, %j] : !tile.view<128x64xf16, order = [1, 0]> -> tensor<128x64xf16>
    %qk = tile.mma %x, %kt, %s0 : tensor<128x128xf16>, tensor<128x64xf16> -> tensor<128x64xf32>
    %sc = arith.mulf %qk, %scale : tensor<128x64xf32>
    %col0 = arith.muli %j, %c64 : index
    %col = tile.iota dim 1 from %col0 : tensor<128x64xindex>
    %past = arith.cmpi ule, %col, %row : tensor<128x64xindex>
    %s = arith.select %past, %sc, %minus : tensor<128x64xi1>, tensor<128x64xf32>

    %mx = tile.reduce {arith.maximumf} %s axes [1] : tensor<128x64xf32> -> tensor<128xf32>
    %m1 = arith.maximumf %m, %mx : tensor<128xf32>
    %mb = tile.broadcast %m1 axes [1] : tensor<128xf32> -> tensor<128x64xf32>
    %sd = arith.subf %s, %mb : tensor<128x64xf32>
    %p = math.exp2 %sd : tensor<128x64xf32>
    %md = arith.subf %m, %m1 : tensor<128xf32>
    %alpha = math.exp2 %md : tensor<128xf32>
    %ps = tile.reduce {arith.addf} %p axes [1] : tensor<128x64xf32> -> tensor<128xf32>
    %la = arith.mulf %l, %alpha : tensor<128xf32>
    %l1 = arith.addf %la, %ps : tensor<128xf32>

    %ab = tile.broadcast %alpha axes [1] : tensor<128xf32> -> tensor<128x128xf32>
    %oa = arith.mulf %acc, %ab : tensor<128x128xf32>
    %ph = arith.truncf %p : tensor<128x64xf32> to tensor<128x64xf16>
    %vt = tile.load %V[%j, %c0] : !tile.view<64x128xf16> -> tensor<64x128xf16>
    %o1 = tile.mma %ph, %vt, %oa : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
    scf.yield %o1, %m1, %l1 : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>
  }

  %lb = tile.broadcast %r#2 axes [1] : tensor<128xf32> -> tensor<128x128xf32>
  %on = arith.divf %r#0, %lb : tensor<128x128xf32>
  %oh = arith.truncf %on : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %oh, %O[%i, %c0] : tensor<128x128xf16>, !tile.view<128x128xf16>
  %lg = math.log2 %r#2 : tensor<128xf32>
  %ls = arith.addf %r#1, %lg : tensor<128xf32>
  tile.store %ls, %L[%i] : tensor<128xf32>, !tile.view<128xf32>
  tile.return
}

tile.kernel @conv3x3s2(%x: memref<?x?x?x?xf16>, %w: memref<3x3x?x?xf16>, %y: memref<?x?x?x?xf16>) {
  %pq = tile.program_id 0
  %k = tile.program_id 1
  %n = tile.program_id 2
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %X = tile.view %x[%n, _, _, _] : memref<?x?x?x?xf16>
       to !tile.view<8x16x32xf16, steps = [1, 1, 32], strides = [2, 2, 1]>
  %Y = tile.view %y[%n, _, _, _] : memref<?x?x?x?xf16> to !tile.view<8x16x128xf16>
  %nq = tile.num_tiles %Y dim 1 : !tile.view<8x16x128xf16>
  %nc = tile.num_tiles %X dim 2 : !tile.view<8x16x32xf16, steps = [1, 1, 32], strides = [2, 2, 1]>
  %p = arith.divui %pq, %nq : index
  %q = arith.remui %pq, %nq : index
  %h0 = arith.muli %p, %c16 : index     // first input row  = p · 8 · 2 - 1 + r
  %w0 = arith.muli %q, %c32 : index     // first input column = q · 16 · 2 - 1 + s

  %acc = scf.for %r = %c0 to %c3 step %c1 iter_args(%a0 = %zero) -> (tensor<128x128xf32>) {
    %hr = arith.addi %h0, %r : index
    %h = arith.subi %hr, %c1 : index
    %ar = scf.for %s = %c0 to %c3 step %c1 iter_args(%a1 = %a0) -> (tensor<128x128xf32>) {
      %ws = arith.addi %w0, %s : index
      %v = arith.subi %ws, %c1 : index
      %W = tile.view %w[%r, %s, _, _] : memref<3x3x?x?xf16> to !tile.view<32x128xf16>
      %as = scf.for %c = %c0 to %nc step %c1 iter_args(%a2 = %a1) -> (tensor<128x128xf32>) {
        %px = tile.load %X[%h, %v, %c] : !tile.view<8x16x32xf16, steps = [1, 1, 32], strides = [2, 2, 1]> -> tensor<8x16x32xf16>
        %pm = tile.reshape %px : tensor<8x16x32xf16> -> tensor<128x32xf16>
        %wt = tile.load %W[%c, %k] : !tile.view<32x128xf16> -> tensor<32x128xf16>
        %t = tile.mma %pm, %wt, %a2 : tensor<128x32xf16>, tensor<32x128xf16> -> tensor<128x128xf32>
        scf.yield %t : tensor<128x128xf32>
      }
      scf.yield %as : tensor<128x128xf32>
    }
    scf.yield %ar : tensor<128x128xf32>
  }
  %o = arith.truncf %acc : tensor<128x128xf32> to tensor<128x128xf16>
  %o3 = tile.reshape %o : tensor<128x128xf16> -> tensor<8x16x128xf16>
  tile.store %o3, %Y[%p, %q, %k] : tensor<8x16x128xf16>, !tile.view<8x16x128xf16>
  tile.return
}
