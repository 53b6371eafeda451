// RUN: %tile_opt %s -verify-diagnostics --pass-pipeline='builtin.module(tile-move-control-flow-to-device{chip=sm_80 remarks=true})' -o %t.mlir

// Left on the host: a loop that calls, a branch that gives a buffer, an operand whose place is data.
func.func @host(%x: memref<8xi32>, %y: memref<4x8xi32>, %n: i32, %i: index, %c: i1) -> memref<8xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %m = scf.while (%k = %n) : (i32) -> i32 {
    %go = arith.cmpi sgt, %k, %one : i32
    scf.condition(%go) %k : i32
  } do {
  ^bb0(%k: i32):
    tile.launch @half grid(%c1) ins(%x : memref<8xi32>) outs(%x : memref<8xi32>)
    // expected-remark@below {{keeps its loop or branch on the host: it calls a function}}
    %l = func.call @other(%k) : (i32) -> i32
    scf.yield %l : i32
  }
  // expected-remark@below {{keeps its loop or branch on the host: it carries or gives a buffer}}
  %r = scf.if %c -> memref<8xi32> {
    %new = memref.alloc() : memref<8xi32>
    tile.launch @half grid(%c1) ins(%x : memref<8xi32>) outs(%new : memref<8xi32>)
    scf.yield %new : memref<8xi32>
  } else {
    scf.yield %x : memref<8xi32>
  }
  scf.if %c {
    %row = memref.subview %y[0, 0] [1, 8] [1, %i] : memref<4x8xi32> to memref<8xi32, strided<[?]>>
    // expected-remark@below {{keeps its loop or branch on the host: an operand's sizes or place are not known}}
    tile.launch @row grid(%c1) ins(%row : memref<8xi32, strided<[?]>>) outs(%x : memref<8xi32>)
  }
  return %r : memref<8xi32>
}
func.func private @other(%n: i32) -> i32
// The wait for the condition costs less than the turns that these grids take on lanes.
func.func @turns(%x: memref<8xi32>, %c: i1) {
  %many = arith.constant 431 : index
  // expected-remark@below {{stays with the host: 21000 ns are predicted, 24766 ns as one launch}}
  scf.if %c {
    tile.launch @half grid(%many) ins(%x : memref<8xi32>) outs(%x : memref<8xi32>)
    tile.launch @half grid(%many) ins(%x : memref<8xi32>) outs(%x : memref<8xi32>)
    tile.launch @half grid(%many) ins(%x : memref<8xi32>) outs(%x : memref<8xi32>)
    tile.launch @half grid(%many) ins(%x : memref<8xi32>) outs(%x : memref<8xi32>)
    tile.launch @half grid(%many) ins(%x : memref<8xi32>) outs(%x : memref<8xi32>)
    tile.launch @half grid(%many) ins(%x : memref<8xi32>) outs(%x : memref<8xi32>)
    tile.launch @half grid(%many) ins(%x : memref<8xi32>) outs(%x : memref<8xi32>)
  }
  return
}
// A tree that goes down on one side.
func.func @recursive(%x: memref<8xi32>, %n: i32) {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %inner = arith.cmpi sgt, %n, %one : i32
  scf.if %inner {
    %below = arith.subi %n, %one : i32
    // expected-remark@below {{keeps its loop or branch on the host: its function calls itself, for which the device has no stack}}
    func.call @recursive(%x, %below) : (memref<8xi32>, i32) -> ()
    tile.launch @half grid(%c1) ins(%x : memref<8xi32>) outs(%x : memref<8xi32>)
  }
  return
}
tile.kernel private @half(%x: memref<8xi32>, %y: memref<8xi32>) attributes {warps = 1 : i32} {
  tile.return
}
tile.kernel private @row(%x: memref<8xi32, strided<[?]>>, %y: memref<8xi32>) attributes {warps = 1 : i32} {
  tile.return
}
