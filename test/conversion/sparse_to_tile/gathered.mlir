// Which vector-wise products gather rows of the dense factor first: those of a CPU whose elements are narrower than the
// sum and whose groups have lines enough; the machine's first cache says how many rows, its registers how many columns.
// RUN: %tile_opt %s --split-input-file --convert-sparse-to-tile | FileCheck %s

// CHECK: = !tile.buffer<64x32xi8, #{{.*}}, local>
// CHECK-LABEL: func.func @bytes(
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1, 2], [3]] : tensor<2x4x3x16xi8> into tensor<24x16xi8>
// CHECK: tile.launch @spmm_gathered grid
// CHECK-LABEL: tile.kernel private @spmm_gathered
// CHECK: tile.mma {{.*}} atom "vpdpbusd" : tensor<8x16xi8>, tensor<16x32xi8> -> tensor<8x32xi32>
module attributes {tile.machine = #tile.machine<"x86-64-v4", "atom.vpdpbusd" = "1x16x4 i8,i8,i32">} {
  func.func @bytes(%p: tensor<2x4x3xi8>, %v: tensor<2x4x3x16xi8>, %x: tensor<128x48xi8>, %y: tensor<32x48xi32>) -> tensor<32x48xi32> {
    %w = sparse.assemble(%p, %v) : tensor<2x4x3xi8>, tensor<2x4x3x16xi8> -> tensor<32x128xi8, #sparse.nm<n = 3, m = 32, vector = [16, 1]>>
    %r = sparse.spmm %w, %x, %y : tensor<32x128xi8, #sparse.nm<n = 3, m = 32, vector = [16, 1]>>, tensor<128x48xi8>, tensor<32x48xi32>
    return %r : tensor<32x48xi32>
  }
}

// -----

// Fewer registers, half as wide, hold fewer columns; no dot instruction: widened.
// CHECK-LABEL: func.func @half(
// CHECK-LABEL: tile.kernel private @spmm_gathered
// CHECK: tile.mma %{{.*}}, %{{.*}}, %{{[a-z0-9]*}} : tensor<4x4xf32>, tensor<4x16xf32> -> tensor<4x16xf32>
module attributes {tile.machine = #tile.machine<"x86-64-v3">} {
  func.func @half(%p: tensor<?x?x3xi8>, %v: tensor<?x?x3x16xf16>, %x: tensor<128x?xf16>, %y: tensor<32x?xf32>) -> tensor<32x?xf32> {
    %w = sparse.assemble(%p, %v) : tensor<?x?x3xi8>, tensor<?x?x3x16xf16> -> tensor<32x128xf16, #sparse.nm<n = 3, m = 32, vector = [16, 1]>>
    %r = sparse.spmm %w, %x, %y : tensor<32x128xf16, #sparse.nm<n = 3, m = 32, vector = [16, 1]>>, tensor<128x?xf16>, tensor<32x?xf32>
    return %r : tensor<32x?xf32>
  }
}

// -----

// Nothing to gain: few lines, one column, the sum's own type, a semiring of another kind; and a GPU.
// CHECK-NOT: @spmm_gathered
module attributes {tile.machine = #tile.machine<"x86-64-v4", "atom.vpdpbusd" = "1x16x4 i8,i8,i32">} {
  func.func @stay(%p: tensor<16x4x3xi8>, %v: tensor<16x4x3x2xi8>, %x: tensor<128x48xi8>, %y: tensor<32x48xi32>,
                  %q: tensor<2x4x3xi8>, %u: tensor<2x4x3x16xi8>, %o: tensor<128xi8>, %z: tensor<32xi32>, %s: tensor<32x48xi8>)
      -> (tensor<32x48xi32>, tensor<32xi32>, tensor<32x48xi8>, tensor<32x48xi32>) {
    %w = sparse.assemble(%p, %v) : tensor<16x4x3xi8>, tensor<16x4x3x2xi8> -> tensor<32x128xi8, #sparse.nm<n = 3, m = 32, vector = [2, 1]>>
    %t = sparse.assemble(%q, %u) : tensor<2x4x3xi8>, tensor<2x4x3x16xi8> -> tensor<32x128xi8, #sparse.nm<n = 3, m = 32, vector = [16, 1]>>
    %r0 = sparse.spmm %w, %x, %y : tensor<32x128xi8, #sparse.nm<n = 3, m = 32, vector = [2, 1]>>, tensor<128x48xi8>, tensor<32x48xi32>
    %r1 = sparse.spmv %t, %o, %z : tensor<32x128xi8, #sparse.nm<n = 3, m = 32, vector = [16, 1]>>, tensor<128xi8>, tensor<32xi32>
    %r2 = sparse.spmm %t, %x, %s : tensor<32x128xi8, #sparse.nm<n = 3, m = 32, vector = [16, 1]>>, tensor<128x48xi8>, tensor<32x48xi8>
    %r3 = sparse.spmm %t, %x, %y over max_plus : tensor<32x128xi8, #sparse.nm<n = 3, m = 32, vector = [16, 1]>>, tensor<128x48xi8>, tensor<32x48xi32>
    return %r0, %r1, %r2, %r3 : tensor<32x48xi32>, tensor<32xi32>, tensor<32x48xi8>, tensor<32x48xi32>
  }
}

// -----

// CHECK-NOT: @spmm_gathered
module attributes {tile.machine = #tile.machine<"sm_80">} {
  func.func @gpu(%p: tensor<2x4x3xi8>, %v: tensor<2x4x3x16xi8>, %x: tensor<128x48xi8>, %y: tensor<32x48xi32>) -> tensor<32x48xi32> {
    %w = sparse.assemble(%p, %v) : tensor<2x4x3xi8>, tensor<2x4x3x16xi8> -> tensor<32x128xi8, #sparse.nm<n = 3, m = 32, vector = [16, 1]>>
    %r = sparse.spmm %w, %x, %y : tensor<32x128xi8, #sparse.nm<n = 3, m = 32, vector = [16, 1]>>, tensor<128x48xi8>, tensor<32x48xi32>
    return %r : tensor<32x48xi32>
  }
}
