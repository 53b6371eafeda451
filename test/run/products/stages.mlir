// The ring of a product by TMA and wgmma has as many stages as fit, or the schedule's `stages`: each gives what the
// interpreter does. A count that does not fit, or that would wait for ever, is an error at the product.
// RUN: %tile_run %s --target=emulate:sm_90a --check-against=interpret --stats=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=MOST < %t.json
// RUN: sed 's/warps = /stages = 2, warps = /' %s > %t.2.mlir
// RUN: %tile_run %t.2.mlir --target=emulate:sm_90a --check-against=interpret --stats=%t.2.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=TWO < %t.2.json
// RUN: sed 's/warps = /stages = 9, warps = /' %s > %t.9.mlir
// RUN: %tile_run %t.9.mlir --target=emulate:sm_90a --check-against=interpret --stats=%t.9.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=NINE < %t.9.json
// RUN: sed 's/warps = /stages = 1, warps = /' %s > %t.1.mlir
// RUN: not %tile_run %t.1.mlir --target=emulate:sm_90a 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: sed 's/warps = /stages = 10, warps = /' %s > %t.10.mlir
// RUN: not %tile_run %t.10.mlir --target=emulate:sm_90a 2>&1 | FileCheck %s --check-prefix=TEN
// MOST: "stages": 7
// CHECK: result 0: right
// TWO: "stages": 2
// NINE: "stages": 9
// ONE: stages.mlir.tmp.1.mlir:[[@LINE+8]]:8: error: {{.*}}schedule: `stages` is 1; the ring of this product has 2 to 9 stages of 24576 bytes in the shared memory of sm_90a
// TEN: stages.mlir.tmp.10.mlir:[[@LINE+7]]:8: error: {{.*}}schedule: `stages` is 10; at most 9 fit the shared memory of sm_90a
#s = #tile.schedule<block = [128, 64, 64], warps = [4, 2, 1]>
func.func @main(%a: tensor<136x712xf16>, %b: tensor<712x72xf16>) -> tensor<136x72xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<136x72xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<136x72xf32>) -> tensor<136x72xf32>
  // The line of the product.
  %0 = linalg.matmul {tile.schedule = #s} ins(%a, %b : tensor<136x712xf16>, tensor<712x72xf16>) outs(%f : tensor<136x72xf32>) -> tensor<136x72xf32>
  return %0 : tensor<136x72xf32>
}
