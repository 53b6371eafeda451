// Every kernel-level op on tiles, by values written down by hand: the kernels assert them.
// RUN: %tile_run --target=interpret %s --entry=shapes
// RUN: %tile_run --target=interpret %s --entry=reductions
// RUN: %tile_run --target=interpret %s --entry=orders
// RUN: %tile_run --target=interpret %s --entry=products
// RUN: %tile_run --target=interpret %s --entry=types
// RUN: %tile_run --target=interpret %s --entry=memory
// RUN: %tile_run --target=interpret %s --entry=atomics
// RUN: %tile_run --target=interpret %s --entry=functions

tile.kernel @shape(%y: memref<1xi32>) {
  %c1 = arith.constant 1 : index
  %a = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %t = tile.transpose %a [1, 0] : tensor<2x3xi32> -> tensor<3x2xi32>
  %t_ = arith.constant dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
  %0 = arith.cmpi eq, %t, %t_ : tensor<3x2xi32>
  tile.assert %0, "transpose" : tensor<3x2xi1>
  %r = tile.reshape %a : tensor<2x3xi32> -> tensor<6xi32>
  %r_ = arith.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  %1 = arith.cmpi eq, %r, %r_ : tensor<6xi32>
  tile.assert %1, "reshape" : tensor<6xi1>
  %s = tile.slice %a[0, %c1] : tensor<2x3xi32> -> tensor<2x2xi32>
  %s_ = arith.constant dense<[[2, 3], [5, 6]]> : tensor<2x2xi32>
  %2 = arith.cmpi eq, %s, %s_ : tensor<2x2xi32>
  tile.assert %2, "slice" : tensor<2x2xi1>
  %seven = arith.constant dense<7> : tensor<1x2xi32>
  %i = tile.insert %seven into %a[1, %c1] : tensor<1x2xi32>, tensor<2x3xi32> -> tensor<2x3xi32>
  %i_ = arith.constant dense<[[1, 2, 3], [4, 7, 7]]> : tensor<2x3xi32>
  %3 = arith.cmpi eq, %i, %i_ : tensor<2x3xi32>
  tile.assert %3, "insert" : tensor<2x3xi1>
  %c = tile.cat %s, %seven axis 0 : tensor<2x2xi32>, tensor<1x2xi32> -> tensor<3x2xi32>
  %c_ = arith.constant dense<[[2, 3], [5, 6], [7, 7]]> : tensor<3x2xi32>
  %4 = arith.cmpi eq, %c, %c_ : tensor<3x2xi32>
  tile.assert %4, "cat" : tensor<3x2xi1>
  %row = arith.constant dense<[10, 20]> : tensor<2xi32>
  %b = tile.broadcast %row axes [1] : tensor<2xi32> -> tensor<2x3xi32>
  %b_ = arith.constant dense<[[10, 10, 10], [20, 20, 20]]> : tensor<2x3xi32>
  %5 = arith.cmpi eq, %b, %b_ : tensor<2x3xi32>
  tile.assert %5, "broadcast" : tensor<2x3xi1>
  %nine = arith.constant 9 : i32
  %o = tile.iota dim 1 from %nine : tensor<2x3xi32>
  %o_ = arith.constant dense<[[9, 10, 11], [9, 10, 11]]> : tensor<2x3xi32>
  %6 = arith.cmpi eq, %o, %o_ : tensor<2x3xi32>
  tile.assert %6, "iota" : tensor<2x3xi1>
  tile.return
}

