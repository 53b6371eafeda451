// Two entries at one place, which test/run/sparse/sparse.py never draws: added where they are converted or unpacked, each a
// term of products with dense factors and reductions; or an error. Zeros that are stored stay stored, but not in windows.
// RUN: %tile_run %s --check-against=interpret | FileCheck %s
// RUN: %tile_run %s --check-against=interpret --target=emulate:gfx942 | FileCheck %s
// RUN: not %tile_run %s --entry=error 2>&1 | FileCheck %s --check-prefix=ERROR
// CHECK-COUNT-11: right
// ERROR: two entries stand at one place
#coo = #sparse.coo<unordered>
func.func @entries() -> tensor<3x4xf32, #coo> {
  %c = arith.constant dense<[[1, 0, 1, 2, 1], [2, 3, 2, 0, 0]]> : tensor<2x5xi32>
  %v = arith.constant dense<[1.0, 2.0, 4.0, 0.0, -3.0]> : tensor<5xf32>
  %a = sparse.assemble(%c, %v) : tensor<2x5xi32>, tensor<5xf32> -> tensor<3x4xf32, #coo>
  return %a : tensor<3x4xf32, #coo>
}
func.func @main() -> (tensor<3x3xf32>, tensor<2x?xi64>, tensor<3x4xf32>, tensor<4xi32>, tensor<?xf32>, tensor<?xi32>, tensor<3x1x2x1xf32>, tensor<3xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<4x3xf32>) {
  %a = call @entries() : () -> tensor<3x4xf32, #coo>
  %dense = sparse.unpack %a : tensor<3x4xf32, #coo> -> tensor<3x4xf32>
  %csr = sparse.convert %a duplicates(sum) : tensor<3x4xf32, #coo> -> tensor<3x4xf32, #sparse.csr>
  %p, %crd, %val = sparse.disassemble %csr : tensor<3x4xf32, #sparse.csr> -> tensor<4xi32>, tensor<?xi32>, tensor<?xf32>
  %nm = sparse.convert %a : tensor<3x4xf32, #coo> -> tensor<3x4xf32, #sparse.nm<n = 2, m = 4>>
  %places, %windows = sparse.disassemble %nm : tensor<3x4xf32, #sparse.nm<n = 2, m = 4>> -> tensor<3x1x2xi8>, tensor<3x1x2x1xf32>
  %least = arith.constant dense<[-5.0, -5.0, -5.0]> : tensor<3xf32>
  %most = sparse.reduce max %a along 1, %least : tensor<3x4xf32, #coo>, tensor<3xf32>
  %x = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>
  %c0 = arith.constant dense<1.0> : tensor<3x2xf32>
  %mean = sparse.spmm %a, %x, %c0 over mean_mul : tensor<3x4xf32, #coo>, tensor<4x2xf32>, tensor<3x2xf32>
  %plus = sparse.spmm %a, %x, %c0 over max_plus : tensor<3x4xf32, #coo>, tensor<4x2xf32>, tensor<3x2xf32>
  %t = sparse.transpose %a : tensor<3x4xf32, #coo> -> tensor<4x3xf32, #sparse.bsr<block = [2, 2]>>
  %turned = sparse.unpack %t : tensor<4x3xf32, #sparse.bsr<block = [2, 2]>> -> tensor<4x3xf32>
  %all = arith.constant dense<1.0> : tensor<4x3xf32>
  %b = sparse.pack %all : tensor<4x3xf32> -> tensor<4x3xf32, #sparse.csr>
  %z = arith.constant dense<1.0> : tensor<3x3xf32>
  %pattern = sparse.pack %z : tensor<3x3xf32> -> tensor<3x3xf32, #sparse.csr>
  %g = sparse.spgemm %a, %b, %pattern over max_plus : tensor<3x4xf32, #coo>, tensor<4x3xf32, #sparse.csr>, tensor<3x3xf32, #sparse.csr>
  %both = sparse.unpack %g : tensor<3x3xf32, #sparse.csr> -> tensor<3x3xf32>
  %long = sparse.convert %a : tensor<3x4xf32, #coo> -> tensor<3x4xf32, #sparse.coo<coordinates = i64, unordered>>
  %longs, %once = sparse.disassemble %long : tensor<3x4xf32, #sparse.coo<coordinates = i64, unordered>> -> tensor<2x?xi64>, tensor<?xf32>
  return %both, %longs, %dense, %p, %val, %crd, %windows, %most, %mean, %plus, %turned : tensor<3x3xf32>, tensor<2x?xi64>, tensor<3x4xf32>, tensor<4xi32>, tensor<?xf32>, tensor<?xi32>, tensor<3x1x2x1xf32>, tensor<3xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<4x3xf32>
}
func.func @error() -> tensor<?xf32> {
  %a = call @entries() : () -> tensor<3x4xf32, #coo>
  %csr = sparse.convert %a duplicates(error) : tensor<3x4xf32, #coo> -> tensor<3x4xf32, #sparse.csr>
  %p, %crd, %val = sparse.disassemble %csr : tensor<3x4xf32, #sparse.csr> -> tensor<4xi32>, tensor<?xi32>, tensor<?xf32>
  return %val : tensor<?xf32>
}
