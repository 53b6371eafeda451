// Copies land at their wait and barriers count rounds; what a schedule may not do is reported (docs/numerics.md §6).
#sa = #tile.layout<offset [128:d0]>
#v = #tile.layout<reg [4:d0*32], lane [32:d0], warp [4:_]>

// RUN: %tile_run --target=interpret %s --entry=waits
// RUN: not %tile_run --target=interpret %s --entry=reads_early 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: .mlir:{{[0-9]+:[0-9]+}}: error: 'tile.load' op reads an element whose asynchronous copy has not been waited for
tile.kernel @wait(%x: memref<128xf32>, %y: memref<128xf32>) attributes {machine = #tile.machine<"sm_80">, warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<128xf32> to !tile.view<128xf32>
  %Y = tile.view %y : memref<128xf32> to !tile.view<128xf32>
  %B = tile.alloc : !tile.buffer<128xf32, #sa, shared>
  %t = tile.copy_async %X[%c0] to %B : !tile.view<128xf32> to !tile.buffer<128xf32, #sa, shared>
  tile.wait %t
  tile.sync
  %v = tile.load %B : !tile.buffer<128xf32, #sa, shared> -> tensor<128xf32, #v>
  tile.store %v, %Y[%c0] : tensor<128xf32, #v>, !tile.view<128xf32>
  tile.return
}
tile.kernel @early(%x: memref<128xf32>, %y: memref<128xf32>) attributes {machine = #tile.machine<"sm_80">, warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<128xf32> to !tile.view<128xf32>
  %Y = tile.view %y : memref<128xf32> to !tile.view<128xf32>
  %B = tile.alloc : !tile.buffer<128xf32, #sa, shared>
  %t = tile.copy_async %X[%c0] to %B : !tile.view<128xf32> to !tile.buffer<128xf32, #sa, shared>
  %v = tile.load %B : !tile.buffer<128xf32, #sa, shared> -> tensor<128xf32, #v>
  tile.store %v, %Y[%c0] : tensor<128xf32, #v>, !tile.view<128xf32>
  tile.wait %t
  tile.return
}
func.func @waits() {
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %x = tensor.generate {
  ^bb0(%i: index):
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    tensor.yield %f : f32
  } : tensor<128xf32>
  %e = tensor.empty() : tensor<128xf32>
  %y = tile.launch @wait grid(%c1) ins(%x : tensor<128xf32>) outs(%e : tensor<128xf32>) -> tensor<128xf32>
  %five = arith.constant 5.0 : f32
  %seen = tensor.extract %y[%c5] : tensor<128xf32>
  %same = arith.cmpf oeq, %seen, %five : f32
  cf.assert %same, "element 5 is 5"
  return
}
func.func @reads_early(%x: tensor<128xf32>) -> tensor<128xf32> {
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<128xf32>
  %y = tile.launch @early grid(%c1) ins(%x : tensor<128xf32>) outs(%e : tensor<128xf32>) -> tensor<128xf32>
  return %y : tensor<128xf32>
}

// Two partitions that wait for each other, and one that arrives too often:
// RUN: not %tile_run --target=interpret %s --entry=deadlocks 2>&1 | FileCheck %s --check-prefix=DEADLOCK
// DEADLOCK: .mlir:{{[0-9]+:[0-9]+}}: error: 'tile.barrier_wait' op waits for round 0, which nobody completes: 0 of 1 arrivals, 0 of 0 bytes
// RUN: not %tile_run --target=interpret %s --entry=arrives_twice 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: .mlir:{{[0-9]+:[0-9]+}}: error: 'tile.barrier_arrive' op arrives once more than the 1 times that complete round 0
tile.kernel @deadlock(%y: memref<128xf32>) attributes {machine = #tile.machine<"sm_90a">, warps = 8 : i32} {
  %a = tile.alloc : !tile.barrier<1>
  %b = tile.alloc : !tile.barrier<1>
  tile.warp_specialize captures(%a, %b : !tile.barrier<1>, !tile.barrier<1>)
  partition "left" warps(4) {
    %c0 = arith.constant 0 : index
    tile.barrier_wait %a[%c0] : !tile.barrier<1>
    tile.barrier_arrive %b[%c0] : !tile.barrier<1>
    tile.yield
  }
  partition "right" warps(4) {
    %c0 = arith.constant 0 : index
    tile.barrier_wait %b[%c0] : !tile.barrier<1>
    tile.barrier_arrive %a[%c0] : !tile.barrier<1>
    tile.yield
  }
  tile.return
}
tile.kernel @twice(%y: memref<128xf32>) attributes {machine = #tile.machine<"sm_90a">, warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %a = tile.alloc : !tile.barrier<1>
  tile.barrier_arrive %a[%c0] : !tile.barrier<1>
  tile.barrier_arrive %a[%c0] : !tile.barrier<1>
  tile.return
}
func.func @deadlocks(%y: memref<128xf32>) {
  %c1 = arith.constant 1 : index
  tile.launch @deadlock grid(%c1) outs(%y : memref<128xf32>)
  return
}
func.func @arrives_twice(%y: memref<128xf32>) {
  %c1 = arith.constant 1 : index
  tile.launch @twice grid(%c1) outs(%y : memref<128xf32>)
  return
}

