// #sparse.micro_tiles: its text, and what may carry it.
// RUN: %tile_opt %s -split-input-file -verify-diagnostics | FileCheck %s

#m = #sparse.mask<tile = [8, 1]>
// CHECK-LABEL: func.func @round_trip
// CHECK: sparse.spmm {{.*}} {sparse.micro_tiles = #sparse.micro_tiles<axis = 1, by = 1, lines = 32, dense_above = 80>}
// CHECK: sparse.spmm {{.*}} {sparse.micro_tiles = #sparse.micro_tiles<axis = 1, by = 1, lines = 16, dense_above = 0, entry_cost = 250>}
func.func @round_trip(%a: tensor<64x64xf32, #m>, %b: tensor<64x16xf32>, %c: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %r = sparse.spmm %a, %b, %c {sparse.micro_tiles = #sparse.micro_tiles<lines = 32, axis = 1>} : tensor<64x64xf32, #m>, tensor<64x16xf32>, tensor<64x16xf32>
  %s = sparse.spmm %a, %b, %r {sparse.micro_tiles = #sparse.micro_tiles<axis = 1, by = 1, lines = 16, entry_cost = 250, dense_above = 0>} : tensor<64x64xf32, #m>, tensor<64x16xf32>, tensor<64x16xf32>
  return %s : tensor<64x16xf32>
}

// -----

#m = #sparse.mask<tile = [8, 1]>
func.func @axis(%a: tensor<64x64xf32, #m>, %b: tensor<64x16xf32>, %c: tensor<64x16xf32>) -> tensor<64x16xf32> {
  // expected-error@+1 {{micro-tiles along axis 0 of the left factor, expected axis 1, that of the sum}}
  %r = sparse.spmm %a, %b, %c {sparse.micro_tiles = #sparse.micro_tiles<axis = 0, lines = 32>} : tensor<64x64xf32, #m>, tensor<64x16xf32>, tensor<64x16xf32>
  return %r : tensor<64x16xf32>
}

// -----

#m = #sparse.mask<tile = [8, 1]>
func.func @lines(%a: tensor<64x64xf32, #m>, %b: tensor<64x16xf32>, %c: tensor<64x16xf32>) -> tensor<64x16xf32> {
  // expected-error@+1 {{micro-tiles of 4 lines by 1, expected a multiple of 8 lines by 1, the tiles of the mask}}
  %r = sparse.spmm %a, %b, %c {sparse.micro_tiles = #sparse.micro_tiles<axis = 1, lines = 4>} : tensor<64x64xf32, #m>, tensor<64x16xf32>, tensor<64x16xf32>
  return %r : tensor<64x16xf32>
}

// -----

func.func @csr(%a: tensor<64x64xf32, #sparse.csr>, %b: tensor<64x16xf32>, %c: tensor<64x16xf32>) -> tensor<64x16xf32> {
  // expected-error@+1 {{carries #sparse.micro_tiles, which a sparse.spmm may whose left factor is a #sparse.mask, not transposed}}
  %r = sparse.spmm %a, %b, %c {sparse.micro_tiles = #sparse.micro_tiles<axis = 1, lines = 4>} : tensor<64x64xf32, #sparse.csr>, tensor<64x16xf32>, tensor<64x16xf32>
  return %r : tensor<64x16xf32>
}

// -----

// expected-error@+1 {{unknown key 'rows' in #sparse.micro_tiles, expected one of axis, by, lines, dense_above, entry_cost}}
func.func private @key() attributes {x = #sparse.micro_tiles<axis = 1, rows = 4>}

// -----

// expected-error@+1 {{'lines' is given twice}}
func.func private @twice() attributes {x = #sparse.micro_tiles<axis = 1, lines = 4, lines = 8>}

// -----

// expected-error@+1 {{#sparse.micro_tiles without 'lines'}}
func.func private @missing() attributes {x = #sparse.micro_tiles<axis = 1>}

// -----

// expected-error@+1 {{entry_cost of #sparse.micro_tiles is -1, expected 0 to 1048576}}
func.func private @cost() attributes {x = #sparse.micro_tiles<axis = 1, lines = 4, entry_cost = -1>}

// -----

// expected-error@+1 {{dense_above of #sparse.micro_tiles is 101, expected 0 to 100}}
func.func private @percent() attributes {x = #sparse.micro_tiles<axis = 1, lines = 4, dense_above = 101>}

// -----

// expected-error@+1 {{attribute 'sparse.micro_tiles' is 3 : i64, expected a #sparse.micro_tiles}}
func.func private @other() attributes {sparse.micro_tiles = 3}
