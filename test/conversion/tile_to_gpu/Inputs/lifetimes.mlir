// Buffers and exchanges that take each other's place in shared memory: what lifetimes.py runs and mutates. In each the
// barrier between one life and the next is the compiler's; those within a life are the program's.

#rows = #tile.layout<reg [8:d0*4], lane [32:d1], warp [4:d0]>
#columns = #tile.layout<reg [8:d1*4], lane [32:d0], warp [4:d1]>
#dense = #tile.layout<offset [32:d1, 32:d0]>

// Two buffers, one after the other.
tile.kernel @in_turn(%x: memref<32x32xf64>, %y: memref<32x32xf64>, %z: memref<32x32xf64>) attributes {warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %A = tile.alloc : !tile.buffer<32x32xf64, #dense, shared>
  %B = tile.alloc : !tile.buffer<32x32xf64, #dense, shared>
  %X = tile.view %x : memref<32x32xf64> to !tile.view<32x32xf64>
  %Y = tile.view %y : memref<32x32xf64> to !tile.view<32x32xf64>
  %Z = tile.view %z : memref<32x32xf64> to !tile.view<32x32xf64>
  %a = tile.load %X[%c0, %c0] : !tile.view<32x32xf64> -> tensor<32x32xf64, #rows>
  tile.store %a, %A : tensor<32x32xf64, #rows>, !tile.buffer<32x32xf64, #dense, shared>
  tile.sync
  %at = tile.load %A : !tile.buffer<32x32xf64, #dense, shared> -> tensor<32x32xf64, #columns>
  %b = tile.load %Y[%c0, %c0] : !tile.view<32x32xf64> -> tensor<32x32xf64, #rows>
  tile.store %b, %B : tensor<32x32xf64, #rows>, !tile.buffer<32x32xf64, #dense, shared>
  tile.sync
  %bt = tile.load %B : !tile.buffer<32x32xf64, #dense, shared> -> tensor<32x32xf64, #columns>
  %s = arith.subf %at, %bt : tensor<32x32xf64, #columns>
  tile.store %s, %Z[%c0, %c0] : tensor<32x32xf64, #columns>, !tile.view<32x32xf64>
  tile.return
}

// A buffer that is copied into in a loop, then an exchange in its place; in the loop they lie apart.
tile.kernel @loop_then_exchange(%x: memref<128x32xf64>, %z: memref<32x32xf64>) attributes {warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf64, #rows>
  %A = tile.alloc : !tile.buffer<32x32xf64, #dense, shared>
  %X = tile.view %x : memref<128x32xf64> to !tile.view<32x32xf64>
  %Z = tile.view %z : memref<32x32xf64> to !tile.view<32x32xf64>
  %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%acc = %zero) -> (tensor<32x32xf64, #rows>) {
    tile.sync
    %t = tile.copy_async %X[%k, %c0] to %A : !tile.view<32x32xf64> to !tile.buffer<32x32xf64, #dense, shared>
    tile.wait %t
    tile.sync
    %a = tile.load %A : !tile.buffer<32x32xf64, #dense, shared> -> tensor<32x32xf64, #columns>
    %r = tile.convert_layout %a : tensor<32x32xf64, #columns> -> tensor<32x32xf64, #rows>
    %more = arith.addf %acc, %r : tensor<32x32xf64, #rows>
    scf.yield %more : tensor<32x32xf64, #rows>
  }
  %c = tile.convert_layout %sum : tensor<32x32xf64, #rows> -> tensor<32x32xf64, #columns>
  tile.store %c, %Z[%c0, %c0] : tensor<32x32xf64, #columns>, !tile.view<32x32xf64>
  tile.return
}

// A copy that nobody reads, still under way when the next buffer would begin: the wait ends its life.
tile.kernel @unread_copy(%x: memref<32x32xf64>, %z: memref<32x32xf64>) attributes {warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %A = tile.alloc : !tile.buffer<32x32xf64, #dense, shared>
  %X = tile.view %x : memref<32x32xf64> to !tile.view<32x32xf64>
  %Z = tile.view %z : memref<32x32xf64> to !tile.view<32x32xf64>
  %t = tile.copy_async %X[%c0, %c0] to %A : !tile.view<32x32xf64> to !tile.buffer<32x32xf64, #dense, shared>
  %a = tile.load %X[%c0, %c0] : !tile.view<32x32xf64> -> tensor<32x32xf64, #rows>
  tile.wait %t
  %c = tile.convert_layout %a : tensor<32x32xf64, #rows> -> tensor<32x32xf64, #columns>
  tile.store %c, %Z[%c0, %c0] : tensor<32x32xf64, #columns>, !tile.view<32x32xf64>
  tile.return
}