// What an asynchronous product reads and writes is not there for others before its wait:
// RUN: %tile_run --target=interpret %s --entry=multiplies
// RUN: not %tile_run --target=interpret %s --entry=refills 2>&1 | FileCheck %s --check-prefix=REFILL
// REFILL: .mlir:{{[0-9]+:[0-9]+}}: error: 'tile.store' op writes an element that an asynchronous product reads still under way
// REFILL: note: the product starts here
// RUN: not %tile_run --target=interpret %s --entry=refills_by_copy 2>&1 | FileCheck %s --check-prefix=COPY
// COPY: .mlir:{{[0-9]+:[0-9]+}}: error: 'tile.copy_async' op writes an element that an asynchronous product reads
// RUN: not %tile_run --target=interpret %s --entry=reads_the_sum_early 2>&1 | FileCheck %s --check-prefix=SUM
// SUM: .mlir:{{[0-9]+:[0-9]+}}: error: 'tile.load' op reads an element of the accumulator of an asynchronous product
#m = #tile.layout<offset [16:d1, 16:d0]>
#t = #tile.layout<reg [8:d1], lane [2:d1*8, 16:d0], warp [4:_]>
tile.kernel @products(%how: index, %x: memref<16x16xf16>, %y: memref<16x16xf32>) attributes {warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %X = tile.view %x : memref<16x16xf16> to !tile.view<16x16xf16>
  %Y = tile.view %y : memref<16x16xf32> to !tile.view<16x16xf32>
  %v = tile.load %X[%c0, %c0] : !tile.view<16x16xf16> -> tensor<16x16xf16, #t>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #t>
  %A = tile.alloc : !tile.buffer<16x16xf16, #m, shared>
  %C = tile.alloc : !tile.buffer<16x16xf32, #m, tmem>
  %bar = tile.alloc : !tile.barrier<1>
  tile.store %v, %A : tensor<16x16xf16, #t>, !tile.buffer<16x16xf16, #m, shared>
  tile.store %zero, %C : tensor<16x16xf32, #t>, !tile.buffer<16x16xf32, #m, tmem>
  tile.mma_async %A, %A, %C atom "a" signals %bar[%c0]
      : !tile.buffer<16x16xf16, #m, shared>, !tile.buffer<16x16xf16, #m, shared>, !tile.barrier<1> -> !tile.buffer<16x16xf32, #m, tmem>
  %stores = arith.cmpi eq, %how, %c1 : index
  scf.if %stores {
    tile.store %v, %A : tensor<16x16xf16, #t>, !tile.buffer<16x16xf16, #m, shared>
  }
  %copies = arith.cmpi eq, %how, %c2 : index
  scf.if %copies {
    %token = tile.copy_async %X[%c0, %c0] to %A : !tile.view<16x16xf16> to !tile.buffer<16x16xf16, #m, shared>
    tile.wait %token
  }
  %reads = arith.cmpi eq, %how, %c3 : index
  scf.if %reads {
    %early = tile.load %C : !tile.buffer<16x16xf32, #m, tmem> -> tensor<16x16xf32, #t>
    tile.store %early, %Y[%c0, %c0] : tensor<16x16xf32, #t>, !tile.view<16x16xf32>
  }
  tile.barrier_wait %bar[%c0] : !tile.barrier<1>
  tile.store %v, %A : tensor<16x16xf16, #t>, !tile.buffer<16x16xf16, #m, shared>
  %sum = tile.load %C : !tile.buffer<16x16xf32, #m, tmem> -> tensor<16x16xf32, #t>
  tile.store %sum, %Y[%c0, %c0] : tensor<16x16xf32, #t>, !tile.view<16x16xf32>
  tile.return
}
func.func @multiplies(%x: memref<16x16xf16>, %y: memref<16x16xf32>) {
  %c1 = arith.constant 1 : index
  %how = arith.constant 0 : index
  tile.launch @products grid(%c1) ins(%how : index) outs(%x, %y : memref<16x16xf16>, memref<16x16xf32>)
  return
}
func.func @refills(%x: memref<16x16xf16>, %y: memref<16x16xf32>) {
  %c1 = arith.constant 1 : index
  tile.launch @products grid(%c1) ins(%c1 : index) outs(%x, %y : memref<16x16xf16>, memref<16x16xf32>)
  return
}
func.func @refills_by_copy(%x: memref<16x16xf16>, %y: memref<16x16xf32>) {
  %c1 = arith.constant 1 : index
  %how = arith.constant 2 : index
  tile.launch @products grid(%c1) ins(%how : index) outs(%x, %y : memref<16x16xf16>, memref<16x16xf32>)
  return
}
func.func @reads_the_sum_early(%x: memref<16x16xf16>, %y: memref<16x16xf32>) {
  %c1 = arith.constant 1 : index
  %how = arith.constant 3 : index
  tile.launch @products grid(%c1) ins(%how : index) outs(%x, %y : memref<16x16xf16>, memref<16x16xf32>)
  return
}
