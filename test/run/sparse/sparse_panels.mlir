// RUN: %tile_opt %s --convert-sparse-to-tile | FileCheck %s
// RUN: %python %source/test/run/check.py %tile_run %s --target=cpu
// RUN: %python %source/test/run/check.py %tile_run %s --target=interpret
// A dense factor that the second cache does not hold, each of whose rows is taken 40 times, in panels of 32 columns; one
// whose rows are taken twice, and a constant read an unknown number of times, which stays as it stands.
// CHECK-COUNT-1: tile.launch @pack_panels grid(%c3{{.*}}, %c1{{.*}}) ins(%{{.*}} : tensor<5x70xf32>) outs(%{{.*}} : tensor<3x5x32xf32>)
// CHECK: tile.launch @spmm_csr
// CHECK-NOT: tile.launch @pack_panels
// CHECK: return
// in: np.arange(0, 201, 5).astype(i32), np.tile(np.arange(5), 40).astype(i32), integers(-9, 9, 200).astype(f32), integers(-9, 9, 5, 70).astype(f32)
// expect: (x2.reshape(40, 5) @ x3)
// expect: (x2[:10].reshape(2, 5) @ x3)
// expect: (x2.reshape(40, 5) @ x3)
module attributes {tile.machine = #tile.machine<"x86-64-v4", l2.bytes = 1024>} {
  func.func @main(%p: tensor<41xi32>, %i: tensor<200xi32>, %v: tensor<200xf32>, %b: tensor<5x70xf32>) -> (tensor<40x70xf32>, tensor<2x70xf32>, tensor<40x70xf32>) {
    %z = arith.constant dense<0.0> : tensor<40x70xf32>
    %y = arith.constant dense<0.0> : tensor<2x70xf32>
    %a = sparse.assemble(%p, %i, %v) : tensor<41xi32>, tensor<200xi32>, tensor<200xf32> -> tensor<40x5xf32, #sparse.csr>
    %r = sparse.spmm %a, %b, %z : tensor<40x5xf32, #sparse.csr>, tensor<5x70xf32>, tensor<40x70xf32>
    %q = tensor.extract_slice %p[0] [3] [1] : tensor<41xi32> to tensor<3xi32>
    %j = tensor.extract_slice %i[0] [10] [1] : tensor<200xi32> to tensor<10xi32>
    %w = tensor.extract_slice %v[0] [10] [1] : tensor<200xf32> to tensor<10xf32>
    %c = sparse.assemble(%q, %j, %w) : tensor<3xi32>, tensor<10xi32>, tensor<10xf32> -> tensor<2x5xf32, #sparse.csr>
    %s = sparse.spmm %c, %b, %y : tensor<2x5xf32, #sparse.csr>, tensor<5x70xf32>, tensor<2x70xf32>
    %t = sparse.convert %a : tensor<40x5xf32, #sparse.csr> -> tensor<40x5xf32, #sparse.coo>
    %u = sparse.convert %t : tensor<40x5xf32, #sparse.coo> -> tensor<40x5xf32, #sparse.csr>
    %o = sparse.spmm %u, %b, %z : tensor<40x5xf32, #sparse.csr>, tensor<5x70xf32>, tensor<40x70xf32>
    return %r, %s, %o : tensor<40x70xf32>, tensor<2x70xf32>, tensor<40x70xf32>
  }
}
