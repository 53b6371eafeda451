// Kernels that load elements of 3, 5, 6 and 7 bits from bytes: along rows, across them, at single places, in tiles that do
// not begin with a byte, in groups, by a cast that a product does not read.
// RUN: %tile_run %s --check-against=interpret --stats=%t.json
// RUN: FileCheck %s --input-file=%t.json
// RUN: sed -e 's/block = .2, 10./block = [4, 1]/' %s > %t.mlir
// RUN: %tile_run %t.mlir --check-against=interpret --seed=1
// RUN: sed -e 's/block = .2, 10./block = [2, 16]/' %s > %t.mlir
// RUN: %tile_run %t.mlir --target=emulate:sm_80 --check-against=interpret --seed=2
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-pack-narrow-elements,func.func(tile-generalize-named-ops),convert-linalg-to-tile{chip=x86-64-v4},canonicalize)' | FileCheck %s --check-prefix=KERNELS
// CHECK: "fallback_ops": 0

// KERNELS-LABEL: func.func @main
// KERNELS: tile.launch @elementwise_{{[0-9]+}} {{.*}}(%arg0 : tensor<7x24xi8>) outs({{.*}} : tensor<7x32xi8>)
// KERNELS: tile.launch @reduction_{{[0-9]+}} {{.*}}(%arg0 : tensor<7x24xi8>)
// KERNELS: tile.kernel private @elementwise_
// KERNELS: tile.bitcast {{.*}} -> tensor<{{.*}}xi6>
// KERNELS: tile.gather
#rows = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j, i)>
func.func @main(%a: tensor<7x32xi6>, %b: tensor<33x24xf6E2M3FN>, %c: tensor<5x40xi3>, %d: tensor<40x9xi7>, %f: tensor<7x13xi5>)
    -> (tensor<7x32xi8>, tensor<32x7xi8>, tensor<7xi32>, tensor<32xi32>, tensor<24x33xf32>, tensor<5x9xi32>, tensor<7x13xi8>, i8, tensor<7x32xi8>) {
  %e = tensor.empty() : tensor<7x32xi8>
  %wide = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<7x32xi6>) outs(%e : tensor<7x32xi8>) {
  ^bb0(%x: i6, %o: i8):
    %y = arith.extsi %x : i6 to i8
    linalg.yield %y : i8
  } -> tensor<7x32xi8>
  %te = tensor.empty() : tensor<32x7xi8>
  %turned = linalg.generic {indexing_maps = [#columns, #rows], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<7x32xi6>) outs(%te : tensor<32x7xi8>) {
  ^bb0(%x: i6, %o: i8):
    %y = arith.extui %x : i6 to i8
    linalg.yield %y : i8
  } -> tensor<32x7xi8>
  %zero = arith.constant dense<0> : tensor<7xi32>
  %sums = linalg.generic {indexing_maps = [#rows, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<7x32xi6>) outs(%zero : tensor<7xi32>) {
  ^bb0(%x: i6, %o: i32):
    %y = arith.extsi %x : i6 to i32
    %s = arith.addi %o, %y : i32
    linalg.yield %s : i32
  } -> tensor<7xi32>
  %zeros = arith.constant dense<0> : tensor<32xi32>
  %down = linalg.generic {indexing_maps = [#columns, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<7x32xi6>) outs(%zeros : tensor<32xi32>) {
  ^bb0(%x: i6, %o: i32):
    %y = arith.extsi %x : i6 to i32
    %s = arith.addi %o, %y : i32
    linalg.yield %s : i32
  } -> tensor<32xi32>
  %fe = tensor.empty() : tensor<24x33xf32>
  %floats = linalg.generic {indexing_maps = [#columns, #rows], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<33x24xf6E2M3FN>) outs(%fe : tensor<24x33xf32>) {
  ^bb0(%x: f6E2M3FN, %o: f32):
    %y = arith.extf %x : f6E2M3FN to f32
    linalg.yield %y : f32
  } -> tensor<24x33xf32>
  %pz = arith.constant dense<0> : tensor<5x9xi32>
  %product = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%c, %d : tensor<5x40xi3>, tensor<40x9xi7>) outs(%pz : tensor<5x9xi32>) {
  ^bb0(%x: i3, %z: i7, %o: i32):
    %p = arith.extsi %x : i3 to i32
    %q = arith.extsi %z : i7 to i32
    %m = arith.muli %p, %q : i32
    %s = arith.addi %o, %m : i32
    linalg.yield %s : i32
  } -> tensor<5x9xi32>
  %ge = tensor.empty() : tensor<7x13xi8>
  %ragged = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%f : tensor<7x13xi5>) outs(%ge : tensor<7x13xi8>) {
  ^bb0(%x: i5, %o: i8):
    %y = arith.extui %x : i5 to i8
    linalg.yield %y : i8
  } -> tensor<7x13xi8>
  %c3 = arith.constant 3 : index
  %code = tensor.extract %a[%c3, %c3] : tensor<7x32xi6>
  %one = arith.extsi %code : i6 to i8
  %he = tensor.empty() : tensor<7x32xi8>
  %tiled = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<7x32xi6>) outs(%he : tensor<7x32xi8>)
      attrs = {tile.schedule = #tile.schedule<block = [2, 10]>} {
  ^bb0(%x: i6, %o: i8):
    %y = arith.extsi %x : i6 to i8
    %n = arith.addi %y, %y : i8
    linalg.yield %n : i8
  } -> tensor<7x32xi8>
  return %wide, %turned, %sums, %down, %floats, %product, %ragged, %one, %tiled
      : tensor<7x32xi8>, tensor<32x7xi8>, tensor<7xi32>, tensor<32xi32>, tensor<24x33xf32>, tensor<5x9xi32>, tensor<7x13xi8>, i8, tensor<7x32xi8>
}
