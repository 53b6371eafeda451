// Rows of unknown pitch: the address of each row is one step from the row before. Eight rows need no products of their
// own. With a constant pitch rows are constants away.
// RUN: %tile_opt %s --split-input-file --convert-tile-to-nvvm=chip=sm_80 --canonicalize --cse | FileCheck %s
#rows = #tile.layout<reg [8:d1, 8:d0*4], lane [8:d1*8, 4:d0]>
// CHECK-LABEL: llvm.func @unknown
// CHECK: %[[A0:[0-9]+]] = llvm.getelementptr %{{.*}}[%{{.*}}] :
// CHECK: masked.load %[[A0]],
// CHECK: %[[A1:[0-9]+]] = llvm.getelementptr %[[A0]][%[[STEP:[0-9]+]]] :
// CHECK-NOT: arith.muli
// CHECK: masked.load %[[A1]],
// CHECK: %[[A2:[0-9]+]] = llvm.getelementptr %[[A1]][%[[STEP]]] :
// CHECK-NOT: arith.muli
// CHECK: masked.load %[[A2]],
// CHECK-COUNT-5: llvm.getelementptr %{{[0-9]+}}[%[[STEP]]] :
// CHECK: llvm.store %{{.*}}, %[[B:[0-9]+]]
// CHECK: llvm.getelementptr %[[B]][1024]
tile.kernel @unknown(%a: memref<?x?xf16>, %b: memref<32x64xf16>) attributes {warps = 1 : i32, ordered} {
  %c0 = arith.constant 0 : index
  %c = tile.assume %a align 16 strides [8, 1] : memref<?x?xf16>
  %d = tile.assume %b align 16 : memref<32x64xf16>
  %A = tile.view %c : memref<?x?xf16> to !tile.view<32x64xf16>
  %B = tile.view %d : memref<32x64xf16> to !tile.view<32x64xf16>
  %x = tile.load %A[%c0, %c0] vector 8 : !tile.view<32x64xf16> -> tensor<32x64xf16, #rows>
  tile.store %x, %B[%c0, %c0] vector 8 : tensor<32x64xf16, #rows>, !tile.view<32x64xf16>
  tile.return
}
