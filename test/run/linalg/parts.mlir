// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %tile_run %s --check-against=interpret
// RUN: %tile_run %s --target=emulate:sm_80 --check-against=interpret
// RUN: %tile_run %s --target=emulate:gfx942 --check-against=interpret
// RUN: %tile_opt %s --tile-to-cpu-pipeline | FileCheck %s
// Kernels read parts of tensors, and write parts of results, where they are: rotary embedding by halves, of two tensors
// that share kernels, and a part with a step, which is copied.
// in: normal(5, 3, 14), normal(5, 7), normal(5, 7), normal(5, 3, 14)
// in: normal(5, 3, 14), normal(5, 7), normal(5, 7), normal(5, 3, 14)
// expect: np.concatenate([x0[..., :7] * x1[:, None] - x0[..., 7:] * x2[:, None], x0[..., 7:] * x1[:, None] + x0[..., :7] * x2[:, None]], -1)
// expect: np.concatenate([x3[..., :7] * x1[:, None] - x3[..., 7:] * x2[:, None], x3[..., 7:] * x1[:, None] + x3[..., :7] * x2[:, None]], -1)
// expect: -x0[:, :, ::2]
// tolerance: 1e-5

// The one copy is of the part with a step.
// CHECK-LABEL: llvm.func @main
// CHECK-COUNT-1: call @memrefCopy
// CHECK-NOT: call @memrefCopy
// CHECK: llvm.return
#whole = affine_map<(i, h, j) -> (i, h, j)>
#angle = affine_map<(i, h, j) -> (i, j)>
func.func @main(%q: tensor<5x3x14xf32>, %c: tensor<5x7xf32>, %s: tensor<5x7xf32>, %k: tensor<5x3x14xf32>)
    -> (tensor<5x3x14xf32>, tensor<5x3x14xf32>, tensor<5x3x7xf32>) {
  %e = tensor.empty() : tensor<5x3x7xf32>
  %out = tensor.empty() : tensor<5x3x14xf32>
  %qlow = tensor.extract_slice %q[0, 0, 0] [5, 3, 7] [1, 1, 1] : tensor<5x3x14xf32> to tensor<5x3x7xf32>
  %qhigh = tensor.extract_slice %q[0, 0, 7] [5, 3, 7] [1, 1, 1] : tensor<5x3x14xf32> to tensor<5x3x7xf32>
  %q0 = linalg.generic {indexing_maps = [#whole, #whole, #angle, #angle, #whole],
                        iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qlow, %qhigh, %c, %s : tensor<5x3x7xf32>, tensor<5x3x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>)
      outs(%e : tensor<5x3x7xf32>) {
  ^bb0(%l: f32, %h: f32, %cc: f32, %ss: f32, %o: f32):
    %a = arith.mulf %l, %cc : f32
    %b = arith.mulf %h, %ss : f32
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<5x3x7xf32>
  %q1 = tensor.insert_slice %q0 into %out[0, 0, 0] [5, 3, 7] [1, 1, 1] : tensor<5x3x7xf32> into tensor<5x3x14xf32>
  %q2 = linalg.generic {indexing_maps = [#whole, #whole, #angle, #angle, #whole],
                        iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qhigh, %qlow, %c, %s : tensor<5x3x7xf32>, tensor<5x3x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>)
      outs(%e : tensor<5x3x7xf32>) {
  ^bb0(%l: f32, %h: f32, %cc: f32, %ss: f32, %o: f32):
    %a = arith.mulf %l, %cc : f32
    %b = arith.mulf %h, %ss : f32
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<5x3x7xf32>
  %q3 = tensor.insert_slice %q2 into %q1[0, 0, 7] [5, 3, 7] [1, 1, 1] : tensor<5x3x7xf32> into tensor<5x3x14xf32>
  %klow = tensor.extract_slice %k[0, 0, 0] [5, 3, 7] [1, 1, 1] : tensor<5x3x14xf32> to tensor<5x3x7xf32>
  %khigh = tensor.extract_slice %k[0, 0, 7] [5, 3, 7] [1, 1, 1] : tensor<5x3x14xf32> to tensor<5x3x7xf32>
  %k0 = linalg.generic {indexing_maps = [#whole, #whole, #angle, #angle, #whole],
                        iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%klow, %khigh, %c, %s : tensor<5x3x7xf32>, tensor<5x3x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>)
      outs(%e : tensor<5x3x7xf32>) {
  ^bb0(%l: f32, %h: f32, %cc: f32, %ss: f32, %o: f32):
    %a = arith.mulf %l, %cc : f32
    %b = arith.mulf %h, %ss : f32
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<5x3x7xf32>
  %k1 = tensor.insert_slice %k0 into %out[0, 0, 0] [5, 3, 7] [1, 1, 1] : tensor<5x3x7xf32> into tensor<5x3x14xf32>
  %k2 = linalg.generic {indexing_maps = [#whole, #whole, #angle, #angle, #whole],
                        iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%khigh, %klow, %c, %s : tensor<5x3x7xf32>, tensor<5x3x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>)
      outs(%e : tensor<5x3x7xf32>) {
  ^bb0(%l: f32, %h: f32, %cc: f32, %ss: f32, %o: f32):
    %a = arith.mulf %l, %cc : f32
    %b = arith.mulf %h, %ss : f32
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<5x3x7xf32>
  %k3 = tensor.insert_slice %k2 into %k1[0, 0, 7] [5, 3, 7] [1, 1, 1] : tensor<5x3x7xf32> into tensor<5x3x14xf32>
  %even = tensor.extract_slice %q[0, 0, 0] [5, 3, 7] [1, 1, 2] : tensor<5x3x14xf32> to tensor<5x3x7xf32>
  %negative = linalg.negf ins(%even : tensor<5x3x7xf32>) outs(%e : tensor<5x3x7xf32>) -> tensor<5x3x7xf32>
  return %q3, %k3, %negative : tensor<5x3x14xf32>, tensor<5x3x14xf32>, tensor<5x3x7xf32>
}
