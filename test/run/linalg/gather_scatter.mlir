// tensor.gather and tensor.scatter: coordinates in any dimensions, ranks kept and reduced, sizes known late.
// RUN: %tile_run %s --target=cpu --target=emulate:sm_80 --target=emulate:gfx942 --check-against=interpret | FileCheck %s
// CHECK: right
// CHECK-NOT: {{[1-9][0-9]* of}}
func.func private @late(%x: tensor<?x6xf32>, %i: tensor<?x1xindex>) -> tensor<?x6xf32> {
  %g = tensor.gather %x[%i] gather_dims([0]) : (tensor<?x6xf32>, tensor<?x1xindex>) -> tensor<?x6xf32>
  return %g : tensor<?x6xf32>
}
func.func private @lateScatter(%u: tensor<?x1x6xf32>, %x: tensor<?x6xf32>, %i: tensor<?x1xindex>) -> tensor<?x6xf32> {
  %s = tensor.scatter %u into %x[%i] scatter_dims([0]) unique : (tensor<?x1x6xf32>, tensor<?x6xf32>, tensor<?x1xindex>) -> tensor<?x6xf32>
  return %s : tensor<?x6xf32>
}
func.func @main(%x: tensor<7x5x6xf32>, %m: tensor<5x6xf32>, %u: tensor<3x7x6xf32>, %v: tensor<2x2x1x5x1xf32>, %w: tensor<3x1x6xf32>)
    -> (tensor<3x4x7x6xf32>, tensor<3x4x7x1x6xf32>, tensor<3x5xf32>, tensor<3x6xf32>, tensor<7x5x6xf32>, tensor<7x5x6xf32>, tensor<?x6xf32>, tensor<7x5x6xf32>) {
  %i = arith.constant dense<[[[0], [4], [2], [2]], [[1], [0], [3], [4]], [[4], [4], [1], [0]]]> : tensor<3x4x1xindex>
  %j = arith.constant dense<[[6, 0], [2, 5], [3, 3]]> : tensor<3x2xi32>
  %k = arith.constant dense<[[4], [0], [2]]> : tensor<3x1xindex>
  %p = arith.constant dense<[[[6, 0], [2, 5]], [[3, 3], [0, 1]]]> : tensor<2x2x2xi64>
  %none = arith.constant dense<[2, 4]> : tensor<2xi64>
  %g = tensor.gather %x[%i] gather_dims([1]) : (tensor<7x5x6xf32>, tensor<3x4x1xindex>) -> tensor<3x4x7x6xf32>
  %h = tensor.gather %x[%i] gather_dims([1]) : (tensor<7x5x6xf32>, tensor<3x4x1xindex>) -> tensor<3x4x7x1x6xf32>
  %l = tensor.gather %x[%j] gather_dims([0, 2]) unique : (tensor<7x5x6xf32>, tensor<3x2xi32>) -> tensor<3x5xf32>
  %md = tensor.cast %m : tensor<5x6xf32> to tensor<?x6xf32>
  %kd = tensor.cast %k : tensor<3x1xindex> to tensor<?x1xindex>
  %n = call @late(%md, %kd) : (tensor<?x6xf32>, tensor<?x1xindex>) -> tensor<?x6xf32>
  %o = tensor.cast %n : tensor<?x6xf32> to tensor<3x6xf32>
  %s = tensor.scatter %u into %x[%k] scatter_dims([1]) unique : (tensor<3x7x6xf32>, tensor<7x5x6xf32>, tensor<3x1xindex>) -> tensor<7x5x6xf32>
  %t = tensor.scatter %v into %x[%p] scatter_dims([0, 2]) unique : (tensor<2x2x1x5x1xf32>, tensor<7x5x6xf32>, tensor<2x2x2xi64>) -> tensor<7x5x6xf32>
  %wd = tensor.cast %w : tensor<3x1x6xf32> to tensor<?x1x6xf32>
  %q = call @lateScatter(%wd, %md, %kd) : (tensor<?x1x6xf32>, tensor<?x6xf32>, tensor<?x1xindex>) -> tensor<?x6xf32>
  %one = tensor.extract_slice %v[0, 0, 0, 0, 0] [1, 1, 1, 5, 1] [1, 1, 1, 1, 1] : tensor<2x2x1x5x1xf32> to tensor<5xf32>
  %r = tensor.scatter %one into %x[%none] scatter_dims([0, 2]) unique : (tensor<5xf32>, tensor<7x5x6xf32>, tensor<2xi64>) -> tensor<7x5x6xf32>
  return %g, %h, %l, %o, %s, %t, %q, %r : tensor<3x4x7x6xf32>, tensor<3x4x7x1x6xf32>, tensor<3x5xf32>, tensor<3x6xf32>, tensor<7x5x6xf32>, tensor<7x5x6xf32>, tensor<?x6xf32>, tensor<7x5x6xf32>
}
