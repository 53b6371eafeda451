// Loops that carry tensors become one launch, whose lanes go through the rounds: the state of a recurrent layer and a
// second one that begins as the first, an even and an odd number of rounds.
// RUN: %tile_run %s --target=emulate:sm_80 --seed=1 --out=%t.a.npy --out=%t.b.npy
// RUN: %tile_run %s --target=emulate:sm_80 --seed=1 --persistent=always --out=%t.c.npy --out=%t.d.npy --stats=%t.json
// RUN: cmp %t.a.npy %t.c.npy
// RUN: cmp %t.b.npy %t.d.npy
// RUN: FileCheck %s < %t.json
// RUN: %tile_run %s --target=emulate:sm_80 --seed=1 --persistent=always --check-against=interpret
// RUN: %tile_run %s --entry=odd --target=emulate:sm_80 --seed=1 --persistent=always --check-against=interpret
// RUN: %tile_run %s --target=emulate:gfx942 --seed=1 --out=%t.a.npy --out=%t.b.npy
// RUN: %tile_run %s --target=emulate:gfx942 --seed=1 --persistent=always --out=%t.c.npy --out=%t.d.npy
// RUN: cmp %t.a.npy %t.c.npy
// RUN: cmp %t.b.npy %t.d.npy
// CHECK: "launches": 2,
// CHECK-NEXT: "host_waits": 2,
#id = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<12x1x24xf32>, %u: tensor<24x24xf32>) -> (tensor<1x24xf32>, tensor<1x24xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 12 : index
  %e = tensor.empty() : tensor<1x24xf32>
  %none = linalg.fill ins(%zero : f32) outs(%e : tensor<1x24xf32>) -> tensor<1x24xf32>
  %r:2 = scf.for %t = %c0 to %end step %c1 iter_args(%h = %none, %c = %none) -> (tensor<1x24xf32>, tensor<1x24xf32>) {
    %xt = tensor.extract_slice %x[%t, 0, 0] [1, 1, 24] [1, 1, 1] : tensor<12x1x24xf32> to tensor<1x24xf32>
    %p = linalg.matmul ins(%h, %u : tensor<1x24xf32>, tensor<24x24xf32>) outs(%none : tensor<1x24xf32>) -> tensor<1x24xf32>
    %q:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%p, %xt, %c : tensor<1x24xf32>, tensor<1x24xf32>, tensor<1x24xf32>)
        outs(%e, %e : tensor<1x24xf32>, tensor<1x24xf32>) {
    ^bb0(%a: f32, %b: f32, %s: f32, %o0: f32, %o1: f32):
      %d = arith.addf %a, %b : f32
      %v = math.tanh %d : f32
      %w = arith.addf %v, %s : f32
      linalg.yield %v, %w : f32, f32
    } -> (tensor<1x24xf32>, tensor<1x24xf32>)
    scf.yield %q#0, %q#1 : tensor<1x24xf32>, tensor<1x24xf32>
  }
  return %r#0, %r#1 : tensor<1x24xf32>, tensor<1x24xf32>
}
func.func @odd(%x: tensor<5x1x24xf32>, %u: tensor<24x24xf32>) -> (tensor<1x24xf32>, tensor<1x24xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant 5 : index
  %e = tensor.empty() : tensor<1x24xf32>
  %none = linalg.fill ins(%zero : f32) outs(%e : tensor<1x24xf32>) -> tensor<1x24xf32>
  %r:2 = scf.for %t = %c0 to %end step %c1 iter_args(%h = %none, %c = %none) -> (tensor<1x24xf32>, tensor<1x24xf32>) {
    %xt = tensor.extract_slice %x[%t, 0, 0] [1, 1, 24] [1, 1, 1] : tensor<5x1x24xf32> to tensor<1x24xf32>
    %p = linalg.matmul ins(%h, %u : tensor<1x24xf32>, tensor<24x24xf32>) outs(%none : tensor<1x24xf32>) -> tensor<1x24xf32>
    %q:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%p, %xt, %c : tensor<1x24xf32>, tensor<1x24xf32>, tensor<1x24xf32>)
        outs(%e, %e : tensor<1x24xf32>, tensor<1x24xf32>) {
    ^bb0(%a: f32, %b: f32, %s: f32, %o0: f32, %o1: f32):
      %d = arith.addf %a, %b : f32
      %v = math.tanh %d : f32
      %w = arith.addf %v, %s : f32
      linalg.yield %v, %w : f32, f32
    } -> (tensor<1x24xf32>, tensor<1x24xf32>)
    scf.yield %q#0, %q#1 : tensor<1x24xf32>, tensor<1x24xf32>
  }
  return %r#0, %r#1 : tensor<1x24xf32>, tensor<1x24xf32>
}