tile.kernel @reduction(%y: memref<1xi32>) {
  %a = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %r = tile.reduce {arith.addi} %a axes [0] : tensor<2x3xi32> -> tensor<3xi32>
  %r_ = arith.constant dense<[5, 7, 9]> : tensor<3xi32>
  %0 = arith.cmpi eq, %r, %r_ : tensor<3xi32>
  tile.assert %0, "reduce" : tensor<3xi1>
  %all = tile.reduce {arith.maxsi} %a axes [0, 1] : tensor<2x3xi32> -> i32
  %six = arith.constant 6 : i32
  %1 = arith.cmpi eq, %all, %six : i32
  tile.assert %1, "reduce to a scalar" : i1
  %x = arith.constant dense<[1.0, 9.0, 2.0, 9.0]> : tensor<4xf32>
  %at = tile.iota dim 0 : tensor<4xi32>
  %v, %i = tile.reduce %x, %at axes [0] neutral [0xFF800000 : f32, 0 : i32] : tensor<4xf32>, tensor<4xi32> -> f32, i32 {
  ^bb0(%l: f32, %li: i32, %rr: f32, %ri: i32):
    %ge = arith.cmpf oge, %l, %rr : f32
    %m = arith.select %ge, %l, %rr : f32
    %mi = arith.select %ge, %li, %ri : i32
    tile.yield %m, %mi : f32, i32
  }
  %one = arith.constant 1 : i32
  %2 = arith.cmpi eq, %i, %one : i32
  tile.assert %2, "the first largest" : i1
  %s = tile.scan {arith.addi} %a axis 1 : tensor<2x3xi32>
  %s_ = arith.constant dense<[[1, 3, 6], [4, 9, 15]]> : tensor<2x3xi32>
  %3 = arith.cmpi eq, %s, %s_ : tensor<2x3xi32>
  tile.assert %3, "scan" : tensor<2x3xi1>
  %b = tile.scan {arith.addi} %a axis 1 reverse exclusive : tensor<2x3xi32>
  %b_ = arith.constant dense<[[5, 3, 0], [11, 6, 0]]> : tensor<2x3xi32>
  %4 = arith.cmpi eq, %b, %b_ : tensor<2x3xi32>
  tile.assert %4, "backward scan" : tensor<2x3xi1>
  %init = arith.constant dense<[100, 200]> : tensor<2xi32>
  %c, %last = tile.scan {arith.addi} %a init %init axis 1 : tensor<2x3xi32>, tensor<2xi32>
  %last_ = arith.constant dense<[106, 215]> : tensor<2xi32>
  %5 = arith.cmpi eq, %last, %last_ : tensor<2xi32>
  tile.assert %5, "the state after the last" : tensor<2xi1>
  tile.return
}

tile.kernel @order(%y: memref<1xi32>) {
  %k = arith.constant dense<[2.0, 0x7FC00000, -1.0, 2.0]> : tensor<4xf32>
  %p = tile.iota dim 0 : tensor<4xi32>
  %sk, %sp = tile.sort %k, %p axis 0 : tensor<4xf32>, tensor<4xi32>
  %sp_ = arith.constant dense<[2, 0, 3, 1]> : tensor<4xi32>
  %0 = arith.cmpi eq, %sp, %sp_ : tensor<4xi32>
  tile.assert %0, "ascending, nan last, ties by position" : tensor<4xi1>
  %tk, %tp = tile.topk %k, %p axis 0 descending : tensor<4xf32>, tensor<4xi32> -> tensor<3xf32>, tensor<3xi32>
  %tp_ = arith.constant dense<[1, 0, 3]> : tensor<3xi32>
  %1 = arith.cmpi eq, %tp, %tp_ : tensor<3xi32>
  tile.assert %1, "descending, nan first" : tensor<3xi1>
  %w = arith.constant dense<[1, 3, 1, 7, -1, 0]> : tensor<6xi32>
  %h = tile.histogram %w : tensor<6xi32> -> tensor<4xi32>
  %h_ = arith.constant dense<[1, 2, 0, 1]> : tensor<4xi32>
  %2 = arith.cmpi eq, %h, %h_ : tensor<4xi32>
  tile.assert %2, "histogram" : tensor<4xi1>
  %seed = arith.constant -1 : i64
  %counter = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  // Known answers of the Random123 library: counter 0, key 0.
  %bits = tile.random %zero, %counter : i64, index -> tensor<4xi32>
  %bits_ = arith.constant dense<[0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]> : tensor<4xi32>
  %3 = arith.cmpi eq, %bits, %bits_ : tensor<4xi32>
  tile.assert %3, "philox" : tensor<4xi1>
  tile.return
}

