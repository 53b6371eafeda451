// RUN: rm -rf %t && split-file %s %t
// RUN: %tile_opt %t/good.mlir --tile-expand-quantized | FileCheck %t/good.mlir
// RUN: %tile_opt %t/bad.mlir --tile-expand-quantized -verify-diagnostics

//--- good.mlir
#q = #tile.quantized<codes = ui4, group = [1, 32], scale = f16, zero = ui4>
#t = #tile.quantized<codes = ui4, group = [0, 0], scale = f32, table = f32>

// The parts stand where the tensor stood; a group is a dimension.
// CHECK-LABEL: func.func @elements(%arg0: index, %arg1: tensor<8x64xi4>, %arg2: tensor<8x2xf16>, %arg3: tensor<8x2xi4>) -> tensor<8x64xf32>
// CHECK: %[[CUT:.*]] = tensor.expand_shape %arg1 {{.*}} output_shape [8, 2, 32]
// CHECK: linalg.generic {{.*}} ins(%[[CUT]], %arg2, %arg3 : tensor<8x2x32xi4>, tensor<8x2xf16>, tensor<8x2xi4>)
// CHECK: arith.uitofp
// CHECK: arith.uitofp
// CHECK: arith.subf
// CHECK: arith.extf
// CHECK: arith.mulf
// CHECK: tensor.collapse_shape
func.func @elements(%n: index, %x: tensor<8x64xf32, #q>) -> tensor<8x64xf32> {
  %y = tile.dequantize %x : tensor<8x64xf32, #q> -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// A shorter last group is filled up and cut off. Elements are rounded once.
// CHECK-LABEL: func.func @ragged(%arg0: tensor<8x40xi4>, %arg1: tensor<8x2xf16>, %arg2: tensor<8x2xi4>)
// CHECK: tensor.insert_slice %arg0 into {{.*}} : tensor<8x40xi4> into tensor<8x64xi4>
// CHECK: arith.truncf
// CHECK: tensor.extract_slice {{.*}} : tensor<8x64xf16> to tensor<8x40xf16>
func.func @ragged(%x: tensor<8x40xf16, #q>) -> tensor<8x40xf16> {
  %y = tile.dequantize %x : tensor<8x40xf16, #q> -> tensor<8x40xf16>
  return %y : tensor<8x40xf16>
}

// Codes are positions in a table; one scale has no dimension.
// CHECK-LABEL: func.func @table(%arg0: tensor<8x4xi4>, %arg1: tensor<1x1xf32>, %arg2: tensor<16xf32>)
// CHECK: arith.index_castui
// CHECK: tensor.extract %arg2
func.func @table(%x: tensor<8x4xf32, #t>) -> tensor<8x4xf32> {
  %y = tile.dequantize %x : tensor<8x4xf32, #t> -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// Calls and results have parts; what is only passed on makes nothing.
// CHECK-LABEL: func.func @caller(%arg0: tensor<8x4xi4>, %arg1: tensor<1x1xf32>, %arg2: tensor<16xf32>) -> (tensor<8x4xi4>, tensor<1x1xf32>, tensor<16xf32>, index)
// CHECK-NEXT: %[[R:.*]]:4 = call @callee(%arg0, %arg1, %arg2)
// CHECK-NEXT: return %[[R]]#1, %[[R]]#2, %[[R]]#3, %[[R]]#0
func.func @caller(%x: tensor<8x4xf32, #t>) -> (tensor<8x4xf32, #t>, index) {
  %n, %y = call @callee(%x) : (tensor<8x4xf32, #t>) -> (index, tensor<8x4xf32, #t>)
  return %y, %n : tensor<8x4xf32, #t>, index
}
// CHECK-LABEL: func.func private @callee(%arg0: tensor<8x4xi4>, %arg1: tensor<1x1xf32>, %arg2: tensor<16xf32>) -> (index, tensor<8x4xi4>, tensor<1x1xf32>, tensor<16xf32>)
// CHECK: return {{.*}}, %arg0, %arg1, %arg2
func.func private @callee(%x: tensor<8x4xf32, #t>) -> (index, tensor<8x4xf32, #t>) {
  %c, %s, %t = tile.disassemble_quantized %x : tensor<8x4xf32, #t> -> tensor<8x4xi4>, tensor<1x1xf32>, tensor<16xf32>
  %y = tile.assemble_quantized(%c, %s, %t) : tensor<8x4xi4>, tensor<1x1xf32>, tensor<16xf32> -> tensor<8x4xf32, #t>
  %n = arith.constant 8 : index
  return %n, %y : index, tensor<8x4xf32, #t>
}
// CHECK-LABEL: func.func @attributes(%arg0: tensor<8x4xi4>, %arg1: tensor<1x1xf32>, %arg2: tensor<16xf32>, %arg3: memref<4xf32> {llvm.noalias})
func.func @attributes(%x: tensor<8x4xf32, #t>, %y: memref<4xf32> {llvm.noalias}) {
  return
}
// CHECK-LABEL: func.func @nothing(%arg0: tensor<4xi4>) -> tensor<4xi4>
// CHECK-NEXT: return %arg0
func.func @nothing(%x: tensor<4xi4>) -> tensor<4xi4> {
  return %x : tensor<4xi4>
}

//--- bad.mlir
#t = #tile.quantized<codes = ui4, group = [0], scale = f32>
func.func @branch(%c: i1, %x: tensor<4xf32, #t>, %y: tensor<4xf32, #t>) -> tensor<4xf32> {
  // expected-error@+1 {{takes or gives a quantized tensor; accepted are tile.assemble_quantized, tile.disassemble_quantized, tile.dequantize, func.call and func.return}}
  %z = arith.select %c, %x, %y : tensor<4xf32, #t>
  %d = tile.dequantize %z : tensor<4xf32, #t> -> tensor<4xf32>
  return %d : tensor<4xf32>
}
