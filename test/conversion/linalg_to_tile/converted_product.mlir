// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-construct-tiles{ops=products chip=x86-64-v4}),convert-linalg-to-tile{chip=x86-64-v4})' --split-input-file | FileCheck %s

// Seven rows by codes in two groups of 48: x and the weights are packed as f32, both along k, and multiplied from there.
// CHECK-LABEL: tile.kernel private @converted_product_0
// CHECK-COUNT-3: tile.alloc
// CHECK: scf.for
// CHECK: tile.load {{.*}} -> tensor<4x48xf32>
// CHECK: scf.for
// CHECK: arith.sitofp {{.*}} : tensor<5x48xi8> to tensor<5x48xf32>
// CHECK: arith.mulf {{.*}} : tensor<5x48xf32>
// CHECK: tile.store
// CHECK: scf.for
// CHECK: tile.transpose
// CHECK: tile.mma {{.*}} -> tensor<4x5xf32>
// CHECK: tile.return
func.func @along_depth(%x: tensor<7x2x48xf32>, %q: tensor<65x2x48xi8>, %s: tensor<65x2xf32>, %c: tensor<7x65xf32>) -> tensor<7x65xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, g, k) -> (m, g, k)>, affine_map<(m, n, g, k) -> (n, g, k)>, affine_map<(m, n, g, k) -> (n, g)>, affine_map<(m, n, g, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %q, %s : tensor<7x2x48xf32>, tensor<65x2x48xi8>, tensor<65x2xf32>) outs(%c : tensor<7x65xf32>) {
  ^bb0(%a: f32, %b: i8, %d: f32, %o: f32):
    %f = arith.sitofp %b : i8 to f32
    %w = arith.mulf %f, %d : f32
    %p = arith.mulf %a, %w : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<7x65xf32>
  return %r : tensor<7x65xf32>
}

// -----

// The rows' number is known late; weights lie along n, and are multiplied as rows of columns.
// CHECK-LABEL: tile.kernel private @converted_product_0
// CHECK: arith.extf {{.*}} : tensor<{{.*}}xf16> to
// CHECK: arith.sitofp {{.*}} : tensor<96x64xi8> to tensor<96x64xf32>
// CHECK-NOT: tile.transpose
// CHECK: tile.mma {{.*}} tensor<96x64xf32> -> tensor<{{.*}}x64xf32>
func.func @along_columns(%x: tensor<?x96xf16>, %q: tensor<96x64xi8>, %c: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %q : tensor<?x96xf16>, tensor<96x64xi8>) outs(%c : tensor<?x64xf32>) {
  ^bb0(%a: f16, %b: i8, %o: f32):
    %e = arith.extf %a : f16 to f32
    %f = arith.sitofp %b : i8 to f32
    %p = arith.mulf %e, %f : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// -----

// Codes of four bits: what the factor is for each of the sixteen codes of a group is a table, filled once for the group,
// and looked up by the codes as i32. One row is such a product too.
// CHECK-LABEL: tile.kernel private @converted_product_0
// CHECK: scf.for
// CHECK: tile.iota {{.*}} : tensor<8x16xi8>
// CHECK: arith.uitofp
// CHECK: arith.mulf {{.*}} : tensor<8x16xf32>
// CHECK: tile.store
// CHECK: scf.for
// CHECK: arith.extui {{.*}} : tensor<8x32xi8> to tensor<8x32xi32>
// CHECK: arith.shrui {{.*}} : tensor<8x32xi32>
// CHECK: arith.andi {{.*}} : tensor<8x32xi32>
// CHECK: tile.gather {{.*}} axis 1 bounds(clamp) : tensor<8x16xf32>[tensor<8x32xi32>] -> tensor<8x32xf32>
// CHECK: tile.mma {{.*}} -> tensor<1x8xf32>
func.func @nibbles(%x: tensor<1x3x2x32xf32>, %q: tensor<64x3x32xi8>, %h: tensor<2xi8>, %s: tensor<64x3xf32>, %c: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %mask = arith.constant 15 : i8
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, g, t, k) -> (m, g, t, k)>, affine_map<(m, n, g, t, k) -> (n, g, k)>, affine_map<(m, n, g, t, k) -> (t)>,
      affine_map<(m, n, g, t, k) -> (n, g)>, affine_map<(m, n, g, t, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %q, %h, %s : tensor<1x3x2x32xf32>, tensor<64x3x32xi8>, tensor<2xi8>, tensor<64x3xf32>) outs(%c : tensor<1x64xf32>) {
  ^bb0(%a: f32, %b: i8, %e: i8, %d: f32, %o: f32):
    %u = arith.shrui %b, %e : i8
    %v = arith.andi %u, %mask : i8
    %f = arith.uitofp %v : i8 to f32
    %w = arith.mulf %f, %d : f32
    %p = arith.mulf %a, %w : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x64xf32>
  return %r : tensor<1x64xf32>
}

// -----

// Factors of two types are a product of f32 too.
// CHECK-LABEL: tile.kernel private @converted_product_0
// CHECK: arith.extf {{.*}} : tensor<{{.*}}x64xbf16> to
// CHECK: tile.mma
func.func @mixed(%x: tensor<12x64xf32>, %q: tensor<65x64xbf16>, %c: tensor<12x65xf32>) -> tensor<12x65xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %q : tensor<12x64xf32>, tensor<65x64xbf16>) outs(%c : tensor<12x65xf32>) {
  ^bb0(%a: f32, %b: bf16, %o: f32):
    %f = arith.extf %b : bf16 to f32
    %p = arith.mulf %f, %a : f32
    %t = arith.addf %p, %o : f32
    linalg.yield %t : f32
  } -> tensor<12x65xf32>
  return %r : tensor<12x65xf32>
}