tile.kernel @product(%y: memref<1xi32>) {
  %a = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>
  %b = arith.constant dense<[[1, 0], [0, 1], [10, -10]]> : tensor<3x2xi8>
  %c = arith.constant dense<[[100, 0], [0, 100]]> : tensor<2x2xi32>
  %p = tile.mma %a, %b, %c : tensor<2x3xi8>, tensor<3x2xi8> -> tensor<2x2xi32>
  %p_ = arith.constant dense<[[131, -28], [64, 45]]> : tensor<2x2xi32>
  %0 = arith.cmpi eq, %p, %p_ : tensor<2x2xi32>
  tile.assert %0, "integers" : tensor<2x2xi1>
  %x = arith.constant dense<1.0009765625> : tensor<2x3xf32> // 1 + 2^-10
  %w = arith.constant dense<1.000244140625> : tensor<3x2xf32> // 1 + 2^-12: 1 in tf32
  %z = arith.constant dense<0.0> : tensor<2x2xf32>
  %t = tile.mma %x, %w, %z precision tf32 : tensor<2x3xf32>, tensor<3x2xf32> -> tensor<2x2xf32>
  %t_ = arith.constant dense<3.0029296875> : tensor<2x2xf32>
  %1 = arith.cmpf oeq, %t, %t_ : tensor<2x2xf32>
  tile.assert %1, "tf32 rounds the operands" : tensor<2x2xi1>
  // Rows [0 1 0 2 | 3 0 0 4] and [5 6 0 0 | 0 0 7 8]: places 1, 3, 0, 3 and 0, 1, 2, 3.
  %k = arith.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi8>
  %at = arith.constant dense<[[205], [228]]> : tensor<2x1xi8>
  %r = arith.constant dense<[[1, 0], [10, 0], [100, 0], [-1, 0], [0, 1], [0, 10], [0, 100], [0, -1]]> : tensor<8x2xi8>
  %q = tile.mma_sparse %k at %at, %r, %c : tensor<2x4xi8>, tensor<2x1xi8>, tensor<8x2xi8> -> tensor<2x2xi32>
  %q_ = arith.constant dense<[[108, -1], [65, 792]]> : tensor<2x2xi32>
  %4 = arith.cmpi eq, %q, %q_ : tensor<2x2xi32>
  tile.assert %4, "2 of 4" : tensor<2x2xi1>
  %m = arith.constant dense<0.5> : tensor<2x32xf8E4M3FN>
  %n = arith.constant dense<2.0> : tensor<32x2xf8E4M3FN>
  %sm = arith.constant dense<4.0> : tensor<2x1xf8E8M0FNU>
  %sn = arith.constant dense<0.25> : tensor<1x2xf8E8M0FNU>
  %s = tile.mma_scaled %m scale %sm, %n scale %sn, %z block 32
      : tensor<2x32xf8E4M3FN>, tensor<2x1xf8E8M0FNU>, tensor<32x2xf8E4M3FN>, tensor<1x2xf8E8M0FNU> -> tensor<2x2xf32>
  %s_ = arith.constant dense<32.0> : tensor<2x2xf32>
  %2 = arith.cmpf oeq, %s, %s_ : tensor<2x2xf32>
  tile.assert %2, "scaled" : tensor<2x2xi1>
  tile.return
}

