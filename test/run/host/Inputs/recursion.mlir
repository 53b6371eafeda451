func.func private @f(%x: i64) -> i64 {
  %c1 = arith.constant 1 : i64
  %y = arith.addi %x, %c1 : i64
  %r = func.call @f(%y) : (i64) -> i64
  %z = arith.addi %r, %c1 : i64
  %w = arith.muli %z, %r : i64
  return %w : i64
}
func.func @main(%x: i64) -> i64 {
  %r = func.call @f(%x) : (i64) -> i64
  return %r : i64
}
func.func @parallel(%m: memref<64xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
    %v = memref.load %m[%i] : memref<64xi64>
    %r = func.call @f(%v) : (i64) -> i64
    memref.store %r, %m[%i] : memref<64xi64>
    scf.reduce
  }
  return
}
