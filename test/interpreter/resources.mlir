// Constants kept as resources, in functions and in globals; one that is missing is reported.
// RUN: %tile_run --target=interpret %s
// RUN: not %tile_run --target=interpret %s --entry=missing 2>&1 | FileCheck %s
// CHECK: .mlir:{{[0-9]+:[0-9]+}}: error: 'arith.constant' op not interpreted yet
memref.global "private" constant @kept : memref<2xi16> = dense_resource<two>
func.func @main() {
  %c1 = arith.constant 1 : index
  %t = arith.constant dense_resource<three> : tensor<3xf32>
  %x = tensor.extract %t[%c1] : tensor<3xf32>
  %two = arith.constant 2.0 : f32
  %right = arith.cmpf oeq, %x, %two : f32
  cf.assert %right, "element 1 of the tensor is 2"
  %g = memref.get_global @kept : memref<2xi16>
  %y = memref.load %g[%c1] : memref<2xi16>
  %seven = arith.constant 7 : i16
  %same = arith.cmpi eq, %y, %seven : i16
  cf.assert %same, "element 1 of the global is 7"
  return
}
func.func @missing() -> tensor<3xf32> {
  %t = arith.constant dense_resource<nobody> : tensor<3xf32>
  return %t : tensor<3xf32>
}
{-#
  dialect_resources: {
    builtin: {
      three: "0x040000000000803F0000004000004040",
      two: "0x0400000006000700"
    }
  }
#-}
