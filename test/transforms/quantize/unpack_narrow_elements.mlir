// On a GPU elements of 6 bits are made by shifts; on a CPU kernels load them from the bytes, and the cast stays.
// RUN: %tile_opt %s --pass-pipeline="builtin.module(func.func(tile-unpack-narrow-elements{chip=sm_80}))" | FileCheck %s --check-prefix=SHIFTS
// RUN: %mlir_opt_plugin %s --pass-pipeline="builtin.module(func.func(tile-unpack-narrow-elements{all=true}))" | FileCheck %s --check-prefix=SHIFTS
// RUN: %tile_opt %s --pass-pipeline="builtin.module(func.func(tile-unpack-narrow-elements{chip=x86-64-v4}))" | FileCheck %s --check-prefix=STAYS

// SHIFTS-LABEL: func.func @sixes
// SHIFTS-NOT: tile.bitcast
// SHIFTS: tensor.expand_shape %arg0 {{.*}} output_shape [5, 2, 3] : tensor<5x6xi8> into tensor<5x2x3xi8>
// SHIFTS-COUNT-4: arith.bitcast {{.*}} : i6 to f6E2M3FN
// SHIFTS: tensor.collapse_shape {{.*}} : tensor<5x2x4xf6E2M3FN> into tensor<5x8xf6E2M3FN>
// STAYS-LABEL: func.func @sixes
// STAYS-NEXT: tile.bitcast %arg0 : tensor<5x6xi8> -> tensor<5x8xf6E2M3FN>
func.func @sixes(%x: tensor<5x6xi8>) -> tensor<5x8xf6E2M3FN> {
  %y = tile.bitcast %x : tensor<5x6xi8> -> tensor<5x8xf6E2M3FN>
  return %y : tensor<5x8xf6E2M3FN>
}

// Words of bytes are no elements of few bits.
// SHIFTS-LABEL: func.func @words
// SHIFTS-NEXT: tile.bitcast
func.func @words(%x: tensor<8xi8>) -> tensor<2xi32> {
  %y = tile.bitcast %x : tensor<8xi8> -> tensor<2xi32>
  return %y : tensor<2xi32>
}
