// RUN: rm -rf %t && split-file %s %t
// RUN: %tile_opt %t/good.mlir | %tile_opt | FileCheck %t/good.mlir
// RUN: %mlir_opt_plugin %t/good.mlir | FileCheck %t/good.mlir
// RUN: %tile_opt %t/bad.mlir -split-input-file -verify-diagnostics

//--- good.mlir
// The encoding prints as it is written; equal ones are one attribute.
// CHECK: #[[Q:.*]] = #tile.quantized<codes = ui4, group = [1, 32], scale = f16, zero = f16, zero_after_scale>
// CHECK: #[[NV:.*]] = #tile.quantized<codes = f4E2M1FN, group = [1, 16], scale = f8E4M3FN, tensor_scale = f32>
#q = #tile.quantized<codes = ui4, group = [1, 32], scale = f16, zero = f16, zero_after_scale>
#nv = #tile.quantized<codes = f4E2M1FN, group = [1, 16], scale = f8E4M3FN, tensor_scale = f32>

// CHECK: @parts(%arg0: tensor<8x80xf32, #[[Q]]>)
// CHECK: %[[P:.*]]:3 = tile.disassemble_quantized %arg0 : tensor<8x80xf32, #[[Q]]> -> tensor<8x80xi4>, tensor<8x3xf16>, tensor<8x3xf16>
// CHECK: tile.assemble_quantized(%[[P]]#0, %[[P]]#1, %[[P]]#2) : tensor<8x80xi4>, tensor<8x3xf16>, tensor<8x3xf16> -> tensor<8x80xf32, #[[Q]]>
func.func @parts(%x: tensor<8x80xf32, #q>) -> tensor<8x80xf32, #q> {
  %c, %s, %z = tile.disassemble_quantized %x : tensor<8x80xf32, #q> -> tensor<8x80xi4>, tensor<8x3xf16>, tensor<8x3xf16>
  %y = tile.assemble_quantized(%c, %s, %z) : tensor<8x80xi4>, tensor<8x3xf16>, tensor<8x3xf16> -> tensor<8x80xf32, #q>
  return %y : tensor<8x80xf32, #q>
}
// CHECK: @elements
// CHECK: tile.dequantize %arg0 : tensor<8x64xf16, #[[NV]]> -> tensor<8x64xf16>
func.func @elements(%x: tensor<8x64xf16, #nv>) -> tensor<8x64xf16> {
  %y = tile.dequantize %x : tensor<8x64xf16, #nv> -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}

//--- bad.mlir
// expected-error@+1 {{codes is f16; accepted are integers and floats of at most 8 bits}}
#a = #tile.quantized<codes = f16, group = [1], scale = f32>
// -----
// expected-error@+1 {{scale is i8; accepted are f32, f16, bf16, f8E8M0FNU and f8E4M3FN}}
#a = #tile.quantized<codes = i4, group = [1], scale = i8>
// -----
// expected-error@+1 {{zero is f64; accepted are integers of at most 8 bits, f32, f16 and bf16}}
#a = #tile.quantized<codes = i4, group = [1], scale = f32, zero = f64>
// -----
// expected-error@+1 {{zero_after_scale without a zero}}
#a = #tile.quantized<codes = i4, group = [1], scale = f32, zero_after_scale>
// -----
// expected-error@+1 {{a table requires codes that are integers, and no zero}}
#a = #tile.quantized<codes = f4E2M1FN, group = [1], scale = f32, table = f32>
// -----
// expected-error@+1 {{group has size -1; accepted are 0 (all of the axis) and more}}
#a = #tile.quantized<codes = i4, group = [-1], scale = f32>
// -----
// expected-error@+1 {{#tile.quantized without 'scale'}}
#a = #tile.quantized<codes = i4, group = [1]>
// -----
#a = #tile.quantized<codes = i4, group = [1], scale = f32>
// expected-error@+1 {{group has 1 sizes, expected one for each of the tensor's 2 axes}}
func.func private @f(tensor<4x4xf32, #a>)
// -----
#a = #tile.quantized<codes = i4, group = [1], scale = f32>
// expected-error@+1 {{a quantized tensor has a dynamic size on axis 0, expected a static shape}}
func.func private @f(tensor<?xf32, #a>)
// -----
#a = #tile.quantized<codes = i4, group = [1], scale = f32>
// expected-error@+1 {{a quantized tensor has elements of i32; accepted are f16, bf16, f32 and f64}}
func.func private @f(tensor<4xi32, #a>)
// -----
#a = #tile.quantized<codes = i4, group = [2], scale = f32>
func.func @f(%c: tensor<5xi4>, %s: tensor<2xf32>) -> tensor<5xf32, #a> {
  // expected-error@+1 {{part #1 is tensor<2xf32>, expected tensor<3xf32>}}
  %y = tile.assemble_quantized(%c, %s) : tensor<5xi4>, tensor<2xf32> -> tensor<5xf32, #a>
  return %y : tensor<5xf32, #a>
}
// -----
#a = #tile.quantized<codes = i4, group = [2], scale = f32>
func.func @f(%c: tensor<5xi4>) -> tensor<5xf32, #a> {
  // expected-error@+1 {{has 1 parts, expected 2 of}}
  %y = tile.assemble_quantized(%c) : tensor<5xi4> -> tensor<5xf32, #a>
  return %y : tensor<5xf32, #a>
}
// -----
#a = #tile.quantized<codes = i4, group = [2], scale = f32>
func.func @f(%x: tensor<5xf32, #a>) -> tensor<5xf16> {
  // expected-error@+1 {{result is tensor<5xf16>, expected the input's shape and elements, tensor<5xf32>}}
  %y = tile.dequantize %x : tensor<5xf32, #a> -> tensor<5xf16>
  return %y : tensor<5xf16>
}
// -----
#a = #tile.quantized<codes = i4, group = [2, 2], scale = f32, order = i32>
// expected-error@+1 {{order requires one axis with several groups of several elements, got 2}}
func.func private @f(tensor<4x4xf32, #a>)
// -----
#a = #tile.quantized<codes = i4, group = [4], scale = f32, order = i32>
// expected-error@+1 {{order requires one axis with several groups of several elements, got 0}}
func.func private @f(tensor<4xf32, #a>)
// -----
// expected-error@+1 {{order is i64; accepted are i32}}
#a = #tile.quantized<codes = i4, group = [2], scale = f32, order = i64>
