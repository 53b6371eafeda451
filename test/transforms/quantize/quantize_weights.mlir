// RUN: rm -rf %t && split-file %s %t
// RUN: %tile_opt %t/layer.mlir --pass-pipeline='builtin.module(func.func(tile-quantize-weights{bits=4 group=4}))' | FileCheck %t/layer.mlir
// RUN: %tile_opt %t/layer.mlir --pass-pipeline='builtin.module(func.func(tile-quantize-weights{bits=4 group=4 only=main#1}))' | FileCheck %t/layer.mlir --check-prefix=ONLY
// RUN: %tile_opt %t/layer.mlir --pass-pipeline='builtin.module(func.func(tile-collect-hessians))' | FileCheck %t/layer.mlir --check-prefix=HESSIAN
// RUN: not %tile_opt %t/layer.mlir --pass-pipeline='builtin.module(func.func(tile-quantize-weights{bits=3}))' 2>&1 | FileCheck %t/layer.mlir --check-prefix=BITS
// RUN: not %tile_opt %t/layer.mlir --pass-pipeline='builtin.module(func.func(tile-quantize-weights{group=3}))' 2>&1 | FileCheck %t/layer.mlir --check-prefix=GROUP
// RUN: not %tile_opt %t/layer.mlir --pass-pipeline='builtin.module(func.func(tile-quantize-weights{method=other}))' 2>&1 | FileCheck %t/layer.mlir --check-prefix=METHOD
// RUN: not %tile_opt %t/layer.mlir --pass-pipeline='builtin.module(func.func(tile-quantize-weights{order=columns}))' 2>&1 | FileCheck %t/layer.mlir --check-prefix=ORDER
// RUN: not %tile_opt %t/layer.mlir --pass-pipeline='builtin.module(func.func(tile-quantize-weights{only=(}))' 2>&1 | FileCheck %t/layer.mlir --check-prefix=REGEX
// RUN: not %tile_opt %t/layer.mlir --pass-pipeline='builtin.module(func.func(tile-quantize-weights{method=gptq}))' 2>&1 | FileCheck %t/layer.mlir --check-prefix=NONE
// RUN: %python -c "import numpy as np; e = np.eye(8, dtype='f4'); np.savez(r'%t/few.npz', e); np.savez(r'%t/size.npz', e, np.eye(7, dtype='f4')); np.savez(r'%t/bad.npz', e - 2, e); np.savez(r'%t/nan.npz', e * np.nan, e)"
// RUN: not %tile_opt %t/layer.mlir --pass-pipeline='builtin.module(func.func(tile-quantize-weights{method=gptq group=4 hessians=%t/few.npz}))' 2>&1 | FileCheck %t/layer.mlir --check-prefix=FEW
// RUN: not %tile_opt %t/layer.mlir --pass-pipeline='builtin.module(func.func(tile-quantize-weights{method=gptq group=4 hessians=%t/size.npz}))' 2>&1 | FileCheck %t/layer.mlir --check-prefix=SIZE
// RUN: not %tile_opt %t/layer.mlir --pass-pipeline='builtin.module(func.func(tile-quantize-weights{method=gptq group=4 hessians=%t/bad.npz}))' 2>&1 | FileCheck %t/layer.mlir --check-prefix=BAD
// RUN: not %tile_opt %t/layer.mlir --pass-pipeline='builtin.module(func.func(tile-quantize-weights{method=gptq group=4 hessians=%t/nan.npz}))' 2>&1 | FileCheck %t/layer.mlir --check-prefix=NAN
// RUN: not %tile_opt %t/loop.mlir --pass-pipeline='builtin.module(func.func(tile-collect-hessians))' 2>&1 | FileCheck %t/loop.mlir

//--- layer.mlir
// The first product by a constant becomes codes: two in a byte, the first one in the lower bits. 7 is the largest
// weight: 15 steps of 14 / 15 around the middle.
// CHECK-DAG: dense_resource<quantized> : tensor<2x4xi8>
// CHECK-DAG: tensor<2x2xf32>
// CHECK: arith.shrui
// CHECK: arith.andi
// CHECK: %[[W:.*]] = tensor.collapse_shape {{.*}} : tensor<2x2x4xf32> into tensor<2x8xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[W]] : tensor<3x8xf32>, tensor<2x8xf32>)
// ONLY: linalg.matmul
// ONLY: arith.shrui
// HESSIAN: -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
// HESSIAN: linalg.generic {{.*}} outs(%{{.*}} : tensor<8x8xf32>)
// BITS: error: 'func.func' op bits: 3; accepts 2, 4 and 8
// GROUP: layer.mlir:[[# @LINE + 15]]:{{.*}}error: {{.*}}group: 3 is no divisor of k, which is 8, or no whole bytes of codes
// METHOD: error: {{.*}}method is 'other'; accepts round, gptq and awq
// ORDER: error: {{.*}}order is 'columns'; accepts rows and activation
// REGEX: error: {{.*}}only: '(' is no regular expression
// NONE: error: {{.*}}method=gptq and method=awq need hessians=F.npz, which tile-collect-hessians gives
// FEW: error: {{.*}}few.npz has 1 arrays; the function has 2 products by constant weights
// SIZE: error: {{.*}}size.npz{{.*}} is 7x7xf32; its product needs 8x8xf32
// BAD: error: {{.*}}cannot be quantized: the Hessian is not positive definite after damping
// NAN: error: {{.*}}cannot be quantized: a weight or an element of the Hessian is nan or infinite
func.func @main(%x: tensor<3x8xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %w = arith.constant dense<[[7.0, 1.0], [2.0, -1.0], [3.0, 1.0], [4.0, 0.0], [1.0, 0.0], [2.0, 2.0], [0.0, 1.0], [1.0, 3.0]]> : tensor<8x2xf32>
  %v = arith.constant dense<[[1.0, 1.0], [2.0, -1.0], [3.0, 1.0], [4.0, 0.0], [1.0, 0.0], [2.0, 2.0], [0.0, 1.0], [1.0, 3.0]]> : tensor<8x2xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
  %c = linalg.matmul ins(%x, %w : tensor<3x8xf32>, tensor<8x2xf32>) outs(%f : tensor<3x2xf32>) -> tensor<3x2xf32>
  %d = linalg.matmul ins(%x, %v : tensor<3x8xf32>, tensor<8x2xf32>) outs(%f : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %c, %d : tensor<3x2xf32>, tensor<3x2xf32>
}

//--- loop.mlir
// CHECK: error: {{.*}}is inside of a loop or branch; Hessians of products there are not collected
func.func @main(%x: tensor<2x2xf32>, %n: index) -> tensor<2x2xf32> {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<2x2xf32> {
    %c = linalg.matmul ins(%t, %w : tensor<2x2xf32>, tensor<2x2xf32>) outs(%t : tensor<2x2xf32>) -> tensor<2x2xf32>
    scf.yield %c : tensor<2x2xf32>
  }
  return %r : tensor<2x2xf32>
}
