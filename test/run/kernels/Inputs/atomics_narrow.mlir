// Atomics on elements that share words, that no instruction combines, and on bytes held by fewer bits.

#nibbles = #tile.layout<offset [8:d0]>

// Every instance adds to the same places; the words' other elements must not suffer.
tile.kernel @packed_add(%x: memref<?xi8>, %w: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xi8> to !tile.view<24xi8>
  %W = tile.view %w : memref<?xi32> to !tile.view<24xi4, packed = #nibbles>
  %v = tile.load %X[%i] : !tile.view<24xi8> -> tensor<24xi8>
  %q = arith.trunci %v : tensor<24xi8> to tensor<24xi4>
  tile.store %q, %W[%c0] combine(add) : tensor<24xi4>, !tile.view<24xi4, packed = #nibbles>
  tile.return
}

tile.kernel @packed_max(%x: memref<?xi8>, %w: memref<?xi32>, %old: memref<?xi8>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?xi8> to !tile.view<24xi8>
  %W = tile.view %w : memref<?xi32> to !tile.view<24xi4, packed = #nibbles>
  %O = tile.view %old : memref<?xi8> to !tile.view<24xi8>
  %v = tile.load %X[%c0] : !tile.view<24xi8> -> tensor<24xi8>
  %q = arith.trunci %v : tensor<24xi8> to tensor<24xi4>
  %o = tile.atomic_rmw umax %q, %W[%c0] acq_rel device : tensor<24xi4>, !tile.view<24xi4, packed = #nibbles>[index] -> tensor<24xi4>
  %z = arith.extui %o : tensor<24xi4> to tensor<24xi8>
  tile.store %z, %O[%c0] : tensor<24xi8>, !tile.view<24xi8>
  tile.return
}

// Where 3 is there it becomes 12.
tile.kernel @packed_exchange(%w: memref<?xi32>, %old: memref<?xi8>) {
  %c0 = arith.constant 0 : index
  %W = tile.view %w : memref<?xi32> to !tile.view<24xi4, packed = #nibbles>
  %O = tile.view %old : memref<?xi8> to !tile.view<24xi8>
  %three = arith.constant dense<3> : tensor<24xi4>
  %twelve = arith.constant dense<12> : tensor<24xi4>
  %o = tile.atomic_cas %three, %twelve, %W[%c0] acq_rel device : tensor<24xi4>, !tile.view<24xi4, packed = #nibbles>[index] -> tensor<24xi4>
  %z = arith.extui %o : tensor<24xi4> to tensor<24xi8>
  tile.store %z, %O[%c0] : tensor<24xi8>, !tile.view<24xi8>
  tile.return
}

// Subnormal bf16 and f8 sums.
tile.kernel @add_bf16(%x: memref<?xbf16>, %y: memref<?xbf16>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xbf16> to !tile.view<8xbf16>
  %Y = tile.view %y : memref<?xbf16> to !tile.view<8xbf16>
  %v = tile.load %X[%i] : !tile.view<8xbf16> -> tensor<8xbf16>
  tile.store %v, %Y[%i] combine(add) : tensor<8xbf16>, !tile.view<8xbf16>
  tile.return
}

tile.kernel @add_f8(%x: memref<?xf8E4M3FN>, %y: memref<?xf8E4M3FN>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf8E4M3FN> to !tile.view<8xf8E4M3FN>
  %Y = tile.view %y : memref<?xf8E4M3FN> to !tile.view<8xf8E4M3FN>
  %v = tile.load %X[%i] : !tile.view<8xf8E4M3FN> -> tensor<8xf8E4M3FN>
  tile.store %v, %Y[%i] combine(add) : tensor<8xf8E4M3FN>, !tile.view<8xf8E4M3FN>
  tile.return
}

// One rounding: the product alone would be a tie.
tile.kernel @multiply_add(%x: memref<?xbf16>, %y: memref<?xbf16>, %z: memref<?xbf16>, %r: memref<?xbf16>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xbf16> to !tile.view<8xbf16>
  %Y = tile.view %y : memref<?xbf16> to !tile.view<8xbf16>
  %Z = tile.view %z : memref<?xbf16> to !tile.view<8xbf16>
  %R = tile.view %r : memref<?xbf16> to !tile.view<8xbf16>
  %a = tile.load %X[%i] : !tile.view<8xbf16> -> tensor<8xbf16>
  %b = tile.load %Y[%i] : !tile.view<8xbf16> -> tensor<8xbf16>
  %c = tile.load %Z[%i] : !tile.view<8xbf16> -> tensor<8xbf16>
  %d = math.fma %a, %b, %c : tensor<8xbf16>
  tile.store %d, %R[%i] : tensor<8xbf16>, !tile.view<8xbf16>
  tile.return
}

tile.kernel @from_f64(%x: memref<?xf64>, %y: memref<?xbf16>, %z: memref<?xf16>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf64> to !tile.view<8xf64>
  %Y = tile.view %y : memref<?xbf16> to !tile.view<8xbf16>
  %Z = tile.view %z : memref<?xf16> to !tile.view<8xf16>
  %v = tile.load %X[%i] : !tile.view<8xf64> -> tensor<8xf64>
  %b = arith.truncf %v : tensor<8xf64> to tensor<8xbf16>
  %h = arith.truncf %v : tensor<8xf64> to tensor<8xf16>
  tile.store %b, %Y[%i] : tensor<8xbf16>, !tile.view<8xbf16>
  tile.store %h, %Z[%i] : tensor<8xf16>, !tile.view<8xf16>
  tile.return
}
