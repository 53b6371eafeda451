// With loops=true, kernels for one row and for many are made only where a loop repeats the product, as in a recurrent
// cell. The CPU's pipeline does so.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-generalize-named-ops,tile-specialize-sizes{buckets=1,1024 loops=true}))' | FileCheck %s
// RUN: sed 's/ attributes {.*} {/ {/' %s | %tile_run - --size=1 --target=cpu --check-against=interpret
// RUN: sed 's/ attributes {.*} {/ {/' %s | %tile_run - --size=7 --target=cpu --check-against=interpret

// CHECK-LABEL: func.func @main
// CHECK: linalg.generic
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK: scf.if
// CHECK: linalg.generic {{.*}}tile.extents = array<i64: 1, 400, 400>
// CHECK: linalg.generic {{.*}}tile.extents = array<i64: 1024, 400, 400>
module attributes {tile.machine = #tile.machine<"x86-64-v4", "cores" = 1>} {
func.func @main(%x: tensor<?x400xf32>, %w: tensor<400x400xf32>) -> tensor<?x400xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %small = arith.constant 0.0625 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x400xf32>
  %empty = tensor.empty(%rows) : tensor<?x400xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x400xf32>) -> tensor<?x400xf32>
  %first = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
        ins(%x, %w : tensor<?x400xf32>, tensor<400x400xf32>) outs(%start : tensor<?x400xf32>) -> tensor<?x400xf32>
  %last = scf.for %i = %c0 to %c2 step %c1 iter_args(%state = %first) -> (tensor<?x400xf32>) {
    %next = linalg.matmul indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>]
        ins(%state, %w : tensor<?x400xf32>, tensor<400x400xf32>) outs(%start : tensor<?x400xf32>) -> tensor<?x400xf32>
    %less = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        ins(%next : tensor<?x400xf32>) outs(%empty : tensor<?x400xf32>) {
    ^bb0(%a: f32, %o: f32):
      %b = arith.mulf %a, %small : f32
      linalg.yield %b : f32
    } -> tensor<?x400xf32>
    scf.yield %less : tensor<?x400xf32>
  }
  return %last : tensor<?x400xf32>
}
}
