// RUN: %tile_opt %s --pass-pipeline='builtin.module(convert-tile-to-vector,func.func(canonicalize,cse))' | FileCheck %s
// RUN: %mlir_opt_plugin %s --pass-pipeline='builtin.module(convert-tile-to-vector,func.func(canonicalize,cse))' | FileCheck %s

// Sizes that are known and divide: no masks, no tests, one loop of vectors.
// CHECK-LABEL: func.func @copy(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// CHECK-NOT:     mask
// CHECK:         scf.for {{.*}} = %c0 to %c64 step %c16
// CHECK-NEXT:      vector.load
// CHECK-NEXT:      vector.store
tile.kernel @copy(%a: memref<64xf32>, %y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %A = tile.view %a : memref<64xf32> to !tile.view<64xf32>
  %Y = tile.view %y : memref<64xf32> to !tile.view<64xf32>
  %x = tile.load %A[%c0] : !tile.view<64xf32> -> tensor<64xf32>
  tile.store %x, %Y[%c0] : tensor<64xf32>, !tile.view<64xf32>
  tile.return
}

// A dynamic size: whole vectors first, then masked ones.
// CHECK-LABEL: func.func @ragged
// CHECK:         scf.for %{{.*}} = %c0 to %[[WHOLE:.*]] step %c16
// CHECK:           vector.load
// CHECK:         scf.for %{{.*}} = %[[WHOLE]] to
// CHECK:           vector.maskedload
// CHECK:           vector.maskedstore
tile.kernel @ragged(%y: memref<?xf32>) {
  %i = tile.program_id 0
  %Y = tile.view %y : memref<?xf32> to !tile.view<64xf32>
  %x = tile.load %Y[%i] : !tile.view<64xf32> -> tensor<64xf32>
  %s = arith.addf %x, %x : tensor<64xf32>
  tile.store %s, %Y[%i] : tensor<64xf32>, !tile.view<64xf32>
  tile.return
}

// The micro-kernel: accumulators are SSA values of the loop over k, A broadcast, B loaded, both where they were packed.
// CHECK-LABEL: func.func @micro_kernel
// CHECK:         %[[ACC:.*]]:4 = scf.for {{.*}} step %c4 iter_args
// CHECK:           %[[B0:.*]] = vector.load
// CHECK:           %[[B1:.*]] = vector.load
// CHECK:           memref.load
// CHECK:           %[[A:.*]] = vector.broadcast
// CHECK:           vector.fma %[[A]], %[[B0]]
// CHECK:           vector.fma %[[A]], %[[B1]]
// CHECK:           scf.yield
// CHECK-NOT:     maskedload
// CHECK:         vector.store %[[ACC]]#0
tile.kernel @micro_kernel(%a: memref<2x64xf32>, %b: memref<64x32xf32>, %c: memref<2x32xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<2x32xf32>
  %PB = tile.alloc : !tile.buffer<64x32xf32, #tile.layout<offset [32:d1, 64:d0]>, local>
  %A = tile.view %a : memref<2x64xf32> to !tile.view<2x64xf32>
  %B = tile.view %b : memref<64x32xf32> to !tile.view<64x32xf32>
  %C = tile.view %c : memref<2x32xf32> to !tile.view<2x32xf32>
  tile.copy %B[%c0, %c0] to %PB : !tile.view<64x32xf32> to !tile.buffer<64x32xf32, #tile.layout<offset [32:d1, 64:d0]>, local>
  %x = tile.load %A[%c0, %c0] : !tile.view<2x64xf32> -> tensor<2x64xf32>
  %w = tile.load %PB : !tile.buffer<64x32xf32, #tile.layout<offset [32:d1, 64:d0]>, local> -> tensor<64x32xf32>
  %t = tile.mma %x, %w, %zero : tensor<2x64xf32>, tensor<64x32xf32> -> tensor<2x32xf32>
  tile.store %t, %C[%c0, %c0] : tensor<2x32xf32>, !tile.view<2x32xf32>
  tile.return
}