// -----

// One row is a sum, and so is a k without a part of 32 elements.
// CHECK-NOT: @converted_product
// CHECK: tile.kernel private @reduction_1
// CHECK-NOT: @converted_product
// CHECK: tile.kernel private @reduction_0
func.func @one_row(%x: tensor<1x64xf32>, %q: tensor<65x64xi8>, %c: tensor<1x65xf32>, %y: tensor<5x521xf32>, %p: tensor<9x521xi8>, %d: tensor<5x9xf32>) -> (tensor<1x65xf32>, tensor<5x9xf32>) {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %q : tensor<1x64xf32>, tensor<65x64xi8>) outs(%c : tensor<1x65xf32>) {
  ^bb0(%a: f32, %b: i8, %o: f32):
    %f = arith.sitofp %b : i8 to f32
    %z = arith.mulf %a, %f : f32
    %t = arith.addf %o, %z : f32
    linalg.yield %t : f32
  } -> tensor<1x65xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%y, %p : tensor<5x521xf32>, tensor<9x521xi8>) outs(%d : tensor<5x9xf32>) {
  ^bb0(%a: f32, %b: i8, %o: f32):
    %f = arith.sitofp %b : i8 to f32
    %z = arith.mulf %a, %f : f32
    %t = arith.addf %o, %z : f32
    linalg.yield %t : f32
  } -> tensor<5x9xf32>
  return %r, %s : tensor<1x65xf32>, tensor<5x9xf32>
}

// -----

// A tile of three columns would be mostly padding.
// CHECK-NOT: @converted_product
// CHECK: tile.kernel private @reduction_0
func.func @three_columns(%x: tensor<7x64xf32>, %q: tensor<3x64xi8>, %c: tensor<7x3xf32>) -> tensor<7x3xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %q : tensor<7x64xf32>, tensor<3x64xi8>) outs(%c : tensor<7x3xf32>) {
  ^bb0(%a: f32, %b: i8, %o: f32):
    %f = arith.sitofp %b : i8 to f32
    %p = arith.mulf %a, %f : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<7x3xf32>
  return %r : tensor<7x3xf32>
}

// -----

