// An encoding would be lost without a word: refused wherever it stands.
// RUN: %tile_opt %s --split-input-file --verify-diagnostics --tile-bufferize-host
// RUN: %mlir_opt_plugin %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tile-bufferize-host)'

// expected-error@+1 {{has a value of type tensor<4xf32, "odd">: an encoding must be expanded or removed before bufferization}}
func.func @unused_argument(%x: tensor<4xf32, "odd">) {
  return
}

// -----

func.func @inside() {
  // expected-error@+1 {{has a value of type tensor<4xf32, "odd">}}
  %e = tensor.empty() : tensor<4xf32, "odd">
  return
}

// -----

// expected-error@+1 {{has a value of type tensor<?xf32, "odd">}}
func.func private @declared() -> tensor<?xf32, "odd">