// A value with two users is computed once per vector; an expensive one with two loops is stored.
// CHECK-LABEL: func.func @shared
// CHECK-COUNT-1: math.exp
// CHECK-NOT:     math.exp
// CHECK:         vector.reduction <add>
tile.kernel @shared(%a: memref<64xf32>, %y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %A = tile.view %a : memref<64xf32> to !tile.view<64xf32>
  %Y = tile.view %y : memref<64xf32> to !tile.view<64xf32>
  %x = tile.load %A[%c0] : !tile.view<64xf32> -> tensor<64xf32>
  %e = math.exp %x : tensor<64xf32>
  %s = tile.reduce {arith.addf} %e axes [0] : tensor<64xf32> -> f32
  %sb = tile.broadcast %s : f32 -> tensor<64xf32>
  %r = arith.divf %e, %sb : tensor<64xf32>
  tile.store %r, %Y[%c0] : tensor<64xf32>, !tile.view<64xf32>
  tile.return
}

// Large buffers come from the runtime and go back in reverse order.
// CHECK-LABEL: func.func @large
// CHECK:         %[[P:.*]] = call @tessera_local_alloc
// CHECK:         %[[Q:.*]] = call @tessera_local_alloc
// CHECK:         call @tessera_local_free(%[[Q]])
// CHECK:         call @tessera_local_free(%[[P]])
tile.kernel @large(%y: memref<64x256xf32>) {
  %c0 = arith.constant 0 : index
  %P = tile.alloc : !tile.buffer<64x256xf32, #tile.layout<offset [256:d1, 64:d0]>, local>
  %Q = tile.alloc : !tile.buffer<64x256xf32, #tile.layout<offset [256:d1, 64:d0]>, local>
  %Y = tile.view %y : memref<64x256xf32> to !tile.view<64x256xf32>
  tile.copy %Y[%c0, %c0] to %P : !tile.view<64x256xf32> to !tile.buffer<64x256xf32, #tile.layout<offset [256:d1, 64:d0]>, local>
  tile.copy %Y[%c0, %c0] to %Q : !tile.view<64x256xf32> to !tile.buffer<64x256xf32, #tile.layout<offset [256:d1, 64:d0]>, local>
  tile.return
}

// Nothing to do: a module without kernels stays as it is.
// CHECK-LABEL: func.func @host
// CHECK-NEXT:    return
func.func @host() {
  return
}

// A matrix times a vector: four rows at once with two sums each, a chunk of the vector loaded once for them; then the
// rows left over.
// CHECK-LABEL: func.func @rows_together
// CHECK:         scf.for %[[AT:.*]] = %c0 to %c64 step %c32 iter_args
// CHECK:           vector.load %[[V:.*]][%[[AT]]] : memref<70xf32>
// CHECK-NOT:       memref<70xf32>
// CHECK:           %[[NEXT:.*]] = arith.addi %[[AT]], %c16
// CHECK:           vector.load %[[V]][%[[NEXT]]] : memref<70xf32>
// CHECK-NOT:       memref<70xf32>
// CHECK:           scf.yield {{(%[0-9]+, ){7}%[0-9]+}} : vector<16xf32>
// CHECK:         scf.for
// CHECK:           scf.yield {{(%[0-9]+, ){5}%[0-9]+}} : vector<16xf32>
tile.kernel @rows_together(%a: memref<7x70xf32>, %v: memref<70xf32>, %y: memref<7xf32>) {
  %c0 = arith.constant 0 : index
  %A = tile.view %a : memref<7x70xf32> to !tile.view<7x70xf32>
  %V = tile.view %v : memref<70xf32> to !tile.view<70xf32>
  %Y = tile.view %y : memref<7xf32> to !tile.view<7xf32>
  %x = tile.load %A[%c0, %c0] : !tile.view<7x70xf32> -> tensor<7x70xf32>
  %w = tile.load %V[%c0] : !tile.view<70xf32> -> tensor<70xf32>
  %b = tile.broadcast %w axes [0] : tensor<70xf32> -> tensor<7x70xf32>
  %m = arith.mulf %x, %b : tensor<7x70xf32>
  %s = tile.reduce {arith.addf} %m axes [1] : tensor<7x70xf32> -> tensor<7xf32>
  tile.store %s, %Y[%c0] : tensor<7xf32>, !tile.view<7xf32>
  tile.return
}

