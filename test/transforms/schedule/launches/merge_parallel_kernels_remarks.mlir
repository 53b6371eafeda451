// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-merge-parallel-kernels{chip=sm_80 remarks=true large=1})' --verify-diagnostics -o /dev/null

// Each launch that could stand beside another one says why it does not.
func.func @apart(%x: memref<8xf32>) -> (memref<8xf32>, memref<8xf32>, memref<8xf32>, memref<8xf32>) {
  %c2 = arith.constant 2 : index
  %c108 = arith.constant 108 : index
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  %c = memref.alloc() : memref<8xf32>
  %d = memref.alloc() : memref<8xf32>
  // expected-remark@+1 {{is not merged: it fills the machine}}
  tile.launch @k grid(%c108) ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  // expected-remark@+1 {{is not merged: it has clusters}}
  tile.launch @k grid(%c2) cluster [2] ins(%x : memref<8xf32>) outs(%b : memref<8xf32>)
  // expected-remark@+1 {{is not merged: its kernel is cooperative}}
  tile.launch @meet grid(%c2) ins(%x : memref<8xf32>) outs(%c : memref<8xf32>)
  // expected-remark@+1 {{is not merged: its kernel is scheduled already}}
  tile.launch @staged grid(%c2) ins(%x : memref<8xf32>) outs(%d : memref<8xf32>)
  return %a, %b, %c, %d : memref<8xf32>, memref<8xf32>, memref<8xf32>, memref<8xf32>
}
tile.kernel private @k(%x: memref<8xf32>, %y: memref<8xf32>) {
  tile.return
}
tile.kernel private @meet(%x: memref<8xf32>, %y: memref<8xf32>) attributes {cooperative} {
  tile.return
}
tile.kernel private @staged(%x: memref<8xf32>, %y: memref<8xf32>) {
  tile.sync
  tile.return
}
