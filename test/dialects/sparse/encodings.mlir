// What each encoding prints: no defaults, long ones once on top; and the components it consists of.
// RUN: %tile_opt %s | FileCheck %s
// RUN: %mlir_opt_plugin %s | FileCheck %s
// RUN: sh %source/test/round_trip.sh %s %t %tile_opt

// CHECK-DAG: #[[BSR:.*]] = #sparse.bsr<block = [32, 16]>
// CHECK-DAG: #[[NM:.*]] = #sparse.nm<n = 3, m = 32, vector = [32, 1]>
// CHECK-DAG: #[[NM0:.*]] = #sparse.nm<n = 8, m = 32, axis = 0, vector = [4, 8], coordinates = i16>

// CHECK: @csr(tensor<64x128xf32, #sparse.csr>, tensor<64x128xf32, #sparse.csr<positions = i64>>)
func.func private @csr(tensor<64x128xf32, #sparse.csr<positions = i32, coordinates = i32>>,
                       tensor<64x128xf32, #sparse.csr<coordinates = i32, positions = i64>>)

// CHECK: @coo(tensor<64x128x3xf32, #sparse.coo>, tensor<?xi8, #sparse.coo<coordinates = i64, unordered>>)
func.func private @coo(tensor<64x128x3xf32, #sparse.coo>, tensor<?xi8, #sparse.coo<unordered, coordinates = i64>>)

// CHECK: @parts(
// CHECK-SAME: tensor<64x128xf32, #[[BSR]]>
// CHECK-SAME: tensor<64x128xf16, #[[NM]]>
func.func private @parts(tensor<64x128xf32, #sparse.bsr<block = [32, 16]>>,
                         tensor<64x128xf16, #sparse.nm<m = 32, n = 3, axis = 1, vector = [32, 1]>>,
                         tensor<64x128xf16, #sparse.nm<n = 8, m = 32, axis = 0, vector = [4, 8], coordinates = i16>>,
                         tensor<64x128xf32, #sparse.sum<parts = [#sparse.bsr<block = [32, 16]>, #sparse.csr]>>)

// Odd sizes are rounded up; what is dynamic stays so.
// CHECK-LABEL: @components
func.func @components(%csc: tensor<63x129xf32, #sparse.csc>, %coo: tensor<4x5x6xf64, #sparse.coo>,
                      %bsr: tensor<63x?xf32, #sparse.bsr<block = [32, 16], coordinates = i64>>,
                      %nm: tensor<63x129xf16, #sparse.nm<n = 3, m = 32, vector = [32, 1]>>,
                      %nm0: tensor<63x129xf16, #sparse.nm<n = 8, m = 32, axis = 0, vector = [4, 8]>>,
                      %mask: tensor<63x129xi8, #sparse.mask<tile = [32, 1]>>,
                      %sum: tensor<63x129xf32, #sparse.sum<parts = [#sparse.bsr<block = [8, 8]>, #sparse.csr]>>) {
  %0:3 = sparse.disassemble %csc : tensor<63x129xf32, #sparse.csc> -> tensor<130xi32>, tensor<?xi32>, tensor<?xf32>
  %1:2 = sparse.disassemble %coo : tensor<4x5x6xf64, #sparse.coo> -> tensor<3x?xi32>, tensor<?xf64>
  %2:3 = sparse.disassemble %bsr : tensor<63x?xf32, #sparse.bsr<block = [32, 16], coordinates = i64>>
      -> tensor<3xi32>, tensor<?xi64>, tensor<?x32x16xf32>
  %3:2 = sparse.disassemble %nm : tensor<63x129xf16, #sparse.nm<n = 3, m = 32, vector = [32, 1]>>
      -> tensor<2x5x3xi8>, tensor<2x5x3x32xf16>
  %4:2 = sparse.disassemble %nm0 : tensor<63x129xf16, #sparse.nm<n = 8, m = 32, axis = 0, vector = [4, 8]>>
      -> tensor<17x2x2xi8>, tensor<17x2x8x8xf16>
  %5:2 = sparse.disassemble %mask : tensor<63x129xi8, #sparse.mask<tile = [32, 1]>>
      -> tensor<2x129xi1>, tensor<63x129xi8>
  %6:6 = sparse.disassemble %sum : tensor<63x129xf32, #sparse.sum<parts = [#sparse.bsr<block = [8, 8]>, #sparse.csr]>>
      -> tensor<9xi32>, tensor<?xi32>, tensor<?x8x8xf32>, tensor<64xi32>, tensor<?xi32>, tensor<?xf32>
  return
}
