// RUN: tile-opt %s --convert-tile-to-cuda-tile -split-input-file -verify-diagnostics

tile.kernel @odd(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?xf32> to !tile.view<12xf32>
  %v = tile.load %X[%c0] : !tile.view<12xf32> -> tensor<12xf32>
  // expected-error@+1 {{has a tile whose sizes are no powers of two, and would find other elements in a padded one}}
  %w = tile.reshape %v : tensor<12xf32> -> tensor<4x3xf32>
  tile.return
}

// -----

tile.kernel @odd_constant(%x: memref<?xf32>) {
  // expected-error@+1 {{has several elements in a tile whose sizes are no powers of two, which has no conversion to}}
  %v = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  tile.return
}

// -----

tile.kernel @sort(%x: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<16xf32> to !tile.view<16xf32>
  %v = tile.load %X[%c0] : !tile.view<16xf32> -> tensor<16xf32>
  // expected-error@+1 {{has no conversion to cuda_tile}}
  %s = tile.sort %v axis 0 : tensor<16xf32>
  tile.store %s, %X[%c0] : tensor<16xf32>, !tile.view<16xf32>
  tile.return
}

// -----

tile.kernel @greatest(%v: f32, %x: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<16xf32> to !tile.view<16xf32>
  %b = tile.broadcast %v : f32 -> tensor<16xf32>
  // expected-error@+1 {{combines floats by "max", which CUDA Tile IR does not have}}
  tile.store %b, %X[%c0] combine(max) : tensor<16xf32>, !tile.view<16xf32>
  tile.return
}

// -----

tile.kernel @slice(%x: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<16xf32> to !tile.view<16xf32>
  %v = tile.load %X[%c0] : !tile.view<16xf32> -> tensor<16xf32>
  // expected-error@+1 {{begins at 2 along dimension 0, expected a multiple of its size, 4}}
  %s = tile.slice %v[2] : tensor<16xf32> -> tensor<4xf32>
  tile.return
}

// -----

// expected-error@+1 {{has a parameter that begins at an offset, expected 0}}
tile.kernel @shifted(%x: memref<?xf32, strided<[1], offset: 4>>) {
  tile.return
}

// -----

tile.kernel @narrow(%x: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<16xf32> to !tile.view<16xf32>
  %v = tile.load %X[%c0] : !tile.view<16xf32> -> tensor<16xf32>
  // expected-error@+1 {{overflows in floats of 8 bits, which CUDA Tile IR saturates; expected tile.convert_type}}
  %s = arith.truncf %v : tensor<16xf32> to tensor<16xf8E4M3FN>
  tile.return
}

// -----

// expected-error@+1 {{has no tile.kernel}}
module {
  func.func @host() {
    return
  }
}
