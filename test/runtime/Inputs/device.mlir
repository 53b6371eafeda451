// The kernels of the conformance suite of drivers (device_test.c): y = x + x; y = x * x by way of 56 KiB of shared memory,
// which a driver must be asked for; a meeting of all programs, for which all of them must run at once.
#line = #tile.layout<offset [1024:d0]>

tile.kernel @add(%x: memref<?xf32>, %y: memref<?xf32>) attributes {warps = 4 : i32} {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<256xf32>
  %Y = tile.view %y : memref<?xf32> to !tile.view<256xf32>
  %a = tile.load %X[%i] : !tile.view<256xf32> -> tensor<256xf32>
  %c = arith.addf %a, %a : tensor<256xf32>
  tile.store %c, %Y[%i] : tensor<256xf32>, !tile.view<256xf32>
  tile.return
}

tile.kernel @square(%x: memref<?xf32>, %y: memref<?xf32>) attributes {warps = 4 : i32} {
  %i = tile.program_id 0
  %last = arith.constant 13 : index
  %X = tile.view %x : memref<?xf32> to !tile.view<1024xf32>
  %Y = tile.view %y : memref<?xf32> to !tile.view<1024xf32>
  %B = tile.alloc : !tile.buffer<1024xf32, #line, shared, stages = 14>
  %b = tile.slot %B[%last] : !tile.buffer<1024xf32, #line, shared, stages = 14>
  tile.copy %X[%i] to %b : !tile.view<1024xf32> to !tile.buffer<1024xf32, #line, shared>
  tile.sync
  %a = tile.load %b : !tile.buffer<1024xf32, #line, shared> -> tensor<1024xf32>
  %c = arith.mulf %a, %a : tensor<1024xf32>
  tile.store %c, %Y[%i] : tensor<1024xf32>, !tile.view<1024xf32>
  tile.return
}

// y[i] = x[(i + 1) mod n], n programs, where y was x's copy by its own program: nobody reads before all have written.
tile.kernel @meet(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>, %arrived: memref<?xi32>)
    attributes {warps = 4 : i32, cooperative} {
  %i = tile.program_id 0
  %n = tile.num_programs 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %all = arith.index_cast %n : index to i32
  %v = memref.load %x[%i] : memref<?xf32>
  memref.store %v, %y[%i] : memref<?xf32>
  %before = tile.atomic_rmw add %one, %arrived[%c0] acq_rel device : i32, memref<?xi32> -> i32
  scf.while : () -> () {
    %seen = tile.atomic_load %arrived[%c0] acquire device : memref<?xi32> -> i32
    %wait = arith.cmpi slt, %seen, %all : i32
    scf.condition(%wait)
  } do {
    scf.yield
  }
  %next = arith.addi %i, %c1 : index
  %at = arith.remui %next, %n : index
  %w = memref.load %y[%at] : memref<?xf32>
  memref.store %w, %z[%i] : memref<?xf32>
  tile.return
}

func.func @main(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>, %arrived: memref<?xi32>) {
  %c4 = arith.constant 4 : index
  tile.launch @add grid(%c4) ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  tile.launch @square grid(%c4) ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  tile.launch @meet grid(%c4) ins(%x : memref<?xf32>)
    outs(%y, %z, %arrived : memref<?xf32>, memref<?xf32>, memref<?xi32>)
  return
}