// Rows that share nothing are taken one by one.
// CHECK-LABEL: func.func @rows_alone
// CHECK:         scf.for %{{.*}} = %c0 to %c7 step %c1
// CHECK-COUNT-4:   vector.load {{.*}} memref<7x70xf32>, vector<16xf32>
tile.kernel @rows_alone(%a: memref<7x70xf32>, %y: memref<7xf32>) {
  %c0 = arith.constant 0 : index
  %A = tile.view %a : memref<7x70xf32> to !tile.view<7x70xf32>
  %Y = tile.view %y : memref<7xf32> to !tile.view<7xf32>
  %x = tile.load %A[%c0, %c0] : !tile.view<7x70xf32> -> tensor<7x70xf32>
  %s = tile.reduce {arith.addf} %x axes [1] : tensor<7x70xf32> -> tensor<7xf32>
  tile.store %s, %Y[%c0] : tensor<7xf32>, !tile.view<7xf32>
  tile.return
}

// A product of fewer columns than lanes, whose operands both lie along k: a vector of sums along k for each element. The
// rest of k is in the last lanes of the vector that ends it; the others are nothing, in both factors.
// CHECK-LABEL: func.func @lanes_along_k
// CHECK:         %[[LAST:.*]] = arith.constant dense<[{{(false, )+}}true, true, true, true]> : vector<16xi1>
// CHECK:         scf.for %[[K:.*]] = %c0 to %c32 step %c16 iter_args
// CHECK-COUNT-2:   vector.load %{{.*}}[%{{.*}}, %[[K]]] : memref<3x36xf32>, vector<16xf32>
// CHECK:           vector.load %{{.*}}[%{{.*}}, %[[K]]] : memref<2x36xf32>, vector<16xf32>
// CHECK-COUNT-2:   vector.fma
// CHECK:         arith.select %[[LAST]]
// CHECK-COUNT-6: vector.reduction <add>
// CHECK:         vector.from_elements {{.*}} : vector<3xf32>
tile.kernel @lanes_along_k(%a: memref<2x36xf32>, %b: memref<3x36xf32>, %y: memref<2x3xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<2x3xf32>
  %A = tile.view %a : memref<2x36xf32> to !tile.view<2x36xf32>
  %B = tile.view %b : memref<3x36xf32> to !tile.view<3x36xf32>
  %Y = tile.view %y : memref<2x3xf32> to !tile.view<2x3xf32>
  %x = tile.load %A[%c0, %c0] : !tile.view<2x36xf32> -> tensor<2x36xf32>
  %w = tile.load %B[%c0, %c0] : !tile.view<3x36xf32> -> tensor<3x36xf32>
  %t = tile.transpose %w [1, 0] : tensor<3x36xf32> -> tensor<36x3xf32>
  %s = tile.mma %x, %t, %zero : tensor<2x36xf32>, tensor<36x3xf32> -> tensor<2x3xf32>
  tile.store %s, %Y[%c0, %c0] : tensor<2x3xf32>, !tile.view<2x3xf32>
  tile.return
}

