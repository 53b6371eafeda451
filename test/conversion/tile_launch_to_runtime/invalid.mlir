// RUN: %tile_opt %s --split-input-file --verify-diagnostics --convert-tile-launch-to-runtime
// RUN: %mlir_opt_plugin %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(convert-tile-launch-to-runtime)'

func.func @tensors(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{operates on tensors: run tile-bufferize-host first}}
  %r = tile.launch @k grid(%c1) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
tile.kernel private @k(%x: memref<8xf32>) {
  tile.return
}

// -----

func.func @not_lowered(%x: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{launches a kernel that is not a func.func yet: run convert-tile-to-vector first}}
  tile.launch @k grid(%c1) outs(%x : memref<8xf32>)
  return
}
tile.kernel private @k(%x: memref<8xf32>) {
  tile.return
}

// -----

func.func @name_taken(%x: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  tile.launch @k grid(%c1) outs(%x : memref<8xf32>)
  return
}
func.func private @k(%args: !llvm.ptr, %begin: i64, %end: i64)
// expected-error@+1 {{has the name of the runtime's function 'tessera_launch'; rename it}}
func.func private @tessera_launch()

// -----

llvm.func @outside(%x: !llvm.ptr) {
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{must stand in a func.func to be lowered to the runtime}}
  tile.launch @k grid(%c1) ins(%c1 : index)
  llvm.return
}
func.func private @k(%args: !llvm.ptr, %begin: i64, %end: i64)
