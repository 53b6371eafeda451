// What differs between vendors: ids, barriers, shuffles, atomics' scopes, copies without an engine, messages.
// RUN: %tile_opt %s --convert-tile-to-rocdl=chip=gfx942 | FileCheck %s
// RUN: %tile_opt %s --tile-to-rocdl-pipeline=chip=gfx942 | FileCheck %s --check-prefix=LLVM
// LLVM-NOT: {{arith|scf|tile|math}}.
#wide = #tile.layout<lane [64:d0]>

// CHECK-LABEL: llvm.func @ids
// CHECK: rocdl.workitem.id.x {{.*}}: i32
// CHECK: rocdl.workgroup.id.y {{.*}}: i32
// CHECK: %[[N:.*]] = rocdl.grid.dim.z : i64
// CHECK: arith.trunci %[[N]] : i64 to i32
// LLVM-LABEL: llvm.func @ids
tile.kernel @ids(%x: memref<?xindex>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %i = tile.program_id 1
  %n = tile.num_programs 2
  %s = arith.addi %i, %n : index
  tile.atomic_store %s, %x[%0] relaxed device : index, memref<?xindex>
  tile.return
}

// Six steps: quad_perm, quad_perm, xor 4 by ds_swizzle, row_ror:8, xor 16 by ds_swizzle, the other 32 lanes by address.
// CHECK-LABEL: llvm.func @sum
// CHECK: rocdl.update.dpp {{.*}} with 177, 15, 15, true : i32
// CHECK: rocdl.update.dpp {{.*}} with 78, 15, 15, true : i32
// CHECK: rocdl.ds_swizzle %{{.*}}, %c4127_i32
// CHECK: rocdl.update.dpp {{.*}} with 296, 15, 15, true : i32
// CHECK: rocdl.ds_swizzle %{{.*}}, %c16415_i32
// CHECK: rocdl.mbcnt.lo
// CHECK: %[[LANE:.*]] = rocdl.mbcnt.hi
// CHECK: %[[OTHER:.*]] = arith.xori %[[LANE]], %{{.*}} : i32
// CHECK: %[[PLACE:.*]] = arith.shli %[[OTHER]], %{{.*}} : i32
// CHECK: rocdl.ds_bpermute %[[PLACE]],
tile.kernel @sum(%x: memref<64xf32>, %y: memref<1xf32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %X = tile.view %x : memref<64xf32> to !tile.view<64xf32>
  %a = tile.load %X[%0] : !tile.view<64xf32> -> tensor<64xf32, #wide>
  %s = tile.reduce {arith.addf} %a axes [0] : tensor<64xf32, #wide> -> f32
  tile.atomic_store %s, %y[%0] relaxed device : f32, memref<1xf32>
  tile.return
}

// Orders belong to the program: all its threads' writes before what releases, all their reads after what acquires.
// CHECK-LABEL: llvm.func @atomics
// CHECK: llvm.atomicrmw add %{{.*}}, %{{.*}} syncscope("agent") monotonic
// CHECK: llvm.atomicrmw fadd %{{.*}}, %{{.*}} acq_rel {
// CHECK: llvm.atomicrmw umax %{{.*}}, %{{.*}} syncscope("workgroup") acquire
// CHECK: llvm.fence syncscope("agent") release
tile.kernel @atomics(%n: memref<i32>, %x: memref<?xf32>) attributes {warps = 1 : i32} {
  %one = arith.constant 1 : i32
  %half = arith.constant 0.5 : f32
  %0 = arith.constant 0 : index
  %t = tile.atomic_rmw add %one, %n[] relaxed device : i32, memref<i32> -> i32
  %s = tile.atomic_rmw fadd %half, %x[%0] acq_rel system : f32, memref<?xf32> -> f32
  %u = tile.atomic_rmw umax %one, %n[] acquire block : i32, memref<i32> -> i32
  tile.fence release device
  tile.return
}

// A copy for which the chip has no engine is done when its op is: nothing to wait for.
#s = #tile.layout<offset [256:d0]>
#l = #tile.layout<reg [4:d0], lane [64:d0*4]>
// CHECK-LABEL: llvm.func @copies
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK-NEXT: llvm.fence syncscope("workgroup") release
// CHECK-NEXT: rocdl.s.barrier
tile.kernel @copies(%x_: memref<256xf32>, %y: memref<256xf32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %x = tile.assume %x_ align 16 : memref<256xf32>
  %X = tile.view %x : memref<256xf32> to !tile.view<256xf32>
  %Y = tile.view %y : memref<256xf32> to !tile.view<256xf32>
  %b = tile.alloc : !tile.buffer<256xf32, #s, shared>
  %t = tile.copy_async %X[%0] to %b : !tile.view<256xf32> to !tile.buffer<256xf32, #s, shared>
  tile.wait %t
  tile.sync
  %v = tile.load %b : !tile.buffer<256xf32, #s, shared> -> tensor<256xf32, #l>
  tile.store %v, %Y[%0] : tensor<256xf32, #l>, !tile.view<256xf32>
  tile.return
}

// CHECK-LABEL: llvm.func @messages
// CHECK: llvm.call @__assertfail
// CHECK: llvm.call @vprintf
tile.kernel @messages(%n: memref<?xi32>) attributes {warps = 1 : i32} {
  %i = tile.program_id 0
  %few = arith.constant 7 : index
  %ok = arith.cmpi ult, %i, %few : index
  tile.assert %ok, "too many programs" : i1
  tile.print "program {}", %i : index
  tile.return
}