// The kernel's schedule gives the register tile of a product whose result is in memory.
// CHECK-LABEL: func.func @scheduled(
// CHECK:         scf.for {{.*}} to %c96 step %c48
// CHECK-NEXT:      scf.for {{.*}} to %c32 step %c4
tile.kernel @scheduled(%a: memref<32x64xf32>, %b: memref<64x96xf32>, %c: memref<32x96xf32>)
    attributes {schedule = #tile.schedule<register = [4, 48]>} {
  %c0 = arith.constant 0 : index
  %A = tile.view %a : memref<32x64xf32> to !tile.view<32x64xf32>
  %B = tile.view %b : memref<64x96xf32> to !tile.view<64x96xf32>
  %C = tile.view %c : memref<32x96xf32> to !tile.view<32x96xf32>
  %x = tile.load %A[%c0, %c0] : !tile.view<32x64xf32> -> tensor<32x64xf32>
  %y = tile.load %B[%c0, %c0] : !tile.view<64x96xf32> -> tensor<64x96xf32>
  %zero = arith.constant dense<0.0> : tensor<32x96xf32>
  %s = tile.mma %x, %y, %zero : tensor<32x64xf32>, tensor<64x96xf32> -> tensor<32x96xf32>
  tile.store %s, %C[%c0, %c0] : tensor<32x96xf32>, !tile.view<32x96xf32>
  tile.return
}

// A function of a product in registers: the sums go to memory, and a loop computes the function vector by vector. A tile
// of four vectors stays in registers.
// CHECK-LABEL: func.func @function_of_registers
// CHECK:         %[[SUMS:.*]]:8 = scf.for {{.*}} iter_args
// CHECK-COUNT-8:   vector.store %[[SUMS]]#{{[0-7]}}
// CHECK:         scf.for {{.*}} = %c0 to %c4 step %c1
// CHECK-NEXT:      scf.for {{.*}} = %c0 to %c32 step %c16
// CHECK-NEXT:        vector.load
// CHECK-NEXT:        math.exp
// CHECK-NEXT:        vector.store
// CHECK-NOT:     math.exp
// CHECK-LABEL: func.func @function_of_few_registers
// CHECK-COUNT-4: math.exp
// CHECK-NOT:     math.exp
tile.kernel @function_of_registers(%a: memref<4x64xf32>, %b: memref<64x32xf32>, %c: memref<4x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x32xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %A = tile.view %a : memref<4x64xf32> to !tile.view<4x16xf32>
  %B = tile.view %b : memref<64x32xf32> to !tile.view<16x32xf32>
  %C = tile.view %c : memref<4x32xf32> to !tile.view<4x32xf32>
  %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %zero) -> (tensor<4x32xf32>) {
    %x = tile.load %A[%c0, %k] : !tile.view<4x16xf32> -> tensor<4x16xf32>
    %y = tile.load %B[%k, %c0] : !tile.view<16x32xf32> -> tensor<16x32xf32>
    %t = tile.mma %x, %y, %s : tensor<4x16xf32>, tensor<16x32xf32> -> tensor<4x32xf32>
    scf.yield %t : tensor<4x32xf32>
  }
  %e = math.exp %sum : tensor<4x32xf32>
  tile.store %e, %C[%c0, %c0] : tensor<4x32xf32>, !tile.view<4x32xf32>
  tile.return
}

tile.kernel @function_of_few_registers(%a: memref<4x64xf32>, %b: memref<64x16xf32>, %c: memref<4x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x16xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %A = tile.view %a : memref<4x64xf32> to !tile.view<4x16xf32>
  %B = tile.view %b : memref<64x16xf32> to !tile.view<16x16xf32>
  %C = tile.view %c : memref<4x16xf32> to !tile.view<4x16xf32>
  %sum = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %zero) -> (tensor<4x16xf32>) {
    %x = tile.load %A[%c0, %k] : !tile.view<4x16xf32> -> tensor<4x16xf32>
    %y = tile.load %B[%k, %c0] : !tile.view<16x16xf32> -> tensor<16x16xf32>
    %t = tile.mma %x, %y, %s : tensor<4x16xf32>, tensor<16x16xf32> -> tensor<4x16xf32>
    scf.yield %t : tensor<4x16xf32>
  }
  %e = math.exp %sum : tensor<4x16xf32>
  tile.store %e, %C[%c0, %c0] : tensor<4x16xf32>, !tile.view<4x16xf32>
  tile.return
}
