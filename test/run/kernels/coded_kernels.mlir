// RUN: grep '^//' %s > %t.mlir
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-generalize-named-ops,tile-find-low-bit,cse,canonicalize),tile-group-ops,convert-linalg-to-tile,tile.kernel(canonicalize,cse))' >> %t.mlir
// RUN: FileCheck %s --check-prefix=KERNELS < %t.mlir
// RUN: %python %source/test/run/check.py %tile_run %t.mlir --target=interpret
// RUN: %python %source/test/run/check.py %tile_run %t.mlir
// RUN: sed 's/, "atom.vpdpbusd" = "[^"]*"//' %t.mlir > %t.plain.mlir && %python %source/test/run/check.py %tile_run %t.plain.mlir
// Rows of i8 by nibbles with zeros, groups of 64, as exporters write them: one kernel computes the sums of integers and
// scales them, for one row, a few and many. The kernels are interpreted, and run with and without the dot instruction.
// KERNELS-DAG: {{tile.kernel private @coded_dots_[0]}}
// KERNELS-DAG: {{tile.kernel private @coded_dots_[1]}}
// KERNELS-DAG: {{tile.kernel private @coded_dots_[2]}}
// KERNELS-NOT: {{= tensor.empty[(][)] : tensor<40x128x2xi8>}}
// in: integers(-128, 128, 1, 4, 64).astype(i8), integers(-128, 128, 40, 128).astype(i8), integers(-2, 17, 40, 4).astype(i8), uniform(40, 4) + f32(1), uniform(1) + f32(1), integers(-128, 128, 3, 4, 64).astype(i8), uniform(3) + f32(1), integers(-128, 128, 19, 4, 64).astype(i8), uniform(19) + f32(1)
// expect: ((x0.astype(i64).reshape(1, 1, 4, 64) * ((np.stack([x1.astype(np.uint8) & 15, x1.astype(np.uint8) >> 4], -1).reshape(40, 4, 64).astype(i64) - x2[:, :, None]))[None]).sum(-1) * x3.astype(f64)[None]).sum(-1) * x4.astype(f64)[:, None]
// expect: ((x5.astype(i64).reshape(3, 1, 4, 64) * ((np.stack([x1.astype(np.uint8) & 15, x1.astype(np.uint8) >> 4], -1).reshape(40, 4, 64).astype(i64) - x2[:, :, None]))[None]).sum(-1) * x3.astype(f64)[None]).sum(-1) * x6.astype(f64)[:, None]
// expect: ((x7.astype(i64).reshape(19, 1, 4, 64) * ((np.stack([x1.astype(np.uint8) & 15, x1.astype(np.uint8) >> 4], -1).reshape(40, 4, 64).astype(i64) - x2[:, :, None]))[None]).sum(-1) * x3.astype(f64)[None]).sum(-1) * x8.astype(f64)[:, None]
// tolerance: 1e-4
module attributes {tile.machine = #tile.machine<"x86-64-v4", "atom.vpdpbusd" = "1x16x4 i8,i8,i32">} {
  func.func private @rows0(%x: tensor<1x4x64xi8>, %p: tensor<40x128xi8>, %z: tensor<40x4xi8>, %s: tensor<40x4xf32>, %d: tensor<1xf32>) -> tensor<1x40xf32> {
    %shifts = arith.constant dense<[0, 4]> : tensor<2xi8>
    %mask = arith.constant 15 : i8
    %n0 = arith.constant 0 : i32
    %f0 = arith.constant 0.0 : f32
    %ue = tensor.empty() : tensor<40x128x2xi8>
    %u = linalg.generic {indexing_maps = [affine_map<(n, k, t) -> (n, k)>, affine_map<(n, k, t) -> (t)>, affine_map<(n, k, t) -> (n, k, t)>],
        iterator_types = ["parallel", "parallel", "parallel"]} ins(%p, %shifts : tensor<40x128xi8>, tensor<2xi8>) outs(%ue : tensor<40x128x2xi8>) {
    ^bb0(%a: i8, %b: i8, %c: i8):
      %v = arith.shrui %a, %b : i8
      %w = arith.andi %v, %mask : i8
      linalg.yield %w : i8
    } -> tensor<40x128x2xi8>
    %uc = tensor.collapse_shape %u [[0], [1, 2]] : tensor<40x128x2xi8> into tensor<40x256xi8>
    %q = tensor.expand_shape %uc [[0], [1, 2]] output_shape [40, 4, 64] : tensor<40x256xi8> into tensor<40x4x64xi8>
    %we = tensor.empty() : tensor<40x4x64xi16>
    %w = linalg.generic {indexing_maps = [affine_map<(n, g, k) -> (n, g, k)>, affine_map<(n, g, k) -> (n, g)>, affine_map<(n, g, k) -> (n, g, k)>],
        iterator_types = ["parallel", "parallel", "parallel"]} ins(%q, %z : tensor<40x4x64xi8>, tensor<40x4xi8>) outs(%we : tensor<40x4x64xi16>) {
    ^bb0(%a: i8, %b: i8, %c: i16):
      %v = arith.extui %a : i8 to i16
      %y = arith.extsi %b : i8 to i16
      %r = arith.subi %v, %y : i16
      linalg.yield %r : i16
    } -> tensor<40x4x64xi16>
    %de = tensor.empty() : tensor<1x40x4xi32>
    %df = linalg.fill ins(%n0 : i32) outs(%de : tensor<1x40x4xi32>) -> tensor<1x40x4xi32>
    %dots = linalg.generic {indexing_maps = [affine_map<(m, n, g, k) -> (m, g, k)>, affine_map<(m, n, g, k) -> (n, g, k)>, affine_map<(m, n, g, k) -> (m, n, g)>],
        iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<1x4x64xi8>, tensor<40x4x64xi16>) outs(%df : tensor<1x40x4xi32>) {
    ^bb0(%a: i8, %b: i16, %c: i32):
      %v = arith.extsi %a : i8 to i32
      %y = arith.extsi %b : i16 to i32
      %r = arith.muli %v, %y : i32
      %t = arith.addi %c, %r : i32
      linalg.yield %t : i32
    } -> tensor<1x40x4xi32>
    %re = tensor.empty() : tensor<1x40xf32>
    %rf = linalg.fill ins(%f0 : f32) outs(%re : tensor<1x40xf32>) -> tensor<1x40xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(m, n, g) -> (m, n, g)>, affine_map<(m, n, g) -> (n, g)>, affine_map<(m, n, g) -> (m)>, affine_map<(m, n, g) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"]} ins(%dots, %s, %d : tensor<1x40x4xi32>, tensor<40x4xf32>, tensor<1xf32>) outs(%rf : tensor<1x40xf32>) {
    ^bb0(%a: i32, %b: f32, %c: f32, %e: f32):
      %v = arith.sitofp %a : i32 to f32
      %y = arith.mulf %v, %b : f32
      %t = arith.mulf %y, %c : f32
      %u2 = arith.addf %e, %t : f32
      linalg.yield %u2 : f32
    } -> tensor<1x40xf32>
    return %r : tensor<1x40xf32>
  }
  func.func private @rows1(%x: tensor<3x4x64xi8>, %p: tensor<40x128xi8>, %z: tensor<40x4xi8>, %s: tensor<40x4xf32>, %d: tensor<3xf32>) -> tensor<3x40xf32> {
    %shifts = arith.constant dense<[0, 4]> : tensor<2xi8>
    %mask = arith.constant 15 : i8
    %n0 = arith.constant 0 : i32
    %f0 = arith.constant 0.0 : f32
    %ue = tensor.empty() : tensor<40x128x2xi8>
    %u = linalg.generic {indexing_maps = [affine_map<(n, k, t) -> (n, k)>, affine_map<(n, k, t) -> (t)>, affine_map<(n, k, t) -> (n, k, t)>],
        iterator_types = ["parallel", "parallel", "parallel"]} ins(%p, %shifts : tensor<40x128xi8>, tensor<2xi8>) outs(%ue : tensor<40x128x2xi8>) {
    ^bb0(%a: i8, %b: i8, %c: i8):
      %v = arith.shrui %a, %b : i8
      %w = arith.andi %v, %mask : i8
      linalg.yield %w : i8
    } -> tensor<40x128x2xi8>
    %uc = tensor.collapse_shape %u [[0], [1, 2]] : tensor<40x128x2xi8> into tensor<40x256xi8>
    %q = tensor.expand_shape %uc [[0], [1, 2]] output_shape [40, 4, 64] : tensor<40x256xi8> into tensor<40x4x64xi8>
    %we = tensor.empty() : tensor<40x4x64xi16>
    %w = linalg.generic {indexing_maps = [affine_map<(n, g, k) -> (n, g, k)>, affine_map<(n, g, k) -> (n, g)>, affine_map<(n, g, k) -> (n, g, k)>],
        iterator_types = ["parallel", "parallel", "parallel"]} ins(%q, %z : tensor<40x4x64xi8>, tensor<40x4xi8>) outs(%we : tensor<40x4x64xi16>) {
    ^bb0(%a: i8, %b: i8, %c: i16):
      %v = arith.extui %a : i8 to i16
      %y = arith.extsi %b : i8 to i16
      %r = arith.subi %v, %y : i16
      linalg.yield %r : i16
    } -> tensor<40x4x64xi16>
    %de = tensor.empty() : tensor<3x40x4xi32>
    %df = linalg.fill ins(%n0 : i32) outs(%de : tensor<3x40x4xi32>) -> tensor<3x40x4xi32>
    %dots = linalg.generic {indexing_maps = [affine_map<(m, n, g, k) -> (m, g, k)>, affine_map<(m, n, g, k) -> (n, g, k)>, affine_map<(m, n, g, k) -> (m, n, g)>],
        iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<3x4x64xi8>, tensor<40x4x64xi16>) outs(%df : tensor<3x40x4xi32>) {
    ^bb0(%a: i8, %b: i16, %c: i32):
      %v = arith.extsi %a : i8 to i32
      %y = arith.extsi %b : i16 to i32
      %r = arith.muli %v, %y : i32
      %t = arith.addi %c, %r : i32
      linalg.yield %t : i32
    } -> tensor<3x40x4xi32>
    %re = tensor.empty() : tensor<3x40xf32>
    %rf = linalg.fill ins(%f0 : f32) outs(%re : tensor<3x40xf32>) -> tensor<3x40xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(m, n, g) -> (m, n, g)>, affine_map<(m, n, g) -> (n, g)>, affine_map<(m, n, g) -> (m)>, affine_map<(m, n, g) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"]} ins(%dots, %s, %d : tensor<3x40x4xi32>, tensor<40x4xf32>, tensor<3xf32>) outs(%rf : tensor<3x40xf32>) {
    ^bb0(%a: i32, %b: f32, %c: f32, %e: f32):
      %v = arith.sitofp %a : i32 to f32
      %y = arith.mulf %v, %b : f32
      %t = arith.mulf %y, %c : f32
      %u2 = arith.addf %e, %t : f32
      linalg.yield %u2 : f32
    } -> tensor<3x40xf32>
    return %r : tensor<3x40xf32>
  }
  func.func private @rows2(%x: tensor<19x4x64xi8>, %p: tensor<40x128xi8>, %z: tensor<40x4xi8>, %s: tensor<40x4xf32>, %d: tensor<19xf32>) -> tensor<19x40xf32> {
    %shifts = arith.constant dense<[0, 4]> : tensor<2xi8>
    %mask = arith.constant 15 : i8
    %n0 = arith.constant 0 : i32
    %f0 = arith.constant 0.0 : f32
    %ue = tensor.empty() : tensor<40x128x2xi8>
    %u = linalg.generic {indexing_maps = [affine_map<(n, k, t) -> (n, k)>, affine_map<(n, k, t) -> (t)>, affine_map<(n, k, t) -> (n, k, t)>],
        iterator_types = ["parallel", "parallel", "parallel"]} ins(%p, %shifts : tensor<40x128xi8>, tensor<2xi8>) outs(%ue : tensor<40x128x2xi8>) {
    ^bb0(%a: i8, %b: i8, %c: i8):
      %v = arith.shrui %a, %b : i8
      %w = arith.andi %v, %mask : i8
      linalg.yield %w : i8
    } -> tensor<40x128x2xi8>
    %uc = tensor.collapse_shape %u [[0], [1, 2]] : tensor<40x128x2xi8> into tensor<40x256xi8>
    %q = tensor.expand_shape %uc [[0], [1, 2]] output_shape [40, 4, 64] : tensor<40x256xi8> into tensor<40x4x64xi8>
    %we = tensor.empty() : tensor<40x4x64xi16>
    %w = linalg.generic {indexing_maps = [affine_map<(n, g, k) -> (n, g, k)>, affine_map<(n, g, k) -> (n, g)>, affine_map<(n, g, k) -> (n, g, k)>],
        iterator_types = ["parallel", "parallel", "parallel"]} ins(%q, %z : tensor<40x4x64xi8>, tensor<40x4xi8>) outs(%we : tensor<40x4x64xi16>) {
    ^bb0(%a: i8, %b: i8, %c: i16):
      %v = arith.extui %a : i8 to i16
      %y = arith.extsi %b : i8 to i16
      %r = arith.subi %v, %y : i16
      linalg.yield %r : i16
    } -> tensor<40x4x64xi16>
    %de = tensor.empty() : tensor<19x40x4xi32>
    %df = linalg.fill ins(%n0 : i32) outs(%de : tensor<19x40x4xi32>) -> tensor<19x40x4xi32>
    %dots = linalg.generic {indexing_maps = [affine_map<(m, n, g, k) -> (m, g, k)>, affine_map<(m, n, g, k) -> (n, g, k)>, affine_map<(m, n, g, k) -> (m, n, g)>],
        iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<19x4x64xi8>, tensor<40x4x64xi16>) outs(%df : tensor<19x40x4xi32>) {
    ^bb0(%a: i8, %b: i16, %c: i32):
      %v = arith.extsi %a : i8 to i32
      %y = arith.extsi %b : i16 to i32
      %r = arith.muli %v, %y : i32
      %t = arith.addi %c, %r : i32
      linalg.yield %t : i32
    } -> tensor<19x40x4xi32>
    %re = tensor.empty() : tensor<19x40xf32>
    %rf = linalg.fill ins(%f0 : f32) outs(%re : tensor<19x40xf32>) -> tensor<19x40xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(m, n, g) -> (m, n, g)>, affine_map<(m, n, g) -> (n, g)>, affine_map<(m, n, g) -> (m)>, affine_map<(m, n, g) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"]} ins(%dots, %s, %d : tensor<19x40x4xi32>, tensor<40x4xf32>, tensor<19xf32>) outs(%rf : tensor<19x40xf32>) {
    ^bb0(%a: i32, %b: f32, %c: f32, %e: f32):
      %v = arith.sitofp %a : i32 to f32
      %y = arith.mulf %v, %b : f32
      %t = arith.mulf %y, %c : f32
      %u2 = arith.addf %e, %t : f32
      linalg.yield %u2 : f32
    } -> tensor<19x40xf32>
    return %r : tensor<19x40xf32>
  }
  func.func @main(%a: tensor<1x4x64xi8>, %p: tensor<40x128xi8>, %z: tensor<40x4xi8>, %s: tensor<40x4xf32>, %da: tensor<1xf32>, %b: tensor<3x4x64xi8>, %db: tensor<3xf32>, %c: tensor<19x4x64xi8>, %dc: tensor<19xf32>) -> (tensor<1x40xf32>, tensor<3x40xf32>, tensor<19x40xf32>) {
    %ra = call @rows0(%a, %p, %z, %s, %da) : (tensor<1x4x64xi8>, tensor<40x128xi8>, tensor<40x4xi8>, tensor<40x4xf32>, tensor<1xf32>) -> tensor<1x40xf32>
    %rb = call @rows1(%b, %p, %z, %s, %db) : (tensor<3x4x64xi8>, tensor<40x128xi8>, tensor<40x4xi8>, tensor<40x4xf32>, tensor<3xf32>) -> tensor<3x40xf32>
    %rc = call @rows2(%c, %p, %z, %s, %dc) : (tensor<19x4x64xi8>, tensor<40x128xi8>, tensor<40x4xi8>, tensor<40x4xf32>, tensor<19xf32>) -> tensor<19x40xf32>
    return %ra, %rb, %rc : tensor<1x40xf32>, tensor<3x40xf32>, tensor<19x40xf32>
  }
}
