// What else programs call: verification of buffers, shapes, every type of elements, random numbers.
func.func private @verifyMemRefF32(memref<*xf32>, memref<*xf32>) -> i64 attributes {llvm.emit_c_interface}
func.func private @verifyMemRefI32(memref<*xi32>, memref<*xi32>) -> i64 attributes {llvm.emit_c_interface}
func.func private @printMemrefShapeF32(memref<*xf32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefF16(memref<*xf16>) attributes {llvm.emit_c_interface}
func.func private @printMemrefBF16(memref<*xbf16>) attributes {llvm.emit_c_interface}
func.func private @printMemrefC64(memref<*xcomplex<f64>>) attributes {llvm.emit_c_interface}
func.func private @rtsrand(index) -> !llvm.ptr
func.func private @rtrand(!llvm.ptr, index) -> index
func.func private @rtdrand(!llvm.ptr)
func.func private @shuffle(memref<?xi64>, !llvm.ptr) attributes {llvm.emit_c_interface}
memref.global "private" constant @a : memref<2x3xf32> = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]>
memref.global "private" constant @b : memref<2x3xf32> = dense<[[1.0, 2.0000002, 3.5], [4.0, 0x7FC00000, 6.0]]>
memref.global "private" constant @i : memref<3xi32> = dense<[1, 2, 3]>
memref.global "private" constant @j : memref<3xi32> = dense<[1, -2, 3]>
memref.global "private" constant @h : memref<2xf16> = dense<[1.5, -0.0]>
memref.global "private" constant @w : memref<2xbf16> = dense<[2.5, 3.0e38]>
memref.global "private" constant @c : memref<2xcomplex<f64>> = dense<[(1.0, -2.5), (0.0, 1.0e20)]>

func.func @main() {
  %a = memref.get_global @a : memref<2x3xf32>
  %b = memref.get_global @b : memref<2x3xf32>
  %ua = memref.cast %a : memref<2x3xf32> to memref<*xf32>
  %ub = memref.cast %b : memref<2x3xf32> to memref<*xf32>
  %same = call @verifyMemRefF32(%ua, %ua) : (memref<*xf32>, memref<*xf32>) -> i64
  vector.print %same : i64
  %other = call @verifyMemRefF32(%ua, %ub) : (memref<*xf32>, memref<*xf32>) -> i64
  vector.print %other : i64
  %column = memref.subview %b[0, 0] [2, 2] [1, 1] : memref<2x3xf32> to memref<2x2xf32, strided<[3, 1]>>
  %uc = memref.cast %column : memref<2x2xf32, strided<[3, 1]>> to memref<*xf32>
  %shape = call @verifyMemRefF32(%ua, %uc) : (memref<*xf32>, memref<*xf32>) -> i64
  vector.print %shape : i64
  call @printMemrefShapeF32(%uc) : (memref<*xf32>) -> ()
  %i = memref.get_global @i : memref<3xi32>
  %j = memref.get_global @j : memref<3xi32>
  %ui = memref.cast %i : memref<3xi32> to memref<*xi32>
  %uj = memref.cast %j : memref<3xi32> to memref<*xi32>
  %integers = call @verifyMemRefI32(%ui, %uj) : (memref<*xi32>, memref<*xi32>) -> i64
  vector.print %integers : i64
  %h = memref.get_global @h : memref<2xf16>
  %uh = memref.cast %h : memref<2xf16> to memref<*xf16>
  call @printMemrefF16(%uh) : (memref<*xf16>) -> ()
  %w = memref.get_global @w : memref<2xbf16>
  %uw = memref.cast %w : memref<2xbf16> to memref<*xbf16>
  call @printMemrefBF16(%uw) : (memref<*xbf16>) -> ()
  %c = memref.get_global @c : memref<2xcomplex<f64>>
  %ucc = memref.cast %c : memref<2xcomplex<f64>> to memref<*xcomplex<f64>>
  call @printMemrefC64(%ucc) : (memref<*xcomplex<f64>>) -> ()

  // Of random numbers, what holds for any generator: 0 to 6, and a permutation's sum.
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant 0 : i64
  %g = call @rtsrand(%c1) : (index) -> !llvm.ptr
  %most = scf.for %k = %c0 to %c100 step %c1 iter_args(%m = %c0) -> index {
    %r = func.call @rtrand(%g, %c6) : (!llvm.ptr, index) -> index
    %n = arith.maxui %m, %r : index
    scf.yield %n : index
  }
  vector.print %most : index
  %p = memref.alloc(%c100) : memref<?xi64>
  call @shuffle(%p, %g) : (memref<?xi64>, !llvm.ptr) -> ()
  %sum = scf.for %k = %c0 to %c100 step %c1 iter_args(%s = %zero) -> i64 {
    %v = memref.load %p[%k] : memref<?xi64>
    %square = arith.muli %v, %v : i64
    %t = arith.addi %s, %square : i64
    scf.yield %t : i64
  }
  vector.print %sum : i64
  memref.dealloc %p : memref<?xi64>
  call @rtdrand(%g) : (!llvm.ptr) -> ()
  return
}
