// topk of keys and of what goes with them: both lie alike, also where loads and made numbers would choose apart.
// RUN: %tile_run %s --target=cpu --target=emulate:sm_80 --target=emulate:gfx942 --target=emulate:gfx1100 --check-against=interpret | FileCheck %s
// CHECK: right
// CHECK-NOT: {{[1-9][0-9]* of}}
tile.kernel @rows(%a: memref<20x2xf16>, %b: memref<20x1xf16>, %c: memref<20x1xi32>) {
  %c0 = arith.constant 0 : index
  %va = tile.view %a : memref<20x2xf16> to !tile.view<20x2xf16>
  %x = tile.load %va[%c0, %c0] : !tile.view<20x2xf16> -> tensor<20x2xf16>
  %p = tile.iota dim 1 : tensor<20x2xi32>
  %k, %v = tile.topk %x, %p axis 1 : tensor<20x2xf16>, tensor<20x2xi32> -> tensor<20x1xf16>, tensor<20x1xi32>
  %vb = tile.view %b : memref<20x1xf16> to !tile.view<20x1xf16>
  tile.store %k, %vb[%c0, %c0] : tensor<20x1xf16>, !tile.view<20x1xf16>
  %vc = tile.view %c : memref<20x1xi32> to !tile.view<20x1xi32>
  tile.store %v, %vc[%c0, %c0] : tensor<20x1xi32>, !tile.view<20x1xi32>
  tile.return
}
tile.kernel @columns(%a: memref<12x2xi64>, %b: memref<1x2xi64>, %c: memref<1x2xi32>) {
  %c0 = arith.constant 0 : index
  %va = tile.view %a : memref<12x2xi64> to !tile.view<12x2xi64>
  %x = tile.load %va[%c0, %c0] : !tile.view<12x2xi64> -> tensor<12x2xi64>
  %p = tile.iota dim 0 : tensor<12x2xi32>
  %k, %v = tile.topk %x, %p axis 0 : tensor<12x2xi64>, tensor<12x2xi32> -> tensor<1x2xi64>, tensor<1x2xi32>
  %vb = tile.view %b : memref<1x2xi64> to !tile.view<1x2xi64>
  tile.store %k, %vb[%c0, %c0] : tensor<1x2xi64>, !tile.view<1x2xi64>
  %vc = tile.view %c : memref<1x2xi32> to !tile.view<1x2xi32>
  tile.store %v, %vc[%c0, %c0] : tensor<1x2xi32>, !tile.view<1x2xi32>
  tile.return
}
func.func @main(%a: memref<20x2xf16>, %b: memref<20x1xf16>, %c: memref<20x1xi32>, %d: memref<12x2xi64>, %e: memref<1x2xi64>, %f: memref<1x2xi32>) {
  %g = arith.constant 1 : index
  tile.launch @rows grid(%g) outs(%a, %b, %c : memref<20x2xf16>, memref<20x1xf16>, memref<20x1xi32>)
  tile.launch @columns grid(%g) outs(%d, %e, %f : memref<12x2xi64>, memref<1x2xi64>, memref<1x2xi32>)
  return
}
