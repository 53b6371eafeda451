// RUN: tile-opt %s --convert-tile-to-tt -split-input-file -verify-diagnostics

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
  // expected-error@+1 {{has no conversion to tt}}
  %s = tile.sort %v axis 0 : tensor<16xf32>
  tile.store %s, %X[%c0] : tensor<16xf32>, !tile.view<16xf32>
  tile.return
}

// -----

// expected-error@+1 {{has a parameter that begins at an offset, expected 0}}
tile.kernel @shifted(%x: memref<?xf32, strided<[1], offset: 4>>) {
  tile.return
}

// -----

// expected-error@+1 {{has no tile.kernel}}
module {
  func.func @host() {
    return
  }
}
