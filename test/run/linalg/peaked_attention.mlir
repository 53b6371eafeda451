// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %python %source/test/run/check.py %tile_run %s --check-against=interpret
// RUN: %tile_opt %s --pass-pipeline='builtin.module(linalg-generalize-named-ops,tile-group-ops{ops=attention},convert-linalg-to-tile)' | FileCheck %s
// Attention whose scores differ by hundreds: most weights are far below the smallest number. Weights below 2^-100 are 0, so
// that no product has a subnormal factor.
// CHECK: arith.constant dense<-69.31{{.*}}>
// CHECK: %[[NOTHING:.*]] = arith.cmpf olt
// CHECK: %[[LEAST:.*]] = arith.select %[[NOTHING]]
// CHECK: %[[EXP:.*]] = math.exp %[[LEAST]]
// CHECK: arith.select %[[NOTHING]], {{.*}}, %[[EXP]]
// CHECK: tile.mma
// in: 40 * normal(2, 19, 16), normal(2, 37, 16), normal(2, 37, 16)
// expect: (lambda s: (lambda p: p / p.sum(-1, keepdims=True))(np.exp(s - s.max(-1, keepdims=True))) @ x2)(x0.astype(f64) @ x1.astype(f64).transpose(0, 2, 1))
// tolerance: 1e-3
func.func @main(%q: tensor<2x19x16xf32>, %k: tensor<2x37x16xf32>, %v: tensor<2x37x16xf32>) -> tensor<2x19x16xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x19x37xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x19x37xf32>) -> tensor<2x19x37xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, i, j, k) -> (b, i, k)>, affine_map<(b, i, j, k) -> (b, j, k)>, affine_map<(b, i, j, k) -> (b, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x19x16xf32>, tensor<2x37x16xf32>) outs(%fs : tensor<2x19x37xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %m = arith.mulf %x, %y : f32
    %a = arith.addf %z, %m : f32
    linalg.yield %a : f32
  } -> tensor<2x19x37xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x19x37xf32>) outs(%es : tensor<2x19x37xf32>) -> tensor<2x19x37xf32>
  %eo = tensor.empty() : tensor<2x19x16xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x19x16xf32>) -> tensor<2x19x16xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x19x37xf32>, tensor<2x37x16xf32>) outs(%fo : tensor<2x19x16xf32>) -> tensor<2x19x16xf32>
  return %o : tensor<2x19x16xf32>
}
