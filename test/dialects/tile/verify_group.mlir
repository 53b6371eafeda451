// What a tile.group does not accept.
// RUN: %tile_opt %s -split-input-file -verify-diagnostics
// RUN: %mlir_opt_plugin %s -split-input-file -verify-diagnostics

func.func @levels(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'tile.group' op meets has 2 levels; one for each of the body's 1 inner edges is required}}
  %z = tile.group ins(%x : tensor<8xf32>) meets [register, shared] -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %s = linalg.exp ins(%a : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
    %r = linalg.log ins(%s : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
    tile.yield %r : tensor<8xf32>
  }
  return %z : tensor<8xf32>
}

// -----

func.func @level(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'tile.group' op meets: level #0 is tmem; a group accepts register, shared and global}}
  %z = tile.group ins(%x : tensor<8xf32>) meets [tmem] -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %s = linalg.exp ins(%a : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
    %r = linalg.log ins(%s : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
    tile.yield %r : tensor<8xf32>
  }
  return %z : tensor<8xf32>
}

// -----

func.func @no_level(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{unknown memory level 'l7', expected one of register, shared}}
  %z = tile.group ins(%x : tensor<8xf32>) meets [l7] -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    tile.yield %a : tensor<8xf32>
  }
  return %z : tensor<8xf32>
}

// -----

func.func @arguments(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'tile.group' op the body has 0 arguments; one for each of 1 ins is required}}
  %z = tile.group ins(%x : tensor<8xf32>) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    tile.yield %e : tensor<8xf32>
  }
  return %z : tensor<8xf32>
}

// -----

func.func @argument(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{argument #0 of the body is tensor<4xf32>; the type of its ins, tensor<8xf32>, is required}}
  %z = tile.group ins(%x : tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<4xf32>):
    %e = tensor.empty() : tensor<8xf32>
    tile.yield %e : tensor<8xf32>
  }
  return %z : tensor<8xf32>
}

// -----

func.func @results(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note @+1 {{the group is here}}
  %z = tile.group ins(%x : tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    // expected-error @+1 {{yields 2 values; one for each of the group's 1 results is required}}
    tile.yield %a, %a : tensor<8xf32>, tensor<8xf32>
  }
  return %z : tensor<8xf32>
}

// -----

func.func @result(%x: tensor<4xf32>) -> tensor<8xf32> {
  // expected-note @+1 {{the group is here}}
  %z = tile.group ins(%x : tensor<4xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<4xf32>):
    // expected-error @+1 {{value #0 is tensor<4xf32>; the type of the group's result, tensor<8xf32>, is required}}
    tile.yield %a : tensor<4xf32>
  }
  return %z : tensor<8xf32>
}

// -----

func.func @effects(%x: memref<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note @+1 {{the group is here}}
  %z = tile.group ins(%x, %y : memref<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: memref<8xf32>, %b: tensor<8xf32>):
    %c0 = arith.constant 0 : index
    %f = arith.constant 0.0 : f32
    // expected-error @+1 {{may read or write memory; a group accepts ops without effects on memory}}
    memref.store %f, %a[%c0] : memref<8xf32>
    tile.yield %b : tensor<8xf32>
  }
  return %z : tensor<8xf32>
}

// -----

func.func @isolated(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note @+1 {{required by region isolation constraints}}
  %z = tile.group -> tensor<8xf32> {
    // expected-error @+1 {{'tile.yield' op using value defined outside the region}}
    tile.yield %x : tensor<8xf32>
  }
  return %z : tensor<8xf32>
}

// -----

func.func @empty(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'tile.group' op region 'body' is empty, expected a block}}
  %z = tile.group ins(%x : tensor<8xf32>) -> tensor<8xf32> {
  }
  return %z : tensor<8xf32>
}
