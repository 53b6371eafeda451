// Program 90002452 of the second generator, cut down: upstream's canonicalizer lost the first dimension of size 1 instead of the
// last, and the slice read other elements (pull 178118). The insertion and the loop's insertion are its siblings (pull 217361).
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu,emulate:sm_80,emulate:gfx942 --replay %s | FileCheck %s
// CHECK-COUNT-3: right
// in: normal f32 3x2x4 7
// in: normal f32 1x2 8
func.func @main(%a: tensor<3x2x4xf32>, %s: tensor<1x2xf32>) -> (tensor<1x2xf32>, tensor<3x2x4xf32>, tensor<3x2x4xf32>) {
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<3x2x4xf32>
  %abs = linalg.abs ins(%a : tensor<3x2x4xf32>) outs(%e : tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  %slice = tensor.extract_slice %abs[%c1, 0, 3] [1, 2, 1] [3, 1, 3] : tensor<3x2x4xf32> to tensor<1x2xf32>
  %inserted = tensor.insert_slice %s into %abs[%c1, 0, 2] [1, 2, 1] [1, 1, 1] : tensor<1x2xf32> into tensor<3x2x4xf32>
  %loop = scf.forall (%i) in (3) shared_outs(%o = %abs) -> tensor<3x2x4xf32> {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0, %c1] [1, 2, 1] [1, 1, 1] : tensor<1x2xf32> into tensor<3x2x4xf32>
    }
  }
  return %slice, %inserted, %loop : tensor<1x2xf32>, tensor<3x2x4xf32>, tensor<3x2x4xf32>
}
