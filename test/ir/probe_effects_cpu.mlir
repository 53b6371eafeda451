// A plugin's ops with effects on the CPU: they stay in the function, in order. A load of a tile waits for its users only
// while no op of the plugin writes its memory. Dead reads go.
// RUN: %tile_opt --load-dialect-plugin=%unit/probe_dialect.so %s --pass-pipeline='builtin.module(convert-tile-to-vector,func.func(canonicalize,cse,loop-invariant-code-motion))' | FileCheck %s

// What the store overwrites is copied first.
// CHECK-LABEL: func.func @writes
// CHECK: memref.alloca
// CHECK: scf.for
// CHECK: vector.store %{{.*}}, %alloca
// CHECK: probe.store
// CHECK: vector.load %alloca
tile.kernel @writes(%x: memref<64xf32>, %y: memref<64xf32> {llvm.noalias}, %v: f32) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<64xf32> to !tile.view<64xf32>
  %Y = tile.view %y : memref<64xf32> to !tile.view<64xf32>
  %a = tile.load %X[%c0] : !tile.view<64xf32> -> tensor<64xf32>
  probe.store %v, %x : f32, memref<64xf32>
  tile.store %a, %Y[%c0] : tensor<64xf32>, !tile.view<64xf32>
  tile.return
}

// The memory of y is another: nothing is copied.
// CHECK-LABEL: func.func @writes_other
// CHECK-NOT: memref.alloca
// CHECK: probe.store
// CHECK-NEXT: scf.for
// CHECK-NEXT: vector.load
// CHECK-NEXT: vector.store
tile.kernel @writes_other(%x: memref<64xf32>, %y: memref<64xf32> {llvm.noalias}, %v: f32) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<64xf32> to !tile.view<64xf32>
  %Y = tile.view %y : memref<64xf32> to !tile.view<64xf32>
  %a = tile.load %X[%c0] : !tile.view<64xf32> -> tensor<64xf32>
  probe.store %v, %y : f32, memref<64xf32>
  tile.store %a, %Y[%c0] : tensor<64xf32>, !tile.view<64xf32>
  tile.return
}

// A read copies nothing; one whose value nobody uses is gone; one in a loop that writes nothing else stays there.
// CHECK-LABEL: func.func @reads
// CHECK-NOT: memref.alloca
// CHECK-COUNT-1: probe.load
// CHECK-NOT: probe.load
// CHECK: return
tile.kernel @reads(%x: memref<64xf32>, %y: memref<64xf32> {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<64xf32> to !tile.view<64xf32>
  %Y = tile.view %y : memref<64xf32> to !tile.view<64xf32>
  %unused = probe.load %x : memref<64xf32>
  %a = tile.load %X[%c0] : !tile.view<64xf32> -> tensor<64xf32>
  %b = probe.load %x : memref<64xf32>
  %t = tile.broadcast %b axes [] : f32 -> tensor<64xf32>
  %s = arith.addf %a, %t : tensor<64xf32>
  tile.store %s, %Y[%c0] : tensor<64xf32>, !tile.view<64xf32>
  tile.return
}

// A load in a loop is read again after each write: neither moves out, and the copy is made before the write.
// CHECK-LABEL: func.func @in_loop
// CHECK: scf.for
// CHECK: scf.for
// CHECK: vector.store %{{.*}}, %alloca
// CHECK: probe.store
// CHECK: vector.load %alloca
tile.kernel @in_loop(%a: memref<64xf32>, %m: memref<4xf32>, %y: memref<64xf32> {llvm.noalias}, %v: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %A = tile.view %a : memref<64xf32> to !tile.view<64xf32>
  %Y = tile.view %y : memref<64xf32> to !tile.view<64xf32>
  scf.for %i = %c0 to %n step %c1 {
    %w = tile.load %A[%c0] : !tile.view<64xf32> -> tensor<64xf32>
    probe.store %v, %m : f32, memref<4xf32>
    tile.store %w, %Y[%c0] : tensor<64xf32>, !tile.view<64xf32>
  }
  tile.return
}