// One row by codes of a byte in groups of 32: the loop over the groups carries 32 lanes, which are folded once behind it.
// CHECK-LABEL: tile.kernel private @reduction_0(%{{[a-z0-9]+}}: memref<1x6x32xf32>
// CHECK: scf.for {{.*}} -> (tensor<32xf32>)
// CHECK-NOT: tile.reduce
// CHECK: arith.extf %{{.*}} : tensor<32xf8E4M3FN> to tensor<32xf32>
// CHECK-NOT: tile.reduce
// CHECK: arith.addf %{{.*}} : tensor<32xf32>
// CHECK: tile.reduce {arith.addf} {{.*}} : tensor<32xf32> -> f32
func.func @one_row(%x: tensor<1x6x32xf32>, %w: tensor<24x6x32xf8E4M3FN>, %s: tensor<24x6xf32>, %o: tensor<1x24xf32>) -> tensor<1x24xf32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, n, g, k) -> (m, g, k)>, affine_map<(m, n, g, k) -> (n, g, k)>, affine_map<(m, n, g, k) -> (n, g)>, affine_map<(m, n, g, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w, %s : tensor<1x6x32xf32>, tensor<24x6x32xf8E4M3FN>, tensor<24x6xf32>) outs(%o : tensor<1x24xf32>) {
  ^bb0(%a: f32, %c: f8E4M3FN, %d: f32, %acc: f32):
    %f = arith.extf %c : f8E4M3FN to f32
    %p = arith.mulf %f, %d : f32
    %q = arith.mulf %a, %p : f32
    %y = arith.addf %acc, %q : f32
    linalg.yield %y : f32
  } -> tensor<1x24xf32>
  return %r : tensor<1x24xf32>
}

// -----

// Elements of 6 bits are loaded from bytes: 24 for a group of 32. The launch takes the bytes.
// CHECK-LABEL: func.func @six_bits
// CHECK: tile.launch @converted_product_0 {{.*}}tensor<24x6x24xi8>
// CHECK-LABEL: tile.kernel private @converted_product_0(%{{[a-z0-9]+}}: memref<3x6x32xf32>, %{{[a-z0-9]+}}: memref<24x6x24xi8>
// CHECK: tile.bitcast %{{.*}} : tensor<{{[0-9]+}}x24xi8> -> tensor<{{[0-9]+}}x32xf6E2M3FN>
func.func @six_bits(%x: tensor<3x6x32xf32>, %p: tensor<24x6x24xi8>, %s: tensor<24x6xf32>, %o: tensor<3x24xf32>) -> tensor<3x24xf32> {
  %w = tile.bitcast %p : tensor<24x6x24xi8> -> tensor<24x6x32xf6E2M3FN>
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, n, g, k) -> (m, g, k)>, affine_map<(m, n, g, k) -> (n, g, k)>, affine_map<(m, n, g, k) -> (n, g)>, affine_map<(m, n, g, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w, %s : tensor<3x6x32xf32>, tensor<24x6x32xf6E2M3FN>, tensor<24x6xf32>) outs(%o : tensor<3x24xf32>) {
  ^bb0(%a: f32, %c: f6E2M3FN, %d: f32, %acc: f32):
    %f = arith.extf %c : f6E2M3FN to f32
    %p0 = arith.mulf %f, %d : f32
    %q = arith.mulf %a, %p0 : f32
    %y = arith.addf %acc, %q : f32
    linalg.yield %y : f32
  } -> tensor<3x24xf32>
  return %r : tensor<3x24xf32>
}

// -----

// Many columns: each of the eight cores gets four programs, and no program packs the rows for 64 columns only.
// CHECK-LABEL: func.func @many_columns
// CHECK: %[[PROGRAMS:.*]] = arith.constant 32 : index
// CHECK: tile.launch @converted_product_0 grid(%[[PROGRAMS]], %{{.*}})
func.func @many_columns(%x: tensor<128x2x64xf32>, %q: tensor<8192x2x64xi8>, %s: tensor<8192x2xf32>, %c: tensor<128x8192xf32>) -> tensor<128x8192xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, g, k) -> (m, g, k)>, affine_map<(m, n, g, k) -> (n, g, k)>, affine_map<(m, n, g, k) -> (n, g)>, affine_map<(m, n, g, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %q, %s : tensor<128x2x64xf32>, tensor<8192x2x64xi8>, tensor<8192x2xf32>) outs(%c : tensor<128x8192xf32>) {
  ^bb0(%a: f32, %b: i8, %d: f32, %o: f32):
    %f = arith.sitofp %b : i8 to f32
    %w = arith.mulf %f, %d : f32
    %p = arith.mulf %a, %w : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<128x8192xf32>
  return %r : tensor<128x8192xf32>
}
