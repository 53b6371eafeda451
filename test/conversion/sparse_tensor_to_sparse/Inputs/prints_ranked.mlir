// Memrefs of known ranks, and bytes, as programs for upstream's runner print them; files as they read them.
#CSR = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>
#CSC = #sparse_tensor.encoding<{ map = (d0, d1) -> (d1 : dense, d0 : compressed), posWidth = 32, crdWidth = 32 }>
#COO = #sparse_tensor.encoding<{ map = (d0, d1, d2) -> (d0 : compressed(nonunique), d1 : singleton(nonunique), d2 : singleton) }>
func.func private @printMemref0dF32(memref<f32>) attributes {llvm.emit_c_interface}
func.func private @printMemref1dI8(memref<?xi8>) attributes {llvm.emit_c_interface}
func.func private @printMemref1dI64(memref<?xi64>) attributes {llvm.emit_c_interface}
func.func private @printMemref1dF64(memref<?xf64>) attributes {llvm.emit_c_interface}
func.func private @printMemref2dF32(memref<?x?xf32>) attributes {llvm.emit_c_interface}
func.func private @printMemref3dF32(memref<?x?x?xf32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI8(memref<*xi8>) attributes {llvm.emit_c_interface}
func.func private @rtclock() -> f64
func.func private @getTensorFilename(index) -> (!llvm.ptr)
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t0 = arith.constant dense<1.5> : tensor<f32>
  %m0 = bufferization.to_buffer %t0 : tensor<f32> to memref<f32>
  call @printMemref0dF32(%m0) : (memref<f32>) -> ()
  %t1 = arith.constant dense<[122, 65]> : tensor<2xi8>
  %m1 = bufferization.to_buffer %t1 : tensor<2xi8> to memref<2xi8>
  %d1 = memref.cast %m1 : memref<2xi8> to memref<?xi8>
  call @printMemref1dI8(%d1) : (memref<?xi8>) -> ()
  %u1 = memref.cast %m1 : memref<2xi8> to memref<*xi8>
  call @printMemrefI8(%u1) : (memref<*xi8>) -> ()
  %t2 = arith.constant dense<[-7, 123456789012]> : tensor<2xi64>
  %m2 = bufferization.to_buffer %t2 : tensor<2xi64> to memref<2xi64>
  %d2 = memref.cast %m2 : memref<2xi64> to memref<?xi64>
  call @printMemref1dI64(%d2) : (memref<?xi64>) -> ()
  %t3 = arith.constant dense<[[1.0, 2.5], [-3.0, 1.0e10]]> : tensor<2x2xf32>
  %m3 = bufferization.to_buffer %t3 : tensor<2x2xf32> to memref<2x2xf32>
  %d3 = memref.cast %m3 : memref<2x2xf32> to memref<?x?xf32>
  call @printMemref2dF32(%d3) : (memref<?x?xf32>) -> ()
  %t4 = arith.constant dense<[[[1.0], [2.5]], [[-3.0], [0.0]]]> : tensor<2x2x1xf32>
  %m4 = bufferization.to_buffer %t4 : tensor<2x2x1xf32> to memref<2x2x1xf32>
  %d4 = memref.cast %m4 : memref<2x2x1xf32> to memref<?x?x?xf32>
  call @printMemref3dF32(%d4) : (memref<?x?x?xf32>) -> ()
  %begin = call @rtclock() : () -> f64
  %f0 = call @getTensorFilename(%c0) : (index) -> (!llvm.ptr)
  %a = sparse_tensor.new %f0 : !llvm.ptr to tensor<?x?xf64, #CSR>
  sparse_tensor.print %a : tensor<?x?xf64, #CSR>
  %b = sparse_tensor.new %f0 : !llvm.ptr to tensor<4x3xf32, #CSC>
  sparse_tensor.print %b : tensor<4x3xf32, #CSC>
  %f1 = call @getTensorFilename(%c1) : (index) -> (!llvm.ptr)
  %c = sparse_tensor.new %f1 : !llvm.ptr to tensor<?x?x?xi32, #COO>
  sparse_tensor.print %c : tensor<?x?x?xi32, #COO>
  %end = call @rtclock() : () -> f64
  %forward = arith.cmpf oge, %end, %begin : f64
  vector.print %forward : i1
  return
}
