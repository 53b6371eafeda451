// Scalars, vectors, text and memrefs, as programs for upstream's runner print them.
func.func private @printMemrefF64(memref<*xf64>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefF32(memref<*xf32>)
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    vector.print %i : index
  }
  %t = arith.constant dense<[[1.0,2.0],[3.0,4.5]]> : tensor<2x2xf64>
  %m = bufferization.to_buffer %t : tensor<2x2xf64> to memref<2x2xf64>
  %u = memref.cast %m : memref<2x2xf64> to memref<*xf64>
  call @printMemrefF64(%u) : (memref<*xf64>) -> ()
  %t3 = arith.constant dense<[[[1,2,3],[3,4,1234567]],[[0,0,0],[-1,0,0]]]> : tensor<2x2x3xi32>
  %m3 = bufferization.to_buffer %t3 : tensor<2x2x3xi32> to memref<2x2x3xi32>
  %u3 = memref.cast %m3 : memref<2x2x3xi32> to memref<*xi32>
  call @printMemrefI32(%u3) : (memref<*xi32>) -> ()
  %s = memref.subview %m3[0, 0, 0] [2, 1, 2] [1, 1, 2] : memref<2x2x3xi32> to memref<2x1x2xi32, strided<[6, 3, 2]>>
  %us = memref.cast %s : memref<2x1x2xi32, strided<[6, 3, 2]>> to memref<*xi32>
  call @printMemrefI32(%us) : (memref<*xi32>) -> ()
  %t0 = arith.constant dense<1.5e-10> : tensor<f32>
  %m0 = bufferization.to_buffer %t0 : tensor<f32> to memref<f32>
  %u0 = memref.cast %m0 : memref<f32> to memref<*xf32>
  call @printMemrefF32(%u0) : (memref<*xf32>) -> ()
  %v = arith.constant dense<[[1.0,2.25],[-0.0,6.0e-8]]> : vector<2x2xf16>
  vector.print %v : vector<2x2xf16>
  %b = arith.constant dense<[true, false]> : vector<2xi1>
  vector.print %b : vector<2xi1>
  %u8 = arith.constant dense<[255, 3]> : vector<2xi8>
  vector.print %u8 : vector<2xi8>
  %bf = arith.constant 3.0e4 : bf16
  vector.print %bf : bf16
  %ff = arith.constant 0.1 : f32
  vector.print %ff : f32
  %f64 = arith.constant 0x7FF0000000000000 : f64
  vector.print %f64 : f64
  vector.print str "a text\n"
  return
}
