// Sampled masks choose lines of micro-tiles, whether single elements pay, and from where on the product is dense. Files that
// do not fit are errors.
// RUN: rm -rf %t && split-file %s %t && %python %t/samples.py %t
// RUN: %tile_opt %t/program.mlir --pass-pipeline='builtin.module(func.func(sparse-choose-micro-tiles{chip=x86-64-v4 samples=%t/good.npz}))' | FileCheck %t/program.mlir
// RUN: %tile_opt %t/program.mlir --pass-pipeline='builtin.module(func.func(sparse-choose-micro-tiles{chip=sm_80 samples=%t/good.npz}))' | FileCheck %t/program.mlir --check-prefix=GPU
// RUN: %tile_opt %t/program.mlir --pass-pipeline='builtin.module(func.func(sparse-choose-micro-tiles{chip=x86-64-v4 remarks=true samples=%t/good.npz}))' 2>&1 >/dev/null | FileCheck %t/program.mlir --check-prefix=REMARK
// RUN: not %tile_opt %t/program.mlir --pass-pipeline='builtin.module(func.func(sparse-choose-micro-tiles{chip=x86-64-v4}))' 2>&1 | FileCheck %t/program.mlir --check-prefix=NONE
// RUN: not %tile_opt %t/program.mlir --pass-pipeline='builtin.module(func.func(sparse-choose-micro-tiles{chip=x86-64-v4 samples=%t/no.npz}))' 2>&1 | FileCheck %t/program.mlir --check-prefix=MISSING
// RUN: not %tile_opt %t/program.mlir --pass-pipeline='builtin.module(func.func(sparse-choose-micro-tiles{chip=x86-64-v4 samples=%t/few.npz}))' 2>&1 | FileCheck %t/program.mlir --check-prefix=FEW
// RUN: not %tile_opt %t/program.mlir -o %t/nothing.mlir --pass-pipeline='builtin.module(func.func(sparse-choose-micro-tiles{chip=x86-64-v4 samples=%t/shape.npz}))' 2>&1 | FileCheck %t/program.mlir --check-prefix=SHAPE
// RUN: test ! -e %t/nothing.mlir
// RUN: not %tile_opt %t/program.mlir --pass-pipeline='builtin.module(func.func(sparse-choose-micro-tiles{chip=sm_80 samples=%t/numbers.npz}))' 2>&1 | FileCheck %t/program.mlir --check-prefix=NUMBERS
// RUN: %tile_opt %t/none.mlir --pass-pipeline='builtin.module(func.func(sparse-choose-micro-tiles{chip=x86-64-v4}))' | FileCheck %t/none.mlir

//--- program.mlir
// Micro-tiles of 8 lines cost 190 % of a dense product's multiply-adds, others 140 %, single elements 300 %. The masks: a
// fifth in micro-tiles of 8 lines, in two samples; 3 % of single elements; a quarter of tiles of 32 lines.
// CHECK: sparse.spmm {{.*}}lines = 8, dense_above = 59>
// CHECK: sparse.spmm {{.*}}lines = 128, dense_above = 80, entry_cost = 300>
// CHECK: sparse.spmm {{.*}}lines = 32, dense_above = 80>
// GPU: lines = 32, dense_above = 80, entry_cost = 300>
// GPU: lines = 32, dense_above = 80>
// GPU: lines = 64, dense_above = 80>
// REMARK: program.mlir:[[#@LINE + 11]]:8: remark: micro-tiles of 8 lines cost 38.{{.}} % of the dense product on the samples
// NONE: error: {{.*}}needs samples=F.npz: a mask for each product
// MISSING: error: {{.*}}samples: {{.*}}no.npz
// FEW: error: {{.*}}samples: {{.*}}few.npz has 1 arrays; the function has 3 products with #sparse.micro_tiles
// SHAPE: program.mlir:[[#@LINE + 8]]:8: error: {{.*}}samples: {{.*}}shape.npz:b is 256x130xi1; the mask of this product is tensor<256x128xi1>, or several of these
// NUMBERS: error: {{.*}}samples: {{.*}}numbers.npz:a is 256x128xf32; the mask of this product is tensor<?x128xi1>, or several of these
!single = tensor<?x128xf32, #sparse.mask<tile = [1, 1]>>
!square = tensor<256x128xf32, #sparse.mask<tile = [1, 1]>>
!tiles = tensor<256x128xf32, #sparse.mask<tile = [32, 1]>>
func.func @main(%a: !single, %b: !square, %c: !tiles, %x: tensor<128x64xf32>, %y: tensor<?x64xf32>, %z: tensor<256x64xf32>)
    -> (tensor<?x64xf32>, tensor<256x64xf32>, tensor<256x64xf32>) {
  %r = sparse.spmm %a, %x, %y {sparse.micro_tiles = #sparse.micro_tiles<axis = 1, by = 1, lines = 32, dense_above = 80, entry_cost = 300>} : !single, tensor<128x64xf32>, tensor<?x64xf32>
  %s = sparse.spmm %b, %x, %z {sparse.micro_tiles = #sparse.micro_tiles<axis = 1, by = 1, lines = 32, dense_above = 80>} : !square, tensor<128x64xf32>, tensor<256x64xf32>
  %t = sparse.spmm %c, %x, %z {sparse.micro_tiles = #sparse.micro_tiles<axis = 1, by = 1, lines = 64, dense_above = 80>} : !tiles, tensor<128x64xf32>, tensor<256x64xf32>
  return %r, %s, %t : tensor<?x64xf32>, tensor<256x64xf32>, tensor<256x64xf32>
}

//--- none.mlir
// A function without masked products needs no samples.
// CHECK: return %arg0
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

//--- samples.py
import sys
import numpy as np

folder, rng = sys.argv[1], np.random.default_rng(5)
eights = np.repeat(rng.permuted(np.arange(2 * 32 * 128) % 5 == 0).reshape(2, 32, 128), 8, 1)
single, tiles = rng.random((256, 128)) < 0.03, rng.random((8, 128)) < 0.25
np.savez(f"{folder}/good.npz", a=eights, b=single, c=tiles)
np.savez(f"{folder}/few.npz", a=eights)
np.savez(f"{folder}/shape.npz", a=eights, b=np.zeros((256, 130), bool), c=tiles)
np.savez(f"{folder}/numbers.npz", a=single.astype("f4"), b=single, c=tiles)
