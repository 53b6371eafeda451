// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

// What:   inclusive prefix sum of each row of a matrix whose rows are too long for one tile.
// Level:  tile kernel.
// Shows:  tile.scan with a carry: `init` enters on the left, the second result is the state after the last element;
//         so a long scan is a loop of short ones, and a scan split over programs passes the same value through memory.
// Second: @chained_scan does the latter: one pass over memory, programs wait for their left neighbour (acquire / release).

tile.kernel @row_scan(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %X = tile.view %x[%i, _] : memref<?x?xf32> to !tile.view<1024xf32>
  %Y = tile.view %y[%i, _] : memref<?x?xf32> to !tile.view<1024xf32>
  %n = tile.num_tiles %X dim 0 : !tile.view<1024xf32>
  %total = scf.for %j = %c0 to %n step %c1 iter_args(%carry = %zero) -> (f32) {
    %v = tile.load %X[%j] : !tile.view<1024xf32> -> tensor<1024xf32>
    %s, %c = tile.scan {arith.addf} %v init %carry axis 0 : tensor<1024xf32>, f32
    tile.store %s, %Y[%j] : tensor<1024xf32>, !tile.view<1024xf32>
    scf.yield %c : f32
  }
  tile.return
}

tile.kernel @chained_scan(%x: memref<?xf32>, %y: memref<?xf32>, %state: memref<?xf32>, %ready: memref<?xi32>, %ticket: memref<i32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %none = arith.constant 0 : i32
  %zero = arith.constant 0.0 : f32
  // Tiles are handed out in order of arrival, so the left neighbour has always started: no deadlock on any schedule.
  %t = tile.atomic_rmw add %one, %ticket[] relaxed device : i32, memref<i32> -> i32
  %i = arith.index_cast %t : i32 to index
  %X = tile.view %x : memref<?xf32> to !tile.view<1024xf32>
  %Y = tile.view %y : memref<?xf32> to !tile.view<1024xf32>
  %v = tile.load %X[%i] : !tile.view<1024xf32> -> tensor<1024xf32>

  %first = arith.cmpi eq, %t, %none : i32
  %carry = scf.if %first -> (f32) {
    scf.yield %zero : f32
  } else {
    %left = arith.subi %t, %one : i32
    %l = arith.index_cast %left : i32 to index
    scf.while : () -> () {
      %f = tile.atomic_load %ready[%l] acquire device : memref<?xi32> -> i32
      %wait = arith.cmpi eq, %f, %none : i32
      scf.condition(%wait)
    } do {
      scf.yield
    }
    %c = memref.load %state[%l] : memref<?xf32>
    scf.yield %c : f32
  }
  %s, %out = tile.scan {arith.addf} %v init %carry axis 0 : tensor<1024xf32>, f32
  memref.store %out, %state[%i] : memref<?xf32>
  tile.atomic_store %one, %ready[%i] release device : i32, memref<?xi32>
  tile.store %s, %Y[%i] : tensor<1024xf32>, !tile.view<1024xf32>
  tile.return
}

// CHECK: tile.scan {arith.addf} %{{.*}} init %{{.*}} axis 0 : tensor<1024xf32>, f32
// CHECK: tile.atomic_rmw add %{{.*}}, %{{.*}}[] relaxed device : i32, memref<i32> -> i32
// CHECK: tile.atomic_load %{{.*}}[%{{.*}}] acquire device : memref<?xi32> -> i32
// CHECK: tile.atomic_store %{{.*}}, %{{.*}}[%{{.*}}] release device : i32, memref<?xi32>