tile.kernel @type(%y: memref<1xi32>) {
  %x = arith.constant dense<[1000.0, -1000.0, 17.0, 0.5]> : tensor<4xf32>
  %s = tile.convert_type %x saturate : tensor<4xf32> -> tensor<4xf8E4M3FN>
  %f = arith.extf %s : tensor<4xf8E4M3FN> to tensor<4xf32>
  %f_ = arith.constant dense<[448.0, -448.0, 16.0, 0.5]> : tensor<4xf32>
  %0 = arith.cmpf oeq, %f, %f_ : tensor<4xf32>
  tile.assert %0, "saturate" : tensor<4xi1>
  %i = tile.convert_type %x saturate : tensor<4xf32> -> tensor<4xi8>
  %i_ = arith.constant dense<[127, -128, 17, 0]> : tensor<4xi8>
  %1 = arith.cmpi eq, %i, %i_ : tensor<4xi8>
  tile.assert %1, "saturate to integers" : tensor<4xi1>
  %u = tile.convert_type %x saturate rounding up : tensor<4xf32> -> tensor<4xf8E5M2>
  %g = arith.extf %u : tensor<4xf8E5M2> to tensor<4xf32>
  %g_ = arith.constant dense<[1024.0, -896.0, 20.0, 0.5]> : tensor<4xf32>
  %2 = arith.cmpf oeq, %g, %g_ : tensor<4xf32>
  tile.assert %2, "rounding up" : tensor<4xi1>
  %d = arith.truncf %x downward : tensor<4xf32> to tensor<4xf8E5M2>
  %e = arith.extf %d : tensor<4xf8E5M2> to tensor<4xf32>
  %e_ = arith.constant dense<[896.0, -1024.0, 16.0, 0.5]> : tensor<4xf32>
  %5 = arith.cmpf oeq, %e, %e_ : tensor<4xf32>
  tile.assert %5, "rounding down" : tensor<4xi1>
  %half = arith.constant dense<[0x7FFFFFFF, 0x7FFFFFFF, 0x3FFFFFFF, 0]> : tensor<4xi32> // 17 is a quarter of the way
  %q = tile.convert_type %x rounding stochastic %half : tensor<4xf32> -> tensor<4xf8E5M2>
  %h = arith.extf %q : tensor<4xf8E5M2> to tensor<4xf32>
  %h_ = arith.constant dense<[1024.0, -1024.0, 20.0, 0.5]> : tensor<4xf32>
  %6 = arith.cmpf oeq, %h, %h_ : tensor<4xf32>
  tile.assert %6, "stochastic" : tensor<4xi1>
  %b = arith.constant dense<[0x21, 0x43]> : tensor<2xi8>
  %n = tile.bitcast %b : tensor<2xi8> -> tensor<4xi4>
  %n_ = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi4>
  %3 = arith.cmpi eq, %n, %n_ : tensor<4xi4>
  tile.assert %3, "the lowest bits come first" : tensor<4xi1>
  %w = tile.bitcast %n : tensor<4xi4> -> tensor<1xi16>
  %w_ = arith.constant dense<0x4321> : tensor<1xi16>
  %4 = arith.cmpi eq, %w, %w_ : tensor<1xi16>
  tile.assert %4, "and back" : tensor<1xi1>
  tile.return
}

tile.kernel @memory_(%y: memref<5xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m1 = arith.constant -1 : index
  %Y = tile.view %y : memref<5xi32> to !tile.view<3xi32>
  %S = tile.view %y : memref<5xi32> to !tile.view<2xi32, steps = [1], strides = [2]>
  %n = tile.num_tiles %Y dim 0 : !tile.view<3xi32>
  %two = arith.constant 2 : index
  %0 = arith.cmpi eq, %n, %two : index
  tile.assert %0, "num_tiles" : i1
  %v = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  tile.store %v, %Y[%c0] : tensor<3xi32>, !tile.view<3xi32>
  tile.store %v, %Y[%c1] : tensor<3xi32>, !tile.view<3xi32>
  %p = tile.load %Y[%c1] : !tile.view<3xi32> -> tensor<3xi32>
  %p_ = arith.constant dense<[1, 2, 0]> : tensor<3xi32>
  %1 = arith.cmpi eq, %p, %p_ : tensor<3xi32>
  tile.assert %1, "padding" : tensor<3xi1>
  %in = tile.in_bounds %Y[%c1] : !tile.view<3xi32> -> tensor<3xi1>
  %in_ = arith.constant dense<[true, true, false]> : tensor<3xi1>
  %2 = arith.cmpi eq, %in, %in_ : tensor<3xi1>
  tile.assert %2, "in_bounds" : tensor<3xi1>
  %s = tile.load %S[%m1] : !tile.view<2xi32, steps = [1], strides = [2]> -> tensor<2xi32>
  %s_ = arith.constant dense<[0, 2]> : tensor<2xi32>
  %3 = arith.cmpi eq, %s, %s_ : tensor<2xi32>
  tile.assert %3, "steps and strides" : tensor<2xi1>
  %at = arith.constant dense<[4, -1, 9]> : tensor<3xi32>
  %nine = arith.constant dense<9> : tensor<3xi32>
  %mask = arith.constant dense<true> : tensor<3xi1>
  %g = tile.gather %y[%at] mask %mask other %nine bounds(drop) : memref<5xi32>[tensor<3xi32>] -> tensor<3xi32>
  %g_ = arith.constant dense<[2, 9, 9]> : tensor<3xi32>
  %4 = arith.cmpi eq, %g, %g_ : tensor<3xi32>
  tile.assert %4, "drop reads other" : tensor<3xi1>
  %k = tile.gather %y[%at] bounds(clamp) : memref<5xi32>[tensor<3xi32>] -> tensor<3xi32>
  %k_ = arith.constant dense<[2, 1, 2]> : tensor<3xi32>
  %5 = arith.cmpi eq, %k, %k_ : tensor<3xi32>
  tile.assert %5, "clamp" : tensor<3xi1>
  %same = arith.constant dense<0> : tensor<3xi32>
  tile.scatter %v, %y[%same] combine(add) bounds(drop) : tensor<3xi32>, memref<5xi32>[tensor<3xi32>]
  %sum = memref.load %y[%c0] : memref<5xi32>
  %seven = arith.constant 7 : i32
  %6 = arith.cmpi eq, %sum, %seven : i32
  tile.assert %6, "all three are added" : i1
  %o = tile.gather %v[%same] axis 0 bounds(trap) : tensor<3xi32>[tensor<3xi32>] -> tensor<3xi32>
  %o_ = arith.constant dense<1> : tensor<3xi32>
  %7 = arith.cmpi eq, %o, %o_ : tensor<3xi32>
  tile.assert %7, "on the chip" : tensor<3xi1>
  tile.return
}

