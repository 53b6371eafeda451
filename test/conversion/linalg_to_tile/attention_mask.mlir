// A kernel lists the blocks of keys that a run-time mask shows whole and in part, and attention walks those: whole ones
// without the mask, then the others. Results: test/run/products/mask_attention.test.
// RUN: %tile_opt %s --tile-to-cpu-pipeline=chip=x86-64-v4 --mlir-print-ir-after=tile-share-kernels -o /dev/null 2>&1 | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: sed -E 's/(arith.select .bb), (.t), (.hidden)/\1, \3, \2/' %s | %tile_opt --tile-to-cpu-pipeline=chip=x86-64-v4 --mlir-print-ir-after=tile-share-kernels -o /dev/null 2>&1 | FileCheck %s --check-prefixes=CHECK,NEGATED
// RUN: %tile_opt %s --tile-to-nvvm-pipeline=chip=sm_80 --mlir-print-ir-after=tile-share-kernels -o /dev/null 2>&1 | FileCheck %s --check-prefixes=CHECK,GPU

// CHECK: tile.launch @seen_blocks
// CHECK: tile.launch @attention
// CHECK: tile.kernel private @attention
// CHECK: memref.load {{.*}} {tile.rounds_ahead = 32
// CHECK: scf.for
// CHECK: memref.load {{.*}} {tile.rounds_ahead = 32
// GPU-NOT: tile.load {{.*}}xi1>
// CPU-NOT: tile.copy
// CPU: arith.constant dense<true>
// GPU: arith.constant dense<true>
// NEGATED: arith.constant dense<false>
// CHECK: memref.load {{.*}} {tile.rounds_ahead = 32
// GPU: tile.load {{.*}}xi1>
// CPU: tile.copy
// CHECK: tile.kernel private @seen_blocks
// GPU: tile.reduce {arith.ori} {{.*}} axes [0, 1]
// CPU: tile.reduce {arith.ori} {{.*}} axes [0] {{.*}} -> tensor
// CPU: tile.reduce {arith.ori} {{.*}} -> i8

func.func @main(%q: tensor<2x131x16xf32>, %k: tensor<2x611x16xf32>, %v: tensor<2x611x16xf32>, %m: tensor<131x611xi1>) -> tensor<2x131x16xf32> {
  %scale = arith.constant 0.25 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %z = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x131x611xf32>
  %sf = linalg.fill ins(%z : f32) outs(%se : tensor<2x131x611xf32>) -> tensor<2x131x611xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(h, q, k, d) -> (h, q, d)>, affine_map<(h, q, k, d) -> (h, k, d)>, affine_map<(h, q, k, d) -> (h, q, k)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x131x16xf32>, tensor<2x611x16xf32>) outs(%sf : tensor<2x131x611xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %pp = arith.mulf %a, %b : f32
    %r = arith.addf %o, %pp : f32
    linalg.yield %r : f32
  } -> tensor<2x131x611xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(h, q, k) -> (h, q, k)>, affine_map<(h, q, k) -> (q, k)>, affine_map<(h, q, k) -> (h, q, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %m : tensor<2x131x611xf32>, tensor<131x611xi1>) outs(%se : tensor<2x131x611xf32>) {
  ^bb0(%vv: f32, %bb: i1, %o: f32):
    %t = arith.mulf %vv, %scale : f32
    %r = arith.select %bb, %t, %hidden : f32
    linalg.yield %r : f32
  } -> tensor<2x131x611xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<2x131x611xf32>) outs(%se : tensor<2x131x611xf32>) -> tensor<2x131x611xf32>
  %oe = tensor.empty() : tensor<2x131x16xf32>
  %of = linalg.fill ins(%z : f32) outs(%oe : tensor<2x131x16xf32>) -> tensor<2x131x16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(h, q, d, k) -> (h, q, k)>, affine_map<(h, q, d, k) -> (h, k, d)>, affine_map<(h, q, d, k) -> (h, q, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<2x131x611xf32>, tensor<2x611x16xf32>) outs(%of : tensor<2x131x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.mulf %a, %b : f32
    %r = arith.addf %o, %t : f32
    linalg.yield %r : f32
  } -> tensor<2x131x16xf32>
  return %y : tensor<2x131x16xf32>
}
