// A tile.group becomes one kernel; a group that cannot says why, and its ops become kernels one by one. Without a group
// nothing is fused.
// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops),convert-linalg-to-tile{chip=x86-64-v4})' | FileCheck %s
// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops),convert-linalg-to-tile{chip=sm_80})' | FileCheck %s

// CHECK-LABEL: func.func @apart
// CHECK-COUNT-2: tile.launch
// CHECK-NOT: tile.launch
func.func @apart(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.exp ins(%p : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// Attention without a group: a kernel for each product and one for softmax.
// CHECK-LABEL: func.func @attention_apart
// CHECK: tile.launch @matmul_
// CHECK: tile.launch @softmax_
// CHECK: tile.launch @matmul_
// CHECK-NOT: tile.launch
func.func @attention_apart(%q: tensor<64x16xf32>, %k: tensor<16x64xf32>, %v: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<64x64xf32>
  %eo = tensor.empty() : tensor<64x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<64x64xf32>) -> tensor<64x64xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<64x16xf32>) -> tensor<64x16xf32>
  %s = linalg.matmul ins(%q, %k : tensor<64x16xf32>, tensor<16x64xf32>) outs(%zs : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<64x64xf32>) outs(%es : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = linalg.matmul ins(%p, %v : tensor<64x64xf32>, tensor<64x16xf32>) outs(%zo : tensor<64x16xf32>) -> tensor<64x16xf32>
  return %y : tensor<64x16xf32>
}

// -----

// CHECK-LABEL: func.func @together
// CHECK-COUNT-1: tile.launch @matmul_0
// CHECK-NOT: tile.launch
// CHECK-NOT: tile.group
func.func @together(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %g = tile.group ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) meets [register, register] -> tensor<64x64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %p = linalg.matmul ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
    %r = linalg.exp ins(%p : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    tile.yield %r : tensor<64x64xf32>
  }
  return %g : tensor<64x64xf32>
}

// -----

// CHECK-LABEL: func.func @through_memory
// CHECK-COUNT-2: tile.launch
// CHECK-NOT: tile.group
func.func @through_memory(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-remark @+1 {{becomes one kernel for each op: some of its tiles meet in global memory}}
  %g = tile.group ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) meets [register, global] -> tensor<64x64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %p = linalg.matmul ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
    %r = linalg.exp ins(%p : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    tile.yield %r : tensor<64x64xf32>
  }
  return %g : tensor<64x64xf32>
}

// -----

// Two products whose tiles meet in registers, without a schedule of the kind `group`.
// CHECK-LABEL: func.func @no_kernel
// CHECK-COUNT-2: tile.launch
// CHECK-NOT: tile.group
func.func @no_kernel(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-remark @+1 {{becomes 2 kernels: no kernel computes all ops of its body}}
  %g = tile.group ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %p = linalg.matmul ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
    %q = linalg.matmul ins(%p, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
    tile.yield %q : tensor<64x64xf32>
  }
  return %g : tensor<64x64xf32>
}