tile.kernel @atomic(%y: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %five = arith.constant 5 : i32
  tile.atomic_store %five, %y[%c0] release device : i32, memref<1xi32>
  %old = tile.atomic_rmw add %one, %y[%c0] relaxed device : i32, memref<1xi32> -> i32
  %0 = arith.cmpi eq, %old, %five : i32
  tile.assert %0, "what was there" : i1
  %six = arith.constant 6 : i32
  %seen = tile.atomic_cas %six, %one, %y[%c0] acq_rel device : i32, memref<1xi32> -> i32
  %1 = arith.cmpi eq, %seen, %six : i32
  tile.assert %1, "the exchange took place" : i1
  %kept = tile.atomic_cas %six, %five, %y[%c0] acq_rel device : i32, memref<1xi32> -> i32
  %now = tile.atomic_load %y[%c0] acquire device : memref<1xi32> -> i32
  %2 = arith.cmpi eq, %now, %one : i32
  tile.assert %2, "the second one did not" : i1
  tile.return
}

tile.func private @twice(%x: tensor<2xi32>) -> tensor<2xi32> {
  %y = arith.addi %x, %x : tensor<2xi32>
  tile.return %y : tensor<2xi32>
}
tile.kernel @calling(%y: memref<1xi32>) {
  %x = arith.constant dense<[3, 4]> : tensor<2xi32>
  %t = tile.call @twice(%x) : (tensor<2xi32>) -> tensor<2xi32>
  %t_ = arith.constant dense<[6, 8]> : tensor<2xi32>
  %0 = arith.cmpi eq, %t, %t_ : tensor<2xi32>
  tile.assert %0, "call" : tensor<2xi1>
  tile.return
}
func.func @shapes(%y: memref<1xi32>) {
  %c1 = arith.constant 1 : index
  tile.launch @shape grid(%c1) outs(%y : memref<1xi32>)
  return
}
func.func @reductions(%y: memref<1xi32>) {
  %c1 = arith.constant 1 : index
  tile.launch @reduction grid(%c1) outs(%y : memref<1xi32>)
  return
}
func.func @orders(%y: memref<1xi32>) {
  %c1 = arith.constant 1 : index
  tile.launch @order grid(%c1) outs(%y : memref<1xi32>)
  return
}
func.func @products(%y: memref<1xi32>) {
  %c1 = arith.constant 1 : index
  tile.launch @product grid(%c1) outs(%y : memref<1xi32>)
  return
}
func.func @types(%y: memref<1xi32>) {
  %c1 = arith.constant 1 : index
  tile.launch @type grid(%c1) outs(%y : memref<1xi32>)
  return
}
func.func @memory(%y: memref<5xi32>) {
  %c1 = arith.constant 1 : index
  tile.launch @memory_ grid(%c1) outs(%y : memref<5xi32>)
  return
}
func.func @atomics(%y: memref<1xi32>) {
  %c1 = arith.constant 1 : index
  tile.launch @atomic grid(%c1) outs(%y : memref<1xi32>)
  return
}
func.func @functions(%y: memref<1xi32>) {
  %c1 = arith.constant 1 : index
  tile.launch @calling grid(%c1) outs(%y : memref<1xi32>)
  return
}
